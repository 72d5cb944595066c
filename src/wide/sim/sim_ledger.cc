// How a simulated pool keeps its ledger, and comes back from it.

#include <fmt/format.h>

#include <algorithm>

#include "wide/sim/sim_pool.h"

namespace wide::sim {

namespace {

using namespace std::chrono_literals;

constexpr Duration kRetryEvery = 200ms;

bool is_damage(Errc code) {
  return code == Errc::kLogDamaged || code == Errc::kCheckpointDamaged ||
         code == Errc::kRunDiffers || code == Errc::kOtherFileVersion || code == Errc::kOtherJob;
}

// A disk that fails now may work the next time.
bool may_pass(Errc code) {
  return code == Errc::kCannotRead || code == Errc::kCannotWrite || code == Errc::kDiskFull ||
         code == Errc::kSyncFailed;
}

}  // namespace

// --- Coming up -----------------------------------------------------------------------------------

void SimPool::boot() {
  if (process_ || over_) return;
  ++life_;
  net_.set_dark(false);
  process_ = std::make_unique<Process>(plan_, reference_.genesis(), stage_.buffers);
  booting_ = true;
  if (!healed_ && plan_.mix.has(Fault::kPoolCrashInBoot) && stage_.dice.chance(0.3)) {
    disk_.crash_in(stage_.dice.within(1, 25));
  }
  act([this] { come_up(); });
}

void SimPool::come_up() {
  unreadable_ = stage_.faults.of(Fault::kReadError) + stage_.faults.of(Fault::kNameError);
  const std::uint64_t before = disk_.hash();
  const auto recovered = history::recover(disk_, process_->pool, stage_.buffers);
  if (disk_.hash() != before) stage_.broke("I10: recovering changed the disk");
  if (recovered) {
    stage_.tell("pool recovered {} steps, checkpoint {}", process_->pool.replica().step(),
                recovered->checkpoint ? fmt::to_string(recovered->checkpoint->step) : "none");
    for (const auto& warning : recovered->warnings) stage_.tell("  {}", warning);
    oracle_.recovered(process_->pool, *recovered, read_failed());
    go_on_from(*recovered);
  } else if (recovered.error().code == Errc::kRunMissing) {
    begin_anew();
  } else {
    refuse_to_start(recovered.error());
  }
  oracle_.resumed(process_->pool);
  ++counts_.recoveries;
  booting_ = false;
  busy_until_ = stage_.now() + disk_.take_span();
  net_.listen(this);
  settle();
}

void SimPool::begin_anew() {
  oracle_.found_nothing();
  auto keeper = history::Keeper::create(disk_, process_->pool.genesis(), process_->pool.layout(),
                                        plan_.keeper, stage_.now());
  if (!keeper) return refuse_to_start(keeper.error());
  process_->keeper.emplace(std::move(*keeper));
  process_->pool.resume(stage_.now(), process_->effects);
}

void SimPool::go_on_from(const history::Recovered& recovered) {
  // Checkpoints of what is cut off now must not come back.
  if (recovered.end.torn) disk_.give_up("checkpoints");
  if (stage_.dice.chance(0.3)) recover_once_more();
  auto keeper = history::Keeper::reopen(disk_, process_->pool.genesis(), process_->pool.layout(),
                                        plan_.keeper, recovered, stage_.now());
  if (!keeper) return refuse_to_start(keeper.error());
  process_->keeper.emplace(std::move(*keeper));
  process_->pool.resume(stage_.now(), process_->effects);
}

void SimPool::recover_once_more() {
  engine::Pool again(plan_.job, plan_.space, reference_.genesis(), plan_.pool, stage_.buffers);
  const auto recovered = history::recover(disk_, again, stage_.buffers);
  const bool rotten = disk_.rotten("ledger") || disk_.rotten("checkpoints");
  // Where something cannot be read this time, it may refuse, or come upon other damage.
  if (!recovered && (may_pass(recovered.error().code) || rotten || read_failed())) return;
  if (!recovered || fingerprint(again) != fingerprint(process_->pool)) {
    stage_.tell("{}\n{}", fingerprint(process_->pool),
                recovered ? fingerprint(again) : describe(recovered.error()));
    stage_.broke("I10: a second recovery came to something else");
  }
}

bool SimPool::read_failed() const {
  return stage_.faults.of(Fault::kReadError) + stage_.faults.of(Fault::kNameError) > unreadable_;
}

// Is it damaged beyond what it promises to cope with? One generation of three may rot.
bool SimPool::damage_is_excused(Errc code) {
  if (read_failed() || disk_.rotten("ledger")) return true;
  if (code != Errc::kCheckpointDamaged) return disk_.rotten("checkpoints") > 0;
  const auto generations = store::list_checkpoints(disk_);
  return !generations || generations->size() <= disk_.rotten("checkpoints");
}

// The operator looks at what it says, restores what is damaged, and tries again.
void SimPool::refuse_to_start(const Error& why) {
  stage_.tell("pool did not start: {}", describe(why));
  const bool excused =
      may_pass(why.code) ? !healed_ : is_damage(why.code) && damage_is_excused(why.code);
  if (!excused) stage_.broke("the pool did not come back: " + describe(why));
  if (is_damage(why.code)) disk_.restore();
  if (why.code == Errc::kSyncFailed) oracle_.failed_sync();
  throw ProcessEnd{};
}

// --- Records -------------------------------------------------------------------------------------

void SimPool::on(engine::Append& append) {
  process_->unwritten.push_back(std::move(append.record));
  if (process_->unwritten.size() == 1) try_to_write();
}

void SimPool::try_to_write() {
  while (!process_->unwritten.empty()) {
    const engine::LedgerRecord& record = process_->unwritten.front();
    oracle_.tries(record);
    const auto written = process_->keeper->append(record);
    if (!written && written.error().code == Errc::kSyncFailed) {
      oracle_.failed_sync();
      throw ProcessEnd{};
    }
    if (!written) {
      stage_.tell("pool could not write: {}", describe(written.error()));
      process_->pool.hold(describe(written.error()));
      if (std::exchange(process_->retries, true)) return;
      later(kRetryEvery, [this] {
        process_->retries = false;
        try_to_write();
        settle();
      });
      return;
    }
    const engine::LedgerRecord done = std::move(process_->unwritten.front());
    process_->unwritten.pop_front();
    wrote(done);
  }
}

void SimPool::wrote(const engine::LedgerRecord& record) {
  stage_.tell("pool wrote record {}", process_->keeper->log().position().sequence - 1);
  oracle_.wrote(record, *process_->keeper);
  if (!std::holds_alternative<engine::CommitRecord>(record)) return;
  process_->pool.appended(stage_.now(), process_->effects);
  look_after();
}

// --- Chores --------------------------------------------------------------------------------------

void SimPool::look_after() {
  history::Keeper& keeper = *process_->keeper;
  if (auto chore = keeper.sync_chore()) {
    process_->sync_chore = std::move(chore);
    later(stage_.dice.between(0ns, 3ms), [this] { run_chore(true); });
  }
  if (!keeper.slow_chore_due(stage_.now())) return;
  auto chore = keeper.slow_chore(process_->pool, stage_.now());
  if (!chore && chore.error().code == Errc::kSyncFailed) {
    oracle_.failed_sync();
    throw ProcessEnd{};
  }
  if (!chore || !*chore) return;
  process_->slow_chore = std::move(*chore);
  later(stage_.dice.between(0ns, 3ms), [this] { run_chore(false); });
}

void SimPool::run_chore(bool sync) {
  ChorePtr& chore = sync ? process_->sync_chore : process_->slow_chore;
  // Between one step of a checkpoint and the next is where a crash would hurt most.
  const bool crashes = plan_.mix.has(Fault::kPoolCrashInDisk) && stage_.dice.chance(0.06);
  if (!healed_ && crashes) disk_.crash_in(stage_.dice.within(1, 3));
  const auto outcome = chore->step();
  stage_.tell("  {}: {}", chore->name(),
              !outcome   ? describe(outcome.error())
              : *outcome ? "done"
                         : "one step");
  if (outcome && !*outcome) {
    later(disk_.take_span() + stage_.dice.between(0ns, 5ms), [this, sync] { run_chore(sync); });
    return;
  }
  if (!outcome && outcome.error().code == Errc::kSyncFailed) {
    oracle_.failed_sync();
    throw ProcessEnd{};
  }
  const bool checkpoint = chore->name() == std::string_view("checkpoint");
  process_->keeper->ended(std::move(chore), outcome, stage_.now());
  if (outcome && checkpoint) oracle_.checkpointed(process_->keeper->newest_checkpoint().value());
}

}  // namespace wide::sim
