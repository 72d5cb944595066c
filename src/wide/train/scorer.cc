#include "wide/train/scorer.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mse_loss.h>

#include <cmath>
#include <span>

namespace wide::train {

namespace {

std::int64_t extent(std::uint64_t count) { return static_cast<std::int64_t>(count); }

// Where the largest value is; -1, which is nobody's label, where all are NaN.
std::int64_t argmax(std::span<const float> values) {
  std::int64_t best = -1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool larger =
        best < 0 ? !std::isnan(values[i]) : values[i] > values[static_cast<std::size_t>(best)];
    if (larger) best = static_cast<std::int64_t>(i);
  }
  return best;
}

}  // namespace

std::uint64_t Scorer::row_count(std::uint64_t count) const {
  return space_.class_count != 0 ? count * space_.target_count : count;
}

at::Tensor Scorer::loss_sum(const at::Tensor& answers, BatchReader& batch, std::uint64_t count) {
  const auto rows = row_count(count);
  at::Tensor sum;
  if (space_.class_count == 0) {
    const auto shape = {extent(count), extent(space_.target_count)};
    const auto targets = at::from_blob(batch.targets(), shape, at::kFloat);
    sum = at::mse_loss(answers, targets, at::Reduction::Sum);
  } else if (loss_ == engine::Loss::kMse) {
    const auto width = static_cast<std::uint64_t>(answers.size(1));
    sum = at::mse_loss(answers, one_hot(batch.labels(), rows, width), at::Reduction::Sum);
  } else {
    const auto labels = at::from_blob(batch.labels(), {extent(rows)}, at::kLong);
    sum = at::cross_entropy_loss(answers, labels, {}, at::Reduction::Sum);
  }
  return space_.target_count == 1 ? sum : sum.div(static_cast<double>(space_.target_count));
}

std::uint64_t Scorer::correct_count(const at::Tensor& answers, BatchReader& batch,
                                    std::uint64_t count) const {
  if (space_.class_count == 0 || space_.target_count != 1) return 0;
  const auto rows = answers.contiguous();
  const auto width = static_cast<std::uint64_t>(rows.size(1));
  std::uint64_t correct = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::span<const float> row(rows.data_ptr<float>() + i * width, width);
    correct += argmax(row) == batch.labels()[i] ? 1 : 0;
  }
  return correct;
}

at::Tensor Scorer::one_hot(const std::int64_t* labels, std::uint64_t rows, std::uint64_t width) {
  one_hot_.assign(rows * width, 0.0f);
  for (std::uint64_t i = 0; i < rows; ++i) {
    one_hot_[i * width + static_cast<std::uint64_t>(labels[i])] = 1.0f;
  }
  return at::from_blob(one_hot_.data(), {extent(rows), extent(width)}, at::kFloat);
}

}  // namespace wide::train
