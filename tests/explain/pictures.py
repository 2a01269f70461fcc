#!/usr/bin/env python3
"""Footprints and grid maps against enumeration: pictures.py POLYRACE [LAUNCH.json...] [--verbose]

For every race of a small launch the elements that `polyrace explain` lists for its two accesses, for their programs and
for both must be those of the enumerated executions of the records (the program's come from the concrete evaluator, which
shares no code with records). Every cell of a grid map must say what the enumerated pairs of programs say about the
programs in it. The answer of every pair must be one that the status allows, with a proof where it is proved.
"""
import glob
import importlib.util
import itertools
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, TESTS)
from verdicts import program                                       # noqa: E402

_spec = importlib.util.spec_from_file_location("enumerate_oracle", os.path.join(TESTS, "oracle", "enumerate.py"))
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)
SOME, NOT_ALL, PARTNER = 1, 2, 4


def elements(foot):
    """The elements of a footprint's boxes: [at, size, count, step, count, step, ...]."""
    out = set()
    for at, size, *repeat in foot["boxes"]:
        starts = [at]
        for count, step in zip(repeat[::2], repeat[1::2]):
            starts = [s + k * step for s in starts for k in range(count)]
        out.update(e for s in starts for e in range(s, s + size))
    assert len(out) == foot["elements"]
    return out


def of(found, record, pid, iteration, origin, size):
    out = set()
    for x in found:
        if x.r.id == record and x.pid == pid and (iteration is None or x.it == iteration):
            out.update(range((x.addr - origin) // size, (x.addr + x.r.width - 1 - origin) // size + 1))
    return out


def wrong_cells(m, racing, partners, grid):
    """Cells of a map that do not say what the racing programs say."""
    axes = m["axes"]
    wrong = []
    extents = {"x": grid[0], "y": grid[1], "z": grid[2]}
    if any(extents[a["axis"]] != a["extent"] for a in axes):
        return ["extents"]
    ranges = [range(a["cells"]) for a in axes]
    for cell in itertools.product(*ranges):
        row = 0
        for k in range(len(cell) - 1, 0, -1):
            row = row * axes[k]["cells"] + cell[k]
        bits = int(m["rows"][row][cell[0]])
        inside = [range(a["from"] + c * a["size"], min(a["from"] + (c + 1) * a["size"], a["extent"])) for a, c in zip(axes, cell)]
        programs = []
        for p in itertools.product(*inside):
            full = {"x": 0, "y": 0, "z": 0, **{a["axis"]: v for a, v in zip(axes, p)}}
            programs.append((full["x"], full["y"], full["z"]))
        want = (SOME if any(p in racing for p in programs) else 0) | (NOT_ALL if any(p not in racing for p in programs) else 0) | \
            (PARTNER if any(p in partners for p in programs) else 0)
        if bits != want:
            wrong.append((cell, bits, want))
    return wrong


def examine(binary, path, seen, problems):
    done = subprocess.run([binary, "explain", "--format=json", path], capture_output=True, text=True)
    if done.returncode not in (0, 1, 2):
        problems.append(f"{path}: exit status {done.returncode}: {done.stderr[-300:]}")
        return
    doc = json.loads(done.stdout)
    name = os.path.basename(path)
    told = doc["explanations"][0]
    if not told:
        return
    for p in told["pairs"]:
        seen["pairs"] += 1
        if doc["verdict"]["status"] == "ok" and p["answer"] not in ("proved", "cannot-meet", "proved-at-launch"):
            problems.append(f"{name}: ok beside pair {p['pair']}: {p['answer']}")
        if p["answer"] == "proved":
            seen["proofs"] += 1
            seen["facts"] += bool(p.get("facts"))
            seen["sets"] += bool(p.get("set"))
            if not p["evidence"]:
                problems.append(f"{name}: pair {p['pair']} is proved without a reason")
    try:
        records, found = oracle.enumerated(binary, path)
    except ValueError:
        seen["skipped"] += 1
        return
    with open(path, encoding="utf-8") as f:
        grid = json.load(f)["grid"]
    for picture in told["pictures"]:
        if "race" not in picture:
            continue
        race = doc["verdict"]["races"][picture["race"]]
        pair = next(p for p in told["pairs"] if p["pair"] == race["pair"])
        same = race["agents"] != "programs"
        feet = picture["footprints"]
        if not feet:
            seen["no footprint"] += 1
            if "only a run could know" not in picture["footprints_why"]:
                problems.append(f"{name}: no footprints: {picture['footprints_why']}")
            continue
        low, high = feet["tensor"]["storage"]          # the enumeration leaves out what lies outside

        def inside(foot):
            return {e for e in elements(foot) if low <= e < high}
        for end in ("first", "second"):
            a = race[end]
            # the ends of a race may be in the other order than those of its pair
            ids = {r.id for r in records if r.id in (pair["first"], pair["second"]) and r.line == (a["loc"]["file"], a["loc"]["line"])}
            x = next(x for x in found if x.r.id in ids)
            origin, size = None, feet["tensor"]["element_bytes"]
            with open(path, encoding="utf-8") as f:
                origin = json.load(f)["args"][feet["tensor"]["name"]]["tensor"]["ptr"]
            pid, it = tuple(a["program"]), tuple(a["iteration"])
            want = [of(found, i, pid, it, origin, size) for i in sorted(ids)]
            got = inside(feet[end])
            if got not in want:
                problems.append(f"{name}: {end} touches {sorted(got)[:5]}.., enumeration says {[sorted(w)[:5] for w in want]}")
            whole = [of(found, i, pid, None, origin, size) for i in sorted(ids)]
            if feet[end]["program"] is not None and inside(feet[end]["program"]) not in whole:
                problems.append(f"{name}: the program of {end}: {sorted(elements(feet[end]['program']))[:5]}..")
            seen["programs"] += feet[end]["program"] is not None
            assert x is not None
        if elements(feet["both"]) != elements(feet["first"]) & elements(feet["second"]):
            problems.append(f"{name}: the elements touched by both")
        if race["first"]["byte"] // feet["tensor"]["element_bytes"] not in elements(feet["both"]):
            problems.append(f"{name}: the witness is not among the elements touched by both")
        seen["footprints"] += 1
        if not picture["map"]:
            seen["no map"] += 1
            continue
        truth = oracle.racing_programs(found, pair["first"], pair["second"], same)
        racing = truth if same else {p for both in truth for p in both}
        witness = tuple(race["first"]["program"])
        partners = set() if same else {q for p, q in truth if p == witness} | {p for p, q in truth if q == witness}
        for m in (picture["map"], picture["near"]):
            if m:
                seen["maps"] += 1
                seen["cells"] += sum(map(len, m["rows"]))
                wrong = wrong_cells(m, racing, partners, grid)
                if wrong:
                    problems.append(f"{name}: race {picture['race']}: cells {wrong[:3]}")


def main():
    binary = program()
    inputs = [a for a in sys.argv[1:] if a.endswith(".json")]
    whole = not inputs
    inputs = inputs or sorted(glob.glob(os.path.join(TESTS, "kernels", "ttir", "*.small.json")))
    seen = dict.fromkeys(("pairs", "proofs", "facts", "sets", "footprints", "programs", "no footprint", "maps", "no map", "cells", "skipped"), 0)
    problems = []
    for path in inputs:
        examine(binary, path, seen, problems)
    for p in problems:
        print(p)
    print(", ".join(f"{k} {v}" for k, v in seen.items()), f"; {len(problems)} problems")
    if whole and (seen["footprints"] < 150 or seen["no footprint"] > 10 or seen["maps"] < 150 or seen["facts"] < 20 or seen["sets"] < 20):
        print("too little was compared")
        return 1
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
