"""Pictures of the HTML report, as rectangles for SVG: footprints, maps of the grid, pairs of accesses, timelines.

Everything drawn comes from the explanation document (docs/verdict.md); nothing about a race is computed here.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

Json = Dict[str, Any]
Run = Tuple[int, int]

MAX_RUNS = 4000  # intervals that one footprint may have in a picture
MAX_TILES = 1200  # rectangles of one footprint in one picture
WRAP = 64  # cells in a row of a one-dimensional map
NEAREST = 5  # pieces of the overlap around the witness that are enlarged when it has many
LEAST = 4  # thousandths of a picture's width or height that a rectangle has at least


class NotDrawn(Exception):
    """Why there is no picture."""


# ---- footprints --------------------------------------------------------------------------------------------
def runs_of(foot: Json) -> List[Run]:
    """Sorted intervals [start, end) of a footprint's boxes."""
    if foot["boxes"] is None or foot["intervals"] > MAX_RUNS:
        raise NotDrawn("a footprint has %d pieces" % foot["intervals"])
    out: List[Run] = []
    for at, size, *repeat in foot["boxes"]:
        starts = [at]
        for count, step in zip(repeat[::2], repeat[1::2]):
            starts = [s + k * step for s in starts for k in range(count)]
        out += [(s, s + size) for s in starts]
    out.sort()
    return out


def has(runs: Sequence[Run], element: int) -> bool:
    return any(a <= element < b for a, b in runs)


def _rectangles(runs: Sequence[Run], stride: int) -> Iterator[Tuple[int, int, int, int]]:
    """(column, row, width, height) of the intervals over rows of ``stride`` elements; equal rows below each other are one."""
    open_: Dict[Tuple[int, int], List[int]] = {}
    for a, b in runs:
        while a < b:
            row = a // stride
            end = min(b, (row + 1) * stride)
            if a == row * stride and b - a >= 2 * stride:  # whole rows
                rows = (b - a) // stride
                yield 0, row, stride, rows
                a += rows * stride
                continue
            key = (a - row * stride, end - row * stride)
            last = open_.get(key)
            if last and last[1] == row:
                last[1] = row + 1
            else:
                if last:
                    yield key[0], last[0], key[1] - key[0], last[1] - last[0]
                open_[key] = [row, row + 1]
            a = end
    for (c, d), (first, end) in open_.items():
        yield c, first, d - c, end - first


def _scaled(tiles: Sequence[Tuple[int, int, int, int]], box: Tuple[int, int, int, int]) -> List[Json]:
    """Rectangles in thousandths of the box (column, row, width, height), those outside left out, none too thin to be seen."""
    x0, y0, w, h = box
    out = []
    for x, y, tw, th in tiles:
        left, top = max(x, x0), max(y, y0)
        right, bottom = min(x + tw, x0 + w), min(y + th, y0 + h)
        if left >= right or top >= bottom:
            continue
        a, b = (left - x0) * 1000 / w, (top - y0) * 1000 / h
        width, height = max((right - left) * 1000 / w, LEAST), max((bottom - top) * 1000 / h, LEAST)
        out.append({"x": _n(min(a, 1000 - width)), "y": _n(min(b, 1000 - height)), "w": _n(width), "h": _n(height)})
    if len(out) > MAX_TILES:
        raise NotDrawn("a footprint has %d pieces" % len(out))
    return out


def _n(x: float) -> str:
    return ("%.2f" % x).rstrip("0").rstrip(".")


def _bounds(tiles: Sequence[Tuple[int, int, int, int]]) -> Tuple[int, int, int, int]:
    x, y = min(t[0] for t in tiles), min(t[1] for t in tiles)
    return x, y, max(t[0] + t[2] for t in tiles) - x, max(t[1] + t[3] for t in tiles) - y


def _grown(box: Tuple[int, int, int, int], whole: Tuple[int, int, int, int]) -> Tuple[int, int, int, int]:
    """A box with some of its surroundings, inside the whole."""
    x, y, w, h = box
    dx, dy = max(2, w // 2), max(1, h // 2)
    left, top = max(whole[0], x - dx), max(whole[1], y - dy)
    right, bottom = min(whole[0] + whole[2], x + w + dx), min(whole[1] + whole[3], y + h + dy)
    return left, top, right - left, bottom - top


def row_length(tensor: Json) -> Tuple[int, bool]:
    """Elements of a row of the tensor, 0 when it has none; and whether its first dimension is the fast one."""
    shape, strides = tensor["shape"], tensor["strides"]
    if len(shape) >= 2 and strides[-1] == 1 and strides[-2] > 1:
        return strides[-2], False
    if len(shape) == 2 and strides[0] == 1 and strides[1] > 1:
        return strides[1], True
    return 0, False


def footprint(feet: Json, witness: int) -> Json:
    """The picture of a race's footprints: layers of rectangles, a zoom to what both touch, the elements around the witness."""
    first, second, both = (runs_of(feet[k]) for k in ("first", "second", "both"))
    wholes = []
    for end in ("first", "second"):
        program = feet[end]["program"]
        try:
            more = program and program["executions"] > 1 and program["elements"] > feet[end]["elements"]
            wholes.append(runs_of(program) if more else [])
        except NotDrawn:
            wholes.append([])
    tensor = feet["tensor"]
    stride, columns = row_length(tensor)
    lows, highs = min(first[0][0], second[0][0]), max(first[-1][1], second[-1][1])
    flat = not stride or lows < 0 or highs - lows <= stride
    if flat:
        stride = max(highs, *[w[-1][1] for w in wholes if w], 1) + 1
    layers = []
    for kind, runs in (("whole first", wholes[0]), ("whole second", wholes[1]), ("first", first), ("second", second), ("both", both)):
        layers.append((kind, [(a, 0, b - a, 1) for a, b in runs] if flat else list(_rectangles(runs, stride))))
    drawn = {kind: tiles for kind, tiles in layers if tiles}
    whole = _bounds(drawn["first"] + drawn["second"])
    if flat:
        whole = _padded(whole, lows)
    out: Json = {"flat": flat, "tensor": tensor["name"], "shape": tensor["shape"], "columns": columns}
    out["views"] = [_view(drawn, whole, flat)]
    if drawn.get("both"):
        inner = _grown(_bounds(drawn["both"]), whole)
        out["zoom"] = "What both touch, enlarged"
        if inner[2] * inner[3] * 2 > whole[2] * whole[3] and len(drawn["both"]) > NEAREST:
            at = (witness, 0) if flat else (witness % stride, witness // stride)
            near = sorted(drawn["both"], key=lambda t: (_distance(t, at), t))[:NEAREST]
            inner = _grown(_bounds(near), whole)
            out["zoom"] = "Around the element of the witness, enlarged"
        if inner[2] * inner[3] * 2 <= whole[2] * whole[3]:
            out["views"].append(_view(drawn, inner, flat))
    out["counts"] = {k: feet[k]["elements"] for k in ("first", "second", "both")}
    out["programs"] = [bool(w) for w in wholes]
    out["unknown"] = feet["first"]["unknown_lanes"] + feet["second"]["unknown_lanes"]
    at = range(max(lows, witness - 4), min(highs, witness + 5))
    out["cells"] = [
        {"element": _position(e, stride, flat, columns), "first": has(first, e), "second": has(second, e), "witness": e == witness, "far": abs(e - witness) > (2 if flat else 1)} for e in at
    ]
    return out


def _padded(box: Tuple[int, int, int, int], low: int) -> Tuple[int, int, int, int]:
    """Some room on both sides, elements before the tensor only where an access is there."""
    pad = max(1, box[2] // 20)
    left = min(pad, box[0]) if low >= 0 else pad
    return box[0] - left, box[1], box[2] + left + pad, box[3]


def _distance(tile: Tuple[int, int, int, int], at: Tuple[int, int]) -> int:
    """From a tile to a place, rows before columns."""
    x, y, w, h = tile
    across = max(x - at[0], at[0] - (x + w - 1), 0)
    return max(y - at[1], at[1] - (y + h - 1), 0) * (1 << 40) + across


def _position(element: int, stride: int, flat: bool, columns: bool) -> str:
    if flat:
        return str(element)
    major, minor = divmod(element, stride)
    return "%d, %d" % ((minor, major) if columns else (major, minor))


def _view(drawn: Dict[str, List[Tuple[int, int, int, int]]], box: Tuple[int, int, int, int], flat: bool) -> Json:
    x, y, w, h = box
    layers = [{"kind": kind, "tiles": _scaled(tiles, box)} for kind, tiles in drawn.items()]
    height = 0 if flat else max(60, min(260, 8 * h))
    return {"layers": [v for v in layers if v["tiles"]], "x": (x, x + w - 1), "y": (y, y + h - 1), "height": height}


# ---- maps of the grid ------------------------------------------------------------------------------------------
SOME, NOT_ALL, PARTNER = 1, 2, 4


def _state(bits: int) -> str:
    return "none" if not bits & SOME else "some" if bits & NOT_ALL else "all"


def _places(axes: List[Json], cell: Tuple[int, ...]) -> str:
    words = []
    for a, c in zip(axes, cell):
        low = a["from"] + c * a["size"]
        high = min(low + a["size"], a["extent"]) - 1
        words.append("%s = %d" % (a["axis"], low) if low == high else "%s = %d to %d" % (a["axis"], low, high))
    return ", ".join(words)


def grid(m: Json, programs: Sequence[Sequence[int]]) -> Json:
    """The picture of a map: slices of cells; ``programs``: those of the witness."""
    axes = m["axes"]
    sizes = [a["cells"] for a in axes]
    width, rows = sizes[0], sizes[1] if len(axes) > 1 else 1
    slices: List[Json] = []
    wrap = len(axes) == 1 and width > WRAP
    cells: Dict[str, int] = {"none": 0, "some": 0, "all": 0}
    names = {"x": 0, "y": 1, "z": 2}
    marks = []
    for number, p in enumerate(programs):
        at = [(p[names[a["axis"]]] - a["from"]) // a["size"] for a in axes]
        if all(0 <= c < a["cells"] for c, a in zip(at, axes)):
            marks.append((tuple(at), "second" if number else "first"))
    if len(marks) == 2 and marks[0][0] == marks[1][0]:
        marks = [(marks[0][0], "both")]
    for z in range(sizes[2] if len(axes) > 2 else 1):
        rects: List[Json] = []
        points: List[Json] = []
        for y in range(rows):
            text = m["rows"][z * rows + y]
            for x, digit in enumerate(text):
                bits = int(digit)
                place = (x % WRAP, x // WRAP) if wrap else (x, y)
                state = _state(bits)
                cells[state] += 1
                last = rects[-1] if rects else None
                if last and last["kind"] == state and last["y"] == place[1] and last["x"] + last["w"] == place[0]:
                    last["w"] += 1
                else:
                    rects.append({"x": place[0], "y": place[1], "w": 1, "kind": state})
                if bits & PARTNER:
                    points.append({"x": place[0], "y": place[1]})
        own = [{"x": c[0] % WRAP if wrap else c[0], "y": c[0] // WRAP if wrap else (c[1] if len(axes) > 1 else 0), "kind": k}
               for c, k in marks if len(axes) < 3 or c[2] == z]  # fmt: skip
        high = -(-width // WRAP) if wrap else rows
        if wrap and width % WRAP:
            rects.append({"x": width % WRAP, "y": high - 1, "w": WRAP - width % WRAP, "kind": "void"})
        title = _places(axes[2:], (z,)) if len(axes) > 2 else ""
        slices.append({"rects": rects, "points": points, "marks": own, "w": min(width, WRAP) if wrap else width, "h": high, "title": title})
    per = 1
    for a in axes:
        per *= a["size"]
    whole = all(a["from"] == 0 and a["cells"] * a["size"] >= a["extent"] for a in axes)
    return {
        "slices": slices, "per": per, "counts": cells, "whole": whole, "wrapped": wrap,
        "ranges": [_places([{**a, "size": a["cells"] * a["size"]}], (0,)) for a in axes],
        "extents": " × ".join(str(a["extent"]) for a in axes), "partners": any(s["points"] for s in slices),
        "axes": [a["axis"] for a in axes], "marks": [k for _, k in marks],
    }  # fmt: skip


# ---- pairs of accesses -----------------------------------------------------------------------------------------
ANSWERS = {
    "cannot-meet": ("apart", "cannot meet"), "proved": ("proved", "disjoint or ordered"),
    "proved-at-launch": ("proved", "disjoint at this grid only"), "race": ("race", "races"), "withheld": ("open", "may race"),
    "refused": ("open", "not analysed"), "undecided": ("open", "not decided"),
}  # fmt: skip
MAX_LISTED = 60


def pairs(told: Json) -> Json:
    """The matrix and the list of the pairs of one configuration."""
    accesses, ledger = told["accesses"], told["pairs"]
    cells = []
    apart: Dict[str, int] = {}
    listed: List[Json] = []
    counts: Dict[str, int] = {}
    for p in ledger:
        kind, words = ANSWERS[p["answer"]]
        counts[kind] = counts.get(kind, 0) + 1
        row, column = min(p["first"], p["second"]), max(p["first"], p["second"])
        # above the diagonal programs, below it threads of one program; the diagonal is halved
        if p["agents"] == "programs":
            cells.append({"x": column, "y": row, "kind": kind, "half": "up" if row == column else ""})
        else:
            cells.append({"x": row, "y": column, "kind": kind, "half": "down" if row == column else ""})
        if kind == "apart":
            apart[p["evidence"] or words] = apart.get(p["evidence"] or words, 0) + 1
        else:
            listed.append({**p, "kind": kind, "words": words})
    order = {"race": 0, "open": 1, "proved": 2}
    listed.sort(key=lambda p: (order[p["kind"]], p["pair"]))
    return {
        "accesses": accesses, "cells": cells, "n": len(accesses), "apart": sorted(apart.items(), key=lambda kv: (-kv[1], kv[0])),
        "listed": listed[:MAX_LISTED], "more": max(0, len(listed) - MAX_LISTED), "counts": counts,
    }  # fmt: skip


# ---- shared memory ---------------------------------------------------------------------------------------------
def timeline(finding: Json) -> Optional[Json]:
    """The partitions of a finding side by side, one row a step; None when the document has no steps."""
    steps = finding.get("timeline") or []
    if not steps:
        return None
    names: List[str] = []
    for s in steps:
        if s["partition"] not in names:
            names.append(s["partition"])
    names.sort(key=lambda n: (n != "default", n))
    rows: List[Json] = []
    signals: Dict[Tuple[Any, Any, Any], List[int]] = {}
    last = None
    for s in steps:
        if last is not None and s["step"] is not None and s["step"] > last + 1:
            rows.append({"gap": s["step"] - last - 1})
        last = s["step"] if s["step"] is not None else last
        number = len(rows)
        key = (s.get("barrier"), s.get("slot"), s.get("phase"))
        after: List[int] = []
        if s.get("barrier") and s["role"] == "wait" and s["step"] is not None:
            after = [rows[i]["number"] for i in signals.get(key, [])]
        if s.get("barrier") and s["role"] == "arrive":
            signals.setdefault(key, []).append(number)
        touched: List[Json] = []
        for x in s["accesses"]:
            if x not in touched:
                touched.append(x)
        rows.append({"mark": None, "barrier": None, "slot": None, "phase": None, **s, "accesses": touched, "gap": 0, "column": names.index(s["partition"]), "number": sum(1 for r in rows if not r["gap"]) + 1, "after": after})
    return {"names": names, "rows": rows, "marked": [r["number"] for r in rows if not r["gap"] and r.get("mark")]}
