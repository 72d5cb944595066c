#include "wide/engine/pool/crew_sizer.h"

#include <algorithm>
#include <numeric>

#include "wide/base/median.h"

namespace wide::engine {

namespace {
constexpr unsigned kStepsBeforeTrial = 24;
// Trials that do not pay become rarer. What somebody knew is doubted as rarely from the start: a
// trial costs as much as it would take a wrong guess some hundred steps to lose.
constexpr unsigned kStepsBetween = 128;
constexpr unsigned kStepsBetweenMost = 4096;
constexpr double kWorthIt = 0.97;  // a neighbour must be 3 % faster to be taken
constexpr unsigned kTurnSteps = 12;
constexpr unsigned kTurnsInTrial = 6;  // the other and the best, three times
constexpr std::ptrdiff_t kStepsToWarmUp = 4;
// Over this a wake-up does not matter, and a trial with too few slots would.
constexpr Duration kLongStep = std::chrono::milliseconds(20);
// So many in a row, for so long: less is a hiccup of the machine, or nodes that are still starting.
constexpr unsigned kLongStepsToBelieve = 3;
constexpr Duration kLongSpanToBelieve = std::chrono::milliseconds(500);
constexpr std::uint32_t kAll = ~std::uint32_t{0};
}  // namespace

CrewSizer::CrewSizer(Options options) : options_(options) { begin_with(options_.slots_first); }

void CrewSizer::begin_with(std::uint32_t known) {
  best_ = known > 0 ? known : kAll;
  until_trial_ = known > 0 ? kStepsBetweenMost : kStepsBeforeTrial;
  between_ = known > 0 ? kStepsBetweenMost : kStepsBetween;
  found_among_ = 0;
  turns_.clear();
}

// Turns begin with the other's.
std::uint32_t CrewSizer::slots_used(std::uint32_t slots) const {
  return std::max(1u, std::min(slots, turns_.size() % 2 == 1 ? other_ : best_));
}

bool CrewSizer::learn(Duration step_span, std::uint32_t slots) {
  const std::uint32_t before = slots_used(slots);
  const bool long_ones = steps_are_long(step_span);
  const double span = smoothed(step_span);
  if (slots < found_among_ / 2) {  // what was found was found among others
    begin_with(options_.slots_first);
  } else if (long_ones && !trying()) {
    begin_with(0);
  } else if (long_ones) {  // it may be the trial's own doing
    return end_trial(false, slots);
  } else if (trying()) {
    return try_step(span, slots);
  } else if (slots > 1 && --until_trial_ == 0) {
    begin_trial(slots);
    return false;
  }
  return slots_used(slots) != before;
}

bool CrewSizer::steps_are_long(Duration step_span) {
  const bool is_long = step_span > kLongStep;
  long_steps_ = is_long ? long_steps_ + 1 : 0;
  long_span_ = is_long ? long_span_ + step_span : Duration{};
  return long_steps_ >= kLongStepsToBelieve && long_span_ >= kLongSpanToBelieve;
}

double CrewSizer::smoothed(Duration step_span) {
  bunch_.push_back(seconds(step_span));
  if (bunch_.size() > options_.steps_at_once) bunch_.erase(bunch_.begin());
  return std::accumulate(bunch_.begin(), bunch_.end(), 0.0) / static_cast<double>(bunch_.size());
}

void CrewSizer::begin_trial(std::uint32_t slots) {
  const std::uint32_t used = std::min(slots, best_);
  until_trial_ = between_;
  if (used == slots) try_fewer_ = true;
  if (used == 1) try_fewer_ = false;
  other_ = try_fewer_ ? used / 2 : 2 * used < slots ? 2 * used : kAll;
  turns_.emplace_back();
}

bool CrewSizer::try_step(double span, std::uint32_t slots) {
  turns_.back().push_back(span);
  if (turns_.back().size() < kTurnSteps) return false;
  if (turns_.size() == kTurnsInTrial) return end_trial(other_is_faster(), slots);
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

bool CrewSizer::end_trial(bool faster, std::uint32_t slots) {
  turns_.clear();
  if (faster) {
    best_ = other_;
    found_among_ = slots;
    until_trial_ = kStepsBeforeTrial;  // it paid: look further the same way soon
    between_ = kStepsBetween;
    return true;
  }
  // Both ways have failed, or there is only one.
  if (!try_fewer_ || best_ >= slots) between_ = std::min(2 * between_, kStepsBetweenMost);
  try_fewer_ = !try_fewer_;
  return false;
}

}  // namespace wide::engine
