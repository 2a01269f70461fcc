"""Counts of a scan, and the table that is printed at its end."""

from __future__ import annotations

import collections
import statistics
from typing import Any, Dict, List, Optional, TextIO, Tuple

STATUSES = ("races", "deadlock", "hazard", "unsupported", "vacuous", "ok", "error")
WORDS = {
    "races": "data race",
    "deadlock": "deadlock",
    "hazard": "synchronisation hazard",
    "unsupported": "not decided",
    "vacuous": "no claim",
    "ok": "race free",
    "error": "not readable",
}
RUNGS = {"T0": "any parameters, any grid", "T1": "these parameters, any grid", "T1-launch": "this launch"}


def status_of(entry: Dict[str, Any]) -> str:
    """Status of a result; ``error`` for bad input and internal errors."""
    return str(entry["verdict"]["status"]) if entry.get("verdict") else "error"


def refusal_kinds(entry: Dict[str, Any]) -> List[str]:
    """Each refusal kind of a result once, sorted."""
    if not entry.get("verdict"):
        return [str(entry["error"]["kind"])]
    return sorted({str(r["kind"]) for r in entry["verdict"].get("refusals", [])})


def summarize(results: List[Dict[str, Any]]) -> Dict[str, Any]:
    """Everything that is counted; keys that hold times end in ``_us`` or are ``slowest``."""
    status = collections.Counter(status_of(r) for r in results)
    rung = collections.Counter(r["verdict"]["rung"] for r in results if r.get("verdict") and r["verdict"].get("rung"))
    kinds = collections.Counter(k for r in results if status_of(r) in ("unsupported", "error") for k in refusal_kinds(r))
    times = sorted(r.get("us", 0) for r in results if r.get("verdict"))
    slowest = sorted(results, key=lambda r: (-r.get("us", 0), r["unit"]))[:10]
    return {
        "units": len(results),
        "distinct": len({r["key"] for r in results}),
        "status": {s: status.get(s, 0) for s in STATUSES},
        "rung": {s: rung.get(s, 0) for s in RUNGS},
        "refusals": dict(sorted(kinds.items(), key=lambda kv: (-kv[1], kv[0]))),
        "qualified": sum(1 for r in results if status_of(r) == "ok" and r["verdict"]["qualifiers"]),
        "withheld": sum(r["verdict"].get("withheld", 0) for r in results if r.get("verdict")),
        "times": {
            "median_us": int(statistics.median(times)) if times else 0,
            "p95_us": times[min(len(times) - 1, int(len(times) * 0.95))] if times else 0,
            "total_us": sum(times),
            "slowest": [[r["unit"], r.get("us", 0)] for r in slowest],
        },
    }


def exit_status(results: List[Dict[str, Any]]) -> int:
    """interface.md 1: worst first 3, 1, 4, 2, 0."""
    codes = set()
    for r in results:
        s = status_of(r)
        if s == "error":
            codes.add(4 if r["error"]["kind"] == "internal" else 3)
        elif s in ("races", "deadlock", "hazard"):
            codes.add(1)
        elif s in ("unsupported", "vacuous"):
            codes.add(4 if "internal" in refusal_kinds(r) else 2)
    for code in (3, 1, 4, 2):
        if code in codes:
            return code
    return 0


def _ms(us: int) -> str:
    return "%.1f ms" % (us / 1000.0) if us < 1e6 else "%.2f s" % (us / 1e6)


def write_text(results: List[Dict[str, Any]], summary: Dict[str, Any], out: TextIO, color: bool = False) -> None:
    """The report for people: races, unreadable inputs, then the counts. Uses rich when it is installed."""
    for (kind, agents, first, second, tensor), units in _grouped_races(results).items():
        more = " and %d more launches" % (len(units) - 1) if len(units) > 1 else ""
        out.write("race: %s on %s, between %s\n" % (kind, tensor, agents))
        out.write("    %s\n    %s\n    in %s%s\n" % (first, second, units[0], more))
    for r in results:
        if status_of(r) == "error":
            e = r["error"]
            where = e.get("file") or r["unit"]
            if e.get("line"):
                where += ":%d:%d" % (e["line"], e.get("column", 0))
            what = "internal error (please report)" if e["kind"] == "internal" else "not readable"
            out.write("%s: %s: %s\n" % (what, where, e["message"]))
    rows = [(WORDS[s], n) for s, n in summary["status"].items() if n]
    rungs = [("%s (%s)" % (RUNGS[s], s), n) for s, n in summary["rung"].items() if n]
    refusals = list(summary["refusals"].items())
    if rows:
        out.write("\n")
    _table(out, "verdict", rows, summary["units"], color)
    _table(out, "race free for", rungs, summary["units"], color)
    _table(out, "not decided because of", refusals, summary["units"], color)
    t = summary["times"]
    out.write(
        "%d launches, %d distinct; %d proofs have qualifiers; time of a decision: median %s, 95%% under %s, all %s\n"
        % (summary["units"], summary["distinct"], summary["qualified"], _ms(t["median_us"]), _ms(t["p95_us"]), _ms(t["total_us"]))
    )


def _grouped_races(results: List[Dict[str, Any]]) -> Dict[Tuple[str, ...], List[str]]:
    """Races by their two accesses, each with the launches that have it."""
    groups: Dict[Tuple[str, ...], List[str]] = {}
    for r in results:
        for race in r["verdict"]["races"] if r.get("verdict") else []:
            ends = [
                "%s %s at %s" % (a["op"], "writes" if a["write"] else "reads", place(a.get("loc")))
                for a in (race["first"], race["second"])
            ]
            units = groups.setdefault((race["type"], race["agents"], *ends, race["first"]["tensor"]), [])
            if r["unit"] not in units:
                units.append(r["unit"])
    return groups


def place(loc: Optional[Dict[str, Any]]) -> str:
    return "%s:%s:%s" % (loc["file"], loc["line"], loc["col"]) if loc else "an unknown place"


def _table(out: TextIO, title: str, rows: Any, total: int, color: bool) -> None:
    if not rows:
        return
    try:
        from rich.console import Console
        from rich.table import Table

        table = Table(title=None, box=None, pad_edge=False)
        table.add_column(title, min_width=36)
        table.add_column("launches", justify="right")
        table.add_column("", justify="right")
        for name, n in rows:
            table.add_row(name, str(n), "%.1f %%" % (100.0 * n / total))
        Console(file=out, force_terminal=color or None, no_color=not color, width=100, highlight=False).print(table)
        out.write("\n")
    except ImportError:
        out.write("%-36s %s\n" % (title, "launches"))
        for name, n in rows:
            out.write("%-36s %8d %5.1f %%\n" % (name, n, 100.0 * n / total))
        out.write("\n")
