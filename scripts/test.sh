#!/bin/sh
# Command two: install what the tests need, build, run every suite. Tests that need something that is not here
# are skipped and say so.
#
#   scripts/test.sh [BUILD-FOLDER]       default: build-test
set -eu
cd "$(dirname "$0")/.."
build=${1:-build-test}
. scripts/lib.sh

need_packages build-essential meson ninja-build pkg-config libisl-dev libgmp-dev libjansson-dev libz3-dev \
    python3 python3-venv

# Python packages of the tests live in a folder of their own. Without a package index the tests that need
# them are skipped.
venv=$build.venv
if [ ! -x "$venv/bin/python3" ]; then
    python3 -m venv --system-site-packages "$venv"
fi
"$venv/bin/python3" -c 'import jsonschema' 2>/dev/null ||
    "$venv/bin/python3" -m pip install --quiet jsonschema ||
    echo "note: jsonschema cannot be installed; the launch-schema test is skipped"
PATH=$(cd "$venv" && pwd)/bin:$PATH
export PATH

if [ -f "$build/build.ninja" ]; then
    meson setup --reconfigure "$build" >/dev/null
else
    meson setup "$build" >"$build.setup.log" 2>&1 || { cat "$build.setup.log"; exit 3; }
    rm -f "$build.setup.log"
fi
ninja -C "$build"
exec meson test -C "$build" --print-errorlogs
