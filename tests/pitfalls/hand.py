#!/usr/bin/env python3
"""Check the hand-written texts: hand.py [path of polyrace]. Each hand/NAME.ttir starts with comments: what it is
about, `expect: STATUS [KIND,KIND] [qual=TEXT] [noqual=TEXT] [note=TEXT]` and `launch: JSON` (without the text)."""
import glob
import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from verdicts import check, program                               # noqa: E402


def read(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    fields = dict(re.findall(r"^// (expect|launch): (.*)$", text, re.M))
    return fields["expect"].split(), dict(json.loads(fields["launch"]), ttir_text=text)


def judge(expect, v):
    wrong = [] if v["status"] == expect[0] else ["status " + v["status"]]
    for word in expect[1:]:
        if word.startswith("qual="):
            if not any(word[5:] in q for q in v["qualifiers"]):
                wrong.append("no qualifier with " + word[5:])
        elif word.startswith("noqual="):
            if any(word[7:] in q for q in v["qualifiers"]):
                wrong.append("a qualifier with " + word[7:])
        elif word.startswith(("note=", "nonote=")):
            want, text = word.split("=", 1)
            if any(text in n for n in v["notes"]) != (want == "note"):
                wrong.append(word)
        elif {r["kind"] for r in v["refusals"]} != set(word.split(",")):
            wrong.append("refusals " + ", ".join(r["kind"] for r in v["refusals"]))
    return wrong


def main():
    binary = program()
    failures = 0
    paths = sorted(glob.glob(os.path.join(HERE, "hand", "*.ttir")))
    with tempfile.TemporaryDirectory() as folder:
        cases = {}
        for path in paths:
            expect, launch = read(path)
            name = os.path.join(folder, os.path.basename(path)[:-5] + ".json")
            with open(name, "w", encoding="utf-8") as f:
                json.dump(launch, f)
            cases[name] = expect
        verdicts, problems = check(binary, list(cases))
    for p in problems:
        print("FAIL", p)
    for name, expect in cases.items():
        if name not in verdicts:
            continue
        wrong = judge(expect, verdicts[name])
        if wrong:
            failures += 1
            print("FAIL", os.path.basename(name)[:-5] + ":", "; ".join(wrong))
    print(f"{len(cases)} texts, {failures + len(problems)} failures")
    return 1 if failures or problems or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
