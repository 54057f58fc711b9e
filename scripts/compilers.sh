#!/usr/bin/env bash
# Generated C with every compiler, machine and set of flags that this machine has (docs/compilers.md).
#
#   scripts/compilers.sh [--write] [--models] [--verify] [--only TEXT] [--cases N] [MODEL.onnx...]
#
# Without models: the digits, the networks of the shared data's zoo ($MRVLC_SHARED, or `shared` beside the checkout) of at most
# 100 KiB, and the cases of compiler_cases.py, small models of one operator or few (--cases N: the first N of them; 0: none). --write puts the table into docs/compilers.md,
# --models prints a line a model, --verify compares with the reference interpreter first, --only takes the configurations whose
# name contains TEXT. Debian's packages: clang, musl-tools, tcc, libc6-dev-i386 and lib32gcc-12-dev (gcc-multilib cannot stand beside the cross compilers),
# gcc-{arm-linux-gnueabihf,aarch64-linux-gnu,riscv64-linux-gnu} with their libc6-dev, qemu-user, gcc-arm-none-eabi and qemu-system-arm, wasi-libc, libclang-rt-14-dev-wasm32, lld and
# nodejs; what is missing is left out. Takes about 10 minutes.
set -euo pipefail
started=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."
options=() models=() cases=1000 usage='2,14s/^# \{0,1\}//p'
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) sed -n "$usage" scripts/compilers.sh; exit 0 ;;
    --write) options+=(--write docs/compilers.md) ;;
    --models | --verify) options+=("$1") ;;
    --only) options+=(--only "$2"); shift ;;
    --cases) cases=$2; shift ;;
    -*) sed -n "$usage" scripts/compilers.sh >&2; exit 2 ;;
    /*) models+=("$1") ;;
    *) models+=("$started/$1") ;;
  esac
  shift
done
if [ ${#models[@]} -eq 0 ]; then
  models=(models/digits/digits.onnx)
  zoo=${MRVLC_SHARED:-../shared}/data/zoo
  if [ -d "$zoo" ]; then mapfile -t -O 1 models < <(find "$zoo" -name '*.onnx' -size -100k | sort); fi
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  /usr/bin/python3 -B scripts/compiler_cases.py "$folder"
  mapfile -t -O ${#models[@]} models < <(find "$folder" -name '*.onnx' | sort | head -n "$cases")
fi
/usr/bin/python3 -B scripts/compilers.py --mrvlc "${MRVLC:-build/bin/mrvlc}" "${options[@]}" "${models[@]}"
