#!/usr/bin/env bash
# How compile time grows: networks of many small layers (models/generators/chain.py), seconds, microseconds a layer and
# memory for each size, and microseconds a layer for each phase.
#
#   scripts/bench_linear.sh [-k KIND]... [-n LAYERS]... [-r RUNS] [-- OPTION...]     options go to mrvlc compile
#
# By default the kinds plain, relu, residual, fan, concat, wide, cpu and names at 100, 1000, 10000 and 50000 layers, and
# plain for the host alone; each compiled RUNS times (3; once from 10000 layers), the fastest counts. The last line of a
# table is the largest time a layer over the smallest: 2 or less is linear growth. mrvlc is taken from the build folder
# $MRVLC_BUILD, or from build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
usage() { sed -n '2,10s/^# \{0,1\}//p' scripts/bench_linear.sh; exit "$1"; }

kinds=() sizes=() runs=3
while [ $# -gt 0 ]; do
  case $1 in
    -k) kinds+=("${2?}"); shift 2 ;;
    -n) sizes+=("${2?}"); shift 2 ;;
    -r) runs=${2?}; shift 2 ;;
    -h | --help) usage 0 ;;
    --) shift; break ;;
    *) usage 2 >&2 ;;
  esac
done
[ ${#sizes[@]} -gt 0 ] || sizes=(100 1000 10000 50000)
mrvlc=${MRVLC_BUILD:-build}/bin/mrvlc
[ -x "$mrvlc" ] || { echo "bench_linear: there is no $mrvlc; build it first (scripts/test.sh)" >&2; exit 3; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# measure KIND OPTION...
measure() {
  local kind=$1 n i
  shift
  for n in "${sizes[@]}"; do
    models/generators/chain.py "$kind" "$n" -o "$work/chain.onnx"
    for ((i = 0; i < (n < 10000 ? runs : 1); ++i)); do
      "$mrvlc" compile "$work/chain.onnx" -q -o "$work/out" --timing "$work/$n.$i.json" "$@"
    done
    rm -rf "$work/out" "$work/chain.onnx"
  done
  echo "$kind${*:+ }$*"
  /usr/bin/python3 - "$work" "${sizes[@]}" <<'PY'
import glob, json, sys
work, sizes = sys.argv[1], [int(n) for n in sys.argv[2:]]
phases, rows = [], []
for n in sizes:
    runs = [json.load(open(f)) for f in glob.glob(f"{work}/{n}.*.json")]
    best = min(runs, key=lambda r: r["total"]["seconds"])
    phases += [p["phase"] for p in best["phases"] if p["phase"] not in phases]
    rows.append((n, best["total"], {p["phase"]: p["seconds"] for p in best["phases"]}))
print(f"{'layers':>7}{'seconds':>9}{'CPU s':>8}{'MiB':>6}{'us/layer':>10}" + "".join(f"{p:>10}" for p in phases))
for n, total, seconds in rows:
    print(f"{n:>7}{total['seconds']:>9.3f}{total['cpu_seconds']:>8.2f}{total['peak_memory_bytes'] >> 20:>6}"
          f"{total['seconds'] / n * 1e6:>10.1f}" + "".join(f"{seconds.get(p, 0) / n * 1e6:>10.1f}" for p in phases))
def spread(key):
    each = [total[key] / n for n, total, _ in rows]
    return max(each) / min(each)

print(f"largest over smallest time a layer: {spread('seconds'):.2f}, of processors {spread('cpu_seconds'):.2f}\n")
PY
  rm -f "$work"/*.json
}

if [ ${#kinds[@]} -gt 0 ]; then
  for kind in "${kinds[@]}"; do measure "$kind" "$@"; done
else
  for kind in plain relu residual fan concat wide cpu names; do measure "$kind" "$@"; done
  measure plain --target host "$@"
fi
