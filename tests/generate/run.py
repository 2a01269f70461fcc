#!/usr/bin/env python3
"""Random kernels that went through Triton, against execution: run.py [POLYRACE] [--long=COUNT] [--first=SEED] [--footprints]

Reads tests/generate/ttir (made by make.py); --long compiles COUNT more from SEED on with Triton and takes those instead (skipped
without Triton 3.8). The verdict of each is compared with brute force (`polyrace replay`): a proof that execution contradicts,
a race that it does not have, an operation whose bytes its record does not have are failures. At the end a table of verdicts
by shape; the run fails too when less than a quarter is proved, less than a seventh races, or more than a quarter is
undecided.
"""
import glob
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from verdicts import check, program                               # noqa: E402


def main():
    binary = program()
    value = {m[1]: int(m[2]) for m in (re.match(r"--(\w+)=(\d+)", a) for a in sys.argv) if m}
    folder, scratch = os.path.join(HERE, "ttir"), None
    if "long" in value:
        if importlib.util.find_spec("triton") is None:
            print("triton is not here")
            return 77
        scratch = tempfile.TemporaryDirectory()
        folder = scratch.name
        done = subprocess.run([sys.executable, "-W", "ignore", os.path.join(HERE, "make.py"), folder, f"--first={value.get('first', 1000)}",
                               f"--count={value['long']}"], stderr=subprocess.DEVNULL)
        if done.returncode:
            print("too few kernels compile")
            return 1
    inputs = sorted(glob.glob(os.path.join(folder, "*.json")))
    verdicts, failures = check(binary, inputs)
    table, incomplete = {}, 0
    for path in inputs:
        v = verdicts.get(path)
        if v is None:
            continue
        stem = os.path.basename(path)[:-5]
        shape = stem.split("_", 1)[1]
        row = table.setdefault(shape, {"ok": 0, "races": 0, "unsupported": 0, "vacuous": 0, "incomplete": 0})
        row[v["status"]] += 1
        runs = [[]] + ([["--footprints"]] if "--footprints" in sys.argv or scratch is None else [])
        for options in runs:
            done = subprocess.run([binary, "replay", *options, path], capture_output=True, text=True)
            said = done.stdout[-900:]
            if done.returncode not in (0, 1, 2):
                failures.append(f"{stem}: replay {options}: exit status {done.returncode}: {said}")
            if options:
                continue
            row["incomplete"] += done.returncode == 2
            incomplete += done.returncode == 2
            if v["status"] == "ok" and done.returncode == 1:
                failures.append(f"FALSE PROOF: {stem}: {v['rung']} {v['qualifiers']}\n{said}")
            if v["status"] == "races" and done.returncode == 0:
                failures.append(f"FALSE RACE: {stem}: {[r['type'] for r in v['races']]}\n{said}")
    count = {k: sum(r[k] for r in table.values()) for k in ("ok", "races", "unsupported", "vacuous")}
    print(f"{len(inputs)} kernels: {count}, {incomplete} that execution cannot finish")
    print("| shape | proved | races | undecided | vacuous | not executed completely |\n|---|---|---|---|---|---|")
    for shape, r in sorted(table.items()):
        print(f"| {shape} | {r['ok']} | {r['races']} | {r['unsupported']} | {r['vacuous']} | {r['incomplete']} |")
    total = max(1, sum(count.values()))
    if count["ok"] * 4 < total or count["races"] * 7 < total or count["unsupported"] * 4 > total or len(table) < 14:
        failures.append("the generator is out of balance")
    for f in failures:
        print(f)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
