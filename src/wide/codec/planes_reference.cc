// The format of planes.h by plain loops, one word at a time.

#include <algorithm>
#include <optional>
#include <vector>

#include "wide/base/bytes.h"
#include "wide/codec/code_head.h"
#include "wide/codec/exponent_stream.h"
#include "wide/codec/exponent_table.h"
#include "wide/codec/kept_runs.h"
#include "wide/codec/planes.h"

namespace wide::codec {

namespace {

using Starts = std::array<std::uint32_t, 256>;

// Where each symbol's share of 0…4095 begins.
Starts starts_of(const ExponentTable& table) {
  Starts starts{};
  std::uint32_t sum = 0;
  for (std::size_t symbol = 0; symbol < 256; ++symbol) {
    starts[symbol] = sum;
    sum += table.frequency[symbol];
  }
  return starts;
}

// Whether each whole group is kept: those that are +0.0 throughout, and beside another such, are
// not, but for the first one where no word would be.
std::vector<bool> kept_groups(const std::vector<std::uint32_t>& words) {
  std::vector<bool> is_empty, is_kept;
  for (std::size_t i = 0; i + kRunGroup <= words.size(); i += kRunGroup) {
    const auto group = std::span(words).subspan(i, kRunGroup);
    is_empty.push_back(std::ranges::count(group, 0u) == std::ptrdiff_t{kRunGroup});
  }
  for (std::size_t i = 0; i < is_empty.size(); ++i) {
    const bool after_empty = i > 0 && is_empty[i - 1];
    const bool before_empty = i + 1 < is_empty.size() && is_empty[i + 1];
    is_kept.push_back(!is_empty[i] || (!after_empty && !before_empty));
  }
  const bool all_empty = std::ranges::count(is_kept, true) == 0;
  if (all_empty && words.size() % kRunGroup == 0) is_kept.front() = true;
  return is_kept;
}

void write_runs(const std::vector<bool>& is_kept, ByteWriter& out) {
  out.put(kRunsFollow);
  std::size_t at = 0;
  for (bool kept = true; at < is_kept.size(); kept = !kept) {
    std::size_t end = at;
    while (end < is_kept.size() && is_kept[end] == kept) ++end;
    const std::size_t groups = end - at;
    out.put(static_cast<std::uint8_t>(groups < 128 ? groups : 128 + groups % 128));
    if (groups >= 128) out.put(static_cast<std::uint8_t>(groups / 128));
    at = end;
  }
}

// Whether each of so many words is kept; nothing where no encoder writes such runs.
std::optional<std::vector<bool>> read_runs(ByteReader& from, std::size_t word_count) {
  ByteReader ahead = from;
  if (ahead.get<std::uint8_t>() != kRunsFollow) return std::vector<bool>(word_count, true);
  from = ahead;
  std::vector<bool> is_kept;
  const std::size_t whole_words = word_count / kRunGroup * kRunGroup;
  for (bool kept = true; is_kept.size() < whole_words; kept = !kept) {
    std::size_t groups = from.get<std::uint8_t>();
    if (groups >= 128) {
      const std::size_t high = from.get<std::uint8_t>();
      if (high == 0) return std::nullopt;
      groups = groups - 128 + high * 128;
    }
    if (kept && groups == 0 && !is_kept.empty()) return std::nullopt;
    if (!kept && groups < kEmptyGroupsLeast) return std::nullopt;
    if (is_kept.size() + groups * kRunGroup > whole_words) return std::nullopt;
    is_kept.insert(is_kept.end(), groups * kRunGroup, kept);
  }
  is_kept.resize(word_count, true);
  const auto kept_count = static_cast<std::size_t>(std::ranges::count(is_kept, true));
  if (!from.ok() || kept_count == 0 || kept_count == word_count) return std::nullopt;
  return is_kept;
}

std::vector<std::uint32_t> words_of(std::span<const std::byte> raw) {
  std::vector<std::uint32_t> words(raw.size() / 4);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = load_word(raw.data() + i * 4);
  return words;
}

ExponentCounts counts_of(const std::vector<std::uint32_t>& words) {
  ExponentCounts counts{};
  for (const std::uint32_t word : words) ++counts[word == 0 ? kZeroSymbol : turned(word) >> 24];
  return counts;
}

// The words to code; to `out` which they are, where some are left out.
std::vector<std::uint32_t> keep_words(const std::vector<std::uint32_t>& words, ByteWriter& out) {
  const auto is_kept = kept_groups(words);
  std::vector<std::uint32_t> kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i / kRunGroup >= is_kept.size() || is_kept[i / kRunGroup]) kept.push_back(words[i]);
  }
  ByteWriter runs;
  write_runs(is_kept, runs);
  const auto bytes_with_runs = runs.size() + CodeHead(counts_of(kept)).code_bytes_least();
  if (kept.size() == words.size() ||
      bytes_with_runs > CodeHead(counts_of(words)).code_bytes_least()) {
    return words;
  }
  out.raw(runs.take());
  return kept;
}

std::vector<std::uint8_t> symbols_of(const std::vector<std::uint32_t>& words,
                                     const ExponentTable& table) {
  std::vector<std::uint8_t> symbols;
  for (const std::uint32_t straight : words) {
    const std::uint32_t word = turned(straight);
    symbols.push_back(word == 0 && table.zero ? *table.zero
                                              : static_cast<std::uint8_t>(word >> 24));
  }
  return symbols;
}

// The stream's words come out last first, for a decoder undoes the steps in the other order.
void encode_symbols(std::vector<std::uint8_t> symbols, const ExponentTable& table,
                    ByteWriter& out) {
  symbols.resize((symbols.size() + kGroup - 1) / kGroup * kGroup, table.commonest);
  const Starts starts = starts_of(table);
  States states;
  states.fill(kStateLeast);
  std::vector<std::uint32_t> stream;

  for (std::size_t group = symbols.size(); group > 0; group -= kGroup) {
    for (std::size_t lane = kStates; lane-- > 0;) {
      const std::uint8_t first = symbols[group - kGroup + lane];
      const std::uint8_t second = symbols[group - kStates + lane];
      const std::uint64_t both = std::uint64_t{table.frequency[first]} * table.frequency[second];
      std::uint64_t& state = states[lane];
      if (state >= both << 39) {  // 2^63 ÷ 4096²: it would grow past 2^63
        stream.push_back(static_cast<std::uint32_t>(state));
        state >>= 32;
      }
      for (const std::uint8_t symbol : {second, first}) {
        const std::uint64_t frequency = table.frequency[symbol];
        state = state / frequency * kFrequencySum + state % frequency + starts[symbol];
      }
    }
  }
  std::ranges::reverse(stream);
  for (const std::uint32_t word : stream) out.put(word);
  for (const std::uint64_t state : states) out.put(state);
}

bool decode_symbols(ByteReader& from, const ExponentTable& table, std::vector<std::uint8_t>& out) {
  const Starts starts = starts_of(table);
  std::vector<std::uint8_t> symbol_at;  // by place in 0…4095
  for (std::size_t symbol = 0; symbol < 256; ++symbol) {
    symbol_at.insert(symbol_at.end(), table.frequency[symbol], static_cast<std::uint8_t>(symbol));
  }
  if (from.left() < kStatesBytes) return false;
  ByteReader stream(from.raw(from.left() - kStatesBytes));
  States states{};
  for (std::uint64_t& state : states) state = from.get<std::uint64_t>();

  for (std::size_t i = 0; i < (out.size() + kGroup - 1) / kGroup * kGroup; ++i) {
    std::uint64_t& state = states[i % kStates];
    const std::uint64_t place = state % kFrequencySum;
    const std::uint8_t symbol = symbol_at[place];
    if (i < out.size()) out[i] = symbol;
    state = table.frequency[symbol] * (state / kFrequencySum) + place - starts[symbol];
    if (i % kGroup >= kStates && state < kStateLeast) {
      state = state << 32 | stream.get<std::uint32_t>();
    }
  }
  const auto is_done = [](std::uint64_t state) { return state == kStateLeast; };
  return stream.ok() && stream.left() == 0 && std::ranges::all_of(states, is_done);
}

std::uint32_t next_word(std::uint8_t symbol, const ExponentTable& table, ByteReader& fractions) {
  if (table.zero == symbol) return 0;
  std::uint32_t word = static_cast<std::uint32_t>(symbol) << 24;
  for (unsigned byte = 0; byte < 3; ++byte) {
    word |= std::uint32_t{fractions.get<std::uint8_t>()} << 8 * byte;
  }
  return word;
}

}  // namespace

std::size_t encode_planes_reference(std::span<const std::byte> raw, std::span<std::byte> out) {
  ByteWriter coded;
  if (raw.size() >= 4) {
    const auto words = keep_words(words_of(raw), coded);
    const CodeHead head(counts_of(words));
    const ExponentTable& table = head.table();
    coded.raw(head.bytes());

    for (const std::uint32_t straight : words) {
      const std::uint32_t word = turned(straight);
      if (word == 0 && table.zero) continue;
      for (unsigned byte = 0; byte < 3; ++byte) {
        coded.put(static_cast<std::uint8_t>(word >> 8 * byte));
      }
    }
    coded.raw(raw.last(raw.size() % 4));
    if (table.used_count > 1) encode_symbols(symbols_of(words, table), table, coded);
  } else {
    coded.raw(raw);
  }
  if (coded.size() > out.size()) return 0;
  const auto bytes = coded.take();
  std::ranges::copy(bytes, out.begin());
  return bytes.size();
}

bool decode_planes_reference(std::span<const std::byte> coded, std::span<std::byte> out) {
  ByteReader from(coded);
  const std::size_t tail_bytes = out.size() % 4;
  std::vector<bool> is_kept;
  std::vector<std::uint8_t> symbols;
  std::span<const std::byte> fractions;
  std::span<const std::byte> tail;
  std::optional<ExponentTable> table;
  if (out.size() >= 4) {
    auto runs = read_runs(from, out.size() / 4);
    if (!runs) return false;
    is_kept = std::move(*runs);
    table = ExponentTable::read(from);
    if (!table) return false;
    symbols.assign(std::ranges::count(is_kept, true), table->commonest);
    const std::uint32_t zero_count = table->zero ? from.get<std::uint32_t>() : 0;
    if (zero_count > symbols.size()) return false;
    fractions = from.raw(3 * (symbols.size() - zero_count));
    tail = from.raw(tail_bytes);
    if (!from.ok()) return false;
    if (table->used_count > 1 && !decode_symbols(from, *table, symbols)) return false;
  } else {
    tail = from.raw(tail_bytes);
  }

  ByteReader fraction(fractions);
  auto symbol = symbols.begin();
  for (std::size_t i = 0; i < is_kept.size(); ++i) {
    std::uint32_t word = 0;
    if (is_kept[i]) word = next_word(*symbol++, *table, fraction);
    store_word(out.data() + i * 4, turned_back(word));
  }
  std::ranges::copy(tail, out.last(tail.size()).begin());
  return from.ok() && from.left() == 0 && fraction.ok() && fraction.left() == 0;
}

}  // namespace wide::codec
