#include "wide/store/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "wide/store/scratch_folder.h"

namespace wide::store {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(WriteAtomically, WritesPiecesOneAfterTheOther) {
  const ScratchFolder folder;
  const std::string one = "one ", two = "two";
  const std::array pieces = {std::as_bytes(std::span(one)), std::as_bytes(std::span(two))};

  ASSERT_TRUE(write_atomically(folder / "file", pieces));

  EXPECT_EQ(read_text(folder / "file"), "one two");
  EXPECT_EQ(folder.file_count(), 1u);
}

TEST(WriteAtomically, ReplacesAnOlderFile) {
  const ScratchFolder folder;
  write_text(folder / "file", "older and longer");

  ASSERT_TRUE(write_atomically(folder / "file", "new"));

  EXPECT_EQ(read_text(folder / "file"), "new");
}

TEST(WriteAtomically, SaysWhereAndWhyItCannot) {
  const auto done = write_atomically("/nowhere/at/all", "text");

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::kCannotWrite);
  EXPECT_THAT(done.error().detail, AllOf(HasSubstr("/nowhere/at/all"), HasSubstr("No such file")));
}

TEST(WriteAtomically, LeavesNothingAsideWhenItFails) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder / "target/not-empty");

  EXPECT_FALSE(write_atomically(folder / "target", "text"));

  EXPECT_EQ(folder.file_count(), 1u);
}

TEST(WriteAtomically, PassesOverNamesThatKilledProcessesLeft) {
  const ScratchFolder folder;
  for (int i = 0; i < 50; ++i) {
    write_text(folder / (".file.aside-" + std::to_string(::getpid()) + "-" + std::to_string(i)),
               "");
  }

  EXPECT_TRUE(write_atomically(folder / "file", "text"));
}

TEST(ReadWholeFile, ReadsWhatIsThere) {
  const ScratchFolder folder;
  write_text(folder / "file", "text");
  write_text(folder / "empty", "");

  EXPECT_EQ(read_whole_file(folder / "file", Errc::kRunMissing, Errc::kBug)->size(), 4u);
  EXPECT_EQ(read_whole_file(folder / "empty", Errc::kRunMissing, Errc::kBug)->size(), 0u);
}

TEST(ReadWholeFile, TellsMissingFromUnreadable) {
  const ScratchFolder folder;
  const auto missing = read_whole_file(folder / "file", Errc::kRunMissing, Errc::kBug);
  const auto unreadable = read_whole_file(folder.path(), Errc::kRunMissing, Errc::kBug);

  EXPECT_EQ(missing.error().code, Errc::kRunMissing);
  EXPECT_EQ(unreadable.error().code, Errc::kBug);
}

}  // namespace
}  // namespace wide::store
