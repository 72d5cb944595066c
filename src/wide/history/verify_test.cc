#include "wide/history/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wide/history/kept_run.h"
#include "wide/history/replay.h"

namespace wide::history {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A record as somebody would write it who wants it to look right.
void append(store::Disk& disk, const KeptRun& run, const engine::LedgerRecord& record) {
  const auto end =
      store::read_log(disk, {.job_id = run.identity().job_id, .from = {}, .synced_to = 0},
                      [](const store::ReadRecord&) -> Result<void> { return {}; });
  auto log = value_or_throw(store::LedgerLog::open(disk, run.identity().job_id, *end));
  value_or_throw(log.append(engine::record_type(record), engine::encode_body(record),
                            engine::bulk_of(record)));
}

std::vector<engine::CommitRecord> commits(store::Disk& disk, const KeptRun& run) {
  std::vector<engine::CommitRecord> found;
  value_or_throw(store::read_log(
      disk, {.job_id = run.identity().job_id, .from = {}, .synced_to = 0},
      [&](const store::ReadRecord& read) -> Result<void> {
        auto record =
            engine::decode_record(read.header.type, read.body, read.bulk, read.header.bulk_bytes);
        if (auto* commit = std::get_if<engine::CommitRecord>(&*record)) {
          found.push_back(std::move(*commit));
        }
        return {};
      }));
  return found;
}

class VerifyTest : public testing::Test {
 protected:
  VerifyTest() { run_.begin(); }

  VerifyReport verified() { return value_or_throw(verify(disk_, run_.identity(), buffers_)); }

  store::MemoryDisk disk_;
  BufferPool buffers_;
  KeptRun run_{disk_};
};

TEST_F(VerifyTest, FindsAWholeRunWhole) {
  run_.steps(4);
  run_.chores();
  run_.steps(3);

  const auto report = verified();

  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_EQ(report.past.steps, 7u);
  EXPECT_EQ(report.past.units, 21u);
  EXPECT_EQ(report.rows, 21u);
  EXPECT_EQ(report.replayed_from, 0u);
  ASSERT_THAT(report.checkpoints, SizeIs(1));
  EXPECT_TRUE(report.checkpoints[0].compared);
  engine::Replica replica(kept_job(), *run_.identity().genesis, 0);
  ASSERT_TRUE(replica.thaw(*report.replica));
  EXPECT_EQ(replica.state_hash(), run_.state_hash());
}

TEST_F(VerifyTest, GoesOnFromACheckpointWhereUpdatesArePruned) {
  for (int i = 0; i < 6; ++i) {
    run_.step();
    run_.chores();
  }

  const auto report = verified();

  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_EQ(report.replayed_from, 4u);
  EXPECT_EQ(report.rows, 18u);
  EXPECT_THAT(report.checkpoints, SizeIs(3));
}

TEST_F(VerifyTest, SeesABlockThatCountsTwice) {
  run_.steps(2);
  auto commit = commits(disk_, run_)[1];
  commit.step = 2;
  commit.chain_before = commit.chain_after;
  commit.rows[1] = commit.rows[0];
  append(disk_, run_, commit);

  EXPECT_THAT(verified().problems[0], HasSubstr("every block exactly once"));
}

TEST_F(VerifyTest, SeesAStepThatIsThereTwice) {
  run_.steps(2);
  append(disk_, run_, commits(disk_, run_)[1]);

  EXPECT_THAT(verified().problems[0], HasSubstr("step 1 comes after step 2"));
}

TEST_F(VerifyTest, SeesAnUpdateThatNobodyWasTold) {
  run_.steps(2);
  auto commit = commits(disk_, run_)[1];
  commit.step = 2;
  commit.chain_before = commit.chain_after;
  append(disk_, run_, commit);

  EXPECT_THAT(verified().problems,
              testing::Contains(HasSubstr("not the one that nodes were told")));
}

TEST_F(VerifyTest, SeesACheckpointOfAnotherHistory) {
  store::MemoryDisk other_disk;
  engine::Job job = kept_job();
  KeptRun other(other_disk);
  other.begin();
  other.steps(2);
  other.chores();
  run_.steps(3);
  // Its manifest says that it is of step 3 of our run: whole in itself, and wrong.
  const auto entry = store::list_checkpoints(other_disk)->front();
  auto arrays = value_or_throw(store::read_checkpoint(other_disk, entry, buffers_));
  store::NewCheckpoint forged;
  forged.facts = *entry.facts;
  forged.facts.step = 3;
  forged.facts.chain = run_.pool().replica().chain();
  forged.facts.state_hash = {};
  forged.arrays = arrays;
  for (const auto& tensor : run_.pool().layout().tensors) {
    forged.places.push_back({tensor.name, tensor.shape, tensor.offset, tensor.size});
  }
  store::CheckpointWriter writer(disk_, forged);
  while (!*writer.step()) continue;

  EXPECT_THAT(verified().problems[0], HasSubstr("differs from what the ledger's updates give"));
}

TEST_F(VerifyTest, NamesTheFileOfADamagedRecord) {
  run_.steps(4);
  disk_.file(store::segment_name(0))[200] ^= std::byte{4};

  const auto report = verify(disk_, run_.identity(), buffers_);

  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Errc::kLogDamaged);
  EXPECT_THAT(report.error().detail, HasSubstr("000000000000.log"));
}

class ReplayTest : public VerifyTest {
 protected:
  ReplayReport replayed(Step step) {
    const ReplayTools tools{run_.computer(), sha256("class"), [this](Step) { ++recomputed_; }};
    return value_or_throw(replay(disk_, run_.identity(), step, tools, buffers_));
  }

  int recomputed_ = 0;
};

TEST_F(ReplayTest, ComputesEveryStepToTheSameBits) {
  run_.steps(4);
  run_.chores();
  run_.steps(3);

  for (Step step = 0; step < 7; ++step) {
    const auto report = replayed(step);
    EXPECT_TRUE(report.equal()) << step;
    EXPECT_EQ(report.replica_from, step < 4 ? 0u : 4u);
    EXPECT_FALSE(report.other_class());
    EXPECT_THAT(report.blocks, SizeIs(3));
  }
}

void expect_verified_and_replayed(const engine::Job& job) {
  store::MemoryDisk disk;
  BufferPool buffers;
  KeptRun run(disk, kept_options(), job);
  run.begin();
  run.steps(4);
  run.chores();
  run.steps(3);

  const auto verified = value_or_throw(verify(disk, run.identity(), buffers));
  EXPECT_THAT(verified.problems, IsEmpty());
  EXPECT_TRUE(verified.checkpoints.at(0).compared);
  for (Step step = 0; step < 7; ++step) {
    const ReplayTools tools{run.computer(), sha256("class"), [](Step) {}};
    const auto replayed = value_or_throw(replay(disk, run.identity(), step, tools, buffers));
    EXPECT_TRUE(replayed.equal()) << step;
  }
}

TEST(CodedRun, IsVerifiedAndReplayedToTheSameBits) {
  engine::Job job = kept_job();
  job.codec.gradient = engine::LossyPlan::kInt4;
  job.codec.update = engine::LossyPlan::kPowersgd;
  expect_verified_and_replayed(job);
}

TEST(DelayedRun, IsVerifiedAndReplayedToTheSameBits) {
  engine::Job job = kept_job();
  job.delay = 2;
  expect_verified_and_replayed(job);
}

TEST_F(ReplayTest, ComputesFromGenesisWhatIsPruned) {
  for (int i = 0; i < 6; ++i) {
    run_.step();
    run_.chores();
  }

  const auto report = replayed(2);

  EXPECT_TRUE(report.equal());
  EXPECT_EQ(report.steps_recomputed, 2u);
  EXPECT_EQ(recomputed_, 2);
}

TEST_F(ReplayTest, SeesABlockThatWasNotComputedSo) {
  run_.steps(1);
  auto commit = commits(disk_, run_)[0];
  store::MemoryDisk forged;
  KeptRun other(forged);
  other.begin();
  commit.rows[1].sha256 = sha256("somebody made it up");
  append(forged, other, commit);
  const ReplayTools tools{run_.computer(), sha256("class"), [](Step) {}};

  const auto report = replay(forged, other.identity(), 0, tools, buffers_);

  ASSERT_TRUE(report) << describe(report.error());
  EXPECT_FALSE(report->equal());
  EXPECT_TRUE(report->update_equal);
  EXPECT_FALSE(report->blocks[1].equal());
  EXPECT_TRUE(report->blocks[2].equal());
}

TEST_F(ReplayTest, SaysWhereTheLedgerEnds) {
  run_.steps(2);
  const ReplayTools tools{run_.computer(), sha256("class"), [](Step) {}};

  const auto report = replay(disk_, run_.identity(), 2, tools, buffers_);

  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().detail, HasSubstr("its last is 1"));
}

TEST(RunIdentity, ComesBackFromItsFiles) {
  store::MemoryDisk disk;
  KeptRun run(disk);
  const auto put = [&](const char* name, const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    disk.file(name).assign(bytes.begin(), bytes.end());
  };
  put("genesis.json", genesis_json(run.identity()));
  put("job.toml", engine::canonical_text(kept_job()));

  const auto identity = read_identity(disk);

  ASSERT_TRUE(identity) << describe(identity.error());
  EXPECT_EQ(identity->job_id, run.pool().id());
  EXPECT_EQ(identity->genesis->sha256(), run.identity().genesis_sha256);
  EXPECT_EQ(identity->layout.value_count(), run.pool().layout().value_count());

  put("job.toml", engine::canonical_text(kept_job(77)));
  EXPECT_EQ(read_identity(disk).error().code, Errc::kRunDiffers);
  put("genesis.json", "{\"format\": 99}");
  EXPECT_EQ(read_identity(disk).error().code, Errc::kOtherFileVersion);
  put("genesis.json", "{\"format\": 1}");
  EXPECT_EQ(read_identity(disk).error().code, Errc::kRunDiffers);
}

}  // namespace
}  // namespace wide::history
