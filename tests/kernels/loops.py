"""Loops: iteration premises, recurrences, nesting, grid strides, data-dependent bounds, varlen."""
import triton
import triton.language as tl

from registry import T, case, cdiv


@triton.jit
def tiles_per_program(x, y, n, STEPS: tl.constexpr, B: tl.constexpr):
    first = tl.program_id(0) * STEPS * B
    for k in range(STEPS):
        i = first + k * B + tl.arange(0, B)
        tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)  # @S


@triton.jit
def tiles_per_program_race(x, y, n, STEPS: tl.constexpr, B: tl.constexpr):
    first = tl.program_id(0) * B
    for k in range(STEPS):
        i = first + k * B + tl.arange(0, B)
        tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)  # @S


case(tiles_per_program, tiles_per_program_race,
     lambda n, STEPS, B: ((cdiv(n, STEPS * B),), dict(x=T("i32", n), y=T("i32", n))),
     big=dict(n=1048600, STEPS=4, B=256), small=dict(n=221, STEPS=4, B=16))


@triton.jit
def nested_own_tile(y, n, rounds, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    for a in range(0, rounds):
        for b in range(0, 3):
            tl.store(y + i, a * 3 + b, mask=i < n)  # @S


@triton.jit
def nested_own_tile_race(y, n, rounds, B: tl.constexpr):
    i = tl.program_id(0) % 4 * B + tl.arange(0, B)
    for a in range(0, rounds):
        for b in range(0, 3):
            tl.store(y + i, a * 3 + b, mask=i < n)  # @S


case(nested_own_tile, nested_own_tile_race,
     lambda n, rounds, B: ((cdiv(n, B),), dict(y=T("i32", n))),
     big=dict(n=1048579, rounds=5, B=1024), small=dict(n=93, rounds=3, B=16))


@triton.jit
def nested_offsets(y, outer, inner, B: tl.constexpr):
    pid = tl.program_id(0)
    for i in range(0, outer):
        for j in range(0, inner):
            at = (pid * outer + i) * inner + j
            tl.store(y + at * B + tl.arange(0, B), i + j)  # @S


@triton.jit
def nested_offsets_race(y, outer, inner, B: tl.constexpr):
    pid = tl.program_id(0)
    for i in range(0, outer):
        for j in range(0, inner):
            at = pid * outer + i * inner + j
            tl.store(y + at * B + tl.arange(0, B), i + j)  # @S


case(nested_offsets, nested_offsets_race,
     lambda programs, outer, inner, B: ((programs,), dict(y=T("i32", programs * outer * inner * B))),
     big=dict(programs=1021, outer=5, inner=7, B=64), small=dict(programs=3, outer=2, inner=3, B=8))


@triton.jit
def triangle(y, m, B: tl.constexpr):
    block = tl.program_id(0)
    lane = tl.arange(0, B)
    for i in range(0, m):
        for j in range(0, i + 1):
            tl.store(y + ((block * m + i) * m + j) * B + lane, i - j)  # @S
            if j < i:
                tl.store(y + ((block * m + j) * m + i) * B + lane, i + j)  # @T


@triton.jit
def triangle_race(y, m, B: tl.constexpr):
    block = tl.program_id(0)
    lane = tl.arange(0, B)
    for i in range(0, m):
        for j in range(0, i + 1):
            tl.store(y + ((block * m + i) * m + j) * B + lane, i - j)  # @S
            if j < i:
                tl.store(y + ((block * m + j) * m + j) * B + lane, i + j)  # @T


case(triangle, triangle_race,
     lambda blocks, m, B: ((blocks,), dict(y=T("i32", blocks, m, m, B))),
     big=dict(blocks=1000, m=9, B=32), small=dict(blocks=3, m=4, B=8))


@triton.jit
def two_loops(y, half, B: tl.constexpr):
    base = tl.program_id(0) * half * (2 * B)
    lane = tl.arange(0, B)
    for i in range(0, half):
        tl.store(y + base + i * B + lane, i)  # @F
    for j in range(0, half):
        tl.store(y + base + (half + j) * B + lane, -j)  # @G


@triton.jit
def two_loops_race(y, half, B: tl.constexpr):
    base = tl.program_id(0) * half * (2 * B)
    lane = tl.arange(0, B)
    for i in range(0, half):
        tl.store(y + base + i * B + lane, i)  # @F
    for j in range(0, half):
        tl.store(y + base + (half - 1 + j) * B + lane, -j)  # @G


case(two_loops, two_loops_race,
     lambda programs, half, B: ((programs,), dict(y=T("i32", programs * half * 2 * B))),
     big=dict(programs=1201, half=7, B=128), small=dict(programs=3, half=3, B=16))


@triton.jit
def accumulate_then_update(a, p, n, rows, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    for k in range(0, rows):
        total += tl.load(a + k * B + tl.arange(0, B))
    v = tl.load(p + i, mask=i < n)  # @L
    tl.store(p + i, v + total, mask=i < n)  # @S


@triton.jit
def accumulate_then_update_race(a, p, n, rows, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    for k in range(0, rows):
        total += tl.load(a + k * B + tl.arange(0, B))
    v = tl.load(p + i, mask=i < n)  # @L
    tl.store(p + (i ^ 1), v + total, mask=i < n)  # @S


case(accumulate_then_update, accumulate_then_update_race,
     lambda n, rows, B: ((cdiv(n, B),), dict(a=T("f32", rows, B), p=T("f32", n + 1))),
     big=dict(n=1048581, rows=6, B=1024), small=dict(n=61, rows=3, B=16))


@triton.jit
def counting_while(x, y, n, chunk, B: tl.constexpr):
    start = tl.program_id(0) * chunk
    stop = start + chunk
    while start < stop:
        i = start + tl.arange(0, B)
        v = tl.load(x + i, mask=(i < n) & (i < stop), other=0)
        tl.store(y + i, v * 3, mask=(i < n) & (i < stop))  # @S
        start += B


@triton.jit
def counting_while_race(x, y, n, chunk, B: tl.constexpr):
    start = tl.program_id(0) * chunk
    stop = start + chunk + 1
    while start < stop:
        i = start + tl.arange(0, B)
        v = tl.load(x + i, mask=(i < n) & (i < stop), other=0)
        tl.store(y + i, v * 3, mask=(i < n) & (i < stop))  # @S
        start += B


case(counting_while, counting_while_race,
     lambda n, chunk, B: ((cdiv(n, chunk),), dict(x=T("i32", n), y=T("i32", n))),
     big=dict(n=1049001, chunk=1000, B=256), small=dict(n=131, chunk=40, B=16))


@triton.jit
def unrolled_taps(x, y, n, TAPS: tl.constexpr, B: tl.constexpr):
    lane = tl.program_id(0) * B + tl.arange(0, B)
    for t in tl.static_range(TAPS):
        v = tl.load(x + lane, mask=lane < n, other=0.0)
        tl.store(y + lane * TAPS + t, v * (t + 1), mask=lane < n)  # @S


@triton.jit
def unrolled_taps_race(x, y, n, TAPS: tl.constexpr, B: tl.constexpr):
    lane = tl.program_id(0) * B + tl.arange(0, B)
    for t in tl.static_range(TAPS):
        v = tl.load(x + lane, mask=lane < n, other=0.0)
        tl.store(y + lane * TAPS + t * t, v * (t + 1), mask=lane < n)  # @S


case(unrolled_taps, unrolled_taps_race,
     lambda n, TAPS, B: ((cdiv(n, B),), dict(x=T("f32", n), y=T("f32", n * TAPS + TAPS * TAPS))),
     big=dict(n=1048579, TAPS=4, B=1024), small=dict(n=45, TAPS=4, B=16))


@triton.jit
def count_down(x, y, n, B: tl.constexpr):
    row = tl.program_id(0)
    last = row * n
    for k in range(tl.cdiv(n, B) - 1, -1, -1):
        c = k * B + tl.arange(0, B)
        v = tl.load(x + last + c, mask=c < n)
        tl.store(y + last + (n - 1 - c), v, mask=c < n)  # @S


@triton.jit
def count_down_race(x, y, n, B: tl.constexpr):
    row = tl.program_id(0)
    last = row * n
    for k in range(tl.cdiv(n, B) - 1, -1, -1):
        c = k * B + tl.arange(0, B)
        v = tl.load(x + last + c, mask=c < n)
        tl.store(y + last + (n - 1 - c), v, mask=c < n + 3)  # @S


case(count_down, count_down_race,
     lambda m, n, B: ((m,), dict(x=T("f32", m, n), y=T("f32", m, n))),
     big=dict(m=1200, n=901, B=256), small=dict(m=5, n=43, B=16))


@triton.jit
def affine_bound(y, total, ROW: tl.constexpr, B: tl.constexpr):
    for t in range(tl.program_id(0), total, 4):
        tl.store(y + t * ROW + tl.arange(0, B), t)  # @S


@triton.jit
def affine_bound_race(y, total, ROW: tl.constexpr, B: tl.constexpr):
    for t in range(tl.program_id(0), total, 3):
        tl.store(y + t * ROW + tl.arange(0, B), t)  # @S


case(affine_bound, affine_bound_race,
     lambda total, ROW, B: ((4,), dict(y=T("i32", total * ROW))),
     big=dict(total=16387, ROW=64, B=64), small=dict(total=13, ROW=16, B=16))


@triton.jit
def grid_stride(x, y, n, B: tl.constexpr):
    step = tl.num_programs(0) * B
    for start in range(tl.program_id(0) * B, n, step):
        i = start + tl.arange(0, B)
        v = tl.load(x + i, mask=i < n)
        tl.store(y + i, v * v, mask=i < n)  # @S


@triton.jit
def grid_stride_race(x, y, n, B: tl.constexpr):
    step = tl.num_programs(0) * B
    for start in range(tl.program_id(0) * B, n, step - B):
        i = start + tl.arange(0, B)
        v = tl.load(x + i, mask=i < n)
        tl.store(y + i, v * v, mask=i < n)  # @S


case(grid_stride, grid_stride_race,
     lambda n, programs, B: ((programs,), dict(x=T("f32", n), y=T("f32", n))),
     big=dict(n=2097202, programs=216, B=1024), small=dict(n=109, programs=3, B=16))


@triton.jit
def batched_rows(x, y, m, n, ROWS: tl.constexpr, B: tl.constexpr):
    first = tl.program_id(0) * ROWS
    for r in range(first, tl.minimum(first + ROWS, m)):
        for off in range(0, n, B):
            c = off + tl.arange(0, B)
            v = tl.load(x + r * n + c, mask=c < n, other=0.0)
            tl.store(y + r * n + c, tl.maximum(v, 0.0), mask=c < n)  # @S


@triton.jit
def batched_rows_race(x, y, m, n, ROWS: tl.constexpr, B: tl.constexpr):
    first = tl.program_id(0) * ROWS
    for r in range(first, tl.minimum(first + ROWS + 1, m)):
        for off in range(0, n, B):
            c = off + tl.arange(0, B)
            v = tl.load(x + r * n + c, mask=c < n, other=0.0)
            tl.store(y + r * n + c, tl.maximum(v, 0.0), mask=c < n)  # @S


case(batched_rows, batched_rows_race,
     lambda m, n, ROWS, B: ((cdiv(m, ROWS),), dict(x=T("f32", m, n), y=T("f32", m, n))),
     big=dict(m=4003, n=300, ROWS=4, B=128), small=dict(m=13, n=29, ROWS=4, B=16))


@triton.jit
def pointer_walk(x, y, n, stride, rows, B: tl.constexpr):
    cols = tl.program_id(0) * B + tl.arange(0, B)
    px = x + cols
    py = y + cols
    for r in range(0, rows):
        v = tl.load(px, mask=cols < n, other=0.0)
        tl.store(py, v * 0.5, mask=cols < n)  # @S
        px += stride
        py += stride


@triton.jit
def pointer_walk_race(x, y, n, stride, rows, B: tl.constexpr):
    cols = tl.program_id(0) * B + tl.arange(0, B)
    px = x + cols
    py = y + cols
    for r in range(0, rows):
        v = tl.load(px, mask=cols < n, other=0.0)
        tl.store(py, v * 0.5, mask=cols < n)  # @S
        px += stride
        py += stride - B


case(pointer_walk, pointer_walk_race,
     lambda n, stride, rows, B: ((cdiv(n, B),), dict(x=T("f32", rows, n, strides=[stride, 1]), y=T("f32", rows, n, strides=[stride, 1]))),
     big=dict(n=130003, stride=130016, rows=10, B=128), small=dict(n=43, stride=48, rows=4, B=16))


@triton.jit
def csr_rows(indptr, values, row_scale, nnz, B: tl.constexpr):
    row = tl.program_id(0)
    lo, hi = tl.load(indptr + row), tl.load(indptr + row + 1)
    s = tl.load(row_scale + row)
    for k in range(lo, hi, B):  # @L
        i = k + tl.arange(0, B)
        inside = (i < nnz) & (i < hi)
        v = tl.load(values + i, mask=inside, other=0.0)  # @V
        tl.store(values + i, v * s, mask=inside)  # @S


@triton.jit
def csr_rows_race(indptr, values, row_scale, nnz, B: tl.constexpr):
    row = tl.program_id(0)
    lo, hi = row * 8, row * 8 + 2 * B
    s = tl.load(row_scale + row)
    for k in range(lo, hi, B):  # @L
        i = k + tl.arange(0, B)
        inside = (i < nnz) & (i < hi)
        v = tl.load(values + i, mask=inside, other=0.0)  # @V
        tl.store(values + i, v * s, mask=inside)  # @S


case(csr_rows, csr_rows_race,
     lambda rows, nnz, B: ((rows,), dict(indptr=T("i32", rows + 1), values=T("f32", nnz), row_scale=T("f32", rows))),
     big=dict(rows=2001, nnz=1050003, B=256), small=dict(rows=5, nnz=61, B=16))


@triton.jit
def spmv(indptr, column, values, x, y, m, B: tl.constexpr):
    row = tl.program_id(0)
    if row < m:
        lo = tl.load(indptr + row)
        hi = tl.load(indptr + row + 1)
        acc = tl.zeros((B,), tl.float32)
        for k in range(lo, hi, B):
            i = k + tl.arange(0, B)
            c = tl.load(column + i, mask=i < hi, other=0)
            a = tl.load(values + i, mask=i < hi, other=0.0)
            acc += a * tl.load(x + c, mask=i < hi, other=0.0)
        tl.store(y + row, tl.sum(acc, axis=0))  # @S


@triton.jit
def spmv_race(indptr, column, values, x, y, m, B: tl.constexpr):
    row = tl.program_id(0)
    if row < m:
        lo = tl.load(indptr + row)
        hi = tl.load(indptr + row + 1)
        acc = tl.zeros((B,), tl.float32)
        for k in range(lo, hi, B):
            i = k + tl.arange(0, B)
            c = tl.load(column + i, mask=i < hi, other=0)
            a = tl.load(values + i, mask=i < hi, other=0.0)
            acc += a * tl.load(x + c, mask=i < hi, other=0.0)
        tl.store(y + row % 100, tl.sum(acc, axis=0))  # @S


case(spmv, spmv_race,
     lambda m, n, nnz, B: ((m + 3,), dict(indptr=T("i32", m + 1), column=T("i32", nnz), values=T("f32", nnz), x=T("f32", n), y=T("f32", m))),
     big=dict(m=1999, n=3000, nnz=1048600, B=128), small=dict(m=103, n=11, nnz=61, B=8))


@triton.jit
def pad_sequences(x, offsets, out, lengths, MAX: tl.constexpr, B: tl.constexpr):
    seq = tl.program_id(0)
    lo = tl.load(offsets + seq)
    count = tl.load(offsets + seq + 1) - lo
    for t in range(0, count, B):
        i = t + tl.arange(0, B)
        v = tl.load(x + lo + i, mask=i < count, other=0.0)
        tl.store(out + seq * MAX + i, v, mask=(i < count) & (i < MAX))  # @S
    tl.store(lengths + seq, count)  # @C


@triton.jit
def pad_sequences_race(x, offsets, out, lengths, MAX: tl.constexpr, B: tl.constexpr):
    seq = tl.program_id(0)
    lo = tl.load(offsets + seq)
    count = tl.load(offsets + seq + 1) - lo
    for t in range(0, count, B):
        i = t + tl.arange(0, B)
        v = tl.load(x + lo + i, mask=i < count, other=0.0)
        tl.store(out + seq * MAX + i, v, mask=(i < count) & (i < MAX))  # @S
    tl.store(lengths + seq // 2, count)  # @C


case(pad_sequences, pad_sequences_race,
     lambda sequences, tokens, MAX, B: ((sequences,), dict(x=T("f32", tokens), offsets=T("i32", sequences + 1), out=T("f32", sequences, MAX), lengths=T("i32", sequences))),
     big=dict(sequences=1030, tokens=1050001, MAX=2047, B=256), small=dict(sequences=5, tokens=61, MAX=29, B=16))


@triton.jit
def bounded_steps(out, n, LIMIT: tl.constexpr):
    pid = tl.program_id(0)
    for k in range(0, n):
        if k < LIMIT:
            tl.store(out + pid * LIMIT + k, k)  # @S


@triton.jit
def bounded_steps_race(out, n, LIMIT: tl.constexpr):
    pid = tl.program_id(0)
    for k in range(0, n):
        if k < 2 * LIMIT:
            tl.store(out + pid * LIMIT + k, k)  # @S


case(bounded_steps, bounded_steps_race,
     lambda n, programs, LIMIT: ((programs,), dict(out=T("i32", programs * LIMIT))),
     big=dict(n=128, programs=16411, LIMIT=64), small=dict(n=21, programs=5, LIMIT=8))


@triton.jit
def sliding_store(out, B: tl.constexpr, STEPS: tl.constexpr):
    base = tl.program_id(0) * (B * STEPS)
    for k in range(STEPS):
        tl.store(out + base + k * B + tl.arange(0, B), k)  # @S


@triton.jit
def sliding_store_race(out, B: tl.constexpr, STEPS: tl.constexpr):
    base = tl.program_id(0) * (B * STEPS)
    for k in range(STEPS):
        tl.store(out + base + k + tl.arange(0, B), k)  # @S


case(sliding_store, sliding_store_race,
     lambda programs, B, STEPS: ((programs,), dict(out=T("i32", programs * B * STEPS))),
     big=dict(programs=1025, B=256, STEPS=5), small=dict(programs=5, B=16, STEPS=5))


@triton.jit
def rotating_lanes(out, n, B: tl.constexpr, STEPS: tl.constexpr):
    lane = tl.arange(0, B)
    base = tl.program_id(0) * B
    for k in range(STEPS):
        at = base + lane
        tl.store(out + at, k, mask=at < n)  # @S


@triton.jit
def rotating_lanes_race(out, n, B: tl.constexpr, STEPS: tl.constexpr):
    lane = tl.arange(0, B)
    base = tl.program_id(0) * B
    for k in range(STEPS):
        at = base + (lane + k) % B
        tl.store(out + at, k, mask=at < n)  # @S


case(rotating_lanes, rotating_lanes_race,
     lambda n, B, STEPS: ((cdiv(n, B),), dict(out=T("i32", n))),
     big=dict(n=1048579, B=1024, STEPS=3), small=dict(n=61, B=16, STEPS=3))
