#include "wide/apps/cli/progress_line.h"

#include <gtest/gtest.h>

#include <array>

#include "wide/apps/cli/figures.h"

namespace wide::apps {

namespace {
engine::Progress halfway() {
  engine::Progress progress;
  progress.state = "training";
  progress.step = 50;
  progress.steps_total = 100;
  progress.epoch = 0.5;
  progress.loss = 0.43214;
  progress.samples_per_second = 3912;
  progress.elapsed_seconds = 40;
  progress.left_seconds = 42;
  progress.nodes = 2;
  progress.slots = 2;
  return progress;
}
}  // namespace

TEST(LiveLine, ShowsStepBarLossSpeedNodesAndTimeLeft) {
  EXPECT_EQ(live_line(halfway(), 100),
            "step 50/100 [===============>              ] 50%  loss 0.4321  3912 samples/s  "
            "2 nodes  0:42 left");
}

TEST(LiveLine, NeverWraps) {
  for (const std::size_t columns : std::array<std::size_t, 6>{5, 20, 40, 60, 79, 200}) {
    EXPECT_LE(live_line(halfway(), columns).size(), columns);
  }
}

TEST(LiveLine, SaysWhatItWaitsFor) {
  auto progress = halfway();
  progress.state = "waiting for nodes";
  progress.nodes = 0;

  EXPECT_NE(live_line(progress, 120).find("waiting for nodes"), std::string::npos);
}

TEST(PlainLine, IsOneWordPerFact) {
  auto progress = halfway();
  progress.state = "waiting for nodes";

  EXPECT_EQ(plain_line(progress),
            "progress state=waiting-for-nodes step=50 steps_total=100 epoch=0.500 loss=0.432140 "
            "samples_per_second=3912.0 nodes=2 slots=2 elapsed_seconds=40.0 left_seconds=42.0");
}

TEST(DoneFraction, GoesByTimeWhereTheRunEndsByTime) {
  auto progress = halfway();
  progress.steps_total = 0;
  progress.elapsed_seconds = 15;
  progress.left_seconds = 45;

  EXPECT_DOUBLE_EQ(done_fraction(progress), 0.25);
}

TEST(DoneFraction, StaysWithinItsBounds) {
  auto progress = halfway();
  progress.step = 101;
  EXPECT_DOUBLE_EQ(done_fraction(progress), 1);

  progress = {};
  EXPECT_DOUBLE_EQ(done_fraction(progress), 0);
}

TEST(Figures, ReadAsPeopleWriteThem) {
  EXPECT_EQ(grouped(7), "7");
  EXPECT_EQ(grouped(60000), "60,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(short_rate(812), "812");
  EXPECT_EQ(short_rate(12345), "12.3k");
  EXPECT_EQ(short_bytes(999), "999 B");
  EXPECT_EQ(short_bytes(1.25e6), "1.2 MB");
  EXPECT_EQ(clock_span(42), "0:42");
  EXPECT_EQ(clock_span(3723), "1:02:03");
  EXPECT_EQ(width("größer"), 6u);
}

}  // namespace wide::apps
