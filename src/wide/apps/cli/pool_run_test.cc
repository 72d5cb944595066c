#include "wide/apps/cli/pool_run.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "wide/apps/cli/memory_gauge.h"
#include "wide/apps/cli/node_program.h"
#include "wide/apps/cli/run_record.h"

namespace wide::apps {

TEST(JoinLines, NameEveryAddressThatOthersCanReach) {
  const std::vector<std::string> addresses = {"192.168.1.7", "2001:db8::7"};

  EXPECT_EQ(join_lines({"0.0.0.0", 7878}, addresses),
            (std::vector<std::string>{"wide join wide://192.168.1.7:7878"}));
  EXPECT_EQ(join_lines({"::", 7878}, addresses),
            (std::vector<std::string>{"wide join wide://192.168.1.7:7878",
                                      "wide join wide://[2001:db8::7]:7878"}));
}

TEST(JoinLines, NeverOfferLoopbackToOthers) {
  EXPECT_TRUE(join_lines({"0.0.0.0", 7878}, {}).empty());
}

TEST(ListenEndpoint, RefusesOpenAddressesWithoutInsecure) {
  RunFlags flags;
  flags.listen = "0.0.0.0:7000";

  try {
    listen_endpoint(flags, {});
    FAIL() << "an open address was accepted";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, Errc::kNeedsInsecure);
  }
  flags.insecure = true;
  EXPECT_EQ(listen_endpoint(flags, {}).port, 7000);
}

TEST(WithOverrides, ReplacesHowTheJobEnds) {
  engine::Job job;
  job.train.epochs = 2;
  RunFlags flags;
  flags.steps = 60;

  const auto changed = with_overrides(job, flags);

  EXPECT_EQ(changed.train.steps, 60u);
  EXPECT_EQ(changed.train.epochs, 0);
}

TEST(WithOverrides, RefusesTwoEndsAtOnce) {
  engine::Job job;
  job.train.epochs = 2;
  RunFlags flags;
  flags.steps = 60;
  flags.seconds = 1;

  EXPECT_THROW(with_overrides(job, flags), Failure);
}

TEST(DefaultRunFolder, KeepsTheNameInsideTheFolder) {
  const auto folder = default_run_folder("../../etc/pass wd", 0);

  EXPECT_EQ(folder.parent_path(), "runs");
  EXPECT_TRUE(folder.filename().string().starts_with("etc-pass-wd-")) << folder;
  EXPECT_TRUE(default_run_folder("", 0).filename().string().starts_with("job-"));
}

TEST(ModelJson, TellsPyTorchHowToBuildIt) {
  engine::Model model;
  model.batch_norm = true;
  SampleSpace space;
  space.class_count = 10;
  space.sample_shape = {1, 28, 28};

  EXPECT_EQ(model_json(model, space).dump(),
            R"({"kind":"cnn","channels":[16,32],"hidden":128,"batch_norm":true,"classes":10,)"
            R"("sample_shape":[1,28,28]})");
}

TEST(NodeEnvironment, KeepsPortableJobsToAvx2) {
  const char* const before[] = {"OMP_NUM_THREADS=8", "HOME=/h", nullptr};
  const Environment environment(before);

  const auto portable = node_environment(environment, engine::Numerics::kPortable);

  EXPECT_EQ(portable.value("OMP_NUM_THREADS"), "1");
  EXPECT_EQ(portable.value("ATEN_CPU_CAPABILITY"), "avx2");
  EXPECT_EQ(portable.value("ONEDNN_MAX_CPU_ISA"), "AVX2");
  EXPECT_EQ(portable.value("OPENBLAS_CORETYPE"), "Haswell");
  EXPECT_EQ(portable.value("HOME"), "/h");
  EXPECT_FALSE(node_environment(environment, engine::Numerics::kNative).has("ATEN_CPU_CAPABILITY"));
}

TEST(MemoryGauge, FindsAtLeastItself) {
  MemoryGauge gauge(std::nullopt);

  EXPECT_GT(gauge.stop(), 0u);
}

}  // namespace wide::apps
