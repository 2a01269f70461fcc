#!/usr/bin/env python3
"""Writes docs/tour.md from real dumps of the matmul kernel, or checks that it is up to date.

    make_tour.py POLYRACE            rewrite docs/tour.md
    make_tour.py POLYRACE --check    exit 1 when the text differs (a test)
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TTIR = os.path.join(HERE, "..", "tests", "kernels", "ttir")
PAIR = 10
WIDTH = 118


def run(program, *args):
    done = subprocess.run([program, *args], capture_output=True, text=True, cwd=TTIR)
    if done.returncode not in (0, 1, 2):
        sys.exit(f"{' '.join(args)}: {done.stderr}")
    return done.stdout.splitlines()


def cut(line):
    return line if len(line) <= WIDTH else line[:WIDTH - 4].rstrip() + " ..."


def field(record, name):
    """One field `(name ...)` of a printed record, brackets balanced."""
    start = record.index(f"({name} ") if f"({name} " in record else record.index(f"({name})")
    depth = 0
    for i in range(start, len(record)):
        depth += {"(": 1, ")": -1}.get(record[i], 0)
        if depth == 0:
            return record[start:i + 1]
    raise ValueError(name)


def block(lines):
    return "```\n" + "\n".join(cut(x) for x in lines) + "\n```\n"


def main():
    program = os.path.abspath(sys.argv[1])
    parse = run(program, "dump", "--stage=parse", "matmul.json")
    store = [x.strip() for x in parse if '"tt.store"' in x]
    names = [x.split("(")[1].split(")")[0].split(", ") for x in store][0]
    feeds = [x.strip() for x in parse if any(x.strip().startswith(n + " =") for n in names)]
    access = [x for x in run(program, "dump", "--stage=access", "matmul.json") if "(kind store)" in x][0]
    records = [x for x in run(program, "dump", "--stage=records", "matmul.json") if "(kind store)" in x][0]
    pair = f"--pair={PAIR}"
    query = run(program, "dump", "--stage=query", pair, "matmul.json")
    isl = run(program, "dump", "--stage=isl", "--rung=t1-launch", pair, "matmul.json")
    racing = run(program, "dump", "--stage=isl", "vadd_race.json")
    first_map = [x for x in racing if "r2[" in x and "->" in x][:2]
    smt = run(program, "dump", "--stage=smt2", pair, "matmul.json")
    verdict = run(program, "dump", "--stage=verdict", "matmul.json")
    ok = run(program, "check", "matmul.json")
    race = run(program, "check", "--color=never", "matmul_race.json")
    text = f"""# A first-day tour: one store instruction

We follow `tl.store(c + ..., acc, mask=...)` of a grouped matrix product, `tests/kernels/matmul.py`, from the text that Triton compiled
to the verdict. Every block below is real output (long lines cut at {WIDTH} columns); `docs/make_tour.py` writes this page and a test fails
when it is out of date. All commands run in `tests/kernels/ttir`.

## 1. Text to tree: `src/front/lex.c`, `parse.c`, `verify.c`

`polyrace dump --stage=parse matmul.json` prints the tree in generic form: operands in order, attributes explicit, locations resolved.
Reading that text back gives the same tree. The store takes a tile of pointers, a tile of values and a tile of conditions:

{block(store + feeds)}
After `verify` every operand is defined and typed; a text that breaks a rule is an error with line and column, never a verdict.

## 2. Operation to access: `src/front/ops.def`, `sem_mem.c`, `sem_arith.c`

The row of `ops.def` names the operation; `sem_mem.c` asks for its pointer, mask and value. A pointer is (argument, byte offset); an offset
is a term over program ids, lanes, loop counts and parameters. `polyrace dump --stage=access matmul.json`, some fields of the store:

{block([field(access, x) for x in ("kind", "base", "width", "shape", "mask", "offset")])}
Beside each term stand the conditions under which the unbounded integer equals what a 32-bit operation computes, `(fits i32 t)`:

{block([field(access, "offset_held")])}
## 3. Access to record: `src/hb/build.c`

What the record adds: does the address name every lane, is the activity exact, whose value does it wait for.
`polyrace dump --stage=records matmul.json`:

{block([field(records, x) for x in ("position", "uncertain", "deps")])}
MLIR ends here. A record of a kernel without divisions reads more easily as sets; `polyrace dump --stage=isl vadd_race.json` prints the
iteration domain and the access map of its store in isl's own notation:

{block(first_map)}
## 4. Records to pairs: `src/hb/pairs.c`

Each unordered pair of records is asked about twice: for different programs and for the threads of one program. Most pairs need no query
(two loads, different buffers). Pair {PAIR} is the store against itself in another program.

## 5. Pair to query: `src/hb/encode.c`, `src/term/query.c`

One query a rung; this is the one of T1: parameters are the launch's numbers, the grid is open. (T0 comes first and asks the same with
symbols, `--rung=t0`; section 7 shows what it answered.) Two copies A and B, everything both must satisfy, and the alternatives of
"they differ". `polyrace dump --stage=query {pair} matmul.json`:

{block(query)}
## 6. Query to rows to isl: `src/term/rows.c`, `src/poly/solve.c`

`x div d` becomes `x = d*q + r`, the divisor of the last group is split by cases, the equality of the two addresses is split into the equality
of rows and of columns. What is left goes to isl; here nothing is left. At the launch's own grid the conflict set prints as
(`polyrace dump --stage=isl --rung=t1-launch {pair} matmul.json`):

{block(isl)}
The same question for any SMT solver, `polyrace dump --stage=smt2 {pair} matmul.json`, begins with

{block(smt[:16])}
## 7. Answers to a verdict: `src/hb/ladder.c`, `obligations.c`, `verdict.c`

Already at T0 every pair is empty, for all sizes and strides that meet one condition: rows of `c` do not overlap. The closure found what it
lacked (rule P, `src/pre/stride.c`), the pair is empty with `n <= stride_cm` as a premise, and the launch meets it
(`src/hb/condition.c`). The proof stands if the widths do. Some program id makes a 32-bit product wrap, so the claim carries that
qualifier too; at this launch none does, which is proved before anything is printed. `polyrace check matmul.json`:

{block(ok)}
The document behind it (`dump --stage=verdict`) starts with

{block(verdict[:11])}
## 8. And when it races: `src/hb/witness.c`, `src/front/interp.c`

The twin differs in one line. The witness that an engine found is evaluated on the query's own terms, then the two programs are run by the
concrete evaluator, which shares no code with steps 2 to 6. Only that sets `confirmed`. `polyrace check matmul_race.json`:

{block(race)}
## Exercise

Add an operation: a row in `front/ops.def`, a function in `sem_arith.c`, a case in `interp_arith.c`, a kernel with its twin in
`tests/kernels`. If it takes more than that, the design has drifted: say so.
"""
    path = os.path.join(HERE, "tour.md")
    if "--check" in sys.argv:
        with open(path, encoding="utf-8") as f:
            if f.read() != text:
                sys.exit("docs/tour.md is out of date: run docs/make_tour.py")
        return
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    main()
