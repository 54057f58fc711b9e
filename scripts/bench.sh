#!/usr/bin/env bash
# Times the host code generated for a model against ONNX Runtime, one thread each, in alternating rounds.
#
#   scripts/bench.sh MODEL.onnx [-n ITERATIONS] [-r ROUNDS] [-- OPTION...]      options go to mrvlc compile
#
# ONNX Runtime is npm's onnxruntime-node, installed in build/ort (or taken from $ORT_DIR). Prints each round's medians
# and the ratio of the medians over all rounds; below 1 the generated code is the faster one.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
usage() { sed -n '2,7s/^# \{0,1\}//p' "$root/scripts/bench.sh"; exit "$1"; }

model='' iterations=10 rounds=5
while [ $# -gt 0 ]; do
  case $1 in
    -n) iterations=${2?}; shift 2 ;;
    -r) rounds=${2?}; shift 2 ;;
    -h | --help) usage 0 ;;
    --) shift; break ;;
    -*) usage 2 >&2 ;;
    *) [ -z "$model" ] || usage 2 >&2; model=$1; shift ;;
  esac
done
[ -n "$model" ] || usage 2 >&2
[ -r "$model" ] || { echo "bench: cannot read $model" >&2; exit 3; }
for number in "$iterations" "$rounds"; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || { echo "bench: '$number' is not a positive number" >&2; exit 2; }
done

install_runtime() {
  command -v npm >/dev/null || scripts/install-deps.sh --build-only nodejs npm
  echo "bench: npm installs onnxruntime-node 1.30.0 in build/ort" >&2
  npm install --ignore-scripts --no-audit --no-fund --prefix build/ort onnxruntime-node@1.30.0 >&2
}
export ORT_DIR=${ORT_DIR:-$root/build/ort}
[ -d "$ORT_DIR/node_modules/onnxruntime-node" ] || install_runtime

scripts/install-deps.sh --build-only >&2
cmake --preset release >/dev/null
cmake --build --preset release --parallel "$(nproc)" --target mrvlc >&2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build/bin/mrvlc compile "$model" --name model --target host -o "$work/out" "$@"
make -s -C "$work/out" CC="${CC:-gcc}" CFLAGS="${CFLAGS:--O3 -march=native}" \
  MRVL_INCLUDE="$root/include" MRVL_LIB="$root/build/lib"
mapfile -t inputs < <(node scripts/bench_ort.mjs inputs "$model" "$work/in")
[ ${#inputs[@]} -gt 0 ] || { echo "bench: no inputs were made for $model" >&2; exit 1; }

ours() {
  local arguments=()
  for input in "${inputs[@]}"; do arguments+=(--input "$input"); done
  "$work/out/example" "${arguments[@]}" --output-dir "$work/results" --bench "$iterations"
}
theirs() { node scripts/bench_ort.mjs time "$model" "$iterations" "${inputs[@]}"; }
median_of() { sed -n 's/.*median_ms \([0-9.e+-]*\).*/\1/p' <<<"$1"; }

mkdir -p "$work/results"
printf '%-6s %14s %14s\n' round 'mrvlc ms' 'onnxruntime ms'
for ((round = 1; round <= rounds; ++round)); do
  a=$(median_of "$(ours)")
  b=$(median_of "$(theirs)")
  if [ -z "$a" ] || [ -z "$b" ]; then
    echo "bench: a run printed no 'median_ms'" >&2
    exit 1
  fi
  printf '%-6s %14s %14s\n' "$round" "$a" "$b"
  echo "$a" >>"$work/ours"
  echo "$b" >>"$work/theirs"
done
middle() { sort -g "$1" | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
awk -v a="$(middle "$work/ours")" -v b="$(middle "$work/theirs")" \
  'BEGIN { printf "median mrvlc %.3f ms, onnxruntime %.3f ms, ratio %.2f\n", a, b, a / b }'
