"""Lanes, positions, widths and dependency order inside one program."""
import triton
import triton.language as tl

from registry import T, case, cdiv


@triton.jit
def broadcast_pointer(y, n, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    cell = y + pid + tl.zeros((B,), tl.int32)
    tl.store(cell, lane + pid, mask=(lane == 0) & (pid < n))  # @S


@triton.jit
def broadcast_pointer_race(y, n, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    cell = y + pid + tl.zeros((B,), tl.int32)
    tl.store(cell, lane + pid, mask=(lane <= 1) & (pid < n))  # @S


case(broadcast_pointer, broadcast_pointer_race,
     lambda n, B: ((n + 3,), dict(y=T("i32", n))),
     big=dict(n=4099, B=256), small=dict(n=13, B=8))


@triton.jit
def broadcast_row(y, m, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.arange(0, BN)
    p = y + rows[:, None] * BN + cols[None, :]
    tl.store(p, rows[:, None] + cols[None, :], mask=rows[:, None] < m)  # @S


@triton.jit
def broadcast_row_race(y, m, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.arange(0, BN)
    p = y + tl.program_id(0) * BM * BN + tl.zeros((BM, 1), tl.int32) + cols[None, :]
    tl.store(p, rows[:, None] + cols[None, :], mask=rows[:, None] < m)  # @S


case(broadcast_row, broadcast_row_race,
     lambda m, BM, BN: ((cdiv(m, BM),), dict(y=T("i32", m, BN))),
     big=dict(m=16411, BM=16, BN=64), small=dict(m=29, BM=8, BN=16))


@triton.jit
def two_ranges_one_axis(x, y, n, B: tl.constexpr):
    low = tl.program_id(0) * B + tl.arange(0, B)
    high = tl.arange(B, 2 * B)
    v = tl.load(x + low, mask=low < n)
    tl.store(y + low * 2 + high - B - tl.arange(0, B), v, mask=(low < n) & (high >= B))  # @S


@triton.jit
def two_ranges_one_axis_race(x, y, n, B: tl.constexpr):
    low = tl.program_id(0) * B + tl.arange(0, B)
    high = tl.arange(B, 2 * B)
    v = tl.load(x + low, mask=low < n)
    tl.store(y + low // 2 + high - B - tl.arange(0, B), v, mask=(low < n) & (high >= B))  # @S


case(two_ranges_one_axis, two_ranges_one_axis_race,
     lambda n, B: ((cdiv(n, B),), dict(x=T("f32", n), y=T("f32", 2 * n))),
     big=dict(n=1048579, B=1024), small=dict(n=61, B=16))


@triton.jit
def shift_in_place(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i + 1, mask=i < n)  # @L
    tl.store(x + i, v, mask=i < n)  # @S


@triton.jit
def shift_in_place_ok(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i + 1, mask=i < n)  # @L
    tl.store(y + i, v, mask=i < n)  # @S


case(shift_in_place, shift_in_place_ok,
     lambda n, B: ((cdiv(n, B),), dict(x=T("f32", n + 1), y=T("f32", n))),
     big=dict(n=1048579, B=1024), small=dict(n=61, B=16))


@triton.jit
def scalar_reload(x, y, n):
    pid = tl.program_id(0)
    if pid < n:
        tl.store(x + pid, pid * 3)  # @W
        tl.debug_barrier()
        tl.store(y + pid, tl.load(x + pid) + 1)  # @R


@triton.jit
def scalar_reload_race(x, y, n):
    pid = tl.program_id(0)
    if pid < n:
        tl.store(x + pid, pid * 3)  # @W
        pass
        tl.store(y + pid, tl.load(x + pid) + 1)  # @R


case(scalar_reload, scalar_reload_race,
     lambda n: ((n + 2,), dict(x=T("i32", n), y=T("i32", n))),
     big=dict(n=2051), small=dict(n=5))


@triton.jit
def overwrite_tile(y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, 0, mask=i < n)  # @A
    tl.debug_barrier()
    tl.store(y + i, i, mask=(i < n) & (i % 3 == 0))  # @B


@triton.jit
def overwrite_tile_race(y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, 0, mask=i < n)  # @A
    pass
    tl.store(y + i, i, mask=(i < n) & (i % 3 == 0))  # @B


case(overwrite_tile, overwrite_tile_race,
     lambda n, B: ((cdiv(n, B),), dict(y=T("i32", n))),
     big=dict(n=1048579, B=1024), small=dict(n=61, B=16))


@triton.jit
def exchange_chain(x, q, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n
    v = tl.load(x + i, mask=inside)  # @L
    old = tl.atomic_xchg(q + i, v, mask=inside)
    tl.store(x + i, old, mask=inside)  # @S


@triton.jit
def exchange_chain_race(x, q, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n
    v = tl.load(x + i, mask=inside)  # @L
    old = tl.atomic_xchg(q + i, v, mask=inside & (i % 2 == 0))
    tl.store(x + i, old, mask=inside)  # @S


case(exchange_chain, exchange_chain_race,
     lambda n, B: ((cdiv(n, B),), dict(x=T("i32", n), q=T("i32", n))),
     big=dict(n=1048579, B=1024), small=dict(n=61, B=16))


@triton.jit
def reduce_in_place(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    s = tl.sum(tl.load(x + i, mask=i < n, other=0), axis=0)  # @L
    dst = y
    tl.store(dst + i, i * 0 + s, mask=i < n)  # @S


@triton.jit
def reduce_in_place_race(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    s = tl.sum(tl.load(x + i, mask=i < n, other=0), axis=0)  # @L
    dst = x
    tl.store(dst + i, i * 0 + s, mask=i < n)  # @S


case(reduce_in_place, reduce_in_place_race,
     lambda n, B: ((cdiv(n, B),), dict(x=T("i32", n), y=T("i32", n))),
     big=dict(n=1048579, B=1024), small=dict(n=61, B=16))


@triton.jit
def transpose_in_place(x, y, B: tl.constexpr, tiles):
    tile = tl.program_id(0)
    r = tl.arange(0, B)[:, None]
    c = tl.arange(0, B)[None, :]
    at = tile * (B * B) + r * B + c
    if tile < tiles:
        v = tl.load(x + at)  # @L
        tl.store(y + at, tl.trans(v))  # @S


@triton.jit
def transpose_in_place_race(x, y, B: tl.constexpr, tiles):
    tile = tl.program_id(0)
    r = tl.arange(0, B)[:, None]
    c = tl.arange(0, B)[None, :]
    at = tile * (B * B) + r * B + c
    if tile < tiles:
        v = tl.load(x + at)  # @L
        tl.store(x + at, tl.trans(v))  # @S


case(transpose_in_place, transpose_in_place_race,
     lambda tiles, B: ((tiles + 1,), dict(x=T("f32", tiles, B, B), y=T("f32", tiles, B, B))),
     big=dict(tiles=1031, B=32), small=dict(tiles=5, B=8))


@triton.jit
def splat_beside_tile(x, gain, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    g = tl.load(gain)
    v = tl.load(x + i, mask=i < n, other=0.0)  # @L
    at = i
    tl.store(x + at, v * g, mask=at < n)  # @S


@triton.jit
def splat_beside_tile_race(x, gain, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    g = tl.load(gain)
    v = tl.load(x + i, mask=i < n, other=0.0)  # @L
    at = i ^ 2
    tl.store(x + at, v * g, mask=at < n)  # @S


case(splat_beside_tile, splat_beside_tile_race,
     lambda n, B: ((cdiv(n, B),), dict(x=T("f32", n), gain=T("f32", 1))),
     big=dict(n=1048579, B=1024), small=dict(n=61, B=16))


@triton.jit
def byte_stride(y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    cell = (y + i).to(tl.pointer_type(tl.int16))
    tl.store(cell, i, mask=i < n)  # @S


@triton.jit
def byte_stride_race(y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    cell = (y + i).to(tl.pointer_type(tl.int32))
    tl.store(cell, i, mask=i < n)  # @S


case(byte_stride, byte_stride_race,
     lambda n, B: ((cdiv(n, B),), dict(y=T("i16", n + 1))),
     big=dict(n=1048579, B=1024), small=dict(n=61, B=16))


@triton.jit
def odd_width_tiles(y, W: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    tl.store(y + tl.program_id(0) * W + lane, lane.to(tl.float16), mask=lane < W)  # @S


@triton.jit
def odd_width_tiles_race(y, W: tl.constexpr, B: tl.constexpr):
    lane = tl.arange(0, B)
    tl.store(y + tl.program_id(0) * W + lane, lane.to(tl.float16), mask=lane <= W)  # @S


case(odd_width_tiles, odd_width_tiles_race,
     lambda programs, W, B: ((programs,), dict(y=T("f16", programs * W))),
     big=dict(programs=4001, W=263, B=512), small=dict(programs=5, W=13, B=16))


@triton.jit
def signed_remainder(y, B: tl.constexpr):
    lane = tl.arange(0, B)
    x = tl.program_id(0) * B + lane
    r = (lane + 4) % 4 + (lane // 4) * 4
    tl.store(y + B + tl.program_id(0) * B + r, x)  # @S


@triton.jit
def signed_remainder_race(y, B: tl.constexpr):
    lane = tl.arange(0, B)
    x = tl.program_id(0) * B + lane
    r = (lane - 4) % 4 + (lane // 4) * 4
    tl.store(y + B + tl.program_id(0) * B + r, x)  # @S


case(signed_remainder, signed_remainder_race,
     lambda programs, B: ((programs,), dict(y=T("i32", programs * B + 2 * B))),
     big=dict(programs=16385, B=64), small=dict(programs=5, B=8))


@triton.jit
def split_values(k, v, o, z, t, width, BT: tl.constexpr, DK: tl.constexpr, DV: tl.constexpr):
    iv = tl.program_id(0)
    tile = tl.program_id(1)
    head = tl.program_id(2)
    rows = tile * BT + tl.arange(0, BT)
    dk = tl.arange(0, DK)
    dv = iv * DV + tl.arange(0, DV)
    tk = tl.load(k + (head * t + rows)[:, None] * DK + dk[None, :], mask=rows[:, None] < t, other=0.0)
    norm = tl.sum(tk, axis=1)
    at = (head * t + rows)[:, None] * width + dv[None, :]
    tv = tl.load(v + at, mask=rows[:, None] < t, other=0.0)
    tl.store(o + at, tv * norm[:, None], mask=rows[:, None] < t)  # @O
    tl.store(z + head * t + rows, norm, mask=rows < t)  # @Z


@triton.jit
def split_values_ok(k, v, o, z, t, width, BT: tl.constexpr, DK: tl.constexpr, DV: tl.constexpr):
    iv = tl.program_id(0)
    tile = tl.program_id(1)
    head = tl.program_id(2)
    rows = tile * BT + tl.arange(0, BT)
    dk = tl.arange(0, DK)
    dv = iv * DV + tl.arange(0, DV)
    tk = tl.load(k + (head * t + rows)[:, None] * DK + dk[None, :], mask=rows[:, None] < t, other=0.0)
    norm = tl.sum(tk, axis=1)
    at = (head * t + rows)[:, None] * width + dv[None, :]
    tv = tl.load(v + at, mask=rows[:, None] < t, other=0.0)
    tl.store(o + at, tv * norm[:, None], mask=rows[:, None] < t)  # @O
    tl.store(z + head * t + rows, norm, mask=(rows < t) & (iv == 0))  # @Z


case(split_values, split_values_ok,
     lambda nv, t, heads, BT, DK, DV: ((nv, cdiv(t, BT), heads),
     dict(k=T("f32", heads, t, DK), v=T("f32", heads, t, nv * DV), o=T("f32", heads, t, nv * DV), z=T("f32", heads, t), width=nv * DV)),
     big=dict(nv=4, t=1003, heads=9, BT=32, DK=64, DV=32), small=dict(nv=3, t=19, heads=3, BT=8, DK=8, DV=8))
