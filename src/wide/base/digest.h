#pragma once
// Digest: a SHA-256 value, the name of things that must be the same for everyone.
// Checksum: xxh3-64, for noticing damage and for the chain of updates; not against forgers.
//
// The only door to libcrypto's and xxHash's hash functions.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace wide {

struct Digest {
  std::array<std::byte, 32> bytes{};

  std::string hex() const;        // 64 lower-case letters
  std::string short_hex() const;  // the first 12, for people
  bool is_zero() const { return *this == Digest{}; }

  friend auto operator<=>(const Digest&, const Digest&) = default;
};

class Sha256 final {
 public:
  static constexpr std::size_t kStateWords = 14;
  Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  Sha256& update(std::span<const std::byte> bytes);
  Sha256& update(std::string_view text);
  Digest finish();  // once; starts anew afterwards

 private:
  std::array<std::uint64_t, kStateWords> state_;  // libcrypto's
};

// 64 hex letters, either case; nothing where it is not that.
std::optional<Digest> parse_digest(std::string_view hex);

Digest sha256(std::span<const std::byte> bytes);
Digest sha256(std::string_view text);

std::uint64_t xxh3(std::span<const std::byte> bytes, std::uint64_t seed = 0);

// The same, of the parts' bytes one after the other.
std::uint64_t xxh3_joined(std::span<const std::span<const std::byte>> parts);

}  // namespace wide
