#pragma once
// The idx format of the MNIST family: bytes in a box of known extents, big-endian.
//
//   0 0 | type u8 (8: bytes) | rank u8 | extent u32 × rank | values
//
// Pure functions on bytes. The extents are believed only where they account for every byte.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "wide/base/error.h"

namespace wide::data {

inline constexpr std::size_t kIdxRankMax = 8;

struct IdxFile {
  std::vector<std::uint32_t> extents;
  std::span<const std::byte>
      values;  // within the bytes that were parsed, the last extent innermost
};

// kSamplesCorrupt: `source`, and what is wrong with it.
Result<IdxFile> parse_idx(std::span<const std::byte> bytes, std::string_view source);

}  // namespace wide::data
