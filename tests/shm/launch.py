#!/usr/bin/env python3
"""Launch values of a launch file: launch.py POLYRACE

A proof for every trip count stays one; what is refused or wrong for other values may be proved for the launch's own, with
scope "launch"; what is wrong at the launch's values is found there."""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import hand  # noqa: E402

READY = "      %w = ttg.async_wait {num = 0 : i32}\n"
# an inner loop whose step is an argument, around a loop over tiles: the trip count is no linear form
STEPS = (hand.ALLOC + "    %pid = tt.get_program_id x : i32\n    %np = tt.get_num_programs x : i32\n"
         "    scf.for %tile = %pid to %K step %np  : i32 {\n    scf.for %k = %c0 to %K step %S  : i32 {\n" + hand.COPY + READY + hand.READ + hand.END + hand.END)
# beside a partition nothing is read one iteration at a time
SIDE = ("    ttg.warp_specialize()\n    default {\n      ttg.warp_yield\n    }\n    partition0() num_warps(1) {\n      ttg.warp_return\n    } : () -> ()\n")
# a copy that only the program numbers of the grid decide about, never waited for when there are more than four
PROGRAMS = (hand.ALLOC + "    %pid = tt.get_program_id x : i32\n    %four = arith.constant 4 : i32\n    %late = arith.cmpi sge, %pid, %four : i32\n"
            "    scf.if %late {\n" + hand.COPY + "    }\n" + hand.READ + READY)


def text(body):
    return (hand.HEAD % 1).replace("%K: i32, %c: i1", "%K: i32, %S: i32, %c: i1") + body + hand.TAIL


def consan(name):
    with open(os.path.join(HERE, "consan", "ttgir", name + ".ttgir"), encoding="utf-8") as f:
        return f.read()


def check(program, ttgir, values, grid, *options):
    launch = {"version": 1, "ttgir_text": ttgir, "args": {}, "grid": grid}
    head = next(line for line in ttgir.splitlines() if "tt.func public" in line)
    launch["args"] = {n: values.get(n) for n in re.findall(r"%([\w.$-]+): ", head)}
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as f:
        json.dump(launch, f)
    try:
        done = subprocess.run([program, "check", "--format=json", *options, f.name], capture_output=True, text=True)
        shown = subprocess.run([program, "check", *options, f.name], capture_output=True, text=True)
    finally:
        os.unlink(f.name)
    if done.returncode not in (0, 1, 2):
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout), shown.stdout


# text, values, grid, options, status, scope or a finding or a refusal, part of the notes
CASES = [
    ("every", consan("rounds.ok"), {"K": 8}, [1, 1, 1], (), "ok", "every-trip-count", ""),
    ("K=8", consan("zero_trips.always"), {"K": 8}, [1, 1, 1], (), "ok", "launch", "at other launch values: BAR-INVAL-PENDING"),
    ("K=1", consan("zero_trips.always"), {"K": 1}, [1, 1, 1], (), "ok", "launch", ""),
    ("K=0", consan("zero_trips.always"), {"K": 0}, [1, 1, 1], (), "hazard", "BAR-INVAL-PENDING", ""),
    ("K open", consan("zero_trips.always"), {}, [1, 1, 1], (), "hazard", "BAR-INVAL-PENDING", ""),
    ("t0", consan("zero_trips.always"), {"K": 8}, [1, 1, 1], ("--rung=t0", ), "hazard", "BAR-INVAL-PENDING", ""),
    ("z3", consan("zero_trips.always"), {"K": 8}, [1, 1, 1], ("--engine=z3", ), "hazard", "BAR-INVAL-PENDING", "not proved safe"),
    ("guard K=0", consan("early_return.guarded"), {"K": 0}, [1, 1, 1], (), "deadlock", "BAR-STUCK", ""),
    ("guard K=3", consan("early_return.guarded"), {"K": 3}, [1, 1, 1], (), "ok", "launch", "at other launch values: BAR-STUCK"),
    ("wrong at every K", consan("rounds.w0"), {"K": 8}, [1, 1, 1], (), "races", "SHM-WAR", ""),
    # a loop that no tile may reach says nothing of its step
    ("step, tiles alone, open", text(STEPS), {"K": 64}, [4, 1, 1], (), "unsupported", "data-dependent-sync", ""),
    ("step, tiles alone", text(STEPS), {"K": 64, "S": 16}, [4, 1, 1], (), "ok", "launch", "not for every trip count: data-dependent-sync"),
    ("step open", text(SIDE + STEPS), {"K": 64}, [4, 1, 1], (), "unsupported", "data-dependent-sync", ""),
    ("step", text(SIDE + STEPS), {"K": 64, "S": 16}, [4, 1, 1], (), "ok", "launch", "not for every trip count: data-dependent-sync"),
    ("step, no wait", text(STEPS.replace(READY, "")), {"K": 64, "S": 16}, [4, 1, 1], (), "races", "PEND-CP", ""),
    ("four programs", text(PROGRAMS), {}, [4, 1, 1], (), "ok", "launch", "at other launch values: PEND-CP"),
    ("five programs", text(PROGRAMS), {}, [5, 1, 1], (), "races", "PEND-CP", ""),
    ("a thousand", text(PROGRAMS), {}, [1000, 1, 1], (), "races", "PEND-CP", ""),
    ("other axis", text(PROGRAMS), {}, [4, 9, 9], (), "ok", "launch", ""),
]


def main():
    program, bad = sys.argv[1], 0
    for name, ttgir, values, grid, options, status, word, note in CASES:
        problem = None
        try:
            v, shown = check(program, ttgir, values, grid, *options)
            got = [v["scope"]] + [f["id"] for f in v["findings"]] + [r["kind"] for r in v["refusals"]]
            if v["status"] != status or word not in got:
                problem = f"{v['status']} {got}, expected {status} {word}"
            elif note and not any(note in n for n in v["notes"]):
                problem = f"no note {note!r} in {v['notes']}"
            elif status == "ok" and ("for the values of this launch" in shown) != (word == "launch"):
                problem = shown
        except (RuntimeError, ValueError, KeyError) as e:
            problem = str(e)
        if problem:
            print(f"{name}: {problem}")
            bad += 1
    print(f"{len(CASES) - bad} of {len(CASES)} launches as expected")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
