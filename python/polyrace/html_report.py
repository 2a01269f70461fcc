"""Verdicts as one self-contained HTML page: no network, no other file, readable without JavaScript."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Optional, Tuple

from . import html_footprint as fp
from .errors import PolyraceError

CONTEXT = 2  # source lines around a marked one
MAX_RUNS = 600  # rectangles in one picture
WORDS = {
    "races": "data race", "deadlock": "deadlock", "hazard": "synchronisation hazard", "unsupported": "not decided", "vacuous": "no claim",
    "ok": "race free", "error": "not readable",
}  # fmt: skip
SCOPES = {
    "T0": "for any parameters and any grid",
    "T1": "for these parameters and any grid",
    "T1-launch": "for this launch only",
}


@dataclass
class Entry:
    """One launch on the page: its verdict document, and where known the launch that was decided."""

    document: Dict[str, Any]
    launch: Optional[Dict[str, Any]] = None
    base_dir: str = ""
    ttir: Optional[str] = None  #: a text that was decided without a launch
    error: Optional[str] = None


# ---- what goes on the page ------------------------------------------------------------------------------------
@dataclass
class _Picture:
    kind: str = "1d"
    reason: str = ""
    rows: List[Dict[str, Any]] = field(default_factory=list)
    low: str = ""
    high: str = ""
    height: int = 14
    view: str = ""
    caption: str = ""
    cells: List[Dict[str, Any]] = field(default_factory=list)


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


def _records(entry: Entry) -> List[List[Any]]:
    from . import _lib

    options = _lib.Options({})
    if entry.launch is not None:
        inputs = _lib.Inputs(options, launch=json.dumps(entry.launch).encode(), launch_name="launch", base_dir=entry.base_dir)
    elif entry.ttir is not None:
        inputs = _lib.Inputs(options, ttir=entry.ttir.encode())
    else:
        raise fp.NotDrawn("the launch file is not at hand")
    with inputs as g:
        return fp.configurations(g.dump("records"))


def _bar(foot: fp.Footprint, low: int, high: int) -> List[Dict[str, float]]:
    scale = 1000.0 / max(1, high - low)
    return [{"x": round((a - low) * scale, 3), "w": max(round((b - a) * scale, 3), 1.5)} for a, b in foot.runs]


def _tiles(foot: fp.Footprint, stride: int, box: Tuple[int, int, int, int]) -> List[Dict[str, int]]:
    """Rectangles of a footprint over rows of `stride` elements; equal rows below each other are one."""
    row0, col0, _, _ = box
    by_cols: Dict[Tuple[int, int], List[int]] = {}
    for a, b in foot.runs:
        while a < b:
            row = a // stride
            end = min(b, (row + 1) * stride)
            by_cols.setdefault((a - row * stride, end - row * stride), []).append(row)
            a = end
    out = []
    for (c, d), rows in by_cols.items():
        start = prev = rows[0]
        for row in [*rows[1:], None]:
            if row is not None and row == prev + 1:
                prev = row
                continue
            out.append({"x": c - col0, "y": start - row0, "w": d - c, "h": prev - start + 1})
            if row is not None:
                start = prev = row
    return out


def _picture(race: Dict[str, Any], entry: Entry, blocks: List[List[Any]]) -> _Picture:
    first, second = race["first"], race["second"]
    if race["config"] >= len(blocks):
        raise fp.NotDrawn("the records of this configuration are not at hand")
    block = blocks[race["config"]]
    launch = dict(entry.launch or {})
    configs = launch.get("configs")
    if isinstance(configs, list) and race["config"] < len(configs):
        own = configs[race["config"]]
        launch["grid"] = own.get("grid") or launch.get("grid")
        if isinstance(launch.get("args"), dict) and isinstance(own.get("args"), dict):
            launch["args"] = {**launch["args"], **own["args"]}
        elif own.get("args") is not None:
            launch["args"] = own["args"]
    if race.get("grid"):
        launch["grid"] = race["grid"]
    if first["tensor"] != second["tensor"]:
        raise fp.NotDrawn("the accesses go through two arguments, %s and %s" % (first["tensor"], second["tensor"]))
    size = fp.element_size(launch, first["tensor"], block)
    a, b = (fp.footprint(block, launch, x, size) for x in (first, second))
    both = fp.overlap(a, b)
    out = _Picture()
    spec = fp.tensor_of(launch, first["tensor"], block) or {}
    shape, strides = spec.get("shape") or [], spec.get("strides")
    if len(shape) == 2 and strides is None:
        strides = [shape[1], 1]
    lows, highs = [f.runs[0][0] for f in (a, b)], [f.runs[-1][1] for f in (a, b)]
    low, high = min(lows), max(highs)
    names = [("first", "%s of %s" % (first["op"], _agent_short(first)), a), ("second", "%s of %s" % (second["op"], _agent_short(second)), b), ("both", "touched by both", both)]
    stride = int(strides[0]) if strides and len(shape) == 2 and strides[1] == 1 else 0
    if stride > 1 and low >= 0 and high - low > stride:
        rows = (low // stride, (high - 1) // stride + 1)
        starts = [x % stride for f in (a, b) for x, _ in f.runs]
        ends = [(y - 1) % stride + 1 for f in (a, b) for _, y in f.runs]
        whole = any(x // stride != (y - 1) // stride for f in (a, b) for x, y in f.runs)
        cols = (0, stride) if whole else (min(starts), max(ends))
        box = (rows[0], cols[0], rows[1], cols[1])
        out.kind, out.view = "2d", "0 0 %d %d" % (cols[1] - cols[0], rows[1] - rows[0])
        out.height = max(24, min(160, 6 * (rows[1] - rows[0])))
        out.caption = "%s seen as rows of %d elements: rows %d to %d, columns %d to %d" % (first["tensor"], stride, rows[0], rows[1] - 1, cols[0], cols[1] - 1)
        for kind, label, f in names:
            tiles = _tiles(f, stride, box)
            if len(tiles) > MAX_RUNS:
                raise fp.NotDrawn("the footprint has %d pieces" % len(tiles))
            out.rows.append({"kind": kind, "label": label, "count": f.count, "tiles": tiles})
    else:
        out.caption = "elements %d to %d of %s" % (low, high - 1, first["tensor"])
        for kind, label, f in names:
            if len(f.runs) > MAX_RUNS:
                raise fp.NotDrawn("the footprint has %d pieces" % len(f.runs))
            out.rows.append({"kind": kind, "label": label, "count": f.count, "tiles": [{**r, "y": 0, "h": 1} for r in _bar(f, low, high)]})
        out.view = "0 0 1000 1"
    out.low, out.high = str(low), str(high - 1)
    at = first["byte"] // size
    for e in range(max(low, at - 4), min(high, at + 5)):
        out.cells.append({"element": e, "first": e in a, "second": e in b, "witness": e == at})
    return out


def _agent_short(a: Dict[str, Any]) -> str:
    words = "program %s" % _numbers(a["program"])
    if a.get("iteration"):
        words += ", iteration %s" % _numbers(a["iteration"])
    return words


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
    blocks: Any = None
    for race, fragile in [(r, False) for r in doc.get("races", [])] + [(r, True) for r in doc.get("grid_fragile", [])]:
        try:
            if blocks is None:
                blocks = _records(entry)
            picture = _picture(race, entry, blocks)
        except fp.NotDrawn as e:
            picture = _Picture(reason=str(e))
        except PolyraceError as e:
            picture = _Picture(reason="the records cannot be read (%s)" % e)
        ends = [(name, race[name]) for name in ("first", "second")]
        races.append(
            {
                "race": race,
                "fragile": fragile,
                "agents": [{"name": n, "who": _agent(a), "does": "writes" if a["write"] else "reads", **a} for n, a in ends],
                "excerpts": sources.excerpts([(n, a["loc"]) for n, a in ends if a.get("loc")], entry.base_dir),
                "picture": picture,
            }
        )
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
        "scope": SCOPES.get(doc.get("rung") or "", ""),
        "pinned": pinned if doc.get("rung") in ("T0", "T1") else [],
        "races": races,
        "refusals": refusals,
        "findings": doc.get("findings") or level.get("findings") or [],
        "shared": level.get("status") == "ok",
        "bounds": bounds,
        "args": _args(entry.launch),
        "grid": (entry.launch or {}).get("grid"),
        "configs": doc.get("configs", []) if len(doc.get("configs", [])) > 1 else [],
    }


# ---- entries ---------------------------------------------------------------------------------------------------
def entries_of_documents(documents: Iterable[Dict[str, Any]]) -> List[Entry]:
    """Entries of verdict documents; the inputs that they name are read again for the pictures, where possible."""
    from .scan_inputs import find_units

    documents = list(documents)
    files = {d["input"][: d["input"].rindex("[")] if d["input"].endswith("]") and "[" in d["input"] else d["input"] for d in documents}
    units = {u.name: u for f in sorted(files) if os.path.isfile(f) for u in find_units([f])}
    out = []
    for d in documents:
        unit = units.get(d["input"])
        if unit is None or unit.error:
            out.append(Entry(d))
        elif unit.kind == "launch":
            out.append(Entry(d, json.loads(unit.text), unit.base_dir))
        else:
            out.append(Entry(d, None, unit.base_dir, unit.text))
    return out


def entries_of_scan(found: Any) -> List[Entry]:
    """Entries of a `ScanResult`; inputs that could not be read are on the page too."""
    out = entries_of_documents(found.documents)
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
    return out


def render(entries: Iterable[Entry], title: str = "polyrace", source_roots: Iterable[str] = ()) -> str:
    """The page."""
    try:
        import jinja2
    except ImportError:
        raise PolyraceError("the HTML report needs jinja2 (pip install 'polyrace[html]')") from None
    from ._version import __version__

    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
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
        title=title, version=__version__, views=views, errors=errors, counts=counts, words=WORDS,
        kinds=sorted(kinds.items(), key=lambda kv: (-kv[1], kv[0])),
    )  # fmt: skip
