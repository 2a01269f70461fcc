"""Launches of kernels that torch.compile generated. Inductor has a launcher of its own, `CachingAutotuner.run`, which
does not pass through Triton's runtime. It is replaced while a trace is open, also when torch loads it later.

What is used of torch is private to it, so every step may fail: the launch is then `no-compiled-kernel` with the reason.
"""
from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING, Any, Callable

from . import _triton

if TYPE_CHECKING:
    from ._record import Asked

MODULE = "torch._inductor.runtime.triton_heuristics"


class Watcher:
    """Calls back when a module has been imported. Remove it from sys.meta_path to stop."""

    def __init__(self, name: str, then: "Callable[[Any], None]"):
        self.name, self.then = name, then

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.name:
            return None
        self.stop()
        spec = importlib.util.find_spec(name)
        loader = getattr(spec, "loader", None)
        if loader is None:
            return spec
        execute = loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            self.then(module)
        try:
            loader.exec_module = exec_module
        except AttributeError:
            pass
        return spec

    def stop(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)  # type: ignore[arg-type]


def asked(tuner: Any, args: tuple, kwargs: "dict[str, Any]") -> "list[Asked]":
    """The configurations of one launch of a generated kernel."""
    from ._record import Asked
    if getattr(tuner, "fn", None) is None:
        return [Asked(None, {}, "Inductor keeps no source of this kernel here (static launcher); set "
                                "TORCHINDUCTOR_USE_STATIC_TRITON_LAUNCHER=0")]
    configs = list(tuner.configs or [r.config for r in getattr(tuner, "compile_results", [])])
    out = []
    for config in configs:
        label = {"num_warps": config.num_warps, "num_stages": config.num_stages, **config.kwargs}
        try:
            out.append(Asked(_bind(tuner, config, args, kwargs), label))
        except Exception as e:
            out.append(Asked(None, label, f"{type(e).__name__}: {_triton.first_line(e)}"))
    return out or [Asked(None, {}, "Inductor keeps no configuration of this kernel here")]


def _bind(tuner: Any, config: Any, args: tuple, kwargs: "dict[str, Any]") -> "_triton.Binding":
    meta = tuner._create_compile_meta(config)
    target = _triton.parse_target(f"{meta['device_type']}:{meta['cc']}")
    backend = _triton.backend_for(target)
    signature, constants = dict(meta["signature"]), dict(meta["constants"])
    plain = [n for n, kind in signature.items() if kind != "constexpr" and n not in constants]
    _, grid = tuner._interpret_args_grid(args, config)
    bound = {**{n: None for n in signature}, **constants, **dict(zip(plain, args)), **kwargs}
    attrs = meta["configs"][0]
    options = backend.parse_options({"num_warps": config.num_warps, "num_stages": config.num_stages})
    places = {(tuner.fn.arg_names.index(k),) if isinstance(k, str) else k: v for k, v in constants.items()}
    key = (tuner.fn.cache_key, repr(sorted(signature.items())), repr(sorted(constants.items())), repr(attrs),
           repr(vars(options)), _triton.target_name(target))
    return _triton.Binding(tuner.fn, _triton.canonical_grid(grid, {}), bound, signature, places, attrs, options, key,
                           dict(config.kwargs), target=target)
