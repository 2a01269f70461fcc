"""More rings of our own: a ring over two loops, consumers that take turns, delayed hand-backs, operands at half the rate.
V = "ok" is correct, every other value broken in one way; as kernels.py."""
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma

M = gl.constexpr(64)
ROWS = gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0]))


@gluon.jit
def _grid(layout: gl.constexpr):
    return gl.arange(0, M, layout=gl.SliceLayout(1, layout))[:, None] * M + gl.arange(0, M, layout=gl.SliceLayout(0, layout))[None, :]


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


# ---- two loops after each other, one ring ------------------------------------------------------------------------
@gluon.jit
def _tl_load(desc, bufs, full, empty, K, L, S: gl.constexpr, V: gl.constexpr):
    slot = 0
    ph = 1
    for k in range(K):
        mbarrier.wait(empty.index(slot), ph)
        mbarrier.expect(full.index(slot), desc.block_type.nbytes)
        tma.async_copy_global_to_shared(desc, [0, k * M], full.index(slot), bufs.index(slot))
        slot += 1
        if slot == S:
            slot = 0
            ph ^= 1
    if V == "producer-reset":
        slot = 0
        ph = 1
    for k in range(L):
        mbarrier.wait(empty.index(slot), ph)
        mbarrier.expect(full.index(slot), desc.block_type.nbytes)
        tma.async_copy_global_to_shared(desc, [0, k * M], full.index(slot), bufs.index(slot))
        slot += 1
        if slot == S:
            slot = 0
            ph ^= 1


@gluon.jit
def _tl_use(out, bufs, full, empty, K, L, S: gl.constexpr, V: gl.constexpr):
    slot = 0
    ph = 0
    for k in range(K):
        mbarrier.wait(full.index(slot), ph)
        x = bufs.index(slot).load(ROWS)
        gl.store(out + k * M * M + _grid(ROWS), x)
        fence_async_shared()
        mbarrier.arrive(empty.index(slot), count=1)
        slot += 1
        if slot == S:
            slot = 0
            ph ^= 1
    if V == "consumer-reset":
        slot = 0
        ph = 0
    if V == "same-phase":
        ph = 0
    for k in range(L):
        mbarrier.wait(full.index(slot), ph)
        x = bufs.index(slot).load(ROWS)
        gl.store(out + k * M * M + _grid(ROWS), x)
        fence_async_shared()
        mbarrier.arrive(empty.index(slot), count=1)
        slot += 1
        if slot == S:
            slot = 0
            ph ^= 1


@gluon.jit
def two_loops(desc, out, K, L, S: gl.constexpr, V: gl.constexpr):
    bufs = gl.allocate_shared_memory(gl.float16, [S, M, M], desc.layout)
    full = _bars(S, 1)
    empty = _bars(S, 1)
    gl.warp_specialize([(_tl_use, (out, bufs, full, empty, K, L, S, V)), (_tl_load, (desc, bufs, full, empty, K, L, S, V))], [1], [24])
    _inval(full, S)
    _inval(empty, S)


# ---- consumers that take turns: with an even number of slots each has slots of its own ------------------------------
@gluon.jit
def _turn_load(desc, bufs, full, empty, K, S: gl.constexpr, V: gl.constexpr):
    for k in range(K):
        s = k % S
        mbarrier.wait(empty.index(s), ((k // S) & 1) ^ 1)
        mbarrier.expect(full.index(s), desc.block_type.nbytes)
        tma.async_copy_global_to_shared(desc, [0, k * M], full.index(s), bufs.index(s))


@gluon.jit
def _turn_use(out, bufs, full, empty, K, S: gl.constexpr, first: gl.constexpr, V: gl.constexpr):
    for k in range(first, K, 2):
        s = k % S
        if V == "phase-of-own":
            mbarrier.wait(full.index(s), (k // 2 // S) & 1)
        else:
            mbarrier.wait(full.index(s), (k // S) & 1)
        x = bufs.index(s).load(ROWS)
        gl.store(out + k * M * M + _grid(ROWS), x)
        fence_async_shared()
        if V == "early-next":
            mbarrier.arrive(empty.index((k + 1) % S), count=1)
        else:
            mbarrier.arrive(empty.index(s), count=1)


@gluon.jit
def turns(desc, out, K, S: gl.constexpr, V: gl.constexpr):
    bufs = gl.allocate_shared_memory(gl.float16, [S, M, M], desc.layout)
    full = _bars(S, 1)
    empty = _bars(S, 1)
    gl.warp_specialize([(_turn_use, (out, bufs, full, empty, K, S, 0, V)), (_turn_use, (out, bufs, full, empty, K, S, 1, V)),
                        (_turn_load, (desc, bufs, full, empty, K, S, V))], [4, 1], [24, 24])
    _inval(full, S)
    _inval(empty, S)


# ---- TMA stores by a partition of their own; slots are handed back P stores later -----------------------------------
@gluon.jit
def _st_make(inp, bufs, ready, free, K, S: gl.constexpr, V: gl.constexpr):
    for k in range(K):
        s = k % S
        x = gl.load(inp + k * M * M + _grid(ROWS))
        if V != "no-free-wait":
            mbarrier.wait(free.index(s), ((k // S) & 1) ^ 1)
        bufs.index(s).store(x)
        if V != "no-fence":
            fence_async_shared()
        mbarrier.arrive(ready.index(s), count=1)


@gluon.jit
def _st_send(desc, bufs, ready, free, K, S: gl.constexpr, P: gl.constexpr, V: gl.constexpr):
    for k in range(K):
        s = k % S
        mbarrier.wait(ready.index(s), (k // S) & 1)
        tma.async_copy_shared_to_global(desc, [0, k * M], bufs.index(s))
        tma.store_wait(P)
        if V == "current":
            mbarrier.arrive(free.index(s), count=1)
        else:
            mbarrier.arrive(free.index((k + S - P) % S), count=1, pred=k >= P)
    tma.store_wait(0)


@gluon.jit
def staging(inp, desc, K, S: gl.constexpr, P: gl.constexpr, V: gl.constexpr):
    bufs = gl.allocate_shared_memory(gl.float16, [S, M, M], desc.layout)
    ready = _bars(S, 1)
    free = _bars(S, 1)
    gl.warp_specialize([(_st_make, (inp, bufs, ready, free, K, S, V)), (_st_send, (desc, bufs, ready, free, K, S, P, V))], [1], [24])
    _inval(ready, S)
    _inval(free, S)


# ---- one operand is loaded every second iteration ---------------------------------------------------------------------
@gluon.jit
def _half_load(da, db, abufs, bbuf, full, empty, K, V: gl.constexpr):
    for k in range(K):
        s = k % 2
        mbarrier.wait(empty.index(s), ((k // 2) & 1) ^ 1)
        if k % 2 == 0:
            if V == "bytes":
                mbarrier.expect(full.index(s), da.block_type.nbytes)
            else:
                mbarrier.expect(full.index(s), da.block_type.nbytes + db.block_type.nbytes)
            tma.async_copy_global_to_shared(db, [0, k * M], full.index(s), bbuf)
        else:
            mbarrier.expect(full.index(s), da.block_type.nbytes)
        tma.async_copy_global_to_shared(da, [0, k * M], full.index(s), abufs.index(s))


@gluon.jit
def _half_use(out, abufs, bbuf, full, empty, K, V: gl.constexpr):
    for k in range(K):
        s = k % 2
        mbarrier.wait(full.index(s), (k // 2) & 1)
        x = abufs.index(s).load(ROWS) + bbuf.load(ROWS)
        gl.store(out + k * M * M + _grid(ROWS), x)
        fence_async_shared()
        mbarrier.arrive(empty.index(s), count=1)


@gluon.jit
def _half_use_ok(out, abufs, bbuf, full, empty, K, V: gl.constexpr):
    # frees slot 0 only after the odd iteration has read bbuf too
    for k in range(K):
        s = k % 2
        mbarrier.wait(full.index(s), (k // 2) & 1)
        x = abufs.index(s).load(ROWS) + bbuf.load(ROWS)
        gl.store(out + k * M * M + _grid(ROWS), x)
        fence_async_shared()
        if s == 1:
            mbarrier.arrive(empty.index(0), count=1)
            mbarrier.arrive(empty.index(1), count=1)


@gluon.jit
def half_rate(da, db, out, K, V: gl.constexpr):
    abufs = gl.allocate_shared_memory(gl.float16, [2, M, M], da.layout)
    bbuf = gl.allocate_shared_memory(gl.float16, [M, M], db.layout)
    full = _bars(2, 1)
    empty = _bars(2, 1)
    if V == "ok" or V == "bytes":
        gl.warp_specialize([(_half_use_ok, (out, abufs, bbuf, full, empty, K, V)), (_half_load, (da, db, abufs, bbuf, full, empty, K, V))], [1], [24])
    else:
        gl.warp_specialize([(_half_use, (out, abufs, bbuf, full, empty, K, V)), (_half_load, (da, db, abufs, bbuf, full, empty, K, V))], [1], [24])
    _inval(full, 2)
    _inval(empty, 2)
