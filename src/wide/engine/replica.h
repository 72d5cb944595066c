#pragma once
// The replica: step number, weights and buffers, optimiser state, as flat float32 arrays. The pool
// and every node hold one, apply the same updates, and never drift.
//
// Weights are versioned: an update writes the next version into a buffer that nobody reads, so a
// slot that is late keeps reading the version it was given. Buffers of versions that nobody holds
// any more are used again: with no late slot two take turns. Where a job has a delay, the versions
// that its open steps are computed on are kept. The optimiser's state is changed in place, unless a
// frozen replica holds it: then the update leaves that one alone, too.
//
// A replica belongs to one thread; a version may be read and let go on any.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "wide/base/buffer.h"
#include "wide/engine/genesis.h"
#include "wide/engine/optimizer.h"
#include "wide/wire/messages.h"

namespace wide::engine {

// One version of the weights and buffers, never written while held.
struct WeightsVersion {
  Step step = 0;
  std::uint64_t chain = 0;
  Floats values;  // layout.value_count()
};
using Weights = std::shared_ptr<const WeightsVersion>;

// Takes a replica from `step` to step + 1: a wire::Update, decoded.
struct StepUpdate {
  Step step = 0;
  std::uint64_t chain_after = 0;
  wire::StepScalars scalars;
  Floats values;  // mean gradient, or the change of the weights; then the new buffers
};

// All of a replica at one step, never written while held.
struct FrozenReplica {
  Step step = 0;
  std::uint64_t chain = 0;
  Floats values;     // layout.value_count()
  Floats optimizer;  // empty for plain sgd, and where updates are lossy
  Floats memory;     // of the pool's alone, where they are: see lead_replica.h
};

class Replica final {
 public:
  // At genesis, with `genesis_chain` as the first link. Where genesis is only named, its values are
  // nothing: thaw() or restore() comes next.
  Replica(const Job& job, const Genesis& genesis, std::uint64_t genesis_chain);

  // The next version. False, and nothing changed, where the update is for another step or of
  // another size, or where the chain does not come out as update.chain_after: this replica is not
  // the pool's.
  bool apply(const StepUpdate& update);

  // The version that this update will bring, where it is the next one behind all that is foreseen;
  // nothing moves. The update itself then costs no more than its check.
  Weights foresee(const StepUpdate& update);
  void forget_foreseen() { foreseen_.clear(); }
  // It has come as foreseen. False, and nothing changed, where this is not what was foreseen next.
  bool has_come(Step step, std::uint64_t chain_after);

  // Takes the place of everything. False, and nothing changed, where size or hash differ.
  bool restore(const wire::Snapshot& snapshot);

  // Costs nothing: the next update leaves what is held alone.
  FrozenReplica freeze() const;
  bool thaw(const FrozenReplica& frozen);  // false where sizes differ

  Step step() const { return weights_->step; }
  std::uint64_t chain() const { return weights_->chain; }
  const Weights& weights() const { return weights_; }
  Step oldest_step() const { return earlier_.empty() ? step() : earlier_.back()->step; }
  Weights weights_at(Step step) const;  // the present ones, or some of the last; null: not here
  const Weights& foremost() const {
    return foreseen_.empty() ? weights_ : foreseen_.back().weights;
  }
  Weights foreseen_at(Step step) const;  // or weights_at()

  Digest weights_sha256() const;  // of the values
  Digest state_hash() const;      // of step, chain, values and optimiser state

 private:
  struct Next {
    Weights weights;
    Floats moments;
  };

  std::shared_ptr<WeightsVersion> next_version();
  Floats moments_beside() { return take_floats(moments_, optimizer_state_.size()); }
  Floats next_moments();
  Next next_by(const StepUpdate& update, const Weights& before, const Floats& moments,
               Floats next_moments);
  void move_on(Next next);

  Train train_;
  bool takes_changes_;
  std::uint64_t parameter_count_;
  std::uint64_t value_count_;
  BufferPool versions_;
  BufferPool moments_;
  Floats optimizer_state_;
  Weights weights_;
  std::size_t earlier_max_;      // the delay
  std::deque<Weights> earlier_;  // the last ones, newest first
  std::deque<Next> foreseen_;    // each follows the one before it; the first, the present
};

// For nodes that cannot be brought up by updates.
wire::Snapshot snapshot_of(const FrozenReplica& replica, BufferPool& buffers);

// The chain: each link names its update and everything before it.
std::uint64_t chain_genesis(const Digest& job_id, const Digest& genesis_sha256);
std::uint64_t chain_next(std::uint64_t chain, Step step, const StepScalars& scalars,
                         const Floats& values);

// Floats of optimiser state that everyone keeps.
std::uint64_t moments_count(const Job& job, const Layout& layout);

// Floats in a snapshot of a job's replica.
std::uint64_t state_count(const Job& job, const Layout& layout);

}  // namespace wide::engine
