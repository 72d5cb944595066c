#pragma once
// Whether to look again instead of going to sleep, for an I/O thread that waits for something which
// is often some hundred microseconds away: a node that has handed in short work for the answer, a
// pool that has part of a short step for the rest. Who sleeps is woken later than it
// comes, and often on a core where another one is at work, while its own stays idle for a whole
// step. Who looks lets everybody else run first (sched_yield), so it takes only what nobody wants.
//
// Two that share a core must not both stay awake, or the kernel would leave them there: who gets
// its core back late has met another one at work, and sleeps, to be woken elsewhere. Where answers
// take longer, looking is rarer and rarer, down to once in 64 times.

#include <sched.h>

#include <algorithm>
#include <optional>

#include <asio/io_context.hpp>

#include "wide/base/clock.h"
#include "wide/net/steady.h"

namespace wide::net {

class BriefWait final {
 public:
  void begin(Time now) {
    if (to_skip_ > 0) {
      --to_skip_;
    } else {
      until_ = now + kLongest;
      looked_at_ = now;
    }
  }
  // What was waited for has come.
  void came() {
    if (until_) in_vain_ = 0;
    until_.reset();
  }
  bool looking() const { return until_.has_value(); }
  // False: sleep. To be asked between any two looks.
  bool look_again(Time now) {
    if (!until_) return false;
    if (now - looked_at_ > kSharedCore || now >= *until_) {
      in_vain_ = std::min(in_vain_ + 1, kInVainMost);
      to_skip_ = (1 << std::max(0, in_vain_ - kInVainBorne)) - 1;
      until_.reset();
    }
    looked_at_ = now;
    return until_.has_value();
  }

 private:
  static constexpr Duration kLongest = std::chrono::microseconds(500);
  // The pool commits a small step in less, and may do so on this core.
  static constexpr Duration kSharedCore = std::chrono::microseconds(150);
  static constexpr int kInVainBorne = 2;  // others have their hiccups
  static constexpr int kInVainMost = kInVainBorne + 6;

  std::optional<Time> until_;
  Time looked_at_{};
  int in_vain_ = 0;  // in a row
  int to_skip_ = 0;
};

// io.run(), with looks where the wait asks for them.
inline void run_with_looks(asio::io_context& io, BriefWait& wait) {
  while (!io.stopped()) {
    if (!wait.looking() || !wait.look_again(steady_now())) {
      io.run_one();
    } else if (io.poll() == 0) {
      sched_yield();
    }
  }
}

}  // namespace wide::net
