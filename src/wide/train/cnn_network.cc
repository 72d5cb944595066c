// (conv0 [norm0] pool relu) … flatten hidden relu dropout output

#include <ATen/ops/conv2d.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>
#include <fmt/format.h>

#include <utility>

#include "wide/train/layers.h"

namespace wide::train {

namespace {

class CnnNetwork final : public Network {
 public:
  CnnNetwork(const engine::Model& model, const engine::Layout& layout)
      : hidden_(affine_of(layout, "hidden")), output_(affine_of(layout, "output")) {
    for (std::size_t i = 0; i < model.channels.size(); ++i) {
      convs_.push_back(affine_of(layout, fmt::format("conv{}", i)));
      if (model.batch_norm) norms_.push_back(norm_of(layout, fmt::format("norm{}", i)));
    }
    if (model.dropout > 0) dropout_shapes_.push_back({model.hidden});
  }

  BatchForm batch_form() const override { return BatchForm::kImages; }

  at::Tensor forward(const Pass& pass, at::Tensor images) const override {
    for (std::size_t i = 0; i < convs_.size(); ++i) images = conv_block(pass, i, images);
    // flatten walks channels, rows, columns whatever the order in memory, as PyTorch's does.
    auto values = linear(pass, hidden_, images.flatten(1)).relu_();
    return linear(pass, output_, thin_out(pass, 0, std::move(values)));
  }

 private:
  // ReLU after the pool gives the same values and gradients as before it, at a quarter of the work:
  // both only ever pass on the largest of four, where it is positive.
  at::Tensor conv_block(const Pass& pass, std::size_t layer, const at::Tensor& images) const {
    const auto& at = convs_[layer];
    auto maps = at::conv2d(images, pass.parameters[at.weight], pass.parameters[at.bias],
                           /*stride=*/1, /*padding=*/1);
    if (!norms_.empty()) maps = batch_norm(pass, norms_[layer], maps);
    return at::max_pool2d(maps, /*kernel_size=*/2).relu_();
  }

  std::vector<Affine> convs_;
  std::vector<Norm> norms_;  // empty without batch-norm
  Affine hidden_;
  Affine output_;
};

}  // namespace

std::unique_ptr<Network> make_cnn(const engine::Model& model, const engine::Layout& layout) {
  return std::make_unique<CnnNetwork>(model, layout);
}

}  // namespace wide::train
