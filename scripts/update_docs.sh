#!/usr/bin/env bash
# Writes the parts of docs/ that come from the program: docs/operators.md, docs/codes.md, the arrows of docs/architecture.md, the options of docs/command-line.md, docs/kernels.md, and the picture of the README. With --check only compares (a test does that).
#   scripts/update_docs.sh [--check] [MRVLC]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
check=no
if [ "${1-}" = --check ]; then check=yes; shift; fi
mrvlc=${1:-build/bin/mrvlc}
operators() {
  cat <<'TEXT'
# Operators

Made by `scripts/update_docs.sh` from the operator table (`mrvlc ops --markdown`). "accelerator" is asked from passes, rules
and legality: the kinds of layers that representative nodes become (`docs/rules.md`), "removed" when nothing is left to do; "note"
says why a facet is missing. "types" are those of the main operand;
"C" is generated code for shapes known when the model is compiled, "dynamic shapes" for those known at run time only. Operators that the
importer takes apart stand behind the others, with what they are made of: the rows of those say the rest. Where two operators of ONNX Runtime
differ from these pages, `docs/support.md` says so.

TEXT
  "$mrvlc" ops --markdown || return 1
  cat <<'TEXT'

## Resize where runtimes differ

ONNX leaves room, and implementations use it. What mrvlc computes, in the interpreter, in generated C and on the accelerator:

- The size of a resized dimension is floor(in * scale), computed in float32; with `sizes` and a `keep_aspect_ratio_policy`,
  floor(in * scale + 0.5). With `sizes` alone scale = size / in. A dimension of equal size and scale 1 keeps every index in every mode but
  `tf_crop_and_resize`.
- Coordinates are exact where the scale is a ratio of sizes: given as `sizes`, or as a scale that is size / in rounded to float32 (one ulp
  either way). `nearest` then takes the pixel that fractions say: 49 to 7, `asymmetric` and `floor`, takes 0, 7, 14... Other scales are used in
  double as the formulas stand: `half_pixel` is (x + 0.5) / scale - 0.5. ONNX Runtime computes in float32 and takes the neighbouring pixel where
  a coordinate lies within an ulp of a tie or of a whole number.
- Ties of `nearest`: `round_prefer_floor` is ceil(x - 0.5), `round_prefer_ceil` floor(x + 0.5), so 2.5 gives 2 and 3, -0.5 gives -1 and 0
  before the clamp into the image. Resize-10 has no `nearest_mode`: it takes ceil(x) where the dimension shrinks (scale < 1) and
  floor(x) elsewhere, asymmetric. Upsample is asymmetric, floor.
- `align_corners` is x * (in - 1) / (out - 1) with out = in * scale **with its fraction**, as ONNX's text and conformance data have
  it, unless that is within 1e-4 (relative) of the whole output size, which is then meant. ONNX Runtime takes the whole output size always:
  for 4 elements and a scale of 0.6, the second output lies at 3 / 1.4 = 2.14 here and at 3 / 1 = 3 there. Give `sizes` to have the same
  everywhere.
- One output element: `align_corners` and `pytorch_half_pixel` give coordinate 0, `half_pixel` the middle of the image.
- `linear` clamps the coordinate into the image, `cubic` the index of each of its four taps (or leaves taps outside out, with
  `exclude_outside`, and divides by the sum of the rest). `antialias` widens the filter by 1 / scale where the dimension shrinks, and
  divides by the sum of the weights; taps outside count as the border pixel.
- Integers of up to 32 bits: `nearest` copies; `linear`, `cubic` and `antialias` compute in double and truncate towards zero, as ONNX's
  reference does, and ONNX Runtime where it does not antialias. What the type cannot hold saturates.
TEXT
}
codes() {
  cat <<'TEXT'
# Codes

Made by `scripts/update_docs.sh` from the sources (`lib/support/codes`). Every message of mrvlc has a code; codes keep their meaning and are never used
again. `mrvlc explain MRV0131` prints one of these pages, `mrvlc explain --codes` lists them. A warning or a note changes no exit code. `...` stands
for what a message names.
TEXT
  "$mrvlc" explain --codes --markdown
}
picture() {
  local work status=0
  work=$(mktemp -d)
  { "$mrvlc" compile -q models/digits/digits.onnx -o "$work/out" --cpu pool && "$mrvlc" graph "$work/out" --svg; } || status=$?
  rm -rf "$work"
  return "$status"
}
architecture() {
  local table
  table=$(python3 test/unit/architecture/check_includes.py --arrows .) || return 1
  TABLE=$table awk '/^<!-- arrows end -->$/ { skip = 0 } !skip { print } /^<!-- arrows -->$/ { print ENVIRON["TABLE"]; skip = 1 }' docs/architecture.md
}
options() {
  local table
  table=$("$mrvlc" help --markdown) || return 1
  TABLE=$table awk '/^<!-- options end -->$/ { skip = 0 } !skip { print } /^<!-- options -->$/ { print ENVIRON["TABLE"]; skip = 1 }' docs/command-line.md
}
kernels() { python3 scripts/kernel_table.py .; }
# renew PAGE FUNCTION
renew() {
  if [ "$check" = yes ]; then
    diff -u "$1" <("$2") || { echo "$1 is not current: run scripts/update_docs.sh"; exit 1; }
  else
    local text
    text=$("$2")  # whole, or not at all
    printf '%s\n' "$text" >"$1"
  fi
}
renew docs/operators.md operators
renew docs/codes.md codes
renew docs/architecture.md architecture
renew docs/command-line.md options
renew docs/kernels.md kernels
renew docs/pictures/digits.svg picture
