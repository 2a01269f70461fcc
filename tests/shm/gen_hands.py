#!/usr/bin/env python3
"""Random loops that hand their buffers around, and choose among them, against a machine of their own: gen_hands.py POLYRACE [--n N] [--seed S]

Each kernel has two to four buffers that a loop carries in some order and hands on in some other one, maybe two of the same. An
iteration copies into one of them by cp.async, commits or not, waits for all but some groups, and reads one, or one of two: by
the parity of the iteration or by an argument. The machine below runs iterations 0 to K for every K below 14 and says whether some
read or copy meets a copy that no wait covers. A proof of a kernel that it sees fail is wrong, and so is a report about one that never does."""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from hand import ALLOC, COPY, END, HEAD, READ, T, TAIL  # noqa: E402


def make(rng):
    n = rng.randint(2, 4)
    order = list(range(n))
    if rng.random() < 0.8:
        order = order[1:] + order[:1] if rng.random() < 0.7 else rng.sample(order, n)
    else:
        order = [rng.randrange(n) for _ in order]
    ops = [("copy", rng.choice([n - 1, rng.randrange(n)]), rng.random() < 0.9), ("wait", rng.choice([0, 0, 0, 1, 1, 2, 3])),
           (rng.choice(["read", "read", "parity", "argument"]), rng.choice([0, rng.randrange(n)]), rng.randrange(n))]
    if rng.random() < 0.3:
        rng.shuffle(ops)
    if rng.random() < 0.3:
        ops.append(("wait", 0))
    return n, order, ops, rng.randint(0, n - 1)


def text(n, order, ops, first):
    names = [f"%b{i}" for i in range(n)]
    lines = "".join(ALLOC.replace("%a", f"%s{i}") for i in range(n))
    for i in range(first):
        lines += COPY.replace("%a", f"%s{i}").replace("%t", f"%pt{i}").replace("%g", f"%pg{i}")
    args = ", ".join(f"%b{i} = %s{i}" for i in range(n))
    lines += f"    %two = arith.constant 2 : i32\n    %z:{n} = scf.for %k = %c0 to %K step %c1 iter_args({args}) -> ({', '.join([T] * n)})  : i32 {{\n"
    for j, op in enumerate(ops):
        if op[0] == "copy":
            copy = COPY.replace("%a", names[op[1]]).replace("%t", f"%t{j}").replace("%g", f"%g{j}")
            lines += copy if op[2] else copy.split("\n")[0] + "\n"
        elif op[0] == "wait":
            lines += f"      %w{j} = ttg.async_wait {{num = {op[1]} : i32}}\n"
        else:
            by = names[op[1]]
            if op[0] != "read":
                cond = f"      %m{j} = arith.remsi %k, %two : i32\n      %q{j} = arith.cmpi eq, %m{j}, %c0 : i32\n" if op[0] == "parity" else ""
                lines += cond + f"      %v{j} = arith.select {f'%q{j}' if cond else '%c'}, {names[op[1]]}, {names[op[2]]} : {T}\n"
                by = f"%v{j}"
            lines += READ.replace("%a", by).replace("%r", f"%r{j}")
    lines += f"      scf.yield {', '.join(names[i] for i in order)} : {', '.join([T] * n)}\n" + END
    return HEAD % 1 + lines + TAIL


def fails(n, order, ops, first, trips, flag):
    """Does some access meet a copy that is not known to be complete?"""
    at, groups, pending = list(range(n)), 0, []          # pending: (buffer, group of its commit or None)
    for i in range(first):
        pending.append([i, groups])
        groups += 1
    for k in range(trips):
        for op in ops:
            if op[0] == "wait":
                pending = [p for p in pending if p[1] is None or p[1] >= groups - op[1]]
                continue
            if op[0] == "copy":
                if any(p[0] == at[op[1]] for p in pending):
                    return True
                pending.append([at[op[1]], None])
                if op[2]:
                    for p in pending:
                        p[1] = groups if p[1] is None else p[1]
                    groups += 1
                continue
            which = op[1] if op[0] == "read" or (op[0] == "parity" and k % 2 == 0) or (op[0] == "argument" and flag) else op[2]
            if any(p[0] == at[which] for p in pending):
                return True
        at = [at[i] for i in order]
    return False


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("program")
    ap.add_argument("--n", type=int, default=200)
    ap.add_argument("--seed", type=int, default=1)
    a = ap.parse_args()
    counts, wrong = {}, 0
    for seed in range(a.seed, a.seed + a.n):
        kernel = make(random.Random(seed))
        bad = any(fails(*kernel, trips, flag) for trips in range(14) for flag in (False, True))
        with tempfile.NamedTemporaryFile("w", suffix=".ttgir", delete=False, encoding="utf-8") as f:
            f.write(text(*kernel))
        try:
            done = subprocess.run([a.program, "check", "--format=json", "--cross-check", f.name], capture_output=True, text=True)
        finally:
            os.unlink(f.name)
        v = json.loads(done.stdout) if done.stdout else {"status": "error " + done.stderr.strip(), "refusals": []}
        status = "internal" if any(r["kind"] == "internal" for r in v["refusals"]) else v["status"]
        counts["broken" if bad else "correct", status] = counts.get(("broken" if bad else "correct", status), 0) + 1
        if (status == "ok" and bad) or (status == "races" and not bad) or status not in ("ok", "races", "unsupported"):
            print(f"seed {seed}: {'broken' if bad else 'correct'} {kernel}: {status}")
            wrong += 1
    for key in sorted(counts):
        print(f"{key[0]:8} {key[1]:12} {counts[key]}")
    correct = sum(n for k, n in counts.items() if k[0] == "correct")
    proved = counts.get(("correct", "ok"), 0)
    print(f"{a.n} kernels, {100 * correct // a.n} % correct, {proved} proved, {wrong} wrong")
    if a.n >= 200 and (not 25 <= 100 * correct // a.n <= 75 or 10 * proved < 9 * correct):
        print("the mix is off, or too little is proved")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
