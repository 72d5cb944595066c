#pragma once
// How often each exponent occurs in a block of float32 words, out of 4096, as both ends of planes
// must know it:
//
//   flags u8 | first u8 | last u8 | zero u8 | bitmap | frequencies
//
//   flags        1: +0.0 has a symbol, `zero`; 0: it has none, and that byte is not there
//   first, last  the lowest and the highest symbol that occurs
//   bitmap       which of first…last occur, lowest bit first; the bits of both are set
//   frequencies  12 bits each, less one, for those that occur; together they are 4096
//
// Bitmap and frequencies end on whole bytes, filled up with zeros.
//
// A symbol is an exponent, 0…255, but +0.0 is its own symbol: the number of some exponent that does
// not occur. -0.0 and denormals have exponent 0, and +0.0 is counted among them in the rare block
// where every exponent occurs.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "wide/base/bytes.h"

namespace wide::codec {

inline constexpr unsigned kFrequencyBits = 12;
inline constexpr std::uint32_t kFrequencySum = 1u << kFrequencyBits;

inline constexpr std::size_t kTableBytesMax = 4 + 256 / 8 + 256 * kFrequencyBits / 8;

// By exponent; words of +0.0 are counted apart, in the last place.
inline constexpr std::size_t kZeroSymbol = 256;
using ExponentCounts = std::array<std::uint32_t, 257>;

class ExponentCounter final {
 public:
  void add(const std::byte* words, std::size_t count);
  ExponentCounts counts() const;

 private:
  // In turns, for adding twice to the same place waits for the first addition.
  static constexpr std::size_t kTurns = 8;
  std::array<std::array<std::uint32_t, 256>, kTurns> turns_{};
  std::size_t zero_count_ = 0;
};

// The words of `raw`, less a tail of up to 3 bytes.
ExponentCounts count_exponents(std::span<const std::byte> raw);

struct ExponentTable {
  std::array<std::uint16_t, 256> frequency{};  // by symbol
  std::optional<std::uint8_t> zero;            // the symbol of +0.0
  unsigned used_count = 0;                     // symbols that occur
  std::uint8_t commonest = 0;

  // At least one count is not zero.
  static ExponentTable from(const ExponentCounts& counts);

  // How many bytes were written.
  std::size_t write(std::span<std::byte, kTableBytesMax> to) const;
  // Nothing where the bytes are not a table as write() makes them.
  static std::optional<ExponentTable> read(ByteReader& from);
};

// exponent | fraction | sign
inline std::uint32_t turned(std::uint32_t word) { return std::rotl(word, 1); }
inline std::uint32_t turned_back(std::uint32_t word) { return std::rotr(word, 1); }

inline std::uint32_t load_word(const std::byte* from) {
  std::uint32_t word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}
inline void store_word(std::byte* to, std::uint32_t word) { std::memcpy(to, &word, sizeof(word)); }

}  // namespace wide::codec
