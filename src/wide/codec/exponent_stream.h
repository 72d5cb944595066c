#pragma once
// The stream of exponents of planes.h, with eight states at once. Both ends take symbols in chunks;
// the encoder from the last to the first, for a decoder undoes its steps in the other order.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wide/codec/exponent_table.h"

namespace wide::codec {

inline constexpr std::size_t kStates = 8;
inline constexpr std::size_t kGroup = 2 * kStates;  // symbols between two looks at the stream
inline constexpr std::size_t kChunk = 64 * kGroup;  // symbols at a time, at most
inline constexpr std::size_t kChunkBytesMax = 2 * kChunk;  // a word of 32 bits for two symbols
inline constexpr std::size_t kStatesBytes = kStates * sizeof(std::uint64_t);
inline constexpr std::uint64_t kStateLeast = std::uint64_t{1} << 31;

using States = std::array<std::uint64_t, kStates>;

// What coding a symbol of frequency f does to a state x, without a division:
//
//   x ÷ f × 4096 + x mod f + start  =  x + start + (x ÷ f) × (4096 - f)
struct EncodeStep {
  std::uint64_t reciprocal = 0;
  std::uint16_t bias = 0;
  std::uint16_t rest = 0;  // 4096 - frequency
  std::uint16_t frequency = 0;
  std::uint16_t shift = 0;
};

// What decoding does to a state x, by its place in 0…4095, x mod 4096:
//
//   x ÷ 4096 × frequency + offset
//
// Arrays apart: three loads of what is wanted are quicker than one load and five shifts and masks.
struct DecodeSteps {
  struct Step {
    std::uint16_t frequency;
    std::uint16_t offset;  // of the place within its symbol's share
  };
  std::array<Step, kFrequencySum> steps;
  std::array<std::uint8_t, kFrequencySum> symbols;
};

class ExponentEncoder final {
 public:
  // Writes from the end of `out` downwards; at least kStatesBytes.
  ExponentEncoder(const ExponentTable& table, std::span<std::byte> out);

  // The symbols before those of the last call: a multiple of kGroup, kChunk at most. False: no
  // room.
  bool put(std::span<const std::uint8_t> symbols);

  // How many bytes there are at the end of `out`: stream and states.
  std::size_t finish();

 private:
  std::array<EncodeStep, 256> steps_{};
  States states_;
  std::byte* begin_;
  std::byte* at_;
  std::byte* end_;  // of the stream; the states follow
};

class ExponentDecoder final {
 public:
  // `coded`: stream and states, of at least kStatesBytes. Two or more symbols occur in `table`.
  ExponentDecoder(const ExponentTable& table, std::span<const std::byte> coded);

  // The next symbols: a multiple of kGroup. Anything where the stream is too short for them.
  void next(std::span<std::uint8_t> symbols);

  // After the last: whether the stream ended there, and the states where an encoder's begin.
  bool is_done() const;

 private:
  DecodeSteps steps_;
  States states_;
  const std::byte* at_;
  const std::byte* end_;  // of the stream; the states follow
};

}  // namespace wide::codec
