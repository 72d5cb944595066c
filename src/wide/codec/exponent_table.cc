#include "wide/codec/exponent_table.h"

#include <algorithm>
#include <numeric>

#include "wide/base/check.h"
#include "wide/codec/word_planes.h"

namespace wide::codec {

namespace {

// Turns bits into bytes, lowest bit first.
class BitWriter final {
 public:
  explicit BitWriter(std::byte* to) : to_(to) {}

  void put(std::uint32_t value, unsigned bits) {
    held_ |= static_cast<std::uint64_t>(value) << held_bits_;
    for (held_bits_ += bits; held_bits_ >= 8; held_bits_ -= 8) next_byte();
  }
  std::byte* end() {
    if (held_bits_ > 0) next_byte();
    held_bits_ = 0;
    return to_;
  }

 private:
  void next_byte() {
    *to_++ = static_cast<std::byte>(held_);
    held_ >>= 8;
  }

  std::byte* to_;
  std::uint64_t held_ = 0;
  unsigned held_bits_ = 0;
};

class BitReader final {
 public:
  explicit BitReader(ByteReader& from) : from_(from) {}

  std::uint32_t get(unsigned bits) {
    for (; held_bits_ < bits; held_bits_ += 8) {
      held_ |= static_cast<std::uint64_t>(from_.get<std::uint8_t>()) << held_bits_;
    }
    const auto value = static_cast<std::uint32_t>(held_ & ((1u << bits) - 1));
    held_ >>= bits;
    held_bits_ -= bits;
    return value;
  }
  // What fills up the last byte must be zeros.
  void end() {
    if (held_ != 0) from_.refuse();
    held_bits_ = 0;
  }

 private:
  ByteReader& from_;
  std::uint64_t held_ = 0;
  unsigned held_bits_ = 0;
};

// A number that no exponent has, near those that occur so that the bitmap stays short.
std::optional<std::uint8_t> free_symbol(const ExponentCounts& counts) {
  unsigned first = 0;
  while (first < 256 && counts[first] == 0) ++first;
  if (first == 256) return 0;
  for (unsigned symbol = first; symbol < 256; ++symbol) {
    if (counts[symbol] == 0) return static_cast<std::uint8_t>(symbol);
  }
  if (first == 0) return std::nullopt;
  return static_cast<std::uint8_t>(first - 1);
}

std::uint8_t commonest_of(const std::array<std::uint16_t, 256>& frequency) {
  return static_cast<std::uint8_t>(std::ranges::max_element(frequency) - frequency.begin());
}

}  // namespace

void ExponentCounter::add(const std::byte* words, std::size_t count) {
  constexpr std::size_t kChunk = 1024;
  std::array<std::uint8_t, kChunk> symbols;
  for (std::size_t i = 0; i < count; i += kChunk) {
    const std::size_t some = std::min(kChunk, count - i);
    zero_count_ += take_symbols(words + 4 * i, some, kNoZeroSymbol, symbols.data());
    std::size_t at = 0;
    for (; at + kTurns <= some; at += kTurns) {
      for (std::size_t turn = 0; turn < kTurns; ++turn) ++turns_[turn][symbols[at + turn]];
    }
    for (; at < some; ++at) ++turns_[0][symbols[at]];
  }
}

ExponentCounts ExponentCounter::counts() const {
  ExponentCounts sums{};
  for (std::size_t symbol = 0; symbol < 256; ++symbol) {
    for (const auto& turn : turns_) sums[symbol] += turn[symbol];
  }
  sums[0] -= static_cast<std::uint32_t>(zero_count_);  // +0.0 has exponent 0
  sums[kZeroSymbol] = static_cast<std::uint32_t>(zero_count_);
  return sums;
}

ExponentCounts count_exponents(std::span<const std::byte> raw) {
  ExponentCounter counter;
  counter.add(raw.data(), raw.size() / 4);
  return counter.counts();
}

ExponentTable ExponentTable::from(const ExponentCounts& counts) {
  ExponentTable table;
  std::array<std::uint32_t, 256> symbols{};
  std::ranges::copy_n(counts.begin(), 256, symbols.begin());
  if (const std::uint32_t zeros = counts[kZeroSymbol]; zeros > 0) {
    table.zero = free_symbol(counts);
    symbols[table.zero.value_or(0)] += zeros;
  }

  const auto total = std::accumulate(symbols.begin(), symbols.end(), std::uint64_t{0});
  WIDE_CHECK(total > 0, "a table of nothing");
  std::uint32_t sum = 0;
  for (std::size_t symbol = 0; symbol < 256; ++symbol) {
    if (symbols[symbol] == 0) continue;
    const std::uint64_t share =
        (symbols[symbol] * std::uint64_t{kFrequencySum} + total / 2) / total;
    table.frequency[symbol] = static_cast<std::uint16_t>(std::max<std::uint64_t>(share, 1));
    sum += table.frequency[symbol];
    ++table.used_count;
  }
  // Rounding left a little too much or too little; where there is most, it is felt least.
  for (; sum < kFrequencySum; ++sum) ++table.frequency[commonest_of(table.frequency)];
  for (; sum > kFrequencySum; --sum) --table.frequency[commonest_of(table.frequency)];
  table.commonest = commonest_of(table.frequency);
  return table;
}

std::size_t ExponentTable::write(std::span<std::byte, kTableBytesMax> to) const {
  unsigned first = 0;
  unsigned last = 255;
  while (frequency[first] == 0) ++first;
  while (frequency[last] == 0) --last;

  std::byte* at = to.data();
  *at++ = static_cast<std::byte>(zero.has_value());
  *at++ = static_cast<std::byte>(first);
  *at++ = static_cast<std::byte>(last);
  if (zero) *at++ = static_cast<std::byte>(*zero);
  BitWriter bitmap(at);
  for (unsigned symbol = first; symbol <= last; ++symbol) bitmap.put(frequency[symbol] != 0, 1);
  BitWriter frequencies(bitmap.end());
  for (unsigned symbol = first; symbol <= last; ++symbol) {
    if (frequency[symbol] != 0) frequencies.put(frequency[symbol] - 1u, kFrequencyBits);
  }
  return static_cast<std::size_t>(frequencies.end() - to.data());
}

std::optional<ExponentTable> ExponentTable::read(ByteReader& from) {
  ExponentTable table;
  const auto flags = from.get<std::uint8_t>();
  const unsigned first = from.get<std::uint8_t>();
  const unsigned last = from.get<std::uint8_t>();
  if (flags > 1 || first > last) return std::nullopt;
  if (flags == 1) table.zero = from.get<std::uint8_t>();

  BitReader bitmap(from);
  for (unsigned symbol = first; symbol <= last; ++symbol) {
    table.frequency[symbol] = static_cast<std::uint16_t>(bitmap.get(1));
  }
  bitmap.end();
  if (table.frequency[first] == 0 || table.frequency[last] == 0) return std::nullopt;
  if (table.zero && table.frequency[*table.zero] == 0) return std::nullopt;

  BitReader frequencies(from);
  std::uint32_t sum = 0;
  for (unsigned symbol = first; symbol <= last; ++symbol) {
    if (table.frequency[symbol] == 0) continue;
    table.frequency[symbol] = static_cast<std::uint16_t>(frequencies.get(kFrequencyBits) + 1);
    sum += table.frequency[symbol];
    ++table.used_count;
  }
  frequencies.end();
  if (!from.ok() || sum != kFrequencySum) return std::nullopt;
  table.commonest = commonest_of(table.frequency);
  return table;
}

}  // namespace wide::codec
