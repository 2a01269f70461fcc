#!/usr/bin/env python3
"""Rebuild the TTGIR texts of kernels.py (needs Triton; no GPU): python build.py [--to DIRECTORY] [NAME...]

One line of expect.txt a text: name, status, finding ids that must be there. With another release of Triton give a directory; what that
release cannot compile is left out (run.py --texts DIRECTORY)."""
import argparse
import os
import re
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import tma

if hasattr(tma, "async_load"):          # since 3.9
    tma.async_copy_global_to_shared, tma.async_copy_shared_to_global = tma.async_load, tma.async_store
    async_copy.async_copy_global_to_shared = async_copy.async_load
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import kernels as K  # noqa: E402
import kernels_hands as H  # noqa: E402
import kernels_lives as L  # noqa: E402
import kernels_protocols as P  # noqa: E402
import kernels_rings as R  # noqa: E402
import kernels_styles as Y  # noqa: E402
import kernels_tiles as T  # noqa: E402


def desc(n, m=None):
    layout = gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)
    return f"tensordesc<fp16[{n}, {m or n}],{layout!r}>"


def table():
    """name -> (kernel, signature, constexprs, capability)"""
    rows = {}
    for v in K.RING:
        rows[f"ring_wgmma.{v}"] = (K.ring_wgmma, {"desc": desc(64), "out": "*fp32", "K": "i32"}, {"S": 3, "V": v}, 90)
    for s in (1, 2, 4):
        rows[f"ring_wgmma.s{s}"] = (K.ring_wgmma, {"desc": desc(64), "out": "*fp32", "K": "i32"}, {"S": s, "V": "ok"}, 90)
    for v in K.READERS:
        rows[f"ring_readers.{v}"] = (K.ring_readers, {"desc": desc(64), "out": "*fp16", "K": "i32"}, {"S": 2, "V": v}, 90)
    for name, s, d, n, v in (("ok", 3, 2, 1, "ok"), ("wait-weaker", 3, 2, 2, "ok"), ("no-wait", 3, 2, 1, "no-wait"),
                             ("no-commit", 3, 2, 1, "no-commit"), ("shallow", 2, 2, 1, "ok"), ("too-shallow", 2, 3, 2, "ok"),
                             ("deep", 4, 3, 2, "ok")):
        rows[f"ring_cp.{name}"] = (K.ring_cp, {"inp": "*fp16", "out": "*fp16", "K": "i32"}, {"S": s, "D": d, "N": n, "V": v}, 80)
    for v in K.CP_ARRIVE:
        rows[f"cp_arrive.{v}"] = (K.cp_arrive, {"inp": "*fp16", "out": "*fp16", "K": "i32"}, {"S": 2, "V": v}, 90)
    for name, s, n, v in (("ok", 2, 1, "ok"), ("pendings", 2, 2, "ok"), ("no-wait", 2, 1, "no-wait"),
                          ("alternate-two", 2, 1, "alternate-two"), ("three", 3, 2, "ok"), ("shallow", 1, 1, "ok")):
        rows[f"ring_store.{name}"] = (K.ring_store, {"inp": "*fp16", "desc": desc(64), "K": "i32"}, {"S": s, "N": n, "V": v}, 90)
    for v in K.HANDOFF:
        rows[f"handoff_store.{v}"] = (K.handoff_store, {"inp": "*fp16", "desc": desc(64), "K": "i32"}, {"V": v}, 90)
    for v in K.TCGEN05:
        rows[f"ring_tcgen05.{v}"] = (K.ring_tcgen05, {"desc": desc(128), "out": "*fp32", "K": "i32"}, {"S": 3, "V": v}, 100)
    for name, s, d, p in (("ok", 3, 2, 1), ("pendings", 3, 2, 2), ("shallow", 2, 2, 1), ("drained", 2, 2, 0), ("prefetch-one", 2, 1, 1)):
        rows[f"ring_single.{name}"] = (K.ring_single, {"desc": desc(64), "out": "*fp32", "K": "i32"}, {"S": s, "D": d, "P": p}, 90)
    for v in T.WGMMA:
        rows[f"tiles_wgmma.{v}"] = (T.tiles_wgmma, {"desc": desc(64), "out": desc(64), "tiles": "i32", "K": "i32"}, {"S": 3, "V": v}, 90)
    for v in T.TCGEN05:
        rows[f"tiles_tcgen05.{v}"] = (T.tiles_tcgen05, {"desc": desc(128), "out": "*fp32", "tiles": "i32", "K": "i32"}, {"S": 2, "V": v}, 100)
    ring = {"desc": desc(64), "out": "*fp16", "K": "i32"}
    for v in ("ok", "producer-reset", "consumer-reset", "same-phase"):
        rows[f"two_loops.{v}"] = (R.two_loops, {**ring, "L": "i32"}, {"S": 3, "V": v}, 90)
    for name, s, v in (("ok", 4, "ok"), ("two", 2, "ok"), ("odd", 3, "ok"), ("phase-of-own", 4, "phase-of-own"), ("early-next", 4, "early-next")):
        rows[f"turns.{name}"] = (R.turns, ring, {"S": s, "V": v}, 90)
    for name, s, p, v in (("ok", 3, 1, "ok"), ("two", 3, 2, "ok"), ("drained", 3, 0, "ok"), ("current", 3, 1, "current"), ("all-pending", 2, 2, "ok"),
                          ("no-free-wait", 3, 2, "no-free-wait"), ("no-fence", 3, 2, "no-fence")):
        rows[f"staging.{name}"] = (R.staging, {"inp": "*fp16", "desc": desc(64), "K": "i32"}, {"S": s, "P": p, "V": v}, 90)
    for v in ("ok", "bytes", "early"):
        rows[f"half_rate.{v}"] = (R.half_rate, {"da": desc(64), "db": desc(64), "out": "*fp16", "K": "i32"}, {"V": v}, 90)
    three = {"qd": desc(64), "kd": desc(64), "vd": desc(64), "out": "*fp32", "N": "i32", "scale": "fp32"}
    for v in Y.ATTENTION:
        rows[f"attention.{v}"] = (Y.attention, three, {"S": 2, "V": v}, 90)
    for v in Y.SINGLE:
        rows[f"attention_single.{v}"] = (Y.attention_single, three, {"V": v}, 90)
    for v in Y.PERSISTENT:
        rows[f"persistent.{v}"] = (Y.persistent, {"ad": desc(64), "bd": desc(64), "cd": desc(64), "tiles": "i32", "K": "i32"}, {"S": 3, "V": v}, 90)
    for name, s, w, v in (("ok", 3, 1, "ok"), ("deep", 5, 3, "ok"), ("refill-first", 3, 2, "refill-first"), ("two-groups", 3, 2, "two-groups"),
                          ("weak", 3, 2, "ok"), ("weak-groups", 3, 3, "two-groups"), ("one-stage", 1, 0, "ok"), ("refill-first-weak", 4, 4, "refill-first")):
        rows[f"cp_two.{name}"] = (Y.cp_two, {"x": "*fp16", "y": "*fp16", "out": "*fp32", "K": "i32"}, {"S": s, "W": w, "V": v}, 80)
    for v in Y.BLACKWELL:
        rows[f"blackwell.{v}"] = (Y.blackwell, {"ad": desc(128), "bd": desc(128), "cd": desc(128, 64), "tiles": "i32", "K": "i32"}, {"S": 2, "V": v}, 100)
    for v in Y.PING_PONG:
        rows[f"ping_pong.{v}"] = (Y.ping_pong, {"d": desc(64), "out": "*fp32", "K": "i32"}, {"S": 4, "V": v}, 90)
    rows["ping_pong.three"] = (Y.ping_pong, {"d": desc(64), "out": "*fp32", "K": "i32"}, {"S": 3, "V": "ok"}, 90)
    for v in Y.SKIPPING:
        rows[f"skipping.{v}"] = (Y.skipping, {"d": desc(64), "out": "*fp32", "K": "i32"}, {"S": 2, "V": v}, 90)
    for v in ("ok", "loads-first"):
        rows[f"leaves_early.{v}"] = (Y.leaves_early, {"d": desc(64), "out": "*fp16", "K": "i32"}, {"V": v}, 90)
    for v in Y.BIAS:
        rows[f"optional_bias.{v}"] = (Y.optional_bias, {"d": desc(64), "bias": desc(64), "out": "*fp32", "K": "i32", "has_bias": "i32"}, {"V": v}, 90)
    for v in Y.HALVES:
        rows[f"halves.{v}"] = (Y.halves, {"inp": "*fp16", "out": "*fp16", "K": "i32"}, {"V": v}, 90)
    for v in Y.CONVERT:
        rows[f"convert_between.{v}"] = (Y.convert_between, {"d": desc(128), "out": "*fp32", "K": "i32"}, {"S": 2, "V": v}, 100)
    for v in Y.ATTENTION_BW:
        rows[f"attention_blackwell.{v}"] = (Y.attention_blackwell, {"qd": desc(128), "kd": desc(128), "vd": desc(128), "out": "*fp32", "N": "i32",
                                                                   "scale": "fp32"}, {"V": v}, 100)
    for v in Y.STRIDED:
        rows[f"strided.{v}"] = (Y.strided, {"d": desc(64), "out": "*fp32", "N": "i32", "step_arg": "i32"}, {"V": v}, 90)
    for v in Y.OPERAND:
        rows[f"operand_tmem.{v}"] = (Y.operand_tmem, {"d": desc(128), "out": "*fp32", "K": "i32"}, {"V": v}, 100)
    for v in Y.TMEM_HALVES:
        rows[f"tmem_halves.{v}"] = (Y.tmem_halves, {"d": desc(128), "half": desc(128, 64), "out": "*fp32"}, {"V": v}, 100)
    for kernel, values in H.HANDS.items():
        sig = {"d": desc(64), "out": "*fp32", "K": "i32"} if kernel == "hands_dot" else {"inp": "*fp16", "out": "*fp16", "K": "i32"}
        sig = {**sig, "flag": "i32"} if kernel == "chosen" else sig
        for v in values:
            rows[f"{kernel}.{v}"] = (getattr(H, kernel), sig, {"V": v}, 90 if kernel == "hands_dot" else 80)
    ring = {"d": desc(64), "out": "*fp16", "K": "i32"}
    dot = {"d": desc(64), "out": "*fp32", "K": "i32"}
    more = [(P.in_place, {"d": desc(64), "o": desc(64), "K": "i32"}, 90, [("ok", {"S": 2}), ("no-fence", {"S": 2}), ("store-wait-1", {"S": 2})]),
            (P.release_late, {"d": desc(64), "o": desc(64), "K": "i32"}, 90, [("ok", {"S": 3}), ("two-pending", {"S": 3})]),
            (P.phase_bits, ring, 90, [("ok", {"S": 3}), ("bit-zero", {"S": 3})]),
            (P.peeled, {"d": desc(64), "g": desc(64), "out": "*fp32", "K": "i32"}, 90, [("ok", {}), ("phase-of-a", {}), ("peel-k", {})]),
            (P.drained, ring, 90, [("ok", {"S": 2}), ("wrong-drain", {"S": 3})]),
            (P.rounds, {"qd": desc(64), "kd": desc(64), "out": "*fp32", "H": "i32", "N": "i32"}, 90, [("ok", {"S": 2}), ("no-qe", {"S": 2}), ("pending", {"S": 2})]),
            (P.three_readers, ring, 90, [("ok", {"S": 2}), ("count-two", {"S": 3})]),
            (P.quarters, {"d": desc(128, 256), "cd": desc(128, 64)}, 100, [("ok", {}), ("one-slot", {})]),
            (P.two_passes, {"inp": "*fp16", "out": "*fp32", "K": "i32"}, 80, [("ok", {"D": 2}), ("weaker", {"D": 2}), ("no-drain", {"D": 2})]),
            (P.late_two, dot, 90, [("ok", {"S": 3}), ("shallow", {"S": 2}), ("release-one", {"S": 4})]),
            (P.through_operand, {"qd": desc(64), "kd": desc(64), "od": desc(64), "T": "i32", "N": "i32"}, 90,
             [("ok", {"S": 2}), ("compiler-fence", {"S": 2}), ("no-store-wait", {"S": 2}), ("other-fence", {"S": 2})]),
            (P.lagging, {"d": desc(128), "g": desc(128), "out": "*fp32", "K": "i32"}, 100, [("ok", {"S": 3}), ("one-more", {"S": 3}), ("at-once", {"S": 3})]),
            (P.lives, ring, 90, [("ok", {}), ("between", {}), ("branch", {}), ("count", {}), ("goes-on", {})]),
            (P.positions, {"d": desc(64), "out": "*fp16", "N": "i32"}, 90, [("ok", {"B": 64, "S": 3}), ("floor", {"B": 64, "S": 3})]),
            (L.lives_commit, {"d": desc(128), "out": "*fp32"}, 100, [("ok", {}), ("pending", {}), ("pending-mma", {})]),
            (L.later_commit, {"d": desc(128), "out": "*fp32"}, 100, [("ok", {}), ("pending", {}), ("no-end", {})]),
            (L.lives_copy, {"inp": "*fp16", "out": "*fp16"}, 90, [("ok", {}), ("pending", {})]),
            (L.loop_commit, {"d": desc(128), "out": "*fp32", "K": "i32"}, 100, [("ok", {}), ("pending", {})]),
            (L.shifts, ring, 90, [("ok", {"S": 32}), ("sign", {"S": 32}), ("product", {"S": 32}), ("back", {"S": 32}), ("far", {"S": 40}), ("negative", {"S": 2}),
                                  ("carried", {"S": 5}), ("carried-far", {"S": 33})])]
    for fn, sig, capability, variants in more:
        for v, consts in variants:
            rows[f"{fn.fn.__name__}.{v}"] = (fn, sig, {**consts, "V": v}, capability)
    return rows


def compile_one(name, fn, signature, constexprs, capability, to):
    sig = {**signature, **{k: "constexpr" for k in constexprs}}
    attrs = {(i, ): [["tt.divisibility", 16]] for i, t in enumerate(signature.values()) if t.startswith("*")}
    src = GluonASTSource(fn, sig, constexprs, attrs)
    try:
        text = triton.compile(src, target=GPUTarget("cuda", capability, 32), options={"num_warps": 4}).asm["ttgir"]
    except Exception as e:  # noqa: BLE001
        print(f"{name}: {type(e).__name__}: {e}", file=sys.stderr)
        return
    text = text.replace(HERE + os.sep, "")
    text = re.sub(r'"[^"]*/(site-packages/)?triton/', '"triton/', text)
    with open(os.path.join(to, name + ".ttgir"), "w", encoding="utf-8") as f:
        f.write(text)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--to", default=os.path.join(HERE, "ttgir"))
    ap.add_argument("names", nargs="*")
    a = ap.parse_args()
    wanted = a.names
    os.makedirs(a.to, exist_ok=True)
    for name, (fn, sig, consts, cc) in table().items():
        if not wanted or any(name.startswith(w) for w in wanted):
            compile_one(name, fn, sig, consts, cc, a.to)


if __name__ == "__main__":
    main()
