#include "wide/apps/cli/bench/crowd/scale.h"

#include <gtest/gtest.h>

namespace wide::apps::bench {
namespace {

TEST(Exponent, IsThatOfTheCurve) {
  EXPECT_NEAR(exponent({{10, 7}, {100, 7}, {1000, 7}}), 0, 1e-12);
  EXPECT_NEAR(exponent({{10, 30}, {100, 300}, {1000, 3000}}), 1, 1e-12);
  EXPECT_NEAR(exponent({{2, 4}, {3, 9}, {10, 100}}), 2, 1e-12);
}

TEST(Exponent, IsNoneOfASinglePoint) { EXPECT_EQ(exponent({{10, 3}}), 0); }

}  // namespace
}  // namespace wide::apps::bench
