"""Who hands what to whom: radix ranks, stealing, look-back, the last block, act upon a check, timeouts, library calls and assembly, arrays of pointers, grid barriers with a count that is set
back, queues. V chooses the variant: a correct one, or one with another order, scope, cell or barrier."""
from cases import T, case, load_triton
triton, tl = load_triton()
try:
    from triton.language.extra import libdevice
except ImportError:
    libdevice = None


NEVER = "races|unsupported never=ok"
PERHAPS = "ok|unsupported"


def both(name, fn, grid, args, safe=(0,), races=(1,), ok="ok", bad="races"):
    """One launch for each variant of the kernel: V in `safe` is right, V in `races` is not."""
    for v in safe:
        case(f"{name}_{v}" if v else name, fn, ok, grid, args(V=v))
    for v in races:
        case(f"{name}_wrong{v}", fn, bad, grid, args(V=v))


# Radix pass: local histogram + global offsets by atomics, then rank.
@triton.jit
def radix_rank(x_ptr, off_ptr, out_ptr, n, shift, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    x = tl.load(x_ptr + i, mask=m, other=0)
    d = (x >> shift) & 3
    for b in tl.static_range(4):
        k = (d == b) & m
        r = tl.cumsum(k.to(tl.int32), 0)
        c = tl.sum(k.to(tl.int32), 0)
        base = tl.atomic_add(off_ptr + b, c)
        if V == 0:
            tl.store(out_ptr + base + r - 1, x, mask=k)
        elif V == 1:
            tl.store(out_ptr + base + r, x, mask=k)
        elif V == 2:
            tl.store(out_ptr + base + r - 1, x, mask=m)
        elif V == 3:
            tl.store(out_ptr + b * 16 + base + r - 1, x, mask=k)


xs = [(i * 13 + i // 2) % 64 for i in range(60)]
cc = [sum((x & 3) == b for x in xs) for b in range(4)]


def rr(V, vals=True):
    return dict(x_ptr=T("i32", 60, values=xs if vals else None), off_ptr=T("i32", 4, values=[sum(cc[:b]) for b in range(4)]), out_ptr=T("i32", 128), n=60, shift=0, V=V, B=16)


both("radix_rank", radix_rank, (4,), rr, safe=(0, 1), races=(2,), ok=PERHAPS, bad=NEVER)
both("radix_rank_lap", radix_rank, (4,), lambda V: dict(rr(V), off_ptr=T("i32", 4, values=[0, 0, 0, 0])), safe=(), races=(3,) if max(cc) > 16 else (), bad=NEVER)


# Stream compaction whole: count pass result base per program by exclusive scan of counts in the kernel.
@triton.jit
def compact_selfbase(x_ptr, o_ptr, n, V: tl.constexpr, B: tl.constexpr, G: tl.constexpr):
    pid = tl.program_id(0)
    a = tl.arange(0, G * B)
    xa = tl.load(x_ptr + a, mask=a < n, other=0)
    ka = (xa > 3) & (a < n)
    p = tl.cumsum(ka.to(tl.int32), 0) - 1
    own = (a // B) == pid
    if V == 0:
        tl.store(o_ptr + p, xa, mask=ka & own)
    elif V == 1:
        tl.store(o_ptr + p, xa, mask=ka)
    elif V == 2:
        tl.store(o_ptr + p, xa, mask=own)
    elif V == 3:
        tl.store(o_ptr + p, xa, mask=ka & (a // B >= pid))


def cs(V, vals=True):
    return dict(x_ptr=T("i32", 60, values=[(i * 7) % 8 for i in range(60)] if vals else None), o_ptr=T("i32", 70), n=60, V=V, B=16, G=4)


both("compact_selfbase", compact_selfbase, (4,), cs, safe=(0,), races=(1, 2, 3))
both("compact_selfbase_any", compact_selfbase, (4,), lambda V: cs(V, False), safe=(0,), races=(1, 2, 3), ok=PERHAPS, bad=NEVER)


# Persistent with tile counter stealing plus last done.
@triton.jit
def steal_sum(x_ptr, out_ptr, ctr_ptr, done_ptr, tot_ptr, n_tiles, V: tl.constexpr, B: tl.constexpr):
    o = tl.arange(0, B)
    t = tl.atomic_add(ctr_ptr, 1)
    while t < n_tiles:
        x = tl.load(x_ptr + t * B + o)
        tl.store(out_ptr + t, tl.sum(x, axis=0))
        t = tl.atomic_add(ctr_ptr, 1)
    if V != 2:
        tl.debug_barrier()
    sem: tl.constexpr = "relaxed" if V == 1 else "acq_rel"
    d = tl.atomic_add(done_ptr, 1, sem=sem)
    if d == tl.num_programs(0) - 1:
        if V != 3:
            tl.debug_barrier()
        s = tl.load(out_ptr + o, mask=o < n_tiles, other=0.0)
        tl.store(tot_ptr, tl.sum(s, axis=0))


both("steal_sum", steal_sum, (3,), lambda V: dict(x_ptr=T("f32", 7, 16), out_ptr=T("f32", 16), ctr_ptr=T("i32", 1, values=[0]), done_ptr=T("i32", 1, values=[0]), tot_ptr=T("f32", 1), n_tiles=7,
     V=V, B=16), safe=(0,), races=(1, 2, 3), bad=NEVER)


# Decoupled look-back three states in one i64 (flag and value packed) by atomic_xchg / atomic_add 0.
@triton.jit
def lookback_packed(x_ptr, y_ptr, st_ptr, n, V: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    s = tl.sum(x, axis=0).to(tl.int64)
    if pid == 0:
        tl.atomic_xchg(st_ptr, (s << 2) | 2)
        pre = s * 0
    else:
        tl.atomic_xchg(st_ptr + pid, (s << 2) | 1)
        pre = s * 0
        j = pid - 1
        run = pid > 0
        while run:
            w = tl.atomic_add(st_ptr + j, 0)
            f = w & 3
            if f == 2:
                pre += w >> 2
                run = False
            elif f == 1:
                pre += w >> 2
                j -= 1
        tl.atomic_xchg(st_ptr + pid, ((pre + s) << 2) | 2)
    c = tl.cumsum(x, 0)
    if V == 1:
        tl.store(y_ptr + i + 1, c + pre.to(tl.int32), mask=i < n)
        tl.store(y_ptr + i, c + pre.to(tl.int32), mask=i < n)
    elif V == 2:
        tl.store(y_ptr + i, c + pre.to(tl.int32))
    else:
        tl.store(y_ptr + i, c + pre.to(tl.int32), mask=i < n)


both("lookback_packed", lookback_packed, (4,), lambda V: dict(x_ptr=T("i32", 60), y_ptr=T("i32", 70), st_ptr=T("i64", 4, values=[0] * 4), n=60, V=V, B=16), safe=(0, 2), races=(1,))


# Look-back with separate value and flag arrays (single prior block chain).
@triton.jit
def lookback_chain(x_ptr, y_ptr, val_ptr, flag_ptr, n, V: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    s = tl.sum(x, axis=0)
    pre = 0.0
    if pid > 0:
        if V == 3:
            while tl.atomic_add(flag_ptr + pid - 1, 0, sem="relaxed") == 0:
                pass
        else:
            while tl.atomic_cas(flag_ptr + pid - 1, 1, 1) != 1:
                pass
        if V != 4:
            tl.debug_barrier()
        pre = tl.load(val_ptr + pid - 1)
    tl.store(val_ptr + pid, pre + s)
    if V != 2:
        tl.debug_barrier()
    if V == 1:
        tl.store(flag_ptr + pid, 1)
    else:
        tl.atomic_xchg(flag_ptr + pid, 1)
    tl.store(y_ptr + i, tl.cumsum(x, 0) + pre, mask=i < n)


both("lookback_chain", lookback_chain, (4,), lambda V: dict(x_ptr=T("f32", 60), y_ptr=T("f32", 70), val_ptr=T("f32", 4), flag_ptr=T("i32", 4, values=[0] * 4), n=60, V=V, B=16), safe=(0,),
     races=(1, 2, 3, 4), bad=NEVER)


# Three-state look-back with separate arrays.
@triton.jit
def lookback_three(x_ptr, y_ptr, agg_ptr, inc_ptr, flag_ptr, n, V: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    s = tl.sum(x, axis=0)
    pre = 0.0
    if pid == 0:
        tl.store(inc_ptr, s)
        tl.debug_barrier()
        tl.atomic_xchg(flag_ptr, 2)
    else:
        tl.store(agg_ptr + pid, s)
        if V != 1:
            tl.debug_barrier()
        tl.atomic_xchg(flag_ptr + pid, 1)
        j = pid - 1
        done = False
        while not done:
            f = tl.atomic_add(flag_ptr + j, 0)
            tl.debug_barrier()
            if f == 2:
                pre += tl.load(inc_ptr + j)
                done = True
            elif f == 1:
                pre += tl.load((inc_ptr if V == 2 else agg_ptr) + j)
                j -= 1
        tl.store(inc_ptr + pid, pre + s)
        if V != 3:
            tl.debug_barrier()
        tl.atomic_xchg(flag_ptr + pid, 2)
    tl.store(y_ptr + i, tl.cumsum(x, 0) + pre, mask=i < n)


both("lookback_three", lookback_three, (4,), lambda V: dict(x_ptr=T("f32", 60), y_ptr=T("f32", 70), agg_ptr=T("f32", 4), inc_ptr=T("f32", 4), flag_ptr=T("i32", 4, values=[0] * 4), n=60, V=V, B=16),
     safe=(0,), races=(1, 2, 3), ok=PERHAPS, bad=NEVER)


# Split-k with semaphore, last one reduces and resets.
@triton.jit
def splitk_last(a_ptr, ws_ptr, c_ptr, sem_ptr, SK: tl.constexpr, V: tl.constexpr, B: tl.constexpr):
    t = tl.program_id(0)
    k = tl.program_id(1)
    o = tl.arange(0, B)
    x = tl.load(a_ptr + (t * SK + k) * B + o)
    tl.store(ws_ptr + (t * SK + k) * B + o, x)
    tl.debug_barrier()
    if V == 1:
        c = tl.atomic_add(sem_ptr, 1)
    else:
        c = tl.atomic_add(sem_ptr + t, 1)
    last = SK - 1
    if V == 2:
        last = SK - 2
    if c == last:
        tl.debug_barrier()
        acc = tl.zeros((B,), tl.float32)
        for j in range(SK):
            acc += tl.load(ws_ptr + (t * SK + j) * B + o)
        tl.store(c_ptr + t * B + o, acc)
        if V == 3:
            tl.atomic_xchg(sem_ptr + t, 0)
        elif V == 4:
            tl.store(sem_ptr + t, 0)


# 4: the plain store of the last one: ordered behind all others' atomics? others' atomics acq_rel, last one's read sees all: ordered; safe
both("splitk_last", splitk_last, (3, 4), lambda V: dict(a_ptr=T("f32", 12, 16), ws_ptr=T("f32", 12, 16), c_ptr=T("f32", 3, 16), sem_ptr=T("i32", 3, values=[0] * 3), SK=4, V=V, B=16), safe=(0, 3, 4),
     races=(1, 2), ok="ok", bad=NEVER)


# "if m > load(out): store" and poll w timeout.
@triton.jit
def check_then_store(x_ptr, out_ptr, flag_ptr, V: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    o = tl.arange(0, B)
    m = tl.max(tl.load(x_ptr + pid * B + o), axis=0)
    if V == 1:
        if m > tl.load(out_ptr):
            tl.store(out_ptr, m)
    elif V == 2:
        cur = tl.load(out_ptr)
        tl.store(out_ptr, tl.maximum(cur, m))
    elif V == 3:
        cur = tl.load(out_ptr)
        tl.store(out_ptr, m, mask=m > cur)
    elif V == 4:
        f = tl.load(flag_ptr)
        if f == 0:
            tl.store(flag_ptr, 1)
            tl.store(out_ptr, m)
    elif V == 0:
        if m > tl.load(out_ptr + pid):
            tl.store(out_ptr + pid, m)
    elif V == 5:
        f = tl.atomic_add(flag_ptr, 0)
        if f == 0:
            tl.atomic_xchg(flag_ptr, 1)
            tl.store(out_ptr, m)
    elif V == 6:
        n = 0
        while (tl.atomic_add(flag_ptr, 0) == 0) & (n < 100):
            n += 1
        tl.store(out_ptr + pid, m)
        tl.atomic_xchg(flag_ptr, 1)
    elif V == 7:
        n = 0
        while (tl.atomic_add(flag_ptr, 0) < pid) & (n < 100):
            n += 1
        tl.store(out_ptr, m)
        tl.atomic_add(flag_ptr, 1)


both("check_then_store", check_then_store, (3,), lambda V: dict(x_ptr=T("f32", 3, 16), out_ptr=T("f32", 3), flag_ptr=T("i32", 1, values=[0]), V=V, B=16), safe=(0, 6), races=(1, 3, 4), ok=PERHAPS, bad=NEVER)
both("act_at_once", check_then_store, (3,), lambda V: dict(x_ptr=T("f32", 3, 16), out_ptr=T("f32", 3), flag_ptr=T("i32", 1, values=[0]), V=V, B=16), safe=(), races=(2, 5, 7))


# Libdevice, device_assert, print, assume, multiple_of.
@triton.jit
def extras(x_ptr, y_ptr, n, s, V: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    tl.assume(s >= 0)
    tl.device_assert(n > 0, "n")
    i = pid * B + tl.arange(0, B)
    i = tl.multiple_of(tl.max_contiguous(i, B), B)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0, cache_modifier=".cg", eviction_policy="evict_last")
    y = libdevice.tanh(x) + tl.math.exp2(x)
    if V == 3:
        k = libdevice.float2int_rn(x)
        tl.store(y_ptr + k, y, mask=i < n)
    elif V == 4:
        y = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], dtype=tl.float32, is_pure=True, pack=1)
        tl.store(y_ptr + i, y, mask=i < n)
    elif V == 5:
        y = tl.inline_asm_elementwise("st.global.b32 [0], $1; mov.b32 $0, $1;", "=r,r", [x], dtype=tl.float32, is_pure=False, pack=1)
        tl.store(y_ptr + i, y, mask=i < n)
    elif V == 1:
        tl.store(y_ptr + i // 2, y, mask=i < n)
    elif V == 2:
        tl.store(y_ptr + i * s, y, mask=i < n)
    else:
        tl.store(y_ptr + i, y, mask=i < n, cache_modifier=".wt")
    tl.device_print("y", y)


both("extras", extras, (3,), lambda V: dict(x_ptr=T("f32", 90), y_ptr=T("f32", 90), n=90, s=0, V=V, B=32), safe=(0, 4), races=(1, 2))
both("extras_unknown", extras, (3,), lambda V: dict(x_ptr=T("f32", 90), y_ptr=T("f32", 90), n=90, s=0, V=V, B=32), safe=(), races=(3, 5), bad=NEVER)


# Pointers in memory.
@triton.jit
def ptr_table(t_ptr, x_ptr, n, V: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    o = tl.arange(0, B)
    p = tl.load(t_ptr + (pid // 2 if V == 1 else pid)).to(tl.pointer_type(tl.float32))
    tl.store(p + o, tl.load(x_ptr + pid * B + o))


both("ptr_table", ptr_table, (4,), lambda V: dict(t_ptr=T("i64", 4, values=[0x800000000, 0x800001000, 0x800002000, 0x800003000]), x_ptr=T("f32", 64), n=64, V=V, B=16), safe=(0,), races=(1,),
     ok=PERHAPS, bad=NEVER)


# Generation barrier with reset: count to P then reset and bump generation.
@triton.jit
def gen_barrier(x_ptr, y_ptr, cnt_ptr, gen_ptr, V: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    P = tl.num_programs(0)
    o = tl.arange(0, B)
    for r in range(3):
        src = x_ptr if r % 2 == 0 else y_ptr
        dst = y_ptr if r % 2 == 0 else x_ptr
        v = tl.load(src + ((pid + 1) % P) * B + o)
        tl.store(dst + pid * B + o, v + 1)
        tl.debug_barrier()
        c = tl.atomic_add(cnt_ptr, 1)
        if c == P - 1:
            tl.atomic_xchg(cnt_ptr, 0)
            tl.atomic_add(gen_ptr, 1)
        else:
            if V == 1:
                while tl.atomic_add(gen_ptr, 0) < r:
                    pass
            else:
                while tl.atomic_add(gen_ptr, 0) <= r:
                    pass
        if V != 2:
            tl.debug_barrier()


both("gen_barrier", gen_barrier, (3,), lambda V: dict(x_ptr=T("f32", 3, 16), y_ptr=T("f32", 3, 16), cnt_ptr=T("i32", 1, values=[0]), gen_ptr=T("i32", 1, values=[0]), V=V, B=16), safe=(0,), races=(1, 2),
     ok=PERHAPS, bad=NEVER)


# Work queue with push.
@triton.jit
def work_queue(q_ptr, head_ptr, tail_ptr, out_ptr, V: tl.constexpr):
    t = tl.atomic_add(head_ptr, 1)
    while t < tl.atomic_add(tail_ptr, 0):
        w = tl.load(q_ptr + t)
        if V == 1:
            tl.store(out_ptr, w)
        else:
            tl.store(out_ptr + t, w)
        t = tl.atomic_add(head_ptr, 1)


both("work_queue", work_queue, (3,), lambda V: dict(q_ptr=T("i32", 8, values=[5, 1, 2, 7, 3, 0, 4, 6]), head_ptr=T("i32", 1, values=[0]), tail_ptr=T("i32", 1, values=[8]), out_ptr=T("i32", 8), V=V),
     safe=(0,), races=(1,), ok=PERHAPS, bad=NEVER)


# An update in place at positions that a table gives, without any mask: the lanes are named by what they loaded.
@triton.jit
def update_indexed(idx_ptr, src_ptr, out_ptr, V: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    o = tl.arange(0, B)
    i = pid * B + o
    if V == 4:      # one entry for all lanes
        i = pid * B + o * 0
    k = tl.load(idx_ptr + i)
    if V == 2:
        k = k // 2
    if V == 5:      # a table of the table
        k = tl.load(idx_ptr + k)
    if V == 6:      # another lane's entry
        x = tl.load(out_ptr + tl.load(idx_ptr + (i ^ 1)))
    elif V == 7:    # a row an entry
        r = k[:, None] * 8 + tl.arange(0, 8)[None, :]
        y = tl.load(out_ptr + r)
        tl.store(out_ptr + r, y * 2)
        x = tl.load(src_ptr + i)
    elif V == 8:    # beside the sum of the row
        r = k[:, None] * 8 + tl.arange(0, 8)[None, :]
        y = tl.load(out_ptr + r)
        tl.store(out_ptr + r, y * 0 + tl.sum(y, 1)[:, None])
        x = tl.load(src_ptr + i)
    elif V == 9:    # the row of the neighbour
        r = k[:, None] * 8 + tl.arange(0, 8)[None, :]
        y = tl.load(out_ptr + (r ^ 8))
        tl.store(out_ptr + r, y * 2)
        x = tl.load(src_ptr + i)
    else:
        x = tl.load(out_ptr + k)
    if V == 1:      # beside a sum: each lane still waits for what it read itself
        x = x - tl.sum(x, 0)
    if V == 3:
        tl.store(out_ptr + k + 1, x + tl.load(src_ptr + i))
    elif V < 7:
        tl.store(out_ptr + k, x + tl.load(src_ptr + i))


PERM = [(i * 37 + 11) % 64 for i in range(64)]
indexed = lambda V, idx="i64": dict(idx_ptr=T(idx, 64, values=PERM), src_ptr=T("f32", 64), out_ptr=T("f32", 520), V=V, B=32)
both("update_indexed", update_indexed, (2,), indexed, safe=(0, 5, 7), races=(2, 3, 4, 6, 9))
both("update_indexed_sum", update_indexed, (2,), indexed, safe=(1, 8), races=())
both("update_indexed_i32", update_indexed, (2,), lambda V: indexed(V, "i32"), safe=(0, 5, 7), races=(2, 3))
both("update_indexed_any", update_indexed, (2,), lambda V: dict(indexed(V), idx_ptr=T("i32", 64)), safe=(0,), races=(2, 3, 4), ok=PERHAPS, bad=NEVER)


# The same at slots that an atomic gives: a place is one lane's, read and written by it.
@triton.jit
def update_slots(cnt_ptr, src_ptr, out_ptr, V: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    s = tl.atomic_add(cnt_ptr + i % 4, 1)
    k = (i % 4) * 32 + s
    if V == 1:
        k = (i % 4) * 8 + s
    x = tl.load(out_ptr + k)
    tl.store(out_ptr + k, x + tl.load(src_ptr + i))


both("update_slots", update_slots, (2,), lambda V: dict(cnt_ptr=T("i32", 4, values=[0] * 4), src_ptr=T("f32", 64), out_ptr=T("f32", 160), V=V, B=32), safe=(0,), races=(1,), ok=PERHAPS, bad=NEVER)


# At positions from a sort of the lanes: a permutation whatever it is.
@triton.jit
def update_sorted(key_ptr, out_ptr, V: tl.constexpr, B: tl.constexpr):
    o = tl.arange(0, B)
    k = tl.sort(tl.load(key_ptr + o))
    x = tl.load(out_ptr + k)
    if V == 1:
        k = k // 2
    tl.store(out_ptr + k, x + 1)


both("update_sorted", update_sorted, (1,), lambda V: dict(key_ptr=T("i32", 64, values=PERM), out_ptr=T("f32", 64), V=V, B=64), safe=(0,), races=(1,), ok=PERHAPS, bad=NEVER)
