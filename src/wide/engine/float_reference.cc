// The plain loops: what the formulas of optimizer.h say, one value at a time.

#include <cmath>

#include "wide/engine/float_kernels.h"

namespace wide::engine {

namespace {

float sgd_step(const UpdateRule& rule, const UpdateArrays& arrays, std::size_t i) {
  const float w = arrays.from[i];
  const float g = arrays.gradient[i] * rule.clip_factor + rule.weight_decay * w;
  if (rule.kind == UpdateRule::Kind::kSgd) return w - rule.step_size * g;

  const float m = rule.momentum * arrays.first[i] + g;
  arrays.first_to[i] = m;
  const bool nesterov = rule.kind == UpdateRule::Kind::kNesterov;
  return w - rule.step_size * (nesterov ? g + rule.momentum * m : m);
}

float adam_step(const UpdateRule& rule, const UpdateArrays& arrays, std::size_t i) {
  float w = arrays.from[i];
  float g = arrays.gradient[i] * rule.clip_factor;
  if (rule.kind == UpdateRule::Kind::kAdamW) {
    w = w * rule.decay_factor;
  } else {
    g = g + rule.weight_decay * w;
  }
  const float m = rule.beta1 * arrays.first[i] + rule.beta1_rest * g;
  const float v = rule.beta2 * arrays.second[i] + (rule.beta2_rest * g) * g;
  arrays.first_to[i] = m;
  arrays.second_to[i] = v;
  return w - (rule.step_size * m) / (std::sqrt(v) / rule.second_root + rule.eps);
}

}  // namespace

void update_reference(const UpdateRule& rule, const UpdateArrays& arrays) {
  const bool adam = rule.kind == UpdateRule::Kind::kAdam || rule.kind == UpdateRule::Kind::kAdamW;
  for (std::size_t i = 0; i < arrays.count; ++i) {
    arrays.to[i] = adam ? adam_step(rule, arrays, i) : sgd_step(rule, arrays, i);
  }
}

double squares_reference(const float* values, std::size_t count) {
  double sums[8] = {};
  for (std::size_t i = 0; i < count; ++i) {
    const double value = values[i];
    sums[i % 8] += value * value;
  }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

}  // namespace wide::engine
