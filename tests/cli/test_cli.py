#!/usr/bin/env python3
"""The program as a user runs it: exit statuses, messages with file, line and column, launch files, documents,
determinism, several inputs.

usage: test_cli.py PROGRAM [unittest arguments]
"""
import base64
import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, "..", "kernels", "ttir")
PROGRAM = None

# out[pid * STRIDE + lane] = 0 for 16 lanes; the index table idx is added when INDEX is given.
STORE = """module {
  tt.func public @k(%%out: !tt.ptr<%(dtype)s>%(attr)s loc("out"("k.py":1:1)), %%n: %(int)s%(int_attr)s loc("n"("k.py":1:1))) {
    %%pid = tt.get_program_id x : i32 loc("k.py":2:3)
    %%c = arith.constant %(stride)d : i32
    %%base = arith.muli %%pid, %%c : i32
    %%lane = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %%wide = tt.splat %%base : i32 -> tensor<16xi32>
    %%i = arith.addi %%wide, %%lane : tensor<16xi32>
    %%q = tt.splat %%out : !tt.ptr<%(dtype)s> -> tensor<16x!tt.ptr<%(dtype)s>>
    %%a = tt.addptr %%q, %%i : tensor<16x!tt.ptr<%(dtype)s>>, tensor<16xi32>
    %%v = arith.constant dense<%(zero)s> : tensor<16x%(dtype)s>
    tt.store %%a, %%v : tensor<16x!tt.ptr<%(dtype)s>> loc("k.py":3:5)
    tt.return
  }
}
"""


def store(stride=16, dtype="f32", attr="", int_type="i32", int_attr=""):
    zero = "0.0" if dtype.startswith("f") else "0"
    return STORE % {"stride": stride, "dtype": dtype, "attr": attr, "int": int_type, "int_attr": int_attr, "zero": zero}


# out[idx[pid]] = 0
SCATTER = """module {
  tt.func public @s(%out: !tt.ptr<f32> loc("out"("s.py":1:1)), %idx: !tt.ptr<i32> loc("idx"("s.py":1:1))) {
    %pid = tt.get_program_id x : i32
    %p = tt.addptr %idx, %pid : !tt.ptr<i32>, i32
    %i = tt.load %p : !tt.ptr<i32> loc("s.py":2:7)
    %q = tt.addptr %out, %i : !tt.ptr<f32>, i32
    %z = arith.constant 0.0 : f32
    tt.store %q, %z : !tt.ptr<f32> loc("s.py":3:5)
    tt.return
  }
}
"""


def tensor(dtype="float32", ptr=4096, shape=(64,), **more):
    return {"tensor": dict({"dtype": dtype, "ptr": ptr, "shape": list(shape)}, **more)}


def launch(text=None, args=None, grid=(4,), **more):
    base = {"version": 1, "ttir_text": text or store(), "grid": list(grid),
            "args": {"out": tensor(), "n": 64} if args is None else args}
    return dict(base, **more)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, content):
        if not isinstance(content, str):
            content = json.dumps(content)
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(content)
        return self.path(name)

    def run_program(self, *args, stdin=None, env=None):
        environment = dict(os.environ, NO_COLOR="")
        environment.update(env or {})
        done = subprocess.run([PROGRAM, *args], input=stdin, capture_output=True, timeout=120, env=environment,
                              cwd=self.folder.name)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def check(self, content, *options, name="l.json"):
        return self.run_program("check", *options, self.write(name, content))

    def verdict(self, content, *options, status=None):
        code, out, err = self.check(content, "--format=json", *options)
        self.assertEqual(err, "")
        document = json.loads(out)
        if status:
            self.assertEqual(document["status"], status, out)
        return document

    def bad(self, content, *needles, name="l.json", options=()):
        code, out, err = self.check(content, *options, name=name)
        self.assertEqual((code, out), (3, ""), err)
        self.assertEqual(err.count("\n"), 1, err)
        for needle in needles:
            self.assertIn(needle, err)
        return err


class Libraries(Case):
    def loaded(self, *args):
        """What the system's loader says it looked for (glibc)."""
        return self.run_program(*args, env={"LD_DEBUG": "libs"})

    def test_z3_is_loaded_when_needed(self):
        code, out, err = self.loaded("version")
        if "z3 not built in" in out or "libz3" not in err:
            self.skipTest("no Z3, or a loader that does not tell")
        code, out, err = self.loaded("check", os.path.join(KERNELS, "vadd.json"))
        self.assertEqual(code, 0, err)
        self.assertIn("libisl", err)
        self.assertNotIn("libz3", err)
        code, out, err = self.loaded("check", "--engine=z3", os.path.join(KERNELS, "vadd.json"))
        self.assertEqual(code, 0, err)
        self.assertIn("libz3", err)


class Statuses(Case):
    def test_exit_statuses(self):
        self.assertEqual(self.check(launch())[0], 0)
        self.assertEqual(self.check(launch(store(8)))[0], 1)
        self.assertEqual(self.check(launch(config={"num_ctas": 2}))[0], 2)
        self.assertEqual(self.check("{")[0], 3)

    def test_worst_wins(self):
        good, race = self.write("g.json", launch()), self.write("r.json", launch(store(8)))
        open_ = self.write("o.json", launch(config={"num_ctas": 2}))
        bad = self.write("b.json", "[")
        for inputs, expected in (((good, open_), 2), ((open_, race, good), 1), ((race, bad), 3)):
            code, out, err = self.run_program("check", *inputs)
            self.assertEqual(code, expected, err)

    def test_bad_input_keeps_other_results(self):
        race, bad = self.write("r.json", launch(store(8))), self.write("b.ttir", "module {\n  tt.func\n")
        code, out, err = self.run_program("check", bad, race, "missing.json", "--format=json")
        self.assertEqual(code, 3)
        self.assertEqual([v["status"] for v in json.loads(out)["verdicts"]], ["races"])
        self.assertIn("b.ttir:", err)
        self.assertIn("missing.json: cannot read: No such file", err)

    def test_usage(self):
        for args, needle in ((["check"], "no input"), (["chek"], "unknown command"), ([], "usage:"),
                             (["check", "--engin=isl", "x"], "did you mean --engine"),
                             (["check", "--engine=foo", "x"], "not one of: auto isl z3"),
                             (["check", "--max-ops=-1", "x"], "from 0 to"), (["check", "--grid=0", "x"], "--grid"),
                             (["check", "--stats=1", "x"], "takes no value"), (["check", "--engine"], "needs a value"),
                             (["check", "--stage=parse", "x"], "takes no --stage"), (["dump", "x"], "which --stage"),
                             (["consan", "--emulate", "x.ttgir"], "cannot read"), (["consan", "x.ttgir"], "cannot read"), (["consan", "--emulate=newest", "x"], "not one of: off current older"), (["consan", "--emulate", "--schedules=0", "x"], "from 1 to"), (["explain", "x"], "cannot read"), (["explain", "--format=jsonl", "x"], "text, json or html"),
                             (["check", "--certify=d", "x"], "cannot read"),
                             (["check", "--format=sarif"], "no input"),
                             (["check", "x.ttgir"], "cannot read")):
            code, out, err = self.run_program(*args)
            self.assertEqual((code, out), (3, ""), args)
            self.assertIn(needle, err)

    def test_help(self):
        for args in (["help"], ["--help"], ["help", "check"], ["check", "--help"], ["help", "multi-cta"], ["version"]):
            code, out, err = self.run_program(*args)
            self.assertEqual((code, err), (0, ""))
            self.assertGreater(len(out), 20)
        self.assertIn("--max-ops", self.run_program("help", "check")[1])
        self.assertEqual(self.run_program("help", "nonsense")[0], 3)
        self.assertIn("--schedules", self.run_program("help", "consan")[1])
        self.assertIn("Python package", self.run_program("help", "scan")[1])

    def test_commands_of_the_python_package(self):
        """Without the package, or without an interpreter, the message says what to do."""
        path = self.write("g.json", launch())
        for python, needle in ((sys.executable, "needs the Python package"), ("/no/python3", "cannot be run: No such file")):
            env = {**os.environ, "POLYRACE_PYTHON": python, "PYTHONPATH": "/nowhere"}
            for args in (["scan", path], ["check", "--format=sarif", path], ["check", "--format=html", path]):
                run = subprocess.run([PROGRAM, *args], capture_output=True, text=True, env=env)
                self.assertEqual((run.returncode, run.stdout), (3, ""), run.stderr)
                self.assertIn(needle, run.stderr)
                self.assertEqual(run.stderr.count("\n"), 1)
        kinds = self.run_program("help")[1].split("(polyrace help KIND):")[1].split()
        for kind in kinds:
            self.assertIn(kind + ": ", self.run_program("help", kind)[1])

    def test_limits(self):
        path = self.write("k.ttir", store())
        for option in ("--max-nesting=1", "--max-text=1"):
            code, out, err = self.run_program("check", option, path, "--format=json")
            self.assertEqual(code, 2, out + err)
            self.assertEqual(json.loads(out)["refusals"][0]["kind"], "other")
        for option in ("--max-ops=1", "--first-ops=1", "--z3-rlimit=1", "--max-leaves=1", "--snapshot-elements=0",
                       "--snapshot-bytes=0"):
            code, out, err = self.run_program("check", option, self.write("l.json", launch(store(8))))
            self.assertIn(code, (1, 2), out + err)               # never a proof, never a crash

    def test_who_gave_up_about_the_premises(self):
        """Whether waits can end is asked of an engine; that it gave up is a matter of the budget, and it has a name."""
        for name in ("sync/ttir/T47", "matrix/ttir/t85_lock_safe", "reports/ttir/b034_sense_safe"):
            path = os.path.join(HERE, "..", name + ".json")
            for ops, want in (("98", "unsupported"), ("20000", "ok")):
                code, out, _ = self.run_program("check", "--format=json", "--no-cache", "--engine=isl", "--no-pretest", "--max-ops=" + ops, path)
                v = json.loads(out)
                self.assertEqual((name, v["status"], code), (name, want, 2 if want == "unsupported" else 0))
                for r in v["refusals"]:
                    self.assertEqual(r["kind"], "budget", name)
                    self.assertRegex(r["message"], r"stayed undecided: isl: .*\(limits: 98 operations", name)
                    self.assertIn("--max-ops", r["hint"])

    def test_who_gave_up_behind_a_refusal(self):
        """Whether a sum is what it looks like is asked of an engine; the refusal is about the address, a note says that it was the budget."""
        for name in ("append", "twice", "partition"):
            path = os.path.join(HERE, "..", "sums", "ttir", name + ".json")
            for ops, notes in (("1", 1), ("20000", 0)):
                code, out, _ = self.run_program("check", "--format=json", "--no-cache", "--engine=isl", "--no-pretest", "--max-ops=" + ops, path)
                v = json.loads(out)
                self.assertEqual((v["status"], code), ("unsupported", 2) if notes else ("ok", 0), name)
                said = [n for n in v["notes"] if n.startswith("a question behind this answer stayed undecided: isl: ")]
                self.assertEqual(len(said), notes, v["notes"])

    def test_copies_of_a_refusal(self):
        """Copies that unrolling makes of one line say one thing once; two columns of it are two places."""
        def text(columns):
            copies = "".join(f"""    %p{i} = tt.addptr %idx, %c{i} : !tt.ptr<i32>, i32
    %v{i} = tt.load %p{i} : !tt.ptr<i32>
    %q{i} = tt.addptr %out, %v{i} : !tt.ptr<i32>, i32
    tt.store %q{i}, %c{i} : !tt.ptr<i32> loc("k.py":7:{column})
""" for i, column in enumerate(columns))
            constants = "".join(f"    %c{i} = arith.constant {i} : i32\n" for i in range(len(columns)))
            return f"module {{\n  tt.func public @k(%out: !tt.ptr<i32>, %idx: !tt.ptr<i32>) {{\n{constants}{copies}    tt.return\n  }}\n}}\n"

        args = {"out": tensor(), "idx": {"tensor": {"dtype": "int32", "ptr": 1 << 20, "shape": [64]}}}
        for columns, places in (((5, 5, 5), 1), ((5, 5, 9), 2)):
            path = self.write("l.json", launch(text(columns), args))
            code, out, err = self.run_program("check", "--format=json", path)
            self.assertEqual(code, 2, out + err)
            self.assertEqual([r["loc"]["line"] for r in json.loads(out)["refusals"]], [7] * places)
            self.assertEqual(self.run_program("check", path)[1].count("not analysed"), places)

    def test_output_and_color(self):
        path = self.write("l.json", launch())
        self.assertEqual(self.run_program("check", path, "--output", self.path("o.txt")), (0, "", ""))
        with open(self.path("o.txt"), encoding="utf-8") as f:
            self.assertIn("race free", f.read())
        self.assertIn("\033[", self.run_program("check", path, "--color=always")[1])
        self.assertNotIn("\033[", self.run_program("check", path)[1])
        self.assertEqual(self.run_program("check", path, "--output", "/nonexistent/x")[0], 3)

    def test_interrupt(self):
        path = self.write("many.jsonl", "\n".join([json.dumps(launch())] * 20000))
        p = subprocess.Popen([PROGRAM, "check", "--jobs=2", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        p.stdout.readline()
        p.send_signal(signal.SIGTERM)
        begun = time.monotonic()
        out, err = p.communicate(timeout=60)
        if p.returncode == 0:
            self.skipTest("finished before the signal")
        self.assertEqual(p.returncode, 143)
        self.assertLess(time.monotonic() - begun, 20)
        self.assertIn(b"not analysed: interrupted", err)

    def test_interrupt_while_the_reader_is_slow(self):     # the signal finds the program waiting for room in the pipe
        path = self.write("many.jsonl", "\n".join([json.dumps(launch())] * 20000))
        p = subprocess.Popen([PROGRAM, "check", "--jobs=2", "--format=jsonl", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        held, until = -1, time.monotonic() + 60
        while time.monotonic() < until:
            time.sleep(0.1)
            now = int.from_bytes(fcntl.ioctl(p.stdout, termios.FIONREAD, bytes(4)), sys.byteorder)
            if now == held > 4096:
                break
            held = now
        self.assertIsNone(p.poll())
        p.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        out = p.communicate(timeout=60)[0]
        self.assertEqual(p.returncode, 143)
        self.assertTrue(out.endswith(b"\n"))
        for line in out.splitlines():
            self.assertEqual(json.loads(line)["status"], "ok")

    def test_second_interrupt_ends_at_once(self):
        path = self.write("many.jsonl", "\n".join([json.dumps(launch())] * 20000))
        p = subprocess.Popen([PROGRAM, "check", "--jobs=2", "--format=jsonl", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        p.stdout.readline()
        time.sleep(0.5)                                    # nobody reads: the pipe is full
        for _ in range(2):
            p.send_signal(signal.SIGINT)
            time.sleep(0.2)
        self.assertEqual(p.wait(timeout=10), 130)
        p.stdout.close()


    def test_interrupt_inside_z3(self):
        matmul = os.path.join(KERNELS, "matmul.json")           # seconds at the default limits
        p = subprocess.Popen([PROGRAM, "check", "--engine=z3", matmul], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(0.5)
        ended = p.poll() is not None
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=60)
        if ended:
            self.skipTest("finished before the signal, or built without Z3")
        self.assertEqual((p.returncode, out), (130, b""), err)
        self.assertIn(b"not analysed: interrupted", err)


class Configurations(Case):
    REPORTS = os.path.join(HERE, "..", "reports", "ttir")

    def notes(self, *names):
        with open(os.path.join(self.REPORTS, names[0] + ".json"), encoding="utf-8") as f:
            document = json.load(f)
        del document["ttir"]
        document["configs"] = [{"ttir": os.path.join(self.REPORTS, n + ".ttir"), "config": {"num_warps": 4}} for n in names]
        code, out, err = self.run_program("check", "--format=json", self.write("l.json", json.dumps(document)))
        self.assertEqual(code, 0, err)
        return [c["notes"] for c in json.loads(out)["configs"]]

    def test_coverage(self):                            # each is free and idempotent; a mixture of both looks right
        first, second = self.notes("b043_low", "b043_high")
        self.assertFalse([n for n in first if "different parts" in n])
        self.assertEqual([n for n in second if "different parts" in n],
                         ["configurations write different parts of o: configuration 0 writes element 0, configuration 1 does not"])
        self.assertFalse([n for c in self.notes("b043_low", "b043_low") for n in c if "different parts" in n])
        self.assertTrue([n for n in self.notes("b043_high", "b043_high", "b043_low")[2] if "configuration 2 writes element 0" in n])


class Inputs(Case):
    def test_kinds(self):
        ttir = self.write("k.ttir", store())
        code, out, err = self.run_program("check", ttir)
        self.assertEqual(code, 0, err)
        self.assertIn("assumes distinct pointer arguments", out)
        self.assertEqual(self.run_program("check", "-", stdin=store(8).encode())[0], 2)
        self.assertEqual(self.run_program("check", "-", "--input-format=json", stdin=json.dumps(launch()).encode())[0], 0)
        bound = self.write("l.json", launch())
        self.assertEqual(self.run_program("check", "--launch", bound, ttir)[0], 0)
        self.write("k8.ttir", store(8))
        code, out, err = self.run_program("check", "--launch", bound, self.path("k8.ttir"))
        self.assertEqual(code, 1)
        self.assertEqual(self.run_program("check", "--launch", bound, bound)[0], 3)
        code, out, err = self.run_program("check", self.write("x.ttgir", store()))
        self.assertEqual(code, 0, err)
        self.assertIn("shared and tensor memory are race free for every trip count", out)

    def test_byte_order_mark_and_line_ends(self):
        for content in (json.dumps(launch()), json.dumps(launch(), indent=1).replace("\n", "\r\n")):
            self.assertEqual(self.check("\ufeff" + content)[0], 0)
        self.assertEqual(self.check("\ufeff" + store().replace("\n", "\r\n"), name="k.ttir")[0], 0)
        self.bad("\ufeff", "l.json:")

    def test_ttir_path_is_relative_to_the_launch_file(self):
        os.mkdir(self.path("d"))
        self.write("d/k.ttir", store())
        content = launch()
        del content["ttir_text"]
        content["ttir"] = "k.ttir"
        self.assertEqual(self.check(content, name="d/l.json")[0], 0)
        content["ttir"] = "gone.ttir"
        self.bad(content, "d/l.json:1:", "cannot read", name="d/l.json")

    def test_json_lines(self):
        lines = "\n".join([json.dumps(launch()), "", json.dumps(launch(store(8))), "{broken", json.dumps({"version": 1})])
        code, out, err = self.check(lines, "--format=jsonl", name="a.jsonl")
        self.assertEqual(code, 3)
        self.assertEqual([json.loads(l)["status"] for l in out.splitlines()], ["ok", "races"])
        self.assertIn("a.jsonl:4:", err)
        self.assertIn("a.jsonl:5:", err)

    def test_launches_array(self):
        document = {"version": 1, "launches": [launch(), launch(args={"out": tensor()}), launch(store(8))]}
        code, out, err = self.check(document, "--format=json")
        self.assertEqual(code, 3)
        self.assertIn("launches[1].args.n: missing", err)
        verdicts = json.loads(out)["verdicts"]
        self.assertEqual([(v["status"], v["input"][-9:]) for v in verdicts], [("ok", "l.json[0]"), ("races", "l.json[2]")])

    def test_grid_override(self):
        self.verdict(launch(store(8)), "--grid=1,1,1", status="ok")
        self.verdict(launch(store(8), grid=[1]), "--grid=2", status="races")

    def test_assume(self):
        self.assertIn("assumes n >= 1", self.verdict(launch(), "--assume", "n >= 1")["qualifiers"])
        self.assertIn("assumes n % 2 == 0 and n < 100",
                      self.verdict(launch(assume=["n % 2 == 0 and n < 100"]))["qualifiers"])
        for text in ("n >=", "m > 0", "n * n > 1", "n // 0 == 1", "n", "out > 1", "(" * 500 + "n > 1", "n > 1 n"):
            self.bad(launch(), "assume", options=("--assume", text))
        self.bad(launch(assume=["n >= 1", "m > 0"]), "l.json:1:", "no parameter m")


class Launches(Case):
    def test_positions(self):
        content = '{"version": 1,\n "grid": [4],\n "ttir_text": %s,\n "args": {\n   "out": 7,\n   "n": 64}}' % json.dumps(store())
        self.bad(content, "l.json:5:11: args.out: expected")
        self.bad('{"version": 1,\n  "grid": [4, "x"], "args": {}}', "l.json:2:15: grid[1]: expected an integer, got a string")
        code, out, err = self.check('{"version": 1, "launches": [{"args": {}, "grid": [1]},\n {"args": 3} ]}')
        self.assertEqual(code, 3)
        self.assertIn("l.json:1:29: ttir: missing", err)
        self.assertIn("l.json:2:11: launches[1].args: expected an object by name", err)

    def test_hostile(self):
        self.bad("[" * 100000, "l.json:1:", "depth")
        self.bad('{"version": 1, "version": 1}', "duplicate")
        self.bad('{"version": 1, "args": {"n": 99999999999999999999999}}', "too big integer", "decimal strings")
        self.bad('{"version": 1, "args": {}, "configs": []}', "configs: the list is empty")
        self.bad('{"version": 1, "launches": []}', "launches: the list is empty")
        self.bad('{"version": 2, "args": {}}', "version 2 is not known")
        self.bad('{"args": {}}', "version: missing")
        self.bad("", "l.json:")
        self.bad("[7]", "expected a launch object")
        self.bad('{"version": 1, "args": {}, "kernel": "\\u0000"}', "l.json:1:")

    def test_scalars(self):
        for value in (64, "64", "0x40", True, {"scalar": {"dtype": "i32", "value": 64}}, None,
                      {"scalar": {"dtype": "i32", "value": None}}, -1, 4294967295):
            content = launch(args={"out": tensor(), "n": value})
            if value == "0x40":
                self.bad(content, "args.n", "expected an integer")
            else:
                self.verdict(content, status="ok")
        for value in (1.5, [1], {}, {"scalar": {}}, {"scalar": 3}, "12a", "", 4294967296, "-2147483649"):
            self.bad(launch(args={"out": tensor(), "n": value}), "args.n")
        big = launch(store(int_type="i64"), {"out": tensor(), "n": str(2 ** 64 - 1)})
        self.verdict(big, status="ok")
        self.bad(launch(store(int_type="i64"), {"out": tensor(), "n": str(2 ** 64)}), "does not fit in i64")
        self.bad(launch(store(int_attr=" {tt.divisibility = 16 : i32}"), {"out": tensor(), "n": 63}), "multiple of 16")

    def test_arguments(self):
        self.bad(launch(args={"out": tensor()}), "args.n: missing")
        self.bad(launch(args=[tensor()]), "args[1]: missing")
        self.verdict(launch(args=[tensor(), 64]), status="ok")
        self.bad(launch(args=[tensor(), 64, 3]), "3 entries for 2 arguments")
        self.verdict(launch(args={"out": tensor(), "n": 64, "BLOCK": "folded", "fn": {"any": []}}), status="ok")
        unnamed = store().replace('loc("out"("k.py":1:1))', "").replace('loc("n"("k.py":1:1))', "")
        unnamed = unnamed.replace("%out", "%arg0").replace("%n", "%arg1")
        self.bad(launch(unnamed), "args.arg0: missing", "an array binds in order")
        self.verdict(launch(unnamed, {"arg0": tensor(), "arg1": 3}), status="ok")
        self.bad(launch(kernel="other"), "kernel: other")

    def test_tensors(self):
        good = [tensor("torch.float32"), tensor("fp32"), tensor("f32", strides=[1]), tensor(shape=[8, 8], strides=[8, 1]),
                tensor(ptr=8192, shape=[64], strides=[-1]), tensor(strides=[0], shape=[5]), tensor(shape=[0]), tensor(shape=[]),
                tensor(storage={"ptr": 4096, "bytes": 4096}), tensor(ptr="4096"),
                {"tensor": {"dtype": "f32", "shape": [64], "storage": {"id": "a", "bytes": 1024}}}]
        for t in good:
            self.assertIn(self.check(launch(args={"out": t, "n": 1}))[0], (0, 1, 2), t)
        bad = [({"tensor": {}}, "dtype: missing"), ({"tensor": 3}, "expected an object"), (tensor("f33"), "unknown dtype"),
               (tensor(shape=["x"]), "shape[0]"), (tensor(shape=[-1]), "shape[0]: out of range"),
               (tensor(strides=[1, 1]), "strides"), (tensor(shape=[1] * 9), "dimensions"), (tensor(ptr=-1), "ptr: out of range"),
               ({"tensor": {"dtype": "f32", "shape": [1]}}, "ptr: missing"), (tensor(storage=3), "storage: expected"),
               (tensor(storage={"ptr": 4096, "bytes": 8}), "outside its storage"),
               (tensor(shape=[2 ** 40, 2 ** 40]), "too many elements"), (tensor(ptr=0, strides=[-1]), "address space"),
               (tensor(storage={"id": 3, "bytes": 8}), "storage.id"), (tensor(contiguous=3), "contiguous")]
        for t, needle in bad:
            self.bad(launch(args={"out": t, "n": 1}), "args.out", needle)
        self.bad(launch(store(attr=" {tt.divisibility = 16 : i32}"), {"out": tensor(ptr=4100), "n": 1}), "multiple of 16")

    def test_missing_binding(self):
        for t in (tensor("float16"), tensor(contiguous=False)):
            v = self.verdict(launch(args={"out": t, "n": 1}), status="unsupported")
            self.assertEqual(v["refusals"][0]["kind"], "missing-binding")
        self.verdict(launch(store(dtype="i8"), {"out": tensor("float32", shape=[64]), "n": 1}), status="ok")

    def test_conditions_of_a_text_alone(self):
        """A condition that no access, or no size below the caps of a grid, meets is no claim for every launch."""
        def alone(name, folder="kernels"):
            path = os.path.join(HERE, "..", folder, "ttir", name + ".ttir")
            return json.loads(self.run_program("check", "--format=json", path)[1])
        for folder, name in (("networks", "fused_mlp_wrong4"), ("idioms", "life_wrong1")):     # n <= 0 under i < n; a width of a million
            v = alone(name, folder)
            self.assertEqual((v["status"], v["refusals"][0]["kind"]), ("unsupported", "missing-binding"))
        if "z3 not built in" in self.run_program("version")[1]:
            return                                     # that strides of the premise exist at all is a question about products
        v = alone("matmul_strides")
        self.assertEqual(v["status"], "ok")
        self.assertIn("(n - 1)*stride_cn < stride_cm", " ".join(v["qualifiers"]))

    def test_named_storage(self):
        def named(id_, offset=0, bytes_=1024):
            return {"tensor": {"dtype": "f32", "shape": [64], "storage": {"id": id_, "offset": offset, "bytes": bytes_}}}
        self.verdict(launch(args={"out": named("a"), "n": 1}), status="ok")
        self.bad(launch(args={"out": named("a", 1000), "n": 1}), "outside its storage")
        with open(os.path.join(KERNELS, "vadd.small.ttir"), encoding="utf-8") as f:
            add = f.read()
        args = {"x": named("a"), "y": named("b"), "out": named("c"), "n": 61}
        self.verdict(launch(add, args, grid=[4]), status="ok")
        self.verdict(launch(add, dict(args, x=named("c", 16)), grid=[4]), status="races")
        self.bad(launch(add, dict(args, x=named("c", 0, 2048)), grid=[4]), "another argument gives this storage")

    def test_values(self):
        def scatter(index, **options):
            return launch(SCATTER, {"out": tensor(), "idx": tensor("int32", 8192, [4], **index)}, **options)
        raw = b"".join(v.to_bytes(4, "little") for v in (1, 2, 3, 1))
        with open(self.path("idx.bin"), "wb") as f:
            f.write(raw)
        statuses = {self.verdict(scatter(index))["status"] for index in
                    ({"values": [1, 2, 3, 1]}, {"values_b64": base64.b64encode(raw).decode()}, {"values_file": "idx.bin"})}
        self.assertEqual(len(statuses), 1)
        self.assertIn(statuses.pop(), ("races", "unsupported"))     # never a proof: entries 0 and 3 agree
        self.verdict(scatter({"no_values": "too large"}), status="unsupported")
        for index, needle in (({"values": [1]}, "1 values for 4 elements"), ({"values": 3}, "expected an array"),
                              ({"values": [1, 2, 3, "x"]}, "values[3]"), ({"values": [1, 2, 3, 2 ** 40]}, "does not fit"),
                              ({"values_b64": "*"}, "not base64"), ({"values_b64": "AAAA"}, "3 bytes"),
                              ({"values_file": "gone"}, "cannot read gone"), ({"values": [1, 2, 3, 4], "values_b64": ""}, "already given"),
                              ({"no_values": 3}, "no_values")):
            self.bad(scatter(index), "args.idx.tensor", needle)

    def test_contradictory_contents(self):
        text = """module {
  tt.func public @k(%x: !tt.ptr<i8>, %y: !tt.ptr<i8>) {
    %a = tt.load %x : !tt.ptr<i8>
    %b = tt.load %y : !tt.ptr<i8>
    tt.return
  }
}
"""

        def view(values, at=0, dtype="int32", **options):
            return {"tensor": {"dtype": dtype, "shape": [len(values)], "storage": {"id": "s", "offset": at, "bytes": 4096}, "values": values, **options}}

        def args(x, y):
            return launch(text, {"x": x, "y": y}, grid=[1])
        for x, y in ((view([1, 2, 3, 4]), view([1, 2, 3, 4])), (view([1, 2, 3, 4]), view([3, 4, 5, 6], 8)), (view([1, 2, 3, 4]), view([9] * 4, 16)),
                     (view([1, 2, 3, 4]), view([0, 3, 0, 4, 0], 6, "int16")), (view([-1, 0, 0, 0]), view([255, 255], 2, "uint8")),
                     (view([-1, 0, 0, 0]), view([True, True, False], 2, "bool")), (view([1, 2]), view([1, 1, 1], shape=[3], strides=[0])),
                     (view([1, 2, 3, 4]), view([1, 3], shape=[2], strides=[2])), (view([1, 2, 3, 4]), view([4, 9], 12))):
            self.verdict(args(x, y), status="ok")
        for x, y, needle in ((view([1, 2, 3, 4]), view([1, 2, 3, 5]), "element 3 of y and element 3 of x"),
                             (view([1, 2, 3, 4]), view([4, 4, 5, 6], 8), "element 0 of y and element 2 of x"),
                             (view([1, 2, 3, 4]), view([0, 3, 1, 4, 0], 6, "int16"), "have a byte in common"),
                             (view([-1, 0, 0, 0]), view([254, 255], 2, "uint8"), "have a byte in common"),
                             (view([-1, 0, 0, 0]), view([True, False, False], 2, "bool"), "element 1 of y and element 0 of x"),
                             (view([2, 0, 0, 0]), view([2, 1], 0, "uint8"), "element 1 of y and element 0 of x"),
                             (view([1, 2]), view([1, 2, 1], shape=[3], strides=[0]), "have a byte in common"),
                             (view([9, 9], 64), view([1, 2], shape=[2], strides=[0]), "element 1 of y and element 0 of y"),
                             (view([1, 2, 3, 4]), view([1, 2], shape=[2], strides=[2]), "element 1 of y and element 2 of x")):
            self.bad(args(x, y), "contradictory contents", needle)
        x = view([1, 2, 3, 4])
        x["tensor"].pop("storage")
        y = view([7])
        y["tensor"].pop("storage")
        self.bad(args({"tensor": dict(x["tensor"], ptr=4096)}, {"tensor": dict(y["tensor"], ptr=4108)}), "element 0 of y and element 3 of x", "(7 and 4)")
        self.verdict(args({"tensor": dict(x["tensor"], ptr=4096)}, {"tensor": dict(y["tensor"], ptr=4112)}), status="ok")

    def test_configs(self):
        content = launch(config={"num_warps": 4}, configs=[{}, {"config": {"num_warps": 8}, "ttir_text": store(8)}, {"grid": [1]}])
        v = self.verdict(content, status="races")
        self.assertEqual([c["status"] for c in v["configs"]], ["ok", "races", "ok"])
        self.assertEqual(v["races"][0]["config"], 1)
        self.assertEqual(v["configs"][1]["config"], {"num_warps": 8})
        v = self.verdict(launch(configs=[{}, {"compile_error": "no such target"}]), status="unsupported")
        self.assertEqual(v["refusals"][0]["kind"], "compile-failed")
        v = self.verdict(launch(configs=[{}, {"ttir_text": "module {"}]), status="unsupported")
        self.assertEqual(v["refusals"][0]["kind"], "unparsable")
        self.bad(launch("module {", configs=[{}, {}]), "l.json:1:9")
        self.bad(launch(configs=[{"args": {"n": "x"}}]), "configs[0].args.n")
        self.assertEqual(self.verdict(launch(config={"num_ctas": 2}), status="unsupported")["refusals"][0]["kind"], "multi-cta")


RACE_KEYS = ["type", "agents", "first", "second", "reason", "confirmed", "config", "pair", "set"]
ACCESS_KEYS = ["op", "kind", "tensor", "element", "byte", "loc", "write", "program", "lane", "iteration"]
TOP_KEYS = ["version", "kernel", "input", "status", "rung", "scope", "qualifiers", "races", "withheld", "grid_fragile",
            "refusals", "notes", "configs", "grid_axes", "out_of_bounds", "attributes", "engines", "z3_reasons", "stats"]


def without_times(document):
    if isinstance(document, dict):
        return {k: without_times(v) for k, v in document.items() if not k.endswith("_us")}
    return [without_times(v) for v in document] if isinstance(document, list) else document


class Documents(Case):
    def test_several_explanations(self):
        """Several launches of one input are one JSON document, also where one of them is bad."""
        racing = launch(store(stride=8))
        for lines, statuses in (([launch(), racing], ["ok", "races"]), ([launch(), {"version": 1}, racing], ["ok", "races"]), ([{"version": 1}] * 2, [])):
            path = self.write("many.jsonl", "\n".join(map(json.dumps, lines)) + "\n")
            document = json.loads(self.run_program("explain", "--format=json", path)[1])
            self.assertEqual([v["verdict"]["status"] for v in document["verdicts"]], statuses)
        one = json.loads(self.run_program("explain", "--format=json", self.write("one.json", racing))[1])
        self.assertEqual(one["verdict"]["status"], "races")

    def test_fields(self):
        v = self.verdict(launch(store(8)), status="races")
        self.assertEqual(list(v), TOP_KEYS)
        race = v["races"][0]
        self.assertEqual(list(race), RACE_KEYS)
        self.assertEqual(list(race["first"]), ACCESS_KEYS)
        self.assertEqual((race["type"], race["confirmed"], race["agents"]), ("WAW", True, "programs"))
        self.assertEqual(race["first"]["loc"], {"file": "k.py", "line": 3, "col": 5})
        self.assertEqual(race["first"]["byte"], race["second"]["byte"])
        self.assertEqual((v["rung"], v["scope"], v["grid_axes"]), (None, None, None))
        for key in ("parse_us", "lower_us", "decide_us"):
            self.assertIsInstance(v["stats"][key], int)
        v = self.verdict(launch(), status="ok")
        self.assertEqual((v["rung"], v["scope"]), ("T0", "any-params-any-grid"))
        self.assertEqual(v["grid_axes"]["x"], "any")
        self.assertEqual(list(v["engines"]), ["pretest", "isl", "enum", "z3"])

    def test_forms(self):
        one = self.write("a.json", launch())
        code, out, err = self.run_program("check", "--format=jsonl", one, one)
        self.assertEqual(len(out.splitlines()), 2)
        code, out, err = self.run_program("check", "--format=json", one, one)
        document = json.loads(out)
        self.assertEqual((document["version"], len(document["verdicts"])), (1, 2))
        self.assertNotIn("verdicts", json.loads(self.run_program("check", "--format=json", one)[1]))
        # the form of the document follows from the command line, not from what could be read
        code, out, err = self.run_program("check", "--format=json", one, "missing.json")
        self.assertEqual((code, len(json.loads(out)["verdicts"])), (3, 1))
        code, out, err = self.run_program("check", "--format=json", "gone.json", "missing.json")
        self.assertEqual((code, json.loads(out)), (3, {"version": 1, "verdicts": []}))

    def test_odd_names_stay_utf8(self):
        text = store().replace("@k(", '@"k\\FF\\22"(')
        code, out, err = self.check(launch(text), "--format=json")
        if code != 3:
            json.loads(out)

    def test_same_bytes(self):
        inputs = [os.path.join(KERNELS, n) for n in sorted(os.listdir(KERNELS)) if n.endswith(".small.json")][:40]
        first = self.run_program("check", *inputs)
        self.assertEqual(first, self.run_program("check", "--jobs=1", *inputs))
        self.assertEqual(first, self.run_program("check", "--jobs=5", *inputs))
        documents = [json.loads(self.run_program("check", "--format=json", *inputs)[1]) for _ in range(2)]
        self.assertEqual(*map(without_times, documents))
        for stage in ("parse", "access", "records", "query", "isl", "verdict"):
            runs = {self.run_program("dump", "--stage=" + stage, inputs[0]) for _ in range(2)}
            self.assertEqual(len(runs), 1)
            self.assertEqual(runs.pop()[0], 0)

    def test_one_pair(self):
        path = self.write("l.json", launch(store(8)))
        for stage, comment in (("query", "#"), ("isl", "#"), ("smt2", ";")):
            code, out, err = self.run_program("dump", "--stage=" + stage, "--pair=0", path)
            if code == 3 and "no Z3" in err:
                continue
            self.assertEqual((code, err), (0, ""))
            self.assertTrue(out.startswith(comment + " pair 0: "), out)
            self.assertEqual(self.run_program("dump", "--stage=" + stage, "--pair=99", path),
                             (0, comment + " there is no pair 99\n", ""))

    def test_text_report(self):
        self.write("k.py", "def k(out, n):\n  pid\n    store_here(out)\n")
        code, out, err = self.check(launch(store(8)))
        for needle in ("DATA RACE", "store_here(out)", "k.py:3:5", "program (0, 0, 0)", "lane (8)", "element 8 (byte 32) of out",
                       "why: ", "confirmed"):
            self.assertIn(needle, out)

    def test_replay(self):
        race, good = self.write("r.json", launch(store(8))), self.write("g.json", launch())
        self.assertEqual(self.run_program("replay", race)[0], 1)
        self.assertEqual(self.run_program("replay", good)[0], 0)
        code, out, err = self.run_program("replay", "--footprints", race)
        self.assertEqual(code, 0, out + err)
        self.assertIn("equal", out)
        self.assertEqual(self.run_program("replay", self.write("k.ttir", store()))[0], 3)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
