#!/usr/bin/env python3
"""Rebuild texts/NAME.ttir, .ttgir and .json of kernels.py (needs Triton 3.8; no GPU)."""
import json
import os
import re

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import kernels as K

HERE = os.path.dirname(os.path.abspath(__file__))

# name -> kernel, block, n, s, elements of x, number of warps, expected status with the TTGIR text
TABLE = {
    "two_passes": (K.two_passes, 512, 2048, 3, 4 * 2048, 4, "ok"),
    "two_passes_replicas": (K.two_passes, 64, 2048, 3, 4 * 2048, 4, "races"),
    "two_passes_one_warp": (K.two_passes, 128, 2048, 3, 4 * 2048, 1, "ok"),
    "two_passes_tail": (K.two_passes, 512, 2000, 3, 4 * 2000, 4, "ok"),
    "two_passes_shifted": (K.two_passes_shifted, 512, 2048, 3, 4 * 2049, 4, "races"),
    "two_passes_strided": (K.two_passes_strided, 512, 2048, 1, 4 * 2048, 4, "races"),
    "tile_2d": (K.tile_2d, 64, 64, 0, 4 * 4096, 4, "ok"),
    "tile_2d_eight_warps": (K.tile_2d, 64, 64, 0, 4 * 4096, 8, "ok"),
    "tile_2d_replicas": (K.tile_2d, 8, 8, 0, 4 * 64, 4, "races"),
    "tile_rotated": (K.tile_rotated, 64, 64, 0, 4 * 4096, 4, "races"),
    "carried": (K.carried, 512, 4096, 8, 4 * 4096, 4, "ok"),
    "carried_shifted": (K.carried_shifted, 512, 4096, 8, 4 * 4608, 4, "races"),
    "staged": (K.staged, 64, 16384, 4, 4 * 16384, 4, "races"),
}


def main():
    for name, (fn, block, n, s, elements, warps, _) in TABLE.items():
        attrs = {(0,): [["tt.divisibility", 16]]}
        if n % 16 == 0:
            attrs[(2,)] = [["tt.divisibility", 16]]
        src = ASTSource(fn, {"x": "*fp32", "s": "i32", "n": "i32", "B": "constexpr"}, {"B": block}, attrs)
        asm = triton.compile(src, target=GPUTarget("cuda", 90, 32), options={"num_warps": warps}).asm
        for level in ("ttir", "ttgir"):
            text = asm[level].replace(HERE + os.sep, "")
            text = re.sub(r'"[^"]*/triton/', '"triton/', text)
            with open(os.path.join(HERE, "texts", f"{name}.{level}"), "w", encoding="utf-8") as f:
                f.write(text)
        launch = {"version": 1, "kernel": fn.__name__, "grid": [4, 1, 1], "ttir": f"{name}.ttir", "ttgir": f"{name}.ttgir",
                  "config": {"num_warps": warps, "num_ctas": 1},
                  "args": {"x": {"tensor": {"dtype": "float32", "ptr": 1048576, "shape": [elements], "strides": [1]}}, "s": s, "n": n}, "target": "cuda:90", "triton": triton.__version__}
        with open(os.path.join(HERE, "texts", f"{name}.json"), "w", encoding="utf-8") as f:
            json.dump(launch, f, indent=1)
            f.write("\n")


if __name__ == "__main__":
    main()
