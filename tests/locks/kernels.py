"""Spin locks: sections in loops, several sections at one lock, locks chosen by the iteration. Each safe kernel stands beside twins that differ in
one token. All verdicts are for --atomic-order=strict unless the case says otherwise."""
from cases import T, case, load_triton

triton, tl = load_triton()
CTA = ["--atomic-order=cta"]


def zeros(n):
    return T("i32", n, values=[0] * n)


# ---- rows dealt to the programs, partial sums of a group under its lock (layer norm backward as a persistent kernel) ---------------
@triton.jit
def rows(dy, dw, lock, rows, cols, GROUP: tl.constexpr, ACQ: tl.constexpr, REL: tl.constexpr, PRE: tl.constexpr, POST: tl.constexpr, OTHER: tl.constexpr,
         SHARE: tl.constexpr, WANT: tl.constexpr, PLAIN: tl.constexpr, TWICE: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    keep = lane < cols
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        mine = lock + row % GROUP
        at = dw + (row % GROUP) // SHARE * cols + lane
        part = tl.load(dy + row * cols + lane, mask=keep, other=0)
        while tl.atomic_cas(mine, 0, 1, sem=ACQ) != WANT:
            pass
        if PRE:
            tl.debug_barrier()
        part += tl.load(at, mask=keep)  # @L
        tl.store(at, part, mask=keep)  # @S
        if POST:
            tl.debug_barrier()
        if PLAIN:
            tl.store(mine, 0)
        else:
            tl.atomic_xchg(lock + (row + OTHER) % GROUP, 0, sem=REL)
        if TWICE:
            tl.atomic_xchg(mine, 0, sem=REL)


def rows_args(**kw):
    return dict(dict(dy=T("i32", 60 * 24), dw=T("i32", 60 * 4), lock=zeros(4), rows=24, cols=60, GROUP=4, ACQ="acquire", REL="release", PRE=True, POST=True,
                     OTHER=0, SHARE=1, WANT=0, PLAIN=False, TWICE=False, B=64), **kw)


BOTH = "*:L:S/programs WAW:S:S/programs"
case("rows", rows, "ok T1 qual=termination qual=reads", (6,), rows_args())
case("rows_one_lock", rows, "ok T1", (6,), rows_args(GROUP=1))
case("rows_large", rows, "ok T1 by=z3", (300,), rows_args(rows=4096, dy=T("i32", 60 * 4096), GROUP=64, lock=zeros(64), dw=T("i32", 60 * 64)))
case("rows_relaxed", rows, f"races {BOTH}", (6,), rows_args(ACQ="relaxed"))
case("rows_relaxed_release", rows, f"races {BOTH}", (6,), rows_args(REL="relaxed"))
case("rows_no_pre", rows, f"races {BOTH}", (6,), rows_args(PRE=False))
case("rows_no_post", rows, f"races {BOTH}", (6,), rows_args(POST=False))
case("rows_share", rows, f"races {BOTH}", (6,), rows_args(SHARE=2))
case("rows_twice", rows, f"races {BOTH}", (6,), rows_args(TWICE=True))
for name, kw in (("other", dict(OTHER=1)), ("never", dict(WANT=1)), ("plain", dict(PLAIN=True)), ("set", dict(lock=T("i32", 4, values=[0, 0, 1, 0]))),
                 ("all_set", dict(lock=T("i32", 4, values=[1] * 4))), ("unknown", dict(lock=T("i32", 4)))):
    case(f"rows_{name}", rows, "races|unsupported|vacuous never=ok", (6,), rows_args(**kw))
case("rows_cta", rows, "ok T1 qual=atomic", (6,), rows_args(PRE=False, POST=False), options=CTA)
case("rows_cta_3.9.0", rows, "ok T1 qual=atomic", (6,), rows_args(PRE=False, POST=False), options=["--atomic-order=auto"], triton="3.9.0")
case("rows_cta_3.8.0", rows, "ok T1 qual=atomic", (6,), rows_args(PRE=False), options=["--atomic-order=auto"], triton="3.8.0")
case("rows_cta_3.8.0_no_post", rows, "races|unsupported never=ok", (6,), rows_args(PRE=False, POST=False), options=["--atomic-order=auto"], triton="3.8.0")
case("rows_cta_relaxed", rows, "races|unsupported never=ok", (6,), rows_args(PRE=False, POST=False, REL="relaxed"), options=CTA)


# ---- several sections at one lock; sections that are not what they seem ---------------------------------------------------
@triton.jit
def sections(x, y, lock, some, KIND: tl.constexpr):
    """Each program changes x under the lock. KIND 0 to 4 are right."""
    pid = tl.program_id(0)
    if KIND == 7:                                 # somebody opens it from outside
        if pid == 0:
            tl.atomic_xchg(lock, 0, sem="release")
    if KIND == 8:                                 # or sets it back by an addition
        if tl.load(some) == 1:
            tl.atomic_add(lock, -1, sem="release")
    if KIND == 9:                                 # an acquire that nobody gives back, in one program
        if pid == 0:
            while tl.atomic_cas(lock, 0, 1, sem="acquire") != 0:
                pass
    for k in range(3):
        while tl.atomic_cas(lock, 0, 1, sem="acquire") != 0:
            pass
        tl.debug_barrier()
        if KIND == 5:                             # the section ends before its last access
            tl.store(y, tl.load(x))  # @A
            tl.debug_barrier()
            tl.atomic_xchg(lock, 0, sem="release")
            tl.debug_barrier()
            tl.store(x, k)  # @B
        elif KIND == 6:                           # it is given back on one path only
            tl.store(x, tl.load(x) + 1)
            tl.debug_barrier()
            if tl.load(some) == 1:
                tl.atomic_xchg(lock, 0, sem="release")
        elif KIND == 4:                           # an inner loop stands in the section
            for j in range(4):
                tl.store(x + j, tl.load(x + j) + 1)
            tl.debug_barrier()
            tl.atomic_xchg(lock, 0, sem="release")
        elif KIND == 3:                           # given back by a compare-and-swap
            tl.store(x, tl.load(x) + 1)
            tl.debug_barrier()
            tl.atomic_cas(lock, 1, 0, sem="release")
        elif KIND == 10:                          # by one that compares with another value
            tl.store(x, tl.load(x) + 1)
            tl.debug_barrier()
            tl.atomic_cas(lock, 2, 0, sem="release")
        elif KIND == 11:                          # twice: the second may open what another program holds
            tl.store(x, tl.load(x) + 1)  # @W
            tl.debug_barrier()
            tl.atomic_xchg(lock, 0, sem="release")
            tl.atomic_xchg(lock, 0, sem="release")
        else:
            tl.store(x, tl.load(x) + 1)  # @S
            tl.debug_barrier()
            tl.atomic_xchg(lock, 0, sem="release")
        if KIND == 2:                             # a second section in the same iteration
            while tl.atomic_cas(lock, 0, 1, sem="acquire") != 0:
                pass
            tl.debug_barrier()
            tl.store(x, tl.load(x) * 2)
            tl.debug_barrier()
            tl.atomic_xchg(lock, 0, sem="release")
    if KIND == 1 or KIND == 12:                   # another section behind the loop
        while tl.atomic_cas(lock, 0, 1, sem="acquire") != 0:
            pass
        if KIND == 1:
            tl.debug_barrier()
        tl.store(y, tl.load(x))  # @T
        tl.debug_barrier()
        tl.atomic_xchg(lock, 0, sem="release")
    if KIND == 13:                                # one that stands under another lock
        while tl.atomic_cas(lock + 1, 0, 1, sem="acquire") != 0:
            pass
        tl.debug_barrier()
        tl.store(y, tl.load(x))  # @V
        tl.debug_barrier()
        tl.atomic_xchg(lock + 1, 0, sem="release")


for kind in range(14):
    expect = "ok T1 qual=termination" if kind < 5 else "races|unsupported|vacuous never=ok"
    case(f"sections_{kind}", sections, "races RAW:S:T/programs WAW:T:T/programs" if kind == 12 else "races *:S:V/programs" if kind == 13 else "races *:W:W/programs" if kind == 11 else expect, (4,),
         dict(x=T("i32", 4), y=T("i32", 1), lock=zeros(2), some=T("i32", 1), KIND=kind))


# ---- while loops that draw their tiles; locks inside nested loops ------------------------------------------------------------
@triton.jit
def drawn(head, lock, hist, idx, n, REL: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    t = tl.atomic_add(head, 1)
    while t < n:
        while tl.atomic_cas(lock, 0, 1, sem="acquire") != 0:
            pass
        tl.debug_barrier()
        tl.store(hist + lane, tl.load(hist + lane) + t)  # @S
        tl.debug_barrier()
        tl.atomic_xchg(lock, 0, sem=REL)
        t = tl.atomic_add(head, 1)


case("drawn", drawn, "ok qual=termination", (4,), dict(head=zeros(1), lock=zeros(1), hist=T("i32", 64), idx=T("i32", 64), n=12, REL="release", B=64))
case("drawn_relaxed", drawn, "races|unsupported never=ok", (4,), dict(head=zeros(1), lock=zeros(1), hist=T("i32", 64), idx=T("i32", 64), n=12, REL="relaxed", B=64))


@triton.jit
def inner(x, lock, N: tl.constexpr, M: tl.constexpr, STEP: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    for i in range(N):
        for j in range(M):
            while tl.atomic_cas(lock + i * M + j, 0, 1, sem="acquire") != 0:
                pass
            tl.debug_barrier()
            at = x + (i * M + j) * STEP + lane
            tl.store(at, tl.load(at) + 1)  # @S
            tl.debug_barrier()
            tl.atomic_xchg(lock + i * M + j, 0, sem="release")


case("inner", inner, "ok T1 qual=termination", (4,), dict(x=T("i32", 640), lock=zeros(6), N=2, M=3, STEP=64, B=64))
case("inner_overlap", inner, "races *:S:S/programs", (4,), dict(x=T("i32", 640), lock=zeros(6), N=2, M=3, STEP=32, B=64))


# ---- locks that data choose, two locks, branches: what is stored must stand under the lock of the same cell ---------------------------
@triton.jit
def enter(cell):
    while tl.atomic_cas(cell, 0, 1, sem="acquire") != 0:
        pass


@triton.jit
def leave(cell):
    tl.atomic_xchg(cell, 0, sem="release")


@triton.jit
def chosen(x, y, lock, other, idx, idx2, n, turns, KIND: tl.constexpr, B: tl.constexpr):
    """KIND 0 to 6 are right (5 and 6 are not always shown)."""
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    k = tl.load(idx + pid * n)
    p = lock
    for i in range(n):
        if KIND == 0 or KIND == 7:                # the lock and the element by one table; 7: by two
            j = tl.load(idx + pid * n + i)
            e = tl.load(idx2 + pid * n + i) if KIND == 7 else j
            enter(lock + j)
            tl.debug_barrier()
            tl.store(x + e, tl.load(x + e) + 1)
            tl.debug_barrier()
            leave(lock + j)
        elif KIND == 1 or KIND == 8:              # the index comes from the turn before; 8: the element is the next one's
            enter(lock + k)
            tl.debug_barrier()
            j = tl.load(idx + pid * n + i + 1)
            e = j if KIND == 8 else k
            tl.store(x + e, tl.load(x + e) + 1)
            tl.debug_barrier()
            leave(lock + k)
            k = j
        elif KIND == 2 or KIND == 9:              # a pointer that moves; 9: before the lock is given back
            enter(p)
            tl.debug_barrier()
            tl.store(x + i, tl.load(x + i) + 1)
            tl.debug_barrier()
            if KIND == 9:
                p += 1
            leave(p)
            if KIND == 2:
                p += 1
        elif KIND == 3 or KIND == 10:             # hand over hand; 10: the last store stands behind both
            enter(lock)
            tl.debug_barrier()
            enter(other)
            tl.debug_barrier()
            tl.store(x, i)
            tl.debug_barrier()
            leave(lock)
            if KIND == 3:
                tl.store(y, i)
            tl.debug_barrier()
            leave(other)
            if KIND == 10:
                tl.store(y, i)
        elif KIND == 4 or KIND == 11:             # downwards; 11: an element that two locks share
            at = n - 1 - i
            enter(lock + at)
            tl.debug_barrier()
            e = at // 2 if KIND == 11 else at
            tl.store(x + e, tl.load(x + e) + 1)
            tl.debug_barrier()
            leave(lock + at)
        elif KIND == 5 or KIND == 12:             # under a branch; 12: the other branch stores without it
            if (i + pid) % 2 == 0:
                enter(lock)
                tl.debug_barrier()
                tl.store(x, tl.load(x) + 1)
                tl.debug_barrier()
                leave(lock)
            elif KIND == 12:
                tl.store(x, 5)
        elif KIND == 6:                           # taken without waiting, too
            enter(lock)
            tl.debug_barrier()
            tl.store(x, tl.load(x) + 1)
            tl.debug_barrier()
            leave(lock)
            if tl.atomic_cas(lock, 0, 1, sem="acquire") == 0:
                tl.debug_barrier()
                tl.store(x, 2)
                tl.debug_barrier()
                leave(lock)
        elif KIND == 13:                          # the barrier is in a loop of no turns
            enter(lock)
            for _ in range(turns):
                tl.debug_barrier()
            tl.store(x, tl.load(x) + 1)
            tl.debug_barrier()
            leave(lock)
        elif KIND == 14:                          # the branch holds the ends only
            if (i + pid) % 2 == 0:
                enter(lock)
            tl.debug_barrier()
            tl.store(x, tl.load(x) + 1)
            tl.debug_barrier()
            if (i + pid) % 2 == 0:
                leave(lock)
        elif KIND == 15:                          # read under the lock, written behind it
            enter(lock)
            tl.debug_barrier()
            v = tl.load(x)
            tl.debug_barrier()
            leave(lock)
            tl.store(x, v + 1)
        elif KIND == 16:                          # each half of the programs takes the other lock
            l = tl.where(pid % 2 == 0, i % 2, 1 - i % 2)
            enter(lock + l)
            tl.debug_barrier()
            tl.store(x + i % 2, tl.load(x + i % 2) + 1)
            tl.debug_barrier()
            leave(lock + l)
        elif KIND == 17:                          # the index is written in the section and read again at its end
            enter(lock + tl.load(idx))
            tl.debug_barrier()
            tl.store(x, tl.load(x) + 1)
            tl.store(idx, 1)
            tl.debug_barrier()
            leave(lock + tl.load(idx))
        elif KIND == 18:                          # somebody sets every lock free
            enter(lock)
            tl.debug_barrier()
            tl.store(x, tl.load(x) + 1)
            tl.debug_barrier()
            leave(lock)
            if pid == 0:
                tl.atomic_and(lock, 0, sem="release")
        elif KIND == 19:                          # lanes in one section
            enter(lock)
            tl.debug_barrier()
            v = tl.load(x + B - 1 - lane)
            tl.store(x + lane, v)
            tl.debug_barrier()
            leave(lock)


def chosen_args(**kw):
    return dict(dict(x=T("i32", 64), y=T("i32", 64), lock=zeros(64), other=zeros(64), idx=T("i32", 64), idx2=T("i32", 64), n=4, turns=0, KIND=0, B=64), **kw)


for kind in range(20):
    expect = "ok T1 qual=termination" if kind < 5 else "ok|unsupported" if kind < 7 else "races|unsupported|vacuous never=ok"
    case(f"chosen_{kind}", chosen, expect, (4,), chosen_args(KIND=kind))
case("chosen_13_one", chosen, "ok|unsupported", (4,), chosen_args(KIND=13, turns=1))
case("chosen_3_alias", chosen, "ok|unsupported|vacuous", (4,), chosen_args(KIND=3, other=T("i32", 63, of="lock", at=4)))
case("chosen_3_beside", chosen, "races|unsupported|vacuous never=ok", (4,), chosen_args(KIND=3, y=T("i32", 64, of="lock", at=0)))
