#include "wide/engine/pool/crew_sizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

namespace wide::engine {
namespace {

using namespace std::chrono_literals;

using SpanOf = std::function<Duration(std::uint32_t)>;

// What it uses most, once it has tried for a while.
std::uint32_t settle(CrewSizer& sizer, std::uint32_t slots, const SpanOf& span_of,
                     int step_count = 4000) {
  std::map<int, std::uint32_t> by_count;
  std::map<std::uint32_t, int> counts;
  for (int i = 0; i < step_count; ++i) {
    const auto used = sizer.slots_used(slots);
    if (i >= step_count - 1000) ++counts[used];
    sizer.learn(span_of(used), slots);
  }
  for (const auto& [used, count] : counts) by_count[count] = used;
  return by_count.rbegin()->second;
}

TEST(CrewSizer, StartsWithEverybody) { EXPECT_EQ(CrewSizer().slots_used(10), 10u); }

TEST(CrewSizer, StartsWithAsManyAsCanComputeAtOnce) {
  CrewSizer sizer({.slots_first = 2});
  const auto span_of = [](std::uint32_t used) { return used == 2 ? 500us : 800us; };
  for (std::uint32_t slots = 1; slots <= 10; ++slots) {  // they come one by one
    EXPECT_LE(sizer.slots_used(slots), 2u);
    sizer.learn(span_of(sizer.slots_used(slots)), slots);
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(sizer.slots_used(10), 2u);
    sizer.learn(span_of(2), 10);
  }
  EXPECT_EQ(settle(sizer, 10, span_of), 2u);
}

TEST(CrewSizer, LeavesNoCoreIdleThatSomebodyKnowsOf) {
  for (std::uint32_t slots = 1; slots <= 20; ++slots) {
    EXPECT_EQ(CrewSizer({.slots_first = 4}).slots_used(slots), std::min(slots, 4u));
  }
}

TEST(CrewSizer, UsesMoreThanItBeganWithWhereThatIsFaster) {
  CrewSizer sizer({.slots_first = 2});
  const auto span_of = [](std::uint32_t used) { return 10000us / used; };
  EXPECT_EQ(settle(sizer, 10, span_of, 12'000), 10u) << "what was known is doubted rarely";
}

TEST(CrewSizer, KeepsItsGuessWhileNodesStart) {
  CrewSizer sizer({.slots_first = 2});
  for (int i = 0; i < 12; ++i) sizer.learn(30ms, 10);
  EXPECT_EQ(sizer.slots_used(10), 2u);
}

// A machine that is shared: every 40 steps it is half as fast as before, or twice. What is compared
// with what came before it would often win or lose by that alone.
TEST(CrewSizer, IsNotMisledByAMachineThatChangesItsSpeed) {
  CrewSizer sizer({.slots_first = 2});
  int step = 0;
  int others = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto used = sizer.slots_used(10);
    others += used != 2;
    const auto speed = ++step / 40 % 2 + 1;
    sizer.learn((used == 2 ? 500us : 600us) * speed, 10);
  }
  EXPECT_LT(others / 20'000.0, 0.01) << "trials alone";
}

TEST(CrewSizer, UsesFewerWhereThatIsFaster) {
  CrewSizer sizer;
  EXPECT_EQ(settle(sizer, 16, [](std::uint32_t used) { return 100us * used; }), 1u);
}

TEST(CrewSizer, UsesAllWhereFewerAreSlower) {
  CrewSizer sizer;
  EXPECT_EQ(settle(sizer, 16, [](std::uint32_t used) { return 10000us / used; }), 16u);
}

TEST(CrewSizer, FindsAnOptimumInBetween) {
  CrewSizer sizer;
  EXPECT_EQ(
      settle(sizer, 10, [](std::uint32_t used) { return used == 2 ? 500us : 800us + 20us * used; }),
      2u);
}

// Of the steps from 20,000 on, the share that was not done with what is best.
double trial_share(CrewSizer& sizer, std::uint32_t slots, std::uint32_t best,
                   const SpanOf& span_of) {
  int others = 0;
  for (int i = 0; i < 30'000; ++i) {
    const auto used = sizer.slots_used(slots);
    if (i >= 20'000 && used != best) ++others;
    sizer.learn(span_of(used), slots);
  }
  return others / 10'000.0;
}

TEST(CrewSizer, TriesRarelyWhatHasNeverPaid) {
  const SpanOf all_are_best = [](std::uint32_t used) { return 48'000us / used; };
  CrewSizer wide;
  EXPECT_LT(trial_share(wide, 16, 16, all_are_best), 0.02);
  const SpanOf one_is_best = [](std::uint32_t used) { return 100us * used; };
  CrewSizer narrow;
  EXPECT_LT(trial_share(narrow, 16, 1, one_is_best), 0.02);
}

// 15 ms with all, 30 with half of them, which counts as long.
TEST(CrewSizer, TriesRarelyWhatMakesStepsLong) {
  CrewSizer sizer;
  const SpanOf span_of = [](std::uint32_t used) { return 240'000us / used; };
  EXPECT_LT(trial_share(sizer, 16, 16, span_of), 0.02);
}

// Of three open steps two are done as soon as the first is: most spans say nothing.
TEST(CrewSizer, IsNotMisledByStepsThatEndInBunches) {
  CrewSizer sizer({.steps_at_once = 3});
  int step = 0;
  const auto span_of = [&](std::uint32_t used) -> Duration {
    if (used == 2) return 500us;
    return ++step % 3 == 0 ? 1'300us + 60us * used : 100us;
  };
  EXPECT_EQ(settle(sizer, 10, span_of), 2u);
}

TEST(CrewSizer, TriesNothingWhereStepsAreLong) {
  CrewSizer sizer;
  for (int i = 0; i < 500; ++i) {
    sizer.learn(1s, 16);
    EXPECT_EQ(sizer.slots_used(16), 16u);
  }
}

TEST(CrewSizer, GoesBackToEverybodyWhenStepsBecomeLong) {
  CrewSizer sizer;
  settle(sizer, 16, [](std::uint32_t used) { return 100us * used; });
  for (int i = 0; i < 3; ++i) sizer.learn(1s, 16);
  EXPECT_EQ(sizer.slots_used(16), 16u);
}

TEST(CrewSizer, OneLongStepAmongShortOnesIsAHiccup) {
  CrewSizer sizer;
  const auto found = settle(sizer, 16, [](std::uint32_t used) { return 100us * used; });
  ASSERT_LT(found, 16u);
  for (int i = 0; i < 300; ++i) {
    sizer.learn(i % 50 == 0 ? 1s : 100us * sizer.slots_used(16), 16);
    EXPECT_LE(sizer.slots_used(16), 2 * found) << "at most a trial";
  }
}

TEST(CrewSizer, HasNothingToChooseWithOneSlot) {
  CrewSizer sizer;
  for (int i = 0; i < 500; ++i) sizer.learn(1ms, 1);
  EXPECT_EQ(sizer.slots_used(1), 1u);
}

TEST(CrewSizer, KnowsThatNodesLeave) {
  CrewSizer sizer;
  settle(sizer, 64, [](std::uint32_t used) { return 100us * used; });
  sizer.learn(1ms, 3);
  EXPECT_EQ(sizer.slots_used(3), 3u);
}

}  // namespace
}  // namespace wide::engine
