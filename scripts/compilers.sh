#!/usr/bin/env bash
# Generated C with every compiler, machine and set of flags that this machine has (docs/compilers.md).
#
#   scripts/compilers.sh [--write] [--models] [MODEL.onnx...]
#
# Without models: the digits and the networks of the shared data's zoo ($MRVLC_SHARED, or `shared` beside the checkout) of
# less than 2 MB. --write puts the table into docs/compilers.md, --models prints a line a model. Debian's packages: gcc-multilib,
# clang, musl-tools, tcc, gcc-{arm-linux-gnueabihf,aarch64-linux-gnu,riscv64-linux-gnu} with their libc6-dev, qemu-user; what is
# missing is left out. Takes about a minute a model.
set -euo pipefail
started=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."
options=() models=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) sed -n '2,10s/^# \{0,1\}//p' scripts/compilers.sh; exit 0 ;;
    --write) options+=(--write docs/compilers.md) ;;
    --models) options+=(--models) ;;
    -*) sed -n '2,10s/^# \{0,1\}//p' scripts/compilers.sh >&2; exit 2 ;;
    /*) models+=("$1") ;;
    *) models+=("$started/$1") ;;
  esac
  shift
done
if [ ${#models[@]} -eq 0 ]; then
  models=(models/digits/digits.onnx)
  zoo=${MRVLC_SHARED:-../shared}/data/zoo
  if [ -d "$zoo" ]; then mapfile -t -O 1 models < <(find "$zoo" -name '*.onnx' -size -2M | sort); fi
fi
exec /usr/bin/python3 -B scripts/compilers.py --mrvlc "${MRVLC:-build/bin/mrvlc}" "${options[@]}" "${models[@]}"
