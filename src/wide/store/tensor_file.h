#pragma once
// Tensors in a file, as safetensors has them: length of the header u64 | JSON header | raw bytes.
// Only float32. Reading checks every length and offset against the file before it believes it.

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "wide/base/error.h"

namespace wide::store {

struct TensorView {
  std::string name;
  std::vector<std::uint32_t> shape;
  std::span<const float> values;
};

using Metadata = std::map<std::string, std::string>;

struct TensorFile {
  struct Tensor {
    std::string name;
    std::vector<std::uint32_t> shape;
    std::vector<float> values;
  };
  std::vector<Tensor> tensors;  // in the order in which their bytes lie
  Metadata metadata;
};

// Written aside, synced, renamed: a reader sees the old file or the new one, never half of it.
Result<void> write_tensor_file(const std::filesystem::path& path,
                               std::span<const TensorView> tensors, const Metadata& metadata);

// What such a file has before its values, which follow one after the other: length, header, and
// spaces so that the values begin at a multiple of 64. kCannotWrite: format_tensor_header says
// when, and where the header would be too long to be read again.
Result<std::vector<std::byte>> format_tensor_prefix(std::span<const TensorView> tensors,
                                                    const Metadata& metadata);

Result<TensorFile> read_tensor_file(const std::filesystem::path& path);

// The parser alone, for tests and the fuzzer. `source` names the bytes in complaints.
Result<TensorFile> parse_tensor_file(std::span<const std::byte> bytes, std::string_view source);

}  // namespace wide::store
