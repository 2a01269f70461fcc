#!/usr/bin/env python3
"""The tables of tests/unit/test_shm_bytes.c and (--threads) test_thread_layouts.c: what Triton makes of each layout (needs Triton; no GPU). python layout_bases.py
Each layout in a process of its own: for some shapes Triton ends instead of refusing; those are left out."""
import subprocess
import sys

ONE = """
from triton._C.libtriton import ir, gluon_ir, nvidia
from triton.experimental.gluon.language import NVMMADistributedLayout, NVMMASharedLayout, SwizzledSharedLayout
context = ir.context()
ir.load_dialects(context)
nvidia.load_dialects(context)
builder = gluon_ir.GluonOpBuilder(context)
r = builder.to_linear_layout(%s._to_ir(builder), %s)
print([r.offset_bases] if hasattr(r, "offset_bases") else [r.reg_bases, r.lane_bases, r.warp_bases])
"""
ELEMENT = {8: "f8E5M2", 16: "f16", 32: "f32", 64: "i64"}


def asked(layout, shape):
    done = subprocess.run([sys.executable, "-c", ONE % (layout, shape)], capture_output=True, text=True, check=False)
    return [" ".join(",".join(str(x) for x in v) for v in part) for part in eval(done.stdout)] if not done.returncode else []


def threads():
    both = [([2, 0], w, [16, 8], s) for w in ([4, 1], [2, 2], [1, 4], [8, 1], [1, 1]) for s in ([64, 64], [128, 32], [16, 8], [256, 128])]
    both += [([3, 0], w, [16, n, 16], s) for w in ([4, 1], [8, 1], [4, 2]) for n in (64, 128, 16) for s in ([64, 64], [128, 128], [256, 64])]
    for version, warps, instr, shape in both:
        text = f"#ttg.nvidia_mma<{{versionMajor = {version[0]}, versionMinor = 0, warpsPerCTA = {warps}, instrShape = {instr}}}>"
        bases = ", ".join(f'"{b}"' for b in asked(f"NVMMADistributedLayout({version}, {warps}, {instr})", shape))
        print(f'    {{ "{text}", {{ {shape[0]}, {shape[1]} }}, {warps[0] * warps[1]}, {{ {bases} }} }},')


def line(layout, text, shape, bits):
    got = asked(layout, shape)
    if not got:
        return
    bases = got[0]
    print(f'    {{ "!ttg.memdesc<{"x".join(str(n) for n in shape)}x{ELEMENT[bits]}, {text}, #smem, mutable>", "{bases}" }},')


def main():
    if "--threads" in sys.argv[1:]:
        threads()
        return
    for vec, per, most in ((1, 1, 1), (8, 1, 8), (8, 2, 4), (4, 4, 2), (8, 4, 8)):
        for order in ([1, 0], [0, 1]):
            for shape in ([64, 64], [128, 32], [32, 16]):
                line(f"SwizzledSharedLayout({vec}, {per}, {most}, {order})",
                     f"#ttg.swizzled_shared<{{vec = {vec}, perPhase = {per}, maxPhase = {most}, order = {order}}}>", shape, 16)
    line("SwizzledSharedLayout(1, 1, 1, [0])", "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>", [16], 64)
    for bits in (8, 16, 32):
        for width in (0, 32, 64, 128):
            for turned in (False, True) if bits < 32 else (False,):
                for shape in ([128, 128], [64, 64], [256, 64], [512, 32], [16, 128], [64, 16]):
                    line(f"NVMMASharedLayout({width}, {bits}, 2, {turned})",
                         f"#ttg.nvmma_shared<{{swizzlingByteWidth = {width}, transposed = {str(turned).lower()}, elementBitWidth = {bits}}}>", shape, bits)


if __name__ == "__main__":
    main()
