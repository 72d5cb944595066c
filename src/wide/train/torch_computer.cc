#include "wide/train/torch_computer.h"

#include <ATen/core/Reduction.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mse_loss.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "wide/base/check.h"
#include "wide/base/error.h"
#include "wide/train/compute_thread.h"
#include "wide/train/dropout_mask.h"

namespace wide::train {

namespace {

std::int64_t extent(std::uint64_t count) { return static_cast<std::int64_t>(count); }

std::uint64_t total(const std::vector<std::uint32_t>& widths) {
  std::uint64_t sum = 0;
  for (const auto width : widths) sum += width;
  return sum;
}

// Where the largest value is; -1, which is nobody's label, where all are NaN.
std::int64_t argmax(std::span<const float> values) {
  std::int64_t best = -1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool larger = best < 0 ? !std::isnan(values[i]) : values[i] > values[best];
    if (larger) best = static_cast<std::int64_t>(i);
  }
  return best;
}

// libtorch throws its own errors; whoever asked for a gradient knows ours.
template <class Compute>
auto or_failure(Compute compute) {
  try {
    prepare_compute_thread();
    return compute();
  } catch (const c10::Error& error) {
    throw Failure(Errc::kComputeFailed, error.what_without_backtrace());
  }
}

}  // namespace

TorchComputer::TorchComputer(const engine::Job& job, const engine::Layout& layout,
                             data::DatasetPtr samples)
    : job_(job),
      layout_(layout),
      space_(samples->space()),
      network_(job_.model, layout_),
      reader_(std::move(samples), job_.seed, std::max(job_.train.batch, job_.eval.batch)),
      leaves_(layout_, FlatViews::Role::kLeaves),
      gradients_(layout_, FlatViews::Role::kPlain),
      mask_floats_(total(network_.dropout_widths()) * job_.train.batch * sizeof(float)) {
  make_masks();
}

void TorchComputer::make_masks() {
  auto* floats = reinterpret_cast<float*>(mask_floats_.begin());
  for (const auto width : network_.dropout_widths()) {
    masks_.push_back(at::from_blob(floats, {extent(job_.train.batch), extent(width)}, at::kFloat));
    floats += std::uint64_t{job_.train.batch} * width;
  }
}

double TorchComputer::gradient(const engine::Weights& weights, Step step, Unit unit,
                               std::span<float> out) {
  WIDE_CHECK(out.size() == layout_.value_count() && weights->values.size() == out.size());
  return or_failure([&] { return backward_unit(weights, step, unit, out); });
}

double TorchComputer::backward_unit(const engine::Weights& weights, Step step, Unit unit,
                                    std::span<float> out) {
  const std::uint64_t batch = job_.train.batch;
  reader_.read_train((step * job_.train.units_per_step + unit) * batch, batch);
  fill_masks(step, unit);
  begin_gradient(*weights, out);

  // Nothing writes through the leaves: autograd only reads them.
  auto& leaves = leaves_.over(weights->values.values.data());
  auto& gradients = gradients_.over(out.data());
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (!layout_.tensors[i].is_buffer) leaves[i].mutable_grad() = gradients[i];
  }
  const Pass pass{leaves, gradients, masks_, /*training=*/true};
  const auto loss = loss_sum(network_.forward(pass, images(batch)), batch);
  loss.backward();
  finish_gradient(leaves, out);
  return *loss.data_ptr<float>();
}

void TorchComputer::begin_gradient(const engine::WeightsVersion& weights,
                                   std::span<float> out) const {
  const auto parameters = out.first(layout_.parameter_count);
  std::fill(parameters.begin(), parameters.end(), 0.0f);
  const auto buffers = weights.values.values.subspan(layout_.parameter_count);
  std::copy(buffers.begin(), buffers.end(), out.begin() + extent(layout_.parameter_count));
}

// Autograd added to our zeros in place (so -0.0 became 0.0), unless a view was replaced behind our
// back: then `out` would hold zeros, which must never go unnoticed.
void TorchComputer::finish_gradient(const Tensors& leaves, std::span<float> out) const {
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const auto& spec = layout_.tensors[i];
    if (spec.is_buffer) continue;
    WIDE_CHECK(leaves[i].grad().data_ptr() == out.data() + spec.offset);
  }
  for (float& buffer : out.subspan(layout_.parameter_count)) buffer += 0.0f;
}

void TorchComputer::fill_masks(Step step, Unit unit) {
  std::uint32_t layer = 0;
  for (const auto& mask : masks_) {
    const std::span<float> floats(mask.data_ptr<float>(), static_cast<std::size_t>(mask.numel()));
    fill_dropout_mask(dropout_stream(job_.seed, step, unit, layer++), job_.model.dropout, floats);
  }
}

engine::EvalOutcome TorchComputer::evaluate(const engine::Weights& weights, std::uint64_t first,
                                            std::uint64_t count) {
  WIDE_CHECK(weights->values.size() == layout_.value_count());
  WIDE_CHECK(first + count <= space_.eval_count);
  return or_failure([&] {
    const at::NoGradGuard no_grad;
    auto& views = leaves_.over(weights->values.values.data());
    engine::EvalOutcome outcome;
    for (std::uint64_t done = 0; done < count; done += job_.eval.batch) {
      const auto batch = std::min<std::uint64_t>(job_.eval.batch, count - done);
      const auto part = evaluate_batch(views, first + done, batch);
      outcome.loss_sum += part.loss_sum;
      outcome.correct_count += part.correct_count;
    }
    return outcome;
  });
}

engine::EvalOutcome TorchComputer::evaluate_batch(Tensors& weights, std::uint64_t first,
                                                  std::uint64_t count) {
  reader_.read_eval(first, count);
  const Pass pass{weights, weights, {}, /*training=*/false};
  const auto outputs = network_.forward(pass, images(count)).contiguous();
  engine::EvalOutcome outcome;
  outcome.loss_sum = *loss_sum(outputs, count).data_ptr<float>();
  const std::uint64_t width = static_cast<std::uint64_t>(outputs.size(1));
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::span<const float> row(outputs.data_ptr<float>() + i * width, width);
    outcome.correct_count += argmax(row) == reader_.labels()[i] ? 1 : 0;
  }
  return outcome;
}

// Images are walked with the channel innermost, where convolution, norm and pool are fastest. With
// one channel both orders are the same memory, and only the strides have to say so.
at::Tensor TorchComputer::images(std::uint64_t count) {
  std::vector<std::int64_t> shape{extent(count)};
  shape.insert(shape.end(), space_.sample_shape.begin(), space_.sample_shape.end());
  const bool convolved = job_.model.kind == engine::ModelKind::kCnn;
  if (!convolved) shape = {extent(count), extent(space_.sample_size())};
  if (!convolved || shape[1] > 1) {
    const auto batch = at::from_blob(reader_.features(), shape, at::kFloat);
    return convolved ? batch.contiguous(at::MemoryFormat::ChannelsLast) : batch;
  }
  const std::int64_t rows = shape[2];
  const std::int64_t columns = shape[3];
  return at::from_blob(reader_.features(), shape, {rows * columns, 1, columns, 1}, at::kFloat);
}

at::Tensor TorchComputer::loss_sum(const at::Tensor& outputs, std::uint64_t count) {
  if (job_.train.loss == engine::Loss::kMse) {
    return at::mse_loss(outputs, one_hot(count), at::Reduction::Sum);
  }
  const auto labels = at::from_blob(reader_.labels(), {extent(count)}, at::kLong);
  return at::cross_entropy_loss(outputs, labels, {}, at::Reduction::Sum);
}

at::Tensor TorchComputer::one_hot(std::uint64_t count) {
  const std::uint64_t classes = space_.class_count;
  targets_.assign(count * classes, 0.0f);
  for (std::uint64_t i = 0; i < count; ++i) {
    targets_[i * classes + static_cast<std::uint64_t>(reader_.labels()[i])] = 1.0f;
  }
  return at::from_blob(targets_.data(), {extent(count), extent(classes)}, at::kFloat);
}

}  // namespace wide::train
