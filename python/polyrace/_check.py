"""polyrace.check: decide one text or launch. The analysis runs in a worker thread so that Ctrl-C ends it."""
from __future__ import annotations

import concurrent.futures
import json
import os
import threading
from typing import Any, Callable, Mapping, TypeVar, Union

from . import _lib
from .errors import InputError, PolyraceError
from .verdict import Verdict

Path = Union[str, "os.PathLike[str]"]
LaunchLike = Union[None, Mapping[str, Any], Path]
T = TypeVar("T")

_pool: "concurrent.futures.ThreadPoolExecutor | None" = None
_pool_lock = threading.Lock()


def _after_fork() -> None:
    global _pool, _pool_lock
    _pool, _pool_lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def interruptible(work: Callable[[], T]) -> T:
    """Runs `work` so that Ctrl-C reaches Python while native code computes: the main thread waits, a helper works."""
    global _pool
    if threading.current_thread() is not threading.main_thread():
        return work()
    with _pool_lock:
        if _pool is None:
            _pool = concurrent.futures.ThreadPoolExecutor(1, "polyrace-check")
    future = _pool.submit(work)
    try:
        return future.result()
    except KeyboardInterrupt:
        if not future.done():
            _lib.interrupt()
            concurrent.futures.wait([future])
        raise


def _read(path: Path) -> bytes:
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError as e:
        raise InputError(e.strerror or str(e), os.fspath(path)) from None


def _is_path(value: Any) -> bool:
    """A path, as opposed to a text: a text has line breaks or braces."""
    return isinstance(value, os.PathLike) or (isinstance(value, str) and "\n" not in value and "{" not in value)


def _level(level: "str | None", name: str, kind: str) -> bool:
    """Is a text TTGIR? As `level` says, else as its path or name ends."""
    if level is not None and level not in ("ttir", "ttgir"):
        raise TypeError(f'level is "ttir" or "ttgir", not {level!r}')
    return level == "ttgir" if level is not None else kind == "ttgir" or name.lower().endswith(".ttgir")


def inputs(ttir: "Path | bytes | Mapping[str, Any]", launch: LaunchLike = None, *, name: "str | None" = None,
           level: "str | None" = None, options: "Mapping[str, Any] | None" = None) -> _lib.Inputs:
    """What `check` accepts, as native inputs. `ttir`: a TTIR or TTGIR text, a path to .ttir, .ttgir, .json or .jsonl,
    or a launch (a mapping in the form of the launch file)."""
    given = _lib.Options(dict(options or {}))
    text: "bytes | None" = None
    text_name, kind = name or f"kernel.{level or 'ttir'}", "ttir"
    if isinstance(ttir, Mapping):
        if launch is not None:
            raise TypeError("check(launch) takes one mapping; for a text with a launch use check(text, launch)")
        return _lib.Inputs(given, launch=json.dumps(ttir).encode(), launch_name=name or str(ttir.get("kernel", "launch")))
    if _is_path(ttir):
        path = str(os.fspath(ttir))  # type: ignore[arg-type]
        kind = os.path.splitext(path)[1].lower().lstrip(".")
        text, text_name = _read(path), name or path
        if kind in ("json", "jsonl"):
            if launch is not None:
                raise TypeError(f"{path} is a launch file already; for a text with a launch use check(text, launch)")
            return _lib.Inputs(given, launch=text, launch_name=text_name, base_dir=os.path.dirname(path),
                               lines=kind == "jsonl")
    elif isinstance(ttir, (str, bytes)):
        text = ttir.encode() if isinstance(ttir, str) else ttir
    elif callable(ttir):
        raise TypeError("check takes a TTIR text or a path, not a Python function; to analyse the launches of a "
                        "program use polyrace.trace() or polyrace-run SCRIPT")
    else:
        raise TypeError(f"check takes a TTIR text, a path or a launch mapping, not {type(ttir).__name__}")
    gpu = _level(level, text_name, kind)
    if launch is None:
        return _lib.Inputs(given, ttir=text, name=text_name, ttgir=gpu)
    if isinstance(launch, Mapping):
        return _lib.Inputs(given, ttir=text, name=text_name, ttgir=gpu, launch=json.dumps(launch).encode(),
                           launch_name=str(launch.get("kernel", "launch")))
    if isinstance(launch, str) and not _is_path(launch):
        return _lib.Inputs(given, ttir=text, name=text_name, ttgir=gpu, launch=launch.encode())
    if not isinstance(launch, (str, os.PathLike)):
        raise TypeError(f"launch is a mapping, a JSON text or a path, not {type(launch).__name__}")
    path = os.fspath(launch)
    return _lib.Inputs(given, ttir=text, name=text_name, ttgir=gpu, launch=_read(path), launch_name=path,
                       base_dir=os.path.dirname(path), lines=path.endswith(".jsonl"))


def _verdict(pair: "tuple[str, str]") -> Verdict:
    return Verdict.from_dict(json.loads(pair[0]), text=pair[1])


def check(ttir: "Path | bytes | Mapping[str, Any]", launch: LaunchLike = None, *, name: "str | None" = None,
          level: "str | None" = None, **options: Any) -> Verdict:
    """Decides one kernel.

    `ttir` is a TTIR or TTGIR text, a path to a `.ttir`, `.ttgir` or launch file, or a launch as a mapping. A text is TTGIR
    (shared memory, tensor memory, barriers) when its path or `name` ends with `.ttgir`, or `level="ttgir"` says so. `launch`
    binds a text: a mapping, a JSON text or a path; without one only what holds for every launch is claimed. Options are
    those of `polyrace check` with underscores, for example `engine="isl"`, `rung="t0"`, `budget=50`.

    Bad input raises `InputError`, a wrong call `TypeError`. An undecided kernel is a verdict, not an exception.
    """
    given = inputs(ttir, launch, name=name, level=level, options=options)

    def work() -> "tuple[str, str]":
        with given as g:
            n = g.count()
            if n != 1:
                raise PolyraceError(f"{g.launch_name} holds {n} launches; use polyrace.check_all")
            return g.check()
    return _verdict(interruptible(work))


def check_all(source: "Path | Mapping[str, Any]", **options: Any) -> "list[Verdict]":
    """Decides every launch of a launch file, a `.jsonl` or a saved trace, in order."""
    given = inputs(source, options=options)

    def work() -> "list[tuple[str, str]]":
        with given as g:
            return [g.check(k) for k in range(g.count())]
    return [_verdict(p) for p in interruptible(work)]


def dump(ttir: "Path | bytes | Mapping[str, Any]", launch: LaunchLike = None, *, stage: str, level: "str | None" = None,
         **options: Any) -> str:
    """One stage of the analysis as text (docs/dumps.md): parse, access, records, query, isl, smt2 or verdict."""
    given = inputs(ttir, launch, level=level, options=options)

    def work() -> str:
        with given as g:
            return g.dump(stage)
    return interruptible(work)
