#pragma once
// `wide bench codec`: every codec on floats of real training, and the goals of the codec room.

#include "wide/apps/cli/bench/report.h"
#include "wide/apps/edge/environment.h"

namespace wide::apps::bench {

// Takes about `seconds`, mostly for training; with very few of them the floats are made up.
Report bench_codecs(double seconds, const Environment& environment);

}  // namespace wide::apps::bench
