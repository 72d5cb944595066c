#pragma once
// How many parameters a built-in model has, before anything is laid out or allocated.
//
// Inside the job's own files only.

#include "wide/engine/job.h"

namespace wide::engine {

// In double: a misfit by far must not wrap around to a small count. Of an empty space: what the
// model has whatever its samples are. A TorchScript model's parameters are its file's own: 0.
double parameter_count(const Model& model, const SampleSpace& space);

}  // namespace wide::engine
