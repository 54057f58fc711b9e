#!/usr/bin/env bash
# Makes the Debian package: build/package/mrvlc_VERSION_ARCH.deb. Installs what is missing to build, builds without the tests.
# The same commit gives the same file.
#   scripts/package.sh [--skip-install]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
case ${1-} in
  '') scripts/install-deps.sh --build-only dpkg-dev ;;
  --skip-install) ;;
  -h | --help) sed -n '2,4s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
  *) echo "package: unknown option $1" >&2; exit 2 ;;
esac

cmake --preset release >/dev/null
cmake --build --preset release --parallel "$(nproc)" --target mrvlc_installed
mkdir -p build/package
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) cpack --config build/CPackConfig.cmake -B "$PWD/build/package"
rm -rf build/package/_CPack_Packages
ls build/package/*.deb
