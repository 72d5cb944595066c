#include "wide/sim/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "wide/base/bytes.h"
#include "wide/history/past_json.h"
#include "wide/history/verify.h"

namespace wide::sim {

namespace {

constexpr std::uint64_t kUnsyncedMost = 16;  // as promised, whatever the keeper's own bound is

// The replica that a packet is about: no node may hear of it before its steps are safe.
std::optional<Step> told_step(const wire::Packet& packet) {
  const auto number_at = [&](std::size_t offset_bytes) {
    ByteReader reader(std::span(packet.head).subspan(offset_bytes));
    return reader.get<std::uint64_t>();
  };
  switch (packet.kind) {
    case wire::Kind::kUpdate:
      return number_at(0) + 1;
    case wire::Kind::kSnapshot:
      return number_at(0);
    case wire::Kind::kLease:
      return number_at(16);
    case wire::Kind::kEvalLease:
      return number_at(8);
    default:
      return std::nullopt;
  }
}

bool finite(const engine::CommitRecord& record) {
  const auto is_finite = [](float value) { return std::isfinite(value); };
  return std::isfinite(record.loss) && std::ranges::all_of(record.update.values, is_finite);
}

bool same_rows(const engine::CommitRecord& record, const std::vector<Digest>& rows) {
  return std::ranges::equal(record.rows, rows, {}, &engine::LedgerRow::sha256);
}

// Results that say something else than was computed.
std::uint64_t lies(const FaultCounts& faults) {
  return faults.of(Fault::kWrongStep) + faults.of(Fault::kWrongBlock) +
         faults.of(Fault::kWrongCount) + faults.of(Fault::kWrongChain);
}

}  // namespace

void Oracle::require(bool holds, const char* promise, const std::string& what) {
  if (!holds) stage_.broke(fmt::format("{}: {}", promise, what));
}

// --- While it runs -------------------------------------------------------------------------------

void Oracle::tries(const engine::LedgerRecord& record) {
  const auto* commit = std::get_if<engine::CommitRecord>(&record);
  if (commit == nullptr) return;
  require(commit->step == steps_, "I2",
          fmt::format("step {} was committed behind {} steps", commit->step, steps_));
  check_commit(*commit, "a commit");
  for (const auto& contributor : commit->contributors) {
    require(contributor.node.value > node_floor_, "I3",
            fmt::format("node {} has the number of another", contributor.name));
  }
  require(finite(*commit), "I7", fmt::format("step {} is not finite", commit->step));
  tried_steps_ = commit->step + 1;
}

void Oracle::wrote(const engine::LedgerRecord& record, const history::Keeper& keeper) {
  if (const auto* eval = std::get_if<engine::EvalRecord>(&record)) check_eval(*eval, "a record");
  if (std::holds_alternative<engine::CommitRecord>(record)) {
    least_steps_ = ++steps_;
    ++commit_count_;
    stage_.trace(0xc0, steps_);
  }
  if (plan_.job.train.exact != engine::Exact::kLedger) return;
  require(disk_.survives(store::segment_name(keeper.log().position().segment)), "I5",
          fmt::format("a record behind step {} would not survive a power cut", steps_));
}

void Oracle::sends(const wire::Packet& packet) {
  const auto told = told_step(packet);
  require(!told || *told <= steps_, "I5",
          fmt::format("a node was told of step {}, only {} are written", told.value_or(0), steps_));
}

void Oracle::looks(const engine::Pool& pool, const history::Keeper& keeper) {
  require(pool.replica().step() == steps_, "I5",
          fmt::format("the pool is at step {}, {} are written", pool.replica().step(), steps_));
  const std::uint64_t unsynced = keeper.log().unsynced_count();
  require(unsynced <= kUnsyncedMost, "I1", fmt::format("{} records wait for a sync", unsynced));
  firm_steps_ = steps_ - std::min<std::uint64_t>(steps_, unsynced);
}

void Oracle::takes_no_commit(const engine::Effects& effects) {
  const bool commits = std::ranges::any_of(effects, [](const engine::Effect& effect) {
    return std::holds_alternative<engine::Append>(effect);
  });
  require(!commits, "I6", "a result of another step completed this one");
}

void Oracle::recovered(const engine::Pool& pool, const history::Recovered& recovered,
                       bool disk_was_unreadable) {
  const Step step = pool.replica().step();
  // Rot in what was written last cannot be told from a write that was cut off.
  if (recovered.end.torn && disk_.rotten("ledger")) least_steps_ = std::min(least_steps_, step);
  require(
      step >= least_steps_, "I1",
      fmt::format("{} of {} committed steps are left, {} had to be", step, steps_, least_steps_));
  require(step <= std::max(steps_, tried_steps_), "I1",
          fmt::format("{} steps were recovered, {} had been written", step, steps_));
  require(pool.replica().chain() == reference_.chain_at(step), "I4",
          fmt::format("the recovered chain of step {} is another", step));
  require(pool.replica().state_hash() == reference_.state_at(step), "I4",
          fmt::format("the recovered state of step {} is another", step));
  require(pool.past().steps == step, "I1", "the past has other steps than the replica");
  // What has no manifest is no checkpoint; what has one is whole, and stays.
  const std::size_t torn_warnings = recovered.end.torn ? 1 : 0;
  if (!disk_.rotten("checkpoints") && !disk_was_unreadable) {
    require(recovered.warnings.size() <= torn_warnings, "I1",
            recovered.warnings.empty() ? "" : recovered.warnings.front());
    const Step found = recovered.checkpoint ? recovered.checkpoint->step : 0;
    require(found >= checkpointed_, "I1",
            fmt::format("the checkpoint of step {} is gone", checkpointed_));
  }
  stage_.trace(0x4ec, step);
}

void Oracle::found_nothing() {
  require(least_steps_ == 0, "I1",
          fmt::format("the run is missing, and it had {} steps", least_steps_));
}

void Oracle::resumed(const engine::Pool& pool) {
  // Written, though the pool did not live to know it.
  if (pool.replica().step() > steps_) commit_count_ += pool.replica().step() - steps_;
  steps_ = tried_steps_ = least_steps_ = pool.replica().step();
  firm_steps_ = std::min(firm_steps_, steps_);
  node_floor_ = pool.past().node_last;
  checkpointed_ = std::min(checkpointed_, steps_);
}

// --- Records -------------------------------------------------------------------------------------

void Oracle::check_commit(const engine::CommitRecord& record, const char* where) {
  const auto& expected = reference_.step(record.step);
  const std::string what = fmt::format("{} of step {}", where, record.step);
  require(engine::covers_every_block(record, plan_.job.blocks_per_step()), "I3",
          what + " does not have every block once");
  require(same_rows(record, expected.rows), "I4", what + " has other block hashes");
  require(record.chain_before == expected.chain_before &&
              record.chain_after == expected.chain_after && record.scalars == expected.scalars &&
              record.loss == expected.loss,
          "I4", what + " has other figures");
  require(record.update.empty() || xxh3(record.update.bytes()) == expected.update_xxh3, "I4",
          what + " has another update");
  std::uint64_t units = 0;
  for (const auto& contributor : record.contributors) units += contributor.units;
  require(units == plan_.job.train.units_per_step, "I3",
          fmt::format("{} was contributed to with {} units", what, units));
}

void Oracle::check_eval(const engine::EvalRecord& record, const char* where) {
  const auto expected = reference_.eval_at(record.step);
  require(record.loss == expected.loss && record.accuracy == expected.accuracy, "I4",
          fmt::format("{} of the evaluation at step {} is another", where, record.step));
}

// --- The end -------------------------------------------------------------------------------------

void Oracle::ended(const engine::Pool& pool) {
  const engine::Summary summary = pool.summary();
  const std::uint64_t planned = plan_.job.step_count(plan_.space.train_count);
  require(planned == 0 || summary.steps == planned, "I2",
          fmt::format("the run ended at step {} of {}", summary.steps, planned));
  require(summary.steps == steps_, "I1",
          fmt::format("{} steps are counted, {} are written", summary.steps, steps_));
  require(summary.state_hash == reference_.state_at(steps_), "I4", "the last state is another");
  require(summary.units == steps_ * plan_.job.train.units_per_step, "I3",
          fmt::format("{} units are counted in {} steps", summary.units, steps_));
  require(summary.audits_different <= lies(stage_.faults), "I4", "a late result was another");
  require(summary.resyncs <= stage_.faults.of(Fault::kLostReplica), "I4",
          fmt::format("{} replicas had lost their way", summary.resyncs));
  require(summary.recomputed_different == 0, "I4", "a step that nodes had seen came out another");
  if (plan_.space.eval_count > 0) {
    const auto eval = reference_.eval_at(steps_);
    require(summary.eval_loss == eval.loss && summary.accuracy == eval.accuracy, "I4",
            "the last evaluation is another");
  }
  check_log();
  check_folder();
}

// As `wide verify` would.
void Oracle::check_folder() {
  history::RunIdentity identity;
  identity.job = plan_.job;
  identity.job_id = engine::job_id(plan_.job, plan_.space.sha256);
  identity.genesis_sha256 = reference_.genesis().sha256();
  identity.layout = reference_.genesis().layout;
  identity.space = plan_.space;
  identity.genesis = reference_.genesis();
  const auto report = history::verify(disk_, identity, stage_.buffers);
  require(report.has_value(), "I1", report ? "" : "verify: " + describe(report.error()));
  if (!report) return;
  for (const auto& problem : report->problems) {
    const bool rot = problem.starts_with("checkpoint") && disk_.rotten("checkpoints");
    require(rot, "I1", "verify: " + problem);
  }
  if (!report->checkpoints.empty() && disk_.rotten("checkpoints") == 0) {
    // A generation that could not be read when older updates were pruned was none then.
    const auto kept = std::min(report->checkpoints.size(), store::kGenerations);
    const Step oldest = (report->checkpoints.end() - static_cast<std::ptrdiff_t>(kept))->step;
    require(report->replayed_from && *report->replayed_from <= oldest, "I1",
            fmt::format("the updates behind step {} are not all there", oldest));
  }
  for (const auto& checkpoint : report->checkpoints) {
    const bool good = checkpoint.problem.empty();
    require(!good || checkpoint.state_hash == reference_.state_at(checkpoint.step), "I4",
            fmt::format("the checkpoint of step {} has another state", checkpoint.step));
  }
}

void Oracle::check_log() {
  Step commits = 0;
  const auto visit = [&](const store::ReadRecord& read) -> Result<void> {
    auto record =
        engine::decode_record(read.header.type, read.body, read.bulk, read.header.bulk_bytes);
    if (!record) return fail(record.error().code, record.error().detail);
    const bool first = std::holds_alternative<engine::GenesisRecord>(*record);
    require(first == (read.header.sequence == 0), "I1", "genesis is not the first record");
    if (const auto* commit = std::get_if<engine::CommitRecord>(&*record)) {
      require(commit->step == commits++, "I2", fmt::format("the log jumps to {}", commit->step));
      check_commit(*commit, "the log's record");
    }
    if (const auto* eval = std::get_if<engine::EvalRecord>(&*record)) {
      require(eval->step == commits, "I2", "an evaluation stands in the wrong place");
      check_eval(*eval, "the log's record");
    }
    return {};
  };
  store::LogQuestion question;
  question.job_id = engine::job_id(plan_.job, plan_.space.sha256);
  const auto end = store::read_log(disk_, question, visit);
  require(end.has_value(), "I1", end ? "" : "the log: " + describe(end.error()));
  require(commits == steps_, "I1", fmt::format("the log has {} of {} steps", commits, steps_));
}

std::string fingerprint(const engine::Pool& pool) {
  return pool.replica().state_hash().hex() + history::past_json(pool.past());
}

}  // namespace wide::sim
