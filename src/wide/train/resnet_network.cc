// A residual network for small images (He et al. 2015, section 4.2):
//
//   stem      3×3 convolution to `width`, norm, relu
//   stages    three of n blocks each, with width, 2·width, 4·width channels
//   block     x ─ conv1 norm1 relu conv2 norm2 ─(+)─ relu
//             └────── [1×1 conv, norm] ─────────┘    the bracket, and stride 2, where a stage
//             begins
//   head      mean over the image, linear

#include <ATen/ops/conv2d.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/thnn_conv2d.h>
#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "wide/train/layers.h"

namespace wide::train {

namespace {

struct ConvNorm {
  std::size_t weight;
  Norm norm;
};

struct Block {
  ConvNorm first;
  ConvNorm second;
  std::optional<ConvNorm> shortcut;
  std::int64_t stride = 1;
};

ConvNorm conv_norm_of(const engine::Layout& layout, const std::string& conv,
                      const std::string& norm) {
  return {weight_of(layout, conv), norm_of(layout, norm)};
}

Block block_of(const engine::Layout& layout, std::uint32_t stage, std::uint32_t index) {
  const auto name = fmt::format("stages.{}.{}", stage, index);
  Block block{conv_norm_of(layout, name + ".conv1", name + ".norm1"),
              conv_norm_of(layout, name + ".conv2", name + ".norm2"), std::nullopt, 1};
  if (stage > 0 && index == 0) {
    block.shortcut = conv_norm_of(layout, name + ".shortcut.conv", name + ".shortcut.norm");
    block.stride = 2;
  }
  return block;
}

// oneDNN 2.6.3, of Debian 12, writes past the end of what it is given where a 1×1 convolution goes
// back through AVX2 kernels with channels that are no multiple of eight.
bool is_safe_for_onednn(const at::Tensor& weight) {
  return weight.size(2) > 1 || (weight.size(0) % 8 == 0 && weight.size(1) % 8 == 0);
}

at::Tensor conv_norm(const Pass& pass, const ConvNorm& layer, const at::Tensor& images,
                     std::int64_t stride = 1) {
  const auto& weight = pass.parameters[layer.weight];
  const auto padding = weight.size(2) / 2;
  if (is_safe_for_onednn(weight)) {
    return batch_norm(pass, layer.norm, at::conv2d(images, weight, {}, stride, padding));
  }
  const std::array<std::int64_t, 2> strides = {stride, stride}, paddings = {padding, padding};
  const auto extent = weight.sizes().slice(2);
  const auto maps = at::thnn_conv2d(images, weight, extent, {}, strides, paddings);
  return batch_norm(pass, layer.norm, maps);
}

class ResnetNetwork final : public Network {
 public:
  ResnetNetwork(const engine::Model& model, const engine::Layout& layout)
      : stem_(conv_norm_of(layout, "stem.conv", "stem.norm")), head_(affine_of(layout, "head")) {
    for (std::uint32_t stage = 0; stage < engine::kResnetStages; ++stage) {
      for (std::uint32_t i = 0; i < engine::resnet_blocks(model); ++i) {
        blocks_.push_back(block_of(layout, stage, i));
      }
    }
  }

  BatchForm batch_form() const override { return BatchForm::kImages; }

  at::Tensor forward(const Pass& pass, at::Tensor images) const override {
    images = conv_norm(pass, stem_, images).relu_();
    for (const auto& block : blocks_) images = through(pass, block, images);
    return linear(pass, head_, images.mean({2, 3}));
  }

 private:
  static at::Tensor through(const Pass& pass, const Block& block, const at::Tensor& images) {
    const auto inner = conv_norm(pass, block.first, images, block.stride).relu_();
    const auto kept =
        block.shortcut ? conv_norm(pass, *block.shortcut, images, block.stride) : images;
    return conv_norm(pass, block.second, inner).add_(kept).relu_();
  }

  ConvNorm stem_;
  std::vector<Block> blocks_;
  Affine head_;
};

}  // namespace

std::unique_ptr<Network> make_resnet(const engine::Model& model, const engine::Layout& layout) {
  return std::make_unique<ResnetNetwork>(model, layout);
}

}  // namespace wide::train
