// The two loops are compiled once per instruction set (Highway's foreach_target). They are scalar,
// for eight gathers cost as much as eight loads; newer sets have better shifts and multiplications.

#include "wide/codec/exponent_stream.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wide/codec/exponent_stream.cc"
#include <hwy/foreach_target.h>  // comes before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace wide::codec {
namespace HWY_NAMESPACE {

__extension__ using Product = unsigned __int128;

HWY_INLINE std::uint64_t stepped(const EncodeStep& step, std::uint64_t state) {
  const auto high = static_cast<std::uint64_t>(Product{state} * step.reciprocal >> 64);
  return state + step.bias + (high >> step.shift) * step.rest;
}

HWY_INLINE std::uint64_t stepped(const DecodeSteps& by_place, std::uint64_t state) {
  const DecodeSteps::Step& step = by_place.steps[state % kFrequencySum];
  return (state >> kFrequencyBits) * step.frequency + step.offset;
}

// Writes downwards from `at`; returns where it got to.
std::byte* encode_groups(const std::array<EncodeStep, 256>& steps,
                         std::span<const std::uint8_t> symbols, States& states_kept,
                         std::byte* at) {
  States states = states_kept;
  for (std::size_t end = symbols.size(); end > 0; end -= kGroup) {
    const std::uint8_t* const group = symbols.data() + end - kGroup;
#pragma GCC unroll 8
    for (std::size_t lane = kStates; lane-- > 0;) {
      const EncodeStep& first = steps[group[lane]];
      const EncodeStep& second = steps[group[lane + kStates]];
      const std::uint64_t state = states[lane];
      const std::uint64_t both = std::uint64_t{first.frequency} * second.frequency;
      // 2^39 = 2^63 ÷ 4096²: it would grow past 2^63. A number, not a branch that none can foresee.
      const unsigned full = state >= both << 39;
      store_word(at - 4, static_cast<std::uint32_t>(state));
      at -= 4 * full;
      states[lane] = stepped(first, stepped(second, state >> 32 * full));
    }
  }
  states_kept = states;
  return at;
}

// Reads upwards from `at`, up to 32 bytes past `end`; returns where it got to.
const std::byte* decode_groups(const DecodeSteps& by_place, std::span<std::uint8_t> symbols,
                               States& states_kept, const std::byte* at, const std::byte* end) {
  States states = states_kept;
  for (std::size_t i = 0; i < symbols.size() && at <= end; i += kGroup) {
    std::uint8_t* const group = symbols.data() + i;
#pragma GCC unroll 8
    for (std::size_t lane = 0; lane < kStates; ++lane) {
      std::uint64_t state = states[lane];
      group[lane] = by_place.symbols[state % kFrequencySum];
      state = stepped(by_place, state);
      group[lane + kStates] = by_place.symbols[state % kFrequencySum];
      state = stepped(by_place, state);

      std::uint64_t longer = state << 32 | load_word(at);
      asm("" : "+r"(longer));  // have it either way: a branch here is wrong every third time
      const bool is_short = state < kStateLeast;
      at += 4 * std::size_t{is_short};
      states[lane] = is_short ? longer : state;
    }
  }
  states_kept = states;
  return at;
}

}  // namespace HWY_NAMESPACE
}  // namespace wide::codec
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wide::codec {

HWY_EXPORT(encode_groups);
HWY_EXPORT(decode_groups);

namespace {

// With 2^k the power of two at or above f, 2^(k+63) ÷ f rounded up fits in 64 bits and gives exact
// quotients below 2^63 (R. Alverson, "Integer division using reciprocals", ARITH 1991). For f = 1
// that is one bit too long: 2^64 - 1 gives x - 1, and the bias makes up for it.
EncodeStep step_for(std::uint32_t frequency, std::uint32_t start) {
  __extension__ using Product = unsigned __int128;
  EncodeStep step;
  step.frequency = static_cast<std::uint16_t>(frequency);
  step.rest = static_cast<std::uint16_t>(kFrequencySum - frequency);
  if (frequency == 1) {
    step.reciprocal = ~std::uint64_t{0};
    step.bias = static_cast<std::uint16_t>(start + kFrequencySum - 1);
    return step;
  }
  const auto k = static_cast<unsigned>(std::bit_width(frequency - 1));
  const Product scaled = (Product{1} << (k + 63)) + frequency - 1;
  step.reciprocal = static_cast<std::uint64_t>(scaled / frequency);
  step.bias = static_cast<std::uint16_t>(start);
  step.shift = static_cast<std::uint16_t>(k - 1);
  return step;
}

}  // namespace

ExponentEncoder::ExponentEncoder(const ExponentTable& table, std::span<std::byte> out)
    : begin_(out.data()), at_(out.data() + out.size() - kStatesBytes), end_(at_) {
  states_.fill(kStateLeast);
  std::uint32_t start = 0;
  for (std::size_t symbol = 0; symbol < 256; ++symbol) {
    if (table.frequency[symbol] == 0) continue;
    steps_[symbol] = step_for(table.frequency[symbol], start);
    start += table.frequency[symbol];
  }
}

bool ExponentEncoder::put(std::span<const std::uint8_t> symbols) {
  const auto encode = HWY_DYNAMIC_DISPATCH(encode_groups);
  if (static_cast<std::size_t>(at_ - begin_) >= kChunkBytesMax) {
    at_ = encode(steps_, symbols, states_, at_);
    return true;
  }
  // Less room than a chunk might take: by way of a place where there is enough.
  std::array<std::byte, kChunkBytesMax> own;
  std::byte* const own_end = own.data() + own.size();
  std::byte* const own_at = encode(steps_, symbols, states_, own_end);
  if (at_ - begin_ < own_end - own_at) return false;
  at_ -= own_end - own_at;
  std::copy(own_at, own_end, at_);
  return true;
}

std::size_t ExponentEncoder::finish() {
  std::memcpy(end_, states_.data(), kStatesBytes);
  return static_cast<std::size_t>(end_ - at_) + kStatesBytes;
}

ExponentDecoder::ExponentDecoder(const ExponentTable& table, std::span<const std::byte> coded)
    : at_(coded.data()), end_(coded.data() + coded.size() - kStatesBytes) {
  std::memcpy(states_.data(), end_, kStatesBytes);
  std::size_t start = 0;
  for (std::size_t symbol = 0; symbol < 256; ++symbol) {
    const std::uint16_t frequency = table.frequency[symbol];
    for (std::uint16_t offset = 0; offset < frequency; ++offset) {
      steps_.steps[start + offset] = {frequency, offset};
    }
    std::fill_n(steps_.symbols.begin() + start, frequency, static_cast<std::uint8_t>(symbol));
    start += frequency;
  }
}

void ExponentDecoder::next(std::span<std::uint8_t> symbols) {
  at_ = HWY_DYNAMIC_DISPATCH(decode_groups)(steps_, symbols, states_, at_, end_);
}

bool ExponentDecoder::is_done() const {
  const auto began = [](std::uint64_t state) { return state == kStateLeast; };
  return at_ == end_ && std::ranges::all_of(states_, began);
}

}  // namespace wide::codec
#endif  // HWY_ONCE
