"""Worker processes of a scan.

Every worker has one unit at a time, so it is known which unit killed a worker; that unit is tried once more, in a fresh
worker. A worker that says nothing for ``patience`` seconds is ended in the same way. Worker and parent never both write:
the parent writes only to a worker that waits for a unit.
"""

from __future__ import annotations

import collections
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from typing import Any, Callable, Deque, Dict, List, Optional

from .scan_inputs import Unit


class _Worker:
    def __init__(self, options: Dict[str, Any]) -> None:
        env = dict(os.environ)
        root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        env["PYTHONPATH"] = os.pathsep.join(p for p in (root, env.get("PYTHONPATH", "")) if p)
        env["POLYRACE"] = "0"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "polyrace.scan_worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        os.set_blocking(self.process.stdout.fileno(), False)
        self.buffer = b""
        self.unit: Optional[Unit] = None
        self.since = time.monotonic()
        self.alive = self._send({"options": options})

    def _send(self, value: Dict[str, Any]) -> bool:
        try:
            assert self.process.stdin is not None
            self.process.stdin.write(json.dumps(value).encode() + b"\n")
            self.process.stdin.flush()
            return True
        except OSError:
            return False

    def give(self, unit: Unit) -> None:
        self.since = time.monotonic()
        self.unit = unit
        self._send({"id": unit.key, "name": unit.name, "kind": unit.kind, "text": unit.text, "base_dir": unit.base_dir})

    def answers(self) -> List[Dict[str, Any]]:
        """What has arrived; clears ``alive`` at the end of the pipe."""
        assert self.process.stdout is not None
        try:
            data = self.process.stdout.read()
        except OSError:
            data = b""
        if data is None:
            return []
        if not data:
            self.alive = False
            return []
        *lines, self.buffer = (self.buffer + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def end(self) -> str:
        """Ends the process and says how it ended."""
        if self.process.poll() is None:
            try:
                assert self.process.stdin is not None
                self.process.stdin.close()
            except OSError:
                pass
            if self.unit is not None:
                self.process.kill()
        try:
            code = self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        if code >= 0:
            return "exit status %d" % code
        try:
            return signal.Signals(-code).name
        except ValueError:
            return "signal %d" % -code


def run(
    units: List[Unit],
    options: Dict[str, Any],
    jobs: int,
    done: Callable[[Unit, Dict[str, Any]], None],
    tick: Optional[Callable[[], None]] = None,
    patience: float = 600.0,
) -> None:
    """Decides every unit and calls ``done(unit, answer)`` in this thread, in order of arrival."""
    queue: Deque[Unit] = collections.deque(units)
    tried: Dict[int, int] = {}
    workers: List[_Worker] = []
    selector = selectors.DefaultSelector()

    def start() -> _Worker:
        w = _Worker(options)
        workers.append(w)
        selector.register(w.process.stdout, selectors.EVENT_READ, w)  # type: ignore[arg-type]
        return w

    def lose(w: _Worker, why: str) -> None:
        selector.unregister(w.process.stdout)  # type: ignore[arg-type]
        workers.remove(w)
        how = w.end()
        if w.unit is None:
            raise RuntimeError("a worker process cannot start (%s): %s -m polyrace.scan_worker" % (how, sys.executable))
        tried[id(w.unit)] = tried.get(id(w.unit), 0) + 1
        if tried[id(w.unit)] < 2:
            queue.append(w.unit)
        else:
            done(w.unit, {"error": {"kind": "internal", "message": why or "the worker process ended: " + how}, "us": 0})

    try:
        while queue or any(w.unit for w in workers):
            while len(workers) < jobs and len(queue) > sum(w.unit is None for w in workers):
                start()
            for w in workers:
                if w.unit is None and queue:
                    w.give(queue.popleft())
            for key, _ in selector.select(0.25):
                w = key.data
                for answer in w.answers():
                    unit, w.unit = w.unit, None
                    answer.pop("id", None)
                    done(unit, answer)
                if not w.alive:
                    lose(w, "")
            now = time.monotonic()
            for w in [w for w in workers if w.unit is not None and now - w.since > patience]:
                w.process.kill()
                lose(w, "no answer within %g s" % patience)
            if tick:
                tick()
    finally:
        selector.close()
        for w in workers:
            w.end()
