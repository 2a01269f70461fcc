#!/usr/bin/env python3
"""Spare barriers: barriers.py POLYRACE

For every proved small kernel with barriers, `polyrace explain` must name exactly those barriers whose line can be
taken out of the text with the same verdict at the same rung, and with no assumption more. Each text is also checked with every barrier doubled:
then each one is spare. What a verdict proves for all grids or parameters is "always" race free in its explanation, too.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, TESTS)
from verdicts import program                                       # noqa: E402

BARRIER = re.compile(r"^\s*(?:ttg\.barrier|gpu\.barrier|\"?tt\w*\.debug_barrier)\b.*$", re.M)


def run(binary, folder, launch, text):
    path = os.path.join(folder, "x.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({**launch, "ttir_text": text}, f)
    done = subprocess.run([binary, "explain", "--format=json", path], capture_output=True, text=True)
    if done.returncode not in (0, 1, 2):
        raise RuntimeError(done.stderr)
    doc = json.loads(done.stdout)
    verdict, told = doc["verdict"], doc["explanations"][0]
    for c in told["race_free"]:                                    # what the verdict proves is no condition
        strides = c["rung"] == "T0" and any(q.startswith("assumes strides") for q in verdict["qualifiers"])
        if verdict["status"] == "ok" and verdict["rung"] in ("T0", c["rung"]) and not strides and c["condition"] != "always":
            raise RuntimeError(f"proved at {verdict['rung']}, but only race free at {c['rung']} if {c['condition']}: {text}")
    return verdict, told["spare_barriers"]


def main():
    binary, kernels, spare, needed, assumes, problems = program(), 0, 0, 0, 0, []
    sync = sorted(glob.glob(os.path.join(TESTS, "sync", "ttir", "*.json")))[::8]
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(glob.glob(os.path.join(TESTS, "kernels", "ttir", "*.small.json"))) + sync:
            with open(path, encoding="utf-8") as f:
                launch = json.load(f)
            with open(os.path.join(os.path.dirname(path), launch.pop("ttir")), encoding="utf-8") as f:
                text = f.read()
            places = list(BARRIER.finditer(text))
            if not places or "tt.func private" in text:
                continue
            verdict, listed = run(binary, folder, launch, text)
            if verdict["status"] != "ok":
                continue
            kernels += 1
            want = 0
            for m in places:
                v, _ = run(binary, folder, launch, text[:m.start()] + text[m.end():])
                proved = v["status"] == "ok" and v["rung"] == verdict["rung"]
                same = proved and set(v["qualifiers"]) <= set(verdict["qualifiers"])
                assumes += proved and not same
                want += same
                needed += not same
            spare += want
            if want != len(listed):
                problems.append(f"{path}: {len(listed)} barriers listed, {want} of {len(places)} can go")
            _, listed = run(binary, folder, launch, BARRIER.sub(lambda m: m[0] + "\n" + m[0], text))
            if len(listed) != 2 * len(places):
                problems.append(f"{path}: of {2 * len(places)} doubled barriers {len(listed)} are listed")
    for p in problems:
        print(p)
    print(f"{kernels} kernels: {spare} spare barriers, {needed} needed, {assumes} of them unless more is assumed; {len(problems)} problems")
    return 1 if problems or kernels < 5 or needed < 5 or assumes < 1 else 0


if __name__ == "__main__":
    sys.exit(main())
