#!/usr/bin/env python3
"""Conditions of T0 proofs ("assumes strides of T do not overlap: ...") against brute force.

    run.py POLYRACE

1. Every condition of the corpus names integer arguments alone and holds at its own launch.
2. Contiguous row-major tensors meet it, for all sizes from 1 to 8.
3. Launches of the small kernels and of their racing twins with other sizes and strides, overlapping ones included (0,
   1, the extent, one less, swapped, negative), each executed: what is proved does not overlap, T0 is claimed exactly
   where the condition holds, and nothing overlaps where the condition of the text alone holds.
4. A text alone is never proved without the condition.
5. Split-K in grouped order, 2048 programs: safe, safe at this grid only, racing, symbolic, each without Z3. What races at
   another grid is evidence: it is no race, names that grid, and one of its programs is not in the launch's.
"""
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TTIR = os.path.join(HERE, "..", "kernels", "ttir")
QUALIFIER = re.compile(r"assumes strides of (\w+) do not overlap: (.*)")
WORDS = {"and", "min", "max", "trunc"}

# kernel -> (shape of the written tensor, its stride arguments); a name is a size of 1 to 8, a number a constant
ROW_MAJOR = {
    "matmul_strides": (("m", "n"), ("stride_cm", "stride_cn")),
    "attention_strides": (("batch", "heads", "queries", "width"), ("stride_oz", "stride_oh", "stride_om", "stride_od")),
    "layernorm_strides": (("rows", "n"), ("stride_yr", "stride_yc")),
    "splitk_symbolic": (("splits", "m", "n"), ("stride_os", "stride_om", "stride_on")),
    "matmul": (("m", "n"), ("stride_cm", 1)),
    "batched_matmul": (("batches", "m", "n"), ("batch_c", None, 1)),
    "attention_full": (("batch", "heads", "queries", 64), ("stride_z", "stride_h", "stride_t", 1)),
    "attention_causal": (("heads", "length", 64), ("stride_h", None, 1)),
    "softmax": (("rows", "n_cols"), ("stride_y", 1)),
    "softmax_inplace": (("rows", "n_cols"), ("stride", 1)),
    "layernorm": (("rows", "n"), ("stride", 1)),
    "rmsnorm": (("rows", "n"), ("stride_y", 1)),
    "strided_copy": (("rows", "m"), ("d1", "d0")),
    "transpose_2d": (("n", "m"), ("stride_y", 1)),
}


class Failures(list):
    def check(self, ok, text):
        if not ok:
            self.append(text)
            print("FAIL " + text)


def condition_of(verdict):
    """The conditions of a verdict as one Python expression, or None."""
    found = [m.group(2) for m in map(QUALIFIER.match, verdict["qualifiers"]) if m]
    return " and ".join(found) if found else None


def holds(condition, values):
    return bool(eval(condition, {"__builtins__": {}, "trunc": int, "min": min, "max": max}, dict(values)))  # our own text


def names_in(condition):
    return set(re.findall(r"[A-Za-z_]\w*", condition)) - WORDS


def check_all(binary, launches):
    """One verdict a launch."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", delete=False) as f:
        for launch in launches:
            f.write(json.dumps(launch) + "\n")
    try:
        done = subprocess.run([binary, "check", "--format=jsonl", f.name], capture_output=True, text=True)
        verdicts = [json.loads(line) for line in done.stdout.splitlines()]
    finally:
        os.unlink(f.name)
    if len(verdicts) != len(launches):
        raise SystemExit(f"{len(verdicts)} verdicts of {len(launches)} launches: {done.stderr[-500:]}")
    return verdicts


def overlaps(binary, launch):
    """True, False, or None where execution cannot tell."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as f:
        json.dump(launch, f)
    try:
        done = subprocess.run([binary, "replay", f.name], capture_output=True, text=True)
    finally:
        os.unlink(f.name)
    return {0: False, 1: True}.get(done.returncode)


def read_launch(name):
    with open(os.path.join(TTIR, name + ".json"), encoding="utf-8") as f:
        launch = json.load(f)
    launch["ttir"] = os.path.join(TTIR, launch["ttir"])
    return launch


def scalars(launch):
    return {k: v for k, v in launch["args"].items() if isinstance(v, int)}


def shipped(binary, log):
    names = sorted(f[:-5] for f in os.listdir(TTIR) if f.endswith(".json") and not f.endswith(".small.json"))
    launches = [read_launch(n) for n in names]
    conditions = {}
    for name, launch, v in zip(names, launches, check_all(binary, launches)):
        c = condition_of(v)
        if not c:
            continue
        conditions[name] = c
        log.check(v["status"] == "ok" and v["rung"] == "T0", f"{name}: {v['status']} {v['rung']} with a condition")
        log.check(names_in(c) <= set(scalars(launch)), f"{name}: '{c}' names more than parameters")
        log.check(holds(c, scalars(launch)), f"{name}: '{c}' is false at its own launch")
    return conditions


def row_major(conditions, log):
    points = 0
    for name, (shape, strides) in ROW_MAJOR.items():
        log.check(name in conditions, f"{name} has no condition")
        sizes = [s for s in shape if isinstance(s, str)]
        for values in itertools.product(range(1, 9), repeat=len(sizes)):
            env, run = dict(zip(sizes, values)), 1
            for extent, stride in zip(reversed(shape), reversed(strides)):
                if isinstance(stride, str):
                    env[stride] = run
                run *= env[extent] if isinstance(extent, str) else extent
            points += 1
            if name in conditions and not holds(conditions[name], env):
                log.check(False, f"{name}: '{conditions[name]}' is false for row-major sizes {env}")
                break
    print(f"{len(ROW_MAJOR)} kernels hold for {points} row-major shapes")


def moved(launch, tensor, grid, values):
    """The launch with other numbers; every tensor lies in the middle of a large buffer."""
    launch = json.loads(json.dumps(launch))
    launch["grid"] = list(grid)
    launch["args"].update(values)
    for i, (name, arg) in enumerate(sorted(launch["args"].items())):
        if isinstance(arg, dict):
            t = arg["tensor"]
            start = (i + 1) << 24
            t["ptr"] = start + (1 << 23)
            t["storage"] = {"ptr": start, "bytes": 1 << 24}
            t.setdefault("strides", [1] * len(t["shape"]))
    return launch


def cdiv(a, b):
    return -(-a // b)


def wide(n):
    """Rows of n that do not overlap, the last one only just, beside one that does."""
    return [(n, 1), (n + 1, 1), (3 * n, 1), (2 * n, 2), (2 * n - 1, 2), (3 * n - 2, 3), (3 * n - 3, 3)]


def variants():
    """(kernel, written tensor, grid, numbers): sizes near the tile, strides that overlap and that do not."""
    g = random.Random(7)
    for m, n in ((9, 5), (8, 8), (17, 11), (3, 9)):
        near = sorted({-1, 0, 1, 2, n - 1, n, n + 1, 2 * n, m, m - 1})
        pairs = [(a, b) for a in near for b in near]
        for cm, cn in g.sample(pairs, 26) + wide(n) + [(1, m), (n - 1, 1), (0, 1), (n, 0), (1, 1)]:
            yield "matmul_strides", "c", (cdiv(m, 8) * cdiv(n, 8), 1, 1), dict(m=m, n=n, k=1, stride_cm=cm, stride_cn=cn)
    for rows, n in ((3, 5), (4, 17), (5, 16)):
        near = [-2, 0, 1, 2, n - 1, n, n + 1, rows, 2 * n]
        pairs = [(a, b) for a in near for b in near]
        for yr, yc in g.sample(pairs, 22) + wide(n) + [(1, rows), (n - 1, 1), (n, 0), (0, 1)]:
            yield "layernorm_strides", "y", (rows, 1, 1), dict(n=n, stride_yr=yr, stride_yc=yc)
    for batch, heads, queries, width in ((2, 2, 3, 4), (1, 3, 9, 2)):
        z, h, t = heads * queries * width, queries * width, width
        choices = [(z, h, t, 1), (h * 1, z * 1, t, 1), (batch * h, h, t, 1), (z, h, 1, queries), (z - 1, h, t, 1), (z, h - 1, t, 1),
                   (z, h, t - 1, 1), (0, h, t, 1), (z, 0, t, 1), (z, h, 0, 1), (z, h, t, 0), (z, width, heads * width, 1),
                   (2 * z, 2 * h, 2 * t, 2), (z + 3, h + 2, t + 1, 1), (z, h, t, -1), (-z, h, t, 1), (z, h, t, 2), (z, t, h, 1)]
        for oz, oh, om, od in choices:
            yield "attention_strides", "o", (cdiv(queries, 8), batch * heads, 1), dict(
                heads=heads, queries=queries, keys=1, width=width, stride_oz=oz, stride_oh=oh, stride_om=om, stride_od=od)
    for m, n in ((9, 5), (8, 9)):
        for os_, om, on in ((m * n, n, 1), (m * n - 1, n, 1), (m * n, n - 1, 1), (0, n, 1), (m * n, 0, 1), (m * n, n, 0), (1, 3 * n, 3),
                            (n, 3 * n, 1), (m * n, 1, m), (2 * m * n, 2 * n, 2), (m * n, n, -1)):
            yield "splitk_symbolic", "out", (cdiv(m, 8) * cdiv(n, 8) * 3, 1, 1), dict(
                m=m, n=n, k=1, stride_os=os_, stride_om=om, stride_on=on)


def executed(binary, conditions, log):
    cases = []
    for name, tensor, grid, values in variants():
        for kernel in (name, name + "_race"):
            cases.append((kernel, values, moved(read_launch(kernel + ".small"), tensor, grid, values)))
    of_text = {}
    for kernel in sorted({c[0] for c in cases}):
        done = subprocess.run([binary, "check", "--format=json", os.path.join(TTIR, kernel + ".small.ttir")], capture_output=True, text=True)
        v = json.loads(done.stdout)
        of_text[kernel] = condition_of(v)
        log.check(v["status"] != "ok" or of_text[kernel] is not None, f"{kernel}: proved for all parameters without a condition")
        log.check(kernel.endswith("_race") or v["status"] == "ok", f"{kernel}: the text alone is {v['status']}")
    proved = claimed = racing = 0
    for (kernel, values, launch), v in zip(cases, check_all(binary, [c[2] for c in cases])):
        truth = overlaps(binary, launch)
        where = f"{kernel} at {values}"
        log.check(truth is not None, f"{where}: not executed")
        log.check(not (v["status"] == "ok" and truth), f"{where}: {v['rung']} proof of a race")
        log.check(not (v["status"] == "races" and truth is False), f"{where}: a race that execution does not have")
        log.check(v["status"] in ("ok", "races"), f"{where}: {v['status']}")
        own = condition_of(v) if v["status"] == "ok" else None
        if own:
            log.check(v["rung"] == "T0" and holds(own, scalars(launch)), f"{where}: {v['rung']}, '{own}' does not hold")
        log.check(v["rung"] != "T0" or own, f"{where}: T0 without a condition")
        text = of_text[kernel]
        if text and holds(text, scalars(launch)):
            log.check(not truth, f"{where}: races although '{text}'")
            log.check(kernel.endswith("_race") or v["rung"] == "T0", f"{where}: '{text}' holds, {v['status']} {v['rung']}")
            claimed += 1
        proved += v["status"] == "ok"
        racing += bool(truth)
    print(f"{len(cases)} launches executed: {racing} race, {proved} proved, the condition of the text holds at {claimed}")
    log.check(racing >= 200 and proved >= 100 and claimed >= 60, "too few of one kind to mean something")


SPLIT_K = {"splitk_workspace": "T0", "splitk_at_launch": "T1-launch", "splitk_symbolic": "T0", "splitk_atomic": "T0",
           "splitk_workspace_race": None, "splitk_at_launch_race": None, "splitk_symbolic_race": None, "splitk_atomic_race": None}


def split_k(binary, log):
    launches = [read_launch(n) for n in SPLIT_K]
    for (name, rung), launch, v in zip(SPLIT_K.items(), launches, check_all(binary, launches)):
        programs = launch["grid"][0] * launch["grid"][1] * launch["grid"][2]
        log.check(programs == 2048, f"{name}: {programs} programs")
        log.check(v["status"] == ("ok" if rung else "races") and v["rung"] == rung, f"{name}: {v['status']} {v['rung']}")
        log.check(v["engines"]["z3"] == 0 and not v["z3_reasons"], f"{name}: asked Z3")
        log.check(bool(v["races"]) == (rung is None), f"{name}: {len(v['races'])} races")
        log.check(bool(v["grid_fragile"]) == (rung == "T1-launch"), f"{name}: {len(v['grid_fragile'])} at other grids")
        for race in v["races"]:
            log.check(race["confirmed"] and all(inside(race[k], launch["grid"]) for k in ("first", "second")), f"{name}: a race beyond the launch")
        for race in v["grid_fragile"]:
            log.check(race["grid"] != launch["grid"], f"{name}: evidence at the launch's own grid")
            log.check(not all(inside(race[k], launch["grid"]) for k in ("first", "second")), f"{name}: evidence with programs of the launch")
            log.check(all(inside(race[k], race["grid"]) for k in ("first", "second")), f"{name}: evidence beyond its grid")
    print(f"{len(SPLIT_K)} split-K launches without Z3")


def inside(access, grid):
    return all(0 <= p < n for p, n in zip(access["program"], grid))


def main():
    log = Failures()
    conditions = shipped(sys.argv[1], log)
    print(f"{len(conditions)} shipped launches are proved under a condition on parameters")
    log.check(len(conditions) >= 20, "too few conditions")
    row_major(conditions, log)
    split_k(sys.argv[1], log)
    executed(sys.argv[1], conditions, log)
    print(f"{len(log)} failures")
    return 1 if log else 0


if __name__ == "__main__":
    sys.exit(main())
