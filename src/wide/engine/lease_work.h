#pragma once
// What a slot does with a lease: computes its units in order, folds them up the sum tree, hashes
// every block. The same code in a node, in a replay and in the simulator.

#include "wide/base/buffer.h"
#include "wide/engine/job.h"
#include "wide/engine/kin.h"
#include "wide/engine/sum_tree.h"
#include "wide/engine/unit_computer.h"
#include "wide/wire/messages.h"

namespace wide::engine {

struct LeaseOutcome {
  TreeValue value;
  std::vector<wire::BlockRow> rows;
  wire::Coded sent;  // the sum as it is, or the blocks as they are coded, whichever is shorter
};

LeaseOutcome compute_lease(UnitComputer& computer, const Job& job, const Layout& layout,
                           const Weights& weights, const wire::Lease& lease, BufferPool& buffers);

// A lease that is computed by its holder and its kin, who were called for it: only where
// may_be_helped() says so. All that it is given outlives it, but for the weights.
class HelpedLease final {
 public:
  HelpedLease(UnitComputer& computer, const Job& job, const Layout& layout, Weights weights,
              const wire::Lease& lease, BufferPool& buffers, Kin& kin);

  bool compute_next();    // false: all blocks are taken
  bool all_come() const;  // then: what others have taken is here
  LeaseOutcome finish();  // waits for it a little, and computes what does not come
  Block computed_count() const { return computed_count_; }  // by the holder itself

 private:
  void add(Block place, BlockValue block);
  void compute(Block place);
  void collect_what_has_come();

  UnitComputer& computer_;
  const Job& job_;
  const Layout& layout_;
  Weights weights_;
  wire::Lease lease_;
  BufferPool& buffers_;
  Kin& kin_;
  SumTree tree_;
  std::vector<wire::BlockRow> rows_;
  Block own_end_ = 0;     // behind the last one that the holder took
  Block added_from_ = 0;  // from here on, what others computed is in the tree
  Block computed_count_ = 0;
};

// One block of somebody else's lease, as that one would compute it: no codec.
BlockValue compute_block(UnitComputer& computer, const Job& job, const Layout& layout,
                         const Weights& weights, Step step, Block block, BufferPool& buffers);

// What came back, at the pool. kBadCoding.
Result<LeaseOutcome> open_result(wire::LeaseResult result, const Layout& layout,
                                 BufferPool& buffers);

std::vector<wire::EvalRow> compute_eval_lease(UnitComputer& computer, const Job& job,
                                              const SampleSpace& space, const Weights& weights,
                                              const wire::EvalLease& lease);

// How many units of evaluation there are; the last may be short.
std::uint32_t eval_unit_count(const Job& job, const SampleSpace& space);

// The class of a node: its libraries and the gradient of unit 0 on the genesis weights.
Digest numerics_class(UnitComputer& computer, const std::string& libraries, const Layout& layout,
                      const Weights& genesis, BufferPool& buffers);

}  // namespace wide::engine
