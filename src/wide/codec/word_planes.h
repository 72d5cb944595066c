#pragma once
// Words apart into symbols and fractions, and together again (planes.h has the picture). One
// instruction set per machine is chosen at run time; all give the same bytes.
//
// Nothing need be aligned. `limit` is the end of what may be touched: vectors reach up to 16 bytes
// past the fractions where it allows, and what they leave there has no meaning.

#include <cstddef>
#include <cstdint>

namespace wide::codec {

inline constexpr unsigned kNoZeroSymbol = 256;

// The symbols of `count` words: the exponent, or `zero` where the word is +0.0. Returns how many
// are. Without a symbol for it +0.0 has exponent 0.
std::size_t take_symbols(const std::byte* words, std::size_t count, unsigned zero,
                         std::uint8_t* symbols);

// 3 bytes a word to `fractions`; none for +0.0 if it has a symbol. Returns their end, which must
// not lie behind `limit`.
std::byte* split_fractions(const std::byte* words, std::size_t count, unsigned zero,
                           std::byte* fractions, const std::byte* limit);

// Words from their symbols and fractions. Returns the fractions' end, as above.
const std::byte* join_fractions(const std::uint8_t* symbols, std::size_t count, unsigned zero,
                                const std::byte* fractions, const std::byte* limit,
                                std::byte* words);

}  // namespace wide::codec
