#include "wide/data/number_range.h"

#include <algorithm>
#include <cstring>

#include "wide/base/check.h"

namespace wide::data {

// A negative number is a huge one when taken as unsigned, so one comparison finds both kinds.
template <class Element>
std::optional<StrangeNumber> NumberRange::look_at(std::uint64_t first,
                                                  std::span<const std::byte> bytes) {
  std::uint64_t largest = 0;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Element)) {
    Element element;
    std::memcpy(&element, bytes.data() + at, sizeof(Element));
    const auto value = static_cast<std::uint64_t>(std::int64_t{element});
    if (value >= limit_) return StrangeNumber{first + at / sizeof(Element), std::int64_t{element}};
    largest = std::max(largest, value);
  }
  largest_ = std::max(largest_, static_cast<std::int64_t>(largest));
  return std::nullopt;
}

std::optional<StrangeNumber> NumberRange::look(std::uint64_t first,
                                               std::span<const std::byte> bytes) {
  switch (type_) {
    case ElementType::kU8:
      return look_at<std::uint8_t>(first, bytes);
    case ElementType::kU16:
      return look_at<std::uint16_t>(first, bytes);
    case ElementType::kI32:
      return look_at<std::int32_t>(first, bytes);
    case ElementType::kI64:
      return look_at<std::int64_t>(first, bytes);
    case ElementType::kF16:
    case ElementType::kF32:
      break;
  }
  WIDE_CHECK(false, "only whole numbers have a range");
  return std::nullopt;
}

}  // namespace wide::data
