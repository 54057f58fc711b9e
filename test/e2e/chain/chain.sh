#!/usr/bin/env bash
# usage: chain.sh MRVLC SOURCES WORK
# Thousands of layers on a stack of 256 KiB: compiled, run and compared with the reference interpreter; processor time a
# layer for each kind of chain must not grow. WORK is emptied first. Exit code 77 (skipped) without python3-onnx.
set -euo pipefail
mrvlc=$1 sources=$2 work=$3
/usr/bin/python3 -c 'import onnx, numpy' 2>/dev/null || { echo "python3-onnx is not installed"; exit 77; }
rm -rf "$work" && mkdir -p "$work" && cd "$work"
chain() { "$sources/models/generators/chain.py" "$1" "$2" -o "$1_$2.onnx"; }
small_stack() { (ulimit -s 256 && "$@"); }
fail() { echo "FAILED: $*"; exit 1; }

chain residual 2000
small_stack "$mrvlc" verify residual_2000.onnx --sets uniform -q || fail "residual: results"
chain concat 300
small_stack "$mrvlc" verify concat_300.onnx --sets uniform -q || fail "concat: results"

# Eight times the layers in at most 24 times the time: a pass that is quadratic and counts takes 64 times.
seconds() {
  chain "$1" "$2"
  small_stack "$mrvlc" compile "$1_$2.onnx" -q -o out --timing timing.json "${@:3}" || fail "$*: compile"
  /usr/bin/python3 -c 'import json; print(json.load(open("timing.json"))["total"]["cpu_seconds"])'
}
grows_linearly() {
  local few many
  few=$(seconds "$1" 400 "${@:2}") many=$(seconds "$1" 3200 "${@:2}")
  echo "$*: $few s for 400 layers, $many s for 3200"
  awk -v a="$few" -v b="$many" 'BEGIN { exit !(b <= 24 * a) }' || fail "$*: time grows faster than the network"
}
for kind in plain relu residual fan concat wide cpu names; do grows_linearly "$kind"; done
for kind in relu residual wide; do grows_linearly "$kind" --target host; done

# A chain that is merged node by node: each node on the way comes from all before it, and the ID map stays linear.
map_bytes() {
  chain "$1" "$2"
  small_stack "$mrvlc" compile "$1_$2.onnx" -q --target host -o merged || fail "$1 $2: compile"
  stat -c %s merged/idmap.json
}
for kind in reshape transpose; do
  few=$(map_bytes $kind 500) many=$(map_bytes $kind 1000)
  echo "$kind: idmap.json has $few bytes for 500 nodes, $many for 1000"
  awk -v a="$few" -v b="$many" 'BEGIN { exit !(b <= 2.2 * a) }' || fail "$kind: idmap.json grows faster than the network"
  grows_linearly $kind --target host
done
rm -rf "$work"
