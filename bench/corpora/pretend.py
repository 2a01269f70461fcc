"""Lets packages that insist on a CUDA device run their host code on CPU tensors.

Only what packages ask *about* the device is answered; nothing about Triton is touched (that is `polyrace.trace`).
Tensors asked for on "cuda" are made on the CPU, and uninitialised ones hold zeros: no kernel runs, so host code that
reads a result would otherwise act on whatever the memory held.
"""
import types
import warnings

import torch
from torch.overrides import TorchFunctionMode


class _Scope:
    """A context manager or stream that does nothing."""

    cuda_stream = 0

    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False

    def __getattr__(self, name):
        return lambda *args, **kwargs: None


PROPERTIES = types.SimpleNamespace(
    name="NVIDIA H100", major=9, minor=0, total_memory=80 << 30, multi_processor_count=132, warp_size=32,
    max_threads_per_multi_processor=2048, shared_memory_per_block=49152, shared_memory_per_block_optin=232448,
    shared_memory_per_multiprocessor=233472, regs_per_multiprocessor=65536, L2_cache_size=50 << 20, gcnArchName="",
)


def a_device():
    """Answers questions about the device as an H100 would."""
    warnings.filterwarnings("ignore")
    cuda = torch.cuda
    answers = {
        "is_available": True, "device_count": 1, "current_device": 0, "get_device_properties": PROPERTIES,
        "get_device_capability": (9, 0), "get_device_name": PROPERTIES.name, "is_current_stream_capturing": False,
        "mem_get_info": (70 << 30, 80 << 30), "is_bf16_supported": True, "memory_allocated": 0, "max_memory_allocated": 0,
    }
    for name, value in answers.items():
        setattr(cuda, name, lambda *args, _value=value, **kwargs: _value)
    for name in ("synchronize", "set_device", "empty_cache", "_lazy_init", "reset_peak_memory_stats", "manual_seed", "manual_seed_all"):
        setattr(cuda, name, lambda *args, **kwargs: None)
    for name in ("device", "device_of", "stream"):
        setattr(cuda, name, _Scope)
    for name in ("current_stream", "default_stream"):
        setattr(cuda, name, lambda *args, **kwargs: _Scope())
    cuda.default_generators = (torch.default_generator,)
    torch.version.cuda = "12.8"
    torch.Tensor.is_cuda = property(lambda self: True)
    torch.Tensor.cuda = lambda self, *args, **kwargs: self
    for name in ("device", "stream"):
        setattr(torch.cpu, name, _Scope)
    _dispatch_on_cpu()
    plain = lambda fn=None, **kwargs: fn if fn else (lambda g: g)  # noqa: E731
    torch.amp.custom_fwd = torch.amp.custom_bwd = cuda.amp.custom_fwd = cuda.amp.custom_bwd = plain


def _dispatch_on_cpu():
    """Operators that a package registers for CUDA only are registered for the CPU instead."""
    define, implement = torch.library.custom_op, torch.library.Library.impl

    def custom_op(*args, **kwargs):
        if kwargs.get("device_types") is not None:
            kwargs["device_types"] = None
        return define(*args, **kwargs)

    def impl(self, op_name, fn, dispatch_key="", **kwargs):
        return implement(self, op_name, fn, "CPU" if dispatch_key == "CUDA" else dispatch_key, **kwargs)

    torch.library.custom_op = custom_op
    torch.library.Library.impl = impl


def _cpu(device):
    if isinstance(device, int) and not isinstance(device, bool):
        return torch.device("cpu")
    if isinstance(device, str) and device.startswith("cuda"):
        return torch.device("cpu")
    if isinstance(device, torch.device) and device.type == "cuda":
        return torch.device("cpu")
    return device


_EMPTY = {torch.empty, torch.empty_like, torch.empty_strided, torch.Tensor.new_empty, torch.Tensor.new_empty_strided}


class OnCpu(TorchFunctionMode):
    """Inside it every tensor asked for on a CUDA device is made on the CPU."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if "device" in kwargs:
            kwargs["device"] = _cpu(kwargs["device"])
        if kwargs.get("pin_memory"):
            kwargs["pin_memory"] = False
        if func is torch.Tensor.to:
            args = (args[0], *(_cpu(a) if isinstance(a, (str, torch.device)) else a for a in args[1:]))
        result = func(*args, **kwargs)
        if func in _EMPTY and isinstance(result, torch.Tensor) and result.device.type == "cpu":
            result.detach().zero_()
        return result
