#include "wide/engine/pool/pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "wide/engine/pool/pool_desk.h"

namespace wide::engine {
namespace {

using namespace std::chrono_literals;

TEST(Pool, TellsANodeTheJobAndNothingElseUntilItAsks) {
  PoolDesk desk(desk_job(), desk_space());

  const LinkId link = desk.join("n", 0);

  ASSERT_EQ(desk.got<wire::Welcome>(link).size(), 1u);
  EXPECT_EQ(desk.got<wire::Welcome>(link)[0].job_text, canonical_text(desk.pool().job()));
  EXPECT_TRUE(desk.got<wire::Lease>(link).empty());
}

TEST(Pool, CommitsAStepWhenEveryBlockIsIn) {
  PoolDesk desk(desk_job(4), desk_space(), one_block());
  const LinkId link = desk.join("n", 4);

  const auto leases = desk.got<wire::Lease>(link);
  ASSERT_EQ(leases.size(), 4u);
  for (const auto& lease : leases) {
    EXPECT_TRUE(desk.records.empty());
    desk.say(link, desk.answer(lease));
  }

  ASSERT_EQ(desk.records.size(), 1u);
  EXPECT_EQ(desk.records[0].rows.size(), 4u);
  EXPECT_EQ(desk.pool().replica().step(), 1u);
  EXPECT_EQ(desk.got<wire::Update>(link).size(), 1u);
}

TEST(Pool, SendsUpdatesOnlyToThoseWhoAskForWork) {
  PoolDesk desk(desk_job(4, 10), desk_space(), one_block());
  const LinkId idle = desk.join("idle", 0);
  const LinkId busy = desk.join("busy", 4);

  for (const auto& lease : desk.got<wire::Lease>(busy)) desk.say(busy, desk.answer(lease));

  EXPECT_EQ(desk.got<wire::Update>(busy).size(), 1u);
  EXPECT_TRUE(desk.got<wire::Update>(idle).empty());
  EXPECT_TRUE(desk.got<wire::Snapshot>(idle).empty());
}

TEST(Pool, BringsALateJoinerUpFromTheRing) {
  PoolDesk desk(desk_job(1, 10), desk_space(), one_block());
  const LinkId first = desk.join("first", 1);
  for (int step = 0; step < 3; ++step) {
    const auto lease = desk.got<wire::Lease>(first).back();
    desk.say(first, desk.answer(lease, step < 2 ? 1 : 0));
  }
  ASSERT_EQ(desk.records.size(), 3u);

  const LinkId second = desk.join("second", 1);

  EXPECT_EQ(desk.got<wire::Update>(second).size(), 3u);
  EXPECT_EQ(desk.got<wire::Lease>(second).size(), 1u);
}

TEST(Pool, BringsALateJoinerUpBySnapshotWhereTheRingForgot) {
  PoolOptions options = one_block();
  options.ring_bytes_max = 1;
  PoolDesk desk(desk_job(1, 10), desk_space(), options);
  const LinkId first = desk.join("first", 1);
  for (int step = 0; step < 3; ++step) {
    desk.say(first, desk.answer(desk.got<wire::Lease>(first).back(), step < 2 ? 1 : 0));
  }

  const LinkId second = desk.join("second", 1);

  ASSERT_EQ(desk.got<wire::Snapshot>(second).size(), 1u);
  EXPECT_EQ(desk.got<wire::Snapshot>(second)[0].step, 3u);
  EXPECT_EQ(desk.got<wire::Snapshot>(second)[0].state_hash, desk.pool().replica().state_hash());
}

TEST(Pool, RequeuesAtOnceWhenALinkCloses) {
  PoolDesk desk(desk_job(2), desk_space(), one_block());
  const LinkId dead = desk.join("dead", 2);
  ASSERT_EQ(desk.got<wire::Lease>(dead).size(), 2u);
  const LinkId alive = desk.join("alive", 2);
  EXPECT_TRUE(desk.got<wire::Lease>(alive).empty());

  desk.close(dead);

  EXPECT_EQ(desk.got<wire::Lease>(alive).size(), 2u);
  EXPECT_EQ(desk.pool().summary().leases_reissued, 2u);
}

TEST(Pool, TakesLeasesBackFromANodeThatLeaves) {
  PoolDesk desk(desk_job(2), desk_space(), one_block());
  const LinkId leaver = desk.join("leaver", 2);

  desk.say(leaver, wire::Leave{"done for today"});

  EXPECT_EQ(desk.got<wire::Bye>(leaver).size(), 1u);
  EXPECT_TRUE(desk.was_closed(leaver));
  EXPECT_EQ(desk.got<wire::Lease>(desk.join("next", 2)).size(), 2u);
}

TEST(Pool, CountsARepeatedResultAndChangesNothing) {
  PoolDesk desk(desk_job(2), desk_space(), one_block());
  const LinkId link = desk.join("n", 2);
  const auto lease = desk.got<wire::Lease>(link)[0];
  const auto result = desk.answer(lease, 0);

  desk.say(link, result);
  desk.say(link, result);

  EXPECT_EQ(desk.pool().summary().shares_late, 1u);
  EXPECT_EQ(desk.pool().summary().audits_equal, 1u);
  EXPECT_EQ(desk.pool().replica().step(), 0u);
}

TEST(Pool, CopiesAnOverdueLeaseAndTakesTheFirstResult) {
  PoolDesk desk(desk_job(2, 20), desk_space(), one_block());
  const LinkId slow = desk.join("slow", 1);
  const LinkId fast = desk.join("fast", 1);
  for (int step = 0; step < 9; ++step) {  // some history
    desk.now += 10ms;
    const auto slow_lease = desk.got<wire::Lease>(slow).back();
    const auto fast_lease = desk.got<wire::Lease>(fast).back();
    desk.say(slow, desk.answer(slow_lease));
    desk.say(fast, desk.answer(fast_lease));
  }
  const auto held = desk.got<wire::Lease>(slow).back();
  desk.now += 10ms;
  desk.say(fast, desk.answer(desk.got<wire::Lease>(fast).back()));
  desk.tick();
  EXPECT_EQ(desk.pool().summary().leases_hedged, 0u) << "too early";

  desk.now += 100ms;
  desk.tick();
  ASSERT_EQ(desk.pool().summary().leases_hedged, 1u);
  const auto copy = desk.got<wire::Lease>(fast).back();
  EXPECT_EQ(copy.first_block, held.first_block);
  const auto late = desk.answer(held);
  desk.say(fast, desk.answer(copy));
  EXPECT_EQ(desk.pool().replica().step(), 10u);
  desk.say(slow, late);

  EXPECT_EQ(desk.pool().summary().shares_late, 1u);
  EXPECT_EQ(desk.pool().summary().audits_equal, 1u);
}

struct WrongResult {
  const char* name;
  void (*spoil)(wire::LeaseResult&);

  friend void PrintTo(const WrongResult& wrong, std::ostream* out) { *out << wrong.name; }
};

class PoolRefuses : public testing::TestWithParam<WrongResult> {};

TEST_P(PoolRefuses, AndFreesTheLease) {
  PoolDesk desk(desk_job(2), desk_space(), one_block());
  const LinkId link = desk.join("liar", 2);
  auto result = desk.answer(desk.got<wire::Lease>(link)[0]);
  GetParam().spoil(result);

  desk.say(link, result);

  EXPECT_EQ(desk.pool().summary().shares_rejected, 1u);
  EXPECT_TRUE(desk.records.empty());
  EXPECT_TRUE(desk.noted("result refused"));
}

INSTANTIATE_TEST_SUITE_P(
    WrongResults, PoolRefuses,
    testing::Values(WrongResult{"step", [](wire::LeaseResult& r) { r.step = 7; }},
                    WrongResult{"block", [](wire::LeaseResult& r) { r.first_block = 1; }},
                    WrongResult{"count", [](wire::LeaseResult& r) { r.rows.emplace_back(); }},
                    WrongResult{"chain", [](wire::LeaseResult& r) { r.base_chain ^= 1; }},
                    WrongResult{"lease", [](wire::LeaseResult& r) { r.lease.value = 999; }}),
    [](const auto& wrong) { return wrong.param.name; });

TEST(Pool, ClosesALinkThatIsWrongAgainAndAgain) {
  PoolDesk desk(desk_job(8), desk_space(), one_block());
  const LinkId link = desk.join("liar", 8);

  for (const auto& lease : desk.got<wire::Lease>(link)) {
    auto result = desk.answer(lease);
    result.base_chain ^= 1;
    if (!desk.was_closed(link)) desk.say(link, result);
  }

  ASSERT_TRUE(desk.was_closed(link));
  EXPECT_EQ(desk.close_code(link), Errc::kBadResult);
}

TEST(Pool, AsksAnotherNodeAboutANaN) {
  PoolDesk desk(desk_job(1, 2), desk_space(), one_block());
  const LinkId liar = desk.join("liar", 1);
  auto bad = desk.answer(desk.got<wire::Lease>(liar)[0]);
  wire::floats_of(bad.sum).values[3] = std::numeric_limits<float>::quiet_NaN();
  const LinkId honest = desk.join("honest", 1);

  desk.say(liar, bad);

  ASSERT_EQ(desk.got<wire::Lease>(honest).size(), 1u) << "the other node computes it again";
  desk.say(honest, desk.answer(desk.got<wire::Lease>(honest)[0]));
  EXPECT_EQ(desk.pool().replica().step(), 1u);
  EXPECT_FALSE(desk.finished);
}

TEST(Pool, EndsWithDivergenceWhenANaNIsConfirmed) {
  PoolDesk desk(desk_job(2, 2), desk_space(), one_block());
  const LinkId link = desk.join("n", 2);
  auto bad = desk.answer(desk.got<wire::Lease>(link)[1]);
  bad.loss_sum = std::nan("");
  desk.say(link, bad);
  ASSERT_FALSE(desk.finished);

  bad.lease = desk.got<wire::Lease>(link).back().lease;
  desk.say(link, bad);

  ASSERT_TRUE(desk.finished);
  ASSERT_TRUE(desk.error);
  EXPECT_EQ(desk.error->code, Errc::kDiverged);
  EXPECT_NE(desk.error->detail.find("step 0 unit 1"), std::string::npos) << desk.error->detail;
  EXPECT_EQ(desk.got<wire::Bye>(link).size(), 1u);
}

TEST(Pool, EndsWithDivergenceWhenTwoNodesSeeItInWideLeases) {
  PoolDesk desk(desk_job(8, 2), desk_space());
  const std::vector<LinkId> nodes = {desk.join("a", 2), desk.join("b", 2)};
  std::map<std::uint64_t, bool> answered;

  for (int round = 0; round < 50 && !desk.finished; ++round) {
    for (const LinkId node : nodes) {
      for (const auto& lease : desk.got<wire::Lease>(node)) {
        if (desk.finished || std::exchange(answered[lease.lease.value], true)) continue;
        auto result = desk.answer(lease);
        wire::floats_of(result.sum).values[0] = std::numeric_limits<float>::infinity();
        desk.say(node, result);
      }
    }
  }

  ASSERT_TRUE(desk.finished) << "it must not wait for ever";
  EXPECT_EQ(desk.error->code, Errc::kDiverged);
}

TEST(Pool, EndsWithDivergenceWhenFiniteGradientsAddUpToMore) {
  PoolDesk desk(desk_job(2, 2), desk_space(), one_block());
  const LinkId link = desk.join("n", 2);
  for (const auto& lease : desk.got<wire::Lease>(link)) {
    auto result = desk.answer(lease);
    wire::floats_of(result.sum).values[0] = 3e38f;
    desk.say(link, result);
  }

  ASSERT_TRUE(desk.finished);
  EXPECT_EQ(desk.error->code, Errc::kDiverged);
  EXPECT_TRUE(desk.records.empty()) << "nothing of it is committed";
}

TEST(Pool, CopiesALeaseAgainWhenTheCopyIsLostToo) {
  PoolDesk desk(desk_job(1, 20), desk_space(), one_block());
  const LinkId stuck = desk.join("stuck", 1);
  for (int step = 0; step < 9; ++step) {
    desk.now += 10ms;
    desk.say(stuck, desk.answer(desk.got<wire::Lease>(stuck).back()));
  }
  const LinkId second = desk.join("second", 1);
  desk.now += 100ms;
  desk.tick();
  ASSERT_EQ(desk.got<wire::Lease>(second).size(), 1u);

  desk.close(second);
  const LinkId third = desk.join("third", 1);
  desk.now += 100ms;
  desk.tick();

  EXPECT_EQ(desk.got<wire::Lease>(third).size(), 1u);
}

TEST(Pool, LetsGoOfAClassThatNeverGaveAnything) {
  Job job = desk_job();
  job.train.exact = Exact::kBits;
  PoolDesk desk(job, desk_space(), one_block());
  const LinkId passing = desk.join("passing", 1, "odd");
  desk.close(passing);

  const LinkId stays = desk.join("stays", 1, "avx2");

  EXPECT_FALSE(desk.was_closed(stays));
  EXPECT_EQ(desk.got<wire::Lease>(stays).size(), 1u);
}

TEST(Pool, DoesNotCountTheTimeBeforeTheFirstLease) {
  PoolDesk desk(desk_job(1, 20), desk_space(), one_block());
  desk.now = 5h;  // a clock that started with the machine
  desk.close(desk.join("passing by", 0));
  const LinkId worker = desk.join("worker", 1);
  desk.now += 3s;
  desk.say(worker, desk.answer(desk.got<wire::Lease>(worker)[0]));

  EXPECT_DOUBLE_EQ(desk.pool().summary().seconds, 3.0);
}

TEST(Pool, DoesNotCountTheTimeWhenNobodyWorks) {
  PoolDesk desk(desk_job(1, 20), desk_space(), one_block());
  const LinkId first = desk.join("first", 1);
  desk.now += 2s;
  desk.close(first);
  desk.now += 1h;
  const LinkId second = desk.join("second", 1);
  desk.now += 3s;
  desk.say(second, desk.answer(desk.got<wire::Lease>(second)[0]));

  EXPECT_DOUBLE_EQ(desk.pool().summary().seconds, 5.0);
}

TEST(Pool, AcceptsAStrangeResultOnceASecondComputationAgrees) {
  PoolDesk desk(desk_job(1, 20), desk_space(), one_block());
  const LinkId link = desk.join("n", 1);
  for (int step = 0; step < 10; ++step) {
    desk.say(link, desk.answer(desk.got<wire::Lease>(link).back()));
  }
  auto huge = desk.answer(desk.got<wire::Lease>(link).back());
  for (float& value : wire::floats_of(huge.sum).values) value = 1e9f;

  desk.say(link, huge);
  EXPECT_EQ(desk.pool().replica().step(), 10u);
  huge.lease = desk.got<wire::Lease>(link).back().lease;
  desk.say(link, huge);

  EXPECT_EQ(desk.pool().replica().step(), 11u);
}

TEST(Pool, SendsASnapshotToANodeWhoseReplicaDiffers) {
  PoolDesk desk(desk_job(2), desk_space(), one_block());
  const LinkId link = desk.join("n", 2);
  desk.forget();

  desk.say(link, wire::Resync{0, 12345, "lost"});
  desk.say(link, wire::Want{2});

  EXPECT_EQ(desk.got<wire::Snapshot>(link).size(), 1u);
  EXPECT_EQ(desk.got<wire::Lease>(link).size(), 2u);
  EXPECT_EQ(desk.pool().summary().resyncs, 1u);
}

TEST(Pool, RefusesANodeWithAnotherJob) {
  PoolDesk desk(desk_job(), desk_space());
  const LinkId link = desk.open();
  wire::Hello hello;
  hello.job_id = sha256("another");

  desk.say(link, hello);

  ASSERT_EQ(desk.got<wire::Refused>(link).size(), 1u);
  EXPECT_EQ(desk.close_code(link), Errc::kOtherJob);
}

TEST(Pool, RefusesAnotherClassWhereBitsAreDemanded) {
  Job job = desk_job();
  job.train.exact = Exact::kBits;
  PoolDesk desk(job, desk_space());
  desk.join("first", 1, "avx2");

  const LinkId other = desk.join("other", 1, "avx512");

  EXPECT_EQ(desk.close_code(other), Errc::kOtherClass);
}

TEST(Pool, SaysThatARunWithTwoClassesIsNotReproducible) {
  PoolDesk desk(desk_job(2, 1), desk_space(), one_block());
  const LinkId a = desk.join("a", 1, "avx2");
  const LinkId b = desk.join("b", 1, "avx512");

  desk.say(a, desk.answer(desk.got<wire::Lease>(a)[0]));
  desk.say(b, desk.answer(desk.got<wire::Lease>(b)[0]));

  EXPECT_EQ(desk.pool().summary().numerics_classes, 2u);
  EXPECT_FALSE(desk.pool().summary().reproducible);
}

TEST(Pool, ClosesAStrangerWhoNeverSaysHello) {
  PoolDesk desk(desk_job(), desk_space());
  const LinkId link = desk.open();

  desk.now += 4s;
  desk.tick();
  EXPECT_FALSE(desk.was_closed(link));
  desk.now += 2s;
  desk.pool().heard(link, desk.now);  // a byte a second does not help a stranger
  desk.tick();

  EXPECT_TRUE(desk.was_closed(link));
}

TEST(Pool, ClosesASilentNodeAndFreesItsLeases) {
  PoolDesk desk(desk_job(2), desk_space(), one_block());
  const LinkId link = desk.join("frozen", 2);
  for (int i = 0; i < 7; ++i) {
    desk.now += 1s;
    desk.tick();
  }

  EXPECT_TRUE(desk.was_closed(link));
  EXPECT_EQ(desk.pool().summary().leases_reissued, 2u);
}

TEST(Pool, DoesNotTakeEveryoneForDeadAfterItsOwnSleep) {
  PoolDesk desk(desk_job(2), desk_space(), one_block());
  const LinkId link = desk.join("n", 2);
  desk.tick();

  desk.now += 60s;
  desk.tick();

  EXPECT_FALSE(desk.was_closed(link));
}

TEST(Pool, RefusesWhatComesBeforeAHello) {
  PoolDesk desk(desk_job(), desk_space());
  const LinkId link = desk.open();

  desk.say(link, wire::Want{1});

  EXPECT_EQ(desk.close_code(link), Errc::kUnexpectedMessage);
}

TEST(Pool, SaysThatItWaitsForNodes) {
  PoolDesk desk(desk_job(), desk_space());

  desk.tick();

  EXPECT_TRUE(desk.noted("waiting for nodes"));
  EXPECT_EQ(desk.pool().progress(desk.now).state, "waiting for nodes");
}

TEST(Pool, EvaluatesAtTheEndAndEveryUnitOnce) {
  SampleSpace space = desk_space();
  space.eval_count = 1000;  // four units of 250
  PoolDesk desk(desk_job(1, 1), space, one_block());
  const LinkId link = desk.join("n", 1);

  desk.say(link, desk.answer(desk.got<wire::Lease>(link)[0]));
  for (int unit = 0; unit < 4; ++unit) {
    const auto lease = desk.got<wire::EvalLease>(link).back();
    wire::EvalResult result{lease.lease, lease.base, lease.base_chain, lease.first_unit, 1, {}};
    result.rows.assign(lease.unit_count, wire::EvalRow{25.0, 200});
    desk.say(link, result);
  }

  ASSERT_TRUE(desk.finished);
  ASSERT_EQ(desk.evaluated.size(), 1u);
  EXPECT_DOUBLE_EQ(desk.evaluated[0].loss, 0.1);
  EXPECT_DOUBLE_EQ(*desk.evaluated[0].accuracy, 0.8);
}

TEST(Pool, StopsCleanlyInTheMiddleOfAStep) {
  PoolDesk desk(desk_job(2), desk_space(), one_block());
  const LinkId link = desk.join("n", 2);

  desk.stop();

  EXPECT_TRUE(desk.finished);
  EXPECT_FALSE(desk.error);
  EXPECT_EQ(desk.got<wire::Bye>(link).size(), 1u);
  EXPECT_EQ(desk.pool().summary().steps, 0u);
}

TEST(Pool, ReportsItsStatus) {
  PoolDesk desk(desk_job(2), desk_space(), one_block());
  desk.join("worker", 2);
  const LinkId observer = desk.open();
  wire::Hello hello;
  hello.role = wire::Role::kObserver;
  desk.say(observer, hello);

  desk.say(observer, wire::StatusRequest{});

  const auto reports = desk.got<wire::StatusReport>(observer);
  ASSERT_EQ(reports.size(), 1u);
  ASSERT_EQ(reports[0].nodes.size(), 1u);
  EXPECT_EQ(reports[0].nodes[0].name, "worker");
  EXPECT_EQ(reports[0].nodes[0].state, "working");
}

TEST(Pool, SendsBackWhatItIsAskedToSayAgain) {
  PoolDesk desk(desk_job(), desk_space());
  const LinkId node = desk.join("idle", 0);

  desk.say(node, wire::Echo{7, "as it came"});

  const auto echoes = desk.got<wire::Echo>(node);
  ASSERT_EQ(echoes.size(), 1u);
  EXPECT_EQ(echoes[0].number, 7u);
  EXPECT_EQ(echoes[0].filler, "as it came");
}

TEST(Pool, SaysNothingAgainForAStranger) {
  PoolDesk desk(desk_job(), desk_space());
  const LinkId stranger = desk.open();

  desk.say(stranger, wire::Echo{7, ""});

  EXPECT_TRUE(desk.got<wire::Echo>(stranger).empty());
  EXPECT_EQ(desk.close_code(stranger), Errc::kUnexpectedMessage);
}

TEST(PoolUpdates, GivesASnapshotToWhoeverMissedMoreThanItWeighs) {
  PoolDesk desk(desk_job(1, 100), desk_space(), one_block());
  const LinkId away = desk.join("away", 0);
  const LinkId works = desk.join("works", 1);
  const auto work = [&](int steps) {
    for (int i = 0; i < steps; ++i) {
      desk.say(works, desk.answer(desk.got<wire::Lease>(works).back(), i + 1 < steps ? 1 : 0));
    }
  };

  work(3);
  desk.say(away, wire::Want{1});
  EXPECT_EQ(desk.got<wire::Update>(away).size(), 3u);
  EXPECT_TRUE(desk.got<wire::Snapshot>(away).empty());
  desk.say(away, desk.answer(desk.got<wire::Lease>(away).back(), 0));
  desk.say(works, wire::Want{1});
  work(40);
  desk.say(away, wire::Want{1});

  ASSERT_EQ(desk.got<wire::Snapshot>(away).size(), 1u);
  EXPECT_EQ(desk.got<wire::Snapshot>(away)[0].step, desk.pool().replica().step());
  EXPECT_EQ(desk.got<wire::Update>(away).size(), 3u);
}

}  // namespace
}  // namespace wide::engine
