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
        self.defs: Dict[str, object] = {}                          # terms that stand in several places, by name (%1)
        self.variables: Dict[str, Tuple[str, int, Optional[int], Optional[int]]] = {}
        self.parameters: Dict[int, Tuple[str, int]] = {}
        self.size_of: Dict[str, int] = {}
        self.loads: Dict[str, Tuple[int, int]] = {}                # load#N: access and bits of the value
        self.contents: Dict[str, List[int]] = {}                   # of arguments, where the certificate holds them
        self.copies: Dict[str, str] = {}
        self.axes: List[int] = []
        self.atomics = False
        for line in _parse(text):
            fields = {x[0]: x[1:] for x in line[1:] if isinstance(x, list) and x and isinstance(x[0], str)}
            if "frames" in fields:                                # loops of one round order as if they were not there
                fields["around"] = [f for f in fields["frames"] if f[0] != "loop" or not _rounds_once(f)]
            if line[0] == "record":
                self.items[int(fields["id"][0])] = fields
            elif line[0] == "def":
                self.defs[line[1]] = line[2]
            elif line[0] == "fence":
                self.fences.append(fields)
            elif line[0] == "loaded":
                self.loads[f"load#{line[1]}"] = int(fields["access"][0]), int(fields["bits"][0])
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
        if _mutually_atomic(a, b, threads, self.defs):
            return "mutually atomic"
        if not threads and all(x == 1 for x in self.extents(config)):
            return "one program"
        if threads and a["access"] == b["access"] and a["via"] != ["desc"] and all(x == "1" for x in a["shape"]):
            return "one thread"
        if threads and (self._ordered(a, b, qualifiers) or self._barrier_between(a, b, config, solvers)):
            return "ordered"
        if threads and _two_arms(a, b):
            return "two arms of a branch"
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
        loops = [f for f in a["around"] if f[0] == "loop"], [f for f in b["around"] if f[0] == "loop"]
        for f in self.fences:                                     # a barrier that runs once, whenever one of them runs
            n = len(f["around"])
            if f["opaque_context"] == ["no"] and low < int(f["seq"][0]) < high and \
                    f["around"] in (a["around"][:n], b["around"][:n]) and all(x[0] == "cond" for x in f["around"]):
                return True
        if len(loops[0]) == 1 and loops[0] == loops[1] and a["around"] == b["around"] and a["around"][-1][0] == "loop":
            # one round of the loop passes n barriers: the two stand behind different numbers of them, modulo n
            inside = [f for f in self.fences if f["around"][:len(a["around"])] == a["around"]]
            if inside and all(f["around"] == a["around"] and f["opaque_context"] == ["no"] for f in inside):
                before = [sum(int(f["seq"][0]) < int(x["seq"][0]) for f in inside) for x in (a, b)]
                if (before[0] - before[1]) % len(inside):
                    return True
        if a["id"] != b["id"] and not loops[0] and not loops[1] and all(x == "1" for x in a["shape"] + b["shape"]):
            for x, y in ((a, b), (b, a)):                         # y is computed from what x returns
                if x["id"][0] in y["dep_closure"] and x["kind"] != ["store"]:
                    return True
        return False

    def _barrier_between(self, a: dict, b: dict, config: dict, solvers: List[Solver]) -> bool:
        """A barrier between the two that runs whenever one of them does: every branch around it is then taken, every loop
        around it runs a round."""
        low, high = sorted((int(a["seq"][0]), int(b["seq"][0])))
        if a["via"] == ["desc"] or b["via"] == ["desc"] or any(f[0] == "loop" for f in a["around"] + b["around"]):
            return False
        for f in self.fences:
            if f["opaque_context"] != ["no"] or not low < int(f["seq"][0]) < high:
                continue
            for r in (a, b):
                shared = 0
                while shared < min(len(r["around"]), len(f["around"])) and r["around"][shared] == f["around"][shared]:
                    shared += 1
                if all(any(s.solve(self._existence(r, config, x)) == EMPTY for s in solvers) for x in f["around"][shared:]):
                    return True
        return False

    def _existence(self, r: dict, config: dict, missed: Optional[list] = None) -> str:
        """Has the record an execution at all (with a frame: one in which that loop runs no round, that branch is not taken)?
        More solutions than that: nothing of the storages."""
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
        body = _Terms(self.variables, self.defs)
        conjuncts = [*self.premises, r["mask"][0], r["mask_held"][0], r["offset_held"][0]]
        for f in r["frames"]:
            parts = {x[0]: x[1] for x in f[1:] if isinstance(x, list)}
            if f[0] == "cond":
                conjuncts += [parts["if"], parts["held"]]
            else:
                conjuncts += [["<=", ["+", "1", parts["lower"], ["*", f[2], parts["step"]], ["*", "-1", parts["upper"]]], "0"],
                              parts["bounds_held"], parts["increment_held"]]
        if missed:
            parts = {x[0]: x[1] for x in missed[1:] if isinstance(x, list)}
            conjuncts += [["<=", parts["upper"], parts["lower"]]] if missed[0] == "loop" else [["not", parts["if"]], parts["held"]]
        asserts = [f"(assert {body.text(c, 'Bool')})" for c in conjuncts if c != "none"]
        if config.get("rung") != "T0":
            asserts += self._values(body, config)
        order = sorted(out[2:], key=lambda line: not line.startswith("(declare"))
        return "\n".join([*out[:2], *order, *body.declarations, *asserts, "(check-sat)"])


    def _values(self, body: "_Terms", config: dict) -> List[str]:
        """What the loads return that the terms so far mention: where one runs, the entry. Its index is inside the tensor, as
        a launch that reads outside is not what the verdict is about (in-bounds premise)."""
        out: List[str] = []
        done = 0
        while done < len(body.loads) and done < 32:
            name, term = body.loads[done]
            done += 1
            access, bits = self.loads.get(term[0], (-1, 0))
            owners = [r for r in self.items.values() if int(r["access"][0]) == access]
            if len(owners) != 1 or owners[0]["kind"] != ["load"] or owners[0]["via"] != ["ptr"] or owners[0]["refused"][0] != "none":
                continue
            r, width = owners[0], int(owners[0]["width"][0])
            base = int(r["base"][0])
            values = self.contents.get(config["arguments"][base]["name"]) if base >= 0 else None
            if not values or sum(x != y for x, y in zip(values, values[1:])) > 500 or bits != 8 * width or self._written(base, config):
                continue
            loops = [f for f in r["frames"] if f[0] == "loop"]
            if len(term) - 1 != len(loops) + len(r["shape"]):
                continue
            at = dict(zip([f[2] for f in loops] + [f"lane{i}" for i in range(len(r["shape"]))], term[1:]))
            at.update({f"lane{i}": "0" for i, n in enumerate(r["shape"]) if n == "1"})
            happens = [r["mask"][0], r["mask_held"][0], r["offset_held"][0]]
            for f in r["frames"]:
                parts = {x[0]: x[1] for x in f[1:] if isinstance(x, list)}
                if f[0] == "cond":
                    happens += [parts["if"], parts["held"]]
                else:
                    happens += [["<=", "0", f[2]], ["<=", ["+", "1", parts["lower"], ["*", f[2], parts["step"]], ["*", "-1", parts["upper"]]], "0"],
                                parts["bounds_held"], parts["increment_held"]]
            where = " ".join(body.text(self._replaced(c, at), "Bool") for c in happens if c != "none")
            offset = body.text(self._replaced(r["offset"][0], at), "Int")
            entry = _literal(values[-1])
            for i in range(len(values) - 2, -1, -1):
                if values[i] != values[i + 1]:
                    entry = f"(ite (<= (div {offset} {width}) {i}) {_literal(values[i])} {entry})"
            out.append(f"(assert (=> (and true {where} (= (mod {offset} {width}) 0)) "
                       f"(and (<= 0 {offset}) (< {offset} {width * len(values)}) (= {name} {entry}))))")
        return out

    def _replaced(self, t, at: Dict[str, object]):
        """The term with other indices; a named term becomes another one where it mentions them."""
        if not isinstance(t, str):
            return [t[0], *(self._replaced(x, at) for x in t[1:])]
        if t not in self.defs:
            return at.get(t, t)
        name = f"{t}.{_show(['at', *(['=', k, v] for k, v in sorted(at.items()))])}"
        if name not in self.copies:
            new = self._replaced(self.defs[t], at)
            self.copies[name] = t if new == self.defs[t] else f"%{len(self.defs)}a"
            self.defs.setdefault(self.copies[name], new)
        return self.copies[name]

    def _written(self, base: int, config: dict) -> bool:
        """May some operation of the kernel write to the storage of this argument?"""
        mine = config["arguments"][base].get("storage")
        for r in self.items.values():
            if r["kind"][0] in ("load", "atomic_load", "atomic_poll"):
                continue
            other = int(r["base"][0])
            theirs = config["arguments"][other].get("storage") if other >= 0 else None
            if mine is None or theirs is None or not (mine[1] <= theirs[0] or theirs[1] <= mine[0]):
                return True
        return False


def _rounds_once(f) -> bool:
    """A loop of exactly one round."""
    parts = {x[0]: x[1] for x in f[1:] if isinstance(x, list)}
    try:
        low, high, step = (int(parts[k]) for k in ("lower", "upper", "step"))
    except (KeyError, TypeError, ValueError):
        return False
    return step > 0 and low < high <= low + step


def _two_arms(a: dict, b: dict) -> bool:
    """In one program: behind equal conditions outside of loops, one needs what the other must not have. The branch is taken once."""
    for f, g in zip(a["around"], b["around"]):
        if f[0] != "cond" or g[0] != "cond":
            return False
        if f == g:
            continue
        x, y = ({p[0]: p[1] for p in h[1:] if isinstance(p, list)} for h in (f, g))
        return x["held"] == y["held"] and (x["if"] == ["not", y["if"]] or y["if"] == ["not", x["if"]])
    return False


def _mutually_atomic(a: dict, b: dict, threads: bool, defs: Dict[str, object]) -> bool:
    """Two atomics of one width that meet exactly or not at all, each in the other's scope."""
    if not a["kind"][0].startswith("atomic") or not b["kind"][0].startswith("atomic") or a["width"] != b["width"]:
        return False
    if (a["via"] == ["desc"]) != (b["via"] == ["desc"]) or a["base"] != b["base"] or int(a["base"][0]) < 0:
        return False
    if not threads and (a["scope"] == ["cta"] or b["scope"] == ["cta"]):
        return False
    width = int(a["width"][0])
    x, y = _residue(a["offset"][0], width, defs), _residue(b["offset"][0], width, defs)
    return x is not None and x == y


def _residue(t, width: int, defs: Dict[str, object]) -> Optional[int]:
    """The value of a term modulo width, where it is the same for all variables."""
    if width == 1:
        return 0
    n = _number(t) if not (isinstance(t, str) and t.startswith("-")) else int(t)
    if n is not None:
        return n % width
    if isinstance(t, str):
        return _residue(defs[t], width, defs) if t in defs else None
    if t[0] == "+":
        parts = [_residue(x, width, defs) for x in t[1:]]
        return None if None in parts else sum(parts) % width
    if t[0] == "*":
        parts = [_residue(x, width, defs) for x in t[1:]]
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
        x, y = _residue(t[2], width, defs), _residue(t[3], width, defs)
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
    given = [f"(assert {x})" for q in qualifiers for m in [_STRIDES.fullmatch(q)] if m for x in _condition(m[1])
             if all(f"(declare-const {v} Int)" in text for v in re.findall(r"\|[^|]*\|", x))]      # (others speak of another tensor's strides)
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

    def __init__(self, variables, defs: Dict[str, object]):
        self.variables, self.defs, self.declarations, self.names = variables, defs, [], {}
        self.loads: List[Tuple[str, list]] = []                    # loaded values that were met, with their constants

    def _free(self, t, sort: str) -> str:
        key = (_show(t), sort)
        if key not in self.names:
            self.names[key] = f"free{len(self.names)}"
            self.declarations.append(f"(declare-const {self.names[key]} {sort})")
            if sort == "Int" and isinstance(t, list) and isinstance(t[0], str) and t[0].startswith("load#"):
                self.loads.append((self.names[key], t))
        return self.names[key]

    def text(self, t, sort: str) -> str:
        if isinstance(t, str):
            if t in ("true", "false") and sort == "Bool":
                return t
            if re.fullmatch(r"-?\d+", t) and sort == "Int":
                return _literal(int(t))
            if t in self.defs:
                key = (t, sort)
                if key not in self.names:
                    body = self.text(self.defs[t], sort)
                    self.names[key] = f"|{t}|" if sort == "Int" else f"|{t} holds|"
                    self.declarations.append(f"(define-fun {self.names[key]} () {sort} {body})")
                return self.names[key]
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
