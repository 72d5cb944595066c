#include "wide/net/pool_server.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <latch>
#include <list>

#include "wide/net/pool_call.h"
#include "wide/net/test_peers.h"

namespace wide::net {

namespace {

std::string trained(int nodes, std::uint16_t slots, engine::PoolOptions options = {}) {
  PoolOnThread pool({.pool = options});
  // Nobody begins before everybody has come: the run would be over by then.
  std::latch all_here(nodes);
  const auto make_together = [&](const engine::Job& job, const engine::Layout& layout,
                                 data::DatasetPtr samples) {
    all_here.arrive_and_wait();
    return make_stub(job, layout, std::move(samples));
  };
  std::list<NodeOnThread> workers;
  for (int i = 0; i < nodes; ++i) workers.emplace_back(pool.address(), slots, make_together);

  EXPECT_TRUE(pool.ends_within(20s));
  EXPECT_FALSE(pool.end());
  for (auto& worker : workers) {
    EXPECT_TRUE(worker.ends_within(5s));
    EXPECT_FALSE(worker.end());
  }
  EXPECT_EQ(pool.pool().replica().step(), 20u);
  return pool.weights();
}

}  // namespace

TEST(PoolServer, TrainsToTheSameWeightsWhoeverComputes) {
  const auto alone = trained(1, 1);

  EXPECT_EQ(trained(3, 1), alone);
  EXPECT_EQ(trained(2, 4), alone);
  EXPECT_EQ(trained(3, 2, {.lease_blocks = 2}), alone);
}

TEST(PoolServer, MeasuresEfficiencyWhenAsked) {
  PoolOnThread pool({.pool = {.measure_efficiency = true, .measure_span = 50ms}});
  NodeOnThread one(pool.address());
  NodeOnThread two(pool.address(), 2);

  ASSERT_TRUE(pool.ends_within(20s));
  EXPECT_FALSE(pool.end());

  const auto efficiency = pool.pool().summary().efficiency;
  ASSERT_TRUE(efficiency);
  EXPECT_GT(*efficiency, 0);
}

TEST(PoolServer, RefusesAPortInUse) {
  PoolOnThread first({});
  PoolServerOptions same;
  same.listen = first.address();

  try {
    PoolOnThread second({.server = same});
    FAIL() << "bound twice";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, Errc::kPortInUse);
    EXPECT_NE(failure.error().detail.find(same.listen.text()), std::string::npos);
  }
}

TEST(PoolServer, RefusesAnAddressOfAnotherMachine) {
  PoolServerOptions elsewhere;
  elsewhere.listen = {"192.0.2.1", 0};

  EXPECT_THROW(PoolOnThread({.server = elsewhere}), Failure);
}

TEST(PoolServer, EndsWhenStoppedAndTellsItsNodes) {
  PoolOnThread pool({.job = small_job(1'000'000'000), .server = {.progress_every = 2ms}});
  NodeOnThread node(pool.address());
  ASSERT_TRUE(eventually([&] { return pool.step() > 3; }));

  pool.server().stop("enough");

  ASSERT_TRUE(pool.ends_within(5s));
  EXPECT_FALSE(pool.end());
  ASSERT_TRUE(node.ends_within(5s));
  EXPECT_FALSE(node.end());
}

TEST(PoolServer, EndsCleanlyOnASignal) {
  PoolOnThread pool({});

  ::kill(::getpid(), SIGTERM);

  ASSERT_TRUE(pool.ends_within(5s));
  EXPECT_FALSE(pool.end());
  EXPECT_TRUE(pool.server().interrupted());
}

TEST(PoolServer, OutlivesALackOfFileDescriptors) {
  PoolOnThread pool({});
  std::list<RawPeer> callers;
  for (int i = 0; i < 8; ++i) callers.emplace_back(RawPeer::make_socket());
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const int next = RawPeer::make_socket();
  ::close(next);
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(next);  // not one more in this whole process
  ::setrlimit(RLIMIT_NOFILE, &tight);

  bool all_cut = true;
  for (auto& caller : callers) {
    caller.connect_to(pool.address());
    all_cut = caller.is_cut() && all_cut;
  }
  ::setrlimit(RLIMIT_NOFILE, &before);

  EXPECT_TRUE(all_cut);
  EXPECT_TRUE(ask_pool(pool.address()));
}

TEST(PoolServer, LeavesEventsAndMetricsBehind) {
  const auto path = std::filesystem::path(::testing::TempDir()) /
                    ("wide-pool-server-" + std::to_string(::getpid()));
  std::filesystem::remove_all(path);
  auto folder = store::RunFolder::create(path);
  ASSERT_TRUE(folder) << describe(folder.error());
  {
    PoolOnThread pool({.folder = &*folder});
    NodeOnThread node(pool.address());
    ASSERT_TRUE(pool.ends_within(20s));
  }

  EXPECT_NE(folder->read("events.jsonl")->find(R"("event":"node joined")"), std::string::npos);
  EXPECT_NE(folder->read("metrics.jsonl")->find(R"("step":19)"), std::string::npos);
  std::filesystem::remove_all(path);
}

}  // namespace wide::net
