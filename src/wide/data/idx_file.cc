#include "wide/data/idx_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

namespace wide::data {
namespace {

constexpr std::size_t kMagicBytes = 4;
constexpr std::uint32_t kTypeUint8 = 0x08;

tl::unexpected<Error> refuse(std::string_view source, std::string_view why) {
  return fail(Errc::kSamplesCorrupt, fmt::format("{}: {}", source, why));
}

std::uint32_t big_endian(std::span<const std::byte> bytes) {
  std::uint32_t value = 0;
  for (const auto byte : bytes.first(4)) value = value << 8 | std::to_integer<std::uint32_t>(byte);
  return value;
}

// Rank of the box, once the first four bytes are known to be those of an idx file of bytes.
Result<std::size_t> read_rank(std::span<const std::byte> bytes, std::string_view source) {
  if (bytes.size() < kMagicBytes) {
    return refuse(source, fmt::format("truncated: {} bytes are no idx header", bytes.size()));
  }
  const auto magic = big_endian(bytes);
  if (magic >> 16 != 0) return refuse(source, fmt::format("no idx file (magic {:#010x})", magic));
  if ((magic >> 8 & 0xff) != kTypeUint8) {
    return refuse(source,
                  fmt::format("holds values of idx type {:#04x}; only bytes (0x08) are read",
                              magic >> 8 & 0xff));
  }
  const std::size_t rank = magic & 0xff;
  if (rank == 0 || rank > kIdxRankMax) {
    return refuse(source, fmt::format("rank {} is not within 1 to {}", rank, kIdxRankMax));
  }
  return rank;
}

// Nothing where the product is beyond 64 bits.
std::optional<std::uint64_t> product_of(std::span<const std::uint32_t> extents) {
  std::uint64_t product = 1;
  bool overflowed = false;
  for (const auto extent : extents) {
    if (extent == 0) return 0;
    overflowed |= __builtin_mul_overflow(product, extent, &product);
  }
  if (overflowed) return std::nullopt;
  return product;
}

Result<void> check_extents(const IdxFile& file, std::string_view source) {
  const auto promised = product_of(file.extents);
  const auto found = file.values.size();
  if (promised == found) return {};
  if (promised && *promised < found) {
    return refuse(source, fmt::format("{} bytes after the last of its {} values", found - *promised,
                                      *promised));
  }
  return refuse(source, fmt::format("truncated: the header promises {} values, {} are there",
                                    fmt::join(file.extents, " × "), found));
}

}  // namespace

Result<IdxFile> parse_idx(std::span<const std::byte> bytes, std::string_view source) {
  const auto rank = read_rank(bytes, source);
  if (!rank) return tl::unexpected(rank.error());
  const auto header_bytes = kMagicBytes + 4 * *rank;
  if (bytes.size() < header_bytes) {
    return refuse(source, fmt::format("truncated: {} bytes, the header alone has {}", bytes.size(),
                                      header_bytes));
  }

  IdxFile file{.extents = {}, .values = bytes.subspan(header_bytes)};
  for (std::size_t axis = 0; axis < *rank; ++axis) {
    file.extents.push_back(big_endian(bytes.subspan(kMagicBytes + 4 * axis)));
  }
  if (auto good = check_extents(file, source); !good) return tl::unexpected(good.error());
  return file;
}

}  // namespace wide::data
