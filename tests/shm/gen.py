#!/usr/bin/env python3
"""Random protocols against a machine of our own: gen.py POLYRACE [--n N] [--seed S]

A protocol is a few partitions that run one loop of K iterations: TMA loads, waits, reads (by threads or by WGMMA), arrivals,
over rings of slots. It is written as TTGIR and, independently, executed here: barriers with parities, counts and bytes,
loads and WGMMAs that complete late, random schedules. The machine knows nothing of happens-before; it sees
  - a write that meets a read or write in progress, a read that meets a write in progress,
  - a read that sees different loads in different schedules,
  - a partition that never ends, an arrival too many.
Any of these and polyrace says ok: a wrong proof. None of these and polyrace names a finding: counted and printed (the
machine may have missed it), as are refusals.

The bounded engine and the polyhedral proof are compared by --cross-check (a proof of a kernel with findings is an
internal error). The emulated ConSan (current) runs some schedules of each protocol too: a report or a hang of a
protocol that was proved is wrong; how many broken ones it reports is printed."""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

TILE = 64 * 64 * 2


class Ring:
    def __init__(self, name, slots, full_count, empty_count):
        self.name, self.slots, self.full_count, self.empty_count = name, slots, full_count, empty_count


def protocol(rng):
    """Rings with one producer and some consumers; then perhaps one or two mutations."""
    rings, parts = [], []
    n_rings = rng.choice([1, 1, 1, 2])
    n_parts = rng.choice([2, 2, 3])
    bodies = [[] for _ in range(n_parts)]
    for r in range(n_rings):
        slots = rng.choice([1, 2, 2, 3, 3, 4])
        producer = rng.randrange(n_parts)
        others = [p for p in range(n_parts) if p != producer]
        consumers = [p for p in others if rng.random() < 0.6] or [rng.choice(others)]
        ring = Ring(f"r{r}", slots, 1, len(consumers))
        rings.append(ring)
        produce = [["wait", r, "empty", 0, 1], ["expect", r, 0, TILE], ["load", r, 0]]
        bodies[producer] += produce
        for c in consumers:
            read = [["wait", r, "full", 0, 0]]
            read += [["dot", r, 0], ["dotwait", 0]] if rng.random() < 0.4 else [["read", r, 0]]
            read += [["arrive", r, "empty", 0, 1]]
            bodies[c] += read
    parts = [b for b in bodies]
    mutations = 0 if rng.random() < 0.25 else rng.choice([1, 2, 2])
    for _ in range(mutations):
        body = rng.choice([b for b in parts if b])
        at = rng.randrange(len(body))
        op = body[at]
        how = rng.randrange(7)
        if how == 0:
            body.pop(at)
        elif how == 1 and at + 1 < len(body):
            body[at], body[at + 1] = body[at + 1], body[at]
        elif how == 2 and op[0] == "wait":
            op[4] ^= 1
        elif how == 3:
            ring = rng.choice(rings)
            if rng.random() < 0.5:
                ring.full_count += 1
            else:
                ring.empty_count = max(1, ring.empty_count + rng.choice([-1, 1]))
        elif how == 4 and op[0] == "dotwait":
            op[1] = 1
        elif how == 5 and op[0] in ("load", "read", "dot", "arrive", "wait", "expect"):
            op[3 if op[0] in ("wait", "arrive") else 2] = 1
        elif how == 6 and op[0] == "expect":
            op[3] -= 16
        if not any(parts):
            break
    return rings, parts


# ---- the machine -------------------------------------------------------------------------------------------------
class Stop(Exception):
    pass


def unrolled(parts, trips):
    """What each partition does, step by step: (operation, position in its ring, which instance this is)."""
    return [[(op, k + (op[3] if op[0] in ("wait", "arrive") else op[2] if op[0] != "dotwait" else 0), (pc, k))
             for k in range(trips) for pc, op in enumerate(body)] for body in parts]


def execute(rings, programs, rng, seen):
    """One random schedule; raises Stop(reason) on a violation. seen: read instance -> load it saw."""
    bars = {}
    for r, ring in enumerate(rings):
        for s in range(ring.slots):
            bars[r, "full", s] = [ring.full_count, ring.full_count, 0, 0]     # init, pending, tx, completed
            bars[r, "empty", s] = [ring.empty_count, ring.empty_count, 0, 0]
    slots = {}                                    # (r, s) -> [load complete, writes in progress, reads in progress]
    for r, ring in enumerate(rings):
        for s in range(ring.slots):
            slots[r, s] = [None, 0, 0]
    agents = [{"at": 0, "dots": []} for _ in programs]
    flying = []                                   # loads and WGMMAs under way
    pace = [rng.choice([1, 1, 0.03]) for _ in programs] + [rng.choice([1, 1, 0.03])]

    def settle(b):
        if b[1] == 0 and b[2] == 0:
            b[1] = b[0]
            b[3] += 1

    def arrive(key, n):
        b = bars[key]
        if n > b[1]:
            raise Stop("underflow")
        b[1] -= n
        settle(b)

    while True:
        ready = []
        for i, a in enumerate(agents):
            if a["at"] >= len(programs[i]):
                continue
            op, t, _ = programs[i][a["at"]]
            if op[0] == "wait":
                b = bars[op[1], op[2], t % rings[op[1]].slots]
                if b[3] & 1 == ((t // rings[op[1]].slots) + op[4]) & 1:
                    continue
            if op[0] == "dotwait" and any(d in flying for d in a["dots"][:len(a["dots"]) - op[1]]):
                continue                          # groups: all but the last op[1] must be complete
            ready.append(i)
        choices = ready + [("done", f) for f in range(len(flying))]
        if not choices:
            if any(a["at"] < len(programs[i]) for i, a in enumerate(agents)):
                raise Stop("deadlock")
            return
        c = rng.choices(choices, [pace[-1] if isinstance(x, tuple) else pace[x] for x in choices])[0]
        if isinstance(c, tuple):
            job = flying.pop(c[1])
            if job[0] == "load":
                slot = slots[job[1], job[2]]
                slot[0] = job[3]
                slot[1] -= 1
                b = bars[job[1], "full", job[4]]
                b[2] -= TILE
                settle(b)
            else:
                slots[job[1], job[2]][2] -= 1
            continue
        a = agents[c]
        op, t, instance = programs[c][a["at"]]
        if op[0] not in ("wait", "dotwait"):
            s = t % rings[op[1]].slots
        if op[0] == "expect":
            bars[op[1], "full", s][2] += op[3]
            arrive((op[1], "full", s), 1)
        elif op[0] == "load":
            slot = slots[op[1], s]
            if slot[1] or slot[2]:
                raise Stop("write meets an access in progress")
            slot[1] += 1
            flying.append(("load", op[1], s, (c, instance), s, object()))
        elif op[0] in ("read", "dot"):
            slot = slots[op[1], s]
            if slot[1]:
                raise Stop("read meets a write in progress")
            if seen.setdefault((c, instance), slot[0]) != slot[0]:
                raise Stop("read depends on the schedule")
            if op[0] == "dot":
                slot[2] += 1
                job = ("dot", op[1], s, object())
                flying.append(job)
                a["dots"].append(job)
        elif op[0] == "arrive":
            arrive((op[1], op[2], s), op[4])
        a["at"] += 1


def violation(rings, parts, rng):
    most = max(r.slots for r in rings)
    for trips in range(0, 2 * most + 4):
        seen, programs = {}, unrolled(parts, trips)
        for _ in range(24):
            try:
                execute(rings, programs, rng, seen)
            except Stop as e:
                return f"{e} (K={trips})"
    return None


# ---- the same as TTGIR -------------------------------------------------------------------------------------------
HEAD = """#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#bl = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @protocol(%desc: !tt.tensordesc<64x64xf16, #nv>, %K: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
"""
BAR1 = "!ttg.memdesc<1xi64, #bar, #smem, mutable>"


def bars_type(s):
    return f"!ttg.memdesc<{s}x1xi64, #bar, #smem, mutable>"


def bufs_type(s):
    return f"!ttg.memdesc<{s}x64x64xf16, #nv, #smem, mutable>"


TILE_T = "!ttg.memdesc<64x64xf16, #nv, #smem, mutable>"


class Text:
    def __init__(self, rng):
        self.lines, self.n, self.rng = [], 0, rng

    def name(self):
        self.n += 1
        return f"%v{self.n}"

    def put(self, line):
        self.lines.append(line)

    def value(self, expr):
        v = self.name()
        self.put(f"        {v} = {expr}")
        return v


def slot_and_phase(t, rings, ring, offset, flip, carried, prefix):
    """Index and parity for iteration k + offset, by division or from carried counters."""
    s = rings[ring].slots
    if carried and offset == 0:
        index, phase = carried[ring]
        if flip:
            phase = t.value(f"arith.xori {phase}, {prefix}one : i32")
        return index, phase
    k = "%k"
    if offset:
        k = t.value(f"arith.addi %k, {prefix}one : i32")
    n = t.value(f"arith.constant {s} : i32")
    index = t.value(f"arith.remsi {k}, {n} : i32")
    q = t.value(f"arith.divsi {k}, {n} : i32")
    phase = t.value(f"arith.andi {q}, {prefix}one : i32")
    if flip:
        phase = t.value(f"arith.xori {phase}, {prefix}one : i32")
    return index, phase


def partition_text(t, rings, body, names, prefix, rng):
    used = sorted({op[1] for op in body if op[0] != "dotwait"})
    style = rng.random() < 0.5
    t.put(f"      {prefix}zero = arith.constant 0 : i32")
    t.put(f"      {prefix}one = arith.constant 1 : i32")
    t.put(f"      {prefix}yes = arith.constant true")
    t.put(f"      {prefix}acc = arith.constant dense<0.0> : tensor<64x64xf32, #mma>")
    carried, args, inits = {}, [], []
    if style:
        for r in used:
            carried[r] = (f"{prefix}i{r}", f"{prefix}p{r}")
            args += [f"{prefix}i{r} = {prefix}zero", f"{prefix}p{r} = {prefix}zero"]
    loop = f" iter_args({', '.join(args)}) -> ({', '.join(['i32'] * len(args))})" if args else ""
    bound = f"{prefix[:-1]}_r:{len(args)} = " if args else ""
    t.put(f"      {bound}scf.for %k = {prefix}zero to {names['K']} step {prefix}one{loop}  : i32 {{")
    for op in body:
        if op[0] == "dotwait":
            t.put(f"        {t.name()} = ttng.warp_group_dot_wait {prefix}acc {{pendings = {op[1]} : i32}} : tensor<64x64xf32, #mma>")
            continue
        r = op[1]
        offset = op[3] if op[0] in ("wait", "arrive") else op[2]
        flip = op[4] if op[0] == "wait" else 0
        index, phase = slot_and_phase(t, rings, r, offset, flip, carried, prefix)
        which = op[2] if op[0] in ("wait", "arrive") else "full"
        s = rings[r].slots
        bar = None
        if op[0] in ("wait", "arrive", "expect", "load"):
            bar = t.value(f"ttg.memdesc_index {names[r, which]}[{index}] : {bars_type(s)} -> {BAR1}")
        if op[0] in ("load", "read", "dot"):
            buf = t.value(f"ttg.memdesc_index {names[r, 'buf']}[{index}] : {bufs_type(s)} -> {TILE_T}")
        if op[0] == "wait":
            t.put(f"        ttng.wait_barrier {bar}, {phase} : {BAR1}")
        elif op[0] == "arrive":
            t.put(f"        ttng.arrive_barrier {bar}, {op[4]} : {BAR1}")
        elif op[0] == "expect":
            t.put(f"        ttng.barrier_expect {bar}, {op[3]}, {prefix}yes : {BAR1}")
        elif op[0] == "load":
            t.put(f"        ttng.async_tma_copy_global_to_local {names['desc']}[%k, %k] {buf}, {bar}, {prefix}yes : "
                  f"!tt.tensordesc<64x64xf16, #nv>, {BAR1} -> {TILE_T}")
        elif op[0] == "read":
            t.put(f"        {t.name()} = ttg.local_load {buf} : {TILE_T} -> tensor<64x64xf16, #bl>")
            t.put("        ttng.fence_async_shared {bCluster = false}")
        else:
            t.put(f"        {t.name()} = ttng.warp_group_dot {buf}, {buf}, {prefix}acc {{inputPrecision = 0 : i32, isAsync = true}} : "
                  f"{TILE_T} * {TILE_T} -> tensor<64x64xf32, #mma>")
    if args:
        out = []
        for r in used:
            index, phase = carried[r]
            n = t.value(f"arith.constant {rings[r].slots} : i32")
            up = t.value(f"arith.addi {index}, {prefix}one : i32")
            wraps = t.value(f"arith.cmpi {rng.choice(['eq', 'sge'])}, {up}, {n} : i32")
            out.append(t.value(f"arith.select {wraps}, {prefix}zero, {up} : i32"))
            other = t.value(f"arith.xori {phase}, {prefix}one : i32")
            out.append(t.value(f"arith.select {wraps}, {other}, {phase} : i32"))
        t.put(f"        scf.yield {', '.join(out)} : {', '.join(['i32'] * len(out))}")
    t.put("      }")


def text(rings, parts, rng):
    t = Text(rng)
    for r, ring in enumerate(rings):
        t.put(f"    %buf{r} = ttg.local_alloc : () -> {bufs_type(ring.slots)}")
        for kind in ("full", "empty"):
            t.put(f"    %{kind}{r} = ttg.local_alloc : () -> {bars_type(ring.slots)}")
            for s in range(ring.slots):
                c, b = t.name(), t.name()
                t.put(f"    {c} = arith.constant {s} : i32")
                t.put(f"    {b} = ttg.memdesc_index %{kind}{r}[{c}] : {bars_type(ring.slots)} -> {BAR1}")
                t.put(f"    ttng.init_barrier {b}, {ring.full_count if kind == 'full' else ring.empty_count} : {BAR1}")
    captures, types = ["%desc", "%K"], ["!tt.tensordesc<64x64xf16, #nv>", "i32"]
    for r, ring in enumerate(rings):
        captures += [f"%buf{r}", f"%full{r}", f"%empty{r}"]
        types += [bufs_type(ring.slots), bars_type(ring.slots), bars_type(ring.slots)]
    t.put(f"    ttg.warp_specialize({', '.join(captures)})")
    names = {"desc": "%desc", "K": "%K"}
    for r in range(len(rings)):
        names[r, "buf"], names[r, "full"], names[r, "empty"] = f"%buf{r}", f"%full{r}", f"%empty{r}"
    t.put("    default {")
    if parts[0]:
        partition_text(t, rings, parts[0], names, "%d_", rng)
    t.put("      ttg.warp_yield")
    t.put("    }")
    for i, body in enumerate(parts[1:]):
        mine = {k: f"%a{i}_{j}" for j, k in enumerate(names)}
        keys = ["desc", "K"] + [(r, w) for r in range(len(rings)) for w in ("buf", "full", "empty")]
        args = ", ".join(f"{mine[k]}: {ty}" for k, ty in zip(keys, types))
        t.put(f"    partition{i}({args}) num_warps(4) {{")
        if body:
            partition_text(t, rings, body, mine, f"%q{i}_", rng)
        t.put("      ttg.warp_return")
        t.put("    }" + (f" : ({', '.join(types)}) -> ()" if i == len(parts) - 2 else ""))
    t.put("    tt.return")
    return HEAD + "\n".join(t.lines) + "\n  }\n}\n"


def emulated(program, path, trips):
    """How schedules of the emulated ConSan end, clean ones left out."""
    done = subprocess.run([program, "consan", "--emulate", "--format=json", "--schedules=16", f"--max-trips={trips}", path],
                          capture_output=True, text=True)
    if done.returncode not in (0, 1):
        return ["error " + done.stderr.strip()]
    return [o.get("message", o["kind"]) for o in json.loads(done.stdout)["outcomes"] if o["kind"] != "clean"]


def one(program, seed, nested):
    rng = random.Random(seed)
    if nested:
        from gen_nest import protocol as make, text as write, violation as broken
    else:
        make, write, broken = protocol, text, violation
    rings, parts = make(rng)
    source = write(rings, parts, rng)
    bad = broken(rings, parts, rng)
    with tempfile.NamedTemporaryFile("w", suffix=".ttgir", delete=False) as f:
        f.write(source)
    try:
        done = subprocess.run([program, "check", "--format=json", "--cross-check", f.name], capture_output=True, text=True)
        v = json.loads(done.stdout) if done.stdout else {"status": "error " + done.stderr.strip(), "findings": [], "refusals": []}
        if any(r["kind"] == "internal" for r in v["refusals"]):
            v["status"] = "internal"
        v["consan"] = emulated(program, f.name, 2 * max(r.slots for r in rings) + 3)
    finally:
        os.unlink(f.name)
    return seed, bad, v, source


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("program")
    ap.add_argument("--n", type=int, default=200)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--nested", action="store_true", help="loops of tiles with a loop inside (gen_nest.py)")
    ap.add_argument("--keep", help="directory for the texts of disagreements")
    a = ap.parse_args()
    counts, wrong, heard = {}, 0, {}
    with ThreadPoolExecutor(2) as pool:
        for seed, bad, v, source in pool.map(lambda s: one(a.program, s, a.nested), range(a.seed, a.seed + a.n)):
            truth = "broken" if bad else "correct"
            counts[truth, v["status"]] = counts.get((truth, v["status"]), 0) + 1
            ids = [f["id"] for f in v["findings"]]
            says = v.get("consan", [])
            heard[truth, bool(says)] = heard.get((truth, bool(says)), 0) + 1
            false_proof = bad and v["status"] == "ok"
            if v["status"] == "ok" and says or any(m.startswith("error") for m in says):
                print(f"seed {seed}: {truth}, proved, but the emulated ConSan: {says}", flush=True)
                wrong += not false_proof
            odd = not bad and v["status"] in ("races", "deadlock", "hazard")
            if false_proof or odd or v["status"].startswith(("error", "internal")):
                print(f"seed {seed}: {truth} ({bad}), polyrace: {v['status']} {ids}", flush=True)
                if a.keep:
                    with open(os.path.join(a.keep, f"gen{seed}.ttgir"), "w", encoding="utf-8") as f:
                        f.write(source)
            wrong += bool(false_proof or v["status"].startswith(("error", "internal")))
    for key in sorted(counts):
        print(f"{key[0]:8} {key[1]:12} {counts[key]}")
    for truth, says in sorted(heard):
        print(f"{truth:8} {'some' if says else 'no'} emulated schedule reports or hangs: {heard[truth, says]}")
    correct = sum(n for k, n in counts.items() if k[0] == "correct")
    print(f"{a.n} protocols, {100 * correct // a.n} % correct, {wrong} wrong")
    if a.n >= 200 and not 30 <= 100 * correct / a.n <= 70:
        print("the mix of correct and broken protocols is off")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
