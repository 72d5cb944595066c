#include "wide/sim/tally.h"

#include <fmt/format.h>

#include <utility>

namespace wide::sim {

void SimTally::add(SimReport report) {
  ++seeds;
  runs += 2;
  steps += report.steps;
  commits += report.commits;
  events += report.events;
  faults.add(report.faults);
  pool.crashes += report.pool.crashes;
  pool.power_cuts += report.pool.power_cuts;
  pool.recoveries += report.pool.recoveries;
  simulated += report.simulated;
  saved_bytes += report.saved_bytes;
  if (!report.violations.empty()) broken.push_back(std::move(report));
}

std::string repeat_line(std::uint64_t seed) {
  return fmt::format("wide sim --seeds {}..{}", seed, seed);
}

}  // namespace wide::sim
