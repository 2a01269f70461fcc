#!/usr/bin/env python3
"""Runs the Python tests; skipped as a whole without pytest, in parts without torch or triton.

    run.py            everything, in several processes and in random order where the plugins are installed
    run.py --serial   the tests of the package itself, one after another in order
"""
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SERIAL = ("test_core.py", "test_trace.py", "test_table.py")


def has(name):
    return importlib.util.find_spec(name) is not None


def main() -> int:
    if not has("pytest"):
        print("skipped: pytest is not installed (scripts/test.sh installs it)")
        return 77
    for name in ("torch", "triton"):
        if not has(name):
            print(f"note: {name} is not installed; the tests that launch kernels are skipped")
    args = [a for a in sys.argv[1:] if a != "--serial"]
    common = ["-q", "-p", "no:cacheprovider", "-p", "no:warnings"]
    if "--serial" in sys.argv:
        off = [x for name, x in (("pytest_randomly", "no:randomly"), ("xdist", "no:xdist")) if has(name)]
        common += [y for x in off for y in ("-p", x)] + [os.path.join(HERE, f) for f in SERIAL]
    else:
        common += (["-n", "4"] if has("xdist") else []) + [HERE]
    import pytest
    return int(pytest.main(common + args))


if __name__ == "__main__":
    sys.exit(main())
