"""Gluon kernels with a loop of tiles and one ring over all of them, each correct as V = "ok" and in some other ways, and
broken by the other values of V. build.py compiles them too."""
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (fence_async_shared, mbarrier, tma, warpgroup_mma,
                                                              warpgroup_mma_wait)
from triton.experimental.gluon.language.nvidia.blackwell import (TensorMemoryLayout, allocate_tensor_memory,
                                                                 tcgen05_commit, tcgen05_mma)

M = gl.constexpr(64)


@gluon.jit
def _steps(tile, K, V: gl.constexpr):
    """Inner iterations of a tile: all alike, or from none to two times K."""
    n = K
    if V == "uneven":
        n = K * (tile % 3)
    elif V == "causal":
        n = tile + 1
    return n


# ---- Hopper: one partition loads, the default one multiplies and stores its tile through a staging buffer -------------
@gluon.jit
def _load(desc, bufs, full, empty, tiles, K, S: gl.constexpr, V: gl.constexpr):
    count = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        for k in range(_steps(tile, K, V)):
            slot = count % S
            if V != "no-empty-wait":
                mbarrier.wait(empty.index(slot), ((count // S) & 1) ^ (0 if V == "initial-phase" else 1))
            mbarrier.expect(full.index(slot), desc.block_type.nbytes)
            tma.async_copy_global_to_shared(desc, [tile * M, k * M], full.index(slot), bufs.index(slot))
            count += 1


@gluon.jit
def _multiply(bufs, full, empty, stage, out, tiles, K, S: gl.constexpr, V: gl.constexpr):
    acc_layout: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 64, 16])
    slot = 0
    phase = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        acc = gl.zeros([M, M], gl.float32, layout=acc_layout)
        n = _steps(tile, K, V)
        if V == "other-bound":
            n = K + 1
        if V == "reset":
            slot = 0
            phase = 0
        for k in range(n):
            mbarrier.wait(full.index(slot), phase)
            if V == "early-arrive":
                mbarrier.arrive(empty.index(slot), count=1)
            acc = warpgroup_mma(bufs.index(slot), bufs.index(slot).permute((1, 0)), acc, is_async=True)
            if V == "pendings":
                acc = warpgroup_mma_wait(num_outstanding=1, deps=(acc, ))
            else:
                acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
            if V == "deeper":                         # once, as min(tile + 1, 1) is 1; but the bound depends on the tile
                for _ in range(min(tile + 1, 1)):
                    mbarrier.arrive(empty.index(slot), count=1)
            elif V != "early-arrive":
                mbarrier.arrive(empty.index(slot), count=1)
            slot += 1
            if V == "long-wrap":
                wrap = slot == S + 1
            else:
                wrap = slot == S
            slot = 0 if wrap else slot
            phase = phase ^ 1 if wrap else phase
        if V == "pendings":
            acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
        if V != "no-store-wait":
            tma.store_wait(0)
        stage.store(acc.to(gl.float16))
        fence_async_shared()
        tma.async_copy_shared_to_global(out, [tile * M, 0], stage)
    tma.store_wait(0)


@gluon.jit
def tiles_wgmma(desc, out, tiles, K, S: gl.constexpr, V: gl.constexpr):
    bufs = gl.allocate_shared_memory(gl.float16, [S, M, M], desc.layout)
    stage = gl.allocate_shared_memory(gl.float16, [M, M], desc.layout)
    full = gl.allocate_shared_memory(gl.int64, [S, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [S, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(S):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    gl.warp_specialize([(_multiply, (bufs, full, empty, stage, out, tiles, K, S, V)),
                        (_load, (desc, bufs, full, empty, tiles, K, S, V))], [1], [24])
    for i in gl.static_range(S):
        mbarrier.invalidate(full.index(i))
        mbarrier.invalidate(empty.index(i))


WGMMA = ["ok", "uneven", "causal", "deeper", "no-empty-wait", "initial-phase", "early-arrive", "pendings", "reset", "long-wrap", "other-bound", "no-store-wait"]


# ---- Blackwell: loads, tensor core and epilogue; two accumulators, one a tile ---------------------------------------------
@gluon.jit
def _tc_load(desc, bufs, full, empty, tiles, K, S: gl.constexpr, V: gl.constexpr):
    count = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        for k in range(_steps(tile, K, V)):
            slot = count % S
            mbarrier.wait(empty.index(slot), ((count // S) & 1) ^ 1)
            mbarrier.expect(full.index(slot), desc.block_type.nbytes)
            tma.async_copy_global_to_shared(desc, [tile * 128, k * 128], full.index(slot), bufs.index(slot))
            count += 1


@gluon.jit
def _tc_mma(bufs, accs, full, empty, acc_full, acc_empty, tiles, K, S: gl.constexpr, V: gl.constexpr):
    count = 0
    number = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        which = number % 2
        if V != "no-acc-wait":
            mbarrier.wait(acc_empty.index(which), ((number // 2) & 1) ^ 1)
        if V == "commit-early":
            tcgen05_commit(acc_full.index(which))
        use = False
        for k in range(_steps(tile, K, V)):
            slot = count % S
            mbarrier.wait(full.index(slot), (count // S) & 1)
            target = accs.index((number + 1) % 2 if V == "other-acc" else which)
            tcgen05_mma(bufs.index(slot), bufs.index(slot).permute((1, 0)), target, use_acc=use, mbarriers=[empty.index(slot)])
            use = True
            count += 1
        if V != "commit-early":
            tcgen05_commit(acc_full.index(which))
        number += 1


@gluon.jit
def _tc_epilogue(out, accs, acc_full, acc_empty, tiles, K, V: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 128], [32, 1], [4, 1], [0, 1])
    offs = gl.arange(0, 128, layout=gl.SliceLayout(1, layout))[:, None] * 128 + gl.arange(0, 128, layout=gl.SliceLayout(0, layout))[None, :]
    number = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        which = number % 2
        mbarrier.wait(acc_full.index(which), (number // 2) & 1)
        if V == "acc-early":
            mbarrier.arrive(acc_empty.index(which), count=1)
        x = accs.index(which).load(accs.index(which).get_reg_layout())
        if V != "acc-early":
            mbarrier.arrive(acc_empty.index(which), count=1)
        gl.store(out + tile * 128 * 128 + offs, gl.convert_layout(x, layout))
        number += 1


@gluon.jit
def tiles_tcgen05(desc, out, tiles, K, S: gl.constexpr, V: gl.constexpr):
    bufs = gl.allocate_shared_memory(gl.float16, [S, 128, 128], desc.layout)
    full = gl.allocate_shared_memory(gl.int64, [S, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [S, 1], mbarrier.MBarrierLayout())
    acc_full = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    acc_empty = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    layout: gl.constexpr = TensorMemoryLayout([128, 128], col_stride=1)
    accs = allocate_tensor_memory(gl.float32, [2, 128, 128], layout)
    for i in gl.static_range(S):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    for i in gl.static_range(2):
        mbarrier.init(acc_full.index(i), count=1)
        mbarrier.init(acc_empty.index(i), count=1)
    gl.warp_specialize([(_tc_epilogue, (out, accs, acc_full, acc_empty, tiles, K, V)),
                        (_tc_mma, (bufs, accs, full, empty, acc_full, acc_empty, tiles, K, S, V)),
                        (_tc_load, (desc, bufs, full, empty, tiles, K, S, V))], [1, 1], [24, 24])
    for i in gl.static_range(S):
        mbarrier.invalidate(full.index(i))
        mbarrier.invalidate(empty.index(i))
    for i in gl.static_range(2):
        mbarrier.invalidate(acc_full.index(i))
        mbarrier.invalidate(acc_empty.index(i))


TCGEN05 = ["ok", "uneven", "no-acc-wait", "acc-early", "commit-early", "other-acc"]
