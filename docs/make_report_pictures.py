#!/usr/bin/env python3
"""Makes the pictures of docs/report.md: make_report_pictures.py POLYRACE

One page of five kernels of different kinds, each launch at 1280 and at 400 pixels. Needs the Python package, playwright, an
installed chromium and pillow (which makes the files small).
"""
import io
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
KERNELS = {
    "strip": "tests/kernels/ttir/csr_rows_race.json", "tiles": "tests/kernels/ttir/bias_add_race.json",
    "slices": "tests/kernels/ttir/batched_matmul_race.json", "proof": "tests/kernels/ttir/attention_strides.json",
    "memory": "tests/shm/ttgir/ring_wgmma.no-empty-wait.ttgir",
}


def main():
    sys.path.insert(0, os.path.join(ROOT, "python"))
    from PIL import Image
    from playwright.sync_api import sync_playwright

    from polyrace.html_report import entries_of_documents, render
    from polyrace.report_cli import documents_of

    os.chdir(ROOT)
    done = subprocess.run([sys.argv[1], "check", "--format=json", "--explanations", *KERNELS.values()], stdout=subprocess.PIPE, text=True)
    text = render(entries_of_documents(documents_of(done.stdout)), source_roots=["tests/kernels", "tests/shm"])
    out = os.path.join(HERE, "report")
    os.makedirs(out, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as p:
        page_file = os.path.join(folder, "page.html")
        with open(page_file, "w", encoding="utf-8") as f:
            f.write(text)
        browser = p.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for width in (1280, 400):
            page = browser.new_page(viewport={"width": width, "height": 900})
            page.goto("file://" + page_file)
            for name, article in zip(KERNELS, page.query_selector_all("article")):
                if name == "proof":                             # one rule chain opened
                    article.query_selector("details:not([open]) > summary").click()
                image = Image.open(io.BytesIO(article.screenshot())).convert("RGB")
                image.quantize(256, dither=Image.Dither.NONE).save(os.path.join(out, "%s-%d.png" % (name, width)), optimize=True)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
