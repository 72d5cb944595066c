#pragma once
// IEEE 754 half precision, widened exactly: every half is a float.
//
//   sign 1 | exponent 5 | fraction 10
//
// Pure.

#include <bit>
#include <cstdint>

namespace wide::data {

constexpr float widen_half(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t exponent = half >> 10 & 0x1f;
  const std::uint32_t fraction = half & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent == 0) {  // zero and what is below 2^-14: fraction × 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

}  // namespace wide::data
