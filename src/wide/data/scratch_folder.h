#pragma once
// For tests: an empty folder of one's own, gone at the end, and files made in it.

#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "wide/base/check.h"

namespace wide::data {

class ScratchFolder final {
 public:
  ScratchFolder() {
    auto name = (std::filesystem::temp_directory_path() / "wide-test-XXXXXX").string();
    WIDE_CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string read_whole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string idx_text(const std::vector<std::uint32_t>& extents, const std::string& values) {
  std::string text = {0, 0, 8, static_cast<char>(extents.size())};
  for (const auto extent : extents) {
    for (const int shift : {24, 16, 8, 0}) text += static_cast<char>(extent >> shift & 0xff);
  }
  return text + values;
}

// zlib's own writer of gzip files is the other side of what gunzip.h reads.
inline void write_gzip(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  const auto file = ::gzopen(path.c_str(), "wb6");
  WIDE_CHECK(file != nullptr);
  if (!text.empty()) {
    const auto size = static_cast<unsigned>(text.size());
    WIDE_CHECK(::gzwrite(file, text.data(), size) == static_cast<int>(size));
  }
  WIDE_CHECK(::gzclose(file) == Z_OK);
}

}  // namespace wide::data
