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

#include "wide/train/made_up_samples.h"
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

// As written in golden_gradients.py's main().
struct Case {
  std::string name;
  engine::ModelKind kind;
  std::vector<std::uint32_t> sample_shape;
  std::vector<std::uint32_t> widths;  // an mlp's layers or a cnn's channels
  bool batch_norm = false;
  float dropout = 0;
  engine::Loss loss = engine::Loss::kCrossEntropy;
  Step step = 0;
  Unit unit = 0;
};

using engine::Loss;
using engine::ModelKind;

const Case kCases[] = {
    {"mlp", ModelKind::kMlp, {5}, {5, 8, 6, 3}},
    {"mlp_mse", ModelKind::kMlp, {5}, {5, 8, 3}, false, 0, Loss::kMse},
    {"mlp_norm", ModelKind::kMlp, {5}, {5, 8, 6, 3}, true},
    {"mlp_of_images", ModelKind::kMlp, {1, 8, 8}, {64, 4, 3}},
    {"cnn", ModelKind::kCnn, {1, 8, 8}, {2, 3}},
    {"cnn_norm", ModelKind::kCnn, {2, 9, 9}, {3, 4}, true},
    {"mlp_dropout", ModelKind::kMlp, {5}, {5, 8, 6, 3}, false, 0.25f, Loss::kCrossEntropy, 7, 1},
    {"cnn_dropout", ModelKind::kCnn, {1, 8, 8}, {2, 3}, false, 0.25f, Loss::kCrossEntropy, 7, 1},
};

engine::Job job_of(const Case& golden_case) {
  engine::Job job;
  job.seed = 42;
  job.model.kind = golden_case.kind;
  (golden_case.kind == ModelKind::kMlp ? job.model.layers : job.model.channels) =
      golden_case.widths;
  job.model.hidden = 5;
  job.model.batch_norm = golden_case.batch_norm;
  job.model.dropout = golden_case.dropout;
  job.train.loss = golden_case.loss;
  job.train.batch = 6;
  job.train.units_per_step = 2;
  job.eval.batch = 4;
  return job;
}

SampleSpace space_of(const Case& golden_case) {
  SampleSpace space;
  space.train_count = 6;  // one unit is one epoch, so the order of samples cannot matter
  space.eval_count = 9;
  space.sample_shape = golden_case.sample_shape;
  space.class_count = 3;
  return space;
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
  GoldenGradient()
      : job_(job_of(GetParam())),
        layout_(engine::make_layout(job_.model, space_of(GetParam()))),
        weights_(made_up_weights(layout_, buffers_)),
        golden_(read_golden(GetParam().name)) {
    const bool same_sample = GetParam().dropout > 0;
    const auto samples = std::make_shared<MadeUpSamples>(space_of(GetParam()), same_sample);
    computer_ = make_torch_factory(job_, layout_, samples)->make_computer();
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

  const double loss = computer_->gradient(weights_, GetParam().step, GetParam().unit, out);

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
