#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that a make target needs, and only those that are missing.
# usage: tools/setup.sh build|demo|deb|test|check|bench
set -eu

build="make g++ cmake ninja-build pkg-config ccache libfmt-dev libtomlplusplus-dev
  nlohmann-json3-dev libhwy-dev libeigen3-dev zlib1g-dev libzstd-dev liblzma-dev libbz2-dev libxxhash-dev
  libhnswlib-dev libutf8proc-dev libsqlite3-dev libpq-dev libgtest-dev"
test="$build wordnet-base python3 python3-numpy python3-gensim fasttext clang-format zstd postgresql dpkg-dev file
  binutils"
case "${1:-}" in
  build) packages=$build ;;
  demo) packages="$build wordnet-base" ;;
  deb) packages="$build dpkg-dev file" ;;
  test) packages=$test ;;
  check) packages="$test clang clang-tidy libclang-rt-14-dev" ;;
  bench) packages="$build python3 python3-numpy python3-gensim python3-sklearn python3-xgboost fasttext zstd
  sqlite3 libopenblas0" ;;
  *) echo "usage: tools/setup.sh build|demo|deb|test|check|bench" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
  echo "setup: this is not a Debian system; install these yourself, then build with" \
    "cmake --preset release && cmake --build build/release:" $packages >&2
  exit 1
fi

# Prints those of the packages that are not installed.
missing() {
  # dpkg-query fails when one is unknown, and lists the others all the same.
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' $packages 2>/dev/null || true)
  for package in $packages; do
    echo "$installed" | grep -qx "installed $package" || echo "$package"
  done
}

wanted=$(missing)
[ -n "$wanted" ] || exit 0
if [ "$(id -u)" = 0 ]; then
  as_root=env
elif command -v sudo >/dev/null; then
  as_root="sudo env"
else
  echo "setup: these packages are missing, and installing needs root or sudo:" $wanted >&2
  exit 1
fi
echo "setup: installing" $wanted >&2
# A broken source of another program must not stop us; whether ours arrived is checked below.
$as_root DEBIAN_FRONTEND=noninteractive apt-get -q update ||
  echo "setup: apt-get update failed; trying with the package lists there are" >&2
$as_root DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install $wanted
wanted=$(missing)
if [ -n "$wanted" ]; then
  echo "setup: still missing:" $wanted >&2
  exit 1
fi
