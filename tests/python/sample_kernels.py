"""Kernels of the Python tests. Line numbers are asked for by name: `line("S1")` finds `# @S1`."""
import re
from typing import NamedTuple

import triton
import triton.language as tl


@triton.jit
def copy(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)  # @COPY


@triton.jit
def waw(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * (B // 2) + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)  # @WAW


@triton.jit
def raw(y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, i, mask=i < n)  # @RAW_STORE
    v = tl.load(y + i + B, mask=i + B < n)  # @RAW_LOAD
    tl.store(y + i, v, mask=i < 0)


@triton.jit
def war(y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(y + i + 1, mask=i + 1 < n)  # @WAR_LOAD
    tl.store(y + i, v, mask=i < n)  # @WAR_STORE


@triton.jit
def threads(y, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i // 2, i)  # @THREADS


@triton.jit
def stepped(x, y, n, B: tl.constexpr, STEP: tl.constexpr):
    i = tl.program_id(0) * STEP + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)  # @STEPPED


@triton.jit
def strided(y, stride, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + tl.program_id(0) * stride + i, i, mask=i < n)  # @STRIDED


@triton.jit
def tupled(ts, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(ts[1] + i, tl.load(ts[0] + i + 1))  # @TUPLED


class Pair(NamedTuple):
    src: object
    dst: object


class Job(NamedTuple):
    pair: Pair
    n: int


@triton.jit
def named(job, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(job.pair.dst + i, tl.load(job.pair.src + i + 1, mask=i < job.n), mask=i < job.n)  # @NAMED


@triton.jit
def scatter(index, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.load(index + i, mask=i < n, other=0)
    tl.store(out + j, i, mask=i < n)  # @SCATTER


@triton.jit
def fill(index, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(index + i, i, mask=i < n)


@triton.jit
def guarded(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(y + i % 4, v, mask=v > 0)  # @GUARDED


@triton.jit
def guarded_beside_a_race(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(y + i % 4, v, mask=v > 0)
    tl.store(y + 8 + i % 4, v)  # @SURE


@triton.jit
def does_not_compile(x, n):
    tl.store(x + undefined_name, n)  # noqa: F821


@triton.jit
def many_types(a, b, c, d, flag, f, none, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = i + a + b + c.to(tl.int32)
    if flag:
        v += d.to(tl.int32)
    if none is not None:
        v += tl.load(none + i)
    tl.store(out + i, v.to(tl.float32) * f)


@triton.jit
def pair(ts, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(ts[1] + i * ts[2], tl.load(ts[0] + i, mask=i < n), mask=i < n)


@triton.jit
def by_descriptor(source, target, B: tl.constexpr):
    i = tl.program_id(0) * B
    target.store([i, 0], source.load([i, 0]))


@triton.jit
def add_counter(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(x + i % 4, 1, mask=i < n)


def line(label):
    """The line of this file that ends in `# @LABEL`."""
    with open(__file__) as f:
        for number, text in enumerate(f, 1):
            if re.search(rf"# @{label}\s*$", text):
                return number
    raise KeyError(label)


@triton.jit
def by_table(table, n, B: tl.constexpr):
    """Doubles the tensors whose addresses stand in a table, one a program."""
    to = tl.load(table + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    i = tl.arange(0, B)
    tl.store(to + i, tl.load(to + i, mask=i < n) * 2, mask=i < n)
