// int8, int4 and sign: a scale, then few bits a value. Compiled once per instruction set
// (Highway's foreach_target). Never MulAdd: a fused product is not rounded and would differ.

#include "wide/codec/lossy_groups.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wide/codec/lossy_integer_kernels.cc"
#include <hwy/foreach_target.h>  // comes before highway.h
#include <hwy/highway.h>

#include "wide/codec/lossy_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wide::codec {
namespace HWY_NAMESPACE {
namespace {

// --- Whole numbers of steps, a byte each ---

struct Steps {
  float levels = 0;
  float step = 0;
  float inverse = 0;
};
HWY_INLINE Steps steps_of(std::uint16_t scale, float levels) {
  return {levels, scale_value(scale) / levels, levels / scale_value(scale)};
}

// The code is the low byte of the magic sum, as it is.
template <bool kUnbiased>
HWY_INLINE void code_vector(const Steps& steps, GroupWork& work, std::size_t j, FloatVec noise,
                            std::uint8_t* codes) {
  const Floats d;
  const hn::Rebind<std::uint8_t, Words> d8;
  const auto magic = hn::Set(d, kWholeMagic);
  const auto value = coded_values<kUnbiased>(work, j);
  auto rounded = hn::Mul(value, hn::Set(d, steps.inverse));
  if constexpr (kUnbiased) {
    rounded = hn::Min(hn::Max(rounded, hn::Set(d, -steps.levels)), hn::Set(d, steps.levels));
    rounded = hn::Add(rounded, noise);
  }
  rounded = hn::Add(rounded, magic);
  hn::StoreU(hn::TruncateTo(d8, hn::BitCast(Words(), rounded)), d8, codes + j);
  if constexpr (!kUnbiased) {
    const auto decoded = hn::Mul(hn::Sub(rounded, magic), hn::Set(d, steps.step));
    hn::StoreU(hn::Sub(value, decoded), d, work.residual + j);
  }
}

template <bool kUnbiased>
HWY_INLINE void code_group(const Steps& steps, GroupWork& work, std::uint8_t* codes) {
  const Floats d;
  for (std::size_t j = 0; j < kHalfGroup; j += hn::Lanes(d)) {
    auto low = hn::Zero(d), high = hn::Zero(d);
    if constexpr (kUnbiased) {
      const auto words = random_words(work, j);
      low = noise(low_bits(words));
      high = noise(high_bits(words));
    }
    code_vector<kUnbiased>(steps, work, j, low, codes);
    code_vector<kUnbiased>(steps, work, j + kHalfGroup, high, codes);
  }
}

// False where a code is the lowest of its range, which nobody writes.
template <bool kAdd>
HWY_INLINE bool decode_codes(float step, int lowest, const std::int8_t* codes, float* out) {
  const Floats d;
  const Ints di;
  const hn::Rebind<std::int8_t, Ints> d8;
  auto smallest = hn::Zero(di);
  for (std::size_t j = 0; j < kGroupValues; j += hn::Lanes(d)) {
    const auto code = hn::PromoteTo(di, hn::LoadU(d8, codes + j));
    smallest = hn::Min(smallest, code);
    put<kAdd>(hn::Mul(hn::ConvertTo(d, code), hn::Set(d, step)), out + j);
  }
  return hn::AllFalse(di, hn::Eq(smallest, hn::Set(di, lowest)));
}

struct Int8 : ScaledCodec {
  static constexpr std::size_t kGroupBytes = kGroupValues;
  static constexpr std::size_t bytes(std::size_t count) { return count; }

  template <bool kUnbiased>
  static HWY_INLINE void encode(std::uint16_t scale, GroupWork& work) {
    code_group<kUnbiased>(steps_of(scale, kInt8Levels), work,
                          reinterpret_cast<std::uint8_t*>(work.codes));
  }
  template <bool kAdd>
  static HWY_INLINE bool decode(std::uint16_t scale, const std::byte* codes, float* out) {
    return decode_codes<kAdd>(scale_value(scale) / kInt8Levels, -128,
                              reinterpret_cast<const std::int8_t*>(codes), out);
  }
};

// Two codes a byte, the first one low. Pairs of byte-wide codes are taken as 16-bit words.
struct Int4 : ScaledCodec {
  static constexpr std::size_t kGroupBytes = kGroupValues / 2;
  static constexpr std::size_t bytes(std::size_t count) { return (count + 1) / 2; }

  using Pairs = hn::CappedTag<std::uint16_t, 32>;
  using Packed = hn::Rebind<std::uint8_t, Pairs>;

  template <bool kUnbiased>
  static HWY_INLINE void encode(std::uint16_t scale, GroupWork& work) {
    alignas(64) std::uint16_t pairs[kGroupBytes];
    code_group<kUnbiased>(steps_of(scale, kInt4Levels), work,
                          reinterpret_cast<std::uint8_t*>(pairs));
    const Pairs d;
    for (std::size_t j = 0; j < kGroupBytes; j += hn::Lanes(d)) {
      const auto pair = hn::Load(d, pairs + j);
      const auto packed = hn::Or(hn::And(pair, hn::Set(d, 0x0f)),
                                 hn::And(hn::ShiftRight<4>(pair), hn::Set(d, 0xf0)));
      hn::StoreU(hn::DemoteTo(Packed(), hn::BitCast(hn::RebindToSigned<Pairs>(), packed)), Packed(),
                 reinterpret_cast<std::uint8_t*>(work.codes) + j);
    }
  }
  template <bool kAdd>
  static HWY_INLINE bool decode(std::uint16_t scale, const std::byte* packed, float* out) {
    alignas(64) std::uint16_t pairs[kGroupBytes];
    const Pairs d;
    for (std::size_t j = 0; j < kGroupBytes; j += hn::Lanes(d)) {
      const auto byte =
          hn::PromoteTo(d, hn::LoadU(Packed(), reinterpret_cast<const std::uint8_t*>(packed) + j));
      const auto pair = hn::Or(hn::And(byte, hn::Set(d, 0x0f)),
                               hn::ShiftLeft<4>(hn::And(byte, hn::Set(d, 0xf0))));
      const auto signs = hn::And(pair, hn::Set(d, 0x0808));  // 8 × 30 = 0xf0: the sign's extension
      hn::Store(hn::Or(pair, hn::Mul(signs, hn::Set(d, 30))), d, pairs + j);
    }
    const auto* codes = reinterpret_cast<const std::int8_t*>(pairs);
    return decode_codes<kAdd>(scale_value(scale) / kInt4Levels, -8, codes, out);
  }
};

// --- One bit a value: set for minus ---

HWY_INLINE std::uint32_t bits_of(hn::Mask<Floats> mask) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(Floats(), mask, bytes);
  return bytes[0] | std::uint32_t{bytes[1]} << 8;
}

struct Sign : ScaledCodec {
  static constexpr std::size_t kGroupBytes = kGroupValues / 8;
  static constexpr std::size_t bytes(std::size_t count) { return (count + 7) / 8; }
  static void clear_codes_past(std::size_t count, std::byte* codes) {
    if (count % 8 != 0) codes[count / 8] &= static_cast<std::byte>((1u << count % 8) - 1);
  }

  // Sixteen sums side by side, whatever the width of a vector, then halves upon halves.
  static HWY_INLINE std::uint32_t mean_bits(const GroupWork& work) {
    const Floats d;
    alignas(64) float sums[16] = {};
    for (std::size_t lane = 0; lane < 16; lane += hn::Lanes(d)) {
      auto sum = hn::Zero(d);
      for (std::size_t j = lane; j < kGroupValues; j += 16) {
        const auto part = hn::Abs(coded_values<false>(work, j));
        sum = hn::Add(sum, hn::Mul(part, hn::Set(d, 1.0f / kGroupValues)));
      }
      hn::Store(sum, d, sums + lane);
    }
    for (std::size_t half = 8; half > 0; half /= 2) {
      for (std::size_t j = 0; j < half; ++j) sums[j] = sums[j] + sums[j + half];
    }
    const float mean =
        sums[0] * (static_cast<float>(kGroupValues) / static_cast<float>(work.count));
    return std::min(std::bit_cast<std::uint32_t>(mean), kInfinityBits - 1);
  }

  template <bool kUnbiased>
  static HWY_INLINE std::uint16_t scale(const GroupWork& work) {
    const bool finite = work.largest_bits < kInfinityBits;
    return scale_above(kUnbiased || !finite ? work.largest_bits : mean_bits(work));
  }

  // Bits of one vector's signs.
  template <bool kUnbiased>
  static HWY_INLINE std::uint32_t signs(float scale, GroupWork& work, std::size_t j,
                                        FloatVec noise) {
    const Floats d;
    const auto value = coded_values<kUnbiased>(work, j);
    const auto part = hn::Mul(value, hn::Set(d, 1.0f / scale));
    const auto minus = hn::Lt(part, hn::Add(noise, noise));
    if constexpr (!kUnbiased) {
      const auto decoded = hn::IfThenElse(minus, hn::Set(d, -scale), hn::Set(d, scale));
      hn::StoreU(hn::Sub(value, decoded), d, work.residual + j);
    }
    return bits_of(minus);
  }

  template <bool kUnbiased>
  static HWY_INLINE void encode(std::uint16_t scale, GroupWork& work) {
    const Floats d;
    const float size = scale_value(scale);
    std::uint64_t low_word = 0, high_word = 0;
    for (std::size_t j = 0; j < kHalfGroup; j += hn::Lanes(d)) {
      auto low = hn::Zero(d), high = hn::Zero(d);
      if constexpr (kUnbiased) {
        const auto words = random_words(work, j);
        low = noise(low_bits(words));
        high = noise(high_bits(words));
      }
      low_word |= std::uint64_t{signs<kUnbiased>(size, work, j, low)} << j;
      high_word |= std::uint64_t{signs<kUnbiased>(size, work, j + kHalfGroup, high)} << j;
    }
    std::memcpy(work.codes, &low_word, 8);
    std::memcpy(work.codes + 8, &high_word, 8);
  }

  template <bool kAdd>
  static HWY_INLINE bool decode(std::uint16_t scale, const std::byte* codes, float* out) {
    const Floats d;
    const Words dw;
    const auto top = hn::Set(dw, 0x80000000u), size = hn::Set(dw, std::uint32_t{scale} << 16);
    const auto to_top =
        hn::Sub(hn::Set(dw, 31), hn::Load(dw, kLaneNumbers));  // moves bit `lane` to the sign
    for (std::size_t j = 0; j < kGroupValues; j += hn::Lanes(d)) {
      std::uint32_t word;
      std::memcpy(&word, codes + j / 32 * 4, sizeof(word));
      const auto bits = hn::Shl(hn::Set(dw, word >> j % 32), to_top);
      put<kAdd>(hn::BitCast(d, hn::Or(hn::And(bits, top), size)), out + j);
    }
    return true;
  }
};

}  // namespace

void encode_integer_groups(Lossy codec, const Encoding& encoding) {
  if (codec == Lossy::kInt8) return encode_either<Int8>(encoding);
  if (codec == Lossy::kInt4) return encode_either<Int4>(encoding);
  encode_either<Sign>(encoding);
}

bool decode_integer_groups(Lossy codec, const Decoding& decoding) {
  if (codec == Lossy::kInt8) return decode_either<Int8>(decoding);
  if (codec == Lossy::kInt4) return decode_either<Int4>(decoding);
  return decode_either<Sign>(decoding);
}

}  // namespace HWY_NAMESPACE
}  // namespace wide::codec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wide::codec {

HWY_EXPORT(encode_integer_groups);
HWY_EXPORT(decode_integer_groups);

void encode_integers(Lossy codec, const Encoding& encoding) {
  HWY_DYNAMIC_DISPATCH(encode_integer_groups)(codec, encoding);
}
bool decode_integers(Lossy codec, const Decoding& decoding) {
  return HWY_DYNAMIC_DISPATCH(decode_integer_groups)(codec, decoding);
}

}  // namespace wide::codec
#endif  // HWY_ONCE
