// The mean over many seeds is the value: within five standard deviations of the mean, as theory has
// them, for every single value.

#include <gtest/gtest.h>

#include <cmath>

#include "wide/codec/example_floats.h"
#include "wide/codec/lossy.h"

namespace wide::codec {
namespace {

using example::Kind;

struct Moments {
  std::vector<double> mean, deviation;
};

Moments moments_of(Lossy codec, const std::vector<float>& values, int seeds) {
  std::vector<std::byte> coded(coded_bytes(codec, values.size()));
  std::vector<float> seen(values.size());
  std::vector<double> sum(values.size()), squares(values.size());
  for (int seed = 0; seed < seeds; ++seed) {
    encode_unbiased(codec, values, {static_cast<std::uint64_t>(seed), 5, 6}, coded);
    EXPECT_TRUE(decode(codec, coded, seen));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double lost = double{seen[i]} - double{values[i]};
      sum[i] += lost;
      squares[i] += lost * lost;
    }
  }
  Moments moments;
  for (std::size_t i = 0; i < values.size(); ++i) {
    moments.mean.push_back(sum[i] / seeds);
    moments.deviation.push_back(std::sqrt(squares[i] / seeds));
  }
  return moments;
}

// The standard deviation of one coding, by theory.
double theory(Lossy codec, double value, double max) {
  const double scale = std::max(max * 129 / 128, 0x1p-100);
  const auto binade = [](double x) { return std::exp2(std::floor(std::log2(x + 1e-300))); };
  const auto two_points = [](double at, double step) {
    const double part = std::abs(at) / step - std::floor(std::abs(at) / step);
    return step * std::sqrt(part * (1 - part));
  };
  switch (codec) {
    case Lossy::kFp16:
      return two_points(value, std::max(binade(std::abs(value)) * 0x1p-10,
                                        binade(std::max(max, 0x1p-100)) * 0x1p-38));
    case Lossy::kBf16:
      return two_points(value, std::max(binade(std::abs(value)) * 0x1p-7, 0x1p-133));
    case Lossy::kInt8:
      return scale / 127 / 2;  // at most: the scale is known to a 128th only
    case Lossy::kInt4:
      return scale / 7 / 2;
    default:
      return std::sqrt(scale * scale - value * value);
  }
}

void expect_unbiased(Lossy codec, Kind kind, std::size_t count, int seeds) {
  std::vector<float> values = example::floats(kind, count);
  // Where there is no room above the largest, a codec may be off: lossy.h.
  for (float& value : values) value = std::clamp(value, -3.3e38f, 3.3e38f);
  const Moments moments = moments_of(codec, values, seeds);

  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = i / kGroupValues * kGroupValues;
    double max = 0;
    for (std::size_t j = first; j < std::min(count, first + kGroupValues); ++j) {
      max = std::max(max, std::abs(double{values[j]}));
    }
    const double deviation = theory(codec, values[i], max);
    const double sure = 5 * deviation / std::sqrt(seeds) + 0x1p-21 * std::max(max, 0x1p-100);
    ASSERT_NEAR(moments.mean[i], 0, sure) << lossy_name(codec) << " of " << values[i];
  }
}

TEST(Unbiased, MeanOverSeedsIsTheValue) {
  for (const Lossy codec : {Lossy::kFp16, Lossy::kBf16, Lossy::kInt8, Lossy::kInt4, Lossy::kSign}) {
    for (const Kind kind : example::kKinds) expect_unbiased(codec, kind, 200, 3000);
  }
}

// Many seeds on a few values that lie a quarter of the way between two codes: the chance itself is
// measured, to a thousandth.
TEST(Unbiased, ChanceIsAsTheory) {
  constexpr int kSeeds = 200'000;
  const std::vector<float> values = {127, 10.25f, -10.25f, 0.75f, -0.001f};

  const Moments moments = moments_of(Lossy::kInt8, values, kSeeds);

  const double parts[] = {0, 0.25, 0.25, 0.75, 0.001};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double deviation = std::sqrt(parts[i] * (1 - parts[i]));
    EXPECT_NEAR(moments.mean[i], 0, 5 * deviation / std::sqrt(kSeeds) + 0x1p-16) << i;
    EXPECT_NEAR(moments.deviation[i], deviation, 0.003) << i;
  }
}

TEST(Unbiased, ValuesOfAGroupAreRoundedApart) {
  constexpr int kSeeds = 4000;
  std::vector<float> values(256, 0.5f);
  values[0] = values[128] = 127;
  std::vector<std::byte> coded(coded_bytes(Lossy::kInt8, 256));
  std::vector<float> seen(256);
  std::vector<std::vector<double>> all(kSeeds);
  for (int seed = 0; seed < kSeeds; ++seed) {
    encode_unbiased(Lossy::kInt8, values, {1, static_cast<std::uint64_t>(seed), 0}, coded);
    ASSERT_TRUE(decode(Lossy::kInt8, coded, seen));
    all[static_cast<std::size_t>(seed)].assign(seen.begin(), seen.end());
  }
  // Neighbours, the two that share a hash, and the same place in the next group.
  for (const std::size_t apart : {1u, 16u, 64u, 128u}) {
    for (std::size_t i = 1; i + apart < 256; i += 7) {
      if ((i + apart) % 128 == 0) continue;
      double product = 0;
      for (const auto& one : all) product += (one[i] - 0.5) * (one[i + apart] - 0.5);
      EXPECT_NEAR(product / kSeeds, 0, 5 * 0.25 / std::sqrt(kSeeds)) << i << " " << apart;
    }
  }
}

TEST(Unbiased, TopkDrawsAllAlike) {
  constexpr int kSeeds = 20'000;
  for (const std::size_t count : {1u, 5u, 100u, 250u}) {
    std::vector<float> values = example::floats(Kind::kNormal, count);
    const std::size_t kept = topk_kept(count), drawn = kept - kept / 2;

    const Moments moments = moments_of(Lossy::kTopk, values, kSeeds);

    const double times = static_cast<double>(count - kept / 2) / static_cast<double>(drawn);
    for (std::size_t i = 0; i < count; ++i) {
      const double deviation = std::abs(values[i]) * std::sqrt(times - 1);
      ASSERT_NEAR(moments.mean[i], 0, 5 * deviation / std::sqrt(kSeeds) + 1e-9)
          << count << " " << i;
    }
  }
}

}  // namespace
}  // namespace wide::codec
