// gunzip never gives its sink more than it was allowed, and counts what it gave.

#include <cstdlib>

#include "wide/data/gunzip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  constexpr std::uint64_t kAllowedBytes = 1 << 20;
  std::uint64_t given_bytes = 0;
  const auto sink = [&](std::span<const std::byte> piece) -> wide::Result<void> {
    given_bytes += piece.size();
    return {};
  };
  const auto count =
      wide::data::gunzip(std::as_bytes(std::span(bytes, size)), "fuzz", kAllowedBytes, sink);
  if (given_bytes > kAllowedBytes) std::abort();
  if (count && *count != given_bytes) std::abort();
  return 0;
}
