"""Branches, early returns, barriers, unread grid axes, device functions."""
import triton
import triton.language as tl

from registry import T, case, cdiv


@triton.jit(noinline=True)
def put_pair(dst, at, value):
    tl.store(dst + at, value)  # @PUT0
    tl.store(dst + at + 1, -value)  # @PUT1


@triton.jit
def clip_index(i, n):
    if i < n:
        return i
    return n - 1


@triton.jit
def early_return(x, y, n, B: tl.constexpr):
    pid = tl.program_id(0)
    if pid * B >= n:
        return
    i = pid * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    if pid == 0:
        tl.store(y + i, v, mask=i < n)  # @A
        return
    tl.store(y + i, v * 2.0, mask=i < n)  # @B


@triton.jit
def early_return_race(x, y, n, B: tl.constexpr):
    pid = tl.program_id(0)
    if pid * B >= n:
        return
    i = pid * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    if pid == 0:
        tl.store(y + i, v, mask=i < n)  # @A
        return
    tl.store(y + i - B, v * 2.0, mask=i < n)  # @B


case(early_return, early_return_race,
     lambda n, B: ((cdiv(n, B) + 5,), dict(x=T("f32", n), y=T("f32", n))),
     big=dict(n=1048579, B=1024), small=dict(n=61, B=16))


@triton.jit
def branch_arms(x, y, n, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    if pid % 2 == 0:
        tl.store(y + i, v + 1, mask=i < n)  # @A
    else:
        tl.store(y + i, v - 1, mask=i < n)  # @B


@triton.jit
def branch_arms_race(x, y, n, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    if pid % 2 == 0:
        tl.store(y + i, v + 1, mask=i < n)  # @A
    else:
        tl.store(y + i - B // 2, v - 1, mask=i < n)  # @B


case(branch_arms, branch_arms_race,
     lambda n, B: ((cdiv(n, B),), dict(x=T("i32", n), y=T("i32", n))),
     big=dict(n=1048579, B=1024), small=dict(n=61, B=16))


@triton.jit
def select_pointer(x, even, odd, n, B: tl.constexpr):
    pid = tl.program_id(0)
    if pid % 2 == 0:
        dst = even + (pid // 2) * B
    else:
        dst = odd + (pid // 2) * B
    lane = tl.arange(0, B)
    v = tl.load(x + pid * B + lane, mask=pid * B + lane < n)
    tl.store(dst + lane, v, mask=pid * B + lane < n)  # @S


@triton.jit
def select_pointer_race(x, even, odd, n, B: tl.constexpr):
    pid = tl.program_id(0)
    if pid % 2 == 0:
        dst = even + (pid // 2) * B
    else:
        dst = even + (pid // 2) * B
    lane = tl.arange(0, B)
    v = tl.load(x + pid * B + lane, mask=pid * B + lane < n)
    tl.store(dst + lane, v, mask=pid * B + lane < n)  # @S


case(select_pointer, select_pointer_race,
     lambda n, B: ((cdiv(n, B),), dict(x=T("f32", n), even=T("f32", cdiv(n, 2 * B) * B), odd=T("f32", cdiv(n, 2 * B) * B))),
     big=dict(n=1048579, B=1024), small=dict(n=61, B=16))


@triton.jit
def border_rows(y, h, w, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.program_id(1) * B + tl.arange(0, B)
    if (r == 0) | (r == h - 1):
        tl.store(y + r * w + c, 0.0, mask=c < w)  # @E
    else:
        tl.store(y + r * w + c, 1.0, mask=(c > 0) & (c < w - 1))  # @M
        if tl.program_id(1) == 0:
            tl.store(y + r * w, 0.0)  # @L
            tl.store(y + r * w + w - 1, 0.0)  # @R


@triton.jit
def border_rows_race(y, h, w, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.program_id(1) * B + tl.arange(0, B)
    if (r == 0) | (r == h - 1):
        tl.store(y + r * w + c, 0.0, mask=c < w)  # @E
    else:
        tl.store(y + r * w + c, 1.0, mask=(c > 0) & (c < w - 1))  # @M
        if tl.program_id(1) == 0:
            tl.store(y + r * w, 0.0)  # @L
            tl.store(y + r * w + w, 0.0)  # @R


case(border_rows, border_rows_race,
     lambda h, w, B: ((h, cdiv(w, B)), dict(y=T("f32", h, w))),
     big=dict(h=1031, w=1100, B=256), small=dict(h=5, w=43, B=16))


@triton.jit
def single_writer(x, total, n, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    v = tl.load(x + lane, mask=lane < n)
    tl.store(total + lane, v, mask=(lane < n) & (pid == 0))  # @S


@triton.jit
def single_writer_race(x, total, n, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    v = tl.load(x + lane, mask=lane < n)
    tl.store(total + lane, v, mask=(lane < n) & (pid <= 1))  # @S


case(single_writer, single_writer_race,
     lambda n, programs, B: ((programs,), dict(x=T("f32", n), total=T("f32", n))),
     big=dict(n=1000, programs=1024, B=1024), small=dict(n=13, programs=4, B=16))


@triton.jit
def unread_axis(y, B: tl.constexpr):
    row = tl.program_id(0)
    tl.store(y + row * B + tl.arange(0, B), row)  # @S


@triton.jit
def unread_axis_ok(y, B: tl.constexpr):
    row = tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
    tl.store(y + row * B + tl.arange(0, B), row)  # @S


case(unread_axis, unread_axis_ok,
     lambda g0, g1, B: ((g0, g1), dict(y=T("i32", g0 * g1 * B))),
     big=dict(g0=1001, g1=3, B=128), small=dict(g0=4, g1=3, B=16))


@triton.jit
def summed_axes(y, B: tl.constexpr, W: tl.constexpr):
    tile = tl.program_id(0) + tl.program_id(1)
    tl.store(y + tile * B + tl.arange(0, B), tile)  # @S


@triton.jit
def summed_axes_ok(y, B: tl.constexpr, W: tl.constexpr):
    tile = tl.program_id(0) + tl.program_id(1) * W
    tl.store(y + tile * B + tl.arange(0, B), tile)  # @S


case(summed_axes, summed_axes_ok,
     lambda W, g1, B: ((W, g1), dict(y=T("i32", W * g1 * B))),
     big=dict(W=97, g1=11, B=1024), small=dict(W=5, g1=3, B=16))


@triton.jit
def no_program_id(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    for off in range(0, n, B):
        inside = off + i < n
        tl.store(y + off + i, tl.load(x + off + i, mask=inside), mask=inside & (off == 0))  # @S


@triton.jit
def no_program_id_ok(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    for off in range(0, n, B):
        inside = off + i < n
        tl.store(y + off + i, tl.load(x + off + i, mask=inside), mask=inside & (off == 0))  # @S


case(no_program_id, no_program_id_ok,
     lambda n, programs, B: ((programs,), dict(x=T("f32", n), y=T("f32", n))),
     big=dict(n=1048579, programs=1024, B=1024), small=dict(n=61, programs=4, B=16))


@triton.jit
def barrier_exchange(x, tmp, y, n, B: tl.constexpr):
    base = tl.program_id(0) * B
    lane = tl.arange(0, B)
    v = tl.load(x + base + lane, mask=base + lane < n, other=0.0)
    tl.store(tmp + base + lane, v + 1.0)  # @W
    tl.debug_barrier()
    w = tl.load(tmp + base + (B - 1 - lane))  # @R
    tl.store(y + base + lane, w, mask=base + lane < n)


@triton.jit
def barrier_exchange_race(x, tmp, y, n, B: tl.constexpr):
    base = tl.program_id(0) * B
    lane = tl.arange(0, B)
    v = tl.load(x + base + lane, mask=base + lane < n, other=0.0)
    tl.store(tmp + base + lane, v + 1.0)  # @W
    pass
    w = tl.load(tmp + base + (B - 1 - lane))  # @R
    tl.store(y + base + lane, w, mask=base + lane < n)


case(barrier_exchange, barrier_exchange_race,
     lambda n, B: ((cdiv(n, B),), dict(x=T("f32", n), tmp=T("f32", cdiv(n, B) * B), y=T("f32", n))),
     big=dict(n=1048579, B=1024), small=dict(n=61, B=16))


@triton.jit
def barrier_in_branch(tmp, y, n, half, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    tl.store(tmp + pid * B + lane, lane)  # @W
    if pid >= 0:
        tl.debug_barrier()
    w = tl.load(tmp + pid * B + (lane ^ 1))  # @R
    tl.store(y + pid * B + lane, w, mask=pid * B + lane < n)


@triton.jit
def barrier_in_branch_race(tmp, y, n, half, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    tl.store(tmp + pid * B + lane, lane)  # @W
    if pid >= half:
        tl.debug_barrier()
    w = tl.load(tmp + pid * B + (lane ^ 1))  # @R
    tl.store(y + pid * B + lane, w, mask=pid * B + lane < n)


case(barrier_in_branch, barrier_in_branch_race,
     lambda n, half, B: ((cdiv(n, B),), dict(tmp=T("i32", cdiv(n, B) * B), y=T("i32", n))),
     big=dict(n=1048579, half=500, B=1024), small=dict(n=61, half=2, B=16))


@triton.jit
def barrier_same_branch(tmp, y, n, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    if pid * B + B <= n:
        tl.store(tmp + pid * B + lane, lane)  # @W
        tl.debug_barrier()
        w = tl.load(tmp + pid * B + (lane ^ 1))  # @R
        tl.store(y + pid * B + lane, w)


@triton.jit
def barrier_same_branch_race(tmp, y, n, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    if pid * B + B <= n:
        tl.store(tmp + pid * B + lane, lane)  # @W
        pass
        w = tl.load(tmp + pid * B + (lane ^ 1))  # @R
        tl.store(y + pid * B + lane, w)


case(barrier_same_branch, barrier_same_branch_race,
     lambda n, B: ((cdiv(n, B),), dict(tmp=T("i32", cdiv(n, B) * B), y=T("i32", n))),
     big=dict(n=1048579, B=1024), small=dict(n=61, B=16))


@triton.jit
def barrier_back_edge(x, tmp, y, n, steps, B: tl.constexpr):
    base = tl.program_id(0) * B
    lane = tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    for k in range(0, steps):
        v = tl.load(x + base + lane, mask=base + lane < n, other=0.0)
        tl.store(tmp + base + lane, v * k)  # @W
        tl.debug_barrier()
        acc += tl.load(tmp + base + (B - 1 - lane))  # @R
        tl.debug_barrier()
    tl.store(y + base + lane, acc, mask=base + lane < n)


@triton.jit
def barrier_back_edge_race(x, tmp, y, n, steps, B: tl.constexpr):
    base = tl.program_id(0) * B
    lane = tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    for k in range(0, steps):
        v = tl.load(x + base + lane, mask=base + lane < n, other=0.0)
        tl.store(tmp + base + lane, v * k)  # @W
        tl.debug_barrier()
        acc += tl.load(tmp + base + (B - 1 - lane))  # @R
        pass
    tl.store(y + base + lane, acc, mask=base + lane < n)


case(barrier_back_edge, barrier_back_edge_race,
     lambda n, steps, B: ((cdiv(n, B),), dict(x=T("f32", n), tmp=T("f32", cdiv(n, B) * B), y=T("f32", n))),
     big=dict(n=1048579, steps=4, B=1024), small=dict(n=61, steps=3, B=16))


@triton.jit
def barrier_before_loop(x, table, y, n, B: tl.constexpr, STEPS: tl.constexpr):
    base = tl.program_id(0) * (B * STEPS)
    lane = tl.arange(0, B)
    tl.store(table + tl.program_id(0) * B + lane, tl.load(x + lane))  # @W
    tl.debug_barrier()
    for k in range(STEPS):
        t = tl.load(table + tl.program_id(0) * B + (lane + k) % B)  # @R
        tl.store(y + base + k * B + lane, t, mask=base + k * B + lane < n)


@triton.jit
def barrier_before_loop_race(x, table, y, n, B: tl.constexpr, STEPS: tl.constexpr):
    base = tl.program_id(0) * (B * STEPS)
    lane = tl.arange(0, B)
    tl.store(table + tl.program_id(0) * B + lane, tl.load(x + lane))  # @W
    pass
    for k in range(STEPS):
        t = tl.load(table + tl.program_id(0) * B + (lane + k) % B)  # @R
        tl.store(y + base + k * B + lane, t, mask=base + k * B + lane < n)


case(barrier_before_loop, barrier_before_loop_race,
     lambda n, B, STEPS: ((cdiv(n, B * STEPS),), dict(x=T("f32", B), table=T("f32", cdiv(n, B * STEPS) * B), y=T("f32", n))),
     big=dict(n=1048579, B=256, STEPS=4), small=dict(n=131, B=16, STEPS=3))


@triton.jit
def call_noinline(dst, n, B: tl.constexpr):
    pid = tl.program_id(0)
    for k in range(0, B):
        at = 2 * (pid * B + k)
        if at + 1 < n:
            put_pair(dst, at, pid + k)


@triton.jit
def call_noinline_race(dst, n, B: tl.constexpr):
    pid = tl.program_id(0)
    for k in range(0, B):
        at = 2 * pid * B + k
        if at + 1 < n:
            put_pair(dst, at, pid + k)


case(call_noinline, call_noinline_race,
     lambda n, B: ((cdiv(n, 2 * B),), dict(dst=T("i32", n))),
     big=dict(n=1050001, B=256), small=dict(n=77, B=8))


@triton.jit
def call_inlined(x, y, n):
    pid = tl.program_id(0)
    src = clip_index(pid + 1, n)
    v = tl.load(x + src)
    tl.store(y + pid, v)  # @S


@triton.jit
def call_inlined_race(x, y, n):
    pid = tl.program_id(0)
    src = clip_index(pid + 1, n)
    v = tl.load(x + src)
    tl.store(y + clip_index(pid + 1, n), v)  # @S


case(call_inlined, call_inlined_race,
     lambda n: ((n,), dict(x=T("f32", n), y=T("f32", n))),
     big=dict(n=1200), small=dict(n=5))


@triton.jit
def nested_branches(x, y, h, w, B: tl.constexpr):
    r = tl.program_id(1)
    c = tl.program_id(0) * B + tl.arange(0, B)
    inside = c < w
    v = tl.load(x + r * w + c, mask=inside, other=0.0)
    if r < h // 2:
        if r % 2 == 0:
            tl.store(y + r * w + c, v, mask=inside)  # @A
        else:
            tl.store(y + r * w + c, -v, mask=inside)  # @B
    elif r < h - 1:
        tl.store(y + r * w + c, v + 1.0, mask=inside)  # @C
    else:
        tl.store(y + r * w + c, v + 2.0, mask=inside)  # @D


@triton.jit
def nested_branches_race(x, y, h, w, B: tl.constexpr):
    r = tl.program_id(1)
    c = tl.program_id(0) * B + tl.arange(0, B)
    inside = c < w
    v = tl.load(x + r * w + c, mask=inside, other=0.0)
    if r < h // 2:
        if r % 2 == 0:
            tl.store(y + r * w + c, v, mask=inside)  # @A
        else:
            tl.store(y + r * w + c, -v, mask=inside)  # @B
    elif r < h - 1:
        tl.store(y + r * w + c, v + 1.0, mask=inside)  # @C
    else:
        tl.store(y + (r - 1) * w + c, v + 2.0, mask=inside)  # @D


case(nested_branches, nested_branches_race,
     lambda h, w, B: ((cdiv(w, B), h), dict(x=T("f32", h, w), y=T("f32", h, w))),
     big=dict(h=1003, w=1100, B=256), small=dict(h=5, w=43, B=16))


@triton.jit
def read_back_after_return(tmp, y, n, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    tl.store(tmp + pid * B + lane, lane + pid)  # @W
    if pid * B >= n:
        return
    tl.debug_barrier()
    w = tl.load(tmp + pid * B + (B - 1 - lane))  # @R
    tl.store(y + pid * B + lane, w, mask=pid * B + lane < n)


@triton.jit
def read_back_after_return_race(tmp, y, n, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    tl.store(tmp + pid * B + lane, lane + pid)  # @W
    if pid * B >= n:
        return
    pass
    w = tl.load(tmp + pid * B + (B - 1 - lane))  # @R
    tl.store(y + pid * B + lane, w, mask=pid * B + lane < n)


case(read_back_after_return, read_back_after_return_race,
     lambda n, B: ((cdiv(n, B) + 2,), dict(tmp=T("i32", (cdiv(n, B) + 2) * B), y=T("i32", n))),
     big=dict(n=1048579, B=1024), small=dict(n=61, B=16))
