"""Verdicts as one self-contained HTML page: no network, no other file, readable without JavaScript."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Optional, Tuple

from . import html_pictures as pictures
from .errors import PolyraceError

CONTEXT = 2  # source lines around a marked one
MAX_EXPLAINED = 200  # launches of one page that are explained, those with faults first
WORDS = {
    "races": "data race", "deadlock": "deadlock", "hazard": "synchronisation hazard", "unsupported": "not decided", "vacuous": "no claim",
    "ok": "race free", "error": "not readable",
}  # fmt: skip
SCOPES = {
    "T0": "for any parameters and any grid",
    "T1": "for these parameters and any grid",
    "T1-launch": "for this launch only",
    "every-trip-count": "for every trip count",
    "launch": "for the values of this launch",
}


@dataclass
class Entry:
    """One launch on the page: its verdict document, and where known the launch that was decided."""

    document: Dict[str, Any]
    launch: Optional[Dict[str, Any]] = None
    base_dir: str = ""
    ttir: Optional[str] = None  #: a text that was decided without a launch
    error: Optional[str] = None
    explanations: Optional[List[Any]] = None  #: of `polyrace explain`, one a configuration; None: not explained
    why: str = ""  #: why not


# ---- what goes on the page ------------------------------------------------------------------------------------
class _Sources:
    """Source files, read once; where they are looked for: as named, below the launch file, below `roots`."""

    def __init__(self, roots: Iterable[str]) -> None:
        self.roots = list(roots)
        self.files: Dict[Tuple[str, str], Optional[List[str]]] = {}

    def lines(self, name: str, base: str) -> Optional[List[str]]:
        key = (name, base)
        if key not in self.files:
            self.files[key] = None
            for root in ["", base, *self.roots]:
                try:
                    with open(os.path.join(root, name), encoding="utf-8", errors="replace") as f:
                        self.files[key] = f.read().split("\n")
                    break
                except OSError:
                    continue
        return self.files[key]

    def excerpts(self, marks: List[Tuple[str, Dict[str, Any]]], base: str) -> List[Dict[str, Any]]:
        """Excerpts around the marked places; places of one file that are close share one."""
        by_file: Dict[str, Dict[int, List[str]]] = {}
        for name, loc in marks:
            by_file.setdefault(loc["file"], {}).setdefault(int(loc["line"]), []).append(name)
        out = []
        for file, wanted in by_file.items():
            lines = self.lines(file, base)
            rows: List[Dict[str, Any]] = []
            last = None
            for number in sorted({n for at in wanted for n in range(at - CONTEXT, at + CONTEXT + 1)}):
                if lines is not None and not 1 <= number <= len(lines):
                    continue
                if lines is not None and number > max(wanted) and not "".join(lines[max(wanted):number]).strip():
                    continue  # nothing but empty lines behind the last mark
                if lines is None and number not in wanted:
                    continue
                if last is not None and number != last + 1:
                    rows.append({"gap": True})
                last = number
                text = lines[number - 1].rstrip() if lines is not None else ""
                rows.append({"number": number, "text": text, "marks": wanted.get(number, [])})
            out.append({"file": file, "rows": rows, "readable": lines is not None})
        return out


def _numbers(values: Any) -> str:
    return "(" + ", ".join(str(v) for v in values or []) + ")"


def _agent(a: Dict[str, Any]) -> str:
    words = "program %s" % _numbers(a["program"])
    if a.get("lane"):
        words += ", lane %s" % _numbers(a["lane"])
    if a.get("iteration"):
        words += ", iteration %s" % _numbers(a["iteration"])
    return words


def _picture(race: Dict[str, Any], index: int, kind: str, entry: Entry) -> Dict[str, Any]:
    """Footprints and maps of one race, each with a reason where it is missing."""
    out: Dict[str, Any] = {"footprint": None, "footprint_why": "", "maps": [], "map_why": ""}
    told = (entry.explanations or [])[race["config"] :][:1]
    if not told or not told[0]:
        out["footprint_why"] = out["map_why"] = entry.why or "the launch is not at hand"
        return out
    found = [p for p in told[0]["pictures"] if p.get(kind) == index]
    if not found:
        out["footprint_why"] = out["map_why"] = "the race is not among those that were explained"
        return out
    (p,) = found
    if p["footprints"] is None:
        out["footprint_why"] = p["footprints_why"]
    else:
        try:
            size = p["footprints"]["tensor"]["element_bytes"]
            out["footprint"] = pictures.footprint(p["footprints"], race["first"]["byte"] // size)
        except pictures.NotDrawn as e:
            out["footprint_why"] = str(e)
    programs = [race[end]["program"] for end in ("first", "second")]
    out["maps"] = [pictures.grid(m, programs) for m in (p["map"], p["near"]) if m]
    out["map_why"] = p["map_why"] or ""
    return out


def _races(entry: Entry) -> List[Tuple[Dict[str, Any], int, str]]:
    """Every race of the launch and evidence at another grid, with its number in its configuration."""
    out: List[Tuple[Dict[str, Any], int, str]] = []
    for name, kind in (("races", "race"), ("grid_fragile", "grid_fragile")):
        seen: Dict[int, int] = {}
        for race in entry.document.get(name, []):
            index = seen.get(race["config"], 0)
            seen[race["config"]] = index + 1
            out.append((race, index, kind))
    return out


def _conditions(told: Dict[str, Any]) -> List[Dict[str, Any]]:
    """Race-free conditions of one configuration that say something."""
    out = []
    for c in told["race_free"]:
        over = "all parameters and grids" if c["rung"] == "T0" else "all grids, with this launch's parameters"
        pinned = ["%d programs along %s" % (n, axis) for n, axis in zip(c["pinned"], "xyz") if n > 1]
        out.append({**c, "over": over, "pinned_words": pinned})
    return [c for c in out if c["condition"] or c["needs"] or c["why"] != "there is no launch"]


def _explained(entry: Entry) -> List[Dict[str, Any]]:
    """What is said of each configuration: conditions, pairs, barriers."""
    out = []
    for number, told in enumerate(entry.explanations or []):
        if told:
            out.append({"number": number, "conditions": _conditions(told), "pairs": pictures.pairs(told), "spare": told["spare_barriers"]})
    return out


def _args(launch: Optional[Dict[str, Any]]) -> List[Tuple[str, str]]:
    if not launch:
        return []
    args = launch.get("args")
    pairs = list(enumerate(args)) if isinstance(args, list) else list((args or {}).items())
    out = []
    for name, value in pairs:
        if isinstance(value, dict) and isinstance(value.get("tensor"), dict):
            t = value["tensor"]
            words = "%s %s" % (t.get("dtype"), list(t.get("shape") or []))
            if t.get("strides"):
                words += ", strides %s" % list(t["strides"])
            if t.get("values") is not None or t.get("values_b64") or t.get("values_file"):
                words += ", contents known"
            elif t.get("no_values"):
                words += ", contents not known: %s" % t["no_values"]
        elif isinstance(value, dict) and isinstance(value.get("descriptor"), dict):
            words = "descriptor of blocks %s" % value["descriptor"].get("block")
        elif isinstance(value, dict) and isinstance(value.get("scalar"), dict):
            words = str(value["scalar"].get("value"))
        else:
            words = "any value" if value is None else str(value)
        out.append((str(name), words))
    return out


def _view(entry: Entry, number: int, sources: _Sources) -> Dict[str, Any]:
    doc = entry.document
    races = []
    level = (doc.get("levels") or {}).get("ttgir", {})
    for race, index, kind in _races(entry):
        ends = [(name, race[name]) for name in ("first", "second")]
        races.append(
            {
                "race": race,
                "fragile": kind == "grid_fragile",
                "agents": [{"name": n, "who": _agent(a), "does": "writes" if a["write"] else "reads", **a} for n, a in ends],
                "excerpts": sources.excerpts([(n, a["loc"]) for n, a in ends if a.get("loc")], entry.base_dir),
                "picture": _picture(race, index, kind, entry),
            }
        )
    findings = []
    for f in doc.get("findings") or level.get("findings") or []:
        ends = [(name, f[name]) for name in ("first", "second") if f.get(name)]
        marks = [(n, a["loc"]) for n, a in ends if a.get("loc")]
        findings.append({**f, "excerpts": sources.excerpts(marks, entry.base_dir), "picture": pictures.timeline(f)})
    refusals = [
        {**r, "excerpts": sources.excerpts([("refused", r["loc"])], entry.base_dir) if r.get("loc") else []} for r in [*doc.get("refusals", []), *level.get("refusals", [])]
    ]
    bounds = [
        {**b, "who": _agent(b["access"]), "excerpts": sources.excerpts([("bounds", b["access"]["loc"])], entry.base_dir) if b["access"].get("loc") else []}
        for b in doc.get("out_of_bounds", [])
    ]
    axes = doc.get("grid_axes") or {}
    pinned = ["%s = %s" % (k, v) for k, v in axes.items() if v != "any"]
    return {
        "id": "launch-%d" % number,
        "doc": doc,
        "status": doc["status"],
        "word": WORDS[doc["status"]],
        "scope": SCOPES.get(doc.get("rung") or doc.get("scope") or "", ""),
        "ordered": doc.get("ordered") or level.get("ordered") or [],
        "pinned": pinned if doc.get("rung") in ("T0", "T1") else [],
        "races": races,
        "refusals": refusals,
        "findings": findings,
        "explained": _explained(entry),
        "why": entry.why,
        "shared": SCOPES.get(level.get("scope") or "", "") if level.get("status") == "ok" else "",
        "trips": "at the values of this launch" if "launch" in (doc.get("scope"), level.get("scope")) else "for all trip counts",
        "bounds": bounds,
        "args": _args(entry.launch),
        "grid": (entry.launch or {}).get("grid"),
        "configs": doc.get("configs", []) if len(doc.get("configs", [])) > 1 else [],
    }


# ---- entries ---------------------------------------------------------------------------------------------------
def _explain(entry: Entry, options: Optional[Dict[str, Any]] = None) -> None:
    """Asks the library for the explanation of an entry; what fails is a reason on the page."""
    from . import _lib

    try:
        given = _lib.Options(options or {})
        if entry.launch is not None:
            inputs = _lib.Inputs(given, launch=json.dumps(entry.launch).encode(), launch_name="launch", base_dir=entry.base_dir)
        elif entry.ttir is not None:
            inputs = _lib.Inputs(given, ttir=entry.ttir.encode())
        elif entry.document.get("level") == "ttgir":
            return  # all there is to say is in the document
        else:
            entry.why = "the launch file is not at hand"
            return
        with inputs as g:
            told = json.loads(g.explain())
    except (PolyraceError, MemoryError, TypeError, ValueError) as e:
        entry.why = "it could not be explained (%s)" % e
        return
    if _essence(told["verdict"]) != _essence(entry.document):
        entry.why = "the launch is decided otherwise here than in the document"
    else:
        entry.explanations = told["explanations"]


def _essence(doc: Dict[str, Any]) -> Any:
    """What an explanation must agree with: the status and the witnesses."""
    races = [(r["type"], r.get("config"), r["first"], r["second"]) for r in [*doc.get("races", []), *doc.get("grid_fragile", [])]]
    status = (doc.get("levels") or {}).get("ttir", doc)["status"]
    return json.dumps([status, races], sort_keys=True)


def _explain_all(entries: List[Entry], options: Optional[Dict[str, Any]] = None) -> List[Entry]:
    order = {"races": 0, "unsupported": 1, "vacuous": 2}
    todo = [e for e in entries if e.explanations is None and e.error is None and not e.why]
    todo.sort(key=lambda e: order.get(e.document["status"], 3))
    for number, entry in enumerate(todo):
        if number < MAX_EXPLAINED:
            _explain(entry, options)
        else:
            entry.why = "a page explains %d launches; make one of this launch alone" % MAX_EXPLAINED
    return entries


def entries_of_documents(documents: Iterable[Dict[str, Any]], options: Optional[Dict[str, Any]] = None) -> List[Entry]:
    """Entries of documents, of `polyrace explain` or verdicts alone; these are explained where the inputs that they name can
    be read again. `options`: those of the check."""
    from .scan_inputs import find_units

    told = [(d["verdict"], d["explanations"]) if "explanations" in d else (d, None) for d in documents]
    files = {d["input"][: d["input"].rindex("[")] if d["input"].endswith("]") and "[" in d["input"] else d["input"] for d, _ in told}
    units = {u.name: u for f in sorted(files) if os.path.isfile(f) for u in find_units([f])}
    out = []
    for d, explanations in told:
        unit = units.get(d["input"])
        if unit is None or unit.error:
            out.append(Entry(d, explanations=explanations))
        elif unit.kind == "launch":
            out.append(Entry(d, json.loads(unit.text), unit.base_dir, explanations=explanations))
        else:
            out.append(Entry(d, None, unit.base_dir, unit.text, explanations=explanations))
    return _explain_all(out, options)


def entries_of_scan(found: Any) -> List[Entry]:
    """Entries of a `ScanResult`; inputs that could not be read are on the page too."""
    out = entries_of_documents(found.documents, getattr(found, "options", None))
    for r in found.results:
        if r.get("error"):
            doc = {"kernel": os.path.basename(r["unit"]), "input": r["unit"], "status": "error"}
            out.append(Entry(doc, error=r["error"]["message"]))
    return out


def entries_of_launches(launches: Iterable[Any]) -> List[Entry]:
    """Entries of recorded launches (`polyrace.trace`, `polyrace.load`)."""
    out = []
    for x in launches:
        if x.verdict is None:
            doc = {"kernel": x.kernel, "input": x.site, "status": "error"}
            out.append(Entry(doc, error="not analysed: the analysis was interrupted"))
        else:
            out.append(Entry(x.verdict.to_dict(), {"version": 1, "kernel": x.kernel, **x.document}, os.path.dirname(x.file)))
    return _explain_all(out)


def render(entries: Iterable[Entry], title: str = "polyrace", source_roots: Iterable[str] = ()) -> str:
    """The page."""
    try:
        import jinja2
        from markupsafe import Markup
    except ImportError:
        raise PolyraceError("the HTML report needs jinja2 (pip install 'polyrace[html]')") from None
    from ._version import __version__

    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    with open(os.path.join(folder, "report.css"), encoding="utf-8") as f:
        css = Markup(f.read())
    sources = _Sources(source_roots)
    views = []
    errors = []
    for number, entry in enumerate(entries):
        if entry.error is not None:
            errors.append({"name": entry.document["input"], "message": entry.error})
        else:
            views.append(_view(entry, number, sources))
    counts = {s: sum(v["status"] == s for v in views) for s in ("races", "deadlock", "hazard", "unsupported", "vacuous", "ok")}
    kinds: Dict[str, int] = {}
    for v in views:
        for kind in {r["kind"] for r in v["refusals"]}:
            kinds[kind] = kinds.get(kind, 0) + 1
    return environment.get_template("report.html.j2").render(
        title=title, version=__version__, css=css, views=views, errors=errors, counts=counts, words=WORDS,
        kinds=sorted(kinds.items(), key=lambda kv: (-kv[1], kv[0])),
    )  # fmt: skip
