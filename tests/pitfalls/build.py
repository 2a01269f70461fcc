#!/usr/bin/env python3
"""Rebuild ttir/NAME.ttir and ttir/NAME.json from kernels.py (needs triton 3.8.0, no GPU).

    python build.py            write everything
    python build.py --check    write nothing, fail when a committed file differs
"""
import json
import os
import re
import sys
import tempfile

os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp(prefix="triton-cache-"))
os.environ["POLYRACE_NEED_TRITON"] = "1"
import triton                                                    # noqa: E402
from triton.backends.compiler import GPUTarget                   # noqa: E402
from triton.compiler import ASTSource                            # noqa: E402
from triton.compiler.compiler import make_backend                # noqa: E402
from triton._C.libtriton import ir                               # noqa: E402

from cases import CASES, HERE, POINTEE, T                        # noqa: E402
import kernels                                                   # noqa: E402,F401


def compile_ttir(c):
    signature, constants, attrs = {}, {}, {}
    for i, p in enumerate(c.fn.params):
        value = c.args[p.name]
        special = p.name not in c.nospec
        if p.is_constexpr:
            signature[p.name], constants[p.name] = "constexpr", value
        elif isinstance(value, T):
            signature[p.name] = POINTEE[value.dtype]
            if value.ptr % 16 == 0:
                attrs[(i,)] = [["tt.divisibility", 16]]
        elif value == 1 and special:
            signature[p.name], constants[p.name] = "constexpr", 1
        else:
            signature[p.name] = "i32" if -2**31 <= value < 2**31 else "i64"
            if special and value % 16 == 0:
                attrs[(i,)] = [["tt.divisibility", 16]]
    target = GPUTarget("cuda", c.target, 32)
    source = ASTSource(c.fn, signature, constants, attrs)
    backend = make_backend(target)
    options = backend.parse_options(dict({"num_warps": c.num_warps}, **source.parse_options()))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = source.make_ir(target, options, backend.get_codegen_implementation(options),
                            backend.get_module_map(), context)
    stages = {}
    backend.add_stages(stages, options, source.language)
    text = str(stages["ttir"](module, {}))
    text = re.sub(r'loc\("[^"]*/([^"/]+\.py)":', r'loc("\1":', text)
    for old, new in c.edit:
        assert old in text, (c.name, old)
        text = text.replace(old, new)
    return text if text.endswith("\n") else text + "\n"


def launch(c):
    args = {}
    for p in c.fn.params:
        value = c.args[p.name]
        if not p.is_constexpr:
            args[p.name] = value.json() if isinstance(value, T) else value
    doc = {"version": 1, "kernel": c.fn.__name__, "ttir": c.name + ".ttir", "grid": list(c.grid),
           "target": f"cuda:{c.target}", "args": args,
           "config": {"num_warps": c.num_warps, "num_ctas": c.num_ctas}}
    if c.triton:
        doc["triton"] = c.triton
    return json.dumps(doc, indent=1) + "\n"


def main():
    if triton.__version__ != "3.8.0":
        sys.exit("the committed texts are of Triton 3.8.0")
    out = os.path.join(HERE, "ttir")
    os.makedirs(out, exist_ok=True)
    problems, expected = [], set()
    for c in CASES:
        cursor = 0x700000000
        for value in c.args.values():
            if isinstance(value, T) and not value.of:
                cursor = value.place(cursor, c.args)
        for value in c.args.values():
            if isinstance(value, T) and value.of:
                value.place(0, c.args)
        try:
            files = {c.name + ".ttir": compile_ttir(c), c.name + ".json": launch(c)}
        except Exception as error:
            problems.append(f"{c.name}: {type(error).__name__}: {str(error)[-400:]}")
            continue
        for file, content in files.items():
            expected.add(file)
            path = os.path.join(out, file)
            old = open(path, encoding="utf-8").read() if os.path.exists(path) else None
            if old != content:
                if "--check" in sys.argv:
                    problems.append(f"{file} differs from its source")
                else:
                    with open(path, "w", encoding="utf-8") as f:
                        f.write(content)
    for name in sorted(set(os.listdir(out)) - expected):
        problems.append(f"{name} belongs to no case")
    print(f"{len(CASES)} cases, {len(problems)} problems")
    for p in problems:
        print("  " + p)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
