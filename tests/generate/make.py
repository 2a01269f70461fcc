#!/usr/bin/env python3
"""Random kernels through Triton: make.py DIR [--first=N] [--count=N]  (needs Triton 3.8, no GPU)

Writes DIR/gN_SHAPE.ttir and .json for each kernel of gen.py that Triton's front end and TTIR pipeline accept.
"""
import importlib.util
import json
import os
import re
import sys
import tempfile

os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp(prefix="triton-cache-"))
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "kernels")]

import triton                                                    # noqa: E402
from triton.backends.compiler import GPUTarget                   # noqa: E402
from triton.compiler import ASTSource                            # noqa: E402

import build as corpus                                           # noqa: E402  (tests/kernels/build.py)
import gen                                                       # noqa: E402

BYTES = {"fp32": 4, "i32": 4, "i64": 8}
DTYPE = {"fp32": "float32", "i32": "int32", "i64": "int64"}


def compile_text(k, path):
    """The kernel's TTIR. Triton reads sources from files."""
    with open(path, "w", encoding="utf-8") as f:
        f.write(k.text())
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    signature = {n: ("*" + a["dtype"] if isinstance(a, dict) else "i32") for n, a in k.args.items()}
    attrs = {(i,): [["tt.divisibility", 16]] for i, n in enumerate(k.params) if isinstance(k.args[n], dict)}
    target = GPUTarget("cuda", 90, 32)
    source = ASTSource(module.kernel, signature, {}, attrs)
    backend = corpus.make_backend(target)
    options = backend.parse_options(dict({"num_warps": 1}, **source.parse_options()))
    context = corpus.ir.context()
    corpus.ir.load_dialects(context)
    backend.load_dialects(context)
    ir = source.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
    stages = {}
    backend.add_stages(stages, options, source.language)
    return corpus.clean(str(stages["ttir"](ir, {})))


def launch(k, name, ttir):
    args, at = {}, 30064771072
    for n in k.params:
        a = k.args[n]
        if isinstance(a, dict):
            size = BYTES[a["dtype"]] * a["n"]
            args[n] = {"tensor": {"dtype": DTYPE[a["dtype"]], "ptr": at, "shape": a["shape"], "strides": a["strides"]}}
            if a["values"] is not None:
                args[n]["tensor"]["values"] = a["values"]
            at += -(-size // 512) * 512 + 4096
        else:
            args[n] = a
    return {"version": 1, "kernel": "kernel", "ttir": ttir, "grid": k.grid, "target": "cuda:90", "triton": triton.__version__, "args": args,
            "config": {"num_warps": 1, "num_stages": 3}}


def main():
    out = next(a for a in sys.argv[1:] if not a.startswith("-"))
    value = {m[1]: int(m[2]) for m in (re.match(r"--(\w+)=(\d+)", a) for a in sys.argv) if m}
    first, count = value.get("first", 0), value.get("count", 140)
    os.makedirs(out, exist_ok=True)
    refused = {}
    with tempfile.TemporaryDirectory() as scratch:
        for seed in range(first, first + count):
            k = gen.kernel(seed)
            stem = f"g{seed}_{k.shape}"
            try:
                text = compile_text(k, os.path.join(scratch, f"g{seed}.py"))
            except Exception as e:                                # noqa: BLE001  (whatever the front end says)
                refused.setdefault(f"{k.shape}: {type(e).__name__}: {str(e).strip().splitlines()[-1][:90] if str(e).strip() else ''}", []).append(seed)
                continue
            with open(os.path.join(out, stem + ".ttir"), "w", encoding="utf-8") as f:
                f.write(text)
            with open(os.path.join(out, stem + ".json"), "w", encoding="utf-8") as f:
                json.dump(launch(k, stem, stem + ".ttir"), f)
                f.write("\n")
    for why, seeds in sorted(refused.items()):
        print(f"not compiled: {why}: {len(seeds)} (seed {seeds[0]})")
    print(f"{count - sum(map(len, refused.values()))} of {count} kernels")
    return 1 if sum(map(len, refused.values())) * 10 > count else 0


if __name__ == "__main__":
    sys.exit(main())
