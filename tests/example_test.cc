// For `make examples`: the examples keep the promises of their lines in the README.

#include <gtest/gtest.h>

#include "runs.h"

namespace wide::tests {
namespace {

Json run_example(const Folder& folder, const std::string& name, std::vector<std::string> flags) {
  std::vector<std::string> argv = {
      "wide",   "train",           std::string(WIDE_SOURCE_FOLDER) + "/examples/" + name,
      "--json", "--log",           "silent",
      "--out",  folder.file("run")};
  argv.insert(argv.end(), flags.begin(), flags.end());
  return run_to_end(argv, Seconds(900));
}

TEST(GptJargon, FallsBelowTwoNatsPerByteInThreeMinutes) {
  const Folder folder;

  const Json summary = run_example(folder, "gpt-jargon.toml", {"--nodes", "2", "--seconds", "180"});

  EXPECT_LT(summary["loss_last"].get<double>(), 2.0);
  EXPECT_LT(summary["eval_loss"].get<double>(), 2.0);
}

TEST(FashionResnet, LearnsInOneEpoch) {
  const Folder folder;

  const Json summary =
      run_example(folder, "fashion-resnet.toml", {"--nodes", "2", "--epochs", "1"});

  EXPECT_GT(summary["accuracy"].get<double>(), 0.84);
}

}  // namespace
}  // namespace wide::tests
