#pragma once
// Many simulations, summed up.

#include <cstdint>
#include <string>
#include <vector>

#include "wide/sim/sim_run.h"

namespace wide::sim {

struct SimTally {
  std::uint64_t seeds = 0;
  std::uint64_t runs = 0;  // two of each seed
  std::uint64_t steps = 0;
  std::uint64_t commits = 0;
  std::uint64_t events = 0;
  FaultCounts faults;
  PoolCounts pool;
  std::uint64_t saved_bytes = 0;
  Duration simulated{};  // of the first run of each seed
  std::vector<SimReport> broken;

  void add(SimReport report);

  std::uint64_t node_crashes() const {
    return faults.of(Fault::kNodeKill) + faults.of(Fault::kNodeVanish);
  }
};

// "wide sim --seeds 17..17": the line that repeats it.
std::string repeat_line(std::uint64_t seed);

}  // namespace wide::sim
