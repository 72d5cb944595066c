#pragma once
// Does a run folder hold what it claims? Reads the whole log and every checkpoint, changes nothing,
// needs no samples and no libtorch.
//
//   chain     every record names the one before, every step follows from the one before
//   blocks    every block of every step is there, once, with a hash and a node that took part
//   updates   those that are kept give the chain that nodes were told
//   replica   from genesis, or from the oldest checkpoint on, every update is applied again; the
//             result must be what each later checkpoint holds

#include <optional>
#include <string>
#include <vector>

#include "wide/engine/past.h"
#include "wide/engine/replica.h"
#include "wide/history/run_identity.h"
#include "wide/store/checkpoint.h"
#include "wide/store/ledger_log.h"

namespace wide::history {

struct CheckpointReport {
  Step step = 0;
  Digest state_hash;
  bool compared = false;  // with a replica that every update was applied to
  std::string problem;    // empty: good
};

struct VerifyReport {
  std::uint64_t records = 0;
  std::uint64_t segments = 0;
  std::uint64_t rows = 0;  // blocks, each once
  engine::Past past;       // steps, units, nodes, classes …
  std::uint64_t updates_kept = 0;
  std::vector<CheckpointReport> checkpoints;     // oldest first
  std::optional<Step> replayed_from;             // the replica below: from this step on
  std::optional<engine::FrozenReplica> replica;  // at the last step
  std::optional<store::TornTail> torn;
  std::vector<std::string> problems;  // each names its place; empty: the run is what it claims
};

// Errors as read_log has them; everything else that is wrong is a problem in the report.
Result<VerifyReport> verify(store::Disk& disk, const RunIdentity& identity, BufferPool& buffers);

}  // namespace wide::history
