#include "wide/engine/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace wide::engine {
namespace {

std::vector<float> random_floats(std::size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(engine);
  return values;
}

TEST(GradientNorm, MatchesLongDoubleSum) {
  for (const std::size_t count : {0, 1, 7, 8, 4095, 4096, 4097, 12289, 100003}) {
    const auto values = random_floats(count, 5);
    long double sum = 0;
    for (const float value : values) sum += static_cast<long double>(value) * value;

    EXPECT_NEAR(gradient_norm(values), static_cast<double>(std::sqrt(sum)), 1e-9) << count;
  }
}

TEST(GradientNorm, KeepsSmallValuesBesideLargeOnes) {
  std::vector<float> values(3 * 4096, 1e-3f);
  values[0] = 1e4f;

  const double expected = std::sqrt(1e8 + (3 * 4096 - 1) * std::pow(double{1e-3f}, 2));

  EXPECT_NEAR(gradient_norm(values), expected, 1e-10);
}

TEST(LearningRate, WarmsUpLinearly) {
  Train train;
  train.lr = 0.5;
  train.warmup_steps = 4;

  EXPECT_DOUBLE_EQ(learning_rate(train, 0, 100), 0.125);
  EXPECT_DOUBLE_EQ(learning_rate(train, 1, 100), 0.25);
  EXPECT_DOUBLE_EQ(learning_rate(train, 3, 100), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate(train, 99, 100), 0.5);
}

TEST(LearningRate, FollowsCosineToZero) {
  Train train;
  train.lr = 2;
  train.schedule = Schedule::kCosine;

  EXPECT_DOUBLE_EQ(learning_rate(train, 0, 100), 2);
  EXPECT_NEAR(learning_rate(train, 25, 100), 1 + std::numbers::sqrt2 / 2, 1e-12);
  EXPECT_NEAR(learning_rate(train, 50, 100), 1, 1e-12);
  EXPECT_NEAR(learning_rate(train, 100, 100), 0, 1e-12);
  EXPECT_NEAR(learning_rate(train, 150, 100), 0, 1e-12);
}

TEST(LearningRate, StaysUpWhereNoEndIsKnown) {
  Train train;
  train.schedule = Schedule::kCosine;

  EXPECT_DOUBLE_EQ(learning_rate(train, 1'000'000, 0), train.lr);
}

TEST(LearningRate, DecaysInSteps) {
  Train train;
  train.lr = 1;
  train.schedule = Schedule::kStep;
  train.decay_every_steps = 10;
  train.decay_rate = 0.5;

  EXPECT_DOUBLE_EQ(learning_rate(train, 9, 0), 1);
  EXPECT_DOUBLE_EQ(learning_rate(train, 10, 0), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate(train, 35, 0), 0.125);
}

TEST(StepScalars, ClipOnlyLongGradients) {
  Train train;
  train.clip_norm = 1;
  const std::vector<float> brief = {0.3f, 0.4f};
  const std::vector<float> lengthy = {3, 4};

  EXPECT_EQ(step_scalars(train, 0, 0, brief).clip_factor, 1.0f);
  EXPECT_EQ(step_scalars(train, 0, 0, lengthy).clip_factor, static_cast<float>(1 / (5 + 1e-6)));
}

TEST(StepScalars, CorrectAdamsBias) {
  Train train;
  train.lr = 0.1;
  const auto first = step_scalars(train, 0, 0, {});
  const auto late = step_scalars(train, 100'000, 0, {});

  EXPECT_FLOAT_EQ(first.step_size, 1.0f);  // 0.1 / (1 - 0.9)
  EXPECT_FLOAT_EQ(first.second_root, std::sqrt(0.001f));
  EXPECT_FLOAT_EQ(first.decay_factor, 0.999f);
  EXPECT_FLOAT_EQ(late.step_size, 0.1f);
  EXPECT_FLOAT_EQ(late.second_root, 1.0f);
}

TEST(StatePerParameter, DependsOnRule) {
  Train train;
  EXPECT_EQ(state_per_parameter(train), 2u);
  train.optimizer = OptimizerKind::kSgd;
  EXPECT_EQ(state_per_parameter(train), 0u);
  train.momentum = 0.9;
  EXPECT_EQ(state_per_parameter(train), 1u);
}

TEST(ApplyUpdate, DoesMomentumByHand) {
  Train train;
  train.optimizer = OptimizerKind::kSgd;
  train.momentum = 0.5;
  train.weight_decay = 0;
  const StepScalars scalars{.lr = 0.25f, .step_size = 0.25f};
  std::vector<float> weights = {1};
  std::vector<float> state = {4};
  const std::vector<float> gradient = {2};

  apply_update(train, scalars, gradient, weights, weights, state);

  EXPECT_EQ(state[0], 4.0f);    // 0.5 · 4 + 2
  EXPECT_EQ(weights[0], 0.0f);  // 1 - 0.25 · 4
}

TEST(ApplyUpdate, LeavesOldWeightsAlone) {
  Train train;
  const auto gradient = random_floats(100, 1);
  const auto from = random_floats(100, 2);
  const auto kept = from;
  std::vector<float> to(100), state(200);

  apply_update(train, step_scalars(train, 0, 0, gradient), gradient, from, to, state);

  EXPECT_EQ(from, kept);
  EXPECT_NE(to, from);
}

TEST(DivideRoot, TakesMeanOverSamplesAndUnits) {
  Job job;
  job.train.batch = 4;
  job.train.units_per_step = 2;
  std::vector<float> root = {8, 16, 3};

  divide_root(job, 2, root);

  EXPECT_EQ(root, (std::vector<float>{1, 2, 1.5f}));
}

}  // namespace
}  // namespace wide::engine
