#pragma once
// Keeps the core that a thread is about to leave from going to sleep. Where steps take a
// millisecond, a node waits for some hundred microseconds of each. A core with nothing to do halts
// meanwhile, and in a virtual machine that gives it back to the host, which takes its time to
// return it: the answer comes, and the core does not. So a thread of the lowest priority there is
// (SCHED_IDLE) stays there, does nothing, and makes way for anybody.
//
//   core 0   node ▇▇▇▇▇▇ keeper ░░░ node ▇▇▇▇▇▇▇ …      keep() at the end of each lease: the keeper
//   core 1   node ▇▇▇▇▇▇▇▇ pool ▇ node ▇▇▇▇▇ …          never sleeps, so it need not be woken
//
// Used by one thread. The keeper begins with the first call, and sleeps when none came for long.

#include <atomic>
#include <thread>

#include "wide/base/clock.h"

namespace wide::net {

class WakefulCore final {
 public:
  WakefulCore() = default;
  ~WakefulCore();
  WakefulCore(const WakefulCore&) = delete;
  WakefulCore& operator=(const WakefulCore&) = delete;

  // The core that the caller is on, until then. Where the system refuses, nothing happens.
  void keep(Time until);

  bool awake() const { return awake_; }

 private:
  void follow(int core);
  void stay();

  std::atomic<Time> until_{Time{}};
  std::atomic<bool> awake_ = false;
  int core_ = -1;  // where the keeper is, or was sent
  std::thread keeper_;
};

}  // namespace wide::net
