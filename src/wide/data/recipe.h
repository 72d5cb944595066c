#pragma once
// How to make a dataset of files, or of bytes that came over the network: what a job says of its
// samples, in this room's own words.

#include <cstdint>
#include <filesystem>

#include "wide/base/error.h"
#include "wide/data/dataset.h"

namespace wide::data {

enum class Format { kFashionMnist, kIdx, kNpy, kText, kTokens };

struct Recipe {
  Format format = Format::kFashionMnist;

  // Where the files are, for whoever opens them. Plain, or packed where the format allows (.gz of
  // idx and text): packed ones are unpacked once into the cache folder.
  std::filesystem::path path;    // fashion-mnist: a folder (empty: where Debian puts it)
  std::filesystem::path labels;  // idx, npy
  std::filesystem::path eval_path;
  std::filesystem::path eval_labels;

  double eval_fraction = 0;       // held out of the data itself; see hold_out.h
  std::uint32_t class_count = 0;  // idx, npy: 0 means the largest label and one
  double mean = 0;                // idx, npy: (value - mean) / deviation, bytes ÷ 255 first
  double deviation = 1;
  std::uint32_t context = 0;  // text, tokens: tokens in a sample
};

// kSamplesMissing, kSamplesCorrupt, kLabelOutOfRange with the file's name and what is wrong with
// it. Only packed files need a cache folder: kCannotWrite where they cannot be unpacked into it.
// Any number of processes may open the same files at once. Hashing is done once: the manifest is
// remembered in the cache folder beside the files' paths, sizes and times. Says (log::info) that it
// hashes where that takes longer than a second or so.
Result<DatasetPtr> open_files(const Recipe& recipe, const std::filesystem::path& cache_folder);

}  // namespace wide::data
