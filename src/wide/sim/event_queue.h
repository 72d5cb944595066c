#pragma once
// Virtual time: things happen in order of their time, and of a seeded draw where times are equal.
// Nothing else decides the order, so one seed is one history.

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "wide/base/clock.h"
#include "wide/base/philox.h"

namespace wide::sim {

// Draws in the order in which they are asked for.
class Dice final {
 public:
  explicit Dice(std::uint64_t seed) : stream_(seed, 0x51D1CE, 0) {}

  double uniform() { return stream_.uniform(next_++); }  // in [0, 1)
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>(uniform() * static_cast<double>(bound));
  }
  bool chance(double probability) { return uniform() < probability; }
  Duration between(Duration low, Duration high) {
    return low + Duration(static_cast<std::int64_t>(uniform() * double((high - low).count())));
  }

 private:
  RandomStream stream_;
  std::uint64_t next_ = 0;
};

class EventQueue final {
 public:
  explicit EventQueue(Dice& dice) : dice_(dice) {}

  void at(Time when, std::function<void()> action) {
    queue_.push({when, dice_.below(1u << 20), next_++, std::move(action)});
  }
  void after(Duration delay, std::function<void()> action) { at(now_ + delay, std::move(action)); }

  // Lets the next thing happen; false where nothing is left.
  bool step() {
    if (queue_.empty()) return false;
    Event event = queue_.top();
    queue_.pop();
    now_ = event.when;
    event.action();
    return true;
  }

  Time now() const { return now_; }

 private:
  struct Event {
    Time when;
    std::uint64_t draw;
    std::uint64_t order;
    std::function<void()> action;

    bool operator<(const Event& other) const {  // the queue's top is its greatest
      return std::tie(when, draw, order) > std::tie(other.when, other.draw, other.order);
    }
  };

  Dice& dice_;
  std::priority_queue<Event> queue_;
  Time now_{};
  std::uint64_t next_ = 0;
};

}  // namespace wide::sim
