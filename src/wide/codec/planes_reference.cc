// The format of planes.h by plain loops, one word at a time.

#include <algorithm>
#include <vector>

#include "wide/base/bytes.h"
#include "wide/codec/exponent_stream.h"
#include "wide/codec/exponent_table.h"
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

std::vector<std::uint8_t> symbols_of(std::span<const std::byte> raw, const ExponentTable& table) {
  std::vector<std::uint8_t> symbols;
  for (std::size_t i = 0; i < raw.size() / 4; ++i) {
    const std::uint32_t word = turned(load_word(raw.data() + i * 4));
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

}  // namespace

std::size_t encode_planes_reference(std::span<const std::byte> raw, std::span<std::byte> out) {
  ByteWriter coded;
  if (raw.size() >= 4) {
    const ExponentCounts counts = count_exponents(raw);
    const ExponentTable table = ExponentTable::from(counts);
    std::array<std::byte, kTableBytesMax> table_bytes;
    coded.raw(std::span(table_bytes).first(table.write(table_bytes)));
    if (table.zero) coded.put(counts[kZeroSymbol]);

    for (std::size_t i = 0; i < raw.size() / 4; ++i) {
      const std::uint32_t word = turned(load_word(raw.data() + i * 4));
      if (word == 0 && table.zero) continue;
      for (unsigned byte = 0; byte < 3; ++byte) {
        coded.put(static_cast<std::uint8_t>(word >> 8 * byte));
      }
    }
    coded.raw(raw.last(raw.size() % 4));
    if (table.used_count > 1) encode_symbols(symbols_of(raw, table), table, coded);
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
  std::vector<std::uint8_t> symbols(out.size() / 4);
  std::span<const std::byte> fractions;
  std::span<const std::byte> tail;
  std::optional<ExponentTable> table;
  if (!symbols.empty()) {
    table = ExponentTable::read(from);
    if (!table) return false;
    const std::uint32_t zero_count = table->zero ? from.get<std::uint32_t>() : 0;
    if (zero_count > symbols.size()) return false;
    fractions = from.raw(3 * (symbols.size() - zero_count));
    tail = from.raw(tail_bytes);
    std::ranges::fill(symbols, table->commonest);
    if (!from.ok()) return false;
    if (table->used_count > 1 && !decode_symbols(from, *table, symbols)) return false;
  } else {
    tail = from.raw(tail_bytes);
  }

  ByteReader fraction(fractions);
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    std::uint32_t word = 0;
    if (table->zero != symbols[i]) {
      word = static_cast<std::uint32_t>(symbols[i]) << 24;
      for (unsigned byte = 0; byte < 3; ++byte) {
        word |= std::uint32_t{fraction.get<std::uint8_t>()} << 8 * byte;
      }
    }
    store_word(out.data() + i * 4, turned_back(word));
  }
  std::ranges::copy(tail, out.last(tail.size()).begin());
  return from.ok() && from.left() == 0 && fraction.ok() && fraction.left() == 0;
}

}  // namespace wide::codec
