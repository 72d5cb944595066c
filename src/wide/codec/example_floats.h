#pragma once
// Floats of many kinds, for tests and benchmarks: the same on every machine.

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "wide/base/philox.h"

namespace wide::codec::example {

enum class Kind {
  kNormal,     // as gradients often are
  kHeavy,      // Cauchy, a normal over another: a few values far beyond the rest
  kTiny,       // below 2^-100, and below the normal floats
  kHuge,       // near the largest float
  kSparse,     // nine in ten are 0, some of them -0.0
  kMagnitudes  // every exponent alike
};
inline constexpr std::array kKinds = {Kind::kNormal, Kind::kHeavy,  Kind::kTiny,
                                      Kind::kHuge,   Kind::kSparse, Kind::kMagnitudes};

inline float one_float(Kind kind, const RandomStream& stream, std::uint32_t index) {
  const PhiloxBlock words = stream.block(index);
  const double uniform = (words[0] + 0.5) * 0x1p-32;
  const double normal = stream.normal(std::uint64_t{index} * 4 + 1);
  switch (kind) {
    case Kind::kNormal:
      return static_cast<float>(normal * 0.01);
    case Kind::kHeavy:
      return static_cast<float>(normal / stream.normal(std::uint64_t{index} * 4 + 3));
    case Kind::kTiny:
      return static_cast<float>(normal * (words[2] % 2 == 0 ? 1e-32 : 1e-41));
    case Kind::kHuge:
      return static_cast<float>((uniform - 0.5) * 2 * 3.4028234e38);
    case Kind::kSparse:
      if (words[2] % 10 != 0) return words[3] % 2 == 0 ? 0.0f : -0.0f;
      return static_cast<float>(normal);
    case Kind::kMagnitudes:
      break;
  }
  return std::bit_cast<float>((words[0] & 0x807fffffu) | words[1] % 255 << 23);
}

inline std::vector<float> floats(Kind kind, std::size_t count, std::uint64_t seed = 1) {
  const RandomStream stream(seed, 0x74657374, static_cast<std::uint64_t>(kind));
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = one_float(kind, stream, static_cast<std::uint32_t>(i));
  }
  return values;
}

}  // namespace wide::codec::example
