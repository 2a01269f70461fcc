"""polyrace: static proof that Triton kernels have no data races.

    import polyrace
    print(polyrace.check("add.json"))          # a launch file or a TTIR text

    with polyrace.trace() as t:                # every launch of a program, no GPU needed
        main()
    assert not any(launch.verdict.racy for launch in t.launches)

Importing this package imports neither torch nor triton, and does not load the native library.
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._version import __version__
from .errors import (InputError, InternalError, Interrupted, LibraryError, PolyraceError, RaceError)

if TYPE_CHECKING:
    from ._check import check, check_all, dump
    from ._hook import install, uninstall
    from ._launch import Launch, load, save
    from ._lib import engine_versions, interrupt, refusal_kinds
    from .scan_run import ScanResult, scan
    from ._trace import Trace, trace
    from .verdict import Access, ConfigVerdict, Loc, OutOfBounds, Race, Refusal, Verdict

# Public name -> module that holds it; loaded when first asked for.
_WHERE = {
    "check": "._check", "check_all": "._check", "dump": "._check",
    "Launch": "._launch", "load": "._launch", "save": "._launch",
    "engine_versions": "._lib", "interrupt": "._lib", "refusal_kinds": "._lib",
    "install": "._hook", "uninstall": "._hook",
    "trace": "._trace", "Trace": "._trace",
    "Access": ".verdict", "ConfigVerdict": ".verdict", "Loc": ".verdict", "OutOfBounds": ".verdict",
    "scan": ".scan_run", "ScanResult": ".scan_run",
    "Race": ".verdict", "Refusal": ".verdict", "Verdict": ".verdict",
}

__all__ = ["__version__", "InputError", "InternalError", "Interrupted", "LibraryError", "PolyraceError", "RaceError",
           *_WHERE]


def __getattr__(name: str) -> Any:
    where = _WHERE.get(name)
    if where is None:
        raise AttributeError(f"module 'polyrace' has no attribute {name!r}")
    value = getattr(importlib.import_module(where, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> "list[str]":
    return sorted(set(globals()) | set(_WHERE))
