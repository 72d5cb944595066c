#pragma once
// The two loops that low-rank products are made of: alike on every instruction set.

#include <cstddef>

namespace wide::codec {

// Sum of left[i] × right[i]: sixteen sums side by side, i % 16 tells which; then halves upon
// halves.
float dot_kernel(const float* left, const float* right, std::size_t count);
float dot_reference(const float* left, const float* right, std::size_t count);

// to[i] = to[i] + factor × from[i], rounded twice.
void add_scaled_kernel(float factor, const float* from, float* to, std::size_t count);
void add_scaled_reference(float factor, const float* from, float* to, std::size_t count);

}  // namespace wide::codec
