#pragma once
// Idx files where they lie, plain or packed, and the mapped plain file behind each.
//
//   <folder>/<name>      mapped as it is
//   <folder>/<name>.gz   unpacked once into <cache>/<kind>-<key>/<name>, and that is mapped
//
// The key is a hash of the packed files' paths, sizes and times: changed files are unpacked anew.

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "wide/base/error.h"
#include "wide/data/idx_file.h"
#include "wide/data/mapped_file.h"

namespace wide::data {

struct MappedIdx {
  MappedFile file;
  IdxFile idx;  // its values lie within `file`
};

// The files of these names in this order. `kind` begins the name of the folder in the cache.
Result<std::vector<MappedIdx>> open_idx_files(const std::filesystem::path& folder,
                                              std::span<const std::string_view> names,
                                              const std::filesystem::path& cache_folder,
                                              std::string_view kind);

}  // namespace wide::data
