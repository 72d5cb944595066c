#include "wide/history/recovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wide/history/kept_run.h"

namespace wide::history {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

TEST(Recover, StandsBehindTheLastRecordOfTheLog) {
  store::MemoryDisk disk;
  KeptRun run(disk);
  run.begin();
  run.steps(5);

  KeptRun again(disk);
  const auto recovered = again.resume();

  ASSERT_TRUE(recovered) << describe(recovered.error());
  EXPECT_EQ(recovered->recalled_steps, 5u);
  EXPECT_FALSE(recovered->checkpoint);
  EXPECT_EQ(again.state_hash(), run.state_hash());
}

TEST(Recover, StartsFromTheNewestCheckpoint) {
  store::MemoryDisk disk;
  KeptRun run(disk);
  run.begin();
  run.steps(4);
  run.chores();
  run.steps(2);

  KeptRun again(disk);
  const auto recovered = again.resume();

  ASSERT_TRUE(recovered) << describe(recovered.error());
  EXPECT_EQ(recovered->checkpoint->step, 4u);
  EXPECT_EQ(recovered->recalled_steps, 2u);
  EXPECT_EQ(again.state_hash(), run.state_hash());
  EXPECT_EQ(again.pool().summary().loss_mean, run.pool().summary().loss_mean);
}

struct Plan {
  engine::LossyPlan codec = engine::LossyPlan::kNone;
  std::uint32_t delay = 0;
};

class RecoverPlanned : public testing::TestWithParam<Plan> {
 protected:
  static engine::Job job() {
    engine::Job job = kept_job();
    const auto codec = GetParam().codec;
    job.codec.update = codec;
    // A memory would tie a gradient to who computed it.
    const bool remembers = codec == engine::LossyPlan::kPowersgd;
    job.codec.gradient = remembers ? engine::LossyPlan::kNone : codec;
    job.delay = GetParam().delay;
    return job;
  }
};

// The whole of it: killed after every step, with and without a checkpoint, and once more at once.
TEST_P(RecoverPlanned, EndsWithTheSameHashHoweverOftenItIsKilled) {
  store::MemoryDisk calm_disk;
  KeptRun calm(calm_disk, kept_options(), job());
  calm.begin();
  while (calm.step()) continue;

  store::MemoryDisk disk;
  auto run = std::make_unique<KeptRun>(disk, kept_options(), job());
  run->begin();
  for (int kill = 0; !run->pool().finished(); ++kill) {
    run->step();
    if (kill % 3 == 1) run->chores();
    run = std::make_unique<KeptRun>(disk, kept_options(), job());
    ASSERT_TRUE(run->resume());
    run = std::make_unique<KeptRun>(disk, kept_options(), job());
    ASSERT_TRUE(run->resume());
  }

  EXPECT_EQ(run->state_hash(), calm.state_hash());
  EXPECT_EQ(run->pool().summary().units, calm.pool().summary().units);
  EXPECT_EQ(run->pool().summary().loss_mean, calm.pool().summary().loss_mean);
}

using enum engine::LossyPlan;
INSTANTIATE_TEST_SUITE_P(Codecs, RecoverPlanned,
                         testing::Values(Plan{kNone}, Plan{kFp16}, Plan{kBf16}, Plan{kInt8},
                                         Plan{kInt4}, Plan{kTopk}, Plan{kSign}, Plan{kPowersgd}));
INSTANTIATE_TEST_SUITE_P(Delays, RecoverPlanned,
                         testing::Values(Plan{kNone, 1}, Plan{kNone, 2}, Plan{kNone, 3},
                                         Plan{kInt8, 1}, Plan{kPowersgd, 2}, Plan{kNone, 16}));

// A checkpoint of a delayed run stands as far back as the weights that are still needed.
TEST(Recover, TakesUpTheWeightsThatADelayedStepIsComputedOn) {
  engine::Job job = kept_job(30);
  job.delay = 2;
  store::MemoryDisk disk;
  KeptRun run(disk, kept_options(), job);
  run.begin();
  run.steps(6);
  run.chores();

  KeptRun again(disk, kept_options(), job);
  const auto recovered = again.resume();

  ASSERT_TRUE(recovered) << describe(recovered.error());
  EXPECT_EQ(recovered->checkpoint->step, 4u);
  EXPECT_EQ(recovered->recalled_steps, 2u);
  EXPECT_EQ(again.state_hash(), run.state_hash());
  EXPECT_TRUE(again.step());
}

// The records between a checkpoint's weights and the step that it was taken at are on the disk.
TEST(Recover, RefusesWhereRecordsThatACheckpointNeedsAreGone) {
  engine::Job job = kept_job(30);
  job.delay = 2;
  store::MemoryDisk disk;
  KeptRun run(disk, kept_options(engine::Exact::kBits), job);
  run.begin();
  run.steps(6);
  run.chores();
  const auto segments = value_or_throw(store::log_segments(disk));
  ASSERT_EQ(segments.size(), 2u) << "the second is empty";
  ASSERT_TRUE(disk.remove(store::segment_name(segments[1])));
  auto& log = disk.file(store::segment_name(segments[0]));
  log.resize(log.size() - 40);

  KeptRun again(disk, kept_options(engine::Exact::kBits), job);
  const auto recovered = again.resume();

  ASSERT_FALSE(recovered);
  EXPECT_EQ(recovered.error().code, Errc::kLogDamaged) << describe(recovered.error());
}

TEST(Recover, FallsBackAGenerationWhereOneIsDamaged) {
  store::MemoryDisk disk;
  KeptRun run(disk);
  run.begin();
  run.steps(2);
  run.chores();
  run.steps(2);
  run.chores();
  auto& manifest = disk.file("checkpoints/000000000004.manifest");
  manifest[manifest.size() / 2] ^= std::byte{1};

  KeptRun again(disk);
  const auto recovered = again.resume();

  ASSERT_TRUE(recovered) << describe(recovered.error());
  EXPECT_EQ(recovered->checkpoint->step, 2u);
  EXPECT_EQ(again.state_hash(), run.state_hash());
  ASSERT_THAT(recovered->warnings, SizeIs(1));
  EXPECT_THAT(recovered->warnings[0], HasSubstr("000000000004.manifest"));
}

TEST(Recover, MakesGenesisWhereNoCheckpointIsWhole) {
  store::MemoryDisk disk;
  KeptRun run(disk);
  run.begin();
  run.steps(3);
  run.chores();
  disk.file("checkpoints/000000000003.manifest")[5] ^= std::byte{1};
  engine::Genesis named{.layout = run.pool().layout(), .named = run.identity().genesis_sha256};
  engine::Pool pool(kept_job(), kept_space(), named, engine::PoolOptions(), run.buffers());
  EXPECT_FALSE(recover(disk, pool, run.buffers())) << "nothing to stand on";

  int made = 0;
  const auto recovered = recover(disk, pool, run.buffers(), [&] {
    ++made;
    return engine::make_genesis(kept_job(), kept_space());
  });

  ASSERT_TRUE(recovered) << describe(recovered.error());
  EXPECT_EQ(made, 1);
  EXPECT_EQ(pool.replica().state_hash(), run.state_hash());
}

TEST(Recover, RefusesALogThatEndsBeforeItsCheckpoint) {
  store::MemoryDisk disk;
  KeptRun run(disk, [] {
    auto options = kept_options();
    options.segment_bytes = 1u << 30;
    return options;
  }());
  run.begin();
  run.steps(3);
  run.chores();
  disk.file(store::segment_name(0)).resize(300);

  KeptRun again(disk);
  const auto recovered = again.resume();

  ASSERT_FALSE(recovered);
  EXPECT_EQ(recovered.error().code, Errc::kLogDamaged);
  EXPECT_THAT(recovered.error().detail, HasSubstr("000000000000.log"));
}

TEST(Recover, RefusesAnotherJob) {
  store::MemoryDisk disk;
  KeptRun run(disk);
  run.begin();
  run.steps(3);

  KeptRun other(disk, kept_options(), kept_job(99));
  const auto recovered = other.resume();

  ASSERT_FALSE(recovered);
  EXPECT_EQ(recovered.error().code, Errc::kOtherJob);
}

TEST(Recover, CutsATornTailAndSaysSo) {
  store::MemoryDisk disk;
  KeptRun run(disk);
  run.begin();
  run.steps(3);
  auto& log = disk.file(store::segment_name(0));
  log.resize(run.keeper().log().position().offset_bytes - 7);

  KeptRun again(disk);
  const auto recovered = again.resume();

  ASSERT_TRUE(recovered) << describe(recovered.error());
  EXPECT_EQ(again.pool().replica().step(), 2u);
  ASSERT_THAT(recovered->warnings, SizeIs(1));
  again.step();
  EXPECT_EQ(again.state_hash(), run.state_hash()) << "computed again, to the same bits";
}

TEST(Recover, BeginsAnewWhereNotEvenGenesisWasWhole) {
  store::MemoryDisk disk;
  KeptRun run(disk);
  run.begin();
  disk.file(store::segment_name(0)).resize(150);

  KeptRun again(disk);
  ASSERT_TRUE(again.resume());
  again.steps(2);

  KeptRun third(disk);
  ASSERT_TRUE(third.resume());
  EXPECT_EQ(third.state_hash(), again.state_hash());
}

}  // namespace
}  // namespace wide::history
