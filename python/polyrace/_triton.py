"""Everything that depends on the installed Triton: binding of arguments, compilation to TTIR and TTGIR on the host.

Binding and specialisation are Triton's own code (`create_function_from_signature`, `JITFunction._pack_args`), run for
a back end that is made for the target, so nothing here needs a driver. Known releases: 3.6 to 3.9.
"""
from __future__ import annotations

import functools
import os
import re
import threading
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Mapping

DEFAULT_TARGET = "cuda:80"
TESTED = ((3, 6), (3, 9))


class Unavailable(Exception):
    """The compiler cannot run here at all: kind host-compile-unavailable."""


class NoText(Exception):
    """One configuration has no text. `kind` is a refusal kind, or "note" when no target accepts the source."""

    def __init__(self, kind: str, message: str):
        self.kind, self.message = kind, message
        super().__init__(message)


def triton_version() -> str:
    import triton
    return str(triton.__version__)


def release() -> "tuple[int, int]":
    parts = []
    for p in triton_version().split(".")[:2]:
        digits = "".join(c for c in p if c.isdigit())
        parts.append(int(digits or 0))
    return (parts + [0, 0])[0], (parts + [0, 0])[1]


# ---- targets ----------------------------------------------------------------------------------------------
def parse_target(text: str) -> Any:
    """"cuda:90" or "hip:gfx942" as Triton's GPUTarget."""
    if not isinstance(text, str):
        raise TypeError(f'target is a string such as "cuda:90" or "hip:gfx942", not {text!r}')
    from triton.backends.compiler import GPUTarget
    backend, _, arch = text.partition(":")
    if backend == "cuda" and arch.isdigit():
        return GPUTarget("cuda", int(arch), 32)
    if backend == "hip" and arch.startswith("gfx"):
        return GPUTarget("hip", arch, 64 if arch.startswith("gfx9") else 32)
    raise TypeError(f'unknown target {text!r}: write "cuda:80", "cuda:90" or "hip:gfx942"')


def target_name(target: Any) -> str:
    return f"{target.backend}:{target.arch}"


def device_target() -> Any:
    """The target of the machine's device, or None without one."""
    try:
        from triton.runtime.driver import driver
        return driver.active.get_current_target()
    except Exception:
        return None


def choose_target(given: "str | None") -> "tuple[Any, str]":
    """The target in the order of precedence, and where it comes from."""
    if given is not None:
        return parse_target(given), "argument"
    named = os.environ.get("POLYRACE_TARGET")
    if named:
        try:
            return parse_target(named), "POLYRACE_TARGET"
        except TypeError as e:
            raise TypeError(f"POLYRACE_TARGET: {e}") from None
    device = device_target()
    return (device, "device") if device is not None else (parse_target(DEFAULT_TARGET), "default")


# ---- binding ----------------------------------------------------------------------------------------------
@dataclass
class Binding:
    """One launch of one JITFunction, bound and specialised for a target."""
    fn: Any
    grid: "tuple[int, ...] | None"
    bound: "dict[str, Any]"
    signature: "dict[str, Any]"
    constexprs: dict
    attrs: dict
    options: Any
    key: tuple
    config: "dict[str, Any]" = field(default_factory=dict)
    target: Any = None  # of a kernel that was generated for one; None: the trace's


@functools.lru_cache(maxsize=None)
def backend_for(target: Any) -> Any:
    try:
        from triton.compiler.compiler import make_backend
        return make_backend(target)
    except Exception as e:
        raise Unavailable(f"Triton has no back end for {target_name(target)}: {first_line(e)}") from e


def make_binder(fn: Any, target: Any) -> Callable:
    from triton.runtime.jit import create_function_from_signature
    return create_function_from_signature(fn.signature, fn.params, backend_for(target))


def runtime_kwargs(fn: Any, kwargs: "Mapping[str, Any]") -> "dict[str, Any]":
    """The keyword arguments as `JITFunction.run` completes them before binding."""
    from triton import knobs
    out = dict(kwargs)
    out["debug"] = bool(out.get("debug", fn.debug) or knobs.runtime.debug)
    for name in ("instrumentation_mode", "fpsan_homomorphic_casts"):
        if hasattr(knobs.compilation, name):
            out[name] = getattr(knobs.compilation, name)
    return out


def bind(fn: Any, binder: Callable, target: Any, args: tuple, kwargs: "Mapping[str, Any]") -> Binding:
    """What `JITFunction.run` does before it compiles. Errors are those that the runtime would raise."""
    backend = backend_for(target)
    kwargs = runtime_kwargs(fn, kwargs)
    bound, specialization, options = binder(*args, **kwargs)
    key = (fn.cache_key, repr(_hashable(specialization)), repr(sorted(options.items(), key=lambda kv: kv[0])),
           target_name(target))
    try:
        options, signature, constexprs, attrs = fn._pack_args(backend, kwargs, bound, specialization, options)
    except KeyError:
        raise  # an unknown keyword argument
    except Exception as e:  # the back end refuses the options
        raise NoText("compile-failed", f"{type(e).__name__}: {first_line(e)}") from None
    return Binding(fn, None, bound, signature, constexprs, attrs, options, key)


def _hashable(value: Any) -> Any:
    """Specialisation with functions replaced by their content hash, as Triton's own cache key does it."""
    if hasattr(value, "cache_key"):
        return value.cache_key
    if isinstance(value, (list, tuple)):
        return tuple(_hashable(v) for v in value)
    return value


def canonical_grid(grid: Any, bound: "dict[str, Any]") -> "tuple[int, int, int]":
    if callable(grid):
        grid = grid(bound)
    extents = [int(e) for e in grid] if hasattr(grid, "__len__") else [int(grid)]
    return tuple((extents + [1, 1, 1])[:3])  # type: ignore[return-value]


def changed_global(fn: Any) -> "str | None":
    """The runtime refuses a kernel whose globals changed since it was first compiled: its message, or None."""
    nothing = object()
    for (name, _), (value, scope) in getattr(fn, "used_global_vals", {}).items():
        now = scope.get(name, nothing)
        if now is nothing or now != value:
            return f"Global variable {name} has changed since we compiled this kernel, from {value} to {now}"
    return None


# ---- compilation ------------------------------------------------------------------------------------------
def first_line(e: BaseException) -> str:
    lines = [x.strip() for x in str(e).splitlines() if x.strip()]
    return lines[0] if lines else type(e).__name__


def compile_message(e: BaseException) -> str:
    """A compile error on one line: what the front end says, and where."""
    place = ""
    node, src = getattr(e, "node", None), getattr(e, "src", None)
    text = getattr(e, "error_message", None)
    if node is not None and text is None:
        lines = [x for x in str(e).splitlines() if x.strip()]
        text = lines[-1].strip() if lines else type(e).__name__
    if node is not None and src is not None:
        place = f" (line {node.lineno} of the kernel)"
    cause = e.__cause__
    if text is None and cause is not None:
        text = first_line(cause)
    return f"{text or first_line(e)}{place}"


@dataclass(frozen=True)
class Texts:
    """What one compile gives. `ttir` is None for a Gluon kernel, which begins as TTGIR; `no_ttgir` says why there is no
    TTGIR although it was asked for."""
    ttir: "str | None"
    ttgir: "str | None" = None
    no_ttgir: str = ""


def _source(b: Binding, shared_memory: bool) -> Any:
    if b.fn.is_gluon():
        if not shared_memory:
            raise NoText("no-compiled-kernel", "a Gluon kernel has no TTIR; trace(shared_memory=True), polyrace-run "
                         "--shared-memory or POLYRACE_SHARED_MEMORY=1 analyses its TTGIR")
        from triton.experimental.gluon._runtime import GluonASTSource
        return GluonASTSource(b.fn, b.signature, b.constexprs, b.attrs)
    from triton.compiler import ASTSource
    return ASTSource(b.fn, b.signature, b.constexprs, b.attrs)


analysing = threading.local()
"""`analysing.on` is set while a text is compiled for analysis: our own stage hook then stays out."""


def _make_texts(b: Binding, target: Any, options: Any, shared_memory: bool) -> Texts:
    analysing.on = True
    try:
        return _run_stages(b, target, options, shared_memory)
    finally:
        analysing.on = False


def _run_stages(b: Binding, target: Any, options: Any, shared_memory: bool) -> Texts:
    from triton._C.libtriton import ir
    backend = backend_for(target)
    src = _source(b, shared_memory)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    override = getattr(options, "ir_override", None)
    if override and str(override).endswith(".ttir"):
        with open(override) as f:
            return Texts(f.read(), no_ttgir="the TTIR is that of ir_override" if shared_memory else "")
    module = src.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(),
                         context)
    stages: dict = {}
    backend.add_stages(stages, options, src.language)  # a user's stage hook takes part, as in the runtime
    metadata: dict = {"target": target, **vars(options)} if shared_memory else {}
    if b.fn.is_gluon():
        return Texts(None, _ttgir(stages, module, metadata, override))
    module = stages["ttir"](module, metadata)
    text = str(module)  # before the next stage, which changes the module in place
    if not shared_memory:
        return Texts(text)
    try:
        return Texts(text, _ttgir(stages, module, metadata, override))
    except Exception as e:
        return Texts(text, no_ttgir=f"the TTGIR stage failed: {type(e).__name__}: {compile_message(e)}")


def _ttgir(stages: "dict[str, Any]", module: Any, metadata: "dict[str, Any]", override: Any) -> str:
    """The text after the TTGIR stage; nothing of it needs a driver or an assembler."""
    text = str(stages["ttgir"](module, metadata))
    if override and str(override).endswith(".ttgir"):
        with open(override) as f:
            return f.read()
    return text


_ARGUMENT_NAME = re.compile(r'loc\("([^"]*)"')
OTHER_TARGETS = ("cuda:80", "cuda:90", "cuda:100", "hip:gfx942")


def compile_texts(b: Binding, target: Any, shared_memory: bool = False) -> Texts:
    """The TTIR of a binding, with `shared_memory` its TTGIR too. Raises NoText: `compile-failed` when another target accepts the source or fails
    otherwise, `note` when every target rejects it with one message, which then lies in the source."""
    try:
        texts = _make_texts(b, target, b.options, shared_memory)
        if texts.ttir is None or release() >= (3, 7):
            return texts
        return replace(texts, ttir=own_names(texts.ttir, b))
    except (NoText, KeyboardInterrupt):
        raise
    except ImportError as e:
        raise Unavailable(first_line(e)) from e
    except Exception as e:
        message = compile_message(e)
        front_end = _is_front_end(e)
        for name in OTHER_TARGETS if front_end else ():
            other = parse_target(name)
            if target_name(other) == target_name(target):
                continue
            try:
                _make_texts(b, other, _options_for(b, other), b.fn.is_gluon())
            except Exception as again:
                if not _is_front_end(again) or compile_message(again) != message:
                    front_end = False
            else:
                front_end = False
            if not front_end:
                break
        raise NoText("note" if front_end else "compile-failed", message) from None


def _is_front_end(e: BaseException) -> bool:
    from triton.compiler.errors import CompilationError
    return isinstance(e, CompilationError)


def _options_for(b: Binding, target: Any) -> Any:
    """The options of a binding for another target: what both know, without what names the architecture."""
    keep = {k: v for k, v in vars(b.options).items() if k in ("num_warps", "num_ctas", "num_stages", "debug")}
    return backend_for(target).parse_options(keep)


def text_arguments(b: Binding) -> "list[tuple[str, Any, Any]]":
    """(name in the text, value, type in the signature) of every argument that is in the text. Elements of tuples
    are NAME.INDEX, those of named tuples NAME.FIELD; constexprs and folded values are not in the text."""
    out: list = []

    def walk(name: str, value: Any, kind: Any) -> None:
        if isinstance(kind, (tuple, list)):
            for part, v, t in zip(getattr(value, "_fields", range(len(kind))), value, kind):
                walk(f"{name}.{part}", v, t)
        elif kind != "constexpr":
            out.append((name, value, kind))
    for name, kind in b.signature.items():
        walk(name, b.bound[name], kind)
    return out


def own_names(text: str, b: Binding) -> str:
    """Triton 3.6 gives all parts of a tuple and of a descriptor one name in the text. They get the names that newer
    releases print: ts.0, d, d.shape.0, d.stride.0. Only names of arguments change."""
    names: "list[str]" = []
    lowered: "list[str]" = []  # where the target has no descriptors: a pointer, its own parts, then those that are passed
    for name, value, _ in text_arguments(b):
        rank = len(value.shape) if hasattr(value, "block_shape") else 0
        parts = [f"{name}.{part}.{k}" for part in ("shape", "stride") for k in range(rank)]
        names += [name, *parts]
        lowered += [name, *parts, *([f"{name}.padding"] if rank else []), *(f"{p}_0" for p in parts)]
    start = text.find("tt.func public")
    end = text.find(" attributes {", start)
    if all("." not in n for n in names) or start < 0 or end < 0:
        return text
    head = text[start:end]
    there = len(_ARGUMENT_NAME.findall(head))
    if there not in (len(names), len(lowered)):
        return text
    found = iter(names if there == len(names) else lowered)
    return text[:start] + _ARGUMENT_NAME.sub(lambda m: f'loc("{next(found)}"', head) + text[end:]


def config_label(b: Binding) -> "dict[str, Any]":
    """The configuration in the form of the launch file: launch options first, then what a tuner chose."""
    out: "dict[str, Any]" = {}
    for name in ("num_warps", "num_ctas", "num_stages"):
        value = getattr(b.options, name, None)
        if isinstance(value, int):
            out[name] = int(value)
    for name, value in b.config.items():
        if name not in out and (value is None or isinstance(value, (int, float, str, bool))):
            out[name] = value
    return out
