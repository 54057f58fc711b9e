#!/usr/bin/env bash
# Random models through the reference interpreter, generated C, generated C with the simulated accelerator and, when
# $ORT_DIR holds node_modules/onnxruntime-node, ONNX Runtime without optimisation. What disagrees is cut down, printed
# and saved in the build folder.
#
#   scripts/random_graphs.sh [CASES [SEED [NODES]]]        5000 models from seed 1 with up to 8 operators
#
# The test is taken from the build folder $MRVLC_BUILD, or from build.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
case ${1-} in -h | --help) sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;; esac
test=${MRVLC_BUILD:-$here/build}/bin/test_random_graphs
[ -x "$test" ] || { echo "random_graphs: there is no $test; build it first (scripts/test.sh)" >&2; exit 3; }
MRVLC_RANDOM_CASES=${1:-5000} MRVLC_RANDOM_SEED=${2:-1} MRVLC_RANDOM_NODES=${3:-8} "$test"
