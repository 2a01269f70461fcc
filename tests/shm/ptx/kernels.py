"""Kernels whose TTGIR and PTX of one compile stand here; build.py compiles them."""
import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + (i + k)[None, :])
        y = tl.load(b + (i + k)[:, None] * N + n[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float16))


@triton.jit
def matmul_tma(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        x = a.load([m, i])
        y = b.load([i, n])
        acc = tl.dot(x, y, acc)
    c.store([m, n], acc.to(tl.float16))


@triton.jit
def norm(x, y, N, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    mean = tl.zeros((B,), tl.float32)
    for k in range(0, N, B):
        mean += tl.load(x + row * N + k + i)
    m = tl.sum(mean) / N
    for k in range(0, N, B):
        v = tl.load(x + row * N + k + i)
        tl.store(y + row * N + k + i, v - m)


@triton.jit
def turned(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i[:, None] * B + i[None, :])
    tl.store(y + i[:, None] * B + i[None, :], tl.trans(v))
