"""Counters against the recorded ones (baseline.json): work that does not depend on the machine, never time.

A counter may fall; it may rise by a fifth and eight units. Whoever makes the engines do more work on purpose records
the new figures (`run.py baseline --record`) and says why in the commit. Counters of isl and Z3 are compared only under
the library release they were recorded with.
"""
import json
import os
import sys

import common
import suite

FILE = os.path.join(common.HERE, "baseline.json")
RANK = ["pretest", "closure", "sweep", "isl", "enum", "z3", "none"]
KERNEL = ("queries", "leaves", "isl_ops", "z3_units")


def measure(tool, binary):
    release = common.versions(binary)
    rows = suite.run(tool, ["--suite", "--counters"])
    bad = suite.problems(rows)
    queries = {f"{r['name']}, {r['form']}, {r['version']}": {"by": r["by"], **{t: x["work"] for t, x in r["tiers"].items()}} for r in rows}
    kernels = {}
    for path, v in common.verdicts(binary, common.launches()).items():
        kernels[os.path.basename(path)[:-5]] = {k: v["stats"].get(k, 0) for k in KERNEL}
    return {"isl": release.get("isl"), "z3": release.get("z3"), "queries": queries, "kernels": kernels}, bad


def allowed(old):
    return old * 1.2 + 8


def compare(old, new):
    """(failures, improvements) as texts."""
    worse, better, skipped = [], [], set()
    same = {"isl": old["isl"] == new["isl"], "z3": old["z3"] == new["z3"]}
    of = {"isl": "isl", "isl_ops": "isl", "leaves": "isl", "z3": "z3", "z3_units": "z3"}
    for group in ("queries", "kernels"):
        for name, was in old[group].items():
            now = new[group].get(name)
            if now is None:
                skipped.add(name)
                continue
            for counter, value in was.items():
                if counter == "by":
                    if RANK.index(now["by"]) > RANK.index(value):
                        worse.append(f"{name}: settled by {now['by']}, before by {value}")
                elif counter in now and same.get(of.get(counter), True):
                    if now[counter] > allowed(value):
                        worse.append(f"{name}: {counter} {now[counter]}, recorded {value}")
                    elif now[counter] < value * 0.8 - 8:
                        better.append(f"{name}: {counter} {now[counter]}, recorded {value}")
    return worse, better, skipped


def record(path, value):
    """One line an entry, so that a change shows which figures moved."""
    out = [f'{{\n"isl": {json.dumps(value["isl"])},\n"z3": {json.dumps(value["z3"])}']
    for group in ("queries", "kernels"):
        lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(value[group].items())]
        out.append(f'"{group}": {{\n' + ",\n".join(lines) + "\n}")
    with open(path, "w", encoding="utf-8") as f:
        f.write(",\n".join(out) + "\n}\n")


def main(o):
    new, bad = measure(o.queries, o.polyrace)
    for p in bad:
        print("FAIL", p)
    if o.record:
        record(FILE, new)
        print(f"{len(new['queries'])} queries and {len(new['kernels'])} kernels recorded")
        return 1 if bad else 0
    with open(FILE, encoding="utf-8") as f:
        old = json.load(f)
    worse, better, skipped = compare(old, new)
    for p in worse:
        print("FAIL", p)
    if better:
        print(f"{len(better)} counters fell by a fifth or more, for example: {'; '.join(better[:3])}")
    if skipped:
        print(f"recorded, but not there any more: {', '.join(sorted(skipped))}")
    fresh = len(set(new["kernels"]) - set(old["kernels"]))
    if worse:
        print(f"If the work is wanted: {sys.argv[0]} baseline --record --build {o.build}, with the reason in the commit.")
    print(f"{len(old['queries'])} queries, {len(old['kernels'])} kernels, {fresh} not recorded; {len(worse)} counters rose")
    return 1 if worse or bad or len(skipped) > len(old["kernels"]) // 2 else 0
