#include "wide/train/network.h"

#include "wide/base/check.h"

namespace wide::train {

std::unique_ptr<Network> make_network(const engine::Model& model, const engine::Layout& layout) {
  switch (model.kind) {
    case engine::ModelKind::kMlp:
      return make_mlp(model, layout);
    case engine::ModelKind::kCnn:
      return make_cnn(model, layout);
    case engine::ModelKind::kResnet:
      return make_resnet(model, layout);
    case engine::ModelKind::kGpt:
      return make_gpt(model, layout);
    case engine::ModelKind::kTorchScript:
      break;
  }
  WIDE_CHECK(false, "a TorchScript model is not built in");
  return nullptr;
}

}  // namespace wide::train
