"""Recorded launches, and their file: a launch file (docs/launch.schema.json) whose launches carry their verdicts.

A saved trace is therefore also an input of `polyrace check`, `polyrace scan` and `polyrace.check_all`.
"""
from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, field
from typing import Any, Iterable, Union

from .errors import PolyraceError
from .verdict import VERSION, Verdict

Path = Union[str, "os.PathLike[str]"]


@dataclass
class Launch:
    """One launch: what was launched, from where, and what the analysis says.

    `document` is the launch in the form of the launch file, texts included. `verdict` is None only for a launch
    whose analysis was interrupted.
    """
    kernel: str
    index: int = 0
    file: str = ""
    line: int = 0
    document: dict = field(default_factory=dict, repr=False)
    verdict: "Verdict | None" = None
    notes: list = field(default_factory=list)
    thread: str = ""
    repeat: "int | None" = None

    @property
    def site(self) -> str:
        """FILE:LINE of the call."""
        return f"{self.file}:{self.line}" if self.file else "?"

    @property
    def status(self) -> str:
        """The verdict's status; `not analysed` for an interrupted launch."""
        return self.verdict.status if self.verdict is not None else "not analysed"

    def __str__(self) -> str:
        return str(self.verdict) if self.verdict is not None else f"{self.kernel}: not analysed  [{self.site}]"

    def to_dict(self) -> dict:
        """One launch of a launch file, with the fields of a recorded launch beside the standard ones."""
        out = dict(self.document)
        out["kernel"] = self.kernel
        out["recorded"] = {"index": self.index, "file": self.file, "line": self.line, "notes": list(self.notes),
                           "thread": self.thread, "repeat": self.repeat}
        out["verdict"] = self.verdict.to_dict(text=True) if self.verdict is not None else None
        return out

    @classmethod
    def from_dict(cls, doc: dict) -> "Launch":
        """The inverse of `to_dict`; a plain launch of a launch file has no verdict."""
        rest = dict(doc)
        r = rest.pop("recorded", None) or {}
        v = rest.pop("verdict", None)
        kernel = rest.pop("kernel", "")
        return cls(kernel=kernel, index=r.get("index", 0), file=r.get("file", ""), line=r.get("line", 0),
                   document=rest, verdict=Verdict.from_dict(v) if v is not None else None, notes=list(r.get("notes", [])),
                   thread=r.get("thread", ""), repeat=r.get("repeat"))

    def _repr_html_(self) -> str:
        from ._notebook import launch_html
        return launch_html(self)


def save(path: Path, launches: "Iterable[Launch]") -> None:
    """Writes launches with their verdicts. The file appears complete or not at all."""
    from . import __version__
    doc: "dict[str, Any]" = {"version": VERSION, "polyrace": __version__, "launches": [x.to_dict() for x in launches]}
    path = os.fspath(path)
    folder = os.path.dirname(path) or "."
    try:
        handle, scratch = tempfile.mkstemp(prefix=".polyrace-", dir=folder)
    except OSError as e:
        raise PolyraceError(f"cannot write {path}: {e.strerror}") from None
    try:
        with os.fdopen(handle, "w") as f:
            json.dump(doc, f)
            f.write("\n")
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(scratch, 0o666 & ~mask)
        os.replace(scratch, path)
    except OSError as e:
        _remove(scratch)
        raise PolyraceError(f"cannot write {path}: {e.strerror}") from None
    except BaseException:
        _remove(scratch)
        raise


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


def load(path: Path) -> "list[Launch]":
    """Reads what `save` wrote, or a plain launch file (whose launches have no verdicts)."""
    path = os.fspath(path)
    try:
        with open(path) as f:
            doc = json.load(f)
    except OSError as e:
        raise PolyraceError(f"cannot read {path}: {e.strerror}") from None
    except ValueError as e:
        raise PolyraceError(f"{path} is not a saved trace: {e}") from None
    if not isinstance(doc, dict):
        raise PolyraceError(f"{path} is not a saved trace: an object expected, got {type(doc).__name__}")
    version = doc.get("version")
    if not isinstance(version, int) or isinstance(version, bool):
        raise PolyraceError(f"{path} is not a saved trace: it has no version")
    if version > VERSION or version < 1:
        from . import __version__
        raise PolyraceError(f"{path} has version {version}; polyrace {__version__} reads version {VERSION}"
                            + (": install a newer polyrace" if version > VERSION else ""))
    items = doc["launches"] if "launches" in doc else [{k: v for k, v in doc.items() if k != "version"}]
    if not isinstance(items, list) or not all(isinstance(x, dict) for x in items):
        raise PolyraceError(f"{path} is not a saved trace: launches: a list of objects expected")
    return [Launch.from_dict(x) for x in items]
