// Compiled once per instruction set (Highway's foreach_target), as engine/float_kernels.cc is.
// FIPS 180-4, with its names, on vectors: lane i of each belongs to value i.

#include "wide/base/sha256_lanes.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "wide/base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wide/base/sha256_lanes.cc"
#include <hwy/foreach_target.h>  // comes before highway.h
#include <hwy/highway.h>

#ifndef WIDE_BASE_SHA256_CONSTANTS  // this file is read once per instruction set
#define WIDE_BASE_SHA256_CONSTANTS
namespace wide {

inline constexpr std::size_t kBlockBytes = 64;
inline constexpr std::size_t kLanesMax = 16;

inline constexpr std::uint32_t kSha256Start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
inline constexpr std::uint32_t kSha256Round[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

}  // namespace wide
#endif

HWY_BEFORE_NAMESPACE();
namespace wide {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::CappedTag<std::uint32_t, kLanesMax>;
using Word = hn::Vec<Words>;
constexpr std::size_t kLanes = hn::MaxLanes(Words());

std::size_t lanes() { return kLanes; }

HWY_INLINE Word sigma_of_schedule_0(Word x) {
  return hn::Xor3(hn::RotateRight<7>(x), hn::RotateRight<18>(x), hn::ShiftRight<3>(x));
}
HWY_INLINE Word sigma_of_schedule_1(Word x) {
  return hn::Xor3(hn::RotateRight<17>(x), hn::RotateRight<19>(x), hn::ShiftRight<10>(x));
}
HWY_INLINE Word sigma_0(Word x) {
  return hn::Xor3(hn::RotateRight<2>(x), hn::RotateRight<13>(x), hn::RotateRight<22>(x));
}
HWY_INLINE Word sigma_1(Word x) {
  return hn::Xor3(hn::RotateRight<6>(x), hn::RotateRight<11>(x), hn::RotateRight<25>(x));
}
// Bit by bit: Highway's IfVecThenElse does that with AVX-512 alone, elsewhere it asks for whole
// lanes.
HWY_INLINE Word select(Word bits, Word yes, Word no) {
  return hn::Xor(no, hn::And(bits, hn::Xor(yes, no)));
}
HWY_INLINE Word choose(Word e, Word f, Word g) { return select(e, f, g); }
HWY_INLINE Word majority(Word a, Word b, Word c) { return select(hn::Xor(a, b), c, b); }

// Rounds kRound to 15 of sixteen. Instead of moving a to h along, each round names them anew.
template <std::size_t kRound>
HWY_INLINE void rounds(Word* state, Word* schedule, const std::uint32_t* constants, bool first) {
  if constexpr (kRound < 16) {
    const auto at = [](std::size_t letter) { return (letter + 16 - kRound) % 8; };
    Word& d = state[at(3)];
    Word& h = state[at(7)];
    Word& word = schedule[kRound];
    if (!first) {
      word = hn::Add(
          hn::Add(word, sigma_of_schedule_0(schedule[(kRound + 1) % 16])),
          hn::Add(schedule[(kRound + 9) % 16], sigma_of_schedule_1(schedule[(kRound + 14) % 16])));
    }
    const Word a = state[at(0)];
    const Word e = state[at(4)];
    // In this order few additions wait for e, which comes last.
    const Word early = hn::Add(hn::Add(h, hn::Set(Words(), constants[kRound])), word);
    const Word chosen = hn::Add(early, choose(e, state[at(5)], state[at(6)]));
    const Word s1 = sigma_1(e);
    d = hn::Add(hn::Add(d, chosen), s1);
    h = hn::Add(hn::Add(chosen, s1), hn::Add(sigma_0(a), majority(a, state[at(1)], state[at(2)])));
    rounds<kRound + 1>(state, schedule, constants, first);
  }
}

HWY_INLINE void compress(Word* chain, Word* schedule) {
  Word state[8];
  for (std::size_t i = 0; i < 8; ++i) state[i] = chain[i];
  rounds<0>(state, schedule, kSha256Round, true);
  for (std::size_t t = 16; t < 64; t += 16) rounds<0>(state, schedule, kSha256Round + t, false);
  for (std::size_t i = 0; i < 8; ++i) chain[i] = hn::Add(chain[i], state[i]);
}

#if HWY_TARGET == HWY_SCALAR
void load_block(const std::byte* const* values, std::size_t at, Word* schedule) {
  std::uint32_t words[16];
  std::memcpy(words, values[0] + at, sizeof words);
  for (std::size_t i = 0; i < 16; ++i) schedule[i] = hn::Set(Words(), __builtin_bswap32(words[i]));
}
#else
// Sixteen words of every value, first gathered by quarters of a block: each line of memory is
// touched once, though values a power of two apart share few places in the cache.
HWY_INLINE void load_block(const std::byte* const* values, std::size_t at, Word* schedule) {
  const hn::Full128<std::uint32_t> quarter;
  alignas(64) std::uint32_t gathered[4][kLanes * 4];
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const auto* from = reinterpret_cast<const std::uint32_t*>(values[lane] + at);
    for (std::size_t i = 0; i < 4; ++i) {
      hn::Store(hn::LoadU(quarter, from + 4 * i), quarter, gathered[i] + 4 * lane);
    }
  }
  const hn::Repartition<std::uint8_t, Words> bytes;
  alignas(16) constexpr std::uint8_t kBigEndian[16] = {3,  2,  1, 0, 7,  6,  5,  4,
                                                       11, 10, 9, 8, 15, 14, 13, 12};
  const auto order = hn::LoadDup128(bytes, kBigEndian);
  for (std::size_t i = 0; i < 4; ++i) {
    Word* const to = schedule + 4 * i;
    hn::LoadInterleaved4(Words(), gathered[i], to[0], to[1], to[2], to[3]);
    for (std::size_t j = 0; j < 4; ++j) {
      to[j] = hn::BitCast(Words(), hn::TableLookupBytes(hn::BitCast(bytes, to[j]), order));
    }
  }
}
#endif

void hash(const std::byte* const* values, std::size_t value_bytes, Digest* digests) {
  Word chain[8];
  Word schedule[16];
  for (std::size_t i = 0; i < 8; ++i) chain[i] = hn::Set(Words(), kSha256Start[i]);
  for (std::size_t at = 0; at < value_bytes; at += kBlockBytes) {
    load_block(values, at, schedule);
    compress(chain, schedule);
  }
  for (Word& word : schedule) word = hn::Zero(Words());
  const std::uint64_t bits = std::uint64_t{value_bytes} * 8;
  schedule[0] = hn::Set(Words(), 0x80000000);
  schedule[14] = hn::Set(Words(), static_cast<std::uint32_t>(bits >> 32));
  schedule[15] = hn::Set(Words(), static_cast<std::uint32_t>(bits));
  compress(chain, schedule);
  alignas(64) std::uint32_t words[8][kLanes];
  for (std::size_t i = 0; i < 8; ++i) hn::Store(chain[i], Words(), words[i]);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    for (std::size_t i = 0; i < 8; ++i) {
      const std::uint32_t big_endian = __builtin_bswap32(words[i][lane]);
      std::memcpy(digests[lane].bytes.data() + 4 * i, &big_endian, sizeof big_endian);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace wide
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cpuid.h>

namespace wide {

HWY_EXPORT(lanes);
HWY_EXPORT(hash);

namespace {

bool has_sha_instructions() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ebx >> 29 & 1) != 0;
}

}  // namespace

std::size_t sha256_lanes() { return HWY_DYNAMIC_DISPATCH(lanes)(); }

// With eight lanes or sixteen one turn takes as long as libcrypto does for three values. Where it
// has instructions for them, sixteen take as long as six, and eight lanes are slower.
bool sha256_lanes_pay(std::size_t count) {
  static const bool has_instructions = has_sha_instructions();
  const std::size_t lanes = sha256_lanes();
  if (has_instructions) return lanes >= 16 && count >= 7;
  return lanes >= 8 && count >= 4;
}

void sha256_in_lanes(std::span<const std::byte* const> values, std::size_t value_bytes,
                     Digest* digests) {
  WIDE_CHECK(values.size() == sha256_lanes() && value_bytes % kBlockBytes == 0);
  HWY_DYNAMIC_DISPATCH(hash)(values.data(), value_bytes, digests);
}

}  // namespace wide
#endif  // HWY_ONCE
