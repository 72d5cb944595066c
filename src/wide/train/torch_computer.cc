#include "wide/train/torch_computer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <utility>

#include "wide/base/check.h"
#include "wide/train/dropout_mask.h"
#include "wide/train/or_failure.h"

namespace wide::train {

namespace {

std::int64_t extent(std::uint64_t count) { return static_cast<std::int64_t>(count); }

std::uint64_t size_of(const std::vector<std::int64_t>& shape) {
  std::uint64_t size = 1;
  for (const auto length : shape) size *= static_cast<std::uint64_t>(length);
  return size;
}

std::uint64_t total(const Network::Shapes& shapes) {
  std::uint64_t sum = 0;
  for (const auto& shape : shapes) sum += size_of(shape);
  return sum;
}

// `shape` with the number of samples before it.
std::vector<std::int64_t> batched(std::uint64_t count, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> whole{extent(count)};
  whole.insert(whole.end(), shape.begin(), shape.end());
  return whole;
}

}  // namespace

TorchComputer::TorchComputer(const engine::Job& job, const engine::Layout& layout,
                             data::DatasetPtr samples)
    : job_(job),
      layout_(layout),
      space_(samples->space()),
      network_(make_network(job_.model, layout_)),
      reader_(job_, std::move(samples)),
      scorer_(job_.train.loss, space_),
      leaves_(layout_, FlatViews::Role::kLeaves),
      gradients_(layout_, FlatViews::Role::kPlain),
      mask_floats_(total(network_->dropout_shapes()) * job_.train.batch * sizeof(float)) {
  make_masks();
}

void TorchComputer::make_masks() {
  auto* floats = reinterpret_cast<float*>(mask_floats_.begin());
  for (const auto& shape : network_->dropout_shapes()) {
    masks_.push_back(at::from_blob(floats, batched(job_.train.batch, shape), at::kFloat));
    floats += job_.train.batch * size_of(shape);
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
  const auto loss = scorer_.loss_sum(network_->forward(pass, batch_of(batch)), reader_, batch);
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
  const auto answers = network_->forward(pass, batch_of(count));
  engine::EvalOutcome outcome;
  outcome.loss_sum = *scorer_.loss_sum(answers, reader_, count).data_ptr<float>();
  outcome.correct_count = scorer_.correct_count(answers, reader_, count);
  return outcome;
}

// With one channel both orders of an image are the same memory, and only the strides have to say
// so.
at::Tensor TorchComputer::batch_of(std::uint64_t count) {
  const auto size = extent(space_.sample_size());
  const auto form = network_->batch_form();
  if (form == BatchForm::kTokens) {
    return at::from_blob(reader_.tokens(), {extent(count), size}, at::kLong);
  }
  if (form == BatchForm::kRows) {
    return at::from_blob(reader_.values(), {extent(count), size}, at::kFloat);
  }
  const auto shape = batched(count, {space_.sample_shape.begin(), space_.sample_shape.end()});
  if (shape[1] > 1) {
    const auto batch = at::from_blob(reader_.values(), shape, at::kFloat);
    return batch.contiguous(at::MemoryFormat::ChannelsLast);
  }
  return at::from_blob(reader_.values(), shape, {size, 1, shape[3], 1}, at::kFloat);
}

}  // namespace wide::train
