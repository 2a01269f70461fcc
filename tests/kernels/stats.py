#!/usr/bin/env python3
"""Counts of the corpus, from the committed files alone (no triton). Fails below the agreed minimums."""
import ast
import json
import os
import re
import sys

import registry

MINIMUM = {"base kernels": 60, "base kernels with a loop or branch": 30, "base kernels of 60 operations or more": 20}
MOST_UNDECIDED = 8
OPERATION = re.compile(r'^\s+(?:%[\w:]+(?:, %[\w:]+)* = )?"?(?:tt|ttg|arith|math|scf|cf|ub|llvm)\.\w')


def sources():
    found, pairs = {}, []
    for file in registry.topic_files():
        with open(os.path.join(registry.HERE, file), encoding="utf-8") as f:
            text = f.read()
        lines = text.split("\n")
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef):
                found[node.name] = lines[node.lineno - 1:node.end_lineno]
        pairs += re.findall(r"^case\((\w+), (\w+),", text, re.M)
    return found, pairs


def main():
    found, pairs = sources()
    expect = registry.read_expectations()
    problems = []
    ttir_dir = os.path.join(registry.HERE, "ttir")
    loops, large, undecided, sizes = 0, 0, [], []
    for base, twin in pairs:
        a = [re.sub(rf"\b{base}\(", "F(", line) for line in found[base]]
        b = [re.sub(rf"\b{twin}\(", "F(", line) for line in found[twin]]
        differ = sum(x.strip() != y.strip() for x, y in zip(a, b)) + abs(len(a) - len(b))
        if differ != 1:
            problems.append(f"{twin} differs from {base} in {differ} lines")
        if expect[base].status == expect[twin].status:
            problems.append(f"{base} and {twin} expect the same status")
        with open(os.path.join(ttir_dir, base + ".ttir"), encoding="utf-8") as f:
            text = f.read()
        operations = sum(bool(OPERATION.match(line)) for line in text.split("\n"))
        sizes.append(operations)
        loops += bool(re.search(r"scf\.(for|while|if)|cf\.cond_br", text))
        large += operations >= 60
        if expect[base].status == "unsupported":
            undecided.append(base)
        for name in (base, twin):
            for suffix in ("", ".small"):
                with open(os.path.join(ttir_dir, name + suffix + ".json"), encoding="utf-8") as f:
                    launch = json.load(f)
                programs = 1
                for extent in launch["grid"]:
                    programs *= extent
                if suffix and 2 in launch["grid"]:
                    problems.append(f"{name}: two programs along an axis of the small launch")
                elements = 0
                for arg in launch["args"].values():
                    if isinstance(arg, dict):
                        n = 1
                        for extent in arg["tensor"]["shape"]:
                            n *= extent
                        elements = max(elements, n)
                if not suffix and programs < 1000 and elements < 2**20:
                    problems.append(f"{name}: {programs} programs and {elements} elements are too few")
    counts = {"base kernels": len(pairs), "twins": len(pairs), "base kernels with a loop or branch": loops,
              "base kernels of 60 operations or more": large, "operations, median": sorted(sizes)[len(sizes) // 2],
              "operations, largest": max(sizes), "undecided base kernels": len(undecided)}
    for status in ("ok", "races", "unsupported"):
        counts[f"expected {status}"] = sum(e.status == status for e in expect.values())
    for key, value in counts.items():
        print(f"{value:6}  {key}")
    problems += [f"only {counts[k]} {k}, {v} wanted" for k, v in MINIMUM.items() if counts[k] < v]
    if len(undecided) > MOST_UNDECIDED:
        problems.append(f"{len(undecided)} undecided base kernels: {' '.join(undecided)}")
    for p in problems:
        print("  " + p)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
