#pragma once
// A job is what to train: model, samples, plan. It never changes once a pool has opened it; its id
// is the hash of its canonical text and of the samples it names.
//
//   parse_job(text)        TOML with line numbers in every complaint; unknown keys are errors
//   canonical_text(job)    every key, sorted, defaults written out: the same job, the same bytes
//   identity_text(job)     the same without what cannot change a result: [net], paths, shipping
//   parse_job(canonical_text(job)) == job
//
// A key that means nothing for the chosen kind (momentum for adam, layers for cnn) is an error in
// a file and is left out of both texts.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wide/base/digest.h"
#include "wide/base/error.h"
#include "wide/base/sample_space.h"

namespace wide::engine {

enum class ModelKind { kMlp, kCnn };
enum class SampleKind { kFashionMnist, kSynthetic };
enum class Loss { kCrossEntropy, kMse };
enum class OptimizerKind { kSgd, kAdam, kAdamW };
enum class Schedule { kConstant, kCosine, kStep };
enum class Exact { kBits, kLedger };
enum class Numerics { kNative, kPortable };
enum class StrategyKind { kSync };
enum class Ship { kAuto, kLocal };
enum class Lossless { kAuto, kNone };

// mlp: layers = [784, 256, 10]. cnn: per entry of `channels` a 3×3 convolution (padding 1),
// batch-norm where asked, ReLU, 2×2 max-pool; then a linear layer to `hidden`, ReLU, dropout, and
// a linear layer to the classes.
struct Model {
  ModelKind kind = ModelKind::kCnn;
  std::vector<std::uint32_t> layers;               // mlp
  std::vector<std::uint32_t> channels = {16, 32};  // cnn
  std::uint32_t hidden = 128;                      // cnn
  bool batch_norm = false;
  float dropout = 0;

  friend bool operator==(const Model&, const Model&) = default;
};

struct Samples {
  SampleKind kind = SampleKind::kFashionMnist;
  std::string path;  // fashion-mnist; empty: where Debian puts it
  Ship ship = Ship::kAuto;
  std::uint32_t count = 1000;  // synthetic: samples, features, classes
  std::uint32_t features = 10;
  std::uint32_t classes = 10;

  friend bool operator==(const Samples&, const Samples&) = default;
};

// A job ends by epochs, by steps or by seconds: exactly one of them is not zero.
struct Train {
  std::uint32_t batch = 32;
  std::uint32_t units_per_step = 10;
  std::uint32_t block_units = 1;
  double epochs = 0;
  std::uint64_t steps = 0;
  double seconds = 0;
  Loss loss = Loss::kCrossEntropy;
  OptimizerKind optimizer = OptimizerKind::kAdamW;
  double lr = 0.001;
  Schedule schedule = Schedule::kConstant;
  std::uint64_t warmup_steps = 0;
  std::uint64_t decay_every_steps =
      0;  // schedule = "step": lr times decay_rate every so many steps
  double decay_rate = 0.1;
  double weight_decay = 0.01;  // where a file names none: 0.01 for adamw, 0 for the others
  double momentum = 0;
  bool nesterov = false;
  double beta1 = 0.9;  // betas = [0.9, 0.999]
  double beta2 = 0.999;
  double eps = 1e-8;
  double clip_norm = 0;  // 0: no clipping
  Exact exact = Exact::kLedger;
  Numerics numerics = Numerics::kNative;

  friend bool operator==(const Train&, const Train&) = default;
};

struct Eval {
  std::uint64_t every = 0;    // steps; 0: at the end
  std::uint32_t batch = 250;  // samples in a unit of evaluation

  friend bool operator==(const Eval&, const Eval&) = default;
};

// Where a user must override the kernel. Not part of the job's identity of results, but kept with
// it.
struct Net {
  std::uint32_t buffer_bytes = 0;  // 0: the kernel's own choice
  bool quick_ack = false;

  friend bool operator==(const Net&, const Net&) = default;
};

struct Job {
  std::string name = "job";
  std::uint64_t seed = 42;
  Model model;
  Samples samples;
  Train train;
  Eval eval;
  StrategyKind strategy = StrategyKind::kSync;
  std::uint32_t delay = 0;  // only 0 for now
  Lossless lossless = Lossless::kAuto;
  Net net;

  std::uint32_t blocks_per_step() const {
    return (train.units_per_step + train.block_units - 1) / train.block_units;
  }
  std::uint64_t samples_per_step() const {
    return std::uint64_t{train.batch} * train.units_per_step;
  }
  // How many steps there are over so many samples; 0 where the job ends by time.
  std::uint64_t step_count(std::uint64_t train_samples) const;

  friend bool operator==(const Job&, const Job&) = default;
};

// Longer texts are refused before they are read.
inline constexpr std::size_t kJobTextBytesMax = 256u << 10;

inline constexpr std::uint64_t kParametersMax = std::uint64_t{1} << 31;

// `source` names the text in complaints: "job.toml:7: …".
Result<Job> parse_job(std::string_view text, std::string_view source);
std::string canonical_text(const Job& job);
std::string identity_text(const Job& job);
Digest job_id(const Job& job, const Digest& samples_sha256);

// What parse_job checks of the values, for jobs changed by flags since.
Result<void> validate(const Job& job);

// Can this model learn these samples? kModelMisfit or kTooFewSamples where not.
Result<void> validate_fit(const Job& job, const SampleSpace& space);

}  // namespace wide::engine
