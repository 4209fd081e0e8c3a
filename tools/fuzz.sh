#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every libFuzzer program of a build folder for some seconds, from small files of every
# kind that the readers know. What was found stays in FOLDER/corpus for the next time.
# usage: tools/fuzz.sh FOLDER READ_MANY SECONDS
set -eu
folder=$1
read_many=$2
seconds=$3
seeds=$folder/seeds
rm -rf "$seeds"
mkdir -p "$seeds" "$folder/found"
"$read_many" --make "$seeds" >/dev/null
# The strictest seeds: what a person would write by hand to break a reader.
printf '2 3\na 1 2 3\nb 4 5 6\n' >"$seeds/hand.txt"
printf 'a b c d\n' >"$seeds/hand.words"
printf 'dim = 5\n[train]\nepochs = 2\n' >"$seeds/hand.toml"
printf ': section\na b c d\n' >"$seeds/hand.questions"
count=0
for program in "$folder"/*_fuzz; do
  [ -x "$program" ] || continue
  name=$(basename "$program")
  corpus=$folder/corpus/$name
  mkdir -p "$corpus"
  echo "fuzz: $name for $seconds s"
  "$program" -max_total_time="$seconds" -max_len=65536 -timeout=10 -rss_limit_mb=2048 \
    -verbosity=0 -print_final_stats=1 -artifact_prefix="$folder/found/$name-" \
    "$corpus" "$seeds" >"$folder/$name.log" 2>&1 || {
    tail -n 60 "$folder/$name.log"
    echo "fuzz: $name failed; its input is in $folder/found" >&2
    exit 1
  }
  grep -E 'number_of_executed_units|average_exec' "$folder/$name.log" || true
  count=$((count + 1))
done
if [ "$count" = 0 ]; then
  echo "fuzz: no program in $folder" >&2
  exit 1
fi
echo "fuzz: $count programs, no crash, no hang"
