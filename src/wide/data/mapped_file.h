#pragma once
// A file's bytes, mapped for reading: nothing is loaded until it is touched, and every process
// that maps the same file shares one copy in memory.
//
// The file must not be shortened while it is mapped: the kernel would kill the reader. Files in
// the cache folder are only ever replaced whole, never written in place.

#include <cstddef>
#include <filesystem>
#include <span>

#include "wide/base/error.h"
#include "wide/data/file_stamp.h"

namespace wide::data {

class MappedFile final {
 public:
  // kSamplesMissing where it cannot be opened, or is no plain file. An empty file maps to no bytes.
  static Result<MappedFile> open(const std::filesystem::path& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }
  const FileStamp& stamp() const { return stamp_; }  // of the very file that is mapped

 private:
  MappedFile(std::span<const std::byte> bytes, FileStamp stamp);

  std::span<const std::byte> bytes_;
  FileStamp stamp_;
};

}  // namespace wide::data
