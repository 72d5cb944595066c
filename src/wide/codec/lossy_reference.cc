// The plain loops: what the lossy codecs mean, one value at a time.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "wide/base/check.h"
#include "wide/codec/lossy_groups.h"

namespace wide::codec {

namespace {

using Group = std::array<float, kGroupValues>;

// One group: `count` values, the others 0.
struct GroupWork {
  Group values{};   // what is to be coded
  Group decoded{};  // what a decoder will see of it
  std::size_t count = 0;
  std::size_t index = 0;
  bool unbiased = false;
  RoundingKey key;
};

std::uint32_t random_bits(const GroupWork& work, std::size_t j) {
  const auto first = static_cast<std::uint32_t>(work.index * kHalfGroup);
  const std::uint32_t hash = mixed(first + static_cast<std::uint32_t>(j % kHalfGroup), work.key);
  return j < kHalfGroup ? hash & 0xffff : hash >> 16;
}

// Between -0.5 and 0.5, neither of them; 0 where nothing is left to chance.
float noise(const GroupWork& work, std::size_t j) {
  if (!work.unbiased) return 0;
  return (static_cast<float>(random_bits(work, j)) + 0.5f) * 0x1p-16f - 0.5f;
}

std::uint32_t magnitude_bits(float value) {
  return std::bit_cast<std::uint32_t>(value) & kMagnitudeMask;
}

std::uint32_t largest_bits(const GroupWork& work) {
  std::uint32_t largest = 0;
  for (const float value : work.values) largest = std::max(largest, magnitude_bits(value));
  return largest;
}

void put_u16(std::byte* bytes, std::size_t index, std::uint32_t value) {
  const auto word = static_cast<std::uint16_t>(value);
  std::memcpy(bytes + 2 * index, &word, 2);
}
std::uint16_t get_u16(const std::byte* bytes, std::size_t index) {
  std::uint16_t word;
  std::memcpy(&word, bytes + 2 * index, 2);
  return word;
}
void set_bits(std::byte* bytes, std::size_t bit, std::uint32_t value) {
  bytes[bit / 8] |= static_cast<std::byte>(value << bit % 8);
}

// --- int8 and int4 ---

// To the nearest, no value is half a step beyond the last level: not even one above the largest
// scale, by a 256th of it at most. With noise it may be, and is held.
int whole_code(const GroupWork& work, std::size_t j, float scale, float levels) {
  float steps = work.values[j] * (levels / scale);
  if (work.unbiased) steps = std::clamp(steps, -levels, levels) + noise(work, j);
  const float rounded = steps + kWholeMagic;
  return static_cast<int>(rounded - kWholeMagic);
}

void encode_whole(GroupWork& work, std::uint16_t scale, Lossy codec, std::byte* codes) {
  const float levels = codec == Lossy::kInt8 ? kInt8Levels : kInt4Levels;
  const float step = scale_value(scale) / levels;
  for (std::size_t j = 0; j < work.count; ++j) {
    const int code = whole_code(work, j, scale_value(scale), levels);
    work.decoded[j] = static_cast<float>(code) * step;
    if (codec == Lossy::kInt8) {
      codes[j] = static_cast<std::byte>(code);
    } else {
      set_bits(codes, 4 * j, static_cast<std::uint32_t>(code) & 0xf);
    }
  }
}

// Two's complement: -128 and -8 are nobody's codes.
bool decode_whole(std::uint16_t scale, Lossy codec, const std::byte* codes, std::size_t count,
                  Group& out) {
  const bool bytes = codec == Lossy::kInt8;
  const int levels = bytes ? 127 : 7;
  const float step = scale_value(scale) / static_cast<float>(levels);
  for (std::size_t j = 0; j < count; ++j) {
    const int pattern = std::to_integer<int>(codes[bytes ? j : j / 2]);
    const int code = bytes ? (pattern ^ 128) - 128 : ((pattern >> j % 2 * 4 & 15) ^ 8) - 8;
    if (code < -levels || (scale == 0 && code != 0)) return false;
    out[j] = static_cast<float>(code) * step;
  }
  return true;
}

// --- sign ---

// In sixteen sums side by side, then halves upon halves: an order that vectors can keep.
std::uint32_t mean_bits(const GroupWork& work) {
  if (largest_bits(work) >= kInfinityBits) return kInfinityBits;
  std::array<float, 16> sums{};
  for (std::size_t j = 0; j < kGroupValues; ++j) {
    sums[j % 16] = sums[j % 16] + std::abs(work.values[j]) * (1.0f / kGroupValues);
  }
  for (std::size_t half = 8; half > 0; half /= 2) {
    for (std::size_t j = 0; j < half; ++j) sums[j] = sums[j] + sums[j + half];
  }
  const float mean = sums[0] * (static_cast<float>(kGroupValues) / static_cast<float>(work.count));
  return std::min(std::bit_cast<std::uint32_t>(mean), kInfinityBits - 1);  // it may round up
}

void encode_sign(GroupWork& work, std::uint16_t scale, std::byte* codes) {
  const float inverse = 1.0f / scale_value(scale);
  for (std::size_t j = 0; j < work.count; ++j) {
    const bool minus = work.values[j] * inverse < 2 * noise(work, j);
    work.decoded[j] = minus ? -scale_value(scale) : scale_value(scale);
    set_bits(codes, j, minus ? 1 : 0);
  }
}

bool decode_sign(std::uint16_t scale, const std::byte* codes, std::size_t count, Group& out) {
  for (std::size_t j = 0; j < count; ++j) {
    const bool minus = (std::to_integer<unsigned>(codes[j / 8]) >> j % 8 & 1) != 0;
    if (minus && scale == 0) return false;
    out[j] = minus ? -scale_value(scale) : scale_value(scale);
  }
  return true;
}

// --- fp16 and bf16 ---

// Drops `count` low bits: carries at random, or to nearest, ties to even.
std::uint32_t dropped(std::uint32_t bits, unsigned count, const GroupWork& work, std::size_t j) {
  const std::uint32_t nearest = (1u << (count - 1)) - 1 + (bits >> count & 1);
  const std::uint32_t carry = work.unbiased ? random_bits(work, j) >> (16 - count) : nearest;
  return (bits + carry) >> count;
}

// A half below 2^-14 has steps of 2^-24, as has a float in [2^-14, 2^-13) without its 13 low bits.
std::uint32_t half_code(const GroupWork& work, std::size_t j, std::uint16_t scale) {
  const std::uint32_t bits = std::min(magnitude_bits(work.values[j]), kHalfLargestBits);
  const float scaled = std::bit_cast<float>(bits) * power_inverse(scale);
  const bool tiny = scaled < 0x1p-14f;
  const auto shifted = std::bit_cast<std::uint32_t>(tiny ? scaled + 0x1p-14f : scaled);
  return dropped(shifted, 13, work, j) - ((tiny ? 113u : 112u) << 10);
}
float half_value(std::uint32_t code, std::uint16_t scale) {
  return std::bit_cast<float>(code << 13) * 0x1p112f * scale_value(scale);
}

std::uint32_t brain_code(const GroupWork& work, std::size_t j) {
  return dropped(std::min(magnitude_bits(work.values[j]), kBrainLargestBits), 16, work, j);
}

void encode_half(GroupWork& work, std::uint16_t scale, Lossy codec, std::byte* codes) {
  const bool half = codec == Lossy::kFp16;
  for (std::size_t j = 0; j < work.count; ++j) {
    const std::uint32_t code = half ? half_code(work, j, scale) : brain_code(work, j);
    const bool minus = work.values[j] < 0 && code != 0;
    const float magnitude = half ? half_value(code, scale) : std::bit_cast<float>(code << 16);
    work.decoded[j] = minus ? -magnitude : magnitude;
    put_u16(codes, j, code | (minus ? 0x8000 : 0));
  }
}

bool decode_half(std::uint16_t scale, Lossy codec, const std::byte* codes, std::size_t count,
                 Group& out) {
  const bool half = codec == Lossy::kFp16;
  const std::uint32_t code_max = !half ? kLargestScale : scale == 0 ? 0 : half_code_max(scale);
  for (std::size_t j = 0; j < count; ++j) {
    const std::uint32_t word = get_u16(codes, j), code = word & 0x7fff;
    if (code > code_max || word == 0x8000) return false;
    const float magnitude = half ? half_value(code, scale) : std::bit_cast<float>(code << 16);
    out[j] = word > 0x7fff ? -magnitude : magnitude;
  }
  return true;
}

// --- Groups ---

std::uint16_t scale_of(const GroupWork& work, Lossy codec) {
  if (codec == Lossy::kFp16) return power_scale(largest_bits(work));
  if (codec == Lossy::kSign && !work.unbiased) return scale_above(mean_bits(work));
  return scale_above(largest_bits(work));
}

// The group's codes lie at `codes`, all zero so far.
std::uint16_t encode_group(GroupWork& work, Lossy codec, std::byte* codes) {
  const std::uint16_t scale = scale_of(work, codec);
  if (scale == kNanScale) {
    work.decoded.fill(std::bit_cast<float>(kNanBits));
    for (std::size_t j = 0; j < work.count && codec == Lossy::kBf16; ++j) {
      put_u16(codes, j, kNanScale);
    }
  } else if (codec == Lossy::kFp16 || codec == Lossy::kBf16) {
    if (scale != 0) encode_half(work, scale, codec, codes);
  } else if (scale != 0) {
    codec == Lossy::kSign ? encode_sign(work, scale, codes)
                          : encode_whole(work, scale, codec, codes);
  }
  return scale;
}

bool all_are(const std::byte* bytes, std::size_t count, std::uint16_t word) {
  for (std::size_t j = 0; j < count; ++j) {
    const auto expected = static_cast<std::byte>(j % 2 == 0 ? word & 0xff : word >> 8);
    if (bytes[j] != expected) return false;
  }
  return true;
}

bool decode_group(Lossy codec, std::uint16_t scale, const std::byte* codes, std::size_t count,
                  Group& out) {
  const bool brain = codec == Lossy::kBf16;
  if (brain ? get_u16(codes, 0) == kNanScale : scale == kNanScale) {
    out.fill(std::bit_cast<float>(kNanBits));
    return all_are(codes, code_bytes(codec, count), brain ? kNanScale : 0);
  }
  if (brain) return decode_half(scale, codec, codes, count, out);
  if (codec == Lossy::kFp16) {
    return is_power_scale(scale) && decode_half(scale, codec, codes, count, out);
  }
  if (!is_scale(scale)) return false;
  return codec == Lossy::kSign ? decode_sign(scale, codes, count, out)
                               : decode_whole(scale, codec, codes, count, out);
}

}  // namespace

void encode_groups_reference(Lossy codec, const Encoding& encoding) {
  const std::size_t group_bytes = code_bytes(codec, kGroupValues);
  std::fill_n(encoding.codes, code_bytes(codec, encoding.count), std::byte{});
  for (std::size_t at = 0; at < encoding.count; at += kGroupValues) {
    GroupWork work;
    work.index = at / kGroupValues;
    work.count = std::min(kGroupValues, encoding.count - at);
    work.unbiased = encoding.residual == nullptr;
    work.key = encoding.key;
    for (std::size_t j = 0; j < work.count; ++j) {
      work.values[j] = encoding.values[at + j];
      if (!work.unbiased) work.values[j] = work.values[j] + encoding.residual[at + j];
    }
    const auto scale = encode_group(work, codec, encoding.codes + work.index * group_bytes);
    if (codec != Lossy::kBf16) put_u16(encoding.scales, work.index, scale);
    for (std::size_t j = 0; j < work.count && !work.unbiased; ++j) {
      const float decoded = work.decoded[j];
      encoding.residual[at + j] = decoded == decoded ? work.values[j] - decoded : decoded;
    }
  }
}

bool decode_groups_reference(Lossy codec, const Decoding& decoding) {
  const std::size_t group_bytes = code_bytes(codec, kGroupValues);
  for (std::size_t at = 0; at < decoding.count; at += kGroupValues) {
    const std::size_t index = at / kGroupValues;
    const std::size_t count = std::min(kGroupValues, decoding.count - at);
    const std::uint16_t scale = codec == Lossy::kBf16 ? 0 : get_u16(decoding.scales, index);
    Group group{};
    if (!decode_group(codec, scale, decoding.codes + index * group_bytes, count, group)) {
      return false;
    }
    for (std::size_t j = 0; j < count; ++j) {
      float& out = decoding.out[at + j];
      const bool is_nan = group[j] != group[j];
      out = decoding.add && !is_nan ? out + group[j] : group[j];
    }
  }
  return true;
}

}  // namespace wide::codec
