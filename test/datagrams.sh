#!/bin/sh
# A million datagrams of each family, a tenth each lost, repeated and reordered: memory stays flat,
# each scan whose parts all arrived is delivered once, the books balance.
# Usage: bash test/datagrams.sh [DATAGRAMS]
set -eu
cd "$(dirname "$0")/.."
cmake --preset dev
cmake --build --preset dev --target unit_tests
LIDARD_DATAGRAMS=${1:-1000000} exec build/dev/test/unit_tests -g Datagrams -v
