"""Positions that a running sum of a mask gives: compaction, partition, appending behind one atomic. Each kernel has one word changed in
its twins; what a twin breaks is said beside it. Some twins race only with contents that the launch does not give: they must not be proved."""
from cases import T, case, load_triton

triton, tl = load_triton()


def zeros(n):
    return T("i32", n, values=[0] * n)


OPEN = "unsupported|races never=ok"


# ---- one atomic reserves a range, the running sum gives the place in it ---------------------------------------------------
@triton.jit
def append(x, out, idx, count, other, n, FORM: tl.constexpr, COUNT: tl.constexpr, MASK: tl.constexpr, BASE: tl.constexpr, SHIFT: tl.constexpr,
           TURNS: tl.constexpr, REVERSE: tl.constexpr, TWO: tl.constexpr, WIDE: tl.constexpr, RESET: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    for k in range(TURNS):
        i = (pid * TURNS + k) * B + tl.arange(0, B)
        v = tl.load(x + i, mask=i < n, other=0)
        keep = (v > 0) & (i < n)
        ones = keep.to(tl.int64) if WIDE else keep.to(tl.int32)
        summed = ones
        if COUNT == 1:
            summed = (v > 1).to(tl.int32)                    # of another mask
        total = tl.sum(summed)
        if COUNT == 2:
            total = total // 2                               # fewer than are kept
        if COUNT == 3:
            total = total + 5                                # more: places are left free
        if BASE == 0:
            base = tl.atomic_add(count, total.to(tl.int32))
        if BASE == 1:
            base = tl.load(count)                            # not an atomic
            tl.store(count, base + total.to(tl.int32))
        if BASE == 2:
            base = pid * TURNS * B + k * B                   # a range of its own
        if BASE == 3:
            base = pid * (B // 2)                            # too small a range
        if BASE == 4:
            base = tl.atomic_add(count, total.to(tl.int32), scope="cta")
        if BASE == 5:
            base = tl.atomic_max(count, total.to(tl.int32))
        if RESET:
            if pid == 0:
                tl.atomic_xchg(count, 0)
        s = tl.cumsum(ones, 0, reverse=REVERSE)
        if FORM == 0:
            pos = base + s - 1                               # inclusive
        if FORM == 1:
            pos = base + s - ones                            # exclusive
        if FORM == 2:
            pos = base + s                                   # one too far
        pos = pos + SHIFT
        if MASK == 0:
            tl.store(out + pos, v, mask=keep)  # @S
            if TWO:
                tl.store(idx + pos, i, mask=keep)  # @I
        if MASK == 1:
            tl.store(out + pos, v, mask=i < n)  # @S
        if MASK == 2:
            tl.store(out + pos, v)  # @S
        if MASK == 3:
            tl.store(out + pos, v, mask=v > 5)  # @S
        if MASK == 4:
            tl.store(out + pos, v, mask=keep & (pos < 100))  # @S
        if MASK == 5:
            tl.store(out + pos, v, mask=v == 0)  # @S


def args(**kw):
    return dict(dict(x=T("i32", 256), out=T("i32", 512), idx=T("i32", 512), count=zeros(1), other=zeros(1), n=250, FORM=0, COUNT=0, MASK=0, BASE=0,
                     SHIFT=0, TURNS=1, REVERSE=False, TWO=False, WIDE=False, RESET=False, B=64), **kw)


SAFE = "ok T1-launch noqual=in-bounds noqual=overflow"
case("append", append, SAFE, (4,), args())
case("append_exclusive", append, SAFE, (4,), args(FORM=1))
case("append_i64", append, SAFE, (4,), args(WIDE=True))
case("append_two_stores", append, SAFE, (4,), args(TWO=True))
case("append_turns", append, SAFE, (2,), args(TURNS=2))
case("append_more", append, "ok T1-launch", (4,), args(COUNT=3, out=T("i32", 1024)))
case("append_fewer_stores", append, "ok T1-launch", (4,), args(MASK=3, FORM=0))
case("append_capped", append, "ok T1-launch", (4,), args(MASK=4))
case("append_reverse", append, SAFE, (4,), args(REVERSE=True))          # the places of a range in the other order
case("append_other_mask", append, OPEN, (4,), args(COUNT=1))
case("append_fewer", append, OPEN, (4,), args(COUNT=2))
case("append_loaded_base", append, OPEN, (4,), args(BASE=1))
case("append_cta", append, OPEN, (4,), args(BASE=4))
case("append_max", append, OPEN, (4,), args(BASE=5))
case("append_reset", append, OPEN, (4,), args(RESET=True))
case("append_shifted", append, "ok T1-launch", (4,), args(FORM=2))      # all places one further
case("append_wide_mask", append, OPEN, (4,), args(MASK=1))
case("append_no_mask", append, OPEN, (4,), args(MASK=2))
case("append_not_kept", append, OPEN, (4,), args(MASK=5))
case("append_unknown_start", append, OPEN, (4,), args(count=T("i32", 1)))
case("append_out_is_in", append, OPEN, (4,), args(x=T("i32", 512), out=T("i32", 512, of="x")))

# ---- a range for each program ---------------------------------------------------------------------------------------------
case("region", append, "ok", (4,), args(BASE=2))
case("region_exclusive", append, "ok", (4,), args(BASE=2, FORM=1))
case("region_turns", append, "ok", (2,), args(BASE=2, TURNS=2))
case("region_reverse", append, "ok", (4,), args(BASE=2, REVERSE=True))
case("region_small", append, OPEN, (4,), args(BASE=3))
case("region_one_far", append, "ok", (4,), args(BASE=2, FORM=2))         # 1..B of each: no two meet
case("region_wide_mask", append, OPEN, (4,), args(BASE=2, MASK=1))
case("region_not_kept", append, OPEN, (4,), args(BASE=2, MASK=5))


# ---- partition: kept lanes from the left, the others from the right -----------------------------------------------------
@triton.jit
def partition(x, out, left, right, n, WRONG: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    v = tl.load(x + i)
    keep = v > 0
    ones = keep.to(tl.int32)
    rest = (v <= 0).to(tl.int32)
    a = tl.atomic_add(left, tl.sum(ones))
    b = tl.atomic_add(right, tl.sum(ones if WRONG else rest))
    tl.store(out + a + tl.cumsum(ones) - 1, v, mask=keep)  # @S
    tl.store(out + n + b + tl.cumsum(rest) - 1, v, mask=v <= 0)  # @R


def part_args(**kw):
    return dict(dict(x=T("i32", 256), out=T("i32", 512), left=zeros(1), right=zeros(1), n=256, WRONG=False, B=64), **kw)


case("partition", partition, "ok T1-launch", (4,), part_args())
case("partition_near", partition, OPEN, (4,), part_args(n=16))
case("partition_wrong_count", partition, OPEN, (4,), part_args(WRONG=True))


# ---- two appends to one counter -------------------------------------------------------------------------------------------
@triton.jit
def twice(x, out, count, n, SAME: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    p, q = (v > 0).to(tl.int32), (v < -3).to(tl.int32)
    a = tl.atomic_add(count, tl.sum(p))
    b = tl.atomic_add(count, tl.sum(p if SAME else q))
    tl.store(out + a + tl.cumsum(p) - 1, v, mask=v > 0)  # @S
    tl.store(out + b + tl.cumsum(q) - 1, v, mask=v < -3)  # @R


case("twice", twice, "ok T1-launch", (4,), dict(x=T("i32", 256), out=T("i32", 512), count=zeros(1), n=1, SAME=False, B=64))
case("twice_one_count", twice, OPEN, (4,), dict(x=T("i32", 256), out=T("i32", 512), count=zeros(1), n=1, SAME=True, B=64))


# ---- rows -----------------------------------------------------------------------------------------------------------------
@triton.jit
def rows(x, out, AXIS: tl.constexpr, ALONG: tl.constexpr, STRIDE: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    r, c = tl.arange(0, R), tl.arange(0, C)
    at = tl.program_id(0) * R * C + r[:, None] * C + c[None, :]
    v = tl.load(x + at)
    keep = v > 0
    s = tl.cumsum(keep.to(tl.int32), AXIS)
    start = r[:, None] * C if ALONG else c[None, :] * R
    tl.store(out + tl.program_id(0) * STRIDE + start + s - 1, v, mask=keep)  # @S


def row_args(**kw):
    return dict(dict(x=T("i32", 256), out=T("i32", 512), AXIS=1, ALONG=True, STRIDE=128, R=8, C=16), **kw)


case("rows", rows, "ok", (2,), row_args())
case("rows_columns", rows, "ok", (2,), row_args(AXIS=0, ALONG=False))
case("rows_other_axis", rows, OPEN, (2,), row_args(AXIS=0))
case("rows_other_start", rows, OPEN, (2,), row_args(ALONG=False))
case("rows_near", rows, OPEN, (2,), row_args(STRIDE=100))


# ---- what is summed ----------------------------------------------------------------------------------------------------------
@triton.jit
def counts(x, out, SIGNED: tl.constexpr, NARROW: tl.constexpr, KIND: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    if KIND == 0:
        w = (v & 3).to(tl.int32)                             # 0 to 3
    if KIND == 1:
        w = v.to(tl.int32)                                   # may be negative
    if KIND == 2:
        w = tl.where(v > 0, 1, 0)
    if KIND == 3:
        w = tl.where(v > 0, 1, -1)
    if KIND == 4:
        w = (v > 0).to(tl.int8)                              # (cumsum widens it)
    s = tl.cumsum(w, 0)
    tl.store(out + tl.program_id(0) * B * 4 + s, v, mask=w > 0)  # @S


def count_args(**kw):
    return dict(dict(x=T("i32", 512), out=T("i32", 2048 + 1), SIGNED=False, NARROW=False, KIND=0, B=64), **kw)


case("counts", counts, "ok", (4,), count_args())
case("counts_signed", counts, OPEN, (4,), count_args(KIND=1))
case("counts_where", counts, "ok", (4,), count_args(KIND=2))
case("counts_minus", counts, OPEN, (4,), count_args(KIND=3))
case("counts_i8", counts, "ok", (4,), count_args(KIND=4))


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def narrow(x, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    keep = tl.load(x + i) > 0
    s = tl.associative_scan(keep.to(tl.int8), 0, plus)       # stays 8 bits wide
    tl.store(out + tl.program_id(0) * B + s.to(tl.int32), 1, mask=keep)  # @S


case("narrow", narrow, "ok", (4,), dict(x=T("i32", 256), out=T("i32", 257), B=64))
case("narrow_wraps", narrow, OPEN, (1,), dict(x=T("i32", 512), out=T("i32", 768, before=256), B=512))


# sums that later lanes have more of, and reverse ones that they have less of, beside the lane itself
@triton.jit
def tilted(x, out, REVERSE: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    keep = tl.load(x + i) > 0
    tl.store(out + i + tl.cumsum(keep.to(tl.int32), 0, reverse=REVERSE), 1, mask=keep)  # @S


case("tilted", tilted, "ok", (1,), dict(x=T("i32", 64), out=T("i32", 256), REVERSE=False, B=64))
case("tilted_reverse", tilted, OPEN, (1,), dict(x=T("i32", 64), out=T("i32", 256), REVERSE=True, B=64))


# one column of every row: rows have sums of their own
@triton.jit
def column(x, out, STEP: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    r, c = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
    keep = tl.load(x + r * C + c) > 0
    s = tl.cumsum(keep.to(tl.int32), 1)
    tl.store(out + r * STEP + s, 1, mask=keep & (c == 3))  # @S


case("column", column, "ok", (1,), dict(x=T("i32", 64), out=T("i32", 256), STEP=4, R=8, C=8))
case("column_near", column, OPEN, (1,), dict(x=T("i32", 64), out=T("i32", 256), STEP=1, R=8, C=8))


# ---- in one turn, and across turns -------------------------------------------------------------------------------------------
@triton.jit
def turns(x, out, PART: tl.constexpr, B: tl.constexpr):
    for k in range(4):
        i = (tl.program_id(0) * 4 + k) * B + tl.arange(0, B)
        v = tl.load(x + i)
        s = tl.cumsum((v > 0).to(tl.int32))
        tl.store(out + (tl.program_id(0) * 4 + k * PART) * B + s - 1, v, mask=v > 0)  # @S


case("turns", turns, "ok", (2,), dict(x=T("i32", 512), out=T("i32", 512), PART=1, B=64))
case("turns_together", turns, OPEN, (2,), dict(x=T("i32", 512), out=T("i32", 512), PART=0, B=64))


# ---- values that threads may see differently, terms that the machine does not follow, orders left to the compiler ---------------
@triton.jit
def changing(x, out, n, WRITE: tl.constexpr, WRAP: tl.constexpr, ORDER: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    at = out + tl.program_id(0) * B
    if ORDER:
        v = tl.reshape(tl.load(x + tl.reshape(i, (B // 8, 8))), (B,), can_reorder=ORDER == 2)
    else:
        v = tl.load(x + i)
    keep = v > 0
    if WRAP:
        keep = n + i > 0                                     # by its term in every lane
        tl.store(at + tl.cumsum(keep.to(tl.int32)) - 1, v)  # @S
    else:
        tl.store(at + tl.cumsum(keep.to(tl.int32)) - 1, v, mask=keep)  # @S
    if WRITE:
        tl.store(x + i, v - 1)  # @W


def change_args(**kw):
    return dict(dict(x=T("i32", 256), out=T("i32", 256), n=7, WRITE=False, WRAP=False, ORDER=0, B=64), **kw)


case("changing", changing, "ok", (4,), change_args())
case("changing_written", changing, OPEN, (4,), change_args(WRITE=True))
case("changing_exact", changing, "ok", (4,), change_args(WRAP=True))
case("changing_wraps", changing, OPEN, (4,), change_args(WRAP=True, n=2**31 - 100))
case("changing_reshape", changing, "ok", (4,), change_args(ORDER=1))
case("changing_reorder", changing, OPEN, (4,), change_args(ORDER=2))


# ---- lanes that a load leaves undefined: each use, and each thread, may see something else there ---------------------------------
@triton.jit
def unread(x, out, n, KIND: tl.constexpr, REVERSE: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n
    if KIND == 3:
        v = tl.load(x + i, mask=inside, other=0)
    else:
        v = tl.load(x + i, mask=inside)
    keep = v > 0
    if KIND == 1:
        keep = keep & inside
    if KIND == 2:
        keep = tl.where(inside, v, 0) > 0
    if KIND == 4:
        keep = keep & (i < n + 1)                            # one lane more than was read
    if KIND == 5:
        for k in range(2):
            keep = keep & (v > k)
    tl.store(out + tl.program_id(0) * B + tl.cumsum(keep.to(tl.int32), 0, reverse=REVERSE) - 1, v, mask=keep & inside)  # @S


def unread_args(dtype="i32", **kw):
    return dict(dict(x=T(dtype, 256), out=T(dtype, 256), n=250, KIND=0, REVERSE=True, B=64), **kw)


case("unread", unread, OPEN, (4,), unread_args())
case("unread_float", unread, OPEN, (4,), unread_args("f32"))
case("unread_and", unread, "ok", (4,), unread_args(KIND=1))
case("unread_and_float", unread, "ok", (4,), unread_args("f32", KIND=1))
case("unread_where", unread, "ok", (4,), unread_args(KIND=2))
case("unread_other", unread, "ok", (4,), unread_args(KIND=3))
case("unread_one_more", unread, OPEN, (4,), unread_args(KIND=4))
case("unread_loop", unread, OPEN, (4,), unread_args(KIND=5))


# counts of rows whose lanes the compiler chooses: two uses of one count may be of different rows
@triton.jit
def row_counts(x, out, REORDER: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    rows = tl.reshape((tl.load(x + i) > 0).to(tl.int32), (B // 8, 8), can_reorder=REORDER)
    w = tl.sum(rows, 1)
    tl.store(out + tl.program_id(0) * B + tl.cumsum(w) - 1, w, mask=w > 0)  # @S


case("row_counts", row_counts, "ok", (4,), dict(x=T("i32", 256), out=T("i32", 256), REORDER=False, B=64))
case("row_counts_reorder", row_counts, OPEN, (4,), dict(x=T("i32", 256), out=T("i32", 256), REORDER=True, B=64))


# an amount that is not read in every program: what is added and how many lanes store may differ
@triton.jit
def unread_amount(x, out, count, n, OTHER: tl.constexpr, B: tl.constexpr):
    pid, lane = tl.program_id(0), tl.arange(0, B)
    if OTHER:
        v = tl.load(x + pid, mask=pid < n, other=0)
    else:
        v = tl.load(x + pid, mask=pid < n)
    some = v & 7
    tl.store(out + tl.atomic_add(count, some) + lane, 1, mask=lane < some)  # @S


case("unread_amount", unread_amount, OPEN, (4,), dict(x=T("i32", 4), out=T("i32", 64), count=zeros(1), n=2, OTHER=False, B=16))
case("unread_amount_other", unread_amount, "ok T1-launch", (4,), dict(x=T("i32", 4), out=T("i32", 64), count=zeros(1), n=2, OTHER=True, B=16))


# a draw of each lane where an unread lane decides which lanes draw
@triton.jit
def unread_draw(x, out, count, n, AND: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    keep = tl.load(x + i, mask=i < n) > 0
    if AND:
        keep = keep & (i < n)
    tl.store(out + tl.atomic_add(count + tl.zeros((B,), tl.int32), 1, mask=keep), 1, mask=keep)  # @S


case("unread_draw", unread_draw, OPEN, (4,), dict(x=T("i32", 64), out=T("i32", 64), count=zeros(1), n=50, AND=False, B=16))
case("unread_draw_and", unread_draw, "ok T1-launch", (4,), dict(x=T("i32", 64), out=T("i32", 64), count=zeros(1), n=50, AND=True, B=16))
