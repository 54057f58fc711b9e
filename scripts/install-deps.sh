#!/usr/bin/env bash
# Installs the Debian packages of third_party/packages.txt that are missing, and only those.
#
#   scripts/install-deps.sh [--build-only] [--services] [--yes] [PACKAGE...]
#
# --build-only leaves out the packages that only tests use; --services, as $CI, takes those that start servers too; each PACKAGE is
# wanted besides. On a terminal it asks before it installs; not with --yes or $CI, nor where stdin is no terminal.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
list=$root/third_party/packages.txt
kinds='^(build|test)$'
[ -z "${CI:-}" ] || kinds='^(build|test|service)$'
extra=()
ask=yes
[ -t 0 ] && [ -z "${CI:-}" ] || ask=no
for argument in "$@"; do
  case $argument in
    --build-only) kinds='^build$' ;;
    --services) kinds='^(build|test|service)$' ;;
    --yes) ask=no ;;
    -h | --help) sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    -*) echo "install-deps: unknown option $argument" >&2; exit 2 ;;
    *) extra+=("$argument") ;;
  esac
done

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "install-deps: needs Debian's apt-get; on another system install the equivalents of $list" >&2
  exit 1
fi

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

mapfile -t wanted < <(awk -v kinds="$kinds" '$1 ~ kinds { print $2 }' "$list")
wanted+=(${extra[@]+"${extra[@]}"})
missing=()
for package in "${wanted[@]}"; do
  installed "$package" || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "install-deps: all ${#wanted[@]} packages are there"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "install-deps: run as root or install sudo; missing: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
apt() { ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@"; }

echo "install-deps: ${#missing[@]} of ${#wanted[@]} packages are missing and will be installed with apt-get:"
printf '  %s\n' "${missing[@]}"
if [ "$ask" = yes ]; then
  read -r -p "install-deps: install them, with what they depend on? [y/N] " answer || answer=
  case $answer in
    [yY] | [yY][eE][sS]) ;;
    *) echo "install-deps: nothing was installed" >&2; exit 1 ;;
  esac
fi
apt update
apt install --no-install-recommends "${missing[@]}"
