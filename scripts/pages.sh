#!/usr/bin/env bash
# The tests of the pages in a browser, with axe-core: every page at three widths, light and dark, without a serious fault.
#
#   scripts/pages.sh
#
# Needs chromium (Debian: chromium-headless-shell) and npm, which installs axe-core in build/axe. Without axe-core ctest runs
# the same tests, less its rules.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
axe=build/axe/node_modules/axe-core/axe.min.js
[ -r "$axe" ] || npm install --ignore-scripts --no-audit --no-fund --prefix build/axe axe-core@4.14 >&2
MRVLC_AXE=$PWD/$axe exec ctest --test-dir build --output-on-failure --no-tests=error -R '^report_(browser|graph)$'
