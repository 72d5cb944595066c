#pragma once
// What the rest of the house needs to know of a set of samples: how many, of which shape, with
// which targets, how they lie in chunks, and the hash that names them. data/ finds it out; engine/
// plans with it.
//
//   images      sample_shape {1, 28, 28}, one label below class_count
//   rows        sample_shape {10}, one label, or `target_count` values where class_count is 0
//   text        sample_shape {context}: whole numbers below class_count, each with a label, which
//   is
//               the one that follows it

#include <cstdint>
#include <vector>

#include "wide/base/digest.h"

namespace wide {

struct SampleSpace {
  std::uint64_t train_count = 0;
  std::uint64_t eval_count = 0;             // 0: nothing is held out
  std::vector<std::uint32_t> sample_shape;  // {1, 28, 28}: channels, rows, columns; {10}: features
  std::uint32_t class_count = 0;   // labels are 0 … class_count - 1; 0: targets are values
  Digest sha256;                   // over everything here and every sample and label
  bool tokens = false;             // samples are whole numbers (int64), not floats
  std::uint32_t target_count = 1;  // labels, or values, of one sample

  // How samples travel; zeros where they never do (synthetic ones).
  std::uint64_t chunk_count = 0;        // of everything, held-out samples and labels included
  std::uint64_t samples_per_chunk = 0;  // neighbours to train on that lie in one chunk
  std::uint64_t carried_bytes = 0;      // of one sample with its targets, as they lie in the files

  std::uint64_t sample_size() const {
    std::uint64_t size = 1;
    for (const auto extent : sample_shape) size *= extent;
    return size;
  }
  // How wide a model's answer is, per target place.
  std::uint32_t output_count() const { return class_count != 0 ? class_count : target_count; }
};

}  // namespace wide
