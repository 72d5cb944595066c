#pragma once
// For tests: small checkpoints, written and read back.

#include <string>
#include <utility>

#include "wide/base/check.h"
#include "wide/store/checkpoint.h"

namespace wide::store {

inline Floats example_floats(BufferPool& buffers, std::size_t count, float first) {
  auto floats = take_floats(buffers, count);
  for (std::size_t i = 0; i < count; ++i) floats.values[i] = first + static_cast<float>(i) / 4;
  return floats;
}

// Weights of a bias and a matrix; the optimiser's state is as long as asked for.
inline NewCheckpoint example_checkpoint(BufferPool& buffers, Step step,
                                        std::size_t optimizer_count = 7) {
  NewCheckpoint made;
  made.facts.job_id = sha256("example job");
  made.facts.step = step;
  made.facts.chain = 0x0123456789abcdef + step;
  made.facts.log = {step + 1, sha256("record " + std::to_string(step)), step / 2, 100 + step};
  made.facts.synced_to = step + 2;
  made.facts.past = R"({"zeta":[1,2.5,"ünï"],"alpha":{"step":)" + std::to_string(step) + "}}";
  made.arrays.weights = example_floats(buffers, 8, static_cast<float>(step));
  if (optimizer_count > 0) {
    made.arrays.optimizer = example_floats(buffers, optimizer_count, -static_cast<float>(step));
  }
  made.places = {{"bias", {2}, 0, 2}, {"weight", {2, 3}, 2, 6}};
  return made;
}

inline Result<void> write_all(Disk& disk, NewCheckpoint checkpoint) {
  CheckpointWriter writer(disk, std::move(checkpoint));
  while (true) {
    const auto done = writer.step();
    if (!done) return tl::unexpected(done.error());
    if (*done) return {};
  }
}

inline bool same_bits(const Floats& left, const Floats& right) {
  const auto a = left.bytes(), b = right.bytes();
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

// The arrays under this manifest are those of the example of that step.
inline bool reads_as_example(Disk& disk, const CheckpointEntry& entry, BufferPool& buffers,
                             std::size_t optimizer_count = 7) {
  const auto expected = example_checkpoint(buffers, entry.step, optimizer_count);
  const auto arrays = read_checkpoint(disk, entry, buffers);
  return entry.facts && arrays && entry.facts->past == expected.facts.past &&
         entry.facts->chain == expected.facts.chain &&
         entry.facts->job_id == expected.facts.job_id &&
         entry.facts->log.sequence == expected.facts.log.sequence &&
         entry.facts->log.previous == expected.facts.log.previous &&
         entry.facts->log.segment == expected.facts.log.segment &&
         entry.facts->log.offset_bytes == expected.facts.log.offset_bytes &&
         same_bits(arrays->weights, expected.arrays.weights) &&
         same_bits(arrays->optimizer, expected.arrays.optimizer) &&
         state_hash_of(*entry.facts, *arrays) == entry.facts->state_hash;
}

}  // namespace wide::store
