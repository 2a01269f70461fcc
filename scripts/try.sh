#!/bin/sh
# Command one: from a fresh Debian 12 or 13 to a first verdict. Installs what is missing, builds, and checks a
# kernel and its racing twin.
#
#   scripts/try.sh [BUILD-FOLDER]        default: build
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
. scripts/lib.sh

need_packages build-essential meson ninja-build pkg-config libisl-dev libgmp-dev libjansson-dev libz3-dev python3
[ -f "$build/build.ninja" ] || meson setup "$build" >"$build.setup.log" 2>&1 || { cat "$build.setup.log"; exit 3; }
rm -f "$build.setup.log"
ninja -C "$build" src/cli/polyrace >/dev/null || { ninja -C "$build" src/cli/polyrace; exit 3; }

polyrace=$build/src/cli/polyrace
for kernel in vadd vadd_race; do
    echo
    echo "\$ polyrace check tests/kernels/ttir/$kernel.json"
    status=0
    "$polyrace" check "tests/kernels/ttir/$kernel.json" || status=$?
    echo "exit status $status"
    case $kernel-$status in vadd-0 | vadd_race-1) ;; *) echo "unexpected exit status"; exit 4 ;; esac
done
echo
echo "The program is $polyrace; \"$polyrace help\" says what it can do."
