#pragma once
// What the pool and its nodes must see alike, so that a node can know what it will be asked for:
// which steps are open, and whether anybody may work ahead at all (decision 20).

#include "wide/base/sample_space.h"
#include "wide/engine/job.h"
#include "wide/engine/layout.h"

namespace wide::engine {

// 0: never, or there is nothing to evaluate on.
inline std::uint64_t steps_between_evals(const Job& job, const SampleSpace& space) {
  return space.eval_count > 0 ? job.eval.every : 0;
}

// With so many steps committed. Nobody works ahead of the end, or of an evaluation: there, all
// nodes come together.
inline bool may_be_open(const Job& job, const SampleSpace& space, Step step, Step committed) {
  const std::uint64_t step_count = job.step_count(space.train_count);
  if (step > committed + job.delay || (step_count > 0 && step >= step_count)) return false;
  const std::uint64_t every = steps_between_evals(job, space);
  return every == 0 || step < (committed / every + 1) * every;
}

// Whether `step` will be open behind the one before it, with nothing in between.
inline bool may_follow(const Job& job, const SampleSpace& space, Step step) {
  const std::uint64_t step_count = job.step_count(space.train_count);
  const std::uint64_t every = steps_between_evals(job, space);
  return (step_count == 0 || step < step_count) && (every == 0 || step % every != 0);
}

// Where a step's update follows from its sum alone, and where samples are at hand before a lease.
inline bool may_be_foreseen(const Job& job) {
  return job.codec.gradient == LossyPlan::kNone && !job.sends_changes() &&
         job.samples.ship != Ship::kAlways;
}

// Short work is done on the thread that reads: a long update would wait in the kernel meanwhile,
// and look to the pool like a slow line.
inline constexpr std::uint64_t kAheadValuesMax = 8u << 10;
inline bool may_work_ahead(const Job& job, const Layout& layout) {
  return may_be_foreseen(job) && layout.value_count() <= kAheadValuesMax;
}

// Beyond those that are open: enough that a node never waits for what its pool makes of several
// steps at once. Each is a replica in memory, so of long steps there are fewer.
inline constexpr std::uint32_t kStepsOnward = 16;
inline constexpr std::uint32_t kLongStepsOnward = 2;

// Where nodes of one machine may compute a lease together: what they tell each other has room on
// their table (net/kin_table.h). With a delay two steps lie there.
inline constexpr Block kHelpedBlocksMax = 64;
inline constexpr std::uint32_t kHelpedNodesMax = 64;
inline constexpr std::uint64_t kTableValuesMax = 16u << 20;  // of each node
constexpr std::uint64_t table_arrays(Block blocks, std::uint32_t delay) {
  constexpr std::uint64_t kWeights = 2;
  return kWeights + std::uint64_t{blocks} * (delay > 0 ? 2 : 1);
}
inline bool may_be_helped(const Job& job, const Layout& layout) {
  const Block blocks = job.blocks_per_step();
  return may_be_foreseen(job) && blocks > 1 && blocks <= kHelpedBlocksMax &&
         table_arrays(blocks, job.delay) * layout.value_count() <= kTableValuesMax;
}

}  // namespace wide::engine
