#pragma once
// What each technique that the system of 2024 was built up with buys today: the same run with it,
// in turns with the same run without.

#include <string>
#include <vector>

#include "wide/apps/cli/bench/report.h"
#include "wide/apps/edge/environment.h"

namespace wide::apps::bench {

struct Techniques {
  std::vector<Row> rows;
  std::string table;
};

// `seconds`: of each run.
Techniques measure_techniques(double seconds, const Environment& environment);

}  // namespace wide::apps::bench
