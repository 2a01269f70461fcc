"""Our own kernels after the single-CTA tests of Triton's test_consan.py: one function a test, V = "ok" correct, every
other value of V broken as the test's parameter does it. Hopper; the Blackwell ones are in tensor.py."""
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy as cp
from triton.experimental.gluon.language.nvidia.hopper import (fence_async_shared, mbarrier, tma, warpgroup_mma,
                                                              warpgroup_mma_wait)

M = gl.constexpr(64)
ROWS = gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0]))
COLS = gl.constexpr(gl.BlockedLayout([8, 1], [8, 4], [1, 4], [0, 1]))
SWIZZLED = gl.constexpr(gl.SwizzledSharedLayout(8, 1, 8, [1, 0]))
MMA = gl.constexpr(gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 64, 16]))


@gluon.jit
def _grid(layout: gl.constexpr):
    return (gl.arange(0, M, layout=gl.SliceLayout(1, layout))[:, None] * M
            + gl.arange(0, M, layout=gl.SliceLayout(0, layout))[None, :])


@gluon.jit
def _bar(n: gl.constexpr, count: gl.constexpr):
    bars = gl.allocate_shared_memory(gl.int64, [n, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(n):
        mbarrier.init(bars.index(i), count=count)
    return bars


@gluon.jit
def _done(bars, n: gl.constexpr):
    for i in gl.static_range(n):
        mbarrier.invalidate(bars.index(i))


@gluon.jit
def _load(desc, x, bar, buf):
    mbarrier.expect(bar, desc.block_type.nbytes)
    tma.async_copy_global_to_shared(desc, [x, 0], bar, buf)


# ---- cp.async ---------------------------------------------------------------------------------------------------
@gluon.jit
def one_buffer(inp, out, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [M, M], SWIZZLED)
    cp.async_copy_global_to_shared(buf, inp + _grid(ROWS))
    cp.commit_group()
    if V == "ok":
        cp.wait_group(0)
    cp.async_copy_global_to_shared(buf, inp + M * M + _grid(ROWS))
    cp.commit_group()
    cp.wait_group(0)
    gl.store(out + _grid(ROWS), buf.load(ROWS))


@gluon.jit
def async_copy(inp, out, V: gl.constexpr):
    bufs = gl.allocate_shared_memory(gl.float16, [2, M, M], SWIZZLED)
    for i in gl.static_range(2):
        cp.async_copy_global_to_shared(bufs.index(i), inp + i * M * M + _grid(ROWS))
        cp.commit_group()
    if V == "ok":
        cp.wait_group(1)
    else:
        cp.wait_group(2)
    cp.async_copy_global_to_shared(bufs.index(0), inp + 2 * M * M + _grid(ROWS))
    cp.commit_group()
    cp.wait_group(0)
    gl.store(out + _grid(ROWS), bufs.index(0).load(ROWS))


@gluon.jit
def commits_alias(inp, out, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [2 * M, M], SWIZZLED)
    low = buf.slice(0, M)
    high = buf.slice(M, M)
    cp.async_copy_global_to_shared(low, inp + _grid(ROWS))
    cp.commit_group()
    if V == "ok":
        cp.wait_group(0)
    if V == "apart":
        high.store(gl.full([M, M], 1.0, gl.float16, ROWS))
    elif V == "whole":
        buf.store(gl.full([2 * M, M], 1.0, gl.float16, ROWS))
    else:
        low.store(gl.full([M, M], 1.0, gl.float16, ROWS))
    cp.wait_group(0)
    gl.store(out + _grid(ROWS), high.load(ROWS))


# ---- TMA loads ----------------------------------------------------------------------------------------------------
@gluon.jit
def tma_load(desc, out, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [M, M], desc.layout)
    bar = _bar(1, 1)
    _load(desc, 0, bar.index(0), buf)
    if V == "early":
        x = buf.load(ROWS)
        mbarrier.wait(bar.index(0), 0)
    else:
        mbarrier.wait(bar.index(0), 0)
        x = buf.load(ROWS)
    _done(bar, 1)
    gl.store(out + _grid(ROWS), x)


@gluon.jit
def two_loads_one_bar(desc, out, V: gl.constexpr):
    bufs = gl.allocate_shared_memory(gl.float16, [2, M, M], desc.layout)
    bar = _bar(1, 1)
    mbarrier.expect(bar.index(0), 2 * desc.block_type.nbytes)
    tma.async_copy_global_to_shared(desc, [0, 0], bar.index(0), bufs.index(0))
    tma.async_copy_global_to_shared(desc, [M, 0], bar.index(0), bufs.index(1))
    if V == "early":
        x = bufs.index(0).load(ROWS)
        mbarrier.wait(bar.index(0), 0)
    else:
        mbarrier.wait(bar.index(0), 0)
        x = bufs.index(0).load(ROWS)
    x += bufs.index(1).load(ROWS)
    _done(bar, 1)
    gl.store(out + _grid(ROWS), x)


@gluon.jit
def wrong_bytes(desc, out, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [M, M], desc.layout)
    bar = _bar(1, 1)
    mbarrier.expect(bar.index(0), desc.block_type.nbytes + (16 if V == "more" else -16 if V == "fewer" else 0))
    tma.async_copy_global_to_shared(desc, [0, 0], bar.index(0), buf)
    mbarrier.wait(bar.index(0), 0)
    x = buf.load(ROWS)
    _done(bar, 1)
    gl.store(out + _grid(ROWS), x)


@gluon.jit
def interleaved(desc, out, V: gl.constexpr):
    bufs = gl.allocate_shared_memory(gl.float16, [2, M, M], desc.layout)
    bars = _bar(2, 1)
    _load(desc, 0, bars.index(0), bufs.index(0))
    _load(desc, M, bars.index(1), bufs.index(1))
    mbarrier.wait(bars.index(0), 0)
    if V == "ok":
        mbarrier.wait(bars.index(1), 0)
    x = bufs.index(0).load(ROWS) + bufs.index(1).load(ROWS)
    mbarrier.wait(bars.index(1), 0)
    _done(bars, 2)
    gl.store(out + _grid(ROWS), x)


@gluon.jit
def waited_barrier(desc, out, V: gl.constexpr):
    bufs = gl.allocate_shared_memory(gl.float16, [2, M, M], desc.layout)
    bars = _bar(2, 1)
    _load(desc, 0, bars.index(0), bufs.index(0))
    _load(desc, M, bars.index(1), bufs.index(1))
    if V == "other":
        mbarrier.wait(bars.index(1), 0)
        x = bufs.index(0).load(ROWS)
        mbarrier.wait(bars.index(0), 0)
    else:
        mbarrier.wait(bars.index(0), 0)
        x = bufs.index(0).load(ROWS)
        mbarrier.wait(bars.index(1), 0)
    _done(bars, 2)
    gl.store(out + _grid(ROWS), x)


@gluon.jit
def _phase_load(desc, bufs, bar, seen):
    _load(desc, 0, bar.index(0), bufs.index(0))
    mbarrier.wait(bar.index(0), 0)
    mbarrier.wait(seen.index(0), 0)
    _load(desc, M, bar.index(0), bufs.index(1))
    mbarrier.wait(bar.index(0), 1)


@gluon.jit
def _phase_read(bufs, bar, seen, out, V: gl.constexpr):
    mbarrier.wait(bar.index(0), 0)
    mbarrier.arrive(seen.index(0), count=1)
    if V == "ok":
        mbarrier.wait(bar.index(0), 1)
    gl.store(out + _grid(ROWS), bufs.index(1).load(ROWS))


@gluon.jit
def requested_phase(desc, out, V: gl.constexpr):
    bufs = gl.allocate_shared_memory(gl.float16, [2, M, M], desc.layout)
    bar = _bar(1, 1)
    seen = _bar(1, 1)
    gl.warp_specialize([(_phase_read, (bufs, bar, seen, out, V)), (_phase_load, (desc, bufs, bar, seen))], [4], [24])
    _done(bar, 1)
    _done(seen, 1)


@gluon.jit
def overwritten(desc, out, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [M, M], desc.layout)
    bars = _bar(2, 1)
    _load(desc, 0, bars.index(0), buf)
    mbarrier.wait(bars.index(0), 0)
    _load(desc, M, bars.index(1), buf)
    mbarrier.wait(bars.index(0), 0)
    if V == "ok":
        mbarrier.wait(bars.index(1), 0)
    x = buf.load(ROWS)
    mbarrier.wait(bars.index(1), 0)
    _done(bars, 2)
    gl.store(out + _grid(ROWS), x)


@gluon.jit
def overlapping(desc, V: gl.constexpr):
    """Two bulk operations on one buffer: load then load, load then store."""
    buf = gl.allocate_shared_memory(gl.float16, [M, M], desc.layout)
    bars = _bar(2, 1)
    _load(desc, 0, bars.index(0), buf)
    if V == "load-waited" or V == "store-waited":
        mbarrier.wait(bars.index(0), 0)
    if V == "load" or V == "load-waited":
        _load(desc, M, bars.index(1), buf)
        mbarrier.wait(bars.index(1), 0)
    else:
        tma.async_copy_shared_to_global(desc, [2 * M, 0], buf)
        tma.store_wait(0)
    mbarrier.wait(bars.index(0), 0)
    _done(bars, 2)


# ---- TMA stores -----------------------------------------------------------------------------------------------------
@gluon.jit
def tma_store(desc, V: gl.constexpr):
    bufs = gl.allocate_shared_memory(gl.float16, [2, M, M], desc.layout)
    for i in gl.static_range(2):
        bufs.index(i).store(gl.full([M, M], 1.0, gl.float16, ROWS))
    fence_async_shared()
    for i in gl.static_range(2):
        tma.async_copy_shared_to_global(desc, [i * M, 0], bufs.index(i))
    if V == "ok":
        tma.store_wait(0)
    else:
        tma.store_wait(1)
    bufs.index(1).store(gl.full([M, M], 2.0, gl.float16, ROWS))
    tma.store_wait(0)


# ---- WGMMA ------------------------------------------------------------------------------------------------------------
@gluon.jit
def warpgroup_dot(inp, out, V: gl.constexpr):
    shared: gl.constexpr = gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)
    a = gl.allocate_shared_memory(gl.float16, [M, M], shared)
    b = gl.allocate_shared_memory(gl.float16, [M, M], shared)
    a.store(gl.load(inp + _grid(ROWS)))
    b.store(gl.load(inp + M * M + _grid(ROWS)))
    fence_async_shared()
    acc = warpgroup_mma(a, b, gl.zeros([M, M], gl.float32, MMA), is_async=True)
    if V == "ok":
        acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
    a.store(gl.full([M, M], 1.0, gl.float16, ROWS))
    acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
    gl.store(out + _grid(MMA), acc)


@gluon.jit
def two_dots(inp, out, V: gl.constexpr):
    shared: gl.constexpr = gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)
    a = gl.allocate_shared_memory(gl.float16, [M, M], shared)
    b = gl.allocate_shared_memory(gl.float16, [M, M], shared)
    a.store(gl.load(inp + _grid(ROWS)))
    b.store(gl.load(inp + M * M + _grid(ROWS)))
    fence_async_shared()
    acc = warpgroup_mma(a, b, gl.zeros([M, M], gl.float32, MMA), is_async=True)
    acc = warpgroup_mma(a, b, acc, is_async=True)
    if V == "ok":
        acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
    else:
        acc = warpgroup_mma_wait(num_outstanding=1, deps=(acc, ))
    a.store(gl.full([M, M], 1.0, gl.float16, ROWS))
    acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
    gl.store(out + _grid(MMA), acc)


# ---- hand-offs between partitions -----------------------------------------------------------------------------------------
@gluon.jit
def _store_first(buf, bar, V: gl.constexpr):
    buf.store(gl.full([M, M], 1.0, gl.float16, ROWS))
    mbarrier.arrive(bar.index(0), count=1)


@gluon.jit
def _wait_then_load(buf, bar, out, V: gl.constexpr):
    if V == "ok":
        mbarrier.wait(bar.index(0), 0)
    gl.store(out + _grid(ROWS), buf.load(ROWS))


@gluon.jit
def store_wait_load(out, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [M, M], SWIZZLED)
    bar = _bar(1, 1)
    gl.warp_specialize([(_store_first, (buf, bar, V)), (_wait_then_load, (buf, bar, out, V))], [4], [24])
    _done(bar, 1)


@gluon.jit
def _load_first(buf, bar, out, V: gl.constexpr):
    gl.store(out + _grid(ROWS), buf.load(ROWS))
    mbarrier.arrive(bar.index(0), count=1)


@gluon.jit
def _wait_then_store(buf, bar, V: gl.constexpr):
    if V == "ok":
        mbarrier.wait(bar.index(0), 0)
    buf.store(gl.full([M, M], 1.0, gl.float16, ROWS))


@gluon.jit
def load_wait_store(out, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [M, M], SWIZZLED)
    buf.store(gl.full([M, M], 0.0, gl.float16, ROWS))
    bar = _bar(1, 1)
    gl.warp_specialize([(_load_first, (buf, bar, out, V)), (_wait_then_store, (buf, bar, V))], [4], [24])
    _done(bar, 1)


@gluon.jit
def _reader(buf, bars, out, me: gl.constexpr):
    gl.store(out + me * M * M + _grid(ROWS), buf.load(ROWS))
    mbarrier.arrive(bars.index(me), count=1)


@gluon.jit
def _reader0(buf, bars, out):
    _reader(buf, bars, out, 0)


@gluon.jit
def _reader1(buf, bars, out):
    _reader(buf, bars, out, 1)


@gluon.jit
def _writer2(buf, bars, V: gl.constexpr, L: gl.constexpr):
    if V != "first":
        mbarrier.wait(bars.index(0), 0)
    if V != "second":
        mbarrier.wait(bars.index(1), 0)
    buf.store(gl.full([M, M], 1.0, gl.float16, L))


@gluon.jit
def two_readers_two_bars(out, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [M, M], SWIZZLED)
    buf.store(gl.full([M, M], 0.0, gl.float16, ROWS))
    bars = _bar(2, 1)
    gl.warp_specialize([(_reader0, (buf, bars, out)), (_reader1, (buf, bars, out)), (_writer2, (buf, bars, V, ROWS))], [4, 4], [24, 24])
    _done(bars, 2)


@gluon.jit
def different_warps(out, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [M, M], SWIZZLED)
    buf.store(gl.full([M, M], 0.0, gl.float16, ROWS))
    bars = _bar(2, 1)
    wide: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [8, 1], [1, 0])
    gl.warp_specialize([(_reader0, (buf, bars, out)), (_reader1, (buf, bars, out)), (_writer2, (buf, bars, V, wide))], [4, 8], [24, 24])
    _done(bars, 2)


@gluon.jit
def _reader_one(buf, bar, out, me: gl.constexpr):
    gl.store(out + me * M * M + _grid(ROWS), buf.load(ROWS))
    mbarrier.arrive(bar.index(0), count=1)


@gluon.jit
def _one0(buf, bar, out):
    _reader_one(buf, bar, out, 0)


@gluon.jit
def _one1(buf, bar, out):
    _reader_one(buf, bar, out, 1)


@gluon.jit
def _writer_one(buf, bar, V: gl.constexpr):
    mbarrier.wait(bar.index(0), 0, pred=V == "ok")
    buf.store(gl.full([M, M], 1.0, gl.float16, ROWS))


@gluon.jit
def two_readers_one_bar(out, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [M, M], SWIZZLED)
    buf.store(gl.full([M, M], 0.0, gl.float16, ROWS))
    bar = _bar(1, 2)
    gl.warp_specialize([(_one0, (buf, bar, out)), (_one1, (buf, bar, out)), (_writer_one, (buf, bar, V))], [4, 4], [24, 24])
    _done(bar, 1)


# ---- ten rounds of one buffer, two readers -----------------------------------------------------------------------------------
@gluon.jit
def _round_write(buf, full, empty, K, V: gl.constexpr):
    for k in range(K):
        if V != "w0":
            mbarrier.wait(empty.index(0), (k & 1) ^ 1)
        if V != "w1":
            mbarrier.wait(empty.index(1), (k & 1) ^ 1)
        buf.store(gl.full([M, M], 1.0, gl.float16, ROWS))
        mbarrier.arrive(full.index(0), count=1)
        mbarrier.arrive(full.index(1), count=1)


@gluon.jit
def _round_read(buf, full, empty, out, K, V: gl.constexpr, me: gl.constexpr):
    for k in range(K):
        if not ((V == "r0" and me == 0) or (V == "r1" and me == 1)):
            mbarrier.wait(full.index(me), k & 1)
        gl.store(out + me * M * M + _grid(ROWS), buf.load(ROWS))
        mbarrier.arrive(empty.index(me), count=1)


@gluon.jit
def _round0(buf, full, empty, out, K, V: gl.constexpr):
    _round_read(buf, full, empty, out, K, V, 0)


@gluon.jit
def _round1(buf, full, empty, out, K, V: gl.constexpr):
    _round_read(buf, full, empty, out, K, V, 1)


@gluon.jit
def rounds(out, K, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [M, M], SWIZZLED)
    full = _bar(2, 1)
    empty = _bar(2, 1)
    gl.warp_specialize([(_round0, (buf, full, empty, out, K, V)), (_round1, (buf, full, empty, out, K, V)),
                        (_round_write, (buf, full, empty, K, V))], [4, 4], [24, 24])
    _done(full, 2)
    _done(empty, 2)


@gluon.jit
def _two_stores(bufs, bars):
    for i in gl.static_range(2):
        bufs.index(i).store(gl.full([M, M], 1.0, gl.float16, ROWS))
        mbarrier.arrive(bars.index(i), count=1)


@gluon.jit
def _ordered(bufs, bars, out, V: gl.constexpr):
    mbarrier.wait(bars.index(0), 0)
    if V == "ok":
        gl.store(out + _grid(ROWS), bufs.index(0).load(ROWS))
        mbarrier.wait(bars.index(1), 0)
        gl.store(out + _grid(ROWS), bufs.index(1).load(ROWS))
    else:
        gl.store(out + _grid(ROWS), bufs.index(1).load(ROWS))
        mbarrier.wait(bars.index(1), 0)
        gl.store(out + _grid(ROWS), bufs.index(0).load(ROWS))


@gluon.jit
def load_ordering(out, V: gl.constexpr):
    bufs = gl.allocate_shared_memory(gl.float16, [2, M, M], SWIZZLED)
    bars = _bar(2, 1)
    gl.warp_specialize([(_ordered, (bufs, bars, out, V)), (_two_stores, (bufs, bars))], [4], [24])
    _done(bars, 2)


# ---- two producers of halves, two consumers of both ---------------------------------------------------------------------------
@gluon.jit
def _half_write(bufs, full, empty, K, V: gl.constexpr, me: gl.constexpr):
    for k in range(K):
        mbarrier.wait(empty.index(0), (k & 1) ^ 1)
        bufs.index(me).store(gl.full([M, M], 1.0, gl.float16, ROWS))
        mbarrier.arrive(full.index(0), count=1)


@gluon.jit
def _half_read(bufs, full, empty, out, K, V: gl.constexpr, me: gl.constexpr):
    for k in range(K):
        if not (V == "t2" and me == 0) and not (V == "t3" and me == 1):
            mbarrier.wait(full.index(0), k & 1)
        x = bufs.index(0).load(ROWS) + bufs.index(1).load(ROWS)
        gl.store(out + me * M * M + _grid(ROWS), x)
        mbarrier.arrive(empty.index(0), count=1)


@gluon.jit
def _hw0(bufs, full, empty, out, K, V: gl.constexpr):
    _half_write(bufs, full, empty, K, V, 0)


@gluon.jit
def _hw1(bufs, full, empty, out, K, V: gl.constexpr):
    _half_write(bufs, full, empty, K, V, 1)


@gluon.jit
def _hr0(bufs, full, empty, out, K, V: gl.constexpr):
    _half_read(bufs, full, empty, out, K, V, 0)


@gluon.jit
def _hr1(bufs, full, empty, out, K, V: gl.constexpr):
    _half_read(bufs, full, empty, out, K, V, 1)


@gluon.jit
def two_and_two(out, K, V: gl.constexpr):
    bufs = gl.allocate_shared_memory(gl.float16, [2, M, M], SWIZZLED)
    full = _bar(1, 2)
    empty = _bar(1, 2)
    gl.warp_specialize([(_hw0, (bufs, full, empty, out, K, V)), (_hw1, (bufs, full, empty, out, K, V)),
                        (_hr0, (bufs, full, empty, out, K, V)), (_hr1, (bufs, full, empty, out, K, V))], [4, 4, 4], [24, 24, 24])
    _done(full, 1)
    _done(empty, 1)


# ---- commit groups of another partition -------------------------------------------------------------------------------------------
@gluon.jit
def _copy_two(inp, bufs, bars, V: gl.constexpr):
    for i in gl.static_range(2):
        cp.async_copy_global_to_shared(bufs.index(i), inp + i * M * M + _grid(ROWS))
        cp.commit_group()
    if V == "weak":
        cp.wait_group(1)
    elif V != "none":
        cp.wait_group(0)
    mbarrier.arrive(bars.index(0), count=1)
    cp.wait_group(0)


@gluon.jit
def _read_second(bufs, bars, out, V: gl.constexpr):
    if V != "no-handoff":
        mbarrier.wait(bars.index(0), 0)
    gl.store(out + _grid(ROWS), bufs.index(1).load(ROWS))


@gluon.jit
def copies_handed_on(inp, out, V: gl.constexpr):
    bufs = gl.allocate_shared_memory(gl.float16, [2, M, M], SWIZZLED)
    bars = _bar(1, 1)
    gl.warp_specialize([(_read_second, (bufs, bars, out, V)), (_copy_two, (inp, bufs, bars, V))], [4], [24])
    _done(bars, 1)


@gluon.jit
def _dot_two(bufs, bars, out, V: gl.constexpr):
    acc = gl.zeros([M, M], gl.float32, MMA)
    for i in gl.static_range(2):
        acc = warpgroup_mma(bufs.index(i), bufs.index(i), acc, is_async=True)
    if V == "ok":
        acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
    else:
        acc = warpgroup_mma_wait(num_outstanding=1, deps=(acc, ))
    mbarrier.arrive(bars.index(0), count=1)
    acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
    gl.store(out + _grid(MMA), acc)


@gluon.jit
def _write_second(bufs, bars):
    mbarrier.wait(bars.index(0), 0)
    bufs.index(1).store(gl.full([M, M], 1.0, gl.float16, ROWS))


@gluon.jit
def dots_handed_on(out, V: gl.constexpr):
    shared: gl.constexpr = gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)
    bufs = gl.allocate_shared_memory(gl.float16, [2, M, M], shared)
    for i in gl.static_range(2):
        bufs.index(i).store(gl.full([M, M], 0.5, gl.float16, ROWS))
    fence_async_shared()
    bars = _bar(1, 1)
    gl.warp_specialize([(_dot_two, (bufs, bars, out, V)), (_write_second, (bufs, bars))], [4], [24])
    _done(bars, 1)


# ---- fences and joins ----------------------------------------------------------------------------------------------------------------
@gluon.jit
def _fence_write(buf, bar, V: gl.constexpr):
    buf.store(gl.full([M, M], 1.0, gl.float16, ROWS))
    if V == "producer":
        fence_async_shared()
    mbarrier.arrive(bar.index(0), count=1)
    if V == "late":
        fence_async_shared()


@gluon.jit
def _fence_store(desc, buf, bar, V: gl.constexpr):
    mbarrier.wait(bar.index(0), 0)
    if V == "consumer":
        fence_async_shared()
    tma.async_copy_shared_to_global(desc, [0, 0], buf)
    tma.store_wait(0)


@gluon.jit
def fence_place(desc, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [M, M], desc.layout)
    bar = _bar(1, 1)
    gl.warp_specialize([(_fence_write, (buf, bar, V)), (_fence_store, (desc, buf, bar, V))], [4], [24])
    _done(bar, 1)


@gluon.jit
def _nothing():
    pass


@gluon.jit
def _join_write(buf):
    buf.store(gl.full([M, M], 1.0, gl.float16, ROWS))


@gluon.jit
def join_write(out, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [M, M], SWIZZLED)
    gl.warp_specialize([(_nothing, ()), (_join_write, (buf, ))], [4], [24])
    gl.store(out + _grid(ROWS), buf.load(ROWS))


@gluon.jit
def _join_fenced(buf, V: gl.constexpr):
    buf.store(gl.full([M, M], 1.0, gl.float16, ROWS))
    if V == "producer":
        fence_async_shared()


@gluon.jit
def join_store(desc, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [M, M], desc.layout)
    gl.warp_specialize([(_nothing, ()), (_join_fenced, (buf, V))], [4], [24])
    if V == "consumer":
        fence_async_shared()
    tma.async_copy_shared_to_global(desc, [0, 0], buf)
    tma.store_wait(0)


@gluon.jit
def _join_read(buf, out):
    gl.store(out + _grid(ROWS), buf.load(ROWS))


@gluon.jit
def join_generation(desc, out, V: gl.constexpr):
    """A generic read in a partition, after the join a bulk load over it."""
    buf = gl.allocate_shared_memory(gl.float16, [M, M], desc.layout)
    buf.store(gl.full([M, M], 1.0, gl.float16, ROWS))
    fence_async_shared()
    bar = _bar(1, 1)
    gl.warp_specialize([(_nothing, ()), (_join_read, (buf, out))], [4], [24])
    if V == "ok":
        fence_async_shared()
    _load(desc, 0, bar.index(0), buf)
    mbarrier.wait(bar.index(0), 0)
    _done(bar, 1)


@gluon.jit
def _join_load(desc, bar, buf, V: gl.constexpr):
    _load(desc, 0, bar.index(0), buf)
    if V == "ok":
        mbarrier.wait(bar.index(0), 0)


@gluon.jit
def join_pending(desc, out, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [M, M], desc.layout)
    bar = _bar(1, 1)
    gl.warp_specialize([(_nothing, ()), (_join_load, (desc, bar, buf, V))], [4], [24])
    x = buf.load(ROWS)
    mbarrier.wait(bar.index(0), 0)
    _done(bar, 1)
    gl.store(out + _grid(ROWS), x)


# ---- deadlocks ---------------------------------------------------------------------------------------------------------------------------
@gluon.jit
def _wait_on(bars, me: gl.constexpr, then: gl.constexpr):
    mbarrier.wait(bars.index(me), 0)
    if then >= 0:
        mbarrier.arrive(bars.index(then), count=1)


@gluon.jit
def _wait0(bars):
    _wait_on(bars, 0, 1)


@gluon.jit
def _wait1(bars):
    _wait_on(bars, 1, 0)


@gluon.jit
def deadlock_two(V: gl.constexpr):
    bars = _bar(2, 1)
    if V == "ok":
        mbarrier.arrive(bars.index(0), count=1)
    gl.warp_specialize([(_wait0, (bars, )), (_wait1, (bars, ))], [4], [24])
    _done(bars, 2)


@gluon.jit
def _waits(bars):
    mbarrier.wait(bars.index(0), 0)


@gluon.jit
def deadlock_padded(V: gl.constexpr):
    """The default region ends, three partitions of 1, 2 and 4 warps wait; the compiler adds empty ones."""
    bars = _bar(1, 1)
    if V == "ok":
        mbarrier.arrive(bars.index(0), count=1)
    gl.warp_specialize([(_nothing, ()), (_waits, (bars, )), (_waits, (bars, )), (_waits, (bars, ))], [1, 2, 4], [24, 24, 24])
    _done(bars, 1)


@gluon.jit
def deadlock_after_return(V: gl.constexpr):
    bars = _bar(1, 1)
    if V == "ok":
        mbarrier.arrive(bars.index(0), count=1)
    gl.warp_specialize([(_waits, (bars, )), (_nothing, ())], [4], [24])
    _done(bars, 1)


@gluon.jit
def overarrival(V: gl.constexpr):
    bars = _bar(1, 1)
    mbarrier.arrive(bars.index(0), count=1)
    if V != "ok":
        mbarrier.arrive(bars.index(0), count=1)
    mbarrier.wait(bars.index(0), 0)
    _done(bars, 1)


@gluon.jit
def underarrival(V: gl.constexpr):
    bars = _bar(1, 2)
    mbarrier.arrive(bars.index(0), count=2 if V == "ok" else 1)
    mbarrier.wait(bars.index(0), 0)
    _done(bars, 1)


@gluon.jit
def _phases(bars):
    mbarrier.wait(bars.index(0), 0)
    mbarrier.arrive(bars.index(1), count=1)
    mbarrier.wait(bars.index(0), 1)


@gluon.jit
def _arrives(bars):
    mbarrier.arrive(bars.index(0), count=1)
    mbarrier.wait(bars.index(1), 0)
    mbarrier.arrive(bars.index(0), count=1)


@gluon.jit
def different_phases(V: gl.constexpr):
    bars = _bar(2, 1)
    gl.warp_specialize([(_phases, (bars, )), (_arrives, (bars, ))], [4], [24])
    _done(bars, 2)


@gluon.jit
def _load_and_wait(desc, bars, bufs, me: gl.constexpr):
    _load(desc, me * M, bars.index(me), bufs.index(me))
    mbarrier.wait(bars.index(me), 0)


@gluon.jit
def _law0(desc, bars, bufs):
    _load_and_wait(desc, bars, bufs, 0)


@gluon.jit
def _law1(desc, bars, bufs):
    _load_and_wait(desc, bars, bufs, 1)


@gluon.jit
def bulk_signals(desc, V: gl.constexpr):
    bufs = gl.allocate_shared_memory(gl.float16, [2, M, M], desc.layout)
    bars = _bar(2, 1)
    gl.warp_specialize([(_law0, (desc, bars, bufs)), (_law1, (desc, bars, bufs))], [4], [24])
    _done(bars, 2)


# ---- lives of barriers -----------------------------------------------------------------------------------------------------------------------
@gluon.jit
def underflow(V: gl.constexpr):
    bars = _bar(1, 1)
    mbarrier.arrive(bars.index(0), count=1 if V == "ok" else 2)
    _done(bars, 1)


@gluon.jit
def lifetime(desc, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [M, M], desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    after: gl.constexpr = V == "after-wait" or V == "after-arrive" or V == "after-expect"
    if V == "ok" or V == "reinit" or V == "in-flight" or after or V == "again":
        mbarrier.init(bar, count=1)
    if after or V == "again":
        mbarrier.invalidate(bar)
    if V == "reinit" or V == "again":
        mbarrier.init(bar, count=1)
    if V == "wait" or V == "after-wait":
        mbarrier.wait(bar, 1)
    if V == "arrive" or V == "after-arrive":
        mbarrier.arrive(bar, count=1)
    if V == "expect" or V == "after-expect":
        mbarrier.expect(bar, desc.block_type.nbytes)
    if V == "ok" or V == "in-flight":
        _load(desc, 0, bar, buf)
    if V == "ok":
        mbarrier.wait(bar, 0)
    if V == "ok" or V == "invalidate" or V == "in-flight" or V == "again":
        mbarrier.invalidate(bar)


@gluon.jit
def arrive_uninit(inp, out, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [M, M], SWIZZLED)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    if V == "ok":
        mbarrier.init(bar, count=128)
    cp.async_copy_global_to_shared(buf, inp + _grid(ROWS))
    cp.mbarrier_arrive(bar, increment_count=False)
    cp.wait_group(0)


# ---- views ---------------------------------------------------------------------------------------------------------------------------------------
@gluon.jit
def _alias_write(buf, bar, V: gl.constexpr):
    buf.store(gl.full([2 * M, M], 1.0, gl.float16, ROWS))
    mbarrier.arrive(bar.index(0), count=1)


@gluon.jit
def _alias_read(buf, bar, out, V: gl.constexpr):
    if V != "missing":
        mbarrier.wait(bar.index(0), 0)
    gl.store(out + _grid(ROWS), buf.slice(M, M).load(ROWS))


@gluon.jit
def view_of_write(out, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [2 * M, M], SWIZZLED)
    bar = _bar(1, 1)
    gl.warp_specialize([(_alias_read, (buf, bar, out, V)), (_alias_write, (buf, bar, V))], [4], [24])
    _done(bar, 1)


@gluon.jit
def _apart_write(buf, bar):
    buf.slice(0, M).store(gl.full([M, M], 1.0, gl.float16, ROWS))
    mbarrier.arrive(bar.index(0), count=1)


@gluon.jit
def _apart_read(buf, out):
    gl.store(out + _grid(ROWS), buf.slice(M, M).load(ROWS))


@gluon.jit
def views_apart(out, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [2 * M, M], SWIZZLED)
    bar = _bar(1, 1)
    gl.warp_specialize([(_apart_read, (buf, out)), (_apart_write, (buf, bar))], [4], [24])
    _done(bar, 1)


@gluon.jit
def _tail_load(desc, buf, bars):
    buf.index(0).store(gl.full([M, M], 1.0, gl.float16, ROWS))
    buf.index(1).store(gl.full([M, M], 1.0, gl.float16, ROWS))
    fence_async_shared()
    _load(desc, 0, bars.index(0), buf.index(1))


@gluon.jit
def _tail_read(buf, bars, out):
    mbarrier.wait(bars.index(0), 0)
    gl.store(out + _grid(ROWS), buf.index(1).load(ROWS))


@gluon.jit
def tail_overwritten(desc, out, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [2, M, M], desc.layout)
    bars = _bar(1, 1)
    gl.warp_specialize([(_tail_read, (buf, bars, out)), (_tail_load, (desc, buf, bars))], [4], [24])
    _done(bars, 1)


# ---- loops ------------------------------------------------------------------------------------------------------------------------------------------
@gluon.jit
def wgmma_loop(desc, out, K, S: gl.constexpr):
    """Loads two iterations ahead, one WGMMA outstanding: right with three buffers, wrong with two."""
    bufs = gl.allocate_shared_memory(gl.float16, [S, M, M], desc.layout)
    bars = _bar(S, 1)
    for i in gl.static_range(2):
        mbarrier.expect(bars.index(i), desc.block_type.nbytes, pred=i < K)
        tma.async_copy_global_to_shared(desc, [i * M, 0], bars.index(i), bufs.index(i), pred=i < K)
    acc = gl.zeros([M, M], gl.float32, MMA)
    for k in range(K):
        mbarrier.wait(bars.index(k % S), (k // S) & 1)
        acc = warpgroup_mma(bufs.index(k % S), bufs.index(k % S), acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=1, deps=(acc, ))
        ahead = (k + 2) % S
        mbarrier.expect(bars.index(ahead), desc.block_type.nbytes, pred=k + 2 < K)
        tma.async_copy_global_to_shared(desc, [(k + 2) * M, 0], bars.index(ahead), bufs.index(ahead), pred=k + 2 < K)
    acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
    _done(bars, S)
    gl.store(out + _grid(MMA), acc)


# name -> (argument kinds, values of V or S with the expected finding ids; () = proved)
TESTS = {
    "one_buffer": ("io", {"ok": (), "unwaited": ("PEND-CP", )}),
    "async_copy": ("io", {"ok": (), "weak": ("PEND-CP", )}),
    "commits_alias": ("io", {"ok": (), "apart": (), "missing": ("PEND-CP", ), "whole": ("PEND-CP", )}),
    "tma_load": ("do", {"ok": (), "early": ("SHM-RAW", )}),
    "two_loads_one_bar": ("do", {"ok": (), "early": ("SHM-RAW", )}),
    "wrong_bytes": ("do", {"ok": (), "more": ("BAR-TX", ), "fewer": ("BAR-TX", )}),
    "interleaved": ("do", {"ok": (), "missing": ("SHM-RAW", )}),
    "waited_barrier": ("do", {"ok": (), "other": ("SHM-RAW", )}),
    "requested_phase": ("do", {"ok": (), "first": ("SHM-RAW", )}),
    "overwritten": ("do", {"ok": (), "first": ("SHM-RAW", )}),
    "overlapping": ("d", {"load": ("SHM-WAW", ), "store": ("SHM-RAW", ), "load-waited": (), "store-waited": ()}),
    "tma_store": ("d", {"ok": (), "weak": ("PEND-TMAST", )}),
    "warpgroup_dot": ("io", {"ok": (), "unwaited": ("PEND-WGMMA", )}),
    "two_dots": ("io", {"ok": (), "weak": ("PEND-WGMMA", )}),
    "store_wait_load": ("o", {"ok": (), "missing": ("SHM-RAW", )}),
    "load_wait_store": ("o", {"ok": (), "missing": ("SHM-WAR", )}),
    "two_readers_two_bars": ("o", {"ok": (), "first": ("SHM-WAR", ), "second": ("SHM-WAR", )}),
    "different_warps": ("o", {"ok": (), "first": ("SHM-WAR", ), "second": ("SHM-WAR", )}),
    "two_readers_one_bar": ("o", {"ok": (), "off": ("SHM-WAR", )}),
    "rounds": ("ok", {"ok": (), "r0": ("SHM-RAW", ), "r1": ("SHM-RAW", ), "w0": ("SHM-WAR", ), "w1": ("SHM-WAR", )}),
    "load_ordering": ("o", {"ok": (), "swapped": ("SHM-RAW", )}),
    "two_and_two": ("ok", {"ok": (), "t2": ("SHM-RAW", ), "t3": ("SHM-RAW", )}),
    "copies_handed_on": ("io", {"ok": (), "weak": ("PEND-CP", ), "none": ("PEND-CP", ), "no-handoff": ("SHM-RAW", )}),
    "dots_handed_on": ("o", {"ok": (), "weak": ("PEND-WGMMA", )}),
    "fence_place": ("d", {"producer": (), "consumer": (), "late": ("PROXY-FENCE", ), "none": ("PROXY-FENCE", )}),
    "join_write": ("o", {"ok": ()}),
    "join_store": ("d", {"producer": (), "consumer": ()}),
    "join_generation": ("do", {"ok": (), "missing": ("PROXY-FENCE", )}),
    "join_pending": ("do", {"ok": (), "pending": ("SHM-RAW", )}),
    "deadlock_two": ("", {"ok": (), "cycle": ("BAR-DEADLOCK", )}),
    "deadlock_padded": ("", {"ok": (), "wait": ("BAR-DEADLOCK", )}),
    "deadlock_after_return": ("", {"ok": (), "wait": ("BAR-STUCK", )}),
    "overarrival": ("", {"ok": (), "twice": ("BAR-DEADLOCK", )}),
    "underarrival": ("", {"ok": (), "one": ("BAR-DEADLOCK", )}),
    "different_phases": ("", {"ok": ()}),
    "bulk_signals": ("d", {"ok": ()}),
    "underflow": ("", {"ok": (), "two": ("BAR-UNDERFLOW", )}),
    "lifetime": ("d", {"ok": (), "again": (), "reinit": ("BAR-REINIT", ), "in-flight": ("BAR-INVAL-PENDING", ), "wait": ("BAR-UNINIT", ),
                       "arrive": ("BAR-UNINIT", ), "invalidate": ("BAR-UNINIT", ), "expect": ("BAR-UNINIT", ),
                       "after-wait": ("BAR-UNINIT", ), "after-arrive": ("BAR-UNINIT", ), "after-expect": ("BAR-UNINIT", )}),
    "arrive_uninit": ("io", {"ok": (), "uninit": ("BAR-UNINIT", )}),
    "view_of_write": ("o", {"ok": (), "missing": ("SHM-RAW", )}),
    "views_apart": ("o", {"ok": ()}),
    "tail_overwritten": ("do", {"ok": ()}),
    "wgmma_loop": ("dok", {3: (), 2: ("PEND-WGMMA", )}),
}
