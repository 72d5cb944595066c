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
  void norm(const std::string& layer, std::uint32_t width) {
    parameter(layer + ".weight", {width});
    parameter(layer + ".bias", {width});
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
  writer.affine("output", {space.class_count, model.hidden});
  return writer.take();
}

}  // namespace

const TensorSpec& Layout::find(std::string_view name) const {
  const auto found = std::ranges::find(tensors, name, &TensorSpec::name);
  WIDE_CHECK(found != tensors.end(), "no tensor of that name");
  return *found;
}

Layout make_layout(const Model& model, const SampleSpace& space) {
  return model.kind == ModelKind::kMlp ? mlp_layout(model) : cnn_layout(model, space);
}

}  // namespace wide::engine
