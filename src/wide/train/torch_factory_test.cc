// A unit's gradient is a pure function of (weights, job, step, unit): the same bits whoever
// computes it, when, and into which memory.

#include "wide/train/torch_factory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "wide/base/digest.h"
#include "wide/train/made_up_samples.h"
#include "wide/train/rerun.h"

namespace wide::train {
namespace {

using engine::ModelKind;

engine::Job job_of(ModelKind kind, float dropout = 0.25f) {
  engine::Job job;
  job.model.kind = kind;
  job.model.layers = {784, 32, 16, 10};
  job.model.channels = {8, 16};
  job.model.hidden = 32;
  job.model.batch_norm = true;
  job.model.dropout = dropout;
  job.train.batch = 13;
  job.train.units_per_step = 7;
  return job;
}

SampleSpace space_of_images() {
  SampleSpace space;
  space.train_count = 100;
  space.eval_count = 40;
  space.sample_shape = {1, 28, 28};
  space.class_count = 10;
  return space;
}

// What one slot needs, over the same weights each time.
class Bench final {
 public:
  explicit Bench(engine::Job job, bool same_sample = false)
      : job_(std::move(job)),
        layout_(engine::make_layout(job_.model, space_of_images())),
        factory_(make_torch_factory(
            job_, layout_, std::make_shared<MadeUpSamples>(space_of_images(), same_sample))),
        weights_(made_up_weights(layout_, buffers_)),
        computer_(factory_->make_computer()) {}

  std::vector<float> gradient(Step step, Unit unit) {
    std::vector<float> out(layout_.value_count());
    computer_->gradient(weights_, step, unit, out);
    return out;
  }

  engine::Job job_;
  engine::Layout layout_;
  BufferPool buffers_;
  std::unique_ptr<engine::ComputerFactory> factory_;
  engine::Weights weights_;
  std::unique_ptr<engine::UnitComputer> computer_;
};

std::string hash(std::span<const float> values) { return sha256(std::as_bytes(values)).hex(); }

// Every gradient of one step, by both models: what another thread or process must repeat.
std::string hash_of_step() {
  std::string text;
  for (const auto kind : {ModelKind::kMlp, ModelKind::kCnn}) {
    Bench bench(job_of(kind));
    for (Unit unit = 0; unit < bench.job_.train.units_per_step; ++unit) {
      text += hash(bench.gradient(3, unit));
    }
  }
  return sha256(text).hex();
}

class UnitGradient : public testing::TestWithParam<ModelKind> {};

TEST_P(UnitGradient, IsTheSameTwice) {
  Bench bench(job_of(GetParam()));

  EXPECT_EQ(bench.gradient(3, 2), bench.gradient(3, 2));
}

TEST_P(UnitGradient, DoesNotDependOnWhatWasComputedBefore) {
  Bench busy(job_of(GetParam()));
  for (Unit unit = 0; unit < 7; ++unit) busy.gradient(0, unit);
  busy.computer_->evaluate(busy.weights_, 0, 40);
  Bench fresh(job_of(GetParam()));

  EXPECT_EQ(hash(busy.gradient(1, 4)), hash(fresh.gradient(1, 4)));
}

TEST_P(UnitGradient, DoesNotDependOnWhereItIsWritten) {
  Bench bench(job_of(GetParam()));
  const auto expected = hash(bench.gradient(2, 5));
  std::vector<float> room(bench.layout_.value_count() + 64);

  for (std::size_t shift = 0; shift < 64; shift += 3) {
    const auto out = std::span(room).subspan(shift, bench.layout_.value_count());
    bench.computer_->gradient(bench.weights_, 2, 5, out);
    EXPECT_EQ(hash(out), expected) << shift;
  }
}

TEST_P(UnitGradient, DoesNotDependOnWhereTheWeightsLie) {
  Bench bench(job_of(GetParam()));
  const auto expected = hash(bench.gradient(2, 5));

  // More places than views are kept for, then the first again.
  std::vector<float> out(bench.layout_.value_count());
  const auto count = bench.layout_.value_count();
  auto moved = std::make_shared<engine::WeightsVersion>();
  auto room = take_floats(bench.buffers_, count + 40);
  for (std::size_t shift = 0; shift <= 40; ++shift) {
    moved->values = Floats{room.owner, room.values.subspan(shift % 40, count)};
    std::ranges::copy(bench.weights_->values.values, moved->values.values.begin());
    bench.computer_->gradient(moved, 2, 5, out);
    EXPECT_EQ(hash(out), expected) << shift;
  }
}

TEST_P(UnitGradient, FollowsNewWeightsInTheSamePlace) {
  Bench bench(job_of(GetParam()));
  const auto before = hash(bench.gradient(2, 5));
  const auto first = bench.layout_.tensors.front();

  bench.weights_->values.values[first.offset] += 0.5f;
  const auto changed = hash(bench.gradient(2, 5));
  bench.weights_->values.values[first.offset] -= 0.5f;

  EXPECT_NE(changed, before);
  EXPECT_EQ(hash(bench.gradient(2, 5)), before);
}

TEST_P(UnitGradient, LeavesTheWeightsAlone) {
  Bench bench(job_of(GetParam()));
  const auto before = hash(bench.weights_->values.values);

  bench.gradient(0, 0);
  bench.computer_->evaluate(bench.weights_, 0, 40);

  EXPECT_EQ(hash(bench.weights_->values.values), before);
}

TEST_P(UnitGradient, HasNoNegativeZero) {
  Bench bench(job_of(GetParam()));

  const auto out = bench.gradient(0, 1);

  for (const float value : out) EXPECT_NE(std::bit_cast<std::uint32_t>(value), 0x80000000u);
}

TEST_P(UnitGradient, DrawsDropoutByStepAndUnit) {
  // One sample repeated: units differ by their masks alone.
  Bench thinned(job_of(GetParam()), /*same_sample=*/true);
  Bench whole(job_of(GetParam(), /*dropout=*/0), /*same_sample=*/true);

  EXPECT_EQ(hash(whole.gradient(0, 0)), hash(whole.gradient(1, 3)));
  EXPECT_NE(hash(thinned.gradient(0, 0)), hash(thinned.gradient(0, 1)));
  EXPECT_NE(hash(thinned.gradient(0, 0)), hash(thinned.gradient(1, 0)));
}

TEST_P(UnitGradient, StartsBuffersFromTheWeightsEveryTime) {
  Bench bench(job_of(GetParam()));
  const auto buffers_of = [&](std::vector<float> out) {
    return std::vector<float>(out.begin() + static_cast<long>(bench.layout_.parameter_count),
                              out.end());
  };
  const auto old_values = bench.weights_->values.values.subspan(bench.layout_.parameter_count);

  const auto first = buffers_of(bench.gradient(0, 0));
  const auto other = buffers_of(bench.gradient(0, 1));
  const auto again = buffers_of(bench.gradient(0, 0));

  EXPECT_EQ(first, again);
  EXPECT_NE(first, other);
  EXPECT_NE(first, std::vector<float>(old_values.begin(), old_values.end()));
}

TEST_P(UnitGradient, WalksSamplesAcrossSteps) {
  // Units of step 1 go on where step 0 ended: unit (1, 0) is unit (0, 7) of a longer step.
  auto longer_job = job_of(GetParam(), 0);
  longer_job.train.units_per_step = 14;
  Bench shorter(job_of(GetParam(), 0));
  Bench longer(longer_job);

  EXPECT_EQ(hash(shorter.gradient(1, 0)), hash(longer.gradient(0, 7)));
  EXPECT_NE(hash(shorter.gradient(1, 0)), hash(shorter.gradient(0, 0)));
}

TEST_P(UnitGradient, EvaluatesInPartsWithTheSameAnswers) {
  Bench bench(job_of(GetParam()));

  const auto all = bench.computer_->evaluate(bench.weights_, 0, 40);
  const auto left = bench.computer_->evaluate(bench.weights_, 0, 17);
  const auto right = bench.computer_->evaluate(bench.weights_, 17, 23);

  EXPECT_EQ(left.correct_count + right.correct_count, all.correct_count);
  EXPECT_NEAR(left.loss_sum + right.loss_sum, all.loss_sum, 1e-5 * all.loss_sum);
}

INSTANTIATE_TEST_SUITE_P(Models, UnitGradient, testing::Values(ModelKind::kMlp, ModelKind::kCnn),
                         [](const auto& tested) {
                           return tested.param == ModelKind::kMlp ? "mlp" : "cnn";
                         });

TEST(UnitGradients, AreTheSameOnEveryThread) {
  const auto expected = hash_of_step();
  printf("hash %s\n", expected.c_str());  // for AreTheSameInAnotherProcess
  std::array<std::string, 6> found;

  std::vector<std::jthread> slots;
  for (auto& result : found) slots.emplace_back([&result] { result = hash_of_step(); });
  slots.clear();

  EXPECT_THAT(found, testing::Each(expected));
}

TEST(UnitGradients, AreTheSameInAnotherProcess) {
  EXPECT_EQ(answer_of_rerun("UnitGradients.AreTheSameOnEveryThread", "hash "), hash_of_step());
}

// Local nodes fork from one process that has libtorch loaded.
TEST(UnitGradients, AreTheSameInAForkedChild) {
  const auto expected = hash_of_step();

  const pid_t child = fork();
  if (child == 0) _exit(hash_of_step() == expected ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);

  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(TorchFactory, NamesItsLibraries) {
  Bench bench(job_of(ModelKind::kMlp));

  EXPECT_THAT(bench.factory_->libraries(), testing::StartsWith("libtorch "));
  EXPECT_THAT(bench.factory_->libraries(), testing::Not(testing::HasSubstr("/")));
}

}  // namespace
}  // namespace wide::train
