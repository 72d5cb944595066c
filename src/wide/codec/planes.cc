#include "wide/codec/planes.h"

#include <algorithm>
#include <cstring>

#include "wide/base/bytes.h"
#include "wide/codec/code_head.h"
#include "wide/codec/exponent_stream.h"
#include "wide/codec/exponent_table.h"
#include "wide/codec/kept_runs.h"
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

ExponentCounts counted(Bytes raw, const KeptRuns& runs) {
  ExponentCounter counter;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    counter.add(raw.data() + 4 * runs[i].begin, runs[i].count);
  }
  return counter.counts();
}

// Leaves runs of zeros out where that makes the code shorter.
CodeHead outline(Bytes raw, KeptRuns& runs) {
  runs.leave_out_zeros(raw);
  ExponentCounts counts = counted(raw, runs);
  CodeHead head(counts);
  if (runs.left_out_count() == 0) return head;
  counts[kZeroSymbol] += static_cast<std::uint32_t>(runs.left_out_count());
  CodeHead head_of_all(counts);
  if (head.code_bytes_least() + runs.coded_bytes() <= head_of_all.code_bytes_least()) return head;
  runs.keep_all();
  return head_of_all;
}

std::byte* split_kept(Bytes raw, const KeptRuns& runs, unsigned zero, std::byte* fractions,
                      const std::byte* limit) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    fractions =
        split_fractions(raw.data() + 4 * runs[i].begin, runs[i].count, zero, fractions, limit);
  }
  return fractions;
}

// Stream and states to the end of `out`; 0: no room.
std::size_t encode_stream(Bytes raw, const KeptRuns& runs, const ExponentTable& table,
                          BytesOut out) {
  if (out.size() < kStatesBytes) return 0;
  ExponentEncoder encoder(table, out);
  KeptBackwards kept(runs);
  Chunk symbols;
  for (std::size_t end = runs.word_count(); end > 0;) {
    const std::size_t some = (end - 1) % kChunk + 1;
    end -= some;
    for (std::size_t left = some; left > 0;) {
      const WordRun piece = kept.next(left);
      left -= piece.count;
      take_symbols(raw.data() + 4 * piece.begin, piece.count, zero_symbol(table),
                   symbols.data() + left);
    }
    const auto groups = std::span(symbols).first(whole_groups(some));
    std::ranges::fill(groups.subspan(some), table.commonest);
    if (!encoder.put(groups)) return 0;
  }
  return encoder.finish();
}

// Symbols in turn, put together with the fractions while both are near.
class Joiner final {
 public:
  Joiner(const ExponentTable& table, Bytes fractions, const std::byte* limit, const KeptRuns& runs,
         std::byte* words)
      : zero_(zero_symbol(table)),
        at_(fractions.data()),
        end_(at_ + fractions.size()),
        limit_(limit),
        kept_(runs),
        words_(words) {}

  // False where there are fewer fractions left than symbols that want one.
  bool join(std::span<const std::uint8_t> symbols) {
    if (end_ - at_ < 3 * std::ssize(symbols)) {
      const auto zero_count = std::ranges::count(symbols, zero_);
      if (end_ - at_ < 3 * (std::ssize(symbols) - zero_count)) return false;
    }
    while (!symbols.empty()) {
      const WordRun piece = kept_.next(symbols.size());
      at_ =
          join_fractions(symbols.data(), piece.count, zero_, at_, limit_, words_ + 4 * piece.begin);
      symbols = symbols.subspan(piece.count);
    }
    return true;
  }
  bool is_done() const { return at_ == end_; }

 private:
  unsigned zero_;
  const std::byte* at_;
  const std::byte* end_;
  const std::byte* limit_;  // of what may be read
  KeptForwards kept_;
  std::byte* words_;
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
  const Bytes tail = raw.last(raw.size() % 4);
  if (raw.size() < 4) {
    if (tail.size() > out.size()) return 0;
    std::ranges::copy(tail, out.begin());
    return tail.size();
  }
  KeptRuns runs(raw.size() / 4);
  const CodeHead head = outline(raw, runs);
  const std::size_t runs_bytes = runs.coded_bytes();
  if (runs_bytes + head.code_bytes_least() + tail.size() > out.size()) return 0;

  // Both planes straight to their places: fractions upwards, the stream downwards from the end.
  const ExponentTable& table = head.table();
  std::byte* at = std::ranges::copy(head.bytes(), runs.write(out.data())).out;
  if (head.fraction_bytes() > 0)
    at = split_kept(raw, runs, zero_symbol(table), at, out.data() + out.size());
  at = std::ranges::copy(tail, at).out;
  const auto plain_bytes = static_cast<std::size_t>(at - out.data());
  if (table.used_count == 1) return plain_bytes;
  const std::size_t stream_bytes = encode_stream(raw, runs, table, out.subspan(plain_bytes));
  if (stream_bytes == 0) return 0;
  std::memmove(at, out.data() + out.size() - stream_bytes, stream_bytes);
  return plain_bytes + stream_bytes;
}

bool decode_planes(Bytes coded, BytesOut out) {
  const BytesOut tail = out.last(out.size() % 4);
  if (out.size() < 4) {
    if (coded.size() != tail.size()) return false;
    std::ranges::copy(coded, tail.begin());
    return true;
  }
  ByteReader from(coded);
  KeptRuns runs(out.size() / 4);
  if (!runs.read(from)) return false;
  const std::size_t count = runs.word_count();
  const auto table = ExponentTable::read(from);
  if (!table) return false;
  const std::uint32_t zero_count = table->zero ? from.get<std::uint32_t>() : 0;
  if (zero_count > count) return false;
  const Bytes fractions = from.raw(3 * (count - zero_count));
  std::ranges::copy(from.raw(tail.size()), tail.begin());
  const Bytes stream = from.raw(from.left());
  if (!from.ok()) return false;
  if (table->used_count == 1 && table->zero) {  // nothing but +0.0
    std::memset(out.data(), 0, out.size() - tail.size());
    return fractions.empty() && stream.empty();
  }

  runs.fill_gaps(out.data());
  Joiner joiner(*table, fractions, coded.data() + coded.size(), runs, out.data());
  const bool joined = table->used_count > 1
                          ? decode_stream(*table, stream, count, joiner)
                          : stream.empty() && decode_without_stream(*table, count, joiner);
  return joined && joiner.is_done();
}

}  // namespace wide::codec
