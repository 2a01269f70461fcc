"""Queries one by one: the kernels of decision-engine.md 3.4 and the pair queries of the corpus under every tier.

Every figure is a ratio of times taken in one run: `auto` against isl alone and against Z3 in its best configuration.
"""
import json
import os
import statistics
import subprocess

import common

# Closure, microseconds, concrete and symbolic: the table of decision-engine.md 3.4 (f: the window test; h: its self pair).
CLOSURE_US = {"a vector add": (0.8, 1.1), "b tile": (4.7, 5.5), "c softmax": (1.9, 2.2), "d swizzle": (6.9, 7.1), "e attention": (7.7, 9.6),
              "g split-k": (6.8, 8.2), "h pointer loop": (1.7, 1.9), "i nchw-nhwc": (3.8, 4.4), "k stride": (1.2, 1.2), "l grid stride": (1.6, 1.8)}


def run(tool, options, text=None):
    done = subprocess.run([tool, *options], input=text, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{tool}: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def corpus_queries(binary, paths, rungs=("t1",)):
    """The pair queries of these launches as text with names."""
    text = []
    for path in paths:
        name = os.path.basename(path)[:-5]
        for rung in rungs:
            done = subprocess.run([binary, "dump", "--stage=query", "--rung=" + rung, path], capture_output=True, text=True)
            if done.returncode:
                continue
            for line in done.stdout.splitlines():
                text.append(f"# name: {name} {line[2:]}" if line.startswith("# pair") else line)
    return "\n".join(text) + "\n"


def ratio(row, other):
    """How many times longer `other` takes than auto, when both decide; None otherwise."""
    b = row["z3"] if other == "z3" else row["tiers"]["isl"]
    if row["auto"]["answer"] == "unknown" or b["answer"] == "unknown" or not b["us"]:
        return None
    return b["us"] / row["auto"]["us"]


def ratios(rows):
    out = {}
    for other in ("isl", "z3"):
        if other == "z3" and (not rows or "z3" not in rows[0]):
            continue
        for kind in ("empty", "witness", None):
            values = [ratio(r, other) for r in rows if kind is None or r["auto"]["answer"] == kind]
            values = [v for v in values if v]
            out[f"{other} over auto, " + ({"empty": "safe", "witness": "racing"}.get(kind) or "all")] = {
                "queries": len(values), "median": round(statistics.median(values), 1) if values else None,
                "least": round(min(values), 2) if values else None}
    return out


def problems(rows):
    """What the suite must show whatever the machine: answers agree, safe queries without isl or Z3."""
    found = []
    for r in rows:
        who = f"{r['name']}, {r['form']}, {r['version']}"
        answers = {t: x["answer"] for t, x in r["tiers"].items() if x["answer"] != "unknown"}
        if "z3" in r and r["z3"]["answer"] != "unknown":
            answers["z3 in its best configuration"] = r["z3"]["answer"]
        if len(set(answers.values())) > 1:
            found.append(f"{who}: tiers disagree: {answers}")
        want = {"safe": "empty", "race": "witness"}.get(r["version"])
        if want and r["auto"]["answer"] != want:
            found.append(f"{who}: auto says {r['auto']['answer']}")
        if r["version"] == "safe" and r["by"] not in ("pretest", "closure"):
            found.append(f"{who}: settled by {r['by']}, not by the arithmetic tests or the closure")
    return found


def us(x):
    return "–" if x["answer"] == "unknown" else f"{x['us']:.2f}" if x["us"] < 100 else f"{x['us']:.0f}"


def rows_table(rows):
    body = []
    for r in rows:
        z = r.get("z3", {"answer": "unknown", "us": 0})
        cells = [r["name"], r["form"], r["version"], r["by"], us(r["auto"]), us(r["tiers"]["closure"]), us(r["tiers"]["sweep"]), us(r["tiers"]["isl"]), us(z)]
        cells += [f"{v:.0f}×" if v else "–" for v in (ratio(r, "isl"), ratio(r, "z3") if "z3" in r else None)]
        body.append(cells)
    return common.table(["query", "form", "", "by", "auto", "closure", "sweep", "isl", "Z3 best", "isl/auto", "Z3/auto"], body, left=4)


def closure_against_table(rows):
    """Time of the closure over that of the specification's table, on queries that both prove."""
    out = {}
    for r in rows:
        want = CLOSURE_US.get(r["name"])
        c = r["tiers"]["closure"]
        if want and r["version"] == "safe" and c["answer"] == "empty":
            out[f"{r['name']}, {r['form']}"] = round(c["us"] / want[r["form"] == "symbolic"], 2)
    return out


def main(o):
    base = [f"--repeat={o.repeat}"] + ([] if o.z3 else ["--no-z3"])
    rows = run(o.queries, ["--suite", *base])
    print("Microseconds of processor time, least of", o.repeat, "batches.\n")
    print(rows_table(rows), "\n")
    result = {"machine": common.machine(), "versions": common.versions(o.polyrace), "suite": rows, "suite_ratios": ratios(rows),
              "closure_over_table": closure_against_table(rows)}
    if o.corpus:
        paths = common.launches()[::o.every]
        found = run(o.queries, ["--read", f"--repeat={min(o.repeat, 3)}"] + base[1:], corpus_queries(o.polyrace, paths))
        result["corpus_queries"] = found
        result["corpus_ratios"] = ratios(found)
    for name in ("suite_ratios", "corpus_ratios"):
        if name in result:
            print(common.table([name.replace("_", " "), "queries", "median", "least"],
                               [[k, v["queries"], v["median"], v["least"]] for k, v in result[name].items()]), "\n")
    slow = {k: v for k, v in result["closure_over_table"].items() if v > 2}
    print("closure over the specification's table, largest:", max(result["closure_over_table"].values()), "; over 2:", slow or "none")
    if o.output:
        common.write_json(o.output, result)
    bad = problems(rows)
    for p in bad:
        print("FAIL", p)
    return 1 if bad else 0
