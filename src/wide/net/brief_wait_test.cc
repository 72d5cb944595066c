#include "wide/net/brief_wait.h"

#include <gtest/gtest.h>

namespace wide::net {
namespace {

using namespace std::chrono_literals;

TEST(BriefWait, LooksForAWhileAfterShortWork) {
  BriefWait wait;
  EXPECT_FALSE(wait.look_again(1s)) << "nothing was handed in";

  wait.begin(1s);

  EXPECT_TRUE(wait.look_again(1s + 399us));
  EXPECT_FALSE(wait.look_again(1s + 400us));
  EXPECT_FALSE(wait.look_again(1s + 1us)) << "once it sleeps it sleeps";
}

TEST(BriefWait, SleepsOnceTheAnswerIsThere) {
  BriefWait wait;
  wait.begin(1s);
  wait.came();

  EXPECT_FALSE(wait.look_again(1s + 1us));
}

// How often it looks, of 1,000 times, where every answer takes so long.
int looks(BriefWait& wait, Duration answer) {
  int count = 0;
  for (Time now = 1s; now < 1001s; now += 1s) {
    wait.begin(now);
    count += wait.look_again(now) ? 1 : 0;
    wait.look_again(now + answer);
    wait.came();
  }
  return count;
}

TEST(BriefWait, LooksEveryTimeWhereAnswersAreQuick) {
  BriefWait wait;
  EXPECT_EQ(looks(wait, 100us), 1000);
}

TEST(BriefWait, LooksRarelyWhereTheyAreNotAndEveryTimeAgainWhenTheyAre) {
  BriefWait wait;
  const int in_vain = looks(wait, 1ms);
  EXPECT_GT(in_vain, 15);
  EXPECT_LT(in_vain, 25);

  EXPECT_GT(looks(wait, 100us), 1000 - 64);
}

}  // namespace
}  // namespace wide::net
