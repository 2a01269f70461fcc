"""polyrace-run (also `python -m polyrace run`): a script under trace, verdicts as its launches happen."""
from __future__ import annotations

import argparse
import json
import os
import runpy
import signal
import sys
import threading
from typing import Any

from . import __version__
from .errors import PolyraceError

_EPILOG = """exit status: 0 every launch proved, 1 a race, deadlock or hazard, 2 something not decided, 3 wrong usage or the script failed,
4 an internal error, 130 interrupted, 143 terminated. A script that ends with a status of its own keeps it when every launch is proved."""


class _Terminated(KeyboardInterrupt):
    """SIGTERM: as an interrupt, with another exit status."""


def _terminate(number: int, frame: Any) -> None:
    raise _Terminated()


def _parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="polyrace-run", epilog=_EPILOG,
        description="Runs a Python program and decides every Triton kernel launch in it on the host. The kernels "
                    "themselves are not executed unless --execute is given; no device is needed.")
    p.add_argument("--target", metavar="TARGET", help='compile for "cuda:90", "hip:gfx942", ... (default: '
                   'POLYRACE_TARGET, the device, "cuda:80")')
    p.add_argument("--execute", action="store_true", help="also execute each launch (needs a device)")
    p.add_argument("--format", choices=("text", "json", "sarif", "html"), default="text",
                   help="what is written at the end (default: text)")
    p.add_argument("--output", metavar="FILE", help="where the document goes (default: standard output)")
    p.add_argument("--save", metavar="FILE", help="save the launches with their verdicts, for polyrace.load")
    p.add_argument("--set", metavar="NAME=VALUE", action="append", default=[],
                   help='an option of "polyrace check", for example --set engine=isl')
    p.add_argument("--bounds", choices=("note", "error"), default="note",
                   help="out-of-bounds accesses found: listed, or also exit status 1")
    p.add_argument("--shared-memory", action="store_true", default=None, help="also compile to TTGIR and decide shared "
                   "memory and barriers; lengthens each compile (default: POLYRACE_SHARED_MEMORY)")
    p.add_argument("--pretend-device", action="store_true", help="without a device, answer the program's questions to "
                   "Triton about it with the target")
    p.add_argument("--workers", type=int, metavar="N", help="worker threads (default: one a processor)")
    p.add_argument("--stats", action="store_true", help="counts and times at the end")
    p.add_argument("--quiet", action="store_true", help="no lines for proved launches")
    p.add_argument("--version", action="version", version=f"polyrace {__version__}")
    p.add_argument("-m", dest="module", action="store_true", help="SCRIPT is a module name")
    p.add_argument("script", metavar="SCRIPT")
    p.add_argument("args", nargs=argparse.REMAINDER, metavar="ARGS")
    return p


def _options(pairs: "list[str]", parser: argparse.ArgumentParser) -> "dict[str, Any]":
    out: "dict[str, Any]" = {}
    for pair in pairs:
        name, eq, value = pair.partition("=")
        if not eq:
            parser.error(f"--set {pair}: NAME=VALUE expected")
        out[name.replace("-", "_")] = value
    return out


def _run_script(script: str, module: bool) -> "tuple[Any, BaseException | None]":
    """The script's own exit status, and the exception that ended it."""
    try:
        if module:
            runpy.run_module(script, run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = os.path.dirname(os.path.abspath(script))
            runpy.run_path(script, run_name="__main__")
        return 0, None
    except SystemExit as e:
        return e.code, None
    except KeyboardInterrupt:
        raise
    except BaseException as e:
        return 3, e


def _print_traceback(e: BaseException) -> None:
    """The traceback of the script, without our frames."""
    import traceback
    here = os.path.dirname(os.path.abspath(__file__))
    tb = e.__traceback__
    while tb is not None and (os.path.dirname(os.path.abspath(tb.tb_frame.f_code.co_filename)) == here
                              or tb.tb_frame.f_globals.get("__name__") in ("runpy", "importlib._bootstrap")):
        tb = tb.tb_next
    traceback.print_exception(type(e), e, tb)


def _document(t: Any, form: str) -> str:
    """The verdicts of all launches as one document."""
    if form == "json":
        return json.dumps({"version": 1, "verdicts": [x.verdict.to_dict() for x in t.launches
                                                      if x.verdict is not None]}, indent=2) + "\n"
    try:
        if form == "sarif":
            from .sarif import to_sarif
            return json.dumps(to_sarif([x.verdict.to_dict() for x in t.launches if x.verdict is not None]), indent=1) + "\n"
        from .html_report import entries_of_launches, render
        return str(render(entries_of_launches(t.launches)))
    except ImportError as e:
        raise PolyraceError(f"--format {form} is not available here: {e}") from None


def _write(path: "str | None", text: str) -> None:
    if path is None:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        with open(path, "w") as f:
            f.write(text)
    except OSError as e:
        raise PolyraceError(f"cannot write {path}: {e.strerror}") from None


def _stats(t: Any) -> str:
    c = t.counters
    return (f"polyrace: {c.launches} launches, {c.configs} configurations, {c.compiled} compiled "
            f"({c.compile_us / 1e3:.1f} ms), {c.solved} solved ({c.decide_us / 1e3:.1f} ms), {c.shared} shared, "
            f"arguments read in {c.snapshot_us / 1e3:.1f} ms\n")


def run(argv: "list[str] | None" = None) -> int:
    """The command. Returns the exit status."""
    parser = _parser()
    try:
        given = parser.parse_args(argv)
    except SystemExit as e:
        return 3 if e.code else 0
    if not given.module and not os.path.isfile(given.script):
        print(f"polyrace-run: {given.script}: no such file", file=sys.stderr)
        return 3
    from ._trace import Trace
    try:
        t = Trace(given.execute, given.target, verbose=not given.quiet, workers=given.workers,
                  pretend_device=given.pretend_device, shared_memory=given.shared_memory, **_options(given.set, parser))
        t.__enter__()
    except SystemExit:
        return 3
    except (PolyraceError, TypeError) as e:
        print(f"polyrace-run: {e}", file=sys.stderr)
        return 3
    sys.argv = [given.script, *given.args]
    failure: "BaseException | None" = None
    code: Any = 0
    interrupted = 0
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)
    try:
        code, failure = _run_script(given.script, given.module)
        t.__exit__(None, None, None)
    except KeyboardInterrupt as e:
        interrupted = 143 if isinstance(e, _Terminated) else 130
        t.__exit__(type(e), e, e.__traceback__)
    if failure is not None:
        _print_traceback(failure)
    return _finish(t, given, code, failure, interrupted)


def _finish(t: Any, given: argparse.Namespace, code: Any, failure: "BaseException | None", interrupted: int) -> int:
    status = t.exit_status if t.launches else 0
    if given.bounds == "error" and status != 1 and any(x.verdict is not None and x.verdict.out_of_bounds
                                                       for x in t.launches):
        status = 1
    try:
        if given.save:
            t.save(given.save)
        if given.format != "text" or given.output:
            _write(given.output, t.summary() if given.format == "text" else _document(t, given.format))
    except PolyraceError as e:
        print(f"polyrace-run: {e}", file=sys.stderr)
        status = 3
    if not t.disabled:
        sys.stderr.write(t.summary())
        if given.stats:
            sys.stderr.write(_stats(t))
    if interrupted:
        return interrupted
    if failure is not None:
        print(f"polyrace: the script failed: {type(failure).__name__}", file=sys.stderr)
        return status if status == 1 else 3
    if isinstance(code, str):
        print(code, file=sys.stderr)
        code = 1
    own = code if isinstance(code, int) else 0
    return status or own


def main(argv: "list[str] | None" = None) -> int:
    """python -m polyrace COMMAND"""
    argv = list(sys.argv[1:] if argv is None else argv)
    if argv[:1] == ["run"]:
        return run(argv[1:])
    if argv[:1] == ["scan"]:
        from .scan_cli import main as scan
        return int(scan(argv[1:]))
    if argv[:1] in (["--version"], ["version"]):
        print(f"polyrace {__version__}")
        return 0
    print("usage: python -m polyrace run [options] SCRIPT [ARGS...]\n"
          "       python -m polyrace scan [options] PATH...", file=sys.stderr)
    return 0 if argv[:1] in (["-h"], ["--help"], ["help"]) else 3


if __name__ == "__main__":
    sys.exit(main())
