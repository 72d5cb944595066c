#include "wide/net/wakeful_core.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <functional>
#include <vector>

#include "wide/net/steady.h"

namespace wide::net {
namespace {

using namespace std::chrono_literals;

// The threads of this process with the lowest priority.
std::vector<pid_t> keepers() {
  std::vector<pid_t> ids;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    const pid_t id = std::stoi(task.path().filename());
    if (sched_getscheduler(id) == SCHED_IDLE) ids.push_back(id);
  }
  return ids;
}

bool comes_true(const std::function<bool()>& is_true) {
  const Time end = steady_now() + 60s;
  while (!is_true() && steady_now() < end) sched_yield();
  return is_true();
}

TEST(WakefulCore, ItsKeeperGivesWayToEverybody) {
  WakefulCore core;
  EXPECT_TRUE(keepers().empty()) << "nobody is there who is not needed";

  const int here = sched_getcpu();
  core.keep(here, steady_now() + 1h);

  ASSERT_TRUE(comes_true([&] { return core.awake(); }));
  ASSERT_EQ(keepers().size(), 1u);
  cpu_set_t cores;
  ASSERT_EQ(sched_getaffinity(keepers().front(), sizeof cores, &cores), 0);
  EXPECT_EQ(CPU_COUNT(&cores), 1);
  EXPECT_TRUE(CPU_ISSET(here, &cores));
}

TEST(WakefulCore, SleepsWhenItsTimeIsOverAndWakesAgain) {
  WakefulCore core;
  for (int i = 0; i < 3; ++i) {
    core.keep(sched_getcpu(), steady_now() + 1h);
    EXPECT_TRUE(comes_true([&] { return core.awake(); }));
    core.keep(sched_getcpu(), steady_now());
    EXPECT_TRUE(comes_true([&] { return !core.awake(); }));
  }
}

TEST(WakefulCore, DoesNothingForWhoHasTheLowestPriorityItself) {
  std::thread([] {
    const sched_param none{};
    ASSERT_EQ(pthread_setschedparam(pthread_self(), SCHED_IDLE, &none), 0);
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    WakefulCore core;
    for (int i = 0; i < 1000; ++i) {
      core.keep(sched_getcpu(), steady_now() + 1h);
      EXPECT_FALSE(core.awake());
    }
    cpu_set_t after;
    ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
    EXPECT_TRUE(CPU_EQUAL(&before, &after)) << "the caller itself is bound to nothing";
  }).join();
}

TEST(WakefulCore, MayEndAtAnyTime) {
  for (int i = 0; i < 20; ++i) {
    WakefulCore core;
    core.keep(sched_getcpu(), steady_now() + (i % 2 == 0 ? 10s : 0s));
  }
}

}  // namespace
}  // namespace wide::net
