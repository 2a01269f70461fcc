"""Pretends that there is a device: Triton compiles for it and launches nothing. For tests of the launch path."""
from triton.backends.compiler import GPUTarget
from triton.runtime.driver import driver

ran = []
"""(kernel, grid) of every launch."""
actions = {}
"""kernel -> what its launch does to the arguments, so that a test can execute one on the host."""


class Utils:
    def get_device_properties(self, device):
        return {"max_shared_mem": 1 << 20, "multiprocessor_count": 108}

    def load_binary(self, name, kernel, shared, device):
        return 1, 2, 32, 0, 1024

    def unload_module(self, module):
        pass


class Device:
    utils = Utils()

    @staticmethod
    def is_active():
        return True

    def get_current_target(self):
        return GPUTarget("cuda", 80, 32)

    def get_current_device(self):
        return 0

    def get_current_stream(self, device=None):
        return 0

    def set_current_device(self, device):
        pass

    def launcher_cls(self, src, metadata):
        def launch(x, y, z, *rest):
            ran.append((metadata.name, (x, y, z)))
            if metadata.name in actions:
                actions[metadata.name](*rest[6:])
        return launch


def install():
    """Makes this the machine's device; returns what was there."""
    before = driver._active
    driver.set_active(Device())
    return before


def pretend():
    """As install, for a process that also asks which back ends are active."""
    from triton.backends import backends
    object.__setattr__(backends["nvidia"], "driver", Device)
    install()
