#!/usr/bin/env python3
"""For races between threads of one program: which layouts did the compiler give the two accesses?

usage: layouts.py RESULTS.jsonl SELECTED_DIR [--target cuda:90]

Compiles each racing text to TTGIR on the host and prints, per race, the layouts of the two accesses, whether the tile
has fewer elements than the program has threads (replicas), and the barriers that other operations force between them.
The verdict does not depend on this: it is what `docs/findings.md` argues from.
"""
import argparse
import json
import os
import re
import sys
import tempfile

import triton
from triton.backends.compiler import GPUTarget

LOC = re.compile(r'^#(loc\d*) = loc\((.*)\)$', re.M)


def place(text, alias, depth=0):
    """file:line of a location alias."""
    body = dict(LOC.findall(text)).get(alias, "")
    match = re.search(r'"([^"]+)":(\d+):\d+', body)
    if match and not body.startswith("callsite"):
        return match.group(1), int(match.group(2))
    for inner in re.findall(r"#(loc\d*)", body):
        if depth < 20:
            found = place(text, inner, depth + 1)
            if found:
                return found
    return None


def operations(ttgir):
    """(position, op, file, line, layout, elements) of the global accesses of a TTGIR text."""
    aliases = dict(re.findall(r"^(#\w+) = (#ttg\.[^\n]*)$", ttgir, re.M))
    out = []
    for number, line in enumerate(ttgir.split("\n")):
        match = re.search(r"\b(tt\.(?:load|store|atomic_rmw|atomic_cas))\b.*?(tensor<([\dx]+)x!tt\.ptr<[^>]*>, (#\w+)>|!tt\.ptr<\w+>)", line)
        where = re.search(r"loc\(#(loc\d*)\)\s*$", line)
        if match and where:
            elements = 1
            for n in (match.group(3) or "1").split("x"):
                elements *= int(n)
            at = place(ttgir, where.group(1))
            if at:
                out.append((number, match.group(1), at[0], at[1], aliases.get(match.group(4), "scalar"), elements))
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("results")
    p.add_argument("selected")
    p.add_argument("--target", default="cuda:90")
    args = p.parse_args()
    backend, arch = args.target.split(":")
    target = GPUTarget(backend, int(arch) if arch.isdigit() else arch, 32 if backend == "cuda" else 64)
    lines = {}
    seen = set()
    for row in open(args.results):
        entry = json.loads(row)
        verdict = entry.get("verdict") or {}
        for race in verdict.get("races", []):
            if race["agents"] == "programs":
                continue
            name = os.path.basename(entry["unit"])
            file, index = name[: name.rindex("[")], int(name[name.rindex("[") + 1 : -1])
            if file not in lines:
                lines[file] = open(os.path.join(args.selected, file)).read().splitlines()
            doc = json.loads(lines[file][index])
            config = doc["configs"][race["config"]] if "configs" in doc else doc
            warps = (config.get("config") or doc.get("config") or {}).get("num_warps", 4)
            ends = [(race[e]["op"], race[e]["loc"]["file"], race[e]["loc"]["line"]) for e in ("first", "second")]
            with tempfile.NamedTemporaryFile("w", suffix=".ttir") as f:
                f.write(config["ttir_text"])
                f.flush()
                try:
                    ttgir = triton.compile(f.name, target=target, options={"num_warps": warps}).asm["ttgir"]
                except Exception as e:
                    print(verdict["kernel"], "does not compile:", str(e).split("\n")[0][:100])
                    continue
            found = [[o for o in operations(ttgir) if (o[1], o[2], o[3]) == end] for end in ends]
            key = (verdict["kernel"], str(ends), str([[o[4:] for o in f] for f in found]), warps)
            if key in seen:
                continue
            seen.add(key)
            print("%s (%s): %s line %d, %s line %d; %d threads" % (verdict["kernel"], name, ends[0][0], ends[0][2], ends[1][0], ends[1][2], warps * 32))
            for end, ops in zip(("first", "second"), found):
                for o in ops:
                    print("   %-6s %6d elements%s  %s" % (end, o[5], " (replicas)" if o[5] < warps * 32 else "", o[4]))
            same = {o[4] for o in found[0]} == {o[4] for o in found[1]} and all(found)
            replicas = any(o[5] < warps * 32 for ops in found for o in ops)
            print("   ->", "same layout" if same else "layouts differ", "with replicas" if replicas else "no replicas", flush=True)


if __name__ == "__main__":
    sys.exit(main())
