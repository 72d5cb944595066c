#pragma once
// Bytes in fewer bytes, and back to the bit. Free to change from one message to the next: nothing
// but time depends on it.
//
//   none     as it is
//   lz4      LZ4's block format
//   zstd     level 1; no checksum, since frames have one
//   zlib     level 1; zlib9: level 9, as the system of 2024 had it
//   planes   for float32: exponents apart from signs and fractions; the exponents entropy-coded,
//            the rest as it is; a float that is exactly 0 costs its exponent alone, and a long
//            run of them next to nothing (planes.h)
//
// One block of at most kBlockBytesMax at a time, each on its own: blocks of one message are coded
// in parallel, sent as they are ready, and a hostile one can never ask for more than that.
//
// A coder keeps its libraries' contexts and belongs to one thread.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "wide/base/error.h"

namespace wide::codec {

// The numbers travel in frame headers.
enum class Lossless : std::uint8_t {
  kNone = 0,
  kLz4 = 1,
  kZstd = 2,
  kZlib = 3,
  kZlib9 = 4,
  kPlanes = 5,
};
inline constexpr std::size_t kLosslessCount = 6;
inline constexpr std::size_t kBlockBytesMax = 1u << 20;

std::string_view lossless_name(Lossless codec);
std::optional<Lossless> lossless_named(std::string_view name);

class LosslessCoder final {
 public:
  LosslessCoder();
  ~LosslessCoder();
  LosslessCoder(LosslessCoder&&) noexcept;
  LosslessCoder& operator=(LosslessCoder&&) noexcept;

  // How many bytes were written to the front of `out`; 0: `raw` does not fit there when coded. With
  // out.size() = raw.size() - 1 that means: it is not worth it. Nothing is coded as nothing.
  // `raw` has kBlockBytesMax at most.
  std::size_t encode(Lossless codec, std::span<const std::byte> raw, std::span<std::byte> out);

  // Fills `out` to its last byte. kBadCoding where `coded` is anything but the code of exactly so
  // many bytes; `out` then holds anything.
  Result<void> decode(Lossless codec, std::span<const std::byte> coded, std::span<std::byte> out);

 private:
  struct Contexts;
  std::unique_ptr<Contexts> contexts_;
};

// How many bytes there would be if every exponent were coded by itself as well as can be, exact
// zeros costing nothing more, and the rest as it is: what planes is measured against.
double order0_bytes(std::span<const float> values);

}  // namespace wide::codec
