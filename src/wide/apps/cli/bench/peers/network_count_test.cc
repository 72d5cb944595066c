#include "wide/apps/cli/bench/peers/network_count.h"

#include <gtest/gtest.h>

namespace wide::apps::bench {

TEST(CountOf, ReadsTheLineOfADevice) {
  const auto count = count_of(
      "Inter-|   Receive  |  Transmit\n face |bytes packets|bytes\n"
      "    lo:  12 1 0 0 0 0 0 0  34 1 0 0 0 0 0 0\n"
      "eth0: 5600 7 0 0 0 0 0 0 7800 9 0 0 0 0 0 0\n",
      "eth0");

  ASSERT_TRUE(count.has_value());
  EXPECT_EQ(count->received_bytes, 5600u);
  EXPECT_EQ(count->sent_bytes, 7800u);
  EXPECT_FALSE(count_of("lo: 1 2", "lo").has_value());
  EXPECT_FALSE(count_of("", "eth0").has_value());
}

}  // namespace wide::apps::bench
