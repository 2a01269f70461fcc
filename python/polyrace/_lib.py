"""The native library through ctypes (docs/decisions/0010-python-binding.md).

Invariants
- Every call that analyses runs without the interpreter lock (ctypes.CDLL releases it).
- A context belongs to one thread at a time: each thread has its own, made on first use.
- Only documents and texts cross the border; no handle outlives the call that made it.
"""
from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import difflib
import os
import threading
from typing import Any, Iterator, Mapping

from .errors import InputError, InternalError, Interrupted, LibraryError, PolyraceError

_OK, _BAD_INPUT, _LIMIT, _USAGE, _IO, _MEMORY, _INTERRUPTED, _INTERNAL = range(8)
FORMAT_TEXT, FORMAT_JSON, FORMAT_JSONL, FORMAT_STATS = 0, 1, 2, 0x200
STAGES = ("parse", "access", "records", "query", "isl", "smt2", "verdict")


class _Error(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("line", ctypes.c_int), ("column", ctypes.c_int),
                ("file", ctypes.c_char * 160), ("message", ctypes.c_char * 240)]


class _Options(ctypes.Structure):
    # Fields not set through polyrace_options_set: grid, assume, source_dir and cache_dir.
    _fields_ = ([("struct_size", ctypes.c_size_t)]
                + [(n, ctypes.c_int) for n in ("engine", "rung", "atomic_order", "dep_order", "program_order",
                                               "no_pretest", "cross_check", "accept_premises")]
                + [(n, ctypes.c_int64) for n in ("budget_ms", "t0_timeout_ms", "t1_timeout_ms", "max_ops", "first_ops",
                                                 "z3_rlimit", "max_leaves", "max_nesting", "max_text",
                                                 "snapshot_elements", "snapshot_bytes")]
                + [("grid", ctypes.c_int64 * 3), ("assume", ctypes.POINTER(ctypes.c_char_p)),
                   ("n_assume", ctypes.c_size_t), ("pair", ctypes.c_int64), ("source_dir", ctypes.c_char_p),
                   ("no_explain", ctypes.c_int), ("cache_dir", ctypes.c_char_p), ("no_cache", ctypes.c_int),
                   ("later", ctypes.c_char * 1024)])  # type: ignore[assignment]  # room for fields that a newer library appends


_WRITE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)


class _Sink(ctypes.Structure):
    _fields_ = [("write", _WRITE), ("user", ctypes.c_void_p)]


def _candidates() -> Iterator[str]:
    chosen = os.environ.get("POLYRACE_LIBRARY")
    if chosen:
        yield chosen
        return
    here = os.path.dirname(os.path.abspath(__file__))
    for name in ("libpolyrace.so", "libpolyrace.so.0"):
        path = os.path.join(here, name)
        if os.path.exists(path):
            yield path
    yield "libpolyrace.so.0"


def _open() -> ctypes.CDLL:
    reasons = []
    for path in _candidates():
        try:
            lib = ctypes.CDLL(path)
            break
        except OSError as e:
            reasons.append(str(e))
    else:
        raise LibraryError("the native library of polyrace cannot be loaded: " + "; ".join(reasons)
                           + ". Reinstall the package, or set POLYRACE_LIBRARY to libpolyrace.so")
    p, s, c, i = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_int
    err, opt, sink = ctypes.POINTER(_Error), ctypes.POINTER(_Options), ctypes.POINTER(_Sink)
    for name, result, arguments in (
            ("context_new", p, []), ("context_free", None, [p]), ("interrupt", None, [p]),
            ("options_init", None, [opt]), ("options_set", i, [opt, c, c, err]),
            ("module_parse_with", p, [p, c, s, c, opt, err]), ("module_parse_ttgir", p, [p, c, s, c, opt, err]), ("module_free", None, [p]),
            ("launch_parse_named", p, [p, c, s, c, c, i, err]), ("launch_count", s, [p]),
            ("launch_item", p, [p, s, err]), ("launch_free", None, [p]),
            ("check", p, [p, p, p, opt, err]),
            ("explain", i, [p, p, p, opt, i, sink, ctypes.POINTER(i), err]), ("dump", i, [p, p, p, opt, i, sink, err]),
            ("verdict_write", i, [p, i, sink, err]), ("verdict_free", None, [p]),
            ("version", c, []), ("engine_version", c, [c]),
            ("refusal_slug", c, [s]), ("refusal_meaning", c, [c]), ("refusal_advice", c, [c])):
        try:
            f = getattr(lib, "polyrace_" + name)
        except AttributeError:
            raise LibraryError(f"{path} is not a polyrace library of this release: polyrace_{name} is missing")
        f.restype, f.argtypes = result, arguments
    return lib


_load_lock = threading.Lock()
_library: "ctypes.CDLL | None" = None


def library() -> ctypes.CDLL:
    """The library, loaded on first use."""
    global _library
    if _library is None:
        with _load_lock:
            if _library is None:
                _library = _open()
    return _library


# ---- contexts --------------------------------------------------------------------------------------------
class _Context:
    """One native context; freed with the thread that made it."""

    def __init__(self) -> None:
        self.handle = library().polyrace_context_new()
        if not self.handle:
            raise MemoryError("polyrace: out of memory")
        self.pid = os.getpid()
        self.running = False

    def __del__(self) -> None:
        handle, self.handle = getattr(self, "handle", None), None
        if handle and _library is not None and self.pid == os.getpid():
            _library.polyrace_context_free(handle)


_local = threading.local()
_running: "set[_Context]" = set()
_running_lock = threading.Lock()


def _after_fork() -> None:
    global _local, _running_lock
    _local = threading.local()
    _running.clear()
    _running_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _context() -> _Context:
    c = getattr(_local, "context", None)
    if c is None:
        c = _local.context = _Context()
    return c


@contextlib.contextmanager
def _busy(c: _Context) -> Iterator[None]:
    with _running_lock:
        _running.add(c)
    try:
        yield
    finally:
        with _running_lock:
            _running.discard(c)


def interrupt() -> None:
    """Ends every analysis that runs in this process now; each raises Interrupted in its own thread."""
    with _running_lock:
        for c in _running:
            library().polyrace_interrupt(c.handle)


# ---- errors and options ----------------------------------------------------------------------------------
def _raise(err: _Error) -> None:
    message = err.message.decode("utf-8", "replace")
    file = err.file.decode("utf-8", "replace")
    if err.kind == _INTERRUPTED:
        raise Interrupted(message)
    if err.kind == _MEMORY:
        raise MemoryError(f"polyrace: {message}")
    if err.kind == _INTERNAL:
        raise InternalError(message)
    if err.kind == _USAGE:
        raise TypeError(message)
    if err.kind in (_BAD_INPUT, _LIMIT, _IO):
        raise InputError(message, file, err.line, err.column)
    raise PolyraceError(message or "failed without a reason")


OPTION_NAMES = ("accept_premises", "assume", "atomic_order", "budget", "cache", "check_membar", "cross_check", "dep_order", "engine",
                "first_ops", "grid", "max_k", "max_leaves", "max_memory", "max_nesting", "max_ops", "max_text", "no_cache", "no_pretest",
                "pair",
                "program_order", "rung", "snapshot_bytes", "snapshot_elements", "source_dir", "strict_gluon", "t0_timeout",
                "t1_timeout", "ttgir_stage", "z3_rlimit")
"""Options of `check`, `trace` and `install`: the long options of `polyrace check` with underscores."""


class Options:
    """Options in native form. Wrong names and values raise TypeError and say what is right."""

    def __init__(self, given: Mapping[str, Any]):
        self.native = _Options()
        self._keep: list = []
        library().polyrace_options_init(ctypes.byref(self.native))
        self.size = self.native.struct_size
        if self.size > ctypes.sizeof(_Options) or self.size <= _Options.source_dir.offset:
            raise LibraryError(f"the native library's options have {self.size} bytes; this package does not fit it")
        self.native.struct_size = self.size
        for name, value in given.items():
            self._set(name, value)

    def _set(self, name: str, value: Any) -> None:
        if name == "grid":
            extents = [value] if isinstance(value, int) else list(value)
            if not 1 <= len(extents) <= 3 or not all(isinstance(e, int) and e >= 1 for e in extents):
                raise TypeError(f"grid: one to three positive integers expected, got {value!r}")
            for k, e in enumerate(extents + [1] * (3 - len(extents))):
                self.native.grid[k] = e
        elif name == "assume":
            texts = [value] if isinstance(value, str) else list(value)
            array = (ctypes.c_char_p * len(texts))(*[t.encode() for t in texts])
            self._keep.append(array)
            self.native.assume = ctypes.cast(array, ctypes.POINTER(ctypes.c_char_p))
            self.native.n_assume = len(texts)
        elif name == "source_dir":
            self.native.source_dir = os.fsencode(value)
        elif name == "cache":
            self.native.cache_dir = None if value is None else os.fsencode(value)
        elif name not in OPTION_NAMES:
            near = difflib.get_close_matches(name, OPTION_NAMES, 1)
            raise TypeError(f"unknown option {name!r}" + (f"; did you mean {near[0]!r}?" if near else
                                                          f"; options are {', '.join(OPTION_NAMES)}"))
        else:
            text = str(int(value)) if isinstance(value, bool) else "none" if value is None else str(value)
            err = _Error()
            if library().polyrace_options_set(ctypes.byref(self.native), name.replace("_", "-").encode(),
                                              text.encode(), ctypes.byref(err)) != _OK:
                raise TypeError(err.message.decode("utf-8", "replace"))


# ---- analysis --------------------------------------------------------------------------------------------
class _Text:
    """Collects what the library writes."""

    def __init__(self) -> None:
        self.parts: list = []
        self.write = _WRITE(lambda user, text, n: self.parts.append(ctypes.string_at(text, n)))
        self.sink = _Sink(self.write, None)

    def text(self) -> str:
        return b"".join(self.parts).decode("utf-8", "replace")


class Inputs:
    """A text, a launch document or both, read in this thread's context for the length of a `with`."""

    def __init__(self, options: Options, ttir: "bytes | None" = None, name: str = "kernel.ttir",
                 launch: "bytes | None" = None, launch_name: str = "launch", base_dir: str = "", lines: bool = False,
                 ttgir: bool = False):
        self.options, self.ttir, self.name, self.ttgir = options, ttir, name, ttgir
        self.document, self.launch_name, self.base_dir, self.lines = launch, launch_name, base_dir, lines

    def __enter__(self) -> "Inputs":
        lib, self.c = library(), _context()
        err = _Error()
        self.module = self.launch = None
        opt = ctypes.byref(self.options.native)
        if self.ttir is not None:
            parse = lib.polyrace_module_parse_ttgir if self.ttgir else lib.polyrace_module_parse_with
            self.module = parse(self.c.handle, self.ttir, len(self.ttir), os.fsencode(self.name), opt, ctypes.byref(err))
            if not self.module:
                _raise(err)
        if self.document is not None:
            self.launch = lib.polyrace_launch_parse_named(
                self.c.handle, self.document, len(self.document), os.fsencode(self.launch_name),
                os.fsencode(self.base_dir), int(self.lines), ctypes.byref(err))
            if not self.launch:
                if self.module:
                    lib.polyrace_module_free(self.module)
                _raise(err)
        return self

    def __exit__(self, *_: Any) -> None:
        if self.module:
            library().polyrace_module_free(self.module)
        if self.launch:
            library().polyrace_launch_free(self.launch)

    def count(self) -> int:
        """Launches in the document."""
        return library().polyrace_launch_count(self.launch) if self.launch else 1

    def item(self, index: int) -> Any:
        if not self.launch:
            return None
        if self.count() == 1 and index == 0:
            return self.launch
        err = _Error()
        item = library().polyrace_launch_item(self.launch, index, ctypes.byref(err))
        if not item:
            _raise(err)
        return item

    def check(self, index: int = 0, stats: bool = False) -> "tuple[str, str]":
        """The verdict document and the text report of one launch."""
        lib, err = library(), _Error()
        item = self.item(index)
        with _busy(self.c):
            v = lib.polyrace_check(self.c.handle, self.module, item, ctypes.byref(self.options.native),
                                   ctypes.byref(err))
        if not v:
            _raise(err)
        try:
            out = []
            for form in (FORMAT_JSONL, FORMAT_TEXT | (FORMAT_STATS if stats else 0)):
                text = _Text()
                if lib.polyrace_verdict_write(v, form, ctypes.byref(text.sink), ctypes.byref(err)) != _OK:
                    _raise(err)
                out.append(text.text())
            return out[0], out[1]
        finally:
            lib.polyrace_verdict_free(v)

    def explain(self, index: int = 0) -> str:
        """The document of `polyrace explain --format=json` of one launch."""
        err, text, status = _Error(), _Text(), ctypes.c_int()
        item = self.item(index)
        with _busy(self.c):
            result = library().polyrace_explain(self.c.handle, self.module, item, ctypes.byref(self.options.native),
                                                FORMAT_JSON, ctypes.byref(text.sink), ctypes.byref(status), ctypes.byref(err))
        if result != _OK:
            _raise(err)
        return text.text()

    def dump(self, stage: str, index: int = 0) -> str:
        """One stage of the analysis as text (docs/dumps.md)."""
        if stage not in STAGES:
            raise TypeError(f"unknown stage {stage!r}; stages are {', '.join(STAGES)}")
        err, text = _Error(), _Text()
        item = self.item(index)
        with _busy(self.c):
            status = library().polyrace_dump(self.c.handle, self.module, item, ctypes.byref(self.options.native),
                                             STAGES.index(stage), ctypes.byref(text.sink), ctypes.byref(err))
        if status != _OK:
            _raise(err)
        return text.text()


def version() -> str:
    """Version of the native library."""
    return library().polyrace_version().decode()


def engine_versions() -> "dict[str, str]":
    """Versions of the engines that the native library was built with."""
    out = {}
    for name in ("isl", "z3"):
        v = library().polyrace_engine_version(name.encode())
        if v:
            out[name] = v.decode().strip()
    return out


def refusal_kinds() -> "dict[str, tuple[str, str]]":
    """The closed list of refusal kinds: slug -> (meaning, advice)."""
    lib, k = library(), 0
    out: "dict[str, tuple[str, str]]" = {}
    while True:
        slug = lib.polyrace_refusal_slug(k)
        if not slug:
            return out
        out[slug.decode()] = ((lib.polyrace_refusal_meaning(slug) or b"").decode(),
                              (lib.polyrace_refusal_advice(slug) or b"").decode())
        k += 1
