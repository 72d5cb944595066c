#pragma once
// Virtual time: things happen in order of their time, and of a seeded draw where times are equal.
// Nothing else decides the order, so one seed is one history.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <tuple>
#include <vector>

#include "wide/base/clock.h"
#include "wide/sim/dice.h"

namespace wide::sim {

class EventQueue final {
 public:
  explicit EventQueue(std::uint64_t seed) : dice_(seed) {}

  void at(Time when, std::function<void()> action) {
    heap_.push_back({std::max(when, now_), dice_.word(), std::move(action)});
    std::push_heap(heap_.begin(), heap_.end());
  }
  void after(Duration delay, std::function<void()> action) { at(now_ + delay, std::move(action)); }

  // Lets the next thing happen; false where nothing is left.
  bool step() {
    if (heap_.empty()) return false;
    std::pop_heap(heap_.begin(), heap_.end());
    Event event = std::move(heap_.back());
    heap_.pop_back();
    now_ = event.when;
    event.action();
    return true;
  }

  Time now() const { return now_; }

 private:
  struct Event {
    Time when{};
    std::uint64_t draw = 0;
    std::function<void()> action;

    bool operator<(const Event& other) const {  // the heap's front is its greatest
      return std::tie(when, draw) > std::tie(other.when, other.draw);
    }
  };

  Dice dice_;
  std::vector<Event> heap_;
  Time now_{};
};

}  // namespace wide::sim
