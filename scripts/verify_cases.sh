#!/usr/bin/env bash
# usage: scripts/verify_cases.sh [-j N] [--filter REGEX] [FOLDER] [-- OPTION...]
# ONNX's backend tests through `mrvlc verify`: each case compiled, built, run, and compared with its data. FOLDER holds suites
# of cases, libonnx-testdata's by default; OPTIONs are verify's, e.g. --target host. Prints the counts, and what did not pass; the exit code is 1 when
# a case differs, crashes or fails otherwise (a refusal with a code is none of these).
set -u
mrvlc=${MRVLC:-$(dirname "$0")/../build/bin/mrvlc}
jobs=$(nproc) filter=. folder=/usr/share/libonnx-testdata/data
while [ $# -gt 0 ]; do
  case $1 in
  -j) jobs=$2 && shift 2 ;;
  --filter) filter=$2 && shift 2 ;;
  --) shift && break ;;
  *) folder=$1 && shift ;;
  esac
done
one() {
  local case=$1 name out code
  shift
  name=$(basename "$(dirname "$case")")/$(basename "$case")
  out=$(timeout 120 "$mrvlc" verify "$case/model.onnx" --data "$case" -j 1 "$@" 2>&1)
  code=$?
  if [ $code = 5 ] && out=$(timeout 120 "$mrvlc" verify "$case/model.onnx" --data "$case" -j 1 "$@" --tolerance 1e-3 2>&1); then code=within; fi
  printf '%s\t%s\t%s\n' "$code" "$name" "$(printf '%s' "$out" | grep -a 'error MRV' | head -1 | cut -c1-300 | tr '\t' ' ')"
}
export -f one
export mrvlc
list=$(find "$folder" -mindepth 3 -maxdepth 3 -name model.onnx -printf '%h\n' | grep -E "$filter" | sort)
[ -n "$list" ] || { echo "no cases in $folder" >&2 && exit 1; }
results=$(printf '%s\n' "$list" | xargs -d '\n' -P "$jobs" -I{} bash -c 'one "$@"' _ {} "$@" | sort -k2)
printf '%s\n' "$results" | awk -F '\t' '
  $1 == 0 { passed++; next }
  $1 == "within" { passed++; within++; next }
  { print ($1 == 1 || $1 == 4 ? "refused" : $1 == 5 ? "differs" : "FAILED (" $1 ")") "\t" $2 "\t" $3 }
  $1 == 1 || $1 == 4 { refused++; next }
  $1 == 5 { differs++; next }
  { failed++ }
  END { printf "%d cases: %d passed (%d of them not to 1e-4, but to the 1e-3 of docs/conformance.md), %d differ, %d refused, %d failed otherwise\n", NR, passed, within, differs, refused, failed; exit differs + failed > 0 }'
