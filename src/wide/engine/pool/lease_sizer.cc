#include "wide/engine/pool/lease_sizer.h"

#include <algorithm>
#include <bit>

namespace wide::engine {

namespace {
constexpr unsigned kTrialSteps = 8;
constexpr unsigned kStepsBetween = 56;
constexpr std::size_t kMemory = 16;
constexpr double kWorthIt = 0.97;  // a neighbour must be 3 % faster to be taken
// Over this a wake-up does not matter, and a trial of a bad floor would.
constexpr Duration kLongStep = std::chrono::milliseconds(20);

double median(std::vector<double> spans) {
  const auto middle = spans.begin() + static_cast<std::ptrdiff_t>(spans.size() / 2);
  std::nth_element(spans.begin(), middle, spans.end());
  return *middle;
}
}  // namespace

LeaseSizer::LeaseSizer(Block block_count)
    : level_max_(block_count > 1 ? std::bit_width(block_count - 1) - 1u : 0u),
      until_trial_(kTrialSteps) {}

void LeaseSizer::learn(Duration step_span) {
  if (level_max_ == 0) return;
  if (trial_left_ > 0) {
    trial_spans_.push_back(seconds(step_span));
    if (--trial_left_ == 0) choose_next();
    return;
  }
  best_spans_.push_back(seconds(step_span));
  if (best_spans_.size() > kMemory) best_spans_.erase(best_spans_.begin());
  if (--until_trial_ > 0) return;

  until_trial_ = kStepsBetween;
  if (step_span > kLongStep) return;
  if (best_ == 0) try_wider_ = true;
  if (best_ == level_max_) try_wider_ = false;
  trying_ = try_wider_ ? best_ + 1 : best_ - 1;
  trial_left_ = kTrialSteps;
  trial_spans_.clear();
}

void LeaseSizer::choose_next() {
  if (median(trial_spans_) < kWorthIt * median(best_spans_)) {
    best_ = trying_;
    best_spans_ = trial_spans_;
    until_trial_ = kTrialSteps;  // it paid: look further the same way soon
  } else {
    trying_ = best_;
    try_wider_ = !try_wider_;
  }
}

}  // namespace wide::engine
