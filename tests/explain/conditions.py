#!/usr/bin/env python3
"""Race-free conditions against launches: conditions.py POLYRACE [LAUNCH.json...] [--verbose]

With --all every kernel; otherwise 20 of them.

For kernels whose condition over all parameters and grids is claimed exact, the verdict of `polyrace check` at every
grid up to 12 and every parameter up to 12, and at random large ones, must be a race exactly where the condition
fails. The condition is read by isl (islpy; the test is skipped without it). Default inputs: every racing small launch
of tests/kernels.
"""
import copy
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, TESTS)
from verdicts import program                                       # noqa: E402

try:
    import islpy
except ImportError:
    print("islpy is not here")
    sys.exit(77)

MOST = 12


def explanation(binary, path):
    done = subprocess.run([binary, "explain", "--format=json", path], capture_output=True, text=True)
    if done.returncode not in (0, 1, 2):
        raise RuntimeError(f"{path}: exit status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)["explanations"][0]


class Condition:
    """isl condition over parameters by name."""

    def __init__(self, text, names):
        body = {"always": "", "never": " : 1 = 0"}.get(text, f" : {text}")
        self.set = islpy.Set(f"[{', '.join(names)}] -> {{ {body} }}")

    def holds(self, values):
        s = self.set
        for i in range(s.dim(islpy.dim_type.param)):
            name = s.get_dim_name(islpy.dim_type.param, i)
            s = s.fix_val(islpy.dim_type.param, i, islpy.Val.int_from_si(islpy.DEFAULT_CONTEXT, values[name]))
        return not s.is_empty()


def wide(launch):
    """The launch with every tensor in the middle of a buffer that nothing leaves (T0 has no in-bounds premise)."""
    out = copy.deepcopy(launch)
    for i, a in enumerate(v for v in out["args"].values() if isinstance(v, dict) and "tensor" in v):
        t = a["tensor"]
        t["ptr"] = (i + 1) << 50
        t["storage"] = {"ptr": t["ptr"] - (1 << 48), "bytes": 1 << 49}
        t.pop("values", None)
    return out


def statuses(binary, launches):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", delete=False) as f:
        for x in launches:
            f.write(json.dumps(x) + "\n")
    try:
        done = subprocess.run([binary, "check", "--format=jsonl", "--jobs=1", f.name], capture_output=True, text=True)
        if done.returncode == 4:
            raise RuntimeError(done.stderr)
        out = [None] * len(launches)          # a launch that the text was not compiled for (divisibility) has none
        for line in done.stdout.splitlines():
            v = json.loads(line)
            out[int(re.search(r"(\d+)\D*$", v["input"])[1])] = v
        return out
    finally:
        os.unlink(f.name)


def main():
    binary = program()
    verbose = "--verbose" in sys.argv
    inputs = [a for a in sys.argv[1:] if a.endswith(".json")]
    every = inputs or sorted(glob.glob(os.path.join(TESTS, "kernels", "ttir", "*_race.small.json")))
    rng = random.Random(7)
    problems, kernels, launches, disjuncts = [], 0, 0, 0
    for path in every:
        x = explanation(binary, path)
        c = x and next((r for r in x["race_free"] if r["rung"] == "T0" and r["exact"] and r["condition"] is not None), None)
        if not c or (kernels >= 20 and not inputs and "--all" not in sys.argv):
            continue
        with open(path, encoding="utf-8") as f:
            launch = wide(json.load(f))
        with open(os.path.join(os.path.dirname(path), launch["ttir"]), encoding="utf-8") as f:
            launch["ttir_text"] = f.read()
        del launch["ttir"]
        scalars = [n for n, v in launch["args"].items() if isinstance(v, int) and not isinstance(v, bool)]
        names = scalars + ["grid0", "grid1", "grid2"]
        try:
            condition = Condition(c["condition"], names)
        except Exception as e:                                     # noqa: BLE001
            problems.append(f"{path}: isl does not read '{c['condition']}': {e}")
            continue
        axes = [i for i in range(3) if not c["pinned"][i]]
        points = []
        step = 16 if "tt.divisibility" in launch["ttir_text"] else 1     # half of the values are multiples of 16

        def grid_of(values):
            g = list(launch["grid"])
            for i, v in zip(axes, values):
                g[i] = v
            return g
        if len(axes) == 1 and len(scalars) <= 1:
            points = [(grid_of([g]), dict.fromkeys(scalars, n)) for g in range(1, MOST + 1)
                      for n in (sorted({k * m for k in range(MOST + 1) for m in (1, step)}) if scalars else [0])]
        else:
            for _ in range(150):
                points.append((grid_of([rng.randint(1, MOST) for _ in axes]), {s: rng.choice([1, step]) * rng.randint(0, MOST) for s in scalars}))
        for _ in range(100):
            points.append((grid_of([rng.choice([1, 2, 3, rng.randint(1, 60000)]) for _ in axes]),
                           {s: rng.choice([rng.randint(0, 100), rng.randint(0, 1 << 20)]) for s in scalars}))
        asked = []
        for grid, values in points:
            one = copy.copy(launch)
            one["grid"], one["args"] = grid, {**launch["args"], **values}
            asked.append(one)
        got = statuses(binary, asked)
        if sum(v is not None for v in got) < 30:
            problems.append(f"{path}: only {sum(v is not None for v in got)} of {len(asked)} launches were read")
        kernels += 1
        disjuncts = max(disjuncts, c["disjuncts"])
        races = 0
        for (grid, values), v in zip(points, got):
            if not v or v["status"] not in ("ok", "races"):
                continue
            launches += 1
            races += v["status"] == "races"
            at = {**{n: 0 for n in names}, **{f"grid{i}": grid[i] for i in range(3)}, **launch["args"], **values}
            says = condition.holds({n: at[n] for n in names})
            if says != (v["status"] == "ok"):
                problems.append(f"{path}: '{c['condition']}' is {says} at grid {grid}, {values}: {v['status']}")
        if verbose:
            print(f"{os.path.basename(path)}: {c['condition']}: {len(points)} launches, {races} race")
    for p in problems[:20]:
        print(p)
    print(f"{kernels} exact conditions, at most {disjuncts} disjuncts, {launches} launches compared; {len(problems)} problems")
    if not inputs and (kernels < 10 or disjuncts > 4):
        print("too few conditions, or too long")
        return 1
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
