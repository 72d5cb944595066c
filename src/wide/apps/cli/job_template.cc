#include "wide/apps/cli/job_template.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "wide/base/nearest_word.h"
#include "wide/engine/job_kinds.h"
#include "wide/engine/job_words.h"

namespace wide::apps {

namespace {

using engine::kModelWords;
using engine::kSampleWords;
using engine::ModelKind;
using engine::SampleKind;

template <class Choice, std::size_t kCount>
Choice choice_of(const engine::Word<Choice> (&words)[kCount], std::string_view word,
                 std::string_view what) {
  for (const auto& known : words) {
    if (known.text == word && known.choice) return *known.choice;
  }
  const auto all = engine::words_done(words);
  const auto near = nearest_word(word, all);
  const auto advice = near.empty() ? fmt::format("there are {}", fmt::join(all, ", "))
                                   : fmt::format("did you mean '{}'?", near);
  throw Failure(Errc::kUsage, fmt::format("there is no {} '{}'; {}", what, word, advice));
}

std::string mlp_section(SampleKind samples) {
  const bool synthetic = samples == SampleKind::kSynthetic;
  return fmt::format(
      R"(kind = "mlp"                # linear layers with ReLU in between
layers = {:<18} # values of a sample, hidden layers, classes
dropout = 0.0               # share of values left out while training
batch_norm = false          # normalise behind every hidden layer
)",
      synthetic ? "[10, 64, 10]" : "[784, 256, 10]");
}

constexpr std::string_view kCnnSection =
    R"(kind = "cnn"                # a small convolutional network for images
channels = [16, 32]         # per entry a 3×3 convolution, ReLU and 2×2 max-pool
hidden = 128                # then a linear layer to so many, and one to the classes
dropout = 0.25              # share of values left out while training
batch_norm = false          # normalise behind every convolution
)";

constexpr std::string_view kResnetSection =
    R"(kind = "resnet"             # for small images, with batch-norm throughout (He et al. 2015)
depth = 8                   # 6n + 2: 8, 14, 20, 32, 44, 56, 110, …
width = 16                  # channels of the first stage; the others have 2 and 4 times as many
)";

std::string gpt_section(SampleKind samples) {
  const bool bytes = samples == SampleKind::kText;
  return fmt::format(
      R"(kind = "gpt"                # a transformer that predicts the next token
layers = 4                  # blocks
heads = 4                   # of attention in each block
width = 128                 # a multiple of heads
context = 128               # tokens in a sample: how far back it can look
dropout = 0.0               # share of values left out while training
vocabulary = {:<14} # {}
tied = true                 # one matrix embeds tokens and scores them
)",
      bytes ? 256 : 50257, bytes ? "bytes" : "tokens are below it; 50257 for GPT-2's");
}

std::string script_section(SampleKind samples) {
  std::string text =
      R"(kind = "torchscript"        # a file that torch.jit.script(model).save(FILE) wrote
file = "model.pt"           # every machine has its own copy; only its hash is sent
# sha256 = "…"              # refuse any other file
)";
  if (engine::is_text(samples)) {
    text += "context = 128               # tokens in a sample\n";
  }
  return text;
}

std::string model_section(ModelKind model, SampleKind samples) {
  switch (model) {
    case ModelKind::kMlp:
      return mlp_section(samples);
    case ModelKind::kCnn:
      return std::string(kCnnSection);
    case ModelKind::kResnet:
      return std::string(kResnetSection);
    case ModelKind::kGpt:
      return gpt_section(samples);
    case ModelKind::kTorchScript:
      break;
  }
  return script_section(samples);
}

constexpr std::string_view kLabelKeys =
    R"(classes = 0                 # 0: the largest label and one
mean = 0.0                  # a value becomes (value - mean) / std;
std = 1.0                   #   bytes are divided by 255 first
)";

constexpr std::string_view kShippingKeys =
    R"(ship = "auto"               # auto: to nodes that lack them | local: never | always: with the work
# window_chunks = 0         # shuffle within so many MiB at a time; 0: by the size of the set
)";

std::string_view sample_files(SampleKind samples) {
  switch (samples) {
    case SampleKind::kFashionMnist:
      return R"(kind = "fashion-mnist"      # Debian's package dataset-fashion-mnist
# path = "FOLDER"           # where its four files lie, if not where Debian puts them
)";
    case SampleKind::kSynthetic:
      return R"(kind = "synthetic"          # made up from the seed: nothing to download
samples = 1000              # each has `features` normal values;
features = 10               # its class is the floor of their sum, modulo `classes`
classes = 10
)";
    case SampleKind::kIdx:
      return R"(kind = "idx"                # the format of MNIST, plain or .gz
path = "train-images-idx3-ubyte.gz"   # relative to the folder that wide is started in
labels = "train-labels-idx1-ubyte.gz"
)";
    case SampleKind::kNpy:
      return R"(kind = "npy"                # what numpy.save() writes: uint8, int32, int64, float16, float32
path = "samples.npy"        # one row per sample; images as channels × rows × columns
                            # (relative to the folder that wide is started in)
labels = "labels.npy"       # one row per sample
)";
    case SampleKind::kText:
      return R"(kind = "text"               # bytes of a file, plain or .gz
path = "text.txt"           # relative to the folder that wide is started in
)";
    case SampleKind::kTokens:
      break;
  }
  return R"(kind = "tokens"             # uint16 after uint16, as nanoGPT's prepare.py writes them
path = "train.bin"          # relative to the folder that wide is started in
)";
}

std::string sample_section(SampleKind samples) {
  std::string text(sample_files(samples));
  if (engine::has_labels(samples)) text += kLabelKeys;
  if (samples != SampleKind::kSynthetic) text += kShippingKeys;
  return text;
}

constexpr std::string_view kLengthKeys =
    R"(epochs = 5                  # or steps = …, or seconds = …
)";

constexpr std::string_view kAdamKeys =
    R"(batch = 64                  # samples in a unit: what one slot computes at a time
units_per_step = 8          # units in a step: 8 × 64 = 512 samples per update of the model
optimizer = "adamw"         # sgd | adam | adamw
lr = 0.002                  # learning rate
weight_decay = 0.01
schedule = "cosine"         # constant | cosine | step: how the learning rate goes on
loss = "cross-entropy"      # cross-entropy for classes | mse for values
# clip_norm = 1.0           # shorten a gradient that is longer
)";

constexpr std::string_view kResnetKeys =
    R"(batch = 64                  # samples in a unit: what one slot computes at a time
units_per_step = 2          # units in a step: 2 × 64 = 128 samples per update of the model
optimizer = "sgd"           # sgd | adam | adamw
lr = 0.1                    # learning rate
momentum = 0.9
nesterov = true
weight_decay = 0.0001
schedule = "cosine"         # constant | cosine | step: how the learning rate goes on
warmup_steps = 100          # it climbs for so many steps first
)";

constexpr std::string_view kGptKeys =
    R"(batch = 8                   # samples in a unit: what one slot computes at a time
units_per_step = 4          # units in a step: 4 × 8 × context tokens per update of the model
optimizer = "adamw"         # sgd | adam | adamw
lr = 0.002                  # learning rate
betas = [0.9, 0.99]
weight_decay = 0.1
schedule = "cosine"         # constant | cosine | step: how the learning rate goes on
warmup_steps = 100          # it climbs for so many steps first
clip_norm = 1.0             # shorten a gradient that is longer
)";

constexpr std::string_view kExactKeys =
    R"(# exact = "ledger"          # ledger: any machine may help | bits: only those that compute alike
# numerics = "native"       # portable: let different x86 machines compute alike
)";

std::string train_section(ModelKind model) {
  const bool resnet = model == ModelKind::kResnet;
  std::string text(kLengthKeys);
  text += resnet ? kResnetKeys : model == ModelKind::kGpt ? kGptKeys : kAdamKeys;
  text += kExactKeys;
  return text;
}

std::string eval_section(SampleKind samples) {
  std::string text =
      "every = 100                 # steps between evaluations; 0: at the end only\n";
  if (engine::brings_its_own_test(samples)) return text;
  text += samples == SampleKind::kText || samples == SampleKind::kTokens
              ? "fraction = 0.1              # held out of the data: its last part\n"
              : "fraction = 0.1              # held out of the data: every tenth sample\n";
  text += "# path = \"…\"                # or a file of its own\n";
  if (engine::has_labels(samples)) text += "# labels = \"…\"\n";
  return text;
}

// In a comment, which a new line would end and which must be UTF-8, as all of a TOML file.
std::string_view comment_name(std::string_view file) {
  for (const char letter : file) {
    if (letter < ' ' || letter > '~') return "FILE";
  }
  return file;
}

std::vector<std::string_view> partners_of(ModelKind model) {
  std::vector<std::string_view> partners;
  for (const auto& word : kSampleWords) {
    if (word.choice && engine::goes_with(model, *word.choice)) partners.push_back(word.text);
  }
  return partners;
}

}  // namespace

SampleKind usual_samples(ModelKind model) {
  if (model == ModelKind::kGpt) return SampleKind::kText;
  return model == ModelKind::kTorchScript ? SampleKind::kNpy : SampleKind::kFashionMnist;
}

ModelKind model_kind(std::string_view word) {
  return choice_of(kModelWords, word, "kind of model");
}

SampleKind sample_kind(std::string_view word) {
  return choice_of(kSampleWords, word, "kind of data");
}

std::string_view word_of(SampleKind samples) { return engine::word_of(kSampleWords, samples); }

std::string job_template(ModelKind model, SampleKind samples, std::string_view file) {
  if (!engine::goes_with(model, samples)) {
    throw Failure(Errc::kUsage,
                  fmt::format("{} cannot learn {}; it goes with {}", engine::name_of(model),
                              engine::name_of(samples), fmt::join(partners_of(model), ", ")));
  }
  return fmt::format(
      R"(# What to train, on what, and how. Keys behind a '#' show their defaults or a choice.
#
#   wide train {0} --nodes 2    on this machine
#   wide pool {0}               with whoever joins

[job]
name = "{1}"
seed = 42                   # fixes first weights, order of samples and dropout

[model]
{2}
[data]
{3}
[train]
{4}
[eval]
{5})",
      comment_name(file), engine::word_of(kModelWords, model), model_section(model, samples),
      sample_section(samples), train_section(model), eval_section(samples));
}

}  // namespace wide::apps
