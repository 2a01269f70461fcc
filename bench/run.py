#!/usr/bin/env python3
"""Measurements. Times are compared within one run only; counters do not depend on the machine.

    run.py corpus            the shipped kernels end to end, engines against each other, targets (default)
    run.py suite             single queries under every tier, against isl alone and against Z3 at its best
    run.py scale             grid, tile size, trip count, accesses, loop depth, division depth, parameters
    run.py shm               shared memory: growth with stages, reading partitions and rings; two kernels with targets
    run.py packages FOLDER   decision time of launches captured from public packages (see capture.py)
    run.py baseline          counters against baseline.json; --record writes it
    run.py plot FILE...      pictures of the results above (needs matplotlib)
    run.py compare BASE HEAD two revisions, built and alternated: a table for a pull request
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = ap.add_subparsers(dest="what")
    built = os.environ.get("POLYRACE_BUILD") or "build"

    def command(name, *options):
        p = sub.add_parser(name)
        p.add_argument("--build", default=built, help="build folder (default: $POLYRACE_BUILD or ./build)")
        for flag, kw in options:
            p.add_argument(flag, **kw)
        return p

    repeat = lambda n: ("--repeat", dict(type=int, default=n))                                          # noqa: E731
    output = ("--output", dict(help="results as JSON"))
    no_z3 = ("--no-z3", dict(dest="z3", action="store_false"))
    command("corpus", repeat(3), output, ("--quick", dict(action="store_true", help="every seventh kernel")))
    command("suite", repeat(9), output, no_z3, ("--corpus", dict(action="store_true", help="the pair queries of the shipped kernels too")),
            ("--every", dict(type=int, default=1, help="with --corpus: every Nth launch")))
    command("scale", repeat(3), output, no_z3, ("--quick", dict(action="store_true")), ("--only", dict(help="these properties, separated by commas")))
    command("shm", repeat(3), output, ("--quick", dict(action="store_true")), ("--only", dict(help="these properties, separated by commas")))
    command("packages", repeat(3), output, ("folder", dict(nargs="+")))
    command("baseline", ("--record", dict(action="store_true")))
    command("plot", ("files", dict(nargs="+")), ("--folder", dict(default=".")), ("--format", dict(default="svg", choices=("svg", "png"))))
    command("compare", ("base", {}), ("head", {}), ("--rounds", dict(type=int, default=15)), ("--kernels", dict(help="names, separated by commas")))
    argv = sys.argv[1:]
    if not argv or argv[0].startswith("-") and argv[0] not in ("-h", "--help"):
        argv = ["corpus", *argv]
    o = ap.parse_args(argv)
    o.polyrace = os.path.join(o.build, "src", "cli", "polyrace")
    o.queries = os.path.join(o.build, "bench", "bench_queries")
    o.process = os.path.join(o.build, "bench", "bench_process")
    if o.what in ("corpus", "suite", "scale", "shm", "packages", "baseline") and not os.path.exists(o.polyrace):
        ap.error(f"no {o.polyrace}: build first, or name the folder with --build")
    for tool in [o.queries] if o.what in ("suite", "baseline") else [o.process] if o.what in ("corpus", "packages") else []:
        if not os.path.exists(tool):
            ap.error(f"no {tool}: ninja -C {o.build}")
    module = __import__({"plot": "plots"}.get(o.what, o.what))
    return module.main(o)


if __name__ == "__main__":
    sys.exit(main())
