"""Descriptors made in the kernel (tiles, reductions, gathers, scatters, three dimensions), pieces of tiles, searches, scans, sorts; library calls, assembly,
calls that are not inlined, aggregates, tuples, hints."""
import sys

from cases import T, case, load_triton
triton, tl = load_triton()
if "triton" in sys.modules:
    from triton.language.core import _aggregate as aggregate
    from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait, libdevice, smid
else:
    gdc_launch_dependents = gdc_wait = libdevice = smid = None

    def aggregate(c):
        return c


NEVER = "races|unsupported never=ok"       # wrong, and may be refused
PERHAPS = "ok|unsupported never=races"     # right, and may stay open


def both(name, fn, grid, args, safe=(0,), races=(1,), nospec=(), ok="ok", bad="races", **kw):
    """One launch for each variant of the kernel: V in `safe` is right, V in `races` is not."""
    for v in safe:
        case(f"{name}_{v}" if v else name, fn, ok, grid, args(V=v), nospec=nospec, **kw)
    for v in races:
        case(f"{name}_wrong{v}", fn, bad, grid, args(V=v), nospec=nospec, **kw)


@triton.jit
def desc_tiles(out, M, N, V: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    """Tiles through a descriptor made on the device."""
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    if V == 0:
        d = tl.make_tensor_descriptor(out, [M, N], [N, 1], [R, C])
        d.store([pm * R, pn * C], tl.zeros((R, C), tl.float32))
    elif V == 1:
        d = tl.make_tensor_descriptor(out, [M, N], [N, 1], [R, C])
        d.store([pm * (R - 4), pn * C], tl.zeros((R, C), tl.float32))
    elif V == 2:
        d = tl.make_tensor_descriptor(out, [M, N + 4], [N, 1], [R, C])
        d.store([pm * R, pn * C], tl.zeros((R, C), tl.float32))
    elif V == 3:
        d = tl.make_tensor_descriptor(out + pm * R * N, [R, N], [N, 1], [2 * R, C])
        d.store([0, pn * C], tl.zeros((2 * R, C), tl.float32))
    elif V == 4:
        d = tl.make_tensor_descriptor(out + pm * R * N, [2 * R, N], [N, 1], [2 * R, C])
        d.store([0, pn * C], tl.zeros((2 * R, C), tl.float32))
    elif V == 5:
        d = tl.make_tensor_descriptor(out, [M, N], [N, 1], [R, C])
        d.store([pm * R - 4, pn * C], tl.zeros((R, C), tl.float32))
    elif V == 6:
        d = tl.make_tensor_descriptor(out, [M, N], [N, 1], [R, C])
        d.store([pm * R, -4], tl.zeros((R, C), tl.float32))
    elif V == 7:
        d = tl.make_tensor_descriptor(out, [M - 8, N], [N, 1], [R, C])
        d.store([pm * R, pn * C], tl.zeros((R, C), tl.float32))
        if pm == tl.num_programs(0) - 1:
            e = tl.make_tensor_descriptor(out, [M, N], [N, 1], [8, C])
            e.store([M - 8, pn * C], tl.zeros((8, C), tl.float32))
    elif V == 8:
        d = tl.make_tensor_descriptor(out, [M - 4, N], [N, 1], [R, C])
        d.store([pm * R, pn * C], tl.zeros((R, C), tl.float32))
        if pm == tl.num_programs(0) - 1:
            e = tl.make_tensor_descriptor(out, [M, N], [N, 1], [8, C])
            e.store([M - 8, pn * C], tl.zeros((8, C), tl.float32))


both("desc_tiles", desc_tiles, (3, 2), lambda V: dict(out=T("f32", 40, 32), M=40, N=32, V=V, R=16, C=16), safe=(0, 2, 3, 5, 7), races=(1, 4, 6), target=90)
case("desc_tiles_wrong8", desc_tiles, NEVER, (3, 2), dict(out=T("f32", 40, 32), M=40, N=32, V=8, R=16, C=16), target=90)


@triton.jit
def desc_inplace(x, M, N, V: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    pm = tl.program_id(0)
    d = tl.make_tensor_descriptor(x, [M, N], [N, 1], [R, C])
    if V == 0:
        d.store([pm * R, 0], d.load([pm * R, 0]) + 1.0)
    elif V == 1:
        d.store([pm * R, 0], d.load([pm * R + 1, 0]) + 1.0)
    elif V == 2:
        d.store([pm * R, 0], tl.trans(d.load([pm * R, 0])))
    elif V == 3:
        v = d.load([pm * R, 0])
        i = tl.arange(0, R)[:, None]
        j = tl.arange(0, C)[None, :]
        tl.store(x + (pm * R + i) * N + j, v + 1.0, mask=pm * R + i < M)
    elif V == 4:
        i = tl.arange(0, R)[:, None]
        j = tl.arange(0, C)[None, :]
        tl.store(x + (pm * R + i) * N + j, 1.0, mask=pm * R + i < M)
        v = d.load([(pm + 1) * R, 0])
        tl.store(x + (pm * R + i) * N + j, v, mask=pm * R + i < M)


both("desc_inplace", desc_inplace, (3,), lambda V: dict(x=T("f32", 40, 16), M=40, N=16, V=V, R=16, C=16), safe=(0,), races=(1, 2, 4), ok=PERHAPS, bad=NEVER, target=90)
case("desc_inplace_3", desc_inplace, PERHAPS, (3,), dict(x=T("f32", 40, 16), M=40, N=16, V=3, R=16, C=16), target=90)


@triton.jit
def desc_reduce(out, y, M, N, V: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    p = tl.program_id(0)
    d = tl.make_tensor_descriptor(out, [M, N], [N, 1], [R, C])
    if V == 0:
        d.atomic_add([0, 0], tl.full((R, C), 1.0, tl.float32))
    elif V == 1:
        d.atomic_add([0, 0], tl.full((R, C), 1.0, tl.float32))
        d.store([p * 8, 0], tl.full((R, C), 1.0, tl.float32))
    elif V == 2:
        d.atomic_add([p * 8, 0], tl.full((R, C), 1.0, tl.float32))
    elif V == 3:
        d.atomic_add([p * 8, 0], tl.full((R, C), 1.0, tl.float32))
        v = d.load([0, 0])
        i = tl.arange(0, R)[:, None]
        j = tl.arange(0, C)[None, :]
        tl.store(y + p * R * C + i * C + j, v)
    elif V == 4:
        d.atomic_add([p * 8, 0], tl.full((R, C), 1.0, tl.float32))
        i = tl.arange(0, R)[:, None]
        j = tl.arange(0, C)[None, :]
        tl.atomic_add(out + i * N + j, 1.0)
    elif V == 5:
        e = tl.make_tensor_descriptor(y, [M, N], [N, 1], [R, C])
        d.atomic_add([p * 8, 0], e.load([p * 8, 0]))


both("desc_reduce", desc_reduce, (4,), lambda V: dict(out=T("f32", 40, 16), y=T("f32", 64, 16), M=40, N=16, V=V, R=16, C=16), safe=(0, 2, 5), races=(1, 3), target=90)
case("desc_reduce_wrong4", desc_reduce, "races why=tensor_descriptor", (4,), dict(out=T("f32", 40, 16), y=T("f32", 64, 16), M=40, N=16, V=4, R=16, C=16), target=90)


@triton.jit
def desc_gather(x, y, out, M, N, V: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    p = tl.program_id(0)
    d = tl.make_tensor_descriptor(x, [M, N], [N, 1], [1, C])
    e = tl.make_tensor_descriptor(out, [M, N], [N, 1], [1, C])
    i = tl.arange(0, R)
    if V == 0:
        e.scatter(d.gather(p * R + i, 0), p * R + i, 0)
    elif V == 1:
        e.scatter(d.gather(p * R + i, 0), p * R + i // 2, 0)
    elif V == 2:
        e.scatter(d.gather(p * R + i, 0), p * (R - 1) + i, 0)
    elif V == 3:
        e.scatter(d.gather(M - 1 - p * R - i, 0), M - 1 - p * R - i, 0)
    elif V == 4:
        e.scatter(d.gather(p * R + i, 0), i * tl.num_programs(0) + p, 0)
    elif V == 5:
        r = tl.load(y + p * R + i)
        e.scatter(d.gather(r, 0), r, 0)
    elif V == 6:
        r = tl.load(y + p * R + i)
        e.scatter(d.gather(r, 0), p * R + i, 0)
    elif V == 7:
        r = tl.load(y + p * R + i)
        e.scatter(d.gather(r, 0), r // 2, 0)
    elif V == 8:
        d.scatter(d.gather(p * R + i, 0), (p * R + i) ^ 1, 0)
    elif V == 9:
        e.scatter(d.gather(p * R + i, 0), p * R + i, p * 4)


def _perm(n, k):
    return [(i * k + 3) % n for i in range(n)]


both("desc_gather", desc_gather, (4,), lambda V: dict(x=T("f32", 32, 16), y=T("i32", 32, values=_perm(32, 5)), out=T("f32", 32, 16), M=32, N=16, V=V, R=8, C=16), safe=(0, 3, 4, 5, 6, 9),
     races=(1, 2, 7, 8), target=100, bad=NEVER)


@triton.jit
def desc_loop(x, out, M, N, K, V: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    """Descriptors made in a loop, one for each group."""
    p = tl.program_id(0)
    for g in range(K):
        d = tl.make_tensor_descriptor(out + g * M * N, [M, N], [N, 1], [R, C])
        if V == 0:
            d.store([p * R, 0], tl.full((R, C), 1.0, tl.float32))
        elif V == 1:
            d.store([p * R, (g % 2) * 8], tl.full((R, C), 1.0, tl.float32))
        elif V == 2:
            d.store([(p + g) % 3 * R, 0], tl.full((R, C), 1.0, tl.float32))
        elif V == 3:
            d.store([(p + g) % 2 * R, 0], tl.full((R, C), 1.0, tl.float32))


both("desc_loop", desc_loop, (3,), lambda V: dict(x=T("f32", 16), out=T("f32", 4 * 48 * 16), M=48, N=16, K=4, V=V, R=16, C=16), safe=(0, 1, 2), races=(3,), target=90)


@triton.jit
def desc_three(out, A, M, N, V: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    a = tl.program_id(2)
    pm = tl.program_id(1)
    pn = tl.program_id(0)
    d = tl.make_tensor_descriptor(out, [A, M, N], [M * N, N, 1], [1, R, C])
    v = tl.zeros((1, R, C), tl.float16)
    if V == 0:
        d.store([a, pm * R, pn * C], v)
    elif V == 1:
        d.store([a // 2, pm * R, pn * C], v)
    elif V == 2:
        d.store([a, pm * R, pn * (C - 8)], v)
    elif V == 3:
        e = tl.make_tensor_descriptor(out, [A, M, N], [(M - 8) * N, N, 1], [1, R, C])
        e.store([a, pm * R, pn * C], v)
    elif V == 4:
        e = tl.make_tensor_descriptor(out, [A, M - 8, N], [(M - 8) * N, N, 1], [1, R, C])
        e.store([a, pm * R, pn * C], v)


both("desc_three", desc_three, (2, 2, 3), lambda V: dict(out=T("f16", 3, 32, 32), A=3, M=32, N=32, V=V, R=16, C=16), safe=(0, 4), races=(1, 2, 3), target=90)


@triton.jit
def desc_persistent(a, c, M, N, K, V: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The epilogue has a counter of its own, one round behind."""
    start = tl.program_id(0)
    nm = tl.cdiv(M, BM)
    nn = tl.cdiv(N, BN)
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    dc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN // 2])
    tile_c = start - tl.num_programs(0)
    for tile in tl.range(start, nm * nn, tl.num_programs(0), flatten=(V != 4)):
        m = tile // nn
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(tl.cdiv(K, BK)):
            acc += tl.sum(da.load([m * BM, k * BK]), 1)[:, None]
        tile_c += tl.num_programs(0) if V != 1 else 1
        m2 = tile_c // nn
        n2 = tile_c % nn
        x, y = tl.split(tl.permute(tl.reshape(acc, (BM, 2, BN // 2)), (0, 2, 1)))
        if V == 2:
            dc.store([m2 * BM, n2 * BN], x)
            dc.store([m2 * BM, n2 * BN + BN // 4], y)
        elif V == 3:
            dc.store([m2 * BM, n2 * BN], x)
            dc.store([m2 * BM + BM // 2, n2 * BN + BN // 2], y)
        else:
            dc.store([m2 * BM, n2 * BN], x)
            dc.store([m2 * BM, n2 * BN + BN // 2], y)


both("desc_persistent", desc_persistent, (3,), lambda V: dict(a=T("f32", 64, 32), c=T("f32", 64, 64), M=64, N=64, K=32, V=V, BM=16, BN=32, BK=16), safe=(0, 3, 4), races=(1, 2), bad=NEVER, target=90)


@triton.jit
def pieces(x, out, n, V: tl.constexpr, B: tl.constexpr):
    """Joins, splits, permutes and interleaves in the address."""
    p = tl.program_id(0)
    i = tl.arange(0, B)
    if V == 0:
        a = tl.join(i, i + B)
        tl.store(out + p * 2 * B + a, 1.0)
    elif V == 1:
        a = tl.join(i, i + B // 2)
        tl.store(out + p * 2 * B + a, 1.0)
    elif V == 2:
        a = tl.interleave(2 * i, 2 * i + 1)
        tl.store(out + p * 2 * B + a, 1.0)
    elif V == 3:
        a = tl.interleave(i, 2 * i + 1)
        tl.store(out + p * 2 * B + a, 1.0)
    elif V == 4:
        lo, hi = tl.split(tl.reshape(i, (B // 2, 2)))
        tl.store(out + p * B + lo, 1.0)
        tl.store(out + p * B + hi, 2.0)
    elif V == 5:
        lo, hi = tl.split(tl.reshape(i, (B // 2, 2)))
        tl.store(out + p * B + lo, 1.0)
        tl.store(out + p * B + hi - 1, 2.0)
    elif V == 6:
        a = tl.permute(tl.reshape(i, (4, B // 8, 2)), (2, 0, 1))
        tl.store(out + p * B + a, 1.0)
    elif V == 7:
        a = tl.permute(tl.reshape(i, (4, B // 8, 2)), (2, 0, 1))
        tl.store(out + p * B + a - (a % 4) // 2, 1.0)
    elif V == 8:
        a = tl.flip(i, 0)
        tl.store(out + p * B + a, tl.load(x + p * B + i))
    elif V == 9:
        a = tl.flip(i, 0)
        tl.store(x + p * B + a, tl.load(x + p * B + i))
    elif V == 10:
        a = tl.cat(i, i + B, can_reorder=True)
        tl.store(out + p * 2 * B + a, 1.0)
    elif V == 11:
        a = tl.cat(i, i, can_reorder=True)
        tl.store(out + p * 2 * B + a, 1.0)
    elif V == 12:
        a = tl.broadcast_to(i[:, None], (B, 2))
        tl.store(out + p * 2 * B + a, 1.0)
    elif V == 13:
        a = tl.reshape(tl.trans(tl.reshape(i, (B // 8, 8))), (B,))
        tl.store(out + p * B + a, tl.load(x + p * B + a))
    elif V == 14:
        a = tl.reshape(tl.trans(tl.reshape(i, (B // 8, 8))), (B,))
        tl.store(x + p * B + a, tl.load(x + p * B + i))


both("pieces", pieces, (3,), lambda V: dict(x=T("f32", 256), out=T("f32", 400), n=100, V=V, B=64), safe=(0, 2, 4, 6, 8, 13), races=(1, 3, 5, 7, 9, 12, 14))
both("pieces", pieces, (3,), lambda V: dict(x=T("f32", 256), out=T("f32", 400), n=100, V=V, B=64), safe=(10,), races=(11,), ok=PERHAPS, bad=NEVER)


@triton.jit
def picks(x, y, out, V: tl.constexpr, B: tl.constexpr):
    """What reductions and searches give, within a window of the program."""
    p = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + p * B + i)
    if V == 0:
        tl.store(out + p * B + tl.argmax(v, 0), 1)
    elif V == 1:
        tl.store(out + p * (B // 2) + tl.argmax(v, 0), 1)
    elif V == 2:
        m, j = tl.max(v, 0, return_indices=True)
        tl.store(out + p * B + j, m)
    elif V == 3:
        m, j = tl.min(v, 0, return_indices=True)
        tl.store(out + j * 8 + p, m)
    elif V == 4:
        m, j = tl.min(v, 0, return_indices=True)
        tl.store(out + j * 2 + p, m)
    elif V == 5:
        m = tl.max(v, 0)
        tl.store(out + m, p)
    elif V == 6:
        m = tl.max(tl.where(v < 100, i, 0), 0)
        tl.store(out + p * B + m, 1)
    elif V == 7:
        s = tl.sort(v)
        tl.store(out + s, p)
    elif V == 8:
        s = tl.sort(v)
        tl.store(out + s // 2, p)
    elif V == 9:
        s = tl.topk(v, 8)
        tl.store(out + s, p)
    elif V == 10:
        s = tl.topk(v, 8)
        tl.store(out + p * 8 + tl.arange(0, 8), s)
    elif V == 11:
        s = tl.gather(v, B - 1 - i, 0)
        tl.store(out + s, p)
    elif V == 12:
        s = tl.gather(v, i // 2, 0)
        tl.store(out + s, p)
    elif V == 13:
        s = tl.gather(i, B - 1 - i, 0)
        tl.store(out + p * B + s, v)
    elif V == 14:
        s = tl.gather(i, i // 2 * 2, 0)
        tl.store(out + p * B + s, v)
    elif V == 15:
        s = tl.cumsum(tl.where(v % 2 == 0, 1, 1), 0) - 1
        tl.store(out + p * B + s, v)
    elif V == 16:
        s = tl.cumprod(tl.where(i < 3, 2, 1), 0)
        tl.store(out + p * B + s, v)
    elif V == 17:
        s = tl.xor_sum(v, 0)
        tl.store(out + p * 512 + (s & 511), 1)
    elif V == 18:
        h = tl.histogram(v, 256)
        j = tl.arange(0, 256)
        e = tl.cumsum(h, 0) - h
        tl.store(out + p * 256 + e, j, mask=h > 0)
    elif V == 19:
        h = tl.histogram(v, 256)
        j = tl.arange(0, 256)
        e = tl.cumsum(h, 0) - h
        tl.store(out + p * 256 + e, j)


def _mix(n, k):
    return [(i * k + 7) % n for i in range(n)]


both("picks", picks, (4,), lambda V: dict(x=T("i32", 256, values=_mix(256, 77)), y=T("i32", 256), out=T("i32", 2048), V=V, B=64), safe=(0, 2, 3, 5, 6, 7, 9, 10, 11, 13, 15, 17, 18), races=(8, 12, 14, 16, 19))
both("picks", picks, (4,), lambda V: dict(x=T("i32", 256, values=_mix(256, 77)), y=T("i32", 256), out=T("i32", 2048), V=V, B=64), safe=(), races=(1, 4), bad="ok|races")
for v in (0, 2, 3, 6, 10, 13, 15, 17):
    case(f"picks_{v}_any", picks, "ok" if v != 17 else PERHAPS, (4,), dict(x=T("i32", 256), y=T("i32", 256), out=T("i32", 2048), V=v, B=64))


@triton.jit
def imax(a, b):
    return tl.maximum(a, b)


@triton.jit
def seg(a, fa, b, fb):
    return tl.where(fb != 0, b, a + b), fa | fb


@triton.jit
def scans(x, out, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + p * B + i)
    if V == 0:
        m = tl.associative_scan(i, 0, imax)
        tl.store(out + p * B + m, v)
    elif V == 1:
        m = tl.associative_scan(v, 0, imax)
        tl.store(out + p * 512 + m, v)
    elif V == 2:
        m = tl.associative_scan(tl.where(i % 4 == 0, i, 0), 0, imax)
        tl.store(out + p * B + m, v, mask=i % 4 == 0)
    elif V == 3:
        m = tl.associative_scan(tl.where(i % 4 == 0, i, 0), 0, imax)
        tl.store(out + p * B + m, v)
    elif V == 4:
        s, f = tl.associative_scan((tl.full((B,), 1, tl.int32), (i % 8 == 0).to(tl.int32)), 0, seg)
        tl.store(out + p * 512 + (i // 8) * 8 + s - 1, v)
    elif V == 5:
        s, f = tl.associative_scan((tl.full((B,), 1, tl.int32), (i % 8 == 0).to(tl.int32)), 0, seg)
        tl.store(out + p * 512 + (i // 8) * 4 + s - 1, v)
    elif V == 6:
        r = tl.reduce(i, 0, imax)
        tl.store(out + p * B + r, 1)
    elif V == 7:
        t = tl.reshape(i, (B // 8, 8))
        s = tl.cumsum(t * 0 + 1, 1) - 1
        tl.store(out + p * B + tl.arange(0, B // 8)[:, None] * 8 + s, 1)
    elif V == 8:
        t = tl.reshape(i, (B // 8, 8))
        s = tl.cumsum(t * 0 + 1, 0) - 1
        tl.store(out + p * B + tl.arange(0, B // 8)[:, None] * 8 + s, 1)
    elif V == 9:
        t = tl.reshape(i, (B // 8, 8))
        s = tl.cumsum(t * 0 + 1, 0, reverse=True) - 1
        tl.store(out + p * B + s * 8 + tl.arange(0, 8)[None, :], 1)


both("scans", scans, (3,), lambda V: dict(x=T("i32", 192, values=_mix(192, 77)), out=T("i32", 2048), V=V, B=64), safe=(0, 2, 6, 7, 9), races=(1, 3, 8))
both("scans", scans, (3,), lambda V: dict(x=T("i32", 192, values=_mix(192, 77)), out=T("i32", 2048), V=V, B=64), safe=(4,), races=(5,), ok=PERHAPS, bad=NEVER)


@triton.jit
def pdl(x, out, n, V: tl.constexpr, B: tl.constexpr):
    gdc_wait()
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    gdc_launch_dependents()
    if V == 0:
        tl.store(out + i, v, mask=i < n)
    elif V == 1:
        tl.store(out + i // 2, v, mask=i < n)
    elif V == 2:
        tl.store(out + i - tl.program_id(0), v, mask=i < n)


both("pdl", pdl, (4,), lambda V: dict(x=T("f32", 128), out=T("f32", 128), n=120, V=V, B=32), races=(1, 2), target=90)


@triton.jit
def sm_slots(out, part, V: tl.constexpr, B: tl.constexpr):
    s = smid()
    i = tl.arange(0, B)
    if V == 0:
        tl.store(out + tl.program_id(0) * B + i, s)
    elif V == 1:
        tl.store(out + s * B + i, 1)
    elif V == 2:
        tl.atomic_add(out + s * B + i, 1)


both("sm_slots", sm_slots, (4,), lambda V: dict(out=T("i32", 4096), part=T("i32", 1), V=V, B=32), safe=(0, 2), races=(1,), bad=NEVER, target=90)


@triton.jit
def lib_bits(x, out, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, B)
    if V == 0:
        r = libdevice.brev(p.to(tl.int32))
        tl.store(out + ((r >> 28) & 15) * B + i, 1)
    elif V == 1:
        r = libdevice.popc(p.to(tl.int32))
        tl.store(out + r * B + i, 1)
    elif V == 2:
        r = libdevice.ffs(p.to(tl.int32))
        tl.store(out + p * B + i, r)
    elif V == 3:
        r = libdevice.clz(p.to(tl.int32))
        tl.store(out + (p * 64 + r) * B + i, 1, mask=i < r)
    elif V == 4:
        r = libdevice.mul24(p, B)
        tl.store(out + r + i, 1)


both("lib_bits", lib_bits, (16,), lambda V: dict(x=T("f32", 16), out=T("i32", 65536), V=V, B=16), safe=(2,), races=())
both("lib_bits", lib_bits, (16,), lambda V: dict(x=T("f32", 16), out=T("i32", 65536), V=V, B=16), safe=(0, 3, 4), races=(1,), ok=PERHAPS, bad=NEVER)


@triton.jit
def asm_math(x, out, n, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    if V == 0:
        w = tl.inline_asm_elementwise("shl.b32 $0, $1, 3;", "=r,r", [v], dtype=tl.int32, is_pure=True, pack=1)
        tl.store(out + i, w, mask=i < n)
    elif V == 1:
        w = tl.inline_asm_elementwise("shl.b32 $0, $1, 3;", "=r,r", [i], dtype=tl.int32, is_pure=True, pack=1)
        tl.store(out + w, v, mask=i < n)
    elif V == 2:
        w = tl.inline_asm_elementwise("shl.b32 $0, $1, 3;", "=r,r", [i], dtype=tl.int32, is_pure=True, pack=1)
        tl.store(out + i // 2 , w, mask=i < n)
    elif V == 3:
        w, u = tl.inline_asm_elementwise("mov.b32 $0, $2; mov.b32 $1, $2;", "=r,=r,r", [v], dtype=(tl.int32, tl.int32), is_pure=True, pack=1)
        tl.store(out + 2 * i, w, mask=i < n)
        tl.store(out + 2 * i + 1, u, mask=i < n)
    elif V == 4:
        w = tl.inline_asm_elementwise("shl.b32 $0, $1, 3;", "=r,r", [v], dtype=tl.int32, is_pure=True, pack=1)
        tl.store(out + i, w, mask=(i < n) & (w > 5))
    elif V == 5:
        tl.inline_asm_elementwise("bar.sync 0; mov.b32 $0, 0;", "=r", [], dtype=tl.int32, is_pure=False, pack=1)
        tl.store(out + i, v, mask=i < n)


both("asm_math", asm_math, (4,), lambda V: dict(x=T("i32", 128), out=T("i32", 1024), n=120, V=V, B=32), safe=(0, 3, 4), races=(2,))
case("asm_barrier", asm_math, "unsupported inline-asm", (4,), dict(x=T("i32", 128), out=T("i32", 1024), n=120, V=5, B=32))
case("asm_address", asm_math, PERHAPS, (4,), dict(x=T("i32", 128), out=T("i32", 1024), n=120, V=1, B=32))


@triton.jit(noinline=True)
def put(q, s, v, n, K: tl.constexpr):
    i = s + tl.arange(0, K)
    tl.store(q + i, v, mask=i < n)
    return s + 1


@triton.jit(noinline=True)
def where_to(p, n, K: tl.constexpr):
    r = p * K
    if p >= n // 2:
        r = (p - n // 2) * K + n * K
    return r


@triton.jit
def calls(out, n, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    i = p * B
    if V == 0:
        j = put(out, i, 1.0, n, B)
    elif V == 1:
        j = put(out, i, 1.0, n, B)
        put(out, j, 1.0, n, B)
    elif V == 2:
        s = where_to(p, tl.num_programs(0), B)
        put(out, s, 1.0, n, B)
    elif V == 3:
        s = where_to(p, tl.num_programs(0) + 1, B // 2)
        put(out, s, 1.0, n, B)
    elif V == 4:
        j = put(out, i, 1.0, n, B)
        tl.debug_barrier()
        put(out, j - 1, 2.0, n, B)


both("calls", calls, (4,), lambda V: dict(out=T("f32", 400), n=400, V=V, B=32), safe=(0, 2, 4), races=(1, 3))


@triton.constexpr_function
def log2(n):
    return n.bit_length() - 1


@triton.jit
def constexprs(out, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    L: tl.constexpr = log2(B)
    if V == 0:
        s = p << L
    else:
        s = p << (L - 1)
    tl.store(out + s + tl.arange(0, B), 1.0)


both("constexprs", constexprs, (4,), lambda V: dict(out=T("f32", 128), V=V, B=32))


@aggregate
class Tile:
    base: tl.tensor
    row: tl.tensor
    stride: tl.tensor

    @triton.jit
    def at(self, i):
        return self.base + self.row * self.stride + i

    @triton.jit
    def next(self, k):
        return Tile(self.base, self.row + k, self.stride)


@triton.jit
def aggregates(out, s, n, V: tl.constexpr, B: tl.constexpr):
    t = Tile(out, tl.program_id(0), s)
    i = tl.arange(0, B)
    tl.store(t.at(i), 1.0, mask=i < s)
    if V == 1:
        t = t.next(1)
    elif V == 0:
        t = t.next(tl.num_programs(0))
    elif V == 2:
        for k in range(3):
            t = t.next(tl.num_programs(0))
            tl.store(t.at(i), 1.0, mask=i < s)
    elif V == 3:
        for k in range(3):
            t = t.next(tl.num_programs(0) - 1)
            tl.store(t.at(i), 1.0, mask=i < s)
    tl.store(t.at(i), 2.0, mask=i < s)


both("aggregates", aggregates, (4,), lambda V: dict(out=T("f32", 1024), s=20, n=1, V=V, B=32), safe=(0,), races=(1, 3))
case("aggregates_own", aggregates, "races", (4,), dict(out=T("f32", 1024), s=40, n=1, V=2, B=64))


@triton.jit
def tuples(a, b, n, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    i = p * B + tl.arange(0, B)
    ts = (a, b)
    offs = (i, i + n)
    for k in tl.static_range(2):
        if V == 0:
            tl.store(ts[k] + offs[k], 1.0, mask=i < n)
        elif V == 1:
            tl.store(ts[0] + offs[k], 1.0, mask=i < n)
        elif V == 2:
            tl.store(ts[0] + offs[k] // (k + 1), 1.0, mask=i < n)
    x = (p, 0)
    for k in range(3):
        x = (x[1], x[0])
    if V == 3:
        tl.store(a + x[1], 1.0)
    elif V == 4:
        tl.store(a + x[0] + p, 1.0)


both("tuples", tuples, (4,), lambda V: dict(a=T("f32", 256), b=T("f32", 256), n=128, V=V, B=32), safe=(0, 1, 3, 4), races=(2,))


@triton.jit
def larger(a, b):
    if a > b:
        return a
    return b


@triton.jit
def mapped(x, out, n, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    if V == 0:
        w = tl.map_elementwise(larger, v, i)
        tl.store(out + i, w, mask=i < n)
    elif V == 1:
        w = tl.map_elementwise(larger, v * 0, i)
        tl.store(out + w, v, mask=i < n)
    elif V == 2:
        w = tl.map_elementwise(larger, v, i)
        tl.store(out + i // 2, w, mask=i < n)


both("mapped", mapped, (4,), lambda V: dict(x=T("i32", 128), out=T("i32", 256), n=120, V=V, B=32), safe=(0,), races=(2,))
case("mapped_address", mapped, PERHAPS, (4,), dict(x=T("i32", 128), out=T("i32", 256), n=120, V=1, B=32))


@triton.jit
def scaled(a, sa, b, sb, c, V: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    p = tl.program_id(0)
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, N)[None, :]
    k = tl.arange(0, K)
    g = tl.arange(0, K // 32)
    x = tl.load(a + (p * M + m) * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n)
    xs = tl.load(sa + (p * M + m) * (K // 32) + g[None, :])
    ys = tl.load(sb + tl.arange(0, N)[:, None] * (K // 32) + g[None, :])
    acc = tl.dot_scaled(x, xs, "e4m3", y, ys, "e4m3")
    if V == 0:
        tl.store(c + (p * M + m) * N + n, acc)
    elif V == 1:
        tl.store(c + (p * (M - 8) + m) * N + n, acc)
    elif V == 2:
        tl.store(sa + (p * M + m) * (K // 32) + g[None, :], (xs + 1).to(tl.uint8))
        tl.store(c + (p * M + m) * N + n, acc)


both("scaled", scaled, (3,), lambda V: dict(a=T("u8", 96, 64), sa=T("u8", 96, 2), b=T("u8", 64, 32), sb=T("u8", 32, 2), c=T("f32", 96, 32), V=V, M=32, N=32, K=64), safe=(0,), races=(1,), target=100)


@triton.jit
def loop_hints(x, out, n, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    for k in tl.range(p, n, tl.num_programs(0), num_stages=3, loop_unroll_factor=2, disallow_acc_multi_buffer=True, warp_specialize=False):
        i = tl.arange(0, B)
        if V == 0:
            tl.store(out + k * B + i, tl.load(x + k * B + i))
        elif V == 1:
            tl.store(out + (k - p) * B + i, tl.load(x + k * B + i))
        elif V == 2:
            tl.store(x + k * B + i, tl.load(x + (k + 1) * B + i))


both("loop_hints", loop_hints, (3,), lambda V: dict(x=T("f32", 512), out=T("f32", 512), n=10, V=V, B=16), races=(1, 2))


@triton.jit
def ws_matmul(a, b, c, M, N, K, V: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    dc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    nm = tl.cdiv(M, BM)
    nn = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), nm * nn, tl.num_programs(0), flatten=True, warp_specialize=True):
        m = (tile % nm) * BM
        n = (tile // nm) * BN if V != 1 else (tile % nn) * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for k in tl.range(0, K, BK):
            acc = tl.dot(da.load([m, k]), db.load([n, k]).T, acc)
        dc.store([m, n], acc.to(tl.float16))


both("ws_matmul", ws_matmul, (4,), lambda V: dict(a=T("f16", 256, 64), b=T("f16", 256, 64), c=T("f16", 256, 256), M=256, N=256, K=64, V=V, BM=64, BN=64, BK=32), bad=NEVER, target=100)


@triton.jit
def randoms(out, seed, n, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    i = p * B + tl.arange(0, B)
    r = tl.randint(seed, i)
    if V == 0:
        tl.store(out + i, r, mask=tl.rand(seed, i) > 0.5)
    elif V == 1:
        tl.store(out + (r & 255), i)
    elif V == 2:
        tl.store(out + p * B + (r & (B - 1)), i)
    elif V == 3:
        tl.store(out + (i ^ (tl.randint(seed, n) & 63)), i)
    elif V == 4:
        tl.store(out + (i | (tl.randint(seed, n) & 63)), i)


both("randoms", randoms, (4,), lambda V: dict(out=T("i32", 256), seed=7, n=3, V=V, B=64), safe=(0,), races=())
both("randoms", randoms, (4,), lambda V: dict(out=T("i32", 256), seed=7, n=3, V=V, B=64), safe=(3,), races=(1, 2, 4), ok=PERHAPS, bad=NEVER)


@triton.jit
def ctas(out, V: tl.constexpr, B: tl.constexpr):
    tl.store(out + tl.program_id(0) * (B if V == 0 else B // 2) + tl.arange(0, B), 1.0)


both("ctas", ctas, (4,), lambda V: dict(out=T("f32", 1024), V=V, B=128), ok="unsupported multi-cta", bad="unsupported multi-cta", target=90, num_ctas=2)


@triton.jit
def asserts(x, out, n, V: tl.constexpr, B: tl.constexpr):
    tl.static_assert(B % 8 == 0)
    p = tl.program_id(0)
    tl.assume(p < 4)
    tl.assume(n > 0)
    i = p * B + tl.arange(0, B)
    if V == 0:
        tl.store(out + i, 1.0, mask=i < n)
    elif V == 1:
        tl.store(out + i % 128, 1.0, mask=i < n)
    elif V == 2:
        tl.store(out + i % 96, 1.0, mask=i < n)


both("asserts", asserts, (4,), lambda V: dict(x=T("f32", 1), out=T("f32", 128), n=128, V=V, B=32), safe=(0, 1), races=(2,))


@triton.jit
def hints(x, out, n, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    i = tl.max_contiguous(tl.multiple_of((p * B + tl.arange(0, B)) % n, B), B)
    v = tl.load(x + i, cache_modifier=".ca", eviction_policy="evict_first", volatile=True)
    if V == 0:
        tl.store(out + p * B + tl.arange(0, B), v, cache_modifier=".wt")
    elif V == 1:
        tl.store(out + i, v, eviction_policy="evict_last")
    elif V == 2:
        tl.store(x + i, v)


both("hints", hints, (4,), lambda V: dict(x=T("f32", 96), out=T("f32", 128), n=96, V=V, B=32), races=(1, 2))
