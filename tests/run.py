#!/usr/bin/env python3
"""Verdicts of the kernel corpus against tests/kernels/expect.txt.

    run.py [POLYRACE] [--only=NAME...] [--show] [--quick] [--versions]

Checks, for every kernel and twin: status, rung (a stronger one than expected fails too), qualifiers, refusal
kinds and lines, race types, lines and agents, the engine that answered, confirmation of every race; the same
under --engine=isl --no-pretest, --engine=z3 and --cross-check (the status may become unsupported, never
flip); every proof against brute force at its small launch and every footprint. `--show` prints what the
program says in the format of expect.txt (to be copied by hand, with a reason). `--quick` leaves out the
engine comparison and the replays. `--versions` compiles the corpus with other Triton releases instead and
compares the verdicts.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "kernels")]
import registry                                                   # noqa: E402
from verdicts import RUNG, check, program, sites                  # noqa: E402

TTIR = os.path.join(HERE, "kernels", "ttir")
UNDECIDED_BASE_KERNELS = 8
ASSUMING_IN_BOUNDS = 0.1          # part of the proofs that may rest on accesses staying inside a tensor
NEVER_UNDECIDED_BY = {"budget", "unknown", "control-flow", "loop-bound", "timeout"}
PERSISTENT = re.compile(r"persistent|grid_stride|stride_loop")
ENGINE_GAPS = {"needs-smt", "unknown", "budget", "timeout", "missing-binding"}


class Log:
    def __init__(self):
        self.failures = 0

    def fail(self, name, text):
        self.failures += 1
        print(f"FAIL {name}: {text}")


def at(file_line):
    return f"{file_line[0]}:{file_line[1]}"


def race_keys(v):
    """{(first, second, agents): types} with the sites in text order."""
    found = {}
    for t, a, b, g in map(sites, v["races"]):
        found.setdefault((a, b, g), set()).add(t)
    return found


def expected_races(e):
    found = {}
    for word in e.fields:
        t, a, b, g = registry.parse_race(word)
        key = (registry.resolve_label(e.name, a), registry.resolve_label(e.name, b), g)
        found.setdefault(key, set()).add(t)
    return found


def label_of(name, site):
    """@X for a source site, else FILE:LINE."""
    registry.resolve_label.__globals__["_LABELS"] = registry.read_labels() if registry._LABELS is None else registry._LABELS
    for (scope, label), hits in registry._LABELS.items():
        if scope == name and tuple(site) in [tuple(h) for h in hits]:
            return "@" + label
    return at(site)


def shown(name, v, small=None):
    """The line of expect.txt that describes the verdict."""
    words = [f"{name:<24} {v['status']:<11}"]
    if v["status"] == "ok":
        words.append(v["rung"])
        if v["qualifiers"]:
            words.append('quals="' + "; ".join(v["qualifiers"]) + '"')
        if small and small["status"] == "ok" and small["rung"] != v["rung"]:
            words.append("small=" + small["rung"])
    elif v["status"] == "races":
        for (a, b, g), types in sorted(race_keys(v).items(), key=lambda x: (x[0][0][1], x[0][1][1], x[0][2])):
            words += [f"{t}:{label_of(name, a)}:{label_of(name, b)}/{g}" for t in sorted(types)]
    else:
        for r in v["refusals"]:
            loc = r.get("loc") or {}
            words.append(r["kind"] + (":" + label_of(name, (loc["file"], loc["line"])) if loc.get("line") else ""))
    words.append("by=z3" if v["engines"]["z3"] else "by=isl")
    return " ".join(words)


def compare(log, e, v, small):
    """One verdict against its expectation. small: the small variant (rung may be given apart)."""
    name = e.name + (".small" if small else "")
    kinds = [r["kind"] for r in v["refusals"]]
    if v["status"] == "unsupported" and e.options.get("alt") and set(kinds) == {e.options["alt"]}:
        return
    if v["status"] != e.status:
        log.fail(name, f"status {v['status']}, expected {e.status}\n     {shown(e.name, v)}"
                 + "".join(f"\n     {r['kind']}: {r['message']}" for r in v["refusals"][:3]))
        return
    if e.status == "ok":
        want = e.options.get("small", e.fields[0]) if small else e.fields[0]
        if want == "?" or (not small and e.options.get("quals") == "?"):
            log.fail(name, f"open expectation: {shown(e.name, v)}")
            return
        if v["rung"] != want and not (small and RUNG[v["rung"]] >= RUNG[want] and "small" not in e.options):
            log.fail(name, f"rung {v['rung']}, expected {want}{' (stronger: adjust expect.txt by hand)' if RUNG[v['rung']] > RUNG[want] else ''}")
        quals = [q.strip() for q in e.options.get("quals", "").split(";") if q.strip()]
        if not small and e.options.get("quals") != "?" and sorted(quals) != sorted(v["qualifiers"]):
            log.fail(name, f"qualifiers {v['qualifiers']}, expected {quals}")
    elif e.status == "races":
        have, want = race_keys(v), expected_races(e)
        for key in want:
            if key not in have:
                log.fail(name, f"race {'/'.join(sorted(want[key]))} {at(key[0])} {at(key[1])} {key[2]} is missing\n     {shown(e.name, v)}")
            elif not want[key] <= have[key]:
                log.fail(name, f"race {at(key[0])} {at(key[1])} {key[2]} is {sorted(have[key])}, expected {sorted(want[key])}")
        for key in have:
            if key not in want:
                log.fail(name, f"race {'/'.join(sorted(have[key]))} {at(key[0])} {at(key[1])} {key[2]} is not expected")
        for r in v["races"]:
            if not r["confirmed"]:
                log.fail(name, f"not confirmed: {r.get('confirmation')}")
    elif e.status == "unsupported":
        want = [registry.parse_refusal(w) for w in e.fields]
        if sorted({k for k, _ in want}) != sorted(set(kinds)):
            log.fail(name, f"refusals {sorted(set(kinds))}, expected {sorted({k for k, _ in want})}: {v['refusals'][:1]}")
        for kind, label in want:
            if label:
                site = registry.resolve_label(e.name, label)
                have = [((r.get("loc") or {}).get("file"), (r.get("loc") or {}).get("line")) for r in v["refusals"] if r["kind"] == kind]
                if tuple(site) not in have:
                    log.fail(name, f"{kind} at {have}, expected {at(site)}")
    if e.options.get("by") == "isl" and v["engines"]["z3"]:
        log.fail(name, f"Z3 answered {v['engines']['z3']} queries: {[z['reason'] for z in v['z3_reasons']]}")


def inputs(names, small):
    return {n: os.path.join(TTIR, n + (".small" if small else "") + ".json") for n in names}


def corpus(binary, log, expect, show, quick):
    twins = set(list(expect)[1::2])      # a twin's line follows its base's
    if not has_z3(binary):
        left_out = {n for n, e in expect.items() if "z3" in e.options.get("by", "")}
        print(f"no Z3 in this build, not compared: {', '.join(sorted(left_out))}")
        expect = {n: e for n, e in expect.items() if n not in left_out}
    big, small = inputs(expect, False), inputs(expect, True)
    verdicts, problems = check(binary, list(big.values()) + list(small.values()))
    for p in problems:
        log.fail("check", p)
    if show:
        for n in expect:
            if big[n] in verdicts:
                print(shown(n, verdicts[big[n]], verdicts.get(small[n])))
        return
    for n, e in expect.items():
        if big[n] in verdicts:
            compare(log, e, verdicts[big[n]], False)
        if small[n] in verdicts:
            compare(log, e, verdicts[small[n]], True)
    undecided = []
    for n, e in expect.items():
        v = verdicts.get(big[n])
        if v and v["status"] in ("unsupported", "vacuous"):
            kinds = {r["kind"] for r in v["refusals"]}
            if kinds & NEVER_UNDECIDED_BY and not PERSISTENT.search(n):
                log.fail(n, f"undecided because of {sorted(kinds)}")
            if n not in twins:
                undecided.append(n)
    print(f"{len(expect)} kernels; undecided base kernels: {len(undecided)} ({', '.join(undecided)})")
    if len(undecided) > UNDECIDED_BASE_KERNELS:
        log.fail("corpus", f"{len(undecided)} undecided base kernels, at most {UNDECIDED_BASE_KERNELS} are allowed")
    proofs = [v for v in verdicts.values() if v["status"] == "ok"]
    resting = sorted(v["kernel"] for v in proofs if any("in-bounds" in q for q in v["qualifiers"]))
    print(f"{len(proofs)} proofs; {len(resting)} assume in-bounds accesses ({', '.join(sorted(set(resting)))})")
    if len(resting) > ASSUMING_IN_BOUNDS * len(proofs) and len(proofs) > 100:
        log.fail("corpus", f"{len(resting)} of {len(proofs)} proofs assume in-bounds accesses, at most {ASSUMING_IN_BOUNDS:.0%} may")
    if quick:
        return
    engines(binary, log, expect, big, verdicts)
    brute_force(binary, log, expect, small, verdicts)


def has_z3(binary):
    """A build without Z3 answers what isl takes; expectations that name z3 are not compared then."""
    return "not built in" not in subprocess.run([binary, "version"], capture_output=True, text=True).stdout


def engines(binary, log, expect, big, verdicts):
    paths = [p for n, p in big.items() if p in verdicts]
    # Z3 may run past its resource limit on nonlinear queries; the backstop only makes a verdict weaker.
    short = ["--t0-timeout=2000", "--t1-timeout=2000"]
    runs = [["--engine=isl", "--no-pretest"], ["--engine=z3"] + short, ["--cross-check"] + short]
    for options in runs if has_z3(binary) else runs[:1]:
        other, problems = check(binary, paths, options, timeout=1800)
        for p in problems:
            log.fail(" ".join(options), p)
        weaker = 0
        for n, path in big.items():
            a, b = verdicts.get(path), other.get(path)
            if not a or not b:
                continue
            if a["status"] == b["status"]:
                if options[0] == "--cross-check" and a["rung"] != b["rung"]:
                    log.fail(n, f"--cross-check changes the rung: {a['rung']}, {b['rung']}")
                continue
            kinds = {r["kind"] for r in b["refusals"]}
            if b["status"] == "unsupported" and a["status"] in ("ok", "races") and kinds <= ENGINE_GAPS \
                    and options[0] != "--cross-check":
                weaker += 1
            elif a["status"] == "unsupported" and b["status"] == "unsupported":
                pass
            else:
                log.fail(n, f"{' '.join(options)}: {b['status']} {sorted(kinds)}, default {a['status']}")
        print(f"{' '.join(options)}: {len(other)} verdicts, {weaker} weaker")


def brute_force(binary, log, expect, small, verdicts):
    runs = incomplete = 0
    for n in expect:
        v = verdicts.get(small[n])
        for options in ([], ["--footprints"]):
            done = subprocess.run([binary, "replay", *options, small[n]], capture_output=True, text=True)
            runs += 1
            incomplete += done.returncode == 2
            if done.returncode not in (0, 1, 2):
                log.fail(n, f"replay {' '.join(options)}: exit status {done.returncode}: {(done.stdout + done.stderr)[-400:]}")
            elif not options and v and v["status"] == "ok" and done.returncode == 1:
                log.fail(n, f"proved, but brute force finds a race: {done.stdout[-600:]}")
            elif not options and v and v["status"] == "races" and done.returncode == 0:
                log.fail(n, "a race is reported, brute force finds none")
    print(f"{runs} replays, {incomplete} of them incomplete")


# ---- other Triton releases ---------------------------------------------------------------------------

def environments():
    """release -> python with that Triton, made on demand; releases that pip cannot install are left out."""
    base = os.environ.get("POLYRACE_VENVS") or os.path.join(tempfile.gettempdir(), "polyrace-triton-venvs")
    wanted = {"3.6.0": "triton==3.6.0", "3.8.0": "triton==3.8.0", "newest": "triton"}
    for release, spec in wanted.items():
        home = os.path.join(base, "triton-" + release)
        python = os.path.join(home, "bin", "python")
        probe = [python, "-c", "import triton; print(triton.__version__)"]
        if not os.path.exists(python):
            subprocess.run([sys.executable, "-m", "venv", home], capture_output=True)
        done = subprocess.run(probe, capture_output=True, text=True) if os.path.exists(python) else None
        if not done or done.returncode:
            subprocess.run([python, "-m", "pip", "install", "-q", "--no-input", "setuptools", spec], capture_output=True)
            done = subprocess.run(probe, capture_output=True, text=True) if os.path.exists(python) else None
        if done and done.returncode == 0:
            yield done.stdout.strip(), python
        else:
            print(f"SKIP Triton {release}: pip cannot install it here")


def versions(binary, log, expect):
    """The same verdicts and sites whatever release printed the text."""
    answers = {}
    for release, python in environments():
        with tempfile.TemporaryDirectory() as out:
            done = subprocess.run([python, os.path.join(HERE, "kernels", "build.py"), "--out", out], capture_output=True, text=True)
            names = {n: os.path.join(out, n + ".json") for n in expect if os.path.exists(os.path.join(out, n + ".json"))}
            if not names:
                log.fail(release, f"build.py made nothing: {done.stdout[-300:]}{done.stderr[-300:]}")
                continue
            verdicts, problems = check(binary, list(names.values()))
            for p in problems:
                log.fail(release, p)
            answers[release] = {n: verdicts[p] for n, p in names.items() if p in verdicts}
            print(f"Triton {release}: {len(answers[release])} verdicts")
    if len(answers) < 2:
        print("SKIP: fewer than two Triton releases could be installed")
        return 77
    reference = answers.get("3.8.0") or next(iter(answers.values()))
    for release, found in answers.items():
        for n, v in found.items():
            if n not in reference:
                continue
            r = reference[n]
            if (v["status"], v["rung"]) != (r["status"], r["rung"]):
                log.fail(n, f"Triton {release}: {v['status']} {v['rung']}, reference {r['status']} {r['rung']}")
            elif set(race_keys(v)) != set(race_keys(r)):
                log.fail(n, f"Triton {release}: races {sorted(race_keys(v))}, reference {sorted(race_keys(r))}")
    return 0


def main():
    binary, log = program(), Log()
    only = [a[7:] for a in sys.argv if a.startswith("--only=")]
    expect = {n: e for n, e in registry.read_expectations().items() if not only or n in only}
    if "--versions" in sys.argv:
        status = versions(binary, log, expect)
        if status == 77:
            return 77
    else:
        corpus(binary, log, expect, "--show" in sys.argv, "--quick" in sys.argv)
    print(f"{log.failures} failures")
    return 1 if log.failures else 0


if __name__ == "__main__":
    sys.exit(main())
