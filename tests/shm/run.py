#!/usr/bin/env python3
"""The TTGIR texts against expect.txt: run.py POLYRACE [--only NAME]

Each text is checked four times:
  1. status and finding ids as expected, and no proof of a broken kernel (--cross-check); a finding has both instances, trip counts and what is missing
  2. without the polyhedral stage (--engine=z3): a safe kernel is unsupported (bounded-only), never ok;
     a broken one keeps its verdict
  3. with every value renamed and 4. with constants in reverse order: the same verdict and findings"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def has_z3(program):
    """A build without Z3 leaves the texts open that say by=z3."""
    return "not built in" not in subprocess.run([program, "version"], capture_output=True, text=True).stdout


def verdict(program, path, *options):
    done = subprocess.run([program, "check", "--format=json", *options, path], capture_output=True, text=True)
    if done.returncode not in (0, 1, 2):
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.strip()}")
    v = json.loads(done.stdout)
    want = {"ok": 0, "races": 1, "deadlock": 1, "hazard": 1}.get(v["status"], 2)
    if done.returncode != want:
        raise RuntimeError(f"status {v['status']} but exit {done.returncode}")
    return v


def essence(v):
    """What may not depend on names or on the order of independent operations."""
    def site(s):
        return s and (s["partition"], s["op"], s["loc"] and s["loc"].get("line"), tuple(s["iteration"]))
    return (v["status"], v["scope"],
            sorted(str((f["id"], f["memory"], f["slot"], site(f["first"]), site(f["second"]), f["trip_counts"]))
                   for f in v["findings"]),
            sorted(str((r["kind"], r["loc"] and r["loc"].get("line"))) for r in v["refusals"]))


def renamed(text):
    names = {}
    return re.sub(r"%[A-Za-z0-9_$.\-]+", lambda m: names.setdefault(m.group(0), f"%n{len(names) * 7 + 3}"), text)


def reordered(text):
    out, run = [], []
    for line in text.splitlines():
        if re.match(r"\s*%\S+ = arith\.constant ", line):
            run.append(line)
            continue
        out += reversed(run)
        run = []
        out.append(line)
    return "\n".join(out + run[::-1]) + "\n"


# Wrong at K = -1: no iteration comes before a wait for product K - 1; the slot K % S is none.
NOT_NEGATIVE, FOR_USUAL_ARGUMENTS = "assumes integer arguments are not negative", {"operand_tmem.ok", "drained.ok", "hand.square_positive", "hand.product", "hand.product_inside"}
# Its step is an argument.
STEPS, FOR_STEPS = "assumes loop steps are positive", {"strided.argument", "hand.stepped"}
TTIR = """module {
  tt.func public @ring_cp(%inp: !tt.ptr<f16>, %out: !tt.ptr<f16>, %K: i32) {
    %pid = tt.get_program_id x : i32
    %p = tt.addptr %out, %pid : !tt.ptr<f16>, i32
    %c = arith.constant 0.0 : f16
    tt.store %p, %c : !tt.ptr<f16>
    tt.return
  }
}
"""


# options, text, status, part of a note ("": no note about it)
OPTIONS = [
    (("--strict-gluon", ), "stock/matmul.sm90.s3", "ok", "advice: PROXY-FENCE"),
    ((), "stock/matmul.sm90.s3", "ok", ""),
    (("--strict-gluon", ), "ttgir/hand.while_store", "ok", ""),
    (("--ttgir-stage=auto", ), "ttgir/hand.offsets_overlap", "races", ""),
    (("--ttgir-stage=before-allocation", ), "ttgir/hand.offsets_overlap", "unsupported", ""),
    (("--ttgir-stage=after-allocation", ), "ttgir/hand.offsets_overlap", "races", ""),
    (("--ttgir-stage=before-allocation", ), "ttgir/hand.columns_pending", "unsupported", ""),
    ((), "ttgir/hand.store_at_end", "ok", "still reads shared memory"),
    ((), "ttgir/ring_store.ok", "ok", ""),
    (("--max-ops=1", ), "stock/attention_ws.sm100.s3", "unsupported", ""),
]


# text, number of findings, what is missing at one of them, calls that led to its first operation
SAYS = [
    ("quarters.one-slot", 1, "no async_tma_store_wait", 0),
    ("two_passes.no-drain", 1, "no async_wait", 1),
    ("three_readers.count-two", 4, "the count of the barrier is 2, but the partitions arrive 3 times", 1),
    ("late_two.shallow", 1, "the arrival must not need what comes after this wait", 0),
    ("ring_wgmma.initial-phase", 1, "its first phase must be 1", 0),
]


def says(program):
    problems = []
    for name, number, missing, calls in SAYS:
        found = verdict(program, os.path.join(HERE, "ttgir", name + ".ttgir"))["findings"]
        right = [f for f in found if missing in f["missing"] and len(f["first"].get("callers", [])) == calls]
        if len(found) != number or not right:
            problems.append(f"{name}: {[(f['missing'], f['first'].get('callers')) for f in found]}, expected {number}, {missing}, {calls} calls")
    return problems


def options(program):
    problems = []
    for given, name, status, note in OPTIONS:
        v = verdict(program, os.path.join(HERE, name + ".ttgir"), *given)
        about = [n for n in v["notes"] if "advice" in n or "still reads" in n]
        if v["status"] != status or bool(note) != bool(about) or note not in "".join(about):
            problems.append(f"{name} {' '.join(given)}: {v['status']} {about}, expected {status} {note}")
    return problems


def levels(program):
    """A launch with both texts: one document, a verdict a level, the worst of the two on top."""
    problems = []
    for name, top in (("ring_cp.ok", "ok"), ("ring_cp.no-wait", "races")):
        with open(os.path.join(HERE, "ttgir", name + ".ttgir"), encoding="utf-8") as f:
            launch = {"version": 1, "kernel": "ring_cp", "ttir_text": TTIR, "ttgir_text": f.read(), "grid": [4, 1, 1],
                      "args": {k: {"tensor": {"dtype": "float16", "ptr": at, "shape": [64]}} for k, at in (("inp", 4096), ("out", 8192))}}
        launch["args"]["K"] = 4
        with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as f:
            json.dump(launch, f)
        try:
            v = verdict(program, f.name)
        finally:
            os.unlink(f.name)
        got = (v["status"], v["levels"]["ttir"]["status"], v["levels"]["ttgir"]["status"])
        if got != (top, "ok", top):
            problems.append(f"both texts, {name}: {got}")
    return problems


def stock(a):
    bad = proved = 0
    with open(os.path.join(HERE, "expect_stock.txt"), encoding="utf-8") as f:
        rows = [r for r in (line.split("#")[0].split() for line in f) if r]
    if a.stock == "some":
        rows = [r for r in rows if (r[0].endswith(".s3") and not r[0].startswith("attention_")) or r[0] == "attention.sm100.s1"]
    rows = [r for r in rows if not a.only or r[0].startswith(a.only)]
    for name, status, *kinds in rows:
        try:
            v = verdict(a.program, os.path.join(HERE, "stock", name + ".ttgir"))
        except (RuntimeError, OSError, ValueError) as e:
            v = {"status": str(e), "refusals": [], "findings": []}
        got = [r["kind"] for r in v["refusals"]] + [f["id"] for f in v["findings"]]
        proved += v["status"] == "ok"
        if v["status"] != status or any(k not in got for k in kinds):
            print(f"{name}: {v['status']} {got}, expected {status} {kinds}")
            bad += 1
    print(f"{len(rows) - bad} of {len(rows)} of Triton's own kernels as expected, {proved} proved")
    return 1 if bad else 0


def other_release(a):
    """Texts that build.py made with another release of Triton: the same verdicts."""
    bad = total = 0
    with open(os.path.join(HERE, "expect.txt"), encoding="utf-8") as f:
        rows = [[w for w in r if w != "by=z3"] for r in (line.split("#")[0].split() for line in f) if r]
    for name, status, *ids in rows:
        path = os.path.join(a.texts, name + ".ttgir")
        if not os.path.exists(path) or (a.only and not name.startswith(a.only)):
            continue
        total += 1
        v = verdict(a.program, path)
        got = [f["id"] for f in v["findings"]] + [r["kind"] for r in v["refusals"]]
        if v["status"] != status or any(i not in got for i in ids):
            print(f"{name}: {v['status']} {got}, expected {status} {ids}")
            bad += 1
    print(f"{total - bad} of {total} texts of {a.texts} as expected")
    return 1 if bad or not total else 0


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("program")
    ap.add_argument("--only")
    ap.add_argument("--stock", choices=["some", "all"], help="Triton's own kernels instead: proved or refused, never reported")
    ap.add_argument("--texts", help="the same kernels compiled by another release: build.py --to DIRECTORY")
    a = ap.parse_args()
    bad = total = 0
    if a.texts:
        return other_release(a)
    if a.stock:
        return stock(a)
    with open(os.path.join(HERE, "expect.txt"), encoding="utf-8") as f:
        rows = [line.split("#")[0].split() for line in f]
    rows, z3 = [r for r in rows if r], has_z3(a.program)
    listed = {r[0] for r in rows}
    for extra in sorted({n[:-6] for n in os.listdir(os.path.join(HERE, "ttgir")) if n.endswith(".ttgir")} - listed):
        print(f"{extra}: no line in expect.txt")
        bad += 1
    for name, status, *ids in rows:
        if a.only and not name.startswith(a.only):
            continue
        total += 1
        path = os.path.join(HERE, "ttgir", name + ".ttgir")
        problems = []
        if "by=z3" in ids:
            ids.remove("by=z3")
            status = status if z3 else "unsupported"
        try:
            v = verdict(a.program, path, "--cross-check")
            got = [f["id"] for f in v["findings"]]
            kinds = [r["kind"] for r in v["refusals"]]
            if v["status"] != status:
                problems.append(f"status {v['status']} {got} {kinds}, expected {status}")
            missing = [i for i in ids if i not in got + kinds]
            if missing:
                problems.append(f"no {missing} in {got + kinds}")
            for finding in v["findings"]:
                if not (finding["what"] and finding["missing"] and finding["first"] and finding["confirmed"]):
                    problems.append(f"incomplete finding {finding['id']}")
            if status == "ok" and v["scope"] != "every-trip-count":
                problems.append(f"scope {v['scope']}")
            if status == "ok" and (NOT_NEGATIVE in v["qualifiers"], STEPS in v["qualifiers"]) != (name in FOR_USUAL_ARGUMENTS, name in FOR_STEPS):
                problems.append(f"qualifiers {v['qualifiers']}")
            off = verdict(a.program, path, "--engine=z3")
            if status == "ok" and (off["status"] != "unsupported"
                                   or "bounded-only" not in [r["kind"] for r in off["refusals"]]):
                problems.append(f"without the proof: {off['status']}")
            if status in ("races", "deadlock", "hazard") and off["status"] != status:
                problems.append(f"without the proof: {off['status']}")
            with open(path, encoding="utf-8") as f:
                text = f.read()
            for how, change in (("renamed", renamed), ("reordered", reordered)):
                with tempfile.NamedTemporaryFile("w", suffix=".ttgir", delete=False) as t:
                    t.write(change(text))
                try:
                    if essence(verdict(a.program, t.name)) != essence(v):
                        problems.append(f"{how}: another verdict")
                finally:
                    os.unlink(t.name)
        except (RuntimeError, OSError, ValueError, KeyError) as e:
            problems.append(str(e))
        for p in problems:
            print(f"{name}: {p}")
        bad += bool(problems)
    for p in [] if a.only else levels(a.program) + options(a.program) + says(a.program):
        print(p)
        bad += 1
    print(f"{total - bad} of {total} TTGIR texts as expected")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
