#include <algorithm>
#include <cmath>

#include "wide/base/check.h"
#include "wide/base/philox.h"
#include "wide/engine/layout.h"

namespace wide::engine {

namespace {

constexpr std::uint32_t kGenesisPurpose = 0x67656e65;  // "gene"

bool starts_with_norm(const TensorSpec& tensor) { return tensor.name.starts_with("norm"); }
bool ends_with(const TensorSpec& tensor, std::string_view part) {
  return tensor.name.ends_with(part);
}

// Of the layer that a weight or a bias belongs to: all extents of the weight but the first.
std::uint64_t fan_in(const Layout& layout, const TensorSpec& tensor) {
  const auto layer = tensor.name.substr(0, tensor.name.find('.'));
  const auto& weight = layout.find(layer + ".weight");
  return weight.size / weight.shape.front();
}

// A square root in double is rounded correctly everywhere; 2u - 1 is exact.
void fill_uniform(const RandomStream& stream, std::uint64_t fan, std::span<float> values) {
  const auto bound = static_cast<float>(1.0 / std::sqrt(static_cast<double>(fan)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = (2.0f * stream.uniform(i) - 1.0f) * bound;
  }
}

}  // namespace

void fill_genesis(const Model&, const Layout& layout, std::uint64_t seed, std::span<float> values) {
  WIDE_CHECK(values.size() == layout.value_count());
  for (std::size_t index = 0; index < layout.tensors.size(); ++index) {
    const auto& tensor = layout.tensors[index];
    const auto place = values.subspan(tensor.offset, tensor.size);
    if (starts_with_norm(tensor)) {
      const bool one = ends_with(tensor, ".weight") || ends_with(tensor, ".running_var");
      std::ranges::fill(place, one ? 1.0f : 0.0f);
    } else {
      fill_uniform(RandomStream(seed, kGenesisPurpose, index), fan_in(layout, tensor), place);
    }
  }
}

}  // namespace wide::engine
