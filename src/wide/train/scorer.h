#pragma once
// How far a model's answers are from the targets of a batch.
//
//   labels    answers of `width` scores per place: cross-entropy, or squares against one-hot
//   values    answers of target_count values per sample: squares
//
// A sample with several targets counts their mean; a batch counts the sum of its samples. Squares
// against one-hot are summed over the classes.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "wide/engine/job.h"
#include "wide/train/batch_reader.h"

namespace wide::train {

class Scorer final {
 public:
  Scorer(engine::Loss loss, const SampleSpace& space) : loss_(loss), space_(space) {}

  // Rows of answers that `count` samples ask for: one per place of a label, else one per sample.
  std::uint64_t row_count(std::uint64_t count) const;

  // `answers` has row_count(count) rows; the targets are those that `batch` read last.
  at::Tensor loss_sum(const at::Tensor& answers, BatchReader& batch, std::uint64_t count);

  // Samples whose label scored highest; 0 where a sample has several targets, or values.
  std::uint64_t correct_count(const at::Tensor& answers, BatchReader& batch,
                              std::uint64_t count) const;

 private:
  at::Tensor one_hot(const std::int64_t* labels, std::uint64_t rows, std::uint64_t width);

  engine::Loss loss_;
  SampleSpace space_;
  std::vector<float> one_hot_;
};

}  // namespace wide::train
