#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. Options go to ctest: scripts/test.sh -R unit -j1
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/install-deps.sh
cmake --preset release
cmake --build --preset release --parallel "$(nproc)"
exec ctest --test-dir build --output-on-failure --no-tests=error --parallel "$(nproc)" "$@"
