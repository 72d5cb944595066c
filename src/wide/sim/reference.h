#pragma once
// What a run must come to: its steps computed one after another in a plain loop, without pool,
// nodes, leases, network or disk. Goes as far as it is asked.

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "wide/engine/lead_replica.h"
#include "wide/engine/ledger.h"
#include "wide/engine/stub_computer.h"

namespace wide::sim {

class Reference final {
 public:
  struct Facts {
    std::uint64_t chain_before = 0;
    std::uint64_t chain_after = 0;
    wire::StepScalars scalars;
    double loss = 0;
    std::vector<Digest> rows;       // of every block
    std::uint64_t update_xxh3 = 0;  // of its bytes
    Digest state_after;
    Digest weights_after;
  };

  Reference(const engine::Job& job, const SampleSpace& space);

  const Facts& step(Step step);
  std::uint64_t chain_at(Step step);  // of the replica behind so many steps
  Digest state_at(Step step);
  engine::EvalRecord eval_at(Step step);

  // What all nodes of a simulation have in common.
  const engine::Genesis& genesis() const { return genesis_; }
  const Digest& class_hash() const { return class_hash_; }
  engine::StubFactory& factory() { return factory_; }

 private:
  void advance();

  engine::Job job_;
  SampleSpace space_;
  engine::Genesis genesis_;
  engine::StubFactory factory_;
  std::unique_ptr<engine::UnitComputer> computer_;
  BufferPool buffers_;
  engine::LeadReplica lead_;
  const engine::Replica& replica_ = lead_.replica();
  Digest class_hash_;
  Digest state_first_;
  std::deque<Facts> facts_;
  std::deque<engine::EvalRecord> evals_;  // one more
};

}  // namespace wide::sim
