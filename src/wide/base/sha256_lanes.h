#pragma once
// Many values of the same length hashed at once, one in each lane of a vector: on processors
// without instructions for SHA-256 several times as fast as one value after another.
//
// Pure functions. The values are those of libcrypto on every instruction set; the test compares.

#include <cstddef>
#include <span>

#include "wide/base/digest.h"

namespace wide {

// As many as a vector of this machine has lanes.
std::size_t sha256_lanes();

// Whether lanes, some of them idle, are quicker with so many values than libcrypto is.
bool sha256_lanes_pay(std::size_t count);

// values: one for each lane, of `value_bytes`, a multiple of 64.
void sha256_in_lanes(std::span<const std::byte* const> values, std::size_t value_bytes,
                     Digest* digests);

}  // namespace wide
