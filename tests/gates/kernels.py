"""Kernels whose programs wait for each other again and again: grid barriers in rounds, stream-K over several tiles, turns at a
lock of each tile, chains and rings in loops. Each safe kernel stands beside twins that differ in one token. All verdicts are
for --atomic-order=strict."""
from cases import T, case, load_triton

triton, tl = load_triton()


def zeros(n):
    return T("i32", n, values=[0] * n)


# ---- a barrier of the grid, several times over one counter ------------------------------------------------------------
@triton.jit
def rounds(a, b, cnt, ROUNDS: tl.constexpr, SEM: tl.constexpr, ACQ: tl.constexpr, LESS: tl.constexpr, PRE: tl.constexpr, BAR: tl.constexpr,
           FORM: tl.constexpr, SCOPE: tl.constexpr, SECOND: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    g = tl.num_programs(0)
    i = pid * B + tl.arange(0, B)
    for r in range(ROUNDS):
        v = tl.load(a + (i + B) % (B * g))  # @R
        tl.store(b + i, v + 1)  # @W
        if PRE:
            tl.debug_barrier()
        tl.atomic_add(cnt, 1, sem=SEM, scope=SCOPE)
        if FORM == 0:
            while tl.atomic_add(cnt, 0, sem=ACQ, scope=SCOPE) < (2 * r + 1) * g - LESS:
                pass
        elif FORM == 1:
            while tl.atomic_add(cnt, 0, sem=ACQ, scope=SCOPE) != (2 * r + 1) * g - LESS:
                pass
        elif FORM == 2:
            while (2 * r + 1) * g - LESS > tl.atomic_or(cnt, 0, sem=ACQ, scope=SCOPE):
                pass
        else:
            while tl.atomic_cas(cnt, -1, -1, sem=ACQ, scope=SCOPE).to(tl.uint32) < ((2 * r + 1) * g - LESS).to(tl.uint32):
                pass
        if BAR:
            tl.debug_barrier()
        v = tl.load(b + (i + B) % (B * g))  # @S
        tl.store(a + i, v + 1)  # @U
        if SECOND:
            tl.debug_barrier()
            tl.atomic_add(cnt, 1, sem="release")
            while tl.atomic_add(cnt, 0, sem="acquire") < (2 * r + 2) * g:
                pass
            tl.debug_barrier()


def rounds_args(n=4, start=0, **kw):
    return dict(dict(a=T("i32", 64 * n), b=T("i32", 64 * n), cnt=T("i32", 1, values=[start]), ROUNDS=3, SEM="release", ACQ="acquire", LESS=0,
                     PRE=True, BAR=True, FORM=0, SCOPE="gpu", SECOND=True, B=64), **kw)


case("rounds", rounds, "ok T1-launch qual=termination qual=reads", (4,), rounds_args())
case("rounds_132", rounds, "ok T1-launch", (132,), rounds_args(132))
case("rounds_equal", rounds, "ok T1-launch", (4,), rounds_args(FORM=1))
case("rounds_turned", rounds, "ok T1-launch", (4,), rounds_args(FORM=2))
case("rounds_unsigned", rounds, "ok T1-launch", (4,), rounds_args(FORM=3))
case("rounds_less", rounds, "races *:R:U/programs *:W:S/programs", (4,), rounds_args(LESS=1))
case("rounds_unsigned_less", rounds, "races *:R:U/programs *:W:S/programs", (4,), rounds_args(FORM=3, LESS=1))
case("rounds_started", rounds, "races *:R:U/programs *:W:S/programs", (4,), rounds_args(start=1))
case("rounds_below", rounds, "vacuous", (4,), rounds_args(start=-1))
case("rounds_unknown", rounds, "races|unsupported never=ok", (4,), rounds_args(cnt=T("i32", 1)))
case("rounds_relaxed", rounds, "races *:R:U/programs *:W:S/programs", (4,), rounds_args(SEM="relaxed"))
case("rounds_relaxed_wait", rounds, "races *:R:U/programs *:W:S/programs", (4,), rounds_args(ACQ="relaxed"))
case("rounds_cta", rounds, "races|unsupported never=ok", (4,), rounds_args(SCOPE="cta"))
case("rounds_no_pre", rounds, "races *:R:U/programs *:W:S/programs", (4,), rounds_args(PRE=False))
case("rounds_no_post", rounds, "races|unsupported never=ok", (4,), rounds_args(BAR=False))
case("rounds_one_of_two", rounds, "races|unsupported|vacuous never=ok", (4,), rounds_args(SECOND=False))


# ---- counting down, flags that flip, a bit for each program --------------------------------------------------------------
@triton.jit
def kinds(x, y, m, KIND: tl.constexpr, SEM: tl.constexpr, WRONG: tl.constexpr):
    pid = tl.program_id(0)
    n = tl.num_programs(0)
    for r in range(2):
        tl.store(x + r * n + pid, pid)  # @P
        tl.debug_barrier()
        if KIND == 0:
            tl.atomic_add(m + r, -1, sem=SEM)
            while tl.atomic_add(m + r, 0, sem="acquire") > WRONG:
                pass
        elif KIND == 1:
            tl.atomic_or(m + r, 1 << pid, sem=SEM)
            while tl.atomic_or(m + r, 0, sem="acquire") != (1 << n) - 1 - WRONG:
                pass
        elif KIND == 2:
            tl.atomic_xor(m + r * n + pid, 1, sem=SEM)
            while tl.atomic_xor(m + r * n + (pid + 1) % n, 0, sem="acquire") == WRONG:
                pass
        elif KIND == 3:
            tl.atomic_max(m + r * n + pid, 5, sem=SEM)
            while tl.atomic_add(m + r * n + (pid + 1) % n, 0, sem="acquire") < 5 - WRONG * 5:
                pass
        else:
            tl.atomic_cas(m + r * n + pid, 0, 3, sem=SEM)
            while tl.atomic_add(m + r * n + (pid + 1) % n, 0, sem="acquire") & 2 == WRONG * 2:
                pass
        tl.debug_barrier()
        tl.store(y + r * n + pid, tl.load(x + r * n + (pid + 1) % n))  # @R


def kinds_args(kind, **kw):
    return dict(dict(x=T("i32", 8), y=T("i32", 8), m=T("i32", 8, values=[4 if kind == 0 else 0] * 8), KIND=kind, SEM="release", WRONG=0), **kw)


for kind, name in enumerate(("down", "bits", "xor", "max", "cas")):
    case(f"kinds_{name}", kinds, "ok", (4,), kinds_args(kind))
    case(f"kinds_{name}_relaxed", kinds, "races RAW:P:R/programs", (4,), kinds_args(kind, SEM="relaxed"))
    case(f"kinds_{name}_wrong", kinds, "races|unsupported|vacuous never=ok", (4,), kinds_args(kind, WRONG=1))


# ---- stream-K: each program has a range of iterations over several tiles, its first tile may belong to another one --------------
@triton.jit
def stream_k(a, part, locks, c, each, total, SEM: tl.constexpr, BAR: tl.constexpr, POST: tl.constexpr, NEXT: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    g = tl.num_programs(0)
    lane = tl.arange(0, B)
    per = tl.cdiv(total, g)
    start = pid * per
    last = tl.minimum(start + per, total)
    while start < last:
        tile = start // each
        begin = tile * each
        end = tl.minimum(begin + each, last)
        acc = tl.zeros((B,), tl.int32)
        for k in range(start, end):
            acc += tl.load(a + k * B + lane)
        if start != begin:
            tl.store(part + pid * B + lane, acc)  # @P
            if BAR:
                tl.debug_barrier()
            tl.atomic_xchg(locks + pid, 1, sem=SEM)
        else:
            other = pid + 1
            e = end
            while e < begin + each and other < g:
                while tl.atomic_cas(locks + other + NEXT, 1, 1, sem="acquire") != 1:
                    pass
                if POST:
                    tl.debug_barrier()
                acc += tl.load(part + other * B + lane)  # @R
                e += per
                other += 1
            tl.store(c + tile * B + lane, acc)  # @C
        start = end


def stream_args(**kw):
    return dict(dict(a=T("i32", 64 * 24), part=T("i32", 64 * 8), locks=zeros(9), c=T("i32", 64 * 4), each=6, total=24, SEM="release", BAR=True,
                     POST=True, NEXT=0, B=64), **kw)


case("stream_k", stream_k, "ok T1-launch qual=termination qual=reads", (5,), stream_args())
case("stream_k_8", stream_k, "ok T1-launch", (8,), stream_args())
case("stream_k_relaxed", stream_k, "races RAW:P:R/programs", (5,), stream_args(SEM="relaxed"))
case("stream_k_no_pre", stream_k, "races RAW:P:R/programs", (5,), stream_args(BAR=False))
case("stream_k_no_post", stream_k, "races RAW:P:R/programs", (5,), stream_args(POST=False))
case("stream_k_other_lock", stream_k, "races|unsupported|vacuous never=ok", (5,), stream_args(NEXT=1))
case("stream_k_set", stream_k, "races RAW:P:R/programs", (5,), stream_args(locks=T("i32", 9, values=[1] * 9)))


# ---- turns: the parts of a tile are added one after the other, each tile with its semaphore, in a persistent loop -----------
@triton.jit
def turns(locks, out, x, tiles, SPLIT: tl.constexpr, REL: tl.constexpr, PRE: tl.constexpr, BACK: tl.constexpr, D: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    for w in range(tl.program_id(0), tiles * SPLIT, tl.num_programs(0)):
        tile = w // SPLIT
        k = w % SPLIT
        acc = tl.load(x + w * B + lane)
        while tl.atomic_add(locks + tile, 0, sem="acquire") != (k - BACK if k >= BACK else k):
            pass
        tl.debug_barrier()
        if k > 0:
            acc += tl.load(out + tile // D * B + lane)  # @R
        tl.store(out + tile // D * B + lane, acc)  # @S
        if PRE:
            tl.debug_barrier()
        tl.atomic_add(locks + tile, 1, sem=REL)


def turns_args(**kw):
    return dict(dict(locks=zeros(3), out=T("i32", 64 * 3), x=T("i32", 64 * 12), tiles=3, SPLIT=4, REL="release", PRE=True, BACK=0, D=1, B=64), **kw)


case("turns", turns, "ok T1-launch qual=termination qual=reads", (5,), turns_args())
case("turns_more_programs", turns, "ok T1-launch", (12,), turns_args())
case("turns_relaxed", turns, "races *:R:S/programs *:S:S/programs", (5,), turns_args(REL="relaxed"))
case("turns_no_pre", turns, "races *:R:S/programs *:S:S/programs", (5,), turns_args(PRE=False))
case("turns_shared_tile", turns, "races *:R:S/programs *:S:S/programs", (5,), turns_args(D=2))
case("turns_back", turns, "races|unsupported|vacuous never=ok", (5,), turns_args(BACK=1))


# ---- a scan in a persistent loop: each tile waits for the one before it -------------------------------------------------------
@triton.jit
def chained(x, flag, pre, out, tiles, BAR: tl.constexpr, REL: tl.constexpr, ACQ: tl.constexpr, BACK: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    for t in range(tl.program_id(0), tiles, tl.num_programs(0)):
        v = tl.load(x + t * B + lane)
        ex = 0
        if t > 0:
            while tl.atomic_add(flag + t - BACK, 0, sem=ACQ) == 0:
                pass
            if BAR:
                tl.debug_barrier()
            ex = tl.load(pre + t - 1)  # @R
        tl.store(pre + t, ex + tl.sum(v, axis=0))  # @P
        tl.debug_barrier()
        tl.atomic_xchg(flag + t, 1, sem=REL)
        tl.store(out + t * B + lane, tl.cumsum(v, axis=0) + ex)


def chained_args(**kw):
    return dict(dict(x=T("i32", 768), flag=zeros(12), pre=T("i32", 12), out=T("i32", 768), tiles=12, BAR=True, REL="release", ACQ="acquire",
                     BACK=1, B=64), **kw)


case("chained", chained, "ok T1-launch qual=termination", (5,), chained_args())
case("chained_relaxed", chained, "races *:R:P/programs", (5,), chained_args(REL="relaxed"))
case("chained_relaxed_wait", chained, "races *:R:P/programs", (5,), chained_args(ACQ="relaxed"))
case("chained_no_post", chained, "races *:R:P/programs", (5,), chained_args(BAR=False))
case("chained_itself", chained, "vacuous", (5,), chained_args(BACK=0))


# ---- nested loops: one producer, an epoch for each step; and a ring whose slots come back -----------------------------------
@triton.jit
def nested(buf, flag, out, M: tl.constexpr, K: tl.constexpr, REL: tl.constexpr, BAR: tl.constexpr, STEP: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    for m in range(M):
        for k in range(K):
            slot = m * K + k
            if pid == 0:
                tl.store(buf + slot * B + lane, lane + slot)  # @P
                tl.debug_barrier()
                tl.atomic_add(flag + m, 1, sem=REL)
            else:
                while tl.atomic_add(flag + m, 0, sem="acquire") < k + STEP:
                    pass
                if BAR:
                    tl.debug_barrier()
                tl.store(out + (pid * M * K + slot) * B + lane, tl.load(buf + slot * B + lane))  # @R


def nested_args(**kw):
    return dict(dict(buf=T("i32", 64 * 12), flag=zeros(3), out=T("i32", 64 * 12 * 4), M=3, K=4, REL="release", BAR=True, STEP=1, B=64), **kw)


case("nested", nested, "ok T1-launch qual=termination", (4,), nested_args())
case("nested_relaxed", nested, "races RAW:P:R/programs", (4,), nested_args(REL="relaxed"))
case("nested_no_post", nested, "races RAW:P:R/programs", (4,), nested_args(BAR=False))
case("nested_early", nested, "races RAW:P:R/programs", (4,), nested_args(STEP=0))


@triton.jit
def ring(buf, full, empty, out, N: tl.constexpr, D: tl.constexpr, LESS: tl.constexpr, BACK: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    for i in range(N):
        if pid == 0:
            while tl.atomic_add(empty, 0, sem="acquire") < i - D + 1 - LESS:
                pass
            tl.debug_barrier()
            tl.store(buf + (i % D) * B + lane, lane + i)  # @P
            tl.debug_barrier()
            tl.atomic_add(full, 1, sem="release")
        else:
            while tl.atomic_add(full, 0, sem="acquire") < i + 1:
                pass
            tl.debug_barrier()
            tl.store(out + i * B + lane, tl.load(buf + (i % D) * B + lane))  # @R
            tl.debug_barrier()
            tl.atomic_add(empty, 1, sem=BACK)


def ring_args(**kw):
    return dict(dict(buf=T("i32", 128), full=zeros(1), empty=zeros(1), out=T("i32", 512), N=8, D=2, LESS=0, BACK="release", B=64), **kw)


case("ring", ring, "ok T1-launch qual=termination", (2,), ring_args())
case("ring_one_slot", ring, "ok T1-launch", (2,), ring_args(D=1))
case("ring_relaxed", ring, "races *:P:R/programs", (2,), ring_args(BACK="relaxed"))
case("ring_short", ring, "races *:P:R/programs", (2,), ring_args(LESS=1))


# ---- what the order may not rest on -------------------------------------------------------------------------------------------
@triton.jit
def shaky(x, y, f, g, some, KIND: tl.constexpr):
    """Program 0 writes x and counts f up; the last program reads x. KIND 0 to 1 are right, each other one has a way round."""
    pid = tl.program_id(0)
    for r in range(1):
        if pid == 0:
            tl.store(x, 1)  # @P
            tl.debug_barrier()
            if KIND == 1:                     # two releases behind one barrier
                tl.atomic_add(g, 1, sem="release")
            tl.atomic_add(f, 1, sem="release")
        elif pid == 1:
            if KIND == 2:                     # may count instead of program 0
                if tl.load(some) == 1:
                    tl.atomic_add(f, 1, sem="release")
            if KIND == 3:
                tl.atomic_add(f, 1, mask=tl.load(some) == 1, sem="release")
            if KIND == 4:
                for k in range(tl.load(some)):
                    tl.atomic_add(f, 1, sem="relaxed")
            if KIND == 5:                     # a relay whose two atomics no barrier parts
                while tl.atomic_add(f, 0, sem="acquire") < 1:
                    pass
                tl.atomic_add(g, 1, sem="release")
            if KIND == 6:
                while tl.atomic_add(f, 0, sem="acquire") < 1:
                    pass
                tl.debug_barrier()
                tl.atomic_add(g, 1, sem="release")
            if KIND == 8:                     # a plain writer
                tl.store(f, 1)
            if KIND == 10:                    # as much as the others together
                tl.atomic_add(f, tl.load(some), sem="relaxed")
        else:
            if KIND == 7:                     # perhaps it does not wait
                if tl.load(some) == 1:
                    while tl.atomic_add(f, 0, sem="acquire") < 1:
                        pass
            elif KIND == 9:                   # the wait ends by itself
                k = 0
                while (tl.atomic_add(f, 0, sem="acquire") < 1) & (k < 10):
                    k += 1
            elif KIND == 5 or KIND == 6:
                while tl.atomic_add(g, 0, sem="acquire") < 1:
                    pass
            else:
                while tl.atomic_add(f, 0, sem="acquire") < (2 if KIND == 4 else 1):
                    pass
            tl.debug_barrier()
            tl.store(y + r, tl.load(x))  # @R


def shaky_args(kind):
    return dict(x=T("i32", 1), y=T("i32", 1), f=zeros(1), g=zeros(1), some=T("i32", 1), KIND=kind)


for kind in range(11):
    right = kind in (0, 1, 6)
    case(f"shaky_{kind}", shaky, "ok" if right else "races|unsupported never=ok", (3,), shaky_args(kind))


# ---- guards: who comes last, in loops ---------------------------------------------------------------------------------------
@triton.jit
def split(part, cnt, out, tiles, SPLIT: tl.constexpr, LAST: tl.constexpr, RESET: tl.constexpr, SEM: tl.constexpr, PRE: tl.constexpr, POST: tl.constexpr,
          COVER: tl.constexpr, B: tl.constexpr):
    """Split-K in a persistent loop: a counter for each tile, the last part adds up all of them."""
    lane = tl.arange(0, B)
    for w in range(tl.program_id(0), tiles * SPLIT, tl.num_programs(0)):
        tile = w // SPLIT
        tl.store(part + w * B + lane, lane)  # @P
        if PRE:
            tl.debug_barrier()
        o = tl.atomic_add(cnt + tile, 1, sem=SEM)
        if POST:
            tl.debug_barrier()
        if (o >= LAST if COVER else o == LAST):
            acc = tl.zeros((B,), tl.int32)
            for k in range(SPLIT):
                acc += tl.load(part + (tile * SPLIT + k) * B + lane)  # @R
            tl.store(out + tile * B + lane, acc)  # @O
            if RESET:
                tl.atomic_xchg(cnt + tile, 0, sem="relaxed")


def split_args(**kw):
    return dict(dict(part=T("i32", 768), cnt=zeros(3), out=T("i32", 192), tiles=3, SPLIT=4, LAST=3, RESET=False, SEM="acq_rel", PRE=True, POST=True,
                     COVER=False, B=64), **kw)


case("split", split, "ok T1-launch qual=reads", (5,), split_args())
case("split_reset", split, "ok T1-launch qual=reads", (5,), split_args(RESET=True))
case("split_at_least", split, "ok T1-launch", (5,), split_args(COVER=True))
case("split_two_programs", split, "ok T1-launch", (3,), split_args())
case("split_early", split, "races RAW:P:R/programs", (5,), split_args(LAST=2))
case("split_early_two", split, "races|unsupported never=ok", (5,), split_args(LAST=2, COVER=True))
case("split_relaxed", split, "races RAW:P:R/programs", (5,), split_args(SEM="relaxed"))
case("split_release", split, "races RAW:P:R/programs", (5,), split_args(SEM="release"))
case("split_acquire", split, "races RAW:P:R/programs", (5,), split_args(SEM="acquire"))
case("split_no_pre", split, "races RAW:P:R/programs", (5,), split_args(PRE=False))
case("split_no_post", split, "races RAW:P:R/programs", (5,), split_args(POST=False))
case("split_started", split, "races|unsupported never=ok", (5,), split_args(cnt=T("i32", 3, values=[1] * 3)))
case("split_unknown", split, "races|unsupported never=ok", (5,), split_args(cnt=T("i32", 3)))


@triton.jit
def winners(cnt, x, y, STEPS: tl.constexpr, MOST: tl.constexpr, SAME: tl.constexpr):
    """Each step has one winner, which stores."""
    for k in range(STEPS):
        o = tl.atomic_add(cnt + k * SAME, 1, sem="relaxed")
        if o <= MOST:
            tl.store(x + k, tl.program_id(0))  # @S


case("winners", winners, "ok T1-launch", (4,), dict(cnt=zeros(3), x=T("i32", 3), y=T("i32", 3), STEPS=3, MOST=0, SAME=1))
case("winners_two", winners, "races WAW:S:S/programs", (4,), dict(cnt=zeros(3), x=T("i32", 3), y=T("i32", 3), STEPS=3, MOST=1, SAME=1))
case("winners_reset", winners, "races|unsupported never=ok", (4,), dict(cnt=T("i32", 3, values=[-1] * 3), x=T("i32", 3), y=T("i32", 3), STEPS=3, MOST=0, SAME=1))


@triton.jit
def last_opens(x, y, cnt, gate, STEPS: tl.constexpr, LAST: tl.constexpr, SEM: tl.constexpr, BAR: tl.constexpr):
    """The last program that arrives opens a gate, the others wait for it: a barrier of the grid with a flag for each step."""
    pid = tl.program_id(0)
    n = tl.num_programs(0)
    for k in range(STEPS):
        tl.store(x + k * n + pid, pid)  # @P
        tl.debug_barrier()
        o = tl.atomic_add(cnt + k, 1, sem=SEM)
        if BAR:
            tl.debug_barrier()
        if o == (n - 1 if LAST else n - 2):
            tl.atomic_xchg(gate + k, 1, sem="release")
        while tl.atomic_add(gate + k, 0, sem="acquire") == 0:
            pass
        tl.debug_barrier()
        tl.store(y + k * n + pid, tl.load(x + k * n + (pid + 1) % n))  # @R


def opens_args(**kw):
    return dict(dict(x=T("i32", 12), y=T("i32", 12), cnt=zeros(3), gate=zeros(3), STEPS=3, LAST=True, SEM="acq_rel", BAR=True), **kw)


case("last_opens", last_opens, "ok T1-launch qual=termination", (4,), opens_args())
case("last_opens_early", last_opens, "races RAW:P:R/programs", (4,), opens_args(LAST=False))
case("last_opens_relaxed", last_opens, "races RAW:P:R/programs", (4,), opens_args(SEM="relaxed"))
case("last_opens_release", last_opens, "races RAW:P:R/programs", (4,), opens_args(SEM="release"))
case("last_opens_no_barrier", last_opens, "races|unsupported never=ok", (4,), opens_args(BAR=False))


# ---- the barriers that a compiler puts around scalar atomics (--atomic-order) -------------------------------------------------
CTA = ["--atomic-order=cta"]
for name, fn, args, lines in (("rounds", rounds, rounds_args(PRE=False, BAR=False), "*:R:U/programs *:W:S/programs"),
                              ("stream_k", stream_k, stream_args(BAR=False, POST=False), "RAW:P:R/programs"),
                              ("turns", turns, turns_args(PRE=False), "*:R:S/programs *:S:S/programs"),
                              ("chained", chained, chained_args(BAR=False), "*:R:P/programs"),
                              ("split", split, split_args(PRE=False, POST=False), "RAW:P:R/programs RAW:P:R/threads"),
                              ("opens", last_opens, opens_args(BAR=False), "")):
    n = 4 if name in ("rounds", "opens") else 5
    case(f"cta_{name}", fn, "ok T1-launch qual=atomic", (n,), args, options=CTA)
    case(f"cta_{name}_auto", fn, "ok T1-launch qual=atomic", (n,), args, options=["--atomic-order=auto"], triton="3.9.0")
    explicit = name in ("chained", "opens")          # its release has a barrier; 3.8 places one behind a result that is used
    case(f"cta_{name}_old", fn, "ok qual=atomic" if explicit else "races|unsupported never=ok", (n,), args, options=["--atomic-order=auto"],
         triton="3.8.0")
    weak = {k: "relaxed" for k in ("SEM", "REL") if k in args}
    case(f"cta_{name}_relaxed", fn, f"races {lines}" if lines else "races|unsupported never=ok", (n,), dict(args, **weak), options=CTA)


@triton.jit
def masked_last(part, cnt, out, STEPS: tl.constexpr, LESS: tl.constexpr, SEM: tl.constexpr, N: tl.constexpr):
    """The last program of each step reads all parts; the others are masked off."""
    pid = tl.program_id(0)
    j = tl.arange(0, N)
    for k in range(STEPS):
        tl.store(part + k * N + pid, pid)  # @P
        tl.debug_barrier()
        o = tl.atomic_add(cnt + k, 1, sem=SEM)
        tl.debug_barrier()
        last = o == tl.num_programs(0) - 1 - LESS
        v = tl.load(part + k * N + j, mask=(j < tl.num_programs(0)) & last, other=0)  # @R
        tl.store(out + k + j, v, mask=(j < 1) & last)  # @O


def masked_args(**kw):
    return dict(dict(part=T("i32", 12), cnt=zeros(3), out=T("i32", 3), STEPS=3, LESS=0, SEM="acq_rel", N=4), **kw)


case("masked_last", masked_last, "ok T1-launch qual=reads", (4,), masked_args())
case("masked_last_early", masked_last, "races|unsupported never=ok", (4,), masked_args(LESS=1))
case("masked_last_relaxed", masked_last, "races|unsupported never=ok", (4,), masked_args(SEM="relaxed"))


# ---- numbers at the end of their width -----------------------------------------------------------------------------------------
case("winners_wide", winners, "ok T1-launch", (4,), dict(cnt=T("i64", 3, values=[2**63 - 5] * 3), x=T("i32", 3), y=T("i32", 3), STEPS=3, MOST=0, SAME=1))
case("winners_wrap", winners, "races|unsupported never=ok", (4,), dict(cnt=T("i64", 3, values=[2**63 - 2] * 3), x=T("i32", 3), y=T("i32", 3), STEPS=3, MOST=0, SAME=1))
case("kinds_xor_top", kinds, "races|unsupported|vacuous never=ok", (4,), kinds_args(2, m=T("i64", 8, values=[2**63 - 1] * 8)))


# ---- a compare-and-swap that leaves the location as it is adds nothing to it ---------------------------------------------------
@triton.jit
def looks(cnt, x, u, KIND: tl.constexpr, V: tl.constexpr):
    """Programs that all may see 0 and store, beside one that adds. u: of unknown contents, so no execution can be followed."""
    pid = tl.program_id(0)
    for k in range(2):
        if pid == 2:
            tl.atomic_add(cnt + k, 1, sem="relaxed")
        else:
            if KIND == 0:
                o = tl.atomic_cas(cnt + k, V, V, sem="relaxed")
            elif KIND == 1:
                o = tl.atomic_or(cnt + k, 0, sem="relaxed")
            else:
                o = tl.atomic_add(cnt + k, V, sem="relaxed")
            if o == 0:
                tl.store(x + k, pid)  # @S
    tl.atomic_cas(u + pid, 0, 1, sem="relaxed")


for kind, v, name in ((0, 5, "cas"), (0, -3, "cas_less"), (1, 0, "or"), (2, 0, "add_none")):
    case(f"looks_{name}", looks, "races|unsupported never=ok", (3,), dict(cnt=zeros(2), x=T("i32", 2), u=T("i32", 3), KIND=kind, V=v))
case("looks_add", looks, "ok T1-launch", (2,), dict(cnt=zeros(2), x=T("i32", 2), u=T("i32", 3), KIND=2, V=1))


# ---- a barrier of the grid whose counter wraps: the half of its range that it is in says which round it is ------------------------
@triton.jit
def flips(a, b, cnt, ROUNDS: tl.constexpr, SEM: tl.constexpr, ACQ: tl.constexpr, MISS: tl.constexpr, BIT: tl.constexpr, PRE: tl.constexpr,
          POST: tl.constexpr, BODY: tl.constexpr, SECOND: tl.constexpr, B: tl.constexpr):
    """Program 0 adds half the range less what the others add, so that the top bit turns when the last one has come."""
    pid = tl.program_id(0)
    g = tl.num_programs(0)
    i = pid * B + tl.arange(0, B)
    word = cnt.to(tl.pointer_type(tl.uint32), bitcast=True)
    for r in range(ROUNDS):
        for half in tl.static_range(2):
            if half == 0:
                tl.store(b + i, tl.load(a + (i + B) % (B * g)) + 1)  # @W
            else:
                tl.store(a + i, tl.load(b + (i + B) % (B * g)) + 1)  # @U
            if half == 0 or SECOND:
                if PRE:
                    tl.debug_barrier()
                part = tl.where(pid == 0, 0x80000000 - (g - 1 - MISS).to(tl.uint32), 1)
                mine = tl.atomic_add(word, part.to(tl.uint32), sem=SEM)
                if BODY:
                    turned = False
                    while not turned:
                        turned = ((mine ^ tl.atomic_add(word, 0, sem=ACQ)) & BIT) != 0
                else:
                    while ((mine ^ tl.atomic_add(word, 0, sem=ACQ)) & BIT) == 0:
                        pass
                if POST:
                    tl.debug_barrier()


def flips_args(n=4, start=0, **kw):
    return dict(dict(a=T("i32", 64 * n), b=T("i32", 64 * n), cnt=T("i32", 1, values=[start]), ROUNDS=1, SEM="release", ACQ="acquire", MISS=0,
                     BIT=0x80000000, PRE=True, POST=True, BODY=True, SECOND=True, B=64), **kw)


LOW = -2**31
case("flips_one", flips, "ok T1-launch qual=termination qual=reads", (4,), flips_args(SECOND=False))
case("flips", flips, "ok T1-launch", (4,), flips_args())
case("flips_poll_first", flips, "ok T1-launch", (4,), flips_args(BODY=False))
case("flips_rounds", flips, "ok T1-launch", (4,), flips_args(ROUNDS=3))
case("flips_alone", flips, "ok", (1,), flips_args(1, ROUNDS=2))
case("flips_132", flips, "ok T1-launch", (132,), flips_args(132))
case("flips_started", flips, "ok T1-launch", (4,), flips_args(start=LOW))
for name, kw in (("miss", dict(MISS=1)), ("more", dict(MISS=-1)), ("other_bit", dict(BIT=0x40000000)), ("low_bit", dict(BIT=1)), ("all_bits", dict(BIT=0xFFFFFFFF)),
                 ("relaxed", dict(SEM="relaxed")), ("relaxed_wait", dict(ACQ="relaxed")), ("no_pre", dict(PRE=False)),
                 ("no_post", dict(POST=False)), ("started_one", dict(start=1)), ("started_before", dict(start=-1)), ("unknown", dict(cnt=T("i32", 1)))):
    case(f"flips_{name}", flips, "races|unsupported|vacuous never=ok", (4,), flips_args(**kw))
    case(f"flips_rounds_{name}", flips, "races|unsupported|vacuous never=ok", (4,), flips_args(ROUNDS=2, BODY=False, **kw))
case("flips_loop_one_of_two", flips, "races|unsupported|vacuous never=ok", (4,), flips_args(ROUNDS=2, SECOND=False))


# ---- a barrier of the grid by tickets: who draws number o waits until the counter is at the next multiple of the programs ------------
@triton.jit
def tickets(a, b, cnt, ROUNDS: tl.constexpr, SEM: tl.constexpr, LESS: tl.constexpr, KIND: tl.constexpr, PRE: tl.constexpr, POST: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    g = tl.num_programs(0)
    i = pid * B + tl.arange(0, B)
    for r in range(2 * ROUNDS):
        tl.store(b + (r % 2) * B * g + i, i + r)  # @P
        if PRE:
            tl.debug_barrier()
        mine = tl.atomic_add(cnt, 1, sem=SEM)
        if KIND == 0:
            goal = (mine // (g - LESS) + 1) * (g - LESS)
            while tl.atomic_add(cnt, 0, sem="acquire") < goal:
                pass
        else:
            while tl.atomic_add(cnt, 0, sem="acquire") // (g - LESS) == mine // (g - LESS):
                pass
        if POST:
            tl.debug_barrier()
        tl.store(a + r * B * g + i, tl.load(b + (r % 2) * B * g + (i + B) % (B * g)))  # @R


def tickets_args(n=4, start=0, **kw):
    return dict(dict(a=T("i32", 64 * n * 4), b=T("i32", 128 * n), cnt=T("i32", 1, values=[start]), ROUNDS=2, SEM="release", LESS=0, KIND=0, PRE=True, POST=True,
                     B=64), **kw)


for kind, name in enumerate(("tickets", "tickets_quotient")):
    case(name, tickets, "ok T1-launch qual=termination", (4,), tickets_args(KIND=kind))
    case(f"{name}_later", tickets, "ok T1-launch", (4,), tickets_args(KIND=kind, start=8))
    for other, kw in (("less", dict(LESS=1)), ("started", dict(start=1)), ("relaxed", dict(SEM="relaxed")), ("no_pre", dict(PRE=False)), ("no_post", dict(POST=False)),
                      ("end", dict(start=2**31 - 3))):
        case(f"{name}_{other}", tickets, "races|unsupported|vacuous never=ok", (4,), tickets_args(KIND=kind, **kw))


@triton.jit
def over(x, y, c, d, some, KIND: tl.constexpr, SEM: tl.constexpr):
    """Program 0 writes x and adds to a counter, program 2 waits for the counter and reads x. KIND 0, 1: the others lead it over the end of its
    range; 2, 3: program 2 takes away first what program 0 adds; 4: what it drew elsewhere decides;
    5: its own addition is enough."""
    pid = tl.program_id(0)
    if pid == 0:
        tl.store(x, 1)  # @P
        tl.debug_barrier()
        if KIND < 2:
            tl.atomic_add(c, -2147483646, sem="release")
        elif KIND < 4:
            tl.atomic_add(c, 8, sem="release")
        else:
            tl.atomic_add(d, 1, sem="release")
    elif pid == 1:
        tl.atomic_add(c, KIND != 1, sem="relaxed")
    elif pid == 2:
        if KIND < 2:
            tl.atomic_add(c, 1, sem="relaxed")
            while tl.atomic_add(c, 0, sem="acquire") > 1:
                pass
        elif KIND < 4:
            tl.atomic_add(c, -8, mask=(tl.load(some) == 1) | (KIND == 3), sem="relaxed")
            while tl.atomic_add(c, 0, sem="acquire") < 2147483645:
                pass
        else:
            mine = tl.atomic_add(d, 1, sem=SEM)
            if KIND == 4:
                while mine + tl.atomic_add(c, 0, sem="acquire") < 2:
                    pass
            else:
                while tl.atomic_add(d, 0, sem="acquire") < 1 + mine:
                    pass
        tl.debug_barrier()
        tl.store(y, tl.load(x))  # @R
    elif KIND == 4:
        mine = tl.atomic_add(d, 0, sem="relaxed")
        while mine + tl.atomic_add(d, 0, sem="acquire") < 1:
            pass


def over_args(kind, start, **kw):
    return dict(dict(x=T("i32", 1), y=T("i32", 1), c=T("i32", 1, values=[start]), d=zeros(1), some=T("i32", 1), KIND=kind, SEM="relaxed"), **kw)


case("over_end", over, "races|unsupported never=ok", (3,), over_args(0, 2**31 - 2))
case("over_below_end", over, "ok T1-launch", (3,), over_args(1, 2**31 - 2))
case("over_perhaps", over, "races|unsupported never=ok", (3,), over_args(2, 2**31 - 2))
case("over_taken", over, "ok T1-launch", (3,), over_args(3, 2**31 - 2))
case("over_own", over, "races|unsupported never=ok", (3,), over_args(5, 0))
case("over_elsewhere", over, "races|unsupported never=ok", (4,), over_args(4, 0))


# ---- a barrier of the grid with a generation: the last one that arrives sets the counter back and opens the gate ------------------------
@triton.jit
def generations(a, b, cnt, gen, ROUNDS: tl.constexpr, ALL: tl.constexpr, LAST: tl.constexpr, SEM: tl.constexpr, OPEN: tl.constexpr, ACQ: tl.constexpr, PRE: tl.constexpr,
                MID: tl.constexpr, POST: tl.constexpr, RESET: tl.constexpr, B: tl.constexpr):
    """ALL: the last one looks at the gate, too; else it passes by."""
    pid = tl.program_id(0)
    g = tl.num_programs(0)
    i = pid * B + tl.arange(0, B)
    for r in range(ROUNDS):
        tl.store(b + r * B * g + i, i)  # @P
        mine = tl.atomic_add(gen, 0, sem="relaxed")
        if PRE:
            tl.debug_barrier()
        o = tl.atomic_add(cnt, 1, sem=SEM)
        if MID:
            tl.debug_barrier()
        if o == g - LAST:
            if RESET:
                tl.atomic_xchg(cnt, 0, sem="relaxed")
            tl.atomic_add(gen, 1, sem=OPEN)
        elif not ALL:
            while tl.atomic_add(gen, 0, sem=ACQ) == mine:
                pass
        if ALL:
            while tl.atomic_add(gen, 0, sem=ACQ) == mine:
                pass
        if POST:
            tl.debug_barrier()
        tl.store(a + r * B * g + i, tl.load(b + r * B * g + (i + B) % (B * g)))  # @R


def generations_args(n=4, **kw):
    return dict(dict(a=T("i32", 128 * n), b=T("i32", 128 * n), cnt=zeros(1), gen=zeros(1), ROUNDS=1, ALL=False, LAST=1, SEM="acq_rel", OPEN="release", ACQ="acquire",
                     PRE=True, MID=True, POST=True, RESET=True, B=64), **kw)


case("generations", generations, "ok T1-launch", (4,), generations_args())
case("generations_32", generations, "ok T1-launch", (32,), generations_args(32))
case("generations_all", generations, "ok T1-launch", (4,), generations_args(ALL=True))
case("generations_never", generations, "vacuous|unsupported|ok", (4,), generations_args(LAST=0))      # nobody comes to the reads
case("generations_no_reset", generations, "ok T1-launch", (4,), generations_args(RESET=False))
for name, kw in (("early", dict(LAST=2)), ("arrives_relaxed", dict(SEM="relaxed")), ("arrives_release", dict(SEM="release")), ("arrives_acquire", dict(SEM="acquire")),
                 ("opens_relaxed", dict(OPEN="relaxed")), ("wait_relaxed", dict(ACQ="relaxed")), ("no_pre", dict(PRE=False)), ("no_mid", dict(MID=False)), ("no_post", dict(POST=False)),
                 ("started", dict(cnt=T("i32", 1, values=[1]))), ("unknown", dict(cnt=T("i32", 1))), ("twice", dict(ROUNDS=2)), ("twice_no_reset", dict(ROUNDS=2, RESET=False))):
    case(f"generations_{name}", generations, "races|unsupported|vacuous never=ok", (4,), generations_args(**kw))


@triton.jit
def passes(a, b, cnt, gen, some, MODE: tl.constexpr, SEM: tl.constexpr):
    """Program 0 opens the gate when all have come. Who comes last need not wait (MODE 0); 1: nor need who comes first; 2: perhaps nobody waits."""
    pid = tl.program_id(0)
    g = tl.num_programs(0)
    tl.store(b + pid, pid)  # @P
    tl.debug_barrier()
    o = tl.atomic_add(cnt, 1, sem=SEM)
    tl.debug_barrier()
    if pid == 0:
        while tl.atomic_add(cnt, 0, sem="acquire") < g:
            pass
        tl.debug_barrier()
        tl.atomic_add(gen, 1, sem="release")
    if (o < g - 1) & (o >= MODE % 2):
        if MODE < 2 or tl.load(some) == 0:
            while tl.atomic_add(gen, 0, sem="acquire") == 0:
                pass
    tl.debug_barrier()
    tl.store(a + pid, tl.load(b + (pid + 1) % g))  # @R


for mode, sem, name, expect in ((0, "acq_rel", "passes", "ok T1-launch"), (0, "release", "passes_release", ""), (1, "acq_rel", "passes_first", ""), (2, "acq_rel", "passes_perhaps", "")):
    case(name, passes, expect or "races|unsupported never=ok", (4,), dict(a=T("i32", 4), b=T("i32", 4), cnt=zeros(1), gen=zeros(1), some=T("i32", 1), MODE=mode, SEM=sem))


# ---- what a wait compares with must be what it is in every execution ---------------------------------------------------
@triton.jit
def overtaken(x, y, some, f, h, KIND: tl.constexpr):
    """Program 1 waits for program 0, which changes a word (KIND 0: a store, else an atomic) that decides whether it waits for program 2, too: it never
    does, whatever the word held at the launch. 0, 1: by a branch; 2: beside what an atomic returned; 3: as the bound."""
    pid = tl.program_id(0)
    if pid == 0:
        if KIND == 0:
            tl.store(some, 1)
        else:
            tl.atomic_add(some, 1, sem="relaxed")
        tl.debug_barrier()
        tl.atomic_add(f, 1, sem="release")
    elif pid == 1:
        while tl.atomic_add(f, 0, sem="acquire") < 1:
            pass
        tl.debug_barrier()
        s = tl.load(some)
        if KIND == 2:
            mine = tl.atomic_add(h, 0, sem="relaxed")
            while (mine ^ tl.atomic_add(h, 0, sem="acquire")) + s < 1:
                pass
        elif KIND == 3:
            while tl.atomic_add(h, 0, sem="acquire") < 1 - s:
                pass
        elif s == 0:
            while tl.atomic_add(h, 0, sem="acquire") < 1:
                pass
        tl.debug_barrier()
        tl.store(y, tl.load(x))  # @R
    else:
        tl.store(x, 1)  # @P
        tl.debug_barrier()
        tl.atomic_add(h, 1, sem="release")


for kind, name in enumerate(("store", "atomic", "beside", "bound")):
    case(f"overtaken_{name}", overtaken, "races *:R:P/programs" + (" by=z3" if name == "beside" else ""), (3,),
         dict(x=T("i32", 1), y=T("i32", 1), some=zeros(1), f=zeros(1), h=zeros(1), KIND=kind))


@triton.jit(noinline=True)
def turn_of(word, part):
    tl.debug_barrier()
    mine = tl.atomic_add(word, part, sem="release")
    while ((mine ^ tl.atomic_add(word, 0, sem="acquire")) & -2147483648) == 0:
        pass
    tl.debug_barrier()
    return mine


@triton.jit
def called(a, b, cnt, KIND: tl.constexpr, B: tl.constexpr):
    """The barrier of `flips` in a function. The second one: KIND 0 the same again; 1: compares with what the first one drew; 2: turns what it drew."""
    pid = tl.program_id(0)
    g = tl.num_programs(0)
    i = pid * B + tl.arange(0, B)
    part = tl.where(pid == 0, -2147483648 - (g - 1), 1).to(tl.int32)
    tl.store(b + i, i)
    mine = turn_of(cnt, part)
    tl.store(a + i, tl.load(b + (i + B) % (B * g)))  # @W
    if KIND == 0:
        turn_of(cnt, part)
    else:
        tl.debug_barrier()
        drawn = tl.atomic_add(cnt, part, sem="release")
        if KIND == 1:
            while ((mine ^ tl.atomic_add(cnt, 0, sem="acquire")) & -2147483648) == 0:
                pass
        else:
            while ((drawn ^ tl.atomic_add(cnt, 0, sem="acquire")) & -2147483648) == 0:
                drawn = drawn ^ -2147483648
        tl.debug_barrier()
    tl.store(b + i, tl.load(a + (i + B) % (B * g)))  # @R


for kind, name, expect in ((0, "called", "ok T1-launch"), (1, "called_stale", ""), (2, "called_carried", "")):
    case(name, called, expect or "races|unsupported never=ok", (4,), dict(a=T("i32", 256), b=T("i32", 256), cnt=zeros(1), KIND=kind, B=64))


# ---- decoupled look-back: not ready, the sum of one tile, the sum of all before; how far a program looks back rests on what it sees -----------
@triton.jit
def look_back(x, flag, agg, pre, out, SEM: tl.constexpr, ACQ: tl.constexpr, BAR: tl.constexpr, POST: tl.constexpr, NEXT: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    v = tl.load(x + pid * B + lane)
    s = tl.sum(v, axis=0)
    tl.store(agg + pid, s)  # @A
    if BAR:
        tl.debug_barrier()
    tl.atomic_xchg(flag + pid, 1, sem=SEM)
    ex = 0
    j = pid - 1
    while j >= 0:
        f = tl.atomic_add(flag + j, 0, sem=ACQ)
        while f == 0:
            f = tl.atomic_add(flag + j, 0, sem=ACQ)
        if POST:
            tl.debug_barrier()
        if f == NEXT:
            ex += tl.load(pre + j)  # @R
            j = -1
        else:
            ex += tl.load(agg + j)  # @Q
            j -= 1
    tl.store(pre + pid, ex + s)  # @P
    tl.debug_barrier()
    tl.atomic_xchg(flag + pid, 2, sem=SEM)
    tl.store(out + pid * B + lane, tl.cumsum(v, axis=0) + ex)


def back_args(n=4, **kw):
    return dict(dict(x=T("i32", 64 * n), flag=zeros(n), agg=T("i32", n), pre=T("i32", n), out=T("i32", 64 * n), SEM="release", ACQ="acquire", BAR=True, POST=True,
                     NEXT=2, B=64), **kw)


case("look_back", look_back, "unsupported|ok", (4,), back_args())
case("look_back_8", look_back, "unsupported|ok", (8,), back_args(8))
case("look_back_relaxed", look_back, "races *:A:Q/programs *:R:P/programs", (4,), back_args(SEM="relaxed"))
case("look_back_relaxed_wait", look_back, "races *:A:Q/programs *:R:P/programs", (4,), back_args(ACQ="relaxed"))
case("look_back_no_pre", look_back, "races *:A:Q/programs", (4,), back_args(BAR=False))
case("look_back_no_post", look_back, "races *:A:Q/programs *:R:P/programs", (4,), back_args(POST=False))
case("look_back_early", look_back, "races *:R:P/programs", (4,), back_args(NEXT=1))
