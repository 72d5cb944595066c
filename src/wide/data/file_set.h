#pragma once
// The files of a recipe, opened and found to fit one another, and what their headers alone say of
// the samples: everything of a manifest but what takes reading them through.

#include <array>
#include <filesystem>
#include <optional>
#include <vector>

#include "wide/base/error.h"
#include "wide/data/array_file.h"
#include "wide/data/manifest.h"
#include "wide/data/recipe.h"

namespace wide::data {

struct FileSet {
  std::array<std::optional<ArrayFile>, 4> files;  // by PartPlace

  std::vector<FileStamp> stamps() const;  // of the mapped files, in that order
  Result<void> unchanged() const;
};

// kOutOfRange for a recipe that nobody could open; kSamplesMissing, kSamplesCorrupt, kCannotWrite.
Result<FileSet> open_file_set(const Recipe& recipe, const std::filesystem::path& cache_folder);

// No chunks yet, and class_count only where it is known. kSamplesCorrupt names the file that does
// not fit; kTooFewSamples.
Result<Manifest> survey(const Recipe& recipe, const FileSet& set);

}  // namespace wide::data
