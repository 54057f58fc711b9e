#!/usr/bin/env bash
# Compiles every model with this build and with another one, and compares what they write, byte for byte:
# scripts/same_output.sh BASE [--with OPTIONS]... [FOLDER...]      BASE: the other build's mrvlc
# Models: those of models/, of $MRVLC_SHARED/data/zoo, and of the folders; each for the accelerator and with --target host, or with
# each --with. A line for each that differs: cycles before and after, and the files. Exit code 1 when any does.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ $# -ge 1 ] || { sed -n '3,5s/^# //p' "$0"; exit 2; }
base=$(realpath "$1")
now=$(realpath "${MRVLC:-build/bin/mrvlc}")
shift
sets=()
while [ "${1-}" = --with ]; do sets+=("${2?--with needs options}") && shift 2; done
[ ${#sets[@]} -gt 0 ] || sets=("" "--target host")
shared=${MRVLC_SHARED:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The same relative folder, so that no path of ours can make a difference.
compile() {  # side, mrvlc, arguments
  rm -rf "${work:?}/$1"
  mkdir "$work/$1"
  (cd "$work/$1" && "$2" -q compile "${@:3}" -o out >log 2>&1; echo "exit code $?" >>log)
}

cycles() {  # of the regions
  [ -f "$1/out/report.json" ] || { echo -; return; }
  /usr/bin/python3 -c 'import json, sys; print(sum(r["cycles"] for r in json.load(open(sys.argv[1]))["regions"]))' "$1/out/report.json"
}

models=0
different=0
while IFS= read -r model; do
  mapfile -t shapes < <(/usr/bin/python3 scripts/input_shapes.py "$(dirname "$model")/../golden/$(basename "$model" .onnx)")
  for set in "${sets[@]}"; do
    read -r -a words <<<"$set"
    options=("${shapes[@]}" "${words[@]}")
    compile base "$base" "$model" "${options[@]}"
    compile now "$now" "$model" "${options[@]}"
    models=$((models + 1))
    files=$(diff -rq "$work/base" "$work/now" | sed -e "s|$work/||g" -e 's|^|    |')
    [ -z "$files" ] && continue
    different=$((different + 1))
    printf '%s (%s): cycles %s -> %s\n%s\n' "$model" "${set:-default}" "$(cycles "$work/base")" "$(cycles "$work/now")" "$files"
  done
done < <(find "$PWD/models" ${shared:+"$shared/data/zoo"} "$@" -name '*.onnx' | sort)
echo "$different of $models outputs differ"
[ $different -eq 0 ]
