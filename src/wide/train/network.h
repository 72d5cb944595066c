#pragma once
// The built-in models as functions of (values, batch): nothing is kept between calls.
//
//   mlp     linear0 [norm0] relu dropout … linearN
//   cnn     (conv0 [norm0] pool relu) … flatten hidden relu dropout output
//   resnet  stem, three stages of blocks x + f(x), mean over the image, head
//   gpt     embeddings dropout (x + attention(norm(x)), x + mlp(norm(x))) … norm head
//
// Names and shapes are engine::make_layout's; a state_dict of the same torch.nn modules fits.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
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

// How a batch lies in memory: rows of values, images with the channel innermost (where convolution,
// norm and pool are fastest), or whole numbers.
enum class BatchForm { kRows, kImages, kTokens };

class Network {
 public:
  virtual ~Network() = default;

  // Answers: a row per sample, or, for tokens, per sample and place.
  virtual at::Tensor forward(const Pass& pass, at::Tensor batch) const = 0;
  virtual BatchForm batch_form() const = 0;

  // For each dropout layer the shape of what it thins out, of one sample; empty without dropout.
  using Shapes = std::vector<std::vector<std::int64_t>>;
  const Shapes& dropout_shapes() const { return dropout_shapes_; }

 protected:
  Shapes dropout_shapes_;
};

// Of any built-in kind; the four below are its parts.
std::unique_ptr<Network> make_network(const engine::Model& model, const engine::Layout& layout);

std::unique_ptr<Network> make_mlp(const engine::Model& model, const engine::Layout& layout);
std::unique_ptr<Network> make_cnn(const engine::Model& model, const engine::Layout& layout);
std::unique_ptr<Network> make_resnet(const engine::Model& model, const engine::Layout& layout);
std::unique_ptr<Network> make_gpt(const engine::Model& model, const engine::Layout& layout);

}  // namespace wide::train
