#pragma once
// Whether waiting for more work is worth staying awake for: where it came soon, the last times.
// Where it takes longer that is tried more and more rarely, down to once in 64 times.
//
// A state machine without clock or effect: what staying awake means is the caller's business.

#include <algorithm>
#include <optional>

#include "wide/base/clock.h"

namespace wide::net {

class BriefWait final {
 public:
  // Work was handed in. True: stay awake for `longest`.
  bool begin(Time now, Duration longest) {
    until_.reset();
    if (to_skip_ > 0) {
      --to_skip_;
      return false;
    }
    until_ = now + longest;
    return true;
  }
  void came(Time now) {
    if (!until_) return;
    in_vain_ = now <= *until_ ? 0 : std::min(in_vain_ + 1, kInVainMost);
    to_skip_ = (1 << std::max(0, in_vain_ - kInVainBorne)) - 1;
    until_.reset();
  }

 private:
  static constexpr int kInVainBorne = 2;  // others have their hiccups
  static constexpr int kInVainMost = kInVainBorne + 6;

  std::optional<Time> until_;
  int in_vain_ = 0;  // in a row
  int to_skip_ = 0;
};

}  // namespace wide::net
