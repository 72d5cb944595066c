#pragma once
// The ledger: which block was accepted, from whom, with which hash; once each. The pool hands one
// record to its driver per committed step, before any node is told of the step.

#include <string>
#include <vector>

#include "wide/base/digest.h"
#include "wide/base/ids.h"
#include "wide/wire/messages.h"

namespace wide::engine {

struct LedgerRow {
  Block block = 0;
  NodeId node;
  Digest sha256;
};

struct CommitRecord {
  Step step = 0;
  std::uint64_t chain_after = 0;
  wire::StepScalars scalars;
  double loss = 0;              // mean over the step's samples
  std::vector<LedgerRow> rows;  // every block of the step, in order
  Floats update;                // exactly what everyone applies
};

}  // namespace wide::engine
