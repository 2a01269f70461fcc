"""Kernels whose compiled form uses shared memory: one that Triton pipelines, and a ring of two Gluon partitions."""
import triton
import triton.language as tl

try:
    from triton.experimental import gluon
    from triton.experimental.gluon import language as gl
    from triton.experimental.gluon.language.nvidia.hopper import mbarrier
except ImportError:
    gluon = None


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    a = a_ptr + rm[:, None] * K + rk[None, :]
    b = b_ptr + rk[:, None] * N + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, tl.cdiv(K, BK)):
        acc = tl.dot(tl.load(a), tl.load(b), acc)
        a += BK
        b += BK * N
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(tl.float16), mask=(rm < M)[:, None] & (rn < N)[None, :])


if gluon is not None:
    _LAYOUT = gl.constexpr(gl.BlockedLayout([1], [32], [4], [0]))
    _SHARED = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [0]))

    @gluon.jit
    def _fill(x, bufs, full, empty, n, S: gl.constexpr, V: gl.constexpr):
        offs = gl.arange(0, 128, layout=_LAYOUT)
        for k in range(n):
            if V != "no-empty-wait":
                mbarrier.wait(empty.index(k % S), ((k // S) & 1) ^ 1)
            bufs.index(k % S).store(gl.load(x + k * 128 + offs))
            mbarrier.arrive(full.index(k % S), count=1)

    @gluon.jit
    def _drain(y, bufs, full, empty, n, S: gl.constexpr, V: gl.constexpr):
        offs = gl.arange(0, 128, layout=_LAYOUT)
        for k in range(n):
            mbarrier.wait(full.index(k % S), (k // S) & 1)
            gl.store(y + k * 128 + offs, bufs.index(k % S).load(_LAYOUT))
            if V != "no-arrive":
                mbarrier.arrive(empty.index(k % S), count=2 if V == "arrive-count" else 1)

    @gluon.jit
    def ring(x, y, n, S: gl.constexpr, V: gl.constexpr):
        bufs = gl.allocate_shared_memory(gl.float32, [S, 128], _SHARED)
        full = gl.allocate_shared_memory(gl.int64, [S, 1], mbarrier.MBarrierLayout())
        empty = gl.allocate_shared_memory(gl.int64, [S, 1], mbarrier.MBarrierLayout())
        for i in gl.static_range(S):
            mbarrier.init(full.index(i), count=1)
            mbarrier.init(empty.index(i), count=1)
        gl.warp_specialize([(_drain, (y, bufs, full, empty, n, S, V)), (_fill, (x, bufs, full, empty, n, S, V))], [4], [24])
        for i in gl.static_range(S):
            mbarrier.invalidate(full.index(i))
            mbarrier.invalidate(empty.index(i))
