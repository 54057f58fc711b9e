#!/usr/bin/env bash
# usage: accuracy.sh MRVLC MODELS/DIGITS WORK
# What compile says of accuracy, and calibrate, as a user meets them. WORK is emptied first.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mrvlc=$1 digits=$2/digits.onnx images=$2/test_x.npy work=$3
rm -rf "$work" && mkdir -p "$work/tmp" && cd "$work" || exit 1
export TMPDIR=$work/tmp
# shellcheck source=expect.sh
. "$here/expect.sh"

# field FILE PATH EXPECTED: a value of a JSON file, "accuracy.how"; lists have a length, "accuracy.outputs.#".
field() {
  command -v python3 >/dev/null || return 0
  checks=$((checks + 1))
  local got
  got=$(python3 - "$1" "$2" <<'PY'
import json, sys
value = json.load(open(sys.argv[1]))
for part in sys.argv[2].split("."):
    value = len(value) if part == "#" else value[int(part)] if isinstance(value, list) else value[part]
print(json.dumps(value) if not isinstance(value, str) else value)
PY
  )
  [ "$got" = "$3" ] || problem "$1: $2 is $got, not $3"
}

wrong_options() {
  for range in image image=1 =0:1 image=a:1 image=0:b image=0: image=:1 image=nan:1 image=0:inf 0:1; do
    expect 2 "--input-range takes NAME=LO:HI" compile "$digits" -o o --input-range "$range"
  done
  expect 2 "3 is more than 1" compile "$digits" -o o --input-range image=3:1
  expect 2 "--input-range nope=0:1: no input of the model has that name" compile "$digits" -o o --input-range nope=0:1
  expect 2 "cannot hold 1e+39" compile "$digits" -o o --input-range image=0:1e39
  expect 2 "--probe" compile "$digits" -o o --probe --no-probe
  for limit in -1 nan inf x; do expect 2 "is no number from 0 on" compile "$digits" -o o --accuracy-warning $limit; done
  expect 2 "nothing to judge by" compile "$digits" -o o --no-probe --fail-on-accuracy
  expect 3 "cannot open 'nope'" compile "$digits" -o o --calibration nope
  expect 2 "--calibration: is empty" compile "$digits" -o o --calibration ''
  expect 2 "--data is required" calibrate "$digits" -o cal.json
  expect 2 "--output is required" calibrate "$digits" --data d
  absent o
}

probed() {
  expect 0 "" compile "$digits" -o default
  check "a network that fp16 holds compiles in silence" test ! -s stderr
  field default/report.json accuracy.how probe
  field default/report.json accuracy.samples 8
  field default/report.json accuracy.outputs.# 1
  field default/report.json accuracy.beyond_fp16.# 0
  check "report.txt has a line of it" grep -q '^accuracy: expected error [0-9.e-]* (fp16 against float32 on 8 samples' default/report.txt
  check "report.html has it" grep -q expected_error default/report.html
  expect 0 "" compile "$digits" -o one -j 1
  expect 0 "" compile "$digits" -o three -j 3
  check "the same bytes whatever -j" diff -r one three
}

ranges() {
  expect 0 "beyond the range of fp16 (65504)" compile "$digits" -o wide --input-range 'im*=0:1e7' --precision '*=fp16'
  check "the warning has its code" grep -q 'warning MRV0902' stderr
  field wide/report.json accuracy.how input-range
  field wide/report.json accuracy.beyond_fp16.0.value image
  field wide/report.json accuracy.worst_value image
  field wide/manifest.json options.input_range.0.most 10000000.0
  expect 0 "note MRV0911: 'image' reaches 1e+07, beyond the range of fp16 (65504): it is kept as scale:8" compile "$digits" -v -o fitted --input-range image=0:1e7
  check "nothing overflows then" sh -c '! grep -q MRV0902 stderr'
  expect 0 "it is kept as scale:8" compile "$digits" -v -o again --input-range image=0:1e7
  check "the same bytes again" diff -r fitted again
  expect 5 "error MRV0009: --fail-on-accuracy: 'image' reaches" compile "$digits" -o gate --input-range image=0:1e7 --precision '*=fp16' --fail-on-accuracy
  absent gate
  expect 0 "" compile "$digits" -o gate --fail-on-accuracy
  expect 0 "warning MRV0901: accuracy: output" compile "$digits" -o strict --accuracy-warning 0
  expect 5 "--fail-on-accuracy: accuracy: output" compile "$digits" -o gate5 --accuracy-warning 0 --fail-on-accuracy
  absent gate5
}

not_probed() {
  expect 0 "" compile "$digits" -o none --no-probe
  field none/report.json accuracy.how none
  field none/report.json accuracy.expected_error null
  field none/report.json accuracy.reason --no-probe
  check "report.txt says so" grep -q '^accuracy: not known (--no-probe)' none/report.txt
  expect 0 "note MRV0904: accuracy is not known: --no-probe" compile "$digits" -o none --no-probe -v
  expect 0 "--input-range has no effect: --no-probe" compile "$digits" -o none --no-probe --input-range image=0:1
  expect 0 "--probe has no effect: with --target host" compile "$digits" -o host --target host --probe
  field host/report.json accuracy.how none
  field host/report.json accuracy.reason "nothing runs on an accelerator"
  expect 0 "" compile "$digits" -o host --target host --fail-on-accuracy
}

calibrated() {
  mkdir data folders folders/a folders/b && cp "$images" data/image.npy
  expect 0 "" calibrate "$digits" --data data -o cal.json
  check "a calibration is made in silence" test ! -s stderr
  json cal.json
  field cal.json schema mrvlc-calibration-1
  field cal.json values.0.name image
  field cal.json values.0.input true
  cp cal.json first.json
  expect 0 "" calibrate "$digits" --data data -o cal.json
  check "the same data give the same bytes" cmp cal.json first.json
  expect 0 "" compile "$digits" -o like --calibration cal.json -MD
  check "data that fp16 holds: no word" test ! -s stderr
  field like/report.json accuracy.how calibration
  field like/manifest.json options.calibration cal.json
  field like/manifest.json read.1.kind calibration
  check "the dependency file names it" grep -q cal.json like.d
  sed 's/"max_abs": [0-9.]*/"max_abs": 1000000.0/; s/"max": [0-9.]*/"max": 1000000.0/' cal.json >large.json
  expect 0 "'image' reaches 1e+06, beyond the range of fp16 (65504)" compile "$digits" -o large --calibration large.json --precision '*=fp16' --no-probe
  check "the warning says where it was seen" grep -q 'in the calibration data' stderr
  field large/report.json accuracy.beyond_fp16.0.seen_in calibration
  expect 0 "'image' reaches 1e+06, beyond the range of fp16 (65504): it is kept as scale:8" compile "$digits" -v -o large --calibration large.json --no-probe
  expect 5 "--fail-on-accuracy: 'image' reaches" compile "$digits" -o gate5 --calibration large.json --precision '*=fp16' --no-probe --fail-on-accuracy
  absent gate5
}

damaged() {
  head -c 300 first.json >cut.json
  : >empty.json
  echo '[]' >list.json
  for file in cut empty list; do
    expect 3 "error MRV0905: cannot read '$file.json': it is no calibration of mrvlc" compile "$digits" -o o --calibration $file.json
  done
  sed 's/"sha256": ".*"/"sha256": "0000000000000000000000000000000000000000000000000000000000000000"/' first.json >other.json
  expect 3 "error MRV0906: 'other.json' is a calibration of another model" compile "$digits" -o o --calibration other.json
  expect 3 "" compile "$digits" -o o --calibration "$digits"
  truncate -s 300M huge.json
  expect 4 "at most" compile "$digits" -o o --calibration huge.json
  rm huge.json
  mkdir held && cp first.json held/cal.json
  absent o
}

samples() {
  expect 3 "cannot open 'nope'" calibrate "$digits" --data nope -o x.json
  expect 3 "no file of input 'image'" calibrate "$digits" --data folders -o x.json
  rmdir folders/a folders/b
  expect 3 "no file of input 'image'" calibrate "$digits" --data folders -o x.json
  expect 3 "it lies in the folder of --data" calibrate "$digits" --data data -o data/x.json
  expect 3 "it is the model" calibrate "$digits" --data data -o "$digits"
  expect 3 "it is a folder" calibrate "$digits" --data data -o data
  expect 3 "cannot write 'nope/x.json'" calibrate "$digits" --data data -o nope/x.json
  expect 3 "cannot open" calibrate nope.onnx --data data -o x.json
  mkdir labels && cp "$digits_labels" labels/image.npy
  expect 2 "the model takes f32" calibrate "$digits" --data labels -o x.json
  absent x.json
}

# Images that no fp16 value holds, far beyond what the probe tried.
overflowing() {
  mkdir bright results
  /usr/bin/python3 -c 'import numpy, sys; numpy.save(sys.argv[2], numpy.load(sys.argv[1]) * numpy.float32(1e6))' "$images" bright/image.npy
  expect 0 "" compile "$digits" -o tells --no-input-limits
  expect 0 "fp16 overflow in the region of node" run tells --input image=bright/image.npy --repeat-axis0 --output-dir results
  expect 0 "" run tells --input "image=$images" --repeat-axis0 --output-dir results
  check "pictures as they should be: no word" test ! -s stderr
  expect 0 "" compile "$digits" -o stops --on-overflow error --no-input-limits
  expect 1 "fp16 overflow: values left the range of their format (error 8" run stops --input image=bright/image.npy --repeat-axis0 --output-dir results
  expect 0 "" run stops --input "image=$images" --repeat-axis0 --output-dir results
  expect 2 "--on-overflow" compile "$digits" -o o --on-overflow sometimes
  expect 0 "--on-overflow has no effect: with --target host" compile "$digits" -o host --target host --on-overflow error
  absent o
}

# What lies beyond what was tried, or was stated, is told, or refused, or computed by the CPU.
input_limits() {
  /usr/bin/python3 -c 'import numpy, sys; numpy.save(sys.argv[2], numpy.load(sys.argv[1]) * numpy.float32(300))' "$images" bright/image.npy
  expect 0 "" compile "$digits" -o stated --input-range image=0:1
  field stated/report.json accuracy.input_limits.0.input image
  check "report.txt tells of it" grep -q "the program tells of 'image' beyond" stated/report.txt
  expect 0 "input 'image' lies beyond what was tried when the model was compiled (flags 4)" run stated --input image=bright/image.npy --repeat-axis0 --output-dir results
  expect 0 "" run stated --input "image=$images" --repeat-axis0 --output-dir results
  check "pictures as was stated: no word" test ! -s stderr
  expect 0 "" compile "$digits" -o refuses --input-range image=0:1 --on-overflow error
  expect 1 "inference refused input 'image': beyond what was tried" run refuses --input image=bright/image.npy --repeat-axis0 --output-dir results
  expect 0 "" compile "$digits" -o takes --input-range image=0:1 --on-overflow cpu
  expect 0 "on the CPU" run takes --input image=bright/image.npy --repeat-axis0 --output-dir results
  expect 0 "" compile "$digits" -o host --target host
  mkdir right
  expect 0 "" run host --input image=bright/image.npy --repeat-axis0 --output-dir right
  check "the CPU's results are those of the host" sh -c 'for f in right/*.npy; do cmp "$f" "results/${f#right/}" || exit 1; done'
  expect 0 "" compile "$digits" -o unchecked --input-range image=0:1 --no-input-limits
  field unchecked/report.json accuracy.input_limits.# 0
  expect 0 "" run unchecked --input image=bright/image.npy --repeat-axis0 --output-dir results
}

# Some of the data lie in the file whole; a compile is judged on these.
kept_samples() {
  field cal.json kept.# 8
  expect 0 "" compile "$digits" -o kept --calibration cal.json
  check "the probe ran on them" grep -q 'on 8 samples, those that roundings move most of' kept/report.txt
  expect 0 "" calibrate "$digits" --data data -o two.json --keep-samples 2
  field two.json kept.# 2
  expect 0 "" calibrate "$digits" --data data -o none.json --keep-samples 0
  check "none are kept where none may be" sh -c '! grep -q kept none.json'
  expect 0 "" compile "$digits" -o drawn --calibration none.json
  check "inputs are drawn then" grep -q 'seeded inputs, distributed as in' drawn/report.txt
  expect 2 "--keep-samples" calibrate "$digits" --data data -o x.json --keep-samples -1
}

# The last trial may become the compile itself; with --dump-ir it is compiled once more.
trials() {
  for limit in 1e-1 1e-4; do
    expect 0 "" compile "$digits" -o chosen --accuracy $limit --timing chosen.json
    for phase in partition codegen simulate; do check "--timing has the $phase of trials" grep -q "\"$phase\"" chosen.json; done
    expect 0 "graph" compile "$digits" -o printed --accuracy $limit --dump-ir fold-constants
    check "with --accuracy $limit a trial is what a compile makes" diff -r chosen printed
  done
}

digits_labels=$2/test_y.npy
wrong_options
probed
ranges
not_probed
calibrated
kept_samples
damaged
samples
overflowing
input_limits
trials
check "no temporary folders stay" test -z "$(ls "$TMPDIR")"
echo "$checks checks, $failures failures"
[ $failures = 0 ]
