#!/usr/bin/env bash
# usage: elsewhere.sh MRVLC MODELS/DIGITS WORK
# Options and models that do not stand on the command line: the environment, the project file, files of words, stdin; and the commands that
# look for faults. WORK is emptied first.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mrvlc=$1 digits=$2/digits.onnx images=$2/test_x.npy work=$3
for name in $(compgen -e MRVLC_) CC NO_COLOR; do unset "$name"; done
rm -rf "$work" && mkdir -p "$work/tmp" && cd "$work" || exit 1
export TMPDIR=$work/tmp
# shellcheck source=expect.sh
. "$here/expect.sh"

tiles_are() { check "$2 gives $1 tiles" grep -q "\"tiles\": $1," o/manifest.json; }

files_of_words() {
  printf "# what we always want\n--tiles 2\t-q  # and no words\n--cpu 'bn2' --name \"my\\\\_net\"\n" >always
  expect 0 "" compile "$digits" -o o @always
  tiles_are 2 "a file of words"
  check "quotes are taken away" test -e o/my_net.c
  expect 2 "unexpected argument '@nope'" compile "$digits" -o o @nope
  printf '%s -o o -MFo2.d\n' "$digits" >all
  expect 0 "" compile @all
  check "-MF is understood in a file" test -s o2.d
}

environment() {
  MRVLC_TILES=4 expect 0 "" compile "$digits" -o o -q
  tiles_are 4 "the environment"
  MRVLC_TILES=4 expect 0 "" compile "$digits" -o o -q --tiles=1
  tiles_are 1 "the command line"
  MRVLC_TILES='' MRVLC_WB_PIN=1 MRVLC_OUTPUT=elsewhere expect 0 "" compile "$digits" -o o -q
  check "a flag of the environment" grep -q '"wb_pin": true' o/manifest.json
  absent elsewhere
  MRVLC_TILES=3 expect 2 "it takes 1, 2, 4, 8" compile "$digits" -o o
  MRVLC_WB_PIN=maybe expect 2 "\$MRVLC_WB_PIN is 1 or 0, not 'maybe'" compile "$digits" -o o
  MRVLC_QUIET=1 expect 0 "" inspect "$digits"
}

project() {
  printf '{"options": {"tiles": 2, "wb-pin": true, "no-such": 1}, "compile": {"tiles": 4, "cpu": ["fc", "flatten"]}}' >mrvlc.json
  expect 0 "" compile "$digits" -o o -q
  tiles_are 4 "the project file"
  check "a list of the project file" grep -q '"flatten"' o/manifest.json
  check "a flag of the project file" grep -q '"wb_pin": true' o/manifest.json
  MRVLC_TILES=1 expect 0 "" compile "$digits" -o o -q
  tiles_are 1 "the environment before the project file"
  expect 0 "" compile "$digits" -o o -q --project ''
  tiles_are 8 "no project file"
  printf '{"compile": {"tiles": 2}, "compile": {}}' >mrvlc.json
  expect 3 "it has 'compile' twice" compile "$digits" -o o
  printf '{"rules check": {}, "complie": {}}' >mrvlc.json
  expect 3 "there is no command 'complie'; did you mean 'compile'?" compile "$digits" -o o
  for member in '"run": {"cc": "./x"}' '"options": {"target-dir": ["."]}' '"profile": {"on": "ssh://x"}' '"compile": {"force": true}'; do
    printf '{%s}' "$member" >mrvlc.json
    local command=compile arguments="$digits -o o"
    case $member in *run*) command=run arguments="o --output-dir r" ;; *profile*) command=profile arguments=o ;; esac
    expect 3 "it is read only with --project mrvlc.json" "$command" $arguments
  done
  mkdir -p packages
  printf '{"compile": {"target-dir": "packages"}}' >mrvlc.json
  expect 0 "" compile "$digits" -o o -q --project mrvlc.json
  rm mrvlc.json
}

standard_input() {
  "$mrvlc" inspect - <"$digits" >piped && "$mrvlc" inspect "$digits" >named
  check "inspect of stdin" diff <(tail -n +2 piped) <(tail -n +2 named)
  cp "$digits" model.onnx
  "$mrvlc" compile - -o from_stdin -q <"$digits"
  expect 0 "" compile model.onnx -o from_file -q
  check "compile of stdin" diff -r from_stdin from_file
  expect 1 "-: error MRV0101" inspect - </dev/null
}

faults() {
  cat >check.sh <<'CHECK'
"$1" inspect "$2" | grep -q 'MaxPool .*pool ' && exit 7
exit 0
CHECK
  expect 0 "1 of 8 nodes" reduce "$digits" -o small.onnx --check "sh check.sh $mrvlc {}"
  expect 0 "MaxPool" inspect small.onnx
  expect 0 "Gemm" reduce "$digits" -o small.onnx --check "$mrvlc compile {} -o tmp/o -q --fail-on-fallback --cpu fc" --match "node 'fc' (Gemm)"
  expect 2 "--check does not fail on the whole model: what it prints does not hold 'nope'" reduce "$digits" -o s.onnx --check "sh check.sh $mrvlc {}" --match nope
  expect 0 "1 of 8 nodes" reduce "$digits" -o small.onnx --check 'sleep 5; exit 1; true' --timeout 0.2 --max-checks 40
  expect 2 "reduce: error MRV0004: --check is required" reduce "$digits" -o s.onnx
  expect 0 "bundle/model.onnx" bundle "$digits" -o report.tar.gz --tiles 2 --cpu fc
  cp report.tar.gz first.tar.gz
  expect 0 "" bundle "$digits" -o report.tar.gz --tiles 2 --cpu fc
  check "the same archive" cmp first.tar.gz report.tar.gz
  tar xzf report.tar.gz
  check "no weights" test "$(stat -c %s report.tar.gz)" -lt 8000
  expect 0 "Conv:2" inspect bundle/model.onnx
  check "its options" grep -q '"--tiles"' bundle/options.json
  check "its exit code" grep -q 'exit code 0' bundle/messages.txt
  check "no paths" test -z "$(grep -rl "$work" bundle)"
  expect 0 "" bundle "$digits" -o report.tar.gz --with-weights
  tar xzf report.tar.gz
  check "the weights, when asked" cmp bundle/model.onnx "$digits"
}

tensors() {
  command -v python3 >/dev/null || return 0
  python3 - "$mrvlc" "$digits" <<'PYTHON' || problem "compare"
import struct, subprocess, sys

mrvlc, model = sys.argv[1:]

def save(name, shape, values):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    open(name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}f", *values))

def load(name):
    data = open(name, "rb").read()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    return list(struct.unpack(f"<{(len(data) - start) // 4}f", data[start:]))

def run(*command, status=0):
    done = subprocess.run([mrvlc, *command], capture_output=True, text=True)
    assert done.returncode == status, (command, done)
    return done.stdout + done.stderr

save("x.npy", (1, 1, 8, 8), [i / 64 for i in range(64)])
run("compile", model, "-o", "exact", "--target", "host", "-q")
run("run", "exact", "--input", "image=x.npy", "--output-dir", "dump")
assert "1 of 8 tensors compared" in run("compare", model, "--with", "dump", "--input", "image=x.npy")
assert "MRV1014" in run("compare", model, "--with", "dump", status=2)
save("dump/image.npy", (1, 1, 8, 8), [i / 64 for i in range(64)])
values = load("dump/logits.npy")
values[3] += 0.5
save("dump/logits.npy", (1, 10), values)
text = run("compare", model, "--with", "dump", status=5)
assert "node 'fc' (Gemm): error MRV1013" in text and "[0,3]" in text, text
assert '"same": false' in run("compare", model, "--with", "dump", "--json", status=5)
run("compare", model, "--with", "dump", "--tolerance", "0.9")
PYTHON
  expect 3 "MRV1015" compare "$digits" --with tmp --input image=x.npy
}

# OUT's Makefile with a compiler for another machine, which takes no -march=native.
cross() {
  command -v aarch64-linux-gnu-gcc >/dev/null || return 0
  "$mrvlc" compile "$digits" -o cross --target host -q
  check "make with a cross compiler" make -C cross CC=aarch64-linux-gnu-gcc MRVLC_PREFIX="$(dirname "$(dirname "$mrvlc")")"
  command -v qemu-aarch64 >/dev/null || return 0
  mkdir cross_results
  check "the program runs there" qemu-aarch64 -L /usr/aarch64-linux-gnu cross/digits_example --input "image=$images" --repeat-axis0 --output-dir cross_results
}

files_of_words
environment
project
standard_input
faults
tensors
cross
check "no temporary folders stay" test -z "$(ls "$TMPDIR" | grep -v '^o$')"
echo "$checks checks, $failures failures"
[ $failures = 0 ]
