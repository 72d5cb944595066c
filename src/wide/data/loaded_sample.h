#pragma once
// For tests: a sample as a model would be given it, loaded into memory of its own.

#include <cstdint>
#include <cstring>
#include <vector>

#include "wide/data/dataset.h"

namespace wide::data {

struct LoadedSample {
  std::vector<float> values;
  std::vector<std::int64_t> tokens;
  std::vector<std::int64_t> labels;
  std::vector<float> targets;

  explicit LoadedSample(const SampleSpace& space) {
    const bool classes = space.class_count > 0;
    (space.tokens ? tokens.resize(space.sample_size()) : values.resize(space.sample_size()));
    (classes ? labels.resize(space.target_count) : targets.resize(space.target_count));
  }
  SampleRoom room() {
    return {.values = values, .tokens = tokens, .labels = labels, .targets = targets};
  }

  // Bit for bit: a NaN equals itself, and zeros have signs.
  friend bool operator==(const LoadedSample& one, const LoadedSample& other) {
    const auto same = [](const std::vector<float>& a, const std::vector<float>& b) {
      return a.size() == b.size() &&
             (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
    };
    return same(one.values, other.values) && one.tokens == other.tokens &&
           one.labels == other.labels && same(one.targets, other.targets);
  }
};

inline LoadedSample train_sample(const Dataset& set, std::uint64_t index) {
  LoadedSample sample(set.space());
  set.load_train(index, sample.room());
  return sample;
}

inline LoadedSample eval_sample(const Dataset& set, std::uint64_t index) {
  LoadedSample sample(set.space());
  set.load_eval(index, sample.room());
  return sample;
}

}  // namespace wide::data
