"""The HTML report: complete, self-contained, escaped, pictures that say what the explanation says. In a browser: test_pages.py;
the explanations themselves: tests/explain/pictures.py."""
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

import polyrace

pytest.importorskip("jinja2")
from polyrace import html_pictures as pictures  # noqa: E402
from polyrace import html_report  # noqa: E402
from polyrace.html_report import Entry, entries_of_documents, render  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "kernels")
KERNELS = os.path.join(ROOT, "ttir")


def verdicts(pattern):
    names = sorted(n for n in os.listdir(KERNELS) if re.search(pattern, n) and n.endswith(".json"))
    return [polyrace.check(os.path.join(KERNELS, n)).to_dict() for n in names]


@pytest.fixture(scope="module")
def documents():
    return verdicts(r"^[a-c].*\.small\.json$")


class Page(html.parser.HTMLParser):
    """Checks that tags nest and collects what the page refers to."""

    VOID = {"meta", "br", "rect", "path", "link", "img"}

    def __init__(self, text):
        super().__init__()
        self.stack, self.text, self.refers = [], [], []
        self.feed(text)
        assert self.stack == []

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("src", "href", "action", "data"):
                self.refers.append(value)
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_complete_and_self_contained(documents):
    text = render(entries_of_documents(documents), source_roots=[ROOT])
    page = Page(text)
    words = " ".join(" ".join(page.text).split())
    assert all(r.startswith("#") for r in page.refers) and "<script" not in text and "url(" not in text and "@import" not in text
    assert text.count("<article") == len(documents)
    for doc in documents:
        for q in doc["qualifiers"]:
            assert q in words
        for r in doc["refusals"]:
            assert r["kind"] in words and " ".join(r["message"].split()) in words
        for race in doc["races"]:
            for end in ("first", "second"):
                assert "%s:%d" % (race[end]["loc"]["file"], race[end]["loc"]["line"]) in words
    lines = open(os.path.join(ROOT, "loops.py")).read().split("\n")
    doc = next(d for d in documents if d["kernel"] == "accumulate_then_update_race")
    assert " ".join(lines[doc["races"][0]["first"]["loc"]["line"] - 1].split()) in words


def test_without_sources_and_without_the_launch(tmp_path, documents):
    race = next(d for d in documents if d["status"] == "races")
    text = render([Entry({**race, "input": "gone.json"})])
    assert "source file not readable here" in text and "No picture of the footprints: the launch is not at hand" in text
    Page(text)


def test_recorded_launches(documents):
    """Launches of a trace carry their own texts: the pictures need no file."""
    from polyrace.html_report import entries_of_launches

    document = json.load(open(os.path.join(KERNELS, "bias_add_race.small.json")))
    document["ttir_text"] = open(os.path.join(KERNELS, document.pop("ttir"))).read()
    verdict = polyrace.check(document)
    kernel = document.pop("kernel")
    launches = [polyrace.Launch(kernel, file="a.py", line=3, document=document, verdict=verdict), polyrace.Launch("open", file="a.py", line=4)]
    text = render(entries_of_launches(launches), source_roots=[ROOT])
    Page(text)
    assert 'class="cells"' in text and 'class="both"' in text and "a.py:4" in text and "interrupted" in text


def test_hostile_names_are_escaped():
    """Names, source lines, reasons and explanations are text, whatever they hold."""
    evil = '<script>alert(1)</script>"\'&'
    loc = {"file": evil, "line": 1, "col": 1}
    access = {"op": evil, "kind": "store", "tensor": evil, "element": 0, "byte": 0, "loc": loc, "write": True, "program": [0, 0, 0], "lane": [0], "iteration": []}
    doc = {"kernel": evil, "input": evil, "status": "races", "rung": None, "qualifiers": [evil], "notes": [evil], "withheld": 1,
           "refusals": [{"kind": evil, "loc": loc, "message": evil, "hint": evil}], "configs": [],
           "races": [{"type": "WAW", "agents": evil, "first": access, "second": access, "reason": evil, "confirmed": False, "config": 0}]}
    launch = {"args": {evil: {"tensor": {"dtype": evil, "shape": [1], "no_values": evil}}}, "grid": [1]}
    foot = {"elements": 1, "intervals": 1, "boxes": [[0, 1]], "unknown_lanes": 1, "program": None}
    told = {"race_free": [{"rung": "T0", "condition": evil, "exact": True, "disjuncts": 1, "holds_here": None, "pinned": [0, 0, 0], "why": None, "needs": []},
                          {"rung": "T1", "condition": None, "exact": False, "disjuncts": 0, "holds_here": None, "pinned": [0, 0, 0], "why": evil, "needs": [evil]}],
            "overlaps": [], "spare_barriers": [{"file": evil, "line": 1}],
            "accesses": [{"op": evil, "tensor": evil, "file": evil, "line": 1, "col": 1}],
            "pairs": [{"pair": 0, "agents": "programs", "first": 0, "second": 0, "answer": "proved", "evidence": evil, "facts": [evil], "more_facts": 1, "set": evil},
                      {"pair": 1, "agents": evil, "first": 0, "second": 0, "answer": "cannot-meet", "evidence": evil}],
            "pictures": [{"race": 0, "pair": 0, "footprints": {"tensor": {"name": evil, "element_bytes": 4, "shape": [9, 9], "strides": [9, 1], "storage": [0, 81]},
                          "first": foot, "second": foot, "both": foot}, "footprints_why": None, "map": None, "near": None, "map_why": evil}]}
    site = {"partition": evil, "op": evil, "loc": loc, "iteration": [0]}
    step = {"step": 0, "partition": evil, "op": evil, "loc": loc, "iteration": [], "role": "wait", "barrier": evil, "slot": 0, "phase": 0, "mark": "first",
            "accesses": [{"allocation": evil, "slot": 0, "write": True}]}
    doc["findings"] = [{"kind": "race", "id": evil, "memory": "smem", "allocation": {"name": evil, "loc": loc}, "slot": 0, "bytes": None, "first": site,
                        "second": site, "what": evil, "missing": evil, "trip_counts": evil, "confirmed": True, "timeline": [step]}]
    text = render([Entry(doc, launch, explanations=[told]), Entry({**doc, "input": "b"}, launch, why=evil)], title=evil)
    assert "<script" not in text and 'alert(1)</script>"' not in text and text.count("&lt;script&gt;") > 40
    Page(text)


KNOWN = """module {
  tt.func public @k(%out: !tt.ptr<f32> loc("out"("k.py":1:1)), %n: i32 loc("n"("k.py":1:1))) {
    %pid = tt.get_program_id x : i32 loc("k.py":2:3)
    %c = arith.constant 8 : i32
    %base = arith.muli %pid, %c : i32
    %lane = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %wide = tt.splat %base : i32 -> tensor<16xi32>
    %i = arith.addi %wide, %lane : tensor<16xi32>
    %nn = tt.splat %n : i32 -> tensor<16xi32>
    %m = arith.cmpi slt, %i, %nn : tensor<16xi32>
    %q = tt.splat %out : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %a = tt.addptr %q, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %v = arith.constant dense<0.0> : tensor<16xf32>
    tt.store %a, %v, %m : tensor<16x!tt.ptr<f32>> loc("k.py":3:5)
    tt.return
  }
}
"""


def known_entry():
    launch = {"version": 1, "kernel": "k", "ttir_text": KNOWN, "grid": [3, 1, 1],
              "args": {"out": {"tensor": {"dtype": "float32", "ptr": 4096, "shape": [20]}}, "n": 20}}
    entry = Entry(polyrace.check(launch).to_dict(), launch)
    html_report._explain(entry)
    assert entry.explanations and not entry.why
    return entry


def test_pictures_of_a_known_kernel():
    """pid * 8 + lane for 16 lanes, masked at 20: what each program touches can be said by hand."""
    entry = known_entry()
    race, told = entry.document["races"][0], entry.explanations[0]["pictures"][0]
    for end in ("first", "second"):
        pid = race[end]["program"][0]
        assert pictures.runs_of(told["footprints"][end]) == [(8 * pid, min(8 * pid + 16, 20))]
    drawn = pictures.footprint(told["footprints"], race["first"]["byte"] // 4)
    assert drawn["flat"] and drawn["counts"]["both"] == 8
    for layer in drawn["views"][0]["layers"]:
        low, high = drawn["views"][0]["x"]
        (tile,) = layer["tiles"]
        runs = pictures.runs_of(told["footprints"][layer["kind"]])
        scale = 1000 / (high - low + 1)
        assert abs(float(tile["x"]) - (runs[0][0] - low) * scale) < 0.02
        assert abs(float(tile["w"]) - (runs[0][1] - runs[0][0]) * scale) < 0.02
    cells = pictures.grid(told["map"], [race["first"]["program"], race["second"]["program"]])
    assert cells["counts"] == {"none": 0, "some": 0, "all": 3} and cells["per"] == 1
    assert [(m["x"], m["kind"]) for m in cells["slices"][0]["marks"]] == [(0, "first"), (1, "second")]


def test_tiles_cover_exactly_the_elements():
    """Rectangles over rows, folded, hold each element once."""
    random = __import__("random").Random(7)
    for _ in range(200):
        stride = random.randint(2, 9)
        elements = sorted(random.sample(range(60), random.randint(1, 40)))
        runs = []
        for e in elements:
            if runs and runs[-1][1] == e:
                runs[-1] = (runs[-1][0], e + 1)
            else:
                runs.append((e, e + 1))
        covered = [(y + j) * stride + x + i for x, y, w, h in pictures._rectangles(runs, stride) for i in range(w) for j in range(h)]
        assert sorted(covered) == elements


def test_a_document_of_another_launch_is_not_illustrated():
    entry = known_entry()
    other = json.loads(json.dumps(entry.document))
    other["races"][0]["first"]["program"] = [2, 0, 0]
    wrong = Entry(other, entry.launch)
    html_report._explain(wrong)
    assert wrong.explanations is None and "decided otherwise" in wrong.why
    text = render([wrong])
    assert "decided otherwise" in text and 'class="overlay"' not in text and 'class="cells"' not in text


def test_same_bytes():
    """Nothing on the page depends on time, order of hashing or the process."""
    paths = [os.path.join(KERNELS, n + ".json") for n in ("bias_add_race", "batched_matmul")]
    code = ("import sys,polyrace\nfrom polyrace.html_report import *\n"
            "sys.stdout.write(render(entries_of_documents([polyrace.check(p).to_dict() for p in sys.argv[1:]])))")
    pages = set()
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.path.dirname(os.path.dirname(polyrace.__file__))}
        pages.add(subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, check=True, env=env).stdout)
    (page,) = pages
    assert b"<svg" in page


def test_proofs_are_told():
    doc = polyrace.check(os.path.join(KERNELS, "batched_matmul.json")).to_dict()
    text = " ".join(" ".join(Page(render(entries_of_documents([doc]))).text).split())
    assert "Why each pair is disjoint" in text and "cannot meet: different buffers" in text
    assert "A.pid0 == B.pid0" in text and "closure: pid0 pid1 pid2 lane0 lane1" in text
    assert "Race free for all grids, with this launch's parameters" in text


def test_program_writes_the_page(tmp_path):
    """`python -m polyrace.report_cli` is what `polyrace check --format=html` runs."""
    program = os.environ.get("POLYRACE_PROGRAM") or shutil.which("polyrace")
    if not program:
        pytest.skip("no program: set POLYRACE_PROGRAM")
    env = {**os.environ, "POLYRACE_PYTHON": sys.executable, "PYTHONPATH": os.path.dirname(os.path.dirname(polyrace.__file__))}
    out = tmp_path / "r.html"
    kernel = os.path.join(KERNELS, "accumulate_then_update_race.json")
    for arguments in (["--output", str(out), kernel], [kernel, "--output=" + str(out)], ["--output=x", "--output", str(out), "--", kernel]):
        run = subprocess.run([program, "check", "--format", "html", *arguments], capture_output=True, text=True, env=env, cwd=tmp_path)
        assert (run.returncode, run.stdout, run.stderr) == (1, "", "")
        assert "accumulate_then_update_race" in out.read_text()
        out.unlink()
    run = subprocess.run([program, "check", "--format=html", kernel, "missing.json"], capture_output=True, text=True, env=env)
    assert run.returncode == 3 and "missing.json" in run.stderr and "<html" in run.stdout


