#!/bin/sh
# Builds and runs the whole suite: installs what is missing, configures, builds, tests. Ends with
# ctest's closing line and exit status. Usage: bash test/run.sh [ctest arguments]
set -eu
cd "$(dirname "$0")/.."
sh toolchains/install.sh test
cmake --preset dev
cmake --build --preset dev
jobs=$(nproc)
ctest --preset dev -j "$jobs" -LE system "$@"
# Real processes against the wall clock: on a busy machine one may need a second try, which shows.
exec ctest --preset dev -j "$jobs" -L system --repeat until-pass:2 "$@"
