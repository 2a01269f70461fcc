"""Pitfalls and matrix rows about values that a kernel loads: index tables, masks, bounds and branches from
memory. Numbers as in kernels.py."""
from cases import T, case, load_triton

triton, tl = load_triton()

IOTA = list(range(256))


# ---- T54, p42: a scatter -----------------------------------------------------------------------
@triton.jit
def scatter(idx, out, B: tl.constexpr):
    i = tl.load(idx + tl.program_id(0) * B + tl.arange(0, B))
    tl.store(out + i, 1)  # @S


TWICE = IOTA[:]
TWICE[200] = 17
SHUFFLED = [(i * 77 + 5) % 256 for i in range(256)]
case("p42_safe", scatter, "ok T1 qual=contents noqual=in-bounds", (4,),
     dict(idx=T("i32", 256, values=SHUFFLED), out=T("i32", 256), B=64))
case("p42_race", scatter, "races WAW:S:S/programs qual=contents", (4,),
     dict(idx=T("i32", 256, values=TWICE), out=T("i32", 256), B=64))
case("t54_threads", scatter, "races WAW:S:S/threads", (4,),
     dict(idx=T("i32", 256, values=[0, 0] + IOTA[2:]), out=T("i32", 256), B=64))
case("t54_short_out", scatter, "ok qual=in-bounds oob", (4,),
     dict(idx=T("i32", 256, values=SHUFFLED), out=T("i32", 200), B=64))
# the duplicate lies beyond what this grid reads
case("t54_beyond", scatter, "ok T1-launch qual=contents fragile", (3,),
     dict(idx=T("i32", 256, values=TWICE), out=T("i32", 256), B=64))
case("t54_none", scatter, "unsupported indirect-address", (4,), dict(idx=T("i32", 256), out=T("i32", 256), B=64))


# ---- T56: what cannot be a table -----------------------------------------------------------------
@triton.jit
def scatter_signed(idx, out, OFF: tl.constexpr, B: tl.constexpr):
    i = tl.load(idx + tl.program_id(0) * B + tl.arange(0, B)).to(tl.int32)
    tl.store(out + OFF + i, 1)  # @S


SMALL = [(i * 37) % 64 for i in range(64)]
case("t56_i64", scatter_signed, "ok T1 qual=contents", (2,), dict(idx=T("i64", 64, values=SMALL), out=T("i32", 64), OFF=0, B=32))
case("t56_i16", scatter_signed, "ok T1 qual=contents", (2,), dict(idx=T("i16", 64, values=SMALL), out=T("i32", 64), OFF=0, B=32))
case("t56_i8", scatter_signed, "ok T1 qual=contents", (2,), dict(idx=T("i8", 64, values=SMALL), out=T("i32", 64), OFF=0, B=32))
case("t56_negative", scatter_signed, "ok T1 qual=contents noqual=in-bounds", (2,),
     dict(idx=T("i8", 64, values=[v - 32 for v in SMALL]), out=T("i32", 64), OFF=32, B=32))
case("t56_negative_race", scatter_signed, "races WAW:S:S/programs", (2,),
     dict(idx=T("i8", 64, values=[v - 32 for v in SMALL[:63]] + [SMALL[0] - 32]), out=T("i32", 64), OFF=32, B=32))
case("t56_u8", scatter_signed, "ok T1 qual=contents", (2,), dict(idx=T("u8", 64, values=SMALL), out=T("i32", 64), OFF=0, B=32))
# the terms have no exact signed reading of it; the execution of the launch has the bits
case("p77_u8_200", scatter_signed, "ok T1-launch qual=contents", (2,),
     dict(idx=T("u8", 64, values=[200] + SMALL[1:]), out=T("i32", 256), OFF=0, B=32))
case("p77_u8_200_race", scatter_signed, "races WAW:S:S/programs qual=contents", (2,),
     dict(idx=T("u8", 64, values=[200] + SMALL[1:63] + [200]), out=T("i32", 256), OFF=0, B=32))
case("t56_strided", scatter, "unsupported indirect-address", (2,),
     dict(idx=T("i32", 64, strides=(2,), values=SMALL), out=T("i32", 64), B=32))
case("p78_view", scatter, "ok T1-launch qual=contents", (2,),
     dict(idx=T("i32", 64, after=64, values=SMALL), out=T("i32", 64), B=32))
case("p78_view_front", scatter, "ok T1-launch qual=contents", (2,),
     dict(idx=T("i32", 64, before=64, values=SMALL), out=T("i32", 64), B=32))
case("p78_view_race", scatter, "races WAW:S:S/programs qual=contents", (2,),
     dict(idx=T("i32", 64, after=64, values=SMALL[:63] + [SMALL[0]]), out=T("i32", 64), B=32))
# the third program reads behind the view, inside its allocation: nobody knows what
case("p78_view_beyond", scatter, "unsupported indirect-address", (3,),
     dict(idx=T("i32", 64, after=64, values=SMALL), out=T("i32", 64), B=32))
case("t56_large", scatter, "unsupported snapshot-bound", (2,),
     dict(idx=T("i32", 16385, values=[0] * 16385), out=T("i32", 64), B=32))


# ---- p79: load width and element width ----------------------------------------------------------
@triton.jit
def p79(idx, out, B: tl.constexpr):
    halves = idx.to(tl.pointer_type(tl.int32))
    i = tl.load(halves + tl.program_id(0) * B + tl.arange(0, B))
    tl.store(out + i, 1)  # @S


case("p79_wide_table", p79, "unsupported indirect-address", (2,), dict(idx=T("i64", 64, values=IOTA[:64]), out=T("i32", 64), B=32))


# ---- reads that are not aligned to elements -----------------------------------------------------
@triton.jit
def shifted(idx, out, STEP: tl.constexpr, B: tl.constexpr):
    bytes_ = idx.to(tl.pointer_type(tl.int8)) + (tl.program_id(0) * B + tl.arange(0, B)) * STEP
    i = tl.load(bytes_.to(tl.pointer_type(tl.int32)))
    tl.store(out + i, 1)  # @S


case("table_between_elements", shifted, "unsupported indirect-address", (2,),
     dict(idx=T("i32", 80, values=IOTA[:80]), out=T("i32", 128), STEP=2, B=32))
case("table_whole_elements", shifted, "ok T1 qual=contents", (2,),
     dict(idx=T("i32", 64, values=IOTA[:64]), out=T("i32", 64), STEP=4, B=32))


# ---- p44: the kernel writes the table -----------------------------------------------------------
@triton.jit
def p44(idx, other, out, n, B: tl.constexpr):
    lane = tl.program_id(0) * B + tl.arange(0, B)
    i = tl.load(idx + lane)  # @L
    tl.store(other + lane, 0, mask=lane >= n)  # @W
    tl.store(out + i, 1)  # @S


# the mask of the other store is never set at this launch
case("p44_written", p44, "ok T1-launch qual=contents", (2,),
     dict(idx=T("i32", 64, values=IOTA[:64]), other=T("i32", 64, of="idx"), out=T("i32", 64), n=64, B=32))
case("p44_written_once", p44, "races WAR:L:W/threads", (2,),
     dict(idx=T("i32", 64, values=IOTA[:64]), other=T("i32", 64, of="idx"), out=T("i32", 64), n=63, B=32))
case("p44_overlap", p44, "unsupported never=ok", (2,),
     dict(idx=T("i32", 64, values=IOTA[:64]), other=T("i32", 64), out=T("i32", 64, of="idx"), n=0, B=32))
case("p44_apart", p44, "ok T1 qual=contents", (2,),
     dict(idx=T("i32", 64, values=IOTA[:64]), other=T("i32", 64), out=T("i32", 64), n=0, B=32))


# ---- p41, T55: a store guarded by a loaded flag ---------------------------------------------------
@triton.jit
def p41(flag, out):
    pid = tl.program_id(0)
    tl.store(out, pid, mask=tl.load(flag + pid) == 0)  # @S


case("p41_race", p41, "races WAW:S:S/programs qual=contents", (3,), dict(flag=T("i32", 3, values=[1, 0, 0]), out=T("i32", 1)))
case("p41_safe", p41, "ok T1 qual=contents", (3,), dict(flag=T("i32", 3, values=[1, 0, 1]), out=T("i32", 1)))
case("p41_unknown", p41, "unsupported potential-race", (3,), dict(flag=T("i32", 3), out=T("i32", 1)))
case("t55_bool_race", p41, "races WAW:S:S/programs", (3,), dict(flag=T("i1", 3, values=[1, 0, 0]), out=T("i32", 1)))
case("t55_bool_safe", p41, "ok T1 qual=contents", (3,), dict(flag=T("i1", 3, values=[1, 0, 1]), out=T("i32", 1)))


# the same as a branch
@triton.jit
def branch(flag, out):
    pid = tl.program_id(0)
    if tl.load(flag + pid) == 0:
        tl.store(out, pid)  # @S


case("branch_race", branch, "races WAW:S:S/programs qual=contents", (3,), dict(flag=T("i32", 3, values=[1, 0, 0]), out=T("i32", 1)))
case("branch_safe", branch, "ok T1 qual=contents", (3,), dict(flag=T("i32", 3, values=[0, 1, 1]), out=T("i32", 1)))


# ---- p76, T57: `other` of a masked load -----------------------------------------------------------
@triton.jit
def p76(flag, out, n, OTHER: tl.constexpr):
    pid = tl.program_id(0)
    v = tl.load(flag + pid, mask=pid < n, other=OTHER)
    tl.store(out, pid, mask=v == 1)  # @S


case("p76_race", p76, "races WAW:S:S/programs", (4,), dict(flag=T("i32", 2, values=[0, 0]), out=T("i32", 1), n=2, OTHER=1))
case("p76_safe", p76, "ok T1 qual=contents noqual=in-bounds", (4,), dict(flag=T("i32", 2, values=[0, 1]), out=T("i32", 1), n=2, OTHER=0))
# the mask lets one more program read than the table holds
case("p76_short", p76, "ok qual=in-bounds oob", (4,), dict(flag=T("i32", 2, values=[0, 1]), out=T("i32", 1), n=3, OTHER=0))


# ---- p43: a masked load without `other` ----------------------------------------------------------
@triton.jit
def p43(flag, out, n, m):
    pid = tl.program_id(0)
    v = tl.load(flag + pid, mask=pid < n)
    tl.store(out, pid, mask=(v == 1) & (pid < m))  # @S


case("p43_possible", p43, "unsupported potential-race", (4,), dict(flag=T("i32", 4, values=[0, 1, 0, 0]), out=T("i32", 1), n=2, m=4), nospec=("n", "m"))
case("p43_covered", p43, "ok T1 qual=contents", (4,), dict(flag=T("i32", 4, values=[0, 1, 0, 0]), out=T("i32", 1), n=4, m=4), nospec=("n", "m"))


# The lanes that store are among those that read, by a bound that is not the same one; the address goes through a division.
@triton.jit
def p43_divided(idx, out, n, PART: tl.constexpr, LESS: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(idx + i, mask=i < n)
    tl.store(out + v // PART, i, mask=i + LESS < n)  # @S


def divided_args(**kw):
    return dict(dict(idx=T("i32", 250, values=[2 * v for v in SHUFFLED[:250]]), out=T("i32", 256), n=250, PART=2, LESS=0, B=64), **kw)


case("p43_divided", p43_divided, "ok T1-launch qual=contents", (4,), divided_args())
case("p43_divided_fewer", p43_divided, "ok T1-launch qual=contents", (4,), divided_args(LESS=3))
case("p43_divided_more", p43_divided, "unsupported indirect-address", (4,), divided_args(LESS=-3))
case("p43_divided_race", p43_divided, "races WAW:S:S/programs qual=contents", (4,), divided_args(PART=3, LESS=3))


# ---- p120, T78: a base read from memory ------------------------------------------------------------
@triton.jit
def p120(p, out, MASKED: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    if MASKED:
        base = tl.load(p, mask=pid < 1, other=0)
    else:
        base = tl.load(p)
    tl.store(out + base + pid * B + tl.arange(0, B), 1)  # @S


case("p120_race", p120, "races WAW:S:S/programs qual=contents", (2,), dict(p=T("i32", 1, values=[64]), out=T("i32", 192), MASKED=True, B=64))
case("p120_open", p120, "unsupported indirect-address", (2,), dict(p=T("i32", 1), out=T("i32", 192), MASKED=True, B=64))
case("t78_shared", p120, "ok T1 noqual=contents", (2,), dict(p=T("i32", 1), out=T("i32", 192), MASKED=False, B=64))


@triton.jit
def base_table(p, out, B: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(out + tl.load(p + pid) + tl.arange(0, B), 1)  # @S


case("t78_table", base_table, "unsupported indirect-address", (2,), dict(p=T("i32", 2), out=T("i32", 192), B=64))
case("t78_table_safe", base_table, "ok T1 qual=contents", (2,), dict(p=T("i32", 2, values=[64, 0]), out=T("i32", 192), B=64))
case("t78_table_race", base_table, "races WAW:S:S/programs", (2,), dict(p=T("i32", 2, values=[63, 0]), out=T("i32", 192), B=64))


# ---- p53: a branch and an address from one load ---------------------------------------------------
@triton.jit
def p53(idx, out):
    y = tl.load(idx + tl.program_id(0))
    if y == 1:
        tl.store(out, 1)  # @Z
    tl.store(out + y, 1)  # @S


case("p53_refused", p53, "unsupported indirect-address", (2,), dict(idx=T("i32", 2), out=T("i32", 4)))
case("p53_race", p53, "races WAW:Z:S/programs", (2,), dict(idx=T("i32", 2, values=[1, 0]), out=T("i32", 4)))
case("p53_safe", p53, "ok T1 qual=contents", (2,), dict(idx=T("i32", 2, values=[1, 2]), out=T("i32", 4)))


# ---- p55, T58: loop bounds from a table -------------------------------------------------------------
@triton.jit
def p55(rowptr, out, B: tl.constexpr):
    pid = tl.program_id(0)
    for k in range(tl.load(rowptr + pid), tl.load(rowptr + pid + 1)):
        tl.store(out + k * B + tl.arange(0, B), pid)  # @S


case("p55_safe", p55, "ok T1 qual=contents noqual=in-bounds", (3,), dict(rowptr=T("i32", 4, values=[0, 3, 3, 8]), out=T("i32", 128), B=16))
case("p55_race", p55, "races WAW:S:S/programs qual=contents", (3,), dict(rowptr=T("i32", 4, values=[0, 3, 2, 8]), out=T("i32", 128), B=16))
case("p55_unknown", p55, "unsupported data-dependent-bound", (3,), dict(rowptr=T("i32", 4), out=T("i32", 128), B=16))
BOUNDS = [0]
for _i in range(300):
    BOUNDS.append(BOUNDS[-1] + _i * 7 % 5)
case("t58_long", p55, "ok T1 qual=contents noqual=in-bounds", (300,), dict(rowptr=T("i32", 301, values=BOUNDS), out=T("i32", 9632), B=4))
case("t58_long_race", p55, "races WAW:S:S/programs", (300,),
     dict(rowptr=T("i32", 301, values=BOUNDS[:250] + [BOUNDS[249] - 1] + BOUNDS[251:]), out=T("i32", 9632), B=4))


# ---- segments by a mask: variable lengths ------------------------------------------------------------
@triton.jit
def varlen(offs, out, LOOSE: tl.constexpr, B: tl.constexpr):
    seq = tl.program_id(0)
    tile = tl.program_id(1)
    lo = tl.load(offs + seq)
    hi = tl.load(offs + seq + 1)
    row = tile * B + tl.arange(0, B)
    tl.store(out + lo + row, 1, mask=row < hi - lo + LOOSE)  # @S


LENGTHS = [0, 5, 70, 71, 200]
case("varlen_safe", varlen, "ok T1 qual=contents noqual=in-bounds", (4, 5), dict(offs=T("i32", 5, values=LENGTHS), out=T("i32", 200), LOOSE=0, B=32))
case("varlen_race", varlen, "races WAW:S:S/programs", (4, 5), dict(offs=T("i32", 5, values=LENGTHS), out=T("i32", 201), LOOSE=1, B=32))
case("varlen_long", varlen, "ok T1 qual=contents noqual=in-bounds", (300, 1), dict(offs=T("i32", 301, values=BOUNDS), out=T("i32", 602), LOOSE=0, B=32))
case("varlen_unsorted", varlen, "races WAW:S:S/programs", (4, 5), dict(offs=T("i32", 5, values=[0, 70, 5, 71, 200]), out=T("i32", 200), LOOSE=0, B=32))


# ---- one program a chunk: (sequence, chunk) pairs from a table ------------------------------------------
@triton.jit
def chunks(pairs, offs, out, B: tl.constexpr):
    p = tl.program_id(0)
    seq = tl.load(pairs + 2 * p)
    c = tl.load(pairs + 2 * p + 1)
    lo = tl.load(offs + seq)
    hi = tl.load(offs + seq + 1)
    row = c * B + tl.arange(0, B)
    tl.store(out + lo + row, 1, mask=row < hi - lo)  # @S


def chunk_pairs(lengths, size):
    return [v for s in range(len(lengths) - 1) for c in range((lengths[s + 1] - lengths[s] + size - 1) // size) for v in (s, c)]


PAIRS = chunk_pairs(LENGTHS, 32)
MANY = chunk_pairs(BOUNDS, 2)
case("chunks_safe", chunks, "ok T1 qual=contents noqual=in-bounds", (len(PAIRS) // 2,),
     dict(pairs=T("i32", len(PAIRS), values=PAIRS), offs=T("i32", 5, values=LENGTHS), out=T("i32", 200), B=32))
case("chunks_race", chunks, "races WAW:S:S/programs", (len(PAIRS) // 2,),
     dict(pairs=T("i32", len(PAIRS), values=PAIRS[:-2] + PAIRS[:2]), offs=T("i32", 5, values=LENGTHS), out=T("i32", 200), B=32))
case("chunks_many", chunks, "ok T1 qual=contents noqual=in-bounds", (len(MANY) // 2,),
     dict(pairs=T("i32", len(MANY), values=MANY), offs=T("i32", 301, values=BOUNDS), out=T("i32", 602), B=2))
case("chunks_many_race", chunks, "races WAW:S:S/programs", (len(MANY) // 2,),
     dict(pairs=T("i32", len(MANY), values=MANY[:-2] + MANY[100:102]), offs=T("i32", 301, values=BOUNDS), out=T("i32", 602), B=2))


# ---- pages: an index times a tile -----------------------------------------------------------------------
@triton.jit
def pages(table, out, SPAN: tl.constexpr, B: tl.constexpr):
    page = tl.load(table + tl.program_id(0)).to(tl.int64)
    tl.store(out + page * SPAN + tl.arange(0, B), 1)  # @S


ORDER = [(i * 29 + 3) % 101 for i in range(100)]
case("pages_safe", pages, "ok T1 qual=contents noqual=in-bounds", (100,), dict(table=T("i32", 100, values=ORDER), out=T("i32", 101 * 64), SPAN=64, B=64))
case("pages_race", pages, "races WAW:S:S/programs", (100,), dict(table=T("i32", 100, values=ORDER[:99] + [ORDER[7]]), out=T("i32", 101 * 64), SPAN=64, B=64))
case("pages_overlap", pages, "races WAW:S:S/programs", (100,), dict(table=T("i32", 100, values=ORDER), out=T("i32", 101 * 64), SPAN=63, B=64))


# ---- a table read through a table ----------------------------------------------------------------------
@triton.jit
def through(first, second, out, B: tl.constexpr):
    j = tl.load(first + tl.program_id(0) * B + tl.arange(0, B))
    i = tl.load(second + j)
    tl.store(out + i, 1)  # @S


case("through_safe", through, "ok T1 qual=contents noqual=in-bounds", (2,),
     dict(first=T("i32", 64, values=SMALL), second=T("i32", 64, values=[(v * 5) % 64 for v in range(64)]), out=T("i32", 64), B=32))
case("through_race", through, "races WAW:S:S/threads WAW:S:S/programs", (2,),
     dict(first=T("i32", 64, values=SMALL), second=T("i32", 64, values=[(v * 4) % 64 for v in range(64)]), out=T("i32", 64), B=32))
# the second read leaves its table
case("through_outside", through, "ok qual=in-bounds oob", (2,),
     dict(first=T("i32", 64, values=SMALL), second=T("i32", 40, values=[(v * 3) % 41 for v in range(40)]), out=T("i32", 64), B=32))


# ---- a negative index, and one that wraps ----------------------------------------------------------------
@triton.jit
def before_start(idx, out, B: tl.constexpr):
    i = tl.load(idx + tl.program_id(0) * B + tl.arange(0, B) - 1)
    tl.store(out + i, 1)  # @S


case("table_before_start", before_start, "ok qual=in-bounds oob", (2,), dict(idx=T("i32", 64, values=SMALL), out=T("i32", 64), B=32))


@triton.jit
def wraps(idx, out, BIG: tl.constexpr):
    i = tl.load(idx + tl.program_id(0) * BIG)
    tl.store(out + i, 1)  # @S


# pid*2^30 wraps to 0 at program 4: the read is inside the table again
case("table_index_wraps", wraps, "unsupported integer-overflow never=ok", (5,), dict(idx=T("i32", 4, values=[0, 1, 2, 3]), out=T("i32", 4), BIG=1073741824))


# ---- a branch around the read: its index is only in range where it is taken -------------------------------
@triton.jit
def guarded(idx, out, n, B: tl.constexpr):
    pid = tl.program_id(0)
    at = pid
    if pid < n:
        at = tl.load(idx + pid)
    tl.store(out + at * B + tl.arange(0, B), 1)  # @S


# programs past n do not read, so they store where their own number says
case("guarded_race", guarded, "races WAW:S:S/programs", (4,), dict(idx=T("i32", 2, values=[0, 3]), out=T("i32", 64), n=2, B=16), nospec=("n",))
case("guarded_safe", guarded, "ok qual=contents noqual=in-bounds", (4,), dict(idx=T("i32", 2, values=[1, 0]), out=T("i32", 64), n=2, B=16), nospec=("n",))


# ---- a read in a loop is a function of its iteration -----------------------------------------------------
@triton.jit
def in_loop(idx, out, B: tl.constexpr):
    pid = tl.program_id(0)
    for k in range(4):
        i = tl.load(idx + pid * 4 + k)
        tl.store(out + i * B + tl.arange(0, B), k)  # @S


case("in_loop_safe", in_loop, "ok T1 qual=contents", (2,), dict(idx=T("i32", 8, values=[7, 2, 5, 0, 3, 6, 1, 4]), out=T("i32", 128), B=16))
case("in_loop_race", in_loop, "races WAW:S:S/programs", (2,), dict(idx=T("i32", 8, values=[7, 2, 5, 0, 3, 6, 1, 2]), out=T("i32", 128), B=16))


# ---- carried: the value read in the iteration before -----------------------------------------------------
@triton.jit
def carried(idx, out, B: tl.constexpr):
    pid = tl.program_id(0)
    at = pid
    for k in range(3):
        tl.store(out + at * B + tl.arange(0, B), k)  # @S
        at = tl.load(idx + pid * 3 + k)


case("carried_safe", carried, "ok qual=contents", (2,), dict(idx=T("i32", 6, values=[2, 3, 0, 4, 5, 0]), out=T("i32", 96), B=16))
case("carried_race", carried, "races WAW:S:S/programs", (2,), dict(idx=T("i32", 6, values=[2, 3, 0, 4, 3, 0]), out=T("i32", 96), B=16))


# ---- a barrier whose count a table decides ---------------------------------------------------------------
@triton.jit
def barrier_bound(n, out, B: tl.constexpr):
    lane = tl.arange(0, B)
    tl.store(out + lane, 1)  # @A
    for k in range(tl.load(n)):
        tl.debug_barrier()
    tl.store(out + (lane + 1) % B, 2)  # @C


case("barrier_bound_race", barrier_bound, "races WAW:A:C/threads", (1,), dict(n=T("i32", 1, values=[0]), out=T("i32", 32), B=32))
case("barrier_bound_safe", barrier_bound, "ok qual=contents", (1,), dict(n=T("i32", 1, values=[1]), out=T("i32", 32), B=32))


# ---- T59: disjoint whatever the mask says ----------------------------------------------------------------
@triton.jit
def t59(out, f, SPAN: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    tl.store(out + pid * SPAN + lane, 1, mask=tl.load(f + pid * B + lane) != 0)  # @S


case("t59_safe", t59, "ok T0 noqual=contents", (4,), dict(out=T("i32", 256), f=T("i32", 256, values=[1] * 256), SPAN=64, B=64))
case("t59_race", t59, "races WAW:S:S/programs qual=contents", (4,), dict(out=T("i32", 256), f=T("i32", 256, values=[1] * 256), SPAN=32, B=64))
case("t59_contents", t59, "ok T1 qual=contents", (4,),
     dict(out=T("i32", 256), f=T("i32", 256, values=[1 if i % 64 < 32 else 0 for i in range(256)]), SPAN=32, B=64))


# ---- widths of values: extension, truncation --------------------------------------------------------------
@triton.jit
def extend(idx, out, UNSIGNED: tl.constexpr, B: tl.constexpr):
    v = tl.load(idx + tl.program_id(0) * B + tl.arange(0, B))
    if UNSIGNED:
        i = v.to(tl.uint8, bitcast=True).to(tl.int32)
    else:
        i = v.to(tl.int32) + 128
    tl.store(out + i % 128, 1)  # @S


# 127 and -1 are 127 and 255 unsigned; signed and shifted they are 255 and 127
case("extend_unsigned", extend, "races WAW:S:S/programs", (2,), dict(idx=T("i8", 2, values=[127, -1]), out=T("i32", 256), UNSIGNED=True, B=1))
case("extend_signed", extend, "races WAW:S:S/programs", (2,), dict(idx=T("i8", 2, values=[127, -1]), out=T("i32", 256), UNSIGNED=False, B=1))
case("extend_safe", extend, "ok T1 qual=contents", (2,), dict(idx=T("i8", 2, values=[126, -1]), out=T("i32", 256), UNSIGNED=True, B=1))


@triton.jit
def truncate(idx, out):
    i = tl.load(idx + tl.program_id(0)).to(tl.int8).to(tl.int32)
    tl.store(out + 128 + i, 1)  # @S


case("truncate_race", truncate, "races WAW:S:S/programs|WAW:S:S/programs", (2,), dict(idx=T("i32", 2, values=[3, 259]), out=T("i32", 256)))
case("truncate_safe", truncate, "ok T1 qual=contents", (2,), dict(idx=T("i32", 2, values=[3, 4]), out=T("i32", 256)))


# ---- 8.6: premises about contents that the launch does not give -----------------------------------------------
ACCEPT = ("--accept-premises",)
case("premise_distinct", scatter, "ok T1 qual=distinct noqual=contents", (4,), dict(idx=T("i32", 256), out=T("i32", 256), B=64), options=ACCEPT)
case("premise_pages", pages, "ok T1 qual=distinct", (100,), dict(table=T("i32", 100), out=T("i32", 101 * 64), SPAN=64, B=64), options=ACCEPT)
case("premise_pages_overlap", pages, "unsupported indirect-address never=ok", (100,),
     dict(table=T("i32", 100), out=T("i32", 101 * 64), SPAN=63, B=64), options=ACCEPT)
case("premise_sorted", varlen, "ok T1 qual=nondecreasing", (4, 5), dict(offs=T("i32", 5), out=T("i32", 200), LOOSE=0, B=32), options=ACCEPT)
case("premise_sorted_loose", varlen, "unsupported indirect-address never=ok", (4, 5), dict(offs=T("i32", 5), out=T("i32", 200), LOOSE=1, B=32), options=ACCEPT)
case("premise_not_accepted", varlen, "unsupported indirect-address", (4, 5), dict(offs=T("i32", 5), out=T("i32", 200), LOOSE=0, B=32))
case("premise_written", p44, "unsupported indirect-address never=ok", (2,),
     dict(idx=T("i32", 64), other=T("i32", 64, of="idx"), out=T("i32", 64), n=64, B=32), options=ACCEPT)
# contents that break the premise: the race is found, and the premise is not taken
case("premise_contradicted", scatter, "races WAW:S:S/programs qual=contents noqual=distinct", (4,),
     dict(idx=T("i32", 256, values=TWICE), out=T("i32", 256), B=64), options=ACCEPT)
case("premise_index_wraps", wraps, "unsupported never=ok", (5,), dict(idx=T("i32", 4), out=T("i32", 4), BIG=1073741824), options=ACCEPT)


# ---- labelled cases whose verdict the contents decide ----------------------------------------------------------
@triton.jit
def trb006(flags, out, B: tl.constexpr):
    lane = tl.arange(0, B)
    f = tl.load(flags + lane)
    tl.store(out + lane, tl.program_id(0) + lane, mask=f != 0)  # @S


case("trb006_dead", trb006, "ok T1 qual=contents", (4,), dict(flags=T("i32", 16, values=[0] * 16), out=T("i32", 16), B=16))
case("trb006_live", trb006, "races WAW:S:S/programs qual=contents", (4,), dict(flags=T("i32", 16, values=[1] * 16), out=T("i32", 16), B=16))
case("trb006_one", trb006, "races WAW:S:S/programs qual=contents", (4,), dict(flags=T("i32", 16, values=[0] * 15 + [1]), out=T("i32", 16), B=16))


@triton.jit
def trb010_scatter(idx, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.load(idx + i, mask=i < n, other=0)
    tl.store(out + j, i, mask=i < n)  # @S


case("trb010_scatter_zero", trb010_scatter, "races WAW:S:S/programs WAW:S:S/threads qual=contents", (4,),
     dict(idx=T("i32", 61, values=[0] * 61), out=T("i32", 61), n=61, B=16))
case("trb010_scatter_safe", trb010_scatter, "ok T1 qual=contents noqual=in-bounds", (4,),
     dict(idx=T("i32", 61, values=[(7 * i) % 61 for i in range(61)]), out=T("i32", 61), n=61, B=16))


@triton.jit
def b004(start, length, o, so, BM: tl.constexpr, D: tl.constexpr):
    m = tl.program_id(0)
    head = tl.program_id(1)
    batch = tl.program_id(2)
    b0 = tl.load(start + batch)
    n = tl.load(length + batch)
    row = m * BM + tl.arange(0, BM)
    col = tl.arange(0, D)
    tl.store(o + (b0 + row)[:, None] * so + head * D + col[None, :], 1.0, mask=row[:, None] < n)  # @S


case("b004_zero_starts", b004, "races WAW:S:S/programs qual=contents", (2, 2, 3),
     dict(start=T("i32", 3, values=[0, 0, 0]), length=T("i32", 3, values=[7, 3, 8]), o=T("f32", 18, 32), so=32, BM=4, D=16))
case("b004_safe", b004, "ok qual=contents noqual=in-bounds", (2, 2, 3),
     dict(start=T("i32", 3, values=[0, 7, 10]), length=T("i32", 3, values=[7, 3, 8]), o=T("f32", 18, 32), so=32, BM=4, D=16))
case("b004_overlap", b004, "races WAW:S:S/programs qual=contents", (2, 2, 3),
     dict(start=T("i32", 3, values=[0, 6, 10]), length=T("i32", 3, values=[7, 3, 8]), o=T("f32", 18, 32), so=32, BM=4, D=16))


# a queue of work items: the number of items and their tiles are read from memory (grid-stride over a table)
@triton.jit
def work_list(count, items, out, B: tl.constexpr):
    n = tl.load(count)
    for w in range(tl.program_id(0), n, tl.num_programs(0)):
        t = tl.load(items + w)
        tl.store(out + t * B + tl.arange(0, B), w)  # @S


case("work_list_safe", work_list, "ok qual=contents noqual=in-bounds", (3,),
     dict(count=T("i32", 1, values=[7]), items=T("i32", 8, values=[3, 1, 0, 2, 6, 5, 4, 4]), out=T("i32", 128), B=16))
case("work_list_race", work_list, "races WAW:S:S/programs qual=contents", (3,),
     dict(count=T("i32", 1, values=[8]), items=T("i32", 8, values=[3, 1, 0, 2, 6, 5, 4, 4]), out=T("i32", 128), B=16))
case("work_list_once", work_list, "ok qual=contents noqual=in-bounds", (8,),
     dict(count=T("i32", 1, values=[1]), items=T("i32", 8, values=[3, 3, 3, 3, 3, 3, 3, 3]), out=T("i32", 128), B=16))
case("work_list_none", work_list, "ok qual=contents noqual=in-bounds", (3,),
     dict(count=T("i32", 1, values=[0]), items=T("i32", 8, values=[3] * 8), out=T("i32", 128), B=16))


# counting down to a bound from memory
@triton.jit
def count_down(bound, out, B: tl.constexpr):
    pid = tl.program_id(0)
    n = tl.load(bound + pid)
    while n > 0:
        n -= 1
        tl.store(out + (pid * 4 + n) * B + tl.arange(0, B), n)  # @S


case("count_down_safe", count_down, "ok qual=contents noqual=in-bounds", (3,), dict(bound=T("i32", 3, values=[4, 0, 3]), out=T("i32", 192), B=16))
case("count_down_race", count_down, "races WAW:S:S/programs qual=contents", (3,), dict(bound=T("i32", 3, values=[4, 5, 3]), out=T("i32", 192), B=16))


# barriers as often as a table says, per program
@triton.jit
def barrier_table(n, out, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    tl.store(out + pid * B + lane, 1)  # @A
    for k in range(tl.load(n + pid)):
        tl.debug_barrier()
    tl.store(out + pid * B + (lane + 1) % B, 2)  # @C


case("barrier_table_race", barrier_table, "races WAW:A:C/threads", (3,), dict(n=T("i32", 3, values=[1, 0, 2]), out=T("i32", 96), B=32))
case("barrier_table_safe", barrier_table, "ok qual=contents", (3,), dict(n=T("i32", 3, values=[1, 3, 2]), out=T("i32", 96), B=32))


@triton.jit
def barrier_flag(n, out, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    tl.store(out + pid * B + lane, 1)  # @A
    if tl.load(n + pid) > 0:
        tl.debug_barrier()
    tl.store(out + pid * B + (lane + 1) % B, 2)  # @C


case("barrier_flag_race", barrier_flag, "races WAW:A:C/threads", (3,), dict(n=T("i32", 3, values=[1, 0, 2]), out=T("i32", 96), B=32))
case("barrier_flag_safe", barrier_flag, "ok qual=contents", (3,), dict(n=T("i32", 3, values=[1, 3, 2]), out=T("i32", 96), B=32))
case("barrier_flag_open", barrier_flag, "unsupported never=ok", (3,), dict(n=T("i32", 3), out=T("i32", 96), B=32))


# ---- a binary search in a table: which segment is this row of? ----------------------------------------------------
@triton.jit
def search(offs, out, n, B: tl.constexpr):
    row = tl.program_id(0)
    lo = 0
    hi = n
    for _ in range(4):
        mid = (lo + hi) // 2
        below = tl.load(offs + mid) <= row
        lo = tl.where(below, mid, lo)
        hi = tl.where(below, hi, mid)
    tl.store(out + lo * 8 + (row - tl.load(offs + lo)), row)  # @S


case("search_safe", search, "ok qual=contents", (12,), dict(offs=T("i32", 5, values=[0, 3, 4, 9, 12]), out=T("i32", 40), n=4, B=1), nospec=("n",))
case("search_race", search, "races WAW:S:S/programs qual=contents", (12,), dict(offs=T("i32", 5, values=[0, 9, 10, 11, 12]), out=T("i32", 40), n=4, B=1), nospec=("n",))


# ---- what no query states: the launch is executed ----------------------------------------------------------------
@triton.jit
def sort_scatter(key, out, UP: tl.constexpr, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    k = tl.sort(tl.load(key + at) * B + tl.arange(0, B), 0)
    tl.store(out + tl.program_id(0) * B + (k % B) // UP, k)  # @S


KEYS = [(i * 7) % 5 for i in range(64)]
case("sort_safe", sort_scatter, "ok T1-launch qual=contents", (2,), dict(key=T("i32", 64, values=KEYS), out=T("i32", 64), UP=1, B=32))
case("sort_race", sort_scatter, "races WAW:S:S/threads qual=contents", (2,), dict(key=T("i32", 64, values=KEYS), out=T("i32", 64), UP=2, B=32))
case("sort_open", sort_scatter, "unsupported indirect-address", (2,), dict(key=T("i32", 64), out=T("i32", 64), UP=1, B=32))


@triton.jit
def compact(keep, base, out, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    k = tl.load(keep + at)
    place = tl.load(base + tl.program_id(0)) + tl.cumsum(k, 0) - 1
    tl.store(out + place, at, mask=k != 0)  # @S


KEEP = [int(i % 3 == 0) for i in range(96)]
case("compact_safe", compact, "ok T1-launch qual=contents", (3,),
     dict(keep=T("i32", 96, values=KEEP), base=T("i32", 3, values=[0, 11, 22]), out=T("i32", 96), B=32))
case("compact_race", compact, "races WAW:S:S/programs qual=contents", (3,),
     dict(keep=T("i32", 96, values=KEEP), base=T("i32", 3, values=[0, 10, 22]), out=T("i32", 96), B=32))
case("compact_base_open", compact, "unsupported indirect-address", (3,),
     dict(keep=T("i32", 96, values=KEEP), base=T("i32", 3), out=T("i32", 96), B=32))
case("compact_short_out", compact, "ok T1-launch qual=contents qual=in-bounds oob", (3,),
     dict(keep=T("i32", 96, values=KEEP), base=T("i32", 3, values=[0, 11, 22]), out=T("i32", 30), B=32))


@triton.jit
def group_of(ends, out, G: tl.constexpr, B: tl.constexpr):
    g = tl.sum((tl.load(ends + tl.arange(0, G)) <= tl.program_id(0)).to(tl.int32), 0)
    first = tl.max(tl.where(tl.arange(0, G) < g, tl.load(ends + tl.arange(0, G)), 0), 0)
    tl.store(out + g * B + (tl.program_id(0) - first), 1)  # @S


case("group_safe", group_of, "ok T1-launch qual=contents", (12,), dict(ends=T("i32", 4, values=[3, 4, 9, 12]), out=T("i32", 32), G=4, B=8))
case("group_race", group_of, "races WAW:S:S/programs qual=contents", (12,), dict(ends=T("i32", 4, values=[9, 10, 11, 12]), out=T("i32", 32), G=4, B=8))


@triton.jit
def collatz(start, out, B: tl.constexpr):
    x = tl.load(start + tl.program_id(0))
    n = 0
    while x > 1:
        x = tl.where(x % 2 == 0, x // 2, 3 * x + 1)
        n += 1
    tl.store(out + n * B + tl.arange(0, B), 1)  # @S


# steps to one: 27 takes 111, 9 takes 19, 7 takes 16; 3 and 20 take 7
case("while_steps", collatz, "ok T1-launch qual=contents", (3,), dict(start=T("i32", 3, values=[27, 9, 7]), out=T("i32", 1024), B=8))
case("while_steps_race", collatz, "races WAW:S:S/programs qual=contents", (3,), dict(start=T("i32", 3, values=[27, 3, 20]), out=T("i32", 1024), B=8))
case("while_steps_open", collatz, "unsupported never=ok", (3,), dict(start=T("i32", 3), out=T("i32", 1024), B=8))


# ---- reductions of everything: the compiler may reorder what it reduces, the answer is one -------------------------
@triton.jit
def prefix(counts, out, G: tl.constexpr, B: tl.constexpr, MORE: tl.constexpr):
    pid = tl.program_id(0)
    every = tl.arange(0, G)
    first = tl.sum(tl.where(every < pid, tl.load(counts + every), 0))
    lane = tl.arange(0, B)
    tl.store(out + first + lane, 1, mask=lane < tl.load(counts + pid) + MORE)  # @S


case("prefix_safe", prefix, "ok T1-launch qual=contents", (4,), dict(counts=T("i32", 4, values=[3, 5, 2, 6]), out=T("i32", 64), G=4, B=8, MORE=0))
case("prefix_race", prefix, "races WAW:S:S/programs qual=contents", (4,), dict(counts=T("i32", 4, values=[3, 5, 2, 6]), out=T("i32", 64), G=4, B=8, MORE=1))


@triton.jit
def last_lane(out, B: tl.constexpr, D: tl.constexpr):
    tl.store(out + (tl.program_id(0) * B + tl.max(tl.arange(0, B))) // D, 1)  # @S


case("reduce_all_safe", last_lane, "ok T0 noqual=contents", (5,), dict(out=T("i32", 256), B=32, D=32))
case("reduce_all_race", last_lane, "races WAW:S:S/programs", (5,), dict(out=T("i32", 256), B=32, D=64))


# ---- a table of pointers: the addresses are known, the tensors are not -------------------------------------------------
@triton.jit
def by_pointer(ptrs, out, B: tl.constexpr):
    pid = tl.program_id(0)
    at = tl.load(ptrs + pid).to(tl.pointer_type(tl.int32))
    x = tl.load(at + tl.arange(0, B))
    tl.store(tl.load(ptrs + 4 + pid).to(tl.pointer_type(tl.int32)) + tl.arange(0, B), x)
    tl.store(out + pid, 1)


def pointers(*targets):
    return dict(ptrs=T("i64", 8, values=[1 << 40, (1 << 40) + 4, (1 << 40) + 64, 1 << 40, *targets]), out=T("i32", 4), B=32)


FAR = 1 << 41
case("pointers_safe", by_pointer, "ok T1-launch qual=contents", (4,), pointers(FAR, FAR + 128, FAR + 256, FAR + 384))
case("pointers_close", by_pointer, "unsupported indirect-address never=ok", (4,), pointers(FAR, FAR + 124, FAR + 256, FAR + 384))
case("pointers_in_place", by_pointer, "unsupported indirect-address never=ok", (4,), pointers(FAR, FAR + 128, FAR + 256, 1 << 40))
case("pointers_open", by_pointer, "unsupported indirect-address never=ok", (4,), dict(ptrs=T("i64", 8), out=T("i32", 4), B=32))


# ---- certain races of a kernel that nothing else is known of: flags without atomics -----------------------------------
@triton.jit
def lookback(status, flags, out, START: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(status + pid, START)  # @W
    at = pid - 1
    while at >= 0:
        v = tl.load(flags + at, volatile=True)  # @R
        while v == 0:
            v = tl.load(flags + at, volatile=True)  # @P
        at = tl.where(v == 1, at - 1, -1)
    tl.store(out + pid, at)


case("lookback_race", lookback, "races RAW:W:R/programs", (4,), dict(status=T("i32", 4), flags=T("i32", 4, of="status"), out=T("i32", 4), START=1))
case("lookback_apart", lookback, "ok noqual=contents", (4,), dict(status=T("i32", 4), flags=T("i32", 4), out=T("i32", 4), START=1))


@triton.jit
def maybe_first(gate, status, other, out):
    pid = tl.program_id(0)
    at = tl.load(gate + pid)
    while at > 0:
        tl.store(status + pid, at)
        at = tl.load(status + pid - 1) * at - tl.load(gate + at)
    tl.store(out + pid, at)


case("lookback_maybe", maybe_first, "unsupported never=races never=ok", (4,), dict(gate=T("i32", 4), status=T("i32", 4), other=T("i32", 4), out=T("i32", 4)))


# a table that the kernel may write says nothing of the second program
@triton.jit
def written_table(table, where, out):
    pid = tl.program_id(0)
    i = tl.load(table + pid)
    tl.store(table + tl.load(where + pid), 1)
    tl.store(out + i, 1)


case("written_table", written_table, "unsupported never=races never=ok", (2,), dict(table=T("i32", 2, values=[0, 0]), where=T("i32", 2), out=T("i32", 4)))


# ---- what the execution stands for must be what happens: other turns, other ways, values nobody promises ---------------
@triton.jit
def swaps(count, gate, a, b):
    pid = tl.program_id(0)
    p = a
    q = b
    s = 0
    for _ in range(tl.load(count + pid)):
        s += tl.load(p + 1 - pid)
        t = p
        p = q
        q = t
    tl.store(b + tl.load(gate + pid), s)


# the second turn reads b, where another program writes
case("swaps", swaps, "unsupported never=ok", (2,),
     dict(count=T("i32", 2), gate=T("i32", 2, values=[0, 1]), a=T("i32", 2), b=T("i32", 2)))


@triton.jit
def moves(count, place, a, b):
    pid = tl.program_id(0)
    p = a
    s = 0
    for _ in range(tl.load(count + pid)):
        s += tl.load(p)
        p += s
    k = tl.load(place + tl.arange(0, 2))
    tl.store(b + pid * 2 + tl.sort(k, 0), s)


case("moves", moves, "ok T1-launch qual=contents qual=in-bounds", (2,),
     dict(count=T("i32", 2), place=T("i32", 2, values=[1, 0]), a=T("i32", 2), b=T("i32", 4)))


@triton.jit
def many_ways_out(flag, out):
    pid = tl.program_id(0)
    if tl.load(flag + 0) == 3:
        return
    if tl.load(flag + 1) == 3:
        return
    if tl.load(flag + 2) == 3:
        return
    if tl.load(flag + 3) == 3:
        return
    if tl.load(flag + 4) == 3:
        return
    if tl.load(flag + 5) == 3:
        return
    if tl.load(flag + 6) == 3:
        return
    if tl.load(flag + 7) == 3:
        return
    if tl.load(flag + 8) == 3:
        return
    if tl.load(flag + 9) == 3:
        return
    if tl.load(flag + 10) == 3:
        return
    if tl.load(flag + 11) == 3:
        return
    if tl.load(flag + 12) == 3:
        return
    if tl.load(flag + 13) == 3:
        return
    if tl.load(flag + 14) == 3:
        return
    if tl.load(flag + 15) == 3:
        return
    if tl.load(flag + 16) == 3:
        return
    if tl.load(flag + 17) == 3:
        return
    if tl.load(flag + 18) == 3:
        return
    if tl.load(flag + 19) == 3:
        return
    if tl.load(flag + 20) == 3:
        return
    if tl.load(flag + 21) == 3:
        return
    if tl.load(flag + 22) == 3:
        return
    if tl.load(flag + 23) == 3:
        return
    if tl.load(flag + 24) == 3:
        return
    if tl.load(flag + 25) == 3:
        return
    if tl.load(flag + 26) == 3:
        return
    if tl.load(flag + 27) == 3:
        return
    if tl.load(flag + 28) == 3:
        return
    if tl.load(flag + 29) == 3:
        return
    if tl.load(flag + 30) == 3:
        return
    if tl.load(flag + 31) == 3:
        return
    if tl.load(flag + 32) == 3:
        return
    if tl.load(flag + 33) == 3:
        return
    if tl.load(flag + 34) == 3:
        return
    if tl.load(flag + 35) == 3:
        return
    if tl.load(flag + 36) == 3:
        return
    if tl.load(flag + 37) == 3:
        return
    if tl.load(flag + 38) == 3:
        return
    if tl.load(flag + 39) == 3:
        return
    if tl.load(flag + 40) == 3:
        return
    if tl.load(flag + 41) == 3:
        return
    if tl.load(flag + 42) == 3:
        return
    if tl.load(flag + 43) == 3:
        return
    if tl.load(flag + 44) == 3:
        return
    if tl.load(flag + 45) == 3:
        return
    if tl.load(flag + 46) == 3:
        return
    if tl.load(flag + 47) == 3:
        return
    if tl.load(flag + 48) == 3:
        return
    if tl.load(flag + 49) == 3:
        return
    if tl.load(flag + 50) == 3:
        return
    if tl.load(flag + 51) == 3:
        return
    if tl.load(flag + 52) == 3:
        return
    if tl.load(flag + 53) == 3:
        return
    if tl.load(flag + 54) == 3:
        return
    if tl.load(flag + 55) == 3:
        return
    if tl.load(flag + 56) == 3:
        return
    if tl.load(flag + 57) == 3:
        return
    if tl.load(flag + 58) == 3:
        return
    if tl.load(flag + 59) == 3:
        return
    if tl.load(flag + 60) == 3:
        return
    if tl.load(flag + 61) == 3:
        return
    if tl.load(flag + 62) == 3:
        return
    if tl.load(flag + 63) == 3:
        tl.store(out, pid)
        return
    tl.store(out + pid, 1)


# whichever program leaves by the last way writes what the other one writes
case("many_ways_out", many_ways_out, "unsupported potential-race never=ok", (2,), dict(flag=T("i32", 64), out=T("i32", 4)))


@triton.jit
def bins(key, out, B: tl.constexpr):
    pid = tl.program_id(0)
    h = tl.histogram(tl.load(key + pid * B + tl.arange(0, B)), B)
    tl.store(out + pid * 2 * B + tl.arange(0, B) + h, 1)


# what a value beyond the last bin counts for is the compiler's: here another bin, and two lanes at one byte
case("bins_beyond", bins, "unsupported indirect-address never=ok", (2,),
     dict(key=T("i32", 64, values=[5] * 62 + [37, 40]), out=T("i32", 128), B=32))
case("bins_safe", bins, "ok T1-launch qual=contents", (2,),
     dict(key=T("i32", 64, values=list(range(32)) * 2), out=T("i32", 128), B=32))


# a machine reduces in an order of its own: a tie that the text leaves open may go either way
@triton.jit
def argmax_at(key, out, LEFT: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(out + tl.argmax(tl.load(key + pid * B + tl.arange(0, B)), 0, tie_break_left=LEFT), pid)


TIES = [1, 1, 0, 0, 0, 0, 0, 0] + [0, 0, 1, 0, 0, 1, 0, 0]
case("argmax_left", argmax_at, "ok T1-launch qual=contents", (2,), dict(key=T("i32", 16, values=TIES), out=T("i32", 8), LEFT=True, B=8))
case("argmax_left_race", argmax_at, "races qual=contents", (2,), dict(key=T("i32", 16, values=TIES[:8] * 2), out=T("i32", 8), LEFT=True, B=8))
case("argmax_open", argmax_at, "unsupported indirect-address never=ok", (2,), dict(key=T("i32", 16, values=TIES[:10] + [0] * 6), out=T("i32", 8), LEFT=False, B=8))
case("argmax_clear", argmax_at, "ok T1-launch qual=contents", (2,), dict(key=T("i32", 16, values=[0, 1] + [0] * 8 + [1] + [0] * 5), out=T("i32", 8), LEFT=False, B=8))


@triton.jit
def keep_first(a, b):
    return a


@triton.jit
def reduced_first(key, out, B: tl.constexpr):
    tl.store(out + tl.reduce(tl.load(key + tl.program_id(0) * B + tl.arange(0, B)), 0, keep_first), 1)


case("reduce_first", reduced_first, "unsupported indirect-address never=ok", (2,),
     dict(key=T("i32", 16, values=[0, 1, 2, 3, 4, 5, 6, 7] + [7, 6, 5, 4, 3, 2, 1, 0]), out=T("i32", 8), B=8))


# a scan groups its elements as the machine likes: folded from the left the eight addresses differ
@triton.jit
def subtract(a, b):
    return a - b


@triton.jit
def scanned(key, out, B: tl.constexpr):
    tl.store(out + tl.associative_scan(tl.load(key + tl.arange(0, B)), 0, subtract), tl.arange(0, B))


case("scan_subtract", scanned, "unsupported indirect-address never=ok", (1,),
     dict(key=T("i32", 8, values=[32, 1, 1, 1, 1, 1, 1, 1]), out=T("i32", 64), B=8))
