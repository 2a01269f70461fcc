#!/usr/bin/env python3
"""Runs the Python tests; skipped as a whole without pytest, in parts without torch or triton."""
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def main() -> int:
    if importlib.util.find_spec("pytest") is None:
        print("skipped: pytest is not installed (scripts/test.sh installs it)")
        return 77
    for name in ("torch", "triton"):
        if importlib.util.find_spec(name) is None:
            print(f"note: {name} is not installed; the tests that launch kernels are skipped")
    import pytest
    return int(pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:], HERE]))


if __name__ == "__main__":
    sys.exit(main())
