#pragma once
// One simulation from its first event to its last: a pool on its disk, a few nodes, the network
// between them, and whoever makes things go wrong.

#include <memory>
#include <vector>

#include "wide/sim/nemesis.h"
#include "wide/sim/oracle.h"
#include "wide/sim/sim_node.h"
#include "wide/sim/sim_pool.h"
#include "wide/sim/sim_run.h"

namespace wide::sim {

class World final {
 public:
  World(const SimPlan& plan, Reference& reference, const Teller& teller);

  SimReport run();

 private:
  bool goes_on();

  const SimPlan& plan_;
  Stage stage_;
  SimNet net_;
  SimDisk disk_;
  Oracle oracle_;
  SimPool pool_;
  DoubtedBlocks doubted_;
  std::vector<std::unique_ptr<SimNode>> nodes_;
  Nemesis nemesis_;
  std::uint64_t events_ = 0;
};

}  // namespace wide::sim
