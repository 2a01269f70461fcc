"""Differences of neighbouring elements: once into another tensor, once in place.

    polyrace-run examples/differences.py

needs no GPU. The second launch races: elements are overwritten that a neighbour has yet to read.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def differences(src, dst, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    here = tl.load(src + i, mask=i < n)
    right = tl.load(src + i + 1, mask=i + 1 < n, other=0.0)
    tl.store(dst + i, right - here, mask=i < n)


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    signal = torch.rand(1000, device=device)
    grid = (triton.cdiv(signal.numel(), 256),)
    differences[grid](signal, torch.empty_like(signal), signal.numel(), BLOCK=256)
    differences[grid](signal, signal, signal.numel(), BLOCK=256)


if __name__ == "__main__":
    main()
