"""The labelled micro kernels whose programs hand data over, each with and without the CTA barriers around its atomics, at
the readings of --atomic-order; and the labelled rows whose verdict rests on contents or on the grid. B = 64 unless said."""
from cases import T, case, load_triton

triton, tl = load_triton()

STRICT = ()
CTA = ("--atomic-order=cta",)
AUTO = ("--atomic-order=auto",)


def zeros(n):
    return T("i32", n, values=[0] * n)


def third(name, fn, grid, args, race, safe, waits=True, inside=""):
    """The kernel without barriers: a race in strict, none where the compiler puts the barriers, what each release does.
    inside: what races inside one program, too, where no barrier stands behind the acquire."""
    more = " qual=termination" if waits else ""
    case(name + "_bare", fn, f"races {race} {inside} why=barrier", grid, args(), options=STRICT)
    case(name + "_bare_cta", fn, f"ok {safe} qual=atomic{more}", grid, args(), options=CTA)
    for release in ("3.6.0", "3.8.0"):                  # no barrier before a release
        case(f"{name}_bare_{release}", fn, f"races {race}", grid, args(), options=AUTO, triton=release)
    case(name + "_bare_3.9.0", fn, f"ok {safe} qual=atomic{more}", grid, args(), options=AUTO, triton="3.9.0")
    case(name + "_bare_unknown", fn, f"races {race} {inside}", grid, args(), options=AUTO)


# ---- trb012: the last of all programs reads what program 0 stored ----------------------------------------------------
@triton.jit
def trb012(part, cnt, out, BAR: tl.constexpr, SEM: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(part + pid, pid)  # @P
    if BAR:
        tl.debug_barrier()
    o = tl.atomic_add(cnt, 1, sem=SEM)
    if BAR:
        tl.debug_barrier()
    if o == tl.num_programs(0) - 1:
        tl.store(out, tl.load(part))  # @R


def a012(bar=False, sem="acq_rel"):
    return dict(part=T("i32", 4), cnt=zeros(1), out=T("i32", 1), BAR=bar, SEM=sem)


case("trb012", trb012, "ok T1 qual=reads", (4,), a012(True))
case("trb012_relaxed", trb012, "races RAW:P:R/programs", (4,), a012(True, "relaxed"))
third("trb012", trb012, (4,), a012, "RAW:P:R/programs", "T1 qual=reads", waits=False, inside="RAW:P:R/threads")


# ---- trb014: split sums ------------------------------------------------------------------------------------------------
@triton.jit
def trb014(x, part, cnt, out, BAR: tl.constexpr, SEM: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(part + pid, tl.sum(tl.load(x + pid * B + tl.arange(0, B)), axis=0))  # @P
    if BAR:
        tl.debug_barrier()
    o = tl.atomic_add(cnt, 1, sem=SEM)
    if BAR:
        tl.debug_barrier()
    if o == tl.num_programs(0) - 1:
        j = tl.arange(0, B)
        tl.store(out, tl.sum(tl.load(part + j, mask=j < tl.num_programs(0), other=0), axis=0))  # @R


def a014(bar=False, sem="acq_rel"):
    return dict(x=T("i32", 256), part=T("i32", 64), cnt=zeros(1), out=T("i32", 1), BAR=bar, SEM=sem, B=64)


case("trb014", trb014, "ok T1 qual=reads", (4,), a014(True))
case("trb014_relaxed", trb014, "races RAW:P:R/programs", (4,), a014(True, "relaxed"))
third("trb014", trb014, (4,), a014, "RAW:P:R/programs", "T1 qual=reads", waits=False, inside="RAW:P:R/threads")


# ---- trb016: a tile behind a flag --------------------------------------------------------------------------------------
@triton.jit
def trb016(flag, data, out, BAR: tl.constexpr, PUB: tl.constexpr, POLL: tl.constexpr, SCOPE: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    if pid == 0:
        tl.store(data + lane, lane)  # @P
        if BAR:
            tl.debug_barrier()
        tl.atomic_xchg(flag, 1, sem=PUB, scope=SCOPE)  # @X
    else:
        while tl.atomic_add(flag, 0, sem=POLL, scope=SCOPE) != 1:  # @W
            pass
        if BAR:
            tl.debug_barrier()
        tl.store(out + pid * B + lane, tl.load(data + lane))  # @R


def a016(bar=False, pub="release", poll="acquire", scope="gpu"):
    return dict(flag=zeros(1), data=T("i32", 64), out=T("i32", 128), BAR=bar, PUB=pub, POLL=poll, SCOPE=scope, B=64)


case("trb016", trb016, "ok T1 qual=termination qual=reads", (2,), a016(True))
case("trb016_relaxed_writer", trb016, "races RAW:P:R/programs", (2,), a016(True, pub="relaxed"))
case("trb016_relaxed_spin", trb016, "races RAW:P:R/programs", (2,), a016(True, poll="relaxed"))
case("trb016_cta", trb016, "races RAW:P:R/programs WAW:X:W/programs", (2,), a016(True, scope="cta"))
third("trb016", trb016, (2,), a016, "RAW:P:R/programs", "T1")


# ---- trb017: a spin lock around an increment ---------------------------------------------------------------------------
@triton.jit
def trb017(lock, x, BAR: tl.constexpr, ACQ: tl.constexpr, PLAIN: tl.constexpr):
    while tl.atomic_cas(lock, 0, 1, sem=ACQ) != 0:  # @W
        pass
    if BAR:
        tl.debug_barrier()
    tl.store(x, tl.load(x) + 1)  # @C
    if BAR:
        tl.debug_barrier()
    if PLAIN:
        tl.store(lock, 0)  # @U
    else:
        tl.atomic_xchg(lock, 0, sem="release")


def a017(bar=False, acq="acquire", plain=False):
    return dict(lock=zeros(1), x=T("i32", 1), BAR=bar, ACQ=acq, PLAIN=plain)


case("trb017", trb017, "ok T1 qual=termination qual=reads", (2,), a017(True))
case("trb017_four", trb017, "ok T1 qual=termination qual=reads", (4,), a017(True))
case("trb017_plain_unlock", trb017, "races *:C:C/programs *:W:U/programs WAW:U:U/programs", (2,), a017(True, plain=True))
case("trb017_relaxed_cas", trb017, "races *:C:C/programs", (2,), a017(True, acq="relaxed"))
third("trb017", trb017, (2,), a017, "*:C:C/programs", "T1")


# ---- trb018: every program waits for the one before it -----------------------------------------------------------------
@triton.jit
def trb018(flag, out, BAR: tl.constexpr, SCOPE: tl.constexpr):
    pid = tl.program_id(0)
    acc = 0
    if pid > 0:
        while tl.atomic_add(flag + pid - 1, 0, sem="acquire", scope=SCOPE) != 1:  # @W
            pass
        if BAR:
            tl.debug_barrier()
        acc = tl.load(out + pid - 1)  # @R
    tl.store(out + pid, acc + pid)  # @P
    if BAR:
        tl.debug_barrier()
    tl.atomic_xchg(flag + pid, 1, sem="release", scope=SCOPE)  # @X


def a018(bar=False, scope="gpu"):
    return dict(flag=zeros(4), out=T("i32", 4), BAR=bar, SCOPE=scope)


case("trb018", trb018, "ok T1 qual=termination qual=reads", (4,), a018(True))
case("trb018_cta", trb018, "races *:R:P/programs WAW:W:X/programs", (4,), a018(True, "cta"))
third("trb018", trb018, (4,), a018, "*:R:P/programs", "T1")


# ---- trb021, trb022, trb023: a hand-over by compare-and-swap -----------------------------------------------------------
@triton.jit
def trb021(flag, data, out, BAR: tl.constexpr, PUB: tl.constexpr, ACQ: tl.constexpr, CMP: tl.constexpr):
    pid = tl.program_id(0)
    if pid == 0:
        tl.store(data, 42)  # @P
        if BAR:
            tl.debug_barrier()
        tl.atomic_cas(flag, 0, 1, sem=PUB)
    else:
        o = tl.atomic_cas(flag, CMP, 1, sem=ACQ)
        if BAR:
            tl.debug_barrier()
        if o == 1:
            tl.store(out + pid, tl.load(data))  # @R


def a021(bar=False, pub="acq_rel", acq="acq_rel", cmp=1, cells=1):
    return dict(flag=zeros(cells), data=T("i32", 1), out=T("i32", 8), BAR=bar, PUB=pub, ACQ=acq, CMP=cmp)


def a022(bar=False, acq="acquire"):
    return a021(bar, "release", acq, 7)


def a023(bar=False, acq="acq_rel"):
    return a021(bar, "acq_rel", acq, 1, 2048)


for grid in (2, 3, 4, 7):
    more = "" if grid == 2 else f"_grid{grid}"
    case("trb021" + more, trb021, "ok T1 qual=reads", (grid,), a021(True))
    case("trb022" + more, trb021, "ok T1 qual=reads", (grid,), a022(True))
    case("trb023" + more, trb021, "ok T1 qual=reads", (grid,), a023(True))
case("trb021_release_only", trb021, "races RAW:P:R/programs", (2,), a021(True, "release", "relaxed"))
case("trb021_acquire_only", trb021, "races RAW:P:R/programs", (2,), a021(True, "relaxed", "acquire"))
case("trb022_relaxed", trb021, "races RAW:P:R/programs", (2,), a022(True, "relaxed"))
case("trb023_relaxed", trb021, "races RAW:P:R/programs", (2,), a023(True, "relaxed"))
third("trb021", trb021, (2,), a021, "RAW:P:R/programs", "T1 qual=reads", waits=False)
third("trb022", trb021, (2,), a022, "RAW:P:R/programs", "T1 qual=reads", waits=False)
third("trb023", trb021, (2,), a023, "RAW:P:R/programs", "T1 qual=reads", waits=False)


# ---- trb025: one producer, two consumers -------------------------------------------------------------------------------
@triton.jit
def trb025(sem, data, out, BAR: tl.constexpr, POLL: tl.constexpr, WANT: tl.constexpr, WAIT: tl.constexpr):
    pid = tl.program_id(0)
    if pid == 0:
        tl.store(data, 7)  # @P
        if BAR:
            tl.debug_barrier()
        tl.atomic_xchg(sem, 1, sem="release")
    else:
        if pid < WAIT:
            while tl.atomic_add(sem, 0, sem=POLL) != WANT:
                pass
            if BAR:
                tl.debug_barrier()
        tl.store(out + pid, tl.load(data))  # @R


def a025(bar=False, poll="acquire", want=1, wait=3):
    return dict(sem=zeros(1), data=T("i32", 1), out=T("i32", 3), BAR=bar, POLL=poll, WANT=want, WAIT=wait)


case("trb025", trb025, "ok T1-launch qual=termination qual=reads", (3,), a025(True))
case("trb025_relaxed", trb025, "races RAW:P:R/programs", (3,), a025(True, poll="relaxed"))
case("trb025_initial", trb025, "races RAW:P:R/programs", (3,), a025(True, want=0))
case("trb025_skip", trb025, "races RAW:P:R/programs", (3,), a025(True, wait=2))
third("trb025", trb025, (3,), a025, "RAW:P:R/programs", "T1-launch")


# ---- trb026: a tile behind a compare-and-swap --------------------------------------------------------------------------
@triton.jit
def trb026(flag, data, out, BAR: tl.constexpr, ACQ: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    if pid == 0:
        tl.store(data + lane, lane * 3)  # @P
        if BAR:
            tl.debug_barrier()
        tl.atomic_cas(flag, 0, 1, sem="release")
    else:
        o = tl.atomic_cas(flag, 1, 1, sem=ACQ)
        if BAR:
            tl.debug_barrier()
        if o == 1:
            tl.store(out + pid * B + lane, tl.load(data + lane))  # @R


def a026(bar=False, acq="acquire"):
    return dict(flag=zeros(1), data=T("i32", 64), out=T("i32", 512), BAR=bar, ACQ=acq, B=64)


for grid in (2, 3, 4, 7):
    case("trb026" + ("" if grid == 2 else f"_grid{grid}"), trb026, "ok T1 qual=reads", (grid,), a026(True))
case("trb026_relaxed", trb026, "races RAW:P:R/programs", (2,), a026(True, "relaxed"))
third("trb026", trb026, (2,), a026, "RAW:P:R/programs", "T1 qual=reads", waits=False)


# ---- kernels of the corpus that the launch there gives no contents -----------------------------------------------------
@triton.jit
def kv_slots(k, cache, slots, tokens, width, HB: tl.constexpr, D: tl.constexpr):
    token = tl.program_id(0)
    head = tl.arange(0, HB)
    d = tl.arange(0, D)
    slot = tl.load(slots + token)
    live = (head[:, None] * D + d[None, :] < width) & (token < tokens) & (slot >= 0)
    value = tl.load(k + token * width + head[:, None] * D + d[None, :], mask=live)
    tl.store(cache + slot * width + head[:, None] * D + d[None, :], value, mask=live)  # @S


def slots_args(values):
    return dict(k=T("f32", 6, 16), cache=T("f32", 32, 16), slots=T("i32", 6, values=values), tokens=6, width=16, HB=2, D=8)


case("kv_slots_safe", kv_slots, "ok T1 qual=contents", (6,), slots_args([4, 9, -1, 30, 0, -1]))      # -1: a padded token
case("kv_slots_race", kv_slots, "races WAW:S:S/programs qual=contents", (6,), slots_args([4, 9, -1, 30, 9, -1]))


@triton.jit
def scatter_rows(x, index, y, n, B: tl.constexpr):
    row = tl.program_id(0)
    to = tl.load(index + row)
    for off in range(0, n, B):
        col = off + tl.arange(0, B)
        v = tl.load(x + row * n + col, mask=col < n)
        tl.store(y + to * n + col, v, mask=col < n)  # @S


def rows_args(values):
    return dict(x=T("f32", 5, 19), index=T("i64", 5, values=values), y=T("f32", 8, 19), n=19, B=8)


case("scatter_rows_safe", scatter_rows, "ok T1 qual=contents", (5,), rows_args([3, 0, 7, 1, 2]))
case("scatter_rows_race", scatter_rows, "races WAW:S:S/programs qual=contents", (5,), rows_args([3, 0, 7, 3, 2]))


@triton.jit
def csr_rows(ptr, val, out, B: tl.constexpr):
    row = tl.program_id(0)
    for at in range(tl.load(ptr + row), tl.load(ptr + row + 1), B):
        i = at + tl.arange(0, B)
        inside = i < tl.load(ptr + row + 1)
        v = tl.load(val + i, mask=inside)
        tl.store(out + i, v * 2, mask=inside)  # @S


def csr_args(values):
    return dict(ptr=T("i32", 6, values=values), val=T("f32", 40), out=T("f32", 40), B=8)


case("csr_rows_safe", csr_rows, "ok T1 qual=contents", (5,), csr_args([0, 3, 3, 20, 21, 40]))
case("csr_rows_race", csr_rows, "races WAW:S:S/programs qual=contents", (5,), csr_args([0, 3, 2, 20, 21, 40]))


# ---- further rows: the routing kernel on one program, a program that returns early --------------------------------------
@triton.jit
def aiter(topk, hist, out, n, E: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    counts = tl.zeros((E,), tl.int32)
    for off in range(0, n, B):
        i = off + tl.arange(0, B)
        counts += tl.histogram(tl.load(topk + i, mask=i < n, other=0), E)
    tl.store(hist + tl.arange(0, E), counts)  # @H
    tl.debug_barrier()
    tl.store(out + pid, tl.load(hist + pid))  # @L


def aiter_args():
    return dict(topk=T("i32", 61), hist=T("i32", 8), out=T("i32", 8), n=61, E=8, B=16)


case("aiter_race", aiter, "races WAW:H:H/programs RAW:H:L/programs", (8,), aiter_args())
case("aiter_control", aiter, "ok", (1,), aiter_args())
