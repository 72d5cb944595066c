#pragma once
// A job is what to train: model, samples, plan. It never changes once a pool has opened it; its id
// is the hash of its canonical text and of the samples it names.
//
//   parse_job(text)        TOML with line numbers in every complaint; unknown keys are errors, and
//   so
//                          is a file without [model] or [data]
//   canonical_text(job)    every key, sorted, defaults written out: the same job, the same bytes
//   identity_text(job)     the same without what cannot change a result: [net], paths, shipping
//                          (a TorchScript file is in it by its hash, samples by theirs)
//   text_for_nodes(job)    canonical, with the names of files but not where they lie
//   parse_job(canonical_text(job)) == job
//
// A key that means nothing for the chosen kind (momentum for adam, layers for cnn) is an error in
// a file and is left out of both texts.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wide/base/digest.h"
#include "wide/base/error.h"
#include "wide/base/ids.h"
#include "wide/base/sample_space.h"
#include "wide/codec/lossy.h"

namespace wide::engine {

enum class ModelKind { kMlp, kCnn, kResnet, kGpt, kTorchScript };
enum class SampleKind { kFashionMnist, kSynthetic, kIdx, kNpy, kText, kTokens };
enum class Loss { kCrossEntropy, kMse };
enum class OptimizerKind { kSgd, kAdam, kAdamW };
enum class Schedule { kConstant, kCosine, kStep };
enum class Exact { kBits, kLedger };
enum class Numerics { kNative, kPortable };
enum class StrategyKind { kSync };
enum class Ship { kAuto, kLocal, kAlways };
// The numbers below kAuto are those of codec::Lossy and codec::Lossless.
enum class LossyPlan { kNone, kFp16, kBf16, kInt8, kInt4, kTopk, kSign, kPowersgd, kAuto };
enum class LosslessPlan { kNone, kLz4, kZstd, kZlib, kZlib9, kPlanes, kAuto };

// mlp          layers = [784, 256, 10]
// cnn          per entry of `channels` a 3×3 convolution (padding 1), batch-norm where asked, ReLU,
//              2×2 max-pool; then a linear layer to `hidden`, ReLU, dropout, and a linear layer to
//              the classes
// resnet       for small images (He et al. 2015, section 4.2): depth = 6n + 2, three stages of n
//              blocks with width, 2·width and 4·width channels, batch-norm throughout
// gpt          layers = 4 (a count), heads, width, context, dropout; head tied to the embedding or
//              not
// torchscript  a file that pool and nodes each have; only its hash travels
struct Model {
  ModelKind kind = ModelKind::kCnn;
  std::vector<std::uint32_t> layers;               // mlp
  std::vector<std::uint32_t> channels = {16, 32};  // cnn
  std::uint32_t hidden = 128;                      // cnn
  bool batch_norm = false;                         // mlp, cnn
  float dropout = 0;                               // mlp, cnn, gpt
  std::uint32_t depth = 20;                        // resnet
  std::uint32_t width = 16;                        // resnet: 16 where a file names none; gpt: 128
  std::uint32_t layer_count = 4;                   // gpt: `layers` in a file
  std::uint32_t heads = 4;                         // gpt; width is a multiple of it
  std::uint32_t context = 128;     // gpt; torchscript on text or tokens: how many a sample has
  std::uint32_t vocabulary = 256;  // gpt: bytes
  bool tied = true;                // gpt: one matrix embeds tokens and scores them
  std::string file;                // torchscript
  Digest sha256;                   // torchscript: of the file; zero until the pool has read it

  friend bool operator==(const Model&, const Model&) = default;
};

// path and labels are of the machine that reads the file; nodes are never told of them. A file must
// have the keys that its kind needs, but they may be empty, as nodes see them: whoever opens the
// files finds that out.
struct Samples {
  SampleKind kind = SampleKind::kFashionMnist;
  std::string path;    // a folder for fashion-mnist (empty: where Debian puts it), else a file
  std::string labels;  // idx, npy: a file
  Ship ship = Ship::kAuto;
  std::uint32_t count = 1000;  // synthetic: samples, features
  std::uint32_t features = 10;
  std::uint32_t classes = 10;  // synthetic; idx, npy: 0, the largest label and one
  double mean = 0;             // idx, npy: a value becomes (value - mean) / std,
  double deviation = 1;        //   bytes having been divided by 255 first; `std` in a file
  // Samples are shuffled within windows of so many chunks (about 1 MiB each), so that a lease of a
  // large set touches few of them. 0: by size, see window_of() in sample_order.h.
  std::uint32_t window_chunks = 0;

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
  std::uint64_t decay_every_steps = 0;  // schedule = "step": every so many steps
  double decay_rate = 0.1;              //   lr is multiplied by this
  double weight_decay = 0.01;           // where a file names none: 0.01 for adamw, 0 for the others
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

// What is held out: fashion-mnist's and synthetic's own test samples; for the others files of their
// own (path, labels), or a fraction of the data (every so-manieth sample; of text its end), or
// nothing.
struct Eval {
  std::uint64_t every = 0;    // steps; 0: at the end
  std::uint32_t batch = 250;  // samples in a unit of evaluation; text: 16 where a file names none
  std::string path;
  std::string labels;
  double fraction = 0;

  friend bool operator==(const Eval&, const Eval&) = default;
};

// How values become fewer bytes. Lossless codecs change no bit of any result, and each link may use
// its own; lossy ones are part of the plan, and everyone uses the same.
struct Coding {
  LossyPlan gradient = LossyPlan::kNone;  // of a block, from a node to the pool
  LossyPlan update = LossyPlan::kNone;    // of a step, from the pool to everyone
  LosslessPlan lossless = LosslessPlan::kAuto;
  // "auto" uses no lossy codec that loses a larger part of the values (squared, over their square).
  double budget = 0.01;

  bool automatic() const { return gradient == LossyPlan::kAuto || update == LossyPlan::kAuto; }

  friend bool operator==(const Coding&, const Coding&) = default;
};

// What a plan that leaves nothing to choose says; kNone for "auto".
codec::Lossy fixed(LossyPlan plan);
// May values under this plan be coded so? (A codec::Lossy, from a message or a record.)
bool may_use(LossyPlan plan, std::uint8_t codec);

// Where a user must override the kernel. Not part of the job's identity of results, but kept with
// it.
struct Net {
  std::uint32_t buffer_bytes = 0;  // 0: the kernel's own choice
  bool no_delay = true;
  bool quick_ack = false;
  bool gather = true;                     // all that waits in one write; else piece by piece
  std::uint32_t code_bytes_least = 1024;  // shorter messages are never coded

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
  std::uint32_t delay = 0;  // how many updates late the weights are that a step is computed on
  Coding codec;
  Net net;

  std::uint32_t blocks_per_step() const {
    return (train.units_per_step + train.block_units - 1) / train.block_units;
  }
  std::uint64_t samples_per_step() const {
    return std::uint64_t{train.batch} * train.units_per_step;
  }
  // Where updates are lossy, what travels down is the change of the weights, and the pool alone has
  // an optimiser: see lead_replica.h.
  bool sends_changes() const { return codec.update != LossyPlan::kNone; }
  // The replica that a step is computed on, by the number of updates that it has seen.
  Step base_of(Step step) const { return step - std::min<Step>(step, delay); }
  // How many steps there are over so many samples; 0 where the job ends by time.
  std::uint64_t step_count(std::uint64_t train_samples) const;

  friend bool operator==(const Job&, const Job&) = default;
};

// Can a model of this kind learn samples of this kind at all? A gpt wants text or tokens, the other
// built-in ones cannot read those, and no image is synthetic.
bool goes_with(ModelKind model, SampleKind samples);

// Longer texts are refused before they are read.
inline constexpr std::size_t kJobTextBytesMax = 256u << 10;

// Everyone keeps so many versions of the weights, and one more.
inline constexpr std::uint32_t kDelayMax = 16;

inline constexpr std::uint64_t kParametersMax = std::uint64_t{1} << 31;

// `source` names the text in complaints: "job.toml:7: …".
Result<Job> parse_job(std::string_view text, std::string_view source);
std::string canonical_text(const Job& job);
std::string identity_text(const Job& job);
std::string text_for_nodes(const Job& job);
Digest job_id(const Job& job, const Digest& samples_sha256);

// What parse_job checks of the values, for jobs changed by flags since.
Result<void> validate(const Job& job);

// Can this model learn these samples? kModelMisfit, kTooFewSamples, or kTokenOutOfRange where not.
Result<void> validate_fit(const Job& job, const SampleSpace& space);

}  // namespace wide::engine
