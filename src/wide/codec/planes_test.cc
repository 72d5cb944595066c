#include "wide/codec/planes.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>

#include "wide/codec/example_blocks.h"
#include "wide/codec/exponent_table.h"
#include "wide/codec/lossless.h"

namespace wide::codec {
namespace {

using Block = std::vector<std::byte>;

Block encoded(const Block& raw, decltype(encode_planes) encode = encode_planes) {
  Block coded(raw.size() + raw.size() / 8 + 600);
  coded.resize(encode(raw, coded));
  return coded;
}

std::vector<float> floats_of(const Block& raw) {
  std::vector<float> values(raw.size() / 4);
  std::memcpy(values.data(), raw.data(), values.size() * 4);
  return values;
}

// Runs a claim under each instruction set, then gives the choice back.
template <class Claim>
void on_every_target(const Claim& claim) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();  // choose anew
    claim();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

TEST(Planes, EqualsPlainLoopsOnEveryTarget) {
  on_every_target([] {
    for (const auto example : kExamples) {
      for (const std::size_t bytes : {1u, 4u, 5u, 23u, 64u, 67u, 131u, 1027u, 5003u, 20'002u}) {
        const Block raw = example_block(example, bytes);
        const Block coded = encoded(raw);
        Block back(raw.size());

        EXPECT_EQ(coded, encoded(raw, encode_planes_reference)) << bytes;
        EXPECT_TRUE(decode_planes(coded, back)) << bytes;
        EXPECT_EQ(back, raw);
        EXPECT_TRUE(decode_planes_reference(coded, back)) << bytes;
        EXPECT_EQ(back, raw);
      }
    }
  });
}

// Whatever the bytes are, both say the same of them.
TEST(Planes, RefusesWhatPlainLoopsRefuse) {
  for (const auto example : {Example::kSparse70, Example::kLayers, Example::kNegativeZeros}) {
    const Block raw = example_block(example, 259);
    const Block coded = encoded(raw);
    for (std::size_t bit = 0; bit < 8 * coded.size(); ++bit) {
      Block flipped = coded;
      flipped[bit / 8] ^= std::byte{1} << bit % 8;
      Block fast(raw.size()), plain(raw.size());
      const bool taken = decode_planes(flipped, fast);

      ASSERT_EQ(taken, decode_planes_reference(flipped, plain)) << bit;
      ASSERT_TRUE(!taken || fast == plain) << bit;
    }
  }
}

TEST(Planes, ComesNearTheEntropyOfTheExponents) {
  for (const auto example : {Example::kNormal, Example::kLayers, Example::kSparse70,
                             Example::kSparse90, Example::kWeights, Example::kNegativeZeros}) {
    const Block raw = example_block(example, 1 << 18);
    const double least = order0_bytes(floats_of(raw));
    EXPECT_LE(static_cast<double>(encoded(raw).size()), 1.01 * least) << static_cast<int>(example);
  }
}

TEST(Planes, CodesOneSymbolAsNextToNothing) {
  const Block zeros = example_block(Example::kZeros, kBlockBytesMax);
  EXPECT_LE(encoded(zeros).size(), 12u);

  const Block equal = example_block(Example::kAllEqual, 40'003);
  EXPECT_LE(encoded(equal).size(), 30'000u + 12);
}

TEST(Planes, DoesNotFitWhereRoomIsShort) {
  const Block raw = example_block(Example::kSparse70, 4003);
  const std::size_t needed = encoded(raw).size();
  for (std::size_t room = 0; room < needed; ++room) {
    Block guarded(room + 16, std::byte{0x5a});
    EXPECT_EQ(encode_planes(raw, std::span(guarded).first(room)), 0u) << room;
    EXPECT_EQ(std::count(guarded.begin() + std::ptrdiff_t(room), guarded.end(), std::byte{0x5a}),
              16);
  }
  Block exact(needed);
  EXPECT_EQ(encode_planes(raw, exact), needed);
}

// --- Tables that no encoder writes -------------------------------------------------------------

ExponentTable two_symbols(std::uint16_t first, std::uint16_t second) {
  ExponentTable table;
  table.frequency[120] = first;
  table.frequency[121] = second;
  table.used_count = 2;
  return table;
}

Block written(const ExponentTable& table) {
  std::array<std::byte, kTableBytesMax> bytes;
  return Block(bytes.begin(), bytes.begin() + std::ptrdiff_t(table.write(bytes)));
}

std::optional<ExponentTable> read_back(const Block& bytes) {
  ByteReader reader(bytes);
  return ExponentTable::read(reader);
}

TEST(ExponentTable, IsReadAsItWasWritten) {
  for (const auto example : kExamples) {
    const Block raw = example_block(example, 5000);
    const auto table = ExponentTable::from(count_exponents(raw));
    const auto back = read_back(written(table));

    ASSERT_TRUE(back) << static_cast<int>(example);
    EXPECT_EQ(back->frequency, table.frequency);
    EXPECT_EQ(back->zero, table.zero);
    EXPECT_EQ(back->used_count, table.used_count);
    EXPECT_EQ(back->commonest, table.commonest);
  }
}

TEST(ExponentTable, RefusesOtherSums) {
  EXPECT_TRUE(read_back(written(two_symbols(4000, 96))));
  EXPECT_FALSE(read_back(written(two_symbols(4000, 97))));
  EXPECT_FALSE(read_back(written(two_symbols(4096, 4096))));
  EXPECT_FALSE(read_back(written(two_symbols(1, 1))));
}

TEST(ExponentTable, RefusesLooseEnds) {
  const Block good = written(two_symbols(4000, 96));  // flags first last bitmap frequencies
  const auto with = [&](std::size_t at, unsigned value) {
    Block changed = good;
    changed[at] = std::byte(value);
    return read_back(changed);
  };
  ASSERT_EQ(good.size(), 4u + 3);
  EXPECT_FALSE(with(0, 2));      // unknown flag
  EXPECT_FALSE(with(1, 122));    // first behind last
  EXPECT_FALSE(with(3, 0b01));   // last does not occur
  EXPECT_FALSE(with(3, 0b10));   // first does not occur
  EXPECT_FALSE(with(3, 0b111));  // bits behind the last
  EXPECT_FALSE(read_back({}));
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes) {
    EXPECT_FALSE(read_back(Block(good.begin(), good.begin() + std::ptrdiff_t(bytes))));
  }
}

TEST(ExponentTable, RefusesAZeroSymbolThatDoesNotOccur) {
  ExponentTable table = two_symbols(4000, 96);
  table.zero = 121;
  EXPECT_TRUE(read_back(written(table)));
  table.zero = 122;
  EXPECT_FALSE(read_back(written(table)));
}

TEST(ExponentTable, CountsZerosAmongOthersWhereNoNumberIsFree) {
  const Block raw = example_block(Example::kEveryExponent, 257 * 4);
  const auto table = ExponentTable::from(count_exponents(raw));
  EXPECT_EQ(table.used_count, 256u);
  EXPECT_EQ(table.zero, std::nullopt);
}

// More zeros than there are words, and fewer fractions than words that are no zeros.
TEST(Planes, RefusesZeroCountsThatLie) {
  const Block raw = example_block(Example::kSparse70, 400);
  const Block coded = encoded(raw);
  const auto table_bytes = written(ExponentTable::from(count_exponents(raw))).size();
  for (const std::uint32_t change : {1u, 0xffffffffu, 100u, 0x55555500u, 0x80000000u}) {
    Block lying = coded;
    store_word(lying.data() + table_bytes, load_word(lying.data() + table_bytes) + change);
    Block back(raw.size());
    EXPECT_FALSE(decode_planes(lying, back));
    EXPECT_FALSE(decode_planes_reference(lying, back));
  }
}

}  // namespace
}  // namespace wide::codec
