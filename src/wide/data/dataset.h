#pragma once
// A dataset: samples to train on and samples held out, ready to be read by index from any thread.
// Whatever the files are called and wherever they lie, a reader sees this.
//
//   files here  ─▶ open_files()    mapped, never loaded       ┐
//   chunks      ─▶ make_shipped()  fetched, verified, cached   ├─▶ Dataset
//   a lease     ─▶ CarriedSamples  sent with the work          │
//   a seed      ─▶ make_synthetic()                            ┘

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "wide/base/error.h"
#include "wide/base/sample_space.h"

namespace wide::data {

class Library;

// Where one sample is to be written. Which of these have room is told by the space: `tokens` rather
// than `values` where space.tokens, `targets` rather than `labels` where class_count is 0.
struct SampleRoom {
  std::span<float> values;         // sample_size(), normalised
  std::span<std::int64_t> tokens;  // sample_size()
  std::span<std::int64_t> labels;  // target_count
  std::span<float> targets;        // target_count
};

class Dataset {
 public:
  virtual ~Dataset() = default;

  virtual const SampleSpace& space() const = 0;

  // Pure: the same numbers on every machine.
  virtual void load_train(std::uint64_t index, const SampleRoom& room) const = 0;
  virtual void load_eval(std::uint64_t index, const SampleRoom& room) const = 0;

  // Are the files still what they were when they were opened? Cheap (asks for their size and time);
  // kSamplesChanged names the one that is not.
  virtual Result<void> unchanged() const { return {}; }

  // What can be sent to those who lack it; null where that is nothing.
  virtual const Library* library() const { return nullptr; }
};

using DatasetPtr = std::shared_ptr<const Dataset>;

// The 2024 task: `count` samples of `features` normal values, class = floor of their sum modulo
// `classes`; as many again are held out. A pure function of the seed.
DatasetPtr make_synthetic(std::uint64_t seed, std::uint32_t count, std::uint32_t features,
                          std::uint32_t classes);

// $XDG_CACHE_HOME/wide or ~/.cache/wide, given those variables' values ("" where unset).
// Empty, which means that there is no cache folder, where both are.
std::filesystem::path cache_folder(const std::string& xdg_cache_home, const std::string& home);

}  // namespace wide::data
