#include "wide/net/sample_plan.h"

#include <algorithm>

namespace wide::net {

SamplePlan::SamplePlan(const engine::Job& job, std::shared_ptr<const data::Manifest> manifest)
    : job_(job), manifest_(std::move(manifest)), order_(job, manifest_->space) {
  const auto window = engine::window_of(job, manifest_->space);
  whole_ = window.window_chunks == 0;
  samples_ahead_ =
      whole_ ? manifest_->space.train_count : window.window_chunks * window.chunk_samples;
}

SampleRun SamplePlan::run_of(const wire::Lease& lease) const {
  const std::uint64_t units = job_.train.units_per_step;
  const std::uint64_t first =
      std::min(std::uint64_t{lease.first_block} * job_.train.block_units, units);
  const std::uint64_t end = first + std::uint64_t{lease.block_count} * job_.train.block_units;
  return {false, (lease.step * units + first) * job_.train.batch,
          (std::min(end, units) - first) * job_.train.batch};
}

SampleRun SamplePlan::run_of(const wire::EvalLease& lease) const {
  const std::uint64_t count = manifest_->space.eval_count;
  const std::uint64_t first = std::min(std::uint64_t{lease.first_unit} * job_.eval.batch, count);
  const std::uint64_t end = first + std::uint64_t{lease.unit_count} * job_.eval.batch;
  return {true, first, std::min(end, count) - first};
}

std::vector<std::uint64_t> SamplePlan::indices_of(const SampleRun& run) const {
  std::vector<std::uint64_t> indices(run.count);
  for (std::uint64_t i = 0; i < run.count; ++i) {
    indices[i] = run.held_out ? run.first + i : order_.sample_at(run.first + i);
  }
  return indices;
}

std::vector<std::uint64_t> SamplePlan::chunks_of(const SampleRun& run) const {
  std::vector<std::uint64_t> chunks;
  for (const auto index : indices_of(run)) {
    if (run.held_out) {
      data::add_chunks_of_eval(*manifest_, index, chunks);
    } else {
      data::add_chunks_of_train(*manifest_, index, chunks);
    }
  }
  std::ranges::sort(chunks);
  chunks.erase(std::unique(chunks.begin(), chunks.end()), chunks.end());
  return chunks;
}

void SamplePlan::add_chunks_at(std::uint64_t position, std::vector<std::uint64_t>& chunks) const {
  data::add_chunks_of_train(*manifest_, order_.sample_at(position), chunks);
}

}  // namespace wide::net
