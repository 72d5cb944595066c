#pragma once
// Places in rising order, in little more room than theory asks for (Elias 1974, Fano 1971). Of
// `kept` places below `count`, the i-th is split:
//
//   low    its low_bits bits as they are, one behind another     kept × low_bits bits
//   high   what is above them, h: bit h + i is set               kept + ((count - 1) >> low_bits)
//
// Each part is padded with zero bits to 4 bytes: the size depends on count and kept alone.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace wide::codec {

class EliasFano final {
 public:
  EliasFano(std::size_t count, std::size_t kept);  // kept <= count

  std::size_t bytes() const { return low_bytes_ + high_bytes_; }

  // `coded` has bytes() bytes, all zero so far; places come one after another, rising.
  void put(std::size_t index, std::size_t place, std::span<std::byte> coded) const;

  // Calls each(index, place) for all, rising. False: `coded` is not what put() makes; some may have
  // been given by then, each of them below count.
  template <class Each>
  bool read(std::span<const std::byte> coded, const Each& each) const;

 private:
  std::size_t low_of(std::span<const std::byte> coded, std::size_t index) const;
  bool padding_is_zero(std::span<const std::byte> coded) const;

  std::size_t count_;
  std::size_t kept_;
  unsigned low_bits_ = 0;
  std::size_t low_bytes_ = 0;
  std::size_t high_bytes_ = 0;
};

template <class Each>
bool EliasFano::read(std::span<const std::byte> coded, const Each& each) const {
  if (coded.size() != bytes() || !padding_is_zero(coded)) return false;
  const auto high = coded.subspan(low_bytes_);
  std::size_t index = 0, next_least = 0;
  for (std::size_t at = 0; at < high.size(); ++at) {
    for (unsigned byte = std::to_integer<unsigned>(high[at]); byte != 0; byte &= byte - 1) {
      const std::size_t bit = 8 * at + static_cast<unsigned>(__builtin_ctz(byte));
      if (index == kept_) return false;
      const std::size_t place = ((bit - index) << low_bits_) | low_of(coded, index);
      if (place < next_least || place >= count_) return false;
      each(index, place);
      next_least = place + 1;
      ++index;
    }
  }
  return index == kept_;
}

}  // namespace wide::codec
