"""One kernel (or family) per pitfall of the happens-before model, with the twin that differs in one
token. The numbers are those of the pitfall list; T numbers are rows of the test matrix."""
from cases import T, case, load_triton

triton, tl = load_triton()


# ---- p1, p2, T06: two lanes of one store, also where the inter query is empty ------------------
@triton.jit
def p1(out, MOD: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    tl.store(out + lane % MOD, lane)  # @S


case("p1_race", p1, "races WAW:S:S/threads", (1,), dict(out=T("i32", 64), MOD=2, B=64))
case("p1_safe", p1, "ok T0", (1,), dict(out=T("i32", 64), MOD=64, B=64))


@triton.jit
def p2(out, D: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    tl.store(out + tl.program_id(0) * B + lane // D, lane)  # @S


case("p2_race", p2, "races WAW:S:S/threads", (4,), dict(out=T("i32", 256), D=2, B=64))
case("p2_safe", p2, "ok T0", (4,), dict(out=T("i32", 256), D=1, B=64))


# ---- p3, T17: iterations of one program --------------------------------------------------------
@triton.jit
def p3(out, C: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    for k in range(4):
        tl.store(out + tl.program_id(0) * 256 + k * C + lane, k)  # @S


case("p3_race", p3, "races WAW:S:S/threads", (3,), dict(out=T("i32", 1024), C=1, B=64))
case("p3_safe", p3, "ok T0", (3,), dict(out=T("i32", 1024), C=64, B=64))


# ---- p4, T24: an axis that nobody reads --------------------------------------------------------
@triton.jit
def p4(out, B: tl.constexpr):
    tl.store(out + tl.arange(0, B), 1)  # @S


case("p4_race", p4, "races WAW:S:S/programs", (4,), dict(out=T("i32", 64), B=64))
case("p4_safe", p4, "ok", (1,), dict(out=T("i32", 64), B=64))


# ---- p5: division by the number of programs ----------------------------------------------------
@triton.jit
def p5_div(out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i // tl.num_programs(0), 1)  # @S


@triton.jit
def p5_rem(out, B: tl.constexpr):
    tl.store(out + (tl.program_id(0) % tl.num_programs(0)) * B + tl.arange(0, B), 1)  # @S


case("p5_race", p5_div, "races WAW:S:S/threads", (2,), dict(out=T("i32", 128), B=64))
case("p5_safe", p5_rem, "ok", (2,), dict(out=T("i32", 128), B=64))


# ---- p6, T16: loops the access is not in -------------------------------------------------------
@triton.jit
def p6(p, q, n, SHIFT: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    acc = tl.zeros([B], dtype=tl.int32)
    for k in range(n):
        acc += tl.load(q + k)
    v = tl.load(p + i + SHIFT)  # @L
    tl.store(p + i, v + acc)  # @S


case("p6_safe", p6, "ok T0", (4,), dict(p=T("i32", 256), q=T("i32", 8), n=8, SHIFT=0, B=64))
case("p6_race", p6, "races WAR:L:S/threads WAR:L:S/programs", (4,), dict(p=T("i32", 264), q=T("i32", 8), n=8, SHIFT=1, B=64))


# ---- p7: two loops one after the other ---------------------------------------------------------
@triton.jit
def p7(out, START: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    for i in range(4):
        tl.store(out + i * B + lane, i)  # @A
    for j in range(4):
        tl.store(out + (START + j) * B + lane, j)  # @B


case("p7_safe", p7, "ok", (1,), dict(out=T("i32", 512), START=4, B=64))
case("p7_race", p7, "races WAW:A:B/threads", (1,), dict(out=T("i32", 512), START=3, B=64))


@triton.jit
def p7_left(out, BACK: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    at = 0
    for i in range(4):
        tl.store(out + at + lane, i)  # @A
        at += B
    tl.store(out + at - BACK + lane, 9)  # @B


case("p7_left_safe", p7_left, "ok", (1,), dict(out=T("i32", 512), BACK=0, B=64))
case("p7_left_race", p7_left, "races WAW:A:B/threads", (1,), dict(out=T("i32", 512), BACK=64, B=64))


# ---- p8, p9, T13: dependency through an exchange -----------------------------------------------
@triton.jit
def p8(x, y, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)  # @L
    o = tl.atomic_xchg(x + i, v, sem="relaxed")  # @X
    tl.store(y + i, o)  # @S


@triton.jit
def p9(x, y, B: tl.constexpr):
    lane = tl.arange(0, B)
    i = tl.program_id(0) * B + lane
    v = tl.load(x + i)  # @L
    o = tl.atomic_xchg(x + i, v, mask=lane < 32, sem="relaxed")  # @X
    tl.store(y + i, o)  # @S


case("p8_safe", p8, "ok", (2,), dict(x=T("i32", 128), y=T("i32", 128, of="x"), B=64))
case("p9_race", p9, "races WAR:L:S/threads", (2,), dict(x=T("i32", 128), y=T("i32", 128, of="x"), B=64))


# ---- p10, T19: loop that does not run ----------------------------------------------------------
@triton.jit
def p10(out, n, B: tl.constexpr):
    for k in range(n):
        tl.store(out + tl.arange(0, B), k)  # @S


case("p10_safe", p10, "ok", (4,), dict(out=T("i32", 64), n=0, B=64), nospec=("n",))
case("p10_race", p10, "races WAW:S:S/programs", (4,), dict(out=T("i32", 64), n=1, B=64), nospec=("n",))


# ---- p11: the program is read, but nothing that survives mentions it ---------------------------
@triton.jit
def p11_value(out, B: tl.constexpr):
    tl.store(out + tl.arange(0, B), tl.program_id(0))  # @S


@triton.jit
def p11_mask(out, f, B: tl.constexpr):
    on = tl.load(f + tl.program_id(0)) != 0
    lane = tl.arange(0, B)
    tl.store(out + lane, 1, mask=on & (lane >= 0))  # @S


@triton.jit
def p11_path(out, B: tl.constexpr):
    if tl.exp(tl.program_id(0).to(tl.float32)) > 2.0:
        tl.store(out + tl.arange(0, B), 1)  # @S


case("p11_value_race", p11_value, "races WAW:S:S/programs", (4,), dict(out=T("i32", 64), B=64))
case("p11_value_safe", p11_value, "ok", (1,), dict(out=T("i32", 64), B=64))
case("p11_mask", p11_mask, "unsupported potential-race", (4,), dict(out=T("i32", 64), f=T("i32", 4), B=64))
case("p11_mask_safe", p11_mask, "ok", (1,), dict(out=T("i32", 64), f=T("i32", 4), B=64))
case("p11_path", p11_path, "unsupported potential-race", (4,), dict(out=T("i32", 64), B=64))


# ---- p12: two tensors --------------------------------------------------------------------------
@triton.jit
def p12(a, b, D: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(a + i, 1)  # @A
    tl.store(b + i // D, 1)  # @B


case("p12_safe", p12, "ok T0", (4,), dict(a=T("i32", 256), b=T("i32", 256), D=1, B=64))
case("p12_race", p12, "races WAW:B:B/threads", (4,), dict(a=T("i32", 256), b=T("i32", 256), D=2, B=64))


# ---- p13: a strided tensor; the race lies past numel -------------------------------------------
@triton.jit
def p13(out, s, D: tl.constexpr):
    pid = tl.program_id(0)
    if pid >= 2:
        tl.store(out + (pid // D) * s, pid)  # @S


case("p13_safe", p13, "ok", (4,), dict(out=T("i32", 4, strides=(32,)), s=32, D=1))
case("p13_race", p13, "races WAW:S:S/programs", (4,), dict(out=T("i32", 4, strides=(32,)), s=32, D=2))


# ---- p14, T02: distinct tensors, one of them passed twice --------------------------------------
@triton.jit
def p14(src, dst, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(src + i)  # @L
    tl.store(dst + i + 1, v)  # @S


case("p14_safe", p14, "ok T0", (4,), dict(src=T("i32", 264), dst=T("i32", 264), B=64))
case("p14_race", p14, "races *:L:S/threads *:L:S/programs", (4,), dict(src=T("i32", 264), dst=T("i32", 264, of="src"), B=64))


# ---- p15, p110, T07, T08: lanes that the address does not name ---------------------------------
@triton.jit
def p15(p, M: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    tl.store(p + tl.zeros([B], dtype=tl.int32), lane, mask=lane < M)  # @S


@triton.jit
def p15_rows(p, ROW: tl.constexpr, B: tl.constexpr):
    col = tl.arange(0, B)[None, :]
    row = tl.arange(0, B)[:, None]
    tl.store(p + tl.broadcast_to(row * ROW + col, (B, B)), 1)  # @S


case("p15_race", p15, "races WAW:S:S/threads", (1,), dict(p=T("i32", 1), M=64, B=64))
case("p15_safe", p15, "ok", (1,), dict(p=T("i32", 1), M=1, B=64))
case("p15_rows_race", p15_rows, "races WAW:S:S/threads", (1,), dict(p=T("i32", 256), ROW=0, B=16))
case("p15_rows_safe", p15_rows, "ok", (1,), dict(p=T("i32", 256), ROW=16, B=16))


# ---- p16, T09: two ranges along one axis are one coordinate ------------------------------------
@triton.jit
def p16(out, D: tl.constexpr, B: tl.constexpr):
    a = tl.arange(0, B)
    b = tl.arange(B, 2 * B)
    tl.store(out + tl.program_id(0) * B + a // D, 1, mask=b < B + 32)  # @S


case("p16_safe", p16, "ok", (2,), dict(out=T("i32", 128), D=1, B=64))
case("p16_race", p16, "races WAW:S:S/threads", (2,), dict(out=T("i32", 128), D=2, B=64))


@triton.jit
def p16_square(out, S: tl.constexpr, B: tl.constexpr):
    r = tl.arange(0, B)
    tl.store(out + r[:, None] * S + r[None, :], 1)  # @S


case("p16_square_safe", p16_square, "ok", (1,), dict(out=T("i32", 256), S=16, B=16))
case("p16_square_race", p16_square, "races WAW:S:S/threads", (1,), dict(out=T("i32", 256), S=15, B=16))


# ---- p17: a reduction is not one symbolic lane -------------------------------------------------
@triton.jit
def p17(idx, out, B: tl.constexpr):
    m = tl.max(tl.load(idx + tl.arange(0, B)), axis=0)
    tl.store(out + m * 64 + tl.program_id(0), 1)  # @S


@triton.jit
def p17_safe(idx, out, B: tl.constexpr):
    m = tl.max(tl.arange(0, B), axis=0)
    tl.store(out + m * 0 + tl.program_id(0), 1)


case("p17_refused", p17, "unsupported indirect-address", (2,), dict(idx=T("i32", 64), out=T("i32", 4096), B=64))
case("p17_safe", p17_safe, "ok", (2,), dict(idx=T("i32", 64), out=T("i32", 4096), B=64))


# ---- p18, T50: a barrier under a condition -----------------------------------------------------
@triton.jit
def p18(x, y, LEAST: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    tl.store(x + pid * B + lane, 1)  # @S
    if pid >= LEAST:
        tl.debug_barrier()
    v = tl.load(x + pid * B + (B - 1 - lane))  # @L
    tl.store(y + pid * B + lane, v)


@triton.jit
def p18_inside(x, y, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    if pid >= 1:
        tl.store(x + pid * B + lane, 1)  # @S
        tl.debug_barrier()
        v = tl.load(x + pid * B + (B - 1 - lane))  # @L
        tl.store(y + pid * B + lane, v)


@triton.jit
def p18_always(x, y, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    tl.store(x + pid * B + lane, 1)  # @S
    tl.debug_barrier()
    v = tl.load(x + pid * B + (B - 1 - lane))  # @L
    tl.store(y + pid * B + lane, v)


case("p18_race", p18, "races RAW:S:L/threads", (3,), dict(x=T("i32", 256), y=T("i32", 256), LEAST=1, B=64))
case("p18_always_safe", p18_always, "ok T0", (3,), dict(x=T("i32", 256), y=T("i32", 256), B=64))
case("p18_inside_safe", p18_inside, "ok", (3,), dict(x=T("i32", 256), y=T("i32", 256), B=64))
# p20, T49: a barrier of shared memory only, of reads only
case("p20_local_race", p18_always, "races RAW:S:L/threads", (3,), dict(x=T("i32", 256), y=T("i32", 256), B=64),
     edit=(("ttg.barrier all", "ttg.barrier local"),))
case("p20_half_race", p18_always, "races RAW:S:L/threads", (3,), dict(x=T("i32", 256), y=T("i32", 256), B=64),
     edit=(("ttg.barrier all", "ttg.barrier local|global_read"),))
case("p20_both_safe", p18_always, "ok T0", (3,), dict(x=T("i32", 256), y=T("i32", 256), B=64),
     edit=(("ttg.barrier all", "ttg.barrier global_read|global_write"),))
case("p20_old_safe", p18_always, "ok T0", (3,), dict(x=T("i32", 256), y=T("i32", 256), B=64),
     edit=(("ttg.barrier all", "gpu.barrier"),))


# ---- p19, p90, T51: a barrier between two accesses of a loop, and one on the back edge ---------
@triton.jit
def p19(x, BACK: tl.constexpr, B: tl.constexpr):
    base = tl.program_id(0) * B
    lane = tl.arange(0, B)
    for k in range(4):
        v = tl.load(x + base + (B - 1 - lane))  # @L
        tl.debug_barrier()
        tl.store(x + base + lane, v + 1)  # @S
        if BACK:
            tl.debug_barrier()


case("p19_race", p19, "races WAR:L:S/threads", (2,), dict(x=T("i32", 128), BACK=False, B=64))
case("p19_safe", p19, "ok T0", (2,), dict(x=T("i32", 128), BACK=True, B=64))


@triton.jit
def p90(x, y, n, BACK: tl.constexpr, B: tl.constexpr):
    base = tl.program_id(0) * B
    lane = tl.arange(0, B)
    for k in range(n):
        tl.store(x + base + lane, k)  # @S
        tl.debug_barrier()
        v = tl.load(x + base + (B - 1 - lane))  # @L
        tl.store(y + base + lane, v)
        if BACK:
            tl.debug_barrier()


case("p90_race", p90, "races RAW:S:L/threads", (2,), dict(x=T("i32", 128), y=T("i32", 128), n=5, BACK=False, B=64))
case("p90_safe", p90, "ok T0", (2,), dict(x=T("i32", 128), y=T("i32", 128), n=5, BACK=True, B=64))


# ---- T52, T53: barriers outside the loop, barriers in a loop that may not run ------------------
@triton.jit
def t52(x, y, INSIDE: tl.constexpr, B: tl.constexpr):
    base = tl.program_id(0) * B
    lane = tl.arange(0, B)
    tl.debug_barrier()
    for k in range(3):
        if k == 0:
            tl.store(x + base + lane, k)  # @S
        if INSIDE:
            tl.debug_barrier()
        v = tl.load(x + base + (B - 1 - lane))  # @L
        tl.store(y + base + lane, v)
    tl.debug_barrier()


@triton.jit
def t52_split(x, y, B: tl.constexpr):
    base = tl.program_id(0) * B
    lane = tl.arange(0, B)
    tl.store(x + base + lane, 1)  # @S
    tl.debug_barrier()
    for k in range(3):
        v = tl.load(x + base + (B - 1 - lane))  # @L
        tl.store(y + base + lane, v)


case("t52_race", t52, "races RAW:S:L/threads", (2,), dict(x=T("i32", 128), y=T("i32", 128), INSIDE=False, B=64))
case("t52_safe", t52_split, "ok T0", (2,), dict(x=T("i32", 128), y=T("i32", 128), B=64))


@triton.jit
def t53(x, y, n, B: tl.constexpr):
    base = tl.program_id(0) * B
    lane = tl.arange(0, B)
    tl.store(x + base + lane, 1)  # @S
    for k in range(n):
        tl.debug_barrier()
    v = tl.load(x + base + (B - 1 - lane))  # @L
    tl.store(y + base + lane, v)


case("t53_race", t53, "races RAW:S:L/threads", (2,), dict(x=T("i32", 128), y=T("i32", 128), n=0, B=64), nospec=("n",))
case("t53_safe", t53, "ok", (2,), dict(x=T("i32", 128), y=T("i32", 128), n=2, B=64), nospec=("n",))


# ---- p38, T62, T61: width obligations ----------------------------------------------------------
@triton.jit
def p38(out):
    pid = tl.program_id(0)
    wraps = (pid * 1073741824) // 1073741824
    tl.store(out + tl.where(pid >= 2, 0, wraps), pid)  # @S


case("p38_race", p38, "races WAW:S:S/programs", (3,), dict(out=T("i32", 4)))
case("p38_safe", p38, "ok", (2,), dict(out=T("i32", 4)))


@triton.jit
def t61(out):
    pid = tl.program_id(0)
    tl.store(out + ((pid * 1073741824) // 1073741824) % 3, 1)  # @S


case("t61_wraps", t61, "unsupported integer-overflow", (3,), dict(out=T("i32", 4)))
case("t61_safe", t61, "ok qual=i32", (2,), dict(out=T("i32", 4)))


# ---- p39: the sign of a dividend holds only under the mask -------------------------------------
@triton.jit
def p39(out, MASKED: tl.constexpr, B: tl.constexpr):
    x = tl.arange(0, B) - 3
    at = out + (x // 4) * 4 + (x & 3)
    if MASKED:
        tl.store(at, x, mask=x >= 0)  # @A
    else:
        tl.store(at, x)  # @B


case("p39_safe", p39, "ok", (1,), dict(out=T("i32", 16, before=16), MASKED=True, B=8))
case("p39_race", p39, "races WAW:B:B/threads", (1,), dict(out=T("i32", 16, before=16), MASKED=False, B=8))


# ---- p40, T63: two widths ----------------------------------------------------------------------
@triton.jit
def p40(a, b):
    pid = tl.program_id(0)
    if pid % 2 == 0:
        tl.store(a + pid * 65536, 1)
    else:
        tl.store(b + pid.to(tl.int64) * 1099511627776, 1)


case("p40_safe", p40, "ok qual=i32 qual=i64", (1,), dict(a=T("i32", 4), b=T("i32", 4)))


# ---- p45, T12, T15, p48, p50: dependency by position -------------------------------------------
@triton.jit
def p45(x, SHIFT: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    v = tl.load(x + lane + SHIFT)  # @L
    tl.store(x + lane, v + 1)  # @S


case("p45_race", p45, "races WAR:L:S/threads", (1,), dict(x=T("i32", 80), SHIFT=1, B=64))
case("p45_safe", p45, "ok", (1,), dict(x=T("i32", 80), SHIFT=0, B=64))


@triton.jit
def p46_sum(x, y, B: tl.constexpr):
    lane = tl.arange(0, B)
    v = tl.load(x + lane)  # @L
    tl.store(y + lane, tl.sum(v, axis=0) + tl.zeros([B], dtype=tl.int32))  # @S


@triton.jit
def p46_trans(x, y, B: tl.constexpr):
    off = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]
    v = tl.load(x + off)  # @L
    tl.store(y + off, tl.trans(v))  # @S


@triton.jit
def p46_reshape(x, y, B: tl.constexpr):
    lane = tl.arange(0, B)
    v = tl.load(x + lane)  # @L
    w = tl.reshape(tl.trans(tl.reshape(v, (2, B // 2))), (B,))
    tl.store(y + lane, w)  # @S


for name, fn, n in (("sum", p46_sum, 64), ("trans", p46_trans, 16), ("reshape", p46_reshape, 64)):
    size = n * n if name == "trans" else n
    case(f"p46_{name}_race", fn, "races WAR:L:S/threads", (1,), dict(x=T("i32", size), y=T("i32", size, of="x"), B=n))
    case(f"p46_{name}_safe", fn, "ok T0", (1,), dict(x=T("i32", size), y=T("i32", size), B=n))


@triton.jit
def p47(x, y, SUM: tl.constexpr, B: tl.constexpr):
    v = tl.load(x + tl.program_id(0))  # @L
    w = v + 1
    if SUM:
        w += tl.sum(tl.load(y + tl.arange(0, B)) + v, axis=0)
    tl.store(x + tl.program_id(0), w)  # @S


case("p47_race", p47, "races WAR:L:S/threads", (2,), dict(x=T("i32", 2), y=T("i32", 64), SUM=True, B=64))
case("p47_safe", p47, "ok T0", (2,), dict(x=T("i32", 2), y=T("i32", 64), SUM=False, B=64))


@triton.jit
def p48(x, g, SHIFT: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    k = tl.load(g)
    v = tl.load(x + i)  # @L
    tl.store(x + i + SHIFT, v * k)  # @S


case("p48_safe", p48, "ok T0", (2,), dict(x=T("i32", 136), g=T("i32", 1), SHIFT=0, B=64))
case("p48_race", p48, "races WAR:L:S/threads WAR:L:S/programs", (2,), dict(x=T("i32", 136), g=T("i32", 1), SHIFT=1, B=64))


@triton.jit
def p49(x, SHIFT: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    v = tl.load(x + lane + SHIFT, mask=lane < B - 8)  # @L
    tl.store(x + lane, v, mask=lane < B - 8)  # @S


case("p49_safe", p49, "ok", (1,), dict(x=T("i32", 64), SHIFT=0, B=64))
case("p49_race", p49, "races WAR:L:S/threads", (1,), dict(x=T("i32", 64), SHIFT=8, B=64))


@triton.jit
def p50(x, SHIFT: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i + SHIFT).to(tl.int32).to(tl.float32)  # @L
    tl.store(x + i, (v * 2.0).to(tl.int8))  # @S


case("p50_safe", p50, "ok T0", (2,), dict(x=T("i8", 136), SHIFT=0, B=64))
case("p50_race", p50, "races WAR:L:S/threads WAR:L:S/programs", (2,), dict(x=T("i8", 136), SHIFT=2, B=64))


# ---- p52: a symbolic product under a cast ------------------------------------------------------
@triton.jit
def p52(out, s, B: tl.constexpr):
    base = (tl.program_id(0).to(tl.int64) * s).to(tl.int32)
    tl.store(out + base + tl.arange(0, B), 1)  # @S


case("p52_safe", p52, "ok", (4,), dict(out=T("i32", 256), s=64, B=64))
case("p52_race", p52, "races WAW:S:S/programs", (4,), dict(out=T("i32", 256), s=32, B=64))


# ---- p54: a pointer advanced by what a loop loads ----------------------------------------------
@triton.jit
def p54(out, step, LOADED: tl.constexpr, B: tl.constexpr):
    p = out + tl.program_id(0) * 4 * B + tl.arange(0, B)
    for k in range(4):
        tl.store(p, k)  # @S
        if LOADED:
            p += tl.load(step + k)
        else:
            p += B


case("p54_refused", p54, "unsupported loop-variant-advance|indirect-address", (2,), dict(out=T("i32", 512), step=T("i32", 4), LOADED=True, B=64))
case("p54_safe", p54, "ok T0", (2,), dict(out=T("i32", 512), step=T("i32", 4), LOADED=False, B=64))


# ---- p56, T59, T60: over-approximated accesses -------------------------------------------------
@triton.jit
def p56(out, f, SPAN: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    on = tl.load(f + pid * B + lane) != 0
    tl.store(out + pid * SPAN + lane, 1, mask=on)  # @S


@triton.jit
def t60(out, f, other, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    on = tl.load(f + pid * B + lane) != 0
    tl.store(out + lane, 1, mask=on)  # @S
    tl.store(other + lane, 1)  # @E


case("p56_possible", p56, "unsupported potential-race", (4,), dict(out=T("i32", 256), f=T("i32", 256), SPAN=32, B=64))
case("p56_safe", p56, "ok", (4,), dict(out=T("i32", 256), f=T("i32", 256), SPAN=64, B=64))
case("t60_race", t60, "races WAW:E:E/programs withheld", (4,), dict(out=T("i32", 64), f=T("i32", 256), other=T("i32", 64), B=64))


# ---- p57, p58, T73: an answer that is not there ------------------------------------------------
@triton.jit
def p59(out, B: tl.constexpr):
    tl.store(out + (tl.program_id(0) % 4) * B + tl.arange(0, B), 1)  # @S


@triton.jit
def p58(out, s, t, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + (i % s) * t + i // s, 1)  # @S


case("p57_budget", p59, "unsupported|ok never=races", (4,), dict(out=T("i32", 256), B=64),
     options=("--engine=isl", "--no-pretest", "--max-ops=1", "--first-ops=1"))
case("p58_unknown", p58, "unsupported|ok never=races", (2,), dict(out=T("i32", 4096), s=16, t=8, B=64),
     options=("--engine=z3", "--z3-rlimit=1"))
# p59: the race of another grid is not a race of this launch
case("p59_fragile", p59, "ok T1-launch fragile", (4,), dict(out=T("i32", 256), B=64))
case("p59_race", p59, "races WAW:S:S/programs", (5,), dict(out=T("i32", 256), B=64))


# ---- p62: remainder by zero --------------------------------------------------------------------
@triton.jit
def p62(out, z):
    pid = tl.program_id(0)
    tl.store(out + (pid % z) // 2, 1)  # @S


case("p62", p62, "races|unsupported|vacuous never=ok", (4,), dict(out=T("i32", 4), z=0), nospec=("z",))
case("p62_race", p62, "races WAW:S:S/programs", (4,), dict(out=T("i32", 4), z=4), nospec=("z",))


# ---- p67, p68, p113, T27: atomics that overlap without being the same cell ---------------------
@triton.jit
def p67(a, b):
    tl.atomic_add(a, 1, sem="relaxed")  # @A
    tl.atomic_add(b, 1, sem="relaxed")  # @B


case("p67_race", p67, "races WAW:A:B/threads WAW:A:B/programs", (2,), dict(a=T("i32", 4), b=T("i64", 2, of="a")))
case("p68_race", p67, "races WAW:A:B/threads WAW:A:B/programs", (2,), dict(a=T("i32", 4), b=T("i32", 3, of="a", at=2)))
case("p67_safe", p67, "ok", (2,), dict(a=T("i32", 4), b=T("i32", 4, of="a")))


# ---- p69, T26 and p70, T28: scope; an atomic against a plain access ----------------------------
@triton.jit
def p69(c, SCOPE: tl.constexpr):
    tl.atomic_add(c, 1, sem="relaxed", scope=SCOPE)  # @A


case("p69_race", p69, "races WAW:A:A/programs", (2,), dict(c=T("i32", 1), SCOPE="cta"))
case("p69_safe", p69, "ok T0", (2,), dict(c=T("i32", 1), SCOPE="gpu"))
case("p69_sys_safe", p69, "ok T0", (2,), dict(c=T("i32", 1), SCOPE="sys"))


@triton.jit
def p70(c, y, PLAIN: tl.constexpr):
    pid = tl.program_id(0)
    if pid == 0:
        tl.atomic_add(c, 1, sem="relaxed")  # @A
    else:
        if PLAIN:
            tl.store(y + pid, tl.load(c))  # @L
        else:
            tl.atomic_add(c, 2, sem="relaxed")


case("p70_race", p70, "races RAW:A:L/programs", (3,), dict(c=T("i32", 1), y=T("i32", 4), PLAIN=True))
case("p70_safe", p70, "ok", (3,), dict(c=T("i32", 1), y=T("i32", 4), PLAIN=False))


# ---- p72: eight-bit floats ---------------------------------------------------------------------
@triton.jit
def p72(x, y, S: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * S + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i))  # @S


case("p72_safe", p72, "ok T0", (2,), dict(x=T("f8", 128), y=T("f8", 128), S=64, B=64), target=90)
case("p72_race", p72, "races WAW:S:S/programs", (2,), dict(x=T("f8", 128), y=T("f8", 128), S=63, B=64), target=90)


# ---- p73: premises that nothing satisfies ------------------------------------------------------
@triton.jit
def p73(out, n, B: tl.constexpr):
    tl.assume(n > 100)
    tl.store(out + tl.program_id(0) * B + tl.arange(0, B), 1, mask=tl.arange(0, B) < n)


case("p73_vacuous", p73, "vacuous", (2,), dict(out=T("i32", 128), n=5, B=64))
case("p73_safe", p73, "ok", (2,), dict(out=T("i32", 128), n=105, B=64))


# ---- p74, p75, T10: scalars --------------------------------------------------------------------
@triton.jit
def p74(out):
    tl.store(out, 7)  # @S


@triton.jit
def t10(out, BAR: tl.constexpr):
    tl.store(out, 7)  # @A
    if BAR:
        tl.debug_barrier()
    tl.store(out, 8)  # @B


case("p74_race", p74, "races WAW:S:S/programs", (2,), dict(out=T("i32", 1)))
case("p75_safe", p74, "ok", (1,), dict(out=T("i32", 1)))
case("t10_race", t10, "races WAW:A:B/threads", (1,), dict(out=T("i32", 1), BAR=False))
case("t10_safe", t10, "ok", (1,), dict(out=T("i32", 1), BAR=True))


# ---- p80, T74, T05: early return; the arms of one branch ---------------------------------------
@triton.jit
def p80(out, T_: tl.constexpr):
    if tl.program_id(0) >= T_:
        return
    tl.store(out, 1)  # @S


@triton.jit
def p80_arms(out, FIRST: tl.constexpr):
    if tl.program_id(0) == 0:
        tl.store(out + FIRST, 1)  # @A
    else:
        tl.store(out + tl.program_id(0), 2)  # @B


case("p80_race", p80, "races WAW:S:S/programs", (4,), dict(out=T("i32", 4), T_=2))
case("p80_safe", p80, "ok", (4,), dict(out=T("i32", 4), T_=1))
case("p80_arms_race", p80_arms, "races WAW:A:B/programs", (3,), dict(out=T("i32", 4), FIRST=1))
case("p80_arms_safe", p80_arms, "ok", (3,), dict(out=T("i32", 4), FIRST=0))


@triton.jit
def p80_one_cell(out):
    if tl.program_id(0) == 0:
        tl.store(out, 1)  # @A
    else:
        tl.store(out, 2)  # @B


case("p80_one_cell_race", p80_one_cell, "races WAW:A:B/programs", (2,), dict(out=T("i32", 4)))
case("p80_one_cell_safe", p80_one_cell, "ok", (1,), dict(out=T("i32", 4)))


# ---- p81, T64: a loop whose bound wraps where it is not reached --------------------------------
@triton.jit
def p81(out, m, B: tl.constexpr):
    pid = tl.program_id(0)
    if pid < m:
        for k in range((pid * 1073741824) // 1073741824):
            tl.store(out + (pid * 4 + k) * B + tl.arange(0, B), 1)


case("p81_safe", p81, "ok", (3,), dict(out=T("i32", 4096), m=2, B=64))
case("p81_wraps", p81, "unsupported integer-overflow", (3,), dict(out=T("i32", 4096), m=3, B=64))


# ---- p82: a merged address ---------------------------------------------------------------------
@triton.jit
def p82(out, FIRST: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    if pid == 0:
        at = FIRST
    else:
        at = pid * B
    tl.store(out + at + tl.arange(0, B), 1)  # @S


case("p82_race", p82, "races WAW:S:S/programs", (2,), dict(out=T("i32", 128), FIRST=64, B=64))
case("p82_safe", p82, "ok", (2,), dict(out=T("i32", 128), FIRST=0, B=64))


# ---- p91: a barrier after an early return ------------------------------------------------------
@triton.jit
def p91(x, y, n, BAR: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    tl.store(x + pid * B + lane, 1)  # @S
    if pid >= n:
        return
    if BAR:
        tl.debug_barrier()
    v = tl.load(x + pid * B + (B - 1 - lane))  # @L
    tl.store(y + pid * B + lane, v)


case("p91_safe", p91, "ok", (3,), dict(x=T("i32", 192), y=T("i32", 192), n=2, BAR=True, B=64))
case("p91_race", p91, "races RAW:S:L/threads", (3,), dict(x=T("i32", 192), y=T("i32", 192), n=2, BAR=False, B=64))


# ---- p92, T22: the step is the grid ------------------------------------------------------------
@triton.jit
def p92(out, n, W: tl.constexpr, B: tl.constexpr):
    for v in range(tl.program_id(0), n, tl.num_programs(0)):
        tl.store(out + v * W + tl.arange(0, B), 1)  # @S


case("p92_safe", p92, "ok|unsupported alt=loop-bound", (4,), dict(out=T("i32", 1024), n=10, W=64, B=64))
case("p92_race", p92, "races WAW:S:S/programs alt=loop-bound", (4,), dict(out=T("i32", 1024), n=10, W=32, B=64))


# ---- p97: source order is not an order ---------------------------------------------------------
@triton.jit
def p97_raw(x, y, BAR: tl.constexpr):
    tl.store(x, 7)  # @S
    if BAR:
        tl.debug_barrier()
    tl.store(y, tl.load(x))  # @L


@triton.jit
def p97_war(x, y, BAR: tl.constexpr):
    tl.store(y, tl.load(x))  # @L
    if BAR:
        tl.debug_barrier()
    tl.store(x, 7)  # @S


for bar, name in ((False, "race"), (True, "safe")):
    case(f"p97_raw_{name}", p97_raw, "ok" if bar else "races RAW:S:L/threads", (1,), dict(x=T("i32", 1), y=T("i32", 1), BAR=bar))
    case(f"p97_war_{name}", p97_war, "ok" if bar else "races WAR:L:S/threads", (1,), dict(x=T("i32", 1), y=T("i32", 1), BAR=bar))


# ---- p98: no order through a load that may be masked off ---------------------------------------
@triton.jit
def p98(x, y, MASKED: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    v = tl.load(x + lane)  # @L
    w = tl.load(y + lane, mask=v > 0)
    if MASKED:
        tl.store(x + lane, w, mask=v > 0)  # @A
    else:
        tl.store(x + lane, w)  # @B


case("p98_race", p98, "unsupported potential-race", (1,), dict(x=T("i32", 64), y=T("i32", 64), MASKED=False, B=64))
case("p98_safe", p98, "ok", (1,), dict(x=T("i32", 64), y=T("i32", 64), MASKED=True, B=64))


# ---- p104, p111, p114, T87: axes ---------------------------------------------------------------
@triton.jit
def p104(out, B: tl.constexpr):
    tl.store(out + tl.program_id(0) * B + tl.arange(0, B), 1)  # @S


@triton.jit
def p114(out, B: tl.constexpr):
    tl.store(out + (tl.program_id(0) + tl.program_id(1)) * B + tl.arange(0, B), 1)  # @S


case("p104_race", p104, "races WAW:S:S/programs", (4, 2), dict(out=T("i32", 256), B=64))
case("p104_safe", p104, "ok axes=any,1,1", (4, 1), dict(out=T("i32", 256), B=64))
case("p104_z_race", p104, "races WAW:S:S/programs", (4, 1, 2), dict(out=T("i32", 256), B=64))
case("p114_race", p114, "races WAW:S:S/programs", (2, 2), dict(out=T("i32", 256), B=64))
case("p114_safe", p114, "ok T1-launch fragile", (2, 1), dict(out=T("i32", 256), B=64))


# ---- p105, p112, T80: truncating division of negative numbers ----------------------------------
@triton.jit
def p105(out, BACK: tl.constexpr, B: tl.constexpr):
    x = tl.program_id(0) * B + tl.arange(0, B) - BACK
    tl.store(out + (x // 4) * 4 + (x & 3), x)  # @S


@triton.jit
def p105_rem(out, BACK: tl.constexpr, B: tl.constexpr):
    x = tl.program_id(0) * B + tl.arange(0, B) - BACK
    tl.store(out + (x // 4) * 4 + x % 4, x)  # @S


case("p105_race", p105, "races WAW:S:S/threads", (2,), dict(out=T("i32", 16, before=8), BACK=3, B=8))
case("p105_safe", p105, "ok", (2,), dict(out=T("i32", 16, before=8), BACK=0, B=8))
case("p105_rem_safe", p105_rem, "ok", (2,), dict(out=T("i32", 16, before=8), BACK=3, B=8))


@triton.jit
def p112(out, STEP: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    tl.store(out + 8 + STEP * tl.program_id(0) + (lane - 4) % 4, 1, mask=lane >= 1)  # @S


case("p112_race", p112, "races WAW:S:S/programs", (2,), dict(out=T("i32", 64), STEP=4, B=8))
case("p112_safe", p112, "ok", (2,), dict(out=T("i32", 64), STEP=7, B=8))


# ---- p106: the wrap behind the bounds ----------------------------------------------------------
@triton.jit
def p106(out, K: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(out + pid * K, pid, mask=pid % 4 == 0)  # @S


case("p106_wraps", p106, "unsupported integer-overflow", (5,), dict(out=T("i32", 16), K=1073741824))
case("p106_safe", p106, "ok", (5,), dict(out=T("i32", 16), K=3))


# ---- p108, p109, T11: two accesses of one program ----------------------------------------------
@triton.jit
def p108(x, y, BAR: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    tl.store(x + lane, 1)  # @S
    if BAR:
        tl.debug_barrier()
    v = tl.load(x + (B - 1 - lane))  # @L
    tl.store(y + lane, v)


@triton.jit
def p109(x, BAR: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    tl.store(x + lane, 1)  # @A
    if BAR:
        tl.debug_barrier()
    tl.store(x + lane, 2)  # @B


for bar, name in ((False, "race"), (True, "safe")):
    case(f"p108_{name}", p108, "ok" if bar else "races RAW:S:L/threads", (1,), dict(x=T("i32", 64), y=T("i32", 64), BAR=bar, B=64))
    case(f"p109_{name}", p109, "ok" if bar else "races WAW:A:B/threads", (1,), dict(x=T("i32", 64), BAR=bar, B=64))


# ---- p117, p118, T69: bytes --------------------------------------------------------------------
@triton.jit
def p117(out, STEP: tl.constexpr, B: tl.constexpr):
    at = (out + tl.program_id(0) * B * 4 + STEP * tl.arange(0, B)).to(tl.pointer_type(tl.int32))
    tl.store(at, 1)  # @S


@triton.jit
def p117_half(out, STEP: tl.constexpr, B: tl.constexpr):
    at = (out + tl.program_id(0) * B * 4 + STEP * tl.arange(0, B)).to(tl.pointer_type(tl.float16))
    tl.store(at, 1.0)  # @S


@triton.jit
def p118(out, s, LAST: tl.constexpr):
    at = (out + tl.program_id(0) * s + LAST).to(tl.pointer_type(tl.int32))
    tl.store(at, 1)  # @S
    first = (out + tl.program_id(0) * s).to(tl.pointer_type(tl.int8))
    tl.store(first, 1)  # @F


case("p117_race", p117, "races WAW:S:S/threads", (2,), dict(out=T("i8", 1024), STEP=2, B=64))
case("p117_safe", p117, "ok T0", (2,), dict(out=T("i8", 1024), STEP=4, B=64))
case("t69_safe", p117_half, "ok T0", (2,), dict(out=T("i8", 1024), STEP=2, B=64))
case("p118_race", p118, "races WAW:S:F/programs", (2,), dict(out=T("i8", 1024), s=16, LAST=13), nospec=("s",))
case("p118_safe", p118, "ok", (2,), dict(out=T("i8", 1024), s=16, LAST=12), nospec=("s",))


# ---- p121: in bounds? --------------------------------------------------------------------------
@triton.jit
def p121(out, B: tl.constexpr):
    tl.store(out + tl.program_id(0) * B + tl.arange(0, B), 1)  # @S


@triton.jit
def p121_scatter(idx, out, B: tl.constexpr):
    i = tl.load(idx + tl.program_id(0) * B + tl.arange(0, B))
    tl.store(out + i, 1)  # @S


case("p121_short", p121, "ok qual=in-bounds oob", (4,), dict(out=T("i32", 200), B=64))
case("p121_safe", p121, "ok T0 noqual=in-bounds", (4,), dict(out=T("i32", 256), B=64))
case("p121_scatter", p121_scatter, "ok T1 qual=in-bounds qual=contents oob", (4,), dict(idx=T("i32", 8, values=[0, 1, 2, 3, 4, 5, 6, 7]), out=T("i32", 64), B=8))


# ---- p122: the threads of a program may read different values ----------------------------------
@triton.jit
def p122(f):
    if tl.load(f) == 0:  # @L
        tl.store(f, 1)  # @S


case("p122", p122, "races|unsupported never=ok", (1,), dict(f=T("i32", 1)))


# ---- T03, T04: tails; one writer ---------------------------------------------------------------
@triton.jit
def t03_clamp(out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + tl.minimum(i, n - 1), i)  # @S


@triton.jit
def t03_mask(out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, i, mask=i < n)  # @S


case("t03_race", t03_clamp, "races WAW:S:S/threads", (3,), dict(out=T("i32", 130), n=130, B=64))
case("t03_safe", t03_mask, "ok T0", (3,), dict(out=T("i32", 130), n=130, B=64))


@triton.jit
def t04(out, LAST: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    tl.store(out + lane, pid, mask=(lane >= 0) & (pid <= LAST))  # @S


case("t04_race", t04, "races WAW:S:S/programs", (4,), dict(out=T("i32", 64), LAST=1, B=64))
case("t04_safe", t04, "ok", (4,), dict(out=T("i32", 64), LAST=0, B=64))


# ---- T18: the same lane in every iteration -----------------------------------------------------
@triton.jit
def t18(out, TURN: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    for k in range(4):
        tl.store(out + tl.program_id(0) * B + (lane + TURN * k) % B, k)  # @S


case("t18_race", t18, "races WAW:S:S/threads", (2,), dict(out=T("i32", 128), TURN=1, B=64))
case("t18_safe", t18, "ok T0", (2,), dict(out=T("i32", 128), TURN=0, B=64))


# ---- T20, T21, T23: trips and strides ----------------------------------------------------------
@triton.jit
def t20(out, n, M: tl.constexpr):
    for k in range(n):
        tl.store(out + tl.program_id(0) * 64 + k, 1, mask=k < M)  # @S


case("t20_race", t20, "races WAW:S:S/programs", (2,), dict(out=T("i32", 256), n=128, M=128))
case("t20_safe", t20, "ok T0", (2,), dict(out=T("i32", 256), n=128, M=64))


@triton.jit
def t21(out, n, W: tl.constexpr, B: tl.constexpr):
    for v in range(tl.program_id(0), n, 4):
        tl.store(out + v * W + tl.arange(0, B), 1)  # @S


case("t21_race", t21, "races WAW:S:S/threads|WAW:S:S/programs", (4,), dict(out=T("i32", 1024), n=10, W=32, B=64))
case("t21_safe", t21, "ok T1-launch", (4,), dict(out=T("i32", 1024), n=10, W=64, B=64))


@triton.jit
def t23(out, n, m, RIGHT: tl.constexpr):
    pid = tl.program_id(0)
    for i in range(n):
        for j in range(m):
            if RIGHT:
                tl.store(out + (pid * n + i) * m + j, 1)  # @A
            else:
                tl.store(out + pid * n + i * m + j, 1)  # @B


case("t23_race", t23, "races WAW:B:B/programs", (4,), dict(out=T("i32", 64), n=2, m=3, RIGHT=False))
case("t23_safe", t23, "ok", (4,), dict(out=T("i32", 64), n=2, m=3, RIGHT=True))


# ---- T66, T67, T68: index arithmetic -----------------------------------------------------------
@triton.jit
def t66(out, M: tl.constexpr, K: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + (i // K) * M + i % K, 1)  # @S


case("t66_race", t66, "races WAW:S:S/threads WAW:S:S/programs", (2,), dict(out=T("i32", 256), M=15, K=16, B=64))
case("t66_safe", t66, "ok T0", (2,), dict(out=T("i32", 256), M=16, K=16, B=64))


@triton.jit
def t67(out, grid_m, grid_n, WRONG: tl.constexpr, G: tl.constexpr):
    pid = tl.program_id(0)
    width = G * grid_n
    group = pid // width
    size = tl.minimum(grid_m - group * G, G)
    if WRONG:
        size = G + 1
    pm = group * G + (pid % size)
    pn = (pid % width) // size
    tl.store(out + pm * grid_n + pn, pid)  # @S


case("t67_race", t67, "races WAW:S:S/programs", (15,), dict(out=T("i32", 64), grid_m=5, grid_n=3, WRONG=True, G=2))
case("t67_safe", t67, "ok", (15,), dict(out=T("i32", 64), grid_m=5, grid_n=3, WRONG=False, G=2))


@triton.jit
def t68(out, D: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + (i ^ 1) // D, 1)  # @S


case("t68_race", t68, "races WAW:S:S/threads", (2,), dict(out=T("i32", 128), D=2, B=64))
case("t68_safe", t68, "ok T0", (2,), dict(out=T("i32", 128), D=1, B=64))


# ---- T70, T71: views ---------------------------------------------------------------------------
@triton.jit
def t70(a, b, B: tl.constexpr):
    lane = tl.arange(0, B)
    tl.store(a + lane, 1)  # @A
    tl.store(b + lane, 2)  # @B


case("t70_race", t70, "races WAW:A:B/threads", (1,), dict(a=T("i32", 64, after=64), b=T("i32", 64, of="a", at=252), B=64))
case("t70_safe", t70, "ok", (1,), dict(a=T("i32", 64, after=64), b=T("i32", 64, of="a", at=256), B=64))


@triton.jit
def t71(out, ODD: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + 2 * i, 1)  # @A
    tl.store(out + 2 * i + ODD, 2)  # @B


case("t71_race", t71, "races WAW:A:B/threads WAW:A:B/programs", (2,), dict(out=T("i32", 300), ODD=2, B=64))
case("t71_safe", t71, "ok T0", (2,), dict(out=T("i32", 300), ODD=1, B=64))


# ---- T77: what is refused ----------------------------------------------------------------------
case("t77_cluster", p104, "unsupported multi-cta", (4,), dict(out=T("i32", 256), B=64), num_ctas=2)
case("p29_scope", p69, "unsupported other", (2,), dict(c=T("i32", 1), SCOPE="gpu"), edit=((", gpu,", ", cluster,"),))


@triton.jit
def t77(x, y, n, S: tl.constexpr, B: tl.constexpr):
    at = tl.program_id(0) * S
    dx = tl.make_tensor_descriptor(x, [n], [1], [B])
    dy = tl.make_tensor_descriptor(y, [n], [1], [B])
    v = dx.load([at])  # @L
    dy.store([at], v + 1)  # @S


case("t77_desc_safe", t77, "ok", (4,), dict(x=T("i32", 256), y=T("i32", 256), n=256, S=64, B=64), target=90)
case("t77_desc_race", t77, "races WAW:S:S/programs", (4,), dict(x=T("i32", 256), y=T("i32", 256), n=256, S=32, B=64), target=90)
case("t77_desc_inplace", t77, "unsupported potential-race", (4,), dict(x=T("i32", 256), y=T("i32", 256, of="x"), n=256, S=64, B=64), target=90)


# ---- dependencies through loops and branches: a value that iterations or arms hand on, lane by lane --------------------------
@triton.jit
def handed(x, y, n, KIND: tl.constexpr, X: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    to = i ^ X
    if KIND == 0:            # what an accumulator starts with
        acc = tl.load(x + i)  # @L0
        for k in range(n):
            acc = acc * 2 + tl.load(y + k * B + i)
        tl.store(x + to, acc)  # @S0
    elif KIND == 1:          # all that it adds
        acc = tl.zeros((B,), tl.int32)
        for k in range(n):
            acc += tl.load(x + k * B + i)  # @L1
        tl.store(x + B + to, acc)  # @S1
    elif KIND == 2:          # of a value that is replaced, the last one
        acc = tl.zeros((B,), tl.int32)
        for k in range(n):
            acc = tl.load(x + k * B + i)  # @L2
        tl.store(x + (n - 1 - X) * B + i, acc)  # @S2
    elif KIND == 3:          # the iteration before
        after = tl.load(x + i)  # @I3
        for k in range(n):
            now = after
            after = tl.load(x + (k + 1) * B + i)  # @L3
            tl.store(x + k * B + i, after if X else now)  # @S3
        tl.store(y + i, after)
    elif KIND == 4:          # earlier iterations
        acc = tl.zeros((B,), tl.int32)
        for k in range(n):
            tl.store(x + (k - 1 + X) * B + i, acc, mask=k + i >= B)  # @S4
            acc += tl.load(x + k * B + i)  # @L4
        tl.store(y + i, acc)
    elif KIND == 5:          # what an arm read
        acc = tl.load(y + i)
        if n > 2:
            acc += tl.load(x + i)  # @L5
        tl.store(x + to, acc)  # @S5
    elif KIND == 6:          # what was read before, where it is not replaced: n = 2
        acc = tl.load(x + i)  # @L6
        if n + X > 2:
            acc = tl.load(y + i)
        tl.store(x + i, acc)  # @S6
    elif KIND == 7:          # the same for a loop that does not run: n = 0
        acc = tl.load(x + i)  # @L7
        for k in range(n + X):
            acc = tl.load(y + k * B + i)
        tl.store(x + i, acc)  # @S7
    elif KIND == 8:          # an arm that starts anew breaks the chain
        acc = tl.zeros((B,), tl.int32)
        for k in range(n):
            if k == 1:
                acc = tl.zeros((B,), tl.int32)
            else:
                acc += tl.load(x + k * B + i)  # @L8
        tl.store(x + (n - 1) * (1 - X) * B + i, acc)  # @S8
    elif KIND == 9:          # loops in loops
        acc = tl.load(x + i)  # @L9
        for k in range(n):
            for m in range(k):
                acc += tl.load(y + m * B + i)
        tl.store(x + to, acc)  # @S9
    elif KIND == 10:         # the inner loop need not run, and what it adds stands for nothing then
        one = tl.load(x + i)  # @L10
        acc = tl.zeros((B,), tl.int32)
        for k in range(n):
            acc += one
        tl.store(x + i, acc)  # @S10


for kind, n in enumerate((4, 4, 4, 4, 4, 3, 2, 0, 4, 3)):
    for other in (0, 1):
        racing = {3: "races WAR:I3:S3/threads WAR:L3:S3/threads", 4: "races RAW:S4:L4/threads"}.get(kind, f"races WAR:L{kind}:S{kind}/threads")
        case(f"handed_{kind}{'_race' if other else ''}", handed, racing if other else "ok", (1,),
             dict(x=T("i32", 4096), y=T("i32", 4096), n=n, KIND=kind, X=other, B=64))
case("handed_10", handed, "races WAR:L10:S10/threads", (1,), dict(x=T("i32", 4096), y=T("i32", 4096), n=0, KIND=10, X=0, B=64), nospec=("n",))
