"""The proof about shared memory, worked out again from the events of a certificate (recheck_events.py) with isl. Shares no code with the
analyser. What has to hold, and why that is enough, docs/shared-memory.md and docs/certificates.md say:

* slots stay in their arrays; the phase of every wait has the parity that the wait names;
* happens-before between barrier phases has a fixpoint and no cycle;
* every phase that is waited for gets its arrivals and bytes, and none gets more; no wait passes early (W1), no barrier laps a waiter (W2), no
  arrival counts for an earlier phase (A1);
* barriers are initialised before use, once, and used before they are invalidated;
* every two accesses to common bytes are ordered, with a fence where the second one goes through another proxy.

Where the last set is not empty, or a number of the certificate differs, the certificate is rejected."""
from __future__ import annotations

import re
from functools import lru_cache
from typing import Dict, List, Optional, Tuple

if __package__:
    from .recheck_events import COUNTED, Event, Model, Open, View, _all, _renamed
    from .recheck_text import EMPTY, NOT_EMPTY, Rejected
else:
    from recheck_events import COUNTED, Event, Model, Open, View, _all, _renamed
    from recheck_text import EMPTY, NOT_EMPTY, Rejected

DEPTH = 8                                                          # compositions in search of a fixpoint


def _join(parts):
    out = None
    for p in parts:
        out = p if out is None else out.union(p)
    return out


class Proof(Model):
    def __init__(self, text: str, isl, limit: int):
        super().__init__(text, isl, limit)
        self.n = len(self.events)
        self.pairs = 0
        self.requests_in_order = False
        self.solvers: list = []                                   # for products of launch values
        self.asked: Dict[str, list] = {}
        self.claims: List[Tuple[str, object, object]] = []        # what, conflicts, orders: each conflict is in an order
        for name in ("ord", "ord_to", "done", "local", "to_phases", "all_phases", "from_phases", "arrivals", "phase_map"):
            setattr(self, name, lru_cache(maxsize=None)(getattr(self, "_" + name)))

    # ---- small things -----------------------------------------------------------------------------------
    def union(self, parts):
        out = _join(parts)
        return out.coalesce() if out is not None else self.none()

    @staticmethod
    def then(a, b):
        return a.apply_range(b).coalesce()

    def must_be_empty(self, left, why: str) -> None:
        if not left.is_empty() and not self.impossible(left):
            raise Rejected(f"shared memory: {why}")

    def impossible(self, left) -> bool:
        """No launch has the values of these pairs: products and quotients of launch values are what they are, says another solver."""
        if not self.defs and not self.loose:
            return False
        values = left.params()
        key = str(values)
        if key not in self.asked:
            if not self.solvers:
                raise Open("a product of launch values, and no solver for it")
            question = "\n".join(["(set-logic ALL)", *(f"(declare-const {v} Int)" for v in self.values), *self.definitions(),
                                  f"(assert {self._smt_set(values)})", "(check-sat)"])
            self.asked[key] = [s.solve(question) for s in self.solvers]
        if any(a == NOT_EMPTY for a in self.asked[key]):
            if self.loose:
                raise Open("this rests on the trip count of a loop whose step is a launch value")
            return False
        if not any(a == EMPTY for a in self.asked[key]):
            raise Open("a product of launch values that no solver decides")
        return True

    def never_together(self, x: int, y: int, condition) -> bool:
        """No instances of the two happen so that the condition holds, by another solver: a term that has no relation is among them."""
        e, f = self.events[x], self.events[y]
        names = list(dict.fromkeys([*self.values, *self.counters(e), *self.counters(f, "j")]))
        limits = [line for n, (lo, hi) in ((n, self._bounds(n)) for n in names if n not in self.values)
                  for line in ([f"(assert (<= {_numeral(lo)} {n}))"] if lo is not None else []) + ([f"(assert (<= {n} {_numeral(hi)}))"] if hi is not None else [])]
        claims = [f"(assert {_formula(t)})" for t in (e.when, _renamed(f.when), condition)]
        question = "\n".join(["(set-logic ALL)", *(f"(declare-const {n} Int)" for n in names), *self.definitions(), *limits, *claims, "(check-sat)"])
        answers = [s.solve(question) for s in self.solvers]
        return EMPTY in answers and NOT_EMPTY not in answers

    def definitions(self) -> List[str]:
        """The definitions and bounds of values, as assertions."""
        out = []
        for name, (lo, hi) in self.values.items():
            out += [f"(assert (<= {_numeral(lo)} {name}))"] if lo is not None else []
            out += [f"(assert (<= {name} {_numeral(hi)}))"] if hi is not None else []
        return out + [f"(assert (= {v} {_formula(d)}))" for v, d in self.defs]

    def _smt_set(self, s) -> str:
        """A set of values as a formula."""
        t, out = self.isl.dim_type, ["or", "false"]
        for piece in s.compute_divs().get_basic_sets():
            names = {(t.param, i): piece.get_dim_name(t.param, i) for i in range(piece.dim(t.param))}
            for i in range(piece.dim(t.div)):
                names[t.div, i] = self._division(piece, i, names, None)
            conj = ["and", "true"]
            for c in piece.get_constraints():
                parts = [str(c.get_constant_val())] + [f"(* {c.get_coefficient_val(*at)} {v})" for at, v in names.items()
                                                       if not c.get_coefficient_val(*at).is_zero()]
                conj.append(f"({'=' if c.is_equality() else '<='} 0 (+ {' '.join(parts)} 0))")
            out.append("(" + " ".join(conj) + ")")
        return re.sub(r"(?<![\w.])-(\d+)", r"(- \1)", "(" + " ".join(out) + ")")

    @staticmethod
    def same_threads(a: Event, b: Event) -> bool:
        return a.agent == b.agent and (a.agent == 0 or a.ws == b.ws)

    def flat(self, e: Event) -> bool:
        return self.flat_at(e) >= 0

    def coupled(self, flat: Event, other: Event) -> bool:
        """The order of the two depends on which execution of its flat loop the first one is in."""
        at = self.flat_at(flat)
        if at < 0 or flat.exact:
            return False
        return self.loops[flat.loops[at]]["outer"] in other.loops and flat.loops[at] not in other.loops

    # ---- order of one agent -----------------------------------------------------------------------------
    def before(self, x: Event, y: Event):
        """x before y in program order, over the counters of x and the second ones of y; None: never."""
        if x.agent != y.agent:
            sides = x.ws == y.ws and x.ws >= 0
            return "true" if not sides and x.seq < y.seq else None
        ways, equal = [], []
        for i, (a, b) in enumerate(zip(x.loops, y.loops)):
            if a != b:
                break
            if i + 1 < min(len(x.loops), len(y.loops)) and x.loops[i + 1] == y.loops[i + 1] and self.loops[x.loops[i + 1]]["flat"]:
                continue                                          # the counter of a flat loop says it for both
            ways.append(_all(*equal, ["<", f"k{a}", f"j{a}"]))
            equal = [*equal, ["=", f"k{a}", f"j{a}"]]
        if x.seq < y.seq:
            ways.append(_all(*equal))
        return ["or", *ways] if ways else None

    def in_order(self, x: Event, y: Event):
        """Of one nest, later iterations belong to the same or later executions."""
        i, j = self.flat_at(x), self.flat_at(y)
        if i < 0 or j < 0:
            return "true"
        a, b = self.loops[x.loops[i]], self.loops[y.loops[j]]
        if a["nest"] != b["nest"]:
            return "true"
        t, u, e, f = f"k{x.loops[i]}", f"j{y.loops[j]}", f"k{a['outer']}", f"j{b['outer']}"
        return ["or", _all(["=", t, u], ["=", e, f]), _all(["<", t, u], ["<=", e, f]), _all(["<", u, t], ["<=", f, e])]

    def pair(self, x: int, y: int, condition):
        """{ x -> y : condition }, both happening."""
        if condition is None:
            return self.none()
        a, b = self.events[x], self.events[y]
        ends = (f"E{x}", self.counters(a), f"E{y}", self.counters(b, "j"))
        conj = [a.when, _renamed(b.when), condition]
        some = [u for u in self.unknowns if _mentions(condition, u) or _mentions(condition, "v" + u[1:])]
        if not some:
            return self.make(*ends, [], conj)
        if any(self.unknowns[u][0] not in [*a.loops[:1], *b.loops[:1]] for u in some):
            raise Rejected("shared memory: an unknown value of a loop that is not around")
        every = [n for u in some for n in (u, "v" + u[1:])]
        if a.loops[:1] != b.loops[:1]:                            # any two values
            return self.make(*ends, every, conj)
        same = ["=", f"k{a.loops[0]}", f"j{b.loops[0]}"]          # in one iteration the value is the same
        one = [["=", u, "v" + u[1:]] for u in some]
        return self.make(*ends, every, [*conj, same, *one]).union(self.make(*ends, every, [*conj, ["not", same]])).coalesce()

    def _ord(self, x: int, y: int):
        return self.pair(x, y, self.before(self.events[x], self.events[y]))

    def _ord_to(self, x: int, middle: int):
        """The same where one of the two is the middle of a chain, which has to be there whatever the executions of flat loops are."""
        a, b = self.events[x], self.events[middle]
        return self.none() if self.coupled(b, a) else self.ord(x, middle)

    def ord_from(self, middle: int, y: int):
        return self.none() if self.coupled(self.events[middle], self.events[y]) else self.ord(middle, y)

    def ord_between(self, x: int, y: int):
        return self.none() if self.coupled(self.events[x], self.events[y]) else self.ord_to(x, y)

    # ---- completion -------------------------------------------------------------------------------------
    def ord_together(self, x: int, w: int):
        """Inside one execution of a branch that may be missing: with one of the two there is the other."""
        a, b = self.events[x], self.events[w]
        way = self.before(a, b)
        if not b.branch or a.branch != b.branch or way is None:
            return self.none()
        return self.pair(x, w, _all(way, *(["=", f"k{i}", f"j{i}"] for i in b.loops[:b.branch_loops])))

    def unconditional(self, g: Event) -> bool:
        """It happens in every iteration of the loops around it, once its copy is reached."""
        if any(self.loops[i]["flat"] or self.loops[i]["trips"] == "none" for i in g.loops):
            return False
        names = self.counters(g)
        want = [_all(["<=", "0", k], ["<", k, self.loops[i]["trips"]]) for k, i in zip(names, g.loops)]
        if g.copy:
            want.append(self.copies[g.copy]["when"])
        return bool(self._set(names, want) <= self._set(names, [g.when]))

    def count_before(self, g: Event, e: Event, letter: str):
        """How often g has happened before e; None where that is no simple term."""
        common, inner, n = 0, 1, "0"
        while common < min(len(g.loops), len(e.loops)) and g.loops[common] == e.loops[common]:
            common += 1
        for i, loop in enumerate(g.loops):
            trips = self.loops[loop]["trips"]
            if i and not (isinstance(trips, str) and trips.isdigit() and int(trips) <= 1 << 20 and inner <= 1 << 20):
                return None
            if i < common:
                n = ["+", ["*", trips, n], f"{letter}{loop}"] if i else f"{letter}{loop}"
            elif i:
                inner *= int(trips)
        earlier = g.seq < e.seq
        if not common and g.loops:
            return ["*", str(inner), self.loops[g.loops[0]]["trips"]] if earlier else "0"
        return ["*", str(inner), ["+", n, "1"] if earlier else n]

    def groups_between(self, x: Event, w: Event, kind: str):
        """At least how many groups are formed between x and w (whose counters are the second ones)."""
        if self.flat(x) or self.flat(w):
            return None
        total: list = ["+", "0"]
        for g in self.events:
            if g.kind != kind or not self.same_threads(g, w) or g.may:
                continue
            if not self.unconditional(g):
                return None
            a, b = self.count_before(g, x, "k"), self.count_before(g, w, "j")
            if a is None or b is None:
                return None
            if self.within(x.copy, g.copy) or self.within(w.copy, g.copy):
                total += [b, ["*", "-1", a]]
        return total

    def _done(self, x: int):
        """x -> waits that cover its completion by counting groups."""
        e = self.events[x]
        group, wait = COUNTED[e.unit]
        out, length, chain = [], 0, self.none()
        groups = [g for g in range(self.n) if self.same_threads(self.events[g], e) and self.events[g].kind == group and not self.events[g].may]
        for w in range(self.n):
            f = self.events[w]
            if not self.same_threads(f, e) or f.kind != wait:
                continue
            need = f.count + (1 if e.unit == "cp" else 0)
            if f.count < 0 or need > 64:
                continue
            if need == 0:
                out.append(self.ord_together(x, w) if f.may else self.ord_to(x, w))
                continue
            if f.may:
                continue
            between, way = self.groups_between(e, f, group), self.before(e, f)
            if between is not None:
                if way is not None:
                    out.append(self.pair(x, w, _all(way, ["<=", str(need + (1 if e.kind == group and not e.may else 0)), between])))
                continue
            if length > need:
                length = 0
            if length == 0:
                chain, length = self.union(self.ord_to(x, g) for g in groups), 1
            while length < need:
                chain, length = self.then(chain, self.union(self.ord_between(g, h) for g in groups for h in groups)), length + 1
            out.append(self.then(chain, self.union(self.ord_between(g, w) for g in groups)))
        return self.union(out)

    def behind(self, x: int, w: int, y: int):
        """A wait in the iteration of x that covers it whatever comes later; the condition that it is there and before y."""
        a, b = self.events[x], self.events[w]
        way = self.before(b, self.events[y])
        if a.loops != b.loops or a.seq >= b.seq or b.count or way is None or (b.may and not (b.branch and a.branch == b.branch)):
            return None
        if a.unit != "cp":
            return _all(b.when, way)
        commits = [g.when for g in self.events if g.kind == "cp_commit" and self.same_threads(g, a) and not g.may and a.seq < g.seq < b.seq and g.loops == a.loops]
        return _all(["or", *commits], b.when, way) if commits else None

    def _local(self, x: int, y: int):
        """x complete before y is issued, without barriers."""
        e, f = self.events[x], self.events[y]
        if e.unit == "threads":
            return self.ord(x, y)
        if e.unit not in COUNTED:
            return self.none()
        waits, with_y = [], []
        for w in range(self.n):
            g = self.events[w]
            if g.kind != COUNTED[e.unit][1] or not self.same_threads(g, e):
                continue
            waits.append(self.ord_from(w, y))
            way = self.behind(x, w, y) if self.coupled(g, f) else None
            if way is not None:
                with_y.append(self.pair(x, y, way))
            if g.may and not g.count and e.unit != "cp" and g.branch == f.branch:
                with_y.append(self.then(self.ord_to(x, w), self.ord_together(w, y)))
        return self.union([self.then(self.done(x), self.union(waits)), *with_y])

    def local_to(self, x: int, y: int):
        """The same where y is the middle of a chain."""
        e, f = self.events[x], self.events[y]
        if self.coupled(f, e):
            return self.none()
        if e.unit == "threads" or not self.flat(f):
            return self.local(x, y)
        if e.unit not in COUNTED:
            return self.none()
        waits = [self.ord_between(w, y) for w in range(self.n)
                 if self.events[w].kind == COUNTED[e.unit][1] and self.same_threads(self.events[w], e)]
        return self.then(self.done(x), self.union(waits))

    # ---- phases of barriers -----------------------------------------------------------------------------
    def initialisations(self, alloc: int) -> List[int]:
        return [i for i, e in enumerate(self.events) if e.kind == "init" and e.barriers[0].alloc == alloc]

    def depth(self, alloc: int) -> int:
        inits = self.initialisations(alloc)
        return len(self.events[inits[0]].loops) if inits else 0

    def coordinates(self, alloc: int) -> List[int]:
        """Which of the loops around its initialisation number the barriers of the allocation."""
        inits = self.initialisations(alloc)
        loops = self.events[inits[0]].loops if inits else []
        return [i for i in range(len(loops)) if i + 1 == len(loops) or not self.loops[loops[i + 1]]["flat"]]

    def slot(self, v: View):
        t = "0"
        for d, n in zip(v.dims, self.allocs[v.alloc]["shape"]):
            t = ["+", ["*", str(n), t], d[1] if d[0] == "at" else str(d[1])]
        return t

    def to_phase(self, e: int, b: int, number, *keep):
        """{ event -> P[iterations, slot, number] : keep }"""
        x = self.events[e]
        view, k = x.barriers[b].view, self.counters(x)
        at = self.coordinates(view.alloc)
        if len(k) < self.depth(view.alloc):
            raise Open("a barrier of a loop that its use is not in")
        outs = [f"o{i}" for i in range(len(at) + 2)]
        values = [k[i] for i in at] + [self.slot(view), number]
        return self.make(f"E{e}", k, f"P{view.alloc}", outs, [],
                         [*(["=", o, v] for o, v in zip(outs, values)), x.when, x.barriers[b].pred, *keep])

    def _phase_map(self, e: int, b: int):
        number = self.events[e].barriers[b].number
        return self.to_phase(e, b, number, ["<=", "0", number])

    def alone(self, e: int, b: int, number):
        """As to_phase of numbers >= 0, without the outer counter of a flat loop."""
        x = self.events[e]
        view, k, at = x.barriers[b].view, self.counters(x), self.flat_at(x)
        where = self.coordinates(view.alloc)
        outs = [f"o{i}" for i in range(len(where) + 2)]
        values = [k[i] for i in where] + [self.slot(view), number]
        return self.make("A", [v for i, v in enumerate(k) if i != at - 1], "B", outs, [k[at - 1]],
                         [*(["=", o, v] for o, v in zip(outs, values)), x.when, x.barriers[b].pred, ["<=", "0", number]])

    def shift_back(self, alloc: int):
        """P[.., s, n] -> P[.., s, n - 1], n >= 1."""
        n = len(self.coordinates(alloc)) + 2
        a, b = [f"o{i}" for i in range(n)], [f"q{i}" for i in range(n)]
        return self.make(f"P{alloc}", a, f"P{alloc}", b, [], [*(["=", x, y] for x, y in zip(a[:-1], b[:-1])), ["=", a[-1], ["+", "1", b[-1]]], ["<=", "0", b[-1]]])

    def _arrivals(self, a: int):
        return self.union(self.phase_map(a, b) for b in range(len(self.events[a].barriers)))

    def speaks_for(self, a: Event, x: Event) -> bool:
        """One thread issues a TMA load: its bytes say nothing of what the other warps of its partition did before."""
        by_all = x.kind in ("access", "wait", "fence", "cp", "dot")
        return a.kind != "tma_load" or a.warps == 1 or not by_all or not self.same_threads(a, x) or a.ws != x.ws

    def _to_phases(self, x: int):
        """x complete -> the phases that carry it first."""
        e, out = self.events[x], []
        for a in range(self.n):
            f = self.events[a]
            if not f.arrives or not self.speaks_for(f, e):
                continue
            commits = f.kind in ("tc", "tc_commit")
            if e.unit == "tma_load" or (e.unit == "tc" and not (commits and self.same_threads(f, e))):
                if a == x:
                    out.append(self.arrivals(a))
                continue
            if a == x and e.unit in ("tc", "threads"):
                out.append(self.arrivals(a))
            way = self.ord_to(x, a) if e.unit == "tc" else self.local_to(x, a)
            if e.unit == "cp" and f.kind == "cp_arrive" and self.same_threads(f, e):
                way = way.union(self.ord_to(x, a))
            out.append(self.then(way, self.arrivals(a)))
        return self.union(out)

    def _all_phases(self, x: int):
        r = self.to_phases(x)
        return self.union([r, self.then(r, self.closure)])

    def _from_phases(self, y: int):
        return self.union(self.then(self.phase_map(w, 0).reverse(), self.ord_from(w, y)) for w in range(self.n) if self.events[w].kind == "wait")

    def ordered(self, x: int, y: int):
        """x complete before y is issued."""
        return self.union([self.local(x, y), self.then(self.all_phases(x), self.from_phases(y))])

    def unordered(self, x: int, y: int, left):
        """What of a relation x -> y is ordered neither way, the cheapest orders first."""
        for order in (lambda: self.local(x, y), lambda: self.local(y, x).reverse(),
                      lambda: self.then(self.all_phases(x), self.from_phases(y)),
                      lambda: self.then(self.all_phases(y), self.from_phases(x)).reverse()):
            if left.is_empty():
                break
            left = left.subtract(order())
        return left

    # ---- what has to hold -------------------------------------------------------------------------------
    def check_choices(self) -> None:
        """Where an operand is one of several views, it is some of them wherever the event happens."""
        for e in self.events:
            groups: List[list] = []
            for a in e.accesses:
                if a.other and not groups:
                    raise Rejected(f"event {e.id}: another view of no operand")
                groups[-1].append(a) if a.other else groups.append([a])
            for g in groups:
                if all(a.guard == "true" for a in g):
                    continue
                names = [*self.counters(e), *self.unknowns]
                if not self._set(names, [e.when]) <= self._set(names, [["or", "false", *(a.guard for a in g)]]):
                    raise Rejected(f"event {e.id}: an operand is none of its views")

    def check_slots(self) -> None:
        for i, e in enumerate(self.events):
            wrong: list = ["or"]
            for v in [a.view for a in e.accesses] + [b.view for b in e.barriers]:
                for d, n in zip(v.dims, self.allocs[v.alloc]["shape"]):
                    if d[0] == "at":
                        wrong += [["<", d[1], "0"], ["<=", str(n), d[1]]]
            if len(wrong) > 1:
                self.must_be_empty(self.pair(i, i, wrong), f"a slot of event {i} leaves its array")

    def check_phases(self) -> None:
        for i, e in enumerate(self.events):
            for b, bar in enumerate(e.barriers):
                if e.kind in ("init", "inval"):
                    continue
                if bar.number == "none":
                    raise Rejected(f"shared memory: event {i} has no phase")
                at = self.flat_at(e)
                if at > 0 and not e.exact:
                    outer, d = e.loops[at - 1], self.depth(bar.alloc)
                    if _mentions(bar.number, f"k{outer}") or (d and d <= at):
                        raise Rejected(f"shared memory: the phase of event {i} depends on which execution of a loop it is in")
                wrong = ["<", bar.number, "-1" if e.kind == "wait" else "0"]
                if e.kind == "wait":
                    wrong = ["or", wrong, ["not", ["=", ["fmod", ["+", bar.number, ["*", "-1", e.phase]], "2"], "0"]]]
                self.must_be_empty(self.to_phase(i, b, bar.number, wrong), f"the parity of event {i} does not fit its phase")

    def check_closure(self) -> None:
        """One agent without flat loops: its waits come after what arrives for them, or a step leads from a phase to itself. Then the first
        wait of a chain comes before its last event, and steps between phases of different arrays order nothing more."""
        one = int(self.head["agents"]) == 1 and not any(x["flat"] for x in self.loops.values())
        steps = []
        for w, e in enumerate(self.events):
            if e.kind != "wait":
                continue
            for a, f in enumerate(self.events):
                if not f.arrives or (one and all(b.alloc != e.barriers[0].alloc for b in f.barriers)):
                    continue
                way = self.ord_between(w, a)
                if not way.is_empty():
                    steps.append(self.then(self.then(self.phase_map(w, 0).reverse(), way), self.arrivals(a)))
        step = self.union(steps)
        self.closure = step if one else self.fixpoint(step)
        if not self.irreflexive(self.closure):
            raise Rejected("shared memory: barrier phases wait for each other in a cycle")
        if one:
            self.closure = self.none()
        if self.isl.UnionMap.read_from_str(self.ctx, self._parameters(self.closure_text)) != self.closure:
            raise Rejected("shared memory: happens-before between phases is not what the certificate says")
        self.check_acyclic()

    def _parameters(self, text: str) -> str:
        """A relation of the certificate, which calls launch values by their own names, in their order."""
        m = re.fullmatch(r"(?:\[([^\]]*)\] -> )?(\{.*\})", text)
        names = [x.strip() for x in m[1].split(",")] if m and m[1] else []
        if not m or (names and len(names) != len(self.values)):
            raise Rejected("shared memory: a relation that cannot be read")
        if len(set(names)) != len(names):
            raise Open("two launch values have one name")
        new = dict(zip(names, self.values))
        body = re.sub(r"[A-Za-z_]\w*'*", lambda w: new.get(w[0], w[0]), m[2])
        return f"[{', '.join(self.values)}] -> {body}"

    def fixpoint(self, step):
        everything = more = step
        for _ in range(DEPTH):
            more = self.then(more, step).subtract(everything)
            if more.is_empty():
                return everything
            everything = everything.union(more).coalesce()
        raise Open("happens-before between phases has no fixpoint within the depth")

    @staticmethod
    def irreflexive(r) -> bool:
        both = r.domain().union(r.range())
        return bool(r.intersect(both.identity()).is_empty())

    # Phases with the execution of a flat loop that their reference arrival is in: a relation that is too large, without a cycle.
    def reference(self, alloc: int) -> Tuple[int, int]:
        for e, x in enumerate(self.events):
            if x.arrives and self.flat(x):
                for b, bar in enumerate(x.barriers):
                    if bar.alloc == alloc:
                        return e, b
        return -1, 0

    def to_node(self, e: int, b: int):
        x = self.events[e]
        alloc, number, k = x.barriers[b].alloc, x.barriers[b].number, self.counters(x)
        at = self.coordinates(alloc)
        outs = [f"g{i}" for i in range(len(at) + 3)]
        slot, phase, tile = outs[-3:]
        conj: list = [["=", o, k[i]] for o, i in zip(outs, at)]
        conj += [["=", slot, self.slot(x.barriers[b].view)], ["=", phase, number], ["<=", "0", number], x.when, x.barriers[b].pred]
        make = lambda others, c: self.make(f"E{e}", k, f"G{alloc}", outs, others, c)       # noqa: E731
        r, rb = self.reference(alloc)
        if r < 0:
            return make([], [*conj, ["=", tile, "0"]])
        conj.append(["<=", "0", tile])
        every = make([], conj)
        if not self.flat(x):
            return every
        y = self.events[r]
        other = self.counters(y, "j")
        conj += [["=", o, other[i]] for o, i in zip(outs, at)]
        conj += [["=", slot, _renamed(self.slot(y.barriers[rb].view))], ["=", phase, _renamed(y.barriers[rb].number)], _renamed(y.when),
                 ["=", tile, other[self.flat_at(y) - 1]]]
        reached = make(other, conj).domain()
        exact = make(other, [*conj, self.in_order(x, y)])
        return exact.union(every.subtract_domain(reached)).coalesce()

    def check_acyclic(self) -> None:
        waits = [w for w, e in enumerate(self.events) if e.kind == "wait"]
        arrivals = [a for a, e in enumerate(self.events) if e.arrives]
        if not any(self.events[w].agent == self.events[a].agent and (self.coupled(self.events[w], self.events[a]) or self.coupled(self.events[a], self.events[w]))
                   for w in waits for a in arrivals):
            return
        nodes = {e: self.union(self.to_node(e, b) for b in range(len(self.events[e].barriers))) for e in {*waits, *arrivals}}
        steps = []
        for w in waits:
            for a in arrivals:
                way = self.before(self.events[w], self.events[a])
                if way is None:
                    continue
                r = self.pair(w, a, _all(way, self.in_order(self.events[w], self.events[a])))
                if not r.is_empty():
                    steps.append(self.then(self.then(nodes[w].reverse(), r), nodes[a]))
        if not self.irreflexive(self.fixpoint(self.union(steps))):
            raise Rejected("shared memory: barrier phases may wait for each other in a cycle around two loops")

    def check_quotas(self, alloc: int) -> None:
        if not any(b.alloc == alloc for e in self.events for b in e.barriers):
            return                                                # another life of the storage has them
        counts = {self.events[i].count for i in self.initialisations(alloc)}
        if len(counts) != 1:
            raise Rejected(f"shared memory: barriers of allocation {alloc} have {len(counts)} arrival counts")
        count = counts.pop()
        pieces: List[Tuple[object, int, int]] = []                # phases with so many arrivals and bytes
        waited, covered = self.isl.UnionSet.read_from_str(self.ctx, "{ }"), self.isl.UnionSet.read_from_str(self.ctx, "{ }")
        empty = covered
        for e, x in enumerate(self.events):
            for b, bar in enumerate(x.barriers):
                if bar.alloc != alloc or x.kind in ("init", "inval"):
                    continue
                r = self.phase_map(e, b)
                if x.kind == "wait":
                    waited = waited.union(r.range())
                    continue
                once = self.alone(e, b, bar.number) if self.flat(x) else r
                if not once.is_injective() and not self.impossible(r):
                    raise Rejected(f"shared memory: event {e} arrives several times in one phase")
                if x.kind == "tma_load" and x.bytes < 0:
                    raise Open("the bytes of a copy are not known")
                phases, after = r.range(), []
                for s, weight, tx in pieces:
                    inside, outside = s.intersect(phases), s.subtract(phases)
                    after += [(inside, weight + x.weight, tx + x.tx)] if not inside.is_empty() else []
                    after += [(outside, weight, tx)] if not outside.is_empty() else []
                fresh = phases.subtract(covered)
                if not fresh.is_empty():
                    after.append((fresh, x.weight, x.tx))
                pieces, covered = after, covered.union(phases).coalesce()
        full = empty
        for s, weight, tx in pieces:
            if weight > count and not self.impossible(s):
                raise Rejected(f"shared memory: a phase of allocation {alloc} gets more arrivals than its barrier was initialised for")
            if weight == count and tx == 0:
                full = full.union(s)
        full = full.coalesce()
        if not waited.subtract(full).is_empty() and not self.impossible(waited.subtract(full)):
            raise Rejected(f"shared memory: a wait for a phase of allocation {alloc} whose arrivals or bytes are not complete")
        previous = covered.apply(self.shift_back(alloc))
        if not previous.subtract(full).is_empty() and not self.impossible(previous.subtract(full)):
            raise Rejected(f"shared memory: a phase of allocation {alloc} gets arrivals while the one before it stays incomplete")

    def check_lifecycle(self) -> None:
        for e, x in enumerate(self.events):
            for b, bar in enumerate(x.barriers):
                alloc = bar.alloc
                depth, inits = self.depth(alloc), self.initialisations(alloc)
                if self.allocs[alloc]["payload"]:
                    raise Rejected(f"shared memory: allocation {alloc} holds barriers and data")
                loops = {tuple(self.events[i].loops) for i in inits}
                if not inits or len(loops) != 1 or tuple(x.loops[:depth]) not in loops:
                    raise Rejected(f"shared memory: event {e} uses a barrier of a loop that it is not in")
                mine = self.to_phase(e, b, "0")
                ready, ended = [], []
                for i, y in enumerate(self.events):
                    if y.kind not in ("init", "inval") or y.barriers[0].alloc != alloc:
                        continue
                    theirs = self.to_phase(i, 0, "0")
                    if y.kind == "inval":
                        ended.append(theirs.range())
                    if i == e:
                        continue
                    both = self.then(mine, theirs.reverse())
                    if y.kind == "init" and x.kind == "init":
                        self.must_be_empty(both, f"a barrier that events {e} and {i} initialise")
                    elif y.kind == "init":
                        ready.append(both.intersect(self.ord(i, e).reverse()))
                    elif x.kind != "init":
                        if x.kind == "inval":
                            bad = both
                        elif x.kind in ("tc", "tc_commit", "cp_arrive") and self.made_again(alloc):
                            bad = both.subtract(self.surely_counted(e, b, i))
                        elif x.kind in ("tc", "tc_commit"):
                            bad = both.subtract(self.ord(e, i).union(self.ord(i, e).reverse()))
                        else:
                            bad = both.subtract(self.ordered(e, i))
                        self.must_be_empty(bad, f"event {e} is not complete before event {i} invalidates its barrier")
                if x.kind == "init":
                    if depth or self.allocs[alloc]["copy"]:
                        left = mine.range()
                        for r in ended:
                            left = left.subtract(r)
                        self.must_be_empty(left, f"a barrier that event {e} initialises again without an end of it")
                    if not (self.alone(e, b, "0") if self.flat(x) else mine).is_injective() and not self.impossible(mine):
                        raise Rejected(f"shared memory: event {e} initialises a barrier more than once")
                    continue
                early = mine.domain()
                for r in ready:
                    early = early.subtract(r.domain())
                self.must_be_empty(early, f"event {e} uses a barrier that is not initialised before")

    def made_again(self, alloc: int) -> bool:
        """Is the barrier made again when it is over: in its next life, or in the next iteration of a loop?"""
        a = self.allocs[alloc]
        return bool(self.depth(alloc) or a["copy"]) or any(i != alloc and b["op"] == a["op"] for i, b in self.allocs.items())

    def surely_counted(self, e: int, bar: int, i: int):
        """{ e -> i }: the arrival of e that completes on its own time is counted before i: its phase is known to be over."""
        phases = self.phase_map(e, bar)
        phases = self.union([phases, self.then(phases, self.closure)])
        return self.union([self.counted_before(e, i), self.then(phases, self.from_phases(i))])

    def counted_before(self, a: int, e: int):
        """{ a -> e }: what a signals has been counted before e (where e signals too, before that)."""
        x, y = self.events[a], self.events[e]
        if x.kind in ("tma_load", "cp_arrive"):
            return self.none()
        if x.kind not in ("tc", "tc_commit"):
            return self.ordered(a, e)
        out = [self.ord(a, e)] if y.kind in ("tc", "tc_commit") and self.same_threads(x, y) else []
        for c, z in enumerate(self.events):                       # completed in the order of issue
            if z.kind in ("tc", "tc_commit") and z.barriers and self.same_threads(x, z):
                phases = self.then(self.ord_to(a, c), self.arrivals(c))
                out.append(self.then(self.union([phases, self.then(phases, self.closure)]), self.from_phases(e)))
        return self.union(out)

    def some_after(self, alloc: int, e: int, pairs):
        """Of pairs (phase, e) those where some arrival of the phase may be counted after e. When all are counted the phase is complete;
        check_quotas has shown that the phases before those in use have arrivals."""
        left = []
        for a, x in enumerate(self.events):
            for b, bar in enumerate(x.barriers):
                if not x.arrives or bar.alloc != alloc:
                    continue
                to = self.phase_map(a, b)
                some = self.then(to, pairs)
                if not some.is_empty():
                    left.append(self.then(to.reverse(), some.subtract(self.counted_before(a, e))))
        return self.union(left)

    def check_obligations(self) -> None:
        for e, x in enumerate(self.events):
            if x.kind != "wait" and not x.arrives:
                continue
            for b, bar in enumerate(x.barriers):
                r = self.phase_map(e, b)
                bad = self.then(r, self.shift_back(bar.alloc)).reverse().subtract(self.from_phases(e))
                if not bad.is_empty():
                    bad = bad.subtract(self.then(self.closure, self.from_phases(e)))
                if not bad.is_empty():
                    bad = self.some_after(bar.alloc, e, bad)
                self.must_be_empty(bad, f"event {e} can meet an older phase of its barrier ({'W1' if x.kind == 'wait' else 'A1'})")
                if x.kind == "cp_arrive" and not x.count:
                    after = self.union(self.then(self.ord_to(e, a), self.arrivals(a)) for a, f in enumerate(self.events) if f.arrives and f.weight > 0)
                    self.must_be_empty(r.subtract(after), f"the phase of event {e} can complete before these copies are counted in it")
                if x.kind != "wait":
                    continue
                number = ["+", "1", bar.number]
                following = self.to_phase(e, 0, number, ["<=", "0", number])
                phases = _join(self.phase_map(a, o).range() for a, f in enumerate(self.events) if f.arrives
                               for o, other in enumerate(f.barriers) if other.alloc == bar.alloc)
                if phases is not None:
                    self.must_be_empty(following.intersect_range(phases).subtract(self.all_phases(e)), f"a barrier can be two phases ahead of event {e} (W2)")

    # ---- accesses ---------------------------------------------------------------------------------------
    def meets(self, a: View, b: View):
        conj: list = []
        for d, f in zip(a.dims, b.dims):
            if d[0] == "at" and f[0] == "at":
                conj.append(["=", d[1], _renamed(f[1])])
            elif d[0] == "at":
                conj += [["<=", str(f[1]), d[1]], ["<", d[1], str(f[2])]]
            elif f[0] == "at":
                conj += [["<=", str(d[1]), _renamed(f[1])], ["<", _renamed(f[1]), str(d[2])]]
            elif d[1] >= f[2] or f[1] >= d[2]:
                return None
        return _all(*conj)

    def conflict(self, x: int, a, y: int, b):
        i, j = a.view.alloc, b.view.alloc
        if not a.write and not b.write or (a.atomic not in (None, "exch", '"exch"') and a.atomic == b.atomic):
            return None
        given = (a.guard, self.events[x].given, b.guard, self.events[y].given)
        if self.allocs[i]["op"] == self.allocs[j]["op"]:
            c = self.meets(a.view, b.view)
            if c is not None and given != ("true", "true", "true", "true"):
                c = _all(c, given[0], given[1], *map(_renamed, given[2:]))
            if c is not None and x == y:
                c = _all(c, ["not", _all(*(["=", f"k{n}", f"j{n}"] for n in self.events[x].loops))])
            return c
        return None if self.apart(i, j) else _all(given[0], given[1], *map(_renamed, given[2:]))

    def through(self, x: int, f: int, y: int):
        """x, then the fence f, then y."""
        if not self.flat(self.events[f]):
            return self.then(self.ordered(x, f), self.ordered(f, y))
        waits = [self.then(self.phase_map(w, 0).reverse(), self.ord_between(w, f)) for w, e in enumerate(self.events) if e.kind == "wait"]
        before = self.union([self.local_to(x, f), self.then(self.all_phases(x), self.union(waits))])
        carried = self.union(self.then(self.ord_between(f, a), self.arrivals(a)) for a, e in enumerate(self.events)
                             if e.arrives and self.speaks_for(e, self.events[f]))
        carried = self.union([carried, self.then(carried, self.closure)])
        after = self.then(carried, self.from_phases(y))
        if not self.coupled(self.events[f], self.events[y]):
            after = after.union(self.local(f, y))
        return self.then(before, after)

    def inserted(self, x: int, z: int, y: int):
        """x, the fence that the compiler puts before z, an access through the async proxy of the same partition to bytes of x, then y."""
        a, b = self.events[x], self.events[z]
        way = self.before(a, b)
        if b.may or not self.same_threads(a, b) or a.ws != b.ws or way is None or self.coupled(b, a):
            return None
        meet = [self.conflict(x, i, z, j) for i in a.accesses for j in b.accesses
                if i.unit == "threads" and not i.proxy and j.proxy
                and self.allocs[i.view.alloc]["memory"] == "shared" and self.allocs[i.view.alloc]["op"] == self.allocs[j.view.alloc]["op"]]
        meet = [c for c in meet if c is not None and not any(_mentions(c, n) for u in self.unknowns for n in (u, "v" + u[1:]))]   # they surely do
        if not meet:
            return None
        carried = self.union(self.then(self.ord_between(z, c), self.arrivals(c)) for c, e in enumerate(self.events)
                             if e.arrives and (e.kind != "tma_load" or e.warps == 1))
        carried = self.union([carried, self.then(carried, self.closure)])
        return self.then(self.pair(x, z, _all(["or", *meet], way)), self.union([self.ord_from(z, y), self.then(carried, self.from_phases(y))]))

    def check_accesses(self) -> None:
        seen = {}
        for x, e in enumerate(self.events):
            for y in range(x, self.n):
                f = self.events[y]
                if "dealloc" in (e.kind, f.kind):
                    continue
                some: list = ["or"]
                proxy: List[list] = [["or"], ["or"]]
                for a in e.accesses:
                    for b in f.accesses:
                        if e.agent == f.agent and a.unit == b.unit == "threads" or (self.same_threads(e, f) and a.unit == b.unit == "tc"):
                            continue
                        c = self.conflict(x, a, y, b)
                        if c is None:
                            continue
                        some.append(c)
                        if e.agent != f.agent and self.allocs[a.view.alloc]["memory"] == "shared" and a.proxy != b.proxy:
                            proxy[0 if b.proxy else 1].append(c)
                if len(some) == 1:
                    continue
                order = self.in_order(e, f)
                try:
                    conflicts = self.pair(x, y, _all(some, order))
                except Open:
                    if (x, y) in self.meetings or not self.never_together(x, y, _all(some, order)):
                        raise
                    continue
                if e.name == f.name == "ttng.clc_try_cancel" and self.same_threads(e, f) and (x, y) not in self.meetings:
                    self.requests_in_order = True                 # a premise: the verdict has to say so
                    continue
                seen[x, y] = conflicts
                self.must_be_empty(self.unordered(x, y, conflicts), f"events {x} and {y} touch common bytes and nothing orders them")
                self.pairs += 1
                for side, c in enumerate(proxy):
                    if len(c) == 1:
                        continue
                    r = self.pair(x, y, _all(c, order))
                    first, second = (y, x) if side else (x, y)
                    left = (r.reverse() if side else r).intersect(self.ordered(first, second))
                    for g, fence in enumerate(self.events):
                        if left.is_empty():
                            break
                        if fence.kind == "fence" and not fence.may:
                            left = left.subtract(self.through(first, g, second))
                    for z in range(self.n):
                        way = None if left.is_empty() else self.inserted(first, z, second)
                        left = left if way is None else left.subtract(way)
                    self.must_be_empty(left, f"event {second} goes through the async proxy after event {first} without a fence between")
        for (x, y), text in self.meetings.items():
            mine = seen.pop((x, y), None)
            if mine is None or self.isl.UnionMap.read_from_str(self.ctx, self._parameters(text)) != mine:
                raise Rejected(f"shared memory: where events {x} and {y} meet is not what the certificate says")
        for (x, y), r in seen.items():
            self.must_be_empty(r, f"events {x} and {y} meet, and the certificate does not say so")

    def questions(self):
        """For another solver: (x, y, SMT-LIB text) of each meeting pair. No solution: every instance that meets is in some order."""
        for x, y in sorted(self.meetings):
            meet = self.isl.UnionMap.read_from_str(self.ctx, self._parameters(self.meetings[x, y]))
            orders = self.union([self.local(x, y), self.local(y, x).reverse(), self.then(self.all_phases(x), self.from_phases(y)),
                                 self.then(self.all_phases(y), self.from_phases(x)).reverse()])
            if meet.is_empty():
                continue
            n = len(self.events[x].loops) + len(self.events[y].loops)
            names = [*self.values, *(f"i{i}" for i in range(n))]
            free: List[str] = []
            known = self.definitions() if self.defs else []
            claim = f"(assert (and {self._smt(meet, free)} (not {self._smt(orders.intersect_domain(meet.domain()), None)})))"
            yield x, y, "\n".join(["(set-logic ALL)", *(f"(declare-const {v} Int)" for v in [*names, *free]), *known, claim, "(check-sat)"])

    def _smt(self, relation, free: Optional[List[str]]) -> str:
        """The relation as a formula over the values and i0, i1, ...; free: takes unknowns that only have to exist."""
        t, out = self.isl.dim_type, ["or", "false"]
        maps = relation.get_map_list()
        for k in range(maps.n_map()):
            s = maps.get_at(k).wrap().flatten()
            for piece in (s if free is not None else s.compute_divs()).get_basic_sets():
                names = {(t.param, i): piece.get_dim_name(t.param, i) for i in range(piece.dim(t.param))}
                names.update({(t.set, i): f"i{i}" for i in range(piece.dim(t.set))})
                for i in range(piece.dim(t.div)):
                    names[t.div, i] = self._division(piece, i, names, free)
                conj = ["and", "true"]
                for c in piece.get_constraints():
                    parts = [str(c.get_constant_val())] + [f"(* {c.get_coefficient_val(*at)} {v})" for at, v in names.items()
                                                           if not c.get_coefficient_val(*at).is_zero()]
                    total = f"(+ {' '.join(parts)} 0)"
                    conj.append(f"({'=' if c.is_equality() else '<='} 0 {total})")
                out.append("(" + " ".join(conj) + ")")
        return re.sub(r"(?<![\w.])-(\d+)", r"(- \1)", "(" + " ".join(out) + ")")

    def _division(self, piece, i: int, names: Dict, free: Optional[List[str]]) -> str:
        t = self.isl.dim_type
        aff = piece.get_div(i)
        if aff.is_nan():
            if free is None:
                raise Open("a quotient without a definition")
            free.append(f"e{len(free)}")
            return free[-1]
        den = aff.get_denominator_val()
        kind = {t.param: t.param, t.set: t.in_, t.div: t.div}
        parts = [str(aff.get_constant_val() * den)] + [f"(* {aff.get_coefficient_val(kind[at[0]], at[1]) * den} {v})" for at, v in names.items()
                                                       if not aff.get_coefficient_val(kind[at[0]], at[1]).is_zero()]
        return f"(div (+ {' '.join(parts)} 0) {den})"

    def check_storage(self) -> None:
        """Bytes of barriers and hidden scratch memory that data may have had; what is in use at once has no common bytes."""
        for i, a in self.allocs.items():
            for j, b in self.allocs.items():
                if i < j and a["op"] != b["op"] and a["copy"] == b["copy"] and a["memory"] == b["memory"] and self.lives_together(i, j) and not self.apart(i, j):
                    raise Rejected(f"shared memory: allocations {i} and {j} are in use at once and have common bytes")
        for x, e in enumerate(self.events):
            for y, f in enumerate(self.events):
                if f.kind in ("init", "inval"):
                    mine = [a.view.alloc for a in e.accesses if e.kind != "dealloc" and a.view.alloc != f.barriers[0].alloc and
                            not self.apart(a.view.alloc, f.barriers[0].alloc)]
                    if any(self.lives_together(a, f.barriers[0].alloc) for a in mine):
                        raise Rejected(f"shared memory: data of event {x} in the bytes of a barrier")
                elif f.kind == "scratch" and e.kind != "dealloc":
                    mine = [a.view.alloc for a in e.accesses if self.allocs[a.view.alloc]["memory"] == "shared" and
                            not (a.unit == "threads" and e.agent == f.agent) and a.view.alloc not in f.beside and
                            not self.allocs[a.view.alloc]["life"][0] <= f.op <= self.allocs[a.view.alloc]["life"][1]]
                else:
                    continue
                if mine:
                    self.must_be_empty(self.unordered(x, y, self.pair(x, y, "true")), f"event {y} may use bytes that event {x} still does")

    def check_late_arrivals(self) -> None:
        """What arrives at a barrier on its own time is counted before its bytes are used for something else: another barrier, or data."""
        for f, x in enumerate(self.events):
            for b, bar in enumerate(x.barriers if x.kind in ("tc", "tc_commit", "cp_arrive") else []):
                for e, y in enumerate(self.events):
                    used = [a.view.alloc for a in y.accesses if y.kind != "dealloc"] + [z.alloc for z in y.barriers if y.kind == "init"]
                    if any(self.allocs[t]["op"] != self.allocs[bar.alloc]["op"] and self.allocs[t]["life"][0] > self.allocs[bar.alloc]["life"][0]
                           and not self.apart(bar.alloc, t) for t in used):
                        left = self.pair(f, e, "true").subtract(self.surely_counted(f, b, e)).subtract(self.ord(e, f).reverse())
                        self.must_be_empty(left, f"event {f} may still arrive where event {e} uses the bytes")

    def qualifiers(self) -> List[str]:
        """What the verdict has to say it assumes."""
        out = []
        if any(e.kind == "tc" and len(e.accesses) == 2 for e in self.events):
            out.append("assumes tcgen05 copies and MMAs of one partition run in order")
        if self.head.get("steps") == "yes":
            out.append("assumes loop steps are positive")
        if self.requests_in_order:
            out.append("assumes cluster launch requests of one partition write their results in order")
        if self.head["no_overflow"] == "yes":
            out.append("assumes no integer overflow in loop counters, bounds and what is computed from them")
        if self.head["arguments_not_negative"] == "yes":
            out.append("assumes integer arguments are not negative")
        if self.head["not_negative"] == "yes":
            out.append("assumes non-negative operands of unsigned operations")
        return out

    def check(self) -> None:
        if self.head["membar"] == "yes":
            raise Open("barriers of the text itself (--check-membar) are not covered")
        self.check_choices()
        self.check_slots()
        self.check_phases()
        self.check_closure()
        for i in self.allocs:
            if self.allocs[i]["barrier"]:
                self.check_quotas(i)
        self.check_lifecycle()
        self.check_obligations()
        self.check_accesses()
        self.check_storage()
        self.check_late_arrivals()


def _numeral(n: int) -> str:
    return str(n) if n >= 0 else f"(- {-n})"


def _formula(t) -> str:
    """A term in SMT-LIB; Open where it has no meaning there."""
    if isinstance(t, str):
        return _numeral(int(t)) if t.lstrip("-").isdigit() else t
    op, args = t[0], [_formula(x) for x in t[1:]]
    if op in ("and", "or", "+") and len(args) < 2:
        return args[0] if args else "true" if op == "and" else "false"
    if op in ("+", "*", "<=", "<", "=", "and", "or", "not"):
        return f"({op} {' '.join(args)})"
    if op == "select":
        return f"(ite {' '.join(args)})"
    if op in ("min", "max"):
        return f"(ite ({'<=' if op == 'min' else '>='} {args[0]} {args[1]}) {args[0]} {args[1]})"
    a, b = (args + ["", ""])[:2]
    # rounded down: div rounds to the side of the divisor's sign
    down = f"(ite (or (> {b} 0) (= 0 (mod {a} {b}))) (div {a} {b}) (- (div {a} {b}) 1))" if b else ""
    zero = f"(ite (or (= 0 (mod {a} {b})) (>= {a} 0)) (div {a} {b}) (ite (> {b} 0) (+ (div {a} {b}) 1) (- (div {a} {b}) 1)))" if b else ""
    if op in ("fdiv", "fmod"):
        return down if op == "fdiv" else f"(- {a} (* {b} {down}))"
    if op in ("tdiv", "trem"):
        return zero if op == "tdiv" else f"(- {a} (* {b} {zero}))"
    raise Open(f"a definition that has no formula: {op}")


def _mentions(t, name: str) -> bool:
    return t == name if isinstance(t, str) else any(_mentions(x, name) for x in t[1:])
