#!/usr/bin/env bash
# The Debian package alone: made by CPack, unpacked where there was nothing, and in an empty folder three programs: CMake with
# find_package(mrvlc) in C++, make with pkg-config in C, and that of the package's own tutorial. Where this process may mount
# (root), source and build tree are covered by empty folders meanwhile, so that nothing can be taken from there.
#   package.sh CMAKE BUILD SOURCE
set -euo pipefail
fail() { echo "package: $*" >&2; exit 1; }

# The second half, where source and build tree are hidden: package.sh --programs CMAKE ROOT.
if [ "$1" = --programs ]; then
  cmake=$2 root=$3 usr=$3/root/usr
  export PATH="$usr/bin:/usr/local/bin:/usr/bin:/bin" PKG_CONFIG_PATH="$usr/lib/pkgconfig" HOME="$root"
  cd "$root/empty"
  [ "$(command -v mrvlc)" = "$usr/bin/mrvlc" ] || fail "another mrvlc is in the way"

  echo "-- C++, CMake, find_package(mrvlc)"
  "$cmake" -S "$root/programs/cmake" -B cmake -DCMAKE_PREFIX_PATH="$usr" >log 2>&1 || { cat log; fail "cmake failed"; }
  "$cmake" --build cmake >log 2>&1 || { cat log; fail "the CMake project does not build"; }
  ./cmake/user

  echo "-- C, make, pkg-config"
  cp -r "$root/programs/make" make
  make -s -C make user >log 2>&1 || { cat log; fail "make failed"; }
  make/user --input image="$root/models/digits/test_x.npy" --repeat-axis0 --dir make/model --output-dir .
  [ "$(stat -c %s logits.npy)" -gt 1000 ] || fail "the program made by make wrote no logits"

  echo "-- the tutorial"
  /usr/bin/python3 "$root/programs/book.py" "$usr/bin/mrvlc" "$usr" "$root/models" "$usr/share/doc/mrvlc/docs/tutorial-board.md" tutorial
  [ -x tutorial/app ] && [ -s tutorial/results/logits.npy ] || fail "the tutorial made no program"
  cmp logits.npy tutorial/results/logits.npy || fail "the C program and the tutorial's mrvlc run differ"
  exit 0
fi

cmake=$1 build=$2 source=$3
here=$(cd "$(dirname "$0")" && pwd)
for tool in dpkg-deb dpkg-query dpkg-shlibdeps cpack pkg-config readelf; do
  command -v "$tool" >/dev/null || { echo "package: skipped, there is no $tool"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

echo "-- the package"
SOURCE_DATE_EPOCH=1 cpack --config "$build/CPackConfig.cmake" -B "$work/package" >log 2>&1 || { cat log; fail "cpack failed"; }
deb=$(echo package/mrvlc_*.deb)
[ -f "$deb" ] || fail "no package"
dpkg-deb -x "$deb" root
if grep -rlF -e "$build" -e "$source" root; then fail "a file of the package names where it was built"; fi
for elf in root/usr/bin/* root/usr/lib/*.so; do
  if readelf -d "$elf" | grep -E 'R(UN)?PATH' | grep -vF '[$ORIGIN'; then fail "$elf looks for libraries elsewhere"; fi
done
# What it says it needs is what Debian has here, and enough for its programs.
dpkg-query -W -f '${Status} ${Package} ${Provides}\n' | grep 'ok installed' | tr -s ' ,' '\n' | sort -u >installed
dpkg-deb -f "$deb" Depends | tr , '\n' | sed 's/[(|].*//; s/ //g' | while read -r package; do
  grep -qxF "$package" installed || fail "it needs '$package', which is not installed"
done
if LD_LIBRARY_PATH=root/usr/lib ldd root/usr/bin/* | grep 'not found'; then fail "a library is missing"; fi

mkdir programs models empty
cp -r "$here/cmake" "$here/make" "$here/../docs/book.py" programs/
cp -r "$source/models/digits" models/
cp models/digits/digits.onnx programs/cmake/
cp models/digits/digits.onnx programs/make/
cp "$0" programs/package.sh
hide='mount -t tmpfs none "$1" && if [ -d "$2" ]; then mount -t tmpfs none "$2"; fi && shift 2 && exec "$@"'
if [ "$(id -u)" = 0 ] && unshare -m sh -c "mount -t tmpfs none /mnt" 2>/dev/null; then
  unshare -m sh -c "$hide" sh "$source" "$build" programs/package.sh --programs "$cmake" "$work"
else
  echo "package: source and build tree are not hidden, this process may not mount"
  programs/package.sh --programs "$cmake" "$work"
fi
echo "package: passed"
