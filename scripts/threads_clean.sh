#!/usr/bin/env bash
# Compiles models with four threads under ThreadSanitizer: a race is an error, and so is a model that does not compile.
#   scripts/threads_clean.sh MRVLC MODEL...        MRVLC of the preset tsan
set -euo pipefail
mrvlc=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TSAN_OPTIONS="halt_on_error=0 exitcode=66 ${TSAN_OPTIONS-}"
failed=0
for model in "$@"; do
  status=0
  "$mrvlc" compile "$model" -o "$work/out" -j 4 --probe -q >"$work/said" 2>&1 || status=$?
  races=$(grep -c 'WARNING: ThreadSanitizer' "$work/said" || true)
  echo "$(basename "$model"): exit code $status, $races races"
  if [ "$races" = 0 ] && grep -q MRV0131 "$work/said"; then continue; fi  # it wants --input-shape
  if [ "$races" != 0 ] || [ $status != 0 ]; then
    failed=1
    grep -A 30 -m 1 'WARNING: ThreadSanitizer' "$work/said" || tail -n 5 "$work/said"
  fi
done
exit $failed
