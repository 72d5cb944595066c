#pragma once
// One step computed once more, alone, and held against the ledger: every block's hash, and the
// update that everyone applied.
//
// The replica before the step comes from the nearest checkpoint and the updates behind it, or from
// genesis and all updates. Where neither reaches, because updates are pruned, every step from
// genesis on is computed again: slow, and said so.

#include <functional>
#include <string>
#include <vector>

#include "wide/base/buffer.h"
#include "wide/engine/unit_computer.h"
#include "wide/history/run_identity.h"
#include "wide/store/disk.h"

namespace wide::history {

struct ReplayedBlock {
  Block block = 0;
  std::string node;  // who had computed it
  Digest ledger;
  Digest here;
  Digest class_hash;  // of that node

  bool equal() const { return ledger == here; }
};

struct ReplayReport {
  Step step = 0;
  Step replica_from = 0;               // the checkpoint, or 0: genesis
  std::uint64_t updates_applied = 0;   // from the ledger, to get to the step
  std::uint64_t steps_recomputed = 0;  // for want of updates, before the step itself
  std::vector<ReplayedBlock> blocks;
  bool update_equal = false;  // the step's sum, scalars and chain
  Digest class_here;

  bool equal() const;
  bool other_class()
      const;  // some block was computed in another numerics class than this machine's
};

struct ReplayTools {
  engine::UnitComputer& computer;
  Digest class_here;
  std::function<void(Step step)>
      recomputing;  // told before each step that is computed for its update
};

// kRunDiffers: the ledger has no such step.
Result<ReplayReport> replay(store::Disk& disk, const RunIdentity& identity, Step step,
                            const ReplayTools& tools, BufferPool& buffers);

}  // namespace wide::history
