#include <benchmark/benchmark.h>

#include "wide/engine/sample_order.h"

namespace wide::engine {
namespace {

void walk(benchmark::State& state, const SampleOrder& order) {
  std::uint64_t position = 0;
  for (auto _ : state) benchmark::DoNotOptimize(order.sample_at(position++));
}

// 16385 is the worst size: a quarter of the network's values fall inside.
void sample_at(benchmark::State& state) {
  walk(state, SampleOrder(42, static_cast<std::uint64_t>(state.range(0))));
}
BENCHMARK(sample_at)->Arg(1000)->Arg(16385)->Arg(60000);

// So many chunks of so many samples, in windows of 256 chunks: two permutations per sample. 4097
// chunks of 257 are the worst for both: a quarter of either network's values fall inside.
void sample_in_window(benchmark::State& state) {
  const auto chunks = static_cast<std::uint64_t>(state.range(0));
  const auto chunk_samples = static_cast<std::uint64_t>(state.range(1));
  walk(state, SampleOrder(42, chunks * chunk_samples, {chunk_samples, 256}));
}
BENCHMARK(sample_in_window)->Args({4096, 256})->Args({4097, 257})->Args({65536, 1000});

}  // namespace
}  // namespace wide::engine
