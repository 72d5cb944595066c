#include "wide/engine/sample_order.h"

#include <algorithm>
#include <bit>

#include "wide/base/check.h"

namespace wide::engine {

namespace {

constexpr int kRounds = 5;
constexpr unsigned kHalfBitsMin = 2;  // a smaller network has too few orders to choose from
constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;
constexpr std::uint64_t kChunksOfEpoch = 0x6368756e6b73u;  // "chunks": the order of chunks alone

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every bit of the input counts.
std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// Enough mixing for one of several rounds, at half the price.
std::uint64_t stirred(std::uint64_t value) {
  value *= kGolden;
  value ^= value >> 32;
  value *= 0xd6e8feb86659fd93u;
  return value >> 32;
}

}  // namespace

ShuffleWindow window_of(const Job& job, const SampleSpace& space) {
  const std::uint64_t chunk = space.samples_per_chunk;
  if (chunk == 0) return {};
  if (job.samples.window_chunks != 0) return {chunk, job.samples.window_chunks};
  const std::uint64_t chunks = space.train_count / chunk + (space.train_count % chunk != 0);
  return chunks <= kWholeChunks ? ShuffleWindow{} : ShuffleWindow{chunk, kWindowChunks};
}

SampleOrder::SampleOrder(std::uint64_t seed, std::uint64_t sample_count, ShuffleWindow window)
    : seed_key_(mixed(seed + kGolden)), sample_count_(sample_count), window_(window) {
  WIDE_CHECK(sample_count > 0 && sample_count <= std::uint64_t{1} << 62);
  if (window_.chunk_samples != 0) chunk_count_ = sample_count / window_.chunk_samples;
  // A window that takes in every chunk is no window.
  if (chunk_count_ <= window_.window_chunks) window_.window_chunks = 0;
  if (window_.window_chunks == 0) return;
  window_samples_ = window_.window_chunks * window_.chunk_samples;
  last_window_ = (chunk_count_ - 1) / window_.window_chunks;
}

SampleOrder::SampleOrder(const Job& job, const SampleSpace& space)
    : SampleOrder(job.seed, space.train_count, window_of(job, space)) {}

std::uint64_t SampleOrder::sample_at(std::uint64_t position) const {
  const std::uint64_t epoch_key = mixed(seed_key_ + position / sample_count_);
  const std::uint64_t place = position % sample_count_;
  return window_samples_ == 0 ? permuted(place, sample_count_, epoch_key)
                              : sample_in_window(place, epoch_key);
}

std::uint64_t SampleOrder::sample_in_window(std::uint64_t place, std::uint64_t epoch_key) const {
  const std::uint64_t window = std::min(place / window_samples_, last_window_);
  const std::uint64_t begin = window * window_samples_;
  const std::uint64_t count = window == last_window_ ? sample_count_ - begin : window_samples_;
  const std::uint64_t window_key = mixed(epoch_key + (window + 1) * kGolden);
  const std::uint64_t shuffled = begin + permuted(place - begin, count, window_key);

  const std::uint64_t slot = shuffled / window_.chunk_samples;
  if (slot >= chunk_count_) return shuffled;  // the tail lies where it lies
  const std::uint64_t chunk = permuted(slot, chunk_count_, mixed(epoch_key ^ kChunksOfEpoch));
  return chunk * window_.chunk_samples + shuffled % window_.chunk_samples;
}

std::uint64_t SampleOrder::permuted(std::uint64_t value, std::uint64_t count,
                                    std::uint64_t key) const {
  const auto bits = static_cast<unsigned>(std::bit_width(count - 1));
  const unsigned half_bits = std::max(kHalfBitsMin, (bits + 1) / 2);
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  do {
    std::uint64_t left = value >> half_bits;
    std::uint64_t right = value & mask;
    std::uint64_t round_key = key;
    for (int round = 0; round < kRounds; ++round) {
      const std::uint64_t next = left ^ (stirred(right + round_key) & mask);
      left = right;
      right = next;
      round_key = round_key * 0x5851f42d4c957f2du + 0x14057b7ef767814fu;  // Knuth's MMIX step
    }
    value = left << half_bits | right;
  } while (value >= count);
  return value;
}

}  // namespace wide::engine
