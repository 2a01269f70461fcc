#!/usr/bin/env python3
"""--check-membar on texts from after Triton's Membar pass (ttgir/) and on texts from before it: run.py POLYRACE [--print]

  1. As printed, each text of ttgir/ is proved with and without the option.
  2. With one barrier or fence less: as mutants.txt says. Whatever is taken out, nothing is found without the option that is
     not a fence, and no verdict is ok where the line says it is not. --print writes the file's lines anew.
  3. Texts from before Membar and texts by hand: as CASES says; without the option all of them are proved or refused as before."""
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import hand  # noqa: E402

MARK = re.compile(r"\s*(ttg\.barrier|ttng\.fence_async_shared)\b")
# other layouts of the tile 64 x 64 by four warps, next to hand's #bl: the rows of a warp elsewhere; columns first; equal in other words
LAYOUTS = """#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#cols = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#same = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [16, 0], [32, 0]], lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = []}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#mma2 = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#square = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#other = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32, 32], isTransposed = true}>
"""
BARRIER = "    ttg.barrier local\n"
FENCE = "    ttng.fence_async_shared {bCluster = false}\n"
STORE = f"    ttg.local_store %x, %a : {hand.TENSOR} -> {hand.T}\n"
FILL = hand.ALLOC + STORE
MADE = hand.ALLOC + f"    %y = arith.constant dense<0.0> : tensor<64x64xf16, #mma>\n    ttg.local_store %y, %a : tensor<64x64xf16, #mma> -> {hand.T}\n"
WAIT = "    %w = ttg.async_wait {num = 0 : i32}\n"


def load(layout, view="%a"):
    return f"    %r = ttg.local_load {view} : {hand.T} -> tensor<64x64xf16, {layout}>\n"


SEND = f"    ttng.async_tma_copy_local_to_global %desc[%c0, %c0] %n : !tt.tensordesc<64x64xf16, #nv>, {hand.N}\n"
MAKE = f"    %n = ttg.local_alloc : () -> {hand.N}\n    ttg.local_store %x, %n : {hand.TENSOR} -> {hand.N}\n"
AGAIN = f"    ttg.local_store %x, %n : {hand.TENSOR} -> {hand.N}\n"
DRAIN = "    ttng.async_tma_store_wait {pendings = 0 : i32}\n"
LATER = FILL + BARRIER + load("#cols")
GROUPS = (f"    %n = ttg.local_alloc : () -> {hand.N}\n    %acc = arith.constant dense<0.0> : tensor<64x64xf32, #mma>\n"
          f"    %d = ttng.warp_group_dot %n, %n, %acc {{inputPrecision = 0 : i32, isAsync = true}} : {hand.N} * {hand.N} -> tensor<64x64xf32, #mma>\n"
          "    %v = ttng.warp_group_dot_wait %d {pendings = 0 : i32%s} : tensor<64x64xf32, #mma>\n")
LOCAL, ALL = GROUPS.replace("%s", ", warpGroupLocal"), GROUPS.replace("%s", "")
S32 = "!ttg.memdesc<128x64xi32, #nv, #smem, mutable>"
TM = "!ttg.memdesc<128x64xi32, #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>, #ttng.tensor_memory, mutable>"
SCALES = (f"    %i = arith.constant dense<1> : tensor<128x64xi32, #bl>\n    %s = ttg.local_alloc : () -> {S32}\n    %m = ttng.tmem_alloc : () -> {TM}\n"
          + hand.BAR + f"    ttg.local_store %i, %s : tensor<128x64xi32, #bl> -> {S32}\n")
COPIED = (f"    ttng.tmem_copy %s, %m : {S32}, {TM}\n    ttng.tc_gen5_commit %b : {hand.B}\n    ttng.wait_barrier %b, %c0 : {hand.B}\n")
# tensor memory between eight warps: four hold the first half of the columns, four the second
T64 = ("#ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], "
       "warp = [[32, 0], [64, 0], [0, 32]], block = []}>")
T32 = ("#ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], "
       "warp = [[32, 0], [64, 0], [0, 16]], block = []}>")
TM_HALF = TM.replace("128x64xi32", "128x32xi32", 1).replace("mutable>", "mutable, 128x64>")
CHUNKS = (f"    %i = arith.constant dense<1> : tensor<128x64xi32, {T64}>\n    %p32 = arith.constant dense<1> : tensor<128x32xi32, {T32}>\n    %m = ttng.tmem_alloc : () -> {TM}\n"
          f"    ttng.tmem_store %i, %m, %true : tensor<128x64xi32, {T64}> -> {TM}\n    %tv = ttng.tmem_load %m : {TM} -> tensor<128x64xi32, {T64}>\n")
HALF = (f"    %h = ttng.tmem_subslice %m {{N = 32 : i32}} : {TM} -> {TM_HALF}\n"
        f"    ttng.tmem_store %p32, %h, %true : tensor<128x32xi32, {T32}> -> {TM_HALF}\n")
SAME = f"    ttng.tmem_store %tv, %m, %true : tensor<128x64xi32, {T64}> -> {TM}\n"
EIGHT = (('"ttg.num-warps" = 4', '"ttg.num-warps" = 8'), ("warpsPerCTA = [4, 1], order", "warpsPerCTA = [8, 1], order"))
# name: body, replacements in the whole text, default verdict, verdict with --check-membar
CASES = {
    "one thread": (FILL + load("#bl"), (), "ok", "ok"),
    "one thread in other words": (FILL + load("#same"), (), "ok", "ok"),
    "other rows": (FILL + load("#rows"), (), "ok", "MEMBAR"),
    "columns": (FILL + load("#cols"), (), "ok", "MEMBAR"),
    "columns, barrier": (LATER, (), "ok", "ok"),
    "columns, gpu.barrier": (FILL + "    gpu.barrier\n" + load("#cols"), (), "ok", "ok"),
    "a barrier for global memory": (FILL + "    ttg.barrier global_read|global_write\n" + load("#cols"), (), "ok", "MEMBAR"),
    "a barrier in a branch": (FILL + "    scf.if %c {\n" + BARRIER + "    }\n" + load("#cols"), (), "ok", "MEMBAR"),
    "a barrier in a branch on data": (hand.DATA + FILL + "    scf.if %d {\n" + BARRIER + "    }\n" + load("#cols"), (), "ok", "potential-race"),
    "unknown layout": (FILL + load("#other"), (), "ok", "potential-race"),
    "accumulator": (FILL + load("#mma"), (), "ok", "MEMBAR"),
    "accumulator, same threads": (MADE + load("#mma"), (), "ok", "ok"),
    "accumulator of another generation, same threads": (MADE + load("#mma2"), (), "ok", "ok"),
    "accumulator of other warps": (MADE + load("#square"), (), "ok", "MEMBAR"),
    "copies": (hand.ALLOC + hand.COPY + WAIT + load("#bl"), (), "ok", "ok"),
    "copies, other threads": (hand.ALLOC + hand.COPY + WAIT + load("#cols"), (), "ok", "MEMBAR"),
    "copies, barrier before the wait": (hand.ALLOC + hand.COPY + BARRIER + WAIT + load("#cols"), (), "ok", "MEMBAR"),
    "copies, barrier": (hand.ALLOC + hand.COPY + WAIT + BARRIER + load("#cols"), (), "ok", "ok"),
    "loop": (hand.ALLOC + hand.LOOP + STORE + BARRIER + load("#cols") + hand.END, (), "ok", "MEMBAR"),
    "loop, both": (hand.ALLOC + hand.LOOP + STORE + BARRIER + load("#cols") + BARRIER + hand.END, (), "ok", "ok"),
    "store by TMA": (MAKE + SEND + DRAIN, (), "ok", "MEMBAR"),
    "store by TMA, barrier": (MAKE + BARRIER + SEND + DRAIN, (), "ok", "PROXY-FENCE"),
    "store by TMA, fence": (MAKE + FENCE + SEND + DRAIN, (), "ok", "MEMBAR"),
    "store by TMA, both": (MAKE + FENCE + BARRIER + SEND + DRAIN, (), "ok", "ok"),
    "store by TMA, fence behind": (MAKE + BARRIER + FENCE + SEND + DRAIN, (), "ok", "ok"),
    "drain and fill": (MAKE + FENCE + BARRIER + SEND + DRAIN + AGAIN, (), "ok", "MEMBAR"),
    "drain and fill, barrier": (MAKE + FENCE + BARRIER + SEND + DRAIN + BARRIER + AGAIN, (), "ok", "ok"),
    "tensor memory, other warps": (CHUNKS + HALF, EIGHT, "ok", "MEMBAR"),                      # B044
    "tensor memory, same warps": (CHUNKS + SAME, EIGHT, "ok", "ok"),
    "tensor memory, barrier": (CHUNKS + "    ttg.barrier tensor_read|tensor_write\n" + HALF, EIGHT, "ok", "ok"),
    "tensor memory, barrier for shared memory": (CHUNKS + BARRIER + HALF, EIGHT, "ok", "ok"),
    "tensor memory, barrier for global memory": (CHUNKS + "    ttg.barrier global_read|global_write\n" + HALF, EIGHT, "ok", "MEMBAR"),
    "tensor memory, barrier in front": (BARRIER.join((CHUNKS.split("    %tv")[0], "    %tv" + CHUNKS.split("    %tv")[1])) + HALF, EIGHT, "ok", "MEMBAR"),
    "tensor memory, barrier of tensor memory for shared memory": (FILL + "    ttg.barrier tensor_read|tensor_write\n" + load("#cols"), (), "ok", "MEMBAR"),
    "tensor memory in a loop": (CHUNKS.split("    %tv")[0] + hand.LOOP + "    %tv" + CHUNKS.split("    %tv")[1] + "    ttg.barrier tensor_read\n" + HALF + hand.END, EIGHT, "ok", "MEMBAR"),
    "tensor memory in a loop, both": (CHUNKS.split("    %tv")[0] + hand.LOOP + "    %tv" + CHUNKS.split("    %tv")[1] + "    ttg.barrier tensor_read\n" + HALF
                                      + "    ttg.barrier tensor_write\n" + hand.END, EIGHT, "ok", "ok"),
    "scales": (SCALES + COPIED, (), "ok", "MEMBAR"),
    "scales, barrier": (SCALES + BARRIER + COPIED, (), "ok", "PROXY-FENCE"),
    "scales, both": (SCALES + FENCE + BARRIER + COPIED, (), "ok", "ok"),
    "read and clear": (LATER + STORE, (), "ok", "MEMBAR"),
    "read and clear, barrier": (LATER + BARRIER + STORE, (), "ok", "ok"),
    "four warps": (LOCAL + AGAIN, (), "ok", "ok"),
    "two groups": (ALL + AGAIN, EIGHT, "ok", "ok"),
    "two groups, each alone": (LOCAL + AGAIN, EIGHT, "potential-race", "MEMBAR"),
    "two groups that meet": (LOCAL + BARRIER + AGAIN, EIGHT, "ok", "ok"),
}


def text_of(body, changes):
    text = LAYOUTS + hand.HEAD % 1 + body + hand.TAIL
    for a, b in changes:
        text = text.replace(a, b)
    return text


def verdict(program, text, *options):
    with tempfile.NamedTemporaryFile("w", suffix=".ttgir", delete=False, encoding="utf-8") as f:
        f.write(text)
    try:
        done = subprocess.run([program, "check", "--format=json", *options, f.name], capture_output=True, text=True)
    finally:
        os.unlink(f.name)
    if done.returncode not in (0, 1, 2):
        raise RuntimeError(done.stderr.strip())
    v = json.loads(done.stdout)
    if v["status"] == "ok":
        return "ok"
    return " ".join(sorted({f["id"] for f in v["findings"]} or {r["kind"] for r in v["refusals"]} - {"bounded-only"}))


def mutants(program, name):
    """(line, what it is, verdict without it) of every barrier and fence; and what must not be."""
    with open(os.path.join(HERE, "ttgir", name + ".ttgir"), encoding="utf-8") as f:
        lines = f.read().splitlines()
    rows, problems = [], []
    for options in ((), ("--check-membar", )):
        got = verdict(program, "\n".join(lines) + "\n", *options)
        if got != "ok":
            problems.append(f"{name} {options}: {got}")
    for i, line in enumerate(lines):
        if not MARK.match(line):
            continue
        text = "\n".join(lines[:i] + lines[i + 1:]) + "\n"
        got, plain = verdict(program, text, "--check-membar"), verdict(program, text)
        rows.append(f"{name} {i + 1} {line.strip().split()[0].split('.')[1]} {got.replace(' ', '+')}")
        if plain not in ("ok", "PROXY-FENCE") and not (plain == "potential-race" and "warpGroupLocal" in text):
            problems.append(f"{name} without line {i + 1}, without the option: {plain}")
    return rows, problems


def main():
    program, bad = sys.argv[1], 0
    names = sorted(n[:-6] for n in os.listdir(os.path.join(HERE, "ttgir")))
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda n: mutants(program, n), names))
    rows = [r for rows, _ in done for r in rows]
    if sys.argv[2:] == ["--print"]:
        print("\n".join(rows))
        return 0
    with open(os.path.join(HERE, "mutants.txt"), encoding="utf-8") as f:
        want = [line.rstrip() for line in f if not line.startswith("#")]
    problems = [p for _, ps in done for p in ps]
    problems += [f"mutants.txt: {r}" for r in set(want) - set(rows)] + [f"not in mutants.txt: {r}" for r in set(rows) - set(want)]
    for name, (body, changes, plain, strict) in CASES.items():
        for options, expected in (((), plain), (("--check-membar", ), strict)):
            try:
                got = verdict(program, text_of(body, changes), *options)
            except (RuntimeError, ValueError) as e:
                got = str(e)
            if got != expected:
                problems.append(f"{name} {options}: {got}, expected {expected}")
    for p in problems:
        print(p)
        bad += 1
    found = sum(not r.endswith(" ok") for r in rows)
    print(f"{len(names)} texts after Membar, {len(rows)} with one line less ({found} not proved), {len(CASES)} by hand, {bad} problems")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
