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
  void load_train(std::uint64_t index, const data::SampleRoom& room) const override {
    load("train", same_sample_ ? 0 : index, room);
  }
  void load_eval(std::uint64_t index, const data::SampleRoom& room) const override {
    load("eval", index, room);
  }

 private:
  void load(const std::string& kind, std::uint64_t index, const data::SampleRoom& room) const {
    const auto number = std::to_string(index);
    fill_made_up(kind + number, 2.0f, 0.0f, room.values);
    fill_made_up(kind + " target " + number, 1.0f, 0.0f, room.targets);
    fill_tokens(kind + " tokens " + number, room.tokens);
    if (room.labels.size() == 1) {
      room.labels[0] = fnv1a(kind + " label " + number) % space_.class_count;
    } else {
      fill_tokens(kind + " labels " + number, room.labels);
    }
  }
  void fill_tokens(std::string_view name, std::span<std::int64_t> tokens) const {
    std::uint32_t state = fnv1a(name);
    for (auto& token : tokens) {
      state = state * 1664525u + 1013904223u;
      token = (state >> 16) % space_.class_count;
    }
  }

  SampleSpace space_;
  bool same_sample_;
};

// A norm's weight, in the words of any of our models and of the exported ones.
inline bool is_norm_weight(std::string_view name) {
  return name.ends_with(".weight") &&
         (name.find("norm") != name.npos || name.find("ln_") != name.npos);
}

// Norm weights and running variances around 1, everything else around 0.
inline engine::Weights made_up_weights(const engine::Layout& layout, BufferPool& buffers) {
  auto version = std::make_shared<engine::WeightsVersion>();
  version->values = take_floats(buffers, layout.value_count());
  for (const auto& spec : layout.tensors) {
    const bool around_one = is_norm_weight(spec.name) || spec.name.ends_with("running_var");
    fill_made_up(spec.name, 0.5f, around_one ? 1.0f : 0.0f,
                 version->values.values.subspan(spec.offset, spec.size));
  }
  return version;
}

}  // namespace wide::train
