#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "wide/base/bytes.h"
#include "wide/data/dataset.h"
#include "wide/data/loaded_sample.h"

namespace wide::data {
namespace {

struct Sample {
  std::vector<float> values;
  std::int64_t label = 0;
};

std::vector<Sample> load_all(const Dataset& set) {
  std::vector<Sample> samples;
  const auto train_count = set.space().train_count;
  for (std::uint64_t i = 0; i < train_count + set.space().eval_count; ++i) {
    auto sample = i < train_count ? train_sample(set, i) : eval_sample(set, i - train_count);
    samples.push_back({std::move(sample.values), sample.labels[0]});
  }
  return samples;
}

TEST(Synthetic, HasTheShapeAskedFor) {
  const auto set = make_synthetic(42, 1000, 10, 7);

  EXPECT_EQ(set->space().train_count, 1000u);
  EXPECT_EQ(set->space().eval_count, 1000u);
  EXPECT_EQ(set->space().sample_shape, std::vector<std::uint32_t>{10});
  EXPECT_EQ(set->space().class_count, 7u);
}

TEST(Synthetic, DrawsNormalValues) {
  const auto samples = load_all(*make_synthetic(42, 5000, 10, 10));
  double sum = 0, squares = 0, fourth_powers = 0;
  double count = 0;
  for (const auto& sample : samples) {
    for (const double value : sample.values) {
      sum += value;
      squares += value * value;
      fourth_powers += value * value * value * value;
      ++count;
    }
  }

  // Five standard errors of 100,000 draws.
  EXPECT_NEAR(sum / count, 0, 0.016);
  EXPECT_NEAR(squares / count, 1, 0.023);
  EXPECT_NEAR(fourth_powers / count, 3, 0.16);
}

TEST(Synthetic, LabelsAreTheFloorOfTheSumModuloClasses) {
  bool saw_negative_sum = false;
  for (const auto& sample : load_all(*make_synthetic(1, 500, 10, 10))) {
    double sum = 0;
    for (const double value : sample.values) sum += value;
    const double floored = std::floor(sum);
    const double expected = floored - 10 * std::floor(floored / 10);
    saw_negative_sum |= sum < 0;

    EXPECT_EQ(sample.label, static_cast<std::int64_t>(expected)) << "sum " << sum;
    EXPECT_GE(sample.label, 0);
    EXPECT_LT(sample.label, 10);
  }
  EXPECT_TRUE(saw_negative_sum);
}

TEST(Synthetic, UsesEveryClass) {
  std::vector<int> counts(10);
  for (const auto& sample : load_all(*make_synthetic(42, 1000, 10, 10))) {
    ++counts[static_cast<std::size_t>(sample.label)];
  }

  EXPECT_GT(*std::ranges::min_element(counts), 100);
}

TEST(Synthetic, IsAPureFunctionOfTheSeed) {
  const auto one = make_synthetic(42, 100, 10, 10);
  const auto same = make_synthetic(42, 100, 10, 10);
  const auto other = make_synthetic(43, 100, 10, 10);

  EXPECT_EQ(one->space().sha256, same->space().sha256);
  EXPECT_NE(one->space().sha256, other->space().sha256);
  EXPECT_NE(one->space().sha256, make_synthetic(42, 100, 10, 9)->space().sha256);
}

TEST(Synthetic, HeldOutSamplesContinueWhereTheOthersEnd) {
  const auto few = load_all(*make_synthetic(42, 100, 10, 10));
  const auto many = load_all(*make_synthetic(42, 200, 10, 10));

  for (std::size_t i = 0; i < few.size(); ++i) {
    EXPECT_EQ(few[i].values, many[i].values);
    EXPECT_EQ(few[i].label, many[i].label);
  }
}

TEST(Synthetic, HashesAllOfIt) {
  const auto set = make_synthetic(9, 3, 2, 4);
  const auto samples = load_all(*set);
  ByteWriter bytes;
  for (const std::uint64_t count : {3, 3}) bytes.put(count);
  for (const std::uint32_t word : {1, 2, 4}) bytes.put(word);
  for (const auto& sample : samples) bytes.raw(std::as_bytes(std::span(sample.values)));
  for (const auto& sample : samples) bytes.put(static_cast<std::uint32_t>(sample.label));

  EXPECT_EQ(set->space().sha256, sha256(bytes.take()));
}

TEST(SyntheticDeathTest, RefusesASampleThatIsNotThere) {
  const auto set = make_synthetic(9, 3, 2, 4);

  EXPECT_DEATH(train_sample(*set, 3), "no such sample");
  EXPECT_DEATH(eval_sample(*set, 3), "no such sample");
}

}  // namespace
}  // namespace wide::data
