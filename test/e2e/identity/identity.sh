#!/usr/bin/env bash
# usage: identity.sh MRVLC INCLUDE WORK LEAST NAME=MODEL[,OPTION...] ...
# Compiles the models, puts the binaries of each in the place of those of every other, and checks that all are refused:
# by the stub before the device runs (swap.c), and by the commands that read the folder. At least LEAST swaps must have
# been made. WORK is emptied first.
set -u
here=$(cd "$(dirname "$0")" && pwd)
mrvlc=$1 include=$2 work=$3 least=$4
shift 4
lib=$(dirname "$(dirname "$mrvlc")")/lib
strict="-std=c99 -Wall -Wextra -Wconversion -pedantic -Werror"
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1
failures=0
problem() {
  failures=$((failures + 1))
  echo "FAILED: $*"
}

names=()
for subject in "$@"; do
  name=${subject%%=*} rest=${subject#*=}
  IFS=, read -ra words <<<"$rest"
  "$mrvlc" -q compile "${words[@]}" --name "$name" -o "$name" || { problem "$name does not compile"; continue; }
  compgen -G "$name/*.mrvl" >/dev/null && names+=("$name")
done

# The stub against all binaries but its own.
swaps=0
for name in "${names[@]}"; do
  sed "s/NAME/$name/g" "$here/swap.c" >swap_$name.c
  # shellcheck disable=SC2086
  gcc -O1 $strict -I"$include" -I"$here/.." -I"$name" -o swap_$name swap_$name.c "$name/$name.c" "$name/${name}_weights.S" \
    -Xassembler -I"$name" -L"$lib" -Wl,-rpath,"$lib" -lmrvl_simdev -lm || { problem "$name: the stub does not compile"; continue; }
  mapfile -t others < <(find . -name '*.mrvl' -not -path "./$name/*" | sort)
  got=$(./swap_$name "$name" "${others[@]}") || { problem "$name takes a binary that is not its own"; continue; }
  swaps=$((swaps + got))
done

# The commands, on a folder in which one file is another model's.
refused() {
  local what=$1
  shift
  "$@" >out.txt 2>err.txt
  local code=$?
  [ $code = 3 ] && grep -q "error MRV0712: cannot read '[^']*$what': it was changed" err.txt ||
    problem "exit code $code, not 3 naming $what: $* $(cat err.txt)"
}
first=${names[0]} second=${names[1]}
cp -r "$first" changed && cp "$second/$second.region0.mrvl" "changed/$first.region0.mrvl"
touch zero.npy
refused "$first.region0.mrvl" "$mrvlc" profile changed
refused "$first.region0.mrvl" "$mrvlc" disasm "changed/$first.region0.mrvl"
python=$(command -v python3) || python=
if [ -n "$python" ] && [ -n "${IDENTITY_INPUT:-}" ]; then
  refused "$first.region0.mrvl" "$mrvlc" run changed --input "$IDENTITY_INPUT" --repeat-axis0 --output-dir r
  for file in main.c "$first.c" "$first.h" "${first}_weights.S" "${first}_weights.bin"; do
    rm -rf edited && cp -r "$first" edited && echo >>"edited/$file"
    refused "$file" "$mrvlc" run edited --input "$IDENTITY_INPUT" --repeat-axis0 --output-dir r
  done
  [ ! -e r ] || problem "a refused run left its output folder"
fi
for file in idmap.json; do
  rm -rf edited && cp -r "$first" edited && echo >>"edited/$file"
  refused "$file" "$mrvlc" map edited --expr 0
  refused "$file" "$mrvlc" disasm "edited/$first.region0.mrvl"
  refused "$file" "$mrvlc" profile edited
done
rm -rf edited && cp -r "$first" edited && echo >>edited/placement.json
refused placement.json "$mrvlc" explain edited

echo "$swaps swaps of binaries between ${#names[@]} models, $failures failures"
[ "$swaps" -ge "$least" ] || problem "fewer than $least swaps"
[ $failures = 0 ]
