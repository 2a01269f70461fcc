"""Atomics and the handovers that need a synchronisation model."""
import triton
import triton.language as tl

from registry import T, case, cdiv


@triton.jit
def count_flags(x, counters, n, SLOTS: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    hits = tl.sum((v > 0).to(tl.int32), axis=0)
    if hits > 0:
        tl.atomic_add(counters + pid % SLOTS, hits, sem="relaxed")  # @A
    tl.atomic_max(counters + SLOTS, pid, sem="relaxed")  # @M


@triton.jit
def count_flags_race(x, counters, n, SLOTS: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    hits = tl.sum((v > 0).to(tl.int32), axis=0)
    if hits > 0:
        tl.atomic_add(counters + pid % SLOTS, hits, sem="relaxed")  # @A
    tl.store(counters + SLOTS, pid)  # @M


case(count_flags, count_flags_race,
     lambda n, SLOTS, B: ((cdiv(n, B),), dict(x=T("i32", n), counters=T("i32", SLOTS + 1))),
     big=dict(n=1048579, SLOTS=8, B=1024), small=dict(n=61, SLOTS=2, B=16))


@triton.jit
def atomic_and_reader(x, total, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    s = tl.sum(v, axis=0)
    tl.atomic_add(total, s, sem="relaxed")  # @A
    seen = tl.atomic_add(total, 0, sem="relaxed")  # @R
    tl.store(y + i, v - seen, mask=i < n)


@triton.jit
def atomic_and_reader_race(x, total, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    s = tl.sum(v, axis=0)
    tl.atomic_add(total, s, sem="relaxed")  # @A
    seen = tl.load(total)  # @R
    tl.store(y + i, v - seen, mask=i < n)


case(atomic_and_reader, atomic_and_reader_race,
     lambda n, B: ((cdiv(n, B),), dict(x=T("i32", n), total=T("i32", 1), y=T("i32", n))),
     big=dict(n=1048579, B=1024), small=dict(n=61, B=16))


@triton.jit
def atomic_widths(acc, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(acc + (i % 7) * 2, 1, mask=i < n, sem="relaxed")  # @A
    wide = acc.to(tl.pointer_type(tl.int32))
    tl.atomic_add(wide + tl.arange(0, 8), 1, sem="relaxed")  # @B


@triton.jit
def atomic_widths_race(acc, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(acc + (i % 7) * 2, 1, mask=i < n, sem="relaxed")  # @A
    wide = acc.to(tl.pointer_type(tl.int64))
    tl.atomic_add(wide + tl.arange(0, 8), 1, sem="relaxed")  # @B


case(atomic_widths, atomic_widths_race,
     lambda n, B: ((cdiv(n, B),), dict(acc=T("i32", 16))),
     big=dict(n=1048579, B=1024), small=dict(n=61, B=16))


@triton.jit
def bucket_marks(marks, n, BUCKETS: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    for shift in tl.static_range(4):
        slot = (i >> (shift * 2)) & (BUCKETS - 1)
        tl.atomic_or(marks + shift * BUCKETS + slot, 1, mask=i < n, sem="relaxed")  # @A


@triton.jit
def bucket_marks_race(marks, n, BUCKETS: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    for shift in tl.static_range(4):
        slot = (i >> (shift * 2)) & (BUCKETS - 1)
        tl.store(marks + shift * BUCKETS + slot, 1, mask=i < n)  # @A


case(bucket_marks, bucket_marks_race,
     lambda n, BUCKETS, B: ((cdiv(n, B),), dict(marks=T("i32", 4 * BUCKETS))),
     big=dict(n=1048579, BUCKETS=16, B=1024), small=dict(n=61, BUCKETS=8, B=16))


@triton.jit
def last_block(x, partial, counter, out, n, B: tl.constexpr, P: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    s = tl.sum(tl.load(x + i, mask=i < n, other=0), axis=0)
    tl.store(partial + pid, s)  # @P
    tl.debug_barrier()
    ticket = tl.atomic_add(counter, 1, sem="acq_rel")
    tl.debug_barrier()
    if ticket == tl.num_programs(0) - 1:
        j = tl.arange(0, P)
        all_parts = tl.load(partial + j, mask=j < tl.num_programs(0), other=0)  # @R
        tl.store(out, tl.sum(all_parts, axis=0))  # @O


@triton.jit
def last_block_race(x, partial, counter, out, n, B: tl.constexpr, P: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    s = tl.sum(tl.load(x + i, mask=i < n, other=0), axis=0)
    tl.store(partial + pid // 2, s)  # @P
    tl.debug_barrier()
    ticket = tl.atomic_add(counter, 1, sem="acq_rel")
    tl.debug_barrier()
    if ticket == tl.num_programs(0) - 1:
        j = tl.arange(0, P)
        all_parts = tl.load(partial + j, mask=j < tl.num_programs(0), other=0)  # @R
        tl.store(out, tl.sum(all_parts, axis=0))  # @O


case(last_block, last_block_race,
     lambda n, B: ((cdiv(n, B),), dict(x=T("i32", n), partial=T("i32", cdiv(n, B)), counter=T("i32", 1, fill=0), out=T("i32", 1), P=1 << (cdiv(n, B) - 1).bit_length())),
     big=dict(n=1048579, B=1024), small=dict(n=61, B=16))


@triton.jit
def handoff_flag(x, data, flag, y, n, B: tl.constexpr):
    pair = tl.program_id(0) // 2
    i = pair * B + tl.arange(0, B)
    if tl.program_id(0) % 2 == 0:
        tl.store(data + i, tl.load(x + i, mask=i < n, other=0.0), mask=i < n)  # @P
        tl.debug_barrier()
        tl.atomic_xchg(flag + pair, 1, sem="release")
    else:
        seen = tl.atomic_add(flag + pair, 0, sem="acquire")
        tl.debug_barrier()
        if seen == 1:
            tl.store(y + i, tl.load(data + i, mask=i < n), mask=i < n)  # @C


@triton.jit
def handoff_flag_race(x, data, flag, y, n, B: tl.constexpr):
    pair = tl.program_id(0) // 2
    i = pair * B + tl.arange(0, B)
    if tl.program_id(0) % 2 == 0:
        tl.store(data + i - pair, tl.load(x + i, mask=i < n, other=0.0), mask=i < n)  # @P
        tl.debug_barrier()
        tl.atomic_xchg(flag + pair, 1, sem="release")
    else:
        seen = tl.atomic_add(flag + pair, 0, sem="acquire")
        tl.debug_barrier()
        if seen == 1:
            tl.store(y + i, tl.load(data + i, mask=i < n), mask=i < n)  # @C


case(handoff_flag, handoff_flag_race,
     lambda n, B: ((2 * cdiv(n, B),), dict(x=T("f32", n), data=T("f32", n), flag=T("i32", cdiv(n, B), fill=0), y=T("f32", n))),
     big=dict(n=1048579, B=1024), small=dict(n=61, B=16))


@triton.jit
def handoff_spin(x, data, flag, y, n, B: tl.constexpr):
    pair = tl.program_id(0) // 2
    i = pair * B + tl.arange(0, B)
    if tl.program_id(0) % 2 == 0:
        tl.store(data + i, tl.load(x + i, mask=i < n, other=0.0), mask=i < n)  # @P
        tl.debug_barrier()
        tl.atomic_xchg(flag + pair, 1, sem="release")
    else:
        while tl.atomic_cas(flag + pair, 1, 1, sem="acquire") != 1:
            pass
        tl.debug_barrier()
        tl.store(y + i, tl.load(data + i, mask=i < n), mask=i < n)  # @C


@triton.jit
def handoff_spin_race(x, data, flag, y, n, B: tl.constexpr):
    pair = tl.program_id(0) // 2
    i = pair * B + tl.arange(0, B)
    if tl.program_id(0) % 2 == 0:
        tl.store(data + i // 2, tl.load(x + i, mask=i < n, other=0.0), mask=i < n)  # @P
        tl.debug_barrier()
        tl.atomic_xchg(flag + pair, 1, sem="release")
    else:
        while tl.atomic_cas(flag + pair, 1, 1, sem="acquire") != 1:
            pass
        tl.debug_barrier()
        tl.store(y + i, tl.load(data + i, mask=i < n), mask=i < n)  # @C


case(handoff_spin, handoff_spin_race,
     lambda n, B: ((2 * cdiv(n, B),), dict(x=T("f32", n), data=T("f32", n), flag=T("i32", cdiv(n, B), fill=0), y=T("f32", n))),
     big=dict(n=1048579, B=1024), small=dict(n=61, B=16))
