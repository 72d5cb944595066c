#pragma once
// What is wrong with the values of a job, named by key, so that a reader of files can add the line.
//
// Inside the job's own files only.

#include <optional>
#include <string>

#include "wide/engine/job.h"

namespace wide::engine {

struct Violation {
  Errc code = Errc::kOutOfRange;
  std::string key;   // "train.lr"
  std::string text;  // "[train] lr must be …, not nan"
};

// The first one found, in the order of the sections.
std::optional<Violation> find_violation(const Job& job);

}  // namespace wide::engine
