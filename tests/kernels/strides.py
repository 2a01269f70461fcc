"""Kernels whose sizes and strides are all symbolic: what they write is disjoint when the strides do not overlap."""
import triton
import triton.language as tl

from registry import T, case, cdiv


@triton.jit
def matmul_strides(a, b, c, m, n, k, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
                   BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    width = GROUP * tiles_n
    first = (pid // width) * GROUP
    rows_here = min(tiles_m - first, GROUP)
    pid_m = first + (pid % width) % rows_here
    pid_n = (pid % width) // rows_here
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = a + (rm % m)[:, None] * stride_am + rk[None, :] * stride_ak
    pb = b + rk[:, None] * stride_bk + (rn % n)[None, :] * stride_bn
    acc = tl.zeros((BM, BN), tl.float32)
    for step in range(0, tl.cdiv(k, BK)):
        left = k - step * BK
        ta = tl.load(pa, mask=rk[None, :] < left, other=0.0)
        tb = tl.load(pb, mask=rk[:, None] < left, other=0.0)
        acc = tl.dot(ta, tb, acc)
        pa += BK * stride_ak
        pb += BK * stride_bk
    pc = c + rm[:, None] * stride_cm + rn[None, :] * stride_cn
    tl.store(pc, acc.to(tl.float16), mask=(rm[:, None] < m) & (rn[None, :] < n))  # @S


@triton.jit
def matmul_strides_race(a, b, c, m, n, k, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
                   BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    width = GROUP * tiles_n
    first = (pid // width) * GROUP
    rows_here = min(tiles_m - first, GROUP)
    pid_m = first + (pid % width) % rows_here
    pid_n = (pid % width) // rows_here
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = a + (rm % m)[:, None] * stride_am + rk[None, :] * stride_ak
    pb = b + rk[:, None] * stride_bk + (rn % n)[None, :] * stride_bn
    acc = tl.zeros((BM, BN), tl.float32)
    for step in range(0, tl.cdiv(k, BK)):
        left = k - step * BK
        ta = tl.load(pa, mask=rk[None, :] < left, other=0.0)
        tb = tl.load(pb, mask=rk[:, None] < left, other=0.0)
        acc = tl.dot(ta, tb, acc)
        pa += BK * stride_ak
        pb += BK * stride_bk
    pc = c + rm[:, None] * stride_cm + rn[None, :] * stride_cn
    tl.store(pc, acc.to(tl.float16), mask=(rm[:, None] < m) & (rn[None, :] < n + 1))  # @S


case(matmul_strides, matmul_strides_race,
     lambda m, n, k, BM, BN, BK, GROUP: ((cdiv(m, BM) * cdiv(n, BN),),
     dict(a=T("f16", m, k), b=T("f16", k, n), c=T("f16", m, n), stride_am=k, stride_ak=1, stride_bk=n, stride_bn=1,
          stride_cm=n, stride_cn=1)),
     big=dict(m=1300, n=1500, k=777, BM=64, BN=64, BK=32, GROUP=8),
     small=dict(m=37, n=21, k=39, BM=8, BN=8, BK=16, GROUP=2), nospec=True)


@triton.jit
def attention_strides(q, k, v, o, lse, stride_qz, stride_qh, stride_qm, stride_qd, stride_kz, stride_kh, stride_kn, stride_kd,
                      stride_vz, stride_vh, stride_vn, stride_vd, stride_oz, stride_oh, stride_om, stride_od,
                      heads, queries, keys, width, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    z = tl.program_id(1) // heads
    h = tl.program_id(1) % heads
    d = tl.arange(0, D)
    here = (rows[:, None] < queries) & (d[None, :] < width)
    tq = tl.load(q + z * stride_qz + h * stride_qh + rows[:, None] * stride_qm + d[None, :] * stride_qd, mask=here, other=0.0)
    peak = tl.full((BM,), -1.0e30, tl.float32)
    norm = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, keys, BN):
        cols = start + tl.arange(0, BN)
        tk = tl.load(k + z * stride_kz + h * stride_kh + d[:, None] * stride_kd + cols[None, :] * stride_kn,
                     mask=(cols[None, :] < keys) & (d[:, None] < width), other=0.0)
        s = tl.dot(tq, tk) * scale
        s = tl.where(cols[None, :] < keys, s, -1.0e30)
        new = tl.maximum(peak, tl.max(s, axis=1))
        p = tl.exp(s - new[:, None])
        shrink = tl.exp(peak - new)
        norm = norm * shrink + tl.sum(p, axis=1)
        tv = tl.load(v + z * stride_vz + h * stride_vh + cols[:, None] * stride_vn + d[None, :] * stride_vd,
                     mask=(cols[:, None] < keys) & (d[None, :] < width), other=0.0)
        acc = tl.dot(p.to(tl.float16), tv, acc * shrink[:, None])
        peak = new
    acc = acc / norm[:, None]
    tl.store(lse + tl.program_id(1) * queries + rows, peak + tl.log(norm), mask=rows < queries)  # @L
    at = z * stride_oz + h * stride_oh + rows[:, None] * stride_om + d[None, :] * stride_od
    tl.store(o + at, acc.to(tl.float16), mask=here)  # @S


@triton.jit
def attention_strides_race(q, k, v, o, lse, stride_qz, stride_qh, stride_qm, stride_qd, stride_kz, stride_kh, stride_kn, stride_kd,
                      stride_vz, stride_vh, stride_vn, stride_vd, stride_oz, stride_oh, stride_om, stride_od,
                      heads, queries, keys, width, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    z = tl.program_id(1) // heads
    h = tl.program_id(1) % heads
    d = tl.arange(0, D)
    here = (rows[:, None] < queries) & (d[None, :] < width)
    tq = tl.load(q + z * stride_qz + h * stride_qh + rows[:, None] * stride_qm + d[None, :] * stride_qd, mask=here, other=0.0)
    peak = tl.full((BM,), -1.0e30, tl.float32)
    norm = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, keys, BN):
        cols = start + tl.arange(0, BN)
        tk = tl.load(k + z * stride_kz + h * stride_kh + d[:, None] * stride_kd + cols[None, :] * stride_kn,
                     mask=(cols[None, :] < keys) & (d[:, None] < width), other=0.0)
        s = tl.dot(tq, tk) * scale
        s = tl.where(cols[None, :] < keys, s, -1.0e30)
        new = tl.maximum(peak, tl.max(s, axis=1))
        p = tl.exp(s - new[:, None])
        shrink = tl.exp(peak - new)
        norm = norm * shrink + tl.sum(p, axis=1)
        tv = tl.load(v + z * stride_vz + h * stride_vh + cols[:, None] * stride_vn + d[None, :] * stride_vd,
                     mask=(cols[:, None] < keys) & (d[None, :] < width), other=0.0)
        acc = tl.dot(p.to(tl.float16), tv, acc * shrink[:, None])
        peak = new
    acc = acc / norm[:, None]
    tl.store(lse + tl.program_id(1) * queries + rows, peak + tl.log(norm), mask=rows < queries)  # @L
    at = z * stride_oz + h * stride_om + rows[:, None] * stride_oh + d[None, :] * stride_od
    tl.store(o + at, acc.to(tl.float16), mask=here)  # @S


case(attention_strides, attention_strides_race,
     lambda batch, heads, queries, keys, width, BM, BN, D: ((cdiv(queries, BM), batch * heads),
     dict(q=T("f16", batch, heads, queries, width), k=T("f16", batch, heads, keys, width),
          v=T("f16", batch, heads, keys, width), o=T("f16", batch, heads, queries, width), lse=T("f32", batch, heads, queries),
          **{f"stride_q{x}": s for x, s in zip("zhmd", (heads * queries * width, queries * width, width, 1))},
          **{f"stride_k{x}": s for x, s in zip("zhnd", (heads * keys * width, keys * width, width, 1))},
          **{f"stride_v{x}": s for x, s in zip("zhnd", (heads * keys * width, keys * width, width, 1))},
          **{f"stride_o{x}": s for x, s in zip("zhmd", (heads * queries * width, queries * width, width, 1))}, scale=0.125)),
     big=dict(batch=3, heads=24, queries=1003, keys=517, width=61, BM=64, BN=64, D=64),
     small=dict(batch=3, heads=3, queries=21, keys=17, width=13, BM=8, BN=16, D=16), nospec=True)


@triton.jit
def layernorm_strides(x, y, weight, bias, mean, rstd, stride_xr, stride_xc, stride_yr, stride_yc, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        at = start + cols
        total += tl.load(x + row * stride_xr + at * stride_xc, mask=at < n, other=0.0)
    centre = tl.sum(total, axis=0) / n
    square = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        at = start + cols
        v = tl.load(x + row * stride_xr + at * stride_xc, mask=at < n, other=0.0)
        v = tl.where(at < n, v - centre, 0.0)
        square += v * v
    scale = 1.0 / tl.sqrt(tl.sum(square, axis=0) / n + eps)
    tl.store(mean + row, centre)  # @M
    tl.store(rstd + row, scale)  # @R
    for start in range(0, n, BLOCK):
        at = start + cols
        w = tl.load(weight + at, mask=at < n, other=0.0)
        b = tl.load(bias + at, mask=at < n, other=0.0)
        v = tl.load(x + row * stride_xr + at * stride_xc, mask=at < n, other=0.0)
        out = (v - centre) * scale * w + b
        tl.store(y + row * stride_yr + at * stride_yc, out, mask=at < n)  # @Y


@triton.jit
def layernorm_strides_race(x, y, weight, bias, mean, rstd, stride_xr, stride_xc, stride_yr, stride_yc, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        at = start + cols
        total += tl.load(x + row * stride_xr + at * stride_xc, mask=at < n, other=0.0)
    centre = tl.sum(total, axis=0) / n
    square = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        at = start + cols
        v = tl.load(x + row * stride_xr + at * stride_xc, mask=at < n, other=0.0)
        v = tl.where(at < n, v - centre, 0.0)
        square += v * v
    scale = 1.0 / tl.sqrt(tl.sum(square, axis=0) / n + eps)
    tl.store(mean + row, centre)  # @M
    tl.store(rstd + row, scale)  # @R
    for start in range(0, n, BLOCK):
        at = start + cols
        w = tl.load(weight + at, mask=at < n, other=0.0)
        b = tl.load(bias + at, mask=at < n, other=0.0)
        v = tl.load(x + row * stride_xr + at * stride_xc, mask=at < n, other=0.0)
        out = (v - centre) * scale * w + b
        tl.store(y + row * stride_yr + at * stride_yc, out, mask=at < n + BLOCK)  # @Y


case(layernorm_strides, layernorm_strides_race,
     lambda rows, n, BLOCK: ((rows,),
     dict(x=T("f32", rows, n), y=T("f32", rows, n), weight=T("f32", n), bias=T("f32", n), mean=T("f32", rows), rstd=T("f32", rows),
          stride_xr=n, stride_xc=1, stride_yr=n, stride_yc=1, eps=1e-5)),
     big=dict(rows=1200, n=3001, BLOCK=1024), small=dict(rows=9, n=37, BLOCK=16), nospec=True)
