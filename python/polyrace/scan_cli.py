"""``polyrace scan`` and ``python -m polyrace scan``."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from typing import Any, Dict, List, Optional, TextIO

# Options of the analysis, as the C program spells them; the library checks the values.
_ANALYSIS = (
    "engine", "rung", "atomic-order", "dep-order", "program-order", "budget", "max-ops", "first-ops", "z3-rlimit",
    "max-leaves", "t0-timeout", "t1-timeout", "snapshot-elements", "snapshot-bytes", "max-nesting", "max-text", "max-memory",
)  # fmt: skip
_FLAGS = ("no-pretest", "cross-check", "accept-premises")


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="polyrace scan",
        description="Decides every launch below the paths: .ttir texts, launch files (.json, .jsonl), Triton's cache and dump directories.",
        epilog="exit status: 3 bad input, 1 a race, 4 an internal error, 2 something undecided, 0 everything proved",
    )
    p.add_argument("paths", nargs="+", metavar="PATH")
    p.add_argument("--results", metavar="FILE", help="result file: keeps every result, and an interrupted scan goes on from it")
    p.add_argument("--restart", action="store_true", help="decide everything again, whatever the result file holds")
    p.add_argument("--jobs", type=int, metavar="N", help="worker processes (default: processors)")
    p.add_argument("--dask", metavar="ADDRESS", help="decide on the Dask cluster with this scheduler")
    p.add_argument("--patience", type=float, default=600.0, metavar="S", help="give a launch up when its worker is silent for so long (default 600)")
    p.add_argument("--format", choices=("text", "json", "jsonl", "sarif", "html"), default="text")
    p.add_argument("--output", metavar="FILE", help="write there instead of standard output")
    p.add_argument("--bounds", choices=("note", "error"), default="note", help="accesses out of bounds: listed, or also exit status 1")
    p.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    for name in _ANALYSIS:
        p.add_argument("--" + name, metavar="VALUE", help=argparse.SUPPRESS)
    for name in _FLAGS:
        p.add_argument("--" + name, action="store_true", help=argparse.SUPPRESS)
    p.add_argument("--assume", action="append", metavar="EXPR", help=argparse.SUPPRESS)
    return p


def _options(args: argparse.Namespace) -> Dict[str, Any]:
    out: Dict[str, Any] = {}
    for name in _ANALYSIS:
        value = getattr(args, name.replace("-", "_"))
        if value is not None:
            out[name.replace("-", "_")] = value
    for name in _FLAGS:
        if getattr(args, name.replace("-", "_")):
            out[name.replace("-", "_")] = True
    if args.assume:
        out["assume"] = args.assume
    return out


class _Stop(BaseException):
    def __init__(self, code: int) -> None:
        self.code = code


def _stop(number: int, _: Any) -> None:
    raise _Stop(128 + number)


def main(argv: Optional[List[str]] = None) -> int:
    args = parser().parse_args(argv)
    if args.jobs is not None and args.jobs < 1:
        return _usage("--jobs: at least 1")
    from .errors import PolyraceError
    from .scan_run import scan

    try:
        out: TextIO = open(args.output, "w", encoding="utf-8") if args.output else sys.stdout
    except OSError as e:
        return _usage("%s: %s" % (args.output, e.strerror))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    client = None
    try:
        if args.dask:
            try:
                from distributed import Client  # type: ignore[import-not-found]
            except ImportError:
                return _usage("--dask needs the package distributed (pip install 'polyrace[dask]')")
            client = Client(args.dask)
        found = scan(
            args.paths, results=args.results, restart=args.restart, jobs=args.jobs, client=client,
            patience=args.patience, options=_options(args),
        )  # fmt: skip
    except _Stop as stop:
        hint = "the same command goes on from %s" % args.results if args.results else "with --results FILE a scan can be resumed"
        print("polyrace: stopped; " + hint, file=sys.stderr)
        return stop.code
    except (PolyraceError, TypeError, RuntimeError, OSError) as e:
        return _usage(str(e))
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        if client is not None:
            client.close()
    for message in found.errors:
        print("polyrace: " + message, file=sys.stderr)
    if found.trouble:
        print("polyrace: cannot write results: %s; they are only printed" % found.trouble, file=sys.stderr)
    if not found.results:
        print("polyrace: no launch and no kernel text below %s" % ", ".join(args.paths), file=sys.stderr)
    for what, n in sorted(found.skipped.items()):
        print("polyrace: passed over: %d %s" % (n, what), file=sys.stderr)
    _write(found, args, out)
    status = found.exit_status
    if args.bounds == "error" and status in (0, 2, 4) and any(d.get("out_of_bounds") for d in found.documents):
        status = 1
    return status if found.results else 3


def _write(found: Any, args: argparse.Namespace, out: TextIO) -> None:
    from . import scan_summary

    if args.format == "text":
        color = args.color == "always" or (args.color == "auto" and out.isatty() and "NO_COLOR" not in os.environ)
        scan_summary.write_text(found.results, found.summary, out, color)
    elif args.format == "json":
        json.dump({"version": 1, "verdicts": found.documents, "summary": found.summary}, out, indent=1)
        out.write("\n")
    elif args.format == "jsonl":
        for document in found.documents:
            out.write(json.dumps(document) + "\n")
    elif args.format == "sarif":
        from .sarif import to_sarif

        errors = [r for r in found.results if r.get("error")]
        json.dump(to_sarif(found.documents, errors=errors), out, indent=1)
        out.write("\n")
    else:
        from .html_report import render, entries_of_scan

        out.write(render(entries_of_scan(found)))
    if out is not sys.stdout:
        out.close()
    else:
        out.flush()


def _usage(message: str) -> int:
    print("polyrace scan: " + message, file=sys.stderr)
    return 3


if __name__ == "__main__":
    sys.exit(main())
