#!/usr/bin/env bash
# Builds the presets that scripts/test.sh does not, whole, and runs their tests: clang, asan-ubsan, and each libFuzzer target of fuzz
# for a while. An hour or two on two cores.
#
#   scripts/presets.sh [--fuzz-seconds N] [--build-only] [PRESET...]        60 s a target; all three presets
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=60
build_only=no
presets=()
while [ $# -gt 0 ]; do
  case $1 in
    --fuzz-seconds) seconds=${2?presets: --fuzz-seconds needs a number}; shift ;;
    --build-only) build_only=yes ;;
    -h | --help) sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    clang | asan-ubsan | fuzz) presets+=("$1") ;;
    *) echo "presets: unknown option or preset $1" >&2; exit 2 ;;
  esac
  shift
done
[ ${#presets[@]} -gt 0 ] || presets=(clang asan-ubsan fuzz)

fuzz_targets() {
  seeds=$(mktemp -d)
  trap 'rm -rf "$seeds"' EXIT
  cmake --build build/fuzz --target mrvlc --parallel "$(nproc)"
  scripts/fuzz_seeds.sh "$seeds" build/fuzz/bin/mrvlc
  for target in importer ir rules target binary; do
    echo "presets: fuzz_$target, $seconds s"
    "build/fuzz/bin/fuzz_$target" "$seeds/$target" -artifact_prefix="build/fuzz/found-$target-" -max_len=20000 -timeout=10 -rss_limit_mb=2048 \
      -max_total_time="$seconds" -print_final_stats=1 -verbosity=0
  done
}

scripts/install-deps.sh
for preset in "${presets[@]}"; do
  echo "presets: $preset"
  cmake --preset "$preset"
  cmake --build --preset "$preset" --parallel "$(nproc)"
  if [ "$build_only" = yes ]; then continue; fi
  if [ "$preset" = fuzz ]; then
    fuzz_targets
  else
    ctest --preset "$preset" --no-tests=error --parallel "$(nproc)"
  fi
done
echo "presets: ${presets[*]} passed"
