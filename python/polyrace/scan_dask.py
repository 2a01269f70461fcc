"""The same scan on a Dask cluster: units travel with the contents of their files, batches come back as results.

Dask gives the batches of a dead worker to another one, and gives a batch up when several workers died with it. It also
blames batches that only waited on such a worker. So the units of a batch that was given up are tried alone, with nothing
else on the cluster; one that is given up then is reported as an internal error, and nothing else is lost.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

from .scan_inputs import Unit, inline

BATCH = 16
Task = Tuple[str, str, str]


def decide_batch(batch: List[Task], options: Dict[str, Any]) -> List[Dict[str, Any]]:
    """Runs on a worker: (name, kind, text) of each unit to its answer."""
    from .scan_worker import _fault, decide

    out = []
    for name, kind, text in batch:
        _fault(name)
        out.append(decide(name, kind, text, "", options))
    return out


def run(
    client: Any,
    units: List[Unit],
    options: Dict[str, Any],
    done: Callable[[Unit, Dict[str, Any]], None],
    tick: Optional[Callable[[], None]] = None,
) -> None:
    """Decides every unit on the cluster of ``client`` and calls ``done(unit, answer)`` in this thread."""
    from distributed import as_completed  # type: ignore[import-not-found]

    queue = [units[i : i + BATCH] for i in range(0, len(units), BATCH)]
    queue.reverse()
    suspects: List[Unit] = []
    open_batches: Dict[str, Tuple[Any, List[Unit]]] = {}
    sequence = as_completed()

    def submit(batch: List[Unit]) -> None:
        ready: List[Unit] = []
        tasks: List[Task] = []
        for unit in batch:
            try:
                packed = inline(unit)
            except OSError as e:
                done(unit, {"error": {"kind": "bad-input", "message": "%s: %s" % (e.filename, e.strerror)}, "us": 0})
                continue
            ready.append(unit)
            tasks.append((packed.name, packed.kind, packed.text))
        if tasks:
            future = client.submit(decide_batch, tasks, options, pure=False)
            open_batches[future.key] = (future, ready)
            sequence.add(future)

    def collect() -> None:
        future = next(sequence)
        batch = open_batches.pop(future.key)[1]
        try:
            answers = future.result()  # computed again when its worker died with the answer
        except Exception as e:  # KilledWorker, CancelledError, or what the worker raised
            if alone:
                done(batch[0], {"error": {"kind": "internal", "message": "%s: %s" % (type(e).__name__, e)}, "us": 0})
            else:
                suspects.extend(batch)
        else:
            for unit, answer in zip(batch, answers):
                done(unit, answer)
        if tick:
            tick()

    alone = False
    try:
        while queue or open_batches:
            while queue and len(open_batches) < 4 * max(1, len(client.nthreads() or {})):
                submit(queue.pop())
            if open_batches:
                collect()
        alone = True
        for unit in suspects:
            submit([unit])
            if open_batches:
                collect()
    finally:
        if open_batches:
            client.cancel([future for future, _ in open_batches.values()], force=True)
