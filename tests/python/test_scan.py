"""polyrace scan: discovery, memo, resume after SIGKILL, dying workers, Dask.

Every test scans copies of committed kernels in a temporary folder.
"""
import json
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time

import pytest

import polyrace
from polyrace.scan_inputs import Found, argument_count, find_units, strip_locations, strip_positions
from polyrace.scan_run import scan
from polyrace.scan_store import StoreError, read_results

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, "..", "kernels", "ttir")


def names(limit=None):
    found = sorted(n[:-5] for n in os.listdir(KERNELS) if n.endswith(".json") and ".small." not in n)
    return found[:limit]


def folder(path, kernels, mark=""):
    """A folder with some launches; `mark` goes into the kernels' source positions."""
    os.makedirs(path, exist_ok=True)
    for name in kernels:
        text = open(os.path.join(KERNELS, name + ".ttir")).read()
        with open(os.path.join(path, name + ".ttir"), "w") as f:
            f.write(text.replace('.py":', mark + '.py":') if mark else text)
        shutil.copy(os.path.join(KERNELS, name + ".json"), path)
    return str(path)


def timeless(value):
    """Without times: what two scans of the same input must agree on."""
    if isinstance(value, dict):
        return {k: timeless(v) for k, v in value.items() if not (k == "us" or k == "times" or k.endswith("_us"))}
    if isinstance(value, list):
        return [timeless(v) for v in value]
    return value


def content(path):
    with open(path) as f:
        return [timeless(json.loads(line)) for line in f]


def command(*args):
    return [sys.executable, "-m", "polyrace.scan_cli", *args]


def environment(**more):
    root = os.path.dirname(os.path.dirname(os.path.abspath(polyrace.__file__)))
    return {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")]), **more}


# ---- discovery -----------------------------------------------------------------------------------------------
def test_every_form_of_input_is_found(tmp_path):
    a, b, c = names(3)
    folder(tmp_path / "launches", [a])
    lines = tmp_path / "many.jsonl"
    launch = json.load(open(os.path.join(KERNELS, b + ".json")))
    launch["ttir_text"] = open(os.path.join(KERNELS, launch.pop("ttir"))).read()
    lines.write_text(json.dumps(launch) + "\n\n" + json.dumps(launch) + "\n")
    (tmp_path / "set.json").write_text(json.dumps({"version": 1, "launches": [launch, launch, launch]}))
    cache = tmp_path / "cache" / "ABCDEF"
    cache.mkdir(parents=True)
    shutil.copy(os.path.join(KERNELS, c + ".ttir"), cache / "k.ttir")
    (cache / "k.ttgir").write_text("module {}\n")
    (cache / "k.json").write_text(json.dumps({"hash": "0", "target": {"backend": "cuda", "arch": 90}, "num_warps": 8, "num_ctas": 1, "name": "k", "triton_version": "3.8.0"}))
    (cache / "__grp__k.json").write_text(json.dumps({"child_paths": {}}))
    (tmp_path / "alone.ttir").write_text(open(os.path.join(KERNELS, c + ".ttir")).read())
    (tmp_path / "notes.json").write_text("[1, 2]")
    (tmp_path / "broken.json").write_text("{")
    found = Found()
    units = find_units([str(tmp_path)], found)
    by_name = {os.path.relpath(u.name, tmp_path): u for u in units}
    assert list(by_name) == sorted(by_name, key=lambda n: [u.name for u in units].index(str(tmp_path / n)))
    assert set(by_name) == {"alone.ttir", "many.jsonl[0]", "many.jsonl[2]", "set.json[0]", "set.json[1]", "set.json[2]",
                            "cache/ABCDEF/k.ttir", "launches/%s.json" % a}
    assert by_name["alone.ttir"].kind == "ttir"
    meta = json.loads(by_name["cache/ABCDEF/k.ttir"].text)
    assert meta["config"] == {"num_warps": 8, "num_ctas": 1} and meta["target"] == "cuda:90"
    assert set(meta["args"]) == {None} and meta["grid"] is None
    assert sum(found.skipped.values()) == 5  # a claimed text, a TTGIR text, two other JSON files, one that is no JSON
    result = scan([str(tmp_path)], jobs=1)
    assert [r['error'] for r in result.results if r.get('error')] == []


def test_arguments_are_counted():
    for name in names():
        text = open(os.path.join(KERNELS, name + ".ttir")).read()
        unit = {"version": 1, "ttir_text": text, "grid": None, "args": [None] * argument_count(text)}
        polyrace.check(unit)  # a wrong count is an InputError


def test_metadata_with_several_ctas_is_not_lost(tmp_path):
    """A text of a cache says nothing of num_ctas; the metadata beside it does, and no proof may ignore it."""
    name = next(n for n in names() if polyrace.check(os.path.join(KERNELS, n + ".ttir")).ok)
    shutil.copy(os.path.join(KERNELS, name + ".ttir"), tmp_path / "k.ttir")
    meta = {"target": {"backend": "cuda", "arch": 90}, "num_warps": 4, "num_ctas": 1}
    (tmp_path / "k.json").write_text(json.dumps(meta))
    assert scan(str(tmp_path), jobs=1).results[0]["verdict"]["status"] == "ok"
    (tmp_path / "k.json").write_text(json.dumps({**meta, "num_ctas": 2}))
    verdict = scan(str(tmp_path), jobs=1).results[0]["verdict"]
    assert (verdict["status"], verdict["refusals"][0]["kind"]) == ("unsupported", "multi-cta")


def test_named_files_that_are_no_launch_are_errors(tmp_path):
    (tmp_path / "a.json").write_text("[]")
    (tmp_path / "b.json").write_text("{")
    (tmp_path / "c.json").write_text(json.dumps({"version": 1, "ttir": "missing.ttir", "grid": [1], "args": {}}))
    result = scan([str(tmp_path / n) for n in ("a.json", "b.json", "c.json", "none.ttir")], jobs=1)
    assert [r["error"]["kind"] for r in result.results] == ["bad-input"] * 4
    assert "missing.ttir" in result.results[2]["error"]["message"]
    assert result.exit_status == 3


def test_a_saved_trace_is_an_input(tmp_path):
    """Where a launch was recorded and what was said of it then does not matter."""
    name = next(n for n in names() if n.endswith("_race"))
    document = json.load(open(os.path.join(KERNELS, name + ".json")))
    document["ttir_text"] = open(os.path.join(KERNELS, document.pop("ttir"))).read()
    kernel = document.pop("kernel")
    verdict = polyrace.check({**document, "kernel": kernel})
    launches = [polyrace.Launch(kernel, index=i, file="a.py", line=i, document=document, verdict=verdict) for i in (1, 2)]
    polyrace.save(tmp_path / "t.json", launches)
    result = scan(tmp_path, jobs=1)
    assert [d["status"] for d in result.documents] == ["races", "races"] and (result.decided, result.shared) == (1, 1)


# ---- memo ----------------------------------------------------------------------------------------------------
def test_equal_content_is_decided_once_and_positions_come_from_the_asking_text(tmp_path):
    kernels = names(60)
    folder(tmp_path / "one", kernels)
    folder(tmp_path / "same", kernels)
    folder(tmp_path / "moved", kernels, "_moved")
    result = scan(str(tmp_path), jobs=2)
    apart = {d["kernel"] + "/" + part: d for part in ("one", "same", "moved") for d in
             scan(str(tmp_path / part), jobs=2).documents}
    assert result.shared >= len(kernels) and result.decided < 2 * len(kernels) and result.decided + result.shared == len(result.results)
    for document in result.documents:
        part = document["input"].split(os.sep)[-2]
        assert timeless(document) == timeless(apart[document["kernel"] + "/" + part])
    assert any('_moved.py' in json.dumps(d) for d in result.documents)  # some verdict does name a position


@pytest.mark.parametrize("change", ["grid", "values", "ptr", "num_warps"])
def test_what_may_differ_is_in_the_key(tmp_path, change):
    folder(tmp_path, [names(1)[0]])
    (path,) = tmp_path.glob("*.json")
    launch = json.loads(path.read_text())
    tensor = next(a["tensor"] for a in launch["args"].values() if isinstance(a, dict))
    other = json.loads(json.dumps(launch))
    if change == "grid":
        other["grid"] = [launch["grid"][0] + 1, 1, 1]
    elif change == "num_warps":
        other.setdefault("config", {})["num_warps"] = 16
    else:
        next(a["tensor"] for a in other["args"].values() if isinstance(a, dict))[change] = [1] if change == "values" else tensor["ptr"] + 512
    (tmp_path / "other.json").write_text(json.dumps(other))
    first, second = find_units([str(tmp_path)])
    assert first.key != second.key and first.memo != second.memo


def test_positions_and_locations():
    text = 'tt.store %a, %b : t loc(#loc3)\n#loc3 = loc("x"(#loc1))\n#loc1 = loc("/a b.py":12:3)\n'
    assert strip_positions(text) == 'tt.store %a, %b : t loc(#loc3)\n#loc3 = loc("x"(#loc1))\n#loc1 = loc("":0:0)\n'
    assert strip_locations(text) == "tt.store %a, %b : t"
    assert strip_locations('  %x = f : i32 loc(callsite("a)"("f":1:2) at "g":3:4)), %y') == "  %x = f : i32, %y"


# ---- result file ---------------------------------------------------------------------------------------------
def test_result_file_and_rescan_decide_only_what_changed(tmp_path):
    kernels = names(30)
    root, file = folder(tmp_path / "k", kernels), str(tmp_path / "r.jsonl")
    first = scan(root, results=file, jobs=2)
    header, results, summary = read_results(file)
    assert summary["units"] == len(results) == 30 and header["versions"]["polyrace"]
    again = scan(root, results=file, jobs=2)
    assert (again.decided, again.resumed) == (0, 30) and timeless(again.results) == timeless(first.results)
    launch = json.load(open(os.path.join(root, kernels[3] + ".json")))
    launch["grid"] = [launch["grid"][0] + 1, 1, 1]
    json.dump(launch, open(os.path.join(root, kernels[3] + ".json"), "w"))
    third = scan(root, results=file, jobs=2)
    assert (third.decided, third.resumed) == (1, 29)
    with pytest.raises(StoreError, match="options"):
        scan(root, results=file, jobs=2, rung="t0")
    assert scan(root, results=file, jobs=2, rung="t0", restart=True).decided == 30


def test_foreign_and_damaged_files(tmp_path):
    root = folder(tmp_path / "k", names(5))
    file = tmp_path / "r.jsonl"
    file.write_text("important notes\n")
    with pytest.raises(StoreError, match="not a result file"):
        scan(root, results=file, jobs=1)
    assert file.read_text() == "important notes\n"
    file.unlink()
    scan(root, results=file, jobs=1)
    whole = content(file)
    lines = file.read_text().splitlines(True)
    for cut in (lines[:1], lines[:3] + [lines[3][:40]], lines[:2] + ["{}\n"] + lines[3:], [lines[0][:10]], []):
        file.write_text("".join(cut))
        scan(root, results=file, jobs=1)
        assert content(file) == whole


def test_unwritable_result_file_does_not_stop_the_scan(tmp_path):
    root = folder(tmp_path / "k", names(5))
    run = subprocess.run(command(root, "--results", str(tmp_path / "no" / "r.jsonl")), capture_output=True, text=True, env=environment())
    assert run.returncode == 3 and "cannot write results" in run.stderr and "5 launches" in run.stdout
    if os.geteuid() != 0:
        file = tmp_path / "r.jsonl"
        file.write_text("")
        file.chmod(stat.S_IRUSR)
        assert scan(root, results=file, jobs=1).trouble


def test_one_scan_at_a_time(tmp_path):
    root, file = folder(tmp_path / "k", names(3)), str(tmp_path / "r.jsonl")
    slow = subprocess.Popen(command(root, "--results", file, "--jobs", "1"), env=environment(POLYRACE_SCAN_FAULT="hang:" + names(3)[1]),
                            stdout=subprocess.DEVNULL)
    try:
        deadline = time.time() + 30
        while time.time() < deadline and not (os.path.exists(file) and len(open(file).readlines()) > 1):
            time.sleep(0.05)
        with pytest.raises(StoreError, match="another scan"):
            scan(root, results=file, jobs=1)
    finally:
        slow.kill()
        slow.wait()
    assert scan(root, results=file, jobs=1).resumed >= 1


def test_killed_at_random_points_and_resumed(tmp_path):
    """SIGKILL at 20 random points or more, until five came while results were written; the final file equals that of an undisturbed scan, apart from times."""
    root = folder(tmp_path / "k", names())
    folder(tmp_path / "k" / "twice", names(40))
    calm, file = str(tmp_path / "calm.jsonl"), str(tmp_path / "r.jsonl")
    start = time.time()
    subprocess.run(command(root, "--results", calm, "--jobs", "2"), env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    length = time.time() - start
    seed = int(os.environ.get("POLYRACE_TEST_SEED", "5"))
    print("seed", seed)
    chance = random.Random(seed)
    kills = stages = 0
    while kills < 20 or (stages < 5 and kills < 200):
        before = len(open(file).readlines()) if os.path.exists(file) else 0
        run = subprocess.Popen(command(root, "--results", file, "--jobs", "2"), env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            run.wait(chance.uniform(0.05, length))
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
            run.wait()
            kills += 1
            stages += os.path.exists(file) and len(open(file).readlines()) > before
            continue
        if content(file) != content(calm):
            pytest.fail("a resumed scan ended with another result (seed %d)" % seed)
        os.unlink(file)  # complete: start over, so that every kill hits a scan at work
        length = max(0.3, 0.8 * length)  # the undisturbed scan may have run beside other work and been slow
    subprocess.run(command(root, "--results", file, "--jobs", "2"), env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert content(file) == content(calm)
    assert stages >= 5  # several kills hit while results were being written


def test_interrupt_says_how_to_go_on(tmp_path):
    root, file = folder(tmp_path / "k", names(6)), str(tmp_path / "r.jsonl")
    run = subprocess.Popen(command(root, "--results", file, "--jobs", "1"), env=environment(POLYRACE_SCAN_FAULT="hang:" + names(6)[3]),
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.time() + 30
    while time.time() < deadline and not (os.path.exists(file) and len(open(file).readlines()) >= 4):
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=30)
    assert run.returncode == 130 and "goes on from" in err
    assert len(read_results(file)[1]) >= 3


# ---- workers that die ----------------------------------------------------------------------------------------
def test_a_crash_costs_one_unit(tmp_path, monkeypatch):
    kernels = names(20)
    root = folder(tmp_path / "k", kernels)
    monkeypatch.setenv("POLYRACE_SCAN_FAULT", "crash:" + kernels[7] + ".json")
    result = scan(root, jobs=2)
    bad = [r for r in result.results if r.get("error")]
    assert [os.path.basename(r["unit"]) for r in bad] == [kernels[7] + ".json"]
    assert bad[0]["error"]["kind"] == "internal" and "SIGSEGV" in bad[0]["error"]["message"]
    assert len(result.results) == 20


def test_a_silent_worker_is_given_up(tmp_path, monkeypatch):
    kernels = names(6)
    root = folder(tmp_path / "k", kernels)
    monkeypatch.setenv("POLYRACE_SCAN_FAULT", "hang:" + kernels[2] + ".json")
    result = scan(root, jobs=2, patience=3)
    assert [r["unit"].endswith(kernels[2] + ".json") for r in result.results if r.get("error")] == [True]


def test_wrong_calls_are_type_errors(tmp_path):
    with pytest.raises(TypeError, match="paths"):
        scan([3])
    with pytest.raises(TypeError, match="engine|cvc5"):
        scan(str(tmp_path), engine="cvc5")
    with pytest.raises(TypeError):
        scan(str(tmp_path), no_such_option=1)


# ---- Dask ----------------------------------------------------------------------------------------------------
def on_cluster(root, monkeypatch, fault):
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    monkeypatch.setenv("POLYRACE_SCAN_FAULT", fault)
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}):
        with distributed.LocalCluster(n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
            with distributed.Client(cluster) as client:
                pids = set(client.run(os.getpid).values())
                result = scan(root, client=client)
                gone = pids - set(client.run(os.getpid).values())
    return result, len(pids), len(gone)


def test_dask_loses_nothing_when_a_worker_dies(tmp_path, monkeypatch):
    kernels = names(60)
    root, flag = folder(tmp_path / "k", kernels), tmp_path / "flag"
    calm = scan(root, jobs=2)
    result, workers, gone = on_cluster(root, monkeypatch, "crash:%s.json:%s" % (kernels[30], flag))
    assert (workers, gone) == (3, 1) and flag.exists()
    assert timeless(result.results) == timeless(calm.results)


def test_dask_reports_the_unit_that_kills_every_worker(tmp_path, monkeypatch):
    kernels = names(20)
    root = folder(tmp_path / "k", kernels)
    result, _, gone = on_cluster(root, monkeypatch, "crash:%s.json" % kernels[5])
    bad = [r for r in result.results if r.get("error")]
    assert [os.path.basename(r["unit"]) for r in bad] == [kernels[5] + ".json"] and gone
    assert bad[0]["error"]["kind"] == "internal" and len(result.results) == 20
