// Microseconds per unit: the samples gathered, forward, backward, in one slot.

#include <benchmark/benchmark.h>

#include <memory>

#include "wide/train/made_up_samples.h"
#include "wide/train/torch_factory.h"

namespace wide::train {
namespace {

// Samples that cost nothing to read, so that the compute shows.
class BlankSamples final : public data::Dataset {
 public:
  explicit BlankSamples(SampleSpace space) : space_(std::move(space)) {}

  const SampleSpace& space() const override { return space_; }
  std::int64_t load_train(std::uint64_t index, std::span<float> out) const override {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>((index + i) % 7) - 3;
    return static_cast<std::int64_t>(index % space_.class_count);
  }
  std::int64_t load_eval(std::uint64_t index, std::span<float> out) const override {
    return load_train(index, out);
  }

 private:
  SampleSpace space_;
};

void compute_units(benchmark::State& state, const engine::Job& job, const SampleSpace& space) {
  const auto layout = engine::make_layout(job.model, space);
  const auto factory = make_torch_factory(job, layout, std::make_shared<BlankSamples>(space));
  const auto computer = factory->make_computer();
  BufferPool buffers;
  const auto weights = made_up_weights(layout, buffers);
  auto out = take_floats(buffers, layout.value_count());
  Unit unit = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(computer->gradient(weights, 0, unit, out.values));
    unit = (unit + 1) % job.train.units_per_step;
  }
}

void tiny_mlp(benchmark::State& state) {
  engine::Job job;
  job.model.kind = engine::ModelKind::kMlp;
  job.model.layers = {10, 20, 10};
  job.train.batch = static_cast<std::uint32_t>(state.range(0));
  compute_units(state, job, SampleSpace{1000, 0, {10}, 10, {}});
}
BENCHMARK(tiny_mlp)->Arg(32)->Arg(320)->Arg(1024)->Unit(benchmark::kMicrosecond);

void fashion_cnn(benchmark::State& state) {
  engine::Job job;
  job.model.batch_norm = state.range(0) != 0;
  job.model.dropout = state.range(0) != 0 ? 0.25f : 0.0f;
  compute_units(state, job, SampleSpace{60000, 0, {1, 28, 28}, 10, {}});
}
BENCHMARK(fashion_cnn)->ArgName("norm_and_dropout")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace wide::train
