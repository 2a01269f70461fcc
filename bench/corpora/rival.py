#!/usr/bin/env python3
"""The rival on the same launches: tilelens (PyPI), its race detector and its sanitizer, on CPU tensors.

usage: rival.py CORPUS OUT.jsonl [--seconds 300] [--each 10] [--per-kernel 1]
       rival.py --table REPORT_DIR OUT.jsonl...

The first form drives the same calls as collect.py and gives every kernel launch to tilelens instead of compiling it.
The second joins what it recorded with polyrace's verdicts (REPORT_DIR of report.py) by package, file and kernel.
"""
import argparse
import collections
import importlib
import json
import os
import signal
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


class TimeOut(BaseException):
    pass


def _alarm(*_):
    raise TimeOut


def ask(kernel, client, args, grid, kwargs, limit):
    """(outcome, milliseconds, records) of one tilelens client on one launch."""
    import tilelens

    start = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        traced = tilelens.trace(client=client)(kernel)
        traced.run(*args, grid=grid, warmup=False, **kwargs)
        outcome = "ran"
    except TimeOut:
        outcome = "timeout"
    except (Exception, SystemExit) as e:
        outcome = "%s: %s" % (type(e).__name__, (str(e).strip().split("\n") or [""])[-1][:120])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return outcome, (time.perf_counter() - start) * 1e3, len(getattr(client, "records", []) or [])


def drive(args):
    import pretend

    pretend.a_device()
    import polyrace
    import torch
    from tilelens.clients import RaceDetector, Sanitizer
    from tilelens.core.config import config
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.interpreter import InterpretedFunction
    from triton.runtime.jit import JITFunction

    config.enable_race_detector = True
    torch.manual_seed(0)
    signal.signal(signal.SIGALRM, _alarm)
    driver = importlib.import_module("drive_" + args.corpus)
    seen = collections.Counter()
    traced = None
    start = time.time()
    out = open(args.out, "w")

    def run(self, *a, grid, warmup, **kwargs):
        file = self.fn.__code__.co_filename.split("site-packages/")[-1]
        key = (file, self.fn.__name__)
        if warmup or seen[key] >= args.per_kernel:
            return None
        seen[key] += 1
        row = {"package": args.corpus, "file": file, "kernel": self.fn.__name__}
        saved = {k: kwargs.pop(k) for k in ("num_warps", "num_stages", "num_ctas") if k in kwargs and k not in self.arg_names}
        JITFunction.run, Autotuner.run, InterpretedFunction.run = plain
        try:
            for name, client in (("race", RaceDetector()), ("sanitizer", Sanitizer(abort_on_error=False))):
                row[name], row[name + "_ms"], row[name + "_records"] = ask(self, client, a, grid, dict(kwargs), args.each)
        finally:
            JITFunction.run, Autotuner.run, InterpretedFunction.run = run, first, traced
            kwargs.update(saved)
        out.write(json.dumps(row) + "\n")
        out.flush()
        return None

    def first(self, *a, **kwargs):
        self.nargs = dict(zip(self.arg_names, a))
        self.best_config = self.configs[0]
        return self.fn.run(*a, **{**kwargs, **self.configs[0].all_kwargs()})

    plain = (JITFunction.run, Autotuner.run, InterpretedFunction.run)
    for _, call in driver.calls():
        if time.time() - start > args.seconds:
            break
        with polyrace.trace(quiet=True), pretend.OnCpu():  # for its stand-in of the driver
            before, traced = (JITFunction.run, Autotuner.run), InterpretedFunction.run
            JITFunction.run, Autotuner.run = run, first
            try:
                call()
            except (Exception, TimeOut):
                pass
            finally:
                JITFunction.run, Autotuner.run = before
    print("%s: %d kernels in %.0f s" % (args.corpus, len(seen), time.time() - start))


def table(args):
    from polyrace.scan_store import read_results
    from report import source_of

    ours = {}
    _, results, _ = read_results(os.path.join(args.table, "results.jsonl"))
    lines = {}
    for r in results:
        name = os.path.basename(r["unit"])
        file, index = name[: name.rindex("[")], int(name[name.rindex("[") + 1 : -1])
        if file not in lines:
            lines[file] = open(os.path.join(args.table, "selected", file)).read().splitlines()
        doc = json.loads(lines[file][index])
        if r.get("verdict"):
            ours.setdefault((doc["corpus"]["package"], source_of(doc), doc["kernel"]), []).append(r["verdict"])
    rows = [json.loads(line) for path in args.files for line in open(path)]
    print("| package | kernel | polyrace | ms | tilelens race detector | ms | tilelens sanitizer | ms |\n|---|---|---|---|---|---|---|---|")
    counts = collections.Counter()
    times = {"ours": [], "race": [], "sanitizer": []}
    for row in sorted(rows, key=lambda r: (r["package"], r["file"], r["kernel"])):
        mine = ours.get((row["package"], row["file"], row["kernel"]))
        if not mine:
            continue
        v = mine[0]
        us = sum(v["stats"].get(k, 0) for k in ("parse_us", "lower_us", "decide_us"))
        word = {"ok": "race free (%s)" % v["rung"], "races": "**race**", "unsupported": "not decided", "vacuous": "no claim"}[v["status"]]
        if v["out_of_bounds"]:
            word += ", out of bounds"
        cells = []
        for name, what in (("race", "accesses recorded, no verdict"), ("sanitizer", "out of bounds")):
            outcome = row[name]
            if outcome == "ran":
                n = row[name + "_records"]
                outcome = ("%d %s" % (n, what) if name == "race" else ("out of bounds" if n else "in bounds"))
            counts[(name, row[name].split(":")[0])] += 1
            cells += [outcome.replace("|", "\\|"), "%.0f" % row[name + "_ms"]]
            if row[name] == "ran":
                times[name].append(row[name + "_ms"])
        times["ours"].append(us / 1e3)
        print("| %s | `%s` | %s | %.2f | %s | %s | %s | %s |" % (row["package"], row["kernel"], word, us / 1e3, *cells))
    print("\n%d kernels. " % len(times["ours"]) + "; ".join("%s: %s" % (k, ", ".join("%s %d" % (o, n) for (w, o), n in sorted(counts.items()) if w == k)) for k in ("race", "sanitizer")))
    print("Median time: " + ", ".join("%s %.2f ms" % (k, statistics.median(t)) for k, t in times.items() if t))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--table", metavar="REPORT_DIR")
    p.add_argument("--seconds", type=float, default=300)
    p.add_argument("--each", type=float, default=10)
    p.add_argument("--per-kernel", type=int, default=1)
    p.add_argument("files", nargs="+")
    args = p.parse_args()
    if args.table:
        return table(args)
    args.corpus, args.out = args.files
    return drive(args)


if __name__ == "__main__":
    sys.exit(main())
