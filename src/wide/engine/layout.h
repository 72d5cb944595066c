#pragma once
// Where each tensor of a model lies in the flat float32 arrays that everyone holds.
//
//   values = | parameter 0 | parameter 1 | … | buffer 0 | buffer 1 | … |
//            |<------ parameter_count ----->|<---- buffer_count ------>|
//
// Gradients, updates and weights share this layout; the optimiser sees the parameters alone.
// Names are PyTorch's ("conv0.weight", "norm0.running_mean"), so that exported files load there:
//
//   mlp, cnn   linear0 norm0 linear1 … / conv0 norm0 … hidden output
//   resnet     stem.conv stem.norm stages.S.B.{conv1 norm1 conv2 norm2 [shortcut.conv
//              shortcut.norm]} head; convolutions have no bias
//   gpt        nanoGPT's: transformer.{wte wpe h.L.{ln_1 attn.c_attn attn.c_proj ln_2 mlp.c_fc
//              mlp.c_proj} ln_f}, and lm_head where it is not tied

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wide/engine/job.h"

namespace wide::engine {

struct TensorSpec {
  std::string name;
  std::vector<std::uint32_t> shape;
  std::uint64_t offset = 0;  // in floats, from the start of values
  std::uint64_t size = 0;
  bool is_buffer = false;
};

struct Layout {
  std::vector<TensorSpec> tensors;  // parameters first, then buffers
  std::uint64_t parameter_count = 0;
  std::uint64_t buffer_count = 0;

  std::uint64_t value_count() const { return parameter_count + buffer_count; }
  const TensorSpec& find(std::string_view name) const;  // WIDE_CHECKs that it is there
};

// A resnet's stages, and the blocks in each of them: depth = 6n + 2.
inline constexpr std::uint32_t kResnetStages = 3;
inline std::uint32_t resnet_blocks(const Model& model) { return (model.depth - 2) / 6; }

// Of a built-in model; a TorchScript file's layout is read from it, where libtorch is.
Layout make_layout(const Model& model, const SampleSpace& space);

}  // namespace wide::engine
