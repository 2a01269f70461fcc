"""Our own Gluon kernels: rings, hand-offs and tensor memory, each correct as V = "ok" and broken in one way by every
other value of V. Compiled on the host by build.py; the texts under ttgir/ are what the tests read."""
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy as cp
from triton.experimental.gluon.language.nvidia.hopper import (fence_async_shared, mbarrier, tma, warpgroup_mma,
                                                              warpgroup_mma_wait)
from triton.experimental.gluon.language.nvidia.blackwell import (TensorMemoryLayout, allocate_tensor_memory,
                                                                 tcgen05_commit, tcgen05_mma)

M = gl.constexpr(64)


# ---- 4.8: one producer of TMA loads, one consumer with asynchronous WGMMA ---------------------------------------
@gluon.jit
def _ring_load(desc, bufs, full, empty, K, S: gl.constexpr, V: gl.constexpr):
    for k in range(K):
        slot = k % S
        if V == "late-wait":
            mbarrier.expect(full.index(slot), desc.block_type.nbytes)
            tma.async_copy_global_to_shared(desc, [0, k * M], full.index(slot), bufs.index(slot))
            mbarrier.wait(empty.index(slot), ((k // S) & 1) ^ 1)
        else:
            if V == "initial-phase":
                mbarrier.wait(empty.index(slot), (k // S) & 1)
            elif V != "no-empty-wait":
                mbarrier.wait(empty.index(slot), ((k // S) & 1) ^ 1)
            if V == "few-bytes":
                mbarrier.expect(full.index(slot), desc.block_type.nbytes - 16)
            elif V == "tma-first":
                tma.async_copy_global_to_shared(desc, [0, k * M], full.index(slot), bufs.index(slot))
                mbarrier.expect(full.index(slot), desc.block_type.nbytes)
            else:
                mbarrier.expect(full.index(slot), desc.block_type.nbytes)
            if V != "tma-first":
                tma.async_copy_global_to_shared(desc, [0, k * M], full.index(slot), bufs.index(slot))


@gluon.jit
def _ring_dot(bufs, full, empty, out, K, S: gl.constexpr, V: gl.constexpr):
    acc_layout: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 64, 16])
    acc = gl.zeros([M, M], gl.float32, layout=acc_layout)
    for k in range(K):
        slot = k % S
        if V == "full-phase":
            mbarrier.wait(full.index(slot), ((k // S) & 1) ^ 1)
        elif V == "flip-each":
            mbarrier.wait(full.index(slot), k & 1)
        elif V != "no-full-wait":
            mbarrier.wait(full.index(slot), (k // S) & 1)
        if V == "early-arrive":
            mbarrier.arrive(empty.index(slot), count=1)
        read = slot
        if V == "wrong-slot":
            read = (k + 1) % S
        acc = warpgroup_mma(bufs.index(read), bufs.index(read).permute((1, 0)), acc, is_async=True)
        if V == "pendings":
            acc = warpgroup_mma_wait(num_outstanding=1, deps=(acc, ))
        else:
            acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
        if V == "two-arrives":
            mbarrier.arrive(empty.index(slot), count=1)
            mbarrier.arrive(empty.index(slot), count=1)
        elif V == "arrive-count":
            mbarrier.arrive(empty.index(slot), count=2)
        elif V != "early-arrive" and V != "no-arrive":
            mbarrier.arrive(empty.index(slot), count=1)
    acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
    offs_m = gl.arange(0, M, layout=gl.SliceLayout(1, acc_layout))
    offs_n = gl.arange(0, M, layout=gl.SliceLayout(0, acc_layout))
    gl.store(out + offs_m[:, None] * M + offs_n[None, :], acc)


@gluon.jit
def ring_wgmma(desc, out, K, S: gl.constexpr, V: gl.constexpr):
    bufs = gl.allocate_shared_memory(gl.float16, [S, M, M], desc.layout)
    full = gl.allocate_shared_memory(gl.int64, [S, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [S, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(S):
        mbarrier.init(full.index(i), count=2 if V == "full-count" else 1)
        mbarrier.init(empty.index(i), count=2 if V == "empty-count" else 1)
    if V == "swapped":
        gl.warp_specialize([(_ring_dot, (bufs, full, empty, out, K, S, V)), (_ring_load, (desc, bufs, empty, full, K, S, V))], [1], [24])
    else:
        gl.warp_specialize([(_ring_dot, (bufs, full, empty, out, K, S, V)), (_ring_load, (desc, bufs, full, empty, K, S, V))], [1], [24])
    for i in gl.static_range(S):
        mbarrier.invalidate(full.index(i))
        mbarrier.invalidate(empty.index(i))


RING = ["ok", "no-empty-wait", "initial-phase", "full-phase", "empty-count", "full-count", "two-arrives", "arrive-count",
        "pendings", "late-wait", "few-bytes", "tma-first", "no-full-wait", "flip-each", "early-arrive", "wrong-slot",
        "no-arrive", "swapped"]


# ---- two readers of one ring, counters carried in the Gluon style -------------------------------------------------
@gluon.jit
def _pair_load(desc, bufs, full, empty, K, S: gl.constexpr, V: gl.constexpr):
    index = 0
    phase = 1
    for k in range(K):
        mbarrier.wait(empty.index(index), phase)
        mbarrier.expect(full.index(index), desc.block_type.nbytes)
        tma.async_copy_global_to_shared(desc, [0, k * M], full.index(index), bufs.index(index))
        index += 1
        if index == S:
            index = 0
            phase ^= 1


@gluon.jit
def _pair_read(bufs, full, empty, out, K, S: gl.constexpr, V: gl.constexpr, me: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    offs_m = gl.arange(0, M, layout=gl.SliceLayout(1, layout))
    offs_n = gl.arange(0, M, layout=gl.SliceLayout(0, layout))
    index = 0
    phase = 0
    for k in range(K):
        if not (V == "reader-no-wait" and me == 1):
            mbarrier.wait(full.index(index), phase)
        x = bufs.index(index).load(layout)
        if V != "no-fence":
            fence_async_shared()
        if not (V == "one-arrives" and me == 1):
            mbarrier.arrive(empty.index(index), count=1)
        gl.store(out + (me * K + k) * M * M + offs_m[:, None] * M + offs_n[None, :], x)
        index += 1
        if index == S:
            index = 0
            phase ^= 1


@gluon.jit
def _pair_first(bufs, full, empty, out, K, S: gl.constexpr, V: gl.constexpr):
    _pair_read(bufs, full, empty, out, K, S, V, 0)


@gluon.jit
def _pair_second(bufs, full, empty, out, K, S: gl.constexpr, V: gl.constexpr):
    _pair_read(bufs, full, empty, out, K, S, V, 1)


@gluon.jit
def ring_readers(desc, out, K, S: gl.constexpr, V: gl.constexpr):
    bufs = gl.allocate_shared_memory(gl.float16, [S, M, M], desc.layout)
    full = gl.allocate_shared_memory(gl.int64, [S, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [S, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(S):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1 if V == "count-one" else 2)
    gl.warp_specialize([(_pair_first, (bufs, full, empty, out, K, S, V)), (_pair_second, (bufs, full, empty, out, K, S, V)),
                        (_pair_load, (desc, bufs, full, empty, K, S, V))], [4, 1], [24, 24])
    for i in gl.static_range(S):
        mbarrier.invalidate(full.index(i))
        mbarrier.invalidate(empty.index(i))


READERS = ["ok", "reader-no-wait", "no-fence", "one-arrives", "count-one"]


# ---- cp.async ring of one partition ------------------------------------------------------------------------------
@gluon.jit
def ring_cp(inp, out, K, S: gl.constexpr, D: gl.constexpr, N: gl.constexpr, V: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    smem: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    offs = gl.arange(0, M, layout=gl.SliceLayout(1, layout))[:, None] * M + gl.arange(0, M, layout=gl.SliceLayout(0, layout))[None, :]
    bufs = gl.allocate_shared_memory(gl.float16, [S, M, M], smem)
    for i in gl.static_range(D):
        cp.async_copy_global_to_shared(bufs.index(i), inp + i * M * M + offs, mask=offs * 0 + i < K)
        cp.commit_group()
    for k in range(K):
        if V != "no-wait":
            cp.wait_group(N)
        x = bufs.index(k % S).load(layout)
        cp.async_copy_global_to_shared(bufs.index((k + D) % S), inp + (k + D) * M * M + offs, mask=offs * 0 + k + D < K)
        if V != "no-commit":
            cp.commit_group()
        gl.store(out + k * M * M + offs, x)
    cp.wait_group(0)


# ---- cp.async whose completion is an arrival at a barrier ---------------------------------------------------------
@gluon.jit
def cp_arrive(inp, out, K, S: gl.constexpr, V: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    smem: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
    offs = gl.arange(0, M, layout=gl.SliceLayout(1, layout))[:, None] * M + gl.arange(0, M, layout=gl.SliceLayout(0, layout))[None, :]
    bufs = gl.allocate_shared_memory(gl.float16, [S, M, M], smem)
    full = gl.allocate_shared_memory(gl.int64, [S, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(S):
        if V == "increment":
            mbarrier.init(full.index(i), count=1)
        else:
            mbarrier.init(full.index(i), count=64 if V == "count-half" else 128)
    for k in range(K):
        slot = k % S
        cp.async_copy_global_to_shared(bufs.index(slot), inp + k * M * M + offs)
        if V == "increment":
            cp.mbarrier_arrive(full.index(slot), increment_count=True)
            mbarrier.arrive(full.index(slot), count=1)
        else:
            cp.mbarrier_arrive(full.index(slot), increment_count=False)
        if V != "no-wait":
            mbarrier.wait(full.index(slot), (k // S) & 1)
        x = bufs.index(slot).load(layout)
        gl.store(out + k * M * M + offs, x)


CP_ARRIVE = ["ok", "no-wait", "count-half", "increment"]


# ---- TMA store ring of one partition --------------------------------------------------------------------------------
@gluon.jit
def ring_store(inp, desc, K, S: gl.constexpr, N: gl.constexpr, V: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    offs = gl.arange(0, M, layout=gl.SliceLayout(1, layout))[:, None] * M + gl.arange(0, M, layout=gl.SliceLayout(0, layout))[None, :]
    bufs = gl.allocate_shared_memory(gl.float16, [S, M, M], desc.layout)
    for k in range(K):
        x = gl.load(inp + k * M * M + offs)
        if V != "no-wait":
            tma.store_wait(N)
        slot = k % S
        if V == "alternate-two":
            slot = (k // 2) % S
        bufs.index(slot).store(x)
        fence_async_shared()
        tma.async_copy_shared_to_global(desc, [k * M, 0], bufs.index(slot))
    tma.store_wait(0)


# ---- generic hand-off between partitions, with a TMA store at the end ------------------------------------------------
@gluon.jit
def _hand_write(inp, buf, ready, taken, K, V: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    offs = gl.arange(0, M, layout=gl.SliceLayout(1, layout))[:, None] * M + gl.arange(0, M, layout=gl.SliceLayout(0, layout))[None, :]
    for k in range(K):
        x = gl.load(inp + k * M * M + offs)
        if V != "no-taken-wait":
            mbarrier.wait(taken, (k & 1) ^ 1)
        buf.store(x)
        if V == "fence-late":
            mbarrier.arrive(ready, count=1)
            fence_async_shared()
        else:
            if V != "no-fence":
                fence_async_shared()
            mbarrier.arrive(ready, count=1)


@gluon.jit
def _hand_store(desc, buf, ready, taken, K, V: gl.constexpr):
    for k in range(K):
        if V != "no-ready-wait":
            mbarrier.wait(ready, k & 1)
        tma.async_copy_shared_to_global(desc, [k * M, 0], buf)
        if V != "no-store-wait":
            tma.store_wait(0)
        mbarrier.arrive(taken, count=1)


@gluon.jit
def handoff_store(inp, desc, K, V: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float16, [M, M], desc.layout)
    ready = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    taken = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(ready, count=1)
    mbarrier.init(taken, count=1)
    gl.warp_specialize([(_hand_write, (inp, buf, ready, taken, K, V)), (_hand_store, (desc, buf, ready, taken, K, V))], [4], [24])
    mbarrier.invalidate(ready)
    mbarrier.invalidate(taken)


HANDOFF = ["ok", "no-taken-wait", "fence-late", "no-fence", "no-ready-wait", "no-store-wait"]


# ---- Blackwell: loads, tensor core, epilogue in three partitions ------------------------------------------------------
@gluon.jit
def _tc_load(desc, bufs, full, empty, K, S: gl.constexpr, V: gl.constexpr):
    for k in range(K):
        slot = k % S
        if V != "no-empty-wait":
            mbarrier.wait(empty.index(slot), ((k // S) & 1) ^ 1)
        mbarrier.expect(full.index(slot), desc.block_type.nbytes)
        tma.async_copy_global_to_shared(desc, [0, k * 128], full.index(slot), bufs.index(slot))


@gluon.jit
def _tc_mma(bufs, acc, full, empty, done, K, S: gl.constexpr, V: gl.constexpr):
    use = False
    if V == "commit-early":
        tcgen05_commit(done)
    for k in range(K):
        slot = k % S
        if V != "no-full-wait":
            mbarrier.wait(full.index(slot), (k // S) & 1)
        if V == "plain-arrive":
            tcgen05_mma(bufs.index(slot), bufs.index(slot).permute((1, 0)), acc, use_acc=use, mbarriers=[done],
                        mbarrier_preds=[k == K - 1])
            mbarrier.arrive(empty.index(slot), count=1)
        elif V == "commit":
            tcgen05_mma(bufs.index(slot), bufs.index(slot).permute((1, 0)), acc, use_acc=use, mbarriers=[done],
                        mbarrier_preds=[False])
            tcgen05_commit(empty.index(slot))
        else:
            tcgen05_mma(bufs.index(slot), bufs.index(slot).permute((1, 0)), acc, use_acc=use, mbarriers=[empty.index(slot)])
        use = True
    if V != "commit-early" and V != "plain-arrive":
        tcgen05_commit(done)


@gluon.jit
def _tc_epilogue(out, acc, done, V: gl.constexpr):
    if V != "no-done-wait":
        mbarrier.wait(done, 0)
    layout: gl.constexpr = gl.BlockedLayout([1, 128], [32, 1], [4, 1], [0, 1])
    x = acc.load(acc.get_reg_layout())
    x = gl.convert_layout(x, layout)
    offs = gl.arange(0, 128, layout=gl.SliceLayout(1, layout))[:, None] * 128 + gl.arange(0, 128, layout=gl.SliceLayout(0, layout))[None, :]
    gl.store(out + offs, x)


@gluon.jit
def ring_tcgen05(desc, out, K, S: gl.constexpr, V: gl.constexpr):
    bufs = gl.allocate_shared_memory(gl.float16, [S, 128, 128], desc.layout)
    full = gl.allocate_shared_memory(gl.int64, [S, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [S, 1], mbarrier.MBarrierLayout())
    done = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    layout: gl.constexpr = TensorMemoryLayout([128, 128], col_stride=1)
    acc = allocate_tensor_memory(gl.float32, [128, 128], layout)
    for i in gl.static_range(S):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    mbarrier.init(done, count=1)
    gl.warp_specialize([(_tc_epilogue, (out, acc, done, V)), (_tc_mma, (bufs, acc, full, empty, done, K, S, V)),
                        (_tc_load, (desc, bufs, full, empty, K, S, V))], [1, 1], [24, 24])
    for i in gl.static_range(S):
        mbarrier.invalidate(full.index(i))
        mbarrier.invalidate(empty.index(i))
    mbarrier.invalidate(done)


TCGEN05 = ["ok", "no-empty-wait", "no-full-wait", "commit-early", "plain-arrive", "no-done-wait", "commit"]


# ---- Triton's own order: TMA ring and WGMMA in one partition --------------------------------------------------------------
@gluon.jit
def ring_single(desc, out, K, S: gl.constexpr, D: gl.constexpr, P: gl.constexpr):
    acc_layout: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 64, 16])
    bufs = gl.allocate_shared_memory(gl.float16, [S, M, M], desc.layout)
    full = gl.allocate_shared_memory(gl.int64, [S, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(S):
        mbarrier.init(full.index(i), count=1)
    for i in gl.static_range(D):
        mbarrier.expect(full.index(i), desc.block_type.nbytes, pred=i < K)
        tma.async_copy_global_to_shared(desc, [0, i * M], full.index(i), bufs.index(i), pred=i < K)
    acc = gl.zeros([M, M], gl.float32, layout=acc_layout)
    for k in range(K):
        slot = k % S
        mbarrier.wait(full.index(slot), (k // S) & 1)
        acc = warpgroup_mma(bufs.index(slot), bufs.index(slot).permute((1, 0)), acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=P, deps=(acc, ))
        nxt = (k + D) % S
        mbarrier.expect(full.index(nxt), desc.block_type.nbytes, pred=k + D < K)
        tma.async_copy_global_to_shared(desc, [0, (k + D) * M], full.index(nxt), bufs.index(nxt), pred=k + D < K)
    acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
    for i in gl.static_range(S):
        mbarrier.invalidate(full.index(i))
    offs_m = gl.arange(0, M, layout=gl.SliceLayout(1, acc_layout))
    offs_n = gl.arange(0, M, layout=gl.SliceLayout(0, acc_layout))
    gl.store(out + offs_m[:, None] * M + offs_n[None, :], acc)
