#!/usr/bin/env python3
"""ConSan's tests and recorded runs: run.py POLYRACE [--only NAME] [--table | --json]

  1. index.txt: every single-CTA test of test_consan.py has kernels of ours, every kernel is named there, and each text
     gets the verdict that its TESTS row expects (ids of findings, kinds of refusals, or a proof).
     pairs.txt does the same for 45 further pairs.
  2. recorded.json, real runs under Triton 3.6's ConSan: of 1 000 emulated schedules of the older epoch some end as the
     run did, but for at most three rows whose reason is in exceptions.txt.
  3. No verdict about a recorded kernel is wrong, at most one in ten is a refusal.
  4. The current epoch reports nothing about kernels that are right, and of those that are wrong what test_consan.py
     expects, but for rows with a reason in current.txt.
--table prints the table of docs/consan.md, --json docs/consan.json; the test compares both files."""
import argparse
import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
shm_spec = importlib.util.spec_from_file_location("shm_run", os.path.join(HERE, "..", "run.py"))
shm_run = importlib.util.module_from_spec(shm_spec)
shm_spec.loader.exec_module(shm_run)
DOCS = os.path.join(HERE, "..", "..", "..", "docs")
# finding -> what the current ConSan says about it, in some schedule
SAYS = {"SHM-RAW": "outstanding writes", "SHM-WAR": "outstanding reads", "SHM-WAW": "outstanding writes", "PEND-CP": "async_copy_global_to_shared",
        "PEND-WGMMA": "warpgroup_mma operand read", "PEND-TMAST": "async_copy_shared_to_global", "PROXY-FENCE": "missing fence_async_shared",
        "BAR-DEADLOCK": "Deadlock detected", "BAR-STUCK": "Deadlock detected", "BAR-TX": "Deadlock detected",
        "BAR-UNDERFLOW": "arrive underflow", "BAR-UNINIT": "before initialization or after", "BAR-REINIT": "re-initialized",
        "BAR-INVAL-PENDING": "outstanding reads", "BAR-INVAL-WAITER": "invalidated while", "BAR-LIVE-REUSE": "reused before barrier"}
REFUSALS = {"arrival-quota", "data-dependent-sync", "reuse", "bounded-only", "multi-cta", "call", "layout"}


def read_rows(name):
    """key -> reason"""
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        return dict(line.split(None, 1) for line in (x.split("#")[0].strip() for x in f) if line)


ALL = ("kernels", "tensor", "hand", "pairs", "pairs_tensor")


def expected(modules=ALL):
    """name -> ids; () a proof"""
    out = {}
    for module in modules:
        path = os.path.join(HERE, module + ".py")
        with open(path, encoding="utf-8") as f:
            tree = ast.parse(f.read())
        table = next(n.value for n in tree.body if isinstance(n, ast.Assign) and getattr(n.targets[0], "id", "") == "TESTS")
        for test, (_, values) in ast.literal_eval(table).items():
            for value, ids in values.items():
                out[f"{test}.{value}"] = ids
    return out


def path_of(name):
    own = os.path.join(HERE, "ttgir", name + ".ttgir")
    return own if os.path.exists(own) else os.path.join(HERE, "..", "ttgir", name + ".ttgir")


def call(program, *args):
    done = subprocess.run([program, *args], capture_output=True, text=True)
    if done.returncode not in (0, 1, 2):
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


# what a note must say
NOTES = {"uninitialised.shared": "uninitialised read", "uninitialised.tensor": "uninitialised read"}


def status_of(v):
    return v["status"], [f["id"] for f in v["findings"]], [r["kind"] for r in v["refusals"]]


def judge(ids, v):
    """Problem with a verdict, or None."""
    status, got, kinds = status_of(v)
    if "internal" in kinds:
        return f"{status} {got} {kinds}"
    if not ids:
        return None if status == "ok" and v["scope"] == "every-trip-count" else f"{status} {got} {kinds}, expected a proof"
    if ids[0] in REFUSALS:
        return None if status == "unsupported" and all(i in kinds for i in ids) else f"{status} {got} {kinds}, expected {ids}"
    bad = status not in ("races", "deadlock", "hazard") or any(i not in got for i in ids)
    return f"{status} {got} {kinds}, expected {ids}" if bad else None


def truths():
    """name -> is the kernel right? of the recorded kernels"""
    out = {}
    with open(os.path.join(HERE, "..", "expect.txt"), encoding="utf-8") as f:
        for line in f:
            words, _, remark = line.partition("#")
            words = words.split()
            if words:                                    # "right": of a kernel that is refused
                out[words[0]] = words[1] == "ok" or remark.split()[:1] == ["right:"]
    for name, ids in expected().items():
        out[name] = not ids or ids[0] in REFUSALS
    return out


def launch_of(name, k):
    """The launch that gpu.py makes of a kernel: one program, K iterations, N elements in tiles of 64."""
    with open(path_of(name), encoding="utf-8") as f:
        head = re.search(r"tt\.func public @(\w+)\((.*)", f.read())
    args = {}
    for arg, kind in re.findall(r"%([\w.]+): (!tt\.\w+|\w+)", head[2]):
        if kind == "!tt.ptr":
            args[arg] = {"tensor": {"dtype": "float16", "ptr": 4096 + (len(args) << 32), "shape": [1 << 20]}}
        else:
            args[arg] = None if kind == "!tt.tensordesc" or "." in arg or kind == "f32" else True if kind == "i1" else 64 * k if arg == "N" else k
    return {"version": 1, "kernel": head[1], "ttgir": os.path.abspath(path_of(name)), "grid": [1, 1, 1], "args": args}


def emulate(program, name, epoch, schedules, trips):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(launch_of(name, trips), f)
        f.flush()
        return call(program, "consan", f"--emulate={epoch}", "--format=json", f"--schedules={schedules}", f.name)


def ends_so(row, o):
    want = row["outcome"]
    if want == "ok":
        return o["kind"] == "clean"
    if want == "hang":
        return o["kind"] == "hang"
    if want == "trap":                               # a report whose text is lost, outside the default partition
        return o["kind"] == "report" and o["partition"] != "default"
    return o["kind"] == want and o["message"] == row.get("message")


def recorded(program, only):
    with open(os.path.join(HERE, "recorded.json"), encoding="utf-8") as f:
        data = json.load(f)
    truth, why = truths(), read_rows("exceptions.txt")
    rows, problems, exceptions = [], [], set()

    def one(r):
        v = call(program, "check", "--format=json", path_of(r["name"]))
        return r, v, emulate(program, r["name"], "older", 1000, data["K"])
    with ThreadPoolExecutor(2) as pool:
        for r, v, e in pool.map(one, [r for r in data["rows"] if not only or r["name"].startswith(only)]):
            right, (status, ids, kinds) = truth[r["name"]], status_of(v)
            found = status in ("races", "deadlock", "hazard")
            if status != "unsupported" and found == right:
                problems.append(f"{r['name']}: the kernel is {'right' if right else 'wrong'}, polyrace says {status}")
            if not any(ends_so(r, o) for o in e["outcomes"]):
                exceptions.add(r["name"])
            n = sum(o["schedules"] for o in e["outcomes"] if ends_so(r, o))
            rows.append({"name": r["name"], "truth": "right" if right else "wrong", "consan": r["outcome"],
                         "message": r.get("message", ""), "emulated": n, "status": status, "ids": list(dict.fromkeys(ids or kinds))})
    refused = [r for r in rows if r["status"] == "unsupported"]
    if not only:
        for name in sorted(exceptions - set(why)):
            problems.append(f"{name}: no emulated schedule ends as the recorded run; say why in exceptions.txt")
        for name in sorted(set(why) - exceptions):
            problems.append(f"{name}: in exceptions.txt, but some schedule ends as recorded")
        if len(why) > 3:
            problems.append("more than three exceptions")
        if 10 * len(refused) > len(rows):
            problems.append(f"{len(refused)} of {len(rows)} recorded kernels refused")
    return data, rows, problems


MISS = {"ok": "ends without a report", "hang": "hangs", "report": "", "trap": "stops (text lost)", "fault": "memory fault",
        "no-compile": "does not compile"}


def table(data, rows):
    lines = [f"| kernel | truth | ConSan (Triton {data['triton']}, {data['device']}) | emulated, of 1 000 | polyrace |", "|---|---|---|---|---|"]
    for r in rows:
        says = r["message"] or MISS[r["consan"]]
        lines.append(f"| `{r['name']}` | {r['truth']} | {says} | {r['emulated']} | {r['status']} {', '.join(r['ids'])} |".replace("  |", " |"))
    return "\n".join(lines)


def summary(rows):
    def count(truth, test):
        return sum(r["truth"] == truth and test(r) for r in rows)
    reports = ("report", "trap")
    wrong, right = count("wrong", lambda r: True), count("right", lambda r: True)
    return "\n".join([
        "| | right kernels | wrong kernels |", "|---|---|---|", f"| recorded | {right} | {wrong} |",
        f"| ConSan reports | {count('right', lambda r: r['consan'] in reports)} | {count('wrong', lambda r: r['consan'] in reports)} |",
        f"| ConSan lets it end | {count('right', lambda r: r['consan'] == 'ok')} | {count('wrong', lambda r: r['consan'] == 'ok')} |",
        f"| hangs under ConSan | {count('right', lambda r: r['consan'] == 'hang')} | {count('wrong', lambda r: r['consan'] == 'hang')} |",
        f"| other (fault, does not compile) | {count('right', lambda r: r['consan'] in ('fault', 'no-compile'))} | {count('wrong', lambda r: r['consan'] in ('fault', 'no-compile'))} |",
        f"| polyrace right | {count('right', lambda r: r['status'] == 'ok')} | {count('wrong', lambda r: r['status'] in ('races', 'deadlock', 'hazard'))} |",
        f"| polyrace refuses | {count('right', lambda r: r['status'] == 'unsupported')} | {count('wrong', lambda r: r['status'] == 'unsupported')} |"])


def pairs():
    """Problems of pairs.txt: number, racing text, safe twin (or -), and what the racing one is."""
    problems, want, seen = [], {}, set()
    for name, ids in expected().items():
        want[name] = ids
    with open(os.path.join(HERE, "..", "expect.txt"), encoding="utf-8") as f:
        for words in (line.split("#")[0].split() for line in f):
            if words:
                want[words[0]] = () if words[1] == "ok" else tuple(words[1:])
    with open(os.path.join(HERE, "pairs.txt"), encoding="utf-8") as f:
        for number, racing, safe, *_ in (x.split("#")[0].split() for x in f if x.split("#")[0].strip()):
            seen.add(int(number))
            for name, good in ((racing, False), (safe, True)):
                if name != "-" and (name not in want or (want[name] == ()) != good):
                    problems.append(f"pairs.txt: {number}: {name} is no {'right' if good else 'wrong'} kernel")
    spec = importlib.util.spec_from_file_location("membar_run", os.path.join(HERE, "..", "membar", "run.py"))
    membar = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(membar)
    cases = {name: strict for name, (_, _, _, strict) in membar.CASES.items()}
    with open(os.path.join(HERE, "labelled.txt"), encoding="utf-8") as f:
        for line in (x.split("#")[0].strip() for x in f):
            row, _, rest = line.partition(" ")
            racing, _, safe = rest.strip().partition(" ")
            if racing == "membar:":
                wrong, _, right = safe.partition(" | ")
                if cases.get(wrong, "ok") == "ok" or cases.get(right.strip()) != "ok":
                    problems.append(f"labelled.txt: {row}: no such cases of ../membar/run.py")
                continue
            if not line or racing == "-" and len(safe.split()) > 1:
                continue
            for name, good in ((racing, False), (safe.strip(), True)):
                if name != "-" and (name not in want or (want[name] == ()) != good):
                    problems.append(f"labelled.txt: {row}: {name} is no {'right' if good else 'wrong'} kernel")
    return problems + [f"pairs.txt: no row {n}" for n in range(1, 46) if n not in seen]


def index():
    """Problems of index.txt."""
    problems, named, tests = [], set(), set()
    known = {n.rsplit(".", 1)[0] for n in expected(ALL[:3])}
    with open(os.path.join(HERE, "index.txt"), encoding="utf-8") as f:
        for line in (x.split("#")[0].strip() for x in f):
            if not line:
                continue
            test, _, rest = line.partition(":")
            if test in tests:
                problems.append(f"index.txt: {test} twice")
            tests.add(test)
            if rest.strip().startswith("-"):
                if len(rest) < 12:
                    problems.append(f"index.txt: {test} without a reason")
                continue
            for kernel in rest.split():
                named.add(kernel)
                if kernel not in known:
                    problems.append(f"index.txt: {test}: no kernel {kernel}")
            if not rest.split():
                problems.append(f"index.txt: {test} names no kernel")
    problems += [f"{k}: not in index.txt" for k in sorted(known - named)]
    if len(tests) < 80:
        problems.append(f"index.txt: {len(tests)} tests, some of Triton's are missing")
    return problems


def verdicts(program, only):
    rows, own, problems, excused = expected(), expected(ALL[:3]), [], read_rows("current.txt")
    texts = {n[:-6] for n in os.listdir(os.path.join(HERE, "ttgir"))}
    if not only:
        problems += [f"{n}: no text" for n in sorted(set(rows) - texts)] + [f"{n}: in no TESTS" for n in sorted(texts - set(rows))]

    def one(name):
        v = call(program, "check", "--format=json", "--cross-check", path_of(name))
        problem = judge(rows[name], v)
        said = any(NOTES.get(name, "uninitialised read") in n for n in v["notes"])
        if not problem and rows[name] == ():           # without the relations nothing is ok
            off = call(program, "check", "--format=json", "--engine=z3", path_of(name))
            if off["status"] != "unsupported" or "bounded-only" not in [r["kind"] for r in off["refusals"]]:
                problem = f"without the proof: {off['status']}"
        if not problem:                                # nor does a verdict depend on names or on the order of constants
            with open(path_of(name), encoding="utf-8") as f:
                source = f.read()
            for change in (shm_run.renamed, shm_run.reordered):
                with tempfile.NamedTemporaryFile("w", suffix=".ttgir", encoding="utf-8") as f:
                    f.write(change(source))
                    f.flush()
                    if shm_run.essence(call(program, "check", "--format=json", "--cross-check", f.name)) != shm_run.essence(v):
                        problem = f"{change.__name__}: another verdict"
        if own.get(name) == () and said != (name in NOTES) and name not in ("commits_alias.ok", "views_apart.ok"):
            problem = problem or f"notes: {v['notes']}"
        e = emulate(program, name, "current", 100, 8)
        loud = [o.get("message", o["kind"]) for o in e["outcomes"] if o["kind"] != "clean"]
        right = not rows[name] or rows[name][0] in REFUSALS
        tested = name in own
        odd = bool(loud) if right else tested and not any(SAYS[rows[name][0]] in m for m in loud)
        if not problem and odd != (name in excused):
            problem = f"the current epoch: {loud or 'nothing'}" if odd else "in current.txt for nothing"
        return name, problem
    with ThreadPoolExecutor(2) as pool:
        names = [n for n in sorted(set(rows) & texts) if not only or n.startswith(only)]
        for name, problem in pool.map(one, names):
            if problem:
                problems.append(f"{name}: {problem}")
    return len(names), problems


def command(program):
    """The command itself: seeds, launches, exit statuses, the tables as text."""
    problems = []
    path = path_of("ring_wgmma.pendings")

    def run(*args):
        done = subprocess.run([program, *args], capture_output=True, text=True)
        return done.returncode, done.stdout
    base = ["consan", "--emulate=older", "--format=json", "--max-trips=6"]
    first, again, other = (run(*base, f"--seed={s}", path) for s in (1, 1, 2))
    if first != again or first == other or first[0] != 1:
        problems.append("a seed does not give its schedules")
    launch = {"version": 1, "kernel": "ring_wgmma", "ttgir": os.path.abspath(path), "grid": [1, 1, 1],
              "args": {"out": {"tensor": {"dtype": "float32", "ptr": 4096, "shape": [64]}},
                       **{f"desc{x}": None for x in ("", ".shape.0", ".shape.1", ".stride.0", ".stride.1")}}}
    for trips, status in ((2, 0), (6, 1)):
        launch["args"]["K"] = trips
        with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as f:
            json.dump(launch, f)
        for args in ([f.name], ["--launch", f.name, path]):
            code, out = run("consan", "--emulate", "--format=json", *args)
            if code != status or json.loads(out)["values"]["K"] != trips:
                problems.append(f"launch with K = {trips}: exit {code}")
        os.unlink(f.name)
    if run("consan", "--emulate", path_of("hand.call"))[0] != 2:
        problems.append("a refused text: exit status")
    code, out = run("dump", "--stage=consan", path_of("handoff_store.no-fence"))
    if code or not out.endswith("missing fence_async_shared\n") or "write seen by {0,1,tma0,tma1" not in out:
        problems.append("dump --stage=consan")
    if run("consan", path)[1] != run("check", path)[1]:
        problems.append("consan without --emulate is not check")
    return problems


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("program")
    ap.add_argument("--only")
    ap.add_argument("--table", action="store_true")
    ap.add_argument("--json", action="store_true")
    a = ap.parse_args()
    data, rows, problems = recorded(a.program, a.only)
    text = {"consan.md": summary(rows) + "\n\n" + table(data, rows),
            "consan.json": json.dumps({"device": data["device"], "triton": data["triton"], "rows": rows}, indent=1) + "\n"}
    if a.table or a.json:
        print(text["consan.json" if a.json else "consan.md"], end="\n" if a.table else "")
        return 0
    n, more = verdicts(a.program, a.only)
    problems += more
    if not a.only:
        problems += index() + pairs() + command(a.program)
        for name, want in text.items():
            with open(os.path.join(DOCS, name), encoding="utf-8") as f:
                if want not in f.read():
                    problems.append(f"docs/{name}: not what run.py --{'json' if name.endswith('json') else 'table'} prints")
    for p in problems:
        print(p)
    print(f"{n} texts after ConSan's tests, {len(rows)} recorded runs, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
