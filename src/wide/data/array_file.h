#pragma once
// One file of samples or targets, whatever its format: a box of elements, mapped.
//
//   idx, idx.gz     bytes, up to eight extents           npy      five types, any extents
//   text, text.gz   bytes, one extent                    tokens   16-bit numbers, one extent

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "wide/base/error.h"
#include "wide/data/part.h"
#include "wide/data/plain_file.h"
#include "wide/data/recipe.h"

namespace wide::data {

struct ArrayFile {
  PlainFile file;
  ElementType type = ElementType::kU8;
  std::vector<std::uint64_t> extents;  // never empty; the last is innermost
  std::uint64_t begin_bytes = 0;       // of the first element, in the file

  std::uint64_t count() const { return extents.front(); }
  std::span<const std::uint64_t> inner() const { return std::span(extents).subspan(1); }
  // Of the file, what belongs to the array.
  std::span<const std::byte> read(std::uint64_t begin, std::uint64_t bytes) const {
    return file.mapped.read(begin_bytes + begin, bytes);
  }
};

// "28 × 28"
std::string extents_text(std::span<const std::uint64_t> extents);

// kSamplesMissing, kSamplesCorrupt, kCannotWrite, as recipe.h has them.
Result<ArrayFile> open_array(Format format, const std::filesystem::path& path,
                             const std::filesystem::path& cache_folder);

}  // namespace wide::data
