"""Patterns of public bug reports that show at the level of TTIR, re-made from their description: bNNN is the number of the
report. Each has a twin of the other verdict. reports.toml says which kernel stands for which report."""
from cases import T, case, load_triton

triton, tl = load_triton()


def zeros(n):
    return T("i32", n, values=[0] * n)


# ---- B001: the grid's size, stored by every program --------------------------------------------------------------------
@triton.jit
def b001(out, FIRST: tl.constexpr):
    if (not FIRST) or (tl.program_id(0) == 0):
        tl.store(out, tl.num_programs(0))  # @A
        tl.store(out + 1, tl.num_programs(1))  # @B
        tl.store(out + 2, tl.num_programs(2))  # @C


case("b001_race", b001, "races WAW:A:A/programs WAW:B:B/programs WAW:C:C/programs why=same_value", (4,), dict(out=T("i32", 3), FIRST=False))
case("b001_safe", b001, "ok", (4,), dict(out=T("i32", 3), FIRST=True))


# ---- B002: nested loops, and no program id ----------------------------------------------------------------------------
@triton.jit
def b002(src, out, s, OWN: tl.constexpr, B: tl.constexpr):
    base = tl.program_id(0) * 4 * s if OWN else 0
    for i in range(2):
        for j in range(2):
            at = base + i * s + j * B + tl.arange(0, B)
            tl.store(out + at, tl.load(src + at))  # @S


def b002_args(own):
    return dict(src=T("i32", 1024), out=T("i32", 1024), s=32, OWN=own, B=16)


case("b002_race", b002, "races WAW:S:S/programs why=same_value", (4,), b002_args(False))
case("b002_one_program", b002, "ok", (1,), b002_args(False))
case("b002_safe", b002, "ok T0", (4,), b002_args(True))


# ---- B004, B005: start offsets of a batch ------------------------------------------------------------------------------
@triton.jit
def b004(start, length, o, so, BM: tl.constexpr, D: tl.constexpr):
    m = tl.program_id(0)
    head = tl.program_id(1)
    batch = tl.program_id(2)
    b0 = tl.load(start + batch)
    n = tl.load(length + batch)
    row = m * BM + tl.arange(0, BM)
    col = tl.arange(0, D)
    tl.store(o + (b0 + row)[:, None] * so + head * D + col[None, :], 1.0, mask=row[:, None] < n)  # @S


def b004_args(starts):
    return dict(start=T("i32", 3, values=starts), length=T("i32", 3, values=[7, 3, 8]), o=T("f32", 18, 32), so=32, BM=4, D=16)


case("b004_race", b004, "races WAW:S:S/programs qual=contents", (2, 2, 3), b004_args([0, 0, 0]))
case("b004_safe", b004, "ok qual=contents", (2, 2, 3), b004_args([0, 7, 10]))


@triton.jit
def b005(start, length, req, tok, kv, o, width, BM: tl.constexpr, D: tl.constexpr):
    m = tl.program_id(0)
    batch = tl.program_id(1)
    b0 = tl.load(start + batch)
    n = tl.load(length + batch)
    r = tl.load(req + batch)
    row = m * BM + tl.arange(0, BM)
    col = tl.arange(0, D)
    page = tl.load(tok + r * width + row, mask=row < n, other=0)
    v = tl.load(kv + page[:, None] * D + col[None, :], mask=row[:, None] < n, other=0.0)
    tl.store(o + (b0 + row)[:, None] * D + col[None, :], v, mask=row[:, None] < n)  # @S


def b005_args(starts):
    return dict(start=T("i32", 3, values=starts), length=T("i32", 3, values=[7, 3, 8]), req=T("i32", 3), tok=T("i32", 4, 8), kv=T("f32", 64, 16),
                o=T("f32", 18, 16), width=8, BM=4, D=16)


case("b005_race", b005, "races WAW:S:S/programs qual=contents", (2, 3), b005_args([0, 0, 0]))
case("b005_safe", b005, "ok qual=contents", (2, 3), b005_args([0, 7, 10]))


# ---- B007: a normaliser whose address leaves out one axis ---------------------------------------------------------------
@triton.jit
def b007(q, o, z, t, bh, ONCE: tl.constexpr, BT: tl.constexpr, DV: tl.constexpr):
    i_v = tl.program_id(0)
    i_k = tl.program_id(1)
    i_bh = tl.program_id(2)
    row = tl.arange(0, BT)
    col = i_v * DV + tl.arange(0, DV)
    v = tl.load(q + (i_bh * BT + row)[:, None] * 64 + col[None, :])
    tl.store(o + ((i_bh + i_k * bh) * BT + row)[:, None] * 64 + col[None, :], v)
    norm = tl.load(q + (i_bh * BT + row) * 64)
    if (not ONCE) or (i_v == 0):
        tl.store(z + (i_bh + i_k * bh) * t + row, norm)  # @Z


def b007_args(once):
    return dict(q=T("f32", 3, 16, 64), o=T("f32", 6, 16, 64), z=T("f32", 6, 16), t=16, bh=3, ONCE=once, BT=16, DV=16)


case("b007_race", b007, "races WAW:Z:Z/programs why=same_value", (4, 2, 3), b007_args(False))
case("b007_one_slice", b007, "ok", (1, 2, 3), b007_args(False))
case("b007_safe", b007, "ok", (4, 2, 3), b007_args(True))


# ---- B008: every program stores the whole histogram ----------------------------------------------------------------------
@triton.jit
def b008(topk, hist, out, OWN: tl.constexpr, E: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    mine = hist + (pid * E if OWN else 0)
    e = tl.arange(0, E)
    count = tl.histogram(tl.load(topk + tl.arange(0, B)), E)
    tl.store(mine + e, count)  # @H
    tl.debug_barrier()
    tl.store(out + pid, tl.load(mine + pid))  # @L


def b008_args(own):
    return dict(topk=T("i32", 16), hist=T("i32", 8, 8), out=T("i32", 8), OWN=own, E=8, B=16)


case("b008_race", b008, "races why=same_value WAW:H:H/programs RAW:H:L/programs", (8,), b008_args(False))
case("b008_one_program", b008, "ok", (1,), b008_args(False))
case("b008_safe", b008, "ok", (8,), b008_args(True))


# ---- B010: a lock around a partial row -----------------------------------------------------------------------------------
@triton.jit
def b010(lock, partial, dw, BAR: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    g = tl.load(dw + tl.program_id(0) * B + lane)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.debug_barrier()
    x = tl.load(partial + lane)  # @L
    tl.store(partial + lane, x + g)  # @S
    if BAR:
        tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


def b010_args(bar):
    return dict(lock=zeros(1), partial=T("f32", 64), dw=T("f32", 256), BAR=bar, B=64)


case("b010_race", b010, "races WAR:L:S/programs WAW:S:S/programs why=barrier", (4,), b010_args(False))
case("b010_safe", b010, "ok T1 qual=termination", (4,), b010_args(True))


# ---- B011: a row that several programs change for a while -------------------------------------------------------------------
@triton.jit
def b011(p, draft, out, OWN: tl.constexpr, V: tl.constexpr):
    req = tl.program_id(0)
    pos = tl.program_id(1)
    row = p + ((req * 4 + pos) * V if OWN else req * V)
    d = tl.load(draft + req * 4 + pos)
    keep = tl.load(row + d)  # @K
    tl.debug_barrier()
    tl.store(row + d, 0.0)  # @Z
    tl.debug_barrier()
    x = tl.load(row + tl.arange(0, V))  # @X
    tl.store(out + (req * 4 + pos) * V + tl.arange(0, V), x)
    tl.debug_barrier()
    tl.store(row + d, keep)  # @R


def b011_args(own):
    return dict(p=T("f32", 8, 16), draft=T("i32", 8, values=[3, 5, 3, 1, 0, 0, 2, 2]), out=T("f32", 8, 16), OWN=own, V=16)


case("b011_race", b011, "races *:K:Z/programs *:K:R/programs *:Z:Z/programs *:Z:X/programs *:Z:R/programs *:X:R/programs *:R:R/programs", (2, 4),
     b011_args(False))
case("b011_safe", b011, "ok qual=contents", (2, 4), b011_args(True))


# ---- B013: a counter that is read and advanced in place ----------------------------------------------------------------------
@triton.jit
def b013(cnt, cnt_out, state, out, INPLACE: tl.constexpr, B: tl.constexpr):
    r = tl.program_id(0)
    part = tl.program_id(1)
    lane = tl.arange(0, B)
    c = tl.load(cnt + r)  # @C
    at = (r * 2 + part) * B + lane
    tl.store(out + at, tl.load(state + at) + c)
    tl.debug_barrier()
    if (not INPLACE) and (part > 0):
        return
    tl.store((cnt if INPLACE else cnt_out) + r, 1)  # @A


def b013_args(inplace):
    return dict(cnt=T("i32", 3), cnt_out=T("i32", 3), state=T("i32", 96), out=T("i32", 96), INPLACE=inplace, B=16)


case("b013_race", b013, "races WAR:C:A/programs WAW:A:A/programs", (3, 2), b013_args(True))
case("b013_safe", b013, "ok", (3, 2), b013_args(False))


# ---- B014: a mask that is computed and not used --------------------------------------------------------------------------------
@triton.jit
def b014(c, m, n, MASK: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    at = c + rm[:, None] * n + rn[None, :]
    if MASK:
        tl.store(at, 1.0, mask=(rm[:, None] < m) & (rn[None, :] < n))  # @M
    else:
        tl.store(at, 1.0)  # @S


def b014_args(mask, n):
    return dict(c=T("f32", 16, n), m=16, n=n, MASK=mask, BM=8, BN=16)


case("b014_race", b014, "races WAW:S:S/programs oob", (2, 2), b014_args(False, 20))
case("b014_even", b014, "ok", (2, 2), b014_args(False, 32))
case("b014_safe", b014, "ok T0", (2, 2), b014_args(True, 20))


# ---- B016: one scalar update a program (one access, whatever the threads of a lower level do) ---------------------------------------
@triton.jit
def b016(rm, m, SHARED: tl.constexpr):
    c = tl.program_id(0) // 2 if SHARED else tl.program_id(0)
    old = tl.load(rm + c)  # @L
    tl.store(rm + c, old * 0.9 + tl.load(m + c))  # @S


case("b016_safe", b016, "ok", (4,), dict(rm=T("f32", 4), m=T("f32", 4), SHARED=False))
case("b016_race", b016, "races WAR:L:S/programs WAW:S:S/programs", (4,), dict(rm=T("f32", 4), m=T("f32", 4), SHARED=True))


# ---- B017: three shifted updates of one gradient row ------------------------------------------------------------------------------
@triton.jit
def b017(g, dx, w, d, n, ATOMIC: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    gi = tl.load(g + i, mask=i < n, other=0.0)
    for k in tl.static_range(3):
        to = i + (k - 1) * d
        live = (to >= 0) & (to < n) & (i < n)
        v = gi * tl.load(w + k)
        if ATOMIC:
            tl.atomic_add(dx + to, v, mask=live)
        else:
            tl.store(dx + to, tl.load(dx + to, mask=live, other=0.0) + v, mask=live)  # @D


def b017_args(atomic):
    return dict(g=T("f32", 61), dx=T("f32", 61), w=T("f32", 3), d=2, n=61, ATOMIC=atomic, B=16)


case("b017_race", b017, "races *:D:D/programs *:D:D/threads", (4,), b017_args(False))
case("b017_safe", b017, "ok", (4,), b017_args(True))


# ---- B019: counters cleared by everyone, then added to ------------------------------------------------------------------------------
@triton.jit
def b019(topk, cnt, CLEAR: tl.constexpr, E: tl.constexpr):
    if CLEAR:
        tl.store(cnt + tl.arange(0, E), 0)  # @Z
        tl.debug_barrier()
    tl.atomic_add(cnt + tl.load(topk + tl.program_id(0)), 1)  # @A


def b019_args(clear):
    return dict(topk=T("i32", 4, values=[1, 5, 1, 7]), cnt=T("i32", 8), CLEAR=clear, E=8)


case("b019_race", b019, "races WAW:Z:Z/programs *:Z:A/programs", (4,), b019_args(True))
case("b019_safe", b019, "ok", (4,), b019_args(False))


# ---- B020: a prefix sum stored by all, one element read back --------------------------------------------------------------------------
@triton.jit
def b020(cnt, st, m, OWN: tl.constexpr, BAR: tl.constexpr, E: tl.constexpr):
    pid = tl.program_id(0)
    e = tl.arange(0, E)
    c = tl.load(cnt + e)
    mine = st + (pid * E if OWN else 0)
    tl.store(mine + e, tl.cumsum(c, axis=0) - c)  # @S
    if BAR:
        tl.debug_barrier()
    tl.store(m + pid, tl.load(mine + pid))  # @L


def b020_args(own, bar):
    return dict(cnt=T("i32", 8), st=T("i32", 64), m=T("i32", 8), OWN=own, BAR=bar, E=8)


case("b020_race", b020, "races why=same_value WAW:S:S/programs RAW:S:L/programs RAW:S:L/threads", (8,), b020_args(False, False))
case("b020_barrier", b020, "races WAW:S:S/programs RAW:S:L/programs", (8,), b020_args(False, True))
case("b020_own", b020, "races RAW:S:L/threads", (8,), b020_args(True, False))
case("b020_safe", b020, "ok", (8,), b020_args(True, True))


# ---- B022: a load whose copies feed a reduction, then an update in place ---------------------------------------------------------------
@triton.jit
def b022(p, out, BAR: tl.constexpr, X: tl.constexpr, R: tl.constexpr):
    x = tl.arange(0, X)[:, None]
    r = tl.arange(0, R)[None, :]
    t = tl.load(p + x + r * 0)  # @L
    s = tl.sum(t + r, axis=1)
    if BAR:
        tl.debug_barrier()
    tl.store(p + tl.arange(0, X), s)  # @S
    tl.store(out + tl.arange(0, X), s)


case("b022_race", b022, "races WAR:L:S/threads", (1,), dict(p=T("i32", 16), out=T("i32", 16), BAR=False, X=16, R=16))
case("b022_safe", b022, "ok", (1,), dict(p=T("i32", 16), out=T("i32", 16), BAR=True, X=16, R=16))


# ---- B023: a row of probabilities, one element read back ---------------------------------------------------------------------------------
@triton.jit
def b023(logit, prob, target, loss, BAR: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    tl.store(prob + pid * B + lane, tl.exp(tl.load(logit + pid * B + lane)))  # @S
    if BAR:
        tl.debug_barrier()
    tl.store(loss + pid, tl.load(prob + pid * B + tl.load(target + pid)))  # @L


def b023_args(bar):
    return dict(logit=T("f32", 4, 16), prob=T("f32", 4, 16), target=T("i32", 4, values=[3, 0, 15, 7]), loss=T("f32", 4), BAR=bar, B=16)


case("b023_race", b023, "races RAW:S:L/threads", (4,), b023_args(False))
case("b023_safe", b023, "ok", (4,), b023_args(True))


# ---- B028: rows taken from a counter (the lowering's fault is below this level) ----------------------------------------------------------
@triton.jit
def b028(head, out, W: tl.constexpr):
    w = tl.atomic_add(head + tl.arange(0, 1), 1)
    col = tl.arange(0, 8)
    tl.store(out + w[:, None] * W + col[None, :], 2)  # @S


case("b028_safe", b028, "ok", (4,), dict(head=zeros(1), out=T("i32", 64), W=8))
case("b028_race", b028, "races WAW:S:S/programs", (4,), dict(head=zeros(1), out=T("i32", 64), W=7))


# ---- B029: a lock cleared by a plain store ------------------------------------------------------------------------------------------------
@triton.jit
def b029(lock, part, out, CLEAR: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    if CLEAR:
        tl.store(lock + pid, 0)  # @Z
        tl.debug_barrier()
    if pid >= 2:
        tl.store(part + (pid - 2) * B + lane, lane)  # @P
        tl.debug_barrier()
        tl.atomic_xchg(lock + pid, 1, sem="release")  # @X
    else:
        while tl.atomic_cas(lock + pid + 2, 1, 1, sem="acquire") != 1:  # @W
            pass
        tl.debug_barrier()
        tl.store(out + pid * B + lane, tl.load(part + pid * B + lane))  # @R


def b029_args(clear, init=0):
    return dict(lock=T("i32", 4, values=[init] * 4), part=T("i32", 128), out=T("i32", 128), CLEAR=clear, B=64)


case("b029_race", b029, "races *:Z:W/programs RAW:P:R/programs", (4,), b029_args(True, 1))
case("b029_stale", b029, "races RAW:P:R/programs", (4,), b029_args(False, 1))
case("b029_safe", b029, "ok T1-launch qual=termination", (4,), b029_args(False))


# ---- B031, B032: partial tiles behind a lock of stream-K -----------------------------------------------------------------------------------
@triton.jit
def b031(lock, part, out, BAR: tl.constexpr, SET: tl.constexpr, POLL: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    r = tl.arange(0, B)[:, None]
    c = tl.arange(0, B)[None, :]
    if pid > 0:
        tl.store(part + pid * B * B + r * B + c, 1.0)  # @P
        if BAR:
            tl.debug_barrier()
        tl.atomic_xchg(lock + pid, 1, sem=SET)
    else:
        while tl.atomic_cas(lock + 1, 1, 1, sem=POLL) != 1:
            pass
        tl.debug_barrier()
        tl.store(out + r * B + c, tl.load(part + B * B + r * B + c))  # @R


def b031_args(bar=True, set_="release", poll="acquire"):
    return dict(lock=zeros(4), part=T("f32", 4, 16, 16), out=T("f32", 16, 16), BAR=bar, SET=set_, POLL=poll, B=16)


case("b031_race", b031, "races RAW:P:R/programs why=barrier", (2,), b031_args(False))
case("b031_safe", b031, "ok T1-launch qual=termination", (2,), b031_args())
case("b032_relaxed_set", b031, "races RAW:P:R/programs", (2,), b031_args(set_="relaxed"))
case("b032_relaxed_poll", b031, "races RAW:P:R/programs", (2,), b031_args(poll="relaxed"))
case("b032_safe", b031, "ok T1-launch qual=termination", (2,), b031_args(set_="acq_rel", poll="acq_rel"))


# ---- B034, B035: a barrier of the whole grid --------------------------------------------------------------------------------------------------
@triton.jit
def b034(ws, sem, out, SEM: tl.constexpr, BAR: tl.constexpr, N: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(ws + pid, pid + 1)  # @P
    if BAR:
        tl.debug_barrier()
    tl.atomic_add(sem, 1, sem=SEM)
    while tl.atomic_add(sem, 0, sem="acquire") < tl.num_programs(0):
        pass
    tl.debug_barrier()
    x = tl.load(ws + tl.arange(0, N))  # @R
    tl.store(out + pid, tl.sum(x, axis=0))


def b034_args(sem="release", bar=True):
    return dict(ws=T("i32", 4), sem=zeros(1), out=T("i32", 4), SEM=sem, BAR=bar, N=4)


case("b034_safe", b034, "ok T1-launch qual=termination qual=reads", (4,), b034_args())
case("b034_relaxed", b034, "races RAW:P:R/programs", (4,), b034_args("relaxed"))
case("b034_no_barrier", b034, "races RAW:P:R/programs", (4,), b034_args("release", False))


# sense-reversing: the last program flips the sign bit, the others wait until it differs from what they found
@triton.jit
def b034_sense(ws, sem, out, SEM: tl.constexpr, N: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(ws + pid, pid + 1)  # @P
    tl.debug_barrier()
    step = tl.where(pid == 0, -2147483648 + N - 1, -1)
    first = tl.atomic_add(sem, -step, sem=SEM)
    while ((tl.atomic_add(sem, 0, sem="acquire") ^ first) & -2147483648) == 0:
        pass
    tl.debug_barrier()
    tl.store(out + pid, tl.sum(tl.load(ws + tl.arange(0, N)), axis=0))  # @R


case("b034_sense_safe", b034_sense, "ok qual=termination", (4,), dict(ws=T("i32", 4), sem=zeros(1), out=T("i32", 4), SEM="acq_rel", N=4))
case("b034_sense_relaxed", b034_sense, "races RAW:P:R/programs", (4,), dict(ws=T("i32", 4), sem=zeros(1), out=T("i32", 4), SEM="relaxed", N=4))


@triton.jit
def b035(bar, data, out, WANT: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(data + pid, pid)  # @P
    tl.debug_barrier()
    tl.atomic_add(bar, 1)
    while tl.atomic_add(bar, 0) < WANT:
        pass
    tl.debug_barrier()
    tl.store(out + pid, tl.load(data + (pid + 1) % 4))  # @R


case("b035_safe", b035, "ok T1-launch qual=termination", (4,), dict(bar=zeros(1), data=T("i32", 4), out=T("i32", 4), WANT=4))
case("b035_early", b035, "races *:P:R/programs", (4,), dict(bar=zeros(1), data=T("i32", 4), out=T("i32", 4), WANT=3))


# ---- B038, B040, B041, B043: free in one launch, another answer when it is run again -----------------------------------------------------------
@triton.jit
def b038(p, q, s, INPLACE: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store((p if INPLACE else q) + i, tl.load(p + i) * s)


def b038_args(inplace):
    return dict(p=T("i32", 256), q=T("i32", 256), s=3, INPLACE=inplace, B=64)


case("b038_in_place", b038, "ok idempotent=no", (4,), b038_args(True))
case("b038_apart", b038, "ok idempotent=yes", (4,), b038_args(False))


@triton.jit
def b040(acc, v, SET: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    if SET:
        tl.store(acc + i, 3)
    else:
        tl.atomic_add(acc + i, 3)


case("b040_adds", b040, "ok idempotent=no", (4,), dict(acc=T("i32", 256), v=T("i32", 256), SET=False, B=64))
case("b040_sets", b040, "ok idempotent=yes", (4,), dict(acc=T("i32", 256), v=T("i32", 256), SET=True, B=64))


@triton.jit
def b041(p, m, g, n, AHEAD: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    live = i < n
    mom = tl.load(m + i, mask=live, other=0.0)
    grad = tl.load(g + i, mask=live, other=0.0)
    old = tl.load(p + i + AHEAD, mask=live, other=0.0)  # @L
    u = mom * 0.9 + grad * 0.1
    step = tl.where(u > 0, 1.0, tl.where(u < 0, -1.0, 0.0))
    tl.store(p + i, old - 0.01 * step, mask=live)  # @S
    tl.store(m + i, mom * 0.99 + grad * 0.01, mask=live)


def b041_args(ahead):
    return dict(p=T("f32", 264), m=T("f32", 256), g=T("f32", 256), n=250, AHEAD=ahead, B=64)


case("b041_in_place", b041, "ok idempotent=no", (4,), b041_args(0))
case("b041_race", b041, "races WAR:L:S/programs WAR:L:S/threads", (4,), b041_args(1))


@triton.jit
def b043(x, y, o, OFFSET: tl.constexpr, STRIDE: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    pid = tl.program_id(0)
    tl.store(o + pid * STRIDE + OFFSET + i, tl.load(x + pid * N + i) + tl.load(y + pid * N + i))  # @S


def b043_args(offset, stride=128):
    return dict(x=T("f32", 128), y=T("f32", 128), o=T("f32", 256), OFFSET=offset, STRIDE=stride, N=64)


case("b043_low", b043, "ok idempotent=yes", (2,), b043_args(0))
case("b043_high", b043, "ok idempotent=yes", (2,), b043_args(64))
case("b043_race", b043, "races WAW:S:S/programs", (2,), b043_args(0, 32))


# ---- B058: a loop of dots over own tiles (the fault is the compiler's) ----------------------------------------------------------------------------
@triton.jit
def b058(q, k, v, o, t, SPAN: tl.constexpr, BT: tl.constexpr, D: tl.constexpr):
    tile = tl.program_id(0)
    head = tl.program_id(1)
    r = tl.arange(0, BT)[:, None]
    d = tl.arange(0, D)[None, :]
    tq = tl.load(q + (head * t + tile * BT + r) * D + d)
    acc = tl.zeros((BT, D), tl.float32)
    for s in range(0, t, BT):
        tk = tl.load(k + (head * t + s + r) * D + d)
        tv = tl.load(v + (head * t + s + r) * D + d)
        acc += tl.dot(tl.dot(tq, tl.trans(tk)), tv)
    tl.store(o + (head * t + tile * SPAN + r) * D + d, acc)  # @S


def b058_args(span):
    return dict(q=T("f32", 2, 64, 16), k=T("f32", 2, 64, 16), v=T("f32", 2, 64, 16), o=T("f32", 2, 64, 16), t=64, SPAN=span, BT=16, D=16)


case("b058_safe", b058, "ok", (4, 2), b058_args(16), num_warps=8)
case("b058_race", b058, "races WAW:S:S/programs", (4, 2), b058_args(8), num_warps=8)


# ---- B067: an atomic whose old value nobody uses (the lowering's scratch is below this level) ---------------------------------------------------------
@triton.jit
def b067(p, out, STEP: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    old = tl.atomic_add(p + lane, 1)
    tl.store(out + tl.program_id(0) * B + lane * STEP, old)  # @S


case("b067_safe", b067, "ok", (2,), dict(p=T("i32", 64), out=T("i32", 128), STEP=1, B=64))
case("b067_race", b067, "races WAW:S:S/threads", (2,), dict(p=T("i32", 64), out=T("i32", 128), STEP=0, B=64))


# ---- B076: neighbouring halves of one word ---------------------------------------------------------------------------------------------------------------
@triton.jit
def b076(o, W: tl.constexpr, S: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + tl.program_id(0) * S + i, i, mask=i < W)  # @S


case("b076_safe", b076, "ok T0", (5,), dict(o=T("i16", 65), W=13, S=13, B=16))
case("b076_bytes", b076, "ok T0", (5,), dict(o=T("i8", 65), W=13, S=13, B=16))
case("b076_race", b076, "races WAW:S:S/programs", (5,), dict(o=T("i16", 65), W=13, S=12, B=16))


# ---- B079: the index of another loop -----------------------------------------------------------------------------------------------------------------------
@triton.jit
def b079(a, p, n, SHIFT: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    s = tl.zeros([B], dtype=tl.float32)
    for k in range(n):
        s += tl.load(a + k)
    v = tl.load(p + i + SHIFT)  # @L
    tl.store(p + i, v + s)  # @S


case("b079_safe", b079, "ok T0", (4,), dict(a=T("f32", 9), p=T("f32", 264), n=9, SHIFT=0, B=64))
case("b079_race", b079, "races WAR:L:S/programs WAR:L:S/threads", (4,), dict(a=T("f32", 9), p=T("f32", 264), n=9, SHIFT=1, B=64))


# ---- B080: B values to one element -----------------------------------------------------------------------------------------------------------------------------
@triton.jit
def b080(p, ONE: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    tl.store(p + tl.zeros([B], dtype=tl.int32), lane, mask=(lane == 0) | (not ONE))  # @S


case("b080_race", b080, "races WAW:S:S/threads whynot=same_value", (1,), dict(p=T("i32", 1), ONE=False, B=64))
case("b080_safe", b080, "ok", (1,), dict(p=T("i32", 1), ONE=True, B=64))


# ---- B082, p84: `and` of two tile masks is the elementwise one ------------------------------------------------------------------------------------------------------
@triton.jit
def b082(o, src, n, DROP: tl.constexpr, B: tl.constexpr):
    c = tl.arange(0, B)
    r = tl.program_id(0) % 2 == 0
    if DROP:
        keep = c < n
    else:
        keep = (c < n) and r
    tl.store(o + tl.program_id(0) // 2 * B + c, tl.load(src + c), mask=keep)  # @S


def b082_args(drop):
    return dict(o=T("i32", 128), src=T("i32", 64), n=60, DROP=drop, B=64)


case("b082_safe", b082, "ok", (4,), b082_args(False))
case("b082_dropped", b082, "races WAW:S:S/programs", (4,), b082_args(True))


# ---- B083: no program id, four programs --------------------------------------------------------------------------------------------------------------------------------
@triton.jit
def b083(out, x, B: tl.constexpr):
    lane = tl.arange(0, B)
    tl.store(out + lane, tl.load(x + lane))  # @S


case("b083_race", b083, "races WAW:S:S/programs", (4,), dict(out=T("i32", 64), x=T("i32", 64), B=64))
case("b083_safe", b083, "ok", (1,), dict(out=T("i32", 64), x=T("i32", 64), B=64))


# ---- B085: a load, an exchange, a store back ------------------------------------------------------------------------------------------------------------------------------
@triton.jit
def b085(p, q, LIVE: tl.constexpr, B: tl.constexpr):
    lane = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(p + lane)  # @L
    w = tl.atomic_xchg(q + lane, v, mask=tl.arange(0, B) < LIVE)
    tl.store(p + lane, w)  # @S


case("b085_race", b085, "races WAR:L:S/threads", (2,), dict(p=T("i32", 128), q=T("i32", 128), LIVE=63, B=64))
case("b085_safe", b085, "ok T1", (2,), dict(p=T("i32", 128), q=T("i32", 128), LIVE=64, B=64))


# the same with a mask that only this launch's n makes a full one
@triton.jit
def b085_tail(p, q, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(p + i)  # @L
    w = tl.atomic_xchg(q + i, v, mask=i < n)
    u = tl.atomic_xchg(q + i, w, mask=i < n + 1)
    tl.store(p + i, u)  # @S


def b085_args(n):
    return dict(p=T("i32", 128), q=T("i32", 128), n=n, B=64)


case("b085_tail_race", b085_tail, "races WAR:L:S/threads", (2,), b085_args(127), nospec=("n",))
case("b085_tail_safe", b085_tail, "ok T1-launch", (2,), b085_args(128), nospec=("n",))


# ---- B086: a barrier behind an early return -----------------------------------------------------------------------------------------------------------------------------------
@triton.jit
def b086(t, y, n, BAR: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    tl.store(t + pid * B + lane, lane)  # @S
    if pid >= n:
        return
    if BAR:
        tl.debug_barrier()
    tl.store(y + pid * B + lane, tl.load(t + pid * B + (lane ^ 1)))  # @L


def b086_args(bar):
    return dict(t=T("i32", 256), y=T("i32", 256), n=3, BAR=bar, B=64)


case("b086_safe", b086, "ok", (4,), b086_args(True))
case("b086_race", b086, "races RAW:S:L/threads", (4,), b086_args(False))


# ---- B088: a third program takes part in the hand-over -------------------------------------------------------------------------------------------------------------------------
@triton.jit
def b088(f, x, out, PUB: tl.constexpr):
    pid = tl.program_id(0)
    if pid == 0:
        tl.store(x, 7)  # @P
        tl.debug_barrier()
        tl.atomic_cas(f, 0, 1, sem=PUB)
    elif pid == 1:
        o = tl.atomic_cas(f, 2, 2, sem="acquire")
        tl.debug_barrier()
        if o >= 1:
            tl.store(out, tl.load(x))  # @R
    else:
        tl.atomic_cas(f, 1, 2, sem="relaxed")


def b088_args(pub):
    return dict(f=zeros(1), x=T("i32", 1), out=T("i32", 1), PUB=pub)


for grid in (2, 3, 5):
    case(f"b088_grid{grid}", b088, "ok T1 qual=reads", (grid,), b088_args("release"))
case("b088_race", b088, "races RAW:P:R/programs", (3,), b088_args("relaxed"))


# ---- B089: the product that wraps ---------------------------------------------------------------------------------------------------------------------------------------------------
@triton.jit
def b089(out, N: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(out + ((pid * 1073741824) // 1073741824) % N + 2, 1)  # @S


case("b089_safe", b089, "ok qual=i32", (2,), dict(out=T("i32", 8), N=3))
case("b089_wraps", b089, "unsupported|races integer-overflow never=ok", (5,), dict(out=T("i32", 8), N=3))


# ---- B097: a nested loop that the program runs once (not every thread) ----------------------------------------------------------------------------------------------------------------
@triton.jit
def b097(frag, out, n, m, RIGHT: tl.constexpr, SPAN: tl.constexpr):
    pid = tl.program_id(0)
    for i in range(n):
        for j in range(m):
            if RIGHT:
                tl.store(out + (pid * n + i) * m + j, tl.load(frag + (j & 1)))  # @A
            else:
                tl.store(out + (pid * SPAN + i) * m + j // 2, tl.load(frag + (j & 1)))  # @B


def b097_args(right, span=2):
    return dict(frag=T("i32", 2), out=T("i32", 64), n=2, m=6, RIGHT=right, SPAN=span)


case("b097_safe", b097, "ok", (4,), b097_args(True))
case("b097_same_thread", b097, "ok", (4,), b097_args(False))      # one cell twice in the loop: one thread stores a scalar
case("b097_race", b097, "races WAW:B:B/programs", (4,), b097_args(False, 1))
