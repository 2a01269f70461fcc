#!/usr/bin/env python3
"""Random kernels that store at positions made of running sums, against all contents and orders: explore.py [polyrace] [--count=N] [--seed=S] [--fault=N]

Up to three programs, two or four lanes (or 2 x 2), one or two turns. Two masks come from memory; what is summed, what is counted and
what masks the store are random conditions over them; the base is drawn from a counter, or a range of the program, or of all of them.
Every (or, where there are too many, a random part of) contents of the masks and every order of the programs is executed here.
`ok` must mean that no two lanes ever store to one cell. --fault: the program has a side condition dropped, and a false proof must be found."""
import itertools
import json
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from verdicts import check, program                               # noqa: E402

CONDS = {"p": lambda p, q: p, "q": lambda p, q: q, "and": lambda p, q: p & q, "or": lambda p, q: p | q, "not": lambda p, q: 1 - p, "all": lambda p, q: 1}
MOST = 3000


class Kernel:
    def __init__(self, seed):
        r = random.Random(seed)
        self.programs, self.turns = r.choice([1, 2, 2, 2, 3]), r.choice([1, 1, 1, 2])
        self.loop = self.turns > 1 or r.random() < .1
        self.shape = r.choice([(2,), (4,), (4,), (2, 2)])
        self.lanes = 4 if len(self.shape) == 2 else self.shape[0]
        self.axis = r.randrange(len(self.shape))
        same = r.choice(["p", "p", "and", "or", "not", "q"])
        near = lambda share: same if r.random() < share else r.choice(list(CONDS))   # noqa: E731
        self.summed, self.counted, self.mask = same, near(.75), near(.75)
        self.own = None if r.random() < .6 else near(.8)          # exclusive: less the value of this condition
        self.reverse = r.random() < .25
        self.bits = r.choice([32, 32, 32, 64, 8])
        self.weight = r.choice([1, 1, 1, 1, 1, 2, 60]) if self.bits == 8 else r.choice([1, 1, 1, 2])
        self.shift = r.choice([0, 0, -1, 1])
        self.more = r.choice([0, 0, 0, 0, 1, -1])                 # added to the count
        self.base = r.choice(["draw", "draw", "draw", "range", "range", "one"]) if len(self.shape) == 1 else "range"
        self.stride = self.lanes * self.weight + r.choice([0, 0, 0, -1, 1])
        self.by_turn = r.random() < .8
        self.row = r.choice([self.shape[self.axis] * self.weight] * 3 + [1]) if len(self.shape) == 2 else 0
        self.row_axis = 1 - self.axis if r.random() < .8 else self.axis
        self.tilt = r.choice([0, 0, 0, 0, 1, -1])                 # times the lane's number is added
        self.writes = r.random() < .05                            # the kernel writes a mask that it reads

    def text(self):
        out = []
        say = lambda s: out.append(s)                             # noqa: E731
        dims = "x".join(str(d) for d in self.shape)
        n, flat = self.lanes, f"{self.lanes}"
        w, t, b = f"i{self.bits}", f"tensor<{dims}xi{self.bits}>", f"tensor<{dims}xi1>"
        i32 = f"tensor<{dims}xi32>"
        say("%pid = tt.get_program_id x : i32")
        for name, v in (("c0", 0), ("c1", 1), ("turns", self.turns), ("n", n), ("stride", self.stride), ("more", self.more)):
            say(f"%{name} = arith.constant {v} : i32")
        say("%true = arith.constant true")
        say(f"%lane1 = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{flat}xi32>")
        say(f"%lane = tt.reshape %lane1 : tensor<{flat}xi32> -> {i32}" if len(self.shape) == 2 else f"%lane = arith.addi %lane1, %lane1 : {i32}")
        if len(self.shape) == 1:
            out[-1] = f"%lane = tt.reshape %lane1 : tensor<{flat}xi32> -> {i32}"
        for m in "pq":
            say(f"%s{m} = tt.splat %{m} : !tt.ptr<i8> -> tensor<{dims}x!tt.ptr<i8>>")
        say(f"%so = tt.splat %out : !tt.ptr<i8> -> tensor<{dims}x!tt.ptr<i8>>")
        say(f"%zero8 = arith.constant dense<0> : tensor<{dims}xi8>")
        say(f"%allset = arith.constant dense<true> : {b}")
        say(f"%shift = arith.constant dense<{self.shift}> : {t}")
        say(f"%weight = arith.constant dense<{self.weight}> : {t}")
        say(f"%nought = arith.constant dense<0> : {t}")
        say("scf.for %k = %c0 to %turns step %c1 : i32 {" if self.loop else "%k = arith.constant 0 : i32")
        say("%pt = arith.muli %pid, %turns : i32")
        say("%ptk = arith.addi %pt, %k : i32")
        say("%first = arith.muli %ptk, %n : i32")
        say(f"%firsts = tt.splat %first : i32 -> {i32}")
        say(f"%at = arith.addi %firsts, %lane : {i32}")
        for m in "pq":
            say(f"%a{m} = tt.addptr %s{m}, %at : tensor<{dims}x!tt.ptr<i8>>, {i32}")
            say(f"%v{m} = tt.load %a{m} : tensor<{dims}x!tt.ptr<i8>>")
            say(f"%is_{m} = arith.cmpi ne, %v{m}, %zero8 : tensor<{dims}xi8>")
        say(f"%is_and = arith.andi %is_p, %is_q : {b}")
        say(f"%is_or = arith.ori %is_p, %is_q : {b}")
        say(f"%is_not = arith.xori %is_p, %allset : {b}")
        say(f"%is_all = arith.ori %is_p, %allset : {b}")
        for name in sorted({self.summed, self.counted, self.own or self.summed}):
            if self.weight == 1:
                say(f"%w_{name} = arith.extui %is_{name} : {b} to {t}")
            else:
                say(f"%w_{name} = arith.select %is_{name}, %weight, %nought : {b}, {t}")
        say(f'%s = "tt.scan"(%w_{self.summed}) <{{axis = {self.axis} : i32, reverse = {"true" if self.reverse else "false"}}}> ({{')
        say(f"^bb0(%x: {w}, %y: {w}):")
        say(f"%z = arith.addi %x, %y : {w}")
        say(f"tt.scan.return %z : {w}")
        say(f"}}) : ({t}) -> {t}")
        if self.base == "draw":
            say(f'%r = "tt.reduce"(%w_{self.counted}) <{{axis = 0 : i32}}> ({{')
            say(f"^bb0(%x: {w}, %y: {w}):")
            say(f"%z = arith.addi %x, %y : {w}")
            say(f"tt.reduce.return %z : {w}")
            say(f"}}) : ({t}) -> {w}")
            r32 = "%r" if self.bits == 32 else "%r32"
            if self.bits == 64:
                say("%r32 = arith.trunci %r : i64 to i32")
            if self.bits == 8:
                say("%r32 = arith.extui %r : i8 to i32")
            if self.more:
                say(f"%rm = arith.addi {r32}, %more : i32")
                r32 = "%rm"
            say(f"%base = tt.atomic_rmw add, relaxed, gpu, %count, {r32}, %true : (!tt.ptr<i32>, i32, i1) -> i32")
        elif self.base == "range":
            say(f"%base = arith.muli {'%ptk' if self.by_turn else '%pid'}, %stride : i32")
        else:
            say("%base = arith.muli %c0, %stride : i32")
        say(f"%p1 = arith.addi %s, %shift : {t}")
        pos = "%p1"
        if self.own:
            say(f"%p2 = arith.subi %p1, %w_{self.own} : {t}")
            pos = "%p2"
        if self.bits == 64:
            say(f"%p3 = arith.trunci {pos} : {t} to {i32}")
            pos = "%p3"
        if self.bits == 8:
            say(f"%p3 = arith.extsi {pos} : {t} to {i32}")
            pos = "%p3"
        say(f"%bases = tt.splat %base : i32 -> {i32}")
        say(f"%p4 = arith.addi %bases, {pos} : {i32}")
        if len(self.shape) == 2:
            say("%two = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>")
            say(f"%rx = tt.expand_dims %two {{axis = {1 - self.row_axis} : i32}} : tensor<2xi32> -> tensor<{'2x1' if self.row_axis == 0 else '1x2'}xi32>")
            say(f"%rb = tt.broadcast %rx : tensor<{'2x1' if self.row_axis == 0 else '1x2'}xi32> -> {i32}")
            say(f"%rw = arith.constant dense<{self.row}> : {i32}")
            say(f"%rr = arith.muli %rb, %rw : {i32}")
            say(f"%p5 = arith.addi %p4, %rr : {i32}")
        else:
            say(f"%p5 = arith.addi %p4, %firsts : {i32}")
            out[-1] = f"%p5 = tt.reshape %p4 : {i32} -> {i32}"
        if self.tilt:
            say(f"%p6 = arith.{'addi' if self.tilt > 0 else 'subi'} %p5, %lane : {i32}")
        say(f"%ao = tt.addptr %so, {'%p6' if self.tilt else '%p5'} : tensor<{dims}x!tt.ptr<i8>>, {i32}")
        say(f"tt.store %ao, %vp, %is_{self.mask} : tensor<{dims}x!tt.ptr<i8>>")
        if self.writes:
            say(f"tt.store %ap, %vq : tensor<{dims}x!tt.ptr<i8>>")
        if self.loop:
            say("}")
        args = "%p: !tt.ptr<i8>, %q: !tt.ptr<i8>, %out: !tt.ptr<i8>, %count: !tt.ptr<i32>"
        return f"module {{\n  tt.func public @k({args}) {{\n    " + "\n    ".join(out) + "\n    tt.return\n  }\n}\n"

    def launch(self, name):
        m = {"dtype": "int8", "shape": [64], "strides": [1]}
        return {"version": 1, "kernel": "k", "ttir": name, "grid": [self.programs, 1, 1], "args": {
            "p": {"tensor": dict(m, ptr=65536)}, "q": {"tensor": dict(m, ptr=69632)},
            "out": {"tensor": dict(m, ptr=131072 + 1024, shape=[1024], storage={"ptr": 131072, "bytes": 4096})},
            "count": {"tensor": {"dtype": "int32", "shape": [1], "strides": [1], "ptr": 262144, "values": [0]}}}}

    def offsets(self, p, q):
        """One tile: count, [position or None] by lane."""
        wrap = lambda v: (v + (1 << self.bits - 1)) % (1 << self.bits) - (1 << self.bits - 1)   # noqa: E731
        value = {c: [wrap(f(a, b) * self.weight) for a, b in zip(p, q)] for c, f in CONDS.items()}
        rows = [range(self.lanes)] if len(self.shape) == 1 else [[0, 1], [2, 3]] if self.axis == 1 else [[0, 2], [1, 3]]
        sums = [0] * self.lanes
        for row in rows:
            acc = 0
            for lane in reversed(row) if self.reverse else row:
                acc = wrap(acc + value[self.summed][lane])
                sums[lane] = acc
        out = []
        for lane in range(self.lanes):
            at = wrap(sums[lane] + self.shift)
            if self.own:
                at = wrap(at - value[self.own][lane])
            if len(self.shape) == 2:
                at += self.row * (lane // 2 if self.row_axis == 0 else lane % 2)
            at += self.tilt * lane
            out.append(at if CONDS[self.mask](p[lane], q[lane]) else None)
        total = wrap(sum(value[self.counted]))
        if self.bits == 8:
            total %= 256
        return total + self.more, out

    def races(self, rng):
        n = self.programs * self.turns * self.lanes
        if 4 ** n <= MOST:
            contents = itertools.product(range(4), repeat=n)
        else:
            contents = ([rng.choice(range(4)) if k % 3 else rng.choice([0, 3, k % 4]) for _ in range(n)] for k in range(MOST))
        slots = sorted(itertools.chain(*[[p] * self.turns for p in range(self.programs)]))
        orders = sorted(set(itertools.permutations(slots))) if self.base == "draw" else [slots]
        if len(orders) > 30:
            orders = rng.sample(orders, 30)
        for c in contents:
            tiles = []
            for k in range(self.programs * self.turns):
                part = c[k * self.lanes:(k + 1) * self.lanes]
                tiles.append(self.offsets([v & 1 for v in part], [v >> 1 for v in part]))
            for order in orders:
                count, turn, seen = 0, [0] * self.programs, {}
                for p in order:
                    k = p * self.turns + turn[p]
                    base = count if self.base == "draw" else 0 if self.base == "one" else self.stride * (k if self.by_turn else p)
                    count += tiles[k][0]
                    turn[p] += 1
                    for lane, at in enumerate(tiles[k][1]):
                        if at is None:
                            continue
                        if seen.setdefault(base + at, (p, lane)) != (p, lane):      # (one lane of one operation is one thread)
                            return True
        return False


def main():
    opt = dict(a[2:].split("=", 1) for a in sys.argv[1:] if a.startswith("--") and "=" in a)
    count, seed, fault = int(opt.get("count", 600)), int(opt.get("seed", 1)), opt.get("fault")
    if fault:
        os.environ["POLYRACE_FAULT"] = fault
    tally, failed, open_safe = {}, 0, []
    with tempfile.TemporaryDirectory(prefix="sums-") as folder:
        kernels = {}
        for k in range(seed, seed + count):
            x = Kernel(k)
            stem = os.path.join(folder, f"k{k}")
            with open(stem + ".ttir", "w", encoding="utf-8") as f:
                f.write(x.text())
            with open(stem + ".json", "w", encoding="utf-8") as f:
                json.dump(x.launch(f"k{k}.ttir"), f)
            kernels[stem + ".json"] = (k, x)
        verdicts, problems = check(program(), list(kernels), ["--atomic-order=strict"], chunk=200)
        for p in problems:
            failed += 1
            print("FAIL", p)
        for name, (k, x) in kernels.items():
            if name not in verdicts:
                continue
            status = verdicts[name]["status"]
            if fault and status != "ok":
                continue
            truth = x.races(random.Random(k)) or (x.writes and status == "races")
            tally[status, truth] = tally.get((status, truth), 0) + 1
            if status == "unsupported" and not truth:
                open_safe.append(k)
            if (status == "ok" and truth) or (status == "races" and not truth) or status == "vacuous":
                failed += 1
                print(f"{'found' if fault else 'FAIL'} {status}, but it {'races' if truth else 'does not race'}: seed {k}: {vars(x)}")
                if fault:
                    return 0
    print(tally, f"{failed} failures; safe and not proved, for example: {open_safe[:12]}")
    if fault:
        print(f"FAIL fault {fault} is not found")
        return 1
    return 1 if failed or tally.get(("ok", False), 0) < count // 10 else 0


if __name__ == "__main__":
    sys.exit(main())
