#pragma once
// What whole numbers a file holds: the largest, and the first that may not be there. Labels and
// tokens are looked at while their file is hashed.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "wide/data/part.h"

namespace wide::data {

struct StrangeNumber {
  std::uint64_t element = 0;
  std::int64_t value = 0;
};

class NumberRange final {
 public:
  // Numbers are 0 … limit - 1.
  NumberRange(ElementType type, std::uint64_t limit) : type_(type), limit_(limit) {}

  // The first number out of range among these, which begin with the part's element `first`.
  std::optional<StrangeNumber> look(std::uint64_t first, std::span<const std::byte> bytes);

  std::int64_t largest() const { return largest_; }

 private:
  template <class Element>
  std::optional<StrangeNumber> look_at(std::uint64_t first, std::span<const std::byte> bytes);

  ElementType type_;
  std::uint64_t limit_;
  std::int64_t largest_ = 0;
};

}  // namespace wide::data
