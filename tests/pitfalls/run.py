#!/usr/bin/env python3
"""Check every pitfall case: run.py [path of polyrace] [--suite=DIR] [--only=NAME] [--json | --cross [--share=K/N]]. The
expectations are in kernels.py.

--json decides once and prints verdicts and complaints for index.py of tests/matrix. --cross decides a second time with
--cross-check, where every engine is asked, and compares the two; K/N takes every Nth case, from the Kth."""
import json
import os
import re
import subprocess
import sys

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
from cases import CASES, HERE, label_line                               # noqa: E402
import kernels                                                    # noqa: E402,F401
from verdicts import RUNG, check, program, sites                  # noqa: E402


def show(v):
    out = [v["status"], v.get("rung") or ""]
    out += [f"{t}:{a[1]}:{b[1]}/{g}" for t, a, b, g in map(sites, v["races"])]
    out += [f"{r['kind']}:{(r.get('loc') or {}).get('line', 0)} ({r.get('message')})" for r in v["refusals"]]
    return " ".join(x for x in out if x)


def has_z3(binary):
    """A build without Z3 leaves the cases open that name it (by=z3)."""
    return "not built in" not in subprocess.run([binary, "version"], capture_output=True, text=True).stdout


def judge(case, v, z3=True):
    """Texts that say what is wrong with the verdict."""
    words = case.expect.split()
    if not z3 and "by=z3" in words and v["status"] == "unsupported" and {r["kind"] for r in v["refusals"]} <= {"budget", "needs-smt", "unknown"}:
        return []
    wrong, status = [], v["status"]
    options = [w.split("=", 1) for w in words if "=" in w]
    plain = [w for w in words if "=" not in w]
    kinds = {r["kind"] for r in v["refusals"]}
    alternatives = {x for k, x in options if k == "alt"}
    if status == "unsupported" and kinds and kinds <= alternatives:
        return []
    if status not in plain[0].split("|"):
        return [f"status {status}"]
    for k, x in options:
        if k == "never" and status == x:
            wrong.append(f"status {status}")
    want_races, flags = [], []
    for w in plain[1:]:
        if re.search(r":.*:.*/", w):
            want_races.append(w.split("|"))
        elif w in RUNG:
            least = "T1-launch" if not z3 and "by=z3" in words else w    # the launch may be decided by executing it
            if RUNG[v["rung"]] < min(RUNG[w], RUNG[least]):
                wrong.append(f"rung {v['rung']}")
        else:
            flags.append(w)
    if want_races:
        have = {(t, a[1], b[1], g) for t, a, b, g in map(sites, v["races"])}
        for r in v["races"]:
            if not r["confirmed"]:
                wrong.append("not confirmed: " + str(r.get("confirmation")))
        allowed = set()
        for group in want_races:
            hit = False
            for w in group:
                t, a, b, g = re.fullmatch(r"(\S+?):(\w+):(\w+)/(\w+)", w).groups()
                lines = [label_line(case.fn.__name__ if hasattr(case.fn, "__name__") else None, x) for x in (a, b)]
                match = {h for h in have if t in ("*", h[0]) and [h[1], h[2]] == lines and h[3] == g}
                hit = hit or bool(match)
                allowed |= match
            if not hit:
                wrong.append("missing " + "|".join(group))
        for t, a, b, g in sorted(have - allowed):
            wrong.append(f"unexpected {t}:{a}:{b}/{g}")
    for flag in flags:
        if flag == "withheld":
            if not v["withheld"]:
                wrong.append("nothing withheld")
        elif flag == "fragile":
            if not v["grid_fragile"]:
                wrong.append("no grid_fragile entry")
        elif flag == "oob":
            if not v["out_of_bounds"]:
                wrong.append("out_of_bounds is empty")
        elif status == "unsupported":
            if not kinds & set(flag.split("|")):
                wrong.append(f"refusals {sorted(kinds)}")
        else:
            raise ValueError(f"{case.name}: {flag}")
    quals = " / ".join(v["qualifiers"])
    for k, x in options:
        if k == "qual" and x not in quals:
            wrong.append(f"no qualifier {x}: {quals}")
        if k == "idempotent" and v["attributes"]["idempotent"] != x:
            wrong.append(f"idempotent: {v['attributes']['idempotent']}")
        if k == "deterministic" and str(v["attributes"]["deterministic"]).lower() != x:
            wrong.append(f"deterministic: {v['attributes']['deterministic']}")
        if k == "why" and not any(x in r["reason"].replace(" ", "_") for r in v["races"]):
            wrong.append(f"no race says {x}")
        if k == "whynot" and any(x in r["reason"].replace(" ", "_") for r in v["races"]):
            wrong.append(f"a race says {x}")
        if k == "noqual" and x in quals:
            wrong.append(f"qualifier {quals}")
        if k == "axes" and ",".join(str(v["grid_axes"][a]) for a in "xyz") != x:
            wrong.append(f"grid_axes {v['grid_axes']}")
    return wrong


def cross(binary, cases):
    """The engines agree, and asking all of them changes no status, rung, race or qualifier."""
    def told(v):
        return [v["status"], v["rung"], sorted(f"{t}:{a}:{b}/{g}" for t, a, b, g in map(sites, v["races"])), v["qualifiers"]]

    failed, groups = 0, {}
    for c in cases:
        groups.setdefault(tuple(c.options), []).append(os.path.join(HERE, "ttir", c.name + ".json"))
    for options, names in groups.items():
        strict = [] if any(o.startswith("--atomic-order") for o in options) else ["--atomic-order=strict"]
        one, problems = check(binary, names, [*strict, *options])
        all_of, more = check(binary, names, [*strict, *options, "--cross-check"])
        for p in problems + more:
            failed += 1
            print("FAIL", p)
        for n in names:
            if n in one and n in all_of and told(one[n]) != told(all_of[n]):
                failed += 1
                print(f"FAIL {n}: {show(one[n])}\n     --cross-check: {show(all_of[n])}")
    print(f"{len(cases)} cases cross-checked, {failed} failures")
    return 1 if failed else 0


def main():
    binary = program()
    z3 = has_z3(binary)
    only = [a[7:] for a in sys.argv if a.startswith("--only=")]
    cases = [c for c in CASES if not only or c.name in only]
    for c in cases:                       # stand-ins have no name: the function of the text is the kernel's
        if not hasattr(c.fn, "__name__"):
            raise SystemExit("kernels.py needs plain functions")
    if "--cross" in sys.argv:
        k, n = next((map(int, a[8:].split("/")) for a in sys.argv if a.startswith("--share=")), (0, 1))
        return cross(binary, cases[k::n])
    groups = {}
    for c in cases:
        groups.setdefault(tuple(c.options), []).append(c)
    failed, answers = 0, {}
    for options, group in groups.items():
        names = {c.name: os.path.join(HERE, "ttir", c.name + ".json") for c in group}
        strict = [] if any(o.startswith("--atomic-order") for o in options) else ["--atomic-order=strict"]
        verdicts, problems = check(binary, list(names.values()), [*strict, *options])
        again = verdicts if "--json" in sys.argv else check(binary, list(names.values()), [*strict, *options])[0]
        for p in problems:
            failed += 1
            print("FAIL", p)
        for c in group:
            v = verdicts.get(names[c.name])
            if v is None:
                continue
            wrong = judge(c, v, z3)
            if "--json" in sys.argv:
                answers[c.name] = {"verdict": v, "wrong": wrong, "shown": show(v)}
                continue
            if show(v) != show(again[names[c.name]]):             # p101: the same answer every time
                wrong.append("another run answers " + show(again[names[c.name]]))
            if wrong:
                failed += 1
                print(f"FAIL {c.name}: {'; '.join(wrong)}\n     expected {c.expect}\n     got      {show(v)}")
    if "--json" in sys.argv:
        print(json.dumps(answers))
        return 1 if failed else 0
    print(f"{len(cases)} cases, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
