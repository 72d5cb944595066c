#include "wide/engine/genesis.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include "wide/base/check.h"
#include "wide/base/philox.h"

namespace wide::engine {

namespace {

constexpr std::uint32_t kGenesisPurpose = 0x67656e65;  // "gene"

constexpr double kGptDeviation = 0.02;  // Radford et al. 2019, as nanoGPT has it

bool ends_with(const TensorSpec& tensor, std::string_view part) {
  return tensor.name.ends_with(part);
}

// "stages.0.1.norm2" of "stages.0.1.norm2.running_mean".
std::string layer_of(const TensorSpec& tensor) {
  return tensor.name.substr(0, tensor.name.rfind('.'));
}

bool is_norm(const TensorSpec& tensor) {
  const auto layer = layer_of(tensor);
  const auto word = layer.substr(layer.rfind('.') + 1);  // all of it where there is no dot
  return word.starts_with("norm") || word.starts_with("ln_");
}

void fill_norm(const TensorSpec& tensor, std::span<float> values) {
  const bool one = ends_with(tensor, ".weight") || ends_with(tensor, ".running_var");
  std::ranges::fill(values, one ? 1.0f : 0.0f);
}

// Of the layer that a weight or a bias belongs to: all extents of the weight but the first.
std::uint64_t fan_in(const Layout& layout, const TensorSpec& tensor) {
  const auto& weight = layout.find(layer_of(tensor) + ".weight");
  return weight.size / weight.shape.front();
}

// Of a convolution: all extents but the second.
std::uint64_t fan_out(const TensorSpec& weight) { return weight.size / weight.shape[1]; }

// A square root in double is rounded correctly everywhere; 2u - 1 is exact.
void fill_uniform(const RandomStream& stream, std::uint64_t fan, std::span<float> values) {
  const auto bound = static_cast<float>(1.0 / std::sqrt(static_cast<double>(fan)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = (2.0f * stream.uniform(i) - 1.0f) * bound;
  }
}

void fill_normal(const RandomStream& stream, double deviation, std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(deviation * stream.normal(i));
  }
}

void fill_resnet(const Layout& layout, const TensorSpec& tensor, const RandomStream& stream,
                 std::span<float> values) {
  if (layer_of(tensor) == "head") return fill_uniform(stream, fan_in(layout, tensor), values);
  fill_normal(stream, std::sqrt(2.0 / static_cast<double>(fan_out(tensor))), values);
}

// Residual branches add up: each of the 2·layers ends smaller by the root of their number.
void fill_gpt(const Model& model, const TensorSpec& tensor, const RandomStream& stream,
              std::span<float> values) {
  const bool ends_branch = ends_with(tensor, ".c_proj.weight");
  const double branches = 2.0 * static_cast<double>(model.layer_count);
  if (ends_with(tensor, ".bias")) {
    std::ranges::fill(values, 0.0f);
  } else {
    fill_normal(stream, ends_branch ? kGptDeviation / std::sqrt(branches) : kGptDeviation, values);
  }
}

void fill(const Job& job, const Layout& layout, std::span<float> values) {
  for (std::size_t index = 0; index < layout.tensors.size(); ++index) {
    const auto& tensor = layout.tensors[index];
    const auto place = values.subspan(tensor.offset, tensor.size);
    const RandomStream stream(job.seed, kGenesisPurpose, index);
    if (is_norm(tensor)) {
      fill_norm(tensor, place);
    } else if (job.model.kind == ModelKind::kResnet) {
      fill_resnet(layout, tensor, stream, place);
    } else if (job.model.kind == ModelKind::kGpt) {
      fill_gpt(job.model, tensor, stream, place);
    } else {
      fill_uniform(stream, fan_in(layout, tensor), place);
    }
  }
}

}  // namespace

Genesis make_genesis(const Job& job, const SampleSpace& space) {
  WIDE_CHECK(job.model.kind != ModelKind::kTorchScript, "its genesis is read from its file");
  Genesis genesis{make_layout(job.model, space), {}};
  genesis.values.resize(genesis.layout.value_count());
  fill(job, genesis.layout, genesis.values);
  return genesis;
}

Digest Genesis::sha256() const {
  return values.empty() ? named : wide::sha256(std::as_bytes(std::span(values)));
}

}  // namespace wide::engine
