#include "wide/apps/cli/bench/peers/ddp.h"

#include <gtest/gtest.h>

#include <memory>

#include "wide/base/error.h"

namespace wide::apps::bench {

namespace {
// Null, with the reason, where there is no torch for Python.
std::unique_ptr<Ddp> started(const ScratchFolder& scratch, std::string& why) {
  try {
    return std::make_unique<Ddp>(scratch, Environment());
  } catch (const Failure& failure) {
    why = describe(failure.error());
    return nullptr;
  }
}
}  // namespace

TEST(Ddp, LearnsOurTaskWithEveryHook) {
  const ScratchFolder scratch{Environment()};
  std::string why;
  const auto ddp = started(scratch, why);
  if (!ddp) GTEST_SKIP() << why;
  const SharedTask task = tiny_task(scratch);

  for (const char* hook : {"none", "fp16", "powersgd"}) {
    const Outcome outcome = ddp->train(task, {.ranks = 2, .hook = hook, .seconds = 0.5});

    EXPECT_GE(outcome.steps, 2) << hook;
    EXPECT_GT(outcome.steps_per_second, 0) << hook;
    EXPECT_GT(outcome.bytes_per_step, 430) << hook;
    EXPECT_GT(outcome.cpu_seconds_per_step, 0) << hook;
    EXPECT_GT(outcome.memory_bytes, 1e6) << hook;
    ASSERT_FALSE(outcome.curve.empty()) << hook;
    EXPECT_EQ(outcome.curve.back().step, outcome.steps) << hook;
    EXPECT_LT(outcome.curve.back().loss, outcome.curve.front().loss + 0.1) << hook;
  }
}

TEST(Ddp, SaysWhatIsWrongAndGoesOn) {
  const ScratchFolder scratch{Environment()};
  std::string why;
  const auto ddp = started(scratch, why);
  if (!ddp) GTEST_SKIP() << why;
  const SharedTask task = tiny_task(scratch);

  EXPECT_THROW(
      ddp->train(task, {.ranks = 2, .seconds = 0.1, .device = "lo", .namespaces = {"no", "no"}}),
      Failure);
  EXPECT_GE(ddp->train(task, {.ranks = 2, .seconds = 0.1}).steps, 1);
}

}  // namespace wide::apps::bench
