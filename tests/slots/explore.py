#!/usr/bin/env python3
"""Random kernels whose positions come from arrays of counters, against executions: explore.py [polyrace] [--count=N] [--seed=S] [--fault=N]

Up to three programs of two or four lanes, one or two turns of a loop, one or two additions a turn. The cell of a lane is arithmetic or an entry of a
table, whose contents the launch gives or does not; counters start at different values or at unknown ones; additions are masked, of several amounts,
and others may write the counters. The position is made of the result, a cell and the lane, under a bound or not. Orders of the atomics (and contents, where
they are not given) are drawn at random and executed here. `ok` must mean that none lets two lanes store to one place, `races` that some does.
--fault: the program has a side condition dropped, and a false proof must be found."""
import json
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from verdicts import check, program                               # noqa: E402

CELLS = 4


class Draw:
    def __init__(self, r, first=None):
        self.table = r.random() < .5
        self.by = r.choice([(1, 0, 0), (1, 1, 0), (0, 1, 0), (1, 2, 1), (2, 1, 0), (3, 1, 1)])     # lane, program, turn
        self.mod = r.choice([1, 2, 3, 4])
        self.amount = first.amount if first and r.random() < .7 else r.choice([1, 1, 1, 1, 2, -1, -1, 0])
        self.mask = r.choice(["all", "all", "all", "even", "low", "known"])


class Kernel:
    def __init__(self, seed):
        r = random.Random(seed)
        self.programs, self.turns = r.choice([1, 2, 2, 3]), r.choice([1, 1, 1, 2])
        self.lanes = r.choice([2, 4, 4])
        self.draws = [Draw(r)]
        if r.random() < .3:
            self.draws.append(Draw(r, self.draws[0]))
        if len(self.draws) > 1 and r.random() < .4:
            self.draws[1].by, self.draws[1].mod, self.draws[1].table = self.draws[0].by, self.draws[0].mod, self.draws[0].table
        self.known = r.random() < .75
        self.entries = [r.randrange(CELLS) for _ in range(64)]
        start = r.choice([0, 0, 0, 1, -2, None, "mixed"])
        self.start = None if start is None else [r.choice([0, 3, -1, 10]) for _ in range(CELLS)] if start == "mixed" else [start] * CELLS
        self.other = r.choice(["no"] * 7 + ["xchg", "store", "min", "add"])
        self.other_at = r.randrange(CELLS + 2)
        self.cell_weight, self.slot_weight = r.choice([(32, 1), (32, 1), (8, 1), (4, 1), (1, 4), (1, 32), (0, 1), (3, 1)])
        self.lane_weight = r.choice([0, 0, 0, 0, 1, -1])
        self.whose = r.choice([0, 0, 0, 0, 1])                     # the cell in the position is that of the neighbour's lane
        self.bound = r.choice([None, None, 32, 8, 4, 3])
        self.at_least = r.random() < .5                            # ... and not below 0
        self.store_mask = r.choice(["own", "own", "own", "own", "all"])
        self.div = r.choice([1, 1, 1, 1, 1, 2])

    def text(self):
        n, out, seq = self.lanes, [], [0]
        t, p, b = f"tensor<{n}xi32>", f"tensor<{n}x!tt.ptr<i32>>", f"tensor<{n}xi1>"
        say = out.append

        def op(kind, x, y, ty=t):
            seq[0] += 1
            say(f"%v{seq[0]} = {kind} {x}, {y} : {ty}")
            return f"%v{seq[0]}"

        def const(v):
            seq[0] += 1
            say(f"%v{seq[0]} = arith.constant dense<{v}> : {t}")
            return f"%v{seq[0]}"

        def splat(x):
            seq[0] += 1
            say(f"%v{seq[0]} = tt.splat {x} : i32 -> {t}")
            return f"%v{seq[0]}"

        def at(base, x):
            seq[0] += 2
            say(f"%v{seq[0] - 1} = tt.splat {base} : !tt.ptr<i32> -> {p}")
            say(f"%v{seq[0]} = tt.addptr %v{seq[0] - 1}, {x} : {p}, {t}")
            return f"%v{seq[0]}"

        say("%pid = tt.get_program_id x : i32")
        say("%c0 = arith.constant 0 : i32")
        say("%c1 = arith.constant 1 : i32")
        say(f"%turns = arith.constant {self.turns} : i32")
        say(f"%lane = tt.make_range {{end = {n} : i32, start = 0 : i32}} : {t}")
        say(f"%set = arith.constant dense<true> : {b}")
        pid = splat("%pid")
        if self.other != "no":
            say(f"%first = arith.cmpi eq, %pid, %c0 : i32")
            say(f"%oc = arith.constant {self.other_at} : i32")
            say(f"%oa = tt.addptr %cnt, %oc : !tt.ptr<i32>, i32")
            if self.other == "store":
                say("tt.store %oa, %c0, %first : !tt.ptr<i32>")
            else:
                say(f"%or = tt.atomic_rmw {dict(xchg='exch', min='min', add='add')[self.other]}, relaxed, gpu, %oa, {'%c1' if self.other == 'add' else '%c0'}, %first : (!tt.ptr<i32>, i32, i1) -> i32")
        say("scf.for %k = %c0 to %turns step %c1 : i32 {" if self.turns > 1 else "%k = arith.constant 0 : i32")
        turn = splat("%k")
        for d in self.draws:
            def cell_of(lane):
                x = op("arith.muli", lane, const(d.by[0]))
                x = op("arith.addi", x, op("arith.muli", pid, const(d.by[1])))
                x = op("arith.addi", x, op("arith.muli", turn, const(d.by[2])))
                if not d.table:
                    return op("arith.remsi", x, const(d.mod))
                x = at("%ids", x)
                seq[0] += 1
                say(f"%v{seq[0]} = tt.load {x} : {p}")
                return f"%v{seq[0]}"
            own = cell_of("%lane")
            mask = "%set"
            if d.mask == "even":
                mask = op("arith.cmpi eq,", op("arith.andi", "%lane", const(1)), const(0))
            elif d.mask == "low":
                mask = op("arith.cmpi slt,", "%lane", const(n - 1))
            elif d.mask == "known":
                mask = op("arith.cmpi slt,", own, const(2))
            seq[0] += 1
            s = f"%v{seq[0]}"
            say(f"{s} = tt.atomic_rmw add, relaxed, gpu, {at('%cnt', own)}, {const(d.amount)}, {mask} : ({p}, {t}, {b}) -> {t}")
            cell = cell_of(op("arith.xori", "%lane", const(1))) if self.whose else own
            slot = op("arith.divsi", s, const(self.div)) if self.div > 1 else s
            pos = op("arith.muli", cell, const(self.cell_weight))
            pos = op("arith.addi", pos, op("arith.muli", slot, const(self.slot_weight)))
            pos = op("arith.addi", pos, op("arith.muli", "%lane", const(self.lane_weight)))
            m = mask if self.store_mask == "own" else "%set"
            if self.bound is not None:
                m = op("arith.andi", m, op("arith.cmpi slt,", s, const(self.bound)), b)
                if self.at_least:
                    m = op("arith.andi", m, op("arith.cmpi sge,", s, const(0)), b)
            say(f"tt.store {at('%out', pos)}, {s}, {m} : {p}")
        if self.turns > 1:
            say("}")
        text = "\n    ".join(out)
        return f"module {{\n  tt.func public @k(%ids: !tt.ptr<i32>, %cnt: !tt.ptr<i32>, %out: !tt.ptr<i32>) {{\n    {text}\n    tt.return\n  }}\n}}\n"

    def launch(self, name):
        def tensor(ptr, n, values=None, before=0, cells=None):
            x = {"dtype": "int32", "ptr": ptr + 4 * before, "shape": [n], "strides": [1], "storage": {"ptr": ptr, "bytes": 4 * (n + before)}}
            if values is not None:
                x["values"] = values
            return {"tensor": x}
        cnt = None if self.start is None else self.start + [0] * 12
        return {"version": 1, "kernel": "k", "ttir": name, "grid": [self.programs, 1, 1], "args": {
            "ids": tensor(65536, 64, self.entries if self.known else None), "cnt": tensor(131072, 16, cnt),
            "out": tensor(262144, 4096, before=2048)}}

    def execute(self, rng):
        """One execution: does it let two lanes store to one place?"""
        entries = self.entries if self.known else [rng.randrange(CELLS) for _ in range(64)]
        count = dict(enumerate(self.start + [0] * 12 if self.start is not None else [rng.choice([0, 0, 5, -1, -7])] * 4 + [0] * 12))
        todo, seen = [], {}
        for q in range(self.programs):
            for lane in range(self.lanes):
                mine = []
                for k in range(self.turns):
                    for j, d in enumerate(self.draws):
                        def cell_of(x):
                            i = x * d.by[0] + q * d.by[1] + k * d.by[2]
                            return entries[i] if d.table else i % d.mod
                        own = cell_of(lane)
                        run = {"all": True, "even": lane % 2 == 0, "low": lane < self.lanes - 1, "known": own < 2}[d.mask]
                        mine.append((j, own, run, cell_of(lane ^ 1) if self.whose else own, d.amount))
                todo.append([q, lane, mine])
        other = self.other != "no"
        style = rng.random()
        while any(x[2] for x in todo) or other:
            if other and (rng.random() < .2 or not any(x[2] for x in todo)):
                other = False
                count[self.other_at] = {"xchg": 0, "store": 0, "min": min(count[self.other_at], 0), "add": count[self.other_at] + 1}[self.other]
                continue
            left = [x for x in todo if x[2]]
            x = rng.choice(left if style < .6 else left[-1:] if style < .7 else left[:1] if style < .8 else left[:2])
            j, own, run, cell, amount = x[2].pop(0)
            if not run:
                if self.store_mask == "own":
                    continue
                s = rng.choice([0, 1, 2, -1])                      # what a masked-off lane of an atomic returns is anything
            else:
                s = count[own]
                count[own] += amount
                if self.other == "store" and own == self.other_at:
                    return True
            slot = int(s / self.div)
            if self.bound is not None and (s >= self.bound or (self.at_least and s < 0)):
                continue
            pos = cell * self.cell_weight + slot * self.slot_weight + x[1] * self.lane_weight
            who = (x[0], x[1], j)
            if seen.setdefault(pos, who) != who:
                return True
        return False

    def races(self, rng, most):
        return any(self.execute(rng) for _ in range(most))


def main():
    number = lambda name, value: int(next((a.split("=")[1] for a in sys.argv if a.startswith(f"--{name}=")), value))   # noqa: E731
    count, seed, fault = number("count", 1000), number("seed", 0), number("fault", 0)
    if fault:
        os.environ["POLYRACE_FAULT"] = str(fault)
    binary, bad, seen = program(), [], {"ok": 0, "races": 0, "unsupported": 0}
    with tempfile.TemporaryDirectory() as d:
        names = {}
        for i in range(count):
            k = Kernel(seed + i)
            names[os.path.join(d, f"{i}.json")] = k
            with open(os.path.join(d, f"{i}.ttir"), "w", encoding="utf-8") as f:
                f.write(k.text())
            with open(os.path.join(d, f"{i}.json"), "w", encoding="utf-8") as f:
                json.dump(k.launch(f"{i}.ttir"), f)
        verdicts, problems = check(binary, list(names), ["--atomic-order=strict"])
        for p in problems[:5]:
            bad.append(p)
        for i, (name, k) in enumerate(names.items()):
            v = verdicts.get(name)
            if v is None:
                continue
            seen[v["status"]] = seen.get(v["status"], 0) + 1
            rng = random.Random(i)
            if v["status"] == "ok" and k.races(rng, 150):
                bad.append(f"seed {seed + i}: proved, and an execution lets two lanes meet")
            if v["status"] == "races" and not fault and not k.races(rng, 3000):
                bad.append(f"seed {seed + i}: a race that 3000 executions do not show")
    print(f"{count} kernels: {seen['ok']} proved, {seen['races']} race, {seen['unsupported']} left open, {len(bad)} wrong")
    for b in bad[:10]:
        print("  " + b)
    if fault:
        return 0 if any("proved" in b for b in bad) else 1
    few = seen["ok"] < count // 10 or seen["races"] < count // 10
    if few:
        print("  too few are decided")
    return 1 if bad or few else 0


if __name__ == "__main__":
    sys.exit(main())
