#pragma once
// A file's bytes, mapped for reading: nothing is loaded until it is touched, and every process
// that maps the same file shares one copy in memory.
//
// Pages that were touched count as this process's memory. Of a large file, those are given back to
// the kernel every kReadBytesKept of reading, so that a walk through more than the machine has
// stays flat; what the kernel still has cached comes back at once.
//
// The file must not be shortened while it is mapped: the kernel would kill the reader. Files in
// the cache folder are only ever replaced whole, never written in place.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "wide/base/error.h"
#include "wide/data/file_stamp.h"
#include "wide/data/open_file.h"

namespace wide::data {

class MappedFile final {
 public:
  static constexpr std::uint64_t kReadBytesKept = 256u << 20;

  // kSamplesMissing where it cannot be opened, or is no plain file. An empty file maps to no bytes.
  static Result<MappedFile> open(const std::filesystem::path& path);
  static Result<MappedFile> map(const OpenFile& file);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  // For a look at a header; what is walked through is asked for by read().
  std::span<const std::byte> bytes() const { return bytes_; }
  const FileStamp& stamp() const { return stamp_; }  // of the very file that is mapped

  // bytes().subspan(begin, count), counted. Safe on any thread.
  std::span<const std::byte> read(std::uint64_t begin, std::uint64_t count) const {
    if (reading_) count_reading(begin, count);
    return bytes_.subspan(begin, count);
  }

  // Asks the kernel to have these bytes in memory soon; returns at once.
  void announce(std::uint64_t begin, std::uint64_t count) const;

 private:
  // A page that is touched brings its neighbours along, so reading is counted in blocks of them.
  struct Reading {
    std::atomic<std::uint64_t> last_block = ~std::uint64_t{0};
    std::atomic<std::uint64_t> block_count = 0;  // since pages were given back
  };

  MappedFile(std::span<const std::byte> bytes, FileStamp stamp);
  void count_reading(std::uint64_t begin, std::uint64_t count) const;

  std::span<const std::byte> bytes_;
  FileStamp stamp_;
  std::unique_ptr<Reading> reading_;  // of large files
};

}  // namespace wide::data
