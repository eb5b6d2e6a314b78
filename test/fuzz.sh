#!/bin/sh
# Runs every fuzz target under libFuzzer, AddressSanitizer and UBSan. Exit status 1 on a finding;
# the input that caused it is left in build/fuzz/findings. Usage: bash test/fuzz.sh [SECONDS each]
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-60}

probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT
echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' \
  >"$probe/probe.cpp"
if ! clang++ -fsanitize=fuzzer,address "$probe/probe.cpp" -o "$probe/probe" 2>/dev/null; then
  echo 'skipped: clang++ with libFuzzer is missing (Debian 12: clang libclang-rt-14-dev)'
  exit 0
fi

cmake --preset fuzz
cmake --build --preset fuzz
findings=build/fuzz/findings
mkdir -p "$findings"
failed=''
for source in test/fuzz/*_fuzz.cpp; do
  target=$(basename "$source" .cpp)
  name=${target%_fuzz}
  corpus=build/fuzz/corpus/$name # grows from run to run
  mkdir -p "$corpus"
  echo "== $name: $seconds s"
  "build/fuzz/test/fuzz/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
    -print_final_stats=1 -verbosity=0 -artifact_prefix="$findings/$name-" \
    "$corpus" "test/fuzz/seeds/$name" || failed="$failed $name"
done
[ -z "$failed" ] || { echo "findings:$failed; inputs in $findings" >&2; exit 1; }
echo 'no findings'
