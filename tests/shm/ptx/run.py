#!/usr/bin/env python3
"""--check-membar with the PTX of the same compile: run.py POLYRACE [--print]

  1. Each pair of texts is proved.
  2. With one barrier or fence of the PTX deleted, or (a barrier) predicated: as mutants.txt says; never a race, since what PTX does not show may be there.
     --print writes the lines of the file.
  3. Texts by hand, whose operations share a source location, or have none: which instructions are whose is not known, or not by their order.
  4. PTX outside the vocabulary is refused, with its line."""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
HAND = (("hand_same", "hand_same", "unsupported", "no CTA barrier"), ("hand_same", "hand_same_met", "ok", ""), ("hand_branch", "hand_branch", "unsupported", "no CTA barrier"),
        ("hand_branch", "hand_branch_met", "ok", ""), ("hand_nowhere", "hand_nowhere", "unsupported", "no source location"))
NAMES = ("matmul.sm80", "matmul_tma.sm90", "norm.sm80", "turned.sm80")


def verdict(program, name, ptx, ttgir=None):
    with tempfile.NamedTemporaryFile("w", suffix=".ptx", delete=False, encoding="utf-8") as f:
        f.write(ptx)
    try:
        done = subprocess.run([program, "check", "--format=json", "--check-membar", "--ptx", f.name, ttgir or os.path.join(HERE, name + ".ttgir")],
                              capture_output=True, text=True, check=False)
    finally:
        os.unlink(f.name)
    if done.returncode not in (0, 1, 2):
        raise RuntimeError(f"{name}: exit {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def foreign(text):
    """PTX that nothing can be concluded from: name, text, part of the refusal."""
    first = next(line for line in text.split("\n") if "bar.sync" in line)
    yield "another barrier", text.replace("bar.sync \t0;", "bar.sync \t1;", 1), "another number"
    yield "some threads", text.replace("bar.sync \t0;", "bar.sync \t0, 64;", 1), "other threads"
    yield "arrive", text.replace("bar.sync \t0;", "bar.arrive \t0, 128;", 1), "no bar.sync"
    yield "cluster", text.replace(first, "\tbarrier.cluster.sync.aligned;\n" + first, 1), "cluster"
    yield "generic access", text.replace(first, "\tst.b32 \t[%rd1], %r1;\n" + first, 1), "memory is not named"
    yield "generic acquire", text.replace(first, "\tld.acquire.gpu.b32 \t%r1, [%rd1];\n" + first, 1), "memory is not named"
    yield "generic release", text.replace(first, "\tst.release.gpu.b32 \t[%rd1], %r1;\n" + first, 1), "memory is not named"
    yield "generic atomic", text.replace(first, "\tatom.add.u32 \t%r1, [%rd1], 1;\n" + first, 1), "memory is not named"
    yield "foreign access", text.replace(first, "\t.loc\t1 3 7\n\tst.shared.b32 \t[%r1], %r2;\n" + first, 1), "no operation of the text"
    yield "no place", re.sub(r"\.loc\t1 \d+ \d+", ".loc\t1 0 0", text), "no operation of the text"
    yield "other file", re.sub(r'\.file\t1 ".*"', '.file\t1 "other.py"', text), "no operation of the text"
    yield "call", text.replace(first, "\tcall.uni (retval0), f, (param0);\n" + first, 1), "a call"
    yield "vocabulary", text.replace(first, "\tmultimem.red.add.u32 \t[%rd1], %r1;\n" + first, 1), "vocabulary"
    yield "two kernels", text + text, "second function"
    yield "empty", "", "no kernel"


def main():
    program, bad, total, lines = sys.argv[1], 0, 0, []
    with open(os.path.join(HERE, "mutants.txt"), encoding="utf-8") as f:
        wanted = dict(line.split("#")[0].split() for line in f if line.split("#")[0].strip())
    for name in NAMES:
        with open(os.path.join(HERE, name + ".ptx"), encoding="utf-8") as f:
            text = f.read()
        v = verdict(program, name, text)
        total += 1
        if v["status"] != "ok":
            print(f"{name}: {v['status']}")
            bad += 1
        rows = text.split("\n")
        for i, row in enumerate(rows):
            if not re.search(r"\bbar\.sync|fence\.proxy\.async", row):
                continue
            key, got = f"{name}:{i + 1}", []
            for other in ("", "\t@%p1 " + row.strip()):
                v = verdict(program, name, "\n".join(rows[:i] + [other] + rows[i + 1:]))
                got.append(v["status"])
                total += 1
                if v["findings"]:
                    print(f"{key}: reported: {v['findings'][0]['id']}")
                    bad += 1
            lines.append(f"{key} {got[0]}")
            if got[0] != got[1] or wanted.get(key) != got[0]:
                print(f"{key}: {got}, expected {wanted.get(key)}")
                bad += 1
    with open(os.path.join(HERE, "matmul_tma.sm90.ptx"), encoding="utf-8") as f:
        text = f.read()
    for kind, status in ((".global", "unsupported"), ("::generic.release.sync_restrict::shared::cta.cluster", "unsupported"), (".shared::cluster", "ok"), ("", "ok")):
        total += 1
        v = verdict(program, "matmul_tma.sm90", text.replace("fence.proxy.async.shared::cta", "fence.proxy.async" + kind))
        if v["status"] != status:
            print(f"fence.proxy.async{kind}: {v['status']}")
            bad += 1
    with open(os.path.join(HERE, "matmul.sm80.ptx"), encoding="utf-8") as f:
        text = f.read()
    for what, ptx, why in foreign(text):
        v = verdict(program, "matmul.sm80", ptx)
        total += 1
        if v["status"] != "unsupported" or not any(why in r["message"] for r in v["refusals"]):
            print(f"{what}: {v['status']} {[r['message'] for r in v['refusals']]}")
            bad += 1
    for ttgir, ptx, status, why in HAND:
        with open(os.path.join(HERE, ptx + ".ptx"), encoding="utf-8") as f:
            v = verdict(program, ttgir, f.read())
        total += 1
        if v["status"] != status or v["findings"] or (why and not any(why in r["message"] for r in v["refusals"])):
            print(f"{ptx}: {v['status']} {[r['message'] for r in v['refusals']]}")
            bad += 1
    specialised = os.path.join(os.path.dirname(HERE), "ttgir", "ring_wgmma.ok.ttgir")
    v = verdict(program, "ring_wgmma", text, specialised)
    total += 1
    if v["status"] != "unsupported" or not any("partitions" in r["message"] or "no operation" in r["message"] for r in v["refusals"]):
        print(f"partitions: {v['status']} {[r['message'] for r in v['refusals']]}")
        bad += 1
    usage = subprocess.run([program, "check", "--ptx", specialised, specialised], capture_output=True, text=True, check=False)
    total += 1
    if usage.returncode != 3 or "--check-membar" not in usage.stderr:
        print(f"--ptx alone: exit {usage.returncode}")
        bad += 1
    if "--print" in sys.argv[2:]:
        print("\n".join(lines))
    print(f"{total - bad} of {total} as expected")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
