#pragma once
// The pool's replica: what every node has, and beside it what only the one who codes updates needs.
//
// Where updates are not lossy, everyone applies the mean gradient by the job's optimiser. Where
// they are, an optimiser that divides by what it has seen before would take the spikes and gaps of
// a code for the gradient's own: so the pool alone has one, applies the mean as it is, and codes
// how the weights ought to change. Everyone, the pool included, adds what that decodes to; what is
// lost goes into the next change.
//
//   memory = | the codec's: update_codec.h | the optimiser's state |
//
// Moves in steps, since between them the ledger is written:
//
//   begin(record)          step and scalars of a record whose mean is there
//   code(record)           what everyone would apply; nothing moves
//   finish(record, coded)  the chain behind it: the record is whole
//   advance(record)        it is in the ledger: this replica applies it, too
//
// The same for a run, for its recovery, for verify and for replay.

#include <cstdint>

#include "wide/engine/ledger.h"
#include "wide/engine/replica.h"
#include "wide/engine/update_codec.h"

namespace wide::engine {

class LeadReplica final {
 public:
  // As Replica's: where genesis is only named, thaw() comes next.
  LeadReplica(const Job& job, const Genesis& genesis, std::uint64_t genesis_chain,
              BufferPool& buffers);

  void begin(CommitRecord& record, std::uint64_t step_count) const;
  CodedUpdate code(const CommitRecord& record) const;  // with the codec that it names
  void finish(CommitRecord& record, const CodedUpdate& coded) const;

  // False, and nothing changed, where the record does not follow from here.
  bool advance(const CommitRecord& record, const CodedUpdate& coded);
  bool advance(const CommitRecord& record) { return advance(record, code(record)); }

  FrozenReplica freeze() const;
  bool thaw(const FrozenReplica& frozen);  // false where sizes differ

  const Replica& replica() const { return replica_; }
  Step step() const { return replica_.step(); }
  std::uint64_t chain() const { return replica_.chain(); }

 private:
  std::size_t memory_count() const;
  Floats change_by(const CommitRecord& record, const MomentsChange& moments) const;

  Train train_;
  bool sends_changes_;
  std::uint64_t parameter_count_;
  BufferPool& buffers_;
  UpdateCodec codec_;
  Replica replica_;
  Floats memory_;
};

}  // namespace wide::engine
