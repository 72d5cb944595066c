#include "wide/net/vault.h"

#include <gtest/gtest.h>

#include <asio/executor_work_guard.hpp>

#include "wide/base/failpoint.h"
#include "wide/history/recovery.h"
#include "wide/store/real_disk.h"
#include "wide/store/scratch_folder.h"

namespace wide::net {
namespace {

using namespace std::chrono_literals;

engine::Job vault_job() {
  engine::Job job;
  job.name = "vault";
  job.model.kind = engine::ModelKind::kMlp;
  job.model.layers = {6, 5, 3};
  job.train.units_per_step = 2;
  job.train.steps = 50;
  return job;
}

SampleSpace vault_space() {
  SampleSpace space;
  space.train_count = 1000;
  space.sample_shape = {6};
  space.class_count = 3;
  space.sha256 = sha256("vault");
  return space;
}

// A pool that only recalls, so that it stands behind whatever was written.
class VaultTest : public testing::Test {
 protected:
  VaultTest() { open({}); }
  ~VaultTest() override { EXPECT_TRUE(arm_failpoints("")); }

  void open(history::KeeperOptions options) {
    vault_.reset();
    folder_ = std::make_unique<store::ScratchFolder>();
    disk_ = std::make_unique<store::RealDisk>(folder_->path());
    pool_ = std::make_unique<engine::Pool>(vault_job(), vault_space(), genesis_,
                                           engine::PoolOptions(), buffers_);
    auto keeper = value_or_throw(
        history::Keeper::create(*disk_, pool_->genesis(), pool_->layout(), options, Time{}));
    VaultOutlets outlets;
    outlets.written = [this](const engine::LedgerRecord& record) {
      written_.push_back(std::get<engine::CommitRecord>(record).step);
      EXPECT_TRUE(pool_->recall(record));
    };
    outlets.held = [this](const Error& why) { held_.push_back(why.code); };
    outlets.checkpointed = [this](Step step) {
      checkpoints_.push_back(step);
      io_.stop();
    };
    outlets.chore_failed = [this](const Error& why) {
      chores_failed_.push_back(why.code);
      io_.stop();
    };
    outlets.fatal = [this](const Error& why) {
      fatal_.push_back(why.code);
      io_.stop();
    };
    vault_ = std::make_unique<Vault>(io_, std::move(keeper), std::move(outlets));
  }

  // The record of the step behind the last one that was made.
  engine::CommitRecord next_record() {
    engine::CommitRecord record;
    record.step = made_++;
    record.chain_before = chain_;
    for (Block block = 0; block < 2; ++block) {
      record.rows.push_back({block, NodeId{1}, sha256("row")});
    }
    record.contributors = {{NodeId{1}, "n", sha256("class"), 1, 2, 1.0}};
    record.update = take_floats(buffers_, pool_->layout().value_count());
    std::ranges::fill(record.update.values, 0.5f);
    chain_ = record.chain_after =
        engine::chain_next(chain_, record.step, record.scalars, record.update);
    return record;
  }

  // Until something stops the I/O thread.
  void wait() {
    const auto work = asio::make_work_guard(io_);
    io_.restart();
    io_.run_for(20s);
  }

  BufferPool buffers_;
  asio::io_context io_;
  engine::Genesis genesis_ = engine::make_genesis(vault_job(), vault_space());
  std::unique_ptr<store::ScratchFolder> folder_;
  std::unique_ptr<store::RealDisk> disk_;
  std::unique_ptr<engine::Pool> pool_;
  std::uint64_t chain_ =
      engine::chain_genesis(engine::job_id(vault_job(), vault_space().sha256), genesis_.sha256());
  Step made_ = 0;
  std::vector<Step> written_;
  std::vector<Step> checkpoints_;
  std::vector<Errc> held_, chores_failed_, fatal_;
  std::unique_ptr<Vault> vault_;
};

TEST_F(VaultTest, TellsWhatIsWrittenAtOnceAndInOrder) {
  for (int i = 0; i < 5; ++i) vault_->append(next_record());

  EXPECT_EQ(written_, (std::vector<Step>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(vault_->close());
  engine::Pool again(vault_job(), vault_space(), genesis_, engine::PoolOptions(), buffers_);
  const auto recovered = history::recover(*disk_, again, buffers_);
  ASSERT_TRUE(recovered) << describe(recovered.error());
  EXPECT_EQ(again.replica().state_hash(), pool_->replica().state_hash());
}

TEST_F(VaultTest, HoldsWhatAFullDiskDoesNotTake) {
  if (!kHasFailpoints) GTEST_SKIP();
  vault_->append(next_record());
  ASSERT_TRUE(arm_failpoints("disk.append:1:io"));

  vault_->append(next_record());
  vault_->append(next_record());

  EXPECT_EQ(written_, (std::vector<Step>{0}));
  EXPECT_EQ(held_, (std::vector{Errc::kDiskFull}));
  EXPECT_TRUE(vault_->waits());
  vault_->try_again();
  EXPECT_EQ(written_, (std::vector<Step>{0, 1, 2}));
  EXPECT_FALSE(vault_->waits());
}

TEST_F(VaultTest, WritesTheLastWordsOfARunWhereThereIsRoomAgain) {
  if (!kHasFailpoints) GTEST_SKIP();
  vault_->append(next_record());
  ASSERT_TRUE(arm_failpoints("disk.append:1:io"));
  vault_->append(engine::StopRecord{1, 0.0});
  ASSERT_TRUE(vault_->waits());

  EXPECT_TRUE(vault_->close());

  engine::Pool again(vault_job(), vault_space(), genesis_, engine::PoolOptions(), buffers_);
  ASSERT_TRUE(history::recover(*disk_, again, buffers_));
  EXPECT_TRUE(again.past().stopped);
}

TEST_F(VaultTest, SaysThatTheLastWordsOfARunAreNotWritten) {
  if (!kHasFailpoints) GTEST_SKIP();
  vault_->append(next_record());
  ASSERT_TRUE(arm_failpoints("disk.append:1:io,disk.append:2:io"));
  vault_->append(engine::StopRecord{1, 0.0});
  ASSERT_TRUE(vault_->waits());

  const auto closed = vault_->close();

  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code, Errc::kDiskFull);
}

TEST_F(VaultTest, EndsWithTheFirstSyncThatFails) {
  if (!kHasFailpoints) GTEST_SKIP();
  ASSERT_TRUE(arm_failpoints("disk.sync:1:io"));

  vault_->append(next_record());
  vault_->append(next_record());
  vault_->try_again();

  EXPECT_EQ(fatal_, (std::vector{Errc::kSyncFailed})) << "once, and nothing is tried again";
  EXPECT_TRUE(written_.empty());
}

TEST_F(VaultTest, WritesACheckpointBesideTheIoThread) {
  history::KeeperOptions options;
  options.grown_bytes = 1;
  options.pause_least = Duration{};
  open(options);
  vault_->append(next_record());

  vault_->look_after(*pool_, Time{1s});
  vault_->append(next_record());  // goes on meanwhile
  wait();

  EXPECT_EQ(checkpoints_, (std::vector<Step>{1}));
  engine::Pool again(vault_job(), vault_space(), genesis_, engine::PoolOptions(), buffers_);
  const auto recovered = history::recover(*disk_, again, buffers_);
  ASSERT_TRUE(recovered) << describe(recovered.error());
  EXPECT_EQ(recovered->checkpoint->step, 1u);
  EXPECT_EQ(again.replica().state_hash(), pool_->replica().state_hash());
}

TEST_F(VaultTest, SaysWhenACheckpointFails) {
  if (!kHasFailpoints) GTEST_SKIP();
  history::KeeperOptions options;
  options.grown_bytes = 1;
  options.pause_least = Duration{};
  open(options);
  vault_->append(next_record());
  ASSERT_TRUE(arm_failpoints("disk.append:1:io"));

  vault_->look_after(*pool_, Time{1s});
  wait();

  EXPECT_EQ(chores_failed_, (std::vector{Errc::kDiskFull}));
  EXPECT_TRUE(checkpoints_.empty());
}

TEST_F(VaultTest, SyncsABitsRunOnItsThread) {
  if (!kHasFailpoints) GTEST_SKIP();
  history::KeeperOptions options;
  options.exact = engine::Exact::kBits;
  open(options);
  for (int i = 0; i < 12; ++i) vault_->append(next_record());
  ASSERT_TRUE(arm_failpoints("disk.sync:1:io"));

  vault_->look_after(*pool_, Time{1ms});
  wait();

  EXPECT_EQ(fatal_, (std::vector{Errc::kSyncFailed}));
  EXPECT_EQ(written_.size(), 12u);
}

TEST_F(VaultTest, LetsGoOfACheckpointThatIsHalfDone) {
  history::KeeperOptions options;
  options.grown_bytes = 1;
  options.pause_least = Duration{};
  open(options);
  vault_->append(next_record());
  vault_->look_after(*pool_, Time{1s});

  vault_.reset();

  EXPECT_EQ(written_, (std::vector<Step>{0}));
}

}  // namespace
}  // namespace wide::net
