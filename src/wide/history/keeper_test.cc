#include "wide/history/keeper.h"

#include <gtest/gtest.h>

#include "wide/history/kept_run.h"
#include "wide/history/past_json.h"

namespace wide::history {
namespace {

using namespace std::chrono_literals;

std::size_t manifests(store::Disk& disk) { return store::list_checkpoints(disk)->size(); }

TEST(Keeper, SyncsEveryRecordOfALedgerRun) {
  store::MemoryDisk disk;
  KeptRun run(disk);
  run.begin();

  for (int i = 0; i < 5; ++i) {
    run.step();
    EXPECT_EQ(run.keeper().log().unsynced_count(), 0u);
  }
  EXPECT_EQ(run.keeper().sync_chore(), nullptr);
}

TEST(Keeper, LetsABitsRunTrailBySixteenSteps) {
  store::MemoryDisk disk;
  KeptRun run(disk, kept_options(engine::Exact::kBits), kept_job(100));
  run.begin();

  std::uint64_t most = 0;
  for (int i = 0; i < 40; ++i) {
    run.step();
    most = std::max(most, run.keeper().log().unsynced_count());
  }

  EXPECT_EQ(most, kUnsyncedMax - 1);
}

TEST(Keeper, HandsOutASyncBeforeItMustWaitForOne) {
  store::MemoryDisk disk;
  KeptRun run(disk, kept_options(engine::Exact::kBits), kept_job(100));
  run.begin();
  run.steps(12);

  auto chore = run.keeper().sync_chore();

  ASSERT_NE(chore, nullptr);
  EXPECT_EQ(run.keeper().sync_chore(), nullptr) << "one at a time";
  run.steps(2);
  const auto outcome = chore->step();
  run.keeper().ended(std::move(chore), outcome, run.now);
  EXPECT_EQ(run.keeper().log().unsynced_count(), 2u);
}

TEST(Keeper, BeginsASyncAsLateAsTheDiskAllows) {
  store::MemoryDisk disk;
  KeptRun run(disk, kept_options(engine::Exact::kBits), kept_job(200));
  run.begin();
  // The records that wait when a sync is begun, where so many more come before it is done.
  const auto waiting = [&](int come_meanwhile) {
    auto chore = run.keeper().sync_chore();
    for (; !chore; chore = run.keeper().sync_chore()) run.step();
    const auto count = run.keeper().log().unsynced_count();
    run.steps(come_meanwhile);
    const auto outcome = chore->step();
    run.keeper().ended(std::move(chore), outcome, run.now);
    return count;
  };

  EXPECT_EQ(waiting(0), 12u);
  EXPECT_EQ(waiting(0), 13u);
  EXPECT_EQ(waiting(0), 14u);
  EXPECT_EQ(waiting(0), 15u);
  EXPECT_EQ(waiting(0), 15u);
  EXPECT_EQ(waiting(3), 15u) << "and append() had to wait";
  EXPECT_EQ(waiting(3), 12u) << "now it has not";
  EXPECT_EQ(waiting(0), 12u);
  EXPECT_EQ(waiting(0), 13u);
}

TEST(Keeper, MakesRoomForSmallRecordsAndGivesItBack) {
  for (const std::uint64_t room_bytes : {0u, 8u << 10, 256u << 10}) {
    store::MemoryDisk disk;
    auto options = kept_options(engine::Exact::kBits);
    options.room_bytes = room_bytes;
    KeptRun run(disk, options, kept_job(100));
    run.begin();
    run.steps(20);
    const auto& file = disk.file(store::segment_name(0));
    const auto log_bytes = run.keeper().log().segment_bytes();

    const bool is_enough = room_bytes > 64 * log_bytes / 20;
    EXPECT_EQ(file.size() > log_bytes, is_enough) << room_bytes;
    EXPECT_EQ(run.keeper().log().room_bytes(), file.size() - log_bytes);
    ASSERT_TRUE(run.keeper().close());
    EXPECT_EQ(file.size(), log_bytes);
  }
}

TEST(Keeper, KeepsThreeGenerations) {
  store::MemoryDisk disk;
  KeptRun run(disk);
  run.begin();
  for (std::size_t generation = 1; generation <= 5; ++generation) {
    run.step();
    run.chores();
    EXPECT_EQ(manifests(disk), std::min<std::size_t>(generation, 3));
    EXPECT_EQ(run.keeper().newest_checkpoint(), generation);
  }
}

TEST(Keeper, PrunesUpdatesBeforeTheOldestGenerationAndKeepsTheRows) {
  store::MemoryDisk disk;
  KeptRun run(disk);
  run.begin();
  for (int i = 0; i < 6; ++i) {
    run.step();
    run.chores();
  }

  std::uint64_t kept = 0;
  std::uint64_t rows = 0;
  const auto end =
      store::read_log(disk, {.job_id = run.pool().id(), .from = {}, .synced_to = 0},
                      [&](const store::ReadRecord& read) -> Result<void> {
                        const auto record = engine::decode_record(
                            read.header.type, read.body, read.bulk, read.header.bulk_bytes);
                        if (const auto* commit = std::get_if<engine::CommitRecord>(&*record)) {
                          rows += commit->rows.size();
                          if (!commit->update.empty()) {
                            ++kept;
                            EXPECT_GE(commit->step, 4u) << "the oldest checkpoint is behind step 3";
                          }
                        }
                        return {};
                      });

  ASSERT_TRUE(end) << describe(end.error());
  EXPECT_EQ(rows, 6u * 3u);
  EXPECT_EQ(kept, 2u);
}

TEST(Keeper, RestsTwiceAsLongAsACheckpointTook) {
  store::MemoryDisk disk;
  KeptRun run(disk);
  run.begin();
  run.step();
  run.now += 1s;
  auto chore = *run.keeper().slow_chore(run.pool(), run.now);
  ASSERT_NE(chore, nullptr);
  Result<bool> outcome = false;
  while (outcome && !*outcome) outcome = chore->step();
  run.now += 3s;  // so long it took
  run.keeper().ended(std::move(chore), outcome, run.now);
  run.step();

  EXPECT_FALSE(run.keeper().slow_chore_due(run.now + 5s));
  EXPECT_TRUE(run.keeper().slow_chore_due(run.now + 7s));
}

TEST(Keeper, OwesACheckpointAtOnceWhereThereWasMuchToRecall) {
  store::MemoryDisk disk;
  KeeperOptions options = kept_options();
  options.grown_bytes = 2000;
  options.pause_least = 10s;
  int lives = 0;
  bool due = false;
  {
    KeptRun run(disk, options, kept_job(100));
    run.begin();
    run.step();
  }

  for (; lives < 20 && !due; ++lives) {
    KeptRun run(disk, options, kept_job(100));
    const auto recovered = run.resume();
    ASSERT_TRUE(recovered) << describe(recovered.error());
    due = run.keeper().slow_chore_due(run.now);
    EXPECT_EQ(due, recovered->recalled_bytes >= 2000);
    run.step();  // too little for a checkpoint, before it is killed
  }

  EXPECT_TRUE(due);
  EXPECT_GT(lives, 1);
}

TEST(Keeper, HasNothingToCheckpointWhereNothingHappened) {
  store::MemoryDisk disk;
  KeptRun run(disk);
  run.begin();

  EXPECT_FALSE(run.keeper().slow_chore_due(run.now + 1h));
}

TEST(PastJson, ComesBackToTheLastBit) {
  engine::Past past;
  past.steps = 7;
  past.units = 21;
  past.seconds = 0.1 + 0.2;
  past.loss_first = 1.0 / 3;
  past.loss_last = 5e-324;
  past.loss_sum = 1e300 / 7;
  past.node_last = 9;
  past.classes = {sha256("a"), sha256("b")};
  past.nodes["n \"quoted\" \n"] = {2, 20, 0.7};
  past.eval = engine::EvalRecord{6, 0.25, std::nullopt, 3.5};
  past.stopped = true;

  const auto back = parse_past(past_json(past));

  ASSERT_TRUE(back) << describe(back.error());
  EXPECT_EQ(past_json(*back), past_json(past));
  EXPECT_EQ(back->seconds, past.seconds);
  EXPECT_EQ(back->loss_last, past.loss_last);
  EXPECT_EQ(back->loss_sum, past.loss_sum);
  EXPECT_EQ(back->classes, past.classes);
  EXPECT_EQ(back->nodes.at("n \"quoted\" \n").units, 20u);
}

TEST(PastJson, RefusesWhatItDidNotWrite) {
  for (const char* text : {"", "{}", "[]", "{\"steps\": -1}", "nonsense"}) {
    EXPECT_FALSE(parse_past(text)) << text;
  }
}

}  // namespace
}  // namespace wide::history
