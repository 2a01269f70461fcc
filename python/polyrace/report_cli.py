"""What ``polyrace check --format=sarif|html`` runs: the program decides, this turns its document into a report."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import List


def main(argv: List[str]) -> int:
    """``argv``: the program, the format, the output file ("" for standard output), the arguments of ``check``."""
    program, form, output, *args = argv
    at = args.index("--") if "--" in args else len(args)
    # The last spelling of an option counts.
    command = [program, "check", *args[:at], "--format=json", "--output=/dev/stdout", *args[at:]]
    run = subprocess.run(command, stdout=subprocess.PIPE)
    if run.returncode in (130, 143) or not run.stdout:
        return run.returncode
    document = json.loads(run.stdout)
    documents = document["verdicts"] if "verdicts" in document else [document]
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
