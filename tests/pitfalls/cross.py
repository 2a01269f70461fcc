#!/usr/bin/env python3
"""--cross-check over suites of this form: cross.py PROGRAM [--every=N] SUITE... Every engine is asked about every query, and they agree;
each suite runs in a process of its own (its cases come from its kernels.py). --every=N: the cases N apart, from another one in each suite."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    program, *rest = sys.argv[1:]
    every = next((int(a[8:]) for a in rest if a.startswith("--every=")), 1)
    failed = 0
    for number, suite in enumerate(a for a in rest if not a.startswith("--")):
        done = subprocess.run([sys.executable, os.path.join(HERE, "run.py"), os.path.abspath(program), "--suite=" + suite, "--cross",
                               f"--share={number % every}/{every}"], capture_output=True, text=True)
        print(f"{os.path.basename(suite)}: {done.stdout}{done.stderr}", end="", flush=True)
        failed += done.returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
