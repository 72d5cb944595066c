#include "wide/engine/pool/crew_sizer.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "wide/base/median.h"

namespace wide::engine {

namespace {
constexpr unsigned kStepsBetweenKnown = 1024;
constexpr unsigned kStepsBetweenMost = 4096;
constexpr double kWorthIt = 0.97;  // a neighbour must be 3 % faster to be taken
constexpr std::ptrdiff_t kStepsToWarmUp = 4;
// Over this a wake-up does not matter, and a trial with too few slots would.
constexpr Duration kLongStep = std::chrono::milliseconds(20);
// So many in a row, for so long: less is a hiccup of the machine, or nodes that are still starting.
constexpr unsigned kLongStepsToBelieve = 3;
constexpr Duration kLongSpanToBelieve = std::chrono::milliseconds(500);
}  // namespace

// Turns begin with the other's.
unsigned CrewSizer::level() const { return turns_.size() % 2 == 1 ? other_ : best_; }

std::uint32_t CrewSizer::slots_used(std::uint32_t slots) const {
  const unsigned halvings = guessing_ && !trying() ? first_level(slots) : level();
  return std::max(1u, slots >> halvings);
}

unsigned CrewSizer::first_level(std::uint32_t slots) const {
  unsigned level = 0;
  while (options_.slots_first > 0 && slots >> level > options_.slots_first) ++level;
  return level;
}

bool CrewSizer::learn(Duration step_span, std::uint32_t slots) {
  const unsigned level_max = slots > 1 ? std::bit_width(slots) - 1u : 0u;
  if (guessing_ && std::exchange(slots_, slots) != slots) {  // they are still coming
    start_over(first_level(slots), true);
  }
  const bool is_long = step_span > kLongStep;
  long_steps_ = is_long ? long_steps_ + 1 : 0;
  long_span_ = is_long ? long_span_ + step_span : Duration{};
  const bool long_ones = long_steps_ >= kLongStepsToBelieve && long_span_ >= kLongSpanToBelieve;
  if (level_max == 0 || best_ > level_max) return start_over(first_level(slots), true);
  if (long_ones && trying()) return end_trial(false);  // it may be the trial's own doing
  if (long_ones) return start_over(0, false);
  const double span = smoothed(step_span);
  if (trying()) return try_step(span);
  if (--until_trial_ == 0) begin_trial(level_max);
  return false;
}

double CrewSizer::smoothed(Duration step_span) {
  bunch_.push_back(seconds(step_span));
  if (bunch_.size() > options_.steps_at_once) bunch_.erase(bunch_.begin());
  return std::accumulate(bunch_.begin(), bunch_.end(), 0.0) / static_cast<double>(bunch_.size());
}

bool CrewSizer::start_over(unsigned level, bool guessing) {
  const bool changed = best_ != level;
  best_ = level;
  guessing_ = guessing;
  turns_.clear();
  // What somebody knew is put to the test like a trial that did not pay.
  const bool known = level > 0;
  until_trial_ = known ? kStepsBetweenKnown : kStepsBeforeTrial;
  between_ = known ? kStepsBetweenKnown : kStepsBetween;
  return changed;
}

void CrewSizer::begin_trial(unsigned level_max) {
  until_trial_ = between_;
  if (best_ == 0) try_fewer_ = true;
  if (best_ == level_max) try_fewer_ = false;
  other_ = try_fewer_ ? best_ + 1 : best_ - 1;
  turns_.emplace_back();
}

bool CrewSizer::try_step(double span) {
  turns_.back().push_back(span);
  if (turns_.back().size() < kTurnSteps) return false;
  if (turns_.size() == kTurnsInTrial) return end_trial(other_is_faster());
  turns_.emplace_back();
  return false;
}

bool CrewSizer::other_is_faster() const {
  const auto span_of = [](const std::vector<double>& turn) {
    return median({turn.begin() + kStepsToWarmUp, turn.end()});
  };
  std::vector<double> ratios;
  for (std::size_t i = 0; i + 1 < turns_.size(); i += 2) {
    ratios.push_back(span_of(turns_[i]) / span_of(turns_[i + 1]));
  }
  return std::ranges::max(ratios) < 1 && median(ratios) < kWorthIt;
}

bool CrewSizer::end_trial(bool faster) {
  turns_.clear();
  if (faster) {
    guessing_ = false;
    best_ = other_;
    until_trial_ = kStepsBeforeTrial;  // it paid: look further the same way soon
    between_ = kStepsBetween;
    return true;
  }
  // Both ways have failed, or there is only one.
  if (!try_fewer_ || best_ == 0) between_ = std::min(2 * between_, kStepsBetweenMost);
  try_fewer_ = !try_fewer_;
  return false;
}

}  // namespace wide::engine
