"""polyrace.install: a pre-screen inside Triton's own compile pipeline, for programs that run on a device.

At each compilation the `ttir` stage is followed by a check of the text alone; its outcome becomes the field `polyrace` of
the kernel's metadata, so a cached kernel carries it. A kernel that is proved for every launch costs a launch a look
at its grid and arguments: are the tensors apart, do the integers meet the conditions that the proof names? Any other is decided at its launches, where grid and arguments are known, once per
distinct set of facts.

The stage hook returns a constant pair with an empty key: cache keys and generated code are those of a run without it.
In compile workers (Inductor) outcomes are also written to a folder that the parent process reads.
"""
from __future__ import annotations

import atexit
import glob
import json
import os
import shutil
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Callable

from . import _lib, _patch, _triton
from .errors import InputError, PolyraceError, RaceError
from .verdict import FAULTS

POLICIES = ("warn", "error", "collect")
FIELD = "polyrace"
_SPOOL = "POLYRACE_SPOOL"
_KEY = ("", 0)  # constant: nothing is hashed or read on the launch path
_KNOWN = ((3, 6), (3, 9))


@dataclass
class Screened:
    """What is known about one compiled kernel."""
    kernel: str
    hash: str
    outcome: "dict[str, Any]"
    launches: int = 0
    decided: int = 0
    process: int = field(default_factory=os.getpid)
    conditions: "list | None" = None  # on integer arguments, compiled; None: not looked at yet


class Screen:
    """The installed pre-screen of this process."""

    def __init__(self, policy: str, budget_ms: int, launch_budget_ms: int, strict: bool, verbose: bool,
                 options: "dict[str, Any]"):
        from ._trace import Trace
        self.policy, self.strict = policy, strict
        self.text_options = _lib.Options({**options, "rung": "t0", "budget": budget_ms or None})
        self.trace = Trace(run=True, quiet=policy == "collect", verbose=verbose,
                           **{**options, "budget": launch_budget_ms or None})
        self.kernels: "dict[str, Screened]" = {}
        self.facts: set = set()
        self.compile_us: "list[int]" = []
        self.lock = threading.RLock()
        self.saved: "list[tuple[Any, str, Any]]" = []
        self.pid = os.getpid()
        self.spool = spool_folder()
        self.owner = os.path.basename(self.spool).split("-")[2] == str(self.pid)
        self.read: "dict[str, int]" = {}
        self.done = False

    # ---- installing ----------------------------------------------------------------------------------------------
    def install(self) -> None:
        from triton import knobs
        from triton.compiler.compiler import CompiledKernel
        before = knobs.runtime.add_stages_inspection_hook
        self.saved.append((knobs.runtime, "add_stages_inspection_hook", before))
        knobs.runtime.add_stages_inspection_hook = self._stage_hook(before)
        self.saved.append((CompiledKernel, "run", CompiledKernel.__dict__["run"]))
        CompiledKernel.run = property(self._launcher(CompiledKernel.__dict__["run"].fget))
        from triton.runtime.jit import JITFunction
        pack = JITFunction._pack_args

        def pack_args(fn: Any, backend: Any, kwargs: Any, bound: Any, specialization: Any, options: Any) -> Any:
            # Triton appends a marker of the hook to the specialisation and then reads an attribute out of it, which
            # would give every source another hash than without a hook.
            return pack(fn, backend, kwargs, bound, specialization[:len(fn.params)], options)
        self.saved.append((JITFunction, "_pack_args", pack))
        JITFunction._pack_args = pack_args
        atexit.register(self.finish)

    def uninstall(self) -> None:
        while self.saved:
            owner, name, value = self.saved.pop()
            setattr(owner, name, value)
        atexit.unregister(self.finish)

    # ---- compilation ---------------------------------------------------------------------------------------------
    def _stage_hook(self, before: "Callable | None") -> Callable:
        def hook(backend: Any = None, stages: Any = None, options: Any = None, language: Any = None,
                 capability: Any = None) -> Any:
            if stages is None:
                return before() if before is not None else _KEY
            out = before(backend, stages, options, language, capability) if before is not None else None
            if "ttir" in stages and not getattr(_triton.analysing, "on", False):
                stages["ttir"] = self._after_ttir(stages["ttir"])
            return out
        return hook

    def _after_ttir(self, stage: Callable) -> Callable:
        def ttir(src: Any, metadata: "dict[str, Any]") -> Any:
            module = stage(src, metadata)
            began = time.perf_counter()
            try:
                outcome = self.screen(str(module))
                metadata[FIELD] = outcome
                self._compiled(metadata.get("hash", ""), outcome)
            except Exception as e:  # never breaks a compilation
                self._our_fault("a kernel", e)
            self.compile_us.append(int((time.perf_counter() - began) * 1e6))
            return module
        return ttir

    def screen(self, text: str) -> "dict[str, Any]":
        """The parameter-free claim about a text, small enough for the metadata."""
        from . import __version__
        try:
            with _lib.Inputs(self.text_options, ttir=text.encode()) as g:
                doc = json.loads(g.check()[0])
        except InputError as e:
            return {"version": 1, "polyrace": __version__, "kernel": "", "status": "unsupported", "rung": None,
                    "qualifiers": [], "grid_axes": None,
                    "refusals": [{"kind": "unparsable", "loc": None, "message": str(e)}]}
        keep = ("version", "kernel", "status", "rung", "scope", "qualifiers", "grid_axes", "withheld")
        out = {k: doc.get(k) for k in keep}
        out["polyrace"] = __version__
        out["refusals"] = [{k: r.get(k) for k in ("kind", "loc", "message")} for r in doc["refusals"]]
        return out

    def _compiled(self, key: str, outcome: "dict[str, Any]") -> None:
        with self.lock:
            self.kernels.setdefault(key, Screened(outcome["kernel"], key, outcome))
            if not self.owner or os.getpid() != self.pid:
                path = os.path.join(self.spool, f"{os.getpid()}.jsonl")
                try:
                    os.makedirs(self.spool, mode=0o700, exist_ok=True)
                    with open(path, "a") as f:
                        f.write(json.dumps({"hash": key, "process": os.getpid(), "outcome": outcome}) + "\n")
                except OSError:
                    pass  # the parent is gone, or its folder is

    def collect(self) -> None:
        """Reads what compile workers wrote."""
        for path in sorted(glob.glob(os.path.join(glob.escape(self.spool), "*.jsonl"))):
            try:
                with open(path) as f:
                    f.seek(self.read.get(path, 0))
                    for line in iter(f.readline, ""):
                        if not line.endswith("\n"):
                            break
                        self.read[path] = f.tell()
                        item = json.loads(line)
                        with self.lock:
                            self.kernels.setdefault(item["hash"], Screened(
                                item["outcome"]["kernel"], item["hash"], item["outcome"], process=item["process"]))
            except (OSError, ValueError, KeyError):
                continue

    # ---- launches ------------------------------------------------------------------------------------------------
    def _launcher(self, original: Callable) -> Callable:
        def run(kernel: Any) -> Any:
            launcher = original(kernel)
            if _patch._open or _patch.local.inside:
                return launcher
            known = self._known(kernel)

            def launch(x: int, y: int, z: int, *rest: Any) -> Any:
                known.launches += 1
                if not self._settled(kernel, known, (x, y, z), rest):
                    self._examine(kernel, known, (x, y, z), rest)
                return launcher(x, y, z, *rest)
            return launch
        return run

    def _known(self, kernel: Any) -> Screened:
        known = self.kernels.get(kernel.hash)
        if known is None:
            outcome = getattr(kernel.metadata, FIELD, None)
            if outcome is None:  # compiled before polyrace was installed: its text tells
                try:
                    outcome = self.screen(kernel.asm["ttir"])
                except Exception:
                    outcome = {"kernel": kernel.name, "status": "unsupported", "rung": None, "qualifiers": [],
                               "grid_axes": None, "refusals": []}
            with self.lock:
                known = self.kernels.setdefault(kernel.hash, Screened(outcome["kernel"] or kernel.name, kernel.hash,
                                                                      outcome))
        return known

    def _settled(self, kernel: Any, known: Screened, grid: tuple, rest: tuple) -> bool:
        """Does the claim about the text cover this launch? Its premises about grid and arguments are looked at; that no
        integer overflows is not."""
        o = known.outcome
        if o["status"] != "ok":
            return False
        for extent, axis in zip(grid, "xyz"):
            pinned = (o.get("grid_axes") or {}).get(axis)
            if isinstance(pinned, int) and pinned != extent:
                return False
        if known.conditions is None:
            known.conditions = _conditions(o["qualifiers"])
        apart = any("distinct pointer" in q for q in o["qualifiers"])
        if not apart and not known.conditions:
            return True
        args = _kernel_arguments(kernel, rest)
        for condition in known.conditions:
            try:
                if not eval(condition, {"__builtins__": {}}, args):  # names of arguments, numbers, arithmetic
                    return False
            except Exception:
                return False
        spans: "list[tuple[int, int]]" = []
        if apart and not all(_spans(value, spans) for value in args.values()):
            return False
        spans.sort()
        return all(a[1] <= b[0] for a, b in zip(spans, spans[1:]))

    def _examine(self, kernel: Any, known: Screened, grid: tuple, rest: tuple) -> None:
        try:
            launch = self._decide(kernel, known, grid, rest)
        except (KeyboardInterrupt, RaceError):
            raise
        except Exception as e:
            self._our_fault(known.kernel, e)
            return
        if self.policy != "error" or launch is None or launch.verdict is None:
            return
        v = launch.verdict
        if v.faulty or (self.strict and not v.ok):
            raise RaceError(str(v), v)

    def _decide(self, kernel: Any, known: Screened, grid: tuple, rest: tuple) -> Any:
        from ._record import Asked, Recorder
        args = _kernel_arguments(kernel, rest)
        key = (kernel.hash, grid, tuple(_fact(v) for v in args.values()))
        with self.lock:
            if key in self.facts:
                return None
            if self.policy != "error":  # an error is raised at every such launch
                self.facts.add(key)
        signature = {n: kind for n, kind in kernel.src.signature.items() if n in args}
        b = _triton.Binding(getattr(kernel.src, "fn", None), grid, args, signature, {}, {}, kernel.metadata, ())
        t = self.trace
        t.target, t.device, t.foreign_device = kernel.metadata.target, kernel.metadata.target, ""
        if not hasattr(t, "recorder"):
            t.recorder = Recorder(t)
        with self.lock:
            at = len(t.launches)
            t.recorder.launch(known.kernel, [Asked(b, _triton.config_label(b), text=kernel.asm["ttir"])])
        t.wait()
        known.decided += 1
        return t.launches[at]

    def _our_fault(self, name: str, error: BaseException) -> None:
        self.trace._report_internal(name, "", error, [], None)

    # ---- the end -------------------------------------------------------------------------------------------------
    def unsettled(self) -> "list[Screened]":
        """Kernels that are not proved for every launch and were never decided at one."""
        return [k for k in self.kernels.values() if k.outcome["status"] != "ok" and not k.decided]

    def summary(self) -> str:
        kernels, launches = list(self.kernels.values()), self.trace.launches
        proved = sum(k.outcome["status"] == "ok" for k in kernels)
        racy = sum(x.status in FAULTS for x in launches)
        open_ = sum(x.status != "ok" and x.status not in FAULTS for x in launches)
        workers = len({k.process for k in kernels} - {self.pid})
        text = f"polyrace: {len(kernels)} kernel{'' if len(kernels) == 1 else 's'} compiled"
        if workers:
            text += f" (in {workers} worker process{'' if workers == 1 else 'es'})"
        text += f", {proved} proved for every launch"
        if launches:
            text += (f"; {len(launches)} launch{'' if len(launches) == 1 else 'es'} examined: {racy} with races, "
                     f"{open_} not decided")
        left = len(self.unsettled())
        if left:
            text += f"; {left} not proved and not examined at a launch"
        return text + "\n"

    def finish(self) -> None:
        """At exit: what compile workers found, what was never examined, and the summary of `collect`."""
        if self.done or os.getpid() != self.pid:
            return
        self.done = True
        if not self.owner and not self.trace.launches:
            return  # a compile worker: the parent reports
        self.collect()
        if self.kernels or self.trace.launches:
            if self.policy == "collect":
                sys.stderr.write(self.summary())
            else:
                self._print_unsettled()
                if self.trace.printer.verbose:
                    sys.stderr.write(self.summary())
        if self.owner:
            shutil.rmtree(self.spool, ignore_errors=True)

    def _print_unsettled(self) -> None:
        p = self.trace.printer
        for k in self.unsettled():
            for r in k.outcome["refusals"]:
                loc = r.get("loc") or {}
                place = f"{loc.get('file')}:{loc.get('line')}" if loc.get("line") else "?"
                if p.once(("refused", k.kernel, place, r["kind"])):
                    p.write(f"polyrace: not analysed: {k.kernel} [] {place}: {r['kind']}: {r['message']}\n")


def spool_folder() -> str:
    """Where compile workers leave their outcomes: named in the environment by the first process, made when needed."""
    known = os.environ.get(_SPOOL)
    if not known or len(os.path.basename(known).split("-")) != 4:
        known = os.environ[_SPOOL] = os.path.join(tempfile.gettempdir(),
                                                  f"polyrace-spool-{os.getpid()}-{os.urandom(8).hex()}")
    return known


def _kernel_arguments(kernel: Any, rest: tuple) -> "dict[str, Any]":
    """The kernel's arguments by name: the launcher's come last, with or without the constexprs."""
    signature = kernel.src.signature
    names = list(signature)
    if len(rest) < len(names) + 6:
        names = [n for n in names if signature[n] != "constexpr"]
    return dict(zip(names, rest[len(rest) - len(names):])) if names else {}


def _conditions(qualifiers: "list[str]") -> "list[Any]":
    """The conditions on strides and sizes that a proof names, in Python's notation; one that cannot be computed exactly
    raises when it is asked."""
    out = []
    for q in qualifiers:
        if q.startswith("assumes strides of "):
            text = q.partition(" do not overlap: ")[2]
            try:
                out.append(compile(text if text and "trunc(" not in text else "None < 0", "<condition>", "eval"))
            except SyntaxError:
                out.append(compile("None < 0", "<condition>", "eval"))
    return out


def _spans(value: Any, out: "list[tuple[int, int]]") -> bool:
    """Adds the storages that an argument points into; False when they are not known."""
    if value is None or isinstance(value, (int, float, bool, str)):
        return True
    if isinstance(value, (tuple, list)):
        return all([_spans(v, out) for v in value])
    if hasattr(value, "data_ptr"):
        try:
            storage = value.untyped_storage()  # a kernel may leave a view and stay in its storage
            lo = storage.data_ptr()
            out.append((lo, lo + storage.nbytes()))
            return True
        except Exception:
            return False
    base = getattr(value, "base", None)  # a tensor descriptor
    return base is not None and _spans(base, out)


def _fact(value: Any) -> Any:
    """What distinguishes two launches on the launch path. Contents do not: the first ones are analysed."""
    if hasattr(value, "data_ptr"):
        try:
            return (value.data_ptr(), tuple(value.shape), tuple(value.stride()), str(value.dtype))
        except Exception:
            return id(value)
    if isinstance(value, (int, float, bool, str, type(None))):
        return value
    if isinstance(value, (tuple, list)):
        return tuple(_fact(v) for v in value)
    if getattr(value, "base", None) is not None:
        return tuple(_fact(getattr(value, n, None)) for n in ("base", "shape", "strides", "block_shape", "padding"))
    return repr(value)


_installed: "Screen | None" = None


def install(policy: str = "warn", budget_ms: int = 50, *, launch_budget_ms: int = 1000, strict: bool = False,
            verbose: bool = False, **options: Any) -> "Screen | None":
    """Screens every kernel that Triton compiles or loads in this process from now on.

    `policy`     "warn" prints races and parts not analysed; "error" raises `RaceError` at a launch that races (with
                 `strict` also at one that is not decided); "collect" prints one summary at exit.
    `budget_ms`  bound of the check at a compilation, `launch_budget_ms` of one at a launch; 0 means none.

    The environment variable POLYRACE=warn|error|collect does the same for a program that never imports polyrace,
    compile workers included. Returns None, and changes nothing, under POLYRACE=0 and for a Triton that this version
    does not know (with one printed line).
    """
    global _installed
    from ._trace import disabled
    if policy not in POLICIES:
        raise TypeError(f"policy is one of {', '.join(POLICIES)}, not {policy!r}")
    for name, value in (("budget_ms", budget_ms), ("launch_budget_ms", launch_budget_ms)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise TypeError(f"{name} is a number of milliseconds, 0 for none, not {value!r}")
    if disabled():
        return None
    if _installed is not None:
        uninstall()
    try:
        import triton  # noqa: F401
    except ImportError as e:
        raise PolyraceError(f"polyrace.install needs Triton, which cannot be imported: {e}") from e
    why = _misfit()
    if why:
        sys.stderr.write(f"polyrace: the pre-screen is off: {why}\n")
        return None
    screen = Screen(policy, budget_ms, launch_budget_ms, strict, verbose, options)
    screen.install()
    _installed = screen
    return screen


def uninstall() -> None:
    """Takes the pre-screen out of Triton again."""
    global _installed
    if _installed is not None:
        _installed.uninstall()
        _installed = None


def _misfit() -> "str | None":
    """Why the installed Triton cannot be hooked, or None."""
    try:
        from triton import knobs
        from triton.compiler.compiler import CompiledKernel
    except Exception as e:
        return f"Triton {_triton.triton_version()} is not known ({type(e).__name__}: {e})"
    if not _KNOWN[0] <= _triton.release() <= _KNOWN[1]:
        return (f"Triton {_triton.triton_version()} is not known to this version of polyrace (it knows "
                f"{_KNOWN[0][0]}.{_KNOWN[0][1]} to {_KNOWN[1][0]}.{_KNOWN[1][1]})")
    if not hasattr(knobs.runtime, "add_stages_inspection_hook"):
        return f"Triton {_triton.triton_version()} has no stage hook"
    if not isinstance(CompiledKernel.__dict__.get("run"), property):
        return f"Triton {_triton.triton_version()} launches kernels in a way that is not known"
    return None
