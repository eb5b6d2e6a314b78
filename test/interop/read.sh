#!/bin/sh
# Reads MCAP files with the reader of npm. Usage: read.sh WORK_DIR [--stream] FILE...
# Exit 77: there is no node, or no registry to install the reader from.
set -eu
work=$1
shift
here=$(cd "$(dirname "$0")" && pwd)

skip() {
  echo "SKIP: $1"
  exit 77
}
command -v node >/dev/null || skip "node is not installed"
command -v npm >/dev/null || skip "npm is not installed"

mkdir -p "$work"
(
  flock 9 # several tests may want it at once
  cp "$here/package.json" "$here/package-lock.json" "$here/mcap_read.mjs" "$work"
  cd "$work"
  [ -f node_modules/.package-lock.json ] || npm ci --no-audit --no-fund >npm.log 2>&1
) 9>"$work/lock" || skip "npm ci failed: $(tail -n 1 "$work/npm.log")"
exec node "$work/mcap_read.mjs" "$@"
