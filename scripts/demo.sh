#!/usr/bin/env bash
# From a clean clone to a trained model on the simulator: installs what is missing, builds, compiles
# models/digits/digits.onnx, prints where each operator went, the accuracy on held-out images and the cycles.
#
#   scripts/demo.sh [--yes]     --yes: does not ask before it installs Debian packages (scripts/install-deps.sh)
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
case $*:$# in
  :0 | --yes:1) ;;
  -h:1 | --help:1) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) echo "demo: unknown option $1; scripts/demo.sh [--yes]" >&2; exit 2 ;;
esac
step() { printf '\n== %s\n' "$*"; }

step "packages"
scripts/install-deps.sh --build-only "$@" python3-numpy

step "build (release, in build/)"
cmake --preset release
cmake --build --preset release --parallel "$(nproc)" --target mrvlc_installed

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mrvlc=build/bin/mrvlc
model=models/digits/digits.onnx

step "compile $model"
"$mrvlc" compile "$model" -o "$work/accelerator"
"$mrvlc" compile "$model" --target host -o "$work/host"

step "where each operator runs"
"$mrvlc" explain "$work/accelerator"

step "accuracy on the held-out images"
scripts/digits_accuracy.py --mrvlc "$mrvlc" --accelerator "$work/accelerator" --host "$work/host"

step "cycles"
"$mrvlc" profile "$work/accelerator"
