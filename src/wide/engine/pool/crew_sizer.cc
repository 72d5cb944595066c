#include "wide/engine/pool/crew_sizer.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "wide/base/median.h"

namespace wide::engine {

namespace {
constexpr unsigned kStepsBetweenMost = 2048;
constexpr double kWorthIt = 0.97;  // a neighbour must be 3 % faster to be taken
// Over this a wake-up does not matter, and a trial with too few slots would.
constexpr Duration kLongStep = std::chrono::milliseconds(20);
constexpr unsigned kLongStepsToBelieve = 3;  // one is a hiccup of the machine
}  // namespace

std::uint32_t CrewSizer::slots_used(std::uint32_t slots) const {
  return std::max(1u, slots >> trying_);
}

bool CrewSizer::learn(Duration step_span, std::uint32_t slots) {
  const unsigned level_max = slots > 1 ? std::bit_width(slots) - 1u : 0u;
  long_steps_ = step_span > kLongStep ? long_steps_ + 1 : 0;
  const bool long_ones = long_steps_ >= kLongStepsToBelieve;
  if (level_max == 0 || best_ > level_max) return use_all();
  if (long_ones && trial_left_ > 0) return end_trial(false);  // it may be the trial's own doing
  if (long_ones) return use_all();
  const double span = smoothed(step_span);
  if (trial_left_ > 0) {
    trial_spans_.push_back(span);
    if (--trial_left_ > 0) return false;
    return end_trial(median(trial_spans_) < kWorthIt * median(best_spans_));
  }
  best_spans_.push_back(span);
  if (best_spans_.size() > kTrialSteps) best_spans_.erase(best_spans_.begin());
  if (--until_trial_ == 0) begin_trial(level_max);
  return false;
}

double CrewSizer::smoothed(Duration step_span) {
  bunch_.push_back(seconds(step_span));
  if (bunch_.size() > bunch_steps_) bunch_.erase(bunch_.begin());
  return std::accumulate(bunch_.begin(), bunch_.end(), 0.0) / static_cast<double>(bunch_.size());
}

bool CrewSizer::use_all() {
  const bool changed = best_ > 0;
  best_ = trying_ = trial_left_ = 0;
  until_trial_ = kTrialSteps;
  between_ = kStepsBetween;
  best_spans_.clear();
  return changed;
}

void CrewSizer::begin_trial(unsigned level_max) {
  until_trial_ = between_;
  if (best_ == 0) try_fewer_ = true;
  if (best_ == level_max) try_fewer_ = false;
  trying_ = try_fewer_ ? best_ + 1 : best_ - 1;
  trial_left_ = kTrialSteps;
  trial_spans_.clear();
}

bool CrewSizer::end_trial(bool faster) {
  trial_left_ = 0;
  if (faster) {
    best_ = trying_;
    best_spans_ = trial_spans_;
    until_trial_ = kTrialSteps;  // it paid: look further the same way soon
    between_ = kStepsBetween;
    return true;
  }
  trying_ = best_;
  // Both ways have failed, or there is only one.
  if (!try_fewer_ || best_ == 0) between_ = std::min(2 * between_, kStepsBetweenMost);
  try_fewer_ = !try_fewer_;
  return false;
}

}  // namespace wide::engine
