"""Kernels that keep one stage of polyrace busy for a long time."""
import json
import random


def split(loops, rows, top, extent, stores=1, grid=4):
    """A store under `rows` linear equations over the indices of nested loops: nobody knows a fast way to tell whether they have a
    solution. (text, launch)"""
    rnd = random.Random(7)
    body, used = [], {}

    def const(v):
        return used.setdefault(v, f"%k{len(used)}")

    for s in range(stores):
        inner = []
        met = None
        for r in range(rows):
            coef = [rnd.randint(1, top) for _ in range(loops)]
            total = None
            for j, v in enumerate(coef):
                inner.append(f"%m{s}_{r}_{j} = arith.muli %x{s}_{j}, {const(v)} : i32")
                if total:
                    inner.append(f"%s{s}_{r}_{j} = arith.addi {total}, %m{s}_{r}_{j} : i32")
                total = f"%s{s}_{r}_{j}" if total else f"%m{s}_{r}_{j}"
            inner.append(f"%e{s}_{r} = arith.cmpi eq, {total}, {const(sum(coef) * (extent - 1) // 2)} : i32")
            if met:
                inner.append(f"%b{s}_{r} = arith.andi {met}, %e{s}_{r} : i1")
            met = f"%b{s}_{r}" if met else f"%e{s}_{r}"
        body += [f"scf.for %x{s}_{j} = %c0 to {const(extent)} step %c1 : i32 {{" for j in range(loops)]
        body += inner + [f"scf.if {met} {{", "tt.store %p, %pid : !tt.ptr<i32>", "}"] + ["}"] * loops
    text = ["module {", "tt.func public @k(%p: !tt.ptr<i32>) {", "%pid = tt.get_program_id x : i32",
            "%c0 = arith.constant 0 : i32", "%c1 = arith.constant 1 : i32"]
    text += [f"{name} = arith.constant {v} : i32" for v, name in used.items()]
    text = "\n".join(text + body + ["tt.return", "}", "}"])
    launch = {"version": 1, "kernel": "k", "ttir_text": text, "grid": [grid, 1, 1],
              "args": {"p": {"tensor": {"dtype": "int32", "ptr": 4096, "shape": [64]}}}}
    return text, json.dumps(launch)


def chain(operations):
    """A text of so many additions."""
    lines = "\n".join(f"%a{i} = arith.addi %a{i - 1}, %a0 : i32" for i in range(1, operations))
    return "module {\ntt.func public @k(%p: !tt.ptr<i32>) {\n%a0 = arith.constant 0 : i32\n" + lines + "\ntt.return\n}\n}\n"
