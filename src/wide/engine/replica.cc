#include "wide/engine/replica.h"

#include <algorithm>
#include <utility>

#include "wide/base/bytes.h"
#include "wide/base/check.h"

namespace wide::engine {

namespace {

void add_position(Sha256& hash, Step step, std::uint64_t chain) {
  hash.update(std::as_bytes(std::span(&step, 1))).update(std::as_bytes(std::span(&chain, 1)));
}

Digest snapshot_hash(const wire::Snapshot& snapshot) {
  Sha256 hash;
  add_position(hash, snapshot.step, snapshot.chain);
  return hash.update(snapshot.state.bytes()).finish();
}

}  // namespace

Replica::Replica(const Job& job, const Genesis& genesis, std::uint64_t genesis_chain)
    : train_(job.train),
      takes_changes_(job.sends_changes()),
      parameter_count_(genesis.layout.parameter_count),
      value_count_(genesis.layout.value_count()),
      versions_((4 + job.delay) * value_count_ * sizeof(float) + 4096),
      moments_((2 + job.delay) * moments_count(job, genesis.layout) * sizeof(float) + 4096),
      optimizer_state_(take_floats(moments_, moments_count(job, genesis.layout))),
      earlier_max_(job.delay) {
  std::ranges::fill(optimizer_state_.values, 0.0f);
  WIDE_CHECK(genesis.values.size() == value_count_ || genesis.values.empty());
  auto first = next_version();
  first->chain = genesis_chain;
  std::ranges::copy(genesis.values, first->values.values.begin());
  weights_ = std::move(first);
}

std::shared_ptr<WeightsVersion> Replica::next_version() {
  auto version = std::make_shared<WeightsVersion>();
  version->values = take_floats(versions_, value_count_);
  return version;
}

// Where the next update writes the optimiser's state: here, or beside what somebody holds.
Floats Replica::next_moments() {
  const bool held = optimizer_state_.owner.use_count() > 1;
  return held ? moments_beside() : optimizer_state_;
}

bool Replica::apply(const StepUpdate& update) {
  if (update.step != step() || update.values.size() != value_count_) return false;
  const auto chain_after = chain_next(chain(), update.step, update.scalars, update.values);
  if (chain_after != update.chain_after) return false;

  if (!foreseen_.empty() && foreseen_.front().weights->chain != chain_after) foreseen_.clear();
  if (!foreseen_.empty()) return has_come(update.step, chain_after);
  move_on(next_by(update, weights_, optimizer_state_, next_moments()));
  return true;
}

bool Replica::has_come(Step step, std::uint64_t chain_after) {
  if (step != this->step() || foreseen_.empty()) return false;
  if (foreseen_.front().weights->chain != chain_after) return false;
  move_on(std::move(foreseen_.front()));
  foreseen_.pop_front();
  return true;
}

Weights Replica::foresee(const StepUpdate& update) {
  WIDE_CHECK(update.step == foremost()->step && update.values.size() == value_count_);
  const Floats& moments = foreseen_.empty() ? optimizer_state_ : foreseen_.back().moments;
  foreseen_.push_back(next_by(update, foremost(), moments, moments_beside()));
  return foreseen_.back().weights;
}

// `next_moments`: where the optimiser's state goes.
Replica::Next Replica::next_by(const StepUpdate& update, const Weights& before,
                               const Floats& moments, Floats next_moments) {
  auto next = next_version();
  next->step = update.step + 1;
  next->chain = update.chain_after;
  const std::span<const float> changes = update.values.values;
  const std::span<const float> from = before->values.values;
  const std::span<float> to = next->values.values;
  if (takes_changes_) {
    for (std::size_t i = 0; i < parameter_count_; ++i) to[i] = from[i] + changes[i];
  } else {
    apply_update(train_, update.scalars, changes.first(parameter_count_),
                 from.first(parameter_count_), to.first(parameter_count_),
                 MomentsChange(moments.values, next_moments.values));
  }
  std::ranges::copy(changes.subspan(parameter_count_), to.subspan(parameter_count_).begin());
  return {std::move(next), std::move(next_moments)};
}

void Replica::move_on(Next next) {
  optimizer_state_ = std::move(next.moments);
  earlier_.push_front(std::exchange(weights_, std::move(next.weights)));
  if (earlier_.size() > earlier_max_) earlier_.pop_back();
}

Weights Replica::weights_at(Step step) const {
  if (step == weights_->step) return weights_;
  const auto found =
      std::ranges::find_if(earlier_, [&](const Weights& weights) { return weights->step == step; });
  return found == earlier_.end() ? nullptr : *found;
}

Weights Replica::foreseen_at(Step step) const {
  const auto found =
      std::ranges::find_if(foreseen_, [&](const Next& next) { return next.weights->step == step; });
  return found == foreseen_.end() ? weights_at(step) : found->weights;
}

bool Replica::restore(const wire::Snapshot& snapshot) {
  if (snapshot.state.size() != value_count_ + optimizer_state_.size()) return false;
  if (snapshot_hash(snapshot) != snapshot.state_hash) return false;

  auto next = next_version();
  next->step = snapshot.step;
  next->chain = snapshot.chain;
  const std::span<const float> state = snapshot.state.values;
  std::ranges::copy(state.first(value_count_), next->values.values.begin());
  Floats moments = next_moments();
  std::ranges::copy(state.subspan(value_count_), moments.values.begin());
  optimizer_state_ = std::move(moments);
  weights_ = std::move(next);
  earlier_.clear();
  foreseen_.clear();
  return true;
}

wire::Snapshot snapshot_of(const FrozenReplica& replica, BufferPool& buffers) {
  wire::Snapshot snapshot;
  snapshot.step = replica.step;
  snapshot.chain = replica.chain;
  snapshot.state = take_floats(buffers, replica.values.size() + replica.optimizer.size());
  const auto behind = std::ranges::copy(replica.values.values, snapshot.state.values.begin()).out;
  std::ranges::copy(replica.optimizer.values, behind);
  snapshot.state_hash = snapshot_hash(snapshot);
  return snapshot;
}

FrozenReplica Replica::freeze() const {
  return {step(), chain(), weights_->values, optimizer_state_, {}};
}

bool Replica::thaw(const FrozenReplica& frozen) {
  if (frozen.values.size() != value_count_) return false;
  if (frozen.optimizer.size() != optimizer_state_.size()) return false;
  auto version = std::make_shared<WeightsVersion>();
  version->step = frozen.step;
  version->chain = frozen.chain;
  version->values = frozen.values;
  weights_ = std::move(version);
  earlier_.clear();
  foreseen_.clear();
  optimizer_state_ = frozen.optimizer;
  return true;
}

Digest Replica::weights_sha256() const { return sha256(weights_->values.bytes()); }

Digest Replica::state_hash() const {
  Sha256 hash;
  add_position(hash, step(), chain());
  return hash.update(weights_->values.bytes()).update(optimizer_state_.bytes()).finish();
}

std::uint64_t chain_genesis(const Digest& job_id, const Digest& genesis_sha256) {
  ByteWriter writer;
  writer.digest(job_id);
  writer.digest(genesis_sha256);
  return xxh3(writer.take());
}

std::uint64_t chain_next(std::uint64_t chain, Step step, const StepScalars& scalars,
                         const Floats& values) {
  const float numbers[] = {scalars.lr, scalars.clip_factor, scalars.step_size, scalars.second_root,
                           scalars.decay_factor};
  const auto with_values = xxh3(values.bytes(), chain);
  const auto with_step = xxh3(std::as_bytes(std::span(&step, 1)), with_values);
  return xxh3(std::as_bytes(std::span(numbers)), with_step);
}

std::uint64_t moments_count(const Job& job, const Layout& layout) {
  return job.sends_changes() ? 0 : layout.parameter_count * state_per_parameter(job.train);
}

std::uint64_t state_count(const Job& job, const Layout& layout) {
  return layout.value_count() + moments_count(job, layout);
}

}  // namespace wide::engine
