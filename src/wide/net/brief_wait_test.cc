#include "wide/net/brief_wait.h"

#include <gtest/gtest.h>

namespace wide::net {
namespace {

using namespace std::chrono_literals;

// Looks every 10 us until the answer comes, or it would sleep; how often it looked.
int looks_until(BriefWait& wait, Time now, Duration answer) {
  int count = 0;
  for (const Time end = now + answer; now < end && wait.look_again(now); now += 10us) ++count;
  return count;
}

TEST(BriefWait, LooksForAWhileAfterShortWork) {
  BriefWait wait;
  EXPECT_FALSE(wait.look_again(1s)) << "nothing was handed in";

  wait.begin(1s);

  EXPECT_EQ(looks_until(wait, 1s, 10s), 50);
  EXPECT_FALSE(wait.look_again(1s + 1us)) << "once it sleeps it sleeps";
}

TEST(BriefWait, SleepsOnceTheAnswerIsThere) {
  BriefWait wait;
  wait.begin(1s);
  wait.came();

  EXPECT_FALSE(wait.look_again(1s + 1us));
}

TEST(BriefWait, SleepsWhereAnotherHadItsCoreForLong) {
  BriefWait wait;
  wait.begin(1s);
  EXPECT_TRUE(wait.look_again(1s + 80us)) << "the pool, most likely";
  EXPECT_FALSE(wait.look_again(1s + 250us));
}

// How often it looked at all, of 1,000 times, where every answer takes so long.
int times_looked(BriefWait& wait, Duration answer) {
  int count = 0;
  for (Time now = 1s; now < 1001s; now += 1s) {
    wait.begin(now);
    count += looks_until(wait, now, answer) > 0 ? 1 : 0;
    wait.came();
  }
  return count;
}

TEST(BriefWait, LooksEveryTimeWhereAnswersAreQuick) {
  BriefWait wait;
  EXPECT_EQ(times_looked(wait, 100us), 1000);
}

TEST(BriefWait, LooksRarelyWhereTheyAreNotAndEveryTimeAgainWhenTheyAre) {
  BriefWait wait;
  const int in_vain = times_looked(wait, 1ms);
  EXPECT_GT(in_vain, 15);
  EXPECT_LT(in_vain, 30);

  EXPECT_GT(times_looked(wait, 100us), 1000 - 64);
}

}  // namespace
}  // namespace wide::net
