// Microseconds per unit: the samples gathered, forward, backward, in one slot. plain_… is the same
// model and batch in a loop of plain torch::nn, for comparison.

#include <benchmark/benchmark.h>

#include <memory>

#include "wide/train/compute_thread.h"
#include "wide/train/made_up_samples.h"
#include "wide/train/plain_models.h"
#include "wide/train/torch_factory.h"

namespace wide::train {
namespace {

// Samples that cost nothing to read, so that the compute shows.
class BlankSamples final : public data::Dataset {
 public:
  explicit BlankSamples(SampleSpace space) : space_(std::move(space)) {}

  const SampleSpace& space() const override { return space_; }
  void load_train(std::uint64_t index, const data::SampleRoom& room) const override {
    const auto values = room.values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>((index + i) % 7) - 3;
    }
    for (std::size_t i = 0; i < room.tokens.size(); ++i) room.tokens[i] = token(index + i);
    for (std::size_t i = 0; i < room.labels.size(); ++i) room.labels[i] = token(index + i + 1);
  }
  void load_eval(std::uint64_t index, const data::SampleRoom& room) const override {
    load_train(index, room);
  }

 private:
  std::int64_t token(std::uint64_t index) const {
    return static_cast<std::int64_t>(index * 7 % space_.class_count);
  }
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
  state.SetItemsProcessed(state.iterations() * job.train.batch);
}

template <class Model>
void compute_plainly(benchmark::State& state, Model model, const torch::Tensor& batch,
                     const torch::Tensor& labels) {
  model.train();
  for (auto _ : state) benchmark::DoNotOptimize(plain_step(model, batch, labels));
  state.SetItemsProcessed(state.iterations() * batch.size(0));
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

engine::Job resnet_job(std::int64_t width) {
  engine::Job job;
  job.model.kind = engine::ModelKind::kResnet;
  job.model.depth = 8;
  job.model.width = static_cast<std::uint32_t>(width);
  return job;
}

void resnet(benchmark::State& state) {
  compute_units(state, resnet_job(state.range(0)), SampleSpace{60000, 0, {1, 28, 28}, 10, {}});
}
BENCHMARK(resnet)->Arg(8)->Arg(16)->Unit(benchmark::kMicrosecond);

void plain_resnet(benchmark::State& state) {
  prepare_compute_thread();
  const auto job = resnet_job(state.range(0));
  compute_plainly(state, PlainResnet(job.model, 1, 10), torch::rand({job.train.batch, 1, 28, 28}),
                  torch::randint(10, {job.train.batch}));
}
BENCHMARK(plain_resnet)->Arg(8)->Arg(16)->Unit(benchmark::kMicrosecond);

engine::Job gpt_job(bool dropout) {
  engine::Job job;
  job.model.kind = engine::ModelKind::kGpt;
  job.model.width = 128;
  job.model.dropout = dropout ? 0.1f : 0.0f;
  job.train.batch = 8;
  return job;
}

void gpt(benchmark::State& state) {
  SampleSpace space{60000, 0, {128}, 256, {}};
  space.tokens = true;
  space.target_count = 128;
  compute_units(state, gpt_job(state.range(0) != 0), space);
}
BENCHMARK(gpt)->ArgName("dropout")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

void plain_gpt(benchmark::State& state) {
  prepare_compute_thread();
  const auto job = gpt_job(state.range(0) != 0);
  compute_plainly(state, PlainGpt(job.model), torch::randint(256, {job.train.batch, 128}),
                  torch::randint(256, {job.train.batch * 128}));
}
BENCHMARK(plain_gpt)->ArgName("dropout")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace wide::train
