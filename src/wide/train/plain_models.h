#pragma once
// For the benchmark: a resnet and a gpt as one writes them with torch::nn, and the loop that one
// writes around them. The yardstick for ours.

#include <torch/torch.h>

#include <cmath>
#include <limits>

#include "wide/engine/job.h"

namespace wide::train {

struct PlainBlock : torch::nn::Module {
  PlainBlock(std::int64_t before, std::int64_t after, std::int64_t stride) {
    using torch::nn::BatchNorm2d;
    using torch::nn::Conv2d;
    using torch::nn::Conv2dOptions;
    conv1 = register_module(
        "conv1", Conv2d(Conv2dOptions(before, after, 3).stride(stride).padding(1).bias(false)));
    norm1 = register_module("norm1", BatchNorm2d(after));
    conv2 = register_module("conv2", Conv2d(Conv2dOptions(after, after, 3).padding(1).bias(false)));
    norm2 = register_module("norm2", BatchNorm2d(after));
    if (stride == 1) return;
    shortcut = register_module(
        "shortcut",
        torch::nn::Sequential(Conv2d(Conv2dOptions(before, after, 1).stride(stride).bias(false)),
                              BatchNorm2d(after)));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    const auto y = norm2(conv2(torch::relu(norm1(conv1(x)))));
    return torch::relu(y + (shortcut ? shortcut->forward(x) : x));
  }

  torch::nn::Conv2d conv1{nullptr}, conv2{nullptr};
  torch::nn::BatchNorm2d norm1{nullptr}, norm2{nullptr};
  torch::nn::Sequential shortcut{nullptr};
};

struct PlainResnet : torch::nn::Module {
  PlainResnet(const engine::Model& model, std::int64_t channels, std::int64_t classes) {
    std::int64_t before = model.width;
    body->push_back(
        torch::nn::Conv2d(torch::nn::Conv2dOptions(channels, before, 3).padding(1).bias(false)));
    body->push_back(torch::nn::BatchNorm2d(before));
    body->push_back(torch::nn::ReLU());
    for (std::int64_t stage = 0; stage < 3; ++stage) {
      for (std::uint32_t i = 0; i < (model.depth - 2) / 6; ++i) {
        const std::int64_t after = model.width << stage;
        body->push_back(PlainBlock(before, after, stage > 0 && i == 0 ? 2 : 1));
        before = after;
      }
    }
    register_module("body", body);
    head = register_module("head", torch::nn::Linear(before, classes));
  }
  torch::Tensor forward(const torch::Tensor& x) { return head(body->forward(x).mean({2, 3})); }

  torch::nn::Sequential body;
  torch::nn::Linear head{nullptr};
};

struct PlainLayer : torch::nn::Module {
  PlainLayer(const engine::Model& model) : heads(model.heads) {
    using torch::nn::LayerNorm;
    using torch::nn::LayerNormOptions;
    using torch::nn::Linear;
    const std::int64_t width = model.width;
    norm1 = register_module("norm1", LayerNorm(LayerNormOptions({width})));
    norm2 = register_module("norm2", LayerNorm(LayerNormOptions({width})));
    attend = register_module("attend", Linear(width, 3 * width));
    project = register_module("project", Linear(width, width));
    widen = register_module("widen", Linear(width, 4 * width));
    narrow = register_module("narrow", Linear(4 * width, width));
    dropout = register_module("dropout", torch::nn::Dropout(model.dropout));
    const std::int64_t context = model.context;
    later = register_buffer("later", torch::ones({context, context}, torch::kBool).triu(1));
  }
  torch::Tensor attention(const torch::Tensor& x) {
    const auto batch = x.size(0), places = x.size(1), width = x.size(2);
    const auto parts = attend(x).split(width, 2);
    const auto of_heads = [&](const torch::Tensor& part) {
      return part.view({batch, places, heads, width / heads}).transpose(1, 2);
    };
    const auto scores = of_heads(parts[0]).matmul(of_heads(parts[1]).transpose(2, 3)) *
                        (1.0 / std::sqrt(static_cast<double>(width / heads)));
    const auto infinity = std::numeric_limits<float>::infinity();
    const auto weights = dropout(scores.masked_fill(later, -infinity).softmax(-1));
    const auto mixed = weights.matmul(of_heads(parts[2])).transpose(1, 2).contiguous();
    return project(mixed.view({batch, places, width}));
  }
  torch::Tensor forward(torch::Tensor x) {
    x = x + dropout(attention(norm1(x)));
    return x + dropout(narrow(torch::gelu(widen(norm2(x)))));
  }

  std::int64_t heads;
  torch::nn::LayerNorm norm1{nullptr}, norm2{nullptr};
  torch::nn::Linear attend{nullptr}, project{nullptr}, widen{nullptr}, narrow{nullptr};
  torch::nn::Dropout dropout{nullptr};
  torch::Tensor later;
};

struct PlainGpt : torch::nn::Module {
  explicit PlainGpt(const engine::Model& model) {
    const std::int64_t width = model.width;
    tokens = register_module("tokens", torch::nn::Embedding(model.vocabulary, width));
    places = register_module("places", torch::nn::Embedding(model.context, width));
    for (std::uint32_t i = 0; i < model.layer_count; ++i) layers->push_back(PlainLayer(model));
    register_module("layers", layers);
    norm = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})));
    dropout = register_module("dropout", torch::nn::Dropout(model.dropout));
  }
  torch::Tensor forward(const torch::Tensor& batch) {
    const auto x = tokens(batch) + places(torch::arange(batch.size(1)));
    const auto values = norm(layers->forward(dropout(x)));
    return torch::linear(values, tokens->weight).flatten(0, 1);
  }

  torch::nn::Embedding tokens{nullptr}, places{nullptr};
  torch::nn::Sequential layers;
  torch::nn::LayerNorm norm{nullptr};
  torch::nn::Dropout dropout{nullptr};
};

// One step of the loop, without the optimiser.
template <class Model>
double plain_step(Model& model, const torch::Tensor& batch, const torch::Tensor& labels) {
  model.zero_grad();
  const auto loss = torch::nn::functional::cross_entropy(model.forward(batch), labels);
  loss.backward();
  return loss.template item<double>();
}

}  // namespace wide::train
