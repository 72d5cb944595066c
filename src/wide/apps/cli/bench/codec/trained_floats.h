#pragma once
// Floats as they are in training: gradients and weights of small real jobs, early, halfway and
// late. They are trained by `wide train` itself, in a folder that is gone afterwards, and read from
// the run folder: the last update of the ledger, and the weights at the end.

#include <cstdint>
#include <string>
#include <vector>

#include "wide/apps/edge/environment.h"
#include "wide/codec/low_rank.h"

namespace wide::apps::bench {

struct Specimen {
  std::string model;  // mlp, cnn, resnet, gpt; "made-up" where nothing was trained
  std::string stage;  // early, middle, late
  std::string kind;   // gradient, weights
  std::uint64_t step = 0;
  std::vector<float> values;              // parameters alone
  std::vector<codec::Matrix> matrices{};  // how they are laid out

  std::string name() const { return model + "/" + stage + "/" + kind; }
};

struct Specimens {
  std::vector<Specimen> all;
  std::vector<std::string> notes;  // what is missing, and why
};

// `share` of the usual number of steps, above 0, at most 1. Never throws: what cannot be trained
// here is noted, and if nothing can be, made_up() takes its place.
Specimens trained(const Environment& environment, double share);

// Normal floats of one scale, and the same with seven in ten zero.
Specimens made_up(const std::string& why);

}  // namespace wide::apps::bench
