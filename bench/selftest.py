#!/usr/bin/env python3
"""The scripts themselves: a counter that rises is a failure, a table has every row, targets are judged as stated."""
import copy
import os
import sys
import types

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import baseline                                                   # noqa: E402
import common                                                     # noqa: E402
import compare                                                    # noqa: E402
import corpus                                                     # noqa: E402
import suite                                                      # noqa: E402

FAILED = []


def expect(what, holds):
    if not holds:
        FAILED.append(what)
        print("FAIL", what)


def counters():
    old = {"isl": "1", "z3": "1", "queries": {"q": {"by": "closure", "closure": 10, "isl": 100, "z3": 500}}, "kernels": {"k": {"queries": 6, "isl_ops": 0}}}
    same = baseline.compare(old, copy.deepcopy(old))
    expect("equal counters are no failure", same == ([], [], set()))
    for group, name, counter, value in (("queries", "q", "closure", 21), ("queries", "q", "isl", 129), ("kernels", "k", "isl_ops", 9), ("kernels", "k", "queries", 16)):
        new = copy.deepcopy(old)
        new[group][name][counter] = value
        expect(f"{counter} = {value} is a failure", len(baseline.compare(old, new)[0]) == 1)
        new[group][name][counter] = int(baseline.allowed(old[group][name][counter]))
        expect(f"{counter} within the allowance is none", not baseline.compare(old, new)[0])
    new = copy.deepcopy(old)
    new["queries"]["q"]["by"] = "isl"
    expect("a dearer tier is a failure", len(baseline.compare(old, new)[0]) == 1)
    new["queries"]["q"]["by"] = "pretest"
    expect("a cheaper one is none", not baseline.compare(old, new)[0])
    new = copy.deepcopy(old)
    new["isl"], new["queries"]["q"]["isl"], new["kernels"]["k"]["isl_ops"] = "2", 900, 900
    expect("operations of another isl are not compared", not baseline.compare(old, new)[0])
    new["queries"]["q"]["z3"] = 5000
    expect("those of an equal Z3 are", len(baseline.compare(old, new)[0]) == 1)
    expect("what is gone is named", baseline.compare(old, {**old, "kernels": {}})[2] == {"k"})


def answers():
    row = {"name": "q", "form": "concrete", "version": "safe", "by": "closure", "auto": {"answer": "empty", "us": 2.0},
           "tiers": {"closure": {"answer": "empty", "us": 2.0}, "isl": {"answer": "empty", "us": 8.0}}, "z3": {"answer": "empty", "us": 300.0}}
    expect("agreement is no problem", not suite.problems([row]))
    expect("ratios", suite.ratio(row, "isl") == 4 and suite.ratio(row, "z3") == 150)
    wrong = copy.deepcopy(row)
    wrong["tiers"]["isl"]["answer"] = "witness"
    expect("disagreement is one", len(suite.problems([wrong])) == 1)
    late = dict(row, by="z3")
    expect("a safe query that needs Z3 is one", len(suite.problems([late])) == 1)
    silent = copy.deepcopy(row)
    silent["z3"]["answer"] = "unknown"
    expect("no ratio without two answers", suite.ratio(silent, "z3") is None)


def tables():
    found = {"matmul": [(2.0, 4.0, {"queries": 5, "isl_ops": 0, "z3_units": 0}, "ok"), (1.0, 4.0, {"queries": 5, "isl_ops": 7, "z3_units": 0}, "races")],
             "new": [None, (1.0, 2.0, {}, "ok")]}
    text = compare.report(found, ["a", "b"])
    expect("minimum, change and total", "| gemm | 2.000 | 1.000 | -50.0 % |" in text and "| **total** | **2.000** | **1.000** | **-50.0 %** |" in text)
    expect("moved counters and verdicts", "**ok → races**" in text and "isl_ops 0 → 7" in text)
    expect("no verdict", "no verdict" in text)
    lines = text.splitlines()
    expect("as many cells in every line", len({line.count("|") for line in lines}) == 1)
    expect("ten kernels, all shipped", len(compare.KERNELS) == 10 and all(os.path.exists(os.path.join(common.TTIR, k + ".json")) for k in compare.KERNELS))


def targets():
    g = corpus.group("g", {str(i): 0.05 for i in range(200)}, str)
    expect("within the targets", g["missed"] == [])
    slow = {**{str(i): 0.05 for i in range(200)}, "a": 6.0, "b": 6.0, "c": 2000.0}
    g = corpus.group("g", slow, str)
    expect("99 % and the largest", g["missed"] == ["p99_ms", "max_ms"] and g["over_p99_target"][0].startswith("c 2000"))
    expect("no launches", corpus.group("g", {}, str)["count"] == 0)


def pictures():
    import plots
    hidden = {k: sys.modules.pop(k) for k in list(sys.modules) if k.startswith("matplotlib")}
    sys.modules["matplotlib"] = None
    expect("without matplotlib a hint and status 2", plots.main(types.SimpleNamespace(files=[], folder=".", format="svg")) == 2)
    del sys.modules["matplotlib"]
    sys.modules.update(hidden)


def main():
    for part in (counters, answers, tables, targets, pictures):
        part()
    print(f"{len(FAILED)} failures")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
