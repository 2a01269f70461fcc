"""Protocols a step away from the usual ring: slots changed in place, handed back late, phases as bits of a word, loops with their
last iteration behind them, rounds of rounds, staging in an operand's buffer. V = "ok" is correct, every other value broken
in one way; as kernels.py."""
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy as cp
from triton.experimental.gluon.language.nvidia.hopper import (fence_async_shared, mbarrier, tma, warpgroup_mma,
                                                              warpgroup_mma_wait)
from triton.experimental.gluon.language.nvidia.blackwell import (TensorMemoryLayout, allocate_tensor_memory,
                                                                 tcgen05_commit, tcgen05_mma)
from kernels_styles import Counter

M = gl.constexpr(64)
ROWS = gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0]))
ACC = gl.constexpr(gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 64, 16]))
SW = gl.constexpr(gl.SwizzledSharedLayout(8, 1, 8, [1, 0]))


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
def _end(b, S: gl.constexpr):
    for i in gl.static_range(S):
        mbarrier.invalidate(b.index(i))


@gluon.jit
def _load(d, x, bar, buf):
    mbarrier.expect(bar, d.block_type.nbytes)
    tma.async_copy_global_to_shared(d, [x, 0], bar, buf)


@gluon.jit
def _put(out, k, x, L: gl.constexpr):
    gl.store(out + k * M * M + _square(L), x)


# ---- a ring read and reduced; counters carried ---------------------------------------------------------------------
@gluon.jit
def _reduce(b, f, e, out, K, S: gl.constexpr, V: gl.constexpr):
    i = 0
    ph = 0
    s = gl.zeros([M], gl.float32, layout=gl.SliceLayout(1, ROWS))
    for k in range(K):
        mbarrier.wait(f.index(i), ph)
        x = b.index(i).load(ROWS)
        fence_async_shared()
        mbarrier.arrive(e.index(i), count=1)
        s += gl.sum(x.to(gl.float32), 1)
        i += 1
        if i == S:
            i = 0
            ph ^= 1
    gl.store(out + gl.arange(0, M, layout=gl.SliceLayout(1, ROWS)), s.to(gl.float16))


@gluon.jit
def _fill(d, b, f, e, K, S: gl.constexpr, V: gl.constexpr):
    for k in range(K):
        mbarrier.wait(e.index(k % S), ((k // S) & 1) ^ 1)
        _load(d, k * M, f.index(k % S), b.index(k % S))


# ---- changed in place by threads and stored from the same slot by a third partition --------------------------------
@gluon.jit
def _double(b, f, r, K, S: gl.constexpr, V: gl.constexpr):
    for k in range(K):
        s = k % S
        mbarrier.wait(f.index(s), (k // S) & 1)
        x = b.index(s).load(ROWS)
        b.index(s).store(x * 2)
        if V != "no-fence":
            fence_async_shared()
        mbarrier.arrive(r.index(s), count=1)


@gluon.jit
def _store(d, b, r, e, K, S: gl.constexpr, V: gl.constexpr):
    for k in range(K):
        s = k % S
        mbarrier.wait(r.index(s), (k // S) & 1)
        tma.async_copy_shared_to_global(d, [k * M, 0], b.index(s))
        tma.store_wait(1 if V == "store-wait-1" else 0)
        mbarrier.arrive(e.index(s), count=1)
    tma.store_wait(0)


@gluon.jit
def in_place(d, o, K, S: gl.constexpr, V: gl.constexpr):
    b = gl.allocate_shared_memory(gl.float16, [S, M, M], d.layout)
    f = _bars(S, 1)
    r = _bars(S, 1)
    e = _bars(S, 1)
    gl.warp_specialize([(_double, (b, f, r, K, S, V)), (_fill, (d, b, f, e, K, S, V)), (_store, (o, b, r, e, K, S, V))], [1, 1], [24, 24])
    _end(f, S)
    _end(r, S)
    _end(e, S)


# ---- the same, a slot is handed back one store later ---------------------------------------------------------------
@gluon.jit
def _store_late(d, b, r, e, K, S: gl.constexpr, V: gl.constexpr):
    for k in range(K):
        s = k % S
        mbarrier.wait(r.index(s), (k // S) & 1)
        tma.async_copy_shared_to_global(d, [k * M, 0], b.index(s))
        if V == "two-pending":
            tma.store_wait(2)
        else:
            tma.store_wait(1)
        mbarrier.arrive(e.index((k + S - 1) % S), count=1, pred=k > 0)
    tma.store_wait(0)


@gluon.jit
def release_late(d, o, K, S: gl.constexpr, V: gl.constexpr):
    b = gl.allocate_shared_memory(gl.float16, [S, M, M], d.layout)
    f = _bars(S, 1)
    r = _bars(S, 1)
    e = _bars(S, 1)
    gl.warp_specialize([(_double, (b, f, r, K, S, "ok")), (_fill, (d, b, f, e, K, S, "ok")), (_store_late, (o, b, r, e, K, S, V))], [1, 1], [24, 24])
    _end(f, S)
    _end(r, S)
    _end(e, S)


# ---- phases as bits of one word, one a slot ------------------------------------------------------------------------
@gluon.jit
def _bits_fill(d, b, f, e, K, S: gl.constexpr, V: gl.constexpr):
    m = 0
    i = 0
    for k in range(K):
        mbarrier.wait(e.index(i), ((m >> i) & 1) ^ 1)
        _load(d, k * M, f.index(i), b.index(i))
        m = m ^ (1 << i)
        i = i + 1 if i < S - 1 else 0


@gluon.jit
def _bits_read(b, f, e, out, K, S: gl.constexpr, V: gl.constexpr):
    m = 0
    i = 0
    for k in range(K):
        mbarrier.wait(f.index(i), (m >> i) & 1)
        x = b.index(i).load(ROWS)
        fence_async_shared()
        mbarrier.arrive(e.index(i), count=1)
        _put(out, k, x, ROWS)
        if V == "bit-zero":
            m = m ^ 1
        else:
            m = m ^ (1 << i)
        i = i + 1 if i < S - 1 else 0


@gluon.jit
def phase_bits(d, out, K, S: gl.constexpr, V: gl.constexpr):
    b = gl.allocate_shared_memory(gl.float16, [S, M, M], d.layout)
    f = _bars(S, 1)
    e = _bars(S, 1)
    gl.warp_specialize([(_bits_read, (b, f, e, out, K, S, V)), (_bits_fill, (d, b, f, e, K, S, V))], [1], [24])
    _end(f, S)
    _end(e, S)


# ---- two rings of different depth; the last iteration stands behind the loop ---------------------------------------
@gluon.jit
def _peeled_fill(d, g, a, b, af, ae, bf, be, K, V: gl.constexpr):
    for k in range(K):
        mbarrier.wait(ae.index(k % 2), ((k // 2) & 1) ^ 1)
        _load(d, k * M, af.index(k % 2), a.index(k % 2))
        mbarrier.wait(be.index(k % 3), ((k // 3) & 1) ^ 1)
        _load(g, k * M, bf.index(k % 3), b.index(k % 3))


@gluon.jit
def _peeled_step(a, b, af, ae, bf, be, acc, k, V: gl.constexpr):
    mbarrier.wait(af.index(k % 2), (k // 2) & 1)
    mbarrier.wait(bf.index(k % 3), (k // (2 if V == "phase-of-a" else 3)) & 1)
    acc = warpgroup_mma(a.index(k % 2), b.index(k % 3), acc, is_async=True)
    acc = warpgroup_mma_wait(0, deps=(acc,))
    mbarrier.arrive(ae.index(k % 2), count=1)
    mbarrier.arrive(be.index(k % 3), count=1)
    return acc


@gluon.jit
def _peeled_dot(a, b, af, ae, bf, be, out, K, V: gl.constexpr):
    acc = gl.zeros([M, M], gl.float32, layout=ACC)
    for k in range(K - 1):
        acc = _peeled_step(a, b, af, ae, bf, be, acc, k, V)
    if K > 0:
        acc = _peeled_step(a, b, af, ae, bf, be, acc, K if V == "peel-k" else K - 1, V)
    _put(out, 0, acc, ACC)


@gluon.jit
def peeled(d, g, out, K, V: gl.constexpr):
    a = gl.allocate_shared_memory(gl.float16, [2, M, M], d.layout)
    b = gl.allocate_shared_memory(gl.float16, [3, M, M], d.layout)
    af = _bars(2, 1)
    ae = _bars(2, 1)
    bf = _bars(3, 1)
    be = _bars(3, 1)
    gl.warp_specialize([(_peeled_dot, (a, b, af, ae, bf, be, out, K, V)), (_peeled_fill, (d, g, a, b, af, ae, bf, be, K, V))], [1], [24])
    _end(af, 2)
    _end(ae, 2)
    _end(bf, 3)
    _end(be, 3)


# ---- the loader waits for all slots before it leaves ---------------------------------------------------------------
@gluon.jit
def _drained_fill(d, b, f, e, K, S: gl.constexpr, V: gl.constexpr):
    for k in range(K):
        mbarrier.wait(e.index(k % S), ((k // S) & 1) ^ 1)
        _load(d, k * M, f.index(k % S), b.index(k % S))
    for i in gl.static_range(S):
        j = K + i
        if V == "wrong-drain":
            mbarrier.wait(e.index(j % S), (j // S) & 1)
        else:
            mbarrier.wait(e.index(j % S), ((j // S) & 1) ^ 1)


@gluon.jit
def drained(d, out, K, S: gl.constexpr, V: gl.constexpr):
    b = gl.allocate_shared_memory(gl.float16, [S, M, M], d.layout)
    f = _bars(S, 1)
    e = _bars(S, 1)
    gl.warp_specialize([(_reduce, (b, f, e, out, K, S, V)), (_drained_fill, (d, b, f, e, K, S, V))], [1], [24])
    _end(f, S)
    _end(e, S)


# ---- an operand for each round of the outer loop, a ring over all rounds -------------------------------------------
@gluon.jit
def _rounds_fill(qd, kd, q, ks, qf, qe, kf, ke, H, N, S: gl.constexpr, V: gl.constexpr):
    i = 0
    ph = 1
    for h in range(H):
        if V != "no-qe":
            mbarrier.wait(qe.index(0), (h & 1) ^ 1)
        _load(qd, h * M, qf.index(0), q)
        for n in range(N):
            mbarrier.wait(ke.index(i), ph)
            _load(kd, (h * N + n) * M, kf.index(i), ks.index(i))
            i += 1
            if i == S:
                i = 0
                ph ^= 1


@gluon.jit
def _rounds_dot(q, ks, qf, qe, kf, ke, out, H, N, S: gl.constexpr, V: gl.constexpr):
    i = 0
    ph = 0
    for h in range(H):
        acc = gl.zeros([M, M], gl.float32, layout=ACC)
        mbarrier.wait(qf.index(0), h & 1)
        for n in range(N):
            mbarrier.wait(kf.index(i), ph)
            acc = warpgroup_mma(q, ks.index(i).permute((1, 0)), acc, is_async=True)
            acc = warpgroup_mma_wait(1 if V == "pending" else 0, deps=(acc,))
            mbarrier.arrive(ke.index(i), count=1)
            i += 1
            if i == S:
                i = 0
                ph ^= 1
        mbarrier.arrive(qe.index(0), count=1)
        _put(out, h, acc, ACC)


@gluon.jit
def rounds(qd, kd, out, H, N, S: gl.constexpr, V: gl.constexpr):
    q = gl.allocate_shared_memory(gl.float16, [M, M], qd.layout)
    ks = gl.allocate_shared_memory(gl.float16, [S, M, M], kd.layout)
    qf = _bars(1, 1)
    qe = _bars(1, 1)
    kf = _bars(S, 1)
    ke = _bars(S, 1)
    gl.warp_specialize([(_rounds_dot, (q, ks, qf, qe, kf, ke, out, H, N, S, V)),
                        (_rounds_fill, (qd, kd, q, ks, qf, qe, kf, ke, H, N, S, V))], [1], [24])
    _end(qf, 1)
    _end(qe, 1)
    _end(kf, S)
    _end(ke, S)


# ---- more readers than the count says ------------------------------------------------------------------------------
@gluon.jit
def _reader(b, f, e, out, K, S: gl.constexpr, me: gl.constexpr, V: gl.constexpr):
    for k in range(K):
        s = k % S
        mbarrier.wait(f.index(s), (k // S) & 1)
        x = b.index(s).load(ROWS)
        fence_async_shared()
        mbarrier.arrive(e.index(s), count=1)
        _put(out, me * K + k, x, ROWS)


@gluon.jit
def _reader_a(b, f, e, out, K, S: gl.constexpr, V: gl.constexpr):
    _reader(b, f, e, out, K, S, 0, V)


@gluon.jit
def _reader_b(b, f, e, out, K, S: gl.constexpr, V: gl.constexpr):
    _reader(b, f, e, out, K, S, 1, V)


@gluon.jit
def _reader_c(b, f, e, out, K, S: gl.constexpr, V: gl.constexpr):
    _reader(b, f, e, out, K, S, 2, V)


@gluon.jit
def three_readers(d, out, K, S: gl.constexpr, V: gl.constexpr):
    b = gl.allocate_shared_memory(gl.float16, [S, M, M], d.layout)
    f = _bars(S, 1)
    e = _bars(S, 2 if V == "count-two" else 3)
    gl.warp_specialize([(_reader_a, (b, f, e, out, K, S, V)), (_reader_b, (b, f, e, out, K, S, V)),
                        (_reader_c, (b, f, e, out, K, S, V)), (_fill, (d, b, f, e, K, S, V))], [4, 4, 1], [64, 64, 24])
    _end(f, S)
    _end(e, S)


# ---- stores of quarters by way of two slots ------------------------------------------------------------------------
@gluon.jit
def quarters(d, cd, V: gl.constexpr):
    a = gl.allocate_shared_memory(gl.float16, [128, 256], d.layout)
    a2 = gl.allocate_shared_memory(gl.float16, [128, 128], cd.layout)
    st = gl.allocate_shared_memory(gl.float16, [2, 128, 64], cd.layout)
    acc = allocate_tensor_memory(gl.float32, [128, 256], TensorMemoryLayout([128, 256], col_stride=1))
    f = _bars(2, 1)
    _load(d, 0, f.index(0), a)
    a2.store(gl.zeros([128, 128], gl.float16, layout=gl.BlockedLayout([1, 8], [2, 16], [4, 1], [1, 0])))
    fence_async_shared()
    mbarrier.wait(f.index(0), 0)
    tcgen05_mma(a2, a, acc, use_acc=False, mbarriers=[f.index(1)])
    mbarrier.wait(f.index(1), 0)
    for q in gl.static_range(4):
        x = acc.slice(64 * q, 64).load()
        if q > 1:
            tma.store_wait(1)
        st.index(0 if V == "one-slot" else q % 2).store(gl.convert_layout(x.to(gl.float16), gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0])))
        fence_async_shared()
        tma.async_copy_shared_to_global(cd, [0, 64 * q], st.index(0 if V == "one-slot" else q % 2))
    tma.store_wait(0)
    _end(f, 2)


# ---- two passes of cp.async over one ring --------------------------------------------------------------------------
@gluon.jit
def _pass(inp, b, K, D: gl.constexpr, N: gl.constexpr):
    o = _square(ROWS)
    s = gl.zeros([M], gl.float32, layout=gl.SliceLayout(1, ROWS))
    for i in gl.static_range(D):
        cp.async_copy_global_to_shared(b.index(i), inp + i * M * M + o, mask=o * 0 + i < K)
        cp.commit_group()
    for k in range(K):
        cp.wait_group(N)
        x = b.index(k % (D + 1)).load(ROWS).to(gl.float32)
        cp.async_copy_global_to_shared(b.index((k + D) % (D + 1)), inp + (k + D) * M * M + o, mask=o * 0 + k + D < K)
        cp.commit_group()
        s += gl.sum(x, 1)
    return s


@gluon.jit
def two_passes(inp, out, K, D: gl.constexpr, V: gl.constexpr):
    b = gl.allocate_shared_memory(gl.float16, [D + 1, M, M], SW)
    s = _pass(inp, b, K, D, D if V == "weaker" else D - 1)
    if V != "no-drain":
        cp.wait_group(0)
    t = _pass(inp, b, K, D, D - 1)
    cp.wait_group(0)
    gl.store(out + gl.arange(0, M, layout=gl.SliceLayout(1, ROWS)), s + t)


# ---- slots handed back two products later --------------------------------------------------------------------------
@gluon.jit
def _late_dot(b, f, e, out, K, S: gl.constexpr, V: gl.constexpr):
    acc = gl.zeros([M, M], gl.float32, layout=ACC)
    for k in range(K):
        s = k % S
        mbarrier.wait(f.index(s), (k // S) & 1)
        acc = warpgroup_mma(b.index(s), b.index(s).permute((1, 0)), acc, is_async=True)
        acc = warpgroup_mma_wait(2, deps=(acc,))
        if V == "release-one":
            if k > 1:
                mbarrier.arrive(e.index((k + S - 1) % S), count=1)
        else:
            if k > 1:
                mbarrier.arrive(e.index((k + S - 2) % S), count=1)
    acc = warpgroup_mma_wait(0, deps=(acc,))
    _put(out, 0, acc, ACC)


@gluon.jit
def late_two(d, out, K, S: gl.constexpr, V: gl.constexpr):
    b = gl.allocate_shared_memory(gl.float16, [S, M, M], d.layout)
    f = _bars(S, 1)
    e = _bars(S, 1)
    gl.warp_specialize([(_late_dot, (b, f, e, out, K, S, V)), (_fill, (d, b, f, e, K, S, V))], [1], [24])
    _end(f, S)
    _end(e, S)


# ---- the result goes out through the buffer of an operand that another partition loads -----------------------------
@gluon.jit
def _operand_fill(qd, kd, q, ks, qf, qe, kf, ke, T, N, S: gl.constexpr, V: gl.constexpr):
    it = 0
    j = 0
    for t in range(gl.program_id(0), T, gl.num_programs(0)):
        mbarrier.wait(qe.index(0), (j & 1) ^ 1)
        _load(qd, t * M, qf.index(0), q)
        for n in range(0, N, M):
            mbarrier.wait(ke.index(it % S), ((it // S) & 1) ^ 1)
            _load(kd, n, kf.index(it % S), ks.index(it % S))
            it += 1
        j += 1


@gluon.jit
def _operand_dot(od, q, ks, qf, qe, kf, ke, T, N, S: gl.constexpr, V: gl.constexpr):
    it = 0
    j = 0
    for t in range(gl.program_id(0), T, gl.num_programs(0)):
        acc = gl.zeros([M, M], gl.float32, layout=ACC)
        mbarrier.wait(qf.index(0), j & 1)
        for n in range(0, N, M):
            mbarrier.wait(kf.index(it % S), (it // S) & 1)
            acc = warpgroup_mma(q, ks.index(it % S).permute((1, 0)), acc, is_async=True)
            acc = warpgroup_mma_wait(0, deps=(acc,))
            mbarrier.arrive(ke.index(it % S), count=1)
            it += 1
        q.store(acc.to(gl.float16))
        if V == "ok" or V == "no-store-wait":
            fence_async_shared()
        if V != "other-fence":
            tma.async_copy_shared_to_global(od, [t * M, 0], q)
        if V != "no-store-wait":
            tma.store_wait(0)
        mbarrier.arrive(qe.index(0), count=1)
        j += 1
    tma.store_wait(0)


@gluon.jit
def through_operand(qd, kd, od, T, N, S: gl.constexpr, V: gl.constexpr):
    q = gl.allocate_shared_memory(gl.float16, [M, M], qd.layout)
    ks = gl.allocate_shared_memory(gl.float16, [S, M, M], kd.layout)
    qf = _bars(1, 1)
    qe = _bars(1, 1)
    kf = _bars(S, 1)
    ke = _bars(S, 1)
    gl.warp_specialize([(_operand_dot, (od, q, ks, qf, qe, kf, ke, T, N, S, V)),
                        (_operand_fill, (qd, kd, q, ks, qf, qe, kf, ke, T, N, S, V))], [1], [24])


# ---- one side counts positions, the other iterations ---------------------------------------------------------------
@gluon.jit
def positions(d, out, N, B: gl.constexpr, S: gl.constexpr, V: gl.constexpr):
    b = gl.allocate_shared_memory(gl.float16, [S, M, M], d.layout)
    f = _bars(S, 1)
    e = _bars(S, 1)
    gl.warp_specialize([(_positions_read, (b, f, e, out, N, B, S, V)), (_positions_fill, (d, b, f, e, N, B, S, V))], [1], [24])
    _end(f, S)
    _end(e, S)


@gluon.jit
def _positions_fill(d, b, f, e, N, B: gl.constexpr, S: gl.constexpr, V: gl.constexpr):
    for n in range(0, N, B):
        k = n // B
        mbarrier.wait(e.index(k % S), ((k // S) & 1) ^ 1)
        _load(d, n, f.index(k % S), b.index(k % S))


@gluon.jit
def _positions_read(b, f, e, out, N, B: gl.constexpr, S: gl.constexpr, V: gl.constexpr):
    cnt = N // B if V == "floor" else gl.cdiv(N, B)
    for k in range(cnt):
        mbarrier.wait(f.index(k % S), (k // S) & 1)
        x = b.index(k % S).load(ROWS)
        fence_async_shared()
        mbarrier.arrive(e.index(k % S), count=1)
        _put(out, k, x, ROWS)


# ---- a counter that starts one iteration late ------------------------------------------------------------------------------------------
@gluon.jit
def lagging(d, g, out, K, S: gl.constexpr, V: gl.constexpr):
    a = gl.allocate_shared_memory(gl.float16, [S, 128, 128], d.layout)
    b = gl.allocate_shared_memory(gl.float16, [S, 128, 128], d.layout)
    acc = allocate_tensor_memory(gl.float32, [128, 128], TensorMemoryLayout([128, 128], col_stride=1))
    f = _bars(S, 1)
    m = _bars(S, 1)
    done = Counter.create(0, S)
    n = gl.cdiv(K, 128)
    for i in gl.static_range(S - 1):
        mbarrier.expect(f.index(i), 2 * d.block_type.nbytes, pred=i < n)
        tma.async_copy_global_to_shared(d, [0, i * 128], f.index(i), a.index(i), pred=i < n)
        tma.async_copy_global_to_shared(g, [i * 128, 0], f.index(i), b.index(i), pred=i < n)
    for k in range(n):
        s = k % S
        mbarrier.wait(f.index(s), (k // S) & 1)
        tcgen05_mma(a.index(s), b.index(s), acc, use_acc=k > 0)
        tcgen05_commit(m.index(s))
        mbarrier.wait(m.index(done.index), done.phase, pred=k > (1 if V == "one-more" else 0))
        done = done.next(k >= 0 if V == "at-once" else k > 0)
        t = k + S - 1
        mbarrier.expect(f.index(t % S), 2 * d.block_type.nbytes, pred=t < n)
        tma.async_copy_global_to_shared(d, [0, t * 128], f.index(t % S), a.index(t % S), pred=t < n)
        tma.async_copy_global_to_shared(g, [t * 128, 0], f.index(t % S), b.index(t % S), pred=t < n)
    mbarrier.wait(m.index(done.index), done.phase, pred=n > 0)
    layout: gl.constexpr = gl.BlockedLayout([1, 128], [32, 1], [4, 1], [0, 1])
    gl.store(out + _square(layout, 128), acc.load(layout))
    _end(f, S)
    _end(m, S)


# ---- barriers that are made again for other loads ------------------------------------------------------------------------------------------
@gluon.jit
def lives(d, out, K, V: gl.constexpr):
    b = gl.allocate_shared_memory(gl.float16, [2, M, M], d.layout)
    f = _bars(2, 1)
    for k in range(K):
        _load(d, k * M, f.index(k % 2), b.index(k % 2))
        mbarrier.wait(f.index(k % 2), (k // 2) & 1)
        _put(out, k, b.index(k % 2).load(ROWS), ROWS)
        fence_async_shared()
    _end(f, 2)
    if V == "between":
        mbarrier.expect(f.index(0), 0)
    if V == "branch":
        if K > 3:
            mbarrier.init(f.index(0), count=1)
            mbarrier.init(f.index(1), count=1)
    else:
        mbarrier.init(f.index(0), count=1)
        mbarrier.init(f.index(1), count=2 if V == "count" else 1)
    for k in range(K):
        _load(d, k * M, f.index(k % 2), b.index(k % 2))
        n = K + k if V == "goes-on" else k
        mbarrier.wait(f.index(k % 2), (n // 2) & 1)
        _put(out, K + k, b.index(k % 2).load(ROWS), ROWS)
        fence_async_shared()
    _end(f, 2)
