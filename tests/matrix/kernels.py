"""Rows of the test matrix and pitfalls that no other suite holds: each a racing kernel and its twin. Names tNN are rows
of the matrix, pNN pitfalls; rows.toml and pitfalls.toml say which kernel serves which row. All for --atomic-order=strict."""
from cases import T, case, load_triton

triton, tl = load_triton()


def zeros(n):
    return T("i32", n, values=[0] * n)


def ints(*values):
    return T("i32", len(values), values=list(values))


# ---- T02: a tile read one program further ---------------------------------------------------------------------------
@triton.jit
def t02(x, y, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i + B)  # @L
    tl.store(y + i, v)  # @S


case("t02_race", t02, "races WAR:L:S/programs", (4,), dict(x=T("i32", 320), y=T("i32", 320, of="x"), B=64))
case("t02_safe", t02, "ok T0", (4,), dict(x=T("i32", 320), y=T("i32", 256), B=64))


# ---- T11: one element of a stored tile ------------------------------------------------------------------------------
@triton.jit
def t11(h, y, BAR: tl.constexpr, B: tl.constexpr):
    tl.store(h + tl.arange(0, B), 1)  # @S
    if BAR:
        tl.debug_barrier()
    tl.store(y, tl.load(h + tl.program_id(0)))  # @L


case("t11_race", t11, "races RAW:S:L/threads", (1,), dict(h=T("i32", 64), y=T("i32", 1), BAR=False, B=64))
case("t11_safe", t11, "ok", (1,), dict(h=T("i32", 64), y=T("i32", 1), BAR=True, B=64))


# ---- T14, T19: the twins with one token -----------------------------------------------------------------------------
@triton.jit
def t14(x, y, INPLACE: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    s = tl.sum(tl.load(x + lane), axis=0)  # @L
    tl.store((x if INPLACE else y) + lane, s + lane)  # @S


case("t14_race", t14, "races WAR:L:S/threads", (1,), dict(x=T("i32", 64), y=T("i32", 64), INPLACE=True, B=64))
case("t14_safe", t14, "ok T0", (1,), dict(x=T("i32", 64), y=T("i32", 64), INPLACE=False, B=64))


# ---- T16: the loop of another access --------------------------------------------------------------------------------
@triton.jit
def t16(p, q, n, BACK: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    acc = tl.zeros([B], dtype=tl.int32)
    for k in range(n):
        acc += tl.load(q + k)
    for k in range(1):
        tl.store(p + i, tl.load(p + i) + acc)  # @S
    if BACK:
        for k in range(n):
            tl.store(p + i + k, acc)  # @T


case("t16_race", t16, "races *:S:T/threads *:S:T/programs *:T:T/threads *:T:T/programs", (4,),
     dict(p=T("i32", 264), q=T("i32", 8), n=4, BACK=True, B=64))
case("t16_safe", t16, "ok T0", (4,), dict(p=T("i32", 264), q=T("i32", 8), n=4, BACK=False, B=64))


# ---- T22: strides of the grid ---------------------------------------------------------------------------------------
@triton.jit
def t22(out, n, W: tl.constexpr, B: tl.constexpr):
    for t in range(tl.program_id(0), n, tl.num_programs(0)):
        tl.store(out + t * W + tl.arange(0, B), t)  # @S


case("t22_race", t22, "races WAW:S:S/programs", (3,), dict(out=T("i32", 640), n=10, W=63, B=64), nospec=("n",))
case("t22_safe", t22, "ok T0", (3,), dict(out=T("i32", 640), n=10, W=64, B=64), nospec=("n",))
case("t22_one_program", t22, "races WAW:S:S/threads", (1,), dict(out=T("i32", 640), n=10, W=63, B=64), nospec=("n",))


# ---- T30: a flag that is read and then set takes nobody out ---------------------------------------------------------
@triton.jit
def t30(flag, x, CAS: tl.constexpr):
    if CAS:
        free = tl.atomic_cas(flag, 0, 1, sem="relaxed") == 0
    else:
        free = tl.load(flag) == 0  # @L
        tl.store(flag, 1)  # @F
    if free:
        tl.store(x, tl.program_id(0))  # @S


case("t30_race", t30, "races WAR:L:F/programs WAW:F:F/programs WAR:L:F/threads", (2,), dict(flag=zeros(1), x=T("i32", 1), CAS=False))
case("t30_safe", t30, "ok T1", (2,), dict(flag=zeros(1), x=T("i32", 1), CAS=True))


# ---- T33: the barriers of a hand-over -------------------------------------------------------------------------------
@triton.jit
def t33(flag, data, out, PRE: tl.constexpr, POST: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    if tl.program_id(0) == 0:
        tl.store(data + lane, lane)  # @P
        if PRE:
            tl.debug_barrier()
        tl.atomic_cas(flag, 0, 1, sem="release")
    else:
        o = tl.atomic_cas(flag, 1, 1, sem="acquire")
        if POST:
            tl.debug_barrier()
        if o == 1:
            tl.store(out + tl.program_id(0) * B + lane, tl.load(data + lane))  # @R


def t33_args(**kw):
    return dict(dict(flag=zeros(1), data=T("i32", 64), out=T("i32", 512), PRE=True, POST=True, B=64), **kw)


CTA = ["--atomic-order=cta"]
case("t33_safe", t33, "ok T1 qual=reads", (2,), t33_args())
case("t33_no_pre", t33, "races RAW:P:R/programs why=barrier", (2,), t33_args(PRE=False))
case("t33_no_post", t33, "races RAW:P:R/programs", (2,), t33_args(POST=False))
case("t33_no_pre_cta", t33, "ok T1 qual=atomic", (2,), t33_args(PRE=False), options=CTA)
case("t33_no_post_cta", t33, "ok T1 qual=atomic", (2,), t33_args(POST=False), options=CTA)


# ---- T34, p27: every hop of a release chain needs its scope ---------------------------------------------------------
@triton.jit
def p27(f, x, out, SCOPE: tl.constexpr):
    if tl.program_id(0) == 0:
        tl.store(x, 7)  # @P
        tl.debug_barrier()
        tl.atomic_xchg(f, 1, sem="release")  # @A
    else:
        tl.atomic_cas(f, 1, 2, sem="relaxed", scope=SCOPE)  # @B
        o = tl.atomic_add(f, 0, sem="acquire")
        tl.debug_barrier()
        if o == 2:
            tl.store(out, tl.load(x))  # @R


def p27_args(scope):
    return dict(f=zeros(1), x=T("i32", 1), out=T("i32", 1), SCOPE=scope)


case("p27_race", p27, "races RAW:P:R/programs *:A:B/programs", (2,), p27_args("cta"))
case("p27_safe", p27, "ok T1-launch", (2,), p27_args("gpu"))


# ---- T35: a release sequence goes through read-modify-writes only ---------------------------------------------------
@triton.jit
def t35(f, x, out, PUB: tl.constexpr, MID: tl.constexpr):
    pid = tl.program_id(0)
    if pid == 0:
        tl.store(x, 7)  # @P
        tl.debug_barrier()
        tl.atomic_add(f, 1, sem=PUB)  # @F
    elif pid == 1:
        if MID == 0:
            tl.atomic_add(f, 2, sem="relaxed")
        elif MID == 1:
            tl.atomic_xchg(f, 3, sem="relaxed")
        else:
            tl.store(f, 3)  # @M
    else:
        o = tl.atomic_add(f, 0, sem="acquire")  # @Q
        tl.debug_barrier()
        if o == 3:
            tl.store(out, tl.load(x))  # @R


def t35_args(**kw):
    return dict(dict(f=zeros(1), x=T("i32", 1), out=T("i32", 1), PUB="release", MID=0), **kw)


case("t35_safe", t35, "ok T1-launch", (3,), t35_args())
case("t35_relaxed", t35, "races RAW:P:R/programs", (3,), t35_args(PUB="relaxed"))
case("t35_exchange", t35, "races RAW:P:R/programs", (3,), t35_args(MID=1))          # the 3 is there without the publication
@triton.jit
def t35_own(f, x, out, PUB: tl.constexpr, MID: tl.constexpr):
    if tl.program_id(0) == 0:
        tl.store(x, 7)  # @P
        tl.debug_barrier()
        tl.atomic_add(f, 1, sem=PUB)
    else:
        if MID:
            tl.atomic_add(f, 2, sem="relaxed")
        else:
            tl.atomic_xchg(f, 3, sem="relaxed")
        o = tl.atomic_add(f, 0, sem="acquire")
        tl.debug_barrier()
        if o == 3:
            tl.store(out, tl.load(x))  # @R


def t35_own_args(**kw):
    return dict(dict(f=zeros(1), x=T("i32", 1), out=T("i32", 1), PUB="release", MID=True), **kw)


case("t35_own_safe", t35_own, "ok T1-launch", (2,), t35_own_args())
case("t35_own_relaxed", t35_own, "races RAW:P:R/programs", (2,), t35_own_args(PUB="relaxed"))
case("t35_own_exchange", t35_own, "races RAW:P:R/programs", (2,), t35_own_args(MID=False))
case("t35_store", t35, "races RAW:P:R/programs *:M:Q/programs *:F:M/programs", (3,), t35_args(MID=2))


# ---- T37: the last of four, counted in the text ---------------------------------------------------------------------
@triton.jit
def t37(part, cnt, out):
    pid = tl.program_id(0)
    tl.store(part + pid, pid)  # @P
    tl.debug_barrier()
    o = tl.atomic_add(cnt, 1, sem="acq_rel")
    tl.debug_barrier()
    if o == 3:
        tl.store(out, tl.load(part) + tl.load(part + 1))  # @R


case("t37_safe", t37, "ok T1-launch fragile qual=reads", (4,), dict(part=T("i32", 8), cnt=zeros(1), out=T("i32", 1)))
case("t37_race", t37, "races RAW:P:R/programs", (5,), dict(part=T("i32", 8), cnt=zeros(1), out=T("i32", 1)))


# ---- T43: polls that failed are reads and writes --------------------------------------------------------------------
@triton.jit
def t43(f, y, READ: tl.constexpr):
    if tl.program_id(0) == 0:
        if READ:
            tl.store(y, tl.load(f))  # @L
            tl.debug_barrier()
        tl.atomic_xchg(f, 1, sem="relaxed")  # @X
    else:
        while tl.atomic_add(f, 0, sem="relaxed") != 1:  # @W
            pass
        tl.store(y + 1, 1)


case("t43_read", t43, "races WAR:L:W/programs", (2,), dict(f=zeros(1), y=T("i32", 2), READ=True))
case("t43_safe", t43, "ok T1-launch qual=termination", (2,), dict(f=zeros(1), y=T("i32", 2), READ=False))


# ---- T44, p37: what is awaited wraps --------------------------------------------------------------------------------
@triton.jit
def p37(f, x, out, BIG: tl.constexpr):
    pid = tl.program_id(0)
    if pid == 0:
        tl.store(x, 7)  # @P
        tl.debug_barrier()
        tl.atomic_xchg(f, 1, sem="release")
    elif pid % 3 == 1:
        while tl.atomic_add(f, 0, sem="acquire") != (pid * BIG) // BIG:
            pass
        tl.debug_barrier()
        tl.store(out + pid, tl.load(x))  # @R


case("p37_safe", p37, "ok T1-launch qual=termination", (2,), dict(f=zeros(1), x=T("i32", 1), out=T("i32", 8), BIG=1073741824))
case("p37_wraps", p37, "races|unsupported RAW:P:R/programs alt=integer-overflow never=ok", (5,),
     dict(f=zeros(1), x=T("i32", 1), out=T("i32", 8), BIG=1073741824))


# ---- T46, T81, T85: shapes of spins ---------------------------------------------------------------------------------
@triton.jit
def set_and_poll(f, g):
    tl.store(g + 2, 1)
    return tl.atomic_add(f, 0)


@triton.jit
def t46(f, g, e, out, SHAPE: tl.constexpr):
    if SHAPE == 0:
        while tl.atomic_xor(f, 0) != 1:
            pass
    elif SHAPE == 1:
        while tl.atomic_cas(f, 1, 1) != 1:
            pass
    elif SHAPE == 2:
        while tl.atomic_cas(f, 1, 0) != 1:
            pass
    elif SHAPE == 3:
        while tl.atomic_cas(f, 0, 1) < 1:
            pass
    elif SHAPE == 4:
        while tl.atomic_cas(f, 0, 2) == 0:
            pass
    elif SHAPE == 5:
        while tl.atomic_and(f, 1) != 1:
            pass
    elif SHAPE == 6:
        while tl.atomic_or(f, 2) != 1:
            pass
    elif SHAPE == 7:
        while tl.atomic_add(f, 0) != 1:
            while tl.atomic_add(g, 0) != 1:
                pass
    elif SHAPE == 8:
        while set_and_poll(f, g) != 1:
            pass
    elif SHAPE == 9:
        while tl.atomic_add(e, 0.0) != 1.0:
            pass
    elif SHAPE == 10:
        o = 1
        while o != 0:
            o = tl.atomic_add(f, 0) - o
    elif SHAPE == 11:
        while tl.atomic_max(f, 0) != 1:
            pass
    tl.store(out + tl.program_id(0), 1)


for shape in range(12):
    good = shape < 3
    case(f"t46_{shape}", t46, "ok qual=termination" if good else "unsupported spin-shape never=ok", (1,),
         dict(f=ints(1 if shape in (0, 1, 2, 11) else 0), g=T("i32", 4), e=T("f32", 1), out=T("i32", 4), SHAPE=shape))


# ---- p103, T85: a compare-and-swap that lets its own program pass ---------------------------------------------------
@triton.jit
def t85(f, x, y, KIND: tl.constexpr):
    if tl.program_id(0) == 0:
        tl.store(x, 7)  # @P
        tl.debug_barrier()
        tl.atomic_xchg(f, 1, sem="release")
    else:
        if KIND == 0:
            while tl.atomic_cas(f, 0, 1, sem="acquire") < 1:
                pass
        elif KIND == 1:
            while tl.atomic_cas(f, 0, 2, sem="acquire") == 0:
                pass
        elif KIND == 2:
            while tl.atomic_cas(f, 1, 1, sem="acquire") != 1:
                pass
        elif KIND == 3:
            while tl.atomic_cas(f, 1, 0, sem="acquire") != 1:
                pass
        tl.debug_barrier()
        tl.store(y, tl.load(x))  # @R


for kind in range(4):
    case(f"t85_{kind}", t85, "races|unsupported RAW:P:R/programs alt=spin-shape never=ok" if kind < 2 else "ok T1-launch qual=termination",
         (2,), dict(f=zeros(1), x=T("i32", 1), y=T("i32", 1), KIND=kind))


# the lock that a success takes: cas(f, 0, 1) until it found 0
@triton.jit
def t85_lock(f, x, WANT: tl.constexpr):
    while tl.atomic_cas(f, 0, 1, sem="acquire") != WANT:
        pass
    tl.debug_barrier()
    tl.store(x, tl.program_id(0))  # @S
    tl.debug_barrier()
    tl.atomic_xchg(f, 0, sem="release")


case("t85_lock_safe", t85_lock, "ok T1 qual=termination", (4,), dict(f=zeros(1), x=T("i32", 1), WANT=0))
case("t85_lock_race", t85_lock, "races|unsupported WAW:S:S/programs alt=spin-shape alt=needs-synchronisation never=ok", (4,),
     dict(f=zeros(1), x=T("i32", 1), WANT=1))


# ---- T48: a lock for each tile (stream-K) ---------------------------------------------------------------------------
@triton.jit
def t48(lock, part, out, TILES: tl.constexpr, PRE: tl.constexpr, POST: tl.constexpr, SEM: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    if pid < TILES:
        tl.store(part + pid * B + lane, lane)  # @P
        if PRE:
            tl.debug_barrier()
        tl.atomic_xchg(lock + pid, 1, sem=SEM)
    else:
        t = pid - TILES
        while tl.atomic_cas(lock + t, 1, 1, sem="acquire") != 1:
            pass
        if POST:
            tl.debug_barrier()
        tl.store(out + t * B + lane, tl.load(part + t * B + lane))  # @R


def t48_args(**kw):
    return dict(dict(lock=zeros(4), part=T("i32", 256), out=T("i32", 256), TILES=2, PRE=True, POST=True, SEM="release", B=64), **kw)


case("t48_safe", t48, "ok T1-launch qual=termination", (4,), t48_args())
case("t48_no_pre", t48, "races RAW:P:R/programs", (4,), t48_args(PRE=False))
case("t48_no_post", t48, "races RAW:P:R/programs", (4,), t48_args(POST=False))
case("t48_relaxed", t48, "races RAW:P:R/programs", (4,), t48_args(SEM="relaxed"))


# ---- T56: a table of floats -----------------------------------------------------------------------------------------
@triton.jit
def t56(idx, out, B: tl.constexpr):
    i = tl.load(idx + tl.program_id(0) * B + tl.arange(0, B)).to(tl.int32)
    tl.store(out + i, 1)  # @S


case("t56_float", t56, "unsupported indirect-address|unmodeled-value", (2,), dict(idx=T("f32", 64), out=T("i32", 64), B=32))
case("t56_bool_safe", t56, "ok T1 qual=contents", (2,), dict(idx=T("i1", 2, values=[1, 0]), out=T("i32", 64), B=1))
case("t56_bool_race", t56, "races WAW:S:S/programs", (2,), dict(idx=T("i1", 2, values=[1, 1]), out=T("i32", 64), B=1))


# ---- T65: strides of the output -------------------------------------------------------------------------------------
@triton.jit
def t65(a, b, c, m, n, k, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for s in range(0, k, BK):
        rk = s + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * sam + rk[None, :] * sak, mask=(rm[:, None] < m) & (rk[None, :] < k), other=0.0)
        y = tl.load(b + rk[:, None] * sbk + rn[None, :] * sbn, mask=(rk[:, None] < k) & (rn[None, :] < n), other=0.0)
        acc += tl.dot(x, y)
    tl.store(c + rm[:, None] * scm + rn[None, :] * scn, acc, mask=(rm[:, None] < m) & (rn[None, :] < n))  # @S


def t65_args(scm, scn):
    return dict(a=T("f32", 48, 40), b=T("f32", 40, 56), c=T("f32", 48, 56), m=48, n=56, k=40, sam=40, sak=1, sbk=56, sbn=1, scm=scm, scn=scn,
                BM=16, BN=16, BK=16)


SYMBOLIC = ("m", "n", "k", "sam", "sak", "sbk", "sbn", "scm", "scn")
case("t65_safe", t65, "ok T0 qual=strides", (3, 4), t65_args(56, 1), nospec=SYMBOLIC)
case("t65_race", t65, "races WAW:S:S/threads WAW:S:S/programs", (3, 4), t65_args(1, 1), nospec=SYMBOLIC)


# ---- T71: the wrong parity ------------------------------------------------------------------------------------------
@triton.jit
def t71(even, odd, STEP: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(even + 2 * i, 1)  # @A
    tl.store(odd + STEP * i, 2)  # @B


case("t71_views_safe", t71, "ok", (2,), dict(even=T("i32", 300), odd=T("i32", 256, of="even", at=4), STEP=2, B=64))
case("t71_views_race", t71, "races WAW:A:B/threads WAW:A:B/programs", (2,), dict(even=T("i32", 300), odd=T("i32", 256, of="even", at=8), STEP=2, B=64))


# ---- T72: nobody writes what is awaited -----------------------------------------------------------------------------
@triton.jit
def t72(f, out):
    while tl.atomic_add(f, 0) != 1:
        pass
    tl.store(out, 1)


case("t72_vacuous", t72, "vacuous", (1,), dict(f=zeros(1), out=T("i32", 1)))
case("t72_safe", t72, "ok qual=termination", (1,), dict(f=ints(1), out=T("i32", 1)))


# ---- T73, T84: an answer that the limit cuts off --------------------------------------------------------------------
@triton.jit
def t73(out, D: tl.constexpr, B: tl.constexpr):
    at = (tl.program_id(0) % tl.num_programs(0)) * B + tl.arange(0, B)
    tl.store(out + at // D, 1)  # @S


def t73_args(**kw):
    return dict(dict(out=T("i32", 256), D=1, B=64), **kw)


case("t73_limit", t73, "unsupported budget never=ok never=races", (4,), t73_args(), options=["--engine=z3", "--z3-rlimit=1"])
case("t73_safe", t73, "ok T1", (4,), t73_args())
case("t73_race", t73, "races WAW:S:S/threads", (4,), t73_args(D=2))


# the limit meets the question for this grid alone: at another one, programs 0 and 4 share a tile
@triton.jit
def t84(out, s, B: tl.constexpr):
    at = (tl.program_id(0) % s) * B + tl.arange(0, B)
    tl.store(out + at, 1)  # @S


case("t84_limit", t84, "unsupported|ok never=races", (4,), dict(out=T("i32", 256), s=4, B=64),
     options=["--engine=isl", "--no-pretest", "--max-ops=1", "--first-ops=1", "--max-leaves=1"])
case("t84_safe", t84, "ok T1-launch fragile", (4,), dict(out=T("i32", 256), s=4, B=64))
case("t84_race", t84, "races WAW:S:S/programs", (5,), dict(out=T("i32", 256), s=4, B=64))


# ---- T79, p51: what a compare-and-swap may compare with -------------------------------------------------------------
@triton.jit
def t79(f, t, x, out, small, KIND: tl.constexpr):
    pid = tl.program_id(0)
    if KIND == 0:
        o = tl.atomic_cas(f, 0, 1, sem="relaxed")
    elif KIND == 1:
        p = tl.atomic_cas(t, 0, 1, sem="relaxed")
        o = tl.atomic_cas(f, p, 1, sem="relaxed")
    elif KIND == 2:
        o = tl.atomic_cas(f, (pid > 90).to(tl.int32), 1, sem="relaxed")
    elif KIND == 3:
        o = tl.atomic_cas(f, tl.where(((pid == 0) | (pid > 0)) & (not (pid == 90)), 0, 9), 1, sem="relaxed")
    elif KIND == 4:
        p = tl.atomic_cas(t, 0, 1, sem="relaxed")
        o = tl.atomic_cas(f, p + 1, 1, sem="relaxed")
    elif KIND == 5:
        p = tl.atomic_cas(t, 0, 1, sem="relaxed")
        o = tl.atomic_cas(f, p.to(tl.int8).to(tl.int32), 1, sem="relaxed")
    elif KIND == 6:
        o = tl.atomic_cas(f, tl.load(small), 1, sem="relaxed")
    elif KIND == 7:
        p = tl.atomic_and(t, 3, sem="relaxed")
        o = tl.atomic_cas(f, p, 1, sem="relaxed")
    elif KIND == 8:
        o = tl.atomic_cas(f, 0, 1, sem="relaxed")
        for k in range(2):
            o = tl.atomic_cas(t, 0, 1, sem="relaxed")
    elif KIND == 9:
        q = pid.to(tl.int8)
        o = tl.atomic_cas(f, 0, 1, sem="relaxed")
        tl.store(out + pid, q.to(tl.int32))
    if o == 0:
        tl.store(x, pid)  # @S


def t79_args(kind, f=0):
    return dict(f=ints(f), t=zeros(1), x=T("i32", 1), out=T("i32", 8), small=T("i32", 1), KIND=kind)


for kind in (0, 2, 3, 7, 9):
    case(f"t79_{kind}", t79, "ok T1-launch qual=reads", (4,), t79_args(kind))
for kind in (1, 4, 5):                            # f stays 0, or the first lock and the second are taken by different programs
    case(f"t79_{kind}", t79, "races WAW:S:S/programs", (4,), t79_args(kind))
for kind in (6, 8):
    case(f"t79_{kind}", t79, "unsupported|races never=ok", (4,), t79_args(kind))
case("t79_and_race", t79, "races WAW:S:S/programs", (4,), dict(t79_args(7), t=ints(7)))      # compares with 3: nobody takes it


# two that succeed: the guarded store runs in every program that found 0 while nothing was written
@triton.jit
def t79_race(f, x, NEW: tl.constexpr):
    pid = tl.program_id(0)
    o = tl.atomic_cas(f, (pid > 90).to(tl.int32), tl.where(pid > 90, 1, NEW), sem="relaxed")
    if o == 0:
        tl.store(x, pid)  # @S


case("t79_gate_race", t79_race, "races WAW:S:S/programs", (4,), dict(f=zeros(1), x=T("i32", 1), NEW=0))
case("t79_gate_safe", t79_race, "ok", (4,), dict(f=zeros(1), x=T("i32", 1), NEW=1))


# ---- T80: quotient and remainder of negative numbers ----------------------------------------------------------------
@triton.jit
def t80(out, d, KIND: tl.constexpr, B: tl.constexpr):
    x = tl.program_id(0) * 8 + tl.arange(0, B) - 20
    if KIND == 1:
        x = tl.where(x > 0, -x, x)
    elif KIND == 2:
        x = tl.where(x < 0, -x, x)
    q = x // d
    r = x % d
    tl.store(out + (q + 32) * 64 + r + 32, x)  # @S


# 8 lanes a program over [-20, 19]; KIND 1 and 2 fold the sign: 12 of the numbers then occur twice
for d in (3, 7, -3, 20, 21, -21):
    for kind in range(3):
        name = f"t80_{'m' if d < 0 else ''}{abs(d)}_{kind}"
        expect = "ok" if kind == 0 else "races WAW:S:S/programs WAW:S:S/threads"
        case(name, t80, expect, (5,), dict(out=T("i32", 4096), d=d, KIND=kind, B=8), nospec=("d",))


# ---- T82: one role copies tiles, the other computes with them -------------------------------------------------------
@triton.jit
def t82(x, ws, flag, out, N: tl.constexpr, ONE: tl.constexpr, SEM: tl.constexpr, PRE: tl.constexpr, POST: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    if tl.program_id(0) == 0:
        for t in tl.static_range(N):
            tl.store(ws + t * B + lane, tl.load(x + t * B + lane))  # @P
            if PRE:
                tl.debug_barrier()
            tl.atomic_xchg(flag + (0 if ONE else t), 1, sem=SEM)
    else:
        for t in tl.static_range(N):
            while tl.atomic_add(flag + (0 if ONE else t), 0, sem="acquire") != 1:
                pass
            if POST:
                tl.debug_barrier()
            tl.store(out + t * B + lane, tl.load(ws + t * B + lane))  # @R


def t82_args(**kw):
    return dict(dict(x=T("i32", 128), ws=T("i32", 128), flag=zeros(2), out=T("i32", 128), N=2, ONE=False, SEM="release", PRE=True, POST=True,
                     B=64), **kw)


case("t82_safe", t82, "ok T1-launch qual=termination", (2,), t82_args())
case("t82_relaxed", t82, "races RAW:P:R/programs", (2,), t82_args(SEM="relaxed"))
case("t82_one_flag", t82, "races RAW:P:R/programs", (2,), t82_args(ONE=True))
case("t82_no_pre", t82, "races RAW:P:R/programs", (2,), t82_args(PRE=False))
case("t82_no_post", t82, "races RAW:P:R/programs", (2,), t82_args(POST=False))


# ---- T83: publications by compare-and-swap --------------------------------------------------------------------------
@triton.jit
def t83(f, x, out, PUB: tl.constexpr, MID: tl.constexpr, HOW: tl.constexpr, SEEN: tl.constexpr):
    pid = tl.program_id(0)
    if pid == 0:
        tl.store(x, 7)  # @P
        tl.debug_barrier()
        tl.atomic_cas(f, 0, PUB, sem="release")
    elif (pid == 1) & (MID > 0):
        if HOW == 0:
            tl.atomic_cas(f, PUB, MID, sem="relaxed")
        else:
            tl.atomic_xchg(f, MID, sem="relaxed")
    else:
        o = tl.atomic_cas(f, 9, 9, sem="acquire")
        tl.debug_barrier()
        if o == SEEN:
            tl.store(out + pid, tl.load(x))  # @R


def t83_args(**kw):
    return dict(dict(f=zeros(1), x=T("i32", 1), out=T("i32", 4), PUB=1, MID=0, HOW=0, SEEN=1), **kw)


case("t83_two", t83, "ok T1-launch", (2,), t83_args())
case("t83_value", t83, "ok T1-launch", (2,), t83_args(PUB=5, SEEN=5))
case("t83_three", t83, "ok T1-launch", (3,), t83_args(MID=2, SEEN=2))
case("t83_middle_race", t83, "races RAW:P:R/programs", (3,), t83_args(MID=2, HOW=1, SEEN=2))
case("t83_initial_race", t83, "races RAW:P:R/programs", (2,), t83_args(SEEN=0))


# ---- p22: a flag written eight bytes wide ---------------------------------------------------------------------------
@triton.jit
def p22(f, g, x, out, WIDE: tl.constexpr):
    if tl.program_id(0) == 0:
        tl.store(x, 7)  # @P
        tl.debug_barrier()
        tl.atomic_xchg(g if WIDE else f, 1, sem="release")  # @X
    else:
        o = tl.atomic_add(f, 0, sem="acquire")  # @A
        tl.debug_barrier()
        if o == 1:
            tl.store(out, tl.load(x))  # @R


case("p22_race", p22, "races *:X:A/programs RAW:P:R/programs", (2,),
     dict(f=zeros(2), g=T("i64", 1, of="f"), x=T("i32", 1), out=T("i32", 1), WIDE=True))
case("p22_safe", p22, "ok T1-launch", (2,), dict(f=zeros(2), g=T("i64", 1), x=T("i32", 1), out=T("i32", 1), WIDE=False))


# ---- p23: a flag that is not an integer -----------------------------------------------------------------------------
@triton.jit
def p23(f, out):
    o = tl.atomic_cas(f.to(tl.pointer_type(tl.int32)), 0, 1, sem="relaxed")
    if o != 0:
        tl.store(out, tl.program_id(0))  # @S


case("p23_float", p23, "races|unsupported never=ok", (3,), dict(f=T("f32", 1), out=T("i32", 1)))
case("p23_race", p23, "races WAW:S:S/programs", (3,), dict(f=ints(1060320051), out=T("i32", 1)))   # the bits of 0.7
case("p23_safe", p23, "ok", (1,), dict(f=ints(1060320051), out=T("i32", 1)))
case("p23_two", p23, "ok T1-launch", (2,), dict(f=zeros(1), out=T("i32", 1)))


# ---- p25: two stores guarded by one ticket --------------------------------------------------------------------------
@triton.jit
def p25(c, x, OTHER: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    o = tl.atomic_add(c, 1, sem="relaxed")
    tl.store(x + lane, 1, mask=(lane >= 0) & (o == 0))  # @A
    tl.debug_barrier()
    tl.store(x + lane, 2, mask=(lane >= 0) & (o == OTHER))  # @C


case("p25_race", p25, "races WAW:A:C/programs", (4,), dict(c=zeros(1), x=T("i32", 64), OTHER=2, B=64))
case("p25_safe", p25, "ok T1-launch", (4,), dict(c=zeros(1), x=T("i32", 64), OTHER=0, B=64))


# ---- p30: hand-overs in both directions -----------------------------------------------------------------------------
@triton.jit
def p30(f, g, x, y, out, BACK: tl.constexpr):
    if tl.program_id(0) == 0:
        tl.store(x, 7)  # @P
        tl.debug_barrier()
        tl.atomic_xchg(f, 1, sem="release")
        while tl.atomic_add(g, 0, sem="acquire") != 1:
            pass
        tl.debug_barrier()
        tl.store(out, tl.load(y))  # @S
    else:
        tl.store(y, 8)  # @Q
        tl.debug_barrier()
        tl.atomic_xchg(g, 1, sem=BACK)
        while tl.atomic_add(f, 0, sem="acquire") != 1:
            pass
        tl.debug_barrier()
        tl.store(out + 1, tl.load(x))  # @R


def p30_args(back):
    return dict(f=zeros(1), g=zeros(1), x=T("i32", 1), y=T("i32", 1), out=T("i32", 2), BACK=back)


case("p30_safe", p30, "ok T1-launch qual=termination", (2,), p30_args("release"))
case("p30_race", p30, "races *:S:Q/programs", (2,), p30_args("relaxed"))


# ---- p34: polls of one program do not race with each other ----------------------------------------------------------
@triton.jit
def p34(f, out, STEP: tl.constexpr):
    pid = tl.program_id(0)
    while tl.atomic_add(f + pid * STEP, 0, sem="acquire", scope="cta") != 1:  # @W
        pass
    tl.store(out + pid, 1)


case("p34_safe", p34, "ok qual=termination", (2,), dict(f=ints(1, 1), out=T("i32", 2), STEP=1))
case("p34_race", p34, "races WAW:W:W/programs", (2,), dict(f=ints(1, 1), out=T("i32", 2), STEP=0))


# ---- p64: relaxed ranks order nothing -------------------------------------------------------------------------------
@triton.jit
def p64(c, x, y, out, SAME: tl.constexpr):
    o = tl.atomic_add(c, 1, sem="relaxed")
    if o == 0:
        tl.store(x, 7)  # @P
    elif o == 2:
        tl.store(out, tl.load(x if SAME else y))  # @R


case("p64_race", p64, "races RAW:P:R/programs", (4,), dict(c=zeros(1), x=T("i32", 1), y=T("i32", 1), out=T("i32", 1), SAME=True))
case("p64_safe", p64, "ok T1-launch", (4,), dict(c=zeros(1), x=T("i32", 1), y=T("i32", 1), out=T("i32", 1), SAME=False))


# ---- p66: what an exchange returns as a slot ------------------------------------------------------------------------
@triton.jit
def p66(h, buf, ADD: tl.constexpr):
    if ADD:
        i = tl.atomic_add(h, 1, sem="relaxed")
    else:
        i = tl.atomic_xchg(h, 1, sem="relaxed")
    tl.store(buf + i, 1)  # @S


case("p66_refused", p66, "unsupported|races indirect-address never=ok", (3,), dict(h=zeros(1), buf=T("i32", 8), ADD=False))
case("p66_safe", p66, "ok T1-launch", (3,), dict(h=zeros(1), buf=T("i32", 8), ADD=True))


# ---- p85: tickets near the end of the range -------------------------------------------------------------------------
@triton.jit
def p85(c, buf, FIRST: tl.constexpr):
    o = tl.atomic_add(c, 1, sem="relaxed")
    tl.store(buf + (o - FIRST), 1)  # @S


LARGE = 2147483640
case("p85_safe", p85, "ok T1-launch", (4,), dict(c=ints(LARGE), buf=T("i32", 16), FIRST=LARGE))
case("p85_wraps", p85, "unsupported never=ok never=races", (16,), dict(c=ints(LARGE), buf=T("i32", 16), FIRST=LARGE))


# ---- p86: a relaxed read after an acquire sees what was before the release ------------------------------------------
@triton.jit
def p86(x, f, out, SEEN: tl.constexpr):
    if tl.program_id(0) == 0:
        tl.atomic_xchg(x, 1, sem="relaxed")
        tl.debug_barrier()
        tl.atomic_xchg(f, 1, sem="release")
        tl.store(out, 1)  # @P
    else:
        o = tl.atomic_add(f, 0, sem="acquire")
        tl.debug_barrier()
        if o == SEEN:
            v = tl.atomic_add(x, 0, sem="relaxed")
            if v == 0:
                tl.store(out, 2)  # @S


case("p86_safe", p86, "ok T1-launch", (2,), dict(x=zeros(1), f=zeros(1), out=T("i32", 1), SEEN=1))
case("p86_race", p86, "races WAW:P:S/programs", (2,), dict(x=zeros(1), f=zeros(1), out=T("i32", 1), SEEN=0))


# ---- p87: no value out of thin air ----------------------------------------------------------------------------------
@triton.jit
def p87(x, y, out):
    if tl.program_id(0) == 0:
        a = tl.atomic_add(x, 0, sem="relaxed")
        tl.atomic_xchg(y, a, sem="relaxed")
        if a == 1:
            tl.store(out, 1)  # @P
    else:
        b = tl.atomic_add(y, 0, sem="relaxed")
        tl.atomic_xchg(x, b, sem="relaxed")
        if b == 1:
            tl.store(out, 2)  # @S


case("p87_safe", p87, "ok T1-launch", (2,), dict(x=zeros(1), y=zeros(1), out=T("i32", 1)))
case("p87_race", p87, "races WAW:P:S/programs", (2,), dict(x=ints(1), y=zeros(1), out=T("i32", 1)))


# ---- p93: a lane reads what another lane of the same operation wrote ------------------------------------------------
@triton.jit
def p93(f, out, MOST: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    o = tl.atomic_xchg(f + lane // 2, 1, sem="relaxed")
    tl.store(out + lane * 0, lane, mask=(o == 1) & (lane < MOST))  # @S


case("p93_race", p93, "races WAW:S:S/threads", (1,), dict(f=zeros(8), out=T("i32", 1), MOST=4, B=16))
case("p93_safe", p93, "ok", (1,), dict(f=zeros(8), out=T("i32", 1), MOST=1, B=16))


# ---- p95: the operand of an exchange wraps --------------------------------------------------------------------------
@triton.jit
def p95(f, out, BIG: tl.constexpr):
    pid = tl.program_id(0)
    if pid == 0:
        o = tl.atomic_add(f, 0, sem="relaxed")
        if o == 0:
            tl.store(out, 1)  # @P
    else:
        tl.atomic_xchg(f, (pid + 1) * BIG, sem="relaxed")
        if pid == 3:
            tl.store(out, 2)  # @S


case("p95_wraps", p95, "races|unsupported never=ok", (4,), dict(f=ints(7), out=T("i32", 1), BIG=1073741824))
case("p95_safe", p95, "ok T1-launch", (4,), dict(f=ints(7), out=T("i32", 1), BIG=1))
case("p95_zero", p95, "races WAW:P:S/programs", (4,), dict(f=ints(0), out=T("i32", 1), BIG=1))


# ---- p115: two tile atomics of one program are not ordered ----------------------------------------------------------
@triton.jit
def p115(f, out, BAR: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    tl.atomic_xchg(f + lane, 1, sem="relaxed")
    if BAR:
        tl.debug_barrier()
    o = tl.atomic_add(f + lane, 0, sem="relaxed")
    tl.store(out + lane * 0, lane, mask=(o == 0) & (lane < 2))  # @S


case("p115_race", p115, "races|unsupported never=ok", (1,), dict(f=zeros(16), out=T("i32", 1), BAR=False, B=16))
case("p115_safe", p115, "ok", (1,), dict(f=zeros(16), out=T("i32", 1), BAR=True, B=16))


# ---- p116: the other of two programs is a third one for a pair of threads -------------------------------------------
@triton.jit
def p116(c, out, D: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    o = tl.atomic_xchg(c, 1, sem="relaxed")
    if o == 1:
        tl.store(out + tl.program_id(0) * B + lane // D, lane)  # @S


case("p116_race", p116, "races WAW:S:S/threads", (2,), dict(c=zeros(1), out=T("i32", 128), D=2, B=64))
case("p116_safe", p116, "ok T1", (2,), dict(c=zeros(1), out=T("i32", 128), D=1, B=64))


# ---- p124: a lock taken here, another one given back ----------------------------------------------------------------
@triton.jit
def p124(locks, x, TAKE: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    while tl.atomic_cas(locks + (pid % 2) * TAKE, 0, 1, sem="acquire") != 0:
        pass
    tl.debug_barrier()
    tl.store(x, pid)  # @S
    tl.debug_barrier()
    tl.atomic_xchg(locks + ((pid + 1) % 2) * TAKE, 0, sem="release")


case("p124_cross", p124, "races WAW:S:S/programs", (2,), dict(locks=zeros(2), x=T("i32", 1), TAKE=1, B=1))
case("p124_one", p124, "ok T1-launch qual=termination", (2,), dict(locks=zeros(2), x=T("i32", 1), TAKE=0, B=1))


# ---- p9, T13: a masked access between a load and its store orders the lanes where it runs ---------------------------
@triton.jit
def t13(x, q, f, n, KIND: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)  # @L
    if KIND == 0:                                   # in every lane of this launch
        w = tl.atomic_xchg(q + i, v, mask=i < n, sem="relaxed")
    elif KIND == 1:                                 # a mask from memory
        w = tl.atomic_xchg(q + i, v, mask=tl.load(f + i) > 0, sem="relaxed")
    elif KIND == 2:                                 # at another lane's place
        w = tl.atomic_xchg(q + i, tl.flip(v, 0), mask=i < n, sem="relaxed")
    else:                                           # all lanes at one address
        w = tl.atomic_xchg(q + tl.zeros([B], dtype=tl.int32), v, mask=i < n, sem="relaxed")
    tl.store(x + i, w)  # @S


def t13_args(kind, n=128):
    return dict(x=T("i32", 256), q=T("i32", 256), f=T("i32", 256), n=n, KIND=kind, B=64)


case("t13_launch_safe", t13, "ok T1-launch fragile", (2,), t13_args(0))
case("t13_launch_race", t13, "races WAR:L:S/threads", (2,), t13_args(0, 127))
case("t13_memory", t13, "unsupported|races never=ok", (2,), t13_args(1))
case("t13_flip_race", t13, "races WAR:L:S/threads", (2,), t13_args(2))
case("t13_one_cell", t13, "ok T1-launch", (2,), t13_args(3))
