#include "wide/sim/reference.h"

#include "wide/base/check.h"
#include "wide/engine/lease_work.h"
#include "wide/engine/optimizer.h"
#include "wide/engine/strategy/eval_round.h"

namespace wide::sim {

namespace {

engine::EvalRecord evaluate(engine::UnitComputer& computer, const engine::Job& job,
                            const SampleSpace& space, const engine::Replica& replica) {
  engine::EvalRecord record{replica.step(), 0, {}, {}};
  if (space.eval_count == 0) return record;
  const std::uint32_t units = engine::eval_unit_count(job, space);
  wire::EvalLease lease;
  lease.base = replica.step();
  lease.unit_count = units;
  engine::EvalRound round(replica.step(), units, space.eval_count);
  round.accept({0, units},
               engine::compute_eval_lease(computer, job, space, replica.weights(), lease));
  record.loss = round.mean_loss();
  record.accuracy = round.accuracy();
  return record;
}

}  // namespace

Reference::Reference(const engine::Job& job, const SampleSpace& space)
    : job_(job),
      space_(space),
      genesis_(engine::make_genesis(job_, space_)),
      factory_(job_, genesis_.layout),
      computer_(factory_.make_computer()),
      lead_(job_, genesis_,
            engine::chain_genesis(engine::job_id(job_, space_.sha256), genesis_.sha256()),
            buffers_),
      class_hash_(engine::numerics_class(*computer_, factory_.libraries(), genesis_.layout,
                                         replica_.weights(), buffers_)),
      state_first_(replica_.state_hash()) {
  evals_.push_back(evaluate(*computer_, job_, space_, replica_));
}

const Reference::Facts& Reference::step(Step step) {
  while (facts_.size() <= step) advance();
  return facts_[step];
}

std::uint64_t Reference::chain_at(Step step) {
  return step == 0 ? this->step(0).chain_before : this->step(step - 1).chain_after;
}

Digest Reference::state_at(Step step) {
  return step == 0 ? state_first_ : this->step(step - 1).state_after;
}

engine::EvalRecord Reference::eval_at(Step step) {
  if (step > 0) this->step(step - 1);
  return evals_[step];
}

void Reference::advance() {
  const Step step = replica_.step();
  wire::Lease lease;
  lease.step = step;
  lease.base = job_.base_of(step);
  lease.block_count = job_.blocks_per_step();
  lease.codec = static_cast<std::uint8_t>(engine::fixed(job_.codec.gradient));
  engine::LeaseOutcome outcome = engine::compute_lease(
      *computer_, job_, genesis_.layout, replica_.weights_at(lease.base), lease, buffers_);
  engine::CommitRecord record;
  record.update = std::move(outcome.value.sum);
  record.gradient_codec = lease.codec;
  record.update_codec = static_cast<std::uint8_t>(engine::fixed(job_.codec.update));
  engine::divide_root(job_, genesis_.layout.parameter_count, record.update.values);
  lead_.begin(record, job_.step_count(space_.train_count));
  const auto coded = lead_.code(record);
  lead_.finish(record, coded);

  Facts facts;
  facts.chain_before = record.chain_before;
  facts.chain_after = record.chain_after;
  facts.scalars = record.scalars;
  facts.loss = outcome.value.loss_sum / static_cast<double>(job_.samples_per_step());
  for (const auto& row : outcome.rows) facts.rows.push_back(row.sha256);
  facts.update_xxh3 = xxh3(record.update.bytes());
  WIDE_CHECK(lead_.advance(record, coded), "a plain loop's own update fits");
  facts.state_after = replica_.state_hash();
  facts.weights_after = replica_.weights_sha256();
  facts_.push_back(std::move(facts));
  evals_.push_back(evaluate(*computer_, job_, space_, replica_));
}

}  // namespace wide::sim
