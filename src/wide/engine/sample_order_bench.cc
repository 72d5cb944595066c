#include <benchmark/benchmark.h>

#include "wide/engine/sample_order.h"

namespace wide::engine {
namespace {

// 16385 is the worst size: a quarter of the network's values fall inside.
void sample_at(benchmark::State& state) {
  const SampleOrder order(42, static_cast<std::uint64_t>(state.range(0)));
  std::uint64_t position = 0;
  for (auto _ : state) benchmark::DoNotOptimize(order.sample_at(position++));
}
BENCHMARK(sample_at)->Arg(1000)->Arg(16385)->Arg(60000);

}  // namespace
}  // namespace wide::engine
