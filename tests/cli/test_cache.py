#!/usr/bin/env python3
"""Remembered answers (--cache): the same bytes as fresh ones, solved apart whenever an answer could differ, and
files that do not fit are ignored.

usage: test_cache.py PROGRAM [unittest arguments]
"""
import glob
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, "..", "kernels", "ttir")
PROGRAM = None
HEAD, DIGEST = 16 + 32 + 8, 32

# out[pid * STRIDE + lane] = 0 for 16 lanes
STORE = """module {
  tt.func public @k(%%out: !tt.ptr<f32> loc("out"("k.py":1:1)), %%n: i32 loc("n"("k.py":1:1))) {
    %%pid = tt.get_program_id x : i32 loc("k.py":2:3)
    %%c = arith.constant %(stride)d : i32
    %%base = arith.muli %%pid, %%c : i32
    %%lane = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %%wide = tt.splat %%base : i32 -> tensor<16xi32>
    %%i = arith.addi %%wide, %%lane : tensor<16xi32>
    %%q = tt.splat %%out : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %%a = tt.addptr %%q, %%i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %%v = arith.constant dense<0.0> : tensor<16xf32>
    tt.store %%a, %%v : tensor<16x!tt.ptr<f32>> loc("k.py":%(line)d:5)
    tt.return
  }
}
"""
# out[idx[pid]] = 0: a refusal without contents
SCATTER = """module {
  tt.func public @k(%%out: !tt.ptr<f32> loc("out"("s.py":1:1)), %%idx: !tt.ptr<i32> loc("idx"("s.py":1:1))) {
    %%pid = tt.get_program_id x : i32
    %%p = tt.addptr %%idx, %%pid : !tt.ptr<i32>, i32
    %%i = tt.load %%p : !tt.ptr<i32> loc("s.py":%(line)d:7)
    %%q = tt.addptr %%out, %%i : !tt.ptr<f32>, i32
    %%z = arith.constant 0.0 : f32
    tt.store %%q, %%z : !tt.ptr<f32> loc("s.py":3:5)
    tt.return
  }
}
"""


def tensor(ptr=4096, shape=(64,), dtype="float32", **more):
    return {"tensor": {"dtype": dtype, "ptr": ptr, "shape": list(shape), **more}}


def launch(text, args=None, grid=(4,), config=None, **more):
    return {"version": 1, "kernel": "k", "grid": list(grid), "ttir_text": text,
            "args": args or {"out": tensor(), "n": 7}, "config": config or {"num_warps": 4}, **more}


class Cache(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.dir = os.path.join(self.folder.name, "answers")
        self.addCleanup(self.folder.cleanup)

    def run_it(self, *args):
        done = subprocess.run([PROGRAM, "check", *args], capture_output=True, text=True, timeout=300)
        self.assertLess(done.returncode, 3, done.stderr)
        return done.stdout

    def check(self, document, *options, cache=True):
        path = os.path.join(self.folder.name, "launch.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(document, f)
        out = self.run_it("--format=json", *([f"--cache={self.dir}"] if cache else ["--no-cache"]), *options, path)
        v = json.loads(out)
        for place in [v] + v["configs"]:
            place["stats"] = {k: n for k, n in place["stats"].items() if not k.endswith("_us")}
        return v

    def files(self):
        return sorted(glob.glob(os.path.join(self.dir, "*"))) if os.path.isdir(self.dir) else []

    def test_same_bytes(self):
        paths = sorted(glob.glob(os.path.join(KERNELS, "*.json")))
        def out(*options):
            text = self.run_it("--format=jsonl", "--jobs=1", *options, *paths)
            text += self.run_it("--jobs=1", *options, *paths)
            return re.sub(r'"\w+_us":\d+,', "", text)
        fresh, first = out("--no-cache"), out(f"--cache={self.dir}")
        kept = self.files()
        self.assertGreater(len(kept), 250)
        second = out(f"--cache={self.dir}")
        self.assertTrue(fresh == first == second)
        self.assertEqual(self.files(), kept)
        self.assertFalse([p for p in kept if not p.endswith(".answer")])

    def test_solved_apart(self):
        text = STORE % {"stride": 16, "line": 3}
        values = tensor(dtype="int32", ptr=8192, shape=(4,), values=[0, 1, 2, 3])
        scatter = SCATTER % {"line": 2}
        other = dict(values["tensor"], values=[0, 1, 2, 2])
        asked = [
            (launch(text), ()),
            (launch(text, grid=(5,)), ()),
            (launch(text, args={"out": tensor(), "n": 8}), ()),
            (launch(text, args={"out": tensor(), "n": None}), ()),
            (launch(text, args={"out": tensor(ptr=8192), "n": 7}), ()),
            (launch(text, args={"out": tensor(shape=(63,)), "n": 7}), ()),
            (launch(text, args={"out": tensor(dtype="int32"), "n": 7}), ()),
            (launch(text, args={"out": tensor(strides=[2]), "n": 7}), ()),
            (launch(text, args={"out": tensor(storage={"ptr": 4096, "bytes": 512}), "n": 7}), ()),
            (launch(text, config={"num_warps": 8}), ()),
            (launch(text, assume=["n >= 1"]), ()),
            (launch(text, triton="3.6.0"), ()),
            (launch(STORE % {"stride": 17, "line": 3}), ()),
            (launch(STORE % {"stride": 8, "line": 3}), ()),
            (launch(text), ("--engine=isl",)),
            (launch(text), ("--no-pretest",)),
            (launch(text), ("--no-explain",)),
            (launch(text), ("--rung=t1",)),
            (launch(text), ("--dep-order=strict",)),
            (launch(text), ("--dep-order=strict", "--max-ops=19999")),
            (launch(text), ("--program-order=source",)),
            (launch(text), ("--atomic-order=strict",)),
            (launch(text), ("--max-leaves=255",)),
            (launch(text), ("--z3-rlimit=1",)),
            (launch(text), ("--t1-timeout=1000",)),
            (launch(text), ("--assume=n >= 2",)),
            (launch(scatter, args={"out": tensor(), "idx": values}), ()),
            (launch(scatter, args={"out": tensor(), "idx": {"tensor": other}}), ()),
            (launch(scatter, args={"out": tensor(), "idx": tensor(dtype="int32", ptr=8192, shape=(4,))}), ()),
            (launch(scatter, args={"out": tensor(), "idx": tensor(dtype="int32", ptr=4096, shape=(4,))}), ()),
        ]
        for i, (document, options) in enumerate(asked):
            with self.subTest(i, options=options):
                fresh = self.check(document, *options, cache=False)
                self.assertEqual(self.check(document, *options), fresh)
                self.assertEqual(len(self.files()), i + 1)
                self.assertEqual(self.check(document, *options), fresh)
                self.assertEqual(len(self.files()), i + 1)

    def test_only_locations_differ(self):
        for stride, status in ((16, "ok"), (8, "races")):
            self.check(launch(STORE % {"stride": stride, "line": 3}))
            kept = self.files()
            document = launch(STORE % {"stride": stride, "line": 77})
            v = self.check(document)
            self.assertEqual(self.files(), kept)
            self.assertEqual(v["status"], status)
            for r in v["races"]:
                self.assertEqual(r["first"]["loc"]["line"], 77)
            self.assertEqual(v, self.check(document, cache=False))

    def test_answers_with_places_stay_with_their_text(self):
        args = {"out": tensor(), "idx": tensor(dtype="int32", ptr=8192, shape=(4,))}
        for line in (2, 12):
            v = self.check(launch(SCATTER % {"line": line}, args=args))
            self.assertEqual(v["status"], "unsupported")
            self.assertEqual(v, self.check(launch(SCATTER % {"line": line}, args=args), cache=False))
        self.assertEqual(len(self.files()), 2)

    def test_words_that_look_like_locations(self):
        # a function called loc, a string with a parenthesis: what is cut out never changes the operations
        a = STORE % {"stride": 16, "line": 3}
        call = a.replace("    tt.return\n", "    tt.call @loc(%c) : (i32) -> ()\n    tt.return\n", 1)
        def callee(op):
            return (f'  tt.func private @loc(%x: i32) {{\n    %p = tt.splat %x : i32 -> tensor<4xi32> loc("a)b(\\"":1:1) // loc(\n'
                    f"    %y = arith.{op} %x, %x : i32 loc(#loc9)\n    tt.return\n  }}\n}}\n#loc9 = loc(\"k.py\":1:1)\n")
        texts = [call[:call.rindex("}")] + callee(op) for op in ("addi", "subi")]
        for i, text in enumerate(texts):
            v = self.check(launch(text))
            self.assertEqual(v, self.check(launch(text), cache=False))
            self.assertEqual(len(self.files()), i + 1)

    def damaged(self, write, why):
        document = launch(STORE % {"stride": 16, "line": 3})
        fresh = self.check(document)
        path, = self.files()
        with open(path, "rb") as f:
            good = f.read()
        write(path, good)
        v = self.check(document)
        self.assertTrue(v["notes"] and why in v["notes"][0], v["notes"])
        for place in [v] + v["configs"]:
            place["notes"] = [n for n in place["notes"] if not n.startswith("cache:")]
        self.assertEqual(v, fresh)
        with open(path, "rb") as f:
            self.assertEqual(f.read(), good)           # written anew
        self.assertEqual(self.check(document), fresh)
        return good

    @staticmethod
    def put(path, body):
        with open(path, "wb") as f:
            f.write(body)

    def test_every_truncation(self):
        good = self.damaged(lambda p, b: self.put(p, b[:-1]), "is damaged")
        for n in list(range(0, len(good), 7)) + [len(good) - 1]:
            self.damaged(lambda p, b: self.put(p, b[:n]), "damaged" if n < 16 or n >= HEAD else "d")

    def test_changed_bytes(self):
        g = random.Random(7)
        for _ in range(60):
            def change(path, body):
                at = g.randrange(len(body))
                self.put(path, body[:at] + bytes([body[at] ^ (1 << g.randrange(8))]) + body[at + 1:])
            self.damaged(change, "was ignored")

    def test_foreign_files(self):
        self.damaged(lambda p, b: self.put(p, b"something else entirely " * 20), "not written by polyrace")
        self.damaged(lambda p, b: self.put(p, b + b"more"), "is damaged")
        def link(path, body):
            target = os.path.join(self.folder.name, "elsewhere")
            self.put(target, body)
            os.remove(path)
            os.symlink(target, path)
        self.damaged(link, "was ignored")

    def test_answer_of_another_question(self):
        racing, safe = (launch(STORE % {"stride": s, "line": 3}) for s in (8, 16))
        self.check(safe)
        proof, = self.files()
        self.check(racing)
        race, = [p for p in self.files() if p != proof]
        with open(proof, "rb") as f:
            self.put(race, f.read())
        v = self.check(racing)
        self.assertEqual(v["status"], "races")
        self.assertIn("answers another question", v["notes"][0])

    def test_a_forged_proof_does_not_add_up(self):
        # the body of a race with the status of a proof, or the body of a proof for a kernel with more accesses
        def seal(head, body):
            whole = head + len(body).to_bytes(8, "little") + body
            return whole + hashlib.blake2b(whole, digest_size=32).digest()
        racing, safe = (launch(STORE % {"stride": s, "line": 3}) for s in (8, 16))
        self.check(racing)
        race, = self.files()
        with open(race, "rb") as f:
            good = f.read()
        body = good[HEAD:-DIGEST]
        self.assertEqual(seal(good[:48], body), good)
        for status in range(4):
            for rung in range(4):
                self.put(race, seal(good[:48], bytes([2 * status, 2 * rung]) + body[2:]))
                v = self.check(racing)
                self.assertEqual(v["status"], "races", (status, rung))
        self.check(safe)
        proof, = [p for p in self.files() if p != race]
        with open(proof, "rb") as f:
            proved = f.read()[HEAD:-DIGEST]
        two = STORE % {"stride": 8, "line": 3}
        two = two.replace("    tt.return\n", "    tt.store %a, %v : tensor<16x!tt.ptr<f32>> loc(\"k.py\":9:5)\n    tt.return\n")
        self.check(launch(two))
        bigger, = [p for p in self.files() if p not in (race, proof)]
        with open(bigger, "rb") as f:
            head = f.read()[:48]
        self.put(bigger, seal(head, proved))
        v = self.check(launch(two))
        self.assertEqual(v["status"], "races")
        self.assertIn("damaged", v["notes"][0])

    def test_many_writers(self):
        paths = sorted(glob.glob(os.path.join(KERNELS, "*.json")))[:60]
        command = [PROGRAM, "check", "--format=jsonl", "--jobs=1", f"--cache={self.dir}", *paths]
        runs = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(8)]
        texts = {re.sub(r'"\w+_us":\d+,', "", p.communicate(timeout=300)[0]) for p in runs}
        self.assertEqual(len(texts), 1)
        self.assertNotIn("cache:", texts.pop())
        self.assertFalse([p for p in self.files() if not p.endswith(".answer")])

    def test_no_place_to_write(self):
        self.dir = os.path.join(self.folder.name, "missing", "deeper")
        document = launch(STORE % {"stride": 16, "line": 3})
        v = self.check(document)
        self.assertEqual(v["status"], "ok")
        self.assertIn("nothing could be written", v["notes"][0])

    def test_undecided_only_under_its_limits(self):
        text = STORE % {"stride": 16, "line": 3}
        low = self.check(launch(text), "--no-pretest", "--engine=isl", "--max-leaves=1", "--max-ops=1", "--first-ops=1")
        self.assertEqual(self.check(launch(text), "--no-pretest", "--engine=isl")["status"], "ok")
        self.assertIn(low["status"], ("ok", "unsupported"))


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
