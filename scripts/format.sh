#!/usr/bin/env bash
# Formats the tracked C and C++ files with clang-format 14. With --check, changes nothing and fails if one would change.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
command -v clang-format >/dev/null || {
  echo "format: clang-format is missing: scripts/install-deps.sh --build-only clang-format" >&2
  exit 1
}
case ${1-} in
  --check) mode=(--dry-run --Werror) ;;
  '') mode=(-i) ;;
  *) echo "usage: scripts/format.sh [--check]" >&2; exit 2 ;;
esac
git ls-files -z '*.c' '*.h' '*.cpp' '*.hpp' | xargs -0 -r clang-format "${mode[@]}" || exit 1
