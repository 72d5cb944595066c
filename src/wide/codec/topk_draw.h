#pragma once
// Which places unbiased topk draws: the numbers that its fast and its plain version share.

#include <cstddef>
#include <cstdint>

#include "wide/base/philox.h"
#include "wide/codec/lossy.h"

namespace wide::codec {

class PlaceDraw final {
 public:
  explicit PlaceDraw(const Rounding& rounding)
      : stream_(rounding.seed, kPurpose, rounding.step, rounding.block) {}

  // A place below `count`, all equally likely (to one part in 2^64 ÷ count). Those that were had
  // before are to be drawn again: what is left is then as likely as ever.
  std::size_t next(std::size_t count) {
    const PhiloxBlock words = stream_.block(drawn_++);
    const std::uint64_t word = std::uint64_t{words[1]} << 32 | words[0];
    return static_cast<std::size_t>((static_cast<Wide>(word) * count) >> 64);
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr std::uint32_t kPurpose = 0x746f706b;  // "topk"

  RandomStream stream_;
  std::uint32_t drawn_ = 0;
};

// What a drawn value is multiplied by.
inline float draw_factor(std::size_t rest, std::size_t drawn) {
  return static_cast<float>(static_cast<double>(rest) / static_cast<double>(drawn));
}

}  // namespace wide::codec
