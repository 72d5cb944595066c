#include "wide/codec/kept_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "wide/codec/example_blocks.h"
#include "wide/codec/example_targets.h"
#include "wide/codec/exponent_table.h"
#include "wide/codec/planes.h"

namespace wide::codec {
namespace {

using Block = std::vector<std::byte>;

constexpr std::size_t kGroupBytes = 4 * kRunGroup;

// Where a block is empty, by group.
using Pattern = bool (*)(std::size_t group);
constexpr Pattern kPatterns[] = {
    [](std::size_t group) { return group < 5; },            // at the start
    [](std::size_t group) { return group >= 9; },           // at the end
    [](std::size_t group) { return group % 5 >= 3; },       // pairs everywhere
    [](std::size_t group) { return group % 3 != 1; },       // hardly anything else
    [](std::size_t group) { return group % 2 == 0; },       // each alone
    [](std::size_t group) { return group != 7; },           // all but one
    [](std::size_t group) { return group / 20 % 2 == 0; },  // long ones
    [](std::size_t) { return true; },
};

Block patterned(Pattern is_empty, std::size_t bytes, Example example = Example::kNormal) {
  Block block = example_block(example, bytes);
  for (std::size_t at = 0; at < bytes; at += kGroupBytes) {
    if (!is_empty(at / kGroupBytes)) continue;
    std::fill_n(block.begin() + std::ptrdiff_t(at), std::min(kGroupBytes, bytes - at),
                std::byte{0});
  }
  return block;
}

Block encoded(const Block& raw, decltype(encode_planes) encode = encode_planes) {
  Block coded(raw.size() + raw.size() / 8 + 600);
  coded.resize(encode(raw, coded));
  return coded;
}

bool has_runs(const Block& coded) { return coded.front() == std::byte{kRunsFollow}; }

TEST(PlanesWithRuns, GiveBackEverySizeUpToTenThousand) {
  Block coded(20'000), back(10'000);
  for (const Pattern pattern : kPatterns) {
    const Block whole = patterned(pattern, 10'000);
    for (std::size_t bytes = 0; bytes <= whole.size(); ++bytes) {
      const auto raw = std::span(whole).first(bytes);
      const auto out = std::span(back).first(bytes);
      std::memset(back.data(), 0xa5, bytes);
      const std::size_t coded_bytes = encode_planes(raw, coded);

      ASSERT_TRUE(decode_planes(std::span(coded).first(coded_bytes), out)) << bytes;
      ASSERT_EQ(std::memcmp(back.data(), whole.data(), bytes), 0) << bytes;
    }
  }
}

TEST(PlanesWithRuns, EqualPlainLoopsOnEveryTarget) {
  example::on_every_target([](const char* target) {
    for (const Pattern pattern : kPatterns) {
      for (const auto example : {Example::kSparse70, Example::kWeights, Example::kEveryExponent}) {
        for (const std::size_t bytes : {64u, 128u, 131u, 1027u, 5003u, 20'002u, 65'536u}) {
          const Block raw = patterned(pattern, bytes, example);
          const Block coded = encoded(raw);
          Block back(raw.size(), std::byte{0xa5});

          ASSERT_EQ(coded, encoded(raw, encode_planes_reference)) << target << bytes;
          ASSERT_TRUE(decode_planes(coded, back)) << target << bytes;
          ASSERT_EQ(back, raw);
          ASSERT_TRUE(decode_planes_reference(coded, back)) << target << bytes;
          ASSERT_EQ(back, raw);
        }
      }
    }
  });
}

TEST(PlanesWithRuns, RefuseWhatPlainLoopsRefuse) {
  for (const Pattern pattern : {kPatterns[0], kPatterns[2], kPatterns[3]}) {
    const Block raw = patterned(pattern, 1291);
    const Block coded = encoded(raw);
    ASSERT_TRUE(has_runs(coded));
    Block fast(raw.size()), plain(raw.size());
    for (std::size_t bit = 0; bit < 8 * coded.size(); ++bit) {
      Block flipped = coded;
      flipped[bit / 8] ^= std::byte{1} << bit % 8;
      const bool taken = decode_planes(flipped, fast);

      ASSERT_EQ(taken, decode_planes_reference(flipped, plain)) << bit;
      ASSERT_TRUE(!taken || fast == plain) << bit;
    }
    for (std::size_t bytes = 0; bytes < coded.size(); ++bytes) {
      const Block cut(coded.begin(), coded.begin() + std::ptrdiff_t(bytes));
      ASSERT_FALSE(decode_planes(cut, fast)) << bytes;
      ASSERT_FALSE(decode_planes_reference(cut, plain)) << bytes;
    }
  }
}

TEST(PlanesWithRuns, DoNotFitWhereRoomIsShort) {
  const Block raw = patterned(kPatterns[2], 4003);
  const std::size_t needed = encoded(raw).size();
  for (std::size_t room = 0; room < needed; ++room) {
    Block small(room);  // of exactly that size, for a sanitizer to see
    EXPECT_EQ(encode_planes(raw, small), 0u) << room;
  }
  Block exact(needed);
  EXPECT_EQ(encode_planes(raw, exact), needed);
}

TEST(PlanesWithRuns, AreShorterThanEntropyAlone) {
  const Block raw = example_block(Example::kDeadFeatures, 1 << 18);
  std::vector<float> values(raw.size() / 4);
  std::memcpy(values.data(), raw.data(), raw.size());

  EXPECT_TRUE(has_runs(encoded(raw)));
  EXPECT_LE(static_cast<double>(encoded(raw).size()), 0.97 * order0_bytes(values));
}

// Zeros here and there are dearer as runs than as symbols.
TEST(PlanesWithRuns, AreNotMadeWhereTheyDoNotPay) {
  for (const auto example : {Example::kSparse70, Example::kSparse90, Example::kZeros}) {
    EXPECT_FALSE(has_runs(encoded(example_block(example, 1 << 18))));
  }
}

// --- The runs themselves -----------------------------------------------------------------------

TEST(KeptRuns, AreOfPositiveZerosOnly) {
  Block raw = patterned(kPatterns[5], 40 * kGroupBytes);
  KeptRuns runs(raw.size() / 4);
  runs.leave_out_zeros(raw);
  EXPECT_EQ(runs.word_count(), kRunGroup);

  store_word(raw.data() + 20 * kGroupBytes, 0x80000000u);  // -0.0
  runs.leave_out_zeros(raw);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[1].begin, 20 * kRunGroup);
  EXPECT_EQ(runs[1].count, kRunGroup);
}

TEST(KeptRuns, LeaveSomethingToCode) {
  const Block raw(40 * kGroupBytes);
  KeptRuns runs(raw.size() / 4);
  runs.leave_out_zeros(raw);
  EXPECT_EQ(runs.word_count(), kRunGroup);
}

TEST(KeptRuns, HaveRoomForTheMostThereCanBe) {
  const Pattern shortest = [](std::size_t group) { return group % 3 != 0; };
  for (const std::size_t bytes : {kBlockBytesMax, kBlockBytesMax - 4, kBlockBytesMax - 68}) {
    const Block raw = patterned(shortest, bytes);
    Block back(raw.size());
    KeptRuns runs(raw.size() / 4);
    runs.leave_out_zeros(raw);
    EXPECT_GE(runs.size(), kBlockBytesMax / kGroupBytes / 3);
    EXPECT_TRUE(decode_planes(encoded(raw), back));
    EXPECT_EQ(back, raw);
  }
}

// Of ten whole groups and five words.
bool is_read(std::initializer_list<int> numbers, std::size_t words = 10 * kRunGroup + 5) {
  Block bytes;
  for (const int number : numbers) bytes.push_back(static_cast<std::byte>(number));
  ByteReader from(bytes);
  KeptRuns runs(words);
  return runs.read(from) && from.left() == 0;
}

TEST(KeptRuns, AreRefusedWhereNoneWouldWriteThem) {
  EXPECT_TRUE(is_read({2, 3, 7}));
  EXPECT_TRUE(is_read({2, 0, 2, 8}));
  EXPECT_TRUE(is_read({2, 1, 2, 1, 2, 1, 3}));
  EXPECT_TRUE(is_read({2, 0, 10}));  // five words are left
  EXPECT_TRUE(is_read({2, 1, 0x80 | 71, 1}, 200 * kRunGroup));

  EXPECT_FALSE(is_read({2, 0, 10}, 10 * kRunGroup));  // nothing to code
  EXPECT_FALSE(is_read({2, 10}));                     // nothing left out
  EXPECT_FALSE(is_read({2, 3, 8}));                   // more than there are
  EXPECT_FALSE(is_read({2, 11}));                     //
  EXPECT_FALSE(is_read({2, 3, 1, 6}));                // one alone
  EXPECT_FALSE(is_read({2, 3, 0, 7}));                //
  EXPECT_FALSE(is_read({2, 3, 2, 0, 5}));             // nothing between
  EXPECT_FALSE(is_read({2, 0, 0, 10}));               //
  EXPECT_FALSE(is_read({2, 0x80 | 3, 0, 7}));         // longer than it need be
  EXPECT_FALSE(is_read({2, 3, 0xff, 0xff}));          //
  EXPECT_FALSE(is_read({2}, 5));                      // no whole group
  for (const auto& cut : {std::initializer_list<int>{2}, {2, 3}, {2, 3, 2}, {2, 0x83}}) {
    EXPECT_FALSE(is_read(cut));
  }
}

}  // namespace
}  // namespace wide::codec
