"""The HTML report: complete, self-contained, escaped, pictures that agree with brute force; looked at in a browser."""
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

import polyrace
from polyrace import html_footprint as fp

pytest.importorskip("jinja2")
from polyrace.html_report import Entry, entries_of_documents, render  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "kernels")
KERNELS = os.path.join(ROOT, "ttir")


def verdicts(pattern):
    names = sorted(n for n in os.listdir(KERNELS) if re.search(pattern, n) and n.endswith(".json"))
    return [polyrace.check(os.path.join(KERNELS, n)).to_dict() for n in names]


@pytest.fixture(scope="module")
def documents():
    return verdicts(r"\.small\.json$")


class Page(html.parser.HTMLParser):
    """Checks that tags nest and collects what the page refers to."""

    VOID = {"meta", "br", "rect", "link", "img"}

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
    assert "source file not readable here" in text and "No picture of the footprints: the launch file is not at hand" in text
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
    assert "<svg" in text and "a.py:4" in text and "interrupted" in text


def test_hostile_names_are_escaped():
    evil = '<script>alert(1)</script>"\'&'
    loc = {"file": evil, "line": 1, "col": 1}
    access = {"op": evil, "kind": "store", "tensor": evil, "element": 0, "byte": 0, "loc": loc, "write": True, "program": [0, 0, 0], "lane": [0], "iteration": []}
    doc = {"kernel": evil, "input": evil, "status": "races", "rung": None, "qualifiers": [evil], "notes": [evil], "withheld": 1,
           "refusals": [{"kind": evil, "loc": loc, "message": evil, "hint": evil}], "configs": [],
           "races": [{"type": "WAW", "agents": evil, "first": access, "second": access, "reason": evil, "confirmed": False, "config": 0}]}
    launch = {"args": {evil: {"tensor": {"dtype": evil, "shape": [1], "no_values": evil}}}, "grid": [1]}
    text = render([Entry(doc, launch)], title=evil)
    assert "<script" not in text
    Page(text)


def test_footprints_contain_the_confirmed_byte(documents):
    """Both footprints contain the byte that the concrete evaluator confirmed, and lie inside the tensor's storage."""
    drawn = 0
    for doc in documents:
        if not doc["races"]:
            continue
        (entry,) = entries_of_documents([doc])
        from polyrace.html_report import _records

        block = _records(entry)[0]
        for race in doc["races"]:
            if race["first"]["tensor"] != race["second"]["tensor"]:
                continue
            size = fp.element_size(entry.launch, race["first"]["tensor"], block)
            tensor = fp.tensor_of(entry.launch, race["first"]["tensor"], block)
            try:
                feet = [fp.footprint(block, entry.launch, race[end], size) for end in ("first", "second")]
            except fp.NotDrawn as e:
                assert "values in memory" in str(e)
                continue
            both = fp.overlap(*feet)
            assert race["first"]["byte"] // size in both, doc["kernel"]
            storage = tensor.get("storage") or {}
            for foot in feet:
                low = (storage.get("ptr", tensor["ptr"]) - tensor["ptr"]) // size
                limit = low + storage["bytes"] // size if "bytes" in storage else None
                if limit is not None and not doc["out_of_bounds"]:
                    assert foot.runs[0][0] >= low and foot.runs[-1][1] <= limit
            drawn += 1
    assert drawn > 60


def test_footprint_of_a_known_kernel():
    """pid * 8 + lane for 16 lanes, masked at 20: what program 1 touches can be said by hand."""
    text = """module {
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
    launch = {"version": 1, "kernel": "k", "ttir_text": text, "grid": [3, 1, 1],
              "args": {"out": {"tensor": {"dtype": "float32", "ptr": 4096, "shape": [20]}}, "n": 20}}
    race = polyrace.check(launch).to_dict()["races"][0]
    from polyrace.html_report import _records

    block = _records(Entry({}, launch))[0]
    for end in ("first", "second"):
        pid = race[end]["program"][0]
        assert fp.footprint(block, launch, race[end], 4).runs == [(8 * pid, min(8 * pid + 16, 20))]


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


BROWSER = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)
MEASURE = """
<script>
addEventListener('load', () => {
  const out = [], width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) out.push('page is ' + document.documentElement.scrollWidth + ' wide');
  const inside = e => e.closest('.code,.scroll,.zoom,svg');
  for (const e of document.querySelectorAll('body *')) {
    const r = e.getBoundingClientRect();
    if (!r.width || inside(e)) continue;
    if (r.left < -0.5 || r.right > width + 0.5) out.push(e.tagName + '.' + e.className + ' at ' + r.left + '..' + r.right);
  }
  const blocks = [...document.querySelectorAll('article > *, section > *, header > *, li, .row, .ends, figcaption')].filter(e => !inside(e));
  for (const parent of new Set(blocks.map(e => e.parentNode))) {
    const items = [...parent.children].filter(e => blocks.includes(e)).map(e => e.getBoundingClientRect()).filter(r => r.height);
    for (let i = 0; i + 1 < items.length; i++)
      for (let j = i + 1; j < items.length; j++) {
        const a = items[i], b = items[j];
        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1) out.push('overlap in ' + parent.className);
      }
  }
  document.body.innerHTML = '<pre id=measured>' + JSON.stringify({width, out}) + '</pre>';
});
</script>
"""


@pytest.mark.skipif(not BROWSER, reason="no Chromium")
@pytest.mark.parametrize("width", [1280, 400])
def test_layout_in_a_browser(tmp_path, documents, width):
    """Nothing is cut or overlaps. (The script measures; the page itself has none.)"""
    text = render(entries_of_documents(documents), source_roots=[ROOT]).replace("<details", "<details open")
    # A window cannot be as narrow as 400 pixels; a frame can.
    (tmp_path / "page.html").write_text(text.replace("</body>", MEASURE + "</body>"))
    (tmp_path / "frame.html").write_text(
        "<iframe id=f src=page.html style='border:0;width:%dpx;height:900px'></iframe><script>"
        "addEventListener('load',()=>setTimeout(()=>{document.body.textContent=document.getElementById('f').contentDocument.body.textContent},300))</script>" % width
    )
    run = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--virtual-time-budget=8000",
         "--window-size=1400,1000", "--user-data-dir=" + str(tmp_path / "profile"), "--dump-dom", str(tmp_path / "frame.html")],
        capture_output=True, text=True, timeout=180,
    )
    found = re.search(r'\{"width".*?\}', run.stdout)
    assert found, run.stdout[:500] + run.stderr[-500:]
    measured = json.loads(found.group(0).replace("&gt;", ">").replace("&lt;", "<"))
    assert width - 20 <= measured["width"] <= width and measured["out"] == []


def test_contrast():
    """Text against its background is at least 4.5 to 1, in both colour schemes."""
    css = open(os.path.join(os.path.dirname(polyrace.__file__), "templates", "report.html.j2")).read()
    schemes = re.findall(r":root\{([^}]*)\}", css)
    assert len(schemes) == 2

    def luminance(colour):
        if len(colour) == 4:
            colour = "#" + "".join(c * 2 for c in colour[1:])
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    for scheme in schemes:
        c = dict(re.findall(r"--(\w+):(#\w+)", scheme))
        pairs = [(t, b) for t in ("fg", "quiet", "race", "open", "ok", "one", "two", "both") for b in ("bg", "soft")]
        pairs += [("fg", "mark1"), ("fg", "mark2"), ("one", "mark1"), ("two", "mark2"), ("quiet", "mark1"), ("quiet", "mark2"), ("bg", "one"), ("bg", "two"), ("both", "mark1"), ("both", "mark2")]
        for text, ground in pairs:
            a, b = sorted((luminance(c[text]), luminance(c[ground])))
            assert (b + 0.05) / (a + 0.05) >= 4.5, (text, ground, c[text], c[ground])
