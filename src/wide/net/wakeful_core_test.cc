#include "wide/net/wakeful_core.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <functional>
#include <set>

#include "wide/net/steady.h"

namespace wide::net {
namespace {

using namespace std::chrono_literals;

std::set<pid_t> threads() {
  std::set<pid_t> ids;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    ids.insert(std::stoi(task.path().filename()));
  }
  return ids;
}

bool comes_true(const std::function<bool()>& is_true) {
  const Time end = steady_now() + 20s;
  while (!is_true() && steady_now() < end) sched_yield();
  return is_true();
}

TEST(WakefulCore, ItsKeeperGivesWayToEverybody) {
  const std::set<pid_t> before = threads();
  WakefulCore core;
  EXPECT_EQ(threads(), before) << "nobody is there who is not needed";

  core.keep(sched_getcpu(), steady_now() + 20s);

  ASSERT_TRUE(comes_true([&] { return core.awake(); }));
  std::set<pid_t> keepers = threads();
  for (const pid_t id : before) keepers.erase(id);
  ASSERT_EQ(keepers.size(), 1u);
  EXPECT_EQ(sched_getscheduler(*keepers.begin()), SCHED_IDLE);
  cpu_set_t cores;
  ASSERT_EQ(sched_getaffinity(*keepers.begin(), sizeof cores, &cores), 0);
  EXPECT_EQ(CPU_COUNT(&cores), 1);
}

TEST(WakefulCore, SleepsWhenItsTimeIsOverAndWakesAgain) {
  WakefulCore core;
  for (int i = 0; i < 3; ++i) {
    core.keep(sched_getcpu(), steady_now() + 5s);
    EXPECT_TRUE(comes_true([&] { return core.awake(); }));
    core.keep(sched_getcpu(), steady_now());
    EXPECT_TRUE(comes_true([&] { return !core.awake(); }));
  }
}

TEST(WakefulCore, MayEndAtAnyTime) {
  for (int i = 0; i < 100; ++i) {
    WakefulCore core;
    core.keep(sched_getcpu(), steady_now() + (i % 2 == 0 ? 10s : 0s));
  }
}

}  // namespace
}  // namespace wide::net
