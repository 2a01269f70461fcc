#!/usr/bin/env python3
"""Do the layouts of the TTGIR order the threads of a program? run.py POLYRACE

For each launch of texts/: the expected verdict of the TTIR level with both texts, the race without the TTGIR text, and
the truth by enumeration: every access of program 0 with the thread that the layout gives it. Then changed TTGIR texts
which must lose the proof."""
import ast
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TEXTS = os.path.join(HERE, "texts")
QUALIFIER = "assumes the thread layouts of the TTGIR text"


def table():
    """build.TABLE without Triton: name -> (kernel, block, n, s, status)."""
    tree = ast.parse(open(os.path.join(HERE, "build.py"), encoding="utf-8").read())
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "TABLE":
            return {k.value: (v.elts[0].attr, v.elts[1].value, v.elts[2].value, v.elts[3].value, v.elts[6].value)
                    for k, v in zip(node.value.keys, node.value.values)}
    raise SystemExit("build.py has no TABLE")


def check(program, launch, *options):
    done = subprocess.run([program, "check", "--format=json", *options, launch], capture_output=True, text=True)
    if done.returncode not in (0, 1, 2):
        raise SystemExit(f"{launch}: exit {done.returncode}: {done.stderr.strip()}")
    v = json.loads(done.stdout)
    return v["levels"]["ttir"] if "levels" in v else v


# ---- the truth ------------------------------------------------------------------------------------------
def ints(text, key):
    return [int(v) for v in re.search(key + r" = \[([\d, ]+)\]", text).group(1).split(",")]


def owners(layout, shape):
    """element -> the set of (warp, lane) that hold it, by walking over all threads and registers."""
    size, lanes, warps, order = (ints(layout, k) for k in ("sizePerThread", "threadsPerWarp", "warpsPerCTA", "order"))
    rank, held = len(shape), {}

    def spread(counts):
        for point in itertools.product(*(range(counts[d]) for d in reversed(order))):
            at = [0] * rank
            for d, v in zip(reversed(order), point):
                at[d] = v
            yield at
    tile = [size[d] * lanes[d] * warps[d] for d in range(rank)]
    repeats = [max(1, shape[d] // tile[d]) for d in range(rank)]
    for w, warp in enumerate(spread(warps)):
        for t, lane in enumerate(spread(lanes)):
            for reg in itertools.product(*(range(size[d] * repeats[d]) for d in range(rank))):
                at = tuple((reg[d] // size[d] * tile[d] + (warp[d] * lanes[d] + lane[d]) * size[d] + reg[d] % size[d]) % shape[d]
                           for d in range(rank))
                held.setdefault(at, set()).add((w, t))
    return held


def accesses(kernel, B, n, s):
    """(operation, element, address) of program 0; the first letter of the operation is l or s."""
    square = [(i, j) for i in range(B) for j in range(B)]
    if kernel.startswith("two_passes"):
        skew = {"two_passes": 0, "two_passes_shifted": 1, "two_passes_strided": 0}[kernel]
        for i in range(0, n, B):
            for e in range(B):
                if i + e < n:
                    yield "load", (e,), i + e
                    yield "store", (e,), i + e + skew
    elif kernel in ("tile_2d", "tile_rotated"):
        for i, j in square:
            yield "load", (i, j), i * B + j
            yield "store", (i, j), i * B + j if kernel == "tile_2d" else (i + 1) % B * B + j
    elif kernel.startswith("carried"):
        for k in range(1, s):
            for e in range(B):
                yield "load", (e,), (k - 1) * B + e + (4 if kernel == "carried_shifted" else 0)
                yield "store", (e,), k * B + e
    else:
        raise SystemExit(f"no model of {kernel}")


def truth(kernel, B, n, s, ttgir):
    """races or ok; a load that is not a tt.load any more is nobody's: it races with every store of its bytes."""
    alias = dict(re.findall(r"^(#\w+) = (#ttg\.[^\n]*)$", ttgir, re.M))
    rank = 2 if kernel in ("tile_2d", "tile_rotated", "staged") else 1
    who = {}
    for op in ("load", "store"):
        used = {m for m in re.findall(rf"tt\.{op} .*tensor<[^>]*!tt\.ptr<f32>, (#\w+)>", ttgir)}
        if len(used) != 1:
            return "races"
        who[op] = owners(alias[used.pop()], (B,) * rank)
    touched = {}
    for op, element, address in accesses(kernel, B, n, s):
        touched.setdefault(address, set()).update((op, thread) for thread in who[op][element])
    for at in touched.values():
        for (a, t), (b, u) in itertools.combinations(sorted(at), 2):
            if t != u and a != b:
                return "races"
    return "ok"


def relaid(store, layout):
    """The store with its operands converted to the layout #other."""
    operands = re.search(r"tt\.store ([^:]*?) :", store).group(1).split(", ")
    pointer = re.search(r"tensor<[^>]*!tt\.ptr<f32>, #\w+>", store).group(0)
    types = [pointer, pointer.replace("!tt.ptr<f32>", "f32"), pointer.replace("!tt.ptr<f32>", "i1")]
    loc = re.search(r"loc\(#loc\d*\)\s*$", store).group(0)
    lines = [f"%cv{i} = ttg.convert_layout {v} : {t} -> {t.replace(layout + '>', '#other>')} {loc}"
             for i, (v, t) in enumerate(zip(operands, types))]
    new = ", ".join(f"%cv{i}" for i in range(len(operands)))
    return "\n".join(lines + [store.replace(", ".join(operands), new).replace(f", {layout}>", ", #other>")])


def main():
    program = sys.argv[1]
    rows, failures, lost = table(), [], 0

    def want(name, got, expected, what):
        if got != expected:
            failures.append(f"{name}: {what}: {got}, expected {expected}")
    for name, (kernel, B, n, s, status) in rows.items():
        path = os.path.join(TEXTS, name + ".json")
        ttgir = open(os.path.join(TEXTS, name + ".ttgir"), encoding="utf-8").read()
        v = check(program, path, "--cross-check")
        want(name, v["status"], status, "with layouts")
        want(name, QUALIFIER in v["qualifiers"], status == "ok", "qualifier")
        want(name, truth(kernel, B, n, s, ttgir), status, "enumeration")
        launch = json.load(open(path, encoding="utf-8"))
        with tempfile.TemporaryDirectory() as tmp:
            def changed(text):
                doc = {**launch, "ttir": os.path.join(TEXTS, name + ".ttir")}
                del doc["ttgir"]
                if text is not None:
                    doc["ttgir_text"] = text
                at = os.path.join(tmp, "launch.json")
                json.dump(doc, open(at, "w", encoding="utf-8"))
                return check(program, at)
            bare = changed(None)
            want(name, bare["status"], "races", "without the TTGIR text")
            want(name, {r["agents"] for r in bare["races"]}, {"threads of one program"}, "agents")
            if status != "ok":
                continue
            store = re.search(r"^.*tt\.store .*$", ttgir, re.M).group(0)
            where = re.search(r"loc\((#loc\d*)\)\s*$", store).group(1)
            layout = re.search(r"!tt\.ptr<f32>, (#\w+)>", store).group(1)
            text = re.search(rf"^{layout} = (.*)$", ttgir, re.M).group(1)
            warps = ints(text, "warpsPerCTA")
            size = ints(text, "sizePerThread")
            other = text.replace(f"sizePerThread = {size}", f"sizePerThread = {[1] * len(size)}")
            moved = relaid(store, layout)
            mutants = {
                "another layout of the store": ttgir.replace(store, moved).replace(f"{layout} = ", f"#other = {other}\n{layout} = ", 1),
                "replicas": ttgir.replace("sizePerThread = ", "sizePerThread = [4096], was = ")
                if len(size) == 1 else ttgir.replace(f"sizePerThread = {size}", "sizePerThread = [64, 64]"),
                "another place of the store": re.sub(rf"^{where} = loc\(.*$", f'{where} = loc("kernels.py":9999:1)', ttgir, flags=re.M),
                "another number of warps": ttgir.replace('"ttg.num-warps" = ' + str(max(warps)), '"ttg.num-warps" = 16'),
                "several blocks": ttgir.replace('"ttg.num-ctas" = 1', '"ttg.num-ctas" = 2'),
                "two layouts at one place": ttgir.replace(store, store + "\n" + moved).replace(f"{layout} = ", f"#other = {other}\n{layout} = ", 1),
            }
            if name == "two_passes":  # the same map as bases, then with a lane that holds another's element
                bases = "#ttg.linear<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[128], [256]], block = []}>"
                want(name, changed(ttgir.replace(text, bases))["status"], "ok", "bases")
                mutants["bases with replicas"] = ttgir.replace(text, bases.replace("[64]]", "[0]]"))
                mutants["bases of a smaller tile"] = ttgir.replace(text, bases.replace("[[128], [256]]", "[[128], [128]]"))
            for what, text in mutants.items():
                if text == ttgir:
                    failures.append(f"{name}: {what}: the text was not changed")
                    continue
                want(name, changed(text)["status"], "races", what)
                lost += 1
    for f in failures:
        print(f)
    print(f"{len(rows)} launches, {lost} changed texts, {len(failures)} failures")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
