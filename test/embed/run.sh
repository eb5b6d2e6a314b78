#!/bin/sh
# Installs the collation library of a build into a new folder, builds the program here against it
# and compares what that prints. Usage: run.sh BUILD WORK
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1 work=$2
rm -rf "$work"
cmake --install "$build" --component collation --prefix "$work/installed" >/dev/null
cmake -S "$here" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/installed" >/dev/null
cmake --build "$work/build" >/dev/null
"$work/build/ordered" >"$work/printed.txt"
diff -u "$here/expected.txt" "$work/printed.txt"
echo "built against the installed tree and ran: $(wc -l <"$work/printed.txt") data in order"
