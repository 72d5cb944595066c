// Steps that a node begins before it is asked for them.

#include <gtest/gtest.h>

#include <deque>

#include "wide/engine/node/node_desk.h"
#include "wide/engine/work_ahead.h"

namespace wide::engine {
namespace {

using namespace std::chrono_literals;

// The node has computed all of step 0.
Compute after_a_whole_step(NodeDesk& desk) {
  desk.join();
  desk.node.received(desk.lease(1, 0, 4), desk.now, desk.effects);
  const Compute whole = desk.begun();
  desk.compute(whole);
  return whole;
}

TEST(NodeAhead, AnswersALeaseFromWhatItForesaw) {
  NodeDesk desk;
  const Compute whole = after_a_whole_step(desk);
  EXPECT_EQ(desk.sent(), std::vector{wire::Kind::kResult});
  const Compute ahead = desk.begun();
  EXPECT_EQ(ahead.lease.step, 1u);
  desk.compute(ahead);
  EXPECT_TRUE(desk.sent().empty()) << "nobody has asked for it yet";
  EXPECT_EQ(desk.node.replica()->step(), 0u);

  desk.tell(desk.committed(whole));
  desk.tell(desk.lease(2, 0, 4));

  EXPECT_EQ(desk.sent(), std::vector{wire::Kind::kResult});
  EXPECT_EQ(desk.begun().lease.step, 2u) << "and on it goes";
}

TEST(NodeAhead, IsAskedForWhatItIsStillComputing) {
  NodeDesk desk;
  const Compute whole = after_a_whole_step(desk);
  const Compute ahead = desk.begun();
  desk.node.received(desk.committed(whole), desk.now, desk.effects);
  desk.node.received(desk.lease(2, 0, 4), desk.now, desk.effects);
  EXPECT_TRUE(desk.effects.empty());

  desk.compute(ahead);

  EXPECT_EQ(desk.sent(), std::vector{wire::Kind::kResult});
}

TEST(NodeAhead, ComputesAnewOnWeightsThatItDidNotForesee) {
  NodeDesk desk;
  after_a_whole_step(desk);
  const Compute ahead = desk.begun();
  desk.compute(ahead);

  desk.update();
  desk.node.received(desk.lease(2, 0, 4), desk.now, desk.effects);

  EXPECT_TRUE(desk.sent().empty());
  const Compute again = desk.begun();
  EXPECT_EQ(again.lease.step, 1u);
  EXPECT_NE(again.weights->chain, ahead.weights->chain);
  desk.compute(again);
  EXPECT_TRUE(desk.effects_of<Compute>().empty()) << "it lets the next chance pass";
}

TEST(NodeAhead, LetsOneThenThreeChancesPassAndTakesHeart) {
  NodeDesk desk;
  after_a_whole_step(desk);
  std::vector<bool> ahead;
  for (std::uint64_t id = 2; id < 10; ++id) {
    ahead.push_back(!desk.effects_of<Compute>().empty());
    if (ahead.back()) desk.compute(desk.begun());
    desk.update();
    desk.effects.clear();
    desk.node.received(desk.lease(id, 0, 4), desk.now, desk.effects);
    desk.compute(desk.begun());
  }
  EXPECT_EQ(ahead, (std::vector<bool>{true, false, true, false, false, false, true, false}));
}

TEST(NodeAhead, WaitsWhereItCannotKnow) {
  const auto begun_with = [](auto change, std::uint16_t slots = 1) {
    NodeDesk desk(slots);
    change(desk);
    after_a_whole_step(desk);
    return desk.effects_of<Compute>().size();
  };
  EXPECT_EQ(begun_with([](NodeDesk&) {}), 1u);
  EXPECT_EQ(begun_with([](NodeDesk&) {}, 2), 0u);
  EXPECT_EQ(begun_with([](NodeDesk& desk) { desk.span = 2s; }), 0u) << "much to do in vain";
  EXPECT_EQ(begun_with([](NodeDesk& desk) { desk.spoilt = true; }), 0u) << "nobody will take it";
  EXPECT_EQ(begun_with([](NodeDesk& desk) { desk.job.train.steps = 1; }), 0u) << "the end";
  EXPECT_EQ(begun_with([](NodeDesk& desk) { desk.job.samples.ship = Ship::kAlways; }), 0u);
  EXPECT_EQ(begun_with([](NodeDesk& desk) {
              desk.job.eval.every = 1;
              desk.space.eval_count = 8;
            }),
            0u)
      << "an evaluation";
}

// Its own step 0 is one of two that are open. What it will be asked for is computed on the weights
// behind step 0, and it can go on as soon as it has them.
TEST(NodeAhead, WaitsForTheStepsOfOthersWithADelay) {
  NodeDesk desk(1, 1);
  desk.join();
  const std::uint64_t chain = desk.node.replica()->chain();
  desk.node.received(wire::Lease{{1}, 1, 0, chain, 0, 4}, desk.now, desk.effects);
  const Compute own = desk.begun();
  desk.compute(own);
  EXPECT_TRUE(desk.effects_of<Compute>().empty()) << "step 0 is somebody else's";
  desk.effects.clear();
  const Compute others{{99}, {{9}, 0, 0, chain, 0, 4}, own.weights};

  desk.tell(desk.committed(others));

  const Compute ahead = desk.begun();
  EXPECT_EQ(ahead.lease.step, 3u);
  EXPECT_EQ(ahead.lease.base, 2u);
  desk.compute(ahead);
  desk.node.received(desk.committed(own), desk.now, desk.effects);
  desk.node.received(wire::Lease{{2}, 3, 2, desk.node.replica()->chain(), 0, 4}, desk.now,
                     desk.effects);
  EXPECT_EQ(desk.sent(), std::vector{wire::Kind::kResult});
}

// As above, but whoever has step 0 is faster, waits, and shall have the next one.
TEST(NodeAhead, LeavesAStepToAnotherWhereItIsAskedTo) {
  NodeDesk desk(1, 1);
  desk.join();
  const std::uint64_t chain = desk.node.replica()->chain();
  desk.tell(wire::Lease{{1}, 1, 0, chain, 0, 4});
  const Compute own = desk.begun();
  desk.compute(own);
  const Compute others{{99}, {{9}, 0, 0, chain, 0, 4}, own.weights};

  desk.tell(desk.committed(others), wire::Yield{3});

  EXPECT_TRUE(desk.effects_of<Compute>().empty())
      << "the word came behind what it could begin with";
  desk.effects.clear();
  desk.tell(desk.committed(own));
  desk.tell(wire::Lease{{2}, 3, 2, desk.node.replica()->chain(), 0, 4});
  EXPECT_EQ(desk.begun().lease.step, 3u) << "asked for it, it computes it all the same";
}

// A node that may go on from a whole step, and what it has handed in.
class NodeOnward : public ::testing::Test {
 protected:
  explicit NodeOnward(std::uint32_t delay = 0) : desk_(1, delay) {}

  Compute begin(std::uint32_t steps = kStepsOnward) {
    desk_.join();
    wire::Lease lease = desk_.lease(1, 0, 4);
    lease.steps_onward = steps;
    desk_.tell(lease);
    const Compute first = desk_.effects_of<Compute>().at(0);
    begin_what_it_says();
    return first;
  }
  // As long as it goes on, at most so many steps: those that it has done.
  std::vector<Compute> run(std::size_t steps) {
    std::vector<Compute> done;
    while (!begun_.empty() && done.size() < steps) {
      done.push_back(begun_.front());
      begun_.pop_front();
      desk_.compute(done.back());
      begin_what_it_says();
    }
    return done;
  }
  std::vector<Compute> begin_and_run(std::size_t steps, std::uint32_t window = kStepsOnward) {
    begin(window);
    return run(steps);
  }
  void begin_what_it_says() {
    for (const Compute& task : desk_.effects_of<Compute>()) begun_.push_back(task);
    collect();
  }
  void collect() {
    results_ += static_cast<std::size_t>(std::ranges::count(desk_.sent(), wire::Kind::kResult));
    desk_.effects.clear();
  }

  NodeDesk desk_;
  std::deque<Compute> begun_;  // in the order in which a slot does it
  std::size_t results_ = 0;
};

TEST_F(NodeOnward, GoesFromStepToStepUnasked) {
  const auto done = begin_and_run(5);

  ASSERT_EQ(done.size(), 5u);
  for (Step step = 0; step < 5; ++step) {
    EXPECT_EQ(done[step].lease.step, step);
    EXPECT_EQ(done[step].lease.base, step);
    EXPECT_EQ(done[step].lease.lease.value, 1u) << "the lease that it went on from";
  }
  EXPECT_EQ(results_, 5u);
  EXPECT_EQ(desk_.node.replica()->step(), 0u);
  for (const Compute& task : done) desk_.tell(desk_.committed(task));
  EXPECT_EQ(desk_.node.replica()->step(), 5u) << "it foresaw what the pool made of them";
  EXPECT_EQ(desk_.node.replica()->state_hash(), desk_.lead.replica().state_hash());
}

TEST_F(NodeOnward, WaitsForThePoolAtTheEndOfItsWindow) {
  const auto done = begin_and_run(100, 3);
  ASSERT_EQ(done.size(), 4u) << "the one that it was asked for, and three";

  desk_.tell(desk_.committed(done[0]));

  EXPECT_EQ(desk_.begun().lease.step, 4u);
}

TEST_F(NodeOnward, NeedNotBeToldWhatItHasComputedItself) {
  const auto done = begin_and_run(5);

  for (const Compute& task : done) {
    const wire::Update update = desk_.committed(task);
    desk_.tell(wire::Committed{update.step, update.chain_after});
  }

  EXPECT_EQ(desk_.node.replica()->step(), 5u);
  EXPECT_EQ(desk_.node.replica()->state_hash(), desk_.lead.replica().state_hash());
}

TEST_F(NodeOnward, StillKnowsItsLastStepWhenAnotherLeaseHasCome) {
  const Compute first = begin();
  const wire::Update update = desk_.committed(first);
  desk_.tell(desk_.lease(2, 0, 1));  // it goes on no more
  desk_.compute(first);
  EXPECT_EQ(desk_.node.replica()->foremost()->step, 0u);

  desk_.tell(wire::Committed{0, update.chain_after});

  EXPECT_EQ(desk_.node.replica()->step(), 1u);
  EXPECT_EQ(desk_.node.replica()->chain(), update.chain_after);
}

class DelayedNodeOnward : public NodeOnward {
 protected:
  DelayedNodeOnward() : NodeOnward(2) {}
};

// Two tasks at once may end in any order.
TEST_F(DelayedNodeOnward, KnowsWhatItHasComputedOutOfTurn) {
  begin();
  ASSERT_EQ(begun_.size(), 2u);
  const Compute first = begun_[0];
  const Compute second = begun_[1];

  desk_.compute(second);
  desk_.compute(first);
  for (const Compute& task : {first, second}) {
    const wire::Update update = desk_.committed(task);
    desk_.tell(wire::Committed{update.step, update.chain_after});
  }

  EXPECT_EQ(desk_.node.replica()->state_hash(), desk_.lead.replica().state_hash());
}

TEST_F(NodeOnward, AsksForASnapshotWhereSomethingElseWasCommitted) {
  const auto done = begin_and_run(2);
  collect();

  desk_.tell(wire::Committed{0, 42});

  EXPECT_EQ(desk_.sent(), (std::vector{wire::Kind::kResync, wire::Kind::kWant}));
  EXPECT_EQ(desk_.node.replica()->step(), 0u);
}

TEST_F(NodeOnward, RefusesACommitBeforeItIsReady) {
  desk_.node.connected(desk_.now, desk_.effects);
  desk_.effects.clear();

  desk_.tell(wire::Committed{0, 42});

  EXPECT_EQ(desk_.effects_of<Hangup>().size(), 1u);
}

TEST_F(NodeOnward, TakesNoLargerWindowThanItKnows) {
  EXPECT_EQ(begin_and_run(100, 5000).size(), kStepsOnward + 1u);
}

TEST_F(NodeOnward, StopsBeforeAnEvaluation) {
  desk_.job.eval.every = 3;
  desk_.space.eval_count = 8;
  EXPECT_EQ(begin_and_run(100).size(), 3u);
}

TEST_F(NodeOnward, StopsAtTheEnd) {
  desk_.job.train.steps = 6;
  EXPECT_EQ(begin_and_run(100).size(), 6u);
}

TEST_F(NodeOnward, LeavesToOthersWhatItIsToldTo) {
  begin();
  desk_.tell(wire::Yield{4});
  const auto done = run(100);
  EXPECT_EQ(done.size(), 4u);

  for (const Compute& task : done) desk_.tell(desk_.committed(task));
  wire::Lease lease = desk_.lease(2, 0, 4);
  lease.steps_onward = kStepsOnward;
  desk_.tell(lease);
  begin_what_it_says();
  EXPECT_GT(run(100).size(), 1u) << "asked for it, it may go on again";
}

TEST_F(NodeOnward, StopsWhereItsSumIsNotFinite) {
  desk_.spoilt = true;
  EXPECT_EQ(begin_and_run(100).size(), 1u);
}

TEST_F(NodeOnward, AnswersALeaseForTheStepThatItIsAt) {
  const Compute first = begin();
  desk_.compute(first);
  const Compute unasked = desk_.effects_of<Compute>().at(0);
  desk_.effects.clear();

  desk_.tell(desk_.committed(first));
  desk_.tell(desk_.lease(2, 0, 4));
  EXPECT_TRUE(desk_.effects_of<Compute>().empty());
  desk_.compute(unasked);

  EXPECT_EQ(desk_.sent(), std::vector{wire::Kind::kResult});
  EXPECT_EQ(desk_.begun().lease.step, 2u) << "works ahead, but hands nothing in unasked";
}

TEST_F(NodeOnward, HandsInWhatItWasAtWhenAnotherLeaseComes) {
  const Compute first = begin();
  desk_.compute(first);
  const Compute unasked = desk_.effects_of<Compute>().at(0);
  desk_.effects.clear();
  desk_.tell(desk_.committed(first));
  desk_.tell(desk_.lease(2, 0, 1));

  desk_.compute(unasked);

  EXPECT_EQ(desk_.sent(), std::vector{wire::Kind::kResult}) << "somebody counts on it";
  EXPECT_EQ(desk_.begun().lease.lease.value, 2u);
}

TEST_F(NodeOnward, LeavesInTheMiddleOfAStepThatNobodyAskedFor) {
  const Compute first = begin();
  desk_.compute(first);
  const Compute unasked = desk_.effects_of<Compute>().at(0);
  desk_.effects.clear();
  desk_.node.leave("ctrl-c", desk_.now, desk_.effects);
  EXPECT_EQ(desk_.sent(), std::vector{wire::Kind::kLeave});

  desk_.tell(desk_.committed(first), desk_.lease(2, 0, 4));  // sent before it was heard
  desk_.effects.clear();
  desk_.compute(unasked);

  EXPECT_TRUE(desk_.sent().empty());
}

TEST_F(NodeOnward, ForgetsThatItMayWhenTheLinkBreaks) {
  const Compute first = begin();
  desk_.compute(first);
  const Compute unasked = desk_.effects_of<Compute>().at(0);
  desk_.node.closed(desk_.now);
  desk_.node.connected(desk_.now, desk_.effects);
  desk_.node.received(desk_.welcome(), desk_.now, desk_.effects);
  desk_.effects.clear();

  desk_.compute(unasked);

  EXPECT_TRUE(desk_.effects.empty());
}

TEST_F(NodeOnward, LetsBriefResultsWaitForEachOther) {
  desk_.span = 100us;
  const Compute first = begin();
  desk_.compute(first);
  EXPECT_TRUE(desk_.node.may_wait());
  desk_.now += 1ms;
  desk_.compute(desk_.begun());
  EXPECT_TRUE(desk_.node.may_wait());
  desk_.now += 2ms;
  desk_.compute(desk_.begun());
  EXPECT_FALSE(desk_.node.may_wait()) << "the first has waited for long enough";
  desk_.compute(desk_.begun(), 100ms);
  EXPECT_FALSE(desk_.node.may_wait()) << "the next one would take long, too";
}

TEST_F(DelayedNodeOnward, BeginsTheNextStepBeforeTheOneAtHandIsOver) {
  begin();
  ASSERT_EQ(begun_.size(), 2u);
  EXPECT_EQ(begun_[1].lease.step, 1u);
  EXPECT_EQ(begun_[1].lease.base, 0u);
}

TEST_F(DelayedNodeOnward, ComputesEachStepOnItsOwnEarlierWeights) {
  const auto done = begin_and_run(6);

  ASSERT_EQ(done.size(), 6u);
  for (Step step = 0; step < 6; ++step) EXPECT_EQ(done[step].lease.base, step < 2 ? 0 : step - 2);
  for (const Compute& task : done) desk_.tell(desk_.committed(task));
  EXPECT_EQ(desk_.node.replica()->state_hash(), desk_.lead.replica().state_hash());
}

// Steps 0 and 1 are another's, who was asked to leave the rest.
TEST_F(DelayedNodeOnward, WaitsForTheStepsOfTheLast) {
  desk_.join();
  const Weights genesis = desk_.node.replica()->weights();
  wire::Lease lease{{1}, 2, 0, genesis->chain, 0, 4, 0, kStepsOnward};
  desk_.tell(lease);
  begin_what_it_says();
  EXPECT_EQ(run(100).size(), 1u) << "step 3 is computed on what step 0 brings";

  for (Step step = 0; step < 2; ++step) {
    desk_.tell(desk_.committed({{90 + step}, {{9}, step, 0, genesis->chain, 0, 4}, genesis}));
  }

  begin_what_it_says();
  const auto done = run(4);
  ASSERT_EQ(done.size(), 4u);
  EXPECT_EQ(done[0].lease.step, 3u);
  EXPECT_EQ(done[3].lease.base, 4u);
}

}  // namespace
}  // namespace wide::engine
