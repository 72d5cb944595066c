#include "wide/store/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "wide/base/failpoint.h"
#include "wide/store/checkpoint_manifest.h"
#include "wide/store/example_checkpoint.h"
#include "wide/store/memory_disk.h"
#include "wide/store/real_disk.h"
#include "wide/store/scratch_folder.h"

namespace wide::store {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<Step> steps_there(Disk& disk) {
  std::vector<Step> steps;
  const auto there = list_checkpoints(disk).value();
  for (const auto& entry : there) steps.push_back(entry.step);
  return steps;
}

TEST(Checkpoint, GivesBackWhatWasWritten) {
  const ScratchFolder scratch;
  RealDisk disk(scratch.path());
  BufferPool buffers;
  ASSERT_TRUE(write_all(disk, example_checkpoint(buffers, 120)));

  const auto entries = list_checkpoints(disk).value();

  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_EQ(entries[0].manifest, "checkpoints/000000000120.manifest");
  EXPECT_TRUE(reads_as_example(disk, entries[0], buffers));
}

TEST(Checkpoint, NeedsNoOptimiserState) {
  MemoryDisk disk;
  BufferPool buffers;
  ASSERT_TRUE(write_all(disk, example_checkpoint(buffers, 3, 0)));

  const auto entries = list_checkpoints(disk).value();

  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_TRUE(reads_as_example(disk, entries[0], buffers, 0));
  EXPECT_THAT(disk.list("checkpoints").value(), SizeIs(2));
}

TEST(Checkpoint, IsSafetensorsThatOthersRead) {
  const ScratchFolder scratch;
  RealDisk disk(scratch.path());
  BufferPool buffers;
  const auto made = example_checkpoint(buffers, 5);
  ASSERT_TRUE(write_all(disk, made));

  const auto manifest = read_manifest(disk, 5).value();
  const auto weights = read_tensor_file(scratch / manifest.weights.name()).value();
  const auto state = read_tensor_file(scratch / manifest.optimizer->name()).value();

  ASSERT_THAT(weights.tensors, SizeIs(2));
  EXPECT_EQ(weights.tensors[0].name, "bias");
  EXPECT_THAT(weights.tensors[0].values, ElementsAre(5, 5.25f));
  EXPECT_EQ(weights.tensors[1].name, "weight");
  EXPECT_THAT(weights.tensors[1].shape, ElementsAre(2, 3));
  ASSERT_THAT(state.tensors, SizeIs(1));
  EXPECT_EQ(state.tensors[0].name, "state.0");
  EXPECT_THAT(state.tensors[0].values, SizeIs(7));
}

TEST(Checkpoint, TellsTheStateHash) {
  MemoryDisk disk;
  BufferPool buffers;
  const auto made = example_checkpoint(buffers, 9);
  CheckpointWriter writer(disk, made);
  while (!writer.step().value()) {
  }

  // By hand: step and chain as eight bytes each, then the arrays.
  std::string bytes = {9, 0, 0, 0, 0, 0, 0, 0};
  bytes += "\xf8\xcd\xab\x89\x67\x45\x23\x01";
  for (const auto* floats : {&made.arrays.weights, &made.arrays.optimizer}) {
    bytes.append(reinterpret_cast<const char*>(floats->values.data()), floats->bytes().size());
  }
  EXPECT_EQ(writer.facts().state_hash, sha256(bytes));
  EXPECT_EQ(list_checkpoints(disk).value()[0].facts->state_hash, sha256(bytes));
}

TEST(Checkpoint, IsNotWrittenWhereTheStateIsNotTheOneThatWasPromised) {
  MemoryDisk disk;
  BufferPool buffers;
  auto made = example_checkpoint(buffers, 9);
  made.facts.state_hash = sha256("another");

  EXPECT_EQ(write_all(disk, std::move(made)).error().code, Errc::kCheckpointDamaged);
  EXPECT_THAT(list_checkpoints(disk).value(), IsEmpty());
}

TEST(Checkpoint, KeepsThreeGenerations) {
  MemoryDisk disk;
  BufferPool buffers;
  EXPECT_THAT(steps_there(disk), IsEmpty());
  for (const Step step : {10, 20, 30, 40, 50}) {
    ASSERT_TRUE(write_all(disk, example_checkpoint(buffers, step)));
  }

  EXPECT_THAT(steps_there(disk), ElementsAre(50, 40, 30));
  EXPECT_THAT(disk.list("checkpoints").value(), SizeIs(9));
  const auto there = list_checkpoints(disk).value();
  for (const auto& entry : there) {
    EXPECT_TRUE(reads_as_example(disk, entry, buffers));
  }
}

TEST(Checkpoint, CountsNoManifestThatDoesNotRead) {
  MemoryDisk disk;
  BufferPool buffers;
  for (const Step step : {10, 20, 30}) {
    ASSERT_TRUE(write_all(disk, example_checkpoint(buffers, step)));
  }
  disk.file(manifest_name(20)).back() = std::byte{'?'};

  ASSERT_TRUE(write_all(disk, example_checkpoint(buffers, 40)));
  EXPECT_THAT(steps_there(disk), ElementsAre(40, 30, 20, 10));
  EXPECT_THAT(disk.list("checkpoints").value(), SizeIs(12));

  ASSERT_TRUE(write_all(disk, example_checkpoint(buffers, 50)));
  EXPECT_THAT(steps_there(disk), ElementsAre(50, 40, 30));
  EXPECT_THAT(disk.list("checkpoints").value(), SizeIs(9));
}

TEST(Checkpoint, UsesAFileAgainThatIsThereAlready) {
  MemoryDisk disk;
  BufferPool buffers;
  ASSERT_TRUE(write_all(disk, example_checkpoint(buffers, 10)));
  ASSERT_TRUE(disk.remove(manifest_name(10)));

  ASSERT_TRUE(write_all(disk, example_checkpoint(buffers, 10)));

  EXPECT_THAT(disk.list("checkpoints").value(), SizeIs(3));
}

TEST(Checkpoint, SharesNoFileWithAnotherGeneration) {
  MemoryDisk disk;
  BufferPool buffers;
  ASSERT_TRUE(write_all(disk, example_checkpoint(buffers, 10)));
  auto same_arrays = example_checkpoint(buffers, 11);
  same_arrays.arrays = example_checkpoint(buffers, 10).arrays;

  ASSERT_TRUE(write_all(disk, std::move(same_arrays)));

  EXPECT_THAT(disk.list("checkpoints").value(), SizeIs(6));
}

TEST(Checkpoint, MendsAFileOfItsNameThatIsDamaged) {
  MemoryDisk disk;
  BufferPool buffers;
  ASSERT_TRUE(write_all(disk, example_checkpoint(buffers, 10)));
  const auto manifest = read_manifest(disk, 10).value();
  disk.file(manifest.weights.name()).back() ^= std::byte{1};
  disk.file(manifest.optimizer->name()).pop_back();
  ASSERT_FALSE(read_checkpoint(disk, list_checkpoints(disk).value()[0], buffers));

  ASSERT_TRUE(write_all(disk, example_checkpoint(buffers, 10)));

  EXPECT_TRUE(reads_as_example(disk, list_checkpoints(disk).value()[0], buffers));
}

TEST(Checkpoint, SaysWhichFileIsMissing) {
  MemoryDisk disk;
  BufferPool buffers;
  ASSERT_TRUE(write_all(disk, example_checkpoint(buffers, 10)));
  const auto name = read_manifest(disk, 10)->weights.name();
  ASSERT_TRUE(disk.remove(name));

  const auto arrays = read_checkpoint(disk, list_checkpoints(disk).value()[0], buffers);

  ASSERT_FALSE(arrays);
  EXPECT_EQ(arrays.error().code, Errc::kCheckpointDamaged);
  EXPECT_THAT(arrays.error().detail, HasSubstr(name));
}

TEST(Checkpoint, SaysWhenItIsOfAnotherFormat) {
  MemoryDisk disk;
  ASSERT_TRUE(disk.make_folder("checkpoints"));
  const std::string line = R"({"format":4,"anything":true})";
  const auto text = line + "\n" + sha256(line).hex() + "\n";
  const auto bytes = std::as_bytes(std::span(text));
  disk.file(manifest_name(4)).assign(bytes.begin(), bytes.end());

  const auto entries = list_checkpoints(disk).value();

  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_EQ(entries[0].facts.error().code, Errc::kOtherFileVersion);
}

TEST(Checkpoint, RefusesAManifestOfAnotherStep) {
  MemoryDisk disk;
  BufferPool buffers;
  ASSERT_TRUE(write_all(disk, example_checkpoint(buffers, 10)));
  disk.file(manifest_name(11)) = disk.file(manifest_name(10));

  EXPECT_EQ(list_checkpoints(disk).value()[0].facts.error().code, Errc::kCheckpointDamaged);
}

TEST(RemoveRubbish, LeavesWhatManifestsName) {
  MemoryDisk disk;
  BufferPool buffers;
  ASSERT_TRUE(remove_rubbish(disk));
  ASSERT_TRUE(write_all(disk, example_checkpoint(buffers, 10)));
  const std::string unnamed = "checkpoints/" + sha256("x").hex() + ".safetensors";
  disk.file(unnamed);
  disk.file("checkpoints/.000000000020.manifest.aside");
  disk.file("checkpoints/notes.txt");

  ASSERT_TRUE(remove_rubbish(disk));

  EXPECT_FALSE(disk.holds(unnamed));
  EXPECT_FALSE(disk.holds("checkpoints/.000000000020.manifest.aside"));
  EXPECT_TRUE(disk.holds("checkpoints/notes.txt"));
  EXPECT_TRUE(reads_as_example(disk, list_checkpoints(disk).value()[0], buffers));
}

TEST(RemoveRubbish, TouchesNoTensorsWhileAManifestDoesNotRead) {
  MemoryDisk disk;
  BufferPool buffers;
  ASSERT_TRUE(write_all(disk, example_checkpoint(buffers, 10)));
  disk.file(manifest_name(10)).clear();

  ASSERT_TRUE(remove_rubbish(disk));

  EXPECT_THAT(disk.list("checkpoints").value(), SizeIs(3));
}

// Each step leaves the older generations as they were, and the new one whole or not there.
TEST(CheckpointWriter, MayBeCutOffAnywhere) {
  const ScratchFolder scratch;
  std::filesystem::create_directory(scratch / "run");
  RealDisk disk(scratch / "run");
  BufferPool buffers;
  for (const Step step : {10, 20, 30}) {
    ASSERT_TRUE(write_all(disk, example_checkpoint(buffers, step)));
  }
  CheckpointWriter writer(disk, example_checkpoint(buffers, 40));
  int step_count = 0;
  bool done = false;
  while (!done) {
    done = writer.step().value();
    ++step_count;
    std::filesystem::remove_all(scratch / "copy");
    std::filesystem::copy(scratch / "run", scratch / "copy",
                          std::filesystem::copy_options::recursive);
    RealDisk copy(scratch / "copy");

    const auto entries = list_checkpoints(copy).value();
    EXPECT_GE(entries.size(), 3u);
    for (const auto& entry : entries) EXPECT_TRUE(reads_as_example(copy, entry, buffers));
    ASSERT_TRUE(remove_rubbish(copy));
    EXPECT_EQ(copy.list("checkpoints")->size(), 3 * entries.size());
    ASSERT_TRUE(write_all(copy, example_checkpoint(buffers, 41)));
    EXPECT_EQ(steps_there(copy)[0], 41u);
  }
  EXPECT_GE(step_count, 12);
  EXPECT_THAT(steps_there(disk), ElementsAre(40, 30, 20));
}

TEST(CheckpointWriter, WritesLargeFilesPieceByPiece) {
  MemoryDisk disk;
  BufferPool buffers;
  auto made = example_checkpoint(buffers, 1, 5u << 20);  // 20 MiB of state: three pieces
  CheckpointWriter writer(disk, made);
  std::uint64_t before_bytes = 0;
  std::set<std::uint64_t> sizes;
  for (bool done = false; !done;) {
    done = writer.step().value();
    const auto there = disk.list("checkpoints").value();
    for (const auto& name : there) {
      if (!is_aside(name)) continue;
      const auto bytes = disk.file("checkpoints/" + name).size();
      if (bytes > before_bytes) {
        EXPECT_LE(bytes - before_bytes, 8u << 20);
      }
      before_bytes = bytes;
      sizes.insert(bytes);
    }
  }
  EXPECT_GE(sizes.size(), 3u);
  EXPECT_TRUE(reads_as_example(disk, list_checkpoints(disk).value()[0], buffers, 5u << 20));
}

#ifdef WIDE_FAILPOINTS

class CheckpointOnAFailingDisk : public ::testing::Test {
 protected:
  ~CheckpointOnAFailingDisk() override { EXPECT_TRUE(arm_failpoints("")); }
  ScratchFolder scratch_;
  RealDisk disk_{scratch_.path()};
  BufferPool buffers_;
};

TEST_F(CheckpointOnAFailingDisk, GivesUpWhereThereIsNoRoomAndTriesAgain) {
  ASSERT_TRUE(write_all(disk_, example_checkpoint(buffers_, 10)));
  for (const auto* nth : {"1", "2", "3"}) {
    ASSERT_TRUE(remove_rubbish(disk_));  // so that each try writes two files and the manifest
    ASSERT_TRUE(arm_failpoints(std::string("disk.append:") + nth + ":io"));
    EXPECT_EQ(write_all(disk_, example_checkpoint(buffers_, 20)).error().code, Errc::kDiskFull);
    EXPECT_THAT(steps_there(disk_), ElementsAre(10));
    const auto there = disk_.list("checkpoints").value();
    for (const auto& name : there) EXPECT_FALSE(is_aside(name)) << name;
  }
  ASSERT_TRUE(write_all(disk_, example_checkpoint(buffers_, 20)));
  EXPECT_TRUE(reads_as_example(disk_, list_checkpoints(disk_).value()[0], buffers_));
}

TEST_F(CheckpointOnAFailingDisk, TellsEveryFailedSync) {
  ASSERT_TRUE(write_all(disk_, example_checkpoint(buffers_, 10)));
  for (const auto* nth : {"1", "2", "3"}) {
    ASSERT_TRUE(arm_failpoints(std::string("disk.sync:") + nth + ":io"));
    EXPECT_EQ(write_all(disk_, example_checkpoint(buffers_, 20)).error().code, Errc::kSyncFailed);
    EXPECT_THAT(steps_there(disk_), ElementsAre(10));
  }
}

#endif

}  // namespace
}  // namespace wide::store
