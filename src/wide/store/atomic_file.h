#pragma once
// Whole files, or none: written aside in the same folder, synced, renamed, and the folder synced.
// A reader, and a machine that lost power, see the old file or the new one, never half of it.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "wide/base/error.h"

namespace wide::store {

// The pieces one after the other. kCannotWrite, kDiskFull, kSyncFailed: the path, and why; then the
// old file is untouched (unless the sync of the folder is what failed: then the new one is there,
// but may not last). Several processes may write one file: each goes through a name of its own.
Result<void> write_atomically(const std::filesystem::path& path,
                              std::span<const std::span<const std::byte>> pieces);
Result<void> write_atomically(const std::filesystem::path& path, std::string_view text);

// All bytes of a plain file; the error has the code given, the path, and why.
Result<std::vector<std::byte>> read_whole_file(const std::filesystem::path& path, Errc missing,
                                               Errc unreadable);

}  // namespace wide::store
