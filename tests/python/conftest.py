"""Shared by the Python tests: where the corpus lies, and a library to load."""
import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
KERNELS = os.path.join(ROOT, "tests", "kernels", "ttir")
sys.path.insert(0, HERE)


@pytest.fixture
def kernels():
    """Folder of the corpus: NAME.ttir and NAME.json."""
    return KERNELS
