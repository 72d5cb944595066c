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

#include "wide/train/rerun.h"
#include "wide/train/subjects.h"

namespace wide::train {
namespace {

// Gradients of one step, by every kind of model: what another thread or process must repeat.
std::string hash_of_step() {
  std::string text;
  for (const auto& name : kSubjects) {
    Bench bench(make_subject(name));
    for (const Unit unit : {0u, 5u}) text += hash(bench.gradient(3, unit));
  }
  return sha256(text).hex();
}

class UnitGradient : public testing::TestWithParam<std::string> {};
class ThinnedUnit : public UnitGradient {};
class BufferedUnit : public UnitGradient {};

TEST_P(UnitGradient, IsTheSameTwice) {
  Bench bench(make_subject(GetParam()));

  EXPECT_EQ(bench.gradient(3, 2), bench.gradient(3, 2));
}

TEST_P(UnitGradient, DoesNotDependOnWhatWasComputedBefore) {
  Bench busy(make_subject(GetParam()));
  for (Unit unit = 0; unit < 7; ++unit) busy.gradient(0, unit);
  busy.computer_->evaluate(busy.weights_, 0, 40);
  Bench fresh(make_subject(GetParam()));

  EXPECT_EQ(hash(busy.gradient(1, 4)), hash(fresh.gradient(1, 4)));
}

TEST_P(UnitGradient, DoesNotDependOnWhereItIsWritten) {
  Bench bench(make_subject(GetParam()));
  const auto expected = hash(bench.gradient(2, 5));
  std::vector<float> room(bench.layout_.value_count() + 64);

  for (std::size_t shift = 0; shift < 64; shift += 7) {
    const auto out = std::span(room).subspan(shift, bench.layout_.value_count());
    bench.computer_->gradient(bench.weights_, 2, 5, out);
    EXPECT_EQ(hash(out), expected) << shift;
  }
}

TEST_P(UnitGradient, DoesNotDependOnWhereTheWeightsLie) {
  Bench bench(make_subject(GetParam()));
  const auto expected = hash(bench.gradient(2, 5));

  // More places than views are kept for, then the first again.
  std::vector<float> out(bench.layout_.value_count());
  const auto count = bench.layout_.value_count();
  auto moved = std::make_shared<engine::WeightsVersion>();
  auto room = take_floats(bench.buffers_, count + 33);
  for (std::size_t shift = 0; shift <= 33; ++shift) {
    moved->values = Floats{room.owner, room.values.subspan(shift % 33, count)};
    std::ranges::copy(bench.weights_->values.values, moved->values.values.begin());
    bench.computer_->gradient(moved, 2, 5, out);
    EXPECT_EQ(hash(out), expected) << shift;
  }
}

TEST_P(UnitGradient, FollowsNewWeightsInTheSamePlace) {
  Bench bench(make_subject(GetParam()));
  const auto before = hash(bench.gradient(2, 5));
  const auto values = bench.weights_->values;
  const auto place =
      values.values.begin() + static_cast<long>(bench.layout_.tensors.front().offset);

  // Two versions take turns in one buffer; even the record of a version may get its old address.
  const auto next_version = [&](float change) {
    *place += change;
    bench.weights_.reset();
    bench.weights_ = std::make_shared<engine::WeightsVersion>(engine::WeightsVersion{0, 0, values});
    return hash(bench.gradient(2, 5));
  };

  EXPECT_NE(next_version(0.5f), before);
  EXPECT_EQ(next_version(-0.5f), before);
}

TEST_P(UnitGradient, LeavesTheWeightsAlone) {
  Bench bench(make_subject(GetParam()));
  const auto before = hash(bench.weights_->values.values);

  bench.gradient(0, 0);
  bench.computer_->evaluate(bench.weights_, 0, 40);

  EXPECT_EQ(hash(bench.weights_->values.values), before);
}

TEST_P(UnitGradient, HasNoNegativeZero) {
  Bench bench(make_subject(GetParam()));

  const auto out = bench.gradient(0, 1);

  for (const float value : out) EXPECT_NE(std::bit_cast<std::uint32_t>(value), 0x80000000u);
}

TEST_P(ThinnedUnit, DrawsDropoutByStepAndUnit) {
  // One sample repeated: units differ by their masks alone.
  Bench thinned(make_subject(GetParam()), /*same_sample=*/true);
  Bench whole(make_subject(GetParam(), /*dropout=*/false), /*same_sample=*/true);

  EXPECT_EQ(hash(whole.gradient(0, 0)), hash(whole.gradient(1, 3)));
  EXPECT_NE(hash(thinned.gradient(0, 0)), hash(thinned.gradient(0, 1)));
  EXPECT_NE(hash(thinned.gradient(0, 0)), hash(thinned.gradient(1, 0)));
}

TEST_P(BufferedUnit, StartsBuffersFromTheWeightsEveryTime) {
  Bench bench(make_subject(GetParam()));
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
  auto longer_subject = make_subject(GetParam(), /*dropout=*/false);
  longer_subject.job.train.units_per_step = 14;
  Bench shorter(make_subject(GetParam(), /*dropout=*/false));
  Bench longer(longer_subject);

  EXPECT_EQ(hash(shorter.gradient(1, 0)), hash(longer.gradient(0, 7)));
  EXPECT_NE(hash(shorter.gradient(1, 0)), hash(shorter.gradient(0, 0)));
}

TEST_P(UnitGradient, EvaluatesInPartsWithTheSameAnswers) {
  Bench bench(make_subject(GetParam()));

  const auto all = bench.computer_->evaluate(bench.weights_, 0, 40);
  const auto left = bench.computer_->evaluate(bench.weights_, 0, 17);
  const auto right = bench.computer_->evaluate(bench.weights_, 17, 23);

  EXPECT_EQ(left.correct_count + right.correct_count, all.correct_count);
  EXPECT_NEAR(left.loss_sum + right.loss_sum, all.loss_sum, 1e-5 * all.loss_sum);
}

const auto kName = [](const auto& tested) { return tested.param; };
INSTANTIATE_TEST_SUITE_P(Models, UnitGradient, testing::ValuesIn(kSubjects), kName);
INSTANTIATE_TEST_SUITE_P(Models, ThinnedUnit,
                         testing::Values("mlp", "cnn", "gpt", "mobile", "lstm", "vit"), kName);
INSTANTIATE_TEST_SUITE_P(Models, BufferedUnit, testing::Values("mlp", "cnn", "resnet", "mobile"),
                         kName);

TEST(UnitGradients, AreTheSameOnEveryThread) {
  const auto expected = hash_of_step();
  printf("hash %s\n", expected.c_str());  // for AreTheSameInAnotherProcess
  std::array<std::string, 2> found;

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
  Bench bench(make_subject("mlp"));

  EXPECT_THAT(bench.factory_->libraries(), testing::StartsWith("libtorch "));
  EXPECT_THAT(bench.factory_->libraries(), testing::Not(testing::HasSubstr("/")));
}

}  // namespace
}  // namespace wide::train
