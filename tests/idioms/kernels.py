"""Idioms of all kinds: sorting networks, stencils, outputs in one storage, negative and zero strides, descriptors, block pointers, gathers and histograms in addresses, atomics, segments, solvers,
work split by tiles, recurrent states, ring buffers, rows and tiles in other orders. V chooses the variant: a correct one, or one with another index, mask, stride, entry or barrier."""
from cases import T, case, load_triton
triton, tl = load_triton()


NEVER = "races|unsupported never=ok"
PERHAPS = "ok|unsupported"


def both(name, fn, grid, args, safe=(0,), races=(1,), ok="ok", bad="races"):
    """One launch for each variant of the kernel: V in `safe` is right, V in `races` is not."""
    for v in safe:
        case(f"{name}_{v}" if v else name, fn, ok, grid, args(V=v))
    for v in races:
        case(f"{name}_wrong{v}", fn, bad, grid, args(V=v))


# Bitonic sort of a row in global memory with stages in loops, one program.
@triton.jit
def bitonic_global(x_ptr, N: tl.constexpr, V: tl.constexpr):
    i = tl.arange(0, N)
    row = tl.program_id(0) * N
    k = 2
    while k <= N:
        j = k // 2
        while j > 0:
            p = i ^ j
            a = tl.load(x_ptr + row + i)
            b = tl.load(x_ptr + row + p)
            up = (i & k) == 0
            lo = i < p
            keep_min = up == lo
            v = tl.where(keep_min, tl.minimum(a, b), tl.maximum(a, b))
            if V != 1:
                tl.debug_barrier()
            tl.store(x_ptr + row + i, v)
            if V != 2:
                tl.debug_barrier()
            j = j // 2
        k = k * 2


both("bitonic_global", bitonic_global, (2,), lambda V: dict(x_ptr=T("f32", 64), N=32, V=V), safe=(0,), races=(1, 2))


# Odd-even transposition, pair handled by one lane.
@triton.jit
def odd_even(x_ptr, n, V: tl.constexpr, B: tl.constexpr):
    t = tl.arange(0, B)
    for s in range(n):
        i = 2 * t + (s % 2 if V != 3 else 0)
        m = i + 1 < n
        a = tl.load(x_ptr + i, mask=m)
        b = tl.load(x_ptr + i + 1, mask=m)
        tl.store(x_ptr + i, tl.minimum(a, b), mask=m)
        if V == 1:
            tl.store(x_ptr + i + 2, tl.maximum(a, b), mask=m)
        else:
            tl.store(x_ptr + i + 1, tl.maximum(a, b), mask=m)
        if V != 2 and V != 3:
            tl.debug_barrier()


both("odd_even", odd_even, (1,), lambda V: dict(x_ptr=T("f32", 33), n=31, V=V, B=16), safe=(0,), races=(1, 2))
# 3: every lane keeps its pair in each step; loads of a later iteration by the same lanes as stores: threads of stores and loads are of one layout? model: race unless same lane..
both("odd_even_own", odd_even, (1,), lambda V: dict(x_ptr=T("f32", 33), n=31, V=V, B=16), safe=(), races=(3,), bad="races|unsupported|ok")


# Game of life, double buffer, in one launch one generation.
@triton.jit
def life(src, dst, H, W, V: tl.constexpr, BH: tl.constexpr, BW: tl.constexpr):
    y = tl.program_id(0) * BH + tl.arange(0, BH)[:, None]
    x = tl.program_id(1) * BW + tl.arange(0, BW)[None, :]
    m = (y < H) & (x < W)
    s = tl.zeros((BH, BW), tl.int32)
    for dy in tl.static_range(-1, 2):
        for dx in tl.static_range(-1, 2):
            if dy != 0 or dx != 0:
                yy = (y + dy + H) % H
                xx = (x + dx + W) % W
                s += tl.load(src + yy * W + xx, mask=m, other=0).to(tl.int32)
    c = tl.load(src + y * W + x, mask=m, other=0)
    v = ((s == 3) | ((s == 2) & (c == 1))).to(tl.int8)
    if V == 0:
        tl.store(dst + y * W + x, v, mask=m)
    elif V == 1:
        tl.store(dst + y * W + x, v, mask=y < H)
    elif V == 2:
        tl.store(src + y * W + x, v, mask=m)
    elif V == 3:
        tl.store(dst + y * W + x, v, mask=m & (v != c))
    elif V == 4:
        tl.store(dst + (y % H) * W + x % W, v)
    elif V == 5:
        tl.store(dst + y * H + x, v, mask=m)


both("life", life, (2, 3), lambda V: dict(src=T("i8", 20, 40), dst=T("i8", 50, 40), H=20, W=40, V=V, BH=16, BW=16), safe=(0, 3), races=(1, 2, 4, 5))


# Aliasing outputs: two outputs in one storage.
@triton.jit
def two_out(x_ptr, a_ptr, b_ptr, n, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(a_ptr + i * (2 if V == 1 else 1), x, mask=i < n)
    tl.store(b_ptr + i * (2 if V == 1 else 1), -x, mask=i < n)


case("alias_halves", two_out, "ok", (4,), dict(x_ptr=T("f32", 128), a_ptr=T("f32", 256), b_ptr=T("f32", 128, of="a_ptr", at=512), n=128, V=0, B=32))
case("alias_halves_over", two_out, "races", (4,), dict(x_ptr=T("f32", 128), a_ptr=T("f32", 256), b_ptr=T("f32", 128, of="a_ptr", at=508), n=128, V=0, B=32))
case("alias_inter", two_out, "ok", (4,), dict(x_ptr=T("f32", 128), a_ptr=T("f32", 256), b_ptr=T("f32", 255, of="a_ptr", at=4), n=128, V=1, B=32))
case("alias_inter_half", two_out, "races", (4,), dict(x_ptr=T("f32", 128), a_ptr=T("f32", 256), b_ptr=T("f32", 255, of="a_ptr", at=2), n=128, V=1, B=32))
case("alias_i8", two_out, "ok", (4,), dict(x_ptr=T("f32", 128), a_ptr=T("f32", 256), b_ptr=T("i8", 128, of="a_ptr", at=512), n=128, V=0, B=32))
case("alias_i8_over", two_out, "races", (4,), dict(x_ptr=T("f32", 128), a_ptr=T("f32", 256), b_ptr=T("i8", 128, of="a_ptr", at=511), n=128, V=0, B=32))
case("alias_in_shift", two_out, "races", (4,), dict(x_ptr=T("f32", 160), a_ptr=T("f32", 128, of="x_ptr", at=128), b_ptr=T("f32", 128), n=128, V=0, B=32))
case("alias_in_behind", two_out, "ok", (4,), dict(x_ptr=T("f32", 260), a_ptr=T("f32", 128, of="x_ptr", at=512), b_ptr=T("f32", 128), n=128, V=0, B=32))


# In-place halo with even/odd blocks.
@triton.jit
def halo(x_ptr, n, phase, V: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    if V == 3:
        blk = 2 * pid + pid % 2
    elif V == 2:
        blk = pid
    else:
        blk = 2 * pid + phase
    i = blk * B + tl.arange(0, B)
    m = (i > 0) & (i < n - 1)
    l = tl.load(x_ptr + i - 1, mask=m)
    c = tl.load(x_ptr + i, mask=m)
    r = tl.load(x_ptr + i + 1, mask=m)
    if V != 1:
        tl.debug_barrier()
    tl.store(x_ptr + i, (l + c + r) / 3, mask=m)


# 3: blocks 0,3,4,7 : 3 and 4 touch
both("halo", halo, (4,), lambda V: dict(x_ptr=T("f32", 250), n=250, phase=1, V=V, B=32), safe=(0,), races=(1, 2, 3))


# 3D grid with swapped axes, negative strides and broadcast.
@triton.jit
def strided3(x_ptr, y_ptr, A, Bn, C, sa, sb, sc, V: tl.constexpr, BC: tl.constexpr):
    a = tl.program_id(2)
    b = tl.program_id(0)
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    m = c < C
    x = tl.load(x_ptr + a * sa + b * sb + c * sc, mask=m)
    if V == 0:
        tl.store(y_ptr + (a * Bn + b) * C + c, x, mask=m)
    elif V == 1:
        tl.store(x_ptr + a * sa + b * sb + c * sc, x + 1, mask=m)
    elif V == 2:
        tl.store(y_ptr + (b * Bn + a) * C + c, x, mask=m)
    elif V == 3:
        tl.store(y_ptr + (b * A + a) * C + c, x, mask=m)


def s3(V, sa=-60, sb=-12, sc=1, before=400):
    return dict(x_ptr=T("f32", 3, 5, 12, strides=[abs(sa), abs(sb), abs(sc)], before=before), y_ptr=T("f32", 400), A=3, Bn=5, C=12, sa=sa, sb=sb, sc=sc, V=V, BC=8)


# 2: (b*5+a), a<3,b<5 : distinct: safe
both("strided3", strided3, (5, 2, 3), s3, safe=(0, 1, 2, 3), races=())
both("strided3_zero", strided3, (5, 2, 3), lambda V: s3(V, sa=0), safe=(0, 2, 3), races=(1,))
both("strided3_lap", strided3, (5, 2, 3), lambda V: s3(V, sa=48, sb=-12), safe=(0, 2, 3), races=(1,))
both("strided3_neg", strided3, (5, 2, 3), lambda V: s3(V, sa=5, sb=1, sc=-15), safe=(0, 1), races=())
both("strided3_negrace", strided3, (5, 2, 3), lambda V: s3(V, sa=4, sb=1, sc=-12), safe=(0,), races=(1,))


# Int64 indexing of large tensors.
@triton.jit
def big64(x_ptr, y_ptr, rows, cols, stride, V: tl.constexpr, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    if V == 1:
        r = tl.program_id(0)
    c = tl.program_id(1) * B + tl.arange(0, B)
    m = c < cols
    tl.store(y_ptr + r * stride + c, tl.load(x_ptr + c, mask=m), mask=m if V != 2 else c < cols + 1)


both("big64", big64, (4, 2), lambda V: dict(x_ptr=T("f32", 64), y_ptr=T("f32", 4, 60, strides=[1500000000, 1]), rows=4, cols=60, stride=1500000000, V=V, B=32), safe=(0, 2), races=())
case("big64_wrap", big64, "unsupported|races|ok", (4, 2), dict(x_ptr=T("f32", 64), y_ptr=T("f32", 4, 60, strides=[1500000000, 1]), rows=4, cols=60, stride=1500000000, V=1, B=32))
case("big64_wrap_race", big64, "unsupported|races never=ok", (5, 2), dict(x_ptr=T("f32", 64), y_ptr=T("f32", 5, 60, strides=[1 << 30, 1], before=1 << 31), rows=5, cols=60, stride=1 << 30, V=1, B=32))


# Tensor descriptors made on the device.
@triton.jit
def desc_dev(x_ptr, y_ptr, M, N, V: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    xd = tl.make_tensor_descriptor(x_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    if V == 3:
        yd = tl.make_tensor_descriptor(y_ptr, shape=[M, N], strides=[N - 16, 1], block_shape=[BM, BN])
    elif V == 4:
        yd = tl.make_tensor_descriptor(y_ptr, shape=[N, M], strides=[M, 1], block_shape=[BN, BM])
    else:
        yd = tl.make_tensor_descriptor(y_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    i = tl.program_id(0) * BM
    j = tl.program_id(1) * BN
    t = xd.load([i, j])
    if V == 0:
        yd.store([i, j], t * 2)
    elif V == 1:
        yd.store([i, j + 8], t * 2)
    elif V == 2:
        xd.store([i, j], t * 2)
    elif V == 3:
        yd.store([i, j], t * 2)
    elif V == 4:
        yd.store([j, i], t.T)
    elif V == 5:
        yd.atomic_add([0, j], t)
    elif V == 6:
        yd.store([0, j], t)
    elif V == 7:
        yd.store([i - 8, j], t)


both("desc_dev", desc_dev, (3, 2), lambda V: dict(x_ptr=T("f32", 40, 64), y_ptr=T("f32", 64, 64), M=40, N=64, V=V, BM=16, BN=32), safe=(0, 1, 4, 5, 7), races=(3, 6))
# 2: load then dependent store via descriptors of the same tile: threads possible
both("desc_dev_inplace", desc_dev, (3, 2), lambda V: dict(x_ptr=T("f32", 40, 64), y_ptr=T("f32", 64, 64), M=40, N=64, V=V, BM=16, BN=32), safe=(2,), races=(), ok="ok|unsupported|races")


# Block pointers with order, advance and boundary check.
@triton.jit
def bp_transpose(x_ptr, y_ptr, M, N, V: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    pm = tl.program_id(0)
    xb = tl.make_block_ptr(x_ptr, (M, N), (N, 1), (pm * BM, 0), (BM, BN), (1, 0))
    yb = tl.make_block_ptr(y_ptr, (N, M), (M, 1), (0, pm * BM), (BN, BM), (1, 0))
    for j in range(0, tl.cdiv(N, BN)):
        t = tl.load(xb, boundary_check=(0, 1))
        if V == 0:
            tl.store(yb, tl.trans(t), boundary_check=(0, 1))
        elif V == 1:
            tl.store(yb, tl.trans(t), boundary_check=(0,))
        elif V == 2:
            tl.store(yb, tl.trans(t), boundary_check=(1,))
        elif V == 3:
            tl.store(xb, t + 1, boundary_check=(0, 1))
        xb = tl.advance(xb, (0, BN))
        if V == 4:
            tl.store(yb, tl.trans(t), boundary_check=(0, 1))
            yb = tl.advance(yb, (BN // 2, 0))
        elif V == 5:
            tl.store(yb, tl.trans(t), boundary_check=(0, 1))
            yb = tl.advance(yb, (0, BM))
        else:
            yb = tl.advance(yb, (BN, 0))


both("bp_transpose", bp_transpose, (3,), lambda V: dict(x_ptr=T("f32", 40, 50), y_ptr=T("f32", 70, 40), M=40, N=50, V=V, BM=16, BN=32), safe=(0, 2, 3), races=(1, 5))
both("bp_transpose_rows", bp_transpose, (3,), lambda V: dict(x_ptr=T("f32", 40, 50), y_ptr=T("f32", 70, 40), M=40, N=50, V=V, BM=16, BN=32), safe=(), races=(4,))


# Tl.gather, histogram, sort used as addresses.
@triton.jit
def gathered(x_ptr, p_ptr, y_ptr, n, V: tl.constexpr, B: tl.constexpr):
    o = tl.arange(0, B)
    base = tl.program_id(0) * B
    p = tl.load(p_ptr + o)
    x = tl.load(x_ptr + base + o)
    g = tl.gather(x, p, 0)
    if V == 0:
        tl.store(y_ptr + base + o, g)
    elif V == 1:
        tl.store(y_ptr + base + tl.gather(o, p, 0), x)
    elif V == 2:
        q = tl.gather(p, p, 0)
        tl.store(y_ptr + base + q, x)
    elif V == 3:
        tl.store(y_ptr + base + tl.gather(o, p // 2, 0), x)
    elif V == 4:
        s = tl.sort(p)
        tl.store(y_ptr + base + s, x)
    elif V == 5:
        s = tl.sort(p // 2)
        tl.store(y_ptr + base + s, x)
    elif V == 6:
        h = tl.histogram(p // 2, B)
        c = tl.cumsum(h, 0) - h
        tl.store(y_ptr + base + c, x, mask=h > 0)
    elif V == 7:
        h = tl.histogram(p // 2, B)
        c = tl.cumsum(h, 0)
        tl.store(y_ptr + base + c, x)


ga = lambda V: dict(x_ptr=T("f32", 32), p_ptr=T("i32", 16, values=[3, 1, 4, 15, 9, 2, 6, 5, 8, 7, 0, 10, 14, 13, 12, 11]), y_ptr=T("f32", 64), n=16, V=V, B=16)
both("gathered", gathered, (2,), ga, safe=(0, 1, 2, 4, 6), races=(3, 5, 7))


# Atomics idioms.
@triton.jit
def atom_idioms(x_ptr, out_ptr, cnt_ptr, lock_ptr, n, V: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    if V == 0:  # float max by atomics, min by another cell
        tl.atomic_max(out_ptr, tl.max(x, axis=0))
        tl.atomic_min(out_ptr + 1, tl.min(x, axis=0))
    elif V == 1:  # plain store to init then atomics
        if pid == 0:
            tl.store(out_ptr, 0.0)
        tl.atomic_add(out_ptr, tl.sum(x, axis=0))
    elif V == 2:  # xchg
        tl.atomic_xchg(out_ptr, tl.sum(x, axis=0))
    elif V == 3:  # xchg value read by plain load
        tl.atomic_xchg(out_ptr, tl.sum(x, axis=0))
        tl.store(out_ptr + 1 + pid, tl.load(out_ptr))
    elif V == 4:  # slot from counter, unique
        s = tl.atomic_add(cnt_ptr, 1)
        tl.store(out_ptr + s, tl.sum(x, axis=0))
    elif V == 5:  # cnt 0
        s = tl.atomic_add(cnt_ptr, 0)
        tl.store(out_ptr + s, tl.sum(x, axis=0))
    elif V == 6:  # wrap slots by mod
        s = tl.atomic_add(cnt_ptr, 1) % 4
        tl.store(out_ptr + s, tl.sum(x, axis=0))
    elif V == 7:  # cas: first wins
        old = tl.atomic_cas(cnt_ptr, 0, pid + 1)
        if old == 0:
            tl.store(out_ptr, tl.sum(x, axis=0))
    elif V == 8:  # cas to one that may return to 0
        old = tl.atomic_cas(cnt_ptr, 0, pid)
        if old == 0:
            tl.store(out_ptr, tl.sum(x, axis=0))
    elif V == 9:  # atomic or flags, first setter of the bit
        old = tl.atomic_or(cnt_ptr + pid // 2, 1 << (pid % 2))
        if old == 0:
            tl.store(out_ptr + pid // 2, tl.sum(x, axis=0))
    elif V == 10:  # and
        old = tl.atomic_or(cnt_ptr + pid // 2, 1 << (pid % 2))
        if old < 2:
            tl.store(out_ptr + pid // 2, tl.sum(x, axis=0))
    elif V == 11:  # xchg: the first gets 0
        old = tl.atomic_xchg(cnt_ptr, 1)
        if old == 0:
            tl.store(out_ptr, tl.sum(x, axis=0))
    elif V == 12:  # max of pid: those that raise it store: several may
        old = tl.atomic_max(cnt_ptr, pid)
        if old < pid:
            tl.store(out_ptr, tl.sum(x, axis=0))
    elif V == 13:  # tile wide atomic counts unique per lane
        s = tl.atomic_add(cnt_ptr + (i % 4), 1, mask=i < n)
        tl.store(out_ptr + (i % 4) * 256 + s, x, mask=i < n)
    elif V == 14:
        s = tl.atomic_add(cnt_ptr + (i % 4), 1, mask=i < n)
        tl.store(out_ptr + (i % 4) * 16 + s, x, mask=i < n)
    elif V == 15:  # xor toggles: only the one that sees 0: may be several
        old = tl.atomic_xor(cnt_ptr, 1)
        if old == 0:
            tl.store(out_ptr, tl.sum(x, axis=0))
    elif V == 16:  # own bits toggled: who sees none of them
        old = tl.atomic_xor(cnt_ptr, 1 << pid)
        if old == 0:
            tl.store(out_ptr, tl.sum(x, axis=0))


ai = lambda V: dict(x_ptr=T("f32", 180), out_ptr=T("f32", 1200), cnt_ptr=T("i32", 8, values=[0] * 8), lock_ptr=T("i32", 1, values=[0]), n=180, V=V, B=32)
both("atom_idioms", atom_idioms, (6,), ai, safe=(0, 2, 4, 7, 9, 11, 13), races=(1, 3, 6, 8, 10, 12, 14, 15))
both("atom_idioms_left", atom_idioms, (6,), ai, safe=(16,), races=(5,), ok=PERHAPS, bad=NEVER)


# Segmented reduce with sorted keys, boundary lanes store.
@triton.jit
def seg_reduce(k_ptr, v_ptr, o_ptr, n, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    k = tl.load(k_ptr + i, mask=m, other=-1)
    nx = tl.load(k_ptr + i + 1, mask=i + 1 < n, other=-1)
    v = tl.load(v_ptr + i, mask=m, other=0.0)
    s = tl.cumsum(v, 0)
    if V == 0:
        tl.store(o_ptr + k, s, mask=m & (k != nx))
    elif V == 1:
        tl.store(o_ptr + k, s, mask=m)
    elif V == 2:
        tl.atomic_add(o_ptr + k, v, mask=m)
    elif V == 3:
        pk = tl.load(k_ptr + i - 1, mask=m & (i > 0), other=-1)
        tl.store(o_ptr + k, s, mask=m & (k != pk))
    elif V == 4:
        tl.store(o_ptr + k, s, mask=m & ((k != nx) | (tl.arange(0, B) == B - 1)))


sr = lambda V: dict(k_ptr=T("i32", 40, values=sorted([(i * i) % 11 for i in range(40)])), v_ptr=T("f32", 40), o_ptr=T("f32", 16), n=40, V=V, B=16)
both("seg_reduce", seg_reduce, (3,), sr, safe=(0, 2, 3), races=(1, 4))
both("seg_reduce_unsorted", seg_reduce, (3,), lambda V: dict(sr(V), k_ptr=T("i32", 40, values=[(i * i) % 11 for i in range(40)])), safe=(2,), races=(0, 3))


# Unique / compaction with block prefix computed by an earlier kernel.
@triton.jit
def compact_two(x_ptr, base_ptr, o_ptr, n, V: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    keep = (x > 3) & (i < n)
    pos = tl.cumsum(keep.to(tl.int32), 0) - 1
    base = tl.load(base_ptr + pid)
    if V == 1:
        pos = pos + 1
        tl.store(o_ptr + base + pos, x)
    elif V == 2:
        tl.store(o_ptr + base + pos, x, mask=i < n)
    elif V == 3:
        tl.store(o_ptr + base + pos + 1, x, mask=keep)
    else:
        tl.store(o_ptr + base + pos, x, mask=keep)


def c2(V, vals=True):
    x = [(i * 7) % 8 for i in range(60)]
    base, s = [], 0
    for b in range(4):
        base.append(s)
        s += sum(v > 3 for v in x[b * 16:(b + 1) * 16])
    return dict(x_ptr=T("i32", 60, values=x if vals else None), base_ptr=T("i32", 4, values=base), o_ptr=T("i32", 70), n=60, V=V, B=16)


both("compact_two", compact_two, (4,), c2, safe=(0, 3), races=(1, 2))
both("compact_two_any", compact_two, (4,), lambda V: c2(V, False), safe=(), races=(0,), bad=NEVER)


# Nested jit functions, tuples, constexpr lists.
@triton.jit
def _addr(t, stride):
    return t[0] * stride + t[1]


@triton.jit
def _both_ways(p, q, i, flag: tl.constexpr):
    if flag:
        return p + i, q + i
    return q + i, p + i


@triton.jit
def tuples(x_ptr, y_ptr, n, V: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, B)
    a = _addr((pid, i), B if V != 1 else B - 1)
    src, dst = _both_ways(x_ptr, y_ptr, a, V != 2)
    tl.store(dst, tl.load(src) + 1)
    if V == 3:
        tl.store(src + 1, tl.load(dst))
    if V == 4:
        s2, d2 = _both_ways(x_ptr, y_ptr, a, False)
        tl.store(d2, tl.load(s2))


both("tuples", tuples, (3,), lambda V: dict(x_ptr=T("f32", 100), y_ptr=T("f32", 100), n=96, V=V, B=32), safe=(0, 2), races=(1, 3))
# 4: x loaded, y stored; y loaded (same lane as stored, same layout), x stored with value dependent on y only. WAR x: load x -> store y? dep chain through memory y
both("tuples_back", tuples, (3,), lambda V: dict(x_ptr=T("f32", 100), y_ptr=T("f32", 100), n=96, V=V, B=32), safe=(), races=(4,), bad=NEVER)


# Batched triangular solve in place, column by column.
@triton.jit
def trisolve(L_ptr, b_ptr, N: tl.constexpr, V: tl.constexpr):
    bt = tl.program_id(0)
    i = tl.arange(0, N)
    L = L_ptr + bt * N * N
    b = b_ptr + bt * N
    if V == 0:
        x = tl.load(b + i)
        for j in range(N):
            d = tl.load(L + j * N + j)
            xj = tl.sum(tl.where(i == j, x, 0.0), axis=0) / d
            col = tl.load(L + i * N + j)
            x = tl.where(i > j, x - col * xj, tl.where(i == j, xj, x))
        tl.store(b + i, x)
    elif V == 1:
        for j in range(N):
            xj = tl.load(b + j) / tl.load(L + j * N + j)
            tl.store(b + j, xj)
            col = tl.load(L + i * N + j, mask=i > j, other=0.0)
            y = tl.load(b + i, mask=i > j)
            tl.store(b + i, y - col * xj, mask=i > j)
    elif V == 2:
        for j in range(N):
            xj = tl.load(b + j) / tl.load(L + j * N + j)
            tl.debug_barrier()
            tl.store(b + j, xj)
            col = tl.load(L + i * N + j, mask=i > j, other=0.0)
            y = tl.load(b + i, mask=i > j)
            tl.store(b + i, y - col * xj, mask=i > j)
            tl.debug_barrier()
    elif V == 3:
        for j in range(N):
            xj = tl.load(b + j) / tl.load(L + j * N + j)
            tl.debug_barrier()
            tl.store(b + j, xj)
            col = tl.load(L + i * N + j, mask=i >= j, other=0.0)
            y = tl.load(b + i, mask=i >= j)
            tl.store(b + i, y - col * xj, mask=i >= j)
            tl.debug_barrier()


both("trisolve", trisolve, (3,), lambda V: dict(L_ptr=T("f32", 3, 16, 16), b_ptr=T("f32", 3, 16), N=16, V=V), safe=(0, 2), races=(1, 3))


# Stream-K fixup without locks: partial tiles to workspace, second kernel sums.
@triton.jit
def streamk_partial(ws_ptr, c_ptr, tiles, iters_per_tile, total, V: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    P = tl.num_programs(0)
    start = pid * total // P
    end = (pid + 1) * total // P
    o = tl.arange(0, B)
    it = start
    while it < end:
        tile = it // iters_per_tile
        tend = tl.minimum((tile + 1) * iters_per_tile, end)
        acc = tl.zeros((B,), tl.float32)
        for k in range(it, tend):
            acc += k
        whole = (it == tile * iters_per_tile) & (tend == (tile + 1) * iters_per_tile)
        if V == 0:
            if whole:
                tl.store(c_ptr + tile * B + o, acc)
            else:
                tl.atomic_add(ws_ptr + tile * B + o, acc)
        elif V == 1:
            if it == tile * iters_per_tile:
                tl.store(c_ptr + tile * B + o, acc)
            else:
                tl.atomic_add(c_ptr + tile * B + o, acc)
        elif V == 2:
            if it == tile * iters_per_tile:
                tl.store(c_ptr + tile * B + o, acc)
            elif tend == (tile + 1) * iters_per_tile:
                tl.store(ws_ptr + tile * B + o, acc)
        elif V == 3:
            tl.store(ws_ptr + (pid * 2 + (it != start).to(tl.int32)) * B + o, acc)
        elif V == 4:
            tl.store(ws_ptr + pid * B + o, acc)
        elif V == 5:
            tl.atomic_add(c_ptr + tile * B + o, acc)
        elif V == 6:
            tl.store(c_ptr + tile * B + o, acc)
        it = tend


# total = 5 tiles * 7 = 35 iterations over 4 programs: starts 0, 8, 17, 26, 35: tiles 0-1,1-2,2-3,3-4
# 4: in loop: same program stores its own ws again: program order, same lane: one layout: lanes same. ok
# 3: pid 0: tiles 0, 1; pid 1: 1, 2; pid2: 2,3; pid3: 3, 4. each at most 2 segments... fine
both("streamk_partial", streamk_partial, (4,), lambda V: dict(ws_ptr=T("f32", 8, 16), c_ptr=T("f32", 8, 16), tiles=5, iters_per_tile=7, total=35, V=V, B=16), safe=(0, 2, 3, 4, 5), races=(1, 6))


# speculative decoding: accept lengths, write accepted tokens to compact output by prefix sum of lengths
@triton.jit
def spec_accept(tok_ptr, len_ptr, out_ptr, n_req, MAXL: tl.constexpr, R: tl.constexpr, V: tl.constexpr):
    r = tl.program_id(0)
    o = tl.arange(0, MAXL)
    a = tl.arange(0, R)
    lens = tl.load(len_ptr + a, mask=a < n_req, other=0)
    if V == 2:
        base = tl.sum(tl.where(a <= r, lens, 0), axis=0)
    elif V == 3:
        base = r * MAXL
    else:
        base = tl.sum(tl.where(a < r, lens, 0), axis=0)
    n = tl.load(len_ptr + r)
    t = tl.load(tok_ptr + r * MAXL + o, mask=o < n, other=0)
    if V == 1:
        tl.store(out_ptr + base + o, t)
    elif V == 4:
        tl.store(out_ptr + base + o, t, mask=o <= n)
    else:
        tl.store(out_ptr + base + o, t, mask=o < n)


sa = lambda V, vals=True: dict(tok_ptr=T("i32", 5, 8), len_ptr=T("i32", 5, values=[3, 1, 8, 2, 5] if vals else None), out_ptr=T("i32", 64), n_req=5, MAXL=8, R=8, V=V)
# 2: base inclusive: r: 3,4,12,14,19 with n 3,1,8,2,5: [3,6),[4,5) overlap -> race
both("spec_accept", spec_accept, (5,), sa, safe=(0, 3), races=(1, 2, 4))
both("spec_accept_any", spec_accept, (5,), lambda V: sa(V, False), safe=(3,), races=())
both("spec_accept_any0", spec_accept, (5,), lambda V: sa(V, False), safe=(0,), races=(1, 2, 4), ok=PERHAPS, bad=NEVER)


# FFT radix-2 stage ping-pong vs in place with pairs per lane
@triton.jit
def fft_pair(re_ptr, im_ptr, n, half, V: tl.constexpr, B: tl.constexpr):
    t = tl.program_id(0) * B + tl.arange(0, B)
    m = t < n // 2
    g = t // half
    j = t % half
    if V == 1:
        a = g * half + j
    elif V == 2:
        a = g * (2 * half) + j * 2
    else:
        a = g * (2 * half) + j
    b = a + half
    xr = tl.load(re_ptr + a, mask=m)
    yr = tl.load(re_ptr + b, mask=m)
    tl.store(re_ptr + a, xr + yr, mask=m)
    tl.store(re_ptr + b, xr - yr, mask=m)


both("fft_pair", fft_pair, (2,), lambda V: dict(re_ptr=T("f32", 96), im_ptr=T("f32", 96), n=64, half=8, V=V, B=16), safe=(0,), races=(1, 2))


# RWKV time mixing: state in place, shifted token
@triton.jit
def rwkv(k_ptr, v_ptr, w_ptr, u_ptr, s_ptr, y_ptr, T_len, C, V: tl.constexpr, B: tl.constexpr):
    b = tl.program_id(0)
    c = tl.program_id(1) * B + tl.arange(0, B)
    m = c < C
    w = tl.load(w_ptr + c, mask=m)
    u = tl.load(u_ptr + c, mask=m)
    sp = s_ptr + b * 3 * C + c
    aa = tl.load(sp, mask=m)
    bb = tl.load(sp + C, mask=m)
    pp = tl.load(sp + 2 * C, mask=m)
    for t in range(T_len):
        kk = tl.load(k_ptr + (b * T_len + t) * C + c, mask=m)
        vv = tl.load(v_ptr + (b * T_len + t) * C + c, mask=m)
        ww = u + kk
        p = tl.maximum(pp, ww)
        e1 = tl.exp(pp - p)
        e2 = tl.exp(ww - p)
        y = (e1 * aa + e2 * vv) / (e1 * bb + e2)
        if V == 3:
            tl.store(v_ptr + (b * T_len + t) * C + c, y, mask=m)
        elif V == 4:
            tl.store(v_ptr + (b * T_len + t + 1) * C + c, y, mask=m & (t + 1 < T_len))
        else:
            tl.store(y_ptr + (b * T_len + t) * C + c, y, mask=m)
        ww = pp + w
        p = tl.maximum(ww, kk)
        aa = tl.exp(ww - p) * aa + tl.exp(kk - p) * vv
        bb = tl.exp(ww - p) * bb + tl.exp(kk - p)
        pp = p
    if V == 1:
        tl.store(sp, aa, mask=m)
        tl.store(sp + B, bb, mask=m)
        tl.store(sp + 2 * C, pp, mask=m)
    elif V == 2:
        tl.store(s_ptr + c, aa, mask=m)
    else:
        tl.store(sp, aa, mask=m)
        tl.store(sp + C, bb, mask=m)
        tl.store(sp + 2 * C, pp, mask=m)


# 3: v overwritten in place per (b,t,c): load then dependent store by the same lane, ok.  4: stores y into v[t+1], loaded in the next iteration by the same lane layout: threads...
both("rwkv", rwkv, (2, 3), lambda V: dict(k_ptr=T("f32", 2, 5, 40), v_ptr=T("f32", 2, 5, 40), w_ptr=T("f32", 40), u_ptr=T("f32", 40), s_ptr=T("f32", 2, 3, 40), y_ptr=T("f32", 2, 5, 40), T_len=5, C=40,
     V=V, B=16), safe=(0, 3), races=(1, 2))
both("rwkv_next", rwkv, (2, 3), lambda V: dict(k_ptr=T("f32", 2, 5, 40), v_ptr=T("f32", 2, 5, 40), w_ptr=T("f32", 40), u_ptr=T("f32", 40), s_ptr=T("f32", 2, 3, 40), y_ptr=T("f32", 2, 5, 40), T_len=5, C=40,
     V=V, B=16), safe=(), races=(4,), bad="races|unsupported|ok")


# paged KV gather + split-k decode with num_splits, LSE combine in the last program via counter
@triton.jit
def paged_decode(q_ptr, kc_ptr, vc_ptr, bt_ptr, len_ptr, o_ptr, m_ptr, stride_bt, D: tl.constexpr, PS: tl.constexpr, NS: tl.constexpr, V: tl.constexpr):
    b = tl.program_id(0)
    h = tl.program_id(1)
    s = tl.program_id(2)
    H = tl.num_programs(1)
    L = tl.load(len_ptr + b)
    per = tl.cdiv(tl.cdiv(L, PS), NS) * PS
    lo = s * per
    hi = tl.minimum(lo + per, L)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + (b * H + h) * D + d)
    acc = tl.zeros((D,), tl.float32)
    mx = -float("inf")
    l = 0.0
    for st in range(lo, hi, PS):
        pg = tl.load(bt_ptr + b * stride_bt + st // PS)
        t = tl.arange(0, PS)
        k = tl.load(kc_ptr + ((pg * PS + t)[:, None] * H + h) * D + d[None, :], mask=(st + t)[:, None] < hi, other=0.0)
        sc = tl.sum(k * q[None, :], 1)
        sc = tl.where(st + t < hi, sc, -float("inf"))
        mn = tl.maximum(mx, tl.max(sc, 0))
        p = tl.exp(sc - mn)
        v = tl.load(vc_ptr + ((pg * PS + t)[:, None] * H + h) * D + d[None, :], mask=(st + t)[:, None] < hi, other=0.0)
        acc = acc * tl.exp(mx - mn) + tl.sum(v * p[:, None], 0)
        l = l * tl.exp(mx - mn) + tl.sum(p, 0)
        mx = mn
    if V == 1:
        if hi > lo:
            tl.store(o_ptr + (b * H + h) * D + d, acc / l)
    elif V == 2:
        tl.store(o_ptr + ((b * NS + s) * H) * D + h * D // 2 + d, acc / l)
    elif V == 3:
        if hi > lo:
            tl.store(o_ptr + ((b * H + h) * NS + lo // per) * D + d, acc / l)
    elif V == 4:
        tl.store(o_ptr + ((b * H + h) * NS + s) * D + d, acc / l)
        tl.store(kc_ptr + ((tl.load(bt_ptr + b * stride_bt + L // PS) * PS + L % PS) * H + h) * D + d, q, mask=(d >= 0) & (s == 0))
    elif V == 5:
        tl.store(o_ptr + ((b * H + h) * NS + s) * D + d, acc / l)
        tl.store(kc_ptr + ((tl.load(bt_ptr + b * stride_bt + (L - 1) // PS) * PS + (L - 1) % PS) * H + h) * D + d, q, mask=(d >= 0) & (s == 0))
    else:
        tl.store(o_ptr + ((b * H + h) * NS + s) * D + d, acc / l)
        tl.store(m_ptr + (b * H + h) * NS + s, mx + tl.log(l))


def pd(V):
    return dict(q_ptr=T("f32", 2, 2, 16), kc_ptr=T("f32", 8, 4, 2, 16), vc_ptr=T("f32", 8, 4, 2, 16), bt_ptr=T("i32", 2, 4, values=[3, 1, 6, 7, 2, 0, 5, 4]), len_ptr=T("i32", 2, values=[9, 14]),
                o_ptr=T("f32", 2, 2, 3, 16), m_ptr=T("f32", 2, 2, 3), stride_bt=4, D=16, PS=4, NS=3, V=V)


# 4: kc written at position L (beyond all reads: position 9 in page 6 (index 2, offset 1): loads masked <hi = 9; not read). safe. 5: L-1 is read: race (with which program? position 8 in split 2; stored by s==0 -> other program)
both("paged_decode", paged_decode, (2, 2, 3), pd, safe=(0, 3, 4), races=(1, 2, 5))


# Jacobi ping-pong in one kernel w/o grid sync vs grid size 1
@triton.jit
def jacobi_loop(a_ptr, b_ptr, n, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = (i > 0) & (i < n - 1)
    for it in range(4):
        src = a_ptr if V == 9 else a_ptr + (it % 2) * n
        dst = a_ptr + ((it + 1) % 2) * n
        l = tl.load(src + i - 1, mask=m)
        r = tl.load(src + i + 1, mask=m)
        tl.store(dst + i, (l + r) * 0.5, mask=m)
        if V != 1:
            tl.debug_barrier()


jl = lambda V: dict(a_ptr=T("f32", 128), b_ptr=T("f32", 64), n=64, V=V, B=64)
both("jacobi_loop", jacobi_loop, (1,), jl, safe=(0,), races=(1,))
both("jacobi_loop_two", jacobi_loop, (2,), lambda V: dict(a_ptr=T("f32", 128), b_ptr=T("f32", 64), n=64, V=V, B=32), safe=(), races=(2,))


# gated delta rule: state tile updated per chunk in a workspace, in-place read modify write each iteration
@triton.jit
def delta_rule(q_ptr, k_ptr, v_ptr, beta_ptr, s_ptr, o_ptr, L, K: tl.constexpr, D: tl.constexpr, V: tl.constexpr):
    h = tl.program_id(0)
    dv = tl.program_id(1) * D + tl.arange(0, D)
    kk = tl.arange(0, K)
    VD = tl.num_programs(1) * D
    sp = s_ptr + h * K * VD + kk[:, None] * VD + dv[None, :]
    if V == 2:
        sp = s_ptr + h * K * D + kk[:, None] * D + dv[None, :]
    for t in range(L):
        s = tl.load(sp)
        k = tl.load(k_ptr + (h * L + t) * K + kk)
        v = tl.load(v_ptr + (h * L + t) * VD + dv)
        be = tl.load(beta_ptr + h * L + t)
        u = v - tl.sum(s * k[:, None], 0)
        s = s + k[:, None] * (be * u)[None, :]
        if V == 1:
            tl.store(sp, s)
        else:
            tl.debug_barrier()
            tl.store(sp, s)
            tl.debug_barrier()
        q = tl.load(q_ptr + (h * L + t) * K + kk)
        if V == 3:
            tl.store(o_ptr + (h * L + t) * D + dv, tl.sum(s * q[:, None], 0))
        elif V == 4:
            tl.store(k_ptr + (h * L + t) * K + kk, q)
        else:
            tl.store(o_ptr + (h * L + t) * VD + dv, tl.sum(s * q[:, None], 0))


dr = lambda V: dict(q_ptr=T("f32", 2, 4, 16), k_ptr=T("f32", 2, 4, 16), v_ptr=T("f32", 2, 4, 32), beta_ptr=T("f32", 2, 4), s_ptr=T("f32", 2, 16, 32), o_ptr=T("f32", 2, 4, 32), L=4, K=16, D=16, V=V)
both("delta_rule", delta_rule, (2, 2), dr, safe=(0,), races=(2, 3, 4))
# 1: no barrier: the store is per lane after its load (dep through s); next iteration's load same lane after the store? other op: threads of one tile map equal in practice but not by the model
both("delta_rule_own", delta_rule, (2, 2), dr, safe=(), races=(1,), bad="races|unsupported|ok")


# warp-per-row style: several rows per program with static_range and row guards
@triton.jit
def rows_per_prog(x_ptr, y_ptr, rows, cols, R: tl.constexpr, V: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    for k in tl.static_range(R):
        if V == 1:
            row = pid + k * 4
        elif V == 2:
            row = pid + k * tl.num_programs(0)
        elif V == 3:
            row = pid * R + k * 2
        elif V == 4:
            row = (pid * R + k) % rows
        else:
            row = pid * R + k
        c = tl.arange(0, B)
        m = (c < cols) & (row < rows)
        x = tl.load(x_ptr + row * cols + c, mask=m, other=0.0)
        tl.store(y_ptr + row * cols + c, x / tl.sum(x, 0), mask=m)


# 5 programs, R=3, rows 14: 1: pid + 4k: pid 4,k0 = pid 0,k1 -> race. 3: pid*3 + 2k: pid0 k=2:4? pid1: 3,5,7; pid0: 0,2,4; pid2: 6,8,10; pid 1: 7; pid3: 9,11,13; pid4: 12,14,16: no collisions? 0,2,4 |3,5,7|6,8,10|9,11,13|12,14: disjoint! safe
# 4: (pid*3+k) % 14: 14 % 14 = 0: row 0 twice -> race
both("rows_per_prog", rows_per_prog, (5,), lambda V: dict(x_ptr=T("f32", 14, 20), y_ptr=T("f32", 14, 20), rows=14, cols=20, R=3, V=V, B=32), safe=(0, 2, 3), races=(1, 4))


# 2D tile swizzles: group-M ordering, hilbert-free boustrophedon
@triton.jit
def group_m(c_ptr, M, N, G, V: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    pid = tl.program_id(0)
    nm = tl.cdiv(M, BM)
    nn = tl.cdiv(N, BN)
    per = G * nn
    gid = pid // per
    first = gid * G
    size = min(nm - first, G)
    if V == 1:
        size = G
    pm = first + (pid % per) % size
    pn = (pid % per) // size
    if V == 2:
        pm = first + (pid % size)
    if V == 3:
        pn = nn - 1 - pn if True else pn
    if V == 4:
        row = pid // nn
        col = pid % nn
        pm = row
        pn = tl.where(row % 2 == 0, col, nn - 1 - col)
    if V == 5:
        row = pid // nn
        col = pid % nn
        pm = row
        pn = tl.where(row % 2 == 0, col, nn - col)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], tl.zeros((BM, BN), tl.float32), mask=(rm[:, None] < M) & (rn[None, :] < N))


# 5 x 3 tiles, G=2: last group has 1 row. 1: size = 2 for it: pm = 4 + ..%2: pm=5 out of range: tiles lost but pn = (pid%6)//2: pids 12,13,14 -> (4,0),(5,0),(4,1): masked: no overlap: safe!
# 2: pid % size vs (pid%per)%size: per=6 divisible by size 2, last size 1: same: safe.  5: nn - col: col 0 -> nn: masked beyond N; col 1 -> 2.. unique: safe (out of mask)
both("group_m", group_m, (15,), lambda V: dict(c_ptr=T("f32", 80, 48), M=80, N=48, G=2, V=V, BM=16, BN=16), safe=(0, 1, 2, 3, 4, 5), races=())
both("group_m3", group_m, (15,), lambda V: dict(c_ptr=T("f32", 80, 48), M=80, N=48, G=3, V=V, BM=16, BN=16), safe=(0, 1, 3), races=())


# ring buffer KV: pos % window
@triton.jit
def ring_kv(k_ptr, c_ptr, pos_ptr, W, D: tl.constexpr, V: tl.constexpr):
    t = tl.program_id(0)
    d = tl.arange(0, D)
    if V == 0:
        p = tl.load(pos_ptr) + t
        tl.store(c_ptr + (p % W) * D + d, tl.load(k_ptr + t * D + d))
    elif V == 1:
        p = tl.load(pos_ptr + t)
        tl.store(c_ptr + (p % W) * D + d, tl.load(k_ptr + t * D + d))
    elif V == 2:
        p = tl.load(pos_ptr) + t
        tl.store(c_ptr + (p & (W - 1)) * D + d, tl.load(k_ptr + t * D + d))
    elif V == 3:
        p = tl.load(pos_ptr) + t
        tl.store(c_ptr + (p % (W - 3)) * D + d, tl.load(k_ptr + t * D + d))


rk = lambda V: dict(k_ptr=T("f32", 6, 16), c_ptr=T("f32", 8, 16), pos_ptr=T("i32", 6, values=[13, 14, 15, 16, 17, 18]), W=8, D=16, V=V)
both("ring_kv", ring_kv, (6,), rk, safe=(0, 1, 2), races=(3,))
both("ring_kv_any", ring_kv, (6,), lambda V: dict(rk(V), pos_ptr=T("i32", 6)), safe=(0, 2), races=())
both("ring_kv_any1", ring_kv, (6,), lambda V: dict(rk(V), pos_ptr=T("i32", 6)), safe=(), races=(1,), bad=NEVER)
both("ring_kv_dup", ring_kv, (6,), lambda V: dict(rk(V), pos_ptr=T("i32", 6, values=[13, 14, 15, 21, 17, 18])), safe=(), races=(1,))


# embedding bag: offsets, per-sample sum; gradient to weight by atomics vs store with unique inverse index
@triton.jit
def embag_bwd(g_ptr, idx_ptr, off_ptr, w_ptr, nb, D: tl.constexpr, V: tl.constexpr):
    b = tl.program_id(0)
    d = tl.arange(0, D)
    g = tl.load(g_ptr + b * D + d)
    s = tl.load(off_ptr + b)
    e = tl.load(off_ptr + b + 1)
    for j in range(s, e):
        i = tl.load(idx_ptr + j)
        if V == 0:
            tl.atomic_add(w_ptr + i * D + d, g)
        elif V == 1:
            tl.store(w_ptr + i * D + d, g + tl.load(w_ptr + i * D + d))
        elif V == 2:
            tl.store(w_ptr + j * D + d, g)
        elif V == 3:
            tl.store(w_ptr + (j + b) * D + d, g)
        elif V == 4:
            tl.store(w_ptr + (j - b) * D + d, g)


eb = lambda V: dict(g_ptr=T("f32", 3, 16), idx_ptr=T("i32", 8, values=[5, 2, 7, 2, 0, 1, 7, 3]), off_ptr=T("i32", 4, values=[0, 3, 4, 8]), w_ptr=T("f32", 12, 16), nb=3, D=16, V=V)
both("embag_bwd", embag_bwd, (3,), eb, safe=(0, 2, 3), races=(1, 4))


# argsort by rank counting: each element counts how many are smaller, ties by index
@triton.jit
def rank_sort(x_ptr, y_ptr, n, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    x = tl.load(x_ptr + i, mask=m, other=0)
    r = tl.zeros((B,), tl.int32)
    for j in range(n):
        y = tl.load(x_ptr + j)
        if V == 1:
            r += (y < x).to(tl.int32)
        elif V == 2:
            r += ((y < x) | ((y == x) & (j <= i))).to(tl.int32)
        else:
            r += ((y < x) | ((y == x) & (j < i))).to(tl.int32)
    tl.store(y_ptr + r, x, mask=m)


# 2: counts itself too: shift by one: still a permutation: safe (1..n)
both("rank_sort", rank_sort, (2,), lambda V: dict(x_ptr=T("i32", 24, values=[(i * 5) % 9 for i in range(24)]), y_ptr=T("i32", 32), n=24, V=V, B=16), safe=(0, 2), races=(1,))
both("rank_sort_any", rank_sort, (2,), lambda V: dict(x_ptr=T("i32", 24), y_ptr=T("i32", 32), n=24, V=V, B=16), safe=(0,), races=(1,), ok=PERHAPS, bad=NEVER)


# 3D grid, y axis large folded into z
@triton.jit
def yz_fold(x_ptr, y_ptr, ny, nx, V: tl.constexpr, BX: tl.constexpr):
    y = tl.program_id(1) + tl.program_id(2) * tl.num_programs(1)
    if V == 1:
        y = tl.program_id(1) + tl.program_id(2) * 3
    if V == 2:
        y = tl.program_id(1) * tl.num_programs(2) + tl.program_id(2)
    if V == 3:
        y = tl.program_id(1) + tl.program_id(2)
    x = tl.program_id(0) * BX + tl.arange(0, BX)
    m = (x < nx) & (y < ny)
    tl.store(y_ptr + y * nx + x, tl.load(x_ptr + y * nx + x, mask=m), mask=m)


both("yz_fold", yz_fold, (2, 4, 3), lambda V: dict(x_ptr=T("f32", 11, 30), y_ptr=T("f32", 11, 30), ny=11, nx=30, V=V, BX=16), safe=(0, 2), races=(1, 3))


# lanes that write the same value to one place, idempotent (still a race)
@triton.jit
def same_value(flag_ptr, x_ptr, n, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    if V == 0:
        tl.store(flag_ptr + i * 0 + tl.program_id(0), 1, mask=i % B == 0)
    elif V == 1:
        tl.store(flag_ptr, 1)
    elif V == 2:
        tl.store(flag_ptr + i * 0, 1, mask=x > 3)
    elif V == 3:
        tl.atomic_or(flag_ptr, 1)
    elif V == 4:
        if tl.max(x, 0) > 3:
            tl.store(flag_ptr + tl.program_id(0), 1)


sv = lambda V: dict(flag_ptr=T("i32", 4), x_ptr=T("i32", 60, values=[i % 6 for i in range(60)]), n=60, V=V, B=16)
both("same_value", same_value, (4,), sv, safe=(0, 3, 4), races=(1, 2))


# interleaved complex: real and imaginary parts from one storage, conj in place
@triton.jit
def conj_mul(a_ptr, b_ptr, n, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    o = tl.arange(0, 2)
    p = i[:, None] * 2 + o[None, :]
    m = (i < n)[:, None]
    a = tl.load(a_ptr + p, mask=m)
    ar, ai = tl.split(a)
    b = tl.load(b_ptr + p, mask=m)
    br, bi = tl.split(b)
    r = tl.join(ar * br - ai * bi, ar * bi + ai * br)
    if V == 0:
        tl.debug_barrier()
        tl.store(a_ptr + p, r, mask=m)
    elif V == 1:
        tl.store(a_ptr + p, r, mask=m)
    elif V == 2:
        tl.store(a_ptr + i * 2, ar, mask=i < n)
        tl.store(a_ptr + i * 2 + 1, ai, mask=i < n)
    elif V == 3:
        tl.debug_barrier()
        tl.store(a_ptr + p + 1, r, mask=m)


# 1: r[., 0] is made of a[.,0] and a[.,1]: another lane's load may come after the store: race of threads (other shapes)
both("conj_mul", conj_mul, (3,), lambda V: dict(a_ptr=T("f32", 100), b_ptr=T("f32", 100), n=45, V=V, B=16), safe=(0,), races=(3,))
both("conj_mul_own", conj_mul, (3,), lambda V: dict(a_ptr=T("f32", 100), b_ptr=T("f32", 100), n=45, V=V, B=16), safe=(), races=(1, 2))
