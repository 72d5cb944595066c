#include "wide/apps/cli/bench/crowd/scale.h"

#include <gtest/gtest.h>

#include "wide/apps/cli/bench/crowd/child.h"

namespace wide::apps::bench {
namespace {

TEST(Exponent, IsThatOfTheCurve) {
  EXPECT_NEAR(exponent({{10, 7}, {100, 7}, {1000, 7}}), 0, 1e-12);
  EXPECT_NEAR(exponent({{10, 30}, {100, 300}, {1000, 3000}}), 1, 1e-12);
  EXPECT_NEAR(exponent({{2, 4}, {3, 9}, {10, 100}}), 2, 1e-12);
}

TEST(Exponent, IsNoneOfASinglePoint) { EXPECT_EQ(exponent({{10, 3}}), 0); }

TEST(ReadMemory, AddsUpWhatIsPrivate) {
  const Memory memory = read_memory(
      "00400000-7ffc0000 ---p 00000000 00:00 0    [rollup]\n"
      "Rss:                1000 kB\n"
      "Pss:                 700 kB\n"
      "Pss_Dirty:            60 kB\n"
      "Shared_Clean:        500 kB\n"
      "Private_Clean:       100 kB\n"
      "Private_Dirty:       400 kB\n");

  EXPECT_EQ(memory.private_bytes, 500u * 1024);
  EXPECT_EQ(memory.proportional_bytes, 700u * 1024);
}

TEST(ReadMemory, IsNothingWhereThereIsNothing) { EXPECT_EQ(read_memory("").private_bytes, 0u); }

}  // namespace
}  // namespace wide::apps::bench
