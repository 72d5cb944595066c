#include "wide/base/stats.h"

#include <algorithm>

#include "wide/base/check.h"

namespace wide {

void DurationHistory::add(Duration duration) {
  durations_[next_] = duration;
  next_ = (next_ + 1) % kCapacity;
  count_ = std::min(count_ + 1, kCapacity);
}

Duration DurationHistory::mean() const {
  if (empty()) return {};
  Duration sum{};
  for (std::size_t i = 0; i < count_; ++i) sum += durations_[i];
  return sum / static_cast<std::int64_t>(count_);
}

Duration DurationHistory::percentile(unsigned percent) const {
  WIDE_CHECK(percent >= 1 && percent <= 100);
  if (empty()) return {};
  auto sorted = durations_;
  const std::size_t rank = (count_ * percent + 99) / 100;  // from 1
  const auto wanted = sorted.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(sorted.begin(), wanted, sorted.begin() + static_cast<std::ptrdiff_t>(count_));
  return *wanted;
}

void RateMeter::add(std::uint64_t event_count, Time now) {
  if (!started_) first_event_ = now;
  started_ = true;
  const std::int64_t number = now / kSlice;
  Slice& slice = slices_[static_cast<std::size_t>(number) % kSliceCount];
  if (slice.number != number) slice = {number, 0};
  slice.event_count += event_count;
}

double RateMeter::per_second(Time now) const {
  if (!started_) return 0;
  const std::int64_t current = now / kSlice;
  const std::int64_t oldest = current - static_cast<std::int64_t>(kSliceCount) + 1;
  std::uint64_t event_count = 0;
  for (const Slice& slice : slices_) {
    if (slice.number >= oldest && slice.number <= current) event_count += slice.event_count;
  }
  // A first event would otherwise count as infinitely many per second.
  const Time since = std::max(first_event_, Time(oldest * kSlice));
  return static_cast<double>(event_count) / seconds(std::max<Duration>(now - since, kSlice));
}

}  // namespace wide
