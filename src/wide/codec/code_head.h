#pragma once
// What planes knows of a block once its exponents are counted (planes.h): the bytes before the
// fractions, and about how long the code will be.
//
//   table | zero_count u32

#include <array>
#include <cstddef>
#include <span>

#include "wide/codec/exponent_table.h"

namespace wide::codec {

class CodeHead final {
 public:
  // At least one count is not zero.
  explicit CodeHead(const ExponentCounts& counts);

  const ExponentTable& table() const { return table_; }
  std::span<const std::byte> bytes() const { return std::span(bytes_).first(byte_count_); }
  std::size_t fraction_bytes() const { return fraction_bytes_; }
  // Somewhat less than head, fractions, stream and states will be: where not even that fits, the
  // work can be spared; and of two ways the shorter is taken.
  std::size_t code_bytes_least() const { return code_bytes_least_; }

 private:
  std::size_t stream_bytes_least(const ExponentCounts& counts) const;

  ExponentTable table_;
  std::array<std::byte, kTableBytesMax + 4> bytes_{};
  std::size_t byte_count_;
  std::size_t fraction_bytes_;
  std::size_t code_bytes_least_;
};

}  // namespace wide::codec
