#include "wide/sim/sim_plan.h"

#include <algorithm>

namespace wide::sim {

namespace {

using namespace std::chrono_literals;

Duration span_of(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

void draw_optimizer(engine::Train& train, Dice& dice) {
  train.optimizer = dice.pick(
      {engine::OptimizerKind::kSgd, engine::OptimizerKind::kAdam, engine::OptimizerKind::kAdamW});
  train.weight_decay = train.optimizer == engine::OptimizerKind::kAdamW ? 0.01 : 0;
  if (train.optimizer == engine::OptimizerKind::kSgd) train.momentum = dice.pick({0.0, 0.9});
  train.clip_norm = dice.pick({0.0, 1.0});
  train.schedule = dice.pick({engine::Schedule::kConstant, engine::Schedule::kCosine});
}

void draw_job(SimPlan& plan, Dice& dice) {
  std::uint64_t steps = dice.within(2, 8);
  std::uint32_t units = static_cast<std::uint32_t>(dice.within(1, 12));
  if (dice.chance(0.35)) {  // long enough for syncs that trail, and for segments that are pruned
    steps = dice.within(17, 50);
    units = static_cast<std::uint32_t>(dice.within(1, 3));
  }
  plan.job = small_job(units, steps);
  plan.job.seed = dice.word() >> 16;
  engine::Train& train = plan.job.train;
  train.block_units = static_cast<std::uint32_t>(dice.within(1, units));
  draw_optimizer(train, dice);
  train.exact = dice.pick({engine::Exact::kLedger, engine::Exact::kBits});
  if (dice.chance(0.1)) {  // ends by the clock
    train.steps = 0;
    train.schedule = engine::Schedule::kConstant;
    train.seconds = 0.2 + 2 * dice.uniform();
  }
  plan.job.model.batch_norm = dice.chance(0.5);
  plan.job.eval.every = dice.below(4);
  plan.space = small_space(dice.pick<std::uint64_t>({0, 30}));
  const double work_seconds = 0.5 + 30 * dice.uniform() * dice.uniform();
  plan.block_span = span_of(work_seconds / static_cast<double>(steps * plan.job.blocks_per_step()));
}

void draw_world(SimPlan& plan, Dice& dice) {
  plan.nodes = static_cast<std::uint32_t>(dice.within(1, 6));
  plan.slots = static_cast<std::uint16_t>(dice.within(1, 3));
  plan.pool.lease_blocks = dice.pick<Block>({0, 0, 1, 2, 4});
  plan.pool.ring_bytes_max = dice.pick<std::size_t>({0, 700, 64u << 20});
  plan.distance.latency = dice.pick<Duration>({50us, 2ms, 40ms, 150ms});
  plan.distance.jitter = dice.pick<Duration>({20us, 1ms, 30ms});
  plan.distance.bytes_per_second = dice.pick({2e4, 1e6, 1e8});
  plan.net.window_bytes = dice.pick<std::size_t>({512, 4096, 64u << 10});
  plan.net.outbox_bytes_max = 32u << 10;
  plan.keeper.exact = plan.job.train.exact;
  plan.keeper.grown_bytes = dice.pick<std::uint64_t>({1, 1, 2000, 8000});
  plan.keeper.pause_least = dice.pick<Duration>({0ms, 200ms, 1s});
  plan.keeper.pause_most = dice.pick<Duration>({500ms, 5s});
  plan.keeper.segment_bytes = dice.pick<std::uint64_t>({600, 600, 2000, 16u << 20});
}

// Which faults there are: each kind or not, so that some seeds have one kind alone, and much of it.
void draw_faults(SimPlan& plan, Dice& dice) {
  plan.fault_gap = dice.pick<Duration>({100ms, 400ms, 1s, 3s});
  plan.faults_end = span_of(1 + 25 * dice.uniform());
  const double share = dice.pick({0.15, 0.4, 0.8});
  for (std::size_t kind = 0; kind < kFaultCount; ++kind) {
    if (dice.chance(share)) plan.mix[static_cast<Fault>(kind)] = 0.2 + dice.uniform();
  }
  const double rate = dice.pick({0.002, 0.01, 0.04});
  const auto disk = [&](Fault fault) { return plan.mix.has(fault) ? rate : 0; };
  plan.disk.append_chance = disk(Fault::kAppendError);
  plan.disk.read_chance = disk(Fault::kReadError);
  plan.disk.sync_chance = disk(Fault::kSyncError);
  plan.disk.name_chance = disk(Fault::kNameError);
  if (plan.mix.has(Fault::kStall)) plan.stall_chance = dice.pick({0.02, 0.1});
  if (plan.mix.has(Fault::kLostReplica)) plan.lost_replica_chance = dice.pick({0.02, 0.1});
  plan.lie_chance = dice.pick({0.0, 0.03, 0.2});
}

// Half of the runs code nothing; of the others each direction has its own codec, or none.
void draw_codecs(SimPlan& plan, Dice& dice) {
  using enum engine::LossyPlan;
  if (dice.chance(0.5)) return;
  plan.job.codec.gradient = dice.pick({kNone, kFp16, kBf16, kInt8, kInt4, kTopk, kSign});
  plan.job.codec.update = dice.pick({kNone, kFp16, kBf16, kInt8, kInt4, kTopk, kSign, kPowersgd});
}

// Most runs wait for each step; the others begin the next ones before it is committed.
void draw_delay(SimPlan& plan, Dice& dice) {
  if (dice.chance(0.4)) plan.job.delay = dice.pick<std::uint32_t>({1, 1, 2, 2, 3, 16});
}

// In the log: none, or for more records than most runs have.
void draw_room(SimPlan& plan, Dice& dice) {
  plan.keeper.room_bytes = dice.chance(0.5) ? 0 : 32u << 10;
}

// Nodes of one machine: one has whole steps, and goes on from one to the next.
void draw_kin(SimPlan& plan, Dice& dice) {
  if (!dice.chance(0.3)) return;
  plan.pool.nodes_help = true;
  plan.pool.lease_blocks = 0;
  plan.slots = 1;
}

}  // namespace

engine::Job small_job(std::uint32_t units, std::uint64_t steps) {
  engine::Job job;
  job.name = "sim";
  job.model.kind = engine::ModelKind::kMlp;
  job.model.layers = {4, 3, 3};
  job.samples.kind = engine::SampleKind::kSynthetic;
  job.samples.count = 100;
  job.samples.features = 4;
  job.samples.classes = 3;
  job.train.batch = 13;
  job.train.units_per_step = units;
  job.train.steps = steps;
  job.eval.batch = 7;
  return job;
}

SampleSpace small_space(std::uint64_t eval_count) {
  SampleSpace space;
  space.train_count = 100;
  space.eval_count = eval_count;
  space.sample_shape = {4};
  space.class_count = 3;
  space.sha256 = sha256("a small space");
  return space;
}

SimPlan draw_plan(std::uint64_t seed) {
  SimPlan plan;
  plan.seed = seed;
  Dice dice(seed * 0x9e3779b97f4a7c15u + 0x51e);
  draw_job(plan, dice);
  draw_world(plan, dice);
  draw_faults(plan, dice);
  draw_codecs(plan, dice);
  using codec::Lossless;  // planes makes nothing shorter that is as small as these messages
  plan.net.lossless =
      dice.pick({Lossless::kNone, Lossless::kLz4, Lossless::kZstd, Lossless::kZlib});
  draw_delay(plan, dice);
  draw_room(plan, dice);
  draw_kin(plan, dice);
  return plan;
}

SimPlan calm(SimPlan plan) {
  SimPlan still;
  still.seed = plan.seed;
  still.job = std::move(plan.job);
  still.space = std::move(plan.space);
  still.keeper.exact = still.job.train.exact;
  still.nodes = 1;
  return still;
}

}  // namespace wide::sim
