#pragma once
// The digest of large files, remembered in the cache folder: ten nodes that start on one machine
// must not each hash the same fifty megabytes.
//
//   <cache>/sha256-<key>.txt     purpose | stamps | sha256 <hex> | xxh3 <hex of all before>
//
// A note that is damaged, or about other stamps, is ignored and written anew; where it cannot be
// written, the digest is computed every time.

#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

#include "wide/base/digest.h"
#include "wide/data/file_stamp.h"

namespace wide::data {

// `purpose` names what is computed from the files, with a version: "fashion-mnist 1".
// An empty cache folder: there is none.
Digest remembered_digest(const std::filesystem::path& cache_folder, std::string_view purpose,
                         std::span<const FileStamp> stamps, const std::function<Digest()>& compute);

}  // namespace wide::data
