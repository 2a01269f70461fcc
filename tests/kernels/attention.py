"""Attention forward, decoding with split keys, key/value caches."""
import triton
import triton.language as tl

from registry import T, case, cdiv


@triton.jit
def attention_full(q, k, v, o, stride_z, stride_h, stride_t, heads, keys, scale, BM: tl.constexpr, BN: tl.constexpr,
                   D: tl.constexpr, queries):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    z = tl.program_id(1) // heads
    h = tl.program_id(1) % heads
    base = z * stride_z + h * stride_h
    d = tl.arange(0, D)
    at_q = rows[:, None] * stride_t + d[None, :]
    tq = tl.load(q + base + at_q, mask=rows[:, None] < queries, other=0.0)
    peak = tl.full((BM,), -1.0e30, tl.float32)
    norm = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, keys, BN):
        cols = start + tl.arange(0, BN)
        tk = tl.load(k + base + d[:, None] + cols[None, :] * stride_t, mask=cols[None, :] < keys, other=0.0)
        s = tl.dot(tq, tk) * scale
        s = tl.where(cols[None, :] < keys, s, -1.0e30)
        new = tl.maximum(peak, tl.max(s, axis=1))
        p = tl.exp(s - new[:, None])
        shrink = tl.exp(peak - new)
        norm = norm * shrink + tl.sum(p, axis=1)
        tv = tl.load(v + base + cols[:, None] * stride_t + d[None, :], mask=cols[:, None] < keys, other=0.0)
        acc = tl.dot(p.to(tl.float16), tv, acc * shrink[:, None])
        peak = new
    acc = acc / norm[:, None]
    tl.store(o + base + at_q, acc.to(tl.float16), mask=rows[:, None] < queries)  # @S


@triton.jit
def attention_full_race(q, k, v, o, stride_z, stride_h, stride_t, heads, keys, scale, BM: tl.constexpr, BN: tl.constexpr,
                   D: tl.constexpr, queries):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    z = tl.program_id(1) // heads
    h = tl.program_id(1) % (heads - 1)
    base = z * stride_z + h * stride_h
    d = tl.arange(0, D)
    at_q = rows[:, None] * stride_t + d[None, :]
    tq = tl.load(q + base + at_q, mask=rows[:, None] < queries, other=0.0)
    peak = tl.full((BM,), -1.0e30, tl.float32)
    norm = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, keys, BN):
        cols = start + tl.arange(0, BN)
        tk = tl.load(k + base + d[:, None] + cols[None, :] * stride_t, mask=cols[None, :] < keys, other=0.0)
        s = tl.dot(tq, tk) * scale
        s = tl.where(cols[None, :] < keys, s, -1.0e30)
        new = tl.maximum(peak, tl.max(s, axis=1))
        p = tl.exp(s - new[:, None])
        shrink = tl.exp(peak - new)
        norm = norm * shrink + tl.sum(p, axis=1)
        tv = tl.load(v + base + cols[:, None] * stride_t + d[None, :], mask=cols[:, None] < keys, other=0.0)
        acc = tl.dot(p.to(tl.float16), tv, acc * shrink[:, None])
        peak = new
    acc = acc / norm[:, None]
    tl.store(o + base + at_q, acc.to(tl.float16), mask=rows[:, None] < queries)  # @S


case(attention_full, attention_full_race,
     lambda batch, heads, queries, keys, BM, BN, D: ((cdiv(queries, BM), batch * heads),
     dict(q=T("f16", batch, heads, queries, D), k=T("f16", batch, heads, queries, D), v=T("f16", batch, heads, queries, D), o=T("f16", batch, heads, queries, D),
     stride_z=heads * queries * D, stride_h=queries * D, stride_t=D, scale=0.125)),
     big=dict(batch=3, heads=24, queries=1003, keys=1003, BM=64, BN=64, D=64), small=dict(batch=2, heads=2, queries=21, keys=21, BM=8, BN=16, D=16))


@triton.jit
def attention_causal(q, k, v, o, lse, stride_h, length, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    tile = tl.program_id(0)
    head = tl.program_id(1)
    rows = tile * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    tq = tl.load(q + head * stride_h + rows[:, None] * D + d[None, :], mask=rows[:, None] < length, other=0.0)
    peak = tl.full((BM,), -1.0e30, tl.float32)
    norm = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, tl.minimum((tile + 1) * BM, length), BN):
        cols = start + tl.arange(0, BN)
        tk = tl.load(k + head * stride_h + cols[None, :] * D + d[:, None], mask=cols[None, :] < length, other=0.0)
        s = tl.where(rows[:, None] >= cols[None, :], tl.dot(tq, tk) * scale, -1.0e30)
        new = tl.maximum(peak, tl.max(s, axis=1))
        p = tl.exp(s - new[:, None])
        shrink = tl.exp(peak - new)
        norm = norm * shrink + tl.sum(p, axis=1)
        tv = tl.load(v + head * stride_h + cols[:, None] * D + d[None, :], mask=cols[:, None] < length, other=0.0)
        acc = tl.dot(p.to(tl.float16), tv, acc * shrink[:, None])
        peak = new
    tl.store(lse + head * length + rows, peak + tl.log(norm), mask=rows < length)  # @L
    out = o + head * stride_h + rows[:, None] * D + d[None, :]
    tl.store(out, (acc / norm[:, None]).to(tl.float16), mask=rows[:, None] < length)  # @S


@triton.jit
def attention_causal_race(q, k, v, o, lse, stride_h, length, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    tile = tl.program_id(0)
    head = tl.program_id(1)
    rows = tile * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    tq = tl.load(q + head * stride_h + rows[:, None] * D + d[None, :], mask=rows[:, None] < length, other=0.0)
    peak = tl.full((BM,), -1.0e30, tl.float32)
    norm = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, tl.minimum((tile + 1) * BM, length), BN):
        cols = start + tl.arange(0, BN)
        tk = tl.load(k + head * stride_h + cols[None, :] * D + d[:, None], mask=cols[None, :] < length, other=0.0)
        s = tl.where(rows[:, None] >= cols[None, :], tl.dot(tq, tk) * scale, -1.0e30)
        new = tl.maximum(peak, tl.max(s, axis=1))
        p = tl.exp(s - new[:, None])
        shrink = tl.exp(peak - new)
        norm = norm * shrink + tl.sum(p, axis=1)
        tv = tl.load(v + head * stride_h + cols[:, None] * D + d[None, :], mask=cols[:, None] < length, other=0.0)
        acc = tl.dot(p.to(tl.float16), tv, acc * shrink[:, None])
        peak = new
    tl.store(lse + head * length + rows, peak + tl.log(norm))  # @L
    out = o + head * stride_h + rows[:, None] * D + d[None, :]
    tl.store(out, (acc / norm[:, None]).to(tl.float16), mask=rows[:, None] < length)  # @S


case(attention_causal, attention_causal_race,
     lambda heads, length, BM, BN, D: ((cdiv(length, BM), heads),
     dict(q=T("f16", heads, length, D), k=T("f16", heads, length, D), v=T("f16", heads, length, D), o=T("f16", heads, length, D), lse=T("f32", heads, length), stride_h=length * D, scale=0.1)),
     big=dict(heads=70, length=1000, BM=64, BN=64, D=64), small=dict(heads=3, length=45, BM=16, BN=16, D=16))


@triton.jit
def decode_split(q, k, v, part, stat, keys, chunk, splits, BN: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(0)
    split = tl.program_id(1)
    d = tl.arange(0, D)
    tq = tl.load(q + head * D + d)
    first = split * chunk
    last = tl.minimum(first + chunk, keys)
    peak = -1.0e30
    norm = 0.0
    acc = tl.zeros((D,), tl.float32)
    for start in range(first, last, BN):
        t = start + tl.arange(0, BN)
        at = (head * keys + t)[:, None] * D + d[None, :]
        tk = tl.load(k + at, mask=t[:, None] < last, other=0.0)
        s = tl.where(t < last, tl.sum(tk * tq[None, :], axis=1), -1.0e30)
        new = tl.maximum(peak, tl.max(s, axis=0))
        p = tl.exp(s - new)
        shrink = tl.exp(peak - new)
        norm = norm * shrink + tl.sum(p, axis=0)
        tv = tl.load(v + at, mask=t[:, None] < last, other=0.0)
        acc = acc * shrink + tl.sum(p[:, None] * tv, axis=0)
        peak = new
    slot = head * splits + split
    tl.store(part + slot * D + d, acc)  # @P
    tl.store(stat + slot * 2, peak)  # @M
    tl.store(stat + slot * 2 + 1, norm)  # @N


@triton.jit
def decode_split_race(q, k, v, part, stat, keys, chunk, splits, BN: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(0)
    split = tl.program_id(1)
    d = tl.arange(0, D)
    tq = tl.load(q + head * D + d)
    first = split * chunk
    last = tl.minimum(first + chunk, keys)
    peak = -1.0e30
    norm = 0.0
    acc = tl.zeros((D,), tl.float32)
    for start in range(first, last, BN):
        t = start + tl.arange(0, BN)
        at = (head * keys + t)[:, None] * D + d[None, :]
        tk = tl.load(k + at, mask=t[:, None] < last, other=0.0)
        s = tl.where(t < last, tl.sum(tk * tq[None, :], axis=1), -1.0e30)
        new = tl.maximum(peak, tl.max(s, axis=0))
        p = tl.exp(s - new)
        shrink = tl.exp(peak - new)
        norm = norm * shrink + tl.sum(p, axis=0)
        tv = tl.load(v + at, mask=t[:, None] < last, other=0.0)
        acc = acc * shrink + tl.sum(p[:, None] * tv, axis=0)
        peak = new
    slot = head * (splits - 1) + split
    tl.store(part + slot * D + d, acc)  # @P
    tl.store(stat + slot * 2, peak)  # @M
    tl.store(stat + slot * 2 + 1, norm)  # @N


case(decode_split, decode_split_race,
     lambda heads, keys, chunk, BN, D: ((heads, cdiv(keys, chunk)),
     dict(q=T("f32", heads, D), k=T("f32", heads, keys, D), v=T("f32", heads, keys, D), part=T("f32", heads, cdiv(keys, chunk), D), stat=T("f32", heads, cdiv(keys, chunk), 2), splits=cdiv(keys, chunk))),
     big=dict(heads=128, keys=2500, chunk=256, BN=64, D=64), small=dict(heads=3, keys=57, chunk=22, BN=16, D=8))


@triton.jit
def decode_merge(part, stat, out, splits, D: tl.constexpr):
    head = tl.program_id(0)
    d = tl.arange(0, D)
    peak = -1.0e30
    norm = 0.0
    acc = tl.zeros((D,), tl.float32)
    for s in range(0, splits):
        slot = head * splits + s
        m = tl.load(stat + slot * 2)
        new = tl.maximum(peak, m)
        shrink = tl.exp(peak - new)
        w = tl.exp(m - new)
        acc = acc * shrink + w * tl.load(part + slot * D + d)
        norm = norm * shrink + w * tl.load(stat + slot * 2 + 1)
        peak = new
    tl.store(out + head * D + d, acc / norm)  # @S


@triton.jit
def decode_merge_race(part, stat, out, splits, D: tl.constexpr):
    head = tl.program_id(0)
    d = tl.arange(0, D)
    peak = -1.0e30
    norm = 0.0
    acc = tl.zeros((D,), tl.float32)
    for s in range(0, splits):
        slot = head * splits + s
        m = tl.load(stat + slot * 2)
        new = tl.maximum(peak, m)
        shrink = tl.exp(peak - new)
        w = tl.exp(m - new)
        acc = acc * shrink + w * tl.load(part + slot * D + d)
        norm = norm * shrink + w * tl.load(stat + slot * 2 + 1)
        peak = new
    tl.store(out + head * (D // 2) + d, acc / norm)  # @S


case(decode_merge, decode_merge_race,
     lambda heads, splits, D: ((heads,), dict(part=T("f32", heads, splits, D), stat=T("f32", heads, splits, 2), out=T("f32", heads, D))),
     big=dict(heads=16385, splits=9, D=64), small=dict(heads=5, splits=3, D=16))


@triton.jit
def kv_append(new, cache, position, capacity, stride_b, stride_t, tokens, width, BT: tl.constexpr, BW: tl.constexpr):
    batch = tl.program_id(0)
    t = tl.program_id(1) * BT + tl.arange(0, BT)
    w = tl.arange(0, BW)
    inside = (t[:, None] < tokens) & (w[None, :] < width)
    v = tl.load(new + (batch * tokens + t)[:, None] * width + w[None, :], mask=inside, other=0.0)
    fits = (position + t)[:, None] < capacity
    at = batch * stride_b + (position + t)[:, None] * stride_t + w[None, :]
    tl.store(cache + at, v, mask=inside & fits)  # @S


@triton.jit
def kv_append_race(new, cache, position, capacity, stride_b, stride_t, tokens, width, BT: tl.constexpr, BW: tl.constexpr):
    batch = tl.program_id(0)
    t = tl.program_id(1) * BT + tl.arange(0, BT)
    w = tl.arange(0, BW)
    inside = (t[:, None] < tokens) & (w[None, :] < width)
    v = tl.load(new + (batch * tokens + t)[:, None] * width + w[None, :], mask=inside, other=0.0)
    fits = (position + t)[:, None] < capacity
    at = batch * stride_t + (position + t)[:, None] * stride_t + w[None, :]
    tl.store(cache + at, v, mask=inside & fits)  # @S


case(kv_append, kv_append_race,
     lambda batches, tokens, width, position, capacity, BT, BW: ((batches, cdiv(tokens, BT)),
     dict(new=T("f16", batches, tokens, width), cache=T("f16", batches, capacity, width), stride_b=capacity * width, stride_t=width)),
     big=dict(batches=33, tokens=300, width=120, position=77, capacity=512, BT=8, BW=128), small=dict(batches=3, tokens=19, width=13, position=5, capacity=32, BT=8, BW=16))


@triton.jit
def kv_slots(new, cache, slots, width, B: tl.constexpr):
    token = tl.program_id(0)
    slot = tl.load(slots + token)
    w = tl.arange(0, B)
    v = tl.load(new + token * width + w, mask=w < width, other=0.0)
    if slot >= 0:
        tl.store(cache + slot * width + w, v, mask=w < width)  # @S


@triton.jit
def kv_slots_race(new, cache, slots, width, B: tl.constexpr):
    token = tl.program_id(0)
    slot = token // 2
    w = tl.arange(0, B)
    v = tl.load(new + token * width + w, mask=w < width, other=0.0)
    if slot >= 0:
        tl.store(cache + slot * width + w, v, mask=w < width)  # @S


case(kv_slots, kv_slots_race,
     lambda tokens, width, B: ((tokens,), dict(new=T("f16", tokens, width), cache=T("f16", tokens, width), slots=T("i32", tokens))),
     big=dict(tokens=2049, width=600, B=1024), small=dict(tokens=5, width=13, B=16))
