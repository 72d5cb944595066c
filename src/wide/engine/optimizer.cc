#include "wide/engine/optimizer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "wide/base/check.h"
#include "wide/engine/float_kernels.h"

namespace wide::engine {

namespace {

UpdateRule::Kind rule_kind(const Train& train) {
  using Kind = UpdateRule::Kind;
  switch (train.optimizer) {
    case OptimizerKind::kAdam:
      return Kind::kAdam;
    case OptimizerKind::kAdamW:
      return Kind::kAdamW;
    case OptimizerKind::kSgd:
      break;
  }
  if (train.momentum == 0) return Kind::kSgd;
  return train.nesterov ? Kind::kNesterov : Kind::kMomentum;
}

// Differences in double are exact to the last bit on every machine, so nodes may take them.
UpdateRule make_rule(const Train& train, const StepScalars& scalars) {
  UpdateRule rule;
  rule.kind = rule_kind(train);
  rule.clip_factor = scalars.clip_factor;
  rule.weight_decay = static_cast<float>(train.weight_decay);
  rule.step_size = scalars.step_size;
  rule.momentum = static_cast<float>(train.momentum);
  rule.beta1 = static_cast<float>(train.beta1);
  rule.beta1_rest = static_cast<float>(1 - train.beta1);
  rule.beta2 = static_cast<float>(train.beta2);
  rule.beta2_rest = static_cast<float>(1 - train.beta2);
  rule.second_root = scalars.second_root;
  rule.eps = static_cast<float>(train.eps);
  rule.decay_factor = scalars.decay_factor;
  return rule;
}

UpdateArrays make_arrays(const Train& train, std::span<const float> mean_gradient,
                         std::span<const float> from, std::span<float> to,
                         const MomentsChange& state) {
  const auto count = from.size();
  WIDE_CHECK(mean_gradient.size() == count && to.size() == count);
  WIDE_CHECK(state.from.size() == count * state_per_parameter(train));
  WIDE_CHECK(state.to.size() == state.from.size());
  UpdateArrays arrays;
  arrays.gradient = mean_gradient.data();
  arrays.from = from.data();
  arrays.to = to.data();
  arrays.count = count;
  if (!state.from.empty()) {
    arrays.first = state.from.data();
    arrays.first_to = state.to.data();
  }
  if (state.from.size() >= 2 * count) {
    arrays.second = state.from.data() + count;
    arrays.second_to = state.to.data() + count;
  }
  return arrays;
}

}  // namespace

std::uint32_t state_per_parameter(const Train& train) {
  if (train.optimizer != OptimizerKind::kSgd) return 2;
  return train.momentum == 0 ? 0 : 1;
}

// The runs are the leaves of a tree like the sum tree's: after run n, as many pairs are complete as
// n + 1 has trailing zeros.
double gradient_norm(std::span<const float> gradient) {
  constexpr std::size_t kRun = 4096;
  std::array<double, 64> waiting{};
  std::size_t depth = 0;
  std::uint64_t run_count = 0;
  for (std::size_t at = 0; at < gradient.size(); at += kRun) {
    double sum = squares_kernel(gradient.data() + at, std::min(kRun, gradient.size() - at));
    ++run_count;
    for (int pairs = std::countr_zero(run_count); pairs > 0; --pairs) sum = waiting[--depth] + sum;
    waiting[depth++] = sum;
  }
  double total = 0;
  while (depth > 0) total = waiting[--depth] + total;
  return std::sqrt(total);
}

void apply_update(const Train& train, const StepScalars& scalars,
                  std::span<const float> mean_gradient, std::span<const float> from,
                  std::span<float> to, const MomentsChange& state) {
  update_kernel(make_rule(train, scalars), make_arrays(train, mean_gradient, from, to, state));
}

void apply_update_reference(const Train& train, const StepScalars& scalars,
                            std::span<const float> mean_gradient, std::span<const float> from,
                            std::span<float> to, const MomentsChange& state) {
  update_reference(make_rule(train, scalars), make_arrays(train, mean_gradient, from, to, state));
}

void divide_root(const Job& job, std::uint64_t parameter_count, std::span<float> root) {
  divide_floats(root.first(parameter_count), static_cast<float>(job.samples_per_step()));
  divide_floats(root.subspan(parameter_count), static_cast<float>(job.train.units_per_step));
}

void divide_floats(std::span<float> values, float divisor) {
  divide_kernel(values.data(), divisor, values.size());
}

}  // namespace wide::engine
