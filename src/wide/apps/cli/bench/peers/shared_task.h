#pragma once
// What both sides of a comparison train: the same samples, the same weights to begin with, the same
// batch and optimiser, in files that either can read.
//
//   samples.npy   float32 rows, as our nodes see them     labels.npy   int64
//   weights.npy   the genesis of our job, flat

#include <cstdint>
#include <string>
#include <vector>

#include "wide/apps/cli/bench/whole_run.h"
#include "wide/data/dataset.h"

namespace wide::apps::bench {

struct SharedTask {
  std::string name;
  std::vector<std::uint32_t> layers;
  std::uint32_t batch = 32;
  double lr = 0.01;
  std::string folder;  // where the files are

  std::string file(const std::string& what) const { return folder + "/" + what + ".npy"; }
  // One unit for each rank in every step. `codec`: the lines of that section.
  std::string job_text(std::uint32_t ranks, const std::string& codec) const;
};

// The task of 2024: 430 parameters.
SharedTask tiny_task(const ScratchFolder& scratch);

// 784-256-10 on the first images of Fashion-MNIST; on made-up samples of that shape where it is not
// installed.
SharedTask middle_task(const ScratchFolder& scratch, const Environment& environment);

}  // namespace wide::apps::bench
