#pragma once
// Floats in fewer bytes, not quite the same floats. A lossy codec belongs to the plan of a job:
// what counts is decode(encode(values)), for whoever encodes it.
//
//   codec   a group of 128 values (512 bytes)                               ratio
//   fp16    a power of two, then half floats of value ÷ that                 2.0
//   bf16    the upper half of each float                                     2
//   int8    a scale, then a byte each                                        3.9
//   int4    a scale, then four bits each                                     7.8
//   sign    a scale, then one bit each                                      28
//   topk    no groups: one value in a hundred, with its place (Elias–Fano)  78
//
// Two ways to encode:
//   encode_unbiased()       rounds at random, so that the mean over all seeds is the value itself.
//                           A pure function of (values, Rounding): gradients of blocks
//   encode_with_feedback()  rounds to nearest, and keeps what was lost in `residual`, to be added
//                           the next time: updates, whose history everyone shares
//
// How far a decoded value may be from what was coded. max is the group's largest magnitude; the
// scale s is max rounded up to a bfloat16, so at most max × 129/128; at least 2^-100:
//
//   codec   with feedback          unbiased         a step
//   fp16    half a step            a step           2^-10 of its binade, at least 2^-38 of max's
//   bf16    half a step            a step           2^-7 of its binade
//   int8    half a step            a step           s ÷ 127
//   int4    half a step            a step           s ÷ 7
//   sign    |value| + the mean     |value| + s
//   topk    |value|                |value| × count
//
// "Unbiased" is exact for bf16; elsewhere the mean over all seeds is within 2^-14 of a step (sign:
// of s; topk: within 2^-22 of the value): there are sixteen random bits, and products are rounded
// to float32. Beyond 3.38e38 there is no room above: such values count as the largest that the
// codec can hold, 0.4 % lower.
//
// The size of what is coded is a function of codec and count alone: limits need no trust. A group
// with a value that is not finite decodes to NaNs, all of it (topk: all values), so divergence is
// never hidden; none passes each as it is. No decoded value is -0.0.
//
//   scale u16 × groups | zeros up to 4 bytes | codes of group 0, 1, … | zeros up to 4 bytes
//
// scale: a bfloat16; 0 for a group of zeros, 0x7fc0 for one of NaNs, whose codes are then all 0.
// bf16 has none: a group of NaNs is 0x7fc0 throughout. Codes: int8 and int4 in two's complement
// without the lowest number, the first of two in the low bits; sign: bit i % 8 of byte i ÷ 8, set
// for minus; fp16, bf16: little-endian. The last group may be short. topk: topk.h.
//
// Pure, any thread. Every fast version gives the bits of the plain one in lossy_reference.cc, on
// every instruction set.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "wide/base/error.h"

namespace wide::codec {

// The numbers travel and are kept in ledgers.
enum class Lossy : std::uint8_t {
  kNone = 0,
  kFp16 = 1,
  kBf16 = 2,
  kInt8 = 3,
  kInt4 = 4,
  kTopk = 5,
  kSign = 6,
  kPowersgd = 7,  // low_rank.h; updates alone
};
inline constexpr std::size_t kLossyCount = 8;

std::string_view lossy_name(Lossy codec);
std::optional<Lossy> lossy_named(std::string_view name);

inline constexpr std::size_t kGroupValues = 128;

// Whose random numbers: those of a block of a step of a job.
struct Rounding {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  std::uint32_t block = 0;
};

// How many of `count` values topk keeps: one in a hundred, at least one; none of none.
std::size_t topk_kept(std::size_t count);

// kNone: the floats themselves. Not for kPowersgd, whose size depends on the layout.
std::size_t coded_bytes(Lossy codec, std::size_t count);

// `coded` has coded_bytes(codec, values.size()).
void encode_unbiased(Lossy codec, std::span<const float> values, const Rounding& rounding,
                     std::span<std::byte> coded);

// Codes t = values + residual, rounded once; residual = t - decoded, rounded once, which for fp16,
// bf16, int8, int4 and topk loses nothing: decoded + residual is t again. NaN where NaN is decoded.
// Below 2^-100 and up to half a step, values wait in the residual. none: the residual becomes 0.
void encode_with_feedback(Lossy codec, std::span<const float> values, std::span<float> residual,
                          std::span<std::byte> coded);

// kBadCoding where `coded` has another size, or is not what any encoder writes: a negative scale, a
// code out of range, places out of order, padding that is not zero. `out` then holds anything.
Result<void> decode(Lossy codec, std::span<const std::byte> coded, std::span<float> out);

// into[i] = into[i] + decoded[i], rounded once: two leaves meet without a copy between them. topk
// touches only what it kept (a -0.0 elsewhere stays).
Result<void> decode_add(Lossy codec, std::span<const std::byte> coded, std::span<float> into);

}  // namespace wide::codec
