#!/usr/bin/env python3
"""Every launch file of the tests and examples is valid under docs/launch.schema.json, and files that the program
rejects are not.

Exit status 77 (skipped) when the Python package jsonschema is missing.
"""
import glob
import json
import os
import sys

ROOT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

BAD = [
    {}, [], {"version": 2, "args": {}}, {"version": 1}, {"version": 1, "launches": []},
    {"version": 1, "args": {}, "grid": [0]}, {"version": 1, "args": {}, "grid": [1, 1, 1, 1]},
    {"version": 1, "args": 3}, {"version": 1, "args": {}, "configs": []}, {"version": 1, "args": {}, "ttir": ""},
    {"version": 1, "args": {"x": {"tensor": {"shape": [1], "ptr": 0}}}},
    {"version": 1, "args": {"x": {"tensor": {"dtype": "f32", "shape": [1]}}}},
    {"version": 1, "args": {"x": {"tensor": {"dtype": "f32", "shape": 1, "ptr": 0}}}},
    {"version": 1, "args": {}, "config": {"num_warps": 0}}, {"version": 1, "args": {}, "assume": "n > 0"},
]


def main():
    try:
        import jsonschema
    except ImportError:
        print("SKIPPED: the Python package jsonschema is not installed (python3 -m pip install jsonschema)")
        return 77
    with open(os.path.join(ROOT, "docs", "launch.schema.json"), encoding="utf-8") as f:
        schema = json.load(f)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failed = count = 0
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "kernels", "**", "*.json"), recursive=True)):
        with open(path, encoding="utf-8") as f:
            document = json.load(f)
        if not isinstance(document, dict) or not ("args" in document or "launches" in document or "configs" in document):
            continue
        count += 1
        for error in validator.iter_errors(document):
            failed += 1
            print(f"{os.path.relpath(path, ROOT)}: {error.json_path}: {error.message[:200]}")
    for document in BAD:
        if validator.is_valid(document):
            failed += 1
            print(f"accepted: {json.dumps(document)}")
    print(f"{count} launch files, {len(BAD)} bad ones, {failed} problems")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
