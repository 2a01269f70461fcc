"""The part of a certificate about shared memory: sharedK.txt, read. It holds the events of a kernel (accesses, barriers, waits, with the
iterations in which each happens) and the barrier phases that the proof found; recheck_shared.py works the proof out from them.
Shares no code with the analyser. Relations go from instances of events ("E3[i]": event 3 in iteration i) to such instances or to
phases of barriers ("P1[s, n]": phase n of barrier s of allocation 1)."""
from __future__ import annotations

import re
from typing import Dict, List, Optional, Set, Tuple

if __package__:
    from .recheck_text import Rejected, _parse
else:
    from recheck_text import Rejected, _parse

OUTER = ("wait", "init", "inval")
COUNTED = {"cp": ("cp_commit", "cp_wait"), "wgmma": ("dot", "dot_wait"), "tma_store": ("store", "store_wait")}
UNIT = {"cp": "cp", "dot": "wgmma", "store": "tma_store", "tma_load": "tma_load", "tc": "tc"}


class Open(Exception):
    """This cannot be worked out here: not confirmed."""


class View:
    def __init__(self, x: list):
        self.alloc = int(x[1])
        self.dims = [("at", d[1]) if d[0] == "at" else ("from", int(d[1]), int(d[2])) for d in x[2:]]


class Access:
    def __init__(self, x: list):
        f = {y[0]: y for y in x[1:]}
        self.write, self.unit, self.proxy = f["does"][1] == "write", f["unit"][1], f["async_proxy"][1] == "yes"
        self.atomic = None if f["atomic"][1] == "no" else f["atomic"][1]
        self.view = View(f["view"])
        self.other, self.guard = "other" in f, f["guard"][1] if "guard" in f else "true"    # one of several views


class Barrier:
    def __init__(self, x: list):
        f = {y[0]: y for y in x[1:]}
        self.pred, self.number, self.view = f["if"][1], f["number"][1], View(f["view"])
        self.alloc = self.view.alloc


class Event:
    def __init__(self, x: list):
        f = {y[0]: y[1:] for y in x[2:] if y[0] not in ("access", "barrier")}
        self.id, self.kind = int(x[1]), f["kind"][0]
        self.op, self.line, self.name = int(f["op"][0]), int(f["op"][1]), f["op"][2].strip('"')
        self.agent, self.ws, self.copy, self.seq = (int(f[k][0]) for k in ("agent", "ws", "copy", "seq"))
        self.count, self.bytes = int(f["count"][0]), int(f["bytes"][0])
        self.branch, self.branch_loops = int(f["branch"][0]), int(f["branch"][1])
        self.may, self.exact = f["may"][0] == "yes", f["exact"][0] == "yes"
        self.warps = int(f["warps"][0]) if "warps" in f else 0    # of a TMA load's partition
        self.loops = [int(v) for v in f["loops"]]
        self.when, self.phase = f["when"][0], f["phase"][0]
        self.given = f["given"][0] if "given" in f else "true"     # it happens only where this holds, about unknown values
        self.accesses = [Access(y) for y in x[2:] if y[0] == "access"]
        self.barriers = [Barrier(y) for y in x[2:] if y[0] == "barrier"]
        self.beside = {int(v) for v in f.get("beside", [])}
        self.unit = UNIT.get(self.kind, "threads")

    @property
    def arrives(self) -> bool:
        return bool(self.barriers) and self.kind not in OUTER

    @property
    def weight(self) -> int:
        return self.count if self.kind in ("arrive", "cp_arrive") else 1 if self.kind in ("expect", "tc", "tc_commit") else 0

    @property
    def tx(self) -> int:
        return self.bytes if self.kind == "expect" else -self.bytes if self.kind == "tma_load" else 0


def _renamed(t):
    """The counters of the other copy: k3 becomes j3; unknown values: u3 becomes v3."""
    if isinstance(t, str):
        return {"k": "j", "u": "v"}.get(t[0], t[0]) + t[1:] if t[1:].isdigit() else t
    return [t[0], *(_renamed(x) for x in t[1:])]


def _all(*parts):
    return ["and", *parts]


class Model:
    """The events and what the relations are made of."""

    def __init__(self, text: str, isl, limit: int):
        self.isl = isl
        self.ctx = isl.Context()
        if limit:
            self.ctx.set_max_operations(limit)
        self.values: Dict[str, Tuple[Optional[int], Optional[int]]] = {}
        self.loops: Dict[int, dict] = {}
        self.copies: Dict[int, dict] = {}
        self.allocs: Dict[int, dict] = {}
        self.events: List[Event] = []
        self.loose = False
        self.names: Dict[str, str] = {}                           # of values
        self.defs: list = []                                      # conditions that hold at every launch
        self.meetings: Dict[Tuple[int, int], str] = {}
        self.unknowns: Dict[str, Tuple[int, Tuple[Optional[int], Optional[int]]]] = {}    # values of each iteration of a loop
        self.closure_text = ""
        self.never: Set[Tuple[int, str]] = set()                  # operations whose predicate the analyser found to be false
        self.head: dict = {}
        for line in _parse(text):
            f = {y[0]: y[1:] for y in line[1:] if isinstance(y, list)}
            if line[0] == "shared":
                if line[1] != "1":
                    raise Rejected(f"sharedK.txt: version {line[1]} is not known")
                self.head = {k: v[0] for k, v in f.items()}
            elif line[0] == "value":
                self.values[line[1]] = self._ends(line[2], line[3])
                self.names[line[1]] = line[4].strip('"').lstrip("%")
            elif line[0] == "define":
                if "is" in f:
                    self.defs.append((f["value"][0], f["is"][0]))
                else:
                    self.loose = True                             # what trip counts are: not looked at here
            elif line[0] == "loop":
                self.loops[int(line[1])] = {"ends": self._ends(line[2], line[3]), "trips": f["trips"][0], "flat": f["flat"][0] == "yes",
                                            "outer": int(f["nest"][0]), "nest": int(f["nest"][1])}
            elif line[0] == "unknown":
                self.unknowns[line[1]] = (int(line[2]), self._ends(line[3], line[4]))
            elif line[0] == "copy":
                self.copies[int(line[1])] = {"op": f["op"][0], "outer": int(f["outer"][0]), "second": f["second"][0] == "yes", "when": f["when"][0]}
            elif line[0] == "alloc":
                self.allocs[int(line[1])] = {
                    "memory": f["memory"][0], "shape": [int(v) for v in f["shape"]], "bits": int(f["bits"][0]), "offset": int(f["offset"][0]),
                    "columns": tuple(int(v) for v in f["columns"]) if "columns" in f else None,
                    "life": (int(f["life"][0]), int(f["life"][1])), "op": int(f["op"][0]), "region": (int(f["region"][0]), int(f["region"][1])),
                    "copy": int(f["copy"][0]), "barrier": f["barrier"][0] == "yes", "payload": f["payload"][0] == "yes", "name": f["name"][0].strip('"')}
            elif line[0] == "event":
                self.events.append(Event(line))
            elif line[0] == "never":
                self.never.add((int(line[1]), line[2].strip('"')))
            elif line[0] == "closure":
                self.closure_text = line[1].strip('"')
            elif line[0] == "meet":
                self.meetings[int(line[1]), int(line[2])] = line[3].strip('"')
            else:
                raise Rejected(f"sharedK.txt: a line that no certificate has: {line[0]}")
        if [e.id for e in self.events] != list(range(len(self.events))) or not self.head:
            raise Rejected("sharedK.txt: the events are not numbered from 0")
        self._consistent()

    @staticmethod
    def _ends(lo: str, hi: str) -> Tuple[Optional[int], Optional[int]]:
        return (None if lo == "-inf" else int(lo), None if hi == "inf" else int(hi))

    def _consistent(self) -> None:
        """What the events say about themselves: order and number agree, views lie in their allocations, a barrier is marked as one."""
        used: Dict[int, List[str]] = {a: [] for a in self.allocs}
        for e in self.events:
            for v in [a.view for a in e.accesses] + [b.view for b in e.barriers]:
                shape = self.allocs[v.alloc]["shape"]
                if len(v.dims) != len(shape) or any(d[0] == "from" and not 0 <= d[1] < d[2] <= n for d, n in zip(v.dims, shape)):
                    raise Rejected(f"event {e.id}: its bytes are not in the allocation")
            for b in e.barriers:
                used[b.alloc].append("barrier")
            for a in e.accesses:
                if e.kind != "dealloc":
                    used[a.view.alloc].append("payload")
            if any(a.unit != e.unit for a in e.accesses):
                raise Rejected(f"event {e.id}: its accesses are not carried out by what it is")
            if any(i not in self.loops for i in e.loops) or (e.copy and e.copy not in self.copies):
                raise Rejected(f"event {e.id}: a loop that is not there")
        for i, a in self.allocs.items():
            if ("barrier" in used[i] and not a["barrier"]) or (a["barrier"] and "payload" in used[i] and not a["payload"]):
                raise Rejected(f"allocation {i} is not what the events make of it")

    # ---- terms as isl sets ------------------------------------------------------------------------------
    def _bounds(self, name: str) -> Tuple[Optional[int], Optional[int]]:
        if name[0] == "p":
            return self.values[name]
        if name[0] in "uv" and "u" + name[1:] in self.unknowns:
            return self.unknowns["u" + name[1:]][1]
        return self.loops[int(name[1:])]["ends"] if name[0] in "kj" and name[1:].isdigit() else (None, None)

    def number(self, n: int):
        return self.isl.Val.read_from_str(self.ctx, str(n))

    def _space(self, names: List[str]):
        return self.isl.Space.create_from_names(self.ctx, set=names, params=list(self.values))

    def _set(self, names: List[str], conjuncts: List):
        isl = self.isl
        space = self._space(names)
        affs = {k: v for k, v in isl.affs_from_space(space).items() if k != 0}
        every = isl.Set.universe(space)
        memo: dict = {}

        def number(n: int):
            return isl.PwAff.from_aff(isl.Aff.val_on_domain(isl.LocalSpace.from_space(space), self.number(n)))

        def value(t):
            key = id(t) if not isinstance(t, str) else t
            if key not in memo:
                memo[key] = (_value(t), t)
            return memo[key][0]

        def _value(t):
            if isinstance(t, str):
                if t in affs:
                    return affs[t]
                try:
                    return number(int(t))
                except ValueError:
                    raise Open(f"a value that has no relation: {t}") from None
            op, args = t[0], t[1:]
            if op == "+":
                out = value(args[0])
                for x in args[1:]:
                    out = out + value(x)
                return out
            if op == "*" and len(args) == 2:
                for c, x in ((args[0], args[1]), (args[1], args[0])):
                    if isinstance(c, str) and c.lstrip("-").isdigit():
                        return value(x).scale_val(self.number(int(c)))
            if op in ("min", "max"):
                return value(args[0]).min(value(args[1])) if op == "min" else value(args[0]).max(value(args[1]))
            if op == "select":
                c = boolean(args[0])
                return value(args[1]).intersect_domain(c).union_add(value(args[2]).intersect_domain(every - c))
            if op in ("fdiv", "fmod", "tdiv", "trem") and isinstance(args[1], str) and args[1].lstrip("-").isdigit():
                d, x = int(args[1]), value(args[0])
                if d > 0:
                    by = self.number(d)
                    if op == "fdiv":
                        return x.scale_down_val(by).floor()
                    if op == "fmod":
                        return x.mod_val(by)
                    return x.tdiv_q(number(d)) if op == "tdiv" else x.tdiv_r(number(d))
            raise Open(f"an operation that has no relation: {op}")

        def boolean(t):
            if t == "true":
                return every
            if t == "false":
                return isl.Set.empty(space)
            if isinstance(t, str):
                raise Open(f"a condition that has no relation: {t}")
            op, args = t[0], t[1:]
            if op == "<=":
                return value(args[0]).le_set(value(args[1]))
            if op == "<":
                return value(args[0]).lt_set(value(args[1]))
            if op == "=":
                return value(args[0]).eq_set(value(args[1]))
            if op == "not":
                return every - boolean(args[0])
            if op in ("and", "or"):
                out = every if op == "and" else isl.Set.empty(space)
                for x in args:
                    out = out & boolean(x) if op == "and" else out | boolean(x)
                return out
            if op == "fits" and args[0][0] in "iub":
                x, bits = value(args[1]), int(args[0][1:])
                low = 0 if args[0][0] != "i" else -(1 << (bits - 1))
                out = x.ge_set(number(low))
                if args[0][0] == "u":
                    return out
                return out & x.le_set(number((1 << (bits - 1)) - 1 if args[0][0] == "i" else 1))
            if op == "select":
                c = boolean(args[0])
                return (c & boolean(args[1])) | (boolean(args[2]) - c)
            raise Open(f"a condition that has no relation: {op}")

        out = every
        for name in [*self.values, *names]:
            lo, hi = self._bounds(name)
            if lo is not None:
                out = out & affs[name].ge_set(number(lo))
            if hi is not None:
                out = out & affs[name].le_set(number(hi))
        for c in conjuncts:
            if c == "none":
                raise Open("a value that has no term")
            out = out & boolean(c)
        return out

    def make(self, source: str, ins: List[str], target: str, outs: List[str], others: List[str], conjuncts: List):
        """{ source[ins] -> target[outs] : conjuncts, for some others }."""
        s = self._set([*ins, *outs, *others], conjuncts)
        t = self.isl.dim_type
        if others:
            s = s.project_out(t.set, len(ins) + len(outs), len(others))
        m = self.isl.Map.from_range(s.coalesce()).move_dims(t.in_, 0, t.out, 0, len(ins))
        return self.isl.UnionMap.from_map(m.set_tuple_name(t.in_, source).set_tuple_name(t.out, target))

    def none(self):
        return self.isl.UnionMap.read_from_str(self.ctx, "{ }")

    @staticmethod
    def counters(e: Event, letter: str = "k") -> List[str]:
        return [f"{letter}{i}" for i in e.loops]

    def flat_at(self, e: Event) -> int:
        return next((n for n, i in enumerate(e.loops) if self.loops[i]["flat"]), -1)

    def within(self, copy: int, outer: int) -> bool:
        while copy > outer:
            copy = self.copies[copy]["outer"]
        return copy == outer

    # ---- storage ----------------------------------------------------------------------------------------
    def lives_together(self, i: int, j: int) -> bool:
        """The compiler gives the two allocations different bytes."""
        a, b = self.allocs[i], self.allocs[j]
        if i == j:
            return False
        if a["memory"] != b["memory"]:
            return True
        if a["region"][0] >= 0 and a["region"][0] == b["region"][0] and a["region"][1] != b["region"][1]:
            return True
        return a["life"][0] <= b["life"][1] and b["life"][0] <= a["life"][1]

    def apart(self, i: int, j: int) -> bool:
        a, b = self.allocs[i], self.allocs[j]
        if a["memory"] != b["memory"]:
            return True
        if a["columns"] and b["columns"]:
            (c, n, rows), (d, m, others) = a["columns"], b["columns"]
            return not rows & others or c >= d + m or d >= c + n
        if a["offset"] < 0 or b["offset"] < 0:
            return self.lives_together(i, j)
        sizes = []
        for x in (a, b):
            n = x["bits"]
            for d in x["shape"]:
                n *= d
            sizes.append((n + 7) // 8)
        return a["offset"] >= b["offset"] + sizes[1] or b["offset"] >= a["offset"] + sizes[0]

    # ---- the text ---------------------------------------------------------------------------------------
    def covers(self, text: str) -> None:
        """Every operation of the text that touches shared memory or barriers is among the events, as what it is, and in its order."""
        lines = text.split("\n")
        if self.head["several_ctas"] == "yes" or re.search(r'"ttg\.num-ctas" = (?!1 )', text):
            raise Open("several CTAs: that none of them reaches another one is not worked out again")
        if not text:
            return
        at: Dict[int, List[Event]] = {}
        for e in self.events:
            at.setdefault(e.line, []).append(e)
            head = _OPERATION.match(lines[e.line - 1]) if 0 < e.line <= len(lines) else None
            if not head or head[1] != e.name:
                raise Rejected(f"event {e.id} is no operation of the text (line {e.line})")
            if e.kind not in _KINDS.get(e.name, (e.kind,)):
                raise Rejected(f"event {e.id} is another thing than its operation (line {e.line})")
            number = e.bytes if e.kind == "expect" else e.count if e.kind in ("init", "arrive", "cp_wait", "dot_wait", "store_wait") else None
            if number is not None and number < 1 << 20 and not re.search(rf"(?<![\w%#]){number}(?!\w)", lines[e.line - 1]):
                raise Rejected(f"event {e.id} has another count than its operation (line {e.line})")
        for e in self.events:
            self._as_written(e, lines[e.line - 1])
        self._storage_as_written(lines)
        self._agents_as_written(lines)
        self._calls_as_written(lines)
        self._definitions_as_written(lines)
        for n, name in self.never:                                # their predicate is false
            if not 0 < n <= len(lines) or name not in _PREDICATED or self._predicate(lines, lines[n - 1], name) is None:
                raise Rejected(f"line {n}: {name} has no predicate that can be false")
        inside = False
        for n, line in enumerate(lines, 1):
            if "tt.func" in line:
                inside = bool(re.search(r"tt\.func\"?.*\bpublic\b|tt\.func\"?(?!.*\bprivate\b)", line))
            head = _OPERATION.match(line) if inside else None
            bare = head and head[1] in _ALLOCATIONS and not re.search(r"_alloc %", line)     # no contents, no event
            if head and head[1] in _KINDS and not bare and (n, head[1]) not in self.never and not any(e.kind in _KINDS[head[1]] for e in at.get(n, [])):
                raise Rejected(f"line {n}: {head[1]} is not among the events")
        at_line = 0
        for e in sorted(self.events, key=lambda e: (e.op, e.line)):
            if e.line < at_line:
                raise Rejected(f"event {e.id} is not at its place in the text (line {e.line})")
            at_line = e.line
        last: Dict[Tuple[int, int], Event] = {}
        seen = set()
        for e in sorted(self.events, key=lambda e: e.seq):
            if (e.copy, e.op) in seen or e.kind in ("entry", "join", "begin", "end"):
                continue                                          # one operation with several effects, or with regions
            seen.add((e.copy, e.op))
            before = last.get((e.agent, e.copy))
            if before is not None and before.op > e.op:
                raise Rejected(f"events {before.id} and {e.id} are not in the order of the text")
            last[e.agent, e.copy] = e


    def _definitions_as_written(self, lines: List[str]) -> None:
        """What a value is said to be, its operation in the text computes, of the operands that it has there."""
        done = set()
        for value, what in self.defs:
            if value not in self.values or value in done or _within(what, value):
                raise Rejected("a definition of no value, or of one that is defined before")
            done.add(value)
            names = {self.names[v] for v in self.values if _within(what, v) and not re.fullmatch(r"(pid|programs)_[xyz]", self.names[v])}
            kinds = "|".join(sorted({k for op in _operators(what) for k in _COMPUTED.get(op, ())}))
            found = [line for line in lines if kinds and re.match(rf"\s*%{re.escape(self.names[value])} = arith\.(?:{kinds}) ", line)]
            if not any(names <= self._reached(lines, line) for line in found):
                raise Rejected(f"the definition of {self.names[value]} is not what the text computes")

    @staticmethod
    def _reached(lines: List[str], line: str) -> Set[str]:
        """The names that the operands of a line are computed from."""
        made = {m[1]: x for x in lines for m in [re.match(r"\s*%([\w$.\-]+) = ", x)] if m}
        seen: Set[str] = set()
        todo = [line]
        while todo:
            for name in re.findall(r"%([\w$.\-]+)", re.sub(r"loc\(.*", "", todo.pop().split(" = ", 1)[-1])):
                if name not in seen:
                    seen.add(name)
                    todo += [made[name]] if name in made and "arith." in made[name] else []
        return seen

    def _calls_as_written(self, lines: List[str]) -> None:
        """A call counts as scratch memory: no function but the kernel itself does more to shared memory."""
        if not any(e.name == "tt.call" for e in self.events):
            return
        public = True
        for n, line in enumerate(lines, 1):
            if "tt.func" in line:
                public = not re.search(r"\bprivate\b", line)
            head = _OPERATION.match(line)
            if public or not head or "tt.func" in line:
                continue
            gpu = head[1].startswith(("ttg.", "ttng.")) and head[1] not in ("ttg.convert_layout", "ttg.fp4_to_fp", "ttg.global_scratch_alloc")
            known = head[1].split(".")[0] in ("tt", "ttg", "arith", "math", "scf", "ub", "cf", "llvm")
            assembly = head[1] in ("tt.elementwise_inline_asm", "tt.extern_elementwise") and not re.search(r"\bpure( = true)?\b(?! = false)", line)
            if gpu or not known or assembly or "!ttg.memdesc" in line:
                raise Rejected(f"line {n}: a called function does more than use scratch memory")

    def _as_written(self, e: Event, line: str) -> None:
        """It accesses what its operation does, as it does."""
        want = _ACCESSES.get(e.name)
        if e.name == "ttng.warp_group_dot":
            is_async = bool(re.search(r"\bisAsync(?! = false)\b", line))
            if is_async != (e.kind == "dot"):
                raise Rejected(f"event {e.id} completes at another time than its operation (line {e.line})")
            types = re.sub(r"loc\(.*", "", line).rsplit(" -> ", 1)[0]
            want = "r" * types.count("memdesc<")
        if want is None:
            return
        if "".join("w" if a.write else "r" for a in e.accesses if not a.other) != want:
            raise Rejected(f"event {e.id} accesses other things than its operation (line {e.line})")
        for a in e.accesses:
            through = e.name in _ASYNC_PROXY and self.allocs[a.view.alloc]["memory"] == "shared"
            if a.proxy != through or (a.atomic is not None and e.name != "ttg.local_atomic_scatter_rmw"):
                raise Rejected(f"event {e.id} accesses its bytes in another way than its operation (line {e.line})")

    @staticmethod
    def _predicate(lines: List[str], line: str, name: str) -> Optional[str]:
        """The value that says whether the operation happens; None: there is none, or it is true."""
        operands = re.sub(r"\{[^{}]*\}|%[\w$.\-#]+\[%[\w$.\-#]+\]", "", line.split(name, 1)[-1].split(" : ")[0].split(" deps")[0].split(" descs")[0])
        names = re.findall(r"%[\w$.\-#]+", operands)
        if len(names) < _PREDICATED[name]:
            return None
        return None if any(re.match(rf"\s*{re.escape(names[-1])} = arith\.constant true\b", x) for x in lines) else names[-1]

    def _storage_as_written(self, lines: List[str]) -> None:
        """Shape, memory and place of each allocation are those of an operation of its name."""
        made: Dict[str, List[str]] = {}
        self.aliases = {m[1]: m[2] for m in (re.match(r"^(#[\w.]+) = #ttng\.tensor_memory_encoding(<.*>)", line) for line in lines) if m}
        for line in lines:
            m = re.match(r"^\s*(%[\w$.\-]+)(?::\d+)?(?:, %[\w$.\-]+)? = \"?(?:ttg\.local_alloc|ttng\.tmem_alloc)\b", line)
            if m:
                made.setdefault(m[1].lstrip("%"), []).append(line)
        for i, a in self.allocs.items():
            shape = "memdesc<" + "".join(f"{d}x" for d in a["shape"])
            name = "ttng.tmem_alloc" if a["memory"] == "tensor" else "ttg.local_alloc"
            place = f"allocation.offset = {a['offset']} " if a["offset"] >= 0 else ""
            if not any(shape in line and name in line and place in line.replace("}", " ") for line in made.get(a["name"].lstrip("%"), [])):
                raise Rejected(f"allocation {i} is not one of the text")
            if a["columns"]:
                self._columns_as_written(i, a, [line for line in made.get(a["name"].lstrip("%"), []) if name in line])
            if a["life"][0] != a["op"] or a["life"][1] < a["op"]:
                raise Rejected(f"allocation {i} lives before it is made")

    def _columns_as_written(self, i: int, a: dict, lines: List[str]) -> None:
        """The columns and rows of tensor memory are those that the text names for a layout of whole tiles."""
        col, n, rows = a["columns"]
        for line in lines:
            at = {k: int(v) for k, v in re.findall(r"tensor_memory_(col|row)_offset = (\d+)", line)}
            layout = re.search(r"memdesc<[^<]*?, (#[\w.]+)(<[^>]*>)?", line)
            body = (layout[2] or self.aliases.get(layout[1], "")) if layout else ""
            have = {k: int(v) for k, v in re.findall(r"\b(blockM|blockN|colStride) = (\d+)", body)}
            if len(have) != 3 or at.get("col") != col or "row" not in at or re.search("CTASplit|CGALayout|twoCTAs", body):
                continue
            m, k = a["shape"][-2:]
            tiles = 1
            for d in a["shape"][:-2]:
                tiles *= d
            half, beside = have["blockM"] == 64 == m, k // have["blockN"]
            want = 0xff if have["blockM"] == 128 and at["row"] == 0 else {0: 0x55, 16: 0xaa}.get(at["row"]) if half and beside == 1 else None
            if half and beside > 1 and beside % 2 == 0 and at["row"] == 0:
                want, k = 0xff, k // 2                             # two tiles in the same columns
            if rows == want and n == tiles * (m // have["blockM"]) * (k // have["blockN"]) * have["blockN"] * a["bits"] * have["colStride"] // 32:
                return
        raise Rejected(f"allocation {i} is at another place in the text")

    def _agents_as_written(self, lines: List[str]) -> None:
        """Operations of a partition are those of its agent, with its number of warps."""
        agent, warps, until, where = 0, 0, "", {}
        for n, line in enumerate(lines, 1):
            head = re.match(r"^(\s*)partition(\d+)\(.*\bnum_warps\((\d+)\)", line)
            if until and line.startswith(until) and not head:
                agent, until = 0, ""
            if head:
                agent, warps, until = int(head[2]) + 1, int(head[3]), head[1] + "}"
            where[n] = (agent, warps)
        if not any(a for a, _ in where.values()):
            return                                                # none, or written in another form
        for e in self.events:
            if e.kind in ("entry", "join", "begin", "end", "close"):
                continue
            if e.agent != where[e.line][0]:
                raise Rejected(f"event {e.id} is in another partition than its operation (line {e.line})")
            if e.agent and e.warps not in (0, where[e.line][1]):
                raise Rejected(f"event {e.id} is issued by another number of warps (line {e.line})")


# Operations of the text by the operators of terms.
_COMPUTED = {"*": ("muli", "shli"), "fdiv": ("divui", "floordivsi", "shrsi", "shrui", "ceildivsi", "ceildivui", "divsi"), "fmod": ("remui", "remsi", "andi"),
             "tdiv": ("divsi",), "trem": ("remsi",), "band": ("andi",), "bor": ("ori",), "bxor": ("xori",), "+": ("muli", "ceildivsi", "ceildivui")}


def _within(t, name: str) -> bool:
    return t == name if isinstance(t, str) else any(_within(x, name) for x in t[1:])


def _operators(t) -> Set[str]:
    return set() if isinstance(t, str) else {t[0]}.union(*(_operators(x) for x in t[1:]))


_OPERATION = re.compile(r"^\s*(?:%[^=]*=\s*)?\"?([a-z_]+(?:\.[a-z_0-9]+)+)\"?")
_KINDS = {
    "ttng.init_barrier": ("init",), "ttng.inval_barrier": ("inval",), "ttng.wait_barrier": ("wait",), "ttng.barrier_expect": ("expect",),
    "ttng.arrive_barrier": ("arrive",), "ttng.async_copy_mbarrier_arrive": ("cp_arrive",), "ttng.tc_gen5_commit": ("tc_commit",),
    "ttng.tc_gen5_mma": ("tc",), "ttng.tc_gen5_mma_scaled": ("tc",), "ttng.tmem_copy": ("tc",),
    "ttng.tmem_load": ("access",), "ttng.tmem_store": ("access",), "ttg.local_load": ("access",), "ttg.local_store": ("access",),
    "ttg.local_gather": ("access",), "ttg.local_scatter": ("access",), "ttg.async_copy_global_to_local": ("cp",),
    "ttg.async_commit_group": ("cp_commit",), "ttg.async_wait": ("cp_wait",), "ttng.warp_group_dot": ("dot", "access"),
    "ttng.warp_group_dot_wait": ("dot_wait",), "ttng.async_tma_copy_global_to_local": ("tma_load",), "ttng.async_tma_gather": ("tma_load",),
    "ttng.async_tma_copy_local_to_global": ("store",), "ttng.async_tma_reduce": ("store",), "ttng.async_tma_scatter": ("store",),
    "ttng.async_tma_store_wait": ("store_wait",), "ttng.fence_async_shared": ("fence",), "ttg.convert_layout": ("scratch",),
    "tt.call": ("scratch",), "tt.reduce": ("scratch",), "tt.scan": ("scratch",), "tt.histogram": ("scratch",), "tt.gather": ("scratch",),
    "ttg.local_alloc": ("access",), "ttng.tmem_alloc": ("access",), "ttg.local_atomic_scatter_rmw": ("access",),
    "ttng.clc_try_cancel": ("tma_load",), "ttng.clc_load_result": ("access",),
}
_ALLOCATIONS = ("ttg.local_alloc", "ttng.tmem_alloc")
# Operations with a predicate, their last operand: how many operands they have with it.
_PREDICATED = {"ttng.wait_barrier": 3, "ttng.barrier_expect": 2, "ttng.arrive_barrier": 2, "ttng.async_tma_copy_global_to_local": 3, "ttng.async_tma_gather": 3,
               "ttng.tc_gen5_commit": 2, "ttng.tc_gen5_mma": 5, "ttng.tc_gen5_mma_scaled": 7, "ttng.tmem_store": 3}
# What an operation reads (r) and writes (w), in the order of its events.
_ACCESSES = {
    "ttng.tc_gen5_mma": "rrw", "ttng.tc_gen5_mma_scaled": "rrrrw", "ttng.tmem_copy": "rw", "ttng.tmem_load": "r", "ttng.tmem_store": "w",
    "ttg.local_load": "r", "ttg.local_store": "w", "ttg.local_gather": "r", "ttg.local_scatter": "w", "ttg.local_atomic_scatter_rmw": "w",
    "ttg.async_copy_global_to_local": "w", "ttng.async_tma_copy_global_to_local": "w", "ttng.async_tma_gather": "w", "ttng.clc_try_cancel": "w",
    "ttng.clc_load_result": "r", "ttng.async_tma_copy_local_to_global": "r", "ttng.async_tma_reduce": "r", "ttng.async_tma_scatter": "r",
    "ttg.local_alloc": "w", "ttng.tmem_alloc": "w",
}
_ASYNC_PROXY = ("ttng.tc_gen5_mma", "ttng.tc_gen5_mma_scaled", "ttng.tmem_copy", "ttng.async_tma_copy_global_to_local", "ttng.async_tma_gather",
                "ttng.clc_try_cancel", "ttng.async_tma_copy_local_to_global", "ttng.async_tma_reduce", "ttng.async_tma_scatter", "ttng.warp_group_dot")
