#include "wide/engine/node/node.h"

#include <gtest/gtest.h>

#include <limits>

#include "wide/engine/lead_replica.h"
#include "wide/engine/pool/pool_desk.h"
#include "wide/engine/strategy/step_round.h"

namespace wide::engine {
namespace {

using namespace std::chrono_literals;

// A node at the other end of a hand-held pool: what one sends the other gets, when the test says.
class NodeDesk {
 public:
  explicit NodeDesk(std::uint16_t slots = 1, std::uint32_t delay = 0)
      : job(job_with(delay)),
        node({"n", slots, "test"}, buffers),
        computer(factory.make_computer()) {}
  static Job job_with(std::uint32_t delay) {
    Job job = desk_job(4, 100);
    job.delay = delay;
    return job;
  }

  template <class T>
  std::vector<T> effects_of() const {
    std::vector<T> found;
    for (const auto& effect : effects) {
      if (const T* wanted = std::get_if<T>(&effect)) found.push_back(*wanted);
    }
    return found;
  }
  std::vector<wire::Kind> sent() const {
    std::vector<wire::Kind> kinds;
    for (const auto& send : effects_of<NodeSend>()) kinds.push_back(send.packet->kind);
    return kinds;
  }

  wire::Welcome welcome() const {
    wire::Welcome welcome;
    welcome.job_id = job_id(job, space.sha256);
    welcome.samples_sha256 = space.sha256;
    welcome.genesis_sha256 = genesis.sha256();
    welcome.job_text = canonical_text(job);
    return welcome;
  }

  void join() {
    node.connected(now, effects);
    node.received(welcome(), now, effects);
    node.prepared(space, genesis, "libs", sha256("class"), now, effects);
    effects.clear();
  }
  wire::Lease lease(std::uint64_t id, Block first, Block count) const {
    return {{id}, node.replica()->step(), node.replica()->step(), node.replica()->chain(), first,
            count};
  }
  void update() {
    wire::Update next;
    const Floats values = take_floats(buffers, layout.value_count());
    std::ranges::fill(values.values, 0.0f);
    next.step = node.replica()->step();
    next.values = wire::as_they_are(values);
    next.chain_after = chain_next(node.replica()->chain(), next.step, next.scalars, values);
    node.received(next, now, effects);
  }
  // What a pool sends when it has committed a step that one node computed whole.
  wire::Update committed(const Compute& whole) {
    StepRound round(job, layout, lead.step(), whole.weights->chain, codec::Lossy::kNone, 0,
                    buffers);
    round.board().take({0, job.blocks_per_step()});
    round.offer({0, job.blocks_per_step()}, {1}, sha256("class"),
                compute_lease(*computer, job, layout, whole.weights, whole.lease, buffers));
    CommitRecord record = round.close();
    lead.begin(record, job.step_count(space.train_count));
    const CodedUpdate coded = lead.code(record);
    lead.finish(record, coded);
    EXPECT_TRUE(lead.advance(record, coded));
    return {record.step, record.chain_after, record.scalars, coded.sent};
  }
  // The one task that was begun since the last call.
  Compute begun() {
    const auto tasks = effects_of<Compute>();
    EXPECT_EQ(tasks.size(), 1u);
    effects.clear();
    return tasks.at(0);
  }
  void compute(const Compute& task) { compute(task, span); }
  void compute(const Compute& task, Duration taken) {
    auto outcome = compute_lease(*computer, job, layout, task.weights, task.lease, buffers);
    if (spoilt) outcome.value.sum.values[0] = std::numeric_limits<float>::quiet_NaN();
    node.computed(task.task, std::move(outcome), taken, now, effects);
    node.drained(now, effects);
  }
  // All that it is told comes at once.
  template <class... Message>
  void tell(Message... message) {
    (node.received(std::move(message), now, effects), ...);
    node.drained(now, effects);
  }

  BufferPool buffers;
  Job job;
  SampleSpace space = desk_space();
  Genesis genesis = make_genesis(job, space);
  Layout layout = genesis.layout;
  StubFactory factory{job, layout};
  Node node;
  std::unique_ptr<UnitComputer> computer;
  LeadReplica lead{job, genesis, chain_genesis(job_id(job, space.sha256), genesis.sha256()),
                   buffers};
  NodeEffects effects;
  Time now = 1s;
  Duration span = 1ms;  // that a task takes
  bool spoilt = false;  // and what comes out
};

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
  EXPECT_TRUE(desk.node.more_follows());
  desk.compute(desk.effects_of<Compute>()[1], 100ms);
  EXPECT_FALSE(desk.node.more_follows()) << "the next one will take long, too";
  desk.compute(desk.effects_of<Compute>()[2], 100us);
  EXPECT_FALSE(desk.node.more_follows()) << "it was the last";
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
