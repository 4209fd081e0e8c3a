#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy (settings in .clang-tidy) over the sources of a build folder.
# usage: tools/tidy.sh BUILD_FOLDER JOBS [FILE_PATTERN...]
set -eu
build=$1
jobs=$2
shift 2
# Tests may compare bits, build absurd strings and name things after what they test.
[ $# -gt 0 ] || set -- "$PWD/(src|cli|tests|bench)/(?!.*_test\.cc)"
log=$build/tidy.log
if run-clang-tidy -quiet -p "$build" -j "$jobs" -header-filter="$PWD/(include|src|cli)/" \
  -extra-arg=-Wno-unknown-warning-option "$@" \
  >"$log" 2>&1; then
  echo "clang-tidy: $(grep -c '^clang-tidy' "$log") files, no findings"
else
  grep -E 'warning:|error:' "$log" | sort -u || cat "$log"
  echo "clang-tidy: findings; all of it is in $log" >&2
  exit 1
fi
