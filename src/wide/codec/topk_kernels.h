#pragma once
// The loop over all values that finding the largest is made of: alike on every instruction set.

#include <cstddef>
#include <cstdint>

namespace wide::codec {

// Bit i % 64 of words[i / 64] is set where the magnitude of values[i], taken by its bits, is
// least_bits or more; all other bits of the words are cleared.
void mark_large(const float* values, std::size_t count, std::uint32_t least_bits,
                std::uint64_t* words);
void mark_large_reference(const float* values, std::size_t count, std::uint32_t least_bits,
                          std::uint64_t* words);

}  // namespace wide::codec
