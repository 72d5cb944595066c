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

// So small that local nodes help each other, and go on unasked.
inline std::string tiny_job(int units = 7, int batch = 13, int steps = 60) {
  return R"([job]
name = "tiny"
seed = 7
[model]
kind = "mlp"
layers = [10, 20, 10]
dropout = 0.1
batch_norm = true
[data]
kind = "synthetic"
samples = 1000
features = 10
classes = 10
[train]
exact = "bits"
optimizer = "adam"
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

inline std::string resnet_job(int units = 5, int batch = 6, int steps = 8) {
  return R"([job]
name = "resnet"
seed = 13
[model]
kind = "resnet"
depth = 8
width = 4
[data]
kind = "fashion-mnist"
[train]
exact = "bits"
optimizer = "sgd"
momentum = 0.9
lr = 0.05
batch = )" +
         std::to_string(batch) + "\nunits_per_step = " + std::to_string(units) +
         "\nsteps = " + std::to_string(steps) + "\n";
}

// On a text that the test writes; see write_text().
inline std::string gpt_job(const std::string& text, int units = 5, int batch = 3, int steps = 12,
                           const std::string& more = "") {
  return R"([job]
name = "gpt"
seed = 17
[model]
kind = "gpt"
layers = 2
heads = 2
width = 16
context = 24
dropout = 0.1
[data]
kind = "text"
path = ")" +
         text + "\"\n" + more + R"([eval]
fraction = 0.05
[train]
exact = "bits"
optimizer = "adamw"
lr = 0.003
clip_norm = 1.0
batch = )" +
         std::to_string(batch) + "\nunits_per_step = " + std::to_string(units) +
         "\nsteps = " + std::to_string(steps) + "\n";
}

// A model that somebody else wrote, with dropout and batch-norm.
inline std::string script_job(const std::string& file, int units = 5, int batch = 4,
                              int steps = 8) {
  return R"([job]
name = "script"
seed = 19
[model]
kind = "torchscript"
file = ")" +
         file +
         R"("
[data]
kind = "fashion-mnist"
[train]
exact = "bits"
optimizer = "adam"
batch = )" +
         std::to_string(batch) + "\nunits_per_step = " + std::to_string(units) +
         "\nsteps = " + std::to_string(steps) + "\n";
}

// Letters that a model can learn something of, about so many bytes.
inline std::string made_up_text(std::size_t bytes) {
  std::string text;
  unsigned state = 7;
  while (text.size() < bytes) {
    state = state * 1664525u + 1013904223u;
    const char* words[] = {"the pool ", "hands out ",  "units; ",
                           "a node ",   "sends back ", "sums.\n"};
    text += words[(state >> 16) % 6];
  }
  return text;
}

// For stub nodes: nothing is read but the sizes.
inline std::string stub_job(int units = 16, int steps = 200, const std::string& exact = "bits") {
  return R"([job]
name = "stub"
[model]
kind = "mlp"
layers = [10, 20, 10]
batch_norm = true
[data]
kind = "synthetic"
[train]
exact = ")" +
         exact + "\"\nunits_per_step = " + std::to_string(units) +
         "\nsteps = " + std::to_string(steps) + "\n";
}

}  // namespace wide::tests
