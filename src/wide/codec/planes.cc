#include "wide/codec/planes.h"

#include <algorithm>
#include <cmath>

#include "wide/base/bytes.h"
#include "wide/codec/exponent_stream.h"
#include "wide/codec/exponent_table.h"
#include "wide/codec/word_planes.h"

namespace wide::codec {

namespace {

using Bytes = std::span<const std::byte>;
using BytesOut = std::span<std::byte>;
using Chunk = std::array<std::uint8_t, kChunk>;

unsigned zero_symbol(const ExponentTable& table) {
  return table.zero ? *table.zero : kNoZeroSymbol;
}

std::size_t whole_groups(std::size_t count) { return (count + kGroup - 1) / kGroup * kGroup; }

// Somewhat less than stream and states will be: where not even that fits, the work can be spared.
std::size_t stream_bytes_least(const ExponentCounts& counts, const ExponentTable& table) {
  if (table.used_count == 1) return 0;
  double bits = 0;
  for (std::size_t symbol = 0; symbol < 256; ++symbol) {
    const double frequency = std::max<double>(table.frequency[symbol], 1);
    const std::uint32_t count = table.zero == symbol ? counts[kZeroSymbol] : counts[symbol];
    bits += count * std::log2(kFrequencySum / frequency);
  }
  // The states take in 32 bits each.
  const double stream_bytes = std::max(0.99 * bits / 8 - kStatesBytes / 2.0, 0.0);
  return kStatesBytes + static_cast<std::size_t>(stream_bytes);
}

// Stream and states to the end of `out`; 0: no room.
std::size_t encode_stream(Bytes raw, const ExponentTable& table, BytesOut out) {
  if (out.size() < kStatesBytes) return 0;
  ExponentEncoder encoder(table, out);
  Chunk symbols;
  const std::size_t count = raw.size() / 4;
  for (std::size_t end = count; end > 0;) {
    const std::size_t some = (end - 1) % kChunk + 1;
    end -= some;
    take_symbols(raw.data() + 4 * end, some, zero_symbol(table), symbols.data());
    const auto groups = std::span(symbols).first(whole_groups(some));
    std::ranges::fill(groups.subspan(some), table.commonest);
    if (!encoder.put(groups)) return 0;
  }
  return encoder.finish();
}

// What stands before the fractions; how many bytes that is.
std::size_t write_head(const ExponentTable& table, std::uint32_t zero_count,
                       std::span<std::byte, kTableBytesMax + 4> to) {
  const std::size_t table_bytes = table.write(to.first<kTableBytesMax>());
  if (!table.zero) return table_bytes;
  store_word(to.data() + table_bytes, zero_count);
  return table_bytes + 4;
}

// Symbols in turn, put together with the fractions while both are near.
class Joiner final {
 public:
  Joiner(const ExponentTable& table, Bytes fractions, const std::byte* limit, BytesOut words)
      : zero_(zero_symbol(table)),
        at_(fractions.data()),
        end_(at_ + fractions.size()),
        limit_(limit),
        words_(words) {}

  // False where there are fewer fractions left than symbols that want one.
  bool join(std::span<const std::uint8_t> symbols) {
    if (end_ - at_ < 3 * std::ssize(symbols)) {
      const auto zero_count = std::ranges::count(symbols, zero_);
      if (end_ - at_ < 3 * (std::ssize(symbols) - zero_count)) return false;
    }
    at_ = join_fractions(symbols.data(), symbols.size(), zero_, at_, limit_, words_.data());
    words_ = words_.subspan(4 * symbols.size());
    return true;
  }
  bool is_done() const { return at_ == end_; }

 private:
  unsigned zero_;
  const std::byte* at_;
  const std::byte* end_;
  const std::byte* limit_;  // of what may be read
  BytesOut words_;
};

bool decode_stream(const ExponentTable& table, Bytes stream, std::size_t count, Joiner& joiner) {
  if (stream.size() < kStatesBytes) return false;
  ExponentDecoder decoder(table, stream);
  Chunk symbols{};
  for (std::size_t some; count > 0; count -= some) {
    some = std::min(count, kChunk);
    decoder.next(std::span(symbols).first(whole_groups(some)));
    if (!joiner.join(std::span(symbols).first(some))) return false;
  }
  return decoder.is_done();
}

bool decode_without_stream(const ExponentTable& table, std::size_t count, Joiner& joiner) {
  Chunk symbols;
  symbols.fill(table.commonest);
  for (std::size_t some; count > 0; count -= some) {
    some = std::min(count, kChunk);
    if (!joiner.join(std::span(symbols).first(some))) return false;
  }
  return true;
}

}  // namespace

std::size_t encode_planes(Bytes raw, BytesOut out) {
  const std::size_t count = raw.size() / 4;
  const Bytes tail = raw.last(raw.size() % 4);
  if (count == 0) {
    if (tail.size() > out.size()) return 0;
    std::ranges::copy(tail, out.begin());
    return tail.size();
  }
  const ExponentCounts counts = count_exponents(raw);
  const ExponentTable table = ExponentTable::from(counts);
  const std::uint32_t zero_count = table.zero ? counts[kZeroSymbol] : 0;
  std::array<std::byte, kTableBytesMax + 4> head;
  const std::size_t head_bytes = write_head(table, zero_count, head);
  const std::size_t plain_bytes = head_bytes + 3 * (count - zero_count) + tail.size();
  if (plain_bytes + stream_bytes_least(counts, table) > out.size()) return 0;

  // Both planes straight to their places: fractions upwards, the stream downwards from the end.
  std::byte* at = std::copy_n(head.data(), head_bytes, out.data());
  at = split_fractions(raw.data(), count, zero_symbol(table), at, out.data() + out.size());
  std::ranges::copy(tail, at);
  if (table.used_count == 1) return plain_bytes;
  const std::size_t stream_bytes = encode_stream(raw, table, out.subspan(plain_bytes));
  if (stream_bytes == 0) return 0;
  std::memmove(out.data() + plain_bytes, out.data() + out.size() - stream_bytes, stream_bytes);
  return plain_bytes + stream_bytes;
}

bool decode_planes(Bytes coded, BytesOut out) {
  const std::size_t count = out.size() / 4;
  const BytesOut tail = out.last(out.size() % 4);
  if (count == 0) {
    if (coded.size() != tail.size()) return false;
    std::ranges::copy(coded, tail.begin());
    return true;
  }
  ByteReader from(coded);
  const auto table = ExponentTable::read(from);
  if (!table) return false;
  const std::uint32_t zero_count = table->zero ? from.get<std::uint32_t>() : 0;
  if (zero_count > count) return false;
  const Bytes fractions = from.raw(3 * (count - zero_count));
  std::ranges::copy(from.raw(tail.size()), tail.begin());
  const Bytes stream = from.raw(from.left());
  if (!from.ok()) return false;

  Joiner joiner(*table, fractions, coded.data() + coded.size(), out);
  const bool joined = table->used_count > 1
                          ? decode_stream(*table, stream, count, joiner)
                          : stream.empty() && decode_without_stream(*table, count, joiner);
  return joined && joiner.is_done();
}

}  // namespace wide::codec
