#pragma once
// The npy format of NumPy: one array, with a header that is the text of a Python dict.
//
//   "\x93NUMPY" | major u8 | minor u8 | header_bytes u16 (u32 from version 2.0 on)
//   {'descr': '<f4', 'fortran_order': False, 'shape': (60000, 784), }   padded with spaces, "\n"
//   values, the last extent innermost
//
// The header is read by a small parser of our own that knows these three keys and nothing else of
// Python: what it does not know, it refuses. Read: |u1 <i4 <i8 <f2 <f4, in C order.
//
// Pure functions on bytes. The shape is believed only where it accounts for every byte.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "wide/base/error.h"
#include "wide/data/part.h"

namespace wide::data {

inline constexpr std::size_t kNpyRankMax = 32;                // NumPy's own
inline constexpr std::size_t kNpyHeaderBytesMax = 64u << 10;  // three keys need a hundred

struct NpyFile {
  ElementType type = ElementType::kU8;
  std::vector<std::uint64_t> extents;
  std::span<const std::byte> values;  // within the bytes that were parsed
};

// kSamplesCorrupt: `source`, and what is wrong with it.
Result<NpyFile> parse_npy(std::span<const std::byte> bytes, std::string_view source);

}  // namespace wide::data
