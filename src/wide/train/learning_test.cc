// Does every kind of model learn a task that is easy for it, from its own genesis?

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "wide/train/subjects.h"

namespace wide::train {
namespace {

// Images whose class is how far apart their bright columns are; texts that count up from somewhere.
class EasySamples final : public data::Dataset {
 public:
  explicit EasySamples(SampleSpace space) : space_(std::move(space)) {}

  const SampleSpace& space() const override { return space_; }
  void load_train(std::uint64_t index, const data::SampleRoom& room) const override {
    const std::uint64_t label = index % space_.class_count;
    fill_made_up("noise" + std::to_string(index), 0.5f, 0.0f, room.values);
    for (std::size_t i = 0; i < room.values.size(); ++i) {
      if (i % 28 % (label + 2) == 0) room.values[i] += 2.0f;
    }
    for (std::size_t i = 0; i < room.tokens.size(); ++i) {
      room.tokens[i] = static_cast<std::int64_t>((label + i) % space_.class_count);
    }
    for (std::size_t i = 0; i < room.labels.size(); ++i) {
      const auto next = space_.tokens ? label + i + 1 : label;
      room.labels[i] = static_cast<std::int64_t>(next % space_.class_count);
    }
  }
  void load_eval(std::uint64_t index, const data::SampleRoom& room) const override {
    load_train(1000 + index, room);
  }

 private:
  SampleSpace space_;
};

// Kingma & Ba 2015, as plainly as it can be written.
class PlainAdam final {
 public:
  explicit PlainAdam(std::size_t count) : mean_(count), square_(count) {}

  void apply(std::span<const float> gradient, double rate, std::span<float> weights) {
    ++step_;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      mean_[i] = 0.9 * mean_[i] + 0.1 * gradient[i];
      square_[i] = 0.999 * square_[i] + 0.001 * gradient[i] * gradient[i];
      const double mean = mean_[i] / (1 - std::pow(0.9, step_));
      const double square = square_[i] / (1 - std::pow(0.999, step_));
      weights[i] -= static_cast<float>(rate * mean / (std::sqrt(square) + 1e-8));
    }
  }

 private:
  std::vector<double> mean_;
  std::vector<double> square_;
  int step_ = 0;
};

struct Learning {
  double first_loss = 0;
  double last_loss = 0;
  engine::EvalOutcome held_out;
};

// One unit per step.
Learning learn(Subject subject, Step steps) {
  subject.job.train.units_per_step = 1;
  const auto genesis = genesis_of(subject);
  const auto computer =
      make_torch_factory(subject.job, genesis.layout, std::make_shared<EasySamples>(subject.space),
                         subject.file)
          ->make_computer();
  const auto count = genesis.layout.parameter_count;
  std::vector<float> values = genesis.values;
  std::vector<float> out(values.size());
  BufferPool buffers;
  PlainAdam adam(count);
  Learning learning;
  const auto version = [&] {
    auto made = std::make_shared<engine::WeightsVersion>();
    made->values = take_floats(buffers, values.size());
    std::ranges::copy(values, made->values.values.begin());
    return made;
  };
  for (Step step = 0; step < steps; ++step) {
    learning.last_loss = computer->gradient(version(), step, 0, out) / subject.job.train.batch;
    if (step == 0) learning.first_loss = learning.last_loss;
    for (auto& slope : std::span(out).first(count)) slope /= subject.job.train.batch;
    adam.apply(std::span<const float>(out).first(count), 0.01, values);
    std::copy(out.begin() + static_cast<long>(count), out.end(),
              values.begin() + static_cast<long>(count));
  }
  learning.held_out = computer->evaluate(version(), 0, subject.space.eval_count);
  return learning;
}

class Learns : public testing::TestWithParam<std::string> {};

TEST_P(Learns, AnEasyTask) {
  const auto subject = make_subject(GetParam());
  const double chance = std::log(subject.space.class_count);

  const auto learning = learn(subject, subject.space.tokens ? 150 : 60);

  EXPECT_NEAR(learning.first_loss, chance, 1.2);
  EXPECT_LT(learning.last_loss, 0.6 * learning.first_loss);
  EXPECT_LT(learning.held_out.loss_sum / 40, 0.6 * chance);
  if (!subject.space.tokens) {
    EXPECT_GT(learning.held_out.correct_count, 20u);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Learns, testing::ValuesIn(kSubjects),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace wide::train
