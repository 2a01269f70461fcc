"""Recording one launch: bind, compile on the host, read the facts, ask the solver. The program's thread runs this.

An error of the program (arguments that do not bind) is raised as the runtime would raise it. An error of ours is
contained: printed once with a folder to report, recorded as `unsupported (internal)`, and the program goes on.
"""
from __future__ import annotations

import copy
import json
import os
import sys
import tempfile
import threading
import time
import traceback
import types
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable

from . import _facts, _inductor, _patch, _triton
from ._facts import Facts, Snapshot, Uses
from ._launch import Launch
from ._solve import Entry, Question, label, no_text, textless
from .errors import PolyraceError
from .verdict import ConfigVerdict, Refusal, Verdict

if TYPE_CHECKING:
    from ._trace import Trace


@dataclass
class Asked:
    """One configuration as it was launched: its binding, or why it cannot be bound."""
    binding: "_triton.Binding | None"
    config: "dict[str, Any]"
    failure: str = ""
    kind: str = "no-compiled-kernel"  # of the failure
    text: "str | None" = None  # known already (a compiled kernel)
    ttgir: "str | None" = None
    no_ttgir: str = ""  # why there is none although it was asked for
    pre_hook: bool = False
    reset: "frozenset[str]" = frozenset()


class HostKernel:
    """What a launch returns under a trace that does not run it: the text, and a launch of its own."""

    def __init__(self, recorder: "Recorder", asked: Asked, text: "str | None"):
        self._recorder, self._asked = recorder, asked
        self.asm = {"ttir": text or ""}
        self.n_regs, self.n_spills, self.name = 0, 0, ""
        self.metadata = types.SimpleNamespace(shared=0, name="")
        if asked.binding is not None:
            self.name = asked.binding.fn.__name__
            self.metadata = types.SimpleNamespace(**getattr(asked.binding.options, "__dict__", {}))
            self.metadata.shared, self.metadata.name = 0, self.name

    def __getitem__(self, grid: Any) -> Callable:
        def launch(*args: Any, stream: Any = None) -> None:
            self._recorder.again(self._asked, grid, args)
        return launch

    def run(self, x: int, y: int, z: int, *rest: Any) -> None:
        """A launch through the low-level entry: the runtime's arguments end with the kernel's."""
        b = self._asked.binding
        n = len(b.bound) if b is not None else 0
        self._recorder.again(self._asked, (x, y, z), rest[len(rest) - n:] if n else ())


class Unrun:
    """What launches that were analysed and not run would have written. One for the process: a later trace reads the
    same memory. An entry ends with its storage."""

    def __init__(self) -> None:
        self.intervals: "list[_facts.Interval]" = []
        self.launches = 0

    def mark(self, facts: Facts, why: str) -> None:
        for storage, lo, hi in facts.writes:
            if any(s.lo <= lo and hi <= s.hi for s in self.intervals):
                continue
            item = _facts.Interval(lo, hi, why)
            self.intervals.append(item)
            if storage is not None:
                try:
                    weakref.finalize(storage, self.forget, item).atexit = False
                except TypeError:
                    pass

    def forget(self, item: "_facts.Interval") -> None:
        """The storage is gone: its addresses mean nothing any more."""
        try:
            self.intervals.remove(item)
        except ValueError:
            pass

    def reason(self, lo: int, hi: int) -> "str | None":
        for s in list(self.intervals):
            if s.lo < hi and lo < s.hi:
                return s.why
        return None


UNRUN = Unrun()


class Recorder:
    """Turns launches into questions for one trace."""

    def __init__(self, trace: "Trace"):
        self.trace = trace
        self.binders: "dict[int, tuple[Any, Callable]]" = {}
        self.texts: "dict[tuple, Any]" = {}
        self.uses: "dict[str, Uses]" = {}
        self.wrapped: "dict[int, Any]" = {}
        self.lock = threading.RLock()

    # ---- entry points, called by the replaced functions ---------------------------------------------------
    def jit(self, fn: Any, args: tuple, kwargs: "dict[str, Any]", grid: Any, warmup: bool,
            original: Callable[[], Any]) -> Any:
        asked = self._bind(fn, args, kwargs, grid, warmup)
        group = _patch.local.group
        if group is not None:
            group.append(asked)
            return HostKernel(self, asked, None)
        if warmup:
            return original() if self.trace.run else HostKernel(self, asked, self._text_or_none(asked))
        self._contain(fn.__name__, lambda: self.launch(fn.__name__, [asked]), [asked])
        return self._finish(asked, original)

    def tuner(self, tuner: Any, args: tuple, kwargs: "dict[str, Any]", original: Callable[[], Any]) -> Any:
        group = _patch.local.group
        mine: "list[Asked]" = []
        notes: "list[str]" = []
        named = dict(zip(tuner.arg_names, args))
        configs = list(tuner.configs)
        if len(configs) > 1:
            saved, tuner.nargs = getattr(tuner, "nargs", None), named
            try:
                configs = list(tuner.prune_configs(kwargs))
            except Exception as e:
                if self.trace.run:
                    raise
                notes.append(f"pruning the configurations failed ({type(e).__name__}: {_triton.first_line(e)}); "
                             "all of them are analysed")
            finally:
                tuner.nargs = saved
        for config in configs:
            clash = kwargs.keys() & config.kwargs.keys()
            if clash and len(configs) > 1:
                raise ValueError(f"Conflicting meta-parameters: {', '.join(clash)}. Make sure that you don't "
                                 "re-define auto-tuned symbols.")
            self._one_config(tuner, config, args, kwargs, named, mine, notes)
        name = getattr(tuner.base_fn, "__name__", "kernel")
        if group is not None:
            group.extend(mine)
            return HostKernel(self, mine[0], None)
        self._contain(name, lambda: self.launch(name, mine, notes), mine)
        return self._finish(mine[0], original)

    def _one_config(self, tuner: Any, config: Any, args: tuple, kwargs: "dict[str, Any]", named: "dict[str, Any]",
                    mine: "list[Asked]", notes: "list[str]") -> None:
        own_hook = config.pre_hook is not None
        if own_hook and any(_facts._is_descriptor(v) for v in (*named.values(), *kwargs.values())):
            args, kwargs = self._descriptors_of(tuner, config, args, kwargs, named, notes)
        outer, _patch.local.group = _patch.local.group, []
        try:
            tuner.fn.run(*args, **kwargs, **config.all_kwargs())
            found = _patch.local.group
        finally:
            _patch.local.group = outer
        for asked in found:
            asked.config = {**asked.config, **config.kwargs}
            if asked.binding is not None:
                asked.binding.config.update(config.kwargs)
            asked.pre_hook = asked.pre_hook or own_hook or bool(getattr(tuner, "user_defined_pre_hook", False))
            asked.reset = asked.reset | frozenset(tuner.reset_to_zero or ()) | frozenset(tuner.restore_value or ())
        mine.extend(found)

    def _descriptors_of(self, tuner: Any, config: Any, args: tuple, kwargs: "dict[str, Any]",
                        named: "dict[str, Any]", notes: "list[str]") -> "tuple[tuple, dict[str, Any]]":
        """A pre_hook usually gives descriptors the block shape of the configuration. It is called with copies of
        the descriptors and with tensors that have no memory, so it changes nothing of the program's."""
        trial = {k: _shadow(v) for k, v in {**named, **kwargs, **config.all_kwargs()}.items()}
        try:
            config.pre_hook(trial)
        except Exception as e:
            notes.append(f"pre_hook of {label(config.kwargs)} was not applied ({type(e).__name__}: "
                         f"{_triton.first_line(e)})")
            return args, kwargs

        def pick(name: str, value: Any) -> Any:
            if not _facts._is_descriptor(value) or not _facts._is_descriptor(trial.get(name)):
                return value
            out = copy.copy(value)
            for part in ("shape", "strides", "block_shape"):
                setattr(out, part, getattr(trial[name], part))
            return out
        names = list(tuner.arg_names)
        return (tuple(pick(n, v) for n, v in zip(names, args)) + tuple(args[len(names):]),
                {k: pick(k, v) for k, v in kwargs.items()})

    def interpreted(self, fn: Any, args: tuple, kwargs: "dict[str, Any]", grid: Any, warmup: bool,
                    original: Callable[[], Any]) -> Any:
        """TRITON_INTERPRET=1: the source function is compiled for analysis all the same."""
        try:
            jit = _rewrap(fn, self.wrapped)
            asked = self._bind(jit, args, kwargs, grid, warmup)
        except Exception as e:
            asked = Asked(None, {}, f"{_triton.first_line(e)}: unset TRITON_INTERPRET to analyse this kernel")
        failure = self._failure(asked) if asked.binding is not None else ""
        if failure:
            asked = Asked(None, asked.config, f"{failure}: unset TRITON_INTERPRET to analyse this kernel")
        group = _patch.local.group
        if group is not None:
            group.append(asked)
            return None
        if not warmup:
            self._contain(fn.__name__, lambda: self.launch(fn.__name__, [asked]), [asked])
        if self.trace.run:
            with _patch.inside():
                return original()
        return None

    def compiled(self, kernel: Any, grid: Any, args: tuple, original: Callable[[], Any]) -> Any:
        """A launch of a kernel that was compiled before the trace."""
        src = kernel.src
        fn = getattr(src, "fn", None)
        name = getattr(kernel, "name", "kernel")
        if fn is None:
            asked = Asked(None, {}, "the kernel was compiled from a file, not from a JITFunction")
        else:
            signature = dict(zip(fn.arg_names, src.signature.values()))
            b = _triton.Binding(fn, _grid3(grid), dict(zip(fn.arg_names, args)), signature, dict(src.constants),
                                dict(src.attrs), kernel.metadata, ())
            asked = Asked(b, _triton.config_label(b), text=kernel.asm.get("ttir"))
            if self.trace.shared_memory:
                asked.ttgir = kernel.asm.get("ttgir")
                asked.no_ttgir = "" if asked.ttgir else "the compiled kernel keeps no TTGIR"
        self._contain(name, lambda: self.launch(name, [asked]), [asked])
        if self.trace.run:
            with _patch.inside():
                return original()
        return None

    def inductor(self, tuner: Any, args: tuple, kwargs: "dict[str, Any]", original: Callable[[], Any]) -> Any:
        """A launch of a kernel that torch.compile generated."""
        name = str((getattr(tuner, "inductor_meta", None) or {}).get("kernel_name") or
                   getattr(getattr(tuner, "fn", None), "__name__", "kernel"))
        group = _inductor.asked(tuner, args, kwargs)
        self._contain(name, lambda: self.launch(name, group), group)
        if self.trace.run:
            with _patch.inside():
                return original()
        return None

    def again(self, asked: Asked, grid: Any, args: tuple) -> None:
        """A launch of what an un-run launch returned."""
        b = asked.binding
        if b is None or not args:
            return
        again = copy.copy(b)
        again.grid = _grid3(grid)
        names = list(b.bound)
        if len(args) < len(names):  # older callers leave the constexprs out
            names = [n for n in names if b.signature[n] != "constexpr"]
        again.bound = {**b.bound, **dict(zip(names, args))}
        copied = Asked(again, asked.config, text=asked.text, ttgir=asked.ttgir, no_ttgir=asked.no_ttgir)
        self._contain(b.fn.__name__, lambda: self.launch(b.fn.__name__, [copied]), [copied])

    def _finish(self, asked: Asked, original: Callable[[], Any]) -> Any:
        if self.trace.run:
            with _patch.inside():
                return original()
        return HostKernel(self, asked, asked.text)

    # ---- binding and texts ----------------------------------------------------------------------------------
    def _bind(self, fn: Any, args: tuple, kwargs: "dict[str, Any]", grid: Any, warmup: bool) -> Asked:
        target = self.trace.target
        with self.lock:
            known = self.binders.get(id(fn))
            if known is None or known[0] is not fn:
                try:
                    known = self.binders[id(fn)] = (fn, _triton.make_binder(fn, target))
                except _triton.Unavailable as e:
                    return Asked(None, _launch_options(kwargs), str(e), "host-compile-unavailable")
        try:
            b = _triton.bind(fn, known[1], target, args, kwargs)
        except _triton.NoText as e:
            return Asked(None, _launch_options(kwargs), e.message, e.kind)
        except KeyboardInterrupt:
            raise
        except Exception as e:
            if isinstance(e, KeyError) or not _binds(fn, args, kwargs):
                raise  # the runtime refuses this call in the same way
            return Asked(None, _launch_options(kwargs), f"{type(e).__name__}: {_triton.first_line(e)}")
        if not warmup:
            if grid is None:
                raise TypeError(f"{fn.__name__}: a launch needs a grid: kernel[grid](...)")
            b.grid = _triton.canonical_grid(grid, b.bound)
        return Asked(b, _triton.config_label(b))

    def _text(self, asked: Asked) -> "str | None":
        """The TTIR of a configuration, compiled once per specialisation, and its TTGIR where asked for. None for a
        Gluon kernel, which has TTGIR only. Raises NoText."""
        b = asked.binding
        assert b is not None
        if asked.text is not None or asked.ttgir is not None:
            return asked.text
        changed = _triton.changed_global(b.fn)
        if changed:
            raise _triton.NoText("no-compiled-kernel", changed)
        key = (id(b.fn), *b.key)
        with self.lock:
            known = self.texts.get(key)
        if known is None:
            began = time.perf_counter()
            try:
                known = (b.fn, _triton.compile_texts(b, b.target or self.trace.target, self.trace.shared_memory))
            except _triton.NoText as e:  # without its traceback, which holds on to the compiler's objects
                known = (b.fn, (e.kind, e.message))
            with self.lock:
                self.texts[key] = known
                self.trace.counters.compiled += 1
                self.trace.counters.compile_us += int((time.perf_counter() - began) * 1e6)
        if isinstance(known[1], tuple):
            raise _triton.NoText(*known[1])
        texts = known[1]
        asked.text, asked.ttgir, asked.no_ttgir = texts.ttir, texts.ttgir, texts.no_ttgir
        return asked.text

    def _text_or_none(self, asked: Asked) -> "str | None":
        if asked.binding is None:
            return None
        try:
            return self._text(asked)
        except (_triton.NoText, _triton.Unavailable):
            return None

    def _failure(self, asked: Asked) -> str:
        try:
            self._text(asked)
            return ""
        except (_triton.NoText, _triton.Unavailable) as e:
            return str(e)

    def _uses(self, text: str) -> Uses:
        key = _facts.digest(text)
        with self.lock:
            known = self.uses.get(key)
        if known is None:
            from ._check import inputs
            try:
                with inputs(text.encode()) as g:
                    known = _facts.read_uses(g.dump("access"))
            except PolyraceError:
                known = Uses()
            with self.lock:
                self.uses[key] = known
        return known

    # ---- one launch -------------------------------------------------------------------------------------------
    def launch(self, name: str, group: "list[Asked]", notes: "list[str] | None" = None) -> None:
        """Records one launch with its configurations and asks for its verdict."""
        trace = self.trace
        where = call_site()
        notes = list(notes or [])
        snap = Snapshot(trace.snapshot_elements, trace.snapshot_bytes)
        entries, facts, empty = [], [], False
        for asked in group:
            entry, f = self._entry(asked, snap)
            entries.append(entry)
            if f is not None:
                facts.append(f)
                notes.extend(n for n in f.notes if n not in notes)
            empty = empty or bool(entry.grid and min(entry.grid) < 1)
        if trace.foreign_device:
            notes.append(trace.foreign_device)
        launch = Launch(name, file=where[0], line=where[1], thread=threading.current_thread().name, notes=notes)
        extra: "list[str]" = []
        qualifiers: "list[str]" = []
        if UNRUN.launches and any(f.contents or f.scalars for f in facts):
            extra.append("an earlier launch was not run; values are those before it")
        if any(a.pre_hook for a in group) and any(f.contents for f in facts):
            qualifiers.append("assumes contents before pre_hook")
        if empty or not any(e.analysed for e in entries):
            launch.document = textless(entries, _triton.target_name(trace.target), _triton.triton_version())
        if empty:
            trace.settle(launch, _empty_grid(name, launch.site, entries))
        elif not any(e.analysed for e in entries) and not any(e.kind == "compile-failed" for e in entries):
            trace.settle(launch, no_text(name, entries, launch.site))
        else:
            q = Question(name, entries, _triton.target_name(trace.target), _triton.triton_version())
            trace.submit(launch, q, extra, qualifiers)
        for f in facts:
            if not trace.run:
                UNRUN.mark(f, f"written by launch {launch.index} ({launch.kernel}), which was not run")
            elif any(UNRUN.reason(lo, hi) for lo, hi in f.spans):
                UNRUN.mark(f, f"written by launch {launch.index} ({launch.kernel}), which read what was not run")
        UNRUN.launches += not trace.run

    def _entry(self, asked: Asked, snap: Snapshot) -> "tuple[Entry, Facts | None]":
        if asked.binding is None:
            return Entry(asked.config, kind=asked.kind, message=asked.failure), None
        try:
            text = self._text(asked)
        except _triton.NoText as e:
            return Entry(asked.config, kind=e.kind, message=e.message), None
        except _triton.Unavailable as e:
            return Entry(asked.config, kind="host-compile-unavailable", message=str(e)), None
        b = asked.binding
        uses = self._uses(text) if text is not None else Uses()
        began = time.perf_counter()
        no_contents = "a pre-run hook may change it" if getattr(b.fn, "pre_run_hooks", None) else None
        f = _facts.read_arguments(_triton.text_arguments(b), uses, snap, UNRUN.reason, set(asked.reset),
                                  no_contents)
        self.trace.counters.snapshot_us += int((time.perf_counter() - began) * 1e6)
        entry = Entry(asked.config, text, list(b.grid or ()) or None, f.args, ttgir=asked.ttgir, no_ttgir=asked.no_ttgir)
        return entry, f

    # ---- our own mistakes -----------------------------------------------------------------------------------------
    def _contain(self, name: str, work: Callable[[], None], group: "list[Asked]") -> None:
        try:
            work()
        except (KeyboardInterrupt, PolyraceError):
            raise
        except Exception as e:
            self.trace.internal_error(name, e, [a.text for a in group if a.text])


def _shadow(value: Any) -> Any:
    """A stand-in for a pre_hook to work on."""
    if _facts._is_descriptor(value):
        out = copy.copy(value)
        out.base = _shadow(value.base)
        for part in ("shape", "strides", "block_shape"):
            if isinstance(getattr(out, part), list):
                setattr(out, part, list(getattr(out, part)))
        return out
    if hasattr(value, "data_ptr") and hasattr(value, "to"):
        return value.detach().to("meta") if hasattr(value, "detach") else value
    return value


def _launch_options(kwargs: "dict[str, Any]") -> "dict[str, Any]":
    """What is known of a configuration that cannot be bound."""
    return {k: kwargs[k] for k in ("num_warps", "num_ctas", "num_stages") if isinstance(kwargs.get(k), int)}


def _grid3(grid: Any) -> "tuple[int, int, int]":
    return _triton.canonical_grid(grid, {})


def _binds(fn: Any, args: tuple, kwargs: "dict[str, Any]") -> bool:
    """Do the arguments fit the kernel's parameters? If not, the call is the program's mistake."""
    try:
        fn.signature.bind(*args, **{k: v for k, v in kwargs.items() if k in fn.signature.parameters})
        return True
    except TypeError:
        return False


def _empty_grid(name: str, where: str, entries: "list[Entry]") -> Verdict:
    note = "the grid is empty: nothing runs"
    configs = [ConfigVerdict(config=e.config, status="vacuous", notes=[note]) for e in entries]
    v = Verdict(kernel=name, input=where, status="vacuous", notes=[note], configs=configs)
    v.text = f"{name}: no claim: the premises admit no execution  [{where}]\n  note: {note}\n"
    return v


def call_site() -> "tuple[str, int]":
    """File and line of the program that launches: the first frame outside Triton and this package."""
    frame = sys._getframe(1)
    here = os.path.dirname(os.path.abspath(__file__))
    last = ("", 0)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        file = frame.f_code.co_filename
        last = (file, frame.f_lineno)
        if not (module == "triton" or module.startswith("triton.") or os.path.dirname(os.path.abspath(file)) == here):
            return last
        frame = frame.f_back  # type: ignore[assignment]
    return last


def _rewrap(fn: Any, done: "dict[int, Any]") -> Any:
    """A JITFunction of an interpreted function, with the interpreted functions that it calls re-wrapped too."""
    from triton.runtime.interpreter import InterpretedFunction
    from triton.runtime.jit import JITFunction
    known = done.get(id(fn))
    if known is not None:
        return known
    source = fn.fn
    scope = dict(source.__globals__)
    body = types.FunctionType(source.__code__, scope, source.__name__, source.__defaults__, source.__closure__)
    body.__kwdefaults__, body.__qualname__, body.__module__ = source.__kwdefaults__, source.__qualname__, source.__module__
    body.__annotations__ = dict(source.__annotations__)
    keep = {k: v for k, v in (getattr(fn, "kwargs", None) or {}).items()
            if k in ("version", "do_not_specialize", "do_not_specialize_on_alignment", "debug", "noinline", "repr",
                     "launch_metadata")}
    out = done[id(fn)] = JITFunction(body, **keep)
    out.__polyrace_source__ = fn  # keeps the id alive
    for name in source.__code__.co_names:
        value = source.__globals__.get(name)
        if isinstance(value, InterpretedFunction):
            scope[name] = _rewrap(value, done)
    return out


def reproducer(error: BaseException, texts: "list[str]", document: "dict | None" = None) -> str:
    """A folder with what is needed to reproduce an internal error."""
    folder = tempfile.mkdtemp(prefix="polyrace-report-")
    from . import __version__
    with open(os.path.join(folder, "error.txt"), "w") as f:
        f.write(f"polyrace {__version__}, Python {sys.version}\n")
        f.write("".join(traceback.format_exception(type(error), error, error.__traceback__)))
    for k, text in enumerate(texts):
        with open(os.path.join(folder, f"kernel{k}.ttir"), "w") as f:
            f.write(text)
    if document is not None:
        with open(os.path.join(folder, "launch.json"), "w") as f:
            json.dump(document, f)
    return folder


def internal_verdict(name: str, where: str, message: str) -> Verdict:
    refusal = Refusal(kind="internal", message=message, hint="please report it")
    v = Verdict(kernel=name, input=where, status="unsupported", refusals=[refusal],
                configs=[ConfigVerdict(status="unsupported", refusals=[refusal])])
    v.text = f"{name}: not decided: neither a race nor a proof  [{where}]\n\n  not analysed: {where}: internal: {message}\n"
    return v
