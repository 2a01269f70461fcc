#!/bin/sh
# Command two: install what the tests need, build, run every suite. Tests that need something that is not here
# are skipped and say so. Three builds: the default one with every suite, one with address and undefined-behaviour
# sanitizers, and one without Z3.
#
#   scripts/test.sh [BUILD-FOLDER]       default: build-test
#   POLYRACE_QUICK=1 scripts/test.sh     only the quick suites of the default build (under two minutes)
set -eu
cd "$(dirname "$0")/.."
build=${1:-build-test}
. scripts/lib.sh

need_packages build-essential meson ninja-build pkg-config libisl-dev libgmp-dev libjansson-dev libz3-dev \
    python3 python3-venv

# Pages are looked at in a headless browser; without one these tests are skipped.
if [ -z "${POLYRACE_QUICK:-}" ]; then
    need_packages chromium || echo "note: chromium cannot be installed; the tests that need a browser are skipped"
fi

# Python packages of the tests live in a folder of their own. Without a package index the tests that need
# them are skipped.
venv=$build.venv
if [ ! -x "$venv/bin/python3" ]; then
    python3 -m venv --system-site-packages "$venv"
fi
for package in jsonschema islpy cvc5; do
    "$venv/bin/python3" -c "import $package" 2>/dev/null ||
        "$venv/bin/python3" -m pip install --quiet "$package" ||
        echo "note: $package cannot be installed; the tests that need it are skipped"
done
# What the Python tests need: kernels are launched on CPU tensors, no GPU is used; only a CPU build of torch is taken.
# POLYRACE_TORCH=no leaves out the two large ones; the tests that launch are then skipped.
python_packages="pytest:pytest xdist:pytest-xdist pytest_randomly:pytest-randomly numpy:numpy jinja2:jinja2"
if [ "${POLYRACE_TORCH:-}" != no ] && [ -z "${POLYRACE_QUICK:-}" ]; then
    python_packages="$python_packages playwright:playwright torch:torch==2.13.0+cpu triton:triton==3.8.0"
fi
for package in $python_packages; do
    "$venv/bin/python3" -c "import ${package%%:*}" 2>/dev/null ||
        "$venv/bin/python3" -m pip install --quiet "${package#*:}" ||
        echo "note: ${package#*:} cannot be installed; the tests that need it are skipped"
done
PATH=$(cd "$venv" && pwd)/bin:$PATH
export PATH

configure() { # FOLDER [OPTION...]
    folder=$1
    shift
    if [ -f "$folder/build.ninja" ]; then
        meson setup --reconfigure "$folder" "$@" >/dev/null
    else
        meson setup "$folder" "$@" >"$folder.setup.log" 2>&1 || { cat "$folder.setup.log"; exit 3; }
        rm -f "$folder.setup.log"
    fi
    ninja -C "$folder" >"$folder.build.log" 2>&1 || { cat "$folder.build.log"; exit 3; }
    rm -f "$folder.build.log"
}

quick="--suite unit --suite api --suite tools --suite pitfalls"
python="-Dtest_python=$(cd "$venv" && pwd)/bin/python3"
configure "$build" "$python"
if [ "${POLYRACE_QUICK:-}" ]; then
    # shellcheck disable=SC2086
    exec meson test -C "$build" --print-errorlogs $quick
fi
meson test -C "$build" --print-errorlogs
configure "$build-asan" "$python" -Db_sanitize=address,undefined -Db_lundef=false
# shellcheck disable=SC2086
meson test -C "$build-asan" --setup=asan --print-errorlogs $quick --suite badinput
configure "$build-nosmt" "$python" -Dsmt=disabled
# shellcheck disable=SC2086
meson test -C "$build-nosmt" --print-errorlogs $quick --suite kernels
