#pragma once
// A job's TorchScript file, seen by a pool that has no libtorch: `wide-node describe` reads it.

#include "wide/apps/cli/pool_run.h"

namespace wide::apps {

// The same request, for a TorchScript job with the file's hash and genesis filled in, and with one
// process per slot where the model draws random numbers. Throws Failure: kModelMissing,
// kModelDiffers where the job names another hash, kModelUnfit, kNodeProgramMissing.
RunRequest with_script(RunRequest request, const Environment& environment);

}  // namespace wide::apps
