#include "wide/history/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "wide/engine/lead_replica.h"
#include "wide/engine/lease_work.h"
#include "wide/engine/ledger.h"
#include "wide/engine/strategy/step_round.h"
#include "wide/store/checkpoint.h"
#include "wide/store/ledger_log.h"

namespace wide::history {

namespace {

class Replayer final {
 public:
  Replayer(store::Disk& disk, const RunIdentity& identity, Step step, const ReplayTools& tools,
           BufferPool& buffers)
      : disk_(disk),
        identity_(identity),
        tools_(tools),
        buffers_(buffers),
        genesis_chain_(engine::chain_genesis(identity.job_id, identity.genesis_sha256)) {
    report_.step = step;
    report_.class_here = tools.class_here;
  }

  Result<ReplayReport> run() {
    auto from = begin();
    if (!from) return tl::unexpected(from.error());
    const store::LogQuestion question{.job_id = identity_.job_id, .from = *from, .synced_to = 0};
    const auto end = store::read_log(disk_, question,
                                     [this](const store::ReadRecord& read) { return visit(read); });
    if (!end && end.error().code != Errc::kInterrupted) return tl::unexpected(end.error());
    if (!done_) {
      return fail(Errc::kRunDiffers, replica_->step() == 0
                                         ? std::string("the ledger has no step yet")
                                         : fmt::format("the ledger has no step {}: its last is {}",
                                                       report_.step, replica_->step() - 1));
    }
    return std::move(report_);
  }

 private:
  // The nearest checkpoint that is whole, at or before what the step is computed on; or genesis.
  Result<store::LogPosition> begin() {
    auto entries = store::list_checkpoints(disk_);
    if (!entries) return tl::unexpected(entries.error());
    for (const auto& entry : *entries) {
      if (!entry.facts || entry.step > identity_.job.base_of(report_.step) ||
          entry.facts->job_id != identity_.job_id) {
        continue;
      }
      if (thaw(entry)) return entry.facts->log;
    }
    if (!identity_.genesis) {
      return fail(Errc::kModelMissing,
                  "no checkpoint reaches this step, and the values of the TorchScript file at its "
                  "beginning are not here");
    }
    replica_.emplace(identity_.job, *identity_.genesis, genesis_chain_, buffers_);
    return store::LogPosition{};
  }

  bool thaw(const store::CheckpointEntry& entry) {
    auto arrays = store::read_checkpoint(disk_, entry, buffers_);
    if (!arrays) return false;
    if (store::state_hash_of(*entry.facts, *arrays) != entry.facts->state_hash) return false;
    replica_.emplace(identity_.job, engine::Genesis{.layout = identity_.layout}, 0, buffers_);
    report_.replica_from = entry.step;
    return replica_->thaw({entry.step, entry.facts->chain, std::move(arrays->weights),
                           std::move(arrays->optimizer), std::move(arrays->memory)});
  }

  // kInterrupted ends the reading once the step is done: nothing behind it matters.
  Result<void> visit(const store::ReadRecord& read) {
    auto record =
        engine::decode_record(read.header.type, read.body, read.bulk, read.header.bulk_bytes);
    if (!record) return tl::unexpected(record.error());
    const auto* commit = std::get_if<engine::CommitRecord>(&*record);
    if (commit == nullptr) return {};
    if (commit->step != replica_->step() || commit->chain_before != replica_->chain()) {
      return fail(Errc::kRunDiffers,
                  fmt::format("step {} does not follow from what is before it", commit->step));
    }
    if (commit->step < report_.step) return advance(*commit);
    const auto here = compute(*commit);
    if (!here) return tl::unexpected(here.error());
    compare(*commit, *here);
    done_ = true;
    return fail(Errc::kInterrupted, "done");
  }

  Result<void> advance(const engine::CommitRecord& commit) {
    if (!commit.update.empty()) {
      ++report_.updates_applied;
      return apply(commit);
    }
    tools_.recomputing(commit.step);
    ++report_.steps_recomputed;
    const auto here = compute(commit);
    return here ? apply(*here) : Result<void>(tl::unexpect, here.error());
  }

  Result<void> apply(const engine::CommitRecord& commit) {
    if (replica_->advance(commit)) return {};
    return fail(Errc::kRunDiffers, fmt::format("the update of step {} does not fit", commit.step));
  }

  // The whole step as one lease, through the same tree as in a pool.
  Result<engine::CommitRecord> compute(const engine::CommitRecord& ledger) {
    const engine::Job& job = identity_.job;
    const Step step = ledger.step;
    const engine::Weights base = replica_->replica().weights_at(job.base_of(step));
    if (base == nullptr) {
      return fail(Errc::kRunDiffers, fmt::format("the weights that step {} was computed on are "
                                                 "further back than what is left of its past",
                                                 step));
    }
    const engine::Subtree all{0, job.blocks_per_step()};
    const wire::Lease lease{LeaseId{1}, step,      base->step,           base->chain,
                            all.first,  all.count, ledger.gradient_codec};
    auto outcome =
        engine::compute_lease(tools_.computer, job, identity_.layout, base, lease, buffers_);
    engine::StepRound round(job, identity_.layout, step, base->chain,
                            static_cast<codec::Lossy>(ledger.gradient_codec), 0, buffers_);
    round.board().take(all);
    round.offer(all, NodeId{}, tools_.class_here, std::move(outcome));
    engine::CommitRecord record = round.close();
    record.update_codec = ledger.update_codec;
    replica_->begin(record, job.step_count(identity_.space.train_count));
    replica_->finish(record, replica_->code(record));
    return record;
  }

  void compare(const engine::CommitRecord& ledger, const engine::CommitRecord& here) {
    std::map<NodeId, const engine::Contributor*> nodes;
    for (const auto& contributor : ledger.contributors) nodes[contributor.node] = &contributor;
    for (std::size_t i = 0; i < ledger.rows.size() && i < here.rows.size(); ++i) {
      const auto& row = ledger.rows[i];
      const auto* who = nodes[row.node];
      report_.blocks.push_back({row.block, who != nullptr ? who->name : "", row.sha256,
                                here.rows[i].sha256, who != nullptr ? who->class_hash : Digest{}});
    }
    report_.update_equal = here.chain_after == ledger.chain_after;
  }

  store::Disk& disk_;
  const RunIdentity& identity_;
  const ReplayTools& tools_;
  BufferPool& buffers_;
  std::uint64_t genesis_chain_;
  std::optional<engine::LeadReplica> replica_;
  ReplayReport report_;
  bool done_ = false;
};

}  // namespace

bool ReplayReport::equal() const {
  return update_equal && !blocks.empty() &&
         std::ranges::all_of(blocks, [](const ReplayedBlock& block) { return block.equal(); });
}

bool ReplayReport::other_class() const {
  return std::ranges::any_of(
      blocks, [this](const ReplayedBlock& block) { return block.class_hash != class_here; });
}

Result<ReplayReport> replay(store::Disk& disk, const RunIdentity& identity, Step step,
                            const ReplayTools& tools, BufferPool& buffers) {
  return Replayer(disk, identity, step, tools, buffers).run();
}

}  // namespace wide::history
