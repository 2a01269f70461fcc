"""Kernels in the styles of others (serving, training and scientific code, puzzles), each beside one that is subtly wrong: an offset, a mask, a stride,
a table entry or a barrier. The truth of each was found by hand and by executing it in Triton's interpreter."""
from cases import T, case, load_triton

triton, tl = load_triton()


@triton.jit
def rope_gptj_interleaved(x, out, cos, sin, seq, HEADS, D: tl.constexpr):
    pid = tl.program_id(0)
    tok = pid // HEADS
    pos = tok % seq
    i = tl.arange(0, D // 2)
    base = pid * D
    even = tl.load(x + base + 2 * i)
    odd = tl.load(x + base + 2 * i + 1)
    c = tl.load(cos + pos * (D // 2) + i)
    s = tl.load(sin + pos * (D // 2) + i)
    y = tl.interleave(even * c - odd * s, odd * c + even * s)
    tl.store(out + base + tl.arange(0, D), y)


case("rope_gptj_interleaved", rope_gptj_interleaved, "ok", (12,),
     dict(x=T("f32", 2, 3, 2, 8), out=T("f32", 2, 3, 2, 8), cos=T("f32", 3, 4), sin=T("f32", 3, 4), seq=3, HEADS=2, D=8))


@triton.jit
def rope_gptj_interleaved_half(x, out, cos, sin, seq, HEADS, D: tl.constexpr):
    pid = tl.program_id(0)
    tok = pid // HEADS
    pos = tok % seq
    i = tl.arange(0, D // 2)
    base = pid * (D // 2)
    even = tl.load(x + base + 2 * i)
    odd = tl.load(x + base + 2 * i + 1)
    c = tl.load(cos + pos * (D // 2) + i)
    s = tl.load(sin + pos * (D // 2) + i)
    y = tl.interleave(even * c - odd * s, odd * c + even * s)
    tl.store(out + base + tl.arange(0, D), y)


case("rope_gptj_interleaved_half", rope_gptj_interleaved_half, "races", (12,),
     dict(x=T("f32", 2, 3, 2, 8), out=T("f32", 2, 3, 2, 8), cos=T("f32", 3, 4), sin=T("f32", 3, 4), seq=3, HEADS=2, D=8))


@triton.jit
def kv_cache_write(k, v, kc, vc, slots, k_stride, H: tl.constexpr, D: tl.constexpr, BS: tl.constexpr, X: tl.constexpr):
    # vLLM reshape_and_cache: key cache [blocks, H, D/X, BS, X], value cache [blocks, H, D, BS]
    t = tl.program_id(0)
    slot = tl.load(slots + t)
    if slot < 0:
        return
    blk = slot // BS
    off = slot % BS
    i = tl.arange(0, H * D)
    h = i // D
    d = i % D
    kk = tl.load(k + t * k_stride + i)
    vv = tl.load(v + t * k_stride + i)
    ka = blk * (H * D * BS) + h * (D * BS) + (d // X) * (BS * X) + off * X + d % X
    va = blk * (H * D * BS) + h * (D * BS) + d * BS + off
    tl.store(kc + ka, kk)
    tl.store(vc + va, vv)


case("kv_cache_write", kv_cache_write, "ok", (6,),
     dict(k=T("f16", 6, 16), v=T("f16", 6, 16), kc=T("f16", 256), vc=T("f16", 256), slots=T("i64", 6, values=[3, -1, 1, 8, 15, 6]), k_stride=16, H=2, D=8,
          BS=4, X=4))


case("kv_cache_write_dup", kv_cache_write, "races", (6,),
     dict(k=T("f16", 6, 16), v=T("f16", 6, 16), kc=T("f16", 256), vc=T("f16", 256), slots=T("i64", 6, values=[3, -1, 1, 8, 15, 3]), k_stride=16, H=2, D=8,
          BS=4, X=4))


@triton.jit
def kv_cache_write_noX(k, v, kc, vc, slots, k_stride, H: tl.constexpr, D: tl.constexpr, BS: tl.constexpr, X: tl.constexpr):
    # vLLM reshape_and_cache: key cache [blocks, H, D/X, BS, X], value cache [blocks, H, D, BS]
    t = tl.program_id(0)
    slot = tl.load(slots + t)
    if slot < 0:
        return
    blk = slot // BS
    off = slot % BS
    i = tl.arange(0, H * D)
    h = i // D
    d = i % D
    kk = tl.load(k + t * k_stride + i)
    vv = tl.load(v + t * k_stride + i)
    ka = blk * (H * D * BS) + h * (D * BS) + (d // X) * (BS * X) + off + d % X
    va = blk * (H * D * BS) + h * (D * BS) + d * BS + off
    tl.store(kc + ka, kk)
    tl.store(vc + va, vv)


case("kv_cache_write_noX", kv_cache_write_noX, "races", (6,),
     dict(k=T("f16", 6, 16), v=T("f16", 6, 16), kc=T("f16", 256), vc=T("f16", 256), slots=T("i64", 6, values=[3, -1, 1, 8, 15, 6]), k_stride=16, H=2, D=8,
          BS=4, X=4))


@triton.jit
def bit_pack_sign(x, out, n_words, BW: tl.constexpr):
    w = tl.program_id(0) * BW + tl.arange(0, BW)
    b = tl.arange(0, 32)
    i = w[:, None] * 32 + b[None, :]
    v = tl.load(x + i, mask=(w < n_words)[:, None], other=0.0)
    word = tl.sum((v > 0).to(tl.int32) << b[None, :], axis=1)
    tl.store(out + w, word, mask=w < n_words)


case("bit_pack_sign", bit_pack_sign, "ok", (2,),
     dict(x=T("f32", 224), out=T("i32", 7), n_words=7, BW=4))


@triton.jit
def bit_pack_sign_rep(x, out, n_words, BW: tl.constexpr):
    w = tl.program_id(0) * BW + tl.arange(0, BW)
    b = tl.arange(0, 32)
    i = w[:, None] * 32 + b[None, :]
    v = tl.load(x + i, mask=(w < n_words)[:, None], other=0.0)
    tl.store(out + w[:, None] + b[None, :] * 0, (v > 0).to(tl.int32) << b[None, :], mask=(w < n_words)[:, None])


case("bit_pack_sign_rep", bit_pack_sign_rep, "races", (2,),
     dict(x=T("f32", 224), out=T("i32", 7), n_words=7, BW=4))


@triton.jit
def bit_pack_sign_atom(x, out, n_words, BW: tl.constexpr):
    w = tl.program_id(0) * BW + tl.arange(0, BW)
    b = tl.arange(0, 32)
    i = w[:, None] * 32 + b[None, :]
    v = tl.load(x + i, mask=(w < n_words)[:, None], other=0.0)
    tl.atomic_or(out + w[:, None] + b[None, :] * 0, (v > 0).to(tl.int32) << b[None, :], mask=(w < n_words)[:, None])


case("bit_pack_sign_atom", bit_pack_sign_atom, "ok", (2,),
     dict(x=T("f32", 224), out=T("i32", 7), n_words=7, BW=4))


@triton.jit
def moe_align_prefix(counts, E: tl.constexpr):
    pid = tl.program_id(0)
    last = 0
    for i in range(1, E + 1):
        c = tl.load(counts + i * E + pid)
        last = last + c
        tl.store(counts + i * E + pid, last)


case("moe_align_prefix", moe_align_prefix, "ok", (4,),
     dict(counts=T("i32", 5, 4), E=4))


@triton.jit
def moe_align_prefix_tr(counts, E: tl.constexpr):
    pid = tl.program_id(0)
    last = 0
    for i in range(1, E + 1):
        c = tl.load(counts + i * E + pid)
        last = last + c
        tl.store(counts + pid * E + i, last)


case("moe_align_prefix_tr", moe_align_prefix_tr, "races", (4,),
     dict(counts=T("i32", 5, 4), E=4))


@triton.jit
def moe_permute_rows(x, out, src_to_dst, H, topk: tl.constexpr, B: tl.constexpr):
    t = tl.program_id(0)
    for k in range(topk):
        d = tl.load(src_to_dst + t * topk + k).to(tl.int64)
        if d >= 0:
            for h in range(0, H, B):
                o = h + tl.arange(0, B)
                v = tl.load(x + t * H + o, mask=o < H)
                tl.store(out + d * H + o, v, mask=o < H)


case("moe_permute_rows", moe_permute_rows, "ok", (5,),
     dict(x=T("f16", 5, 6), out=T("f16", 10, 6), src_to_dst=T("i32", 10, values=[2, 9, 6, -1, 0, 7, 4, 1, 8, 5]), H=6, topk=2, B=4))


case("moe_permute_rows_dup", moe_permute_rows, "races", (5,),
     dict(x=T("f16", 5, 6), out=T("f16", 10, 6), src_to_dst=T("i32", 10, values=[2, 9, 6, -1, 0, 7, 4, 1, 8, 2]), H=6, topk=2, B=4))


@triton.jit
def compact_positive(x, out, prefix, n, B: tl.constexpr):
    p = tl.program_id(0)
    i = p * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    keep = v > 0
    pos = tl.cumsum(keep.to(tl.int32), 0) - 1
    base = tl.load(prefix + p)
    tl.store(out + base + pos, v, mask=keep)


case("compact_positive", compact_positive, "ok", (3,),
     dict(x=T("i32", 21, values=[-2, 0, 2, -1, 1, -2, 0, 2, -1, 1, -2, 0, 2, -1, 1, -2, 0, 2, -1, 1, -2]), out=T("i32", 21), prefix=T("i32", 3, values=[0,
          3, 6]), n=21, B=8))


@triton.jit
def compact_positive_incl(x, out, prefix, n, B: tl.constexpr):
    p = tl.program_id(0)
    i = p * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    keep = v > 0
    pos = tl.cumsum(keep.to(tl.int32), 0) - 1 + (p == 0).to(tl.int32)
    base = tl.load(prefix + p)
    tl.store(out + base + pos, v, mask=keep)


case("compact_positive_incl", compact_positive_incl, "races", (3,),
     dict(x=T("i32", 21, values=[-2, 0, 2, -1, 1, -2, 0, 2, -1, 1, -2, 0, 2, -1, 1, -2, 0, 2, -1, 1, -2]), out=T("i32", 21), prefix=T("i32", 3, values=[0,
          3, 6]), n=21, B=8))


@triton.jit
def ssd_state_passing(states, out, final, dA, nch, dim, B: tl.constexpr):
    pid_d = tl.program_id(0); pid_b = tl.program_id(1)
    o = pid_d * B + tl.arange(0, B)
    m = o < dim
    s = tl.zeros((B,), tl.float32)
    sp = states + pid_b * nch * dim + o
    op = out + pid_b * nch * dim + o
    tl.store(op, s, mask=m)
    op += dim
    for c in range(nch):
        ns = tl.load(sp, mask=m, other=0.)
        s = tl.exp(tl.load(dA + pid_b * nch + c)) * s + ns
        if c < nch - 1:
            tl.store(op, s, mask=m)
        else:
            tl.store(final + pid_b * dim + o, s, mask=m)
        sp += dim; op += dim


case("ssd_state_passing", ssd_state_passing, "ok", (2, 2),
     dict(states=T("f32", 2, 3, 6), out=T("f32", 2, 3, 6), final=T("f32", 2, 6), dA=T("f32", 2, 3), nch=3, dim=6, B=4))


@triton.jit
def ssd_state_passing_last(states, out, final, dA, nch, dim, B: tl.constexpr):
    pid_d = tl.program_id(0); pid_b = tl.program_id(1)
    o = pid_d * B + tl.arange(0, B)
    m = o < dim
    s = tl.zeros((B,), tl.float32)
    sp = states + pid_b * nch * dim + o
    op = out + pid_b * nch * dim + o
    tl.store(op, s, mask=m)
    op += dim
    for c in range(nch):
        ns = tl.load(sp, mask=m, other=0.)
        s = tl.exp(tl.load(dA + pid_b * nch + c)) * s + ns
        if c < nch:
            tl.store(op, s, mask=m)
        else:
            tl.store(final + pid_b * dim + o, s, mask=m)
        sp += dim; op += dim


case("ssd_state_passing_last", ssd_state_passing_last, "races", (2, 2),
     dict(states=T("f32", 2, 3, 6), out=T("f32", 2, 3, 6), final=T("f32", 2, 6), dA=T("f32", 2, 3), nch=3, dim=6, B=4))


@triton.jit
def ssd_state_passing_alias(states, out, final, dA, nch, dim, B: tl.constexpr):
    pid_d = tl.program_id(0); pid_b = tl.program_id(1)
    o = pid_d * B + tl.arange(0, B)
    m = o < dim
    s = tl.zeros((B,), tl.float32)
    sp = states + pid_b * nch * dim + o
    op = out + pid_b * nch * dim + o
    tl.store(op, s, mask=m)
    op += dim
    for c in range(nch):
        ns = tl.load(sp, mask=m, other=0.)
        s = tl.exp(tl.load(dA + pid_b * nch + c)) * s + ns
        if c < nch - 1:
            tl.store(op - dim, s, mask=m)
        else:
            tl.store(final + pid_b * dim + o, s, mask=m)
        sp += dim; op += dim


case("ssd_state_passing_alias", ssd_state_passing_alias, "races", (2, 2),
     dict(states=T("f32", 2, 3, 6), out=T("f32", 2, 3, 6), final=T("f32", 2, 6), dA=T("f32", 2, 3), nch=3, dim=6, B=4))


@triton.jit
def varlen_chunk_o(v, o, cu, chunk_idx, H: tl.constexpr, D: tl.constexpr, BT: tl.constexpr):
    i_t, i_h = tl.program_id(0), tl.program_id(1)
    i_n = tl.load(chunk_idx + i_t * 2).to(tl.int32)
    i_c = tl.load(chunk_idx + i_t * 2 + 1).to(tl.int32)
    bos = tl.load(cu + i_n).to(tl.int32); eos = tl.load(cu + i_n + 1).to(tl.int32)
    L = eos - bos
    pv = tl.make_block_ptr(v + (bos * H + i_h) * D, (L, D), (H * D, 1), (i_c * BT, 0), (BT, D), (1, 0))
    po = tl.make_block_ptr(o + (bos * H + i_h) * D, (L, D), (H * D, 1), (i_c * BT, 0), (BT, D), (1, 0))
    tl.store(po, tl.load(pv, boundary_check=(0, 1)) * 2.0, boundary_check=(0, 1))


case("varlen_chunk_o", varlen_chunk_o, "ok", (6, 2),
     dict(v=T("f32", 17, 2, 4), o=T("f32", 17, 2, 4), cu=T("i64", 4, values=[0, 5, 8, 17]), chunk_idx=T("i32", 6, 2, values=[0, 0, 0, 1, 1, 0, 2, 0, 2, 1,
          2, 2]), H=2, D=4, BT=4))


case("varlen_chunk_o_badidx", varlen_chunk_o, "races", (6, 2),
     dict(v=T("f32", 17, 2, 4), o=T("f32", 17, 2, 4), cu=T("i64", 4, values=[0, 5, 8, 17]), chunk_idx=T("i32", 6, 2, values=[0, 0, 0, 0, 0, 1, 1, 0, 2, 0,
          2, 1]), H=2, D=4, BT=4))


@triton.jit
def varlen_chunk_o_noL(v, o, cu, chunk_idx, H: tl.constexpr, D: tl.constexpr, BT: tl.constexpr):
    i_t, i_h = tl.program_id(0), tl.program_id(1)
    i_n = tl.load(chunk_idx + i_t * 2).to(tl.int32)
    i_c = tl.load(chunk_idx + i_t * 2 + 1).to(tl.int32)
    bos = tl.load(cu + i_n).to(tl.int32); eos = tl.load(cu + i_n + 1).to(tl.int32)
    L = eos - bos
    pv = tl.make_block_ptr(v + (bos * H + i_h) * D, (L, D), (H * D, 1), (i_c * BT, 0), (BT, D), (1, 0))
    po = tl.make_block_ptr(o + (bos * H + i_h) * D, (L + 1, D), (H * D, 1), (i_c * BT, 0), (BT, D), (1, 0))
    tl.store(po, tl.load(pv, boundary_check=(0, 1)) * 2.0, boundary_check=(0, 1))


case("varlen_chunk_o_noL", varlen_chunk_o_noL, "races", (6, 2),
     dict(v=T("f32", 17, 2, 4), o=T("f32", 17, 2, 4), cu=T("i64", 4, values=[0, 5, 8, 17]), chunk_idx=T("i32", 6, 2, values=[0, 0, 0, 1, 1, 0, 2, 0, 2, 1,
          2, 2]), H=2, D=4, BT=4))


@triton.jit
def lru_assoc_op(a1, b1, a2, b2):
    return a1 * a2, a2 * b1 + b2


@triton.jit
def lru_scan(a, x, h, Tn, D, BT: tl.constexpr, BD: tl.constexpr):
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    t = tl.arange(0, BT)
    carry = tl.zeros((BD,), tl.float32)
    for t0 in range(0, Tn, BT):
        o = (t0 + t)[:, None] * D + d[None, :]
        m = ((t0 + t)[:, None] < Tn) & (d[None, :] < D)
        av = tl.load(a + o, mask=m, other=1.0); xv = tl.load(x + o, mask=m, other=0.0)
        aa, bb = tl.associative_scan((av, xv), 0, lru_assoc_op)
        y = bb + aa * carry[None, :]
        tl.store(h + o, y, mask=m)
        carry = tl.sum(tl.where((t == BT - 1)[:, None], y, 0.0), 0)


case("lru_scan", lru_scan, "ok", (2,),
     dict(a=T("f32", 6, 6), x=T("f32", 6, 6), h=T("f32", 6, 6), Tn=6, D=6, BT=4, BD=4))


@triton.jit
def lru_scan_dm(a, x, h, Tn, D, BT: tl.constexpr, BD: tl.constexpr):
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    t = tl.arange(0, BT)
    carry = tl.zeros((BD,), tl.float32)
    for t0 in range(0, Tn, BT):
        o = (t0 + t)[:, None] * D + d[None, :]
        m = ((t0 + t)[:, None] < Tn) & (d[None, :] < D + BD)
        av = tl.load(a + o, mask=m, other=1.0); xv = tl.load(x + o, mask=m, other=0.0)
        aa, bb = tl.associative_scan((av, xv), 0, lru_assoc_op)
        y = bb + aa * carry[None, :]
        tl.store(h + o, y, mask=m)
        carry = tl.sum(tl.where((t == BT - 1)[:, None], y, 0.0), 0)


case("lru_scan_dm", lru_scan_dm, "races", (2,),
     dict(a=T("f32", 6, 6), x=T("f32", 6, 6), h=T("f32", 6, 6), Tn=6, D=6, BT=4, BD=4))


@triton.jit
def grouped_gemm_persist(x, w, y, sizes, offs, NUM: tl.constexpr, N, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, NSM: tl.constexpr):
    tile = tl.program_id(0)
    last = 0
    for g in range(NUM):
        m = tl.load(sizes + g)
        o = tl.load(offs + g)
        nm = tl.cdiv(m, BM); nn = tl.cdiv(N, BN)
        nt = nm * nn
        while tile >= last and tile < last + nt:
            i = tile - last
            tm = i // nn; tn = i % nn
            om = tm * BM + tl.arange(0, BM); on = tn * BN + tl.arange(0, BN); ok = tl.arange(0, K)
            a = tl.load(x + (o + om[:, None]) * K + ok[None, :], mask=om[:, None] < m, other=0.)
            b = tl.load(w + g * K * N + ok[:, None] * N + on[None, :], mask=on[None, :] < N, other=0.)
            c = tl.dot(a, b)
            tl.store(y + (o + om[:, None]) * N + on[None, :], c, mask=(om[:, None] < m) & (on[None, :] < N))
            tile += NSM
        last += nt


case("grouped_gemm_persist", grouped_gemm_persist, "ok", (3,),
     dict(x=T("f16", 53, 16), w=T("f16", 3, 16, 20), y=T("f32", 53, 20), sizes=T("i32", 3, values=[20, 0, 33]), offs=T("i32", 3, values=[0, 20, 20]),
          NUM=3, N=20, K=16, BM=16, BN=16, NSM=3))


@triton.jit
def grouped_gemm_persist_nomask(x, w, y, sizes, offs, NUM: tl.constexpr, N, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, NSM: tl.constexpr):
    tile = tl.program_id(0)
    last = 0
    for g in range(NUM):
        m = tl.load(sizes + g)
        o = tl.load(offs + g)
        nm = tl.cdiv(m, BM); nn = tl.cdiv(N, BN)
        nt = nm * nn
        while tile >= last and tile < last + nt:
            i = tile - last
            tm = i // nn; tn = i % nn
            om = tm * BM + tl.arange(0, BM); on = tn * BN + tl.arange(0, BN); ok = tl.arange(0, K)
            a = tl.load(x + (o + om[:, None]) * K + ok[None, :], mask=om[:, None] < m, other=0.)
            b = tl.load(w + g * K * N + ok[:, None] * N + on[None, :], mask=on[None, :] < N, other=0.)
            c = tl.dot(a, b)
            tl.store(y + (o + om[:, None]) * N + on[None, :], c, mask=(on[None, :] < N))
            tile += NSM
        last += nt


case("grouped_gemm_persist_nomask", grouped_gemm_persist_nomask, "races", (3,),
     dict(x=T("f16", 53, 16), w=T("f16", 3, 16, 20), y=T("f32", 53, 20), sizes=T("i32", 3, values=[20, 0, 33]), offs=T("i32", 3, values=[0, 20, 20]),
          NUM=3, N=20, K=16, BM=16, BN=16, NSM=3))


@triton.jit
def grouped_gemm_persist_nsm(x, w, y, sizes, offs, NUM: tl.constexpr, N, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, NSM: tl.constexpr):
    tile = tl.program_id(0)
    last = 0
    for g in range(NUM):
        m = tl.load(sizes + g)
        o = tl.load(offs + g)
        nm = tl.cdiv(m, BM); nn = tl.cdiv(N, BN)
        nt = nm * nn
        while tile >= last and tile < last + nt:
            i = tile - last
            tm = i // nn; tn = i % nn
            om = tm * BM + tl.arange(0, BM); on = tn * BN + tl.arange(0, BN); ok = tl.arange(0, K)
            a = tl.load(x + (o + om[:, None]) * K + ok[None, :], mask=om[:, None] < m, other=0.)
            b = tl.load(w + g * K * N + ok[:, None] * N + on[None, :], mask=on[None, :] < N, other=0.)
            c = tl.dot(a, b)
            tl.store(y + (o + om[:, None]) * N + on[None, :], c, mask=(om[:, None] < m) & (on[None, :] < N))
            tile += NSM - 1
        last += nt


case("grouped_gemm_persist_nsm", grouped_gemm_persist_nsm, "races", (3,),
     dict(x=T("f16", 53, 16), w=T("f16", 3, 16, 20), y=T("f32", 53, 20), sizes=T("i32", 3, values=[20, 0, 33]), offs=T("i32", 3, values=[0, 20, 20]),
          NUM=3, N=20, K=16, BM=16, BN=16, NSM=3))


@triton.jit
def lcg_perm(out, n, A: tl.constexpr, C: tl.constexpr, MOD: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = (A * i + C) % MOD
    tl.store(out + j, i, mask=i < n)


case("lcg_perm", lcg_perm, "ok", (4,),
     dict(out=T("i32", 16), n=16, A=5, C=3, MOD=16, B=4))


case("lcg_perm_even", lcg_perm, "races", (4,),
     dict(out=T("i32", 16), n=16, A=6, C=3, MOD=16, B=4))


@triton.jit
def morton_copy(x, out, N: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0) * B + tl.arange(0, B)
    r = 0 * p; c = 0 * p
    for b in tl.static_range(4):
        c = c | (((p >> (2 * b)) & 1) << b)
        r = r | (((p >> (2 * b + 1)) & 1) << b)
    tl.store(out + r * N + c, tl.load(x + p))


case("morton_copy", morton_copy, "ok", (4,),
     dict(x=T("f32", 256), out=T("f32", 16, 16), N=16, B=64))


@triton.jit
def morton_copy_bit(x, out, N: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0) * B + tl.arange(0, B)
    r = 0 * p; c = 0 * p
    for b in tl.static_range(4):
        c = c | (((p >> (2 * b)) & 1) << (b // 2))
        r = r | (((p >> (2 * b + 1)) & 1) << b)
    tl.store(out + r * N + c, tl.load(x + p))


case("morton_copy_bit", morton_copy_bit, "races", (4,),
     dict(x=T("f32", 256), out=T("f32", 16, 16), N=16, B=64))


@triton.jit
def hilbert_visit(out, order: tl.constexpr):
    d = tl.program_id(0)
    x = 0; y = 0; t = d
    s = 1
    while s < (1 << order):
        rx = 1 & (t // 2)
        ry = 1 & (t ^ rx)
        if ry == 0:
            if rx == 1:
                x = s - 1 - x
                y = s - 1 - y
            z = x; x = y; y = z
        x += s * rx
        y += s * ry
        t //= 4
        s *= 2
    tl.store(out + y * (1 << order) + x, d)


case("hilbert_visit", hilbert_visit, "ok", (16,),
     dict(out=T("i32", 4, 4), order=2))


@triton.jit
def hilbert_visit_noswap(out, order: tl.constexpr):
    d = tl.program_id(0)
    x = 0; y = 0; t = d
    s = 1
    while s < (1 << order):
        rx = 1 & (t // 2)
        ry = 1 & (t ^ rx)
        if ry == 0:
            if rx == 1:
                x = s - 1 - x
                y = s - 1 - y
            z = x; x = y
        x += s * rx
        y += s * ry
        t //= 4
        s *= 2
    tl.store(out + y * (1 << order) + x, d)


case("hilbert_visit_noswap", hilbert_visit_noswap, "races", (16,),
     dict(out=T("i32", 4, 4), order=2))


@triton.jit
def fft_all_stages(re, im, LOG: tl.constexpr):
    N: tl.constexpr = 1 << LOG
    base = tl.program_id(0) * N
    k = tl.arange(0, N // 2)
    for s in tl.static_range(LOG):
        half = 1 << s
        a = base + (k >> s) * (half * 2) + (k & (half - 1))
        b = a | half
        ra = tl.load(re + a); rb = tl.load(re + b)
        tl.store(re + a, ra + rb); tl.store(re + b, ra - rb)
        tl.debug_barrier()


case("fft_all_stages", fft_all_stages, "ok", (3,),
     dict(re=T("f32", 3, 8), im=T("f32", 3, 8), LOG=3))


@triton.jit
def fft_all_stages_nobar(re, im, LOG: tl.constexpr):
    N: tl.constexpr = 1 << LOG
    base = tl.program_id(0) * N
    k = tl.arange(0, N // 2)
    for s in tl.static_range(LOG):
        half = 1 << s
        a = base + (k >> s) * (half * 2) + (k & (half - 1))
        b = a | half
        ra = tl.load(re + a); rb = tl.load(re + b)
        tl.store(re + a, ra + rb); tl.store(re + b, ra - rb)


case("fft_all_stages_nobar", fft_all_stages_nobar, "races", (3,),
     dict(re=T("f32", 3, 8), im=T("f32", 3, 8), LOG=3))


@triton.jit
def bitonic_pass(x, n, K, J, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    l = i ^ J
    m = (i < n) & (l > i)
    a = tl.load(x + i, mask=m); b = tl.load(x + l, mask=m)
    up = (i & K) == 0
    sw = (a > b) == up
    tl.store(x + i, tl.where(sw, b, a), mask=m)
    tl.store(x + l, tl.where(sw, a, b), mask=m)


case("bitonic_pass", bitonic_pass, "ok", (4,),
     dict(x=T("i32", 32), n=32, K=8, J=2, B=8))


@triton.jit
def bitonic_pass_nolt(x, n, K, J, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    l = i ^ J
    m = (i < n)
    a = tl.load(x + i, mask=m); b = tl.load(x + l, mask=m)
    up = (i & K) == 0
    sw = (a > b) == up
    tl.store(x + i, tl.where(sw, b, a), mask=m)
    tl.store(x + l, tl.where(sw, a, b), mask=m)


case("bitonic_pass_nolt", bitonic_pass_nolt, "races", (4,),
     dict(x=T("i32", 32), n=32, K=8, J=2, B=8))


case("bitonic_pass_J3", bitonic_pass, "ok", (4,),
     dict(x=T("i32", 32), n=32, K=8, J=3, B=8))


@triton.jit
def swap_reverse(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n // 2
    a = tl.load(x + i, mask=m); b = tl.load(x + n - 1 - i, mask=m)
    tl.store(x + i, b, mask=m)
    tl.store(x + n - 1 - i, a, mask=m)


case("swap_reverse", swap_reverse, "races", (2,),
     dict(x=T("f32", 13), n=13, B=4))


@triton.jit
def swap_reverse_bar(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n // 2
    a = tl.load(x + i, mask=m); b = tl.load(x + n - 1 - i, mask=m)
    tl.debug_barrier()
    tl.store(x + i, b, mask=m)
    tl.store(x + n - 1 - i, a, mask=m)


case("swap_reverse_bar", swap_reverse_bar, "ok", (2,),
     dict(x=T("f32", 13), n=13, B=4))


@triton.jit
def mod_by_prime_double(x, out, n, P1: tl.constexpr, P2: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a = i % P1; b = i % P2
    tl.store(out + a * P2 + b, tl.load(x + i, mask=i < n), mask=i < n)   # CRT: injective below P1*P2 when coprime


case("mod_by_prime_double", mod_by_prime_double, "ok", (4,),
     dict(x=T("f32", 15), out=T("f32", 3, 5), n=15, P1=3, P2=5, B=4))


case("mod_by_prime_double_gcd", mod_by_prime_double, "races", (14,),
     dict(x=T("f32", 54), out=T("f32", 6, 9), n=54, P1=6, P2=9, B=4))


@triton.jit
def conv_transpose2d_scatter(x, w, y, H, W, OH, OW, K: tl.constexpr, S: tl.constexpr, B: tl.constexpr):
    # scatter form: each input pixel adds to a KxK window; overlaps when S < K
    nc = tl.program_id(1)
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < H * W
    v = tl.load(x + nc * H * W + i, mask=m, other=0.)
    r = i // W; c = i % W
    for a in tl.static_range(K):
        for b in tl.static_range(K):
            wv = tl.load(w + a * K + b)
            tl.atomic_add(y + nc * OH * OW + (r * S + a) * OW + c * S + b, v * wv, mask=m)


case("conv_transpose2d_scatter", conv_transpose2d_scatter, "ok", (2, 2),
     dict(x=T("f32", 2, 2, 3), w=T("f32", 3, 3), y=T("f32", 2, 5, 7), H=2, W=3, OH=5, OW=7, K=3, S=2, B=4))


@triton.jit
def conv_transpose2d_scatter_plain(x, w, y, H, W, OH, OW, K: tl.constexpr, S: tl.constexpr, B: tl.constexpr):
    # scatter form: each input pixel adds to a KxK window; overlaps when S < K
    nc = tl.program_id(1)
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < H * W
    v = tl.load(x + nc * H * W + i, mask=m, other=0.)
    r = i // W; c = i % W
    for a in tl.static_range(K):
        for b in tl.static_range(K):
            wv = tl.load(w + a * K + b)
            tl.store(y + nc * OH * OW + (r * S + a) * OW + c * S + b, v * wv, mask=m)


case("conv_transpose2d_scatter_plain", conv_transpose2d_scatter_plain, "races", (2, 2),
     dict(x=T("f32", 2, 2, 3), w=T("f32", 3, 3), y=T("f32", 2, 5, 7), H=2, W=3, OH=5, OW=7, K=3, S=2, B=4))


@triton.jit
def conv_transpose2d_scatter_noov(x, w, y, H, W, OH, OW, K: tl.constexpr, S: tl.constexpr, B: tl.constexpr):
    # scatter form: each input pixel adds to a KxK window; overlaps when S < K
    nc = tl.program_id(1)
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < H * W
    v = tl.load(x + nc * H * W + i, mask=m, other=0.)
    r = i // W; c = i % W
    for a in tl.static_range(K):
        for b in tl.static_range(K):
            wv = tl.load(w + a * K + b)
            tl.store(y + nc * OH * OW + (r * S + a) * OW + c * S + b, v * wv, mask=m)


case("conv_transpose2d_scatter_noov", conv_transpose2d_scatter_noov, "ok", (2, 2),
     dict(x=T("f32", 2, 2, 3), w=T("f32", 2, 2), y=T("f32", 2, 4, 6), H=2, W=3, OH=4, OW=6, K=2, S=2, B=4))


@triton.jit
def red_black_gs(u, NX, NY, COLOR: tl.constexpr, BX: tl.constexpr, BY: tl.constexpr):
    x = tl.program_id(0) * BX + tl.arange(0, BX)[:, None]
    y = tl.program_id(1) * BY + tl.arange(0, BY)[None, :]
    m = (x > 0) & (x < NX - 1) & (y > 0) & (y < NY - 1) & ((x + y) % 2 == COLOR)
    p = u + x * NY + y
    s = tl.load(p - 1, mask=m) + tl.load(p + 1, mask=m) + tl.load(p - NY, mask=m) + tl.load(p + NY, mask=m)
    tl.store(p, s * 0.25, mask=m)


case("red_black_gs", red_black_gs, "ok", (2, 2),
     dict(u=T("f32", 5, 6), NX=5, NY=6, COLOR=0, BX=4, BY=4))


@triton.jit
def red_black_gs_stripe(u, NX, NY, COLOR: tl.constexpr, BX: tl.constexpr, BY: tl.constexpr):
    x = tl.program_id(0) * BX + tl.arange(0, BX)[:, None]
    y = tl.program_id(1) * BY + tl.arange(0, BY)[None, :]
    m = (x > 0) & (x < NX - 1) & (y > 0) & (y < NY - 1) & (x % 2 == COLOR)
    p = u + x * NY + y
    s = tl.load(p - 1, mask=m) + tl.load(p + 1, mask=m) + tl.load(p - NY, mask=m) + tl.load(p + NY, mask=m)
    tl.store(p, s * 0.25, mask=m)


case("red_black_gs_stripe", red_black_gs_stripe, "races", (2, 2),
     dict(u=T("f32", 5, 6), NX=5, NY=6, COLOR=0, BX=4, BY=4))


@triton.jit
def red_black_gs_mod3(u, NX, NY, COLOR: tl.constexpr, BX: tl.constexpr, BY: tl.constexpr):
    x = tl.program_id(0) * BX + tl.arange(0, BX)[:, None]
    y = tl.program_id(1) * BY + tl.arange(0, BY)[None, :]
    m = (x > 0) & (x < NX - 1) & (y > 0) & (y < NY - 1) & ((x + 2 * y) % 3 == COLOR)
    p = u + x * NY + y
    s = tl.load(p - 1, mask=m) + tl.load(p + 1, mask=m) + tl.load(p - NY, mask=m) + tl.load(p + NY, mask=m)
    tl.store(p, s * 0.25, mask=m)


case("red_black_gs_mod3", red_black_gs_mod3, "ok", (2, 2),
     dict(u=T("f32", 5, 6), NX=5, NY=6, COLOR=0, BX=4, BY=4))


@triton.jit
def transpose_square_inplace_pairs(a, N, B: tl.constexpr):
    i = tl.program_id(0); j = tl.program_id(1)
    if j > i:
        return
    r = i * B + tl.arange(0, B); c = j * B + tl.arange(0, B)
    p1 = a + r[:, None] * N + c[None, :]
    p2 = a + c[:, None] * N + r[None, :]
    m1 = (r[:, None] < N) & (c[None, :] < N)
    m2 = (c[:, None] < N) & (r[None, :] < N)
    t1 = tl.load(p1, mask=m1); t2 = tl.load(p2, mask=m2)
    tl.debug_barrier()
    tl.store(p1, tl.trans(t2), mask=m1)
    if i != j:
        tl.store(p2, tl.trans(t1), mask=m2)


case("transpose_square_inplace_pairs", transpose_square_inplace_pairs, "ok", (2, 2),
     dict(a=T("f32", 7, 7), N=7, B=4))


@triton.jit
def transpose_square_inplace_pairs_ge(a, N, B: tl.constexpr):
    i = tl.program_id(0); j = tl.program_id(1)
    if j > i + 1:
        return
    r = i * B + tl.arange(0, B); c = j * B + tl.arange(0, B)
    p1 = a + r[:, None] * N + c[None, :]
    p2 = a + c[:, None] * N + r[None, :]
    m1 = (r[:, None] < N) & (c[None, :] < N)
    m2 = (c[:, None] < N) & (r[None, :] < N)
    t1 = tl.load(p1, mask=m1); t2 = tl.load(p2, mask=m2)
    tl.debug_barrier()
    tl.store(p1, tl.trans(t2), mask=m1)
    if i != j:
        tl.store(p2, tl.trans(t1), mask=m2)


case("transpose_square_inplace_pairs_ge", transpose_square_inplace_pairs_ge, "races", (2, 2),
     dict(a=T("f32", 7, 7), N=7, B=4))


@triton.jit
def transpose_square_inplace_pairs_nobar(a, N, B: tl.constexpr):
    i = tl.program_id(0); j = tl.program_id(1)
    if j > i:
        return
    r = i * B + tl.arange(0, B); c = j * B + tl.arange(0, B)
    p1 = a + r[:, None] * N + c[None, :]
    p2 = a + c[:, None] * N + r[None, :]
    m1 = (r[:, None] < N) & (c[None, :] < N)
    m2 = (c[:, None] < N) & (r[None, :] < N)
    t1 = tl.load(p1, mask=m1); t2 = tl.load(p2, mask=m2)
    tl.store(p1, tl.trans(t2), mask=m1)
    if i != j:
        tl.store(p2, tl.trans(t1), mask=m2)


case("transpose_square_inplace_pairs_nobar", transpose_square_inplace_pairs_nobar, "races", (2, 2),
     dict(a=T("f32", 7, 7), N=7, B=4))


@triton.jit
def embedding_bwd_sorted(gy, idx, gw, n, D: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0)
    e = tl.load(idx + i)
    first = True
    if i > 0:
        first = tl.load(idx + i - 1) != e
    if first:
        d = tl.arange(0, D)
        acc = tl.zeros((D,), tl.float32)
        j = i
        cur = e
        while (j < n) & (cur == e):
            acc += tl.load(gy + j * D + d)
            j += 1
            cur = tl.load(idx + tl.minimum(j, n - 1))
        tl.store(gw + e * D + d, acc)


case("embedding_bwd_sorted", embedding_bwd_sorted, "ok", (6,),
     dict(gy=T("f32", 6, 4), idx=T("i32", 6, values=[0, 0, 1, 3, 3, 3]), gw=T("f32", 4, 4), n=6, D=4, B=1))


case("embedding_bwd_sorted_unsorted", embedding_bwd_sorted, "races", (6,),
     dict(gy=T("f32", 6, 4), idx=T("i32", 6, values=[0, 1, 0, 3, 3, 1]), gw=T("f32", 4, 4), n=6, D=4, B=1))


@triton.jit
def foreach_adam_multi(p, g, m, v, sizes, starts, NT: tl.constexpr, B: tl.constexpr):
    # list of tensors in one flat buffer; program finds its tensor by a chain of comparisons
    pid = tl.program_id(0)
    t = tl.program_id(1)
    n = tl.load(sizes + t); s = tl.load(starts + t)
    if pid * B >= n:
        return
    i = pid * B + tl.arange(0, B)
    k = i < n
    pv = tl.load(p + s + i, mask=k); gv = tl.load(g + s + i, mask=k)
    mv = tl.load(m + s + i, mask=k) * 0.9 + gv * 0.1
    vv = tl.load(v + s + i, mask=k) * 0.99 + gv * gv * 0.01
    tl.store(m + s + i, mv, mask=k); tl.store(v + s + i, vv, mask=k)
    tl.store(p + s + i, pv - 1e-3 * mv / (tl.sqrt(vv) + 1e-8), mask=k)


case("foreach_adam_multi", foreach_adam_multi, "ok", (3, 3),
     dict(p=T("f32", 15), g=T("f32", 15), m=T("f32", 15), v=T("f32", 15), sizes=T("i32", 3, values=[9, 1, 5]), starts=T("i32", 3, values=[0, 9, 10]),
          NT=3, B=4))


case("foreach_adam_multi_overlap", foreach_adam_multi, "races", (3, 3),
     dict(p=T("f32", 15), g=T("f32", 15), m=T("f32", 15), v=T("f32", 15), sizes=T("i32", 3, values=[9, 1, 5]), starts=T("i32", 3, values=[0, 8, 8]), NT=3,
          B=4))


@triton.jit
def padded_to_jagged_search(x, off, out, maxlen, total, D: tl.constexpr, NB: tl.constexpr, BL: tl.constexpr):
    # row of the jagged tensor finds its batch by counting offsets
    r = tl.program_id(0) * BL + tl.arange(0, BL)
    nb = tl.arange(0, NB)
    o = tl.load(off + 1 + nb)
    b = tl.sum((r[:, None] >= o[None, :]).to(tl.int32), 1)
    d = tl.arange(0, D)
    s = tl.load(off + b, mask=r < total, other=0)
    v = tl.load(x + (b * maxlen + r - s)[:, None] * D + d[None, :], mask=(r < total)[:, None])
    tl.store(out + r[:, None] * D + d[None, :], v, mask=(r < total)[:, None])


case("padded_to_jagged_search", padded_to_jagged_search, "ok", (3,),
     dict(x=T("f32", 4, 5, 4), off=T("i64", 5, values=[0, 5, 7, 10, 11]), out=T("f32", 11, 4), maxlen=5, total=11, D=4, NB=4, BL=4))


@triton.jit
def desc_matmul_persist(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, NSM: tl.constexpr):
    ad = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    bd = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    cd = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    nm = tl.cdiv(M, BM); nn = tl.cdiv(N, BN)
    for t in tl.range(tl.program_id(0), nm * nn, NSM, flatten=True):
        pm = t // nn; pn = t % nn
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(tl.cdiv(K, BK)):
            acc = tl.dot(ad.load([pm * BM, k * BK]), bd.load([pn * BN, k * BK]).T, acc)
        cd.store([pm * BM, pn * BN], acc.to(tl.float16))


case("desc_matmul_persist", desc_matmul_persist, "ok", (3,),
     dict(a=T("f16", 40, 16), b=T("f16", 24, 16), c=T("f16", 40, 24), M=40, N=24, K=16, BM=16, BN=16, BK=16, NSM=3), target=90)


@triton.jit
def desc_matmul_persist_off(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, NSM: tl.constexpr):
    ad = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    bd = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    cd = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    nm = tl.cdiv(M, BM); nn = tl.cdiv(N, BN)
    for t in tl.range(tl.program_id(0), nm * nn, NSM, flatten=True):
        pm = t // nn; pn = t % nn
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(tl.cdiv(K, BK)):
            acc = tl.dot(ad.load([pm * BM, k * BK]), bd.load([pn * BN, k * BK]).T, acc)
        cd.store([pm * BM, pn * (BN - 8)], acc.to(tl.float16))


case("desc_matmul_persist_off", desc_matmul_persist_off, "races", (3,),
     dict(a=T("f16", 40, 16), b=T("f16", 24, 16), c=T("f16", 40, 24), M=40, N=24, K=16, BM=16, BN=16, BK=16, NSM=3), target=90)


@triton.jit
def desc_matmul_persist_nsm(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, NSM: tl.constexpr):
    ad = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    bd = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    cd = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    nm = tl.cdiv(M, BM); nn = tl.cdiv(N, BN)
    for t in tl.range(tl.program_id(0), nm * nn, NSM - 1, flatten=True):
        pm = t // nn; pn = t % nn
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(tl.cdiv(K, BK)):
            acc = tl.dot(ad.load([pm * BM, k * BK]), bd.load([pn * BN, k * BK]).T, acc)
        cd.store([pm * BM, pn * BN], acc.to(tl.float16))


case("desc_matmul_persist_nsm", desc_matmul_persist_nsm, "races", (3,),
     dict(a=T("f16", 40, 16), b=T("f16", 24, 16), c=T("f16", 40, 24), M=40, N=24, K=16, BM=16, BN=16, BK=16, NSM=3), target=90)


@triton.jit
def gather_values_tl(x, idx, out, N: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, N)
    v = tl.load(x + r * N + i)
    g = tl.load(idx + r * N + i)
    w = tl.gather(v, g, axis=0)
    tl.store(out + r * N + i, w)


case("gather_values_tl", gather_values_tl, "ok", (3,),
     dict(x=T("f32", 3, 8), idx=T("i32", 3, 8, values=[0, 3, 6, 1, 4, 7, 2, 5, 0, 3, 6, 1, 4, 7, 2, 5, 0, 3, 6, 1, 4, 7, 2, 5]), out=T("f32", 3, 8), N=8))


@triton.jit
def gather_values_tl_inpl(x, idx, out, N: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, N)
    v = tl.load(x + r * N + i)
    g = tl.load(idx + r * N + i)
    w = tl.gather(v, g, axis=0)
    tl.store(x + r * N + i, w)


case("gather_values_tl_inpl", gather_values_tl_inpl, "races", (3,),
     dict(x=T("f32", 3, 8), idx=T("i32", 3, 8, values=[0, 3, 6, 1, 4, 7, 2, 5, 0, 3, 6, 1, 4, 7, 2, 5, 0, 3, 6, 1, 4, 7, 2, 5]), out=T("f32", 3, 8), N=8))


@triton.jit
def gather_values_tl_addrd(x, idx, out, N: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, N)
    v = tl.load(x + r * N + i)
    g = tl.load(idx + r * N + i)
    w = tl.gather(v, g, axis=0)
    tl.store(out + r * N + tl.gather(i // 2, g, axis=0), v)


case("gather_values_tl_addrd", gather_values_tl_addrd, "races", (3,),
     dict(x=T("f32", 3, 8), idx=T("i32", 3, 8, values=[0, 3, 6, 1, 4, 7, 2, 5, 0, 3, 6, 1, 4, 7, 2, 5, 0, 3, 6, 1, 4, 7, 2, 5]), out=T("f32", 3, 8), N=8))


@triton.jit
def bfs_level_atom(row, col, dist, nxt, level, V, MAXD: tl.constexpr):
    v = tl.program_id(0)
    if tl.load(dist + v) == level:
        b = tl.load(row + v); e = tl.load(row + v + 1)
        for k in range(b, e):
            w = tl.load(col + k)
            if tl.load(dist + w) < 0:
                tl.atomic_or(nxt + w, 1)


case("bfs_level_atom", bfs_level_atom, "ok", (8,),
     dict(row=T("i32", 9, values=[0, 2, 4, 6, 8, 10, 12, 14, 16]), col=T("i32", 16, values=[1, 2, 4, 3, 7, 4, 2, 5, 5, 6, 0, 7, 3, 0, 6, 1]),
          dist=T("i32", 8, values=[0, 0, 0, -1, -1, -1, -1, -1]), nxt=T("i32", 8), level=0, V=8, MAXD=2))
