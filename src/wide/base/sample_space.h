#pragma once
// What the rest of the house needs to know of a set of samples: how many, of which shape, with
// which labels, and the hash that names them. data/ finds it out; engine/ plans with it.

#include <cstdint>
#include <vector>

#include "wide/base/digest.h"

namespace wide {

struct SampleSpace {
  std::uint64_t train_count = 0;
  std::uint64_t eval_count = 0;             // 0: nothing is held out
  std::vector<std::uint32_t> sample_shape;  // {1, 28, 28}: channels, rows, columns; {10}: features
  std::uint32_t class_count = 0;            // labels are 0 … class_count - 1
  Digest sha256;                            // over everything above and every sample and label

  std::uint64_t sample_size() const {
    std::uint64_t size = 1;
    for (const auto extent : sample_shape) size *= extent;
    return size;
  }
};

}  // namespace wide
