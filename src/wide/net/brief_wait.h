#pragma once
// Whether waiting for an answer is worth staying awake for: where it came soon, the last times.
// Where answers take longer it is tried more and more rarely, down to once in 64 times.
//
// A state machine without clock or effect: what staying awake means is the caller's business.

#include <algorithm>
#include <optional>

#include "wide/base/clock.h"

namespace wide::net {

class BriefWait final {
 public:
  static constexpr Duration kLongest = std::chrono::milliseconds(5);

  // Something was handed in, and the answer is waited for. True: stay awake, for kLongest.
  bool begin(Time now) {
    since_.reset();
    if (to_skip_ > 0) {
      --to_skip_;
      return false;
    }
    since_ = now;
    return true;
  }
  void came(Time now) {
    if (!since_) return;
    in_vain_ = now - *since_ <= kLongest ? 0 : std::min(in_vain_ + 1, kInVainMost);
    to_skip_ = (1 << std::max(0, in_vain_ - kInVainBorne)) - 1;
    since_.reset();
  }

 private:
  static constexpr int kInVainBorne = 2;  // others have their hiccups
  static constexpr int kInVainMost = kInVainBorne + 6;

  std::optional<Time> since_;
  int in_vain_ = 0;  // in a row
  int to_skip_ = 0;
};

}  // namespace wide::net
