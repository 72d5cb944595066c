// Learning rate, bias corrections and clip factor: computed by the pool alone, in double, rounded
// once to float.

#include <cmath>
#include <numbers>

#include "wide/engine/optimizer.h"

namespace wide::engine {

namespace {

double warmup_factor(const Train& train, Step step) {
  if (step >= train.warmup_steps) return 1;
  return static_cast<double>(step + 1) / static_cast<double>(train.warmup_steps);
}

double schedule_factor(const Train& train, Step step, std::uint64_t step_count) {
  if (train.schedule == Schedule::kCosine && step_count != 0) {
    const double done = static_cast<double>(step) / static_cast<double>(step_count);
    return (1 + std::cos(std::numbers::pi * std::min(done, 1.0))) / 2;
  }
  if (train.schedule == Schedule::kStep) {
    return std::pow(train.decay_rate, static_cast<double>(step / train.decay_every_steps));
  }
  return 1;
}

// As torch.nn.utils.clip_grad_norm_ has it.
double clip_factor(const Train& train, std::span<const float> mean_gradient) {
  if (train.clip_norm == 0) return 1;
  const double factor = train.clip_norm / (gradient_norm(mean_gradient) + 1e-6);
  return factor < 1 ? factor : 1;
}

}  // namespace

double learning_rate(const Train& train, Step step, std::uint64_t step_count) {
  return train.lr * warmup_factor(train, step) * schedule_factor(train, step, step_count);
}

StepScalars step_scalars(const Train& train, Step step, std::uint64_t step_count,
                         std::span<const float> mean_gradient) {
  const double lr = learning_rate(train, step, step_count);
  StepScalars scalars;
  scalars.lr = static_cast<float>(lr);
  scalars.clip_factor = static_cast<float>(clip_factor(train, mean_gradient));
  scalars.step_size = scalars.lr;
  if (train.optimizer == OptimizerKind::kSgd) return scalars;

  const auto t = static_cast<double>(step + 1);
  scalars.step_size = static_cast<float>(lr / (1 - std::pow(train.beta1, t)));
  scalars.second_root = static_cast<float>(std::sqrt(1 - std::pow(train.beta2, t)));
  if (train.optimizer == OptimizerKind::kAdamW) {
    scalars.decay_factor = static_cast<float>(1 - lr * train.weight_decay);
  }
  return scalars;
}

}  // namespace wide::engine
