#!/usr/bin/env bash
# Takes CONTRIBUTING.md at its word: applies the blocks of "Step by step" to a copy of the tree and runs its commands there.
#
#   scripts/check_contributing.sh [--apply-only] [FOLDER]
#
# FOLDER keeps the copy and its build, build/contributing unless it is given. The first run compiles the compiler (some minutes on
# two cores), later ones what has changed since, and then what the blocks make compile, which is counted.
# --apply-only: no build; the blocks are there, and the places they name.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=yes
if [ "${1-}" = --apply-only ]; then build=no; shift; fi
root=$PWD
copy=$(realpath -m "${1:-build/contributing}")
blocks() { /usr/bin/python3 -B "$root/test/e2e/contributing/blocks.py" "$root/CONTRIBUTING.md" "$@"; }

# The tree as it is, what is not committed included; of an earlier run only the build stays.
mkdir -p "$copy"
find "$copy" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
git ls-files -z --cached --others --exclude-standard | tar --null --files-from - --ignore-failed-read -c 2>/dev/null | tar -x -C "$copy"
(cd "$copy" && blocks --files | xargs -r touch)  # what an earlier run changed in them is compiled away again

export CCACHE_BASEDIR=$copy CCACHE_NOHASHDIR=1
cd "$copy"
if [ $build = yes ]; then
  echo "check_contributing: the compiler as it is"
  blocks --commands configure | bash -euo pipefail >/dev/null
  blocks --commands build | bash -euo pipefail
fi
blocks --apply
git init -q . && git add -A  # tests of the tree ask git for its files
if [ $build = no ]; then echo "check_contributing: the blocks apply"; exit; fi

blocks --commands configure | bash -euo pipefail >/dev/null
targets=$(blocks --commands build | sed -n 's/^ninja -C build //p')
# shellcheck disable=SC2086
echo "check_contributing: $(ninja -C build -n $targets | grep -c 'Building CXX') of $(find lib apps/mrvlc -name '*.cpp' | wc -l) sources compile"
SECONDS=0
blocks --commands build | bash -euo pipefail
echo "check_contributing: built in $SECONDS s"
blocks --commands check | bash -euo pipefail

# Not what the commands say of themselves: the rule placed the node, and the accelerator's numbers are those of the formula.
mrvlc=build/bin/mrvlc
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$mrvlc" -q compile build/bent.onnx --accel bent -o "$out/compiled"
"$mrvlc" explain "$out/compiled" --node bent | tee "$out/explain"
grep -qE '^accelerator .* bent_identity ' "$out/explain" || { echo "check_contributing: the rule did not place the node"; exit 1; }
/usr/bin/python3 -B "$root/test/e2e/contributing/bent_identity.py" "$mrvlc" "$out/compiled" "$out"
grep -q BentIdentity docs/operators.md || { echo "check_contributing: docs/operators.md has no line for it"; exit 1; }
scripts/update_docs.sh --check "$mrvlc"
echo "check_contributing: CONTRIBUTING.md keeps its word"
