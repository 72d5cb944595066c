#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "wide/engine/pool/pool_desk.h"

namespace wide::engine {
namespace {

using namespace std::chrono_literals;

// Four nodes whose slots share the cores of one machine: one node's slots keep all of them busy.
class PoolCrewTest : public ::testing::Test {
 protected:
  PoolCrewTest() {
    for (const char* name : {"a", "b", "c", "d"}) nodes_.push_back(desk_.join(name, 4));
  }

  // Everything that is out is answered, a millisecond later: the nodes that worked.
  std::set<LinkId> work() {
    std::vector<std::pair<LinkId, wire::Lease>> out;
    for (const LinkId node : nodes_) {
      for (const auto& lease : desk_.got<wire::Lease>(node)) out.emplace_back(node, lease);
    }
    desk_.forget();
    desk_.now += 1ms;
    std::set<LinkId> workers;
    for (const auto& [node, lease] : out) {
      desk_.say(node, desk_.answer(lease));
      workers.insert(node);
    }
    return workers;
  }

  static PoolOptions local() {
    PoolOptions options;
    options.slots_at_once = 8;
    return options;
  }

  PoolDesk desk_{desk_job(4, 5000), desk_space(), local()};
  std::vector<LinkId> nodes_;
};

TEST_F(PoolCrewTest, IsNoLargerThanWhatCanComputeAtOnce) {
  work();  // dealt while they were still coming
  for (int step = 0; step < 300; ++step) EXPECT_EQ(work().size(), 1u) << "step " << step;
}

TEST_F(PoolCrewTest, GivesEveryoneABriefTurnFirst) {
  std::set<LinkId> seen;
  for (int step = 0; step < 120; ++step) seen.merge(work());
  EXPECT_EQ(seen.size(), nodes_.size());
}

TEST_F(PoolCrewTest, ThenStaysForHalfASecond) {
  for (int step = 0; step < 120; ++step) work();

  std::set<LinkId> seen;
  for (int step = 0; step < 400; ++step) seen.merge(work());
  EXPECT_LE(seen.size(), 2u) << "one change at most";
}

}  // namespace
}  // namespace wide::engine
