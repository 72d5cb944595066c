#pragma once
// Whole runs in virtual time: the real pool and nodes, their real bytes through real frames over a
// network that delays, chops, breaks and lies, the real ledger and checkpoints on a disk that
// forgets; processes that are stopped, killed and brought back. All of it drawn from one seed.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "wide/engine/pool/summary.h"
#include "wide/sim/sim_plan.h"
#include "wide/sim/sim_pool.h"

namespace wide::sim {

struct SimReport {
  std::uint64_t seed = 0;
  bool finished = false;
  engine::Summary summary;              // of the pool's last life
  std::vector<std::string> violations;  // broken promises, in words
  FaultCounts faults;
  Step steps = 0;
  std::uint64_t commits = 0;  // steps that a power cut made to be computed again count again
  PoolCounts pool;
  std::uint64_t events = 0;
  std::uint64_t saved_bytes = 0;  // by lossless codes that arrived
  Duration simulated{};
  std::uint64_t trace_hash = 0;  // of everything that anybody was told
};

// Who wants to hear what happens, line by line.
using Teller = std::function<void(const std::string&)>;

SimReport simulate(const SimPlan& plan, const Teller& teller = {});

// The plan of this seed, twice: a violation where the second run is not the first one again.
SimReport run_seed(std::uint64_t seed, const Teller& teller = {});

}  // namespace wide::sim
