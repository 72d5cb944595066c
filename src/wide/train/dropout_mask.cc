#include "wide/train/dropout_mask.h"

#include <algorithm>
#include <cmath>

#include "wide/base/check.h"

namespace wide::train {

namespace {
constexpr std::uint32_t kDropoutPurpose = 0x64726f00;  // "dro", and a byte for the layer
constexpr std::uint32_t kDeepPurpose = 0x64000000;     // "d", and three bytes, from layer 256 on
constexpr std::uint32_t kLayersMax = 0x726f00;         // where the second would meet the first
}  // namespace

RandomStream dropout_stream(std::uint64_t seed, Step step, Unit unit, std::uint32_t layer) {
  WIDE_CHECK(layer < kLayersMax);
  return RandomStream(seed, (layer < 256 ? kDropoutPurpose : kDeepPurpose) + layer, step, unit);
}

void fill_dropout_mask(const RandomStream& stream, float probability, std::span<float> mask) {
  // uniform = (word >> 8) / 2^24, so the comparison can stay among integers, exactly.
  const auto threshold = static_cast<std::uint32_t>(std::ceil(std::ldexp(probability, 24)));
  const float kept = 1.0f / (1.0f - probability);
  std::uint32_t block_index = 0;
  for (std::size_t at = 0; at < mask.size(); at += 4) {
    const auto words = stream.block(block_index++);
    const auto count = std::min<std::size_t>(4, mask.size() - at);
    for (std::size_t i = 0; i < count; ++i) {
      mask[at + i] = (words[i] >> 8) >= threshold ? kept : 0.0f;
    }
  }
}

void fill_dropout_mask_reference(const RandomStream& stream, float probability,
                                 std::span<float> mask) {
  const float kept = 1.0f / (1.0f - probability);
  for (std::size_t i = 0; i < mask.size(); ++i) {
    mask[i] = stream.uniform(i) >= probability ? kept : 0.0f;
  }
}

}  // namespace wide::train
