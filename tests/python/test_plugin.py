"""The pytest plugin, through pytest's own test harness."""
from importlib.metadata import entry_points

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

TESTS = """
import torch, sample_kernels as k, pytest
def x(): return torch.zeros(500)
def test_fine(): k.copy[(8,)](x(), x(), 500, B=64)
def test_race(): k.waw[(8,)](x(), x(), 500, B=64)
def test_open(): k.guarded[(4,)](x(), x(), 128, B=32)
def test_other_failure():
    k.waw[(8,)](x(), x(), 500, B=64)
    assert 1 == 2
@pytest.mark.polyrace(enabled=False)
def test_left_out():
    with pytest.raises(RuntimeError): k.waw[(8,)](x(), x(), 500, B=64)
@pytest.mark.polyrace(target="cuda:90")
def test_clusters(): k.copy[(8,)](x(), x(), 500, B=64, num_ctas=2)
"""


@pytest.fixture
def harness(pytester, env, monkeypatch):
    for name in ("PYTHONPATH", "TRITON_CACHE_DIR"):
        monkeypatch.setenv(name, env[name])
    pytester.makepyfile(TESTS)

    # An installed package has its plugin by an entry point, a source tree names it.
    installed = any(e.value == "polyrace.pytest_plugin" for e in entry_points(group="pytest11"))
    plugin = () if installed else ("-p", "polyrace.pytest_plugin")

    def call(*args):
        return pytester.runpytest_subprocess(*plugin, "-p", "no:randomly", "-p", "no:xdist", *args)
    return call


def test_racing_tests_fail(harness):
    result = harness("--polyrace", "--polyrace-target", "cuda:80")
    outcomes = result.parseoutcomes()
    assert (outcomes["passed"], outcomes["failed"]) == (4, 2)
    result.stdout.fnmatch_lines(["*polyrace: *launches are not executed*", "*1 launch of this test races*",
                                 "*waw: DATA RACE*", "*assert 1 == 2*", "FAILED *::test_race - *",
                                 "FAILED *::test_other_failure - *"], consecutive=False)
    result.stdout.fnmatch_lines("*polyrace: 5 launches: 2 with races, 2 not decided, 1 race free*")


def test_strict(harness):
    result = harness("--polyrace", "--polyrace-strict", "-k", "open or fine")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines("*1 launch of this test not decided*")


def test_without_the_flag(harness):
    result = harness("-k", "left_out")
    result.assert_outcomes(passed=1)
    assert "polyrace:" not in result.stdout.str()
