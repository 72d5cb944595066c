#pragma once
// Philox4x32-10 (Salmon et al., SC'11): random numbers as a pure function of (key, counter).
// Nothing is stored and nothing depends on who asks, in which order, or on which machine.

#include <array>
#include <cstdint>

namespace wide {

using PhiloxBlock = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

PhiloxBlock philox(PhiloxBlock counter, PhiloxKey key);

// A stream of numbers named by a seed and a few words, e.g. (seed, "dropout", step, unit, layer).
class RandomStream final {
 public:
  // `purpose` keeps streams apart; `a`, `b` name the thing (a step and a unit, a tensor, …).
  RandomStream(std::uint64_t seed, std::uint32_t purpose, std::uint64_t a, std::uint32_t b = 0);

  // The index-th four words of the stream.
  PhiloxBlock block(std::uint32_t index) const;

  std::uint32_t word(std::uint64_t index) const;  // the index-th word (index below 2^34)
  float uniform(std::uint64_t index) const;       // in [0, 1), a multiple of 2^-24
  double normal(std::uint64_t index) const;       // mean 0, variance 1; elementary arithmetic only

 private:
  PhiloxKey key_;
  PhiloxBlock counter_;  // word 0 counts; 1..3 name the thing
};

}  // namespace wide
