"""Texts of claims for recheck.py: SMT-LIB read, made linear, and the tables in it compared with the launch's contents.
Shares no code with the analyser."""
from __future__ import annotations

import base64
import os
import re
import struct
from typing import Dict, Iterator, List, Optional, Tuple

EMPTY, NOT_EMPTY, UNKNOWN = "empty", "not empty", "unknown"


class Rejected(Exception):
    """The certificate does not show what it claims."""


_TOKEN = re.compile(r'\s*(?:([()])|(\|[^|]*\||"(?:[^"\\]|\\.)*")|([^\s()"|]+))')


def _parse(text: str) -> list:
    """S-expressions as nested lists of strings."""
    stack: List[list] = [[]]
    for m in _TOKEN.finditer(text):
        if m[1] == "(":
            stack.append([])
        elif m[1] == ")":
            if len(stack) == 1:
                raise Rejected("a text with one bracket too many")
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(m[2] or m[3])
    if len(stack) != 1:
        raise Rejected("a text that ends inside brackets")
    return stack[0]


def _show(x) -> str:
    return x if isinstance(x, str) else "(" + " ".join(map(_show, x)) + ")"


def _number(x) -> Optional[int]:
    if isinstance(x, str):
        return int(x) if re.fullmatch(r"\d+", x) else None
    return -int(x[1]) if len(x) == 2 and x[0] == "-" and isinstance(x[1], str) and x[1].isdigit() else None


def _literal(v: int) -> str:
    return str(v) if v >= 0 else f"(- {-v})"


Monomial = Tuple[str, ...]
Polynomial = Dict[Monomial, int]
_PROLOGUE = ("fdiv", "fmod", "mag", "tdiv", "trem", "bit")
_MOST_INSTANCES = 400


def _times(p: Polynomial, q: Polynomial) -> Polynomial:
    out: Polynomial = {}
    for a, x in p.items():
        for b, y in q.items():
            m = tuple(sorted(a + b))
            out[m] = out.get(m, 0) + x * y
    return {m: c for m, c in out.items() if c}


def _plus(p: Polynomial, q: Polynomial, k: int = 1) -> Polynomial:
    out = dict(p)
    for m, c in q.items():
        out[m] = out.get(m, 0) + k * c
    return {m: c for m, c in out.items() if c}


class Abstraction:
    """A claim's text made linear: every product of unknowns is an unknown of its own, every quotient by an unknown too,
    and every entry of a table. That has more solutions than the text, so "unsat" carries over. What is lost comes back
    as instances of facts that hold for all integers (or, for tables, for the values that the launch gives):

    * a row P <= 0 times s:  s >= 0 and P <= 0 imply P*s <= 0; the same for -s;
    * the product f*d of a step:  f >= 1 and d >= 1 imply f*d >= f; d <= -1 implies f*d <= -f; d = 0 implies f*d = 0;
    * q, r the quotient and remainder of x by y:  x >= 0 and y >= 1 imply x = y*q + r, 0 <= q <= x, 0 <= r <= y - 1;
      without one of the two premises what docs/semantics.md says of either kind of division;
    * entries of a table: Table.facts."""

    def __init__(self, text: str, tables: Dict[str, "Table"]):
        self.out: List[str] = []               # declarations, definitions and assertions
        self.ends: Dict[int, str] = {}
        self.poly: Dict[str, Polynomial] = {}
        self.body: Dict[str, object] = {}
        self.monomials: Dict[Monomial, str] = {}
        self.rows: List[Polynomial] = []       # each <= 0 where its guard holds
        self.guards: List[str] = []
        self.divisions: Dict[Tuple[str, str, str], str] = {}
        self.uses: Dict[str, List[Tuple[str, str]]] = {}
        self.product: Dict[int, Tuple[Polynomial, Polynomial]] = {}
        self.tables = tables
        commands = _parse("\n".join(line.split(";")[0] for line in text.splitlines()))
        body: List[str] = []
        for c in commands:
            if not isinstance(c, list) or not c:
                raise Rejected("a text that is not SMT-LIB")
            self._command(c, body)
        self._division_facts()
        instances = self._row_instances() + self._table_instances()
        for k, (f, d) in self.product.items():
            fd = _times(f, d)
            self.ends[k] = (f"(assert (=> (>= {self._linear(f)} 1) (and (=> (>= {self._linear(d)} 1) (>= {self._linear(fd)} {self._linear(f)})) "
                            f"(=> (<= {self._linear(d)} (- 1)) (<= {self._linear(fd)} (- {self._linear(f)}))))))\n"
                            f"(assert (=> (= {self._linear(d)} 0) (= {self._linear(fd)} 0)))\n")
        names = [f"(declare-const {n} Int)" for m, n in self.monomials.items() if len(m) > 1]
        self.text = "\n".join(["(set-logic ALL)", *self.prologue, *names, *body, *instances]) + "\n"

    prologue: List[str] = []

    def _atom(self, m: Monomial) -> str:
        if len(m) == 1:
            return m[0]
        return self.monomials.setdefault(m, f"product-{len(self.monomials)}")

    def _linear(self, p: Polynomial) -> str:
        parts = [_literal(p.get((), 0))]
        parts += [f"(* {_literal(c)} {self._atom(m)})" for m, c in sorted(p.items()) if m]
        return "(+ " + " ".join(parts) + ")" if len(parts) > 1 else parts[0]

    def _poly(self, x) -> Optional[Polynomial]:
        n = _number(x)
        if n is not None:
            return {(): n} if n else {}
        if isinstance(x, str):
            return self.poly.get(x, {(x,): 1})
        parts = [self._poly(y) for y in x[1:]] if x[0] in ("+", "*", "-") else []
        if not parts or any(p is None for p in parts):
            return None
        out = parts[0]
        for p in parts[1:]:
            out = _plus(out, p) if x[0] == "+" else _times(out, p) if x[0] == "*" else _plus(out, p, -1)
        if x[0] == "-" and len(parts) == 1:
            out = _plus({}, out, -1)
        return out if len(out) <= 200 else None

    def _command(self, c: list, body: List[str]) -> None:
        if c[0] in ("set-logic", "check-sat"):
            return
        if c[0] == "declare-const":
            body.append(_show(c))
        elif c[0] == "declare-fun":
            body.append(_show(c))
        elif c[0] == "assert":
            self._row(c[1])
            body.append(_show(c))
        elif c[0] == "define-fun" and c[1] in _PROLOGUE:
            self.prologue = [*self.prologue, _show(c)]
        elif c[0] == "define-fun" and c[2]:                       # a table
            body.append(f"(declare-fun {c[1]} (Int) Int)")
        elif c[0] == "define-fun":
            self._define(c[1], c[3], c[4], body)
        else:
            raise Rejected(f"a command that no certificate has: {c[0]}")

    def _define(self, name: str, sort: str, x, body: List[str]) -> None:
        self.body[name] = x
        m = re.fullmatch(r"(factor|difference)-(\d+)", name)
        if sort == "Int":
            p = self._poly(x)
            if p is not None:
                if m and m[1] == "difference":
                    self.product[int(m[2])] = (self.poly[f"factor-{m[2]}"], p)
                self.poly[name] = p
                body.append(f"(define-fun {name} () Int {self._linear(p)})")
                return
            if isinstance(x, list) and x[0] in ("fdiv", "fmod", "tdiv", "trem") and _number(x[2]) is None:
                self.divisions[(x[0], _show(x[1]), _show(x[2]))] = name
                body.append(f"(declare-const {name} Int)")
                return
            if isinstance(x, list) and isinstance(x[0], str) and x[0].startswith("tab"):
                self.uses.setdefault(x[0], []).append((name, _show(x[1])))
        body.append(f"(define-fun {name} () {sort} {_show(x)})")

    def _row(self, x, guard: str = "") -> None:
        """Notes a conjunct P <= 0 or P = 0."""
        for _ in range(20):
            if isinstance(x, str) and x in self.body:
                x = self.body[x]
            else:
                break
        if not isinstance(x, list):
            return
        if x[0] == "and":
            for y in x[1:]:
                self._row(y)
        elif x[0] in (">=", "<=", "=") and len(x) == 3:
            p, q = self._poly(x[1]), self._poly(x[2])
            if p is None or q is None:
                return
            d = _plus(p, q, -1)
            if x[0] in ("<=", "="):
                self.rows.append(d)
            if x[0] in (">=", "="):
                self.rows.append(_plus({}, d, -1))

    def _division_facts(self) -> None:
        self.facts: List[str] = []
        for (op, x, y), name in list(self.divisions.items()):
            px, py, t = self._poly(_parse(x)[0]), self._poly(_parse(y)[0]), {(name,): 1}
            if px is None or py is None:
                continue
            whole, divisor = f"(>= {self._linear(px)} 0)", f"(>= {self._linear(py)} 1)"
            both, floor = f"(and {whole} {divisor})", op in ("fdiv", "fmod")
            facts: List[Tuple[str, Polynomial]] = []              # guard, P: where it holds, P <= 0
            if op in ("fmod", "trem"):
                if not floor:
                    facts.append((whole, _plus(t, px, -1)))
                facts.append((divisor if floor else whole, _plus({}, t, -1)))
                facts.append((divisor if floor else both, _plus(_plus(t, py, -1), {(): 1})))
            else:
                other = self.divisions.get(("fmod" if floor else "trem", x, y))
                yt = _times(py, t)
                facts += [(both, _plus({}, t, -1)), (both, _plus(t, px, -1))]
                if other:
                    rest = _plus(_plus(yt, {(other,): 1}), px, -1)
                    facts += [(divisor if floor else both, rest), (divisor if floor else both, _plus({}, rest, -1))]
                facts += [(divisor if floor else both, _plus(yt, px, -1)),
                          (divisor if floor else both, _plus(_plus(px, yt, -1), _plus({(): 1}, py, -1)))]
            for guard, r in facts:
                self.facts.append(f"(assert (=> {guard} (<= {self._linear(r)} 0)))")
                self.rows.append(r)

    def _row_instances(self) -> List[str]:
        known = set(self.monomials)
        for f, d in self.product.values():
            known |= {m for m in _times(f, d) if len(m) > 1}
        factors = sorted({a for m in known for a in m})
        out, seen = list(self.facts), set()
        rows = self.rows + [{(): 0, (a,): -1} for a in factors]
        for p in rows:
            if len(p) > 12:
                continue
            for s in factors:
                q = _times(p, {(s,): 1})
                if not any(len(m) > 1 for m in q) or any(len(m) > 1 and m not in known for m in q):
                    continue
                line = (f"(assert (=> (<= {self._linear(p)} 0) (and (=> (>= {s} 0) (<= {self._linear(q)} 0)) "
                        f"(=> (<= {s} 0) (>= {self._linear(q)} 0)))))")
                if line not in seen and len(out) < _MOST_INSTANCES:
                    seen.add(line)
                    out.append(line)
        return out

    def _table_instances(self) -> List[str]:
        out: List[str] = []
        for name, uses in self.uses.items():
            table = self.tables.get(name)
            if table:
                out += table.facts(uses)
        at: Dict[str, Dict[str, str]] = {}                        # index -> table -> entry
        for name, uses in self.uses.items():
            if name in self.tables and self.tables[name].values:
                for entry, index in uses:
                    at.setdefault(index, {})[name] = entry
        for i, x in at.items():
            for j, y in at.items():
                both = [t for t in x if t in y]
                if i < j and len(both) > 1:
                    out += joint_facts([self.tables[t] for t in both], i, j, [(x[t], y[t]) for t in both])
        return out


class Table:
    """Entries of an argument as the launch gives them (every stride-th from first on), or a function about which
    the verdict assumes something. An index outside counts as the nearer end, as the claim's text says too."""

    def __init__(self, values: Optional[List[int]], distinct: bool = False, nondecreasing: bool = False, size: int = 8):
        self.values, self.premises = values, (distinct, nondecreasing)
        self.range = -(1 << (8 * size - 1)), (1 << (8 * size - 1)) - 1
        if values:
            ordered = sorted(values)
            self.spread = min((b - a for a, b in zip(ordered, ordered[1:])), default=1)
            self.steps = [b - a for a, b in zip(values, values[1:])]

    def at(self, i: int) -> int:
        return self.values[min(max(i, 0), len(self.values) - 1)]

    def facts(self, uses: List[Tuple[str, str]]) -> List[str]:
        """Instances for the entries in use, each checked against the values."""
        out = []
        v = self.values
        for n, (t, i) in enumerate(uses):
            low, high = (min(v), max(v)) if v else self.range
            out.append(f"(assert (and (<= {_literal(low)} {t}) (<= {t} {_literal(high)})))")
            for u, j in uses[:n]:
                if not v:
                    if self.premises[0]:
                        out.append(f"(assert (=> (= {t} {u}) (= {i} {j})))")
                    if self.premises[1]:
                        out.append(f"(assert (and (=> (<= {i} {j}) (<= {t} {u})) (=> (<= {j} {i}) (<= {u} {t}))))")
                    continue
                inside = f"(<= 0 {i}) (<= {i} {len(v) - 1}) (<= 0 {j}) (<= {j} {len(v) - 1})"
                if min(self.steps, default=0) >= 0:
                    out.append(f"(assert (and (=> (<= {i} {j}) (<= {t} {u})) (=> (<= {j} {i}) (<= {u} {t}))))")
                if self.steps and min(self.steps) == max(self.steps):
                    out.append(f"(assert (=> (and {inside}) (= (- {t} {u}) (* {_literal(self.steps[0])} (- {i} {j})))))")
                if self.steps and min(self.steps) >= 1:
                    least = min(self.steps)
                    out.append(f"(assert (=> (and {inside} (<= {i} {j})) (<= (+ {t} (* {least} (- {j} {i}))) {u})))")
                    out.append(f"(assert (=> (and {inside} (<= {j} {i})) (<= (+ {u} (* {least} (- {i} {j}))) {t})))")
                if self.spread >= 1:
                    out.append(f"(assert (=> (and {inside}) (or (= {i} {j}) (>= (- {t} {u}) {self.spread}) "
                               f"(<= (- {t} {u}) (- {self.spread})))))")
        return out


def joint_facts(tables: List[Table], i: str, j: str, entries: List[Tuple[str, str]]) -> List[str]:
    """No two indices give the same entries in all the tables: checked against the values."""
    n = min(len(t.values) for t in tables)
    if len({tuple(t.values[k] for t in tables) for k in range(n)}) != n:
        return []
    inside = f"(<= 0 {i}) (<= {i} {n - 1}) (<= 0 {j}) (<= {j} {n - 1})"
    same = " ".join(f"(= {a} {b})" for a, b in entries)
    return [f"(assert (=> (and {inside} {same}) (= {i} {j})))"]


_DIVISION = re.compile(r"^\(define-fun (t\d+) \(\) Int \((?:fdiv|fmod|tdiv|trem) .*\)\)$", re.M)


def _steps(text: str, facts: int, tables: Dict[str, Table]) -> Iterator[Tuple[str, str, List[str]]]:
    """(what, the exact question, questions with more solutions) of each fact and of the conclusion; one question
    answered "empty" is enough."""
    body = text.replace("(check-sat)", "")
    free = _DIVISION.sub(r"(declare-const \1 Int)", body)
    loose = Abstraction(text, tables)
    known = ""
    for k in range(facts + 1):
        end = f"(assert (not fact-{k}))\n(check-sat)\n" if k < facts else "(check-sat)\n"
        what = f"fact-{k}" if k < facts else "no solution is left"
        yield what, body + known + end, [loose.text + known + loose.ends.get(k, "") + end, free + known + end]
        known += f"(assert fact-{k})\n"


# ---- tables -------------------------------------------------------------------------------------------------

_TABLE = re.compile(r"^; (table|function) (tab\d+) (\S+)((?: distinct| nondecreasing)*)$", re.M)
_PART = re.compile(r"(.*)\[(\d+)\*i\+(\d+)\]")


def _entries(x, i: int):
    """The chain of choices of a table's definition at index i."""
    while isinstance(x, list) and x[0] == "ite":
        op, a, b = x[1]
        a, b = (i if t == "i" else _number(t) for t in (a, b))
        if op not in ("<", "<=") or a is None or b is None:
            raise Rejected("a table that is not a chain of choices")
        x = x[2] if (a < b if op == "<" else a <= b) else x[3]
    if isinstance(x, list) and x[0] == "+" and isinstance(x[1], list) and x[1][0] == "*" and x[1][2] == "i":
        return _number(x[1][1]) * i + _number(x[2])
    return _number(x)


# What the additions at each cell of an array of counters leave: taken from the query, as everything that it says of atomics is.
_OF_ATOMICS = ("atomics.least", "atomics.most")


def _ends(x) -> int:
    """The largest index that a chain of choices speaks of."""
    last = -1
    while isinstance(x, list) and x[0] == "ite":
        last = max(last, *(n for n in map(_number, (t for t in x[1][1:] if t != "i")) if n is not None))
        x = x[3]
    return last


def _tables(text: str, contents: Dict[str, List[int]], size_of: Dict[str, int], qualifiers: Optional[List[str]], name: str,
            atomics: bool = False) -> Dict[str, Table]:
    """The tables of a claim. Each entry that the text gives is compared with the contents, each premise about a
    function with the qualifiers (None: the launch races, and premises of proofs do not qualify a race)."""
    found: Dict[str, Table] = {}
    defined = {c[1]: c[4] for c in _parse("\n".join(line for line in text.splitlines() if line.startswith("(define-fun tab")))}
    declared = set(re.findall(r"^\(declare-fun (tab\d+) \(Int\) Int\)$", text, re.M))
    for kind, tab, what, premises in _TABLE.findall(text):
        if kind == "function":
            if tab not in declared:
                raise Rejected(f"{name}: {tab} is not declared")
            for word, wanted in (("distinct", f"assumes indices of {what} distinct"), ("nondecreasing", f"assumes {what} nondecreasing")):
                if word in premises.split() and qualifiers is not None and not _says(qualifiers, word, what):
                    raise Rejected(f"{name}: it takes for granted what no qualifier says: {wanted}")
            found[tab] = Table(None, "distinct" in premises.split(), "nondecreasing" in premises.split(), size_of.get(what, 8))
            continue
        m = _PART.fullmatch(what)
        argument, stride, first = (m[1], int(m[2]), int(m[3])) if m else (what, 1, 0)
        if atomics and what in _OF_ATOMICS and what not in contents and tab in defined and (qualifiers is None or "reads tensor contents" in qualifiers):
            found[tab] = Table([_entries(defined[tab], k) for k in range(_ends(defined[tab]) + 1)])
            continue
        if argument not in contents or stride < 1:
            raise Rejected(f"{name}: it reads contents of {argument}, which the certificate does not hold")
        if qualifiers is not None and "reads tensor contents" not in qualifiers:
            raise Rejected(f"{name}: it reads contents of {argument}, but no qualifier says so")
        values = contents[argument][first::stride]
        if not values or tab not in defined:
            raise Rejected(f"{name}: {tab} has no entries")
        for i in range(-1, len(values) + 1):
            if _entries(defined[tab], i) != values[min(max(i, 0), len(values) - 1)]:
                raise Rejected(f"{name}: entry {i} of {what} is not what the launch holds")
        found[tab] = Table(values)
    for tab in set(defined) | declared:
        if tab not in found:
            raise Rejected(f"{name}: {tab} comes from nowhere")
    return found


def _says(qualifiers: List[str], word: str, what: str) -> bool:
    pattern = r"assumes indices of (.*) distinct" if word == "distinct" else r"assumes (.*) nondecreasing"
    return any(m and what in m[1].split(", ") for m in (re.fullmatch(pattern, q) for q in qualifiers))


_SIGNED = {"int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q"}


def _launch_values(body: dict, where: str) -> Optional[List[int]]:
    """The contents of a tensor as a launch file holds them, read signed."""
    kind = str(body.get("dtype", "")).split(".")[-1]
    kind = {"i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
            "i1": "bool"}.get(kind, kind)
    if isinstance(body.get("values"), list):
        flat = list(body["values"])
        while any(isinstance(x, list) for x in flat):
            flat = [y for x in flat for y in (x if isinstance(x, list) else [x])]
    else:
        if "values_b64" in body:
            data = base64.b64decode(body["values_b64"])
        elif isinstance(body.get("values_file"), str):
            with open(os.path.join(where, body["values_file"]), "rb") as f:
                data = f.read()
        else:
            return None
        code = "B" if kind == "bool" else _SIGNED.get(kind)
        if not code:
            return None
        flat = [x[0] for x in struct.iter_unpack("<" + code, data)]
    if kind == "bool":
        return [int(bool(x)) for x in flat]
    bits = int(re.sub(r"\D", "", kind) or 64)
    return [(int(x) + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1)) for x in flat]
