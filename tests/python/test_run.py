"""polyrace-run as a subprocess: output, exit status, documents, bad input. Group 13 of python.md 6."""
import json
import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("torch")
triton = pytest.importorskip("triton")

import polyrace                                          # noqa: E402
from conftest import ROOT                                # noqa: E402

HEAD = "import torch, triton, sample_kernels as k\nx, y = torch.zeros(500), torch.zeros(500)\n"


@pytest.fixture
def run(env, tmp_path):
    def call(body, *options, args=(), **more):
        script = tmp_path / "prog.py"
        script.write_text(HEAD + body)
        command = [sys.executable, "-m", "polyrace", "run", "--target", "cuda:80", *options, str(script), *args]
        p = subprocess.run(command, capture_output=True, text=True, env={**env, **more}, cwd=tmp_path, timeout=120)
        assert "Traceback" not in p.stderr or "prog.py" in p.stderr, p.stderr
        return p
    return call


OK = "k.copy[(8,)](x, y, 500, B=64)\n"
RACE = "k.waw[(8,)](x, y, 500, B=64)\n"
OPEN = "k.guarded[(4,)](x, y, 128, B=32)\n"


def test_shipped_example(env):
    path = os.path.join("examples", "differences.py")
    p = subprocess.run([sys.executable, "-m", "polyrace", "run", path], capture_output=True, text=True, env=env, cwd=ROOT)
    assert p.returncode == 1 and p.stdout == ""
    assert "polyrace: differences examples/differences.py:24: race free for any parameters and any grid (T0)" in p.stderr
    assert "differences: 2 DATA RACES  [examples/differences.py:25]" in p.stderr
    assert p.stderr.endswith("polyrace: 2 launches: 1 with races, 1 race free\n")
    if triton.__version__.startswith("3.8"):  # other releases number columns in another way
        with open(os.path.join(ROOT, "README.md")) as f:
            assert p.stderr in f.read(), "the README shows a real run"


def test_exit_status_and_summary(run):
    p = run(OK)
    assert p.returncode == 0 and "polyrace: 1 launch: 1 race free" in p.stderr
    p = run(OK + OPEN)
    assert p.returncode == 2 and "1 not decided, 1 race free" in p.stderr and "not decided: potential-race" in p.stderr
    p = run(OK + OPEN + RACE)
    assert p.returncode == 1 and "polyrace: 3 launches: 1 with races, 1 not decided, 1 race free" in p.stderr
    rows = [s.split()[0] for s in p.stderr.splitlines() if s.startswith("  ") and "  " in s.strip()][-3:]
    assert rows == ["waw", "guarded", "copy"], "worst first"
    assert run("pass\n").returncode == 0 and "no Triton kernel was launched" in run("pass\n").stderr
    assert "race free for any" not in run(OK, "--quiet").stderr.replace("1 race free", "")


def test_the_scripts_own_status_and_failure(run):
    assert run(OK + "import sys; sys.exit(7)\n").returncode == 7
    assert run(RACE + "import sys; sys.exit(7)\n").returncode == 1
    p = run(OK + "raise ValueError('its own')\n")
    assert p.returncode == 3 and "ValueError: its own" in p.stderr and "polyrace/__main__" not in p.stderr
    assert "polyrace: 1 launch: 1 race free" in p.stderr
    p = run("import sys; print(sys.argv[1:], __name__)\n" + OK, args=("--target", "a b"))
    assert p.stdout == "['--target', 'a b'] __main__\n" and p.returncode == 0


def test_documents(run, tmp_path):
    p = run(RACE + OPEN, "--format", "json", "--save", "saved.json", "--stats")
    doc = json.loads(p.stdout)
    assert [v["status"] for v in doc["verdicts"]] == ["races", "unsupported"]
    assert [x.status for x in polyrace.load(tmp_path / "saved.json")] == ["races", "unsupported"]
    assert "polyrace: 2 launches, 2 configurations, 2 compiled" in p.stderr
    p = run(RACE, "--format", "sarif", "--output", "r.sarif")
    sarif = json.loads((tmp_path / "r.sarif").read_text())
    assert sarif["version"] == "2.1.0" and p.stdout == "" and p.returncode == 1
    assert "sample_kernels.py" in (tmp_path / "r.sarif").read_text()


def test_wrong_usage(run, tmp_path, env):
    def command(*args):
        return subprocess.run([sys.executable, "-m", "polyrace", "run", *args], capture_output=True, text=True, env=env)
    assert command().returncode == 3
    p = command("no_such_script.py")
    assert p.returncode == 3 and p.stderr == "polyrace-run: no_such_script.py: no such file\n"
    p = run(OK, "--set", "engin=isl")
    assert p.returncode == 3 and "did you mean 'engine'" in p.stderr
    p = run(OK, "--target", "sm_80")
    assert p.returncode == 3 and 'write "cuda:80"' in p.stderr
    p = run(RACE, "--save", str(tmp_path / "missing" / "x.json"))
    assert p.returncode == 3 and "cannot write" in p.stderr and "DATA RACE" in p.stderr


def test_bad_input_does_not_end_the_program(run):
    p = run(OK + "k.does_not_compile[(1,)](x, 3)\n"
            "k.copy[(1,)]({'a': 1}, y, 3, B=16)\n"
            "k.copy[(1,)](torch.zeros(4, device='meta'), y, 3, B=16)\n"
            "k.copy[(8,)](x, y, 500, B=64, num_ctas=2)\n" + RACE + "print('reached')\n")
    assert p.stdout == "reached\n" and p.returncode == 1
    for text in ("does not compile for any target: NameError('undefined_name is not defined')",
                 "no-compiled-kernel: TypeError: failed to specialize argument of type: dict", "compile-failed: ",
                 "polyrace: 6 launches: 1 with races, 3 not decided, 2 race free"):
        assert text in p.stderr


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupt(env, tmp_path, number, status):
    script = tmp_path / "prog.py"
    script.write_text(HEAD + RACE + "import time\nprint('ready', flush=True)\ntime.sleep(60)\n")
    p = subprocess.Popen([sys.executable, "-m", "polyrace", "run", str(script)], env=env, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert p.stdout.readline() == "ready\n"
    seen = ""
    while "DATA RACE" not in seen:  # a worker thread decides; what is decided before the signal must stay
        more = p.stderr.readline()
        assert more, seen
        seen += more
    began = time.monotonic()
    p.send_signal(number)
    _, err = p.communicate(timeout=30)
    err = seen + err
    assert p.returncode == status and time.monotonic() - began < 30
    assert "DATA RACE" in err and "polyrace: 1 launch: 1 with races" in err


def test_interpreter_is_no_obstacle(run):
    """TRITON_INTERPRET=1 at import: kernels are compiled for analysis all the same, and run with --execute."""
    p = run(RACE + OK, TRITON_INTERPRET="1")
    assert p.returncode == 1 and "2 launches: 1 with races, 1 race free" in p.stderr, p.stderr
    body = ("index = torch.zeros(64, dtype=torch.int64)\nout = torch.zeros(64, dtype=torch.int32)\n"
            "k.fill[(1,)](index, 64, B=64)\nk.scatter[(1,)](index, out, 64, B=64)\nprint(int(index.sum()))\n")
    p = run(body, TRITON_INTERPRET="1")
    assert p.returncode == 2 and p.stdout == "0\n" and "written by launch 0 (fill), which was not run" in p.stderr
    pytest.importorskip("numpy")
    p = run(body, "--execute", TRITON_INTERPRET="1")
    assert p.returncode == 0 and p.stdout == "2016\n", p.stderr


def test_switched_off(run):
    p = run(RACE.replace("k.waw", "print('no launch') #"), POLYRACE="0")
    assert p.returncode == 0 and p.stderr == "" and p.stdout == "no launch\n"
