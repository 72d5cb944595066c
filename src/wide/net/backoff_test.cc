#include "wide/net/backoff.h"

#include <gtest/gtest.h>

namespace wide::net {

using namespace std::chrono_literals;

TEST(Backoff, StaysWithinItsBoundWhichDoublesUpToTheMost) {
  Backoff backoff(7, 500ms, 30s);
  const Duration bounds[] = {500ms, 1s, 2s, 4s, 8s, 16s, 30s, 30s};

  for (const auto bound : bounds) {
    EXPECT_EQ(backoff.bound(), bound);
    const Duration wait = backoff.next();
    EXPECT_GE(wait, 0s);
    EXPECT_LE(wait, bound);
  }
}

TEST(Backoff, StartsAnewAfterASuccess) {
  Backoff backoff(7);
  for (int i = 0; i < 5; ++i) backoff.next();

  backoff.reset();

  EXPECT_TRUE(backoff.fresh());
}

TEST(Backoff, SpreadsTheNodesOverTheWholeBound) {
  int early = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    if (Backoff(seed).next() < 50ms) ++early;
  }

  EXPECT_GT(early, 60);
  EXPECT_LT(early, 140);
}

}  // namespace wide::net
