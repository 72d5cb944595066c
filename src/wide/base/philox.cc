#include "wide/base/philox.h"

#include "wide/base/check.h"
#include "wide/base/normal_quantile.h"

namespace wide {

namespace {
constexpr std::uint32_t kMultiplier0 = 0xD2511F53;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;  // the golden ratio
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;  // sqrt(3) - 1
constexpr int kRounds = 10;

constexpr std::uint32_t low(std::uint64_t wide_word) {
  return static_cast<std::uint32_t>(wide_word);
}
constexpr std::uint32_t high(std::uint64_t wide_word) {
  return static_cast<std::uint32_t>(wide_word >> 32);
}

PhiloxBlock one_round(const PhiloxBlock& in, const PhiloxKey& key) {
  const std::uint64_t product0 = std::uint64_t{kMultiplier0} * in[0];
  const std::uint64_t product1 = std::uint64_t{kMultiplier1} * in[2];
  return {high(product1) ^ in[1] ^ key[0], low(product1), high(product0) ^ in[3] ^ key[1],
          low(product0)};
}
}  // namespace

PhiloxBlock philox(PhiloxBlock counter, PhiloxKey key) {
  for (int round = 0; round < kRounds; ++round) {
    counter = one_round(counter, key);
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

RandomStream::RandomStream(std::uint64_t seed, std::uint32_t purpose, std::uint64_t a,
                           std::uint32_t b)
    : counter_{0, low(a), high(a), b} {
  const PhiloxBlock mixed = philox({purpose, 0, 0, 0}, {low(seed), high(seed)});
  key_ = {mixed[0], mixed[1]};
}

PhiloxBlock RandomStream::block(std::uint32_t index) const {
  PhiloxBlock counter = counter_;
  counter[0] = index;
  return philox(counter, key_);
}

std::uint32_t RandomStream::word(std::uint64_t index) const {
  WIDE_CHECK(index < (std::uint64_t{1} << 34), "a stream has 2^34 words");
  return block(static_cast<std::uint32_t>(index / 4))[index % 4];
}

float RandomStream::uniform(std::uint64_t index) const {
  return static_cast<float>(word(index) >> 8) * 0x1p-24f;
}

double RandomStream::normal(std::uint64_t index) const {
  return normal_quantile((word(index) + 0.5) * 0x1p-32);  // the middle of its 2^-32: never 0 or 1
}

}  // namespace wide
