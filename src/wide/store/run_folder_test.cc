#include "wide/store/run_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "wide/store/scratch_folder.h"

namespace wide::store {
namespace {

using ::testing::HasSubstr;

TEST(RunFolder, MakesItsParents) {
  const ScratchFolder scratch;

  const auto folder = RunFolder::create(scratch / "a/b/c");

  ASSERT_TRUE(folder);
  EXPECT_EQ(folder->path(), scratch / "a/b/c");
  EXPECT_TRUE(std::filesystem::is_directory(scratch / "a/b/c"));
}

TEST(RunFolder, RefusesAFolderThatHoldsARun) {
  for (const auto* sign : {"job.toml", "summary.json"}) {
    const ScratchFolder scratch;
    write_text(scratch / sign, "");

    const auto folder = RunFolder::create(scratch.path());

    ASSERT_FALSE(folder);
    EXPECT_EQ(folder.error().code, Errc::kCannotWrite);
    EXPECT_THAT(folder.error().detail, HasSubstr("already holds a run; go on with it"));
    EXPECT_EQ(scratch.file_count(), 1u);
  }
}

TEST(RunFolder, RefusesAFolderInWhichARunIsUnderWay) {
  const ScratchFolder scratch;
  {
    const auto first = RunFolder::create(scratch.path());
    EXPECT_TRUE(first);
    const auto second = RunFolder::create(scratch.path());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::kRunInUse);
    EXPECT_THAT(second.error().detail, HasSubstr(fmt::format("process {} ", ::getpid())));
  }
  EXPECT_TRUE(RunFolder::create(scratch.path()));
}

TEST(RunFolder, IsResumedByOneProcessAtATime) {
  const ScratchFolder scratch;
  EXPECT_EQ(RunFolder::resume(scratch.path()).error().code, Errc::kRunMissing);
  EXPECT_EQ(RunFolder::resume(scratch / "nowhere").error().code, Errc::kRunMissing);
  {
    const auto made = RunFolder::create(scratch.path()).value();
    ASSERT_TRUE(made.write("job.toml", ""));
    EXPECT_EQ(RunFolder::resume(scratch.path()).error().code, Errc::kRunInUse);
    EXPECT_TRUE(RunFolder::open(scratch.path()));
  }
  auto resumed = RunFolder::resume(scratch.path());
  ASSERT_TRUE(resumed);
  EXPECT_EQ(RunFolder::resume(scratch.path()).error().code, Errc::kRunInUse);
  EXPECT_TRUE(resumed->append_event("1"));

  // Whoever opens it without the lock must not end another's.
  { const auto reader = RunFolder::open(scratch.path()); }
  EXPECT_EQ(RunFolder::resume(scratch.path()).error().code, Errc::kRunInUse);
}

TEST(RunFolder, StaysLockedWhenMoved) {
  const ScratchFolder scratch;
  auto first = RunFolder::create(scratch.path()).value();
  const auto moved = std::move(first);

  EXPECT_EQ(RunFolder::create(scratch.path()).error().code, Errc::kRunInUse);
}

TEST(RunFolder, RefusesAPlaceWhereNoFolderCanBe) {
  const ScratchFolder scratch;
  write_text(scratch / "file", "");

  const auto folder = RunFolder::create(scratch / "file/run");

  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, Errc::kCannotWrite);
}

TEST(RunFolder, OpensOnlyWhatHoldsARun) {
  const ScratchFolder scratch;
  EXPECT_EQ(RunFolder::open(scratch.path()).error().code, Errc::kRunMissing);
  EXPECT_EQ(RunFolder::open(scratch / "nowhere").error().code, Errc::kRunMissing);

  ASSERT_TRUE(RunFolder::create(scratch.path())->write("job.toml", "[job]\n"));

  const auto folder = RunFolder::open(scratch.path());
  ASSERT_TRUE(folder);
  EXPECT_EQ(folder->read("job.toml").value(), "[job]\n");
}

TEST(RunFolder, AppendsLinesThatAreThereAtOnce) {
  const ScratchFolder scratch;
  auto folder = RunFolder::create(scratch.path()).value();

  EXPECT_TRUE(folder.append_event(R"({"event":"one"})"));
  EXPECT_TRUE(folder.append_metric(R"({"step":1})"));
  EXPECT_TRUE(folder.append_event(R"({"event":"two"})"));

  EXPECT_EQ(folder.read("events.jsonl").value(), "{\"event\":\"one\"}\n{\"event\":\"two\"}\n");
  EXPECT_EQ(folder.read("metrics.jsonl").value(), "{\"step\":1}\n");
}

TEST(RunFolder, AppendsToAnOpenedRunToo) {
  const ScratchFolder scratch;
  {
    auto folder = RunFolder::create(scratch.path()).value();
    ASSERT_TRUE(folder.write("job.toml", ""));
    ASSERT_TRUE(folder.append_event("1"));
  }
  auto folder = RunFolder::open(scratch.path()).value();

  ASSERT_TRUE(folder.append_event("2"));

  EXPECT_EQ(folder.read("events.jsonl").value(), "1\n2\n");
}

TEST(RunFolder, SaysWhichFileIsMissing) {
  const ScratchFolder scratch;
  const auto folder = RunFolder::create(scratch.path()).value();

  const auto text = folder.read("genesis.json");

  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, Errc::kRunMissing);
  EXPECT_THAT(text.error().detail, HasSubstr("genesis.json"));
}

TEST(RunFolder, SaysWhenTheDiskIsFull) {
  const ScratchFolder scratch;
  std::filesystem::create_symlink("/dev/full", scratch / "metrics.jsonl");
  auto folder = RunFolder::create(scratch.path()).value();

  const auto done = folder.append_metric("1");

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::kCannotWrite);
  EXPECT_THAT(done.error().detail, HasSubstr("No space left"));
}

}  // namespace
}  // namespace wide::store
