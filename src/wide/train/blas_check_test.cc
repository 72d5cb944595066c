#include "wide/train/blas_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "wide/train/compute_facts.h"
#include "wide/train/rerun.h"

namespace wide::train {
namespace {

TEST(CheckBlas, MeasuresBothWays) {
  const auto report = check_blas();

  printf("verdict %s %s\n", report.slow ? "slow" : "fast", report.library.c_str());
  EXPECT_GT(report.gflops, 0.0);
  EXPECT_GT(report.gflops_plain_loop, 0.0);
  EXPECT_FALSE(report.library.empty());
}

TEST(CheckBlas, FindsTheReferenceSlow) {
  const std::string folder = "/usr/lib/x86_64-linux-gnu/blas";
  ASSERT_TRUE(std::filesystem::exists(folder + "/libblas.so.3")) << "the package libblas3";

  const auto verdict =
      answer_of_rerun("CheckBlas.MeasuresBothWays", "verdict ", "LD_LIBRARY_PATH=" + folder);

  EXPECT_THAT(verdict, testing::StartsWith("slow libblas.so.3"));
}

TEST(ComputeFacts, AreAllFound) {
  const auto facts = compute_facts();

  EXPECT_THAT(facts.torch_version, testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+.*"));
  EXPECT_FALSE(facts.cpu_capability.empty());
  EXPECT_FALSE(facts.blas.empty());
  EXPECT_THAT(facts.blas_path, testing::StartsWith("/"));
  EXPECT_EQ(facts.threads, 1);
}

TEST(ComputeFacts, ReadAsOneLine) {
  ComputeFacts facts;
  facts.torch_version = "1.13.0";
  facts.cpu_capability = "AVX2";
  facts.blas = "OpenBLAS 0.3.21 Haswell";
  facts.onednn_version = "2.6.3";

  EXPECT_EQ(describe(facts), "libtorch 1.13.0 AVX2, OpenBLAS 0.3.21 Haswell, oneDNN 2.6.3");
}

}  // namespace
}  // namespace wide::train
