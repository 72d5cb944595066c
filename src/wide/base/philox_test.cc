#include "wide/base/philox.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "wide/base/normal_quantile.h"

namespace wide {
namespace {

// Random123's kat_vectors, the lines "philox4x32 10".
TEST(Philox, MatchesKnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, IsPhiloxUnderAKeyMadeOfSeedAndPurpose) {
  const std::uint64_t seed = 0x0123456789abcdef;
  const std::uint64_t a = 0xfedcba9876543210;
  const RandomStream stream(seed, 7, a, 5);

  const auto mixed = philox({7, 0, 0, 0}, {0x89abcdef, 0x01234567});
  const auto expected = philox({9, 0x76543210, 0xfedcba98, 5}, {mixed[0], mixed[1]});

  EXPECT_EQ(stream.block(9), expected);
  EXPECT_EQ(stream.word(9 * 4 + 2), expected[2]);
}

TEST(RandomStream, EveryNameGivesAnotherStream) {
  std::set<std::uint32_t> words;
  for (std::uint64_t seed : {1u, 2u}) {
    for (std::uint32_t purpose : {1u, 2u}) {
      for (std::uint64_t a : {std::uint64_t{1}, std::uint64_t{1} << 32}) {
        for (std::uint32_t b : {0u, 1u}) words.insert(RandomStream(seed, purpose, a, b).word(0));
      }
    }
  }

  EXPECT_EQ(words.size(), 16u);
}

TEST(RandomStream, UniformIsAMultipleBelowOne) {
  const RandomStream stream(42, 1, 0);
  double sum = 0;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const float u = stream.uniform(i);
    ASSERT_GE(u, 0.0f);
    ASSERT_LT(u, 1.0f);
    ASSERT_EQ(u * 0x1p24f, std::floor(u * 0x1p24f));
    sum += u;
  }

  EXPECT_NEAR(sum / 10000, 0.5, 0.015);  // five standard errors
}

TEST(RandomStream, NormalHasMomentsOfANormal) {
  const RandomStream stream(42, 2, 0);
  double sum = 0, square_sum = 0;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const double x = stream.normal(i);
    sum += x;
    square_sum += x * x;
  }

  EXPECT_NEAR(sum / 10000, 0, 0.05);
  EXPECT_NEAR(square_sum / 10000, 1, 0.07);
}

// Wichura's own checks (p = 0.25, 0.001, 1e-20) and the usual tables.
TEST(NormalQuantile, MatchesPublishedValues) {
  const auto expect_close = [](double p, double x) {
    EXPECT_NEAR(normal_quantile(p), x, std::fabs(x) * 1e-15) << p;
  };
  expect_close(0.25, -0.6744897501960817);
  expect_close(0.001, -3.090232306167813);
  expect_close(1e-20, -9.262340089798408);
  expect_close(0.975, 1.959963984540054);
  expect_close(0.995, 2.5758293035489004);
  EXPECT_EQ(normal_quantile(0.5), 0);
}

TEST(NormalQuantile, IsOddAndRising) {
  double last = -100;
  for (int i = 1; i < 1024; ++i) {
    const double x = normal_quantile(i / 1024.0);
    EXPECT_GT(x, last);
    EXPECT_EQ(x, -normal_quantile(1 - i / 1024.0));
    last = x;
  }
}

TEST(PortableLog, IsTheLogarithmToTheLastPlaces) {
  for (double x = 0x1p-40; x < 0x1p40; x *= 1.0173) {
    const double expected = std::log(x);
    EXPECT_NEAR(portable_log(x), expected, std::max(std::fabs(expected), 0.01) * 0x1p-51) << x;
  }
  EXPECT_EQ(portable_log(1), 0);
}

}  // namespace
}  // namespace wide
