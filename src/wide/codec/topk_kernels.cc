// Compiled once per instruction set (Highway's foreach_target).

#include "wide/codec/topk_kernels.h"

#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wide/codec/topk_kernels.cc"
#include <hwy/foreach_target.h>  // comes before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace wide::codec {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Ints = hn::CappedTag<std::int32_t, 16>;

// As signed numbers: a magnitude has no sign bit.
HWY_INLINE std::uint64_t large_bits(const float* values, hn::Vec<Ints> below) {
  const Ints d;
  const auto mask = hn::Set(d, 0x7fffffff);
  const auto bits = hn::BitCast(d, hn::LoadU(hn::Rebind<float, Ints>(), values));
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, hn::Gt(hn::And(bits, mask), below), bytes);
  return bytes[0] | std::uint64_t{bytes[1]} << 8;
}

void mark(const float* values, std::size_t count, std::uint32_t least_bits, std::uint64_t* words) {
  const Ints d;
  const auto below = hn::Set(d, static_cast<std::int32_t>(least_bits) - 1);
  std::size_t i = 0;
  for (; i + 64 <= count; i += 64) {
    std::uint64_t word = 0;
    for (std::size_t j = 0; j < 64; j += hn::Lanes(d)) {
      word |= large_bits(values + i + j, below) << j;
    }
    words[i / 64] = word;
  }
  if (i < count) mark_large_reference(values + i, count - i, least_bits, words + i / 64);
}

}  // namespace HWY_NAMESPACE
}  // namespace wide::codec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wide::codec {

HWY_EXPORT(mark);

void mark_large(const float* values, std::size_t count, std::uint32_t least_bits,
                std::uint64_t* words) {
  HWY_DYNAMIC_DISPATCH(mark)(values, count, least_bits, words);
}

void mark_large_reference(const float* values, std::size_t count, std::uint32_t least_bits,
                          std::uint64_t* words) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(values[i]) & 0x7fffffff;
    if (i % 64 == 0) words[i / 64] = 0;
    if (bits >= least_bits) words[i / 64] |= std::uint64_t{1} << i % 64;
  }
}

}  // namespace wide::codec
#endif  // HWY_ONCE
