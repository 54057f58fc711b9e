#!/usr/bin/env bash
# Installs a bare Debian 12 in a temporary folder and runs there, in a clone of the last commit (uncommitted changes stay out):
# scripts/demo.sh; an installation of what it built, with programs by find_package and pkg-config; scripts/test.sh. Needs root,
# debootstrap and git.
#
#   scripts/check_fresh.sh [--keep] [COMMAND...]        other commands than these, each run in the clone
#
# Packages come from the mirror this machine's apt uses for Debian; MIRROR=URL in the environment overrides it.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
suite=bookworm
keep=no
if [ "${1-}" = --keep ]; then keep=yes; shift; fi
commands=("$@")
install='apt-get install -y -q pkg-config >/dev/null && test/e2e/install/install.sh cmake "$PWD/build" "$PWD/models/digits" /tmp/install'
[ ${#commands[@]} -gt 0 ] || commands=(scripts/demo.sh "$install" scripts/test.sh)

fail() { echo "check_fresh: $*" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || fail "needs root, for debootstrap and chroot"
for tool in debootstrap git chroot; do
  command -v "$tool" >/dev/null || fail "$tool is missing"
done

apt_mirror() {
  # shellcheck disable=SC2016  # apt expands $(SITE)
  apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' "Release: $suite" 2>/dev/null |
    sed -n 1p
}
mirror=${MIRROR:-$(apt_mirror)}
[ -n "$mirror" ] || fail "apt knows no Debian mirror with $suite; name one with MIRROR=URL"

work=$(mktemp -d)
fresh=$work/root
clean_up() {
  if mountpoint -q "$fresh/proc"; then umount "$fresh/proc" || true; fi
  if [ "$keep" = yes ]; then
    echo "check_fresh: kept $fresh"
  else
    rm -rf --one-file-system "$work"
  fi
}
trap clean_up EXIT

echo "check_fresh: Debian $suite from $mirror"
debootstrap --variant=minbase "$suite" "$fresh" "$mirror" >"$work/debootstrap.log" 2>&1 ||
  { tail -n 20 "$work/debootstrap.log" >&2; fail "debootstrap failed"; }
# apt in the new system reaches the mirror the way this machine's does.
apt-config dump --format '%F "%v";%n' Acquire::http::Proxy Acquire::https::Proxy >"$fresh/etc/apt/apt.conf.d/01proxy"
mountpoint -q "$fresh/proc" || mount -t proc proc "$fresh/proc" || echo "check_fresh: goes on without /proc"
git clone --quiet --no-hardlinks . "$fresh/root/mrvlc"

environment=(HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin)
for variable in http_proxy https_proxy no_proxy; do
  [ -z "${!variable-}" ] || environment+=("$variable=${!variable}")
done
for command in "${commands[@]}"; do
  echo "check_fresh: $command"
  chroot "$fresh" env -i "${environment[@]}" bash -c "cd /root/mrvlc && $command" || fail "'$command' failed"
done
echo "check_fresh: passed"
