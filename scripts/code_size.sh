#!/usr/bin/env bash
# Sizes of generated host code: scripts/code_size.sh DATA [MODEL...] [-- OPTIONS of compile]
# DATA holds zoo/NAME.onnx and golden/NAME/meta.json (shapes of the inputs). For each model, compiled for the host alone: lines
# and bytes of C, the text section with gcc -Os for aarch64 and Cortex-M4, weights, arena, and the seconds that gcc -O3 takes for
# the C. The design point is one C file without a library: nothing is linked but libm.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
data=$1
shift
models=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do models+=("$1") && shift; done
[ $# -eq 0 ] || shift
[ ${#models[@]} -gt 0 ] || models=(silero_vad_v5 dtln_1 fastestdet deeploy_cct2_op20)
mrvlc=${MRVLC:-build/bin/mrvlc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

text_bytes() { # compiler, options, file
  local cc=$1
  shift
  command -v "$cc" > /dev/null || { echo -; return; }
  "$cc" -std=c99 -Os -Iinclude "$@" -c -o "$work/o.o" 2> "$work/log" || { echo failed; return; }
  "${cc%gcc}size" "$work/o.o" | awk 'NR == 2 {print $1}'
}

printf '%-22s %7s %9s %9s %9s %10s %9s %8s\n' model lines 'C bytes' aarch64 cortex-m4 weights arena 'cc -O3 s'
for name in "${models[@]}"; do
  shapes=()
  while IFS= read -r shape; do shapes+=(--input-shape "$shape"); done < <(/usr/bin/python3 -c '
import json, sys
for i in json.load(open(sys.argv[1]))["inputs"]: print(i["name"] + "=" + "x".join(map(str, i["dims"])))' "$data/golden/$name/meta.json")
  rm -rf "$work/out"
  "$mrvlc" -q compile "$data/zoo/$name.onnx" -o "$work/out" --target host --name m "${shapes[@]}" "$@" 2> "$work/log" ||
    { printf '%-22s %s\n' "$name" "$(tail -1 "$work/log" | cut -c1-100)"; continue; }
  c=$work/out/m.c
  a64=$(text_bytes aarch64-linux-gnu-gcc "$c")
  m4=$(text_bytes arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 "$c")
  start=$(date +%s.%N)
  gcc -std=c99 -O3 -march=native -Iinclude -c -o "$work/o3.o" "$c" || continue
  seconds=$(echo "$start $(date +%s.%N)" | awk '{printf "%.2f", $2 - $1}')
  arena=$(sed -n 's/^#define m_ARENA_BYTES //p' "$work/out/m.h" | head -1)
  weights=$(sed -n 's/^#define m_WEIGHTS_BYTES //p' "$work/out/m.h")
  printf '%-22s %7d %9d %9s %9s %10d %9d %8s\n' "$name" "$(wc -l < "$c")" "$(wc -c < "$c")" "$a64" "$m4" "$weights" "$arena" "$seconds"
done
