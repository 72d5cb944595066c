#include "wide/apps/cli/open_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "wide/apps/cli/run_record.h"
#include "wide/base/log.h"
#include "wide/history/recovery.h"
#include "wide/history/run_identity.h"
#include "wide/net/steady.h"

namespace wide::apps {

namespace {

using net::steady_now;

history::KeeperOptions keeper_options(const engine::Pool& pool, const RunFlags& flags) {
  const auto state_bytes = engine::state_count(pool.job(), pool.layout()) * sizeof(float);
  auto options = history::KeeperOptions::for_replica(pool.job().train.exact, state_bytes);
  if (!flags.checkpoint_seconds) return options;
  if (!(*flags.checkpoint_seconds > 0)) {
    throw Failure(Errc::kUsage, "--checkpoint-seconds must be above 0");
  }
  options.pause_most = std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(std::min(*flags.checkpoint_seconds, 86400.0)));
  options.pause_least = std::min(options.pause_least, options.pause_most);
  return options;
}

bool ledger_begun(store::Disk& disk) {
  const auto segments = store::log_segments(disk);
  if (!segments && segments.error().code != Errc::kRunMissing) throw Failure(segments.error());
  return segments && !segments->empty();
}

engine::Genesis genesis_of(const PoolParts& parts) {
  return parts.genesis ? *parts.genesis : engine::make_genesis(parts.job, parts.space);
}

[[noreturn]] void refuse_other_job(const store::RunFolder& folder, const Error& error) {
  const std::string path = folder.path().string();
  throw Failure(Errc::kRunDiffers,
                fmt::format("{} holds a run of another job: {}. A job never changes: give the file "
                            "and the flags that the run was begun with; its job is in {}/job.toml",
                            path, error.detail, path));
}

bool has_checkpoint(store::Disk& disk) {
  const auto checkpoints = store::list_checkpoints(disk);
  return checkpoints && !checkpoints->empty();
}

OpenLedger resume(const PoolParts& parts, const RunFlags& flags, engine::Pool& pool,
                  const store::RunFolder& folder, store::Disk& disk, BufferPool& buffers) {
  const auto recovered =
      history::recover(disk, pool, buffers, [&parts] { return genesis_of(parts); });
  if (!recovered && recovered.error().code == Errc::kOtherJob) {
    refuse_other_job(folder, recovered.error());
  }
  if (!recovered) throw Failure(recovered.error());
  for (const auto& warning : recovered->warnings) log::info("warning: {}", warning);
  OpenLedger open;
  open.resumed = true;
  open.keeper = std::make_unique<history::Keeper>(value_or_throw(history::Keeper::reopen(
      disk, pool.genesis(), pool.layout(), keeper_options(pool, flags), *recovered, steady_now())));
  log::info("resumed at step {} ({})", pool.replica().step(),
            recovered->checkpoint
                ? fmt::format("checkpoint {} and {} steps from the ledger",
                              recovered->checkpoint->step, recovered->recalled_steps)
                : fmt::format("{} steps from the ledger", recovered->recalled_steps));
  return open;
}

}  // namespace

std::unique_ptr<engine::Pool> make_pool(const PoolParts& parts, const RunFlags& flags,
                                        store::Disk& disk, BufferPool& buffers) {
  engine::Genesis genesis;
  if (flags.resume && has_checkpoint(disk)) {
    genesis.layout =
        parts.genesis ? parts.genesis->layout : engine::make_layout(parts.job.model, parts.space);
    genesis.named = value_or_throw(history::read_genesis_sha256(disk));
  } else {
    genesis = genesis_of(parts);
  }
  return std::make_unique<engine::Pool>(parts.job, parts.space, genesis, parts.options, buffers);
}

// The ledger is made last: a run without one has not begun, and --resume begins it.
OpenLedger open_ledger(const PoolParts& parts, const RunFlags& flags, engine::Pool& pool,
                       const store::RunFolder& folder, store::Disk& disk, BufferPool& buffers) {
  if (flags.resume && ledger_begun(disk)) {
    return resume(parts, flags, pool, folder, disk, buffers);
  }
  OpenLedger open;
  const auto options = keeper_options(pool, flags);
  record_start(folder, pool, parts.space);
  open.keeper = std::make_unique<history::Keeper>(value_or_throw(
      history::Keeper::create(disk, pool.genesis(), pool.layout(), options, steady_now())));
  return open;
}

}  // namespace wide::apps
