// The 2024 task: is the sum of a few normal values known to a network? Samples are made once, from
// a counter-based generator, so every machine makes the same ones.

#include <algorithm>
#include <cmath>
#include <vector>

#include "wide/base/check.h"
#include "wide/base/philox.h"
#include "wide/data/dataset.h"
#include "wide/data/space_digest.h"

namespace wide::data {
namespace {

constexpr std::uint32_t kPurpose = 0x53594e54;  // "SYNT": keeps these numbers apart from others

std::uint32_t label_of(std::span<const float> sample, std::uint32_t class_count) {
  double sum = 0;
  for (const float value : sample) sum += value;
  const auto whole = static_cast<std::int64_t>(std::floor(sum));
  const auto classes = std::int64_t{class_count};
  return static_cast<std::uint32_t>((whole % classes + classes) % classes);
}

// Samples to train on first, then as many that are held out.
class Synthetic final : public Dataset {
 public:
  Synthetic(std::uint64_t seed, std::uint32_t count, std::uint32_t features, std::uint32_t classes)
      : space_{.train_count = count,
               .eval_count = count,
               .sample_shape = {features},
               .class_count = classes,
               .sha256 = {}} {
    values_.resize(2 * std::uint64_t{count} * features);
    labels_.resize(2 * std::uint64_t{count});
    for (std::uint64_t index = 0; index < labels_.size(); ++index) make_sample(seed, index);
    space_.sha256 = hash();
  }

  const SampleSpace& space() const override { return space_; }
  void load_train(std::uint64_t index, const SampleRoom& room) const override {
    WIDE_CHECK(index < space_.train_count, "no such sample");
    load(index, room);
  }
  void load_eval(std::uint64_t index, const SampleRoom& room) const override {
    WIDE_CHECK(index < space_.eval_count, "no such sample");
    load(space_.train_count + index, room);
  }

 private:
  void make_sample(std::uint64_t seed, std::uint64_t index) {
    const RandomStream stream(seed, kPurpose, index);
    const auto features = space_.sample_shape[0];
    const auto sample = std::span(values_).subspan(index * features, features);
    for (std::uint32_t i = 0; i < features; ++i) sample[i] = static_cast<float>(stream.normal(i));
    labels_[index] = label_of(sample, space_.class_count);
  }

  Digest hash() const {
    Sha256 hash;
    hash_space(hash, space_);
    hash.update(std::as_bytes(std::span(values_)));
    hash.update(std::as_bytes(std::span(labels_)));
    return hash.finish();
  }

  void load(std::uint64_t index, const SampleRoom& room) const {
    const auto features = space_.sample_shape[0];
    WIDE_CHECK(room.values.size() == features && room.labels.size() == 1,
               "room for exactly one sample");
    const auto sample = std::span(values_).subspan(index * features, features);
    std::ranges::copy(sample, room.values.begin());
    room.labels[0] = labels_[index];
  }

  SampleSpace space_;
  std::vector<float> values_;
  std::vector<std::uint32_t> labels_;
};

}  // namespace

DatasetPtr make_synthetic(std::uint64_t seed, std::uint32_t count, std::uint32_t features,
                          std::uint32_t classes) {
  WIDE_CHECK(count > 0 && features > 0 && classes > 0);
  WIDE_CHECK(std::uint64_t{count} * features <= std::uint64_t{1} << 32, "bounded by the job");
  return std::make_shared<const Synthetic>(seed, count, features, classes);
}

}  // namespace wide::data
