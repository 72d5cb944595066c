#pragma once
// The samples of a unit, gathered side by side from the mapped files into memory that a slot keeps.

#include <cstdint>
#include <span>
#include <vector>

#include "wide/base/buffer.h"
#include "wide/base/ids.h"
#include "wide/data/dataset.h"
#include "wide/engine/sample_order.h"

namespace wide::train {

class BatchReader final {
 public:
  // Room for `count_max` samples.
  BatchReader(data::DatasetPtr samples, std::uint64_t seed, std::uint64_t count_max);

  // The `count` samples from `position` on, in the order in which training walks.
  void read_train(std::uint64_t position, std::uint64_t count);
  // Held-out samples, in their own order.
  void read_eval(std::uint64_t first, std::uint64_t count);

  float* features() { return reinterpret_cast<float*>(features_.begin()); }
  std::int64_t* labels() { return labels_.data(); }

 private:
  std::span<float> row(std::uint64_t index) {
    return {features() + index * sample_size_, sample_size_};
  }

  data::DatasetPtr samples_;
  engine::SampleOrder order_;
  std::uint64_t sample_size_;
  Buffer features_;
  std::vector<std::int64_t> labels_;
};

}  // namespace wide::train
