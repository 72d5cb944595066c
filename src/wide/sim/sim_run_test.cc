#include "wide/sim/sim_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wide/engine/lease_work.h"
#include "wide/engine/stub_computer.h"
#include "wide/sim/reference.h"
#include "wide/sim/tally.h"

namespace wide::sim {
namespace {

using namespace std::chrono_literals;

using Promises = std::vector<std::string>;

SimPlan calm_plan(std::uint64_t seed, std::uint32_t units = 7, std::uint64_t steps = 6) {
  SimPlan plan;
  plan.seed = seed;
  plan.job = small_job(units, steps);
  plan.job.model.batch_norm = true;
  plan.job.train.clip_norm = 1.0;
  plan.space = small_space(30);
  return plan;
}

// Faults without end: the run has to get through between them.
SimPlan with_faults(SimPlan plan) {
  plan.faults_end = std::chrono::hours(1);
  return plan;
}

TEST(Simulate, FinishesACalmRun) {
  const SimReport report = simulate(calm_plan(1));

  EXPECT_TRUE(report.finished);
  EXPECT_EQ(report.violations, Promises{});
  EXPECT_EQ(report.summary.steps, 6u);
  EXPECT_EQ(report.summary.units, 42u);
  EXPECT_EQ(report.summary.shares_rejected, 0u);
  EXPECT_TRUE(report.summary.accuracy.has_value());
  EXPECT_EQ(report.faults, FaultCounts{});
}

TEST(Simulate, RepeatsItselfForOneSeed) {
  SimPlan plan = with_faults(calm_plan(7));
  plan.mix[Fault::kNodeKill] = plan.mix[Fault::kReset] = 1;
  plan.fault_gap = 10ms;
  plan.faults_end = 1s;

  EXPECT_EQ(simulate(plan).trace_hash, simulate(plan).trace_hash);
  SimPlan other = plan;
  other.seed = 8;
  EXPECT_NE(simulate(plan).trace_hash, simulate(other).trace_hash);
}

TEST(Simulate, CodesChangeNothingButBytes) {
  const auto expected = simulate(calm_plan(1)).summary.weights_sha256;
  for (const auto codec : {codec::Lossless::kLz4, codec::Lossless::kZstd, codec::Lossless::kZlib}) {
    SimPlan plan = calm_plan(1);
    plan.net.lossless = codec;

    const SimReport report = simulate(plan);

    EXPECT_EQ(report.violations, Promises{});
    EXPECT_EQ(report.summary.weights_sha256, expected);
    EXPECT_GT(report.saved_bytes, 0u) << codec::lossless_name(codec);
  }
}

TEST(Simulate, CopiesAStalledLeaseAndCountsTheLateResult) {
  SimPlan plan = with_faults(calm_plan(3, 8, 40));
  plan.stall_chance = 0.03;

  const SimReport report = simulate(plan);

  EXPECT_TRUE(report.finished);
  EXPECT_EQ(report.violations, Promises{});
  EXPECT_GT(report.faults.of(Fault::kStall), 0u);
  EXPECT_GT(report.summary.leases_hedged, 0u);
  EXPECT_GT(report.summary.shares_late, 0u);
}

TEST(Simulate, ReplacesAReplicaThatLostItsWay) {
  SimPlan plan = with_faults(calm_plan(5, 8, 20));
  plan.lost_replica_chance = 0.05;

  const SimReport report = simulate(plan);

  EXPECT_TRUE(report.finished);
  EXPECT_EQ(report.violations, Promises{});
  EXPECT_GT(report.summary.resyncs, 0u);
}

TEST(Simulate, RefusesWhatCanBeSeenToBeWrong) {
  for (const Fault lie : {Fault::kWrongStep, Fault::kWrongBlock, Fault::kWrongCount,
                          Fault::kWrongChain, Fault::kUnknownLease}) {
    SimPlan plan = with_faults(calm_plan(9, 8, 20));
    plan.pool.lease_blocks = 2;
    plan.mix[lie] = 1;
    plan.lie_chance = 0.1;

    const SimReport report = simulate(plan);

    EXPECT_TRUE(report.finished) << fault_name(lie);
    EXPECT_EQ(report.violations, Promises{}) << fault_name(lie);
    EXPECT_GT(report.faults.of(lie), 0u) << fault_name(lie);
    EXPECT_GT(report.summary.shares_rejected, 0u) << fault_name(lie);
  }
}

// A pool that dies over and over, in every way there is, on a disk that forgets.
TEST(Simulate, OutlivesThePoolsDeaths) {
  for (const auto exact : {engine::Exact::kLedger, engine::Exact::kBits}) {
    SimPlan plan = with_faults(calm_plan(11, 3, 40));
    plan.job.train.exact = plan.keeper.exact = exact;
    plan.keeper.grown_bytes = 1;
    plan.keeper.pause_least = 0ms;
    plan.keeper.segment_bytes = 1000;
    plan.block_span = 100ms;
    plan.mix[Fault::kPoolKill] = plan.mix[Fault::kPoolPowerCut] = 1;
    plan.mix[Fault::kPoolCrashInDisk] = plan.mix[Fault::kPoolCrashInBoot] = 1;
    plan.fault_gap = 1s;

    const SimReport report = simulate(plan);

    EXPECT_TRUE(report.finished);
    EXPECT_EQ(report.violations, Promises{});
    EXPECT_GT(report.pool.power_cuts, 3u);
    EXPECT_GT(report.pool.crashes, report.pool.power_cuts);
    EXPECT_GT(report.pool.recoveries, 5u);
    EXPECT_TRUE(exact == engine::Exact::kBits || report.commits == report.steps)
        << report.commits << " commits of " << report.steps << " steps";
  }
}

// The heart of it: whoever takes part, dies, is slow or loses its way, the bits are the same.
RC_GTEST_PROP(SimulateProperty, EndsWithTheSameBitsWhateverHappens, ()) {
  SimPlan plan = calm_plan(*rc::gen::arbitrary<std::uint64_t>(), *rc::gen::inRange(1u, 20u),
                           *rc::gen::inRange(1u, 6u));
  plan.job.train.block_units = *rc::gen::inRange(1u, plan.job.train.units_per_step + 1);
  plan.nodes = *rc::gen::inRange(1u, 8u);
  plan.slots = static_cast<std::uint16_t>(*rc::gen::inRange(1, 5));
  plan.pool.lease_blocks = *rc::gen::element(0u, 1u, 2u, 4u);
  plan.mix[Fault::kNodeKill] = *rc::gen::element(0.0, 1.0);
  plan.mix[Fault::kReset] = *rc::gen::element(0.0, 1.0);
  plan.mix[Fault::kPoolKill] = *rc::gen::element(0.0, 0.2);
  plan.fault_gap = *rc::gen::element<Duration>(2ms, 20ms, 100ms);
  plan.faults_end = 500ms;
  plan.stall_chance = *rc::gen::element(0.0, 0.02);
  plan.lost_replica_chance = *rc::gen::element(0.0, 0.02);

  const SimReport report = simulate(plan);
  Reference reference(plan.job, plan.space);

  RC_ASSERT(report.violations == Promises{});
  RC_ASSERT(report.finished);
  RC_ASSERT(report.summary.audits_different == 0u);
  RC_ASSERT(report.summary.state_hash == reference.state_at(plan.job.train.steps));
}

// The pool, and the reference that all simulations are held against, against a loop that knows
// nothing of leases, boards or trees.
TEST(Simulate, EqualsAPlainLoopOverTheUnits) {
  const SimPlan plan = calm_plan(11, 5, 4);
  Reference reference(plan.job, plan.space);
  const auto& genesis = reference.genesis();
  const auto& layout = genesis.layout;
  const auto computer = reference.factory().make_computer();
  BufferPool buffers;
  engine::Replica replica(plan.job, genesis, 1);

  for (Step step = 0; step < 4; ++step) {
    std::vector<std::vector<float>> unit(5, std::vector<float>(layout.value_count()));
    for (Unit u = 0; u < 5; ++u) computer->gradient(replica.weights(), step, u, unit[u]);
    engine::StepUpdate update;
    update.step = step;
    update.values = take_floats(buffers, layout.value_count());
    for (std::size_t i = 0; i < layout.value_count(); ++i) {
      const float left = (unit[0][i] + unit[1][i]) + (unit[2][i] + unit[3][i]);
      const bool parameter = i < layout.parameter_count;
      update.values.values[i] = (left + unit[4][i]) / (parameter ? 5.0f * 13.0f : 5.0f);
    }
    update.scalars = engine::step_scalars(plan.job.train, step, 4,
                                          update.values.values.first(layout.parameter_count));
    update.chain_after = engine::chain_next(replica.chain(), step, update.scalars, update.values);
    ASSERT_TRUE(replica.apply(update));
  }

  EXPECT_EQ(simulate(plan).summary.weights_sha256, replica.weights_sha256());
  EXPECT_EQ(reference.step(3).weights_after, replica.weights_sha256());
}

TEST(DrawPlan, MakesJobsThatAreAllowed) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const SimPlan plan = draw_plan(seed);
    const auto valid = engine::validate(plan.job);
    EXPECT_TRUE(valid) << seed << ": " << (valid ? "" : describe(valid.error()));
  }
}

// Room in the ledger that was made in part, and could not be given back before the next segment.
TEST(Simulate, KeepsEveryPromiseOverSeedsThatOnceBrokeOne) {
  for (const std::uint64_t seed : {805067, 808666, 812802}) {
    EXPECT_EQ(simulate(draw_plan(seed)).violations, Promises{}) << repeat_line(seed);
  }
}

#ifdef WIDE_SANITIZED
constexpr std::uint64_t kSeedCount = 300;  // ten times as slow
#else
constexpr std::uint64_t kSeedCount = 2000;
#endif

// Each twice: the second run must be the first one again.
TEST(Simulate, KeepsEveryPromiseOverTwoThousandSeeds) {
  SimTally tally;
  for (std::uint64_t seed = 1; seed <= kSeedCount; ++seed) tally.add(run_seed(seed));

  for (const auto& report : tally.broken) {
    ADD_FAILURE() << report.violations.front() << "\n  " << repeat_line(report.seed) << " --story";
  }
  EXPECT_EQ(tally.runs, 2 * kSeedCount);
  EXPECT_GT(tally.saved_bytes, 0u) << "nothing was coded";
  for (std::size_t kind = 0; kind < kFaultCount; ++kind) {
    EXPECT_GT(tally.faults.of(static_cast<Fault>(kind)), 0u)
        << fault_name(static_cast<Fault>(kind)) << " never happened";
  }
  fmt::print("{} steps, {} faults, {} pool crashes ({} power cuts), {:.0f} s simulated\n",
             tally.steps, tally.faults.total(), tally.pool.crashes, tally.pool.power_cuts,
             2 * seconds(tally.simulated));
}

}  // namespace
}  // namespace wide::sim
