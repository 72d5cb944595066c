#include "wide/engine/genesis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

namespace wide::engine {
namespace {

SampleSpace images() { return {1000, 100, {1, 28, 28}, 10, {}}; }
SampleSpace rows() { return {1000, 100, {10}, 10, {}}; }

Job mlp(std::vector<std::uint32_t> layers, bool batch_norm = false) {
  Job job;
  job.model.kind = ModelKind::kMlp;
  job.model.layers = std::move(layers);
  job.model.batch_norm = batch_norm;
  return job;
}

TEST(MakeGenesis, StaysWithinTheBoundOfEachLayer) {
  Job job;
  job.model.batch_norm = true;

  const auto genesis = make_genesis(job, images());
  const auto& layout = genesis.layout;
  const auto& values = genesis.values;

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

TEST(MakeGenesis, MakesNormsNeutral) {
  const auto genesis = make_genesis(mlp({10, 20, 10}, true), rows());

  const auto at = [&](const char* name) {
    return genesis.values[genesis.layout.find(name).offset + 19];
  };
  EXPECT_EQ(at("norm0.weight"), 1.0f);
  EXPECT_EQ(at("norm0.bias"), 0.0f);
  EXPECT_EQ(at("norm0.running_mean"), 0.0f);
  EXPECT_EQ(at("norm0.running_var"), 1.0f);
}

TEST(MakeGenesis, IsPureInTheSeed) {
  Job one = mlp({10, 20, 10});
  Job other = one;
  other.seed = one.seed + 1;

  const auto first = make_genesis(one, rows());
  const auto same = make_genesis(one, rows());
  const auto different = make_genesis(other, rows());

  EXPECT_EQ(first.values.size(), 430u);
  EXPECT_EQ(first.values, same.values);
  EXPECT_EQ(first.sha256(), same.sha256());
  EXPECT_NE(first.values, different.values);
  EXPECT_NE(first.sha256(), different.sha256());
  EXPECT_NE(first.values[0], first.values[first.layout.find("linear1.weight").offset]);
}

// Mean and deviation of a tensor's values.
struct Spread {
  double mean = 0;
  double deviation = 0;
};

Spread spread_of(const Genesis& genesis, const std::string& name) {
  const auto& tensor = genesis.layout.find(name);
  double sum = 0, squares = 0;
  for (std::uint64_t i = 0; i < tensor.size; ++i) {
    const double value = genesis.values[tensor.offset + i];
    sum += value;
    squares += value * value;
  }
  const auto count = static_cast<double>(tensor.size);
  return {sum / count, std::sqrt(squares / count - sum / count * sum / count)};
}

// A normal sample of n values: its mean strays by d/sqrt(n), its deviation by d/sqrt(2n).
void expect_normal(const Genesis& genesis, const std::string& name, double deviation) {
  const auto found = spread_of(genesis, name);
  const double strays = deviation / std::sqrt(genesis.layout.find(name).size);
  EXPECT_NEAR(found.mean, 0, 5 * strays) << name;
  EXPECT_NEAR(found.deviation, deviation, 4 * strays) << name;
}

void expect_all(const Genesis& genesis, const std::string& name, float value) {
  const auto& tensor = genesis.layout.find(name);
  const auto values = std::span(genesis.values).subspan(tensor.offset, tensor.size);
  EXPECT_EQ(std::ranges::count(values, value), static_cast<long>(tensor.size)) << name;
}

// He et al. 2015, "Delving deep into rectifiers": variance 2 / (filters · height · width).
TEST(MakeGenesis, DrawsResnetConvolutionsByTheirFanOut) {
  Job job;
  job.model.kind = ModelKind::kResnet;
  job.model.depth = 14;
  job.model.width = 16;

  const auto genesis = make_genesis(job, images());

  expect_normal(genesis, "stem.conv.weight", std::sqrt(2.0 / (16 * 9)));
  expect_normal(genesis, "stages.0.1.conv2.weight", std::sqrt(2.0 / (16 * 9)));
  expect_normal(genesis, "stages.2.0.conv1.weight", std::sqrt(2.0 / (64 * 9)));
  expect_normal(genesis, "stages.2.0.shortcut.conv.weight", std::sqrt(2.0 / 64));
  expect_all(genesis, "stages.1.0.shortcut.norm.weight", 1.0f);
  expect_all(genesis, "stages.1.0.shortcut.norm.running_var", 1.0f);
  expect_all(genesis, "stages.1.1.norm2.bias", 0.0f);
  expect_all(genesis, "stem.norm.running_mean", 0.0f);
  const auto head = spread_of(genesis, "head.weight");
  EXPECT_NEAR(head.deviation, 1 / std::sqrt(3.0 * 64), 0.003);
  EXPECT_GT(spread_of(genesis, "head.bias").deviation, 0);
}

TEST(MakeGenesis, DrawsGptAsNanoGptDoes) {
  Job job;
  job.model.kind = ModelKind::kGpt;
  job.model.layer_count = 8;
  job.model.width = 64;
  job.model.tied = false;

  const auto genesis = make_genesis(job, images());

  expect_normal(genesis, "transformer.wte.weight", 0.02);
  expect_normal(genesis, "transformer.wpe.weight", 0.02);
  expect_normal(genesis, "transformer.h.7.attn.c_attn.weight", 0.02);
  expect_normal(genesis, "transformer.h.7.attn.c_proj.weight", 0.02 / 4);
  expect_normal(genesis, "transformer.h.0.mlp.c_proj.weight", 0.02 / 4);
  expect_normal(genesis, "lm_head.weight", 0.02);
  expect_all(genesis, "transformer.h.3.mlp.c_fc.bias", 0.0f);
  expect_all(genesis, "transformer.h.3.ln_2.weight", 1.0f);
  expect_all(genesis, "transformer.ln_f.bias", 0.0f);
}

// From Python: 0.02 · statistics.NormalDist().inv_cdf((word + 0.5) / 2^32), the words being
// Philox's for (seed 42, "gene", tensor 0).
TEST(MakeGenesis, IsTheSameOnEveryMachine) {
  Job job;
  job.model.kind = ModelKind::kGpt;

  const auto genesis = make_genesis(job, images());

  EXPECT_EQ(genesis.values[0], -0.01036080252379179f);
  EXPECT_EQ(genesis.values[5], -0.01951417326927185f);
}

}  // namespace
}  // namespace wide::engine
