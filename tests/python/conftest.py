"""Shared by the Python tests: where the corpus lies, kernels, and a machine without a device."""
import os
import sys
import tempfile

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
KERNELS = os.path.join(ROOT, "tests", "kernels", "ttir")
sys.path.insert(0, HERE)

os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["HIP_VISIBLE_DEVICES"] = ""
os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp(prefix="polyrace-test-cache-"))
for name in ("POLYRACE", "POLYRACE_TARGET", "POLYRACE_VERBOSE", "TRITON_INTERPRET"):
    os.environ.pop(name, None)
pytest_plugins = ["pytester"]


@pytest.fixture
def kernels():
    """Folder of the corpus: NAME.ttir and NAME.json."""
    return KERNELS


@pytest.fixture
def env(tmp_path):
    """Environment of a child process that finds this package and the helpers of the tests."""
    import polyrace
    out = dict(os.environ)
    source = os.path.dirname(os.path.dirname(os.path.abspath(polyrace.__file__)))
    out["PYTHONPATH"] = os.pathsep.join([HERE, source])
    out["TRITON_CACHE_DIR"] = str(tmp_path / "cache")
    return out
