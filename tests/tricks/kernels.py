"""Kernels that are hard to follow: compare-and-swap loops, last blocks, tickets, hashing, lists, radix passes, permutations by bits, changes of shape, functions,
work split in unusual loops, strides that are parameters. Each variant V of a kernel is one launch; the truth was written down before it was asked for."""
from cases import T, case, load_triton
triton, tl = load_triton()


def both(name, fn, grid, args, safe=(0,), races=(1,), nospec=(), ok="ok", bad="races"):
    """One launch for each variant of the kernel: V in `safe` is right, V in `races` is not."""
    for v in safe:
        case(f"{name}_{v}" if v else name, fn, ok, grid, args(V=v), nospec=nospec)
    for v in races:
        case(f"{name}_wrong{v}", fn, bad, grid, args(V=v), nospec=nospec)


@triton.jit
def cas_max(out, x, aux, n, V: tl.constexpr, B: tl.constexpr):
    """A maximum by a loop of compare-and-swaps: the loop neither counts nor waits, and nothing needs to know how often it turns."""
    p = tl.program_id(0)
    i = p * B + tl.arange(0, B)
    m = tl.max(tl.load(x + i, mask=i < n, other=0), 0)
    old = tl.load(out) if V == 1 else tl.atomic_add(out, 0)
    go = m > old
    turns = 0
    while go:
        if V == 3:
            seen = tl.atomic_cas(out, old, m, scope="cta")
        else:
            seen = tl.atomic_cas(out, old, m)
        if V == 4:
            tl.store(aux + p, seen)
        elif V == 5:
            tl.store(aux + seen, p)
        elif V == 6:
            tl.store(aux + turns, p)
        elif V == 7:
            v = tl.load(aux + p * B + (tl.arange(0, B) + 1) % B)
            tl.debug_barrier()
            tl.store(aux + i, v)
            tl.debug_barrier()
        elif V == 8:
            v = tl.load(aux + p * B + (tl.arange(0, B) + 1) % B)
            tl.debug_barrier()
            tl.store(aux + i, v)
        turns += 1
        go = (seen != old) & (m > seen)
        old = seen
    if V == 2:
        tl.store(out, m)
    elif V == 9:
        tl.store(aux + p, turns)
    elif V == 10:
        tl.store(aux + turns, p)
    elif V == 11:
        if turns == 0:
            tl.store(aux, p)


both("cas_max", cas_max, (4,), lambda V: dict(out=T("i32", 1, values=[0]), x=T("i32", 100), aux=T("i32", 128), n=100, V=V, B=32), safe=(0, 4, 9),
     races=(1, 2, 3, 5, 6, 8, 10, 11), bad="races|unsupported never=ok")
case("cas_max_turns", cas_max, "ok|unsupported", (4,), dict(out=T("i32", 1, values=[0]), x=T("i32", 100), aux=T("i32", 128), n=100, V=7, B=32))
case("cas_max_any", cas_max, "ok", (4,), dict(out=T("i32", 1), x=T("i32", 100), aux=T("i32", 128), n=100, V=0, B=32))


@triton.jit
def odd_lock(lock, data, V: tl.constexpr, B: tl.constexpr):
    """A lock in a form that is not known as one: what stands between is not apart, and only the lock keeps it so."""
    i = tl.arange(0, B)
    tries = 0
    got = 1
    while got != 0:
        got = tl.atomic_cas(lock, tries * 0, 1, sem="acquire")
        tries += got
    tl.debug_barrier()
    if V == 0:
        tl.store(data + i, tl.load(data + i) + tries)
    else:
        tl.store(data + tl.program_id(0) * B + i, tries)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0, sem="release")


case("odd_lock", odd_lock, "ok|unsupported", (3,), dict(lock=T("i32", 1, values=[0]), data=T("i32", 96), V=0, B=32))
case("odd_lock_apart", odd_lock, "ok|unsupported", (3,), dict(lock=T("i32", 1, values=[0]), data=T("i32", 96), V=1, B=32))


@triton.jit
def last_block_sum(x, part, out, count, n, V: tl.constexpr, B: tl.constexpr, NP: tl.constexpr):
    p = tl.program_id(0)
    i = p * B + tl.arange(0, B)
    s = tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0)
    tl.store(part + p, s)
    if V != 1:
        tl.debug_barrier()
    t = tl.atomic_add(count, 1, sem="acq_rel" if V != 2 else "relaxed")
    last = t == tl.num_programs(0) - 1
    if V == 3:
        last = t == tl.num_programs(0) - 2
    if last:
        if V != 4:
            tl.debug_barrier()
        j = tl.arange(0, NP)
        v = tl.load(part + j, mask=j < tl.num_programs(0), other=0.0)
        tl.store(out, tl.sum(v, 0))
        tl.atomic_xchg(count, 0)


both("last_block_sum", last_block_sum, (6,), lambda V: dict(x=T("f32", 200), part=T("f32", 8), out=T("f32", 1), count=T("i32", 1, values=[0]), n=200, V=V, B=32, NP=8), safe=(0,),
     races=(1, 2, 3, 4), bad="races|unsupported never=ok")


@triton.jit
def ticket_slots(x, out, count, n, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    t = tl.atomic_add(count, 1)
    i = tl.arange(0, B)
    v = tl.load(x + p * B + i)
    if V == 0:
        tl.store(out + t * B + i, v)
    elif V == 1:
        tl.store(out + (t // 2) * B + i, v)
    elif V == 2:
        tl.store(out + t * (B - 1) + i, v)
    elif V == 3:
        tl.store(out + (t % 8) * B + i, v)
    elif V == 4:
        tl.store(out + (t % 5) * B + i, v)
    elif V == 5:
        tl.store(out + (100 - t) * B + i, v)
    elif V == 6:
        tl.store(out + (t ^ 1) * B + i, v)


both("ticket_slots", ticket_slots, (6,), lambda V: dict(x=T("f32", 96), out=T("f32", 1700), count=T("i32", 1, values=[0]), n=96, V=V, B=16), safe=(0, 3, 5, 6), races=(1, 2, 4),
     bad="races|unsupported never=ok")
case("ticket_slots_any_start", ticket_slots, "ok|unsupported", (6,), dict(x=T("f32", 96), out=T("f32", 1700), count=T("i32", 1), n=96, V=0, B=16))


@triton.jit
def hash_insert(keys, table, vals, n, CAP: tl.constexpr, V: tl.constexpr):
    """Open addressing: a slot belongs to who swaps its key in."""
    p = tl.program_id(0)
    k = tl.load(keys + p)
    h = (k * 7) % CAP
    done = False
    while not done:
        seen = tl.atomic_cas(table + h, -1, k)
        done = (seen == -1) | (seen == k)
        if not done:
            h = (h + 1) % CAP
    if V == 0:
        tl.atomic_add(vals + h, 1)
    elif V == 1:
        tl.store(vals + h, p)


HK = [3, 11, 19, 4, 12, 3]
case("hash_insert", hash_insert, "ok", (6,), dict(keys=T("i32", 6, values=HK), table=T("i32", 8, values=[-1] * 8), vals=T("i32", 8, values=[0] * 8), n=6, CAP=8, V=0))
case("hash_insert_store", hash_insert, "races|unsupported never=ok", (6,), dict(keys=T("i32", 6, values=HK), table=T("i32", 8, values=[-1] * 8), vals=T("i32", 8), n=6, CAP=8, V=1))


@triton.jit
def linked_list(nxt, val, head, out, V: tl.constexpr):
    p = tl.program_id(0)
    i = tl.load(head + p)
    s = 0
    while i >= 0:
        s += tl.load(val + i)
        if V == 1:
            tl.store(val + i, s)
        i = tl.load(nxt + i)
    tl.store(out + p, s)


LL = dict(nxt=[1, 2, -1, 4, -1, 0, 3, -1], head=[5, 6, 7])
both("linked_list", linked_list, (3,), lambda V: dict(nxt=T("i32", 8, values=LL["nxt"]), val=T("i32", 8), head=T("i32", 3, values=LL["head"]), out=T("i32", 3), V=V), safe=(0, 1),
     races=())
case("linked_list_shared", linked_list, "races", (3,), dict(nxt=T("i32", 8, values=LL["nxt"]), val=T("i32", 8), head=T("i32", 3, values=[5, 6, 4]), out=T("i32", 3), V=1))
case("linked_list_any", linked_list, "ok", (3,), dict(nxt=T("i32", 8), val=T("i32", 8), head=T("i32", 3), out=T("i32", 3), V=0))


@triton.jit
def radix_scatter(keys, offs, out, n, shift, V: tl.constexpr, R: tl.constexpr, B: tl.constexpr):
    """One pass: rank of a key among its digit in the block, plus the block's offset of the digit."""
    p = tl.program_id(0)
    i = tl.arange(0, B)
    k = tl.load(keys + p * B + i)
    d = (k >> shift) & (R - 1)
    pos = tl.zeros((B,), tl.int32)
    for r in tl.static_range(R):
        hit = (d == r).to(tl.int32)
        rank = tl.cumsum(hit, 0) - (hit if V != 1 else 0)
        o = tl.load(offs + r * tl.num_programs(0) + p)
        pos = tl.where(d == r, o + rank, pos)
    tl.store(out + pos, k)


RK = [(i * 37 + 11) % 64 for i in range(32)]


def radix_offs(shift, R, B, bad=False):
    counts = [[sum(1 for k in RK[p * B:(p + 1) * B] if (k >> shift) & (R - 1) == r) for p in range(32 // B)] for r in range(R)]
    at, out = 0, []
    for r in range(R):
        for c in counts[r]:
            out.append(at)
            at += c
    if bad:
        out[3] -= 1
    return out


def radix(V, vals=True, bad=False):
    return dict(keys=T("i32", 32, values=RK if vals else None), offs=T("i32", 16, values=radix_offs(2, 4, 8, bad) if vals else None), out=T("i32", 40), n=32, shift=2, V=V, R=4, B=8)


case("radix_scatter", radix_scatter, "ok", (4,), radix(0))
case("radix_scatter_offset", radix_scatter, "races", (4,), radix(0, bad=True))
case("radix_scatter_inclusive", radix_scatter, "ok", (4,), radix(1))
case("radix_scatter_any", radix_scatter, "unsupported", (4,), radix(0, False))


@triton.jit
def pointer_array(ptrs, ns, V: tl.constexpr, B: tl.constexpr):
    g = tl.program_id(0)
    p = tl.load(ptrs + g).to(tl.pointer_type(tl.float32))
    n = tl.load(ns + g)
    for s in range(0, n, B):
        i = s + tl.arange(0, B)
        v = tl.load(p + i, mask=i < n, other=0.0)
        tl.store(p + i + V, v * 2, mask=i < n)


case("pointer_array", pointer_array, "ok|unsupported", (3,), dict(ptrs=T("i64", 3, values=[0x900000000, 0x900001000, 0x900002000]), ns=T("i32", 3, values=[20, 0, 33]), V=0, B=16))
case("pointer_array_same", pointer_array, "races|unsupported never=ok", (3,), dict(ptrs=T("i64", 3, values=[0x900000000, 0x900000040, 0x900002000]), ns=T("i32", 3, values=[20, 3, 33]), V=0,
     B=16))


@triton.jit
def bit_reverse(x, out, LOG: tl.constexpr, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    r = tl.zeros((B,), tl.int32)
    t = i
    for k in tl.static_range(LOG):
        r = (r << 1) | (t & 1)
        t = t >> 1
    if V == 0:
        tl.store(out + r, tl.load(x + i))
    elif V == 1:
        tl.store(out + (r & ~2), tl.load(x + i))
    elif V == 2:
        a = tl.load(x + i)
        b = tl.load(x + r)
        m = i < r
        tl.store(x + i, b, mask=m)
        tl.store(x + r, a, mask=m)
    elif V == 3:
        a = tl.load(x + i)
        b = tl.load(x + r)
        tl.store(x + i, b)
        tl.store(x + r, a)
    elif V == 4:
        m = i < r
        a = tl.load(x + i, mask=m)
        b = tl.load(x + r, mask=m)
        tl.debug_barrier()
        tl.store(x + i, b, mask=m)
        tl.store(x + r, a, mask=m)


# 2: the loads are of all elements (other programs store them); 4: only of those of the pair
both("bit_reverse", bit_reverse, (4,), lambda V: dict(x=T("f32", 64), out=T("f32", 64), LOG=6, V=V, B=16), safe=(0, 4), races=(1, 2, 3))


@triton.jit
def gray_code(out, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    g = i ^ (i >> 1)
    if V == 1:
        g = i ^ (i >> 1) ^ (i >> 2) ^ (i << 1)
    elif V == 2:
        g = i & (i >> 1)
    elif V == 3:
        g = (i * 5 + 3) & 127
    elif V == 4:
        g = (i * 6 + 3) & 127
    elif V == 5:
        g = (i ^ 0x2A) + 128
    elif V == 6:
        g = (i << 3 | i >> 4) & 127
    elif V == 7:
        g = (i << 3 | i >> 3) & 127
    tl.store(out + g, i)


both("gray_code", gray_code, (4,), lambda V: dict(out=T("i32", 512), V=V, B=32), safe=(0, 3, 5, 6), races=(2, 4, 7))


@triton.jit
def odd_shapes(x, out, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + p * B * 2 + tl.arange(0, 2 * B))
    a, b = tl.split(tl.reshape(v, (B, 2)))
    if V == 0:
        tl.store(out + p * B * 2 + tl.arange(0, 2 * B), tl.interleave(b, a))
    elif V == 1:
        tl.store(x + p * B * 2 + tl.arange(0, 2 * B), tl.interleave(b, a))
    elif V == 2:
        j = tl.join(i, i + B)
        tl.store(out + p * B * 2 + j, tl.join(a, b))
    elif V == 3:
        j = tl.join(i, i + B - 1)
        tl.store(out + p * B * 2 + j, tl.join(a, b))
    elif V == 4:
        j = 2 * B - 1 - tl.arange(0, 2 * B)
        tl.store(out + p * B * 2 + j, v)
    elif V == 5:
        j = tl.ravel(tl.permute(tl.reshape(tl.arange(0, 2 * B), (2, B)), (1, 0)))
        tl.store(out + p * B * 2 + j, v)
    elif V == 6:
        j = tl.ravel(tl.permute(tl.reshape(tl.arange(0, 2 * B), (2, B)), (1, 0))) // 2
        tl.store(out + p * B * 2 + j, v)
    elif V == 7:
        j = tl.cat(i, i + B, can_reorder=True)
        tl.store(out + p * B * 2 + j, v)


both("odd_shapes", odd_shapes, (3,), lambda V: dict(x=T("f32", 96), out=T("f32", 96), V=V, B=16), safe=(0, 2, 4, 5), races=(1, 3, 6))


@triton.jit(noinline=True)
def put(p, q, n, start, B: tl.constexpr):
    i = start + tl.arange(0, B)
    tl.store(q + i, tl.load(p + i, mask=i < n), mask=i < n)


@triton.jit
def pick(a, b, c: tl.constexpr):
    if c:
        return a, b
    return b, a


@triton.jit
def by_functions(x, y, n, V: tl.constexpr, B: tl.constexpr):
    s = tl.program_id(0) * B
    src, dst = pick(x, y, V != 1)
    if V == 2:
        put(src, dst, n, s // 2, B)
    elif V == 3:
        put(src, src + 1, n, s, B)
    else:
        put(src, dst, n, s, B)


both("by_functions", by_functions, (4,), lambda V: dict(x=T("f32", 100), y=T("f32", 100), n=100, V=V, B=32), safe=(0, 1), races=(2, 3))


@triton.jit
def ranges(x, y, n, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    g = tl.num_programs(0)
    if V == 0:
        for t in tl.range(p, tl.cdiv(n, B), g, num_stages=3, flatten=True):
            i = t * B + tl.arange(0, B)
            tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)
    elif V == 1:
        for t in tl.range(p, tl.cdiv(n, B), g - 1, num_stages=3):
            i = t * B + tl.arange(0, B)
            tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)
    elif V == 2:
        per = tl.cdiv(tl.cdiv(n, B), g)
        for t in tl.range(p * per, tl.minimum((p + 1) * per, tl.cdiv(n, B)), disallow_acc_multi_buffer=True):
            i = t * B + tl.arange(0, B)
            tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)
    elif V == 3:
        per = tl.cdiv(n, B) // g
        for t in tl.range(p * per, (p + 1) * per + 1):
            i = t * B + tl.arange(0, B)
            tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)
    elif V == 4:
        t = tl.cdiv(n, B) - 1 - p
        while t >= 0:
            i = t * B + tl.arange(0, B)
            tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)
            t -= g
    elif V == 5:
        for t in tl.range(tl.cdiv(n, B) - 1 - p, -1, -4):
            i = t * B + tl.arange(0, B)
            tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)
    elif V == 6:
        for t in tl.range(0, tl.cdiv(n, B)):
            if t % g == p:
                i = t * B + tl.arange(0, B)
                tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)
    elif V == 7:
        for t in tl.range(0, tl.cdiv(n, B)):
            if t % g <= p:
                i = t * B + tl.arange(0, B)
                tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


both("ranges", ranges, (4,), lambda V: dict(x=T("f32", 500), y=T("f32", 500), n=500, V=V, B=32), safe=(0, 2, 4, 5, 6), races=(1, 3, 7))


@triton.jit
def double_buffer_flags(buf, flags, out, V: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    """Program 0 makes, program 1 uses; one flag a block."""
    p = tl.program_id(0)
    i = tl.arange(0, B)
    for k in range(N):
        if p == 0:
            tl.store(buf + k * B + i, i + k)
            if V != 1:
                tl.debug_barrier()
            tl.atomic_xchg(flags + k, 1, sem="release" if V != 3 else "relaxed")
        else:
            while tl.atomic_add(flags + (k if V != 4 else 0), 0, sem="acquire") == 0:
                pass
            if V != 2:
                tl.debug_barrier()
            tl.store(out + k * B + i, tl.load(buf + k * B + i))


both("double_buffer_flags", double_buffer_flags, (2,), lambda V: dict(buf=T("i32", 128), flags=T("i32", 4, values=[0] * 4), out=T("i32", 128), V=V, N=4, B=32), safe=(0,),
     races=(1, 2, 3, 4), bad="races|unsupported never=ok")


@triton.jit
def private_histogram(x, hist, bins, n, V: tl.constexpr, NB: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    b = tl.arange(0, NB)
    tl.store(hist + p * NB + b, 0)
    if V != 1:
        tl.debug_barrier()
    for s in range(p * B, n, tl.num_programs(0) * B):
        i = s + tl.arange(0, B)
        k = tl.load(x + i, mask=i < n, other=0)
        if V == 2:
            tl.atomic_add(hist + k, 1, mask=i < n)
        else:
            tl.atomic_add(hist + p * NB + k, 1, mask=i < n)
    if V != 3:
        tl.debug_barrier()
    tl.atomic_add(bins + b, tl.load(hist + p * NB + b))


PH = [(i * i * 3 + i) % 16 for i in range(100)]
both("private_histogram", private_histogram, (3,), lambda V: dict(x=T("i32", 100, values=PH), hist=T("i32", 48), bins=T("i32", 16), n=100, V=V, NB=16, B=16), safe=(0,),
     races=(1, 2, 3))


@triton.jit
def stream_k(a, c, part, locks, total, iters, V: tl.constexpr, G: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, B)
    start = p * total // G
    end = (p + 1) * total // G
    while start < end:
        t = start // iters
        stop = tl.minimum((t + 1) * iters, end)
        acc = tl.zeros((B,), tl.float32)
        for k in range(start, stop):
            acc += tl.load(a + k * B + i)
        if start % iters == 0 and stop == (t + 1) * iters:
            tl.store(c + t * B + i, acc)
        elif V == 0:
            tl.atomic_add(c + t * B + i, acc)
        else:
            tl.store(c + t * B + i, acc)
        start = stop


both("stream_k", stream_k, (5,), lambda V: dict(a=T("f32", 24 * 16), c=T("f32", 6 * 16), part=T("f32", 1), locks=T("i32", 1), total=24, iters=4, V=V, G=5, B=16), safe=(0,), races=(1,))


@triton.jit
def strided_params(x, y, M, N, sxm, sxn, sym, syn, V: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = (m[:, None] < M) & (n[None, :] < N)
    v = tl.load(x + m[:, None] * sxm + n[None, :] * sxn, mask=k)
    if V == 0:
        tl.store(y + m[:, None] * sym + n[None, :] * syn, v, mask=k)
    elif V == 1:
        tl.store(y + m[:, None] * syn + n[None, :] * sym, v, mask=k)
    elif V == 2:
        tl.store(y + n[None, :] * sxm + m[:, None] * sxn, v, mask=k)
    elif V == 3:
        tl.store(y + m[:, None] * M + n[None, :], v, mask=k)


def strided(V, sy=(50, 1), shape=(30, 50)):
    return dict(x=T("f32", 30, 50), y=T("f32", 3000), M=30, N=50, sxm=50, sxn=1, sym=sy[0], syn=sy[1], V=V, BM=16, BN=16)


# 1: m*1 + n*50: 30 rows fit under 50. 2 is the same. 3: rows of M = 30 under 50 columns overlap
both("strided_params", strided_params, (2, 4), strided, safe=(0, 1, 2), races=(3,))
case("strided_params_padded", strided_params, "ok", (2, 4), strided(0, (57, 1)))
case("strided_params_short", strided_params, "races", (2, 4), strided(0, (49, 1)))
case("strided_params_two", strided_params, "ok", (2, 4), strided(0, (3, 100)))
case("strided_params_coprime", strided_params, "ok", (2, 4), strided(0, (51, 31)))
case("strided_params_both", strided_params, "races", (2, 4), strided(0, (20, 30)))
case("strided_params_same", strided_params, "races", (2, 4), strided(0, (1, 1)))
case("strided_params_zero", strided_params, "races", (2, 4), strided(0, (50, 0)))


# ---- compare-and-swap loops that nothing is known of: what stands in them and behind them runs any number of times, with any values ------------
@triton.jit
def cas_loop(x, y, out, idx, cell, more, n, KIND: tl.constexpr, B: tl.constexpr):
    """KIND 0 to 3 are right."""
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    mine = y + pid * B
    place = out + pid * B
    w = tl.load(mine + lane) if KIND == 3 else tl.load(mine + B - 1 - lane) if KIND == 13 or KIND == 14 else lane
    if KIND == 12:
        tl.store(mine + lane, lane)
    old = tl.load(cell) if KIND == 4 else tl.atomic_add(cell, 0, sem="relaxed")
    at = pid * B + lane
    turn = 0
    done = 0
    while done == 0:
        if KIND == 9 or KIND == 1:                # loads, a barrier, stores at the same places: 1: and one at the end
            w = tl.load(mine + B - 1 - lane)
            tl.debug_barrier()
        if KIND == 12:                            # the only barrier between the store before the loop and the load behind it
            tl.debug_barrier()
        if KIND == 5:
            got = tl.atomic_cas(cell, old, old + 1, scope="cta")
        else:
            got = tl.atomic_cas(cell, old, old + 1)
        if KIND == 9 or KIND == 1:
            tl.store(mine + lane, w + got)
        if KIND == 1:
            tl.debug_barrier()
        if KIND == 2:
            tl.store(place + lane, old)
        if KIND == 10:                            # one further each turn
            tl.store(out + pid + turn, old)
        if KIND == 11:                            # lanes turn round in the program's own row
            at = pid * B + (at + 1) % B
        if KIND == 14:
            w = tl.load(x + lane)
        if KIND == 15:
            tl.store(out + tl.atomic_add(more, 1), pid)
            tl.atomic_add(more, -1)
        turn += 1
        done = (got == old).to(tl.int32)
        old = got
    if KIND == 0 or KIND == 4 or KIND == 5:
        tl.store(out + pid, old)
    if KIND == 3 or KIND == 13 or KIND == 14:     # 3: the lane that was read; 13, 14: another one, 14: not what was read
        tl.store(mine + lane, w + old)
    if KIND == 6:                                 # the result as a place
        tl.store(out + old, pid)
    if KIND == 7:                                 # ... as a stride
        tl.store(out + pid * old + lane, 1)
    if KIND == 8:                                 # one winner, if one knew what the loop returns
        if old == 0:
            tl.store(out, 1)
        tl.store(out, 2, mask=old == 1)
    if KIND == 11:
        tl.store(out + at, old)
        tl.store(place + lane, old)
    if KIND == 12:
        tl.store(place + lane, tl.load(mine + B - 1 - lane))
    if KIND == 16:                                # the cell's neighbour is in it, too
        tl.atomic_add(more.to(tl.pointer_type(tl.int64)), 1)


for kind in range(17):
    kw = dict(x=T("i32", 64), y=T("i32", 256), out=T("i32", 4096), idx=T("i32", 64), cell=T("i32", 64, values=[0] * 64), more=T("i32", 64, values=[0] * 64), n=4, KIND=kind, B=64)
    if kind == 16:
        kw["more"] = T("i32", 64, of="cell", at=0)
    case(f"cas_loop_{kind}", cas_loop, "ok|unsupported" if kind < 4 else "races|unsupported never=ok", (4,), kw)


# ---- one element, read by every thread and written by one: a use by other threads needs the order of all of them ----------------------------
@triton.jit
def one_element(x, y, n, KIND: tl.constexpr, B: tl.constexpr):
    """KIND 0 is right."""
    lane = tl.arange(0, B)
    a = tl.arange(0, 1)
    v = tl.load(x + a)
    if KIND == 1:
        tl.store(y + lane, tl.broadcast_to(v, (B,)))
    if KIND == 2:
        if tl.sum(v, 0) > 0:
            tl.store(y + lane, 1)
    if KIND == 3:
        tl.store(y + lane, 1, mask=lane < tl.broadcast_to(v, (B,)))
    if KIND == 4:
        tl.store(y + tl.sum(v, 0) + lane, 1)
    if KIND == 5:
        for i in range(tl.sum(v, 0)):
            tl.store(y + i * B + lane, 1)
    if KIND == 6:
        tl.store(y + tl.arange(0, 2), tl.reshape(tl.join(v, v), (2,)))
    if KIND == 7:
        tl.store(y + lane, tl.reshape(tl.broadcast_to(tl.reshape(v, (1, 1)), (B, 1)), (B,)))
    if KIND == 8:
        tl.store(y + lane, lane + tl.broadcast_to(tl.max(v[None, :], 0), (B,)))
    if KIND == 9:
        for i in range(n):
            v += 1
        tl.store(y + lane, tl.broadcast_to(v, (B,)))
    tl.store(x + a, v + 1)


for kind in range(10):
    case(f"one_element_{kind}", one_element, "ok" if kind == 0 else "races|unsupported never=ok", (1,), dict(x=T("i32", 64), y=T("i32", 4096), n=4, KIND=kind, B=64), num_warps=1)
