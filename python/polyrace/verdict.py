"""A verdict as a plain tree of dataclasses, in the shape of the verdict document (docs/verdict.md).

Each class reads its own part of the document with `from_dict` and writes it with `to_dict`. Fields that this
version does not know are kept in `extra` and written back, so documents of a newer library survive a round trip.
"""
from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass, field
from typing import Any

from .errors import PolyraceError

VERSION = 1
"""Version of the documents that this package reads and writes."""

STATUSES = ("races", "deadlock", "hazard", "unsupported", "vacuous", "ok")  # worst first; the second and third: TTGIR texts
def _trips(scope: "str | None") -> str:
    return "for the values of this launch" if scope == "launch" else "for every trip count"


FAULTS = ("races", "deadlock", "hazard")
RUNGS = ("T0", "T1", "T1-launch")  # strongest first
SCOPES = {"T0": "any-params-any-grid", "T1": "this-params-any-grid", "T1-launch": "this-params-this-grid"}


N = typing.TypeVar("N", bound="Node")


class Node:
    """Reading and writing of one object of the document."""
    extra: dict

    @classmethod
    def from_dict(cls: "type[N]", doc: dict) -> "N":
        """The object that `doc` describes; missing fields get their defaults."""
        plan = _plan(cls)
        values: dict[str, Any] = {}
        extra: dict[str, Any] = {}
        for key, value in doc.items():
            if key not in plan:
                extra[key] = value
                continue
            kind, many = plan[key]
            if kind is not None and value is not None:
                value = [kind.from_dict(v) for v in value] if many else kind.from_dict(value)
            values[key] = value
        return cls(**values, extra=extra)  # type: ignore[call-arg]

    def to_dict(self) -> dict:
        """The document of this object, in the order of the fields. Absent optional fields are left out."""
        out: dict[str, Any] = {}
        for f in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, f.name)
            if f.name == "extra" or (f.metadata.get("optional") and value in (None, False, [])):
                continue
            if isinstance(value, Node):
                value = value.to_dict()
            elif isinstance(value, list) and value and isinstance(value[0], Node):
                value = [v.to_dict() for v in value]
            out[f.name] = value
        out.update(self.extra)
        return out


_PLANS: dict[type, dict] = {}


def _plan(cls: type) -> dict:
    """Field name -> (class of nested objects or None, is it a list)."""
    plan = _PLANS.get(cls)
    if plan is None:
        plan = {}
        for f in dataclasses.fields(cls):
            if f.name != "extra":
                plan[f.name] = (f.metadata.get("node"), f.metadata.get("many", False))
        _PLANS[cls] = plan
    return plan


def _opt(default: Any = None, node: "type | None" = None, many: bool = False) -> Any:
    meta = {"optional": True, "node": node, "many": many}
    if default is list:
        return field(default_factory=list, metadata=meta)
    return field(default=default, metadata=meta)


def _one(node: type) -> Any:
    return field(default=None, metadata={"node": node})


def _many(node: type) -> Any:
    return field(default_factory=list, metadata={"node": node, "many": True})


def _extra() -> Any:
    return field(default_factory=dict, repr=False)


@dataclass
class Loc(Node):
    """A place in the user's source."""
    file: str = ""
    line: int = 0
    col: int = 0
    extra: dict = _extra()

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.col}"


@dataclass
class Access(Node):
    """One access of a witness: which operation, where, which element, by whom."""
    op: str = ""
    kind: str = ""
    tensor: str = ""
    element: int = 0
    byte: int = 0
    loc: "Loc | None" = _one(Loc)
    write: bool = False
    program: list = field(default_factory=list)
    lane: list = field(default_factory=list)
    iteration: list = field(default_factory=list)
    callers: list = _opt(list, Loc, True)
    extra: dict = _extra()


@dataclass
class Race(Node):
    """Two accesses that touch one byte and that nothing orders."""
    type: str = ""
    agents: str = ""
    first: "Access | None" = _one(Access)
    second: "Access | None" = _one(Access)
    reason: str = ""
    confirmed: bool = False
    confirmation: "str | None" = _opt()
    config: int = 0
    set: Any = None
    grid: "list | None" = _opt()
    extra: dict = _extra()


@dataclass
class Refusal(Node):
    """One part that was not analysed: a kind of the closed list, where, and what can be done."""
    kind: str = ""
    loc: "Loc | None" = _one(Loc)
    op: "str | None" = _opt()
    message: str = ""
    hint: "str | None" = None
    extra: dict = _extra()


@dataclass
class OutOfBounds(Node):
    """An access of this launch outside its storage."""
    access: "Access | None" = _one(Access)
    confirmed: bool = False
    extra: dict = _extra()


@dataclass
class ConfigVerdict(Node):
    """What is known about one configuration. `status` is one of STATUSES."""
    config: dict = field(default_factory=dict)
    status: str = "unsupported"
    rung: "str | None" = None
    scope: "str | None" = None
    qualifiers: list = field(default_factory=list)
    races: list = _many(Race)
    withheld: int = 0
    grid_fragile: list = _many(Race)
    refusals: list = _many(Refusal)
    notes: list = field(default_factory=list)
    grid_axes: "dict | None" = None
    out_of_bounds: list = _many(OutOfBounds)
    attributes: dict = field(default_factory=dict)
    engines: dict = field(default_factory=dict)
    z3_reasons: list = field(default_factory=list)
    stats: dict = field(default_factory=dict)
    nondeterministic: bool = _opt(False)
    extra: dict = _extra()


@dataclass
class Verdict(Node):
    """The verdict of one launch. `str(verdict)` is the text report, `verdict.to_dict()` the document.

    `ok`, `racy` and `decided` answer the three usual questions; `bool(verdict)` is refused, because "not racy"
    and "proved" are different answers.
    """
    version: int = VERSION
    kernel: str = ""
    input: str = ""
    status: str = "unsupported"
    rung: "str | None" = None
    scope: "str | None" = None
    qualifiers: list = field(default_factory=list)
    races: list = _many(Race)
    withheld: int = 0
    grid_fragile: list = _many(Race)
    refusals: list = _many(Refusal)
    notes: list = field(default_factory=list)
    configs: list = _many(ConfigVerdict)
    grid_axes: "dict | None" = None
    out_of_bounds: list = _many(OutOfBounds)
    attributes: dict = field(default_factory=dict)
    engines: dict = field(default_factory=dict)
    z3_reasons: list = field(default_factory=list)
    stats: dict = field(default_factory=dict)
    nondeterministic: bool = _opt(False)
    extra: dict = _extra()
    text: str = field(default="", repr=False, metadata={"optional": True})

    @classmethod
    def from_dict(cls, doc: dict, text: "str | None" = None) -> "Verdict":
        """Reads a verdict document of version 1."""
        version = doc.get("version", VERSION)
        if not isinstance(version, int) or version > VERSION:
            raise PolyraceError(f"this verdict has version {version}; polyrace {_package_version()} reads versions "
                                f"up to {VERSION}: install a newer polyrace")
        v = super().from_dict(doc)
        if text is not None:
            v.text = text
        return v

    def to_dict(self, text: bool = False) -> dict:
        """The verdict document; with `text` the report is in it as a field of its own."""
        out = super().to_dict()
        if not text:
            out.pop("text", None)
        return out

    @property
    def ok(self) -> bool:
        """A proof, with the scope and the qualifiers that it names."""
        return self.status == "ok"

    @property
    def racy(self) -> bool:
        """At least one race was found."""
        return self.status == "races"

    @property
    def faulty(self) -> bool:
        """A race, a deadlock or a synchronisation hazard was found."""
        return self.status in FAULTS

    @property
    def decided(self) -> bool:
        """Fault or proof."""
        return self.status == "ok" or self.faulty

    @property
    def levels(self) -> dict:
        """The parts of the document for each text, "ttir" and "ttgir", when the launch had both; else empty."""
        return self.extra.get("levels") or {}

    @property
    def findings(self) -> list:
        """What was found in shared and tensor memory (docs/verdict.md)."""
        return list(self.extra.get("findings") or self.levels.get("ttgir", {}).get("findings") or [])

    @property
    def shared_refusals(self) -> "list[Refusal]":
        """The refusals of the TTGIR text beside a TTIR text."""
        return [Refusal.from_dict(r) for r in self.levels.get("ttgir", {}).get("refusals", [])]

    @property
    def exit_status(self) -> int:
        """What `polyrace check` exits with for this verdict."""
        if self.faulty:
            return 1
        if any(r.kind == "internal" for r in (*self.refusals, *self.shared_refusals)):
            return 4
        return 0 if self.status == "ok" else 2

    def headline(self) -> str:
        """One line: status, scope, what the claim rests on."""
        if self.status == "ok":
            if self.rung is None:  # a TTGIR text
                line = f"shared and tensor memory are race free {_trips(self.scope)}"
                return line + (f"; {', '.join(self.qualifiers)}" if self.qualifiers else "")
            words = {"T0": "for any parameters and any grid", "T1": "for these parameters and any grid",
                     "T1-launch": "for this launch only"}
            line = f"race free {words.get(self.rung or '', '')} ({self.rung})"
            if self.levels.get("ttgir", {}).get("status") == "ok":
                line += f", shared and tensor memory {_trips(self.levels['ttgir'].get('scope'))}"
            return line + (f"; {', '.join(self.qualifiers)}" if self.qualifiers else "")
        if self.status == "races":
            n = len(self.races) + sum(f["kind"] == "race" for f in self.findings)
            return "DATA RACE" if n <= 1 else f"{n} DATA RACES"
        if self.status in ("deadlock", "hazard"):
            return "DEADLOCK" if self.status == "deadlock" else "SYNCHRONISATION HAZARD"
        if self.status == "vacuous":
            return "no claim: the premises admit no execution"
        kinds = list(dict.fromkeys(r.kind for r in (*self.refusals, *self.shared_refusals)))
        return "not decided" + (f": {', '.join(kinds)}" if kinds else "")

    def __str__(self) -> str:
        return self.text.rstrip("\n") if self.text else f"{self.kernel}: {self.headline()}  [{self.input}]"

    def __bool__(self) -> bool:
        raise TypeError("a verdict is neither true nor false; use verdict.ok, verdict.racy or verdict.decided")

    def _repr_html_(self) -> str:
        from ._notebook import verdict_html
        return verdict_html(self)


def _package_version() -> str:
    from . import __version__
    return __version__
