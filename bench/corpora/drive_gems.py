"""flag-gems: its ATen operators, called with the sample inputs of PyTorch's own operator database.

A dispatch mode sends every ATen call that flag_gems registers to the package's implementation first, then to PyTorch
for the result. Two samples an operator and dtype are kept.
"""
import os

import torch
from torch.utils._python_dispatch import TorchDispatchMode

os.environ.setdefault("GEMS_VENDOR", "nvidia")
DTYPES = (torch.float32, torch.int64, torch.bool)


def _plain_pointers():
    """Its generated pointwise kernels use block pointers in a way that Triton 3.8 does not compile; plain pointers are
    the package's own alternative."""
    import gc

    from flag_gems.utils.codegen_config_utils import CodeGenConfig

    made = CodeGenConfig.__post_init__

    def post_init(self):
        made(self)
        self.prefer_block_pointer = False

    CodeGenConfig.__post_init__ = post_init
    for x in gc.get_objects():
        if isinstance(x, CodeGenConfig):
            x.prefer_block_pointer = False


def calls():
    import importlib

    import flag_gems
    from torch.testing._internal.common_methods_invocations import op_db

    # Its tuner and launch cache stand between the operators and Triton; without them the launches are the plain ones.
    entry = importlib.import_module("flag_gems.utils.libentry")
    entry.LibEntry.run = lambda self, *args, **kwargs: (self.fn.run(*args, **kwargs), {})
    from triton.runtime.autotuner import Autotuner

    entry.LibTuner.run = Autotuner.run
    _plain_pointers()
    operators = {item[0]: item[1] for item in flag_gems._FULL_CONFIG}
    count = {}

    class Gems(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            name, overload = func._schema.name.split("::")[1], func._overloadname
            key = name if overload in ("", "default") else name + "." + overload
            operator = operators.get(key)
            if operator is not None and count.get(key, 0) < 6:
                count[key] = count.get(key, 0) + 1
                try:
                    operator(*args, **kwargs)
                except Exception:
                    pass  # a sample that the package's operator refuses
            return func(*args, **kwargs)

    def samples(op, dtype):
        def call():
            for i, s in enumerate(op.sample_inputs("cpu", dtype, requires_grad=False)):
                if i == 2:
                    return
                with Gems():
                    op(s.input, *s.args, **s.kwargs)

        return call

    for dtype in DTYPES:
        for op in op_db:
            if dtype in op.dtypes:
                yield "%s %s" % (op.name, str(dtype)[6:]), samples(op, dtype)
