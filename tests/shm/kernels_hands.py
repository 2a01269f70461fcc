"""Buffers that a loop hands around by name instead of by index, and a choice between two buffers; V = "ok" is correct, as kernels.py."""
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy as cp
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma, warpgroup_mma, warpgroup_mma_wait

M = gl.constexpr(64)
ROWS = gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0]))
ACC = gl.constexpr(gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 64, 16]))
SW = gl.constexpr(gl.SwizzledSharedLayout(8, 1, 8, order=[1, 0]))


@gluon.jit
def _square(layout: gl.constexpr):
    return gl.arange(0, M, layout=gl.SliceLayout(1, layout))[:, None] * M + gl.arange(0, M, layout=gl.SliceLayout(0, layout))[None, :]


@gluon.jit
def hands_cp(inp, out, K, V: gl.constexpr):
    """Two buffers change places in every iteration: one is filled while the other is read."""
    now = gl.allocate_shared_memory(gl.float16, [M, M], SW)
    then = gl.allocate_shared_memory(gl.float16, [M, M], SW)
    cp.async_copy_global_to_shared(now, inp + _square(ROWS))
    cp.commit_group()
    acc = gl.zeros([M, M], gl.float16, ROWS)
    for k in range(K):
        if V != "late-copy":
            cp.async_copy_global_to_shared(then, inp + k * M + _square(ROWS))
            cp.commit_group()
        cp.wait_group(2 if V == "weak" else 1)
        acc += now.load(ROWS)
        if V == "late-copy":
            cp.async_copy_global_to_shared(then, inp + k * M + _square(ROWS))
            cp.commit_group()
        if V != "kept":
            now, then = then, now
    cp.wait_group(0)
    gl.store(out + _square(ROWS), acc)


@gluon.jit
def hands_three(inp, out, K, V: gl.constexpr):
    """Three buffers, two copies ahead."""
    a = gl.allocate_shared_memory(gl.float16, [M, M], SW)
    b = gl.allocate_shared_memory(gl.float16, [M, M], SW)
    c = gl.allocate_shared_memory(gl.float16, [M, M], SW)
    cp.async_copy_global_to_shared(a, inp + _square(ROWS))
    cp.commit_group()
    cp.async_copy_global_to_shared(b, inp + M + _square(ROWS))
    cp.commit_group()
    acc = gl.zeros([M, M], gl.float16, ROWS)
    for k in range(K):
        cp.async_copy_global_to_shared(c, inp + k * M + _square(ROWS))
        cp.commit_group()
        cp.wait_group(3 if V == "weak" else 2)
        acc += a.load(ROWS)
        if V == "backwards":
            a, b, c = c, a, b
        else:
            a, b, c = b, c, a
    cp.wait_group(0)
    gl.store(out + _square(ROWS), acc)


@gluon.jit
def hands_dot(d, out, K, V: gl.constexpr):
    """Products read one buffer while TMA loads into the other; one product stays in flight."""
    now = gl.allocate_shared_memory(gl.float16, [M, M], d.layout)
    then = gl.allocate_shared_memory(gl.float16, [M, M], d.layout)
    bars = gl.allocate_shared_memory(gl.int64, [1, 1], mbarrier.MBarrierLayout())
    mbarrier.init(bars.index(0), count=1)
    acc = gl.zeros([M, M], gl.float32, layout=ACC)
    for k in range(K):
        mbarrier.expect(bars.index(0), d.block_type.nbytes)
        tma.async_copy_global_to_shared(d, [0, k * M], bars.index(0), now)
        mbarrier.wait(bars.index(0), k & 1)
        acc = warpgroup_mma(now, now.permute((1, 0)), acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=2 if V == "pendings" else 1, deps=(acc, ))
        if V != "kept":
            now, then = then, now
    acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
    mbarrier.invalidate(bars.index(0))
    gl.store(out + _square(ACC), acc)


@gluon.jit
def chosen(inp, out, K, flag, V: gl.constexpr):
    """A copy into one of two buffers, by an argument; the other one is read meanwhile."""
    a = gl.allocate_shared_memory(gl.float16, [M, M], SW)
    b = gl.allocate_shared_memory(gl.float16, [M, M], SW)
    a.store(gl.full([M, M], 1.0, gl.float16, ROWS))
    b.store(gl.full([M, M], 2.0, gl.float16, ROWS))
    filled = a
    other = b
    if flag > 0:
        filled = b
        other = a
    cp.async_copy_global_to_shared(filled, inp + _square(ROWS))
    cp.commit_group()
    if V == "same":
        x = filled.load(ROWS)
    elif V == "first":
        x = b.load(ROWS)
    else:
        x = other.load(ROWS)
    cp.wait_group(0)
    gl.store(out + _square(ROWS), x + filled.load(ROWS))


HANDS = {"hands_cp": ("ok", "weak", "late-copy", "kept"), "hands_three": ("ok", "weak", "backwards"), "hands_dot": ("ok", "pendings", "kept"),
         "chosen": ("ok", "same", "first")}
