#include "wide/train/dropout_mask.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace wide::train {
namespace {

TEST(DropoutMask, EqualsReferenceForAnyProbabilityAndLength) {
  const auto stream = dropout_stream(42, 7, 3, 1);
  for (const float probability : {0.0f, 0.1f, 0.25f, 1.0f / 3.0f, 0.5f, 0.9f, 0.999999f}) {
    for (const std::size_t count : {1u, 3u, 4u, 5u, 1001u}) {
      std::vector<float> fast(count);
      std::vector<float> plain(count);

      fill_dropout_mask(stream, probability, fast);
      fill_dropout_mask_reference(stream, probability, plain);

      EXPECT_EQ(fast, plain) << probability << " " << count;
    }
  }
}

TEST(DropoutMask, KeepsEverythingAtProbabilityZero) {
  std::vector<float> mask(100);

  fill_dropout_mask(dropout_stream(42, 0, 0, 0), 0.0f, mask);

  EXPECT_EQ(std::ranges::count(mask, 1.0f), 100);
}

TEST(DropoutMask, DropsTheShareItSays) {
  std::vector<float> mask(100000);

  fill_dropout_mask(dropout_stream(42, 1, 2, 0), 0.25f, mask);

  // The standard deviation of the share is 0.0014.
  const double share = static_cast<double>(std::ranges::count(mask, 0.0f)) / 100000.0;
  EXPECT_NEAR(share, 0.25, 0.007);
}

TEST(DropoutMask, DiffersByLayerStepAndUnit) {
  const auto mask_of = [](const RandomStream& stream) {
    std::vector<float> mask(256);
    fill_dropout_mask(stream, 0.5f, mask);
    return mask;
  };
  const auto first = mask_of(dropout_stream(42, 5, 6, 0));

  EXPECT_EQ(first, mask_of(dropout_stream(42, 5, 6, 0)));
  EXPECT_NE(first, mask_of(dropout_stream(43, 5, 6, 0)));
  EXPECT_NE(first, mask_of(dropout_stream(42, 6, 6, 0)));
  EXPECT_NE(first, mask_of(dropout_stream(42, 5, 7, 0)));
  EXPECT_NE(first, mask_of(dropout_stream(42, 5, 6, 1)));
}

// A gpt of 100 layers has 301 dropouts; the byte that names one has room for 256.
TEST(DropoutMask, HasAStreamForEveryLayerOfADeepModel) {
  std::set<PhiloxBlock> first_blocks;

  for (std::uint32_t layer = 0; layer < 5000; ++layer) {
    first_blocks.insert(dropout_stream(42, 5, 6, layer).block(0));
  }

  EXPECT_EQ(first_blocks.size(), 5000u);
}

}  // namespace
}  // namespace wide::train
