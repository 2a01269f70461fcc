"""Tensors that share storage (shifted, strided, of other types, passed twice), tables of pointers, elements of one byte; block pointers; early returns, loops that
nobody counts, shares of unequal size, curves over tiles; atomics of all kinds beside accesses that are none."""
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
def early_out(x, out, n, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    if p * B >= n:
        return
    if V == 1:
        p = p // 2
    if V == 2 and p > 2:
        return
    i = p * B + tl.arange(0, B)
    if V == 3:
        if p % 2 == 1:
            tl.store(out + i - B, 1.0, mask=i < n)
            return
    if V == 4:
        if p % 2 == 1:
            return
        tl.store(out + i + B, 1.0, mask=i + B < n)
    tl.store(out + i, 1.0, mask=i < n)


both("early_out", early_out, (6,), lambda V: dict(x=T("f32", 100), out=T("f32", 100), n=100, V=V, B=32), safe=(0, 2, 4), races=(1, 3))


@triton.jit
def bisect_row(offs, out, n, rows, V: tl.constexpr, B: tl.constexpr):
    """Which row of a ragged layout holds this program's first element, by bisection in a table."""
    p = tl.program_id(0)
    lo = 0
    hi = rows
    at = p * B
    while hi - lo > 1:
        mid = (lo + hi) // 2
        if tl.load(offs + mid) <= at:
            lo = mid
        else:
            hi = mid
    start = tl.load(offs + lo)
    i = tl.arange(0, B)
    if V == 0:
        tl.store(out + at + i, lo, mask=at + i < n)
    elif V == 1:
        tl.store(out + start + i, lo, mask=start + i < n)
    elif V == 2:
        tl.store(out + start + (at - start) + i, lo, mask=at + i < n)
    elif V == 3:
        tl.store(out + lo * 64 + at - start + i, lo)
    elif V == 4:
        tl.store(out + lo * 8 + at - start + i, lo)


both("bisect_row", bisect_row, (8,), lambda V: dict(offs=T("i32", 5, values=[0, 16, 64, 80, 128]), out=T("i32", 512), n=128, rows=4, V=V, B=16), safe=(0, 2, 3), races=(1, 4))


@triton.jit
def collatz(out, n, V: tl.constexpr):
    """A loop that nobody can count."""
    p = tl.program_id(0)
    x = p + 1
    steps = 0
    while x != 1:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
    if V == 0:
        tl.store(out + p, steps)
    elif V == 1:
        tl.store(out + steps, p)
    elif V == 2:
        tl.store(out + p * 128 + steps, p)
    elif V == 3:
        tl.store(out + p * 8 + steps, p)


both("collatz", collatz, (12,), lambda V: dict(out=T("i32", 2048), n=1, V=V), safe=(0, 1, 2, 3), races=())
both("collatz_more", collatz, (13,), lambda V: dict(out=T("i32", 2048), n=1, V=V), safe=(0, 2), races=(1,))


@triton.jit
def gcd_rows(out, a, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    x = p + 1
    y = a
    while y != 0:
        t = x % y
        x = y
        y = t
    i = tl.arange(0, B)
    if V == 0:
        tl.store(out + (p * x % a) * B + i, 1.0, mask=x == 1)
    elif V == 1:
        tl.store(out + x * B + i, 1.0)
    else:
        tl.store(out + p * B + i, 1.0, mask=i < x)


both("gcd_rows", gcd_rows, (7,), lambda V: dict(out=T("f32", 1024), a=8, V=V, B=16), safe=(0, 2), races=(1,))


@triton.jit
def nested(out, n, m, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, B)
    a = p
    while a < n:
        b = 0
        while b < m:
            if V == 0:
                tl.store(out + (a * m + b) * B + i, 1.0)
            elif V == 1:
                tl.store(out + (a * (m - 1) + b) * B + i, 1.0)
            elif V == 2:
                tl.store(out + (b * n + a) * B + i, 1.0)
            elif V == 3:
                tl.store(out + (b * (n - 2) + a) * B + i, 1.0)
            b += 1
        a += tl.num_programs(0)


both("nested", nested, (3,), lambda V: dict(out=T("f32", 4096), n=7, m=3, V=V, B=16), safe=(0, 2), races=(1, 3), nospec=("n", "m"))


@triton.jit
def strip(out, n, V: tl.constexpr, B: tl.constexpr):
    """Halving strides in a static loop: a tree in global memory."""
    p = tl.program_id(0)
    i = tl.arange(0, B)
    for k in tl.static_range(5):
        s = 16 >> k
        v = tl.load(out + p * B + i + s, mask=i < s, other=0.0)
        w = tl.load(out + p * B + i, mask=i < s, other=0.0)
        if V == 1:
            pass
        else:
            tl.debug_barrier()
        tl.store(out + p * B + i, v + w, mask=i < s)
        if V != 2:
            tl.debug_barrier()


both("strip", strip, (2,), lambda V: dict(out=T("f32", 64), n=64, V=V, B=32), safe=(0, 1), races=(2,))


@triton.jit
def strip_range(out, n, V: tl.constexpr, B: tl.constexpr):
    """The same with a loop of the machine."""
    p = tl.program_id(0)
    i = tl.arange(0, B)
    s = B // 2
    while s > 0:
        v = tl.load(out + p * B + i + s, mask=i < s, other=0.0)
        w = tl.load(out + p * B + i, mask=i < s, other=0.0)
        tl.store(out + p * B + i, v + w, mask=i < s)
        if V == 0:
            tl.debug_barrier()
        if V == 2:
            if s > 2:
                tl.debug_barrier()
        s = s // 2


both("strip_range", strip_range, (2,), lambda V: dict(out=T("f32", 64), n=64, V=V, B=32), safe=(0,), races=(1, 2))


@triton.jit
def hillis(x, y, V: tl.constexpr, B: tl.constexpr):
    """A scan with two buffers that change places."""
    p = tl.program_id(0)
    i = tl.arange(0, B)
    src = x + p * B
    dst = y + p * B
    for k in range(5):
        s = 1 << k
        v = tl.load(src + i)
        w = tl.load(src + i - s, mask=i >= s, other=0)
        tl.store(dst + i, v + w)
        if V != 1:
            tl.debug_barrier()
        t = src
        src = dst
        dst = t if V != 2 else dst


both("hillis", hillis, (3,), lambda V: dict(x=T("i32", 96), y=T("i32", 96), V=V, B=32), safe=(0,), races=(1, 2), ok=PERHAPS, bad=NEVER)


@triton.jit
def mixed_atomics(c, x, out, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + p * B + i)
    if V == 0:
        tl.atomic_max(c + i % 8, v)
        tl.atomic_min(c + i % 8, v, sem="relaxed")
    elif V == 1:
        tl.atomic_max(c + i % 8, v, scope="cta")
    elif V == 2:
        tl.atomic_max(c + i % 8, v, scope="sys")
        tl.atomic_add(c + i % 4, v, scope="gpu")
    elif V == 3:
        tl.atomic_max(c + i % 8, v)
        tl.store(c + 7, 0, mask=p == 0)
    elif V == 4:
        tl.atomic_max(c + i % 8, v)
        tl.store(c + 8, 0, mask=p == 0)
    elif V == 5:
        tl.atomic_max(c + p * 8 + i % 8, v, scope="cta")
    elif V == 6:
        tl.atomic_add(c.to(tl.pointer_type(tl.int64)) + i % 4, v.to(tl.int64))
    elif V == 7:
        tl.atomic_add(c.to(tl.pointer_type(tl.int64)) + i % 4, v.to(tl.int64))
        tl.atomic_add(c + 3, 1)
    elif V == 8:
        tl.atomic_and(c + i, v, mask=i < 4)
        tl.atomic_xchg(c + i, v, mask=(i >= 4) & (i < 8))
    elif V == 9:
        old = tl.atomic_cas(c + p, 0, 1)
        tl.store(out + p, old)
    elif V == 10:
        old = tl.atomic_cas(c + p // 2, 0, 1)
        tl.store(out + p // 2, old)
    elif V == 11:
        old = tl.atomic_xchg(c, p)
        tl.store(out + p, old)
    elif V == 12:
        tl.atomic_add(c + i % 8, v, mask=v > 0)
        w = tl.load(c + i % 8, mask=p < 0)
        tl.store(out + p * B + i, w)
    elif V == 13:
        tl.atomic_add(c + i % 8, v, mask=v > 0)
        w = tl.load(c + i % 8, mask=p == 1)
        tl.store(out + p * B + i, w)
    elif V == 14:
        w = tl.atomic_add(c + i % 8, 0)
        tl.atomic_add(c + i % 8, v)
        tl.store(out + p * B + i, w)


both("mixed_atomics", mixed_atomics, (4,), lambda V: dict(c=T("i32", 128), x=T("i32", 256), out=T("i32", 256), V=V, B=32), safe=(0, 2, 4, 5, 6, 8, 9, 11, 12, 14), races=(1, 3, 7, 10))
case("mixed_atomics_wrong13", mixed_atomics, NEVER, (4,), dict(c=T("i32", 128), x=T("i32", 256), out=T("i32", 256), V=13, B=32))


@triton.jit
def float_atomics(c, h, x, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + p * B + i)
    if V == 0:
        tl.atomic_add(h + i % 8, v.to(tl.float16))
    elif V == 1:
        tl.atomic_add(h + i % 8, v.to(tl.float16))
        tl.atomic_add(c + i % 4, v)
    elif V == 2:
        tl.atomic_add(c.to(tl.pointer_type(tl.float16)) + i % 8, v.to(tl.float16))
        tl.atomic_add(c + 8 + i % 4, v)
    elif V == 3:
        tl.atomic_add(c.to(tl.pointer_type(tl.float16)) + i % 8, v.to(tl.float16))
        tl.atomic_add(c + i % 4, v)
    elif V == 4:
        tl.atomic_max(c + i % 8, v)
    elif V == 5:
        tl.atomic_max(c + i % 8, v)
        tl.store(c + i % 8, 0.0, mask=v > 1e30)
    elif V == 6:
        tl.atomic_add(c + i % 8, tl.load(c + 64 + i % 8))
    elif V == 7:
        tl.atomic_add(c + i % 8, tl.load(c + 4 + i % 8))


both("float_atomics", float_atomics, (4,), lambda V: dict(c=T("f32", 128), h=T("f16", 64), x=T("f32", 256), V=V, B=32), safe=(0, 1, 2, 4, 6), races=(3, 7))
both("float_atomics", float_atomics, (4,), lambda V: dict(c=T("f32", 128), h=T("f16", 64), x=T("f32", 256), V=V, B=32), safe=(), races=(5,), bad=NEVER)


@triton.jit
def same_twice(x, y, n, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    a = tl.load(x + i, mask=m)
    tl.store(y + i, a + 1, mask=m)
    if V == 1:
        tl.store(x + i, a, mask=m)


def _views(at, wide=256, V=0):
    return dict(x=T("f32", wide), y=T("f32", 100, of="x", at=at), n=100, V=V, B=32)


case("alias_same", same_twice, "ok", (4,), _views(0))
case("alias_far", same_twice, "ok", (4,), _views(400))
case("alias_near", same_twice, "races", (4,), _views(396))
case("alias_one", same_twice, "races", (4,), _views(4))
case("alias_byte", same_twice, "races", (4,), _views(2))
case("alias_same_twice", same_twice, "ok|races", (4,), _views(0, V=1))
case("alias_tile", same_twice, "races", (4,), _views(128))


@triton.jit
def half_views(x, y, n, V: tl.constexpr, B: tl.constexpr):
    """Two views of other element types on one storage."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    a = tl.load(x + i, mask=m)
    if V == 0:
        tl.store(y + 2 * i, a.to(tl.float16), mask=m)
    elif V == 1:
        tl.store(y + i, a.to(tl.float16), mask=m)
    elif V == 2:
        tl.store(y + 2 * i + 1, a.to(tl.float16), mask=m)
    elif V == 3:
        tl.store(y + 2 * i + 2, a.to(tl.float16), mask=m)


both("half_views", half_views, (3,), lambda V: dict(x=T("f32", 128), y=T("f16", 256, of="x", at=0), n=90, V=V, B=32), safe=(0, 2), races=(1, 3))


@triton.jit
def strided_views(x, y, n, sx, sy, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(y + i * sy, tl.load(x + i * sx, mask=m), mask=m)


case("even_odd", strided_views, "ok", (3,), dict(x=T("f32", 256), y=T("f32", 100, strides=[2], of="x", at=4), n=90, sx=2, sy=2, V=0, B=32))
case("even_even", strided_views, "races", (3,), dict(x=T("f32", 256), y=T("f32", 100, strides=[2], of="x", at=8), n=90, sx=2, sy=2, V=0, B=32))
case("thirds", strided_views, "ok", (3,), dict(x=T("f32", 300), y=T("f32", 90, strides=[3], of="x", at=8), n=90, sx=3, sy=3, V=0, B=32))
case("three_two", strided_views, "races", (3,), dict(x=T("f32", 300), y=T("f32", 90, strides=[2], of="x", at=4), n=90, sx=3, sy=2, V=0, B=32))
case("mirror", strided_views, "races", (3,), dict(x=T("f32", 90), y=T("f32", 90, strides=[-1], of="x", at=356), n=90, sx=1, sy=-1, V=0, B=32))
case("mirror_far", strided_views, "ok", (3,), dict(x=T("f32", 190), y=T("f32", 1, strides=[1], of="x", at=189 * 4), n=90, sx=1, sy=-1, V=0, B=32))
case("all_to_one", strided_views, "races", (3,), dict(x=T("f32", 90), y=T("f32", 1), n=90, sx=1, sy=0, V=0, B=32))
case("one_to_all", strided_views, "ok", (3,), dict(x=T("f32", 1), y=T("f32", 90), n=90, sx=0, sy=1, V=0, B=32))


@triton.jit
def pointer_table(tab, n, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, B)
    if V == 0:
        q = tl.load(tab + p).to(tl.pointer_type(tl.float32))
        tl.store(q + i, 1.0)
    elif V == 1:
        q = tl.load(tab + p // 2).to(tl.pointer_type(tl.float32))
        tl.store(q + i, 1.0)
    elif V == 2:
        q = tl.load(tab + p // 2).to(tl.pointer_type(tl.float32))
        tl.store(q + p % 2 * B + i, 1.0)
    elif V == 3:
        q = tl.load(tab + p).to(tl.pointer_type(tl.float32))
        tl.store(q + i, 1.0, mask=i < n)
        tl.store(q + B + i, 1.0, mask=i < n)
    elif V == 4:
        q = tl.load(tab + p).to(tl.pointer_type(tl.float64))
        tl.store(q + i, 1.0)


_BASES = [0x100000, 0x100100, 0x100200, 0x100300]
both("pointer_table", pointer_table, (4,), lambda V: dict(tab=T("i64", 4, values=_BASES), n=16, V=V, B=64), safe=(0,), races=(1, 2), ok="ok", bad=NEVER)
case("pointer_table_3", pointer_table, NEVER, (4,), dict(tab=T("i64", 4, values=_BASES), n=16, V=3, B=64))
case("pointer_table_3n", pointer_table, NEVER, (4,), dict(tab=T("i64", 4, values=_BASES), n=64, V=3, B=64))
case("pointer_table_4", pointer_table, NEVER, (4,), dict(tab=T("i64", 4, values=_BASES), n=64, V=4, B=64))


@triton.jit
def bools(x, out, n, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    if V == 0:
        tl.store(out + i, v > 0, mask=i < n)
    elif V == 1:
        tl.store(out + i // 8, v > 0, mask=i < n)
    elif V == 2:
        tl.store(out + i // 8, v > 0, mask=(i < n) & (i % 8 == 0))
    elif V == 3:
        b = tl.load(out + i, mask=i < n, other=0)
        tl.store(out + i, (v > 0) & b.to(tl.int1), mask=i < n)
    elif V == 4:
        b = tl.load(out + (i ^ 1), mask=i < n, other=0)
        tl.store(out + i, (v > 0) & b.to(tl.int1), mask=i < n)


both("bools", bools, (4,), lambda V: dict(x=T("f32", 128), out=T("i1", 128), n=120, V=V, B=32), safe=(0, 2, 3), races=(1, 4))


@triton.jit
def f8_rows(x, out, n, s, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + p * s + i, mask=i < n)
    if V == 0:
        tl.store(out + p * s + i, v, mask=i < n)
    elif V == 1:
        tl.store(out + p * (s - 1) + i, v, mask=i < n)
    elif V == 2:
        q = out.to(tl.pointer_type(tl.int32)) + p * (s // 4) + i
        tl.store(q, 1, mask=i < n // 4)
    elif V == 3:
        q = out.to(tl.pointer_type(tl.int32)) + p * (s // 4) + i
        tl.store(q, 1, mask=i <= s // 4)


both("f8_rows", f8_rows, (5,), lambda V: dict(x=T("f8", 5, 64), out=T("f8", 6, 64), n=64, s=64, V=V, B=64), safe=(0, 2), races=(1, 3), target=90)


@triton.jit
def uneven(out, n, V: tl.constexpr, B: tl.constexpr):
    """Shares of n that differ by one."""
    p = tl.program_id(0)
    g = tl.num_programs(0)
    q = n // g
    r = n % g
    if V == 0:
        lo = p * q + tl.minimum(p, r)
        hi = lo + q + (p < r).to(tl.int32)
    elif V == 1:
        lo = p * q + tl.minimum(p, r)
        hi = lo + q + 1
    elif V == 2:
        lo = p * n // g
        hi = (p + 1) * n // g
    elif V == 3:
        lo = p * tl.cdiv(n, g)
        hi = tl.minimum(lo + tl.cdiv(n, g), n)
    elif V == 4:
        lo = p * q
        hi = lo + tl.cdiv(n, g)
    elif V == 5:
        lo = p * n // g
        hi = ((p + 1) * n + g - 1) // g
    for k in range(lo, hi, B):
        i = k + tl.arange(0, B)
        tl.store(out + i, p, mask=i < hi)


both("uneven", uneven, (7,), lambda V: dict(out=T("i32", 128), n=100, V=V, B=8), safe=(0, 2, 3), races=(1, 4, 5))


@triton.jit
def serpentine(out, n, m, V: tl.constexpr, B: tl.constexpr):
    """Tiles visited back and forth."""
    for t in range(tl.program_id(0), n * m, tl.num_programs(0)):
        r = t // m
        c = t % m
        if V == 0:
            c = tl.where(r % 2 == 0, c, m - 1 - c)
        elif V == 1:
            c = tl.where(r % 2 == 0, c, m - c)
        elif V == 2:
            c = tl.where(c % 2 == 0, c, m - 1 - c)
        elif V == 3:
            if r % 2 == 1:
                c = m - 1 - c
        tl.store(out + (r * m + c) * B + tl.arange(0, B), 1.0)


both("serpentine", serpentine, (3,), lambda V: dict(out=T("f32", 2048), n=4, m=5, V=V, B=16), safe=(0, 3), races=(1,))
case("serpentine_even", serpentine, "ok", (3,), dict(out=T("f32", 2048), n=4, m=5, V=2, B=16))
case("serpentine_six", serpentine, "races", (3,), dict(out=T("f32", 2048), n=4, m=6, V=2, B=16))


@triton.jit
def hilbert(out, V: tl.constexpr, B: tl.constexpr, L: tl.constexpr, SIDE: tl.constexpr):
    """A Hilbert curve from the flat id."""
    p = tl.program_id(0)
    x = 0
    y = 0
    t = p
    for k in tl.static_range(L):
        s = 1 << k
        rx = 1 & (t // 2)
        ry = 1 & (t ^ rx)
        if ry == 0:
            if rx == 1:
                x = s - 1 - x
                y = s - 1 - y
            w = x
            x = y
            y = w
        x += s * rx
        y += s * ry
        t = t // 4 if V != 1 else t // 2
    tl.store(out + (y * SIDE + x) * B + tl.arange(0, B), p)


both("hilbert", hilbert, (64,), lambda V: dict(out=T("i32", 64 * 16), V=V, B=16, L=3, SIDE=8))


@triton.jit
def table_hash(keys, slots, n, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    k = tl.load(keys + i, mask=i < n, other=0)
    if V == 0:
        h = (k * 5 + 1) & 63
    elif V == 1:
        h = (k ^ (k >> 3)) & 31
    elif V == 2:
        h = k % 61
    elif V == 3:
        h = k % 32
    tl.store(slots + h, k, mask=i < n)


both("table_hash", table_hash, (4,), lambda V: dict(keys=T("i32", 60, values=[(i * 37) % 61 for i in range(60)]), slots=T("i32", 64), n=60, V=V, B=16), safe=(0, 2), races=(1, 3))


@triton.jit
def bp_copy(x, y, M, N, s, t, V: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    a = tl.make_block_ptr(x, (M, N), (s, 1), (pm * R, pn * C), (R, C), (1, 0))
    if V == 0:
        b = tl.make_block_ptr(y, (M, N), (t, 1), (pm * R, pn * C), (R, C), (1, 0))
        tl.store(b, tl.load(a, boundary_check=(0, 1)), boundary_check=(0, 1))
    elif V == 1:      # column-major output
        b = tl.make_block_ptr(y, (M, N), (1, t), (pm * R, pn * C), (R, C), (0, 1))
        tl.store(b, tl.load(a, boundary_check=(0, 1)), boundary_check=(0, 1))
    elif V == 2:      # rows too near
        b = tl.make_block_ptr(y, (M, N), (t - 8, 1), (pm * R, pn * C), (R, C), (1, 0))
        tl.store(b, tl.load(a, boundary_check=(0, 1)), boundary_check=(0, 1))
    elif V == 3:      # only rows are checked: the last columns reach the next row
        b = tl.make_block_ptr(y, (M, N), (N, 1), (pm * R, pn * C), (R, C), (1, 0))
        tl.store(b, tl.load(a, boundary_check=(0, 1)), boundary_check=(0,))
    elif V == 4:      # rows are not checked, and stride leaves room for the columns
        b = tl.make_block_ptr(y, (M, N), (64, 1), (pm * R, pn * C), (R, C), (1, 0))
        tl.store(b, tl.load(a, boundary_check=(0, 1)))
    elif V == 5:      # the shape is larger than a row
        b = tl.make_block_ptr(y, (M, N + 8), (N, 1), (pm * R, pn * C), (R, C), (1, 0))
        tl.store(b, tl.load(a, boundary_check=(0, 1)), boundary_check=(0, 1))
    elif V == 6:
        b = tl.make_block_ptr(y, (M, N), (t, 1), (0, 0), (R, C), (1, 0))
        b = tl.advance(b, (pm * R, 0))
        b = tl.advance(b, (0, pn * C))
        b = tl.advance(b, (R, -C))
        b = tl.advance(b, (-R, C))
        tl.store(b, tl.load(a, boundary_check=(0, 1)), boundary_check=(0, 1))
    elif V == 7:
        b = tl.make_block_ptr(y, (M, N), (t, 1), (0, 0), (R, C), (1, 0))
        b = tl.advance(b, (pm * (R - 1), 0))
        b = tl.advance(b, (0, pn * C))
        tl.store(b, tl.load(a, boundary_check=(0, 1)), boundary_check=(0, 1))
    elif V == 8:      # negative offsets are cut off
        b = tl.make_block_ptr(y, (M, N), (t, 1), (pm * R - 3, pn * C - 5), (R, C), (1, 0))
        tl.store(b, tl.load(a, boundary_check=(0, 1)), boundary_check=(0, 1))
    elif V == 9:      # the transposed view of one storage, in place
        b = tl.make_block_ptr(x, (N, M), (1, s), (pn * C, pm * R), (C, R), (0, 1))
        v = tl.load(a, boundary_check=(0, 1))
        tl.store(b, tl.trans(v), boundary_check=(0, 1))
    elif V == 10:     # transposes in place: the tile of another program
        b = tl.make_block_ptr(x, (N, M), (s, 1), (pn * C, pm * R), (C, R), (1, 0))
        v = tl.load(a, boundary_check=(0, 1))
        tl.store(b, tl.trans(v), boundary_check=(0, 1))
    elif V == 11:     # backwards
        b = tl.make_block_ptr(y + (M - 1) * t, (M, N), (-t, 1), (pm * R, pn * C), (R, C), (1, 0))
        tl.store(b, tl.load(a, boundary_check=(0, 1)), boundary_check=(0, 1))
    elif V == 12:     # a row of stride 0 with one row
        b = tl.make_block_ptr(y, (1, N), (0, 1), (0, pn * C), (R, C), (1, 0))
        tl.store(b, tl.load(a, boundary_check=(0, 1)), boundary_check=(0, 1))
    elif V == 13:     # stride 0 over rows
        b = tl.make_block_ptr(y, (M, N), (0, 1), (pm * R, pn * C), (R, C), (1, 0))
        tl.store(b, tl.load(a, boundary_check=(0, 1)), boundary_check=(0, 1))


both("bp_copy", bp_copy, (3, 3), lambda V: dict(x=T("f32", 40, 40), y=T("f32", 70, 64), M=40, N=40, s=40, t=48, V=V, R=16, C=16), safe=(0, 1, 2, 4, 6, 8, 11), races=(3, 5, 7, 9, 10, 12, 13),
     nospec=("s", "t"), bad=NEVER)


@triton.jit
def bp_loop(x, y, M, N, V: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    p = tl.program_id(0)
    a = tl.make_block_ptr(x, (M, N), (N, 1), (p * R, 0), (R, C), (1, 0))
    b = tl.make_block_ptr(y, (M, N), (N, 1), (p * R, 0), (R, C), (1, 0))
    for k in range(0, N, C):
        v = tl.load(a, boundary_check=(0, 1))
        tl.store(b, v, boundary_check=(0, 1))
        a = tl.advance(a, (0, C))
        if V == 0:
            b = tl.advance(b, (0, C))
        elif V == 1:
            b = tl.advance(b, (1, C))
        elif V == 2:
            b = tl.advance(b, (0, C // 2))
        elif V == 3:
            b = tl.advance(b, (tl.num_programs(0) * R, 0))
        elif V == 4:
            b = tl.advance(b, (R, 0))
        elif V == 5:
            b = tl.advance(b, (0, -C))


both("bp_loop", bp_loop, (3,), lambda V: dict(x=T("f32", 40, 56), y=T("f32", 200, 56), M=40 if V != 4 else 190, N=56, V=V, R=16, C=16), safe=(0, 1, 3, 5), races=(4,))
case("bp_loop_half", bp_loop, "ok|races", (3,), dict(x=T("f32", 40, 56), y=T("f32", 200, 56), M=40, N=56, V=2, R=16, C=16))


@triton.jit
def bp_batched(x, y, M, N, V: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    z = tl.program_id(1)
    p = tl.program_id(0)
    a = tl.make_block_ptr(x + z * M * N, (M, N), (N, 1), (p * R, 0), (R, C), (1, 0))
    v = tl.load(a, boundary_check=(0,), padding_option="zero")
    if V == 0:
        b = tl.make_block_ptr(y + z * M * N, (M, N), (N, 1), (p * R, 0), (R, C), (1, 0))
        tl.store(b, v, boundary_check=(0,))
    elif V == 1:
        b = tl.make_block_ptr(y + z * M * N, (M, N), (N, 1), (p * R, 0), (R, C), (1, 0))
        tl.store(b, v, boundary_check=(1,))
    elif V == 2:
        b = tl.make_block_ptr(y + z * C, (M, N), (2 * N, 1), (p * R, 0), (R, C), (1, 0))
        tl.store(b, v, boundary_check=(0,))
    elif V == 3:
        b = tl.make_block_ptr(y, (2, M, N), (M * N, N, 1), (z, p * R, 0), (1, R, C), (2, 1, 0))
        tl.store(b, v[None, :, :], boundary_check=(1,))
    elif V == 4:
        b = tl.make_block_ptr(y, (2, M, N), (M * N, N, 1), (0, p * R, 0), (1, R, C), (2, 1, 0))
        tl.store(b, v[None, :, :], boundary_check=(1,))
    elif V == 5:
        b = tl.make_block_ptr(y, (M * N * 2,), (1,), (z * M * N + p * R * C,), (R * C,), (0,))
        tl.store(b, tl.reshape(v, (R * C,)), boundary_check=(0,))


both("bp_batched", bp_batched, (3, 2), lambda V: dict(x=T("f32", 2, 40, 16), y=T("f32", 200, 32), M=40, N=16, V=V, R=16, C=16), safe=(0, 2, 3), races=(1, 4, 5))


@triton.jit
def bp_inplace(x, M, N, V: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    p = tl.program_id(0)
    a = tl.make_block_ptr(x, (M, N), (N, 1), (p * R, 0), (R, C), (1, 0))
    v = tl.load(a, boundary_check=(0, 1))
    if V == 0:
        tl.store(a, v + 1, boundary_check=(0, 1))
    elif V == 1:
        tl.store(a, v - tl.max(v, 1)[:, None], boundary_check=(0, 1))
    elif V == 2:
        tl.store(tl.advance(a, (0, 1)), v, boundary_check=(0, 1))
    elif V == 3:
        w = tl.load(tl.advance(a, (1, 0)), boundary_check=(0, 1))
        tl.debug_barrier()
        tl.store(a, v + w, boundary_check=(0, 1))


both("bp_inplace", bp_inplace, (3,), lambda V: dict(x=T("f32", 40, 16), M=40, N=16, V=V, R=16, C=16), safe=(0, 1), races=(2, 3))


@triton.jit
def bp_atomicless(x, y, n, V: tl.constexpr, C: tl.constexpr):
    """One dimension; an offset of 64 bits, a stride of 2."""
    p = tl.program_id(0)
    a = tl.make_block_ptr(y, (n,), (2,), (p * C,), (C,), (0,))
    b = tl.make_block_ptr(y + 1, (n,), (2,), (p * C,), (C,), (0,))
    c = tl.make_block_ptr(y + 1, (n,), (1,), (p * C,), (C,), (0,))
    if V == 0:
        tl.store(a, tl.load(b, boundary_check=(0,)), boundary_check=(0,))
    elif V == 1:
        tl.store(a, tl.load(c, boundary_check=(0,)), boundary_check=(0,))
    elif V == 2:
        tl.store(a, tl.zeros((C,), tl.float32), boundary_check=(0,))
        tl.store(b, tl.zeros((C,), tl.float32))


both("bp_atomicless", bp_atomicless, (4,), lambda V: dict(x=T("f32", 64), y=T("f32", 200), n=60, V=V, C=16), safe=(0, 2), races=(1,))
