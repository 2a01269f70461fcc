#!/usr/bin/env python3
"""Texts broken in one place, against the proof: mutate.py POLYRACE TEXT... [--trips N,N] [--keep DIRECTORY] [--verbose]

Each line that synchronises is deleted, swapped with the one before, its parity flipped, its count, bytes or pendings changed.
A mutant that is still proved must end clean in every schedule of the emulated ConSan; what does not is a wrong proof and the
exit status is 1. ConSan sees neither W1, W2 nor A1, so clean is no evidence that the mutant is right: --verbose lists the
mutants that were proved or refused, with the line that changed."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

SYNC = re.compile(r"\b(wait_barrier|arrive_barrier|barrier_expect|tc_gen5_commit|async_wait|warp_group_dot_wait|async_tma_store_wait|"
                  r"fence_async_shared|async_commit_group|async_copy_mbarrier_arrive|init_barrier|inval_barrier)\b")
EFFECT = re.compile(r"\bttn?g\.(local_load|local_store|async_copy_global_to_local|async_tma_\w+|warp_group_dot|tc_gen5_mma|tmem_load|"
                    r"tmem_store|tmem_copy|wait_barrier|arrive_barrier|barrier_expect|tc_gen5_commit|async_wait|warp_group_dot_wait|"
                    r"fence_async_shared|async_commit_group)\b")


def results(line):
    return re.findall(r"^\s*((?:%[\w$.\-]+(?::\d+)?(?:, )?)+) = ", line)


def movable(line, before):
    """May the two lines change places: no value of the second comes from the first."""
    names = [n.split(":")[0] for group in results(before) for n in group.split(", ")]
    return not any(re.search(re.escape(n) + r"(?![\w$.\-])", line.split("=", 1)[-1]) for n in names)


def split_types(text):
    """The types of "(a, b<c, d>)", one each."""
    out, depth, word = [], 0, ""
    for c in text[text.index("(") + 1:]:
        if c in "<({[":
            depth += 1
        if c in ">)}]":
            depth -= 1
        if depth < 0 or c == "," and not depth:
            out.append(word.strip())
            word = ""
            if depth < 0:
                break
        else:
            word += c
    return out


def mutants(lines):
    """(what, line number, lines)"""
    for i, line in enumerate(lines):
        if not SYNC.search(line) and not EFFECT.search(line):
            continue
        pad = re.match(r"\s*", line).group(0)
        put = lambda new: lines[:i] + new + lines[i + 1:]                # noqa: E731
        if SYNC.search(line) and not results(line) or "async_commit_group" in line or "ttg.async_wait" in line:
            rest = lines[i + 1:]
            names = [n.split(":")[0] for group in results(line) for n in group.split(", ")]
            if not any(n in x for n in names for x in rest):
                yield "deleted", i, put([])
        if "async_wait" in line:
            m = re.search(r"num = (\d+)", line)
            if m:
                for d in (1, 2):
                    yield f"num + {d}", i, put([line.replace(m.group(0), f"num = {int(m.group(1)) + d}")])
        m = re.search(r"pendings = (\d+)", line)
        if m:
            yield "pendings + 1", i, put([line.replace(m.group(0), f"pendings = {int(m.group(1)) + 1}")])
        m = re.search(r"wait_barrier (%[\w$.\-#]+), (%[\w$.\-#]+)", line)
        if m:
            kind = "i32"
            new = [f"{pad}%mut_one = arith.constant 1 : {kind}", f"{pad}%mut_phase = arith.xori {m.group(2)}, %mut_one : {kind}",
                   line.replace(m.group(0), f"wait_barrier {m.group(1)}, %mut_phase")]
            yield "parity", i, put(new)
        m = re.search(r"(init_barrier|arrive_barrier) (%[\w$.\-#]+), (\d+)", line)
        if m:
            for d in (1, -1):
                if int(m.group(3)) + d > 0:
                    yield f"count {d:+}", i, put([line.replace(m.group(0), f"{m.group(1)} {m.group(2)}, {int(m.group(3)) + d}")])
        m = re.search(r"barrier_expect (%[\w$.\-#]+), (\d+)", line)
        if m:
            yield "bytes", i, put([line.replace(m.group(0), f"barrier_expect {m.group(1)}, {int(m.group(2)) - 16}")])
        j = i - 1
        if j >= 0 and EFFECT.search(line):
            while j > 0 and not EFFECT.search(lines[j]) and "{" not in lines[j] and "}" not in lines[j] and movable(line, lines[j]):
                j -= 1
            if EFFECT.search(lines[j]) and "{" not in re.sub(r"\{[^{}]*\}", "", lines[j]) and movable(line, lines[j]):
                if all(movable(line, lines[x]) for x in range(j, i)):
                    yield "swapped", i, lines[:j] + [line] + lines[j:i] + lines[i + 1:]
    for i, line in enumerate(lines):                                     # rings: another wrap in one place
        m = re.search(r"arith\.cmpi (eq|sge), (%[\w$.\-#]+), (%c\d+_i32[\w]*)", line)
        if m and i + 2 < len(lines) and "arith.select" in lines[i + 1]:
            pad = re.match(r"\s*", line).group(0)
            size = int(re.match(r"%c(\d+)_i32", m.group(3)).group(1))
            for d in (-1, 1):
                if size + d > 0:
                    yield f"wrap {d:+}", i, (lines[:i] + [f"{pad}%mut_size{i} = arith.constant {size + d} : i32",
                                                         line.replace(m.group(0), f"arith.cmpi {m.group(1)}, {m.group(2)}, %mut_size{i}")]
                                             + lines[i + 1:])
        m = re.search(r"arith\.remsi (%[\w$.\-#]+), (%c\d+_i32[\w]*)", line)
        if m:
            pad = re.match(r"\s*", line).group(0)
            yield "other slot", i, (lines[:i] + [f"{pad}%mut_one{i} = arith.constant 1 : i32", f"{pad}%mut_at{i} = arith.addi {m.group(1)}, %mut_one{i} : i32",
                                                line.replace(m.group(0), f"arith.remsi %mut_at{i}, {m.group(2)}")] + lines[i + 1:])
    for i, line in enumerate(lines):                                     # carried around the outer loop: begin anew instead
        m = re.search(r"scf\.for .* iter_args\((.*)\) ->", line)
        if not m or not line.startswith("        "):
            continue
        names = [part.split(" = ")[0] for part in m.group(1).split(", ")]
        types = split_types(line[m.end():])
        for part in m.group(1).split(", "):
            name, value = part.split(" = ")
            if re.fullmatch(r"%(c|true|false)[\w\-]*", value):
                continue
            pad = re.match(r"\s*", line).group(0)
            for k in (0, 1):
                kind = types[names.index(name)]
                if re.fullmatch(r"i(32|64)", kind):
                    yield f"{name} begins at {k}", i, (lines[:i] + [f"{pad}%mut_begin = arith.constant {k} : {kind}",
                                                                   line.replace(f"{name} = {value}", f"{name} = %mut_begin")] + lines[i + 1:])


def check(program, path, *options):
    done = subprocess.run([program, "check", "--format=json", *options, path], capture_output=True, text=True)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"status": "error", "refusals": [{"kind": done.stderr.strip()[-200:]}], "findings": []}


def emulated(program, path, trips, schedules):
    done = subprocess.run([program, "consan", "--emulate", "--format=json", f"--schedules={schedules}", f"--max-trips={trips}", path],
                          capture_output=True, text=True)
    if done.returncode not in (0, 1):
        return []
    return [o.get("message", o["kind"]) for o in json.loads(done.stdout)["outcomes"] if o["kind"] != "clean"]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("program")
    ap.add_argument("texts", nargs="+")
    ap.add_argument("--trips", default="6,130,400")
    ap.add_argument("--schedules", type=int, default=8)
    ap.add_argument("--every", type=int, default=1, help="only each n-th mutant")
    ap.add_argument("--keep")
    ap.add_argument("--verbose", action="store_true")
    a = ap.parse_args()
    counts, wrong = {}, 0
    for path in a.texts:
        with open(path, encoding="utf-8") as f:
            lines = f.read().split("\n")
        for n, (what, at, new) in enumerate(mutants(lines)):
            if n % a.every:
                continue
            with tempfile.NamedTemporaryFile("w", suffix=".ttgir", delete=False) as f:
                f.write("\n".join(new))
            try:
                v = check(a.program, f.name, "--cross-check")
                said = []
                if v["status"] == "ok":
                    for t in a.trips.split(","):
                        said = said or emulated(a.program, f.name, int(t), a.schedules)
                kinds = [r["kind"] for r in v["refusals"]]
                bad = (v["status"] == "ok" and said) or v["status"] == "error" or "internal" in kinds
                counts[v["status"]] = counts.get(v["status"], 0) + 1
                if bad or a.verbose and v["status"] in ("ok", "unsupported"):
                    print(f"{os.path.basename(path)}: {what} at line {at + 1}: {v['status']} {kinds} {said}\n    {lines[at].strip()[:140]}", flush=True)
                if a.keep and (bad or v["status"] in ("ok", "unsupported")):
                    with open(os.path.join(a.keep, f"{os.path.basename(path)[:-6]}.{n}.ttgir"), "w", encoding="utf-8") as k:
                        k.write("\n".join(new))
                wrong += bool(bad)
            finally:
                os.unlink(f.name)
    print(", ".join(f"{k} {counts[k]}" for k in sorted(counts)), f"- {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
