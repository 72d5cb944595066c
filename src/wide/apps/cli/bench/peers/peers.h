#pragma once
// `wide bench peers`: the same model, samples and batch trained by us and by PyTorch's
// DistributedDataParallel over Gloo, over loopback and over slow cables.

#include "wide/apps/cli/bench/report.h"
#include "wide/apps/edge/environment.h"

namespace wide::apps::bench {

Report bench_peers(double seconds, const Environment& environment);

}  // namespace wide::apps::bench
