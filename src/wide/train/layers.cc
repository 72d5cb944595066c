#include "wide/train/layers.h"

#include <ATen/ops/batch_norm.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mul.h>

namespace wide::train {

namespace {

constexpr double kNormMomentum = 0.1;  // torch.nn's defaults
constexpr double kNormEps = 1e-5;

std::size_t position_of(const engine::Layout& layout, const std::string& name) {
  return static_cast<std::size_t>(&layout.find(name) - layout.tensors.data());
}

}  // namespace

std::size_t weight_of(const engine::Layout& layout, const std::string& name) {
  return position_of(layout, name + ".weight");
}

Affine affine_of(const engine::Layout& layout, const std::string& name) {
  return {weight_of(layout, name), position_of(layout, name + ".bias")};
}

Norm norm_of(const engine::Layout& layout, const std::string& name) {
  return {affine_of(layout, name), position_of(layout, name + ".running_mean"),
          position_of(layout, name + ".running_var")};
}

at::Tensor linear(const Pass& pass, const Affine& layer, const at::Tensor& values) {
  return at::linear(values, pass.parameters[layer.weight], pass.parameters[layer.bias]);
}

at::Tensor batch_norm(const Pass& pass, const Norm& layer, const at::Tensor& values) {
  return at::batch_norm(values, pass.parameters[layer.affine.weight],
                        pass.parameters[layer.affine.bias], pass.buffers[layer.running_mean],
                        pass.buffers[layer.running_var], pass.training, kNormMomentum, kNormEps,
                        /*cudnn_enabled=*/false);
}

at::Tensor layer_norm(const Pass& pass, const Affine& layer, const at::Tensor& values) {
  return at::layer_norm(values, {values.size(-1)}, pass.parameters[layer.weight],
                        pass.parameters[layer.bias], kNormEps, /*cudnn_enable=*/false);
}

at::Tensor thin_out(const Pass& pass, std::size_t mask, at::Tensor values) {
  return pass.masks.empty() ? values : values.mul(pass.masks[mask]);
}

}  // namespace wide::train
