#!/bin/sh
# Reads what our writer wrote with the MCAP reader of npm. Usage: run.sh MCAP_SAMPLE WORK_DIR
# Exit 77: as read.sh.
set -eu
sample=$1
work=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$work"

"$sample" "$work/plain.mcap" 0
"$sample" "$work/one_chunk.mcap" 100000000
"$sample" "$work/chunks.mcap" 5000
"$sample" "$work/zstd.mcap" 5000 zstd
"$sample" "$work/lz4.mcap" 5000 lz4
sh "$here/read.sh" "$work" "$work/plain.mcap" "$work/one_chunk.mcap" "$work/chunks.mcap" \
  "$work/zstd.mcap" "$work/lz4.mcap"

# A file that is cut anywhere gives all that was whole.
size=$(wc -c <"$work/plain.mcap")
head -c $((size / 2)) "$work/plain.mcap" >"$work/cut.mcap"
sh "$here/read.sh" "$work" --stream "$work/cut.mcap"
