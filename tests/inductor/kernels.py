"""Kernels in the form that torch.compile (Inductor) generates: pointwise with tiles, loops and persistent reductions, foreach and combo kernels, scatters,
templates. Each variant V of a kernel is one launch; what is right and what is wrong was written down before it was asked for."""
from cases import T, case, load_triton
triton, tl = load_triton()


@triton.jit
def ind_step_counter(in_ptr0, out_ptr1, V: tl.constexpr, XBLOCK: tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    tmp0 = tl.load(in_ptr0 + (0))
    if V == 3:
        tmp1 = tl.sum(tl.broadcast_to(tmp0, [2]), 0)
    else:
        tmp1 = tmp0
    tmp1 = tl.broadcast_to(tmp1, [XBLOCK])
    tmp2 = tl.full([XBLOCK], 1, tl.int64)
    tmp3 = tmp1 + tmp2
    if V == 1:
        tl.store(out_ptr1 + (tl.full([XBLOCK], 1, tl.int32)), tmp3, None)
        tl.store(out_ptr1 + (tl.full([XBLOCK], 0, tl.int32)), tl.full([XBLOCK], 7, tl.int64), None)
    elif V == 2:
        tl.store(out_ptr1 + tl.full([XBLOCK, 1], 0, tl.int32), tmp3[:, None], None)
    else:
        tl.store(out_ptr1 + (tl.full([XBLOCK], 0, tl.int32)), tmp3, None)

def A(XB=1, V=0, n=2):
    return dict(in_ptr0=T("i64", n), out_ptr1=T("i64", n, of="in_ptr0"), V=V, XBLOCK=XB)
case("ind_step_counter", ind_step_counter, "ok", (1,), A())
case("ind_step_counter_rank2", ind_step_counter, "ok", (1,), A(V=2))
case("ind_step_counter_unused", ind_step_counter, "races", (1,), A(V=1))
case("ind_step_counter_lanes", ind_step_counter, "races", (1,), A(2))
case("ind_step_counter_programs", ind_step_counter, "races", (2,), A())
case("ind_step_counter_reduced", ind_step_counter, "races", (1,), A(V=3))
@triton.jit
def ind_step_both(p, q, S: tl.constexpr):
    """x = *p; y = *q; *q = x; *p = y in tiles of one lane: each load feeds the other's store only."""
    o = tl.arange(0, 1)
    x = tl.load(p)
    y = tl.load(q + o)
    tl.store(p + o, y)
    if S:
        tl.debug_barrier()
    tl.store(q + o, x + o)
case("ind_step_both", ind_step_both, "races", (1,), dict(p=T("i32", 1), q=T("i32", 1), S=0))
@triton.jit
def ind_step_branch(p, S: tl.constexpr):
    """All threads read the scalar; one of its threads may write before another has looked."""
    x = tl.load(p)
    if x == S:
        tl.store(p + tl.arange(0, 1), x + 1 + tl.arange(0, 1))
case("ind_step_branch", ind_step_branch, "races|unsupported", (1,), dict(p=T("i32", 1), S=0))


def both(name, fn, grid, args, safe=(0,), races=(1,), nospec=(), ok="ok", bad="races"):
    """One launch for each variant of the kernel: V in `safe` is right, V in `races` is not."""
    for v in safe:
        case(f"{name}_{v}" if v else name, fn, ok, grid, args(V=v), nospec=nospec)
    for v in races:
        case(f"{name}_wrong{v}", fn, bad, grid, args(V=v), nospec=nospec)


@triton.jit
def ind_permute3d(in_ptr0, out_ptr0, ynumel, xnumel, V: tl.constexpr, YBLOCK: tl.constexpr, XBLOCK: tl.constexpr):
    yoffset = (tl.program_id(1) + tl.program_id(2) * tl.num_programs(1)) * YBLOCK
    if V == 1:
        yoffset = (tl.program_id(1) + tl.program_id(2)) * YBLOCK
    yindex = yoffset + tl.arange(0, YBLOCK)[:, None]
    ymask = yindex < ynumel
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[None, :]
    xmask = xindex < xnumel
    x2 = xindex
    y0 = (yindex % 21)
    y1 = yindex // 21
    y3 = yindex
    tmp0 = tl.load(in_ptr0 + (y0 + 21 * x2 + 21 * 31 * y1), xmask & ymask, eviction_policy='evict_last')
    if V == 2:
        tl.store(out_ptr0 + (x2 + 30 * y3), tmp0 * 2.0, xmask & ymask)
    elif V == 3:
        tl.store(out_ptr0 + (x2 + 31 * y0 + 31 * 20 * y1), tmp0 * 2.0, xmask & ymask)
    else:
        tl.store(out_ptr0 + (x2 + 31 * y3), tmp0 * 2.0, xmask & ymask)


both("ind_permute3d", ind_permute3d, (2, 3, 2), lambda V: dict(in_ptr0=T("f32", 4, 31, 21), out_ptr0=T("f32", 4, 21, 31), ynumel=84, xnumel=31, V=V,
     YBLOCK=16, XBLOCK=16), races=(1, 2, 3))


@triton.jit
def ind_cat(in_ptr0, in_ptr1, in_ptr2, out_ptr0, xnumel, ks0, ks1, V: tl.constexpr, XBLOCK: tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = (xindex % ks0)
    x1 = xindex // ks0
    tmp0 = x0
    tmp1 = tl.full([1], 0, tl.int64)
    tmp3 = ks1
    tmp4 = tmp0 < tmp3
    tmp5 = tl.load(in_ptr0 + (ks1 * x1 + (x0)), tmp4 & xmask, eviction_policy='evict_last', other=0.0)
    tmp6 = tmp0 >= tmp3
    tmp9 = tl.load(in_ptr1 + (ks0 * x1 + (-1) * ks1 * x1 + (x0 + (-1) * ks1)), tmp6 & xmask, eviction_policy='evict_last', other=0.0)
    tmp10 = tl.where(tmp4, tmp5, tmp9)
    if V == 1:
        tl.store(out_ptr0 + (x0 + ks1 * x1), tmp10, xmask)
    elif V == 2:
        tl.store(out_ptr0 + (x0 + ks0 * x1), tmp10, xmask)
        tl.store(out_ptr0 + (x0 + ks0 * x1 + 1), tmp10, xmask & tmp6)
    else:
        tl.store(out_ptr0 + (x0 + ks0 * x1), tmp10, xmask)


both("ind_cat", ind_cat, (6,), lambda V: dict(in_ptr0=T("f32", 40, 5), in_ptr1=T("f32", 40, 33), in_ptr2=T("f32", 1), out_ptr0=T("f32", 40, 38), xnumel=1520,
     ks0=38, ks1=5, V=V, XBLOCK=256), races=(1, 2))


@triton.jit
def ind_red_outer(in_ptr0, out_ptr0, xnumel, r0_numel, V: tl.constexpr, XBLOCK: tl.constexpr, R0_BLOCK: tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_base = tl.arange(0, R0_BLOCK)[None, :]
    x0 = (xindex % 7)
    x1 = xindex // 7
    _tmp2 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    x3 = xindex
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        r0_2 = r0_index
        tmp0 = tl.load(in_ptr0 + (x0 + 7 * r0_2 + 7 * 100 * x1), r0_mask & xmask, eviction_policy='evict_first', other=0.0)
        tmp1 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
        tmp3 = _tmp2 + tmp1
        _tmp2 = tl.where(r0_mask & xmask, tmp3, _tmp2)
        if V == 2:
            tl.store(out_ptr0 + (x3), tl.sum(_tmp2, 1)[:, None], xmask)
    tmp2 = tl.sum(_tmp2, 1)[:, None]
    if V == 1:
        tl.store(out_ptr0 + (x0), tmp2, xmask)
    elif V == 3:
        tl.store(out_ptr0 + (x1 + 5 * x0), tmp2, xmask)
    elif V == 4:
        tl.store(out_ptr0 + (x1 + 6 * x0), tmp2, xmask)
    elif V == 5:
        tl.atomic_add(out_ptr0 + (x0), tmp2, xmask)
    else:
        tl.store(out_ptr0 + (x3), tmp2, xmask)


both("ind_red_outer", ind_red_outer, (3,), lambda V: dict(in_ptr0=T("f32", 6, 100, 7), out_ptr0=T("f32", 6, 7), xnumel=42, r0_numel=100, V=V, XBLOCK=16,
     R0_BLOCK=32), safe=(0, 4, 5), races=(1, 2, 3))


@triton.jit
def ind_softmax_inplace(in_out_ptr0, out_ptr1, xnumel, r0_numel, V: tl.constexpr, XBLOCK: tl.constexpr, R0_BLOCK: tl.constexpr):
    """Persistent reduction: the row is read once; a second read without a barrier is another story."""
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    r0_mask = r0_index < r0_numel
    r0_1 = r0_index
    x0 = xindex
    tmp0 = tl.load(in_out_ptr0 + (r0_1 + 100 * x0), xmask & r0_mask, other=0.0)
    tmp3 = tl.where(r0_mask & xmask, tmp0, float("-inf"))
    tmp4 = tl.max(tmp3, 1)[:, None]
    tmp5 = tl.exp(tmp0 - tmp4)
    tmp8 = tl.where(r0_mask & xmask, tmp5, 0)
    tmp9 = tl.sum(tmp8, 1)[:, None]
    tmp10 = tmp5 / tmp9
    if V == 1:
        tl.store(in_out_ptr0 + (r0_1 + 100 * x0), tmp8 * tmp4, xmask & r0_mask)
        tmp11 = tl.load(in_out_ptr0 + ((99 - r0_1) + 100 * x0), xmask & r0_mask, other=0.0)
        tl.store(out_ptr1 + (r0_1 + 100 * x0), tmp11, xmask & r0_mask)
    elif V == 2:
        tl.store(in_out_ptr0 + (r0_1 + 100 * x0), tmp10, xmask)
    elif V == 3:
        tl.store(in_out_ptr0 + ((99 - r0_1) + 100 * x0), tmp10, xmask & r0_mask)
    elif V == 4:
        tl.store(in_out_ptr0 + (r0_1 + 100 * x0), tmp8 * tmp4, xmask & r0_mask)
        tl.debug_barrier()
        tmp11 = tl.load(in_out_ptr0 + ((99 - r0_1) + 100 * x0), xmask & r0_mask, other=0.0)
        tl.store(out_ptr1 + (r0_1 + 100 * x0), tmp11, xmask & r0_mask)
    else:
        tl.store(in_out_ptr0 + (r0_1 + 100 * x0), tmp10, xmask & r0_mask)
        tl.store(out_ptr1 + (x0), tmp9, xmask)


both("ind_softmax_inplace", ind_softmax_inplace, (9,), lambda V: dict(in_out_ptr0=T("f32", 33, 100), out_ptr1=T("f32", 33, 100), xnumel=33, r0_numel=100, V=V,
     XBLOCK=4, R0_BLOCK=128), safe=(0, 4), races=(1, 2, 3))


@triton.jit
def welford_combine(mean_1, m2_1, weight_1, mean_2, m2_2, weight_2):
    delta = mean_2 - mean_1
    new_weight = weight_1 + weight_2
    w2_over_w = tl.where(new_weight == 0.0, 0.0, weight_2 / new_weight)
    return (mean_1 + delta * w2_over_w, m2_1 + m2_2 + delta * delta * weight_1 * w2_over_w, new_weight)


@triton.jit
def ind_welford_ln(in_out_ptr0, in_ptr0, out_ptr0, out_ptr2, xnumel, r0_numel, V: tl.constexpr, XBLOCK: tl.constexpr, R0_BLOCK: tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_base = tl.arange(0, R0_BLOCK)[None, :]
    x0 = xindex
    mean = tl.zeros([XBLOCK, R0_BLOCK], tl.float32)
    m2 = tl.zeros([XBLOCK, R0_BLOCK], tl.float32)
    w = tl.zeros([XBLOCK, R0_BLOCK], tl.float32)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        tmp0 = tl.load(in_ptr0 + (r0_index + 300 * x0), r0_mask & xmask, eviction_policy='evict_last', other=0.0)
        d = tmp0 - mean
        nw = w + 1
        nm = mean + d / nw
        mean = tl.where(r0_mask & xmask, nm, mean)
        m2 = tl.where(r0_mask & xmask, m2 + d * (tmp0 - nm), m2)
        w = tl.where(r0_mask & xmask, nw, w)
    a, b, c = tl.reduce((mean, m2, w), 1, welford_combine)
    tmp2 = a[:, None]
    tmp3 = b[:, None]
    tl.store(out_ptr0 + (x0), tmp2, xmask)
    tmp5 = tl.rsqrt(tmp3 / 300.0 + 1e-05)
    if V != 3:
        tl.store(in_out_ptr0 + (x0), tmp5, xmask)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        tmp9 = tl.load(in_ptr0 + (r0_index + 300 * x0), r0_mask & xmask, eviction_policy='evict_first', other=0.0)
        tmp10 = (tmp9 - tmp2) * tmp5
        if V == 1:
            tl.store(in_ptr0 + (r0_index + 300 * x0), tmp10, r0_mask & xmask)
        elif V == 2:
            tl.store(out_ptr2 + (r0_index + 300 * x0), tmp10, xmask)
        elif V == 3:
            tl.store(in_out_ptr0 + (x0 + 0 * r0_index), tmp10, r0_mask & xmask)
        elif V == 4:
            tl.store(out_ptr2 + (r0_offset + 300 * x0), tl.sum(tmp10, 1)[:, None], xmask)
        else:
            tl.store(out_ptr2 + (r0_index + 300 * x0), tmp10, r0_mask & xmask)


both("ind_welford_ln", ind_welford_ln, (5,), lambda V: dict(in_out_ptr0=T("f32", 33), in_ptr0=T("f32", 33, 300), out_ptr0=T("f32", 33), out_ptr2=T("f32", 33, 300),
     xnumel=33, r0_numel=300, V=V, XBLOCK=8, R0_BLOCK=64), safe=(0, 4), races=(1, 2, 3))


@triton.jit
def ind_foreach(in_ptr0, in_ptr1, in_ptr2, out_ptr0, out_ptr1, out_ptr2, V: tl.constexpr, XBLOCK: tl.constexpr):
    pid = tl.program_id(0)
    num_xblocks_0 = tl.cdiv(700, XBLOCK)
    num_xblocks_1 = num_xblocks_0 + tl.cdiv(33, XBLOCK)
    num_xblocks_2 = num_xblocks_1 + tl.cdiv(257, XBLOCK)
    if V == 1:
        num_xblocks_2 = num_xblocks_1 + tl.cdiv(257, XBLOCK) + 1
    if pid < num_xblocks_0:
        pid_offset = pid
        xoffset = pid_offset * XBLOCK
        xindex = xoffset + tl.arange(0, XBLOCK)[:]
        xmask = xindex < 700
        tmp0 = tl.load(in_ptr0 + (xindex), xmask)
        tl.store(out_ptr0 + (xindex), tmp0 * 2.0 + 1.0, xmask)
    elif pid < num_xblocks_1:
        pid_offset = pid - num_xblocks_0
        xoffset = pid_offset * XBLOCK
        xindex = xoffset + tl.arange(0, XBLOCK)[:]
        xmask = xindex < 33
        tmp0 = tl.load(in_ptr1 + (xindex), xmask)
        tl.store(out_ptr1 + (xindex), tmp0 * 2.0 + 1.0, xmask)
    elif pid < num_xblocks_2:
        pid_offset = pid - num_xblocks_1
        if V == 2:
            pid_offset = tl.maximum(pid - num_xblocks_1 - 1, 0)
        xoffset = pid_offset * XBLOCK
        xindex = xoffset + tl.arange(0, XBLOCK)[:]
        xmask = xindex < 257
        tmp0 = tl.load(in_ptr2 + (xindex), xmask)
        tl.store(out_ptr2 + (xindex), tmp0 * 2.0 + 1.0, xmask)


def foreach_args(V, view=False):
    a = dict(in_ptr0=T("f32", 700), in_ptr1=T("f32", 33), in_ptr2=T("f32", 257), out_ptr0=T("f32", 700), out_ptr1=T("f32", 33), out_ptr2=T("f32", 257), V=V, XBLOCK=128)
    if view:
        a["out_ptr0"] = T("f32", 700, after=40)
        a["out_ptr1"] = T("f32", 33, of="out_ptr0", at=4 * (700 - view))
    return a


both("ind_foreach", ind_foreach, (10,), foreach_args, safe=(0, 1), races=(2,))
case("ind_foreach_views", ind_foreach, "races", (10,), foreach_args(0, 32))
case("ind_foreach_views_apart", ind_foreach, "ok", (10,), dict(foreach_args(0), out_ptr0=T("f32", 700, after=33), out_ptr1=T("f32", 33, of="out_ptr0", at=2800)))


@triton.jit
def ind_combo_sequential(in_ptr0, in_ptr1, out_ptr0, out_ptr1, V: tl.constexpr, XBLOCK: tl.constexpr):
    """Combo kernel: programs alternate between two bodies."""
    pid = tl.program_id(0)
    if pid % 2 == 0:
        pid_offset = pid // 2
        xindex = pid_offset * XBLOCK + tl.arange(0, XBLOCK)[:]
        xmask = xindex < 330
        tmp0 = tl.load(in_ptr0 + (xindex), xmask)
        if V == 1:
            tl.store(in_ptr1 + (xindex), tmp0 + 1.0, xmask)
        else:
            tl.store(out_ptr0 + (xindex), tmp0 + 1.0, xmask)
    elif pid % 2 == 1:
        pid_offset = pid // 2
        if V == 2:
            pid_offset = (pid + 1) // 4
        xindex = pid_offset * XBLOCK + tl.arange(0, XBLOCK)[:]
        xmask = xindex < 300
        x0 = xindex % 15
        x1 = xindex // 15
        tmp0 = tl.load(in_ptr1 + (x1 + 20 * x0), xmask)
        tl.store(out_ptr1 + (xindex), tmp0, xmask)


both("ind_combo_sequential", ind_combo_sequential, (6,), lambda V: dict(in_ptr0=T("f32", 330), in_ptr1=T("f32", 330), out_ptr0=T("f32", 330), out_ptr1=T("f32", 330), V=V,
     XBLOCK=128), races=(1, 2))


@triton.jit
def ind_index_put(in_ptr0, in_ptr1, out_ptr0, xnumel, V: tl.constexpr, XBLOCK: tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x1 = xindex // 8
    x0 = (xindex % 8)
    tmp0 = tl.load(in_ptr0 + (x1), xmask, eviction_policy='evict_last')
    tmp6 = tl.load(in_ptr1 + (xindex), xmask)
    tmp1 = tl.full([XBLOCK], 20, tl.int32)
    tmp2 = tmp0 + tmp1
    tmp3 = tmp0 < 0
    tmp4 = tl.where(tmp3, tmp2, tmp0)
    tl.device_assert(((0 <= tmp4) & (tmp4 < 20)) | ~(xmask), "index out of bounds: 0 <= tmp4 < 20")
    if V == 0:
        tl.store(out_ptr0 + (x0 + 8 * tmp4), tmp6, xmask)
    elif V == 1:
        tl.atomic_add(out_ptr0 + (x0 + 8 * tmp4), tmp6, xmask, sem='relaxed')
    elif V == 2:
        tl.store(out_ptr0 + (x0 + 7 * tmp4), tmp6, xmask)


PUT = dict(perm=[3, -1, 0, 17, 5, 6, -10, 8, 11, -2], dup=[3, -1, 0, 17, 5, 6, -10, 19, 11, -2])


def put_args(V, which="perm", dtype="i64"):
    return dict(in_ptr0=T(dtype, 10, values=PUT.get(which)), in_ptr1=T("f32", 10, 8), out_ptr0=T("f32", 20, 8), xnumel=80, V=V, XBLOCK=32)


case("ind_index_put", ind_index_put, "ok", (3,), put_args(0))
case("ind_index_put_i32", ind_index_put, "ok", (3,), put_args(0, dtype="i32"))
case("ind_index_put_i16", ind_index_put, "ok", (3,), put_args(0, dtype="i16"))
case("ind_index_put_dup", ind_index_put, "races", (3,), put_args(0, "dup"))
case("ind_index_put_stride", ind_index_put, "races", (3,), put_args(2))
case("ind_index_put_acc", ind_index_put, "ok", (3,), put_args(1, "dup"))
case("ind_index_put_acc_any", ind_index_put, "ok", (3,), put_args(1, "none"))
case("ind_index_put_any", ind_index_put, "unsupported indirect-address", (3,), put_args(0, "none"))


@triton.jit
def ind_upsample_scatter(in_ptr0, out_ptr0, xnumel, V: tl.constexpr, XBLOCK: tl.constexpr):
    """Nearest neighbour by floats, as upsample lowers: reading is harmless, writing to such an index is not."""
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x1 = (xindex // 34) % 34
    x0 = (xindex % 34)
    tmp0 = x1.to(tl.float32) * 0.5
    tmp1 = tmp0.to(tl.int32)
    tmp2 = (x0.to(tl.float32) * 0.5).to(tl.int32)
    tmp3 = tl.load(in_ptr0 + (tmp2 + 17 * tmp1), xmask, eviction_policy='evict_last')
    if V == 0:
        tl.store(out_ptr0 + (xindex), tmp3, xmask)
    elif V == 1:
        tl.store(out_ptr0 + (tmp2 + 17 * tmp1), tmp3, xmask)
    elif V == 2:
        tl.atomic_add(out_ptr0 + (tmp2 + 17 * tmp1), tmp3, xmask, sem='relaxed')


both("ind_upsample", ind_upsample_scatter, (5,), lambda V: dict(in_ptr0=T("f32", 17, 17), out_ptr0=T("f32", 34, 34), xnumel=1156, V=V, XBLOCK=256), safe=(0, 2),
     races=(1,), bad="races|unsupported never=ok")


@triton.jit
def ind_mix_order(in_ptr0, in_ptr1, out_ptr0, ws_ptr, xnumel, r0_numel, V: tl.constexpr, XBLOCK: tl.constexpr, RSPLIT_SIZE: tl.constexpr, R0_BLOCK: tl.constexpr):
    """Rows in one order, weights' gradient in the other: each program sums its rows and leaves partial sums in a workspace."""
    xoffset = tl.program_id(0) * RSPLIT_SIZE
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    r0_mask = r0_index < r0_numel
    accum0 = tl.full([R0_BLOCK], 0, tl.float32)[None, :]
    split_size = min(RSPLIT_SIZE, xnumel - xoffset)
    for _ in tl.range(0, split_size, XBLOCK):
        xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
        xmask = xindex < xnumel
        xoffset += XBLOCK
        tmp0 = tl.load(in_ptr0 + (r0_index + 96 * xindex), r0_mask & xmask, other=0.0)
        tmp1 = tl.load(in_ptr1 + (r0_index), r0_mask, other=0.0)
        tmp2 = tl.sum(tl.where(r0_mask & xmask, tmp0 * tmp1, 0), 1)[:, None]
        if V == 3:
            tl.store(out_ptr0 + (r0_index + 96 * (xindex // 2)), tmp0 * tmp2, r0_mask & xmask)
        else:
            tl.store(out_ptr0 + (r0_index + 96 * xindex), tmp0 * tmp2, r0_mask & xmask)
        accum0 = accum0 + tl.sum(tl.where(xmask, tmp0, 0), 0)[None, :]
    if V == 1:
        tl.store(ws_ptr + r0_index, accum0, r0_mask)
    elif V == 2:
        tl.store(ws_ptr + tl.program_id(0) * r0_numel + r0_index, accum0, r0_index < R0_BLOCK)
    else:
        tl.store(ws_ptr + tl.program_id(0) * r0_numel + r0_index, accum0, r0_mask)


both("ind_mix_order", ind_mix_order, (4,), lambda V: dict(in_ptr0=T("f32", 60, 96), in_ptr1=T("f32", 96), out_ptr0=T("f32", 60, 96), ws_ptr=T("f32", 4, 96), xnumel=60,
     r0_numel=96, V=V, XBLOCK=2, RSPLIT_SIZE=16, R0_BLOCK=128), races=(1, 2, 3))


@triton.jit
def ind_block_ptr(in_ptr0, in_ptr1, out_ptr0, ynumel, xnumel, V: tl.constexpr, YBLOCK: tl.constexpr, XBLOCK: tl.constexpr):
    yoffset = tl.program_id(1) * YBLOCK
    xoffset = tl.program_id(0) * XBLOCK
    tmp0 = tl.load(tl.make_block_ptr(in_ptr0, shape=[100, 60], strides=[1, 100], block_shape=[YBLOCK, XBLOCK], order=[1, 0], offsets=[yoffset, xoffset]),
                   boundary_check=[0, 1])
    tmp1 = tl.load(tl.make_block_ptr(in_ptr1, shape=[100, 60], strides=[60, 1], block_shape=[YBLOCK, XBLOCK], order=[1, 0], offsets=[yoffset, xoffset]),
                   boundary_check=[0, 1])
    tmp2 = tmp0 * 2.0 + tmp1
    if V == 1:
        tl.store(tl.make_block_ptr(out_ptr0, shape=[100, 64], strides=[60, 1], block_shape=[YBLOCK, XBLOCK], order=[1, 0], offsets=[yoffset, xoffset]),
                 tmp2, boundary_check=[0, 1])
    elif V == 2:
        tl.store(tl.make_block_ptr(out_ptr0, shape=[100, 60], strides=[60, 1], block_shape=[YBLOCK, XBLOCK], order=[1, 0], offsets=[yoffset, xoffset // 2]),
                 tmp2, boundary_check=[0, 1])
    else:
        tl.store(tl.make_block_ptr(out_ptr0, shape=[100, 60], strides=[60, 1], block_shape=[YBLOCK, XBLOCK], order=[1, 0], offsets=[yoffset, xoffset]),
                 tmp2, boundary_check=[0, 1])


both("ind_block_ptr", ind_block_ptr, (2, 7), lambda V: dict(in_ptr0=T("f32", 60, 100), in_ptr1=T("f32", 100, 60), out_ptr0=T("f32", 100, 60), ynumel=100, xnumel=60, V=V,
     YBLOCK=16, XBLOCK=32), races=(1, 2))


@triton.jit
def ind_maxpool_backward(in_ptr0, in_ptr1, out_ptr0, xnumel, V: tl.constexpr, XBLOCK: tl.constexpr):
    """Each input gathers from the windows that chose it; the twin lets each window scatter."""
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    if V == 0:
        x0 = (xindex % 12)
        x1 = (xindex // 12) % 12
        x2 = xindex // 144
        tmp = tl.zeros([XBLOCK], tl.float32)
        for dy in tl.static_range(2):
            for dx in tl.static_range(2):
                py = (x1 // 2) + dy
                px = (x0 // 2) + dx
                ok = (py < 6) & (px < 6)
                i = tl.load(in_ptr0 + (px + 6 * py + 36 * x2), xmask & ok, other=-1)
                g = tl.load(in_ptr1 + (px + 6 * py + 36 * x2), xmask & ok, other=0.0)
                tmp += tl.where(i.to(tl.int32) == x0 + 12 * x1, g, 0.0)
        tl.store(out_ptr0 + (xindex), tmp, xmask)
    else:
        x2 = xindex // 36
        i = tl.load(in_ptr0 + (xindex), xmask, other=0)
        g = tl.load(in_ptr1 + (xindex), xmask, other=0.0)
        if V == 1:
            tl.store(out_ptr0 + (i + 144 * x2), g, xmask)
        else:
            tl.atomic_add(out_ptr0 + (i + 144 * x2), g, xmask, sem='relaxed')


case("ind_maxpool_backward", ind_maxpool_backward, "ok", (3,), dict(in_ptr0=T("i64", 2, 6, 6), in_ptr1=T("f32", 2, 6, 6), out_ptr0=T("f32", 2, 12, 12), xnumel=288, V=0,
     XBLOCK=128))
POOL = [(2 * y + (y < 5)) * 12 + 2 * x + (x < 5) for _ in range(2) for y in range(6) for x in range(6)]
case("ind_maxpool_scatter_distinct", ind_maxpool_backward, "ok", (1,), dict(in_ptr0=T("i64", 2, 6, 6, values=POOL), in_ptr1=T("f32", 2, 6, 6), out_ptr0=T("f32", 2, 12, 12),
     xnumel=72, V=1, XBLOCK=128))
case("ind_maxpool_scatter_shared", ind_maxpool_backward, "races", (1,), dict(in_ptr0=T("i64", 2, 6, 6, values=POOL[:40] + [POOL[39]] + POOL[41:]), in_ptr1=T("f32", 2, 6, 6),
     out_ptr0=T("f32", 2, 12, 12), xnumel=72, V=1, XBLOCK=128))
case("ind_maxpool_atomic", ind_maxpool_backward, "ok", (1,), dict(in_ptr0=T("i64", 2, 6, 6), in_ptr1=T("f32", 2, 6, 6), out_ptr0=T("f32", 2, 12, 12), xnumel=72, V=2,
     XBLOCK=128))


@triton.jit
def ind_rope_halves(in_out_ptr0, in_ptr1, in_ptr2, xnumel, V: tl.constexpr, XBLOCK: tl.constexpr):
    """Both halves in one program, in place; the twin lets each element of the output be a lane of its own."""
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    if V == 0:
        x0 = xindex % 32
        x1 = xindex // 32
        a = tl.load(in_out_ptr0 + (x0 + 64 * x1), xmask)
        b = tl.load(in_out_ptr0 + (32 + x0 + 64 * x1), xmask)
        c = tl.load(in_ptr1 + (x0 + 32 * (x1 % 10)), xmask)
        s = tl.load(in_ptr2 + (x0 + 32 * (x1 % 10)), xmask)
        tl.store(in_out_ptr0 + (x0 + 64 * x1), a * c - b * s, xmask)
        tl.store(in_out_ptr0 + (32 + x0 + 64 * x1), b * c + a * s, xmask)
    else:
        x0 = xindex % 64
        x1 = xindex // 64
        tmp1 = x0 < 32
        a = tl.load(in_out_ptr0 + (xindex), xmask)
        b = tl.load(in_out_ptr0 + (32 + x0 + 64 * x1), xmask & tmp1, other=0.0)
        d = tl.load(in_out_ptr0 + ((-32) + x0 + 64 * x1), xmask & ~tmp1, other=0.0)
        c = tl.load(in_ptr1 + (x0 % 32 + 32 * (x1 % 10)), xmask)
        tl.store(in_out_ptr0 + (xindex), a * c + tl.where(tmp1, -b, d), xmask)


both("ind_rope_halves", ind_rope_halves, (5,), lambda V: dict(in_out_ptr0=T("f32", 20, 64), in_ptr1=T("f32", 10, 32), in_ptr2=T("f32", 10, 32),
     xnumel=640 if V == 0 else 1280, V=V, XBLOCK=256))


@triton.jit
def ind_cumsum_flip(in_out_ptr0, out_ptr1, xnumel, r0_numel, V: tl.constexpr, XBLOCK: tl.constexpr, R0_BLOCK: tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    r0_mask = r0_index < r0_numel
    tmp0 = tl.load(in_out_ptr0 + (r0_index + 50 * xindex), xmask & r0_mask, other=0.0)
    tmp1 = tl.cumsum(tmp0, 1)
    if V == 0:
        tl.store(out_ptr1 + ((49 - r0_index) + 50 * xindex), tmp1, xmask & r0_mask)
    elif V == 1:
        tl.store(in_out_ptr0 + ((49 - r0_index) + 50 * xindex), tmp1, xmask & r0_mask)
    elif V == 2:
        tl.store(out_ptr1 + ((r0_index * 3) % 50 + 50 * xindex), tmp1, xmask & r0_mask)
    elif V == 3:
        tl.store(out_ptr1 + ((r0_index * 5) % 50 + 50 * xindex), tmp1, xmask & r0_mask)


both("ind_cumsum_flip", ind_cumsum_flip, (6,), lambda V: dict(in_out_ptr0=T("f32", 21, 50), out_ptr1=T("f32", 21, 50), xnumel=21, r0_numel=50, V=V, XBLOCK=4, R0_BLOCK=64),
     safe=(0, 2), races=(1, 3))


@triton.jit
def ind_mm_template(arg_A, arg_B, in_ptr2, out_ptr0, M, N, K, V: tl.constexpr, GROUP_M: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    stride_am = K
    stride_ak = 1
    stride_bk = N
    stride_bn = 1
    pid = tl.program_id(0).to(tl.int32)
    grid_m = (M + BLOCK_M - 1) // BLOCK_M
    grid_n = (N + BLOCK_N - 1) // BLOCK_N
    width = GROUP_M * grid_n
    group_id = pid // width
    group_size = min(grid_m - group_id * GROUP_M, GROUP_M)
    if V == 1:
        group_size = GROUP_M
    pid_m = group_id * GROUP_M + (pid % group_size)
    pid_n = (pid % width) // (group_size)
    tl.assume(pid_m >= 0)
    tl.assume(pid_n >= 0)
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_a_m = tl.max_contiguous(tl.multiple_of(rm % M, BLOCK_M), BLOCK_M)
    offs_b_n = tl.max_contiguous(tl.multiple_of(rn % N, BLOCK_N), BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k_idx in range(0, tl.cdiv(K, BLOCK_K)):
        a_mask = offs_k[None, :] < (K - k_idx * BLOCK_K)
        b_mask = offs_k[:, None] < (K - k_idx * BLOCK_K)
        a_k_idx_vals = offs_k[None, :] + (k_idx * BLOCK_K)
        b_k_idx_vals = offs_k[:, None] + (k_idx * BLOCK_K)
        a = tl.load(arg_A + (a_k_idx_vals + K * offs_a_m[:, None]), mask=a_mask, other=0.0)
        b = tl.load(arg_B + (offs_b_n[None, :] + N * b_k_idx_vals), mask=b_mask, other=0.0)
        acc += tl.dot(a, b, allow_tf32=False, out_dtype=tl.float32)
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    if V == 2:
        rm = offs_a_m
        rn = offs_b_n
    idx_m = rm[:, None]
    idx_n = rn[None, :]
    mask = (idx_m < M) & (idx_n < N)
    xindex = idx_n + N * idx_m
    if V == 3:
        mask = idx_m < M
    if V == 4:
        tmp0 = tl.load(out_ptr0 + (tl.broadcast_to(xindex, acc.shape)), mask, eviction_policy='evict_last')
    else:
        tmp0 = tl.load(in_ptr2 + (tl.broadcast_to(idx_n, acc.shape)), mask, eviction_policy='evict_last')
    tmp1 = acc + tmp0
    tl.store(out_ptr0 + (tl.broadcast_to(xindex, acc.shape)), tmp1, mask)


def mm_args(V, M=100, N=70, K=90):
    return dict(arg_A=T("f16", M, K), arg_B=T("f16", K, N), in_ptr2=T("f32", N), out_ptr0=T("f32", M, N), M=M, N=N, K=K, V=V, GROUP_M=3, BLOCK_M=16, BLOCK_N=16, BLOCK_K=32)


both("ind_mm_template", ind_mm_template, (35,), mm_args, safe=(0, 1, 4), races=(2, 3))
