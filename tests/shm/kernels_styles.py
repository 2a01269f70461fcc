"""Kernels as their users write them: attention with TMA and WGMMA, staged epilogues, cp.async with helper functions, counters in
aggregates, two accumulators in tensor memory, two consumers that take turns, atomics, branches, early exits.
V = "ok" is correct, every other value broken in one way; as kernels.py."""
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy as cp
from triton.experimental.gluon.language.nvidia.hopper import (fence_async_shared, mbarrier, tma, warpgroup_mma,
                                                              warpgroup_mma_init, warpgroup_mma_wait)
from triton.experimental.gluon.language.nvidia.blackwell import (TensorMemoryLayout, allocate_tensor_memory,
                                                                 tcgen05_commit, tcgen05_mma)
from triton.language.core import _aggregate as aggregate

M = gl.constexpr(64)
ROWS = gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0]))
ACC = gl.constexpr(gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 64, 16]))


@gluon.jit
def _square(layout: gl.constexpr, n: gl.constexpr = 64):
    return gl.arange(0, n, layout=gl.SliceLayout(1, layout))[:, None] * n + gl.arange(0, n, layout=gl.SliceLayout(0, layout))[None, :]


@gluon.jit
def _bars(S: gl.constexpr, c: gl.constexpr):
    b = gl.allocate_shared_memory(gl.int64, [S, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(S):
        mbarrier.init(b.index(i), count=c)
    return b


@gluon.jit
def _inval(b, S: gl.constexpr):
    for i in gl.static_range(S):
        mbarrier.invalidate(b.index(i))


# ---- flash attention forward, one partition loads; q once, a ring of k and one of v ---------------------------------
@gluon.jit
def _fa_load(qd, kd, vd, q, ks, vs, qb, kf, ke, vf, ve, N, S: gl.constexpr, V: gl.constexpr):
    mbarrier.expect(qb, qd.block_type.nbytes)
    tma.async_copy_global_to_shared(qd, [gl.program_id(0) * M, 0], qb, q)
    for j in range(0, N, M):
        it = j // M
        s = it % S
        p = (it // S) & 1
        mbarrier.wait(ke.index(s), p ^ 1)
        mbarrier.expect(kf.index(s), kd.block_type.nbytes)
        tma.async_copy_global_to_shared(kd, [j, 0], kf.index(s), ks.index(s))
        if V != "v-not-awaited":
            mbarrier.wait(ve.index(s), p ^ 1)
        mbarrier.expect(vf.index(s), vd.block_type.nbytes)
        tma.async_copy_global_to_shared(vd, [j, 0], vf.index(s), vs.index(s))


@gluon.jit
def _fa_main(out, q, ks, vs, qb, kf, ke, vf, ve, N, scale, S: gl.constexpr, V: gl.constexpr):
    row: gl.constexpr = gl.SliceLayout(1, ACC)
    aop: gl.constexpr = gl.DotOperandLayout(0, ACC, 2)
    m = gl.full([M], float("-inf"), gl.float32, layout=row)
    li = gl.full([M], 0.0, gl.float32, layout=row)
    acc = gl.zeros([M, M], gl.float32, layout=ACC)
    if V != "q-not-awaited":
        mbarrier.wait(qb, 0)
    for j in range(0, N, M):
        it = j // M
        s = it % S
        p = (it // S) & 1
        mbarrier.wait(kf.index(s), p)
        qk = gl.zeros([M, M], gl.float32, layout=ACC)
        qk = warpgroup_mma(q, ks.index(s).permute((1, 0)), qk, use_acc=False, is_async=True)
        if V == "k-released-early":
            mbarrier.arrive(ke.index(s), count=1)
        qk = warpgroup_mma_wait(0, deps=(qk, ))
        if V != "k-released-early":
            mbarrier.arrive(ke.index(s), count=1)
        mn = gl.maximum(m, gl.max(qk, 1) * scale)
        pr = gl.exp2(qk * scale - mn[:, None])
        alpha = gl.exp2(m - mn)
        li = li * alpha + gl.sum(pr, 1)
        acc = acc * alpha[:, None]
        mbarrier.wait(vf.index(s), p)
        acc = warpgroup_mma(gl.convert_layout(pr.to(gl.float16), aop), vs.index(s), acc, is_async=True)
        acc = warpgroup_mma_wait(1 if V == "v-pending" else 0, deps=(acc, ))
        mbarrier.arrive(ve.index(s), count=1)
        m = mn
    acc = warpgroup_mma_wait(0, deps=(acc, ))
    gl.store(out + gl.program_id(0) * M * M + _square(ACC), acc / li[:, None])


@gluon.jit
def attention(qd, kd, vd, out, N, scale, S: gl.constexpr, V: gl.constexpr):
    q = gl.allocate_shared_memory(gl.float16, [M, M], qd.layout)
    ks = gl.allocate_shared_memory(gl.float16, [S, M, M], kd.layout)
    vs = gl.allocate_shared_memory(gl.float16, [S, M, M], vd.layout)
    qb = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(qb, count=1)
    kf = _bars(S, 1)
    ke = _bars(S, 1)
    vf = _bars(S, 1)
    ve = _bars(S, 1)
    gl.warp_specialize([(_fa_main, (out, q, ks, vs, qb, kf, ke, vf, ve, N, scale, S, V)),
                        (_fa_load, (qd, kd, vd, q, ks, vs, qb, kf, ke, vf, ve, N, S, V))], [1], [24])


ATTENTION = ["ok", "v-not-awaited", "q-not-awaited", "k-released-early", "v-pending"]


# ---- attention in one partition: k and v with prefetch, softmax of one block while the next product runs -----------------
@gluon.jit
def attention_single(qd, kd, vd, out, N, scale, V: gl.constexpr):
    row: gl.constexpr = gl.SliceLayout(1, ACC)
    aop: gl.constexpr = gl.DotOperandLayout(0, ACC, 2)
    q = gl.allocate_shared_memory(gl.float16, [M, M], qd.layout)
    ks = gl.allocate_shared_memory(gl.float16, [2, M, M], kd.layout)
    vs = gl.allocate_shared_memory(gl.float16, [2, M, M], vd.layout)
    qb = _bars(1, 1)
    kb = _bars(2, 1)
    vb = _bars(2, 1)
    mbarrier.expect(qb.index(0), qd.block_type.nbytes)
    tma.async_copy_global_to_shared(qd, [gl.program_id(0) * M, 0], qb.index(0), q)
    mbarrier.expect(kb.index(0), kd.block_type.nbytes, pred=N > 0)
    tma.async_copy_global_to_shared(kd, [0, 0], kb.index(0), ks.index(0), pred=N > 0)
    mbarrier.expect(vb.index(0), vd.block_type.nbytes, pred=N > 0)
    tma.async_copy_global_to_shared(vd, [0, 0], vb.index(0), vs.index(0), pred=N > 0)
    mbarrier.wait(qb.index(0), 0)
    m = gl.full([M], float("-inf"), gl.float32, layout=row)
    li = gl.full([M], 0.0, gl.float32, layout=row)
    acc = warpgroup_mma_init(gl.zeros([M, M], gl.float32, layout=ACC))
    it = 0
    for j in range(0, N, M):
        s = it & 1
        p = (it >> 1) & 1
        nxt = (it + 1) & 1
        more = j + M < N
        if V != "k-late":
            mbarrier.expect(kb.index(nxt), kd.block_type.nbytes, pred=more)
            tma.async_copy_global_to_shared(kd, [j + M, 0], kb.index(nxt), ks.index(nxt), pred=more)
        mbarrier.wait(kb.index(s), p)
        qk = gl.zeros([M, M], gl.float32, layout=ACC)
        qk = warpgroup_mma(q, ks.index(s).permute((1, 0)), qk, use_acc=False, is_async=True)
        if V == "v-before-wait":
            mbarrier.expect(vb.index(nxt), vd.block_type.nbytes, pred=more)
            tma.async_copy_global_to_shared(vd, [j + M, 0], vb.index(nxt), vs.index(nxt), pred=more)
        qk, last = warpgroup_mma_wait(1 if V == "one-pending" else 0, deps=(qk, acc))
        if V == "k-late":
            mbarrier.expect(kb.index(nxt), kd.block_type.nbytes, pred=more)
            tma.async_copy_global_to_shared(kd, [j + M, 0], kb.index(nxt), ks.index(nxt), pred=more)
        # The product with the values of the iteration before is complete: their slot can be filled again.
        if V != "v-before-wait":
            mbarrier.expect(vb.index(nxt), vd.block_type.nbytes, pred=more)
            tma.async_copy_global_to_shared(vd, [j + M, 0], vb.index(nxt), vs.index(nxt), pred=more)
        mn = gl.maximum(m, gl.max(qk, 1) * scale)
        pr = gl.exp2(qk * scale - mn[:, None])
        alpha = gl.exp2(m - mn)
        li = li * alpha + gl.sum(pr, 1)
        last = last * alpha[:, None]
        mbarrier.wait(vb.index(s), p)
        acc = warpgroup_mma(gl.convert_layout(pr.to(gl.float16), aop), vs.index(s), last, is_async=True)
        m = mn
        it += 1
    acc = warpgroup_mma_wait(0, deps=(acc, ))
    _inval(qb, 1)
    _inval(kb, 2)
    _inval(vb, 2)
    gl.store(out + gl.program_id(0) * M * M + _square(ACC), acc / li[:, None])


SINGLE = ["ok", "k-late", "v-before-wait", "one-pending"]


# ---- persistent product, the epilogue keeps one store in flight while the next tile runs -----------------------------------
@gluon.jit
def persistent(ad, bd, cd, tiles, K, S: gl.constexpr, V: gl.constexpr):
    a = gl.allocate_shared_memory(gl.float16, [S, M, M], ad.layout)
    b = gl.allocate_shared_memory(gl.float16, [S, M, M], bd.layout)
    c = gl.allocate_shared_memory(gl.float16, [2, M, M], cd.layout)
    ready = _bars(S, 1)
    load = 0
    use = 0
    tile_no = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        acc = gl.zeros([M, M], gl.float32, layout=ACC)
        for i in gl.static_range(S - 1):
            mbarrier.expect(ready.index(load % S), ad.block_type.nbytes + bd.block_type.nbytes, pred=i < K)
            tma.async_copy_global_to_shared(ad, [tile * M, i * M], ready.index(load % S), a.index(load % S), pred=i < K)
            tma.async_copy_global_to_shared(bd, [i * M, 0], ready.index(load % S), b.index(load % S), pred=i < K)
            load = gl.where(i < K, load + 1, load)
        for k in range(K):
            mbarrier.wait(ready.index(use % S), (use // S) & 1)
            acc = warpgroup_mma(a.index(use % S), b.index(use % S), acc, is_async=True)
            acc = warpgroup_mma_wait(1 if V == "pending" else 0, deps=(acc, ))
            use += 1
            ahead = k + S - 1
            if ahead < K:
                mbarrier.expect(ready.index(load % S), ad.block_type.nbytes + bd.block_type.nbytes)
                tma.async_copy_global_to_shared(ad, [tile * M, ahead * M], ready.index(load % S), a.index(load % S))
                tma.async_copy_global_to_shared(bd, [ahead * M, 0], ready.index(load % S), b.index(load % S))
                load += 1
        acc = warpgroup_mma_wait(0, deps=(acc, ))
        if V == "two-in-flight":
            tma.store_wait(2)
        else:
            tma.store_wait(1)
        c.index(tile_no % 2).store(acc.to(gl.float16))
        fence_async_shared()
        tma.async_copy_shared_to_global(cd, [tile * M, 0], c.index(tile_no % 2))
        tile_no += 1
    tma.store_wait(0)
    _inval(ready, S)


# "pending" is correct too: the slot that the pending product reads is filled one iteration later.
PERSISTENT = ["ok", "pending", "two-in-flight"]


# ---- cp.async in stages, the copies in a helper function, the wait count a parameter -----------------------------------------
@gluon.jit
def _issue(ptr, smem, k, K, S: gl.constexpr):
    cp.async_copy_global_to_shared(smem.index(k % S), ptr + k * M * M + _square(ROWS), mask=(k < K) & (_square(ROWS) >= 0))


@gluon.jit
def cp_two(x, y, out, K, S: gl.constexpr, W: gl.constexpr, V: gl.constexpr):
    shared: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, order=[1, 0])
    xs = gl.allocate_shared_memory(gl.float16, [S, M, M], shared)
    ys = gl.allocate_shared_memory(gl.float16, [S, M, M], shared)
    for i in gl.static_range(S - 1):
        _issue(x, xs, i, K, S)
        if V == "two-groups":
            cp.commit_group()
        _issue(y, ys, i, K, S)
        cp.commit_group()
    total = gl.zeros([M, M], gl.float32, layout=ROWS)
    for k in range(K):
        if V == "refill-first":
            _issue(x, xs, k + S - 1, K, S)
            _issue(y, ys, k + S - 1, K, S)
            cp.commit_group()
        cp.wait_group(W)
        total += xs.index(k % S).load(ROWS).to(gl.float32) * ys.index(k % S).load(ROWS).to(gl.float32)
        if V != "refill-first":
            _issue(x, xs, k + S - 1, K, S)
            if V == "two-groups":
                cp.commit_group()
            _issue(y, ys, k + S - 1, K, S)
            cp.commit_group()
    cp.wait_group(0)
    gl.store(out + _square(ROWS), total)


# ---- a counter as an aggregate, as in Triton's own tutorials -------------------------------------------------------------------
@aggregate
class Counter:
    index: gl.tensor
    phase: gl.tensor
    n: gl.constexpr

    @gluon.constexpr_function
    def __init__(self, index, phase, n):
        self.index = index
        self.phase = phase
        self.n = gl.constexpr(n)

    @gluon.jit
    def create(phase, n: gl.constexpr):
        return Counter(gl.to_tensor(0), gl.to_tensor(phase), n)

    @gluon.jit
    def next(self, pred=True):
        up = self.index + gl.to_tensor(pred).to(gl.int32)
        wrap = up == self.n
        return Counter(gl.where(wrap, 0, up), self.phase ^ wrap.to(gl.int32), self.n)


# ---- Blackwell: three partitions, accumulators in two slots, the epilogue in halves through a staging buffer ---------------------
@gluon.jit
def _bw_load(ad, bd, a, b, full, empty, tiles, K, S: gl.constexpr, V: gl.constexpr):
    c = Counter.create(1, S)
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        for k in range(K):
            mbarrier.wait(empty.index(c.index), c.phase)
            mbarrier.expect(full.index(c.index), ad.block_type.nbytes + bd.block_type.nbytes)
            tma.async_copy_global_to_shared(ad, [tile * 128, k * 128], full.index(c.index), a.index(c.index))
            tma.async_copy_global_to_shared(bd, [0, k * 128], full.index(c.index), b.index(c.index))
            c = c.next()


@gluon.jit
def _bw_mma(a, b, accs, full, empty, af, ae, tiles, K, S: gl.constexpr, V: gl.constexpr):
    c = Counter.create(0, S)
    d = Counter.create(0 if V == "acc-phase" else 1, 2)
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        mbarrier.wait(ae.index(d.index), d.phase)
        use = False
        for k in range(K):
            mbarrier.wait(full.index(c.index), c.phase)
            tcgen05_mma(a.index(c.index), b.index(c.index).permute((1, 0)), accs.index(d.index), use_acc=use)
            tcgen05_commit(empty.index(c.index))
            use = True
            c = c.next()
        if V == "plain-arrive":
            mbarrier.arrive(af.index(d.index), count=1)
        else:
            tcgen05_commit(af.index(d.index))
        d = d.next()


@gluon.jit
def _bw_store(cd, stage, accs, af, ae, tiles, K, V: gl.constexpr):
    d = Counter.create(0, 2)
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        mbarrier.wait(af.index(d.index), d.phase)
        acc = accs.index(d.index)
        for half in gl.static_range(2):
            part = acc.slice(half * 64, 64)
            x = part.load(part.get_reg_layout())
            if V == "after-half":
                if half == 0:
                    mbarrier.arrive(ae.index(d.index), count=1)
            else:
                if half == 1:
                    mbarrier.arrive(ae.index(d.index), count=1)
            if V == "one-in-flight":
                tma.store_wait(1)
            else:
                tma.store_wait(0)
            stage.store(x.to(gl.float16))
            fence_async_shared()
            tma.async_copy_shared_to_global(cd, [tile * 128, half * 64], stage)
        d = d.next()
    tma.store_wait(0)


@gluon.jit
def blackwell(ad, bd, cd, tiles, K, S: gl.constexpr, V: gl.constexpr):
    a = gl.allocate_shared_memory(gl.float16, [S, 128, 128], ad.layout)
    b = gl.allocate_shared_memory(gl.float16, [S, 128, 128], bd.layout)
    stage = gl.allocate_shared_memory(gl.float16, [128, 64], cd.layout)
    accs = allocate_tensor_memory(gl.float32, [2, 128, 128], TensorMemoryLayout([128, 128], col_stride=1))
    full = _bars(S, 1)
    empty = _bars(S, 1)
    af = _bars(2, 1)
    ae = _bars(2, 1)
    gl.warp_specialize([(_bw_store, (cd, stage, accs, af, ae, tiles, K, V)), (_bw_mma, (a, b, accs, full, empty, af, ae, tiles, K, S, V)),
                        (_bw_load, (ad, bd, a, b, full, empty, tiles, K, S, V))], [1, 1], [24, 24])


BLACKWELL = ["ok", "acc-phase", "plain-arrive", "after-half", "one-in-flight"]


# ---- one loader, two consumers with WGMMA that take turns by two barriers ("ping-pong") -------------------------------------------
@gluon.jit
def _pp_load(d, bufs, full, empty, K, S: gl.constexpr, V: gl.constexpr):
    for k in range(2 * K):
        s = k % S
        mbarrier.wait(empty.index(s), ((k // S) & 1) ^ 1)
        mbarrier.expect(full.index(s), d.block_type.nbytes)
        tma.async_copy_global_to_shared(d, [0, k * M], full.index(s), bufs.index(s))


@gluon.jit
def _pp_use(out, bufs, full, empty, mine, other, K, S: gl.constexpr, me: gl.constexpr, V: gl.constexpr):
    acc = gl.zeros([M, M], gl.float32, layout=ACC)
    for i in range(K):
        k = 2 * i + me
        s = k % S
        mbarrier.wait(full.index(s), (k // S) & 1)
        if V == "same-parity":
            mbarrier.wait(mine, i & 1)
        else:
            mbarrier.wait(mine, (i & 1) ^ (1 - me))
        acc = warpgroup_mma(bufs.index(s), bufs.index(s).permute((1, 0)), acc, is_async=True)
        if V != "turn-early":
            acc = warpgroup_mma_wait(0, deps=(acc, ))
        if V != "no-turn" or me == 0:
            mbarrier.arrive(other, count=1)
        if V == "turn-early":
            acc = warpgroup_mma_wait(0, deps=(acc, ))
        mbarrier.arrive(empty.index(s), count=1)
    gl.store(out + me * M * M + _square(ACC), acc)


@gluon.jit
def _pp_first(out, bufs, full, empty, t0, t1, K, S: gl.constexpr, V: gl.constexpr):
    _pp_use(out, bufs, full, empty, t0, t1, K, S, 0, V)


@gluon.jit
def _pp_second(out, bufs, full, empty, t0, t1, K, S: gl.constexpr, V: gl.constexpr):
    _pp_use(out, bufs, full, empty, t1, t0, K, S, 1, V)


@gluon.jit
def ping_pong(d, out, K, S: gl.constexpr, V: gl.constexpr):
    bufs = gl.allocate_shared_memory(gl.float16, [S, M, M], d.layout)
    full = _bars(S, 1)
    empty = _bars(S, 1)
    turn = _bars(2, 1)
    gl.warp_specialize([(_pp_first, (out, bufs, full, empty, turn.index(0), turn.index(1), K, S, V)),
                        (_pp_second, (out, bufs, full, empty, turn.index(0), turn.index(1), K, S, V)),
                        (_pp_load, (d, bufs, full, empty, K, S, V))], [4, 1], [168, 24])


# "turn-early" hands the turn over while its own product still runs: the slots are apart, so it is correct.
PING_PONG = ["ok", "same-parity", "no-turn", "turn-early"]


# ---- a consumer that adds into memory with atomics, and a producer that leaves out tiles by a launch value -------------------------
@gluon.jit
def _sk_load(d, bufs, full, empty, K, S: gl.constexpr, V: gl.constexpr):
    n = 0
    for k in range(K):
        if k % 4 != 3:
            s = n % S
            mbarrier.wait(empty.index(s), ((n // S) & 1) ^ 1)
            mbarrier.expect(full.index(s), d.block_type.nbytes)
            tma.async_copy_global_to_shared(d, [0, k * M], full.index(s), bufs.index(s))
            n += 1


@gluon.jit
def _sk_use(out, bufs, full, empty, K, S: gl.constexpr, V: gl.constexpr):
    n = 0
    for k in range(K):
        if k % 4 != (2 if V == "other-rest" else 3):
            s = n % S
            mbarrier.wait(full.index(s), (n // S) & 1)
            x = bufs.index(s).load(ROWS)
            fence_async_shared()
            mbarrier.arrive(empty.index(s), count=1)
            gl.atomic_add(out + _square(ROWS), x.to(gl.float32))
            if V == "counts-outside":
                n += 1
        if V != "counts-outside":
            n += gl.where(k % 4 != 3, 1, 0)


@gluon.jit
def skipping(d, out, K, S: gl.constexpr, V: gl.constexpr):
    bufs = gl.allocate_shared_memory(gl.float16, [S, M, M], d.layout)
    full = _bars(S, 1)
    empty = _bars(S, 1)
    gl.warp_specialize([(_sk_use, (out, bufs, full, empty, K, S, V)), (_sk_load, (d, bufs, full, empty, K, S, V))], [1], [24])


# "counts-outside" counts in the branch, which is the same; "other-rest" leaves out other iterations, but as many in the long run: its
# numbers run ahead of the loads and it stops short or waits for ever.
SKIPPING = ["ok", "counts-outside", "other-rest"]


# ---- leaves early, after loads were issued -------------------------------------------------------------------------------------------
@gluon.jit
def leaves_early(d, out, K, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [M, M], d.layout)
    bar = _bars(1, 1)
    if V == "loads-first":
        mbarrier.expect(bar.index(0), d.block_type.nbytes)
        tma.async_copy_global_to_shared(d, [0, 0], bar.index(0), buf)
        if K <= gl.program_id(0):
            mbarrier.invalidate(bar.index(0))
            return
    else:
        if K <= gl.program_id(0):
            mbarrier.invalidate(bar.index(0))
            return
        mbarrier.expect(bar.index(0), d.block_type.nbytes)
        tma.async_copy_global_to_shared(d, [0, 0], bar.index(0), buf)
    mbarrier.wait(bar.index(0), 0)
    x = buf.load(ROWS)
    mbarrier.invalidate(bar.index(0))
    gl.store(out + _square(ROWS), x)


# ---- a launch value decides whether the loads are one or two an iteration ------------------------------------------------------------
@gluon.jit
def optional_bias(d, bias, out, K, has_bias, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [2, M, M], d.layout)
    bb = gl.allocate_shared_memory(gl.float16, [M, M], bias.layout)
    bar = _bars(2, 1)
    bbar = _bars(1, 1)
    mbarrier.expect(bbar.index(0), bias.block_type.nbytes, pred=has_bias != 0)
    tma.async_copy_global_to_shared(bias, [0, 0], bbar.index(0), bb, pred=has_bias != 0)
    mbarrier.expect(bar.index(0), d.block_type.nbytes, pred=K > 0)
    tma.async_copy_global_to_shared(d, [0, 0], bar.index(0), buf.index(0), pred=K > 0)
    acc = gl.zeros([M, M], gl.float32, layout=ROWS)
    if has_bias != 0:
        if V != "bias-not-awaited":
            mbarrier.wait(bbar.index(0), 0)
        acc += bb.load(ROWS).to(gl.float32)
    if V == "awaited-always":
        mbarrier.wait(bbar.index(0), 0)
    for k in range(K):
        if k + 1 < K:
            mbarrier.expect(bar.index((k + 1) % 2), d.block_type.nbytes)
            fence_async_shared()
            tma.async_copy_global_to_shared(d, [0, (k + 1) * M], bar.index((k + 1) % 2), buf.index((k + 1) % 2))
        mbarrier.wait(bar.index(k % 2), (k // 2) & 1)
        acc += buf.index(k % 2).load(ROWS).to(gl.float32)
    _inval(bar, 2)
    if V != "kept":
        _inval(bbar, 1)
    gl.store(out + _square(ROWS), acc)


BIAS = ["ok", "bias-not-awaited", "awaited-always"]


# ---- shared memory as a transposing buffer between two generic partitions, in halves ----------------------------------------------------
@gluon.jit
def _tr_put(inp, buf, ready, free, K, V: gl.constexpr):
    half: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0])
    offs = gl.arange(0, M, layout=gl.SliceLayout(1, half))[:, None] * M + gl.arange(0, 32, layout=gl.SliceLayout(0, half))[None, :]
    for k in range(K):
        for h in gl.static_range(2):
            mbarrier.wait(free.index(h), (k & 1) ^ 1)
            buf.slice(32 - h * 32 if V == "swapped" else h * 32, 32, 1).store(gl.load(inp + k * M * M + h * 32 + offs))
            mbarrier.arrive(ready.index(h), count=1)


@gluon.jit
def _tr_get(out, buf, ready, free, K, V: gl.constexpr):
    half: gl.constexpr = gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0])
    offs = gl.arange(0, M, layout=gl.SliceLayout(1, half))[:, None] * M + gl.arange(0, 32, layout=gl.SliceLayout(0, half))[None, :]
    for k in range(K):
        for h in gl.static_range(2):
            mbarrier.wait(ready.index(h), k & 1)
            x = buf.slice(h * 32, 32, 1).load(half)
            if V == "other-half":
                mbarrier.arrive(free.index(1 - h), count=1)
            else:
                mbarrier.arrive(free.index(h), count=1)
            gl.store(out + k * M * M + h * 32 + offs, x)


@gluon.jit
def halves(inp, out, K, V: gl.constexpr):
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, order=[1, 0])
    buf = gl.allocate_shared_memory(gl.float16, [M, M], shared)
    ready = _bars(2, 1)
    free = _bars(2, 1)
    gl.warp_specialize([(_tr_get, (out, buf, ready, free, K, V)), (_tr_put, (inp, buf, ready, free, K, V))], [4], [48])


HALVES = ["ok", "swapped", "other-half"]


# ---- a pipeline of three: loads, a conversion by threads, tensor core -------------------------------------------------------------------
@gluon.jit
def _dq_load(d, raw, rf, re, K, S: gl.constexpr, V: gl.constexpr):
    c = Counter.create(1, S)
    for _ in range(K):
        mbarrier.wait(re.index(c.index), c.phase)
        mbarrier.expect(rf.index(c.index), d.block_type.nbytes)
        tma.async_copy_global_to_shared(d, [0, 0], rf.index(c.index), raw.index(c.index))
        c = c.next()


@gluon.jit
def _dq_convert(raw, cooked, rf, re, cf, ce, K, S: gl.constexpr, V: gl.constexpr):
    lay: gl.constexpr = gl.BlockedLayout([1, 8], [2, 16], [4, 1], [1, 0])
    c = Counter.create(0, S)
    e = Counter.create(1, 2)
    for _ in range(K):
        mbarrier.wait(rf.index(c.index), c.phase)
        x = raw.index(c.index).load(lay)
        if V != "raw-unfenced":
            fence_async_shared()
        mbarrier.arrive(re.index(c.index), count=1)
        mbarrier.wait(ce.index(e.index), e.phase)
        cooked.index(e.index).store(x * 2)
        if V != "cooked-unfenced":
            fence_async_shared()
        mbarrier.arrive(cf.index(e.index), count=1)
        c = c.next()
        if V == "one-slot":
            c = c.next()
        e = e.next()


@gluon.jit
def _dq_mma(cooked, acc, cf, ce, done, K, V: gl.constexpr):
    e = Counter.create(0, 2)
    use = False
    for _ in range(K):
        mbarrier.wait(cf.index(e.index), e.phase)
        tcgen05_mma(cooked.index(e.index), cooked.index(e.index).permute((1, 0)), acc, use_acc=use)
        if V == "threads-release":
            mbarrier.arrive(ce.index(e.index), count=1)
        else:
            tcgen05_commit(ce.index(e.index))
        use = True
        e = e.next()
    tcgen05_commit(done)


@gluon.jit
def _dq_store(out, acc, done, V: gl.constexpr):
    mbarrier.wait(done, 0)
    lay: gl.constexpr = gl.BlockedLayout([1, 128], [32, 1], [4, 1], [0, 1])
    x = acc.load(acc.get_reg_layout())
    gl.store(out + _square(lay, 128), gl.convert_layout(x, lay))


@gluon.jit
def convert_between(d, out, K, S: gl.constexpr, V: gl.constexpr):
    raw = gl.allocate_shared_memory(gl.float16, [S, 128, 128], d.layout)
    cooked = gl.allocate_shared_memory(gl.float16, [2, 128, 128], d.layout)
    acc = allocate_tensor_memory(gl.float32, [128, 128], TensorMemoryLayout([128, 128], col_stride=1))
    rf = _bars(S, 1)
    re = _bars(S, 1)
    cf = _bars(2, 1)
    ce = _bars(2, 1)
    done = _bars(1, 1)
    gl.warp_specialize([(_dq_store, (out, acc, done.index(0), V)), (_dq_convert, (raw, cooked, rf, re, cf, ce, K, S, V)),
                        (_dq_mma, (cooked, acc, cf, ce, done.index(0), K, V)), (_dq_load, (d, raw, rf, re, K, S, V))],
                       [4, 1, 1], [88, 24, 24])


CONVERT = ["ok", "raw-unfenced", "cooked-unfenced", "threads-release", "one-slot"]


# ---- attention forward on Blackwell: loads, tensor core, softmax, correction ---------------------------------------------------------------
@gluon.jit
def _bf_load(qd, kd, vd, q, ks, vs, qb, kf, ke, vf, ve, N, V: gl.constexpr):
    mbarrier.expect(qb, qd.block_type.nbytes)
    tma.async_copy_global_to_shared(qd, [0, 0], qb, q)
    c = Counter.create(1, 2)
    for j in range(N):
        mbarrier.wait(ke.index(c.index), c.phase)
        mbarrier.expect(kf.index(c.index), kd.block_type.nbytes)
        tma.async_copy_global_to_shared(kd, [j * 128, 0], kf.index(c.index), ks.index(c.index))
        mbarrier.wait(ve.index(c.index), c.phase)
        mbarrier.expect(vf.index(c.index), vd.block_type.nbytes)
        tma.async_copy_global_to_shared(vd, [j * 128, 0], vf.index(c.index), vs.index(c.index))
        c = c.next()


@gluon.jit
def _bf_mma(q, ks, vs, qk, p, o, qb, kf, ke, vf, ve, sf, se, pf, pe, of, oe, N, V: gl.constexpr):
    mbarrier.wait(qb, 0)
    c = Counter.create(0, 2)
    for j in range(N):
        mbarrier.wait(kf.index(c.index), c.phase)
        if V != "no-scores-wait":
            mbarrier.wait(se, (j & 1) ^ 1)
        tcgen05_mma(q, ks.index(c.index).permute((1, 0)), qk, use_acc=False)
        tcgen05_commit(ke.index(c.index))
        tcgen05_commit(sf)
        mbarrier.wait(vf.index(c.index), c.phase)
        mbarrier.wait(pf, j & 1)
        if V != "o-not-awaited":
            mbarrier.wait(oe, j & 1)
        tcgen05_mma(p, vs.index(c.index), o, use_acc=j > 0)
        tcgen05_commit(ve.index(c.index))
        if V == "p-by-threads":
            mbarrier.arrive(pe, count=1)
        else:
            tcgen05_commit(pe)
        tcgen05_commit(of)
        c = c.next()


@gluon.jit
def _bf_softmax(qk, p, scales, sf, se, pf, pe, cf, ce, N, scale, V: gl.constexpr):
    lay: gl.constexpr = qk.get_reg_layout()
    m = gl.full([128], float("-inf"), gl.float32, layout=gl.SliceLayout(1, lay))
    for j in range(N):
        mbarrier.wait(sf, j & 1)
        s = qk.load(lay)
        mbarrier.arrive(se, count=1)
        mn = gl.maximum(m, gl.max(s, 1) * scale)
        pr = gl.exp2(s * scale - mn[:, None])
        mbarrier.wait(ce, (j & 1) ^ 1)
        scales.store(gl.exp2(m - mn))
        mbarrier.arrive(cf, count=1)
        if V != "no-p-wait":
            mbarrier.wait(pe, (j & 1) ^ 1)
        if V == "p-early":
            mbarrier.arrive(pf, count=1)
        p.store(pr.to(gl.float16))
        fence_async_shared()
        if V != "p-early":
            mbarrier.arrive(pf, count=1)
        m = mn


@gluon.jit
def _bf_correct(out, o, scales, cf, ce, of, oe, N, V: gl.constexpr):
    lay: gl.constexpr = o.get_reg_layout()
    st: gl.constexpr = gl.BlockedLayout([1, 128], [32, 1], [4, 1], [0, 1])
    for j in range(N):
        mbarrier.wait(cf, j & 1)
        a = scales.load(gl.SliceLayout(1, lay))
        mbarrier.arrive(ce, count=1)
        mbarrier.wait(of, (j & 1) ^ 1, pred=j > 0)
        x = o.load(lay)
        o.store(x * a[:, None])
        mbarrier.arrive(oe, count=1)
    mbarrier.wait(of, (N & 1) ^ 1, pred=N > 0)
    gl.store(out + _square(st, 128), gl.convert_layout(o.load(lay), st))


@gluon.jit
def attention_blackwell(qd, kd, vd, out, N, scale, V: gl.constexpr):
    q = gl.allocate_shared_memory(gl.float16, [128, 128], qd.layout)
    ks = gl.allocate_shared_memory(gl.float16, [2, 128, 128], kd.layout)
    vs = gl.allocate_shared_memory(gl.float16, [2, 128, 128], vd.layout)
    p = gl.allocate_shared_memory(gl.float16, [128, 128], qd.layout)
    vec: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, order=[0])
    scales = gl.allocate_shared_memory(gl.float32, [128], vec)
    t: gl.constexpr = TensorMemoryLayout([128, 128], col_stride=1)
    qk = allocate_tensor_memory(gl.float32, [128, 128], t)
    o = allocate_tensor_memory(gl.float32, [128, 128], t)
    o.store(gl.zeros([128, 128], gl.float32, layout=o.get_reg_layout()))
    qb = _bars(1, 1)
    kf = _bars(2, 1)
    ke = _bars(2, 1)
    vf = _bars(2, 1)
    ve = _bars(2, 1)
    one = _bars(8, 1)
    sf = one.index(0)
    se = one.index(1)
    pf = one.index(2)
    pe = one.index(3)
    cf = one.index(4)
    ce = one.index(5)
    of = one.index(6)
    oe = one.index(7)
    gl.warp_specialize([(_bf_correct, (out, o, scales, cf, ce, of, oe, N, V)),
                        (_bf_softmax, (qk, p, scales, sf, se, pf, pe, cf, ce, N, scale, V)),
                        (_bf_mma, (q, ks, vs, qk, p, o, qb.index(0), kf, ke, vf, ve, sf, se, pf, pe, of, oe, N, V)),
                        (_bf_load, (qd, kd, vd, q, ks, vs, qb.index(0), kf, ke, vf, ve, N, V))], [4, 1, 1], [128, 24, 24])


# "no-scores-wait" and "no-p-wait" leave waits out that others imply, "p-by-threads" a completion: the next scores follow the product.
ATTENTION_BW = ["ok", "no-scores-wait", "p-by-threads", "no-p-wait", "o-not-awaited", "p-early"]


# ---- a share of the iterations: the step is the number of programs, and so is what decides about prefetches ------------------------------
@gluon.jit
def strided(d, out, N, step_arg, V: gl.constexpr):
    bufs = gl.allocate_shared_memory(gl.float16, [3, M, M], d.layout)
    full = _bars(3, 1)
    first = gl.program_id(2) * M
    step = gl.num_programs(2) * M
    if V == "argument":
        step = step_arg * M
    for i in gl.static_range(2):
        there = first + i * step < N
        mbarrier.expect(full.index(i), d.block_type.nbytes, pred=there)
        tma.async_copy_global_to_shared(d, [0, first + i * step], full.index(i), bufs.index(i), pred=there)
    acc = gl.zeros([M, M], gl.float32, layout=ACC)
    load = 2
    use = 0
    ph = 0
    for k in range(first, N, step):
        mbarrier.wait(full.index(use), ph)
        acc = warpgroup_mma(bufs.index(use), bufs.index(use).permute((1, 0)), acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=2 if V == "pendings" else 1, deps=(acc, ))
        if V == "too-far":
            there = k + step < N
        elif V == "at-end":
            there = k + 2 * step <= N
        else:
            there = k + 2 * step < N
        mbarrier.expect(full.index(load), d.block_type.nbytes, pred=there)
        tma.async_copy_global_to_shared(d, [0, k + 2 * step], full.index(load), bufs.index(load), pred=there)
        load = gl.where(load == 2, 0, load + 1)
        ph = ph ^ gl.where(use == 2, 1, 0)
        use = gl.where(use == 2, 0, use + 1)
    acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
    _inval(full, 3)
    gl.store(out + _square(ACC), acc)


STRIDED = ["ok", "argument", "pendings", "too-far", "at-end"]


# ---- an operand in tensor memory, rewritten when the product before is complete; in the end a wait for product K - 1 ----------------------
@gluon.jit
def operand_tmem(d, out, K, V: gl.constexpr):
    b = gl.allocate_shared_memory(gl.float16, [2, 128, 128], d.layout)
    layout: gl.constexpr = TensorMemoryLayout([128, 128], col_stride=1)
    a = allocate_tensor_memory(gl.float16, [128, 128], layout)
    acc = allocate_tensor_memory(gl.float32, [128, 128], layout)
    full = _bars(2, 1)
    done = _bars(1, 1)
    regs: gl.constexpr = a.get_reg_layout()
    acc.store(gl.zeros([128, 128], gl.float32, layout=acc.get_reg_layout()))
    for k in range(K):
        s = k % 2
        mbarrier.expect(full.index(s), d.block_type.nbytes)
        tma.async_copy_global_to_shared(d, [0, k * 128], full.index(s), b.index(s))
        if V == "store-first":
            a.store(gl.full([128, 128], 1.0, gl.float16, layout=regs))
        if V != "never-awaited":
            mbarrier.wait(done.index(0), (k & 1) ^ 1)
        if V != "store-first":
            a.store(gl.full([128, 128], 1.0, gl.float16, layout=regs))
        mbarrier.wait(full.index(s), (k // 2) & 1)
        tcgen05_mma(a, b.index(s), acc)
        tcgen05_commit(done.index(0))
    mbarrier.wait(done.index(0), (K & 1) ^ 1)
    _inval(full, 2)
    _inval(done, 1)
    last: gl.constexpr = gl.BlockedLayout([1, 128], [32, 1], [4, 1], [0, 1])
    gl.store(out + _square(last, 128), gl.convert_layout(acc.load(acc.get_reg_layout()), last))


OPERAND = ["ok", "store-first", "never-awaited"]


# ---- two halves of an accumulator by two products, each with a barrier of its own ----------------------------------------------------------
@gluon.jit
def tmem_halves(d, half, out, V: gl.constexpr):
    x = gl.allocate_shared_memory(gl.float16, [128, 128], d.layout)
    y = gl.allocate_shared_memory(gl.float16, [128, 64], half.layout)
    acc = allocate_tensor_memory(gl.float32, [128, 128], TensorMemoryLayout([128, 64], col_stride=1))
    loaded = _bars(1, 1)
    done = _bars(2, 1)
    mbarrier.expect(loaded.index(0), d.block_type.nbytes + half.block_type.nbytes)
    tma.async_copy_global_to_shared(d, [0, 0], loaded.index(0), x)
    tma.async_copy_global_to_shared(half, [0, 0], loaded.index(0), y)
    mbarrier.wait(loaded.index(0), 0)
    left = acc.slice(0, 64)
    right = acc.slice(64, 64)
    tcgen05_mma(x, y, left, use_acc=False)
    tcgen05_commit(done.index(0))
    tcgen05_mma(x, y, right, use_acc=False)
    tcgen05_commit(done.index(1))
    mbarrier.wait(done.index(0), 0)
    regs: gl.constexpr = left.get_reg_layout()
    if V == "other-half":
        v = right.load(regs)
    else:
        v = left.load(regs)
    if V != "one-awaited":
        mbarrier.wait(done.index(1), 0)
    w = right.load(regs)
    _inval(loaded, 1)
    _inval(done, 2)
    cols = gl.arange(0, 64, layout=gl.SliceLayout(0, regs))
    gl.store(out + gl.arange(0, 128, layout=gl.SliceLayout(1, regs))[:, None] * 64 + cols[None, :], v + w)


TMEM_HALVES = ["ok", "other-half", "one-awaited"]
