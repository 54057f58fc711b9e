#!/bin/sh
# Damaged models and files, many of them: 100 000 through the importer and the passes (with the sanitizers, if
# build/asan/bin has mrvlc-mutate), 10 000 through the whole compiler, 20 000 with sizes
# changed alone through it for the accelerator, and the other readers.
#   scripts/hostile.sh [SEED] [FOLDER]    models that show a mistake are kept in FOLDER
# MRVLC_ONNX_TESTDATA names a further folder of models to start from; JOBS, IMPORTED, COMPILED, SIZED change the numbers.
set -eu
cd "$(dirname "$0")/.."
seed=${1:-1}
keep=${2:-build/hostile-found}
jobs=${JOBS:-$(nproc)}
tool=build/bin/mrvlc-mutate
checked=build/asan/bin/mrvlc-mutate
[ -x "$tool" ] || { echo "hostile.sh: build first: $tool is not there" >&2; exit 2; }
[ -x "$checked" ] || { echo "hostile.sh: without sanitizers: $checked is not there" >&2; checked=$tool; }
failed=0
"$checked" import -n "${IMPORTED:-100000}" --seed "$seed" -j "$jobs" --save "$keep" --megabytes 4096 --seconds 40 || failed=1
"$tool" sizes -n "${SIZED:-20000}" --seed "$seed" -j "$jobs" --save "$keep" --megabytes 1024 --seconds 5 || failed=1
"$tool" compile -n "${COMPILED:-10000}" --seed "$seed" -j "$jobs" --save "$keep" || failed=1
for reader in ir rules target binary; do
  "$checked" "$reader" -n 20000 --seed "$seed" -j "$jobs" --save "$keep" || failed=1
done
exit $failed
