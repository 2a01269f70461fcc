"""Micro kernels with one access pattern each, at realistic grids: strides, tails, single writers, aliasing, contents."""
import triton
import triton.language as tl

from registry import T, case, cdiv


@triton.jit
def trb001(x, y, n, STRIDE: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * STRIDE + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)  # @S


@triton.jit
def trb001_race(x, y, n, STRIDE: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * (STRIDE // 2) + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)  # @S


case(trb001, trb001_race,
     lambda n, B: ((cdiv(n, B),), dict(x=T("i32", n), y=T("i32", n), STRIDE=B)),
     big=dict(n=65600, B=64), small=dict(n=70, B=16))


@triton.jit
def trb002(out, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    own = (lane >= 0) & (pid == 0)
    tl.store(out + lane, lane + pid, mask=own)  # @S


@triton.jit
def trb002_race(out, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    own = (lane >= 0) & (pid >= 0)
    tl.store(out + lane, lane + pid, mask=own)  # @S


case(trb002, trb002_race,
     lambda programs, B: ((programs,), dict(out=T("i32", B))),
     big=dict(programs=1025, B=64), small=dict(programs=4, B=16))


@triton.jit
def trb003(out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, i, mask=i < n)  # @S


@triton.jit
def trb003_race(out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + tl.minimum(i, n - 1), i)  # @S


case(trb003, trb003_race,
     lambda n, B: ((cdiv(n, B) + 1,), dict(out=T("i32", n))),
     big=dict(n=65602, B=64), small=dict(n=34, B=16))


@triton.jit
def trb004(x, cell, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    s = tl.sum(tl.load(x + i, mask=i < n, other=0), axis=0)
    tl.atomic_add(cell, s)  # @C


@triton.jit
def trb004_race(x, cell, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    s = tl.sum(tl.load(x + i, mask=i < n, other=0), axis=0)
    tl.store(cell, tl.load(cell) + s)  # @C


case(trb004, trb004_race,
     lambda n, B: ((cdiv(n, B),), dict(x=T("i32", n), cell=T("i32", 1))),
     big=dict(n=65602, B=64), small=dict(n=61, B=16))


@triton.jit
def trb005(out, n, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    if pid == 0:
        tl.store(out + lane, lane)  # @A
    else:
        tl.store(out + pid * B + lane, lane, mask=pid * B + lane < n)  # @B


@triton.jit
def trb005_race(out, n, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    if pid == 0:
        tl.store(out + lane, lane)  # @A
    else:
        tl.store(out + lane, lane, mask=pid * B + lane < n)  # @B


case(trb005, trb005_race,
     lambda n, B: ((cdiv(n, B),), dict(out=T("i32", n))),
     big=dict(n=65602, B=64), small=dict(n=61, B=16))


@triton.jit
def trb006(flags, out, B: tl.constexpr):
    lane = tl.arange(0, B)
    f = tl.load(flags + lane)
    tl.store(out + lane, tl.program_id(0) + lane, mask=f != 0)  # @S


@triton.jit
def trb006_race(flags, out, B: tl.constexpr):
    lane = tl.arange(0, B)
    f = lane + 1
    tl.store(out + lane, tl.program_id(0) + lane, mask=f != 0)  # @S


case(trb006, trb006_race,
     lambda programs, B: ((programs,), dict(flags=T("i32", B), out=T("i32", B))),
     big=dict(programs=1025, B=64), small=dict(programs=4, B=16))


@triton.jit
def trb007(out, n, B: tl.constexpr):
    lane = tl.arange(0, B)
    live = lane < n
    tl.store(out + lane, tl.program_id(0), mask=live)  # @S


@triton.jit
def trb007_race(out, n, B: tl.constexpr):
    lane = tl.arange(0, B)
    live = lane < n + 5
    tl.store(out + lane, tl.program_id(0), mask=live)  # @S


case(trb007, trb007_race,
     lambda programs, n, B: ((programs,), dict(out=T("i32", B))),
     big=dict(programs=1025, n=0, B=64), small=dict(programs=4, n=0, B=16))


@triton.jit
def trb008(out, n, ROUNDS: tl.constexpr, B: tl.constexpr):
    base = tl.program_id(0) * ROUNDS * B
    for k in range(ROUNDS):
        i = base + k * B + tl.arange(0, B)
        tl.store(out + i, k, mask=i < n)  # @S


@triton.jit
def trb008_race(out, n, ROUNDS: tl.constexpr, B: tl.constexpr):
    base = tl.program_id(0) * B
    for k in range(ROUNDS):
        i = base + k * B + tl.arange(0, B)
        tl.store(out + i, k, mask=i < n)  # @S


case(trb008, trb008_race,
     lambda n, ROUNDS, B: ((cdiv(n, B * ROUNDS),), dict(out=T("i32", n))),
     big=dict(n=262502, ROUNDS=4, B=64), small=dict(n=221, ROUNDS=4, B=16))


@triton.jit
def trb009(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # @L
    dst = y
    tl.store(dst + i + B, v, mask=i < n)  # @S


@triton.jit
def trb009_race(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # @L
    dst = x
    tl.store(dst + i + B, v, mask=i < n)  # @S


case(trb009, trb009_race,
     lambda n, B: ((cdiv(n, B),), dict(x=T("i32", n + B), y=T("i32", n + B))),
     big=dict(n=65602, B=64), small=dict(n=61, B=16))


@triton.jit
def trb010(idx, x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.load(idx + i, mask=i < n, other=0)
    v = tl.load(x + j, mask=i < n)
    tl.store(out + i, v, mask=i < n)  # @S


@triton.jit
def trb010_race(idx, x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.load(idx + i, mask=i < n, other=0)
    v = tl.load(x + j, mask=i < n)
    tl.store(out + i % (B // 2), v, mask=i < n)  # @S


case(trb010, trb010_race,
     lambda n, B: ((cdiv(n, B),), dict(idx=T("i32", n), x=T("i32", n), out=T("i32", n))),
     big=dict(n=65602, B=64), small=dict(n=61, B=16))


@triton.jit
def trb010_scatter(idx, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.load(idx + i, mask=i < n, other=0)
    tl.store(out + j, i, mask=i < n)  # @S


@triton.jit
def trb010_scatter_race(idx, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = i * 0
    tl.store(out + j, i, mask=i < n)  # @S


case(trb010_scatter, trb010_scatter_race,
     lambda n, B: ((cdiv(n, B),), dict(idx=T("i32", n), out=T("i32", n))),
     big=dict(n=65602, B=64), small=dict(n=61, B=16))


@triton.jit
def trb011(out, n, B: tl.constexpr):
    tile = tl.program_id(0)
    i = tile * B + tl.arange(0, B)
    for a in range(2):
        for b in range(2):
            tl.store(out + i, a + b, mask=i < n)  # @S


@triton.jit
def trb011_race(out, n, B: tl.constexpr):
    tile = tl.program_id(0) * 0
    i = tile * B + tl.arange(0, B)
    for a in range(2):
        for b in range(2):
            tl.store(out + i, a + b, mask=i < n)  # @S


case(trb011, trb011_race,
     lambda n, B: ((cdiv(n, B),), dict(out=T("i32", n))),
     big=dict(n=65602, B=64), small=dict(n=61, B=16))


@triton.jit
def trb013_plain(head, buf):
    pid = tl.program_id(0)
    slot = tl.load(head); tl.store(head, slot + 1)  # @H
    tl.store(buf + slot, pid)  # @S


@triton.jit
def trb013_ticket(head, buf):
    pid = tl.program_id(0)
    slot = tl.atomic_add(head, 1)  # @H
    tl.store(buf + slot, pid)  # @S


case(trb013_plain, trb013_ticket,
     lambda programs: ((programs,), dict(head=T("i32", 1, fill=0), buf=T("i32", programs))),
     big=dict(programs=1025), small=dict(programs=4))


@triton.jit
def trb015(x, cell, out, n, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    v = tl.max(tl.load(x + i, mask=i < n, other=0), axis=0)
    old = tl.atomic_max(cell, v)  # @C
    tl.store(out + pid, old, mask=old < v)


@triton.jit
def trb015_race(x, cell, out, n, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    v = tl.max(tl.load(x + i, mask=i < n, other=0), axis=0)
    old = tl.load(cell); tl.store(cell, tl.maximum(old, v))  # @C
    tl.store(out + pid, old, mask=old < v)


case(trb015, trb015_race,
     lambda n, B: ((cdiv(n, B),), dict(x=T("i32", n), cell=T("i32", 1), out=T("i32", cdiv(n, B)))),
     big=dict(n=65602, B=64), small=dict(n=61, B=16))


@triton.jit
def trb019(out, n, WIDTH: tl.constexpr, LIMIT: tl.constexpr):
    pid = tl.program_id(0)
    for k in range(0, n):
        tl.store(out + pid * WIDTH + k, pid, mask=k < LIMIT)  # @S


@triton.jit
def trb019_race(out, n, WIDTH: tl.constexpr, LIMIT: tl.constexpr):
    pid = tl.program_id(0)
    for k in range(0, n):
        tl.store(out + pid * WIDTH + k, pid, mask=k < 2 * LIMIT)  # @S


case(trb019, trb019_race,
     lambda programs, n, WIDTH: ((programs,), dict(out=T("i32", programs * WIDTH + WIDTH), LIMIT=WIDTH)),
     big=dict(programs=1025, n=130, WIDTH=64), small=dict(programs=4, n=21, WIDTH=8))


@triton.jit
def trb020(out, k1, k2, B: tl.constexpr):
    pair = tl.program_id(0) // 2
    role = tl.program_id(0) % 2
    lane = tl.arange(0, B)
    mine = ((role == 0) & (lane < k1)) | ((role == 1) & (lane >= k2))
    tl.store(out + pair * B + lane, role, mask=mine)  # @S


@triton.jit
def trb020_race(out, k1, k2, B: tl.constexpr):
    pair = tl.program_id(0) // 2
    role = tl.program_id(0) % 2
    lane = tl.arange(0, B)
    mine = ((role == 0) & (lane < k1 + 5)) | ((role == 1) & (lane >= k2 - 3))
    tl.store(out + pair * B + lane, role, mask=mine)  # @S


case(trb020, trb020_race,
     lambda pairs, k1, k2, B: ((2 * pairs,), dict(out=T("i32", pairs * B))),
     big=dict(pairs=1021, k1=33, k2=33, B=64), small=dict(pairs=2, k1=9, k2=9, B=16))


@triton.jit
def trb024(cell):
    tl.atomic_add(cell, 1, sem="relaxed", scope="gpu")  # @A


@triton.jit
def trb024_race(cell):
    tl.atomic_add(cell, 1, sem="relaxed", scope="cta")  # @A


case(trb024, trb024_race,
     lambda programs: ((programs,), dict(cell=T("i32", 1))),
     big=dict(programs=1025), small=dict(programs=4))


@triton.jit
def aiter_route(topk, hist, out, n, E: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    table = hist
    counts = tl.zeros((E,), tl.int32)
    for off in range(0, n, B):
        i = off + tl.arange(0, B)
        counts += tl.histogram(tl.load(topk + i, mask=i < n, other=0), E)
    tl.store(table + tl.arange(0, E), counts)  # @H
    tl.debug_barrier()
    mine = tl.load(table + pid % E)  # @L
    tl.store(out + pid, mine)


@triton.jit
def aiter_route_ok(topk, hist, out, n, E: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    table = hist + pid * E
    counts = tl.zeros((E,), tl.int32)
    for off in range(0, n, B):
        i = off + tl.arange(0, B)
        counts += tl.histogram(tl.load(topk + i, mask=i < n, other=0), E)
    tl.store(table + tl.arange(0, E), counts)  # @H
    tl.debug_barrier()
    mine = tl.load(table + pid % E)  # @L
    tl.store(out + pid, mine)


case(aiter_route, aiter_route_ok,
     lambda n, experts, E, B: ((experts,), dict(topk=T("i32", n), hist=T("i32", experts, E), out=T("i32", experts))),
     big=dict(n=5000, experts=1024, E=128, B=1024), small=dict(n=61, experts=8, E=8, B=16))
