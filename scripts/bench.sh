#!/usr/bin/env bash
# Times the host code generated for models against ONNX Runtime, one thread each, in alternating rounds.
#
#   scripts/bench.sh [-n ITERATIONS] [-r ROUNDS] [MODEL.onnx...] [-- OPTION...]     options go to mrvlc compile
#
# Without models: SqueezeNet and UltraFace of the shared data ($MRVLC_SHARED, or `shared` beside the checkout). ONNX
# Runtime is npm's onnxruntime-node, installed in build/ort (or taken from $ORT_DIR); mrvlc is built here, or taken from
# the build folder $MRVLC_BUILD. Prints, for each model, the time of the C compiler, minimum and median of every round, and
# the ratios of the minima and of the medians over all rounds; below 1 the generated code is the faster one.
#
#   scripts/bench.sh --table [--write | --check] [--seconds] [-j N]
#
# Cycles of the accelerator instead: compiles the networks of docs/performance.md, simulates them (timing only) and prints the
# tables. --write puts them into the file, between its markers; --check says, with exit code 5, whether they are
# current. Cycles do not depend on the machine; seconds are measured with --seconds only.
#
#   scripts/bench.sh --all [-r ROUNDS] [--only PATTERN] [--against BUILD] [--write] [-- OPTION...]
#
# Host code against ONNX Runtime over all networks of the shared data and of models/generators: a table with least times, the
# time from start to first result, memory, and geometric means. --against compares with the code of another build folder;
# --write puts the table into docs/performance.md.
#
#   scripts/bench.sh --layers [-n RUNS] [--least PERCENT] MODEL.onnx... [-- OPTION...]
#
# Host code layer by layer beside the machine's peak, measured beside it: GFLOP/s, bytes, share of the peak.
# CFLAGS='-O3 -march=haswell' for AVX2.
set -euo pipefail

started=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
usage() { sed -n '2,26s/^# \{0,1\}//p' "$root/scripts/bench.sh"; exit "$1"; }

build_mrvlc() {
  scripts/install-deps.sh --build-only >&2
  cmake --preset release >/dev/null
  cmake --build --preset release --parallel "$(nproc)" --target mrvlc >&2
}
# Sets `build` to the folder with bin/mrvlc.
find_mrvlc() {
  build=${MRVLC_BUILD:-$root/build}
  [ -n "${MRVLC_BUILD:-}" ] || build_mrvlc
  build=$(cd "$build" && pwd)
}

tables() {
  local arguments=() data=${MRVLC_SHARED:-$root/../shared}/data
  if [ -d "$data/zoo" ]; then arguments+=(--data "$data"); fi
  while [ $# -gt 0 ]; do
    case $1 in
      --write | --check) arguments+=("$1" docs/performance.md); shift ;;
      --seconds) arguments+=("$1"); shift ;;
      -j) arguments+=(-j "${2?}"); shift 2 ;;
      *) usage 2 >&2 ;;
    esac
  done
  find_mrvlc
  exec scripts/performance.py --mrvlc "$build/bin/mrvlc" "${arguments[@]}"
}
install_runtime() {
  command -v npm >/dev/null || scripts/install-deps.sh --build-only nodejs npm
  echo "bench: npm installs onnxruntime-node 1.30.0 in build/ort" >&2
  npm install --ignore-scripts --no-audit --no-fund --prefix build/ort onnxruntime-node@1.30.0 >&2
}
# Sets ORT_DIR to the folder with ONNX Runtime.
find_runtime() {
  export ORT_DIR=${ORT_DIR:-$root/build/ort}
  [ -d "$ORT_DIR/node_modules/onnxruntime-node" ] || install_runtime
}

if [ "${1-}" = --table ]; then shift; tables "$@"; fi

all() {
  local arguments=() data=${MRVLC_SHARED:-$root/../shared}/data
  if [ -d "$data/zoo" ]; then arguments+=(--data "$data"); fi
  while [ $# -gt 0 ]; do
    case $1 in
      --write) arguments+=(--write docs/performance.md); shift ;;
      --against) arguments+=(--against "$(cd "$started" && realpath "${2?}")/bin/mrvlc"); shift 2 ;;
      -r | --only) arguments+=("$1" "${2?}"); shift 2 ;;
      --) arguments+=("$@"); break ;;
      *) usage 2 >&2 ;;
    esac
  done
  find_runtime
  find_mrvlc
  exec scripts/host_speed.py --mrvlc "$build/bin/mrvlc" "${arguments[@]}"
}
if [ "${1-}" = --all ]; then shift; all "$@"; fi

layers() {
  local arguments=()
  while [ $# -gt 0 ]; do
    case $1 in
      -n | --least) arguments+=("$1" "${2?}"); shift 2 ;;
      --) arguments+=("$@"); break ;;
      -*) usage 2 >&2 ;;
      *) arguments+=("$(cd "$started" && realpath "$1")"); shift ;;
    esac
  done
  find_mrvlc
  exec scripts/host_roofline.py --mrvlc "$build/bin/mrvlc" "${arguments[@]}"
}
if [ "${1-}" = --layers ]; then shift; layers "$@"; fi

models=() iterations=20 rounds=5
while [ $# -gt 0 ]; do
  case $1 in
    -n) iterations=${2?}; shift 2 ;;
    -r) rounds=${2?}; shift 2 ;;
    -h | --help) usage 0 ;;
    --) shift; break ;;
    -*) usage 2 >&2 ;;
    /*) models+=("$1"); shift ;;
    *) models+=("$started/$1"); shift ;;
  esac
done
for number in "$iterations" "$rounds"; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || { echo "bench: '$number' is not a positive number" >&2; exit 2; }
done
if [ ${#models[@]} -eq 0 ]; then
  zoo=${MRVLC_SHARED:-$root/../shared}/data/zoo
  [ -d "$zoo" ] || { echo "bench: no models given, and no shared data to take them from" >&2; usage 2 >&2; }
  models=("$zoo/squeezenet_fp16.onnx" "$zoo/ultraface_rfb320.onnx")
fi
for model in "${models[@]}"; do
  [ -r "$model" ] || { echo "bench: cannot read $model" >&2; exit 3; }
done

find_runtime
find_mrvlc

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
field() { sed -n "s/.*$1 \([0-9.e+-]*\).*/\1/p" <<<"$2"; }
least() { sort -g "$1" | head -n 1; }
middle() { sort -g "$1" | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# bench MODEL OPTION...
bench() {
  local model=$1 dir round input arguments=() inputs=() TIMEFORMAT=%R
  shift
  dir=$(mktemp -d "$work/XXXXXX")
  "$build/bin/mrvlc" compile "$model" --name model --target host -q -o "$dir/out" "$@"
  { time make -s -C "$dir/out" CC="${CC:-gcc}" CFLAGS="${CFLAGS:--O3 -march=native}" MRVLC_PREFIX="$build" >&2; } 2>"$dir/cc_seconds" || { cat "$dir/cc_seconds" >&2; exit 1; }
  mapfile -t inputs < <(node scripts/bench_ort.mjs inputs "$model" "$dir/in")
  [ ${#inputs[@]} -gt 0 ] || { echo "bench: no inputs were made for $model" >&2; exit 1; }
  for input in "${inputs[@]}"; do arguments+=(--input "$input"); done

  printf '%s: C compiler %s s\n' "$(basename "$model")" "$(tail -n 1 "$dir/cc_seconds")"
  printf '%-6s %10s %10s %10s %10s   ms\n' round 'mrvlc min' median 'ORT min' median
  for ((round = 1; round <= rounds; ++round)); do
    local ours theirs
    ours=$("$dir/out/model_example" "${arguments[@]}" --bench "$iterations")
    theirs=$(node scripts/bench_ort.mjs time "$model" "$iterations" "${inputs[@]}")
    local a_min a b_min b
    a_min=$(field min_ms "$ours") a=$(field median_ms "$ours")
    b_min=$(field min_ms "$theirs") b=$(field median_ms "$theirs")
    [ -n "$a_min" ] && [ -n "$b_min" ] || { echo "bench: a run printed no 'min_ms'" >&2; exit 1; }
    printf '%-6s %10.3f %10.3f %10.3f %10.3f\n' "$round" "$a_min" "$a" "$b_min" "$b"
    echo "$a_min" >>"$dir/a_min"; echo "$a" >>"$dir/a"; echo "$b_min" >>"$dir/b_min"; echo "$b" >>"$dir/b"
  done
  awk -v a="$(least "$dir/a_min")" -v b="$(least "$dir/b_min")" -v c="$(middle "$dir/a")" -v d="$(middle "$dir/b")" \
    'BEGIN { printf "mrvlc/ORT: minimum %.3f / %.3f ms = %.2f, median %.3f / %.3f ms = %.2f\n\n", a, b, a / b, c, d, c / d }'
}

for model in "${models[@]}"; do bench "$model" "$@"; done
