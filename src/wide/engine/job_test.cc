#include "wide/engine/job.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

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

Model any_model() {
  Model model;
  model.kind = one_of(ModelKind::kMlp, ModelKind::kCnn);
  model.batch_norm = one_of(true, false);
  model.dropout = static_cast<float>(any_fraction());
  if (model.kind == ModelKind::kMlp) {
    model.layers = any_sizes(2);
  } else {
    model.channels = any_sizes(1);
    model.hidden = *rc::gen::inRange<std::uint32_t>(1, 5000);
  }
  return model;
}

Samples any_samples() {
  Samples samples;
  samples.kind = one_of(SampleKind::kFashionMnist, SampleKind::kSynthetic);
  samples.ship = one_of(Ship::kAuto, Ship::kLocal);
  if (samples.kind == SampleKind::kSynthetic) {
    samples.count = *rc::gen::inRange<std::uint32_t>(1, 10000);
    samples.features = *rc::gen::inRange<std::uint32_t>(1, 1000);
    samples.classes = *rc::gen::inRange<std::uint32_t>(1, 1000);
  } else {
    samples.path = any_text();
  }
  return samples;
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

Job any_job() {
  Job job;
  job.name = any_text();
  job.seed = *rc::gen::inRange<std::uint64_t>(0, std::numeric_limits<std::int64_t>::max());
  job.model = any_model();
  job.samples = any_samples();
  job.train = any_train();
  job.eval.every = *rc::gen::inRange<std::uint64_t>(0, 1000);
  job.eval.batch = *rc::gen::inRange<std::uint32_t>(1, 1000);
  job.lossless = one_of(Lossless::kAuto, Lossless::kNone);
  job.net.buffer_bytes = *rc::gen::arbitrary<std::uint32_t>();
  job.net.quick_ack = one_of(true, false);
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

TEST(JobId, IgnoresWhatCannotChangeResults) {
  Job job;
  job.train.epochs = 1;
  const auto id = job_id(job, sha256("samples"));
  Job elsewhere = job;
  elsewhere.net.buffer_bytes = 4096;
  elsewhere.samples.path = "/elsewhere";
  elsewhere.samples.ship = Ship::kLocal;
  elsewhere.lossless = Lossless::kNone;
  Job other = job;
  other.seed = 43;

  EXPECT_EQ(job_id(elsewhere, sha256("samples")), id);
  EXPECT_NE(job_id(other, sha256("samples")), id);
  EXPECT_NE(job_id(job, sha256("other samples")), id);
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
  job.delay = 1;
  EXPECT_EQ(validate(job).error().code, Errc::kNotYet);
}

Job mlp_job(std::vector<std::uint32_t> layers) {
  Job job;
  job.model.kind = ModelKind::kMlp;
  job.model.layers = std::move(layers);
  return job;
}

TEST(ValidateFit, NamesBothNumbers) {
  const SampleSpace images{60000, 10000, {1, 28, 28}, 10, {}};

  EXPECT_TRUE(validate_fit(mlp_job({784, 10}), images));
  const auto input = validate_fit(mlp_job({700, 10}), images);
  const auto output = validate_fit(mlp_job({784, 9}), images);

  ASSERT_FALSE(input);
  EXPECT_EQ(input.error().code, Errc::kModelMisfit);
  EXPECT_EQ(input.error().detail, "[model] layers begins with 700, but a sample has 784 values");
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().detail, "[model] layers ends with 9, but the samples have 10 classes");
}

TEST(ValidateFit, WantsImagesLargeEnoughForACnn) {
  Job job;
  EXPECT_TRUE(validate_fit(job, {100, 0, {1, 28, 28}, 10, {}}));
  EXPECT_TRUE(validate_fit(job, {100, 0, {1, 4, 4}, 10, {}}));
  EXPECT_EQ(validate_fit(job, {100, 0, {1, 28, 3}, 10, {}}).error().code, Errc::kModelMisfit);
  EXPECT_EQ(validate_fit(job, {100, 0, {784}, 10, {}}).error().code, Errc::kModelMisfit);
  job.model.hidden = 4'000'000'000;
  EXPECT_EQ(validate_fit(job, {100, 0, {1, 28, 28}, 10, {}}).error().code, Errc::kModelMisfit);
  job.model.hidden = 8;
  job.model.channels.assign(64, 1);
  EXPECT_EQ(validate_fit(job, {100, 0, {1, 28, 28}, 10, {}}).error().code, Errc::kModelMisfit);
}

TEST(ValidateFit, WantsAsManySamplesAsABatch) {
  Job job;
  job.train.batch = 101;

  EXPECT_EQ(validate_fit(job, {100, 0, {1, 28, 28}, 10, {}}).error().code, Errc::kTooFewSamples);
}

}  // namespace
}  // namespace wide::engine
