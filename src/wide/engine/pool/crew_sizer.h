#pragma once
// How many slots to use at once. Where a unit takes microseconds, waking a node, and finding its
// caches cold, costs more than the work it gets: then a few slots with wide leases make a step
// faster than all of them with narrow ones. How many is best depends on cores, wires and wake-ups
// that nobody can ask for, so it is tried: now and then some steps run with half or twice as many,
// and the faster way stays. Bits do not depend on it.
//
//   trial:  other best other best other best     a turn is some steps, of which the first few do
//                                                not count: who comes in finds its caches cold
//
// Turns, because a shared machine is faster in one tenth of a second than in the next: only
// neighbours can be compared, and only what wins every time is believed.

#include <cstdint>
#include <vector>

#include "wide/base/clock.h"

namespace wide::engine {

class CrewSizer final {
 public:
  struct Options {
    // Steps that overlap are often done in bunches of so many: only their mean tells how fast it
    // goes.
    unsigned steps_at_once = 1;
    // To begin with: as many as can compute at once, where somebody knows. 0: everybody.
    std::uint32_t slots_first = 0;
  };
  explicit CrewSizer(Options options);
  CrewSizer() : CrewSizer(Options()) {}

  // For the step about to start, of so many that are there.
  std::uint32_t slots_used(std::uint32_t slots) const;

  // A step took so long with slots_used(slots). True: from now on others are used than before, by
  // what was found.
  bool learn(Duration step_span, std::uint32_t slots);

 private:
  bool trying() const { return !turns_.empty(); }
  bool steps_are_long(Duration step_span);
  double smoothed(Duration step_span);
  void begin_with(std::uint32_t known);
  void begin_trial(std::uint32_t slots);
  bool try_step(double span, std::uint32_t slots);
  bool other_is_faster() const;
  bool end_trial(bool faster, std::uint32_t slots);

  Options options_;
  std::vector<double> bunch_;      // the last steps' spans
  std::uint32_t best_ = 0;         // slots to use, or all where there are fewer
  std::uint32_t other_ = 0;        // half or twice as many, on trial
  std::uint32_t found_among_ = 0;  // so many were there when a trial found the best
  unsigned until_trial_ = 0;
  unsigned between_ = 0;  // one trial and the next
  bool try_fewer_ = true;
  unsigned long_steps_ = 0;                 // in a row
  Duration long_span_{};                    // of these
  std::vector<std::vector<double>> turns_;  // the spans of each, of the trial at hand
};

}  // namespace wide::engine
