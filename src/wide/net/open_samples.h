#pragma once
// From what a job says of its samples to samples at hand.

#include <filesystem>

#include "wide/data/recipe.h"
#include "wide/engine/job.h"

namespace wide::net {

// The files of a job's samples on this machine.
struct SampleFiles {
  std::filesystem::path samples;  // fashion-mnist: a folder
  std::filesystem::path labels;
  std::filesystem::path eval_samples;
  std::filesystem::path eval_labels;
};

SampleFiles files_as_named(const engine::Job& job);
// Files of the same names in another folder (--data); of a job with one file, the file itself will
// do.
SampleFiles files_in(const std::filesystem::path& folder, const engine::Job& job);

// Synthetic samples come from the seed and have no recipe.
data::Recipe recipe_of(const engine::Job& job, const SampleFiles& files);

Result<data::DatasetPtr> open_samples(const engine::Job& job, const SampleFiles& files,
                                      const std::filesystem::path& cache_folder);

}  // namespace wide::net
