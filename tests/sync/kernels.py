"""Kernels that synchronise through atomics, each with twins that differ in one token: relaxed instead of release or
acquire, a smaller scope, another cell, a wrong count, a missing barrier. Names trbNNN are the labelled micro kernels,
TNN rows of the test matrix, pNN pitfalls. All verdicts are for --atomic-order=strict."""
from cases import T, case, load_triton

triton, tl = load_triton()


def zeros(n):
    return T("i32", n, values=[0] * n)


# ---- trb012, T36, T37, p63, p119: the last of all programs reads what the others stored ----------
@triton.jit
def last(part, cnt, out, LAST: tl.constexpr, SEM: tl.constexpr, SCOPE: tl.constexpr, PRE: tl.constexpr, POST: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(part + pid, pid)  # @P
    if PRE:
        tl.debug_barrier()
    o = tl.atomic_add(cnt, 1, sem=SEM, scope=SCOPE)  # @A
    if POST:
        tl.debug_barrier()
    if o == (tl.num_programs(0) - 1 if LAST < 0 else LAST):
        tl.store(out, tl.load(part))  # @R


def last_args(n=4, init=0, **kw):
    return dict(dict(part=T("i32", n), cnt=T("i32", 1, values=[init]), out=T("i32", 1), LAST=-1, SEM="acq_rel", SCOPE="gpu",
                     PRE=True, POST=True), **kw)


case("trb012", last, "ok T1 qual=reads", (4,), last_args())
case("trb012_relaxed", last, "races RAW:P:R/programs", (4,), last_args(SEM="relaxed"))
case("trb012_release", last, "races RAW:P:R/programs", (4,), last_args(SEM="release"))
case("trb012_acquire", last, "races RAW:P:R/programs", (4,), last_args(SEM="acquire"))
case("trb012_cta", last, "races *:P:R/programs WAW:A:A/programs", (4,), last_args(SCOPE="cta"))
case("trb012_no_pre", last, "races RAW:P:R/programs", (4,), last_args(PRE=False))
case("trb012_no_post", last, "races RAW:P:R/programs", (4,), last_args(POST=False))
case("trb012_no_barriers", last, "races RAW:P:R/programs RAW:P:R/threads", (4,), last_args(PRE=False, POST=False))
case("trb012_no_barriers_cta", last, "ok T1 qual=reads qual=atomic", (4,), last_args(PRE=False, POST=False),
     options=["--atomic-order=cta"])
case("T37_hard_coded", last, "ok T1-launch fragile qual=reads", (4,), last_args(LAST=3))
case("T37_early", last, "races RAW:P:R/programs", (4,), last_args(LAST=2))
case("T36_unknown_start", last, "unsupported|races never=ok", (4,), last_args(cnt=T("i32", 1)))
case("T36_wrong_start", last, "races RAW:P:R/programs never=ok", (4,), last_args(init=1))
case("p119", last, "races RAW:P:R/programs WAW:P:P/programs", (2, 2), last_args())


# ---- trb014: split sums, the last program reads all of them ---------------------------------------
@triton.jit
def split_k(x, part, cnt, out, SEM: tl.constexpr, B: tl.constexpr, P: tl.constexpr):
    pid = tl.program_id(0)
    s = tl.sum(tl.load(x + pid * B + tl.arange(0, B)), axis=0)
    tl.store(part + pid, s)  # @P
    tl.debug_barrier()
    o = tl.atomic_add(cnt, 1, sem=SEM)
    if o == tl.num_programs(0) - 1:
        tl.debug_barrier()
        j = tl.arange(0, P)
        tl.store(out, tl.sum(tl.load(part + j, mask=j < tl.num_programs(0), other=0), axis=0))  # @R


def split_args(**kw):
    return dict(dict(x=T("i32", 256), part=T("i32", 4), cnt=zeros(1), out=T("i32", 1), SEM="acq_rel", B=64, P=4), **kw)


case("trb014", split_k, "ok T1 qual=reads", (4,), split_args())
case("trb014_relaxed", split_k, "races RAW:P:R/programs", (4,), split_args(SEM="relaxed"))


# ---- a counter for each tile, set back by its last program (stream-K semaphores) -----------------
@triton.jit
def tiles(part, cnt, out, SPLIT: tl.constexpr, LAST: tl.constexpr, RESET: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    tile = pid // SPLIT
    lane = tl.arange(0, B)
    tl.store(part + pid * B + lane, lane)  # @P
    tl.debug_barrier()
    o = tl.atomic_add(cnt + tile, 1, sem="acq_rel")
    tl.debug_barrier()
    if o == LAST:
        acc = tl.zeros((B,), tl.int32)
        for k in range(SPLIT):
            acc += tl.load(part + (tile * SPLIT + k) * B + lane)  # @R
        tl.store(out + tile * B + lane, acc)
        if RESET:
            tl.atomic_xchg(cnt + tile, 0, sem="relaxed")


def tiles_args(**kw):
    return dict(dict(part=T("i32", 512), cnt=zeros(2), out=T("i32", 128), SPLIT=4, LAST=3, RESET=False, B=64), **kw)


case("tile_counters", tiles, "ok T1-launch qual=reads", (8,), tiles_args())
case("tile_counters_reset", tiles, "ok T1-launch qual=reads", (8,), tiles_args(RESET=True))
case("tile_counters_early", tiles, "races RAW:P:R/programs", (8,), tiles_args(LAST=2))
case("tile_counters_early_reset", tiles, "races|unsupported never=ok", (8,), tiles_args(LAST=2, RESET=True))


# ---- trb013, T39, p21: distinct tickets ------------------------------------------------------------
@triton.jit
def ticket(head, buf, D: tl.constexpr, STEP: tl.constexpr, N: tl.constexpr):
    slot = tl.atomic_add(head, STEP, sem="relaxed")
    tl.store(buf + slot // D + tl.arange(0, N), 1)  # @S


def ticket_args(**kw):
    return dict(dict(head=zeros(1), buf=T("i32", 64), D=1, STEP=1, N=1), **kw)


case("trb013", ticket, "ok T1-launch qual=reads", (4,), ticket_args())
case("trb013_narrow", ticket, "races WAW:S:S/programs", (4,), ticket_args(D=2))
case("T39_two", ticket, "ok T1-launch qual=reads", (4,), ticket_args(STEP=2, N=2))
case("T39_overlap", ticket, "races WAW:S:S/programs", (4,), ticket_args(N=2))


# ---- T38, T30, p26, p61: one winner ------------------------------------------------------------------
@triton.jit
def winner(cnt, x, MOST: tl.constexpr):
    o = tl.atomic_add(cnt, 1, sem="relaxed")
    if o <= MOST:
        tl.store(x, o)  # @S


case("T38", winner, "ok T1 qual=reads", (4,), dict(cnt=zeros(1), x=T("i32", 1), MOST=0))
case("T38_two", winner, "races WAW:S:S/programs", (4,), dict(cnt=zeros(1), x=T("i32", 1), MOST=1))


@triton.jit
def try_lock(flag, x, NEW: tl.constexpr):
    if tl.atomic_cas(flag, 0, NEW, sem="relaxed") == 0:
        tl.store(x, tl.program_id(0))  # @S


case("T30", try_lock, "ok T1 qual=reads", (4,), dict(flag=zeros(1), x=T("i32", 1), NEW=1))
case("T30_never_set", try_lock, "races WAW:S:S/programs", (4,), dict(flag=zeros(1), x=T("i32", 1), NEW=0))


@triton.jit
def p26(cnt, out, D: tl.constexpr, B: tl.constexpr):
    o = tl.atomic_add(cnt, 1, sem="relaxed")
    lane = tl.arange(0, B)
    if o == 0:
        tl.store(out + lane // D, lane)  # @S


case("p26", p26, "races WAW:S:S/threads", (4,), dict(cnt=zeros(1), out=T("i32", 64), D=2, B=64))
case("p26_safe", p26, "ok T1", (4,), dict(cnt=zeros(1), out=T("i32", 64), D=1, B=64))


# ---- trb016, T41, T43, T72: a producer fills a tile, the others wait for its flag ------------------
@triton.jit
def flag_wait(flag, data, out, WANT: tl.constexpr, PUB: tl.constexpr, POLL: tl.constexpr, SCOPE: tl.constexpr,
              PRE: tl.constexpr, POST: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    if pid == 0:
        tl.store(data + lane, lane)  # @P
        if PRE:
            tl.debug_barrier()
        tl.atomic_xchg(flag, 1, sem=PUB, scope=SCOPE)
    else:
        while tl.atomic_add(flag, 0, sem=POLL, scope=SCOPE) != WANT:
            pass
        if POST:
            tl.debug_barrier()
        tl.store(out + pid * B + lane, tl.load(data + lane))  # @R


def wait_args(n=2, **kw):
    return dict(dict(flag=zeros(1), data=T("i32", 64), out=T("i32", 64 * n), WANT=1, PUB="release", POLL="acquire", SCOPE="gpu",
                     PRE=True, POST=True, B=64), **kw)


case("trb016", flag_wait, "ok T1 qual=termination qual=reads", (2,), wait_args())
case("trb016_many", flag_wait, "ok T1 qual=termination", (5,), wait_args(5))
case("trb016_relaxed_writer", flag_wait, "races RAW:P:R/programs", (2,), wait_args(PUB="relaxed"))
case("trb016_relaxed_spin", flag_wait, "races RAW:P:R/programs", (2,), wait_args(POLL="relaxed"))
case("trb016_cta", flag_wait, "races|unsupported never=ok", (2,), wait_args(SCOPE="cta"))
case("trb016_no_pre", flag_wait, "races RAW:P:R/programs", (2,), wait_args(PRE=False))
case("trb016_no_post", flag_wait, "races RAW:P:R/programs", (2,), wait_args(POST=False))
case("trb016_no_barriers_cta", flag_wait, "ok T1 qual=termination qual=atomic", (2,), wait_args(PRE=False, POST=False),
     options=["--atomic-order=cta"])
case("T41_initial", flag_wait, "races RAW:P:R/programs", (2,), wait_args(WANT=0))
case("T72", flag_wait, "vacuous", (2,), wait_args(WANT=7))
case("trb016_unknown_start", flag_wait, "unsupported|races never=ok", (2,), wait_args(flag=T("i32", 1)))


# ---- trb017, T40, p107, p124: a spin lock --------------------------------------------------------------
@triton.jit
def lock(locks, x, CELLS: tl.constexpr, WANT: tl.constexpr, ACQ: tl.constexpr, REL: tl.constexpr, PLAIN: tl.constexpr,
         PRE: tl.constexpr, OTHER: tl.constexpr):
    cell = locks + tl.program_id(0) % CELLS
    while tl.atomic_cas(cell, 0, 1, sem=ACQ) != WANT:  # @W
        pass
    tl.debug_barrier()
    tl.store(x, tl.load(x) + 1)  # @C
    if PRE:
        tl.debug_barrier()
    if PLAIN:
        tl.store(cell, 0)  # @U
    else:
        tl.atomic_xchg(cell + OTHER, 0, sem=REL)


def lock_args(**kw):
    return dict(dict(locks=zeros(8), x=T("i32", 1), CELLS=1, WANT=0, ACQ="acquire", REL="release", PLAIN=False, PRE=True,
                     OTHER=0), **kw)


case("trb017", lock, "ok T1 qual=termination qual=reads", (2,), lock_args())
case("trb017_many", lock, "ok T1 qual=termination", (8,), lock_args())
case("trb017_plain_unlock", lock, "races *:C:C/programs *:W:U/programs WAW:U:U/programs", (2,), lock_args(PLAIN=True))
case("trb017_relaxed_cas", lock, "races *:C:C/programs", (2,), lock_args(ACQ="relaxed"))
case("p124_relaxed_release", lock, "races *:C:C/programs", (2,), lock_args(REL="relaxed"))
case("p124_exit", lock, "races *:C:C/programs alt=spin-shape alt=needs-synchronisation never=ok", (2,), lock_args(WANT=2))
case("p124_other_cell", lock, "races|unsupported|vacuous never=ok", (2,), lock_args(OTHER=1))
case("T40_no_barrier", lock, "races *:C:C/programs", (2,), lock_args(PRE=False))
case("p107", lock, "races *:C:C/programs", (8,), lock_args(CELLS=2))
case("p127", lock, "vacuous", (2,), lock_args(locks=T("i32", 8, values=[1] * 8)))


# ---- trb018, T45: every program waits for the one before it -----------------------------------------
@triton.jit
def chain(flag, out, SCOPE: tl.constexpr, PUB: tl.constexpr, PRE: tl.constexpr, POST: tl.constexpr):
    pid = tl.program_id(0)
    acc = 0
    if pid > 0:
        while tl.atomic_add(flag + pid - 1, 0, sem="acquire", scope=SCOPE) != 1:
            pass
        if POST:
            tl.debug_barrier()
        acc = tl.load(out + pid - 1)  # @R
    tl.store(out + pid, acc + pid)  # @P
    if PRE:
        tl.debug_barrier()
    tl.atomic_xchg(flag + pid, 1, sem=PUB, scope=SCOPE)


def chain_args(**kw):
    return dict(dict(flag=zeros(4), out=T("i32", 4), SCOPE="gpu", PUB="release", PRE=True, POST=True), **kw)


case("trb018", chain, "ok T1 qual=termination qual=reads", (4,), chain_args())
case("trb018_cta", chain, "races|unsupported never=ok", (4,), chain_args(SCOPE="cta"))
case("trb018_relaxed", chain, "races *:R:P/programs", (4,), chain_args(PUB="relaxed"))
case("trb018_no_pre", chain, "races *:R:P/programs", (4,), chain_args(PRE=False))
case("trb018_no_post", chain, "races *:R:P/programs", (4,), chain_args(POST=False))


# ---- trb021, trb022, trb023, T31, T32, p32, p94: a hand-over by compare-and-swap ------------------
@triton.jit
def cas_pass(flag, data, out, CMP: tl.constexpr, SEEN: tl.constexpr, PUB: tl.constexpr, ACQ: tl.constexpr, SCOPE: tl.constexpr):
    pid = tl.program_id(0)
    if pid == 0:
        tl.store(data, 42)  # @P
        tl.debug_barrier()
        tl.atomic_cas(flag, 0, 1, sem=PUB, scope=SCOPE)
    else:
        o = tl.atomic_cas(flag, CMP, CMP, sem=ACQ, scope=SCOPE)
        tl.debug_barrier()
        if o == SEEN:
            tl.store(out + pid, tl.load(data))  # @R


def cas_args(**kw):
    return dict(dict(flag=zeros(1), data=T("i32", 1), out=T("i32", 4), CMP=1, SEEN=1, PUB="release", ACQ="acquire", SCOPE="gpu"), **kw)


case("trb021", cas_pass, "ok T1 qual=reads", (2,), cas_args())
case("trb021_acq_rel", cas_pass, "ok T1 qual=reads", (2,), cas_args(PUB="acq_rel", ACQ="acq_rel"))
case("trb021_grid3", cas_pass, "ok T1 qual=reads", (3,), cas_args())
case("trb021_release_only", cas_pass, "races RAW:P:R/programs", (2,), cas_args(ACQ="relaxed"))
case("trb021_acquire_only", cas_pass, "races RAW:P:R/programs", (2,), cas_args(PUB="relaxed"))
case("trb021_cta", cas_pass, "races|unsupported never=ok", (2,), cas_args(SCOPE="cta"))
case("trb021_initial", cas_pass, "races RAW:P:R/programs", (2,), cas_args(SEEN=0))
case("trb022", cas_pass, "ok T1 qual=reads", (2,), cas_args(CMP=7))
case("trb022_relaxed", cas_pass, "races RAW:P:R/programs", (2,), cas_args(CMP=7, ACQ="relaxed"))
case("trb023", cas_pass, "ok T1 qual=reads", (2,), cas_args(flag=zeros(2048)))
case("trb023_relaxed", cas_pass, "races RAW:P:R/programs", (2,), cas_args(flag=zeros(2048), ACQ="relaxed"))


# ---- trb025, p88: one producer, two consumers; the second may not wait ------------------------------
@triton.jit
def roles(sem, data, out, WANT: tl.constexpr, POLL: tl.constexpr, SKIP: tl.constexpr):
    pid = tl.program_id(0)
    if pid == 0:
        tl.store(data, 7)  # @P
        tl.debug_barrier()
        tl.atomic_xchg(sem, 1, sem="release")
    else:
        if pid < SKIP:
            while tl.atomic_add(sem, 0, sem=POLL) != WANT:
                pass
            tl.debug_barrier()
        tl.store(out + pid, tl.load(data))  # @R


def role_args(**kw):
    return dict(dict(sem=zeros(1), data=T("i32", 1), out=T("i32", 3), WANT=1, POLL="acquire", SKIP=3), **kw)


case("trb025", roles, "ok T1-launch qual=termination qual=reads", (3,), role_args())
case("trb025_relaxed", roles, "races RAW:P:R/programs", (3,), role_args(POLL="relaxed"))
case("trb025_initial", roles, "races RAW:P:R/programs", (3,), role_args(WANT=0))
case("trb025_skip", roles, "races RAW:P:R/programs", (3,), role_args(SKIP=2))


# ---- T47, p123: arrivals ------------------------------------------------------------------------------
@triton.jit
def arrive(cnt, data, out, WANT: tl.constexpr, SEM: tl.constexpr, PRE: tl.constexpr, STEP: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(data + pid, pid)  # @P
    if PRE:
        tl.debug_barrier()
    tl.atomic_add(cnt, STEP, sem=SEM)
    while tl.atomic_add(cnt, 0, sem="acquire") < (tl.num_programs(0) if WANT < 0 else WANT):
        pass
    tl.debug_barrier()
    tl.store(out + pid, tl.load(data + (pid + 1) % tl.num_programs(0)))  # @R


def arrive_args(n=4, **kw):
    return dict(dict(cnt=zeros(1), data=T("i32", 4), out=T("i32", 4), WANT=-1, SEM="release", PRE=True, STEP=1), **kw)


case("T47", arrive, "ok T1 qual=termination qual=reads", (4,), arrive_args())
case("T47_one_less", arrive, "races *:P:R/programs", (4,), arrive_args(WANT=3))
case("p123_relaxed", arrive, "races *:P:R/programs", (4,), arrive_args(SEM="relaxed"))
case("p123_no_barrier", arrive, "races *:P:R/programs", (4,), arrive_args(PRE=False))
case("p123_two_axes", arrive, "races|unsupported never=ok", (2, 2), arrive_args())
case("p123_negative", arrive, "vacuous", (4,), arrive_args(STEP=-1))       # the counter only falls: nobody ever sees 4


# ---- T29, p23, p24, p95: what a compare-and-swap or a counter can find ------------------------------
@triton.jit
def failing(flag, out, CMP: tl.constexpr):
    pid = tl.program_id(0)
    if pid == 0:
        tl.atomic_cas(flag, CMP, 2, sem="relaxed")  # @C
    else:
        tl.store(out + pid, tl.load(flag))  # @L


case("T29", failing, "ok T1 qual=reads", (2,), dict(flag=zeros(1), out=T("i32", 2), CMP=1))
case("T29_succeeds", failing, "races *:C:L/programs", (2,), dict(flag=zeros(1), out=T("i32", 2), CMP=0))


@triton.jit
def p24(cnt, out):
    o = tl.atomic_add(cnt, 1, sem="relaxed")
    if o < 0:
        tl.store(out, tl.program_id(0))  # @S


case("p24", p24, "races WAW:S:S/programs alt=potential-race never=ok", (4,), dict(cnt=T("i32", 1, values=[2147483646]), out=T("i32", 1)))
case("p24_safe", p24, "ok T1-launch", (4,), dict(cnt=T("i32", 1, values=[5]), out=T("i32", 1)))


# ---- p126: the reader's own program writes the value -----------------------------------------------
@triton.jit
def p126(f, x, out, OWN: tl.constexpr):
    if tl.program_id(0) == 0:
        tl.store(x, 7)  # @P
        tl.debug_barrier()
        tl.atomic_xchg(f, 1, sem="release")
    else:
        tl.atomic_xchg(f + OWN, 1, sem="relaxed")
        o = tl.atomic_cas(f, 1, 1, sem="acquire")
        tl.debug_barrier()
        if o == 1:
            tl.store(out, tl.load(x))  # @R


case("p126", p126, "races RAW:P:R/programs", (2,), dict(f=zeros(2), x=T("i32", 1), out=T("i32", 1), OWN=0))
case("p126_safe", p126, "ok T1-launch", (2,), dict(f=zeros(2), x=T("i32", 1), out=T("i32", 1), OWN=1))


# ---- p103, T46, T85: polls that answer themselves -----------------------------------------------------
@triton.jit
def self_poll(f, x, y, NEW: tl.constexpr, WANT: tl.constexpr, CMP: tl.constexpr):
    if tl.program_id(0) == 0:
        tl.store(x, 7)  # @P
        tl.debug_barrier()
        tl.atomic_xchg(f, 1, sem="release")
    else:
        while tl.atomic_cas(f, CMP, NEW, sem="acquire") != WANT:
            pass
        tl.debug_barrier()
        tl.store(y, tl.load(x))  # @R


def self_args(**kw):
    return dict(dict(f=zeros(1), x=T("i32", 1), y=T("i32", 1)), **kw)


case("p103", self_poll, "races RAW:P:R/programs", (2,), self_args(CMP=0, NEW=1, WANT=1))
case("p103_identity", self_poll, "ok T1-launch qual=termination", (2,), self_args(CMP=1, NEW=1, WANT=1))
case("p103_success_exits", self_poll, "ok T1-launch qual=termination", (2,), self_args(CMP=1, NEW=0, WANT=1))


# ---- T42, T43: polls that failed against other accesses of the flag ------------------------------
@triton.jit
def reset(f, out, SCOPE: tl.constexpr, PLAIN: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    if pid == 0:
        if PLAIN:
            tl.store(f, 1)  # @U
        else:
            tl.atomic_xchg(f, 1, sem="relaxed", scope=SCOPE)  # @X
    else:
        while tl.atomic_add(f, 0, sem="relaxed") != 1:  # @W
            pass
        tl.store(out + pid * B + tl.arange(0, B), pid)


def reset_args(**kw):
    return dict(dict(f=zeros(1), out=T("i32", 128), SCOPE="gpu", PLAIN=False, B=64), **kw)


case("T43_gpu", reset, "ok T1 qual=termination", (2,), reset_args())
case("T42_cta", reset, "races *:X:W/programs", (2,), reset_args(SCOPE="cta"))
case("T43_plain", reset, "races *:U:W/programs", (2,), reset_args(PLAIN=True))


# ---- p35, T27, T28, p71 --------------------------------------------------------------------------------
@triton.jit
def two_waits(f, g, a, b, out, PUB: tl.constexpr):
    pid = tl.program_id(0)
    if pid == 0:
        tl.store(a, 1)  # @A
        tl.debug_barrier()
        tl.atomic_xchg(f, 1, sem="release")
    elif pid == 1:
        tl.store(b, 2)  # @B
        tl.debug_barrier()
        tl.atomic_xchg(g, 1, sem=PUB)
    else:
        while tl.atomic_add(f, 0, sem="acquire") != 1:
            pass
        while tl.atomic_add(g, 0, sem="acquire") != 1:
            pass
        tl.debug_barrier()
        tl.store(out + pid, tl.load(a) + tl.load(b))  # @R


def two_args(**kw):
    return dict(dict(f=zeros(1), g=zeros(1), a=T("i32", 1), b=T("i32", 1), out=T("i32", 8), PUB="release"), **kw)


case("p35", two_waits, "ok T1 qual=termination by=z3", (4,), two_args())
case("p35_relaxed", two_waits, "races *:B:R/programs", (4,), two_args(PUB="relaxed"))


@triton.jit
def p71(f, x, out, PLAIN: tl.constexpr):
    if tl.program_id(0) == 0:
        tl.store(x, 7)  # @P
        tl.debug_barrier()
        if PLAIN:
            tl.store(f, 1)  # @F
        else:
            tl.atomic_or(f, 1, sem="release")  # @F
    else:
        o = tl.atomic_add(f, 0, sem="acquire")
        tl.debug_barrier()
        if o == 1:
            tl.store(out, tl.load(x))  # @R


case("p71", p71, "races|unsupported never=ok", (2,), dict(f=zeros(1), x=T("i32", 1), out=T("i32", 1), PLAIN=True))
case("p71_or", p71, "ok T1-launch", (2,), dict(f=zeros(1), x=T("i32", 1), out=T("i32", 1), PLAIN=False))


# ---- turns: a semaphore that counts, a ticket lock (8.5, p125) -------------------------------------------------------
@triton.jit
def turns(sem, acc, D: tl.constexpr, BY: tl.constexpr, ACQ: tl.constexpr, REL: tl.constexpr, PRE: tl.constexpr, GE: tl.constexpr,
          B: tl.constexpr):
    turn = tl.program_id(0) // D
    lane = tl.arange(0, B)
    if GE:
        while tl.atomic_add(sem, 0, sem=ACQ) < turn:
            pass
    else:
        while tl.atomic_add(sem, 0, sem=ACQ) != turn:
            pass
    tl.debug_barrier()
    x = tl.load(acc + lane)  # @C
    tl.store(acc + lane, x + turn)  # @D
    if PRE:
        tl.debug_barrier()
    tl.atomic_xchg(sem, turn + BY, sem=REL)


def turn_args(init=0, **kw):
    return dict(dict(sem=T("i32", 1, values=[init]), acc=T("i32", 64), D=1, BY=1, ACQ="acquire", REL="release", PRE=True, GE=False,
                     B=64), **kw)


case("turns", turns, "ok T1 qual=termination qual=reads", (4,), turn_args())
case("turns_relaxed_release", turns, "races WAR:C:D/programs WAW:D:D/programs", (4,), turn_args(REL="relaxed"))
case("turns_relaxed_wait", turns, "races WAR:C:D/programs WAW:D:D/programs", (4,), turn_args(ACQ="relaxed"))
case("turns_no_barrier", turns, "races WAR:C:D/programs WAW:D:D/programs by=z3", (4,), turn_args(PRE=False))
case("turns_shared", turns, "races|unsupported|vacuous never=ok", (4,), turn_args(D=2))
case("turns_by_two", turns, "vacuous", (4,), turn_args(BY=2))
case("turns_nobody_first", turns, "vacuous|unsupported never=ok", (4,), turn_args(init=9))
case("turns_at_least", turns, "races|unsupported never=ok", (4,), turn_args(GE=True, init=1))


@triton.jit
def ticket_lock(head, serve, acc, GE: tl.constexpr, REL: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    mine = tl.atomic_add(head, 1, sem="relaxed")
    if GE:
        while tl.atomic_add(serve, 0, sem="acquire") < mine:
            pass
    else:
        while tl.atomic_add(serve, 0, sem="acquire") != mine:
            pass
    tl.debug_barrier()
    x = tl.load(acc + lane)  # @C
    tl.store(acc + lane, x + 1)  # @D
    tl.debug_barrier()
    tl.atomic_add(serve, 1, sem=REL)


def lock2_args(serve=0, **kw):
    return dict(dict(head=zeros(1), serve=T("i32", 1, values=[serve]), acc=T("i32", 64), GE=False, REL="release", B=64), **kw)


case("ticket_lock", ticket_lock, "ok T1 qual=termination", (4,), lock2_args())
case("ticket_lock_relaxed", ticket_lock, "races WAR:C:D/programs WAW:D:D/programs", (4,), lock2_args(REL="relaxed"))
case("p125", ticket_lock, "races WAR:C:D/programs WAW:D:D/programs", (4,), lock2_args(serve=2, GE=True))
case("p127_ticket", ticket_lock, "vacuous", (2,), lock2_args(serve=1))


# ---- a hand-over through a third program (8.5) -------------------------------------------------------------------------
@triton.jit
def relay(f, g, x, out, MID: tl.constexpr, BAR: tl.constexpr):
    pid = tl.program_id(0)
    if pid == 0:
        tl.store(x, 7)  # @P
        tl.debug_barrier()
        tl.atomic_xchg(f, 1, sem="release")
    elif pid == 1:
        while tl.atomic_add(f, 0, sem="acquire") != 1:
            pass
        if BAR:
            tl.debug_barrier()
        tl.atomic_xchg(g, 1, sem=MID)
    else:
        while tl.atomic_add(g, 0, sem="acquire") != 1:
            pass
        tl.debug_barrier()
        tl.store(out + pid, tl.load(x))  # @R


def relay_args(**kw):
    return dict(dict(f=zeros(1), g=zeros(1), x=T("i32", 1), out=T("i32", 8), MID="release", BAR=True), **kw)


case("relay", relay, "ok T1 qual=termination qual=reads by=z3", (3,), relay_args())
case("relay_many", relay, "ok T1 qual=termination by=z3", (6,), relay_args())
case("relay_relaxed", relay, "races RAW:P:R/programs", (3,), relay_args(MID="relaxed"))
case("relay_no_barrier", relay, "races|unsupported never=ok", (3,), relay_args(BAR=False))


# ---- T46, T81: shapes of spins that are refused, and accepted ------------------------------------------------------------
@triton.jit
def both_sides(f):
    o = tl.atomic_add(f, 0)
    return (o & 1) != (o >> 1)


@triton.jit
def spin(f, g, out, SHAPE: tl.constexpr):
    if SHAPE == 0:
        while tl.atomic_add(f, 0) != 1:
            pass
    elif SHAPE == 1:
        while tl.atomic_or(f, 0) != 1:
            pass
    elif SHAPE == 2:
        while tl.load(f, volatile=True) != 1:
            pass
    elif SHAPE == 3:
        while tl.atomic_cas(f, 0, 1) != 0:
            pass
    elif SHAPE == 4:
        while tl.atomic_add(f, 1) != 1:
            pass
    elif SHAPE == 5:
        while tl.atomic_xchg(f, 0) != 1:
            pass
    elif SHAPE == 6:
        while tl.atomic_add(f, 0) + tl.load(g) != 1:
            pass
    elif SHAPE == 7:
        turns = 0
        while tl.atomic_add(f, 0) != 1:
            turns += 1
        tl.store(g + 1, turns)
    elif SHAPE == 8:
        while tl.atomic_add(f, 0) != 1:
            tl.store(g + 2, 1)
    elif SHAPE == 9:
        while both_sides(f):
            pass
    elif SHAPE == 10:
        while (tl.atomic_add(f, 0) & 1) == 0:
            pass
    elif SHAPE == 11:
        while (tl.atomic_cas(f, 0, 1) & 1) == 0:      # a success is not an exit
            pass
    tl.store(out + tl.program_id(0), 1)


for shape in range(12):
    case(f"spin_{shape}", spin, "ok qual=termination" if shape < 4 or shape == 10 else "unsupported|races spin-shape never=ok", (1,),
         dict(f=T("i32", 1, values=[1 if shape < 3 or shape == 10 else 0]), g=T("i32", 4), out=T("i32", 4), SHAPE=shape))


# ---- a scan in the order of tickets: whoever comes k-th waits for the one before it ---------------------------------------
@triton.jit
def ticket_scan(count, agg, flag, out, REL: tl.constexpr, ACQ: tl.constexpr, NEAR: tl.constexpr, ONE: tl.constexpr, BAR: tl.constexpr):
    t = tl.atomic_add(count, ONE, sem="relaxed")
    tl.store(agg + t, t)  # @P
    tl.debug_barrier()
    tl.atomic_xchg(flag + t, 1, sem=REL)
    if t > 0:
        while tl.atomic_add(flag + t - 1, 0, sem=ACQ) != 1:
            pass
        if BAR:
            tl.debug_barrier()
        tl.store(out + t, tl.load(agg + t - NEAR))  # @R


def scan_args(**kw):
    return dict(dict(count=zeros(1), agg=T("i32", 16), flag=zeros(16), out=T("i32", 16), REL="release", ACQ="acquire", NEAR=1, ONE=1, BAR=True), **kw)


case("ticket_scan", ticket_scan, "ok qual=termination qual=reads", (8,), scan_args())
case("ticket_scan_relaxed", ticket_scan, "races|unsupported never=ok", (8,), scan_args(REL="relaxed"))
case("ticket_scan_relaxed_wait", ticket_scan, "races|unsupported never=ok", (8,), scan_args(ACQ="relaxed"))
case("ticket_scan_no_barrier", ticket_scan, "races|unsupported never=ok", (8,), scan_args(BAR=False))
case("ticket_scan_two_back", ticket_scan, "races|unsupported never=ok", (8,), scan_args(NEAR=2, agg=T("i32", 16)))
case("ticket_scan_one_ticket", ticket_scan, "races|unsupported never=ok", (8,), scan_args(ONE=0))


# ---- split-K: the programs of one tile add to it in turn; the first need not wait, the last gives the lock back ---------------
@triton.jit
def split_turns(lock, out, x, WAIT_FROM: tl.constexpr, SPLITS: tl.constexpr, GIVE: tl.constexpr, SEM: tl.constexpr, BAR: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    tile = pid // SPLITS
    k = pid % SPLITS
    at = tile * B + tl.arange(0, B)
    v = tl.load(x + pid * B + tl.arange(0, B))
    if k >= WAIT_FROM:
        while tl.atomic_add(lock + tile, 0, sem="acquire") != k:
            pass
        tl.debug_barrier()
    if k > 0:
        v += tl.load(out + at)  # @R
    tl.debug_barrier()
    tl.store(out + at, v)  # @S
    if BAR:
        tl.debug_barrier()
    if GIVE == 0:
        tl.atomic_xchg(lock + tile, (k + 1) % SPLITS, sem=SEM)
    elif GIVE == 1:
        if k < SPLITS - 1:
            tl.atomic_xchg(lock + tile, k + 1, sem=SEM)
    elif GIVE == 2:
        tl.atomic_add(lock + tile, 1, sem=SEM)
    else:
        tl.atomic_xchg(lock + tile, 2, sem=SEM)            # nobody comes to the second


def split_turns_args(**kw):
    return dict(dict(lock=zeros(2), out=T("i32", 64), x=T("i32", 256), WAIT_FROM=1, SPLITS=4, GIVE=0, SEM="release", BAR=True, B=32), **kw)


for give in range(3):
    case(f"split_k_{give}", split_turns, "ok T1-launch qual=termination qual=reads" + (" by=z3" if give == 1 else ""), (8,), split_turns_args(GIVE=give))
    case(f"split_k_{give}_relaxed", split_turns, "races WAR:R:S/programs WAW:S:S/programs", (8,), split_turns_args(GIVE=give, SEM="relaxed"))
case("split_k_no_barrier", split_turns, "races WAR:R:S/programs WAW:S:S/programs by=z3", (8,), split_turns_args(BAR=False))
case("split_k_skips", split_turns, "races|unsupported never=ok", (8,), split_turns_args(WAIT_FROM=2))
case("split_k_passes", split_turns, "vacuous", (8,), split_turns_args(GIVE=3))


# ---- the order of one cell: all of its writers must be known, whole and atomic -------------------------------------------
@triton.jit
def behind(f, g, out, KIND: tl.constexpr):
    cell = f + (KIND == 1)
    if tl.program_id(0) == 0:
        tl.atomic_add(cell, 0, sem="relaxed")
        tl.debug_barrier()
        if KIND == 0:
            tl.store(f, 1)
        elif KIND == 1:
            tl.atomic_xchg(f.to(tl.pointer_type(tl.int64)), 1 << 32, sem="relaxed")  # more than the cell
        elif KIND == 2:
            tl.atomic_xchg(f + 1, 1, sem="relaxed")
        else:
            for k in range(2):
                tl.atomic_add(f, 1, sem="relaxed")
        tl.debug_barrier()
        tl.atomic_xchg(g, 1, sem="release")
        tl.store(out, 1)  # @P
    else:
        o = tl.atomic_add(g, 0, sem="acquire")
        tl.debug_barrier()
        if o == 1:
            if tl.atomic_add(cell, 0, sem="relaxed") == (2 if KIND == 3 else 1):
                tl.store(out, 2)  # @S


for kind in range(4):
    case(f"behind_{kind}", behind, "ok T1-launch" if kind == 2 else "races|unsupported never=ok" if kind == 1 else "races *:P:S/programs", (2,),
         dict(f=T("i32", 2, values=[0, 0]), g=zeros(1), out=T("i32", 1), KIND=kind))


# What stands before an atomic in text has run before it only where it is on every path
@triton.jit
def before(f, g, out, ALWAYS: tl.constexpr):
    if tl.program_id(0) == 0:
        o = tl.atomic_add(g, 0, sem="relaxed")
        if ALWAYS:
            tl.atomic_xchg(f, 1, sem="relaxed")
        elif o == 1:
            tl.atomic_xchg(f, 1, sem="relaxed")
        if tl.atomic_add(f, 0, sem="relaxed") == 0:
            tl.store(out, 1)  # @P
    else:
        tl.atomic_xchg(g, 1, sem="relaxed")
        tl.atomic_add(f, 0, sem="relaxed")
        tl.store(out, 2)  # @S


case("before_always", before, "ok T1-launch", (2,), dict(f=zeros(1), g=zeros(1), out=T("i32", 1), ALWAYS=True))
case("before_branch", before, "races WAW:P:S/programs", (2,), dict(f=zeros(1), g=zeros(1), out=T("i32", 1), ALWAYS=False))


# A release that fails writes nothing: who comes after it has not read from it
@triton.jit
def failed(f, x, out, CMP: tl.constexpr):
    if tl.program_id(0) == 0:
        tl.store(x, 7)  # @P
        tl.debug_barrier()
        tl.atomic_cas(f, CMP, 1, sem="release")
        tl.atomic_xchg(f, 3, sem="relaxed")
    else:
        o = tl.atomic_add(f, 0, sem="acquire")
        tl.debug_barrier()
        if o == 3:
            tl.store(out, tl.load(x))  # @R


case("failed_release", failed, "races RAW:P:R/programs", (2,), dict(f=zeros(1), x=T("i32", 1), out=T("i32", 1), CMP=7))
case("failed_release_not", failed, "ok T1-launch", (2,), dict(f=zeros(1), x=T("i32", 1), out=T("i32", 1), CMP=0))


# A sum that only shows the publication when every other program adds at most once
@triton.jit
def sums(f, x, out, TWICE: tl.constexpr):
    pid = tl.program_id(0)
    if pid == 0:
        tl.store(x, 7)  # @P
        tl.debug_barrier()
        tl.atomic_add(f, 2, sem="release")
    elif pid == 1:
        for k in range(TWICE):
            tl.atomic_add(f, 1, sem="relaxed")
    else:
        o = tl.atomic_add(f, 0, sem="acquire")
        tl.debug_barrier()
        if o == 2:
            tl.store(out, tl.load(x))  # @R


case("sums_once", sums, "ok T1-launch qual=reads by=z3", (3,), dict(f=zeros(1), x=T("i32", 1), out=T("i32", 1), TWICE=1))
case("sums_twice", sums, "races RAW:P:R/programs", (3,), dict(f=zeros(1), x=T("i32", 1), out=T("i32", 1), TWICE=2))


# ---- attributes: may a launch be repeated on its buffers; racing stores of one value (B001, B038, B040) --------------
@triton.jit
def repeat(x, y, KIND: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    if KIND == 0:
        tl.store(y + i, tl.load(x + i) * 2)
    elif KIND == 1:
        tl.store(x + i, tl.load(x + i) * 2)
    elif KIND == 2:
        tl.atomic_add(y + i, 3)
    elif KIND == 3:
        tl.atomic_max(y + i, tl.load(x + i))
    else:
        tl.store(y + i, 0)
        tl.debug_barrier()
        tl.atomic_add(y + i, 3)


for kind, answer in enumerate(("yes", "no", "no", "yes", "unknown")):
    case(f"repeat_{kind}", repeat, f"ok idempotent={answer}", (4,), dict(x=T("i32", 256), y=T("i32", 256), KIND=kind, B=64))


@triton.jit
def one_value(out, SAME: tl.constexpr):
    tl.store(out, tl.num_programs(0) if SAME else tl.program_id(0))  # @S


case("B001", one_value, "races WAW:S:S/programs why=same_value", (4,), dict(out=T("i32", 1), SAME=True))
case("B001_differs", one_value, "races WAW:S:S/programs whynot=same_value", (4,), dict(out=T("i32", 1), SAME=False))


# ---- partial rows under a lock that also says whether a row was written before (layer norm backward) ----------------------------
@triton.jit
def locked_rows(dy, lock, dw, n, rows, GROUP: tl.constexpr, SEM: tl.constexpr, PLAIN: tl.constexpr, BAR: tl.constexpr, B: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, B)
    keep = lane < n
    part = tl.load(dy + row * n + lane, mask=keep, other=0.0)
    mine = lock + row % GROUP
    seen = mine + GROUP
    at = dw + (row % GROUP) * n + lane
    while tl.atomic_cas(mine, 0, 1, sem=SEM) == 1:
        pass
    tl.debug_barrier()
    count = tl.load(seen)  # @C
    if BAR:
        tl.debug_barrier()
    if count == 0:
        tl.atomic_xchg(seen, 1)  # @X
    else:
        part += tl.load(at, mask=keep)  # @L
    tl.store(at, part, mask=keep)  # @S
    tl.debug_barrier()
    if PLAIN:
        tl.store(mine, 0)
    else:
        tl.atomic_xchg(mine, 0)


def locked_args(rows=300, n=1000, group=32, **kw):
    return dict(dict(dy=T("f32", rows * n), lock=zeros(2 * group), dw=T("f32", group * n), n=n, rows=rows, GROUP=group, SEM="acq_rel", PLAIN=False,
                     BAR=True, B=1024), **kw)


case("locked_rows", locked_rows, "ok T1 qual=termination", (300,), locked_args())
# every thread reads the count, one sets it: nothing waits between, before 3.9 nor in the language
case("locked_rows_no_barrier", locked_rows, "races WAR:C:X/threads", (300,), locked_args(BAR=False))
case("locked_rows_auto_3.8.0", locked_rows, "races WAR:C:X/threads", (300,), locked_args(BAR=False), options=["--atomic-order=auto"], triton="3.8.0")
case("locked_rows_auto_3.9.0", locked_rows, "ok T1 qual=atomic", (300,), locked_args(BAR=False), options=["--atomic-order=auto"], triton="3.9.0")
# 300 programs with tiles of 1000: what only carries payload is left out of the runs that look for a race
case("locked_rows_relaxed", locked_rows, "races WAR:C:X/programs WAR:L:S/programs WAW:S:S/programs", (300,), locked_args(SEM="relaxed"))
case("locked_rows_plain", locked_rows, "races", (300,), locked_args(PLAIN=True))


# ---- --atomic-order=auto: what the launch's Triton release does (docs/decisions/0012) -------------------------------
for release, pre, post in (("3.6.0", True, False), ("3.8.0", True, False), ("3.9.0", False, False)):
    case(f"auto_{release}", last, "ok T1 qual=atomic", (4,), last_args(PRE=pre, POST=post), options=["--atomic-order=auto"], triton=release)
case("auto_3.8.0_no_pre", last, "races RAW:P:R/programs", (4,), last_args(PRE=False), options=["--atomic-order=auto"], triton="3.8.0")
case("auto_unknown", last, "races RAW:P:R/programs", (4,), last_args(POST=False), options=["--atomic-order=auto"])
case("auto_3.9.0_relaxed", last, "races RAW:P:R/programs", (4,), last_args(SEM="relaxed"), options=["--atomic-order=auto"], triton="3.9.0")


# ---- waits inside loops: stream-K fix-up, a scan that looks back at every program ------------------------------------------
@triton.jit
def fix_up(part, lock, out, SPLIT: tl.constexpr, PUB: tl.constexpr, POLL: tl.constexpr, PRE: tl.constexpr, POST: tl.constexpr,
           OTHER: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    acc = lane + pid
    if pid % SPLIT != 0:
        tl.store(part + pid * B + lane, acc)  # @P
        if PRE:
            tl.debug_barrier()
        tl.atomic_xchg(lock + pid, 1, sem=PUB)
    else:
        for j in range(1, SPLIT):
            while tl.atomic_cas(lock + pid + j - OTHER, 1, 1, sem=POLL) != 1:
                pass
            if POST:
                tl.debug_barrier()
            acc += tl.load(part + (pid + j) * B + lane)  # @R
        tl.store(out + pid * B + lane, acc)


def fix_args(**kw):
    return dict(dict(part=T("i32", 512), lock=zeros(8), out=T("i32", 512), SPLIT=4, PUB="release", POLL="acquire", PRE=True, POST=True,
                     OTHER=0, B=64), **kw)


case("fix_up", fix_up, "ok T1 qual=termination qual=reads", (8,), fix_args())
case("fix_up_relaxed_release", fix_up, "races RAW:P:R/programs", (8,), fix_args(PUB="relaxed"))
case("fix_up_relaxed_wait", fix_up, "races RAW:P:R/programs", (8,), fix_args(POLL="relaxed"))
case("fix_up_no_pre", fix_up, "races RAW:P:R/programs", (8,), fix_args(PRE=False))
case("fix_up_no_post", fix_up, "races RAW:P:R/programs", (8,), fix_args(POST=False))
case("fix_up_one_behind", fix_up, "races|unsupported|vacuous never=ok", (8,), fix_args(OTHER=1, lock=T("i32", 8, values=[1, 0, 0, 0] * 2)))
case("fix_up_open", fix_up, "races RAW:P:R/programs", (8,), fix_args(lock=T("i32", 8, values=[0, 1, 0, 0] * 2)))


@triton.jit
def look_back(x, agg, flag, out, EPOCH, REL: tl.constexpr, ACQ: tl.constexpr, FAR: tl.constexpr, BAR: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    v = tl.load(x + pid * B + lane)
    tl.store(agg + pid, tl.sum(v, axis=0))  # @P
    tl.debug_barrier()
    tl.atomic_xchg(flag + pid, EPOCH, sem=REL)
    prev = 0
    for k in range(pid):
        while tl.atomic_add(flag + k, 0, sem=ACQ) < EPOCH:
            pass
        if BAR:
            tl.debug_barrier()
        prev += tl.load(agg + k + FAR)  # @R
    tl.store(out + pid * B + lane, tl.cumsum(v, axis=0) + prev)


def back_args(**kw):
    return dict(dict(x=T("i32", 512), agg=T("i32", 8), flag=zeros(8), out=T("i32", 512), EPOCH=5, REL="release", ACQ="acquire", FAR=0,
                     BAR=True, B=64), **kw)


case("look_back", look_back, "ok T1 qual=termination qual=reads", (8,), back_args())
case("look_back_relaxed", look_back, "races RAW:P:R/programs", (8,), back_args(REL="relaxed"))
case("look_back_relaxed_wait", look_back, "races RAW:P:R/programs", (8,), back_args(ACQ="relaxed"))
case("look_back_next", look_back, "races *:P:R/programs", (8,), back_args(FAR=1))
case("look_back_no_barrier", look_back, "races RAW:P:R/programs", (8,), back_args(BAR=False))


@triton.jit
def one_value_shifted(out, VALUE: tl.constexpr):
    at = (out + tl.program_id(0)).to(tl.pointer_type(tl.int32))
    tl.store(at, VALUE)  # @S


case("B001_shifted", one_value_shifted, "races WAW:S:S/programs whynot=same_value", (2,), dict(out=T("i8", 8), VALUE=0x01020304))
case("B001_shifted_even", one_value_shifted, "races WAW:S:S/programs why=same_value", (2,), dict(out=T("i8", 8), VALUE=0x01010101))


@triton.jit
def order_told(c, f, out, KIND: tl.constexpr):
    pid = tl.program_id(0)
    if KIND == 0:
        tl.atomic_max(c, pid)
        tl.atomic_max(c, 2 * pid)
    elif KIND == 1:
        tl.atomic_max(c, pid)
        tl.atomic_add(c, 3)
    elif KIND == 2:
        tl.store(out + pid, tl.atomic_add(c, 1))
    elif KIND == 3:
        tl.atomic_add(f, 1.5)
    elif KIND == 4:
        tl.atomic_xchg(c, 7)
    else:
        tl.atomic_xchg(c, pid)


for kind, answer in enumerate(("true", "false", "false", "false", "true", "false")):
    case(f"order_told_{kind}", order_told, f"ok deterministic={answer}", (4,),
         dict(c=T("i32", 1, values=[0]), f=T("f32", 1), out=T("i32", 4), KIND=kind))


@triton.jit
def ticket_narrow(c, out):
    tl.store(out + tl.atomic_add(c, 1).to(tl.int8).to(tl.int32), 1)


case("ticket_narrow", ticket_narrow, "ok T1", (128,), dict(c=T("i32", 1, values=[0]), out=T("i32", 300)))
case("ticket_narrow_wraps", ticket_narrow, "unsupported integer-overflow never=ok", (300,), dict(c=T("i32", 1, values=[0]), out=T("i32", 300)))


# ---- draws: a counter that hands out tiles, in loops, to several operations, to the lanes of a tile --------------------------
@triton.jit
def steal(ctr, x, out, n, STEP: tl.constexpr, BY: tl.constexpr, NE: tl.constexpr, RESET: tl.constexpr, SCOPE: tl.constexpr, LANES: tl.constexpr,
          B: tl.constexpr):
    if RESET:
        if tl.program_id(0) == 1:
            tl.atomic_xchg(ctr, 0)
    t = tl.atomic_add(ctr, BY, scope=SCOPE)  # @A
    while (t != n) if NE else (t < n):
        i = t * STEP + tl.arange(0, B) % LANES
        tl.store(out + i, tl.load(x + i) + 1)  # @S
        t = tl.atomic_add(ctr, BY, scope=SCOPE)  # @D


def steal_args(init=0, **kw):
    return dict(dict(ctr=T("i32", 1, values=[init]), x=T("i32", 4096), out=T("i32", 4096), n=40, STEP=64, BY=1, NE=False, RESET=False, SCOPE="gpu",
                     LANES=64, B=64), **kw)


case("steal", steal, "ok T1-launch qual=reads noqual=termination", (4,), steal_args())
case("steal_many", steal, "ok T1-launch qual=reads", (1000,), steal_args())
case("steal_pairs", steal, "ok T1-launch qual=reads", (4,), steal_args(BY=2, STEP=32))
case("steal_half", steal, "races WAW:S:S/programs WAW:S:S/threads", (4,), steal_args(STEP=32))
case("steal_pairs_half", steal, "races WAW:S:S/programs WAW:S:S/threads", (4,), steal_args(BY=2, STEP=16))
case("steal_same", steal, "races|unsupported never=ok", (4,), steal_args(BY=0))
case("steal_down", steal, "races|unsupported never=ok", (4,), steal_args(BY=-1, init=30))
case("steal_lanes", steal, "races WAW:S:S/threads", (4,), steal_args(LANES=32))
case("steal_not_equal", steal, "unsupported never=ok", (4,), steal_args(NE=True))      # who draws n stops, the others go on
case("steal_reset", steal, "races|unsupported never=ok", (4,), steal_args(RESET=True))
case("steal_cta", steal, "races|unsupported never=ok", (4,), steal_args(SCOPE="cta"))
case("steal_unknown", steal, "races|unsupported never=ok", (4,), steal_args(ctr=T("i32", 1)))
case("steal_one_tile", steal, "races WAW:S:S/programs", (4,), steal_args(STEP=0))
case("steal_wraps", steal, "races WAW:S:S/programs", (4,), steal_args(init=2**31 - 3, n=2**31 - 1, STEP=0))     # and goes on below zero
case("steal_may_wrap", steal, "races|unsupported never=ok", (4,), steal_args(n=2**31 - 1, STEP=1, B=1, LANES=1))


# The lanes of a tile that keep their element draw a place each: a result exists where the addition's mask holds, which memory may decide.
@triton.jit
def append_kept(x, out, count, n, TURNS: tl.constexpr, WIDE: tl.constexpr, PARTS: tl.constexpr, NEXT: tl.constexpr, SCOPE: tl.constexpr, B: tl.constexpr):
    for k in range(TURNS):
        i = (tl.program_id(0) * TURNS + k) * B + tl.arange(0, B)
        v = tl.load(x + i, mask=i < n, other=0)
        keep = v > 0
        at = tl.atomic_add(count + tl.zeros((B,), tl.int32), 1, mask=keep, scope=SCOPE)
        tl.store(out + at // PARTS, v, mask=i < n if WIDE else v > NEXT)  # @S


KEPT = [(i * 7) % 5 - 2 for i in range(256)]


def kept_args(given=True, **kw):
    return dict(dict(x=T("i32", 256, values=KEPT if given else None), out=T("i32", 512), count=zeros(1), n=250, TURNS=1, WIDE=False, PARTS=1, NEXT=0,
                     SCOPE="gpu", B=64), **kw)


case("append_kept", append_kept, "ok T1-launch qual=reads noqual=in-bounds", (4,), kept_args(given=False))
case("append_kept_given", append_kept, "ok T1-launch qual=reads", (4,), kept_args())
case("append_kept_turns", append_kept, "ok T1-launch qual=reads", (2,), kept_args(given=False, TURNS=2))
case("append_kept_fewer", append_kept, "ok T1-launch qual=reads", (4,), kept_args(given=False, NEXT=1))     # of those that drew
case("append_kept_more", append_kept, "races|unsupported never=ok", (4,), kept_args(given=False, NEXT=-1))  # a lane that drew nothing
case("append_kept_wide", append_kept, "races|unsupported never=ok", (4,), kept_args(given=False, WIDE=True))
case("append_kept_half", append_kept, "races WAW:S:S/programs WAW:S:S/threads", (4,), kept_args(PARTS=2))
case("append_kept_cta", append_kept, "races|unsupported never=ok", (4,), kept_args(given=False, SCOPE="cta"))
case("append_kept_unknown", append_kept, "ok T1-launch qual=in-bounds", (4,), kept_args(given=False, count=T("i32", 1)))


@triton.jit
def steal_static(ctr, x, out, n, PLUS: tl.constexpr, B: tl.constexpr):
    t = tl.program_id(0)
    while t < n:
        i = t * B + tl.arange(0, B)
        tl.store(out + i, tl.load(x + i) + 1)  # @S
        t = tl.atomic_add(ctr, 1) + (tl.num_programs(0) if PLUS < 0 else PLUS)


def static_args(**kw):
    return dict(dict(ctr=zeros(1), x=T("i32", 4096), out=T("i32", 4096), n=40, PLUS=-1, B=64), **kw)


case("steal_static", steal_static, "ok T1-launch qual=reads", (4,), static_args())
case("steal_static_start", steal_static, "ok T1-launch qual=reads", (4,), static_args(ctr=T("i32", 1, values=[4]), PLUS=0))
case("steal_static_early", steal_static, "races WAW:S:S/programs", (4,), static_args(PLUS=3))
case("steal_static_zero", steal_static, "races WAW:S:S/programs", (4,), static_args(PLUS=0))


@triton.jit
def steal_ahead(ctr, x, out, n, NEXT: tl.constexpr, B: tl.constexpr):
    t = tl.atomic_add(ctr, 1)
    while t < n:
        ahead = tl.atomic_add(ctr, 1)
        tile = ahead if NEXT == 1 else t
        i = tile * B + tl.arange(0, B)
        tl.store(out + i, 1, mask=tile < n)  # @S
        if NEXT == 2:
            tl.store(out + ahead * B + tl.arange(0, B), 2, mask=ahead < n)  # @N
        t = ahead


def ahead_args(**kw):
    return dict(dict(ctr=zeros(1), x=T("i32", 4096), out=T("i32", 4096), n=40, NEXT=0, B=64), **kw)


case("steal_ahead", steal_ahead, "ok T1-launch qual=reads", (4,), ahead_args())
case("steal_ahead_next", steal_ahead, "ok T1-launch qual=reads", (4,), ahead_args(NEXT=1))
case("steal_ahead_both", steal_ahead, "races|unsupported never=ok", (4,), ahead_args(NEXT=2))


@triton.jit
def steal_matmul(ctr, a, b, c, nm, nn, k, GROUP: tl.constexpr, SPAN: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    t = tl.atomic_add(ctr, 1)
    while t < nm * nn:
        width = GROUP * nn
        first = t // width * GROUP
        size = min(nm - first, GROUP)
        m = first + t % width % size
        n = t % width // size
        rm = m * SPAN + tl.arange(0, BM)
        rn = n * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for i in range(0, k, BK):
            ri = i + tl.arange(0, BK)
            acc += tl.dot(tl.load(a + rm[:, None] * k + ri[None, :]), tl.load(b + ri[:, None] * (nn * BN) + rn[None, :]))
        tl.store(c + rm[:, None] * (nn * BN) + rn[None, :], acc)  # @S
        t = tl.atomic_add(ctr, 1)


def matmul_args(span):
    return dict(ctr=zeros(1), a=T("f32", 96, 32), b=T("f32", 32, 64), c=T("f32", 96, 64), nm=6, nn=4, k=32, GROUP=4, SPAN=span, BM=16, BN=16, BK=16)


case("steal_matmul", steal_matmul, "ok T1-launch qual=reads", (4,), matmul_args(16))
case("steal_matmul_half", steal_matmul, "races *:S:S/programs *:S:S/threads", (4,), matmul_args(8))


@triton.jit
def loop_draw(ctr, src, out, n, STEP: tl.constexpr, SOME: tl.constexpr, B: tl.constexpr):
    for k in range(n):
        live = tl.load(src + tl.program_id(0) * n + k) > 0 if SOME else True
        if live:
            t = tl.atomic_add(ctr, 1)
            tl.store(out + t * STEP + tl.arange(0, B), k)  # @S


def loop_args(**kw):
    return dict(dict(ctr=zeros(1), src=T("i32", 64), out=T("i32", 4096), n=5, STEP=64, SOME=False, B=64), **kw)


case("loop_draw", loop_draw, "ok T1 qual=reads", (4,), loop_args())
case("loop_draw_some", loop_draw, "ok T1-launch qual=reads", (4,), loop_args(SOME=True))
case("loop_draw_half", loop_draw, "races WAW:S:S/programs WAW:S:S/threads", (4,), loop_args(STEP=32))
case("loop_draw_some_half", loop_draw, "races|unsupported never=ok", (4,), loop_args(SOME=True, STEP=32))


@triton.jit
def lane_draw(ctr, out, BY: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    t = tl.atomic_add(ctr + lane * 0, BY)
    tl.store(out + t, lane)  # @S


case("lane_draw", lane_draw, "ok qual=reads", (4,), dict(ctr=zeros(1), out=T("i32", 256), BY=1, B=64))
case("lane_draw_none", lane_draw, "races|unsupported never=ok", (4,), dict(ctr=zeros(1), out=T("i32", 256), BY=0, B=64))


@triton.jit
def reserve(ctr, cnt, out, EXTRA: tl.constexpr, MOST: tl.constexpr):
    m = tl.minimum(tl.maximum(tl.load(cnt + tl.program_id(0)), 0), MOST)
    t = tl.atomic_add(ctr, m)
    for k in range(m + EXTRA):
        tl.store(out + t + k, k)  # @S


def reserve_args(**kw):
    return dict(dict(ctr=zeros(1), cnt=T("i32", 64), out=T("i32", 4096), EXTRA=0, MOST=64), **kw)


case("reserve", reserve, "ok qual=reads", (4,), reserve_args())
case("reserve_one_more", reserve, "races|unsupported never=ok", (4,), reserve_args(EXTRA=1))
case("reserve_unbounded", reserve, "unsupported never=ok", (4,), reserve_args(MOST=2**31 - 1))


# The result of a draw under a branch, used behind it.
@triton.jit
def draw_or_zero(ctr, src, out, ONE: tl.constexpr):
    t = 0
    if tl.load(src + tl.program_id(0)) > 0:
        t = tl.atomic_add(ctr, 1) + ONE
    tl.store(out + t, 7)  # @S


case("draw_or_zero", draw_or_zero, "races|unsupported never=ok", (4,), dict(ctr=zeros(1), src=T("i32", 4), out=T("i32", 64), ONE=1))
case("draw_or_zero_same", draw_or_zero, "races|unsupported never=ok", (4,), dict(ctr=zeros(1), src=T("i32", 4, values=[1, 0, 1, 0]), out=T("i32", 64), ONE=0))


# A barrier inside a turn that is drawn: the lanes of one tile hand over through memory.
@triton.jit
def steal_exchange(ctr, tmp, out, n, BAR: tl.constexpr, SOME: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    t = tl.atomic_add(ctr, 1)
    while t < n:
        tl.store(tmp + t * B + lane, lane)  # @S
        if BAR:
            if (not SOME) or (t > 3):
                tl.debug_barrier()
        tl.store(out + t * B + lane, tl.load(tmp + t * B + (lane ^ 1)))  # @L
        t = tl.atomic_add(ctr, 1)


def exchange_args(**kw):
    return dict(dict(ctr=zeros(1), tmp=T("i32", 4096), out=T("i32", 4096), n=40, BAR=True, SOME=False, B=64), **kw)


case("steal_exchange", steal_exchange, "ok T1-launch qual=reads", (4,), exchange_args())
case("steal_exchange_no_barrier", steal_exchange, "races|unsupported never=ok", (4,), exchange_args(BAR=False))
case("steal_exchange_some", steal_exchange, "races|unsupported never=ok", (4,), exchange_args(SOME=True))


# ---- a second run on the same buffers: a scratch that is written first, one that is read first, and a value that settles ----
@triton.jit
def repeat_scratch(tmp, out, FIRST: tl.constexpr, BAR: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    at = tl.program_id(0) * B
    if FIRST:
        tl.store(tmp + at + lane, lane)  # @T
        if BAR:
            tl.debug_barrier()
    x = tl.load(tmp + at + (lane ^ 1))  # @X
    tl.store(out + at + lane, x)
    if not FIRST:
        tl.debug_barrier()
        tl.store(tmp + at + lane, lane)


def scratch_args(first, bar=True):
    return dict(tmp=T("i32", 256), out=T("i32", 256), FIRST=first, BAR=bar, B=64)


case("repeat_scratch_first", repeat_scratch, "ok idempotent=yes", (4,), scratch_args(True))
case("repeat_scratch_last", repeat_scratch, "ok idempotent=no", (4,), scratch_args(False))
case("repeat_scratch_race", repeat_scratch, "races RAW:T:X/threads", (4,), scratch_args(True, False))


@triton.jit
def repeat_float(x, KIND: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(x + i, v * 0.3 if KIND == 0 else tl.maximum(v, 0.0) if KIND == 1 else tl.maximum(v, 1.0) + 1e-30)


for kind, answer in enumerate(("no", "unknown", "unknown")):       # smaller, settled, perhaps rounded away
    case(f"repeat_float_{kind}", repeat_float, f"ok idempotent={answer}", (4,), dict(x=T("f32", 256), KIND=kind, B=64))
