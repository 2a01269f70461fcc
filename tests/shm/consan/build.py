#!/usr/bin/env python3
"""Rebuild the TTGIR texts of these kernels (needs Triton 3.8; no GPU): python build.py [NAME...]"""
import os
import re
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
KINDS = {"i": ("inp", "*fp16"), "o": ("out", "*fp16"), "k": ("K", "i32"), "d": ("desc", None)}


def modules():
    import kernels
    import pairs
    import pairs_tensor
    import tensor
    return [(kernels, 90), (pairs, 90), (tensor, 100), (pairs_tensor, 100)]


def desc(n):
    layout = gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)
    return f"tensordesc<fp16[{n}, {n}],{layout!r}>"


def rows():
    """name, function, signature, constexprs, capability"""
    for module, capability in modules():
        for test, (kinds, values) in module.TESTS.items():
            fn = getattr(module, test)
            sig = {}
            for name in fn.arg_names:
                kind = next((k for k, (n, _) in KINDS.items() if n == name), None)
                if kind:
                    sig[name] = KINDS[kind][1] or desc(64 if capability == 90 else 128)
            for value in values:
                yield f"{test}.{value}", fn, sig, {"S" if isinstance(value, int) else "V": value}, capability


def compile_one(name, fn, sig, consts, capability):
    attrs = {(i, ): [["tt.divisibility", 16]] for i, t in enumerate(sig.values()) if t.startswith("*")}
    src = GluonASTSource(fn, {**sig, **{k: "constexpr" for k in consts}}, consts, attrs)
    text = triton.compile(src, target=GPUTarget("cuda", capability, 32), options={"num_warps": 4}).asm["ttgir"]
    text = text.replace(HERE + os.sep, "")
    return re.sub(r'"[^"]*/(site-packages/)?triton/', '"triton/', text)


def main():
    out = os.environ.get("TTGIR_DIR", os.path.join(HERE, "ttgir"))
    os.makedirs(out, exist_ok=True)
    bad = 0
    for name, *row in rows():
        if sys.argv[1:] and not any(name.startswith(w) for w in sys.argv[1:]):
            continue
        try:
            text = compile_one(name, *row)
        except Exception as e:  # noqa: BLE001
            print(f"{name}: {type(e).__name__}: {str(e)[-400:]}", file=sys.stderr)
            bad += 1
            continue
        with open(os.path.join(out, name + ".ttgir"), "w", encoding="utf-8") as f:
            f.write(text)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
