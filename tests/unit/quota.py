#!/usr/bin/env python3
"""Quota injection over launches: quota.py POLYRACE TEST_QUOTA [--share=K/N] [--small] [--every] FOLDER...

Of the launches in FOLDERs, every N-th from K on (--small: small ones too):
  - every query of theirs goes through TEST_QUOTA --queries, equal ones once;
  - every launch is checked at quotas 1, 98, 195, 292, by isl alone and by all engines; --every: in steps of 97 until two quotas in a row
    cut nothing off (they take the operations that a quota of MOST takes). Its verdict is that without a quota, or undecided for the budget (a
    refusal, or a note beside another one); nothing else is reported out of bounds; isl complains of nothing left.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys

STEP, MOST = 97, 20000
ISL = ("--engine=isl", "--no-pretest")


def verdicts(polyrace, paths, *options):
    done = subprocess.run([polyrace, "check", "--format=jsonl", "--jobs=1", "--no-cache", "--no-explain", "--stats", *options, *paths],
                          capture_output=True, text=True)
    if done.stderr or done.returncode not in (0, 1, 2):
        raise SystemExit(f"{options}: {done.returncode} {done.stderr[:2000]}")
    return {v["input"]: v for v in map(json.loads, done.stdout.splitlines())}


def queries(polyrace, paths):
    seen = {}
    for path in paths:
        for rung in ("t0", "t1", "t1-launch"):
            done = subprocess.run([polyrace, "dump", "--stage=query", "--rung=" + rung, path], capture_output=True, text=True)
            for text in re.findall(r"^\(query\n.*?^\)\n", done.stdout, re.M | re.S):
                seen[re.sub(r"\(pair \d+\)", "(pair 0)", text, count=1)] = path
    return list(seen)


def leaves_bounds(v):
    """Which accesses leave their tensor; the program that shows it may be another one."""
    return {(o["access"]["op"], o["access"]["tensor"], str(o["access"]["loc"])) for o in v["out_of_bounds"]}


def wrong(v, full, uncut):
    """What is wrong with a verdict under a quota, or None. full: at the default limits; uncut: what takes one attempt with all of them."""
    if not leaves_bounds(v) <= leaves_bounds(full) | leaves_bounds(uncut):
        return f"out of bounds: {v['out_of_bounds']}, not {full['out_of_bounds']}"
    if v["status"] in (full["status"], uncut["status"]):
        rungs = [w["rung"] for w in (full, uncut) if w["status"] == v["status"]]
        if v["rung"] is not None and all(r is not None and v["rung"] < r for r in rungs):
            return f"{v['rung']} is more than {rungs}"
        return None
    kinds = {r["kind"] for r in v["refusals"]}
    behind = any(re.match("a question behind this answer stayed undecided: (isl|z3): ", n) for n in v["notes"])
    if v["status"] != "unsupported" or not (kinds & {"budget"} or behind):
        return f"{v['status']} {sorted(kinds)}, not {full['status']}"
    for r in v["refusals"]:
        if r["kind"] == "budget" and not re.search(r"(^|: )(isl|z3): ", r["message"]):
            return f"nobody gave up: {r['message']}"
    return None


def at(polyrace, paths, ops, engine):
    return verdicts(polyrace, paths, f"--max-ops={ops}", f"--first-ops={ops}", *engine)


def launches(polyrace, paths, every, *engine):
    """Whether all is right."""
    full, uncut = verdicts(polyrace, paths, *engine), at(polyrace, paths, MOST, engine)
    ops, checked, gave_up, good, left, quotas, same = 1, 0, 0, True, paths, 0, dict.fromkeys(paths, 0)
    while left and (ops < MOST if every else quotas < 4):
        for name, v in at(polyrace, left, ops, engine).items():
            checked += 1
            gave_up += v["status"] != full[name]["status"]
            why = wrong(v, full[name], uncut[name])
            if why:
                print(f"{name} at {ops} {' '.join(engine)}: {why}")
                good = False
            same[name] = same[name] + 1 if v["stats"]["isl_ops"] == uncut[name]["stats"]["isl_ops"] else 0
        left = [p for p in left if same[p] < 2]
        quotas += 1
        ops += STEP
    print(f"{' '.join(engine) or 'all engines'}: {len(paths)} launches, {quotas} quotas, {checked} verdicts, {gave_up} gave up", flush=True)
    return good


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("polyrace")
    ap.add_argument("test_quota")
    ap.add_argument("folders", nargs="+")
    ap.add_argument("--share", default="0/1")
    ap.add_argument("--small", action="store_true")
    ap.add_argument("--every", action="store_true")
    a = ap.parse_args()
    first, step = map(int, a.share.split("/"))
    paths = sorted(p for d in a.folders for p in glob.glob(os.path.join(d, "*.json")) if a.small or not p.endswith(".small.json"))[first::step]
    text = "\n".join(queries(a.polyrace, paths))
    bad = subprocess.run([a.test_quota, *(["--every"] if a.every else []), "--queries"], input=text, text=True).returncode
    alone = launches(a.polyrace, paths, a.every, *ISL)
    together = launches(a.polyrace, paths, a.every)
    return 0 if not bad and alone and together else 1


if __name__ == "__main__":
    sys.exit(main())
