#!/usr/bin/env python3
"""Decides collected launches and writes the report of each corpus.

usage: report.py [--out DIR] [--keep 5] [--jobs N] CORPUS.jsonl...

Counted are launches whose texts differ without locations, at most `--keep` of a kernel; a kernel is a function of a
source file of a package. Writes DIR/report.md, DIR/report.json and DIR/selected/PACKAGE.jsonl (what was decided).
"""
import argparse
import collections
import json
import os
import re
import statistics
import sys

import polyrace
from polyrace.scan_summary import refusal_kinds, status_of

_FILE = re.compile(r'loc\("([^"]+)":\d+:\d+\)')


def source_of(doc):
    """The source file of the kernel, below its package."""
    for text in [doc.get("ttir_text", "")] + [c.get("ttir_text", "") for c in doc.get("configs", [])]:
        match = _FILE.search(text)
        if match:
            return match.group(1).split("site-packages/")[-1]
    return "?"


def select(paths, keep):
    """(package, kernel) -> at most `keep` distinct launches, in the order of collection."""
    chosen = collections.OrderedDict()
    seen = set()
    total = 0
    for path in paths:
        package = os.path.splitext(os.path.basename(path))[0]
        with open(path) as f:
            for line in f:
                doc = json.loads(line)
                total += 1
                if doc["corpus"]["key"] in seen:
                    continue
                seen.add(doc["corpus"]["key"])
                group = chosen.setdefault((package, source_of(doc) + ":" + doc["kernel"]), [])
                if len(group) < keep:
                    group.append(doc)
    return chosen, total


def ms(us):
    return "%.2f ms" % (us / 1000.0) if us < 1e6 else "%.2f s" % (us / 1e6)


def describe(rows):
    """Counts of some results."""
    status = collections.Counter(status_of(r) for r in rows)
    rung = collections.Counter(r["verdict"]["rung"] for r in rows if r.get("verdict") and r["verdict"]["rung"])
    kinds = collections.Counter(k for r in rows if status_of(r) in ("unsupported", "error") for k in refusal_kinds(r))
    stats = [sum(r["verdict"]["stats"].get(k, 0) for k in ("parse_us", "lower_us", "decide_us")) for r in rows if r.get("verdict")]
    read = sum(1 for r in rows if r.get("verdict") and "unparsable" not in refusal_kinds(r))
    return {
        "launches": len(rows), "read": read, "status": dict(status), "rung": dict(rung), "refusals": dict(kinds.most_common()),
        "analysis_us": {
            "median": int(statistics.median(stats)) if stats else 0,
            "p95": sorted(stats)[int(len(stats) * 0.95)] if stats else 0,
            "total": sum(stats),
        },
        "decided": status["ok"] + status["races"],
        "any_grid": rung["T0"] + rung["T1"],
    }


def percent(n, total):
    return "%d (%.1f %%)" % (n, 100.0 * n / total) if total else "0"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("files", nargs="+")
    p.add_argument("--out", default="corpora")
    p.add_argument("--keep", type=int, default=5)
    p.add_argument("--jobs", type=int, default=2)
    args = p.parse_args()
    selected = os.path.join(args.out, "selected")
    os.makedirs(selected, exist_ok=True)
    chosen, collected = select(args.files, args.keep)
    by_package = collections.OrderedDict()
    for (package, _), docs in chosen.items():
        by_package.setdefault(package, []).extend(docs)
    for package, docs in by_package.items():
        with open(os.path.join(selected, package + ".jsonl"), "w") as f:
            f.writelines(json.dumps(d) + "\n" for d in docs)
    paths = [os.path.join(selected, package + ".jsonl") for package in by_package]
    found = polyrace.scan(paths, jobs=args.jobs, results=os.path.join(args.out, "results.jsonl"), restart=True)
    rows = {package: [] for package in by_package}
    for r in found.results:
        rows[os.path.splitext(os.path.basename(r["unit"].split("[")[0]))[0]].append(r)
    everything = describe(found.results)
    report = {package: describe(rs) for package, rs in rows.items()}
    for package in report:
        report[package]["kernels"] = len({k for k in chosen if k[0] == package})
        report[package]["slowest"] = [[r["unit"].rsplit("/", 1)[-1], r["verdict"]["kernel"], sum(r["verdict"]["stats"].get(k, 0) for k in ("parse_us", "lower_us", "decide_us"))]
                                      for r in sorted((r for r in rows[package] if r.get("verdict")), key=lambda r: -r["us"])[:10]]  # fmt: skip
    everything["kernels"], everything["collected"] = len(chosen), collected
    with open(os.path.join(args.out, "report.json"), "w") as f:
        json.dump({"all": everything, "packages": report}, f, indent=1)
    with open(os.path.join(args.out, "report.md"), "w") as f:
        write(f, everything, report, found.results)
    write(sys.stdout, everything, report, found.results)


def write(f, everything, report, results):
    f.write("| corpus | launches | kernels | texts read | decided | race free, any grid | race free, this grid | races | analysis: median, 95 %, all |\n|---|---|---|---|---|---|---|---|---|\n")
    for name, d in [*report.items(), ("**all**", everything)]:
        t = d["analysis_us"]
        f.write("| %s | %d | %d | %s | %s | %s | %d | %d | %s, %s, %s |\n" % (
            name, d["launches"], d["kernels"], percent(d["read"], d["launches"]), percent(d["decided"], d["launches"]),
            percent(d["any_grid"], d["launches"]), d["rung"].get("T1-launch", 0), d["status"].get("races", 0), ms(t["median"]), ms(t["p95"]), ms(t["total"])))  # fmt: skip
    f.write("\n| refusal kind (launches) | " + " | ".join(report) + " | all |\n|---|" + "---|" * (len(report) + 1) + "\n")
    for kind in everything["refusals"]:
        f.write("| `%s` | " % kind + " | ".join(str(d["refusals"].get(kind, 0)) for d in report.values()) + " | %d |\n" % everything["refusals"][kind])
    f.write("\nThe ten slowest of each:\n\n")
    for name, d in report.items():
        f.write("- %s: %s\n" % (name, ", ".join("`%s` %s" % (kernel, ms(us)) for _, kernel, us in d["slowest"])))
    groups = collections.Counter()
    for r in results:
        if status_of(r) == "unsupported":
            for x in {(x["kind"], re.sub(r"\d+", "N", x["message"])[:100]) for x in r["verdict"]["refusals"]}:
                groups[x] += 1
    f.write("\n| kind | message | launches |\n|---|---|---|\n")
    for (kind, message), n in groups.most_common():
        f.write("| `%s` | %s | %d |\n" % (kind, message.replace("|", "\\|"), n))


if __name__ == "__main__":
    main()
