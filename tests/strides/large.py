#!/usr/bin/env python3
"""Strides around 2^31 and 2^40 and bases around 2^47: the same verdict as the twin with small numbers.

    large.py POLYRACE

A tile of rank 1 to 5 a program, every stride a multiple of one unit: whether tiles overlap does not depend on the unit.
Strides as numbers in the text and as 64-bit arguments, safe and short by one unit, under every engine alone.
"""
import json
import os
import subprocess
import sys
import tempfile

SHAPES = [(8,), (4, 8), (2, 4, 4), (2, 2, 2, 2, 4)]
UNITS = [1, 2**31 - 1, 2**31, 2**31 + 1, 2**40, 2**40 + 3]
BASES = [2**20, 2**47 - 2**12, 2**47 + 16]
ENGINES = [[], ["--engine=isl", "--no-pretest"], ["--engine=z3"]]


def text(shape, strides):
    """strides: numbers, or None for arguments %s0, %s1, ... (program first)."""
    rank, full = len(shape), "x".join(map(str, shape))
    args = "".join(f", %s{i}: i64" for i in range(rank + 1)) if strides is None else ""
    out = [f"module {{\n  tt.func public @tile(%y: !tt.ptr<f32>{args}) {{",
           "    %pid = tt.get_program_id x : i32", "    %p = arith.extsi %pid : i32 to i64"]
    if strides is not None:
        out += [f"    %s{i} = arith.constant {s} : i64" for i, s in enumerate(strides)]
    out += ["    %o = arith.muli %p, %s0 : i64", f"    %t0 = tt.splat %o : i64 -> tensor<{full}xi64>"]
    for d, n in enumerate(shape):
        at, now = f"%r{d}", [n]
        out += [f"    {at} = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32>",
                f"    {at}w = arith.extsi {at} : tensor<{n}xi32> to tensor<{n}xi64>"]
        at += "w"
        for axis in range(rank):
            if axis == d:
                continue
            before = "x".join(map(str, now))
            now.insert(axis, 1)
            after = "x".join(map(str, now))
            out.append(f"    {at}{axis} = tt.expand_dims {at} {{axis = {axis} : i32}} : tensor<{before}xi64> -> tensor<{after}xi64>")
            at += str(axis)
        have = "x".join(map(str, now))
        if have != full:
            out.append(f"    {at}b = tt.broadcast {at} : tensor<{have}xi64> -> tensor<{full}xi64>")
            at += "b"
        out += [f"    %c{d} = tt.splat %s{d + 1} : i64 -> tensor<{full}xi64>",
                f"    %m{d} = arith.muli {at}, %c{d} : tensor<{full}xi64>",
                f"    %t{d + 1} = arith.addi %t{d}, %m{d} : tensor<{full}xi64>"]
    out += [f"    %b = tt.splat %y : !tt.ptr<f32> -> tensor<{full}x!tt.ptr<f32>>",
            f"    %q = tt.addptr %b, %t{rank} : tensor<{full}x!tt.ptr<f32>>, tensor<{full}xi64>",
            f"    %z = arith.constant dense<0.0> : tensor<{full}xf32>",
            f"    tt.store %q, %z : tensor<{full}x!tt.ptr<f32>>", "    tt.return", "  }", "}", ""]
    return "\n".join(out)


def launches():
    for shape in SHAPES:
        dense = [1]
        for n in reversed(shape):
            dense.insert(0, dense[0] * n)          # dense[0]: the program's tile, dense[i + 1]: dimension i
        kinds = {"safe": dense, "short": [dense[0] - 1] + dense[1:], "padded": [3 * dense[0]] + [2 * s for s in dense[1:]]}
        if len(shape) > 1:
            kinds["inner"] = [dense[0], dense[1] - 1] + dense[2:]
        for kind, strides in kinds.items():
            for symbolic in (False, True):
                group = []
                for unit in UNITS:
                    for base in BASES:
                        s = [unit * x for x in strides]
                        span = (sum(s) * 8 + 1) * 4
                        args = {"y": {"tensor": {"dtype": "float32", "ptr": base, "shape": [1], "strides": [1],
                                                 "storage": {"ptr": base, "bytes": span}}}}
                        if symbolic:
                            args.update({f"s{i}": x for i, x in enumerate(s)})
                        group.append((unit, base, {"version": 1, "kernel": "tile", "grid": [4, 1, 1], "args": args,
                                                   "ttir_text": text(shape, None if symbolic else s)}))
                yield f"rank {len(shape)} {kind} {'symbolic' if symbolic else 'numbers'}", kind in ("safe", "padded"), group


def main():
    binary, failures, asked = sys.argv[1], 0, 0
    for name, safe, group in launches():
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", delete=False) as f:
            for _, _, launch in group:
                f.write(json.dumps(launch) + "\n")
        for engine in ENGINES:
            done = subprocess.run([binary, "check", "--format=jsonl", *engine, f.name], capture_output=True, text=True)
            verdicts = [json.loads(line) for line in done.stdout.splitlines()]
            if len(verdicts) != len(group):
                raise SystemExit(f"{name}: {len(verdicts)} verdicts of {len(group)}: {done.stderr[-400:]}")
            small = verdicts[0]
            for (unit, base, _), v in zip(group, verdicts):
                asked += 1
                got = (v["status"], v["rung"], len(v["races"]))
                want = (small["status"], small["rung"], len(small["races"]))
                if got != want or v["status"] != ("ok" if safe else "races") or not all(r["confirmed"] for r in v["races"]):
                    failures += 1
                    print(f"FAIL {name} {' '.join(engine)}: unit {unit}, base {base}: {got}, twin {want}: "
                          f"{[r['message'] for r in v['refusals']][:1]}")
        os.unlink(f.name)
    print(f"{asked} verdicts compared, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
