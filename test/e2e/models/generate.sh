#!/usr/bin/env bash
# Seeded networks for the end-to-end tests, at sizes that simulate in seconds. Exit code 77 (skipped) without python3-onnx.
set -euo pipefail
out=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
/usr/bin/python3 -c 'import onnx, numpy' 2>/dev/null || { echo "python3-onnx is not installed"; exit 77; }
mkdir -p "$out"
cd "$here"
[ -f "$out/resnet50.onnx" ] || models/generators/make_models.py resnet50 -o "$out" --input-size 64
# At its usual size, for what the schedule costs: compiled and timed, not executed.
[ -f "$out/full/resnet50.onnx" ] || models/generators/make_models.py resnet50 -o "$out/full"
[ -f "$out/mobilenetv2.onnx" ] || models/generators/make_models.py mobilenetv2 -o "$out" --input-size 64
[ -f "$out/ssd_resnet50.onnx" ] || models/generators/make_models.py ssd_resnet50 -o "$out" --input-size 128
[ -f "$out/transformer_encoder.onnx" ] || models/generators/make_models.py transformer_encoder -o "$out"
[ -f "$out/rfc_example.onnx" ] || models/rfc_example/make.py -o "$out"
