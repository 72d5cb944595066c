#pragma once
// A file of samples where it lies, plain or packed, and the mapped plain file behind it.
//
//   <path>        mapped as it is
//   <path>.gz     where <path> is missing or ends so itself: unpacked once into
//                 <cache>/unpacked-<key>/<name>, and that is mapped
//
// The key is a hash of the packed file's path, size and time: a changed file is unpacked anew. How
// long the unpacked copy is gets remembered beside it, so that one cut short later is noticed.
// Any number of processes may open the same file at once.

#include <filesystem>
#include <optional>

#include "wide/base/error.h"
#include "wide/data/mapped_file.h"

namespace wide::data {

struct PlainFile {
  OpenFile open;
  MappedFile mapped;                // the same file
  std::optional<FileStamp> packed;  // where `mapped` is an unpacked copy

  // What the user calls it, for complaints.
  std::string name() const { return (packed ? packed->path : mapped.stamp().path).string(); }
  // Of a copy, only whether it was written to: another process may have put its own in its place.
  Result<void> unchanged() const;
};

// kSamplesMissing, kSamplesCorrupt (a damaged .gz), kCannotWrite (the cache folder).
Result<PlainFile> open_plain(const std::filesystem::path& path);
Result<PlainFile> open_plain_or_packed(const std::filesystem::path& path,
                                       const std::filesystem::path& cache_folder);

}  // namespace wide::data
