#pragma once
// Which sample stands at a position of the endless sequence that training walks: epoch after
// epoch, every sample once in each, in an order that is a pure function of (seed, epoch,
// position). A small Feistel network permutes the next power of four; values outside the set walk
// on until they fall inside: four tries at most on average. Constant memory, no state.

#include <cstdint>

namespace wide::engine {

class SampleOrder final {
 public:
  SampleOrder(std::uint64_t seed, std::uint64_t sample_count);

  // Positions run on across epochs: epoch = position / sample_count.
  std::uint64_t sample_at(std::uint64_t position) const;

 private:
  std::uint64_t permute(std::uint64_t value, std::uint64_t epoch_key) const;

  std::uint64_t seed_key_;
  std::uint64_t sample_count_;
  unsigned half_bits_;
};

}  // namespace wide::engine
