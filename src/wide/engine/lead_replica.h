#pragma once
// The pool's replica: what every node has, and beside it the memory of the one who codes updates.
// Moves in two steps, since between them the ledger is written:
//
//   code(mean)       what everyone would apply; nothing moves
//   advance(record)  the record is in the ledger: this replica applies it, too
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

  // Of the mean in the record, with the codec that it names.
  CodedUpdate code(const CommitRecord& record) const;
  // Step, scalars and chain of a record whose mean is there: what the pool alone computes.
  void finish(CommitRecord& record, const CodedUpdate& coded, std::uint64_t step_count) const;

  // False, and nothing changed, where the record does not follow from here.
  bool advance(const CommitRecord& record, const CodedUpdate& coded);
  bool advance(const CommitRecord& record) { return advance(record, code(record)); }

  FrozenReplica freeze() const;
  bool thaw(const FrozenReplica& frozen);  // false where sizes differ

  const Replica& replica() const { return replica_; }
  Step step() const { return replica_.step(); }
  std::uint64_t chain() const { return replica_.chain(); }
  const UpdateCodec& codec() const { return codec_; }

 private:
  Train train_;
  std::uint64_t parameter_count_;
  BufferPool& buffers_;
  UpdateCodec codec_;
  Replica replica_;
  Floats memory_;
};

}  // namespace wide::engine
