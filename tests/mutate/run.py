#!/usr/bin/env python3
"""Mutation score of the proofs: run.py [POLYRACE] [--part=N|--all] [--only=PART_OF_PATH] [--how=MUTATION] [--verbose] [--keep=DIR]

Every proved launch of the small corpus is changed at one place (mutate.py). Brute force, which shares nothing with the
prover (`polyrace replay`), executes the changed launch: where it finds two overlapping accesses that nothing orders, the
proof must be lost. Where it executes everything and finds none, the mutant is equivalent at this launch, and either answer
is right. Where it cannot execute something (a wait, a value nobody knows) a surviving proof has to stand in survivors.txt
with its place and reason, and the verdict has to say what the reason rests on. Loops that draw their work from a counter are executed with a program
for every value (drawn.py): a proof that stays must not race there. Exit status 1 when a racing mutant is proved or a survivor is not explained.

Default: for each kernel and mutation the first place and the last; --part=N: every N-th of these; --all: every place.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path[:0] = [HERE, TESTS]
from drawn import drawn                                           # noqa: E402
from mutate import launch_mutants, mutants                        # noqa: E402
from verdicts import check, program                               # noqa: E402

ORDER = ("drop-mask", "mask-off-by-one", "shrink-stride", "stride-minus-1", "shrink-argument", "halve-argument", "shift-tile", "grow-tile", "pin-pid",
         "swap-pid", "remap", "fewer-programs", "drop-barrier", "drop-dependence", "relax", "atomic-to-store")


def kernel_class(path, text):
    """The topic: the source file for tests/kernels, the folder else."""
    folder = os.path.basename(os.path.dirname(os.path.dirname(path)))
    m = re.search(r'loc\("(\w+)\.py"', text)
    return m[1] if folder == "kernels" and m else folder


def launches():
    yield from sorted(glob.glob(os.path.join(TESTS, "kernels", "ttir", "*.small.json")))
    for d in ("sync", "tables", "pitfalls", "generate"):
        yield from sorted(glob.glob(os.path.join(TESTS, d, "ttir", "*.json")))


def replay(binary, path, *options):
    """1: races; 0: executed completely, no race; 2: something was not executed."""
    try:
        done = subprocess.run([binary, "replay", *options, path], capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return 2, "timeout"
    return done.returncode, done.stdout


def explained():
    """(launch, mutation, place) -> name of the reason, and the reasons: survivors.txt."""
    reasons, out = {}, {}
    with open(os.path.join(HERE, "survivors.txt"), encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if not words or line.startswith("#"):
                continue
            if words[0].endswith(":"):
                reasons[words[0][:-1]] = " ".join(words[1:])
            else:
                for how in words[1:]:
                    place, reason = how.split("=")
                    mutation, *sites = re.split(r"[@,]", place)
                    assert reason in reasons and sites, how
                    out.update({(words[0], mutation, site): reason for site in sites})
    return out


def holds(reason, v, doc):
    """What can be seen of a reason in the verdict of the mutant."""
    qualifiers = " ".join(v["qualifiers"])
    return {"inside": "in-bounds" in qualifiers, "table-outside": "in-bounds" in qualifiers, "outside": "in-bounds" in qualifiers,
            "beyond": "in-bounds" in qualifiers, "distinct": "reads tensor contents" in qualifiers, "turns": "reads tensor contents" in qualifiers,
            "compiler": "atomic CTA ordering" in qualifiers, "one": v["rung"] == "T1-launch",
            "never": "termination" in qualifiers or "reads tensor contents" in qualifiers, "locked": "reads tensor contents" in qualifiers,
            "alone": doc["grid"] == [1, 1, 1]}.get(reason, True)


def wider(binary, base, target, doc, v, known):
    """A proof for any grid: does brute force find a race of the mutant on a larger grid, where the unchanged kernel has
    none? Out-of-bounds accesses are the proof's own premise, so a mutant with them says nothing."""
    axes = [i for i, k in enumerate("xyz") if (v.get("grid_axes") or {}).get(k) == "any"]
    if v["rung"] == "T1-launch" or any("in-bounds" in q for q in v["qualifiers"]):
        return None
    grid = [g * 2 if i in axes and doc["grid"][i] <= 8 else g for i, g in enumerate(doc["grid"])]
    option = "--grid=" + ",".join(map(str, grid))
    if (base, option) not in known:
        known[base, option] = replay(binary, base, option)
    if known[base, option][0] != 0 or "out of bounds" in known[base, option][1]:
        return None
    code, out = replay(binary, target, option)
    return out if code == 1 and "out of bounds" not in out else None


def by_value(binary, target):
    """Brute force on the mutant with a program for every value that a counter gives out (drawn.py), or None: another form."""
    with open(target, encoding="utf-8") as f:
        doc = json.load(f)
    with open(os.path.join(os.path.dirname(target), doc["ttir"]), encoding="utf-8") as f:
        given = drawn(f.read(), doc)
    if not given:
        return None
    with open(target[:-5] + ".drawn.ttir", "w", encoding="utf-8") as f:
        f.write(given[0])
    with open(target[:-5] + ".drawn.json", "w", encoding="utf-8") as f:
        json.dump(dict(given[1], ttir=os.path.basename(target)[:-5] + ".drawn.ttir"), f)
    return replay(binary, target[:-5] + ".drawn.json")


class Score:
    def __init__(self):
        self.cells = {}

    def add(self, row, column, what):
        cell = self.cells.setdefault((row, column), dict(applicable=0, lost=0, equivalent=0, open=0, open_lost=0, open_raced=0))
        cell[what] += 1

    def table(self):
        """Markdown: lost/applicable, +equivalent, ?lost/undecided by brute force, and !those of them whose race an execution of the
        launch shows."""
        rows = sorted({r for r, _ in self.cells})
        columns = [c for c in ORDER if any(k[1] == c for k in self.cells)]
        out = ["| class | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns)]
        for r in [*rows, "all"]:
            line = []
            for c in columns:
                cells = [v for k, v in self.cells.items() if k[1] == c and r in ("all", k[0])]
                s = {k: sum(v[k] for v in cells) for k in ("applicable", "lost", "equivalent", "open", "open_lost", "open_raced")}
                line.append(f"{s['lost']}/{s['applicable']} +{s['equivalent']}" + (f" ?{s['open_lost']}/{s['open']}" if s["open"] else "")
                            + (f" !{s['open_raced']}" if s["open_raced"] else "") if cells else "")
            out.append(f"| {r} | " + " | ".join(line) + " |")
        return "\n".join(out)


def main():
    binary = program()
    part = next((int(a[7:]) for a in sys.argv if a.startswith("--part=")), 1)
    every, verbose = "--all" in sys.argv, "--verbose" in sys.argv
    only = [a[7:] for a in sys.argv if a.startswith("--only=")]
    kinds = [a[6:] for a in sys.argv if a.startswith("--how=")]
    keep = next((a[7:] for a in sys.argv if a.startswith("--keep=")), None)
    given = [p for p in launches() if not only or any(o in os.path.relpath(p, TESTS) for o in only)]
    base, problems = check(binary, given)
    proofs = [p for p in given if base.get(p, {}).get("status") == "ok"]
    score, failures, racing_base = Score(), list(problems), 0
    with tempfile.TemporaryDirectory() as scratch:
        scratch = keep or scratch
        os.makedirs(scratch, exist_ok=True)
        doc_of, seen = {}, 0
        made = []                                                 # path, class, mutation, site
        for number, path in enumerate(proofs):
            with open(path, encoding="utf-8") as f:
                doc = json.load(f)
            with open(os.path.join(os.path.dirname(path), doc["ttir"]), encoding="utf-8") as f:
                text = f.read()
            racing_base += replay(binary, path)[0] == 1
            found = [(how, site, t, doc) for how, site, t in mutants(text)]
            found += [(how, site, text, d) for how, site, d in launch_mutants(text, doc)]
            by_kind = {}
            for m in found:
                by_kind.setdefault(m[0], []).append(m)
            for how, list_ in by_kind.items():
                if kinds and how not in kinds:
                    continue
                for k, (_, site, t, d) in enumerate(list_):
                    if not every and k not in (0, len(list_) - 1):
                        continue
                    seen += 1
                    if seen % part:
                        continue
                    stem = f"{number:03d}.{how}.{site}"
                    with open(os.path.join(scratch, stem + ".ttir"), "w", encoding="utf-8") as f:
                        f.write(t)
                    target = os.path.join(scratch, stem + ".json")
                    with open(target, "w", encoding="utf-8") as f:
                        json.dump(dict(d, ttir=stem + ".ttir"), f)
                    doc_of[target] = d
                    made.append((target, path, kernel_class(path, text), how, site))
        verdicts, problems = check(binary, [m[0] for m in made])
        invalid, known = 0, {}
        survivors, by_draw = [], dict(proved=0, lost=0, racing=0)
        for target, path, row, how, site in made:
            v = verdicts.get(target)
            if v is None:
                invalid += 1
                if verbose:
                    print(f"invalid: {path}: {how} at {site}")
                continue
            kept = v["status"] == "ok"
            code, out = replay(binary, target)
            alone = by_value(binary, target) if code not in (0, 1) else None
            if alone and alone[0] in (0, 1):
                by_draw["proved" if kept else "lost"] += 1
                by_draw["racing"] += alone[0]
                if kept and alone[0]:
                    failures.append(f"FALSE PROOF (two values drawn)? {path}: {how} at {site}: {v['rung']} {v['qualifiers']}\n{alone[1][-700:]}")
            if code == 1:
                score.add(row, how, "applicable")
                if kept:
                    failures.append(f"FALSE PROOF? {path}: {how} at {site}: {v['rung']} {v['qualifiers']}\n{out[-700:]}")
                else:
                    score.add(row, how, "lost")
            elif code == 0:
                out = wider(binary, path, target, doc_of[target], v, known) if kept else None
                if out:
                    failures.append(f"FALSE PROOF (elsewhere)? {path}: {how} at {site}: {v['rung']} {v['qualifiers']}\n{out[-700:]}")
                score.add(row, how, "equivalent" if kept or v["status"] != "races" else "applicable")
                if v["status"] == "races" and not out:
                    failures.append(f"FALSE RACE? {path}: {how} at {site}: a race is reported, brute force finds none")
            elif kept:
                score.add(row, how, "open")
                survivors.append((path, how, site, v, doc_of[target]))
            else:
                score.add(row, how, "open")
                score.add(row, how, "open_lost")
                if any(r["confirmed"] for r in v["races"]):
                    score.add(row, how, "open_raced")
        print(f"{len(proofs)} proofs ({racing_base} that brute force alone calls racing), {len(made)} mutants, {invalid} not well formed")
        print(score.table())
        print("a program for every value drawn: {proved} proofs and {lost} lost ones executed, of which {racing} race".format(**by_draw))
        reasons = explained()
        for path, how, site, v, doc in survivors:
            name = os.path.relpath(path, TESTS).replace("/ttir/", "/").replace(".small", "")[:-5]
            reason = reasons.get((name, how, str(site)))
            if reason is None:
                failures.append(f"not in survivors.txt: {name} {how}@{site}")
            elif not holds(reason, v, doc):
                failures.append(f"survivors.txt: {name} {how}@{site}={reason} is not what the verdict says: {v['rung']} {v['qualifiers']}")
        if not only and not kinds and part == 1 and not by_draw["racing"]:
            failures.append("no mutant races by two values drawn: drawn.py has lost its bite")
        applicable = sum(c["applicable"] for c in score.cells.values())
        if applicable * 4 < len(made):
            failures.append(f"only {applicable} of {len(made)} mutants race: the mutations have lost their bite")
        for f in failures:
            print(f)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
