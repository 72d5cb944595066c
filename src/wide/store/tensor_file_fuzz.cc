// What the parser accepts, it has read consistently: shapes fit values, and together the tensors
// hold no more than the input did.

#include <cstdlib>

#include "wide/store/tensor_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto file = wide::store::parse_tensor_file(std::as_bytes(std::span(bytes, size)), "fuzz");
  if (!file) {
    if (file.error().code != wide::Errc::kTensorFileCorrupt) std::abort();
    return 0;
  }
  std::size_t values_bytes = 0;
  for (const auto& tensor : file->tensors) {
    std::uint64_t count = 1;
    for (const auto extent : tensor.shape) count *= extent;
    if (count != tensor.values.size()) std::abort();
    values_bytes += tensor.values.size() * sizeof(float);
  }
  if (values_bytes > size) std::abort();
  return 0;
}
