#include "wide/data/mapped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "wide/data/scratch_folder.h"

namespace wide::data {
namespace {

using ::testing::HasSubstr;

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

TEST(MappedFile, ShowsTheBytesAndTheStamp) {
  const ScratchFolder folder;
  write_text(folder / "a", "hello");

  const auto file = MappedFile::open(folder / "a");

  ASSERT_TRUE(file);
  EXPECT_EQ(text_of(*file), "hello");
  EXPECT_EQ(file->stamp(), *stamp_file(folder / "a"));
}

TEST(MappedFile, MapsAnEmptyFileToNoBytes) {
  const ScratchFolder folder;
  write_text(folder / "empty", "");

  const auto file = MappedFile::open(folder / "empty");

  ASSERT_TRUE(file);
  EXPECT_TRUE(file->bytes().empty());
}

TEST(MappedFile, SaysWhichFileIsMissing) {
  const auto file = MappedFile::open("/nowhere/at-all");

  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, Errc::kSamplesMissing);
  EXPECT_THAT(file.error().detail, HasSubstr("/nowhere/at-all"));
}

TEST(MappedFile, RefusesAFolder) {
  const ScratchFolder folder;

  EXPECT_FALSE(MappedFile::open(folder.path()));
  EXPECT_FALSE(stamp_file(folder.path()));
}

TEST(MappedFile, KeepsItsBytesWhenMovedAndWhenTheFileIsReplaced) {
  const ScratchFolder folder;
  write_text(folder / "a", "old");
  write_text(folder / "b", "new!");
  auto first = MappedFile::open(folder / "a");
  std::filesystem::rename(folder / "b", folder / "a");
  auto second = MappedFile::open(folder / "a");

  const MappedFile moved = std::move(*first);
  *first = std::move(*second);

  EXPECT_EQ(text_of(moved), "old");
  EXPECT_EQ(text_of(*first), "new!");
}

TEST(StampsText, KeepsStrangePathsApart) {
  const std::vector<FileStamp> two = {{"/a", 1, 2}, {"/b", 3, 4}};
  const std::vector<FileStamp> one = {{"/a\n3 4 2 /b", 1, 2}};

  EXPECT_NE(stamps_text(two), stamps_text(one));
}

}  // namespace
}  // namespace wide::data
