"""Elementwise kernels: one tile a program, contiguous or row-strided operands."""
import triton
import triton.language as tl

from registry import T, case, cdiv


@triton.jit
def vadd(x, y, out, n, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    inside = i < n
    a = tl.load(x + i, mask=inside)
    b = tl.load(y + i, mask=inside)
    tl.store(out + i, a + b, mask=inside)  # @S


@triton.jit
def vadd_race(x, y, out, n, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * (B // 2) + tl.arange(0, B)
    inside = i < n
    a = tl.load(x + i, mask=inside)
    b = tl.load(y + i, mask=inside)
    tl.store(out + i, a + b, mask=inside)  # @S


case(vadd, vadd_race,
     lambda n, B: ((cdiv(n, B),), dict(x=T("f32", n), y=T("f32", n), out=T("f32", n))),
     big=dict(n=1048573, B=1024), small=dict(n=61, B=16))


@triton.jit
def smoke_copy(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)  # @S


@triton.jit
def smoke_copy_race(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i % (3 * B), tl.load(x + i, mask=i < n), mask=i < n)  # @S


case(smoke_copy, smoke_copy_race,
     lambda n, B: ((cdiv(n, B),), dict(x=T("f16", n), y=T("f16", n))),
     big=dict(n=2097101, B=2048), small=dict(n=77, B=16))


@triton.jit
def axpy(x, y, alpha, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n
    new = alpha * tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside)  # @L
    tl.store(y + i, new, mask=inside)  # @S


@triton.jit
def axpy_race(x, y, alpha, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n
    new = alpha * tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside)  # @L
    tl.store(y + i + 1, new, mask=inside)  # @S


case(axpy, axpy_race,
     lambda n, B: ((cdiv(n, B),), dict(x=T("f32", n), y=T("f32", n + 1), alpha=0.5)),
     big=dict(n=1050001, B=1024), small=dict(n=101, B=32))


@triton.jit
def gelu(x, y, n, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    u = 0.7978845608 * (v + 0.044715 * v * v * v)
    t = 1.0 - 2.0 / (tl.exp(2.0 * u) + 1.0)
    tl.store(y + i, 0.5 * v * (1.0 + t), mask=i < n)  # @S


@triton.jit
def gelu_race(x, y, n, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    u = 0.7978845608 * (v + 0.044715 * v * v * v)
    t = 1.0 - 2.0 / (tl.exp(2.0 * u) + 1.0)
    tl.store(y + tl.minimum(i, n - 1), 0.5 * v * (1.0 + t))  # @S


case(gelu, gelu_race,
     lambda n, B: ((cdiv(n, B) + 1,), dict(x=T("f32", n), y=T("f32", n))),
     big=dict(n=1300003, B=1024), small=dict(n=43, B=16))


@triton.jit
def swiglu(gate, up, out, stride_g, stride_u, stride_o, n_cols, B: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.program_id(1) * B + tl.arange(0, B)
    inside = cols < n_cols
    g = tl.load(gate + row * stride_g + cols, mask=inside, other=0.0).to(tl.float32)
    u = tl.load(up + row * stride_u + cols, mask=inside, other=0.0).to(tl.float32)
    silu = g / (1.0 + tl.exp(-g))
    tl.store(out + row * stride_o + cols, (silu * u).to(tl.float16), mask=inside)  # @S


@triton.jit
def swiglu_race(gate, up, out, stride_g, stride_u, stride_o, n_cols, B: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, B)
    inside = cols < n_cols
    g = tl.load(gate + row * stride_g + cols, mask=inside, other=0.0).to(tl.float32)
    u = tl.load(up + row * stride_u + cols, mask=inside, other=0.0).to(tl.float32)
    silu = g / (1.0 + tl.exp(-g))
    tl.store(out + row * stride_o + cols, (silu * u).to(tl.float16), mask=inside)  # @S


case(swiglu, swiglu_race,
     lambda m, n_cols, B: ((m, cdiv(n_cols, B)),
     dict(gate=T("f16", m, n_cols, strides=[n_cols + 8, 1]), up=T("f16", m, n_cols), out=T("f16", m, n_cols, strides=[n_cols + 24, 1]),
     stride_g=n_cols + 8, stride_u=n_cols, stride_o=n_cols + 24)),
     big=dict(m=517, n_cols=2731, B=512), small=dict(m=5, n_cols=43, B=16))


@triton.jit
def bias_add(x, bias, y, m, n, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = (rows[:, None] < m) & (cols[None, :] < n)
    b = tl.load(bias + cols, mask=cols < n, other=0.0)
    at = rows[:, None] * n + cols[None, :]
    v = tl.load(x + at, mask=inside, other=0.0)
    tl.store(y + at, v + b[None, :], mask=inside)  # @S


@triton.jit
def bias_add_race(x, bias, y, m, n, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = (rows[:, None] < m) & (cols[None, :] < n)
    b = tl.load(bias + cols, mask=cols < n, other=0.0)
    at = rows[:, None] * n + cols[None, :]
    v = tl.load(x + at, mask=inside, other=0.0)
    tl.store(y + at, v + b[None, :], mask=rows[:, None] < m)  # @S


case(bias_add, bias_add_race,
     lambda m, n, BM, BN: ((cdiv(m, BM), cdiv(n, BN)), dict(x=T("f32", m, n), bias=T("f32", n), y=T("f32", m, n))),
     big=dict(m=1001, n=1100, BM=16, BN=64), small=dict(m=29, n=43, BM=8, BN=16), nospec=True)


@triton.jit
def dropout(x, y, n, p, seed, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    keep = tl.rand(seed, i) > p
    v = tl.where(keep, v / (1.0 - p), 0.0)
    tl.store(y + i, v, mask=i < n)  # @S


@triton.jit
def dropout_race(x, y, n, p, seed, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    keep = tl.rand(seed, i) > p
    v = tl.where(keep, v / (1.0 - p), 0.0)
    tl.store(y + i // 2, v, mask=i < n)  # @S


case(dropout, dropout_race,
     lambda n, B: ((cdiv(n, B),), dict(x=T("f32", n), y=T("f32", n), p=0.25, seed=1234)),
     big=dict(n=1048570, B=1024), small=dict(n=61, B=16))


@triton.jit
def rotary(q, cos, sin, stride_t, stride_h, n_heads, HALF: tl.constexpr, HB: tl.constexpr):
    t = tl.program_id(0)
    heads = tl.program_id(1) * HB + tl.arange(0, HB)
    d = tl.arange(0, HALF)
    c = tl.load(cos + t * HALF + d)
    s = tl.load(sin + t * HALF + d)
    lower = q + t * stride_t + heads[:, None] * stride_h + d[None, :]
    upper = lower + HALF
    inside = heads[:, None] < n_heads
    a = tl.load(lower, mask=inside, other=0.0)  # @LA
    b = tl.load(upper, mask=inside, other=0.0)  # @LB
    tl.store(lower, a * c[None, :] - b * s[None, :], mask=inside)  # @SA
    tl.store(upper, b * c[None, :] + a * s[None, :], mask=inside)  # @SB


@triton.jit
def rotary_race(q, cos, sin, stride_t, stride_h, n_heads, HALF: tl.constexpr, HB: tl.constexpr):
    t = tl.program_id(0)
    heads = tl.program_id(1) * HB + tl.arange(0, HB)
    d = tl.arange(0, HALF)
    c = tl.load(cos + t * HALF + d)
    s = tl.load(sin + t * HALF + d)
    lower = q + t * stride_t + heads[:, None] * stride_h + d[None, :]
    upper = lower + (HALF - 1)
    inside = heads[:, None] < n_heads
    a = tl.load(lower, mask=inside, other=0.0)  # @LA
    b = tl.load(upper, mask=inside, other=0.0)  # @LB
    tl.store(lower, a * c[None, :] - b * s[None, :], mask=inside)  # @SA
    tl.store(upper, b * c[None, :] + a * s[None, :], mask=inside)  # @SB


case(rotary, rotary_race,
     lambda t, n_heads, HALF, HB: ((t, cdiv(n_heads, HB)),
     dict(q=T("f32", t, n_heads, 2 * HALF), cos=T("f32", t, HALF), sin=T("f32", t, HALF), stride_t=n_heads * 2 * HALF, stride_h=2 * HALF)),
     big=dict(t=1021, n_heads=13, HALF=32, HB=8), small=dict(t=3, n_heads=21, HALF=8, HB=8))


@triton.jit
def masked_fill(x, flags, y, value, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n
    v = tl.load(x + i, mask=inside)
    f = tl.load(flags + i, mask=inside, other=0)
    tl.store(y + i, tl.where(f != 0, value, v), mask=inside)  # @S


@triton.jit
def masked_fill_race(x, flags, y, value, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n
    v = tl.load(x + i, mask=inside)
    f = tl.load(flags + i, mask=inside, other=0)
    tl.store(y + (i - i % 2), tl.where(f != 0, value, v), mask=inside)  # @S


case(masked_fill, masked_fill_race,
     lambda n, B: ((cdiv(n, B),), dict(x=T("f32", n), flags=T("i1", n), y=T("f32", n), value=-1.0)),
     big=dict(n=1048579, B=1024), small=dict(n=61, B=16))


@triton.jit
def quantize_block(x, q, scale, n, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    top = tl.max(tl.abs(v), axis=0)
    step = tl.maximum(top, 1e-6) / 127.0
    r = v / step
    code = (r + tl.where(r >= 0, 0.5, -0.5)).to(tl.int8)
    tl.store(q + i, code, mask=i < n)  # @Q
    tl.store(scale + pid, step)  # @C


@triton.jit
def quantize_block_race(x, q, scale, n, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    top = tl.max(tl.abs(v), axis=0)
    step = tl.maximum(top, 1e-6) / 127.0
    r = v / step
    code = (r + tl.where(r >= 0, 0.5, -0.5)).to(tl.int8)
    tl.store(q + i, code, mask=i < n)  # @Q
    tl.store(scale + pid // 2, step)  # @C


case(quantize_block, quantize_block_race,
     lambda n, B: ((cdiv(n, B),), dict(x=T("f32", n), q=T("i8", n), scale=T("f32", cdiv(n, B)))),
     big=dict(n=1100000, B=256), small=dict(n=61, B=16))


@triton.jit
def dequantize_pack(packed, scale, out, n_bytes, GROUP: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n_bytes
    word = tl.load(packed + i, mask=inside, other=0).to(tl.int32)
    s = tl.load(scale + i // GROUP, mask=inside, other=0.0)
    low = ((word & 15) - 8).to(tl.float32) * s
    high = (((word >> 4) & 15) - 8).to(tl.float32) * s
    tl.store(out + 2 * i, low, mask=inside)  # @E
    tl.store(out + 2 * i + 1, high, mask=inside)  # @O


@triton.jit
def dequantize_pack_race(packed, scale, out, n_bytes, GROUP: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n_bytes
    word = tl.load(packed + i, mask=inside, other=0).to(tl.int32)
    s = tl.load(scale + i // GROUP, mask=inside, other=0.0)
    low = ((word & 15) - 8).to(tl.float32) * s
    high = (((word >> 4) & 15) - 8).to(tl.float32) * s
    tl.store(out + 2 * i, low, mask=inside)  # @E
    tl.store(out + 2 * i + 2, high, mask=inside)  # @O


case(dequantize_pack, dequantize_pack_race,
     lambda n_bytes, GROUP, B: ((cdiv(n_bytes, B),), dict(packed=T("i8", n_bytes), scale=T("f32", cdiv(n_bytes, GROUP)), out=T("f32", 2 * n_bytes + 2))),
     big=dict(n_bytes=700003, GROUP=64, B=512), small=dict(n_bytes=61, GROUP=8, B=16))
