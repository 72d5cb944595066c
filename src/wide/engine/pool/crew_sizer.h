#pragma once
// How many slots to use at once. Where a unit takes microseconds, waking a node, and finding its
// caches cold, costs more than the work it gets: then a few slots with wide leases make a step
// faster than all of them with narrow ones. How many is best depends on cores, wires and wake-ups
// that nobody can ask for, so it is tried: now and then a few steps run with half or twice as many,
// and the faster way stays. Bits do not depend on it.

#include <cstdint>
#include <vector>

#include "wide/base/clock.h"

namespace wide::engine {

class CrewSizer final {
 public:
  // Steps that overlap are often done in bunches of so many: only their mean tells how fast it
  // goes.
  explicit CrewSizer(unsigned steps_at_once = 1) : bunch_steps_(steps_at_once) {}

  // For the step about to start, of so many that are there.
  std::uint32_t slots_used(std::uint32_t slots) const;

  // A step took so long with slots_used(slots). True: from now on others are used than before, by
  // what was found.
  bool learn(Duration step_span, std::uint32_t slots);

 private:
  static constexpr unsigned kTrialSteps = 24;
  // At first: trials that do not pay become rarer.
  static constexpr unsigned kStepsBetween = 128;

  double smoothed(Duration step_span);
  bool use_all();  // where steps have become long, or slots few
  void begin_trial(unsigned level_max);
  bool end_trial(bool faster);

  unsigned bunch_steps_;
  std::vector<double> bunch_;  // the last steps' spans
  unsigned best_ = 0;          // slots are halved so often
  unsigned trying_ = 0;        // best_, or a neighbour on trial
  unsigned trial_left_ = 0;
  unsigned until_trial_ = kTrialSteps;
  unsigned between_ = kStepsBetween;  // one trial and the next
  unsigned long_steps_ = 0;           // in a row
  bool try_fewer_ = true;
  std::vector<double> trial_spans_;
  std::vector<double> best_spans_;
};

}  // namespace wide::engine
