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

// As numpy.save writes it, version 1.0: the header padded so that values begin on 64 bytes.
inline std::string npy_text(const std::string& descr, const std::string& shape,
                            const std::string& values) {
  auto header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  const auto size = header.size();
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(size & 0xff);
  text += static_cast<char>(size >> 8 & 0xff);
  return text + header + values;
}

// The bytes of numbers, as they lie in memory and in a little-endian file.
template <class T>
std::string raw_text(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
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
