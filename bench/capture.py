#!/usr/bin/env python3
"""Texts of kernels in installed packages, with made-up launches: capture.py FOLDER PACKAGE... [--limit=N] [--seconds=N]

Runs in an environment with Triton (a release whose texts polyrace reads), torch (the CPU build is enough) and the
packages; nothing is executed on a device and nothing of a package is kept but the printed text. For every @triton.jit
function that writes memory it guesses which parameters are pointers (they are the base of an access), what compile-time
constants are (from the autotuner's first configuration, else from the name), compiles up to the text, and writes
NAME.ttir and NAME.json. A function that does not compile under three guesses is left out.

The launches have plausible sizes, not those of the package: the figures of `run.py packages` are times, and a verdict
about such a launch says nothing about the package.
"""
import ast
import hashlib
import importlib
import importlib.util
import json
import os
import pkgutil
import re
import signal
import sys
import tempfile
import textwrap
import time
import types
import warnings

os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp(prefix="triton-cache-"))
warnings.simplefilter("ignore")

import triton                                                    # noqa: E402
import triton.language as tl                                     # noqa: E402
from triton.backends.compiler import GPUTarget                   # noqa: E402
from triton.compiler import ASTSource                            # noqa: E402
from triton.compiler.compiler import make_backend                # noqa: E402
from triton.runtime.driver import driver                         # noqa: E402
from triton.runtime.jit import JITFunction                       # noqa: E402
from triton._C.libtriton import ir                               # noqa: E402

TARGET = GPUTarget("cuda", 90, 32)
ENTRIES = 1024                                                    # of a tensor of whole numbers
ACCESS = {"load", "store", "make_block_ptr", "make_tensor_descriptor", "atomic_add", "atomic_cas", "atomic_xchg", "atomic_max", "atomic_min", "atomic_or", "atomic_and"}
WHOLE = re.compile(r"(idx|index|indices|ids?$|table|lens?$|seqlen|cu_|offset|slot|label|target|page|start|count|expert|block_|token)", re.I)
REAL = re.compile(r"eps|scale|alpha|theta|factor|^p$|momentum|lr|temperature|softcap|limit|beta|decay", re.I)


class Device:
    """What packages ask of a device while they are imported."""

    def __getattr__(self, name):
        return lambda *a, **k: None

    def get_current_target(self):
        return TARGET

    def get_current_device(self):
        return 0

    def get_device_capability(self, device=None):
        return TARGET.arch // 10, TARGET.arch % 10

    @staticmethod
    def is_active():
        return True

    class utils:                                                  # noqa: N801
        @staticmethod
        def get_device_properties(device):
            return dict(max_shared_mem=232448, multiprocessor_count=132, warpSize=32, max_num_regs=65536, mem_bus_width=5120,
                        mem_clock_rate=2619000, sm_clock_rate=1980000)


def stand_in():
    """Enough of a CUDA device for packages that look at it while they are imported."""
    try:
        import torch
    except ImportError:
        return
    properties = types.SimpleNamespace(name="device", major=TARGET.arch // 10, minor=TARGET.arch % 10, multi_processor_count=132, warp_size=32,
                                       total_memory=80 << 30, shared_memory_per_block_optin=232448, gcnArchName="")
    answers = {"is_available": True, "get_device_properties": properties, "get_device_capability": (properties.major, properties.minor),
               "get_device_name": "device", "current_device": 0, "device_count": 1, "_lazy_init": None, "set_device": None, "synchronize": None}
    for name, value in answers.items():
        setattr(torch.cuda, name, lambda *a, _value=value, **k: _value)
    os.environ.setdefault("GEMS_VENDOR", "nvidia")                # flag_gems asks the command line tools of the vendor otherwise


class Late(BaseException):
    pass


def late(*_):
    raise Late()


def unwrap(fn):
    """(the function, constants of the autotuner's first configuration)."""
    given = {}
    while not isinstance(fn, JITFunction):
        configs = getattr(fn, "configs", None)
        if configs:
            given.update(configs[0].all_kwargs())
        fn = getattr(fn, "fn", None)
        if fn is None:
            return None, given
    return fn, given


def base(e):
    """Names that an address is made from by adding to them."""
    if isinstance(e, ast.Name):
        return {e.id}
    if isinstance(e, ast.BinOp) and isinstance(e.op, (ast.Add, ast.Sub)):
        return base(e.left) | (base(e.right) if isinstance(e.left, ast.BinOp) or not isinstance(e.left, ast.Name) else set())
    if isinstance(e, ast.Call) and isinstance(e.func, ast.Attribute) and e.func.attr in ("to", "cast", "advance", "multiple_of"):
        return base(e.func.value) if e.func.attr == "to" else base(e.args[0]) if e.args else set()
    if isinstance(e, ast.IfExp):
        return base(e.body) | base(e.orelse)
    return set()


def pointers(fn):
    """Parameters that are the base of an access, through assignments."""
    tree = ast.parse(textwrap.dedent(fn.src))
    found, flows = set(), []
    for n in ast.walk(tree):
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in ACCESS and n.args:
            found |= base(n.args[0])
        elif isinstance(n, (ast.Assign, ast.AugAssign)):
            for t in n.targets if isinstance(n, ast.Assign) else [n.target]:
                if isinstance(t, ast.Name):
                    flows.append((t.id, base(n.value) if isinstance(n, ast.Assign) else set()))
    for _ in range(8):
        more = set().union(*[names for t, names in flows if t in found]) | found
        if more == found:
            break
        found = more
    return {p.name for p in fn.params if p.name in found or re.search(r"(_ptrs?$|^ptr_|_ptr_)", p.name)}


def unrolled(fn):
    """Constants that say how often a loop is unrolled."""
    return {x.id for n in ast.walk(ast.parse(textwrap.dedent(fn.src)))
            if isinstance(n, ast.Call) and getattr(n.func, "attr", "") == "static_range" for a in n.args for x in ast.walk(a) if isinstance(x, ast.Name)}


def constant(name, attempt, counts):
    if name in counts or re.search(r"^num|^n_|count", name, re.I):
        return (4, 2, 8)[attempt]
    if re.search(r"BLOCK|^B[A-Z]$|TILE|SIZE|HEAD|DIM|^[DKV]$|^B[TKVSC]$", name):
        return (64, 32, 128)[attempt]
    if re.search(r"dtype|type", name, re.I):
        return tl.float16
    if re.search(r"GROUP|NUM|^N|^H|^G|num|^n_|^[A-Z]{1,6}$|RANK", name):
        return (4, 4, 16)[attempt]
    if re.search(r"^(is|has|use|store|with|enable|return|save|do|output|reverse|even|causal|apply|per|mask|add|trans|safe|load)", name, re.I):
        return (True, False, True)[attempt]
    return (1, 2, 0)[attempt]


def guess(fn, given, attempt):
    """name -> (type of the signature, value of the launch)."""
    out, at = {}, 1 << 34
    bases, counts = pointers(fn), unrolled(fn)
    kind = ("fp16", "fp32", "bf16")[attempt]
    for p in fn.params:
        n = p.name
        if p.is_constexpr:
            out[n] = ("constexpr", given[n] if n in given else p.default if p.has_default else constant(n, attempt, counts))
        elif n in bases:
            element = "i64" if WHOLE.search(n.replace("_ptr", "")) else kind
            out[n] = ("*" + element, at)
            at += 1 << 32
        elif REAL.search(n):
            out[n] = ("fp32", 0.5)
        elif "stride" in n:
            out[n] = ("i32", (256, 512, 264)[attempt])
        else:
            out[n] = ("i32", (1000, 64, 7)[attempt])
    return out


def text_of(fn, guessed):
    signature = {n: k for n, (k, _) in guessed.items()}
    constants = {n: v for n, (k, v) in guessed.items() if k == "constexpr"}
    attrs = {(i,): [["tt.divisibility", 16]] for i, (k, v) in enumerate(guessed.values()) if k[0] == "*" or k == "i32" and v % 16 == 0}
    src = ASTSource(fn, signature, constants, attrs)
    backend = make_backend(TARGET)
    options = backend.parse_options(src.parse_options())
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = src.make_ir(TARGET, options, backend.get_codegen_implementation(options), backend.get_module_map(), context)
    stages = {}
    backend.add_stages(stages, options, src.language)
    return str(stages["ttir"](module, {"target": TARGET, **options.__dict__})), options


def launch(name, text, file, guessed, options):
    sizes = {"fp16": ("float16", 2), "bf16": ("bfloat16", 2), "fp32": ("float32", 4), "i64": ("int64", 8), "i32": ("int32", 4)}
    args = []
    for n, (kind, value) in guessed.items():
        if kind == "constexpr":
            continue
        if kind[0] == "*":
            dtype, width = sizes[kind[1:]]
            count = ENTRIES if kind == "*i64" else 1 << 24
            tensor = {"dtype": dtype, "ptr": value, "shape": [count], "strides": [1], "storage": {"ptr": value, "bytes": count * width}}
            if kind == "*i64":                                     # indices, offsets: a launcher knows what they hold
                tensor["values"] = [8 * i for i in range(count)]
            args.append({"tensor": tensor})
        else:
            args.append(value)
    grid = [n if f"tt.get_program_id {a}" in text else 1 for a, n in zip("xyz", (16, 4, 3))]
    return {"version": 1, "kernel": name, "ttir": file, "grid": grid, "args": args,
            "config": {"num_warps": options.num_warps, "num_stages": options.num_stages, "num_ctas": options.num_ctas},
            "target": f"cuda:{TARGET.arch}", "triton": triton.__version__}


def modules(package, deadline):
    """The modules of a package whose source holds kernels, as far as they can be imported."""
    spec = importlib.util.find_spec(package)
    if not spec or not spec.submodule_search_locations:
        print(f"{package}: not installed", file=sys.stderr)
        return
    names = [package] + [m.name for m in pkgutil.walk_packages(spec.submodule_search_locations, package + ".", onerror=lambda n: None)]
    for name in names:
        if time.time() > deadline:
            return
        try:
            found = importlib.util.find_spec(name)
            if not found or not found.origin or not found.origin.endswith(".py"):
                continue
            with open(found.origin, encoding="utf-8") as f:
                if "triton" not in f.read():
                    continue
            signal.alarm(60)
            yield importlib.import_module(name)
        except (Exception, SystemExit, Late) as why:               # a package may need what is not there
            print(f"{name}: {type(why).__name__}: {str(why)[:100]}", file=sys.stderr)
        finally:
            signal.alarm(0)


def kernels(module):
    for value in list(vars(module).values()):
        if not hasattr(value, "fn") and not isinstance(value, JITFunction):
            continue
        fn, given = unwrap(value)
        if fn is not None and fn.fn.__module__ == module.__name__ and re.search(r"\.store\(|\.atomic_", fn.src):
            yield fn, given


def main():
    args = [a for a in sys.argv[1:] if not a.startswith("--")]
    option = {k: float(v) for k, v in (a[2:].split("=") for a in sys.argv[1:] if a.startswith("--"))}
    if len(args) < 2:
        sys.exit(__doc__.split("\n")[0])
    folder, packages = args[0], args[1:]
    os.makedirs(folder, exist_ok=True)
    driver.set_active(Device())
    stand_in()
    signal.signal(signal.SIGALRM, late)
    total = 0
    for package in packages:
        written, tried, seen = 0, 0, set()
        deadline = time.time() + option.get("seconds", 240)
        for module in modules(package, deadline):
            for fn, given in kernels(module):
                if id(fn) in seen or written >= option.get("limit", 1e9) or time.time() > deadline:
                    continue
                seen.add(id(fn))
                tried += 1
                for attempt in range(3):
                    signal.alarm(20)
                    try:
                        guessed = guess(fn, given, attempt)
                        text, options = text_of(fn, guessed)
                        name = f"{package}.{fn.__name__[:60]}-{hashlib.sha256(text.encode()).hexdigest()[:6]}"
                        doc = json.dumps(launch(fn.__name__, text, name + ".ttir", guessed, options), indent=1)
                    except (Exception, Late):
                        continue
                    finally:
                        signal.alarm(0)
                    for end, what in ((".ttir", text), (".json", doc + "\n")):
                        with open(os.path.join(folder, name + end), "w", encoding="utf-8") as f:
                            f.write(what)
                    written += 1
                    break
        total += written
        print(f"{package}: {written} of {tried} kernels")
    print(f"{total} texts in {folder}, Triton {triton.__version__}")


if __name__ == "__main__":
    main()
