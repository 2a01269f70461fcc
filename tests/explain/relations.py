#!/usr/bin/env python3
"""Race relations against enumeration: relations.py POLYRACE [LAUNCH.json...] [--verbose]

For every race of a small launch three independent descriptions must name the same program pairs: the executions
of the records enumerated one by one (tests/oracle), the printed isl relation read back by isl itself (islpy;
skipped without it), and the English sentence read back by the grammar below. The printed count must be their
number. Default inputs: every racing small launch of tests/kernels.
"""
import glob
import importlib.util
import itertools
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, TESTS)
from verdicts import check, program                                # noqa: E402

_spec = importlib.util.spec_from_file_location("enumerate_oracle", os.path.join(TESTS, "oracle", "enumerate.py"))
oracle = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(oracle)

try:
    import islpy
except ImportError:
    islpy = None


# ---- sentences --------------------------------------------------------------------------------------------

AXES = "xyz"
RANGE = (r" (?:with|and) ([xyz]) (?:= (-?\d+)|from (-?\d+) to (-?\d+)(?: in steps of (\d+))?"
         r"(?: where [xyz] modulo (\d+) is (not )?(?:from )?(\d+)(?: to (\d+))?)?)")
FIELDS = 9


def in_range(groups):
    axis, value, lo, hi, step, mod, no, least, most = groups
    i = AXES.index(axis)
    if value is not None:
        lo = hi = value
    lo, hi, step = int(lo), int(hi), int(step or 1)
    mod, least, most = int(mod or 1), int(least or 0), int(most or least or 0)
    return lambda p: lo <= p[i] <= hi and (p[i] - lo) % step == 0 and (least <= p[i] % mod <= most) != bool(no)


def away(text):
    """'the same y' or '3 after it along x' -> (axis, distance)"""
    m = re.fullmatch(r"the same ([xyz])", text)
    if m:
        return AXES.index(m[1]), 0
    m = re.fullmatch(r"(\d+) (after|before) it along ([xyz])", text)
    return AXES.index(m[3]), int(m[1]) * (1 if m[2] == "after" else -1)


def condition(text):
    """One condition of a sentence -> predicate over (first program, second program)."""
    def on(axis, test):
        i = AXES.index(axis)
        return lambda p, q: test(p[i], q[i])
    for pattern, make in (
            (r"ha(?:ve|s) the same ([xyz])", lambda m: on(m[1], lambda a, b: a == b)),
            (r"ha(?:ve|s) the same ([xyz]) and ([xyz])",
             lambda m: lambda p, q: all(p[AXES.index(m[k])] == q[AXES.index(m[k])] for k in (1, 2))),
            (r"ha(?:ve|s) ([xyz]) and ([xyz]) exchanged",
             lambda m: lambda p, q: all(p[i] == q[AXES.index(m[2]) if AXES[i] == m[1] else AXES.index(m[1]) if AXES[i] == m[2] else i] for i in range(3))),
            (r"are exactly (\d+) apart along ([xyz])", lambda m: on(m[2], lambda a, b: abs(a - b) == int(m[1]))),
            (r"are at most (\d+) apart along ([xyz])", lambda m: on(m[2], lambda a, b: abs(a - b) <= int(m[1]))),
            (r"ha(?:ve|s an) ([xyz])(?: values)? that adds? up to (?:(-?\d+)|between (-?\d+) and (-?\d+))(?: with the [xyz] of the first)?",
             lambda m: on(m[1], lambda a, b: int(m[2] or m[3]) <= a + b <= int(m[2] or m[4]))),
            (r"(?:are|is) a multiple of (\d+) (?:apart|away from it) along ([xyz])",
             lambda m: on(m[2], lambda a, b: (a - b) % int(m[1]) == 0)),
            (r"lies? in (?:one|its) group of (\d+) along ([xyz])",
             lambda m: on(m[2], lambda a, b: a // int(m[1]) == b // int(m[1])))):
        m = re.fullmatch(pattern, text)
        if m:
            return make(m)
    m = re.fullmatch(r"is (.*)", text)
    if m:
        i, d = away(m[1])
        return lambda p, q: q[i] - p[i] == d
    m = re.fullmatch(r"lies between (.*) and (.*)", text)
    (i, lo), (_, hi) = away(m[1]), away(m[2])
    return lambda p, q: lo <= q[i] - p[i] <= hi


def read(sentence, grid, one_record):
    """The set that a sentence names at a grid: program pairs, or programs."""
    if "; and " in sentence:
        return set().union(*(read(s, grid, one_record) for s in sentence.split("; and ")))
    programs = [(x, y, z) for x in range(grid[0]) for y in range(grid[1]) for z in range(grid[2])]
    m = re.fullmatch(r"threads of one program race, in every program whose (x|y) and (y|z) are the same((?:" + RANGE + ")*)", sentence)
    if m:
        tests = [in_range([x or None for x in g]) for g in re.findall(RANGE, m[3])]
        return {p for p in programs if p[AXES.index(m[1])] == p[AXES.index(m[2])] and all(t(p) for t in tests)}
    m = re.fullmatch(r"threads of one program race, in every program((?:" + RANGE + ")*)", sentence)
    if m:
        tests = [in_range([x or None for x in g]) for g in re.findall(RANGE, m[1])]
        return {p for p in programs if all(t(p) for t in tests)}
    head, _, tail = sentence.partition(",")
    boxes = []
    for clause in re.split(r", ", tail.strip()) if tail else []:
        m = re.fullmatch(r"both(" + RANGE + ")", clause)
        if m:
            t = in_range(m.groups()[1:])
            boxes.append(lambda p, q, t=t: t(p) and t(q))
            continue
        m = re.fullmatch(r"the first(" + RANGE + ") and the second(" + RANGE + ")", clause)
        first, second = in_range(m.groups()[1:FIELDS + 1]), in_range(m.groups()[FIELDS + 2:])
        boxes.append(lambda p, q, a=first, b=second: a(p) and b(q))
    conds, symmetric = [], False
    m = re.fullmatch(r"each program races with (?:the next one|the one (\d+) after it) along ([xyz])", head)
    if m:
        i, c = AXES.index(m[2]), int(m[1] or 1)
        conds.append(lambda p, q: q[i] - p[i] == c and all(p[k] == q[k] for k in range(3) if k != i))
    else:
        m = re.fullmatch(r"any two programs race(?: that (.*))?", head)
        symmetric = m is not None
        if not m:
            m = re.fullmatch(r"(?:the first access of a program races with the second access of|a program races with) "
                             r"any other program(?: that (.*))?", head)
        text = m[1]
        while text:
            for cut in [len(text)] + [k for k in range(len(text) - 1, 0, -1) if text.startswith(" and ", k)]:
                try:
                    conds.append(condition(text[:cut]))
                except (TypeError, AttributeError):
                    continue
                text = text[cut + 5:]
                break
            else:
                raise ValueError(f"not a sentence: {sentence}")
    out = set()
    for p, q in itertools.permutations(programs, 2):
        if all(c(p, q) for c in conds + boxes):
            out.add((min(p, q), max(p, q)) if one_record and symmetric else (p, q))
    return out


# ---- relations ---------------------------------------------------------------------------------------------

def points(text, axes, same_program):
    """The points of an isl relation with some of the axes x, y, z, as full programs."""
    def full(v):
        return tuple(v[axes.index(a)] if a in axes else 0 for a in AXES)
    out = []
    s = islpy.Set(text) if same_program else islpy.Map(text).wrap().flatten()
    n = s.dim(islpy.dim_type.set)

    def visit(p):
        out.append([int(str(p.get_coordinate_val(islpy.dim_type.set, i))) for i in range(n)])
    s.foreach_point(visit)
    k = len(axes)
    return {full(v) for v in out} if same_program else {(full(v[:k]), full(v[k:])) for v in out}


def axes_of(text):
    m = re.search(r"\{ \[([^\]]*)\]", text)
    return [x.split("=")[0].strip() for x in m[1].split(",")] if m[1].strip() else []


def main():
    binary = program()
    verbose = "--verbose" in sys.argv
    inputs = [a for a in sys.argv[1:] if a.endswith(".json")]
    inputs = inputs or sorted(glob.glob(os.path.join(TESTS, "kernels", "ttir", "*_race.small.json")))
    verdicts, problems = check(binary, inputs)
    explained = {}
    seen = {"launches": 0, "races": 0, "sentences": 0, "own": set(), "relations": 0, "counts": 0, "skipped": 0}
    for path in inputs:
        v = verdicts.get(path)
        if not v or v["status"] != "races":
            continue
        try:
            records, found = oracle.enumerated(binary, path)
        except ValueError as e:
            seen["skipped"] += 1
            if verbose:
                print(f"{path}: not enumerated: {e}")
            continue
        seen["launches"] += 1
        numbers = [(a, b, same) for a in range(len(records)) for b in range(a, len(records)) for same in (False, True)]

        with open(path, encoding="utf-8") as f:
            grid = json.load(f)["grid"]
        for race in v["races"]:
            a, b, same = numbers[race["pair"]]
            if same != (race["agents"] != "programs"):
                problems.append(f"{path}: pair {race['pair']} is not between {race['agents']}")
                continue
            s = race["set"]
            if s and not s["sentence"]:                            # asked for, it may cost more
                if path not in explained:
                    done = subprocess.run([binary, "explain", "--format=json", path], capture_output=True, text=True)
                    explained[path] = {r["pair"]: r["set"] for r in json.loads(done.stdout)["verdict"]["races"]}
                s = explained[path].get(race["pair"])
            if s is None:
                problems.append(f"{path}: a race without a set")
                continue
            truth = oracle.racing_programs(found, a, b, same)
            seen["races"] += 1
            first, second = tuple(race["first"]["program"]), tuple(race["second"]["program"])
            here = {first} if same else {(first, second), (second, first)}
            if not truth & here:
                problems.append(f"{path}: the witness programs {first} {second} are not in the enumerated relation")
            if s["sentence"]:
                seen["sentences"] += 1
                seen["own"].add(os.path.basename(path))
                said = read(s["sentence"], grid, a == b)
                if said != truth:
                    problems.append(f"{path}: '{s['sentence']}' names {len(said)}, enumeration {len(truth)}: "
                                    f"{sorted(said ^ truth)[:4]}")
            if s["pairs"] is not None:
                seen["counts"] += 1
                if s["pairs"] != len(truth):
                    problems.append(f"{path}: {s['pairs']} counted, {len(truth)} enumerated")
            if s["relation"] and islpy:
                seen["relations"] += 1
                got = points(s["relation"], axes_of(s["relation"]), same)
                if got != truth:
                    problems.append(f"{path}: {s['relation']} has {len(got)} points, enumeration {len(truth)}: "
                                    f"{sorted(got ^ truth)[:4]}")
            if verbose:
                print(f"{os.path.basename(path)}: {s['sentence'] or s['relation'] or s['why']}: {len(truth)}")
    for p in problems:
        print(p)
    print(f"{seen['launches']} launches, {seen['races']} races: {seen['sentences']} sentences of {len(seen['own'])} kernels, "
          f"{seen['counts']} counts, {seen['relations']} relations"
          f"{'' if islpy else ' (islpy is not here)'}; {seen['skipped']} launches not enumerated; {len(problems)} problems")
    if len(inputs) > 50 and (seen["races"] < 170 or seen["sentences"] < 165 or len(seen["own"]) < 130):
        print("too few races were compared")
        return 1
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
