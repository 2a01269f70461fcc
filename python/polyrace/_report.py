"""What is printed while a program runs, on standard error (python.md 3): a quiet launch never reads as race free.

Races as the text report; every part that was not analysed, once per kernel, site and kind; a count of withheld
possible races. Lines for proved launches only when verbose.
"""
from __future__ import annotations

import os
import re
import sys
import threading
from typing import IO, Any

from ._launch import Launch
from ._solve import half_analysed, label
from .verdict import FAULTS, Verdict


_MISSING = re.compile(r"configuration (\[.*?\]): (shared memory|global memory) was not analysed: (.*)", re.S)


def verbose_by_environment() -> bool:
    return os.environ.get("POLYRACE_VERBOSE", "") not in ("", "0")


class Printer:
    """Prints launches as they are decided, each thing once."""

    def __init__(self, verbose: bool = False, stream: "IO[str] | None" = None, quiet: bool = False):
        self.verbose, self.stream, self.quiet = verbose or verbose_by_environment(), stream, quiet
        self.seen: set = set()
        self.lock = threading.Lock()

    def write(self, text: str) -> None:
        if self.quiet:
            return
        stream = self.stream or sys.stderr
        try:
            stream.write(text)
            stream.flush()
        except (OSError, ValueError):
            pass  # a closed terminal is no reason to disturb the program

    def forked(self) -> None:
        """A launch in a process that was forked inside a trace: said once, never silent."""
        if self.once("forked"):
            self.write("polyrace: not analysed: launches in a forked process; trace inside it, or start it with spawn\n")

    def once(self, key: Any) -> bool:
        if key in self.seen:
            return False
        self.seen.add(key)
        return True

    def decided(self, launch: Launch) -> None:
        v = launch.verdict
        with self.lock:
            if v is None:
                self.write(f"polyrace: not analysed: {launch.kernel} {launch.site}: interrupted\n")
                return
            lines = self._races(launch, v) + self._refusals(launch, v)
            lines += self._bounds(launch, v)
            stale = [n for n in v.notes if n.startswith("an earlier launch was not run")]
            proof = "; ".join([v.headline(), *stale])
            if self.verbose and v.ok and self.once(("ok", launch.kernel, launch.site, proof)):
                lines.append(f"polyrace: {launch.kernel} {launch.site}: {proof}\n")
            if lines:
                self.write("".join(lines))

    def _races(self, launch: Launch, v: Verdict) -> "list[str]":
        if not (v.races or v.faulty) or launch.repeat is not None:
            return []
        body = "\n".join(x for x in str(v).splitlines() if not x.startswith("  note: "))
        if not self.once(("race", body)):
            return []
        return [str(v) + "\n\n"]

    def _bounds(self, launch: Launch, v: Verdict) -> "list[str]":
        """Accesses outside their storage, beside any verdict; a race's report has them already."""
        lines = []
        for x in v.out_of_bounds if not v.races else []:
            a = x.access
            place = f"{a.loc.file}:{a.loc.line}" if a.loc is not None and a.loc.line else launch.site
            if self.once(("bounds", launch.kernel, place, a.tensor)):
                sure = " (confirmed by execution)" if x.confirmed else ""
                lines.append(f"polyrace: out of bounds: {launch.kernel} {place}: element {a.element} of {a.tensor} does not stay inside its "
                             f"storage in program {tuple(a.program)}{sure}\n")
        return lines

    def _refusals(self, launch: Launch, v: Verdict) -> "list[str]":
        lines = []
        for c, r in _refused(v):
            place = f"{r.loc.file}:{r.loc.line}" if r.loc is not None and r.loc.line else launch.site
            if self.once(("refused", launch.kernel, place, r.kind)):
                lines.append(f"polyrace: not analysed: {launch.kernel} {label(c)} {place}: {r.kind}: {r.message}\n")
        for note in v.notes:
            missing = _MISSING.match(note)
            if missing:
                config, level, why = missing.groups()
                if self.once(("level", launch.kernel, launch.site, note)):
                    lines.append(f"polyrace: not analysed: {launch.kernel} {config} {launch.site}: {level}: {why}\n")
                continue
            skipped = note.startswith("configuration [") and "was not analysed" in note
            if (lines or skipped) and self.once(("note", launch.kernel, launch.site, note)):
                if skipped:
                    config, _, why = note[len("configuration "):].partition(" was not analysed: ")
                    lines.append(f"polyrace: not analysed: {launch.kernel} {config} {launch.site}: "
                                 f"no-compiled-kernel: {why}\n")
                else:
                    lines.append(f"polyrace:   note: {note}\n")
        if v.withheld and self.once(("withheld", launch.kernel, launch.site, v.withheld)):
            one = v.withheld == 1
            lines.append(f"polyrace: {v.withheld} possible race{'' if one else 's'} of {launch.kernel} {launch.site} "
                         f"{'is' if one else 'are'} withheld: something in {'it' if one else 'them'} is approximated\n")
        return lines


def _refused(v: Verdict) -> "list[tuple[dict, Any]]":
    """The refusals with the configuration that each belongs to."""
    own = [(c.config, r) for c in v.configs for r in c.refusals] if v.configs else [({}, r) for r in v.refusals]
    config = v.configs[0].config if len(v.configs) == 1 else {}
    return own + [(config, r) for r in v.shared_refusals]


# ---- summary ----------------------------------------------------------------------------------------------
def summary(launches: "list[Launch]") -> str:
    """The table that polyrace-run prints at the end: one row a kernel, worst first."""
    if not launches:
        return "polyrace: no Triton kernel was launched\n"
    rows: "dict[str, list[Launch]]" = {}
    for launch in launches:
        rows.setdefault(launch.kernel, []).append(launch)
    order = {"races": 0, "deadlock": 1, "hazard": 2, "not analysed": 3, "unsupported": 4, "vacuous": 5, "ok": 6}
    table = []
    for kernel, group in rows.items():
        worst = min((x.status for x in group), key=lambda s: order.get(s, 0))
        table.append((order.get(worst, 0), kernel, len(group), _outcome(group, worst)))
    table.sort(key=lambda r: r[0])
    width = min(48, max(len(r[1]) for r in table + [(0, "kernel", 0, "")]))
    lines = [f"  {'kernel':<{width}}  launches  verdict"]
    lines += [f"  {kernel:<{width}}  {n:>8}  {what}" for _, kernel, n, what in table]
    shown = ["partly" if x.status == "ok" and not proved(x) else x.status for x in launches]
    count = {s: shown.count(s) for s in (*order, "partly")}
    words = [("races", "with races"), ("deadlock", "with deadlocks"), ("hazard", "with hazards"),
             ("unsupported", "not decided"), ("not analysed", "not analysed"), ("vacuous", "without a claim"),
             ("partly", "race free in part"), ("ok", "race free")]
    total = ", ".join(f"{count[s]} {w}" for s, w in words if count[s])
    lines.append(f"polyrace: {len(launches)} launch{'' if len(launches) == 1 else 'es'}: {total}")
    return "\n".join(lines) + "\n"


def _outcome(group: "list[Launch]", worst: str) -> str:
    chosen = [x for x in group if x.status == worst]
    share = "" if len(chosen) == len(group) else f" ({len(chosen)} of {len(group)} launches)"
    verdicts = [x.verdict for x in chosen if x.verdict is not None]
    if worst == "races":
        most = max(len(v.races) + sum(f["kind"] == "race" for f in v.findings) for v in verdicts)
        return f"{most} data race(s){share}"
    if worst in FAULTS:
        return f"{'deadlock' if worst == 'deadlock' else 'synchronisation hazard'}{share}"
    if worst == "unsupported":
        kinds = dict.fromkeys(r.kind for v in verdicts for r in (*v.refusals, *v.shared_refusals))
        return f"not decided: {', '.join(kinds) or '?'}{share}"
    if worst == "ok":
        rungs = [r for r in ("T1-launch", "T1", "T0") if any(v.rung == r for v in verdicts)]
        both = bool(verdicts) and all(v.levels.get("ttgir", {}).get("status") == "ok" for v in verdicts)
        stale = any(n.startswith("an earlier launch was not run") and ("reads tensor contents" in v.qualifiers or v.rung != "T0")
                    for v in verdicts for n in v.notes)
        what = f"race free ({rungs[0]})" if rungs else "race free in shared memory"
        return what + "".join(
            text for said, text in ((both, ", shared memory too"),
                                    (any(half_analysed(v) for v in verdicts), ", not analysed at every level"),
                                    (any(v.out_of_bounds for v in verdicts), ", out-of-bounds accesses"),
                                    (stale, ", for values before launches that were not run")) if said)
    return ("no claim" if worst == "vacuous" else "not analysed") + share


def exit_status(launches: "list[Launch]", internal: bool = False) -> int:
    """1 a race, deadlock or hazard, 4 an internal error, 2 something undecided, 0 everything proved."""
    if any(x.status in FAULTS for x in launches):
        return 1
    if internal or any(x.verdict is not None and x.verdict.exit_status == 4 for x in launches):
        return 4
    return 0 if all(proved(x) for x in launches) else 2


def proved(launch: Launch) -> bool:
    """A proof at every level that was asked about."""
    return launch.verdict is not None and launch.verdict.ok and not half_analysed(launch.verdict)
