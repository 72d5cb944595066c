#pragma once
// What the built-in networks share: where a layer's tensors are in layout.tensors, and the layers
// as functions of a pass.

#include <cstddef>
#include <string>

#include "wide/train/network.h"

namespace wide::train {

struct Affine {
  std::size_t weight;
  std::size_t bias;
};

struct Norm {
  Affine affine;
  std::size_t running_mean;
  std::size_t running_var;
};

// `name` is the layer's: "stages.0.1.norm2". WIDE_CHECKs that the layout has it.
std::size_t weight_of(const engine::Layout& layout, const std::string& name);
Affine affine_of(const engine::Layout& layout, const std::string& name);
Norm norm_of(const engine::Layout& layout, const std::string& name);

at::Tensor linear(const Pass& pass, const Affine& layer, const at::Tensor& values);
at::Tensor batch_norm(const Pass& pass, const Norm& layer, const at::Tensor& values);
at::Tensor layer_norm(const Pass& pass, const Affine& layer, const at::Tensor& values);

// Times the mask-th mask, where there is dropout.
at::Tensor thin_out(const Pass& pass, std::size_t mask, at::Tensor values);

}  // namespace wide::train
