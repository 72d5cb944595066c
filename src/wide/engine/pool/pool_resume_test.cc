#include <gtest/gtest.h>

#include "wide/engine/pool/pool_desk.h"

namespace wide::engine {
namespace {

using namespace std::chrono_literals;

// Answers every lease that is out on the link, until none comes any more or `steps` are committed.
void work(PoolDesk& desk, LinkId link, std::size_t steps) {
  while (desk.records.size() < steps && !desk.finished) {
    const auto leases = desk.got<wire::Lease>(link);
    ASSERT_FALSE(leases.empty());
    desk.forget();
    desk.now += 10ms;
    for (const auto& lease : leases) desk.say(link, desk.answer(lease));
  }
}

TEST(PoolCommit, TellsNobodyBeforeTheLedgerHasIt) {
  PoolDesk desk(desk_job(2), desk_space(), one_block());
  desk.ledger_works = false;
  const LinkId link = desk.join("n", 2);
  for (const auto& lease : desk.got<wire::Lease>(link)) desk.say(link, desk.answer(lease));

  ASSERT_EQ(desk.records.size(), 1u);
  EXPECT_EQ(desk.pool().replica().step(), 0u);
  EXPECT_TRUE(desk.got<wire::Update>(link).empty());
  desk.now += 1s;
  desk.tick();
  EXPECT_TRUE(desk.got<wire::Update>(link).empty()) << "however long it takes";
  EXPECT_FALSE(desk.was_closed(link));

  desk.appended();
  EXPECT_EQ(desk.pool().replica().step(), 1u);
  EXPECT_EQ(desk.got<wire::Update>(link).size(), 1u);
}

TEST(PoolCommit, WritingIsPartOfTraining) {
  PoolDesk desk(desk_job(1), desk_space(), one_block());
  desk.ledger_works = false;
  const LinkId link = desk.join("n", 1);
  desk.now += 3s;
  desk.say(link, desk.answer(desk.got<wire::Lease>(link)[0]));
  desk.now += 2s;
  desk.appended();

  EXPECT_DOUBLE_EQ(desk.pool().summary().seconds, 5);

  desk.now += 1s;
  ASSERT_EQ(desk.got<wire::Lease>(link).size(), 2u);
  desk.say(link, desk.answer(desk.got<wire::Lease>(link)[1]));
  desk.pool().hold("W804 disk full");
  desk.now += 60s;
  desk.appended();

  EXPECT_DOUBLE_EQ(desk.pool().summary().seconds, 6) << "waiting for room is not";
}

TEST(PoolCommit, SaysThatItWaitsForTheDisk) {
  PoolDesk desk(desk_job(1), desk_space(), one_block());
  desk.ledger_works = false;
  const LinkId link = desk.join("n", 1);
  desk.say(link, desk.answer(desk.got<wire::Lease>(link)[0]));

  desk.pool().hold("W804 disk full");

  EXPECT_EQ(desk.pool().progress(desk.now).state, "waiting for room on the disk");
}

TEST(PoolCommit, StopsAtTheLastStepThatTheLedgerHas) {
  PoolDesk desk(desk_job(1), desk_space(), one_block());
  desk.ledger_works = false;
  const LinkId link = desk.join("n", 1);
  desk.say(link, desk.answer(desk.got<wire::Lease>(link)[0]));

  desk.stop();
  desk.appended();

  EXPECT_TRUE(desk.finished);
  EXPECT_EQ(desk.pool().summary().steps, 0u);
}

TEST(PoolResult, DoesNotCountFromWhoWasNotAsked) {
  PoolDesk desk(desk_job(1), desk_space(), one_block());
  const LinkId asked = desk.join("asked", 1);
  const LinkId other = desk.join("other", 0);
  const auto lease = desk.got<wire::Lease>(asked)[0];

  desk.say(other, desk.answer(lease));
  EXPECT_TRUE(desk.records.empty());
  desk.say(asked, desk.answer(lease));

  ASSERT_EQ(desk.records.size(), 1u);
  EXPECT_EQ(desk.records[0].contributors[0].name, "asked");
}

TEST(PoolRecord, NamesWhoGaveWhat) {
  PoolDesk desk(desk_job(2), desk_space(), one_block());
  const LinkId a = desk.join("a", 1);
  const LinkId b = desk.join("b", 1);
  desk.say(a, desk.answer(desk.got<wire::Lease>(a)[0]));
  desk.say(b, desk.answer(desk.got<wire::Lease>(b)[0]));

  ASSERT_EQ(desk.records.size(), 1u);
  const auto& contributors = desk.records[0].contributors;
  ASSERT_EQ(contributors.size(), 2u);
  EXPECT_EQ(contributors[0].name, "a");
  EXPECT_EQ(contributors[0].units, 1u);
  EXPECT_EQ(contributors[0].class_hash, sha256("class"));
  EXPECT_EQ(contributors[1].name, "b");
}

class PoolResume : public testing::Test {
 protected:
  PoolResume() {
    const LinkId link = before_.join("n", 4);
    work(before_, link, 2);
    for (const auto& record : before_.records) records_.push_back(record);
  }

  Job job_ = desk_job(4, 5);
  PoolDesk before_{job_, desk_space(), one_block()};
  std::vector<CommitRecord> records_;
};

TEST_F(PoolResume, StandsBehindTheLastRecord) {
  PoolDesk after(job_, desk_space(), one_block());
  EXPECT_TRUE(after.pool().recall(after.pool().genesis()));
  for (const auto& record : records_) EXPECT_TRUE(after.pool().recall(record));
  after.resume();

  EXPECT_EQ(after.pool().replica().state_hash(), before_.pool().replica().state_hash());
  const Summary was = before_.pool().summary();
  const Summary is = after.pool().summary();
  EXPECT_EQ(is.steps, 2u);
  EXPECT_EQ(is.units, was.units);
  EXPECT_EQ(is.loss_mean, was.loss_mean);
  EXPECT_EQ(is.seconds, was.seconds);
  EXPECT_GT(is.seconds, 0);
  ASSERT_EQ(is.nodes.size(), 1u);
  EXPECT_EQ(is.nodes[0].units, was.nodes[0].units);
}

TEST_F(PoolResume, EndsAsItWouldHaveEnded) {
  PoolDesk after(job_, desk_space(), one_block());
  for (const auto& record : records_) after.pool().recall(record);
  after.resume();
  const LinkId link = after.join("late", 4);
  work(after, link, 3);
  work(before_, LinkId{1}, 5);

  EXPECT_TRUE(after.finished);
  EXPECT_EQ(after.pool().summary().state_hash, before_.pool().summary().state_hash);
  EXPECT_EQ(after.pool().summary().loss_mean, before_.pool().summary().loss_mean);
}

TEST_F(PoolResume, GoesOnFromACheckpointToo) {
  PoolDesk after(job_, desk_space(), one_block());
  PoolDesk half(job_, desk_space(), one_block());
  half.pool().recall(records_[0]);

  EXPECT_TRUE(after.pool().restore(half.pool().replica().freeze(), half.pool().past()));
  EXPECT_FALSE(after.pool().recall(records_[0])) << "it is behind us";
  EXPECT_TRUE(after.pool().recall(records_[1]));

  EXPECT_EQ(after.pool().replica().state_hash(), before_.pool().replica().state_hash());
}

TEST_F(PoolResume, RefusesRecordsThatDoNotFollow) {
  PoolDesk after(job_, desk_space(), one_block());
  EXPECT_FALSE(after.pool().recall(records_[1])) << "a gap";

  CommitRecord other = records_[0];
  other.scalars.step_size *= 2;
  EXPECT_FALSE(after.pool().recall(other)) << "another update than nodes were told of";
  other = records_[0];
  other.rows.pop_back();
  EXPECT_FALSE(after.pool().recall(other)) << "a block is missing";
  GenesisRecord stranger = after.pool().genesis();
  stranger.job_id = sha256("other");
  EXPECT_FALSE(after.pool().recall(stranger));

  EXPECT_EQ(after.pool().replica().step(), 0u);
}

TEST_F(PoolResume, NeverGivesANumberTwice) {
  PoolDesk after(job_, desk_space(), one_block());
  for (const auto& record : records_) after.pool().recall(record);
  after.resume();

  const LinkId link = after.join("n", 0);

  EXPECT_GT(after.got<wire::Welcome>(link)[0].node, records_[1].rows[0].node);
}

TEST_F(PoolResume, TakesResultsFromBeforeTheBreak) {
  PoolDesk after(job_, desk_space(), one_block());
  for (const auto& record : records_) after.pool().recall(record);
  after.resume();
  const LinkId link = after.open();
  after.say(link, wire::Hello{});
  wire::Ready ready;
  ready.class_hash = sha256("class");
  ready.holds_replica = true;
  ready.step = after.pool().replica().step();
  ready.chain = after.pool().replica().chain();
  ready.kept = {{ready.step, 2, 1}, {ready.step, 77, 1}, {ready.step + 1, 3, 1}};
  after.say(link, ready);

  after.say(link, wire::Want{1});

  const auto leases = after.got<wire::Lease>(link);
  ASSERT_EQ(leases.size(), 1u);
  EXPECT_EQ(leases[0].first_block, 2u) << "the one that the node has already";
  EXPECT_EQ(after.pool().summary().results_kept, 1u);
}

TEST_F(PoolResume, ComparesStepsThatANodeHadSeen) {
  PoolDesk after(job_, desk_space(), one_block());
  after.pool().recall(records_[0]);  // the second was lost in a power cut
  after.resume();
  const LinkId ahead = after.open();
  after.say(ahead, wire::Hello{});
  wire::Ready ready;
  ready.class_hash = sha256("class");
  ready.holds_replica = true;
  ready.step = 2;
  ready.chain = records_[1].chain_after;
  after.say(ahead, ready);
  after.say(ahead, wire::Want{4});
  EXPECT_EQ(after.got<wire::Snapshot>(ahead).size(), 1u);
  work(after, ahead, 1);

  EXPECT_EQ(after.pool().summary().recomputed_equal, 1u);
  EXPECT_EQ(after.pool().summary().recomputed_different, 0u);
}

TEST(PoolEnd, OfARunByTheClockIsWrittenDown) {
  Job job = desk_job(1, 0);
  job.train.steps = 0;
  job.train.seconds = 0.5;
  PoolDesk desk(job, desk_space(), one_block());
  const LinkId link = desk.join("n", 1);
  desk.now += 1s;
  desk.say(link, desk.answer(desk.got<wire::Lease>(link)[0]));

  EXPECT_TRUE(desk.finished);
  ASSERT_EQ(desk.stops.size(), 1u);
  PoolDesk after(job, desk_space(), one_block());
  EXPECT_TRUE(after.pool().recall(desk.records[0]));
  EXPECT_TRUE(after.pool().recall(desk.stops[0]));
  EXPECT_TRUE(after.pool().complete());
  EXPECT_FALSE(after.pool().recall(desk.records[0])) << "nothing may follow";
}

}  // namespace
}  // namespace wide::engine
