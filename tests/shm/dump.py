#!/usr/bin/env python3
"""Stages of TTGIR texts: dump.py POLYRACE

The events are those of the certificate, kind by kind; protocol names every operation on a barrier, with a phase number where the text is proved; isl is
what explain prints; a text that is refused says why. Certificates need a build with Z3; without one the first two are not compared."""
import os
import re
import subprocess
import sys
import tempfile

TEXTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ttgir")


def run(*args):
    done = subprocess.run(args, capture_output=True, text=True, check=False)
    if done.returncode == 3 and "need a build with Z3" in done.stderr:
        return None
    if done.returncode not in (0, 1, 2):
        raise RuntimeError(f"{args}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def dump(program, stage, name):
    return run(program, "dump", "--stage=" + stage, os.path.join(TEXTS, name + ".ttgir"))


def kinds(text):
    return re.findall(r"^\(event (\d+) \(kind (\w+)\) \(op (\d+) ", text, re.M)


def certificate(name, events, protocol, proof):
    if kinds(events) != kinds(proof) or not kinds(events):
        yield f"{name}: other events than in the certificate"
    on_barriers = [line for line in proof.split("\n") if line.startswith("(event ") and "(barrier (if" in line]
    if len(re.findall(r"^  \(event ", protocol, re.M)) != sum(line.count("(barrier (if") for line in on_barriers):
        yield f"{name}: operations on barriers are missing"


def main():
    program, problems = sys.argv[1], []
    for name in ("ring_wgmma.ok", "ring_cp.ok", "ring_tcgen05.ok", "handoff_store.ok", "tiles_wgmma.uneven"):
        events, protocol = dump(program, "events", name), dump(program, "protocol", name)
        with tempfile.TemporaryDirectory() as folder:
            certified = run(program, "check", "--certify", folder, os.path.join(TEXTS, name + ".ttgir")) is not None
            if certified:
                with open(os.path.join(folder, "shared0.txt"), encoding="utf-8") as f:
                    problems += certificate(name, events, protocol, f.read())
        used = [line for line in protocol.split("\n") if line.startswith("  (event ") and "_barrier\")" not in line.replace("wait_barrier", "").replace("arrive_barrier", "")]
        if any("(number none)" in line or "(number " not in line for line in used) or "not proved" in protocol:
            problems.append(f"{name}: a phase without a number")
        if dump(program, "isl", name).strip() not in run(program, "explain", os.path.join(TEXTS, name + ".ttgir")):
            problems.append(f"{name}: other relations than explain")
    broken = dump(program, "protocol", "ring_wgmma.no-empty-wait")
    if "(number none)" not in broken or "not proved" not in broken:
        problems.append("a broken ring: numbers without a proof")
    if "# multi-cta: " not in dump(program, "events", "hand.cluster"):
        problems.append("a refused text: no reason")
    print("\n".join(problems) or "6 texts as expected")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
