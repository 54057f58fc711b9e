#!/usr/bin/env bash
# usage: large.sh MRVLC GENERATOR WORK
# Memory and output of models with very many nodes: peaks in proportion to the nodes, and below a limit a node. Nothing
# here depends on time. WORK is emptied first.
set -u
mrvlc=$1 generator=$2 work=$3
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1
failures=0
fail() { failures=$((failures + 1)); echo "FAILED: $*"; }

# compile KIND NODES TARGET [OPTION...]: into $work/out; prints the bytes at the peak
compile() {
  local kind=$1 nodes=$2 target=$3
  shift 3
  [ -f "$kind$nodes.onnx" ] || "$generator" "$kind" "$nodes" -o "$kind$nodes.onnx" || exit 1
  rm -rf out
  "$mrvlc" -q compile "$kind$nodes.onnx" -o out --target "$target" --timing timing.json "$@" >log 2>&1 || { cat log >&2; return 1; }
  /usr/bin/python3 -c 'import json; print(json.load(open("timing.json"))["total"]["peak_memory_bytes"])'
}

# growth KIND TARGET NODES BYTES: at most BYTES a node, from NODES on and twice as many
growth() {
  local kind=$1 target=$2 nodes=$3 limit=$4 one two
  one=$(compile "$kind" "$nodes" "$target") && two=$(compile "$kind" $((2 * nodes)) "$target") ||
    { fail "$kind does not compile for $target"; return; }
  echo "$kind for $target: $((one / nodes)) and $((two / nodes / 2)) bytes a node with $nodes and $((2 * nodes)) nodes"
  [ $((two * 10)) -lt $((one * 23)) ] || fail "$kind for $target: twice the nodes take more than 2.3 times the memory"
  [ $(((two - one) / nodes)) -lt "$limit" ] || fail "$kind for $target: more than $limit bytes a node"
}

growth chain host 25000 2600
growth chain cn10ka 25000 3200
growth wide host 25000 2600
growth cpu host 10000 7000

# What is written does not depend on the threads, and is not there when there is no room for it.
compile chain 25000 host -j 1 >/dev/null && mv out one || fail "-j 1"
compile chain 25000 host -j 2 >/dev/null && diff -r one out >/dev/null || fail "other bytes with -j 2"
rm -rf out
(ulimit -f 1000; "$mrvlc" -q compile chain25000.onnx -o out --target host) >log 2>&1
[ $? -eq 3 ] || fail "no exit code 3 where files may not be larger than 1 MB: $(cat log)"
[ -z "$(ls -d out .out* 2>/dev/null)" ] || fail "half an output is left: $(ls -d out .out*)"

rm -f ./*.onnx
rm -rf one out
[ $failures -eq 0 ]
