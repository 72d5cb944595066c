#include "wide/engine/lead_replica.h"

#include <utility>

namespace wide::engine {

LeadReplica::LeadReplica(const Job& job, const Genesis& genesis, std::uint64_t genesis_chain,
                         BufferPool& buffers)
    : train_(job.train),
      parameter_count_(genesis.layout.parameter_count),
      buffers_(buffers),
      codec_(job, genesis.layout),
      replica_(job, genesis, genesis_chain),
      memory_(codec_.first_memory(buffers)) {}

CodedUpdate LeadReplica::code(const CommitRecord& record) const {
  return codec_.encode(static_cast<codec::Lossy>(record.update_codec), record.update, memory_,
                       buffers_);
}

void LeadReplica::finish(CommitRecord& record, const CodedUpdate& coded,
                         std::uint64_t step_count) const {
  record.step = step();
  record.chain_before = chain();
  record.scalars =
      step_scalars(train_, step(), step_count, coded.values.values.first(parameter_count_));
  record.chain_after = chain_next(chain(), step(), record.scalars, coded.values);
}

bool LeadReplica::advance(const CommitRecord& record, const CodedUpdate& coded) {
  const StepUpdate update{record.step, record.chain_after, record.scalars, coded.values};
  if (record.chain_before != chain() || !replica_.apply(update)) return false;
  memory_ = coded.memory;
  return true;
}

FrozenReplica LeadReplica::freeze() const {
  FrozenReplica frozen = replica_.freeze();
  frozen.memory = memory_;
  return frozen;
}

bool LeadReplica::thaw(const FrozenReplica& frozen) {
  if (frozen.memory.size() != codec_.memory_count() || !replica_.thaw(frozen)) return false;
  memory_ = frozen.memory;
  return true;
}

}  // namespace wide::engine
