#!/usr/bin/env python3
"""Texts that no compiler would print, each one question: python hand.py writes ttgir/hand.*.ttgir."""
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
HEAD = """#sw = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#bl = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = %d : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @hand(%%p: !tt.ptr<i32>, %%q: tensor<64x64x!tt.ptr<f16>, #bl>, %%desc: !tt.tensordesc<64x64xf16, #nv>, %%K: i32, %%c: i1) {
    %%c0 = arith.constant 0 : i32
    %%c1 = arith.constant 1 : i32
    %%true = arith.constant true
    %%x = arith.constant dense<0.0> : tensor<64x64xf16, #bl>
"""
TAIL = "    tt.return\n  }\n}\n"
T = "!ttg.memdesc<64x64xf16, #sw, #smem, mutable>"
N = "!ttg.memdesc<64x64xf16, #nv, #smem, mutable>"
B = "!ttg.memdesc<1xi64, #bar, #smem, mutable>"
TENSOR = "tensor<64x64xf16, #bl>"
ALLOC = f"    %a = ttg.local_alloc : () -> {T}\n"
BAR = f"    %b = ttg.local_alloc : () -> {B}\n    ttng.init_barrier %b, 1 : {B}\n"
COPY = f"    %t = ttg.async_copy_global_to_local %q, %a : tensor<64x64x!tt.ptr<f16>, #bl> -> <64x64xf16, #sw, #smem, mutable>\n    %g = ttg.async_commit_group tokens %t\n"
READ = f"    %r = ttg.local_load %a : {T} -> {TENSOR}\n"
LOOP = "    scf.for %k = %c0 to %K step %c1  : i32 {\n"
END = "    }\n"


def half(first, second):
    """cp.async into columns from `first`, a read of columns from `second`, 32 each, no wait."""
    view = "!ttg.memdesc<64x32xf16, #sw, #smem, mutable, 64x64>"
    return ALLOC + f"    %l = ttg.memdesc_subslice %a[0, {first}] : {T} -> {view}\n" \
        f"    %m = ttg.memdesc_subslice %a[0, {second}] : {T} -> {view}\n" \
        "    %t = ttg.async_copy_global_to_local %q, %l : tensor<64x64x!tt.ptr<f16>, #bl> -> <64x32xf16, #sw, #smem, mutable, 64x64>\n" \
        "    %g = ttg.async_commit_group tokens %t\n" \
        f"    %r = ttg.local_load %m : {view} -> tensor<64x32xf16, #bl>\n    %w = ttg.async_wait {{num = 0 : i32}}\n"


def parts(first, second):
    """cp.async into one part of a reinterpreted buffer, a read of another, no wait: which bytes a part has is not known."""
    whole, part = "!ttg.memdesc<2x32x64xf16, #sw, #smem, mutable>", "!ttg.memdesc<32x64xf16, #sw, #smem, mutable>"
    return ALLOC + f"    %w = ttg.memdesc_reinterpret %a : {T} -> {whole}\n" \
        f"    %l = ttg.memdesc_index %w[{first}] : {whole} -> {part}\n    %m = ttg.memdesc_index %w[{second}] : {whole} -> {part}\n" \
        "    %t = ttg.async_copy_global_to_local %q, %l : tensor<64x64x!tt.ptr<f16>, #bl> -> <32x64xf16, #sw, #smem, mutable>\n" \
        "    %g = ttg.async_commit_group tokens %t\n" \
        f"    %r = ttg.local_load %m : {part} -> tensor<32x64xf16, #bl>\n    %v = ttg.async_wait {{num = 0 : i32}}\n"


TMEM = "!ttg.memdesc<128x64xi32, #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>, #ttng.tensor_memory, mutable>"
PANEL = "!ttg.memdesc<128x64xi32, #nv, #smem, mutable>"
CONVERT = f"    %x = arith.constant dense<0.0> : {TENSOR}\n    %y = ttg.convert_layout %x : {TENSOR} -> {TENSOR}\n"
CALLEES = {"call_converts": CONVERT, "call_converts_pending": CONVERT, "call_stores": f"    %x = arith.constant dense<0.0> : {TENSOR}\n    %a = ttg.local_alloc %x : ({TENSOR}) -> {T}\n",
           "call_assembly": "    %x = arith.constant dense<0> : tensor<64xi32, #ttg.slice<{dim = 0, parent = #bl}>>\n"
                            "    %y = tt.elementwise_inline_asm \"bar.sync 0;\" {constraints = \"=r,r\", packed_element = 1 : i32, pure = false} %x : "
                            "tensor<64xi32, #ttg.slice<{dim = 0, parent = #bl}>> -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #bl}>>\n",
           "call_itself": "    tt.call @other() : () -> ()\n"}
REDUCED = (f"    %s = \"tt.reduce\"(%x) <{{axis = %d : i32}}> ({{\n    ^bb0(%i: f16, %j: f16):\n      %m = arith.addf %i, %j : f16\n"
           f"      tt.reduce.return %m : f16\n    }}) : ({TENSOR}) -> tensor<64xf16, #ttg.slice<{{dim = 0, parent = #bl}}>>\n")
DATA = "    %v = tt.load %p : !tt.ptr<i32>\n    %f = arith.sitofp %v : i32 to f32\n    %d = arith.cmpf ogt, %f, %f : f32\n"


def chosen(by, copied, waited):
    """A copy into one buffer, a read of one of two: `by` says which. %u is a third buffer; %o the one that is not read."""
    wait = "    %w = ttg.async_wait {num = 0 : i32}\n"
    return ((DATA if by == "%d" else "") + ALLOC + ALLOC.replace("%a", "%e") + ALLOC.replace("%a", "%u")
            + f"    %s = arith.select {by}, %a, %e : {T}\n    %o = arith.select {by}, %e, %a : {T}\n" + COPY.replace("%a", copied)
            + (wait if waited else "") + READ.replace("%a", "%s") + wait.replace("%w", "%w2") + f"    %k1 = ttg.local_load %u : {T} -> {TENSOR}\n    %k2 = ttg.local_load %o : {T} -> {TENSOR}\n    %k3 = ttg.local_load %a : {T} -> {TENSOR}\n")


def in_use(col, read, rows=128, row=0):
    """Two buffers of tensor memory at columns 0 and 64, a third at `col` that is written before `read` is read; %s is one of the first two."""
    t, x = TMEM.replace("xi32", "xf32").replace("128x64", f"{rows}x64").replace("blockM = 128", f"blockM = {rows}"), f"tensor<{rows}x64xf32, #bl>"
    at = "{tensor_memory_col_offset = %d : i32, tensor_memory_row_offset = %d : i32}"
    return (f"    %v = arith.constant dense<0.0> : {x}\n" + "".join(f"    {n} = ttng.tmem_alloc {at % p} : () -> {t}\n    ttng.tmem_store %v, {n}, %true : {x} -> {t}\n"
                                                                    for n, p in (("%a", (64 if rows == 128 else 0, 0)), ("%e", (0 if rows == 128 else 128, 0))))
            + f"    %s = arith.select %c, %a, %e : {t}\n    %o = ttng.tmem_alloc {at % (col, row)} : () -> {t}\n    ttng.tmem_store %v, %o, %true : {x} -> {t}\n"
            + f"    %r = ttng.tmem_load {read} : {t} -> {x}\n    %r2 = ttng.tmem_load %s : {t} -> {x}\n    %r3 = ttng.tmem_load %o : {t} -> {x}\n")


def beside(width):
    """A buffer of 64 rows and tiles of 64 columns at columns 0, another one in the rows that one such tile leaves free."""
    at = "{tensor_memory_col_offset = 0 : i32, tensor_memory_row_offset = %d : i32}"
    text = ""
    for name, columns, row in (("%a", width, 0), ("%e", 64, 16)):
        t = f"!ttg.memdesc<64x{columns}xf32, #ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>, #ttng.tensor_memory, mutable>"
        x = f"tensor<64x{columns}xf32, #bl>"
        text += f"    %v{columns}{row} = arith.constant dense<0.0> : {x}\n    {name} = ttng.tmem_alloc {at % row} : () -> {t}\n    ttng.tmem_store %v{columns}{row}, {name}, %true : {x} -> {t}\n"
        read = f"    %r = ttng.tmem_load %a : {t} -> {x}\n" if name == "%a" else read + f"    %r2 = ttng.tmem_load %e : {t} -> {x}\n"
    return text + read


def pending_columns(col):
    """A copy into tensor memory that nothing waits for, then another buffer there."""
    t, x, panel = TMEM.replace("xi32", "xf32"), "tensor<128x64xf32, #bl>", PANEL.replace("xi32", "xf32")
    at = "{tensor_memory_col_offset = %d : i32, tensor_memory_row_offset = 0 : i32}"
    return (f"    %v = arith.constant dense<0.0> : {x}\n    %src = ttg.local_alloc : () -> {panel}\n    %a = ttng.tmem_alloc {at % 0} : () -> {t}\n    ttng.tmem_copy %src, %a : {panel}, {t}\n"
            f"    %e = ttng.tmem_alloc {at % col} : () -> {t}\n    ttng.tmem_store %v, %e, %true : {x} -> {t}\n    %r = ttng.tmem_load %e : {t} -> {x}\n")


def bytes_in_use(offset):
    """The same with shared memory: a second buffer at `offset` while the first, of 8192 bytes at 0, is in use."""
    return (ALLOC.replace("local_alloc :", "local_alloc {allocation.offset = 0 : i32} :") + f"    ttg.local_store %x, %a : {TENSOR} -> {T}\n"
            + f"    %d = ttg.local_alloc %x {{allocation.offset = {offset} : i32}} : ({TENSOR}) -> {T}\n" + READ + READ.replace("%a", "%d").replace("%r", "%r2"))


def guarded(number, guard, wait="%z", inside=False):
    """A load when `guard` holds, a loop of `number` iterations that waits for it in the first one when `wait` holds."""
    return (number + guard + BAR + ALLOC.replace(T, N) + f"    scf.if %g {{\n      ttng.barrier_expect %b, 8192, %true : {B}\n"
        f"      ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %a, %b, %true : !tt.tensordesc<64x64xf16, #nv>, {B} -> {N}\n    }}\n"
        + LOOP.replace("%K", "%n") + (number.replace("%n", "%n9").replace("%h", "%h9") if inside else "") + f"      %z = arith.cmpi eq, %k, %c0 : i32\n"
        + (f"      %z2 = arith.andi %z, {wait} : i1\n" if wait != "%z" else "      %z2 = arith.andi %z, %true : i1\n")
        + f"      ttng.wait_barrier %b, %c0, %z2 : {B}\n" + READ.replace(T, N) + END + f"    ttng.inval_barrier %b : {B}\n")


SQUARE = "    %n = arith.muli %K, %K : i32\n"
NOT_ZERO = "    %g = arith.cmpi ne, %K, %c0 : i32\n"
PRODUCT = "    %n = arith.muli %K, %S : i32\n"
BOTH = "    %g1 = arith.cmpi {0}, %K, %c0 : i32\n    %g2 = arith.cmpi {1}, %S, %c0 : i32\n    %g = arith.andi %g1, %g2 : i1\n"
MASKED = "    %h1 = arith.constant 4 : i32\n    %h2 = arith.constant {0} : i32\n    %m = arith.andi %K, %h1 : i32\n    %n = arith.andi %K, %h2 : i32\n"
BIT = "    %g = arith.cmpi ne, %m, %c0 : i32\n"
FAR = "    %l1 = arith.constant 1000 : i32\n    %far = arith.cmpi eq, %S, %l1 : i32\n    %back = arith.subi %c0, %S : i32\n"
LATE = ("    %l = arith.constant 3 : i32\n    %e = arith.muli %k, %k : i32\n    %f = arith.cmpi eq, %e, %l : i32\n")


def never(number):
    """A copy in the iteration whose square is `number`, read without a wait."""
    return ALLOC + READ + LOOP + LATE.replace("constant 3", f"constant {number}") + "      scf.if %f {\n" + COPY + "      }\n" + READ.replace("%r", "%r2") + END


def stepped(pending):
    """Two buffers by turns, filled one iteration ahead while there is one, in a loop whose step is an argument."""
    two = "!ttg.memdesc<2x64x64xf16, #sw, #smem, mutable>"
    slot = "{0}    %{1} = ttg.memdesc_index %s[{2}] : " + two + f" -> {T}\n"
    copy = COPY.replace("%a", "%{0}").replace("%t", "%t{0}").replace("%g", "%g{0}")
    return (f"    %s = ttg.local_alloc : () -> {two}\n" + slot.format("", "a0", "%c0") + copy.format("a0")
            + "    %z = scf.for %k = %c0 to %K step %S iter_args(%i = %c0) -> (i32)  : i32 {\n      %j = arith.subi %c1, %i : i32\n"
            + slot.format("  ", "a1", "%j") + slot.format("  ", "a", "%i") + copy.format("a1")
            + f"      %w = ttg.async_wait {{num = {pending} : i32}}\n" + READ + "      scf.yield %j : i32\n" + END + "    %ww = ttg.async_wait {num = 0 : i32}\n")


def handed(copied):
    """%pp becomes the buffer %b0, and %qq what %pp was: from the second iteration on they are other buffers than at first. A copy into
    %qq stays pending over the end of its iteration, in the next one %b0 is read (or another buffer)."""
    names = ["%pp", "%qq"]
    return (ALLOC.replace("%a", "%a0") + ALLOC.replace("%a", "%b0") + ALLOC.replace("%a", "%u0")
            + f"    %z:2 = scf.for %k = %c0 to %K step %c1 iter_args(%pp = %a0, %qq = %a0) -> ({T}, {T})  : i32 {{\n"
            + READ.replace("%a", copied + "0") + "      %w = ttg.async_wait {num = 0 : i32}\n" + COPY.replace("%a", names[1])
            + f"      scf.yield %b0, %pp : {T}, {T}\n" + END + "    %ww = ttg.async_wait {num = 0 : i32}\n" + READ.replace("%a", "%b0").replace("%r", "%r2"))


def rotated(pending, next_=None, three=False):
    """A loop hands its buffers around: copy into the last one, wait for all but `pending` copies, read the first one."""
    names = ["%a", "%e", "%u"][:3 if three else 2]
    next_ = next_ or ", ".join(names[1:] + names[:1])
    made = "".join(ALLOC.replace("%a", n + "0") for n in names)
    fill = "".join(COPY.replace("%a", n + "0").replace("%t", f"%t{i}").replace("%g", f"%g{i}") for i, n in enumerate(names[:-1]))
    loop = ("    " + f"%z:{len(names)} = scf.for %k = %c0 to %K step %c1 iter_args({', '.join(f'{n} = {n}0' for n in names)}) -> ({', '.join([T] * len(names))})  : i32 {{\n")
    return (made + fill + loop + COPY.replace("%a", names[-1]) + f"      %w = ttg.async_wait {{num = {pending} : i32}}\n" + READ
            + f"      scf.yield {next_} : {', '.join([T] * len(names))}\n" + END + "    %ww = ttg.async_wait {num = 0 : i32}\n"
            + "".join(f"    %r{i} = ttg.local_load {n}0 : {T} -> {TENSOR}\n" for i, n in enumerate(names)))


ONCE = (LOOP + "      %z = arith.cmpi eq, %k, %c0 : i32\n      scf.if %z {\n" + f"        ttng.arrive_barrier %b, 1 : {B}\n      }}\n" + END
        + f"    ttng.wait_barrier %b, %c0 : {B}\n")



def waited_elsewhere(before, after):
    """A partition waits for the first phase of %b; the default one arrives and goes on with `before`; `after` the join."""
    return (f"    ttg.warp_specialize(%b) attributes {{requestedRegisters = array<i32: 24>}}\n    default {{\n      ttng.arrive_barrier %b, 1 : {B}\n"
            f"{before}      ttg.warp_yield\n    }}\n    partition0(%h: {B}) num_warps(1) {{\n      %z = arith.constant 0 : i32\n"
            f"      ttng.wait_barrier %h, %z : {B}\n      ttg.warp_return\n    }} : ({B}) -> ()\n{after}")


def again(body):
    """A loop that goes on while a loaded value is not 0."""
    return ("    scf.while : () -> () {\n      %v = tt.load %p : !tt.ptr<i32>\n      %go = arith.cmpi ne, %v, %c0 : i32\n      scf.condition(%go)\n"
            "    } do {\n" + body + "      scf.yield\n    }\n")


def sometimes(body, behind=""):
    """A loop that does something where a loaded value is more than 0."""
    return (LOOP + "      %v = tt.load %p : !tt.ptr<i32>\n      %y = arith.cmpi sgt, %v, %c0 : i32\n      scf.if %y {\n" + body + "      }\n" + behind + END)


def tiles(turn="%s, %s2", slot="%s", guard="%end", most=2, wait=0, behind="    %w2 = ttg.async_wait {num = 0 : i32}\n"):
    """Two buffers by turns: the next one where a tile of S iterations ends, which the model does not count. %t is filled while `slot` is read."""
    two, one = "!ttg.memdesc<2x64x64xf16, #sw, #smem, mutable>", "!ttg.memdesc<64x64xf16, #sw, #smem, mutable, 2x64x64>"
    read = f"%i = ttg.memdesc_index %a[{slot}] : {two} -> {one}\n        %r = ttg.local_load %i : {one} -> {TENSOR}\n"
    return (f"    %a = ttg.local_alloc : () -> {two}\n    %x0 = ttg.memdesc_index %a[%c0] : {two} -> {one}\n    %x1 = ttg.memdesc_index %a[%c1] : {two} -> {one}\n"
            + "".join(f"    ttg.local_store %x, %x{i} : {TENSOR} -> {one}\n" for i in (0, 1)) + f"    %cm = arith.constant {most} : i32\n"
            + "    %l:2 = scf.for %k = %c0 to %K step %c1 iter_args(%s = %c0, %n = %c0) -> (i32, i32)  : i32 {\n      %end = arith.cmpi eq, %n, %S : i32\n"
            + "      %s1 = arith.addi %s, %c1 : i32\n      %wrap = arith.cmpi sge, %s1, %cm : i32\n      %s2 = arith.select %wrap, %c0, %s1 : i32\n"
            + f"      %t = arith.select %end, {', '.join(reversed(turn.split(', ')))} : i32\n      %w = ttg.async_wait {{num = {wait} : i32}}\n      %d = ttg.memdesc_index %a[%t] : {two} -> {one}\n"
            + "      %g = ttg.async_copy_global_to_local %q, %d : tensor<64x64x!tt.ptr<f16>, #bl> -> <64x64xf16, #sw, #smem, mutable, 2x64x64>\n      %h = ttg.async_commit_group tokens %g\n"
            + f"      scf.if {guard} {{\n        {read}      }}\n      %n1 = arith.addi %n, %c1 : i32\n      %n2 = arith.select %end, %c0, %n1 : i32\n      scf.yield %t, %n2 : i32, i32\n    }}\n"
            + behind + f"    %f = ttg.memdesc_index %a[%l#0] : {two} -> {one}\n    %z = ttg.local_load %f : {one} -> {TENSOR}\n    %w3 = ttg.async_wait {{num = 0 : i32}}\n")


def by_data(read):
    """Which of two buffers a copy fills is data, the other one is known to be none of its: `read` is what is read before the copy is waited for."""
    two, one = "!ttg.memdesc<2x64x64xf16, #sw, #smem, mutable>", "!ttg.memdesc<64x64xf16, #sw, #smem, mutable, 2x64x64>"
    return (f"    %a = ttg.local_alloc : () -> {two}\n    %l = scf.for %k = %c0 to %K step %c1 iter_args(%s = %c0) -> (i32)  : i32 {{\n"
            "      %v = tt.load %p : !tt.ptr<i32>\n      %y = arith.cmpi sgt, %v, %c0 : i32\n      %o = arith.xori %s, %c1 : i32\n"
            "      %n = arith.select %y, %o, %s : i32\n      %m = arith.xori %n, %c1 : i32\n"
            f"      %d = ttg.memdesc_index %a[%n] : {two} -> {one}\n      %e = ttg.memdesc_index %a[%m] : {two} -> {one}\n"
            "      %g = ttg.async_copy_global_to_local %q, %d : tensor<64x64x!tt.ptr<f16>, #bl> -> <64x64xf16, #sw, #smem, mutable, 2x64x64>\n"
            f"      %h = ttg.async_commit_group tokens %g\n      %r = ttg.local_load {read} : {two if read == '%a' else one} -> tensor<{'2x' if read == '%a' else ''}64x64xf16, #bl>\n"
            "      %w = ttg.async_wait {num = 0 : i32}\n      scf.yield %n : i32\n    }\n")


def while_ring(go="%go = arith.cmpi slt, %i, %K : i32", first="%c0", turn="%true", load=None, wait=True, behind="%n#1", step="%c1"):
    """One barrier that a loop with a condition uses K times, and once more behind it: the phase turns every time."""
    load = LOAD if load is None else load
    flip = "      %t = arith.extui %true : i1 to i32\n" if turn == "%true" else "      %t = arith.constant 0 : i32\n"
    return (ALLOC.replace(T, N) + BAR + f"    %n:2 = scf.while (%i = %c0, %ph = {first}) : (i32, i32) -> (i32, i32) {{\n      {go}\n      scf.condition(%go) %i, %ph : i32, i32\n    }} do {{\n"
            + "    ^bb0(%i: i32, %ph: i32):\n" + load + (f"      ttng.wait_barrier %b, %ph : {B}\n" if wait else "") + READ.replace(T, N) + flip
            + f"      %p2 = arith.xori %ph, %t : i32\n      %j = arith.addi %i, {step} : i32\n      scf.yield %j, %p2 : i32, i32\n    }}\n"
            + LOAD + f"    ttng.wait_barrier %b, {behind} : {B}\n" + READ.replace(T, N).replace("%r", "%r9"))


def ahead(first="%n", next_="%u1, %u", bound="%K", most="%c1", early=False):
    """Two buffers filled by TMA, `most` loads ahead of the reads: how far the loads have come is a counter that stops at its own bound."""
    bars, two, one = "!ttg.memdesc<2x1xi64, #bar, #smem, mutable>", "!ttg.memdesc<2x64x64xf16, #nv, #smem, mutable>", "!ttg.memdesc<64x64xf16, #nv, #smem, mutable, 2x64x64>"

    def at(i, n):
        return (f"      %s{n} = arith.remsi {i}, %c2 : i32\n      %b{n} = ttg.memdesc_index %bars[%s{n}] : {bars} -> {B}\n      %x{n} = ttg.memdesc_index %a[%s{n}] : {two} -> {one}\n")

    def load(n, when):
        return (f"      ttng.barrier_expect %b{n}, 8192, {when} : {B}\n      ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %x{n}, %b{n}, {when} : "
                f"!tt.tensordesc<64x64xf16, #nv>, {B} -> {one}\n")
    wait = f"      ttng.wait_barrier %b1, %h : {B}\n"
    read = f"      %r = ttg.local_load %x1 : {one} -> {TENSOR}\n"
    more = f"      %more = arith.cmpi slt, %u, {bound} : i32\n" + at("%u", 2) + load(2, "%more")
    return (f"    %c2 = arith.constant 2 : i32\n    %K1 = arith.addi %K, %c1 : i32\n    %a = ttg.local_alloc : () -> {two}\n    %bars = ttg.local_alloc : () -> {bars}\n"
            + "".join(f"    %i{i} = ttg.memdesc_index %bars[%c{i}] : {bars} -> {B}\n    ttng.init_barrier %i{i}, 1 : {B}\n" for i in (0, 1))
            + f"    %n = arith.minsi %K, {most} : i32\n    scf.for %k = %c0 to %n step %c1  : i32 {{\n" + at("%k", 0) + load(0, "%true") + "    }\n"
            + f"    %l = scf.for %k = %c0 to %K step %c1 iter_args(%u = {first}) -> (i32)  : i32 {{\n" + at("%k", 1)
            + "      %h2 = arith.divsi %k, %c2 : i32\n      %h = arith.remsi %h2, %c2 : i32\n" + wait + (more + read if early else read + more)
            + f"      %u1 = arith.addi %u, %c1 : i32\n      %q2 = arith.select %more, {next_} : i32\n      scf.yield %q2 : i32\n    }}\n")


def product(position="%tn, %k", times="%t, %n", n="    %n = arith.addi %K, %c0 : i32\n", inside=("", ""), loop="%c0 to %n step %c1", wait=True):
    """Two buffers filled by TMA and read at once, S times n of them: which one, and the phase, is `tile * n + iteration`."""
    bars, two, one = "!ttg.memdesc<2x1xi64, #bar, #smem, mutable>", "!ttg.memdesc<2x64x64xf16, #nv, #smem, mutable>", "!ttg.memdesc<64x64xf16, #nv, #smem, mutable, 2x64x64>"
    return (f"    %c2 = arith.constant 2 : i32\n    %c64 = arith.constant 64 : i32\n    %K1 = arith.addi %K, %c1 : i32\n    %a = ttg.local_alloc : () -> {two}\n"
            + f"    %bars = ttg.local_alloc : () -> {bars}\n" + n
            + "".join(f"    %i{i} = ttg.memdesc_index %bars[%c{i}] : {bars} -> {B}\n    ttng.init_barrier %i{i}, 1 : {B}\n" for i in (0, 1))
            + f"    scf.for %t = %c0 to %S step %c1  : i32 {{\n      %tn = arith.muli {times} : i32\n{inside[0]}      scf.for %k = {loop}  : i32 {{\n"
            + f"      %u = arith.addi {position} : i32\n      %s = arith.remsi %u, %c2 : i32\n      %h2 = arith.divsi %u, %c2 : i32\n      %h = arith.remsi %h2, %c2 : i32\n"
            + f"      %b = ttg.memdesc_index %bars[%s] : {bars} -> {B}\n      %x1 = ttg.memdesc_index %a[%s] : {two} -> {one}\n      ttng.barrier_expect %b, 8192, %true : {B}\n"
            + f"      ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %x1, %b, %true : !tt.tensordesc<64x64xf16, #nv>, {B} -> {one}\n"
            + (f"      ttng.wait_barrier %b, %h : {B}\n" if wait else "") + f"      %r = ttg.local_load %x1 : {one} -> {TENSOR}\n      }}\n{inside[1]}    }}\n")


def asks(before, body):
    """The same with something that the condition does too."""
    return again(body).replace("      %v = tt.load", before + "      %v = tt.load")


CONVERT = "      %y = ttg.convert_layout %x : tensor<64x64xf16, #bl> -> tensor<64x64xf16, #bl>\n"
SHELL = f"    %n = ttg.local_alloc : () -> {N}\n"
FILL = f"    ttg.local_store %x, %n : {TENSOR} -> {N}\n    ttng.fence_async_shared {{bCluster = false}}\n"
SEND = f"    ttng.async_tma_copy_local_to_global %desc[%c0, %c0] %n : !tt.tensordesc<64x64xf16, #nv>, {N}\n"
LOAD = (f"    ttng.barrier_expect %b, 8192, %true : {B}\n"
        f"    ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %a, %b, %true : !tt.tensordesc<64x64xf16, #nv>, {B} -> {N}\n")
R = "!ttg.memdesc<2xi64, #bar, #smem, mutable>"
RESULT = f"    %res = ttg.local_alloc : () -> {R}\n"
ASK = f"    ttng.barrier_expect %b, 16, %true : {B}\n    ttng.clc_try_cancel %res, %b : {R}, {B}\n"


def clc(waits):
    """Cluster launch control, a result for both partitions in each round; the next request waits for the reader's arrival, or does not."""
    taken = f"      %odd = arith.xori %even, %c1 : i32\n      ttng.wait_barrier %d, %odd : {B}\n" if waits else ""
    ask, again = ASK.replace("    ", "      "), "      %even = arith.andi %k, %c1 : i32\n"
    got = f"      ttng.wait_barrier %b, %even : {B}\n      %r = ttng.clc_load_result %res : {R} -> i128\n"
    inner = "\n".join("    " + line for line in (again + got).replace("%b", "%pb").replace("%res", "%pr").replace("%c1", "%one").split("\n") if line)
    return (RESULT + BAR + BAR.replace("%b", "%d")
            + f"    ttg.warp_specialize(%b, %d, %res, %K) attributes {{requestedRegisters = array<i32: 24>}}\n    default {{\n"
            + LOOP + again + taken + ask + got + END + "      ttg.warp_yield\n    }\n"
            + f"    partition0(%pb: {B}, %pd: {B}, %pr: {R}, %pk: i32) num_warps(1) {{\n"
            + "      %zero = arith.constant 0 : i32\n      %one = arith.constant 1 : i32\n      scf.for %k = %zero to %pk step %one  : i32 {\n"
            + inner + f"\n        ttng.fence_async_shared {{bCluster = false}}\n        ttng.arrive_barrier %pd, 1 : {B}\n      }}\n      ttg.warp_return\n    }} : ({B}, {B}, {R}, i32) -> ()\n" + INVAL + INVAL.replace("%b", "%d"))


def leave(condition, block=1):
    """Returns early when K > 0 and the condition is %y, or a given one."""
    compare = "    %y = arith.cmpi sgt, %K, %c0 : i32\n" if condition == "%y" else ""
    return compare + f"    cf.cond_br {condition}, ^bb{block}, ^bb{block + 1}\n  ^bb{block}:\n    tt.return\n  ^bb{block + 1}:\n"


ONCE_MORE = f"    ttng.arrive_barrier %b, 1 : {B}\n    ttng.wait_barrier %b, %c0 : {B}\n    ttng.inval_barrier %b : {B}\n"
PADDED = "#ttg.padded_shared<[32:+8] {order = [1, 0], shape = [64, 64]}>"
FRESH = f"    %n = ttg.local_alloc %x : ({TENSOR}) -> {N}\n"
DRAIN = "    ttng.async_tma_store_wait {pendings = 0 : i32}\n"
DESCRIPTOR = ("    %s = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>\n"
              "    ttng.tensormap_create %s, %p, [%c1, %c1], [%c1, %c1], [], [%c1, %c1] {elem_type = 6 : i32, fill_mode = 0 : i32, "
              "interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<i32>, i32, i32, i32, i32, i32, i32) -> ()\n")
INVAL = f"    ttng.inval_barrier %b : {B}\n"
COPIED = "!tt.tensordesc<64x64xf16, #nv>"


def loaded(body, warps=4):
    """A partition signals %b by a TMA load into %m; what it does before or after it announces the bytes is `body` (of %e, its expectation).
    The default one waits for %b and overwrites %a."""
    expect = f"      ttng.barrier_expect %pb, 8192, %yes : {B}\n"
    return (ALLOC.replace(T, N) + ALLOC.replace(T, N).replace("%a", "%m") + BAR
            + "    ttg.warp_specialize(%a, %m, %b, %desc) attributes {requestedRegisters = array<i32: 24>}\n    default {\n"
            + f"      ttng.wait_barrier %b, %c0 : {B}\n      ttg.local_store %x, %a : {TENSOR} -> {N}\n      ttg.warp_yield\n    }}\n"
            + f"    partition0(%pa: {N}, %pm: {N}, %pb: {B}, %pd: {COPIED}) num_warps({warps}) {{\n"
            + "      %zero = arith.constant 0 : i32\n      %yes = arith.constant true\n" + body.replace("%e", expect)
            + f"      ttng.async_tma_copy_global_to_local %pd[%zero, %zero] %pm, %pb, %yes : {COPIED}, {B} -> {N}\n"
            + f"      ttg.warp_return\n    }} : ({N}, {N}, {B}, {COPIED}) -> ()\n")


USED = f"      %r = ttg.local_load %pa : {N} -> {TENSOR}\n"


def counted(slot, carried=""):
    """A ring of three whose slot comes from a counter of 8 bits, which does not go on with 256 where it has been 255."""
    ring, bars = N.replace("<64", "<3x64"), B.replace("<1", "<3x1")
    at = "".join(f"    %b{i} = ttg.memdesc_index %bs[%i{i}] : {bars} -> {B}\n    ttng.init_barrier %b{i}, 1 : {B}\n" for i in range(3))
    loop = LOOP if not carried else "    %last = scf.for %k = %c0 to %K step %c1 iter_args(%n = %n0) -> (i8)  : i32 {\n"
    return ("".join(f"    %i{i} = arith.constant {i} : i32\n    %n{i} = arith.constant {i} : i8\n" for i in range(4))
            + f"    %as = ttg.local_alloc : () -> {ring}\n    %bs = ttg.local_alloc : () -> {bars}\n" + at + loop + slot
            + "      %s8 = arith.remui %n, %n3 : i8\n      %s = arith.extui %s8 : i8 to i32\n      %d = arith.divsi %k, %i3 : i32\n"
            + f"      %ph = arith.andi %d, %c1 : i32\n      %b = ttg.memdesc_index %bs[%s] : {bars} -> {B}\n      %a = ttg.memdesc_index %as[%s] : {ring} -> {N}\n"
            + LOAD + f"    ttng.wait_barrier %b, %ph : {B}\n" + READ.replace(T, N) + carried + END)


WORDS, WORD = "!ttg.memdesc<64xi32, #bar, #smem, mutable>", "tensor<64xi32, #ttg.slice<{dim = 1, parent = #bl}>>"


def atomics(kind):
    """Both partitions update the same words, and nothing orders them."""
    update = "".join(f"      %w{i}X = arith.constant dense<{i}> : {WORD}\n" for i in range(2))
    update += f"      %oX = ttg.local_atomic_scatter_rmw {kind}, %aX[%w0X], %w1X {{axis = 0 : i32}} : ({WORDS}, {WORD}, {WORD}) -> {WORD}\n"
    return (f"    %a = ttg.local_alloc : () -> {WORDS}\n    ttg.warp_specialize(%a) attributes {{requestedRegisters = array<i32: 24>}}\n    default {{\n"
            + update.replace("X", "") + f"      ttg.warp_yield\n    }}\n    partition0(%ap: {WORDS}) num_warps(4) {{\n" + update.replace("X", "p")
            + f"      ttg.warp_return\n    }} : ({WORDS}) -> ()\n")


BIG = "!ttg.memdesc<128x64xf16, #sw, #smem, mutable>"
PAIR = "!ttg.memdesc<2x64x64xf16, #sw, #smem, mutable>"
TWO = B.replace("<1x", "<2x")
def panels(at, kind="#nv"):
    """A TMA store of half of the rows of a tile in two panels may still read while other data is written at byte `at`: the rows are at bytes 0 to 8191 and
    16384 to 24575."""
    big, rows = f"!ttg.memdesc<128x128xf16, {kind}, #smem, mutable>", f"!ttg.memdesc<64x128xf16, {kind}, #smem, mutable, 128x128>"
    small = "!ttg.memdesc<64x32xf16, #sw, #smem, mutable>"
    return (f"    %z = arith.constant dense<0.0> : tensor<64x32xf16, #bl>\n    %a = ttg.local_alloc {{allocation.offset = 0 : i32}} : () -> {big}\n"
            f"    %r = ttg.memdesc_subslice %a[0, 0] : {big} -> {rows}\n"
            f"    ttng.async_tma_copy_local_to_global %desc[%c0, %c0] %r : !tt.tensordesc<64x64xf16, #nv>, {rows}\n"
            f"    %b = ttg.local_alloc {{allocation.offset = {at} : i32}} : () -> {small}\n    ttg.local_store %z, %b : tensor<64x32xf16, #bl> -> {small}\n"
            "    ttng.async_tma_store_wait {pendings = 0 : i32}\n")


TURNED = "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>"


TEXTS = {
    # name: (body, number of CTAs)
    "reinterpreted_parts": parts("%c0", "%c1"),
    "reinterpreted_whole": ALLOC + f"    %w = ttg.memdesc_reinterpret %a : {T} -> !ttg.memdesc<32x128xf16, #sw, #smem, mutable>\n" + COPY
                           + "    %r = ttg.local_load %w : !ttg.memdesc<32x128xf16, #sw, #smem, mutable> -> tensor<32x128xf16, #bl>\n"
                           + "    %v = ttg.async_wait {num = 0 : i32}\n",
    "unknown_op": ALLOC + f"    ttng.frobnicate %a : {T}\n",
    "unknown_dialect": ALLOC + "    nvvm.barrier0\n",
    "generic_form": ALLOC + BAR + f'    "ttng.wait_barrier"(%b, %c0) : ({B}, i32) -> ()\n',
    "while_wait": BAR + "    %n = scf.while (%i = %c0) : (i32) -> i32 {\n      %go = arith.cmpi slt, %i, %K : i32\n"
                        "      scf.condition(%go) %i : i32\n    } do {\n    ^bb0(%i: i32):\n"
                        f"      ttng.wait_barrier %b, %c1 : {B}\n      %j = arith.addi %i, %c1 : i32\n      scf.yield %j : i32\n    }}\n",
    # a condition that never changes: a run of it ends at a limit, and there are not many such runs; what is loaded in one may be another value each time
    "while_forever": ALLOC + "    %n = scf.while (%i = %c0) : (i32) -> i32 {\n      %go = arith.cmpi sgt, %K, %c0 : i32\n      scf.condition(%go) %i : i32\n    } do {\n    ^bb0(%i: i32):\n"
                     "      %j = arith.addi %i, %c1 : i32\n      scf.yield %j : i32\n    }\n" + COPY + "    %w = ttg.async_wait {num = 0 : i32}\n" + READ,
    "while_asks": ALLOC + "    %n = scf.while (%i = %c0) : (i32) -> i32 {\n      %v = tt.load %p : !tt.ptr<i32>\n      %go = arith.cmpi ne, %v, %c0 : i32\n      scf.condition(%go) %i : i32\n"
                  "    } do {\n    ^bb0(%i: i32):\n" + COPY + "      %w = ttg.async_wait {num = 0 : i32}\n" + READ + "      %j = arith.addi %i, %c1 : i32\n      scf.yield %j : i32\n    }\n",
    "by_data_other": by_data("%e"),
    "by_data_same": by_data("%d"),
    "by_data_all": by_data("%a"),
    # counts that no hardware has
    "negative_copies": ALLOC + COPY + "    %w = ttg.async_wait {num = -1 : i32}\n" + READ,
    "negative_stores": SHELL + FILL + SEND + DRAIN.replace("pendings = 0", "pendings = -9"),
    # loops of unknown length: every iteration cleans up behind itself, or does not
    "while_copy": ALLOC + again(COPY + "      %w = ttg.async_wait {num = 0 : i32}\n" + READ),
    "while_copy_late": ALLOC + again(COPY + "      %w = ttg.async_wait {num = 1 : i32}\n" + READ),
    "while_store": SHELL + again(FILL + SEND + DRAIN),
    "while_store_later": SHELL + again(DRAIN + FILL + SEND) + DRAIN,
    "while_store_reused": SHELL + again(FILL + SEND) + DRAIN,
    "while_store_kept": SHELL + FILL + again(SEND) + DRAIN,
    # scratch memory of a condition, and of a loop that is not followed, may be the storage of what ended before it
    "while_condition": asks(CONVERT, DRAIN + FRESH + SEND) + DRAIN,
    "while_condition_last": asks(CONVERT, FRESH + SEND + DRAIN) + DRAIN,
    "while_condition_kept": SHELL + asks(CONVERT, DRAIN + FILL + SEND) + DRAIN + FILL,
    "loop_scratch": FRESH + SEND + again(CONVERT) + DRAIN,
    "loop_scratch_behind": FRESH + SEND + DRAIN + again(CONVERT),
    "while_barrier": ALLOC.replace(T, N) + again(BAR + LOAD + f"      ttng.wait_barrier %b, %c0 : {B}\n" + INVAL),
    "while_barrier_kept": ALLOC.replace(T, N) + BAR + again(LOAD + f"      ttng.wait_barrier %b, %c0 : {B}\n"),
    "while_barrier_again": ALLOC.replace(T, N) + again(BAR + LOAD + f"      ttng.wait_barrier %b, %c0 : {B}\n"),
    "while_barrier_early": ALLOC.replace(T, N) + again(BAR + LOAD + INVAL),
    # what data decides, iteration by iteration
    "sometimes_load": ALLOC.replace(T, N) + sometimes(BAR + LOAD + f"      ttng.wait_barrier %b, %c0 : {B}\n" + INVAL + READ.replace(T, N)),
    "sometimes_load_behind": ALLOC.replace(T, N) + sometimes(BAR + LOAD + f"      ttng.wait_barrier %b, %c0 : {B}\n" + INVAL, READ.replace(T, N)),
    "sometimes_unwaited": ALLOC.replace(T, N) + sometimes(BAR + LOAD + INVAL, READ.replace(T, N)),
    "sometimes_phase": ALLOC.replace(T, N) + sometimes(BAR + LOAD + f"      ttng.wait_barrier %b, %c1 : {B}\n" + INVAL, READ.replace(T, N)),
    "sometimes_bytes": ALLOC.replace(T, N) + sometimes((BAR + LOAD).replace("8192", "4096") + f"      ttng.wait_barrier %b, %c0 : {B}\n" + INVAL, READ.replace(T, N)),
    "sometimes_kept": ALLOC.replace(T, N) + BAR + sometimes(LOAD + f"      ttng.wait_barrier %b, %c0 : {B}\n", READ.replace(T, N)),
    "sometimes_wait": ALLOC.replace(T, N) + LOOP + BAR + LOAD + sometimes(f"      ttng.wait_barrier %b, %c0 : {B}\n", INVAL + READ.replace(T, N)).split(LOOP, 1)[1],
    "sometimes_send": SHELL + sometimes(DRAIN + FILL + SEND) + DRAIN,
    "sometimes_send_late": SHELL + sometimes(FILL + SEND + DRAIN.replace("pendings = 0", "pendings = 1")) + DRAIN,
    "sometimes_drain": SHELL + sometimes(DRAIN, FILL + SEND) + DRAIN,
    "sometimes_drain_behind": SHELL + sometimes(FILL + SEND, DRAIN),
    "sometimes_fence": SHELL + sometimes(DRAIN + FILL.split("    ttng.fence", 1)[0] + SEND) + DRAIN,
    # a flag that the loop turns: every second iteration waits
    "in_turns": SHELL + LOOP.replace("to %K step %c1  :", "to %K step %c1 iter_args(%f = %c) -> (i1) :").replace("scf.for", "%l = scf.for") + "      scf.if %f {\n" + DRAIN + "      }\n"
                + FILL + SEND + "      %g = arith.xori %f, %true : i1\n      scf.yield %g : i1\n    }\n" + DRAIN,
    # a slot that changes where a tile ends
    "turns": tiles(),
    "turns_never": tiles(turn="%s, %s"),
    "turns_else": tiles(turn="%s2, %s"),
    "turns_always": tiles(turn="%s2, %s2"),
    "turns_read_always": tiles(guard="%true"),
    "turns_read_next": tiles(slot="%t"),
    "turns_read_other": tiles(slot="%s2"),
    "turns_deeper": tiles(most=3),
    "turns_wait": tiles(wait=1),
    "turns_behind": tiles(behind=""),
    # the condition is about a square, and holds where the slot is 1
    "turns_square": tiles().replace("iter_args(%s = %c0", "iter_args(%s = %c1").replace("%s1 = arith.addi %s, %c1", "%s1 = arith.muli %s, %s").replace("select %wrap, %c0, %s1", "select %wrap, %c0, %s")
                    .replace("constant 2 : i32", "constant 1 : i32\n    %far = arith.constant 100000 : i32", 1).replace("%n, %S", "%n, %far").replace("%d = ttg.memdesc_index %a[%t]", "%d = ttg.memdesc_index %a[%c0]"),
    # a condition that counts
    "counted": while_ring(),
    "counted_down": while_ring(go="%d = arith.subi %K, %i : i32\n      %go = arith.cmpi sgt, %d, %c0 : i32"),
    "counted_both": while_ring(go="%g1 = arith.cmpi slt, %i, %K : i32\n      %lim = arith.constant 9 : i32\n      %g2 = arith.cmpi slt, %i, %lim : i32\n      %go = arith.andi %g1, %g2 : i1"),
    "counted_twos": while_ring(step="%two").replace("    %n:2", "    %two = arith.constant 2 : i32\n    %n:2"),
    "counted_not_equal": while_ring(go="%go = arith.cmpi ne, %i, %K : i32"),
    "counted_loaded": while_ring(go="%v = tt.load %p : !tt.ptr<i32>\n      %go = arith.cmpi slt, %i, %v : i32"),
    "counted_same_phase": while_ring(turn="none"),
    "counted_first_phase": while_ring(first="%c1"),
    "counted_unwaited": while_ring(wait=False),
    "counted_bytes": while_ring(load=LOAD.replace("8192", "4096")),
    "counted_behind": while_ring(behind="%c0"),
    # a counter that stops at its own bound
    "ahead": ahead(),
    "ahead_early": ahead(early=True),
    "ahead_two": ahead(most="%c2"),
    "ahead_two_early": ahead(most="%c2", early=True),
    "ahead_stuck": ahead(next_="%u, %u"),
    "ahead_turned": ahead(next_="%u, %u1"),
    "ahead_again": ahead(first="%c0"),
    "ahead_beyond": ahead(bound="%K1"),
    # tile times iterations plus iteration
    "product_position": product(),
    "product_position_tiles": product(n="    %k63 = arith.addi %K, %c63 : i32\n    %n = arith.divsi %k63, %c64 : i32\n").replace("    %c64 =", "    %c63 = arith.constant 63 : i32\n    %c64 ="),
    "product_position_more": product(times="%t, %K1"),
    "product_position_restart": product(position="%k, %c0"),
    "product_position_other": product(times="%t, %S"),
    "product_position_twice": product(position="%tn, %tn"),
    "product_position_unwaited": product(wait=False),
    "product_position_sometimes": product(inside=("      %y = arith.remsi %t, %c2 : i32\n      %y1 = arith.cmpi eq, %y, %c0 : i32\n      scf.if %y1 {\n", "      }\n")),
    "product_position_floor": product(n="    %n = arith.divsi %K, %c64 : i32\n", loop="%c0 to %K step %c64"),
    "clc_read": clc(True),
    "clc_unread": clc(False),
    "clc_early": RESULT + BAR + ASK + "    %r = ttng.clc_load_result %res : " + R + " -> i128\n"
                 + f"    ttng.wait_barrier %b, %c0 : {B}\n" + INVAL,
    # early returns
    "returns_early": leave("%y") + ALLOC + COPY + "    %w = ttg.async_wait {num = 0 : i32}\n" + READ,
    "returns_early_race": leave("%y") + ALLOC + COPY + READ,
    "returns_early_open": DATA + leave("%d") + ALLOC + COPY + READ,
    "returns_early_twice": leave("%y") + leave("%c", 4) + BAR + ONCE_MORE,
    "returns_late_open": DATA + ALLOC + COPY + leave("%d") + "    %w = ttg.async_wait {num = 0 : i32}\n" + READ,
    "returns_late_race": ALLOC + COPY + leave("%y") + READ,
    "returns_late": ALLOC + COPY + leave("%y") + "    %w = ttg.async_wait {num = 0 : i32}\n" + READ,
    "branches_back": "    cf.br ^bb1\n  ^bb1:\n    cf.cond_br %c, ^bb1, ^bb2\n  ^bb2:\n" + ALLOC,
    "pure_count": '    %v = tt.load %p : !tt.ptr<i32>\n    %u = tt.extern_elementwise %v {libname = "", libpath = "", pure = true, symbol = "__nv_popc"} : (i32) -> i32\n'
                  + ALLOC + LOOP.replace("%K", "%u") + COPY + "    %w = ttg.async_wait {num = 0 : i32}\n" + READ + END,
    "loaded_phase": BAR + LOOP + f"      %v = tt.load %p : !tt.ptr<i32>\n      ttng.wait_barrier %b, %v : {B}\n" + END,
    "loaded_branch": BAR + LOOP + "      %v = tt.load %p : !tt.ptr<i32>\n      %y = arith.cmpi sgt, %v, %c0 : i32\n      scf.if %y {\n"
                     f"        ttng.arrive_barrier %b, 1 : {B}\n      }}\n" + END,
    "inline_asm": ALLOC + '    %v = tt.elementwise_inline_asm "bar.sync 0;" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %c1 : i32 -> i32\n',
    "reinit_in_loop": LOOP + BAR.replace("    ", "      ") + END,
    "init_inval_in_loop": LOOP + BAR.replace("    ", "      ") + f"      ttng.wait_barrier %b, %c1 : {B}\n      ttng.inval_barrier %b : {B}\n" + END,
    "no_init": f"    %b = ttg.local_alloc : () -> {B}\n    ttng.wait_barrier %b, %c1 : {B}\n",
    "after_inval": BAR + f"    ttng.inval_barrier %b : {B}\n    ttng.arrive_barrier %b, 1 : {B}\n",
    "inval_waiter": BAR + waited_elsewhere("  " + INVAL, ""),
    "inval_after_join": BAR + waited_elsewhere("", INVAL),
    "never_arrives": BAR + f"    ttng.wait_barrier %b, %c0 : {B}\n",
    "underflow": BAR + f"    ttng.arrive_barrier %b, 2 : {B}\n",
    "overarrival": BAR + f"    ttng.arrive_barrier %b, 1 : {B}\n    ttng.arrive_barrier %b, 1 : {B}\n    ttng.wait_barrier %b, %c0 : {B}\n",
    "reuse_pending": ALLOC + COPY + f"    %d = ttg.local_alloc %x : ({TENSOR}) -> {T}\n    %w = ttg.async_wait {{num = 0 : i32}}\n",
    "reuse_waited": ALLOC + COPY + f"    %w = ttg.async_wait {{num = 0 : i32}}\n    %d = ttg.local_alloc %x : ({TENSOR}) -> {T}\n",
    "scratch_pending": ALLOC + COPY + "    %y = ttg.convert_layout %x : tensor<64x64xf16, #bl> -> tensor<64x64xf16, #bl>\n    %w = ttg.async_wait {num = 0 : i32}\n",
    "offsets_overlap": ALLOC.replace("local_alloc :", "local_alloc {allocation.offset = 0 : i32} :") + COPY
                       + f"    %d = ttg.local_alloc %x {{allocation.offset = 4096 : i32}} : ({TENSOR}) -> {T}\n    %w = ttg.async_wait {{num = 0 : i32}}\n",
    "offsets_apart": ALLOC.replace("local_alloc :", "local_alloc {allocation.offset = 0 : i32} :") + COPY
                     + f"    %d = ttg.local_alloc %x {{allocation.offset = 8192 : i32}} : ({TENSOR}) -> {T}\n    %w = ttg.async_wait {{num = 0 : i32}}\n",
    # 10240 bytes: 8 elements of padding behind each 32
    "padded_overlap": (ALLOC.replace("local_alloc :", "local_alloc {allocation.offset = 0 : i32} :") + COPY).replace("#sw", PADDED)
                      + f"    %d = ttg.local_alloc %x {{allocation.offset = 8192 : i32}} : ({TENSOR}) -> {T}\n    %w = ttg.async_wait {{num = 0 : i32}}\n",
    "descriptor_pending": f"    %n = ttg.local_alloc %x : ({TENSOR}) -> {N}\n    ttng.async_tma_copy_local_to_global %desc[%c0, %c0] %n : !tt.tensordesc<64x64xf16, #nv>, {N}\n"
                          + DESCRIPTOR + DRAIN,
    "descriptor_waited": f"    %n = ttg.local_alloc %x : ({TENSOR}) -> {N}\n    ttng.async_tma_copy_local_to_global %desc[%c0, %c0] %n : !tt.tensordesc<64x64xf16, #nv>, {N}\n"
                         + DRAIN + DESCRIPTOR,
    # a note: the kernel may end while its store still reads
    "store_at_end": SHELL + FILL + SEND,
    "captures_pending": BAR + ALLOC + COPY + waited_elsewhere("", INVAL) + "    %w = ttg.async_wait {num = 0 : i32}\n",
    "captures_waited": BAR + ALLOC + COPY + "    %w = ttg.async_wait {num = 0 : i32}\n" + waited_elsewhere("", INVAL),
    "one_warp": BAR + "    %v = ttg.warp_id\n    %y = arith.cmpi eq, %v, %c0 : i32\n    scf.if %y {\n"
                f"      ttng.arrive_barrier %b, 1 : {B}\n    }}\n    ttng.wait_barrier %b, %c0 : {B}\n",
    "halves_apart": half(0, 32),
    "halves_overlap": half(0, 16),
    "transposed": ALLOC + COPY + f"    %s = ttg.memdesc_trans %a {{order = array<i32: 1, 0>}} : {T} -> {T}\n"
                  + READ.replace("%a", "%s") + "    %w = ttg.async_wait {num = 0 : i32}\n",
    # one of two buffers: by an argument, by data; written and awaited, read beside a copy into one of them; handed around by a loop
    "two_origins_data": DATA + ALLOC + ALLOC.replace("%a", "%e") + f"    %s = arith.select %d, %a, %e : {T}\n" + READ.replace("%a", "%s"),
    "two_origins_copy": chosen("%c", "%a", True), "two_origins_copy_early": chosen("%c", "%a", False), "two_origins_other": chosen("%c", "%o", False),
    "two_origins_copy_data": chosen("%d", "%a", False), "two_origins_data_waited": chosen("%d", "%a", True),
    "two_origins_apart": chosen("%c", "%u", False),
    # columns of tensor memory: a place that is still in use by way of a choice (written in between or not), or that is not
    "columns_in_use": in_use(0, "%e"), "columns_in_use_other": in_use(64, "%e"), "columns_beside": in_use(128, "%e"), "columns_any": in_use(64, "%s"),
    "rows_between": in_use(0, "%e", 64, 16), "rows_common": in_use(0, "%e", 64, 0),
    "columns_pending": pending_columns(64), "columns_pending_same": pending_columns(0),
    # a tile of 64 rows leaves room for another one, two tiles of 64 rows do not
    "rows_of_one": beside(64), "rows_of_two": beside(128),
    "columns_unplaced": re.sub(r"\{tensor_memory[^}]*\} ", "", in_use(64, "%s")),
    "bytes_in_use": bytes_in_use(4096), "bytes_beside": bytes_in_use(16384),
    # products and bits of launch values, which only Z3 knows
    "square": guarded(SQUARE, NOT_ZERO), "square_always": guarded(SQUARE, "    %g = arith.cmpi sge, %K, %c0 : i32\n"),
    "square_positive": guarded(SQUARE, "    %g = arith.cmpi sgt, %K, %c0 : i32\n"),
    "product": guarded(PRODUCT, BOTH.format("sgt", "sgt")), "product_zero": guarded(PRODUCT, BOTH.format("sge", "sgt")),
    "product_one": guarded(PRODUCT, "    %g = arith.cmpi sgt, %K, %c0 : i32\n"), "product_inside": guarded(PRODUCT, BOTH.format("sgt", "sgt"), inside=True),
    "mask": guarded(MASKED.format(12), BIT, "%g"), "mask_other": guarded(MASKED.format(8), BIT, "%g"),
    "stepped": stepped(1), "stepped_late": stepped(2),
    # a shift by more than the width of the number gives 0: no number shifted by so much is
    "shifted_out": "    %l1 = arith.constant 40 : i32\n    %far = arith.cmpi eq, %S, %l1 : i32\n    %h = arith.shli %c1, %S : i32\n    %y = arith.cmpi eq, %h, %c0 : i32\n    %both = arith.andi %far, %y : i1\n"
                   + ALLOC + "    scf.if %both {\n" + COPY + READ + "      %w = ttg.async_wait {num = 0 : i32}\n    }\n",
    "shifted_round": ALLOC + "    %l1 = arith.constant 41 : i32\n    %l2 = arith.constant 40 : i32\n    %z:2 = scf.for %k = %c0 to %K step %c1 iter_args(%i = %c0, %m = %c1) -> (i32, i32)  : i32 {\n"
                     "      %far = arith.cmpi eq, %i, %l2 : i32\n      %y = arith.cmpi eq, %m, %c0 : i32\n      %both = arith.andi %far, %y : i1\n      scf.if %both {\n" + COPY + READ
                     + "        %w = ttg.async_wait {num = 0 : i32}\n      }\n      %h = arith.shli %c1, %i : i32\n      %i1 = arith.addi %i, %c1 : i32\n      %i2 = arith.remsi %i1, %l1 : i32\n      scf.yield %i2, %h : i32, i32\n" + END,
    # a step that is not positive where the loop is not reached: nothing says that there is no such launch
    "stepped_not_reached": FAR + ALLOC + "    scf.if %far {\n" + COPY + READ + "      %w = ttg.async_wait {num = 0 : i32}\n    }\n    %pos = arith.cmpi sgt, %back, %c0 : i32\n    scf.if %pos {\n"
                           + LOOP.replace("step %c1", "step %back") + READ.replace("%r", "%r2") + END + "    }\n",
    # a quotient where the divisor may be 0: no iteration says what it is there
    "quotient": guarded("    %n = arith.divsi %K, %S : i32\n", "    %g1 = arith.cmpi sgt, %S, %c0 : i32\n    %g2 = arith.cmpi sge, %K, %S : i32\n    %g = arith.andi %g1, %g2 : i1\n"),
    # what one buffer becomes, another one is next
    "handed_on": handed("%b"), "handed_on_other": handed("%u"),
    "square_never": never(2), "square_late": never(4),
    "rotated": rotated(1), "rotated_weak": rotated(2), "rotated_same": rotated(1, "%a, %e"), "rotated_three": rotated(2, three=True), "rotated_three_weak": rotated(3, three=True),
    "two_origins": ALLOC + ALLOC.replace("%a", "%d") + f"    %s = arith.select %c, %a, %d : {T}\n" + READ.replace("%a", "%s"),
    "empty_loop": BAR + ONCE,
    "empty_loop_excluded": BAR + "    %y = arith.cmpi sgt, %K, %c0 : i32\n    llvm.intr.assume %y : i1\n" + ONCE,
    "assembly_trips": BAR + '    %v = tt.elementwise_inline_asm "mov.u32 $0, %tid.x;" {constraints = "=r", packed_element = 1 : i32, pure = true} -> i32\n'
                      + "    %y = arith.cmpi sgt, %v, %c0 : i32\n    llvm.intr.assume %y : i1\n" + ONCE.replace("%K", "%v"),
    "multi_cta": (ALLOC + READ, 2),
    "cluster": "    ttng.cluster_barrier {relaxed = false}\n",
    "call": "    tt.call @other() : () -> ()\n",
    # functions with a body that is not in line: scratch memory only; a buffer; assembly; itself
    "call_converts": ALLOC + COPY + "    %w = ttg.async_wait {num = 0 : i32}\n    tt.call @other() : () -> ()\n" + READ,
    "call_converts_pending": ALLOC + COPY + "    tt.call @other() : () -> ()\n    %w = ttg.async_wait {num = 0 : i32}\n",
    "call_stores": "    tt.call @other() : () -> ()\n",
    "call_assembly": "    tt.call @other() : () -> ()\n",
    "call_itself": "    tt.call @other() : () -> ()\n",
    "one_cta_mask": BAR + f"    ttng.arrive_barrier %b, 1 {{fromCTA = 0 : i32}} : {B}\n    ttng.wait_barrier %b, %c0 : {B}\n",
    "several_multicast": (BAR + ALLOC.replace(T, N) + f"    ttng.barrier_expect %b, 8192, %true : {B}\n"
                          f"    ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %a, %b, %true {{multicast}} : !tt.tensordesc<64x64xf16, #nv>, {B} -> {N}\n"
                          f"    ttng.wait_barrier %b, %c0 : {B}\n" + READ.replace(T, N), 4),
    "several_pair": (BAR + f"    %d = ttng.tmem_alloc : () -> {TMEM}\n    %a = ttg.local_alloc : () -> {PANEL}\n"
                     f"    ttng.tmem_copy %a, %d : {PANEL}, {TMEM}\n    ttng.tc_gen5_commit %b {{two_ctas}} : {B}\n    ttng.wait_barrier %b, %c0 : {B}\n", 2),
    "several_barrier": (ALLOC + "    ttng.cluster_barrier {relaxed = false}\n" + READ, 2),
    "other_vendor": ALLOC + f"    %t = amdg.async_copy_local_to_global %a, %q : {T}, tensor<64x64x!tt.ptr<f16>, #bl>\n",
    "reduced_converted": f"    %s = \"tt.reduce\"(%x) <{{axis = 0 : i32}}> ({{\n    ^bb0(%i: f16, %j: f16):\n      %m = arith.addf %i, %j : f16\n"
                         f"      tt.reduce.return %m : f16\n    }}) : ({TENSOR}) -> tensor<64xf16, #ttg.slice<{{dim = 0, parent = #bl}}>>\n"
                         "    %y = ttg.convert_layout %s : tensor<64xf16, #ttg.slice<{dim = 0, parent = #bl}>> -> tensor<64xf16, #ttg.slice<{dim = 1, parent = #bl}>>\n",
    "instrumented": "    %z = tti.experimental_lock_acquire %p : !tt.ptr<i32>\n",
    "partitions_not_formed": ALLOC + f"    %r = ttg.local_load %a {{ttg.partition = array<i32: 0>}} : {T} -> {TENSOR}\n",
    "expect_alone": BAR + f"    ttng.barrier_expect %b, 8192, %true : {B}\n    ttng.wait_barrier %b, %c0 : {B}\n",
    "load_not_waited": BAR + ALLOC.replace(T, N) + f"    ttng.barrier_expect %b, 8192, %true : {B}\n"
                       f"    ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %a, %b, %true : !tt.tensordesc<64x64xf16, #nv>, {B} -> {N}\n"
                       + READ.replace(T, N) + f"    ttng.wait_barrier %b, %c0 : {B}\n    ttng.inval_barrier %b : {B}\n",
    "load_waited": BAR + ALLOC.replace(T, N) + f"    ttng.barrier_expect %b, 8192, %true : {B}\n"
                   f"    ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %a, %b, %true : !tt.tensordesc<64x64xf16, #nv>, {B} -> {N}\n"
                   f"    ttng.wait_barrier %b, %c0 : {B}\n" + READ.replace(T, N) + f"    ttng.inval_barrier %b : {B}\n",
    # As Triton prints them when operations carry a task: between the operands, and before the types.
    "attributes_between": BAR + ALLOC.replace(T, N)
                          + f"    ttng.barrier_expect %b, 8192 {{async_task_id = array<i32: 0>}}, %true : {B}\n"
                          f"    ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %a, %b, %true {{async_task_id = array<i32: 0>}} : "
                          f"!tt.tensordesc<64x64xf16, #nv>, {B} -> {N}\n"
                          f"    ttng.wait_barrier %b, %c0 {{async_task_id = array<i32: 0>}} : {B}\n" + READ.replace(T, N)
                          + f"    %s = \"tt.reduce\"(%r) <{{axis = 0 : i32}}> ({{\n    ^bb0(%i: f16, %j: f16):\n"
                          f"      %m = arith.addf %i, %j {{async_task_id = array<i32: 0>}} : f16\n"
                          f"      tt.reduce.return %m {{async_task_id = array<i32: 0>}} : f16\n    }}) : ({TENSOR}) -> tensor<64xf16, #ttg.slice<{{dim = 0, parent = #bl}}>>\n"
                          f"    ttng.inval_barrier %b : {B}\n",
    # bytes of a TMA load speak for the thread that asked for them
    "tma_says_read": loaded("%e" + USED),
    "tma_says_read_expected": loaded(USED + "%e"),
    "tma_says_read_one_warp": loaded("%e" + USED, 1),
    "tma_says_read_met": loaded("%e" + USED + "      ttg.barrier local\n"),
    # values of 8 bits wrap within a loop
    "narrow_carried": counted("", "      %nn = arith.addi %n, %n1 : i8\n      scf.yield %nn : i8\n"),
    "narrow_truncated": counted("      %n = arith.trunci %k : i32 to i8\n"),
    "unsigned_loop": BAR + "    %l = arith.constant -5 : i32\n" + LOOP.replace("scf.for", "scf.for unsigned").replace("%c0 to %K", "%l to %c1")
                     + f"      %z = arith.cmpi eq, %k, %c0 : i32\n      scf.if %z {{\n        ttng.arrive_barrier %b, 1 : {B}\n      }}\n" + END
                     + f"    ttng.wait_barrier %b, %c0 : {B}\n",
    "reinterpreted_beyond": f"    %s = ttg.local_alloc : () -> {PAIR}\n    %v = ttg.memdesc_index %s[%c0] : {PAIR} -> {T}\n"
                            f"    %a = ttg.memdesc_index %s[%c1] : {PAIR} -> {T}\n    %w = ttg.memdesc_reinterpret %v : {T} -> {BIG}\n" + COPY
                            + f"    %r = ttg.local_load %w : {BIG} -> tensor<128x64xf16, #bl>\n    %o = ttg.async_wait {{num = 0 : i32}}\n",
    "reinterpreted_part_beyond": parts("%c0", "%K"),
    "subslice_beyond": half(0, 48),
    "pointer_elements": ALLOC.replace("xf16", "x!tt.ptr<f16>"),
    "atomic_sums": atomics("add"),
    "atomic_exchanges": atomics("exch"),
    "barriers_at_once": (BAR + f"    ttng.arrive_barrier %b, 1 : {B}\n    ttng.wait_barrier %b, %c0 : {B}\n").replace(B, TWO),
    "panel_rows_between": panels(8192),
    "panel_rows_of_second": panels(16384 + 4096),
    "panel_rows_turned": panels(8192, TURNED),
    "panel_rows_turned_beside": panels(16384, TURNED),
    "inval_in_flight": BAR + ALLOC.replace(T, N) + f"    ttng.barrier_expect %b, 8192, %true : {B}\n"
                       f"    ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %a, %b, %true : !tt.tensordesc<64x64xf16, #nv>, {B} -> {N}\n"
                       f"    ttng.inval_barrier %b : {B}\n",
}

# Two CTAs, each with half of the columns of every tile and barriers of its own.
PAIR_HEAD = (("order = [1, 0]}>", "order = [1, 0], CGALayout = [[0, 1]]}>"), ("elementBitWidth = 16}>", "elementBitWidth = 16, CGALayout = [[0, 1]]}>"),
             ("order = [0]}>", "order = [0], CGALayout = [[1]]}>"))
RINGS, SLOTS, TWICE = "!ttg.memdesc<3x64x64xf16, #nv, #smem, mutable>", "!ttg.memdesc<3x2xi64, #bar, #smem, mutable>", "!ttg.memdesc<2xi64, #bar, #smem, mutable>"


def divided(body, *changes):
    """A text of two CTAs; changes: in the whole text."""
    return body, 2, (*PAIR_HEAD, *changes)


def divided_ring(expected=4096, wait=True, loaded="%s"):
    """A ring of three slots, one load at a time."""
    init = "".join(f"    %c{i}x = arith.constant {i} : i32\n    %i{i} = ttg.memdesc_index %m[%c{i}x] : {SLOTS} -> {TWICE}\n"
                   f"    ttng.init_barrier %i{i}, 1 : {TWICE}\n" for i in range(3))
    return (f"    %a = ttg.local_alloc : () -> {RINGS}\n    %m = ttg.local_alloc : () -> {SLOTS}\n    %c3 = arith.constant 3 : i32\n" + init + LOOP
            + "      %s = arith.remui %k, %c3 : i32\n      %n = arith.divui %k, %c3 : i32\n"
            f"      %v = ttg.memdesc_index %a[%s] : {RINGS} -> {N}\n      %b = ttg.memdesc_index %m[{loaded}] : {SLOTS} -> {TWICE}\n"
            f"      ttng.barrier_expect %b, {expected}, %true : {TWICE}\n"
            f"      ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %v, %b, %true : !tt.tensordesc<64x64xf16, #nv>, {TWICE} -> {N}\n"
            + (f"      ttng.wait_barrier %b, %n : {TWICE}\n" if wait else "") + f"      %r = ttg.local_load %v : {N} -> {TENSOR}\n" + END)


def two_words(layout):
    return f"    %y = ttg.convert_layout %x : {TENSOR} -> tensor<64x64xf16, {layout}>\n"


OTHERS = "#bl2 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[%s]]}>\n#smem"
SIZED = {                        # sizes that no target has: the rest of the text is right
    f"sized_{name}": (ALLOC + COPY + "    %w = ttg.async_wait {num = 0 : i32}\n" + READ, 1, [(old, new)]) for name, old, new in (
        ("warps", '"ttg.num-warps" = 4 ', '"ttg.num-warps" = 4294967300 '), ("threads", '"ttg.threads-per-warp" = 32 ', '"ttg.threads-per-warp" = -32 '),
        ("ctas", '"ttg.num-ctas" = 1 ', '"ttg.num-ctas" = 4294967297 '))}
SIZED["sized_partition"] = (loaded("%e" + USED, 128), 1, [])
DIVIDED = {
    "divided_ring": divided(divided_ring()),
    "divided_no_wait": divided(divided_ring(wait=False)),
    "divided_whole_bytes": divided(divided_ring(8192)),
    "divided_undivided": divided(divided_ring(8192), ("elementBitWidth = 16, CGALayout = [[0, 1]]", "elementBitWidth = 16, CGALayout = [[0, 0]]")),
    "divided_common_barrier": divided((BAR + f"    ttng.arrive_barrier %b, 1 : {B}\n"), ("CGALayout = [[1]]", "CGALayout = [[0]]")),
    "divided_barrier_of_one": divided(BAR.replace("1xi64", "2xi64"), ("CGALayout = [[1]]", "CGALayout = [[0]]")),
    "divided_copies": divided(ALLOC + COPY + "    %w = ttg.async_wait {num = 0 : i32}\n" + READ),
    "divided_copies_pending": divided(ALLOC + COPY + READ),
    "divided_other_part": divided(ALLOC + f"    %r = ttg.local_load %a : {T} -> tensor<64x64xf16, #bl2>\n", ("#smem = ", OTHERS % "1, 0" + " = ")),
    "divided_replicated": divided(ALLOC + f"    %r = ttg.local_load %a : {T} -> tensor<64x64xf16, #bl2>\n", ("#smem = ", OTHERS % "0, 0" + " = ")),
    "divided_conversion": divided(two_words("#bl2"), ("#smem = ", OTHERS % "1, 0" + " = ")),
    "divided_conversion_within": divided(two_words("#bl2"), ("#smem = ", OTHERS.replace("[4, 8]", "[8, 4]") % "0, 1" + " = ")),
    "divided_sum_within": divided(REDUCED.replace("%d", "0")),
    "divided_sum_across": divided(REDUCED.replace("%d", "1").replace("dim = 0", "dim = 1")),
    "divided_subslice": divided(half(0, 32)),
    "divided_unread": divided(READ.join((ALLOC, "")), ("order = [1, 0], CGALayout = [[0, 1]]", "order = [1, 0], CTAsPerCGA = [1, 2], CTASplitNum = [1, 2], CTAOrder = [1, 0]")),
    "divided_request": divided(ALLOC + READ + f"    %z = ttg.local_alloc : () -> {TWICE}\n    ttng.init_barrier %z, 1 : {TWICE}\n    ttng.clc_try_cancel %z, %z : {TWICE}, {TWICE}\n"),
}


def main():
    for name, body in {**TEXTS, **DIVIDED, **SIZED}.items():
        body, ctas, *changes = body if isinstance(body, tuple) else (body, 1)
        tail = TAIL
        if name == "call":
            tail = TAIL[:-2] + "  tt.func private @other()\n}\n"
        if name in CALLEES:
            tail = TAIL[:-2] + "  tt.func private @other() attributes {noinline = true} {\n" + CALLEES[name] + TAIL
        with open(os.path.join(HERE, "ttgir", f"hand.{name}.ttgir"), "w", encoding="utf-8") as f:
            text = (HEAD % ctas).replace("%K: i32", "%K: i32, %S: i32" if "%S" in body else "%K: i32") + body + tail
            for old, new in changes[0] if changes else ():
                text = text.replace(old, new)
            f.write(text)


if __name__ == "__main__":
    main()
