#pragma once
// How long to wait before dialling again: anything from nothing to a bound that doubles with every
// try, up to half a minute. Two hundred nodes that lost their pool in the same instant must not
// come back in the same instant ("full jitter").

#include <algorithm>
#include <cstdint>
#include <random>

#include "wide/base/clock.h"

namespace wide::net {

class Backoff final {
 public:
  explicit Backoff(std::uint64_t seed, Duration first = std::chrono::milliseconds(100),
                   Duration most = std::chrono::seconds(10))
      : random_(seed), first_(first), most_(most), bound_(first) {}

  Duration next() {
    const auto wait = std::uniform_int_distribution<Duration::rep>(0, bound_.count())(random_);
    bound_ = std::min(bound_ * 2, most_);
    return Duration(wait);
  }
  void reset() { bound_ = first_; }
  Duration bound() const { return bound_; }  // of the next wait
  bool fresh() const { return bound_ == first_; }

 private:
  std::mt19937_64 random_;
  Duration first_;
  Duration most_;
  Duration bound_;
};

}  // namespace wide::net
