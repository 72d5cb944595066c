#pragma once
// What the plain and the fast versions of the lossy codecs must agree on to the bit: scales, random
// numbers, and the two loops over groups themselves. Inside this room only; the promises are in
// lossy.h.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "wide/codec/lossy.h"

namespace wide::codec {

// --- Scales: bfloat16, the upper half of a float ---

inline constexpr std::uint32_t kInfinityBits = 0x7f800000;
inline constexpr std::uint32_t kMagnitudeMask = 0x7fffffff;
inline constexpr std::uint32_t kNanBits = 0x7fc00000;
inline constexpr std::uint16_t kNanScale = 0x7fc0;       // a value of the group is not finite
inline constexpr std::uint16_t kSmallestScale = 0x0d80;  // 2^-100: neither it ÷ 127 nor 127 ÷ it
                                                         // leaves the normal floats
inline constexpr std::uint16_t kLargestScale = 0x7f7f;   // the largest that is finite, 3.39e38

inline float scale_value(std::uint16_t scale) {
  return std::bit_cast<float>(std::uint32_t{scale} << 16);
}

// The scale for a magnitude given by its bits: rounded up, so that no value is beyond its scale.
inline std::uint16_t scale_above(std::uint32_t magnitude_bits) {
  if (magnitude_bits == 0) return 0;
  if (magnitude_bits >= kInfinityBits) return kNanScale;
  const std::uint32_t up = (magnitude_bits + 0xffff) >> 16;
  return static_cast<std::uint16_t>(std::clamp<std::uint32_t>(up, kSmallestScale, kLargestScale));
}
inline bool is_scale(std::uint16_t scale) {
  return scale == 0 || scale == kNanScale || (scale >= kSmallestScale && scale <= kLargestScale);
}

// fp16: a power of two that takes the largest magnitude to [2^14, 2^15), where rounding up still
// leaves a finite half.
inline constexpr std::uint32_t kHalfShift = 14;
inline constexpr std::uint32_t kPowerFieldMin = (kSmallestScale >> 7) - kHalfShift;
inline constexpr std::uint32_t kPowerFieldMax = 254 - kHalfShift;

inline std::uint16_t power_scale(std::uint32_t magnitude_bits) {
  if (magnitude_bits == 0) return 0;
  if (magnitude_bits >= kInfinityBits) return kNanScale;
  const std::uint32_t field = std::max(magnitude_bits >> 23, kPowerFieldMin + kHalfShift);
  return static_cast<std::uint16_t>((field - kHalfShift) << 7);
}
inline bool is_power_scale(std::uint16_t scale) {
  if (scale == 0 || scale == kNanScale) return true;
  const std::uint32_t field = scale >> 7;
  return (scale & 0x7f) == 0 && field >= kPowerFieldMin && field <= kPowerFieldMax;
}
inline float power_inverse(std::uint16_t scale) {  // exact
  return std::bit_cast<float>((254 - (std::uint32_t{scale} >> 7)) << 23);
}

// The largest float that fp16 can hold under its largest scale, and the largest half then.
inline constexpr std::uint32_t kHalfLargestBits = 0x7f7fe000;
inline constexpr std::uint32_t kHalfLargestCode = 0x77ff;
inline std::uint32_t half_code_max(std::uint16_t scale) {
  return scale >> 7 == kPowerFieldMax ? kHalfLargestCode : kHalfLargestCode + 1;
}
inline constexpr std::uint32_t kBrainLargestBits = 0x7f7f0000;  // bf16's largest

// --- Steps: int8 and int4 ---

inline constexpr float kInt8Levels = 127;
inline constexpr float kInt4Levels = 7;
// Added to a float of at most 2^22, it leaves the nearest whole number (ties to even) in the low
// bits: alike on every instruction set.
inline constexpr float kWholeMagic = 0x1.8p23f;

// --- Random numbers: 16 bits per value ---

// Drawn once per call by Philox from (seed, step, block).
struct RoundingKey {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
};
RoundingKey rounding_key(const Rounding& rounding);

// MurmurHash3's finaliser (Appleby, public domain), its second half keyed too. One hash serves two
// values of a group: j takes the low 16 bits of the hash with index group × 64 + j, j + 64 the high
// ones. Past 2^33 values the indices repeat.
inline constexpr std::size_t kHalfGroup = kGroupValues / 2;
inline constexpr std::uint32_t kMix1 = 0x85ebca6b;
inline constexpr std::uint32_t kMix2 = 0xc2b2ae35;

alignas(64) inline constexpr std::uint32_t kLaneNumbers[16] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                               8, 9, 10, 11, 12, 13, 14, 15};

inline std::uint32_t mixed(std::uint32_t index, const RoundingKey& key) {
  std::uint32_t hash = index ^ key.first;
  hash = (hash ^ hash >> 16) * kMix1;
  hash = ((hash ^ hash >> 13) + key.second) * kMix2;
  return hash ^ hash >> 16;
}

// --- The loops ---

struct Encoding {
  const float* values = nullptr;
  float* residual = nullptr;  // null: unbiased, by `key`
  RoundingKey key;
  std::byte* scales = nullptr;  // two bytes a group; unused by bf16
  std::byte* codes = nullptr;
  std::size_t count = 0;
};

struct Decoding {
  const std::byte* scales = nullptr;
  const std::byte* codes = nullptr;
  float* out = nullptr;
  std::size_t count = 0;
  bool add = false;
};

// Bytes of the codes of `count` values, padding left out. fp16, bf16, int8, int4 and sign.
std::size_t code_bytes(Lossy codec, std::size_t count);

// False: not what an encoder writes.
void encode_groups_reference(Lossy codec, const Encoding& encoding);
bool decode_groups_reference(Lossy codec, const Decoding& decoding);

// int8, int4 and sign; fp16 and bf16.
void encode_integers(Lossy codec, const Encoding& encoding);
bool decode_integers(Lossy codec, const Decoding& decoding);
void encode_halves(Lossy codec, const Encoding& encoding);
bool decode_halves(Lossy codec, const Decoding& decoding);

// none: out[i] = (left[i] + right[i]) + 0.0f, so that no -0.0 is left; right may be null. Floats,
// wherever they lie; arrays may be the same.
void add_floats(const std::byte* left, const std::byte* right, std::byte* out, std::size_t count);

}  // namespace wide::codec
