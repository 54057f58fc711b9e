#!/usr/bin/env bash
# Writes the parts of docs/ that come from the program: docs/operators.md. With --check only compares (a test does that).
#   scripts/update_docs.sh [--check] [MRVLC]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
check=no
if [ "${1-}" = --check ]; then check=yes; shift; fi
mrvlc=${1:-build/bin/mrvlc}
operators() {
  cat <<'TEXT'
# Operators

Made by `scripts/update_docs.sh` from the operator table (`mrvlc ops --markdown`). "accelerator" is the kind of layer the
operator can be the anchor of, see `docs/rules.md`; "note" says why a facet is missing. "types" are those of the main operand;
"C" is generated code for shapes known when the model is compiled, "open shapes" for those known at run time only.

TEXT
  "$mrvlc" ops --markdown
}
if [ "$check" = yes ]; then
  diff -u docs/operators.md <(operators) || { echo "docs/operators.md is not current: run scripts/update_docs.sh"; exit 1; }
else
  operators >docs/operators.md
fi
