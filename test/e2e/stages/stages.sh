#!/usr/bin/env bash
# usage: stages.sh MRVLC MRVLC-OPT MODEL.onnx WORK
# What a compile says of its stages is what mrvlc-opt says of the model, and of the primitives read back. WORK is
# emptied first.
set -u
mrvlc=$1 opt=$2 model=$3 work=$4
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1
failures=0

problem() {
  failures=$((failures + 1))
  echo "FAILED: $*"
}

# exits CODE TEXT COMMAND...: stderr must hold TEXT.
exits() {
  local code=$1 text=$2 got
  shift 2
  "$@" >stdout 2>stderr
  got=$?
  [ $got = "$code" ] || problem "exit code $got, not $code: $*"
  grep -qF -e "$text" stderr || problem "no '$text': $*"
}

stages="primitives tiling residency tile-program"
"$mrvlc" compile "$model" -q -o plain --name n || problem "compile"
for tiles in 8 2; do
  for stage in $stages; do
    "$mrvlc" compile "$model" -q -o out --name n --tiles $tiles --dump-stage "$stage" >"$stage" || problem "--dump-stage $stage"
    [ "$(sed -n 2p "$stage" | cut -d' ' -f1-2)" = "stage $stage" ] || problem "$stage does not say what it is"
    "$opt" --stage "$stage" --pipeline default --import "$model" --tiles $tiles | cmp -s - "$stage" ||
      problem "mrvlc-opt --stage $stage says something else"
    "$opt" --stage "$stage" --primitives primitives --tiles $tiles >again || problem "primitives are not read back"
    sed 1d "$stage" | cmp -s - again || problem "$stage from primitives is another one ($tiles tiles)"
  done
  for stage in $stages; do printf -- '--dump-stage %s ' "$stage"; done >all_options
  # shellcheck disable=SC2046
  "$mrvlc" compile "$model" -q -o out --name n --tiles $tiles $(cat all_options) | cmp -s - <(cat $stages) ||
    problem "stages asked for together"
  [ $tiles != 8 ] || diff -r plain out >/dev/null || problem "--dump-stage changes the output"
done

exits 2 "there is no stage 'nope'; stages are primitives, tiling, residency, tile-program" \
  "$mrvlc" compile "$model" -o o --dump-stage nope
exits 2 "there is no stage 'nope'" "$opt" --stage nope --import "$model"
exits 0 "--dump-stage" "$mrvlc" compile "$model" -o o --target host --dump-stage tiling
echo "stage primitives" >short
exits 1 "a buffer 'weights' comes first" "$opt" --stage tiling --primitives short
exits 2 "--stage" "$opt" --primitives short
exits 2 "" "$opt" --stage tiling --tiles 3 --primitives short

[ $failures = 0 ] && echo "all as expected"
exit $failures
