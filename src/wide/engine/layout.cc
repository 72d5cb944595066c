#include "wide/engine/layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "wide/base/check.h"

namespace wide::engine {

namespace {

// Collects parameters in model order; buffers wait until all parameters have their place.
class LayoutWriter final {
 public:
  void affine(const std::string& layer, std::vector<std::uint32_t> weight_shape) {
    const auto rows = weight_shape.front();
    parameter(layer + ".weight", std::move(weight_shape));
    parameter(layer + ".bias", {rows});
  }
  void weight(const std::string& layer, std::vector<std::uint32_t> shape) {
    parameter(layer + ".weight", std::move(shape));
  }
  void layer_norm(const std::string& layer, std::uint32_t width) {
    parameter(layer + ".weight", {width});
    parameter(layer + ".bias", {width});
  }
  void norm(const std::string& layer, std::uint32_t width) {
    layer_norm(layer, width);
    buffers_.push_back({layer + ".running_mean", {width}, 0, width, true});
    buffers_.push_back({layer + ".running_var", {width}, 0, width, true});
  }

  Layout take() {
    layout_.parameter_count = end_;
    for (auto& buffer : buffers_) place(std::move(buffer));
    layout_.buffer_count = end_ - layout_.parameter_count;
    return std::move(layout_);
  }

 private:
  void parameter(std::string name, std::vector<std::uint32_t> shape) {
    std::uint64_t size = 1;
    for (const auto extent : shape) size *= extent;
    place({std::move(name), std::move(shape), 0, size, false});
  }
  void place(TensorSpec tensor) {
    tensor.offset = end_;
    end_ += tensor.size;
    layout_.tensors.push_back(std::move(tensor));
  }

  Layout layout_;
  std::vector<TensorSpec> buffers_;
  std::uint64_t end_ = 0;
};

Layout mlp_layout(const Model& model) {
  LayoutWriter writer;
  for (std::size_t i = 0; i + 1 < model.layers.size(); ++i) {
    const bool hidden = i + 2 < model.layers.size();
    writer.affine(fmt::format("linear{}", i), {model.layers[i + 1], model.layers[i]});
    if (hidden && model.batch_norm) writer.norm(fmt::format("norm{}", i), model.layers[i + 1]);
  }
  return writer.take();
}

Layout cnn_layout(const Model& model, const SampleSpace& space) {
  WIDE_CHECK(space.sample_shape.size() == 3, "validate_fit comes first");
  LayoutWriter writer;
  auto depth = space.sample_shape[0];
  auto rows = space.sample_shape[1];
  auto columns = space.sample_shape[2];
  for (std::size_t i = 0; i < model.channels.size(); ++i) {
    writer.affine(fmt::format("conv{}", i), {model.channels[i], depth, 3, 3});
    if (model.batch_norm) writer.norm(fmt::format("norm{}", i), model.channels[i]);
    depth = model.channels[i];
    rows /= 2;
    columns /= 2;
  }
  writer.affine("hidden", {model.hidden, depth * rows * columns});
  writer.affine("output", {space.output_count(), model.hidden});
  return writer.take();
}

void resnet_block(LayoutWriter& writer, const std::string& block, std::uint32_t before,
                  std::uint32_t after) {
  writer.weight(block + ".conv1", {after, before, 3, 3});
  writer.norm(block + ".norm1", after);
  writer.weight(block + ".conv2", {after, after, 3, 3});
  writer.norm(block + ".norm2", after);
}

Layout resnet_layout(const Model& model, const SampleSpace& space) {
  WIDE_CHECK(space.sample_shape.size() == 3, "validate_fit comes first");
  LayoutWriter writer;
  writer.weight("stem.conv", {model.width, space.sample_shape[0], 3, 3});
  writer.norm("stem.norm", model.width);
  auto before = model.width;
  for (std::uint32_t stage = 0; stage < kResnetStages; ++stage) {
    const auto after = model.width << stage;
    for (std::uint32_t i = 0; i < resnet_blocks(model); ++i) {
      const auto block = fmt::format("stages.{}.{}", stage, i);
      resnet_block(writer, block, i == 0 ? before : after, after);
      if (stage == 0 || i > 0) continue;
      writer.weight(block + ".shortcut.conv", {after, before, 1, 1});
      writer.norm(block + ".shortcut.norm", after);
    }
    before = after;
  }
  writer.affine("head", {space.output_count(), before});
  return writer.take();
}

void gpt_layer(LayoutWriter& writer, const std::string& layer, std::uint32_t width) {
  writer.layer_norm(layer + ".ln_1", width);
  writer.affine(layer + ".attn.c_attn", {3 * width, width});
  writer.affine(layer + ".attn.c_proj", {width, width});
  writer.layer_norm(layer + ".ln_2", width);
  writer.affine(layer + ".mlp.c_fc", {4 * width, width});
  writer.affine(layer + ".mlp.c_proj", {width, 4 * width});
}

Layout gpt_layout(const Model& model) {
  LayoutWriter writer;
  writer.weight("transformer.wte", {model.vocabulary, model.width});
  writer.weight("transformer.wpe", {model.context, model.width});
  for (std::uint32_t i = 0; i < model.layer_count; ++i) {
    gpt_layer(writer, fmt::format("transformer.h.{}", i), model.width);
  }
  writer.layer_norm("transformer.ln_f", model.width);
  if (!model.tied) writer.weight("lm_head", {model.vocabulary, model.width});
  return writer.take();
}

}  // namespace

const TensorSpec& Layout::find(std::string_view name) const {
  const auto found = std::ranges::find(tensors, name, &TensorSpec::name);
  WIDE_CHECK(found != tensors.end(), "no tensor of that name");
  return *found;
}

Layout make_layout(const Model& model, const SampleSpace& space) {
  switch (model.kind) {
    case ModelKind::kMlp:
      return mlp_layout(model);
    case ModelKind::kCnn:
      return cnn_layout(model, space);
    case ModelKind::kResnet:
      return resnet_layout(model, space);
    case ModelKind::kGpt:
      return gpt_layout(model);
    case ModelKind::kTorchScript:
      break;
  }
  WIDE_CHECK(false, "a TorchScript file's layout is read from it");
  return {};
}

}  // namespace wide::engine
