#!/usr/bin/env python3
"""Every row of the test matrix, every pitfall, every labelled kernel and every report has its kernels, and they are decided
rightly: index.py [path of polyrace] [--stats].

The rows are in matrix.toml, pitfalls.toml, labelled.toml and reports.toml; a kernel is named SUITE/CASE. A row fails when it lacks
a side, names a kernel that does not exist, or when a kernel's verdict is not the side's: race: `races`, each confirmed; safe: `ok` at
least at the row's rung; refused: `unsupported`; vacuous. Each kernel's own expectation (lines, agents, qualifiers) holds as well.
refused.toml lists right expectations that are refused so far, with the reason; they must not be answered wrongly, and one that is
decided is named. Prints which
kernels needed Z3 (all of them with --stats) and what deciding them cost."""
import concurrent.futures
import fnmatch
import json
import os
import re
import resource
import subprocess
import sys
import time

try:
    import tomllib
except ImportError:
    print("SKIP: tomllib needs Python 3.11")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [TESTS, os.path.join(TESTS, "kernels")]
import registry                                                   # noqa: E402
from verdicts import RUNG, check, program                         # noqa: E402

ROWS_OF_THE_MATRIX = 88
PITFALLS = 127
LABELLED_ROWS = 58                # of 26 kernels and a smoke test, each label one row
BARE = ["trb012", "trb014", "trb016", "trb017", "trb018", "trb021", "trb022", "trb023", "trb025", "trb026"]
WITHOUT_CONTENTS = ["csr_rows", "kv_slots", "scatter_rows", "trb006", "trb010_scatter"]
# The reports whose pattern shows in TTIR (B022 and B023: races between threads that the order rules find at this level, too).
REPORTS = """B001 B002 B004 B005 B007 B008 B010 B011 B013 B014 B016 B017 B019 B020 B022 B023 B028 B029 B031 B032 B034 B035 B038 B040
B041 B043 B058 B067 B076 B079 B080 B082 B083 B085 B086 B088 B089 B097""".split()
MOST_INEXPRESSIBLE = 5
CPU_SECONDS = 60                  # 30 seconds on two cores
SUITES = ("pitfalls", "sync", "tables", "loops", "matrix", "labelled", "reports")
SIDES = ("race", "safe", "refused", "vacuous")
STATUS = {"race": "races", "safe": "ok", "refused": "unsupported", "vacuous": "vacuous"}


class Log:
    def __init__(self):
        self.failures = 0
        self.last = []

    def fail(self, name, text):
        self.failures += 1
        self.last.append(f"{name}: {text}")
        print(f"FAIL {name}: {text}")


def table(name):
    with open(os.path.join(HERE, name + ".toml"), "rb") as f:
        return tomllib.load(f)


def answers_of(suite, binary):
    """SUITE/CASE -> {verdict, wrong, shown}."""
    run = os.path.join(TESTS, "pitfalls", "run.py")
    done = subprocess.run([sys.executable, run, binary, "--suite=" + os.path.join(TESTS, suite), "--json"], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    if not lines or not lines[-1].startswith("{"):
        raise SystemExit(f"{suite}: {done.stdout[-400:]}{done.stderr[-400:]}")
    return {f"{suite}/{k}": v for k, v in json.loads(lines[-1]).items()}


def corpus_answers(names, binary):
    """The same of kernels of tests/kernels, at their realistic launch, and of the hand-written texts."""
    sys.argv[1:] = [binary]
    import run
    sys.path.insert(0, os.path.join(TESTS, "pitfalls"))
    import hand
    expect, out = registry.read_expectations(), {}
    paths = {n: os.path.join(TESTS, "kernels", "ttir", n.split("/")[1] + ".json") for n in names if n.startswith("kernels/")}
    verdicts, problems = check(binary, list(paths.values()), ["--atomic-order=strict"])
    for n, path in paths.items():
        if path in verdicts and n.split("/")[1] in expect:
            log, keep = Log(), sys.stdout
            sys.stdout = open(os.devnull, "w", encoding="utf-8")
            try:
                run.compare(log, expect[n.split("/")[1]], verdicts[path], False)
            finally:
                sys.stdout.close()
                sys.stdout = keep
            out[n] = {"verdict": verdicts[path], "wrong": log.last, "shown": run.shown(n.split("/")[1], verdicts[path])}
    for n in names:
        path = os.path.join(TESTS, "pitfalls", "hand", n.split("/")[1] + ".ttir")
        if not n.startswith("hand/") or not os.path.exists(path):
            continue
        words, launch = hand.read(path)
        done = subprocess.run([binary, "check", "--format=jsonl", "--input-format=json", "-"], input=json.dumps(launch), capture_output=True, text=True)
        if done.returncode in (0, 1, 2):
            v = json.loads(done.stdout.splitlines()[0])
            out[n] = {"verdict": v, "wrong": hand.judge(words, v), "shown": v["status"]}
    return out, problems


def expand(names, known):
    out = []
    for n in names:
        out += sorted(fnmatch.filter(known, n)) if "*" in n else [n]
    return out


def rows():
    """(title, row, what is asked for) of every row."""
    for name, row in table("matrix").items():
        yield name, row, () if "only" in row else ("race", "safe")
    for name, row in table("pitfalls").items():
        need = []
        if "note" not in row:
            need += [("race", "refused", "vacuous")] if "FP" in row["kind"] else []
            need += ["safe"] if row["kind"] in ("FR", "FU") else []
        yield name, row, need
    labelled = table("labelled")
    for name, row in labelled["rows"].items():
        yield name, row, [("race", "safe")]
    for part in ("bare", "contents", "further"):
        for name, row in labelled[part].items():
            yield f"{name} ({part})", row, () if "only" in row else ("race", "safe")
    for name, row in table("reports").items():
        yield name, row, () if "inexpressible" in row else ["safe"] if "lint" in row else ("race", "safe")


def complete(log):
    """The rows that must be there."""
    def same(what, have, want):
        if sorted(have) != sorted(want):
            log.fail(what, f"missing {sorted(set(want) - set(have))}, unknown {sorted(set(have) - set(want))}")
    same("matrix.toml", table("matrix"), [f"T{i:02}" for i in range(1, ROWS_OF_THE_MATRIX + 1)])
    same("pitfalls.toml", table("pitfalls"), [f"p{i}" for i in range(1, PITFALLS + 1)])
    labelled = table("labelled")
    if len(labelled["rows"]) != LABELLED_ROWS:
        log.fail("labelled.toml", f"{len(labelled['rows'])} rows, {LABELLED_ROWS} are labelled")
    for i in range(1, 27):
        if not any(r.startswith(f"trb{i:03}") for r in labelled["rows"]):
            log.fail("labelled.toml", f"no row of trb{i:03}")
    same("labelled.toml bare", labelled["bare"], BARE)
    same("labelled.toml contents", labelled["contents"], WITHOUT_CONTENTS)
    reports = table("reports")
    same("reports.toml", reports, REPORTS)
    silent = [r for r in reports if "inexpressible" in reports[r]]
    if len(silent) > MOST_INEXPRESSIBLE:
        log.fail("reports.toml", f"{len(silent)} reports without a kernel: {silent}")


def elsewhere(log, title, row):
    for place in row.get("elsewhere", []):
        path, text = place.split(": ", 1)
        full = os.path.join(os.path.dirname(TESTS), path)
        if not os.path.exists(full) or not re.search(re.escape(text), open(full, encoding="utf-8").read(), re.I):
            log.fail(title, f"{place} is not there")


def judge_row(log, title, row, need, answers, refused):
    """Counts of the row's kernels: right, refused."""
    have = {side: expand(row.get(side, []), answers) for side in SIDES}
    for one in need:
        sides = one if isinstance(one, tuple) else (one,)
        if not any(have[s] for s in sides):
            log.fail(title, f"no kernel for {' or '.join(sides)}")
    elsewhere(log, title, row)
    right = left = 0
    for side in SIDES:
        for name in have[side]:
            a = answers.get(name)
            if not a:
                log.fail(title, f"there is no {name}")
                continue
            v = a["verdict"]
            if name in refused:
                left += 1
                continue
            if v["status"] != STATUS[side]:
                log.fail(title, f"{name} stands under {side}: {a['shown'][:300]}")
            elif side == "safe" and RUNG[v["rung"]] < RUNG[row.get("rung", "T1-launch")]:
                log.fail(title, f"{name} is proved at {v['rung']}, the row asks for {row['rung']}")
            elif side == "race" and not all(r["confirmed"] for r in v["races"]):
                log.fail(title, f"{name}: a race is not confirmed")
            else:
                right += 1
    return right, left


def main():
    binary, log, stats = program(), Log(), "--stats" in sys.argv
    complete(log)
    every, refused = list(rows()), table("refused")
    named = {n for _, row, _ in every for side in (*SIDES, "more") for n in row.get(side, [])}
    start, answers = time.monotonic(), {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for part in pool.map(lambda s: answers_of(s, binary), SUITES):
            answers.update(part)
    more, problems = corpus_answers(sorted(named), binary)
    answers.update(more)
    wall = time.monotonic() - start
    cpu = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    for p in problems:
        log.fail("check", p)
    if "not built in" in subprocess.run([binary, "version"], capture_output=True, text=True).stdout:
        print("SKIP: this build has no Z3")
        return 77
    used = set()
    for _, row, _ in every:
        for side in (*SIDES, "more"):
            used |= set(expand(row.get(side, []), answers))
    for name in sorted(used & set(answers)):
        wrong = answers[name]["wrong"]
        status = answers[name]["verdict"]["status"]
        if name in refused:
            if status != "unsupported" and wrong:
                log.fail(name, "wrong: " + "; ".join(wrong))
            elif status != "unsupported":
                print(f"NOTE {name} is decided now: take its line out of refused.toml")
                del refused[name]
        elif wrong:
            log.fail(name, "; ".join(wrong))
    for name in sorted(set(refused) - set(answers)):
        log.fail("refused.toml", f"there is no {name}")
    for name in sorted(n for n in answers if n.split("/")[0] in ("matrix", "labelled", "reports") and n not in used):
        log.fail(name, "belongs to no row")
    for group, test in (("matrix", r"T\d\d"), ("pitfalls", r"p\d+"), ("labelled", r"(trb|smoke).*|.*\)"), ("reports", r"B\d+")):
        chosen = [(t, row, need) for t, row, need in every if re.fullmatch(test, t)]
        counts = [judge_row(log, t, row, need, answers, refused) for t, row, need in chosen]
        waits = [t for (t, _, _), c in zip(chosen, counts) if c[1]]
        print(f"{group}: {len(chosen)} rows, {sum(c[0] for c in counts)} kernels decided as their row says, {sum(c[1] for c in counts)} refused"
              + (f" ({', '.join(waits)})" if waits else ""))
    z3 = {n: a["verdict"] for n, a in answers.items() if n in used and a["verdict"]["engines"]["z3"]}
    print(f"{len(used)} kernels, {wall:.1f} s on two processes, {cpu:.1f} s of processor time; Z3 was needed for {len(z3)}:")
    for n, v in sorted(z3.items()):
        reasons = sorted({r["reason"] for r in v["z3_reasons"]})
        print(f"  {n}: {v['engines']['z3']} of its queries ({'; '.join(reasons)})")
    if stats:
        for n in sorted(used & set(answers)):
            print(f"  {n}: {answers[n]['shown'][:100]} {json.dumps(answers[n]['verdict']['engines'])}")
    if cpu > CPU_SECONDS:
        log.fail("time", f"{cpu:.1f} s of processor time, at most {CPU_SECONDS} are allowed")
    print(f"{log.failures} failures")
    return 1 if log.failures else 0


if __name__ == "__main__":
    sys.exit(main())
