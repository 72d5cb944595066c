#pragma once
// The loops over floats that everyone must do alike: one instruction set per machine is chosen at
// run time, and all give the bits of the plain loops in float_reference.cc. Add, multiply, divide
// and square root only, each rounded once; nothing fused, nothing reordered.
//
// Arrays may be the same, but may not overlap otherwise. Any alignment.

#include <cstddef>

namespace wide::engine {

// Constants of one update, already float.
struct UpdateRule {
  enum class Kind { kSgd, kMomentum, kNesterov, kAdam, kAdamW };

  Kind kind = Kind::kSgd;
  float clip_factor = 1;
  float weight_decay = 0;
  float step_size = 0;
  float momentum = 0;
  float beta1 = 0;
  float beta1_rest = 0;  // 1 - beta1, rounded once from double
  float beta2 = 0;
  float beta2_rest = 0;
  float second_root = 1;
  float eps = 0;
  float decay_factor = 1;
};

// One update of `count` parameters. `first` and `second` are the optimiser's state before it,
// `first_to` and `second_to` after it; null where the kind has none.
struct UpdateArrays {
  const float* gradient = nullptr;
  const float* from = nullptr;
  float* to = nullptr;
  const float* first = nullptr;
  const float* second = nullptr;
  float* first_to = nullptr;
  float* second_to = nullptr;
  std::size_t count = 0;
};

void update_kernel(const UpdateRule& rule, const UpdateArrays& arrays);
void update_reference(const UpdateRule& rule, const UpdateArrays& arrays);

// out[i] = left[i] + right[i]
void add_kernel(const float* left, const float* right, float* out, std::size_t count);

// values[i] = values[i] + 0.0f: -0.0 becomes 0.0, everything else stays.
void clear_negative_zeros(float* values, std::size_t count);

// values[i] = values[i] / divisor
void divide_kernel(float* values, float divisor, std::size_t count);

// The sum of values[i] * values[i] in double: eight sums side by side, every eighth value in each,
// so that the order is the same for any width of registers.
double squares_kernel(const float* values, std::size_t count);
double squares_reference(const float* values, std::size_t count);

}  // namespace wide::engine
