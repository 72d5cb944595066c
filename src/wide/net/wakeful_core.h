#pragma once
// Keeps a core from going to sleep between two pieces of work: a node waits for a part of each
// step, for others and for the pool. A core with nothing to do halts meanwhile, and in a virtual
// machine that gives it back to the host, which takes its time to return it: work comes, and the
// core does not. So a thread of the lowest priority there is (SCHED_IDLE) stays there, does
// nothing, and makes way for anybody of the same session. Others it may hold up for a slice, as any
// thread would.
//
//   core 0   node ▇▇▇▇▇▇ keeper ░░░ node ▇▇▇▇▇▇▇ …      keep() behind each lease: where these are
//   core 1   node ▇▇▇▇▇▇▇▇ pool ▇ node ▇▇▇▇▇ …          short it never sleeps, nor need be woken
//
// Used by one thread. The keeper begins with the first call, sleeps when its time is over, and ends
// with the object, which may take it a moment where the core is busy.

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

  // Where the system refuses, or the caller has the lowest priority itself, nothing happens.
  void keep(int core, Time until);
  // It is not wanted any more. Who yields would yield to it, too.
  void let_go() { until_ = Time{}; }

  bool awake() const { return awake_; }

 private:
  void start();
  void follow(int core);
  void stay();

  std::atomic<Time> until_{Time{}};
  std::atomic<bool> awake_ = false;
  std::atomic<bool> refused_ = false;  // for good
  int core_ = -1;                      // where the keeper is, or was sent
  std::thread keeper_;
};

}  // namespace wide::net
