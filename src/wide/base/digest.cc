#include "wide/base/digest.h"

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <charconv>
#define XXH_STATIC_LINKING_ONLY  // for a state that lies on the stack
#include <xxhash.h>

#include "wide/base/check.h"

namespace wide {

namespace {
std::string to_hex(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}
}  // namespace

std::string Digest::hex() const { return to_hex(bytes); }
std::string Digest::short_hex() const { return to_hex(std::span(bytes).first(6)); }

namespace {
// libcrypto's newer interface allocates twice for every value: a tenth of what a small gradient
// takes to hash. What is computed, and by which instructions, is the same.
SHA256_CTX* context(std::array<std::uint64_t, Sha256::kStateWords>& state) {
  static_assert(sizeof(state) >= sizeof(SHA256_CTX) && alignof(SHA256_CTX) <= 8);
  return reinterpret_cast<SHA256_CTX*>(state.data());
}
}  // namespace

Sha256::Sha256() { WIDE_CHECK(SHA256_Init(context(state_)) == 1); }

Sha256& Sha256::update(std::span<const std::byte> bytes) {
  WIDE_CHECK(SHA256_Update(context(state_), bytes.data(), bytes.size()) == 1);
  return *this;
}

Sha256& Sha256::update(std::string_view text) {
  return update(std::as_bytes(std::span(text.data(), text.size())));
}

Digest Sha256::finish() {
  Digest digest;
  auto* out = reinterpret_cast<unsigned char*>(digest.bytes.data());
  WIDE_CHECK(SHA256_Final(out, context(state_)) == 1);
  WIDE_CHECK(SHA256_Init(context(state_)) == 1);
  return digest;
}

std::optional<Digest> parse_digest(std::string_view hex) {
  Digest digest;
  if (hex.size() != 2 * digest.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.bytes.size(); ++i) {
    unsigned value = 0;
    const char* pair = hex.data() + 2 * i;
    const auto [end, error] = std::from_chars(pair, pair + 2, value, 16);
    if (error != std::errc() || end != pair + 2) return std::nullopt;
    digest.bytes[i] = static_cast<std::byte>(value);
  }
  return digest;
}

Digest sha256(std::span<const std::byte> bytes) { return Sha256().update(bytes).finish(); }
Digest sha256(std::string_view text) { return Sha256().update(text).finish(); }

std::uint64_t xxh3(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::uint64_t xxh3_joined(std::span<const std::span<const std::byte>> parts) {
  if (parts.size() == 1) return xxh3(parts.front());
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (const auto part : parts) XXH3_64bits_update(&state, part.data(), part.size());
  return XXH3_64bits_digest(&state);
}

}  // namespace wide
