#!/usr/bin/env python3
"""Rebuild ttir/NAME.ttir, ttir/NAME.json and their .small variants from the Python sources.

    python build.py                  write everything (reference release: Triton 3.8.0)
    python build.py --check          write nothing, fail when a committed file differs
    python build.py --out DIR        write to DIR instead (texts of another Triton release)
    python build.py --triton-check   compile on to PTX as well (slow; shows that the kernels are real)
    python build.py NAME...          only these kernels

No GPU is needed: the front end and the TTIR pipeline of the CUDA back end run on the host.
"""
import argparse
import importlib
import json
import os
import re
import sys
import tempfile

os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp(prefix="triton-cache-"))

import triton                                                    # noqa: E402
from triton.backends.compiler import GPUTarget                   # noqa: E402
from triton.compiler import ASTSource, compile as triton_compile  # noqa: E402
from triton.compiler.compiler import make_backend                # noqa: E402
from triton._C.libtriton import ir                               # noqa: E402

import registry                                                  # noqa: E402

REFERENCE = "3.8.0"
POINTEE = {"f32": "*fp32", "f16": "*fp16", "bf16": "*bf16", "f64": "*fp64", "i32": "*i32", "i64": "*i64",
           "i16": "*i16", "i8": "*i8", "i1": "*i1", "u8": "*u8"}


def bind(entry, sizes):
    """The launch's grid and its arguments in signature order (name, value, is_constexpr)."""
    grid, given = entry["launch"](**sizes)
    grid = tuple(grid) + (1,) * (3 - len(grid))
    tensors = {k: v for k, v in given.items() if isinstance(v, registry.Tensor)}
    registry.place(tensors)
    out = []
    for p in entry["fn"].params:
        value = given[p.name] if p.name in given else sizes[p.name]
        out.append((p.name, value, p.is_constexpr))
    return grid, out


def specialise(entry, args):
    signature, constants, attrs = {}, {}, {}
    nospec = entry["nospec"]
    for i, (name, value, is_constexpr) in enumerate(args):
        special = not (nospec is True or name in nospec)
        if is_constexpr:
            signature[name], constants[name] = "constexpr", value
        elif isinstance(value, registry.Tensor):
            signature[name] = POINTEE[value.dtype]
            if special and value.ptr % 16 == 0:
                attrs[(i,)] = [["tt.divisibility", 16]]
        elif isinstance(value, float):
            signature[name] = "fp32"
        elif value == 1 and special:
            signature[name], constants[name] = "constexpr", 1
        else:
            signature[name] = "i32" if -2**31 <= value < 2**31 else "i64"
            if special and value % 16 == 0:
                attrs[(i,)] = [["tt.divisibility", 16]]
    return signature, constants, attrs


def ttir(entry, args, full):
    target = GPUTarget("cuda", entry["target"], 32)
    source = ASTSource(entry["fn"], *specialise(entry, args))
    options = {"num_warps": entry["num_warps"]}
    if full:
        return triton_compile(source, target=target, options=options).asm["ttir"]
    backend = make_backend(target)
    options = backend.parse_options(dict(options, **source.parse_options()))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = source.make_ir(target, options, backend.get_codegen_implementation(options),
                            backend.get_module_map(), context)
    stages = {}
    backend.add_stages(stages, options, source.language)
    return str(stages["ttir"](module, {}))


def clean(text):
    """Locations keep the bare file name, so that a text does not depend on where it was built."""
    text = re.sub(r'loc\("[^"]*/([^"/]+\.py)":', r'loc("\1":', text)
    return text if text.endswith("\n") else text + "\n"


def launch_text(entry, grid, args, ttir_name):
    items = []
    for name, value, is_constexpr in args:
        if is_constexpr:
            continue
        if isinstance(value, registry.Tensor):
            low, high = value.span()
            tensor = {"dtype": registry.TORCH_NAME[value.dtype], "ptr": value.ptr, "shape": value.shape,
                      "strides": value.strides}
            if value.storage != (value.ptr + low, high - low):
                tensor["storage"] = {"ptr": value.storage[0], "bytes": value.storage[1]}
            if value.fill is not None:
                count = 1
                for extent in value.shape:
                    count *= extent
                tensor["values"] = [value.fill] * count
            value = {"tensor": tensor}
        items.append(f"    {json.dumps(name)}: {json.dumps(value)}")
    head = {"version": 1, "kernel": entry["name"], "ttir": ttir_name, "grid": list(grid),
            "target": f"cuda:{entry['target']}", "triton": triton.__version__}
    lines = [f"  {json.dumps(k)}: {json.dumps(v)}," for k, v in head.items()]
    lines += ['  "args": {', ",\n".join(items), "  },",
              f'  "config": {json.dumps({"num_warps": entry["num_warps"], "num_stages": 3})}']
    return "{\n" + "\n".join(lines) + "\n}\n"


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--check", action="store_true")
    ap.add_argument("--out")
    ap.add_argument("--triton-check", action="store_true")
    ap.add_argument("names", nargs="*")
    opt = ap.parse_args()
    if triton.__version__ != REFERENCE and not opt.out:
        sys.exit(f"the committed texts are of Triton {REFERENCE}; use --out DIR with {triton.__version__}")
    out = opt.out or os.path.join(registry.HERE, "ttir")
    os.makedirs(out, exist_ok=True)
    sys.path.insert(0, registry.HERE)
    for file in registry.topic_files():
        importlib.import_module(file[:-3])
    expectations = registry.read_expectations()
    for name in expectations:
        e = expectations[name]
        for word in e.fields:
            labels = (registry.parse_race(word)[1:3] if e.status == "races" else
                      [registry.parse_refusal(word)[1]] if e.status == "unsupported" else [])
            for label in labels:
                if label:
                    registry.resolve_label(name, label)
    problems, written, expected = [], 0, set()
    seen = {e["name"] for e in registry.REGISTRY}
    problems += [f"expect.txt: no kernel {n}" for n in expectations if n not in seen]
    problems += [f"expect.txt: {n} is missing" for n in sorted(seen) if n not in expectations]
    for entry in registry.REGISTRY:
        for suffix, sizes in (("", entry["big"]), (".small", entry["small"])):
            stem = entry["name"] + suffix
            expected |= {stem + ".ttir", stem + ".json"}
            if opt.names and entry["name"] not in opt.names:
                continue
            if not registry.in_release(entry, triton.__version__):
                continue
            try:
                grid, args = bind(entry, sizes)
                text = clean(ttir(entry, args, opt.triton_check))
            except Exception as error:                          # one broken kernel does not hide the others
                problems.append(f"{stem}: {type(error).__name__}: {error}")
                continue
            for file, content in ((stem + ".ttir", text), (stem + ".json", launch_text(entry, grid, args, stem + ".ttir"))):
                path = os.path.join(out, file)
                old = None
                if os.path.exists(path):
                    with open(path, encoding="utf-8") as f:
                        old = f.read()
                if opt.check:
                    if old != content:
                        problems.append(f"{file} differs from its source")
                elif old != content:
                    with open(path, "w", encoding="utf-8") as f:
                        f.write(content)
                    written += 1
    stale = sorted(set(os.listdir(out)) - expected) if not opt.names else []
    problems += [f"{name} belongs to no kernel" for name in stale]
    print(f"triton {triton.__version__}: {len(registry.REGISTRY)} kernels, {written} files written, {len(problems)} problems")
    for p in problems:
        print("  " + p)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
