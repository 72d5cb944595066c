#pragma once
// The samples of a unit, gathered side by side from the mapped files into memory that a slot keeps.

#include <cstdint>
#include <span>
#include <vector>

#include "wide/base/buffer.h"
#include "wide/data/dataset.h"
#include "wide/engine/job.h"
#include "wide/engine/sample_order.h"

namespace wide::train {

class BatchReader final {
 public:
  // Room for a unit of training or of evaluation, whichever is larger.
  BatchReader(const engine::Job& job, data::DatasetPtr samples);

  // The `count` samples from `position` on, in the order in which training walks.
  void read_train(std::uint64_t position, std::uint64_t count);
  // Held-out samples, in their own order.
  void read_eval(std::uint64_t first, std::uint64_t count);

  // One sample after the other. What the samples have none of has no room, see data::SampleRoom.
  float* values() { return reinterpret_cast<float*>(values_.begin()); }
  std::int64_t* tokens() { return tokens_.data(); }
  std::int64_t* labels() { return labels_.data(); }
  float* targets() { return targets_.data(); }

  const SampleSpace& space() const { return samples_->space(); }

 private:
  data::SampleRoom room(std::uint64_t index);

  data::DatasetPtr samples_;
  engine::SampleOrder order_;
  std::uint64_t count_max_;
  std::uint64_t sample_size_;
  std::uint64_t target_count_;
  Buffer values_;
  std::vector<std::int64_t> tokens_;
  std::vector<std::int64_t> labels_;
  std::vector<float> targets_;
};

}  // namespace wide::train
