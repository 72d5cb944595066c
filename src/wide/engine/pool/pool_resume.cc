// How a run comes back: the pool at its last checkpoint, then every record behind it.

#include <fmt/format.h>

#include "wide/base/check.h"
#include "wide/engine/pool/pool_run.h"

namespace wide::engine {

namespace {

Duration duration_of(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

GenesisRecord Pool::Run::genesis() const {
  GenesisRecord record;
  record.job_id = job_id_;
  record.samples_sha256 = space_.sha256;
  record.model_sha256 = job_.model.sha256;
  record.genesis_sha256 = genesis_sha256_;
  record.parameter_count = layout_.parameter_count;
  record.buffer_count = layout_.buffer_count;
  record.program_version = WIDE_VERSION;
  return record;
}

bool Pool::Run::stand_at(const Genesis& genesis) {
  if (genesis.sha256() != genesis_sha256_ || genesis.values.size() != layout_.value_count()) {
    return false;
  }
  const LeadReplica first(job_, genesis, chain_genesis(job_id_, genesis_sha256_), buffers_);
  return restore(first.freeze(), Past());
}

bool Pool::Run::restore(const FrozenReplica& replica, Past past) {
  if (past.steps != replica.step || !lead_.thaw(replica)) return false;
  trail_.clear();
  past_ = std::move(past);
  stands_ = true;
  return true;
}

bool Pool::Run::recall(const LedgerRecord& record) {
  if (!stands_) return false;
  if (const auto* genesis_found = std::get_if<GenesisRecord>(&record)) {
    return past_.steps == 0 && genesis_found->job_id == job_id_ &&
           genesis_found->genesis_sha256 == genesis_sha256_;
  }
  if (const auto* eval = std::get_if<EvalRecord>(&record)) {
    if (eval->step == replica_.step()) past_.eval = *eval;
    return eval->step == replica_.step();
  }
  if (const auto* stop = std::get_if<StopRecord>(&record)) {
    past_.stopped = true;
    return stop->step == replica_.step();
  }
  const auto& commit = std::get<CommitRecord>(record);
  const bool fits = !past_.stopped && commit.step == replica_.step() &&
                    covers_every_block(commit, job_.blocks_per_step()) &&
                    commit.update.size() == layout_.value_count() &&
                    may_use(job_.codec.gradient, commit.gradient_codec) &&
                    may_use(job_.codec.update, commit.update_codec);
  return fits && apply_commit(commit, lead_.code(commit));
}

Footprint Pool::Run::footprint() const {
  if (trail_.empty() || ended()) return {lead_.freeze(), past_};
  return trail_.front();
}

bool Pool::Run::reaches_back() const {
  return ended() || replica_.weights_at(job_.base_of(replica_.step())) != nullptr;
}

void Pool::Run::resume() {
  WIDE_CHECK(stands_);
  busy_ = duration_of(past_.seconds);
  next_node_ = past_.node_last + 1;
  classes_ = past_.classes;
  if (!classes_.empty()) pinned_class_ = *classes_.begin();
  for (const auto& [name, node] : past_.nodes) roster_.remember(name, node);
  ++totals_.resumed;
  rounds_.clear();
  note(Note::Weight::kNormal, "run resumed", fmt::format("step={}", replica_.step()));
  go_on();
}

}  // namespace wide::engine
