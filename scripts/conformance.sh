#!/usr/bin/env bash
# Runs ONNX's backend tests through the reference interpreter and through generated C, in parallel; what passed, was wrong,
# was refused and crashed for each suite. See docs/conformance.md.
#
#   scripts/conformance.sh [FOLDER | FILE.tar.gz]... [OPTION...]
#
# Debian's (libonnx-testdata: ONNX 1.12), and those of the other releases of ONNX that are named: a folder that holds, at
# any depth, the folders node and simple, or an archive of one. Options are those of mrvlc-conformance, e.g.
#   -j N   --filter REGEX   --engine interp|c|both   -v   --keep DIR   --json FILE   --markdown docs/conformance.md
# mrvlc-conformance is taken from the build folder $MRVLC_BUILD, or from build. Exit code 5: something is wrong or crashed.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
usage() { sed -n '2,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit "$1"; }

tool=${MRVLC_BUILD:-$here/build}/bin/mrvlc-conformance
debian=/usr/share/libonnx-testdata/data
roots=() options=()
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# suites_in FOLDER: the folder in it that holds node and simple
suites_in() {
  local node
  while read -r node; do
    if [ -d "$(dirname "$node")/simple" ]; then dirname "$node"; return; fi
  done < <(find -L "$1" -maxdepth 6 -type d -name node | sort)
  echo "conformance: no suites in $1" >&2
  exit 3
}

# release NAME: "ONNX 1.23" of onnx-1.23-backend-tests.tar.gz, else the name
release() {
  local name
  name=$(basename "$1" .tar.gz)
  if [[ $name =~ onnx-?v?([0-9]+\.[0-9]+) ]]; then echo "ONNX ${BASH_REMATCH[1]}"; else echo "$name"; fi
}

[ -d "$debian" ] && roots+=("ONNX 1.12=$debian")
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage 0 ;;
    -v | --verbose | --exported) options+=("$1"); shift ;;
    --*=*) options+=("$1"); shift ;;
    -*) options+=("$1" "${2?}"); shift 2 ;;
    *.tar.gz)
      mkdir -p "$work/${#roots[@]}"
      tar -xzf "$1" -C "$work/${#roots[@]}"
      roots+=("$(release "$1")=$(suites_in "$work/${#roots[@]}")")
      shift ;;
    *) roots+=("$(release "$1")=$(suites_in "$1")"); shift ;;
  esac
done
[ -x "$tool" ] || { echo "conformance: there is no $tool; build it first (scripts/test.sh)" >&2; exit 3; }
[ ${#roots[@]} -gt 0 ] || { echo "conformance: libonnx-testdata is not installed and no folder is given" >&2; exit 3; }
# What is left behind when the tool is interrupted goes with the rest.
TMPDIR=$work "$tool" "${roots[@]}" "${options[@]}"
