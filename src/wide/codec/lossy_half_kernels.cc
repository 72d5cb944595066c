// fp16 and bf16: sixteen bits a value; and none, which copies. Compiled once per instruction set
// (Highway's foreach_target). Never MulAdd: a fused product is not rounded and would differ.

#include "wide/codec/lossy_groups.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wide/codec/lossy_half_kernels.cc"
#include <hwy/foreach_target.h>  // comes before highway.h
#include <hwy/highway.h>

#include "wide/codec/lossy_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wide::codec {
namespace HWY_NAMESPACE {
namespace {

using Halves = hn::Rebind<std::uint16_t, Ints>;

// Drops low bits: carries at random, or to nearest, ties to even.
template <int kDropped, bool kUnbiased>
HWY_INLINE WordVec dropped(WordVec bits, WordVec random) {
  const Words d;
  auto carry = hn::ShiftRight<16 - kDropped>(random);
  if constexpr (!kUnbiased) {
    const auto odd = hn::And(hn::ShiftRight<kDropped>(bits), hn::Set(d, 1));
    carry = hn::Add(odd, hn::Set(d, (1u << (kDropped - 1)) - 1));
  }
  return hn::ShiftRight<kDropped>(hn::Add(bits, carry));
}

// Magnitudes to codes of 15 bits, and back.
struct HalfRule {
  float inverse = 0;
  float scale = 0;

  template <bool kUnbiased>
  HWY_INLINE WordVec code(WordVec bits, WordVec random) const {
    const Floats d;
    const Words dw;
    const auto tiny_below = hn::Set(d, 0x1p-14f);
    const auto held = hn::Min(hn::BitCast(Ints(), bits),
                              hn::Set(Ints(), static_cast<std::int32_t>(kHalfLargestBits)));
    const auto scaled = hn::Mul(hn::BitCast(d, held), hn::Set(d, inverse));
    const auto tiny = hn::Lt(scaled, tiny_below);
    const auto shifted = hn::IfThenElse(tiny, hn::Add(scaled, tiny_below), scaled);
    const auto offset =
        hn::IfThenElse(hn::RebindMask(dw, tiny), hn::Set(dw, 113u << 10), hn::Set(dw, 112u << 10));
    return hn::Sub(dropped<13, kUnbiased>(hn::BitCast(dw, shifted), random), offset);
  }
  HWY_INLINE FloatVec value(WordVec code) const {
    const Floats d;
    const auto unscaled = hn::Mul(hn::BitCast(d, hn::ShiftLeft<13>(code)), hn::Set(d, 0x1p112f));
    return hn::Mul(unscaled, hn::Set(d, scale));
  }
};

struct BrainRule {
  template <bool kUnbiased>
  HWY_INLINE WordVec code(WordVec bits, WordVec random) const {
    const auto held = hn::Min(hn::BitCast(Ints(), bits),
                              hn::Set(Ints(), static_cast<std::int32_t>(kBrainLargestBits)));
    return dropped<16, kUnbiased>(hn::BitCast(Words(), held), random);
  }
  HWY_INLINE FloatVec value(WordVec code) const {
    return hn::BitCast(Floats(), hn::ShiftLeft<16>(code));
  }
};

HWY_INLINE FloatVec with_sign(FloatVec magnitude, WordVec sign) {
  return hn::BitCast(Floats(), hn::Or(hn::BitCast(Words(), magnitude), hn::ShiftLeft<16>(sign)));
}

template <bool kUnbiased, class Rule>
HWY_INLINE void code_vector(const Rule& rule, GroupWork& work, std::size_t j, WordVec random) {
  const Floats d;
  const Words dw;
  const auto value = coded_values<kUnbiased>(work, j);
  const auto code = rule.template code<kUnbiased>(magnitude(value), random);
  const auto minus = hn::And(hn::ShiftRight<16>(hn::BitCast(dw, value)), hn::Set(dw, 0x8000));
  const auto sign = hn::IfThenZeroElse(hn::Eq(code, hn::Zero(dw)), minus);  // no -0
  hn::StoreU(hn::DemoteTo(Halves(), hn::BitCast(Ints(), hn::Or(code, sign))), Halves(),
             reinterpret_cast<std::uint16_t*>(work.codes) + j);
  if constexpr (!kUnbiased) {
    hn::StoreU(hn::Sub(value, with_sign(rule.value(code), sign)), d, work.residual + j);
  }
}

template <bool kUnbiased, class Rule>
HWY_INLINE void code_group(const Rule& rule, GroupWork& work) {
  const Words d;
  for (std::size_t j = 0; j < kHalfGroup; j += hn::Lanes(d)) {
    const auto random = kUnbiased ? random_words(work, j) : hn::Zero(d);
    code_vector<kUnbiased>(rule, work, j, low_bits(random));
    code_vector<kUnbiased>(rule, work, j + kHalfGroup, high_bits(random));
  }
}

// False where a code is beyond the largest, or -0.
template <bool kAdd, class Rule>
HWY_INLINE bool decode_words(const Rule& rule, std::uint32_t code_max, const std::byte* codes,
                             float* out) {
  const Words d;
  const Ints di;
  const auto sign_bit = hn::Set(d, 0x8000);
  auto largest = hn::Zero(di);
  auto minus_zero = hn::Zero(d);
  for (std::size_t j = 0; j < kGroupValues; j += hn::Lanes(d)) {
    const auto* from = reinterpret_cast<const std::uint16_t*>(codes) + j;
    const auto word = hn::PromoteTo(d, hn::LoadU(Halves(), from));
    const auto code = hn::AndNot(sign_bit, word);
    largest = hn::Max(largest, hn::BitCast(di, code));
    minus_zero = hn::Or(minus_zero, hn::VecFromMask(d, hn::Eq(word, sign_bit)));
    put<kAdd>(with_sign(rule.value(code), hn::And(word, sign_bit)), out + j);
  }
  const auto limit = hn::Set(di, static_cast<std::int32_t>(code_max));
  return hn::AllTrue(d, hn::Eq(minus_zero, hn::Zero(d))) &&
         hn::AllFalse(di, hn::Gt(largest, limit));
}

struct Fp16 : ScaledCodec {
  static constexpr std::size_t kGroupBytes = 2 * kGroupValues;
  static constexpr std::size_t bytes(std::size_t count) { return 2 * count; }
  static bool is_scale(std::uint16_t scale) { return is_power_scale(scale); }

  template <bool kUnbiased>
  static HWY_INLINE std::uint16_t scale(const GroupWork& work) {
    return power_scale(work.largest_bits);
  }
  template <bool kUnbiased>
  static HWY_INLINE void encode(std::uint16_t scale, GroupWork& work) {
    code_group<kUnbiased>(HalfRule{power_inverse(scale), scale_value(scale)}, work);
  }
  template <bool kAdd>
  static HWY_INLINE bool decode(std::uint16_t scale, const std::byte* codes, float* out) {
    return decode_words<kAdd>(HalfRule{0, scale_value(scale)}, half_code_max(scale), codes, out);
  }
};

struct Bf16 : ScaledCodec {
  static constexpr std::size_t kGroupBytes = 2 * kGroupValues;
  static constexpr bool kHasScale = false;
  static constexpr std::size_t bytes(std::size_t count) { return 2 * count; }
  // A short group of NaNs is NaNs to its end.
  static void fill_codes_past(std::size_t count, std::byte* codes) {
    if (!is_nan(codes)) return;
    for (std::size_t j = count; j < kGroupValues; ++j) std::memcpy(codes + 2 * j, codes, 2);
  }
  static bool is_nan(const std::byte* code) { return std::memcmp(code, &kNanScale, 2) == 0; }

  template <bool kUnbiased>
  static HWY_INLINE void encode(std::uint16_t scale, GroupWork& work) {
    if (scale != kNanScale) return code_group<kUnbiased>(BrainRule(), work);
    for (std::size_t j = 0; j < kGroupValues; ++j) {
      std::memcpy(work.codes + 2 * j, &kNanScale, 2);
    }
    if constexpr (!kUnbiased) fill(work.residual, std::bit_cast<float>(kNanBits));
  }
  template <bool kAdd>
  static HWY_INLINE bool decode(std::uint16_t, const std::byte* codes, float* out) {
    if (!is_nan(codes)) return decode_words<kAdd>(BrainRule(), kLargestScale, codes, out);
    fill(out, std::bit_cast<float>(kNanBits));
    return std::memcmp(codes, codes + 2, kGroupBytes - 2) == 0;
  }
};

}  // namespace

void encode_half_groups(Lossy codec, const Encoding& encoding) {
  if (codec == Lossy::kFp16) return encode_either<Fp16>(encoding);
  encode_either<Bf16>(encoding);
}

bool decode_half_groups(Lossy codec, const Decoding& decoding) {
  return codec == Lossy::kFp16 ? decode_either<Fp16>(decoding) : decode_either<Bf16>(decoding);
}

// Bytes have no alignment: whole vectors, then the rest through a copy.
void add_clearing(const float* left, const float* right, float* out, std::size_t count) {
  const Floats d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto other = right == nullptr ? hn::Zero(d) : hn::LoadU(d, right + i);
    hn::StoreU(hn::Add(hn::Add(hn::LoadU(d, left + i), other), hn::Zero(d)), d, out + i);
  }
  for (; i < count; ++i) {
    float value, other = 0;
    std::memcpy(&value, reinterpret_cast<const char*>(left) + i * sizeof(float), sizeof(float));
    if (right != nullptr) {
      std::memcpy(&other, reinterpret_cast<const char*>(right) + i * sizeof(float), sizeof(float));
    }
    value = (value + other) + 0.0f;
    std::memcpy(reinterpret_cast<char*>(out) + i * sizeof(float), &value, sizeof(float));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace wide::codec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wide::codec {

HWY_EXPORT(encode_half_groups);
HWY_EXPORT(decode_half_groups);
HWY_EXPORT(add_clearing);

void encode_halves(Lossy codec, const Encoding& encoding) {
  HWY_DYNAMIC_DISPATCH(encode_half_groups)(codec, encoding);
}
bool decode_halves(Lossy codec, const Decoding& decoding) {
  return HWY_DYNAMIC_DISPATCH(decode_half_groups)(codec, decoding);
}
void add_floats(const std::byte* left, const std::byte* right, std::byte* out, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(add_clearing)
  (reinterpret_cast<const float*>(left), reinterpret_cast<const float*>(right),
   reinterpret_cast<float*>(out), count);
}

}  // namespace wide::codec
#endif  // HWY_ONCE
