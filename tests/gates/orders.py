#!/usr/bin/env python3
"""orders.py PROGRAM --suite=DIR: are exactly the safe launches of this directory ordered by what their waits need? PROGRAM is
`orders`, or a copy of it with one side condition dropped, which must not pass."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "pitfalls"))
from cases import CASES, HERE                                     # noqa: E402
import kernels                                                    # noqa: E402,F401

wanted = {c.name: c.expect.startswith("ok") for c in CASES if not c.options}
paths = [os.path.join(HERE, "ttir", name + ".json") for name in wanted]
lines = subprocess.run([sys.argv[1], *paths], check=True, capture_output=True, text=True).stdout.splitlines()
got = {line.split(" ", 1)[0]: line.split(" ", 1)[1] for line in lines}
wrong = [f"{name}: {got.get(name)}, expected {'ordered' if safe else 'open'}" for name, safe in wanted.items()
         if (got.get(name) == "ordered") != safe]
print("\n".join(wrong))
print(f"{len(wanted)} launches, {sum(wanted.values())} of them ordered, {len(wrong)} wrong")
sys.exit(bool(wrong) or not wanted)
