#include <gtest/gtest.h>

#include "wide/engine/job.h"
#include "wide/engine/job_size.h"
#include "wide/engine/layout.h"

namespace wide::engine {
namespace {

SampleSpace images(std::uint32_t rows, std::uint32_t columns) {
  SampleSpace space;
  space.train_count = 60000;
  space.eval_count = 10000;
  space.sample_shape = {1, rows, columns};
  space.class_count = 10;
  return space;
}

SampleSpace rows_of(std::uint32_t features, std::uint32_t classes, std::uint32_t targets = 1) {
  SampleSpace space = images(1, 1);
  space.sample_shape = {features};
  space.class_count = classes;
  space.target_count = targets;
  return space;
}

SampleSpace text(std::uint32_t context, std::uint32_t classes = 256) {
  SampleSpace space = rows_of(context, classes, context);
  space.tokens = true;
  return space;
}

Job job_of(ModelKind kind) {
  Job job;
  job.model.kind = kind;
  return job;
}

Job mlp_job(std::vector<std::uint32_t> layers) {
  Job job = job_of(ModelKind::kMlp);
  job.model.layers = std::move(layers);
  return job;
}

Job gpt_job(std::uint32_t context = 128) {
  Job job = job_of(ModelKind::kGpt);
  job.model.width = 128;
  job.model.context = context;
  return job;
}

// "W106 [model] layers …"; empty where it fits.
std::string misfit(const Job& job, const SampleSpace& space) {
  const auto fit = validate_fit(job, space);
  if (fit) return "";
  return "W" + std::to_string(static_cast<int>(fit.error().code)) + " " + fit.error().detail;
}

TEST(ValidateFit, NamesBothNumbersOfAnMlp) {
  EXPECT_EQ(misfit(mlp_job({784, 10}), images(28, 28)), "");
  EXPECT_EQ(misfit(mlp_job({700, 10}), images(28, 28)),
            "W106 [model] layers begins with 700, but a sample has 784 values");
  EXPECT_EQ(misfit(mlp_job({784, 9}), images(28, 28)),
            "W106 [model] layers ends with 9, but the samples have 10 classes");
  EXPECT_NE(misfit(mlp_job({}), images(28, 28)), "");
}

TEST(ValidateFit, MeetsValuesBySquaresOnly) {
  Job job = mlp_job({8, 3});
  const auto values = rows_of(8, 0, 3);

  EXPECT_EQ(misfit(job, values).substr(0, 51),
            "W106 [train] loss = \"cross-entropy\" needs classes, ");
  job.train.loss = Loss::kMse;
  EXPECT_EQ(misfit(job, values), "");
  EXPECT_EQ(misfit(job, rows_of(8, 3)), "");  // classes as one-hot values
  job.model.layers = {8, 2};
  EXPECT_EQ(misfit(job, values),
            "W106 [model] layers ends with 2, but the samples have 3 target values");

  Job script = job_of(ModelKind::kTorchScript);
  EXPECT_EQ(misfit(script, values).substr(0, 4), "W106");
  script.train.loss = Loss::kMse;
  EXPECT_EQ(misfit(script, values), "");
}

TEST(ValidateFit, WantsImagesLargeEnoughForACnn) {
  Job job;
  EXPECT_EQ(misfit(job, images(28, 28)), "");
  EXPECT_EQ(misfit(job, images(4, 4)), "");
  EXPECT_EQ(misfit(job, images(28, 3)).substr(0, 4), "W106");
  EXPECT_EQ(misfit(job, rows_of(784, 10)),
            "W106 a cnn needs samples of channels × rows × columns, not 784");
  job.model.hidden = 4'000'000'000;
  EXPECT_EQ(misfit(job, images(28, 28)), "W106 a cnn of this size has more than 2^31 parameters");
  job.model.hidden = 8;
  job.model.channels.assign(64, 1);
  EXPECT_EQ(misfit(job, images(28, 28)).substr(0, 4), "W106");
}

TEST(ValidateFit, WantsImagesLargeEnoughForAResnet) {
  Job job = job_of(ModelKind::kResnet);

  EXPECT_EQ(misfit(job, images(28, 28)), "");
  EXPECT_EQ(misfit(job, images(4, 4)), "");
  EXPECT_EQ(misfit(job, images(4, 3)), "W106 a resnet needs samples of at least 4 × 4, not 4 × 3");
  EXPECT_EQ(misfit(job, rows_of(784, 10)),
            "W106 a resnet needs samples of channels × rows × columns, not 784");
  job.model.width = 4'000'000'000;
  EXPECT_EQ(misfit(job, images(28, 28)).substr(0, 4), "W106");
}

// 4 × 4 pixels are one in the last stage, 4 × 5 are two.
TEST(ValidateFit, GivesBatchNormAVariance) {
  Job job = job_of(ModelKind::kResnet);
  job.train.batch = 1;

  EXPECT_EQ(misfit(job, images(4, 4)),
            "W106 [train] batch must be at least 2 for a resnet on samples of 4 × 4");
  EXPECT_EQ(misfit(job, images(4, 5)), "");
  job.train.batch = 2;
  EXPECT_EQ(misfit(job, images(4, 4)), "");
}

TEST(ValidateFit, GivesAGptTokensOfItsContextAndVocabulary) {
  EXPECT_EQ(misfit(gpt_job(), text(128)), "");
  EXPECT_EQ(misfit(gpt_job(64), text(128)),
            "W106 [model] context is 64, but a sample has 128 tokens");
  EXPECT_EQ(misfit(gpt_job(), text(128, 50257)),
            "W207 [model] vocabulary is 256, but the samples have tokens up to 50256 (text: "
            "bytes)");
  EXPECT_EQ(misfit(gpt_job(), rows_of(128, 10)),
            "W106 a gpt needs text or tokens, not samples of values");
}

TEST(ValidateFit, KeepsTokensFromModelsOfValues) {
  EXPECT_EQ(misfit(mlp_job({128, 256}), text(128)), "W106 an mlp cannot read tokens");
  EXPECT_EQ(misfit(job_of(ModelKind::kCnn), text(128)), "W106 a cnn cannot read tokens");
  EXPECT_EQ(misfit(job_of(ModelKind::kResnet), text(128)), "W106 a resnet cannot read tokens");
  EXPECT_EQ(misfit(job_of(ModelKind::kTorchScript), text(128)), "");
}

TEST(ValidateFit, WantsAsManySamplesAsABatch) {
  Job job;
  job.train.batch = 60001;
  EXPECT_EQ(misfit(job, images(28, 28)),
            "W204 [train] batch is 60001, but there are 60000 samples");
  job.model.kind = ModelKind::kTorchScript;
  EXPECT_EQ(misfit(job, images(28, 28)).substr(0, 4), "W204");
}

TEST(ParameterCount, IsThatOfTheLayout) {
  for (const bool norm : {false, true}) {
    Job mlp = mlp_job({784, 30, 20, 10});
    mlp.model.batch_norm = norm;
    Job cnn = job_of(ModelKind::kCnn);
    cnn.model.batch_norm = norm;
    for (const auto& job : {mlp, cnn}) {
      const auto layout = make_layout(job.model, images(28, 28));
      EXPECT_EQ(parameter_count(job.model, images(28, 28)), layout.parameter_count);
    }
  }
}

// He et al. 2015, table 6, for images of three channels: "0.27M", "0.46M", "1.7M", "19.4M".
TEST(ParameterCount, IsThatOfThePaperForResnets) {
  auto space = images(32, 32);
  space.sample_shape[0] = 3;
  const auto millions = [&](std::uint32_t depth) {
    Model model;
    model.kind = ModelKind::kResnet;
    model.depth = depth;
    return parameter_count(model, space) / 1e6;
  };

  EXPECT_NEAR(millions(20), 0.27, 0.005);
  EXPECT_NEAR(millions(32), 0.46, 0.005);
  EXPECT_NEAR(millions(110), 1.7, 0.05);
  EXPECT_NEAR(millions(1202), 19.4, 0.05);
}

// GPT-2's smallest has 124,439,808 with its head tied to its embedding (Hugging Face's "gpt2").
TEST(ParameterCount, IsThatOfGpt2) {
  Model model;
  model.kind = ModelKind::kGpt;
  model.layer_count = 12;
  model.heads = 12;
  model.width = 768;
  model.context = 1024;
  model.vocabulary = 50257;

  EXPECT_EQ(parameter_count(model, {}), 124'439'808);
  model.tied = false;
  EXPECT_EQ(parameter_count(model, {}), 124'439'808 + 50257 * 768);
}

}  // namespace
}  // namespace wide::engine
