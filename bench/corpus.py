"""The shipped kernels end to end: reading, stages, engines against each other, decision time against its targets, processes."""
import json
import os
import re
import statistics
import subprocess
import time

import common

ACCESS = re.compile(r"\btt\.(load|store|atomic_rmw|atomic_cas|descriptor_\w+|gather|scatter)\b")
# Decision (records to verdict), milliseconds; one process for one kernel where Z3 is not needed.
TARGET = {"median_ms": 0.1, "p99_ms": 5.0, "max_ms": 1000.0, "process_median_ms": 5.0, "process_peak_mib": 30.0}


def accesses(launch):
    """Operations on memory in the text of a launch file."""
    with open(launch[:-5] + ".ttir" if os.path.exists(launch[:-5] + ".ttir") else text_of(launch), encoding="utf-8") as f:
        return sum(1 for line in f if ACCESS.search(line))


def text_of(launch):
    with open(launch, encoding="utf-8") as f:
        return os.path.join(os.path.dirname(launch), json.load(f)["ttir"])


def parse(binary, inputs, repeat):
    """Reading alone: every text through `dump --stage=parse`, process start subtracted."""
    size = operations = 0
    spent = 0.0
    start, _ = common.best([binary, "version"], repeat * 3)
    for path in inputs:
        seconds, done = common.best([binary, "dump", "--stage=parse", "--output=/dev/null", path], repeat)
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


def stages(found):
    total = {}
    for x in found.values():
        for k, n in x["stats"].items():
            if isinstance(n, (int, float)):
                total[k] = total.get(k, 0) + n
    times = [x["stats"].get("decide_us", 0) for x in found.values()]
    return {"sum": total, "decide_us_median": statistics.median(times) if times else 0, "decide_us_p95": common.part(times, 0.95) or 0,
            "decide_us_max": max(times, default=0)}


def decision_times(binary, inputs, repeat, chunk=60):
    """Input -> least decision time in ms over `repeat` runs, and its last verdict."""
    least, last = {}, {}
    for first in range(0, len(inputs), chunk):
        some = inputs[first:first + chunk]
        for _ in range(repeat):
            for path, v in common.verdicts(binary, some, limit=300).items():
                ms = v["stats"].get("decide_us", 0) / 1e3
                least[path] = min(ms, least.get(path, ms))
                last[path] = v
    return least, last


def group(name, ms, kernel_of):
    """Decision times of one group against the targets."""
    s = common.spread(list(ms.values()))
    if not s["count"]:
        return {"group": name, "count": 0}
    slow = sorted(((v, kernel_of(p)) for p, v in ms.items() if v > TARGET["p99_ms"]), reverse=True)
    return {"group": name, "count": s["count"], "median_ms": round(s["median"], 3), "p99_ms": round(s["p99"], 3), "max_ms": round(s["max"], 3),
            "over_p99_target": [f"{k} {v:.1f} ms" for v, k in slow[:20]],
            "missed": [k for k in ("median_ms", "p99_ms", "max_ms") if s[k[:-3]] > TARGET[k]]}


def processes(tool, binary, inputs, last, repeat):
    """One process a kernel: processor time and largest size, where Z3 was not needed."""
    cpu, wall, peak = {}, {}, {}
    for path in inputs:
        if path not in last or last[path]["stats"].get("z3_units"):
            continue
        done = subprocess.run([tool, str(repeat), "60", binary, "check", "--format=jsonl", path], capture_output=True, text=True)
        used = json.loads(done.stdout)
        cpu[path], wall[path], peak[path] = used["cpu_ms"], used["wall_ms"], used["peak_kib"] / 1024
    biggest = sorted(((v, os.path.basename(p)[:-5]) for p, v in peak.items()), reverse=True)[:5]
    return {"processes": len(cpu), "cpu_median_ms": round(statistics.median(cpu.values()), 2), "wall_median_ms": round(statistics.median(wall.values()), 2),
            "wall_p99_ms": round(common.part(list(wall.values()), 0.99), 2), "peak_mib": round(max(peak.values()), 1),
            "largest": [f"{n} {v:.1f} MiB" for v, n in biggest],
            "missed": [k for k, bad in (("process_median_ms", statistics.median(wall.values()) > TARGET["process_median_ms"]),
                                        ("process_peak_mib", max(peak.values()) > TARGET["process_peak_mib"])) if bad]}


def print_groups(groups):
    print(common.table(["group", "launches", "median ms", "p99 ms", "largest ms", "target missed"],
                       [[g["group"], g["count"], g.get("median_ms"), g.get("p99_ms"), g.get("max_ms"), ", ".join(g.get("missed", [])) or "–"] for g in groups]))
    for g in groups:
        if g.get("over_p99_target"):
            print(f"  {g['group']}, over {TARGET['p99_ms']:g} ms: {', '.join(g['over_p99_target'])}")


def main(o):
    paths = common.launches()[::7 if o.quick else 1]
    texts = [p[:-5] + ".ttir" for p in paths]
    result = {"machine": common.machine(), "seed": None, "kernels": len(paths), "repeat": o.repeat, "version": common.versions(o.polyrace)}
    result["parse"] = parse(o.polyrace, texts, o.repeat)
    runs = {"auto": [], "isl": ["--engine=isl", "--no-pretest"], "z3": ["--engine=z3", "--t0-timeout=2000", "--t1-timeout=2000"]}
    found, result["check"] = {}, {}
    for name, options in runs.items():
        began = time.perf_counter()
        found[name] = common.verdicts(o.polyrace, paths, options)
        result["check"][name] = {"seconds": round(time.perf_counter() - began, 3), **stages(found[name])}
    auto, isl, z3 = found["auto"], found["isl"], found["z3"]
    micro = sum(v["stats"].get("parse_us", 0) for v in auto.values())
    result["parse"]["in_process_mb_per_s"] = round(result["parse"]["bytes"] / max(1, micro), 2)
    result["parse"]["in_process_ops_per_s"] = int(result["parse"]["operations"] * 1e6 / max(1, micro))
    for name, other in (("isl_over_auto", isl), ("z3_over_auto", z3)):
        both = [n for n in auto if n in other and auto[n]["status"] == other[n]["status"] != "unsupported"]
        values = [other[n]["stats"]["decide_us"] / max(1, auto[n]["stats"]["decide_us"]) for n in both]
        result[name] = {"kernels": len(values), "median": round(statistics.median(values), 2) if values else None,
                        "total": round(sum(other[n]["stats"]["decide_us"] for n in both) / max(1, sum(auto[n]["stats"]["decide_us"] for n in both)), 2)}
    result["status"] = {s: sum(1 for v in auto.values() if v["status"] == s) for s in ("ok", "races", "unsupported", "vacuous")}
    result["answered_by"] = {k: sum(v["engines"][k] for v in auto.values()) for k in ("pretest", "isl", "enum", "z3")}
    result["in_bounds_assumed"] = sorted(v["kernel"] for v in auto.values() if any("in-bounds" in q for q in v["qualifiers"]))
    least, last = decision_times(o.polyrace, paths, o.repeat)
    many = {p: ms for p, ms in least.items() if accesses(p) >= 5}
    name_of = lambda p: os.path.basename(p)[:-5]                                      # noqa: E731
    result["decision"] = [group("shipped kernels", least, name_of), group("of these, 5 accesses or more", many, name_of)]
    result["decision_ms"] = {name_of(p): round(v, 4) for p, v in sorted(least.items())}
    result["process"] = processes(o.process, o.polyrace, paths, last, o.repeat)
    small = [p for p in paths if os.path.basename(p) == "vadd.json"] or paths[:1]
    result["start"] = {}
    for name, options in (("version_ms", None), ("check_auto_ms", []), ("check_isl_ms", ["--engine=isl"]), ("check_z3_ms", ["--engine=z3"])):
        command = [o.polyrace, "version"] if options is None else [o.polyrace, "check", "--format=jsonl", *options, *small]
        result["start"][name] = round(common.best(command, 20)[0] * 1e3, 2)
    result["start"]["note"] = "auto and isl agree when Z3 costs nothing before it is needed"
    common.write_json(o.output or "bench.json", result)
    print_groups(result["decision"])
    for k in ("process", "isl_over_auto", "z3_over_auto", "status", "answered_by", "start", "parse"):
        print(k, result[k])
    for name in runs:
        print(name, result["check"][name])
    if result["start"]["check_auto_ms"] > 2 * result["start"]["check_isl_ms"] + 5:
        print("FAIL: the default engine starts slower than isl alone")
        return 1
    return 0
