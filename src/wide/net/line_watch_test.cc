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

  // All of it out in one span.
  std::optional<codec::LinkFacts> fly(std::uint64_t bytes, Duration span) {
    watch_.begin(reading_);
    reading_.at += span;
    reading_.acked_bytes += bytes;
    reading_.unsent_bytes = 0;
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
  EXPECT_FALSE(fly(10'000'000, 10ms));  // a gigabyte per second

  watch_.begin(reading_);
  std::optional<codec::LinkFacts> facts;
  for (int i = 0; i < 10; ++i) facts = look(5000);  // a hiccup
  ASSERT_TRUE(facts);
  EXPECT_NEAR(facts->bytes_per_second, 1e9, 1);

  for (int message = 0; message < 8; ++message) fly(10'000'000, 1s);
  watch_.begin(reading_);
  for (int i = 0; i < 10; ++i) facts = look(5000);
  EXPECT_NEAR(facts->bytes_per_second, 1e7, 1) << "it has not done so for long";

  facts = fly(5'000'000, 10ms);
  ASSERT_TRUE(facts) << "more than was told";
  EXPECT_NEAR(facts->bytes_per_second, 5e8, 1);
}

TEST_F(LineWatchTest, ABoundIsOfAWholeFlight) {
  watch_.begin(reading_);
  for (int i = 0; i < 10; ++i) look(5000);  // a megabyte in 100 ms
  reading_.acked_bytes += 1'000'000;        // acknowledged late, at once
  const auto facts = look(0);

  ASSERT_TRUE(facts);
  EXPECT_NEAR(facts->bytes_per_second, 2.1e6 / 0.11, 1);
}

TEST_F(LineWatchTest, ABurstAmongLongFlightsBoundsNothing) {
  for (int message = 0; message < 20; ++message) {
    EXPECT_FALSE(fly(700'000, 1ms)) << "passed the shaper at once";
    watch_.begin(reading_);
    std::optional<codec::LinkFacts> facts;
    for (int i = 0; i < 60; ++i) {
      if (const auto told = look(5000)) facts = told;
    }
    if (message > 0) {
      ASSERT_TRUE(facts);
      EXPECT_NEAR(facts->bytes_per_second, 1e7, 1);
    }
    look(0);
  }
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
