"""polyrace.trace: every Triton launch of a program, compiled on the host and decided.

Launches are decided in worker threads and reported in the order in which they were launched.
"""
from __future__ import annotations

import collections
import concurrent.futures
import os
import sys
import threading
import time
from typing import IO, Any

from . import _patch, _triton
from ._launch import Launch, save
from ._record import Recorder, call_site, internal_verdict, reproducer
from ._report import Printer, exit_status, summary
from ._solve import Counters, Question, Solver, answer, bad_input
from .errors import InputError, Interrupted, PolyraceError
from .verdict import Verdict

_BACKLOG = 256  # undecided launches before the program waits


def disabled() -> bool:
    """POLYRACE=0 or off: everything does nothing."""
    return os.environ.get("POLYRACE", "").lower() in ("0", "off")


def shared_by_environment() -> bool:
    return os.environ.get("POLYRACE_SHARED_MEMORY", "") not in ("", "0")


class Trace:
    """A context manager. Inside it every Triton launch is compiled on the host, analysed and, unless `run`, not
    executed. No device is needed; CPU tensors serve.

    `run`         also execute each launch, after its arguments were read.
    `target`      "cuda:90", "hip:gfx942"; default: POLYRACE_TARGET, the device, "cuda:80".
    `verbose`     print a line for proved launches too (also POLYRACE_VERBOSE=1).
    `quiet`       print nothing; the launches have everything.
    `workers`     worker threads; default: one a processor.
    `shared_memory`  compile on to TTGIR and decide shared and tensor memory and barriers too; lengthens each compile
                  (also POLYRACE_SHARED_MEMORY=1).
    `pretend_device`  without a device, answer Triton's questions about it with the target, for programs that ask.
    `options`     those of `polyrace.check`, for example `engine="isl"`, `snapshot_elements=1000`.

    `launches` is the list of what was launched, in order; `wait()` returns when all are decided, leaving the `with`
    does the same.
    """

    def __init__(self, run: bool = False, target: "str | None" = None, *, verbose: bool = False, quiet: bool = False,
                 workers: "int | None" = None, stream: "IO[str] | None" = None, pretend_device: bool = False,
                 shared_memory: "bool | None" = None, **options: Any):
        if target is not None and not isinstance(target, str):
            raise TypeError(f'trace(target=...) is a string such as "cuda:90" or "hip:gfx942", not {target!r}')
        if not isinstance(run, bool):
            raise TypeError(f"trace(run=...) is True or False, not {run!r}")
        if shared_memory not in (None, True, False):
            raise TypeError(f"trace(shared_memory=...) is True or False, not {shared_memory!r}")
        self.run = run
        self.shared_memory = shared_by_environment() if shared_memory is None else bool(shared_memory)
        self.launches: "list[Launch]" = []
        self.disabled = disabled()
        self.printer = Printer(verbose, stream, quiet)
        self.pretend_device = pretend_device
        self._given_target, self._workers, self._options = target, workers, options
        self._lock = threading.RLock()
        self._pending: "collections.deque[tuple[Launch, Question, list[str], list[str], Any]]" = collections.deque()
        self._first: "dict[Any, int]" = {}
        self._entered = False
        self.had_internal_error = False
        self.snapshot_elements = int(options.get("snapshot_elements", 16384))
        self.snapshot_bytes = int(options.get("snapshot_bytes", 256 << 20))
        self.counters = Counters()
        if not self.disabled:
            self.solver = Solver(options, workers)
            self.counters = self.solver.counters

    # ---- entering and leaving -----------------------------------------------------------------------------------
    def __enter__(self) -> "Trace":
        if self._entered:
            raise PolyraceError("this trace was entered already: make a new one for each with statement")
        self._entered = True
        if self.disabled:
            return self
        try:
            import triton  # noqa: F401
        except ImportError as e:
            raise PolyraceError(f"polyrace.trace needs Triton, which cannot be imported: {e}") from e
        self.target, source = _triton.choose_target(self._given_target)
        self.device = _triton.device_target()
        self.foreign_device = ""
        if self.device is not None and _triton.target_name(self.device) != _triton.target_name(self.target):
            self.foreign_device = (f"compiled for {_triton.target_name(self.target)}; "
                                   f"the device is {_triton.target_name(self.device)}")
        self.recorder = Recorder(self)
        _patch.open_trace(self)
        return self

    def __exit__(self, kind: Any, value: Any, tb: Any) -> None:
        if self.disabled:
            return
        _patch.close_trace(self)
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            self._abandon()
            return
        try:
            self.wait()
        except KeyboardInterrupt:
            self._abandon()
            raise
        self.solver.close()

    def _abandon(self) -> None:
        """Ctrl-C: finished verdicts stay, open launches are reported as not analysed."""
        self.solver.cancel()
        with self._lock:
            waiting = [p[4] for p in self._pending]
        concurrent.futures.wait([f for f in waiting if not f.cancelled()], timeout=5)
        self._drain()
        with self._lock:
            left, self._pending = list(self._pending), collections.deque()
        for launch, *_ in left:
            self.printer.decided(launch)

    # ---- launches -----------------------------------------------------------------------------------------------
    def _add(self, launch: Launch) -> None:
        launch.index = len(self.launches)
        self.launches.append(launch)

    def submit(self, launch: Launch, q: Question, notes: "list[str]", qualifiers: "list[str]") -> None:
        """Asks for the verdict of a launch."""
        launch.document = {k: v for k, v in q.document.items() if k not in ("kernel", "version")}
        key = (q.key, launch.site)
        with self._lock:
            self._add(launch)
            launch.repeat = self._first.setdefault(key, launch.index)
            if launch.repeat == launch.index:
                launch.repeat = None
            else:
                launch.document = self.launches[launch.repeat].document  # equal, and may be large
            future = self.solver.ask(q)
            self._pending.append((launch, q, notes, qualifiers, future))
        future.add_done_callback(lambda _: self._drain())
        if len(self._pending) > _BACKLOG:
            concurrent.futures.wait([future])

    def settle(self, launch: Launch, v: Verdict) -> None:
        """A launch whose verdict is known without asking."""
        done: "concurrent.futures.Future[Verdict]" = concurrent.futures.Future()
        done.set_result(v)
        with self._lock:
            self._add(launch)
            self.counters.launches += 1
            self.counters.configs += len(v.configs)
            self._pending.append((launch, None, [], [], done))  # type: ignore[arg-type]
        self._drain()

    def _drain(self) -> None:
        """Reports what is decided, in launch order. Called by whichever thread finishes."""
        with self._lock:
            while self._pending and self._pending[0][4].done():
                launch, q, notes, qualifiers, future = self._pending.popleft()
                if future.cancelled() or isinstance(future.exception(), (Interrupted, concurrent.futures.CancelledError)):
                    self.printer.decided(launch)
                    continue
                try:
                    launch.verdict = self._verdict(launch, q, future, notes, qualifiers)
                except Exception as e:
                    texts = [e.text for e in q.entries if e.text] if q else []
                    launch.verdict = self._report_internal(launch.kernel, launch.site, e, texts, launch.document)
                self.printer.decided(launch)

    def _verdict(self, launch: Launch, q: "Question | None", future: Any, notes: "list[str]",
                 qualifiers: "list[str]") -> Verdict:
        if q is None:
            v = future.result()
        else:
            try:
                v = answer(q, future.result(), launch.site)
            except InputError as e:
                v = bad_input(launch.kernel, q.entries, launch.site, e)
        notes = [n for n in notes if v.rung != "T0"] + launch.notes
        if qualifiers and (v.ok or v.racy):
            v.qualifiers = v.qualifiers + [x for x in qualifiers if x not in v.qualifiers]
            head, _, rest = v.text.partition("\n")
            v.text = head + "\n" + "".join(f"  {x}\n" for x in qualifiers) + rest
        if notes:
            v.notes = v.notes + [n for n in notes if n not in v.notes]
            v.text = v.text.rstrip("\n") + "\n" + "".join(f"  note: {n}\n" for n in notes)
        return v

    # ---- our own mistakes ---------------------------------------------------------------------------------------
    def internal_error(self, name: str, error: BaseException, texts: "list[str]") -> None:
        """Contains an exception of ours: printed once, recorded, and the program goes on."""
        file, line = call_site()
        launch = Launch(name, file=file, line=line, thread=threading.current_thread().name)
        self.settle(launch, self._report_internal(name, launch.site, error, texts, None))

    def _report_internal(self, name: str, where: str, error: BaseException, texts: "list[str]",
                         document: "dict | None") -> Verdict:
        self.had_internal_error = True
        message = f"{type(error).__name__}: {_triton.first_line(error)}"
        if self.printer.once(("internal", message)):
            folder = reproducer(error, texts, document)
            self.printer.write(f"polyrace: internal error (please report): {message}; see {folder}\n")
        return internal_verdict(name, where, message)

    # ---- results ------------------------------------------------------------------------------------------------
    def wait(self) -> "Trace":
        """Returns when every launch so far is decided. Longer waits show progress on a terminal."""
        began = time.monotonic()
        shown = False
        while True:
            with self._lock:
                left = [p[4] for p in self._pending if not p[4].done()]
            if not left:
                break
            concurrent.futures.wait(left[:1], timeout=0.5)
            if time.monotonic() - began > 2 and sys.stderr.isatty() and not self.printer.quiet:
                shown = True
                self.printer.write(f"\rpolyrace: {len(self.launches) - len(left)} of {len(self.launches)} "
                                   "launches decided")
        if shown:
            self.printer.write("\r\033[K")
        self._drain()
        return self

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes the launches with their verdicts; `polyrace.load` reads them, `polyrace check` decides them again."""
        if not self.disabled:
            self.wait()
        save(path, self.launches)

    def summary(self) -> str:
        """The table of kernels and verdicts."""
        return summary(self.launches)

    @property
    def exit_status(self) -> int:
        """What polyrace-run exits with."""
        return exit_status(self.launches, self.had_internal_error)

    def __repr__(self) -> str:
        return f"<polyrace.Trace: {len(self.launches)} launches>"

    def _repr_html_(self) -> str:
        from ._notebook import trace_html
        return trace_html(self.launches)


def trace(run: bool = False, target: "str | None" = None, **options: Any) -> Trace:
    """Analyses every Triton launch of the `with` block that it opens. See `Trace` for the arguments."""
    return Trace(run, target, **options)
