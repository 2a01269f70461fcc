"""Kernels as they are drafted in a hurry, for each the ways in which it goes wrong: masks, strides, tails, atomics and barriers that are missing, updates
in place. Each variant V of a kernel is one launch; what is right and what is wrong was written down before it was asked for."""
from cases import T, case, load_triton
triton, tl = load_triton()


def both(name, fn, grid, args, safe=(0,), races=(1,), nospec=(), ok="ok", bad="races"):
    """One launch for each variant of the kernel: V in `safe` is right, V in `races` is not."""
    for v in safe:
        case(f"{name}_{v}" if v else name, fn, ok, grid, args(V=v), nospec=nospec)
    for v in races:
        case(f"{name}_wrong{v}", fn, bad, grid, args(V=v), nospec=nospec)


@triton.jit
def shift_inplace(x_ptr, n_elements, V: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    if V == 0:
        x = tl.load(x_ptr + offsets, mask=mask)
        tl.store(x_ptr + offsets, x * x, mask=mask)
    elif V == 1:
        x = tl.load(x_ptr + offsets + 1, mask=offsets + 1 < n_elements)
        tl.store(x_ptr + offsets, x, mask=mask)
    elif V == 2:
        x = tl.load(x_ptr + n_elements - 1 - offsets, mask=mask)
        tl.store(x_ptr + offsets, x, mask=mask)
    elif V == 3:
        x = tl.load(x_ptr + (offsets ^ 1), mask=mask)
        tl.store(x_ptr + offsets, x, mask=mask)
    elif V == 4:
        x = tl.load(x_ptr + (offsets ^ 1), mask=mask)
        tl.debug_barrier()
        tl.store(x_ptr + offsets, x, mask=mask)
    elif V == 5:
        x = tl.load(x_ptr + (offsets ^ 64), mask=mask)
        tl.debug_barrier()
        tl.store(x_ptr + offsets, x, mask=mask)


both("shift_inplace", shift_inplace, (4,), lambda V: dict(x_ptr=T("f32", 250), n_elements=250, V=V, BLOCK_SIZE=64), safe=(0, 4), races=(1, 2, 3, 5))


@triton.jit
def histogram_naive(x_ptr, hist_ptr, n, nbins, V: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0)
    if V == 0:
        tl.atomic_add(hist_ptr + x, 1, mask=mask)
    elif V == 1:
        c = tl.load(hist_ptr + x, mask=mask, other=0)
        tl.store(hist_ptr + x, c + 1, mask=mask)
    elif V == 2:
        h = tl.histogram(x, 16)
        tl.store(hist_ptr + tl.arange(0, 16), h)
    elif V == 3:
        h = tl.histogram(x, 16)
        tl.atomic_add(hist_ptr + tl.arange(0, 16), h)
    elif V == 4:
        h = tl.histogram(x, 16)
        tl.store(hist_ptr + pid * 16 + tl.arange(0, 16), h)
    elif V == 5:
        h = tl.histogram(x, 16)
        tl.store(hist_ptr + pid * nbins + tl.arange(0, 16), h)


def hist_args(V, vals=True):
    return dict(x_ptr=T("i32", 100, values=[(7 * i * i + i) % 10 for i in range(100)] if vals else None), hist_ptr=T("i32", 64), n=100, nbins=10, V=V, BLOCK=32)


both("histogram", histogram_naive, (4,), hist_args, safe=(0, 3, 4), races=(1, 2, 5))
both("histogram_any", histogram_naive, (4,), lambda V: hist_args(V, False), safe=(0, 3, 4), races=(2, 5))


@triton.jit
def argmax_across(x_ptr, out_val, out_idx, n, V: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=-float("inf"))
    m, i = tl.max(x, axis=0, return_indices=True)
    if V == 0:
        tl.store(out_val + pid, m)
        tl.store(out_idx + pid, pid * BLOCK + i)
    elif V == 1:
        cur = tl.load(out_val)
        if m > cur:
            tl.store(out_val, m)
            tl.store(out_idx, pid * BLOCK + i)
    elif V == 2:
        tl.atomic_max(out_val, m)
    elif V == 3:
        old = tl.atomic_max(out_val, m)
        if m > old:
            tl.store(out_idx, pid * BLOCK + i)
    elif V == 4:
        tl.store(out_val + pid // 2, m)
    elif V == 5:
        tl.store(out_val + pid, m)
        tl.store(out_val + pid + 1, m)


both("argmax_across", argmax_across, (5,), lambda V: dict(x_ptr=T("f32", 300), out_val=T("f32", 6), out_idx=T("i32", 6), n=300, V=V, BLOCK=64), safe=(0, 2),
     races=(1, 3, 4, 5), bad="races|unsupported never=ok")


@triton.jit
def softmax_two_pass(x_ptr, out_ptr, row_stride, n_cols, V: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    m = -float("inf")
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * row_stride + cols, mask=cols < n_cols, other=-float("inf"))
        m = tl.maximum(m, tl.max(x, axis=0))
    s = 0.0
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * row_stride + cols, mask=cols < n_cols, other=-float("inf"))
        e = tl.exp(x - m)
        if V == 3:
            tl.store(out_ptr + row * row_stride + cols, e, mask=cols < n_cols)
        s += tl.sum(e, axis=0)
    if V == 4:
        tl.debug_barrier()
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        if V == 3:
            x = tl.load(out_ptr + row * row_stride + cols, mask=cols < n_cols, other=0.0)
        else:
            x = tl.exp(tl.load(x_ptr + row * row_stride + cols, mask=cols < n_cols, other=-float("inf")) - m)
        if V == 1:
            tl.store(out_ptr + row * n_cols + start + tl.arange(0, BLOCK), x / s)
        elif V == 2 or V == 4:
            tl.store(x_ptr + row * row_stride + cols, x / s, mask=cols < n_cols)
        elif V == 5:
            tl.store(out_ptr + row * (n_cols - 1) + cols, x / s, mask=cols < n_cols)
        else:
            tl.store(out_ptr + row * row_stride + cols, x / s, mask=cols < n_cols)


both("softmax_two_pass", softmax_two_pass, (6,), lambda V: dict(x_ptr=T("f32", 6, 100), out_ptr=T("f32", 6, 100), row_stride=100, n_cols=100, V=V, BLOCK=32), safe=(0, 4),
     races=(1, 2, 3, 5))


@triton.jit
def transpose_inplace(a_ptr, N, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0)
    j = tl.program_id(1)
    r = i * B + tl.arange(0, B)
    c = j * B + tl.arange(0, B)
    m = (r[:, None] < N) & (c[None, :] < N)
    if V == 0:
        if i < j:
            x = tl.load(a_ptr + r[:, None] * N + c[None, :], mask=m)
            y = tl.load(a_ptr + c[:, None] * N + r[None, :], mask=(c[:, None] < N) & (r[None, :] < N))
            tl.store(a_ptr + c[:, None] * N + r[None, :], tl.trans(x), mask=(c[:, None] < N) & (r[None, :] < N))
            tl.store(a_ptr + r[:, None] * N + c[None, :], tl.trans(y), mask=m)
    elif V == 1:
        x = tl.load(a_ptr + r[:, None] * N + c[None, :], mask=m)
        tl.store(a_ptr + c[:, None] * N + r[None, :], tl.trans(x), mask=(c[:, None] < N) & (r[None, :] < N))
    elif V == 2:
        if i <= j:
            x = tl.load(a_ptr + r[:, None] * N + c[None, :], mask=m)
            y = tl.load(a_ptr + c[:, None] * N + r[None, :], mask=(c[:, None] < N) & (r[None, :] < N))
            tl.debug_barrier()
            tl.store(a_ptr + c[:, None] * N + r[None, :], tl.trans(x), mask=(c[:, None] < N) & (r[None, :] < N))
            tl.store(a_ptr + r[:, None] * N + c[None, :], tl.trans(y), mask=m)
    elif V == 3:
        if i < j:
            x = tl.load(a_ptr + r[:, None] * N + c[None, :], mask=m)
            y = tl.load(a_ptr + c[:, None] * N + r[None, :], mask=(c[:, None] < N) & (r[None, :] < N))
            tl.debug_barrier()
            tl.store(a_ptr + c[:, None] * N + r[None, :], tl.trans(x), mask=(c[:, None] < N) & (r[None, :] < N))
            tl.store(a_ptr + r[:, None] * N + c[None, :], tl.trans(y), mask=m)
    elif V == 4:
        x = tl.load(a_ptr + r[:, None] * N + c[None, :], mask=m & (r[:, None] < c[None, :]))
        y = tl.load(a_ptr + c[None, :] * N + r[:, None], mask=m & (r[:, None] < c[None, :]))
        tl.store(a_ptr + c[None, :] * N + r[:, None], x, mask=m & (r[:, None] < c[None, :]))
        tl.store(a_ptr + r[:, None] * N + c[None, :], y, mask=m & (r[:, None] < c[None, :]))
    elif V == 5:
        up = m & (r[:, None] < c[None, :])
        x = tl.load(a_ptr + r[:, None] * N + c[None, :], mask=up)
        y = tl.load(a_ptr + c[None, :] * N + r[:, None], mask=up)
        tl.debug_barrier()
        tl.store(a_ptr + c[None, :] * N + r[:, None], x, mask=up)
        tl.store(a_ptr + r[:, None] * N + c[None, :], y, mask=up)


# 0: the diagonal is left out, but in-tile transposition of an off-diagonal pair hands elements to other lanes: no barrier, a race of threads.
# 2: on the diagonal both stores write the same elements: two stores of one place, unordered.
# 4: the two loads are of other places than their own stores by value, each store waits for the other's load only
both("transpose_inplace", transpose_inplace, (3, 3), lambda V: dict(a_ptr=T("f32", 40, 40), N=40, V=V, B=16), safe=(3, 5), races=(0, 1, 2, 4))


@triton.jit
def prefix_inplace(x_ptr, n, V: tl.constexpr, B: tl.constexpr):
    """Hillis-Steele in global memory."""
    pid = tl.program_id(0)
    i = tl.arange(0, B)
    base = x_ptr + pid * B
    for k in tl.static_range(5):
        d = 1 << k
        a = tl.load(base + i, mask=i < B)
        b = tl.load(base + i - d, mask=i >= d, other=0.0)
        if V != 1:
            tl.debug_barrier()
        if V == 3:
            tl.store(base + i - d, a + b, mask=i >= d)
        else:
            tl.store(base + i, a + b, mask=i >= d)
        if V != 2:
            tl.debug_barrier()


both("prefix_inplace", prefix_inplace, (3,), lambda V: dict(x_ptr=T("f32", 96), n=96, V=V, B=32), safe=(0, 3), races=(1, 2))


@triton.jit
def conv2d_im2col(x_ptr, col_ptr, C, H, W, OH, OW, V: tl.constexpr, KH: tl.constexpr, KW: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    c = tl.program_id(1)
    p = pid * B + tl.arange(0, B)
    oh = p // OW
    ow = p % OW
    mask = p < OH * OW
    for kh in range(KH):
        for kw in range(KW):
            v = tl.load(x_ptr + c * H * W + (oh + kh) * W + ow + kw, mask=mask, other=0.0)
            if V == 0:
                row = (c * KH + kh) * KW + kw
            elif V == 1:
                row = c * KH + kh * KW + kw
            elif V == 2:
                row = (c * KH + kh) * KW + kh
            else:
                row = (kh * KW + kw) * C + c
            tl.store(col_ptr + row * (OH * OW) + p, v, mask=mask)


both("conv2d_im2col", conv2d_im2col, (3, 4), lambda V: dict(x_ptr=T("f32", 4, 9, 10), col_ptr=T("f32", 36, 56), C=4, H=9, W=10, OH=7, OW=8, V=V, KH=3, KW=3, B=32),
     safe=(0, 2, 3), races=(1,))


@triton.jit
def depthwise_conv_bwd_input(dy_ptr, w_ptr, dx_ptr, C, L, V: tl.constexpr, K: tl.constexpr, B: tl.constexpr):
    c = tl.program_id(0)
    pid = tl.program_id(1)
    l = pid * B + tl.arange(0, B)
    if V == 0:
        acc = tl.zeros((B,), tl.float32)
        for k in range(K):
            g = tl.load(dy_ptr + c * L + l - k, mask=(l - k >= 0) & (l < L), other=0.0)
            acc += g * tl.load(w_ptr + c * K + k)
        tl.store(dx_ptr + c * L + l, acc, mask=l < L)
    else:
        g = tl.load(dy_ptr + c * L + l, mask=l < L, other=0.0)
        for k in range(K):
            w = tl.load(w_ptr + c * K + k)
            if V == 1:
                old = tl.load(dx_ptr + c * L + l + k, mask=l + k < L, other=0.0)
                tl.store(dx_ptr + c * L + l + k, old + g * w, mask=l + k < L)
            elif V == 2:
                tl.atomic_add(dx_ptr + c * L + l + k, g * w, mask=l + k < L)
            elif V == 3:
                tl.atomic_add(dx_ptr + c * L + l + k, g * w, mask=l + k < L)
                tl.store(dy_ptr + c * L + l, g * 0.0, mask=l < L)


both("depthwise_conv_bwd", depthwise_conv_bwd_input, (3, 4), lambda V: dict(dy_ptr=T("f32", 3, 50), w_ptr=T("f32", 3, 5), dx_ptr=T("f32", 3, 50), C=3, L=50, V=V, K=5, B=16),
     safe=(0, 2, 3), races=(1,))


@triton.jit
def avgpool_overlap_bwd(dy_ptr, dx_ptr, H, W, OH, OW, V: tl.constexpr, B: tl.constexpr):
    """Stride 2, window 3: windows share a row and a column; with window 2 they do not."""
    p = tl.program_id(0) * B + tl.arange(0, B)
    oh = p // OW
    ow = p % OW
    mask = p < OH * OW
    g = tl.load(dy_ptr + p, mask=mask, other=0.0)
    KW: tl.constexpr = 2 if V == 0 else 3
    for i in tl.static_range(KW):
        for j in tl.static_range(KW):
            q = dx_ptr + (oh * 2 + i) * W + ow * 2 + j
            if V == 2:
                tl.atomic_add(q, g / 9, mask=mask)
            else:
                tl.store(q, g / 9, mask=mask)


both("avgpool_overlap_bwd", avgpool_overlap_bwd, (2,), lambda V: dict(dy_ptr=T("f32", 6, 7), dx_ptr=T("f32", 13, 15), H=13, W=15, OH=6, OW=7, V=V, B=32), safe=(0, 2))


@triton.jit
def kv_append(k_ptr, cache_ptr, slot_ptr, pos_ptr, n_tok, max_len, V: tl.constexpr, D: tl.constexpr):
    t = tl.program_id(0)
    d = tl.arange(0, D)
    b = tl.load(slot_ptr + t)
    p = tl.load(pos_ptr + t)
    if V == 3:
        p = tl.minimum(p, max_len - 2)
    if V == 1:
        dst = cache_ptr + b * max_len + p * D
    elif V == 2:
        dst = cache_ptr + (p * max_len + b) * D
    else:
        dst = cache_ptr + (b * max_len + p) * D
    tl.store(dst + d, tl.load(k_ptr + t * D + d), mask=b >= 0)


def kv_args(V, slot=(0, 0, 1, 1, 2, -1), pos=(3, 4, 3, 4, 7, 0)):
    return dict(k_ptr=T("f16", 6, 16), cache_ptr=T("f16", 1024), slot_ptr=T("i32", 6, values=list(slot)), pos_ptr=T("i64", 6, values=list(pos)), n_tok=6, max_len=8, V=V,
                D=16)


both("kv_append", kv_append, (6,), kv_args, safe=(0, 2, 3), races=(1,))
case("kv_append_clamped", kv_append, "races", (6,), kv_args(3, pos=(6, 7, 3, 4, 7, 0)))
case("kv_append_two_pads", kv_append, "ok", (6,), kv_args(0, slot=(0, 0, 1, 1, -1, -1)))
case("kv_append_same", kv_append, "races", (6,), kv_args(0, pos=(3, 3, 3, 4, 7, 0)))


@triton.jit
def moe_scatter(x_ptr, out_ptr, sorted_ids_ptr, w_ptr, H, top_k, n_valid, V: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_H: tl.constexpr):
    pm = tl.program_id(0)
    ph = tl.program_id(1)
    m = pm * BLOCK_M + tl.arange(0, BLOCK_M)
    ids = tl.load(sorted_ids_ptr + m)
    ok = ids < n_valid
    h = ph * BLOCK_H + tl.arange(0, BLOCK_H)
    hm = h < H
    x = tl.load(x_ptr + m[:, None] * H + h[None, :], mask=hm[None, :], other=0.0)
    w = tl.load(w_ptr + ids, mask=ok, other=0.0)
    if V == 0:
        tl.store(out_ptr + ids[:, None] * H + h[None, :], x * w[:, None], mask=ok[:, None] & hm[None, :])
    elif V == 1:
        tl.store(out_ptr + (ids // top_k)[:, None] * H + h[None, :], x * w[:, None], mask=ok[:, None] & hm[None, :])
    elif V == 2:
        tl.atomic_add(out_ptr + (ids // top_k)[:, None] * H + h[None, :], x * w[:, None], mask=ok[:, None] & hm[None, :])
    elif V == 3:
        tl.store(out_ptr + ids[:, None] * H + h[None, :], x * w[:, None], mask=hm[None, :])
    elif V == 4:
        tl.store(out_ptr + ids[:, None] * H + h[None, :], x * w[:, None], mask=ok[:, None])


IDS = [3, 7, 12, 12, 0, 5, 9, 12, 1, 2, 4, 6, 8, 10, 11, 12]
both("moe_scatter", moe_scatter, (4, 2), lambda V: dict(x_ptr=T("f32", 16, 24), out_ptr=T("f32", 14, 24), sorted_ids_ptr=T("i32", 16, values=IDS), w_ptr=T("f32", 13), H=24,
     top_k=2, n_valid=12, V=V, BLOCK_M=4, BLOCK_H=16), safe=(0, 2), races=(1, 3, 4))


@triton.jit
def embedding_bwd(idx_ptr, dy_ptr, dw_ptr, n, D, V: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr):
    pn = tl.program_id(0)
    pd = tl.program_id(1)
    r = pn * BN + tl.arange(0, BN)
    d = pd * BD + tl.arange(0, BD)
    i = tl.load(idx_ptr + r, mask=r < n, other=0)
    g = tl.load(dy_ptr + r[:, None] * D + d[None, :], mask=(r[:, None] < n) & (d[None, :] < D), other=0.0)
    m = (r[:, None] < n) & (d[None, :] < D)
    if V == 0:
        tl.atomic_add(dw_ptr + i[:, None] * D + d[None, :], g, mask=m)
    elif V == 1:
        o = tl.load(dw_ptr + i[:, None] * D + d[None, :], mask=m, other=0.0)
        tl.store(dw_ptr + i[:, None] * D + d[None, :], o + g, mask=m)
    elif V == 2:
        tl.atomic_add(dw_ptr + i[:, None] * D + d[None, :], g, mask=m, scope="cta")


both("embedding_bwd", embedding_bwd, (3, 2), lambda V: dict(idx_ptr=T("i64", 20, values=[i * i % 11 for i in range(20)]), dy_ptr=T("f32", 20, 20), dw_ptr=T("f32", 11, 20), n=20,
     D=20, V=V, BN=8, BD=16), safe=(0,), races=(1, 2))


@triton.jit
def cross_entropy_inplace(x_ptr, y_ptr, loss_ptr, stride, n_cols, ignore, V: tl.constexpr, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    y = tl.load(y_ptr + row)
    x_ptr += row * stride
    if y == ignore:
        for i in range(0, n_cols, B):
            o = i + tl.arange(0, B)
            tl.store(x_ptr + o, 0.0, mask=o < n_cols)
        return
    m = float("-inf")
    d = 0.0
    xy = tl.load(x_ptr + y)
    for i in range(0, n_cols, B):
        o = i + tl.arange(0, B)
        x = tl.load(x_ptr + o, mask=o < n_cols, other=float("-inf"))
        bm = tl.max(x)
        mn = tl.maximum(m, bm)
        d = d * tl.exp(m - mn) + tl.sum(tl.exp(x - mn))
        m = mn
    if V != 1:
        tl.debug_barrier()
    for i in range(0, n_cols, B):
        o = i + tl.arange(0, B)
        x = tl.load(x_ptr + o, mask=o < n_cols, other=float("-inf"))
        p = tl.exp(x - m) / d
        p = tl.where(o == y, p - 1.0, p)
        if V == 2:
            tl.store(x_ptr + o, p, mask=o <= n_cols)
        else:
            tl.store(x_ptr + o, p, mask=o < n_cols)
    if V == 3:
        xy = tl.load(x_ptr + y)
    tl.store(loss_ptr + row, m + tl.log(d) - xy)


both("cross_entropy_inplace", cross_entropy_inplace, (5,), lambda V: dict(x_ptr=T("f32", 5, 70), y_ptr=T("i64", 5, values=[3, 69, -100, 0, 3]), loss_ptr=T("f32", 5), stride=70, n_cols=70, ignore=-100, V=V,
     B=32), safe=(0,), races=(1, 2, 3), bad="races|unsupported never=ok")


@triton.jit
def batchnorm_running(x_ptr, y_ptr, rm_ptr, rv_ptr, N, C, L, momentum, V: tl.constexpr, B: tl.constexpr):
    c = tl.program_id(0)
    if V == 1:
        n0 = tl.program_id(1)
    s = tl.zeros((B,), tl.float32)
    q = tl.zeros((B,), tl.float32)
    for n in range(0, N):
        for i in range(0, L, B):
            o = i + tl.arange(0, B)
            x = tl.load(x_ptr + (n * C + c) * L + o, mask=o < L, other=0.0)
            s += x
            q += x * x
    mean = tl.sum(s) / (N * L)
    var = tl.sum(q) / (N * L) - mean * mean
    rm = tl.load(rm_ptr + c)
    rv = tl.load(rv_ptr + c)
    tl.store(rm_ptr + c, rm * 0.9 + mean * 0.1)
    if V == 2:
        tl.store(rm_ptr + c + 1, rv * 0.9 + var * 0.1)
    else:
        tl.store(rv_ptr + c, rv * 0.9 + var * 0.1)
    for n in range(0, N):
        for i in range(0, L, B):
            o = i + tl.arange(0, B)
            x = tl.load(x_ptr + (n * C + c) * L + o, mask=o < L, other=0.0)
            if V == 3:
                tl.store(y_ptr + (n * C + c) * L + i + tl.arange(0, B), (x - mean) * tl.rsqrt(var + 1e-5))
            else:
                tl.store(y_ptr + (n * C + c) * L + o, (x - mean) * tl.rsqrt(var + 1e-5), mask=o < L)


BN = lambda V: dict(x_ptr=T("f32", 3, 5, 50), y_ptr=T("f32", 3, 5, 50), rm_ptr=T("f32", 6), rv_ptr=T("f32", 6), N=3, C=5, L=50, momentum=1, V=V, B=32)
both("batchnorm_running", batchnorm_running, (5,), BN, safe=(0,), races=(2, 3))
case("batchnorm_running_split", batchnorm_running, "races", (5, 2), BN(1))
case("batchnorm_running_grid_y", batchnorm_running, "races", (5, 2), BN(0))


@triton.jit
def dropout_seeded(x_ptr, out_ptr, seeds_ptr, n, p, V: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    o = pid * B + tl.arange(0, B)
    seed = tl.load(seeds_ptr + 1)
    r = tl.rand(seed, o)
    keep = r > 0.5
    x = tl.load(x_ptr + o, mask=o < n)
    if V == 0:
        tl.store(out_ptr + o, tl.where(keep, x * 2, 0.0), mask=o < n)
    elif V == 1:
        tl.store(out_ptr + tl.where(keep, o, o + 1), x * 2, mask=o < n)
    elif V == 2:
        tl.store(out_ptr + o, x * 2, mask=(o < n) & keep)
    elif V == 3:
        tl.store(out_ptr + o // 2, x * 2, mask=(o < n) & keep)
    elif V == 4:
        k = tl.randint(seed, o) % 64
        tl.store(out_ptr + k, x * 2, mask=(o < n) & keep)


both("dropout_seeded", dropout_seeded, (3,), lambda V: dict(x_ptr=T("f32", 150), out_ptr=T("f32", 160), seeds_ptr=T("i64", 4), n=150, p=1, V=V, B=64), safe=(0, 2),
     races=(1, 3, 4), bad="races|unsupported never=ok")


@triton.jit
def quant_pack_int4(x_ptr, q_ptr, s_ptr, n_rows, n_cols, V: tl.constexpr, G: tl.constexpr):
    row = tl.program_id(0)
    g = tl.program_id(1)
    i = tl.arange(0, G // 2)
    base = row * n_cols + g * G
    lo = tl.load(x_ptr + base + 2 * i)
    hi = tl.load(x_ptr + base + 2 * i + 1)
    s = tl.maximum(tl.max(tl.abs(lo)), tl.max(tl.abs(hi))) / 7.0
    ql = (lo / s + 8.5).to(tl.int32) & 15
    qh = (hi / s + 8.5).to(tl.int32) & 15
    if V == 0:
        tl.store(q_ptr + (base // 2) + i, (ql | (qh << 4)).to(tl.uint8))
        tl.store(s_ptr + row * (n_cols // G) + g, s)
    elif V == 1:
        tl.store(q_ptr + (base // 2) + i, ql.to(tl.uint8))
        tl.store(q_ptr + (base // 2) + i + 1, (qh << 4).to(tl.uint8))
    elif V == 2:
        tl.store(q_ptr + (base // 2) + i, (ql | (qh << 4)).to(tl.uint8))
        tl.store(s_ptr + row + g, s)
    elif V == 3:
        tl.store((q_ptr + (base // 2)).to(tl.pointer_type(tl.int16)) + i, (ql | (qh << 4)).to(tl.int16))
    elif V == 4:
        w = tl.load(q_ptr + base // 2 + i).to(tl.int32)
        tl.store(q_ptr + base // 2 + i, ((w & 0xF0) | ql).to(tl.uint8))
        w2 = tl.load(q_ptr + base // 2 + i).to(tl.int32)
        tl.store(q_ptr + base // 2 + i, ((w2 & 0x0F) | (qh << 4)).to(tl.uint8))


both("quant_pack_int4", quant_pack_int4, (4, 3), lambda V: dict(x_ptr=T("f32", 4, 96), q_ptr=T("u8", 4, 64), s_ptr=T("f32", 4, 3), n_rows=4, n_cols=96, V=V, G=32), safe=(0,),
     races=(1, 2, 3, 4))


@triton.jit
def fp8_block_scale(x_ptr, y_ptr, s_ptr, M, N, V: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    n = tl.cdiv(N, BN)
    om = pm * BM + tl.arange(0, BM)
    on = pn * BN + tl.arange(0, BN)
    m = (om[:, None] < M) & (on[None, :] < N)
    x = tl.load(x_ptr + om[:, None] * N + on[None, :], mask=m, other=0.0)
    s = tl.max(tl.abs(x)) / 448.0
    y = (x / s).to(y_ptr.dtype.element_ty)
    tl.store(y_ptr + om[:, None] * N + on[None, :], y, mask=m)
    if V == 0:
        tl.store(s_ptr + pm * n + pn, s)
    elif V == 1:
        tl.store(s_ptr + pm * (N // BN) + pn, s)
    elif V == 2:
        tl.store(s_ptr + pm + pn * n, s)
    elif V == 3:
        tl.store(s_ptr + pm + pn * tl.cdiv(M, BM), s)


both("fp8_block_scale", fp8_block_scale, (5, 3), lambda V: dict(x_ptr=T("f32", 70, 40), y_ptr=T("i8", 70, 40), s_ptr=T("f32", 20), M=70, N=40, V=V, BM=16, BN=16), safe=(0, 3),
     races=(1, 2))


@triton.jit
def compare_exchange(x_ptr, n, stage, step, V: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    t = pid * B + tl.arange(0, B)
    j = 1 << step
    if V == 0 or V == 3:
        lo = ((t >> step) << (step + 1)) | (t & (j - 1))
    elif V == 1:
        lo = ((t >> step) << step) | (t & (j - 1))
    else:
        lo = t
    hi = lo + j
    if V == 3:
        hi = lo ^ (j * 2)
    m = hi < n
    a = tl.load(x_ptr + lo, mask=m)
    b = tl.load(x_ptr + hi, mask=m)
    up = ((lo >> stage) & 1) == 0
    sw = (a > b) == up
    tl.store(x_ptr + lo, tl.where(sw, b, a), mask=m)
    tl.store(x_ptr + hi, tl.where(sw, a, b), mask=m)


both("compare_exchange", compare_exchange, (2,), lambda V: dict(x_ptr=T("f32", 256), n=256, stage=4, step=3, V=V, B=64), safe=(0,), races=(1, 2, 3))
both("compare_exchange_step0", compare_exchange, (2,), lambda V: dict(x_ptr=T("f32", 256), n=256, stage=4, step=0, V=V, B=64), safe=(0,), races=(1, 2, 3))


@triton.jit
def fft_stage(re_ptr, im_ptr, n, half, V: tl.constexpr, B: tl.constexpr):
    t = tl.program_id(0) * B + tl.arange(0, B)
    g = t // half
    k = t % half
    i = g * half * 2 + k
    j = i + half
    if V == 1:
        i = g * half + k
        j = i + half
    m = t < n // 2
    ar = tl.load(re_ptr + i, mask=m)
    ai = tl.load(im_ptr + i, mask=m)
    br = tl.load(re_ptr + j, mask=m)
    bi = tl.load(im_ptr + j, mask=m)
    th = -3.14159265 * k.to(tl.float32) / half.to(tl.float32)
    wr = tl.cos(th)
    wi = tl.sin(th)
    tr = br * wr - bi * wi
    ti = br * wi + bi * wr
    tl.store(re_ptr + i, ar + tr, mask=m)
    tl.store(im_ptr + i, ai + ti, mask=m)
    tl.store(re_ptr + j, ar - tr, mask=m)
    if V == 2:
        tl.store(im_ptr + j + 1, ai - ti, mask=m)
    else:
        tl.store(im_ptr + j, ai - ti, mask=m)


both("fft_stage", fft_stage, (4,), lambda V: dict(re_ptr=T("f32", 256), im_ptr=T("f32", 256), n=256, half=8, V=V, B=32), safe=(0,), races=(1, 2))


@triton.jit
def stencil_pingpong(a_ptr, b_ptr, n, steps, V: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    m = (i > 0) & (i < n - 1)
    for s in range(steps):
        if s % 2 == 0:
            v = tl.load(a_ptr + i - 1, mask=m) + tl.load(a_ptr + i + 1, mask=m)
            tl.store(b_ptr + i, v, mask=m)
        else:
            v = tl.load(b_ptr + i - 1, mask=m) + tl.load(b_ptr + i + 1, mask=m)
            tl.store(a_ptr + i, v, mask=m)
        if V == 1:
            tl.debug_barrier()


case("stencil_pingpong_one_program", stencil_pingpong, "ok", (1,), dict(a_ptr=T("f32", 100), b_ptr=T("f32", 100), n=100, steps=4, V=1, B=128))
case("stencil_pingpong_nobar", stencil_pingpong, "races", (1,), dict(a_ptr=T("f32", 100), b_ptr=T("f32", 100), n=100, steps=4, V=0, B=128))
case("stencil_pingpong_one_step", stencil_pingpong, "ok", (4,), dict(a_ptr=T("f32", 100), b_ptr=T("f32", 100), n=100, steps=1, V=0, B=32), nospec=("steps",))
case("stencil_pingpong_programs", stencil_pingpong, "races", (4,), dict(a_ptr=T("f32", 100), b_ptr=T("f32", 100), n=100, steps=2, V=1, B=32))
