// Our optimisers against PyTorch's own, from files that scripts/golden_optimizers.py wrote.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "wide/engine/optimizer.h"

namespace wide::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCount = 64;

// The generator of the script: multiples of 2^-23 in [-1, 1).
class Numbers final {
 public:
  std::vector<float> take() {
    std::vector<float> values(kCount);
    for (float& value : values) {
      state_ = state_ * 6364136223846793005u + 1442695040888963407u;
      value = static_cast<float>(state_ >> 40) / 8388608.0f - 1.0f;
    }
    return values;
  }

 private:
  std::uint64_t state_ = 2024;
};

struct Golden {
  Job job;
  std::map<Step, std::vector<float>> weights;
};

Golden read_golden(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  const auto whole = text.str();
  const auto bar = whole.find("---\n");
  Golden golden;
  golden.job = value_or_throw(parse_job("[model]\n[data]\n" + whole.substr(0, bar), path.string()));
  std::istringstream rows(whole.substr(bar + 4));
  for (std::string row; std::getline(rows, row);) {
    std::istringstream fields(row);
    Step step = 0;
    fields >> step >> std::hex;
    auto& weights = golden.weights[step];
    for (std::uint32_t bits = 0; fields >> bits;) weights.push_back(std::bit_cast<float>(bits));
  }
  return golden;
}

double relative_difference(const std::vector<float>& ours, const std::vector<float>& theirs) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    difference += std::pow(double{ours[i]} - theirs[i], 2);
    norm += std::pow(double{theirs[i]}, 2);
  }
  return std::sqrt(difference / norm);
}

class OptimizerGolden : public testing::TestWithParam<fs::path> {};

TEST_P(OptimizerGolden, FollowsPyTorchForHundredSteps) {
  const auto golden = read_golden(GetParam());
  ASSERT_EQ(golden.weights.size(), 3u);
  const auto& train = golden.job.train;
  Numbers numbers;
  auto weights = numbers.take();
  std::vector<float> state(kCount * state_per_parameter(train));

  for (Step step = 0; step < train.steps; ++step) {
    const auto gradient = numbers.take();
    const auto scalars = step_scalars(train, step, train.steps, gradient);
    apply_update(train, scalars, gradient, weights, weights, state);
    const auto expected = golden.weights.find(step + 1);
    if (expected == golden.weights.end()) continue;
    ASSERT_EQ(expected->second.size(), kCount);
    EXPECT_LT(relative_difference(weights, expected->second), 1e-5) << "after step " << step + 1;
  }
}

std::vector<fs::path> golden_files() {
  const auto root = fs::path(__FILE__).parent_path().parent_path().parent_path().parent_path();
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(root / "tests/golden/optimizers")) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

INSTANTIATE_TEST_SUITE_P(Files, OptimizerGolden, testing::ValuesIn(golden_files()),
                         [](const auto& file) { return file.param.stem().string(); });

}  // namespace
}  // namespace wide::engine
