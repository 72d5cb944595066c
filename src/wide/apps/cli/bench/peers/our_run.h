#pragma once
// Our side of a comparison: a real pool and real nodes, in their own processes, with a ledger.
//
// Losses and times are those of the ledger. The speed is counted from the step by which every node
// had given something; what a step costs is taken from the middle of the run.

#include <cstdint>
#include <string>

#include "wide/apps/cli/bench/peers/outcome.h"
#include "wide/apps/cli/bench/peers/shaped_net.h"
#include "wide/apps/cli/bench/peers/shared_task.h"

namespace wide::apps::bench {

struct OurSetting {
  std::uint32_t nodes = 2;
  std::string codec;  // the lines of that section of the job; empty: nothing lossy
  double seconds = 1;
};

// `wide train --nodes N`. Failure: what went wrong.
Outcome train_on_loopback(const SharedTask& task, const OurSetting& setting,
                          const Environment& environment);

// `wide pool` on machine 0 of the net, `wide join` on each of the next ones.
Outcome train_on_net(const SharedTask& task, const OurSetting& setting, const ShapedNet& net,
                     const Environment& environment);

// Of the run in this folder, all that its ledger tells: steps, speed, losses.
Outcome outcome_of_run(const std::string& run);

}  // namespace wide::apps::bench
