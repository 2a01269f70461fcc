#!/usr/bin/env python3
"""`polyrace explain` on TTGIR texts, its relations read back by isl: explain.py POLYRACE [EVERY]

Of every text (or one of EVERY) of ttgir/ and membar/ttgir/:
  - each relation is one that isl reads; instances that nothing orders are instances that meet; ordered says that there are none
  - a proved kernel has no such instances, its phases are closed under composition and none is before itself
  - the two instances of a finding about data are in the set of their operations at the finding's trip counts
  - the text form has the same relations
and some sets are those that the kernel's indices give."""
import glob
import itertools
import json
import os
import subprocess
import sys

try:
    import islpy as isl
except ImportError:
    print("islpy is not installed")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
# kernel, first operation's line and second's, the instances that nothing orders
SETS = [
    ("ring_cp.no-wait", 0, 174, lambda k: [((), (i, )) for i in range(k) if i % 3 == 0]),     # tile 0 copied before the loop
    ("ring_cp.no-wait", 174, 175, lambda k: [((i, ), (j, )) for i in range(k) for j in range(i) if (j + 2) % 3 == i % 3]),
    ("ring_store.no-wait", 227, 225, lambda k: [((i, ), (j, )) for i in range(k) for j in range(i + 1, k) if i % 2 == j % 2]),
]


def run(program, path, form):
    done = subprocess.run([program, "explain", f"--format={form}", path], capture_output=True, text=True)
    if done.returncode not in (0, 1, 2):
        raise RuntimeError(done.stderr.strip())
    return done.stdout


def fixed(relation, values):
    """The relation at values of parameters."""
    for name, value in values.items():
        if relation.get_space().find_dim_by_name(isl.dim_type.param, name) >= 0:
            relation = relation.intersect_params(isl.Set(f"[{name}] -> {{ : {name} = {value} }}"))
    return relation


def holds(relation, first, second, a, b):
    """Is first[a] -> second[b] in the relation, for some values of its parameters?"""
    point = "{ %s[%s] -> %s[%s] }" % (first, ", ".join(map(str, a)), second, ", ".join(map(str, b)))
    return not relation.intersect(isl.UnionMap(point)).is_empty()


def problems_of(program, path):
    name = os.path.basename(path)[:-6]
    doc = json.loads(run(program, path, "json"))
    [shared], verdict, out = doc["shared"], doc["verdict"], []
    text = run(program, path, "text")
    events = {e["name"]: e for e in shared["events"]}
    for key in ("direct", "closure"):
        if shared[key]:
            isl.UnionMap(shared[key])
    if verdict["status"] == "ok":
        if not shared["exact"] or shared["why_not"]:
            out.append(f"proved, but {shared['why_not']}")
        all_, direct = isl.UnionMap(shared["closure"]), isl.UnionMap(shared["direct"])
        if not direct.is_subset(all_) or not all_.apply_range(all_).is_subset(all_):
            out.append("the phases are not closed")
        if not all_.intersect(isl.UnionSet.identity(all_.domain().union(all_.range()))).is_empty():
            out.append("a phase before itself")
    for p in shared["pairs"]:
        meet, race = isl.UnionMap(p["conflicts"]), isl.UnionMap(p["race"])
        if not race.is_subset(meet) or meet.is_empty():
            out.append(f"{p['first']} {p['second']}: more races than conflicts")
        if race.is_empty() != p["ordered"] or (p["missing"] is None) != p["ordered"]:
            out.append(f"{p['first']} {p['second']}: ordered {p['ordered']}, but {p['race']}")
        if verdict["status"] == "ok" and not p["ordered"]:
            out.append(f"{p['first']} {p['second']}: proved, but {p['race']}")
        if p["conflicts"] not in text or (not p["ordered"] and p["race"] not in text):
            out.append(f"{p['first']} {p['second']}: not in the text form")
        if p["first"] not in events or p["second"] not in events:
            out.append(f"{p['first']} {p['second']}: not among the events")
    met = 0
    for f in verdict["findings"]:
        if f["kind"] != "race" or f["id"] in ("PROXY-FENCE", "MEMBAR") or not shared["exact"]:
            continue
        def of(site):
            return [n for n, e in events.items() if e["op"] == site["op"] and e["line"] == ((site["loc"] or {}).get("line") or 0)]
        sides = [(p, f["first"], f["second"]) for p in shared["pairs"] if p["first"] in of(f["first"]) and p["second"] in of(f["second"])]
        sides += [(p, f["second"], f["first"]) for p in shared["pairs"] if p["first"] in of(f["second"]) and p["second"] in of(f["first"])]
        # the inner counter of a loop around a loop may go on over all executions of the inner one: another numbering
        sides = [x for x in sides if max(len(events[x[0][side]]["loops"]) for side in ("first", "second")) < 2]
        if sides and not any(holds(isl.UnionMap(p["race"]), p["first"], p["second"], a["iteration"], b["iteration"]) for p, a, b in sides
                             if len(events[p["first"]]["loops"]) == len(a["iteration"]) and len(events[p["second"]]["loops"]) == len(b["iteration"])):
            out.append(f"{f['id']} {f['first']['iteration']} {f['second']['iteration']} is in no set")
        met += bool(sides)
    return name, out, len(shared["pairs"]), met


def sets(program):
    out = []
    for name, first, second, want in SETS:
        [shared] = json.loads(run(program, os.path.join(HERE, "ttgir", name + ".ttgir"), "json"))["shared"]
        events = {e["name"]: e for e in shared["events"]}
        found = False
        for p in shared["pairs"]:
            a, b = events[p["first"]], events[p["second"]]
            turned = not (b["line"] == second and (a["line"] == first or not first and not a["loops"]))
            if turned and (a["line"], b["line"]) != (second, first):
                continue
            k = 8
            race = fixed(isl.UnionMap(p["race"]), {"K": k})
            names = (p["second"], p["first"]) if turned else (p["first"], p["second"])
            race = race.reverse() if turned else race
            here = [itertools.product(range(k), repeat=len(events[n]["loops"])) for n in names]
            got = sorted((x, y) for x, y in itertools.product(*here) if holds(race, *names, x, y))
            found = found or got == sorted(want(k))
        if not found:
            out.append(f"{name}: no pair at lines {first} and {second} with the expected set")
    return out


def main():
    program, bad, pairs, met = sys.argv[1], 0, 0, 0
    paths = sorted(glob.glob(os.path.join(HERE, "ttgir", "*.ttgir"))) + sorted(glob.glob(os.path.join(HERE, "membar", "ttgir", "r*.ttgir")))
    paths = paths[::int(sys.argv[2]) if len(sys.argv) > 2 else 1]
    for path in paths:
        try:
            name, problems, n, m = problems_of(program, path)
        except (RuntimeError, ValueError, KeyError, isl.Error) as e:
            name, problems, n, m = os.path.basename(path), [f"{type(e).__name__}: {e}"], 0, 0
        pairs, met = pairs + n, met + m
        for p in problems:
            print(f"{name}: {p}")
            bad += 1
    for p in sets(program):
        print(p)
        bad += 1
    print(f"{len(paths)} texts, {pairs} pairs of operations, {met} findings in their sets, {bad} problems")
    return 1 if bad or not pairs or not met else 0


if __name__ == "__main__":
    sys.exit(main())
