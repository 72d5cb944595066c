#include "wide/base/median.h"

#include <gtest/gtest.h>

namespace wide {
namespace {

TEST(Median, IsTheMiddle) {
  EXPECT_EQ(median({3, 100, 1}), 3);
  EXPECT_EQ(median({4, 1, 3, 100}), 3.5);
  EXPECT_EQ(median({7}), 7);
}

TEST(Median, OfNothingIsZero) { EXPECT_EQ(median({}), 0); }

}  // namespace
}  // namespace wide
