#include "wide/engine/lead_replica.h"

#include <algorithm>
#include <utility>

#include "wide/base/check.h"

namespace wide::engine {

LeadReplica::LeadReplica(const Job& job, const Genesis& genesis, std::uint64_t genesis_chain,
                         BufferPool& buffers)
    : train_(job.train),
      sends_changes_(job.sends_changes()),
      parameter_count_(genesis.layout.parameter_count),
      buffers_(buffers),
      codec_(job, genesis.layout),
      replica_(job, genesis, genesis_chain) {
  if (!sends_changes_) return;
  memory_ = take_floats(buffers_, memory_count());
  codec_.begin(memory_.values.first(codec_.memory_count()));
  std::ranges::fill(memory_.values.subspan(codec_.memory_count()), 0.0f);
}

std::size_t LeadReplica::memory_count() const {
  if (!sends_changes_) return 0;
  return codec_.memory_count() + parameter_count_ * state_per_parameter(train_);
}

void LeadReplica::begin(CommitRecord& record, std::uint64_t step_count) const {
  record.step = step();
  record.chain_before = chain();
  record.scalars =
      step_scalars(train_, step(), step_count, record.update.values.first(parameter_count_));
}

CodedUpdate LeadReplica::code(const CommitRecord& record) const {
  if (!sends_changes_) return {wire::as_they_are(record.update), record.update, {}};

  // The memory before may belong to a checkpoint that is being written.
  CodedUpdate update;
  update.memory = take_floats(buffers_, memory_.size());
  const std::size_t codecs = codec_.memory_count();
  const std::span<const float> before = memory_.values;
  const std::span<float> after = update.memory.values;
  std::ranges::copy(before.first(codecs), after.begin());
  const Floats change =
      change_by(record, MomentsChange(before.subspan(codecs), after.subspan(codecs)));
  update.sent = codec_.encode(static_cast<codec::Lossy>(record.update_codec), change,
                              after.first(codecs), buffers_);
  auto decoded = codec_.decode(update.sent, buffers_);
  WIDE_CHECK(decoded, "what was just coded decodes");
  update.values = std::move(*decoded);
  return update;
}

// How the optimiser would change the weights, and the new buffers.
Floats LeadReplica::change_by(const CommitRecord& record, const MomentsChange& moments) const {
  Floats change = take_floats(buffers_, record.update.size());
  const std::span<const float> mean = record.update.values;
  const auto weights =
      std::span<const float>(replica_.weights()->values.values).first(parameter_count_);
  const auto to = change.values.first(parameter_count_);
  apply_update(train_, record.scalars, mean.first(parameter_count_), weights, to, moments);
  for (std::size_t i = 0; i < to.size(); ++i) to[i] -= weights[i];
  std::ranges::copy(mean.subspan(parameter_count_),
                    change.values.subspan(parameter_count_).begin());
  return change;
}

void LeadReplica::finish(CommitRecord& record, const CodedUpdate& coded) const {
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
  if (frozen.memory.size() != memory_count() || !replica_.thaw(frozen)) return false;
  memory_ = frozen.memory;
  return true;
}

}  // namespace wide::engine
