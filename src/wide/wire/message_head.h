#pragma once
// The fields of a message as they travel. Most messages have few, which lie in the head itself: a
// small answer then asks for memory once, for its packet.

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace wide::wire {

class MessageHead final {
 public:
  void append(std::span<const std::byte> bytes) {
    if (size_ + bytes.size() <= kFew) {
      if (!bytes.empty()) std::memcpy(few_.data() + size_, bytes.data(), bytes.size());
    } else {
      move_out();
      many_.insert(many_.end(), bytes.begin(), bytes.end());
    }
    size_ += bytes.size();
  }
  void pad_to_8() {  // with zeros
    static constexpr std::array<std::byte, 8> kZeros{};
    append(std::span(kZeros).first((8 - size_ % 8) % 8));
  }

  std::size_t size() const { return size_; }
  const std::byte* data() const { return many_.empty() ? few_.data() : many_.data(); }
  std::byte* data() { return many_.empty() ? few_.data() : many_.data(); }
  const std::byte* begin() const { return data(); }
  const std::byte* end() const { return data() + size_; }
  std::byte* begin() { return data(); }
  std::byte* end() { return data() + size_; }
  std::byte& operator[](std::size_t i) { return data()[i]; }
  const std::byte& operator[](std::size_t i) const { return data()[i]; }

 private:
  static constexpr std::size_t kFew = 96;

  // They are more than a few from now on, and lie together.
  void move_out() {
    if (!many_.empty()) return;
    many_.reserve(4 * kFew);
    many_.assign(few_.begin(), few_.begin() + static_cast<std::ptrdiff_t>(size_));
  }

  std::size_t size_ = 0;
  std::array<std::byte, kFew> few_;
  std::vector<std::byte> many_;  // all of them, where they are more
};

}  // namespace wide::wire
