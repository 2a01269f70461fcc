"""Random kernels as Python source for Triton: source(seed) -> (text, arguments, grid).

A kernel is put together from the shapes that real ones have: how a program finds its tile (one axis, two, a flat id taken
apart, grouped, a grid-stride loop), what it does with it (elementwise, rows, a matrix product, a reduction, a gather or a
scatter through a table, block pointers, tensor descriptors, atomics, a hand-over by barrier, flag or counter), its masks
and strides. About half of the kernels are right; the others have one constant, mask, barrier or id changed at random. Nothing
here knows which: the verdict is compared with execution.
"""
import random

HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"


class Kernel:
    def __init__(self, rng):
        self.rng = rng
        self.lines, self.params, self.args, self.grid = [], [], {}, [1, 1, 1]
        self.shape = ""

    def tensor(self, name, n, dtype="fp32", values=None, shape=None, strides=None):
        self.params.append(name)
        self.args[name] = dict(n=n, dtype=dtype, values=values, shape=shape or [n], strides=strides or [1])

    def number(self, name, value):
        self.params.append(name)
        self.args[name] = value

    def add(self, *lines):
        self.lines += ["    " + x for x in lines]

    def off(self, value, chance=0.12):
        """value, or now and then a wrong one."""
        if self.rng.random() > chance:
            return value
        return max(1, self.rng.choice([value - 1, value + 1, value // 2, value * 2]))

    def maybe(self, text, chance=0.85):
        return text if self.rng.random() < chance else ""

    def text(self):
        return HEAD + f"def kernel({', '.join(self.params)}):\n" + "\n".join(self.lines) + "\n"


def flat_id(k, tiles):
    """Lines that set `tile` to 0..tiles-1, one program each."""
    r = k.rng.random()
    if r < 0.4:
        k.grid = [tiles, 1, 1]
        k.add("tile = tl.program_id(0)")
    elif r < 0.6:
        w = k.rng.choice([2, 3])
        k.grid = [w, -(-tiles // w), 1]
        k.add(f"tile = tl.program_id(1) * {k.off(w)} + tl.program_id(0)")
    elif r < 0.75:
        k.grid = [tiles, 1, 1]
        k.add("tile = tl.num_programs(0) - 1 - tl.program_id(0)")
    elif r < 0.9:
        k.grid = [2, 2, -(-tiles // 4)]
        k.add(f"tile = (tl.program_id(2) * 2 + tl.program_id(1)) * {k.off(2)} + tl.program_id(0)")
    else:
        k.grid = [tiles, k.rng.choice([1, 1, 2]), 1]              # an axis that is not read
        k.add("tile = tl.program_id(0)")


def elementwise(k):
    b, tiles = k.rng.choice([8, 16, 32]), k.rng.randint(2, 5)
    n = b * tiles - k.rng.randint(0, b - 1)
    k.tensor("x", n)
    k.tensor("y", n)
    k.number("n", n)
    flat_id(k, tiles)
    k.add(f"i = tile * {k.off(b)} + tl.arange(0, {b})", f"v = tl.load(x + i{k.maybe(', mask=i < n')})",
          f"tl.store({k.rng.choice(['y', 'y', 'x'])} + i{k.maybe(' + ' + str(k.rng.randint(1, 3)), 0.1)}, v * 2{k.maybe(', mask=i < n', 0.93)})")


def stride_loop(k):
    b, steps, p = 16, k.rng.randint(2, 4), k.rng.randint(2, 3)
    n = b * steps * p - k.rng.randint(0, 9)
    k.tensor("x", n)
    k.tensor("y", n)
    k.number("n", n)
    k.grid = [p, 1, 1]
    step = k.rng.choice(["tl.num_programs(0)", "tl.num_programs(0)", str(k.off(p))])
    if k.rng.random() < 0.5:
        k.add(f"for t in range(tl.program_id(0), tl.cdiv(n, {b}), {step}):", f"    i = t * {k.off(b)} + tl.arange(0, {b})")
    else:
        k.add(f"for base in range(tl.program_id(0) * {b}, n, {step} * {k.off(b)}):", f"    i = base + tl.arange(0, {b})")
    k.add("    v = tl.load(x + i, mask=i < n)", "    tl.store(y + i, v + 1, mask=i < n)")


def tiles_2d(k):
    bm, bn = k.rng.choice([4, 8]), k.rng.choice([8, 16])
    m, n = bm * 2 - k.rng.randint(0, 2), bn * 2 - k.rng.randint(0, 3)
    pad = k.rng.choice([0, 0, 4, -1])
    k.tensor("x", m * (n + max(pad, 0)))
    k.tensor("y", m * (n + max(pad, 0)))
    for name, value in (("m", m), ("n", n), ("stride", n + pad)):
        k.number(name, value)
    k.grid = [2, 2, 1]
    k.add(f"i = tl.program_id({k.rng.choice([0, 0, 0, 1])}) * {k.off(bm)} + tl.arange(0, {bm})", f"j = tl.program_id(1) * {k.off(bn)} + tl.arange(0, {bn})",
          "inside = (i[:, None] < m) & (j[None, :] < n)" if k.rng.random() < 0.9 else "inside = (i[:, None] < m) & (j[None, :] >= 0)",
          "v = tl.load(x + i[:, None] * stride + j[None, :], mask=inside, other=0.0)",
          k.rng.choice(["tl.store(y + i[:, None] * stride + j[None, :], v, mask=inside)",
                        "tl.store(y + j[None, :] * m + i[:, None], v, mask=inside)"]))


def matmul(k):
    b, m, n, kk = 16, 16 * k.rng.choice([1, 2]), 16 * k.rng.choice([1, 2]), 32
    k.tensor("a", m * kk)
    k.tensor("b", kk * n)
    k.tensor("c", m * n)
    k.number("m", m)
    k.number("n", n)
    k.number("kk", kk)
    k.grid = [(m // b) * (n // b), 1, 1]
    k.add(f"wide = tl.cdiv(n, {b})", f"pm = tl.program_id(0) {k.rng.choice(['//', '//', '//', '%'])} wide", "pn = tl.program_id(0) % wide",
          f"i = pm * {k.off(b)} + tl.arange(0, {b})", f"j = pn * {k.off(b)} + tl.arange(0, {b})", f"acc = tl.zeros(({b}, {b}), dtype=tl.float32)",
          f"for s in range(0, kk, {b}):", f"    r = s + tl.arange(0, {b})", "    x = tl.load(a + i[:, None] * kk + r[None, :], mask=i[:, None] < m, other=0.0)",
          "    w = tl.load(b + r[:, None] * n + j[None, :], mask=j[None, :] < n, other=0.0)", "    acc += tl.dot(x, w)",
          f"tl.store(c + i[:, None] * {k.rng.choice(['n', 'n', 'n', '(n - 1)'])} + j[None, :], acc, mask=(i[:, None] < m) & (j[None, :] < n))")


def rows(k):
    cols, n = k.rng.choice([8, 16]), k.rng.randint(2, 4)
    width = cols - k.rng.randint(0, 3)
    stride = k.off(width + k.rng.choice([0, 0, 3]))
    k.tensor("x", n * max(stride, width))
    k.tensor("y", n * max(stride, width))
    k.tensor("out", n)
    for name, value in (("width", width), ("stride", stride)):
        k.number(name, value)
    flat_id(k, n)
    k.add(f"j = tl.arange(0, {cols})", f"v = tl.load(x + tile * stride + j, mask=j < width, other=0.0)", "s = tl.sum(v, 0)")
    end = k.rng.random()
    if end < 0.5:
        k.add(f"tl.store(y + tile * stride + j, v / s{k.maybe(', mask=j < width', 0.9)})")
    elif end < 0.8:
        k.add(f"tl.store(out + tile{k.maybe(' // 2', 0.15)}, s)")
    else:
        k.add("tl.atomic_add(out, s)" if k.rng.random() < 0.8 else "tl.store(out, s)")


def gather(k):
    b, tiles = 16, k.rng.randint(2, 3)
    n = b * tiles
    table = list(range(n))
    k.rng.shuffle(table)
    if k.rng.random() < 0.4:
        table[k.rng.randrange(n)] = table[k.rng.randrange(n)]
    k.tensor("x", n)
    k.tensor("y", n)
    k.tensor("idx", n, k.rng.choice(["i32", "i64"]), table)
    flat_id(k, tiles)
    k.add(f"i = tile * {b} + tl.arange(0, {b})", "t = tl.load(idx + i)")
    k.add(*k.rng.choice([["tl.store(y + i, tl.load(x + t))"], ["tl.store(y + t, tl.load(x + i))"], ["tl.atomic_add(y + t, tl.load(x + i))"],
                         ["tl.store(y + tl.load(idx + t), tl.load(x + i))"]]))


def segments(k):
    starts = [0]
    for _ in range(k.rng.randint(2, 4)):
        starts.append(starts[-1] + k.rng.randint(0, 12))
    if k.rng.random() < 0.2:
        k.rng.shuffle(starts)
    k.tensor("offs", len(starts), "i32", starts)
    k.tensor("out", max(max(starts), 1) + 32)
    k.grid = [len(starts) - 1, 1, 1]
    k.add("p = tl.program_id(0)", "lo = tl.load(offs + p)", "hi = tl.load(offs + p + 1)", "i = lo + tl.arange(0, 16)",
          f"tl.store(out + i, 1.0, mask=i {k.rng.choice(['<', '<', '<', '<='])} hi)")


def block_pointer(k):
    m, n, b = 16, 32, 8
    k.tensor("x", m * n)
    k.tensor("y", m * n)
    k.grid = [m // b, n // b, 1]
    shape = f"shape=({m}, {n}), strides=({n}, 1), block_shape=({b}, {b}), order=(1, 0)"
    where = f"offsets=(tl.program_id(0) * {k.off(b)}, tl.program_id({k.rng.choice([1, 1, 1, 0])}) * {k.off(b)})"
    k.add(f"p = tl.make_block_ptr(x, {where}, {shape})", f"q = tl.make_block_ptr(y, {where}, {shape})",
          "v = tl.load(p, boundary_check=(0, 1))", f"tl.store({k.rng.choice(['q', 'q', 'p'])}, v, boundary_check=(0, 1))")


def descriptor(k):
    m, n, b = 16, 32, 8
    k.tensor("x", m * n)
    k.tensor("y", m * n)
    k.grid = [m // b, n // b, 1]
    where = f"[tl.program_id(0) * {k.off(b)}, tl.program_id(1) * {k.off(b)}]"
    for d, p in (("d", "x"), ("e", "y")):
        k.add(f"{d} = tl.make_tensor_descriptor({p}, shape=[{m}, {n}], strides=[{n}, 1], block_shape=[{b}, {b}])")
    k.add(f"v = d.load({where})", f"e.store({where}, v)")


def exchange(k):
    b, tiles = 32, k.rng.randint(1, 3)
    k.tensor("tmp", b * tiles, "i32")
    k.tensor("y", b * tiles, "i32")
    flat_id(k, tiles)
    k.add(f"i = tl.arange(0, {b})", f"tl.store(tmp + tile * {k.off(b)} + i, i)")
    if k.rng.random() < 0.75:
        k.add("tl.debug_barrier()")
    k.add(f"v = tl.load(tmp + tile * {b} + {b - 1} - i)", f"tl.store(y + tile * {b} + i, v)")


def counter(k):
    b, tiles = 8, k.rng.randint(2, 4)
    k.tensor("part", tiles, "i32")
    k.tensor("cnt", 1, "i32", [0])
    k.tensor("out", 1, "i32")
    k.grid = [tiles, 1, 1]
    sem = k.rng.choice(["acq_rel", "acq_rel", "acq_rel", "relaxed", "release"])
    k.add("p = tl.program_id(0)", "tl.store(part + p, p)", *(["tl.debug_barrier()"] if k.rng.random() < 0.8 else []),
          f"t = tl.atomic_add(cnt, 1, sem='{sem}')", *(["tl.debug_barrier()"] if k.rng.random() < 0.8 else []),
          f"if t == tl.num_programs(0) - {k.rng.choice([1, 1, 1, 2])}:", f"    j = tl.arange(0, {b})",
          "    tl.store(out, tl.sum(tl.load(part + j, mask=j < tl.num_programs(0), other=0), 0))")


def flag(k):
    b = 32
    k.tensor("data", b * 2, "i32")
    k.tensor("f", 2, "i32", [0, 0])
    k.tensor("y", b * 2, "i32")
    k.grid = [k.rng.choice([2, 4]), 1, 1]
    k.add("p = tl.program_id(0)", f"i = p // 2 * {b} + tl.arange(0, {b})", "if p % 2 == 0:", "    tl.store(data + i, i)",
          *(["    tl.debug_barrier()"] if k.rng.random() < 0.8 else []),
          f"    tl.atomic_xchg(f + p // 2, 1, sem='{k.rng.choice(['release', 'release', 'acq_rel', 'relaxed'])}')", "else:",
          f"    got = tl.atomic_add(f + p // 2, 0, sem='{k.rng.choice(['acquire', 'acquire', 'acq_rel', 'relaxed'])}')",
          *(["    tl.debug_barrier()"] if k.rng.random() < 0.8 else []), f"    if got == {k.rng.choice([1, 1, 1, 0])}:",
          "        tl.store(y + i, tl.load(data + i))")


def atomics(k):
    b, tiles = 16, k.rng.randint(2, 3)
    k.tensor("x", b * tiles)
    k.tensor("h", 8)
    flat_id(k, tiles)
    k.add(f"i = tile * {b} + tl.arange(0, {b})", "v = tl.load(x + i)",
          k.rng.choice(["tl.atomic_add(h + i % 8, v)", "tl.atomic_max(h + i % 8, v)", "tl.atomic_add(h + i % 8, v, sem='relaxed', scope='cta')"]))
    if k.rng.random() < 0.3:
        k.add("tl.store(h + tile, 0.0)")


def grouped(k):
    m, n, g, b = k.rng.randint(2, 5), k.rng.randint(2, 3), 2, 4
    k.tensor("y", m * n * b * b)
    k.number("m", m)
    k.number("n", n)
    k.grid = [m * n, 1, 1]
    k.add("p = tl.program_id(0)", f"width = {k.off(g)} * n", "g = p // width", f"rows = min(m - g * {g}, {g})", f"pm = g * {g} + (p % width) % rows",
          "pn = (p % width) // rows", f"i = pm * {b} + tl.arange(0, {b})", f"j = pn * {b} + tl.arange(0, {b})",
          f"tl.store(y + i[:, None] * (n * {b}) + j[None, :], 1.0)")


SHAPES = (elementwise, stride_loop, tiles_2d, matmul, rows, gather, segments, block_pointer, descriptor, exchange, counter, flag, atomics, grouped)


def kernel(seed):
    rng = random.Random(seed)
    k = Kernel(rng)
    shape = SHAPES[seed % len(SHAPES)]
    k.shape = shape.__name__
    shape(k)
    return k
