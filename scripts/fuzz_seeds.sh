#!/bin/sh
# Folders of seeds for the libFuzzer targets: scripts/fuzz_seeds.sh FOLDER [MRVLC]
set -eu
cd "$(dirname "$0")/.."
to=$1
mrvlc=${2:-build/bin/mrvlc}
mkdir -p "$to/importer" "$to/ir" "$to/rules" "$to/target" "$to/binary"
for folder in models /usr/share/libonnx-testdata/data ${MRVLC_ONNX_TESTDATA:-}; do
  [ -d "$folder" ] || continue
  find "$folder" -name '*.onnx' -size -20k | while read -r model; do
    cp "$model" "$to/importer/$(echo "$model" | cksum | cut -d' ' -f1).onnx"
  done
done
find test/ir -name '*.txt' -exec cp {} "$to/ir" \;
named_by_path() { # FOLDER: files of the tree, by their paths, as several have one name
  while read -r file; do cp "$file" "$1/$(echo "$file" | tr / -)"; done
}
find lib test/rules -name '*.rules' | named_by_path "$to/rules"
find lib/target -name '*.json' | named_by_path "$to/target"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$mrvlc" -q compile models/digits/digits.onnx -o "$work/out" && find "$work/out" -name '*.mrvl' -exec cp {} "$to/binary" \;
