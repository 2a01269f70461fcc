#!/usr/bin/env python3
"""Ctrl-C while one stage is busy: exit status 130 within a second, the verdicts decided so far printed, the open launch named.

test_interrupt.py PROGRAM [engines]"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import hard                                                       # noqa: E402

PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else "polyrace"
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FAST = os.path.join(TESTS, "kernels", "ttir", "vadd.small.json")
SECONDS = 1.0
TRIES = 3                          # a loaded machine may be late once


def busy(arguments, paths, after):
    """Interrupts the program while it works on the last of paths: (status, output, errors, seconds from the signal to the end);
    None when it had ended by itself."""
    p = subprocess.Popen([PROGRAM, "check", "--jobs=1", "--format=jsonl", *arguments, FAST, *paths], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    first = p.stdout.readline()                        # the first launch is decided: the second one is being worked on
    time.sleep(after)
    if p.poll() is not None:
        p.communicate()
        return None
    begun = time.monotonic()
    p.send_signal(signal.SIGINT)
    rest, err = p.communicate(timeout=60)
    return p.returncode, first + rest, err, time.monotonic() - begun


class Interrupts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def ends(self, path, *arguments, after=0.7):
        seconds = []
        for _ in range(TRIES):
            done = busy(arguments, [path], after)
            self.assertIsNotNone(done, "decided before the signal: the workload is too small")
            status, out, err, s = done
            seconds.append(s)
            self.assertEqual(status, 130, err)
            self.assertEqual([json.loads(line)["status"] for line in out.splitlines()], ["ok"])
            self.assertIn("not analysed: interrupted", err)
            if s < SECONDS:
                return
        self.fail(f"{min(seconds):.2f} s from the signal to the end")

    def test_parse(self):
        self.ends(self.write("k.ttir", hard.chain(1000000)), after=0.3)

    def test_isl(self):
        self.ends(self.write("l.json", hard.split(20, 3, 1000, 5)[1]), "--engine=isl", "--no-pretest", "--max-ops=1000000000",
                  "--first-ops=1000000000")

    def test_isl_default_limits(self):                 # calls that isl cannot be stopped in among them
        self.ends(self.write("l.json", hard.split(30, 3, 100, 2)[1]), "--engine=isl", "--no-pretest", after=1.5)

    def test_z3(self):
        version = subprocess.run([PROGRAM, "version"], capture_output=True, text=True).stdout
        if "z3 not built in" in version:
            self.skipTest("built without Z3")
        self.ends(self.write("l.json", hard.split(20, 3, 1000, 5)[1]), "--engine=z3", "--z3-rlimit=1000000000")

    def test_exhaustive(self):                         # nothing but pre-tests and enumeration has a budget
        self.ends(self.write("l.json", hard.split(8, 2, 60, 2, stores=120)[1]), "--engine=isl", "--max-ops=1", "--first-ops=1", after=0.4)

    def test_several_at_once(self):                    # each worker is at a launch of its own
        paths = [self.write(f"{i}.json", hard.split(20, 3, 1000, 5)[1]) for i in range(3)]
        done = busy(["--jobs=2", "--engine=isl", "--no-pretest", "--max-ops=1000000000", "--first-ops=1000000000"], paths, 0.7)
        self.assertIsNotNone(done)
        self.assertEqual(done[0], 130)
        self.assertEqual(len(done[1].splitlines()), 1)
        self.assertEqual(done[2].count("not analysed: interrupted"), 3, done[2])

    def test_shared_memory(self):
        self.ends(os.path.join(TESTS, "shm", "stock", "attention_ws.sm100.s5.ttgir"), after=0.5)

    def single(self, command, path, *arguments, after=0.7):
        p = subprocess.Popen([PROGRAM, command, *arguments, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(after)
        self.assertIsNone(p.poll(), "ended before the signal")
        begun = time.monotonic()
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=60)
        self.assertEqual(p.returncode, 130, err)
        self.assertLess(time.monotonic() - begun, 2 * SECONDS)
        self.assertIn("interrupted", err)

    def test_explain(self):
        self.single("explain", self.write("l.json", hard.split(20, 3, 1000, 5)[1]), "--engine=isl", "--no-pretest",
                    "--max-ops=1000000000", "--first-ops=1000000000")

    def test_replay(self):
        self.single("replay", self.write("l.json", hard.split(20, 2, 60, 2)[1]))


if __name__ == "__main__":
    unittest.main()
