"""Further racing kernels with their safe twins on Blackwell; see pairs.py."""
from tensor import _bar, _done, _grid, _operands
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import TensorMemoryLayout, allocate_tensor_memory, tcgen05_commit, tcgen05_mma
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma

N = gl.constexpr(128)
SHARED = gl.constexpr(gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2))
TMEM = gl.constexpr(TensorMemoryLayout([128, 128], col_stride=1))


@gluon.jit
def _acc_mma(a, b, accs, full, empty, K, S: gl.constexpr, V: gl.constexpr):
    for k in range(K):
        if V != "no-empty":
            mbarrier.wait(empty.index(k % S), ((k // S) & 1) ^ 1)
        tcgen05_mma(a, b, accs.index(k % S), use_acc=False, mbarriers=[full.index(k % S)])


@gluon.jit
def _acc_read(accs, full, empty, out, K, S: gl.constexpr, V: gl.constexpr):
    for k in range(K):
        mbarrier.wait(full.index(k % S), (k // S) & 1)
        if V == "early":
            mbarrier.arrive(empty.index(k % S), count=1)
        acc = accs.index(k % S)
        layout: gl.constexpr = acc.get_reg_layout()
        gl.store(out + k * N * N + _grid(layout), acc.load(layout))
        if V != "early":
            mbarrier.arrive(empty.index(k % S), count=1)


@gluon.jit
def two_accumulators(inp, out, K, V: gl.constexpr):
    a, b = _operands(inp)
    accs = allocate_tensor_memory(gl.float32, [2, N, N], TMEM)
    full = _bar(2, 1)
    empty = _bar(2, 1)
    gl.warp_specialize([(_acc_read, (accs, full, empty, out, K, 2, V)), (_acc_mma, (a, b, accs, full, empty, K, 2, V))], [1], [24])
    _done(full, 2)
    _done(empty, 2)


@gluon.jit
def one_accumulator(inp, out, K, V: gl.constexpr):
    a, b = _operands(inp)
    accs = allocate_tensor_memory(gl.float32, [1, N, N], TMEM)
    full = _bar(1, 1)
    empty = _bar(1, 1)
    gl.warp_specialize([(_acc_read, (accs, full, empty, out, K, 1, V)), (_acc_mma, (a, b, accs, full, empty, K, 1, V))], [1], [24])
    _done(full, 1)
    _done(empty, 1)


@gluon.jit
def last_predicate(inp, out, K, V: gl.constexpr):
    """The last MMA signals no barrier, but its wait is there."""
    a, b = _operands(inp)
    acc = allocate_tensor_memory(gl.float32, [N, N], TMEM)
    bars = _bar(1, 1)
    for k in range(K):
        tcgen05_mma(a, b, acc, use_acc=False, mbarriers=[bars.index(0)], mbarrier_preds=[k < K - 1 if V == "last" else k < K])
        mbarrier.wait(bars.index(0), k & 1)
    _done(bars, 1)


@gluon.jit
def refill_after_mma(desc, out, K, V: gl.constexpr):
    """An operand is loaded again when the barrier says so: after its own MMA, or after an earlier commit."""
    buf = gl.allocate_shared_memory(gl.float16, [N, N], desc.layout)
    acc = allocate_tensor_memory(gl.float32, [N, N], TMEM)
    full = _bar(1, 1)
    read = _bar(1, 1)
    for k in range(K):
        mbarrier.expect(full.index(0), desc.block_type.nbytes)
        tma.async_copy_global_to_shared(desc, [k * N, 0], full.index(0), buf)
        mbarrier.wait(full.index(0), k & 1)
        if V == "early":
            tcgen05_commit(read.index(0))
        tcgen05_mma(buf, buf, acc, use_acc=False, mbarriers=[read.index(0)], mbarrier_preds=[False])
        if V == "ok":
            tcgen05_commit(read.index(0))
        mbarrier.wait(read.index(0), k & 1)
    _done(full, 1)


@gluon.jit
def two_mmas(inp, out, V: gl.constexpr):
    """Two MMAs into one accumulator, which is read after the wait for the first only."""
    a, b = _operands(inp)
    acc = allocate_tensor_memory(gl.float32, [N, N], TMEM)
    bars = _bar(2, 1)
    tcgen05_mma(a, b, acc, use_acc=False, mbarriers=[bars.index(0)])
    tcgen05_mma(a, b, acc, use_acc=True, mbarriers=[bars.index(1)])
    if V == "ok":
        mbarrier.wait(bars.index(1), 0)
    mbarrier.wait(bars.index(0), 0)
    layout: gl.constexpr = acc.get_reg_layout()
    gl.store(out + _grid(layout), acc.load(layout))
    mbarrier.wait(bars.index(1), 0)
    _done(bars, 2)


@gluon.jit
def _region_read(acc, out, V: gl.constexpr):
    layout: gl.constexpr = acc.get_reg_layout()
    if V == "beside":
        gl.store(out + _grid(layout), acc.load(layout))


@gluon.jit
def _region_write(acc):
    acc.store(gl.full([N, N], 1.0, gl.float32, acc.get_reg_layout()))


@gluon.jit
def region_read(out, V: gl.constexpr):
    """The default region reads what a partition writes, or the code behind the join does."""
    acc = allocate_tensor_memory(gl.float32, [N, N], TMEM)
    gl.warp_specialize([(_region_read, (acc, out, V)), (_region_write, (acc, ))], [4], [24])
    layout: gl.constexpr = acc.get_reg_layout()
    if V == "ok":
        gl.store(out + _grid(layout), acc.load(layout))


TESTS = {
    "two_accumulators": ("iok", {"ok": (), "early": ("SHM-WAR", )}),
    "one_accumulator": ("iok", {"ok": (), "no-empty": ("SHM-WAR", )}),
    "last_predicate": ("iok", {"ok": (), "last": ("BAR-DEADLOCK", )}),
    "refill_after_mma": ("dok", {"ok": (), "early": ("SHM-WAR", )}),
    "two_mmas": ("io", {"ok": (), "first": ("SHM-RAW", )}),
    "region_read": ("o", {"ok": (), "beside": ("SHM-RAW", )}),
}
