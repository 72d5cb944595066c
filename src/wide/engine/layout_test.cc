#include "wide/engine/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
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

Model resnet(std::uint32_t depth, std::uint32_t width) {
  Model model;
  model.kind = ModelKind::kResnet;
  model.depth = depth;
  model.width = width;
  return model;
}

// He et al. 2015, table 6: resnet-20 for CIFAR-10 has 0.27 M parameters, resnet-56 0.85 M. Theirs
// have no projections; ours has two, of 16·32 and 32·64 weights, each with a norm.
TEST(MakeLayout, CountsTheResnetsOfThePaper) {
  const SampleSpace cifar{1000, 0, {3, 32, 32}, 10, {}};

  const auto twenty = make_layout(resnet(20, 16), cifar);
  const auto fifty_six = make_layout(resnet(56, 16), cifar);

  const std::uint64_t projections = 16 * 32 + 2 * 32 + 32 * 64 + 2 * 64;
  EXPECT_EQ(twenty.parameter_count, 269722u + projections);
  EXPECT_EQ(fifty_six.parameter_count, 853018u + projections);
  expect_no_gaps(twenty);
  expect_no_gaps(fifty_six);
}

TEST(MakeLayout, NamesResnetByStageAndBlock) {
  const auto layout = make_layout(resnet(14, 8), {1000, 0, {2, 9, 5}, 7, {}});

  EXPECT_EQ(layout.tensors.front().name, "stem.conv.weight");
  EXPECT_EQ(layout.find("stem.conv.weight").shape, (std::vector<std::uint32_t>{8, 2, 3, 3}));
  EXPECT_EQ(layout.find("stages.0.1.conv2.weight").shape, (std::vector<std::uint32_t>{8, 8, 3, 3}));
  EXPECT_EQ(layout.find("stages.1.0.conv1.weight").shape,
            (std::vector<std::uint32_t>{16, 8, 3, 3}));
  EXPECT_EQ(layout.find("stages.2.0.shortcut.conv.weight").shape,
            (std::vector<std::uint32_t>{32, 16, 1, 1}));
  EXPECT_TRUE(layout.find("stages.1.0.shortcut.norm.running_mean").is_buffer);
  EXPECT_EQ(layout.find("head.weight").shape, (std::vector<std::uint32_t>{7, 32}));
  const auto names = names_of(layout);
  EXPECT_EQ(std::ranges::count(names, "stages.0.0.shortcut.conv.weight"), 0);
  EXPECT_EQ(std::ranges::count(names, "stages.1.1.shortcut.conv.weight"), 0);
}

Model gpt(bool tied) {
  Model model;
  model.kind = ModelKind::kGpt;
  model.layer_count = 12;
  model.heads = 12;
  model.width = 768;
  model.context = 1024;
  model.vocabulary = 50257;
  model.tied = tied;
  return model;
}

// GPT-2's smallest: 124,439,808 parameters (Radford et al. 2019, as published).
TEST(MakeLayout, CountsTheSmallestGpt2) {
  const auto tied = make_layout(gpt(true), {});
  const auto separate = make_layout(gpt(false), {});

  EXPECT_EQ(tied.parameter_count, 124439808u);
  EXPECT_EQ(separate.parameter_count, 124439808u + 50257u * 768);
  EXPECT_EQ(tied.buffer_count, 0u);
  expect_no_gaps(separate);
}

TEST(MakeLayout, NamesGptAsNanoGptDoes) {
  auto model = gpt(false);
  model.layer_count = 1;

  EXPECT_EQ(names_of(make_layout(model, {})),
            (std::vector<std::string>{
                "transformer.wte.weight", "transformer.wpe.weight", "transformer.h.0.ln_1.weight",
                "transformer.h.0.ln_1.bias", "transformer.h.0.attn.c_attn.weight",
                "transformer.h.0.attn.c_attn.bias", "transformer.h.0.attn.c_proj.weight",
                "transformer.h.0.attn.c_proj.bias", "transformer.h.0.ln_2.weight",
                "transformer.h.0.ln_2.bias", "transformer.h.0.mlp.c_fc.weight",
                "transformer.h.0.mlp.c_fc.bias", "transformer.h.0.mlp.c_proj.weight",
                "transformer.h.0.mlp.c_proj.bias", "transformer.ln_f.weight",
                "transformer.ln_f.bias", "lm_head.weight"}));
}

}  // namespace
}  // namespace wide::engine
