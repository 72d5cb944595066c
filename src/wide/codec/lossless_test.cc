#include "wide/codec/lossless.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "wide/codec/example_blocks.h"

namespace wide::codec {
namespace {

using Block = std::vector<std::byte>;

constexpr Lossless kCodecs[] = {Lossless::kNone, Lossless::kLz4,   Lossless::kZstd,
                                Lossless::kZlib, Lossless::kZlib9, Lossless::kPlanes};

// With room for whatever the codec makes of it.
Block encoded(LosslessCoder& coder, Lossless codec, const Block& raw) {
  Block coded(raw.size() + raw.size() / 8 + 600);
  coded.resize(coder.encode(codec, raw, coded));
  return coded;
}

void expect_round_trip(LosslessCoder& coder, Lossless codec, const Block& raw) {
  const Block coded = encoded(coder, codec, raw);
  Block back(raw.size(), std::byte{0xa5});
  const auto result = coder.decode(codec, coded, back);
  ASSERT_TRUE(result.has_value()) << describe(result.error());
  ASSERT_EQ(back, raw);
}

// One example at every size, for those codecs that are quick.
TEST(LosslessCoder, GivesBackEverySizeUpToTenThousand) {
  LosslessCoder coder;
  const Block whole = example_block(Example::kSparse70, 10'000);
  Block coded(20'000), back(whole.size());
  for (const auto codec : {Lossless::kNone, Lossless::kLz4, Lossless::kZstd, Lossless::kPlanes}) {
    for (std::size_t bytes = 0; bytes <= whole.size(); ++bytes) {
      const auto raw = std::span(whole).first(bytes);
      const auto out = std::span(back).first(bytes);
      const std::size_t coded_bytes = coder.encode(codec, raw, coded);

      ASSERT_TRUE(coder.decode(codec, std::span(coded).first(coded_bytes), out)) << bytes;
      ASSERT_TRUE(bytes == 0 || std::memcmp(out.data(), raw.data(), bytes) == 0) << bytes;
    }
  }
}

TEST(LosslessCoder, GivesBackEveryKindOfBytes) {
  LosslessCoder coder;
  for (const auto example : kExamples) {
    const Block whole = example_block(example, 10'000);
    for (const auto codec : kCodecs) {
      SCOPED_TRACE(std::string(lossless_name(codec)) + " " +
                   std::to_string(static_cast<int>(example)));
      // All small sizes, then ever fewer; each codec and example sees other ones.
      const auto start = static_cast<std::size_t>(codec) + 7 * static_cast<std::size_t>(example);
      for (std::size_t bytes = 0; bytes <= whole.size();
           bytes += bytes < 100 ? 1 : 100 + (bytes + start) % 173) {
        expect_round_trip(coder, codec,
                          Block(whole.begin(), whole.begin() + std::ptrdiff_t(bytes)));
      }
    }
  }
}

TEST(LosslessCoder, GivesBackWholeBlocks) {
  LosslessCoder coder;
  for (const auto example : {Example::kLayers, Example::kSparse90, Example::kRandomBits}) {
    const Block raw = example_block(example, kBlockBytesMax);
    for (const auto codec : kCodecs) expect_round_trip(coder, codec, raw);
  }
}

TEST(LosslessCoder, TakesUnalignedBytes) {
  LosslessCoder coder;
  const Block raw = example_block(Example::kSparse70, 4001);
  for (const auto codec : kCodecs) {
    Block coded(8000), back(raw.size() + 2);
    const auto bytes = coder.encode(codec, std::span(raw).subspan(1), std::span(coded).subspan(3));
    const auto out = std::span(back).subspan(2, raw.size() - 1);

    ASSERT_TRUE(coder.decode(codec, std::span(coded).subspan(3, bytes), out));
    EXPECT_TRUE(std::equal(out.begin(), out.end(), raw.begin() + 1)) << lossless_name(codec);
  }
}

TEST(LosslessCoder, CodesNothingAsNothing) {
  LosslessCoder coder;
  Block some(10);
  for (const auto codec : kCodecs) {
    EXPECT_EQ(coder.encode(codec, {}, some), 0u);
    EXPECT_TRUE(coder.decode(codec, {}, {}));
    EXPECT_FALSE(coder.decode(codec, some, {}));
    EXPECT_FALSE(coder.decode(codec, {}, some));
  }
}

TEST(LosslessCoder, SaysWhereItDoesNotFit) {
  LosslessCoder coder;
  for (const auto example : {Example::kNormal, Example::kSparse90, Example::kText}) {
    const Block raw = example_block(example, 5003);
    for (const auto codec : kCodecs) {
      const std::size_t needed = encoded(coder, codec, raw).size();
      for (const std::size_t less : {1u, 2u, 3u, 5u, 17u, 64u, 100u, 1000u, 5000u}) {
        Block small(needed - std::min(needed, std::size_t{less}));
        const auto bytes = coder.encode(codec, raw, small);
        // Given less room a codec may find a shorter code, but never claims what is not there.
        ASSERT_LE(bytes, small.size());
        if (bytes == 0) continue;
        Block back(raw.size());
        ASSERT_TRUE(coder.decode(codec, std::span(small).first(bytes), back));
        EXPECT_EQ(back, raw) << lossless_name(codec);
      }
    }
  }
}

TEST(LosslessCoder, LeavesNoiseAlone) {
  LosslessCoder coder;
  const Block noise = example_block(Example::kRandomBits, 100'000);
  Block out(noise.size() - 1);
  for (const auto codec : kCodecs) EXPECT_EQ(coder.encode(codec, noise, out), 0u);
}

// Exactly as many bytes as were asked for, or an error; what is checked besides is that nothing
// crashes and no sanitizer speaks.
TEST(LosslessCoder, RefusesEveryTruncation) {
  LosslessCoder coder;
  for (const auto example : {Example::kSparse70, Example::kText, Example::kAllEqual}) {
    const Block raw = example_block(example, 403);
    for (const auto codec : kCodecs) {
      const Block coded = encoded(coder, codec, raw);
      Block back(raw.size());
      for (std::size_t bytes = 0; bytes < coded.size(); ++bytes) {
        const auto result =
            coder.decode(codec, Block(coded.begin(), coded.begin() + std::ptrdiff_t(bytes)), back);
        ASSERT_FALSE(result) << lossless_name(codec) << " cut to " << bytes;
        EXPECT_EQ(result.error().code, Errc::kBadCoding);
      }
    }
  }
}

TEST(LosslessCoder, RefusesMoreAndOtherSizes) {
  LosslessCoder coder;
  const Block raw = example_block(Example::kSparse70, 803);
  for (const auto codec : kCodecs) {
    const Block coded = encoded(coder, codec, raw);
    Block longer = coded;
    longer.push_back(std::byte{0});
    Block same(raw.size()), more(raw.size() + 1), less(raw.size() - 1);

    EXPECT_FALSE(coder.decode(codec, longer, same)) << lossless_name(codec);
    EXPECT_FALSE(coder.decode(codec, coded, more)) << lossless_name(codec);
    EXPECT_FALSE(coder.decode(codec, coded, less)) << lossless_name(codec);
  }
}

TEST(LosslessCoder, SurvivesEveryFlippedBit) {
  LosslessCoder coder;
  for (const auto example : {Example::kSparse70, Example::kText, Example::kEveryExponent}) {
    const Block raw = example_block(example, 403);
    for (const auto codec : kCodecs) {
      const Block coded = encoded(coder, codec, raw);
      Block back(raw.size());
      for (std::size_t bit = 0; bit < 8 * coded.size(); ++bit) {
        Block flipped = coded;
        flipped[bit / 8] ^= std::byte{1} << bit % 8;
        const auto result = coder.decode(codec, flipped, back);
        ASSERT_TRUE(result || result.error().code == Errc::kBadCoding);
      }
      // The coder is none the worse for it.
      ASSERT_NO_FATAL_FAILURE(expect_round_trip(coder, codec, raw)) << lossless_name(codec);
    }
  }
}

TEST(LosslessCoder, RefusesMoreThanABlock) {
  LosslessCoder coder;
  Block out(kBlockBytesMax + 1), coded(100);
  for (const auto codec : kCodecs) EXPECT_FALSE(coder.decode(codec, coded, out));
  EXPECT_DEATH(coder.encode(Lossless::kLz4, out, coded), "one block");
}

TEST(LosslessCoder, RefusesUnknownNumbers) {
  LosslessCoder coder;
  Block out(100), coded(100);
  EXPECT_FALSE(coder.decode(static_cast<Lossless>(6), coded, out));
  EXPECT_EQ(lossless_name(static_cast<Lossless>(200)), "unknown");
}

TEST(LosslessCoder, TakesOneZstdFrameOnly) {
  LosslessCoder coder;
  const Block raw = example_block(Example::kText, 500);
  Block twice = encoded(coder, Lossless::kZstd, raw);
  const Block again = twice;
  twice.insert(twice.end(), again.begin(), again.end());
  Block back(2 * raw.size());

  EXPECT_FALSE(coder.decode(Lossless::kZstd, twice, back));
}

TEST(LosslessNames, AreReadBack) {
  for (const auto codec : kCodecs) EXPECT_EQ(lossless_named(lossless_name(codec)), codec);
  EXPECT_EQ(lossless_named("lzma"), std::nullopt);
}

TEST(Order0Bytes, IsWhatShannonSays) {
  // Four exponents, equally often: 2 bits each, and 3 bytes a value.
  const std::vector<float> four = {1, 2, 4, 8, -1, -2, -4, -8};
  EXPECT_DOUBLE_EQ(order0_bytes(four), 8 * (3 + 0.25));

  // Half of them +0.0: one bit each, and 3 bytes for the other half.
  const std::vector<float> half = {0, 1, 0, 1.5f};
  EXPECT_DOUBLE_EQ(order0_bytes(half), 4 * 0.125 + 2 * 3);

  // -0.0 is no zero: a symbol of its own with a fraction.
  const std::vector<float> signs = {0.0f, -0.0f};
  EXPECT_DOUBLE_EQ(order0_bytes(signs), 2 * 0.125 + 3);
  EXPECT_EQ(order0_bytes({}), 0);
  EXPECT_EQ(order0_bytes(std::vector<float>(1000)), 0);
}

}  // namespace
}  // namespace wide::codec
