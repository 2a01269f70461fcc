#!/usr/bin/env python3
"""Random kernels with tile atomics against every execution: tiles.py [polyrace] [--count=N] [--seed=S] [--fault=N]

One or two programs; a few atomics of two or four lanes on neighbouring cells, some masked, with and without barriers between;
then a store to one cell, or to one for each lane, by the lanes whose last result is a given value. Every order of the
atomics of each cell that the barriers allow is enumerated: lanes of one operation and of two without a barrier between are
unordered. `ok` must mean that no two lanes ever store to one cell, `races` that some do. --fault: the program has a side
condition dropped, and a false proof must be found."""
import itertools
import json
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from verdicts import check, program                               # noqa: E402

CELLS = 8


def make(seed):
    """(programs, lanes, [(kind, shift, value, lanes that act, barrier behind)], wanted, store per lane)"""
    r = random.Random(seed)
    n, lanes = r.choice([1, 1, 2]), r.choice([2, 2, 4])
    ops = []
    for _ in range(r.choice([1, 1, 2])):
        ops.append((r.choice(["exch", "exch", "add", "or", "max"]), r.choice([0, 0, 0, 1, 2]), r.choice([0, 1, 1, 2]),
                    lanes if r.random() < .8 else r.randrange(1, lanes), r.random() < .75))
    ops.append((r.choice(["add", "add", "exch"]), r.choice([0, 0, 0, 1]), r.choice([0, 0, 1]), lanes, False))
    return n, lanes, ops, r.choice([0, 0, 1, 2]), r.random() < .2, [r.choice([0, 0, 0, 1])] * CELLS


def text(n, lanes, ops, wanted, apart):
    t, out = f"tensor<{lanes}xi32>", []
    say = out.append
    for v in range(8):
        say(f"%c{v} = arith.constant dense<{v}> : {t}")
    say(f"%all = arith.constant dense<true> : tensor<{lanes}xi1>")
    say(f"%lane = tt.make_range {{end = {lanes} : i32, start = 0 : i32}} : {t}")
    say(f"%f = tt.splat %flag : !tt.ptr<i32> -> tensor<{lanes}x!tt.ptr<i32>>")
    for i, (kind, shift, value, acting, bar) in enumerate(ops):
        say(f"%i{i} = arith.addi %lane, %c{shift} : {t}")
        say(f"%a{i} = tt.addptr %f, %i{i} : tensor<{lanes}x!tt.ptr<i32>>, {t}")
        mask = "%all"
        if acting < lanes:
            mask = f"%m{i}"
            say(f"{mask} = arith.cmpi slt, %lane, %c{acting} : {t}")
        say(f"%r{i} = tt.atomic_rmw {kind}, relaxed, gpu, %a{i}, %c{value}, {mask} : (tensor<{lanes}x!tt.ptr<i32>>, {t}, tensor<{lanes}xi1>) -> {t}")
        if bar:
            say("ttg.barrier all")
    say(f"%hit = arith.cmpi eq, %r{len(ops) - 1}, %c{wanted} : {t}")
    say(f"%o = tt.splat %out : !tt.ptr<i32> -> tensor<{lanes}x!tt.ptr<i32>>")
    at = "%o"
    if apart:
        at = "%p"
        say(f"%p = tt.addptr %o, %lane : tensor<{lanes}x!tt.ptr<i32>>, {t}")
    say(f"tt.store {at}, %lane, %hit : tensor<{lanes}x!tt.ptr<i32>>")
    return "module {\n  tt.func public @k(%flag: !tt.ptr<i32>, %out: !tt.ptr<i32>) {\n    " + "\n    ".join(out) + "\n    tt.return\n  }\n}\n"


def launch(n, init, name):
    cell = lambda ptr: {"dtype": "int32", "ptr": ptr, "shape": [CELLS], "strides": [1]}   # noqa: E731
    return {"version": 1, "kernel": "k", "ttir": name, "grid": [n, 1, 1],
            "args": {"flag": {"tensor": dict(cell(65536), values=init)}, "out": {"tensor": cell(131072)}}}


def result(kind, old, v):
    return {"exch": v, "add": old + v, "or": old | v, "max": max(old, v)}[kind]


def seen(events, start):
    """Sets of (program, lane) -> last result that the orders of one cell give. events: (program, lane, op, epoch, kind, value, asked)"""
    out = set()

    def go(left, value, got):
        if not left:
            out.add(got)
            return
        for e in left:
            if any(o[0] == e[0] and o[3] < e[3] for o in left):
                continue
            go(left - {e}, result(e[4], value, e[5]), got + (((e[0], e[1]), value),) if e[6] else got)
    go(frozenset(events), start, ())
    return {tuple(sorted(x)) for x in out}


def races(n, lanes, ops, wanted, apart, init):
    """Does some execution have two lanes that store to one cell? None: too many."""
    cells = {}
    for p in range(n):
        epoch = 0
        for i, (kind, shift, value, acting, bar) in enumerate(ops):
            for lane in range(acting):
                cells.setdefault(lane + shift, []).append((p, lane, i, epoch, kind, value, i == len(ops) - 1))
            epoch += bar
    if any(len(c) > 7 for c in cells.values()):
        return None
    options = [{tuple(who for who, v in x if v == wanted) for x in seen(e, init[c])} for c, e in cells.items()]
    for choice in itertools.product(*options):
        hits = [lane if apart else 0 for x in choice for _, lane in x]
        if len(set(hits)) < len(hits):
            return True
    return False


def main():
    opt = dict(a[2:].split("=", 1) for a in sys.argv[1:] if a.startswith("--") and "=" in a)
    count, seed, fault = int(opt.get("count", 800)), int(opt.get("seed", 1)), opt.get("fault")
    if fault:
        os.environ["POLYRACE_FAULT"] = fault
    tally, failed, safe = {}, 0, 0
    with tempfile.TemporaryDirectory(prefix="tiles-") as folder:
        kernels = {}
        for k in range(seed, seed + count):
            n, lanes, ops, wanted, apart, init = make(k)
            stem = os.path.join(folder, f"k{k}")
            with open(stem + ".ttir", "w", encoding="utf-8") as f:
                f.write(text(n, lanes, ops, wanted, apart))
            with open(stem + ".json", "w", encoding="utf-8") as f:
                json.dump(launch(n, init, f"k{k}.ttir"), f)
            kernels[stem + ".json"] = (n, lanes, ops, wanted, apart, init)
        verdicts, problems = check(program(), list(kernels), ["--atomic-order=strict"], chunk=250)
        for p in problems:
            failed += 1
            print("FAIL", p)
        for name, kernel in kernels.items():
            truth = races(*kernel)
            if truth is None or name not in verdicts:
                continue
            status = verdicts[name]["status"]
            tally[status, truth] = tally.get((status, truth), 0) + 1
            safe += status == "ok" and not kernel[4]
            if (status == "ok" and truth) or (status == "races" and not truth) or status == "vacuous":
                failed += 1
                print(f"{'found' if fault else 'FAIL'} {status}, but it {'races' if truth else 'does not race'}: {kernel}")
                if fault:
                    return 0
    print(tally, f"{failed} failures; {safe} safe by the values of their tiles")
    if fault:
        print(f"FAIL fault {fault} is not found")
        return 1
    return 1 if failed or safe < count // 40 else 0


if __name__ == "__main__":
    sys.exit(main())
