#pragma once
// The update rule, elementwise: add, multiply, divide and square root, each rounded once, the same
// on every instruction set. What needs a logarithm, a power or a global order (learning rate, bias
// corrections, the clip factor) the pool computes once per step, in double, and sends as scalars.
//
//   sgd     g = u·clip + wd·w      m = μ·m + g      w -= lr · (nesterov ? g + μ·m : m)
//   adam    g = u·clip + wd·w      m = β1·m + (1-β1)·g     v = β2·v + (1-β2)·g·g
//           w -= step_size · m / (sqrt(v) / second_root + eps)
//   adamw   w *= decay_factor, then as adam without wd

#include <cstdint>
#include <span>
#include <vector>

#include "wide/engine/job.h"
#include "wide/wire/messages.h"

namespace wide::engine {

using wire::StepScalars;

// How many state floats per parameter: 0 for plain sgd, 1 with momentum, 2 for adam.
std::uint32_t state_per_parameter(const Train& train);

// The learning rate of a step: lr × warm-up × schedule.
//
//   warm-up   (step + 1) / warmup_steps, until it reaches 1
//   cosine    (1 + cos(π · step / step_count)) / 2; stays 1 where no end is known (step_count 0)
//   step      decay_rate to the power of step / decay_every_steps, rounded down
double learning_rate(const Train& train, Step step, std::uint64_t step_count);

// Everything for applying `mean_gradient` at `step`.
StepScalars step_scalars(const Train& train, Step step, std::uint64_t step_count,
                         std::span<const float> mean_gradient);

// The 2-norm, in double, over fixed runs in a fixed tree: the same bits on every machine.
double gradient_norm(std::span<const float> gradient);

// The optimiser's state before and after an update (they may be the same array):
// state_per_parameter() arrays of the parameters' length, one behind the other.
struct MomentsChange {
  std::span<const float> from;
  std::span<float> to;

  MomentsChange(std::span<const float> before, std::span<float> after) : from(before), to(after) {}
  MomentsChange(std::span<float> in_place) : from(in_place), to(in_place) {}
  MomentsChange(std::vector<float>& in_place) : from(in_place), to(in_place) {}
};

// `from` and `to` are the old and new parameters; they may be the same array.
void apply_update(const Train& train, const StepScalars& scalars,
                  std::span<const float> mean_gradient, std::span<const float> from,
                  std::span<float> to, const MomentsChange& state);
void apply_update_reference(const Train& train, const StepScalars& scalars,
                            std::span<const float> mean_gradient, std::span<const float> from,
                            std::span<float> to, const MomentsChange& state);

// What a root of the sum tree becomes before everyone applies it: the parameters' gradients over
// the step's samples, the buffers over its units.
void divide_root(const Job& job, std::uint64_t parameter_count, std::span<float> root);

// values[i] = values[i] / divisor: a true division, not a product with the inverse.
void divide_floats(std::span<float> values, float divisor);

}  // namespace wide::engine
