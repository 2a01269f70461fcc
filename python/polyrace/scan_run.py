"""``polyrace.scan``: decides every launch below some paths, on this machine or on a Dask cluster.

The parent reads and hashes; workers decide. Units of equal content are decided once. Results are recorded one by one
in the result file, from which an interrupted scan goes on.
"""

from __future__ import annotations

import copy
import json
import os
import re
import sys
import time
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Sequence, TextIO, Union

from . import scan_pool, scan_summary
from .scan_inputs import Found, Unit, find_units
from .scan_store import Store

Path = Union[str, "os.PathLike[str]"]


@dataclass
class ScanResult:
    """What a scan found. ``results`` has one entry a unit, in the order of the units."""

    results: List[Dict[str, Any]]
    summary: Dict[str, Any]
    skipped: Dict[str, int] = field(default_factory=dict)
    errors: List[str] = field(default_factory=list)
    trouble: Optional[str] = None  #: why the result file could not be written
    decided: int = 0  #: units decided in this run
    resumed: int = 0  #: units whose result was already in the result file
    shared: int = 0  #: units that took the answer of another unit of equal content
    options: Dict[str, Any] = field(default_factory=dict)  #: of the check

    @property
    def exit_status(self) -> int:
        """Exit status of ``polyrace scan`` for this result."""
        worst = scan_summary.exit_status(self.results)
        return 3 if self.errors or self.trouble else worst

    @property
    def documents(self) -> List[Dict[str, Any]]:
        """The verdict documents (units that could not be read have none)."""
        return [r["verdict"] for r in self.results if r.get("verdict")]

    @property
    def verdicts(self) -> List[Any]:
        """The verdicts as dataclasses."""
        from .verdict import Verdict

        return [Verdict.from_dict(d) for d in self.documents]

    def __str__(self) -> str:
        import io

        out = io.StringIO()
        scan_summary.write_text(self.results, self.summary, out)
        return out.getvalue().rstrip("\n")


_POSITION = re.compile(r"[^\s:]:\d")


def _has_location(value: Any) -> bool:
    """Does a document name a source position, as an object or within a sentence (``k.py:12``)?"""
    if isinstance(value, dict):
        return any((k in ("loc", "callers") and v) or (k != "input" and _has_location(v)) for k, v in value.items())
    if isinstance(value, list):
        return any(_has_location(v) for v in value)
    return isinstance(value, str) and _POSITION.search(value) is not None


class _Memo:
    """Which finished result answers a unit of equal content."""

    def __init__(self) -> None:
        self.exact: Dict[str, Dict[str, Any]] = {}
        self.loose: Dict[str, Dict[str, Any]] = {}

    def add(self, unit: Unit, entry: Dict[str, Any]) -> None:
        verdict = entry.get("verdict")
        if not verdict or verdict.get("nondeterministic"):
            return
        self.exact.setdefault(unit.key, entry)
        if not _has_location(verdict):
            self.loose.setdefault(unit.memo, entry)

    def answer(self, unit: Unit) -> Optional[Dict[str, Any]]:
        entry = self.exact.get(unit.key) or self.loose.get(unit.memo)
        if entry is None:
            return None
        out: Dict[str, Any] = {"unit": unit.name, "key": unit.key}
        out["verdict"] = copy.deepcopy(entry["verdict"])
        out["verdict"]["input"] = unit.name
        out["us"] = 0
        return out


class _Progress:
    """A line on a terminal once the scan has run for two seconds; nothing elsewhere."""

    def __init__(self, total: int, wanted: Optional[bool], stream: TextIO) -> None:
        self.total, self.stream = total, stream
        self.on = stream.isatty() if wanted is None else wanted
        self.start = time.monotonic()
        self.bar: Any = None
        self.task: Any = None
        self.counts = {"races": 0, "deadlock": 0, "hazard": 0, "unsupported": 0, "vacuous": 0, "ok": 0, "error": 0}
        self.done = 0
        self.written = 0.0

    def add(self, entry: Dict[str, Any]) -> None:
        self.done += 1
        self.counts[scan_summary.status_of(entry)] += 1

    def _words(self) -> str:
        c = self.counts
        return "%d race free, %d races, %d not decided" % (c["ok"], c["races"] + c["deadlock"] + c["hazard"], c["unsupported"] + c["vacuous"]) + (
            ", %d not readable" % c["error"] if c["error"] else ""
        )

    def tick(self) -> None:
        now = time.monotonic()
        if not self.on or now - self.start < 2 or now - self.written < 0.1:
            return
        self.written = now
        try:
            if self.bar is None:
                from rich.console import Console
                from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

                self.bar = Progress(
                    TextColumn("scan"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
                    TextColumn("{task.fields[words]}"), console=Console(file=self.stream), transient=True,
                )
                self.task = self.bar.add_task("scan", total=self.total, words="")
                self.bar.start()
            if self.bar:
                self.bar.update(self.task, completed=self.done, words=self._words())
                return
        except ImportError:
            self.bar = False
        self.stream.write("\rscan: %d of %d; %s " % (self.done, self.total, self._words()))
        self.stream.flush()

    def close(self) -> None:
        if self.bar:
            self.bar.stop()
        elif self.bar is False:
            self.stream.write("\r\033[K")
            self.stream.flush()


def _versions() -> Dict[str, Any]:
    from . import _lib

    return {"polyrace": _lib.version(), **_lib.engine_versions()}


def scan(
    paths: Union[Path, Sequence[Path]],
    *,
    results: Optional[Path] = None,
    restart: bool = False,
    jobs: Optional[int] = None,
    client: Any = None,
    progress: Optional[bool] = None,
    patience: float = 600.0,
    options: Optional[Mapping[str, Any]] = None,
    **more: Any,
) -> ScanResult:
    """Decides every launch below ``paths``: ``.ttir``, launch files, Triton's cache and dump directories.

    ``results`` names the result file; a scan that is started again with it goes on where the last one stopped, and
    decides only what has changed. ``jobs`` is the number of worker processes (default: processors). ``client`` is a
    ``distributed.Client``: the units are then decided on its cluster. ``patience`` is the longest silence of a worker
    in seconds before its launch is given up as an internal error. Further keywords are the options of
    ``polyrace check``, for example ``engine="isl"``.
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    if not all(isinstance(p, (str, os.PathLike)) for p in paths):
        raise TypeError("scan takes paths; to analyse a text use polyrace.check(text)")
    names = [os.fspath(p) for p in paths]
    given = {k.replace("-", "_"): v for k, v in {**(options or {}), **more}.items()}
    from . import _lib

    _lib.Options(dict(given))  # a wrong option fails here, before any worker starts
    if jobs is not None and jobs < 1:
        raise TypeError("jobs is a number of processes, at least 1")
    found = Found()
    units = find_units(names, found)
    order = [(u.name, u.key) for u in units]
    header = {"options": json.loads(json.dumps(given, sort_keys=True)), "versions": _versions()}
    store = Store(os.fspath(results) if results is not None else None, header, restart)
    bar = _Progress(len(units), progress, sys.stderr)
    out = ScanResult([], {}, found.skipped, found.errors, options=given)
    memo = _Memo()
    waiting: Dict[str, List[Unit]] = {}
    todo: List[Unit] = []

    def record(unit: Unit, entry: Dict[str, Any]) -> None:
        store.add(entry)
        memo.add(unit, entry)
        bar.add(entry)

    def done(unit: Unit, answer: Dict[str, Any]) -> None:
        if (unit.name, unit.key) not in store.results:
            record(unit, {"unit": unit.name, "key": unit.key, **answer})
            out.decided += 1
        share(waiting.pop(unit.memo, []))

    def share(group: List[Unit]) -> None:
        # Units of equal content: each takes an answer if there is one, the first without one is decided.
        for i, unit in enumerate(group):
            entry = memo.answer(unit)
            if entry is not None:
                record(unit, entry)
                out.shared += 1
            else:
                waiting[unit.memo] = group[i + 1 :]
                again.append(unit)
                return

    again: List[Unit] = []
    try:
        for unit in units:
            entry = store.results.get((unit.name, unit.key))
            if entry is not None:
                memo.add(unit, entry)
                bar.add(entry)
                out.resumed += 1
            elif unit.error:
                record(unit, {"unit": unit.name, "key": unit.key, "error": {"kind": "bad-input", "message": unit.error}, "us": 0})
            elif unit.memo in waiting:
                waiting[unit.memo].append(unit)
            else:
                waiting[unit.memo] = []
                todo.append(unit)
        # What earlier runs answered already, and units whose equal twin came later in the list.
        batch = todo
        while batch:
            ready = []
            for unit in batch:
                entry = memo.answer(unit)
                if entry is None:
                    ready.append(unit)
                else:
                    record(unit, entry)
                    out.shared += 1
                    share(waiting.pop(unit.memo, []))
            if client is not None:
                from . import scan_dask

                scan_dask.run(client, ready, given, done, bar.tick)
            elif ready:
                scan_pool.run(ready, given, min(jobs or os.cpu_count() or 1, len(ready)), done, bar.tick, patience)
            batch, again = again, []
        out.results = [store.results[k] for k in order]
        out.summary = scan_summary.summarize(out.results)
        store.finish(order, out.summary)
    finally:
        bar.close()
        out.trouble = store.trouble
        store.close()
    return out
