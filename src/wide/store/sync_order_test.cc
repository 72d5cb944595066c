// What must be on the disk before what: the order in which names are given and folders synced,
// which a crash seldom tells apart.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wide/store/example_checkpoint.h"
#include "wide/store/example_log.h"
#include "wide/store/memory_disk.h"

namespace wide::store {
namespace {

using testing::ElementsAre;

// Writes down what is done to names.
class NotedDisk final : public Disk {
 public:
  Result<DiskFilePtr> open(std::string_view name, Open how) override {
    return disk_.open(name, how);
  }
  Result<void> rename(std::string_view from, std::string_view to) override {
    notes.push_back("name " + kind_of(to));
    return disk_.rename(from, to);
  }
  Result<void> remove(std::string_view name) override {
    notes.push_back("remove " + kind_of(name));
    return disk_.remove(name);
  }
  Result<void> make_folder(std::string_view name) override { return disk_.make_folder(name); }
  Result<void> sync_folder(std::string_view name) override {
    notes.push_back("sync " + std::string(name.empty() ? "run" : name));
    return {};
  }
  Result<std::vector<std::string>> list(std::string_view folder) override {
    return disk_.list(folder);
  }
  Result<std::uint64_t> room_bytes() override { return disk_.room_bytes(); }
  std::string path(std::string_view name) const override { return disk_.path(name); }

  std::vector<std::string> notes;

 private:
  static std::string kind_of(std::string_view name) {
    return std::string(name.substr(name.rfind('.') + 1));
  }

  MemoryDisk disk_;
};

TEST(CheckpointOrder, NamesTheFilesThenSyncsThenNamesTheManifest) {
  BufferPool buffers;
  NotedDisk disk;

  ASSERT_TRUE(write_all(disk, example_checkpoint(buffers, 1)));

  disk.notes.resize(6);  // then it looks for rubbish
  EXPECT_THAT(disk.notes, ElementsAre("sync run", "name safetensors", "name safetensors",
                                      "sync checkpoints", "name manifest", "sync checkpoints"));
}

TEST(CheckpointOrder, ForgetsAGenerationForGoodBeforeItsFilesGo) {
  BufferPool buffers;
  NotedDisk disk;
  for (Step step = 1; step <= 3; ++step) {
    ASSERT_TRUE(write_all(disk, example_checkpoint(buffers, step)));
  }
  disk.notes.clear();

  ASSERT_TRUE(write_all(disk, example_checkpoint(buffers, 4)));

  const auto gone = std::ranges::find(disk.notes, "remove manifest");
  EXPECT_THAT(std::vector(gone, disk.notes.end()),
              ElementsAre("remove manifest", "sync checkpoints", "sync checkpoints",
                          "remove safetensors", "remove safetensors"));
}

TEST(LogOrder, SyncsTheFolderBeforeARecordGoesIntoASegment) {
  NotedDisk disk;

  auto log = LedgerLog::create(disk, example_job());

  ASSERT_TRUE(log);
  EXPECT_THAT(disk.notes, ElementsAre("sync ledger", "sync run"));
  ASSERT_TRUE(append(*log, example_record(0)));
  disk.notes.clear();
  ASSERT_TRUE(log->begin_segment());
  EXPECT_THAT(disk.notes, ElementsAre("sync ledger"));
}

// Two logs of one job, of which one has another beginning.
TEST(LogChain, RefusesARecordOfAnotherHistory) {
  MemoryDisk ours;
  MemoryDisk theirs;
  auto log = LedgerLog::create(ours, example_job());
  auto other = LedgerLog::create(theirs, example_job());
  ASSERT_TRUE(append(*log, example_record(0)));
  ASSERT_TRUE(append(*other, example_record(1)));
  const auto begin = static_cast<std::ptrdiff_t>(other->position().offset_bytes);
  ASSERT_TRUE(append(*other, example_record(2)));
  const auto& stranger = theirs.file(segment_name(0));
  auto& file = ours.file(segment_name(0));

  file.insert(file.end(), stranger.begin() + begin, stranger.end());

  const auto back = read_back(ours);
  EXPECT_THAT(back.records, ElementsAre(example_record(0))) << "whole in itself, but not next";
}

}  // namespace
}  // namespace wide::store
