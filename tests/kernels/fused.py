"""Larger fused kernels: optimiser step, backward passes, direct convolution, scans over time, resampling."""
import triton
import triton.language as tl

from registry import T, case, cdiv


@triton.jit
def adamw(p, g, m, v, n, lr, beta1, beta2, eps, decay, step, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n
    grad = tl.load(g + i, mask=inside, other=0.0).to(tl.float32)
    w = tl.load(p + i, mask=inside, other=0.0)
    m1 = tl.load(m + i, mask=inside, other=0.0)
    v1 = tl.load(v + i, mask=inside, other=0.0)  # @V
    w = w * (1.0 - lr * decay)
    m1 = beta1 * m1 + (1.0 - beta1) * grad
    v1 = beta2 * v1 + (1.0 - beta2) * grad * grad
    c1 = 1.0 - tl.exp(step * tl.log(beta1))
    c2 = 1.0 - tl.exp(step * tl.log(beta2))
    w = w - lr * (m1 / c1) / (tl.sqrt(v1 / c2) + eps)
    tl.store(p + i, w, mask=inside)
    tl.store(m + i, m1, mask=inside)
    tl.store(v + i, v1, mask=inside)  # @S


@triton.jit
def adamw_race(p, g, m, v, n, lr, beta1, beta2, eps, decay, step, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n
    grad = tl.load(g + i, mask=inside, other=0.0).to(tl.float32)
    w = tl.load(p + i, mask=inside, other=0.0)
    m1 = tl.load(m + i, mask=inside, other=0.0)
    v1 = tl.load(v + i, mask=inside, other=0.0)  # @V
    w = w * (1.0 - lr * decay)
    m1 = beta1 * m1 + (1.0 - beta1) * grad
    v1 = beta2 * v1 + (1.0 - beta2) * grad * grad
    c1 = 1.0 - tl.exp(step * tl.log(beta1))
    c2 = 1.0 - tl.exp(step * tl.log(beta2))
    w = w - lr * (m1 / c1) / (tl.sqrt(v1 / c2) + eps)
    tl.store(p + i, w, mask=inside)
    tl.store(m + i, m1, mask=inside)
    tl.store(v + (i ^ 4), v1, mask=inside)  # @S


case(adamw, adamw_race,
     lambda n, B: ((cdiv(n, B),), dict(p=T("f32", n), g=T("bf16", n), m=T("f32", n), v=T("f32", cdiv(n, B) * B),
     lr=1e-3, beta1=0.9, beta2=0.99, eps=1e-8, decay=0.01, step=7)),
     big=dict(n=1048583, B=1024), small=dict(n=61, B=16))


@triton.jit
def layernorm_backward(dy, x, w, mean, rstd, dx, dw, db, stride, m, n, ROWS: tl.constexpr, B: tl.constexpr):
    group = tl.program_id(0)
    cols = tl.arange(0, B)
    live = cols < n
    weight = tl.load(w + cols, mask=live, other=0.0)
    acc_w = tl.zeros((B,), tl.float32)
    acc_b = tl.zeros((B,), tl.float32)
    for row in range(group * ROWS, tl.minimum((group + 1) * ROWS, m)):
        g = tl.load(dy + row * stride + cols, mask=live, other=0.0).to(tl.float32)
        v = tl.load(x + row * stride + cols, mask=live, other=0.0).to(tl.float32)
        mu = tl.load(mean + row)
        inv = tl.load(rstd + row)
        xhat = tl.where(live, (v - mu) * inv, 0.0)
        wg = weight * g
        c1 = tl.sum(xhat * wg, axis=0) / n
        c2 = tl.sum(wg, axis=0) / n
        tl.store(dx + row * stride + cols, ((wg - (xhat * c1 + c2)) * inv).to(tl.float16), mask=live)  # @X
        acc_w += g * xhat
        acc_b += g
    tl.atomic_add(dw + cols, acc_w, mask=live, sem="relaxed")
    tl.atomic_add(db + cols, acc_b, mask=live, sem="relaxed")


@triton.jit
def layernorm_backward_race(dy, x, w, mean, rstd, dx, dw, db, stride, m, n, ROWS: tl.constexpr, B: tl.constexpr):
    group = tl.program_id(0)
    cols = tl.arange(0, B)
    live = cols < n
    weight = tl.load(w + cols, mask=live, other=0.0)
    acc_w = tl.zeros((B,), tl.float32)
    acc_b = tl.zeros((B,), tl.float32)
    for row in range(group * ROWS, tl.minimum((group + 1) * ROWS, m)):
        g = tl.load(dy + row * stride + cols, mask=live, other=0.0).to(tl.float32)
        v = tl.load(x + row * stride + cols, mask=live, other=0.0).to(tl.float32)
        mu = tl.load(mean + row)
        inv = tl.load(rstd + row)
        xhat = tl.where(live, (v - mu) * inv, 0.0)
        wg = weight * g
        c1 = tl.sum(xhat * wg, axis=0) / n
        c2 = tl.sum(wg, axis=0) / n
        tl.store(dx + (row // 5) * stride + cols, ((wg - (xhat * c1 + c2)) * inv).to(tl.float16), mask=live)  # @X
        acc_w += g * xhat
        acc_b += g
    tl.atomic_add(dw + cols, acc_w, mask=live, sem="relaxed")
    tl.atomic_add(db + cols, acc_b, mask=live, sem="relaxed")


case(layernorm_backward, layernorm_backward_race,
     lambda m, n, ROWS, B: ((cdiv(m, ROWS),), dict(dy=T("f16", m, n), x=T("f16", m, n), w=T("f32", n), mean=T("f32", m), rstd=T("f32", m), dx=T("f16", m, n), dw=T("f32", n), db=T("f32", n), stride=n)),
     big=dict(m=4098, n=500, ROWS=4, B=512), small=dict(m=13, n=13, ROWS=4, B=16))


@triton.jit
def attention_backward_kv(q, k, v, do, lse, delta, dk, dv, stride_h, length, scale, BM: tl.constexpr, BN: tl.constexpr,
                          D: tl.constexpr):
    head = tl.program_id(1)
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    d = tl.arange(0, D)
    base = head * stride_h
    at_kv = cols[:, None] * D + d[None, :]
    tk = tl.load(k + base + at_kv, mask=cols[:, None] < length, other=0.0)
    tv = tl.load(v + base + at_kv, mask=cols[:, None] < length, other=0.0)
    acc_k = tl.zeros((BN, D), tl.float32)
    acc_v = tl.zeros((BN, D), tl.float32)
    for start in range(tl.program_id(0) * BN, length, BM):
        rows = start + tl.arange(0, BM)
        at_q = rows[:, None] * D + d[None, :]
        tq = tl.load(q + base + at_q, mask=rows[:, None] < length, other=0.0)
        tdo = tl.load(do + base + at_q, mask=rows[:, None] < length, other=0.0)
        l = tl.load(lse + head * length + rows, mask=rows < length, other=0.0)
        dl = tl.load(delta + head * length + rows, mask=rows < length, other=0.0)
        s = tl.dot(tk, tl.trans(tq)) * scale
        p = tl.where(rows[None, :] >= cols[:, None], tl.exp(s - l[None, :]), 0.0)
        acc_v = tl.dot(p.to(tl.float16), tdo, acc_v)
        dp = tl.dot(tv, tl.trans(tdo))
        ds = p * (dp - dl[None, :]) * scale
        acc_k = tl.dot(ds.to(tl.float16), tq, acc_k)
    tl.store(dk + base + at_kv, acc_k.to(tl.float16), mask=cols[:, None] < length)  # @K
    tl.store(dv + base + at_kv, acc_v.to(tl.float16), mask=cols[:, None] < length)  # @V


@triton.jit
def attention_backward_kv_race(q, k, v, do, lse, delta, dk, dv, stride_h, length, scale, BM: tl.constexpr, BN: tl.constexpr,
                          D: tl.constexpr):
    head = tl.program_id(1)
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    d = tl.arange(0, D)
    base = head * stride_h
    at_kv = cols[:, None] * D + d[None, :]
    tk = tl.load(k + base + at_kv, mask=cols[:, None] < length, other=0.0)
    tv = tl.load(v + base + at_kv, mask=cols[:, None] < length, other=0.0)
    acc_k = tl.zeros((BN, D), tl.float32)
    acc_v = tl.zeros((BN, D), tl.float32)
    for start in range(tl.program_id(0) * BN, length, BM):
        rows = start + tl.arange(0, BM)
        at_q = rows[:, None] * D + d[None, :]
        tq = tl.load(q + base + at_q, mask=rows[:, None] < length, other=0.0)
        tdo = tl.load(do + base + at_q, mask=rows[:, None] < length, other=0.0)
        l = tl.load(lse + head * length + rows, mask=rows < length, other=0.0)
        dl = tl.load(delta + head * length + rows, mask=rows < length, other=0.0)
        s = tl.dot(tk, tl.trans(tq)) * scale
        p = tl.where(rows[None, :] >= cols[:, None], tl.exp(s - l[None, :]), 0.0)
        acc_v = tl.dot(p.to(tl.float16), tdo, acc_v)
        dp = tl.dot(tv, tl.trans(tdo))
        ds = p * (dp - dl[None, :]) * scale
        acc_k = tl.dot(ds.to(tl.float16), tq, acc_k)
    tl.store(dk + base + at_kv, acc_k.to(tl.float16), mask=cols[:, None] < length)  # @K
    tl.store(dv + base + at_kv, acc_v.to(tl.float16), mask=cols[:, None] < length + 1)  # @V


case(attention_backward_kv, attention_backward_kv_race,
     lambda heads, length, BM, BN, D: ((cdiv(length, BN), heads),
     dict(q=T("f16", heads, length, D), k=T("f16", heads, length, D), v=T("f16", heads, length, D), do=T("f16", heads, length, D), lse=T("f32", heads, length), delta=T("f32", heads, length),
     dk=T("f16", heads, length, D), dv=T("f16", heads, length, D), stride_h=length * D, scale=0.125)),
     big=dict(heads=70, length=1001, BM=64, BN=64, D=64), small=dict(heads=3, length=37, BM=16, BN=16, D=16))


@triton.jit
def conv2d_direct(x, w, y, channels, height, width, out_h, out_w, filters, PAD: tl.constexpr, KH: tl.constexpr,
                  KW: tl.constexpr, B: tl.constexpr):
    image = tl.program_id(2)
    f = tl.program_id(1)
    i = tl.program_id(0) * B + tl.arange(0, B)
    oh = i // out_w
    ow = i % out_w
    live = oh < out_h
    acc = tl.zeros((B,), tl.float32)
    for c in range(0, channels):
        for r in range(0, KH):
            for s in range(0, KW):
                ih = oh + r - PAD
                iw = ow + s - PAD
                ok = live & (ih >= 0) & (ih < height) & (iw >= 0) & (iw < width)
                v = tl.load(x + ((image * channels + c) * height + ih) * width + iw, mask=ok, other=0.0)
                acc += v * tl.load(w + ((f * channels + c) * KH + r) * KW + s)
    tl.store(y + ((image * filters + f) * out_h + oh) * out_w + ow, tl.maximum(acc, 0.0), mask=live)  # @S


@triton.jit
def conv2d_direct_race(x, w, y, channels, height, width, out_h, out_w, filters, PAD: tl.constexpr, KH: tl.constexpr,
                  KW: tl.constexpr, B: tl.constexpr):
    image = tl.program_id(2)
    f = tl.program_id(1)
    i = tl.program_id(0) * B + tl.arange(0, B)
    oh = i // out_w
    ow = i % out_w
    live = oh < out_h
    acc = tl.zeros((B,), tl.float32)
    for c in range(0, channels):
        for r in range(0, KH):
            for s in range(0, KW):
                ih = oh + r - PAD
                iw = ow + s - PAD
                ok = live & (ih >= 0) & (ih < height) & (iw >= 0) & (iw < width)
                v = tl.load(x + ((image * channels + c) * height + ih) * width + iw, mask=ok, other=0.0)
                acc += v * tl.load(w + ((f * channels + c) * KH + r) * KW + s)
    tl.store(y + ((image * (filters - 1) + f) * out_h + oh) * out_w + ow, tl.maximum(acc, 0.0), mask=live)  # @S


case(conv2d_direct, conv2d_direct_race,
     lambda images, channels, filters, height, width, K, B: ((cdiv(height * width, B), filters, images),
     dict(x=T("f32", images, channels, height, width), w=T("f32", filters, channels, K, K), y=T("f32", images, filters, height, width), out_h=height, out_w=width, PAD=K // 2, KH=K, KW=K)),
     big=dict(images=3, channels=5, filters=21, height=131, width=133, K=3, B=512), small=dict(images=3, channels=2, filters=3, height=5, width=7, K=3, B=16))


@triton.jit
def selective_scan(u, dt, a, b, c, y, last, length, channels, N: tl.constexpr, B: tl.constexpr):
    batch = tl.program_id(1)
    ch = tl.program_id(0) * B + tl.arange(0, B)
    st = tl.arange(0, N)
    live = ch < channels
    rate = tl.load(a + ch[:, None] * N + st[None, :], mask=live[:, None], other=0.0)
    h = tl.zeros((B, N), tl.float32)
    for t in range(0, length):
        row = (batch * length + t) * channels
        x = tl.load(u + row + ch, mask=live, other=0.0)
        step = tl.load(dt + row + ch, mask=live, other=0.0)
        step = tl.where(step > 20.0, step, tl.log(1.0 + tl.exp(step)))
        tb = tl.load(b + (batch * length + t) * N + st)
        tc = tl.load(c + (batch * length + t) * N + st)
        h = h * tl.exp(step[:, None] * rate) + (step * x)[:, None] * tb[None, :]
        out = tl.sum(h * tc[None, :], axis=1)
        tl.store(y + row + ch, out, mask=live)  # @Y
    tl.store(last + (batch * channels + ch)[:, None] * N + st[None, :], h, mask=live[:, None])  # @H


@triton.jit
def selective_scan_race(u, dt, a, b, c, y, last, length, channels, N: tl.constexpr, B: tl.constexpr):
    batch = tl.program_id(1)
    ch = tl.program_id(0) * B + tl.arange(0, B)
    st = tl.arange(0, N)
    live = ch < channels
    rate = tl.load(a + ch[:, None] * N + st[None, :], mask=live[:, None], other=0.0)
    h = tl.zeros((B, N), tl.float32)
    for t in range(0, length):
        row = (batch * length + t) * channels
        x = tl.load(u + row + ch, mask=live, other=0.0)
        step = tl.load(dt + row + ch, mask=live, other=0.0)
        step = tl.where(step > 20.0, step, tl.log(1.0 + tl.exp(step)))
        tb = tl.load(b + (batch * length + t) * N + st)
        tc = tl.load(c + (batch * length + t) * N + st)
        h = h * tl.exp(step[:, None] * rate) + (step * x)[:, None] * tb[None, :]
        out = tl.sum(h * tc[None, :], axis=1)
        tl.store(y + row + ch, out, mask=ch < channels + 1)  # @Y
    tl.store(last + (batch * channels + ch)[:, None] * N + st[None, :], h, mask=live[:, None])  # @H


case(selective_scan, selective_scan_race,
     lambda batches, length, channels, N, B: ((cdiv(channels, B), batches),
     dict(u=T("f32", batches, length, channels), dt=T("f32", batches, length, channels), a=T("f32", channels, N), b=T("f32", batches, length, N), c=T("f32", batches, length, N), y=T("f32", batches, length, channels), last=T("f32", batches, channels, N))),
     big=dict(batches=13, length=301, channels=1000, N=16, B=64), small=dict(batches=3, length=3, channels=45, N=8, B=16))


@triton.jit
def bilinear_resize(x, y, in_h, in_w, out_h, out_w, B: tl.constexpr):
    plane = tl.program_id(1)
    i = tl.program_id(0) * B + tl.arange(0, B)
    oh = i // out_w
    ow = i % out_w
    live = oh < out_h
    fh = (oh.to(tl.float32) + 0.5) * 0.5 - 0.5
    fw = (ow.to(tl.float32) + 0.5) * 0.5 - 0.5
    h0 = tl.minimum(oh // 2, in_h - 1)
    w0 = tl.minimum(ow // 2, in_w - 1)
    h1 = tl.minimum(h0 + 1, in_h - 1)
    w1 = tl.minimum(w0 + 1, in_w - 1)
    base = x + plane * in_h * in_w
    top = tl.load(base + h0 * in_w + w0, mask=live, other=0.0)
    topr = tl.load(base + h0 * in_w + w1, mask=live, other=0.0)
    bot = tl.load(base + h1 * in_w + w0, mask=live, other=0.0)
    botr = tl.load(base + h1 * in_w + w1, mask=live, other=0.0)
    ah = fh - h0.to(tl.float32)
    aw = fw - w0.to(tl.float32)
    v = (top * (1.0 - aw) + topr * aw) * (1.0 - ah) + (bot * (1.0 - aw) + botr * aw) * ah
    tl.store(y + (plane * out_h + oh) * out_w + ow, v, mask=live)  # @S


@triton.jit
def bilinear_resize_race(x, y, in_h, in_w, out_h, out_w, B: tl.constexpr):
    plane = tl.program_id(1)
    i = tl.program_id(0) * B + tl.arange(0, B)
    oh = i // out_w
    ow = i % out_w
    live = oh < out_h
    fh = (oh.to(tl.float32) + 0.5) * 0.5 - 0.5
    fw = (ow.to(tl.float32) + 0.5) * 0.5 - 0.5
    h0 = tl.minimum(oh // 2, in_h - 1)
    w0 = tl.minimum(ow // 2, in_w - 1)
    h1 = tl.minimum(h0 + 1, in_h - 1)
    w1 = tl.minimum(w0 + 1, in_w - 1)
    base = x + plane * in_h * in_w
    top = tl.load(base + h0 * in_w + w0, mask=live, other=0.0)
    topr = tl.load(base + h0 * in_w + w1, mask=live, other=0.0)
    bot = tl.load(base + h1 * in_w + w0, mask=live, other=0.0)
    botr = tl.load(base + h1 * in_w + w1, mask=live, other=0.0)
    ah = fh - h0.to(tl.float32)
    aw = fw - w0.to(tl.float32)
    v = (top * (1.0 - aw) + topr * aw) * (1.0 - ah) + (bot * (1.0 - aw) + botr * aw) * ah
    tl.store(y + (plane * in_h + oh) * out_w + ow, v, mask=live)  # @S


case(bilinear_resize, bilinear_resize_race,
     lambda planes, in_h, in_w, B: ((cdiv(4 * in_h * in_w, B), planes),
     dict(x=T("f32", planes, in_h, in_w), y=T("f32", planes, 2 * in_h, 2 * in_w), out_h=2 * in_h, out_w=2 * in_w)),
     big=dict(planes=31, in_h=91, in_w=101, B=1024), small=dict(planes=3, in_h=3, in_w=5, B=16))


@triton.jit
def lstm_cell(gates, bias, cell, cell_out, hidden_out, width, stride_g, stride_c, B: tl.constexpr):
    row = tl.program_id(1)
    j = tl.program_id(0) * B + tl.arange(0, B)
    live = j < width
    base = gates + row * stride_g + j
    gi = tl.load(base, mask=live, other=0.0) + tl.load(bias + j, mask=live, other=0.0)
    gf = tl.load(base + width, mask=live, other=0.0) + tl.load(bias + width + j, mask=live, other=0.0)
    gg = tl.load(base + 2 * width, mask=live, other=0.0) + tl.load(bias + 2 * width + j, mask=live, other=0.0)
    go = tl.load(base + 3 * width, mask=live, other=0.0) + tl.load(bias + 3 * width + j, mask=live, other=0.0)
    ci = tl.sigmoid(gi)
    cf = tl.sigmoid(gf)
    cg = 2.0 * tl.sigmoid(2.0 * gg) - 1.0
    old = tl.load(cell + row * stride_c + j, mask=live, other=0.0)
    new = cf * old + ci * cg
    out = tl.sigmoid(go) * (2.0 * tl.sigmoid(2.0 * new) - 1.0)
    tl.store(cell_out + row * stride_c + j, new, mask=live)  # @C
    tl.store(hidden_out + row * stride_c + j, out, mask=live)  # @H


@triton.jit
def lstm_cell_race(gates, bias, cell, cell_out, hidden_out, width, stride_g, stride_c, B: tl.constexpr):
    row = tl.program_id(1)
    j = tl.program_id(0) * B + tl.arange(0, B)
    live = j < width
    base = gates + row * stride_g + j
    gi = tl.load(base, mask=live, other=0.0) + tl.load(bias + j, mask=live, other=0.0)
    gf = tl.load(base + width, mask=live, other=0.0) + tl.load(bias + width + j, mask=live, other=0.0)
    gg = tl.load(base + 2 * width, mask=live, other=0.0) + tl.load(bias + 2 * width + j, mask=live, other=0.0)
    go = tl.load(base + 3 * width, mask=live, other=0.0) + tl.load(bias + 3 * width + j, mask=live, other=0.0)
    ci = tl.sigmoid(gi)
    cf = tl.sigmoid(gf)
    cg = 2.0 * tl.sigmoid(2.0 * gg) - 1.0
    old = tl.load(cell + row * stride_c + j, mask=live, other=0.0)
    new = cf * old + ci * cg
    out = tl.sigmoid(go) * (2.0 * tl.sigmoid(2.0 * new) - 1.0)
    tl.store(cell_out + row * stride_c + j, new, mask=live)  # @C
    tl.store(hidden_out + row * stride_c + (width - 1 - j) // 2, out, mask=live)  # @H


case(lstm_cell, lstm_cell_race,
     lambda rows, width, B: ((cdiv(width, B), rows), dict(gates=T("f32", rows, 4 * width), bias=T("f32", 4 * width), cell=T("f32", rows, width), cell_out=T("f32", rows, width), hidden_out=T("f32", rows, width), stride_g=4 * width, stride_c=width)),
     big=dict(rows=1025, width=1022, B=256), small=dict(rows=3, width=44, B=16))


@triton.jit
def norm_rope_cache(qkv, weight, cos, sin, q_out, k_cache, stride_t, heads, position, capacity, HALF: tl.constexpr):
    t = tl.program_id(0)
    h = tl.program_id(1)
    d = tl.arange(0, HALF)
    src = qkv + t * stride_t + h * (2 * HALF) + d
    a = tl.load(src).to(tl.float32)
    b = tl.load(src + HALF).to(tl.float32)
    inv = 1.0 / tl.sqrt((tl.sum(a * a, axis=0) + tl.sum(b * b, axis=0)) / (2 * HALF) + 1e-6)
    a = a * inv * tl.load(weight + d)
    b = b * inv * tl.load(weight + HALF + d)
    c = tl.load(cos + t * HALF + d)
    s = tl.load(sin + t * HALF + d)
    x = (a * c - b * s).to(tl.float16)
    y = (b * c + a * s).to(tl.float16)
    if h < heads:
        dst = q_out + (t * heads + h) * (2 * HALF) + d
        tl.store(dst, x)  # @QA
        tl.store(dst + HALF, y)  # @QB
    else:
        slot = position + t
        if slot < capacity:
            dst = k_cache + ((h - heads) * capacity + slot) * (2 * HALF) + d
            tl.store(dst, x)  # @KA
            tl.store(dst + HALF, y)  # @KB


@triton.jit
def norm_rope_cache_race(qkv, weight, cos, sin, q_out, k_cache, stride_t, heads, position, capacity, HALF: tl.constexpr):
    t = tl.program_id(0)
    h = tl.program_id(1)
    d = tl.arange(0, HALF)
    src = qkv + t * stride_t + h * (2 * HALF) + d
    a = tl.load(src).to(tl.float32)
    b = tl.load(src + HALF).to(tl.float32)
    inv = 1.0 / tl.sqrt((tl.sum(a * a, axis=0) + tl.sum(b * b, axis=0)) / (2 * HALF) + 1e-6)
    a = a * inv * tl.load(weight + d)
    b = b * inv * tl.load(weight + HALF + d)
    c = tl.load(cos + t * HALF + d)
    s = tl.load(sin + t * HALF + d)
    x = (a * c - b * s).to(tl.float16)
    y = (b * c + a * s).to(tl.float16)
    if h < heads:
        dst = q_out + (t * heads + h) * (2 * HALF) + d
        tl.store(dst, x)  # @QA
        tl.store(dst + HALF, y)  # @QB
    else:
        slot = position + t
        if slot < capacity:
            dst = k_cache + slot * (2 * HALF) + d
            tl.store(dst, x)  # @KA
            tl.store(dst + HALF, y)  # @KB


case(norm_rope_cache, norm_rope_cache_race,
     lambda tokens, heads, kv_heads, position, capacity, HALF: ((tokens, heads + kv_heads),
     dict(qkv=T("f16", tokens, (heads + 2 * kv_heads) * 2 * HALF), weight=T("f32", 2 * HALF), cos=T("f32", tokens, HALF), sin=T("f32", tokens, HALF), q_out=T("f16", tokens, heads, 2 * HALF), k_cache=T("f16", kv_heads, capacity, 2 * HALF), stride_t=(heads + 2 * kv_heads) * 2 * HALF)),
     big=dict(tokens=1001, heads=12, kv_heads=3, position=30, capacity=1024, HALF=32), small=dict(tokens=4, heads=2, kv_heads=3, position=5, capacity=7, HALF=8))


@triton.jit
def grouped_gemm(a, b, c, m, n, k, groups, rows_per_group, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tiles_n = tl.cdiv(n, BN)
    tiles_m = tl.cdiv(rows_per_group, BM)
    pid = tl.program_id(0)
    group = pid // (tiles_m * tiles_n)
    local = pid % (tiles_m * tiles_n)
    rm = (local // tiles_n) * BM + tl.arange(0, BM)
    rn = (local % tiles_n) * BN + tl.arange(0, BN)
    row = group * rows_per_group + rm
    live = (rm < rows_per_group) & (row < m)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        rk = start + tl.arange(0, BK)
        ta = tl.load(a + row[:, None] * k + rk[None, :], mask=live[:, None] & (rk[None, :] < k), other=0.0)
        tb = tl.load(b + (group * k + rk)[:, None] * n + rn[None, :], mask=(rk[:, None] < k) & (rn[None, :] < n) & (group < groups), other=0.0)
        acc = tl.dot(ta, tb, acc)
    gate = tl.sigmoid(acc)
    tl.store(c + row[:, None] * n + rn[None, :], (acc * gate).to(tl.float16), mask=live[:, None] & (rn[None, :] < n))  # @S


@triton.jit
def grouped_gemm_race(a, b, c, m, n, k, groups, rows_per_group, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tiles_n = tl.cdiv(n, BN)
    tiles_m = tl.cdiv(rows_per_group, BM)
    pid = tl.program_id(0)
    group = pid // (tiles_m * tiles_n)
    local = pid % (tiles_m * tiles_n)
    rm = (local // tiles_n) * BM + tl.arange(0, BM)
    rn = (local % tiles_n) * BN + tl.arange(0, BN)
    row = group * rows_per_group + rm
    live = (rm < rows_per_group + 1) & (row < m)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        rk = start + tl.arange(0, BK)
        ta = tl.load(a + row[:, None] * k + rk[None, :], mask=live[:, None] & (rk[None, :] < k), other=0.0)
        tb = tl.load(b + (group * k + rk)[:, None] * n + rn[None, :], mask=(rk[:, None] < k) & (rn[None, :] < n) & (group < groups), other=0.0)
        acc = tl.dot(ta, tb, acc)
    gate = tl.sigmoid(acc)
    tl.store(c + row[:, None] * n + rn[None, :], (acc * gate).to(tl.float16), mask=live[:, None] & (rn[None, :] < n))  # @S


case(grouped_gemm, grouped_gemm_race,
     lambda groups, rows_per_group, n, k, BM, BN, BK: ((groups * cdiv(rows_per_group, BM) * cdiv(n, BN),),
     dict(a=T("f16", groups * rows_per_group, k), b=T("f16", groups, k, n), c=T("f16", groups * rows_per_group, n), m=groups * rows_per_group)),
     big=dict(groups=24, rows_per_group=300, n=530, k=200, BM=64, BN=64, BK=32), small=dict(groups=3, rows_per_group=19, n=21, k=21, BM=8, BN=8, BK=16))


@triton.jit
def fused_linear_loss(x, w, labels, loss, dlogits, rows, hidden, vocab, ignore, BM: tl.constexpr, BV: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    live = rm < rows
    label = tl.load(labels + rm, mask=live, other=0).to(tl.int32)
    peak = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    picked = tl.zeros((BM,), tl.float32)
    for sweep in range(0, 2):
        for first in range(0, vocab, BV):
            rv = first + tl.arange(0, BV)
            acc = tl.zeros((BM, BV), tl.float32)
            for start in range(0, hidden, BK):
                rk = start + tl.arange(0, BK)
                tx = tl.load(x + rm[:, None] * hidden + rk[None, :], mask=live[:, None] & (rk[None, :] < hidden), other=0.0)
                tw = tl.load(w + rv[None, :] * hidden + rk[:, None], mask=(rv[None, :] < vocab) & (rk[:, None] < hidden), other=0.0)
                acc = tl.dot(tx, tw, acc)
            inside = live[:, None] & (rv[None, :] < vocab)
            hit = rv[None, :] == label[:, None]
            if sweep == 0:
                acc = tl.where(rv[None, :] < vocab, acc, float("-inf"))
                new = tl.maximum(peak, tl.max(acc, axis=1))
                total = total * tl.exp(peak - new) + tl.sum(tl.exp(acc - new[:, None]), axis=1)
                picked += tl.sum(tl.where(hit, acc, 0.0), axis=1)
                peak = new
            else:
                p = tl.exp(acc - peak[:, None]) / total[:, None] - hit.to(tl.float32)
                at = rm[:, None] * vocab + rv[None, :]
                tl.store(dlogits + at, p.to(tl.bfloat16), mask=inside)  # @G
    nll = tl.where(label == ignore, 0.0, peak + tl.log(total) - picked)
    tl.store(loss + rm, nll, mask=live)  # @L


@triton.jit
def fused_linear_loss_race(x, w, labels, loss, dlogits, rows, hidden, vocab, ignore, BM: tl.constexpr, BV: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    live = rm < rows
    label = tl.load(labels + rm, mask=live, other=0).to(tl.int32)
    peak = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    picked = tl.zeros((BM,), tl.float32)
    for sweep in range(0, 2):
        for first in range(0, vocab, BV):
            rv = first + tl.arange(0, BV)
            acc = tl.zeros((BM, BV), tl.float32)
            for start in range(0, hidden, BK):
                rk = start + tl.arange(0, BK)
                tx = tl.load(x + rm[:, None] * hidden + rk[None, :], mask=live[:, None] & (rk[None, :] < hidden), other=0.0)
                tw = tl.load(w + rv[None, :] * hidden + rk[:, None], mask=(rv[None, :] < vocab) & (rk[:, None] < hidden), other=0.0)
                acc = tl.dot(tx, tw, acc)
            inside = live[:, None] & (rv[None, :] < vocab)
            hit = rv[None, :] == label[:, None]
            if sweep == 0:
                acc = tl.where(rv[None, :] < vocab, acc, float("-inf"))
                new = tl.maximum(peak, tl.max(acc, axis=1))
                total = total * tl.exp(peak - new) + tl.sum(tl.exp(acc - new[:, None]), axis=1)
                picked += tl.sum(tl.where(hit, acc, 0.0), axis=1)
                peak = new
            else:
                p = tl.exp(acc - peak[:, None]) / total[:, None] - hit.to(tl.float32)
                at = rm[:, None] * (vocab - 1) + rv[None, :]
                tl.store(dlogits + at, p.to(tl.bfloat16), mask=inside)  # @G
    nll = tl.where(label == ignore, 0.0, peak + tl.log(total) - picked)
    tl.store(loss + rm, nll, mask=live)  # @L


case(fused_linear_loss, fused_linear_loss_race,
     lambda rows, hidden, vocab, BM, BV, BK: ((cdiv(rows, BM),), dict(x=T("bf16", rows, hidden), w=T("bf16", vocab, hidden),
     labels=T("i64", rows), loss=T("f32", rows), dlogits=T("bf16", rows, vocab), ignore=-100)),
     big=dict(rows=16003, hidden=200, vocab=1003, BM=16, BV=64, BK=32), small=dict(rows=21, hidden=21, vocab=29, BM=8, BV=16, BK=16))
