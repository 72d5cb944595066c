#include "wide/history/keeper.h"

#include <algorithm>
#include <utility>

#include "wide/history/past_json.h"

namespace wide::history {

namespace {

// A sync on the other thread is begun so long before as much is missing as may be, that append()
// seldom has to wait for one.
constexpr std::uint64_t kSyncLagFirst = kUnsyncedMax / 4;
constexpr std::uint64_t kSyncLagMost = kUnsyncedMax / 2;
constexpr std::uint64_t kUnsyncedBytes = 1u << 20;
// Room is zeros that are written, too: it must serve many syncs, and never be much beside a record.
constexpr std::uint64_t kRecordsInRoom = 64;
constexpr int kRestTimes = 2;

std::vector<store::TensorPlace> places_of(const engine::Layout& layout) {
  std::vector<store::TensorPlace> places;
  for (const auto& tensor : layout.tensors) {
    places.push_back({tensor.name, tensor.shape, tensor.offset, tensor.size});
  }
  return places;
}

}  // namespace

class Keeper::SyncChore final : public Chore {
 public:
  explicit SyncChore(store::LedgerLog::Ticket ticket) : ticket_(std::move(ticket)) {}

  Result<bool> step() override {
    const auto synced = ticket_.sync();
    if (!synced) return tl::unexpected(synced.error());
    return true;
  }
  const char* name() const override { return "sync"; }
  std::uint64_t sequence() const { return ticket_.sequence; }

 private:
  store::LedgerLog::Ticket ticket_;
};

class Keeper::CheckpointChore final : public Chore {
 public:
  CheckpointChore(store::Disk& disk, store::NewCheckpoint checkpoint,
                  store::LedgerLog::Ticket ticket)
      : ticket_(std::move(ticket)), writer_(disk, std::move(checkpoint)) {}

  // No checkpoint stands before the records that it stands behind.
  Result<bool> step() override {
    if (!ticket_.file) return writer_.step();
    const auto synced = ticket_.sync();
    if (!synced) return tl::unexpected(synced.error());
    ticket_.file.reset();
    return false;
  }
  const char* name() const override { return "checkpoint"; }
  const store::CheckpointFacts& facts() const { return writer_.facts(); }

 private:
  store::LedgerLog::Ticket ticket_;
  store::CheckpointWriter writer_;
};

class Keeper::PruneChore final : public Chore {
 public:
  PruneChore(store::Disk& disk, const Digest& job_id, std::vector<std::uint64_t> segments,
             std::uint64_t end)
      : disk_(disk), job_id_(job_id), segments_(std::move(segments)), end_(end) {}

  Result<bool> step() override {
    if (next_ < segments_.size()) {
      const auto saved = store::take_bulks_out(disk_, job_id_, segments_[next_]);
      if (!saved) return tl::unexpected(saved.error());
      ++next_;
    }
    return next_ == segments_.size();
  }
  const char* name() const override { return "prune"; }
  std::uint64_t end() const { return end_; }

 private:
  store::Disk& disk_;
  Digest job_id_;
  std::vector<std::uint64_t> segments_;
  std::uint64_t end_;
  std::size_t next_ = 0;
};

KeeperOptions KeeperOptions::for_replica(engine::Exact exact, std::uint64_t state_bytes) {
  KeeperOptions options;
  options.exact = exact;
  options.grown_bytes = std::max(options.grown_bytes, 2 * state_bytes);
  return options;
}

Keeper::Keeper(store::Disk& disk, const Digest& job_id, const engine::Layout& layout,
               KeeperOptions options, store::LedgerLog log, Time now)
    : disk_(&disk),
      job_id_(job_id),
      places_(places_of(layout)),
      options_(options),
      log_(std::move(log)),
      sync_lag_(kSyncLagFirst),
      begun_at_(now),
      rest_until_(now + options.pause_least) {}

Result<Keeper> Keeper::create(store::Disk& disk, const engine::GenesisRecord& genesis,
                              const engine::Layout& layout, KeeperOptions options, Time now) {
  auto log = store::LedgerLog::create(disk, genesis.job_id);
  if (!log) return tl::unexpected(log.error());
  Keeper keeper(disk, genesis.job_id, layout, options, std::move(*log), now);
  if (auto first = keeper.append_first(genesis); !first) return tl::unexpected(first.error());
  return keeper;
}

Result<Keeper> Keeper::reopen(store::Disk& disk, const engine::GenesisRecord& genesis,
                              const engine::Layout& layout, KeeperOptions options,
                              const Recovered& recovered, Time now) {
  auto log = store::LedgerLog::open(disk, genesis.job_id, recovered.end);
  if (!log) return tl::unexpected(log.error());
  Keeper keeper(disk, genesis.job_id, layout, options, std::move(*log), now);
  if (auto clean = store::remove_rubbish(disk); !clean) return tl::unexpected(clean.error());
  auto entries = store::list_checkpoints(disk);
  if (!entries) return tl::unexpected(entries.error());
  for (auto entry = entries->rbegin(); entry != entries->rend(); ++entry) {
    if (entry->facts) keeper.standing_.push_back(*entry->facts);
  }
  keeper.grown_bytes_ = recovered.recalled_bytes;
  keeper.rest_until_ = now;  // who is killed again and again must not have more to read each time
  // Killed before its first record was whole: as if it had never begun.
  if (recovered.end.position.sequence == 0) {
    if (auto first = keeper.append_first(genesis); !first) return tl::unexpected(first.error());
  }
  return keeper;
}

Result<void> Keeper::append_first(const engine::GenesisRecord& genesis) {
  if (auto written = append(genesis); !written) return written;
  grown_bytes_ = 0;
  return sync();
}

Result<void> Keeper::append(const engine::LedgerRecord& record) {
  const auto body = engine::encode_body(record);
  const auto bulk = engine::bulk_of(record);
  const std::uint64_t bytes = store::kRecordHeaderBytes + body.size() + bulk.size();
  const store::LogPosition before = log_.position();
  make_room_for(bytes);
  auto written = log_.append(engine::record_type(record), body, bulk);
  if (!written) return written;
  if (const auto* commit = std::get_if<engine::CommitRecord>(&record)) {
    positions_.emplace_back(commit->step, before);
    if (positions_.size() > engine::kDelayMax) positions_.pop_front();
  }
  grown_bytes_ += bytes;
  unsynced_bytes_ += bytes;
  const bool each = options_.exact == engine::Exact::kLedger;
  return each || log_.unsynced_count() >= kUnsyncedMax ? sync() : Result<void>();
}

void Keeper::make_room_for(std::uint64_t bytes) {
  if (bytes <= log_.room_bytes() || bytes * kRecordsInRoom > options_.room_bytes) return;
  log_.make_room(options_.room_bytes);
}

Result<void> Keeper::close() {
  (void)log_.give_room_back();  // zeros at the very end do no harm
  return sync();
}

Result<void> Keeper::sync() {
  auto synced = log_.sync();
  if (synced) unsynced_bytes_ = 0;
  return synced;
}

std::unique_ptr<Chore> Keeper::sync_chore() {
  const bool enough = log_.unsynced_count() + sync_lag_ >= kUnsyncedMax;
  if (sync_out_ || !(enough || unsynced_bytes_ > kUnsyncedBytes)) return nullptr;
  sync_out_ = true;
  unsynced_bytes_ = 0;
  return std::make_unique<SyncChore>(log_.sync_ticket());
}

bool Keeper::checkpoint_due(Time now) const {
  if (slow_out_ || grown_bytes_ == 0) return false;
  if (now < rest_until_) return false;
  return grown_bytes_ >= options_.grown_bytes || now - begun_at_ >= options_.pause_most;
}

bool Keeper::prune_due() const {
  return !slow_out_ && standing_.size() >= store::kGenerations &&
         standing_.front().log.segment > pruned_to_;
}

Result<std::unique_ptr<Chore>> Keeper::slow_chore(const engine::Pool& pool, Time now) {
  if (checkpoint_due(now)) {
    begun_at_ = now;
    return checkpoint_chore(pool);
  }
  if (prune_due()) return prune_chore();
  return nullptr;
}

Result<std::unique_ptr<Chore>> Keeper::checkpoint_chore(const engine::Pool& pool) {
  const engine::Footprint print = pool.footprint();
  const engine::FrozenReplica& frozen = print.replica;
  const bool present = frozen.step == pool.replica().step();
  const auto behind =
      std::ranges::find(positions_, frozen.step, [](const auto& entry) { return entry.first; });
  // Where the log goes on from there was read, not written, here: a few steps later it will do.
  if (!present && behind == positions_.end()) return nullptr;

  // A new segment needs what is before it on the disk. Where that is much, the next one will do.
  if (log_.segment_bytes() > options_.segment_bytes && unsynced_bytes_ <= kUnsyncedBytes) {
    if (auto begun = log_.begin_segment(); !begun) return tl::unexpected(begun.error());
    unsynced_bytes_ = 0;
  }
  store::NewCheckpoint checkpoint;
  checkpoint.facts.job_id = job_id_;
  checkpoint.facts.step = frozen.step;
  checkpoint.facts.chain = frozen.chain;
  checkpoint.facts.log = present ? log_.position() : behind->second;
  checkpoint.facts.synced_to = log_.position().sequence;
  checkpoint.facts.past = past_json(print.past);
  checkpoint.arrays = {frozen.values, frozen.optimizer, frozen.memory};
  checkpoint.places = places_;
  slow_out_ = true;
  grown_bytes_ = 0;
  return std::make_unique<CheckpointChore>(*disk_, std::move(checkpoint), log_.sync_ticket());
}

// Whole segments before the oldest checkpoint.
Result<std::unique_ptr<Chore>> Keeper::prune_chore() {
  auto segments = store::log_segments(*disk_);
  if (!segments) return tl::unexpected(segments.error());
  const std::uint64_t end = standing_.front().log.segment;
  std::erase_if(*segments, [&](std::uint64_t first) { return first < pruned_to_ || first >= end; });
  slow_out_ = true;
  return std::make_unique<PruneChore>(*disk_, job_id_, std::move(*segments), end);
}

void Keeper::ended(std::unique_ptr<Chore> chore, const Result<bool>& outcome, Time now) {
  if (const auto* sync_done = dynamic_cast<SyncChore*>(chore.get())) {
    sync_out_ = false;
    if (outcome) log_.synced(sync_done->sequence());
    const std::uint64_t came = log_.position().sequence - sync_done->sequence();
    sync_lag_ = std::clamp(came + 1, sync_lag_ - 1, kSyncLagMost);
    return;
  }
  slow_out_ = false;
  if (const auto* pruned = dynamic_cast<PruneChore*>(chore.get())) {
    if (outcome) pruned_to_ = pruned->end();
    return;
  }
  rest_until_ = now + std::max(options_.pause_least, kRestTimes * (now - begun_at_));
  if (!outcome) {
    grown_bytes_ += options_.grown_bytes;  // still due, after the rest
    return;
  }
  const auto& facts = dynamic_cast<CheckpointChore&>(*chore).facts();
  std::erase_if(standing_, [&](const auto& older) { return older.step == facts.step; });
  standing_.push_back(facts);
  if (standing_.size() > store::kGenerations) standing_.erase(standing_.begin());
}

std::optional<Step> Keeper::newest_checkpoint() const {
  return standing_.empty() ? std::nullopt : std::optional(standing_.back().step);
}

}  // namespace wide::history
