#include "wide/train/batch_reader.h"

#include <utility>

#include "wide/base/check.h"

namespace wide::train {

BatchReader::BatchReader(data::DatasetPtr samples, std::uint64_t seed, std::uint64_t count_max)
    : samples_(std::move(samples)),
      order_(seed, samples_->space().train_count),
      sample_size_(samples_->space().sample_size()),
      features_(count_max * sample_size_ * sizeof(float)),
      labels_(count_max) {}

void BatchReader::read_train(std::uint64_t position, std::uint64_t count) {
  WIDE_CHECK(count <= labels_.size());
  for (std::uint64_t i = 0; i < count; ++i) {
    labels_[i] = samples_->load_train(order_.sample_at(position + i), row(i));
  }
}

void BatchReader::read_eval(std::uint64_t first, std::uint64_t count) {
  WIDE_CHECK(count <= labels_.size());
  for (std::uint64_t i = 0; i < count; ++i) {
    labels_[i] = samples_->load_eval(first + i, row(i));
  }
}

}  // namespace wide::train
