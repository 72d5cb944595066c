// One node of those of a machine has whole steps, is helped by the others, and goes on unasked.

#include <gtest/gtest.h>

#include <array>
#include <map>

#include "wide/engine/pool/pool_desk.h"
#include "wide/engine/work_ahead.h"

namespace wide::engine {
namespace {

using namespace std::chrono_literals;

class PoolOnward : public ::testing::Test {
 protected:
  explicit PoolOnward(std::uint32_t delay = 0, std::uint32_t eval_every = 0)
      : desk_(job(delay, eval_every), space(eval_every), local()) {
    desk_.slots = 1;
    for (const char* name : names()) {
      desk_.seat = static_cast<std::uint16_t>(nodes_.size() + 1);
      nodes_.push_back(desk_.join(name, 4));
    }
    settle();
  }

  static std::array<const char*, 3> names() { return {"a", "b", "c"}; }
  static Job job(std::uint32_t delay, std::uint32_t eval_every) {
    Job job = desk_job(4, 5000);
    job.delay = delay;
    job.eval.every = eval_every;
    return job;
  }
  static SampleSpace space(std::uint32_t eval_every) {
    SampleSpace space = desk_space();
    space.eval_count = eval_every > 0 ? 5 : 0;
    return space;
  }
  static PoolOptions local() {
    PoolOptions options;
    options.nodes_help = true;
    return options;
  }

  // What was dealt while they were still coming is answered; from then on one of them has it all.
  void settle() {
    while (!holder_) {
      std::vector<std::pair<LinkId, wire::Lease>> out;
      for (const LinkId node : nodes_) {
        for (const auto& lease : desk_.got<wire::Lease>(node)) out.emplace_back(node, lease);
      }
      desk_.forget();
      ASSERT_FALSE(out.empty());
      for (const auto& [node, lease] : out) {
        if (lease.steps_onward > 0) {
          holder_ = node;
          lease_ = lease;
          next_ = lease.step;
        } else {
          desk_.say(node, desk_.answer(lease));
        }
      }
    }
  }

  // The result of the next step, as the holder would send it, without being asked but for the
  // first.
  wire::LeaseResult next_result() {
    wire::Lease lease = lease_;
    const Replica& replica = desk_.pool().replica();
    lease.step = next_++;
    lease.base = lease.step < job_.delay ? 0 : lease.step - job_.delay;
    lease.base_chain = replica.weights_at(lease.base)->chain;
    return desk_.answer(lease, lease.step == lease_.step ? 1 : 0);
  }
  void go_on(int steps) {
    for (int i = 0; i < steps; ++i) desk_.say(*holder_, next_result());
  }
  std::size_t leases_of_all() {
    std::size_t count = 0;
    for (const LinkId node : nodes_) count += desk_.got<wire::Lease>(node).size();
    return count;
  }
  Step committed() { return desk_.pool().replica().step(); }

  PoolDesk desk_;
  Job job_ = job(0, 0);
  std::vector<LinkId> nodes_;
  std::optional<LinkId> holder_;
  wire::Lease lease_;
  Step next_ = 0;
};

TEST_F(PoolOnward, TakesStepAfterStepThatItDidNotAskFor) {
  const Step before = committed();

  go_on(10);

  EXPECT_EQ(committed(), before + 10);
  EXPECT_EQ(leases_of_all(), 0u) << "one lease was enough";
  const auto told = desk_.got<wire::Committed>(*holder_);
  ASSERT_EQ(told.size(), 10u) << "so that its window moves on";
  EXPECT_EQ(told.back().step, before + 9);
  EXPECT_EQ(told.back().chain_after, desk_.pool().replica().chain());
  EXPECT_TRUE(desk_.got<wire::Update>(*holder_).empty()) << "it has made them itself";
  const Summary summary = desk_.pool().summary();
  EXPECT_EQ(summary.shares_rejected, 0u);
}

// Its first step was a copy, and whoever had it first has handed it in after all.
TEST_F(PoolOnward, TellsACopysHolderWhatAnotherHasMade) {
  go_on(30);
  const LinkId late = *holder_;
  const auto result = next_result();
  for (int tick = 0; tick < 40 && leases_of_all() == 0; ++tick) {
    desk_.now += 50ms;
    desk_.tick();
  }
  ASSERT_EQ(leases_of_all(), 1u);
  for (const LinkId node : nodes_) {
    if (!desk_.got<wire::Lease>(node).empty()) holder_ = node;
  }
  ASSERT_NE(*holder_, late);
  desk_.forget();

  desk_.say(late, result);

  EXPECT_EQ(desk_.got<wire::Update>(*holder_).size(), 1u);
  EXPECT_TRUE(desk_.got<wire::Committed>(*holder_).empty()) << "it has not made it";
}

TEST_F(PoolOnward, TellsWhatAnotherHasMade) {
  go_on(3);
  const LinkId gone = *holder_;
  desk_.close(gone);
  const Step at = committed();
  for (const LinkId node : nodes_) {
    const auto leases = desk_.got<wire::Lease>(node);
    if (node == gone || leases.empty()) continue;
    const auto updates = desk_.got<wire::Update>(node);
    ASSERT_FALSE(updates.empty());
    EXPECT_EQ(updates.back().step, at - 1);
    EXPECT_TRUE(desk_.got<wire::Committed>(node).empty());
    return;
  }
  FAIL() << "nobody holds a lease";
}

// Whoever helped counts, as far as the pool knows who sits there.
TEST_F(PoolOnward, CreditsWhoeverComputedABlock) {
  go_on(1);
  const std::size_t mine =
      static_cast<std::size_t>(std::ranges::find(nodes_, *holder_) - nodes_.begin());
  const std::size_t friends = (mine + 1) % nodes_.size();
  auto result = next_result();
  result.rows[2].helper = static_cast<std::uint16_t>(friends + 1);
  result.rows[3].helper = 60;  // nobody sits there

  desk_.say(*holder_, result);

  const CommitRecord& record = desk_.records.back();
  const NodeId holder = record.rows[0].node;
  EXPECT_EQ(record.rows[1].node, holder);
  EXPECT_NE(record.rows[2].node, holder);
  EXPECT_EQ(record.rows[3].node, holder);
  ASSERT_EQ(record.contributors.size(), 2u);
  for (const Contributor& part : record.contributors) {
    EXPECT_EQ(part.units, part.node == holder ? 3u : 1u);
    EXPECT_EQ(part.name, names()[part.node == holder ? mine : friends]);
  }
}

TEST_F(PoolOnward, LetsTheNextHaveItsTurn) {
  go_on(5);
  desk_.now += 600ms;
  go_on(1);

  const auto yields = desk_.got<wire::Yield>(*holder_);
  ASSERT_EQ(yields.size(), 1u);
  EXPECT_EQ(yields[0].step, committed() + kStepsOnward + 1) << "it may be that far already";
  while (next_ < yields[0].step) go_on(1);
  EXPECT_TRUE(desk_.got<wire::Lease>(*holder_).empty());
  ASSERT_EQ(leases_of_all(), 1u);
  for (const LinkId node : nodes_) {
    if (node == *holder_) continue;
    for (const auto& lease : desk_.got<wire::Lease>(node)) {
      EXPECT_EQ(lease.step, yields[0].step);
      EXPECT_EQ(lease.steps_onward, kStepsOnward);
    }
  }
}

TEST_F(PoolOnward, GivesWhatADeadNodeWasBookedForToAnother) {
  go_on(3);
  const Step at = committed();

  desk_.close(*holder_);

  ASSERT_EQ(leases_of_all(), 1u);
  for (const LinkId node : nodes_) {
    for (const auto& lease : desk_.got<wire::Lease>(node)) EXPECT_EQ(lease.step, at);
  }
}

TEST_F(PoolOnward, AsksAgainWhereAResultCouldNotBeTaken) {
  go_on(1);
  const Step at = committed();
  desk_.ledger_works = false;
  const auto first = next_result();
  auto second = first;
  second.step = first.step + 1;

  desk_.say(*holder_, first);
  desk_.say(*holder_, second);  // its step is not open: the one before it is not written yet
  desk_.ledger_works = true;
  desk_.appended();

  EXPECT_EQ(committed(), at + 1);
  ASSERT_EQ(leases_of_all(), 1u);
  EXPECT_EQ(desk_.pool().summary().shares_rejected, 0u);
}

TEST_F(PoolOnward, BlamesNobodyForGoingOnFromWhatDidNotCount) {
  go_on(1);
  const Step at = committed();
  auto astray = next_result();
  astray.base_chain ^= 1;

  desk_.say(*holder_, astray);

  EXPECT_EQ(committed(), at);
  EXPECT_EQ(desk_.pool().summary().shares_rejected, 0u);
  EXPECT_EQ(leases_of_all(), 1u) << "somebody is asked for it";
}

TEST_F(PoolOnward, RefusesWhatDoesNotFitItsStep) {
  go_on(1);
  auto wrong = next_result();
  wrong.rows.pop_back();

  desk_.say(*holder_, wrong);

  EXPECT_EQ(desk_.pool().summary().shares_rejected, 1u);
  EXPECT_EQ(leases_of_all(), 1u);
}

TEST_F(PoolOnward, CountsNoStepTwice) {
  const auto once = next_result();
  desk_.say(*holder_, once);
  const Step at = committed();

  desk_.say(*holder_, once);

  EXPECT_EQ(committed(), at);
}

TEST_F(PoolOnward, TakesNothingOnTheAccountOfAnothersLease) {
  go_on(1);
  const Step at = committed();
  const auto result = next_result();
  const LinkId other = nodes_[0] == *holder_ ? nodes_[1] : nodes_[0];

  desk_.say(other, result);

  EXPECT_EQ(committed(), at);
}

// Somebody else was faster with one step; what came of it since still counts.
TEST_F(PoolOnward, IsNotEndedByAResultThatIsMerelyLate) {
  go_on(2);
  const Step at = committed();
  auto late = next_result();
  desk_.say(*holder_, late);

  desk_.say(*holder_, late);
  go_on(3);

  EXPECT_EQ(committed(), at + 4);
  EXPECT_EQ(leases_of_all(), 0u) << "it is still booked";
}

TEST_F(PoolOnward, IsNotEndedByAResultOnAnotherLease) {
  go_on(2);
  auto other = next_result();
  --next_;
  other.lease = LeaseId{1};
  other.step += 1;
  desk_.say(*holder_, other);

  go_on(3);

  EXPECT_EQ(leases_of_all(), 0u);
}

// It hangs: its step is copied, and the ones behind that are for others.
TEST_F(PoolOnward, PassesOverWhoeverIsLate) {
  go_on(30);
  for (int tick = 0; tick < 40 && leases_of_all() == 0; ++tick) {
    desk_.now += 50ms;
    desk_.tick();
  }
  ASSERT_EQ(leases_of_all(), 1u);
  EXPECT_TRUE(desk_.got<wire::Lease>(*holder_).empty());
  const Step at = committed();
  for (const LinkId node : nodes_) {
    for (const auto& lease : desk_.got<wire::Lease>(node)) {
      EXPECT_EQ(lease.steps_onward, kStepsOnward) << "it is the holder from now on";
      lease_ = lease;
      holder_ = node;
      next_ = lease.step;
    }
  }
  go_on(3);

  EXPECT_EQ(committed(), at + 3);
  EXPECT_EQ(leases_of_all(), 1u);
}

// Their replicas are large, perhaps, and a commit takes no longer than such a step.
TEST(PoolOfUnhurriedNodes, LetsTheHolderGoOnByFewSteps) {
  PoolOptions options;
  options.nodes_help = true;
  PoolDesk desk(desk_job(4, 5000), desk_space(), options);
  desk.slots = 1;
  std::vector<LinkId> nodes;
  for (const char* name : {"a", "b"}) nodes.push_back(desk.join(name, 4));
  std::optional<wire::Lease> whole;
  for (int round = 0; round < 20 && !whole; ++round) {
    std::vector<std::pair<LinkId, wire::Lease>> out;
    for (const LinkId node : nodes) {
      for (const auto& lease : desk.got<wire::Lease>(node)) out.emplace_back(node, lease);
    }
    desk.forget();
    for (const auto& [node, lease] : out) {
      if (lease.steps_onward > 0) whole = lease;
      auto result = desk.answer(lease);
      result.compute_ns = lease.block_count * std::uint64_t{30'000'000};
      desk.now += lease.block_count * 30ms;
      if (!whole) desk.say(node, std::move(result));
    }
  }

  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->block_count, 4u);
  EXPECT_EQ(whole->steps_onward, kLongStepsOnward);
}

TEST(PoolOfStrangers, BelievesNobodyWhoSaysThatAnotherHelped) {
  PoolDesk desk(desk_job(4, 100), desk_space());
  desk.slots = 1;
  desk.seat = 1;
  const LinkId a = desk.join("a", 1);
  desk.seat = 2;
  desk.join("b", 1);
  auto result = desk.answer(desk.got<wire::Lease>(a).at(0));
  for (auto& row : result.rows) row.helper = 2;

  desk.say(a, result);

  for (const auto& node : desk.pool().summary().nodes) {
    EXPECT_EQ(node.units, node.name == "a" ? result.rows.size() : 0u) << node.name;
  }
}

TEST(MayBeHelped, WhatHasRoomOnTheTable) {
  Job job = desk_job(8, 100);
  Layout layout;
  layout.parameter_count = kTableValuesMax / 10;
  EXPECT_TRUE(may_be_helped(job, layout));

  job.delay = 1;
  EXPECT_FALSE(may_be_helped(job, layout)) << "two steps at once";
  job.delay = 0;
  layout.parameter_count += 1;
  EXPECT_FALSE(may_be_helped(job, layout));
  layout.parameter_count = 1000;
  EXPECT_TRUE(may_be_helped(job, layout));
  job.train.units_per_step = kHelpedBlocksMax + 1;
  EXPECT_FALSE(may_be_helped(job, layout));
  job.train.units_per_step = 1;
  EXPECT_FALSE(may_be_helped(job, layout)) << "nobody helps with one block";
}

TEST(PoolOfSlowNodes, DealsLongStepsToEverybody) {
  PoolOptions options;
  options.nodes_help = true;
  options.slots_at_once = 3;
  PoolDesk desk(desk_job(3, 5000), desk_space(), options);
  desk.slots = 1;
  std::vector<LinkId> nodes;
  for (const char* name : {"a", "b", "c"}) nodes.push_back(desk.join(name, 4));
  std::map<LinkId, std::size_t> done;
  for (int round = 0; round < 20; ++round) {
    desk.now += 300ms;
    for (const LinkId node : nodes) {
      const auto leases = desk.got<wire::Lease>(node);
      for (; done[node] < leases.size(); ++done[node]) {
        EXPECT_EQ(leases[done[node]].steps_onward, 0u);
        auto result = desk.answer(leases[done[node]]);
        result.compute_ns = 290'000'000;
        desk.say(node, std::move(result));
      }
    }
  }

  for (const LinkId node : nodes) EXPECT_GT(done[node], 10u);
}

class EvaluatingPoolOnward : public PoolOnward {
 protected:
  EvaluatingPoolOnward() : PoolOnward(0, 20) {}
};

TEST_F(EvaluatingPoolOnward, ComesTogetherForEvaluations) {
  while (next_ % 20 != 0) go_on(1);

  std::size_t evals = 0;
  for (const LinkId node : nodes_) evals += desk_.got<wire::EvalLease>(node).size();
  EXPECT_GT(evals, 0u);
  EXPECT_EQ(leases_of_all(), 0u);
}

class DelayedPoolOnward : public PoolOnward {
 protected:
  DelayedPoolOnward() : PoolOnward(2) { job_ = job(2, 0); }
};

TEST_F(DelayedPoolOnward, BooksAllOpenStepsForOne) {
  go_on(12);

  EXPECT_EQ(leases_of_all(), 0u);
  EXPECT_EQ(desk_.pool().summary().shares_rejected, 0u);
  EXPECT_EQ(committed(), next_);
}

// The next of the crew has a step that is computed on the last one's.
TEST_F(DelayedPoolOnward, LetsTheNextHaveItsTurn) {
  desk_.now += 600ms;

  for (int step = 0; step < 100 && leases_of_all() == 0; ++step) go_on(1);

  EXPECT_TRUE(desk_.got<wire::Lease>(*holder_).empty());
  for (const LinkId node : nodes_) {
    for (const auto& lease : desk_.got<wire::Lease>(node)) EXPECT_GE(lease.step, next_);
  }
  EXPECT_EQ(leases_of_all(), 1u);
}

}  // namespace
}  // namespace wide::engine
