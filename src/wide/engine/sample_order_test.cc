#include "wide/engine/sample_order.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "wide/base/digest.h"

namespace wide::engine {
namespace {

std::vector<std::uint64_t> epoch_of(const SampleOrder& order, std::uint64_t count,
                                    std::uint64_t epoch) {
  std::vector<std::uint64_t> samples(count);
  for (std::uint64_t i = 0; i < count; ++i) samples[i] = order.sample_at(epoch * count + i);
  return samples;
}

bool is_permutation_of_all(const std::vector<std::uint64_t>& samples) {
  std::vector<bool> seen(samples.size());
  for (const auto sample : samples) {
    if (sample >= samples.size() || seen[sample]) return false;
    seen[sample] = true;
  }
  return true;
}

TEST(SampleOrder, UsesEachSampleOncePerEpoch) {
  for (const std::uint64_t count : {1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 1000, 4096, 60000}) {
    const SampleOrder order(42, count);
    for (const std::uint64_t epoch : {0, 1, 2, 77}) {
      EXPECT_TRUE(is_permutation_of_all(epoch_of(order, count, epoch))) << count << " " << epoch;
    }
  }
}

RC_GTEST_PROP(SampleOrder, IsPermutationForAnySeedAndSize, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto count = *rc::gen::inRange<std::uint64_t>(1, 3000);
  const auto epoch = *rc::gen::inRange<std::uint64_t>(0, 1'000'000);

  RC_ASSERT(is_permutation_of_all(epoch_of(SampleOrder(seed, count), count, epoch)));
}

TEST(SampleOrder, DependsOnEpochAndSeed) {
  const SampleOrder order(1, 1000);

  EXPECT_NE(epoch_of(order, 1000, 0), epoch_of(order, 1000, 1));
  EXPECT_NE(epoch_of(order, 1000, 0), epoch_of(SampleOrder(2, 1000), 1000, 0));
  EXPECT_EQ(epoch_of(order, 1000, 0), epoch_of(SampleOrder(1, 1000), 1000, 0));
}

TEST(SampleOrder, FindsEveryOrderOfThree) {
  const SampleOrder order(5, 3);
  std::set<std::vector<std::uint64_t>> orders;
  for (std::uint64_t epoch = 0; epoch < 300; ++epoch) orders.insert(epoch_of(order, 3, epoch));

  EXPECT_EQ(orders.size(), 6u);
}

// Pearson's correlation between position and sample, and between neighbours: near nothing.
TEST(SampleOrder, IsNotTriviallyOrdered) {
  constexpr std::uint64_t kCount = 60000;
  const auto samples = epoch_of(SampleOrder(42, kCount), kCount, 0);
  const double mean = (kCount - 1) / 2.0;
  double with_position = 0, with_next = 0, variance = 0;
  for (std::uint64_t i = 0; i + 1 < kCount; ++i) {
    const double here = static_cast<double>(samples[i]) - mean;
    with_position += here * (static_cast<double>(i) - mean);
    with_next += here * (static_cast<double>(samples[i + 1]) - mean);
    variance += here * here;
  }

  EXPECT_LT(std::abs(with_position / variance), 0.02);
  EXPECT_LT(std::abs(with_next / variance), 0.02);
}

// Each tenth of an epoch holds about a tenth of each tenth of the samples: chi-square with 81
// degrees of freedom stays below 150 but for one order in a million.
TEST(SampleOrder, SpreadsEvenly) {
  constexpr std::uint64_t kCount = 10000;
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
    const auto samples = epoch_of(SampleOrder(7, kCount), kCount, epoch);
    double counts[10][10] = {};
    for (std::uint64_t i = 0; i < kCount; ++i) counts[i / 1000][samples[i] / 1000] += 1;
    double chi_square = 0;
    for (const auto& row : counts) {
      for (const double count : row) chi_square += (count - 100) * (count - 100) / 100;
    }
    EXPECT_LT(chi_square, 150) << epoch;
    EXPECT_GT(chi_square, 35) << epoch;
  }
}

// From a transcription into Python that keeps whole lists, as all golden values of this file.
TEST(SampleOrder, IsTheOrderOfOtherMachines) {
  using Samples = std::vector<std::uint64_t>;
  const SampleOrder order(42, 20);

  EXPECT_EQ(epoch_of(order, 20, 0),
            (Samples{6, 16, 11, 3, 0, 13, 10, 4, 18, 19, 2, 17, 8, 12, 7, 15, 5, 1, 14, 9}));
  EXPECT_EQ(epoch_of(order, 20, 1),
            (Samples{7, 6, 14, 5, 1, 16, 4, 2, 19, 17, 12, 0, 9, 18, 15, 11, 8, 10, 13, 3}));
  const auto many = epoch_of(SampleOrder(7, 60000), 60000, 2);
  EXPECT_EQ(sha256(std::as_bytes(std::span(many))).hex(),
            "217960296db33e960523d90c92fa8f97bae155529031a35ca2c13df94a864001");
}

}  // namespace
}  // namespace wide::engine
