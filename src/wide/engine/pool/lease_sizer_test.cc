#include "wide/engine/pool/lease_sizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace wide::engine {
namespace {

using namespace std::chrono_literals;

Block settle(LeaseSizer& sizer, const std::function<Duration(Block)>& span_of, int steps = 2000) {
  for (int i = 0; i < steps; ++i) sizer.learn(span_of(sizer.floor_count()));
  int counts[33] = {};
  for (int i = 0; i < 200; ++i) {
    ++counts[sizer.floor_count()];
    sizer.learn(span_of(sizer.floor_count()));
  }
  return static_cast<Block>(std::max_element(counts, counts + 33) - counts);
}

TEST(LeaseSizer, StartsNarrow) { EXPECT_EQ(LeaseSizer(10).floor_count(), 1u); }

TEST(LeaseSizer, WidensWhereThatIsFaster) {
  LeaseSizer sizer(16);
  EXPECT_EQ(settle(sizer, [](Block floor) { return 2000us / floor; }), 8u);
}

TEST(LeaseSizer, StaysNarrowWhereWideningHurts) {
  LeaseSizer sizer(16);
  EXPECT_EQ(settle(sizer, [](Block floor) { return 1000us * floor; }), 1u);
}

TEST(LeaseSizer, FindsAnOptimumInBetween) {
  LeaseSizer sizer(32);
  EXPECT_EQ(settle(sizer,
                   [](Block floor) {
                     return floor == 4 ? 500us : 1000us - 50us * (floor < 4 ? floor : 0);
                   }),
            4u);
}

TEST(LeaseSizer, TriesNothingWhereStepsAreLong) {
  LeaseSizer sizer(16);
  for (int i = 0; i < 500; ++i) {
    sizer.learn(1s);
    EXPECT_EQ(sizer.floor_count(), 1u);
  }
}

TEST(LeaseSizer, HasNothingToChooseWithOneBlock) {
  LeaseSizer sizer(1);
  for (int i = 0; i < 500; ++i) sizer.learn(1ms);
  EXPECT_EQ(sizer.floor_count(), 1u);
}

}  // namespace
}  // namespace wide::engine
