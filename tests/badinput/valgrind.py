#!/usr/bin/env python3
"""The program under valgrind: valgrind.py [path of polyrace] [--part=N] [--verbose]

Checks every shipped launch and TTGIR text (--part=N: every N-th), explains the races of the small corpus, replays and dumps some, writes a
certificate. No error and no definite leak may be reported by any process. Skipped without valgrind.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, TESTS)
from verdicts import program                                      # noqa: E402

VALGRIND = ["valgrind", "-q", "--leak-check=full", "--errors-for-leak-kinds=definite", "--show-leak-kinds=definite", "--error-exitcode=0"]
BATCH = 40


def batches(folder_paths):
    for i in range(0, len(folder_paths), BATCH):
        yield folder_paths[i:i + BATCH]


def inputs(part):
    """(what is done, files of one run)"""
    def take(pattern):
        return sorted(glob.glob(os.path.join(TESTS, *pattern.split("/"))))[part // 2::part]
    for d in ("kernels", "sync", "tables", "pitfalls", "loops", "labelled", "matrix", "reports", "generate", "gates", "sums", "styles", "locks"):
        yield from ((["check", "--jobs=1"], b) for b in batches(take(d + "/ttir/*.json")))
    for d in ("shm/ttgir", "shm/stock", "shm/membar", "shm/consan/ttgir"):
        yield from ((["check", "--jobs=1"], b) for b in batches(take(d + "/*.ttgir")))
    if part > 1:                                                  # found by a run over all of them: the run of a program that ends early
        yield ["check", "--jobs=1"], [os.path.join(TESTS, d, "ttir", n) for d, n in (("matrix", "t13_memory.json"), ("pitfalls", "p98_safe.json"))]
    for command in (["explain"], ["explain", "--format=json"], ["dump", "--stage=isl"], ["dump", "--stage=smt2"], ["replay", "--footprints"]):
        yield from ((command, [p]) for p in take("kernels/ttir/*_race.small.json")[::8])
    yield from ((["consan"], [p]) for p in take("shm/ttgir/*.ttgir")[::16])
    yield from ((["check", "--jobs=1", "--certify", "CERTS"], b) for b in batches(take("kernels/ttir/*.small.json")[::4]))


def main():
    if not shutil.which("valgrind"):
        print("valgrind is not here")
        return 77
    binary, verbose = program(), "--verbose" in sys.argv
    part = next((int(a[7:]) for a in sys.argv if a.startswith("--part=")), 1)
    runs = files = processes = 0
    problems = []
    for command, batch in inputs(part):
        with tempfile.TemporaryDirectory() as home:
            words = [os.path.join(home, "certs") if w == "CERTS" else w for w in command]
            done = subprocess.run([*VALGRIND, f"--log-file={home}/log.%p", binary, *words, *batch], capture_output=True, text=True)
            logs = glob.glob(home + "/log.*")
            said = ""
            for name in logs:
                with open(name, encoding="utf-8", errors="replace") as f:
                    said += f.read()
            runs, files, processes = runs + 1, files + len(batch), processes + len(logs)
            if re.sub(r"(?m)^==\d+== *$", "", said).strip() or not logs or done.returncode < 0 or done.returncode == 4:
                problems.append(f"{' '.join(command)} {batch[0]} ... ({len(batch)} files), exit {done.returncode}:\n{said[:3000]}{done.stderr[-300:]}")
                print(problems[-1], flush=True)
            if verbose:
                print(f"{' '.join(command)} {os.path.relpath(batch[0], TESTS)} ... {len(batch)}: exit {done.returncode}", flush=True)
    print(f"valgrind: {runs} runs over {files} files, {processes} processes, {len(problems)} with errors")
    return 1 if problems or files < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
