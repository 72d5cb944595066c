#pragma once
// The same summary for people: facts, then a table of nodes, then the line that two runs are
// compared by.

#include <string>

#include "wide/apps/cli/summary_json.h"

namespace wide::apps {

std::string summary_table(const RunFacts& facts);

}  // namespace wide::apps
