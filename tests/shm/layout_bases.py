#!/usr/bin/env python3
"""The table of tests/unit/test_shm_bytes.c: what Triton makes of each layout of shared memory (needs Triton; no GPU). python layout_bases.py
Each layout in a process of its own: for some shapes Triton ends instead of refusing; those are left out."""
import subprocess
import sys

ONE = """
from triton._C.libtriton import ir, gluon_ir, nvidia
from triton.experimental.gluon.language import SwizzledSharedLayout, NVMMASharedLayout
context = ir.context()
ir.load_dialects(context)
nvidia.load_dialects(context)
builder = gluon_ir.GluonOpBuilder(context)
print(builder.to_linear_layout(%s._to_ir(builder), %s).offset_bases)
"""
ELEMENT = {8: "f8E5M2", 16: "f16", 32: "f32", 64: "i64"}


def line(layout, text, shape, bits):
    done = subprocess.run([sys.executable, "-c", ONE % (layout, shape)], capture_output=True, text=True, check=False)
    if done.returncode:
        return
    bases = " ".join(",".join(str(x) for x in v) for v in eval(done.stdout))
    print(f'    {{ "!ttg.memdesc<{"x".join(str(n) for n in shape)}x{ELEMENT[bits]}, {text}, #smem, mutable>", "{bases}" }},')


def main():
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
