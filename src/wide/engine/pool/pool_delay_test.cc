// Steps that are begun before the one before them is committed.

#include <gtest/gtest.h>

#include "wide/engine/pool/pool_desk.h"

namespace wide::engine {
namespace {

using namespace std::chrono_literals;

Job delayed_job(std::uint32_t delay, std::uint32_t units = 2, std::uint64_t steps = 6) {
  Job job = desk_job(units, steps);
  job.delay = delay;
  return job;
}

std::vector<Step> steps_of(const std::vector<wire::Lease>& leases) {
  std::vector<Step> steps;
  for (const auto& lease : leases) steps.push_back(lease.step);
  return steps;
}

// Everything that `link` was given since, answered in order, until there is nothing more.
void work_to_the_end(PoolDesk& desk, LinkId link) {
  std::size_t answered = 0;
  for (;;) {
    const auto leases = desk.got<wire::Lease>(link);
    if (answered == leases.size() || desk.finished) return;
    const wire::Lease lease = leases[answered++];
    if (lease.step >= desk.pool().replica().step()) desk.say(link, desk.answer(lease));
  }
}

TEST(DelayedPool, HandsOutTheNextStepsToo) {
  PoolDesk desk(delayed_job(2), desk_space(), one_block());

  const LinkId link = desk.join("n", 9);

  const auto leases = desk.got<wire::Lease>(link);
  EXPECT_EQ(steps_of(leases), (std::vector<Step>{0, 0, 1, 1, 2, 2}));
  for (const auto& lease : leases) EXPECT_EQ(lease.base, 0u);
}

TEST(DelayedPool, CommitsInOrderWhicheverIsCompleteFirst) {
  PoolDesk desk(delayed_job(1), desk_space(), one_block());
  const LinkId link = desk.join("n", 9);
  const auto leases = desk.got<wire::Lease>(link);
  ASSERT_EQ(steps_of(leases), (std::vector<Step>{0, 0, 1, 1}));

  desk.say(link, desk.answer(leases[2]));
  desk.say(link, desk.answer(leases[3]));
  desk.say(link, desk.answer(leases[0]));
  EXPECT_TRUE(desk.records.empty());
  desk.say(link, desk.answer(leases[1]));

  ASSERT_EQ(desk.records.size(), 2u);
  EXPECT_EQ(desk.records[0].step, 0u);
  EXPECT_EQ(desk.records[1].step, 1u);
  EXPECT_EQ(desk.records[1].contributors.size(), 1u);
  EXPECT_EQ(desk.records[1].contributors[0].units, 2u);
}

TEST(DelayedPool, GoesOnWhileARecordIsOnItsWayToTheDisk) {
  PoolDesk desk(delayed_job(1), desk_space(), one_block());
  desk.ledger_works = false;
  const LinkId link = desk.join("n", 9);
  const auto leases = desk.got<wire::Lease>(link);

  for (const auto& lease : leases) desk.say(link, desk.answer(lease));

  EXPECT_EQ(desk.records.size(), 1u) << "one at a time";
  EXPECT_EQ(desk.pool().replica().step(), 0u);
  desk.appended();
  EXPECT_EQ(desk.records.size(), 2u);
  EXPECT_EQ(desk.pool().replica().step(), 1u);
}

TEST(DelayedPool, HandsOutNothingWhileTheDiskIsFull) {
  PoolDesk desk(delayed_job(1), desk_space(), one_block());
  desk.ledger_works = false;
  const LinkId link = desk.join("n", 2);
  const auto leases = desk.got<wire::Lease>(link);
  ASSERT_EQ(steps_of(leases), (std::vector<Step>{0, 0}));
  desk.say(link, desk.answer(leases[0], 0));
  desk.say(link, desk.answer(leases[1], 0));
  desk.pool().hold("full");

  desk.say(link, wire::Want{4});

  EXPECT_EQ(desk.got<wire::Lease>(link).size(), 2u);
  desk.appended();
  EXPECT_EQ(desk.got<wire::Lease>(link).size(), 6u);
}

TEST(DelayedPool, FreesLeasesOfEveryStepThatADeadNodeHeld) {
  PoolDesk desk(delayed_job(1), desk_space(), one_block());
  const LinkId dead = desk.join("dead", 9);
  ASSERT_EQ(desk.got<wire::Lease>(dead).size(), 4u);
  const LinkId other = desk.join("other", 9);
  EXPECT_TRUE(desk.got<wire::Lease>(other).empty());

  desk.close(dead);

  EXPECT_EQ(steps_of(desk.got<wire::Lease>(other)), (std::vector<Step>{0, 0, 1, 1}));
}

// One block a step: each lease is a whole one.
TEST(DelayedPool, TellsAtOnceOfACommitWhoeverHasAWholeStepAtWork) {
  PoolDesk desk(delayed_job(1, 1), desk_space(), one_block());
  const LinkId first = desk.join("first", 1);
  const LinkId second = desk.join("second", 1);
  const auto at_work = desk.got<wire::Lease>(second);
  ASSERT_EQ(steps_of(at_work), std::vector<Step>{1});

  desk.say(first, desk.answer(desk.got<wire::Lease>(first).at(0), 0));

  ASSERT_EQ(desk.pool().replica().step(), 1u);
  EXPECT_EQ(desk.got<wire::Update>(second).size(), 1u) << "though no lease goes with it";
  EXPECT_TRUE(desk.got<wire::Update>(first).empty()) << "it asks for nothing";
}

// Two nodes of one slot, one slower than the other, which compute what they are given one after
// another in their own time; a third that asks for nothing makes of them a crew.
class Race {
 public:
  explicit Race(double slower_by) : desk_(delayed_job(1, 4, 4000), desk_space(), two_at_once()) {
    desk_.slots = 1;
    desk_.join("spare", 0);
    for (const double span_ms : {1.0, slower_by}) {
      runners_.push_back({desk_.join("runner", 4), Duration(std::int64_t(span_ms * 1e6))});
    }
  }

  // The next result that is ready is handed in.
  void step() {
    Runner* next = nullptr;
    for (Runner& runner : runners_) {
      if (runner.done == leases_of(runner).size()) continue;
      if (runner.ends_at == Time{}) runner.ends_at = desk_.now + runner.span;
      if (next == nullptr || runner.ends_at < next->ends_at) next = &runner;
    }
    ASSERT_NE(next, nullptr) << "somebody has something to do";
    desk_.now = std::exchange(next->ends_at, Time{});
    auto result = desk_.answer(leases_of(*next)[next->done++]);
    result.compute_ns = static_cast<std::uint64_t>(next->span.count());
    desk_.say(next->link, std::move(result));
  }
  std::vector<wire::Lease> leases_of(std::size_t i) { return leases_of(runners_[i]); }
  std::size_t yields_of(std::size_t i) { return desk_.got<wire::Yield>(runners_[i].link).size(); }

 private:
  struct Runner {
    LinkId link;
    Duration span;
    std::size_t done = 0;
    Time ends_at{};
  };
  static PoolOptions two_at_once() {
    PoolOptions options;
    options.slots_at_once = 2;
    return options;
  }
  std::vector<wire::Lease> leases_of(const Runner& runner) {
    return desk_.got<wire::Lease>(runner.link);
  }

  PoolDesk desk_;
  std::vector<Runner> runners_;
};

TEST(DelayedPool, LetsAFasterNodePassWhoeverItWaitsFor) {
  Race race(1.6);
  for (int result = 0; result < 400; ++result) race.step();

  EXPECT_GT(race.yields_of(1), 20u) << "the slower one is asked to leave a step";
  EXPECT_EQ(race.yields_of(0), 0u);
  const double ratio = double(race.leases_of(0).size()) / double(race.leases_of(1).size());
  EXPECT_GT(ratio, 1.3) << "step by step in turns it would be 1";
  for (const auto& lease : race.leases_of(0)) EXPECT_EQ(lease.block_count, 4u);
}

TEST(DelayedPool, AsksNobodyToYieldWhereNobodyWaitsLong) {
  Race race(1.02);
  for (int result = 0; result < 200; ++result) race.step();

  EXPECT_EQ(race.yields_of(0) + race.yields_of(1), 0u);
}

// Who joins late needs the weights that the oldest open step is computed on.
TEST(DelayedPool, BringsNewcomersToTheOldestWeightsThatAreStillNeeded) {
  PoolOptions options = one_block();
  options.ring_bytes_max = 0;
  PoolDesk desk(delayed_job(2, 1, 40), desk_space(), options);
  const LinkId first = desk.join("first", 1);
  for (int step = 0; step < 12; ++step) {
    desk.say(first, desk.answer(desk.got<wire::Lease>(first).back()));
  }
  ASSERT_EQ(desk.pool().replica().step(), 12u);
  desk.close(first);

  const LinkId late = desk.join("late", 1);

  const auto snapshots = desk.got<wire::Snapshot>(late);
  ASSERT_EQ(snapshots.size(), 1u);
  EXPECT_EQ(snapshots[0].step, 10u);
  EXPECT_EQ(desk.got<wire::Update>(late).size(), 2u);
  const auto leases = desk.got<wire::Lease>(late);
  ASSERT_EQ(leases.size(), 1u);
  EXPECT_EQ(leases[0].step, 12u);
  EXPECT_EQ(leases[0].base, 10u);
}

// As after a power cut: the pool stands where the node's own snapshot was made, or before.
TEST(DelayedPool, SendsASnapshotToWhoeverLacksOlderWeights) {
  PoolDesk desk(delayed_job(1, 1, 9), desk_space(), one_block());
  const LinkId first = desk.join("first", 1);
  for (int step = 0; step < 4; ++step) {
    desk.say(first, desk.answer(desk.got<wire::Lease>(first).back()));
  }
  desk.close(first);
  wire::Ready ready;
  ready.class_hash = sha256("class");
  ready.holds_replica = true;
  ready.step = 4;
  ready.chain = desk.pool().replica().chain();

  ready.oldest = 4;
  const LinkId lacks = desk.join_as(ready, "lacks", 1);
  EXPECT_EQ(desk.got<wire::Snapshot>(lacks).size(), 1u);
  desk.close(lacks);
  ready.oldest = 3;
  const LinkId has = desk.join_as(ready, "has", 1);
  EXPECT_TRUE(desk.got<wire::Snapshot>(has).empty());
  EXPECT_EQ(desk.got<wire::Lease>(has).size(), 1u);
}

TEST(DelayedPool, KeepsItsFootprintWhereARecordDoesNotFollow) {
  PoolDesk desk(delayed_job(1, 1, 9), desk_space(), one_block());
  const LinkId link = desk.join("n", 1);
  for (int step = 0; step < 3; ++step) {
    desk.say(link, desk.answer(desk.got<wire::Lease>(link).back()));
  }
  PoolDesk other(delayed_job(1, 1, 9), desk_space(), one_block());
  ASSERT_TRUE(other.pool().recall(desk.records[0]));

  CommitRecord stranger = desk.records[0];
  stranger.step = 1;
  EXPECT_FALSE(other.pool().recall(stranger));

  EXPECT_TRUE(other.pool().recall(desk.records[1]));
  EXPECT_TRUE(other.pool().recall(desk.records[2]));
  EXPECT_EQ(other.pool().footprint().replica.step, 2u);
}

TEST(DelayedPool, ComesTogetherForEvaluations) {
  Job job = delayed_job(2, 1, 6);
  job.eval.every = 2;
  job.eval.batch = 5;
  SampleSpace space = desk_space();
  space.eval_count = 5;
  PoolDesk desk(job, space, one_block());

  const LinkId link = desk.join("n", 9);
  EXPECT_EQ(steps_of(desk.got<wire::Lease>(link)), (std::vector<Step>{0, 1}));
  for (const auto& lease : desk.got<wire::Lease>(link)) desk.say(link, desk.answer(lease));

  ASSERT_EQ(desk.got<wire::EvalLease>(link).size(), 1u);
  const auto eval = desk.got<wire::EvalLease>(link)[0];
  EXPECT_EQ(eval.base, 2u);
  desk.say(link,
           wire::EvalResult{eval.lease, eval.base, eval.base_chain, eval.first_unit, 1, {{}}});
  EXPECT_EQ(steps_of(desk.got<wire::Lease>(link)), (std::vector<Step>{0, 1, 2, 3}));
}

TEST(DelayedPool, NeverBeginsWhatLiesBehindTheEnd) {
  PoolDesk desk(delayed_job(4, 1, 3), desk_space(), one_block());

  const LinkId link = desk.join("n", 9);
  EXPECT_EQ(steps_of(desk.got<wire::Lease>(link)), (std::vector<Step>{0, 1, 2}));
  work_to_the_end(desk, link);

  EXPECT_TRUE(desk.finished);
  EXPECT_EQ(desk.records.size(), 3u);
}

TEST(DelayedPool, DropsWhatWasBegunWhenItsTimeIsOver) {
  Job job = delayed_job(2, 1, 0);
  job.train.seconds = 1;
  PoolDesk desk(job, desk_space(), one_block());
  const LinkId link = desk.join("n", 9);
  const auto leases = desk.got<wire::Lease>(link);
  ASSERT_EQ(leases.size(), 3u);

  desk.now += 2s;
  desk.say(link, desk.answer(leases[0]));

  EXPECT_TRUE(desk.finished);
  EXPECT_EQ(desk.stops.size(), 1u);
  EXPECT_EQ(desk.pool().replica().step(), 1u);
  EXPECT_EQ(desk.pool().footprint().replica.step, 1u) << "nothing will be computed any more";
}

TEST(DelayedPool, LeavesAFootprintWhereTheOldestOpenStepBegins) {
  PoolDesk desk(delayed_job(2, 1, 9), desk_space(), one_block());
  const LinkId link = desk.join("n", 1);

  for (Step step = 0; step < 5; ++step) {
    EXPECT_EQ(desk.pool().footprint().replica.step, step < 2 ? 0 : step - 2);
    EXPECT_EQ(desk.pool().footprint().past.steps, step < 2 ? 0 : step - 2);
    desk.say(link, desk.answer(desk.got<wire::Lease>(link).back()));
  }
}

}  // namespace
}  // namespace wide::engine
