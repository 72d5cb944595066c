#pragma once
// FileStamp: path, size, time of last change and inode. Two equal stamps are taken to mean the same
// bytes, so that what was computed from a file (an unpacked copy, a manifest) can be kept.

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "wide/base/error.h"

namespace wide::data {

struct FileStamp {
  std::filesystem::path path;  // absolute
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_ns = 0;
  std::uint64_t inode = 0;

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

FileStamp make_stamp(const std::filesystem::path& path, const struct stat& status);

// kSamplesMissing where there is no plain file that could be asked.
Result<FileStamp> stamp_file(const std::filesystem::path& path);

// kSamplesChanged where the path now leads to something else than when the stamp was made.
Result<void> check_stamp(const FileStamp& stamp);

// One line per stamp, for notes that outlive a mount: without the inode, which some file systems
// make up anew. Stamps that differ in the rest never give the same text, whatever their paths hold.
std::string stamps_text(std::span<const FileStamp> stamps);

}  // namespace wide::data
