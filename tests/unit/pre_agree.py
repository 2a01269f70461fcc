#!/usr/bin/env python3
"""The pre-tests against isl on the pair queries of the corpus: pre_agree.py POLYRACE TEST_PRE TTIR_DIRECTORY [EVERY].

Dumps the queries of every EVERYth launch (default 4) at the rungs t0, t1 and t1-launch and hands them to
`TEST_PRE --agree`, which reads them back and compares the answers.
"""
import glob
import os
import subprocess
import sys


def main():
    polyrace, test_pre, folder = sys.argv[1:4]
    every = int(sys.argv[4]) if len(sys.argv) > 4 else 4
    text = []
    for path in sorted(glob.glob(os.path.join(folder, "*.json")))[::every]:
        for rung in ("t0", "t1", "t1-launch"):
            done = subprocess.run([polyrace, "dump", "--stage=query", "--rung=" + rung, path], capture_output=True, text=True)
            if done.returncode == 0:
                text.append(done.stdout)
    done = subprocess.run([test_pre, "--agree"], input="\n".join(text), text=True)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
