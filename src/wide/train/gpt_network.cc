// A causal transformer (Radford et al. 2019), norms before the branches:
//
//   x = dropout(wte[tokens] + wpe)
//   x = x + dropout(project(attention(ln_1(x)))) ┐ per layer
//   x = x + dropout(project(gelu(fc(ln_2(x)))))  ┘
//   scores = ln_f(x) · (wte or lm_head)ᵀ
//
// Dropout layers, in order: 0 the embedding; 3L+1 the attention weights of layer L, 3L+2 what its
// attention adds, 3L+3 what its mlp adds.

#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/unbind.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "wide/train/layers.h"

namespace wide::train {

namespace {

struct Layer {
  Affine norm1;
  Affine attend;  // queries, keys and values side by side
  Affine project;
  Affine norm2;
  Affine widen;
  Affine narrow;
};

Layer layer_of(const engine::Layout& layout, std::uint32_t index) {
  const auto name = fmt::format("transformer.h.{}", index);
  return {affine_of(layout, name + ".ln_1"),        affine_of(layout, name + ".attn.c_attn"),
          affine_of(layout, name + ".attn.c_proj"), affine_of(layout, name + ".ln_2"),
          affine_of(layout, name + ".mlp.c_fc"),    affine_of(layout, name + ".mlp.c_proj")};
}

class GptNetwork final : public Network {
 public:
  GptNetwork(const engine::Model& model, const engine::Layout& layout)
      : heads_(model.heads),
        head_width_(model.width / model.heads),
        tokens_(weight_of(layout, "transformer.wte")),
        places_(weight_of(layout, "transformer.wpe")),
        norm_(affine_of(layout, "transformer.ln_f")),
        scores_(model.tied ? tokens_ : weight_of(layout, "lm_head")) {
    for (std::uint32_t i = 0; i < model.layer_count; ++i) layers_.push_back(layer_of(layout, i));
    if (model.dropout > 0) name_dropouts(model.context, model.width);
    // Added to the scores before softmax: what comes later weighs nothing.
    const std::int64_t context = model.context;
    later_ = at::full({context, context}, -std::numeric_limits<float>::infinity()).triu_(1);
  }

  BatchForm batch_form() const override { return BatchForm::kTokens; }

  at::Tensor forward(const Pass& pass, at::Tensor batch) const override {
    const auto embedded = at::embedding(pass.parameters[tokens_], batch);
    auto values = thin_out(pass, 0, embedded.add(places_up_to(pass, batch.size(1))));
    for (std::size_t i = 0; i < layers_.size(); ++i) values = through(pass, i, values);
    values = layer_norm(pass, norm_, values).flatten(0, 1);
    return at::linear(values, pass.parameters[scores_]);
  }

 private:
  void name_dropouts(std::int64_t context, std::int64_t width) {
    dropout_shapes_.push_back({context, width});
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      dropout_shapes_.push_back({heads_, context, context});
      dropout_shapes_.push_back({context, width});
      dropout_shapes_.push_back({context, width});
    }
  }

  at::Tensor places_up_to(const Pass& pass, std::int64_t count) const {
    const auto& places = pass.parameters[places_];
    return count == places.size(0) ? places : places.narrow(0, 0, count);
  }

  at::Tensor through(const Pass& pass, std::size_t index, const at::Tensor& values) const {
    const auto& layer = layers_[index];
    const auto mask = 3 * index;
    auto branch = attention(pass, layer, mask + 1, layer_norm(pass, layer.norm1, values));
    const auto attended = values.add(thin_out(pass, mask + 2, linear(pass, layer.project, branch)));
    branch = at::gelu(linear(pass, layer.widen, layer_norm(pass, layer.norm2, attended)));
    return attended.add(thin_out(pass, mask + 3, linear(pass, layer.narrow, branch)));
  }

  // [batch, places, width] ─▶ the same: per head, every place mixes the values of those before it.
  at::Tensor attention(const Pass& pass, const Layer& layer, std::size_t mask,
                       const at::Tensor& values) const {
    const auto batch = values.size(0);
    const auto places = values.size(1);
    // [3, batch · heads, places, head_width]: one copy puts every head's matrix together.
    const auto parts = linear(pass, layer.attend, values)
                           .view({batch, places, 3, heads_, head_width_})
                           .permute({2, 0, 3, 1, 4})
                           .reshape({3, batch * heads_, places, head_width_})
                           .unbind(0);
    const auto later =
        places == later_.size(0) ? later_ : later_.slice(0, 0, places).slice(1, 0, places);
    const double scale = 1.0 / std::sqrt(static_cast<double>(head_width_));
    auto weights =
        at::baddbmm(later, parts[0], parts[1].transpose(1, 2), /*beta=*/1, /*alpha=*/scale)
            .softmax(-1);
    if (!pass.masks.empty()) weights = weights.mul(pass.masks[mask].flatten(0, 1));
    return at::bmm(weights, parts[2])
        .view({batch, heads_, places, head_width_})
        .transpose(1, 2)
        .reshape({batch, places, heads_ * head_width_});
  }

  std::int64_t heads_;
  std::int64_t head_width_;
  std::size_t tokens_;
  std::size_t places_;
  std::vector<Layer> layers_;
  Affine norm_;
  std::size_t scores_;
  at::Tensor later_;
};

}  // namespace

std::unique_ptr<Network> make_gpt(const engine::Model& model, const engine::Layout& layout) {
  return std::make_unique<GptNetwork>(model, layout);
}

}  // namespace wide::train
