"""While loops, waits that nobody comes through, dependencies through masks in memory: kernels with twins. Verdicts are for
--atomic-order=strict."""
from cases import T, case, load_triton

triton, tl = load_triton()


def zeros(n):
    return T("i32", n, values=[0] * n)


# ---- p127: who is stuck, and who is not -------------------------------------------------------------------------
@triton.jit
def opened(lock, gate, x, out, EARLY: tl.constexpr, OPEN: tl.constexpr, FROM: tl.constexpr):
    """A lock that is taken from the start; OPEN: program 0 gives it back before it waits itself."""
    pid = tl.program_id(0)
    if EARLY:
        tl.store(out, pid)  # @E
    if OPEN:
        if pid == 0:
            tl.atomic_xchg(lock, 0, sem="release")
    if pid >= FROM:
        while tl.atomic_cas(lock, 0, 1, sem="acquire") != 0:
            pass
        tl.debug_barrier()
        tl.store(x, tl.load(x) + 1)  # @C
        tl.debug_barrier()
        tl.atomic_xchg(lock, 0, sem="release")


def opened_args(taken=1, **kw):
    return dict(dict(lock=T("i32", 1, values=[taken]), gate=zeros(1), x=T("i32", 1), out=T("i32", 1), EARLY=False, OPEN=False,
                     FROM=0), **kw)


case("p127_taken", opened, "vacuous", (3,), opened_args())
case("p127_free", opened, "ok qual=termination", (3,), opened_args(taken=0))
case("p127_given_back", opened, "ok|unsupported|races never=vacuous", (3,), opened_args(OPEN=True))
case("p127_nobody_waits", opened, "ok never=vacuous", (3,), opened_args(FROM=3))
case("p127_race_before", opened, "races WAW:E:E/programs", (3,), opened_args(EARLY=True))


@triton.jit
def winner_waits(lock, gate, out, GATE: tl.constexpr):
    """Only the one program that takes the lock waits: two that wait are no execution, and that says nothing."""
    pid = tl.program_id(0)
    if tl.atomic_cas(lock, 0, 1) == 0:
        while tl.atomic_add(gate, 0, sem="acquire") != GATE:
            pass
        tl.store(out, pid)


case("p127_winner", winner_waits, "ok never=vacuous", (4,), dict(lock=zeros(1), gate=zeros(1), out=T("i32", 1), GATE=0))
case("p127_nobody_wins", winner_waits, "ok never=vacuous", (4,), dict(lock=T("i32", 1, values=[1]), gate=zeros(1), out=T("i32", 1),
                                                                     GATE=1))


@triton.jit
def ticket_lock(head, serve, acc, B: tl.constexpr):
    lane = tl.arange(0, B)
    mine = tl.atomic_add(head, 1, sem="relaxed")
    while tl.atomic_add(serve, 0, sem="acquire") != mine:
        pass
    tl.debug_barrier()
    x = tl.load(acc + lane)
    tl.store(acc + lane, x + 1)
    tl.debug_barrier()
    tl.atomic_add(serve, 1, sem="release")


def ticket_args(serve):
    return dict(head=zeros(1), serve=T("i32", 1, values=[serve]), acc=T("i32", 64), B=64)


case("p127_ticket_first", ticket_lock, "ok T1 qual=termination", (300,), ticket_args(0))
case("p127_ticket_second", ticket_lock, "vacuous", (300,), ticket_args(1))
case("p127_ticket_late", ticket_lock, "vacuous", (4,), ticket_args(4))
case("p127_ticket_alone", ticket_lock, "ok T1 qual=termination", (1,), ticket_args(0))


@triton.jit
def own_cell(cells, out, OWN: tl.constexpr):
    """Everyone counts in cell 0; program 0 waits for all, the others for what their own cells hold from the start."""
    pid = tl.program_id(0)
    tl.atomic_add(cells, 1, sem="release")
    want = tl.where(pid == 0, tl.num_programs(0), OWN)
    while tl.atomic_add(cells + pid, 0, sem="acquire") != want:
        pass
    tl.store(out + pid, pid)


case("p127_own_cell", own_cell, "ok never=vacuous", (3,), dict(cells=T("i32", 4, values=[0, 9, 9, 9]), out=T("i32", 4), OWN=9))
case("p127_own_cell_never", own_cell, "vacuous|ok", (3,), dict(cells=T("i32", 4, values=[0, 9, 9, 9]), out=T("i32", 4), OWN=8))


# ---- p98: a dependency through a load whose mask is in memory --------------------------------------------------------
@triton.jit
def p98_table(x, y, on, SHIFT: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    v = tl.load(x + lane)  # @L
    w = tl.load(y + (v & (B - 1)), mask=tl.load(on + lane) != 0)
    tl.store(x + (lane + SHIFT) % B, w)  # @S


def p98_args(on=None, **kw):
    return dict(dict(x=T("i32", 64), y=T("i32", 64), on=T("i32", 64, **({} if on is None else {"values": on})), SHIFT=0, B=64), **kw)


case("p98_all_on", p98_table, "ok T1 qual=reads", (1,), p98_args([1] * 64))
case("p98_one_off", p98_table, "races WAR:L:S/threads qual=reads", (1,), p98_args([1] * 63 + [0]))
case("p98_unknown", p98_table, "unsupported potential-race", (1,), p98_args())
case("p98_shifted", p98_table, "races WAR:L:S/threads", (1,), p98_args(SHIFT=1))


# ---- loops that a while writes: conditions beside the counter, limits of a multiple of it, searches --------------------
@triton.jit
def while_tiles(out, n, B: tl.constexpr, STEP: tl.constexpr):
    t = tl.program_id(0)
    while t * B < n:
        tl.store(out + t * STEP + tl.arange(0, B), t)  # @S
        t += tl.num_programs(0)


def tiles_args(**kw):
    return dict(dict(out=T("i32", 1024), n=1000, B=64, STEP=64), **kw)


case("while_multiple", while_tiles, "ok T0", (4,), tiles_args())
case("while_multiple_race", while_tiles, "races WAW:S:S/programs", (4,), tiles_args(STEP=32))
case("while_multiple_wraps", while_tiles, "never=ok unsupported|races", (2,), tiles_args(n=2147483647))


@triton.jit
def while_down(out, n, B: tl.constexpr, ROW: tl.constexpr):
    pid = tl.program_id(0)
    t = n - 1
    while 3 * t >= 7:
        tl.store(out + (pid * ROW + t) * B + tl.arange(0, B), t)  # @S
        t -= 2


case("while_down", while_down, "ok", (4,), dict(out=T("i32", 4 * 9 * 64), n=9, B=64, ROW=9))
case("while_down_row", while_down, "ok", (4,), dict(out=T("i32", 4 * 9 * 64), n=9, B=64, ROW=7))
case("while_down_race", while_down, "races WAW:S:S/programs", (4,), dict(out=T("i32", 4 * 9 * 64), n=9, B=64, ROW=4))


@triton.jit
def while_flag(out, n, STOP: tl.constexpr, ROW: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    k = 0
    go = True
    while (k < n) & go:
        tl.store(out + (pid * ROW + k) * B + tl.arange(0, B), k)  # @S
        k += 1
        go = k < STOP


def flag_args(**kw):
    return dict(dict(out=T("i32", 4 * 5 * 64), n=5, STOP=3, ROW=3, B=64), **kw)


case("while_flag", while_flag, "ok", (4,), flag_args())
case("while_flag_race", while_flag, "unsupported|races never=ok", (4,), flag_args(ROW=2))


@triton.jit
def while_search(keys, out, n, AT: tl.constexpr, SPIN: tl.constexpr):
    pid = tl.program_id(0)
    lo = 0
    hi = n
    while lo < hi:
        mid = (lo + hi) // 2
        if tl.load(keys + mid) < pid:
            lo = mid + 1
        else:
            hi = mid
    if AT:
        tl.store(out + lo, pid)
    else:
        tl.store(out + pid, lo)
    if SPIN:
        tl.store(keys + pid, lo)  # @K


def search_args(**kw):
    return dict(dict(keys=T("i32", 16), out=T("i32", 17), n=16, AT=False, SPIN=False), **kw)


case("while_search", while_search, "ok T0", (4,), search_args())
case("while_search_found", while_search, "unsupported loop-variant-advance", (4,), search_args(AT=True))
case("while_search_written", while_search, "unsupported spin-shape loop-variant-advance", (4,), search_args(SPIN=True))


@triton.jit
def while_groups(out, cu, B: tl.constexpr, OFF: tl.constexpr):
    """Tiles of three groups of rows, dealt to the programs in turn."""
    pid = tl.program_id(0)
    done = 0
    for g in range(3):
        first = tl.load(cu + g)
        end = tl.load(cu + g + 1)
        tiles = tl.cdiv(end - first, B)
        t = pid
        while (t >= done) & (t < done + tiles):
            i = first + (t - done) * B + tl.arange(0, B)
            tl.store(out + i - OFF, g, mask=i < end)  # @S
            t += tl.num_programs(0)
        done += tiles


case("while_groups", while_groups, "ok T1 qual=reads", (16,), dict(out=T("i32", 300), cu=T("i32", 4, values=[0, 100, 150, 300]), B=32, OFF=0))
case("while_groups_overlap", while_groups, "never=ok unsupported|races", (16,),
     dict(out=T("i32", 300), cu=T("i32", 4, values=[0, 100, 90, 300]), B=32, OFF=0))


# What a loop, a branch or a function hands on in ways that are not followed: such a value makes no order, and no certain race.
@triton.jit
def hand_lag(x, T, AT, B: tl.constexpr):
    """The sum lags one iteration behind the loads."""
    i = tl.arange(0, B)
    v = tl.zeros([B], tl.float32)
    w = tl.zeros([B], tl.float32)
    for t in range(T):
        v += w
        w = tl.load(x + t * B + i)
    tl.store(x + AT * B + i, v)


case("hand_lag", hand_lag, "never=races unsupported|ok", (1,), dict(x=T("f32", 256), T=3, AT=0, B=64))
case("hand_lag_late", hand_lag, "never=ok races|unsupported", (1,), dict(x=T("f32", 256), T=3, AT=2, B=64))


@triton.jit
def hand_outer(x, y, T, B: tl.constexpr, FLIP: tl.constexpr):
    """The value comes from in front of the loop; only the last iteration's assignment counts."""
    i = tl.arange(0, B)
    v = tl.load(x + i)
    w = tl.zeros([B], tl.float32)
    for t in range(T):
        tl.store(y + t * B + i, v)
        w = v
    tl.store(x + (B - 1 - i if FLIP else i), w)


case("hand_outer", hand_outer, "never=races unsupported|ok", (1,), dict(x=T("f32", 64), y=T("f32", 256), T=3, B=64, FLIP=False))
case("hand_outer_none", hand_outer, "never=ok races|unsupported", (1,), dict(x=T("f32", 64), y=T("f32", 256), T=0, B=64, FLIP=False))
case("hand_outer_flip", hand_outer, "races", (1,), dict(x=T("f32", 64), y=T("f32", 256), T=3, B=64, FLIP=True))


@triton.jit
def hand_branch(x, y, T, n, AT, B: tl.constexpr):
    """A loop in a branch gives the value of its last iteration."""
    i = tl.arange(0, B)
    v = tl.zeros([B], tl.float32)
    if n > 1:
        for t in range(T):
            v = tl.load(x + t * B + i)
        tl.store(y + i, v)
    tl.store(x + AT * B + i, v)


case("hand_branch", hand_branch, "never=races unsupported|ok", (1,), dict(x=T("f32", 256), y=T("f32", 64), T=3, n=2, AT=2, B=64))
case("hand_branch_early", hand_branch, "never=ok races|unsupported", (1,), dict(x=T("f32", 256), y=T("f32", 64), T=3, n=2, AT=1, B=64))


@triton.jit
def hand_search(x, keys, n, B: tl.constexpr):
    """A value goes through a loop that does not count."""
    i = tl.arange(0, B)
    v = tl.load(x + i)
    lo = 0
    hi = n
    while lo < hi:
        mid = (lo + hi) // 2
        v = v * 2
        if tl.load(keys + mid) < n:
            lo = mid + 1
        else:
            hi = mid
    tl.store(x + i, v)


case("hand_search", hand_search, "never=races unsupported|ok", (1,), dict(x=T("f32", 64), keys=T("i32", 16), n=16, B=64))


@triton.jit
def hand_turn(x, y, T, B: tl.constexpr, AT: tl.constexpr):
    """Two values change places; a load of the same iteration is another matter."""
    i = tl.arange(0, B)
    v = tl.load(x + i)
    w = tl.load(y + i)
    for t in range(T):
        w, v = v, w
        tl.store(y + (t + 1) * B + i, v)
    if AT:
        tl.store(y + i, v)
    else:
        tl.store(x + i, v)


case("hand_turn", hand_turn, "never=races unsupported|ok", (1,), dict(x=T("f32", 64), y=T("f32", 320), T=3, B=64, AT=True))
case("hand_turn_back", hand_turn, "never=races unsupported|ok", (1,), dict(x=T("f32", 64), y=T("f32", 320), T=4, B=64, AT=False))
