"""Data movement: transposes, views, gathers and scatters, convolution windows, index permutations."""
import triton
import triton.language as tl

from registry import T, case, cdiv


@triton.jit
def transpose_2d(x, y, m, n, stride_x, stride_y, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    t = tl.load(x + rm[:, None] * stride_x + rn[None, :], mask=(rm[:, None] < m) & (rn[None, :] < n))
    inside = (rn[:, None] < n) & (rm[None, :] < m)
    tl.store(y + rn[:, None] * stride_y + rm[None, :], tl.trans(t), mask=inside)  # @S


@triton.jit
def transpose_2d_race(x, y, m, n, stride_x, stride_y, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    t = tl.load(x + rm[:, None] * stride_x + rn[None, :], mask=(rm[:, None] < m) & (rn[None, :] < n))
    inside = (rn[:, None] < n) & (rm[None, :] < m)
    tl.store(y + rn[:, None] * (stride_y - 2) + rm[None, :], tl.trans(t), mask=inside)  # @S


case(transpose_2d, transpose_2d_race,
     lambda m, n, BM, BN: ((cdiv(m, BM), cdiv(n, BN)), dict(x=T("f32", m, n, strides=[n + 4, 1]), y=T("f32", n, m), stride_x=n + 4, stride_y=m)),
     big=dict(m=1005, n=1209, BM=32, BN=32), small=dict(m=21, n=43, BM=8, BN=16))


@triton.jit
def transpose_3d(x, y, A: tl.constexpr, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = i // (M * N)
    r = (i // N) % M
    c = i % N
    v = tl.load(x + i, mask=i < A * M * N)
    tl.store(y + (c * A + a) * M + r, v, mask=i < A * M * N)  # @S


@triton.jit
def transpose_3d_race(x, y, A: tl.constexpr, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = i // (M * N)
    r = (i // N) % M
    c = i % N
    v = tl.load(x + i, mask=i < A * M * N)
    tl.store(y + (c * A + a) * (M - 1) + r, v, mask=i < A * M * N)  # @S


case(transpose_3d, transpose_3d_race,
     lambda A, M, N, B: ((cdiv(A * M * N, B),), dict(x=T("f32", A, M, N), y=T("f32", N, A, M))),
     big=dict(A=17, M=250, N=260, B=1024), small=dict(A=3, M=5, N=9, B=16))


@triton.jit
def strided_copy(src, dst, s0, s1, d0, d1, m, n, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(1) * BM + tl.arange(0, BM)
    rn = tl.program_id(0) * BN + tl.arange(0, BN)
    inside = (rm < m)[:, None] & (rn < n)[None, :]
    v = tl.load(src + rm[:, None] * s0 + rn[None, :] * s1, mask=inside)
    tl.store(dst + rm[:, None] * d0 + rn[None, :] * d1, v, mask=inside)  # @S


@triton.jit
def strided_copy_race(src, dst, s0, s1, d0, d1, m, n, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(1) * BM + tl.arange(0, BM)
    rn = tl.program_id(0) * BN + tl.arange(0, BN)
    inside = (rm < m)[:, None] & (rn < n)[None, :]
    v = tl.load(src + rm[:, None] * s0 + rn[None, :] * s1, mask=inside)
    tl.store(dst + rm[:, None] * d0 + rn[None, :] * (d1 // 2), v, mask=inside)  # @S


case(strided_copy, strided_copy_race,
     lambda m, n, BM, BN: ((cdiv(n, BN), cdiv(m, BM)),
     dict(src=T("f64", m, n, strides=[3 * n + 1, 3]), dst=T("f64", m, n, strides=[2, 2 * m + 6]), s0=3 * n + 1, s1=3, d0=2, d1=2 * m + 6)),
     big=dict(m=1031, n=1029, BM=32, BN=32), small=dict(m=21, n=19, BM=8, BN=8), nospec=True)


@triton.jit
def flip(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # @L
    tl.store(y + (n - 1 - i), v, mask=i < n)  # @S


@triton.jit
def flip_race(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # @L
    tl.store(x + (n - 1 - i), v, mask=i < n)  # @S


case(flip, flip_race,
     lambda n, B: ((cdiv(n, B),), dict(x=T("i16", n), y=T("i16", n))),
     big=dict(n=1048579, B=1024), small=dict(n=61, B=16))


@triton.jit
def flip_view(x, y, stride_x, stride_y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i * stride_x, mask=i < n)  # @L
    tl.store(y + i * stride_y, v, mask=i < n)  # @S


@triton.jit
def flip_view_race(x, y, stride_x, stride_y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i * stride_x, mask=i < n)  # @L
    tl.store(y + (i + B) * stride_y, v, mask=i < n)  # @S


case(flip_view, flip_view_race,
     lambda n, B: ((cdiv(n, B),), dict(x=T("f32", n, strides=[-1], of="y0", offset=2 * n - 1), y0=T("f32", 2 * n), y=T("f32", n, of="y0", strides=[1], offset=0), stride_x=-1, stride_y=1)),
     big=dict(n=1048577, B=1024), small=dict(n=61, B=16), nospec=("stride_x", "stride_y"))


@triton.jit
def interleave(left, right, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n
    tl.store(out + 2 * i, tl.load(left + i, mask=inside), mask=inside)  # @E
    tl.store(out + 2 * i + 1, tl.load(right + i, mask=inside), mask=inside)  # @O


@triton.jit
def interleave_race(left, right, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n
    tl.store(out + 2 * i, tl.load(left + i, mask=inside), mask=inside)  # @E
    tl.store(out + 2 * (n - 1 - i), tl.load(right + i, mask=inside), mask=inside)  # @O


case(interleave, interleave_race,
     lambda n, B: ((cdiv(n, B),), dict(left=T("f32", n), right=T("f32", n), out=T("f32", 2 * n))),
     big=dict(n=1048579, B=1024), small=dict(n=61, B=16))


@triton.jit
def aliased_halves(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # @L
    tl.store(y + i, v * 2.0, mask=i < n)  # @S


@triton.jit
def aliased_halves_race(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # @L
    tl.store(y + i - 8, v * 2.0, mask=i < n)  # @S


case(aliased_halves, aliased_halves_race,
     lambda n, B: ((cdiv(n, B),), dict(room=T("f32", 2 * n), x=T("f32", n, of="room"), y=T("f32", n, of="room", offset=n))),
     big=dict(n=1048583, B=1024), small=dict(n=61, B=16))


@triton.jit
def aliased_columns(x, y, stride, m, BM: tl.constexpr, C: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.arange(0, C)
    at = rows[:, None] * stride + cols[None, :]
    v = tl.load(x + at, mask=rows[:, None] < m)  # @L
    tl.store(y + at, v + 1, mask=rows[:, None] < m)  # @S


@triton.jit
def aliased_columns_race(x, y, stride, m, BM: tl.constexpr, C: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.arange(0, C)
    at = rows[:, None] * (stride - 1) + cols[None, :]
    v = tl.load(x + at, mask=rows[:, None] < m)  # @L
    tl.store(y + at, v + 1, mask=rows[:, None] < m)  # @S


case(aliased_columns, aliased_columns_race,
     lambda m, BM, C: ((cdiv(m, BM),), dict(room=T("i32", m, 2 * C), x=T("i32", m, C, strides=[2 * C, 1], of="room"), y=T("i32", m, C, strides=[2 * C, 1], of="room", offset=C), stride=2 * C)),
     big=dict(m=65551, BM=16, C=16), small=dict(m=29, BM=8, C=8))


@triton.jit
def gather_rows(table, idx, out, n, width, B: tl.constexpr, BW: tl.constexpr):
    rows = tl.program_id(0) * B + tl.arange(0, B)
    w = tl.arange(0, BW)
    src = tl.load(idx + rows, mask=rows < n, other=0)
    inside = (rows[:, None] < n) & (w[None, :] < width)
    v = tl.load(table + src[:, None].to(tl.int64) * width + w[None, :], mask=inside)
    tl.store(out + rows[:, None] * width + w[None, :], v, mask=inside)  # @S


@triton.jit
def gather_rows_race(table, idx, out, n, width, B: tl.constexpr, BW: tl.constexpr):
    rows = tl.program_id(0) * B + tl.arange(0, B)
    w = tl.arange(0, BW)
    src = tl.load(idx + rows, mask=rows < n, other=0)
    inside = (rows[:, None] < n) & (w[None, :] < width)
    v = tl.load(table + src[:, None].to(tl.int64) * width + w[None, :], mask=inside)
    tl.store(out + (rows[:, None] // 2) * width + w[None, :], v, mask=inside)  # @S


case(gather_rows, gather_rows_race,
     lambda n, width, vocab, B, BW: ((cdiv(n, B),), dict(table=T("f16", vocab, width), idx=T("i32", n), out=T("f16", n, width))),
     big=dict(n=8003, width=200, vocab=5000, B=8, BW=256), small=dict(n=29, width=13, vocab=11, B=8, BW=16))


@triton.jit
def scatter_rows(src, idx, out, width, B: tl.constexpr):
    row = tl.program_id(0)
    dst = tl.load(idx + row)
    for off in range(0, width, B):
        w = off + tl.arange(0, B)
        v = tl.load(src + row * width + w, mask=w < width)
        tl.store(out + dst * width + w, v, mask=w < width)  # @S


@triton.jit
def scatter_rows_race(src, idx, out, width, B: tl.constexpr):
    row = tl.program_id(0)
    dst = row // 2
    for off in range(0, width, B):
        w = off + tl.arange(0, B)
        v = tl.load(src + row * width + w, mask=w < width)
        tl.store(out + dst * width + w, v, mask=w < width)  # @S


case(scatter_rows, scatter_rows_race,
     lambda n, width, B: ((n,), dict(src=T("f16", n, width), idx=T("i32", n), out=T("f16", n, width))),
     big=dict(n=2003, width=700, B=256), small=dict(n=5, width=29, B=16))


@triton.jit
def embedding_backward(grad, idx, table_grad, seen, width, B: tl.constexpr):
    row = tl.program_id(0)
    target = tl.load(idx + row).to(tl.int64)
    w = tl.arange(0, B)
    g = tl.load(grad + row * width + w, mask=w < width, other=0.0)
    tl.atomic_add(table_grad + target * width + w, g, mask=w < width, sem="relaxed")  # @A
    tl.store(seen + row, 1)  # @T


@triton.jit
def embedding_backward_race(grad, idx, table_grad, seen, width, B: tl.constexpr):
    row = tl.program_id(0)
    target = tl.load(idx + row).to(tl.int64)
    w = tl.arange(0, B)
    g = tl.load(grad + row * width + w, mask=w < width, other=0.0)
    tl.atomic_add(table_grad + target * width + w, g, mask=w < width, sem="relaxed")  # @A
    tl.store(seen + row // 2, 1)  # @T


case(embedding_backward, embedding_backward_race,
     lambda n, width, vocab, B: ((n,), dict(grad=T("f32", n, width), idx=T("i32", n), table_grad=T("f32", vocab, width), seen=T("i8", n))),
     big=dict(n=4099, width=300, vocab=1000, B=512), small=dict(n=5, width=13, vocab=4, B=16))


@triton.jit
def im2col(x, out, H: tl.constexpr, W: tl.constexpr, KH: tl.constexpr, KW: tl.constexpr, total, B: tl.constexpr):
    OH: tl.constexpr = H - KH + 1
    OW: tl.constexpr = W - KW + 1
    i = tl.program_id(0) * B + tl.arange(0, B)
    channel = tl.program_id(1)
    ow = i % OW
    oh = (i // OW) % OH
    tap = i // (OW * OH)
    inside = tap < KH * KW
    at = channel * (H * W) + (oh + tap // KW) * W + ow + tap % KW
    v = tl.load(x + at, mask=inside, other=0.0)
    row = channel * (KH * KW) + tap
    tl.store(out + (row * OH + oh) * OW + ow, v, mask=inside)  # @S


@triton.jit
def im2col_race(x, out, H: tl.constexpr, W: tl.constexpr, KH: tl.constexpr, KW: tl.constexpr, total, B: tl.constexpr):
    OH: tl.constexpr = H - KH + 1
    OW: tl.constexpr = W - KW + 1
    i = tl.program_id(0) * B + tl.arange(0, B)
    channel = tl.program_id(1)
    ow = i % OW
    oh = (i // OW) % OH
    tap = i // (OW * OH)
    inside = tap < KH * KW
    at = channel * (H * W) + (oh + tap // KW) * W + ow + tap % KW
    v = tl.load(x + at, mask=inside, other=0.0)
    row = channel * (KH * KW) + tap
    tl.store(out + (row * OH + oh) * (OW - 1) + ow, v, mask=inside)  # @S


case(im2col, im2col_race,
     lambda channels, H, W, KH, KW, B: ((cdiv((H - KH + 1) * (W - KW + 1) * KH * KW, B), channels),
     dict(x=T("f32", channels, H, W), out=T("f32", channels * KH * KW, (H - KH + 1) * (W - KW + 1)), total=channels)),
     big=dict(channels=21, H=70, W=91, KH=3, KW=3, B=512), small=dict(channels=3, H=6, W=7, KH=2, KW=3, B=16))


@triton.jit
def col2im(cols, image, H: tl.constexpr, W: tl.constexpr, KH: tl.constexpr, KW: tl.constexpr, B: tl.constexpr):
    OH: tl.constexpr = H - KH + 1
    OW: tl.constexpr = W - KW + 1
    i = tl.program_id(0) * B + tl.arange(0, B)
    channel = tl.program_id(1)
    ow = i % OW
    oh = (i // OW) % OH
    tap = i // (OW * OH)
    inside = tap < KH * KW
    v = tl.load(cols + channel * (KH * KW * OH * OW) + i, mask=inside, other=0.0)
    at = channel * (H * W) + (oh + tap // KW) * W + ow + tap % KW
    tl.atomic_add(image + at, v, mask=inside, sem="relaxed")  # @A


@triton.jit
def col2im_race(cols, image, H: tl.constexpr, W: tl.constexpr, KH: tl.constexpr, KW: tl.constexpr, B: tl.constexpr):
    OH: tl.constexpr = H - KH + 1
    OW: tl.constexpr = W - KW + 1
    i = tl.program_id(0) * B + tl.arange(0, B)
    channel = tl.program_id(1)
    ow = i % OW
    oh = (i // OW) % OH
    tap = i // (OW * OH)
    inside = tap < KH * KW
    v = tl.load(cols + channel * (KH * KW * OH * OW) + i, mask=inside, other=0.0)
    at = channel * (H * W) + (oh + tap // KW) * W + ow + tap % KW
    tl.store(image + at, v, mask=inside)  # @A


case(col2im, col2im_race,
     lambda channels, H, W, KH, KW, B: ((cdiv((H - KH + 1) * (W - KW + 1) * KH * KW, B), channels),
     dict(cols=T("f32", channels * KH * KW, (H - KH + 1) * (W - KW + 1)), image=T("f32", channels, H, W))),
     big=dict(channels=21, H=70, W=91, KH=3, KW=3, B=512), small=dict(channels=3, H=6, W=7, KH=2, KW=3, B=16))


@triton.jit
def conv1d(x, w, y, length, channels, KW: tl.constexpr, B: tl.constexpr):
    channel = tl.program_id(1)
    t = tl.program_id(0) * B + tl.arange(0, B)
    row = channel * length
    acc = tl.zeros((B,), tl.float32)
    for k in tl.static_range(KW):
        p = t + k - KW // 2
        v = tl.load(x + row + p, mask=(p >= 0) & (p < length), other=0.0)
        acc += v * tl.load(w + channel * KW + k)
    tl.store(y + row + t, acc, mask=t < length)  # @S


@triton.jit
def conv1d_race(x, w, y, length, channels, KW: tl.constexpr, B: tl.constexpr):
    channel = tl.program_id(1)
    t = tl.program_id(0) * B + tl.arange(0, B)
    row = channel * length
    acc = tl.zeros((B,), tl.float32)
    for k in tl.static_range(KW):
        p = t + k - KW // 2
        v = tl.load(x + row + p, mask=(p >= 0) & (p < length), other=0.0)
        acc += v * tl.load(w + channel * KW + k)
    tl.store(y + row + t, acc, mask=t <= length)  # @S


case(conv1d, conv1d_race,
     lambda length, channels, KW, B: ((cdiv(length, B), channels), dict(x=T("f32", channels, length), w=T("f32", channels, KW), y=T("f32", channels, length))),
     big=dict(length=4000, channels=300, KW=5, B=512), small=dict(length=43, channels=3, KW=3, B=16))


@triton.jit
def dilated_backward(g, dx, n, step, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    for s in range(-1, 2):
        p = i + s * step
        inside = (i < n) & (p >= 0) & (p < n)
        t = tl.load(g + i, mask=inside, other=0.0) * 0.5
        tl.store(dx + p, tl.load(dx + p, mask=inside) + t, mask=inside)  # @D


@triton.jit
def dilated_backward_ok(g, dx, n, step, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    for s in range(-1, 2):
        p = i + s * step
        inside = (i < n) & (p >= 0) & (p < n)
        t = tl.load(g + i, mask=inside, other=0.0) * 0.5
        tl.atomic_add(dx + p, t, mask=inside)  # @D


case(dilated_backward, dilated_backward_ok,
     lambda n, step, B: ((cdiv(n, B),), dict(g=T("f32", n), dx=T("f32", n))),
     big=dict(n=1048601, step=3, B=1024), small=dict(n=61, step=3, B=16))


@triton.jit
def maxpool_2d(x, y, h, w, out_h, out_w, K: tl.constexpr, B: tl.constexpr):
    plane = tl.program_id(0)
    oh = tl.program_id(1)
    ow = tl.program_id(2) * B + tl.arange(0, B)
    best = tl.full((B,), float("-inf"), tl.float32)
    for r in range(0, K):
        for c in range(0, K):
            ih = oh * K + r
            iw = ow * K + c
            v = tl.load(x + (plane * h + ih) * w + iw, mask=(iw < w) & (ih < h), other=float("-inf"))
            best = tl.maximum(best, v)
    tl.store(y + (plane * out_h + oh) * out_w + ow, best, mask=ow < out_w)  # @S


@triton.jit
def maxpool_2d_race(x, y, h, w, out_h, out_w, K: tl.constexpr, B: tl.constexpr):
    plane = tl.program_id(0)
    oh = tl.program_id(1)
    ow = tl.program_id(2) * B + tl.arange(0, B)
    best = tl.full((B,), float("-inf"), tl.float32)
    for r in range(0, K):
        for c in range(0, K):
            ih = oh * K + r
            iw = ow * K + c
            v = tl.load(x + (plane * h + ih) * w + iw, mask=(iw < w) & (ih < h), other=float("-inf"))
            best = tl.maximum(best, v)
    tl.store(y + (plane * (out_h - 1) + oh) * out_w + ow, best, mask=ow < out_w)  # @S


case(maxpool_2d, maxpool_2d_race,
     lambda planes, h, w, K, B: ((planes, cdiv(h, K), cdiv(cdiv(w, K), B)), dict(x=T("f32", planes, h, w), y=T("f32", planes, cdiv(h, K), cdiv(w, K)), out_h=cdiv(h, K), out_w=cdiv(w, K))),
     big=dict(planes=51, h=131, w=205, K=2, B=64), small=dict(planes=3, h=7, w=69, K=2, B=16))


@triton.jit
def triu_mirror(x, y, n, BM: tl.constexpr, BN: tl.constexpr):
    r = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    c = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    inside = (r < n) & (c < n)
    v = tl.load(x + r * n + c, mask=inside & (r <= c))
    tl.store(y + r * n + c, v, mask=inside & (r <= c))  # @U
    tl.store(y + c * n + r, v, mask=inside & (r < c))  # @M


@triton.jit
def triu_mirror_race(x, y, n, BM: tl.constexpr, BN: tl.constexpr):
    r = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    c = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    inside = (r < n) & (c < n)
    v = tl.load(x + r * n + c, mask=inside & (r <= c))
    tl.store(y + r * n + c, v, mask=inside & (r <= c))  # @U
    tl.store(y + c * n + r, v, mask=inside & (r <= c))  # @M


case(triu_mirror, triu_mirror_race,
     lambda n, BM, BN: ((cdiv(n, BM), cdiv(n, BN)), dict(x=T("f32", n, n), y=T("f32", n, n))),
     big=dict(n=1025, BM=32, BN=32), small=dict(n=21, BM=8, BN=8))


@triton.jit
def xor_permute(x, y, n, FLIP: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = i ^ FLIP
    tl.store(y + j, tl.load(x + i, mask=i < n), mask=i < n)  # @S


@triton.jit
def xor_permute_race(x, y, n, FLIP: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = (i ^ FLIP) & ~FLIP
    tl.store(y + j, tl.load(x + i, mask=i < n), mask=i < n)  # @S


case(xor_permute, xor_permute_race,
     lambda n, FLIP, B: ((cdiv(n, B),), dict(x=T("f32", n), y=T("f32", cdiv(n, B) * B))),
     big=dict(n=1048579, FLIP=4, B=1024), small=dict(n=61, FLIP=4, B=16))


@triton.jit
def deinterleave_bits(x, y, n, HALF: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = (i & 1) * HALF + (i >> 1)
    tl.store(y + j, tl.load(x + i, mask=i < n), mask=i < n)  # @S


@triton.jit
def deinterleave_bits_race(x, y, n, HALF: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = (i & 1) * HALF + (i >> 2)
    tl.store(y + j, tl.load(x + i, mask=i < n), mask=i < n)  # @S


case(deinterleave_bits, deinterleave_bits_race,
     lambda n, HALF, B: ((cdiv(n, B),), dict(x=T("f16", n), y=T("f16", 2 * HALF))),
     big=dict(n=1048571, HALF=524288, B=1024), small=dict(n=61, HALF=32, B=16))


@triton.jit
def space_to_depth(x, y, H: tl.constexpr, W: tl.constexpr, R: tl.constexpr, B: tl.constexpr, channels):
    plane = tl.program_id(1)
    i = tl.program_id(0) * B + tl.arange(0, B)
    h = i // W
    w = i % W
    depth = (h % R) * R + w % R
    at = ((depth * channels + plane) * (H // R) + h // R) * (W // R) + w // R
    tl.store(y + at, tl.load(x + plane * H * W + i, mask=i < H * W), mask=i < H * W)  # @S


@triton.jit
def space_to_depth_race(x, y, H: tl.constexpr, W: tl.constexpr, R: tl.constexpr, B: tl.constexpr, channels):
    plane = tl.program_id(1)
    i = tl.program_id(0) * B + tl.arange(0, B)
    h = i // W
    w = i % W
    depth = (h % R) * (R - 1) + w % R
    at = ((depth * channels + plane) * (H // R) + h // R) * (W // R) + w // R
    tl.store(y + at, tl.load(x + plane * H * W + i, mask=i < H * W), mask=i < H * W)  # @S


case(space_to_depth, space_to_depth_race,
     lambda channels, H, W, R, B: ((cdiv(H * W, B), channels), dict(x=T("f32", channels, H, W), y=T("f32", R * R, channels, H // R, W // R))),
     big=dict(channels=37, H=162, W=186, R=2, B=512), small=dict(channels=3, H=6, W=10, R=2, B=16))
