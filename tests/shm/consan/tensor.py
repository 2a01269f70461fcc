"""Our own Blackwell kernels after the single-CTA tests of Triton's test_consan.py; see kernels.py."""
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy as cp
from triton.experimental.gluon.language.nvidia.blackwell import (TensorMemoryLayout, TensorMemoryScalesLayout, allocate_tensor_memory,
                                                                 tcgen05_commit, tcgen05_copy, tcgen05_mma)
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma

N = gl.constexpr(128)
ROWS = gl.constexpr(gl.BlockedLayout([1, 8], [2, 16], [4, 1], [1, 0]))
SHARED = gl.constexpr(gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2))
TMEM = gl.constexpr(TensorMemoryLayout([128, 128], col_stride=1))


@gluon.jit
def _grid(layout: gl.constexpr):
    return (gl.arange(0, N, layout=gl.SliceLayout(1, layout))[:, None] * N
            + gl.arange(0, N, layout=gl.SliceLayout(0, layout))[None, :])


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
def _keep(out, acc):
    layout: gl.constexpr = acc.get_reg_layout()
    gl.store(out + _grid(layout), acc.load(layout))


@gluon.jit
def _operands(inp):
    a = gl.allocate_shared_memory(gl.float16, [N, N], SHARED)
    b = gl.allocate_shared_memory(gl.float16, [N, N], SHARED)
    a.store(gl.load(inp + _grid(ROWS)))
    b.store(gl.load(inp + N * N + _grid(ROWS)))
    fence_async_shared()
    return a, b


@gluon.jit
def mma_operand(inp, desc, out, V: gl.constexpr):
    """An operand is overwritten by threads or by TMA, before or after the wait for the MMA."""
    a, b = _operands(inp)
    acc = allocate_tensor_memory(gl.float32, [N, N], TMEM)
    bars = _bar(2, 1)
    tcgen05_mma(a, b, acc, use_acc=False, mbarriers=[bars.index(0)])
    if V == "ok" or V == "ok-load":
        mbarrier.wait(bars.index(0), 0)
    if V == "store" or V == "ok":
        a.store(gl.full([N, N], 1.0, gl.float16, ROWS))
    else:
        mbarrier.expect(bars.index(1), desc.block_type.nbytes)
        tma.async_copy_global_to_shared(desc, [0, 0], bars.index(1), a)
        mbarrier.wait(bars.index(1), 0)
    mbarrier.wait(bars.index(0), 0)
    _done(bars, 2)
    _keep(out, acc)


@gluon.jit
def mma_accumulator(inp, out, V: gl.constexpr):
    a, b = _operands(inp)
    acc = allocate_tensor_memory(gl.float32, [N, N], TMEM)
    bars = _bar(1, 1)
    tcgen05_mma(a, b, acc, use_acc=False, mbarriers=[bars.index(0)])
    if V == "ok":
        mbarrier.wait(bars.index(0), 0)
    if V == "store":
        acc.store(gl.full([N, N], 0.0, gl.float32, acc.get_reg_layout()))
        mbarrier.wait(bars.index(0), 0)
        _keep(out, acc)
    else:
        _keep(out, acc)
        mbarrier.wait(bars.index(0), 0)
    _done(bars, 1)


# ---- reads by the tensor core ---------------------------------------------------------------------------------------
@gluon.jit
def copy_source(inp, out, V: gl.constexpr):
    """The threads read the source first: that read must not stand for the tensor core's."""
    a, b = _operands(inp)
    acc = allocate_tensor_memory(gl.float32, [N, N], TMEM)
    bars = _bar(1, 1)
    gl.store(out + _grid(ROWS), a.load(ROWS))
    tcgen05_mma(a, b, acc, use_acc=False, mbarriers=[bars.index(0)], mbarrier_preds=[False])
    tcgen05_commit(bars.index(0))
    if V == "ok":
        mbarrier.wait(bars.index(0), 0)
    a.store(gl.full([N, N], 1.0, gl.float16, ROWS))
    mbarrier.wait(bars.index(0), 0)
    _done(bars, 1)


@gluon.jit
def copy_target(inp, out, V: gl.constexpr):
    a, b = _operands(inp)
    acc = allocate_tensor_memory(gl.float32, [N, N], TMEM)
    bars = _bar(1, 1)
    tcgen05_mma(a, b, acc, use_acc=False, mbarriers=[bars.index(0)], mbarrier_preds=[False])
    tcgen05_commit(bars.index(0))
    if V == "ok":
        mbarrier.wait(bars.index(0), 0)
    _keep(out, acc)
    mbarrier.wait(bars.index(0), 0)
    _done(bars, 1)


@gluon.jit
def generation(inp, out, V: gl.constexpr):
    """Two MMAs read one buffer; only the first one was waited for."""
    a, b = _operands(inp)
    acc = allocate_tensor_memory(gl.float32, [N, N], TMEM)
    bars = _bar(2, 1)
    tcgen05_mma(a, b, acc, use_acc=False, mbarriers=[bars.index(0)])
    mbarrier.wait(bars.index(0), 0)
    tcgen05_mma(a, b, acc, use_acc=True, mbarriers=[bars.index(1)])
    if V == "snapshot":
        mbarrier.wait(bars.index(0), 0)
    if V == "ok":
        mbarrier.wait(bars.index(1), 0)
    a.store(gl.full([N, N], 1.0, gl.float16, ROWS))
    mbarrier.wait(bars.index(1), 0)
    _done(bars, 2)
    _keep(out, acc)


@gluon.jit
def _across_mma(a, b, acc, bars, V: gl.constexpr):
    tcgen05_mma(a, b, acc, use_acc=False, mbarriers=[bars.index(0)], mbarrier_preds=[False])
    if V == "ok":
        tcgen05_commit(bars.index(0))
    else:
        mbarrier.arrive(bars.index(0), count=1)
    tcgen05_commit(bars.index(1))
    mbarrier.wait(bars.index(1), 0)


@gluon.jit
def _across_write(a, bars):
    mbarrier.wait(bars.index(0), 0)
    a.store(gl.full([N, N], 1.0, gl.float16, ROWS))


@gluon.jit
def reader_across(inp, out, V: gl.constexpr):
    a, b = _operands(inp)
    acc = allocate_tensor_memory(gl.float32, [N, N], TMEM)
    bars = _bar(2, 1)
    gl.warp_specialize([(_across_write, (a, bars)), (_across_mma, (a, b, acc, bars, V))], [1], [24])
    _done(bars, 2)
    _keep(out, acc)


# ---- which barrier covers which MMA -------------------------------------------------------------------------------------
@gluon.jit
def multibar(inp, out, V: gl.constexpr):
    """Two accumulators, a barrier after each; one is read after the wait for one of the barriers."""
    a, b = _operands(inp)
    accs = allocate_tensor_memory(gl.float32, [2, N, N], TMEM)
    bars = _bar(2, 1)
    tcgen05_mma(a, b, accs.index(0), use_acc=False, mbarriers=[bars.index(0)])
    tcgen05_mma(a, b, accs.index(1), use_acc=False, mbarriers=[bars.index(1)])
    mbarrier.wait(bars.index(0 if V == "first-0" or V == "first-1" else 1), 0)
    _keep(out, accs.index(0 if V == "first-0" or V == "second-0" else 1))
    mbarrier.wait(bars.index(1), 0)
    mbarrier.wait(bars.index(0), 0)
    _done(bars, 2)


@gluon.jit
def mma_loop(desc, out, K, S: gl.constexpr):
    """Loads two iterations ahead, the MMA of the iteration before waited for: right with three buffers."""
    bufs = gl.allocate_shared_memory(gl.float16, [S, N, N], desc.layout)
    full = _bar(S, 1)
    read = _bar(S, 1)
    last = _bar(1, 1)
    acc = allocate_tensor_memory(gl.float32, [N, N], TMEM)
    acc.store(gl.full([N, N], 0.0, gl.float32, acc.get_reg_layout()))
    for i in gl.static_range(2):
        mbarrier.expect(full.index(i), desc.block_type.nbytes, pred=i < K)
        tma.async_copy_global_to_shared(desc, [i * N, 0], full.index(i), bufs.index(i), pred=i < K)
    for k in range(K):
        mbarrier.wait(full.index(k % S), (k // S) & 1)
        tcgen05_mma(bufs.index(k % S), bufs.index(k % S), acc, mbarriers=[read.index(k % S)])
        mbarrier.wait(read.index((k - 1 + S) % S), ((k - 1) // S) & 1, pred=k > 0)
        ahead = (k + 2) % S
        mbarrier.expect(full.index(ahead), desc.block_type.nbytes, pred=k + 2 < K)
        tma.async_copy_global_to_shared(desc, [(k + 2) * N, 0], full.index(ahead), bufs.index(ahead), pred=k + 2 < K)
    tcgen05_commit(last.index(0))
    mbarrier.wait(last.index(0), 0)
    _done(full, S)
    _done(read, S)
    _done(last, 1)
    _keep(out, acc)


# ---- tensor memory views ---------------------------------------------------------------------------------------------------
@gluon.jit
def _view_read(acc, bars, out, V: gl.constexpr):
    part = acc.slice(0, 64)
    gl.store(out + gl.arange(0, N, layout=gl.SliceLayout(1, ROWS)), gl.convert_layout(gl.max(part.load(part.get_reg_layout()), 1), gl.SliceLayout(1, ROWS)))
    mbarrier.arrive(bars.index(0), count=1)


@gluon.jit
def _view_write(acc, bars, V: gl.constexpr):
    if V == "ok":
        mbarrier.wait(bars.index(0), 0)
    if V == "apart":
        part = acc.slice(64, 64)
        part.store(gl.full([N, 64], 0.0, gl.float32, part.get_reg_layout()))
    else:
        acc.store(gl.full([N, N], 0.0, gl.float32, acc.get_reg_layout()))


@gluon.jit
def tensor_views(out, V: gl.constexpr):
    acc = allocate_tensor_memory(gl.float32, [N, N], TMEM)
    acc.store(gl.full([N, N], 0.0, gl.float32, acc.get_reg_layout()))
    bars = _bar(1, 1)
    gl.warp_specialize([(_view_read, (acc, bars, out, V)), (_view_write, (acc, bars, V))], [4], [24])
    _done(bars, 1)


@gluon.jit
def copy_over_operand(inp, out, V: gl.constexpr):
    a, b = _operands(inp)
    acc = allocate_tensor_memory(gl.float32, [N, N], TMEM)
    bars = _bar(1, 1)
    tcgen05_mma(a, b, acc, use_acc=False, mbarriers=[bars.index(0)])
    if V == "ok":
        mbarrier.wait(bars.index(0), 0)
    cp.async_copy_global_to_shared(a, inp + _grid(ROWS))
    cp.commit_group()
    cp.wait_group(0)
    mbarrier.wait(bars.index(0), 0)
    _done(bars, 1)
    _keep(out, acc)


@gluon.jit
def alloc_over_operand(inp, out, K, V: gl.constexpr):
    """A buffer of the loop body: every iteration has the same bytes."""
    b = gl.allocate_shared_memory(gl.float16, [N, N], SHARED, gl.load(inp + _grid(ROWS)))
    acc = allocate_tensor_memory(gl.float32, [N, N], TMEM)
    acc.store(gl.full([N, N], 0.0, gl.float32, acc.get_reg_layout()))
    bars = _bar(1, 1)
    for k in range(K):
        if V == "late":
            mbarrier.wait(bars.index(0), (k & 1) ^ 1)
        a = gl.allocate_shared_memory(gl.float16, [N, N], SHARED, gl.load(inp + k * N * N + _grid(ROWS)))
        fence_async_shared()
        tcgen05_mma(a, b, acc, mbarriers=[bars.index(0)])
        if V == "ok":
            mbarrier.wait(bars.index(0), k & 1)
    _keep(out, acc)


try:
    from triton.experimental.gluon.language.nvidia.blackwell import clc
except ImportError:                                  # Triton 3.6: those two kernels do not compile there
    clc = None


@gluon.jit
def clc_result(out, V: gl.constexpr):
    """The answer of a cluster launch request is read before or after the wait for it."""
    layout: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, order=[0])
    answer = gl.allocate_shared_memory(gl.int64, [2], layout)
    bars = _bar(1, 1)
    clc.try_cancel(answer, bars.index(0))
    mbarrier.expect(bars.index(0), 16)
    mbarrier.wait(bars.index(0), 0, pred=V == "ok")
    got = clc.load_result(answer)
    mbarrier.wait(bars.index(0), 0, pred=V != "ok")
    _done(bars, 1)
    gl.store(out + gl.program_id(0), got.is_canceled().to(gl.float16))


@gluon.jit
def clc_twice(out, V: gl.constexpr):
    """Two requests into the same bytes, no wait between; both, or only the second, awaited before the answer is read."""
    layout: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, order=[0])
    answer = gl.allocate_shared_memory(gl.int64, [2], layout)
    bars = _bar(2, 1)
    for i in gl.static_range(2):
        mbarrier.expect(bars.index(i), 16)
        clc.try_cancel(answer, bars.index(i))
    if V != "one-awaited":
        mbarrier.wait(bars.index(0), 0)
    mbarrier.wait(bars.index(1), 0)
    got = clc.load_result(answer)
    if V == "one-awaited":
        mbarrier.wait(bars.index(0), 0)
    _done(bars, 2)
    gl.store(out + gl.program_id(0), got.is_canceled().to(gl.float16))


@gluon.jit
def uninitialised(out, V: gl.constexpr):
    """Bytes that nothing has written are read: values, no order."""
    if V == "tensor":
        acc = allocate_tensor_memory(gl.float32, [N, N], TMEM)
        _keep(out, acc)
    else:
        a = gl.allocate_shared_memory(gl.float16, [N, N], SHARED)
        if V == "written":
            a.store(gl.full([N, N], 1.0, gl.float16, ROWS))
        gl.store(out + _grid(ROWS), a.load(ROWS))


@gluon.jit(noinline=True)
def _convert_apart(inp, out):
    to: gl.constexpr = gl.BlockedLayout([8, 1], [16, 2], [1, 4], [0, 1])
    gl.store(out + _grid(to), gl.convert_layout(gl.load(inp + _grid(ROWS)), to))


@gluon.jit(noinline=True)
def _convert_further(inp, out):
    _convert_apart(inp, out)


@gluon.jit
def called(inp, desc, out, V: gl.constexpr):
    """A function that is not put in line converts a layout beside a buffer of its caller."""
    a = gl.allocate_shared_memory(gl.float16, [N, N], desc.layout)
    a.store(gl.full([N, N], 1.0, gl.float16, ROWS))
    if V == "pending":
        fence_async_shared()
        tma.async_copy_shared_to_global(desc, [0, 0], a)
        _convert_further(inp, out)
        tma.store_wait(0)
    else:
        _convert_further(inp, out)
        gl.store(out + N * N + _grid(ROWS), a.load(ROWS))


TESTS = {
    "mma_operand": ("ido", {"ok": (), "ok-load": (), "store": ("SHM-WAR", ), "load": ("SHM-WAR", )}),
    "mma_accumulator": ("io", {"ok": (), "load": ("SHM-RAW", ), "store": ("SHM-WAW", )}),
    "copy_source": ("io", {"ok": (), "unwaited": ("SHM-WAR", )}),
    "copy_target": ("io", {"ok": (), "unwaited": ("SHM-RAW", )}),
    "generation": ("io", {"ok": (), "observer": ("SHM-WAR", ), "snapshot": ("SHM-WAR", )}),
    "reader_across": ("io", {"ok": (), "plain": ("SHM-WAR", )}),
    "multibar": ("io", {"first-0": (), "second-1": (), "second-0": (), "first-1": ("SHM-RAW", )}),
    "mma_loop": ("dok", {3: (), 2: ("SHM-WAR", )}),
    "tensor_views": ("o", {"ok": (), "apart": (), "unwaited": ("SHM-WAR", )}),
    "copy_over_operand": ("io", {"ok": (), "unwaited": ("SHM-WAR", )}),
    "alloc_over_operand": ("iok", {"ok": (), "never": ("SHM-WAR", )}),
    "clc_result": ("o", {"ok": (), "early": ("SHM-RAW", )}),
    "clc_twice": ("o", {"ok": (), "one-awaited": ("SHM-RAW", )}),
    "uninitialised": ("o", {"shared": (), "tensor": (), "written": ()}),
    "called": ("ido", {"ok": (), "pending": ("reuse", )}),
}
