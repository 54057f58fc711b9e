#!/usr/bin/env bash
# Random models compiled for an accelerator, a library of test/e2e/libraries and the host, in two orders: results as the operators give
# them one by one, and every node mapped to code and back.
#
#   scripts/random_targets.sh [CASES [SEED]]        500 models from seed 1
#
# mrvlc and the test that makes models are taken from the build folder $MRVLC_BUILD, or from build.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
case ${1-} in -h | --help) sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;; esac
bin=${MRVLC_BUILD:-$here/build}/bin
for tool in mrvlc test_random_graphs; do
  [ -x "$bin/$tool" ] || { echo "random_targets: there is no $bin/$tool; build it first (scripts/test.sh)" >&2; exit 3; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
MRVLC_RANDOM_FOLDER=$work/models MRVLC_RANDOM_CASES=${1:-500} MRVLC_RANDOM_SEED=${2:-1} \
  "$bin/test_random_graphs" "random models as files" > "$work/log" || { cat "$work/log" >&2; exit 3; }
python3 "$here/test/e2e/libraries/random_targets.py" "$bin/mrvlc" "$here/test/e2e/libraries" "$work"
