// Training and computing alone, in turns.

#include <gtest/gtest.h>

#include "wide/engine/pool/pool_desk.h"

namespace wide::engine {
namespace {

using namespace std::chrono_literals;

class PoolMeasureTest : public ::testing::Test {
 protected:
  explicit PoolMeasureTest(std::uint32_t delay = 0) : desk_(job(delay), desk_space(), measuring()) {
    node_ = desk_.join("n", 9);
  }

  static Job job(std::uint32_t delay) {
    Job job = desk_job(4, 250);
    job.delay = delay;
    return job;
  }
  static PoolOptions measuring() {
    PoolOptions options = one_block();
    options.measure_efficiency = true;
    return options;
  }

  // Every step takes 10 ms, until the node is asked for something else.
  void train() {
    while (!desk_.finished && desk_.got<wire::Measure>(node_).size() == measures_seen_) {
      const auto leases = desk_.got<wire::Lease>(node_);
      ASSERT_LT(answered_, leases.size()) << "there is always something to do";
      if (answered_ % 4 == 0) desk_.now += 10ms;
      desk_.say(node_, desk_.answer(leases[answered_++]));
    }
    ++measures_seen_;
  }
  void measured(std::uint64_t units) {
    desk_.now += 500ms;
    desk_.say(node_, wire::Measured{units, 0.5});
  }

  PoolDesk desk_;
  LinkId node_;
  std::size_t answered_ = 0;
  std::size_t measures_seen_ = 0;
};

TEST_F(PoolMeasureTest, TakesTurnsWithTraining) {
  std::vector<Step> stops;
  for (const std::uint64_t units : {1000, 500, 1500}) {
    train();
    stops.push_back(desk_.pool().replica().step());
    measured(units);
  }

  EXPECT_EQ(stops, (std::vector<Step>{100, 200, 250}));
  EXPECT_TRUE(desk_.finished);
  const auto summary = desk_.pool().summary();
  EXPECT_NEAR(summary.seconds, 2.5, 1e-6) << "of training";
  EXPECT_NEAR(summary.efficiency.value_or(0), 400.0 / 2000, 1e-6);
}

TEST_F(PoolMeasureTest, GoesOnWithoutAnswer) {
  train();
  const std::size_t leases = desk_.got<wire::Lease>(node_).size();
  desk_.now += 1499ms;
  desk_.tick();
  EXPECT_EQ(desk_.got<wire::Lease>(node_).size(), leases);

  desk_.now += 2ms;
  desk_.tick();

  EXPECT_GT(desk_.got<wire::Lease>(node_).size(), leases);
  train();
  measured(1000);
  train();
  measured(1000);
  EXPECT_NEAR(desk_.pool().summary().efficiency.value_or(0), 400.0 / 2000, 1e-6)
      << "what was not measured does not count";
}

TEST_F(PoolMeasureTest, OutlivesANodeThatIsGoneMeanwhile) {
  train();
  desk_.close(node_);
  desk_.now += 1501ms;
  desk_.tick();

  const LinkId other = desk_.join("other", 9);

  EXPECT_FALSE(desk_.finished);
  EXPECT_FALSE(desk_.got<wire::Lease>(other).empty());
}

class PoolMeasureDelayTest : public PoolMeasureTest {
 protected:
  PoolMeasureDelayTest() : PoolMeasureTest(1) {}
};

TEST_F(PoolMeasureDelayTest, WaitsForTheStepsThatAreOpen) {
  train();

  EXPECT_EQ(answered_, desk_.got<wire::Lease>(node_).size()) << "nothing is left half done";
  EXPECT_EQ(desk_.pool().replica().step(), 101u);
  measured(1000);
  EXPECT_EQ(desk_.got<wire::Lease>(node_).size(), answered_ + 8) << "two steps are open again";
}

}  // namespace
}  // namespace wide::engine
