"""polyrace.trace through real launches on CPU tensors, without a device (python.md 6)."""
import concurrent.futures
import io
import json
import os
import pickle
import subprocess
import sys
import threading

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

import polyrace                     # noqa: E402
import sample_kernels as k          # noqa: E402
from polyrace import _patch         # noqa: E402
from sample_kernels import line     # noqa: E402


def analyse(work, **options):
    """The launches of `work`, and what was printed."""
    out = io.StringIO()
    options.setdefault("target", "cuda:80")
    with polyrace.trace(stream=out, **options) as t:
        work()
    return t, out.getvalue()


def one(work, **options):
    t, _ = analyse(work, **options)
    [launch] = t.launches
    return launch.verdict


def f32(*shape):
    return torch.zeros(*shape)


def tuned(configs, fn=k.stepped, **more):
    """An autotuned copy of a kernel, with STEP = B by a heuristic unless the configuration gives it."""
    return triton.autotune(configs=configs, key=["n"], **more)(fn)


def lines_of(race):
    return race.first.loc.line, race.second.loc.line


# ---- (1) one race of each type -------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["WAW", "RAW", "WAR"])
def test_race_types(kind):
    n = 100
    calls = {"WAW": lambda: k.waw[(4,)](f32(n), f32(n), n, B=32), "RAW": lambda: k.raw[(4,)](f32(n), n, B=32),
             "WAR": lambda: k.war[(4,)](f32(n), n, B=32)}
    t, text = analyse(calls[kind])
    [launch] = t.launches
    v = launch.verdict
    assert v.status == "races" and t.exit_status == 1
    race = next(r for r in v.races if r.type == kind and r.agents == "programs")
    assert race.confirmed and race.config == 0
    where = {"WAW": ("WAW", "WAW"), "RAW": ("RAW_STORE", "RAW_LOAD"), "WAR": ("WAR_LOAD", "WAR_STORE")}[kind]
    assert lines_of(race) == tuple(map(line, where))
    assert race.first.loc.file == k.__file__ and race.first.program != race.second.program
    assert len(v.configs) == 1 and [r.type for r in v.configs[0].races] == [r.type for r in v.races]
    assert f"({kind}) on element" in text and f"{k.__file__}:{line(where[0])}:" in text
    assert launch.file == __file__ and f"[{launch.site}]" in text


def test_race_between_threads():
    v = one(lambda: k.threads[(1,)](f32(64), B=64))
    assert [(r.type, r.agents) for r in v.races] == [("WAW", "threads of one program")]
    assert lines_of(v.races[0]) == (line("THREADS"),) * 2


# ---- (3)-(6) configurations ----------------------------------------------------------------------------------
def config(b, step, **launch):
    return triton.Config({"B": b, "STEP": step}, **launch)


def test_failing_configuration_beside_a_proved_one():
    fn = tuned([config(64, 64), config(64, 64, num_ctas=2)])
    t, text = analyse(lambda: fn[lambda m: (triton.cdiv(500, m["B"]),)](f32(500), f32(500), 500))
    v = t.launches[0].verdict
    assert [c.status for c in v.configs] == ["ok", "unsupported"] and v.status == "unsupported"
    assert [r.kind for r in v.refusals] == ["compile-failed"] and v.rung is None
    assert v.refusals[0].hint == ('try trace(target="cuda:90"), polyrace-run --target cuda:90 or '
                                  'POLYRACE_TARGET=cuda:90')
    assert v.configs[1].config["num_ctas"] == 2
    assert "polyrace: not analysed: stepped [B=64, STEP=64, num_warps=4, num_ctas=2" in text and "compile-failed" in text
    for target in ("cuda:90",):  # another target compiles it; then several CTAs are the limit
        v = one(lambda: fn[(8,)](f32(500), f32(500), 500), target=target)
        assert [r.kind for r in v.refusals] == ["multi-cta"]


def test_racing_configuration_beside_a_failed_one():
    fn = tuned([config(64, 32), config(64, 64, num_ctas=2), config(64, 64)])
    t, text = analyse(lambda: fn[(8,)](f32(500), f32(500), 500))
    v = t.launches[0].verdict
    assert v.status == "races" and [c.status for c in v.configs] == ["races", "unsupported", "ok"]
    assert {r.config for r in v.races} == {0} and v.configs[0].config["STEP"] == 32
    assert "DATA RACE" in text and "compile-failed" in text


def test_weakest_scope_of_the_configurations():
    fn = tuned([config(64, 64), config(64, 32)])
    v = one(lambda: fn[(1,)](f32(500), f32(500), 500))
    assert [c.rung for c in v.configs] == ["T0", "T1-launch"]
    assert (v.status, v.rung, v.scope) == ("ok", "T1-launch", "this-params-this-grid")


def test_configurations_that_share_a_text():
    fn = tuned([config(64, 64), config(64, 64, num_stages=2), config(128, 128)])
    t, _ = analyse(lambda: fn[lambda m: (triton.cdiv(500, m["B"]),)](f32(500), f32(500), 500))
    v = t.launches[0].verdict
    assert (t.counters.configs, t.counters.solved) == (3, 2)
    assert [c.config["num_stages"] for c in v.configs] == [3, 2, 3] and {c.status for c in v.configs} == {"ok"}
    fn = tuned([config(64, 64), config(64, 64, num_stages=2), config(64, 32)])
    v = one(lambda: fn[(8,)](f32(500), f32(500), 500))
    assert [c.status for c in v.configs] == ["ok", "ok", "races"] and {r.config for r in v.races} == {2}
    assert "configuration 2 " in str(v) and "configuration 1 has the answer of configuration 0" in str(v)


def test_joined_verdict_is_the_commands(tmp_path):
    """What the saved launch gives `check` is what trace says."""
    fn = tuned([config(64, 64), config(64, 32), config(128, 128)])
    t, _ = analyse(lambda: fn[(8,)](f32(500), f32(500), 500))
    t.save(tmp_path / "t.json")
    [again] = polyrace.check_all(tmp_path / "t.json")
    v = t.launches[0].verdict
    for name in ("status", "rung", "scope", "qualifiers", "races", "withheld", "refusals", "grid_axes"):
        assert getattr(again, name) == getattr(v, name), name
    assert [c.status for c in again.configs] == [c.status for c in v.configs]


def test_front_end_error_is_a_note():
    t, text = analyse(lambda: k.does_not_compile[(1,)](f32(4), 4))
    v = t.launches[0].verdict
    assert (v.status, [r.kind for r in v.refusals]) == ("unsupported", ["no-compiled-kernel"])
    assert "does not compile for any target" in text and "undefined_name" in text
    good_and_bad = triton.autotune(configs=[triton.Config({"B": 64}), triton.Config({"B": 48})], key=["n"])(k.copy)
    t, text = analyse(lambda: good_and_bad[(8,)](f32(500), f32(500), 500))
    v = t.launches[0].verdict
    assert v.status == "ok" and len(v.configs) == 1 and "does not compile for any target" in v.notes[0]
    assert "polyrace: not analysed: copy [B=48" in text and "B=64" not in text


# ---- (7) what may not be shared ------------------------------------------------------------------------------
def test_solved_apart_and_shared():
    x, y = f32(500), f32(500)

    def work():
        for grid in (8, 8, 1, 8):
            k.stepped[(grid,)](x, y, 500, B=64, STEP=32)
    t, text = analyse(work)
    assert [v.verdict.status for v in t.launches] == ["races", "races", "ok", "races"]
    assert (t.counters.solved, t.counters.compiled) == (2, 1)
    assert [x.repeat for x in t.launches] == [None, 0, None, 0]
    assert text.count("DATA RACE") == 1, "a second identical launch prints nothing new"


def test_contents_are_part_of_the_question():
    out = torch.zeros(64, dtype=torch.int32)
    tables = [torch.arange(64), torch.arange(64) // 2]

    def work():
        for table in tables:
            k.scatter[(1,)](table, out, 64, B=64)
    t, _ = analyse(work)
    assert t.counters.solved == 2 and t.counters.compiled == 1
    assert [x.verdict.status for x in t.launches] == ["ok", "races"]
    assert {r.agents for r in t.launches[1].verdict.races} == {"threads of one program"}


# ---- (8) contents: bounds, caps, reasons ---------------------------------------------------------------------
def reason(table, out=None, fn=k.scatter, **options):
    n = table.numel()
    out = torch.zeros(max(n, 64), dtype=torch.int32) if out is None else out
    t, _ = analyse(lambda: fn[(max(1, n // 64),)](table, out, n, B=64), **options)
    [launch] = t.launches
    doc = launch.document["args"]["index"]["tensor"]
    return doc.get("no_values"), launch.verdict


def test_reasons_for_no_contents():
    table = torch.arange(1024)
    assert reason(table)[0] is None
    why, v = reason(table, snapshot_elements=1000)
    assert why == "too large (1024 elements, bound 1000)" and why in str(v)
    why, v = reason(table, snapshot_bytes=1024)
    assert why.startswith("launch cap") and "launch cap" in str(v)
    assert reason(torch.arange(2048)[::2])[0] == "non-contiguous"
    assert reason(torch.zeros(0, dtype=torch.int64))[0] == "empty"
    assert reason(torch.arange(64, device="meta"))[0] == "the tensor has no memory"
    both = torch.arange(128)
    assert reason(both[:64], both[32:])[0] == "written by the kernel"
    both = torch.arange(128)
    assert reason(both[:64], both[64:])[0] == "written by the kernel", "the kernel may write the whole storage"
    both = torch.arange(128)
    assert reason(both[:64], torch.zeros(64, dtype=torch.int64))[0] is None
    t, _ = analyse(lambda: k.guarded[(2,)](f32(64), f32(64), 64, B=32))
    assert t.launches[0].document["args"]["x"]["tensor"]["no_values"] == "float dtype float32"
    assert "no_values" not in t.launches[0].document["args"]["y"]["tensor"], "only what is loaded"


def test_a_table_of_pointers_has_contents():
    """The kernel writes through them, to no argument; what the table holds first is given all the same."""
    x, y = torch.zeros(100), torch.zeros(100)
    for rows, expect in (([x, y], "ok"), ([x, x[50:]], "ok"), ([x, x[49:]], "unsupported")):
        table = torch.tensor([r.data_ptr() for r in rows])
        t, _ = analyse(lambda: k.by_table[(2,)](table, 50, B=64))
        assert t.launches[0].document["args"]["table"]["tensor"]["values"] == table.tolist()
        assert t.launches[0].verdict.status == expect, expect


def test_initial_values_of_atomics():
    """A counter is read although the kernel changes it; a stored tensor is not; a stale or large one is not."""
    def given(counter, **options):
        t, _ = analyse(lambda: k.add_counter[(4,)](counter, 100, B=32), **options)
        return t.launches[0].document["args"]["x"]["tensor"]
    assert given(torch.full((4,), 7, dtype=torch.int32))["values"] == [7, 7, 7, 7]
    counter = torch.zeros(4, dtype=torch.int32)
    given(counter)
    assert "which was not run" in given(counter)["no_values"]
    assert given(torch.zeros(2000, dtype=torch.int32))["no_values"] == "written by the kernel"


def test_one_cap_for_views_of_one_storage():
    table = torch.arange(100)

    @triton.jit
    def two(a, b, out, B: triton.language.constexpr):
        i = triton.language.arange(0, B)
        triton.language.store(out + triton.language.load(a + i) + triton.language.load(b + i), i)
    t, _ = analyse(lambda: two[(1,)](table[:64], table[:64], torch.zeros(200, dtype=torch.int32), B=64),
                   snapshot_bytes=64 * 8)
    args = t.launches[0].document["args"]
    assert all("no_values" not in args[name]["tensor"] for name in "ab")


# ---- (9) evidence without a race -----------------------------------------------------------------------------
def test_withheld_race():
    t, text = analyse(lambda: k.guarded[(4,)](f32(128), f32(64), 128, B=32))
    v = t.launches[0].verdict
    assert (v.status, v.races) == ("unsupported", [])
    assert [(r.kind, r.loc.line) for r in v.refusals] == [("potential-race", line("GUARDED"))]
    assert "potential-race: races are possible" in text and "DATA RACE" not in text
    t, text = analyse(lambda: k.guarded_beside_a_race[(4,)](f32(128), f32(64), 128, B=32))
    v = t.launches[0].verdict
    assert {lines_of(r) for r in v.races} == {(line("SURE"),) * 2} and v.withheld >= 1
    assert f"polyrace: {v.withheld} possible race" in text


# ---- (10) save and load --------------------------------------------------------------------------------------
def test_saved_trace_in_a_fresh_process(tmp_path):
    fn = tuned([config(64, 64), config(64, 32), config(64, 64, num_ctas=2)])

    def work():
        fn[(8,)](f32(500), f32(500), 500)
        k.scatter[(1,)](torch.arange(64), torch.zeros(64, dtype=torch.int32), 64, B=64)
        k.does_not_compile[(1,)](f32(4), 4)
        k.copy[(0,)](f32(4), f32(4), 4, B=16)
    t, _ = analyse(work)
    path = tmp_path / "trace.json"
    t.save(path)
    code = "import sys, pickle, polyrace; sys.stdout.buffer.write(pickle.dumps(polyrace.load(sys.argv[1])))"
    out = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, check=True).stdout
    assert pickle.loads(out) == t.launches
    assert [x.status for x in t.launches] == ["races", "ok", "unsupported", "vacuous"]
    assert [v.status for v in polyrace.check_all(path)][:2] == ["races", "ok"]


# ---- (11) host threads ---------------------------------------------------------------------------------------
def test_interleaved_host_threads():
    x, y = f32(500), f32(500)
    jobs = [(b, b // d, g) for b in (16, 32, 64) for d in (1, 2) for g in (1, 3)]
    barrier = threading.Barrier(2)

    def host(part):
        barrier.wait()
        for b, step, grid in part:
            k.stepped[(grid,)](x, y, 500, B=b, STEP=step)

    def key(launch):
        d = launch.document
        return d["ttir_text"], tuple(d["grid"])

    serial, _ = analyse(lambda: [k.stepped[(g,)](x, y, 500, B=b, STEP=s) for b, s, g in jobs])

    def both():
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(host, (jobs[::2], jobs[1::2])))
    threaded, _ = analyse(both)
    assert len({x.thread for x in threaded.launches}) == 2
    want = {key(a): (a.verdict.status, a.verdict.rung, a.verdict.races) for a in serial.launches}
    got = {key(a): (a.verdict.status, a.verdict.rung, a.verdict.races) for a in threaded.launches}
    assert got == want and len(want) == len(jobs)


# ---- (12) printing -------------------------------------------------------------------------------------------
def test_printing_rules(monkeypatch):
    x, y = f32(500), f32(500)

    def work():
        for _ in range(2):
            k.copy[(8,)](x, y, 500, B=64)
            k.guarded[(4,)](x, y, 128, B=32)
    _, quiet = analyse(work)
    head, *rest = quiet.splitlines()
    assert head.startswith(f"polyrace: not analysed: guarded [num_warps=4, num_ctas=1, num_stages=3] "
                           f"{k.__file__}:{line('GUARDED')}: potential-race: ")
    assert sum(s.startswith("polyrace: not analysed: ") for s in rest) == 0 and "copy" not in quiet
    _, verbose = analyse(work, verbose=True)
    proved = [s for s in verbose.splitlines() if s.startswith("polyrace: copy ")]
    assert len(proved) == 1 and "race free for any parameters and any grid (T0); assumes no i32 overflow" in proved[0]
    monkeypatch.setenv("POLYRACE_VERBOSE", "1")
    assert "polyrace: copy " in analyse(work)[1]
    monkeypatch.delenv("POLYRACE_VERBOSE")
    assert analyse(work, quiet=True)[1] == ""


# ---- (14) contents that an un-run launch would have written ----------------------------------------------------
def test_stale_contents():
    index, out = torch.zeros(64, dtype=torch.int64), torch.zeros(64, dtype=torch.int32)

    def work():
        k.fill[(1,)](index, 64, B=64)
        k.scatter[(1,)](index, out, 64, B=64)
    t, _ = analyse(work)
    v = t.launches[1].verdict
    why = "written by launch 0 (fill), which was not run"
    assert t.launches[1].document["args"]["index"]["tensor"]["no_values"] == why
    assert v.status == "unsupported" and why in str(v)
    assert "an earlier launch was not run; values are those before it" in v.notes


def test_contents_after_a_run_launch():
    import fakedevice
    index, out = torch.zeros(64, dtype=torch.int64), torch.zeros(64, dtype=torch.int32)
    before = fakedevice.install()
    fakedevice.actions["fill"] = lambda table, n, *_: table.copy_(torch.arange(64))
    try:
        def work():
            k.fill[(1,)](index, 64, B=64)
            k.scatter[(1,)](index, out, 64, B=64)
        del fakedevice.ran[:]
        t, _ = analyse(work, run=True)
    finally:
        fakedevice.driver._active = before
        fakedevice.actions.clear()
    assert [name for name, _ in fakedevice.ran] == ["fill", "scatter"]
    assert [x.verdict.status for x in t.launches] == ["ok", "ok"] and t.launches[1].verdict.rung != "T0"


def test_stale_contents_outlive_their_trace():
    import fakedevice
    index, copy, out = (torch.zeros(64, dtype=torch.int64) for _ in range(3))
    analyse(lambda: k.fill[(1,)](index, 64, B=64))
    t, _ = analyse(lambda: k.scatter[(1,)](index, out, 64, B=64))
    assert "which was not run" in t.launches[0].document["args"]["index"]["tensor"]["no_values"]
    before = fakedevice.install()
    try:  # what is computed from stale memory is stale too, even when it runs
        t, _ = analyse(lambda: (k.copy[(1,)](index, copy, 64, B=64), k.scatter[(1,)](copy, out, 64, B=64)), run=True)
    finally:
        fakedevice.driver._active = before
    assert t.launches[1].document["args"]["index"]["tensor"]["no_values"] == \
        "written by launch 0 (copy), which read what was not run"
    assert t.launches[1].verdict.status == "unsupported"


def test_freed_storage_is_not_stale():
    def work():
        k.fill[(1,)](torch.zeros(64, dtype=torch.int64), 64, B=64)
        k.scatter[(1,)](torch.arange(64), torch.zeros(64, dtype=torch.int32), 64, B=64)
    t, _ = analyse(work)
    assert t.launches[1].verdict.status == "ok"


# ---- arguments -----------------------------------------------------------------------------------------------
def test_scalars_of_every_width():
    out = f32(64)
    t, _ = analyse(lambda: k.many_types[(1,)](1, 2**31 - 1, 2**40, 2**63 + 5, True, 0.5, None, out, B=64))
    args = t.launches[0].document["args"]
    assert args == {**args, "b": 2**31 - 1, "c": 2**40, "d": str(2**63 + 5), "flag": True, "f": 0.5}
    assert "a" not in args and "none" not in args, "folded: the value 1 and None"
    assert t.launches[0].verdict.status == "ok"


def test_tuples():
    x, y = f32(64), f32(640)
    v = one(lambda: k.pair[(2,)]((x, y, 2), 64, B=32))
    assert v.status == "ok"
    t, _ = analyse(lambda: k.pair[(2,)]((x, y, 7), 64, B=32))
    assert set(t.launches[0].document["args"]) == {"ts.0", "ts.1", "ts.2", "n"}


def test_named_tuples():
    x, y = f32(65), f32(64)
    t, _ = analyse(lambda: k.named[(2,)](k.Job(k.Pair(x, y), 64), B=32))
    assert set(t.launches[0].document["args"]) == {"job.pair.src", "job.pair.dst", "job.n"}
    assert t.launches[0].verdict.status == "ok"
    assert one(lambda: k.named[(2,)](k.Job(k.Pair(x, x), 64), B=32)).racy


def test_views_strides_and_aliases():
    base = f32(4, 100)
    args = analyse(lambda: k.copy[(2,)](base[1], base[2, 10:], 64, B=32))[0].launches[0].document["args"]
    a, b = args["x"]["tensor"], args["y"]["tensor"]
    assert a["storage"] == b["storage"] and a["storage"]["bytes"] == 1600
    assert (a["ptr"] - a["storage"]["ptr"], b["ptr"] - a["storage"]["ptr"]) == (400, 840)
    assert one(lambda: k.war[(2,)](base[0], 64, B=32)).racy
    v = one(lambda: k.copy[(2,)](base[0, 1:], base[0], 64, B=32))
    assert v.racy and {r.type for r in v.races} & {"RAW", "WAR"}, "the two arguments overlap"
    wide = torch.zeros(8, 8).t()
    assert one(lambda: k.strided[(8,)](wide, 8, 8, B=8)).ok
    t, _ = analyse(lambda: k.strided[(4,)](torch.zeros(8).expand(4, 8), 0, 8, B=8))
    assert t.launches[0].document["args"]["y"]["tensor"]["strides"] == [0, 1] and t.launches[0].verdict.racy


def test_descriptors():
    from triton.tools.tensor_descriptor import TensorDescriptor
    a, b = f32(64, 16), f32(64, 16)

    def desc(t):
        return TensorDescriptor(t, [64, 16], [16, 1], [16, 16])
    t, _ = analyse(lambda: k.by_descriptor[(4,)](desc(a), desc(b), B=16), target="cuda:90")
    assert t.launches[0].document["args"]["source"]["descriptor"]["block"] == [16, 16]
    assert t.launches[0].verdict.status == "ok"
    assert one(lambda: k.by_descriptor[(4,)](desc(a), desc(b), B=8), target="cuda:90").racy


@pytest.mark.parametrize("target", ["cuda:80", "hip:gfx942"])
def test_descriptors_where_the_target_has_none(target):
    """Triton passes a pointer, shape and strides of its own, flags, and the shape and strides of the host again."""
    from triton.tools.tensor_descriptor import TensorDescriptor
    a, b = torch.zeros(64, 16), torch.zeros(64, 16)

    def desc(t, stride=16, shape=(64, 16)):
        return TensorDescriptor(t, list(shape), [stride, 1], [16, 16])

    v = one(lambda: k.by_descriptor[(4,)](desc(a), desc(b), B=16), target=target)
    assert v.ok and v.rung == "T0", v
    assert any("strides of" in q and "stride" in q.partition(": ")[2] for q in v.qualifiers), "its strides are parameters"
    assert one(lambda: k.by_descriptor[(4,)](desc(a), desc(b), B=8), target=target).racy
    assert one(lambda: k.by_descriptor[(4,)](desc(a), desc(b, stride=12), B=16), target=target).racy, "rows overlap"
    assert one(lambda: k.by_descriptor[(4,)](desc(a), desc(b, stride=12, shape=(64, 12)), B=16), target=target).ok
    assert one(lambda: k.by_descriptor[(4,)](desc(a), desc(a[16:], shape=(48, 16)), B=16), target=target).racy, "one storage"
    assert one(lambda: k.by_descriptor[(4,)](desc(a), desc(b.view(-1)), B=16), target=target).ok, "of other rank than its tensor"


def test_pre_hook_that_shapes_a_descriptor():
    from triton.tools.tensor_descriptor import TensorDescriptor
    a, b = f32(64, 16), f32(64, 16)
    touched = []

    def hook(nargs):
        touched.append(nargs["source"].base.device.type)
        for name in ("source", "target"):
            nargs[name].block_shape = [nargs["B"], 16]
    fn = triton.autotune(configs=[triton.Config({"B": n}, pre_hook=hook) for n in (16, 32)], key=[])(k.by_descriptor)
    given = [TensorDescriptor(t, [64, 16], [16, 1], [1, 16]) for t in (a, b)]
    t, _ = analyse(lambda: fn[lambda m: (64 // m["B"],)](*given), target="cuda:90")
    v = t.launches[0].verdict
    assert v.status == "ok" and len(v.configs) == 2
    assert given[0].block_shape == [1, 16] and set(touched) == {"meta"}, "the program's objects are left alone"
    blocks = [c["args"]["source"]["descriptor"]["block"] for c in t.launches[0].document["configs"]]
    assert blocks == [[16, 16], [32, 16]]


def test_heuristics_and_callable_grid():
    seen = []
    fn = triton.heuristics({"STEP": lambda a: a["B"] // 2})(k.stepped)
    v = one(lambda: fn[lambda m: seen.append(dict(m)) or (8,)](f32(500), f32(500), 500, B=64))
    assert v.racy and seen[0]["STEP"] == 32 and seen[0]["n"] == 500


def test_pruned_configurations():
    prune = {"early_config_prune": lambda configs, nargs, **kw: [c for c in configs if c.kwargs["B"] < 100]}
    fn = tuned([config(64, 64), config(128, 64)], prune_configs_by=prune)
    assert len(one(lambda: fn[(8,)](f32(500), f32(500), 500)).configs) == 1

    def broken(configs, nargs, **kw):
        raise RuntimeError("asks the device")
    fn = tuned([config(64, 64), config(128, 128)], prune_configs_by={"early_config_prune": broken})
    v = one(lambda: fn[(8,)](f32(500), f32(500), 500))
    assert len(v.configs) == 2 and any("asks the device" in n for n in v.notes)


def test_returned_kernel_launches():
    x, y = f32(500), f32(500)

    def work():
        kernel = k.stepped[(1,)](x, y, 500, B=64, STEP=32)
        kernel[(8, 1, 1)](x, y, 500, 64, 32)
    t, _ = analyse(work)
    assert [x.verdict.status for x in t.launches] == ["ok", "races"]


def inductor_kernel(tmp_path, dest):
    import importlib.util
    import inductor_source
    path = tmp_path / f"generated_{abs(hash(dest))}.py"
    path.write_text(inductor_source.SOURCE.replace("NAME", "triton_poi_0").replace("DEST", dest))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.triton_poi_0


@pytest.mark.skipif(not triton.__version__.startswith("3.8"), reason="the installed torch works with Triton 3.8")
def test_launches_of_generated_kernels(tmp_path):
    import fakedevice
    before, real = fakedevice.driver._active, triton.backends.backends["nvidia"].driver
    try:
        kernels = [inductor_kernel(tmp_path, dest) for dest in ("x0", "x0 // 2")]
    finally:
        fakedevice.driver._active = before
        object.__setattr__(triton.backends.backends["nvidia"], "driver", real)
    x, y = f32(500), f32(500)
    t, text = analyse(lambda: [kernel.run(x, y, 500, stream=0) for kernel in kernels])
    assert [(a.kernel, a.verdict.status) for a in t.launches] == [("triton_poi_0", "ok"), ("triton_poi_0", "races")]
    v = t.launches[1].verdict
    assert len(v.configs) >= 1 and "XBLOCK" in v.configs[0].config and t.launches[0].verdict.rung == "T0"
    parts = t.launches[0].document.get("configs") or [t.launches[0].document]
    for part in parts:
        assert part["grid"] == [-(-500 // part["config"]["XBLOCK"]), 1, 1] and part["args"]["xnumel"] == 500


def test_warmup_is_not_a_launch():
    t, _ = analyse(lambda: k.copy.warmup(torch.float32, torch.float32, 5, B=64, grid=(1,)))
    assert t.launches == []


def test_atomics_are_no_race():
    assert one(lambda: k.add_counter[(4,)](torch.zeros(4, dtype=torch.int32), 100, B=32)).ok


def test_unknown_device():
    v = one(lambda: k.waw[(4,)](torch.zeros(100, device="meta"), torch.zeros(100, device="meta"), 100, B=32))
    assert v.racy


def test_exotic_and_wrong_arguments():
    t, text = analyse(lambda: k.copy[(1,)]({"a": 1}, f32(4), 4, B=16))
    assert [r.kind for r in t.launches[0].verdict.refusals] == ["no-compiled-kernel"] and "dict" in text
    out = io.StringIO()
    with polyrace.trace(stream=out) as t:
        with pytest.raises(TypeError):
            k.copy[(1,)](f32(4))
        with pytest.raises(KeyError, match="unrecognised"):
            k.copy[(1,)](f32(4), f32(4), 4, B=16, nonsense=3)
        k.copy[(1,)](f32(4), f32(4), 4, B=16)
    assert [x.verdict.status for x in t.launches] == ["ok"]


# ---- manners ---------------------------------------------------------------------------------------------------
def patched_names():
    from triton.compiler.compiler import CompiledKernel
    from triton.runtime.autotuner import Autotuner, Heuristics
    from triton.runtime.driver import driver
    from triton.runtime.jit import JITFunction
    spaces = [CompiledKernel, Autotuner, Heuristics, JITFunction, type(driver), triton.runtime, triton, triton.compiler]
    state = {(s, name): value for s in spaces for name, value in vars(s).items()}
    state["driver"] = dict(vars(driver))
    return state


def same(a, b):
    return a.keys() == b.keys() and all(a[n] is b[n] or a[n] == b[n] for n in a)


def test_everything_is_put_back():
    x = f32(64)
    before = patched_names()
    with polyrace.trace(quiet=True):
        assert not same(before, patched_names())
        with polyrace.trace(quiet=True) as inner:
            k.copy[(1,)](x, x, 64, B=64)
        assert len(inner.launches) == 1
    assert same(before, patched_names())
    with pytest.raises(ZeroDivisionError):
        with polyrace.trace(quiet=True):
            1 / 0
    assert same(before, patched_names()) and not _patch._open
    outer, inner = polyrace.trace(quiet=True), polyrace.trace(quiet=True)
    outer.__enter__(), inner.__enter__()
    outer.__exit__(None, None, None)
    inner.__exit__(None, None, None)
    assert same(before, patched_names())
    with pytest.raises(polyrace.PolyraceError, match="entered already"):
        outer.__enter__()


def test_wrong_calls():
    with pytest.raises(TypeError, match='"cuda:90"'):
        polyrace.trace(target=80)
    with pytest.raises(TypeError, match='"cuda:80"'):
        with polyrace.trace(target="sm_90"):
            pass
    with pytest.raises(TypeError, match="did you mean 'engine'"):
        polyrace.trace(engin="isl")
    with pytest.raises(TypeError, match="True or False"):
        polyrace.trace(run="yes")


def test_target_precedence(monkeypatch):
    def target(**options):
        with polyrace.trace(quiet=True, **options) as t:
            k.copy[(1,)](f32(4), f32(4), 4, B=16)
        return t.launches[0].document["target"]
    assert target() == "cuda:80"
    monkeypatch.setenv("POLYRACE_TARGET", "cuda:100")
    assert target() == "cuda:100"
    assert target(target="cuda:90") == "cuda:90"
    assert target(target="hip:gfx942") == "hip:gfx942"
    monkeypatch.setenv("POLYRACE_TARGET", "nothing")
    with pytest.raises(TypeError, match="POLYRACE_TARGET"):
        target()


def test_pretended_device():
    from triton.runtime.driver import driver
    before = patched_names()
    with polyrace.trace(target="cuda:90", quiet=True, pretend_device=True):
        assert driver.active.get_current_target().arch == 90
        with pytest.raises(AttributeError, match="no device"):
            driver.active.load_binary
    assert same(before, patched_names())
    with polyrace.trace(quiet=True):
        with pytest.raises(RuntimeError):
            driver.active


def test_forked_process():
    """A child process forked inside a trace is left alone and says so."""
    code = ("import os, sys, torch, sample_kernels as k, polyrace\n"
            "x = torch.zeros(64)\n"
            "with polyrace.trace() as t:\n"
            "    k.copy[(1,)](x, torch.zeros(64), 64, B=64)\n"
            "    pid = os.fork()\n"
            "    if not pid:\n"
            "        try: k.copy[(1,)](x, x, 64, B=64)\n"
            "        except RuntimeError: pass\n"
            "        os._exit(0)\n"
            "    os.waitpid(pid, 0)\n"
            "print(len(t.launches))\n")
    env = dict(os.environ, PYTHONPATH=os.pathsep.join([os.path.dirname(k.__file__),
                                                       os.path.dirname(os.path.dirname(polyrace.__file__))]))
    p = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, timeout=120)
    assert p.stdout == "1\n" and p.stderr.count("launches in a forked process") == 1, p.stderr


def test_switched_off(monkeypatch):
    monkeypatch.setenv("POLYRACE", "0")
    before = patched_names()
    with polyrace.trace() as t:
        assert same(before, patched_names())
    assert t.launches == [] and polyrace.install() is None


def test_internal_error_is_contained(monkeypatch):
    from polyrace import _facts
    real = _facts.read_arguments

    def broken(arguments, *rest):
        if any(name == "stride" for name, *_ in arguments):
            raise ZeroDivisionError("planted")
        return real(arguments, *rest)
    monkeypatch.setattr(_facts, "read_arguments", broken)

    def work():
        for _ in range(2):
            k.strided[(8,)](f32(64), 8, 8, B=8)
        k.copy[(1,)](f32(4), f32(4), 4, B=16)
    t, text = analyse(work)
    assert text.count("polyrace: internal error (please report): ZeroDivisionError: planted; see ") == 1
    folder = text.split("; see ")[1].split()[0]
    assert "planted" in open(os.path.join(folder, "error.txt")).read()
    assert [x.verdict.status for x in t.launches] == ["unsupported", "unsupported", "ok"]
    assert [r.kind for r in t.launches[0].verdict.refusals] == ["internal"] and t.exit_status == 4
    import shutil
    shutil.rmtree(folder)


def test_interrupt(monkeypatch):
    """Ctrl-C: what is decided stays, what is open is reported as not analysed, never as undecided."""
    from polyrace._solve import Solver
    real, started = Solver._decide, threading.Event()

    def slow(self, data, *rest):
        if b"strided" in data:
            started.set()
            while not self.cancelled:
                threading.Event().wait(0.01)
        return real(self, data, *rest)
    monkeypatch.setattr(Solver, "_decide", slow)
    out = io.StringIO()
    with pytest.raises(KeyboardInterrupt):
        with polyrace.trace(stream=out) as t:
            k.copy[(1,)](f32(4), f32(4), 4, B=16)
            k.strided[(8,)](f32(64), 8, 8, B=8)
            started.wait(10)
            raise KeyboardInterrupt
    assert [x.status for x in t.launches] == ["ok", "not analysed"] and t.launches[1].verdict is None
    assert "polyrace: not analysed: strided" in out.getvalue() and "interrupted" in out.getvalue()


def test_notebook():
    t, _ = analyse(lambda: k.waw[(4,)](f32(100), f32(100), 100, B=32))
    html = t._repr_html_()
    assert "<details open" in html and "DATA RACE" in html and "&lt;" not in html.split("<pre")[0]
    assert t.launches[0]._repr_html_() in html
    json.dumps(t.launches[0].to_dict())
