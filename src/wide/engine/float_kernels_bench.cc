#include <benchmark/benchmark.h>

#include <vector>

#include "wide/engine/optimizer.h"
#include "wide/engine/sum_tree.h"

namespace wide::engine {
namespace {

void per_element(benchmark::State& state) {
  state.counters["s/element"] =
      benchmark::Counter(static_cast<double>(state.iterations() * state.range(0)),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void add(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  std::vector<float> into(count, 1.0f), from(count, 1e-6f);
  for (auto _ : state) {
    add_floats(into, from);
    benchmark::DoNotOptimize(into.data());
    benchmark::ClobberMemory();
  }
  per_element(state);
}
BENCHMARK(add)->Arg(430)->Arg(200'000)->Arg(1'000'000);

void update(benchmark::State& state, OptimizerKind kind) {
  const auto count = static_cast<std::size_t>(state.range(0));
  Train train;
  train.optimizer = kind;
  std::vector<float> gradient(count, 0.1f), from(count, 1.0f), to(count);
  std::vector<float> moments(count * state_per_parameter(train));
  const auto scalars = step_scalars(train, 0, 0, gradient);
  for (auto _ : state) {
    apply_update(train, scalars, gradient, from, to, moments);
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  per_element(state);
}
BENCHMARK_CAPTURE(update, adamw, OptimizerKind::kAdamW)->Arg(430)->Arg(200'000)->Arg(1'000'000);
BENCHMARK_CAPTURE(update, sgd, OptimizerKind::kSgd)->Arg(430)->Arg(1'000'000);

void norm(benchmark::State& state) {
  const std::vector<float> gradient(static_cast<std::size_t>(state.range(0)), 0.1f);
  for (auto _ : state) benchmark::DoNotOptimize(gradient_norm(gradient));
  per_element(state);
}
BENCHMARK(norm)->Arg(1'000'000);

}  // namespace
}  // namespace wide::engine
