// Compiled once per instruction set (Highway's foreach_target). Never MulAdd: a fused product is
// not rounded and would differ.

#include "wide/codec/low_rank_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wide/codec/low_rank_kernels.cc"
#include <hwy/foreach_target.h>  // comes before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace wide::codec {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kSums = 16;

float dot(const float* left, const float* right, std::size_t count) {
  const hn::CappedTag<float, kSums> d;
  alignas(64) float sums[kSums] = {};
  const std::size_t whole = count / kSums * kSums;
  for (std::size_t lane = 0; lane < kSums; lane += hn::Lanes(d)) {
    auto sum = hn::Zero(d);
    for (std::size_t i = lane; i < whole; i += kSums) {
      sum = hn::Add(sum, hn::Mul(hn::LoadU(d, left + i), hn::LoadU(d, right + i)));
    }
    hn::Store(sum, d, sums + lane);
  }
  for (std::size_t i = whole; i < count; ++i) sums[i % kSums] += left[i] * right[i];
  for (std::size_t half = kSums / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

void add_scaled(float factor, const float* from, float* to, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto factors = hn::Set(d, factor);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto product = hn::Mul(factors, hn::LoadU(d, from + i));
    hn::StoreU(hn::Add(hn::LoadU(d, to + i), product), d, to + i);
  }
  for (; i < count; ++i) to[i] += factor * from[i];
}

}  // namespace HWY_NAMESPACE
}  // namespace wide::codec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wide::codec {

HWY_EXPORT(dot);
HWY_EXPORT(add_scaled);

float dot_kernel(const float* left, const float* right, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(dot)(left, right, count);
}
void add_scaled_kernel(float factor, const float* from, float* to, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(add_scaled)(factor, from, to, count);
}

float dot_reference(const float* left, const float* right, std::size_t count) {
  float sums[16] = {};
  for (std::size_t i = 0; i < count; ++i) sums[i % 16] = sums[i % 16] + left[i] * right[i];
  for (std::size_t half = 8; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) sums[i] = sums[i] + sums[i + half];
  }
  return sums[0];
}
void add_scaled_reference(float factor, const float* from, float* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = to[i] + factor * from[i];
}

}  // namespace wide::codec
#endif  // HWY_ONCE
