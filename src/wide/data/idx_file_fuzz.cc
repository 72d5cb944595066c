// parse_idx never reads past its input, and believes extents only where they fit it exactly.

#include <cstdlib>

#include "wide/data/idx_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto idx = wide::data::parse_idx(std::as_bytes(std::span(bytes, size)), "fuzz");
  if (!idx) return 0;
  std::uint64_t product = 1;  // cannot overflow: that would have been refused, or a zero is in it
  for (const auto extent : idx->extents) product *= extent;
  if (product != idx->values.size()) std::abort();
  unsigned sum = 0;
  for (const auto value : idx->values) sum += std::to_integer<unsigned>(value);
  volatile unsigned sink = sum;  // keeps the reads
  (void)sink;
  return 0;
}
