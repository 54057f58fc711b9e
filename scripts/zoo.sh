#!/usr/bin/env bash
# Compiles every model of a folder, runs it and compares with reference outputs: scripts/zoo.sh DATA [mrvlc options]
# DATA holds zoo/NAME.onnx and golden/NAME/{in,out}_K_*.npy. One line a model: worst error, the error that the compile
# expects (docs/accuracy.md), cycles, lower bound, regions, share of MACs on the accelerator. Options go to mrvlc, e.g. --target host.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
data=$1
shift
mrvlc=${MRVLC:-build/bin/mrvlc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '%-28s %10s %10s %12s %12s %7s %8s\n' model 'max error' expected cycles 'lower bound' regions 'MAC %'
for model in "$data"/zoo/*.onnx; do
  name=$(basename "$model" .onnx)
  rm -rf "$work/out"
  mapfile -t shapes < <(/usr/bin/python3 scripts/input_shapes.py "$data/golden/$name")
  if ! "$mrvlc" -q compile "$model" -o "$work/out" "${shapes[@]}" "$@" 2>"$work/log"; then
    printf '%-28s %s\n' "$name" "$(head -1 "$work/log" | sed -E 's/^[^:]*: //' | cut -c1-110)"
    continue
  fi
  error=$("$mrvlc" -q verify "$model" --data "$data/golden/$name" "$@" 2>/dev/null | awk '{for (i = 2; i <= NF; ++i) if ($i == "(limit") {if ($(i-1) + 0 > m || $(i-1) == "inf") m = $(i-1)}} END {print m == "" ? 0 : m}')
  /usr/bin/python3 - "$name" "$error" "$work/out/report.json" <<'PY'
import json, sys
name, error, report = sys.argv[1], sys.argv[2], json.load(open(sys.argv[3]))
regions = report["regions"]
expected = report["accuracy"]["expected_error"]
expected = "-" if expected is None else "inf" if expected >= 1e300 else f"{expected:.3g}"
print(f"{name:28} {error:>10} {expected:>10} {sum(r['cycles'] for r in regions):12} {sum(r['lower_bound_cycles'] for r in regions):12} "
      f"{len(regions):7} {100 * report['placement']['mac_share_accelerator']:8.2f}")
PY
done
