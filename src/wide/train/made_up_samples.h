#pragma once
// For tests: samples, labels and weights from a small integer generator seeded by a name, the same
// numbers that scripts/golden_gradients.py makes. Every value is exact in float32.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wide/base/buffer.h"
#include "wide/data/dataset.h"
#include "wide/engine/layout.h"
#include "wide/engine/replica.h"

namespace wide::train {

inline std::uint32_t fnv1a(std::string_view text) {
  std::uint32_t value = 0x811C9DC5;
  for (const unsigned char byte : text) value = (value ^ byte) * 0x01000193;
  return value;
}

// Values in [around - scale, around + scale).
inline void fill_made_up(std::string_view name, float scale, float around,
                         std::span<float> values) {
  std::uint32_t state = fnv1a(name);
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    const int centred = static_cast<int>(state >> 16) - 32768;
    value = around + static_cast<float>(centred) / 32768.0f * scale;
  }
}

class MadeUpSamples final : public data::Dataset {
 public:
  // `same_sample`: every index is sample 0, so that the order of samples has no meaning.
  explicit MadeUpSamples(SampleSpace space, bool same_sample = false)
      : space_(std::move(space)), same_sample_(same_sample) {}

  const SampleSpace& space() const override { return space_; }
  std::int64_t load_train(std::uint64_t index, std::span<float> out) const override {
    return load("train", same_sample_ ? 0 : index, out);
  }
  std::int64_t load_eval(std::uint64_t index, std::span<float> out) const override {
    return load("eval", index, out);
  }

 private:
  std::int64_t load(const std::string& kind, std::uint64_t index, std::span<float> out) const {
    const auto number = std::to_string(index);
    fill_made_up(kind + number, 2.0f, 0.0f, out);
    return fnv1a(kind + " label " + number) % space_.class_count;
  }

  SampleSpace space_;
  bool same_sample_;
};

// Norm weights and running variances around 1, everything else around 0.
inline engine::Weights made_up_weights(const engine::Layout& layout, BufferPool& buffers) {
  auto version = std::make_shared<engine::WeightsVersion>();
  version->values = take_floats(buffers, layout.value_count());
  for (const auto& spec : layout.tensors) {
    const bool norm_weight = spec.name.starts_with("norm") && spec.name.ends_with(".weight");
    const bool around_one = norm_weight || spec.name.ends_with("running_var");
    fill_made_up(spec.name, 0.5f, around_one ? 1.0f : 0.0f,
                 version->values.values.subspan(spec.offset, spec.size));
  }
  return version;
}

}  // namespace wide::train
