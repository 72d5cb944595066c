#include "wide/engine/sample_order.h"

#include <algorithm>
#include <bit>

#include "wide/base/check.h"

namespace wide::engine {

namespace {

constexpr int kRounds = 5;
constexpr unsigned kHalfBitsMin = 2;  // a smaller network has too few orders to choose from

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every bit of the input counts.
std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// Enough mixing for one of several rounds, at half the price.
std::uint64_t stirred(std::uint64_t value) {
  value *= 0x9e3779b97f4a7c15u;
  value ^= value >> 32;
  value *= 0xd6e8feb86659fd93u;
  return value >> 32;
}

}  // namespace

SampleOrder::SampleOrder(std::uint64_t seed, std::uint64_t sample_count)
    : seed_key_(mixed(seed + 0x9e3779b97f4a7c15u)), sample_count_(sample_count) {
  WIDE_CHECK(sample_count > 0 && sample_count <= std::uint64_t{1} << 62);
  const auto bits = static_cast<unsigned>(std::bit_width(sample_count - 1));
  half_bits_ = std::max(kHalfBitsMin, (bits + 1) / 2);
}

std::uint64_t SampleOrder::sample_at(std::uint64_t position) const {
  const std::uint64_t epoch_key = mixed(seed_key_ + position / sample_count_);
  std::uint64_t value = position % sample_count_;
  do {
    value = permute(value, epoch_key);
  } while (value >= sample_count_);
  return value;
}

std::uint64_t SampleOrder::permute(std::uint64_t value, std::uint64_t epoch_key) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = value >> half_bits_;
  std::uint64_t right = value & mask;
  std::uint64_t round_key = epoch_key;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t next = left ^ (stirred(right + round_key) & mask);
    left = right;
    right = next;
    round_key = round_key * 0x5851f42d4c957f2du + 0x14057b7ef767814fu;  // Knuth's MMIX step
  }
  return left << half_bits_ | right;
}

}  // namespace wide::engine
