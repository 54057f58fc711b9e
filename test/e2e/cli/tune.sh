#!/usr/bin/env bash
# usage: tune.sh MRVLC MODELS/DIGITS WORK
# mrvlc tune: what it writes, that it goes on where it was interrupted, and what a compile makes of its file. WORK is emptied first.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mrvlc=$1 digits=$2/digits.onnx images=$2/test_x.npy work=$3
unset CC NO_COLOR MRVLC_LOG_LEVEL MRVLC_TARGET_PATH
rm -rf "$work" && mkdir -p "$work/tmp" && cd "$work" || exit 1
export TMPDIR=$work/tmp
# shellcheck source=expect.sh
. "$here/expect.sh"

compile() { "$mrvlc" compile "$digits" -q --target host "$@" 2>stderr; }
field() { python3 -c 'import json, sys; print(eval("j" + sys.argv[2], {"j": json.load(open(sys.argv[1]))}))' "$@"; }
same_code() { cmp "$1/digits.c" "$2/digits.c" && cmp "$1/digits_weights.bin" "$2/digits_weights.bin"; }

# The second variant of every layer, whatever it takes.
choose_others() {
  python3 - "$1" "$2" <<'PYTHON'
import json, sys
file = json.load(open(sys.argv[1]))
for layer in file["layers"]:
    layer["choice"] = next((v for v in sorted(layer["ns"]) if v != layer["expected"]), layer["choice"])
json.dump(file, open(sys.argv[2], "w"))
PYTHON
}

tunes() {
  expect 0 "layers with more than one kernel" tune "$digits" -o t.json --cflags -O1
  json t.json
  check "all rounds were measured" test "$(field t.json '["rounds"]')" = "[5, 5]"
  check "several variants of a layer were measured" test "$(field t.json '["layers"][0]["ns"].__len__()')" -gt 1
  check "no folder of this machine is in it" sh -c '! grep -q "$0" t.json' "$work"
  cp t.json first.json
  expect 0 "an earlier call's times were used" tune "$digits" -o t.json --cflags -O1
  check "times are kept" test "$(field t.json '["layers"]')" = "$(field first.json '["layers"]')"
  expect 0 "" tune "$digits" -o t.json --cflags '-O1 -DANYTHING' --seconds 0.01
  check "other flags measure anew, one round" test "$(field t.json '["rounds"]')" = "[1, 0]"
  expect 0 "" tune "$digits" -o exact.json --exact --cflags -O1 --seconds 0.01
  check "layers say that they are exact" sh -c 'grep -q ", exact" exact.json && ! grep -q winograd exact.json'
}

compiles() {
  compile -o plain
  choose_others first.json other.json
  check "compiles with a tuning" compile -o a --tuning other.json
  check "compiles again" compile -o b --tuning other.json
  check "same inputs, same bytes" diff -r a b
  check "another choice is other code" sh -c '! cmp -s a/digits.c plain/digits.c'
  check "the report counts them" test "$(field a/report.json '["host"]["tuning"]["tuned"]')" -gt 0
  check "the manifest has the file" grep -q '"tuning": "other.json"' a/manifest.json
  check "and its hash" grep -q "$(sha256sum other.json | cut -d' ' -f1)" a/manifest.json
  expect 0 "" verify "$digits" --target host --tuning other.json
  printf '{"compile": {"tuning": "other.json", "target": "host"}}' >project.json
  expect 0 "" --project project.json compile "$digits" -q -o c
  check "a project file may name it" same_code a c
  expect 0 "" batch "$digits" -o batch --cache cache --target host --tuning other.json
  cp first.json other.json
  expect 0 "" batch "$digits" -o batch --cache cache --target host --tuning other.json
  check "a cache knows the file by its content" sh -c '! cmp -s batch/digits/digits.c a/digits.c'
}

# Whatever stands in a file, the code is right.
stale() {
  sed 's/"choice": "[^"]*"/"choice": "lanes-half"/' first.json >illegal.json
  expect 0 "MRV0607" compile "$digits" -o d --target host --tuning illegal.json
  check "what is illegal leaves the code as it was" same_code d plain
  sed 's/"choice": "[^"]*"/"choice": "of-tomorrow"/' first.json >unknown.json
  expect 0 "this version of mrvlc does not know" compile "$digits" -o d --target host --tuning unknown.json
  check "what is unknown, too" same_code d plain
  sed 's/"layer": "/"layer": "Another /' first.json >elsewhere.json
  expect 0 "MRV0608" compile "$digits" -o d --target host --tuning elsewhere.json
  check "and what is of another network" same_code d plain
  head -c 300 first.json >cut.json
  expect 1 "MRV0606" compile "$digits" -o none --target host --tuning cut.json
  absent none
  expect 3 "MRV0001" compile "$digits" -o none --target host --tuning absent.json
  expect 2 "MRV0004" tune "$digits" -o "$digits"
  expect 3 "MRV0001: cannot open 'nope.onnx'" tune nope.onnx -o none.json
  expect 3 "MRV0001" tune "$digits" -o none.json --cc no-such-compiler
  absent none.json
  cp cut.json damaged.json
  expect 0 "layers with more than one kernel" tune "$digits" -o damaged.json --cflags -O1 --seconds 0.01
  json damaged.json
}

# Interrupted behind the first round, whose times stay; and before it, when there is no file.
interrupted() {
  "$mrvlc" tune "$digits" -o i.json --cflags -O1 2>stderr &
  local pid=$!
  for _ in $(seq 600); do [ -e i.json ] && break; sleep 0.1; done
  kill -INT $pid
  wait $pid
  check "an interrupt exits with 130" test $? = 130
  check "an interrupt says so" grep -q interrupted stderr
  json i.json
  check "no choice is made" test "$(field i.json '["network"]')" = None
  check "what it holds compiles" compile -o e --tuning i.json
  check "as if there was no file" same_code e plain
  local before
  before=$(field i.json '["rounds"]')
  check "some rounds are missing" test "$before" != "[5, 5]"
  expect 0 "an earlier call's times were used" tune "$digits" -o i.json --cflags -O1
  check "the rest was measured" test "$(field i.json '["rounds"]')" = "[5, 5]"
  printf '#!/bin/sh\nsleep 30\n' >slow-cc && chmod +x slow-cc
  timeout -s INT --preserve-status 0.5 "$mrvlc" tune "$digits" -o never.json --cc "$work/slow-cc" 2>stderr
  check "an early interrupt exits with 130" test $? = 130
  absent never.json
}

tunes
compiles
stale
interrupted
check "no temporary folders stay" test -z "$(ls "$TMPDIR")"
echo "$checks checks, $failures failures"
[ $failures = 0 ]
