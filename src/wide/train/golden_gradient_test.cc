// Losses, gradients and running statistics against PyTorch's own modules in double precision, on
// the same weights and samples. The files are made by scripts/golden_gradients.py.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "wide/train/exported_scripts.h"
#include "wide/train/made_up_samples.h"
#include "wide/train/script_file.h"
#include "wide/train/torch_factory.h"

namespace wide::train {
namespace {

constexpr double kErrorMax = 1e-5;  // norm of the difference over the norm

struct Golden {
  double loss = 0;
  double eval_loss = 0;
  std::uint64_t eval_correct = 0;
  std::map<std::string, std::vector<double>> tensors;
};

Golden read_golden(const std::string& name) {
  std::ifstream file(std::string(WIDE_GOLDEN_FOLDER) + "/gradients/" + name + ".txt");
  EXPECT_TRUE(file.is_open()) << name;
  Golden golden;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "loss") words >> golden.loss;
    if (word == "eval_loss") words >> golden.eval_loss;
    if (word == "eval_correct") words >> golden.eval_correct;
    if (word != "gradient" && word != "buffer") continue;
    std::string tensor;
    std::size_t count = 0;
    words >> tensor >> count;
    auto& values = golden.tensors[tensor];
    for (double value = 0; words >> value;) values.push_back(value);
    EXPECT_EQ(values.size(), count) << tensor;
  }
  return golden;
}

using engine::Loss;
using engine::Model;
using engine::ModelKind;

// As written in golden_gradients.py's write_…().
struct Case {
  std::string name;
  Model model;
  SampleSpace space;
  Loss loss = Loss::kCrossEntropy;
};

SampleSpace images(std::vector<std::uint32_t> shape, std::uint32_t classes = 3) {
  SampleSpace space;
  space.train_count = 6;  // one unit is one epoch, so the order of samples cannot matter
  space.eval_count = 9;
  space.sample_shape = std::move(shape);
  space.class_count = classes;
  return space;
}

SampleSpace values(std::uint32_t features, std::uint32_t target_count) {
  auto space = images({features}, 0);
  space.target_count = target_count;
  return space;
}

SampleSpace text(std::uint32_t context, std::uint32_t classes) {
  auto space = images({context}, classes);
  space.tokens = true;
  space.target_count = context;
  return space;
}

Model mlp(std::vector<std::uint32_t> layers, bool batch_norm = false, float dropout = 0) {
  Model model;
  model.kind = ModelKind::kMlp;
  model.layers = std::move(layers);
  model.batch_norm = batch_norm;
  model.dropout = dropout;
  return model;
}

Model cnn(std::vector<std::uint32_t> channels, bool batch_norm = false, float dropout = 0) {
  auto model = mlp({}, batch_norm, dropout);
  model.kind = ModelKind::kCnn;
  model.channels = std::move(channels);
  model.hidden = 5;
  return model;
}

Model resnet(std::uint32_t depth, std::uint32_t width) {
  Model model;
  model.kind = ModelKind::kResnet;
  model.depth = depth;
  model.width = width;
  return model;
}

Model gpt(std::uint32_t layers, std::uint32_t heads, bool tied, float dropout = 0) {
  Model model;
  model.kind = ModelKind::kGpt;
  model.layer_count = layers;
  model.heads = heads;
  model.width = 4;
  model.context = 5;
  model.vocabulary = 7;
  model.tied = tied;
  model.dropout = dropout;
  return model;
}

Model script(const std::string& kind) {
  Model model;
  model.kind = ModelKind::kTorchScript;
  model.file = kind;
  return model;
}

const Case kCases[] = {
    {"mlp", mlp({5, 8, 6, 3}), images({5})},
    {"mlp_mse", mlp({5, 8, 3}), images({5}), Loss::kMse},
    {"mlp_values", mlp({5, 8, 4}), values(5, 4), Loss::kMse},
    {"mlp_norm", mlp({5, 8, 6, 3}, true), images({5})},
    {"mlp_of_images", mlp({64, 4, 3}), images({1, 8, 8})},
    {"mlp_dropout", mlp({5, 8, 6, 3}, false, 0.25f), images({5})},
    {"cnn", cnn({2, 3}), images({1, 8, 8})},
    {"cnn_norm", cnn({3, 4}, true), images({2, 9, 9})},
    {"cnn_dropout", cnn({2, 3}, false, 0.25f), images({1, 8, 8})},
    {"resnet", resnet(8, 3), images({1, 8, 8})},
    {"resnet_deep", resnet(20, 2), images({2, 9, 7})},
    {"gpt", gpt(2, 2, true), text(5, 7)},
    {"gpt_separate", gpt(1, 1, false), text(5, 5)},
    {"gpt_dropout", gpt(2, 2, true, 0.25f), text(5, 7)},
    {"script_mobile", script("mobile"), images({1, 28, 28}, 10)},
    {"script_lstm", script("lstm"), text(7, 16)},
    {"script_vit", script("vit"), images({1, 28, 28}, 10)},
};

engine::Job job_of(const Case& golden_case) {
  engine::Job job;
  job.seed = 42;
  job.model = golden_case.model;
  job.train.loss = golden_case.loss;
  job.train.batch = 6;
  job.train.units_per_step = 2;
  job.eval.batch = 4;
  return job;
}

double norm(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

std::vector<double> difference(std::span<const float> ours, const std::vector<double>& golden) {
  std::vector<double> values;
  for (std::size_t i = 0; i < golden.size(); ++i) values.push_back(ours[i] - golden[i]);
  return values;
}

class GoldenGradient : public testing::TestWithParam<Case> {
 protected:
  GoldenGradient() : job_(job_of(GetParam())), golden_(read_golden(GetParam().name)) {
    std::filesystem::path file;
    if (job_.model.kind == ModelKind::kTorchScript) {
      file = exported_script(job_.model.file, /*dropout=*/false);
      const auto script = value_or_throw(read_script_file(file));
      layout_ = script.genesis.layout;
      job_.model.sha256 = script.sha256;
    } else {
      layout_ = engine::make_layout(job_.model, GetParam().space);
    }
    weights_ = made_up_weights(layout_, buffers_);
    const bool same_sample = job_.model.dropout > 0;
    const auto samples = std::make_shared<MadeUpSamples>(GetParam().space, same_sample);
    computer_ = make_torch_factory(job_, layout_, samples, file)->make_computer();
  }

  BufferPool buffers_;
  engine::Job job_;
  engine::Layout layout_;
  engine::Weights weights_;
  Golden golden_;
  std::unique_ptr<engine::UnitComputer> computer_;
};

TEST_P(GoldenGradient, LayoutHasPyTorchsNames) {
  std::vector<std::string> names;
  std::vector<std::string> golden_names;
  for (const auto& spec : layout_.tensors) names.push_back(spec.name);
  for (const auto& [name, values] : golden_.tensors) golden_names.push_back(name);

  EXPECT_THAT(names, testing::UnorderedElementsAreArray(golden_names));
}

TEST_P(GoldenGradient, EqualsPyTorchs) {
  std::vector<float> out(layout_.value_count());

  const bool dropout = job_.model.dropout > 0;
  const double loss = computer_->gradient(weights_, dropout ? 7 : 0, dropout ? 1 : 0, out);

  EXPECT_NEAR(loss, golden_.loss, kErrorMax * std::abs(golden_.loss));
  double whole = 0;
  for (const auto& [name, values] : golden_.tensors) whole = std::hypot(whole, norm(values));
  for (const auto& spec : layout_.tensors) {
    const auto& golden = golden_.tensors.at(spec.name);
    ASSERT_EQ(golden.size(), spec.size) << spec.name;
    const auto ours = std::span<const float>(out).subspan(spec.offset, spec.size);
    // A bias before batch-norm has a gradient of zero, which rounding makes a little more.
    const double scale = std::max(norm(golden), 0.01 * whole);
    EXPECT_LT(norm(difference(ours, golden)), kErrorMax * scale) << spec.name;
  }
}

TEST_P(GoldenGradient, EvaluationEqualsPyTorchs) {
  const auto outcome = computer_->evaluate(weights_, 0, 9);

  EXPECT_NEAR(outcome.loss_sum, golden_.eval_loss, kErrorMax * golden_.eval_loss);
  EXPECT_EQ(outcome.correct_count, golden_.eval_correct);
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenGradient, testing::ValuesIn(kCases),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace wide::train
