#pragma once
// A pool and its ledger, begun in a new run folder or brought back from one that was left. In two
// steps, so that nodes can dial while the second one reads: they wait at the door.

#include <memory>

#include "wide/apps/cli/run_flags.h"
#include "wide/base/buffer.h"
#include "wide/engine/pool/pool.h"
#include "wide/history/keeper.h"
#include "wide/store/disk.h"
#include "wide/store/run_folder.h"

namespace wide::apps {

// What a pool is made of; genesis only where a TorchScript file gave it.
struct PoolParts {
  engine::Job job;
  SampleSpace space;
  std::optional<engine::Genesis> genesis;
  engine::PoolOptions options;
};

// Nothing is read or written but what tells whether there is a checkpoint: then genesis is only
// named, and its values are made if they are needed after all. (That saves a tenth of a second for
// every ten million of them, when a pool comes back.)
std::unique_ptr<engine::Pool> make_pool(const PoolParts& parts, const RunFlags& flags,
                                        store::Disk& disk, BufferPool& buffers);

struct OpenLedger {
  std::unique_ptr<history::Keeper> keeper;
  bool resumed = false;
};

// With --resume, where the folder's ledger has been begun, the pool is brought to the last
// committed step. Else job.toml and genesis.json are written, and a new ledger. Throws Failure
// (kRunDiffers for a run of another job, kLogDamaged, kCheckpointDamaged, kCannotWrite …); says
// what it found.
OpenLedger open_ledger(const PoolParts& parts, const RunFlags& flags, engine::Pool& pool,
                       const store::RunFolder& folder, store::Disk& disk, BufferPool& buffers);

}  // namespace wide::apps
