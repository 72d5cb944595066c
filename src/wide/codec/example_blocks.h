#pragma once
// Blocks of bytes such as a pool sends, and such as it never would: for tests and benchmarks.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "wide/base/philox.h"

namespace wide::codec {

enum class Example {
  kNormal,         // a gradient: normal, of one scale
  kLayers,         // a gradient: a run of layers, each of its own scale
  kSparse70,       // a gradient behind a ReLU: 70 % zeros
  kSparse90,       // an embedding's: 90 % zeros
  kWeights,        // few exponents
  kZeros,          // +0.0 throughout
  kNegativeZeros,  // both zeros and denormals
  kAllEqual,
  kRandomBits,     // every pattern: NaNs with payloads, denormals, infinities
  kEveryExponent,  // each of the 256, and +0.0
  kText,
  kInt8,          // codes of a lossy codec
  kDeadFeatures,  // a small cnn's gradient: two in three are zeros, most of them in long runs
};
inline constexpr Example kExamples[] = {
    Example::kNormal,      Example::kLayers,        Example::kSparse70,      Example::kSparse90,
    Example::kWeights,     Example::kZeros,         Example::kNegativeZeros, Example::kAllEqual,
    Example::kRandomBits,  Example::kEveryExponent, Example::kText,          Example::kInt8,
    Example::kDeadFeatures};

// 32 channels of 7 × 7 feed each neuron: half of the neurons are dead, some of the channels are,
// and a few places of the others. Every neuron has its own scale.
inline std::uint32_t dead_features_word(const RandomStream& random, std::uint64_t i) {
  constexpr std::uint64_t kChannel = 49, kNeuron = 32 * kChannel,
                          kElsewhere = std::uint64_t{1} << 32;
  const std::uint64_t neuron = i / kNeuron, channel = i % kNeuron / kChannel;
  const std::uint32_t neuron_bits = random.word(kElsewhere + neuron);
  const bool is_dead = neuron_bits % 2 == 0 || random.word(2 * kElsewhere + channel) % 100 < 20 ||
                       random.word(3 * i) % 100 < 10;
  const double scale = 1e-2 / static_cast<double>(1 + (neuron_bits >> 8) % 100);
  return is_dead
             ? 0
             : std::bit_cast<std::uint32_t>(static_cast<float>(scale * random.normal(3 * i + 1)));
}

inline std::uint32_t example_word(Example example, const RandomStream& random, std::uint64_t i) {
  const std::uint32_t bits = random.word(3 * i);
  const auto normal = [&](double scale) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(scale * random.normal(3 * i + 1)));
  };
  const auto sparse = [&](std::uint32_t percent) {
    return bits % 100 < percent ? 0 : normal(1e-3);
  };
  switch (example) {
    case Example::kNormal:
      return normal(1e-3);
    case Example::kLayers:
      return normal(1.0 / static_cast<double>(1u << (i / 3000 * 7 % 13)));
    case Example::kSparse70:
      return sparse(70);
    case Example::kSparse90:
      return sparse(90);
    case Example::kWeights:
      return (bits & 0x807fffffu) | (121 + (bits >> 8) % 3) << 23;
    case Example::kZeros:
      return 0;
    case Example::kNegativeZeros:
      return bits % 3 == 0 ? bits & 0x80000000u : bits & 0x807fffffu;
    case Example::kAllEqual:
      return 0x3dcccccdu;
    case Example::kRandomBits:
      return bits;
    case Example::kEveryExponent:
      return i % 257 == 256 ? 0 : (bits & 0x807fffffu) | static_cast<std::uint32_t>(i % 257) << 23;
    case Example::kDeadFeatures:
      return dead_features_word(random, i);
    case Example::kText:
    case Example::kInt8:
      break;
  }
  return 0;
}

// The first `bytes` of a stream that goes on as long as one likes.
inline std::vector<std::byte> example_block(Example example, std::size_t bytes,
                                            std::uint64_t seed = 1) {
  constexpr std::string_view kText = "step=17 loss=0.2213 units=64 accepted node=3; ";
  const RandomStream random(seed, static_cast<std::uint32_t>(example), 0);
  std::vector<std::byte> block(bytes + 3);  // whole words
  for (std::size_t i = 0; i < (bytes + 3) / 4; ++i) {
    std::uint32_t word = example_word(example, random, i);
    for (std::size_t at = 4 * i; at < 4 * i + 4; ++at) {
      std::uint32_t letter = 0;
      if (example == Example::kText) {
        letter = static_cast<unsigned char>(kText[(at + at / 400 * 7) % kText.size()]);
      } else if (example == Example::kInt8) {
        letter = static_cast<std::uint32_t>(static_cast<int>(20 * random.normal(at))) & 255;
      } else {
        break;
      }
      word = word >> 8 | letter << 24;
    }
    std::memcpy(block.data() + 4 * i, &word, sizeof(word));
  }
  block.resize(bytes);
  return block;
}

}  // namespace wide::codec
