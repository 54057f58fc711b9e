#!/usr/bin/env bash
# What CI has no time for, a step after the other, and a page of what came of each: page.md in build/nightly. A step that is done is not
# done again: an interrupted night goes on where it was. Hours on two cores.
#
#   scripts/nightly.sh [--again] [--only STEP] [FOLDER]     --again: all steps anew; --list: the steps
#
# MRVLC_ZOO is a folder of further models; SEED and SHARD (as 3/20) choose what is drawn and which mutations; by default both change by day.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
again=no only='' list=no
while [ $# -gt 0 ]; do
  case $1 in
    --again) again=yes ;;
    --only) only=${2?nightly: --only needs a step}; shift ;;
    --list) list=yes ;;
    -h | --help) sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    -*) echo "nightly: unknown option $1" >&2; exit 2 ;;
    *) break ;;
  esac
  shift
done
folder=$(realpath -m "${1:-build/nightly}")
day=$(($(date +%s) / 86400))
seed=${SEED:-$day}
shard=${SHARD:-$((day % 20 + 1))/20}
models=(models/digits/digits.onnx)
if [ -n "${MRVLC_ZOO:-}" ]; then models+=("$MRVLC_ZOO"/*.onnx); fi

# Steps: a name, and a command of the shell.
names=() commands=()
step() { names+=("$1"); commands+=("$2"); }
step build 'cmake --preset release && cmake --build --preset release --parallel "$(nproc)"'
step mutations "scripts/mutation.sh --work '$folder/mutations' --shard $shard --keep-going --resume"
step hostile "scripts/hostile.sh $seed '$folder/hostile'"
step hostile-files "python3 scripts/hostile_files.py build/bin/mrvlc '$folder/hostile-files' -n 2000 --seed $seed"
step random-graphs "scripts/random_graphs.sh 5000 $seed"
step random-machines "scripts/random_machines.py 300 $seed"
step random-targets "scripts/random_targets.sh 500 $seed"
step regret "scripts/regret.sh"
step random-rules "build/bin/mrvlc-fuzz-rules -n 20000 --first $((seed * 20000 % 1000000000)) -j \"\$(nproc)\""
step asan-ubsan 'scripts/presets.sh asan-ubsan'
step hostile-files-asan "python3 scripts/hostile_files.py build/asan/bin/mrvlc '$folder/hostile-files-asan' -n 1000 --seed $seed"
step tsan 'cmake --preset tsan && cmake --build --preset tsan --parallel "$(nproc)" && scripts/threads_clean.sh build/tsan/bin/mrvlc '"${models[*]@Q}"
step fuzz 'scripts/presets.sh fuzz --fuzz-seconds 600'
step clang 'scripts/presets.sh clang'
step compilers 'scripts/compilers.sh'
step contributing 'scripts/check_contributing.sh'

if [ $list = yes ]; then printf '%s\n' "${names[@]}"; exit; fi
mkdir -p "$folder"
[ $again = no ] || rm -f "$folder"/*.done

write_page() {
  {
    echo "# A night of $(git rev-parse --short HEAD 2>/dev/null || echo 'an unknown commit'), seed $seed, mutations $shard"
    echo
    echo '| step | what came of it | minutes | output |'
    echo '|---|---|---|---|'
    for name in "${names[@]}"; do
      if [ -e "$folder/$name.done" ]; then
        read -r status seconds <"$folder/$name.done"
        if [ "$status" = 0 ]; then said=passed; else said="**failed, exit code $status**"; fi
        echo "| $name | $said | $(((seconds + 30) / 60)) | $name.log |"
      else
        echo "| $name | not done | | |"
      fi
    done
  } >"$folder/page.md"
}

failed=0
for i in "${!names[@]}"; do
  name=${names[$i]}
  [ -z "$only" ] || [ "$only" = "$name" ] || continue
  if [ ! -e "$folder/$name.done" ]; then
    echo "nightly: $name"
    SECONDS=0
    status=0
    bash -c "${commands[$i]}" >"$folder/$name.log" 2>&1 || status=$?
    [ $status -lt 128 ] || [ $status = 137 ] || { write_page; exit $status; }  # interrupted: this step is to be done again
    echo "$status $SECONDS" >"$folder/$name.done"
    write_page
  fi
  read -r status _ <"$folder/$name.done"
  [ "$status" = 0 ] || failed=1
done
write_page
cat "$folder/page.md"
exit $failed
