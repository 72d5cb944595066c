#include "wide/engine/lossy_choice.h"

#include <gtest/gtest.h>

#include <vector>

#include "wide/base/philox.h"

namespace wide::engine {
namespace {

using codec::Lossy;

constexpr std::size_t kCount = 20000;

std::vector<float> a_mean() {
  const RandomStream stream(1, 1, 1);
  std::vector<float> mean(kCount);
  for (std::size_t i = 0; i < kCount; ++i) mean[i] = 0.01f * static_cast<float>(stream.normal(i));
  return mean;
}

BytesByCodec bytes() {
  BytesByCodec bytes{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(Lossy::kPowersgd); ++i) {
    bytes[i] = codec::coded_bytes(static_cast<Lossy>(i), kCount);
  }
  return bytes;
}

Coding both_auto(double budget) {
  Coding plan;
  plan.gradient = plan.update = LossyPlan::kAuto;
  plan.budget = budget;
  return plan;
}

// A line on which lag grows with the bytes that are sent.
class Line final {
 public:
  explicit Line(double seconds_per_byte) : seconds_per_byte_(seconds_per_byte) {}

  StepCosts costs(const LossyPair& pair) const {
    const auto all = bytes();
    const auto sent =
        all[static_cast<std::size_t>(pair.gradient)] + all[static_cast<std::size_t>(pair.update)];
    return {0.01, seconds_per_byte_ * double(sent)};
  }

 private:
  double seconds_per_byte_;
};

int run(LossyChoice& choice, const Line& line, int steps) {
  const auto mean = a_mean();
  int changes = 0;
  for (int step = 0; step < steps; ++step) {
    changes += choice.decide(static_cast<std::uint64_t>(step), mean, line.costs(choice.pair()))
                   .has_value();
  }
  return changes;
}

TEST(LossyChoice, LosesNothingWhereTheLineIsFast) {
  LossyChoice choice(both_auto(0.1), bytes(), bytes());

  EXPECT_EQ(run(choice, Line(1e-9), 100), 0);
  EXPECT_EQ(choice.pair(), LossyPair());
}

TEST(LossyChoice, TakesTheMildestThatGetsTheLineOutOfTheWay) {
  LossyChoice choice(both_auto(0.1), bytes(), bytes());

  // 160 kB take 1.6 ms, more than a tenth of the computing: half of it is enough.
  run(choice, Line(1e-8), 100);

  EXPECT_EQ(choice.pair(), (LossyPair{Lossy::kFp16, Lossy::kFp16}));
}

TEST(LossyChoice, GoesAsFarAsTheBudgetAndNoFurther) {
  const Line slow(1e-5);
  LossyChoice wide_budget(both_auto(0.1), bytes(), bytes());
  LossyChoice narrow_budget(both_auto(0.001), bytes(), bytes());

  run(wide_budget, slow, 100);
  run(narrow_budget, slow, 100);

  EXPECT_EQ(wide_budget.pair(), (LossyPair{Lossy::kInt4, Lossy::kInt4}));
  EXPECT_EQ(narrow_budget.pair(), (LossyPair{Lossy::kInt8, Lossy::kInt8}));
}

TEST(LossyChoice, DecidesSoonWhereStepsTakeLong) {
  LossyChoice slow(both_auto(1e-2), bytes(), bytes());
  LossyChoice quick(both_auto(1e-2), bytes(), bytes());

  EXPECT_EQ(run(slow, Line(1e-3), 3), 1) << "a minute's step";
  EXPECT_EQ(run(quick, Line(1e-6), 3), 0) << "of 0.2 s";
}

TEST(LossyChoice, SettlesAndStays) {
  for (const double seconds_per_byte : {1e-8, 3e-8, 1e-7, 1e-6}) {
    LossyChoice choice(both_auto(0.1), bytes(), bytes());

    EXPECT_LE(run(choice, Line(seconds_per_byte), 400), 2) << seconds_per_byte;
  }
}

TEST(LossyChoice, ComesBackWhenTheLineIsFastAgain) {
  LossyChoice choice(both_auto(0.1), bytes(), bytes());
  run(choice, Line(1e-6), 50);
  ASSERT_NE(choice.pair(), LossyPair());

  run(choice, Line(1e-10), 50);

  EXPECT_EQ(choice.pair(), LossyPair());
}

TEST(LossyChoice, LeavesAFixedDirectionAlone) {
  Coding plan = both_auto(0.1);
  plan.gradient = LossyPlan::kFp16;
  LossyChoice choice(plan, bytes(), bytes());

  run(choice, Line(1e-6), 50);

  EXPECT_EQ(choice.pair(), (LossyPair{Lossy::kFp16, Lossy::kInt4}));
}

TEST(LossyChoice, SaysWhy) {
  LossyChoice choice(both_auto(0.1), bytes(), bytes());
  const auto mean = a_mean();
  std::optional<LossyDecision> decision;
  for (std::uint64_t step = 0; !decision && step < 20; ++step) {
    decision = choice.decide(step, mean, Line(1e-6).costs(choice.pair()));
  }

  ASSERT_TRUE(decision);
  EXPECT_NE(decision->reason.find("ms instead of"), std::string::npos) << decision->reason;
}

TEST(RelativeLoss, OrdersTheCodecs) {
  const auto mean = a_mean();
  const auto loss = [&](Lossy codec) { return relative_loss(codec, mean, {1, 2, 3}); };

  EXPECT_EQ(loss(Lossy::kNone), 0);
  EXPECT_LT(loss(Lossy::kFp16), 1e-6);
  EXPECT_LT(loss(Lossy::kBf16), 1e-4);
  EXPECT_LT(loss(Lossy::kInt8), 1e-3);
  EXPECT_GT(loss(Lossy::kInt4), loss(Lossy::kInt8));
  EXPECT_LT(loss(Lossy::kInt4), 0.1);
  EXPECT_GT(loss(Lossy::kSign), 0.5);
}

}  // namespace
}  // namespace wide::engine
