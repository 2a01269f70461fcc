"""Kernels over tables and ragged data (sparse formats, segments, pages, groups, narrow indices, masks from memory), persistent tiles, semaphores, descriptors
and atomics under masks. Each variant V of a kernel is one launch; what is right and what is wrong was written down before it was asked for."""
from cases import T, case, load_triton
triton, tl = load_triton()


def both(name, fn, grid, args, safe=(0,), races=(1,), nospec=(), ok="ok", bad="races"):
    """One launch for each variant of the kernel: V in `safe` is right, V in `races` is not."""
    for v in safe:
        case(f"{name}_{v}" if v else name, fn, ok, grid, args(V=v), nospec=nospec)
    for v in races:
        case(f"{name}_wrong{v}", fn, bad, grid, args(V=v), nospec=nospec)


@triton.jit
def csr_spmm(rowptr, col, val, b, out, N, V: tl.constexpr, BN: tl.constexpr):
    row = tl.program_id(0)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    start = tl.load(rowptr + row)
    end = tl.load(rowptr + row + 1)
    acc = tl.zeros((BN,), tl.float32)
    for k in range(start, end):
        c = tl.load(col + k)
        v = tl.load(val + k)
        acc += v * tl.load(b + c * N + n, mask=n < N, other=0.0)
        if V == 1:
            tl.store(out + c * N + n, acc, mask=n < N)
        elif V == 2:
            tl.atomic_add(out + c * N + n, acc, mask=n < N)
    if V == 0:
        tl.store(out + row * N + n, acc, mask=n < N)
    elif V == 3:
        tl.store(out + (row // 2) * N + n, acc, mask=n < N)
    elif V == 4:
        if end > start:
            tl.store(out + row * N + n, acc, mask=n < N)


def csr(V, vals=True, cols=(0, 2, 1, 3, 4, 5, 0, 1)):
    return dict(rowptr=T("i32", 6, values=[0, 2, 3, 3, 6, 8] if vals else None), col=T("i32", 8, values=list(cols) if vals else None), val=T("f32", 8), b=T("f32", 6, 20),
                out=T("f32", 6, 20), N=20, V=V, BN=16)


both("csr_spmm", csr_spmm, (5, 2), csr, safe=(0, 2, 4), races=(1, 3))
both("csr_spmm_any", csr_spmm, (5, 2), lambda V: csr(V, False), safe=(0, 2, 4), races=(3,))


@triton.jit
def coo_spmv(rows, cols, vals, x, y, nnz, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < nnz
    r = tl.load(rows + i, mask=m, other=0)
    c = tl.load(cols + i, mask=m, other=0)
    p = tl.load(vals + i, mask=m, other=0.0) * tl.load(x + c, mask=m, other=0.0)
    if V == 0:
        tl.atomic_add(y + r, p, mask=m)
    elif V == 1:
        tl.store(y + r, tl.load(y + r, mask=m, other=0.0) + p, mask=m)
    elif V == 2:
        nxt = tl.load(rows + i + 1, mask=i + 1 < nnz, other=-1)
        tl.store(y + r, p, mask=m & (nxt != r))
    elif V == 3:
        tl.store(x + r, p, mask=m)


COO = dict(rows=[0, 0, 1, 3, 3, 3, 4, 5, 7, 8], cols=[1, 2, 3, 4, 5, 6, 7, 8, 9, 0])


def coo(V, vals=True):
    return dict(rows=T("i32", 10, values=COO["rows"] if vals else None), cols=T("i32", 10, values=COO["cols"] if vals else None), vals=T("f32", 10), x=T("f32", 10),
                y=T("f32", 10), nnz=10, V=V, B=4)


both("coo_spmv", coo_spmv, (3,), coo, safe=(0, 2), races=(1, 3))


@triton.jit
def bsr_spmm(crow, bcol, vals, d, out, N, V: tl.constexpr, BS: tl.constexpr, BN: tl.constexpr):
    br = tl.program_id(0)
    pn = tl.program_id(1)
    lo = tl.load(crow + br)
    hi = tl.load(crow + br + 1)
    r = tl.arange(0, BS)
    n = pn * BN + tl.arange(0, BN)
    acc = tl.zeros((BS, BN), tl.float32)
    for k in range(hi - lo):
        c = tl.load(bcol + lo + k)
        a = tl.load(vals + (lo + k) * BS * BS + r[:, None] * BS + r[None, :])
        b = tl.load(d + (c * BS + r)[:, None] * N + n[None, :], mask=n[None, :] < N, other=0.0)
        acc += tl.dot(a, b)
    if V == 0:
        tl.store(out + (br * BS + r)[:, None] * N + n[None, :], acc, mask=n[None, :] < N)
    elif V == 1:
        tl.store(out + (br * BS + r)[:, None] * N + n[None, :], acc)
    elif V == 2:
        tl.store(out + (br * BS // 2 + r)[:, None] * N + n[None, :], acc, mask=n[None, :] < N)
    elif V == 3:
        tl.store(d + (br * BS + r)[:, None] * N + n[None, :], acc, mask=n[None, :] < N)


both("bsr_spmm", bsr_spmm, (3, 2), lambda V: dict(crow=T("i64", 4, values=[0, 2, 2, 3]), bcol=T("i64", 3, values=[0, 2, 1]), vals=T("f16", 3, 16, 16), d=T("f16", 48, 24),
     out=T("f16", 48, 24), N=24, V=V, BS=16, BN=16), safe=(0,), races=(1, 2, 3))


@triton.jit
def segment_sum(x, offs, out, D, V: tl.constexpr, BD: tl.constexpr):
    s = tl.program_id(0)
    d = tl.arange(0, BD)
    a = tl.load(offs + s)
    b = tl.load(offs + s + 1)
    acc = tl.zeros((BD,), tl.float32)
    if V == 2:
        b = b + 1
    for i in range(a, b):
        v = tl.load(x + i * D + d, mask=d < D, other=0.0)
        acc += v
        if V == 1 or V == 2:
            tl.store(x + i * D + d, acc, mask=d < D)
        elif V == 3:
            tl.store(x + i * D + d, acc, mask=d <= D)
    tl.store(out + s * D + d, acc, mask=d < D)


both("segment_sum", segment_sum, (4,), lambda V: dict(x=T("f32", 12, 10), offs=T("i32", 5, values=[0, 3, 3, 7, 11]), out=T("f32", 4, 10), D=10, V=V, BD=16), safe=(0, 1),
     races=(2, 3))
both("segment_sum_any", segment_sum, (4,), lambda V: dict(x=T("f32", 12, 10), offs=T("i32", 5), out=T("f32", 4, 10), D=10, V=V, BD=16), safe=(0,), races=())


@triton.jit
def jagged_add_bias(v, offs, bias, out, D, maxlen, V: tl.constexpr, BL: tl.constexpr, BD: tl.constexpr):
    b = tl.program_id(0)
    l = tl.program_id(1) * BL + tl.arange(0, BL)
    d = tl.arange(0, BD)
    s = tl.load(offs + b)
    e = tl.load(offs + b + 1)
    n = e - s
    if V == 1:
        n = tl.minimum(n + 2, maxlen)
    if V == 2:
        n = maxlen
    if V == 3:
        n = tl.minimum(n, maxlen - 1)
    m = (l[:, None] < n) & (d[None, :] < D)
    x = tl.load(v + (s + l)[:, None] * D + d[None, :], mask=m, other=0.0)
    tl.store(out + (s + l)[:, None] * D + d[None, :], x + tl.load(bias + d, mask=d < D, other=0.0)[None, :], mask=m)


both("jagged_add_bias", jagged_add_bias, (3, 2), lambda V: dict(v=T("f32", 20, 6), offs=T("i64", 4, values=[0, 5, 6, 14]), bias=T("f32", 6), out=T("f32", 20, 6), D=6, maxlen=8,
     V=V, BL=4, BD=8), safe=(0, 3), races=(1, 2))


@triton.jit
def paged_attention(q, kc, vc, bt, lens, out, stride_bt, V: tl.constexpr, BS: tl.constexpr, D: tl.constexpr, NB: tl.constexpr):
    s = tl.program_id(0)
    h = tl.program_id(1)
    H = tl.num_programs(1)
    d = tl.arange(0, D)
    t = tl.arange(0, BS)
    n = tl.load(lens + s)
    qv = tl.load(q + (s * H + h) * D + d)
    m = -float("inf")
    l = 0.0
    acc = tl.zeros((D,), tl.float32)
    for b in range(0, tl.cdiv(n, BS)):
        page = tl.load(bt + s * stride_bt + b).to(tl.int64)
        ok = b * BS + t < n
        k = tl.load(kc + ((page * H + h) * BS + t)[:, None] * D + d[None, :], mask=ok[:, None], other=0.0)
        v = tl.load(vc + ((page * H + h) * BS + t)[:, None] * D + d[None, :], mask=ok[:, None], other=0.0)
        sc = tl.where(ok, tl.sum(k * qv[None, :], 1), -float("inf"))
        mn = tl.maximum(m, tl.max(sc, 0))
        p = tl.exp(sc - mn)
        acc = acc * tl.exp(m - mn) + tl.sum(p[:, None] * v, 0)
        l = l * tl.exp(m - mn) + tl.sum(p, 0)
        m = mn
        if V == 1:
            tl.store(kc + ((page * H + h) * BS + t)[:, None] * D + d[None, :], k * 0.5, mask=ok[:, None])
    if V == 2:
        tl.store(out + (s + h) * D + d, acc / l)
    elif V == 3:
        tl.store(q + (s * H + h) * D + d, acc / l)
    elif V == 4:
        tl.store(out + (s * H + h) * D + d, acc / l, mask=d < n)
        tl.store(out + (s * H + h) * (D - 1) + d, acc / l, mask=d < n)
    else:
        tl.store(out + (s * H + h) * D + d, acc / l)


def paged(V, tables=(0, 3, 1, 0, 4, 5, 2, 0, 0), lens=(9, 6, 3)):
    return dict(q=T("f32", 3, 2, 8), kc=T("f32", 6, 2, 4, 8), vc=T("f32", 6, 2, 4, 8), bt=T("i32", 3, 3, values=list(tables)), lens=T("i32", 3, values=list(lens)),
                out=T("f32", 3, 2, 8), stride_bt=3, V=V, BS=4, D=8, NB=3)


both("paged_attention", paged_attention, (3, 2), paged, safe=(0,), races=(2, 4))
# 1 writes the pages in place: pages of different sequences are different; a shared page is not. Lens 9 reads 3 pages: 0, 3, 1; the second 0, 4.
case("paged_attention_prefix", paged_attention, "races", (3, 2), paged(1))
case("paged_attention_own", paged_attention, "ok", (3, 2), paged(1, (0, 3, 1, 5, 4, 0, 2, 0, 0)))
# in place over q: loaded by the same lanes, through a sum over them
case("paged_attention_q", paged_attention, "races", (3, 2), paged(3))
case("paged_attention_none", paged_attention, "ok", (3, 2), dict(paged(0), bt=T("i32", 3, 3), lens=T("i32", 3)))


@triton.jit
def topk_rows(x, vals, idx, N, V: tl.constexpr, K: tl.constexpr, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + r * N + c, mask=c < N, other=-float("inf"))
    for k in range(K):
        m, i = tl.max(v, 0, return_indices=True)
        if V == 1:
            tl.store(vals + r + k, m)
        elif V == 2:
            tl.store(vals + r * K + i, m)
        else:
            tl.store(vals + r * K + k, m)
        tl.store(idx + r * K + k, i)
        v = tl.where(c == i, -float("inf"), v)


both("topk_rows", topk_rows, (4,), lambda V: dict(x=T("f32", 4, 30), vals=T("f32", 64), idx=T("i32", 4, 4), N=30, V=V, K=4, B=32), safe=(0,), races=(1, 2),
     bad="races|unsupported never=ok")


@triton.jit
def sort_rows_gather(keys, payload, out, N, V: tl.constexpr, B: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, B)
    k = tl.load(keys + r * B + c)
    s = tl.sort(k)
    if V == 0:
        tl.store(out + r * B + c, s)
    elif V == 1:
        tl.store(keys + r * B + c, s)
    elif V == 2:
        tl.store(out + s, c)
    elif V == 3:
        tl.store(out + r * B + (s & (B - 1)), c)
    elif V == 4:
        p = tl.gather(tl.load(payload + r * B + c), k & (B - 1), 0)
        tl.store(out + r * B + c, p)
    elif V == 5:
        p = tl.gather(c * 2, k & (B - 1), 0)
        tl.store(out + r * B + p // 2, p)


PERM = [[5, 2, 7, 0, 1, 6, 3, 4], [0, 1, 2, 3, 4, 5, 6, 7], [7, 6, 5, 4, 3, 2, 1, 0]]


def sorts(V, which=PERM):
    return dict(keys=T("i32", 3, 8, values=sum(which, [])), payload=T("i32", 3, 8), out=T("i32", 3, 8), N=8, V=V, B=8)


both("sort_rows", sort_rows_gather, (3,), sorts, safe=(0, 3, 4, 5), races=(1, 2))
case("sort_rows_dup", sort_rows_gather, "races", (3,), sorts(3, [PERM[0], [0, 1, 2, 3, 4, 5, 6, 14], PERM[2]]))
case("sort_rows_gather_dup", sort_rows_gather, "races", (3,), sorts(5, [PERM[0], [0, 1, 2, 3, 4, 5, 6, 6], PERM[2]]))


@triton.jit
def add_op(a, b):
    return a + b


@triton.jit
def exclusive_scan_blocks(x, out, sums, n, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    i = p * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    s = tl.associative_scan(v, 0, add_op)
    tl.store(out + i, s - v, mask=i < n)
    if V == 0:
        tl.store(sums + p, tl.sum(v, 0))
    elif V == 1:
        tl.store(sums + p + tl.zeros((B,), tl.int32), s, mask=tl.arange(0, B) == B - 1)
    elif V == 2:
        tl.store(sums + p + tl.zeros((B,), tl.int32), s)
    elif V == 3:
        tl.store(sums + i // B, s, mask=(i % B == B - 1) | (i == n - 1))
    elif V == 4:
        tl.store(out + i + 1, s, mask=i + 1 < n)


both("exclusive_scan_blocks", exclusive_scan_blocks, (4,), lambda V: dict(x=T("i32", 110), out=T("i32", 110), sums=T("i32", 4), n=110, V=V, B=32), safe=(0, 1), races=(2, 3, 4))


@triton.jit
def grouped_gemm_sizes(a, b, c, sizes, N, K, V: tl.constexpr, G: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    tile = tl.program_id(0)
    stepsz = tl.num_programs(0)
    last = 0
    row0 = 0
    for g in range(G):
        gm = tl.load(sizes + g)
        nm = tl.cdiv(gm, BM)
        nn = tl.cdiv(N, BN)
        while tile >= last and tile < last + nm * nn:
            t = tile - last
            m = t // nn
            n = t % nn
            rm = m * BM + tl.arange(0, BM)
            rn = n * BN + tl.arange(0, BN)
            acc = tl.load(a + (row0 + rm)[:, None] * K + rn[None, :] % K, mask=rm[:, None] < gm, other=0.0)
            if V == 1:
                tl.store(c + (row0 + rm)[:, None] * N + rn[None, :], acc, mask=rn[None, :] < N)
            elif V == 2:
                tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < gm) & (rn[None, :] < N))
            else:
                tl.store(c + (row0 + rm)[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < gm) & (rn[None, :] < N))
            if V == 3:
                tile += stepsz // 2
            else:
                tile += stepsz
        last = last + nm * nn
        row0 = row0 + gm


both("grouped_gemm_sizes", grouped_gemm_sizes, (4,), lambda V: dict(a=T("f32", 40, 8), b=T("f32", 8), c=T("f32", 40, 20), sizes=T("i32", 4, values=[7, 0, 12, 5]), N=20, K=8, V=V,
     G=4, BM=4, BN=8), safe=(0,), races=(1, 2, 3))


@triton.jit
def persistent_swizzle(c, M, N, V: tl.constexpr, GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, NSM: tl.constexpr):
    pid = tl.program_id(0)
    nm = tl.cdiv(M, BM)
    nn = tl.cdiv(N, BN)
    total = nm * nn
    per = total // NSM
    if pid < total % NSM:
        per += 1
    tile = pid - NSM
    for _ in range(per):
        tile += NSM if V != 1 else NSM - 1
        ing = GROUP * nn
        gid = tile // ing
        first = gid * GROUP
        gs = min(nm - first, GROUP)
        pm = first + (tile % gs)
        pn = (tile % ing) // gs
        if V == 2:
            pn = (tile % ing) // GROUP
        rm = pm * BM + tl.arange(0, BM)
        rn = pn * BN + tl.arange(0, BN)
        tl.store(c + rm[:, None] * N + rn[None, :], 1.0, mask=(rm[:, None] < M) & (rn[None, :] < N))


both("persistent_swizzle", persistent_swizzle, (5,), lambda V: dict(c=T("f32", 50, 70), M=50, N=70, V=V, GROUP=3, BM=8, BN=16, NSM=5), safe=(0,), races=(1, 2))


@triton.jit
def split_k_semaphore(a, c, locks, M, K, V: tl.constexpr, SK: tl.constexpr, BM: tl.constexpr):
    """The first to come stores, the others add, each in its turn."""
    pm = tl.program_id(0)
    pk = tl.program_id(1)
    r = pm * BM + tl.arange(0, BM)
    acc = tl.zeros((BM,), tl.float32)
    for k in range(pk, K, SK):
        acc += tl.load(a + r * K + k, mask=r < M, other=0.0)
    lock = locks + pm if V != 3 else locks
    while tl.atomic_cas(lock, pk, pk) != pk:
        pass
    if V != 1:
        tl.debug_barrier()
    if pk > 0:
        acc += tl.load(c + r, mask=r < M, other=0.0)
    tl.store(c + r, acc, mask=r < M)
    if V != 2:
        tl.debug_barrier()
    if pk == SK - 1:
        tl.atomic_xchg(lock, 0)
    else:
        tl.atomic_xchg(lock, pk + 1)


both("split_k_semaphore", split_k_semaphore, (3, 4), lambda V: dict(a=T("f32", 24, 40), c=T("f32", 24), locks=T("i32", 3, values=[0, 0, 0]), M=24, K=40, V=V, SK=4, BM=8),
     safe=(0,), races=(1, 2), bad="races|unsupported never=ok")


@triton.jit
def negative_strides(x, out, n, sx, so, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    if V == 0:
        tl.store(out - i * so, tl.load(x + i * sx, mask=m), mask=m)
    elif V == 1:
        tl.store(out - (i // 2) * so, tl.load(x + i * sx, mask=m), mask=m)
    elif V == 2:
        tl.store(out - i * so, tl.load(out + (n - 1 - i) * -so, mask=m), mask=m)
    elif V == 3:
        tl.store(out + (i - n + 1) * so, tl.load(x + i * sx, mask=m), mask=m)


def neg(V, so=1):
    return dict(x=T("f32", 1, before=99), out=T("f32", 1, before=99 * so), n=100, sx=-1, so=so, V=V, B=32)


both("negative_strides", negative_strides, (4,), neg, safe=(0, 3), races=(1, 2), nospec=("so",))
both("negative_strides2", negative_strides, (4,), lambda V: neg(V, 2), safe=(0, 3), races=(1, 2))
case("zero_stride", negative_strides, "races", (4,), dict(neg(0), so=0))


@triton.jit
def narrow_index(x, idx, out, n, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    k = tl.load(idx + i, mask=m, other=0)
    if V == 0:
        tl.store(out + k, tl.load(x + i, mask=m), mask=m)
    elif V == 1:
        tl.store(out + k.to(tl.uint8), tl.load(x + i, mask=m), mask=m)
    elif V == 2:
        tl.store(out + (k.to(tl.int32) & 0x3F), tl.load(x + i, mask=m), mask=m)
    elif V == 3:
        tl.store(out + (k + 1), tl.load(x + i, mask=m), mask=m)
    elif V == 4:
        tl.store(out + tl.where(k >= 20, k - 20, k), tl.load(x + i, mask=m), mask=m)


def narrow(V, dtype="u8", vals=None):
    return dict(x=T("f32", 30), idx=T(dtype, 30, values=vals or [(7 * i) % 31 for i in range(30)]), out=T("f32", 300), n=30, V=V, B=16)


both("narrow_index", narrow_index, (2,), narrow, safe=(0, 1, 2, 3), races=(4,))
both("narrow_index_i16", narrow_index, (2,), lambda V: narrow(V, "i16"), safe=(0, 2, 3), races=(4,))
WIDE = [0, 64, 128, 192, 255, 1, 65, 129, 193, 254] + list(range(10, 30))
both("narrow_index_high", narrow_index, (2,), lambda V: narrow(V, "u8", WIDE), safe=(0, 1), races=(2,))
case("narrow_index_i8_low", narrow_index, "ok", (2,), dict(narrow(0, "i8"), idx=T("i8", 30, values=[i - 15 for i in range(30)]), out=T("f32", 300, before=20)))


@triton.jit
def flag_mask(x, flags, out, n, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    f = tl.load(flags + i, mask=m, other=0).to(tl.int1)
    if V == 0:
        tl.store(out + i, tl.load(x + i, mask=f), mask=f)
    elif V == 1:
        tl.store(out + i // 2, tl.load(x + i, mask=f), mask=f)
    elif V == 2:
        tl.store(out + tl.where(f, i, n), tl.load(x + i, mask=f), mask=m)
    elif V == 3:
        tl.store(out + tl.where(f, i, i + 1), 1.0, mask=m)


EVEN = [1, 0] * 15


def flags(V, vals=EVEN):
    return dict(x=T("f32", 30), flags=T("i1", 30, values=vals), out=T("f32", 40), n=30, V=V, B=16)


both("flag_mask", flag_mask, (2,), flags, safe=(0, 1), races=(2,))
# 3: flag off at i writes i+1; i+1 is on: the same place
case("flag_mask_off", flag_mask, "races", (2,), flags(3))
case("flag_mask_half", flag_mask, "races", (2,), flags(1, [1] * 30))
case("flag_mask_any", flag_mask, "ok", (2,), flags(0, None))
case("flag_mask_any_half", flag_mask, "unsupported potential-race", (2,), flags(1, None))


@triton.jit
def collatz_while(x, out, n, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    v = tl.load(x + p)
    steps = 0
    while v > 1:
        v = tl.where(v % 2 == 0, v // 2, 3 * v + 1)
        steps += 1
        if V == 1:
            tl.store(out + steps, v)
        elif V == 2:
            tl.store(out + p * 32 + steps, v)
    tl.store(out + p * 32, steps)


def coll(V, vals=(3, 5, 6, 1)):
    return dict(x=T("i32", 4, values=list(vals)), out=T("i32", 200), n=4, V=V, B=4)


both("collatz_while", collatz_while, (4,), coll, safe=(0, 2), races=(1,))
case("collatz_while_any", collatz_while, "ok", (4,), dict(coll(0), x=T("i32", 4)))


@triton.jit
def desc_copy_add(a, b, c, M, N, V: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    da = tl.make_tensor_descriptor(a, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    dc = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    x = da.load([m, n])
    if V == 0:
        dc.store([m, n], x * 2)
    elif V == 1:
        dc.store([m, n + BN // 2], x * 2)
    elif V == 2:
        dc.atomic_add([m, n + BN // 2], x * 2)
    elif V == 3:
        da.store([m, n], x * 2)
    elif V == 4:
        dc.store([m // 2, n], x)


both("desc_copy_add", desc_copy_add, (3, 3), lambda V: dict(a=T("f32", 40, 40), b=T("f32", 1), c=T("f32", 40, 40), M=40, N=40, V=V, BM=16, BN=16), safe=(0, 1, 2), races=(4,))
case("desc_copy_inplace", desc_copy_add, "ok|unsupported", (3, 3), dict(a=T("f32", 40, 40), b=T("f32", 1), c=T("f32", 40, 40), M=40, N=40, V=3, BM=16, BN=16))


@triton.jit
def masked_atomics(out, aux, n, V: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    i = p * B + tl.arange(0, B)
    m = i < n
    if V == 0:
        tl.atomic_max(out + i % 7, i, mask=m)
        tl.atomic_max(out + (i * 3) % 7, i, mask=m)
    elif V == 1:
        tl.atomic_max(out + i % 7, i, mask=m)
        tl.store(out + 6 + p, p)
    elif V == 2:
        tl.atomic_max(out + i % 7, i, mask=m)
        tl.store(out + 7 + p, p)
    elif V == 3:
        tl.atomic_or(out + i // 32, 1 << (i % 32), mask=m, sem="relaxed")
    elif V == 4:
        tl.atomic_xchg(out + i // 2, i, mask=m)
        x = tl.load(out + i // 2, mask=m)
        tl.store(aux + i, x, mask=m)
    elif V == 5:
        tl.atomic_cas(out + i % 7, tl.zeros((B,), tl.int32), i)
    elif V == 6:
        tl.atomic_add(out + i // 2, 1, mask=m)
        tl.atomic_add((out + i // 2).to(tl.pointer_type(tl.float32), bitcast=True), 1.0, mask=m)


# 6: atomics of one width: both are atomic, no race
both("masked_atomics", masked_atomics, (3,), lambda V: dict(out=T("i32", 64), aux=T("i32", 100), n=90, V=V, B=32), safe=(0, 2, 3, 5, 6), races=(1, 4))


@triton.jit
def big_index(x, out, stride, V: tl.constexpr, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, B).to(tl.int64)
    if V == 0:
        tl.store(out + r * stride + c, tl.load(x + c))
    elif V == 1:
        tl.store(out + (r * stride + c) // 2, tl.load(x + c))
    elif V == 2:
        tl.store(out + (r * stride + c) % (1 << 31), tl.load(x + c))
    elif V == 3:
        tl.store(out + (r * stride).to(tl.int32).to(tl.int64) + c, tl.load(x + c))


# 2: rows at multiples of 2^30: rows 0 and 2 coincide modulo 2^31
both("big_index", big_index, (3,), lambda V: dict(x=T("f16", 64), out=T("f16", 3, 64, strides=(1 << 30, 1)), stride=1 << 30, V=V, B=64), safe=(0,), races=(1, 2))
