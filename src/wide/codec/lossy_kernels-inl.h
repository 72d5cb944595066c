// What the fast lossy codecs share; included once per instruction set, so no #pragma once.
//
// A codec is a struct with
//   kGroupBytes                       of the codes of a whole group
//   scale<kUnbiased>(work)            from largest_bits, or from the values
//   encode<kUnbiased>(scale, work)    one group whose scale is neither 0 nor NaN
//   decode<kAdd>(scale, codes, out)   false: not what an encoder writes
// and what else is in ScaledCodec. It always sees whole groups: a short one is filled up with zeros
// here.

#include <cstring>

#include "wide/codec/lossy_groups.h"

#if defined(WIDE_CODEC_LOSSY_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WIDE_CODEC_LOSSY_KERNELS_INL_H_
#undef WIDE_CODEC_LOSSY_KERNELS_INL_H_
#else
#define WIDE_CODEC_LOSSY_KERNELS_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace wide::codec {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;  // at most 16 lanes: half a group is a multiple of them
using Words = hn::RebindToUnsigned<Floats>;
using Ints = hn::RebindToSigned<Floats>;
using FloatVec = hn::Vec<Floats>;
using WordVec = hn::Vec<Words>;

// One group on its way.
struct GroupWork {
  const float* values = nullptr;
  float* residual = nullptr;
  std::byte* codes = nullptr;
  std::size_t count = 0;
  std::uint32_t largest_bits = 0;
  std::uint32_t first_index = 0;  // of the random numbers
  RoundingKey key;
};

// What is coded: values, or values + residual, which largest_bits() has left in residual.
template <bool kUnbiased>
HWY_INLINE FloatVec coded_values(const GroupWork& work, std::size_t j) {
  return hn::LoadU(Floats(), (kUnbiased ? work.values : work.residual) + j);
}

// How most codecs are; each may have its own.
struct ScaledCodec {
  static constexpr bool kHasScale = true;
  static bool is_scale(std::uint16_t scale) { return codec::is_scale(scale); }
  static void clear_codes_past(std::size_t /*count*/, std::byte* /*codes*/) {}
  static void fill_codes_past(std::size_t /*count*/, std::byte* /*codes*/) {}

  template <bool kUnbiased>
  static HWY_INLINE std::uint16_t scale(const GroupWork& work) {
    return scale_above(work.largest_bits);
  }
};

HWY_INLINE WordVec magnitude(FloatVec values) {
  return hn::And(hn::BitCast(Words(), values), hn::Set(Words(), kMagnitudeMask));
}

// Bits order magnitudes as floats do, with infinities and NaNs on top. The first pass over a group:
// with feedback, residual becomes values + residual.
template <bool kUnbiased>
HWY_INLINE std::uint32_t largest_bits(const GroupWork& work) {
  const Floats d;
  auto largest = hn::Zero(Ints());
  for (std::size_t j = 0; j < kGroupValues; j += hn::Lanes(d)) {
    auto values = hn::LoadU(d, work.values + j);
    if constexpr (!kUnbiased) {
      values = hn::Add(values, hn::LoadU(d, work.residual + j));
      hn::StoreU(values, d, work.residual + j);
    }
    largest = hn::Max(largest, hn::BitCast(Ints(), magnitude(values)));
  }
  return static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(Ints(), largest)));
}

// Random bits for `j` of the first half group (the low 16) and for j + 64 (the high 16).
HWY_INLINE WordVec random_words(const GroupWork& work, std::size_t j) {
  const Words d;
  const auto first = work.first_index + static_cast<std::uint32_t>(j);
  auto hash = hn::Add(hn::Load(d, kLaneNumbers), hn::Set(d, first));
  hash = hn::Xor(hash, hn::Set(d, work.key.first));
  hash = hn::Mul(hn::Xor(hash, hn::ShiftRight<16>(hash)), hn::Set(d, kMix1));
  hash = hn::Add(hn::Xor(hash, hn::ShiftRight<13>(hash)), hn::Set(d, work.key.second));
  hash = hn::Mul(hash, hn::Set(d, kMix2));
  return hn::Xor(hash, hn::ShiftRight<16>(hash));
}
HWY_INLINE WordVec low_bits(WordVec words) { return hn::And(words, hn::Set(Words(), 0xffff)); }
HWY_INLINE WordVec high_bits(WordVec words) { return hn::ShiftRight<16>(words); }

// (bits + 0.5) × 2^-16 - 0.5, exactly.
HWY_INLINE FloatVec noise(WordVec bits) {
  const Floats d;
  const auto scaled = hn::Mul(hn::ConvertTo(d, hn::BitCast(Ints(), bits)), hn::Set(d, 0x1p-16f));
  return hn::Sub(scaled, hn::Set(d, 0.5f - 0x1p-17f));
}

HWY_INLINE void fill(float* out, float value) {
  const Floats d;
  for (std::size_t j = 0; j < kGroupValues; j += hn::Lanes(d)) {
    hn::StoreU(hn::Set(d, value), d, out + j);
  }
}

template <bool kAdd>
HWY_INLINE void put(FloatVec values, float* out) {
  const Floats d;
  if constexpr (kAdd) values = hn::Add(hn::LoadU(d, out), values);
  hn::StoreU(values, d, out);
}

HWY_INLINE bool all_zero(const std::byte* bytes, std::size_t count) {
  std::byte any{};
  for (std::size_t j = 0; j < count; ++j) any |= bytes[j];
  return any == std::byte{};
}

// Groups of zeros, and those that hold NaN or infinity: all codes are 0.
template <class Codec, bool kUnbiased>
HWY_INLINE void encode_without_codes(std::uint16_t scale, GroupWork& work) {
  std::memset(work.codes, 0, Codec::kGroupBytes);
  if (!kUnbiased && scale == kNanScale) fill(work.residual, std::bit_cast<float>(kNanBits));
}

template <class Codec, bool kUnbiased>
HWY_INLINE std::uint16_t scale_of(GroupWork& work) {
  work.largest_bits = largest_bits<kUnbiased>(work);
  return Codec::template scale<kUnbiased>(work);
}

template <class Codec, bool kUnbiased>
HWY_INLINE void encode_group(std::uint16_t scale, GroupWork& work, std::byte* scale_to) {
  if (scale == 0 || (scale == kNanScale && Codec::kHasScale)) {
    encode_without_codes<Codec, kUnbiased>(scale, work);
  } else {
    Codec::template encode<kUnbiased>(scale, work);
  }
  if constexpr (Codec::kHasScale) std::memcpy(scale_to, &scale, sizeof(scale));
}

template <class Codec, bool kUnbiased>
HWY_INLINE GroupWork whole_group(const Encoding& encoding, std::size_t index) {
  GroupWork work;
  work.values = encoding.values + index * kGroupValues;
  if constexpr (!kUnbiased) work.residual = encoding.residual + index * kGroupValues;
  work.codes = encoding.codes + index * Codec::kGroupBytes;
  work.count = kGroupValues;
  work.first_index = static_cast<std::uint32_t>(index * kHalfGroup);
  work.key = encoding.key;
  return work;
}

template <class Codec, bool kUnbiased>
void encode_short_group(const Encoding& encoding, std::size_t index) {
  GroupWork work = whole_group<Codec, kUnbiased>(encoding, index);
  float values[kGroupValues] = {}, residual[kGroupValues] = {};
  std::byte codes[Codec::kGroupBytes];
  work.count = encoding.count % kGroupValues;
  const std::size_t bytes = work.count * sizeof(float);
  std::memcpy(values, work.values, bytes);
  if constexpr (!kUnbiased) std::memcpy(residual, work.residual, bytes);
  float* residual_to = work.residual;
  std::byte* codes_to = work.codes;
  work.values = values;
  work.residual = residual;
  work.codes = codes;

  encode_group<Codec, kUnbiased>(scale_of<Codec, kUnbiased>(work), work,
                                 encoding.scales + 2 * index);
  Codec::clear_codes_past(work.count, codes);
  std::memcpy(codes_to, codes, Codec::bytes(work.count));
  if constexpr (!kUnbiased) std::memcpy(residual_to, residual, bytes);
}

// A few groups at a time: all their scales first, since one group's maximum and division take long
// to arrive, then all their codes, while the values are still in the first cache.
template <class Codec, bool kUnbiased>
void encode_all(const Encoding& encoding) {
  constexpr std::size_t kRun = 4;
  const std::size_t whole = encoding.count / kGroupValues;
  for (std::size_t first = 0; first < whole; first += kRun) {
    const std::size_t count = std::min(kRun, whole - first);
    std::uint16_t scales[kRun];
    for (std::size_t g = 0; g < count; ++g) {
      GroupWork work = whole_group<Codec, kUnbiased>(encoding, first + g);
      scales[g] = scale_of<Codec, kUnbiased>(work);
    }
    for (std::size_t g = 0; g < count; ++g) {
      GroupWork work = whole_group<Codec, kUnbiased>(encoding, first + g);
      encode_group<Codec, kUnbiased>(scales[g], work, encoding.scales + 2 * (first + g));
    }
  }
  if (encoding.count % kGroupValues != 0) encode_short_group<Codec, kUnbiased>(encoding, whole);
}

template <class Codec, bool kAdd>
HWY_INLINE bool decode_one(const std::byte* scale_from, const std::byte* codes, float* out) {
  std::uint16_t scale = 0;
  if constexpr (Codec::kHasScale) {
    std::memcpy(&scale, scale_from, sizeof(scale));
    if (!Codec::is_scale(scale)) return false;
    if (scale == kNanScale) {
      fill(out, std::bit_cast<float>(kNanBits));
      return all_zero(codes, Codec::kGroupBytes);
    }
    if (scale == 0 && !all_zero(codes, Codec::kGroupBytes)) return false;
  }
  return Codec::template decode<kAdd>(scale, codes, out);
}

template <class Codec, bool kAdd>
bool decode_all(const Decoding& decoding) {
  std::size_t at = 0, index = 0;
  for (; at + kGroupValues <= decoding.count; at += kGroupValues, ++index) {
    const std::byte* codes = decoding.codes + index * Codec::kGroupBytes;
    if (!decode_one<Codec, kAdd>(decoding.scales + 2 * index, codes, decoding.out + at)) {
      return false;
    }
  }
  if (at == decoding.count) return true;

  const std::size_t count = decoding.count - at;
  float out[kGroupValues] = {};
  std::byte codes[Codec::kGroupBytes] = {};
  std::memcpy(out, decoding.out + at, count * sizeof(float));
  std::memcpy(codes, decoding.codes + index * Codec::kGroupBytes, Codec::bytes(count));
  Codec::fill_codes_past(count, codes);
  const bool good = decode_one<Codec, kAdd>(decoding.scales + 2 * index, codes, out);
  std::memcpy(decoding.out + at, out, count * sizeof(float));
  return good;
}

template <class Codec>
void encode_either(const Encoding& encoding) {
  if (encoding.residual == nullptr) return encode_all<Codec, true>(encoding);
  encode_all<Codec, false>(encoding);
}
template <class Codec>
bool decode_either(const Decoding& decoding) {
  return decoding.add ? decode_all<Codec, true>(decoding) : decode_all<Codec, false>(decoding);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace wide::codec
HWY_AFTER_NAMESPACE();

#endif  // per target
