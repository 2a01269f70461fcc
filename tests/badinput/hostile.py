#!/usr/bin/env python3
"""Large and adversarial inputs: hostile.py [path of polyrace] [--list] [--sanitized] [NAME...].

Each is well-formed and made to cost as much as possible. It must end within its budget of work: with a verdict
that is not an internal error, in CPU_S seconds of processor time and RSS_MB of memory, at the default limits.
The same input under a small --max-memory ends in that verdict or in a refusal of kind `budget`. What is known
to be safe never races, what is known to race is never `ok`.
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from verdicts import program                                      # noqa: E402

CPU_S, RSS_MB, SMALL = 20, 500, 2 << 20
if "--sanitized" in sys.argv:      # shadow memory and checks cost about twice as much
    CPU_S, RSS_MB = 3 * CPU_S, 3 * RSS_MB


def tensor(n, dtype="int32", **more):
    return {"tensor": {"dtype": dtype, "ptr": 1 << 20, "shape": [n], "strides": [1], **more}}


def launch(grid=(64, 1, 1), **args):
    return {"version": 1, "kernel": "k", "ttir": "k.ttir", "grid": list(grid), "args": args}


def kernel(lines, params="%x: !tt.ptr<i32>, %n: i32"):
    return f"module {{\n  tt.func public @k({params}) {{\n" + "\n".join(lines) + "\n    tt.return\n  }\n}\n"


HEAD = ["%p = tt.get_program_id x : i32", "%c8 = arith.constant 8 : i32", "%c1 = arith.constant 1 : i32",
        "%c0 = arith.constant 0 : i32", "%o = arith.muli %p, %c8 : i32",
        "%r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>", "%s = tt.splat %o : i32 -> tensor<8xi32>",
        "%i = arith.addi %s, %r : tensor<8xi32>", "%b = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>"]


def store(at, value="%i", name="a"):
    return [f"%{name} = tt.addptr %b, {at} : tensor<8x!tt.ptr<i32>>, tensor<8xi32>", f"tt.store %{name}, {value} : tensor<8x!tt.ptr<i32>>"]


X = {"x": tensor(4096), "n": 100}


def accesses(n, step=512, kind="store"):
    lines = list(HEAD)
    for k in range(n):
        lines += [f"%k{k} = arith.constant dense<{k * step}> : tensor<8xi32>", f"%i{k} = arith.addi %i, %k{k} : tensor<8xi32>"]
        if kind == "store":
            lines += store(f"%i{k}", name=f"a{k}")
        else:
            lines += [f"%a{k} = tt.addptr %b, %i{k} : tensor<8x!tt.ptr<i32>>, tensor<8xi32>",
                      f"%v{k} = tt.load %a{k} : tensor<8x!tt.ptr<i32>>"]
    return kernel(lines)


def selects(n, use):
    """Each value is one of two, by a condition of its own."""
    lines = list(HEAD) + ["%v0 = arith.addi %i, %i : tensor<8xi32>"]
    for k in range(n):
        lines += [f"%k{k} = arith.constant dense<{3 * k + 1}> : tensor<8xi32>", f"%c{k}x = arith.cmpi slt, %v{k}, %k{k} : tensor<8xi32>",
                  f"%t{k} = arith.addi %v{k}, %k{k} : tensor<8xi32>",
                  f"%v{k + 1} = arith.select %c{k}x, %t{k}, %v{k} : tensor<8xi1>, tensor<8xi32>"]
    return kernel(lines + store(f"%v{n}" if use else "%i"))


def knapsack(weights, spread):
    """x[sum of w_j * bit_j(p)]: two programs race when two subsets have sums that are close."""
    lines = list(HEAD)
    total = "%c0"
    for k, w in enumerate(weights):
        lines += [f"%h{k} = arith.constant {1 << k} : i32", f"%q{k} = arith.divsi %p, %h{k} : i32", f"%two{k} = arith.constant 2 : i32",
                  f"%bit{k} = arith.remsi %q{k}, %two{k} : i32", f"%w{k} = arith.constant {w} : i32",
                  f"%m{k} = arith.muli %bit{k}, %w{k} : i32", f"%sum{k} = arith.addi {total}, %m{k} : i32"]
        total = f"%sum{k}"
    lines += [f"%wide = arith.constant {spread} : i32", f"%scaled = arith.muli {total}, %wide : i32",
              "%base = tt.splat %scaled : i32 -> tensor<8xi32>", "%j = arith.addi %base, %r : tensor<8xi32>"]
    return kernel(lines + store("%j"))


def coins(n, seed):
    """One loop an unknown: the address is a sum of counters with large coprime weights."""
    rng, lines, end = random.Random(seed), list(HEAD), []
    lines += ["%bound = arith.constant 50 : i32"]
    total = "%p"
    for k in range(n):
        lines += [f"%w{k} = arith.constant {rng.randrange(10000, 90000) * 2 + 1} : i32",
                  f"scf.for %j{k} = %c0 to %bound step %c1 : i32 {{", f"%m{k} = arith.muli %j{k}, %w{k} : i32",
                  f"%sum{k} = arith.addi {total}, %m{k} : i32"]
        total = f"%sum{k}"
        end.append("}")
    lines += [f"%base = tt.splat {total} : i32 -> tensor<8xi32>", *store("%base")]
    return kernel(lines + end)


def loops(n, nested):
    lines = list(HEAD)
    if nested:
        lines += [f"scf.for %j{k} = %c0 to %n step %c1 : i32 {{" for k in range(n)]
        return kernel(lines + store("%i") + ["}"] * n)
    for k in range(n):
        lines += [f"scf.for %j{k} = %c0 to %n step %c1 : i32 {{", *store("%i", name=f"a{k}"), "}"]
    return kernel(lines)


def carried(n, m):
    """A loop of n carried values, each the sum of two others; m such loops."""
    lines = list(HEAD)
    for q in range(m):
        names = [f"%v{q}_{k}" for k in range(n)]
        first = ["%o"] * n if not q else [f"%f{q - 1}#{k}" for k in range(n)]
        lines += [f"%f{q}:{n} = scf.for %j{q} = %c0 to %n step %c1 iter_args(" + ", ".join(f"{a} = {f}" for a, f in zip(names, first))
                  + ") -> (" + ", ".join(["i32"] * n) + ") : i32 {"]
        lines += [f"%w{q}_{k} = arith.addi {names[k]}, {names[(k + 1) % n]} : i32" for k in range(n)]
        lines += ["scf.yield " + ", ".join(f"%w{q}_{k}" for k in range(n)) + " : " + ", ".join(["i32"] * n), "}"]
    lines += [f"%z = tt.splat %f{m - 1}#0 : i32 -> tensor<8xi32>", *store("%z")]
    return kernel(lines)


def branches(n, nested):
    lines = list(HEAD)
    for k in range(n):
        lines += [f"%t{k} = arith.constant {7 * k} : i32", f"%c{k}x = arith.cmpi sgt, %p, %t{k} : i32", f"scf.if %c{k}x {{"]
        if not nested:
            lines += [*store("%i", name=f"a{k}"), "}"]
    return kernel(lines + (store("%i") + ["}"] * n if nested else []))


def divisions(n):
    """((p / 3 + 1) % 7 ...) again and again: each leaves two unknowns."""
    lines, v = list(HEAD), "%p"
    for k in range(n):
        lines += [f"%d{k} = arith.constant {3 + k % 11} : i32", f"%q{k} = arith.divsi {v}, %d{k} : i32", f"%e{k} = arith.remsi {v}, %d{k} : i32",
                  f"%g{k} = arith.muli %e{k}, %d{k} : i32", f"%v{k} = arith.addi %q{k}, %g{k} : i32"]
        v = f"%v{k}"
    lines += [f"%z = tt.splat {v} : i32 -> tensor<8xi32>", *store("%z")]
    return kernel(lines)


def products(n):
    lines, v = list(HEAD), "%p"
    for k in range(n):
        lines += [f"%v{k} = arith.muli {v}, %{'np'[k % 2]} : i32", f"%u{k} = arith.addi %v{k}, %n : i32"]
        v = f"%u{k}"
    lines += [f"%z = tt.splat {v} : i32 -> tensor<8xi32>", *store("%z")]
    return kernel(lines)


def bits(n):
    lines, v = list(HEAD), "%p"
    for k in range(n):
        lines += [f"%k{k} = arith.constant {(0x5bd1e995 * (k + 1)) % (1 << 31)} : i32", f"%x{k} = arith.xori {v}, %k{k} : i32",
                  f"%h{k} = arith.constant {1 + k % 13} : i32", f"%y{k} = arith.shrui %x{k}, %h{k} : i32", f"%v{k} = arith.ori %x{k}, %y{k} : i32"]
        v = f"%v{k}"
    lines += [f"%z = tt.splat {v} : i32 -> tensor<8xi32>", *store("%z")]
    return kernel(lines)


def masks(n):
    """A conjunction of n disjunctions."""
    lines, m = list(HEAD), None
    for k in range(n):
        lines += [f"%k{k} = arith.constant dense<{5 * k}> : tensor<8xi32>", f"%l{k} = arith.cmpi ne, %i, %k{k} : tensor<8xi32>",
                  f"%h{k} = arith.cmpi sgt, %r, %k{k} : tensor<8xi32>", f"%d{k} = arith.ori %l{k}, %h{k} : tensor<8xi1>"]
        lines += [f"%m{k} = arith.andi {m}, %d{k} : tensor<8xi1>"] if m else []
        m = f"%m{k}" if m else f"%d{k}"
    return kernel(lines + ["%a = tt.addptr %b, %i : tensor<8x!tt.ptr<i32>>, tensor<8xi32>", f"tt.store %a, %i, {m} : tensor<8x!tt.ptr<i32>>"])


def wide(rank, extent):
    """One access of many lanes and dimensions."""
    shape = "x".join([str(extent)] * rank)
    lines = HEAD[:4]
    total = None
    for d in range(rank):
        lines += [f"%r{d} = tt.make_range {{end = {extent} : i32, start = 0 : i32}} : tensor<{extent}xi32>"]
        v, have = f"%r{d}", [str(extent)]
        for e in range(rank):
            if e == d:
                continue
            at = len(have) if e > d else 0
            new = have[:at] + ["1"] + have[at:]
            name = f"%e{d}_{e}"
            lines += [f"{name} = tt.expand_dims {v} {{axis = {at} : i32}} : tensor<{'x'.join(have)}xi32> -> tensor<{'x'.join(new)}xi32>"]
            v, have = name, new
        lines += [f"%w{d} = tt.broadcast {v} : tensor<{'x'.join(have)}xi32> -> tensor<{shape}xi32>",
                  f"%k{d} = arith.constant dense<{extent ** d}> : tensor<{shape}xi32>", f"%m{d} = arith.muli %w{d}, %k{d} : tensor<{shape}xi32>"]
        if total:
            lines += [f"%t{d} = arith.addi {total}, %m{d} : tensor<{shape}xi32>"]
        total = f"%t{d}" if total else f"%m{d}"
    lines += [f"%b = tt.splat %x : !tt.ptr<i32> -> tensor<{shape}x!tt.ptr<i32>>",
              f"%a = tt.addptr %b, {total} : tensor<{shape}x!tt.ptr<i32>>, tensor<{shape}xi32>", f"tt.store %a, {total} : tensor<{shape}x!tt.ptr<i32>>"]
    return kernel(lines)


def indirect(n):
    """Tables of tables: x[t[t[...[p]]]]."""
    lines, v = list(HEAD), "%i"
    lines += ["%tb = tt.splat %t : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>"]
    for k in range(n):
        lines += [f"%q{k} = tt.addptr %tb, {v} : tensor<8x!tt.ptr<i32>>, tensor<8xi32>", f"%l{k} = tt.load %q{k} : tensor<8x!tt.ptr<i32>>"]
        v = f"%l{k}"
    return kernel(lines + store(v), "%x: !tt.ptr<i32>, %t: !tt.ptr<i32>, %n: i32")


def table(values, n=None):
    return {"x": tensor(1 << 20), "t": {"tensor": {"dtype": "int32", "ptr": 1 << 30, "shape": [len(values)], "strides": [1], "values": values}},
            "n": n or 5}


def atomics(n):
    lines = list(HEAD) + ["%true = arith.constant true"]
    for k in range(n):
        lines += [f"%k{k} = arith.constant {k % 3} : i32", f"%a{k} = tt.addptr %x, %k{k} : !tt.ptr<i32>, i32",
                  f"%v{k} = tt.atomic_rmw add, acq_rel, gpu, %a{k}, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32",
                  f"%z{k} = arith.cmpi eq, %v{k}, %c8 : i32", f"scf.if %z{k} {{", *store("%i", name=f"s{k}"), "}"]
    return kernel(lines)


def many_functions(n):
    """Helpers that call the one before twice: inlined they are 2^n."""
    text = ["module {", "  tt.func private @f0(%v: i32) -> i32 {", "    %w = arith.addi %v, %v : i32", "    tt.return %w : i32", "  }"]
    for k in range(1, n):
        text += [f"  tt.func private @f{k}(%v: i32) -> i32 {{", f"    %a = tt.call @f{k - 1}(%v) : (i32) -> i32",
                 f"    %b = tt.call @f{k - 1}(%a) : (i32) -> i32", "    tt.return %b : i32", "  }"]
    body = HEAD + [f"%z = tt.call @f{n - 1}(%p) : (i32) -> i32", "%zz = tt.splat %z : i32 -> tensor<8xi32>", *store("%zz")]
    return "\n".join(text + ["  tt.func public @k(%x: !tt.ptr<i32>, %n: i32) {"] + body + ["    tt.return", "  }", "}", ""])


def constants(n):
    """Dense constants with all their elements."""
    values = ", ".join(str(k * 37 % 1001) for k in range(n))
    return kernel([f"%v = arith.constant dense<[{values}]> : tensor<{n}xi32>", f"%b = tt.splat %x : !tt.ptr<i32> -> tensor<{n}x!tt.ptr<i32>>",
                   f"%a = tt.addptr %b, %v : tensor<{n}x!tt.ptr<i32>>, tensor<{n}xi32>", f"tt.store %a, %v : tensor<{n}x!tt.ptr<i32>>"])


def attributes(n, deep):
    value = "[" * n + "1 : i32" + "]" * n if deep else "{" + ", ".join(f"a{k} = {k} : i64" for k in range(n)) + "}"
    return kernel(HEAD + store("%i")).replace("module {", f"module attributes {{big = {value}}} {{", 1)


def locations(n):
    text = kernel(HEAD + store("%i")).replace("tt.return", "tt.return loc(#loc0)")
    return text + "".join(f"#loc{k} = loc(callsite(#loc{k + 1} at #loc{k + 1}))\n" for k in range(n)) + f'#loc{n} = loc("f.py":1:1)\n'


# ---- TTGIR ------------------------------------------------------------------------------------------------------
GPU = """#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%desc: !tt.tensordesc<64x64xf16, #shared>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf16, #blocked>
"""
BAR, BUF = "!ttg.memdesc<1xi64, #shared1, #smem, mutable>", "!ttg.memdesc<64x64xf16, #shared, #smem, mutable>"


def gpu(lines):
    return GPU + "\n".join(lines) + "\n    tt.return\n  }\n}\n"


def barrier_round(k):
    return [f"%b{k} = ttg.local_alloc : () -> {BAR}", f"%m{k} = ttg.local_alloc : () -> {BUF}", f"ttng.init_barrier %b{k}, 1 : {BAR}",
            f"ttng.barrier_expect %b{k}, 8192, %true : {BAR}",
            f"ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %m{k}, %b{k}, %true : !tt.tensordesc<64x64xf16, #shared>, {BAR} -> {BUF}",
            f"ttng.wait_barrier %b{k}, %c0 : {BAR}", f"ttng.inval_barrier %b{k} : {BAR}",
            f"%l{k} = ttg.local_load %m{k} : {BUF} -> tensor<64x64xf16, #blocked>"]


def gpu_loops(n, nested):
    lines, end = [], []
    for k in range(n):
        lines += [f"scf.for %j{k} = %c0 to %n step %c1 : i32 {{", *([] if nested else barrier_round(k) + ["}"])]
    return gpu(lines + (barrier_round(0) + ["}"] * n if nested else []))


def gpu_buffers(n):
    """One allocation, written and read n times through views of itself."""
    many = f"!ttg.memdesc<{n}x64x64xf16, #shared, #smem, mutable>"
    lines = [f"%m = ttg.local_alloc : () -> {many}"]
    for k in range(n):
        lines += [f"%k{k} = arith.constant {k} : i32", f"%v{k} = ttg.memdesc_index %m[%k{k}] : {many} -> {BUF}",
                  f"ttg.local_store %cst, %v{k} : tensor<64x64xf16, #blocked> -> {BUF}",
                  f"%l{k} = ttg.local_load %v{k} : {BUF} -> tensor<64x64xf16, #blocked>"]
    return gpu(lines)


def gpu_same(n):
    lines = [f"%m = ttg.local_alloc : () -> {BUF}"]
    for k in range(n):
        lines += [f"ttg.local_store %cst, %m : tensor<64x64xf16, #blocked> -> {BUF}", f"%l{k} = ttg.local_load %m : {BUF} -> tensor<64x64xf16, #blocked>"]
    return gpu(lines)


def gpu_ring(stages, loops_n):
    """A ring of barriers whose slot and phase are carried, in several loops."""
    ring, bars = f"!ttg.memdesc<{stages}x64x64xf16, #shared, #smem, mutable>", f"!ttg.memdesc<{stages}x1xi64, #shared1, #smem, mutable>"
    lines = [f"%ring = ttg.local_alloc : () -> {ring}", f"%bars = ttg.local_alloc : () -> {bars}", f"%st = arith.constant {stages} : i32"]
    for k in range(stages):
        lines += [f"%s{k} = arith.constant {k} : i32", f"%i{k} = ttg.memdesc_index %bars[%s{k}] : {bars} -> {BAR}", f"ttng.init_barrier %i{k}, 1 : {BAR}"]
    slot, phase = "%c0", "%c0"
    for q in range(loops_n):
        lines += [f"%f{q}:2 = scf.for %j{q} = %c0 to %n step %c1 iter_args(%slot{q} = {slot}, %ph{q} = {phase}) -> (i32, i32) : i32 {{",
                  f"%vb{q} = ttg.memdesc_index %bars[%slot{q}] : {bars} -> {BAR}", f"%vm{q} = ttg.memdesc_index %ring[%slot{q}] : {ring} -> {BUF}",
                  f"ttng.barrier_expect %vb{q}, 8192, %true : {BAR}",
                  f"ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %vm{q}, %vb{q}, %true : !tt.tensordesc<64x64xf16, #shared>, {BAR} -> {BUF}",
                  f"ttng.wait_barrier %vb{q}, %ph{q} : {BAR}", f"%l{q} = ttg.local_load %vm{q} : {BUF} -> tensor<64x64xf16, #blocked>",
                  f"%ns{q} = arith.addi %slot{q}, %c1 : i32", f"%w{q} = arith.cmpi eq, %ns{q}, %st : i32", f"%r{q} = arith.select %w{q}, %c0, %ns{q} : i32",
                  f"%x{q} = arith.xori %ph{q}, %c1 : i32", f"%np{q} = arith.select %w{q}, %x{q}, %ph{q} : i32",
                  f"scf.yield %r{q}, %np{q} : i32, i32", "}"]
        slot, phase = f"%f{q}#0", f"%f{q}#1"
    return gpu(lines)


def gpu_conditions(n):
    """Copies under n conditions of loaded values: 2^n ways."""
    lines = [f"%m = ttg.local_alloc : () -> {BUF}"]
    for k in range(n):
        lines += [f"%t{k} = arith.constant {k} : i32", f"%q{k} = arith.cmpi sgt, %n, %t{k} : i32", f"scf.if %q{k} {{", *barrier_round(k), "}"]
    return gpu(lines)


def gpu_calls(deep, wide_):
    """wide_ calls in each of `deep` functions, one calling the next: wide_^deep executions."""
    text = gpu(["tt.call @f0() : () -> ()"])
    for k in range(deep):
        calls = f"    tt.call @f{k + 1}() : () -> ()\n" * wide_ if k + 1 < deep else ""
        text = text[:text.rindex("}")] + f"  tt.func private @f{k}() attributes {{noinline = true}} {{\n{calls}    tt.return\n  }}\n}}\n"
    return text


def gpu_shared(n):
    """What a loop carries and indexes with is made of 2^n paths through shared minima and maxima."""
    many = "!ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>"
    lines = [f"%m = ttg.local_alloc : () -> {many}", "%z = scf.for %k = %c0 to %n step %c1 iter_args(%i = %c0) -> (i32)  : i32 {", "%u0 = arith.addi %i, %c1 : i32"]
    for k in range(n):
        lines += [f"%a{k} = arith.minsi %u{k}, %k : i32", f"%b{k} = arith.addi %a{k}, %n : i32", f"%u{k + 1} = arith.maxsi %u{k}, %b{k} : i32"]
    lines += [f"%h = arith.cmpi slt, %u{n}, %n : i32", f"%s = arith.select %h, %u{n}, %c0 : i32", f"%v = ttg.memdesc_index %m[%s] : {many} -> {BUF}",
              f"ttg.local_store %cst, %v : tensor<64x64xf16, #blocked> -> {BUF}", "scf.yield %s : i32", "}"]
    return gpu(lines)


def turns(n):
    """A loop that neither counts nor waits, with an atomic whose value is a chain of n operations."""
    lines = ["%c0 = arith.constant 0 : i32", "%t = arith.constant true", "%z = scf.while (%w = %c0) : (i32) -> i32 {",
             "%o = tt.atomic_cas acq_rel, gpu, %x, %c0, %c0 : (!tt.ptr<i32>, i32, i32) -> i32", "%d = arith.cmpi ne, %o, %c0 : i32",
             "scf.condition(%d) %w : i32", "} do {", "^bb0(%y: i32):", "%v0 = arith.addi %y, %n : i32"]
    lines += [f"%v{k} = arith.xori %v{k - 1}, %v{k - 1 if k % 2 else 0} : i32" for k in range(1, n)]
    return kernel(lines + [f"%e = tt.atomic_rmw exch, acq_rel, gpu, %x, %v{n - 1}, %t : (!tt.ptr<i32>, i32, i1) -> i32", f"scf.yield %v{n - 1} : i32", "}"])


def cases():
    """name -> function: (text, launch or None for a TTGIR text, what is known: "safe", "race" or "")"""
    rng = random.Random(5)
    permutation = list(range(16384))
    rng.shuffle(permutation)
    twice = [k // 2 for k in permutation]
    c = {
        "accesses_300": lambda: (accesses(300), launch(**X), "safe"),
        "accesses_400_close": lambda: (accesses(400, step=3), launch(**X), "race"),
        "accesses_1500_close": lambda: (accesses(1500, step=3), launch(**X), "race"),
        "accesses_3000": lambda: (accesses(3000), launch(**X), "safe"),
        "loads_5000": lambda: (accesses(5000, kind="load"), launch(**X), "safe"),
        "selects_60": lambda: (selects(60, True), launch(**X), ""),
        "selects_400": lambda: (selects(400, True), launch(**X), ""),
        "selects_1000": lambda: (selects(1000, True), launch(**X), ""),
        "selects_2000_unused": lambda: (selects(2000, False), launch(**X), "safe"),
        "knapsack_12": lambda: (knapsack([rng.randrange(1 << 20, 1 << 21) for _ in range(12)], 1), launch((1 << 12, 1, 1), **X), ""),
        "knapsack_16": lambda: (knapsack([rng.randrange(1 << 20, 1 << 21) for _ in range(16)], 1), launch((1 << 16, 1, 1), **X), ""),
        "knapsack_24": lambda: (knapsack([rng.randrange(1 << 20, 1 << 21) for _ in range(24)], 1), launch((1 << 24, 1, 1), **X), ""),
        "knapsack_30": lambda: (knapsack([rng.randrange(1 << 20, 1 << 21) for _ in range(30)], 1), launch((1 << 30, 1, 1), **X), ""),
        "knapsack_powers": lambda: (knapsack([1 << k for k in range(20)], 8), launch((1 << 20, 1, 1), **X), "safe"),
        "coins_6": lambda: (coins(6, 1), launch(**X), ""),
        "coins_40": lambda: (coins(40, 2), launch(**X), ""),
        "loops_2000": lambda: (loops(2000, False), launch(**X), ""),
        "loops_190_deep": lambda: (loops(190, True), launch(**X), ""),
        "carried_64": lambda: (carried(64, 1), launch(**X), ""),
        "carried_400_by_20": lambda: (carried(400, 20), launch(**X), ""),
        "branches_1000": lambda: (branches(1000, False), launch((8192, 1, 1), **X), "safe"),
        "branches_190_deep": lambda: (branches(190, True), launch((8192, 1, 1), **X), "safe"),
        "divisions_200": lambda: (divisions(200), launch(**X), ""),
        "divisions_3000": lambda: (divisions(3000), launch(**X), ""),
        "products_400": lambda: (products(400), launch(**X), ""),
        "bits_12": lambda: (bits(12), launch(**X), ""),
        "bits_30": lambda: (bits(30), launch(**X), ""),
        "bits_300": lambda: (bits(300), launch(**X), ""),
        "bits_3000": lambda: (bits(3000), launch(**X), ""),
        "masks_1500": lambda: (masks(1500), launch(**X), "safe"),
        "wide_6": lambda: (wide(6, 8), launch((1, 1, 1), x=tensor(1 << 20), n=5), "safe"),
        "wide_2": lambda: (wide(2, 1024), launch((1, 1, 1), x=tensor(1 << 20), n=5), "safe"),
        "table_permutation": lambda: (indirect(1), launch((2048, 1, 1), **table(permutation)), "safe"),
        "table_twice": lambda: (indirect(1), launch((2048, 1, 1), **table(twice)), "race"),
        "table_of_tables": lambda: (indirect(12), launch((2048, 1, 1), **table(permutation)), ""),
        "table_4000000": lambda: (indirect(1), launch((2048, 1, 1), **table(list(range(4000000)))), ""),
        "atomics_60": lambda: (atomics(60), launch(**X), ""),
        "functions_40": lambda: (many_functions(40), launch(**X), ""),
        "constants_16384": lambda: (constants(16384), launch((1, 1, 1), **X), ""),
        "constants_1000000": lambda: (constants(1048576), launch((1, 1, 1), **X), ""),
        "attributes_200000": lambda: (attributes(200000, False), launch(**X), "safe"),
        "attributes_deep": lambda: (attributes(100000, True), launch(**X), ""),
        "locations_60": lambda: (locations(60), launch(**X), "safe"),
        "numbers": lambda: (kernel(HEAD + ["%big = arith.constant dense<2147483647> : tensor<8xi32>", "%m = arith.muli %i, %big : tensor<8xi32>",
                                   "%mm = arith.muli %m, %m : tensor<8xi32>", *store("%mm")]), launch(**X), ""),
        "configs_2000": lambda: (kernel(HEAD + store("%i")), {**launch(**X), "configs": [{"config": {"num_warps": 1 + k % 8}} for k in range(2000)]}, "safe"),
        "arguments_5000": lambda: (kernel(HEAD + store("%i"), "%x: !tt.ptr<i32>, %n: i32" + "".join(f", %q{k}: !tt.ptr<i32>" for k in range(5000))),
                           launch(**X, **{f"q{k}": tensor(64) for k in range(5000)}), ""),
        "assume_3000": lambda: (kernel(HEAD + store("%i")), {**launch(**X), "assume": [f"n != {k}" for k in range(3000, 6000)]}, ""),
        "gpu_barriers_200": lambda: (gpu([x for k in range(200) for x in barrier_round(k)]), None, ""),
        "gpu_loops_60": lambda: (gpu_loops(60, False), None, ""),
        "gpu_loops_20_deep": lambda: (gpu_loops(20, True), None, ""),
        "gpu_loops_100_deep": lambda: (gpu_loops(100, True), None, ""),
        "gpu_buffers_300": lambda: (gpu_buffers(300), None, ""),
        "gpu_same_600": lambda: (gpu_same(600), None, ""),
        "gpu_ring_16": lambda: (gpu_ring(16, 1), None, ""),
        "gpu_ring_7_by_8": lambda: (gpu_ring(7, 8), None, ""),
        "turns_250000": lambda: (turns(250000), launch(**X), ""),
        "gpu_calls_14_by_12": lambda: (gpu_calls(14, 12), None, ""),
        "gpu_shared_36": lambda: (gpu_shared(36), None, ""),
        "gpu_conditions_40": lambda: (gpu_conditions(40), None, ""),
    }
    return c


def run(command, limit_s):
    """(exit status or None, standard output, standard error, processor seconds, megabytes)"""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(["sh", "-c", f"ulimit -t {limit_s}; exec \"$@\"", "sh", *command], stdout=out, stderr=err)
        _, status, use = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return (None if child.returncode in (-9, -24) else child.returncode), out.read().decode(errors="replace"), err.read().decode(errors="replace"), use.ru_utime + use.ru_stime, use.ru_maxrss / 1024


def check(binary, home, name, case, slow):
    text, doc, known = case()
    ttir, path = os.path.join(home, "k.ttir"), os.path.join(home, "k.json")
    if doc is None:
        path = os.path.join(home, "k.ttgir")
        ttir = path
    with open(ttir, "w", encoding="utf-8") as f:
        f.write(text)
    if doc is not None:
        with open(path, "w", encoding="utf-8") as f:
            json.dump(doc, f)
    command = [binary, "check", "--format=jsonl", "--jobs=1", "--t0-timeout=none", "--t1-timeout=none"]
    code, out, err, cpu, mb = run([*command, path], 2 * CPU_S)
    status = re.search(r'"status": ?"([a-z]+)"', out)
    status = status.group(1) if status else "nothing"
    if status == "nothing" and code == 3:
        status = "rejected"
    kinds = sorted(set(re.findall(r'"kind": ?"([a-z-]+)"', out)))
    wrong = []
    if code is None:
        wrong.append("does not end")
    elif code < 0 or code == 4 or '"internal"' in out:
        wrong.append(f"exit {code}: {err[-200:]}")
    elif status == "nothing":
        wrong.append(f"exit {code} without a verdict: {err[-200:]}")
    elif status == "rejected" and not re.search(r"k\.(ttir|ttgir|json)", err):
        wrong.append(f"rejected without a place: {err[-200:]}")
    if (known == "safe" and status == "races") or (known == "race" and status == "ok"):
        wrong.append(f"{status}, but it is a {known}")
    if cpu > CPU_S:
        wrong.append(f"{cpu:.1f} s")
    if mb > RSS_MB:
        wrong.append(f"{mb:.0f} MiB")
    if slow:
        print(f"{name:24} {status:12} {cpu:6.2f} s {mb:6.0f} MiB  {' '.join(kinds)}  {err.strip()[:140]}", flush=True)
    if not wrong:
        code, out, err, _, _ = run([*command, f"--max-memory={SMALL}", path], 2 * CPU_S)
        other = re.search(r'"status": ?"([a-z]+)"', out)
        other = other.group(1) if other else "rejected" if code == 3 else "nothing"
        if other != status and not ("--max-memory" in out and other == "unsupported"):
            wrong.append(f"{status}, but with --max-memory={SMALL} {other} {out[:300]} {err[-200:]}")
    return wrong


def main():
    names = [a for a in sys.argv[1:] if not a.startswith("-") and not os.path.sep in a]
    slow = "--list" in sys.argv
    binary, failures = program(), 0
    todo = {n: c for n, c in cases().items() if not names or n in names}
    with tempfile.TemporaryDirectory() as home:
        for name, case in todo.items():
            for wrong in check(binary, home, name, case, slow):
                failures += 1
                print(f"FAIL {name}: {wrong}", flush=True)
    print(f"{len(todo)} hostile inputs, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
