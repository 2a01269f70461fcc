#!/bin/sh
# Collects, decides and compares: run.sh FOLDER. Needs polyrace installed (pip install .) or PYTHONPATH and POLYRACE_LIBRARY.
# With PYTHON set, that interpreter is used and nothing is installed.
set -eu
out=${1:?usage: run.sh FOLDER}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
if [ -z "${PYTHON:-}" ]; then
    python3 -m venv "$out/venv"
    PYTHON=$out/venv/bin/python
    "$PYTHON" -m pip install -q -r "$here/requirements.txt"
    "$PYTHON" -m pip install -q --no-deps -r "$here/packages.txt"
    "$PYTHON" -m pip install -q "$here/../.."
fi
for corpus in ${CORPORA:-liger torchao lightllm sglang fla gems}; do
    "$PYTHON" "$here/collect.py" "$corpus" "$out/$corpus.jsonl" --seconds "${SECONDS_EACH:-600}" >"$out/$corpus.log" 2>&1 || echo "$corpus: see $out/$corpus.log"
    tail -1 "$out/$corpus.log"
done
files=""
for corpus in ${CORPORA:-liger torchao lightllm sglang fla gems}; do files="$files $out/$corpus.jsonl"; done
# shellcheck disable=SC2086
"$PYTHON" "$here/report.py" --out "$out/report" $files
"$PYTHON" "$here/layouts.py" "$out/report/results.jsonl" "$out/report/selected" >"$out/layouts.txt" 2>&1
for corpus in ${CORPORA:-liger torchao lightllm sglang}; do
    "$PYTHON" "$here/rival.py" "$corpus" "$out/rival_$corpus.jsonl" --each 5 || true
done
"$PYTHON" "$here/rival.py" --table "$out/report" "$out"/rival_*.jsonl >"$out/rival.md"
