#!/bin/sh
# Builds and runs the whole suite: installs what is missing, configures, builds, tests. Ends with
# ctest's closing line and its exit status. Usage: bash test/run.sh [ctest arguments]
set -eu
cd "$(dirname "$0")/.."
sh toolchains/install.sh test
cmake --preset dev
cmake --build --preset dev
exec ctest --preset dev -j "$(nproc)" "$@"
