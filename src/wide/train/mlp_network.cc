// linear0 [norm0] relu dropout … linearN

#include <ATen/ops/relu.h>
#include <fmt/format.h>

#include <utility>

#include "wide/train/layers.h"

namespace wide::train {

namespace {

class MlpNetwork final : public Network {
 public:
  MlpNetwork(const engine::Model& model, const engine::Layout& layout) {
    const auto linear_count = model.layers.size() - 1;
    for (std::size_t i = 0; i < linear_count; ++i) {
      linears_.push_back(affine_of(layout, fmt::format("linear{}", i)));
      if (i + 1 == linear_count) break;
      if (model.batch_norm) norms_.push_back(norm_of(layout, fmt::format("norm{}", i)));
      if (model.dropout > 0) dropout_shapes_.push_back({model.layers[i + 1]});
    }
  }

  BatchForm batch_form() const override { return BatchForm::kRows; }

  at::Tensor forward(const Pass& pass, at::Tensor values) const override {
    for (std::size_t i = 0; i + 1 < linears_.size(); ++i) {
      values = linear(pass, linears_[i], values);
      if (!norms_.empty()) values = batch_norm(pass, norms_[i], values);
      values = thin_out(pass, i, values.relu_());
    }
    return linear(pass, linears_.back(), values);
  }

 private:
  std::vector<Affine> linears_;
  std::vector<Norm> norms_;  // empty without batch-norm
};

}  // namespace

std::unique_ptr<Network> make_mlp(const engine::Model& model, const engine::Layout& layout) {
  return std::make_unique<MlpNetwork>(model, layout);
}

}  // namespace wide::train
