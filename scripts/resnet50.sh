#!/usr/bin/env bash
# ResNet-50 v1 at 224x224, batch 1, 8 tiles: seconds and memory to compile, seconds to simulate one inference, cycles and
# their lower bound. Needs a release build (scripts/test.sh makes one) and python3-onnx.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mrvlc=build/bin/mrvlc
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
model=$work/resnet50.onnx
models/generators/make_models.py resnet50 -o "$work"
model_kib=$(($(stat -c %s "$model") / 1024))

# measure LABEL COMMAND...: wall seconds and peak memory of one command (its children included).
measure() {
  local label=$1
  shift
  /usr/bin/python3 - "$label" "$model_kib" "$@" <<'PY'
import resource, subprocess, sys, time
label, model_kib, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
begin = time.monotonic()
code = subprocess.call(command, stdout=subprocess.DEVNULL)
seconds = time.monotonic() - begin
kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(f"{label}: {seconds:.2f} s, peak memory {kib // 1024} MiB ({kib / model_kib:.2f} x the model file)")
sys.exit(code)
PY
}

measure "compile" "$mrvlc" -q compile "$model" -o "$work/out"
head -6 "$work/out/report.txt"
/usr/bin/python3 - "$work/x.npy" <<'PY'
import numpy, sys
numpy.save(sys.argv[1], numpy.random.default_rng(1).random((1, 3, 224, 224), dtype=numpy.float32))
PY
input=$(/usr/bin/python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["inputs"][0]["name"])' "$work/out/manifest.json")
measure "run (build the stub, simulate one inference)" "$mrvlc" run "$work/out" --input "$input=$work/x.npy" --output-dir "$work/results"
measure "profile (timing only)" "$mrvlc" profile "$work/out"
