"""Verdicts as SARIF 2.1.0, for code-scanning viewers.

- A race is an ``error`` at its writing access, with the other access as related location and both in a code flow.
- What was not analysed (a refusal), a race at another grid and an access out of bounds are a ``note`` or ``warning`` of
  their own rule: a launch without results is a proved launch, never an unanalysed one.
- Results name the user's source file where the verdict does, else the launch file or the text.
- Inputs that cannot be read are notifications of the invocation, which is then not successful.

Races that several launches share (same rule and same places) are one result with the number of launches; fingerprints
do not contain line numbers, so that a result keeps its identity when code above it moves.
"""

from __future__ import annotations

import hashlib
import os
import re
import urllib.parse
from typing import Any, Dict, Iterable, List, Optional, Tuple

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "SRCROOT"

_RACE_RULES = {
    "WAW": ("WriteWriteRace", "Two writes to one byte that nothing orders"),
    "RAW": ("WriteReadRace", "A write and a later read of one byte that nothing orders"),
    "WAR": ("ReadWriteRace", "A read and a later write of one byte that nothing orders"),
}


_SITE = re.compile(r"(.+\.\w+):(\d+)$")


class _Rules:
    """Reporting descriptors, in the order of first use."""

    def __init__(self) -> None:
        self.index: Dict[str, int] = {}
        self.rules: List[Dict[str, Any]] = []

    def use(self, rule: str, name: str, short: str, full: str, level: str, severity: str) -> int:
        if rule not in self.index:
            self.index[rule] = len(self.rules)
            self.rules.append(
                {
                    "id": rule,
                    "name": name,
                    "shortDescription": {"text": short + "."},
                    "fullDescription": {"text": full},
                    "help": {"text": full},
                    "defaultConfiguration": {"level": level},
                    "properties": {"tags": ["concurrency", "triton"], "precision": "very-high", "problem.severity": severity},
                }
            )
        return self.index[rule]


class _Files:
    """Artifact locations: relative to the source root where possible, so that viewers find the file in a checkout."""

    def __init__(self, root: str) -> None:
        self.root = os.path.abspath(root)
        self.artifacts: List[Dict[str, Any]] = []
        self.index: Dict[str, int] = {}
        self._lines: Dict[str, Optional[List[str]]] = {}

    def location(self, path: str) -> Dict[str, Any]:
        relative = path if not os.path.isabs(path) else os.path.relpath(path, self.root)
        if not relative.startswith(".." + os.sep) and relative != "..":
            where = {"uri": urllib.parse.quote(relative.replace(os.sep, "/")), "uriBaseId": ROOT}
        else:
            where = {"uri": "file://" + urllib.parse.quote(path.replace(os.sep, "/"))}
        key = where["uri"]
        if key not in self.index:
            self.index[key] = len(self.artifacts)
            self.artifacts.append({"location": dict(where)})
        return {**where, "index": self.index[key]}

    def line(self, path: str, number: int) -> str:
        """The source line, empty when the file cannot be read."""
        if path not in self._lines:
            try:
                with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as f:
                    self._lines[path] = f.read().split("\n")
            except OSError:
                self._lines[path] = None
        lines = self._lines[path]
        return lines[number - 1] if lines and 0 < number <= len(lines) else ""

    def physical(self, loc: Optional[Dict[str, Any]], fallback: str) -> Dict[str, Any]:
        site = _SITE.match(fallback)
        if not loc and site:
            loc = {"file": site.group(1), "line": int(site.group(2))}  # a recorded launch: the place of the call
        if not loc:
            return {"physicalLocation": {"artifactLocation": self.location(_file_of(fallback))}}
        region: Dict[str, Any] = {"startLine": max(int(loc["line"]), 1)}
        if int(loc.get("col") or 0) > 0:
            region["startColumn"] = int(loc["col"])
        text = self.line(loc["file"], region["startLine"])
        if text:
            region["snippet"] = {"text": text + "\n"}
        return {"physicalLocation": {"artifactLocation": self.location(loc["file"]), "region": region}}


def _file_of(unit: str) -> str:
    """The file of an input name: without the position in it."""
    if unit.endswith("]") and "[" in unit:
        return unit[: unit.rindex("[")]
    return unit or "unknown"


def _numbers(values: Iterable[Any]) -> str:
    return "(" + ", ".join(str(v) for v in values) + ")"


def _agent(access: Dict[str, Any]) -> str:
    words = "program %s" % _numbers(access["program"])
    if access.get("lane"):
        words += ", lane %s" % _numbers(access["lane"])
    if access.get("iteration"):
        words += ", iteration %s" % _numbers(access["iteration"])
    return words


def _fingerprint(*parts: Any) -> Dict[str, str]:
    joined = "\0".join(str(p) for p in parts)
    return {"polyrace/v1": hashlib.sha256(joined.encode("utf-8", "replace")).hexdigest()[:32]}


def _place(loc: Optional[Dict[str, Any]]) -> Tuple[str, int, int]:
    return (loc["file"], int(loc["line"]), int(loc.get("col") or 0)) if loc else ("", 0, 0)


def _race(race: Dict[str, Any], doc: Dict[str, Any], rules: _Rules, files: _Files, fragile: bool) -> Dict[str, Any]:
    name, short = _RACE_RULES[race["type"]]
    first, second = race["first"], race["second"]
    if fragile:
        index = rules.use(
            "polyrace/grid-fragile", "RaceAtAnotherGrid", "A race at another grid than that of the launch",
            "The launch itself has no race at these accesses, a launch with another grid has.", "warning", "warning",
        )  # fmt: skip
    else:
        index = rules.use(
            "polyrace/race-" + race["type"].lower(), name, short,
            short + ". The result of the kernel depends on the order in which the hardware performs them.", "error", "error",
        )  # fmt: skip
    main, other = (first, second) if first.get("write") and not second.get("write") else (second, first)
    words = {True: "writes", False: "reads"}
    message = "Data race on %s in %s: %s %s element %d; [the other access](1) by %s %s it. Why: %s." % (
        main["tensor"], doc["kernel"], _agent(main), words[bool(main.get("write"))], main["element"],
        _agent(other), words[bool(other.get("write"))], race["reason"],
    )  # fmt: skip
    if fragile:
        message = "At grid %s, not at this launch: " % _numbers(race.get("grid") or []) + message
    there = {**files.physical(other.get("loc"), doc["input"]), "id": 1, "message": {"text": "the other access (%s)" % other["op"]}}
    steps = [
        {"location": {**files.physical(a.get("loc"), doc["input"]), "message": {"text": "%s: %s %s" % (_agent(a), a["op"], a["tensor"])}}}
        for a in (first, second)
    ]
    file_a, line_a, _ = _place(main.get("loc"))
    file_b, line_b, _ = _place(other.get("loc"))
    return {
        "ruleId": rules.rules[index]["id"],
        "ruleIndex": index,
        "level": "warning" if fragile else "error",
        "message": {"text": message},
        "locations": [files.physical(main.get("loc"), doc["input"])],
        "relatedLocations": [there],
        "codeFlows": [{"threadFlows": [{"id": str(i + 1), "locations": [step]} for i, step in enumerate(steps)]}],
        "partialFingerprints": _fingerprint(
            rules.rules[index]["id"], doc["kernel"], main["op"], main["tensor"], other["op"], other["tensor"],
            os.path.basename(file_a), files.line(file_a, line_a).strip(), files.line(file_b, line_b).strip(),
        ),
        "properties": {"confirmed": bool(race.get("confirmed")), "agents": race["agents"]},
    }  # fmt: skip


def _finding(f: Dict[str, Any], doc: Dict[str, Any], rules: _Rules, files: _Files) -> Dict[str, Any]:
    """Of a TTGIR text: shared memory, tensor memory or barriers."""
    index = rules.use(
        "polyrace/shared/" + f["id"].lower(), "Shared" + "".join(p.capitalize() for p in f["id"].split("-")),
        "%s in shared or tensor memory: %s" % (f["kind"].capitalize(), f["id"]),
        "A run of the kernel's events shows it (docs/shared-memory.md).", "error", "error",
    )  # fmt: skip
    ends = [a for a in (f.get("first"), f.get("second")) if a]
    name = f["allocation"]["name"]
    text = "%s %s on %s in %s: %s" % (f["kind"].capitalize(), f["id"], name, doc["kernel"], f["what"])
    if f.get("missing"):
        text += "; missing: " + f["missing"]
    main = next((a.get("loc") for a in ends if a.get("loc")), f["allocation"].get("loc"))
    file, line, _ = _place(main)
    out: Dict[str, Any] = {
        "ruleId": rules.rules[index]["id"],
        "ruleIndex": index,
        "level": "error",
        "message": {"text": text + "."},
        "locations": [files.physical(main, doc["input"])],
        "partialFingerprints": _fingerprint(f["id"], doc["kernel"], name, *[a["op"] for a in ends], os.path.basename(file), files.line(file, line).strip()),
        "properties": {"confirmed": bool(f.get("confirmed"))},
    }
    if len(ends) == 2:
        words = "%s: %s" % (ends[1]["partition"], ends[1]["op"])
        out["relatedLocations"] = [{**files.physical(ends[1].get("loc"), doc["input"]), "id": 1, "message": {"text": words}}]
    return out


def _refusal(refusal: Dict[str, Any], doc: Dict[str, Any], rules: _Rules, files: _Files) -> Dict[str, Any]:
    kind = refusal["kind"]
    name = "NotAnalysed" + "".join(p.capitalize() for p in kind.replace(".", "-").split("-"))
    index = rules.use(
        "polyrace/not-analysed/" + kind, name, "Not decided: " + kind,
        "This launch is neither proved nor shown to race; polyrace help %s explains the kind." % kind, "note", "recommendation",
    )  # fmt: skip
    hint = refusal.get("hint")
    file, line, _ = _place(refusal.get("loc"))
    return {
        "ruleId": rules.rules[index]["id"],
        "ruleIndex": index,
        "level": "note",
        "message": {"text": "Not analysed in %s: %s%s." % (doc["kernel"], refusal["message"], "; " + hint if hint else "")},
        "locations": [files.physical(refusal.get("loc"), doc["input"])],
        "partialFingerprints": _fingerprint(
            kind, doc["kernel"], refusal.get("op"), os.path.basename(file), files.line(file, line).strip(), refusal["message"]
        ),
    }


def _bounds(item: Dict[str, Any], doc: Dict[str, Any], rules: _Rules, files: _Files) -> Dict[str, Any]:
    index = rules.use(
        "polyrace/out-of-bounds", "OutOfBounds", "An access outside the tensor's storage",
        "This launch accesses memory outside the storage of the tensor.", "warning", "warning",
    )  # fmt: skip
    a = item["access"]
    file, line, _ = _place(a.get("loc"))
    return {
        "ruleId": "polyrace/out-of-bounds",
        "ruleIndex": index,
        "level": "warning",
        "message": {"text": "Access outside %s in %s: %s, byte %s." % (a["tensor"], doc["kernel"], _agent(a), a["byte"])},
        "locations": [files.physical(a.get("loc"), doc["input"])],
        "partialFingerprints": _fingerprint("bounds", doc["kernel"], a["tensor"], os.path.basename(file), files.line(file, line).strip()),
    }


def to_sarif(
    documents: Iterable[Dict[str, Any]],
    *,
    errors: Iterable[Dict[str, Any]] = (),
    source_root: Optional[str] = None,
) -> Dict[str, Any]:
    """A SARIF log of verdict documents (``Verdict.to_dict()`` or ``polyrace check --format=json``).

    ``errors`` are units of a scan that could not be read. ``source_root`` is the folder that relative paths start from
    (default: the current one).
    """
    root = os.path.abspath(source_root or os.getcwd())
    rules, files = _Rules(), _Files(root)
    merged: Dict[Tuple[Any, ...], Dict[str, Any]] = {}
    counts: Dict[str, int] = {}
    inputs: Dict[Tuple[Any, ...], set] = {}
    for doc in documents:
        counts[doc["status"]] = counts.get(doc["status"], 0) + 1
        found = [_race(r, doc, rules, files, False) for r in doc.get("races", [])]
        found += [_race(r, doc, rules, files, True) for r in doc.get("grid_fragile", [])]
        level = (doc.get("levels") or {}).get("ttgir", {})
        found += [_finding(f, doc, rules, files) for f in doc.get("findings") or level.get("findings") or []]
        found += [_refusal(r, doc, rules, files) for r in level.get("refusals", [])]
        found += [_bounds(b, doc, rules, files) for b in doc.get("out_of_bounds", [])]
        found += [_refusal(r, doc, rules, files) for r in doc.get("refusals", [])]
        if doc["status"] == "unsupported" and not doc.get("refusals") and not level.get("refusals"):
            found.append(_refusal({"kind": "other", "message": "not decided", "loc": None}, doc, rules, files))
        if doc["status"] == "vacuous":
            found.append(_refusal({"kind": "vacuous", "message": "the premises admit no execution", "loc": None}, doc, rules, files))
        for result in found:
            places = [p["physicalLocation"] for p in result["locations"] + result.get("relatedLocations", [])]
            key = (
                result["ruleId"], result["partialFingerprints"]["polyrace/v1"],
                str([(p["artifactLocation"]["uri"], p.get("region", {}).get("startLine"), p.get("region", {}).get("startColumn")) for p in places]),
            )  # fmt: skip
            inputs.setdefault(key, set()).add(doc["input"])
            merged.setdefault(key, result)
    for key, result in merged.items():
        result["occurrenceCount"] = len(inputs[key])
        result.setdefault("properties", {})["launches"] = sorted(inputs[key])[:20]
    notifications = []
    for error in errors:
        e = error["error"]
        notifications.append(
            {
                "level": "error",
                "message": {"text": "%s: %s" % (error["unit"], e["message"])},
                "locations": [
                    files.physical({"file": e["file"], "line": e["line"], "col": e.get("column", 0)} if e.get("file") and e.get("line") else None, error["unit"])
                ],
            }
        )
    invocation: Dict[str, Any] = {"executionSuccessful": not notifications}
    if notifications:
        invocation["toolExecutionNotifications"] = notifications
    from ._version import __version__

    run: Dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "polyrace",
                "semanticVersion": __version__,
                "shortDescription": {"text": "Static proof that Triton kernels have no data races."},
                "rules": rules.rules,
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"uri": "file://" + urllib.parse.quote(root.replace(os.sep, "/")).rstrip("/") + "/"}},
        "invocations": [invocation],
        "artifacts": files.artifacts,
        "results": list(merged.values()),
        "properties": {"verdicts": dict(sorted(counts.items()))},
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
