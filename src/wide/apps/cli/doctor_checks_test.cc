#include "wide/apps/cli/doctor_checks.h"

#include <gtest/gtest.h>

namespace wide::apps {

TEST(ReadComputeAnswer, FailsASlowBlasAndSaysWhatToInstall) {
  const auto checks = read_compute_answer(
      R"({"libtorch": "1.13.0", "blas": "reference", "gflops": 1.2, "gflops_plain_loop": 1.0,
          "slow": true})");

  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[0].verdict, Verdict::kOk);
  EXPECT_EQ(checks[1].verdict, Verdict::kFail);
  EXPECT_NE(checks[1].advice.find("libopenblas"), std::string::npos);
}

TEST(ReadComputeAnswer, FailsWhereThereIsNoAnswer) {
  for (const auto* text : {"", "{", "[]", "{}"}) {
    const auto checks = read_compute_answer(text);
    ASSERT_EQ(checks.size(), 1u);
    EXPECT_EQ(checks[0].verdict, Verdict::kFail);
  }
}

TEST(CheckDisk, FailsInAFolderThatIsNotThere) {
  EXPECT_EQ(check_disk("/nonexistent/folder").verdict, Verdict::kFail);
  EXPECT_NE(check_disk(::testing::TempDir()).verdict, Verdict::kFail);
}

}  // namespace wide::apps
