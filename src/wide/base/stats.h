#pragma once
// Two small memories of what happened lately. Neither asks what time it is.

#include <array>
#include <cstddef>
#include <cstdint>

#include "wide/base/clock.h"

namespace wide {

// The last 64 durations of something that happens again and again. All zero while empty.
class DurationHistory final {
 public:
  static constexpr std::size_t kCapacity = 64;

  void add(Duration duration);

  std::size_t count() const { return count_; }  // remembered, at most kCapacity
  bool empty() const { return count_ == 0; }
  Duration p95() const { return percentile(95); }
  Duration median() const { return percentile(50); }
  Duration mean() const;

  // Nearest rank: the smallest remembered duration that `percent` % of them do not exceed.
  Duration percentile(unsigned percent) const;

 private:
  std::array<Duration, kCapacity> durations_{};
  std::size_t count_ = 0;
  std::size_t next_ = 0;
};

// Events per second over the last four seconds, or since the first event if that is shorter.
// `now` never goes back.
class RateMeter final {
 public:
  void add(std::uint64_t event_count, Time now);
  double per_second(Time now) const;

 private:
  static constexpr Duration kSlice = std::chrono::milliseconds(250);
  static constexpr std::size_t kSliceCount = 17;  // sixteen whole ones and the one under way

  struct Slice {
    std::int64_t number = -1;  // which quarter of a second since time 0
    std::uint64_t event_count = 0;
  };

  std::array<Slice, kSliceCount> slices_{};
  Time first_event_{};
  bool started_ = false;
};

}  // namespace wide
