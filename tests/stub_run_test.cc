// Whole runs with torch-free nodes: many kills, pools that go away, crowds that only watch.

#include <signal.h>

#include <deque>
#include <memory>
#include <random>

#include "jobs.h"
#include "runs.h"

namespace wide::tests {
namespace {

std::unique_ptr<Process> stub(const PoolProcess& pool, const std::string& name,
                              std::vector<std::string> flags = {}) {
  std::vector<std::string> argv = {"wide-stub-node", "--connect", pool.address(), "--name", name};
  argv.insert(argv.end(), flags.begin(), flags.end());
  return std::make_unique<Process>(argv);
}

std::string calm_hash(const Folder& folder, const std::string& job) {
  PoolProcess pool(folder, job);
  const auto node = stub(pool, "alone");
  return hash_of(pool.end());
}

TEST(StubRun, GoesOnWhenTheStoppedNodesLeasesAreCopied) {
  const Folder folder;
  const std::string job = folder.write("job.toml", stub_job(16, 400));
  const std::string expected = calm_hash(folder, job);
  PoolProcess pool(folder, job);
  const auto frozen = stub(pool, "frozen", {"--delay-us", "1000"});
  const auto other = stub(pool, "other", {"--delay-us", "1000"});
  ASSERT_TRUE(pool.process().wait_for("node joined", 2));
  ASSERT_TRUE(pool.process().wait_for("step=", 3));

  frozen->signal(SIGSTOP);
  const Json summary = pool.end();
  frozen->signal(SIGCONT);

  EXPECT_EQ(hash_of(summary), expected);
}

TEST(StubRun, ANodeOutlivesItsPool) {
  const Folder folder;
  const std::string job = folder.write("job.toml", stub_job(8, 400));
  const std::string expected = calm_hash(folder, job);
  auto pool = std::make_unique<PoolProcess>(folder, job);
  const std::string address = pool->address();
  const auto node = stub(*pool, "loyal", {"--delay-us", "2000"});
  ASSERT_TRUE(pool->process().wait_for("node joined"));
  ASSERT_TRUE(pool->process().wait_for("step=", 2));

  pool->process().signal(SIGKILL);
  pool->process().wait();
  EXPECT_TRUE(node->running());
  pool = std::make_unique<PoolProcess>(folder, job, std::vector<std::string>{}, address);

  EXPECT_TRUE(pool->process().wait_for("name=loyal")) << node->err();
  EXPECT_EQ(hash_of(pool->end()), expected);
  EXPECT_EQ(node->wait(), 0) << node->err();
}

TEST(StubRun, CtrlCOnANodeHandsItsLeasesBack) {
  const Folder folder;
  const std::string job = folder.write("job.toml", stub_job(8, 300));
  const std::string expected = calm_hash(folder, job);
  PoolProcess pool(folder, job);
  const auto leaver = stub(pool, "leaver", {"--delay-us", "3000"});
  ASSERT_TRUE(pool.process().wait_for("node joined"));

  leaver->signal(SIGINT);

  EXPECT_EQ(leaver->wait(Seconds(10)), 130) << leaver->err();
  EXPECT_TRUE(pool.process().wait_for("node left"));
  EXPECT_TRUE(pool.process().wait_for("waiting for nodes", 2));
  const auto next = stub(pool, "next");
  EXPECT_EQ(hash_of(pool.end()), expected);
}

TEST(StubRun, CtrlCOnAPoolEndsWithTheSummary) {
  const Folder folder;
  const std::string job = folder.write("job.toml", stub_job(8, 1000000));
  PoolProcess pool(folder, job);
  const auto node = stub(pool, "n");
  ASSERT_TRUE(pool.process().wait_for("step=", 3));

  pool.process().signal(SIGINT);

  EXPECT_EQ(pool.process().wait(Seconds(10)), 130) << pool.process().err();
  const Json summary = summary_of(pool.process());
  EXPECT_GT(summary["steps"], 0);
  EXPECT_EQ(hash_of(summary).size(), 64u);
  EXPECT_EQ(node->wait(Seconds(10)), 0) << node->err();
}

TEST(StubRun, APoolWithNoNodesWaitsAndSaysSo) {
  const Folder folder;
  PoolProcess pool(folder, folder.write("job.toml", stub_job()));

  EXPECT_TRUE(pool.process().wait_for("waiting for nodes", 1, Seconds(2)));

  pool.process().signal(SIGINT);
  EXPECT_EQ(pool.process().wait(Seconds(10)), 130);
}

TEST(StubRun, ObserversSeeNodesAndStatus) {
  const Folder folder;
  PoolProcess pool(folder, folder.write("job.toml", stub_job(8, 1000000)));
  const auto node = stub(pool, "worker");
  ASSERT_TRUE(pool.process().wait_for("step=", 2));

  const Json status = run_to_end({"wide", "status", pool.url(), "--json"});
  const Json nodes = run_to_end({"wide", "nodes", pool.url(), "--json"});

  EXPECT_EQ(status["state"], "training");
  EXPECT_NE(nodes.dump().find("worker"), std::string::npos);
  pool.process().signal(SIGINT);
  pool.process().wait(Seconds(10));
}

// Crowds that take part in nothing: 200 that join and idle, 50 that never speak, 50 that drip a
// byte a second. The work goes on, the hash stays, memory stays bounded.
TEST(StubRun, CrowdsOfIdlersChangeNothing) {
  const Folder folder;
  const std::string job = folder.write("job.toml", stub_job(16, 4000));
  const std::string expected = calm_hash(folder, job);
  PoolProcess pool(folder, job);
  Process crowd({"wide-idle-crowd", pool.address(), "200", "50", "50"});
  ASSERT_TRUE(crowd.wait_for("joined 200", 1, Seconds(30))) << crowd.err();

  const auto node = stub(pool, "worker", {"--delay-us", "100"});
  const Json summary = pool.end();
  ASSERT_EQ(crowd.wait(Seconds(20)), 0) << crowd.err();

  EXPECT_EQ(hash_of(summary), expected);
  const Json seen = Json::parse(crowd.out().substr(crowd.out().find('{')), nullptr, false);
  EXPECT_EQ(seen["updates_received"], 0) << "who asks for nothing gets nothing";
  EXPECT_EQ(seen["snapshots_received"], 0);
  EXPECT_GT(seen["pool_bytes_before"], 0) << "its memory could not be read";
#ifndef WIDE_SANITIZED  // whose allocator keeps more than it was asked for
  EXPECT_LT(seen["pool_growth_bytes_per_client"].get<double>(), 16384);
#endif
}

}  // namespace
}  // namespace wide::tests
