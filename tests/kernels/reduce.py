"""Reductions, scans and histograms."""
import triton
import triton.language as tl

from registry import T, case, cdiv


@triton.jit
def row_sum(x, out, m, n, stride, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, n, BN):
        cols = start + tl.arange(0, BN)
        acc += tl.load(x + rows[:, None] * stride + cols[None, :], mask=(rows[:, None] < m) & (cols[None, :] < n), other=0.0)
    tl.store(out + rows, tl.sum(acc, axis=1), mask=rows < m)  # @S


@triton.jit
def row_sum_race(x, out, m, n, stride, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, n, BN):
        cols = start + tl.arange(0, BN)
        acc += tl.load(x + rows[:, None] * stride + cols[None, :], mask=(rows[:, None] < m) & (cols[None, :] < n), other=0.0)
    tl.store(out + tl.minimum(rows, m - 1), tl.sum(acc, axis=1))  # @S


case(row_sum, row_sum_race,
     lambda m, n, stride, BM, BN: ((cdiv(m, BM),), dict(x=T("f32", m, n, strides=[stride, 1]), out=T("f32", m))),
     big=dict(m=8195, n=500, stride=512, BM=8, BN=128), small=dict(m=21, n=43, stride=47, BM=8, BN=16), nospec=("stride",))


@triton.jit
def col_sum(x, out, m, n, BM: tl.constexpr, BN: tl.constexpr):
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, m, BM):
        rows = start + tl.arange(0, BM)
        acc += tl.load(x + rows[:, None] * n + cols[None, :], mask=(rows[:, None] < m) & (cols[None, :] < n), other=0.0)
    tl.store(out + cols, tl.sum(acc, axis=0), mask=cols < n)  # @S


@triton.jit
def col_sum_race(x, out, m, n, BM: tl.constexpr, BN: tl.constexpr):
    cols = tl.program_id(0) * (BN - 8) + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, m, BM):
        rows = start + tl.arange(0, BM)
        acc += tl.load(x + rows[:, None] * n + cols[None, :], mask=(rows[:, None] < m) & (cols[None, :] < n), other=0.0)
    tl.store(out + cols, tl.sum(acc, axis=0), mask=cols < n)  # @S


case(col_sum, col_sum_race,
     lambda m, n, BM, BN: ((cdiv(n, BN),), dict(x=T("f32", m, n), out=T("f32", n))),
     big=dict(m=301, n=70003, BM=16, BN=64), small=dict(m=21, n=43, BM=8, BN=16))


@triton.jit
def col_sum_atomic(x, out, m, n, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = (rows[:, None] < m) & (cols[None, :] < n)
    t = tl.sum(tl.load(x + rows[:, None] * n + cols[None, :], mask=inside, other=0.0), axis=0)
    tl.atomic_add(out + cols, t, mask=cols < n)  # @A


@triton.jit
def col_sum_atomic_race(x, out, m, n, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = (rows[:, None] < m) & (cols[None, :] < n)
    t = tl.sum(tl.load(x + rows[:, None] * n + cols[None, :], mask=inside, other=0.0), axis=0)
    tl.store(out + cols, tl.load(out + cols, mask=cols < n) + t, mask=cols < n)  # @A


case(col_sum_atomic, col_sum_atomic_race,
     lambda m, n, BM, BN: ((cdiv(m, BM), cdiv(n, BN)), dict(x=T("f32", m, n), out=T("f32", n))),
     big=dict(m=1003, n=1100, BM=32, BN=32), small=dict(m=21, n=43, BM=8, BN=16))


@triton.jit
def sum_partial(x, partial, n, per_program, B: tl.constexpr):
    pid = tl.program_id(0)
    acc = tl.zeros((B,), tl.float32)
    for off in range(0, per_program, B):
        i = pid * per_program + off + tl.arange(0, B)
        acc += tl.load(x + i, mask=i < n, other=0.0)
    tl.store(partial + pid, tl.sum(acc, axis=0))  # @S


@triton.jit
def sum_partial_race(x, partial, n, per_program, B: tl.constexpr):
    pid = tl.program_id(0)
    acc = tl.zeros((B,), tl.float32)
    for off in range(0, per_program, B):
        i = pid * per_program + off + tl.arange(0, B)
        acc += tl.load(x + i, mask=i < n, other=0.0)
    tl.store(partial + pid % 3, tl.sum(acc, axis=0))  # @S


case(sum_partial, sum_partial_race,
     lambda n, per_program, B: ((cdiv(n, per_program),), dict(x=T("f32", n), partial=T("f32", cdiv(n, per_program)))),
     big=dict(n=5000003, per_program=4096, B=1024), small=dict(n=201, per_program=48, B=16))


@triton.jit
def sum_final(partial, out, n, B: tl.constexpr):
    acc = tl.zeros((B,), tl.float32)
    for off in range(0, n, B):
        i = off + tl.arange(0, B)
        acc += tl.load(partial + i, mask=i < n, other=0.0)
    tl.store(out + tl.arange(0, B), acc)  # @V
    tl.debug_barrier()
    total = 0.0
    for j in range(0, B):
        total += tl.load(out + j)  # @L
    tl.debug_barrier()
    tl.store(out, total)  # @S


@triton.jit
def sum_final_race(partial, out, n, B: tl.constexpr):
    acc = tl.zeros((B,), tl.float32)
    for off in range(0, n, B):
        i = off + tl.arange(0, B)
        acc += tl.load(partial + i, mask=i < n, other=0.0)
    tl.store(out + tl.arange(0, B), acc)  # @V
    pass
    total = 0.0
    for j in range(0, B):
        total += tl.load(out + j)  # @L
    tl.debug_barrier()
    tl.store(out, total)  # @S


case(sum_final, sum_final_race,
     lambda n, B: ((1,), dict(partial=T("f32", n), out=T("f32", B))),
     big=dict(n=1048999, B=1024), small=dict(n=61, B=16))


@triton.jit
def scan_carry(x, y, n, B: tl.constexpr):
    carry = 0.0
    for off in range(0, n, B):
        i = off + tl.arange(0, B)
        v = tl.load(x + i, mask=i < n, other=0.0)
        s = tl.cumsum(v, axis=0) + carry
        tl.store(y + i, s, mask=i < n)  # @S
        carry += tl.sum(v, axis=0)


@triton.jit
def scan_carry_race(x, y, n, B: tl.constexpr):
    carry = 0.0
    for off in range(0, n, B):
        i = off + tl.arange(0, B)
        v = tl.load(x + i, mask=i < n, other=0.0)
        s = tl.cumsum(v, axis=0) + carry
        tl.store(y + i - off // 2, s, mask=i < n)  # @S
        carry += tl.sum(v, axis=0)


case(scan_carry, scan_carry_race,
     lambda n, B: ((1,), dict(x=T("f32", n), y=T("f32", n))),
     big=dict(n=1048999, B=1024), small=dict(n=61, B=16))


@triton.jit
def cumsum_rows(x, y, m, n, BM: tl.constexpr, B: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.arange(0, B)
    at = rows[:, None] * n + cols[None, :]
    inside = (rows[:, None] < m) & (cols[None, :] < n)
    v = tl.load(x + at, mask=inside, other=0)
    tl.store(y + at, tl.cumsum(v, axis=1), mask=inside)  # @S


@triton.jit
def cumsum_rows_race(x, y, m, n, BM: tl.constexpr, B: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.arange(0, B)
    at = rows[:, None] * n + cols[None, :]
    inside = (rows[:, None] < m) & (cols[None, :] < n)
    v = tl.load(x + at, mask=inside, other=0)
    tl.store(y + at - rows[:, None], tl.cumsum(v, axis=1), mask=inside)  # @S


case(cumsum_rows, cumsum_rows_race,
     lambda m, n, BM, B: ((cdiv(m, BM),), dict(x=T("i32", m, n), y=T("i32", m, n))),
     big=dict(m=4098, n=401, BM=4, B=512), small=dict(m=21, n=13, BM=8, B=16))


@triton.jit
def argmax_rows(x, index, value, n, B: tl.constexpr):
    row = tl.program_id(0)
    best = tl.full((B,), float("-inf"), tl.float32)
    where = tl.zeros((B,), tl.int32)
    for off in range(0, n, B):
        cols = off + tl.arange(0, B)
        v = tl.load(x + row * n + cols, mask=cols < n, other=float("-inf"))
        where = tl.where(v > best, cols, where)
        best = tl.maximum(best, v)
    top, lane = tl.max(best, axis=0, return_indices=True)
    at = tl.sum(tl.where(tl.arange(0, B) == lane, where, 0), axis=0)
    tl.store(index + row, at)  # @I
    tl.store(value + row, top)  # @V


@triton.jit
def argmax_rows_race(x, index, value, n, B: tl.constexpr):
    row = tl.program_id(0)
    best = tl.full((B,), float("-inf"), tl.float32)
    where = tl.zeros((B,), tl.int32)
    for off in range(0, n, B):
        cols = off + tl.arange(0, B)
        v = tl.load(x + row * n + cols, mask=cols < n, other=float("-inf"))
        where = tl.where(v > best, cols, where)
        best = tl.maximum(best, v)
    top, lane = tl.max(best, axis=0, return_indices=True)
    at = tl.sum(tl.where(tl.arange(0, B) == lane, where, 0), axis=0)
    tl.store(index + (row & ~1), at)  # @I
    tl.store(value + row, top)  # @V


case(argmax_rows, argmax_rows_race,
     lambda m, n, B: ((m,), dict(x=T("f32", m, n), index=T("i32", m), value=T("f32", m))),
     big=dict(m=1501, n=1003, B=256), small=dict(m=5, n=43, B=16))


@triton.jit
def histogram_atomic(x, bins, n, BINS: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    h = tl.histogram(v, BINS)
    tl.atomic_add(bins + tl.arange(0, BINS), h)  # @A


@triton.jit
def histogram_atomic_race(x, bins, n, BINS: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    h = tl.histogram(v, BINS)
    tl.store(bins + tl.arange(0, BINS), h)  # @A


case(histogram_atomic, histogram_atomic_race,
     lambda n, BINS, B: ((cdiv(n, B),), dict(x=T("i32", n), bins=T("i32", BINS))),
     big=dict(n=2000003, BINS=64, B=1024), small=dict(n=61, BINS=8, B=16))


@triton.jit
def histogram_private(x, bins, n, BINS: tl.constexpr, B: tl.constexpr, STEPS: tl.constexpr):
    pid = tl.program_id(0)
    h = tl.zeros((BINS,), tl.int32)
    for s in range(0, STEPS):
        i = (pid * STEPS + s) * B + tl.arange(0, B)
        v = tl.load(x + i, mask=i < n, other=0)
        h += tl.histogram(v & (BINS - 1), BINS)
    tl.store(bins + pid * BINS + tl.arange(0, BINS), h)  # @S


@triton.jit
def histogram_private_race(x, bins, n, BINS: tl.constexpr, B: tl.constexpr, STEPS: tl.constexpr):
    pid = tl.program_id(0)
    h = tl.zeros((BINS,), tl.int32)
    for s in range(0, STEPS):
        i = (pid * STEPS + s) * B + tl.arange(0, B)
        v = tl.load(x + i, mask=i < n, other=0)
        h += tl.histogram(v & (BINS - 1), BINS)
    tl.store(bins + tl.arange(0, BINS), h)  # @S


case(histogram_private, histogram_private_race,
     lambda n, BINS, B, STEPS: ((cdiv(n, B * STEPS),), dict(x=T("i32", n), bins=T("i32", cdiv(n, B * STEPS), BINS))),
     big=dict(n=4100003, BINS=32, B=512, STEPS=8), small=dict(n=130, BINS=8, B=16, STEPS=2))
