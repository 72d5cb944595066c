// Whole runs whose links code what they send: every codec trains the same weights, and a link that
// chooses for itself codes where the line is slow and nowhere else.

#include <fstream>

#include "fleet.h"
#include "netns.h"

namespace wide::tests {
namespace {

// Wide enough that its messages are worth coding.
std::string coded_job(const std::string& lossless, int steps, int width = 400) {
  return "[job]\nname = \"coded\"\nseed = 5\n"
         "[model]\nkind = \"mlp\"\nlayers = [10, " +
         std::to_string(width) + ", 50, 10]\n" +
         "[data]\nkind = \"synthetic\"\n[train]\nunits_per_step = 8\nsteps = " +
         std::to_string(steps) + "\n[codec]\nlossless = \"" + lossless + "\"\n";
}

TEST(CodedRun, EveryCodecGivesTheSameHash) {
  const Folder folder;
  std::string expected;
  for (const std::string lossless : {"none", "lz4", "zstd", "planes", "zlib", "auto"}) {
    PoolProcess pool(folder, folder.write(lossless + ".toml", coded_job(lossless, 20)));
    Nodes nodes(pool.address());
    nodes.add();
    nodes.add();

    const Json summary = pool.end();

    if (expected.empty()) expected = hash_of(summary);
    EXPECT_EQ(hash_of(summary), expected) << lossless;
    const double ratio = summary.value("compression_ratio", 0.0);
    EXPECT_TRUE(lossless != "none" || ratio == 1.0) << ratio;
    EXPECT_TRUE(lossless != "planes" || ratio > 1.05) << ratio;
  }
}

std::string events_of(const LongRun& run) {
  std::ifstream file(run.folder() + "/events.jsonl");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(CodedRun, AutoLeavesNoneOnASlowLine) {
  if (!may_make_namespaces()) GTEST_SKIP() << "needs root";
  const Folder folder;
  const Namespace far;
  // So slow that a codec clearly pays under sanitizers too: at 40 Mbit/s their slow coding eats up
  // most of the 14 % it saves.
  if (!far.slow_down("8mbit")) GTEST_SKIP() << "needs a kernel that shapes traffic";
  // It goes on until both ends have found out.
  LongRun run(folder.write("job.toml", coded_job("auto", 100000, 2000)), folder.file("run"),
              {"--insecure"}, far.outside());
  run.open_and_listen();
  Process node(far.inside(
      {program("wide-stub-node"), "--connect", run.address(), "--name", "far", "--verbose"}));

  EXPECT_TRUE(run.pool().wait_for("codec changed link=far from=none", 1, Seconds(60)))
      << run.pool().err();
  EXPECT_TRUE(node.wait_for("codec changed", 1, Seconds(60))) << node.err();
  EXPECT_NE(events_of(run).find("codec changed"), std::string::npos);
  run.pool().signal(SIGINT);
  EXPECT_EQ(run.pool().wait(), 128 + SIGINT) << run.pool().err();
  const Json summary = summary_of(run.pool());
  EXPECT_GT(summary.value("compression_ratio", 0.0), 1.0) << summary;
}

TEST(CodedRun, AutoStaysAtNoneOnLoopback) {
  const Folder folder;
  LongRun run(folder.write("job.toml", coded_job("auto", 150, 2000)), folder.file("run"));
  run.open_and_listen();
  Nodes nodes(run.address());
  nodes.add();

  const Json summary = run.end();

  EXPECT_EQ(run.pool().err().find("codec changed"), std::string::npos) << run.pool().err();
  EXPECT_EQ(summary.value("compression_ratio", 0.0), 1.0);
}

}  // namespace
}  // namespace wide::tests
