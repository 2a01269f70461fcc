"""Pages of the HTML report in a headless browser, without JavaScript, 1280 and 400 pixels wide, light and dark: nothing is cut
or overlaps (bounding boxes of every piece of text), contrast is at least 4.5 to 1 (computed), pictures are there."""
import os
import re
import shutil
import subprocess

import pytest

import polyrace

pytest.importorskip("jinja2")
from polyrace.html_report import entries_of_documents, render  # noqa: E402
from polyrace.report_cli import documents_of  # noqa: E402

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (scripts/test.sh installs it)")

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "kernels")
SHM = os.path.join(HERE, "..", "shm", "ttgir")
BROWSER = os.environ.get("POLYRACE_BROWSER") or next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)
WIDTHS = (1280, 400)

# What a page of this kind must show, by name: a strip, tiles, slices of a grid of three axes, a proof, shared memory.
PAGES = {
    "strip": (["ttir/csr_rows_race.json"], ("lanes", "cells", "zoom", "condition")),
    "tiles": (["ttir/bias_add_race.json"], ("overlay", "cells", "condition")),
    "slices": (["ttir/batched_matmul_race.json"], ("overlay", "slice", "set")),
    "proof": (["ttir/attention_strides.json"], ("matrix", "proofs")),
    "memory": ([os.path.join(SHM, n + ".ttgir") for n in ("ring_wgmma.no-empty-wait", "ring_wgmma.no-arrive", "ring_wgmma.ok")], ("missing", "time", "set")),
    "refused": (["ttir/handoff_flag_race.json", "ttir/vadd.json"], ("index", "condition")),
}


def paths(names):
    return [n if os.path.isabs(n) else os.path.join(ROOT, n) for n in names]


def document_of(path):
    if path.endswith(".json"):
        return polyrace.check(path).to_dict()
    program = os.environ.get("POLYRACE_PROGRAM") or shutil.which("polyrace")
    if not program:
        pytest.skip("no program: set POLYRACE_PROGRAM")
    done = subprocess.run([program, "check", "--format=json", "--explanations", path], stdout=subprocess.PIPE)
    (document,) = documents_of(done.stdout.decode())
    return document


def page_of(inputs):
    return render(entries_of_documents([document_of(p) for p in inputs]), source_roots=[ROOT, os.path.join(SHM, "..")])


def many_accesses(n):
    """A kernel with n stores, of blocks that lie side by side: 2n(n + 1)/2 pairs, each proved."""
    lines = ['module {', '  tt.func public @many(%out: !tt.ptr<f32> loc("out"("many.py":1:1))) {',
             '    %pid = tt.get_program_id x : i32 loc("many.py":2:3)', f'    %c = arith.constant {16 * n} : i32',
             '    %base = arith.muli %pid, %c : i32', '    %lane = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>',
             '    %q = tt.splat %out : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>', '    %v = arith.constant dense<0.0> : tensor<16xf32>']
    for k in range(n):
        lines += [f'    %k{k} = arith.constant {16 * k} : i32', f'    %b{k} = arith.addi %base, %k{k} : i32',
                  f'    %w{k} = tt.splat %b{k} : i32 -> tensor<16xi32>', f'    %i{k} = arith.addi %w{k}, %lane : tensor<16xi32>',
                  f'    %a{k} = tt.addptr %q, %i{k} : tensor<16x!tt.ptr<f32>>, tensor<16xi32>',
                  f'    tt.store %a{k}, %v : tensor<16x!tt.ptr<f32>> loc("many.py":{k + 3}:5)']
    text = "\n".join([*lines, "    tt.return", "  }", "}", ""])
    return {"version": 1, "kernel": "many", "ttir_text": text, "grid": [7, 1, 1],
            "args": {"out": {"tensor": {"dtype": "float32", "ptr": 4096, "shape": [7 * 16 * n]}}}}


# Runs in the page by the debugger; the page itself has no script.
MEASURE = """() => {
  const out = [], width = document.documentElement.clientWidth;
  const parse = c => { const m = c.match(/[\\d.]+/g).map(Number); return [m[0], m[1], m[2], m.length > 3 ? m[3] : 1]; };
  const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const lum = c => { const [r, g, b] = c.slice(0, 3).map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
  const ground = e => { const stack = []; for (; e; e = e.parentElement) stack.push(parse(getComputedStyle(e).backgroundColor));
    return stack.reverse().reduce((under, c) => over(c, under), [255, 255, 255, 1]); };
  if (document.documentElement.scrollWidth > width) out.push('the page is ' + document.documentElement.scrollWidth + ' wide');
  for (const e of document.querySelectorAll('body *')) {
    const r = e.getBoundingClientRect(), s = getComputedStyle(e);
    if (!r.width || !e.checkVisibility() || e.closest('svg') && e.tagName !== 'svg') continue;
    const scrolls = e.closest('.code,.scroll,.zoom');
    if (!(scrolls && scrolls !== e) && (r.left < -0.5 || r.right > width + 0.5)) out.push(`cut: ${e.tagName}.${e.className} ${r.left}..${r.right}`);
    if (e.scrollWidth > e.clientWidth + 1 && s.display !== 'inline' && !e.closest('.code,.scroll,.zoom') && e.tagName !== 'svg')
      out.push(`wider inside: ${e.tagName}.${e.className} ${e.scrollWidth} > ${e.clientWidth}`);
    if (e.tagName === 'svg' && (r.width < 10 || r.height < 8)) out.push(`tiny picture ${r.width} x ${r.height}`);
  }
  const texts = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let least = 99, smallest = 99;
  for (let n; (n = walker.nextNode());) {
    if (!n.data.trim() || !n.parentElement.checkVisibility()) continue;
    const range = document.createRange(); range.selectNodeContents(n);
    const rects = [...range.getClientRects()].filter(r => r.width > 1 && r.height > 1);
    if (!rects.length) continue;
    const s = getComputedStyle(n.parentElement), back = ground(n.parentElement), fore = over(parse(s.color), back);
    let alpha = 1; for (let e = n.parentElement; e; e = e.parentElement) alpha *= +getComputedStyle(e).opacity;
    const a = lum(over([fore[0], fore[1], fore[2], alpha], back)), b = lum(back), ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    least = Math.min(least, ratio); smallest = Math.min(smallest, parseFloat(s.fontSize));
    if (ratio < 4.5) out.push(`contrast ${ratio.toFixed(2)}: ${n.data.trim().slice(0, 40)}`);
    for (const r of rects) texts.push({n, r});
  }
  texts.sort((a, b) => a.r.top - b.r.top);
  for (let i = 0; i < texts.length; i++)
    for (let j = i + 1; j < texts.length && texts[j].r.top < texts[i].r.bottom - 3; j++) {
      const a = texts[i], b = texts[j];
      if (a.n === b.n) continue;
      if (Math.min(a.r.right, b.r.right) - Math.max(a.r.left, b.r.left) > 1.5 && Math.min(a.r.bottom, b.r.bottom) - Math.max(a.r.top, b.r.top) > 5)
        out.push(`text over text: ${a.n.data.trim().slice(0, 30)} | ${b.n.data.trim().slice(0, 30)}`);
    }
  const pictures = [...document.querySelectorAll('svg')].filter(e => e.checkVisibility());
  for (let i = 0; i < pictures.length; i++)
    for (const t of texts) {
      const p = pictures[i].getBoundingClientRect();
      if (p.height && Math.min(p.right, t.r.right) - Math.max(p.left, t.r.left) > 1.5 && Math.min(p.bottom, t.r.bottom) - Math.max(p.top, t.r.top) > 3)
        out.push('text over a picture: ' + t.n.data.trim().slice(0, 30));
    }
  return {out: out.slice(0, 12), least, smallest, pieces: texts.length, pictures: pictures.length, text: document.body.innerText};
}"""


@pytest.fixture(scope="module")
def browser():
    if not BROWSER:
        pytest.skip("no browser: install chromium, or set POLYRACE_BROWSER")
    with sync_api.sync_playwright() as p:
        try:
            b = p.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        except sync_api.Error as e:
            pytest.skip("the browser does not start: " + str(e).split("\n")[0])
        yield b
        b.close()


def looked_at(browser, path, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=False, offline=True)
    page = context.new_page()
    asked = []
    page.on("request", lambda r: asked.append(r.url))
    page.goto("file://" + str(path))
    found = page.evaluate(MEASURE)
    context.close()
    assert asked == ["file://" + str(path)], "the page asks for other files"
    return found


@pytest.mark.parametrize("name", PAGES)
def test_page(browser, tmp_path, name):
    inputs, classes = PAGES[name]
    text = page_of(paths(inputs))
    for c in classes:
        assert re.search(r'class="[^"]*\b%s\b' % c, text), c
    (tmp_path / "shown.html").write_text(text)
    (tmp_path / "open.html").write_text(re.sub(r"<details(?! open)", "<details open", text))
    for file, schemes in (("shown.html", ("light",)), ("open.html", ("light", "dark"))):
        for width in WIDTHS:
            for scheme in schemes:
                found = looked_at(browser, tmp_path / file, width, scheme)
                assert found["out"] == [], (file, width, scheme)
                assert found["least"] >= 4.5 and found["smallest"] >= 11 and found["pieces"] > 30


def test_forty_accesses(browser, tmp_path):
    """1640 pairs on one page: it loads, stays small, says how many pairs of each kind there are."""
    launch = many_accesses(40)
    doc = polyrace.check(launch).to_dict()
    from polyrace.html_report import Entry, _explain

    entry = Entry(doc, launch)
    _explain(entry)
    assert doc["status"] == "ok" and len(entry.explanations[0]["pairs"]) == 1640
    text = render([entry])
    assert len(text) < 600_000
    (tmp_path / "many.html").write_text(text)
    for width in WIDTHS:
        found = looked_at(browser, tmp_path / "many.html", width, "light")
        assert found["out"] == [] and found["pictures"] == 1
        words = " ".join(found["text"].split())
        assert "disjoint or ordered: 1640" in words and "1580 further pairs" in words


def test_the_measure_finds_what_is_wrong(browser, tmp_path):
    """The script reports text over text, text that is cut, and grey on grey."""
    bad = {
        "text over text": "<p>first line of the text</p><p style='margin-top:-38px'>second line of the text</p>",
        "cut": "<p style='width:3000px'>much too wide</p>",
        "contrast": "<p style='color:#999;background:#888'>grey on grey</p>",
        "text over a picture": "<svg style='height:60px'></svg><p style='margin-top:-40px'>words</p>",
    }
    for what, body in bad.items():
        (tmp_path / "bad.html").write_text(f"<!DOCTYPE html><html><body>{body}</body></html>")
        assert any(what in x for x in looked_at(browser, tmp_path / "bad.html", 400, "light")["out"]), what


