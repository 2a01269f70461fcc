"""How decision time grows: one property of a kernel at a time, everything else fixed.

The kernels are written here as text. Each point is a time, the counters, and the ratio of isl alone and of Z3 to auto in
the same run (`None` where they do not decide within their limits).
"""
import json
import os
import tempfile

import common


def module(name, args, body):
    sign = ", ".join(f"%{a}: {t}" for a, t in args)
    lines = [f"  tt.func public @{name}({sign}) attributes {{noinline = false}} {{"] + ["    " + line for line in body] + ["    tt.return", "  }"]
    return "module {\n" + "\n".join(lines) + "\n}\n"


def index(pid, tile, n, prefix=""):
    """Lines that make %i = pid * tile + lane and %m = %i < n."""
    t = f"tensor<{tile}xi32>"
    return [f"%b{prefix} = arith.muli {pid}, %tile : i32", f"%l{prefix} = tt.make_range {{end = {tile} : i32, start = 0 : i32}} : {t}",
            f"%s{prefix} = tt.splat %b{prefix} : i32 -> {t}", f"%i{prefix} = arith.addi %s{prefix}, %l{prefix} : {t}",
            f"%nn{prefix} = tt.splat {n} : i32 -> {t}", f"%m{prefix} = arith.cmpi slt, %i{prefix}, %nn{prefix} : {t}"]


def start(tile):
    return [f"%tile = arith.constant {tile} : i32", "%pid = tt.get_program_id x : i32"]


def store(at, mask, tile, tensor="out", tag=""):
    p = f"tensor<{tile}x!tt.ptr<f32>>"
    return [f"%v{tag} = arith.constant dense<1.0e+00> : tensor<{tile}xf32>", f"%p{tag} = tt.splat %{tensor} : !tt.ptr<f32> -> {p}",
            f"%a{tag} = tt.addptr %p{tag}, {at} : {p}, tensor<{tile}xi32>", f"tt.store %a{tag}, %v{tag}, {mask} : {p}"]


def vector(tile):
    args = [("out", "!tt.ptr<f32>"), ("n", "i32")]
    return args, start(tile) + index("%pid", tile, "%n") + store("%i", "%m", tile)


def with_accesses(count, tile=64):
    """That many stores, each to its own part of a program's slab."""
    args = [("out", "!tt.ptr<f32>"), ("n", "i32")]
    t = f"tensor<{tile}xi32>"
    body = start(tile) + [f"%slab = arith.constant {tile * count} : i32", "%q = arith.muli %pid, %slab : i32", f"%l = tt.make_range {{end = {tile} : i32, start = 0 : i32}} : {t}",
                          f"%s = tt.splat %q : i32 -> {t}", f"%i = arith.addi %s, %l : {t}", f"%v = arith.constant dense<1.0e+00> : tensor<{tile}xf32>",
                          f"%p = tt.splat %out : !tt.ptr<f32> -> tensor<{tile}x!tt.ptr<f32>>"]
    for k in range(count):
        body += [f"%c{k} = arith.constant dense<{k * tile}> : {t}", f"%j{k} = arith.addi %i, %c{k} : {t}",
                 f"%a{k} = tt.addptr %p, %j{k} : tensor<{tile}x!tt.ptr<f32>>, {t}", f"tt.store %a{k}, %v : tensor<{tile}x!tt.ptr<f32>>"]
    return args, body


def with_strided_accesses(count, tile=64):
    """The same with the distance of programs a parameter, and a mask by another."""
    args = [("out", "!tt.ptr<f32>"), ("n", "i32"), ("stride", "i32")]
    t = f"tensor<{tile}xi32>"
    body = start(tile) + ["%q = arith.muli %pid, %stride : i32", f"%l = tt.make_range {{end = {tile} : i32, start = 0 : i32}} : {t}",
                          f"%s = tt.splat %q : i32 -> {t}", f"%nn = tt.splat %n : i32 -> {t}", f"%v = arith.constant dense<1.0e+00> : tensor<{tile}xf32>",
                          f"%p = tt.splat %out : !tt.ptr<f32> -> tensor<{tile}x!tt.ptr<f32>>"]
    for k in range(count):
        body += [f"%c{k} = arith.constant dense<{k * tile}> : {t}", f"%w{k} = arith.addi %l, %c{k} : {t}", f"%m{k} = arith.cmpi slt, %w{k}, %nn : {t}",
                 f"%j{k} = arith.addi %s, %w{k} : {t}", f"%a{k} = tt.addptr %p, %j{k} : tensor<{tile}x!tt.ptr<f32>>, {t}",
                 f"tt.store %a{k}, %v, %m{k} : tensor<{tile}x!tt.ptr<f32>>"]
    return args, body


def with_loops(depth, trip, tile=64):
    """Nested loops, each with its own digit of the address."""
    args = [("out", "!tt.ptr<f32>"), ("n", "i32")]
    t = f"tensor<{tile}xi32>"
    body = start(tile) + ["%zero = arith.constant 0 : i32", "%one = arith.constant 1 : i32", f"%trip = arith.constant {trip} : i32",
                          f"%l = tt.make_range {{end = {tile} : i32, start = 0 : i32}} : {t}", f"%nn = tt.splat %n : i32 -> {t}"]
    at, pad = "%pid", ""
    for d in range(depth):
        body.append(f"{pad}scf.for %k{d} = %zero to %trip step %one : i32 {{")
        pad += "  "
        body += [f"{pad}%x{d} = arith.muli {at}, %trip : i32", f"{pad}%y{d} = arith.addi %x{d}, %k{d} : i32"]
        at = f"%y{d}"
    body += [pad + line for line in [f"%b = arith.muli {at}, %tile : i32", f"%s = tt.splat %b : i32 -> {t}", f"%i = arith.addi %s, %l : {t}",
                                     f"%m = arith.cmpi slt, %i, %nn : {t}"] + store("%i", "%m", tile)]
    for d in range(depth):
        pad = pad[:-2]
        body.append(pad + "}")
    return args, body


def with_divisions(depth, tile=256):
    """An index taken apart into digits and put together in the same order with wider strides."""
    args = [("out", "!tt.ptr<f32>"), ("n", "i32")]
    t = f"tensor<{tile}xi32>"
    body = start(tile) + index("%pid", tile, "%n")
    at, digits = "%i", []
    for k in range(depth):
        c = f"%d{k}"
        body += [f"{c} = arith.constant dense<{7 + k}> : {t}", f"%r{k} = arith.remsi {at}, {c} : {t}", f"%q{k} = arith.divsi {at}, {c} : {t}"]
        digits.append((f"%r{k}", 7 + k))
        at = f"%q{k}"
    total, stride = None, 1
    for k, (digit, size) in enumerate(digits + [(at, 0)]):
        body += [f"%w{k} = arith.constant dense<{stride}> : {t}", f"%e{k} = arith.muli {digit}, %w{k} : {t}"]
        if total:
            body.append(f"%t{k} = arith.addi {total}, %e{k} : {t}")
        total = f"%t{k}" if total else f"%e{k}"
        stride *= size + 1
    return args, body + store(total, "%m", tile)


def with_parameters(count, tile=256):
    """A mask that every parameter takes part in."""
    args = [("out", "!tt.ptr<f32>"), ("n", "i32")] + [(f"x{k}", "i32") for k in range(count)]
    t = f"tensor<{tile}xi32>"
    body = start(tile) + index("%pid", tile, "%n")
    mask = "%m"
    for k in range(count):
        body += [f"%z{k} = tt.splat %x{k} : i32 -> {t}", f"%g{k} = arith.cmpi slt, %i, %z{k} : {t}", f"%h{k} = arith.andi {mask}, %g{k} : tensor<{tile}xi1>"]
        mask = f"%h{k}"
    return args, body + store("%i", mask, tile)


def cases(quick):
    """(property, value, grid, elements (or each argument's number), arguments, body)."""
    out = []
    add = lambda what, value, grid, size, made: out.append((what, value, grid, size, *made))          # noqa: E731
    for g in (1, 10, 100, 1000, 10000, 100000, 1000000):
        add("grid", g, g, g * 64, vector(64))
    for t in (16, 64, 256, 1024, 4096, 16384, 65536):
        add("tile size", t, 100, 100 * t, vector(t))
    for n in (1, 10, 100, 1000, 10000, 100000):
        add("trip count", n, 50, 50 * n * 64, with_loops(1, n))
    for n in (1, 2, 5, 10, 20, 50, 100) if quick else (1, 2, 5, 10, 20, 50, 100, 200, 350, 500):
        add("accesses", n, 100, 100 * n * 64, with_accesses(n))
    for n in (1, 2, 5, 10, 20, 50, 100) if quick else (1, 2, 5, 10, 20, 50, 100, 200, 350, 500):
        add("accesses, strided", n, 100, {"n": n * 64, "stride": n * 64, "out": 100 * n * 64}, with_strided_accesses(n))
    for d in (0, 1, 2, 3, 4, 5, 6):
        add("loop depth", d, 50, 50 * 3 ** d * 64, with_loops(d, 3))
    for d in (0, 1, 2, 3, 4, 5):
        size = 100 * 256
        for k in range(d):
            size *= 2
        add("division depth", d, 100, size, with_divisions(d))
    for p in (0, 1, 2, 4, 8, 16, 32):
        add("parameters", p, 100, 100 * 256, with_parameters(p))
    return out


def launch(text, grid, size, args):
    values, sizes = {}, size
    for name, kind in args:
        size = sizes[name] if isinstance(sizes, dict) else sizes
        if kind.startswith("!"):
            bytes_ = 4 * max(size, 1)
            values[name] = {"tensor": {"dtype": "float32", "ptr": 1 << 34, "shape": [max(size, 1)], "strides": [1], "storage": {"ptr": 1 << 34, "bytes": bytes_}}}
        else:
            values[name] = size
    return {"version": 1, "kernel": "k", "ttir": text, "grid": [grid, 1, 1], "args": values, "config": {"num_warps": 4, "num_stages": 3, "num_ctas": 1},
            "target": "cuda:90", "triton": "3.8.0"}


def point(binary, path, options, repeat, limit):
    least, last = None, None
    for _ in range(repeat):
        v = common.verdicts(binary, [path], options, limit=limit).get(path)
        if not v:
            return None, None
        us = v["stats"].get("decide_us", 0)
        least, last = us if least is None else min(least, us), v
    return least, last


def main(o):
    rows, result = [], {"machine": common.machine(), "versions": common.versions(o.polyrace), "points": []}
    with tempfile.TemporaryDirectory() as folder:
        for i, (what, value, grid, size, args, body) in enumerate(cases(o.quick)):
            if o.only and what.replace(",", "") not in o.only.split(","):
                continue
            path = os.path.join(folder, f"{i}.json")
            with open(path[:-5] + ".ttir", "w", encoding="utf-8") as f:
                f.write(module("k", args, body))
            common.write_json(path, launch(f"{i}.ttir", grid, size, args))
            auto, v = point(o.polyrace, path, [], o.repeat, 120)
            if not v or v["status"] != "ok":               # race free by the way they are made
                print(f"FAIL {what} {value}: {v['status'] if v else 'no verdict'}")
                return 1
            big = what.startswith("accesses") and value > 20
            isl, vi = (None, None) if big and value > 100 else point(o.polyrace, path, ["--engine=isl", "--no-pretest"], 1 if big else o.repeat, 120)
            z3, vz = (None, None) if big or not o.z3 else point(o.polyrace, path, ["--engine=z3", "--t0-timeout=2000", "--t1-timeout=2000"], 1, 60)
            same = lambda w: w and w["status"] == v["status"] and v["status"] in ("ok", "races")               # noqa: E731
            r = {"property": what, "value": value, "status": v["status"], "rung": v["rung"], "decide_us": auto,
                 "total_us": sum(v["stats"].get(k, 0) for k in ("parse_us", "lower_us", "decide_us")),
                 **{k: v["stats"].get(k, 0) for k in ("filtered", "queries", "leaves", "isl_ops", "z3_units")},
                 "isl_over_auto": round(isl / max(auto, 1), 2) if same(vi) else None, "z3_over_auto": round(z3 / max(auto, 1), 2) if same(vz) else None}
            result["points"].append(r)
            rows.append([what, value, v["status"], f"{auto / 1e3:.3f}", r["queries"], r["isl_ops"], r["isl_over_auto"] or "–", r["z3_over_auto"] or "–"])
    print(common.table(["property", "value", "verdict", "decide, ms", "queries", "isl operations", "isl/auto", "Z3/auto"], rows))
    if o.output:
        common.write_json(o.output, result)
    return 0
