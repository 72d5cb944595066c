#pragma once
// For whole-run tests: nodes and pools of a run are killed at random moments, and replaced.

#include <random>
#include <set>

#include "fleet.h"

namespace wide::tests {

struct Mayhem final {
  Mayhem(LongRun& which, Nodes& its_nodes, unsigned seed)
      : run(which), nodes(its_nodes), dice(seed) {}

  // Four nodes to a pool, where both may be killed; after a while of up to a tenth of a second.
  void strike(bool kill_nodes, bool kill_pools) {
    nodes.fill_up(8);
    const Seconds moment((dice() % 100) * 1e-3);
    ASSERT_EQ(run.pool().wait(moment), -1) << "it ended by itself: " << run.pool().err();
    if (kill_pools && (!kill_nodes || dice() % 5 == 0)) {
      if (const auto step = run.resumed_at()) resumed_at.insert(step);
      run.kill();
      run.open();
      ++pool_kills;
    } else {
      nodes.kill_any(dice);
      ++node_kills;
    }
  }

  LongRun& run;
  Nodes& nodes;
  std::mt19937 dice;
  int node_kills = 0;
  int pool_kills = 0;
  std::set<std::uint64_t> resumed_at;  // steps
};

}  // namespace wide::tests
