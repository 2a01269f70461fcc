#!/usr/bin/env python3
"""Timelines of findings: timeline.py POLYRACE

The steps of every finding are an execution: numbers increase, each partition's iterations never go back at one operation, the
two operations of the finding are marked where they are, and a wait that passed for a phase comes after an arrival for that
phase of the same barrier (where the steps begin at the first one and none is left out). A proved kernel has its ordered pairs.
"""
import glob
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from verdicts import program                                       # noqa: E402


def examine(name, finding, seen, problems):
    steps = finding["timeline"]
    if not steps:
        problems.append(f"{name}: {finding['id']} without steps")
        return
    done = [s for s in steps if s["step"] is not None]
    numbers = [s["step"] for s in done]
    if numbers != sorted(set(numbers)) or steps[:len(done)] != done:
        problems.append(f"{name}: {finding['id']}: steps {numbers}")
    latest = {}
    for s in done:
        key = (s["partition"], s["op"], json.dumps(s["loc"]))
        # Without a location two operations of one name (a loop of loads ahead, then the main loop) cannot be told apart.
        if s["loc"] and len(s["iteration"]) == 1 and latest.get(key, s["iteration"]) > s["iteration"]:
            problems.append(f"{name}: {finding['id']}: {key} goes back to {s['iteration']}")
        latest[key] = s["iteration"]
    for end in ("first", "second"):
        site, marked = finding[end], [s for s in steps if s.get("mark") == end]
        for s in marked:
            seen["marks"] += 1
            if any(s[k] != site[k] for k in ("partition", "op", "loc", "iteration")):
                problems.append(f"{name}: {finding['id']}: {end} is {site}, marked {s}")
        if site and len(marked) != 1 and finding["kind"] == "race":
            problems.append(f"{name}: {finding['id']}: {end} is marked {len(marked)} times")
    whole = numbers == list(range(len(numbers)))
    arrived = set()
    for s in done:
        if s.get("barrier"):
            key = (s["barrier"], s["slot"], s["phase"])
            if s["role"] == "arrive":
                if any(k[:2] == key[:2] and k[2] is not None and s["phase"] is not None and k[2] > s["phase"] for k in arrived):
                    problems.append(f"{name}: {finding['id']}: step {s['step']} arrives for a phase that is over")
                seen["arrivals"] += 1
                arrived.add(key)
            elif whole and s["phase"] is not None and s["phase"] >= 0:
                seen["waits"] += 1
                if key not in arrived:
                    problems.append(f"{name}: {finding['id']}: step {s['step']} passes phase {s['phase']} without an arrival")
    seen["findings"] += 1
    seen["steps"] += len(steps)


def main():
    binary = program()
    seen = dict.fromkeys(("findings", "steps", "marks", "waits", "arrivals", "proofs", "ordered"), 0)
    problems = []
    inputs = sorted(glob.glob(os.path.join(HERE, "ttgir", "*.ttgir")))
    done = subprocess.run([binary, "check", "--format=jsonl", "--jobs=2", *inputs], capture_output=True, text=True)
    for line in done.stdout.splitlines():
        v = json.loads(line)
        name = os.path.basename(v["input"])
        for finding in v["findings"]:
            examine(name, finding, seen, problems)
        if v["status"] == "ok":
            seen["proofs"] += 1
            seen["ordered"] += len(v["ordered"])
        elif v["ordered"]:
            problems.append(f"{name}: ordered pairs of a kernel that is not proved")
    for p in problems:
        print(p)
    print(", ".join(f"{k} {v}" for k, v in seen.items()), f"; {len(problems)} problems")
    return 1 if problems or seen["findings"] < 40 or seen["waits"] < 3 or seen["arrivals"] < 100 or seen["ordered"] < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
