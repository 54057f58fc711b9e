#!/usr/bin/env bash
# The tables of docs/accuracy.md: what --accuracy makes of networks, and what formulas written out come to.
#
#   scripts/accuracy.sh [--write] [--networks | --formulas | --ranges | --photographs] [DATA]
#
# DATA (or $MRVLC_SHARED/data) holds zoo/NAME.onnx, golden/NAME/ and found/NAME.onnx; without it only the formulas are measured. `bar` is what
# is to be had, error and cycles as a multiple of those without, and whether it is. Errors are the largest
# |a-b| / (1+|b|) that `mrvlc verify` measures against reference outputs that the compile has not seen. Cycles are those of the
# regions; what the host computes is the share of multiply-accumulates beside them. --write puts the tables into
# docs/accuracy.md, between its markers. $MRVLC: the compiler (build/bin/mrvlc).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
write=no networks=yes formulas=yes ranges=yes photographs=yes data=${MRVLC_SHARED:+$MRVLC_SHARED/data}
for argument in "$@"; do
  case $argument in
    --write) write=yes ;;
    --networks) formulas=no ranges=no photographs=no ;;
    --formulas) networks=no ranges=no photographs=no ;;
    --ranges) networks=no formulas=no photographs=no ;;
    --photographs) networks=no formulas=no ranges=no ;;
    -*) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    *) data=$argument ;;
  esac
done
mrvlc=${MRVLC:-build/bin/mrvlc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The worst error of `mrvlc verify`'s lines.
worst() {
  awk '{for (i = 2; i <= NF; ++i) if ($i == "(limit" && ($(i-1) == "inf" || m != "inf" && $(i-1) + 0 > m + 0)) m = $(i-1)} END {print m == "" ? "0" : m}'
}
measured() { { "$mrvlc" -q verify "$@" 2>/dev/null || true; } | worst; }
field() { /usr/bin/python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2], {"r": r, "sum": sum}))' "$work/out/report.json" "$1"; }
cycles() { field 'sum(x["cycles"] for x in r["regions"])'; }

plain=0
# network NAME OPTIONS [ERROR [RATIO]]: a row; the plain compile comes first, ERROR and RATIO are the bar.
network() {
  local name=$1 most=${3:-} times=${4:-} model=$data/zoo/$1.onnx golden=$data/golden/$1 options error now ratio bar=
  mapfile -t options < <(/usr/bin/python3 scripts/input_shapes.py "$golden")
  # shellcheck disable=SC2206
  options+=($2)
  rm -rf "$work/out"
  if ! "$mrvlc" -q compile "$model" -o "$work/out" "${options[@]}" 2>"$work/log"; then
    printf '| %s | %s | %s |\n' "$name" "$2" "$(grep -oE 'MRV[0-9]+: .*' "$work/log" | tail -1 | cut -c1-140)"
    return
  fi
  error=$(measured "$model" --data "$golden" "${options[@]}")
  now=$(cycles)
  [ -n "$2" ] || plain=$now
  ratio=$(/usr/bin/python3 -c "print('%.2f' % ($now / $plain) if $plain else '')")
  [ -z "$most" ] || bar="$most${times:+ at $times}: $(/usr/bin/python3 -c "print('met' if float('$error') <= $most and $ratio <= ${times:-1e9} else 'not met')")"
  printf '| %s | %s | %s | %.2g | %d | %s | %s | %s |\n' "$name" "$2" "$(field '"-" if r["accuracy"]["expected_error"] is None else "%.2g" % r["accuracy"]["expected_error"]')" "$error" "$now" "$ratio" \
    "$(field '"%.1f" % (100 * (1 - r["placement"]["mac_share_accelerator"]))')" "$bar"
}

networks_table() {
  echo "| network | options | expected | measured | cycles | ratio | MACs on the CPU, % | bar |"
  echo "|---|---|---|---|---:|---:|---:|---|"
  network blazeface_front128 ""
  network blazeface_front128 "--accuracy 1e-2" 1e-2 2
  network blazeface_front128 "--accuracy 2e-3" 2e-3
  network fastestdet ""
  network fastestdet "--accuracy 1e-2" 1e-2 2.5
  network mlsd_tiny_320 ""
  network mlsd_tiny_320 "--objective accuracy --slowdown 1.4" 1 1.4
  network mlsd_tiny_320 "--objective accuracy --slowdown 2.5" 0.1 2.5
}

# Models of which something is beyond fp16, with the range of their inputs told: near, or warned of.
ranges_table() {
  local name low high range error warned
  /usr/bin/python3 scripts/accuracy_cases.py "$work/found" "$data/found" >"$work/ranges"
  echo "| model | inputs | expected | measured | warnings | bar |"
  echo "|---|---|---|---|---|---|"
  while IFS=$'\t' read -r name low high; do
    range="x=$low:$high"
    rm -rf "$work/out"
    "$mrvlc" compile "$data/found/$name.onnx" -o "$work/out" --input-range "$range" 2>"$work/log" >&2 || { printf '| %s | %s | %s |\n' "$name" "$low to $high" "$(tail -1 "$work/log")"; continue; }
    error=$(measured "$data/found/$name.onnx" --data "$work/found/${name}_$high" --input-range "$range")
    warned=$(grep -oE 'warning MRV090[12]' "$work/log" | sort -u | sed 's/warning //' | paste -sd' ' || true)
    printf '| %s | %s | %s | %.2g | %s | %s |\n' "$name" "$low to $high" "$(field '"-" if r["accuracy"]["expected_error"] is None else "%.2g" % r["accuracy"]["expected_error"]')" "$error" "${warned:-none}" \
      "1e-2, or a warning: $(/usr/bin/python3 -c "print('met' if float('$error') <= 1e-2 or '$warned' else 'not met')")"
  done <"$work/ranges"
}

# formula NAME WHAT DEVIATION OPTION...: a row; `error` is what was measured.
formula() {
  local name=$1 what=$2 deviation=$3 range="x=-$((4 * $3)):$((4 * $3))"
  shift 3
  rm -rf "$work/out"
  error=0
  if ! "$mrvlc" -q compile "$work/$name.onnx" -o "$work/out" --input-range "$range" "$@" 2>"$work/log"; then
    printf '| %s | %s | %s | |\n' "$what" "$deviation" "$(grep -oE 'MRV[0-9]+: .*' "$work/log" | tail -1 | cut -c1-140)"
    return
  fi
  error=$(measured "$work/$name.onnx" --data "$work/$name" --input-range "$range" "$@")
  printf '| %s | %s | %.2g | %d |\n' "$what" "$deviation" "$error" "$(cycles)"
}

formulas_table() {
  local name what deviation error
  /usr/bin/python3 scripts/accuracy_cases.py "$work" >"$work/list"
  echo "| written out | deviation | measured | cycles |"
  echo "|---|---:|---:|---:|"
  while IFS=$'\t' read -r name what deviation _; do
    formula "$name" "$what" "$deviation" --accel '*'
    # What fp16 alone does not hold.
    if [ "$(/usr/bin/python3 -c "print(float('$error') > 5e-3)")" = True ]; then
      formula "$name" "the same, --accuracy 5e-3" "$deviation" --accuracy 5e-3
    fi
  done <"$work/list"
}

# put MARKER: stdin between the markers of docs/accuracy.md, or on stdout.
put() {
  if [ "$write" = no ]; then cat; echo; return; fi
  cat >"$work/table"
  /usr/bin/python3 - "$1" "$work/table" <<'PY'
import pathlib, re, sys
page, marker, table = pathlib.Path("docs/accuracy.md"), sys.argv[1], pathlib.Path(sys.argv[2]).read_text()
begin, end = f"<!-- begin {marker} -->\n", f"<!-- end {marker} -->"
text, count = re.subn(re.escape(begin) + ".*?" + re.escape(end), lambda m: begin + table + end, page.read_text(), flags=re.S)
assert count == 1, f"docs/accuracy.md has no markers of {marker}"
page.write_text(text)
PY
}

if [ "$networks" = yes ] && [ -d "$data/zoo" ]; then networks_table | put networks; fi
if [ "$ranges" = yes ] && [ -d "$data/found" ]; then ranges_table | put ranges; fi
if [ "$formulas" = yes ]; then formulas_table | put formulas; fi
# Its exit code says whether all are within 3x, which is no matter here.
if [ "$photographs" = yes ] && [ -d "$data/zoo" ] && /usr/bin/python3 -c 'import PIL, skimage, sklearn' 2>/dev/null; then
  { scripts/accuracy_photographs.py "$data" || true; } | put photographs
fi
