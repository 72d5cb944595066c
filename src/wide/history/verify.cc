#include "wide/history/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "wide/engine/lead_replica.h"
#include "wide/history/past_json.h"

namespace wide::history {

namespace {

class Verifier final {
 public:
  Verifier(store::Disk& disk, const RunIdentity& identity, BufferPool& buffers)
      : disk_(disk),
        identity_(identity),
        buffers_(buffers),
        chain_(engine::chain_genesis(identity.job_id, identity.genesis_sha256)) {}

  Result<VerifyReport> run() {
    auto entries = store::list_checkpoints(disk_);
    if (!entries) return tl::unexpected(entries.error());
    entries_ = std::move(*entries);
    if (identity_.genesis) begin_at_genesis();

    store::LogQuestion question{.job_id = identity_.job_id, .from = {}, .synced_to = 0};
    for (const auto& entry : entries_) {
      if (entry.facts) question.synced_to = std::max(question.synced_to, entry.facts->synced_to);
    }
    const auto end = store::read_log(disk_, question,
                                     [this](const store::ReadRecord& read) { return visit(read); });
    if (!end) return tl::unexpected(end.error());
    finish(*end);
    return std::move(report_);
  }

 private:
  void begin_at_genesis() {
    if (identity_.genesis->sha256() != identity_.genesis_sha256) {
      problem("the genesis weights are not those that the run began with");
      return;
    }
    replica_.emplace(identity_.job, *identity_.genesis, chain_, buffers_);
    report_.replayed_from = 0;
  }

  Result<void> visit(const store::ReadRecord& read) {
    where_ = fmt::format("record {}", read.header.sequence);
    auto record =
        engine::decode_record(read.header.type, read.body, read.bulk, read.header.bulk_bytes);
    if (!record) return tl::unexpected(record.error());
    ++report_.records;
    std::visit([this](auto& body) { check(body); }, *record);
    return {};
  }

  void check(const engine::GenesisRecord& genesis) {
    if (report_.records != 1) problem("a second genesis record");
    if (genesis.job_id != identity_.job_id) problem("the genesis record is of another job");
    if (genesis.genesis_sha256 != identity_.genesis_sha256) {
      problem("the genesis record names other weights than genesis.json");
    }
  }

  void check(const engine::CommitRecord& commit) {
    where_ = fmt::format("step {}", commit.step);
    auto& past = report_.past;
    if (commit.step != past.steps) problem(fmt::format("comes after step {}", past.steps));
    if (commit.chain_before != chain_) problem("does not follow from the step before");
    if (past.stopped) problem("comes after the end of the run");
    check_rows(commit);
    check_update(commit);
    chain_ = commit.chain_after;
    past.add(commit, identity_.job);
    report_.rows += commit.rows.size();
    check_checkpoint(past.steps);
  }

  void check(const engine::EvalRecord& eval) {
    if (eval.step != report_.past.steps) problem("an evaluation of another step");
    report_.past.eval = eval;
  }

  void check(const engine::StopRecord& stop) {
    if (stop.step != report_.past.steps) problem("a stop at another step");
    report_.past.stopped = true;
  }

  void check_rows(const engine::CommitRecord& commit) {
    if (!engine::covers_every_block(commit, identity_.job.blocks_per_step())) {
      problem("does not have every block exactly once");
    }
    std::set<NodeId> nodes;
    std::uint64_t units = 0;
    for (const auto& contributor : commit.contributors) {
      nodes.insert(contributor.node);
      units += contributor.units;
    }
    const bool known = std::ranges::all_of(
        commit.rows, [&](const engine::LedgerRow& row) { return nodes.contains(row.node); });
    if (!known) problem("has a block from a node that took no part in it");
    if (units != identity_.job.train.units_per_step) problem("does not count every unit once");
  }

  void check_update(const engine::CommitRecord& commit) {
    if (commit.update.empty()) {  // pruned: the next checkpoint takes it up again
      replica_.reset();
      report_.replayed_from.reset();
      return;
    }
    ++report_.updates_kept;
    const auto& plan = identity_.job.codec;
    if (!engine::may_use(plan.gradient, commit.gradient_codec) ||
        !engine::may_use(plan.update, commit.update_codec)) {
      problem("it is coded as the job does not allow");
      replica_.reset();
      return;
    }
    // A lossy update can be made again only where what earlier ones lost is known.
    if (plan.update == engine::LossyPlan::kNone) {
      const auto chain = engine::chain_next(chain_, commit.step, commit.scalars, commit.update);
      if (chain != commit.chain_after) problem("its update is not the one that nodes were told of");
    }
    if (replica_ && !replica_->advance(commit)) {
      problem("its update does not fit the replica");
      replica_.reset();
    }
  }

  void check_checkpoint(Step step) {
    for (const auto& entry : entries_) {
      if (entry.step == step) take_up(entry);
    }
  }

  void take_up(const store::CheckpointEntry& entry) {
    CheckpointReport report;
    report.step = entry.step;
    if (auto good = compare(entry, report); !good) {
      report.problem = describe(good.error());
      report_.problems.push_back(fmt::format("checkpoint {}: {}", entry.step, report.problem));
    }
    report_.checkpoints.push_back(std::move(report));
  }

  Result<void> compare(const store::CheckpointEntry& entry, CheckpointReport& report) {
    if (!entry.facts) return tl::unexpected(entry.facts.error());
    report.state_hash = entry.facts->state_hash;
    if (entry.facts->job_id != identity_.job_id) return fail(Errc::kOtherJob, "of another job");
    if (entry.facts->chain != chain_) {
      return fail(Errc::kRunDiffers, "it is not of the step that the ledger has");
    }
    auto arrays = store::read_checkpoint(disk_, entry, buffers_);
    if (!arrays) return tl::unexpected(arrays.error());
    if (store::state_hash_of(*entry.facts, *arrays) != entry.facts->state_hash) {
      return fail(Errc::kCheckpointDamaged, "its arrays have another hash");
    }
    if (auto past = parse_past(entry.facts->past); !past) return tl::unexpected(past.error());
    if (replica_) {
      report.compared = true;
      if (replica_->replica().state_hash() == entry.facts->state_hash) return {};
      return fail(Errc::kRunDiffers, "it differs from what the ledger's updates give");
    }
    begin_at(entry, std::move(*arrays));
    return {};
  }

  void begin_at(const store::CheckpointEntry& entry, store::CheckpointArrays arrays) {
    replica_.emplace(identity_.job, engine::Genesis{.layout = identity_.layout}, 0, buffers_);
    const bool fits = replica_->thaw({entry.step, entry.facts->chain, std::move(arrays.weights),
                                      std::move(arrays.optimizer), std::move(arrays.memory)});
    if (!fits) {
      replica_.reset();
      problem("the checkpoint is of another shape than the job");
      return;
    }
    report_.replayed_from = entry.step;
  }

  void finish(const store::LogEnd& end) {
    report_.torn = end.torn;
    if (auto segments = store::log_segments(disk_)) report_.segments = segments->size();
    where_ = "the log";
    for (const auto& entry : entries_) {
      if (entry.step > report_.past.steps) {
        problem(fmt::format("ends at step {}, before the checkpoint of step {}", report_.past.steps,
                            entry.step));
      }
    }
    if (replica_) report_.replica = replica_->freeze();
  }

  void problem(const std::string& what) {
    report_.problems.push_back(fmt::format("{} {}", where_, what));
  }

  store::Disk& disk_;
  const RunIdentity& identity_;
  BufferPool& buffers_;
  std::vector<store::CheckpointEntry> entries_;
  std::uint64_t chain_;
  std::optional<engine::LeadReplica> replica_;
  std::string where_;
  VerifyReport report_;
};

}  // namespace

Result<VerifyReport> verify(store::Disk& disk, const RunIdentity& identity, BufferPool& buffers) {
  return Verifier(disk, identity, buffers).run();
}

}  // namespace wide::history
