#include "wide/apps/cli/bench/peers/outcome.h"

#include <gtest/gtest.h>

namespace wide::apps::bench {

namespace {
Curve falling(double first, double each, std::size_t count) {
  Curve curve;
  for (std::size_t i = 0; i < count; ++i) {
    curve.push_back({static_cast<double>(i + 1), first - each * static_cast<double>(i)});
  }
  return curve;
}
}  // namespace

TEST(CurveOf, HasEveryStep) {
  const Curve curve = curve_of(std::vector<double>{4, 2, 3});

  ASSERT_EQ(curve.size(), 3u);
  EXPECT_EQ(curve[2].step, 3);
  EXPECT_EQ(curve[2].loss, 3);
}

TEST(Smoothed, IsNotMovedByOneStrayPoint) {
  Curve curve = falling(2, 0, 9);
  curve[4].loss = 0;

  for (const auto& point : smoothed(curve)) EXPECT_EQ(point.loss, 2);
}

TEST(SharedLoss, IsReachedByAll) {
  const std::vector<Curve> curves = {falling(2.3, 0.01, 100), falling(2.3, 0.1, 20)};

  const auto loss = shared_loss(curves);

  ASSERT_TRUE(loss.has_value());
  for (const auto& curve : curves) EXPECT_TRUE(steps_to(curve, *loss).has_value());
  EXPECT_GT(*steps_to(curves[0], *loss), *steps_to(curves[1], *loss));
}

TEST(SharedLoss, IsNoneWhereOneDidNotLearn) {
  const std::vector<Curve> curves = {falling(2.3, 0.01, 100), falling(2.4, 0, 20)};

  EXPECT_FALSE(shared_loss(curves).has_value());
  EXPECT_FALSE(shared_loss({}).has_value());
}

TEST(MedianOutcome, TakesEachFigureByItself) {
  std::vector<Outcome> rounds(3);
  rounds[0].steps_per_second = 1, rounds[0].memory_bytes = 30;
  rounds[1].steps_per_second = 3, rounds[1].memory_bytes = 10;
  rounds[2].steps_per_second = 2, rounds[2].memory_bytes = 20;
  rounds[1].curve = falling(2, 0.1, 4);

  const Outcome outcome = median_outcome(rounds);

  EXPECT_EQ(outcome.steps_per_second, 2);
  EXPECT_EQ(outcome.memory_bytes, 20);
  EXPECT_EQ(outcome.curve.size(), 4u);
}

}  // namespace wide::apps::bench
