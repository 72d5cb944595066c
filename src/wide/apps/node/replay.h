#pragma once
// wide-node replay DIR --step T: one step of a run computed once more, and held against the ledger.

#include <string>
#include <vector>

#include "wide/apps/edge/environment.h"

namespace wide::apps {

int run_replay(const std::vector<std::string>& arguments, const Environment& environment);

}  // namespace wide::apps
