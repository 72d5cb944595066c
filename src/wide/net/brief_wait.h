#pragma once
// Whether to look again instead of going to sleep, for an I/O thread that has just handed in short
// work: the answer is often some hundred microseconds away. Who sleeps is woken later than it
// comes, and often on a core where another one is at work, while its own stays idle for a whole
// step. Who looks lets everybody else run first (sched_yield), so it takes only what nobody wants.
//
// Where answers take longer, looking is rarer and rarer, down to once in 64 times.

#include <algorithm>
#include <optional>

#include "wide/base/clock.h"

namespace wide::net {

class BriefWait final {
 public:
  void begin(Time now) {
    if (to_skip_ > 0) {
      --to_skip_;
    } else {
      until_ = now + kLongest;
    }
  }
  // What was waited for has come.
  void came() {
    if (until_) skipped_ = 0;
    until_.reset();
  }
  // False: sleep.
  bool look_again(Time now) {
    if (until_ && now >= *until_) {
      skipped_ = std::clamp(2 * skipped_, 1, kSkippedMost);
      to_skip_ = skipped_;
      until_.reset();
    }
    return until_.has_value();
  }

 private:
  static constexpr Duration kLongest = std::chrono::microseconds(400);
  static constexpr int kSkippedMost = 63;

  std::optional<Time> until_;
  int skipped_ = 0;  // after it was in vain
  int to_skip_ = 0;
};

}  // namespace wide::net
