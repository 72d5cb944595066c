#pragma once
// `wide bench limit`: what this machine could do with no network, no ledger and nobody to wait for.
// The yardsticks; what a ratio divides by is measured again in the same run.

#include "wide/apps/cli/bench/report.h"
#include "wide/apps/edge/environment.h"

namespace wide::apps::bench {

Report bench_limit(double seconds, const Environment& environment);

}  // namespace wide::apps::bench
