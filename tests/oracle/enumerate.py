#!/usr/bin/env python3
"""Independent oracle over the records: enumerate.py POLYRACE [LAUNCH.json...] [--verbose]

Reads `polyrace dump --stage=records`, executes every record of a small launch point by point (terms over
unbounded integers), counts barriers one by one, and looks for two unordered executions that touch one byte
(happens-before.md 1.2-1.4). The verdict of `polyrace check` on the same launch must agree. Shares no code
with the analyser: what it checks is everything between the records and the verdict. Default inputs: every
small launch of tests/kernels.
"""
import glob
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from verdicts import check, program, sites                        # noqa: E402

LIMIT = 60000                   # executions of one launch


class Unknown(Exception):
    """A value that only a run could know."""


# ---- terms ---------------------------------------------------------------------------------------------

TOKEN = re.compile(r'\s*(?:([()])|"((?:[^"\\]|\\.)*)"|([^\s()"]+))')


def parse(line):
    """One S-expression as nested lists; strings and atoms are str."""
    stack, at, out = [], 0, None
    while at < len(line):
        m = TOKEN.match(line, at)
        if not m:
            break
        at = m.end()
        if m.group(1) == "(":
            stack.append([])
        elif m.group(1) == ")":
            done = stack.pop()
            if not stack:
                return done
            stack[-1].append(done)
        else:
            stack[-1].append(m.group(2) if m.group(2) is not None else m.group(3))
    return out


def fdiv(a, b):
    return a // b if b else 0


def fmod(a, b):
    return a % b if b else a


def tdiv(a, b):
    if not b:
        return 0
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def trem(a, b):
    return a - b * tdiv(a, b)


def fits(kind, v):
    bits = int(kind[1:])
    if kind[0] == "i":
        return -(1 << (bits - 1)) <= v < 1 << (bits - 1)
    return v >= 0 if kind[0] == "u" else 0 <= v <= 1


def unknown(*_):
    raise Unknown()


def code(t):
    """Python expression of a term over the dictionary `e`."""
    if isinstance(t, str):
        if t == "true":
            return "True"
        if t == "false":
            return "False"
        if t[0] == "%":
            return f"named[{t!r}](e)"
        return t if re.fullmatch(r"-?\d+", t) else f"e[{t!r}]"
    op, args = t[0], t[1:]
    if re.match(r"(load|obs|opaque|cond)#", op):
        return "unknown()"
    if op == "fits":
        return f"fits({args[0]!r}, {code(args[1])})"
    a = [code(x) for x in args]
    if op == "+":
        return "(" + " + ".join(a) + ")"
    if op == "*":
        return "(" + " * ".join(a) + ")"
    if op in ("fdiv", "fmod", "tdiv", "trem", "min", "max"):
        return f"{op}({', '.join(a)})"
    if op == "select":
        return f"({a[1]} if {a[0]} else {a[2]})"
    if op in ("band", "bor", "bxor"):
        return f"({a[0]} {dict(band='&', bor='|', bxor='^')[op]} {a[1]})"
    if op in ("<=", "="):
        return f"({a[0]} {'<=' if op == '<=' else '=='} {a[1]})"
    if op == "not":
        return f"(not {a[0]})"
    if op in ("and", "or"):
        return "(" + f" {op} ".join(a) + ")"
    raise ValueError(f"unknown term {op}")


named = {}                      # terms that stand in several places of the records at hand


def function(t):
    return eval("lambda e: " + code(t), {"fdiv": fdiv, "fmod": fmod, "tdiv": tdiv, "trem": trem, "fits": fits,
                                         "unknown": unknown, "min": min, "max": max, "named": named})


# ---- records ---------------------------------------------------------------------------------------------

def fields(x):
    """The sub-lists of a record or frame by their first word."""
    return {f[0]: f[1:] for f in x[1:] if isinstance(f, list)}


class Frame:
    def __init__(self, x):
        f = fields(x)
        self.loop = x[0] == "loop"
        if self.loop:
            self.id, self.k = int(x[1]), x[2]
            self.lower, self.upper, self.step = (function(f[n][0]) for n in ("lower", "upper", "step"))
            self.held = [function(f["bounds_held"][0])]
        else:
            self.cond, self.held = function(f["if"][0]), [function(f["held"][0])]


class Record:
    def __init__(self, x):
        f = fields(x)
        self.id, self.seq = int(f["id"][0]), int(f["seq"][0])
        if x[0] == "record":
            self.kind, self.desc = f["kind"][0], f["via"][0] == "desc"
            self.base, self.width = int(f["base"][0]), int(f["width"][0])
            self.shape = [int(n) for n in f["shape"]]
            self.mask, self.offset = function(f["mask"][0]), function(f["offset"][0]) if f["offset"][0] != "none" else None
            self.held = [function(f["mask_held"][0]), function(f["offset_held"][0])]
            self.sem, self.scope = f["sem"][0], f["scope"][0]
            self.position, self.uncertain = f["position"][0] == "yes", f["uncertain"][0] != "no"
            self.closure = {int(n) for n in f["dep_closure"]}
            self.reaches = set(f["reaches"])
            self.refused = f["refused"][0] != "none"
            self.line = (f["loc"][0], int(f["loc"][1]))
            self.atomic = self.kind.startswith("atomic")
            self.reads = self.kind not in ("store", "atomic_store")
            self.writes = self.kind in ("store", "atomic_store", "atomic_rmw", "atomic_cas")
            self.lanes = 1
            for n in self.shape:
                self.lanes *= n
        self.frames = [Frame(y) for y in f["frames"]]
        self.loops = [y.id for y in self.frames if y.loop]


class Fence(Record):
    def __init__(self, x):
        f = fields(x)
        self.seq, self.opaque = int(f["seq"][0]), f["opaque_context"][0] == "yes"
        self.frames = [Frame(y) for y in f["frames"]]
        self.loops = [y.id for y in self.frames if y.loop]


def walk(frames, e, at=0, it=(), sure=True):
    """(iteration vector, sure, env) of every way through the frames; wraps raise ValueError."""
    if at == len(frames):
        yield it, sure
        return
    f = frames[at]
    for held in f.held:
        try:
            if not held(e):
                raise ValueError("a width condition fails")
        except Unknown:
            pass
    if not f.loop:
        try:
            if f.cond(e):
                yield from walk(frames, e, at + 1, it, sure)
        except Unknown:
            yield from walk(frames, e, at + 1, it, False)
        return
    try:
        low, high, step = f.lower(e), f.upper(e), f.step(e)
    except Unknown:
        raise ValueError("a loop bound is not known") from None
    k = 0
    while low + k * step < high:
        e[f.k] = k
        yield from walk(frames, e, at + 1, it + (k,), sure)
        k += 1
    e.pop(f.k, None)


class Execution:
    __slots__ = ("r", "pid", "it", "lane", "addr", "sure", "epoch")

    def __init__(self, r, pid, it, lane, addr, sure, epoch):
        self.r, self.pid, self.it, self.lane, self.addr, self.sure, self.epoch = r, pid, it, lane, addr, sure, epoch


def common(a, b):
    n = 0
    while n < len(a) and n < len(b) and a[n] == b[n]:
        n += 1
    return n


def epoch(r, it, fences, runs):
    """Barriers that the program executed before this execution, None when not known."""
    count = 0
    for f, times in zip(fences, runs):
        if times is None:
            return None
        n = common(r.loops, f.loops)
        key = it[:n]
        for sure, j in times:
            if (j[:n], f.seq) < (key, r.seq):
                if not sure:
                    return None
                count += 1
    return count


def executions(records, fences, launch, args):
    grid = launch["grid"]
    e = {f"grid{i}": grid[i] for i in range(3)}
    for name, value in args.items():
        if isinstance(value, int):
            e[name] = value
    out = []
    for p in ((x, y, z) for z in range(grid[2]) for y in range(grid[1]) for x in range(grid[0])):
        for i in range(3):
            e[f"pid{i}"] = p[i]
        runs = []
        for f in fences:
            times = []
            for it, sure in walk(f.frames, e):
                times.append((sure, it))
            runs.append(None if f.opaque else times)
        for r in records:
            tensor = args[r.base_name]
            for it, sure in walk(r.frames, e):
                when = epoch(r, it, fences, runs)
                for n in range(r.lanes):
                    lane, rest = [], n
                    for extent in reversed(r.shape):
                        lane.insert(0, rest % extent)
                        rest //= extent
                    for d, v in enumerate(lane):
                        e[f"lane{d}"] = v
                    certain = sure
                    try:
                        if not r.mask(e):
                            continue
                    except Unknown:
                        certain = False
                    for held in r.held:
                        try:
                            if not held(e):
                                raise ValueError("a width condition fails")
                        except Unknown:
                            pass
                    try:
                        addr = tensor["ptr"] + r.offset(e)
                    except Unknown:
                        raise ValueError("an address is not known") from None
                    if tensor["lo"] <= addr < tensor["hi"]:
                        out.append(Execution(r, p, it, tuple(lane), addr, certain, when))
                        if len(out) > LIMIT:
                            raise ValueError("too many executions")
    return out


# ---- races -------------------------------------------------------------------------------------------------

def unordered(x, y, strict_atomics):
    """True, False, or None (cannot tell)."""
    if x.pid != y.pid:
        return None if strict_atomics else True
    if x.r.desc or y.r.desc:
        return None if x is not y else False
    if x.epoch is None or y.epoch is None:
        sure = None
    elif x.epoch != y.epoch:
        return False
    else:
        sure = True
    if x.r is y.r and x.lane == y.lane and x.r.position:
        return False
    for a, b in ((x, y), (y, x)):
        if a.r.id in b.r.closure and a.lane == b.lane and a.r.position and b.r.position and a.r.shape == b.r.shape:
            n = common(a.r.loops, b.r.loops)
            if a.it[:n] == b.it[:n] and not (a.r.kind == "load" and a.r.lanes == 1 and a.r.reaches):
                return False
    return sure


def conflict(x, y):
    a, b = x.r, y.r
    if not (a.writes or b.writes):
        return False
    if a.atomic and b.atomic and a.desc == b.desc and a.width == b.width and x.addr == y.addr:
        if x.pid == y.pid or (a.scope != "cta" and b.scope != "cta"):
            return False
    return True


def races(found, ordered_by_atomics):
    """{(id, id, agents): definite}"""
    cells, out = {}, {}
    for x in found:
        for byte in range(x.addr, x.addr + x.r.width):
            cells.setdefault(byte, []).append(x)
    for here in cells.values():
        if len(here) < 2:
            continue
        groups = {}
        for x in here:
            groups.setdefault(x.r.id, []).append(x)
        ids = sorted(groups)
        for i in ids:
            for j in ids:
                if j < i or not (groups[i][0].r.writes or groups[j][0].r.writes):
                    continue
                for agents in ("programs", "threads"):
                    if out.get((i, j, agents)):
                        continue
                    answer = None
                    for x in groups[i]:
                        for y in groups[j]:
                            if x is y or (x.pid != y.pid) != (agents == "programs") or not conflict(x, y):
                                continue
                            u = unordered(x, y, ordered_by_atomics)
                            if u is False:
                                continue
                            sure = u and x.sure and y.sure and "atomic_cas" not in (x.r.kind, y.r.kind) \
                                and not x.r.uncertain and not y.r.uncertain
                            answer = answer or bool(sure)
                            if answer:
                                break
                        if answer:
                            break
                    if answer is not None:
                        out[i, j, agents] = bool(answer)
    return out


def enumerated(binary, path):
    """(records, their executions) of a launch; ValueError when it cannot be enumerated."""
    done = subprocess.run([binary, "dump", "--stage=records", path], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"dump: exit status {done.returncode}: {done.stderr[-300:]}")
    records, fences, formals = [], [], []
    named.clear()
    for line in done.stdout.splitlines():
        if line.startswith("(record "):
            x = parse(line)
            records.append(Record(x))
            f = fields(x)
            records[-1].base_name = f["base"][1] if len(f["base"]) > 1 else None
        elif line.startswith("(def "):
            x = parse(line)
            named[x[1]] = function(x[2])
        elif line.startswith("(fence "):
            fences.append(Fence(parse(line)))
        elif line.startswith("(arg "):
            formals.append(parse(line)[2])
        elif line.startswith(("(refusal ", "(premise ")):
            raise ValueError("the records are not complete")
    if any(r.refused for r in records):
        raise ValueError("a record is refused")
    with open(path, encoding="utf-8") as f:
        launch = json.load(f)
    args = {}
    for name, value in launch["args"].items():
        if isinstance(value, dict) and "tensor" in value:
            t = value["tensor"]
            width = {"bool": 1}.get(t["dtype"]) or int(re.search(r"(\d+)", t["dtype"]).group(1)) // 8
            strides = t.get("strides")
            if strides is None:
                strides, run = [], 1
                for n in reversed(t["shape"]):
                    strides.insert(0, run)
                    run *= n
            low = sum(min(0, (n - 1) * s) for n, s in zip(t["shape"], strides)) * width
            high = (sum(max(0, (n - 1) * s) for n, s in zip(t["shape"], strides)) + 1) * width
            storage = t.get("storage", {"ptr": t["ptr"] + low, "bytes": high - low})
            args[name] = {"ptr": t["ptr"], "lo": storage["ptr"], "hi": storage["ptr"] + storage["bytes"]}
        else:
            args[name] = int(value) if isinstance(value, bool) else value
    return records, executions(records, fences, launch, args)


def examine(binary, path):
    """(records, {(id, id, agents): definite}) of a launch; ValueError when it cannot be enumerated."""
    records, found = enumerated(binary, path)
    synchronising = any(r.atomic and r.sem in ("release", "acq_rel") for r in records) and \
        any(r.atomic and r.sem in ("acquire", "acq_rel") for r in records)
    return records, races(found, synchronising)


def racing_programs(found, a, b, same_program):
    """Program pairs (programs, within one) in which records a and b race; a record with itself: smaller id first."""
    cells, out = {}, set()
    for x in found:
        if x.r.id in (a, b):
            for byte in range(x.addr, x.addr + x.r.width):
                cells.setdefault(byte, []).append(x)
    for here in cells.values():
        for x in here:
            if x.r.id != a:
                continue
            for y in here:
                if y.r.id != b or x is y or (x.pid == y.pid) != same_program or not conflict(x, y):
                    continue
                if unordered(x, y, False) is False:
                    continue
                if same_program:
                    out.add(x.pid)
                elif a != b or x.pid < y.pid:
                    out.add((x.pid, y.pid))
    return out


def main():
    binary = program()
    paths = [os.path.abspath(a) for a in sys.argv[1:] if a.endswith(".json")]
    paths = paths or sorted(glob.glob(os.path.join(os.path.dirname(HERE), "kernels", "ttir", "*.small.json")))
    verdicts, problems = check(binary, paths)
    failures = len(problems)
    for p in problems:
        print("FAIL", p)
    done = skipped = 0
    for path in paths:
        name, v = os.path.basename(path), verdicts.get(path)
        if v is None:
            continue
        try:
            records, found = examine(binary, path)
        except ValueError as why:
            skipped += 1
            if "--verbose" in sys.argv:
                print(f"{name}: skipped: {why}")
            continue
        done += 1
        line = {r.id: r.line for r in records}
        definite = {(line[i], line[j], g) for (i, j, g), sure in found.items() if sure}
        possible = {(line[i], line[j], g) for i, j, g in found}
        claimed = {(tuple(a), tuple(b), g) for _, a, b, g in map(sites, v["races"])}
        if v["status"] == "ok" and definite:
            failures += 1
            print(f"FAIL {name}: proved, but the records race: {sorted(definite)}")
        elif v["status"] == "ok" and "--verbose" in sys.argv and possible:
            print(f"{name}: proved, possible races {sorted(possible)}")
        elif v["status"] == "races":
            if not claimed <= possible:
                failures += 1
                print(f"FAIL {name}: reported, but not found: {sorted(claimed - possible)}")
            if not definite <= claimed:
                failures += 1
                print(f"FAIL {name}: found, but not reported: {sorted(definite - claimed)}")
    print(f"{done} launches enumerated, {skipped} skipped (loaded addresses or bounds, refused records, too large), {failures} failures")
    return 1 if failures or done * 2 < len(paths) else 0


if __name__ == "__main__":
    sys.exit(main())
