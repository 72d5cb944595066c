#pragma once
// From what a job says of its samples to samples at hand.

#include <filesystem>

#include "wide/data/dataset.h"
#include "wide/engine/job.h"

namespace wide::net {

// `folder` (a node's --data) wins over the job's own path where it is not empty.
Result<data::DatasetPtr> open_samples(const engine::Job& job, const std::filesystem::path& folder,
                                      const std::filesystem::path& cache_folder);

}  // namespace wide::net
