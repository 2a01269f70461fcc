#!/usr/bin/env python3
"""Which CTA barriers does a Triton release put around scalar and tile atomics? No GPU is needed.

    python atomic_order.py                       this interpreter's Triton: one JSON object on stdout
    python atomic_order.py --page PYTHON...      run under each given interpreter and print the page of the decision

Each kernel has payload, one atomic, payload. The generated code (PTX, or the assembly for AMD) is read as a sequence of
payload accesses, atomics and barriers; `pre` is a barrier between the payload before and the atomic, `post` one between the
atomic and the payload behind it.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

SEMS = ["relaxed", "acquire", "release", "acq_rel"]
KINDS = ["add", "xchg", "cas", "add0", "tile_add"]
TARGETS = [("cuda", 80, 32), ("cuda", 90, 32), ("cuda", 100, 32), ("hip", "gfx942", 64), ("hip", "gfx1100", 32)]


def kernels():
    import triton
    import triton.language as tl

    @triton.jit
    def probe(x, f, y, KIND: tl.constexpr, SEM: tl.constexpr, USED: tl.constexpr, B: tl.constexpr):
        lane = tl.arange(0, B)
        tl.store(x + lane, lane)
        if KIND == "add":
            o = tl.atomic_add(f, 1, sem=SEM)
        elif KIND == "xchg":
            o = tl.atomic_xchg(f, 1, sem=SEM)
        elif KIND == "cas":
            o = tl.atomic_cas(f, 0, 1, sem=SEM)
        elif KIND == "add0":
            o = tl.atomic_add(f, 0, sem=SEM)
        else:
            o = tl.sum(tl.atomic_add(f + lane, 1, sem=SEM), axis=0)
        if USED:
            tl.store(y + lane, tl.load(x + B + lane) + o)
        else:
            tl.store(y + lane, tl.load(x + B + lane))
    return probe


def code(fn, target, constants):
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.compiler.compiler import make_backend
    from triton._C.libtriton import ir
    t = GPUTarget(*target)
    backend = make_backend(t)
    signature = {"x": "*i32", "f": "*i32", "y": "*i32", "KIND": "constexpr", "SEM": "constexpr", "USED": "constexpr", "B": "constexpr"}
    source = ASTSource(fn, signature, constants, {(i,): [["tt.divisibility", 16]] for i in range(3)})
    options = backend.parse_options(dict({"num_warps": 4}, **source.parse_options()))
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    stages, metadata = {}, {"target": t, **options.__dict__}
    try:
        backend.add_stages(stages, options, source.language)
    except TypeError:
        backend.add_stages(stages, options)
    try:
        module = source.make_ir(t, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
    except TypeError:
        module = source.make_ir(options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
    for name, stage in stages.items():
        if name in ("cubin", "hsaco"):
            break
        module = stage(module, metadata)
    return str(module)


TOKENS = [("bar", r"\bbar\.sync|\bbarrier\.sync|\bbarrier\.cta|\bs_barrier\b(?!_)|s_barrier_signal"),
          ("atomic", r"\batom\.|\bred\.|\bld\.(?:\w+\.)*(?:acquire|relaxed)\b|global_atomic|flat_atomic|buffer_atomic"),
          ("store", r"\bst\.global|global_store|buffer_store"), ("load", r"\bld\.global|global_load|buffer_load")]


def tokens(text):
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        body = line.split("//")[0]
        for name, pattern in TOKENS:
            if re.search(pattern, body):
                found.append((name, number, line.strip()))
                break
    return found


def study(text):
    seq = tokens(text)
    at = [i for i, t in enumerate(seq) if t[0] == "atomic"]
    if not at:
        return {"atomic": False, "lines": []}
    first, last = at[0], at[-1]
    stores = [i for i in range(first) if seq[i][0] == "store"]
    pre = bool(stores) and any(seq[i][0] == "bar" for i in range(stores[-1], first))
    behind = [i for i in range(last + 1, len(seq)) if seq[i][0] in ("store", "load")]
    early = any(seq[i][0] == "load" for i in range(first))             # a load moved up before the atomic
    post = bool(behind) and any(seq[i][0] == "bar" for i in range(last, behind[0]))
    lo, hi = (stores[-1] if stores else first), (behind[0] if behind else last)
    return {"atomic": True, "pre": pre, "post": post, "load_before_atomic": early, "lines": [seq[i][2] for i in range(lo, hi + 1)]}


def run():
    os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp(prefix="triton-cache-"))
    import triton
    fn, out = kernels(), []
    for target in TARGETS:
        for kind in KINDS:
            for sem in SEMS:
                for used in (True, False):
                    row = {"target": f"{target[0]}:{target[1]}", "kind": kind, "sem": sem, "used": used}
                    try:
                        row.update(study(code(fn, target, {"KIND": kind, "SEM": sem, "USED": used, "B": 1024})))
                    except Exception as error:                          # a target this release does not have
                        row["error"] = f"{type(error).__name__}: {str(error).splitlines()[0][:100] if str(error) else ''}"
                    out.append(row)
    json.dump({"triton": triton.__version__, "rows": out}, sys.stdout)


def word(row):
    if "error" in row:
        return "not compiled"
    if not row["atomic"]:
        return "no atomic in the code"
    return "pre+post" if row["pre"] and row["post"] else "pre" if row["pre"] else "post" if row["post"] else "none"


def page(interpreters):
    found = []
    for python in interpreters:
        done = subprocess.run([python, os.path.abspath(__file__)], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        found.append(json.loads(done.stdout[done.stdout.index("{"):]))
    print("## Barriers found\n")
    print("Rows: atomic, semantics, is the result used. `pre`: a CTA barrier between the payload store before and the atomic; `post`: one "
          "between the atomic and the first payload access behind it.\n")
    for target in [f"{t[0]}:{t[1]}" for t in TARGETS]:
        print(f"### {target}\n")
        print("| atomic | semantics | result | " + " | ".join("Triton " + f["triton"] for f in found) + " |")
        print("|---|---|---|" + "---|" * len(found))
        for kind in KINDS:
            for sem in SEMS:
                for used in (True, False):
                    cells = [word(r) for f in found for r in f["rows"]
                             if (r["target"], r["kind"], r["sem"], r["used"]) == (target, kind, sem, used)]
                    print(f"| {kind} | {sem} | {'used' if used else 'unused'} | " + " | ".join(cells) + " |")
        print()
    print("## Lines of the generated code\n")
    for target in ("cuda:90", "hip:gfx942"):
        for kind, sem, used in (("xchg", "release", False), ("add", "acq_rel", True), ("add0", "acquire", True), ("cas", "acquire", True)):
            for f in found:
                for r in f["rows"]:
                    if (r["target"], r["kind"], r["sem"], r["used"]) == (target, kind, sem, used) and r.get("lines"):
                        print(f"`{target}`, {kind}, {sem}, result {'used' if used else 'unused'}, Triton {f['triton']}: {word(r)}\n\n```")
                        print("\n".join(r["lines"]) + "\n```\n")


if __name__ == "__main__":
    if "--page" in sys.argv:
        page(sys.argv[sys.argv.index("--page") + 1:])
    else:
        run()
