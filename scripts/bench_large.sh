#!/usr/bin/env bash
# What a model of very many cheap nodes costs (models/generators/many_nodes.py): seconds, processor seconds and peak memory
# after each phase, and bytes written.
#
#   scripts/bench_large.sh [-n NODES] [KIND[:TARGET]...] [-- OPTION...]     options go to mrvlc compile
#
# By default a million nodes of the kinds chain and wide, for host and for cn10ka. mrvlc is taken from the build folder
# $MRVLC_BUILD, or from build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
usage() { sed -n '2,8s/^# \{0,1\}//p' scripts/bench_large.sh; exit "$1"; }

nodes=1000000 cases=()
while [ $# -gt 0 ]; do
  case $1 in
    -n) nodes=${2?}; shift 2 ;;
    -h | --help) usage 0 ;;
    --) shift; break ;;
    -*) usage 2 >&2 ;;
    *) cases+=("$1"); shift ;;
  esac
done
[ ${#cases[@]} -gt 0 ] || cases=(chain:host chain:cn10ka wide:host wide:cn10ka)
mrvlc=${MRVLC_BUILD:-build}/bin/mrvlc
[ -x "$mrvlc" ] || { echo "bench_large: there is no $mrvlc; build it first (scripts/test.sh)" >&2; exit 3; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for case in "${cases[@]}"; do
  kind=${case%%:*} target=${case#*:}
  [ "$target" != "$case" ] || target=cn10ka
  [ -f "$work/$kind.onnx" ] || models/generators/many_nodes.py "$kind" "$nodes" -o "$work/$kind.onnx"
  "$mrvlc" -q compile "$work/$kind.onnx" -o "$work/out" --target "$target" --timing "$work/timing.json" "$@"
  echo "$kind, $nodes nodes, for $target"
  /usr/bin/python3 - "$work" "$nodes" <<'PY'
import json, os, sys
work, nodes = sys.argv[1], int(sys.argv[2])
timing = json.load(open(f"{work}/timing.json"))
print(f"{'phase':<12}{'seconds':>9}{'CPU s':>9}{'peak MiB':>10}")
for p in timing["phases"] + [timing["total"]]:
    print(f"{p['phase']:<12}{p['seconds']:>9.2f}{p['cpu_seconds']:>9.2f}{p['peak_memory_bytes'] >> 20:>10}")
total = timing["total"]
written = sum(os.path.getsize(f"{work}/out/{f}") for f in os.listdir(f"{work}/out"))
print(f"a node: {total['cpu_seconds'] / nodes * 1e6:.1f} us of a processor, {total['peak_memory_bytes'] / nodes:.0f} bytes at the peak, "
      f"{written / nodes:.0f} bytes written\n")
PY
  rm -rf "$work/out"
done
