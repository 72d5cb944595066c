#pragma once
// `wide bench seed`: the experiment of 2024 on this system, beside what that one published, and
// what each technique of its history buys here.
//
// Every run is a `wide train` with a ledger. A figure counts only where the loss fell and where one
// node alone ends with the same hash; what does not is an error, not a row.

#include "wide/apps/cli/bench/report.h"
#include "wide/apps/edge/environment.h"

namespace wide::apps::bench {

// `seconds`: of the long run; the others are shorter.
Report bench_seed(double seconds, const Environment& environment);

}  // namespace wide::apps::bench
