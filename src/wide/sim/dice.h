#pragma once
// All luck of a simulation comes from here: numbers in the order in which they are asked for,
// drawn from one seed (SplitMix64, Steele et al. 2014).

#include <cstdint>
#include <initializer_list>

#include "wide/base/clock.h"

namespace wide::sim {

class Dice final {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}

  std::uint64_t word() {
    std::uint64_t mixed = (state_ += 0x9e3779b97f4a7c15u);
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
  }
  double uniform() { return static_cast<double>(word() >> 11) * 0x1p-53; }  // in [0, 1)
  // Below `bound`; 0 where that is 0.
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>(uniform() * static_cast<double>(bound));
  }
  std::uint64_t within(std::uint64_t low, std::uint64_t high) {  // both may come
    return low + below(high - low + 1);
  }
  bool chance(double probability) { return probability > 0 && uniform() < probability; }
  Duration between(Duration low, Duration high) {
    return low + Duration(static_cast<std::int64_t>(uniform() * double((high - low).count())));
  }
  template <class T>
  T pick(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }
  Dice fork() { return Dice(word()); }  // its draws do not disturb ours

 private:
  std::uint64_t state_;
};

}  // namespace wide::sim
