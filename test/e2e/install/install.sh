#!/usr/bin/env bash
# An installation, moved away from where it was put: the command itself, a CMake project with find_package(mrvlc), a
# Makefile with pkg-config. Nothing of the source or build tree may be needed.
#   install.sh CMAKE BUILD DIGITS WORK
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cmake=$1 build=$2 digits=$3 work=$4
rm -rf "$work"
mkdir -p "$work"
"$cmake" --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/an installation"
prefix="$work/an installation"

fail() { echo "install: $*" >&2; exit 1; }
if grep -rlIF -e "$build" -e "$work/first" "$prefix"; then fail "a file names where it was built or first installed"; fi
for file in bin/mrvlc lib/libmrvl_simdev.so include/mrvl/device.h include/mrvl/string.h lib/cmake/mrvlc/mrvlcConfig.cmake \
            lib/pkgconfig/mrvlc.pc share/mrvlc/targets/cn10ka/target.json share/mrvlc/schemas/idmap.schema.json \
            share/man/man1/mrvlc.1 share/bash-completion/completions/mrvlc \
            share/zsh/site-functions/_mrvlc share/fish/vendor_completions.d/mrvlc.fish share/doc/mrvlc/README.md share/doc/mrvlc/docs/output.md; do
  [ -s "$prefix/$file" ] || fail "$file is not installed"
done

echo "-- the command"
export PATH="$prefix/bin:$PATH"
cd "$work"
mrvlc compile "$digits/digits.onnx" -o out -q
mrvlc run out --input image="$digits/test_x.npy" --repeat-axis0 --output-dir results
[ -s results/logits.npy ] || fail "mrvlc run gave no logits"
make -s -C out CFLAGS=-O1
[ -x out/digits_example ] || fail "the Makefile of OUT built nothing"

echo "-- CMake"
cp -r "$here/cmake" "$work/cmake project"
cp "$digits/digits.onnx" "$work/cmake project/"
for generator in Ninja "Unix Makefiles"; do
  "$cmake" -S "cmake project" -B "build $generator" -G "$generator" -DCMAKE_PREFIX_PATH="$prefix" >cmake.log || { cat cmake.log; exit 1; }
  "$cmake" --build "build $generator" >cmake.log 2>&1 || { cat cmake.log; exit 1; }
  "./build $generator/user"
  # Nothing to do, then again when the model is touched.
  stamp() { stat -c %Y%i "build $generator/digits.mrvlc/manifest.json"; }
  before=$(stamp)
  "$cmake" --build "build $generator" >cmake.log
  [ "$(stamp)" = "$before" ] || fail "$generator: compiled again though nothing changed"
  touch "cmake project/digits.onnx"
  "$cmake" --build "build $generator" >cmake.log
  [ "$(stamp)" != "$before" ] || fail "$generator: not compiled again though the model changed"
done
for mistake in "digits MODEL absent.onnx" "not-a-name MODEL digits.onnx" "digits" "digits MODEL digits.onnx SURPRISE"; do
  mkdir -p mistake && cp "$digits/digits.onnx" mistake/
  printf 'cmake_minimum_required(VERSION 3.20)\nproject(p LANGUAGES C)\nfind_package(mrvlc REQUIRED)\nmrvlc_add_model(%s)\n' "$mistake" \
    >mistake/CMakeLists.txt
  if "$cmake" -S mistake -B mistake/build -DCMAKE_PREFIX_PATH="$prefix" >cmake.log 2>&1; then fail "accepted: mrvlc_add_model($mistake)"; fi
  grep -q "mrvlc_add_model(" cmake.log || fail "no clear message for mrvlc_add_model($mistake)"
  rm -rf mistake
done

echo "-- make and pkg-config"
cp -r "$here/make" project
cp "$digits/digits.onnx" project/
PKG_CONFIG_PATH="$prefix/lib/pkgconfig" make -s -C project user 2>make.log || { cat make.log; fail "make failed"; }
mkdir one
project/user --input image="$digits/test_x.npy" --repeat-axis0 --dir project/model --output-dir one
cmp one/logits.npy results/logits.npy || fail "the program made by make and mrvlc run differ"
echo "install: passed"
