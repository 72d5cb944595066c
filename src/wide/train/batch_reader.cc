#include "wide/train/batch_reader.h"

#include <algorithm>
#include <utility>

#include "wide/base/check.h"

namespace wide::train {

namespace {

// Where one sample is among its neighbours; nothing where there is no room for any.
template <class T>
std::span<T> part(std::span<T> all, std::uint64_t index, std::uint64_t size) {
  return all.empty() ? all : all.subspan(index * size, size);
}

}  // namespace

BatchReader::BatchReader(const engine::Job& job, data::DatasetPtr samples)
    : samples_(std::move(samples)),
      order_(job, space()),
      count_max_(std::max(job.train.batch, job.eval.batch)),
      sample_size_(space().sample_size()),
      target_count_(space().target_count),
      values_(space().tokens ? 0 : count_max_ * sample_size_ * sizeof(float)),
      tokens_(space().tokens ? count_max_ * sample_size_ : 0),
      labels_(space().class_count != 0 ? count_max_ * target_count_ : 0),
      targets_(space().class_count != 0 ? 0 : count_max_ * target_count_) {}

void BatchReader::read_train(std::uint64_t position, std::uint64_t count) {
  WIDE_CHECK(count <= count_max_);
  for (std::uint64_t i = 0; i < count; ++i) {
    samples_->load_train(order_.sample_at(position + i), room(i));
  }
}

void BatchReader::read_eval(std::uint64_t first, std::uint64_t count) {
  WIDE_CHECK(count <= count_max_);
  for (std::uint64_t i = 0; i < count; ++i) samples_->load_eval(first + i, room(i));
}

data::SampleRoom BatchReader::room(std::uint64_t index) {
  const std::span all_values(values(), space().tokens ? 0 : count_max_ * sample_size_);
  return {part(all_values, index, sample_size_), part(std::span(tokens_), index, sample_size_),
          part(std::span(labels_), index, target_count_),
          part(std::span(targets_), index, target_count_)};
}

}  // namespace wide::train
