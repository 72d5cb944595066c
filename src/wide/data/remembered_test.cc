#include "wide/data/remembered.h"

#include <gtest/gtest.h>

#include "wide/data/scratch_folder.h"

namespace wide::data {
namespace {

using Bytes = std::vector<std::byte>;

class Remembered : public ::testing::Test {
 protected:
  Note note(const std::string& purpose = "test 1") const {
    return {folder_.path(), purpose, stamps_};
  }
  std::filesystem::path file() const {
    return std::filesystem::directory_iterator(folder_.path())->path();
  }

  ScratchFolder folder_;
  std::vector<FileStamp> stamps_ = {{"/set/images", 100, 7}, {"/set/labels", 10, 8}};
  Bytes value_ = {std::byte{1}, std::byte{2}, std::byte{3}};
};

TEST_F(Remembered, GivesBackWhatWasWritten) {
  EXPECT_FALSE(note().read(100));
  note().write(value_);
  EXPECT_EQ(note().read(100), value_);
  EXPECT_EQ(note().read(3), value_);
  note().write({});
  EXPECT_EQ(note().read(100), Bytes());
}

TEST_F(Remembered, KnowsNothingOfOtherStampsAndPurposes) {
  note().write(value_);

  EXPECT_FALSE(note("test 2").read(100));
  stamps_[1].mtime_ns += 1;
  EXPECT_FALSE(note().read(100));
  stamps_[1].mtime_ns -= 1;
  stamps_[0].size_bytes += 1;
  EXPECT_FALSE(note().read(100));
  stamps_[0].size_bytes -= 1;
  stamps_[0].inode += 1;  // not the file's own doing
  EXPECT_TRUE(note().read(100));
}

TEST_F(Remembered, IgnoresADamagedNote) {
  note().write(value_);
  const auto good = read_whole(file());
  for (std::size_t at = 0; at < good.size(); ++at) {
    auto bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    write_text(file(), bad);

    EXPECT_FALSE(note().read(100)) << "byte " << at;
  }
}

TEST_F(Remembered, IgnoresNotesThatAreTooShortOrTooLong) {
  note().write(value_);
  const auto good = read_whole(file());
  EXPECT_FALSE(note().read(2));
  for (const auto& bad : {std::string(), good.substr(0, good.size() - 1), good + "\n",
                          good + std::string(1 << 20, 'x')}) {
    write_text(file(), bad);
    EXPECT_FALSE(note().read(100));
  }
}

TEST_F(Remembered, WorksWithoutACacheFolderToWriteTo) {
  write_text(folder_ / "file", "in the way");
  for (const auto& cache : {std::filesystem::path(), folder_ / "file"}) {
    const Note nowhere(cache, "test 1", stamps_);
    nowhere.write(value_);
    EXPECT_FALSE(nowhere.read(100));
  }
}

}  // namespace
}  // namespace wide::data
