#pragma once
// What a slot does with a lease: computes its units in order, folds them up the sum tree, hashes
// every block. The same code in a node, in a replay and in the simulator.

#include "wide/base/buffer.h"
#include "wide/engine/job.h"
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
