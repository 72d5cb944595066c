// Compiled once per instruction set (Highway's foreach_target). Fractions go four words at a time,
// for a shuffle of 16 bytes is what every set has: which of the four have a fraction is a number
// from 0 to 15, and for each there is a shuffle that closes or opens the gaps.

#include "wide/codec/word_planes.h"

#include <array>
#include <bit>

#include "wide/codec/exponent_table.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wide/codec/word_planes.cc"
#include <hwy/foreach_target.h>  // comes before highway.h
#include <hwy/highway.h>

#ifndef WIDE_WORD_PLANES_SHUFFLES
#define WIDE_WORD_PLANES_SHUFFLES
namespace wide::codec {

// How many words were done, and where among the fractions that led. Taking symbols leads nowhere,
// but meets zeros.
template <class Byte>
struct Reached {
  std::size_t done = 0;
  Byte* fractions = nullptr;
  std::size_t zero_count = 0;
};

struct Shuffles {
  alignas(16) std::uint8_t close[16][16] = {};  // words to fractions
  alignas(16) std::uint8_t open[16][16] = {};   // fractions to words
};

constexpr Shuffles shuffles() {
  constexpr std::uint8_t kNothing = 0x80;
  Shuffles made;
  for (unsigned there = 0; there < 16; ++there) {
    for (unsigned byte = 0; byte < 16; ++byte) {
      made.close[there][byte] = kNothing;
      made.open[there][byte] = kNothing;
    }
    unsigned packed = 0;
    for (unsigned byte = 0; byte < 16; ++byte) {
      if (byte % 4 == 3 || (there >> byte / 4 & 1) == 0) continue;
      made.open[there][byte] = static_cast<std::uint8_t>(packed);
      made.close[there][packed++] = static_cast<std::uint8_t>(byte);
    }
  }
  return made;
}

inline constexpr Shuffles kShuffles = shuffles();

}  // namespace wide::codec
#endif

HWY_BEFORE_NAMESPACE();
namespace wide::codec {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

namespace hn = hwy::HWY_NAMESPACE;

Reached<std::byte> take_vectors(const std::byte* words, std::size_t count, unsigned zero,
                                std::uint8_t* symbols) {
  const hn::ScalableTag<std::uint32_t> d;
  const hn::Repartition<std::uint8_t, decltype(d)> d8;
  const hn::Rebind<std::uint8_t, decltype(d)> d_symbol;
  const hn::RebindToSigned<decltype(d)> d_signed;
  const auto zero_symbol = hn::Set(d, zero % kNoZeroSymbol);
  const auto* from = reinterpret_cast<const std::uint8_t*>(words);
  std::size_t zero_count = 0;
  std::size_t i = 0;
  for (const std::size_t lanes = hn::Lanes(d); i + lanes <= count; i += lanes) {
    const auto word = hn::BitCast(d, hn::LoadU(d8, from + 4 * i));
    const auto is_zero = hn::Eq(word, hn::Zero(d));
    const auto exponent = hn::ShiftRight<24>(hn::Add(word, word));
    const auto symbol = hn::IfThenElse(is_zero, zero_symbol, exponent);
    hn::StoreU(hn::DemoteTo(d_symbol, hn::BitCast(d_signed, symbol)), d_symbol, symbols + i);
    zero_count += hn::CountTrue(d, is_zero);
  }
  return {i, nullptr, zero_count};
}

template <class Tag, class Mask>
unsigned four_bits(Tag d, Mask mask) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, mask, bytes);
  return bytes[0];
}

// Without a symbol for +0.0 all four have a fraction, and the shuffle is always the same.
template <bool kHasZero>
Reached<std::byte> split_four(const std::byte* words, std::size_t count, std::byte* fractions,
                              const std::byte* limit) {
  const hn::Full128<std::uint32_t> d;
  const hn::Full128<std::uint8_t> d8;
  const auto* from = reinterpret_cast<const std::uint8_t*>(words);
  std::size_t i = 0;
  for (; i + 4 <= count && limit - fractions >= 16; i += 4) {
    const auto word = hn::BitCast(d, hn::LoadU(d8, from + 4 * i));
    const auto turn = hn::Or(hn::Add(word, word), hn::ShiftRight<31>(word));
    const unsigned there = kHasZero ? four_bits(d, hn::Ne(word, hn::Zero(d))) : 15;
    const auto close = hn::Load(d8, kShuffles.close[there]);
    hn::StoreU(hn::TableLookupBytesOr0(hn::BitCast(d8, turn), close), d8,
               reinterpret_cast<std::uint8_t*>(fractions));
    fractions += 3 * std::popcount(there);
  }
  return {i, fractions, 0};
}

Reached<std::byte> split_vectors(const std::byte* words, std::size_t count, unsigned zero,
                                 std::byte* fractions, const std::byte* limit) {
  return zero == kNoZeroSymbol ? split_four<false>(words, count, fractions, limit)
                               : split_four<true>(words, count, fractions, limit);
}

template <bool kHasZero>
Reached<const std::byte> join_four(const std::uint8_t* symbols, std::size_t count, unsigned zero,
                                   const std::byte* fractions, const std::byte* limit,
                                   std::byte* words) {
  const hn::Full128<std::uint32_t> d;
  const hn::Full128<std::uint8_t> d8;
  const hn::Rebind<std::uint8_t, decltype(d)> d_symbol;
  const auto zero_symbol = hn::Set(d, zero);
  auto* to = reinterpret_cast<std::uint8_t*>(words);
  std::size_t i = 0;
  for (; i + 4 <= count && limit - fractions >= 16; i += 4) {
    const auto symbol = hn::PromoteTo(d, hn::LoadU(d_symbol, symbols + i));
    const auto is_there = hn::Ne(symbol, zero_symbol);
    const unsigned there = kHasZero ? four_bits(d, is_there) : 15;
    const auto open = hn::Load(d8, kShuffles.open[there]);
    const auto packed = hn::LoadU(d8, reinterpret_cast<const std::uint8_t*>(fractions));
    const auto fraction = hn::BitCast(d, hn::TableLookupBytesOr0(packed, open));
    auto exponent = hn::ShiftLeft<24>(symbol);
    if constexpr (kHasZero) exponent = hn::IfThenElseZero(is_there, exponent);
    const auto word = hn::Or(fraction, exponent);
    const auto turn = hn::Or(hn::ShiftRight<1>(word), hn::ShiftLeft<31>(word));
    hn::StoreU(hn::BitCast(d8, turn), d8, to + 4 * i);
    fractions += 3 * std::popcount(there);
  }
  return {i, fractions, 0};
}

Reached<const std::byte> join_vectors(const std::uint8_t* symbols, std::size_t count, unsigned zero,
                                      const std::byte* fractions, const std::byte* limit,
                                      std::byte* words) {
  return zero == kNoZeroSymbol ? join_four<false>(symbols, count, zero, fractions, limit, words)
                               : join_four<true>(symbols, count, zero, fractions, limit, words);
}

#else  // no vectors of 16 bytes: nothing is done, and the plain loops below do all

Reached<std::byte> take_vectors(const std::byte*, std::size_t, unsigned, std::uint8_t*) {
  return {};
}
Reached<std::byte> split_vectors(const std::byte*, std::size_t, unsigned, std::byte* fractions,
                                 const std::byte*) {
  return {0, fractions, 0};
}
Reached<const std::byte> join_vectors(const std::uint8_t*, std::size_t, unsigned,
                                      const std::byte* fractions, const std::byte*, std::byte*) {
  return {0, fractions, 0};
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace wide::codec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wide::codec {

HWY_EXPORT(take_vectors);
HWY_EXPORT(split_vectors);
HWY_EXPORT(join_vectors);

std::size_t take_symbols(const std::byte* words, std::size_t count, unsigned zero,
                         std::uint8_t* symbols) {
  auto reached = HWY_DYNAMIC_DISPATCH(take_vectors)(words, count, zero, symbols);
  for (std::size_t i = reached.done; i < count; ++i) {
    const std::uint32_t word = load_word(words + 4 * i);
    symbols[i] = static_cast<std::uint8_t>(word == 0 ? zero : word >> 23);
    reached.zero_count += word == 0;
  }
  return reached.zero_count;
}

std::byte* split_fractions(const std::byte* words, std::size_t count, unsigned zero,
                           std::byte* fractions, const std::byte* limit) {
  auto reached = HWY_DYNAMIC_DISPATCH(split_vectors)(words, count, zero, fractions, limit);
  for (std::size_t i = reached.done; i < count; ++i) {
    const std::uint32_t word = turned(load_word(words + 4 * i));
    if (word == 0 && zero != kNoZeroSymbol) continue;
    std::memcpy(reached.fractions, &word, 3);
    reached.fractions += 3;
  }
  return reached.fractions;
}

const std::byte* join_fractions(const std::uint8_t* symbols, std::size_t count, unsigned zero,
                                const std::byte* fractions, const std::byte* limit,
                                std::byte* words) {
  auto reached = HWY_DYNAMIC_DISPATCH(join_vectors)(symbols, count, zero, fractions, limit, words);
  for (std::size_t i = reached.done; i < count; ++i) {
    std::uint32_t word = 0;
    if (symbols[i] != zero) {
      word = static_cast<std::uint32_t>(symbols[i]) << 24;
      std::memcpy(&word, reached.fractions, 3);
      reached.fractions += 3;
    }
    store_word(words + 4 * i, turned_back(word));
  }
  return reached.fractions;
}

}  // namespace wide::codec
#endif  // HWY_ONCE
