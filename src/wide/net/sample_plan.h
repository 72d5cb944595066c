#pragma once
// Which samples a piece of work is about, and in which chunks they lie. Pure.

#include <cstdint>
#include <memory>
#include <vector>

#include "wide/data/manifest.h"
#include "wide/engine/job.h"
#include "wide/engine/sample_order.h"
#include "wide/wire/messages.h"

namespace wide::net {

// Positions of the sequence that training walks, or indices of held-out samples.
struct SampleRun {
  bool held_out = false;
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  friend bool operator==(const SampleRun&, const SampleRun&) = default;
};

class SamplePlan final {
 public:
  SamplePlan(const engine::Job& job, std::shared_ptr<const data::Manifest> manifest);

  // Empty for a lease that cannot be: the node refuses it a moment later.
  SampleRun run_of(const wire::Lease& lease) const;
  SampleRun run_of(const wire::EvalLease& lease) const;
  SampleRun first_unit() const { return {false, 0, job_.train.batch}; }

  std::vector<std::uint64_t> indices_of(const SampleRun& run) const;
  std::vector<std::uint64_t> chunks_of(const SampleRun& run) const;  // each once, ascending

  void add_chunks_at(std::uint64_t position, std::vector<std::uint64_t>& chunks) const;

  // How far ahead of a position it pays to fetch: to the end of what is shuffled together.
  std::uint64_t samples_ahead() const { return samples_ahead_; }
  bool whole() const { return whole_; }  // the set is shuffled as one
  const data::Manifest& manifest() const { return *manifest_; }

 private:
  engine::Job job_;
  std::shared_ptr<const data::Manifest> manifest_;
  engine::SampleOrder order_;
  bool whole_;
  std::uint64_t samples_ahead_;
};

}  // namespace wide::net
