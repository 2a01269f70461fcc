"""POLYRACE=warn|error|collect for a program that never imports polyrace (imported by polyrace.pth).

Triton is not imported here: the pre-screen is installed when the program imports it.
"""
from __future__ import annotations

import os
import sys
from typing import Any


class _WhenImported:
    """Finds `triton` as usual and installs the pre-screen behind its import."""

    def __init__(self, policy: str):
        self.policy = policy

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "triton":
            return None
        sys.meta_path.remove(self)  # type: ignore[arg-type]
        import importlib.util
        spec = importlib.util.find_spec(name)
        loader = getattr(spec, "loader", None)
        if spec is None or loader is None:
            return spec
        execute = loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            _install(self.policy)
        try:
            loader.exec_module = exec_module  # type: ignore[method-assign]
        except AttributeError:
            _say("Triton is loaded in a way that cannot be hooked; the pre-screen is off")
        return spec


def _say(text: str) -> None:
    sys.stderr.write(f"polyrace: {text}\n")


def _install(policy: str) -> None:
    try:
        from ._hook import install
        install(policy)
    except Exception as e:  # never breaks the program
        _say(f"the pre-screen is off: {type(e).__name__}: {e}")


def activate() -> None:
    value = os.environ.get("POLYRACE", "").strip().lower()
    if value in ("", "0", "off"):
        return
    policy = {"1": "warn", "on": "warn"}.get(value, value)
    if policy not in ("warn", "error", "collect"):
        _say(f"POLYRACE={value} is not known; use warn, error, collect or 0")
        return
    if not os.environ.get("POLYRACE_SPOOL"):  # before any worker starts, so that all report here
        import tempfile
        os.environ["POLYRACE_SPOOL"] = os.path.join(tempfile.gettempdir(),
                                                    f"polyrace-spool-{os.getpid()}-{os.urandom(8).hex()}")
    if "triton" in sys.modules:
        _install(policy)
    else:
        sys.meta_path.insert(0, _WhenImported(policy))  # type: ignore[arg-type]


activate()
