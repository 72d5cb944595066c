#include "wide/train/network.h"

#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/relu.h>
#include <fmt/format.h>

#include <utility>

namespace wide::train {

namespace {

constexpr double kNormMomentum = 0.1;  // torch.nn's defaults
constexpr double kNormEps = 1e-5;

std::size_t position_of(const engine::Layout& layout, const std::string& name) {
  return static_cast<std::size_t>(&layout.find(name) - layout.tensors.data());
}

Network::Affine affine_of(const engine::Layout& layout, const std::string& name) {
  return {position_of(layout, name + ".weight"), position_of(layout, name + ".bias")};
}

Network::Norm norm_of(const engine::Layout& layout, std::size_t index) {
  const auto name = fmt::format("norm{}", index);
  return {affine_of(layout, name), position_of(layout, name + ".running_mean"),
          position_of(layout, name + ".running_var")};
}

}  // namespace

Network::Network(const engine::Model& model, const engine::Layout& layout) : kind_(model.kind) {
  if (kind_ == engine::ModelKind::kMlp) {
    build_mlp(model, layout);
  } else {
    build_cnn(model, layout);
  }
}

void Network::build_mlp(const engine::Model& model, const engine::Layout& layout) {
  const auto linear_count = model.layers.size() - 1;
  for (std::size_t i = 0; i < linear_count; ++i) {
    linears_.push_back(affine_of(layout, fmt::format("linear{}", i)));
    if (i + 1 == linear_count) break;
    if (model.batch_norm) norms_.push_back(norm_of(layout, i));
    if (model.dropout > 0) dropout_widths_.push_back(model.layers[i + 1]);
  }
}

void Network::build_cnn(const engine::Model& model, const engine::Layout& layout) {
  for (std::size_t i = 0; i < model.channels.size(); ++i) {
    convs_.push_back(affine_of(layout, fmt::format("conv{}", i)));
    if (model.batch_norm) norms_.push_back(norm_of(layout, i));
  }
  linears_ = {affine_of(layout, "hidden"), affine_of(layout, "output")};
  if (model.dropout > 0) dropout_widths_.push_back(model.hidden);
}

at::Tensor Network::forward(const Pass& pass, at::Tensor batch) const {
  return kind_ == engine::ModelKind::kMlp ? forward_mlp(pass, std::move(batch))
                                          : forward_cnn(pass, std::move(batch));
}

at::Tensor Network::forward_mlp(const Pass& pass, at::Tensor values) const {
  if (values.dim() > 2) values = values.flatten(1);
  for (std::size_t i = 0; i + 1 < linears_.size(); ++i) {
    values = normalise(pass, i, linear(pass, i, values)).relu_();
    values = thin_out(pass, i, std::move(values));
  }
  return linear(pass, linears_.size() - 1, values);
}

at::Tensor Network::forward_cnn(const Pass& pass, at::Tensor images) const {
  for (std::size_t i = 0; i < convs_.size(); ++i) images = conv_block(pass, i, images);
  // flatten walks channels, rows, columns whatever the order in memory, as PyTorch's does.
  auto values = linear(pass, 0, images.flatten(1)).relu_();
  return linear(pass, 1, thin_out(pass, 0, std::move(values)));
}

at::Tensor Network::linear(const Pass& pass, std::size_t layer, const at::Tensor& values) const {
  const auto& at = linears_[layer];
  return at::linear(values, pass.parameters[at.weight], pass.parameters[at.bias]);
}

// ReLU after the pool gives the same values and gradients as before it, at a quarter of the work:
// both only ever pass on the largest of four, where it is positive.
at::Tensor Network::conv_block(const Pass& pass, std::size_t layer,
                               const at::Tensor& images) const {
  const auto& at = convs_[layer];
  auto maps = at::conv2d(images, pass.parameters[at.weight], pass.parameters[at.bias],
                         /*stride=*/1, /*padding=*/1);
  return at::max_pool2d(normalise(pass, layer, std::move(maps)), /*kernel_size=*/2).relu_();
}

at::Tensor Network::normalise(const Pass& pass, std::size_t layer, at::Tensor values) const {
  if (norms_.empty()) return values;
  const auto& norm = norms_[layer];
  return at::batch_norm(values, pass.parameters[norm.affine.weight],
                        pass.parameters[norm.affine.bias], pass.buffers[norm.running_mean],
                        pass.buffers[norm.running_var], pass.training, kNormMomentum, kNormEps,
                        /*cudnn_enabled=*/false);
}

at::Tensor Network::thin_out(const Pass& pass, std::size_t layer, at::Tensor values) const {
  return pass.masks.empty() ? values : values.mul(pass.masks[layer]);
}

}  // namespace wide::train
