#include "wide/store/ledger_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

#include "wide/base/failpoint.h"
#include "wide/store/example_log.h"
#include "wide/store/log_segment.h"
#include "wide/store/memory_disk.h"
#include "wide/store/real_disk.h"
#include "wide/store/scratch_folder.h"

namespace wide::store {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LedgerLog, GivesBackWhatWasAppended) {
  const ScratchFolder scratch;
  RealDisk disk(scratch.path());
  const auto log = write_log(disk, {8, {3, 5}, {}});

  const auto back = read_back(disk);

  ASSERT_TRUE(back.end);
  EXPECT_EQ(back.records, example_records(8));
  EXPECT_FALSE(back.end->torn);
  EXPECT_EQ(back.end->position.sequence, 8u);
  EXPECT_EQ(back.end->position.previous, log.position().previous);
  EXPECT_EQ(back.end->position.segment, 5u);
  EXPECT_EQ(back.end->position.offset_bytes, log.segment_bytes());
  EXPECT_THAT(log_segments(disk).value(), ElementsAre(0, 3, 5));
}

TEST(LedgerLog, GoesOnWhereItEnded) {
  const ScratchFolder scratch;
  RealDisk disk(scratch.path());
  write_log(disk, {4, {2}, {}});

  auto log = LedgerLog::open(disk, example_job(), *read_back(disk).end).value();
  ASSERT_TRUE(append(log, example_record(4)));

  EXPECT_EQ(read_back(disk).records, example_records(5));
  EXPECT_EQ(log.synced_sequence(), 4u);
}

TEST(LedgerLog, ReadsFromAnyPositionThatItTold) {
  MemoryDisk disk;
  std::vector<LogPosition> positions = {{}};
  {
    auto log = LedgerLog::create(disk, example_job()).value();
    for (std::uint64_t i = 0; i < 7; ++i) {
      if (i == 4) {
        ASSERT_TRUE(log.begin_segment());
      }
      positions.push_back(log.position());
      ASSERT_TRUE(append(log, example_record(i)));
    }
    positions.push_back(log.position());
  }
  for (const auto& from : positions) {
    const auto back = read_back(disk, from);

    ASSERT_TRUE(back.end) << describe(back.end.error());
    auto expected = example_records(7);
    expected.erase(expected.begin(), expected.begin() + static_cast<long>(from.sequence));
    EXPECT_EQ(back.records, expected);
    EXPECT_EQ(back.end->position.previous, positions.back().previous);
  }
}

// Zeros behind the last record, and a record that itself ends in zeros.
TEST(LedgerLog, ReadsWhatIsInItsRoom) {
  for (std::uint64_t room_bytes = 0; room_bytes < 9000; room_bytes += 77) {
    MemoryDisk disk;
    auto log = LedgerLog::create(disk, example_job()).value();
    auto records = example_records(3);
    records.back().bulk = std::string(50, '\0');
    for (const auto& record : records) {
      if (room_bytes > 0) log.make_room(room_bytes);
      EXPECT_GE(log.room_bytes(), room_bytes);
      ASSERT_TRUE(append(log, record));

      EXPECT_EQ(disk.file(segment_name(0)).size(), log.segment_bytes() + log.room_bytes());
    }

    const auto back = read_back(disk);

    ASSERT_TRUE(back.end) << room_bytes;
    EXPECT_EQ(back.records, records);
    EXPECT_FALSE(back.end->torn) << "nothing was lost";
    EXPECT_EQ(back.end->position.offset_bytes, log.position().offset_bytes);
    auto again = LedgerLog::open(disk, example_job(), *back.end).value();
    EXPECT_EQ(disk.file(segment_name(0)).size(), log.segment_bytes()) << "the room is gone";
    ASSERT_TRUE(append(again, example_record(3)));
    EXPECT_EQ(read_back(disk).records.size(), 4u);
  }
}

TEST(LedgerLog, GivesRoomBackAtTheEndOfASegment) {
  const ScratchFolder scratch;
  RealDisk disk(scratch.path());
  auto log = write_log(disk, {2, {}, {}});
  log.make_room(1000);
  const auto first_bytes = log.segment_bytes();
  ASSERT_TRUE(log.begin_segment());
  log.make_room(1000);
  ASSERT_TRUE(append(log, example_record(2)));
  ASSERT_TRUE(log.give_room_back());

  EXPECT_EQ(std::filesystem::file_size(scratch / segment_name(0)), first_bytes);
  EXPECT_EQ(std::filesystem::file_size(scratch / segment_name(2)), log.segment_bytes());
  EXPECT_EQ(read_back(disk).records, example_records(3));
}

// Killed before it could: the segment before is read, and pruned, all the same.
TEST(LedgerLog, GoesOnBehindRoomThatWasNotGivenBack) {
  MemoryDisk disk;
  write_log(disk, {4, {2}, {}});
  disk.file(segment_name(0)).resize(kRoomUnitBytes);

  EXPECT_EQ(read_back(disk).records, example_records(4));
  EXPECT_GT(take_bulks_out(disk, example_job(), 0).value(), 0u);
  EXPECT_EQ(read_back(disk).records.size(), 4u);
}

// What was synced and is zeros now is no room: a position, or the next segment, tells.
TEST(LedgerLog, TakesNoLostRecordsForRoom) {
  MemoryDisk disk;
  auto log = write_log(disk, {2, {}, {}});
  const auto second = log.position();
  ASSERT_TRUE(append(log, example_record(2)));
  const auto place = log.position();
  ASSERT_TRUE(append(log, example_record(3)));
  log.make_room(5000);
  MemoryDisk lost(disk);
  auto& file = lost.file(segment_name(0));
  std::fill(file.begin() + static_cast<long>(second.offset_bytes), file.end(), std::byte{0});

  const auto from_place = read_back(lost, place);
  ASSERT_FALSE(from_place.end);
  EXPECT_EQ(from_place.end.error().code, Errc::kLogDamaged);
  EXPECT_FALSE(read_back(lost, {}, 3).end);
  EXPECT_EQ(read_back(lost).records, example_records(2)) << "nothing proves the others";

  ASSERT_TRUE(log.begin_segment());
  lost.file(segment_name(4)) = disk.file(segment_name(4));
  EXPECT_FALSE(read_back(lost).end);
  const auto pruned = take_bulks_out(lost, example_job(), 0);
  ASSERT_FALSE(pruned);
  EXPECT_THAT(pruned.error().detail, HasSubstr("record 2: it is missing"));
}

TEST(LedgerLog, TellsWhatIsSynced) {
  MemoryDisk disk;
  auto log = LedgerLog::create(disk, example_job()).value();
  ASSERT_TRUE(append(log, example_record(0)));
  ASSERT_TRUE(append(log, example_record(1)));
  EXPECT_EQ(log.unsynced_count(), 2u);

  const auto ticket = log.sync_ticket();
  ASSERT_TRUE(append(log, example_record(2)));
  ASSERT_TRUE(ticket.sync());
  log.synced(ticket.sequence);
  EXPECT_EQ(log.synced_sequence(), 2u);
  EXPECT_EQ(log.unsynced_count(), 1u);

  const auto older = log.sync_ticket();
  ASSERT_TRUE(log.begin_segment());
  EXPECT_EQ(log.unsynced_count(), 0u);
  ASSERT_TRUE(append(log, example_record(3)));
  log.synced(older.sequence);
  EXPECT_EQ(log.synced_sequence(), 3u);
}

TEST(LedgerLog, IsNotMadeTwice) {
  MemoryDisk disk;
  EXPECT_EQ(read_back(disk).end.error().code, Errc::kRunMissing);
  write_log(disk, {});

  EXPECT_EQ(LedgerLog::create(disk, example_job()).error().code, Errc::kCannotWrite);
  const auto back = read_back(disk);
  ASSERT_TRUE(back.end);
  EXPECT_EQ(back.end->position.sequence, 0u);
  EXPECT_FALSE(back.end->torn);
}

TEST(LedgerLog, BelongsToOneJob) {
  MemoryDisk disk;
  write_log(disk, {2, {}, {}});

  const LogQuestion question{sha256("another job"), {}, 0};
  const auto end = read_log(disk, question, [](const ReadRecord&) { return Result<void>(); });

  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, Errc::kOtherJob);
  EXPECT_THAT(end.error().detail, HasSubstr("ledger/000000000000.log"));
}

TEST(LedgerLog, SaysWhenItIsOfAnotherFormat) {
  MemoryDisk disk;
  write_log(disk, {2, {}, {}});
  auto& file = disk.file("ledger/000000000000.log");
  file[8] = std::byte{kLogFormat + 1};
  const auto check = xxh3(std::span(file).first(kSegmentHeaderBytes - 8));
  std::memcpy(&file[kSegmentHeaderBytes - 8], &check, 8);

  EXPECT_EQ(read_back(disk).end.error().code, Errc::kOtherFileVersion);
}

TEST(LedgerLog, StopsWhereTheVisitorDoes) {
  MemoryDisk disk;
  write_log(disk, {5, {2}, {}});
  int seen = 0;

  const auto end = read_log(disk, {example_job(), {}, 0}, [&](const ReadRecord&) -> Result<void> {
    if (++seen == 3) return fail(Errc::kRunDiffers, "enough");
    return {};
  });

  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, Errc::kRunDiffers);
  EXPECT_EQ(seen, 3);
}

TEST(LedgerLog, BeginsNoSegmentInAnEmptyOne) {
  MemoryDisk disk;
  auto log = LedgerLog::create(disk, example_job()).value();
  ASSERT_TRUE(log.begin_segment());
  ASSERT_TRUE(append(log, example_record(0)));
  ASSERT_TRUE(log.begin_segment());
  ASSERT_TRUE(log.begin_segment());

  EXPECT_THAT(log_segments(disk).value(), ElementsAre(0, 1));
  EXPECT_EQ(read_back(disk).end->position.segment, 1u);
}

TEST(LedgerLog, PassesOverFilesThatAreNotItsOwn) {
  MemoryDisk disk;
  write_log(disk, {3, {2}, {}});
  for (const auto* name : {"ledger/1.log", "ledger/notes", "ledger/00000000000x.log",
                           "ledger/0000000000001.log", "ledger/.000000000002.log.aside"}) {
    disk.file(name);
  }

  const auto back = read_back(disk);
  EXPECT_EQ(back.records, example_records(3));
  ASSERT_TRUE(LedgerLog::open(disk, example_job(), *back.end));
  EXPECT_FALSE(disk.holds("ledger/.000000000002.log.aside"));
  EXPECT_TRUE(disk.holds("ledger/notes"));
}

#ifdef WIDE_FAILPOINTS

class LedgerLogOnAFailingDisk : public ::testing::Test {
 protected:
  ~LedgerLogOnAFailingDisk() override { EXPECT_TRUE(arm_failpoints("")); }
  ScratchFolder scratch_;
  RealDisk disk_{scratch_.path()};
};

TEST_F(LedgerLogOnAFailingDisk, LeavesNothingOfARecordThatFoundNoRoom) {
  auto log = write_log(disk_, {3, {}, {}});
  const auto size_bytes = log.segment_bytes();
  ASSERT_TRUE(arm_failpoints("disk.append:1:io"));

  const auto done = append(log, example_record(3));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::kDiskFull);
  EXPECT_EQ(std::filesystem::file_size(scratch_ / segment_name(0)), size_bytes);
  ASSERT_TRUE(append(log, example_record(3)));

  EXPECT_EQ(read_back(disk_).records, example_records(4));
}

TEST_F(LedgerLogOnAFailingDisk, GoesOnInTheOldSegmentWhereThereIsNoRoomForANewOne) {
  auto log = write_log(disk_, {3, {}, {}});
  ASSERT_TRUE(arm_failpoints("disk.append:1:io"));

  EXPECT_EQ(log.begin_segment().error().code, Errc::kDiskFull);
  ASSERT_TRUE(append(log, example_record(3)));
  ASSERT_TRUE(log.begin_segment());
  ASSERT_TRUE(append(log, example_record(4)));

  EXPECT_EQ(read_back(disk_).records, example_records(5));
  EXPECT_THAT(log_segments(disk_).value(), ElementsAre(0, 4));
}

// Zeros that stay in a segment which others follow would look like a record that was lost.
TEST_F(LedgerLogOnAFailingDisk, GoesOnInTheOldSegmentWhereItsRoomCannotBeGivenBack) {
  auto log = write_log(disk_, {3, {}, {}});
  log.make_room(1000);
  ASSERT_TRUE(arm_failpoints("disk.cut:1:io"));

  EXPECT_EQ(log.begin_segment().error().code, Errc::kCannotWrite);
  ASSERT_TRUE(append(log, example_record(3)));
  ASSERT_TRUE(log.begin_segment());
  ASSERT_TRUE(append(log, example_record(4)));

  EXPECT_EQ(read_back(disk_).records, example_records(5));
  EXPECT_THAT(log_segments(disk_).value(), ElementsAre(0, 4));
  EXPECT_EQ(std::filesystem::file_size(scratch_ / segment_name(4)), log.segment_bytes());
}

TEST_F(LedgerLogOnAFailingDisk, TellsAFailedSync) {
  auto log = write_log(disk_, {3, {}, {}});
  ASSERT_TRUE(arm_failpoints("disk.sync:1:io"));
  EXPECT_EQ(log.sync().error().code, Errc::kSyncFailed);
  EXPECT_EQ(log.synced_sequence(), 0u);

  ASSERT_TRUE(arm_failpoints("disk.sync:2:io"));  // the first one is of the old segment
  EXPECT_EQ(log.begin_segment().error().code, Errc::kSyncFailed);

  EXPECT_EQ(read_back(disk_).records, example_records(3));
}

#endif

RC_GTEST_PROP(LedgerLog, GivesBackAnyRecordsInAnySegmentsPrunedOrNot, ()) {
  MemoryDisk disk;
  std::vector<ExampleRecord> records;
  {
    auto log = LedgerLog::create(disk, example_job()).value();
    const auto count = *rc::gen::inRange(0, 30);
    for (int i = 0; i < count; ++i) {
      records.push_back({*rc::gen::arbitrary<std::uint16_t>(), *rc::gen::arbitrary<std::string>(),
                         *rc::gen::arbitrary<std::string>(), false});
      if (*rc::gen::inRange(0, 4) == 0) RC_ASSERT(log.begin_segment().has_value());
      RC_ASSERT(append(log, records.back()).has_value());
      if (*rc::gen::inRange(0, 4) == 0) RC_ASSERT(log.sync().has_value());
    }
  }
  const auto segments = log_segments(disk).value();
  const auto before = read_back(disk);
  RC_ASSERT(before.records == records);

  for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
    if (*rc::gen::arbitrary<bool>()) continue;
    std::uint64_t expected_bytes = 0;
    for (auto at = segments[i]; at < segments[i + 1]; ++at) {
      expected_bytes += records[at].bulk.size();
      records[at].taken_out = !records[at].bulk.empty();
      records[at].bulk.clear();
    }
    RC_ASSERT(take_bulks_out(disk, example_job(), segments[i]).value() == expected_bytes);
    RC_ASSERT(take_bulks_out(disk, example_job(), segments[i]).value() == 0u);
  }
  const auto after = read_back(disk);
  RC_ASSERT(after.records == records);
  RC_ASSERT(after.end->position.previous == before.end->position.previous);
}

}  // namespace
}  // namespace wide::store
