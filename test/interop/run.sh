#!/bin/sh
# Reads what our writer wrote with the MCAP reader of npm. Usage: run.sh MCAP_SAMPLE WORK_DIR
# Exit 77: there is no node, or no registry to install the readers from.
set -eu
sample=$1
work=$2
here=$(cd "$(dirname "$0")" && pwd)

skip() {
  echo "SKIP: $1"
  exit 77
}
command -v node >/dev/null || skip "node is not installed"
command -v npm >/dev/null || skip "npm is not installed"

mkdir -p "$work"
cp "$here/package.json" "$here/package-lock.json" "$here/mcap_read.mjs" "$work"
cd "$work"
if ! [ -f node_modules/.package-lock.json ]; then
  npm ci --no-audit --no-fund >npm.log 2>&1 || skip "npm ci failed: $(tail -n 1 npm.log)"
fi

"$sample" plain.mcap 0
"$sample" one_chunk.mcap 100000000
"$sample" chunks.mcap 5000
node mcap_read.mjs plain.mcap one_chunk.mcap chunks.mcap

# A file that is cut anywhere gives all that was whole.
size=$(wc -c <plain.mcap)
head -c $((size / 2)) plain.mcap >cut.mcap
node mcap_read.mjs --stream cut.mcap
