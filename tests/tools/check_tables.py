#!/usr/bin/env python3
"""The .def tables: rows sorted, names unique, every id used somewhere in the code."""
import os
import re
import sys

ROOT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
# table -> (row macro, prefix of the ids in code, ids that need no use)
#   options: a LIST or UNBUILT row is handled by its kind
#   refusals: `vacuous` is a status, its row exists for `polyrace help`
#   operations: a row that no reader names still gives spelling and operand bounds (None = all)
TABLES = {
    "src/util/options.def": ("OPTION", "PR_OPT_", {"ASSUME", "CERTIFY"}),
    "src/term/refusals.def": ("REFUSAL", "PR_REFUSAL_", {"VACUOUS"}),
    "src/front/ops.def": ("OP", "PR_OP_", None),
}


def rows(path, macro):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            m = re.match(rf'{macro}\(\s*(\w+)\s*,\s*"([^"]*)"', line)
            if m:
                yield number, m.group(1), m.group(2)


def main():
    code = []
    for folder, _, names in os.walk(os.path.join(ROOT, "src")):
        for name in names:
            if name.endswith((".c", ".h")):
                with open(os.path.join(folder, name), encoding="utf-8") as f:
                    code.append(f.read())
    words = set(re.findall(r"\bPR_\w+", "\n".join(code)))
    # X-macro switches name rows without their prefix
    bare = set(re.findall(r"\b[A-Z][A-Z0-9_]+\b", "\n".join(code)))
    problems = []
    for path, (macro, prefix, idle) in TABLES.items():
        previous, seen = "", set()
        count = 0
        for number, ident, spelling in rows(path, macro):
            count += 1
            if spelling < previous:
                problems.append(f"{path}:{number}: {spelling} is not in order")
            if ident in seen or spelling == previous:
                problems.append(f"{path}:{number}: {ident} twice")
            used = prefix + ident in words or ident in bare
            if not used and idle is not None and ident not in idle:
                problems.append(f"{path}:{number}: {ident} is used nowhere")
            seen.add(ident)
            previous = spelling
        if not count:
            problems.append(f"{path}: no rows found")
    print("\n".join(problems) or "tables are in order")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
