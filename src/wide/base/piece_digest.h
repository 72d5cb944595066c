#pragma once
// How values that may be long go into a SHA-256, so that hashing them is quick on every machine:
//
//   up to a piece   the bytes themselves
//   longer          the SHA-256 of each piece, one behind another; the last piece may be short
//
// Pieces are hashed side by side (sha256_lanes.h). Whoever hashes like this must know from
// elsewhere how long the value is: a short one can be the digests of a long one.

#include "wide/base/digest.h"

namespace wide {

inline constexpr std::size_t kPieceBytes = 4096;

Sha256& update_by_pieces(Sha256& hash, std::span<const std::byte> bytes);

}  // namespace wide
