#include "wide/engine/stub_computer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "wide/engine/lease_work.h"

namespace wide::engine {
namespace {

Job stub_job() {
  Job job;
  job.model.kind = ModelKind::kMlp;
  job.model.layers = {10, 6, 10};
  job.model.batch_norm = true;
  return job;
}
SampleSpace rows() { return {1000, 1000, {10}, 10, {}}; }

TEST(StubComputer, IsPureInWeightsStepAndUnit) {
  const auto job = stub_job();
  const auto genesis = make_genesis(job, rows());
  const auto& layout = genesis.layout;
  const Replica replica(job, genesis, 1);
  StubFactory factory(job, layout);
  const auto one = factory.make_computer();
  const auto other = factory.make_computer();
  std::vector<float> a(layout.value_count()), b(a), c(a), d(a);

  const auto loss_a = one->gradient(replica.weights(), 3, 4, a);
  one->gradient(replica.weights(), 3, 5, c);
  one->gradient(replica.weights(), 2, 4, d);
  const auto loss_b = other->gradient(replica.weights(), 3, 4, b);

  EXPECT_EQ(a, b);
  EXPECT_EQ(loss_a, loss_b);
  EXPECT_NE(a, c);
  EXPECT_NE(a, d);
}

TEST(StubComputer, NoticesAWrongWeight) {
  const auto job = stub_job();
  const auto genesis = make_genesis(job, rows());
  const auto& layout = genesis.layout;
  const Replica replica(job, genesis, 1);
  const auto computer = StubFactory(job, layout).make_computer();
  BufferPool buffers;
  auto changed = std::make_shared<WeightsVersion>(*replica.weights());
  changed->values = take_floats(buffers, layout.value_count());
  std::ranges::copy(replica.weights()->values.values, changed->values.values.begin());
  changed->values.values[50] += 1;
  std::vector<float> right(layout.value_count()), wrong(layout.value_count());

  computer->gradient(replica.weights(), 0, 0, right);
  computer->gradient(changed, 0, 0, wrong);

  EXPECT_NE(right[50], wrong[50]);
}

TEST(StubComputer, StaysFiniteForThousandsOfSteps) {
  auto job = stub_job();
  job.train.optimizer = OptimizerKind::kSgd;
  job.train.momentum = 0.9;
  job.train.lr = 0.1;
  job.train.units_per_step = 2;
  const auto genesis = make_genesis(job, rows());
  const auto& layout = genesis.layout;
  Replica replica(job, genesis, 1);
  const auto computer = StubFactory(job, layout).make_computer();
  BufferPool buffers;

  for (Step step = 0; step < 3000; ++step) {
    const wire::Lease lease{LeaseId{1}, step, step, replica.chain(), 0, 2};
    auto outcome = compute_lease(*computer, job, layout, replica.weights(), lease, buffers);
    ASSERT_TRUE(std::isfinite(outcome.value.loss_sum));
    StepUpdate update{step, 0, {}, std::move(outcome.value.sum)};
    divide_root(job, layout.parameter_count, update.values.values);
    update.scalars =
        step_scalars(job.train, step, 3000, update.values.values.first(layout.parameter_count));
    update.chain_after = chain_next(replica.chain(), step, update.scalars, update.values);
    ASSERT_TRUE(replica.apply(update));
  }

  for (const float value : replica.weights()->values.values) {
    ASSERT_TRUE(std::isfinite(value));
    ASSERT_LT(std::abs(value), 1e4f);
  }
}

TEST(StubComputer, MakesUpGradientsOfManyMagnitudes) {
  const auto job = stub_job();
  const auto layout = make_layout(job.model, rows());
  auto zeros = std::make_shared<WeightsVersion>();
  BufferPool buffers;
  zeros->values = take_floats(buffers, layout.value_count());
  std::ranges::fill(zeros->values.values, 0.0f);
  std::vector<float> out(layout.value_count());

  StubFactory(job, layout).make_computer()->gradient(zeros, 0, 0, out);

  float smallest = INFINITY, largest = 0;
  for (std::uint64_t i = 0; i < layout.parameter_count; ++i) {
    smallest = std::min(smallest, std::abs(out[i]));
    largest = std::max(largest, std::abs(out[i]));
  }
  EXPECT_GT(largest / smallest, 1e5f);
}

}  // namespace
}  // namespace wide::engine
