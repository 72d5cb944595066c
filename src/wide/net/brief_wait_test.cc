#include "wide/net/brief_wait.h"

#include <gtest/gtest.h>

namespace wide::net {
namespace {

using namespace std::chrono_literals;

// How often it stayed awake, of 1,000 times, where every answer takes so long.
int times_awake(BriefWait& wait, Duration answer) {
  int count = 0;
  for (Time now = 1s; now < 1001s; now += 1s) {
    count += wait.begin(now, 5ms) ? 1 : 0;
    wait.came(now + answer);
  }
  return count;
}

TEST(BriefWait, StaysAwakeEveryTimeWhereAnswersAreQuick) {
  BriefWait wait;
  EXPECT_EQ(times_awake(wait, 1ms), 1000);
}

TEST(BriefWait, StaysAwakeRarelyWhereTheyAreNotAndEveryTimeAgainWhenTheyAre) {
  BriefWait wait;
  const int in_vain = times_awake(wait, 20ms);
  EXPECT_GT(in_vain, 15);
  EXPECT_LT(in_vain, 30);

  EXPECT_GT(times_awake(wait, 1ms), 1000 - 64);
}

TEST(BriefWait, BearsAHiccup) {
  BriefWait wait;
  for (const Duration answer : {Duration(1ms), Duration(1s), Duration(1s), Duration(1ms)}) {
    EXPECT_TRUE(wait.begin(1s, 5ms));
    wait.came(1s + answer);
  }
}

// Handed in twice before anything comes: it waits for the last, and once.
TEST(BriefWait, CountsFromTheLast) {
  BriefWait wait;
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(wait.begin(1s, 5ms));
    EXPECT_TRUE(wait.begin(2s, 5ms));
    wait.came(2s + 1ms);
    for (int more = 0; more < 5; ++more) wait.came(20s);
  }
}

}  // namespace
}  // namespace wide::net
