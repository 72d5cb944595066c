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
  explicit CrewSizer(Options options) : options_(options) {}
  CrewSizer() : CrewSizer(Options()) {}

  // For the step about to start, of so many that are there.
  std::uint32_t slots_used(std::uint32_t slots) const;

  // A step took so long with slots_used(slots). True: from now on others are used than before, by
  // what was found.
  bool learn(Duration step_span, std::uint32_t slots);

 private:
  static constexpr unsigned kTurnSteps = 12;
  static constexpr unsigned kTurnsInTrial = 6;  // the other and the best, three times
  static constexpr unsigned kStepsBeforeTrial = 24;
  // At first: trials that do not pay become rarer.
  static constexpr unsigned kStepsBetween = 128;

  bool trying() const { return !turns_.empty(); }
  unsigned level() const;  // in use
  unsigned first_level(std::uint32_t slots) const;
  double smoothed(Duration step_span);
  bool start_over(unsigned level, bool guessing);  // where slots are few, or steps long
  void begin_trial(unsigned level_max);
  bool try_step(double span);
  bool other_is_faster() const;
  bool end_trial(bool faster);

  Options options_;
  std::vector<double> bunch_;  // the last steps' spans
  std::uint32_t slots_ = 0;    // that were there
  bool guessing_ = true;       // nothing was found yet
  unsigned best_ = 0;          // slots are halved so often
  unsigned other_ = 0;         // a neighbour, on trial
  unsigned until_trial_ = kStepsBeforeTrial;
  unsigned between_ = kStepsBetween;  // one trial and the next
  unsigned long_steps_ = 0;           // in a row
  Duration long_span_{};              // of these
  bool try_fewer_ = true;
  std::vector<std::vector<double>> turns_;  // the spans of each, of the trial at hand
};

}  // namespace wide::engine
