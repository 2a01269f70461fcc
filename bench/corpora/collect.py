#!/usr/bin/env python3
"""Drives the public operations of a package with CPU tensors under `polyrace.trace` and keeps every distinct launch.

usage: collect.py CORPUS OUT.jsonl [--target cuda:90] [--seconds 600] [--only PART] [--verbose]

Nothing of the package is copied: the file holds texts and facts that the installed package produced. No kernel is
executed. A call that fails does so after its launches; the failure is counted and printed.
"""
import argparse
import collections
import hashlib
import importlib
import json
import os
import random
import signal
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


class TimeOut(BaseException):
    pass


def _alarm(*_):
    raise TimeOut


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("corpus")
    p.add_argument("out")
    p.add_argument("--target", default="cuda:90")
    p.add_argument("--seconds", type=float, default=600, help="stop after so long")
    p.add_argument("--call-seconds", type=int, default=60)
    p.add_argument("--only", default="", metavar="PART", help="only calls whose name has PART")
    p.add_argument("--verbose", action="store_true")
    args = p.parse_args()
    import pretend

    pretend.a_device()
    import torch

    torch.manual_seed(0)
    random.seed(0)
    import polyrace
    from polyrace.scan_inputs import strip_locations

    driver = importlib.import_module("drive_" + args.corpus)
    signal.signal(signal.SIGALRM, _alarm)
    start = time.time()
    seen, kernels = set(), collections.Counter()
    calls = failures = launches = bare = 0
    with open(args.out, "w") as out:
        for name, call in driver.calls():
            if time.time() - start > args.seconds:
                print("stopped: out of time", file=sys.stderr)
                break
            if args.only not in name:
                continue
            calls += 1
            error = ""
            trace = polyrace.trace(target=args.target, quiet=True)
            signal.alarm(args.call_seconds)
            try:
                with trace, pretend.OnCpu():
                    call()
            except TimeOut:
                error = "timeout"
            except Exception as e:
                error = "%s: %s" % (type(e).__name__, str(e).split("\n")[0][:160])
                if args.verbose:
                    traceback.print_exc()
            finally:
                signal.alarm(0)
            new = 0
            for launch in trace.launches:
                launches += 1
                doc = launch.document
                texts = [c.get("ttir_text", "") for c in doc.get("configs", [doc])]
                if not any(texts):
                    bare += 1
                    if launch.verdict is not None:
                        error = error or "no text: " + "; ".join(r.message for r in launch.verdict.refusals)[:160]
                    continue
                key = hashlib.sha256(json.dumps([launch.kernel, [strip_locations(t) for t in texts]]).encode()).hexdigest()
                if key in seen:
                    continue
                seen.add(key)
                new += 1
                kernels[launch.kernel] += 1
                site = {"package": args.corpus, "call": name, "key": key}
                out.write(json.dumps({"version": 1, "kernel": launch.kernel, **doc, "corpus": site}) + "\n")
            failures += bool(error)
            print("%-60s %3d new%s" % (name[:60], new, "  " + error if error else ""), flush=True)
    print("%s: %d calls (%d ended early), %d launches, %d distinct, %d kernels, %d without a text, %.0f s"
          % (args.corpus, calls, failures, launches, len(seen), len(kernels), bare, time.time() - start))
    return 0


if __name__ == "__main__":
    sys.exit(main())
