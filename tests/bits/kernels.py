"""Addresses made by arithmetic of the machine: bits, casts to few bits, numbers without a sign, hashing, curves, triangles, 64-bit sizes;
and by picking among elements (maxima, their places), which bounds them whatever memory holds."""
from cases import T, case, load_triton
triton, tl = load_triton()

NEVER = "races|unsupported never=ok"       # wrong, and may be refused
PERHAPS = "ok|unsupported never=races"     # right, and may stay open


def both(name, fn, grid, args, safe=(0,), races=(1,), nospec=(), ok="ok", bad="races", **kw):
    """One launch for each variant of the kernel: V in `safe` is right, V in `races` is not."""
    for v in safe:
        case(f"{name}_{v}" if v else name, fn, ok, grid, args(V=v), nospec=nospec, **kw)
    for v in races:
        case(f"{name}_wrong{v}", fn, bad, grid, args(V=v), nospec=nospec, **kw)


@triton.jit
def fib_hash(out, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0).to(tl.uint32)
    if V == 0:
        s = (p * 2654435769) & 31
    elif V == 1:
        s = (p * 2654435769) >> 27
    elif V == 2:
        s = (p * 6) & 31
    elif V == 3:
        s = (p * 5 + 17) & 31
    else:
        s = (p ^ (p >> 1)) & 15
    tl.store(out + s * B + tl.arange(0, B), 1.0)


both("fib_hash", fib_hash, (32,), lambda V: dict(out=T("f32", 32 * 16), V=V, B=16), safe=(0, 3), races=(2, 4))


@triton.jit
def gray_rows(out, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    if V == 0:
        g = p ^ (p >> 1)
    elif V == 1:
        g = p & (p >> 1)
    elif V == 2:
        g = p | (p >> 1)
    elif V == 3:
        g = p ^ (p << 1)
    elif V == 4:
        g = (p ^ (p >> 2)) + 1
    elif V == 5:
        g = p - (p >> 1)
    tl.store(out + g * B + tl.arange(0, B), p)


both("gray_rows", gray_rows, (24,), lambda V: dict(out=T("i32", 64 * 16), V=V, B=16), safe=(0, 3, 4), races=(1, 2, 5))


@triton.jit
def spread(x):
    x = (x | (x << 4)) & 0x0F0F
    x = (x | (x << 2)) & 0x3333
    x = (x | (x << 1)) & 0x5555
    return x


@triton.jit
def spread_bad(x):
    x = (x | (x << 4)) & 0x0F0F
    x = (x | (x << 2)) & 0x3333
    x = (x | (x << 2)) & 0x5555
    return x


@triton.jit
def morton_tiles(out, V: tl.constexpr, B: tl.constexpr):
    x = tl.program_id(0)
    y = tl.program_id(1)
    if V == 0:
        m = spread(x) | (spread(y) << 1)
    elif V == 1:
        m = spread(x) | spread(y)
    elif V == 2:
        m = spread_bad(x) | (spread(y) << 1)
    else:
        m = spread(x) + spread(y) * 2
    tl.store(out + m * B + tl.arange(0, B), 0.0)


both("morton_tiles", morton_tiles, (6, 5), lambda V: dict(out=T("f32", 64 * 32), V=V, B=32), safe=(0, 3), races=(1, 2))


@triton.jit
def unmorton_tiles(out, n, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    x = p & 0x5555
    x = (x | (x >> 1)) & 0x3333
    x = (x | (x >> 2)) & 0x0F0F
    x = (x | (x >> 4)) & 0x00FF
    q = p >> (1 if V != 1 else 2)
    y = q & 0x5555
    y = (y | (y >> 1)) & 0x3333
    y = (y | (y >> 2)) & 0x0F0F
    y = (y | (y >> 4)) & 0x00FF
    r = y * B + tl.arange(0, B)
    c = x * B + tl.arange(0, B)
    tl.store(out + r[:, None] * n + c[None, :], 1.0, mask=(r[:, None] < n) & (c[None, :] < n))


both("unmorton_tiles", unmorton_tiles, (16,), lambda V: dict(out=T("f32", 30, 30), n=30, V=V, B=8))


@triton.jit
def xor_swizzle(x, out, V: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    p = tl.program_id(0)
    r = tl.arange(0, R)[:, None]
    c = tl.arange(0, C)[None, :]
    v = tl.load(x + p * R * C + r * C + c)
    if V == 0:
        d = c ^ (r & (C - 1))
    elif V == 1:
        d = c | (r & (C - 1))
    elif V == 2:
        d = c ^ r
    elif V == 3:
        d = (c + r) % C
    elif V == 4:
        d = (c * 3 + r) % C
    else:
        d = (c * 2 + r) % C
    tl.store(out + p * R * C + r * C + d, v)


both("xor_swizzle", xor_swizzle, (3,), lambda V: dict(x=T("f32", 3 * 256), out=T("f32", 3 * 256), V=V, R=32, C=8), safe=(0, 3, 4), races=(1, 2, 5))


@triton.jit
def magic_div(out, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0).to(tl.uint32)
    m = tl.full((), 0xAAAAAAAB if V != 1 else 0x55555556, tl.uint32)
    q = tl.umulhi(p, m) >> 1
    r = p - q * 3
    tl.store(out + (q * 3 + r) * B + tl.arange(0, B) if V != 2 else out + (q * 2 + r) * B + tl.arange(0, B), 1)


both("magic_div", magic_div, (20,), lambda V: dict(out=T("i32", 20 * 16), V=V, B=16), safe=(0, 1), races=(2,))


@triton.jit
def trunc_div(out, V: tl.constexpr, B: tl.constexpr):
    x = tl.program_id(0) - 4
    q = x // 3
    r = x % 3
    if V == 0:
        s = q * 3 + r + 4
    elif V == 1:
        s = (q + 1) * 3 + tl.abs(r)
    elif V == 2:
        s = q + 4
    elif V == 3:
        u = x.to(tl.uint32)
        s = (u // 3 * 3 + u % 3 + 4).to(tl.int32)
    else:
        s = x.to(tl.uint32) % 8
    tl.store(out + s * B + tl.arange(0, B), 1)


both("trunc_div", trunc_div, (8,), lambda V: dict(out=T("i32", 16 * 16), V=V, B=16), safe=(0, 4), races=(1, 2))
case("trunc_div_3", trunc_div, PERHAPS, (8,), dict(out=T("i32", 16 * 16), V=3, B=16))


@triton.jit
def narrow_id(out, V: tl.constexpr):
    p = tl.program_id(0)
    if V == 0:
        s = p.to(tl.int16) + 5
    elif V == 1:
        s = p.to(tl.int8).to(tl.int32) + 128
    elif V == 2:
        s = p.to(tl.uint8).to(tl.int32)
    elif V == 3:
        s = (p.to(tl.int8) + 0).to(tl.int32) + 128 + (p >> 8) * 256
    elif V == 4:
        s = p.to(tl.uint8).to(tl.int32) + (p >> 8) * 256
    elif V == 5:
        s = p.to(tl.uint8).to(tl.int32) + (p >> 7) * 256
    tl.store(out + s, 1)


both("narrow_id", narrow_id, (300,), lambda V: dict(out=T("i8", 1024), V=V), safe=(0, 3, 4, 5), races=(1, 2))


@triton.jit
def narrow_tile(out, V: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    if V == 0:
        s = i.to(tl.uint8).to(tl.int32)
    elif V == 1:
        s = i.to(tl.int8).to(tl.int32) + 128
    elif V == 2:
        s = (i.to(tl.uint8) >> 1).to(tl.int32)
    elif V == 3:
        s = (i.to(tl.int8) >> 1).to(tl.int32) + 64
    elif V == 4:
        s = (i.to(tl.uint8) * 3).to(tl.int32)
    else:
        s = (i.to(tl.uint8) * 2).to(tl.int32)
    tl.store(out + s + 256 * tl.program_id(0), 1.0)


both("narrow_tile", narrow_tile, (2,), lambda V: dict(out=T("f32", 512), V=V, B=256), safe=(0, 1, 4), races=(2, 3, 5))


@triton.jit
def wide_row(out, stride, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, B)
    if V == 0:
        o = p.to(tl.int64) * stride
    elif V == 1:
        o = (p * stride).to(tl.int64)
    elif V == 2:
        o = (p * stride).to(tl.uint32).to(tl.int64)
    elif V == 3:
        o = p.to(tl.uint32).to(tl.int64) * stride
    tl.store(out + o + i, 1)


both("wide_row", wide_row, (20,), lambda V: dict(out=T("i8", 20 << 28), stride=1 << 28, V=V, B=64), safe=(0, 3), races=(1, 2), bad=NEVER, ok=PERHAPS)


@triton.jit
def long_sizes(out, n, V: tl.constexpr, B: tl.constexpr):
    """n is an i64 argument."""
    p = tl.program_id(0).to(tl.int64)
    i = p * B + tl.arange(0, B)
    if V == 0:
        tl.store(out + i, 1, mask=i < n)
    elif V == 1:
        tl.store(out + (i + n) % n, 1, mask=i < n)
    elif V == 2:
        tl.store(out + i * n % 8, 1, mask=i < n)
    elif V == 3:
        k = n.to(tl.int32)
        tl.store(out + i % 64, 1, mask=i < k)


both("long_sizes", long_sizes, (4,), lambda V: dict(out=T("i8", 5 << 32), n=(1 << 32) + 40, V=V, B=32), safe=(0, 1), races=(2,))
case("long_sizes_3", long_sizes, "unsupported integer-overflow", (4,), dict(out=T("i8", 5 << 32), n=(1 << 32) + 40, V=3, B=32))


@triton.jit
def triangle(out, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, B)
    if V == 0:
        tl.store(out + p * (p + 1) // 2 + i, 1, mask=i <= p)
    elif V == 1:
        tl.store(out + p * (p + 1) // 2 + i, 1, mask=i <= p + 1)
    elif V == 2:
        tl.store(out + p * p + i, 1, mask=i < 2 * p + 1)
    elif V == 3:
        tl.store(out + p * p + i, 1, mask=i <= 2 * p + 1)
    elif V == 4:
        tl.store(out + p * (p - 1) // 2 + i, 1, mask=i < p)
    elif V == 5:
        tl.store(out + (1 << p) + i, 1, mask=i < (1 << p))
    elif V == 6:
        tl.store(out + (1 << p) + i, 1, mask=i <= (1 << p))


both("triangle", triangle, (8,), lambda V: dict(out=T("i32", 512), V=V, B=256), safe=(0, 2, 4, 5), races=(1, 3, 6))


@triton.jit
def tri_index(out, n, V: tl.constexpr, B: tl.constexpr):
    """Row and column of a lower triangle from the flat id, by a loop."""
    p = tl.program_id(0)
    row = 0
    left = p
    while left > row:
        left -= row + 1
        row += 1
    if V == 1:
        left = left // 2
    elif V == 2:
        row = row // 2
    r = row * B + tl.arange(0, B)[:, None]
    c = left * B + tl.arange(0, B)[None, :]
    tl.store(out + r * n + c, 1.0, mask=(r < n) & (c < n))


both("tri_index", tri_index, (10,), lambda V: dict(out=T("f32", 32, 32), n=32, V=V, B=8), safe=(0,), races=(1, 2))


@triton.jit
def tri_sqrt(out, n, V: tl.constexpr, B: tl.constexpr):
    """The same by a square root of floats."""
    p = tl.program_id(0)
    row = ((tl.sqrt((8 * p + 1).to(tl.float32)) - 1.0) / 2.0).to(tl.int32)
    col = p - row * (row + 1) // 2
    if V == 1:
        col = 0
    r = row * B + tl.arange(0, B)[:, None]
    c = col * B + tl.arange(0, B)[None, :]
    tl.store(out + r * n + c, 1.0, mask=(r < n) & (c < n))


both("tri_sqrt", tri_sqrt, (10,), lambda V: dict(out=T("f32", 32, 32), n=32, V=V, B=8), ok=PERHAPS, bad=NEVER)


@triton.jit
def swizzled_grid(out, M, N, V: tl.constexpr, B: tl.constexpr, G: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    if V == 0:
        pm, pn = tl.swizzle2d(pm, pn, tl.num_programs(0), tl.num_programs(1), G)
    elif V == 1:
        pm, pn = tl.swizzle2d(pm, pn, tl.num_programs(0), tl.num_programs(0), G)
    elif V == 2:
        pn, pm = tl.swizzle2d(pn, pm, tl.num_programs(1), tl.num_programs(0), G)
    else:
        pm, pn = tl.swizzle2d(pn, pm, tl.num_programs(0), tl.num_programs(1), G)
    r = pm * B + tl.arange(0, B)[:, None]
    c = pn * B + tl.arange(0, B)[None, :]
    tl.store(out + r * N + c, 1.0, mask=(r < M) & (c < N))


both("swizzled_grid", swizzled_grid, (5, 3), lambda V: dict(out=T("f32", 80, 48), M=80, N=48, V=V, B=16, G=2), safe=(0, 1, 2), races=(3,))


@triton.jit
def grid_z(out, V: tl.constexpr, B: tl.constexpr):
    x = tl.program_id(0)
    y = tl.program_id(1)
    z = tl.program_id(2)
    gx = tl.num_programs(0)
    gy = tl.num_programs(1)
    if V == 0:
        f = (z * gy + y) * gx + x
    elif V == 1:
        f = (z * gx + y) * gx + x
    elif V == 2:
        f = z * gy + y * gx + x
    elif V == 3:
        f = (x * gy + y) * tl.num_programs(2) + z
    elif V == 4:
        f = (gx * gy * tl.num_programs(2)) - 1 - ((z * gy + y) * gx + x)
    tl.store(out + f * B + tl.arange(0, B), 1.0)


both("grid_z", grid_z, (2, 3, 4), lambda V: dict(out=T("f32", 32 * 32), V=V, B=32), safe=(0, 3, 4), races=(1, 2))


@triton.jit
def empty_grid(out, n, V: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, 1.0, mask=i < n)


case("empty_tensor", empty_grid, "ok", (4,), dict(out=T("f32", 0), n=0, V=0, B=32))
case("one_program", empty_grid, "ok", (1,), dict(out=T("f32", 32), n=32, V=0, B=32))


@triton.jit
def pointer_choice(a, b, n, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, B)
    if V == 0:
        q = tl.where(p % 2 == 0, a + (p // 2) * B + i, b + (p // 2) * B + i)
    elif V == 1:
        q = tl.where(p % 3 == 0, a + (p // 2) * B + i, b + (p // 2) * B + i)
    elif V == 2:
        q = tl.where(i % 2 == 0, a + p * B + i, b + p * B + i)
    elif V == 3:
        q = tl.where(i % 2 == 0, a + p * (B // 2) + i // 2, b + p * (B // 2) + i // 2)
    elif V == 4:
        q = tl.where(i % 2 == 0, a + p * (B // 2) + i // 2, a + n + p * (B // 2) + i // 2)
    elif V == 5:
        q = tl.where(i % 2 == 0, a + p * (B // 2) + i // 2, a + n // 2 + p * (B // 2) + i // 2)
    tl.store(q, 1.0)


both("pointer_choice", pointer_choice, (4,), lambda V: dict(a=T("f32", 256), b=T("f32", 256), n=128, V=V, B=64), safe=(0, 1, 2, 3, 4), races=(5,))


@triton.jit
def pointer_branch(a, b, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, B)
    if p % 2 == 0:
        q = a
    else:
        q = b
    if V == 1:
        tl.store(q + (p // 3) * B + i, 1.0)
    elif V == 0:
        tl.store(q + (p // 2) * B + i, 1.0)
    else:
        for k in range(2):
            q += B * (p // 2 * 2)
            tl.store(q + i, 1.0)
            q = b if k == 0 else a
            q += B * 64


both("pointer_branch", pointer_branch, (6,), lambda V: dict(a=T("f32", 8192), b=T("f32", 8192), V=V, B=32))


@triton.jit
def byte_lanes(out, V: tl.constexpr, B: tl.constexpr):
    """Each program writes one byte of every word."""
    p = tl.program_id(0)
    i = tl.arange(0, B)
    if V == 0:
        q = out.to(tl.pointer_type(tl.int8)) + i * 4 + p
        tl.store(q, 1)
    elif V == 1:
        q = out.to(tl.pointer_type(tl.int16)) + i * 4 + p
        tl.store(q, 1)
    elif V == 2:
        q = (out + i).to(tl.pointer_type(tl.int8)) + p
        tl.store(q, 1)
    elif V == 3:
        q = (out + i).to(tl.pointer_type(tl.int16)) + p
        tl.store(q, 1)
    elif V == 4:
        q = (out.to(tl.int64) + i * 4 + p).to(tl.pointer_type(tl.int8))
        tl.store(q, 1)
    elif V == 5:
        q = (out.to(tl.int64) + i * 4 + p * 2).to(tl.pointer_type(tl.int32))
        tl.store(q, 1)
    elif V == 6:
        q = out.to(tl.pointer_type(tl.int16)) + i * 2 + p // 2
        if p % 2 == 0:
            tl.store(q, 1)


both("byte_lanes", byte_lanes, (4,), lambda V: dict(out=T("i32", 128), V=V, B=64), safe=(0, 1, 2, 4, 6), races=(3, 5))


@triton.jit
def nibbles(x, out, n, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    if V == 0:
        i = p * B + tl.arange(0, B)
        lo = tl.load(x + 2 * i, mask=2 * i < n, other=0)
        hi = tl.load(x + 2 * i + 1, mask=2 * i + 1 < n, other=0)
        tl.store(out + i, (lo & 15) | (hi << 4), mask=2 * i < n)
    elif V == 1:
        i = p * B + tl.arange(0, B)
        v = tl.load(x + i, mask=i < n, other=0)
        old = tl.load(out + i // 2, mask=i < n, other=0)
        tl.store(out + i // 2, old | (v << ((i % 2) * 4)), mask=i < n)
    elif V == 2:
        i = p * B + tl.arange(0, B)
        v = tl.load(x + i, mask=i < n, other=0)
        lo, hi = tl.split(tl.reshape(v, (B // 2, 2)))
        j = p * (B // 2) + tl.arange(0, B // 2)
        tl.store(out + j, (lo & 15) | (hi << 4), mask=2 * j < n)
    elif V == 3:
        i = p * (B - 1) + tl.arange(0, B)
        v = tl.load(x + i, mask=i < n, other=0)
        lo, hi = tl.split(tl.reshape(v, (B // 2, 2)))
        j = p * (B - 1) // 2 + tl.arange(0, B // 2)
        tl.store(out + j, (lo & 15) | (hi << 4), mask=2 * j < n)


both("nibbles", nibbles, (4,), lambda V: dict(x=T("u8", 200), out=T("u8", 100), n=200, V=V, B=64), safe=(0, 2), races=(1, 3))


@triton.jit
def bit_words(x, out, n, V: tl.constexpr, B: tl.constexpr):
    """Bits of a mask packed into words."""
    p = tl.program_id(0)
    i = p * B + tl.arange(0, B)
    v = (tl.load(x + i, mask=i < n, other=0) != 0).to(tl.int32)
    if V == 0:
        tl.atomic_or(out + i // 32, v << (i % 32), mask=i < n)
    elif V == 1:
        w = tl.load(out + i // 32, mask=i < n, other=0)
        tl.store(out + i // 32, w | (v << (i % 32)), mask=i < n)
    elif V == 2:
        w = tl.sum(tl.reshape(v << (i % 32), (B // 32, 32)), 1)
        tl.store(out + p * (B // 32) + tl.arange(0, B // 32), w)
    elif V == 3:
        tl.atomic_xor(out + i // 32, v << (i % 32), mask=i < n)
        w = tl.load(out + p * (B // 32) + tl.arange(0, B // 32))
        tl.store(x + i, 0, mask=(i < n) & (tl.sum(w, 0) > 0))


both("bit_words", bit_words, (3,), lambda V: dict(x=T("i8", 192), out=T("i32", 6), n=190, V=V, B=64), safe=(0, 2), races=(1, 3))


@triton.jit
def broadcast_store(out, n, s, V: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    p = tl.program_id(0)
    r = tl.arange(0, R)[:, None]
    c = tl.arange(0, C)[None, :]
    o = p * n + r * s + c
    if V == 0:
        tl.store(out + o, 1.0, mask=(r == 0) & (c < n))
    elif V == 1:
        tl.store(out + o, 1.0, mask=c < n)
    elif V == 2:
        tl.store(out + o, 1.0, mask=(r == R - 1) & (c < n))
    elif V == 3:
        tl.store(out + o, 1.0, mask=(r == c % R) & (c < n))
    elif V == 4:
        tl.store(out + o, 1.0, mask=((r == 0) | (r == c)) & (c < n))


both("broadcast_store", broadcast_store, (3,), lambda V: dict(out=T("f32", 3, 16), n=16, s=0, V=V, R=4, C=16), safe=(0, 2, 3), races=(1, 4))


@triton.jit
def backwards(x, y, n, s, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    if V == 0:
        tl.store(y + (n - 1) + i * s, tl.load(x + i, mask=m), mask=m)
    elif V == 1:
        tl.store(x + (n - 1) + i * s, tl.load(x + i, mask=m), mask=m)
    elif V == 2:
        tl.store(y + (n - 1) + i * s, tl.load(y + (n - 1) + i * s, mask=m) + 1, mask=m)
    elif V == 3:
        tl.store(y + (n - 1) + i * s // 2, tl.load(x + i, mask=m), mask=m)


both("backwards", backwards, (4,), lambda V: dict(x=T("f32", 120), y=T("f32", 120), n=120, s=-1, V=V, B=32), safe=(0, 2), races=(1, 3))


@triton.jit
def imax2(a, b):
    return tl.maximum(a, b)


@triton.jit
def first(a, ia, b, ib):
    t = (a >= b)
    return tl.where(t, a, b), tl.where(t, ia, ib)


@triton.jit
def mixed(a, ia, b, ib):
    """Not a choice: the index is added to."""
    t = (a >= b)
    return tl.where(t, a, b), tl.where(t, ia, ib + 1)


@triton.jit
def crossed(a, ia, b, ib):
    """Hands on the value where the index belongs."""
    t = (a >= b)
    return tl.where(t, a, b), tl.where(t, ia, b)


@triton.jit
def best(x, y, out, n, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + p * B + i, mask=i < n)
    if V == 0:
        m, j = tl.reduce((v, i), 0, first)
        tl.store(out + p * B + j, m)
    elif V == 1:
        m, j = tl.reduce((v, i), 0, mixed)
        tl.store(out + p * B + j, m)
    elif V == 2:
        m, j = tl.reduce((v, i), 0, crossed)
        tl.store(out + p * B + j, m)
    elif V == 3:
        m, j = tl.reduce((v, i + 1), 0, first)
        tl.store(out + p * B + j, m)
    elif V == 4:
        m, j = tl.reduce((v, i + 1), 0, first)
        tl.store(out + p * B + j - 1, m)
        tl.store(out + p * B + tl.argmax(v, 0), m)
    elif V == 5:
        m, j = tl.reduce((v, i * 2), 0, first)
        tl.store(out + p * B + j // 2, m)
    elif V == 6:
        m, j = tl.reduce((v, i * 2), 0, first)
        tl.store(out + p * B + j, m)
    elif V == 7:
        m, j = tl.reduce((v, (p * B + i) % B), 0, first)
        tl.store(out + p * B + j, m)
    elif V == 8:
        m, j = tl.reduce((v, (p * B + i) * 33554432 // 33554432 % B), 0, first)
        tl.store(out + p * B + j, m)
    elif V == 9:
        j = tl.max(tl.where(v > 0, i, -1), 0)
        tl.store(out + p * B + j, 1, mask=j >= 0)
    elif V == 10:
        j = tl.max(tl.where(v > 0, i, -1), 0)
        tl.store(out + p * B + j, 1)
    elif V == 11:
        j = tl.min(tl.where(v > 0, i, B), 0)
        tl.store(out + p * B + j, 1, mask=j < B)
    elif V == 12:
        j = tl.min(tl.where(v > 0, i, B), 0)
        tl.store(out + p * B + j, 1)
    elif V == 13:
        m = tl.max(v & 63, 0)
        tl.store(out + p * B + m, 1)
    elif V == 14:
        m = tl.max(v & 127, 0)
        tl.store(out + p * B + m, 1)
    elif V == 15:
        m = tl.max(v, 0)
        tl.store(out + p * B + m, 1)
    elif V == 16:
        m = tl.reduce(v % B, 0, imax2)
        tl.store(out + p * B + m, 1)
    elif V == 17:
        m = tl.sum(v & 63, 0)
        tl.store(out + p * B + m, 1)
    elif V == 18:
        m, j = tl.max(v, 0, return_indices=True)
        old = tl.load(out + p * B + j)
        tl.store(out + p * B + j, old + m)
    elif V == 19:
        m, j = tl.max(v, 0, return_indices=True)
        tl.store(out + p * B + j, m)
        tl.store(out + p * B + i, v)


both("best", best, (4,), lambda V: dict(x=T("i32", 256), y=T("i32", 256), out=T("i32", 512), n=64, V=V, B=64), safe=(0, 3, 5, 9, 11, 13, 18), races=(1, 2, 6, 10, 12, 14, 15, 16, 17, 19), bad=NEVER)
case("best_4", best, NEVER, (4,), dict(x=T("i32", 256), y=T("i32", 256), out=T("i32", 512), n=64, V=4, B=64))
case("best_7", best, PERHAPS, (4,), dict(x=T("i32", 256), y=T("i32", 256), out=T("i32", 512), n=64, V=7, B=64))
case("best_8", best, NEVER, (4,), dict(x=T("i32", 256), y=T("i32", 256), out=T("i32", 512), n=64, V=8, B=64))


@triton.jit
def two_rows(x, out, n, V: tl.constexpr, B: tl.constexpr):
    """Two rows next to each other, the first one picked. Lanes that are off and have no value may be different ones in different threads, and so may the row."""
    p = tl.program_id(0)
    i = tl.arange(0, B)
    if V == 0:
        v = tl.load(x + p * B + i, mask=i < n, other=-1)
    else:
        v = tl.load(x + p * B + i, mask=i < n)
    j = tl.argmax(v, 0)
    q = out + p * B * (B + 1) + i
    tl.store(q + j * B, 1)
    if V == 2:
        tl.store(q + (j + 1) % 2 * B, 2)
    else:
        tl.store(out + p * B * (B + 1) + (j + 1) * B + (B - 1 - i), 2)


both("two_rows", two_rows, (3,), lambda V: dict(x=T("i32", 96), out=T("i32", 4000), n=20, V=V, B=32), safe=(0,), races=(1, 2), bad=NEVER, ok=PERHAPS)


@triton.jit
def best_of_rows(x, out, V: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    p = tl.program_id(0)
    r = tl.arange(0, R)
    c = tl.arange(0, C)
    v = tl.load(x + (p * R + r[:, None]) * C + c[None, :])
    if V == 0:
        j = tl.argmax(v, 1)
        tl.store(out + (p * R + r) * C + j, 1.0)
    elif V == 1:
        j = tl.argmax(v, 1)
        tl.store(out + (p * R + r) * (C // 2) + j, 1.0)
    elif V == 2:
        j = tl.argmax(v, 1)
        tl.store(out + (p * R + r // 2) * C + j, 1.0)
    elif V == 3:
        j = tl.argmin(v, 0)
        tl.store(out + (p * R + j) * C + c, 1.0)
    elif V == 4:
        j = tl.argmin(v, 0)
        tl.store(out + (p * R + j) * C + c // 2, 1.0)
    elif V == 5:
        j = tl.argmax(v, 1)
        tl.atomic_add(out + j, 1.0)
        tl.store(out + C + p, 1.0)
    elif V == 6:
        j = tl.argmax(v, 1)
        tl.atomic_add(out + j, 1.0)
        tl.store(out + C - 1 + p, 1.0)
    elif V == 7:
        j = tl.argmax(v, 1)
        w = tl.load(x + (p * R + r) * C + j)
        tl.store(x + (p * R + r) * C + j, w * 2)
    elif V == 8:
        for k in range(3):
            j = tl.argmax(v, 1)
            tl.store(out + (p * R + r) * C + j, k * 1.0)
            v = tl.where(c[None, :] == j[:, None], -1e9, v)
    elif V == 9:
        for k in range(3):
            j = tl.argmax(v, 1)
            tl.store(out + (p * R + r) * 3 + k, j.to(tl.float32))
            v = tl.where(c[None, :] == j[:, None], -1e9, v)
    elif V == 10:
        for k in range(3):
            j = tl.argmax(v, 1)
            tl.store(out + (p * R + r) * C + (j + k) % C, 1.0)
            tl.store(out + (p * R + 1 + r) * C + j, 1.0)


both("best_of_rows", best_of_rows, (3,), lambda V: dict(x=T("f32", 24, 16), out=T("f32", 500), V=V, R=8, C=16), safe=(0, 3, 5, 8, 9), races=(1, 2, 4, 6, 10), bad=NEVER)
case("best_of_rows_7", best_of_rows, PERHAPS, (3,), dict(x=T("f32", 24, 16), out=T("f32", 500), V=7, R=8, C=16))


@triton.jit
def masked_load(x, y, out, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + p)
    w = tl.load(y + p * B + i)
    if V == 0:
        tl.store(out + p * 64 + (v & 63), 1)
    elif V == 1:
        tl.store(out + p * 32 + (v & 63), 1)
    elif V == 2:
        tl.store(out + (p * B + i) * 8 + (w & 7), 1)
    elif V == 3:
        tl.store(out + (p * B + i) * 8 + (w & 15), 1)
    elif V == 4:
        tl.store(out + (p * B + i) * 8 + tl.minimum(tl.maximum(w, 0), 7), 1)
    elif V == 5:
        tl.store(out + (p * B + i) * 8 + tl.minimum(tl.maximum(w, 0), 8), 1)
    elif V == 6:
        tl.store(out + (p * B + i) * 8 + w, 1, mask=(w >= 0) & (w < 8))
    elif V == 7:
        tl.store(out + (p * B + i) * 8 + w, 1, mask=w < 8)
    elif V == 8:
        tl.store(out + (p * B + i) * 8 + w.to(tl.uint32) % 8, 1)
    elif V == 9:
        tl.store(out + (p * B + i) * 8 + w % 8, 1)


both("masked_load", masked_load, (4,), lambda V: dict(x=T("i32", 4), y=T("i32", 64), out=T("i32", 1024), V=V, B=16), safe=(0, 2, 4, 6, 8), races=(1, 3, 5, 7, 9), bad=NEVER)
