#include "wide/apps/cli/bench/lockstep.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace wide::apps::bench {
namespace {

constexpr double kPhase = 0.1;

// Ten seconds of a core that takes so many seconds for a task, in turns of a tenth of a second.
Completions core(double first, double second) {
  Completions done;
  for (double now = 0; now < 10; done.push_back(now)) {
    const auto phase = static_cast<int>((now + 1e-9) / kPhase);
    now += phase % 2 == 0 ? first : second;
  }
  return done;
}

Completions steady(double task) { return core(task, task); }

TEST(LockstepShare, OfEqualCoresIsAll) {
  const Completions cores[] = {steady(0.01), steady(0.01)};
  EXPECT_NEAR(lockstep_share(cores, 5, 0), 1.0, 1e-6);
  EXPECT_NEAR(lockstep_share(cores, 5, 1), 1.0, 0.01);
}

// Alone 100 + 50 tasks a second; together 50 each.
TEST(LockstepShare, GoesAtThePaceOfTheSlowest) {
  const Completions cores[] = {steady(0.01), steady(0.02)};
  EXPECT_NEAR(lockstep_share(cores, 5, 0), 100.0 / 150, 0.01);
  EXPECT_NEAR(lockstep_share(cores, 5, 1), 100.0 / 150, 0.01) << "being ahead does not last";
}

// Each is slow while the other is fast. Alone they do 15 tasks in a tenth of a second. In step they
// do 10; one step ahead, the fast one does in one phase what it will be late with in the next.
TEST(LockstepShare, ForgivesWhatEvensOutWithinTheStepsAhead) {
  const Completions cores[] = {core(0.01, 0.02), core(0.02, 0.01)};
  EXPECT_NEAR(lockstep_share(cores, 5, 0), 10.0 / 15, 0.01);
  EXPECT_NEAR(lockstep_share(cores, 5, 1), 1.0, 0.01);
}

TEST(LockstepShare, OfTooFewTasksForAStepIsNothing) {
  const Completions cores[] = {steady(0.01), steady(0.01)};
  EXPECT_EQ(lockstep_share(cores, 5000, 0), 0);
}

TEST(WatchCores, SeesEveryTaskInItsOrder) {
  for (const auto& done : watch_cores(0.02)) {
    ASSERT_FALSE(done.empty());
    EXPECT_GE(done.back(), 0.02);
    EXPECT_TRUE(std::ranges::is_sorted(done));
  }
}

}  // namespace
}  // namespace wide::apps::bench
