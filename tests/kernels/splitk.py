"""Split-K matrix products in grouped program order, 2048 programs: safe, safe at the launch's grid only, racing, and with
symbolic sizes and strides; partial sums in a workspace or added atomically."""
import triton
import triton.language as tl

from registry import T, case, cdiv


@triton.jit
def tile_of(tile, m, n, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    width = GROUP * tiles_n
    first = (tile // width) * GROUP
    rows_here = min(tiles_m - first, GROUP)
    return first + (tile % width) % rows_here, (tile % width) // rows_here


@triton.jit
def partial_product(a, b, rm, rn, split, m, n, k, stride_am, stride_bk, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                    SPLITS: tl.constexpr):
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(split * BK, k, BK * SPLITS):
        rk = start + tl.arange(0, BK)
        ta = tl.load(a + rm[:, None] * stride_am + rk[None, :], mask=(rm[:, None] < m) & (rk[None, :] < k), other=0.0)
        tb = tl.load(b + rk[:, None] * stride_bk + rn[None, :], mask=(rk[:, None] < k) & (rn[None, :] < n), other=0.0)
        acc = tl.dot(ta, tb, acc)
    return acc


@triton.jit
def splitk_workspace(a, b, out, m, n, k, stride_am, stride_bk, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                     GROUP: tl.constexpr, SPLITS: tl.constexpr):
    split = tl.program_id(0) % SPLITS
    tile = tl.program_id(0) // SPLITS
    pid_m, pid_n = tile_of(tile, m, n, BM, BN, GROUP)
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    acc = partial_product(a, b, rm, rn, split, m, n, k, stride_am, stride_bk, BM, BN, BK, SPLITS)
    inside = (rm[:, None] < m) & (rn[None, :] < n)
    at = split * m * n + rm[:, None] * n + rn[None, :]
    tl.store(out + at, acc, mask=inside)  # @S


@triton.jit
def splitk_workspace_race(a, b, out, m, n, k, stride_am, stride_bk, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                          GROUP: tl.constexpr, SPLITS: tl.constexpr):
    split = tl.program_id(0) % SPLITS
    tile = tl.program_id(0) // SPLITS
    pid_m, pid_n = tile_of(tile, m, n, BM, BN, GROUP)
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    acc = partial_product(a, b, rm, rn, split, m, n, k, stride_am, stride_bk, BM, BN, BK, SPLITS)
    inside = (rm[:, None] < m) & (rn[None, :] < n)
    at = rm[:, None] * n + rn[None, :]
    tl.store(out + at, acc, mask=inside)  # @S


case(splitk_workspace, splitk_workspace_race,
     lambda m, n, k, BM, BN, BK, GROUP, SPLITS: ((cdiv(m, BM) * cdiv(n, BN) * SPLITS,), dict(a=T("f16", m, k), b=T("f16", k, n), out=T("f32", SPLITS, m, n), stride_am=k, stride_bk=n)),
     big=dict(m=1024, n=1000, k=1111, BM=64, BN=64, BK=32, GROUP=8, SPLITS=8), small=dict(m=21, n=37, k=39, BM=8, BN=8, BK=16, GROUP=2, SPLITS=3))


@triton.jit
def splitk_at_launch(a, b, out, m, n, k, stride_am, stride_bk, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                     GROUP: tl.constexpr, SPLITS: tl.constexpr):
    split = tl.program_id(1)
    tile = tl.program_id(0)
    pid_m, pid_n = tile_of(tile, m, n, BM, BN, GROUP)
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    acc = partial_product(a, b, rm, rn, split, m, n, k, stride_am, stride_bk, BM, BN, BK, SPLITS)
    inside = (rm[:, None] < m) & (rn[None, :] < n)
    at = (split % SPLITS) * m * n + rm[:, None] * n + rn[None, :]
    tl.store(out + at, acc, mask=inside)  # @S


@triton.jit
def splitk_at_launch_race(a, b, out, m, n, k, stride_am, stride_bk, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                          GROUP: tl.constexpr, SPLITS: tl.constexpr):
    split = tl.program_id(1)
    tile = tl.program_id(0)
    pid_m, pid_n = tile_of(tile, m, n, BM, BN, GROUP)
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    acc = partial_product(a, b, rm, rn, split, m, n, k, stride_am, stride_bk, BM, BN, BK, SPLITS)
    inside = (rm[:, None] < m) & (rn[None, :] < n)
    at = (split % (SPLITS - 1)) * m * n + rm[:, None] * n + rn[None, :]
    tl.store(out + at, acc, mask=inside)  # @S


case(splitk_at_launch, splitk_at_launch_race,
     lambda m, n, k, BM, BN, BK, GROUP, SPLITS: ((cdiv(m, BM) * cdiv(n, BN), SPLITS), dict(a=T("f16", m, k), b=T("f16", k, n), out=T("f32", SPLITS, m, n), stride_am=k, stride_bk=n)),
     big=dict(m=1024, n=1000, k=1111, BM=64, BN=64, BK=32, GROUP=8, SPLITS=8), small=dict(m=21, n=37, k=39, BM=8, BN=8, BK=16, GROUP=2, SPLITS=3))


@triton.jit
def splitk_symbolic(a, b, out, m, n, k, stride_am, stride_bk, stride_os, stride_om, stride_on, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                    GROUP: tl.constexpr, SPLITS: tl.constexpr):
    split = tl.program_id(0) % SPLITS
    tile = tl.program_id(0) // SPLITS
    pid_m, pid_n = tile_of(tile, m, n, BM, BN, GROUP)
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    acc = partial_product(a, b, rm, rn, split, m, n, k, stride_am, stride_bk, BM, BN, BK, SPLITS)
    inside = (rm[:, None] < m) & (rn[None, :] < n)
    at = split * stride_os + rm[:, None] * stride_om + rn[None, :] * stride_on
    tl.store(out + at, acc, mask=inside)  # @S


@triton.jit
def splitk_symbolic_race(a, b, out, m, n, k, stride_am, stride_bk, stride_os, stride_om, stride_on, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                         GROUP: tl.constexpr, SPLITS: tl.constexpr):
    split = tl.program_id(0) % SPLITS
    tile = tl.program_id(0) // SPLITS
    pid_m, pid_n = tile_of(tile, m, n, BM, BN, GROUP)
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    acc = partial_product(a, b, rm, rn, split, m, n, k, stride_am, stride_bk, BM, BN, BK, SPLITS)
    inside = (rm[:, None] < m) & (rn[None, :] < n)
    at = split * stride_om + rm[:, None] * stride_om + rn[None, :] * stride_on
    tl.store(out + at, acc, mask=inside)  # @S


case(splitk_symbolic, splitk_symbolic_race,
     lambda m, n, k, BM, BN, BK, GROUP, SPLITS: ((cdiv(m, BM) * cdiv(n, BN) * SPLITS,),
     dict(a=T("f16", m, k), b=T("f16", k, n), out=T("f32", SPLITS, m, n), stride_am=k, stride_bk=n,
          stride_os=m * n, stride_om=n, stride_on=1)),
     big=dict(m=1024, n=1000, k=1111, BM=64, BN=64, BK=32, GROUP=8, SPLITS=8), small=dict(m=21, n=37, k=39, BM=8, BN=8, BK=16, GROUP=2, SPLITS=3),
     nospec=True)


@triton.jit
def splitk_atomic(a, b, out, m, n, k, stride_am, stride_bk, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                  GROUP: tl.constexpr, SPLITS: tl.constexpr):
    split = tl.program_id(0) % SPLITS
    tile = tl.program_id(0) // SPLITS
    pid_m, pid_n = tile_of(tile, m, n, BM, BN, GROUP)
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    acc = partial_product(a, b, rm, rn, split, m, n, k, stride_am, stride_bk, BM, BN, BK, SPLITS)
    inside = (rm[:, None] < m) & (rn[None, :] < n)
    at = rm[:, None] * n + rn[None, :]
    tl.atomic_add(out + at, acc, mask=inside)  # @A


@triton.jit
def splitk_atomic_race(a, b, out, m, n, k, stride_am, stride_bk, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                       GROUP: tl.constexpr, SPLITS: tl.constexpr):
    split = tl.program_id(0) % SPLITS
    tile = tl.program_id(0) // SPLITS
    pid_m, pid_n = tile_of(tile, m, n, BM, BN, GROUP)
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    acc = partial_product(a, b, rm, rn, split, m, n, k, stride_am, stride_bk, BM, BN, BK, SPLITS)
    inside = (rm[:, None] < m) & (rn[None, :] < n)
    at = rm[:, None] * n + rn[None, :]
    tl.store(out + at, tl.load(out + at, mask=inside) + acc, mask=inside)  # @A


case(splitk_atomic, splitk_atomic_race,
     lambda m, n, k, BM, BN, BK, GROUP, SPLITS: ((cdiv(m, BM) * cdiv(n, BN) * SPLITS,),
     dict(a=T("f16", m, k), b=T("f16", k, n), out=T("f32", m, n), stride_am=k, stride_bk=n)),
     big=dict(m=1024, n=1000, k=1111, BM=64, BN=64, BK=32, GROUP=8, SPLITS=8), small=dict(m=21, n=37, k=39, BM=8, BN=8, BK=16, GROUP=2, SPLITS=3))
