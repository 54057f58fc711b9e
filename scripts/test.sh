#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. Options go to ctest: scripts/test.sh -R unit -j1; --yes first: it does not
# ask before it installs.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
yes=()
[ "${1:-}" != --yes ] || { yes=(--yes); shift; }
scripts/install-deps.sh ${yes[@]+"${yes[@]}"}
cmake --preset release
cmake --build --preset release --parallel "$(nproc)"
exec ctest --test-dir build --output-on-failure --no-tests=error --parallel "$(nproc)" "$@"
