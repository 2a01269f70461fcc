#!/usr/bin/env python3
"""Compile kernels.py (needs Triton; no GPU): python build.py. Of the PTX the lines without bearing on shared memory, barriers and control flow are left
out, and source files are named without their folder."""
import os
import re

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import kernels

HERE = os.path.dirname(os.path.abspath(__file__))
KEPT = re.compile(r"\.loc|\.file|\.entry|\.func|^\$L__|\bbra\b|\bret\b|\bbar\.|fence|shared|cp\.async|mbarrier|wgmma|ldmatrix|stmatrix|waitLoop|^[{}]")
TENSOR = {"a": "*fp16", "b": "*fp16", "c": "*fp16"}
TMA = {"a": "tensordesc<fp16[128,64]>", "b": "tensordesc<fp16[64,128]>", "c": "tensordesc<fp16[128,128]>"}
ROWS = [("matmul.sm80", kernels.matmul, {**TENSOR, "N": "i32", "K": "i32"}, {"BM": 64, "BN": 64, "BK": 32}, 80, 4),
        ("matmul_tma.sm90", kernels.matmul_tma, {**TMA, "M": "i32", "N": "i32", "K": "i32"}, {"BM": 128, "BN": 128, "BK": 64}, 90, 8),
        ("norm.sm80", kernels.norm, {"x": "*fp32", "y": "*fp32", "N": "i32"}, {"B": 512}, 80, 4),
        ("turned.sm80", kernels.turned, {"x": "*fp32", "y": "*fp32"}, {"B": 64}, 80, 4)]


def main():
    for name, f, signature, constants, capability, warps in ROWS:
        attrs = {(i,): [["tt.divisibility", 16]] for i, k in enumerate(signature) if not signature[k].startswith("tensordesc")}
        made = triton.compile(ASTSource(f, signature={**signature, **{k: "constexpr" for k in constants}}, constexprs=constants, attrs=attrs),
                              target=GPUTarget("cuda", capability, 32), options={"num_warps": warps, "num_stages": 3})
        for kind in ("ttgir", "ptx"):
            text = re.sub(r'"[^"\n]*/([\w.]+\.py)"', r'"\1"', made.asm[kind])
            if kind == "ptx":
                text = re.sub(r"[ \t]+//.*$", "", text, flags=re.M)
                text = "".join(line + "\n" for line in text.split("\n") if KEPT.search(line) and not line.startswith("//"))
            with open(os.path.join(HERE, f"{name}.{kind}"), "w", encoding="utf-8") as out:
                out.write(text)


if __name__ == "__main__":
    main()
