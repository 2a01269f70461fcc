"""Two revisions on named kernels, alternating: a table for a pull request.

Both are built from clean checkouts in release mode. A round runs every kernel once with either; the least of all
rounds counts, so that a busy machine disturbs both alike. Times are those of the stages inside the program (reading,
lowering, deciding) and the processor time of the whole process.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import common

KERNELS = {"matmul": "gemm", "gemm_tail": "gemm with a tail", "gather_rows": "indirect load", "nested_offsets": "nested loop",
           "block_pointer_matmul": "block-pointer advance", "jensen_shannon": "Jensen-Shannon divergence", "layernorm": "layer norm",
           "swiglu": "SwiGLU", "cross_entropy": "cross entropy", "fused_linear_loss": "fused linear loss"}
COUNTERS = ("queries", "isl_ops", "z3_units")


def build(revision, where):
    """The program of a revision; its sources are checked out into `where`."""
    source, folder = os.path.join(where, "source"), os.path.join(where, "build")
    steps = [["git", "-C", common.ROOT, "worktree", "add", "--detach", "--quiet", source, revision],
             ["meson", "setup", "--buildtype=release", folder, source], ["ninja", "-C", folder, "src/cli/polyrace"]]
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{revision}: {' '.join(step)}\n{(done.stdout + done.stderr)[-2000:]}")
    return os.path.join(folder, "src", "cli", "polyrace")


def run_once(binary, path):
    """(stage milliseconds, process milliseconds, counters, status)."""
    cpu, text = common.process([binary, "check", "--format=jsonl", "--jobs=1", "--stats", path])
    try:
        v = json.loads(text.splitlines()[0])
    except (IndexError, ValueError):
        return None
    s = v["stats"]
    return (sum(s.get(k, 0) for k in ("parse_us", "lower_us", "decide_us")) / 1e3, cpu * 1e3, {k: s.get(k, 0) for k in COUNTERS}, v["status"])


def alternate(binaries, paths, rounds):
    """name -> [base, head], each the least times with counters and status."""
    found = {}
    for r in range(rounds):
        for name, path in paths.items():
            pair = found.setdefault(name, [None, None])
            for side in (0, 1) if r % 2 == 0 else (1, 0):
                got = run_once(binaries[side], path)
                if got is None:
                    continue
                old = pair[side]
                pair[side] = got if old is None else (min(old[0], got[0]), min(old[1], got[1]), got[2], got[3])
    return found


def change(a, b):
    return f"{(b / a - 1) * 100:+.1f} %" if a else "–"


def report(found, labels):
    rows, sums = [], [0.0, 0.0, 0.0, 0.0]
    for name, (a, b) in found.items():
        if a is None or b is None:
            rows.append([KERNELS.get(name, name), "–" if a is None else f"{a[0]:.3f}", "–" if b is None else f"{b[0]:.3f}", "–", "–", "no verdict"])
            continue
        for i, v in enumerate((a[0], b[0], a[1], b[1])):
            sums[i] += v
        moved = [f"{k} {a[2][k]} → {b[2][k]}" for k in COUNTERS if a[2][k] != b[2][k]]
        if a[3] != b[3]:
            moved.insert(0, f"**{a[3]} → {b[3]}**")
        rows.append([KERNELS.get(name, name), f"{a[0]:.3f}", f"{b[0]:.3f}", change(a[0], b[0]), change(a[1], b[1]), ", ".join(moved) or "same"])
    rows.append(["**total**", f"**{sums[0]:.3f}**", f"**{sums[1]:.3f}**", f"**{change(sums[0], sums[1])}**", change(sums[2], sums[3]), ""])
    head = ["kernel", f"{labels[0]}, ms", f"{labels[1]}, ms", "change", "process", "verdict and counters"]
    return common.table(head, rows)


def main(o):
    names = o.kernels.split(",") if o.kernels else list(KERNELS)
    paths = {n: os.path.join(common.TTIR, n + ".json") for n in names}
    for n, p in paths.items():
        if not os.path.exists(p):
            raise SystemExit(f"no kernel {n} in {common.TTIR}")
    where = tempfile.mkdtemp(prefix="polyrace-compare-")
    labels, binaries = [], []
    try:
        for i, revision in enumerate((o.base, o.head)):
            short = subprocess.run(["git", "-C", common.ROOT, "rev-parse", "--short", revision], capture_output=True, text=True)
            if short.returncode:
                raise SystemExit(f"{revision} is no revision of this repository")
            labels.append(f"`{short.stdout.strip()}`")
            print(f"building {revision} …", file=sys.stderr)
            binaries.append(build(revision, os.path.join(where, str(i))))
        print(report(alternate(binaries, paths, o.rounds), labels))
        print(f"\nLeast of {o.rounds} alternating rounds, release builds.")
    finally:
        for i in (0, 1):
            subprocess.run(["git", "-C", common.ROOT, "worktree", "remove", "--force", os.path.join(where, str(i), "source")], capture_output=True)
        shutil.rmtree(where, ignore_errors=True)
    return 0
