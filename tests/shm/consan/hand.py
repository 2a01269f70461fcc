#!/usr/bin/env python3
"""Tests of ConSan that need places in shared memory, as texts from after allocation: python hand.py writes them."""
import importlib.util
import os

HERE = os.path.dirname(os.path.abspath(__file__))
T = "!ttg.memdesc<64x64xf16, #sw, #smem, mutable>"
N = "!ttg.memdesc<64x64xf16, #nv, #smem, mutable>"
MMA = "#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>\n" \
      "#b1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n"
SCALES = "#nv8 = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 8, rank = 4}>\n" \
         "#lin = #ttg.shared_linear<{offset = [[0, 1], [0, 2], [32, 0], [64, 0], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 4]]}, alignment = 128>\n"
B = "!ttg.memdesc<1xi64, #bar, #smem, mutable>"
X = "tensor<64x64xf16, #bl>"


def at(offset):
    return f"{{allocation.offset = {offset} : i32}}"


BAR = f"    %b = ttg.local_alloc {at(0)} : () -> {B}\n    ttng.init_barrier %b, 1 : {B}\n"
END = f"    ttng.inval_barrier %b : {B}\n"
STORE = f"    %d = ttg.local_alloc %x {at(0)} : ({X}) -> {T}\n"
APART = STORE.replace(at(0), at(1024))
COPY = f"    %d = ttg.local_alloc {at(0)} : () -> {T}\n    %t = ttg.async_copy_global_to_local %q, %d : tensor<64x64x!tt.ptr<f16>, #bl> -> <64x64xf16, #sw, #smem, mutable>\n    %g = ttg.async_commit_group tokens %t\n"
WAIT = "    %w = ttg.async_wait {num = 0 : i32}\n"
ISSUE = (f"    %s = ttg.local_alloc %x {at(0)} : ({X}) -> {N}\n    ttng.fence_async_shared {{bCluster = false}}\n"
         f"    ttng.async_tma_copy_local_to_global %desc[%c0, %c0] %s : !tt.tensordesc<64x64xf16, #nv>, {N}\n")
DRAIN = "    ttng.async_tma_store_wait {pendings = 0 : i32}\n"
CONVERT = "    %y = ttg.convert_layout %x {allocation.offset = 0 : i32} : tensor<64x64xf16, #bl> -> tensor<64x64xf16, #bl>\n"

TEXTS = {
    "barrier_bytes.ok": BAR + END + STORE,
    "barrier_bytes.apart": BAR + APART + END,
    "barrier_bytes.store": BAR + STORE + END,
    "barrier_bytes.copy": BAR + COPY + WAIT + END,
    "init_over_copy.ok": COPY + WAIT + BAR + END,
    "init_over_copy.pending": COPY + BAR + END + WAIT,
    "scratch_reuse.ok": ISSUE + DRAIN + CONVERT,
    "scratch_reuse.reused": ISSUE + CONVERT + DRAIN,
}
DOT = ("    %acc = arith.constant dense<0.0> : tensor<64x64xf32, #mma>\n"
       f"    %s = ttg.local_alloc %x {at(0)} : ({X}) -> {N}\n    ttng.fence_async_shared {{bCluster = false}}\n"
       f"    %r = ttng.warp_group_dot %s, %s, %acc {{inputPrecision = 0 : i32, isAsync = true}} : {N} * {N} -> tensor<64x64xf32, #mma>\n")
DOT_WAIT = "    %v = ttng.warp_group_dot_wait %r {pendings = 0 : i32} : tensor<64x64xf32, #mma>\n"
TEXTS.update({"dot_drain.ok": DOT + DOT_WAIT + STORE, "dot_drain.missing": DOT + STORE + DOT_WAIT})
DATA = ("    %w = arith.constant dense<0> : tensor<1xi64, #b1>\n"
        f"    ttg.local_store %w, %b : tensor<1xi64, #b1> -> {B}\n")
TEXTS.update({"barrier_as_data.ok": BAR + END + DATA, "barrier_as_data.live": BAR + DATA + END})
# Scales, copied into tensor memory by the tensor core: their bytes are loaded again when a barrier says so, which covers the
# copy, or only what stood before it.
SC = "!ttg.memdesc<1x2x32x16xi8, #nv8, #smem, mutable>"
FLAT = "!ttg.memdesc<128x8xi8, #lin, #smem, mutable>"
TS = "!ttg.memdesc<128x8xi8, #ttng.tensor_memory_scales_encoding<>, #ttng.tensor_memory, mutable>"
COMMIT = f"      ttng.tc_gen5_commit %used, %true : {B}\n"


def scales(early):
    commit = (COMMIT, "") if early else ("", COMMIT)
    return (f"    %one = arith.constant 1 : i32\n    %s = ttg.local_alloc : () -> {SC}\n    %full = ttg.local_alloc : () -> {B}\n    %used = ttg.local_alloc : () -> {B}\n"
            f"    ttng.init_barrier %full, 1 : {B}\n    ttng.init_barrier %used, 1 : {B}\n    %t = ttng.tmem_alloc : () -> {TS}\n"
            "    scf.for %k = %c0 to %K step %one  : i32 {\n      %ph = arith.andi %k, %one : i32\n"
            f"      ttng.barrier_expect %full, 1024, %true : {B}\n"
            f"      ttng.async_tma_copy_global_to_local %sd[%c0, %k, %c0, %c0] %s, %full, %true : !tt.tensordesc<1x2x32x16xi8, #nv8>, {B} -> {SC}\n"
            f"      ttng.wait_barrier %full, %ph : {B}\n{commit[0]}"
            f"      %f = ttg.memdesc_reshape %s : {SC} -> {FLAT}\n      ttng.tmem_copy %f, %t : {FLAT}, {TS}\n{commit[1]}"
            f"      ttng.wait_barrier %used, %ph : {B}\n    }}\n    ttng.inval_barrier %full : {B}\n")


TEXTS.update({"scales_refill.ok": scales(False), "scales_refill.early": scales(True)})
TESTS = {
    "barrier_bytes": ("", {"ok": (), "apart": (), "store": ("BAR-LIVE-REUSE", ), "copy": ("BAR-LIVE-REUSE", )}),
    "init_over_copy": ("", {"ok": (), "pending": ("PEND-CP", )}),
    "barrier_as_data": ("", {"ok": ("reuse", ), "live": ("BAR-LIVE-REUSE", )}),
    "dot_drain": ("", {"ok": (), "missing": ("PEND-WGMMA", )}),
    "scratch_reuse": ("", {"ok": (), "reused": ("PEND-TMAST", )}),
    "scales_refill": ("", {"ok": (), "early": ("SHM-WAR", )}),
}


def main():
    spec = importlib.util.spec_from_file_location("hand", os.path.join(HERE, "..", "hand.py"))
    hand = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hand)
    for name, body in TEXTS.items():
        with open(os.path.join(HERE, "ttgir", name + ".ttgir"), "w", encoding="utf-8") as f:
            f.write(MMA + (SCALES if "scales" in name else "") + (hand.HEAD % 1).replace("%K: i32", "%sd: !tt.tensordesc<1x2x32x16xi8, #nv8>, %K: i32" if "scales" in name else "%K: i32")
                    + body + hand.TAIL)


if __name__ == "__main__":
    main()
