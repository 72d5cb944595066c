#pragma once
// How narrow a lease may be. Where a unit takes microseconds, waking a node costs more than the
// work it gets; then fewer and wider leases make a step faster. Which width is best depends on
// cores, wires and wake-ups that nobody can ask for, so it is tried: now and then a few steps run
// with the next wider or narrower floor, and the faster one stays. Bits do not depend on it.

#include <cstdint>
#include <vector>

#include "wide/base/clock.h"
#include "wide/base/ids.h"

namespace wide::engine {

class LeaseSizer final {
 public:
  explicit LeaseSizer(Block block_count);

  // The floor for the step about to start.
  Block floor_count() const { return Block{1} << trying_; }

  // A step took so long with floor_count().
  void learn(Duration step_span);

 private:
  void choose_next();

  unsigned level_max_;
  unsigned best_ = 0;    // log2 of the floor in use
  unsigned trying_ = 0;  // best_, or a neighbour on trial
  unsigned trial_left_ = 0;
  unsigned until_trial_;
  bool try_wider_ = true;
  std::vector<double> trial_spans_;
  std::vector<double> best_spans_;
};

}  // namespace wide::engine
