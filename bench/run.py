#!/usr/bin/env python3
"""Measurements of one build on the shipped kernels: run.py [POLYRACE] [--output FILE] [--repeat N] [--quick]

One run gives parse throughput, time per stage, isl against Z3 on the same questions, peak memory and process
start, with the machine, the versions and the counters needed to compare it with another run. Deterministic
counters (operations, leaves, queries) are listed beside times: compare those first.
"""
import argparse
import glob
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TTIR = os.path.join(os.path.dirname(HERE), "tests", "kernels", "ttir")


def run(command, repeat=1):
    """Best wall time in seconds, and the last result."""
    best, done = None, None
    for _ in range(repeat):
        began = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True)
        spent = time.perf_counter() - began
        best = spent if best is None else min(best, spent)
    return best, done


def verdicts(binary, inputs, options):
    began = time.perf_counter()
    done = subprocess.run([binary, "check", "--format=jsonl", "--jobs=1", "--stats", *options, *inputs], capture_output=True, text=True)
    spent = time.perf_counter() - began
    out = {}
    for line in done.stdout.splitlines():
        v = json.loads(line)
        out[os.path.basename(v["input"])] = v
    return spent, out


def machine():
    cpu = ""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            cpu = next((x.split(":", 1)[1].strip() for x in f if x.startswith("model name")), "")
    except OSError:
        pass
    load = os.getloadavg() if hasattr(os, "getloadavg") else (0, 0, 0)
    return {"system": platform.platform(), "cpu": cpu, "cores": os.cpu_count(), "load": list(load), "python": platform.python_version()}


def parse(binary, inputs, repeat):
    """Reading alone: the whole corpus through `dump --stage=parse`, process start subtracted."""
    size = operations = 0
    spent = 0.0
    start, _ = run([binary, "version"], repeat * 3)
    for path in inputs:
        seconds, done = run([binary, "dump", "--stage=parse", "--output=/dev/null", path], repeat)
        if done.returncode:
            raise SystemExit(f"{path}: {done.stderr}")
        with open(path, encoding="utf-8") as f:
            text = f.read()
        size += len(text)
        operations += sum(1 for line in text.splitlines() if " = " in line or "tt." in line)
        spent += max(seconds - start, 1e-6)
    return {"files": len(inputs), "bytes": size, "operations": operations, "seconds": round(spent, 4),
            "mb_per_s": round(size / spent / 1e6, 2), "ops_per_s": int(operations / spent),
            "note": "one process a file, printing included, process start subtracted: a lower bound"}


def stages(v):
    total = {}
    for x in v.values():
        for k, n in x["stats"].items():
            if isinstance(n, (int, float)):
                total[k] = total.get(k, 0) + n
    per = sorted(x["stats"].get("decide_us", 0) for x in v.values())
    return {"sum": total, "decide_us_median": statistics.median(per) if per else 0,
            "decide_us_p95": per[int(len(per) * 0.95)] if per else 0, "decide_us_max": per[-1] if per else 0}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("binary", nargs="?", default=os.path.join("build", "src", "cli", "polyrace"))
    ap.add_argument("--output", default="bench.json")
    ap.add_argument("--repeat", type=int, default=3)
    ap.add_argument("--quick", action="store_true", help="every seventh kernel")
    o = ap.parse_args()
    launches = sorted(p for p in glob.glob(os.path.join(TTIR, "*.json")) if not p.endswith(".small.json"))
    if o.quick:
        launches = launches[::7]
    texts = [p[:-5] + ".ttir" for p in launches]
    result = {"machine": machine(), "seed": None, "kernels": len(launches), "repeat": o.repeat,
              "version": subprocess.run([o.binary, "version"], capture_output=True, text=True).stdout.split("\n")[:4]}
    result["parse"] = parse(o.binary, texts, o.repeat)
    isl_s, isl = verdicts(o.binary, launches, ["--engine=isl", "--no-pretest"])
    auto_s, auto = verdicts(o.binary, launches, [])
    z3_s, z3 = verdicts(o.binary, launches, ["--engine=z3", "--t0-timeout=2000", "--t1-timeout=2000"])
    micro = sum(v["stats"].get("parse_us", 0) for v in auto.values())
    result["parse"]["in_process_mb_per_s"] = round(result["parse"]["bytes"] / max(1, micro), 2)
    result["parse"]["in_process_ops_per_s"] = int(result["parse"]["operations"] * 1e6 / max(1, micro))
    result["check"] = {"auto": {"seconds": round(auto_s, 3), **stages(auto)}, "isl": {"seconds": round(isl_s, 3), **stages(isl)},
                       "z3": {"seconds": round(z3_s, 3), **stages(z3)}}
    both = [n for n in isl if n in z3 and isl[n]["status"] == z3[n]["status"] != "unsupported"]
    ratios = [z3[n]["stats"]["decide_us"] / max(1, isl[n]["stats"]["decide_us"]) for n in both if "decide_us" in z3[n]["stats"]]
    result["z3_over_isl"] = {"kernels": len(ratios), "median": round(statistics.median(ratios), 2) if ratios else None,
                             "total": round(sum(z3[n]["stats"]["decide_us"] for n in both) / max(1, sum(isl[n]["stats"]["decide_us"] for n in both)), 2)}
    result["status"] = {s: sum(1 for v in auto.values() if v["status"] == s) for s in ("ok", "races", "unsupported", "vacuous")}
    result["answered_by"] = {k: sum(v["engines"][k] for v in auto.values()) for k in ("pretest", "isl", "enum", "z3")}
    small = [p for p in launches if os.path.basename(p) == "vadd.json"] or launches[:1]
    nothing, _ = run([o.binary, "version"], 20)
    one, _ = run([o.binary, "check", "--format=jsonl", *small], 20)
    without, _ = run([o.binary, "check", "--format=jsonl", "--engine=isl", *small], 20)
    with_z3, _ = run([o.binary, "check", "--format=jsonl", "--engine=z3", *small], 5)
    result["start"] = {"version_ms": round(nothing * 1e3, 2), "check_auto_ms": round(one * 1e3, 2),
                       "check_isl_ms": round(without * 1e3, 2), "check_z3_ms": round(with_z3 * 1e3, 2),
                       "note": "auto and isl agree when Z3 costs nothing before it is needed"}
    result["peak_memory_kib"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    with open(o.output, "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
        f.write("\n")
    print(json.dumps({k: result[k] for k in ("parse", "z3_over_isl", "status", "answered_by", "start", "peak_memory_kib")}, indent=1))
    for name in ("auto", "isl", "z3"):
        print(name, json.dumps(result["check"][name]))
    if result["start"]["check_auto_ms"] > 2 * result["start"]["check_isl_ms"] + 5:
        print("FAIL: the default engine starts slower than isl alone")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
