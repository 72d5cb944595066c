#pragma once
// Brings a pool back: the newest checkpoint that is whole, then every record behind it. Changes
// nothing on the disk, so it may be cut off and begun again as often as one likes.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "wide/engine/pool/pool.h"
#include "wide/store/checkpoint.h"
#include "wide/store/disk.h"
#include "wide/store/ledger_log.h"

namespace wide::history {

struct Recovered {
  store::LogEnd end;
  std::optional<store::CheckpointFacts> checkpoint;  // none: from genesis
  std::uint64_t recalled_steps = 0;                  // commits read from the log
  std::uint64_t recalled_bytes = 0;                  // of their updates
  std::vector<std::string> warnings;                 // damaged generations, a torn tail: in words
};

// `pool` is new; afterwards it stands behind the last committed step, and wants resume(). Its
// genesis may be only named: then `make_genesis` is asked for the values, if no checkpoint is
// whole. Errors: kRunMissing, kOtherFileVersion, kOtherJob, kLogDamaged, kCheckpointDamaged (where
// the log alone cannot make up for it).
Result<Recovered> recover(store::Disk& disk, engine::Pool& pool, BufferPool& buffers,
                          const std::function<engine::Genesis()>& make_genesis = nullptr);

}  // namespace wide::history
