#include "wide/base/piece_digest.h"

#include <algorithm>
#include <array>

#include "wide/base/sha256_lanes.h"

namespace wide {

namespace {

constexpr std::size_t kLanesMost = 16;

// As many whole pieces as there are lanes, or fewer: then lanes do the last piece once more.
std::size_t hash_side_by_side(std::span<const std::byte> bytes, Sha256& hash) {
  std::array<const std::byte*, kLanesMost> firsts;
  std::array<Digest, kLanesMost> digests;
  const std::size_t lanes = sha256_lanes();
  const std::size_t count = std::min(bytes.size() / kPieceBytes, lanes);
  for (std::size_t i = 0; i < lanes; ++i) {
    firsts[i] = bytes.data() + std::min(i, count - 1) * kPieceBytes;
  }
  sha256_in_lanes(std::span(firsts).first(lanes), kPieceBytes, digests.data());
  for (std::size_t i = 0; i < count; ++i) hash.update(digests[i].bytes);
  return count * kPieceBytes;
}

}  // namespace

Sha256& update_by_pieces(Sha256& hash, std::span<const std::byte> bytes) {
  if (bytes.size() <= kPieceBytes) return hash.update(bytes);
  while (sha256_lanes_pay(bytes.size() / kPieceBytes)) {
    bytes = bytes.subspan(hash_side_by_side(bytes, hash));
  }
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), kPieceBytes));
    hash.update(sha256(piece).bytes);
    bytes = bytes.subspan(piece.size());
  }
  return hash;
}

}  // namespace wide
