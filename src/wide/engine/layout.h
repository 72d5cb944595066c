#pragma once
// Where each tensor of a model lies in the flat float32 arrays that everyone holds.
//
//   values = | parameter 0 | parameter 1 | … | buffer 0 | buffer 1 | … |
//            |<------ parameter_count ----->|<---- buffer_count ------>|
//
// Gradients, updates and weights share this layout; the optimiser sees the parameters alone.
// Names are PyTorch's ("conv0.weight", "norm0.running_mean"), so that exported files load there.

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

Layout make_layout(const Model& model, const SampleSpace& space);

// The values at step 0, from a counter-based generator and elementary arithmetic: weights and
// biases uniform within ±1/sqrt(fan_in) as PyTorch does; norms 1 and 0. No libtorch needed.
// The stream of a tensor is named by the seed and its place in `layout.tensors`.
void fill_genesis(const Model& model, const Layout& layout, std::uint64_t seed,
                  std::span<float> values);

}  // namespace wide::engine
