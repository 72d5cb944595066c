#include "wide/codec/lossy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "wide/codec/example_floats.h"

namespace wide::codec {
namespace {

using example::Kind;
using Bytes = std::vector<std::byte>;
using Values = std::vector<float>;

constexpr Lossy kCodecs[] = {Lossy::kNone, Lossy::kFp16, Lossy::kBf16, Lossy::kInt8,
                             Lossy::kInt4, Lossy::kTopk, Lossy::kSign};
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Bytes encoded(Lossy codec, const Values& values, const Rounding& rounding = {7, 8, 9}) {
  Bytes coded(coded_bytes(codec, values.size()), std::byte{0xee});
  encode_unbiased(codec, values, rounding, coded);
  return coded;
}
Bytes encoded_with(Lossy codec, const Values& values, Values& residual) {
  Bytes coded(coded_bytes(codec, values.size()), std::byte{0xee});
  encode_with_feedback(codec, values, residual, coded);
  return coded;
}
Values decoded(Lossy codec, const Bytes& coded, std::size_t count) {
  Values values(count, kNan);
  const auto done = decode(codec, coded, values);
  EXPECT_TRUE(done) << lossy_name(codec) << ": " << (done ? "" : done.error().detail);
  return values;
}
Values nearest(Lossy codec, const Values& values) {
  Values residual(values.size());
  return decoded(codec, encoded_with(codec, values, residual), values.size());
}

Bytes bytes_of(std::initializer_list<int> numbers) {
  Bytes bytes;
  for (const int number : numbers) bytes.push_back(static_cast<std::byte>(number));
  return bytes;
}

// --- Names and sizes ---

TEST(Lossy, NamesAreFoundAgain) {
  for (std::size_t number = 0; number < kLossyCount; ++number) {
    const auto codec = static_cast<Lossy>(number);

    EXPECT_EQ(lossy_named(lossy_name(codec)), codec);
  }
  EXPECT_EQ(lossy_named("int16"), std::nullopt);
}

TEST(Lossy, SizesAreAsDrawn) {
  struct Expected {
    Lossy codec;
    std::size_t of_none, of_one, of_group, of_129;
  };
  // One group: 2 bytes of scale and 2 of padding, then the codes. Two: 4 bytes of scales.
  const Expected all[] = {{Lossy::kNone, 0, 4, 512, 516}, {Lossy::kFp16, 0, 8, 260, 264},
                          {Lossy::kBf16, 0, 4, 256, 260}, {Lossy::kInt8, 0, 8, 132, 136},
                          {Lossy::kInt4, 0, 8, 68, 72},   {Lossy::kSign, 0, 8, 20, 24}};
  for (const Expected& expected : all) {
    EXPECT_EQ(coded_bytes(expected.codec, 0), expected.of_none);
    EXPECT_EQ(coded_bytes(expected.codec, 1), expected.of_one);
    EXPECT_EQ(coded_bytes(expected.codec, 128), expected.of_group);
    EXPECT_EQ(coded_bytes(expected.codec, 129), expected.of_129);
  }
}

TEST(Lossy, RatiosAreAsPromised) {
  const std::size_t count = 1'000'000;
  const auto ratio = [&](Lossy codec) {
    return 4.0 * count / static_cast<double>(coded_bytes(codec, count));
  };

  EXPECT_NEAR(ratio(Lossy::kFp16), 1.98, 0.01);
  EXPECT_NEAR(ratio(Lossy::kInt8), 3.94, 0.01);
  EXPECT_NEAR(ratio(Lossy::kInt4), 7.76, 0.01);
  EXPECT_NEAR(ratio(Lossy::kSign), 28.4, 0.1);
  EXPECT_NEAR(ratio(Lossy::kTopk), 78.9, 0.1);
}

// --- By hand ---

// The largest, 127, is a bfloat16: a step is 1, and each value is rounded to even.
TEST(Int8, EqualsHandComputation) {
  Values residual(5);

  const Bytes coded = encoded_with(Lossy::kInt8, {127, -127, 2.5f, -0.25f, 3.5f}, residual);

  EXPECT_EQ(coded, bytes_of({0xfe, 0x42, 0, 0, 127, 0x81, 2, 0, 4, 0, 0, 0}));
  EXPECT_EQ(decoded(Lossy::kInt8, coded, 5), Values({127, -127, 2, 0, 4}));
  EXPECT_EQ(residual, Values({0, 0, 0.5f, -0.25f, -0.5f}));
}

// 100.1 is 0x42c83333, above 100, whose bfloat16 is 0x42c8: the scale is the next, 100.5.
TEST(Int8, ScaleIsRoundedUp) {
  Values residual(1);

  const Bytes coded = encoded_with(Lossy::kInt8, {100.1f}, residual);

  EXPECT_EQ(coded, bytes_of({0xc9, 0x42, 0, 0, 126, 0, 0, 0}));  // 100.1 × 127 ÷ 100.5 = 126.5
  EXPECT_EQ(decoded(Lossy::kInt8, coded, 1)[0], 126 * (100.5f / 127));
}

TEST(Int4, EqualsHandComputation) {
  Values residual(3);

  const Bytes coded = encoded_with(Lossy::kInt4, {7, -3.25f, 1.5f}, residual);

  EXPECT_EQ(coded, bytes_of({0xe0, 0x40, 0, 0, 0xd7, 0x02, 0, 0}));  // -3 is 0xd
  EXPECT_EQ(decoded(Lossy::kInt4, coded, 3), Values({7, -3, 2}));
  EXPECT_EQ(residual, Values({0, -0.25f, -0.5f}));
}

TEST(Sign, EqualsHandComputation) {
  Values residual(4);

  const Bytes coded = encoded_with(Lossy::kSign, {1, -3, -2, 2}, residual);

  EXPECT_EQ(coded, bytes_of({0x00, 0x40, 0, 0, 0b0110, 0, 0, 0}));  // the mean is 2
  EXPECT_EQ(residual, Values({-1, -1, 0, 0}));
}

// 1.0 is the largest: the power is 2^-14, so 1.0 travels as the half of 2^14, 0x7400.
TEST(Fp16, EqualsHandComputation) {
  Values residual(3);

  const Bytes coded = encoded_with(Lossy::kFp16, {1, -0.5f, 0x1p-38f}, residual);

  EXPECT_EQ(coded, bytes_of({0x80, 0x38, 0, 0, 0x00, 0x74, 0x00, 0xf0, 0x01, 0x00, 0, 0}));
  EXPECT_EQ(decoded(Lossy::kFp16, coded, 3), Values({1, -0.5f, 0x1p-38f}));
}

TEST(Bf16, EqualsHandComputation) {
  Values residual(3);
  const float tie = std::bit_cast<float>(0x3f818000u);  // between 0x3f81 and 0x3f82: to even

  const Bytes coded = encoded_with(Lossy::kBf16, {1, -2, tie}, residual);

  EXPECT_EQ(coded, bytes_of({0x80, 0x3f, 0x00, 0xc0, 0x82, 0x3f, 0, 0}));
  EXPECT_EQ(residual, Values({0, 0, -0x1p-8f}));
}

TEST(Topk, EqualsHandComputation) {
  Values values(200, 0.5f), residual(200);
  values[3] = -7;
  values[150] = 9;

  const Bytes coded = encoded_with(Lossy::kTopk, values, residual);

  // Six low bits each, 3 and 150 % 64 = 22: 3 + 22 × 64 = 0x583. High: 0 + 0 and 2 + 1, so bits
  // 0, 3.
  EXPECT_EQ(coded, bytes_of({0,    0,    0, 0, 0,      0, 0xe0, 0xc0, 0, 0, 0x10, 0x41,  //
                             0x83, 0x05, 0, 0, 0b1001, 0, 0,    0}));
  EXPECT_EQ(residual[3], 0);
  EXPECT_EQ(residual[4], 0.5f);
}

TEST(Topk, TakesTheLowerPlaceAmongEquals) {
  Values residual(250);
  const Values values(250, -1.0f);

  const Values seen = decoded(Lossy::kTopk, encoded_with(Lossy::kTopk, values, residual), 250);

  EXPECT_EQ(seen[0], -1);
  EXPECT_EQ(seen[1], -1);
  EXPECT_EQ(std::ranges::count(seen, 0.0f), 248);
}

// --- Bounds ---

// How far a decoded value may be off, but for the last bit.
double step_of(Lossy codec, double value, double max) {
  const double scale = std::max(max * 129 / 128, 0x1p-100);
  const auto binade = [](double x) { return std::exp2(std::floor(std::log2(x))); };
  switch (codec) {
    case Lossy::kFp16:
      return std::max(binade(std::abs(value) + 1e-300) * 0x1p-10,
                      binade(std::max(max, 0x1p-100)) * 0x1p-38);
    case Lossy::kBf16:
      return std::max(binade(std::abs(value) + 1e-300) * 0x1p-7, 0x1p-133);
    case Lossy::kInt8:
      return scale / 127;
    case Lossy::kInt4:
      return scale / 7;
    default:
      return std::abs(value) + scale;
  }
}

void expect_within(Lossy codec, const Values& values, const Values& seen, double steps) {
  for (std::size_t at = 0; at < values.size(); at += kGroupValues) {
    const std::size_t end = std::min(values.size(), at + kGroupValues);
    double max = 0;
    for (std::size_t i = at; i < end; ++i) max = std::max(max, std::abs(double{values[i]}));
    for (std::size_t i = at; i < end; ++i) {
      const double held = max > 3.38e38 ? max * 0.004 : 0;  // no room above
      const double bound = steps * step_of(codec, values[i], max) * (1 + 1e-5) + held;
      ASSERT_LE(std::abs(double{values[i]} - double{seen[i]}), bound)
          << lossy_name(codec) << " of " << values[i] << ", largest " << max;
    }
  }
}

TEST(Lossy, ErrorIsWithinItsBound) {
  for (const Lossy codec : {Lossy::kFp16, Lossy::kBf16, Lossy::kInt8, Lossy::kInt4, Lossy::kSign}) {
    const double half = codec == Lossy::kSign ? 1 : 0.5;
    for (const Kind kind : example::kKinds) {
      const Values values = example::floats(kind, 3000);

      expect_within(codec, values, decoded(codec, encoded(codec, values), 3000), 1);
      expect_within(codec, values, nearest(codec, values), half);
    }
  }
}

TEST(Lossy, RoundTripsAtEverySize) {
  const Values all = example::floats(Kind::kHeavy, 10'000);
  for (const Lossy codec : kCodecs) {
    for (std::size_t count = 0; count <= 10'000; count += 1 + count / 16) {
      const Values values(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
      Values residual(count);

      const Values seen = decoded(codec, encoded(codec, values), count);
      const Values near = decoded(codec, encoded_with(codec, values, residual), count);

      const auto is_finite = [](float value) { return std::isfinite(value); };
      EXPECT_TRUE(std::ranges::all_of(seen, is_finite));
      EXPECT_TRUE(std::ranges::all_of(near, is_finite));
    }
  }
}

// What is decoded is coded to itself, whatever the seed. (Not int8 and int4, whose largest code
// need not be the last: the next scale is another.)
TEST(Lossy, DecodedValuesAreExact) {
  for (const Lossy codec : {Lossy::kNone, Lossy::kFp16, Lossy::kBf16}) {
    for (const Kind kind : example::kKinds) {
      const Values once = nearest(codec, example::floats(kind, 1000));

      EXPECT_EQ(decoded(codec, encoded(codec, once), 1000), once) << lossy_name(codec);
    }
  }
}

TEST(Lossy, WholeStepsAreExact) {
  Values values(128);
  for (std::size_t i = 0; i < 128; ++i) values[i] = static_cast<float>(i % 15) - 7;

  EXPECT_EQ(decoded(Lossy::kInt4, encoded(Lossy::kInt4, values), 128), values);
  values[5] = 127;
  EXPECT_EQ(decoded(Lossy::kInt8, encoded(Lossy::kInt8, values), 128), values);
}

TEST(Lossy, IsAFunctionOfValuesAndRounding) {
  const Values values = example::floats(Kind::kNormal, 1000);
  for (const Lossy codec : kCodecs) {
    const Bytes coded = encoded(codec, values, {1, 2, 3});

    EXPECT_EQ(coded, encoded(codec, values, {1, 2, 3}));
    if (codec == Lossy::kNone) continue;
    EXPECT_NE(coded, encoded(codec, values, {2, 2, 3})) << lossy_name(codec);
    EXPECT_NE(coded, encoded(codec, values, {1, 3, 3})) << lossy_name(codec);
    EXPECT_NE(coded, encoded(codec, values, {1, 2, 4})) << lossy_name(codec);
  }
}

// --- Feedback ---

TEST(Feedback, LosesNothing) {
  for (const Lossy codec :
       {Lossy::kNone, Lossy::kFp16, Lossy::kBf16, Lossy::kInt8, Lossy::kInt4, Lossy::kTopk}) {
    for (const Kind kind : {Kind::kNormal, Kind::kHeavy, Kind::kTiny, Kind::kSparse}) {
      const Values values = example::floats(kind, 1000, 1);
      const Values before = example::floats(kind, 1000, 2);
      Values residual = before;

      const Values seen = decoded(codec, encoded_with(codec, values, residual), 1000);

      for (std::size_t i = 0; i < values.size(); ++i) {
        const double sum = double{seen[i]} + double{residual[i]};
        ASSERT_EQ(sum, double{values[i] + before[i]}) << lossy_name(codec) << " " << i;
      }
    }
  }
}

// The mean of what is decoded comes to the value, though each time most is lost.
TEST(Feedback, CatchesUp) {
  constexpr int kSteps = 2000;
  const Values values = example::floats(Kind::kNormal, 300);
  for (const Lossy codec : {Lossy::kInt4, Lossy::kSign, Lossy::kTopk}) {
    Values residual(300);
    std::vector<double> sum(300);
    for (int step = 0; step < kSteps; ++step) {
      const Values seen = decoded(codec, encoded_with(codec, values, residual), 300);
      for (std::size_t i = 0; i < 300; ++i) sum[i] += seen[i];
    }
    for (std::size_t i = 0; i < 300; ++i) {
      EXPECT_NEAR(sum[i] / kSteps, values[i], 0.003) << lossy_name(codec) << " " << i;
    }
  }
}

// --- Values that are none ---

TEST(Lossy, NansFillTheirGroupAndNoOther) {
  for (const Lossy codec : kCodecs) {
    if (codec == Lossy::kNone || codec == Lossy::kTopk) continue;
    for (const float bad : {kNan, kInfinity, -kInfinity}) {
      Values values = example::floats(Kind::kNormal, 300), residual(300);
      values[130] = bad;

      const Values seen = decoded(codec, encoded(codec, values), 300);
      const Values near = decoded(codec, encoded_with(codec, values, residual), 300);

      for (std::size_t i = 0; i < 300; ++i) {
        const bool expected = i >= 128 && i < 256;
        EXPECT_EQ(std::isnan(seen[i]), expected) << lossy_name(codec) << " " << i;
        EXPECT_EQ(std::isnan(near[i]), expected) << lossy_name(codec) << " " << i;
        EXPECT_EQ(std::isnan(residual[i]), expected) << lossy_name(codec) << " " << i;
      }
    }
  }
}

TEST(Topk, NansFillEverything) {
  Values values = example::floats(Kind::kNormal, 300), residual(300), sum(300, 1.0f);
  values[130] = kInfinity;

  const Bytes coded = encoded(Lossy::kTopk, values);
  EXPECT_TRUE(decode_add(Lossy::kTopk, coded, sum));

  const auto is_nan = [](float value) { return std::isnan(value); };
  EXPECT_TRUE(std::ranges::all_of(sum, is_nan));
  EXPECT_EQ(coded, encoded_with(Lossy::kTopk, values, residual));
  EXPECT_TRUE(std::ranges::all_of(residual, is_nan));
}

TEST(Lossy, NoneKeepsNansAndInfinities) {
  const Values seen =
      decoded(Lossy::kNone, encoded(Lossy::kNone, {kNan, kInfinity, -kInfinity, -0.0f}), 4);

  EXPECT_TRUE(std::isnan(seen[0]));
  EXPECT_EQ(seen[1], kInfinity);
  EXPECT_EQ(seen[2], -kInfinity);
  EXPECT_FALSE(std::signbit(seen[3]));
}

TEST(Lossy, FiniteValuesStayFinite) {
  const float largest = std::numeric_limits<float>::max();
  const Values values = {largest, -largest, largest, 0x1.fffp127f, 1, 0};
  for (const Lossy codec : kCodecs) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      for (const float value : decoded(codec, encoded(codec, values, {seed, 0, 0}), 6)) {
        EXPECT_TRUE(std::isfinite(value)) << lossy_name(codec);
      }
    }
    for (const float value : nearest(codec, values)) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(Lossy, NoDecodedValueIsMinusZero) {
  for (const Lossy codec : kCodecs) {
    for (const Kind kind : example::kKinds) {
      const Values values = example::floats(kind, 1000);
      for (const float value : decoded(codec, encoded(codec, values), 1000)) {
        ASSERT_FALSE(value == 0 && std::signbit(value)) << lossy_name(codec);
      }
      for (const float value : nearest(codec, values)) {
        ASSERT_FALSE(value == 0 && std::signbit(value)) << lossy_name(codec);
      }
    }
  }
}

TEST(Lossy, ZerosAreZerosInEveryByte) {
  for (const Lossy codec : kCodecs) {
    const Bytes coded = encoded(codec, Values(128, -0.0f));
    if (codec != Lossy::kTopk) {
      EXPECT_EQ(coded, Bytes(coded.size())) << lossy_name(codec);
    }
    EXPECT_EQ(decoded(codec, coded, 128), Values(128));
  }
}

TEST(DecodeAdd, IsDecodeThenAdd) {
  const Values before = example::floats(Kind::kHeavy, 777, 5);
  for (const Lossy codec : kCodecs) {
    const Bytes coded = encoded(codec, example::floats(Kind::kNormal, 777));
    const Values seen = decoded(codec, coded, 777);
    Values sum = before;

    ASSERT_TRUE(decode_add(codec, coded, sum));

    for (std::size_t i = 0; i < sum.size(); ++i) EXPECT_EQ(sum[i], before[i] + seen[i]);
  }
}

// Places beyond 2^24, where floats no longer count by ones.
TEST(Lossy, TakesAHundredMegabytes) {
  constexpr std::size_t kCount = 26'214'401;
  const Values some = example::floats(Kind::kNormal, 5003);
  Values values(kCount), residual(kCount), out(kCount);
  for (std::size_t at = 0; at < kCount; at += some.size()) {
    std::copy_n(some.begin(), std::min(some.size(), kCount - at), values.data() + at);
  }
  values[kCount - 1] = 1000;
  for (const Lossy codec : {Lossy::kInt8, Lossy::kTopk}) {
    residual.assign(kCount, 0);
    const Bytes coded = encoded_with(codec, values, residual);

    ASSERT_TRUE(decode(codec, coded, out));

    EXPECT_FLOAT_EQ(out[kCount - 1], 1000);
    for (std::size_t i = 0; i < kCount; i += 9973) ASSERT_EQ(out[i] + residual[i], values[i]);
  }
}

// --- Strangers' bytes ---

TEST(Decode, RefusesEveryOtherSize) {
  for (const Lossy codec : kCodecs) {
    const Bytes coded = encoded(codec, example::floats(Kind::kNormal, 133));
    Values out(133);
    for (std::size_t bytes = 0; bytes < coded.size(); ++bytes) {
      const auto done = decode(codec, std::span(coded).first(bytes), out);
      ASSERT_FALSE(done);
      EXPECT_EQ(done.error().code, Errc::kBadCoding);
    }
    Bytes longer = coded;
    longer.resize(coded.size() + 4);
    EXPECT_FALSE(decode(codec, longer, out));
  }
}

// Any flipped bit is refused, or gives floats that are finite, or NaN in a whole group.
TEST(Decode, SurvivesEveryFlippedBit) {
  for (const Lossy codec : kCodecs) {
    for (const std::size_t count : {1u, 133u, 300u}) {
      Bytes coded = encoded(codec, example::floats(Kind::kHeavy, count));
      for (std::size_t bit = 0; bit < 8 * coded.size(); ++bit) {
        coded[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
        Values out(count);
        const auto done = decode(codec, coded, out);
        for (std::size_t i = 0; done && codec != Lossy::kNone && i < count; ++i) {
          ASSERT_TRUE(std::isfinite(out[i])) << lossy_name(codec) << " bit " << bit;
        }
        coded[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
      }
    }
  }
}

TEST(Decode, RefusesWhatNobodyWrites) {
  struct Case {
    const char* what;
    Lossy codec;
    std::size_t count;
    Bytes coded;
  };
  const Case cases[] = {
      {"a negative scale", Lossy::kInt8, 1, bytes_of({0x80, 0xbf, 0, 0, 1, 0, 0, 0})},
      {"an infinite scale", Lossy::kInt8, 1, bytes_of({0x80, 0x7f, 0, 0, 1, 0, 0, 0})},
      {"another NaN", Lossy::kInt8, 1, bytes_of({0xc1, 0x7f, 0, 0, 0, 0, 0, 0})},
      {"a scale too small", Lossy::kInt8, 1, bytes_of({0x7f, 0x0d, 0, 0, 1, 0, 0, 0})},
      {"a code with scale 0", Lossy::kInt8, 1, bytes_of({0, 0, 0, 0, 1, 0, 0, 0})},
      {"a code of NaN", Lossy::kInt8, 1, bytes_of({0xc0, 0x7f, 0, 0, 1, 0, 0, 0})},
      {"-128", Lossy::kInt8, 1, bytes_of({0x80, 0x3f, 0, 0, 0x80, 0, 0, 0})},
      {"padding of scales", Lossy::kInt8, 1, bytes_of({0x80, 0x3f, 1, 0, 1, 0, 0, 0})},
      {"padding of codes", Lossy::kInt8, 1, bytes_of({0x80, 0x3f, 0, 0, 1, 1, 0, 0})},
      {"-8", Lossy::kInt4, 1, bytes_of({0x80, 0x3f, 0, 0, 8, 0, 0, 0})},
      {"half a byte of padding", Lossy::kInt4, 1, bytes_of({0x80, 0x3f, 0, 0, 0x11, 0, 0, 0})},
      {"a bit of padding", Lossy::kSign, 1, bytes_of({0x80, 0x3f, 0, 0, 2, 0, 0, 0})},
      {"no power of two", Lossy::kFp16, 1, bytes_of({0x81, 0x3f, 0, 0, 1, 0, 0, 0})},
      {"a half too large", Lossy::kFp16, 1, bytes_of({0x80, 0x3f, 0, 0, 1, 0x78, 0, 0})},
      {"a half of -0", Lossy::kFp16, 1, bytes_of({0x80, 0x3f, 0, 0, 0, 0x80, 0, 0})},
      {"infinity", Lossy::kBf16, 1, bytes_of({0x80, 0x7f, 0, 0})},
      {"-0", Lossy::kBf16, 1, bytes_of({0, 0x80, 0, 0})},
      {"a NaN among numbers", Lossy::kBf16, 2, bytes_of({0x80, 0x3f, 0xc0, 0x7f})},
      {"a number among NaNs", Lossy::kBf16, 2, bytes_of({0xc0, 0x7f, 0x80, 0x3f})},
      {"a flag", Lossy::kTopk, 1, bytes_of({1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0})},
      {"infinity", Lossy::kTopk, 1, bytes_of({0, 0, 0, 0, 0, 0, 0x80, 0x7f, 1, 0, 0, 0})},
      {"-0", Lossy::kTopk, 1, bytes_of({0, 0, 0, 0, 0, 0, 0, 0x80, 1, 0, 0, 0})},
      {"no place", Lossy::kTopk, 1, bytes_of({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})},
      {"two places", Lossy::kTopk, 1, bytes_of({0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0})},
  };
  for (const Case& each : cases) {
    Values out(each.count);
    ASSERT_EQ(each.coded.size(), coded_bytes(each.codec, each.count)) << each.what;
    EXPECT_FALSE(decode(each.codec, each.coded, out)) << each.what;
    EXPECT_FALSE(decode_add(each.codec, each.coded, out)) << each.what;
  }
}

}  // namespace
}  // namespace wide::codec
