#pragma once
// What has happened, kept: the ledger log and the checkpoints of one run on one disk, and the rules
// that say when what is written, synced, checkpointed and pruned.
//
// No threads and no clock: the driver decides where slow work runs. append() is quick (the kernel's
// memory) but for the syncs that the job demands; everything else is a chore, cut into steps, that
// may run on another thread while append() goes on.
//
//   exact = "ledger"   every record is on the disk before append() returns
//   exact = "bits"     at most 16 steps are not: after a power cut they are computed again, to the
//                      same bits

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "wide/base/clock.h"
#include "wide/engine/layout.h"
#include "wide/engine/ledger.h"
#include "wide/engine/past.h"
#include "wide/engine/replica.h"
#include "wide/history/recovery.h"
#include "wide/store/checkpoint.h"
#include "wide/store/ledger_log.h"

namespace wide::history {

inline constexpr std::uint64_t kUnsyncedMax = 16;

struct KeeperOptions {
  engine::Exact exact = engine::Exact::kLedger;
  // A checkpoint is due once the log has grown by so much since the last one (that is what a pool
  // has to apply again when it comes back), or by anything in so much time. Never sooner after the
  // last one than `pause_least` or than four times what that one took: writing them is a fifth of
  // one thread at the most.
  std::uint64_t grown_bytes =
      64u << 20;  // for_replica() makes it twice the replica, if that is more
  Duration pause_least = std::chrono::seconds(1);
  Duration pause_most = std::chrono::seconds(60);
  std::uint64_t segment_bytes = 64u << 10;  // a checkpoint begins a new segment past this size
  std::uint64_t room_bytes = 256u << 10;    // made in the log at once, for many small records

  static KeeperOptions for_replica(engine::Exact exact, std::uint64_t state_bytes);
};

// Slow work on the disk, cut into steps. Runs on one thread at a time, any thread.
class Chore {
 public:
  virtual ~Chore() = default;
  virtual Result<bool> step() = 0;       // true: done. After an error it is not stepped again
  virtual const char* name() const = 0;  // "sync", "checkpoint", "prune"
};

class Keeper final {
 public:
  // A new run: makes the log and writes its genesis record, synced.
  static Result<Keeper> create(store::Disk& disk, const engine::GenesisRecord& genesis,
                               const engine::Layout& layout, KeeperOptions options, Time now);
  // One that recover() has read: its torn tail is cut, rubbish removed.
  static Result<Keeper> reopen(store::Disk& disk, const engine::GenesisRecord& genesis,
                               const engine::Layout& layout, KeeperOptions options,
                               const Recovered& recovered, Time now);

  // Written, and synced where it must be. kDiskFull, kCannotWrite: nothing happened, try again
  // later. kSyncFailed: end the process.
  Result<void> append(const engine::LedgerRecord& record);

  // Everything is on the disk, and no more will follow.
  Result<void> close();

  // The next thing to do beside training, or null. One chore is out at a time for each of the two
  // kinds: syncs go before all else and may run while a checkpoint is half done. Ask at a step
  // boundary: `pool` stands right behind the last record.
  std::unique_ptr<Chore> sync_chore();
  Result<std::unique_ptr<Chore>> slow_chore(const engine::Pool& pool, Time now);
  bool slow_chore_due(Time now) const { return checkpoint_due(now) || prune_due(); }

  // How a chore ended; hand it back on the thread that appends. An error other than kSyncFailed: it
  // will be due again later.
  void ended(std::unique_ptr<Chore> chore, const Result<bool>& outcome, Time now);

  const store::LedgerLog& log() const { return log_; }
  std::optional<Step> newest_checkpoint() const;

 private:
  class SyncChore;
  class CheckpointChore;
  class PruneChore;

  Keeper(store::Disk& disk, const Digest& job_id, const engine::Layout& layout,
         KeeperOptions options, store::LedgerLog log, Time now);

  Result<void> append_first(const engine::GenesisRecord& genesis);
  void make_room_for(std::uint64_t bytes);
  Result<void> sync();
  bool checkpoint_due(Time now) const;
  bool prune_due() const;
  Result<std::unique_ptr<Chore>> checkpoint_chore(const engine::Pool& pool);
  Result<std::unique_ptr<Chore>> prune_chore();

  store::Disk* disk_;
  Digest job_id_;
  std::vector<store::TensorPlace> places_;
  KeeperOptions options_;
  store::LedgerLog log_;
  bool sync_out_ = false;
  bool slow_out_ = false;
  std::uint64_t unsynced_bytes_ = 0;
  std::uint64_t sync_lag_;         // records that came while the disk was waited for, of late
  std::uint64_t grown_bytes_ = 0;  // since the last checkpoint
  std::deque<std::pair<Step, store::LogPosition>> positions_;  // of the last commits
  Time begun_at_;                                              // the last checkpoint, or the run
  Time rest_until_;                                            // no checkpoint before this
  std::vector<store::CheckpointFacts> standing_;               // oldest first
  std::uint64_t pruned_to_ = 0;  // no bulks are left before this record
};

}  // namespace wide::history
