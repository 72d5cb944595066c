#include "wide/net/line_watch.h"

#include <gtest/gtest.h>

namespace wide::net {
namespace {

using namespace std::chrono_literals;

// Readings of a line that carries ten megabytes in a second.
class LineWatchTest : public testing::Test {
 protected:
  std::optional<codec::LinkFacts> look(std::uint32_t unsent_bytes) {
    reading_.at += LineWatch::kEvery;
    reading_.acked_bytes += 100'000;
    reading_.unsent_bytes = unsent_bytes;
    return watch_.learn(reading_);
  }

  TcpReading reading_{0s, 0, 0, 0s, 4ms};
  LineWatch watch_;
};

TEST_F(LineWatchTest, CountsWhatALineCarriedThatWasNeverIdle) {
  watch_.begin(reading_);
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(look(5000));
  const auto facts = look(5000);

  ASSERT_TRUE(facts);
  EXPECT_NEAR(facts->bytes_per_second, 1e7, 1);
  EXPECT_EQ(facts->rtt, 4ms);
}

TEST_F(LineWatchTest, AddsUpTheSpansOfSeveralMessages) {
  int fact_count = 0;
  for (int message = 0; message < 20; ++message) {
    watch_.begin(reading_);
    if (look(5000)) ++fact_count;
    if (look(0)) ++fact_count;
  }

  EXPECT_EQ(fact_count, 2);
}

TEST_F(LineWatchTest, ALineThatWasIdleGivesABoundAlone) {
  for (int message = 0; message < 100; ++message) {
    watch_.begin(reading_);
    EXPECT_FALSE(look(0)) << "of what is not known";
    reading_.at += 1s;
  }
}

TEST_F(LineWatchTest, WhatALineHasShownItIsBelievedToHave) {
  watch_.begin(reading_);
  reading_.acked_bytes += 9'900'000;
  EXPECT_FALSE(look(0));  // a gigabyte per second

  watch_.begin(reading_);
  std::optional<codec::LinkFacts> facts;
  for (int i = 0; i < 10; ++i) facts = look(5000);  // a hiccup
  ASSERT_TRUE(facts);
  EXPECT_NEAR(facts->bytes_per_second, 1e9, 1);

  for (int message = 0; message < 8; ++message) {
    watch_.begin(reading_);
    look(0);
  }
  watch_.begin(reading_);
  for (int i = 0; i < 10; ++i) facts = look(5000);
  EXPECT_NEAR(facts->bytes_per_second, 1e7, 1) << "it has not done so for long";

  reading_.acked_bytes += 4'900'000;
  facts = look(0);
  ASSERT_TRUE(facts) << "more than was told";
  EXPECT_NEAR(facts->bytes_per_second, 5e8, 1);
}

TEST_F(LineWatchTest, BelievesNothingWhileTheReaderHasNoRoom) {
  for (int i = 0; i < 100; ++i) {
    reading_.reader_full += 1ms;
    EXPECT_FALSE(look(5000));
  }
}

TEST(ReadTcp, HasNothingToSayOfWhatIsNoConnection) { EXPECT_FALSE(read_tcp(-1, 0s)); }

}  // namespace
}  // namespace wide::net
