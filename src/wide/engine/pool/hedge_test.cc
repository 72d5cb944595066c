#include "wide/engine/pool/hedge.h"

#include <gtest/gtest.h>

namespace wide::engine {
namespace {

using namespace std::chrono_literals;

DurationHistory history(int count, Duration each) {
  DurationHistory history;
  for (int i = 0; i < count; ++i) history.add(each);
  return history;
}

TEST(HedgeAfter, IsNeverBeforeAnyResult) {
  EXPECT_FALSE(hedge_after(history(0, 0s), history(0, 0s), 1));
}

TEST(HedgeAfter, IsOneAndAHalfTimesTheHoldersOwnPace) {
  EXPECT_EQ(hedge_after(history(8, 100ms), history(50, 1s), 1), 150ms);
}

TEST(HedgeAfter, TakesThePoolsPaceUntilTheHolderHasEightResults) {
  EXPECT_EQ(hedge_after(history(7, 100ms), history(50, 1s), 1), 1500ms);
}

TEST(HedgeAfter, GrowsWithTheLease) {
  EXPECT_EQ(hedge_after(history(8, 100ms), history(8, 100ms), 4), 600ms);
}

TEST(HedgeAfter, LeavesJitterAlone) {
  EXPECT_EQ(hedge_after(history(8, 100us), history(8, 100us), 1), 20ms);
}

}  // namespace
}  // namespace wide::engine
