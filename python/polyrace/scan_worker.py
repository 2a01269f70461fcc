"""Decides one unit, and the worker process of a scan: JSON lines in on standard input, JSON lines out.

The parent may die at any moment: end of input ends the worker. A crash of native code loses this process and the
one unit that it was working on, never the scan.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any, Dict

Answer = Dict[str, Any]


def decide(name: str, kind: str, text: str, base_dir: str, options: Dict[str, Any]) -> Answer:
    """``{"verdict": document}`` or ``{"error": {...}}`` of one unit; ``us`` is the time it took."""
    from . import _lib
    from .errors import InputError, InternalError

    start = time.perf_counter()
    raw = text.encode("utf-8", "surrogateescape")
    answer: Answer
    try:
        given = _lib.Options(options)
        if kind == "ttir":
            inputs = _lib.Inputs(given, ttir=raw, name=name)
        else:
            inputs = _lib.Inputs(given, launch=raw, launch_name=name, base_dir=base_dir)
        with inputs as g:
            document = json.loads(g.check()[0])
        document["input"] = name
        answer = {"verdict": document}
    except InputError as e:
        answer = {"error": {"kind": "bad-input", "file": e.file, "line": e.line, "column": e.column, "message": e.message}}
    except InternalError as e:
        answer = {"error": {"kind": "internal", "message": str(e)}}
    except MemoryError:
        answer = {"error": {"kind": "internal", "message": "out of memory"}}
    answer["us"] = int((time.perf_counter() - start) * 1e6)
    return answer


def _fault(name: str) -> None:
    """Test hook ``POLYRACE_SCAN_FAULT=WHAT:PART[:FLAG]``: on units whose name has PART, ``crash`` as native code would, or
    ``hang``; with FLAG only once, when that file does not exist yet."""
    what, _, rest = os.environ.get("POLYRACE_SCAN_FAULT", "").partition(":")
    part, _, flag = rest.partition(":")
    if not part or part not in name:
        return
    if flag:
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
    if what == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif what == "hang":
        time.sleep(3600)


def main() -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # nothing but answers on the pipe
    options: Dict[str, Any] = {}
    for line in sys.stdin:
        task = json.loads(line)
        if "options" in task:
            options = task["options"]
            continue
        _fault(task["name"])
        answer = decide(task["name"], task["kind"], task["text"], task["base_dir"], options)
        answer["id"] = task["id"]
        try:
            out.write(json.dumps(answer) + "\n")
            out.flush()
        except BrokenPipeError:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
