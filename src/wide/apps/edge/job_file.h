#pragma once
// A job as it lies on disk.

#include <string>

#include "wide/engine/job.h"

namespace wide::apps {

// Reads and parses a job file. Throws Failure with file and line.
engine::Job read_job_file(const std::string& file);

}  // namespace wide::apps
