#!/usr/bin/env bash
# Do the tests see? Puts the small mistakes listed in test/mutation/*.txt into the source, one at a time, in a copy of the tree,
# builds the tests that answer for each, runs them, and prints what was found, by component. Not part of CI.
#   scripts/mutation.sh [options]             scripts/mutation.sh --help says which
exec python3 -B "$(dirname "${BASH_SOURCE[0]}")/mutation.py" "$@"
