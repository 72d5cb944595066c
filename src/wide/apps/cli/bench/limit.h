#pragma once
// `wide bench limit`: what this machine could do with no network, no ledger and nobody to wait for.
// The denominators of every ratio.

#include "wide/apps/cli/bench/report.h"
#include "wide/apps/edge/environment.h"

namespace wide::apps::bench {

Report bench_limit(double seconds, const Environment& environment);

}  // namespace wide::apps::bench
