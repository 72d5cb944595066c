#pragma once
// The jobs that whole-run tests train: small, but with everything in them that could depend on who
// computes: dropout, batch-norm, odd batches, steps that fill no tree.

#include <string>

namespace wide::tests {

inline std::string mlp_job(int units = 7, int batch = 13, int steps = 60) {
  return R"([job]
name = "mlp"
seed = 7
[model]
kind = "mlp"
layers = [784, 24, 10]
dropout = 0.2
batch_norm = true
[data]
kind = "fashion-mnist"
[train]
exact = "bits"
optimizer = "adamw"
clip_norm = 1.0
batch = )" +
         std::to_string(batch) + "\nunits_per_step = " + std::to_string(units) +
         "\nsteps = " + std::to_string(steps) + "\n";
}

inline std::string cnn_job(int units = 7, int batch = 13, int steps = 60) {
  return R"([job]
name = "cnn"
seed = 11
[model]
kind = "cnn"
channels = [6, 8]
hidden = 16
dropout = 0.3
batch_norm = true
[data]
kind = "fashion-mnist"
[train]
exact = "bits"
optimizer = "sgd"
momentum = 0.9
nesterov = true
lr = 0.02
schedule = "cosine"
warmup_steps = 5
batch = )" +
         std::to_string(batch) + "\nunits_per_step = " + std::to_string(units) +
         "\nsteps = " + std::to_string(steps) + "\n";
}

// For stub nodes: nothing is read but the sizes.
inline std::string stub_job(int units = 16, int steps = 200) {
  return R"([job]
name = "stub"
[model]
kind = "mlp"
layers = [10, 20, 10]
batch_norm = true
[data]
kind = "synthetic"
[train]
exact = "bits"
units_per_step = )" +
         std::to_string(units) + "\nsteps = " + std::to_string(steps) + "\n";
}

}  // namespace wide::tests
