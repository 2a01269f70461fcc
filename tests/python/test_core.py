"""The binding: check, verdicts, options, errors, saved launches. Needs neither torch nor triton."""
import json
import os
import subprocess
import sys

import polyrace
import pytest


def read(kernels, name):
    with open(os.path.join(kernels, name)) as f:
        return f.read()


def test_import_is_light():
    code = "import sys, polyrace; print(sorted({'torch', 'triton', 'ctypes'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_race(kernels):
    v = polyrace.check(os.path.join(kernels, "vadd_race.json"))
    assert (v.status, v.racy, v.ok, v.decided, v.exit_status) == ("races", True, False, True, 1)
    race = v.races[0]
    assert (race.type, race.agents, race.confirmed) == ("WAW", "programs", True)
    assert race.first.tensor == "out" and race.first.byte == 4 * race.first.element
    assert str(race.first.loc).startswith("elementwise.py:")
    assert str(v).startswith("vadd_race: DATA RACE") and "DATA RACE" in v._repr_html_()
    with pytest.raises(TypeError, match="verdict.ok"):
        bool(v)


def test_text_with_and_without_launch(kernels):
    text = read(kernels, "vadd.ttir")
    alone = polyrace.check(text)
    assert alone.ok and alone.rung == "T0" and "assumes distinct pointer arguments do not overlap" in alone.qualifiers
    launch = json.loads(read(kernels, "vadd.json"))
    for form in (launch, json.dumps(launch), os.path.join(kernels, "vadd.json")):
        assert polyrace.check(text, form).qualifiers == ["assumes no i32 overflow"]
    launch = dict(launch, ttir_text=text)
    launch.pop("ttir", None)
    assert polyrace.check(launch).status == "ok"


def test_ttgir_texts(kernels, tmp_path):
    """A path, a name or `level` says that a text is TTGIR; the verdict is that of the command."""
    shared = os.path.join(os.path.dirname(os.path.dirname(kernels)), "shm", "ttgir")
    for name, status in (("ring_cp.ok.ttgir", "ok"), ("ring_cp.no-wait.ttgir", "races")):
        path = os.path.join(shared, name)
        with open(path) as f:
            text = f.read()
        for v in (polyrace.check(path), polyrace.check(text, level="ttgir"), polyrace.check(text, name="a.ttgir")):
            assert v.status == status and v.to_dict()["level"] == "ttgir"
            assert [f["id"] for f in v.findings] == ([] if status == "ok" else ["PEND-CP"])
        done = subprocess.run([os.environ["POLYRACE_PROGRAM"], "check", "--format=json", path], capture_output=True, text=True)
        assert json.loads(done.stdout)["findings"] == json.loads(json.dumps(polyrace.check(path).to_dict()["findings"]))
    renamed = tmp_path / "kernel.txt"
    renamed.write_text(text)
    assert polyrace.check(renamed).to_dict().get("level") != "ttgir"
    assert polyrace.check(renamed, level="ttgir").status == "races"
    assert polyrace.dump(text, level="ttgir", stage="parse").startswith("\"builtin.module\"")
    with pytest.raises(TypeError, match="level is"):
        polyrace.check(text, level="ptx")


def test_document_is_the_commands(kernels, tmp_path):
    """to_dict gives the document of `polyrace check`, key order included; a newer field survives."""
    v = polyrace.check(os.path.join(kernels, "vadd_race.json"))
    doc = v.to_dict()
    assert list(doc)[:5] == ["version", "kernel", "input", "status", "rung"] and "text" not in doc
    doc["configs"][0]["later"] = {"a": [1]}
    doc["races"][0]["first"]["later"] = 7
    again = polyrace.Verdict.from_dict(json.loads(json.dumps(doc)))
    assert again.to_dict() == doc
    with pytest.raises(polyrace.PolyraceError, match="version 2.*newer"):
        polyrace.Verdict.from_dict(dict(doc, version=2))


def test_options(kernels):
    path = os.path.join(kernels, "vadd_race.json")
    assert polyrace.check(path, grid=1).status == "ok"
    assert polyrace.check(path, grid=(2, 1)).status == "races"
    text = read(kernels, "vadd.ttir")
    assert "n >= 1" in " ".join(polyrace.check(text, assume="n >= 1").qualifiers)
    assert polyrace.check(path, engine="isl", no_pretest=True).engines["pretest"] == 0
    with pytest.raises(TypeError, match="did you mean 'engine'"):
        polyrace.check(path, engin="isl")
    with pytest.raises(TypeError, match="auto isl z3"):
        polyrace.check(path, engine="gurobi")
    with pytest.raises(TypeError, match="positive integers"):
        polyrace.check(path, grid=0)


def test_wrong_calls(kernels):
    with pytest.raises(TypeError, match="not a Python function"):
        polyrace.check(test_race)
    with pytest.raises(TypeError, match="int"):
        polyrace.check(7)
    with pytest.raises(TypeError, match="launch file already"):
        polyrace.check(os.path.join(kernels, "vadd.json"), {})
    with pytest.raises(polyrace.InputError, match="no.ttir: No such file"):
        polyrace.check("no.ttir")
    with pytest.raises(polyrace.InputError, match="k.ttir:1:9") as e:
        polyrace.check("module {", name="k.ttir")
    assert (e.value.file, e.value.line, e.value.column) == ("k.ttir", 1, 9)


def test_several_launches(kernels, tmp_path):
    one = json.loads(read(kernels, "vadd.json"))
    one["ttir"] = os.path.join(kernels, one["ttir"])
    path = tmp_path / "many.jsonl"
    path.write_text(json.dumps(one) + "\n" + json.dumps(dict(one, grid=[1])) + "\n")
    assert [v.status for v in polyrace.check_all(path)] == ["ok", "ok"]
    with pytest.raises(polyrace.PolyraceError, match="holds 2 launches"):
        polyrace.check(path)


def test_save_and_load(kernels, tmp_path):
    path = tmp_path / "t.json"
    doc = json.loads(read(kernels, "vadd_race.json"))
    doc.update(ttir_text=read(kernels, "vadd_race.ttir"))
    doc.pop("ttir")
    launch = polyrace.Launch("vadd_race", 3, "prog.py", 12, doc, polyrace.check(doc), ["a note"], "MainThread")
    polyrace.save(path, [launch])
    code = ("import sys, polyrace, pickle; sys.stdout.buffer.write(pickle.dumps(polyrace.load(sys.argv[1])))")
    out = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, check=True).stdout
    import pickle
    [again] = pickle.loads(out)
    launch.document.pop("kernel", None)
    assert again == launch and str(again) == str(launch)
    assert polyrace.check_all(path)[0].races == launch.verdict.races  # a saved trace is an input
    saved = json.loads(path.read_text())
    path.write_text(json.dumps(dict(saved, version=9)))
    with pytest.raises(polyrace.PolyraceError, match="version 9"):
        polyrace.load(path)
    path.write_text("[]")
    with pytest.raises(polyrace.PolyraceError, match="not a saved trace"):
        polyrace.load(path)
    with pytest.raises(polyrace.PolyraceError, match="cannot write .*: "):
        polyrace.save(tmp_path / "no" / "t.json", [launch])


def test_threads(kernels):
    """Contexts belong to threads: results from four threads equal the serial ones."""
    import concurrent.futures
    names = ["vadd", "vadd_race", "vadd", "vadd_race"] * 8
    def one(name):
        return polyrace.check(os.path.join(kernels, name + ".json"))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        got = [(v.status, v.races, v.text) for v in pool.map(one, names)]
    assert got == [(v.status, v.races, v.text) for v in map(one, names)]


def test_dump(kernels):
    text = polyrace.dump(os.path.join(kernels, "vadd.json"), stage="records")
    assert '(arg 2 "out" pointer 4' in text
    with pytest.raises(TypeError, match="stages are"):
        polyrace.dump(os.path.join(kernels, "vadd.json"), stage="recods")


def test_version_agrees():
    from polyrace import _lib                      # not yet loaded where this is a process's first test

    assert _lib.version() == polyrace.__version__
    assert "isl" in polyrace.engine_versions()
    assert "indirect-address" in polyrace.refusal_kinds()
