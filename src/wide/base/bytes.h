#pragma once
// Little-endian bytes in and out. The reader remembers its first short read and gives zeros from
// then on, so that a decoder reads all its fields in a row and asks ok() once at the end.
// Nothing is allocated from a length before that many bytes are known to be there.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "wide/base/digest.h"

namespace wide {

static_assert(std::endian::native == std::endian::little, "formats are written as they lie");

class ByteWriter final {
 public:
  ByteWriter() = default;
  explicit ByteWriter(std::size_t expected_bytes) { bytes_.reserve(expected_bytes); }

  template <class T>
  requires std::is_arithmetic_v<T>
  void put(T value) { raw(std::as_bytes(std::span(&value, 1))); }
  void raw(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void digest(const Digest& digest) { raw(digest.bytes); }
  void text(std::string_view text) {  // length u32, then the bytes
    put(static_cast<std::uint32_t>(text.size()));
    raw(std::as_bytes(std::span(text.data(), text.size())));
  }
  void pad_to(std::size_t multiple) {
    bytes_.resize((bytes_.size() + multiple - 1) / multiple * multiple);
  }

  std::size_t size() const { return bytes_.size(); }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class ByteReader final {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  requires std::is_arithmetic_v<T> T get() {
    T value{};
    const auto from = raw(sizeof(T));
    if (ok_) std::memcpy(&value, from.data(), sizeof(T));
    return value;
  }
  std::span<const std::byte> raw(std::size_t count) {
    if (!ok_ || count > bytes_.size() - at_) {
      ok_ = false;
      return {};
    }
    const auto found = bytes_.subspan(at_, count);
    at_ += count;
    return found;
  }
  Digest digest() {
    Digest digest;
    const auto from = raw(digest.bytes.size());
    if (ok_) std::memcpy(digest.bytes.data(), from.data(), from.size());
    return digest;
  }
  std::string text(std::size_t length_max) {
    const auto length = get<std::uint32_t>();
    if (length > length_max) ok_ = false;
    const auto from = raw(length);
    return ok_ ? std::string(reinterpret_cast<const char*>(from.data()), from.size())
               : std::string();
  }
  void skip_to(std::size_t multiple) { raw((multiple - at_ % multiple) % multiple); }

  bool ok() const { return ok_; }
  void refuse() { ok_ = false; }  // a field was there but is not allowed
  std::size_t position() const { return at_; }
  std::size_t left() const { return bytes_.size() - at_; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace wide
