"""Matrix products: grouped program order, batches, split K, persistent programs, tensor descriptors."""
import triton
import triton.language as tl

from registry import T, case, cdiv


@triton.jit
def matmul(a, b, c, m, n, k, stride_am, stride_bk, stride_cm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
           GROUP: tl.constexpr):
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    width = GROUP * tiles_n
    first = (pid // width) * GROUP
    rows_here = tl.minimum(tiles_m - first, GROUP)
    pid_m = first + (pid % width) % rows_here
    pid_n = (pid % width) // rows_here
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = a + (rm % m)[:, None] * stride_am + rk[None, :]
    pb = b + rk[:, None] * stride_bk + (rn % n)[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for step in range(0, tl.cdiv(k, BK)):
        left = k - step * BK
        ta = tl.load(pa, mask=rk[None, :] < left, other=0.0)
        tb = tl.load(pb, mask=rk[:, None] < left, other=0.0)
        acc = tl.dot(ta, tb, acc)
        pa += BK
        pb += BK * stride_bk
    pc = c + rm[:, None] * stride_cm + rn[None, :]
    tl.store(pc, acc.to(tl.float16), mask=(rm[:, None] < m) & (rn[None, :] < n))  # @S


@triton.jit
def matmul_race(a, b, c, m, n, k, stride_am, stride_bk, stride_cm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
           GROUP: tl.constexpr):
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    width = GROUP * tiles_n
    first = (pid // width) * GROUP
    rows_here = tl.minimum(tiles_m - first, GROUP)
    pid_m = first + (pid % width) % rows_here
    pid_n = (pid % width) // GROUP
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = a + (rm % m)[:, None] * stride_am + rk[None, :]
    pb = b + rk[:, None] * stride_bk + (rn % n)[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for step in range(0, tl.cdiv(k, BK)):
        left = k - step * BK
        ta = tl.load(pa, mask=rk[None, :] < left, other=0.0)
        tb = tl.load(pb, mask=rk[:, None] < left, other=0.0)
        acc = tl.dot(ta, tb, acc)
        pa += BK
        pb += BK * stride_bk
    pc = c + rm[:, None] * stride_cm + rn[None, :]
    tl.store(pc, acc.to(tl.float16), mask=(rm[:, None] < m) & (rn[None, :] < n))  # @S


case(matmul, matmul_race,
     lambda m, n, k, BM, BN, BK, GROUP: ((cdiv(m, BM) * cdiv(n, BN),),
     dict(a=T("f16", m, k), b=T("f16", k, n), c=T("f16", m, n), stride_am=k, stride_bk=n, stride_cm=n)),
     big=dict(m=1300, n=1500, k=777, BM=64, BN=64, BK=32, GROUP=8), small=dict(m=37, n=21, k=39, BM=8, BN=8, BK=16, GROUP=2))


@triton.jit
def batched_matmul(a, b, c, m, n, k, batch_a, batch_b, batch_c, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    which = tl.program_id(2)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        rk = start + tl.arange(0, BK)
        ta = tl.load(a + which * batch_a + rm[:, None] * k + rk[None, :], mask=(rm[:, None] < m) & (rk[None, :] < k), other=0.0)
        tb = tl.load(b + which * batch_b + rk[:, None] * n + rn[None, :], mask=(rk[:, None] < k) & (rn[None, :] < n), other=0.0)
        acc = tl.dot(ta, tb, acc)
    inside = (rm[:, None] < m) & (rn[None, :] < n)
    out = c + which * batch_c + rm[:, None] * n + rn[None, :]
    tl.store(out, acc.to(tl.bfloat16), mask=inside)  # @S


@triton.jit
def batched_matmul_race(a, b, c, m, n, k, batch_a, batch_b, batch_c, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    which = tl.program_id(2)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        rk = start + tl.arange(0, BK)
        ta = tl.load(a + which * batch_a + rm[:, None] * k + rk[None, :], mask=(rm[:, None] < m) & (rk[None, :] < k), other=0.0)
        tb = tl.load(b + which * batch_b + rk[:, None] * n + rn[None, :], mask=(rk[:, None] < k) & (rn[None, :] < n), other=0.0)
        acc = tl.dot(ta, tb, acc)
    inside = (rm[:, None] < m) & (rn[None, :] < n)
    out = c + which * (batch_c - n) + rm[:, None] * n + rn[None, :]
    tl.store(out, acc.to(tl.bfloat16), mask=inside)  # @S


case(batched_matmul, batched_matmul_race,
     lambda m, n, k, batches, BM, BN, BK: ((cdiv(m, BM), cdiv(n, BN), batches),
     dict(a=T("bf16", batches, m, k), b=T("bf16", batches, k, n), c=T("bf16", batches, m, n), batch_a=m * k, batch_b=k * n, batch_c=m * n)),
     big=dict(m=300, n=201, k=135, batches=51, BM=64, BN=64, BK=32), small=dict(m=21, n=19, k=21, batches=3, BM=8, BN=8, BK=16))


@triton.jit
def split_k_atomic(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLITS: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    split = tl.program_id(2)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(split * BK, k, BK * SPLITS):
        rk = start + tl.arange(0, BK)
        ta = tl.load(a + rm[:, None] * k + rk[None, :], mask=(rm[:, None] < m) & (rk[None, :] < k), other=0.0)
        tb = tl.load(b + rk[:, None] * n + rn[None, :], mask=(rk[:, None] < k) & (rn[None, :] < n), other=0.0)
        acc = tl.dot(ta, tb, acc)
    inside = (rm[:, None] < m) & (rn[None, :] < n)
    tl.atomic_add(c + rm[:, None] * n + rn[None, :], acc, mask=inside)  # @A


@triton.jit
def split_k_atomic_race(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLITS: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    split = tl.program_id(2)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(split * BK, k, BK * SPLITS):
        rk = start + tl.arange(0, BK)
        ta = tl.load(a + rm[:, None] * k + rk[None, :], mask=(rm[:, None] < m) & (rk[None, :] < k), other=0.0)
        tb = tl.load(b + rk[:, None] * n + rn[None, :], mask=(rk[:, None] < k) & (rn[None, :] < n), other=0.0)
        acc = tl.dot(ta, tb, acc)
    inside = (rm[:, None] < m) & (rn[None, :] < n)
    tl.store(c + rm[:, None] * n + rn[None, :], acc, mask=inside)  # @A


case(split_k_atomic, split_k_atomic_race,
     lambda m, n, k, BM, BN, BK, SPLITS: ((cdiv(m, BM), cdiv(n, BN), SPLITS), dict(a=T("f16", m, k), b=T("f16", k, n), c=T("f32", m, n))),
     big=dict(m=530, n=517, k=1999, BM=32, BN=64, BK=32, SPLITS=7), small=dict(m=21, n=19, k=85, BM=8, BN=8, BK=16, SPLITS=3))


@triton.jit
def split_k_workspace(a, b, ws, m, n, k, chunk, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    split = tl.program_id(2)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(split * chunk, tl.minimum((split + 1) * chunk, k), BK):
        rk = start + tl.arange(0, BK)
        ta = tl.load(a + rm[:, None] * k + rk[None, :], mask=(rm[:, None] < m) & (rk[None, :] < k), other=0.0)
        tb = tl.load(b + rk[:, None] * n + rn[None, :], mask=(rk[:, None] < k) & (rn[None, :] < n), other=0.0)
        acc = tl.dot(ta, tb, acc)
    slab = ws + split * m * n
    tl.store(slab + rm[:, None] * n + rn[None, :], acc, mask=(rm[:, None] < m) & (rn[None, :] < n))  # @S


@triton.jit
def split_k_workspace_race(a, b, ws, m, n, k, chunk, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    split = tl.program_id(2)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(split * chunk, tl.minimum((split + 1) * chunk, k), BK):
        rk = start + tl.arange(0, BK)
        ta = tl.load(a + rm[:, None] * k + rk[None, :], mask=(rm[:, None] < m) & (rk[None, :] < k), other=0.0)
        tb = tl.load(b + rk[:, None] * n + rn[None, :], mask=(rk[:, None] < k) & (rn[None, :] < n), other=0.0)
        acc = tl.dot(ta, tb, acc)
    slab = ws + (split // 2) * m * n
    tl.store(slab + rm[:, None] * n + rn[None, :], acc, mask=(rm[:, None] < m) & (rn[None, :] < n))  # @S


case(split_k_workspace, split_k_workspace_race,
     lambda m, n, k, chunk, BM, BN, BK: ((cdiv(m, BM), cdiv(n, BN), cdiv(k, chunk)),
     dict(a=T("f16", m, k), b=T("f16", k, n), ws=T("f32", cdiv(k, chunk), m, n))),
     big=dict(m=515, n=390, k=2001, chunk=256, BM=32, BN=32, BK=32), small=dict(m=21, n=19, k=85, chunk=32, BM=8, BN=8, BK=16))


@triton.jit
def split_k_sum(ws, c, count, splits, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    for s in range(0, splits):
        acc += tl.load(ws + s * count + i, mask=i < count, other=0.0)  # @L
    tl.store(c + i, acc, mask=i < count)  # @S


@triton.jit
def split_k_sum_race(ws, c, count, splits, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    for s in range(0, splits):
        acc += tl.load(ws + s * count + i, mask=i < count, other=0.0)  # @L
    tl.store(ws + (i ^ 1) + count, acc, mask=(i ^ 1) < count)  # @S


case(split_k_sum, split_k_sum_race,
     lambda count, splits, B: ((cdiv(count, B),), dict(ws=T("f32", splits, count), c=T("f32", count))),
     big=dict(count=1050003, splits=5, B=1024), small=dict(count=45, splits=3, B=16))


@triton.jit
def persistent_matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WORKERS: tl.constexpr):
    tiles_n = tl.cdiv(n, BN)
    tiles = tl.cdiv(m, BM) * tiles_n
    for tile in range(tl.program_id(0), tiles, WORKERS):
        rm = (tile // tiles_n) * BM + tl.arange(0, BM)
        rn = (tile % tiles_n) * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), tl.float32)
        for start in range(0, k, BK):
            rk = start + tl.arange(0, BK)
            ta = tl.load(a + rm[:, None] * k + rk[None, :], mask=(rm[:, None] < m) & (rk[None, :] < k), other=0.0)
            tb = tl.load(b + rk[:, None] * n + rn[None, :], mask=(rk[:, None] < k) & (rn[None, :] < n), other=0.0)
            acc = tl.dot(ta, tb, acc)
        tl.store(c + rm[:, None] * n + rn[None, :], acc.to(tl.float16), mask=(rm[:, None] < m) & (rn[None, :] < n))  # @S


@triton.jit
def persistent_matmul_race(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WORKERS: tl.constexpr):
    tiles_n = tl.cdiv(n, BN)
    tiles = tl.cdiv(m, BM) * tiles_n
    for tile in range(tl.program_id(0), tiles, WORKERS - 1):
        rm = (tile // tiles_n) * BM + tl.arange(0, BM)
        rn = (tile % tiles_n) * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), tl.float32)
        for start in range(0, k, BK):
            rk = start + tl.arange(0, BK)
            ta = tl.load(a + rm[:, None] * k + rk[None, :], mask=(rm[:, None] < m) & (rk[None, :] < k), other=0.0)
            tb = tl.load(b + rk[:, None] * n + rn[None, :], mask=(rk[:, None] < k) & (rn[None, :] < n), other=0.0)
            acc = tl.dot(ta, tb, acc)
        tl.store(c + rm[:, None] * n + rn[None, :], acc.to(tl.float16), mask=(rm[:, None] < m) & (rn[None, :] < n))  # @S


case(persistent_matmul, persistent_matmul_race,
     lambda m, n, k, BM, BN, BK, WORKERS: ((WORKERS,), dict(a=T("f16", m, k), b=T("f16", k, n), c=T("f16", m, n))),
     big=dict(m=2100, n=1111, k=200, BM=64, BN=64, BK=32, WORKERS=132), small=dict(m=29, n=21, k=37, BM=8, BN=8, BK=16, WORKERS=4))


@triton.jit
def descriptor_matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    da = tl.make_tensor_descriptor(a, shape=[m, k], strides=[k, 1], block_shape=[BM, BK])
    db = tl.make_tensor_descriptor(b, shape=[n, k], strides=[k, 1], block_shape=[BN, BK])
    dc = tl.make_tensor_descriptor(c, shape=[m, n], strides=[n, 1], block_shape=[BM, BN])
    off_m = tl.program_id(0) * BM
    off_n = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        acc = tl.dot(da.load([off_m, start]), db.load([off_n, start]).T, acc)
    dc.store([off_m, off_n], acc.to(tl.float16))  # @S


@triton.jit
def descriptor_matmul_race(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    da = tl.make_tensor_descriptor(a, shape=[m, k], strides=[k, 1], block_shape=[BM, BK])
    db = tl.make_tensor_descriptor(b, shape=[n, k], strides=[k, 1], block_shape=[BN, BK])
    dc = tl.make_tensor_descriptor(c, shape=[m, n], strides=[n, 1], block_shape=[BM, BN])
    off_m = tl.program_id(0) * BM
    off_n = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        acc = tl.dot(da.load([off_m, start]), db.load([off_n, start]).T, acc)
    dc.store([off_m, off_n // 2], acc.to(tl.float16))  # @S


case(descriptor_matmul, descriptor_matmul_race,
     lambda m, n, k, BM, BN, BK: ((cdiv(m, BM), cdiv(n, BN)), dict(a=T("f16", m, k), b=T("f16", n, k), c=T("f16", m, n))),
     big=dict(m=2030, n=2120, k=328, BM=64, BN=64, BK=32), small=dict(m=29, n=40, k=40, BM=8, BN=16, BK=16), target=90)


@triton.jit
def descriptor_transform(src, dst, rows, cols, R: tl.constexpr, C: tl.constexpr, STEPS: tl.constexpr):
    ds = tl.make_tensor_descriptor(src, shape=[rows, cols], strides=[cols, 1], block_shape=[R, C])
    dd = tl.make_tensor_descriptor(dst, shape=[rows, cols], strides=[cols, 1], block_shape=[R, C])
    r = tl.program_id(0) * R
    for t in range(0, STEPS):
        col = (tl.program_id(1) * STEPS + t) * C
        v = ds.load([r, col]).to(tl.float32)
        dd.store([r, col], tl.sqrt(tl.abs(v)).to(tl.float16))  # @S


@triton.jit
def descriptor_transform_race(src, dst, rows, cols, R: tl.constexpr, C: tl.constexpr, STEPS: tl.constexpr):
    ds = tl.make_tensor_descriptor(src, shape=[rows, cols], strides=[cols, 1], block_shape=[R, C])
    dd = tl.make_tensor_descriptor(dst, shape=[rows, cols], strides=[cols, 1], block_shape=[R, C])
    r = tl.program_id(0) * R
    for t in range(0, STEPS):
        col = (tl.program_id(1) + t) * C
        v = ds.load([r, col]).to(tl.float32)
        dd.store([r, col], tl.sqrt(tl.abs(v)).to(tl.float16))  # @S


case(descriptor_transform, descriptor_transform_race,
     lambda rows, cols, R, C, STEPS: ((cdiv(rows, R), cdiv(cols, C * STEPS)), dict(src=T("f16", rows, cols), dst=T("f16", rows, cols))),
     big=dict(rows=2001, cols=1128, R=16, C=64, STEPS=3), small=dict(rows=21, cols=72, R=8, C=8, STEPS=3), target=90)


@triton.jit
def descriptor_copy_pointers(src, dst, planes, rows, cols, R: tl.constexpr, C: tl.constexpr):
    ds = tl.make_tensor_descriptor(src, shape=[planes, rows, cols], strides=[rows * cols, cols, 1], block_shape=[1, R, C])
    dd = tl.make_tensor_descriptor(dst, shape=[planes, rows, cols], strides=[rows * cols, cols, 1], block_shape=[1, R, C])
    plane = tl.program_id(2)
    r = tl.program_id(1) * R
    c = tl.program_id(0) * C
    dd.store([plane, r, c], ds.load([plane, r, c]) * 2)  # @S


@triton.jit
def descriptor_copy_pointers_race(src, dst, planes, rows, cols, R: tl.constexpr, C: tl.constexpr):
    ds = tl.make_tensor_descriptor(src, shape=[planes, rows, cols], strides=[rows * cols, cols, 1], block_shape=[1, R, C])
    dd = tl.make_tensor_descriptor(dst, shape=[planes, rows, cols], strides=[(rows - 1) * cols, cols, 1], block_shape=[1, R, C])
    plane = tl.program_id(2)
    r = tl.program_id(1) * R
    c = tl.program_id(0) * C
    dd.store([plane, r, c], ds.load([plane, r, c]) * 2)  # @S


case(descriptor_copy_pointers, descriptor_copy_pointers_race,
     lambda planes, rows, cols, R, C: ((cdiv(cols, C), cdiv(rows, R), planes), dict(src=T("i32", planes, rows, cols), dst=T("i32", planes, rows, cols))),
     big=dict(planes=11, rows=301, cols=324, R=16, C=32), small=dict(planes=3, rows=19, cols=28, R=8, C=8))


@triton.jit
def gemv(a, x, y, m, n, stride, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, n, BN):
        cols = start + tl.arange(0, BN)
        t = tl.load(a + rows[:, None] * stride + cols[None, :], mask=(rows[:, None] < m) & (cols[None, :] < n), other=0.0)
        v = tl.load(x + cols, mask=cols < n, other=0.0)
        acc += t * v[None, :]
    tl.store(y + rows, tl.sum(acc, axis=1), mask=rows < m)  # @S


@triton.jit
def gemv_race(a, x, y, m, n, stride, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, n, BN):
        cols = start + tl.arange(0, BN)
        t = tl.load(a + rows[:, None] * stride + cols[None, :], mask=(rows[:, None] < m) & (cols[None, :] < n), other=0.0)
        v = tl.load(x + cols, mask=cols < n, other=0.0)
        acc += t * v[None, :]
    tl.store(y + rows - tl.program_id(0), tl.sum(acc, axis=1), mask=rows < m)  # @S


case(gemv, gemv_race,
     lambda m, n, stride, BM, BN: ((cdiv(m, BM),), dict(a=T("f32", m, n, strides=[stride, 1]), x=T("f32", n), y=T("f32", m))),
     big=dict(m=16411, n=1000, stride=1008, BM=16, BN=128), small=dict(m=29, n=43, stride=44, BM=8, BN=16))


@triton.jit
def gemm_tail(a, b, c, m, n, k, stride_am, stride_bk, stride_cm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    ra = a + (rm % m)[:, None] * stride_am
    cb = b + (rn % n)[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    full = k // BK * BK
    for start in range(0, full, BK):
        rk = start + tl.arange(0, BK)
        acc = tl.dot(tl.load(ra + rk[None, :]), tl.load(cb + rk[:, None] * stride_bk), acc)
    if full < k:
        rk = full + tl.arange(0, BK)
        ta = tl.load(ra + rk[None, :], mask=rk[None, :] < k, other=0.0)
        tb = tl.load(cb + rk[:, None] * stride_bk, mask=rk[:, None] < k, other=0.0)
        acc = tl.dot(ta, tb, acc)
    pc = c + rm[:, None] * stride_cm + rn[None, :]
    tl.store(pc, acc.to(tl.float16), mask=(rm[:, None] < m) & (rn[None, :] < n))  # @S


@triton.jit
def gemm_tail_race(a, b, c, m, n, k, stride_am, stride_bk, stride_cm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    ra = a + (rm % m)[:, None] * stride_am
    cb = b + (rn % n)[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    full = k // BK * BK
    for start in range(0, full, BK):
        rk = start + tl.arange(0, BK)
        acc = tl.dot(tl.load(ra + rk[None, :]), tl.load(cb + rk[:, None] * stride_bk), acc)
    if full < k:
        rk = full + tl.arange(0, BK)
        ta = tl.load(ra + rk[None, :], mask=rk[None, :] < k, other=0.0)
        tb = tl.load(cb + rk[:, None] * stride_bk, mask=rk[:, None] < k, other=0.0)
        acc = tl.dot(ta, tb, acc)
    pc = c + rm[:, None] * (stride_cm - 1) + rn[None, :]
    tl.store(pc, acc.to(tl.float16), mask=(rm[:, None] < m) & (rn[None, :] < n))  # @S


case(gemm_tail, gemm_tail_race,
     lambda m, n, k, BM, BN, BK: ((cdiv(m, BM), cdiv(n, BN)),
     dict(a=T("f16", m, k), b=T("f16", k, n), c=T("f16", m, n), stride_am=k, stride_bk=n, stride_cm=n)),
     big=dict(m=1300, n=1500, k=777, BM=32, BN=32, BK=32), small=dict(m=37, n=21, k=39, BM=8, BN=8, BK=16))


@triton.jit
def block_pointer_matmul(a, b, c, m, n, k, stride_am, stride_bk, stride_cm, BM: tl.constexpr, BN: tl.constexpr,
                         BK: tl.constexpr):
    row = tl.program_id(0) * BM
    col = tl.program_id(1) * BN
    pa = tl.make_block_ptr(a, shape=(m, k), strides=(stride_am, 1), offsets=(row, 0), block_shape=(BM, BK), order=(1, 0))
    pb = tl.make_block_ptr(b, shape=(k, n), strides=(stride_bk, 1), offsets=(0, col), block_shape=(BK, BN), order=(1, 0))
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, k, BK):
        ta = tl.load(pa, boundary_check=(0, 1), padding_option="zero")
        tb = tl.load(pb, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(ta, tb, acc)
        pa = tl.advance(pa, (0, BK))
        pb = tl.advance(pb, (BK, 0))
    pc = tl.make_block_ptr(c, shape=(m, n), strides=(stride_cm, 1), offsets=(row, col), block_shape=(BM, BN), order=(1, 0))
    tl.store(pc, acc.to(tl.float16), boundary_check=(0, 1))  # @S


@triton.jit
def block_pointer_matmul_race(a, b, c, m, n, k, stride_am, stride_bk, stride_cm, BM: tl.constexpr, BN: tl.constexpr,
                         BK: tl.constexpr):
    row = tl.program_id(0) * BM
    col = tl.program_id(1) * BN
    pa = tl.make_block_ptr(a, shape=(m, k), strides=(stride_am, 1), offsets=(row, 0), block_shape=(BM, BK), order=(1, 0))
    pb = tl.make_block_ptr(b, shape=(k, n), strides=(stride_bk, 1), offsets=(0, col), block_shape=(BK, BN), order=(1, 0))
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, k, BK):
        ta = tl.load(pa, boundary_check=(0, 1), padding_option="zero")
        tb = tl.load(pb, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(ta, tb, acc)
        pa = tl.advance(pa, (0, BK))
        pb = tl.advance(pb, (BK, 0))
    pc = tl.make_block_ptr(c, shape=(m, n), strides=(stride_cm, 1), offsets=(row, col // 2), block_shape=(BM, BN), order=(1, 0))
    tl.store(pc, acc.to(tl.float16), boundary_check=(0, 1))  # @S


case(block_pointer_matmul, block_pointer_matmul_race,
     lambda m, n, k, BM, BN, BK: ((cdiv(m, BM), cdiv(n, BN)),
     dict(a=T("f16", m, k), b=T("f16", k, n), c=T("f16", m, n), stride_am=k, stride_bk=n, stride_cm=n)),
     big=dict(m=1300, n=1500, k=777, BM=32, BN=32, BK=32), small=dict(m=37, n=21, k=39, BM=8, BN=8, BK=16),
     max_triton="3.8.99")          # 3.9 has no block pointers
