#include "wide/data/part.h"

#include <fmt/format.h>

#include <algorithm>

#include "wide/base/check.h"

namespace wide::data {
namespace {

// The most bytes a part may have: offsets stay far from where 64 bits end.
constexpr std::uint64_t kPartBytesMax = std::uint64_t{1} << 60;

// Beyond this many chunks they grow, so that a manifest stays small whatever it names.
constexpr std::uint64_t kChunkCountAim = std::uint64_t{1} << 18;

std::uint64_t chunk_aim(std::uint64_t part_bytes) {
  auto aim = kChunkBytes;
  while (part_bytes / aim > kChunkCountAim && aim < kChunkBytesMax) aim *= 2;
  return aim;
}

}  // namespace

std::uint32_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::kU8:
      return 1;
    case ElementType::kU16:
    case ElementType::kF16:
      return 2;
    case ElementType::kI32:
    case ElementType::kF32:
      return 4;
    case ElementType::kI64:
      return 8;
  }
  WIDE_CHECK(false, "no such type of element");
  return 0;
}

std::uint64_t Part::chunk_count() const {
  return count == 0 ? 0 : (count - 1) / records_per_chunk + 1;
}

std::uint64_t Part::chunk_begin(std::uint64_t chunk) const {
  return (chunk - first_chunk) * records_per_chunk * stride_bytes();
}

std::uint64_t Part::chunk_bytes(std::uint64_t chunk) const {
  const auto first_record = (chunk - first_chunk) * records_per_chunk;
  const auto records = std::min(records_per_chunk, count - first_record);
  return (records - 1) * stride_bytes() + record_bytes();
}

std::uint64_t Part::bytes() const {
  return count == 0 ? 0 : (count - 1) * stride_bytes() + record_bytes();
}

Result<void> check_part(const Part& part) {
  const auto refuse = [](std::string why) { return fail(Errc::kSamplesCorrupt, std::move(why)); };
  if (part.count == 0 || part.record_elements == 0 || part.stride_elements == 0 ||
      part.records_per_chunk == 0 || part.stride_elements > part.record_elements) {
    return refuse("records of no elements, or none");
  }
  if (part.record_elements > kChunkBytesMax / element_bytes(part.type)) {
    return refuse(fmt::format("one sample has {} values, more than {} MiB", part.record_elements,
                              kChunkBytesMax >> 20));
  }
  if (part.count > kPartBytesMax / part.record_bytes()) {
    return refuse(
        fmt::format("{} records of {} bytes are too many", part.count, part.record_bytes()));
  }
  if (part.chunk_bytes(part.first_chunk) > kChunkBytesMax) {
    return refuse(fmt::format("chunks of {} bytes", part.chunk_bytes(part.first_chunk)));
  }
  return {};
}

Result<Part> make_part(ElementType type, std::uint64_t count, std::uint64_t record_elements,
                       std::uint64_t stride_elements, std::uint64_t first_chunk) {
  Part part{.type = type,
            .count = count,
            .record_elements = record_elements,
            .stride_elements = stride_elements,
            .records_per_chunk = 1,
            .first_chunk = first_chunk};
  if (auto good = check_part(part); !good) return tl::unexpected(std::move(good.error()));
  const auto aim = chunk_aim(part.bytes());
  if (part.record_bytes() < aim) {
    part.records_per_chunk = 1 + (aim - part.record_bytes()) / part.stride_bytes();
  }
  return part;
}

}  // namespace wide::data
