#include "wide/engine/layout.h"

#include <gtest/gtest.h>

#include <cmath>

namespace wide::engine {
namespace {

SampleSpace images() { return {60000, 10000, {1, 28, 28}, 10, {}}; }
SampleSpace rows() { return {1000, 1000, {10}, 10, {}}; }

Model mlp(std::vector<std::uint32_t> layers, bool batch_norm = false) {
  Model model;
  model.kind = ModelKind::kMlp;
  model.layers = std::move(layers);
  model.batch_norm = batch_norm;
  return model;
}

std::vector<std::string> names_of(const Layout& layout) {
  std::vector<std::string> names;
  for (const auto& tensor : layout.tensors) names.push_back(tensor.name);
  return names;
}

void expect_no_gaps(const Layout& layout) {
  std::uint64_t end = 0;
  for (const auto& tensor : layout.tensors) {
    EXPECT_EQ(tensor.offset, end) << tensor.name;
    EXPECT_EQ(tensor.is_buffer, tensor.offset >= layout.parameter_count) << tensor.name;
    end += tensor.size;
  }
  EXPECT_EQ(end, layout.value_count());
}

TEST(MakeLayout, CountsTheNetworkOf2024) {
  const auto layout = make_layout(mlp({10, 20, 10}), rows());

  EXPECT_EQ(layout.parameter_count, 430u);
  EXPECT_EQ(layout.buffer_count, 0u);
  expect_no_gaps(layout);
}

TEST(MakeLayout, NamesMlpWithNorms) {
  const auto layout = make_layout(mlp({10, 20, 30, 10}, true), rows());

  EXPECT_EQ(names_of(layout), (std::vector<std::string>{
                                  "linear0.weight", "linear0.bias", "norm0.weight", "norm0.bias",
                                  "linear1.weight", "linear1.bias", "norm1.weight", "norm1.bias",
                                  "linear2.weight", "linear2.bias", "norm0.running_mean",
                                  "norm0.running_var", "norm1.running_mean", "norm1.running_var"}));
  EXPECT_EQ(layout.find("linear1.weight").shape, (std::vector<std::uint32_t>{30, 20}));
  EXPECT_EQ(layout.buffer_count, 2u * (20 + 30));
  expect_no_gaps(layout);
}

TEST(MakeLayout, HalvesImagesAfterEachConvolution) {
  Model model;
  model.batch_norm = true;

  const auto layout = make_layout(model, images());

  EXPECT_EQ(layout.find("conv0.weight").shape, (std::vector<std::uint32_t>{16, 1, 3, 3}));
  EXPECT_EQ(layout.find("conv1.weight").shape, (std::vector<std::uint32_t>{32, 16, 3, 3}));
  EXPECT_EQ(layout.find("hidden.weight").shape, (std::vector<std::uint32_t>{128, 32 * 7 * 7}));
  EXPECT_EQ(layout.find("output.bias").shape, (std::vector<std::uint32_t>{10}));
  EXPECT_EQ(layout.parameter_count, 160u + 32 + 4640 + 64 + 200832 + 1290);
  EXPECT_EQ(layout.buffer_count, 2u * (16 + 32));
  expect_no_gaps(layout);
}

TEST(MakeLayout, RoundsOddImagesDown) {
  Model model;
  model.channels = {4, 4};

  const auto layout = make_layout(model, {100, 0, {3, 15, 9}, 5, {}});

  EXPECT_EQ(layout.find("hidden.weight").shape[1], 4u * 3 * 2);
}

TEST(FillGenesis, StaysWithinTheBoundOfEachLayer) {
  Model model;
  model.batch_norm = true;
  const auto layout = make_layout(model, images());
  std::vector<float> values(layout.value_count(), NAN);

  fill_genesis(model, layout, 42, values);

  for (const auto& tensor : layout.tensors) {
    if (tensor.name.starts_with("norm")) continue;
    const auto weight = tensor.name.substr(0, tensor.name.find('.')) + ".weight";
    const auto& shape = layout.find(weight).shape;
    double fan_in = 1;
    for (std::size_t i = 1; i < shape.size(); ++i) fan_in *= shape[i];
    double sum = 0, largest = 0;
    for (std::uint64_t i = 0; i < tensor.size; ++i) {
      const double value = values[tensor.offset + i];
      sum += value;
      largest = std::max(largest, std::abs(value));
    }
    const double bound = 1 / std::sqrt(fan_in);
    EXPECT_LE(largest, bound * (1 + 1e-7)) << tensor.name;
    EXPECT_GT(largest, bound * 0.5) << tensor.name;
    const double deviation = bound / std::sqrt(3.0 * static_cast<double>(tensor.size));
    EXPECT_LT(std::abs(sum / static_cast<double>(tensor.size)), 5 * deviation) << tensor.name;
  }
}

TEST(FillGenesis, MakesNormsNeutral) {
  const auto model = mlp({10, 20, 10}, true);
  const auto layout = make_layout(model, rows());
  std::vector<float> values(layout.value_count(), NAN);

  fill_genesis(model, layout, 42, values);

  const auto at = [&](const char* name) { return values[layout.find(name).offset + 19]; };
  EXPECT_EQ(at("norm0.weight"), 1.0f);
  EXPECT_EQ(at("norm0.bias"), 0.0f);
  EXPECT_EQ(at("norm0.running_mean"), 0.0f);
  EXPECT_EQ(at("norm0.running_var"), 1.0f);
}

TEST(FillGenesis, IsPureInTheSeed) {
  const auto model = mlp({10, 20, 10});
  const auto layout = make_layout(model, rows());
  std::vector<float> one(430), same(430), other(430);

  fill_genesis(model, layout, 1, one);
  fill_genesis(model, layout, 1, same);
  fill_genesis(model, layout, 2, other);

  EXPECT_EQ(one, same);
  EXPECT_NE(one, other);
  EXPECT_NE(one[0], one[layout.find("linear1.weight").offset]);
}

}  // namespace
}  // namespace wide::engine
