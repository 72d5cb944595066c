#include "wide/store/disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>

#include "wide/base/failpoint.h"
#include "wide/store/example_log.h"
#include "wide/store/memory_disk.h"
#include "wide/store/real_disk.h"
#include "wide/store/scratch_folder.h"

namespace wide::store {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<void> append_text(DiskFile& file, const std::string& text) {
  const std::array pieces = {bytes_of(text)};
  return file.append(pieces);
}

std::string text_of(Disk& disk, std::string_view name) {
  const auto bytes = read_whole(disk, name);
  if (!bytes) return describe(bytes.error());
  return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

// What the disk of this machine and the one in memory both promise.
template <class T>
class AnyDisk : public ::testing::Test {
 protected:
  Disk& disk() { return *disk_; }

 private:
  static std::unique_ptr<Disk> make(const ScratchFolder& scratch) {
    if constexpr (std::is_same_v<T, RealDisk>) return std::make_unique<RealDisk>(scratch.path());
    return std::make_unique<MemoryDisk>();
  }
  ScratchFolder scratch_;
  std::unique_ptr<Disk> disk_ = make(scratch_);
};
using Disks = ::testing::Types<RealDisk, MemoryDisk>;
TYPED_TEST_SUITE(AnyDisk, Disks);

TYPED_TEST(AnyDisk, AppendsReadsAndCuts) {
  auto file = this->disk().open("file", Open::kAppend).value();
  const std::string one = "one ", nothing, two = "two";
  const std::array pieces = {bytes_of(one), bytes_of(nothing), bytes_of(two)};
  ASSERT_TRUE(file->append(pieces));
  EXPECT_EQ(file->size_bytes(), 7u);
  ASSERT_TRUE(file->append({}));

  std::array<std::byte, 3> three;
  ASSERT_TRUE(file->read(4, three));
  EXPECT_EQ(std::memcmp(three.data(), "two", 3), 0);
  EXPECT_EQ(file->read(5, three).error().code, Errc::kCannotRead);

  ASSERT_TRUE(file->cut(2));
  EXPECT_EQ(file->size_bytes(), 2u);
  ASSERT_TRUE(append_text(*file, "ly"));
  ASSERT_TRUE(file->sync());
  EXPECT_EQ(text_of(this->disk(), "file"), "only");
}

TYPED_TEST(AnyDisk, MakesRoomThatAppendsFill) {
  auto& disk = this->disk();
  auto file = disk.open("file", Open::kAppend).value();
  ASSERT_TRUE(append_text(*file, "ab"));

  ASSERT_TRUE(file->make_room(5000));
  EXPECT_EQ(file->size_bytes(), 2u);
  EXPECT_EQ(text_of(disk, "file"), "ab" + std::string(5000, '\0'));
  ASSERT_TRUE(append_text(*file, "cd"));
  EXPECT_EQ(file->size_bytes(), 4u);
  EXPECT_EQ(text_of(disk, "file"), "abcd" + std::string(4998, '\0'));

  ASSERT_TRUE(file->make_room(4999)) << "of which one byte is missing";
  EXPECT_EQ(text_of(disk, "file"), "abcd" + std::string(4999, '\0'));
  ASSERT_TRUE(file->make_room(3));
  EXPECT_EQ(text_of(disk, "file").size(), 5003u);

  ASSERT_TRUE(append_text(*file, std::string(6000, 'e'))) << "past the room";
  EXPECT_EQ(text_of(disk, "file"), "abcd" + std::string(6000, 'e'));
  ASSERT_TRUE(file->make_room(10));
  ASSERT_TRUE(file->cut(3));
  EXPECT_EQ(text_of(disk, "file"), "abc");
  ASSERT_TRUE(file->make_room(2));
  EXPECT_EQ(text_of(disk, "file"), std::string("abc\0\0", 5));
}

TYPED_TEST(AnyDisk, OpensForReadingAppendingAndAnew) {
  auto& disk = this->disk();
  EXPECT_EQ(disk.open("file", Open::kRead).error().code, Errc::kRunMissing);
  ASSERT_TRUE(append_text(**disk.open("file", Open::kAppend), "a"));
  ASSERT_TRUE(append_text(**disk.open("file", Open::kAppend), "b"));
  EXPECT_EQ(text_of(disk, "file"), "ab");

  const auto old = disk.open("file", Open::kRead).value();
  ASSERT_TRUE(append_text(**disk.open("file", Open::kAnew), "c"));
  EXPECT_EQ(text_of(disk, "file"), "c");
  EXPECT_EQ(old->size_bytes(), 2u) << "whoever has the old file keeps it";
}

TYPED_TEST(AnyDisk, RenamesRemovesAndLists) {
  auto& disk = this->disk();
  ASSERT_TRUE(disk.make_folder("folder"));
  ASSERT_TRUE(disk.make_folder("folder"));
  for (const auto* name : {"folder/b", "folder/c", "folder/a", "d"}) {
    ASSERT_TRUE(append_text(**disk.open(name, Open::kAppend), name));
  }

  ASSERT_TRUE(disk.rename("folder/c", "folder/b"));
  ASSERT_TRUE(disk.sync_folder("folder"));
  ASSERT_TRUE(disk.sync_folder(""));
  EXPECT_EQ(text_of(disk, "folder/b"), "folder/c");
  EXPECT_THAT(disk.list("folder").value(), ElementsAre("a", "b"));
  EXPECT_THAT(disk.list("").value(), ElementsAre("d"));
  ASSERT_TRUE(disk.remove("folder/a"));
  EXPECT_THAT(disk.list("folder").value(), ElementsAre("b"));

  EXPECT_EQ(disk.remove("folder/a").error().code, Errc::kRunMissing);
  EXPECT_EQ(disk.rename("folder/a", "x").error().code, Errc::kRunMissing);
  EXPECT_EQ(disk.list("nowhere").error().code, Errc::kRunMissing);
  EXPECT_GT(disk.room_bytes().value(), 0u);
}

TYPED_TEST(AnyDisk, WritesWholeFiles) {
  auto& disk = this->disk();
  ASSERT_TRUE(disk.make_folder("folder"));
  const std::string old = "older and longer", text = "text";
  ASSERT_TRUE(write_whole(disk, "folder/file", std::array{bytes_of(old)}));
  ASSERT_TRUE(write_whole(disk, "folder/file", std::array{bytes_of(text), bytes_of(text)}));

  EXPECT_EQ(text_of(disk, "folder/file"), "texttext");
  EXPECT_THAT(disk.list("folder").value(), ElementsAre("file"));
}

TEST(AsideName, LiesBesideTheName) {
  EXPECT_EQ(aside_name("a"), ".a.aside");
  EXPECT_EQ(aside_name("x/y/a.log"), "x/y/.a.log.aside");
  EXPECT_TRUE(is_aside("x/.a.log.aside"));
  EXPECT_TRUE(is_aside(".a.aside-12-3"));
  EXPECT_FALSE(is_aside("a.aside"));
  EXPECT_FALSE(is_aside(".hidden"));
  EXPECT_EQ(folder_of("x/y/a"), "x/y");
  EXPECT_EQ(folder_of("a"), "");
}

TEST(RealDisk, SaysWhereAndWhy) {
  const ScratchFolder scratch;
  RealDisk disk(scratch.path());
  const auto done = disk.open("nowhere/file", Open::kAppend);

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::kCannotWrite);
  EXPECT_THAT(done.error().detail,
              AllOf(HasSubstr((scratch / "nowhere/file").string()), HasSubstr("No such file")));
}

TEST(RealDisk, TakesOnlyPlainFiles) {
  const ScratchFolder scratch;
  RealDisk disk(scratch.path());
  ASSERT_TRUE(disk.make_folder("folder"));
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);

  EXPECT_EQ(disk.open("folder", Open::kRead).error().code, Errc::kCannotRead);
  EXPECT_EQ(disk.open("pipe", Open::kRead).error().code, Errc::kCannotRead);
  EXPECT_EQ(disk.open("pipe", Open::kAppend).error().code, Errc::kCannotWrite);
  write_text(scratch / "file", "");
  EXPECT_EQ(disk.make_folder("file").error().code, Errc::kCannotWrite);
}

TEST(RealDisk, WritesAnewThroughNoLink) {
  const ScratchFolder scratch;
  RealDisk disk(scratch.path());
  write_text(scratch / "target", "untouched");
  std::filesystem::create_symlink(scratch / "target", scratch / "link");

  ASSERT_TRUE(append_text(**disk.open("link", Open::kAnew), "new"));

  EXPECT_EQ(read_text(scratch / "target"), "untouched");
  EXPECT_EQ(read_text(scratch / "link"), "new");
}

TEST(RealDisk, WritesMorePiecesThanTheKernelTakesAtOnce) {
  const ScratchFolder scratch;
  RealDisk disk(scratch.path());
  std::string expected;
  std::vector<std::string> texts;
  for (int i = 0; i < 3000; ++i)
    texts.push_back(std::string(i % 7, static_cast<char>('a' + i % 26)));
  std::vector<std::span<const std::byte>> pieces;
  for (const auto& text : texts) {
    expected += text;
    pieces.push_back(bytes_of(text));
  }

  ASSERT_TRUE(disk.open("file", Open::kAnew).value()->append(pieces));

  EXPECT_EQ(read_text(scratch / "file"), expected);
}

TEST(RealDisk, MayBeTheCurrentFolder) {
  RealDisk disk{std::filesystem::path()};
  EXPECT_EQ(disk.path("file"), "file");
  EXPECT_TRUE(disk.list(""));
  EXPECT_TRUE(disk.room_bytes());
}

#ifdef WIDE_FAILPOINTS

TEST(RealDisk, FailsWhereAFailpointSays) {
  const ScratchFolder scratch;
  RealDisk disk(scratch.path());
  auto file = disk.open("file", Open::kAppend).value();
  ASSERT_TRUE(append_text(*file, "good "));

  ASSERT_TRUE(arm_failpoints("disk.append:1:io,disk.sync:1:io"));
  const auto appended = append_text(*file, "and more");
  const auto synced = file->sync();
  ASSERT_TRUE(arm_failpoints(""));

  EXPECT_EQ(appended.error().code, Errc::kDiskFull);
  EXPECT_EQ(synced.error().code, Errc::kSyncFailed);
  EXPECT_EQ(read_text(scratch / "file"), "good and ") << "some of it is there";
  EXPECT_EQ(file->size_bytes(), 5u);
  ASSERT_TRUE(file->cut(5));
  EXPECT_EQ(read_text(scratch / "file"), "good ");
}

TEST(WriteWhole, LeavesTheOldFileWhereItFails) {
  const ScratchFolder scratch;
  RealDisk disk(scratch.path());
  write_text(scratch / "file", "old");
  for (const auto* spec : {"disk.append:1:io", "disk.sync:1:io"}) {
    ASSERT_TRUE(arm_failpoints(spec));
    const std::string text = "new";
    const auto done = write_whole(disk, "file", std::array{bytes_of(text)});
    ASSERT_TRUE(arm_failpoints(""));

    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().detail, HasSubstr((scratch / "file").string() + ":"));
    EXPECT_EQ(read_text(scratch / "file"), "old");
    EXPECT_EQ(scratch.file_count(), 1u);
  }
}

#endif

}  // namespace
}  // namespace wide::store
