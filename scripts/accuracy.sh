#!/usr/bin/env bash
# The tables of docs/accuracy.md: what --accuracy makes of networks, and what formulas written out come to.
#
#   scripts/accuracy.sh [--write] [--networks | --formulas] [DATA]
#
# DATA (or $MRVLC_SHARED/data) holds zoo/NAME.onnx and golden/NAME/; without it the networks are left out. Errors are the largest
# |a-b| / (1+|b|) that `mrvlc verify` measures against reference outputs that the compile has not seen. Cycles are those of the
# regions; what the host computes is the share of multiply-accumulates beside them. --write puts the tables into
# docs/accuracy.md, between its markers. $MRVLC: the compiler (build/bin/mrvlc).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
write=no networks=yes formulas=yes data=${MRVLC_SHARED:+$MRVLC_SHARED/data}
for argument in "$@"; do
  case $argument in
    --write) write=yes ;;
    --networks) formulas=no ;;
    --formulas) networks=no ;;
    -*) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
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

# network ACCURACY...: a row each, the plain compile first.
network() {
  local name=$1 model=$data/zoo/$1.onnx golden=$data/golden/$1 plain=0 shapes error now options
  shift
  mapfile -t shapes < <(/usr/bin/python3 scripts/input_shapes.py "$golden")
  for asked in "" "$@"; do
    options=("${shapes[@]}" ${asked:+--accuracy "$asked"})
    rm -rf "$work/out"
    if ! "$mrvlc" -q compile "$model" -o "$work/out" "${options[@]}" 2>"$work/log"; then
      printf '| %s | %s | %s |\n' "$name" "${asked:-}" "$(grep -oE 'MRV[0-9]+: .*' "$work/log" | tail -1 | cut -c1-140)"
      continue
    fi
    error=$(measured "$model" --data "$golden" "${options[@]}")
    now=$(cycles)
    [ "$plain" != 0 ] || plain=$now
    printf '| %s | %s | %s | %.2g | %d | %s | %s |\n' "$name" "${asked:-}" "$(field '"-" if r["accuracy"]["expected_error"] is None else "%.2g" % r["accuracy"]["expected_error"]')" "$error" "$now" \
      "$(/usr/bin/python3 -c "print('%.2f' % ($now / $plain) if $plain else '')")" "$(field '"%.1f" % (100 * (1 - r["placement"]["mac_share_accelerator"]))')"
  done
}

networks_table() {
  echo "| network | --accuracy | expected | measured | cycles | ratio | MACs on the CPU, % |"
  echo "|---|---|---|---|---:|---:|---:|"
  network blazeface_front128 1e-2 2e-3
  network fastestdet 1e-2
  network mlsd_tiny_320 1 1e-1
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
  local name what deviation sets error
  /usr/bin/python3 scripts/accuracy_cases.py "$work" >"$work/list"
  echo "| written out | deviation | measured | cycles |"
  echo "|---|---:|---:|---:|"
  while IFS=$'\t' read -r name what deviation sets; do
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
if [ "$formulas" = yes ]; then formulas_table | put formulas; fi
