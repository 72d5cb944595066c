// Whole runs of nodes that sit at one table, on threads of this process.

#include <gtest/gtest.h>

#include <deque>

#include "wide/net/kin_table.h"
#include "wide/net/test_peers.h"

namespace wide::net {
namespace {

using namespace std::chrono_literals;

constexpr unsigned kNodes = 3;

engine::Job job_with(std::uint32_t delay, std::uint32_t eval_every = 0) {
  engine::Job job = small_job(600);
  job.delay = delay;
  job.eval.every = eval_every;
  return job;
}

std::string alone(const engine::Job& job) {
  PoolOnThread pool({.job = job});
  NodeOnThread node(pool.address());
  EXPECT_FALSE(pool.end());
  return pool.weights();
}

// Nodes that a pool has started: each has a seat.
class Family {
 public:
  explicit Family(const engine::Job& job, bool efficiency = false,
                  FactoryMaker make_factory = make_stub)
      : pool_(settings(job, efficiency)) {
    for (unsigned i = 0; i < kNodes; ++i) {
      auto options = NodeOnThread::options_for(pool_.address(), 1);
      options.kin = &seats_.emplace_back(table_, i, kNodes);
      options.node.seat = options.kin->number();
      nodes_.emplace_back(options, make_factory);
    }
  }

  PoolOnThread& pool() { return pool_; }
  std::deque<NodeOnThread>& nodes() { return nodes_; }

 private:
  static PoolOnThread::Settings settings(const engine::Job& job, bool efficiency) {
    PoolOnThread::Settings settings;
    settings.job = job;
    settings.pool.nodes_help = true;
    settings.pool.slots_at_once = kNodes;
    settings.pool.measure_efficiency = efficiency;
    return settings;
  }

  KinTable table_{kNodes};
  std::deque<KinSeat> seats_;
  PoolOnThread pool_;
  std::deque<NodeOnThread> nodes_;
};

class KinRun : public testing::TestWithParam<std::uint32_t> {};

TEST_P(KinRun, EndsWithTheWeightsOfOneNodeAloneAndThenEnds) {
  for (const std::uint32_t eval_every : {0u, 50u}) {
    const engine::Job job = job_with(GetParam(), eval_every);
    const std::string expected = alone(job);
    Family family(job);

    EXPECT_FALSE(family.pool().end());

    EXPECT_EQ(family.pool().weights(), expected);
    EXPECT_EQ(family.pool().summary().shares_rejected, 0u);
    for (auto& node : family.nodes()) EXPECT_TRUE(node.ends_within(3s)) << "a bell holds it up";
  }
}

TEST_P(KinRun, GoesOnWithoutWhoeverLeaves) {
  engine::Job job = job_with(GetParam());
  job.train.steps = 4000;
  const std::string expected = alone(job);
  Family family(job);

  family.nodes()[0].client().leave("ctrl-c");
  EXPECT_TRUE(family.nodes()[0].ends_within(3s));

  EXPECT_FALSE(family.pool().end());
  EXPECT_EQ(family.pool().weights(), expected);
}

TEST_P(KinRun, MeasuresItsSlotsBetweenSteps) {
  const engine::Job job = job_with(GetParam());
  const std::string expected = alone(job);
  Family family(job, true);

  EXPECT_FALSE(family.pool().end());

  EXPECT_EQ(family.pool().weights(), expected);
  EXPECT_TRUE(family.pool().summary().efficiency);
}

INSTANTIATE_TEST_SUITE_P(Delays, KinRun, testing::Values(0, 1, 2));

}  // namespace
}  // namespace wide::net
