#!/usr/bin/env bash
# usage: swap_binaries.sh DATA [BUILD]
# Every network of DATA/zoo with a region on the accelerator, up to 8 MB and with fixed shapes, gets the binaries of every other
# one in the place of its own: all must be refused before the device runs (test/e2e/identity). At least 200 swaps, or it fails.
set -euo pipefail
data=$(cd "${1:?"usage: swap_binaries.sh DATA [BUILD]"}" && pwd)
cd "$(dirname "$0")/.."
build=$(cd "${2:-build}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
subjects=()
while read -r model; do
  name=$(basename "$model" .onnx | tr -c 'A-Za-z0-9_\n' _)
  "$build/bin/mrvlc" -q compile "$model" --name "$name" -o "$work/out" 2>/dev/null || continue
  compgen -G "$work/out/*.mrvl" >/dev/null || continue
  grep -q '^#define .*_OPEN ' "$work/out/$name.h" || subjects+=("$name=$model")
done < <(find -L "$data/zoo" -name '*.onnx' -size -8M | sort)
test/e2e/identity/identity.sh "$build/bin/mrvlc" "$PWD/include" "$work/swaps" 200 "${subjects[@]}"
