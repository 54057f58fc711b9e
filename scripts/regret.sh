#!/usr/bin/env bash
# How far the choice by cost is from the best of all choices: random graphs against all of them, and networks,
# with every set and order of an accelerator, one of a quarter of its size, a machine asked as plug-ins are, a
# library, and the host.
#
#   scripts/regret.sh [GRAPHS] [MODEL...]        200 random graphs
#
# mrvlc-regret is taken from the build folder $MRVLC_BUILD, or from build. Exit code 1: more than 1.05 times
# the best by the estimates, or another choice in another order.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
case ${1-} in -h | --help) sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;; esac
tool=${MRVLC_BUILD:-$here/build}/bin/mrvlc-regret
[ -x "$tool" ] || { echo "regret: there is no $tool; build it first (scripts/test.sh)" >&2; exit 3; }
[ $# -gt 0 ] || set -- 200
exec "$tool" "$@"
