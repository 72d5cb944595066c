#pragma once
// FileStamp: path, size and time of last change. Two equal stamps are taken to mean the same
// bytes, so that what was computed from a file (an unpacked copy, a digest) can be kept.

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

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

FileStamp make_stamp(const std::filesystem::path& path, const struct stat& status);

// kSamplesMissing where there is no plain file that could be asked.
Result<FileStamp> stamp_file(const std::filesystem::path& path);

// One line per stamp. Different stamps never give the same text, whatever their paths hold.
std::string stamps_text(std::span<const FileStamp> stamps);

}  // namespace wide::data
