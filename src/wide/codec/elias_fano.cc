#include "wide/codec/elias_fano.h"

#include <bit>

namespace wide::codec {

namespace {

std::size_t padded_bytes(std::size_t bits) { return (bits + 31) / 32 * 4; }

bool bits_past_are_zero(std::span<const std::byte> bytes, std::size_t bits) {
  if (bits % 8 != 0 && std::to_integer<unsigned>(bytes[bits / 8]) >> bits % 8 != 0) return false;
  for (std::size_t at = (bits + 7) / 8; at < bytes.size(); ++at) {
    if (bytes[at] != std::byte{}) return false;
  }
  return true;
}

}  // namespace

EliasFano::EliasFano(std::size_t count, std::size_t kept) : count_(count), kept_(kept) {
  if (kept == 0) return;
  low_bits_ = static_cast<unsigned>(std::bit_width(count / kept)) - 1;
  low_bytes_ = padded_bytes(kept * low_bits_);
  high_bytes_ = padded_bytes(kept + ((count - 1) >> low_bits_));
}

void EliasFano::put(std::size_t index, std::size_t place, std::span<std::byte> coded) const {
  for (unsigned i = 0; i < low_bits_; ++i) {
    const std::size_t bit = index * low_bits_ + i;
    coded[bit / 8] |= static_cast<std::byte>((place >> i & 1) << bit % 8);
  }
  const std::size_t bit = (place >> low_bits_) + index;
  coded[low_bytes_ + bit / 8] |= static_cast<std::byte>(1u << bit % 8);
}

std::size_t EliasFano::low_of(std::span<const std::byte> coded, std::size_t index) const {
  std::size_t low = 0;
  for (unsigned i = 0; i < low_bits_; ++i) {
    const std::size_t bit = index * low_bits_ + i;
    low |= (std::to_integer<std::size_t>(coded[bit / 8]) >> bit % 8 & 1) << i;
  }
  return low;
}

bool EliasFano::padding_is_zero(std::span<const std::byte> coded) const {
  if (kept_ == 0) return true;
  return bits_past_are_zero(coded.first(low_bytes_), kept_ * low_bits_) &&
         bits_past_are_zero(coded.subspan(low_bytes_), kept_ + ((count_ - 1) >> low_bits_));
}

}  // namespace wide::codec
