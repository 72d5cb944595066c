#include "wide/sim/sim_run.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wide/engine/lease_work.h"
#include "wide/engine/stub_computer.h"

namespace wide::sim {
namespace {

SampleSpace small_space() {
  SampleSpace space;
  space.train_count = 100;
  space.eval_count = 30;
  space.sample_shape = {6};
  space.class_count = 3;
  space.sha256 = sha256("small space");
  return space;
}

engine::Job small_job(std::uint32_t units, std::uint64_t steps) {
  engine::Job job;
  job.name = "sim";
  job.model.kind = engine::ModelKind::kMlp;
  job.model.layers = {6, 5, 3};
  job.model.batch_norm = true;
  job.train.batch = 13;
  job.train.units_per_step = units;
  job.train.steps = steps;
  job.train.clip_norm = 1.0;
  job.eval.batch = 7;
  return job;
}

SimOptions calm(std::uint64_t seed, std::uint32_t units = 7, std::uint64_t steps = 6) {
  SimOptions options;
  options.seed = seed;
  options.job = small_job(units, steps);
  options.space = small_space();
  return options;
}

// One node, no faults: what everybody else must equal.
engine::Summary reference(const SimOptions& options) {
  SimOptions alone = options;
  alone.seed = 0;
  alone.nodes = 1;
  alone.slots = 1;
  alone.lease_blocks = 1;
  alone.kill_chance = alone.stall_chance = alone.corrupt_chance = alone.cut_chance = 0;
  return simulate(alone).summary;
}

TEST(Simulate, FinishesACalmRun) {
  const SimOutcome outcome = simulate(calm(1));

  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.violations, std::vector<std::string>{});
  EXPECT_EQ(outcome.summary.steps, 6u);
  EXPECT_EQ(outcome.summary.units, 42u);
  EXPECT_EQ(outcome.summary.shares_rejected, 0u);
  EXPECT_TRUE(outcome.summary.accuracy.has_value());
}

TEST(Simulate, RepeatsItselfForOneSeed) {
  SimOptions options = calm(7);
  options.kill_chance = 0.05;
  options.cut_chance = 0.01;

  EXPECT_EQ(simulate(options).trace_hash, simulate(options).trace_hash);
  SimOptions other = options;
  other.seed = 8;
  EXPECT_NE(simulate(options).trace_hash, simulate(other).trace_hash);
}

TEST(Simulate, CopiesAStalledLeaseAndCountsTheLateResult) {
  SimOptions options = calm(3, 8, 40);
  options.stall_chance = 0.03;

  const SimOutcome outcome = simulate(options);

  EXPECT_TRUE(outcome.finished);
  EXPECT_GT(outcome.summary.leases_hedged, 0u);
  EXPECT_GT(outcome.summary.shares_late, 0u);
  EXPECT_EQ(outcome.summary.audits_different, 0u);
  EXPECT_EQ(outcome.summary.weights_sha256, reference(options).weights_sha256);
}

TEST(Simulate, ReplacesAReplicaThatLostItsWay) {
  SimOptions options = calm(5, 8, 20);
  options.corrupt_chance = 0.05;

  const SimOutcome outcome = simulate(options);

  EXPECT_TRUE(outcome.finished);
  EXPECT_GT(outcome.summary.resyncs, 0u);
  EXPECT_EQ(outcome.summary.weights_sha256, reference(options).weights_sha256);
}

// The heart of it: whoever takes part, dies, is slow or loses its way, the bits are the same.
RC_GTEST_PROP(SimulateProperty, EndsWithTheSameBitsWhateverHappens, ()) {
  SimOptions options = calm(*rc::gen::arbitrary<std::uint64_t>());
  options.job = small_job(*rc::gen::inRange(1u, 20u), *rc::gen::inRange(1u, 6u));
  options.job.train.block_units = *rc::gen::inRange(1u, options.job.train.units_per_step + 1);
  options.nodes = *rc::gen::inRange(1u, 8u);
  options.slots = static_cast<std::uint16_t>(*rc::gen::inRange(1, 5));
  options.lease_blocks = *rc::gen::element(0u, 1u, 2u, 4u);
  options.kill_chance = *rc::gen::element(0.0, 0.02, 0.1);
  options.stall_chance = *rc::gen::element(0.0, 0.02);
  options.corrupt_chance = *rc::gen::element(0.0, 0.02);
  options.cut_chance = *rc::gen::element(0.0, 0.005, 0.02);

  const SimOutcome outcome = simulate(options);
  const engine::Summary expected = reference(options);

  RC_ASSERT(outcome.finished);
  RC_ASSERT(outcome.violations == std::vector<std::string>{});
  RC_ASSERT(outcome.summary.audits_different == 0u);
  RC_ASSERT(outcome.summary.weights_sha256 == expected.weights_sha256);
  RC_ASSERT(outcome.summary.state_hash == expected.state_hash);
  RC_ASSERT(outcome.summary.loss_mean == expected.loss_mean);
  RC_ASSERT(outcome.summary.accuracy == expected.accuracy);
}

// The pool against a loop that knows nothing of leases, boards or trees.
TEST(Simulate, EqualsAPlainLoopOverTheUnits) {
  const SimOptions options = calm(11, 5, 4);
  const auto genesis = engine::make_genesis(options.job, options.space);
  const auto& layout = genesis.layout;
  engine::StubFactory factory(options.job, layout);
  const auto computer = factory.make_computer();
  BufferPool buffers;
  engine::Replica replica(options.job, genesis, 1);

  for (Step step = 0; step < 4; ++step) {
    std::vector<std::vector<float>> unit(5, std::vector<float>(layout.value_count()));
    for (Unit u = 0; u < 5; ++u) computer->gradient(replica.weights(), step, u, unit[u]);
    wire::Update update;
    update.step = step;
    update.values = take_floats(buffers, layout.value_count());
    for (std::size_t i = 0; i < layout.value_count(); ++i) {
      const float left = (unit[0][i] + unit[1][i]) + (unit[2][i] + unit[3][i]);
      const bool parameter = i < layout.parameter_count;
      update.values.values[i] = (left + unit[4][i]) / (parameter ? 5.0f * 13.0f : 5.0f);
    }
    update.scalars = engine::step_scalars(options.job.train, step, 4,
                                          update.values.values.first(layout.parameter_count));
    update.chain_after = engine::chain_next(replica.chain(), step, update.scalars, update.values);
    ASSERT_TRUE(replica.apply(update));
  }

  EXPECT_EQ(simulate(options).summary.weights_sha256, replica.weights_sha256());
}

}  // namespace
}  // namespace wide::sim
