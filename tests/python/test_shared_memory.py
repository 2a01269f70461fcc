"""trace(shared_memory=True): the TTGIR of the same compile, one verdict of both levels."""
import contextlib
import io
import json
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

import polyrace                       # noqa: E402
import sample_kernels as k            # noqa: E402
import shared_kernels as s            # noqa: E402
from polyrace import _triton          # noqa: E402

gluon = pytest.mark.skipif(s.gluon is None or _triton.release() < (3, 8), reason="Gluon of Triton 3.8")
SHARED = "TTGIR (shared and tensor memory, barriers): ok for every trip count"


def traced(work, **options):
    out = io.StringIO()
    options.setdefault("target", "cuda:90")
    options.setdefault("shared_memory", True)
    with polyrace.trace(stream=out, **options) as t:
        work()
    return t, out.getvalue()


def matmul(fn=s.matmul, **more):
    a, b, c = (torch.zeros(256, 256, dtype=torch.float16) for _ in range(3))
    more = more or {"num_warps": 8, "num_stages": 3}
    fn[(2, 2)](a, b, c, 256, 256, 256, BM=128, BN=128, BK=64, **more)


def ring(v):
    s.ring[(1,)](torch.zeros(1024), torch.zeros(1024), 8, S=2, V=v)


@contextlib.contextmanager
def stage(instead):
    """A user's stage hook that replaces the TTGIR stage."""
    def hook(backend=None, stages=None, options=None, language=None, capability=None):
        if stages is None:
            return "", ""
        stages["ttgir"] = instead(stages["ttgir"])
    knobs = triton.knobs.runtime
    before, knobs.add_stages_inspection_hook = knobs.add_stages_inspection_hook, hook
    try:
        yield
    finally:
        knobs.add_stages_inspection_hook = before


# ---- both levels ------------------------------------------------------------------------------------------------
def test_pipelined_matmul_is_proved_at_both_levels(tmp_path):
    t, text = traced(matmul, verbose=True)
    [launch] = t.launches
    v = launch.verdict
    assert (v.status, v.rung, v.refusals, v.notes, t.exit_status) == ("ok", "T0", [], [], 0)
    assert {x: v.levels[x]["status"] for x in v.levels} == {"ttir": "ok", "ttgir": "ok"}
    assert v.levels["ttgir"]["scope"] == "every-trip-count"
    ttgir = launch.document["ttgir_text"]
    assert "ttg.async_copy_global_to_local" in ttgir or "ttng.async_tma" in ttgir, "pipelined: there is something to prove"
    assert "tt.func public @matmul" in launch.document["ttir_text"] and "ttg." not in launch.document["ttir_text"]
    assert SHARED in str(v) and "shared and tensor memory for every trip count" in text
    assert "race free (T0), shared memory too" in t.summary()
    t.save(tmp_path / "t.json")
    [again] = polyrace.load(tmp_path / "t.json")
    assert again.document == launch.document and again.verdict == v
    [decided] = polyrace.check_all(tmp_path / "t.json")
    assert decided.levels["ttgir"]["status"] == "ok", "a saved trace is decided at both levels again"


def test_off_there_is_no_ttgir(monkeypatch):
    t, text = traced(matmul, shared_memory=None)
    [launch] = t.launches
    assert launch.verdict.status == "ok" and launch.verdict.levels == {} and "ttgir_text" not in launch.document
    assert "shared" not in t.summary() and SHARED not in str(launch.verdict)
    monkeypatch.setenv("POLYRACE_SHARED_MEMORY", "1")
    assert traced(matmul, shared_memory=None)[0].launches[0].verdict.levels["ttgir"]["status"] == "ok"
    assert traced(matmul, shared_memory=False)[0].launches[0].verdict.levels == {}
    with pytest.raises(TypeError, match="True or False"):
        polyrace.trace(shared_memory="yes")


def test_a_race_in_global_memory_stays():
    t, text = traced(lambda: k.waw[(4,)](torch.zeros(100), torch.zeros(100), 100, B=32))
    v = t.launches[0].verdict
    assert (v.status, v.levels["ttir"]["status"], v.levels["ttgir"]["status"]) == ("races", "races", "ok")
    assert t.exit_status == 1 and "DATA RACE" in text


def test_the_key_includes_the_ttgir():
    """Depths of the pipeline give one TTIR and several TTGIR."""
    fn = triton.autotune(configs=[triton.Config({}, num_warps=8, num_stages=n) for n in (1, 3)], key=["M"])(s.matmul)

    def work():
        a, b, c = (torch.zeros(256, 256, dtype=torch.float16) for _ in range(3))
        fn[(2, 2)](a, b, c, 256, 256, 256, BM=128, BN=128, BK=64)
    t, _ = traced(work)
    assert (t.counters.configs, t.counters.solved) == (2, 2)
    first, second = t.launches[0].document["configs"]
    assert first["ttir_text"] == second["ttir_text"] and first["ttgir_text"] != second["ttgir_text"]
    assert t.launches[0].verdict.ok and t.exit_status == 0
    t, _ = traced(work, shared_memory=False)
    assert (t.counters.configs, t.counters.solved) == (2, 1)


# ---- no TTGIR ---------------------------------------------------------------------------------------------------
def fails(original):
    def run(module, metadata):
        raise RuntimeError("PassManager::run failed")
    return run


def unreadable(original):
    return lambda module, metadata: "module { this is no operation"


@pytest.mark.parametrize("instead, why", [(fails, "the TTGIR stage failed: RuntimeError: PassManager::run failed"),
                                          (unreadable, "its TTGIR text cannot be read: line 1, column 30: ")])
def test_a_stage_that_fails_is_a_note(instead, why):
    with stage(instead):
        t, text = traced(matmul)
    v = t.launches[0].verdict
    assert (v.status, v.rung, v.refusals) == ("ok", "T0", []), "the verdict of the TTIR stays"
    [note] = v.notes
    assert note.startswith("configuration [num_warps=8, num_ctas=1, num_stages=3]: shared memory was not analysed: ")
    assert why in note and v.configs[0].notes == [note] and f"  note: {note}" in str(v)
    assert v.levels == {} and SHARED not in str(v)
    assert "polyrace: not analysed: matmul [num_warps=8, num_ctas=1, num_stages=3]" in text and ": shared memory: " in text
    assert t.exit_status == 2 and "race free (T0), not analysed at every level" in t.summary()
    assert "1 race free in part" in t.summary()


def test_one_configuration_without_ttgir_makes_no_claim_for_all():
    fn = triton.autotune(configs=[triton.Config({}, num_warps=8, num_stages=n) for n in (2, 3)], key=["M"])(s.matmul)

    def work():
        a, b, c = (torch.zeros(256, 256, dtype=torch.float16) for _ in range(3))
        fn[(2, 2)](a, b, c, 256, 256, 256, BM=128, BN=128, BK=64)

    def second(original):
        return lambda module, metadata: (fails if metadata["num_stages"] == 3 else lambda x: x)(original)(module, metadata)
    with stage(second):
        t, _ = traced(work)
    v = t.launches[0].verdict
    assert v.status == "ok" and t.exit_status == 2
    level = v.levels["ttgir"]
    assert level["status"] == "unsupported" and "num_stages=3]: shared memory was not analysed" in level["notes"][0]
    assert [len(c.notes) for c in v.configs] == [0, 1]


def test_what_the_shared_memory_analysis_refuses():
    """Its refusal is one of the launch; the level of the TTIR keeps its proof."""
    t, text = traced(lambda: k.copy[(8,)](torch.zeros(500), torch.zeros(500), 500, B=64), target="hip:gfx942")
    v = t.launches[0].verdict
    assert v.levels["ttir"]["status"] == "ok" and v.levels["ttir"]["rung"] == "T0"
    assert v.levels["ttgir"]["status"] == v.status and v.status in ("unsupported", "ok")
    if v.status == "unsupported":
        assert "not analysed: copy" in text and "not decided: " in t.summary() and t.exit_status == 2


# ---- Gluon ------------------------------------------------------------------------------------------------------
@gluon
def test_gluon_is_decided_by_its_ttgir():
    t, text = traced(lambda: ring("ok"))
    v = t.launches[0].verdict
    assert (v.status, v.rung, v.scope, v.extra["level"]) == ("ok", None, "every-trip-count", "ttgir")
    assert "global memory was not analysed: a Gluon kernel has no TTIR" in v.notes[0]
    assert ": global memory: a Gluon kernel has no TTIR" in text
    assert t.exit_status == 2 and "race free in shared memory, not analysed at every level" in t.summary()
    t, text = traced(lambda: ring("ok"), shared_memory=False)
    [refusal] = t.launches[0].verdict.refusals
    assert refusal.kind == "no-compiled-kernel" and "--shared-memory" in refusal.message


@gluon
@pytest.mark.parametrize("variant, status, finding", [("no-empty-wait", "races", "SHM-WAR"),
                                                      ("no-arrive", "deadlock", "BAR-DEADLOCK"),
                                                      ("arrive-count", "hazard", "BAR-UNDERFLOW")])
def test_faults_of_gluon_kernels(variant, status, finding):
    t, text = traced(lambda: ring(variant))
    v = t.launches[0].verdict
    assert v.status == status and finding in [f["id"] for f in v.findings] and v.faulty and v.decided
    assert t.exit_status == v.exit_status == 1 and f" {finding} on shared memory" in text
    assert {"races": "1 data race(s)", "deadlock": "deadlock", "hazard": "synchronisation hazard"}[status] in t.summary()


@gluon
def test_the_command_and_its_documents(env, tmp_path):
    script = tmp_path / "prog.py"
    script.write_text("import torch, shared_kernels as s\n"
                      "s.ring[(1,)](torch.zeros(1024), torch.zeros(1024), 8, S=2, V='no-arrive')\n")
    for form in ("text", "json", "sarif", "html"):
        if form == "html":
            pytest.importorskip("jinja2")
        p = subprocess.run([sys.executable, "-m", "polyrace", "run", "--target", "cuda:90", "--shared-memory", "--format", form,
                            str(script)], capture_output=True, text=True, env=env, timeout=120)
        assert p.returncode == 1 and "BAR-DEADLOCK" in p.stderr and "1 with deadlocks" in p.stderr, p.stderr
        if form == "json":
            [doc] = json.loads(p.stdout)["verdicts"]
            assert doc["status"] == "deadlock" and doc["level"] == "ttgir"
        elif form == "sarif":
            [result] = json.loads(p.stdout)["runs"][0]["results"]
            assert result["ruleId"] == "polyrace/shared/bar-deadlock" and result["level"] == "error"
        elif form == "html":
            assert "BAR-DEADLOCK on shared memory" in p.stdout and 'class="deadlock"' in p.stdout


@gluon
def test_pytest_plugin(pytester, env, monkeypatch):
    for name in ("PYTHONPATH", "TRITON_CACHE_DIR"):
        monkeypatch.setenv(name, env[name])
    pytester.makepyfile("""
        import torch, pytest, shared_kernels as s
        @pytest.mark.polyrace(target="cuda:90", shared_memory=True)
        def test_ring():
            s.ring[(1,)](torch.zeros(1024), torch.zeros(1024), 8, S=2, V="no-arrive")
    """)
    installed = any(e.value == "polyrace.pytest_plugin" for e in entry_points(group="pytest11"))
    plugin = () if installed else ("-p", "polyrace.pytest_plugin")
    r = pytester.runpytest_subprocess(*plugin, "-p", "no:randomly", "-p", "no:xdist", "--polyrace")
    r.assert_outcomes(failed=1)
    r.stdout.fnmatch_lines(["*1 launch of this test races or waits wrongly*", "*BAR-DEADLOCK*"])
