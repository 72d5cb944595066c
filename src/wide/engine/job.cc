#include "wide/engine/job.h"

#include <algorithm>
#include <cmath>

#include "wide/engine/job_kinds.h"

namespace wide::engine {

static_assert(static_cast<std::size_t>(LossyPlan::kAuto) == codec::kLossyCount);

codec::Lossy fixed(LossyPlan plan) {
  return plan == LossyPlan::kAuto ? codec::Lossy::kNone : static_cast<codec::Lossy>(plan);
}

bool may_use(LossyPlan plan, std::uint8_t codec) {
  if (plan != LossyPlan::kAuto) return codec == static_cast<std::uint8_t>(fixed(plan));
  return codec < codec::kLossyCount && codec != static_cast<std::uint8_t>(codec::Lossy::kPowersgd);
}

std::uint64_t Job::step_count(std::uint64_t train_samples) const {
  if (train.steps != 0) return train.steps;
  if (train.epochs == 0) return 0;
  // 0.07 epochs of 100 samples are 7 samples, not the 7.000000000000001 of binary fractions.
  const double wanted = train.epochs * static_cast<double>(train_samples);
  const auto whole = static_cast<std::uint64_t>(std::ceil(wanted * (1 - 1e-12)));
  return std::max<std::uint64_t>(1, (whole + samples_per_step() - 1) / samples_per_step());
}

Digest job_id(const Job& job, const Digest& samples_sha256) {
  return Sha256().update(identity_text(job)).update(samples_sha256.bytes).finish();
}

bool goes_with(ModelKind model, SampleKind samples) {
  switch (model) {
    case ModelKind::kMlp:
      return !is_text(samples);
    case ModelKind::kCnn:
    case ModelKind::kResnet:
      return !is_text(samples) && samples != SampleKind::kSynthetic;
    case ModelKind::kGpt:
      return is_text(samples);
    case ModelKind::kTorchScript:
      break;
  }
  return true;
}

}  // namespace wide::engine
