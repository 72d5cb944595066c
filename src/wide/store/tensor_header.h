#pragma once
// The JSON header of a safetensors file:
//
//   {"__metadata__": {"key": "value", …},
//    "layer1.weight": {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]}, …}
//
// Read as a stream of tokens by a reader that knows what may come next, so that a hostile header
// costs no more memory than its own length and nesting ends where the format ends.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wide/base/error.h"
#include "wide/store/tensor_file.h"

namespace wide::store {

inline constexpr std::size_t kTensorLengthBytes = 8;  // of the number before the header
inline constexpr std::size_t kTensorHeaderBytesMax = std::size_t{16} << 20;

struct TensorEntry {
  std::string name;
  std::vector<std::uint32_t> shape;
  std::uint64_t begin_bytes = 0;  // from the start of the values
  std::uint64_t end_bytes = 0;
};

struct TensorHeader {
  std::vector<TensorEntry> entries;  // by begin_bytes
  Metadata metadata;
};

// kTensorFileCorrupt: `source`, and what is wrong. Entries that are returned have distinct names,
// are float32, fill exactly `values_bytes` without gaps or overlaps, and each has the bytes its
// shape needs.
Result<TensorHeader> parse_tensor_header(std::string_view json, std::uint64_t values_bytes,
                                         std::string_view source);

// kCannotWrite where a name or the metadata is not UTF-8, or names are repeated or reserved.
Result<std::string> format_tensor_header(const TensorHeader& header);

}  // namespace wide::store
