#pragma once
// What was computed from large files, remembered in the cache folder: ten nodes that start on one
// machine must not each hash the same fifty gigabytes.
//
//   <cache>/note-<key>     purpose, stamps of the files | value bytes u64 | value | xxh3 u64
//
// A note that is damaged, or about other stamps, is as good as none; where one cannot be written,
// the value is computed every time.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wide/data/file_stamp.h"

namespace wide::data {

class Note final {
 public:
  // `purpose` names what is computed from the files, with a version and everything else that it
  // depends on: "manifest 1 text context=128". An empty cache folder: there is none.
  Note(const std::filesystem::path& cache_folder, std::string_view purpose,
       std::span<const FileStamp> stamps);

  // No value is longer than `value_bytes_max`: what lies there may be anything.
  std::optional<std::vector<std::byte>> read(std::size_t value_bytes_max) const;
  void write(std::span<const std::byte> value) const;

 private:
  std::string key_;
  std::filesystem::path path_;  // empty: nothing is remembered
};

}  // namespace wide::data
