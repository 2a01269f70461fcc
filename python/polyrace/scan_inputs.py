"""Finds the launches below some paths: what a scan has to decide.

A *unit* is one launch, or one kernel text without a launch. Units are listed in a fixed order (sorted paths, then
position in the file), each with two digests of everything that its verdict may depend on:

- ``key``: the content as it is, so that a stored verdict can be used again;
- ``memo``: the same with source positions taken out of the kernel text. Two units with the same memo key share
  one solve when the verdict names no position.

Understood: ``.ttir`` files; launch files ``.json``, ``.jsonl``; Triton's cache and dump directories (a text with its
metadata beside it). A text that a launch file names belongs to that launch and is not taken a second time.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional, Tuple

#: Fields of a launch file that name other files; the files' contents count, not the spelling of the path.
_FILE_FIELDS = ("ttir", "ttgir")
#: Fields of a saved trace or a corpus that say where a launch came from, not what it is.
_ORIGIN = ("recorded", "verdict", "corpus")
_LAUNCH_FIELDS = ("ttir", "ttgir", "ttir_text", "ttgir_text", "configs", "launches", "compile_error")
_POSITION = re.compile(r'"(?:[^"\\\n]|\\.)*":\d+:\d+(?: to (?:(?:"(?:[^"\\\n]|\\.)*")?:)?\d*:?\d+)?')


@dataclass
class Unit:
    """One launch (or one text), ready to be decided by any process."""

    name: str  #: path as given plus ``[index]`` for one of several launches in a file
    kind: str  #: ``launch`` or ``ttir``
    text: str  #: the launch document or the kernel text
    base_dir: str  #: where relative paths of the document start
    key: str = ""
    memo: str = ""
    error: Optional[str] = None  #: why it cannot be read; then there is nothing to decide
    source: str = ""  #: absolute path of the file
    texts: List[str] = field(default_factory=list)  #: digests of kernel texts without any location


@dataclass
class Found:
    """What a walk found beside its units."""

    skipped: Dict[str, int] = field(default_factory=dict)
    errors: List[str] = field(default_factory=list)

    def skip(self, why: str) -> None:
        self.skipped[why] = self.skipped.get(why, 0) + 1


def strip_positions(text: str) -> str:
    """The kernel text with every ``"file":line:column`` replaced; names in locations stay."""
    return _POSITION.sub('"":0:0', text)


def strip_locations(text: str) -> str:
    """The kernel text without locations at all: what two compiles of one kernel have in common."""
    out: List[str] = []
    for line in text.split("\n"):
        if line.lstrip().startswith("#loc"):
            continue
        cut = _cut_locations(line).rstrip()
        if cut:
            out.append(cut)
    return "\n".join(out)


def _cut_locations(line: str) -> str:
    while True:
        start = line.find("loc(")
        while start > 0 and (line[start - 1].isalnum() or line[start - 1] in "_.#"):
            start = line.find("loc(", start + 1)
        if start < 0:
            return line
        depth, i, quoted = 0, start + 3, False
        while i < len(line):
            c = line[i]
            if quoted:
                if c == "\\":
                    i += 1
                elif c == '"':
                    quoted = False
            elif c == '"':
                quoted = True
            elif c == "(":
                depth += 1
            elif c == ")":
                depth -= 1
                if depth == 0:
                    break
            i += 1
        line = line[:start].rstrip() + line[i + 1 :]


def _digest(value: str) -> str:
    return hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()


def _read(path: str) -> str:
    with open(path, "r", encoding="utf-8", errors="surrogateescape", newline="") as f:
        return f.read()


class _Resolver:
    """Replaces file names in a launch document by digests of the files' contents, remembering each file once."""

    def __init__(self) -> None:
        self.seen: Dict[str, Tuple[str, str, str]] = {}

    def text(self, path: str) -> Tuple[str, str, str]:
        real = os.path.realpath(path)
        if real not in self.seen:
            content = _read(path)
            self.seen[real] = (
                _digest(content),
                _digest(strip_positions(content)),
                _digest(strip_locations(content)),
            )
        return self.seen[real]

    def keys(self, doc: Dict[str, Any], base: str) -> Tuple[str, str, List[str], List[str]]:
        """(key, memo key, digests of the texts, files that it names) of one launch document."""
        texts: List[str] = []
        files: List[str] = []

        def walk(value: Any, which: int) -> Any:
            if isinstance(value, dict):
                out: Dict[str, Any] = {}
                for k, v in value.items():
                    if k in _FILE_FIELDS and isinstance(v, str):
                        path = os.path.join(base, v)
                        three = self.text(path)
                        out[k + "_digest"] = three[which]
                        if which == 0:
                            files.append(os.path.realpath(path))
                            texts.append(three[2])
                    elif k in ("ttir_text", "ttgir_text") and isinstance(v, str):
                        out[k[:-5] + "_digest"] = _digest(strip_positions(v) if which else v)
                        if which == 0:
                            texts.append(_digest(strip_locations(v)))
                    elif k == "values_file" and isinstance(v, str):
                        with open(os.path.join(base, v), "rb") as f:
                            out[k] = hashlib.blake2b(f.read(), digest_size=20).hexdigest()
                    else:
                        out[k] = walk(v, which)
                return out
            if isinstance(value, list):
                return [walk(v, which) for v in value]
            return value

        # Arguments and configurations keep their order: it can bind positions and order findings.
        key = _digest(json.dumps(walk(doc, 0), separators=(",", ":")))
        memo = _digest(json.dumps(walk(doc, 1), separators=(",", ":")))
        return key, memo, texts, files


def is_launch(doc: Any) -> bool:
    """Does this JSON value look like a launch document (and not like any other JSON file)?"""
    return isinstance(doc, dict) and any(f in doc for f in _LAUNCH_FIELDS) and "status" not in doc


def is_triton_metadata(doc: Any) -> bool:
    """Is this the metadata that Triton writes beside a compiled kernel?"""
    return isinstance(doc, dict) and "num_warps" in doc and "target" in doc and "args" not in doc


def argument_count(text: str) -> int:
    """Number of arguments of the public function of a kernel text; -1 when there is none."""
    start = text.find("tt.func public @")
    start = text.find("(", start) if start >= 0 else -1
    if start < 0:
        return -1
    depth, quoted, count, i = 0, False, 0, start
    while i < len(text):
        c = text[i]
        if quoted:
            if c == "\\":
                i += 1
            elif c == '"':
                quoted = False
        elif c == '"':
            quoted = True
        elif c in "([{<":
            depth += 1
        elif c in ")]}" or (c == ">" and text[i - 1] != "-"):
            depth -= 1
            if depth == 0:
                return count
        elif c == "%" and depth == 1:
            count += 1
        i += 1
    return -1


def from_metadata(ttir_name: str, text: str, meta: Dict[str, Any]) -> Dict[str, Any]:
    """A launch document for a text of Triton's cache: configuration known, grid and arguments open."""
    match = re.search(r"tt\.func public @([\w.$-]+)\(", text)
    target = meta.get("target")
    if isinstance(target, dict):
        target = "%s:%s" % (target.get("backend"), target.get("arch"))
    doc: Dict[str, Any] = {
        "version": 1,
        "kernel": match.group(1) if match else os.path.splitext(os.path.basename(ttir_name))[0],
        "ttir": os.path.basename(ttir_name),
        "grid": None,
        "args": [None] * max(argument_count(text), 0),
        "config": {k: meta[k] for k in ("num_warps", "num_ctas", "num_stages") if isinstance(meta.get(k), int)},
    }
    if target:
        doc["target"] = str(target)
    if meta.get("triton_version"):
        doc["triton"] = str(meta["triton_version"])
    return doc


def _files(path: str, found: Found) -> Iterator[str]:
    if not os.path.isdir(path):
        yield path
        return

    def trouble(e: OSError) -> None:
        found.errors.append("%s: %s" % (e.filename, e.strerror))

    for root, dirs, names in os.walk(path, onerror=trouble):
        dirs.sort()
        for name in sorted(names):
            if name.endswith((".ttir", ".ttgir", ".json", ".jsonl")):
                yield os.path.join(root, name)


def find_units(paths: List[str], found: Optional[Found] = None) -> List[Unit]:
    """Every unit below the paths, in a fixed order; files that cannot be read become units with an error."""
    found = Found() if found is None else found
    resolver = _Resolver()
    units: List[Unit] = []
    texts: List[Tuple[int, str]] = []  # position in units, path
    metadata: Dict[str, Dict[str, Any]] = {}
    claimed: set = set()
    named = {os.path.realpath(p) for p in paths if not os.path.isdir(p)}
    seen: set = set()

    def launches(path: str, doc: Any, name: str) -> None:
        base = os.path.dirname(os.path.abspath(path))
        many = doc.get("launches")
        items = many if isinstance(many, list) else [doc]
        for i, item in enumerate(items):
            label = "%s[%d]" % (name, i) if isinstance(many, list) else name
            unit = Unit(label, "launch", "", base, source=os.path.abspath(path))
            if isinstance(many, list) and isinstance(item, dict):
                item = {"version": doc.get("version", 1), **item}
            if isinstance(item, dict):
                item = {k: v for k, v in item.items() if k not in _ORIGIN}
            unit.text = json.dumps(item)
            try:
                unit.key, unit.memo, unit.texts, files = resolver.keys(item, base)
                claimed.update(files)
            except OSError as e:
                unit.error = "%s: %s" % (e.filename, e.strerror)
            except (AttributeError, TypeError, ValueError) as e:
                unit.error = "not a launch: %s" % e
            if unit.error:
                unit.key = unit.memo = _digest(unit.text + "\0" + unit.error)
            units.append(unit)

    def bad(path: str, why: str) -> None:
        units.append(Unit(path, "launch", "", ".", _digest(path + "\0" + why), "", why, os.path.abspath(path)))

    for top in paths:
        for path in _files(top, found):
            real = os.path.realpath(path)
            if real in seen:
                continue
            seen.add(real)
            try:
                if path.endswith(".ttir"):
                    texts.append((len(units), path))
                elif path.endswith(".ttgir"):
                    if real in named:
                        bad(path, "a TTGIR text; use: polyrace check " + path)
                    else:
                        found.skip("TTGIR texts (shared memory: polyrace check FILE.ttgir)")
                elif path.endswith(".jsonl"):
                    _lines(path, launches, bad, found, real in named)
                else:
                    doc = json.loads(_read(path))
                    if is_launch(doc):
                        launches(path, doc, path)
                    elif is_triton_metadata(doc):
                        metadata[real[:-5]] = doc
                    elif real in named:
                        bad(path, "not a launch file")
                    else:
                        found.skip("JSON files that are not launch files")
            except OSError as e:
                bad(path, e.strerror or str(e))
            except ValueError as e:
                if real in named:
                    bad(path, "not JSON: %s" % e)
                else:
                    found.skip("files that are not JSON")
    # Texts last: by now it is known which belong to a launch and which have metadata beside them.
    alone: List[Tuple[int, Unit]] = []
    for at, path in texts:
        real = os.path.realpath(path)
        if real in claimed:
            found.skip("texts that a launch file names (decided with it)")
            continue
        try:
            content = _read(path)
        except OSError as e:
            alone.append((at, Unit(path, "ttir", "", ".", _digest(path), "", e.strerror, os.path.abspath(path))))
            continue
        base = os.path.dirname(os.path.abspath(path))
        meta = metadata.get(real[:-5])
        three = resolver.text(path)
        if meta is not None and argument_count(content) >= 0:
            doc = from_metadata(path, content, meta)
            key, memo, names, _ = resolver.keys(doc, base)
            unit = Unit(path, "launch", json.dumps(doc), base, key, memo, None, os.path.abspath(path), names)
        else:
            unit = Unit(path, "ttir", content, base, three[0], three[1], None, os.path.abspath(path), [three[2]])
        alone.append((at, unit))
    for at, unit in reversed(alone):
        units.insert(at, unit)
    return units


def _lines(path: str, launches: Any, bad: Any, found: Found, named: bool) -> None:
    with open(path, "r", encoding="utf-8", errors="surrogateescape") as f:
        for number, line in enumerate(f, 1):
            if not line.strip():
                continue
            try:
                doc = json.loads(line)
            except ValueError as e:
                bad("%s[%d]" % (path, number - 1), "line %d is not JSON: %s" % (number, e))
                continue
            if is_launch(doc):
                launches(path, doc, "%s[%d]" % (path, number - 1))
            elif isinstance(doc, dict) and ("polyrace_scan" in doc or "status" in doc):
                found.skip("JSON Lines files that hold results")
                return
            elif named:
                bad("%s[%d]" % (path, number - 1), "line %d is not a launch" % number)
            else:
                found.skip("JSON Lines files that are not launches")
                return


def inline(unit: Unit) -> Unit:
    """The same unit with every file that it names inside the document: for a machine that has no such files."""
    if unit.kind != "launch" or unit.error:
        return unit

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            out: Dict[str, Any] = {}
            for k, v in value.items():
                if k in _FILE_FIELDS and isinstance(v, str):
                    out[k + "_text"] = _read(os.path.join(unit.base_dir, v))
                elif k == "values_file" and isinstance(v, str):
                    import base64

                    with open(os.path.join(unit.base_dir, v), "rb") as f:
                        out["values_b64"] = base64.b64encode(f.read()).decode("ascii")
                else:
                    out[k] = walk(v)
            return out
        if isinstance(value, list):
            return [walk(v) for v in value]
        return value

    return Unit(
        unit.name, unit.kind, json.dumps(walk(json.loads(unit.text))), "", unit.key, unit.memo, None, unit.source
    )
