"""Which elements of a tensor do the two accesses of a race touch?

Evaluates the records of the analysis (`polyrace dump --stage=records`) at the programs and iterations of the witness,
lane by lane. This is for pictures only; a footprint that does not contain the witness's own byte, or that needs values
which nobody knows, is not drawn, and the page says why.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

MAX_LANES = 1 << 16
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[()]|[^\s()"]+')

Term = Any  # int, str or list


class NotDrawn(Exception):
    """Why there is no picture."""


@dataclass
class Footprint:
    """Elements touched by one access of the witness, as sorted disjoint runs [start, end)."""

    runs: List[Tuple[int, int]] = field(default_factory=list)

    @property
    def count(self) -> int:
        return sum(b - a for a, b in self.runs)

    def __contains__(self, element: int) -> bool:
        return any(a <= element < b for a, b in self.runs)


def parse(text: str) -> List[Term]:
    """The S-expressions of a dump."""
    stack: List[List[Term]] = [[]]
    for token in _TOKEN.findall(text):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        elif token[0] == '"':
            stack[-1].append(_unquote(token))
        else:
            try:
                stack[-1].append(int(token))
            except ValueError:
                stack[-1].append(token)
    return stack[0]


def _unquote(token: str) -> str:
    return re.sub(r"\\(.)", r"\1", token[1:-1])


def configurations(dump: str) -> List[List[Term]]:
    """The records of each configuration: a dump of several holds one block after another."""
    blocks: List[List[Term]] = []
    for item in parse(dump):
        if isinstance(item, list) and item and item[0] == "kernel":
            blocks.append([])
        if blocks:
            blocks[-1].append(item)
    return blocks


def _fdiv(a: int, b: int) -> int:
    return a // b if b else 0


def _fmod(a: int, b: int) -> int:
    return a % b if b else a


def _tdiv(a: int, b: int) -> int:
    return (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1) if b else 0


def _trem(a: int, b: int) -> int:
    return a - b * _tdiv(a, b) if b else a


_FUNCTIONS: Dict[str, Callable[..., int]] = {"fdiv": _fdiv, "fmod": _fmod, "tdiv": _tdiv, "trem": _trem, "min": min, "max": max}
_INFIX = {"+": "+", "*": "*", "band": "&", "bor": "|", "bxor": "^", "and": " and ", "or": " or "}


def _code(term: Term, names: Dict[str, str]) -> str:
    """A Python expression of a term; `names` gives the expression of each variable."""
    if isinstance(term, int):
        return "(%d)" % term
    if isinstance(term, str):
        if term in ("true", "false"):
            return term.capitalize()
        if term in names:
            return names[term]
        raise NotDrawn("the value of %s is not known" % term)
    head, *rest = term
    if head in _INFIX:
        if not rest:
            return {"and": "True", "or": "False", "+": "0", "*": "1"}.get(head, "0")
        return "(" + _INFIX[head].join(_code(t, names) for t in rest) + ")"
    if head in _FUNCTIONS:
        return "%s(%s)" % (head, ",".join(_code(t, names) for t in rest))
    if head == "<=":
        return "(%s<=%s)" % (_code(rest[0], names), _code(rest[1], names))
    if head == "=":
        return "(%s==%s)" % (_code(rest[0], names), _code(rest[1], names))
    if head == "not":
        return "(not %s)" % _code(rest[0], names)
    if head == "select":
        c, a, b = (_code(t, names) for t in rest)
        return "(%s if %s else %s)" % (a, c, b)
    if head == "fits":
        return "True"
    if isinstance(head, str) and head.split("#")[0] in ("load", "obs"):
        raise NotDrawn("the elements depend on values in memory")
    raise NotDrawn("the elements depend on a value that is not modelled")


def _field(record: List[Term], name: str) -> List[Term]:
    for part in record[1:]:
        if isinstance(part, list) and part and part[0] == name:
            return part[1:]
    return []


def _scalars(launch: Dict[str, Any], block: List[Term]) -> Dict[str, int]:
    """Values of the integer arguments of a launch, by name."""
    args = launch.get("args")
    names = [item[2] for item in block if item[0] == "arg"]
    pairs: Iterator[Tuple[Any, Any]]
    if isinstance(args, list):
        pairs = zip(names, args)
    else:
        pairs = iter((args or {}).items())
    out: Dict[str, int] = {}
    for name, value in pairs:
        if isinstance(value, dict) and isinstance(value.get("scalar"), dict):
            value = value["scalar"].get("value")
        if isinstance(value, str) and re.fullmatch(r"-?\d+", value):
            value = int(value)
        if isinstance(value, (bool, int)):
            out[str(name)] = int(value)
    return out


def footprint(block: List[Term], launch: Dict[str, Any], access: Dict[str, Any], element_bytes: int) -> Footprint:
    """The footprint of one access of a race, in elements from the tensor's pointer."""
    loc = access.get("loc") or {}
    found = []
    for record in block:
        if record[0] != "record":
            continue
        where, base = _field(record, "loc"), _field(record, "base")
        if where[4:] == [access["op"]] and where[:3] == [loc.get("file"), loc.get("line"), loc.get("col")] and base[1:] == [access["tensor"]]:
            found.append(record)
    if not found:
        raise NotDrawn("the access is not among the records")
    touched: set = set()
    reasons: List[str] = []
    for record in found:
        try:
            touched |= _elements(record, block, launch, access, element_bytes)
        except NotDrawn as e:
            reasons.append(str(e))
    runs: List[Tuple[int, int]] = []
    for e in sorted(touched):
        if runs and runs[-1][1] == e:
            runs[-1] = (runs[-1][0], e + 1)
        else:
            runs.append((e, e + 1))
    out = Footprint(runs)
    if access["byte"] // element_bytes not in out:
        raise NotDrawn(reasons[0] if reasons else "the evaluated elements do not contain the witness")
    return out


def _elements(record: List[Term], block: List[Term], launch: Dict[str, Any], access: Dict[str, Any], element_bytes: int) -> set:
    shape = [int(d) for d in _field(record, "shape")]
    lanes = 1
    for d in shape:
        lanes *= d
    if lanes > MAX_LANES:
        raise NotDrawn("too many lanes (%d)" % lanes)
    names: Dict[str, str] = {}
    grid = list(launch.get("grid") or []) + [1, 1, 1]
    for item in block:
        if item[0] != "var":
            continue
        role, index, name = item[1], item[2], item[3]
        if role == "pid" and index < len(access["program"]):
            names[name] = "(%d)" % access["program"][index]
        elif role == "grid":
            names[name] = "(%d)" % int(grid[index])
        elif role == "lane" and index < len(shape):
            names[name] = "l%d" % index
    for name, value in _scalars(launch, block).items():
        names.setdefault(name, "(%d)" % value)
    loops = [f for f in _field(record, "frames") if f[0] == "loop"]
    if len(loops) != len(access.get("iteration") or []):
        raise NotDrawn("the loops of the witness do not match")
    for frame, k in zip(loops, access.get("iteration") or []):
        names[frame[2]] = "(%d)" % k
    width = int(_field(record, "width")[0])
    conditions = [_field(record, "mask")[0]] + [_field(f, "if")[0] for f in _field(record, "frames") if f[0] == "cond"]
    guard = " and ".join(_code(c, names) for c in conditions)
    offset = _code(_field(record, "offset")[0], names)
    variables = ",".join("l%d" % d for d in range(len(shape)))
    # The expressions consist of integers, our own names and operators only.
    code = "lambda %s: (%s) if (%s) else None" % (variables, offset, guard)
    compute = eval(code, {"__builtins__": {}, **_FUNCTIONS})  # noqa: S307
    out: set = set()
    for point in itertools.product(*(range(d) for d in shape)):
        at = compute(*point)
        if at is not None:
            out.update(range(at // element_bytes, (at + width - 1) // element_bytes + 1))
    return out


def element_size(launch: Dict[str, Any], tensor: str, block: List[Term]) -> int:
    """Bytes of an element of the launch's tensor."""
    spec = tensor_of(launch, tensor, block)
    if spec:
        digits = re.search(r"(\d+)", str(spec.get("dtype", "")).replace("fp8e4nv", "8").replace("fp8e5", "8").split("_")[0])
        if str(spec.get("dtype")) in ("bool", "torch.bool", "i1", "int1"):
            return 1
        if digits:
            return max(1, int(digits.group(1)) // 8)
    for item in block:
        if item[0] == "arg" and item[2] == tensor and item[3] in ("pointer", "descriptor"):
            return max(1, int(item[4]))
    return 1


def tensor_of(launch: Dict[str, Any], name: str, block: List[Term]) -> Optional[Dict[str, Any]]:
    """The tensor of an argument, as the launch file has it."""
    args = launch.get("args")
    value: Any = None
    if isinstance(args, list):
        for item in block:
            if item[0] == "arg" and item[2] == name and item[1] < len(args):
                value = args[item[1]]
    elif isinstance(args, dict):
        value = args.get(name)
    if isinstance(value, dict):
        value = value.get("tensor") or (value.get("descriptor") or {}).get("tensor")
        return value if isinstance(value, dict) else None
    return None


def overlap(a: Footprint, b: Footprint) -> Footprint:
    """Elements that both touch."""
    runs, i, j = [], 0, 0
    while i < len(a.runs) and j < len(b.runs):
        lo, hi = max(a.runs[i][0], b.runs[j][0]), min(a.runs[i][1], b.runs[j][1])
        if lo < hi:
            runs.append((lo, hi))
        if a.runs[i][1] < b.runs[j][1]:
            i += 1
        else:
            j += 1
    return Footprint(runs)
