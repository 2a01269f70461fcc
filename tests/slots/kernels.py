"""Positions that counters give, one counter an expert, bucket or bin: routing, counting sort, hash chains; and counters that the last program gives back
by a plain store. V chooses the variant: a correct one, or one with another cell, amount, mask, bound or writer."""
from cases import T, case, load_triton
triton, tl = load_triton()


def zeros(n):
    return [0] * n


def both(name, fn, grid, args, safe=(0,), races=(1,), ok="ok", bad="races"):
    """One launch for each variant of the kernel: V in `safe` is right, V in `races` is not."""
    for v in safe:
        case(f"{name}_{v}" if v else name, fn, ok, grid, args(V=v))
    for v in races:
        case(f"{name}_wrong{v}", fn, bad, grid, args(V=v))


NEVER = "races|unsupported never=ok"


@triton.jit
def route_tile(ids_ptr, cnt_ptr, off_ptr, out_ptr, n, cap, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    e = tl.load(ids_ptr + i, mask=m, other=0)
    s = tl.atomic_add(cnt_ptr + e, 1, mask=m)
    if V == 0:
        tl.store(out_ptr + e * cap + s, i, mask=m & (s < cap))
    elif V == 1:  # experts get more than their capacity
        tl.store(out_ptr + e * cap + s, i, mask=m)
    elif V == 2:  # ranges of exactly the right size
        o = tl.load(off_ptr + e, mask=m, other=0)
        tl.store(out_ptr + o + s, i, mask=m)
    elif V == 3:
        o = tl.load(off_ptr + e, mask=m, other=0)
        tl.store(out_ptr + o + s // 2, i, mask=m)
    elif V == 4:  # one too many
        tl.store(out_ptr + e * cap + s, i, mask=m & (s <= cap))
    elif V == 5:
        tl.store(out_ptr + s * 4 + e, i, mask=m)
    elif V == 6:  # the slot alone
        tl.store(out_ptr + s, i, mask=m)
    elif V == 7:  # the expert of the neighbour
        f = tl.load(ids_ptr + i + 1, mask=i + 1 < n, other=0)
        tl.store(out_ptr + f * cap + s, i, mask=m & (s < cap))
    elif V == 8:  # clamped instead of dropped
        tl.store(out_ptr + e * cap + tl.minimum(s, cap - 1), i, mask=m)


IDS = [(i * i + i // 3) % 4 for i in range(60)]
SIZES = [IDS.count(e) for e in range(4)]


def tile_args(V, known=True, first=0):
    return dict(ids_ptr=T("i32", 60, values=IDS if known else None), cnt_ptr=T("i32", 4, values=[first] * 4 if first is not None else None),
                off_ptr=T("i32", 4, values=[sum(SIZES[:e]) for e in range(4)]), out_ptr=T("i32", 400), n=60, cap=10, V=V, B=16)


both("route_tile", route_tile, (4,), tile_args, safe=(0, 2, 5), races=(1, 3, 4, 6, 7, 8))
both("route_any", route_tile, (4,), lambda V: tile_args(V, False), safe=(0,), races=(1, 2, 3, 4, 6, 7), bad=NEVER)
# the counters start at 10: nothing fits, or every slot lies behind its range (2: the last of one range is the first of the next)
both("route_full", route_tile, (4,), lambda V: tile_args(V, True, 10), safe=(0, 2, 5), races=(1, 3), bad=NEVER)
# slots below 0 where a counter starts there: its range is the one before
both("route_unknown_start", route_tile, (4,), lambda V: tile_args(V, True, None), safe=(5,), races=(0, 1), ok="ok|unsupported", bad=NEVER)
both("route_negative_start", route_tile, (4,), lambda V: tile_args(V, True, -9), safe=(), races=(0,))


@triton.jit
def route_token(ids_ptr, cnt_ptr, out_ptr, x_ptr, cap, D: tl.constexpr, V: tl.constexpr):
    t = tl.program_id(0)
    d = tl.arange(0, D)
    e = tl.load(ids_ptr + t)
    s = tl.atomic_add(cnt_ptr + e, 1)
    x = tl.load(x_ptr + t * D + d)
    if V == 0:
        if s < cap:
            tl.store(out_ptr + (e * cap + s) * D + d, x)
    elif V == 1:
        tl.store(out_ptr + (e * cap + s) * D + d, x)
    elif V == 2:
        if s < cap:
            tl.store(out_ptr + (e * (cap - 1) + s) * D + d, x)
    elif V == 3:
        if s < cap:
            tl.store(out_ptr + (e + s * 4) * D + d, x)


def token_args(V):
    return dict(ids_ptr=T("i32", 10), cnt_ptr=T("i32", 4, values=zeros(4)), out_ptr=T("f32", 100, 16), x_ptr=T("f32", 10, 16), cap=3, D=16, V=V)


both("route_token", route_token, (10,), token_args, safe=(0, 3), races=(1, 2), bad=NEVER)


# Two choices a token: two operations draw from the same counters.
@triton.jit
def route_two(ids_ptr, cnt_ptr, other_ptr, out_ptr, n, cap, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    for k in tl.static_range(2):
        e = tl.load(ids_ptr + 2 * i + k, mask=m, other=0)
        if V == 1 and k == 1:
            s = tl.atomic_add(other_ptr + e, 1, mask=m)
        elif V == 2 and k == 1:
            s = tl.atomic_add(cnt_ptr + e, 0, mask=m)
        elif V == 3 and k == 1:
            s = tl.atomic_add(cnt_ptr + e, 1, mask=m & (i % 2 == 0))
        else:
            s = tl.atomic_add(cnt_ptr + e, 1, mask=m)
        tl.store(out_ptr + e * cap + s, i, mask=m & (s < cap))


def two_args(V):
    return dict(ids_ptr=T("i32", 120, values=[(i * 7 + i // 5) % 4 for i in range(120)]), cnt_ptr=T("i32", 4, values=zeros(4)), other_ptr=T("i32", 4, values=zeros(4)),
                out_ptr=T("i32", 400), n=60, cap=20, V=V, B=16)


both("route_two", route_two, (4,), two_args, safe=(0,), races=(1, 2, 3), bad=NEVER)


# Counting sort: positions from the ends of the buckets, downwards.
@triton.jit
def counting_sort(key_ptr, end_ptr, out_ptr, n, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    k = tl.load(key_ptr + i, mask=m, other=0)
    if V == 1:
        p = tl.atomic_add(end_ptr + k, -1, mask=m)
        tl.store(out_ptr + p, i, mask=m)
        tl.store(out_ptr + p - 1, i, mask=m)
    elif V == 2:
        p = tl.atomic_add(end_ptr + k, 1, mask=m) - 1
        tl.store(out_ptr + p, i, mask=m)
    elif V == 3:
        p = tl.atomic_max(end_ptr + k, 1, mask=m) - 1
        tl.store(out_ptr + p, i, mask=m)
    elif V == 4:
        p = tl.load(end_ptr + k, mask=m, other=0) - 1
        tl.store(end_ptr + k, p, mask=m)
        tl.store(out_ptr + p, i, mask=m)
    else:
        p = tl.atomic_add(end_ptr + k, -1, mask=m) - 1
        tl.store(out_ptr + p, i, mask=m)


KEYS = [(i * 11 + i // 7) % 8 for i in range(60)]
ENDS = [sum(KEYS.count(j) for j in range(k + 1)) for k in range(8)]
sort_args = lambda V, ends=ENDS: dict(key_ptr=T("i32", 60, values=KEYS), end_ptr=T("i32", 8, values=ends), out_ptr=T("i32", 130), n=60, V=V, B=16)
both("counting_sort", counting_sort, (4,), sort_args, safe=(0,), races=(1, 2, 3, 4), bad=NEVER)
both("counting_sort_ends", counting_sort, (4,), lambda V: sort_args(V, ENDS[:3] + [ENDS[3] - 1] + ENDS[4:]), safe=(), races=(0,))


# Who else touches the counters.
@triton.jit
def others(ids_ptr, cnt_ptr, out_ptr, n, cap, V: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    m = i < n
    e = tl.load(ids_ptr + i, mask=m, other=0)
    if V == 1:
        if pid == 0:
            tl.store(cnt_ptr + tl.arange(0, 4), tl.zeros((4,), tl.int32))
    elif V == 2:
        tl.atomic_xchg(cnt_ptr + pid, 0)
    elif V == 3:  # of another array
        tl.atomic_xchg(cnt_ptr + 8 + pid, 0)
    elif V == 4:  # at the counters' end
        tl.atomic_xchg(cnt_ptr + 3 + pid, 0)
    elif V == 5:
        tl.atomic_add(cnt_ptr + pid, -1)
    elif V == 6:
        tl.atomic_add(cnt_ptr + pid, 1)
    elif V == 7:
        tl.atomic_add((cnt_ptr + 2 * (pid // 2)).to(tl.pointer_type(tl.int64)), 1)
    s = tl.atomic_add(cnt_ptr + e, 1, mask=m)
    if V == 8:
        tl.atomic_min(cnt_ptr + e, 5, mask=m)
    tl.store(out_ptr + e * cap + s, i, mask=m & (s < cap))


def others_args(V):
    return dict(ids_ptr=T("i32", 60, values=IDS), cnt_ptr=T("i32", 16, values=zeros(16)), out_ptr=T("i32", 400), n=60, cap=20, V=V, B=16)


both("others", others, (4,), others_args, safe=(0, 3, 6), races=(1, 2, 4, 5, 7, 8), bad=NEVER)


# Masks, loops, scopes, and slots that are used elsewhere.
@triton.jit
def elsewhere(ids_ptr, cnt_ptr, out_ptr, n, cap, V: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    o = tl.arange(0, B)
    if V <= 2:
        for t in range(3):
            i = (pid * 3 + t) * B + o
            m = i < n
            e = tl.load(ids_ptr + i, mask=m, other=0)
            s = tl.atomic_add(cnt_ptr + e, 1, mask=m)
            if V == 0:
                tl.store(out_ptr + e * cap + s, i, mask=m & (s < cap))
            elif V == 1:
                tl.store(out_ptr + e * cap + s % 8, i, mask=m & (s < cap))
            else:
                tl.store(out_ptr + e * cap + s - t, i, mask=m & (s < cap))
    else:
        i = pid * B + o
        m = i < n
        e = tl.load(ids_ptr + i, mask=m, other=0)
        if V == 3:      # only even lanes draw, all store
            s = tl.atomic_add(cnt_ptr + e, 1, mask=m & (o % 2 == 0))
            tl.store(out_ptr + e * cap + s, i, mask=m & (s < cap) & (s >= 0))
        elif V == 4:    # even lanes draw, even lanes store
            s = tl.atomic_add(cnt_ptr + e, 1, mask=m & (o % 2 == 0))
            tl.store(out_ptr + e * cap + s, i, mask=m & (s < cap) & (s >= 0) & (o % 4 == 0))
        elif V == 5:
            s = tl.atomic_add(cnt_ptr + e, 1, mask=m, scope="cta")
            tl.store(out_ptr + e * cap + s, i, mask=m & (s < cap))
        elif V == 6:    # a row a slot
            s = tl.atomic_add(cnt_ptr + e, 1, mask=m)
            r = (e * cap + s)[:, None] * 8 + tl.arange(0, 8)[None, :]
            tl.store(out_ptr + r, i[:, None] + tl.zeros((1, 8), tl.int32), mask=(m & (s < cap))[:, None])
        elif V == 7:    # rows that overlap
            s = tl.atomic_add(cnt_ptr + e, 1, mask=m)
            r = (e * cap + s)[:, None] * 4 + tl.arange(0, 8)[None, :]
            tl.store(out_ptr + r, i[:, None] + tl.zeros((1, 8), tl.int32), mask=(m & (s < cap))[:, None])
        elif V == 8:    # columns
            s = tl.atomic_add(cnt_ptr + e, 1, mask=m)
            r = (e * cap + s)[None, :] + 80 * tl.arange(0, 8)[:, None]
            tl.store(out_ptr + r, i[None, :] + tl.zeros((8, 1), tl.int32), mask=(m & (s < cap))[None, :])
        elif V == 9:    # halves of a tile are swapped
            s = tl.atomic_add(cnt_ptr + e, 1, mask=m)
            a, b = tl.split(tl.reshape(s, (B // 2, 2)))
            f, g = tl.split(tl.reshape(e, (B // 2, 2)))
            p, q = tl.split(tl.reshape(m.to(tl.int32), (B // 2, 2)))
            j = tl.arange(0, B // 2)
            tl.store(out_ptr + f * cap + a, j, mask=(p > 0) & (a < cap))
            tl.store(out_ptr + g * cap + b, j, mask=(q > 0) & (b < cap))
        elif V == 10:
            s = tl.atomic_add(cnt_ptr + e, 1, mask=m)
            a, b = tl.split(tl.reshape(s, (B // 2, 2)))
            f, g = tl.split(tl.reshape(e, (B // 2, 2)))
            p, q = tl.split(tl.reshape(m.to(tl.int32), (B // 2, 2)))
            j = tl.arange(0, B // 2)
            tl.store(out_ptr + f * cap + b, j, mask=(p > 0) & (b < cap) & (b >= 0) & (q > 0))
            tl.store(out_ptr + g * cap + a, j, mask=(q > 0) & (a < cap) & (a >= 0) & (p > 0))


def elsewhere_args(V):
    return dict(ids_ptr=T("i32", 130, values=[(i * i + i // 3) % 4 for i in range(130)]), cnt_ptr=T("i32", 4, values=zeros(4)), out_ptr=T("i32", 1000), n=130, cap=20, V=V, B=16)


both("elsewhere", elsewhere, (3,), elsewhere_args, safe=(0, 6, 8), races=(1, 2, 3, 5, 7, 10), bad=NEVER)
both("elsewhere_part", elsewhere, (3,), elsewhere_args, safe=(4, 9), races=(), ok="ok|unsupported")


# The table of cells is written by the kernel: two threads may read two cells.
@triton.jit
def moving_ids(ids_ptr, cnt_ptr, out_ptr, n, cap, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    e = tl.load(ids_ptr + i, mask=m, other=0)
    s = tl.atomic_add(cnt_ptr + e, 1, mask=m)
    tl.store(out_ptr + e * cap + s, i, mask=m & (s < cap))
    if V == 1:
        tl.store(ids_ptr + (i ^ 1), e, mask=m & ((i ^ 1) < n))
    elif V == 2:
        tl.store(ids_ptr + i, e + 4, mask=m)


both("moving_ids", moving_ids, (4,), lambda V: dict(ids_ptr=T("i32", 60, values=IDS), cnt_ptr=T("i32", 8, values=zeros(8)), out_ptr=T("i32", 400), n=60, cap=20, V=V, B=16), safe=(0,), races=(1,),
     bad=NEVER)
both("moving_own", moving_ids, (4,), lambda V: dict(ids_ptr=T("i32", 60, values=IDS), cnt_ptr=T("i32", 8, values=zeros(8)), out_ptr=T("i32", 400), n=60, cap=20, V=V, B=16), safe=(2,), races=(),
     ok="ok|unsupported")


# Bins: the address is arithmetic, no table is read. 64-bit counters, two counters of one cell.
@triton.jit
def bins(x_ptr, cnt_ptr, out_ptr, n, cap, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    b = i % 5 if V != 2 else i % 6
    s = tl.atomic_add(cnt_ptr + (b if V != 3 else b // 2), 1, mask=m)
    tl.store(out_ptr + b * cap + s, i, mask=m)
    if V == 1:
        tl.store(out_ptr + b * cap + s + 1, i, mask=m)


# 60 of 5 bins: 12 each. 2: of 6 bins 10 each, fits. 3: bins 0 and 1 share a counter, their ranges do not overlap but slots reach 24
both("bins", bins, (4,), lambda V: dict(x_ptr=T("i32", 60), cnt_ptr=T("i64", 6, values=zeros(6)), out_ptr=T("i32", 400), n=60, cap=12, V=V, B=16), safe=(0, 2), races=(1, 3))
both("bins_tight", bins, (4,), lambda V: dict(x_ptr=T("i32", 60), cnt_ptr=T("i64", 6, values=zeros(6)), out_ptr=T("i32", 400), n=60, cap=11, V=V, B=16), safe=(2,), races=(0,))


# ---- a counter that the last program gives back by a plain store
@triton.jit
def give_back(a_ptr, ws_ptr, c_ptr, sem_ptr, SK: tl.constexpr, V: tl.constexpr, B: tl.constexpr):
    t = tl.program_id(0)
    k = tl.program_id(1)
    o = tl.arange(0, B)
    if V == 3:
        if k == 0:
            tl.store(sem_ptr + t, 0)
    x = tl.load(a_ptr + (t * SK + k) * B + o)
    tl.store(ws_ptr + (t * SK + k) * B + o, x)
    tl.debug_barrier()
    if V == 1:
        c = tl.atomic_add(sem_ptr + t, 1, sem="relaxed")
    elif V == 7:
        c = tl.atomic_add(sem_ptr + t, 1, sem="release")
    else:
        c = tl.atomic_add(sem_ptr + t, 1)
    last = SK - 2 if V == 2 else SK - 1
    if c == last:
        tl.debug_barrier()
        acc = tl.zeros((B,), tl.float32)
        for j in range(SK):
            acc += tl.load(ws_ptr + (t * SK + j) * B + o)
        tl.store(c_ptr + t * B + o, acc)
        if V == 4:
            tl.store(sem_ptr, 0)                 # everybody's
        elif V == 5:
            tl.store(sem_ptr + t + 1, 0)         # the neighbour's
        elif V == 6:
            tl.debug_barrier()
            tl.store(sem_ptr + t, 0)
            tl.debug_barrier()
            tl.store(c_ptr + t * B + o, acc + tl.load(sem_ptr + t))
        else:
            tl.store(sem_ptr + t, 0)
    if V == 8:
        tl.debug_barrier()
        tl.atomic_add(sem_ptr + t, 1)
    elif V == 9:
        tl.debug_barrier()
        tl.store(c_ptr + t * B + o, tl.load(sem_ptr + t) + tl.zeros((B,), tl.float32))


def back_args(V, first=0):
    return dict(a_ptr=T("f32", 12, 16), ws_ptr=T("f32", 12, 16), c_ptr=T("f32", 3, 16), sem_ptr=T("i32", 4, values=[first] * 4), SK=4, V=V, B=16)


both("give_back", give_back, (3, 4), back_args, safe=(0, 6), races=(1, 2, 3, 4, 5, 7, 8, 9), bad=NEVER)
both("give_back_started", give_back, (3, 4), lambda V: back_args(V, 1), safe=(), races=(0,), bad=NEVER)
both("give_back_before", give_back, (3, 4), lambda V: back_args(V, -1), safe=(0,), races=(), ok="ok|unsupported")


# Many elements: no query finds the one place that two buckets share, an execution does.
MANY = [(i * i * 7 + i // 3) % 8 for i in range(500)]
MANY_STARTS = [sum(1 for x in MANY if x < k) for k in range(8)]


@triton.jit
def bucket_many(key_ptr, start_ptr, out_ptr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    k = tl.load(key_ptr + i, mask=m, other=0)
    tl.store(out_ptr + tl.atomic_add(start_ptr + k, 1, mask=m), i, mask=m)


def many_args(starts):
    return dict(key_ptr=T("i32", 500, values=MANY), start_ptr=T("i32", 8, values=starts), out_ptr=T("i32", 510), n=500, B=128)


case("bucket_many", bucket_many, "ok", (4,), many_args(MANY_STARTS))
case("bucket_many_shared", bucket_many, "races", (4,), many_args(MANY_STARTS[:3] + [MANY_STARTS[3] - 1] + MANY_STARTS[4:]))
case("bucket_many_unknown", bucket_many, "unsupported potential-race never=ok", (4,), dict(many_args(MANY_STARTS), key_ptr=T("i32", 500)))


# 64-bit counters that come back to a value: sixteen programs at two cells that start anywhere add 2^62 (0), or 2^63 (1), in all of them; of 2^59 (2) eight fit.
@triton.jit
def around(cnt_ptr, out_ptr, A: tl.constexpr):
    pid = tl.program_id(0)
    cell = pid % 2
    s = tl.atomic_add(cnt_ptr + cell, A)
    tl.store(out_ptr + cell * 8 + s, pid, mask=(s >= 0) & (s < 8))


for v, amount in enumerate((1 << 62, -(1 << 63), 1 << 59)):
    case(f"around_{v}", around, NEVER if v < 2 else "ok", (16,), dict(cnt_ptr=T("i64", 2), out_ptr=T("i32", 16), A=amount))


# Lanes behind the end of the tile that drew, or that a table was read by (4, 5): nothing is known of what they gather, but they store.
@triton.jit
def past_the_end(cnt_ptr, out_ptr, V: tl.constexpr):
    w = tl.arange(0, 16)
    if V < 4:
        s = tl.atomic_add(cnt_ptr + tl.arange(0, 8), 1)
        g = w * 64 + tl.gather(s, w if V < 2 else w % 8, 0)
    else:
        g = tl.program_id(0) * 8 + tl.gather(tl.load(cnt_ptr + tl.arange(0, 8)), w, 0)
    tl.store(out_ptr + tl.where(w < 8, g, 1000 + w + (16 * tl.program_id(0) if V % 2 == 0 else 0)), w)


past = lambda V: dict(cnt_ptr=T("i32", 8, values=zeros(8) if V < 4 else list(range(8))), out_ptr=T("i32", 1100), V=V)
both("past_the_end", past_the_end, (4,), past, safe=(2,), races=(1, 3, 5), bad=NEVER)
both("past_the_end", past_the_end, (4,), past, safe=(0, 4), races=(), ok="ok|unsupported")
