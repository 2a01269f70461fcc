#!/usr/bin/env python3
"""faults.py POLYRACE POLYRACE_WITH_FAULTS: what a program with one side condition dropped proves wrongly, recheck rejects.

The faults are those of tests/gates (orders from what waits need, src/front/replay_gates.c). A launch that only the faulty program calls race
free is certified by it; its certificate must not be confirmed."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import verdicts                                                    # noqa: E402

GOOD, BAD = sys.argv[1:3]
RECHECK = os.path.join(HERE, "..", "..", "python", "polyrace", "recheck.py")
INPUTS = sorted(glob.glob(os.path.join(HERE, "..", "gates", "ttir", "*.json")))


def proved(binary, fault=0):
    os.environ["POLYRACE_FAULT"] = str(fault)
    out, problems = verdicts.check(binary, INPUTS)
    assert not problems, problems
    return {k for k, v in out.items() if v["status"] == "ok"}


def main():
    try:
        import cvc5                                                # noqa: F401
    except ImportError:
        if not shutil.which("cvc5"):
            print("cvc5 is not here")
            return 77
    right, found, wrong = proved(GOOD), 0, 0
    for fault in range(60, 78):
        false = sorted(proved(BAD, fault) - right)
        if not false:
            continue
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([BAD, "check", "--jobs=1", "--certify", folder, *false], capture_output=True, check=True)
            done = subprocess.run([sys.executable, "-I", RECHECK, folder], capture_output=True, text=True)
        rejected = done.stdout.count("REJECTED")
        print(f"fault {fault}: {len(false)} false proofs, {rejected} rejected")
        found += len(false)
        wrong += len(false) - rejected
        if len(false) != rejected:
            print(done.stdout)
    print(f"{found} false proofs, {wrong} accepted")
    return 1 if wrong or found < 12 else 0


sys.exit(main())
