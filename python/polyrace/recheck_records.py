"""Records of a certificate for recheck.py: which pairs can have no two executions, what the claims have to range over,
which premises a qualifier has to name. Shares no code with the analyser."""
from __future__ import annotations

import ast
import math
import re
from typing import TYPE_CHECKING, Dict, List, Optional, Tuple

if TYPE_CHECKING:
    from .recheck import Solver
if __package__:
    from .recheck_text import EMPTY, NOT_EMPTY, Rejected, _literal, _number, _parse, _show
else:
    from recheck_text import EMPTY, NOT_EMPTY, Rejected, _literal, _number, _parse, _show


class Records:
    """recordsK.txt: what the pairs without a query are decided from."""

    def __init__(self, text: str):
        self.items: Dict[int, dict] = {}
        self.fences: List[dict] = []
        self.premises: List[list] = []
        self.variables: Dict[str, Tuple[str, int, Optional[int], Optional[int]]] = {}
        self.parameters: Dict[int, Tuple[str, int]] = {}
        self.size_of: Dict[str, int] = {}
        self.axes: List[int] = []
        self.atomics = False
        for line in _parse(text):
            fields = {x[0]: x[1:] for x in line[1:] if isinstance(x, list) and x and isinstance(x[0], str)}
            if line[0] == "record":
                self.items[int(fields["id"][0])] = fields
            elif line[0] == "fence":
                self.fences.append(fields)
            elif line[0] == "premise":
                self.premises.append(line[1])
            elif line[0] == "kernel":
                self.axes, self.atomics = [int(x) for x in fields["axes"]], fields["atomics"] == ["yes"]
            elif line[0] == "arg" and line[3] == "pointer":
                self.size_of[line[2].strip('"')] = int(line[4])
            elif line[0] == "var":
                low, high = (None if x in ("inf", "-inf") else int(x) for x in line[4:6])
                self.variables[line[3].strip('"')] = (line[1], int(line[2]), low, high)

    def extents(self, config: dict) -> List[Optional[int]]:
        """Of the grid, per axis; None where the claim is for any."""
        rung, grid = config.get("rung"), config.get("grid")
        out: List[Optional[int]] = []
        for i in range(3):
            symbolic = i in self.axes or (self.atomics and rung == "T0") or (grid is None and i == 0)
            if grid and (rung == "T1-launch" or config["status"] != "ok"):
                symbolic = False
            out.append(None if symbolic else grid[i] if grid else 1)
        return out

    def never_meet(self, row: dict, config: dict, qualifiers: List[str], solvers: List[Solver]) -> str:
        """Why the two records have no two executions that could meet, or ''."""
        a, b = self.items[row["a"]], self.items[row["b"]]
        threads = row["agents"] == "threads"
        if _mutually_atomic(a, b, threads):
            return "mutually atomic"
        if not threads and all(x == 1 for x in self.extents(config)):
            return "one program"
        if threads and a["access"] == b["access"] and a["via"] != ["desc"] and all(x == "1" for x in a["shape"]):
            return "one thread"
        if threads and (self._ordered(a, b, qualifiers) or self._barrier_in_loop(a, b, config, solvers)):
            return "ordered"
        for x in (a, b):
            if any(s.solve(self._existence(x, config)) == EMPTY for s in solvers):
                return "never executed"
        return ""

    def _ordered(self, a: dict, b: dict, qualifiers: List[str]) -> bool:
        if a["via"] == ["desc"] or b["via"] == ["desc"]:
            return False
        if "assumes source program order" in qualifiers and a["id"] != b["id"]:
            return True
        low, high = sorted((int(a["seq"][0]), int(b["seq"][0])))
        loops = [f for f in a["frames"] if f[0] == "loop"], [f for f in b["frames"] if f[0] == "loop"]
        for f in self.fences:                                     # a barrier that runs once, whenever one of them runs
            n = len(f["frames"])
            if f["opaque_context"] == ["no"] and low < int(f["seq"][0]) < high and \
                    f["frames"] in (a["frames"][:n], b["frames"][:n]) and all(x[0] == "cond" for x in f["frames"]):
                return True
        if len(loops[0]) == 1 and loops[0] == loops[1] and a["frames"] == b["frames"] and a["frames"][-1][0] == "loop":
            # one round of the loop passes n barriers: the two stand behind different numbers of them, modulo n
            inside = [f for f in self.fences if f["frames"][:len(a["frames"])] == a["frames"]]
            if inside and all(f["frames"] == a["frames"] and f["opaque_context"] == ["no"] for f in inside):
                before = [sum(int(f["seq"][0]) < int(x["seq"][0]) for f in inside) for x in (a, b)]
                if (before[0] - before[1]) % len(inside):
                    return True
        if a["id"] != b["id"] and not loops[0] and not loops[1] and all(x == "1" for x in a["shape"] + b["shape"]):
            for x, y in ((a, b), (b, a)):                         # y is computed from what x returns
                if x["id"][0] in y["dep_closure"] and x["kind"] != ["store"]:
                    return True
        return False

    def _barrier_in_loop(self, a: dict, b: dict, config: dict, solvers: List[Solver]) -> bool:
        """A barrier of a loop between the two that runs at least once."""
        low, high = sorted((int(a["seq"][0]), int(b["seq"][0])))
        if a["via"] == ["desc"] or b["via"] == ["desc"] or any(f[0] == "loop" for f in a["frames"] + b["frames"]):
            return False
        for f in self.fences:
            loops = [x for x in f["frames"] if x[0] == "loop"]
            outside = [x for x in f["frames"] if x[0] != "loop"]
            n = len(outside)
            if not loops or f["opaque_context"] != ["no"] or not low < int(f["seq"][0]) < high or f["frames"][:n] != outside or \
                    outside not in (a["frames"][:n], b["frames"][:n]):
                continue
            if all(any(s.solve(self._existence(a, config, x)) == EMPTY for s in solvers) for x in loops):
                return True
        return False

    def _existence(self, r: dict, config: dict, loop: Optional[list] = None) -> str:
        """Has the record an execution at all (with a loop: one in which that loop runs no round)? More solutions than
        that: nothing of the storages."""
        extents, out, values = self.extents(config), ["(set-logic ALL)", _DIVISIONS], {}
        if config.get("rung") != "T0":
            values = {a["name"]: a["value"] for a in config["arguments"] if "value" in a}
        for name, (role, index, low, high) in self.variables.items():
            if role == "param" and name in values:
                low = high = values[name]
            elif role == "lane":
                if index >= len(r["shape"]):
                    continue
                high = int(r["shape"][index]) - 1
            elif role == "pid" and extents[index] is not None:
                high = extents[index] - 1
            elif role == "grid" and extents[index] is not None:
                low = high = extents[index]
            out.append(f"(declare-const |{name}| Int)")
            out += [f"(assert ({op} |{name}| {_literal(x)}))" for op, x in ((">=", low), ("<=", high)) if x is not None]
            if role == "pid":
                out.append(f"(assert (or (< |{name}| |grid{index}|) (< |grid{index}| 1)))")
        body = _Terms(self.variables)
        conjuncts = [*self.premises, r["mask"][0], r["mask_held"][0], r["offset_held"][0]]
        for f in r["frames"]:
            parts = {x[0]: x[1] for x in f[1:] if isinstance(x, list)}
            if f[0] == "cond":
                conjuncts += [parts["if"], parts["held"]]
            else:
                conjuncts += [["<=", ["+", "1", parts["lower"], ["*", f[2], parts["step"]], ["*", "-1", parts["upper"]]], "0"],
                              parts["bounds_held"], parts["increment_held"]]
        if loop:
            parts = {x[0]: x[1] for x in loop[1:] if isinstance(x, list)}
            conjuncts.append(["<=", parts["upper"], parts["lower"]])
        asserts = [f"(assert {body.text(c, 'Bool')})" for c in conjuncts if c != "none"]
        order = sorted(out[2:], key=lambda line: not line.startswith("(declare"))
        return "\n".join([*out[:2], *order, *body.declarations, *asserts, "(check-sat)"])


def _mutually_atomic(a: dict, b: dict, threads: bool) -> bool:
    """Two atomics of one width that meet exactly or not at all, each in the other's scope."""
    if not a["kind"][0].startswith("atomic") or not b["kind"][0].startswith("atomic") or a["width"] != b["width"]:
        return False
    if (a["via"] == ["desc"]) != (b["via"] == ["desc"]) or a["base"] != b["base"] or int(a["base"][0]) < 0:
        return False
    if not threads and (a["scope"] == ["cta"] or b["scope"] == ["cta"]):
        return False
    width = int(a["width"][0])
    x, y = _residue(a["offset"][0], width), _residue(b["offset"][0], width)
    return x is not None and x == y


def _residue(t, width: int) -> Optional[int]:
    """The value of a term modulo width, where it is the same for all variables."""
    if width == 1:
        return 0
    n = _number(t) if not (isinstance(t, str) and t.startswith("-")) else int(t)
    if n is not None:
        return n % width
    if isinstance(t, str):
        return None
    if t[0] == "+":
        parts = [_residue(x, width) for x in t[1:]]
        return None if None in parts else sum(parts) % width
    if t[0] == "*":
        parts = [_residue(x, width) for x in t[1:]]
        if 0 in parts:
            return 0
        out = 1
        for x in t[1:]:                                           # a constant factor may do alone
            n = int(x) if isinstance(x, str) and re.fullmatch(r"-?\d+", x) else None
            out *= n if n is not None else 1
        if out % width == 0:
            return 0
        return None if None in parts else math.prod(parts) % width
    if t[0] == "select":
        x, y = _residue(t[2], width), _residue(t[3], width)
        return x if x == y else None
    return None


_DIVISIONS = """(define-fun fdiv ((x Int) (y Int)) Int (ite (> y 0) (div x y) (ite (< y 0) (div (- x) (- y)) 0)))
(define-fun fmod ((x Int) (y Int)) Int (ite (> y 0) (mod x y) (ite (< y 0) (- (mod (- x) (- y))) x)))
(define-fun mag ((x Int)) Int (ite (>= x 0) x (- x)))
(define-fun tdiv ((x Int) (y Int)) Int (ite (= (< x 0) (< y 0)) (fdiv (mag x) (mag y)) (- (fdiv (mag x) (mag y)))))
(define-fun trem ((x Int) (y Int)) Int (ite (< x 0) (- (fmod (mag x) (mag y))) (fmod (mag x) (mag y))))"""


_BOUND = re.compile(r"^\(assert \((>=|<=) \|([AB])\.(lane|pid)(\d)\| (\d+)\)\)$", re.M)


def _about(name: str, text: str, row: dict, records: Records, config: dict) -> None:
    """The claim ranges over all lanes of its two records and over all programs of its scope."""
    extents = records.extents(config)
    for op, copy, what, index, value in _BOUND.findall(text):
        r = records.items[row["a"] if copy == "A" else row["b"]]
        if what == "lane":
            want = 0 if op == ">=" else int(r["shape"][int(index)]) - 1 if int(index) < len(r["shape"]) else None
        elif op == ">=":
            want = 0
        else:
            high = records.variables[f"pid{index}"][3]
            want = high if extents[int(index)] is None else int(value)
            if extents[int(index)] is not None and int(value) < extents[int(index)] - 1:
                want = None
        if want is None or int(value) != want:
            raise Rejected(f"{name}: {copy}.{what}{index} does not range over what record {r['id'][0]} and the scope say")


_PREMISE = re.compile(r"^\(assert ([^ ()]+)\) ; premise$", re.M)
_STRIDES = re.compile(r"assumes strides of .* do not overlap: (.*)")


def _granted(name: str, text: str, records: Records, config: dict, qualifiers: List[str], solvers: List[Solver]) -> bool:
    """Every premise of a claim follows from a condition that a qualifier prints, or from an assumption of the text."""
    premises = _PREMISE.findall(text)
    if not premises:
        return True
    given = [f"(assert {x})" for q in qualifiers for m in [_STRIDES.fullmatch(q)] if m for x in _condition(m[1])]
    if config.get("rung") != "T0":
        given += [f"(assert (= |{a['name']}| {_literal(a['value'])}))" for a in config["arguments"] if "value" in a and
                  f"(declare-const |{a['name']}| Int)" in text]
    if records.premises:
        if not any(q.startswith("assumes ") and not q.startswith(("assumes strides", "assumes no ", "assumes in-bounds")) for q in qualifiers):
            raise Rejected(f"{name}: it rests on an assumption that no qualifier names")
        return True
    head = _PREMISE.sub("", text).replace("(check-sat)", "")
    head = "\n".join(line for line in head.splitlines() if not line.startswith("(assert t") and not line.startswith("(assert (or t"))
    for p in premises:
        answers = [s.solve("\n".join([head, *given, f"(assert (not {p}))", "(check-sat)"])) for s in solvers]
        if NOT_EMPTY in answers:
            raise Rejected(f"{name}: it takes for granted what no qualifier says ({p})")
        if EMPTY not in answers:
            return False
    return True


def _condition(text: str) -> List[str]:
    """`n <= stride and (m - 1)*s + 64 <= t` as SMT-LIB."""
    out = []
    for part in text.split(" and "):
        m = re.fullmatch(r"(.*?) (<=|>=|<|>|=|==) (.*)", part)
        if not m:
            raise Rejected(f"a qualifier with a condition that cannot be read: {part}")
        try:
            x, y = (_python(ast.parse(t.strip(), mode="eval").body) for t in (m[1], m[3]))
        except SyntaxError:
            raise Rejected(f"a qualifier with a condition that cannot be read: {part}") from None
        out.append(f"({m[2].replace('==', '=')} {x} {y})")
    return out


def _python(x) -> str:
    if isinstance(x, ast.BinOp) and isinstance(x.op, (ast.Add, ast.Sub, ast.Mult)):
        op = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}[type(x.op)]
        return f"({op} {_python(x.left)} {_python(x.right)})"
    if isinstance(x, ast.UnaryOp) and isinstance(x.op, ast.USub):
        return f"(- {_python(x.operand)})"
    if isinstance(x, ast.Constant) and isinstance(x.value, int):
        return _literal(x.value)
    if isinstance(x, ast.Name):
        return f"|{x.id}|"
    raise Rejected("a qualifier with a condition that cannot be read")


class _Terms:
    """Terms of the records as SMT-LIB; what is not arithmetic is a constant that may be anything."""

    def __init__(self, variables):
        self.variables, self.declarations, self.names = variables, [], {}

    def _free(self, t, sort: str) -> str:
        key = (_show(t), sort)
        if key not in self.names:
            self.names[key] = f"free{len(self.names)}"
            self.declarations.append(f"(declare-const {self.names[key]} {sort})")
        return self.names[key]

    def text(self, t, sort: str) -> str:
        if isinstance(t, str):
            if t in ("true", "false") and sort == "Bool":
                return t
            if re.fullmatch(r"-?\d+", t) and sort == "Int":
                return _literal(int(t))
            return f"|{t}|" if t in self.variables and sort == "Int" else self._free(t, sort)
        op, n = t[0], len(t) - 1
        if sort == "Int" and (op in ("+", "*") or (op in ("fdiv", "fmod", "tdiv", "trem") and n == 2)):
            return "(" + " ".join([op, *(self.text(x, "Int") for x in t[1:])]) + ")" if n > 1 else self.text(t[1], "Int")
        if sort == "Int" and op in ("min", "max") and n == 2:
            x, y = self.text(t[1], "Int"), self.text(t[2], "Int")
            return f"(ite (<= {x} {y}) {x} {y})" if op == "min" else f"(ite (<= {x} {y}) {y} {x})"
        if op == "select" and n == 3:
            return f"(ite {self.text(t[1], 'Bool')} {self.text(t[2], sort)} {self.text(t[3], sort)})"
        if sort == "Bool" and op in ("<=", "=") and n == 2:
            return f"({op} {self.text(t[1], 'Int')} {self.text(t[2], 'Int')})"
        if sort == "Bool" and op in ("and", "or", "not"):
            return "(" + " ".join([op, *(self.text(x, "Bool") for x in t[1:])]) + ")"
        if sort == "Bool" and op == "fits" and isinstance(t[1], str) and re.fullmatch(r"i\d+", t[1]):
            bits, x = int(t[1][1:]), self.text(t[2], "Int")
            return f"(and (<= {_literal(-(1 << (bits - 1)))} {x}) (<= {x} {_literal((1 << (bits - 1)) - 1)}))"
        return self._free(t, sort)
