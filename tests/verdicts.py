"""Running `polyrace` from tests: many inputs to one process, verdicts as dictionaries."""
import json
import os
import subprocess
import sys

RUNG = {"T1-launch": 1, "T1": 2, "T0": 3}
AGENTS = {"programs": "programs", "threads of one program": "threads"}


def program(argv=None):
    """Path of the binary: first argument, or POLYRACE, or ./build/src/cli/polyrace."""
    argv = sys.argv if argv is None else argv
    for a in argv[1:]:
        if not a.startswith("-") and os.access(a, os.X_OK) and os.path.isfile(a):
            return os.path.abspath(a)
    return os.environ.get("POLYRACE") or os.path.join("build", "src", "cli", "polyrace")


def check(binary, inputs, options=(), chunk=40, timeout=600, cwd=None):
    """input -> verdict of every input; raises on anything that is not a verdict.

    Returns (verdicts, problems): a problem is a text (exit status 3 or 4, a signal, no verdict)."""
    verdicts, problems = {}, []
    for first in range(0, len(inputs), chunk):
        part = inputs[first:first + chunk]
        command = [binary, "check", "--format=jsonl", "--jobs=1", *options, *part]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, cwd=cwd)
        except subprocess.TimeoutExpired:
            problems.append(f"{part[0]}..{part[-1]}: no answer within {timeout} s")
            continue
        got = {}
        for line in done.stdout.splitlines():
            if line.strip():
                v = json.loads(line)
                got[v["input"]] = v
        if done.returncode not in (0, 1, 2):
            problems.append(f"exit status {done.returncode}: {' '.join(options)}: {done.stderr.strip()[-600:]}")
        for name in part:
            if name in got:
                verdicts[name] = got[name]
            elif done.returncode in (0, 1, 2):
                problems.append(f"{name}: no verdict")
            elif len(part) > 1:                        # find out which one it was
                one, why = check(binary, [name], options, 1, timeout, cwd)
                verdicts.update(one)
                problems += why
        want = 0
        for v in got.values():
            want = max(want, {"ok": 0, "races": 2, "unsupported": 1, "vacuous": 1}[v["status"]])
        want = {0: 0, 1: 2, 2: 1}[want]
        if done.returncode in (0, 1, 2) and len(got) == len(part) and done.returncode != want:
            problems.append(f"{part[0]}..{part[-1]}: exit status {done.returncode}, the verdicts say {want}")
    return verdicts, problems


def sites(race):
    """('WAW', (file, line), (file, line), 'threads')."""
    def place(a):
        loc = a.get("loc") or {}
        return loc.get("file", "?"), loc.get("line", 0)
    return race["type"], place(race["first"]), place(race["second"]), AGENTS.get(race.get("agents"), race.get("agents"))
