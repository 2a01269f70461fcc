"""Row-wise normalisations, softmax and cross entropy."""
import triton
import triton.language as tl

from registry import T, case, cdiv


@triton.jit
def softmax(x, y, stride_x, stride_y, n_cols, B: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, B)
    v = tl.load(x + row * stride_x + cols, mask=cols < n_cols, other=float("-inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * stride_y + cols, e / tl.sum(e, axis=0), mask=cols < n_cols)  # @A


@triton.jit
def softmax_race(x, y, stride_x, stride_y, n_cols, B: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, B)
    v = tl.load(x + row * stride_x + cols, mask=cols < n_cols, other=float("-inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + (row // 2) * stride_y + cols, e / tl.sum(e, axis=0), mask=cols < n_cols)  # @A


case(softmax, softmax_race,
     lambda m, n_cols, B: ((m,), dict(x=T("f32", m, n_cols, strides=[n_cols + 11, 1]), y=T("f32", m, n_cols), stride_x=n_cols + 11, stride_y=n_cols)),
     big=dict(m=1823, n_cols=781, B=1024), small=dict(m=5, n_cols=13, B=16))


@triton.jit
def softmax_inplace(x, stride, n_cols, B: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, B)
    at = x + row * stride + cols
    v = tl.load(at, mask=cols < n_cols, other=float("-inf"))  # @L
    peak = tl.max(v, axis=0)
    e = tl.exp(v - peak)
    tl.store(at, e / tl.sum(e, axis=0), mask=cols < n_cols)  # @S


@triton.jit
def softmax_inplace_race(x, stride, n_cols, B: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, B)
    at = x + row * stride + cols
    v = tl.load(at, mask=cols < n_cols, other=float("-inf"))  # @L
    peak = tl.max(v, axis=0)
    e = tl.exp(cols * 0.0 - peak)
    tl.store(at, e / tl.sum(e, axis=0), mask=cols < n_cols)  # @S


case(softmax_inplace, softmax_inplace_race,
     lambda m, n_cols, B: ((m,), dict(x=T("f32", m, n_cols, strides=[n_cols + 3, 1]), stride=n_cols + 3)),
     big=dict(m=1027, n_cols=1000, B=1024), small=dict(m=5, n_cols=13, B=16))


@triton.jit
def softmax_two_pass(x, stride, n_cols, B: tl.constexpr):
    row = tl.program_id(0)
    base = x + row * stride
    peak = tl.full((B,), float("-inf"), tl.float32)
    total = tl.zeros((B,), tl.float32)
    for start in range(0, n_cols, B):
        cols = start + tl.arange(0, B)
        v = tl.load(base + cols, mask=cols < n_cols, other=float("-inf"))  # @P
        new = tl.maximum(peak, v)
        total = total * tl.exp(peak - new) + tl.exp(v - new)
        peak = new
    top = tl.max(peak, axis=0)
    norm = tl.sum(total * tl.exp(peak - top), axis=0)
    tl.debug_barrier()
    for start in range(0, n_cols, B):
        cols = start + tl.arange(0, B)
        v = tl.load(base + cols, mask=cols < n_cols, other=0.0)  # @L
        tl.store(base + cols, tl.exp(v - top) / norm, mask=cols < n_cols)  # @S


@triton.jit
def softmax_two_pass_race(x, stride, n_cols, B: tl.constexpr):
    row = tl.program_id(0)
    base = x + row * stride
    peak = tl.full((B,), float("-inf"), tl.float32)
    total = tl.zeros((B,), tl.float32)
    for start in range(0, n_cols, B):
        cols = start + tl.arange(0, B)
        v = tl.load(base + cols, mask=cols < n_cols, other=float("-inf"))  # @P
        new = tl.maximum(peak, v)
        total = total * tl.exp(peak - new) + tl.exp(v - new)
        peak = new
    top = tl.max(peak, axis=0)
    norm = tl.sum(total * tl.exp(peak - top), axis=0)
    pass
    for start in range(0, n_cols, B):
        cols = start + tl.arange(0, B)
        v = tl.load(base + cols, mask=cols < n_cols, other=0.0)  # @L
        tl.store(base + cols, tl.exp(v - top) / norm, mask=cols < n_cols)  # @S


case(softmax_two_pass, softmax_two_pass_race,
     lambda m, n_cols, B: ((m,), dict(x=T("f32", m, n_cols, strides=[n_cols + 5, 1]), stride=n_cols + 5)),
     big=dict(m=1024, n_cols=4099, B=1024), small=dict(m=3, n_cols=29, B=16))


@triton.jit
def layernorm(x, y, w, b, mean, rstd, stride, n, eps, B: tl.constexpr):
    row = tl.program_id(0)
    src = x + row * stride
    acc = tl.zeros((B,), tl.float32)
    for off in range(0, n, B):
        cols = off + tl.arange(0, B)
        acc += tl.load(src + cols, mask=cols < n, other=0.0).to(tl.float32)
    mu = tl.sum(acc, axis=0) / n
    var = tl.zeros((B,), tl.float32)
    for off in range(0, n, B):
        cols = off + tl.arange(0, B)
        d = tl.load(src + cols, mask=cols < n, other=0.0).to(tl.float32) - mu
        var += tl.where(cols < n, d * d, 0.0)
    inv = 1.0 / tl.sqrt(tl.sum(var, axis=0) / n + eps)
    tl.store(mean + row, mu)  # @M
    tl.store(rstd + row, inv)  # @R
    for off in range(0, n, B):
        cols = off + tl.arange(0, B)
        v = tl.load(src + cols, mask=cols < n, other=0.0).to(tl.float32)
        g = tl.load(w + cols, mask=cols < n)
        o = (v - mu) * inv * g + tl.load(b + cols, mask=cols < n)
        tl.store(y + row * stride + cols, o.to(tl.float16), mask=cols < n)  # @Y


@triton.jit
def layernorm_race(x, y, w, b, mean, rstd, stride, n, eps, B: tl.constexpr):
    row = tl.program_id(0)
    src = x + row * stride
    acc = tl.zeros((B,), tl.float32)
    for off in range(0, n, B):
        cols = off + tl.arange(0, B)
        acc += tl.load(src + cols, mask=cols < n, other=0.0).to(tl.float32)
    mu = tl.sum(acc, axis=0) / n
    var = tl.zeros((B,), tl.float32)
    for off in range(0, n, B):
        cols = off + tl.arange(0, B)
        d = tl.load(src + cols, mask=cols < n, other=0.0).to(tl.float32) - mu
        var += tl.where(cols < n, d * d, 0.0)
    inv = 1.0 / tl.sqrt(tl.sum(var, axis=0) / n + eps)
    tl.store(mean + row, mu)  # @M
    tl.store(rstd + row, inv)  # @R
    for off in range(0, n, B):
        cols = off + tl.arange(0, B)
        v = tl.load(src + cols, mask=cols < n, other=0.0).to(tl.float32)
        g = tl.load(w + cols, mask=cols < n)
        o = (v - mu) * inv * g + tl.load(b + cols, mask=cols < n)
        tl.store(y + row * stride + cols, o.to(tl.float16), mask=cols < n + 2)  # @Y


case(layernorm, layernorm_race,
     lambda m, n, B: ((m,), dict(x=T("f16", m, n), y=T("f16", m, n), w=T("f32", n), b=T("f32", n), mean=T("f32", m), rstd=T("f32", m), stride=n, eps=1e-5)),
     big=dict(m=1151, n=1003, B=256), small=dict(m=5, n=29, B=16))


@triton.jit
def rmsnorm(x, w, y, stride_x, stride_y, n, eps, B: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, B)
    v = tl.load(x + row * stride_x + cols, mask=cols < n, other=0.0)
    scale = 1.0 / tl.sqrt(tl.sum(v * v, axis=0) / n + eps)
    g = tl.load(w + cols, mask=cols < n, other=0.0)
    tl.store(y + row * stride_y + cols, v * scale * g, mask=cols < n)  # @S


@triton.jit
def rmsnorm_race(x, w, y, stride_x, stride_y, n, eps, B: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, B)
    v = tl.load(x + row * stride_x + cols, mask=cols < n, other=0.0)
    scale = 1.0 / tl.sqrt(tl.sum(v * v, axis=0) / n + eps)
    g = tl.load(w + cols, mask=cols < n, other=0.0)
    tl.store(y + row * (stride_y // 2) + cols, v * scale * g, mask=cols < n)  # @S


case(rmsnorm, rmsnorm_race,
     lambda m, n, B: ((m,), dict(x=T("f32", m, n, strides=[2 * n, 1]), w=T("f32", n), y=T("f32", m, n, strides=[n + 4, 1]), stride_x=2 * n, stride_y=n + 4, eps=1e-6)),
     big=dict(m=2050, n=700, B=1024), small=dict(m=5, n=13, B=16))


@triton.jit
def groupnorm(x, y, gamma, beta, channels, hw, GROUP: tl.constexpr, B: tl.constexpr):
    image = tl.program_id(0)
    group = tl.program_id(1)
    base = (image * channels + group * GROUP) * hw
    size = GROUP * hw
    s1 = tl.zeros((B,), tl.float32)
    s2 = tl.zeros((B,), tl.float32)
    for off in range(0, size, B):
        i = off + tl.arange(0, B)
        v = tl.load(x + base + i, mask=i < size, other=0.0)
        s1 += v
        s2 += v * v
    mu = tl.sum(s1, axis=0) / size
    inv = 1.0 / tl.sqrt(tl.sum(s2, axis=0) / size - mu * mu + 1e-5)
    for c in range(0, GROUP):
        g = tl.load(gamma + group * GROUP + c) * inv
        shift = tl.load(beta + group * GROUP + c)
        for off in range(0, hw, B):
            i = off + tl.arange(0, B)
            v = tl.load(x + base + c * hw + i, mask=i < hw, other=0.0)
            tl.store(y + base + c * hw + i, (v - mu) * g + shift, mask=i < hw)  # @S


@triton.jit
def groupnorm_race(x, y, gamma, beta, channels, hw, GROUP: tl.constexpr, B: tl.constexpr):
    image = tl.program_id(0)
    group = tl.program_id(1)
    base = (image * channels + group * (GROUP - 1)) * hw
    size = GROUP * hw
    s1 = tl.zeros((B,), tl.float32)
    s2 = tl.zeros((B,), tl.float32)
    for off in range(0, size, B):
        i = off + tl.arange(0, B)
        v = tl.load(x + base + i, mask=i < size, other=0.0)
        s1 += v
        s2 += v * v
    mu = tl.sum(s1, axis=0) / size
    inv = 1.0 / tl.sqrt(tl.sum(s2, axis=0) / size - mu * mu + 1e-5)
    for c in range(0, GROUP):
        g = tl.load(gamma + group * GROUP + c) * inv
        shift = tl.load(beta + group * GROUP + c)
        for off in range(0, hw, B):
            i = off + tl.arange(0, B)
            v = tl.load(x + base + c * hw + i, mask=i < hw, other=0.0)
            tl.store(y + base + c * hw + i, (v - mu) * g + shift, mask=i < hw)  # @S


case(groupnorm, groupnorm_race,
     lambda images, groups, hw, GROUP, B: ((images, groups),
     dict(x=T("f32", images, groups * GROUP, hw), y=T("f32", images, groups * GROUP, hw), gamma=T("f32", groups * GROUP), beta=T("f32", groups * GROUP), channels=groups * GROUP)),
     big=dict(images=67, groups=16, hw=301, GROUP=4, B=128), small=dict(images=3, groups=3, hw=19, GROUP=2, B=16))


@triton.jit
def cross_entropy(logits, labels, loss, lse_out, stride, vocab, ignore, B: tl.constexpr):
    row = tl.program_id(0)
    label = tl.load(labels + row)
    base = logits + row * stride
    peak = float("-inf")
    total = 0.0
    for start in range(0, vocab, B):
        cols = start + tl.arange(0, B)
        v = tl.load(base + cols, mask=cols < vocab, other=float("-inf")).to(tl.float32)
        new = tl.maximum(peak, tl.max(v, axis=0))
        total = total * tl.exp(peak - new) + tl.sum(tl.exp(v - new), axis=0)
        peak = new
    lse = peak + tl.log(total)
    tl.store(lse_out + row, lse)  # @Z
    if label == ignore:
        tl.store(loss + row, 0.0)  # @I
    else:
        picked = tl.load(base + label).to(tl.float32)
        tl.store(loss + row, lse - picked)  # @S


@triton.jit
def cross_entropy_race(logits, labels, loss, lse_out, stride, vocab, ignore, B: tl.constexpr):
    row = tl.program_id(0)
    label = tl.load(labels + row)
    base = logits + row * stride
    peak = float("-inf")
    total = 0.0
    for start in range(0, vocab, B):
        cols = start + tl.arange(0, B)
        v = tl.load(base + cols, mask=cols < vocab, other=float("-inf")).to(tl.float32)
        new = tl.maximum(peak, tl.max(v, axis=0))
        total = total * tl.exp(peak - new) + tl.sum(tl.exp(v - new), axis=0)
        peak = new
    lse = peak + tl.log(total)
    tl.store(lse_out + row // 2, lse)  # @Z
    if label == ignore:
        tl.store(loss + row, 0.0)  # @I
    else:
        picked = tl.load(base + label).to(tl.float32)
        tl.store(loss + row, lse - picked)  # @S


case(cross_entropy, cross_entropy_race,
     lambda m, vocab, B: ((m,), dict(logits=T("f16", m, vocab, strides=[vocab + 3, 1]), labels=T("i64", m), loss=T("f32", m), lse_out=T("f32", m), stride=vocab + 3, ignore=-100)),
     big=dict(m=1500, vocab=5003, B=1024), small=dict(m=5, vocab=29, B=16))


@triton.jit
def log_softmax_bwd(dy, y, dx, stride, n, BM: tl.constexpr, B: tl.constexpr, m):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.arange(0, B)
    inside = (rows[:, None] < m) & (cols[None, :] < n)
    at = rows[:, None] * stride + cols[None, :]
    g = tl.load(dy + at, mask=inside, other=0.0)
    p = tl.exp(tl.load(y + at, mask=inside, other=0.0))
    s = tl.sum(g, axis=1)
    tl.store(dx + at, g - p * s[:, None], mask=inside)  # @S


@triton.jit
def log_softmax_bwd_race(dy, y, dx, stride, n, BM: tl.constexpr, B: tl.constexpr, m):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.arange(0, B)
    inside = (rows[:, None] < m) & (cols[None, :] < n)
    at = rows[:, None] * stride + cols[None, :]
    g = tl.load(dy + at, mask=inside, other=0.0)
    p = tl.exp(tl.load(y + at, mask=inside, other=0.0))
    s = tl.sum(g, axis=1)
    tl.store(dx + at, g - p * s[:, None], mask=(rows[:, None] < m) & (cols[None, :] <= n))  # @S


case(log_softmax_bwd, log_softmax_bwd_race,
     lambda m, n, BM, B: ((cdiv(m, BM),), dict(dy=T("f32", m, n), y=T("f32", m, n), dx=T("f32", m, n), stride=n)),
     big=dict(m=4099, n=300, BM=4, B=512), small=dict(m=29, n=13, BM=8, B=16))


@triton.jit
def jensen_shannon(logp, logq, loss, dlogq, stride, vocab, beta, B: tl.constexpr):
    at = tl.program_id(0) * stride
    for start in range(0, vocab, B):
        cols = start + tl.arange(0, B)
        live = cols < vocab
        y = tl.load(logp + at + cols, mask=live, other=float("-inf")).to(tl.float32)
        x = tl.load(logq + at + cols, mask=live, other=float("-inf")).to(tl.float32)
        p = tl.exp(y)
        q = tl.exp(x)
        mix = beta * p + (1.0 - beta) * q
        lm = tl.log(mix)
        tl.store(loss + at + cols, beta * p * y + (1.0 - beta) * q * x - mix * lm, mask=live)  # @L
        tl.store(dlogq + at + cols, (1.0 - beta) * q * (x - lm), mask=live)  # @G


@triton.jit
def jensen_shannon_race(logp, logq, loss, dlogq, stride, vocab, beta, B: tl.constexpr):
    at = tl.program_id(0) * stride
    for start in range(0, vocab, B):
        cols = start + tl.arange(0, B)
        live = cols < vocab
        y = tl.load(logp + at + cols, mask=live, other=float("-inf")).to(tl.float32)
        x = tl.load(logq + at + cols, mask=live, other=float("-inf")).to(tl.float32)
        p = tl.exp(y)
        q = tl.exp(x)
        mix = beta * p + (1.0 - beta) * q
        lm = tl.log(mix)
        tl.store(loss + at + cols, beta * p * y + (1.0 - beta) * q * x - mix * lm, mask=live)  # @L
        tl.store(dlogq + at // 2 + cols, (1.0 - beta) * q * (x - lm), mask=live)  # @G


case(jensen_shannon, jensen_shannon_race,
     lambda m, vocab, B: ((m,), dict(logp=T("bf16", m, vocab), logq=T("bf16", m, vocab), loss=T("f32", m, vocab),
     dlogq=T("f32", m, vocab), stride=vocab, beta=0.5)),
     big=dict(m=1500, vocab=5003, B=1024), small=dict(m=5, vocab=29, B=16))
