#include "wide/base/stats.h"

#include <gtest/gtest.h>

namespace wide {
namespace {

using namespace std::chrono_literals;

TEST(DurationHistory, IsZeroWhileEmpty) {
  const DurationHistory history;

  EXPECT_TRUE(history.empty());
  EXPECT_EQ(history.p95(), 0ns);
  EXPECT_EQ(history.median(), 0ns);
  EXPECT_EQ(history.mean(), 0ns);
}

TEST(DurationHistory, TakesTheNearestRank) {
  DurationHistory history;
  for (int i = 20; i >= 1; --i) history.add(std::chrono::milliseconds(i));

  EXPECT_EQ(history.count(), 20u);
  EXPECT_EQ(history.p95(), 19ms);
  EXPECT_EQ(history.median(), 10ms);
  EXPECT_EQ(history.mean(), 10500us);
}

TEST(DurationHistory, OfOneIsThatOne) {
  DurationHistory history;
  history.add(3ms);

  EXPECT_EQ(history.p95(), 3ms);
  EXPECT_EQ(history.median(), 3ms);
}

TEST(DurationHistory, ForgetsTheOldest) {
  DurationHistory history;
  history.add(1h);
  for (std::size_t i = 0; i < DurationHistory::kCapacity; ++i) history.add(1ms);

  EXPECT_EQ(history.count(), DurationHistory::kCapacity);
  EXPECT_EQ(history.percentile(100), 1ms);
}

TEST(RateMeter, IsZeroBeforeTheFirstEvent) { EXPECT_EQ(RateMeter().per_second(5s), 0); }

TEST(RateMeter, MeasuresASteadyRate) {
  RateMeter meter;
  for (Time now = 100s; now < 110s; now += 10ms) meter.add(3, now);

  EXPECT_NEAR(meter.per_second(110s), 300, 3);
}

TEST(RateMeter, MeasuresFromTheFirstEventWhileYoung) {
  RateMeter meter;
  for (Time now = 100s; now < 101s; now += 10ms) meter.add(1, now);

  EXPECT_NEAR(meter.per_second(101s), 100, 1);
}

TEST(RateMeter, DoesNotJumpAtTheFirstEvent) {
  RateMeter meter;
  meter.add(1, 100s);

  EXPECT_EQ(meter.per_second(100s), 4);
}

TEST(RateMeter, ForgetsWhatIsLongPast) {
  RateMeter meter;
  for (Time now = 0s; now < 2s; now += 10ms) meter.add(1, now);

  EXPECT_GT(meter.per_second(4s), 0);
  EXPECT_EQ(meter.per_second(7s), 0);
}

}  // namespace
}  // namespace wide
