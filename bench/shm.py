"""How the proof about shared memory grows: stages, reading partitions, rings.

The kernels are rings as tests/shm/gen.py writes them, right by the way they are made: one partition loads by TMA, others wait, read and
release. Figures: isl operations and pairs, which do not depend on the machine; decision time as a ratio to the smallest point
of its property in the same run. Two kernels have a target of their own."""
import json
import os
import random
import sys
import tempfile

import common

SHM = os.path.join(common.ROOT, "tests", "shm")
sys.path.insert(0, SHM)
import gen  # noqa: E402

TARGETS = [  # text, seconds of processor time, may be refused for its budget
    ("ttgir/ring_wgmma.ok", 0.3, False, "3-stage ring, two partitions"),
    ("stock/attention_ws.sm100.s3", 5.0, True, "attention, four partitions"),
]


def rings(stages, readers, n):
    """n rings of that many stages, each loaded by partition 0 and read by all others."""
    made = [gen.Ring(f"r{i}", stages, 1, readers) for i in range(n)]
    load = [op for i in range(n) for op in (["wait", i, "empty", 0, 1], ["expect", i, 0, gen.TILE], ["load", i, 0])]
    read = [op for i in range(n) for op in (["wait", i, "full", 0, 0], ["read", i, 0], ["arrive", i, "empty", 0, 1])]
    return made, [load] + [list(read) for _ in range(readers)]


def cases(quick):
    for s in (1, 2, 4, 8) if quick else (1, 2, 3, 4, 5, 6, 8, 12, 16):
        yield "stages", s, rings(s, 1, 1)
    for p in (1, 2, 3) if quick else (1, 2, 3, 4, 6, 8):
        yield "reading partitions", p, rings(3, p, 1)
    for n in (1, 2) if quick else (1, 2, 3, 4, 6):
        yield "rings", n, rings(3, 1, n)


def document(text):
    """The verdict in what a process printed."""
    lines = [line for line in (text or "").splitlines() if line.startswith("{")]
    return json.loads(lines[0]) if lines else None


def main(o):
    result = {"machine": common.machine(), "versions": common.versions(o.polyrace), "shm": [], "targets": []}
    rows, first, failed = [], {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for i, (what, value, protocol) in enumerate(cases(o.quick)):
            if o.only and what not in o.only.split(","):
                continue
            path = os.path.join(folder, f"{i}.ttgir")
            with open(path, "w", encoding="utf-8") as f:
                f.write(gen.text(*protocol, random.Random(1)))
            done = [common.process([o.polyrace, "check", "--format=jsonl", "--stats", path], 300) for _ in range(o.repeat)]
            spent, v = min(used for used, _ in done), document(done[0][1])
            if not v or v["status"] != "ok":           # right by the way they are made
                print(f"FAIL {what} {value}: {v['status'] if v else 'no verdict'}")
                failed += 1
                continue
            ms = spent * 1e3
            first.setdefault(what, ms)
            row = {"property": what, "value": value, "partitions": len(protocol[1]), "barriers": 2 * sum(r.slots for r in protocol[0]),
                   "ms": round(ms, 2), "ratio": round(ms / max(first[what], 1e-3), 2), "isl_ops": v["stats"]["isl_ops"], "pairs": v["engines"]["isl"]}
            result["shm"].append(row)
            rows.append([what, value, row["partitions"], row["barriers"], row["pairs"], row["isl_ops"], f"{ms:.1f}", row["ratio"]])
    print(common.table(["property", "value", "partitions", "mbarriers", "pairs", "isl operations", "process, ms", "over the first"], rows))
    for name, limit, may_refuse, what in TARGETS if not o.only else []:
        used, text = common.process([o.polyrace, "check", "--format=jsonl", "--stats", os.path.join(SHM, name + ".ttgir")], 120)
        v = document(text)
        refused = [r["kind"] for r in v["refusals"]] if v else []
        good = bool(v) and (v["status"] == "ok" and used <= limit or may_refuse and "budget" in refused)
        result["targets"].append({"name": name, "what": what, "seconds": round(used, 3), "limit": limit, "status": v and v["status"],
                                  "isl_ops": v["stats"]["isl_ops"] if v else None, "met": good})
        print(f"{'ok  ' if good else 'MISS'} {what} ({name}): {used:.2f} s of {limit} s, {v['status'] if v else 'no verdict'} {' '.join(refused)}")
    if o.output:
        common.write_json(o.output, result)
    return 1 if failed else 0
