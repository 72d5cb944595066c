#include "wide/sim/sim_disk.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace wide::sim {
namespace {

using store::Open;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

struct Bench {
  FaultCounts counts;
  SimDisk disk;

  explicit Bench(std::uint64_t seed = 1) : disk(Dice(seed), counts) {}

  store::DiskFilePtr open(std::string_view name, Open how = Open::kAppend) {
    return disk.open(name, how).value();
  }
  Result<void> append(const store::DiskFilePtr& file, std::string_view text) {
    const std::span<const std::byte> pieces[] = {bytes_of(text)};
    return file->append(pieces);
  }
  // A file that is on the platter, name and all.
  store::DiskFilePtr settled(std::string_view name, std::string_view text) {
    auto file = open(name);
    EXPECT_TRUE(append(file, text));
    EXPECT_TRUE(file->sync());
    EXPECT_TRUE(disk.sync_folder(""));
    return file;
  }
  std::string text(std::string_view name) {
    const auto whole = store::read_whole(disk, name);
    if (!whole) return "";
    return {reinterpret_cast<const char*>(whole->data()), whole->size()};
  }
  bool has(std::string_view name) { return disk.open(name, Open::kRead).has_value(); }
};

TEST(SimDisk, KeepsEverythingWhenAProcessIsKilled) {
  Bench bench;
  bench.append(bench.open("log"), "written");

  bench.disk.kill();

  EXPECT_EQ(bench.text("log"), "written");
}

RC_GTEST_PROP(SimDiskProperty, KeepsWhatWasSyncedOverAPowerCut, (std::uint64_t seed)) {
  Bench bench(seed);
  const auto file = bench.settled("log", std::string(700, 'a'));
  bench.append(file, std::string(3000, 'b'));

  bench.disk.cut_power();

  const std::string left = bench.text("log");
  RC_ASSERT(left.size() >= 700u);
  RC_ASSERT(left.size() <= 3700u);
  RC_ASSERT(left.substr(0, 700) == std::string(700, 'a'));
  for (const char letter : left.substr(700)) RC_ASSERT(letter == 'b' || letter == '\0');
}

// Room that was synced may have been filled since: each sector is as it was, or as it became.
RC_GTEST_PROP(SimDiskProperty, KeepsRoomOrWhatWasWrittenThere, (std::uint64_t seed)) {
  Bench bench(seed);
  const auto file = bench.settled("log", std::string(700, 'a'));
  RC_ASSERT(file->make_room(3000).has_value());
  RC_ASSERT(file->sync().has_value());
  bench.append(file, std::string(2000, 'b'));
  RC_ASSERT(file->size_bytes() == 2700u);
  RC_ASSERT(!bench.disk.survives("log"));

  bench.disk.cut_power();

  const std::string left = bench.text("log");
  RC_ASSERT(left.size() == 3700u);
  RC_ASSERT(left.substr(0, 700) == std::string(700, 'a'));
  for (const char letter : left.substr(700, 2000)) RC_ASSERT(letter == 'b' || letter == '\0');
  RC_ASSERT(left.substr(2700) == std::string(1000, '\0'));
}

// What is lost tears at sectors: each of them is wholly there, or wholly not.
RC_GTEST_PROP(SimDiskProperty, TearsAtSectors, (std::uint64_t seed)) {
  Bench bench(seed);
  const auto file = bench.settled("log", std::string(SimDisk::kSectorBytes, 'a'));
  bench.append(file, std::string(4 * SimDisk::kSectorBytes, 'b'));

  bench.disk.cut_power();

  const std::string left = bench.text("log");
  for (std::size_t at = 0; at < left.size(); at += SimDisk::kSectorBytes) {
    const std::string sector = left.substr(at, SimDisk::kSectorBytes);
    RC_ASSERT(std::ranges::count(sector, sector[0]) == std::ptrdiff_t(sector.size()));
  }
}

// Every outcome there is, over enough seeds: nothing, all, a hole, a size that did not grow.
TEST(SimDisk, LosesUnsyncedWritesInEveryWay) {
  bool nothing = false;
  bool all = false;
  bool hole = false;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Bench bench(seed);
    bench.append(bench.settled("log", "a"), std::string(2000, 'b'));
    bench.disk.cut_power();
    const std::string left = bench.text("log");
    nothing |= left == "a";
    all |= left == "a" + std::string(2000, 'b');
    const auto gap = left.find('\0');
    hole |= gap != std::string::npos && left.find('b', gap) != std::string::npos;
  }
  EXPECT_TRUE(nothing);
  EXPECT_TRUE(all);
  EXPECT_TRUE(hole);
}

TEST(SimDisk, LosesAFileWhoseNameWasNotSynced) {
  int kept = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Bench bench(seed);
    const auto file = bench.open("log");
    bench.append(file, "synced");
    ASSERT_TRUE(file->sync());
    bench.disk.cut_power();
    kept += bench.has("log") ? 1 : 0;
    EXPECT_EQ(bench.text("log"), bench.has("log") ? "synced" : "");
  }
  EXPECT_GT(kept, 20);
  EXPECT_LT(kept, 80);
}

TEST(SimDisk, LosesARenameWithoutASyncOfItsFolder) {
  int renamed = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Bench bench(seed);
    bench.settled("new", "new");
    bench.settled("old", "old");
    ASSERT_TRUE(bench.disk.rename("new", "old"));
    EXPECT_EQ(bench.text("old"), "new");
    bench.disk.cut_power();
    renamed += bench.text("old") == "new" ? 1 : 0;
    EXPECT_EQ(bench.has("new"), bench.text("old") == "old") << "a rename is one thing";
  }
  EXPECT_GT(renamed, 20);
  EXPECT_LT(renamed, 80);
}

TEST(SimDisk, KeepsARenameOnceItsFolderIsSynced) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Bench bench(seed);
    bench.settled("new", "new");
    ASSERT_TRUE(bench.disk.rename("new", "old"));
    ASSERT_TRUE(bench.disk.sync_folder(""));
    bench.disk.cut_power();
    EXPECT_EQ(bench.text("old"), "new");
    EXPECT_FALSE(bench.has("new"));
  }
}

TEST(SimDisk, LosesAFolderWithAllThatIsInIt) {
  int lost = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Bench bench(seed);
    ASSERT_TRUE(bench.disk.make_folder("ledger"));
    const auto file = bench.open("ledger/a");
    bench.append(file, "x");
    ASSERT_TRUE(file->sync());
    ASSERT_TRUE(bench.disk.sync_folder("ledger"));
    bench.disk.cut_power();
    lost += bench.disk.list("ledger").has_value() ? 0 : 1;
    EXPECT_EQ(bench.has("ledger/a"), bench.disk.list("ledger").has_value());
  }
  EXPECT_GT(lost, 5);
}

TEST(SimDisk, CrashesInTheMiddleOfAnOperation) {
  Bench bench;
  const auto file = bench.settled("log", "a");
  bench.disk.crash_in(1);

  EXPECT_THROW(bench.append(file, std::string(100, 'b')), SimCrash);

  EXPECT_FALSE(bench.append(file, "c")) << "nothing has any effect until the crash is over";
  bench.disk.kill();
  EXPECT_LE(bench.text("log").size(), 101u);
  EXPECT_EQ(bench.text("log").find('c'), std::string::npos);
}

TEST(SimDisk, DropsTheBytesOfAFailedSync) {
  Bench bench;
  const auto file = bench.settled("log", "a");
  bench.append(file, "b");
  bench.disk.set_faults({.sync_chance = 1});

  EXPECT_EQ(file->sync().error().code, Errc::kSyncFailed);

  bench.disk.set_faults({});
  EXPECT_TRUE(file->sync()) << "a second one says that all is well";
  EXPECT_EQ(bench.text("log"), "a");
}

TEST(SimDisk, IsFullUntilThereIsRoom) {
  Bench bench;
  const auto file = bench.open("log");
  bench.disk.set_room(10);

  EXPECT_EQ(bench.append(file, "0123456789ab").error().code, Errc::kDiskFull);
  ASSERT_TRUE(file->cut(0));
  EXPECT_TRUE(bench.append(file, "0123456789"));
  EXPECT_EQ(bench.disk.room_bytes().value(), 0u);
  bench.disk.set_room(SimDisk::kRoomBytes);
  EXPECT_TRUE(bench.append(file, "ab"));
}

TEST(SimDisk, RotsAndIsRestored) {
  Bench bench;
  bench.settled("log", "the truth");

  ASSERT_TRUE(bench.disk.rot());
  EXPECT_NE(bench.text("log"), "the truth");
  EXPECT_EQ(bench.disk.rotten(""), 1u);
  ASSERT_TRUE(bench.disk.restore());
  EXPECT_EQ(bench.text("log"), "the truth");
  EXPECT_EQ(bench.disk.rotten(""), 0u);
}

TEST(SimDisk, KnowsWhatWouldSurvive) {
  Bench bench;
  const auto file = bench.settled("log", "a");
  EXPECT_TRUE(bench.disk.survives("log"));

  bench.append(file, "b");
  EXPECT_FALSE(bench.disk.survives("log"));
  ASSERT_TRUE(file->sync());
  EXPECT_TRUE(bench.disk.survives("log"));

  ASSERT_TRUE(bench.disk.rename("log", "other"));
  EXPECT_FALSE(bench.disk.survives("other"));
}

}  // namespace
}  // namespace wide::sim
