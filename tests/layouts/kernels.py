"""Accesses of different threads of one program, which TTIR leaves open and the layouts of a compile settle."""
import triton
import triton.language as tl


@triton.jit
def two_passes(x, s, n, B: tl.constexpr):
    """Sums a row, then scales it in place: each element is read and written by one thread when the layouts agree."""
    row = x + tl.program_id(0) * n
    total = tl.zeros([B], tl.float32)
    for i in range(0, n, B):
        offs = i + tl.arange(0, B)
        total += tl.load(row + offs, mask=offs < n, other=0.0)
    m = tl.sum(total, 0)
    for i in range(0, n, B):
        offs = i + tl.arange(0, B)
        tl.store(row + offs, m, mask=offs < n)


@triton.jit
def two_passes_shifted(x, s, n, B: tl.constexpr):
    """The same with the second pass one element on."""
    row = x + tl.program_id(0) * (n + 1)
    total = tl.zeros([B], tl.float32)
    for i in range(0, n, B):
        offs = i + tl.arange(0, B)
        total += tl.load(row + offs, mask=offs < n, other=0.0)
    m = tl.sum(total, 0)
    for i in range(0, n, B):
        offs = i + tl.arange(0, B)
        tl.store(row + offs + 1, m, mask=offs < n)


@triton.jit
def two_passes_strided(x, s, n, B: tl.constexpr):
    """The second pass has a stride that the compiler does not know (1 at the launch): one element a thread."""
    row = x + tl.program_id(0) * n
    total = tl.zeros([B], tl.float32)
    for i in range(0, n, B):
        offs = i + tl.arange(0, B)
        total += tl.load(row + offs, mask=offs < n, other=0.0)
    m = tl.sum(total, 0)
    for i in range(0, n, B):
        offs = i + tl.arange(0, B)
        tl.store(row + offs * s, m, mask=offs < n)


@triton.jit
def tile_2d(x, s, n, B: tl.constexpr):
    """A tile of two dimensions, read and written at equal indices."""
    i = tl.arange(0, B)[:, None]
    j = tl.arange(0, B)[None, :]
    tile = x + tl.program_id(0) * B * B
    v = tl.load(tile + i * B + j)
    total = tl.sum(tl.sum(v, 0), 0)
    tl.store(tile + i * B + j, total + tl.zeros([B, B], tl.float32))


@triton.jit
def tile_rotated(x, s, n, B: tl.constexpr):
    """Written one row on: another thread's element."""
    i = tl.arange(0, B)[:, None]
    j = tl.arange(0, B)[None, :]
    tile = x + tl.program_id(0) * B * B
    v = tl.load(tile + i * B + j)
    total = tl.sum(tl.sum(v, 0), 0)
    tl.store(tile + (i + 1) % B * B + j, total + tl.zeros([B, B], tl.float32))


@triton.jit
def carried(x, s, n, B: tl.constexpr):
    """A block written in one iteration is read in the next, by the thread that wrote it."""
    offs = tl.arange(0, B)
    row = x + tl.program_id(0) * n
    for k in range(1, s):
        v = tl.load(row + (k - 1) * B + offs)
        tl.store(row + k * B + offs, v + 1.0)


@triton.jit
def carried_shifted(x, s, n, B: tl.constexpr):
    """... by its neighbour."""
    offs = tl.arange(0, B)
    row = x + tl.program_id(0) * (n + B)
    for k in range(1, s):
        v = tl.load(row + (k - 1) * B + offs + 4)
        tl.store(row + k * B + offs, v + 1.0)


@triton.jit
def staged(x, s, n, B: tl.constexpr):
    """A matrix product in place: its loads become asynchronous copies, which no thread waits for in its own order."""
    i = tl.arange(0, B)[:, None]
    j = tl.arange(0, B)[None, :]
    acc = tl.zeros([B, B], tl.float32)
    tile = x + tl.program_id(0) * n
    for k in tl.range(0, s, num_stages=3):
        a = tl.load(tile + k * B * B + i * B + j).to(tl.float16)
        acc += tl.dot(a, a)
    for k in range(0, s):
        tl.store(tile + k * B * B + i * B + j, acc)
