#include "wide/engine/lossy_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace wide::engine {

namespace {

using codec::Lossy;

// What one step shows may be chance; but where links hold each up for long, few have to do.
constexpr std::uint32_t kStepsBetween = 8;
constexpr std::uint32_t kStepsLeast = 2;
constexpr double kLagSeen = 4.0;     // seconds, in all
constexpr double kLagEnough = 0.10;  // of the computing: less lag is worth no loss
constexpr double kGainLeast = 0.05;
constexpr std::size_t kMeasuredValues = 1u << 16;
// What needs a memory of its own is not chosen at any moment.
constexpr Lossy kCandidates[] = {Lossy::kNone, Lossy::kFp16, Lossy::kBf16, Lossy::kInt8,
                                 Lossy::kInt4, Lossy::kTopk, Lossy::kSign};

std::size_t index(Lossy codec) { return static_cast<std::size_t>(codec); }

}  // namespace

double relative_loss(Lossy codec, std::span<const float> values, const codec::Rounding& rounding) {
  std::vector<std::byte> coded(codec::coded_bytes(codec, values.size()));
  std::vector<float> decoded(values.size());
  codec::encode_unbiased(codec, values, rounding, coded);
  if (!codec::decode(codec, coded, decoded)) return 1;
  double lost = 0;
  double whole = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double difference = double(values[i]) - double(decoded[i]);
    lost += difference * difference;
    whole += double(values[i]) * double(values[i]);
  }
  return whole > 0 ? lost / whole : 0;
}

LossyChoice::LossyChoice(const Coding& plan, const BytesByCodec& up, const BytesByCodec& down)
    : budget_(plan.budget),
      gradient_auto_(plan.gradient == LossyPlan::kAuto),
      update_auto_(plan.update == LossyPlan::kAuto),
      up_(up),
      down_(down),
      pair_{fixed(plan.gradient), fixed(plan.update)} {}

void LossyChoice::measure_losses(std::uint64_t step, std::span<const float> mean) {
  const auto part = mean.first(std::min(mean.size(), kMeasuredValues));
  for (const Lossy codec : kCandidates) {
    losses_[index(codec)] = relative_loss(codec, part, {0, step, 0});
  }
  measured_ = true;
}

bool LossyChoice::allowed(bool automatic, Lossy codec, const BytesByCodec& bytes) const {
  return codec == Lossy::kNone ||
         (automatic && bytes[index(codec)] > 0 && losses_[index(codec)] <= budget_);
}

double LossyChoice::seconds(const LossyPair& pair, const StepCosts& costs) const {
  const auto bytes = [this](const LossyPair& of) {
    return double(up_[index(of.gradient)] + down_[index(of.update)]);
  };
  return costs.compute_seconds + costs.lag_seconds * bytes(pair) / std::max(1.0, bytes(pair_));
}

LossyPair LossyChoice::best(const StepCosts& costs) const {
  const double enough = (1 + kLagEnough) * costs.compute_seconds;
  LossyPair mildest, quickest;
  double least_lost = std::numeric_limits<double>::infinity();
  double shortest = std::numeric_limits<double>::infinity();
  for (const Lossy gradient : kCandidates) {
    const bool up_fits = gradient_auto_ ? allowed(true, gradient, up_) : gradient == pair_.gradient;
    for (const Lossy update : kCandidates) {
      const bool down_fits = update_auto_ ? allowed(true, update, down_) : update == pair_.update;
      if (!up_fits || !down_fits) continue;
      const LossyPair pair{gradient, update};
      const double span = seconds(pair, costs);
      const double lost = losses_[index(gradient)] + losses_[index(update)];
      if (span < shortest) {
        shortest = span;
        quickest = pair;
      }
      if (span <= enough && lost < least_lost) {
        least_lost = lost;
        mildest = pair;
      }
    }
  }
  return shortest <= enough ? mildest : quickest;
}

std::optional<LossyDecision> LossyChoice::decide(std::uint64_t step, std::span<const float> mean,
                                                 const StepCosts& costs) {
  if (!gradient_auto_ && !update_auto_) return std::nullopt;
  ++steps_since_change_;
  const bool has_shown =
      steps_since_change_ >= kStepsBetween ||
      (steps_since_change_ >= kStepsLeast && steps_since_change_ * costs.lag_seconds >= kLagSeen);
  if (!has_shown || costs.compute_seconds <= 0) return std::nullopt;
  steps_since_change_ = 0;
  measure_losses(step, mean);
  const LossyPair next = best(costs);
  if (next == pair_) return std::nullopt;

  const double now = seconds(pair_, costs);
  const double then = seconds(next, costs);
  const bool over_budget =
      !allowed(gradient_auto_, pair_.gradient, up_) || !allowed(update_auto_, pair_.update, down_);
  // Milder for nothing, stronger for a gain.
  const bool milder = then >= now;
  const bool worth_it =
      milder ? then <= (1 + kLagEnough) * costs.compute_seconds : then <= (1 - kGainLeast) * now;
  if (!over_budget && !worth_it) return std::nullopt;
  pair_ = next;
  return LossyDecision{
      pair_,
      fmt::format("{:.3g} ms instead of {:.3g} ms per step, of which {:.3g} ms are computing; "
                  "gradients lose {:.2g} of their square, updates {:.2g}",
                  1e3 * then, 1e3 * now, 1e3 * costs.compute_seconds,
                  losses_[index(pair_.gradient)], losses_[index(pair_.update)])};
}

}  // namespace wide::engine
