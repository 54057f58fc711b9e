#!/usr/bin/env bash
# Meshes at length (docs/mesh.md).
#   scripts/mesh.sh exact    the quantized networks of the zoo on one chip, 1, 3 and 8 ranks, equal those of the host ($MRVLC_SHARED)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
case ${1-} in
  exact) MRVLC_SHARED=${MRVLC_SHARED:-$(cd .. && pwd)/shared} /usr/bin/python3 -B test/e2e/mesh/mesh_test.py build/bin/mrvlc build/test-output/mesh_exact --all ;;
  *) sed -n 2,3p "$0" >&2; exit 2 ;;
esac
