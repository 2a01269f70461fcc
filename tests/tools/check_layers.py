#!/usr/bin/env python3
"""The direction of dependencies, read from the include lines (no compiler needed).

A layer may include itself and the layers listed for it; isl, Z3, GMP and jansson are confined to the files
that wrap them; the concrete evaluator knows neither terms nor records. The top-level places must exist.
"""
import os
import re
import sys

ROOT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

ALLOWED = {
    "util": {"util"},
    "term": {"term", "util"},
    "pre": {"pre", "term", "util"},
    "poly": {"poly", "term", "util"},
    "smt": {"smt", "term", "util"},
    "hb": {"hb", "term", "util", "pre", "poly", "smt"},
    "front": {"front", "hb", "term", "util"},
    "shm": {"shm", "front", "hb", "poly", "smt", "term", "util"},
    "cli": {"cli", "util", "polyrace"},
    "": {"", "polyrace", "front", "hb", "pre", "poly", "smt", "shm", "term", "util"},
}
# In the front end, only what binds or emits records may see terms and records.
READER = re.compile(r"^(lex|parse|ir|types|srcloc|verify|ops|dominance)")
EVALUATOR = re.compile(r"^(interp|replay)")
PLACES = ["src/poly", "src/hb", "src/front", "tests", "bench", "meson.build"]


def layer_of(path):
    parts = os.path.relpath(path, os.path.join(ROOT, "src")).split(os.sep)
    return parts[0] if len(parts) > 1 else ""


def check_file(path, complain):
    layer, name = layer_of(path), os.path.basename(path)
    where = os.path.relpath(path, ROOT)
    if layer not in ALLOWED:
        complain(where, f"unknown layer {layer}")
        return
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            m = re.match(r'\s*#\s*include\s+([<"])([^>"]+)[>"]', line)
            if not m:
                continue
            system, target = m.group(1) == "<", m.group(2)
            here = f"{where}:{number}"
            if system:
                if target.startswith("isl/") and layer != "poly":
                    complain(here, "isl outside src/poly")
                if target.startswith("z3") and layer != "smt":
                    complain(here, "Z3 outside src/smt")
                if target == "gmp.h" and (layer, name) not in {("poly", "isl_wrap.c"), ("util", "num.c"), ("", "polyrace_cache.c")}:
                    complain(here, "GMP outside util/num.c, poly/isl_wrap.c and polyrace_cache.c (its version)")
                if target == "jansson.h" and not (layer == "front" and name.startswith("launch")):
                    complain(here, "jansson outside front/launch*")
                continue
            to = target.split("/")[0] if "/" in target else layer
            if to not in ALLOWED[layer]:
                complain(here, f"{layer or 'src'} may not include {target}")
            if layer == "front" and READER.match(name) and to != "util" and not target.startswith("front/"):
                complain(here, f"the reader may not include {target}")
            if layer == "front" and EVALUATOR.match(name):
                own = re.match(r"front/(ir|types|ops|interp|replay)", target) or target.startswith("interp")
                if to != "util" and not own:
                    complain(here, f"the evaluator may not include {target}")
            if layer == "front" and name.startswith("sem_") and target == "front/interp.h":
                complain(here, "the lowering may not include the evaluator")


def main():
    problems = []
    for place in PLACES:
        if not os.path.exists(os.path.join(ROOT, place)):
            problems.append(f"{place}: missing")
    files = 0
    for folder, _, names in os.walk(os.path.join(ROOT, "src")):
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                files += 1
                check_file(os.path.join(folder, name), lambda where, what: problems.append(f"{where}: {what}"))
    print("\n".join(sorted(problems)) or f"{files} files keep the layers")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
