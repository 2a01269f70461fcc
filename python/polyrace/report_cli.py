"""What ``polyrace check --format=sarif|html`` and ``polyrace explain --format=html`` run: the program decides, this turns its
document into a report."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, Dict, List


def documents_of(text: str) -> List[Dict[str, Any]]:
    """The documents of an output: one, a list of several, or one after another (a file of launches under ``explain``)."""
    decoder, at, out = json.JSONDecoder(), 0, []
    while at < len(text):
        document, at = decoder.raw_decode(text, at)
        out += document["verdicts"] if "verdicts" in document else [document]
        while at < len(text) and text[at].isspace():
            at += 1
    return out


def main(argv: List[str]) -> int:
    """``argv``: the program, the format, the output file ("" for standard output), the command (check or explain) and its
    arguments."""
    program, form, output, name, *args = argv
    at = args.index("--") if "--" in args else len(args)
    # The last spelling of an option counts.
    more = ["--explanations"] if name == "check" and form == "html" else []
    command = [program, name, *args[:at], *more, "--format=json", "--output=/dev/stdout", *args[at:]]
    run = subprocess.run(command, stdout=subprocess.PIPE)
    if run.returncode in (130, 143) or not run.stdout:
        return run.returncode
    documents = documents_of(run.stdout.decode("utf-8", "replace"))
    if form == "sarif":
        from .sarif import to_sarif

        errors = []
        if run.returncode == 3:
            errors.append({"unit": "", "error": {"message": "some inputs could not be read; the messages on standard error name them"}})
        text = json.dumps(to_sarif(documents, errors=errors), indent=1) + "\n"
    else:
        from .html_report import entries_of_documents, render

        text = render(entries_of_documents(documents))
    if not output:
        sys.stdout.write(text)
        sys.stdout.flush()
        return run.returncode
    try:
        with open(output, "w", encoding="utf-8") as f:
            f.write(text)
    except OSError as e:
        print("polyrace: %s: %s" % (output, e.strerror), file=sys.stderr)
        return 3
    return run.returncode
