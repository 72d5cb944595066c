#include "wide/engine/job.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "wide/engine/job_kinds.h"

namespace wide::engine {
namespace {

template <class... Choices>
auto one_of(Choices... choices) {
  return *rc::gen::element(choices...);
}

double any_rate() {
  const auto digits = *rc::gen::inRange<int>(0, 1'000'000'000);
  return digits * one_of(1e-12, 1e-9, 1e-3, 1.0, 1.0 / 3.0, 1e20);
}
double any_fraction() { return *rc::gen::inRange<int>(0, 999'999) / 1e6; }

std::vector<std::uint32_t> any_sizes(std::size_t count_min) {
  const auto count = *rc::gen::inRange<std::size_t>(count_min, 10);
  return *rc::gen::container<std::vector<std::uint32_t>>(count,
                                                         rc::gen::inRange<std::uint32_t>(1, 2000));
}

// Free text without control characters, with quotes, backslashes and letters beyond ASCII.
std::string any_text() {
  const auto letters = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
      "a", "Z", " ", "\"", "\\", "'", "#", "é", "東", "=", "[", "\\u"));
  std::string text = "n";
  for (const auto& letter : letters) {
    if (text.size() < 100) text += letter;
  }
  return text;
}

void choose_sizes(Model& model) {
  if (model.kind == ModelKind::kMlp) {
    model.layers = any_sizes(2);
  } else if (model.kind == ModelKind::kCnn) {
    model.channels = any_sizes(1);
    model.hidden = *rc::gen::inRange<std::uint32_t>(1, 5000);
  } else if (model.kind == ModelKind::kResnet) {
    model.depth = 2 + 6 * *rc::gen::inRange<std::uint32_t>(1, 201);
    model.width = *rc::gen::inRange<std::uint32_t>(1, 100);
  } else if (model.kind == ModelKind::kGpt) {
    model.layer_count = *rc::gen::inRange<std::uint32_t>(1, 20);
    model.heads = *rc::gen::inRange<std::uint32_t>(1, 20);
    model.width = model.heads * *rc::gen::inRange<std::uint32_t>(1, 20);
    model.vocabulary = *rc::gen::inRange<std::uint32_t>(1, 70000);
    model.tied = one_of(true, false);
  }
}

Model any_model(SampleKind samples) {
  Model model;
  do {
    model.kind = one_of(ModelKind::kMlp, ModelKind::kCnn, ModelKind::kResnet, ModelKind::kGpt,
                        ModelKind::kTorchScript);
  } while (!goes_with(model.kind, samples));
  choose_sizes(model);
  const bool plain = model.kind == ModelKind::kMlp || model.kind == ModelKind::kCnn;
  if (plain) model.batch_norm = one_of(true, false);
  if (plain || model.kind == ModelKind::kGpt) model.dropout = static_cast<float>(any_fraction());
  if (is_text(samples)) model.context = *rc::gen::inRange<std::uint32_t>(1, 5000);
  if (model.kind == ModelKind::kTorchScript) {
    model.file = any_text();
    if (one_of(true, false)) model.sha256 = sha256(model.file);
  }
  return model;
}

void choose_normalisation(Samples& samples) {
  samples.labels = any_text();
  samples.classes = *rc::gen::inRange<std::uint32_t>(0, 1000);
  samples.mean = any_rate() - 7;
  samples.deviation = any_rate() + 1e-6;
}

Samples any_samples() {
  Samples samples;
  samples.kind = one_of(SampleKind::kFashionMnist, SampleKind::kSynthetic, SampleKind::kIdx,
                        SampleKind::kNpy, SampleKind::kText, SampleKind::kTokens);
  if (samples.kind == SampleKind::kSynthetic) {
    samples.ship = one_of(Ship::kAuto, Ship::kLocal);
    samples.count = *rc::gen::inRange<std::uint32_t>(1, 10000);
    samples.features = *rc::gen::inRange<std::uint32_t>(1, 1000);
    samples.classes = *rc::gen::inRange<std::uint32_t>(1, 1000);
    return samples;
  }
  samples.ship = one_of(Ship::kAuto, Ship::kLocal, Ship::kAlways);
  samples.path = any_text();
  samples.window_chunks = *rc::gen::arbitrary<std::uint32_t>();
  if (has_labels(samples.kind)) choose_normalisation(samples);
  return samples;
}

Eval any_eval(SampleKind samples) {
  Eval eval;
  eval.every = *rc::gen::inRange<std::uint64_t>(0, 1000);
  eval.batch = *rc::gen::inRange<std::uint32_t>(1, 1000);
  if (brings_its_own_test(samples)) return eval;
  if (one_of(true, false)) {
    eval.fraction = any_fraction();
  } else {
    eval.path = any_text();
    if (has_labels(samples)) eval.labels = any_text();
  }
  return eval;
}

void choose_end(Train& train) {
  const auto end = *rc::gen::inRange(0, 3);
  if (end == 0) train.epochs = 0.001 + any_fraction() * 10;
  if (end == 1) train.steps = *rc::gen::inRange<std::uint64_t>(1, std::uint64_t{1} << 48);
  if (end == 2) train.seconds = 0.001 + any_fraction() * 1000;
}

void choose_optimizer(Train& train) {
  train.optimizer = one_of(OptimizerKind::kSgd, OptimizerKind::kAdam, OptimizerKind::kAdamW);
  train.weight_decay = any_rate();
  train.clip_norm = any_rate();
  if (train.optimizer == OptimizerKind::kSgd) {
    train.momentum = any_fraction();
    train.nesterov = train.momentum > 0 && one_of(true, false);
  } else {
    train.beta1 = any_fraction();
    train.beta2 = any_fraction();
    train.eps = any_rate() + 1e-12;
  }
}

Train any_train() {
  Train train;
  train.batch = *rc::gen::inRange<std::uint32_t>(2, 1000);
  train.units_per_step = *rc::gen::inRange<std::uint32_t>(1, 1000);
  train.block_units = *rc::gen::inRange<std::uint32_t>(1, train.units_per_step + 1);
  choose_end(train);
  choose_optimizer(train);
  train.loss = one_of(Loss::kCrossEntropy, Loss::kMse);
  train.lr = any_rate();
  train.schedule = one_of(Schedule::kConstant, Schedule::kCosine, Schedule::kStep);
  train.warmup_steps = *rc::gen::inRange<std::uint64_t>(0, 100000);
  if (train.schedule == Schedule::kStep) {
    train.decay_every_steps = *rc::gen::inRange<std::uint64_t>(1, 100000);
    train.decay_rate = 1 - any_fraction();
  }
  train.exact = one_of(Exact::kBits, Exact::kLedger);
  train.numerics = one_of(Numerics::kNative, Numerics::kPortable);
  return train;
}

Coding any_coding(Exact exact) {
  Coding codec;
  codec.gradient = one_of(LossyPlan::kNone, LossyPlan::kInt8, LossyPlan::kTopk);
  codec.update = one_of(LossyPlan::kNone, LossyPlan::kInt4, LossyPlan::kPowersgd);
  codec.lossless = one_of(LosslessPlan::kAuto, LosslessPlan::kPlanes, LosslessPlan::kZlib9);
  if (exact == Exact::kLedger && one_of(true, false)) codec.update = LossyPlan::kAuto;
  if (codec.automatic()) codec.budget = one_of(0.5, 0.001);
  return codec;
}

Job any_job() {
  Job job;
  job.name = any_text();
  job.seed = *rc::gen::inRange<std::uint64_t>(0, std::numeric_limits<std::int64_t>::max());
  job.samples = any_samples();
  job.model = any_model(job.samples.kind);
  job.train = any_train();
  job.eval = any_eval(job.samples.kind);
  job.codec = any_coding(job.train.exact);
  job.net.buffer_bytes = *rc::gen::arbitrary<std::uint32_t>();
  job.net.quick_ack = one_of(true, false);
  job.net.no_delay = one_of(true, false);
  job.net.gather = one_of(true, false);
  job.net.code_bytes_least = one_of(1u, 1024u, 1u << 20);
  return job;
}

RC_GTEST_PROP(CanonicalText, ReadsBackToTheSameJob, ()) {
  const auto job = any_job();
  const auto text = canonical_text(job);

  const auto again = parse_job(text, "canonical");

  if (!again) RC_FAIL(again.error().detail + "\n" + text);
  RC_ASSERT(*again == job);
  RC_ASSERT(canonical_text(*again) == text);
}

// What nodes are told reads back too, is the same job by its id, and has no path in it.
RC_GTEST_PROP(TextForNodes, KeepsTheIdAndNoPath, ()) {
  const auto job = any_job();

  const auto told = parse_job(text_for_nodes(job), "the pool's job");

  if (!told) RC_FAIL(told.error().detail);
  for (const auto& named : {told->samples.path, told->samples.labels, told->eval.path,
                            told->eval.labels, told->model.file}) {
    RC_ASSERT(named.find('/') == std::string::npos);
  }
  RC_ASSERT(told->model.sha256 == job.model.sha256);
  RC_ASSERT(job_id(*told, Digest{}) == job_id(job, Digest{}));
}

TEST(CanonicalText, WritesEveryKeySorted) {
  Job job;
  job.train.epochs = 2;

  EXPECT_EQ(canonical_text(job), R"([codec]
gradient = "none"
lossless = "auto"
update = "none"
[data]
kind = "fashion-mnist"
path = ""
ship = "auto"
window_chunks = 0
[eval]
batch = 250
every = 0
[job]
name = "job"
seed = 42
[model]
batch_norm = false
channels = [16, 32]
dropout = 0.0
hidden = 128
kind = "cnn"
[net]
buffer_bytes = 0
code_bytes_least = 1024
gather = true
no_delay = true
quick_ack = false
[strategy]
delay = 0
kind = "sync"
[train]
batch = 32
betas = [0.9, 0.999]
block_units = 1
clip_norm = 0.0
epochs = 2.0
eps = 1e-08
exact = "ledger"
loss = "cross-entropy"
lr = 0.001
numerics = "native"
optimizer = "adamw"
schedule = "constant"
units_per_step = 10
warmup_steps = 0
weight_decay = 0.01
)");
}

std::string lines_between(const std::string& text, std::string_view from, std::string_view to) {
  const auto begin = text.find(from);
  return text.substr(begin, text.find(to) - begin);
}

TEST(CanonicalText, WritesTheKeysOfAGptOnTokens) {
  Job job;
  job.train.epochs = 2;
  job.model.kind = ModelKind::kGpt;
  job.model.width = 96;
  job.samples.kind = SampleKind::kTokens;
  job.samples.path = "train.bin";
  job.eval.fraction = 0.125;
  const auto text = canonical_text(job);

  EXPECT_EQ(lines_between(text, "[data]", "[job]"), R"([data]
kind = "tokens"
path = "train.bin"
ship = "auto"
window_chunks = 0
[eval]
batch = 250
every = 0
fraction = 0.125
path = ""
)");
  EXPECT_EQ(lines_between(text, "[model]", "[net]"), R"([model]
context = 128
dropout = 0.0
heads = 4
kind = "gpt"
layers = 4
tied = true
vocabulary = 256
width = 96
)");
}

TEST(CanonicalText, WritesTheKeysOfAScriptOnNpy) {
  Job job;
  job.train.epochs = 2;
  job.model.kind = ModelKind::kTorchScript;
  job.model.file = "vit.pt";
  job.samples.kind = SampleKind::kNpy;
  job.samples.classes = 0;
  job.samples.deviation = 0.5;
  const auto without_hash = canonical_text(job);
  job.model.sha256 = sha256("");
  const auto text = canonical_text(job);

  EXPECT_EQ(lines_between(without_hash, "[model]", "[net]"), R"([model]
file = "vit.pt"
kind = "torchscript"
)");
  EXPECT_EQ(lines_between(text, "[data]", "[job]"), R"([data]
classes = 0
kind = "npy"
labels = ""
mean = 0.0
path = ""
ship = "auto"
std = 0.5
window_chunks = 0
[eval]
batch = 250
every = 0
fraction = 0.0
labels = ""
path = ""
)");
  EXPECT_EQ(lines_between(text, "sha256", "[net]"),
            "sha256 = \"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"\n");
}

TEST(JobId, IgnoresWhatCannotChangeResults) {
  Job job;
  job.train.epochs = 1;
  const auto id = job_id(job, sha256("samples"));
  Job elsewhere = job;
  elsewhere.net.buffer_bytes = 4096;
  elsewhere.samples.path = "/elsewhere";
  elsewhere.samples.ship = Ship::kLocal;
  elsewhere.codec.lossless = LosslessPlan::kNone;
  Job other = job;
  other.seed = 43;

  EXPECT_EQ(job_id(elsewhere, sha256("samples")), id);
  EXPECT_NE(job_id(other, sha256("samples")), id);
  EXPECT_NE(job_id(job, sha256("other samples")), id);
}

Job script_job() {
  Job job;
  job.train.epochs = 1;
  job.model.kind = ModelKind::kTorchScript;
  job.model.file = "a.pt";
  job.model.sha256 = sha256("a");
  job.samples.kind = SampleKind::kNpy;
  job.samples.path = "x.npy";
  job.samples.labels = "y.npy";
  job.eval.path = "test-x.npy";
  job.eval.labels = "test-y.npy";
  return job;
}

TEST(JobId, NamesFilesByTheirHashesAlone) {
  Job elsewhere = script_job();
  elsewhere.model.file = "/srv/b.pt";
  elsewhere.samples.path = "/srv/x.npy";
  elsewhere.samples.labels = "/srv/y.npy";
  elsewhere.samples.ship = Ship::kAlways;
  elsewhere.eval.path = "/srv/test-x.npy";
  elsewhere.eval.labels = "/srv/test-y.npy";

  EXPECT_EQ(job_id(elsewhere, Digest{}), job_id(script_job(), Digest{}));
}

TEST(JobId, ChangesWithWhatChangesResults) {
  const auto id = job_id(script_job(), Digest{});
  const auto id_with = [](auto change) {
    Job job = script_job();
    change(job);
    return job_id(job, Digest{});
  };

  EXPECT_NE(id_with([](Job& job) { job.model.sha256 = sha256("b"); }), id);
  EXPECT_NE(id_with([](Job& job) { job.samples.window_chunks = 8; }), id);
  EXPECT_NE(id_with([](Job& job) { job.samples.mean = 0.25; }), id);
  EXPECT_NE(id_with([](Job& job) { job.samples.deviation = 0.25; }), id);
  EXPECT_NE(id_with([](Job& job) { job.samples.classes = 7; }), id);
  EXPECT_NE(id_with([](Job& job) { job.eval.fraction = 0.25; }), id);
}

TEST(StepCount, RoundsEpochsUpToFullSteps) {
  Job job;
  job.train.batch = 32;
  job.train.units_per_step = 10;
  job.train.epochs = 2;
  EXPECT_EQ(job.step_count(60000), 375u);
  EXPECT_EQ(job.step_count(60001), 376u);
  job.train.epochs = 0.5;
  EXPECT_EQ(job.step_count(1000), 2u);
  job.train.batch = 1;
  job.train.units_per_step = 1;
  job.train.epochs = 0.07;
  EXPECT_EQ(job.step_count(100), 7u);
  job.train.epochs = 1e-9;
  EXPECT_EQ(job.step_count(100), 1u);
}

TEST(StepCount, TakesStepsAsTheyAreAndSecondsAsNoEnd) {
  Job job;
  job.train.steps = 17;
  EXPECT_EQ(job.step_count(60000), 17u);
  job.train.steps = 0;
  job.train.seconds = 9;
  EXPECT_EQ(job.step_count(60000), 0u);
}

TEST(Validate, SeesWhatFlagsChanged) {
  Job job;
  job.train.epochs = 1;
  EXPECT_TRUE(validate(job));
  job.train.steps = 5;
  EXPECT_EQ(validate(job).error().code, Errc::kOutOfRange);
  job.train.epochs = 0;
  EXPECT_TRUE(validate(job));
  job.delay = kDelayMax;
  EXPECT_TRUE(validate(job));
  job.delay = kDelayMax + 1;
  EXPECT_EQ(validate(job).error().code, Errc::kOutOfRange);
}

}  // namespace
}  // namespace wide::engine
