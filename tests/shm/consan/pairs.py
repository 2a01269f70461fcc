"""Further racing kernels with their safe twins (pairs.txt): V = "ok" right, every other value wrong in one way. Hopper; the Blackwell
ones are in pairs_tensor.py."""
from kernels import _bar, _done, _grid, _load, _nothing
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy as cp
from triton.experimental.gluon.language.nvidia.hopper import (fence_async_shared, mbarrier, tma, warpgroup_mma,
                                                              warpgroup_mma_wait)

M = gl.constexpr(64)
ROWS = gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0]))
SWIZZLED = gl.constexpr(gl.SwizzledSharedLayout(8, 1, 8, [1, 0]))
MMA = gl.constexpr(gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 64, 16]))


@gluon.jit
def cp_depth(inp, out, K, S: gl.constexpr):
    """Two copies ahead of the read, each before the read of its iteration."""
    bufs = gl.allocate_shared_memory(gl.float16, [S, M, M], SWIZZLED)
    for i in gl.static_range(2):
        cp.async_copy_global_to_shared(bufs.index(i % S), inp + i * M * M + _grid(ROWS))
        cp.commit_group()
    for k in range(K):
        cp.wait_group(1)
        gl.store(out + k * M * M + _grid(ROWS), bufs.index(k % S).load(ROWS))
        cp.async_copy_global_to_shared(bufs.index((k + 2) % S), inp + (k + 2) * M * M + _grid(ROWS))
        cp.commit_group()
    cp.wait_group(0)


@gluon.jit
def _count_load(desc, bufs, full, empty, K, V: gl.constexpr):
    index = 0
    phase = 1
    for k in range(K):
        mbarrier.wait(empty.index(index), phase)
        _load(desc, k * M, full.index(index), bufs.index(index))
        index += 1
        if index == 3:
            index = 0
            phase ^= 1


@gluon.jit
def _count_read(bufs, full, empty, out, K, V: gl.constexpr):
    index = 0 if V == "start" else -1
    phase = 0
    for k in range(K):
        index += 1
        if V == "wrap":
            if index > 3:
                index = 0
                phase ^= 1
        else:
            if index >= 3:
                index = 0
                phase ^= 1
        mbarrier.wait(full.index(index), phase)
        x = bufs.index(index).load(ROWS)
        fence_async_shared()
        mbarrier.arrive(empty.index(index), count=1)
        gl.store(out + k * M * M + _grid(ROWS), x)


@gluon.jit
def counter(desc, out, K, V: gl.constexpr):
    bufs = gl.allocate_shared_memory(gl.float16, [3, M, M], desc.layout)
    full = _bar(3, 1)
    empty = _bar(3, 1)
    gl.warp_specialize([(_count_read, (bufs, full, empty, out, K, V)), (_count_load, (desc, bufs, full, empty, K, V))], [1], [24])
    _done(full, 3)
    _done(empty, 3)


@gluon.jit
def _shared_load(desc, a, b, fa, fb, ea, eb, K):
    for k in range(K):
        mbarrier.wait(ea.index(k % 2), ((k // 2) & 1) ^ 1)
        _load(desc, k * M, fa.index(k % 2), a.index(k % 2))
        mbarrier.wait(eb.index(k % 3), ((k // 3) & 1) ^ 1)
        _load(desc, k * M, fb.index(k % 3), b.index(k % 3))


@gluon.jit
def _shared_read(a, b, fa, fb, ea, eb, out, K, V: gl.constexpr):
    for k in range(K):
        mbarrier.wait(fa.index(k % 2), (k // 2) & 1)
        mbarrier.wait(fb.index(k % 3), (k // 3) & 1)
        x = a.index(k % 2).load(ROWS)
        if V == "ok":
            x += b.index(k % 3).load(ROWS)
        else:
            x += b.index(k % 2).load(ROWS)
        fence_async_shared()
        mbarrier.arrive(ea.index(k % 2), count=1)
        mbarrier.arrive(eb.index(k % 3), count=1)
        gl.store(out + k * M * M + _grid(ROWS), x)


@gluon.jit
def two_rings(desc, out, K, V: gl.constexpr):
    a = gl.allocate_shared_memory(gl.float16, [2, M, M], desc.layout)
    b = gl.allocate_shared_memory(gl.float16, [3, M, M], desc.layout)
    fa = _bar(2, 1)
    ea = _bar(2, 1)
    fb = _bar(3, 1)
    eb = _bar(3, 1)
    gl.warp_specialize([(_shared_read, (a, b, fa, fb, ea, eb, out, K, V)), (_shared_load, (desc, a, b, fa, fb, ea, eb, K))], [1], [24])
    _done(fa, 2)
    _done(ea, 2)
    _done(fb, 3)
    _done(eb, 3)


@gluon.jit
def skewed_commit(inp, out, K, V: gl.constexpr):
    """A commit that only every second iteration makes: the waits cover one group too few."""
    bufs = gl.allocate_shared_memory(gl.float16, [2, M, M], SWIZZLED)
    cp.async_copy_global_to_shared(bufs.index(0), inp + _grid(ROWS))
    cp.commit_group()
    for k in range(K):
        cp.async_copy_global_to_shared(bufs.index((k + 1) % 2), inp + (k + 1) * M * M + _grid(ROWS))
        if V == "skewed":
            if k % 2 == 0:
                cp.commit_group()
        else:
            cp.commit_group()
        cp.wait_group(1)
        gl.store(out + k * M * M + _grid(ROWS), bufs.index(k % 2).load(ROWS))
    cp.wait_group(0)


@gluon.jit
def refill(desc, out, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [M, M], desc.layout)
    bars = _bar(1, 1)
    _load(desc, 0, bars.index(0), buf)
    mbarrier.wait(bars.index(0), 0)
    acc = warpgroup_mma(buf, buf, gl.zeros([M, M], gl.float32, MMA), is_async=True)
    if V == "ok":
        acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
    _load(desc, M, bars.index(0), buf)
    acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
    mbarrier.wait(bars.index(0), 1)
    _done(bars, 1)
    gl.store(out + _grid(MMA), acc)


@gluon.jit
def two_loads_bytes(desc, out, V: gl.constexpr):
    bufs = gl.allocate_shared_memory(gl.float16, [2, M, M], desc.layout)
    bar = _bar(1, 1)
    mbarrier.expect(bar.index(0), (2 if V == "ok" else 1) * desc.block_type.nbytes)
    for i in gl.static_range(2):
        tma.async_copy_global_to_shared(desc, [i * M, 0], bar.index(0), bufs.index(i))
    mbarrier.wait(bar.index(0), 0)
    x = bufs.index(0).load(ROWS) + bufs.index(1).load(ROWS)
    _done(bar, 1)
    gl.store(out + _grid(ROWS), x)


@gluon.jit
def zero_trips(desc, out, K, V: gl.constexpr):
    """A first load before a loop that waits for it, and K may be 0."""
    buf = gl.allocate_shared_memory(gl.float16, [M, M], desc.layout)
    bar = _bar(1, 1)
    if V == "ok":
        mbarrier.expect(bar.index(0), desc.block_type.nbytes, pred=K > 0)
        tma.async_copy_global_to_shared(desc, [0, 0], bar.index(0), buf, pred=K > 0)
    else:
        _load(desc, 0, bar.index(0), buf)
    for k in range(K):
        mbarrier.wait(bar.index(0), k & 1)
        x = buf.load(ROWS)
        fence_async_shared()
        mbarrier.expect(bar.index(0), desc.block_type.nbytes, pred=k + 1 < K)
        tma.async_copy_global_to_shared(desc, [(k + 1) * M, 0], bar.index(0), buf, pred=k + 1 < K)
        gl.store(out + k * M * M + _grid(ROWS), x)
    _done(bar, 1)


@gluon.jit
def last_prefetch(desc, out, K, V: gl.constexpr):
    """Loads two ahead: one too many is never waited for, and its barrier ends."""
    bufs = gl.allocate_shared_memory(gl.float16, [3, M, M], desc.layout)
    bars = _bar(3, 1)
    for i in gl.static_range(2):
        mbarrier.expect(bars.index(i), desc.block_type.nbytes, pred=i < K)
        tma.async_copy_global_to_shared(desc, [i * M, 0], bars.index(i), bufs.index(i), pred=i < K)
    for k in range(K):
        mbarrier.wait(bars.index(k % 3), (k // 3) & 1)
        x = bufs.index(k % 3).load(ROWS)
        fence_async_shared()
        if V == "ok":
            go = k < K - 2
        else:
            go = k < K - 1
        mbarrier.expect(bars.index((k + 2) % 3), desc.block_type.nbytes, pred=go)
        tma.async_copy_global_to_shared(desc, [(k + 2) * M, 0], bars.index((k + 2) % 3), bufs.index((k + 2) % 3), pred=go)
        gl.store(out + k * M * M + _grid(ROWS), x)
    _done(bars, 3)


# ---- views ----------------------------------------------------------------------------------------------------------
@gluon.jit
def _cols_write(buf):
    buf.slice(0, 64, dim=1).store(gl.full([M, 64], 1.0, gl.float16, ROWS))


@gluon.jit
def _cols_read(buf, out, V: gl.constexpr):
    x = buf.slice(64 if V == "ok" else 32, 32, dim=1).load(ROWS)
    gl.store(out + gl.arange(0, M, layout=gl.SliceLayout(1, ROWS)), gl.max(x, 1))


@gluon.jit
def columns(out, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [M, 128], gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))
    gl.warp_specialize([(_cols_read, (buf, out, V)), (_cols_write, (buf, ))], [4], [24])


@gluon.jit
def _turned_write(buf, bars):
    buf.store(gl.full([M, M], 1.0, gl.float16, ROWS))
    mbarrier.arrive(bars.index(0), count=1)


@gluon.jit
def _turned_read(buf, bars, out, V: gl.constexpr):
    if V == "ok":
        mbarrier.wait(bars.index(0), 0)
    gl.store(out + _grid(ROWS), buf.permute((1, 0)).load(ROWS))


@gluon.jit
def transposed(out, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [M, M], SWIZZLED)
    bars = _bar(1, 1)
    gl.warp_specialize([(_turned_read, (buf, bars, out, V)), (_turned_write, (buf, bars))], [4], [24])
    _done(bars, 1)


# ---- protocols -----------------------------------------------------------------------------------------------------------
@gluon.jit
def reused_count(V: gl.constexpr):
    """A barrier of count 1 serves a second protocol of two arrivals."""
    bars = _bar(1, 1)
    mbarrier.arrive(bars.index(0), count=1)
    mbarrier.wait(bars.index(0), 0)
    if V == "ok":
        mbarrier.arrive(bars.index(0), count=1)
    else:
        mbarrier.arrive(bars.index(0), count=2)
    mbarrier.wait(bars.index(0), 1)
    _done(bars, 1)


@gluon.jit
def _early_signal(bars, K, V: gl.constexpr):
    if V == "ok":
        mbarrier.arrive(bars.index(0), count=1)
    else:
        if K > 0:
            mbarrier.arrive(bars.index(0), count=1)


@gluon.jit
def _early_wait(bars):
    mbarrier.wait(bars.index(0), 0)


@gluon.jit
def early_return(K, V: gl.constexpr):
    bars = _bar(1, 1)
    gl.warp_specialize([(_early_wait, (bars, )), (_early_signal, (bars, K, V))], [4], [24])
    _done(bars, 1)


@gluon.jit
def _chain_load(desc, a, fa, ea, K):
    for k in range(K):
        mbarrier.wait(ea.index(k % 2), ((k // 2) & 1) ^ 1)
        _load(desc, k * M, fa.index(k % 2), a.index(k % 2))


@gluon.jit
def _chain_turn(a, b, fa, ea, fb, eb, K, V: gl.constexpr):
    for k in range(K):
        mbarrier.wait(fa.index(k % 2), (k // 2) & 1)
        x = a.index(k % 2).load(ROWS)
        fence_async_shared()
        mbarrier.arrive(ea.index(k % 2), count=1)
        mbarrier.wait(eb.index(k % 2), ((k // 2) & 1) ^ 1)
        if V == "early":
            mbarrier.arrive(fb.index(k % 2), count=1)
        b.index(k % 2).store(x + x)
        fence_async_shared()
        if V != "early":
            mbarrier.arrive(fb.index(0 if V == "one-slot" else k % 2), count=1)


@gluon.jit
def _chain_dot(b, fb, eb, out, K, V: gl.constexpr):
    acc = gl.zeros([M, M], gl.float32, MMA)
    for k in range(K):
        mbarrier.wait(fb.index(k % 2), (k // 2) & 1)
        acc = warpgroup_mma(b.index(k % 2), b.index(k % 2), acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
        mbarrier.arrive(eb.index(k % 2), count=1)
    gl.store(out + _grid(MMA), acc)


@gluon.jit
def chain(desc, out, K, V: gl.constexpr):
    """Load, convert, multiply in three partitions."""
    a = gl.allocate_shared_memory(gl.float16, [2, M, M], desc.layout)
    b = gl.allocate_shared_memory(gl.float16, [2, M, M], desc.layout)
    fa = _bar(2, 1)
    ea = _bar(2, 1)
    fb = _bar(2, 1)
    eb = _bar(2, 1)
    gl.warp_specialize([(_chain_dot, (b, fb, eb, out, K, V)), (_chain_turn, (a, b, fa, ea, fb, eb, K, V)),
                        (_chain_load, (desc, a, fa, ea, K))], [4, 1], [24, 24])
    _done(fa, 2)
    _done(ea, 2)
    _done(fb, 2)
    _done(eb, 2)


@gluon.jit
def _join_store(desc, buf, V: gl.constexpr):
    buf.store(gl.full([M, M], 1.0, gl.float16, ROWS))
    fence_async_shared()
    tma.async_copy_shared_to_global(desc, [0, 0], buf)
    if V == "ok":
        tma.store_wait(0)


@gluon.jit
def join_pending_store(desc, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [M, M], desc.layout)
    gl.warp_specialize([(_nothing, ()), (_join_store, (desc, buf, V))], [4], [24])
    buf.store(gl.full([M, M], 2.0, gl.float16, ROWS))


@gluon.jit
def _tile_load(desc, bufs, full, empty, K, V: gl.constexpr):
    count = 0
    for tile in range(3):
        for k in range(K):
            mbarrier.wait(empty.index(count % 2), ((count // 2) & 1) ^ 1)
            _load(desc, k * M, full.index(count % 2), bufs.index(count % 2))
            count += 1


@gluon.jit
def _tile_read(bufs, full, empty, out, K, V: gl.constexpr):
    count = 0
    for tile in range(3):
        for k in range(K):
            phase = (count // 2) & 1
            if V == "reset":
                phase = (k // 2) & 1
            mbarrier.wait(full.index(count % 2), phase)
            x = bufs.index(count % 2).load(ROWS)
            fence_async_shared()
            mbarrier.arrive(empty.index(count % 2), count=1)
            gl.store(out + k * M * M + _grid(ROWS), x)
            count += 1


@gluon.jit
def tiles(desc, out, K, V: gl.constexpr):
    """A ring over all tiles; the phase starts anew with each tile, which is right for some K only."""
    bufs = gl.allocate_shared_memory(gl.float16, [2, M, M], desc.layout)
    full = _bar(2, 1)
    empty = _bar(2, 1)
    gl.warp_specialize([(_tile_read, (bufs, full, empty, out, K, V)), (_tile_load, (desc, bufs, full, empty, K, V))], [1], [24])
    _done(full, 2)
    _done(empty, 2)


# ---- after reported bugs (labelled.txt) --------------------------------------------------------------------------------
@gluon.jit
def two_groups(inp, out, K, V: gl.constexpr):
    """Two commit groups a tile; the wait counts tiles, or groups."""
    a = gl.allocate_shared_memory(gl.float16, [2, M, M], SWIZZLED)
    b = gl.allocate_shared_memory(gl.float16, [2, M, M], SWIZZLED)
    cp.async_copy_global_to_shared(a.index(0), inp + _grid(ROWS))
    cp.commit_group()
    cp.async_copy_global_to_shared(b.index(0), inp + _grid(ROWS))
    cp.commit_group()
    for k in range(K):
        cp.async_copy_global_to_shared(a.index((k + 1) % 2), inp + (k + 1) * M * M + _grid(ROWS))
        cp.commit_group()
        cp.async_copy_global_to_shared(b.index((k + 1) % 2), inp + (k + 1) * M * M + _grid(ROWS))
        cp.commit_group()
        if V == "tiles":
            cp.wait_group(3)
        elif V == "ok":
            cp.wait_group(2)
        x = a.index(k % 2).load(ROWS) + b.index(k % 2).load(ROWS)
        gl.store(out + k * M * M + _grid(ROWS), x)
    cp.wait_group(0)


@gluon.jit
def one_buffered(inp, out, K, V: gl.constexpr):
    """A WGMMA stays outstanding while one of its operands, which has a single buffer, is stored again."""
    shared: gl.constexpr = gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)
    a = gl.allocate_shared_memory(gl.float16, [2, M, M], shared)
    b = gl.allocate_shared_memory(gl.float16, [2, M, M], shared)
    acc = gl.zeros([M, M], gl.float32, MMA)
    for k in range(K):
        a.index(k % 2).store(gl.load(inp + k * M * M + _grid(ROWS)))
        b.index(k % 2 if V == "ok" else 0).store(gl.load(inp + k * M * M + _grid(ROWS)))
        fence_async_shared()
        acc = warpgroup_mma(a.index(k % 2), b.index(k % 2 if V == "ok" else 0), acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=1, deps=(acc, ))
    acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
    gl.store(out + _grid(MMA), acc)


@gluon.jit
def _loop_fence_write(buf, bar, K, V: gl.constexpr):
    buf.store(gl.full([M, M], 1.0, gl.float16, ROWS))
    for k in range(K):
        fence_async_shared()
    if V == "ok":
        fence_async_shared()
    mbarrier.arrive(bar.index(0), count=1)


@gluon.jit
def _loop_fence_store(desc, buf, bar):
    mbarrier.wait(bar.index(0), 0)
    tma.async_copy_shared_to_global(desc, [0, 0], buf)
    tma.store_wait(0)


@gluon.jit
def fence_in_loop(desc, K, V: gl.constexpr):
    """The only fence is in a loop that may run no iteration."""
    buf = gl.allocate_shared_memory(gl.float16, [M, M], desc.layout)
    bar = _bar(1, 1)
    gl.warp_specialize([(_loop_fence_write, (buf, bar, K, V)), (_loop_fence_store, (desc, buf, bar))], [4], [24])
    _done(bar, 1)


@gluon.jit
def _mail_write(buf, ready, free, K, V: gl.constexpr):
    for k in range(K):
        if V == "ok":
            mbarrier.wait(free.index(0), (k & 1) ^ 1)
        buf.store(gl.full([M, M], 1.0, gl.float16, ROWS))
        mbarrier.arrive(ready.index(0), count=1)


@gluon.jit
def _mail_read(buf, ready, free, K, out, me: gl.constexpr):
    for k in range(K):
        mbarrier.wait(ready.index(0), k & 1)
        x = buf.load(ROWS)
        mbarrier.arrive(free.index(0), count=1)
        gl.store(out + me * M * M + _grid(ROWS), x)


@gluon.jit
def _mail0(buf, ready, free, K, out):
    _mail_read(buf, ready, free, K, out, 0)


@gluon.jit
def _mail1(buf, ready, free, K, out):
    _mail_read(buf, ready, free, K, out, 1)


@gluon.jit
def _mail2(buf, ready, free, K, out):
    _mail_read(buf, ready, free, K, out, 2)


@gluon.jit
def mailbox(out, K, V: gl.constexpr):
    """One buffer, three readers, no barrier that says it is free."""
    buf = gl.allocate_shared_memory(gl.float16, [M, M], SWIZZLED)
    ready = _bar(1, 1)
    free = _bar(1, 3)
    gl.warp_specialize([(_mail0, (buf, ready, free, K, out)), (_mail1, (buf, ready, free, K, out)), (_mail2, (buf, ready, free, K, out)),
                        (_mail_write, (buf, ready, free, K, V))], [4, 4, 4], [24, 24, 24])
    _done(ready, 1)
    _done(free, 1)


TESTS = {
    "cp_depth": ("iok", {3: (), 1: ("PEND-CP", )}),
    "counter": ("dok", {"ok": (), "start": ("BAR-STUCK", ), "wrap": ("SLOT-RANGE", )}),
    "two_rings": ("dok", {"ok": (), "shared": ("SHM-RAW", )}),
    "skewed_commit": ("iok", {"ok": (), "skewed": ("PEND-CP", )}),
    "refill": ("do", {"ok": (), "unwaited": ("PEND-WGMMA", )}),
    "two_loads_bytes": ("do", {"ok": (), "one": ("SHM-RAW", )}),
    "zero_trips": ("dok", {"ok": (), "always": ("BAR-INVAL-PENDING", )}),
    "last_prefetch": ("dok", {"ok": (), "more": ("BAR-INVAL-PENDING", )}),
    "columns": ("o", {"ok": (), "overlap": ("SHM-RAW", )}),
    "transposed": ("o", {"ok": (), "unwaited": ("SHM-RAW", )}),
    "reused_count": ("", {"ok": (), "two": ("BAR-UNDERFLOW", )}),
    "early_return": ("k", {"ok": (), "guarded": ("BAR-STUCK", )}),
    "chain": ("dok", {"ok": (), "one-slot": ("BAR-STUCK", ), "early": ("SHM-RAW", )}),
    "join_pending_store": ("d", {"ok": (), "pending": ("PEND-TMAST", )}),
    "tiles": ("dok", {"ok": (), "reset": ("PHASE-LAP", )}),
    "two_groups": ("iok", {"ok": (), "tiles": ("PEND-CP", )}),
    "one_buffered": ("iok", {"ok": (), "single": ("PEND-WGMMA", )}),
    "fence_in_loop": ("dk", {"ok": (), "loop": ("PROXY-FENCE", )}),
    "mailbox": ("ok", {"ok": (), "no-free": ("SHM-WAR", )}),
}
