#pragma once
// The built-in models as functions of (values, batch): nothing is kept between calls.
//
//   mlp   linear0 [norm0] relu dropout … linearN
//   cnn   (conv0 [norm0] pool relu) … flatten hidden relu dropout output
//
// Names and shapes are engine::make_layout's; a state_dict of the same torch.nn modules fits.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "wide/engine/layout.h"
#include "wide/train/flat_views.h"

namespace wide::train {

// What one pass through the network reads, and the buffers that it writes when it trains.
struct Pass {
  const Tensors& parameters;
  Tensors& buffers;                   // running statistics: moved on in training, else only read
  std::span<const at::Tensor> masks;  // one per dropout layer; empty: no dropout
  bool training = false;
};

class Network final {
 public:
  // Where a layer's tensors are in layout.tensors.
  struct Affine {
    std::size_t weight;
    std::size_t bias;
  };
  struct Norm {
    Affine affine;
    std::size_t running_mean;
    std::size_t running_var;
  };

  Network(const engine::Model& model, const engine::Layout& layout);

  at::Tensor forward(const Pass& pass, at::Tensor batch) const;

  // How wide the values are that each dropout layer thins out; empty without dropout.
  const std::vector<std::uint32_t>& dropout_widths() const { return dropout_widths_; }

 private:
  void build_mlp(const engine::Model& model, const engine::Layout& layout);
  void build_cnn(const engine::Model& model, const engine::Layout& layout);

  at::Tensor forward_mlp(const Pass& pass, at::Tensor values) const;
  at::Tensor forward_cnn(const Pass& pass, at::Tensor images) const;
  at::Tensor linear(const Pass& pass, std::size_t layer, const at::Tensor& values) const;
  at::Tensor conv_block(const Pass& pass, std::size_t layer, const at::Tensor& images) const;
  at::Tensor normalise(const Pass& pass, std::size_t layer, at::Tensor values) const;
  at::Tensor thin_out(const Pass& pass, std::size_t layer, at::Tensor values) const;

  engine::ModelKind kind_;
  std::vector<Affine> convs_;
  std::vector<Affine> linears_;
  std::vector<Norm> norms_;  // empty without batch-norm
  std::vector<std::uint32_t> dropout_widths_;
};

}  // namespace wide::train
