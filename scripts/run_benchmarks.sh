#!/bin/bash
# Builds and runs every micro-benchmark (files named *_bench.cc) of the bench preset.
#
#   scripts/run_benchmarks.sh [FILTER]      FILTER: Google Benchmark's regular expression
#
# Timings on a shared machine are noisy: compare ratios within one run, never across runs.
set -euo pipefail
cd "$(dirname "$0")/.."

ninja -C build/bench build.ninja >/dev/null  # notices new files
mapfile -t names < <(ninja -C build/bench -t targets all |
  sed -n 's|^bin/\([a-z0-9_]*_bench\): .*|\1|p' | sort -u)
if [ ${#names[@]} -eq 0 ]; then
  echo "no micro-benchmarks yet (they are files named *_bench.cc beside what they measure)"
  exit
fi
ninja -C build/bench "${names[@]}"
for name in "${names[@]}"; do
  echo "== $name"
  "build/bench/bin/$name" --benchmark_filter="${1:-.}" --benchmark_repetitions=7 \
    --benchmark_report_aggregates_only=true
done
