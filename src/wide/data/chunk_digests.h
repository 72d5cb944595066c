#pragma once
// The digest of every chunk of a file, and whatever else one wants to see of its bytes on the way.
//
// Read with pread into one buffer, never through a map: memory stays flat however long the file.
// What is a hole in a sparse file is not read at all; its chunks are so many zeros.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "wide/base/digest.h"
#include "wide/base/error.h"
#include "wide/data/open_file.h"
#include "wide/data/part.h"

namespace wide::data {

// Sees each chunk that was read, from which element of the part on; holes are not shown. An error
// ends the reading and is passed on.
using ChunkViewer =
    std::function<Result<void>(std::uint64_t first_element, std::span<const std::byte> bytes)>;

// Appends a digest per chunk. `begin_bytes` is where the part begins in the file. kSamplesChanged
// where the file was written to since it was opened.
Result<void> add_chunk_digests(const OpenFile& file, std::uint64_t begin_bytes, const Part& part,
                               const ChunkViewer& viewer, std::vector<Digest>& digests);

}  // namespace wide::data
