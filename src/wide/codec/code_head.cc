#include "wide/codec/code_head.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "wide/codec/exponent_stream.h"

namespace wide::codec {

CodeHead::CodeHead(const ExponentCounts& counts) : table_(ExponentTable::from(counts)) {
  const std::uint32_t zero_count = table_.zero ? counts[kZeroSymbol] : 0;
  byte_count_ = table_.write(std::span(bytes_).first<kTableBytesMax>());
  if (table_.zero) {
    store_word(bytes_.data() + byte_count_, zero_count);
    byte_count_ += sizeof(zero_count);
  }
  const auto word_count = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  fraction_bytes_ = 3 * (word_count - zero_count);
  code_bytes_least_ = byte_count_ + fraction_bytes_ + stream_bytes_least(counts);
}

std::size_t CodeHead::stream_bytes_least(const ExponentCounts& counts) const {
  if (table_.used_count == 1) return 0;
  double bits = 0;
  for (std::size_t symbol = 0; symbol < 256; ++symbol) {
    std::uint32_t count = counts[symbol];
    if (symbol == table_.zero.value_or(0)) count += counts[kZeroSymbol];
    if (count > 0) bits += count * std::log2(double{kFrequencySum} / table_.frequency[symbol]);
  }
  // The states take in 32 bits each.
  const double stream_bytes = std::max(0.99 * bits / 8 - kStatesBytes / 2.0, 0.0);
  return kStatesBytes + static_cast<std::size_t>(stream_bytes);
}

}  // namespace wide::codec
