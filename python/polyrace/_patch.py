"""Where Triton launches kernels, and putting everything back.

Replaced while a trace is open: `JITFunction.run`, `Autotuner.run`, `InterpretedFunction.run`,
`CompiledKernel.__getitem__`, Inductor's launcher, and with `pretend_device` Triton's active driver. The innermost open trace
gets the launches. What was replaced is put back when the last trace closes, whatever the order.
"""
from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Any

from . import _inductor, _triton

if TYPE_CHECKING:
    from ._trace import Trace

_lock = threading.RLock()
_open: "list[Trace]" = []
_saved: "list[tuple[Any, str, bool, Any]]" = []


_watcher: "_inductor.Watcher | None" = None


class _Local(threading.local):
    inside = False  # the original code runs below us: its launches are already recorded
    group: Any = None  # an autotuner collects its configurations here


local = _Local()


_forked = False


def _after_fork() -> None:
    global _forked
    _forked = bool(_open)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def current() -> "Trace | None":
    """The trace that gets this thread's launches."""
    if local.inside or not _open:
        return None
    if _forked:  # the parent's results are out of reach
        _open[-1].printer.forked()
        return None
    return _open[-1]


class inside:
    """Below this nothing is recorded."""

    def __enter__(self) -> None:
        self.was, local.inside = local.inside, True

    def __exit__(self, *_: Any) -> None:
        local.inside = self.was


class HostDriver:
    """Stands in for the active driver where there is no device, so that programs that ask for the current target
    get the trace's. It launches nothing."""

    def __init__(self, target: Any):
        self.target = target
        self.utils = self

    def get_current_target(self) -> Any:
        return self.target

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        pass

    def get_current_stream(self, device: Any = None) -> int:
        return 0

    def get_active_torch_device(self) -> Any:
        import torch
        return torch.device("cpu")

    def get_device_properties(self, device: int = 0) -> "dict[str, int]":
        return {"max_shared_mem": 232448, "max_num_regs": 65536, "multiprocessor_count": 108, "warpSize": 32,
                "sm_clock_rate": 1410000, "mem_clock_rate": 1215000, "mem_bus_width": 5120}

    def get_benchmarker(self) -> Any:
        def once(call: Any, quantiles: Any = None, **_: Any) -> Any:
            call()
            return [1.0] * len(quantiles) if quantiles else 1.0
        return once

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"no device: the driver's {name} is not available while polyrace analyses on the host")


def _replace(owner: Any, name: str, value: Any) -> None:
    own = name in vars(owner)
    _saved.append((owner, name, own, vars(owner).get(name)))
    setattr(owner, name, value)


def _restore() -> None:
    global _watcher
    if _watcher is not None:
        _watcher.stop()
        _watcher = None
    while _saved:
        owner, name, own, value = _saved.pop()
        if own:
            setattr(owner, name, value)
        else:
            delattr(owner, name)


def open_trace(trace: "Trace") -> None:
    with _lock:
        _open.append(trace)
        if len(_open) == 1:
            try:
                _install(trace)
            except BaseException:
                _open.remove(trace)
                _restore()
                raise


def close_trace(trace: "Trace") -> None:
    with _lock:
        if trace in _open:
            _open.remove(trace)
        if not _open:
            _restore()


def _install(trace: "Trace") -> None:
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction
    from triton.compiler.compiler import CompiledKernel
    from triton.runtime.driver import driver

    jit_run, tuner_run, kernel_item = JITFunction.run, Autotuner.run, CompiledKernel.__getitem__

    def run(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        t = current()
        if t is None:
            return jit_run(self, *args, grid=grid, warmup=warmup, **kwargs)
        return t.recorder.jit(self, args, kwargs, grid, warmup, lambda: jit_run(self, *args, grid=grid, warmup=warmup,
                                                                              **kwargs))

    def tune(self: Any, *args: Any, **kwargs: Any) -> Any:
        t = current()
        if t is None:
            return tuner_run(self, *args, **kwargs)
        return t.recorder.tuner(self, args, kwargs, lambda: tuner_run(self, *args, **kwargs))

    def item(self: Any, grid: Any) -> Any:
        t = current()
        if t is None:
            return kernel_item(self, grid)
        return lambda *args, stream=None: t.recorder.compiled(
            self, grid, args, lambda: kernel_item(self, grid)(*args, stream=stream))

    _replace(JITFunction, "run", run)
    _replace(Autotuner, "run", tune)
    _replace(CompiledKernel, "__getitem__", item)
    try:
        from triton.runtime.interpreter import InterpretedFunction
    except Exception:  # needs numpy; without it nothing can be interpreted
        InterpretedFunction = None
    if InterpretedFunction is not None:
        interpreted_run = InterpretedFunction.run

        def interpret(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
            t = current()
            if t is None:
                return interpreted_run(self, *args, grid=grid, warmup=warmup, **kwargs)
            return t.recorder.interpreted(self, args, kwargs, grid, warmup,
                                          lambda: interpreted_run(self, *args, grid=grid, warmup=warmup, **kwargs))
        _replace(InterpretedFunction, "run", interpret)
    _watch_inductor()
    if trace.device is None and trace.pretend_device:
        _replace(driver, "_active", HostDriver(trace.target))


def _watch_inductor() -> None:
    """Inductor's launcher, now or when torch loads it while a trace is open."""
    global _watcher
    module = sys.modules.get(_inductor.MODULE)
    if module is not None:
        _replace_inductor(module)
        return

    def loaded(module: Any) -> None:
        with _lock:
            if _open:
                _replace_inductor(module)
    _watcher = _inductor.Watcher(_inductor.MODULE, loaded)
    sys.meta_path.insert(0, _watcher)  # type: ignore[arg-type]


def _replace_inductor(module: Any) -> None:
    tuner = getattr(module, "CachingAutotuner", None)
    original = getattr(tuner, "run", None)
    if original is None:
        return

    def run(self: Any, *args: Any, stream: Any = None, **kwargs: Any) -> Any:
        t = current()
        if t is None:
            return original(self, *args, stream=stream, **kwargs)
        return t.recorder.inductor(self, args, {k: v for k, v in kwargs.items() if k != "benchmark_run"},
                                   lambda: original(self, *args, stream=stream, **kwargs))
    _replace(tuner, "run", run)
