// Whole runs whose processes are killed: nodes and pools at random moments, pools at every
// failpoint, pools that are still recovering. Every run ends with the weights of a calm one, and
// `wide verify` finds nothing wrong with what is on the disk.

#include <string_view>

#include "wide/base/failpoint.h"

#include "fleet.h"
#include "mayhem.h"

namespace wide::tests {
namespace {

constexpr int kKilled = 128 + SIGKILL;
const Words kOften = {"--checkpoint-seconds", "0.1"};

void expect_sound(LongRun& run, Nodes& slow, const std::string& expected) {
  EXPECT_TRUE(run.listens()) << run.pool().err();
  EXPECT_EQ(hash_of(end_quickly(run, slow)), expected);
  const Json verdict = run.verify();
  EXPECT_EQ(verdict.value("ok", false), true) << verdict;
}

// A pool that dies at a failpoint, with nodes that keep it busy until then.
void die_at(LongRun& run, Nodes& nodes, const std::string& failpoint) {
  SCOPED_TRACE(failpoint);
  run.open({{"WIDE_FAILPOINT", failpoint}});
  if (run.listens()) nodes.fill_up(2);
  EXPECT_EQ(run.pool().wait(Seconds(20)), kKilled) << "it never came there\n" << run.pool().err();
}

void expect_to_survive(const std::string& job_text, int node_kills, int pool_kills) {
  const Folder folder;
  const std::string job = folder.write("job.toml", job_text);
  const std::string expected = calm_hash(folder, job);
  LongRun run(job, folder.file("run"), kOften);
  Nodes nodes(run.address(), {"--delay-us", "1500", "--quiet"});
  Mayhem mayhem(run, nodes, 4);
  run.open_and_listen();

  while (mayhem.node_kills < node_kills || mayhem.pool_kills < pool_kills) {
    mayhem.strike(mayhem.node_kills < node_kills, mayhem.pool_kills < pool_kills);
    ASSERT_FALSE(testing::Test::HasFatalFailure());
  }

  EXPECT_GT(mayhem.resumed_at.size(), pool_kills / 5u) << "hardly anything happened in between";
  expect_sound(run, nodes, expected);
}

TEST(KillRun, TwoHundredNodesAndFiftyPoolsChangeNothing) {
  expect_to_survive(stub_job(16, 6000), 200, 50);
}

TEST(KillRun, NothingIsLostOfStepsThatWereBegunAhead) {
  expect_to_survive(stub_job(16, 3000) + "[strategy]\ndelay = 2\n", 80, 20);
}

// Those that a recovery, or a pool with a torn tail, may come to only once.
bool comes_once(std::string_view name) {
  return name.starts_with("ledger.cut") || name.starts_with("recovery.");
}

// What must have happened for a failpoint to be on the way.
std::string before(std::string_view name) {
  if (name.starts_with("ledger.cut")) return "ledger.append.half:5";
  if (name == "recovery.record.read") return "ledger.append.after:5";
  return "";
}

void survive_every_failpoint(const std::string& exact, int hit) {
  const Folder folder;
  const std::string job = folder.write("job.toml", stub_job(16, 800, exact));
  const std::string expected = calm_hash(folder, job);
  LongRun run(job, folder.file("run"), kOften);
  Nodes nodes(run.address(), {"--delay-us", "1000", "--quiet"});
  run.open_and_listen();
  run.kill();

  for (const std::string_view name : kFailpoints) {
    if (!before(name).empty()) die_at(run, nodes, before(name));
    die_at(run, nodes, std::string(name) + ":" + std::to_string(comes_once(name) ? 1 : hit));
  }
  run.open();

  expect_sound(run, nodes, expected);
}

TEST(KillRun, APoolKilledAtAnyFailpointGoesOn) {
  if (!kHasFailpoints) GTEST_SKIP() << "built without failpoints";
  survive_every_failpoint("bits", 1);
}

TEST(KillRun, APoolThatSyncsEveryStepSurvivesAnyFailpoint) {
  if (!kHasFailpoints) GTEST_SKIP() << "built without failpoints";
  survive_every_failpoint("ledger", 2);
}

TEST(KillRun, APoolKilledAgainAndAgainWhileItRecoversGoesOn) {
  if (!kHasFailpoints) GTEST_SKIP() << "built without failpoints";
  const Folder folder;
  const std::string job = folder.write("job.toml", stub_job(16, 1500));
  const std::string expected = calm_hash(folder, job);
  LongRun run(job, folder.file("run"));  // no checkpoint: everything is read from the ledger
  Nodes nodes(run.address(), {"--delay-us", "1000", "--quiet"});
  run.open_and_listen();
  nodes.fill_up(4);
  ASSERT_EQ(run.pool().wait(Seconds(0.5)), -1);
  run.kill();

  for (const char* where : {"recovery.record.read:1", "recovery.record.read:20", "recovery.done:1",
                            "ledger.append.half:4", "recovery.record.read:3", "ledger.cut.before:1",
                            "ledger.cut.before:1", "ledger.cut.after:1", "recovery.done:1"}) {
    die_at(run, nodes, where);
  }
  run.open();

  expect_sound(run, nodes, expected);
}

}  // namespace
}  // namespace wide::tests
