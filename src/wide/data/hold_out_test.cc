#include "wide/data/hold_out.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace wide::data {
namespace {

using Place = HoldOut::Place;

void assert_partition(const HoldOut& held, std::uint64_t count) {
  std::vector<int> hits(count);
  for (std::uint64_t i = 0; i < held.train_count(); ++i) {
    RC_ASSERT(held.train_record(i) < count);
    ++hits[held.train_record(i)];
    if (i > 0) RC_ASSERT(held.train_record(i) > held.train_record(i - 1));
  }
  for (std::uint64_t i = 0; i < held.eval_count(); ++i) {
    RC_ASSERT(held.eval_record(i) < count);
    ++hits[held.eval_record(i)];
    if (i > 0) RC_ASSERT(held.eval_record(i) > held.eval_record(i - 1));
  }
  RC_ASSERT(held.train_count() + held.eval_count() == count);
  for (const int hit : hits) RC_ASSERT(hit == 1);
}

RC_GTEST_PROP(HoldOut, HitsEveryRecordOnceInOrder, ()) {
  const auto count = *rc::gen::inRange<std::uint64_t>(1, 3000);
  const auto fraction = *rc::gen::inRange(0, 10'000) / 10'000.0;
  const auto place = *rc::gen::element(Place::kSpaced, Place::kAtEnd);

  const HoldOut held(count, fraction, place);

  assert_partition(held, count);
  RC_ASSERT(held.eval_count() == static_cast<std::uint64_t>(static_cast<double>(count) * fraction));
}

TEST(HoldOut, SpacesThemEvenly) {
  const HoldOut held(20, 0.25, Place::kSpaced);

  // The middles of five stretches of four: 2, 6, 10, 14, 18.
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(held.eval_record(i), 4 * i + 2);
  EXPECT_EQ(held.train_record(1), 1u);
  EXPECT_EQ(held.train_record(2), 3u);
  EXPECT_EQ(held.train_record(14), 19u);
}

TEST(HoldOut, TakesTheEndAsOnePiece) {
  const HoldOut held(10, 0.3, Place::kAtEnd);

  EXPECT_EQ(held.train_count(), 7u);
  EXPECT_EQ(held.train_record(6), 6u);
  EXPECT_EQ(held.eval_record(0), 7u);
}

TEST(HoldOut, NeverTakesEverything) {
  const HoldOut held(3, 0.99999999999999994, Place::kSpaced);  // rounds to three of three

  EXPECT_EQ(held.train_count(), 1u);
}

// At both ends of a set whose products do not fit into 64 bits.
TEST(HoldOut, CountsBeyondSixtyFourBits) {
  const auto count = (std::uint64_t{1} << 50) + 7;
  const HoldOut held(count, 0.5, Place::kSpaced);
  const auto trained = held.train_count();

  for (const std::uint64_t from : {std::uint64_t{0}, trained - 100}) {
    for (auto i = from; i < from + 99; ++i) {
      EXPECT_LT(held.train_record(i), held.train_record(i + 1));
      EXPECT_LE(held.train_record(i + 1) - held.train_record(i), 3u);
    }
  }
  EXPECT_LT(held.train_record(trained - 1), count);
  EXPECT_LT(held.eval_record(held.eval_count() - 1), count);
  EXPECT_GE(held.train_record(trained - 1) + 2, count - 1);
}

}  // namespace
}  // namespace wide::data
