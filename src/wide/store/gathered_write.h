#pragma once
// Pieces of memory, one after the other, at a place in a file, with as few calls as the kernel
// allows: interrupted and short writes are gone on with.

#include <cstdint>
#include <optional>

#include "wide/store/disk.h"

namespace wide::store {

// The bytes written, which is all of them; nothing, and errno, where that failed.
std::optional<std::uint64_t> write_gathered(int file, Pieces pieces, std::uint64_t offset_bytes);

}  // namespace wide::store
