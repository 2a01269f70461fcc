"""Random protocols with a loop of tiles and a loop inside it, for gen.py --nested.

Each ring is of one of two kinds: "t" rings advance with every inner iteration and are carried around the outer loop, "e"
rings advance once a tile, before or after the inner loop. How many inner iterations a tile has is an argument, a constant,
the tile's number, or changes from tile to tile and may be none. Partitions count in their own ways: index and phase carried
through both loops, one number carried, or (rings of tiles) computed from the tile's number."""
import random                                     # noqa: F401  (gen.py passes its generator)

from gen import BAR1, HEAD, TILE, TILE_T, Ring, Stop, Text, bars_type, bufs_type, execute


def protocol(rng):
    n_parts = rng.choice([2, 2, 3])
    kinds = rng.choice([["t"], ["t"], ["t", "e"], ["t", "e"], ["e", "t"], ["t", "t"]])
    rings = []
    parts = [{"pre": [], "body": [], "post": [], "reset": set(), "style": {}} for _ in range(n_parts)]
    for r, kind in enumerate(kinds):
        producer = rng.randrange(n_parts)
        others = [p for p in range(n_parts) if p != producer]
        consumers = [p for p in others if rng.random() < 0.6] or [rng.choice(others)]
        ring = Ring(f"r{r}", rng.choice([1, 2, 2, 3, 3]), 1, len(consumers))
        ring.kind = kind
        rings.append(ring)
        parts[producer]["body" if kind == "t" else rng.choice(["pre", "pre", "post"])] += [
            ["wait", r, "empty", 0, 1], ["expect", r, 0, TILE], ["load", r, 0]]
        for c in consumers:
            read = [["wait", r, "full", 0, 0]]
            read += [["dot", r, 0], ["dotwait", 0]] if rng.random() < 0.4 else [["read", r, 0]]
            where = "body" if kind == "t" else rng.choice(["pre", "post", "post"])
            parts[c][where] += read + [["arrive", r, "empty", 0, 1]]
        for p in parts:
            p["style"][r] = rng.choice(["carried", "carried", "number"] if kind == "t" else ["carried", "number", "tile"])
    rings[0].trips = rng.choice(["K", "K", "constant", "tile", "uneven"])
    rings[0].constant = rng.choice([1, 2, 3, 4])
    for _ in range(0 if rng.random() < 0.35 else rng.choice([1, 1, 2])):
        part = rng.choice([p for p in parts if p["pre"] + p["body"] + p["post"]])
        body = part[rng.choice([w for w in ("pre", "body", "post") if part[w]])]
        at = rng.randrange(len(body))
        op = body[at]
        how = rng.randrange(9)
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
        elif how == 7:
            part["reset"] |= {r for r, ring in enumerate(rings) if ring.kind == "t"}
        elif how == 8 and part["body"] and part["post"]:      # once a tile instead of in every iteration, or the other way
            part["body"].append(part["post"].pop(0))
        if not any(p["pre"] + p["body"] + p["post"] for p in parts):
            break
    return rings, parts


def inner_trips(rings, e, k):
    return {"K": k, "constant": rings[0].constant, "tile": e, "uneven": (e + k) % 3}[rings[0].trips]


def unrolled(rings, parts, tiles, k):
    programs = []
    for part in parts:
        program, total = [], 0
        for e in range(tiles):
            n = inner_trips(rings, e, k)
            for where, times in (("pre", 1), ("body", n), ("post", 1)):
                for i in range(times):
                    for pc, op in enumerate(part[where]):
                        at = None
                        if op[0] != "dotwait":
                            # A ring of inner iterations is not touched outside them, but for a mutant: there it stands still.
                            begin = 0 if op[1] in part["reset"] else total
                            t = begin + (i if where == "body" else 0)
                            at = (t if rings[op[1]].kind == "t" else e) + (op[3] if op[0] in ("wait", "arrive") else op[2])
                        program.append((op, at, (where, pc, e, i)))
                if where == "body":
                    total += n
        programs.append(program)
    return programs


def violation(rings, parts, rng):
    most = max(r.slots for r in rings)
    for tiles, k in [(1, k) for k in range(most + 2)] + [(2, k) for k in range(most + 2)] + [(3, 1), (3, 2), (4, 3), (2 * most + 2, 1), (2 * most + 2, 2)]:
        seen, programs = {}, unrolled(rings, parts, tiles, k)
        for _ in range(16):
            try:
                execute(rings, programs, rng, seen)
            except Stop as e:
                return f"{e} (tiles={tiles}, K={k})"
    return None


# ---- as TTGIR -----------------------------------------------------------------------------------------------------
def place(t, rings, part, op, state, number, pre):
    """Index and parity of the operation's ring: state holds what is carried, number is the tile's."""
    r = op[1]
    ring, style = rings[r], part["style"][r]
    offset = op[3] if op[0] in ("wait", "arrive") else op[2]
    flip = op[4] if op[0] == "wait" else 0
    if style == "carried" and not offset:
        index, phase = state[r]
    else:
        if style == "carried":                    # the next position of a carried index and phase
            n = t.value(f"arith.constant {ring.slots} : i32")
            up = t.value(f"arith.addi {state[r][0]}, {pre}one : i32")
            wraps = t.value(f"arith.cmpi eq, {up}, {n} : i32")
            index = t.value(f"arith.select {wraps}, {pre}zero, {up} : i32")
            other = t.value(f"arith.xori {state[r][1]}, {pre}one : i32")
            phase = t.value(f"arith.select {wraps}, {other}, {state[r][1]} : i32")
        else:
            at = number if style == "tile" else state[r][0]
            if offset:
                at = t.value(f"arith.addi {at}, {pre}one : i32")
            n = t.value(f"arith.constant {ring.slots} : i32")
            index = t.value(f"arith.remsi {at}, {n} : i32")
            phase = t.value(f"arith.andi {t.value(f'arith.divsi {at}, {n} : i32')}, {pre}one : i32")
    if flip:
        phase = t.value(f"arith.xori {phase}, {pre}one : i32")
    return index, phase


def advance(t, ring, style, state, pre):
    if style == "number":
        return [t.value(f"arith.addi {state[0]}, {pre}one : i32")]
    n = t.value(f"arith.constant {ring.slots} : i32")
    up = t.value(f"arith.addi {state[0]}, {pre}one : i32")
    wraps = t.value(f"arith.cmpi {t.rng.choice(['eq', 'sge'])}, {up}, {n} : i32")
    index = t.value(f"arith.select {wraps}, {pre}zero, {up} : i32")
    other = t.value(f"arith.xori {state[1]}, {pre}one : i32")
    return [index, t.value(f"arith.select {wraps}, {other}, {state[1]} : i32")]


def operations(t, rings, part, ops, state, number, names, pre):
    for op in ops:
        if op[0] == "dotwait":
            t.put(f"        {t.name()} = ttng.warp_group_dot_wait {pre}acc {{pendings = {op[1]} : i32}} : tensor<64x64xf32, #mma>")
            continue
        r = op[1]
        index, phase = place(t, rings, part, op, state, number, pre)
        s = rings[r].slots
        if op[0] in ("wait", "arrive", "expect", "load"):
            which = op[2] if op[0] in ("wait", "arrive") else "full"
            bar = t.value(f"ttg.memdesc_index {names[r, which]}[{index}] : {bars_type(s)} -> {BAR1}")
        if op[0] in ("load", "read", "dot"):
            buf = t.value(f"ttg.memdesc_index {names[r, 'buf']}[{index}] : {bufs_type(s)} -> {TILE_T}")
        if op[0] == "wait":
            t.put(f"        ttng.wait_barrier {bar}, {phase} : {BAR1}")
        elif op[0] == "arrive":
            t.put(f"        ttng.arrive_barrier {bar}, {op[4]} : {BAR1}")
        elif op[0] == "expect":
            t.put(f"        ttng.barrier_expect {bar}, {op[3]}, {pre}yes : {BAR1}")
        elif op[0] == "load":
            t.put(f"        ttng.async_tma_copy_global_to_local {names['desc']}[{pre}zero, {pre}zero] {buf}, {bar}, {pre}yes : "
                  f"!tt.tensordesc<64x64xf16, #nv>, {BAR1} -> {TILE_T}")
        elif op[0] == "read":
            t.put(f"        {t.name()} = ttg.local_load {buf} : {TILE_T} -> tensor<64x64xf16, #bl>")
            t.put("        ttng.fence_async_shared {bCluster = false}")
        else:
            t.put(f"        {t.name()} = ttng.warp_group_dot {buf}, {buf}, {pre}acc {{inputPrecision = 0 : i32, isAsync = true}} : "
                  f"{TILE_T} * {TILE_T} -> tensor<64x64xf32, #mma>")


def loop(t, head, bounds, inits, names):
    """Opens a loop; the names of its carried values."""
    if not inits:
        t.put(f"      scf.for {head} = {bounds}  : i32 {{")
        return []
    args = [t.name() for _ in inits]
    t.put(f"      {names}:{len(inits)} = scf.for {head} = {bounds} iter_args({', '.join(f'{a} = {i}' for a, i in zip(args, inits))}) -> "
          f"({', '.join(['i32'] * len(args))})  : i32 {{")
    return args


def partition_text(t, rings, part, names, pre):
    ops = part["pre"] + part["body"] + part["post"]
    used = sorted({op[1] for op in ops if op[0] != "dotwait"})
    carried = [r for r in used if part["style"][r] != "tile"]
    inner = [r for r in carried if rings[r].kind == "t"]
    width = {r: 2 if part["style"][r] == "carried" else 1 for r in carried}

    def states(args, which):
        out, at = {}, 0
        for r in which:
            out[r] = args[at:at + width[r]]
            at += width[r]
        return out

    t.put(f"      {pre}zero = arith.constant 0 : i32")
    t.put(f"      {pre}one = arith.constant 1 : i32")
    t.put(f"      {pre}three = arith.constant 3 : i32")
    t.put(f"      {pre}many = arith.constant {rings[0].constant} : i32")
    t.put(f"      {pre}yes = arith.constant true")
    t.put(f"      {pre}acc = arith.constant dense<0.0> : tensor<64x64xf32, #mma>")
    e, k, outer, nested = t.name(), t.name(), t.name(), t.name()
    args = loop(t, e, f"{pre}zero to {names['E']} step {pre}one", [f"{pre}zero"] * sum(width.values()), outer)
    state = states(args, carried)
    operations(t, rings, part, part["pre"], state, e, names, pre)
    bound = {"K": names["K"], "constant": f"{pre}many", "tile": e}.get(rings[0].trips)
    if not bound:
        bound = t.value(f"arith.remsi {t.value('arith.addi ' + e + ', ' + names['K'] + ' : i32')}, {pre}three : i32")
    inits = [f"{pre}zero" if r in part["reset"] else v for r in inner for v in state[r]]
    within = states(loop(t, k, f"{pre}zero to {bound} step {pre}one", inits, nested), inner)
    operations(t, rings, part, part["body"], {**state, **within}, e, names, pre)
    out = [v for r in inner for v in advance(t, rings[r], part["style"][r], within[r], pre)]
    if out:
        t.put(f"        scf.yield {', '.join(out)} : {', '.join(['i32'] * len(out))}")
    t.put("      }")
    after = {**state, **states([f"{nested}#{i}" for i in range(len(inits))], inner)}
    operations(t, rings, part, part["post"], after, e, names, pre)
    for r in carried:
        if rings[r].kind == "e":
            after[r] = advance(t, rings[r], part["style"][r], state[r], pre)
    out = [v for r in carried for v in after[r]]
    if out:
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
    captures, types, keys = ["%desc", "%K", "%E"], ["!tt.tensordesc<64x64xf16, #nv>", "i32", "i32"], ["desc", "K", "E"]
    for r, ring in enumerate(rings):
        captures += [f"%buf{r}", f"%full{r}", f"%empty{r}"]
        types += [bufs_type(ring.slots), bars_type(ring.slots), bars_type(ring.slots)]
        keys += [(r, "buf"), (r, "full"), (r, "empty")]
    t.put(f"    ttg.warp_specialize({', '.join(captures)})")
    t.put("    default {")
    partition_text(t, rings, parts[0], dict(zip(keys, captures)), "%d_")
    t.put("      ttg.warp_yield")
    t.put("    }")
    for i, part in enumerate(parts[1:]):
        mine = {k: f"%a{i}_{j}" for j, k in enumerate(keys)}
        t.put(f"    partition{i}({', '.join(f'{mine[k]}: {ty}' for k, ty in zip(keys, types))}) num_warps(4) {{")
        partition_text(t, rings, part, mine, f"%q{i}_")
        t.put("      ttg.warp_return")
        t.put("    }" + (f" : ({', '.join(types)}) -> ()" if i == len(parts) - 2 else ""))
    t.put("    tt.return")
    return HEAD.replace("%K: i32", "%K: i32, %E: i32") + "\n".join(t.lines) + "\n  }\n}\n"
