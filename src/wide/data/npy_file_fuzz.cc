// parse_npy never reads past its input, and believes a shape only where it fits it exactly.

#include <cstdlib>

#include "wide/data/npy_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto npy = wide::data::parse_npy(std::as_bytes(std::span(bytes, size)), "fuzz");
  if (!npy) return 0;
  // Cannot overflow: that would have been refused, or a zero is in it.
  std::uint64_t product = wide::data::element_bytes(npy->type);
  for (const auto extent : npy->extents) product *= extent;
  if (product != npy->values.size()) std::abort();
  unsigned sum = 0;
  for (const auto value : npy->values) sum += std::to_integer<unsigned>(value);
  volatile unsigned sink = sum;  // keeps the reads
  (void)sink;
  return 0;
}
