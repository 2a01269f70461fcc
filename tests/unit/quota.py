#!/usr/bin/env python3
"""Quota injection over the corpus: quota.py POLYRACE TEST_QUOTA TTIR_DIRECTORY [EVERY]. EVERY 1: at every quota, too.

Every query of every EVERYth launch goes through TEST_QUOTA --queries; every launch is checked with the smallest
quotas: its verdict is that without a quota, or undecided for the budget.
"""
import glob
import json
import os
import re
import subprocess
import sys


def verdicts(polyrace, paths, *options):
    done = subprocess.run([polyrace, "check", "--format=jsonl", "--jobs=1", "--no-cache", "--no-explain", "--engine=isl", "--no-pretest", *options, *paths],
                          capture_output=True, text=True)
    if done.stderr:
        raise SystemExit(f"{options}: {done.stderr[:2000]}")
    return {v["input"]: v for v in map(json.loads, done.stdout.splitlines())}


def main():
    polyrace, test_quota, folder = sys.argv[1:4]
    every = int(sys.argv[4]) if len(sys.argv) > 4 else 4
    paths = sorted(p for p in glob.glob(os.path.join(folder, "*.json")) if not p.endswith(".small.json"))[::every]
    text = []
    for path in paths:
        for rung in ("t0", "t1", "t1-launch"):
            done = subprocess.run([polyrace, "dump", "--stage=query", "--rung=" + rung, path], capture_output=True, text=True)
            if done.returncode == 0:
                text.append("\n".join(line for line in done.stdout.splitlines() if not line.startswith("#")) + "\n#")
    bad = subprocess.run([test_quota, *(["--every"] if every == 1 else []), "--queries"], input="\n".join(text), text=True).returncode
    full = verdicts(polyrace, paths)
    gave_up = 0
    for ops in (1, 98, 195, 292):
        for name, v in verdicts(polyrace, paths, f"--max-ops={ops}", f"--first-ops={ops}").items():
            if v["status"] == full[name]["status"]:
                if v["rung"] is not None and full[name]["rung"] is not None and v["rung"] < full[name]["rung"]:
                    print(f"{name} at {ops}: {v['rung']} is more than {full[name]['rung']}")
                    bad = 1
                continue
            gave_up += 1
            kinds = {r["kind"] for r in v["refusals"]}
            if v["status"] != "unsupported" or not kinds & {"budget"}:
                print(f"{name} at {ops}: {v['status']} {sorted(kinds)}, not {full[name]['status']}")
                bad = 1
            for r in v["refusals"]:
                if r["kind"] == "budget" and not re.search(r"(^|: )isl: ", r["message"]):
                    print(f"{name} at {ops}: nobody gave up: {r['message']}")
                    bad = 1
    print(f"{len(paths)} launches, {gave_up} gave up")
    return 1 if bad or not gave_up else 0


if __name__ == "__main__":
    sys.exit(main())
