#pragma once
// A dataset: samples to train on and samples held out, ready to be read by index from any thread.
// Files are mapped, never loaded; compressed ones are unpacked once into the cache folder.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "wide/base/error.h"
#include "wide/base/sample_space.h"

namespace wide::data {

class Dataset {
 public:
  virtual ~Dataset() = default;

  virtual const SampleSpace& space() const = 0;

  // Writes the sample, normalised, as space().sample_size() floats and returns its label.
  // Pure: the same floats on every machine.
  virtual std::int64_t load_train(std::uint64_t index, std::span<float> out) const = 0;
  virtual std::int64_t load_eval(std::uint64_t index, std::span<float> out) const = 0;
};

using DatasetPtr = std::shared_ptr<const Dataset>;

// Fashion-MNIST's four idx files (plain or .gz) in `folder`; empty: where Debian puts them.
// kSamplesMissing, kSamplesCorrupt with the file's name and what is wrong with it. Only .gz files
// need a cache folder: kCannotWrite where they cannot be unpacked into it. Any number of processes
// may open the same files at once.
Result<DatasetPtr> open_fashion_mnist(const std::filesystem::path& folder,
                                      const std::filesystem::path& cache_folder);

// The 2024 task: `count` samples of `features` normal values, class = floor of their sum modulo
// `classes`; as many again are held out. A pure function of the seed.
DatasetPtr make_synthetic(std::uint64_t seed, std::uint32_t count, std::uint32_t features,
                          std::uint32_t classes);

// $XDG_CACHE_HOME/wide or ~/.cache/wide, given those variables' values ("" where unset).
// Empty, which means that there is no cache folder, where both are.
std::filesystem::path cache_folder(const std::string& xdg_cache_home, const std::string& home);

}  // namespace wide::data
