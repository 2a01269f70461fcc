"""From bound configurations to one verdict. The library decides; equal questions are asked once.

A launch becomes one document in the form of the launch file. Configurations that differ in nothing the analysis
reads share one entry of it, and launches whose documents are equal share one answer (interface.md 3.2). The key is
the whole document with its texts, so names, locations and timings need no translation.
"""
from __future__ import annotations

import concurrent.futures
import copy
import functools
import hashlib
import json
import os
import re
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Mapping

from . import _lib
from .errors import InputError, Interrupted
from .verdict import ConfigVerdict, Refusal, Verdict

TARGET_HINT = 'try trace(target="cuda:90"), polyrace-run --target cuda:90 or POLYRACE_TARGET=cuda:90'
_MEMO_BOUND = 4096
_NO_SHARED = "shared memory was not analysed"
_NO_GLOBAL = "global memory was not analysed: a Gluon kernel has no TTIR"


@dataclass
class Entry:
    """One configuration of a launch: its text and facts, or why it has none."""
    config: "dict[str, Any]"
    text: "str | None" = None
    grid: "list[int] | None" = None
    args: "dict[str, Any]" = field(default_factory=dict)
    kind: str = ""  # without a text: a refusal kind, or "note"
    message: str = ""
    ttgir: "str | None" = None
    no_ttgir: str = ""  # why there is none although it was asked for

    @property
    def analysed(self) -> bool:
        """Is there a text?"""
        return self.text is not None or self.ttgir is not None

    def question(self) -> str:
        """Everything of this configuration that an answer may depend on."""
        launch = [self.config.get(k) for k in ("num_ctas", "num_warps")]
        return json.dumps([self.text, self.ttgir, self.grid, self.args, launch, self.kind, self.message], sort_keys=False)


@dataclass
class Counters:
    """What was done; read by tests and by `--stats`."""
    launches: int = 0
    configs: int = 0
    compiled: int = 0
    solved: int = 0
    shared: int = 0
    compile_us: int = 0
    snapshot_us: int = 0
    decide_us: int = 0


_SYMBOL = re.compile(r'tt\.func public @"?([^"(\s]+)"?\(')


def symbol(text: str) -> "str | None":
    """The name of the kernel in its text."""
    m = _SYMBOL.search(text)
    return m[1] if m else None


_INPUT = "<launch>"  # stands for the place of the call in a shared answer


class Question:
    """A launch ready to be decided: the document, and how its entries map to the configurations asked about."""

    def __init__(self, kernel: str, entries: "list[Entry]", target: str, triton: str):
        self.kernel, self.entries = kernel, entries
        self.skipped = [e for e in entries if e.kind == "note"]
        self.shape: "list[int]" = []  # configuration -> entry of the document, for those that are in it
        groups: "dict[str, int]" = {}
        self.unique: "list[Entry]" = []
        for e in entries:
            if e.kind == "note":
                continue
            q = e.question()
            if q not in groups:
                groups[q] = len(self.unique)
                self.unique.append(e)
            self.shape.append(groups[q])
        self.document: "dict[str, Any]" = {"version": 1}
        symbols = {symbol(e.text or e.ttgir or "") for e in self.unique if e.analysed}
        if len(symbols) == 1 and None not in symbols:
            self.document["kernel"] = symbols.pop()
        self.document.update(target=target, triton=triton)
        parts = [self._part(e) for e in self.unique]
        if len(parts) == 1 and "compile_error" not in parts[0]:
            self.document.update(parts[0])
        else:
            self.document["configs"] = parts

    @staticmethod
    def _part(e: Entry) -> "dict[str, Any]":
        part: "dict[str, Any]" = {"config": e.config, "args": e.args}
        if not e.analysed:
            part["compile_error"] = e.message
            return part
        part["grid"] = e.grid
        if e.text is not None:
            part["ttir_text"] = e.text
        if e.ttgir is not None:
            part["ttgir_text"] = e.ttgir
        return part

    def without_ttgir(self) -> "bytes | None":
        """The document with its TTIR texts alone; None when that leaves the question as it is, or without a text."""
        parts = self.document.get("configs", [self.document])
        if not any("ttir_text" in p and "ttgir_text" in p for p in parts):
            return None
        kept = [{k: v for k, v in p.items() if k != "ttgir_text" or "ttir_text" not in p} for p in parts]
        return json.dumps({**self.document, "configs": kept} if "configs" in self.document else kept[0]).encode()

    @functools.cached_property
    def data(self) -> bytes:
        """The document as the library reads it."""
        return json.dumps(self.document).encode()

    @functools.cached_property
    def key(self) -> bytes:
        return hashlib.blake2b(self.data, digest_size=20).digest()


class Solver:
    """Decides questions, each distinct one once, in worker threads of its own."""

    def __init__(self, options: "Mapping[str, Any]", workers: "int | None" = None):
        self.options = dict(options)
        self.native = _lib.Options(self.options)  # wrong options are reported here, not at the first launch
        self.counters = Counters()
        self.workers = workers or os.cpu_count() or 1
        self.cancelled = False
        self._fresh()

    def _fresh(self) -> None:
        """Threads do not survive a fork, so a child process starts over."""
        self.pid = os.getpid()
        self.lock = threading.Lock()
        self.memo: "dict[bytes, concurrent.futures.Future]" = {}
        self.pool = concurrent.futures.ThreadPoolExecutor(self.workers, "polyrace")

    def close(self) -> None:
        self.pool.shutdown(wait=True, cancel_futures=True)

    def cancel(self) -> None:
        """Ends what runs and what waits; those questions have no answer, not an undecided one."""
        self.cancelled = True
        self.pool.shutdown(wait=False, cancel_futures=True)
        _lib.interrupt()

    def ask(self, q: Question) -> "concurrent.futures.Future[tuple[str, str, str]]":
        """The library's document and report for a question, and why the TTGIR texts were left out ("": they were
        not). Equal questions share a future."""
        key = q.key
        if self.pid != os.getpid():
            self._fresh()
        with self.lock:
            self.counters.launches += 1
            self.counters.configs += len(q.entries)
            known = self.memo.get(key)
            if known is not None:
                self.counters.shared += 1
                return known
            if len(self.memo) >= _MEMO_BOUND:
                self.memo.pop(next(iter(self.memo)))
            self.counters.solved += sum(e.analysed for e in q.unique)
            future = self.memo[key] = self.pool.submit(self._decide, q.data, q.without_ttgir())
            return future

    def _decide(self, data: bytes, without: "bytes | None") -> "tuple[str, str, str]":
        """A TTGIR text that cannot be read does not take the verdict of the TTIR along."""
        try:
            return (*self._check(data), "")
        except InputError as e:
            if without is None:
                raise
            return (*self._check(without), f"its TTGIR text cannot be read: line {e.line}, column {e.column}: {e.message}")

    def _check(self, data: bytes) -> "tuple[str, str]":
        if self.cancelled:
            raise Interrupted("the analysis was cancelled")
        with _lib.Inputs(self.native, launch=data, launch_name=_INPUT) as g:
            began = time.perf_counter()
            out = g.check()
        with self.lock:
            self.counters.decide_us += int((time.perf_counter() - began) * 1e6)
        return out


def textless(entries: "list[Entry]", target: str, triton: str) -> "dict[str, Any]":
    """The document of a launch without any text, so that a saved trace stays an input."""
    parts = [{"config": e.config, "args": {}, "compile_error": e.message or e.kind or "no text"} for e in entries]
    return {"target": target, "triton": triton, "configs": parts}


# ---- answers ----------------------------------------------------------------------------------------------
def no_text(q_kernel: str, entries: "list[Entry]", where: str, kind: str = "no-compiled-kernel") -> Verdict:
    """A launch none of whose configurations gave a text: unsupported, one refusal a configuration."""
    configs = []
    for e in entries:
        k = kind if e.kind in ("", "note") else e.kind
        message = f"does not compile for any target: {e.message}" if e.kind == "note" else e.message
        refusal = Refusal(kind=k, message=message, hint=hint_for(k))
        configs.append(ConfigVerdict(config=e.config, status="unsupported", refusals=[refusal]))
    v = Verdict(kernel=q_kernel, input=where, status="unsupported", configs=configs,
                refusals=[copy.deepcopy(r) for c in configs for r in c.refusals])
    lines = [f"{q_kernel}: not decided: neither a race nor a proof  [{where}]"]
    for r in v.refusals:
        lines += ["", f"  not analysed: {where}: {r.kind}: {r.message}"]
        if r.hint:
            lines.append(f"    hint: {r.hint}")
    v.text = "\n".join(lines) + "\n"
    return v


def bad_input(kernel: str, entries: "list[Entry]", where: str, e: InputError) -> Verdict:
    """The library cannot read what we gave it: a limit of the description, named, never a proof."""
    refused = [Entry(x.config, kind="other", message=f"the launch cannot be described: {e}") for x in entries]
    return no_text(kernel, refused, where)


def hint_for(kind: str) -> "str | None":
    if kind == "compile-failed":
        return TARGET_HINT
    if kind == "no-compiled-kernel":
        return "give the kernel's text to polyrace check FILE.ttir"
    known = _lib.refusal_kinds().get(kind)
    return known[1] or None if known else None


_CONFIG_LINE = re.compile(r"^  configuration (\d+) ", re.M)
_HINT_LINE = re.compile(r"(not analysed: [^\n]*: compile-failed: [^\n]*\n    hint: )[^\n]*")


def answer(q: Question, raw: "tuple[str, str, str]", where: str) -> Verdict:
    """The library's answer about the document as the verdict of the launch: input named, shared configurations
    written out, skipped ones noted. The status is the library's."""
    doc = json.loads(raw[0])
    doc["input"] = where
    v = Verdict.from_dict(doc, text=raw[1].replace(_INPUT, where))
    for part in (v, *v.configs):
        for r in part.refusals:
            if r.kind == "compile-failed":
                r.hint = TARGET_HINT
    v.text = _HINT_LINE.sub(lambda m: m[1] + TARGET_HINT, v.text)
    included = [e for e in q.entries if e.kind != "note"]
    for at, c in enumerate(v.configs):
        c.config = c.config or dict(q.unique[at].config)
    if len(included) != len(q.unique):
        _spread(q, v, included)
    _missing_levels(q, v, included, raw[2])
    if q.skipped:
        notes = [f"configuration {label(e.config)} was not analysed: does not compile for any target: {e.message}"
                 for e in q.skipped]
        v.notes = v.notes + notes
        v.text = v.text.rstrip("\n") + "\n" + "".join(f"  note: {n}\n" for n in notes)
    return v


def _missing_levels(q: Question, v: Verdict, included: "list[Entry]", left_out: str) -> None:
    """Notes of what no text was there for, with the configurations. Where some have no TTGIR, that level is not `ok`."""
    notes: "list[str]" = []
    missing = False
    for c, e in zip(v.configs, included):
        own = []
        if e.text is not None and (e.no_ttgir or left_out and e.ttgir):
            missing = True
            own = [f"configuration {label(e.config)}: {_NO_SHARED}: {e.no_ttgir or left_out}"]
        elif e.text is None and e.ttgir is not None:
            own = [f"configuration {label(e.config)}: {_NO_GLOBAL}"]
        c.notes = c.notes + own
        notes += [n for n in own if n not in notes]
    if not notes:
        return
    v.notes = v.notes + notes
    v.text = v.text.rstrip("\n") + "\n" + "".join(f"  note: {n}\n" for n in notes)
    level = v.levels.get("ttgir")
    if missing and level and level["status"] == "ok":
        level.update(status="unsupported", rung=None, scope=None, qualifiers=[],
                     notes=level.get("notes", []) + [n for n in notes if _NO_SHARED in n])


def half_analysed(v: Verdict) -> bool:
    """Is one of the levels missing that this launch was to be decided at?"""
    return any(f": {_NO_SHARED}: " in n or n.endswith(f": {_NO_GLOBAL}") for n in v.notes)


def _spread(q: Question, v: Verdict, included: "list[Entry]") -> None:
    """One configuration of the verdict for each that was asked about; indices of races follow."""
    first: "dict[int, int]" = {}
    for at, group in enumerate(q.shape):
        first.setdefault(group, at)
    old = v.configs
    v.configs = []
    for at, group in enumerate(q.shape):
        c = copy.deepcopy(old[group])
        c.config = dict(included[at].config)
        for r in (*c.races, *c.grid_fragile):
            r.config = at
        v.configs.append(c)
    for r in (*v.races, *v.grid_fragile):
        r.config = first[r.config]
    for r in (*v.levels.get("ttir", {}).get("races", []), *v.levels.get("ttir", {}).get("grid_fragile", [])):
        r["config"] = first[r["config"]]
    v.text = _CONFIG_LINE.sub(lambda m: f"  configuration {first[int(m[1])]} ", v.text)
    twins = [f"configuration {at} has the answer of configuration {first[g]}"
             for at, g in enumerate(q.shape) if first[g] != at]
    if twins:
        v.text = v.text.rstrip("\n") + "\n" + "".join(f"  note: {t}\n" for t in twins)


def label(config: "Mapping[str, Any]") -> str:
    """A configuration on one line: [BLOCK=64, num_warps=4]."""
    tuned = [k for k in config if k not in ("num_warps", "num_ctas", "num_stages")]
    names = tuned + [k for k in ("num_warps", "num_ctas", "num_stages") if k in config]
    return "[" + ", ".join(f"{k}={config[k]}" for k in names) + "]"
