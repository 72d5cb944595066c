#!/bin/bash
# Runs every libFuzzer target of the asan preset for a few seconds each, two at a time.
#
#   scripts/fuzz_briefly.sh [SECONDS [TARGET…]]
#
# Seeds come from tests/corpus/<target>/ and are never written; what a run finds is kept in
# build/asan/corpus/<target>/ for the next. A crash leaves its input in build/asan/crashes/ and
# prints how to repeat it.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-5}
shift || true

targets() {
  ninja -C build/asan build.ninja >/dev/null  # notices new files
  ninja -C build/asan -t targets all | sed -n 's|^bin/\([a-z0-9_]*_fuzz\): .*|\1|p' | sort -u
}

fuzz_one() {
  local target=$1 seconds=$2 log=build/asan/$1.log
  local folders=("build/asan/corpus/$target")
  mkdir -p "${folders[0]}" build/asan/crashes
  [ -d "tests/corpus/$target" ] && folders+=("tests/corpus/$target")
  if "build/asan/bin/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix="build/asan/crashes/$target-" "${folders[@]}" \
    >"$log" 2>&1; then
    sed -n "s/^stat::number_of_executed_units: */$target: inputs tried /p" "$log"
  else
    tail -n 60 "$log"
    echo "$target failed; to repeat: build/asan/bin/$target build/asan/crashes/$target-…"
    return 1
  fi
}

if [ "${1:-}" = --one ]; then
  fuzz_one "$2" "$seconds"
  exit
fi
mapfile -t names < <(if [ $# -gt 0 ]; then printf '%s\n' "$@"; else targets; fi)
if [ ${#names[@]} -eq 0 ]; then
  echo "no fuzz targets (files named *_fuzz.cc)" >&2
  exit 1
fi
for folder in tests/corpus/*/; do
  find src/wide -name "$(basename "$folder").cc" | grep -q . ||
    echo "warning: $folder is no target's name, so its seeds are not used" >&2
done
ninja -C build/asan "${names[@]}"
printf '%s\n' "${names[@]}" | xargs -P 2 -I{} scripts/fuzz_briefly.sh "$seconds" --one {}
