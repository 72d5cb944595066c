#include "wide/engine/node/node.h"

#include <gtest/gtest.h>

#include "wide/engine/node/node_desk.h"

namespace wide::engine {
namespace {

using namespace std::chrono_literals;

TEST(Node, SaysHelloThenPreparesThenAsksForWork) {
  NodeDesk desk;

  desk.node.connected(desk.now, desk.effects);
  EXPECT_EQ(desk.sent(), std::vector{wire::Kind::kHello});
  desk.node.received(desk.welcome(), desk.now, desk.effects);
  ASSERT_EQ(desk.effects_of<Prepare>().size(), 1u);
  EXPECT_FALSE(desk.node.joined());
  desk.node.prepared(desk.space, desk.genesis, "libs", sha256("class"), desk.now, desk.effects);

  EXPECT_EQ(desk.sent(), (std::vector{wire::Kind::kHello, wire::Kind::kReady, wire::Kind::kWant}));
  EXPECT_TRUE(desk.node.joined());
}

TEST(Node, RefusesSamplesThatAreNotTheJobs) {
  NodeDesk desk;
  desk.node.connected(desk.now, desk.effects);
  desk.node.received(desk.welcome(), desk.now, desk.effects);
  SampleSpace other = desk.space;
  other.sha256 = sha256("others");

  desk.node.prepared(other, desk.genesis, "libs", sha256("class"), desk.now, desk.effects);

  const auto hangups = desk.effects_of<Hangup>();
  ASSERT_EQ(hangups.size(), 1u);
  EXPECT_EQ(hangups[0].error->code, Errc::kSamplesDiffer);
  EXPECT_TRUE(hangups[0].final);
}

TEST(Node, SaysThatAnotherResultOfTheStepFollowsAtOnce) {
  NodeDesk desk;
  desk.join();
  desk.node.received(desk.lease(1, 0, 2), desk.now, desk.effects);
  desk.node.received(desk.lease(2, 2, 1), desk.now, desk.effects);
  desk.node.received(desk.lease(3, 3, 1), desk.now, desk.effects);

  desk.compute(desk.effects_of<Compute>()[0], 100us);
  EXPECT_TRUE(desk.node.may_wait());
  desk.compute(desk.effects_of<Compute>()[1], 100ms);
  EXPECT_FALSE(desk.node.may_wait()) << "the next one will take long, too";
  desk.compute(desk.effects_of<Compute>()[2], 100us);
  EXPECT_FALSE(desk.node.may_wait()) << "it was the last";
}

TEST(Node, KeepsAsManyLeasesInSlotsAsItHasSlots) {
  NodeDesk desk(2);
  desk.join();

  for (Block block = 0; block < 3; ++block) {
    desk.node.received(desk.lease(block + 1, block, 1), desk.now, desk.effects);
  }

  const auto running = desk.effects_of<Compute>();
  ASSERT_EQ(running.size(), 2u);
  desk.compute(running[0]);
  EXPECT_EQ(desk.effects_of<Compute>().size(), 3u) << "the third starts when a slot is free";
  EXPECT_EQ(desk.sent(), std::vector{wire::Kind::kResult});
}

TEST(Node, AsksForASnapshotWhenALeaseIsOnAnotherReplica) {
  NodeDesk desk;
  desk.join();
  auto lease = desk.lease(1, 0, 1);
  lease.base_chain ^= 1;

  desk.node.received(lease, desk.now, desk.effects);

  EXPECT_EQ(desk.sent(), (std::vector{wire::Kind::kResync, wire::Kind::kWant}));
  EXPECT_TRUE(desk.effects_of<Compute>().empty());
}

TEST(Node, TakesASnapshotAndWorksOnFromThere) {
  NodeDesk desk;
  desk.join();
  auto lease = desk.lease(1, 0, 1);
  lease.base_chain ^= 1;
  desk.node.received(lease, desk.now, desk.effects);
  const wire::Snapshot snapshot = snapshot_of(desk.node.replica()->freeze(), desk.buffers);

  desk.node.received(desk.lease(2, 0, 1), desk.now, desk.effects);
  EXPECT_TRUE(desk.effects_of<Compute>().empty()) << "taken back by the pool: not computed";
  desk.node.received(snapshot, desk.now, desk.effects);
  desk.node.received(desk.lease(3, 0, 1), desk.now, desk.effects);

  EXPECT_EQ(desk.effects_of<Compute>().size(), 1u);
}

TEST(Node, RefusesASnapshotThatIsNotWhatItSays) {
  NodeDesk desk;
  desk.join();
  wire::Snapshot snapshot = snapshot_of(desk.node.replica()->freeze(), desk.buffers);
  snapshot.state_hash = sha256("else");

  desk.node.received(snapshot, desk.now, desk.effects);

  ASSERT_EQ(desk.effects_of<Hangup>().size(), 1u);
  EXPECT_EQ(desk.effects_of<Hangup>()[0].error->code, Errc::kReplicaDrift);
  EXPECT_FALSE(desk.effects_of<Hangup>()[0].final);
}

TEST(Node, ForgetsTheWorkOfABrokenLink) {
  NodeDesk desk;
  desk.join();
  desk.node.received(desk.lease(1, 0, 1), desk.now, desk.effects);
  const auto running = desk.effects_of<Compute>();

  desk.node.closed(desk.now);
  desk.effects.clear();
  desk.node.connected(desk.now, desk.effects);
  desk.node.received(desk.welcome(), desk.now, desk.effects);
  desk.effects.clear();
  desk.compute(running[0]);

  EXPECT_TRUE(desk.sent().empty()) << "the new link knows nothing of that lease";
}

TEST(Node, ComesBackWithTheReplicaItHolds) {
  NodeDesk desk;
  desk.join();
  desk.node.closed(desk.now);

  desk.node.connected(desk.now, desk.effects);
  desk.node.received(desk.welcome(), desk.now, desk.effects);

  EXPECT_TRUE(desk.effects_of<Prepare>().empty()) << "the samples are open already";
  EXPECT_EQ(desk.sent(), (std::vector{wire::Kind::kHello, wire::Kind::kReady, wire::Kind::kWant}));
}

TEST(Node, WaitsForTheWelcomeOfANewLinkBeforeItIsReady) {
  NodeDesk desk;
  desk.node.connected(desk.now, desk.effects);
  desk.node.received(desk.welcome(), desk.now, desk.effects);
  desk.node.closed(desk.now);
  desk.node.connected(desk.now, desk.effects);
  desk.effects.clear();

  desk.node.prepared(desk.space, desk.genesis, "libs", sha256("class"), desk.now, desk.effects);
  EXPECT_TRUE(desk.sent().empty());
  desk.node.received(desk.welcome(), desk.now, desk.effects);

  EXPECT_EQ(desk.sent(), (std::vector{wire::Kind::kReady, wire::Kind::kWant}));
}

// What Ready says is kept, on the last link.
std::vector<wire::KeptRun> kept_on_return(NodeDesk& desk) {
  desk.node.connected(desk.now, desk.effects);
  desk.node.received(desk.welcome(), desk.now, desk.effects);
  for (const auto& send : desk.effects_of<NodeSend>()) {
    if (send.packet->kind != wire::Kind::kReady) continue;
    wire::Limits limits = wire::Limits::for_caller();
    limits.kept_count_max = wire::kKeptCountMax;
    return std::get<wire::Ready>(*wire::decode(send.packet->kind, send.packet->head, {}, limits))
        .kept;
  }
  return {};
}

TEST(Node, KeepsWhatItComputedOverABreak) {
  NodeDesk desk;
  desk.join();
  desk.node.received(desk.lease(1, 2, 1), desk.now, desk.effects);
  desk.compute(desk.effects_of<Compute>()[0]);
  desk.node.closed(desk.now);
  desk.effects.clear();

  EXPECT_EQ(kept_on_return(desk), (std::vector<wire::KeptRun>{{0, 2, 1}}));
  desk.effects.clear();
  desk.node.received(desk.lease(77, 2, 1), desk.now, desk.effects);

  EXPECT_TRUE(desk.effects_of<Compute>().empty());
  EXPECT_EQ(desk.sent(), std::vector{wire::Kind::kResult}) << "at once";
}

TEST(Node, FinishesOverABreakWhatItHadBegun) {
  NodeDesk desk;
  desk.join();
  desk.node.received(desk.lease(1, 3, 1), desk.now, desk.effects);
  const auto running = desk.effects_of<Compute>();
  desk.node.closed(desk.now);
  desk.effects.clear();

  EXPECT_EQ(kept_on_return(desk), (std::vector<wire::KeptRun>{{0, 3, 1}}));
  desk.effects.clear();
  desk.node.received(desk.lease(5, 3, 1), desk.now, desk.effects);
  EXPECT_TRUE(desk.effects_of<Compute>().empty()) << "a slot is at it";
  desk.compute(running[0]);

  EXPECT_EQ(desk.sent(), std::vector{wire::Kind::kResult});
}

TEST(Node, ForgetsResultsOfAStepThatIsOver) {
  NodeDesk desk;
  desk.join();
  desk.node.received(desk.lease(1, 2, 1), desk.now, desk.effects);
  desk.compute(desk.effects_of<Compute>()[0]);
  desk.update();
  desk.node.closed(desk.now);
  desk.effects.clear();

  EXPECT_TRUE(kept_on_return(desk).empty());
}

TEST(Node, HandsItsLeasesBackWhenItLeaves) {
  NodeDesk desk;
  desk.join();
  desk.node.received(desk.lease(1, 0, 1), desk.now, desk.effects);
  desk.effects.clear();

  desk.node.leave("ctrl-c", desk.now, desk.effects);

  EXPECT_EQ(desk.sent(), std::vector{wire::Kind::kLeave});
}

TEST(Node, DoesNotStartWorkOnAStepThatIsOver) {
  NodeDesk desk;
  desk.join();
  desk.node.received(desk.lease(1, 0, 1), desk.now, desk.effects);
  desk.node.received(desk.lease(2, 1, 1), desk.now, desk.effects);
  wire::Update update;
  const Floats values = take_floats(desk.buffers, desk.layout.value_count());
  std::ranges::fill(values.values, 0.0f);
  update.values = wire::as_they_are(values);
  update.chain_after = chain_next(desk.node.replica()->chain(), 0, update.scalars, values);
  const auto running = desk.effects_of<Compute>();
  desk.effects.clear();

  desk.node.received(update, desk.now, desk.effects);
  EXPECT_EQ(desk.sent(), std::vector{wire::Kind::kWant}) << "one lease was dropped";
  desk.compute(running[0]);

  EXPECT_TRUE(desk.effects_of<Compute>().empty());
  EXPECT_EQ(desk.node.replica()->step(), 1u);
}

TEST(Node, HangsUpOnALeaseThatCannotBe) {
  NodeDesk desk;
  desk.join();

  desk.node.received(desk.lease(1, 1, 2), desk.now, desk.effects);

  EXPECT_EQ(desk.effects_of<Hangup>().size(), 1u);
}

TEST(Node, ComputesAgainWhatItIsAskedForTwiceOnOneLink) {
  NodeDesk desk;
  desk.join();
  desk.node.received(desk.lease(1, 2, 1), desk.now, desk.effects);
  desk.compute(desk.begun());
  desk.effects.clear();

  desk.node.received(desk.lease(2, 2, 1), desk.now, desk.effects);

  EXPECT_TRUE(desk.sent().empty()) << "a copy is no second opinion";
  EXPECT_EQ(desk.begun().lease.lease.value, 2u);
}

// With a delay of one: a lease of step 1 on the weights of step 0, while step 0 is not over.
TEST(DelayedNode, ComputesOnEarlierWeights) {
  NodeDesk desk(1, 1);
  desk.join();
  const std::uint64_t first_chain = desk.node.replica()->chain();
  const wire::Lease ahead{{7}, 1, 0, first_chain, 0, 1};
  desk.node.received(ahead, desk.now, desk.effects);
  desk.compute(desk.effects_of<Compute>().at(0));
  desk.update();
  desk.effects.clear();

  desk.node.received(wire::Lease{{8}, 1, 0, first_chain, 1, 1}, desk.now, desk.effects);
  desk.node.received(wire::Lease{{9}, 2, 1, desk.node.replica()->chain(), 1, 1}, desk.now,
                     desk.effects);

  const auto running = desk.effects_of<Compute>();
  ASSERT_EQ(running.size(), 1u);
  EXPECT_EQ(running[0].weights->step, 0u);
  desk.compute(running[0]);
  EXPECT_EQ(desk.effects_of<Compute>().at(1).weights->step, 1u);
  desk.node.closed(desk.now);
  desk.effects.clear();
  EXPECT_EQ(kept_on_return(desk), (std::vector<wire::KeptRun>{{1, 0, 1}, {1, 1, 1}, {2, 1, 1}}))
      << "step 1 is not over";
}

TEST(DelayedNode, AsksForASnapshotWhereItLacksTheWeights) {
  NodeDesk desk(1, 1);
  desk.join();
  const std::uint64_t first_chain = desk.node.replica()->chain();
  desk.update();
  desk.update();
  desk.effects.clear();

  desk.node.received(wire::Lease{{8}, 1, 0, first_chain, 1, 1}, desk.now, desk.effects);

  EXPECT_EQ(desk.sent(), (std::vector{wire::Kind::kResync, wire::Kind::kWant}));
}

TEST(DelayedNode, HangsUpOnALeaseWithAnotherDelay) {
  NodeDesk desk(1, 1);
  desk.join();

  desk.node.received(wire::Lease{{8}, 3, 0, desk.node.replica()->chain(), 1, 1}, desk.now,
                     desk.effects);

  EXPECT_EQ(desk.effects_of<Hangup>().size(), 1u);
}

}  // namespace
}  // namespace wide::engine
