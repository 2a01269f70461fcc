"""Layers of networks as they are written by hand or by a machine: convolutions, pooling, normalisation, rotary embeddings, experts, caches, sampling, ragged attention, losses,
packing, state spaces. V chooses the variant: a correct one, or one with another stride, mask, index, table or barrier."""
from cases import T, case, load_triton
triton, tl = load_triton()


NEVER = "races|unsupported never=ok"
PERHAPS = "ok|unsupported"


def both(name, fn, grid, args, safe=(0,), races=(1,), ok="ok", bad="races"):
    """One launch for each variant of the kernel: V in `safe` is right, V in `races` is not."""
    for v in safe:
        case(f"{name}_{v}" if v else name, fn, ok, grid, args(V=v))
    for v in races:
        case(f"{name}_wrong{v}", fn, bad, grid, args(V=v))


# Conv1d with groups, dilation, stride; output is (B, C, L_out).
@triton.jit
def conv1d(x_ptr, w_ptr, b_ptr, y_ptr, C_in, C_out, L, L_out, K: tl.constexpr, stride, dilation, groups, V: tl.constexpr, BLOCK: tl.constexpr):
    pid_l = tl.program_id(0)
    pid_c = tl.program_id(1)
    pid_b = tl.program_id(2)
    lo = pid_l * BLOCK + tl.arange(0, BLOCK)
    cpg = C_in // groups
    opg = C_out // groups
    g = pid_c // opg
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for ci in range(0, cpg):
        for k in range(0, K):
            li = lo * stride + k * dilation
            x = tl.load(x_ptr + pid_b * C_in * L + (g * cpg + ci) * L + li, mask=(li < L), other=0.0)
            w = tl.load(w_ptr + pid_c * cpg * K + ci * K + k)
            acc += x * w
    acc += tl.load(b_ptr + pid_c)
    if V == 0:
        tl.store(y_ptr + pid_b * C_out * L_out + pid_c * L_out + lo, acc, mask=lo < L_out)
    elif V == 1:
        tl.store(y_ptr + pid_b * C_out * L_out + pid_c * L_out + lo, acc)
    elif V == 2:
        tl.store(y_ptr + pid_b * L_out + pid_c * L_out + lo, acc, mask=lo < L_out)
    elif V == 3:
        tl.store(y_ptr + pid_b * C_out * L_out + g * L_out + lo, acc, mask=lo < L_out)
    elif V == 4:
        tl.store(y_ptr + (pid_b * C_out + pid_c) * L_out + lo, acc, mask=lo < L)
    elif V == 5:  # transposed layout (B, L, C): fine
        tl.store(y_ptr + pid_b * C_out * L_out + lo * C_out + pid_c, acc, mask=lo < L_out)


both("conv1d", conv1d, (2, 4, 2), lambda V: dict(x_ptr=T("f32", 2, 4, 60), w_ptr=T("f32", 4, 2, 3), b_ptr=T("f32", 4), y_ptr=T("f32", 2, 4, 28), C_in=4, C_out=4, L=60,
     L_out=28, K=3, stride=2, dilation=2, groups=2, V=V, BLOCK=16), safe=(0, 5), races=(1, 2, 3, 4))


# Conv3d pointwise flattened index decode.
@triton.jit
def conv3d(x_ptr, w_ptr, y_ptr, B, C, D, H, W, OC, OD, OH, OW, KD: tl.constexpr, KH: tl.constexpr, KW: tl.constexpr, V: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    idx = pid * BLOCK + tl.arange(0, BLOCK)
    total = B * OC * OD * OH * OW
    m = idx < total
    ow = idx % OW
    oh = (idx // OW) % OH
    od = (idx // (OW * OH)) % OD
    oc = (idx // (OW * OH * OD)) % OC
    b = idx // (OW * OH * OD * OC)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for c in range(C):
        for kd in tl.static_range(KD):
            for kh in tl.static_range(KH):
                for kw in tl.static_range(KW):
                    x = tl.load(x_ptr + (((b * C + c) * D + od + kd) * H + oh + kh) * W + ow + kw, mask=m, other=0.0)
                    w = tl.load(w_ptr + (((oc * C + c) * KD + kd) * KH + kh) * KW + kw, mask=m, other=0.0)
                    acc += x * w
    if V == 0:
        tl.store(y_ptr + idx, acc, mask=m)
    elif V == 1:
        tl.store(y_ptr + (((b * OC + oc) * OD + od) * OH + oh) * OW + ow, acc, mask=m)
    elif V == 2:
        tl.store(y_ptr + (((b * OC + oc) * OD + od) * OH + oh) * OH + ow, acc, mask=m)
    elif V == 3:
        tl.store(y_ptr + (((b * OD + od) * OC + oc) * OH + oh) * OW + ow, acc, mask=m)
    elif V == 4:
        tl.store(y_ptr + ((b * OD + od) * OH + oh) * OW + ow, acc, mask=m)
    elif V == 5:
        tl.store(y_ptr + (((b * OC + oc) * OD + od) * OW + ow) * OH + oh, acc, mask=m)


both("conv3d", conv3d, (9,), lambda V: dict(x_ptr=T("f32", 2, 2, 5, 6, 7), w_ptr=T("f32", 3, 2, 2, 2, 2), y_ptr=T("f32", 2, 3, 4, 5, 6), B=2, C=2, D=5, H=6, W=7, OC=3, OD=4, OH=5,
     OW=6, KD=2, KH=2, KW=2, V=V, BLOCK=128), safe=(0, 1, 3, 5), races=(2, 4))


# Max pool 1d forward with indices, then in place.
@triton.jit
def maxpool1d(x_ptr, y_ptr, i_ptr, L, L_out, K: tl.constexpr, S: tl.constexpr, V: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(1)
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < L_out
    best = tl.full((BLOCK,), -float("inf"), tl.float32)
    arg = tl.zeros((BLOCK,), tl.int32)
    for k in range(K):
        p = o * S + k
        x = tl.load(x_ptr + row * L + p, mask=m & (p < L), other=-float("inf"))
        t = x > best
        best = tl.where(t, x, best)
        arg = tl.where(t, p, arg)
    if V == 0:
        tl.store(y_ptr + row * L_out + o, best, mask=m)
        tl.store(i_ptr + row * L_out + o, arg, mask=m)
    elif V == 1:
        tl.store(x_ptr + row * L + o, best, mask=m)
    elif V == 2:
        tl.store(i_ptr + row * L + arg, o, mask=m)
    elif V == 3:
        tl.store(y_ptr + row + o * L_out, best, mask=m)
    elif V == 4:
        tl.store(y_ptr + row + o * tl.num_programs(1), best, mask=m)


both("maxpool1d", maxpool1d, (2, 3), lambda V: dict(x_ptr=T("f32", 3, 50), y_ptr=T("f32", 3 * 50), i_ptr=T("i32", 3 * 60), L=50, L_out=24, K=3, S=2, V=V, BLOCK=16), safe=(0, 3, 4),
     races=(1,))
# windows overlap, the arg of two may be one
both("maxpool1d_arg", maxpool1d, (2, 3), lambda V: dict(x_ptr=T("f32", 3, 50), y_ptr=T("f32", 3 * 50), i_ptr=T("i32", 3 * 60), L=50, L_out=24, K=3, S=2, V=V, BLOCK=16), safe=(), races=(2,),
     bad=NEVER)


# Group norm over (N, C, HW): two passes, group sums through scratch.
@triton.jit
def group_norm(x_ptr, y_ptr, g_ptr, b_ptr, mean_ptr, rstd_ptr, C, HW, G, eps, V: tl.constexpr, BLOCK: tl.constexpr):
    n = tl.program_id(0)
    g = tl.program_id(1)
    cpg = C // G
    base = n * C * HW + g * cpg * HW
    size = cpg * HW
    s = tl.zeros((BLOCK,), tl.float32)
    q = tl.zeros((BLOCK,), tl.float32)
    for off in range(0, size, BLOCK):
        i = off + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + i, mask=i < size, other=0.0).to(tl.float32)
        s += x
        q += x * x
    mean = tl.sum(s, axis=0) / size
    var = tl.sum(q, axis=0) / size - mean * mean
    rstd = 1.0 / tl.sqrt(var + eps)
    if V == 1:
        tl.store(mean_ptr + g, mean)
        tl.store(rstd_ptr + g, rstd)
    else:
        tl.store(mean_ptr + n * G + g, mean)
        tl.store(rstd_ptr + n * G + g, rstd)
    for off in range(0, size, BLOCK):
        i = off + tl.arange(0, BLOCK)
        m = i < size
        c = g * cpg + i // HW
        x = tl.load(x_ptr + base + i, mask=m, other=0.0).to(tl.float32)
        ga = tl.load(g_ptr + c, mask=m, other=0.0)
        be = tl.load(b_ptr + c, mask=m, other=0.0)
        y = (x - mean) * rstd * ga + be
        if V == 2:
            tl.store(y_ptr + base + i, y)
        elif V == 3:
            tl.store(y_ptr + n * C * HW + c * HW + i % HW, y, mask=m)
        elif V == 4:
            tl.store(y_ptr + n * C * HW + g * HW + i, y, mask=m)
        elif V == 5:  # in place
            tl.store(x_ptr + base + i, y, mask=m)
        elif V == 6:  # channels last
            tl.store(y_ptr + n * C * HW + (i % HW) * C + c, y, mask=m)
        elif V == 7:
            tl.store(g_ptr + c, ga * 0.9, mask=m)
        else:
            tl.store(y_ptr + base + i, y, mask=m)


gn = lambda V: dict(x_ptr=T("f32", 2, 6, 25), y_ptr=T("f32", 2, 6, 25), g_ptr=T("f32", 6), b_ptr=T("f32", 6), mean_ptr=T("f32", 2, 3), rstd_ptr=T("f32", 2, 3), C=6, HW=25, G=3,
                    eps=1, V=V, BLOCK=32)
both("group_norm", group_norm, (2, 3), gn, safe=(0, 3, 6), races=(1, 2, 4, 5, 7))


# RoPE variants: partial rotary, neox with q and k of different head numbers, in place, positions from a table.
@triton.jit
def rope_partial(q_ptr, k_ptr, cos_ptr, sin_ptr, pos_ptr, sq, sk, HQ: tl.constexpr, HK: tl.constexpr, D: tl.constexpr, R: tl.constexpr, V: tl.constexpr):
    t = tl.program_id(0)
    pos = tl.load(pos_ptr + t)
    h: tl.constexpr = R // 2
    j = tl.arange(0, h)
    c = tl.load(cos_ptr + pos * h + j)
    s = tl.load(sin_ptr + pos * h + j)
    hq = tl.arange(0, HQ)[:, None]
    hk = tl.arange(0, HK)[:, None]
    a = q_ptr + t * sq + hq * D + j[None, :]
    x = tl.load(a)
    y = tl.load(a + h)
    tl.store(a, x * c[None, :] - y * s[None, :])
    tl.store(a + h, y * c[None, :] + x * s[None, :])
    if V == 1:
        b = k_ptr + t * sk + hk * (D - h) + j[None, :]
    elif V == 2:
        b = k_ptr + pos * sk + hk * D + j[None, :]
    elif V == 3:
        b = k_ptr + t * sk + hk * D + (D - R) + j[None, :]
    else:
        b = k_ptr + t * sk + hk * D + j[None, :]
    x = tl.load(b)
    y = tl.load(b + h)
    tl.store(b, x * c[None, :] - y * s[None, :])
    if V == 4:
        tl.store(b + R - 1, y * c[None, :] + x * s[None, :])
    else:
        tl.store(b + h, y * c[None, :] + x * s[None, :])


def rope(V):
    return dict(q_ptr=T("f32", 6, 4, 16), k_ptr=T("f32", 64, 2, 16), cos_ptr=T("f32", 64, 4), sin_ptr=T("f32", 64, 4), pos_ptr=T("i32", 6, values=[0, 1, 2, 0, 1, 2]), sq=64, sk=32, HQ=4, HK=2,
                D=16, R=8, V=V)


# whole-program in-place: load and dependent store of same lanes; V=1 k heads are 12 apart, rotate 8 of each: no overlap
both("rope_partial", rope_partial, (6,), rope, safe=(0, 1, 3), races=(2, 4))


# Fused MLP SwiGLU in one kernel with accumulation over the hidden dimension by atomics or by programs.
@triton.jit
def fused_mlp(x_ptr, wg_ptr, wu_ptr, wd_ptr, y_ptr, M, D: tl.constexpr, F, V: tl.constexpr, BM: tl.constexpr, BF: tl.constexpr):
    pm = tl.program_id(0)
    pf = tl.program_id(1)
    m = pm * BM + tl.arange(0, BM)
    f = pf * BF + tl.arange(0, BF)
    d = tl.arange(0, D)
    x = tl.load(x_ptr + m[:, None] * D + d[None, :], mask=m[:, None] < M, other=0.0)
    g = tl.dot(x, tl.load(wg_ptr + d[:, None] * F + f[None, :], mask=f[None, :] < F, other=0.0))
    u = tl.dot(x, tl.load(wu_ptr + d[:, None] * F + f[None, :], mask=f[None, :] < F, other=0.0))
    h = g * tl.sigmoid(g) * u
    y = tl.dot(h, tl.load(wd_ptr + f[:, None] * D + d[None, :], mask=f[:, None] < F, other=0.0))
    if V == 0:
        tl.atomic_add(y_ptr + m[:, None] * D + d[None, :], y, mask=m[:, None] < M)
    elif V == 1:
        p = y_ptr + m[:, None] * D + d[None, :]
        old = tl.load(p, mask=m[:, None] < M, other=0.0)
        tl.store(p, old + y, mask=m[:, None] < M)
    elif V == 2:
        tl.store(y_ptr + m[:, None] * D + d[None, :], y, mask=(m[:, None] < M) & (pf == 0))
    elif V == 3:
        tl.store(y_ptr + pf * M * D + m[:, None] * D + d[None, :], y, mask=m[:, None] < M)
    elif V == 4:
        tl.store(y_ptr + pf * M + m[:, None] * D + d[None, :], y, mask=m[:, None] < M)
    elif V == 5:
        if pf == tl.num_programs(1) - 1:
            tl.store(y_ptr + m[:, None] * D + d[None, :], y, mask=m[:, None] < M)
        else:
            tl.atomic_add(y_ptr + m[:, None] * D + d[None, :], y, mask=m[:, None] < M)


both("fused_mlp", fused_mlp, (2, 3), lambda V: dict(x_ptr=T("f32", 20, 16), wg_ptr=T("f32", 16, 40), wu_ptr=T("f32", 16, 40), wd_ptr=T("f32", 40, 16), y_ptr=T("f32", 3, 20, 16), M=20, D=16,
     F=40, V=V, BM=16, BF=16), safe=(0, 2, 3), races=(1, 4, 5))


# MoE: topk gate (k = 2), sorted token ids with padding, gather GEMM, combine.
@triton.jit
def moe_gemm(a_ptr, b_ptr, c_ptr, w_ptr, sorted_ptr, expert_ptr, npad_ptr, N, K, num_valid, top_k: tl.constexpr, V: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    num_n = tl.cdiv(N, BN)
    pm = pid // num_n
    pn = pid % num_n
    npad = tl.load(npad_ptr)
    if pm * BM >= npad:
        return
    ids = tl.load(sorted_ptr + pm * BM + tl.arange(0, BM))
    tm = ids < num_valid
    e = tl.load(expert_ptr + pm)
    n = (pn * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for kk in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptr + (ids[:, None] // top_k) * K + (kk * BK + k)[None, :], mask=tm[:, None] & ((kk * BK + k)[None, :] < K), other=0.0)
        b = tl.load(b_ptr + e * N * K + n[None, :] * K + (kk * BK + k)[:, None], mask=(kk * BK + k)[:, None] < K, other=0.0)
        acc += tl.dot(a, b)
    w = tl.load(w_ptr + ids, mask=tm, other=0.0)
    acc = acc * w[:, None]
    cn = pn * BN + tl.arange(0, BN)
    if V == 0:
        tl.store(c_ptr + ids[:, None] * N + cn[None, :], acc, mask=tm[:, None] & (cn[None, :] < N))
    elif V == 1:
        tl.store(c_ptr + (ids[:, None] // top_k) * N + cn[None, :], acc, mask=tm[:, None] & (cn[None, :] < N))
    elif V == 2:
        tl.store(c_ptr + ids[:, None] * N + n[None, :], acc, mask=tm[:, None])
    elif V == 3:
        tl.atomic_add(c_ptr + (ids[:, None] // top_k) * N + cn[None, :], acc, mask=tm[:, None] & (cn[None, :] < N))
    elif V == 4:
        tl.store(c_ptr + ids[:, None] * N + cn[None, :], acc, mask=cn[None, :] < N)


def moe(V):
    # 10 tokens top 2 -> 20 valid ids, 3 experts, blocks of 16
    e = [[0, 3, 4, 7, 8, 12, 19], [1, 2, 5, 9, 13, 17, 18], [6, 10, 11, 14, 15, 16]]
    ids = []
    for x in e:
        ids += x + [20] * (16 - len(x))
    ids += [20] * 16
    return dict(a_ptr=T("f32", 10, 16), b_ptr=T("f32", 3, 24, 16), c_ptr=T("f32", 21, 24), w_ptr=T("f32", 20), sorted_ptr=T("i32", 64, values=ids), expert_ptr=T("i32", 4, values=[0, 1, 2, 0]),
                npad_ptr=T("i32", 1, values=[48]), N=24, K=16, num_valid=20, top_k=2, V=V, BM=16, BN=16, BK=16)


both("moe_gemm", moe_gemm, (8,), moe, safe=(0, 3), races=(1, 2, 4))


# KV cache update with slot mapping, int8 scales, page layout (num_blocks, H, D/x, BS, x).
@triton.jit
def reshape_cache(k_ptr, kc_ptr, ks_ptr, slot_ptr, H: tl.constexpr, D: tl.constexpr, X: tl.constexpr, BS: tl.constexpr, V: tl.constexpr):
    t = tl.program_id(0)
    h = tl.program_id(1)
    slot = tl.load(slot_ptr + t).to(tl.int64)
    if slot < 0:
        return
    blk = slot // BS
    off = slot % BS
    d = tl.arange(0, D)
    k = tl.load(k_ptr + t * H * D + h * D + d)
    s = tl.max(tl.abs(k), axis=0) / 127.0
    q = (k / s).to(tl.int8)
    if V == 1:
        p = kc_ptr + blk * H * D * BS + h * D * BS + (d // X) * BS + off * X + d % X
    elif V == 2:
        p = kc_ptr + blk * H * D * BS + h * D + (d // X) * BS * X + off * X + d % X
    else:
        p = kc_ptr + blk * H * D * BS + h * D * BS + (d // X) * BS * X + off * X + d % X
    tl.store(p, q)
    if V == 3:
        tl.store(ks_ptr + blk * BS + off, s)
    elif V == 4:
        tl.store(ks_ptr + t * H + h, s)
    else:
        tl.store(ks_ptr + slot * H + h, s)


def rc(V, slots=(5, 9, -1, 3, 12, 0)):
    return dict(k_ptr=T("f32", 6, 2, 16), kc_ptr=T("i8", 4, 2, 4, 4, 4), ks_ptr=T("f32", 32), slot_ptr=T("i64", 6, values=list(slots)), H=2, D=16, X=4, BS=4, V=V)


both("reshape_cache", reshape_cache, (6, 2), rc, safe=(0, 4), races=(1, 2, 3))
both("reshape_cache_dup", reshape_cache, (6, 2), lambda V: rc(V, (5, 9, -1, 3, 9, 0)), safe=(), races=(0,))
both("reshape_cache_neg", reshape_cache, (6, 2), lambda V: rc(V, (5, -1, -1, 3, -1, 0)), safe=(0,), races=())


# Top-k by repeated argmax with in-place masking in global memory.
@triton.jit
def topk_rows(x_ptr, v_ptr, i_ptr, n, K: tl.constexpr, V: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + o, mask=o < n, other=-float("inf"))
    for k in range(K):
        m, a = tl.max(x, axis=0, return_indices=True)
        if V == 1:
            tl.store(v_ptr + row * K + k, m)
            tl.store(i_ptr + row + k, a)
        elif V == 2:
            tl.store(v_ptr + row * K, m)
            tl.store(i_ptr + row * K + k, a)
        else:
            tl.store(v_ptr + row * K + k, m)
            tl.store(i_ptr + row * K + k, a)
        if V == 3:
            tl.store(x_ptr + row * n + a, -float("inf"))
            tl.debug_barrier()
            x = tl.load(x_ptr + row * n + o, mask=o < n, other=-float("inf"))
            tl.debug_barrier()
        elif V == 4:
            tl.store(x_ptr + row * n + a, -float("inf"))
            x = tl.load(x_ptr + row * n + o, mask=o < n, other=-float("inf"))
        else:
            x = tl.where(o == a, -float("inf"), x)


# V2 stores v at one cell in each iteration by the same (scalar) thread: program order of one thread: ok
both("topk_rows", topk_rows, (5,), lambda V: dict(x_ptr=T("f32", 5, 30), v_ptr=T("f32", 5, 4), i_ptr=T("i32", 5, 4), n=30, K=4, V=V, BLOCK=32), safe=(0, 2), races=(1,))
# a needs to lie in the row, which is not known: argmax of 32 lanes, lanes 30, 31 are -inf: could be chosen when all are -inf -> next row's element
both("topk_rows_mem", topk_rows, (5,), lambda V: dict(x_ptr=T("f32", 5, 32), v_ptr=T("f32", 5, 4), i_ptr=T("i32", 5, 4), n=32, K=4, V=V, BLOCK=32), safe=(3,), races=(4,), ok=PERHAPS, bad=NEVER)


# Sampling: cumulative softmax inverse.
@triton.jit
def sample_rows(p_ptr, u_ptr, out_ptr, n, V: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    x = tl.load(p_ptr + row * n + o, mask=o < n, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    c = tl.cumsum(e / tl.sum(e, axis=0), axis=0)
    if V == 4:
        u = tl.rand(42, row)
    else:
        u = tl.load(u_ptr + row)
    k = tl.sum((c < u).to(tl.int32), axis=0)
    if V == 0 or V == 4:
        tl.store(out_ptr + row, k)
    elif V == 1:
        tl.store(out_ptr + k, row)
    elif V == 2:
        tl.store(out_ptr + o, k + tl.zeros_like(o), mask=o == row)
    elif V == 3:
        tl.store(out_ptr + o, k + tl.zeros_like(o), mask=o >= row)
    elif V == 5:
        tl.atomic_add(out_ptr + k, 1)
    elif V == 6:
        first = tl.min(tl.where(c >= u, o, BLOCK), axis=0)
        tl.store(out_ptr + row * BLOCK + first, 1)
    elif V == 7:
        tl.store(out_ptr + row * BLOCK + o, (o == k).to(tl.int32))
        tl.store(out_ptr + row * BLOCK + k, 2)


both("sample_rows", sample_rows, (5,), lambda V: dict(p_ptr=T("f32", 5, 20), u_ptr=T("f32", 5), out_ptr=T("i32", 400), n=20, V=V, BLOCK=32), safe=(0, 2, 4, 5), races=(3,))
both("sample_rows_k", sample_rows, (5,), lambda V: dict(p_ptr=T("f32", 5, 20), u_ptr=T("f32", 5), out_ptr=T("i32", 400), n=20, V=V, BLOCK=32), safe=(), races=(1, 7), bad=NEVER)
# first in 0..32: 32 would be the next row's cell 0 -> may race; refusal is right
both("sample_rows_first", sample_rows, (5,), lambda V: dict(p_ptr=T("f32", 5, 20), u_ptr=T("f32", 5), out_ptr=T("i32", 400), n=20, V=V, BLOCK=32), safe=(), races=(6,), bad=NEVER)


# Varlen attention output with cu_seqlens.
@triton.jit
def varlen_attn(q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, cu_q, cu_k, H: tl.constexpr, D: tl.constexpr, V: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    pm = tl.program_id(0)
    h = tl.program_id(1)
    b = tl.program_id(2)
    q0 = tl.load(cu_q + b)
    q1 = tl.load(cu_q + b + 1)
    k0 = tl.load(cu_k + b)
    k1 = tl.load(cu_k + b + 1)
    lq = q1 - q0
    lk = k1 - k0
    if pm * BM >= lq:
        return
    m = pm * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + (q0 + m)[:, None] * H * D + h * D + d[None, :], mask=m[:, None] < lq, other=0.0)
    mi = tl.full((BM,), -float("inf"), tl.float32)
    li = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    hi = tl.minimum(lk, (pm + 1) * BM + lk - lq)
    for n0 in range(0, hi, BN):
        n = n0 + tl.arange(0, BN)
        k = tl.load(k_ptr + (k0 + n)[None, :] * H * D + h * D + d[:, None], mask=n[None, :] < lk, other=0.0)
        s = tl.dot(q, k)
        s = tl.where((n[None, :] < lk) & (m[:, None] + lk - lq >= n[None, :]), s, -float("inf"))
        mn = tl.maximum(mi, tl.max(s, 1))
        p = tl.exp(s - mn[:, None])
        a = tl.exp(mi - mn)
        li = li * a + tl.sum(p, 1)
        v = tl.load(v_ptr + (k0 + n)[:, None] * H * D + h * D + d[None, :], mask=n[:, None] < lk, other=0.0)
        acc = acc * a[:, None] + tl.dot(p, v)
        mi = mn
    acc = acc / li[:, None]
    if V == 1:
        tl.store(o_ptr + (q0 + m)[:, None] * H * D + h * D + d[None, :], acc)
    elif V == 2:
        tl.store(o_ptr + (q0 + m)[:, None] * H * D + h * D + d[None, :], acc, mask=(q0 + m)[:, None] < tl.load(cu_q + tl.num_programs(2)))
    elif V == 3:
        tl.store(o_ptr + (k0 + m)[:, None] * H * D + h * D + d[None, :], acc, mask=m[:, None] < lq)
    else:
        tl.store(o_ptr + (q0 + m)[:, None] * H * D + h * D + d[None, :], acc, mask=m[:, None] < lq)
    if V == 4:
        tl.store(lse_ptr + h * BM + q0 + m, mi + tl.log(li), mask=m < lq)
    elif V == 5:
        tl.store(lse_ptr + h * tl.load(cu_q + tl.num_programs(2)) + q0 + m, mi + tl.log(li), mask=m < lq)
    else:
        tl.store(lse_ptr + (q0 + m) * H + h, mi + tl.log(li), mask=m < lq)


def va(V, vals=True):
    cq, ck = [0, 5, 23, 23, 44], [0, 5, 30, 31, 60]
    return dict(q_ptr=T("f32", 44, 2, 16), k_ptr=T("f32", 60, 2, 16), v_ptr=T("f32", 60, 2, 16), o_ptr=T("f32", 80, 2, 16), lse_ptr=T("f32", 400), cu_q=T("i32", 5, values=cq if vals else None),
                cu_k=T("i32", 5, values=ck if vals else None), H=2, D=16, V=V, BM=16, BN=16)


# V3: k0 + m: sequences 0: 0..4, 1: 5..22, 2: none, 3: 31..51 -> disjoint: safe at this launch
both("varlen_attn", varlen_attn, (2, 2, 4), va, safe=(0, 3, 5), races=(1, 2, 4))
both("varlen_attn_any", varlen_attn, (2, 2, 4), lambda V: va(V, False), safe=(0,), races=(), ok=PERHAPS)


# Dropout with philox in place.
@triton.jit
def dropout_rand4(x_ptr, y_ptr, n, p, seed, V: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK * 4 + tl.arange(0, BLOCK)
    if V == 5:
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    r0, r1, r2, r3 = tl.rand4x(seed, i)
    S: tl.constexpr = BLOCK if V != 1 else BLOCK // 2
    x0 = tl.load(x_ptr + i, mask=i < n)
    x1 = tl.load(x_ptr + i + S, mask=i + S < n)
    x2 = tl.load(x_ptr + i + 2 * S, mask=i + 2 * S < n)
    x3 = tl.load(x_ptr + i + 3 * S, mask=i + 3 * S < n)
    out = x_ptr if V == 2 else y_ptr
    tl.store(out + i, tl.where(r0 > 0.5, x0 * 2, 0.0), mask=i < n)
    tl.store(out + i + S, tl.where(r1 > 0.5, x1 * 2, 0.0), mask=i + S < n)
    tl.store(out + i + 2 * S, tl.where(r2 > 0.5, x2 * 2, 0.0), mask=i + 2 * S < n)
    if V == 3:
        tl.store(out + i + 3 * S + 1, tl.where(r3 > 0.5, x3 * 2, 0.0), mask=i + 3 * S < n)
    else:
        tl.store(out + i + 3 * S, tl.where(r3 > 0.5, x3 * 2, 0.0), mask=i + 3 * S < n)


both("dropout_rand4", dropout_rand4, (3,), lambda V: dict(x_ptr=T("f32", 300), y_ptr=T("f32", 301), n=300, p=1, seed=7, V=V, BLOCK=32), safe=(0, 2), races=(1, 3, 5))


# Cross entropy in chunks with per row scratch and label lookups.
@triton.jit
def ce_chunked(logits_ptr, labels_ptr, loss_ptr, lse_ptr, n_cols, n_chunks, V: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    chunk = tl.program_id(1)
    lab = tl.load(labels_ptr + row)
    c = chunk * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(logits_ptr + row * n_cols + c, mask=c < n_cols, other=-float("inf"))
    m = tl.max(x, axis=0)
    lse = m + tl.log(tl.sum(tl.exp(x - m), axis=0))
    if V == 1:
        tl.store(lse_ptr + row * n_chunks, lse)
    else:
        tl.store(lse_ptr + row * n_chunks + chunk, lse)
    if V == 2:
        if lab != -100:
            tl.store(loss_ptr + row, -tl.load(logits_ptr + row * n_cols + lab))
        else:
            tl.store(loss_ptr + row, 0.0)
    elif V == 3:
        if chunk == 0:
            if lab != -100:
                loss = -tl.load(logits_ptr + row * n_cols + lab).to(tl.float32)
            else:
                loss = 0.0
            tl.store(loss_ptr + row, loss)
    elif V == 4:
        if (lab >= chunk * BLOCK) & (lab < (chunk + 1) * BLOCK):
            tl.store(loss_ptr + row, -tl.load(logits_ptr + row * n_cols + lab))
    elif V == 5:
        if (lab >= chunk * BLOCK) & (lab <= (chunk + 1) * BLOCK):
            tl.store(loss_ptr + row, -tl.load(logits_ptr + row * n_cols + lab))
    else:
        if chunk == 0:
            tl.store(loss_ptr + row, lab.to(tl.float32))


def ce(V, vals=True):
    return dict(logits_ptr=T("f32", 6, 70), labels_ptr=T("i32", 6, values=[3, 69, -100, 32, 64, 0] if vals else None), loss_ptr=T("f32", 6), lse_ptr=T("f32", 6, 3), n_cols=70, n_chunks=3, V=V, BLOCK=32)


both("ce_chunked", ce_chunked, (6, 3), ce, safe=(0, 3, 4), races=(1, 2, 5))
both("ce_chunked_any", ce_chunked, (6, 3), lambda V: ce(V, False), safe=(0, 3), races=(1,))
both("ce_chunked_if", ce_chunked, (6, 3), lambda V: ce(V, False), safe=(4,), races=(2,), ok=PERHAPS, bad=NEVER)
both("ce_chunked_any5", ce_chunked, (6, 3), lambda V: ce(V, False), safe=(), races=(5,), bad=NEVER)


# Int4 pack/unpack with interleave and join.
@triton.jit
def pack4(x_ptr, p_ptr, n, V: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    if V == 0:
        lo, hi = tl.split(tl.reshape(x, (BLOCK // 2, 2)))
        o = tl.program_id(0) * (BLOCK // 2) + tl.arange(0, BLOCK // 2)
        tl.store(p_ptr + o, (lo & 15) | (hi << 4), mask=o < (n + 1) // 2)
    elif V == 1:
        tl.store(p_ptr + i // 2, x, mask=i < n)
    elif V == 2:
        lo, hi = tl.split(tl.reshape(x, (BLOCK // 2, 2)))
        o = tl.program_id(0) * (BLOCK // 4) + tl.arange(0, BLOCK // 2)
        tl.store(p_ptr + o, (lo & 15) | (hi << 4), mask=o < (n + 1) // 2)
    elif V == 3:
        tl.atomic_or(p_ptr.to(tl.pointer_type(tl.int32)) + i // 8, x.to(tl.int32) << (4 * (i % 8)), mask=i < n)
    elif V == 4:
        tl.store(p_ptr + i // 2, x, mask=(i < n) & (i % 2 == 0))
    elif V == 5:
        tl.store(p_ptr + (i >> 1), x, mask=(i < n) & ((i & 1) == tl.program_id(0) % 2))
    elif V == 6:
        y = tl.join(x, x)
        j = tl.program_id(0) * BLOCK * 2 + tl.arange(0, 2 * BLOCK)
        tl.store(p_ptr + j, tl.reshape(y, (2 * BLOCK,)), mask=j < 2 * n)
    elif V == 7:
        y = tl.interleave(x, x)
        j = tl.program_id(0) * BLOCK + tl.arange(0, 2 * BLOCK)
        tl.store(p_ptr + j, y, mask=j < 2 * n)


both("pack4", pack4, (4,), lambda V: dict(x_ptr=T("i8", 120), p_ptr=T("i8", 256), n=120, V=V, BLOCK=32), safe=(0, 3, 4, 5, 6), races=(1, 2, 7))


# Block-sparse attention layout lut.
@triton.jit
def block_sparse_softmax(x_ptr, y_ptr, lut_ptr, off_ptr, B: tl.constexpr, MAXN: tl.constexpr, V: tl.constexpr):
    r = tl.program_id(0)
    h = tl.program_id(1)
    start = tl.load(off_ptr + h * (tl.num_programs(0) // B + 1) + r // B)
    end = tl.load(off_ptr + h * (tl.num_programs(0) // B + 1) + r // B + 1)
    n = end - start
    j = tl.arange(0, MAXN)
    c = tl.arange(0, B)
    m = (j[:, None] < n) & (c[None, :] < B)
    if V == 3:
        blk = tl.load(lut_ptr + start + j, mask=j < n, other=0)
        a = blk[:, None] * B * B + (r % B) * B + c[None, :]
    else:
        a = (start + j)[:, None] * B * B + (r % B) * B + c[None, :]
    x = tl.load(x_ptr + a, mask=m, other=-float("inf"))
    e = tl.exp(x - tl.max(tl.max(x, 1), 0))
    y = e / tl.sum(tl.sum(e, 1), 0)
    if V == 1:
        tl.store(y_ptr + a, y)
    elif V == 2:
        tl.store(y_ptr + (start + j)[:, None] * B * B + (r // B) * B + c[None, :], y, mask=m)
    else:
        tl.store(y_ptr + a, y, mask=m)


def bs(V):
    # 4 block rows, 1 head... 2 heads of 2 block rows (num_programs 0 = 2*B = 16, offsets 3 per head)
    return dict(x_ptr=T("f32", 9, 8, 8), y_ptr=T("f32", 16, 8, 8), lut_ptr=T("i32", 9, values=[4, 2, 7, 0, 1, 8, 3, 5, 6]), off_ptr=T("i32", 6, values=[0, 3, 4, 4, 6, 9]), B=8, MAXN=4, V=V)


both("block_sparse_softmax", block_sparse_softmax, (16, 2), bs, safe=(0, 3), races=(1, 2))


# Mamba chunk scan with carried state in registers, states written.
@triton.jit
def ssm_scan(u_ptr, dt_ptr, A_ptr, B_ptr, C_ptr, y_ptr, h_ptr, L, D, N: tl.constexpr, V: tl.constexpr, BD: tl.constexpr):
    pd = tl.program_id(0)
    b = tl.program_id(1)
    d = pd * BD + tl.arange(0, BD)
    n = tl.arange(0, N)
    md = d < D
    a = tl.load(A_ptr + d[:, None] * N + n[None, :], mask=md[:, None], other=0.0)
    hp = h_ptr + b * D * N + d[:, None] * N + n[None, :]
    h = tl.load(hp, mask=md[:, None], other=0.0)
    for t in range(L):
        u = tl.load(u_ptr + (b * L + t) * D + d, mask=md, other=0.0)
        dt = tl.load(dt_ptr + (b * L + t) * D + d, mask=md, other=0.0)
        bb = tl.load(B_ptr + (b * L + t) * N + n)
        cc = tl.load(C_ptr + (b * L + t) * N + n)
        h = tl.exp(dt[:, None] * a) * h + (dt * u)[:, None] * bb[None, :]
        y = tl.sum(h * cc[None, :], axis=1)
        if V == 1:
            tl.store(y_ptr + (b * L + t) * D + d, y)
        elif V == 2:
            tl.store(u_ptr + (b * L + t) * D + d, y, mask=md)
        elif V == 3:
            tl.store(y_ptr + b * D + t * D + d, y, mask=md)
        elif V == 4:
            tl.store(C_ptr + (b * L + t) * N + n, tl.sum(h, axis=0))
        elif V == 5:
            if t + 1 < L:
                tl.store(u_ptr + (b * L + t + 1) * D + d, y, mask=md)
        else:
            tl.store(y_ptr + (b * L + t) * D + d, y, mask=md)
    tl.store(hp, h, mask=md[:, None])


ss = lambda V: dict(u_ptr=T("f32", 2, 6, 40), dt_ptr=T("f32", 2, 6, 40), A_ptr=T("f32", 40, 8), B_ptr=T("f32", 2, 6, 8), C_ptr=T("f32", 2, 6, 8), y_ptr=T("f32", 2, 6, 48), h_ptr=T("f32", 2, 40, 8),
                    L=6, D=40, N=8, V=V, BD=16)
# V5: y at t+1 in u: one lane stores (after reduce), another/same lane loads u next iteration: same lane d, but the result of the
# reduction is in a sliced layout: y and u have different layouts: threads race by model (store and later load, no dependency)
both("ssm_scan", ssm_scan, (3, 2), ss, safe=(0,), races=(1, 3, 4))
both("ssm_scan_in_place", ssm_scan, (3, 2), ss, safe=(), races=(2, 5), bad=NEVER)
