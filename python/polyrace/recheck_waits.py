"""Orders between the programs of an executed launch that wait for each other, for recheck_execution.py.

The certificate lists the atomics of one lane that every program performs, what each is given, with which values of its location each wait
goes on, and which executions happen only with some results of an atomic. Worked out here: what each location can hold after any choice of the
writes that have run, which waits can end, and so what comes before what. A location's values are kept one by one (the analyser keeps bounds).

x of program P is before what stands a barrier behind a wait of another program when that wait cannot end although everything has run but the
releases of P that a barrier parts from x, and what waits for those. Shares no code with the analyser."""
from __future__ import annotations

from itertools import product
from typing import Dict, FrozenSet, List, NamedTuple, Optional, Tuple

if __package__:
    from .recheck_text import Rejected, _show
else:
    from recheck_text import Rejected, _show

_MOST_VALUES = 1 << 14
_MOST_STEPS = 20_000_000


class Unsettled(Exception):
    """This cannot be worked out here: not confirmed."""


def _signed(v: int, bits: int) -> int:
    v &= (1 << bits) - 1
    return v - (1 << bits) if v >> (bits - 1) else v


class Guard(NamedTuple):
    """It happens only when the atomic returns one of low..high; always: then it does, whatever else is not known."""
    atomic: "Atomic"
    low: int
    high: int
    always: bool


class Cell:
    def __init__(self, address: int, width: int, start: Optional[int]):
        self.address, self.width, self.bits, self.start = address, width, 8 * width, start
        self.usable = start is not None
        self.writes: List["Atomic"] = []
        self.all: Dict[Tuple[str, int], int] = {}                 # how many of each kind
        self.sum = self.followed = False
        self.known: Dict[tuple, FrozenSet[int]] = {}

    def values(self, count: Dict[Tuple[str, int], int], certain: Dict[int, int]) -> FrozenSet[int]:
        """What it can hold when some of the writes have been performed, so many of each kind; certain: these additions (of them) have."""
        key = (tuple(sorted(x for x in count.items() if x[1])), tuple(sorted(certain.items())))
        if key not in self.known:
            if len(self.known) > 4096:
                self.known.clear()
            self.known[key] = self._sums(count, certain) if self.sum else self._reached(count)
        return self.known[key]

    def _sums(self, count, certain) -> FrozenSet[int]:
        found = {self.start + sum(v * n for v, n in certain.items())}
        for (_, v), n in count.items():
            found = {x + k * v for x in found for k in range(n - certain.get(v, 0) + 1)}
            if len(found) > _MOST_VALUES:
                raise Unsettled("too many values of one location")
        return frozenset(_signed(x, self.bits) for x in found)

    def _reached(self, count) -> FrozenSet[int]:
        """Every write any number of times, in any order; additions among others only once each, by bounds."""
        writes = [k for k, n in count.items() if n]
        others, adds = [w for w in writes if w[0] != "add"], [v * count["add", v] for e, v in writes if e == "add"]
        found, todo = {self.start}, [self.start]
        while todo:
            x = todo.pop()
            for effect, v in others:
                y = v if effect == "set" else x | v if effect == "or" else x & v if effect == "and" else x ^ v
                if y not in found:
                    found.add(y)
                    todo.append(y)
            if len(found) > _MOST_VALUES:
                raise Unsettled("too many values of one location")
        if not adds:
            return frozenset(found)
        if any(e in ("or", "xor", "and") for e, _ in others):
            raise Unsettled("additions beside bit operations")
        low, high = min(found) + sum(v for v in adds if v < 0), max(found) + sum(v for v in adds if v > 0)
        if high - low > _MOST_VALUES or _signed(low, self.bits) != low or _signed(high, self.bits) != high:
            raise Unsettled("too many values of one location")
        return frozenset(range(low, high + 1))


class Atomic:
    def __init__(self, line: list, runs, sites):
        f = {x[0]: x[1:] for x in line[2:]}
        self.run = runs[int(line[1])]
        self.site = sites[self.run.site]
        s, run = self.site, self.run
        if not s.atomic or len(run.lanes) != 1 or s.lanes != 1 or 0 not in run.lanes:
            raise Rejected(f"execution: run {run.number} is no atomic of one lane")
        self.address, mark = run.lanes[0]
        self.sure, self.program, self.used = "m" not in mark, run.program, f["result"] == ["used"]
        self.acquires, self.releases = s.sem in ("acquire", "acq_rel"), s.sem in ("release", "acq_rel")
        self.given = [None if x == "?" else _signed(int(x), 8 * s.width) for x in f["given"]]
        self.effect, self.operand = self._effect()
        if f["once"] != ["yes"] and self.effect != "keep":
            self.effect = "unknown"
        self.waits = f["waits"][0] if "waits" in f else None
        if self.waits and self.effect != "keep":
            raise Rejected(f"execution: run {run.number} waits at a location that it changes")
        self.cell: Optional[Cell] = None
        self.certain: set = set()                                 # additions to its location that come before it
        self.later: List["Atomic"] = []                           # itself and what its program does to the location later
        self.leaves: List[Optional["Atomic"]] = []

    def _effect(self) -> Tuple[str, int]:
        s, (a, b) = self.site, self.given
        if s.kind in ("atomic_load", "atomic_poll"):
            return "keep", 0
        if s.kind == "atomic_cas" and b is not None:
            return ("keep", 0) if a == b else ("set", b)
        if s.kind != "atomic_rmw" or a is None:
            return "unknown", 0
        if s.rmw in ("add", "or", "xor") and a == 0:
            return "keep", 0
        return {"add": "add", "or": "or", "xor": "xor", "and": "and", "max": "set", "min": "set", "xchg": "set"}.get(s.rmw, "unknown"), a


class State:
    """What has run: which writes, and of each location how many of each kind."""
    def __init__(self):
        self.done: set = set()
        self.count: Dict[Cell, Dict[Tuple[str, int], int]] = {}

    def add(self, w: Atomic) -> None:
        self.done.add(w)
        of = self.count.setdefault(w.cell, {})
        of[w.effect, w.operand] = of.get((w.effect, w.operand), 0) + 1


class Waits:
    def __init__(self, lines: List[list], execution):
        self.e, self.steps = execution, 0
        runs, sites = execution.runs, execution.sites
        self.pre = self.post = False
        self.atomics: Dict[int, Atomic] = {}
        self.only: Dict[int, List[Guard]] = {}
        tried: Dict[int, Tuple[int, int]] = {}
        for line in lines:
            if line[0] == "compiler":
                self.pre, self.post = "release" in line[1:], "acquire" in line[1:]
                if "assumes atomic CTA ordering" not in execution.qualifiers:
                    raise Rejected("execution: barriers of the compiler order it, but no qualifier says 'assumes atomic CTA ordering'")
            elif line[0] == "atomic":
                a = Atomic(line, runs, sites)
                if a.run.number in self.atomics or (self.atomics and a.run.number < max(self.atomics)):
                    raise Rejected("execution: atomics that are listed twice, or in another order than they ran")
                self.atomics[a.run.number] = a
            elif line[0] == "tried":
                tried[int(line[1])] = int(line[2]), int(line[3])
            else:
                g = Guard(self.atomics[int(line[2])], int(line[3]), int(line[4]), line[5:] == ["always"])
                if g.atomic.run.number >= int(line[1]) or runs[int(line[1])].program != g.atomic.program or not g.atomic.sure:
                    raise Rejected(f"execution: run {line[1]} hangs on an atomic that does not come before it")
                self.only.setdefault(int(line[1]), []).append(g)
        self.of: List[List[Atomic]] = [[] for _ in range(execution.programs)]
        for a in self.atomics.values():
            self.of[a.program].append(a)
        self._cells()
        for number, (low, high) in tried.items():
            a = self.atomics[number]
            if a.cell is None or not all(low <= v <= high for v in self._results(a, None)):
                raise Rejected(f"execution: run {number} can return what was not tried")
        for gs in self.only.values():
            for g in gs:
                if g.atomic.run.number not in tried:
                    raise Rejected(f"execution: the results of run {g.atomic.run.number} were not tried")
        self.held: Dict[tuple, tuple] = {}
        self.asked: Dict[tuple, bool] = {}
        self.any = any(a.waits for a in self.atomics.values()) or bool(self.only)
        if self.any:
            self._certain()
            stuck, _ = self._run(None, None)
            if stuck:
                raise Rejected("execution: a wait that no order of the programs ends")

    # ---- locations
    def _start(self, address: int, width: int) -> Optional[int]:
        for k, a in enumerate(self.e.config["arguments"]):
            values = self.e.starts.get(k)
            if values is None or a["size"] != width or (address - a["first"]) % width:
                continue
            if 0 <= (address - a["first"]) // width < len(values):
                return _signed(values[(address - a["first"]) // width], 8 * width)
        return None

    def _cells(self) -> None:
        at: Dict[int, Cell] = {}
        for a in self.atomics.values():
            if a.address is not None and a.site.scope in ("gpu", "sys") and not a.site.desc:
                c = at.setdefault(a.address, Cell(a.address, a.site.width, self._start(a.address, a.site.width)))
                if c.width == a.site.width:
                    a.cell = c
        for run in self.e.runs.values():                          # whatever may write it is an atomic of known effect on all of it
            s = self.e.sites[run.site]
            for address, mark in run.lanes.values() if s.writes else ():
                if address is None or "o" in mark:
                    continue
                a = self.atomics.get(run.number)
                for byte in range(address - 7, address + s.width):
                    c = at.get(byte)
                    if c and byte + c.width > address and (a is None or a.cell is not c or a.effect == "unknown"):
                        c.usable = False
        for a in self.atomics.values():
            if a.cell and not a.cell.usable:
                a.cell = None
            if a.cell and a.effect != "keep":
                a.cell.writes.append(a)
                a.cell.all[a.effect, a.operand] = a.cell.all.get((a.effect, a.operand), 0) + 1
        for atomics in self.of:
            behind: Dict[Cell, List[Atomic]] = {}
            for a in reversed(atomics):
                if a.cell:
                    if a.effect != "keep":
                        behind[a.cell] = [a, *behind.get(a.cell, ())]
                    a.later = behind.get(a.cell, [])
        for c in at.values():
            total = [c.start + sum(w.operand for w in c.writes if w.effect == "add" and (w.operand > 0) == up) for up in (True, False)] if c.usable else []
            c.sum = all(w.effect == "add" for w in c.writes)
            c.followed = c.sum and any(_signed(x, c.bits) != x for x in total)
        for a in self.atomics.values():
            if a.waits and a.waits[0] == "while":
                for x in a.waits[1][2:]:
                    leaf = None if x[1] == "?" else self.atomics.get(int(x[1]))
                    if leaf and (leaf.program != a.program or leaf.run.number >= a.run.number or not leaf.sure):
                        raise Rejected(f"execution: run {a.run.number} waits for the result of what does not come before it")
                    a.leaves.append(leaf)
                if a.cell:
                    a.cell.followed = a.cell.sum

    # ---- what can be read
    def _results(self, a: Atomic, now: Optional["State"], other: Optional[Atomic] = None, certain=frozenset(), own=()) -> FrozenSet[int]:
        """What a can return when these writes have run (None: all), without itself, what its program does later, and `other` and what
        its program does later. own: these come before it."""
        count = dict(a.cell.all if now is None else now.count.get(a.cell, {}))
        late = {*a.later, *(other.later if other else ())}
        self._work(len(late))
        for w in late:
            if now is None or w in now.done:
                count[w.effect, w.operand] -= 1
        need: Dict[int, int] = {}
        for w in certain:
            if w not in late and (now is None or w in now.done):
                need[w.operand] = need.get(w.operand, 0) + 1
        for w in own:
            if w in late:
                count[w.effect, w.operand] += 1
            need[w.operand] = need.get(w.operand, 0) + 1
        return a.cell.values(count, need)

    def _possible(self, g: Guard, now: Optional["State"], other: Optional[Atomic] = None) -> bool:
        return any(g.low <= v <= g.high for v in self._results(g.atomic, now, other))

    def _work(self, n: int) -> None:
        self.steps += n + 1
        if self.steps > _MOST_STEPS:
            raise Unsettled("too much work on the order of waits")

    def _can_end(self, w: Atomic, now: "State") -> bool:
        if not w.certain <= now.done:
            return False
        need: Dict[int, int] = {}
        for u in w.certain:
            need[u.operand] = need.get(u.operand, 0) + 1
        values = w.cell.values(now.count.get(w.cell, {}), need)
        self._work(len(w.certain))
        if w.waits[0] == "while":
            spans = [values]
            for leaf in w.leaves:
                if leaf is None or leaf.cell is None:
                    spans.append(frozenset([None]))
                elif leaf.cell is w.cell and leaf.cell.sum:
                    spans.append(self._results(leaf, now, certain=leaf.certain))
                else:
                    spans.append(leaf.cell.values(leaf.cell.all, {}))
            key = (_show(w.waits[2:]), *spans)
            if key not in self.asked:
                self.asked[key] = self._may_be_false(w.waits[2:], spans)
            return self.asked[key]
        key = (w.waits[0], *w.waits[1:], values)
        if key not in self.asked:
            if w.waits[0] not in ("for", "while-between"):
                raise Rejected(f"execution: a wait that cannot be read: {w.waits[0]}")
            low, high = int(w.waits[1]), int(w.waits[-1])
            self.asked[key] = low in values if w.waits[0] == "for" else any(not low <= v <= high for v in values)
        return self.asked[key]

    def _may_be_false(self, nodes: list, spans: List[FrozenSet[Optional[int]]]) -> bool:
        masks = _needed(nodes, len(spans))
        parts = [list({None if v is None else v & m for v in span}) for span, m in zip(spans, masks)]
        for at in product(*parts):
            self._work(len(nodes))
            if not _condition(nodes, list(at)):
                return True
        return False

    # ---- places
    @staticmethod
    def _parted(x, y) -> bool:
        """A barrier lies between the run x and the later y of its program."""
        return x.count < y.count if x.generation == y.generation else x.high < y.low

    def _into(self, x, release: Atomic) -> bool:
        return self._parted(x, release.run) or (self.pre and release.releases and x.number < release.run.number)

    def _out_of(self, acquire: Atomic, y) -> bool:
        return self._parted(acquire.run, y) or (self.post and acquire.acquires and acquire.run.number < y.number)

    def _around(self, w: Atomic) -> Optional[Guard]:
        return next((g for g in self.only.get(w.run.number, ()) if g.always and g.atomic.acquires and g.low <= g.high), None)

    def _behind(self, w: Atomic, y) -> bool:
        g = None if w.sure else self._around(w)
        return self._out_of(w, y) and (g is None or self._out_of(g.atomic, y))

    def _releases_behind(self, w: Atomic, r: Atomic) -> bool:
        g = None if w.sure else self._around(w)
        return all(self._out_of(x, r.run) or self._into(x.run, r) for x in ([w] if g is None else [w, g.atomic]))

    def _guarded(self, y, now: "State") -> bool:
        """An acquiring atomic a barrier before y has not returned yet what y needs."""
        return any(g.atomic.acquires and g.atomic.cell is not None and self._out_of(g.atomic, y) and not self._possible(g, now)
                   for g in self.only.get(y.number, ()))

    def _holds_up(self, w: Atomic, now: "State") -> bool:
        if not w.acquires:
            return False
        if w.sure:
            return not self._can_end(w, now)
        g = self._around(w)
        if g is None or g.atomic.cell is None or self._can_end(w, now):
            return False
        return all(g.low <= v <= g.high for v in self._results(g.atomic, now))

    def _run(self, x, without: Optional[Atomic]) -> Tuple[Dict[int, Atomic], "State"]:
        """Everything runs but the releases behind run x, and `without`: by program the first wait that cannot end; what has run."""
        now = State()
        at = [0] * len(self.of)                                   # what lies before has run, or can end, for good
        moved = True
        while moved:
            moved, first = False, {}
            for p, atomics in enumerate(self.of):
                for i in range(at[p], len(atomics)):
                    a = atomics[i]
                    self._work(0)
                    if a.cell is None or (a.effect == "keep" and not a.waits) or a in now.done:
                        stays = True
                    elif a.waits:
                        stays = p in first or not self._holds_up(a, now)
                        if not stays:
                            first[p] = a
                    else:
                        stays = not (a is without or (a.releases and (
                            (p in first and self._releases_behind(first[p], a)) or (x is not None and p == x.program and self._into(x, a)) or
                            self._guarded(a.run, now))))
                        if stays:
                            now.add(a)
                            moved = True
                    if stays and at[p] == i and p not in first:
                        at[p] = i + 1
        return first, now

    def _held(self, x) -> Tuple[Dict[int, Atomic], "State"]:
        key = (x.program, x.number if self.pre else (x.generation, x.count, x.low, x.high))
        if key not in self.held:
            self.held[key] = self._run(x, None)
        return self.held[key]

    def _certain(self) -> None:
        """Additions that certainly come before what reads their location: those of its own program, and those without which (and without
        what their program releases behind them) a wait before it cannot end."""
        adds = [a for a in self.atomics.values() if a.cell and a.cell.followed and a.effect == "add" and a.sure]
        for u in adds:
            for y in self.of[u.program]:
                if y.cell is u.cell and y.run.number > u.run.number:
                    y.certain.add(u)
        place = {a: self.of[a.program].index(a) for a in adds}
        more = True
        while more:
            more = False
            for u in sorted((a for a in adds if a.releases), key=lambda a: (place[a], a.program)):
                first, _ = self._run(u.run, u)
                for q, w in first.items():
                    if q == u.program:
                        continue
                    found = False
                    for y in self.of[q]:
                        if y.cell is not u.cell or y.run.number <= w.run.number:
                            continue
                        found = found or (y.sure and self._behind(w, y.run))
                        if found and u not in y.certain:
                            y.certain.add(u)
                            more = True

    # ---- answers
    def before(self, x, y) -> bool:
        """Is run x before run y, of another program, in every execution?"""
        if not self.any or self.e.sites[x.site].desc or self.e.sites[y.site].desc:
            return False
        first, now = self._held(x)
        return (y.program in first and self._behind(first[y.program], y)) or self._guarded(y, now)

    def never(self, x) -> bool:
        return any(g.low > g.high for g in self.only.get(x.number, ()))

    def apart(self, x, y) -> bool:
        """Runs of two programs that never happen in one execution: each needs a result of the same location that rules the other's out."""
        return any(g.atomic.cell is not None and g.atomic.cell is h.atomic.cell and not self._in_order(g, h) and not self._in_order(h, g)
                   for g in self.only.get(x.number, ()) for h in self.only.get(y.number, ()))

    def _in_order(self, g: Guard, h: Guard) -> bool:
        """Can the atomic of g come before that of h, each with a result that its guard names?"""
        if not self._possible(g, None, h.atomic):
            return False
        own = (g.atomic,) if g.atomic.cell.sum and g.atomic.effect == "add" else ()
        return any(h.low <= v <= h.high for v in self._results(h.atomic, None, own=own))

    def inside(self, x, y) -> bool:
        """A barrier of the compiler lies between run x and the later y of one program."""
        if self.e.sites[x.site].desc or self.e.sites[y.site].desc:
            return False
        return any(a.sure and ((self.pre and a.releases and x.number < a.run.number <= y.number) or
                               (self.post and a.acquires and (a.used or a.waits) and x.number <= a.run.number < y.number))
                   for a in self.of[x.program])


# ---- conditions of waits -------------------------------------------------------------------------------------
def _needed(nodes: list, leaves: int) -> List[int]:
    """Which bits of each leaf the condition depends on."""
    need = [0] * len(nodes)
    need[-1] = 1
    out = [0] * leaves
    for i in range(len(nodes) - 1, -1, -1):
        n, m = nodes[i], need[i]
        if n[0] == "leaf":
            out[int(n[2])] |= m
        if n[0] in ("leaf", "value", "unknown") or not m:
            continue
        whole = (1 << int(n[2])) - 1
        a, b = (int(x) for x in n[4:6])
        for k, other in ((a, b), (b, a)):
            if k < 0:
                continue
            bits = whole
            if n[0] in ("arith.andi", "arith.ori", "arith.xori"):
                bits = m & int(nodes[other][2]) if n[0] == "arith.andi" and nodes[other][0] == "value" else m
            elif n[0] in ("arith.addi", "arith.subi", "arith.muli", "arith.trunci"):
                bits = (1 << m.bit_length()) - 1
            need[k] |= bits & whole
    return out


def _condition(nodes: list, leaves: list) -> bool:
    """The condition with these values; what is not known makes it false, so that the wait can end."""
    out: List[Optional[int]] = []
    for n in nodes:
        bits = int(n[1])
        if n[0] == "unknown":
            v = None
        elif n[0] == "value":
            v = int(n[2])
        elif n[0] == "leaf":
            v = leaves[int(n[2])]
        else:
            a, b = (out[int(x)] if int(x) >= 0 else 0 for x in n[4:6])
            v = None if a is None or b is None else _apply(n[0], bits, int(n[2]), int(n[3]), a, b)
        out.append(None if v is None else v & ((1 << bits) - 1))
    return bool(out[-1])


def _apply(name: str, bits: int, source: int, predicate: int, a: int, b: int) -> Optional[int]:
    """a, b: readings without sign of `source` bits."""
    s, t = _signed(a, source), _signed(b, source)
    op = name.replace("arith.", "")
    if op in ("divsi", "divui", "floordivsi", "remsi", "remui", "ceildivsi"):
        if b == 0 or (op not in ("divui", "remui") and (s == -(1 << (source - 1)) and t == -1)):
            return None
        if op == "divui":
            return a // b
        if op == "remui":
            return a % b
        if op == "floordivsi":
            return s // t
        q = abs(s) // abs(t) * (1 if (s < 0) == (t < 0) else -1)
        return q if op == "divsi" else s - q * t if op == "remsi" else None
    if op == "cmpi":
        p, q = (s, t) if predicate in (2, 3, 4, 5) else (a, b)
        return int((p == q, p != q, p < q, p <= q, p > q, p >= q, p < q, p <= q, p > q, p >= q)[predicate])
    if op == "shrui":
        return a >> b if b < source else None
    return {"addi": a + b, "subi": a - b, "muli": a * b, "andi": a & b, "ori": a | b, "xori": a ^ b, "extui": a, "extsi": s,
            "trunci": a}.get(op)
