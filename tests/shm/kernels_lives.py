"""Barriers that are made again while something may still arrive at them, and shifts whose amount or result leaves the width. V = "ok" is
correct, every other value broken in one way; as kernels.py."""
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy as cp
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier
from triton.experimental.gluon.language.nvidia.blackwell import (TensorMemoryLayout, allocate_tensor_memory,
                                                                 tcgen05_commit, tcgen05_mma)
from kernels_protocols import M, ROWS, SW, _bars, _end, _load, _put, _square

TILE = gl.constexpr(gl.BlockedLayout([1, 128], [32, 1], [4, 1], [0, 1]))


# ---- the first life's commit: nothing waits for it, and it can be counted in the second ---------------------------------------------
@gluon.jit
def lives_commit(d, out, V: gl.constexpr):
    a = gl.allocate_shared_memory(gl.float16, [128, 128], d.layout)
    acc = allocate_tensor_memory(gl.float32, [128, 128], TensorMemoryLayout([128, 128], col_stride=1))
    f = _bars(1, 1)
    m = _bars(1, 1)
    _load(d, 0, f.index(0), a)
    mbarrier.wait(f.index(0), 0)
    if V == "pending-mma":
        tcgen05_mma(a, a, acc, use_acc=False, mbarriers=[m.index(0)])
    else:
        tcgen05_mma(a, a, acc, use_acc=False)
        tcgen05_commit(m.index(0))
    if V == "ok":
        mbarrier.wait(m.index(0), 0)
    mbarrier.invalidate(m.index(0))
    mbarrier.init(m.index(0), count=1)
    tcgen05_mma(a, a, acc, use_acc=True)
    tcgen05_commit(m.index(0))
    mbarrier.wait(m.index(0), 0)
    gl.store(out + _square(TILE, 128), acc.load(TILE))
    _end(m, 1)
    _end(f, 1)


@gluon.jit
def lives_copy(inp, out, V: gl.constexpr):
    b = gl.allocate_shared_memory(gl.float16, [2, M, M], SW)
    o = _square(ROWS)
    m = _bars(1, 128)
    cp.async_copy_global_to_shared(b.index(0), inp + o)
    cp.mbarrier_arrive(m.index(0), increment_count=False)
    if V == "ok":
        mbarrier.wait(m.index(0), 0)
    mbarrier.invalidate(m.index(0))
    mbarrier.init(m.index(0), count=128)
    cp.async_copy_global_to_shared(b.index(1), inp + M * M + o)
    cp.mbarrier_arrive(m.index(0), increment_count=False)
    mbarrier.wait(m.index(0), 0)
    _put(out, 0, b.index(1).load(ROWS), ROWS)
    _end(m, 1)


# ---- the same in a later barrier that may get the bytes -----------------------------------------------------------------------------------
@gluon.jit
def later_commit(d, out, V: gl.constexpr):
    a = gl.allocate_shared_memory(gl.float16, [128, 128], d.layout)
    acc = allocate_tensor_memory(gl.float32, [128, 128], TensorMemoryLayout([128, 128], col_stride=1))
    f = _bars(1, 1)
    m = _bars(1, 1)
    _load(d, 0, f.index(0), a)
    mbarrier.wait(f.index(0), 0)
    tcgen05_mma(a, a, acc, use_acc=False)
    tcgen05_commit(m.index(0))
    if V == "ok":
        mbarrier.wait(m.index(0), 0)
    if V != "no-end":
        _end(m, 1)
    n = _bars(1, 1)
    tcgen05_mma(a, a, acc, use_acc=True)
    tcgen05_commit(n.index(0))
    mbarrier.wait(n.index(0), 0)
    gl.store(out + _square(TILE, 128), acc.load(TILE))
    _end(n, 1)
    _end(f, 1)


# ---- the same in the next iteration's barrier ------------------------------------------------------------------------------------------
@gluon.jit
def loop_commit(d, out, K, V: gl.constexpr):
    a = gl.allocate_shared_memory(gl.float16, [128, 128], d.layout)
    acc = allocate_tensor_memory(gl.float32, [128, 128], TensorMemoryLayout([128, 128], col_stride=1))
    f = _bars(1, 1)
    _load(d, 0, f.index(0), a)
    mbarrier.wait(f.index(0), 0)
    for k in range(K):
        m = _bars(1, 1)
        tcgen05_mma(a, a, acc, use_acc=k > 0)
        tcgen05_commit(m.index(0))
        mbarrier.wait(m.index(0), 0)
        gl.store(out + k * 16384 + _square(TILE, 128), acc.load(TILE))
        if V == "pending":
            tcgen05_commit(m.index(0))
        _end(m, 1)
    _end(f, 1)


# ---- the wait is left out where the 32-bit value of a shift says so ----------------------------------------------------------------------
@gluon.jit
def shifts(d, out, K, S: gl.constexpr, V: gl.constexpr):
    b = gl.allocate_shared_memory(gl.float16, [1, M, M], d.layout)
    f = _bars(1, 1)
    i = 0
    for k in range(K):
        if V == "ok":                                # nonzero at all amounts below 32
            there = (1 << (k % S)) != 0
        elif V == "sign":                            # negative at 31
            there = (1 << (k % S)) > 0
        elif V == "product":                         # the same without a shift
            there = (k % S) * 134217728 >= 0
        elif V == "back":                            # 1 at 31
            there = ((3 << (k % S)) >> (k % S)) == 3
        elif V == "far":                             # by 32 and more: no value
            there = (1 << (k % S)) != 0
        elif V == "negative":
            there = (8 >> (k % 4 - S)) > 0
        else:                                        # the same, carried
            there = (1 << i) != 0
        _load(d, k * M, f.index(0), b.index(0))
        mbarrier.wait(f.index(0), k & 1, pred=there)
        _put(out, k, b.index(0).load(ROWS), ROWS)
        fence_async_shared()
        i = i + 1 if i < S - 1 else 0
    _end(f, 1)
